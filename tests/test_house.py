"""What the house promises, package by package."""

import ast
import re
from graphlib import CycleError, TopologicalSorter
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules, walk_packages
from runpy import run_path

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


@pytest.mark.parametrize("package", PACKAGES)
def test_each_name_that_a_package_offers_is_there(package):
    face = import_module(package)
    assert [name for name in getattr(face, "__all__", ()) if not hasattr(face, name)] == []


def test_files_that_are_to_begin_are_there():
    """``pytest`` runs the longest files first; one that was moved would be forgotten in silence."""
    assert [file for file in LONGEST if not Path("tests", file).is_file()] == []


def imports_of(file, modules):
    """The modules that a file imports anywhere: at its top, for types, or in functions."""
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            for each in node.names:
                inner = f"{node.module}.{each.name}"
                yield inner if inner in modules else node.module
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names)


def test_no_modules_import_each_other_in_a_circle():
    """Not even for types alone, nor inside functions. A package's face is what it imports."""
    modules = {}
    for file in Path("src").rglob("*.py"):
        parts = file.relative_to("src").with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    graph = {
        name: {*imports_of(file, modules)} & {*modules} - {name} for name, file in modules.items()
    }
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        pytest.fail(f"a circle: {', '.join(error.args[1])}")


@pytest.mark.parametrize("kernel", sorted(Path("src").rglob("kernels/[a-z]*.py")), ids=str)
def test_a_kernel_names_what_it_is_judged_by(kernel):
    """Its readable twin, or the test of what it finds."""
    said = ast.get_docstring(ast.parse(kernel.read_text()))
    assert Path(re.search(r"(?:Twin:|Judged by) ``(tests/[\w/]+\.py)``", said)[1]).is_file()


def test_the_picture_of_the_house_is_that_of_the_code():
    """``python docs/house.py`` renews it."""
    drawn = run_path("docs/house.py")["picture"]()
    assert Path("docs/house.svg").read_text() == drawn
