"""Simulators and models on networks whose hosts hang on routers: served, or refused in a line."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.topology import Topology, topology, without
from netloom.topology.core import attach_hosts

LEAVES = "leaf-spine:4x2x4"


@pytest.mark.parametrize(
    "ask",
    [
        lambda: nl.simulate_broadcast(LEAVES, rate=0.001),
        lambda: nl.simulate_broadcast(LEAVES, rate=0.001, engine="worm"),
    ],
)
def test_what_is_not_served_is_refused_with_what_is(ask) -> None:
    with pytest.raises(InputError, match=r"hosts that hang on routers.*; for this one, use"):
        ask()


@pytest.mark.parametrize(
    "ask",
    [
        lambda: nl.simulate_pattern(LEAVES, pattern="transpose"),
        lambda: nl.predict_locality(on=LEAVES),
        lambda: nl.predict_torus_broadcast(on=LEAVES),
    ],
)
def test_models_of_meshes_and_tori_say_so(ask) -> None:
    with pytest.raises(InputError, match=r"expected a (square mesh|torus)"):
        ask()


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
    assert ends["flits"] == max(sent, heard)
    assert ends["utilisation"] == ends["flits"] / found.finish


def test_a_multicast_between_hosts_is_a_message_to_each() -> None:
    """Hosts do not forward."""
    direct = nl.replay("mesh:8x8", trace="examples/halo.csv", engine="worm").messages()
    hosted = nl.replay("leaf-spine:4x2x16", trace="examples/halo.csv", engine="worm")
    wide = direct.group_by("id").len().filter(pl.col("len") > 1)["id"]
    assert len(wide) > 0
    sent = hosted.messages().filter(pl.col("id").is_in(wide))
    trace = hosted.run.program.trace
    first = trace.ids.index(wide[0])
    assert sent["source_node"].unique().to_list() == [trace.source[first]]
    names = [row["name"] for row in hosted.to_dict()["busiest_channels"]]
    assert names[0] in ("spine0 -> leaf0", "spine1 -> leaf0")
    assert hosted.channels().height == 16


def test_worms_run_a_program_between_hosts() -> None:
    found = nl.simulate_loop("leaf-spine:2x1x2", app="ring:4", applied=0.9, engine="worm")
    data = found.to_dict()
    assert data["router"]["end_channels"] == 1
    assert 0.4 < found.point.times.average_node < 0.9


def test_transactions_between_hosts_count_the_hops_between_routers() -> None:
    found = nl.simulate_transactions("leaf-spine:2x1x2", app="ring:4", engine="worm")
    assert found.distance == pytest.approx(1.0)  # of four edges, two cross the spine: 2 hops each


def test_hosts_that_hang_on_routers_have_channels_of_their_own() -> None:
    with pytest.raises(InputError, match="end_channels: found 0; expected 1 on leaf-spine"):
        nl.simulate_loop(LEAVES, app="ring:8", applied=0.1, engine="worm", end_channels=0)


def test_latency_is_predicted_between_hosts() -> None:
    found = nl.predict_latency("leaf-spine:3x2x4", offered=[0.05, 0.1], routing="up-down")
    data = found.to_dict()
    assert (data["nodes"], data["channels"], data["routing"]) == (12, 12, "up-down")
    assert found.table()["latency"].is_sorted()
    assert data["busiest_channel"].startswith(("leaf", "spine"))
    assert any("hosts that hang on routers" in flag for flag in found.flags)
    assert found.channels().height == 2 * 12


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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"routing": "adaptive"}, "routing 'adaptive'"),
        ({"traffic": "tornado"}, "a k-ary n-cube"),
        ({"traffic": "transpose"}, "found 12 hosts; expected a square number"),
    ],
)
def test_latency_is_not_predicted_of_what_hosts_do_not_have(options, said) -> None:
    with pytest.raises(InputError, match=said):
        nl.predict_latency("leaf-spine:3x2x4", **options)


@pytest.mark.parametrize("routing", ["d-mod-k", "s-mod-k", "spread", "ecmp", "up-down"])
def test_worms_take_the_one_path_of_a_pair(routing) -> None:
    options = {"app": "ring:16", "applied": 0.3, "engine": "worm"}
    found = nl.simulate_loop("fat-tree:4x2", routing=routing, **options)
    assert found.to_dict()["routing"].startswith(routing)
    assert 0.2 < found.point.times.average_node <= 0.3


def test_worms_do_not_draw_among_several_paths() -> None:
    with pytest.raises(InputError, match="routing: found 'nca'; expected one path for each"):
        nl.simulate_loop("fat-tree:4x2", app="ring:16", applied=0.3, engine="worm", routing="nca")


def test_every_packet_draws_among_several_paths() -> None:
    """Two hosts of a leaf send to the other leaf, by both spines alike."""
    options = {"traffic": "pairs:0-3,1-4", "offered": 0.1}
    both = nl.predict_latency("leaf-spine:2x2x3", routing="nca", **options)
    one = nl.predict_latency("leaf-spine:2x1x3", routing="nca", **options)
    used = [sorted(found.channels()["utilisation"].to_list()) for found in (both, one)]
    assert used[0] == pytest.approx([0] * 4 + [0.1] * 4)
    assert used[1] == pytest.approx([0] * 2 + [0.2] * 2)
    assert both.points[0].latency < one.points[0].latency


def test_paths_that_could_deadlock_are_said_to_be_in_layers() -> None:
    found = nl.predict_latency("torus:5x5/2", routing="shortest-path", offered=0.1)
    assert (found.to_dict()["routing"], found.to_dict()["vc_layers"]) == ("shortest-path", 3)
    plain = nl.predict_latency("torus:5x5/2", offered=0.1)  # classes at datelines
    assert plain.to_dict()["routing"] == "dimension-order"


def rails():
    """Two hosts with two ports each, on two routers of their own."""
    routers = Topology("rails", 2, *np.zeros((2, 0), np.int32))
    return attach_hosts(
        routers, np.array([0, 1, 0, 1]), name="rails", port_host=np.array([0, 0, 1, 1])
    )


@pytest.mark.parametrize("on", ["leaf-spine:3x2x4", "dragonfly:2x2x1", "torus:4x4/2"])
@pytest.mark.parametrize(
    ("verb", "options"),
    [
        (nl.predict_latency, {"offered": 0.1}),
        (nl.simulate_loop, {"applied": 0.2, "app": "ring:12", "engine": "worm"}),
        (nl.simulate_transactions, {"app": "ring:12", "engine": "worm"}),
    ],
)
def test_provenance_makes_the_network_again(verb, options, on) -> None:
    found = verb(topology(on), **options)
    recorded = json.loads(json.dumps(found.to_dict()))["provenance"]
    assert recorded["not_repeatable"] == []
    assert recorded["configuration"]["on"] == on
    again = verb(**recorded["configuration"]).to_dict()
    assert again == found.to_dict()


def test_provenance_names_what_is_broken() -> None:
    net = without(topology("leaf-spine:3x2x4"), channels="leaf0-spine0", nodes="h5")
    found = nl.predict_latency(net, offered=0.1)
    recorded = json.loads(json.dumps(found.to_dict()))["provenance"]
    assert recorded["not_repeatable"] == []
    assert recorded["configuration"]["failed_nodes"] == "h5"
    assert nl.predict_latency(**recorded["configuration"]).to_dict() == found.to_dict()
    assert nl.predict_latency(rails(), offered=0.1).provenance.not_repeatable == ("on",)


def test_several_ports_share_what_a_host_sends() -> None:
    found = nl.predict_latency(rails(), traffic="pairs:0-1", offered=0.1)
    assert found.network.bound.load == pytest.approx(1)
    assert found.network.bound.what.startswith("channel h0 -> r")


@pytest.mark.parametrize("app", ["ring", "all-to-all", "shift:1,3", "random-permutation"])
def test_a_pattern_without_a_size_is_of_all_hosts(app) -> None:
    net = "leaf-spine:4x2x3"
    found = nl.predict_latency(net, app=app, offered=0.05)
    assert len(np.unique(found.network.prepared.flows.source)) == 12
    run = nl.simulate_loop(net, app=app, applied=0.2, engine="worm", loops=20)
    assert run.to_dict()["saturation"]["upper_bound"] <= 1 + 1e-9
    assert len(run.point.loops) == 12
    some = nl.predict_latency(net, app=app, offered=0.05, nodes="h0,h5,h[8-11]")
    flows = some.network.prepared.flows
    assert len(set(flows.source)) > 4  # a permutation may leave one where it is
    assert {*flows.source, *flows.target} <= {0, 5, 8, 9, 10, 11}


def test_several_ranks_share_what_a_host_sends_and_receives() -> None:
    """Four tasks a host, all to all: between hosts 0 and 1 go 16 pairs of tasks each way."""
    options = {"app": "all-to-all:8", "tasks_per_node": 4, "nodes": "h0,h3"}
    found = nl.predict_latency("leaf-spine:2x1x2", offered=0.1, **options)
    assert found.network.traffic.matrix().source.tolist() == [0, 3]
