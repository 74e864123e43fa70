"""A small report, and a browser to meet it in."""

import shutil

import pytest

from netloom.report.page import page_of
from netloom.report.page.html import render
from tests.report.page_samples import small_results
from tests.report.visit import NAMES, PATIENCE, Visit, unavailable


@pytest.fixture(scope="module")
def browser():
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


@pytest.fixture(scope="module")
def page():
    return page_of([small_results()])


@pytest.fixture(scope="module")
def file(page, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(render(page), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def visit(browser, file):
    found = Visit(browser, file, color_scheme="light")
    found.drawn()
    yield found
    found.context.close()
