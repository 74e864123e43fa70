"""Every table and figure of Chittor 1991: the cheap ones as a quick run, the others by their parts.

What takes seconds each (figures 4.8 and 4.12 to 4.14, 5.6 and 5.11 to 5.16) is run by hand.
"""

import json
from functools import cache

import numpy as np
import pytest

from netloom_papers.exhibits import COMPUTED, PRINTED, Grid, Plot, averaged, curve
from netloom_papers.ledger import items, picture, published
from netloom_papers.studies.chittor import run_loops

FIGURES = {1: 4, 2: 3, 3: 12, 4: 14, 5: 16}
TABLES = ("1.1", "2.1", "2.2", "2.3", "3.1", "3.2", "4.1")

DRAWN = [item.name for item in items("chittor").values() if item.draw]
SLOW = {"table-4.1", "fig-4.8", "fig-5.6", "fig-5.7"} | {
    f"fig-{number}" for number in ("4.12", "4.13", "4.14", *(f"5.{n}" for n in range(11, 17)))
}


@cache
def found(name):
    return picture(f"chittor/{name}", quick=True)


def points(name, panel, series, whose=COMPUTED):
    """The (x, y) of one curve of an exhibit, as two arrays."""
    table = found(name).panels[panel].table.filter(series=series, whose=whose)
    assert len(table)
    return table["x"].to_numpy(), table["y"].to_numpy()


def test_every_table_and_figure_of_the_thesis_is_shown_or_said_to_show_no_numbers():
    names = [f"fig-{part}.{n}" for part, most in FIGURES.items() for n in range(1, most + 1)]
    names += [f"table-{number}" for number in TABLES]
    assert sorted([*DRAWN, *published("chittor")["without numbers"]]) == sorted(names)


@pytest.mark.parametrize("name", [name for name in DRAWN if name not in SLOW])
def test_panels_are_whole_and_nothing_falls_outside_without_a_reason(name):
    shown = found(name)
    assert shown.panels
    for panel in shown.panels:
        if isinstance(panel, Grid):
            assert panel.rows
            assert all(len(cells) == len(panel.columns) - 1 for _, cells in panel.rows)
        else:
            assert set(panel.table["whose"]) <= {PRINTED, COMPUTED}
            assert COMPUTED in set(panel.table["whose"])
            assert panel.table["y"].is_finite().all()
    assert not [row.quantity for row in shown.rows if not row.within and not row.reason]
    json.dumps(found(name).to_dict(), allow_nan=False)


def test_the_equations_of_the_row_major_layout_count_its_links():
    for panel in (0, 1):
        at, printed = points("fig-2.2", panel, "equations 2.13 to 2.15", PRINTED)
        assert np.array_equal((at, printed), points("fig-2.2", panel, "counted"))


def test_the_example_of_figure_3_4_lies_off_its_own_curve():
    assert points("fig-3.4", 0, "example in the text, ν = 5", PRINTED) == ([0.15], [4])
    at, slowdown = points("fig-3.4", 0, "ν = 5")
    assert slowdown[np.isclose(at, 0.15)] == pytest.approx([10])
    levels, limit = points("fig-3.4", 1, "θ = 10")
    assert limit[levels == 5] == pytest.approx([0.15])


def test_the_solutions_of_figure_3_5_are_where_its_curves_cross():
    (exact,), (slowdown,) = points("fig-3.5", 0, "exact solution")
    assert exact == pytest.approx(0.2324, abs=5e-5)  # independent reproduction
    assert slowdown == pytest.approx(1 + 1 / exact - 1 / 0.5)  # equation 3.4


def test_estimates_and_random_mappings_part_as_networks_grow():
    """Derived: 2C/3, which large networks approach; fitted: C/2, which holds for middling ones."""
    sizes, actual = points("fig-3.10", 0, "random mapping, hypercube")
    _, derived = points("fig-3.10", 0, "2C/3, eq. 3.28, hypercube", PRINTED)
    _, fitted = points("fig-3.10", 0, "C/2, table 3.1, hypercube", PRINTED)
    assert sizes.tolist() == [16, 64, 256, 1024]
    assert actual[0] < 0.8 * fitted[0]
    assert fitted[-1] < actual[-1] < derived[-1]
    _, hops = points("fig-3.8", 0, "average, hypercube")
    _, estimate = points("fig-3.8", 0, "2 √N / 3, eq. 3.18", PRINTED)
    np.testing.assert_allclose(hops, estimate, rtol=0.03)


def test_nodes_away_from_the_diagonal_take_longest_where_the_first_come_is_served():
    """Section 4.2.3: a message of node (0, 11) competes for all channels of its row."""
    grid = found("fig-4.7").panels[1]
    cells = dict(grid.rows)
    times = {column: cells["row 0"][column].computed for column in (1, 11)}
    assert cells["row 0"][0] is None  # on the diagonal
    assert times[11] > 1.2 * times[1]


def test_careful_placements_are_those_of_the_thesis():
    """χ_max 2 of tiles grows to 3 under dimension order; an own network for 6 x 6 x 6 tasks."""
    known = published("chittor")["items"]["figure 5.13"]
    table = run_loops(known, [(case, 0.1) for case in known["cases"]], 1)
    assert known["cases"]["3D mesh, N = 216"]["on"] == "mesh:12x18"
    assert len(table) == 8
    assert (table["worst_node"] > 9).all()


def test_a_mean_has_an_interval_where_there_are_several_runs():
    import polars as pl

    runs = pl.DataFrame({"applied": [0.1, 0.1, 0.2, 0.2], "y": [8.0, 10.0, 12.0, 12.0]})
    table = averaged("a", runs, "y")
    assert table.select("x", "y").rows() == [(10, 9), (20, 12)]
    assert table["low"][0] == pytest.approx(
        9 - 12.706, abs=1e-3
    )  # t of one degree of freedom, s/√n = 1
    assert (table["low"][1], table["high"][1]) == (12, 12)
    assert "low" not in averaged("a", runs[:1], "y").columns
    assert "low" not in curve("b", [1], [2]).columns
    assert isinstance(found("fig-2.1").panels[0], Plot)
