"""Lines of analyses and mappings at every width: no number is cut, and none is missing."""

import re
from functools import cache

import pytest

from netloom import analyze, find_mapping

LAMMPS = "examples/lammps-64.mtx"

ASKED = {
    "analyze": cache(lambda: analyze(LAMMPS, "torus:8x8", random_mappings=3)),
    "map": cache(lambda: find_mapping(LAMMPS, "mesh:8x8", rounds=0)),
}


def numbers(lines):
    return set(re.findall(r"\d[\d,.]*(?:\u00a0[kMG])?", " ".join(lines)))


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120, 200])
@pytest.mark.parametrize("asked", list(ASKED))
def test_numbers_are_whole_at_every_width(asked, width):
    found = ASKED[asked]()
    lines = found.lines(width)
    assert all(len(line) <= width for line in lines)
    assert "…" not in "".join(lines)
    assert numbers(lines) == numbers(found.lines(1000))
