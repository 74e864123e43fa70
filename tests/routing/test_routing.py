import networkx as nx
import pytest

from netloom.base.errors import InputError, NoRouteError
from netloom.routing import (
    DimensionOrder,
    ShortestPath,
    find_deadlock,
    parse_routing,
    paths,
    source_routes,
)
from netloom.topology import graph_topology, hypercube, mesh, torus


def steps(network, routing, source, target):
    (path,) = paths(network, routing, [source], [target])
    return [network.channel_name(channel) for channel in path]


def test_the_row_comes_first_unless_told_otherwise():
    net = mesh(3, 3)
    assert steps(net, DimensionOrder(), 0, 4) == ["(0,0) -> (0,1)", "(0,1) -> (1,1)"]
    assert steps(net, DimensionOrder((0, 1)), 0, 4) == ["(0,0) -> (1,0)", "(1,0) -> (1,1)"]


def test_half_way_round_a_ring_goes_forward():
    ring = torus(4)
    assert steps(ring, DimensionOrder(), 0, 2) == ["0 -> 1", "1 -> 2"]
    assert steps(ring, DimensionOrder(), 2, 0) == ["2 -> 3", "3 -> 0"]
    assert steps(ring, DimensionOrder(), 0, 3) == ["0 -> 3"]


def test_a_path_from_a_node_to_itself_is_empty():
    for routing in (DimensionOrder(), ShortestPath()):
        assert steps(mesh(3, 3), routing, 4, 4) == []


def test_dimension_order_needs_dimensions():
    petersen = graph_topology(nx.petersen_graph())
    assert isinstance(parse_routing("default", petersen), ShortestPath)
    with pytest.raises(InputError, match="shortest-path"):
        parse_routing("dimension-order", petersen)


def test_a_missing_route_names_its_nodes():
    net = mesh(2, 2)
    routes = source_routes(net, [[0, 2, 3]])
    with pytest.raises(NoRouteError) as caught:
        paths(net, routes, [0, 3], [3, 0])
    assert (caught.value.source, caught.value.target) == (3, 0)


def test_dimension_order_deadlocks_on_rings_of_four_and_no_others():
    assert find_deadlock(mesh(8, 8), DimensionOrder()) == ()
    assert find_deadlock(hypercube(5), DimensionOrder()) == ()
    assert find_deadlock(torus(3, 3), DimensionOrder()) == ()
    assert len(find_deadlock(torus(8, 8), DimensionOrder())) == 8


def test_routes_that_turn_in_a_circle_deadlock():
    net = mesh(2, 2)
    circle = source_routes(net, [[0, 1, 3], [1, 3, 2], [3, 2, 0], [2, 0, 1]])
    cycle = find_deadlock(net, circle)
    assert sorted(net.channel_name(c) for c in cycle) == [
        "(0,0) -> (0,1)", "(0,1) -> (1,1)", "(1,0) -> (0,0)", "(1,1) -> (1,0)",
    ]  # fmt: skip
    assert find_deadlock(net, source_routes(net, [[0, 1, 3], [1, 3, 2]])) == ()


def test_shortest_paths_round_a_ring_deadlock():
    ring = graph_topology(nx.cycle_graph(5))
    assert find_deadlock(ring, ShortestPath())
    assert not find_deadlock(graph_topology(nx.path_graph(5)), ShortestPath())
