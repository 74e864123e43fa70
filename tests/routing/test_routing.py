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
