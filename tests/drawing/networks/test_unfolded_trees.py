"""Trees of two levels, unfolded: a slot a cable, one mark a channel, names and colours."""

from dataclasses import replace

import numpy as np
import pytest

from netloom.drawing.networks.chart import scene_of
from netloom.drawing.networks.traffic import MEAN_HEAT, Traffic
from netloom.topology import topology
from netloom.topology.core import Topology, attach_hosts

TREES = ["leaf-spine:8x4x8", "leaf-spine:4x2x2/3", "leaf-spine:40x4x1", "fat-tree:3x2"]
WIDTHS = [328, 700]


def unnamed_tree():
    """Leaves and spines of a graph that says nothing of trees; spines first."""
    pairs = [(leaf, spine) for leaf in range(3, 8) for spine in range(3) for _ in range(2)]
    source = np.array([end for pair in pairs for end in pair], np.int32)
    target = np.array([end for pair in pairs for end in pair[::-1]], np.int32)
    return attach_hosts(Topology("graph", 8, source, target), np.arange(3, 8), name="graph")


def named(net, channel):
    return net.channel_name(channel).replace(" -> ", " → ")


@pytest.fixture(params=[*TREES, "unnamed"])
def net(request):
    return unnamed_tree() if request.param == "unnamed" else topology(request.param)


def test_every_channel_is_one_curve_of_its_own(net, traffic_on, rows_of):
    of = traffic_on(net)
    shown = rows_of(scene_of(of, 700), of)
    assert sorted(row["channel"] for row in shown) == sorted(
        named(net, channel) for channel in range(net.num_network_channels)
    )
    assert len({row["path"] for row in shown}) == len(shown)
    loads = {row["channel"]: row["load"] for row in shown}
    assert loads == {named(net, c): of.time[c] for c in range(net.num_network_channels)}


@pytest.mark.parametrize("width", WIDTHS)
def test_cables_have_slots_of_their_own_in_the_order_of_their_other_ends(net, width, traffic_on):
    scene = scene_of(traffic_on(net), width)
    part = scene.channels[0]
    order = np.argsort(part.channel)
    start, end = part.points[order, 0], part.points[order, 3]
    for here, there, router in (
        (start, end, net.routers.channel_source),
        (end, start, net.routers.channel_target),
    ):
        assert len(np.unique(np.round(here, 6), axis=0)) == len(here)
        for each in np.unique(router):
            for side in np.unique(here[router == each, 0]):
                mine = np.flatnonzero((router == each) & (here[:, 0] == side))
                mine = mine[np.argsort(here[mine, 1])]
                gaps = np.diff(here[mine, 1])
                assert np.allclose(gaps, gaps[:1])
                assert (gaps > 0).all()
                assert (np.diff(there[mine, 1]) > 0).all()  # no two cross where they end


def test_a_tree_is_read_from_left_to_right(net, traffic_on):
    part = scene_of(traffic_on(net), 700).channels[0]
    assert (np.diff(part.points[:, :, 0], axis=1) > 0).all()
    assert np.array_equal(part.points[:, 0, 1], part.points[:, 1, 1])  # horizontal tangents
    assert np.array_equal(part.points[:, 2, 1], part.points[:, 3, 1])


def test_up_to_the_mean_all_is_grey_and_thin_and_above_it_hot_and_thick(traffic_on, rows_of):
    net = topology("leaf-spine:8x4x8")
    of = traffic_on(net)
    shown = rows_of(scene_of(of, 700), of)
    loads = np.array([row["load"] for row in shown])
    heat, thick = (np.array([row[name] for row in shown]) for name in ("heat", "thick"))
    assert (np.diff(loads) >= 0).all()  # the busiest is drawn last
    assert (np.diff(heat) >= 0).all()
    below = loads <= of.mean
    assert (heat[below] <= MEAN_HEAT + 1e-4).all()
    assert (heat[~below] > MEAN_HEAT).all()
    assert len(set(thick[below])) == 1
    assert (np.diff(thick[~below]) >= 0).all()
    assert thick[-1] > 3
    assert heat[-1] == 1


def test_colour_is_by_time_not_by_load(rows_of):
    net = topology("leaf-spine:4x2x2")
    fast = np.ones(net.num_channels)
    fast[:4] = 4.0
    net = replace(net, channel_bandwidth=fast)
    load = np.full(net.num_network_channels, 10.0)
    load[0], load[9] = 32.0, 12.0
    of = Traffic.of_load(net, load, "bytes")
    assert of.busiest[0] == 9  # 12 bytes at 1 take longer than 32 at 4
    shown = {row["channel"]: row for row in rows_of(scene_of(of, 700), of)}
    slow, quick = shown[named(net, 9)], shown[named(net, 0)]
    assert (slow["time"], quick["time"], quick["load"]) == (12, 8, 32)
    assert slow["heat"] > quick["heat"]
    said = "carries 12\u00a0B at 1 flit/cycle and takes longest, 1.4× the mean"
    assert of.sentence == f"{named(net, 9)} {said}"
    names = [word.text for word in scene_of(of, 700).words]
    assert "12\u00a0B at 1 flit/cycle, 1.4× the mean time" in names
