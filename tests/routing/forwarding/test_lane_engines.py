"""OpenSM's sssp, dfsssp and nue on networks that nobody has routed before, and their parts."""

from dataclasses import replace
from pathlib import Path

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.base.errors import InputError
from netloom.routing import find_deadlock
from netloom.routing.forwarding.engines import dfsssp, dfsssp_falls_back, minhop, nue, sssp
from netloom.routing.forwarding.tables import (
    channels_by_port,
    end_points,
    lane_circle,
    lanes_used,
    layered,
)
from netloom.routing.kernels.nue import convex_hull, most_central
from netloom.routing.kernels.priced_paths import drop, empty_heap, lower, pop, push
from netloom.topology import Topology, topology
from netloom.topology.faults import without
from tests.networks import with_all
from tests.reference.cheapest_ways import centrality, check_cheapest
from tests.reference.lanes import path_of, waits_of_lanes

NETWORKS = (
    "torus:5", "torus:4x4", "torus:3x3x3", "mesh:3x4", "dragonfly:2x4x2", "jellyfish:10x4x1/3",
    "jellyfish:14x3x5/2", "leaf-spine:4x2x2", "xgft:2x2x3/1x2x2", "hypercube:4", "torus:5x5/2",
)  # fmt: skip
networks = st.sampled_from(with_all(NETWORKS, one_way=False))
DATA = Path(__file__).parent / "opensm"


@given(st.lists(st.tuples(st.sampled_from(["push", "lower", "pop", "drop"]), st.integers(0, 99))))
def test_the_least_key_comes_out_of_a_heap(steps):
    heap, keys, vertex = empty_heap(len(steps) + 1), {}, 0
    for step, number in steps:
        if step == "push":
            push(heap, vertex, number)
            keys[vertex] = number
            vertex += 1
        elif not keys:
            continue
        elif step == "pop":
            least = pop(heap)
            assert keys.pop(least) == min([*keys.values(), heap[2][least]])
        else:
            chosen = sorted(keys)[number % len(keys)]
            if step == "lower":
                keys[chosen] -= number
                lower(heap, chosen, keys[chosen])
            else:
                del keys[chosen]
                drop(heap, chosen)
    left = [keys[pop(heap)] for _ in range(len(keys))]
    assert left == sorted(keys.values())


@settings(max_examples=15, deadline=None)
@given(networks)
def test_sssp_takes_cheapest_ways(name):
    net = topology(name)
    table, ends = sssp(net), end_points(net)
    check_cheapest(net, ends, np.concatenate([table.next_channel, table.others]))


@settings(max_examples=25, deadline=None)
@given(networks, st.data())
def test_the_root_is_most_central(name, data):
    net = topology(name)
    count, inside = net.num_routers, net.routers
    terminals = np.array(data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)))
    nodes = np.array(data.draw(st.permutations(range(count))), np.int32)
    hull = np.ones(count, np.bool_)
    links = (inside.channel_source, *channels_by_port(net))
    found, every = most_central(hull, terminals, nodes, links), centrality(net, terminals)
    if len(set(map(tuple, zip(*_ends(inside), strict=True)))) == inside.num_channels:
        assert every[found] == pytest.approx(max(every))


def _ends(inside):
    return inside.channel_source.tolist(), inside.channel_target.tolist()


@settings(max_examples=25, deadline=None)
@given(networks, st.data())
def test_a_hull_has_all_shortest_ways(name, data):
    net = topology(name)
    inside, count = net.routers, net.num_routers
    chosen = data.draw(st.sets(st.integers(0, count - 1), min_size=1, max_size=3))
    hull = np.isin(np.arange(count), list(chosen))
    links = (inside.channel_source, *channels_by_port(net))
    convex_hull(hull, np.arange(count, dtype=np.int32), links)
    graph = nx.Graph(zip(*_ends(inside), strict=True))
    for one in chosen:
        for other in chosen:
            for path in nx.all_shortest_paths(graph, one, other):
                assert hull[path].all()


@settings(max_examples=20, deadline=None)
@given(networks, st.sampled_from([1, 1, 2, 3]))
def test_nue_never_closes_a_circle(name, lanes):
    net = topology(name)
    table = nue(net, lanes)
    assert lanes_used(table) == lanes
    check_free_and_complete(net, table)


@settings(max_examples=20, deadline=None)
@given(networks)
def test_dfsssp_is_sssp_in_lanes_without_circles(name):
    net = topology(name)
    if dfsssp_falls_back(net):
        with pytest.raises(InputError, match="lanes needed"):
            dfsssp(net)
        return
    table = dfsssp(net)
    assert np.array_equal(table.next_channel, sssp(net).next_channel)
    check_free_and_complete(net, table)


def check_free_and_complete(net, table):
    """All routers lead to all destinations, and what waits in each lane has no circle."""
    target, journeys = net.routers.channel_target, []
    for destination, row in enumerate(table.next_channel):
        for router in range(net.num_routers):
            path = path_of(row, router, target)
            assert (target[path[-1]] if path else router) == net.ejection_router[destination]
            lane = 0 if table.lanes is None else int(table.lanes.level[destination, router])
            journeys.append([(channel, lane) for channel in path])
    # all routers send here, also those without hosts, whose paths may be in any lane
    if table.lanes is None or len(np.unique(net.ejection_router)) == net.num_routers:
        assert nx.is_directed_acyclic_graph(waits_of_lanes(journeys))
    assert lane_circle(net, table) == () == find_deadlock(net, table)


@pytest.mark.parametrize("engine", [sssp, dfsssp, nue])
@pytest.mark.parametrize(
    "broken", [{"nodes": "5"}, {"nodes": "0,15"}, {"channels": "0-1,5-6,9-13"}]
)
def test_broken_parts_are_gone_round(engine, broken):
    net = without(topology("torus:4x4"), **broken)
    table = engine(net)
    up = np.flatnonzero(net.vertex_up)
    for destination in up:
        for router in up:
            path = path_of(table.next_channel[destination], router, net.target_end)
            assert (net.target_end[path[-1]] if path else router) == destination
    if engine is not sssp:
        assert lane_circle(net, table) == ()


def test_nue_wants_a_network_in_one_piece():
    source, target = np.array([0, 1, 2, 3], np.int32), np.array([1, 0, 3, 2], np.int32)
    with pytest.raises(InputError, match="no way from 0 to 2"):
        nue(Topology("two", 4, source, target))


def test_aggregation_nodes_communicate_where_everyone_does():
    net = topology(f"fabric:{DATA / 'rnd2' / 'ibnetdiscover.txt.gz'}")
    others = net.cabling.others
    assert len(others) == 2
    for engine in (minhop, nue):
        table = engine(net)
        senders = {*net.injection_router.tolist(), *others.router.tolist()}
        rows = [*table.next_channel, *table.others[: len(others)]]
        waits = waits_of_lanes(
            [(channel, 0) for channel in path_of(row, router, net.routers.channel_target)]
            for row in rows
            for router in senders
        )
        circle = lane_circle(net, table, everyone=True)
        assert (circle == ()) == nx.is_directed_acyclic_graph(waits)
        lanes = layered(net, table.next_channel, others=table.others)
        both = replace(table, lanes=lanes)
        assert lane_circle(net, both, everyone=True) == ()
        assert len(lanes.level) == len(rows)
    with pytest.raises(InputError, match="2 other end points"):
        lane_circle(net, replace(table, others=None), everyone=True)
