"""Routings by name, and the paths that a routing takes."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from netloom.errors import InputError
from netloom.routing.dimension_order import DimensionOrder, cube_tables, dimension_order_paths
from netloom.routing.layered import Layered, layered_paths
from netloom.routing.shortest_path import ShortestPath, shortest_paths
from netloom.routing.source_routes import SourceRoutes, read_routes, routed_paths
from netloom.routing.up_down import UpDown, up_down_paths
from netloom.spec import split_spec, whole_number
from netloom.topology import Cube
from netloom.topology.faults import Faulty, working_nodes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.routing.ragged import Paths
    from netloom.topology import Topology

Routing: TypeAlias = DimensionOrder | ShortestPath | UpDown | Layered | SourceRoutes

ROUTINGS = "dimension-order, dimension-order:0,1, shortest-path, up-down, layered or routes:FILE"

MOST_ROUTES = 2**21
"""Most pairs of nodes whose routes are listed."""


def parse_routing(spec: str, topology: Topology) -> Routing:
    """Return the routing that ``spec`` names on this network.

    ``default`` is ``dimension-order`` on k-ary n-cubes, ``layered`` on networks with broken parts
    and ``shortest-path`` elsewhere; ``dimension-order:0,1`` corrects dimension 0 first;
    ``up-down`` and ``layered`` fit any network: see ``UpDown`` and ``Layered``; ``routes:FILE``
    reads one route a line.

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
        if isinstance(topology, Faulty):
            return Layered()
        return DimensionOrder() if isinstance(topology, Cube) else ShortestPath()
    if name == "dimension-order":
        if isinstance(topology, Faulty):
            wanted = "layered, which is dimension order but round what is broken, or up-down"
            raise InputError("routing", f"'{spec}' on {topology.name}", wanted)
        words = argument.split(",") if argument else []
        routing = DimensionOrder(tuple(whole_number(word, where=spec) for word in words))
        cube_tables(topology, routing)  # refuses an order that is none here
        return routing
    if name in _PLAIN and not argument:
        return _PLAIN[name]
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
    if isinstance(routing, UpDown):
        return up_down_paths(topology, from_node, to_node)
    if isinstance(routing, Layered):
        return layered_paths(topology, from_node, to_node)
    return routed_paths(topology, routing, from_node, to_node)


def all_routes(topology: Topology, routing: Routing) -> SourceRoutes:
    """Return the routes of all pairs of different nodes, none of them broken.

    Raises
    ------
    InputError
        If there are too many pairs.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> all_routes(mesh(2, 2), UpDown()).routes
    <12 paths, 16 hops>
    """
    working = working_nodes(topology)
    if len(working) ** 2 > MOST_ROUTES:
        found, most = f"{len(working)} nodes", int(MOST_ROUTES**0.5)
        wanted = f"at most {most} for a table of the routes of all pairs"
        raise InputError(topology.name, f"{found} for routing '{routing}'", wanted)
    sources, targets = np.repeat(working, len(working)), np.tile(working, len(working))
    moving = sources != targets
    sources, targets = sources[moving], targets[moving]
    pairs = sources.astype(np.int64) * topology.num_nodes + targets
    return SourceRoutes(str(routing), pairs, paths(topology, routing, sources, targets))


_PLAIN: dict[str, Routing] = {str(each): each for each in (ShortestPath(), UpDown(), Layered())}
