"""What simulations flit by flit say of networks whose hosts hang on routers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import netloom as nl
from netloom.base.errors import DeadlockError, InputError
from netloom.questions.named import network_again
from netloom.questions.recorded import record
from netloom.topology import Topology, topology
from netloom.topology.core import attach_hosts

EXAMPLES = Path(__file__).parents[2] / "examples"

LEAVES = "leaf-spine:3x2x4"


def two_leaves(bandwidth=1.0, cycles=1):
    """Two routers with two hosts each, joined by one channel of a bandwidth and length each way."""
    ends = np.array([0, 1], np.int32), np.array([1, 0], np.int32)
    routers = Topology(
        "pair", 2, *ends, channel_bandwidth=np.full(2, bandwidth),
        channel_cycles=np.full(2, cycles, np.int32),
    )  # fmt: skip
    return attach_hosts(routers, np.array([0, 0, 1, 1]), name="two-leaves")


def test_a_load_is_simulated_between_hosts():
    found = nl.simulate(LEAVES, load=0.3, cycles=4000, routing="d-mod-k")
    data = found.to_dict()
    assert found.stable
    assert found.accepted == pytest.approx(0.3, rel=0.05)
    assert (data["nodes"], data["channels"], data["routing"]) == (12, 12, "d-mod-k")
    assert data["hops"]["mean"] == pytest.approx(2 * 8 / 11, rel=0.05)  # the others of a leaf: 0
    assert data["zero_load_latency"] < found.packet_latency
    channels = found.channels()
    assert channels.columns[-2:] == ["name", "bandwidth"]
    assert channels["name"][0] == topology(LEAVES).channel_name(0)
    assert channels["utilisation"].sum() == pytest.approx(12 * 0.3 * data["hops"]["mean"], rel=0.05)
    assert found.nodes()["name"].to_list() == [f"h{host}" for host in range(12)]
    assert found.setup.how.endswith("12 hosts, 5 routers, 12 channels")


def test_hosts_of_one_router_keep_its_channels_free():
    found = nl.simulate(LEAVES, load=0.3, cycles=2000, traffic="pairs:0-1,2-3,5-6")
    assert found.to_dict()["utilisation"] == {
        "mean": 0,
        "max": 0,
        "busiest_channel": "leaf0 -> spine0",
    }
    assert found.packet_latency >= found.point.zero_load_latency > 0


def test_the_network_of_a_record_is_found_again_for_its_picture():
    one = record(nl.simulate(LEAVES, load=0.2, cycles=500))
    many = record(nl.simulate(LEAVES, load="0.1:0.3:0.1", cycles=500))
    for made in (one, many):
        again = network_again(None, made.configuration, made.tables["channels"])
        assert again.num_network_channels == 12
    assert one.tables["channels"].height == 12
    assert many.tables["channels"].height == 36


def test_a_saturation_is_found_between_hosts():
    """Two hosts of a leaf share its one channel."""
    found = nl.find_saturation("leaf-spine:2x1x2", traffic="pairs:0-2,1-3", most_cycles=10_000)
    assert 0.4 < found.to_dict()["saturation_offered"] <= 0.5


@pytest.mark.parametrize(("bandwidth", "most"), [(0.5, 0.25), (2.0, 1.0)])
def test_channels_are_busy_by_their_bandwidth(bandwidth, most):
    """Two hosts send to the other leaf, by one channel: half of its bandwidth for each."""
    net = two_leaves(bandwidth)
    found = nl.simulate(net, load=most / 2, traffic="pairs:0-2,1-3", cycles=4000)
    used = found.to_dict()["utilisation"]
    assert used["max"] == pytest.approx(0.5, rel=0.1)
    assert found.channels()["utilisation"].max() == pytest.approx(0.5 * bandwidth, rel=0.1)
    assert found.network.settings[0].bound.load == pytest.approx(most)


def test_a_program_on_some_hosts_is_simulated():
    found = nl.simulate(LEAVES, app="ring:4", nodes="h[2-5]", load=0.2, cycles=2000)
    sends = found.nodes().filter(pl.col("node_offered") > 0)
    assert sends["name"].to_list() == ["h2", "h3", "h4", "h5"]
    assert found.stable


def test_several_programs_share_a_network_of_hosts():
    found = nl.simulate(LEAVES, app=["ring:4@0-3", "ring:8@4-11"], load=0.2, cycles=2000)
    programs = found.to_dict()["programs"]
    assert [each["name"] for each in programs] == ["ring:4@0-3", "ring:8@4-11"]
    assert all(each["alone"] is not None for each in programs)


def test_what_is_broken_is_gone_round_and_its_cost_said():
    found = nl.simulate(
        LEAVES, load=0.1, cycles=1000, failed_channels="leaf0-spine0", failed_nodes="h5"
    )
    failures = found.to_dict()["failures"]
    assert failures["nodes"] == ["h5"]
    assert failures["channels"] == ["leaf0 -> spine0", "spine0 -> leaf0"]
    assert failures["intact"]["routing"] == "nca"
    assert "with nothing broken" in found.network.remarks[0]
    gone = topology(LEAVES)
    assert not set(found.channels()["name"]) & {"leaf0 -> spine0", "spine0 -> leaf0"}
    assert found.channels().height == gone.num_network_channels - 2


def test_a_program_that_waits_runs_between_hosts():
    found = nl.simulate_loop(LEAVES, app="ring:12", applied=0.2, loops=20)
    assert found.to_dict()["engine"] == "network"
    assert 0.15 < found.point.times.average_node <= 0.2
    assert found.point.message_latency >= found.point.unhindered_latency
    assert found.channels()["name"].to_list() == list(map(topology(LEAVES).channel_name, range(12)))


def test_two_programs_that_wait_are_compared_with_each_alone():
    found = nl.simulate_loop(LEAVES, app=["ring:4@0-3", "ring:8@4-11"], applied=0.2, loops=20)
    assert [each["name"] for each in found.to_dict()["programs"]] == ["ring:4@0-3", "ring:8@4-11"]


def test_a_trace_runs_between_hosts():
    found = nl.replay("fat-tree:4x3", trace=EXAMPLES / "halo.csv")
    messages = found.run.moved
    assert found.network.engine_name == "network"
    assert found.finish > 0
    assert (messages["contention"] >= 0).all()
    sent = messages.group_by("source_node").agg(pl.col("size").sum())["size"].max()
    assert found.of_cycles.busiest_host_channel.size >= sent
    assert "name" in found.channels().columns


@pytest.mark.parametrize("bandwidth", [0.5, 2.0])
def test_the_busiest_channels_of_a_trace_are_used_by_their_bandwidth(bandwidth, tmp_path):
    trace = tmp_path / "two.csv"
    trace.write_text("id,source,target,flits\na,0,2,200\nb,1,3,200\nc,2,0,100\n")
    found = nl.replay(two_leaves(bandwidth), trace=trace)
    assert found.busiest[0].utilisation == found.utilisation.max > 0.4
    assert "busiest channel of a host: h0→r0" in list(found.remarks())[-1]


def test_transactions_run_between_hosts():
    found = nl.simulate_transactions(LEAVES, app="ring:12")
    assert found.distance == pytest.approx(2 * 3 / 12)
    assert found.to_dict()["engine"] == "network"


def test_a_message_alone_takes_what_is_said_of_an_idle_network(tmp_path):
    """By a channel of 30 cycles, too: one message at a time, so that none meets another."""
    trace = tmp_path / "one.csv"
    trace.write_text("id,source,target,flits,after\na,0,2,5,\nb,1,3,9,a\nc,2,1,1,b\nd,0,1,5,c\n")
    for cycles in (1, 30):
        moved = nl.replay(two_leaves(cycles=cycles), trace=trace, buffer_flits=100).run.moved
        assert (moved["contention"] == 0).all()
        assert moved["unhindered"][0] - moved["unhindered"][3] >= cycles


def test_lanes_and_circles_are_those_of_hosts_packets():
    """Under the example's tables packets of aggregation nodes could wait in a circle, too."""
    fabric = f"fabric:{EXAMPLES / 'dgx-40.ibnetdiscover'}"
    tables = f"lfts:{EXAMPLES / 'dgx-40-minhop.lfts'}"
    found = nl.simulate(
        fabric, routing=tables, app="all-to-all", nodes="a05-p1-dgx-01-c[01,03,04]",
        load=0.2, cycles=300,
    )  # fmt: skip
    assert found.to_dict()["routing"] == tables


