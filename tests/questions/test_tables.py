"""Tables of analyses and mappings at every width: no number is cut, and names stay readable."""

import re
from io import StringIO

import pytest
from rich.console import Console

from netloom import analyze, find_mapping
from netloom.questions.analyze.words import lines as of_analysis
from netloom.questions.map.words import lines as of_mapping
from netloom.questions.tables import FittingTable

LAMMPS = "examples/lammps-64.mtx"


@pytest.fixture(scope="module")
def tables():
    return {
        "analyze": of_analysis(analyze(LAMMPS, "torus:8x8", random_mappings=3))[0],
        "map": of_mapping(find_mapping(LAMMPS, "mesh:8x8", rounds=0))[0],
    }


def shown(table, width):
    screen = Console(width=width, highlight=False, file=StringIO())
    screen.print(table)
    return screen.file.getvalue()


def numbers(table):
    """All cells with numbers, column by column."""
    return [[str(each) for each in column.cells] for column in table.columns[1:]]


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120, 200])
@pytest.mark.parametrize("which", ["analyze", "map"])
def test_numbers_are_whole_at_every_width(tables, which, width):
    table = tables[which]
    every, text = numbers(table), shown(table, width)
    lines = text.splitlines()
    assert all(len(line.rstrip()) <= width for line in lines)
    assert "…" not in text
    kept = [column for column in every if all(not cell or cell in text for cell in column)]
    assert kept == every[: len(kept)]  # the last columns go first
    assert len(kept) >= 5
    assert len(kept) == len(every) or width < 80
    known = {cell for column in every for cell in column}
    for line in lines:
        tail = re.search(r"(?<=\s\s)\d[\d.,]*(?:\u00a0[MGk%])?$", line.rstrip())
        assert tail is None or tail[0] in known


def test_columns_that_went_come_back():
    table = FittingTable(("", "first\nhead", "second"))
    table.add_row("a long name", "1,234", "5.67\u00a0M")
    wide = shown(table, 60)
    narrow = shown(table, 14)
    assert "1,234" in narrow
    assert "5.67" not in narrow
    assert shown(table, 60) == wide
    assert "5.67\u00a0M" in wide
