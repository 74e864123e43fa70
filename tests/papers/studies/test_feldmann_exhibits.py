"""Feldmann et al. 1993: tables and figures in the quick variant, against what they are to show."""

import pytest

from netloom_papers.ledger import items, picture, published

DRAWN = {item.name for item in items("feldmann").values() if item.draw}
NOT_DRAWN = published("feldmann")["without numbers"]


@pytest.fixture(scope="module")
def shown():
    return {name: picture(f"feldmann/{name}", quick=True) for name in DRAWN}


def test_every_table_and_figure_of_the_paper_is_here_or_said_to_be_left_out():
    paper = {f"{kind}-{number}" for kind in ("table", "fig") for number in range(1, 7)}
    assert DRAWN | {"fig-1"} == paper
    assert "fig-1" in NOT_DRAWN


def cells_of(grid):
    return {
        (label, column): cell
        for label, cells in grid.rows
        for column, cell in zip(grid.columns[1:], cells, strict=True)
    }


def test_figures_show_their_tables_as_bandwidth(shown):
    torus = shown["fig-2"].panels[0].table
    (printed,) = torus.filter(series="ConSet, measured", whose="printed", x=16384)["y"]
    assert printed == pytest.approx(64 * 4 * 16384 * 4 * 20 / 132768)
    (computed,) = torus.filter(series="ConSet, measured", whose="computed", x=16384)["y"]
    assert computed == pytest.approx(printed, rel=0.02)
    (formula,) = torus.filter(series="message passing, predicted", whose="computed", x=32)["y"]
    assert formula == pytest.approx(64 * 4 * 32 * 4 * 20 / 3456)
    every = shown["fig-4"].panels[0].table
    assert len(every.filter(whose="printed")) == 16  # a quick run has all that is printed
    simulated = every.filter(series="message passing, measured", whose="computed")
    assert simulated["x"].to_list() == [32, 256]


def test_figure_5_counts_every_pair_of_our_meshes(shown):
    counted = [panel.table["y"].sum() for panel in shown["fig-5"].panels]
    assert counted == [322 / 2, 332 / 2, 256 / 2, 650 / 2]


def test_table_5_and_figure_6_have_the_same_bandwidth(shown):
    table = cells_of(shown["table-5"].panels[0])
    assert table["m11k", "comm. MB/s"].computed == pytest.approx(127.23, abs=0.005)
    assert not table["q20k", "comm. MB/s"].within
    assert table["q20k", "comp. MFLOPS"] == (273.92, None, None)
    figure = shown["fig-6"].panels[0].table
    for mesh in ("m11k", "c10k", "c100k"):
        (bar,) = figure.filter(series="ConSet, measured", x=mesh, whose="printed")["y"]
        assert bar == pytest.approx(table[mesh, "comm. MB/s"].printed, abs=0.005)


def test_table_6_measures_longer_phases_for_the_words_predicted(shown):
    (grid,) = shown["table-6"].panels
    cells = cells_of(grid)
    assert cells["m11k", "ConSet, predicted"] == (4786, 528 * 2 + 10 * 373, True)
    assert cells["m11k", "ConSet, measured"] == (5352, 872 * 2 + 10 * 373, True)
    assert cells["m11k", "message passing, measured"] == (8730, None, None)
