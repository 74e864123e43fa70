"""Small faults in kernels and rules, and the share of them that the tests find.

``faults.txt`` lists them: what the line stands for, the line, and the line with a fault.
``python -m tests.planted [PART]`` plants each (those whose line holds PART) in a copy of the
project and runs the tests that are nearest, one file after the other, until one fails.
A test may be deleted if as many are found without it.
"""

from pathlib import Path
from typing import NamedTuple

LIST = Path(__file__).with_name("faults.txt")


class Fault(NamedTuple):
    """A line of the source, what is right about it, and how it is spoiled."""

    says: str
    line: str
    spoiled: str


def listed():
    """All faults."""
    lines = LIST.read_text().splitlines()
    return [
        Fault(says, line.removeprefix("- "), spoiled.removeprefix("+ "))
        for says, line, spoiled in zip(lines[::3], lines[1::3], lines[2::3], strict=True)
    ]


def places(source):
    """The files below a folder in which each line stands, by the line."""
    found = {}
    for file in sorted(source.rglob("*.py")):
        for line in file.read_text().splitlines():
            found.setdefault(line.strip(), []).append(file)
    return found
