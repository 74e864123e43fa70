"""Routing against its readable twin, and against what any routing must do."""

import networkx as nx
import numpy as np
from hypothesis import given, strategies as st

from netloom.routing import (
    DimensionOrder,
    ShortestPath,
    dependency_cycle,
    find_deadlock,
    paths,
    source_routes,
)
from netloom.topology import graph_topology, to_networkx
from tests.properties.strategies import cubes, pairs
from tests.reference.dimension_order import visited
from tests.reference.shortest_path import channels_of_path


def nodes_of(topology, path, source):
    return [source, *topology.target_end[path].tolist()]


@given(st.data())
def test_dimension_order_is_its_readable_twin(data):
    topology = data.draw(cubes())
    order = tuple(data.draw(st.permutations(range(len(topology.sides)))))
    source, target = data.draw(pairs(topology.num_nodes))
    routed = paths(topology, DimensionOrder(order), source, target)
    for path, s, t in zip(routed, source.tolist(), target.tolist(), strict=True):
        expected = visited(s, t, topology.sides, topology.wraps, order)
        assert nodes_of(topology, path, s) == expected
        assert topology.source_end[path].tolist() == expected[:-1]


@given(st.data())
def test_given_routes_come_back_as_given(data):
    topology = data.draw(cubes(most_nodes=30))
    source, target = data.draw(pairs(topology.num_nodes, most=15))
    moving = np.unique(np.stack([source, target], 1)[source != target], axis=0)
    routed = paths(topology, DimensionOrder(), moving[:, 0], moving[:, 1])
    routes = source_routes(
        topology, [nodes_of(topology, p, s) for p, s in zip(routed, moving[:, 0], strict=True)]
    )
    again = paths(topology, routes, moving[:, 0], moving[:, 1])
    assert again.channels.tolist() == routed.channels.tolist()
    assert again.offsets.tolist() == routed.offsets.tolist()


@given(cubes(most_nodes=60))
def test_the_deadlock_rule_for_cubes_agrees_with_the_dependency_graph(topology):
    routing = DimensionOrder()
    every = np.arange(topology.num_nodes)
    routed = paths(topology, routing, np.repeat(every, len(every)), np.tile(every, len(every)))
    found = dependency_cycle(routed, topology.num_channels)
    assert bool(found) == bool(find_deadlock(topology, routing))
    for cycle in (found, find_deadlock(topology, routing)):
        for held, asked in zip(cycle, cycle[1:] + cycle[:1], strict=True):
            assert topology.target_end[held] == topology.source_end[asked]


@st.composite
def digraphs(draw):
    """Return a strongly connected directed network: a one-way ring and some shortcuts."""
    nodes = draw(st.integers(2, 12))
    node = st.integers(0, nodes - 1)
    shortcuts = draw(st.lists(st.tuples(node, node), max_size=2 * nodes))
    graph = nx.cycle_graph(nodes, create_using=nx.DiGraph)
    graph.add_edges_from((a, b) for a, b in shortcuts if a != b)
    return graph_topology(graph)


@given(digraphs())
def test_shortest_paths_are_their_readable_twin(topology):
    nodes = topology.num_nodes
    ends = list(zip(topology.source_end.tolist(), topology.target_end.tolist(), strict=True))
    source, target = np.divmod(np.arange(nodes * nodes), nodes)
    routed = paths(topology, ShortestPath(), source, target)
    for path, s, t in zip(routed, source.tolist(), target.tolist(), strict=True):
        assert path.tolist() == channels_of_path(s, t, ends)


@given(digraphs())
def test_the_deadlock_check_of_tables_agrees_with_following_all_paths(topology):
    nodes = topology.num_nodes
    every = np.arange(nodes)
    routed = paths(topology, ShortestPath(), np.repeat(every, nodes), np.tile(every, nodes))
    assert bool(find_deadlock(topology, ShortestPath())) == bool(
        dependency_cycle(routed, topology.num_channels)
    )


@given(cubes(most_nodes=40))
def test_export_to_networkx_keeps_every_channel(topology):
    graph = to_networkx(topology)
    assert graph.number_of_nodes() == topology.num_nodes
    for source, target, channel in graph.edges(data="channel"):
        assert topology.source_end[channel] == source
        assert topology.target_end[channel] == target
