"""Rosenblum & Mayr 1986, its tables and figures as exhibits, with fewer seeds."""

import pytest

from netloom_papers.ledger import items, picture, published
from netloom_papers.studies.rosenblum_mayr import COLUMNS

PAPER = "rosenblum-mayr"
ITEMS = items(PAPER)


def test_all_tables_and_figures_of_the_report_are_there():
    tables = [f"table-{number}" for number in range(1, 7)]
    drawn = [item.name for item in ITEMS.values() if item.draw]
    assert drawn == tables + [f"fig-{number}" for number in range(1, 16)]


@pytest.mark.parametrize(("table", "pes"), [("table-1", 16), ("table-4", 512)])
def test_systems_have_as_many_hot_spots_as_printed(table, pes):
    (grid,) = picture(f"{PAPER}/{table}", quick=True).panels
    assert [name for name, _ in grid.rows] == list(published(PAPER)["systems"][f"{pes}"])
    for name, (spots, per_pe, queue, rate) in grid.rows:
        system = published(PAPER)["systems"][f"{pes}"][name]
        assert spots.computed == spots.printed == system["hot_spots"]
        # 40 seeds; what is printed is the mean of rounds that each succeed by chance
        assert per_pe.computed == pytest.approx(per_pe.printed, rel=0.03)
        assert queue.printed == (system["queue"] or float("inf"))
        assert rate.printed == system["rate"]
    printed = [cells[1].printed for _, cells in grid.rows]
    assert printed == ([0.95] * 5 + [1.9, 1.5] if pes == 16 else [1.9] * 5 + [7.6, 4.5])


def test_a_table_has_its_cells_in_place():
    shown = picture(f"{PAPER}/table-3", quick=True)
    (grid,) = shown.panels
    assert grid.columns == ("", *COLUMNS)
    assert "Quick" in shown.remarks[-1]
    by_quantity = {row.quantity: row for row in shown.rows}
    assert len(by_quantity) == len(shown.rows) == 98
    assert all(row.within or row.reason for row in shown.rows)
    for label, cells in grid.rows:
        name, seed = label.rsplit(", seed ", 1)
        printed = published(PAPER)["items"]["table 3"]["rows"][name][int(seed) - 1]
        assert [cell.printed for cell in cells] == printed
        for column, cell in zip(COLUMNS, cells, strict=True):
            row = by_quantity[f"{label}, {column}"]
            assert (cell.computed, cell.within) == (row.computed, row.within)
