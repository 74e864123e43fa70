"""Paths between hosts with any number of ports, under every routing that fits any network."""

from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import NoRouteError
from netloom.routing import Ecmp, Layered, ShortestPath, Spread, UpDown, draw_paths, paths
from netloom.routing.rules import Minimal
from netloom.topology import Topology, topology, without
from netloom.topology.core import attach_hosts
from tests.reference.several import with_ports

SHORTEST = [ShortestPath(), Layered(), Spread(), Ecmp(3), Ecmp(3, polarised=True), Minimal()]


def two_way_network(chance):
    """Return routers joined by two-way links, some doubled, with hosts of one to three ports."""
    size = chance.randint(2, 7)
    links = [(chance.randrange(r), r) for r in range(1, size)]
    links += [tuple(chance.sample(range(size), 2)) for _ in range(chance.randint(0, size))]
    ends = np.array([*links, *((b, a) for a, b in links)], np.int32)
    source, target = np.ascontiguousarray(ends.T)
    inside = Topology("links", size, source, target)
    port_host = [host for host in range(5) for _ in range(chance.randint(1, 3))]
    routers = np.array([chance.randrange(size) for _ in port_host])
    return attach_hosts(inside, routers, name="hosted", port_host=np.array(port_host))


def hops_between(network):
    """Return {(source, target): network channels of a shortest path}, by the routers' graph."""
    inside = network.routers
    graph = nx.DiGraph()
    graph.add_nodes_from(range(inside.num_routers))
    ends = zip(inside.channel_source.tolist(), inside.channel_target.tolist(), strict=True)
    graph.add_edges_from(ends)
    lengths = dict(nx.all_pairs_shortest_path_length(graph))
    into, out_of = network.injection_router.tolist(), network.ejection_router.tolist()
    first = network.port_offsets.tolist()
    return {
        (a, b): min(
            lengths[into[p]].get(out_of[q], np.inf)
            for p in range(first[a], first[a + 1])
            for q in range(first[b], first[b + 1])
        )
        for a in range(network.num_hosts)
        for b in range(network.num_hosts)
    }


def check_way(network, path, source, target):
    """Make sure that a path leads from host to host, by routers only."""
    ends = [(int(network.source_end[c]), int(network.target_end[c])) for c in path]
    assert (ends[0][0], ends[-1][1]) == (source, target)
    assert all(a[1] == b[0] for a, b in pairwise(ends))
    assert all(after >= network.num_hosts for _, after in ends[:-1])


@settings(deadline=None, max_examples=60)
@given(st.randoms(use_true_random=False), st.sampled_from([*SHORTEST, UpDown()]))
def test_paths_lead_from_host_to_host_and_are_shortest(chance, routing):
    network = two_way_network(chance)
    hops, hosts = hops_between(network), np.arange(5)
    sources, targets = hosts.repeat(5), np.tile(hosts, 5)
    drawn = draw_paths(network, routing, sources, targets, seed=1).whole(network)
    between = paths(network, routing, sources, targets)
    listed, first = between.whole(network), network.num_network_channels
    by_hand = with_ports(between, between.ports, network.port_host, first)
    assert [path.tolist() for path in listed] == by_hand
    assert (between.channels < first).all()
    pairs = np.arange(25) if listed.pair is None else listed.pair
    for found, of in ((drawn, np.arange(25)), (listed, pairs)):
        for path, pair in zip(found, of.tolist(), strict=True):
            source, target = divmod(pair, 5)
            if source == target:
                assert len(path) == 0
                continue
            check_way(network, path, source, target)
            assert len(path) - 2 >= hops[source, target]
            assert routing == UpDown() or len(path) - 2 == hops[source, target]


@pytest.mark.parametrize("routing", [*SHORTEST, UpDown()])
def test_no_path_leads_to_a_host_that_failed(routing):
    network = without(topology("leaf-spine:4x2x2"), nodes="h3", channels="leaf0-spine1")
    assert len(draw_paths(network, routing, [0], [7], seed=1).whole(network)[0]) == 4
    for source, target in ((0, 3), (3, 0)):
        with pytest.raises(NoRouteError, match=f"from host {source} to host {target}"):
            paths(network, routing, [7, source], [0, target]).whole(network)
