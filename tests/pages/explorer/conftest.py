"""The pages of six networks, each made once and opened once a file of tests."""

import pytest

import netloom as nl
from tests.pages.explorer.pages import ANSWERS, Explorer


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """Return a function that makes the page of a network, once."""
    made = {}

    def file(name):
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            made[name] = nl.explore(ANSWERS[name](), folder / "page.html")
        return made[name]

    return file


@pytest.fixture(scope="module")
def visits(browser, files):
    """Return a function that opens the page of a network, once a file of tests."""
    opened = {}

    def visit(name):
        if name not in opened:
            opened[name] = Explorer(browser, files(name))
        opened[name].reset()
        return opened[name]

    yield visit
    for each in opened.values():
        each.context.close()