def test_a_table_that_can_deadlock_is_refused_with_its_circle():
    with pytest.raises(DeadlockError, match=r"minhop on ring:5/2 with 4 VCs: .* -> .*"):
        nl.simulate("ring:5/2", load=0.1, routing="minhop")


@pytest.mark.parametrize(("pair", "hops"), [("0-1", 0), ("0-5", 2)])
def test_reserved_channels_are_kept_for_pairs_of_hosts(pair, hops):
    traffic = f"pairs:{pair},2-7,3-8"
    found = nl.simulate(LEAVES, load=0.3, switching="reserved", traffic=traffic, cycles=1000)
    assert found.stable
    alone = nl.simulate(
        LEAVES, load=0.01, switching="reserved", traffic=f"pairs:{pair}", cycles=4000
    )
    assert alone.to_dict()["hops"]["mean"] == hops
    assert alone.packet_latency == alone.point.zero_load_latency


def test_more_connections_than_reserved_channels_are_refused_with_the_channel():
    with pytest.raises(InputError, match=r"found 11 connections on channel h0 -> leaf0; .* most 4"):
        nl.simulate(LEAVES, load=0.1, switching="reserved")


@pytest.mark.parametrize("routing", ["up-down", "layered"])
def test_one_host_on_every_router_is_a_direct_network(routing):
    """Both have the same packets; where a port has which number decides ties only."""
    direct, hosted = (
        nl.simulate(on, routing=routing, load=0.3, cycles=5000).point.measured
        for on in ("torus:4x4", "torus:4x4/1")
    )
    assert (direct.packets, direct.hops) == (hosted.packets, pytest.approx(hosted.hops, abs=0.01))
    assert direct.packet_latency == pytest.approx(hosted.packet_latency, rel=0.01)
