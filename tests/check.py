"""``python -m tests.check [BASE]``: what is wrong with a change, within some 20 CPU seconds.

Lint, floors, types by mypy's daemon, prose of changed files, and the tests that are nearest: those
that changed, those that import a changed module, and those that import a module that imports it.
Files whose tests do not all fit are listed. Without BASE, a change is what differs from HEAD.
"""

import re
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

import pytest

from tests.docs.prose import of_file

TEST_SECONDS = 12.0
"""Processor time after which no further test begins."""

MOST_FILES = 20
"""Test files that are collected. Importing more would take the time of running some."""

IMPORTS = re.compile(
    r"^ *from (netloom[\w.]*) import (\([^)]*\)|.*)$|^ *import (netloom[\w.]*)", re.M
)


def changed(base):
    """Files that differ from a commit, and those that git does not follow yet."""
    told = subprocess.run(
        ["git", "diff", "--name-only", "--diff-filter=d", base], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    new = subprocess.run(
        ["git", "ls-files", "--others", "--exclude-standard"], capture_output=True, text=True,
        check=True,
    )  # fmt: skip
    return sorted(map(Path, {*told.stdout.split(), *new.stdout.split()}))


@cache
def imported(file):
    """The modules of netloom that a file imports. A name of a package means what defines it."""
    found = set()
    for origin, members, plain in IMPORTS.findall(file.read_text()):
        package = Path("src", *(origin or plain).split("."))
        for name in re.findall(r"\w+", members):
            found.add(defining(package, name))
    return frozenset(found - {None})


@cache
def defining(package, name):
    """The module behind a name that is imported from a module or package, or None."""
    if package.with_suffix(".py").is_file():
        return package.with_suffix(".py")
    if (package / f"{name}.py").is_file():
        return package / f"{name}.py"
    for origin, members in offered(package):
        inner = Path("src", *origin.split("."))
        if inner != package and name in re.findall(r"\w+", members):
            return defining(inner, name)
    return None


@cache
def offered(package):
    """What a package imports to offer it: pairs of a module and the names that come from it.

    A package that imports when asked lists them in its stub, by modules within it.
    """
    stub, face = package / "__init__.pyi", package / "__init__.py"
    if stub.is_file():
        within = ".".join(package.parts[1:])
        listed = re.sub(r"^from \.", f"from {within}.", stub.read_text(), flags=re.M)
    else:
        listed = face.read_text() if face.is_file() else ""
    return [(origin, members) for origin, members, _ in IMPORTS.findall(listed)]


def nearest_tests(files):
    """Test files, nearest first: changed ones, then by how far their imports are from a change."""
    reached = {file for file in files if file.parts[0] == "src"}
    names = {file.stem for file in reached}
    rooms = {part for file in reached for part in file.parent.parts} - {"kernels"}
    tests = sorted(Path("tests").rglob("test_*.py"))
    ordered = [file for file in tests if file in files]
    users = [each for each in Path("src").rglob("*.py") if each.name != "__init__.py"]

    def rank(file):
        named, rooms_shared = file.stem.removeprefix("test_") in names, len(rooms & set(file.parts))
        return not named, -rooms_shared, len(imported(file))

    grown = 0
    while len(reached) > grown:
        grown = len(reached)
        near = [file for file in tests if file not in ordered and imported(file) & reached]
        ordered += sorted(near, key=rank)
        reached |= {each for each in users if imported(each) & reached}
    return ordered


class Within:
    """Lets tests begin until the processor time is used."""

    def __init__(self):
        self.left_out = set()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item):
        if time.process_time() < TEST_SECONDS:
            return None
        self.left_out.add(item.location[0])
        return True


def complaints(files):
    """What lint, types, floors and prose have to say of files, as ``(check, text)``."""
    python = [str(file) for file in files if file.suffix == ".py"] or ["src"]
    for command in (
        ("ruff", "check", *python),
        ("ruff", "format", "--check", *python),
        ("lint-imports",),
        ("dmypy", "run", "--", "src"),
    ):
        tool = Path(sys.executable).with_name(command[0])
        run = subprocess.run([tool, *command[1:]], capture_output=True, text=True, check=False)
        if run.returncode:
            yield command[0], run.stdout + run.stderr
    for file in files:
        if file.suffix == ".md" or (file.suffix == ".py" and file.parts[0] == "src"):
            for each in of_file(file):
                yield "prose", f"{file}:{each.line}: {each.rule}: {each.text[:110]}\n"


def main(base="HEAD"):
    files = changed(base)
    failed = []
    for name, text in complaints(files):
        failed.append(name)
        sys.stdout.write(text)
    tests, within = nearest_tests(files), Within()
    if tests:
        command = ["-q", "-x", "-p", "no:cacheprovider", *map(str, tests[:MOST_FILES])]
        if pytest.main(command, plugins=[within]):
            failed.append("pytest")
        for file in sorted({*within.left_out, *map(str, tests[MOST_FILES:])}):
            sys.stdout.write(f"no time for all of {file}\n")
    sys.stdout.write(f"wrong: {', '.join(dict.fromkeys(failed)) or 'nothing found'}\n")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
