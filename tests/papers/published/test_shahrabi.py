"""Shahrabi et al. 2002 with fewer runs than ``netloom validate shahrabi``."""

import pytest

from netloom_papers.ledger import compare, items, published

KNOWN = published("shahrabi")["items"]


def compared(item, **changes):
    return compare("shahrabi", items("shahrabi")[item], **changes)


def test_trees_are_exact():
    assert all(row.computed == row.printed for row in compared("equation 2"))


def test_idle_latency_is_m_plus_d():
    rows = compared("equation 12")  # at a load at which no two packets met
    assert all(row.within for row in rows)
    assert all(row.deviation < 1e-12 for row in rows if "lockstep" in row.quantity)


def test_utilisation_by_class_is_the_formula_s():
    few = {"radices": [8], "fractions": [0.04], "seeds": 4, "cycles": 20_000}
    values = {name: value for name, value in KNOWN["equations 4, 7 and 8"]["values"].items()
              if name.endswith("k = 8, β = 0.04")}  # fmt: skip
    rows = compared("equations 4, 7 and 8", values=values, **few)
    assert [row.within for row in rows] == [True, True]
    assert max(row.tolerance for row in rows) < 0.2


def test_latency_is_the_independent_simulation_s_at_a_light_load():
    name = "latency, k = 8, M = 32, V = 3, β = 0.02, λ = 0.001824"
    known = KNOWN["independent simulation"]
    few = {"values": {name: known["values"][name]}, "cases": known["cases"][:1]}
    (row,) = compared("independent simulation", **few)
    assert row.computed == pytest.approx(row.printed, rel=0.05)
