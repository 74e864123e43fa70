"""A small report, and a visit to it."""

import pytest

from netloom.pages.page import page_of
from netloom.pages.write import render
from tests.browser import Visit
from tests.pages.report.page_samples import small_results


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
