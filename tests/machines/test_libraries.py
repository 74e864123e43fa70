"""What libraries run on computers with an inside: twins, conservation, bounds, and peers."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, strategies as st

from netloom import compare_collectives
from netloom.base.errors import InputError
from netloom.machines.libraries import Library, Parts
from netloom.machines.named_machines import Machine
from netloom.routing import parse_routing
from netloom.simulation.flow import flow_network
from netloom.topology import topology
from netloom.workload.programs.collectives.algorithms import nccl_trees

NCCL = Machine(topology="mesh:2", bandwidth="1GB/s", protocols="nccl").protocols


def library(computers, gpus, cards=None, protocols=NCCL, **more):
    network = topology(f"rail:1x{computers}x{gpus}x2")
    links = flow_network(network, bandwidth=25e9, latency=5e-7)
    hosts = np.arange(network.num_hosts, dtype=np.int32)
    routing = parse_routing("default", network)
    return Library.of(links, routing, hosts, cards=cards, protocols=protocols, **more)


def total(found, collective, algorithm):
    """What each pair of hosts sends, added up."""
    sent = Counter()
    for sends in found.sends(collective, algorithm):
        ends = (each.ravel().tolist() for each in np.broadcast_arrays(*sends))
        for one, other, each in zip(*ends, strict=True):
            sent[one, other] += each
    return {pair: each for pair, each in sent.items() if each}


def rings_twin(computers, gpus, cards, trips):
    """Card by card: a ring enters each computer at the card's GPU, and comes back to it."""
    sent, ranks = Counter(), computers * gpus
    for card in range(cards):
        near = next(gpu for gpu in range(gpus) if gpu * cards // gpus == card)
        walk = [(near + step) % gpus for step in range(gpus)]
        for computer in range(computers):
            place = computer * gpus
            for one, other in zip(walk, [*walk[1:], near], strict=True):
                sent[place + one, place + other] += trips * (ranks - 1) / ranks / cards
            there = (computer + 1) % computers * gpus
            if computers > 1:
                sent[place + near, there + near] += trips * (ranks - 1) / ranks / cards
    return sent


def trees_twin(computers, gpus, cards):
    """Card by card and tree by tree: up to the root and down again."""
    sent = Counter()
    for card in range(cards):
        near = next(gpu for gpu in range(gpus) if gpu * cards // gpus == card)
        for parents in nccl_trees(computers):
            edges = []
            for computer, parent in enumerate(parents.tolist()):
                chain = [computer * gpus + (near + step) % gpus for step in range(gpus)]
                edges += list(zip(chain[1:], chain, strict=False))
                if parent >= 0:
                    edges.append((computer * gpus + near, parent * gpus + near))
            for child, parent in edges:
                sent[child, parent] += 0.5 / cards
                sent[parent, child] += 0.5 / cards
    return sent


shapes = st.tuples(st.integers(2, 6), st.integers(2, 6)).flatmap(
    lambda shape: st.tuples(*map(st.just, shape), st.integers(1, shape[1]))
)


@given(shapes, st.sampled_from([("all-reduce", 2), ("all-gather", 1)]))
def test_rings_are_those_of_a_readable_twin(shape, which):
    found = total(library(*shape), which[0], "rings")
    assert found == pytest.approx(dict(rings_twin(*shape, which[1])))


@given(shapes)
def test_trees_are_those_of_a_readable_twin(shape):
    found = total(library(*shape), "all-reduce", "double-trees")
    assert found == pytest.approx(dict(trees_twin(*shape)))


@given(shapes, st.sampled_from(["all-reduce", "all-gather", "reduce-scatter", "all-to-all"]))
def test_each_rank_receives_what_it_needs(shape, collective):
    """A rank receives at least what it lacks of its part or result, whatever the algorithm."""
    found, ranks = library(*shape), shape[0] * shape[1]
    for algorithm in found.algorithms(collective):
        came = Counter()
        for (_, target), each in total(found, collective, algorithm).items():
            came[target] += each
        assert min(came[rank] for rank in range(ranks)) >= (ranks - 1) / ranks - 1e-9


@pytest.mark.parametrize("algorithm", ["direct", "pxn"])
def test_an_all_to_all_brings_each_part_to_its_target(algorithm):
    found = library(3, 4)
    sent = total(found, "all-to-all", algorithm)
    between = sum(each for (one, other), each in sent.items() if one // 4 != other // 4)
    assert between == pytest.approx(12 * 8 / 12)  # ranks × ranks elsewhere × 1 / ranks
    rails = {(one % 4, other % 4) for one, other in sent if one // 4 != other // 4}
    assert len(rails) == (4 if algorithm == "pxn" else 16)


def test_the_times_are_those_of_the_formula():
    """Rings of NCCL on 16 computers of 4 GPUs, counted by hand."""
    found = library(16, 4, start=1e-6)
    ring = [row for row in NCCL if row.algorithm == "ring"]
    parts = found.parts("all-reduce", "rings")
    starts = []
    for row in ring:
        inside = row.inside_us * (1.8 if row.name == "LL" else 1)
        hops = (126 - 32) * inside + 32 * row.between_us
        starts.append(1 + row.base_us + hops * (1.4 if row.name == "Simple" else 1))
    assert [each.start * 1e6 for each in parts] == pytest.approx(starts)
    carried = 2 * 63 / 64 / 4 / 25e9
    assert [each.card for each in parts] == pytest.approx([carried / row.payload for row in ring])
    start, spent = starts[2] * 1e-6, carried * 1e9
    assert parts[2].seconds(1e9) == pytest.approx(start + spent + 0.5 * (start * spent) ** 0.5)


def test_a_pipeline_without_a_start_is_its_transfer():
    assert Parts(0.0, 1e-9, 2e-9, 3e-9).seconds(1e6) == pytest.approx(3e-3)


@pytest.mark.parametrize("on", ["rail:1x4x4x2", "rail:2x2x4x2", "rail:1x3x6x1"])
@pytest.mark.parametrize(
    ("collective", "ours", "peer"),
    [
        ("all-reduce", "rails", "hierarchical"),
        ("all-gather", "rails", "hierarchical"),
        ("all-to-all", "pxn", "hierarchical"),
        ("all-to-all", "direct", "linear"),
    ],
)
def test_large_messages_take_what_flows_take(on, collective, ours, peer):
    """The same algorithm message by message, where the start no longer counts."""
    found = compare_collectives(collective, on, size="64GB", algorithm=f"{ours},{peer}")
    seconds = {each.algorithm: each.seconds for each in found.points}
    assert seconds[ours] == pytest.approx(seconds[peer], rel=0.03)


@given(shapes, st.sampled_from(["all-reduce", "all-gather", "broadcast", "all-to-all"]))
def test_no_time_is_below_the_bound(shape, collective):
    computers, gpus, _ = shape
    found = compare_collectives(collective, f"rail:1x{computers}x{gpus}x1", size="1KB,1GB")
    for each in found.points:
        assert each.seconds >= each.bound_seconds * (1 - 1e-9)


def test_a_machine_that_names_protocols_runs_their_algorithms(tmp_path):
    file = tmp_path / "own.toml"
    file.write_text('topology = "rail:1x4x8x2"\nbandwidth = "400Gb/s"\nprotocols = "nccl"\n')
    found = compare_collectives("all-reduce", f"machine:{file}", size="1KB,1GB")
    assert {each.algorithm for each in found.points} == {"rings", "double-trees"}
    named = compare_collectives("all-reduce", f"machine:{file}", size="1GB", algorithm="ring,rings")
    assert {each.algorithm for each in named.points} == {"ring", "rings"}
    assert named.fastest[0].algorithm == "ring"


def test_the_order_of_ranks_follows_their_computers():
    """Rings go from computer to computer in the order of ranks, not of hosts."""
    network = topology("rail:1x3x2x1")
    links = flow_network(network, bandwidth=25e9)
    at = np.array([4, 5, 0, 1, 2, 3], np.int32)
    routing = parse_routing("default", network)
    found = Library.of(links, routing, at, cards=None, protocols=NCCL)
    assert found.hosts.tolist() == [[4, 5], [0, 1], [2, 3]]


@pytest.mark.parametrize(
    ("on", "more", "words"),
    [
        ("torus:4x4", {}, "computers with 1 rank; expected computers with as many ranks each"),
        ("rail:1x2x4x1", {"engine": "network"}, "rings with engine network; expected engine flow"),
        ("rail:1x2x4x1", {"ranks": 7}, "computers with 3 to 4 ranks"),
        ("rail:1x2x4x1", {"reorder": True}, "not run one by one; expected another beside it"),
    ],
)
def test_rings_elsewhere_are_refused_in_one_line(on, more, words):
    with pytest.raises(InputError) as refused:
        compare_collectives("all-reduce", on, size="1MB", algorithm="rings", **more)
    assert words in str(refused.value)
