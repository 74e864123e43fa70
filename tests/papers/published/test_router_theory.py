"""What theory says of networks whose hosts hang on routers is what is simulated."""

from netloom_papers.studies.router_theory import hosted_rows

ROWS = {
    "lone packet": 16, "Geo/D/1 at a host": 4, "output queue": 4, "permutations": 8,
    "worst traffic, accepted": 3, "part of the capacity": 2,
    "of the better of minimal and valiant": 2,
}  # fmt: skip


def test_theory_is_met():
    rows = list(hosted_rows())
    assert {item: sum(row.item == item for row in rows) for item in ROWS} == ROWS
    assert len(rows) == sum(ROWS.values())
    assert [row.quantity for row in rows if not row.within or row.reason] == []
