"""What the house promises, package by package."""

from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules, walk_packages

import pytest

import netloom
import netloom_papers
from tests.conftest import LONGEST

PACKAGES = [
    name
    for whole in (netloom, netloom_papers)
    for name in (
        whole.__name__,
        *(each.name for each in walk_packages(whole.__path__, f"{whole.__name__}.") if each.ispkg),
    )
]


@pytest.mark.parametrize("package", PACKAGES)
def test_no_module_is_hidden_by_a_name_of_its_package(package):
    """``netloom.a.b`` is the module b of the package a, not a function that a has of that name."""
    face = import_module(package)
    names = [module.name for module in iter_modules(face.__path__) if module.name != "__main__"]
    modules = {name: import_module(f"{package}.{name}") for name in names}
    assert [name for name in names if getattr(face, name) is not modules[name]] == []


def test_files_that_are_to_begin_are_there():
    """``pytest`` runs the longest files first; one that was moved would be forgotten in silence."""
    assert [file for file in LONGEST if not Path("tests", file).is_file()] == []
