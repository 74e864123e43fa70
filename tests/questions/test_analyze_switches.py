"""What ``analyze`` says of networks whose hosts hang on routers."""

import json

import numpy as np
import pytest

from netloom import analyze
from netloom.topology import mesh, topology
from netloom.topology.core import attach_hosts
from netloom.workload import process_graph
from tests.questions.shared import quick


def test_the_loads_of_a_leaf_by_hand():
    """Both paths take spine 0; the one inside a leaf is a path without hops."""
    graph = process_graph(8, [0, 1, 0], [4, 6, 1], bytes=[5, 7, 1])
    found = quick(graph, "leaf-spine:2x2x4")
    data = found.to_dict()
    assert data["paths"] == 3
    assert data["local_edges"] == 0
    assert data["path_length"] == {"mean": 4 / 3, "max": 2}
    assert data["weighted_channel_load"] == {"mean": 24 / 8, "max": 12}
    assert data["hop_bytes"] == 24
    neck = data["bottleneck"]
    assert (neck["channel"], neck["channel_weight"], neck["node"]) == ("leaf0 -> spine0", 12, "h1")
    assert neck["ratio"] == pytest.approx(12 / 7)
    assert data["busiest_channel"]["name"] == "leaf0 -> spine0"
    assert data["busiest_router"] == {"name": "leaf0", "load": 13}
    assert data["bounds"]["time"] == 7
    assert data["bounds"]["ratio"] == pytest.approx(12 / 7)
    channels = found.channels()
    assert channels.height == 8 + 16
    used = channels.filter(channels["weighted_channel_load"] > 0)
    assert used["kind"].to_list() == ["network"] * 2 + ["injection"] * 2 + ["ejection"] * 3
    assert used["name"].to_list()[:2] == ["leaf0 -> spine0", "spine0 -> leaf1"]
    assert found.nodes()["name"].to_list()[:2] == ["h0", "h1"]
    assert found.paths()["path_length"].to_list() == [0, 2, 2]


def thick():
    """Two leaves; an uplink carries four times what a host's channel does."""
    routers = topology("leaf-spine:2x1x2").routers
    return attach_hosts(routers, np.array([0, 0, 1, 1]), name="thick", bandwidth=0.25)


def test_unequal_bandwidths():
    graph = process_graph(4, [0, 1], [2, 3], bytes=[2, 1])
    found = analyze(graph, thick(), offered=0.1, random_mappings=2)
    data = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    neck = data["busiest_channel"]
    assert (neck["load"], neck["bandwidth"], neck["time"]) == (2, 0.25, 8)
    assert data["bottleneck"]["channel_busy_cycles"] == 3  # between routers
    assert data["bottleneck"]["node_busy_cycles"] == 8
    limit = data["saturation"]
    assert limit["upper_bound"] == pytest.approx(1.5 / 8)
    assert limit["worst_node"] is limit["average_node"] is limit["lemma_3"] is None
    assert data["slowdown"] is None
    assert "one bandwidth" in data["left_out"]
    assert "saturation_worst_node" not in data["random_mapping"]
    where = data["verdict"]["lines"]["where"]
    assert where.startswith("h0→leaf0, a host's own channel, carries 2 B at bandwidth 0.25")
    assert found.slowdowns is None


def test_oversubscription_says_bandwidths_where_the_counts_do_not():
    """Four hosts a leaf; one uplink carries twice what a host's channel does."""
    routers = topology("leaf-spine:2x1x4").routers
    net = attach_hosts(routers, np.repeat([0, 1], 4), name="taper", bandwidth=0.5)
    (taper,) = analyze("ring:8", net, random_mappings=0).oversubscription
    assert (taper.router, taper.routers, taper.ratio) == ("leaf0", 2, 2)
    assert (taper.channels_below, taper.channels_above, taper.below, taper.above) == (4, 1, 2, 1)
    (even,) = analyze("ring:8", "leaf-spine:2x1x4", random_mappings=0).oversubscription
    assert (even.ratio, even.channels_below, even.channels_above) == (4, 4, 1)


def test_traffic_half_way_round_a_ring_of_routers():
    even = quick("all-to-all", "torus:4x4/2").to_dict()
    direct = quick("all-to-all", "torus:4x4").to_dict()["causes"]["half_way"]
    assert even["causes"]["half_way"]["split_load"] == 4 * direct["split_load"]
    slow = quick("all-to-all", "ring:4/1").to_dict()  # a host's own channel is as busy
    assert slow["causes"]["half_way"]["split_load"] == slow["bounds"]["time"] == 3
    assert quick("shift:2", "ring:4/1").to_dict()["causes"]["half_way"]["split_load"] == 1
    assert quick("ring", "ring:4/2").to_dict()["causes"]["half_way"] is None


def test_one_host_on_each_router_has_the_figures_of_the_direct_network():
    hosted = attach_hosts(mesh(4, 4), np.arange(16), name="mesh:4x4 with hosts")
    one, other = (quick("transpose:4", on).to_dict() for on in ("mesh:4x4", hosted))
    for name in (
        "path_length", "logical_path_length", "channel_load", "weighted_channel_load",
        "path_contention", "hop_bytes", "dilation", "saturation", "channels",
    ):  # fmt: skip
        assert one[name] == other[name], name
    own, others = ([each["time"] for each in data["bounds"]["cuts"]] for data in (one, other))
    assert own == others[1:]  # hosts' channels say no speed where nodes are their own routers
    assert one["oversubscription"] is one["busiest_router"] is None
    assert one["host_channel_load"] is None
    assert one["busiest_channel"]["time"] == one["weighted_channel_load"]["max"]
