"""A page in a browser: where that is, and what the page complained of and looks like."""

import os
import re
import shutil
import struct
import zlib
from contextlib import contextmanager

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


@contextmanager
def launched():
    """Yield a browser. Without one the test is skipped, or fails where a browser is required."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        unavailable("playwright is not installed")
    path = next(filter(None, map(shutil.which, NAMES)), None)
    if path is None:
        unavailable(f"there is none of {', '.join(NAMES)}")
    with sync_playwright() as playwright:
        found = playwright.chromium.launch(
            executable_path=path, args=["--no-sandbox", "--disable-gpu"], timeout=PATIENCE
        )
        yield found
        found.close()


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


def background(tab, of="body"):
    return hexed(tab.evaluate(f"getComputedStyle(document.querySelector('{of}')).backgroundColor"))


def hexed(colour):
    parts = re.findall(r"[\d.]+", colour)
    return "#" + "".join(f"{round(float(part)):02x}" for part in parts[:3])


def pixels(png):
    """Return the rows of a screenshot, each pixel as three bytes."""
    assert png.startswith(b"\x89PNG")
    at, data = 8, b""
    while at < len(png):
        size, kind = struct.unpack(">I4s", png[at : at + 8])
        body = png[at + 8 : at + 8 + size]
        if kind == b"IHDR":
            width, height, depth, colours = struct.unpack(">IIBB", body[:10])
            assert (depth, colours) in ((8, 2), (8, 6))
            channels = 3 if colours == 2 else 4
        if kind == b"IDAT":
            data += body
        at += size + 12
    return width, height, unfiltered(zlib.decompress(data), width * channels, channels)


def unfiltered(raw, stride, step):
    """Undo the filters of PNG (section 9 of its specification), and return all pixels."""
    above, found = bytes(stride), set()
    for start in range(0, len(raw), stride + 1):
        kind, line = raw[start], bytearray(raw[start + 1 : start + 1 + stride])
        if kind:
            for place in range(stride):
                left = line[place - step] if place >= step else 0
                up, corner = above[place], above[place - step] if place >= step else 0
                if kind == 4:
                    guess = left + up - corner
                    nearest = min((left, up, corner), key=lambda each: abs(guess - each))
                    line[place] = (line[place] + nearest) & 255
                else:
                    add = {1: left, 2: up, 3: (left + up) // 2}[kind]
                    line[place] = (line[place] + add) & 255
        above = bytes(line)
        found.add(above)
    colours = {}
    for line in found:
        for place in range(0, stride, step):
            colour = line[place : place + 3]
            colours[colour] = colours.get(colour, 0) + 1
    return colours
