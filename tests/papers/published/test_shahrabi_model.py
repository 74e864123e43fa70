"""Shahrabi et al. 2002: all rows of ``netloom validate shahrabi`` that need no simulation."""

from itertools import product

import pytest

from netloom_papers.ledger import published, rows_of
from netloom_papers.models.published_torus import VARIANTS
from netloom_papers.models.torus_broadcasts import torus_broadcast

KNOWN = published("shahrabi")["items"]
ITEMS = (
    "equation 11", "saturation, one correction at a time", "the fold", "saturation", "equation 1",
    "equations 4 to 31",
)  # fmt: skip


@pytest.fixture(scope="module")
def rows():
    return [row for item in ITEMS for row in rows_of("shahrabi", item)]


def test_all_of_the_second_solution_is_reproduced(rows):
    assert len(rows) == sum(len(KNOWN[item]["values"]) for item in ITEMS)
    assert [row for row in rows if not row.within or row.reason] == []


def test_the_corrections_are_told_apart(rows):
    """Each changes the saturation rate by more than its row's tolerance, but for eq. 27."""
    found = {
        row.quantity.removeprefix("saturation rate, corrected: "): row.computed
        for row in rows
        if row.item == "saturation, one correction at a time"
    }
    printed = found.pop("none (printed)")
    assert found.pop("eq. 27") == printed
    assert all(abs(rate - printed) > 1e-5 for rate in found.values())


def test_where_the_second_solution_has_none_there_is_none_here():
    item = KNOWN["equation 1"]
    absent = 0
    for (radix, flits, vcs, fraction, rate), variant in product(item["cases"], VARIANTS):
        where = f"{variant}, k = {radix}, M = {flits}, V = {vcs}, β = {fraction}, λ = {rate:.4g}"
        found = torus_broadcast(
            radix, message_flits=flits, vcs=vcs, broadcast=fraction, rate=rate, variant=variant
        )
        assert found.saturated == (f"latency, {where}" not in item["values"])
        absent += found.saturated
    assert absent == 2 * len(item["cases"]) - len(item["values"]) > 0
