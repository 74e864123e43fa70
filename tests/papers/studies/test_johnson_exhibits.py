"""Johnson 1992: tables and figures in the quick variant, against what they are to show."""

import numpy as np
import polars as pl
import pytest

from netloom_papers.ledger import items, picture, published
from netloom_papers.studies.johnson import QUICK_DISTANCES

NAMES = [item.name for item in items("johnson").values() if item.draw]


@pytest.fixture(scope="module")
def shown():
    return {name: picture(f"johnson/{name}", quick=True) for name in NAMES}


def test_every_table_and_figure_of_the_paper_is_here_or_said_to_be_left_out():
    paper = {"table-1", *(f"fig-{number}" for number in range(1, 9))}
    left_out = published("johnson")["without numbers"]
    assert {*NAMES, *left_out} == paper
    assert not left_out.keys() & set(NAMES)


def test_figure_3_draws_regressions_through_what_is_simulated(shown):
    table = shown["fig-3"].panels[0].table
    for contexts in (1, 2, 4):
        ends = table.filter(series=f"p = {contexts}, regression").sort("x")
        points = table.filter(series=f"p = {contexts}, simulated")
        assert len(points) == len(QUICK_DISTANCES)
        line = np.interp(points["x"], ends["x"], ends["y"])
        assert points["y"].to_numpy() == pytest.approx(line, rel=0.08)


def test_figures_4_and_5_have_the_same_runs_from_both_sides(shown):
    """r_m falls with the distance, T_m grows; the model follows within what the remark says."""
    rates, latencies = (shown[name].panels[0].table for name in ("fig-4", "fig-5"))
    for contexts in (1, 2, 4):
        series = f"p = {contexts}, simulated"
        rate, latency = rates.filter(series=series), latencies.filter(series=series)
        assert rate["x"].to_list() == latency["x"].to_list()
        assert rate["y"].to_list() == sorted(rate["y"], reverse=True)
        assert latency["y"].to_list() == sorted(latency["y"])
    model = rates.filter(pl.col("series").str.starts_with("p = 1"))
    at = model.filter(series="p = 1, model")
    points = model.filter(series="p = 1, simulated")
    assert points["y"].to_numpy() == pytest.approx(np.interp(points["x"], at["x"], at["y"]), 0.05)


def test_figures_7_and_8_agree_on_a_thousand_processors(shown):
    gains, bars = shown["fig-7"].panels[0], shown["fig-8"].panels[0]
    total = dict(bars.table.group_by("x").agg(pl.col("y").sum()).iter_rows())
    for contexts in (1, 2, 4):
        curve = gains.table.filter(series=f"p = {contexts}")
        gain = np.exp(np.interp(np.log(1000), np.log(curve["x"]), np.log(curve["y"])))
        ratio = total[f"random, p = {contexts}"] / total[f"ideal, p = {contexts}"]
        assert gain == pytest.approx(ratio, rel=1e-6)
