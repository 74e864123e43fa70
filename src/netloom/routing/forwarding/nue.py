"""OpenSM's nue: ways that never close a circle of dependencies, in one lane or several."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.forwarding.end_points import EndPoints, channels_by_port, end_points
from netloom.routing.forwarding.lanes import MOST_LANES, DependencyGraph, dependency_graph
from netloom.routing.forwarding.tables import ForwardingTable, Lanes
from netloom.topology.cabling import way_back

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Ints
    from netloom.topology import Topology


class Search(NamedTuple):
    """The state of ``netloom.routing.kernels.nue``, C channels and R routers.

    Attributes
    ----------
    graph
        The steps that are used, as dependencies of channels: held, and slot of what is asked for.
    back
        int32[C], the other channel of a cable.
    links
        int32[C], the channels that enter each router, as ``graph.in_channels`` but by port.
    escape
        int32[R], the channel from each router towards the root of the tree, -1 at the root.
    blocked, fresh, listed
        bool, as ``graph.uses``: steps that would close a circle. Those that are used since this
        search began. Those in the list of ``listed_held`` and ``listed_slot``, of length
        ``num_listed[0]``.
    begun, began
        bool[C], channels by which a way has ended, now and before this search.
    near, found
        int64[R], the cost from each router. int32[R], how often was backtracked before.
    reach
        int64[C], the cost from where a channel begins.
    stack, stacked
        int32[R, most ports], other channels that a way may go on by. int32[R], how many.
    """

    graph: DependencyGraph
    back: Ints
    links: Ints
    escape: Ints
    blocked: Bools
    fresh: Bools
    listed: Bools
    listed_held: Ints
    listed_slot: Ints
    num_listed: Ints
    begun: Bools
    began: Bools
    near: Ints
    found: Ints
    reach: Ints
    stack: Ints
    stacked: Ints


def nue(topology: Topology, lanes: int = 1) -> ForwardingTable:
    """Return the table of OpenSM's engine nue, which is free of deadlock in any number of lanes.

    Destinations are dealt out to the lanes. In each lane the ways along a tree are reserved first,
    rooted at the router through which most shortest ways lead. Then destinations take their turns:
    Dijkstra's algorithm goes from channel to channel, and never by two in a row that would close a
    circle with what is used already. A channel weighs the square of the number of end points, and
    one more for each path that takes it. A search that ends before all routers are reached
    backtracks, and at last takes the tree. Ways to routers are those of ``sssp``. After Domke,
    Hoefler & Matsuoka, *Routing on the dependency graph: a new approach to deadlock-free
    high-performance routing*, 2016, as OpenSM does it without METIS.

    Raises
    ------
    InputError
        If routers are apart, a cable leads one way only, or there are over ``MOST_LANES`` lanes.

    Examples
    --------
    >>> from netloom.routing.forwarding.lanes import lane_circle
    >>> from netloom.topology import torus
    >>> lane_circle(torus(5), nue(torus(5)))
    ()
    """
    from netloom.routing.kernels.sssp import cheapest_ways

    if lanes > MOST_LANES:
        raise InputError(f"routing nue:{lanes}", f"{lanes} lanes", f"at most {MOST_LANES}")
    inside, ends = topology.routers, end_points(topology)
    links = (inside.channel_source, inside.channel_target, *channels_by_port(topology))
    weight = np.full(inside.num_channels, int(ends.at_router.sum()) ** 2, np.int64)
    back = way_back(topology)[: inside.num_channels]
    if (back < 0).any():
        raise InputError(f"routing nue on {topology.name}", "cables one way", "cables both ways")
    nodes, order = _turns(topology, ends)
    wired = np.bincount(inside.channel_source, minlength=inside.num_vertices) > 0
    order = order[wired[ends.exit[order]]]  # nothing leads to what is cut off
    table = np.full((len(ends.exit), inside.num_vertices), -1, np.int32)
    for lane in range(min(lanes, len(order))):
        some = order[lane::lanes]
        table[some] = _ways(topology, ends, some, nodes, links, back, weight)
    own = ends.num_apart + nodes
    table[own] = cheapest_ways(
        nodes, np.zeros(len(nodes), np.bool_), ends.copies[own], nodes, ends.at_router, links,
        weight,
    )  # fmt: skip
    found = None
    if lanes > 1:
        level = np.zeros(table.shape, np.uint8)
        level[order] = (np.arange(len(order)) % lanes)[:, None]
        found = Lanes(level)
    first = ends.num_destinations
    name = f"nue:{lanes}" if lanes > 1 else "nue"
    return ForwardingTable(name, table[:first], table[first:], lanes=found)


def _turns(topology: Topology, ends: EndPoints) -> tuple[Ints, Ints]:
    """Return the order of routers, and that of end points that are no routers.

    By local identifier and by GUID, each from its last byte to its first.
    """
    cabling = topology.cabling
    if cabling is None:
        return np.arange(topology.num_routers, dtype=np.int32), np.arange(ends.num_apart)
    by_lid = np.argsort(cabling.router_lid.astype(np.uint16).byteswap(), kind="stable")
    guid = np.append(cabling.port_guid, cabling.others.guid)
    return by_lid.astype(np.int32), np.argsort(guid.byteswap(), kind="stable")


def _ways(
    topology: Topology,
    ends: EndPoints,
    some: Ints,
    nodes: Ints,
    links: tuple[Ints, Ints, Ints, Ints],
    back: Ints,
    weight: Ints,
) -> Ints:
    """Return the ways to some end points, all in one lane. Add their paths to the weight."""
    from netloom.routing.kernels.centrality import convex_hull, most_central
    from netloom.routing.kernels.nue import nue_ways, reserve
    from netloom.routing.kernels.sssp import cheapest_ways

    count = topology.num_routers
    terminals = np.bincount(ends.exit[some], minlength=count)
    hull = terminals > 0
    outward = (links[0], *links[2:])
    convex_hull(hull, nodes, outward)
    root = np.array([most_central(hull, terminals, nodes, outward)], np.int32)
    one = np.ones(1, np.int64)
    escape = cheapest_ways(root, one < 1, one, nodes, np.zeros(count, np.int64), links, weight)[0]
    reached = (escape >= 0) | (np.bincount(links[0], minlength=count) == 0)
    reached[root] = True
    if not reached.all():
        two = [topology.router_vertex(int(router)) for router in (root[0], reached.argmin())]
        names = [topology.name_of(vertex) for vertex in two]
        what = f"no way from {names[0]} to {names[1]}"
        raise InputError(f"routing nue on {topology.name}", what, "a connected network")
    search = _search(topology, links[3], back, escape)
    reserve(search, nodes, terminals > 0)
    total = 1 + int(np.sum(escape >= 0))
    found: Ints = nue_ways(
        search, nodes, ends.exit[some], ends.copies[some], ends.at_router, total, weight
    )
    return found


def _search(
    topology: Topology,
    links: Ints,
    back: Ints,
    escape: Ints,
) -> Search:
    graph = dependency_graph(topology)
    routers, (channels, most) = topology.num_routers, graph.uses.shape
    into = int(np.diff(graph.in_offsets).max(initial=0))
    shape = graph.uses.shape
    return Search(
        graph, back, links, escape, np.zeros(shape, np.bool_), np.zeros(shape, np.bool_),
        np.zeros(shape, np.bool_), np.empty(channels * most, np.int32),
        np.empty(channels * most, np.int32), np.zeros(1, np.int64), np.zeros(channels, np.bool_),
        np.zeros(channels, np.bool_), np.empty(routers, np.int64), np.empty(routers, np.int32),
        np.zeros(channels, np.int64), np.empty((routers, into), np.int32),
        np.empty(routers, np.int32),
    )  # fmt: skip
