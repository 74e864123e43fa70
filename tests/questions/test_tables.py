"""Tables of analyses and mappings at every width: no number is cut, and none is missing."""

import pytest

from netloom import analyze, find_mapping

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
def mapping():
    return find_mapping(LAMMPS, "mesh:8x8", rounds=0)


@pytest.mark.parametrize("width", [60, 72, 80, 100, 120, 200])
def test_lines_of_a_mapping_fit_every_width(mapping, width):
    lines = mapping.lines(width)
    assert all(len(line) <= width for line in lines)
    assert not any("…" in line for line in lines)
    limits = [100 * each.saturation_upper_bound for each in mapping.starts]
    assert all(f"{each:.3g}" in " ".join(lines) for each in limits)
