"""Curves of simulated loads as they are drawn: intervals, names, and what counts as saturated."""

import polars as pl
import pytest
import vl_convert

import netloom as nl
from netloom.drawing.frame import framed
from netloom.drawing.names import width_of
from netloom.questions.register import record
from netloom.questions.simulate.load.chart import (
    accepted_curve,
    latency_curve,
    latency_spread,
    saturation_intervals,
)
from netloom.questions.simulate.load.verdict import verdict
from tests.drawing.svg import read

pytestmark = pytest.mark.filterwarnings("ignore:load .* is above")

MESH = "mesh:4x4"


@pytest.fixture(scope="module")
def one():
    return record(nl.simulate(MESH, load="0.2,0.6,0.9", cycles=3000))


@pytest.fixture(scope="module")
def techniques():
    asked = {"switching": "wormhole,store-and-forward,virtual-cut-through", "cycles": 3000}
    return record(nl.simulate(MESH, load="0.1,0.2,0.9", **asked))


def texts(chart):
    _, found = read(vl_convert.vegalite_to_svg(framed([chart], "Short.").to_dict()))
    return [each.said for each in found]


def bands(chart):
    """Return the shaded intervals of a chart."""
    layers = chart.to_dict()["layer"]
    return [each for each in layers if each["mark"].get("type") == "rect"]


def test_an_interval_has_its_loads_in_words(one):
    said = texts(latency_curve(one))
    assert "saturates 0.6 to 0.9" in said
    assert any(each.startswith("limit 0.93") for each in said)
    assert any(each.startswith("idle 20.") for each in said)


def test_techniques_that_saturate_alike_share_one_interval_and_have_no_idle_latency(techniques):
    assert len(set(saturation_intervals(techniques).values())) == 1
    for chart in (latency_curve(techniques), accepted_curve(techniques)):
        said = texts(chart)
        assert len(bands(chart)) == 1
        assert [each for each in said if "saturates" in each] == ["saturates 0.2 to 0.9"]
        assert not any("idle" in each for each in said)
        assert not any("worst" in each for each in said)
    assert {"wormhole", "store-and-forward"} <= set(texts(latency_curve(techniques)))


def test_the_worst_node_is_drawn_from_the_highest_load_on_that_is_carried(one):
    spec = accepted_curve(one).to_dict()
    rows = [row for table in spec["datasets"].values() for row in table if "share" in row]
    worst = {row["offered"] for row in rows if row.get("of") == "worst node"}
    assert worst == {0.6, 0.9}
    assert {row["offered"] for row in rows if row.get("of") == "average node"} == {0.2, 0.6, 0.9}
    assert "of the worst node" in spec["title"]


def slow_at(found, load):
    """Return an answer in whose figures and table packets are slow at one load, not overloaded."""
    for point in found.figures["points"]:
        if point["offered"] == load:
            idle = point["zero_load_latency"]
            point["packet_latency"] |= {"mean": 4 * idle, "ci95": 0.1 * idle}
    mean = pl.when(offered=load).then(4 * pl.col("zero_load_latency"))
    found.tables["table"] = found.tables["table"].with_columns(
        packet_latency_mean=mean.otherwise(pl.col("packet_latency_mean"))
    )
    return found


def test_a_slow_network_counts_as_saturated_as_in_a_search():
    kept = record(nl.simulate(MESH, load="0.1,0.2,0.9", cycles=3000))
    assert saturation_intervals(kept) == {"wormhole": (0.2, 0.9)}
    assert verdict(kept.figures).sentence.startswith("Saturates between 0.2 and 0.9 (")
    slow = slow_at(kept, 0.2)
    assert saturation_intervals(slow) == {"wormhole": (0.1, 0.2)}
    said = verdict(slow.figures)
    assert said.sentence.startswith("Saturates between 0.1 and 0.2 (")
    assert said.lines["why"].endswith(", 4 times idle")
    first = verdict(slow_at(slow, 0.1).figures)
    assert first.sentence.startswith("Saturated from the lowest load on: packets take ")


def test_latencies_of_packets_are_drawn_up_to_the_tail():
    kept = record(nl.simulate(MESH, load=0.67, cycles=20_000))
    row = kept.tables["table"].row(0, named=True)
    assert row["packet_latency_max"] > 1.6 * row["packet_latency_p99"]
    spec = latency_spread(kept).to_dict()
    ends = [row["to"] for table in spec["datasets"].values() for row in table if "to" in row]
    assert row["packet_latency_p99"] < max(ends) < row["packet_latency_max"]
    assert f"the longest {row['packet_latency_max']:,.0f}" in spec["title"]


def test_the_scale_of_use_says_where_the_network_saturates():
    found = nl.predict_latency("mesh:8x8", offered="0.1,0.2", vcs=2)
    share = found.points[-1].utilisation_max * found.saturation / 0.2
    said = texts(found.parts()["channels"])
    assert f"saturates* {100 * share:.0f}\u00a0%" in said
    assert {"idle 0\u00a0%", "full 100\u00a0%"} <= set(said)


def test_no_font_has_the_sentence_of_a_picture_cut_off():
    sentence = "Processors compute 13 % of the time and wait 87 %: latency, not bandwidth, limits."
    chart = latency_spread(record(nl.simulate(MESH, load=0.1, cycles=3000)))
    svg = vl_convert.vegalite_to_svg(framed([chart], sentence, ["grey"]).to_dict())
    (width, _), _ = read(svg)
    assert width >= width_of(sentence, bold=True, size=17)
