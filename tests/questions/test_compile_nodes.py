"""Collectives compiled for nodes of several hosts: inside them data is free, unless it counts."""

import re

import numpy as np
import pytest

import netloom as nl
from netloom.base.errors import InputError
from netloom.phases.collectives import pipelines
from netloom.phases.collectives.judged import judge
from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.synthesis import SYNTHESISED, proven, synthesised
from netloom.phases.collectives.trees import least_time
from netloom.questions.register import by_verb
from netloom.topology import topology

FAST = {"size": "64MB", "bandwidth": "25GB/s", "latency": "100ns"}


def least(collective, spec, hosts):
    """The least time of 64 MB among nodes, however fast they are inside."""
    found = least_time(collective, topology(spec), hosts, bytes_per_second=25e9, by_node=True)
    return found.per_byte * 64e6


@pytest.mark.parametrize("collective", SYNTHESISED)
def test_the_bound_is_that_of_whole_nodes_and_is_reached(collective):
    spec = "rail:1x3x2x2"
    free = nl.compile_collective(collective, spec, **FAST)
    counted = nl.compile_collective(collective, spec, count_inside_nodes=True, **FAST)
    assert free.speed.bound_seconds == pytest.approx(least(collective, spec, np.arange(6)))
    assert free.speed.efficiency > 0.95
    assert free.speed.finish_seconds < counted.speed.bound_seconds
    assert 0 < free.inside_nodes < 1
    assert counted.inside_nodes is None
    assert "inside nodes are taken as free" in free.note
    assert "one node are counted" in counted.note


def test_nodes_send_by_all_their_cards_however_few_ranks_they_have():
    hosts = [0, 1, 4, 5, 8]
    found = nl.compile_collective("all-gather", "rail:1x3x4x4", nodes="0,1,4,5,8", **FAST)
    assert found.speed.ranks == 5
    assert found.speed.bound_seconds == pytest.approx(least("all-gather", "rail:1x3x4x4", hosts))
    assert found.speed.efficiency > 0.9
    fewer = nl.compile_collective(
        "all-gather", "rail:1x3x4x4", nodes="0,1,4,5,8", failed_nodes="n2.3", **FAST
    )
    assert fewer.speed.bound_seconds > found.speed.bound_seconds  # what enters node 2


def test_a_plan_is_replayed_with_what_it_sends_between_nodes_only(tmp_path):
    file = tmp_path / "plan.json"
    made = nl.compile_collective("all-reduce", "rail:1x2x4x4", chunks=2, **FAST)
    made.write(file)
    assert nl.verify_plan(file).to_dict()["efficiency"] == pytest.approx(made.speed.efficiency)
    fast = {"bandwidth": "25GB/s", "latency": "100ns"}
    run = nl.replay("rail:1x2x4x4", trace=str(file), engine="flow", **fast)
    assert run.finish == pytest.approx(made.speed.finish_seconds, rel=0.05)
    program, hosts = made.schedule.program, made.schedule.network.host
    node = topology("rail:1x2x4x4").node_of_host[hosts]
    between = node[program.source] != node[program.target]
    sizes = program.message_size * made.schedule.size_bytes
    assert run.to_dict()["bytes"] == pytest.approx(sizes[between].sum())
    assert 1 - between @ sizes / sizes.sum() == pytest.approx(made.inside_nodes)


def test_given_routes_count_and_one_node_alone_is_refused():
    routed = nl.compile_collective("all-gather", "rail:1x2x2x2", routing="d-mod-k", **FAST)
    assert routed.inside_nodes is None
    assert "one node are counted" in routed.note
    with pytest.raises(InputError, match="all 2 ranks on node n0"):
        nl.compile_collective("all-gather", "rail:1x2x2x2", ranks=2, **FAST)


def test_the_first_schedule_is_valid_and_told_with_an_estimate(monkeypatch):
    network = rank_network(
        topology("leaf-spine:2x2x4"), bytes_per_second=25e9, latency_seconds=5e-7, even=True
    )
    said = list[str]()
    monkeypatch.setattr(pipelines, "tell_so_far", said.append)
    for collective in ("all-reduce", "all-gather", "all-to-all"):
        said.clear()
        first = proven(synthesised(network, collective, 1e9, until=0.0))
        assert judge(first).finish_seconds == first.finish_seconds
        assert len(said) == 1
        best = synthesised(network, collective, 1e9)
        parts = [float(each.split(" %")[0]) for each in said[1:]]
        assert parts == sorted(parts)
        assert parts[-1] == pytest.approx(100 * best.efficiency, rel=1e-2)
        assert best.finish_seconds < first.finish_seconds
        assert all(re.search(r"of the bound so far; another \d+ s at most", each) for each in said)


def test_a_mirrored_network_needs_its_trees_once(monkeypatch):
    from netloom.phases.collectives import flows

    network = rank_network(topology("leaf-spine:2x2x2"), bytes_per_second=25e9, even=True)
    packed, done = flows.packed, list[int]()

    def counting(*asked):
        done.append(1)
        return packed(*asked)

    monkeypatch.setattr(flows, "packed", counting)
    judge(proven(flows.all_reduce(network, 1e8)))
    assert len(done) == 1


def test_a_time_limit_keeps_what_was_found_by_then():
    asked = {"size": "64MB", "bandwidth": "25GB/s", "latency": "500ns"}
    first = nl.compile_collective("all-gather", "mesh:3x3", seconds=1e-9, **asked)
    best = nl.compile_collective("all-gather", "mesh:3x3", **asked)
    assert first.proven
    assert first.schedule.program.num_chunks < best.schedule.program.num_chunks
    assert first.speed.efficiency < best.speed.efficiency
    said = {each: each.to_dict()["verdict"]["lines"].get("limits", "") for each in (first, best)}
    assert said[first].endswith("more time may find a better one")
    assert said[best] == ""
    assert "--seconds" not in first.to_dict()["verdict"]["next"]
    with pytest.raises(InputError, match="seconds"):
        nl.compile_collective("all-gather", "mesh:3x3", seconds=0, **asked)
    with pytest.raises(InputError, match="how fast the machine is"):
        by_verb("compile_collective").repeatable({"seconds": 10.0})
