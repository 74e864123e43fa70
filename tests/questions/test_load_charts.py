"""Curves of simulated loads as they are drawn: intervals, names, and what counts as saturated."""

import pytest
import vl_convert

import netloom as nl
from netloom.drawing.frame import framed
from netloom.drawing.names import width_of
from netloom.questions.simulate.load import Simulation
from tests.drawing.svg import read

pytestmark = pytest.mark.filterwarnings("ignore:load .* is above")

MESH = "mesh:4x4"


@pytest.fixture(scope="module")
def one():
    return nl.simulate(MESH, load="0.2,0.6,0.9", cycles=3000)


@pytest.fixture(scope="module")
def techniques():
    asked = {"switching": "wormhole,store-and-forward,virtual-cut-through", "cycles": 3000}
    return nl.simulate(MESH, load="0.1,0.2,0.9", **asked)


def texts(chart):
    _, found = read(vl_convert.vegalite_to_svg(framed([chart], "Short.").to_dict()))
    return [each.said for each in found]


def bands(chart):
    """Return the shaded intervals of a chart."""
    layers = chart.to_dict()["layer"]
    return [each for each in layers if each["mark"].get("type") == "rect"]


def test_an_interval_has_its_loads_in_words(one):
    said = texts(one.parts()["latency"])
    assert "saturates 0.6 to 0.9" in said
    assert any(each.startswith("limit 0.93") for each in said)
    assert any(each.startswith("idle 20.") for each in said)


def test_techniques_that_saturate_alike_share_one_interval_and_have_no_idle_latency(techniques):
    assert len(set(techniques.saturation_intervals().values())) == 1
    for chart in techniques.parts().values():
        said = texts(chart)
        assert len(bands(chart)) == 1
        assert [each for each in said if "saturates" in each] == ["saturates 0.2 to 0.9"]
        assert not any("idle" in each for each in said)
        assert not any("worst" in each for each in said)
    assert {"wormhole", "store-and-forward"} <= set(texts(techniques.parts()["latency"]))


def test_the_worst_node_is_drawn_from_the_highest_load_on_that_is_carried(one):
    spec = one.parts()["accepted"].to_dict()
    rows = [row for table in spec["datasets"].values() for row in table if "share" in row]
    worst = {row["offered"] for row in rows if row.get("of") == "worst node"}
    assert worst == {0.6, 0.9}
    assert {row["offered"] for row in rows if row.get("of") == "average node"} == {0.2, 0.6, 0.9}
    assert "of the worst node" in spec["title"]


def slow_at(found, load):
    """Return an answer in whose figures packets are slow at one load, not overloaded."""
    figures = found.to_dict()
    for point in figures["points"]:
        if point["offered"] == load:
            idle = point["zero_load_latency"]
            point["packet_latency"] |= {"mean": 4 * idle, "ci95": 0.1 * idle}
    return Simulation.from_json(figures)


def test_a_slow_network_counts_as_saturated_as_in_a_search():
    kept = nl.simulate(MESH, load="0.1,0.2,0.9", cycles=3000)
    assert kept.saturation_intervals() == {"wormhole": (0.2, 0.9)}
    assert kept.verdict.sentence.startswith("Saturates between 0.2 and 0.9 (")
    slow = slow_at(kept, 0.2)
    assert slow.saturation_intervals() == {"wormhole": (0.1, 0.2)}
    said = slow.verdict
    assert said.sentence.startswith("Saturates between 0.1 and 0.2 (")
    assert said.lines["why"].endswith(", 4 times idle")
    first = slow_at(slow, 0.1).verdict
    assert first.sentence.startswith("Saturated from the lowest load on: packets take ")


def test_latencies_of_packets_are_drawn_up_to_the_tail():
    kept = nl.simulate(MESH, load=0.67, cycles=20_000)
    row = kept.table().row(0, named=True)
    assert row["packet_latency_max"] > 1.6 * row["packet_latency_p99"]
    spec = kept.parts()["latencies"].to_dict()
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
    chart = nl.simulate(MESH, load=0.1, cycles=3000).parts()["latencies"]
    svg = vl_convert.vegalite_to_svg(framed([chart], sentence, ["grey"]).to_dict())
    (width, _), _ = read(svg)
    assert width >= width_of(sentence, bold=True, size=17)
