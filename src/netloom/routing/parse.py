"""Routings by name, and the paths that a routing takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from netloom.errors import InputError
from netloom.routing.dimension_order import DimensionOrder, cube_tables, dimension_order_paths
from netloom.routing.shortest_path import ShortestPath, shortest_paths
from netloom.routing.source_routes import SourceRoutes, read_routes, routed_paths
from netloom.spec import split_spec, whole_number
from netloom.topology import Cube

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.routing.ragged import Paths
    from netloom.topology import Topology

Routing: TypeAlias = DimensionOrder | ShortestPath | SourceRoutes

ROUTINGS = "dimension-order, dimension-order:0,1, shortest-path or routes:FILE"


def parse_routing(spec: str, topology: Topology) -> Routing:
    """Return the routing that ``spec`` names on this network.

    ``default`` is ``dimension-order`` on k-ary n-cubes and ``shortest-path`` elsewhere;
    ``dimension-order:0,1`` corrects dimension 0 first; ``routes:FILE`` reads one route a line.

    Raises
    ------
    InputError
        If the name is not known or does not fit the network.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> str(parse_routing("default", mesh(4, 4)))
    'dimension-order'
    """
    name, argument = split_spec(spec)
    if name == "default":
        return DimensionOrder() if isinstance(topology, Cube) else ShortestPath()
    if name == "dimension-order":
        words = argument.split(",") if argument else []
        routing = DimensionOrder(tuple(whole_number(word, where=spec) for word in words))
        cube_tables(topology, routing)  # refuses an order that is none here
        return routing
    if name == "shortest-path" and not argument:
        return ShortestPath()
    if name == "routes":
        return read_routes(topology, argument)
    raise InputError(f"routing '{spec}'", f"'{name}'", ROUTINGS)


def paths(topology: Topology, routing: Routing, sources: ArrayLike, targets: ArrayLike) -> Paths:
    """Return the channels that packets from each source node to its target node cross.

    Parameters
    ----------
    topology, routing
        The network and the routing.
    sources, targets
        int[num_paths] nodes; a pair of equal nodes has an empty path.

    Raises
    ------
    NoRouteError
        If the routing has no path for a pair.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> net = mesh(3, 3)
    >>> row_first = paths(net, DimensionOrder(), [0], [8])
    >>> [net.channel_name(c) for c in row_first[0]]
    ['(0,0) -> (0,1)', '(0,1) -> (0,2)', '(0,2) -> (1,2)', '(1,2) -> (2,2)']
    """
    from_node = np.ascontiguousarray(sources, np.int32)
    to_node = np.ascontiguousarray(targets, np.int32)
    if isinstance(routing, DimensionOrder):
        return dimension_order_paths(topology, routing, from_node, to_node)
    if isinstance(routing, ShortestPath):
        return shortest_paths(topology, from_node, to_node)
    return routed_paths(topology, routing, from_node, to_node)
