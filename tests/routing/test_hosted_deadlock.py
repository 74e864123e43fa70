"""Deadlock over the pairs of hosts, where hosts hang on routers."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.routing import (
    DimensionOrder,
    Ecmp,
    Layered,
    ShortestPath,
    Spread,
    UpDown,
    find_deadlock,
    paths,
    source_routes,
    table,
)
from netloom.routing.rules import Minimal
from netloom.routing.virtual_channels import listed_cycle
from netloom.topology import Topology, graph_topology, hop_distances, mesh, topology, torus, without
from netloom.topology.core import attach_hosts
from tests.routing.test_spread import random_network

SHORTEST = [ShortestPath(), Layered(), Spread(), Ecmp(), Ecmp(5, polarised=True), Minimal()]


def followed(network, routing):
    """Whether packets can wait in a circle, by all paths of all pairs of hosts that work."""
    hosts = np.flatnonzero(network.vertex_up[: network.num_hosts])
    found = paths(network, routing, hosts.repeat(len(hosts)), np.tile(hosts, len(hosts)))
    waits = nx.DiGraph()
    for path in range(len(found)):
        nx.add_path(waits, found[path].tolist())
    return not nx.is_directed_acyclic_graph(waits)


def is_circle(network, channels):
    """Whether each channel enters where the next leaves."""
    ends = zip(channels, (*channels[1:], *channels[:1]), strict=True)
    return all(network.target_end[a] == network.source_end[b] for a, b in ends)


@settings(deadline=None, max_examples=60)
@given(st.randoms(use_true_random=False), st.sampled_from(SHORTEST), st.booleans())
def test_a_circle_is_found_if_and_only_if_the_paths_of_some_hosts_close_it(chance, routing, hosted):
    network = random_network(chance, hosted=hosted)
    circle = find_deadlock(network, routing)
    assert bool(circle) == followed(network, routing)
    assert is_circle(network, circle)


@settings(deadline=None, max_examples=30)
@given(st.randoms(use_true_random=False), st.booleans())
def test_the_table_of_all_shortest_choices_waits_as_minimal_routing_does(chance, hosted):
    network = random_network(chance, hosted=hosted)
    inside, leave = network.routers, network.ejection_router
    far = hop_distances(inside)

    def nearer(node, host):
        router, goal = node - network.router_vertex(0), leave[host]
        channels = np.flatnonzero(inside.channel_source == router)
        return channels[far[inside.channel_target[channels], goal] < far[router, goal]]

    assert find_deadlock(network, table(network, nearer)) == find_deadlock(network, Minimal())


@pytest.mark.parametrize("routing", SHORTEST)
@pytest.mark.parametrize("spec", ["fat-tree:3x3", "leaf-spine:4x2x2/2", "xgft:2x3/2x2/1x2"])
def test_shortest_paths_in_whole_trees_cannot_deadlock(spec, routing):
    network = topology(spec)
    assert find_deadlock(network, routing) == ()
    assert listed_cycle(network, routing) == ()
    assert not followed(network, routing)


def test_only_routers_with_hosts_count():
    ring = torus(6)
    for routing in (DimensionOrder(), ShortestPath(), Spread()):
        two = attach_hosts(ring, np.array([0, 3]), name="two hosts")
        assert find_deadlock(two, routing) == ()
        all_six = attach_hosts(ring, np.arange(6).repeat(2), name="torus:6/2")
        assert is_circle(all_six, find_deadlock(all_six, routing))


def test_large_meshes_with_hosts_are_not_followed_pair_by_pair():
    grid = mesh(64, 64)
    assert find_deadlock(attach_hosts(grid, np.arange(4096), name="grid"), DimensionOrder()) == ()


def test_packets_of_a_host_to_itself_do_not_count():
    """One host sends into router 0 and receives from router 2 of a one-way ring of 4."""
    start = np.arange(4, dtype=np.int32)
    ring = Topology("ring", 4, start, np.roll(start, -1))
    enters, leaves = np.array([0, 2]), np.array([2, 1])
    network = attach_hosts(ring, enters, name="two", ejection=leaves)
    # 0 -> 1 for host 0, 2 -> 3 -> 0 -> 1 -> 2 for host 1
    assert followed(network, ShortestPath()) == bool(find_deadlock(network, ShortestPath()))
    for routing in SHORTEST:
        assert bool(find_deadlock(network, routing)) == followed(network, routing)


def test_hosts_of_several_ports_use_the_nearest():
    """Two rings of 4, a port in each: with one hop at most there is nothing to wait for."""
    rings = graph_topology(nx.complete_graph(4), name="graph:four")
    ports = np.tile(np.arange(4), 2).reshape(2, 4).T.ravel()
    network = attach_hosts(rings, ports, name="two ports", port_host=np.arange(4).repeat(2))
    for routing in SHORTEST:
        assert find_deadlock(network, routing) == ()


def test_damaged_trees_are_followed():
    network = without(topology("leaf-spine:4x2x2"), channels="leaf0-spine0, leaf1-spine1")
    for routing in (*SHORTEST, UpDown()):
        assert bool(find_deadlock(network, routing)) == followed(network, routing)


def test_given_routes_on_hosted_networks():
    network = attach_hosts(torus(4), np.arange(4), name="torus:4/1")
    lines = [[h, *(4 + (h + i) % 4 for i in range(3)), (h + 2) % 4] for h in range(4)]
    assert len(find_deadlock(network, source_routes(network, lines))) == 4
    assert find_deadlock(network, source_routes(network, lines[:3])) == ()


def test_dimension_order_on_a_hyperx_cannot_deadlock():
    network = topology("hyperx:3x3/2")
    for routing in (DimensionOrder(), DimensionOrder((0, 1))):
        assert find_deadlock(network, routing) == ()
        assert not followed(network, routing)
        assert listed_cycle(network, routing) == ()


def test_shortest_paths_of_many_routers_with_a_host_each_are_followed_by_a_table():
    found = (find_deadlock(topology(each), ShortestPath()) for each in ("ring:1500/1", "ring:1500"))
    assert len(set(found)) == 1
