"""What is to be seen in the pictures of networks, once they are drawn as SVG."""

import re

import numpy as np
import pytest
import vl_convert

import netloom as nl
from netloom.drawing.frame import NARROW, WIDE, framed, narrow_page
from netloom.drawing.names import SIZE
from netloom.drawing.networks.chart import USE, drawn, network_chart, scene_of
from netloom.drawing.networks.traffic import Traffic
from netloom.questions.recorded import record
from netloom.topology import topology
from tests.drawing.svg import outside, overlapping, read

LAMMPS = "examples/lammps-64.mtx"
ON = ["torus:8x8", "torus:4x4x4", "hypercube:6", "mesh:8x8", "fat-tree:4x3", "dragonfly:2x4x2",
      "graph:examples/my-cluster.graphml", "jellyfish:32x5x3/1", "hyperx:4x4/4", "butterfly:4x3",
      "torus:20x20", "line:64", "torus:4x4x4/2"]  # fmt: skip


def texts_of(chart):
    """Return the size of a chart's SVG, and its words."""
    return read(vl_convert.vegalite_to_svg(framed([chart], "Short.").to_dict()))


@pytest.mark.parametrize("on", ON)
@pytest.mark.parametrize("pixels", [NARROW, WIDE])
def test_words_are_large_enough_inside_the_frame_and_clear_of_each_other(on, pixels):
    kept = record(nl.analyze(LAMMPS, on, random_mappings=0))
    with narrow_page(pixels):
        frame, texts = texts_of(kept.answer.parts()["channels"])
    assert len(texts) > 5
    assert min(each.size for each in texts) >= SIZE
    assert overlapping(texts) == []
    assert outside(texts, frame) == []
    assert not any("…" in each.said for each in texts)


def test_use_has_one_scale_from_idle_to_full():
    net = topology("torus:4x4")
    used = np.linspace(0, 0.5, net.num_channels)
    spec = network_chart(net, used, USE).to_dict()
    (table,) = (each for each in spec["datasets"].values() if "load" in each[0])
    assert max(row["heat"] for row in table) == 0.5
    assert max(row["load"] for row in table) == 50  # percent
    said = " ".join(each.said for each in texts_of(network_chart(net, used, USE))[1])
    assert re.search(r"idle 0\s%.*50\s%.*full 100\s%", said)
    assert "50\u00a0% busy" in " ".join(spec["title"]["text"])


def test_a_load_s_scale_says_that_it_is_relative_unless_it_is_shared():
    net = topology("torus:4x4")
    loads = np.arange(net.num_channels) + 1.0
    alone = Traffic(net, loads, "bytes")
    shared = Traffic(net, loads, "bytes", (20.0, 100.0))
    assert "relative" in alone.measure
    assert "relative" not in shared.measure
    assert shared.heat(100.0) == 1
    assert shared.heat(20.0) == alone.heat(alone.mean)
    assert shared.compared(shared.busiest[0]) == alone.compared(alone.busiest[0])


def test_a_mapping_shows_what_changes_less_in_blue_and_more_in_red():
    found = nl.find_mapping(LAMMPS, "torus:8x8", seconds=0.3)
    table = found.channels()
    before, after = (
        table.filter(mapping=when)["weighted_channel_load"].to_numpy()
        for when in ("before", "after")
    )
    shown = found.networks()
    assert list(shown) == ["before", "after", "difference"]
    spec = shown["difference"].to_dict()
    (rows,) = (each for each in spec["datasets"].values() if "load" in each[0])
    assert sorted(row["load"] for row in rows) == pytest.approx(sorted(after - before))
    for row in rows:
        assert (row["heat"] < 0.5) == (row["load"] < -1e-4 * np.abs(after - before).max())
    assert abs(rows[-1]["load"]) == np.abs(after - before).max()  # drawn last
    ranges = [shown[when].to_dict()["datasets"] for when in ("before", "after")]
    heats = [
        {
            round(row["load"], 3): row["heat"]
            for rows in each.values()
            for row in rows
            if "load" in row
        }
        for each in ranges
    ]
    assert all(heats[0][load] == heats[1][load] for load in heats[0].keys() & heats[1].keys())


def test_nothing_changed_has_no_marks():
    net = topology("leaf-spine:8x4x8")
    of = Traffic(net, np.zeros(64), "bytes", shown="change", before=np.ones(64))
    assert scene_of(of, 700).discs == ()
    title = drawn(scene_of(of, 700), of).to_dict()["title"]["text"]
    assert " ".join(title) == "No channel carries more or less than before"
