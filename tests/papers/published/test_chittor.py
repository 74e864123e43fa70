"""Chittor 1991, chapters 2 and 3: what ``netloom validate chittor`` must keep saying."""

from functools import cache

import pytest

from netloom_papers.ledger import Validation, published, rows_of
from netloom_papers.studies import chittor as study

OF_PROGRAMS = ("figure 4.", "section 4.2.2", "table 4.1", "figure 5.")
"""Items of runs, which ``test_chittor_programs`` holds with fewer runs."""

ITEMS = [each for each in study.ITEMS if not each.id.startswith(OF_PROGRAMS)]


@cache
def chittor():
    return Validation(tuple(row for item in ITEMS for row in rows_of("chittor", item.id)))


def rows(item):
    found = [row for row in chittor().rows if row.item == item]
    assert found
    return found


def test_nothing_falls_outside_without_a_known_reason():
    assert chittor().failures == ()


def test_every_number_recorded_as_outside_is_outside():
    """A reason left behind by a number that reproduces would hide a later deviation."""
    assert not [row.quantity for row in chittor().rows if row.reason and row.within]
    named = {(row.item, row.quantity) for row in chittor().rows if row.reason}
    recorded = {
        (item, quantity)
        for item in (each.id for each in ITEMS)
        for part in published("chittor")["items"][item].get("outside", ())
        for quantity in part["rows"]
    }
    assert named == recorded


def test_a_misprint_is_where_the_thesis_contradicts_itself():
    misprints = {row.quantity: row.computed for row in chittor().rows if row.misprint}
    assert misprints == {
        "θ for λ_p = 0.15, ν = 5": pytest.approx(1 / (1 - 6 * 0.15)),  # equation 3.11
        "peak width of mesh:2x2": 2,  # equations 2.14 and 2.15
    }


def test_which_values_of_table_3_2_lie_among_random_mappings():
    """As the independent reproduction found: trees at every size, 3D meshes but the smallest."""
    inside = {row.quantity.split(" (")[0] for row in rows("table 3.2") if row.within}
    both = ("average node", "worst node")
    assert inside == {
        f"{kind}, N = {size}, {who}"
        for kind, sizes in (("binary tree", (64, 256, 1024)), ("3D mesh", (256, 1024)))
        for size in sizes
        for who in both
    }
