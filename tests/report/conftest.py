"""A browser for the tests of pages."""

import os
import shutil

import pytest

from tests.report.visit import PATIENCE

NAMES = ("chromium", "chromium-browser", "google-chrome")


def unavailable(why):
    if os.environ.get("NETLOOM_BROWSER") == "required":
        pytest.fail(f"NETLOOM_BROWSER=required, but {why}")
    pytest.skip(why)


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
