"""Tables of analyses and mappings at every width: no number is cut, and none is missing."""

from io import StringIO

import pytest
from rich.console import Console

from netloom import analyze, find_mapping
from netloom.questions.map.words import lines as of_mapping
from netloom.questions.shown import show

LAMMPS = "examples/lammps-64.mtx"


@pytest.fixture(scope="module")
def analysis():
    return analyze(LAMMPS, "torus:8x8", random_mappings=3)


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120, 200])
def test_lines_of_an_analysis_fit_every_width(analysis, width):
    lines = analysis.lines(width)
    assert all(len(line) <= width for line in lines)
    assert not any("…" in line for line in lines)
    assert all(f"{each:.3g}" in " ".join(lines) for each in (27.8, 55.9, 57.8))


@pytest.fixture(scope="module")
def tables():
    return {"map": of_mapping(find_mapping(LAMMPS, "mesh:8x8", rounds=0))[0]}


def shown(table, width):
    screen = Console(width=width, highlight=False, file=StringIO())
    show([table], screen)
    return screen.file.getvalue()


def numbers(table):
    """All cells with numbers, column by column."""
    return [[str(each) for each in column.cells] for column in table.columns[1:]]


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120, 200])
@pytest.mark.parametrize("which", ["map"])
def test_numbers_are_whole_at_every_width(tables, which, width):
    every = numbers(tables[which])
    text = shown(tables[which], width)
    assert all(len(line.rstrip()) <= width for line in text.splitlines())
    assert "…" not in text
    assert all(not cell or cell in text for column in every for cell in column)
