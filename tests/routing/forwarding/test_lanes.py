"""Lanes of forwarding tables, and the graph of dependencies that never closes a circle."""

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.base.errors import InputError
from netloom.routing import ForwardingTable, find_deadlock, spread_table
from netloom.routing.forwarding.tables import (
    Lanes,
    dependency_graph,
    lane_circle,
    lanes_used,
    layered,
)
from netloom.routing.kernels.layers import insert, insert_path, remove_path
from netloom.topology import topology
from netloom.topology.core import port_numbers
from tests.networks import with_all
from tests.reference import lanes as reference

NETWORKS = (
    "torus:5", "torus:4x3", "torus:3x3x3", "mesh:3x4", "dragonfly:2x4x2", "jellyfish:10x4x1/3",
    "leaf-spine:4x2x2", "hypercube:4", "torus:4x4/2",
)  # fmt: skip
SMALL = ("torus:5", "torus:4x3", "mesh:3x4", "jellyfish:8x3x1/3", "leaf-spine:4x2x2", "hypercube:3")


def random_table(net, seed):
    """Ways to each destination by a random order of its neighbors: trees, mostly not shortest."""
    rng, inside = np.random.default_rng(seed), net.routers
    offsets, entering = inside.incoming()
    table = np.full((len(net.ejection_router), inside.num_routers), -1, np.int32)
    for row, end in zip(table, net.ejection_router.tolist(), strict=True):
        reached = [end]
        while reached:
            router = reached.pop(rng.integers(len(reached)))
            for channel in rng.permutation(entering[offsets[router] : offsets[router + 1]]):
                before = inside.channel_source[channel]
                if row[before] < 0 and before != end:
                    row[before] = channel
                    reached.append(int(before))
    return table


def senders_of(net):
    """Whether hosts other than the destination's send from a router."""
    if net.direct:
        return lambda router, destination: router != destination
    return lambda router, destination: router in set(net.injection_router.tolist())


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(NETWORKS[:5]), st.integers(0, 2**31), st.integers(1, 2))
def test_single_dependencies_are_taken_as_long_as_no_circle_closes(name, seed, lanes):
    net, rng = topology(name).routers, np.random.default_rng(seed)
    graph = dependency_graph(net, lanes)
    plain = [reference.Dependencies() for _ in range(lanes)]
    offsets, leaving = net.outgoing()
    for _ in range(60):
        lane, held = rng.integers(lanes), rng.integers(net.num_channels)
        router = net.target_end[held]
        slot = rng.integers(offsets[router + 1] - offsets[router])
        asked = int(leaving[offsets[router] + slot])
        assert insert(graph, lane, held, slot) == plain[lane].insert(int(held), asked)
    check_order(graph, net, plain)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(with_all(NETWORKS)), st.integers(0, 2**31))
def test_paths_come_and_go_whole(name, seed):
    net, rng = topology(name), np.random.default_rng(seed)
    inside, table = net.routers, random_table(net, seed)
    graph, plain, inserted = dependency_graph(net), reference.Dependencies(), []
    for _ in range(80):
        if inserted and rng.random() < 0.3:
            path = inserted.pop(rng.integers(len(inserted)))
            remove_path(graph, 0, np.array(path, np.int32), len(path))
            plain.remove_path(path)
            continue
        row, start = table[rng.integers(len(table))], rng.integers(inside.num_routers)
        path = reference.path_of(row, start, inside.channel_target)
        taken = insert_path(graph, 0, np.array(path, np.int32), len(path))
        assert taken == plain.insert_path(path)
        if taken:
            inserted.append(path)
    check_order(graph, inside, [plain])


def check_order(graph, net, plain):
    """Uses are those of the twin, and each dependency goes up in rank."""
    count, (offsets, leaving) = net.num_channels, net.outgoing()
    for lane, twin in enumerate(plain):
        uses = {}
        for held, slot in zip(*np.nonzero(graph.uses[lane * count :][:count]), strict=True):
            asked = leaving[offsets[net.target_end[held]] + slot]
            uses[int(held), int(asked)] = graph.uses[lane * count + held, slot]
            assert graph.rank[lane * count + held] < graph.rank[lane * count + asked]
        assert uses == dict(+twin.uses)
        ranks = graph.rank[lane * count :][:count]
        assert sorted(ranks.tolist()) == list(range(count))


@settings(max_examples=20, deadline=None)
@given(st.sampled_from(SMALL), st.integers(0, 2**31), st.booleans())
def test_paths_go_into_the_first_lane_that_stays_free_of_circles(name, seed, shortest):
    net = topology(name)
    table = spread_table(net) if shortest else random_table(net, seed)
    expected = reference.first_fit(table, senders_of(net), net.routers.channel_target)
    needed = max(expected.values()) + 1
    if needed > 16:
        with pytest.raises(InputError, match=f"needs {needed} lanes"):
            layered(net, table)
        return
    lanes = layered(net, table)
    assert {key: int(lanes.level[key]) for key in expected} == expected
    made = ForwardingTable("made", table, lanes=lanes)
    assert lanes_used(made) == needed
    assert lane_circle(net, made) == () == find_deadlock(net, made)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(with_all(NETWORKS)), st.integers(0, 2**31), st.integers(1, 3))
def test_a_circle_is_found_where_there_is_one(name, seed, lanes):
    net, rng = topology(name), np.random.default_rng(seed)
    table = random_table(net, seed)
    level = rng.integers(lanes, size=table.shape).astype(np.uint8)
    made = ForwardingTable("made", table, lanes=Lanes(level))
    sends = senders_of(net)
    waits = reference.waits_of_lanes(
        [(c, int(level[d, r])) for c in reference.path_of(row, r, net.routers.channel_target)]
        for d, row in enumerate(table)
        for r in range(len(row))
        if sends(r, d)
    )
    check_circle(net, made, waits)


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(["torus:5", "torus:3x3", "torus:4x4/2", "mesh:3x3"]), st.integers(0, 2**31))
def test_lanes_by_ports_and_level(name, seed):
    net, rng = topology(name), np.random.default_rng(seed)
    table, (out_port, in_port) = random_table(net, seed), port_numbers(net)
    level = rng.integers(3, size=table.shape).astype(np.uint8)
    most = int(max(out_port.max(), in_port.max())) + 1
    lane_of = rng.integers(3, size=(net.num_routers, most, most, 16)).astype(np.uint8)
    made = ForwardingTable("made", table, lanes=Lanes(level, lane_of))
    assert lanes_used(made) <= 3
    journeys, target = [], net.routers.channel_target
    if net.direct:
        sources = [(router, 0) for router in range(net.num_routers)]
    else:
        ports = in_port[net.num_network_channels :][: net.num_ports]
        sources = list(zip(net.injection_router.tolist(), ports.tolist(), strict=True))
    for destination, row in enumerate(table):
        for start, came_by in sources:
            journey, router, port = [], start, came_by
            for channel in reference.path_of(row, start, target):
                lane = lane_of[router, port, out_port[channel], level[destination, start]]
                journey.append((channel, int(lane)))
                router, port = target[channel], in_port[channel]
            journeys.append(journey)
    check_circle(net, made, reference.waits_of_lanes(journeys))


def check_circle(net, table, waits):
    circle = lane_circle(net, table)
    assert (circle == ()) == nx.is_directed_acyclic_graph(waits)
    for held, asked in zip(circle, circle[1:] + circle[:1], strict=True):
        assert waits.has_edge(held, asked)
    assert find_deadlock(net, table) == tuple(channel for channel, _ in circle)
