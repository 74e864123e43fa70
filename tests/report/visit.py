"""A report in a browser: where it is, and a page in it that tells what it complained of."""

import os

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 90_000
"""Milliseconds: a machine may be busy."""

TOO_WIDE = """[...document.querySelectorAll('.plot, figure.chart, .tiles div, .command code')]
    .filter(each => each.scrollWidth > each.clientWidth + 1)
    .map(each => each.closest('[id]').id)"""
"""What is wider than the place that it has."""

SMALLEST = """Math.min(...[...document.querySelectorAll('figure.chart svg')].flatMap(svg => {
    const shown = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
    return [...svg.querySelectorAll('text')].filter(each => each.textContent.trim())
        .map(each => shown * parseFloat(getComputedStyle(each).fontSize)) }))"""
"""The height of the smallest letters of charts as they are shown."""


def unavailable(why):
    if os.environ.get("NETLOOM_BROWSER") == "required":
        pytest.fail(f"NETLOOM_BROWSER=required, but {why}")
    pytest.skip(why)


class Visit:
    """The page in a browser of its own: what it complained of, and what it asked the network."""

    def __init__(self, browser, file, **settings):
        self.context = browser.new_context(
            **{"viewport": {"width": 1280, "height": 900}} | settings
        )
        self.context.set_default_timeout(PATIENCE)
        self.tab = self.context.new_page()
        self.errors, self.requests = [], []
        self.tab.on(
            "console", lambda said: self.errors.append(said.text) if said.type == "error" else 0
        )
        self.tab.on("pageerror", lambda error: self.errors.append(str(error)))
        self.context.route("**/*", self.answer)
        self.file = file
        self.tab.goto(file.as_uri())

    def answer(self, route):
        if route.request.url == self.file.as_uri():
            route.continue_()
        else:
            self.requests.append(route.request.url)
            route.abort()

    def drawn(self, theme="light"):
        self.tab.wait_for_selector(f"html[data-drawn={theme}]", state="attached")
        return self.tab
