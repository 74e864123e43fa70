"""Simulators and models on networks whose hosts hang on routers: served, or refused in a line."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import netloom as nl
from netloom.topology import Topology
from netloom.topology.core import attach_hosts


def test_worms_run_a_trace_between_hosts() -> None:
    """One leaf: a message takes its injection and its ejection channel, and no network channel."""
    found = nl.replay("fat-tree:64x1", trace="examples/halo.csv", engine="worm")
    data, messages = found.to_dict(), found.run.moved
    assert (data["channels"], data["flit_hops"], data["utilisation"]["max"]) == (0, 0, 0)
    assert (messages["hops"] == 0).all()
    assert (messages["unhindered"] == messages["size"] + 2 + 1).all()
    ends = data["busiest_host_channel"]
    sent = messages.group_by("source_node").agg(pl.col("size").sum())["size"].max()
    heard = messages.group_by("target_node").agg(pl.col("size").sum())["size"].max()
    assert ends["size"] == max(sent, heard)
    assert ends["utilisation"] == ends["size"] / found.finish


def test_transactions_between_hosts_count_the_hops_between_routers() -> None:
    found = nl.simulate_transactions("leaf-spine:2x1x2", app="ring:4", engine="worm")
    assert found.distance == pytest.approx(1.0)  # of four edges, two cross the spine: 2 hops each


@pytest.mark.parametrize("on", ["fat-tree:4x2", "dragonfly:2x4x2", "torus:4x4/2"])
def test_the_model_of_hosts_is_near_to_their_simulation(on) -> None:
    found = nl.predict_latency(on, offered=[0.1, 0.3], simulate=True, cycles=5000)
    for point in found.points:
        assert point.latency == pytest.approx(point.simulated.latency, rel=0.06)


def test_a_network_without_channels_between_routers_is_predicted() -> None:
    found = nl.predict_latency("fat-tree:4x1", traffic="pairs:0-3,1-3,2-3", offered=0.2)
    data = found.to_dict()
    assert (data["utilisation_mean"], data["busiest_channel"]) == (0, None)
    assert found.network.bound.load == pytest.approx(1 / 3)
    assert found.network.bound.what == "channel s1.0 -> h3"


def test_every_packet_draws_among_several_paths() -> None:
    """Two hosts of a leaf send to the other leaf, by both spines alike."""
    options = {"traffic": "pairs:0-3,1-4", "offered": 0.1}
    both = nl.predict_latency("leaf-spine:2x2x3", routing="nca", **options)
    one = nl.predict_latency("leaf-spine:2x1x3", routing="nca", **options)
    used = [sorted(found.channels()["utilisation"].to_list()) for found in (both, one)]
    assert used[0] == pytest.approx([0] * 4 + [0.1] * 4)
    assert used[1] == pytest.approx([0] * 2 + [0.2] * 2)
    assert both.points[0].latency < one.points[0].latency


def rails():
    """Two hosts with two ports each, on two routers of their own."""
    routers = Topology("rails", 2, *np.zeros((2, 0), np.int32))
    return attach_hosts(
        routers, np.array([0, 1, 0, 1]), name="rails", port_host=np.array([0, 0, 1, 1])
    )


def test_several_ports_share_what_a_host_sends() -> None:
    found = nl.predict_latency(rails(), traffic="pairs:0-1", offered=0.1)
    assert found.network.bound.load == pytest.approx(1)
    assert found.network.bound.what.startswith("channel h0 -> r")


LEAVES = "leaf-spine:3x2x4"


def two_leaves(bandwidth=1.0, cycles=1):
    """Two routers with two hosts each, joined by one channel of a bandwidth and length each way."""
    ends = np.array([0, 1], np.int32), np.array([1, 0], np.int32)
    routers = Topology(
        "pair", 2, *ends, channel_bandwidth=np.full(2, bandwidth),
        channel_cycles=np.full(2, cycles, np.int32),
    )  # fmt: skip
    return attach_hosts(routers, np.array([0, 0, 1, 1]), name="two-leaves")


def test_hosts_of_one_router_keep_its_channels_free():
    found = nl.simulate(LEAVES, load=0.3, cycles=2000, traffic="pairs:0-1,2-3,5-6")
    used = found.to_dict()["utilisation"]
    assert used["mean"] == used["max"] == 0
    assert found.packet_latency >= found.point.zero_load_latency > 0


@pytest.mark.parametrize(("bandwidth", "most"), [(0.5, 0.25), (2.0, 1.0)])
def test_channels_are_busy_by_their_bandwidth(bandwidth, most):
    """Two hosts send to the other leaf, by one channel: half of its bandwidth for each."""
    net = two_leaves(bandwidth)
    found = nl.simulate(net, load=most / 2, traffic="pairs:0-2,1-3", cycles=4000)
    used = found.to_dict()["utilisation"]
    assert used["max"] == pytest.approx(0.5, rel=0.1)
    assert found.channels()["utilisation"].max() == pytest.approx(0.5 * bandwidth, rel=0.1)
    assert found.network.settings[0].bound.load == pytest.approx(most)


@pytest.mark.parametrize("bandwidth", [0.5, 2.0])
def test_the_busiest_channels_of_a_trace_are_used_by_their_bandwidth(bandwidth, tmp_path):
    trace = tmp_path / "two.csv"
    trace.write_text("id,source,target,flits\na,0,2,200\nb,1,3,200\nc,2,0,100\n")
    found = nl.replay(two_leaves(bandwidth), trace=trace)
    assert found.busiest[0].utilisation == found.utilisation.max > 0.4
    assert "busiest channel of a host: h0→r0" in list(found.remarks())[-1]


def test_a_message_alone_takes_what_is_said_of_an_idle_network(tmp_path):
    """By a channel of 30 cycles, too: one message at a time, so that none meets another."""
    trace = tmp_path / "one.csv"
    trace.write_text("id,source,target,flits,after\na,0,2,5,\nb,1,3,9,a\nc,2,1,1,b\nd,0,1,5,c\n")
    for cycles in (1, 30):
        moved = nl.replay(two_leaves(cycles=cycles), trace=trace, buffer_flits=100).run.moved
        assert (moved["contention"] == 0).all()
        assert moved["unhindered"][0] - moved["unhindered"][3] >= cycles
