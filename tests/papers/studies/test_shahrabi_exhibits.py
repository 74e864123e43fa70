"""Shahrabi et al. 2002, figure 1, smaller than it is."""

import pytest

from netloom_papers.exhibits import COMPUTED, MODELLED, Grid, Plot
from netloom_papers.ledger import picture, published
from netloom_papers.studies import shahrabi as exhibits


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(exhibits, "RADICES", (8,))
    monkeypatch.setattr(exhibits, "FLITS", (16, 32))
    quick = published("shahrabi")["items"]["figure 1"]["in a quick run"]
    monkeypatch.setitem(quick, "cycles", 2500)
    return picture("shahrabi/fig-1", quick=True)


def test_panels_have_the_model_and_simulated_points(small):
    plots = [panel for panel in small.panels if isinstance(panel, Plot)]
    assert [plot.title for plot in plots] == [f"N = 8 × 8, V = 3, β = {b}" for b in (0.02, 0.04)]
    for plot, fraction in zip(plots, (0.02, 0.04), strict=True):
        for flits in (16, 32):
            series = plot.table.filter(series=f"M = {flits}")
            model = series.filter(whose=MODELLED)
            limit = exhibits.saturation_rate((8, flits, 3, fraction))
            assert model["x"].max() == pytest.approx(0.99 * limit)
            assert model["y"].is_sorted()
            # M + d with nothing in the way
            assert flits + 4 < model["y"][0] < flits + 7
            points = series.filter(whose=COMPUTED)
            assert points["x"].to_list() == pytest.approx([0.3 * limit, 0.8 * limit])
            assert (points["low"] < points["y"]).all()
            assert (points["y"] < points["high"]).all()
            assert points["y"][0] < points["y"][1]


def test_the_model_is_near_at_light_loads(small):
    grid = small.panels[-1]
    assert isinstance(grid, Grid)
    ((torus, (light, heavy)),) = grid.rows
    assert torus == "8 × 8"
    assert 0 < light.computed < 10
    assert 0 < heavy.computed < 25
    assert light.printed is None
    assert small.rows == ()
    assert any("lost" in remark for remark in small.remarks)
    assert any("Quick" in remark for remark in small.remarks)
