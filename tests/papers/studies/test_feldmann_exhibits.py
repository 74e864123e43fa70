"""Feldmann et al. 1993: tables and figures in the quick variant, against what they are to show."""

import pytest

from netloom_papers.ledger import items, picture, published

DRAWN = {item.name for item in items("feldmann").values() if item.draw}
NOT_DRAWN = published("feldmann")["without numbers"]

SHORTENED = {"table-3", "fig-4", "table-4"}


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


def test_tables_1_to_3_have_every_printed_cell(shown):
    for number in (1, 2, 3):
        cells = cells_of(shown[f"table-{number}"].panels[0])
        assert len(cells) == 16
        assert all(cell.printed is not None for cell in cells.values())
    cells = cells_of(shown["table-1"].panels[0])
    assert cells["2048", "predicted ConSet"] == (16909, 16904, False)
    assert cells["32", "measured ConSet"] == (1168, None, None)  # gives the overhead
    assert cells["16384", "measured message passing"].within


def test_a_quick_run_leaves_out_long_connections_of_all_to_all_alone(shown):
    cells = cells_of(shown["table-3"].panels[0])
    left_out = [place for place, cell in cells.items() if cell.computed is None]
    assert left_out == [
        (words, f"measured {series}")
        for words in ("2048", "16384")
        for series in ("ConSet", "message passing")
    ]
    for name, each in shown.items():
        said = any(remark.startswith("Quick") for remark in each.remarks)
        assert said == (name in SHORTENED)


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


def test_a_full_run_has_phases_of_both_routers():
    names = [label for label, _ in picture("feldmann/table-4").panels[0].rows]
    assert names[-2:] == ["phases, the paper's router", "phases, netloom's own"]
