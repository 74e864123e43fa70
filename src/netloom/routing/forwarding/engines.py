"""The routing engines of OpenSM by name, as they are documented, and what they are asked.

An engine takes a network and returns its forwarding table. Each is declared once, in ``ENGINES``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np

from netloom.base.arrays import Bools, Int8s, Ints, UInt8s, distinct, offsets_of
from netloom.base.errors import InputError
from netloom.routing.forwarding import tables
from netloom.routing.forwarding.torus_2qos import routed_torus, torus_2qos
from netloom.topology import Topology
from netloom.topology.core import port_numbers, ranks, way_back
from netloom.topology.measures import router_heights

UP, DOWN, EQUAL = 0, 1, 2
"""The directions of steps, as the kernels number them."""


def counted_table(
    topology: Topology,
    name: str,
    *,
    directions: Int8s | None = None,
    barred: int = DOWN,
    same_neighbour: bool = False,
) -> tables.ForwardingTable:
    """Return the table that OpenSM's counters make of the shortest permitted ways.

    A router goes through the adapters' ports. Of its own ports on a shortest permitted path, it
    takes the one with the fewest adapters so far. Ties go to the lowest port. Adapters on the
    routers with most adapters come first, then in the order of their routers' GUIDs and by port.
    Paths to the routers themselves follow and are not counted.

    Parameters
    ----------
    directions
        int8[channels between routers], the direction of the step from a channel's target back to
        its source. None where any way is permitted.
    barred
        No step of the opposite direction follows one of this.
    same_neighbour
        Whether only ports to the neighbour on the lowest port of a shortest way are taken.
    """
    from netloom.routing.kernels.min_hop import least_used

    inside, ends = topology.routers, tables.end_points(topology)
    if directions is None:
        directions = np.full(inside.num_channels, EQUAL, np.int8)
    by_port = tables.channels_by_port(topology, leaving=True), tables.channels_by_port(topology)
    wires, turns = (inside.channel_source, inside.channel_target, *by_port), (directions, barred)
    table = least_used(ends.order, ends.exit, ends.num_apart, wires, *turns, same_neighbour)
    return tables.told(name, table, ends)


def minhop(topology: Topology) -> tables.ForwardingTable:
    """Return the table of OpenSM's default engine, entry for entry.

    Packets take shortest ways. Each router gives its ports alike numbers of destinations (see
    ``counted_table``). Packets may wait for each other in a circle.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> minhop(topology("leaf-spine:2x2x2")).next_channel[2:].tolist()
    [[0, -1, 5, 7], [1, -1, 5, 7]]
    """
    return counted_table(topology, "minhop")


def dor(topology: Topology) -> tables.ForwardingTable:
    """Return the table of OpenSM's dimension order, entry for entry.

    Packets take shortest ways, and each router the neighbour on its lowest port that leads on. Of
    several cables to it the one that has been given the fewest destinations. That is dimension
    order on a mesh or cube whose cables of one dimension have the same ports on every router. On
    other networks, and on tori, packets may wait for each other in a circle.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> net = mesh(2, 2)
    >>> net.routers.channel_target[dor(net).next_channel[3, :3]].tolist()
    [2, 3, 3]
    """
    return counted_table(topology, "dor", same_neighbour=True)


MOST_HOPS = 64
"""Most hops of a way in a subnet."""


def updn(topology: Topology) -> tables.ForwardingTable:
    """Return the table of OpenSM's up/down engine, entry for entry.

    Ranks are hops from the nearest root (``found_roots``). No way goes up again, to a router of
    lower rank, once it has gone down. Of two neighbours of one rank the one of the higher GUID is
    the upper. Among the shortest such ways ports are used alike, as ``minhop`` does.

    Raises
    ------
    InputError
        If there are no roots: OpenSM falls back to ``minhop`` there.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> updn(topology("fat-tree:2x2")).next_channel[:, 0].tolist()
    [-1, -1, 0, 1]
    """
    if reason := updn_falls_back(topology):
        raise tables.falls_back(topology, "updn", reason, "a tree; or minhop itself")
    rank, inside = router_heights(topology, found_roots(topology)), topology.routers
    place = np.arange(topology.num_routers)
    if topology.cabling is not None:
        place[np.argsort(topology.cabling.router_guid, kind="stable")] = place.copy()
    here, there = inside.channel_target, inside.channel_source
    up = (rank[here] > rank[there]) | ((rank[here] == 0) & (rank[there] == 0))
    up |= (rank[here] == rank[there]) & (place[here] > place[there])
    return counted_table(topology, "updn", directions=np.where(up, UP, DOWN).astype(np.int8))


def updn_falls_back(topology: Topology) -> str:
    """Return why OpenSM would configure minhop instead of updn. Empty if it would not."""
    if len(found_roots(topology)):
        return ""
    return "no switch has over 90% of all adapters at one distance and all others within 5%"


def found_roots(topology: Topology) -> Ints:
    """Return the routers that OpenSM takes for roots, ascending.

    Those that see more than 0.9 of all adapters at one distance, and at no other distance more than
    0.05 of them.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> found_roots(topology("fat-tree:2x2")).tolist()
    [2, 3]
    >>> found_roots(topology("torus:4x4")).tolist()
    []
    """
    from netloom.routing.kernels.min_hop import ends_by_distance

    ends, inside = tables.end_points(topology), topology.routers
    adapters = np.bincount(ends.exit[: ends.num_apart], minlength=topology.num_routers)
    seen = ends_by_distance(adapters, inside.channel_source, *inside.incoming(), MOST_HOPS)
    most = (seen > 0.9 * ends.num_apart).sum(axis=1) == 1
    alone = (seen > 0.05 * ends.num_apart).sum(axis=1) == 1
    return np.flatnonzero(most & alone)


def dnup(topology: Topology) -> tables.ForwardingTable:
    """Return the table of OpenSM's down/up engine, entry for entry.

    Ranks are hops from the nearest router with adapters. No way goes on away from such routers once
    it has come nearer to them. Steps between routers of one rank are free, so that packets may
    wait for each other in a circle. Among the shortest such ways ports are used alike, as
    ``minhop`` does. There are pairs of hosts that it does not connect in some networks.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> dnup(topology("fat-tree:2x2")).next_channel[:, 0].tolist()
    [-1, -1, 0, 1]
    """
    ends, inside = tables.end_points(topology), topology.routers
    rank = router_heights(topology, distinct(ends.exit[: ends.num_apart]))
    here, there = rank[inside.channel_target], rank[inside.channel_source]
    directions = np.where(here < there, DOWN, np.where(here > there, UP, EQUAL)).astype(np.int8)
    return counted_table(topology, "dnup", directions=directions, barred=UP)


def sssp(topology: Topology) -> tables.ForwardingTable:
    """Return the table of OpenSM's engine sssp.

    End points take their turns: those at routers of most end points first, router by router and
    port by port, then the routers themselves. The ways to each are those of least weight, by
    Dijkstra's algorithm. A channel weighs the square of the number of end points (so that ways are
    shortest in hops), and one more for each path that takes it so far. Packets may wait for each
    other in a circle. After Hoefler, Schneider & Lumsdaine, *Optimized routing for large-scale
    InfiniBand networks*, 2009.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> sssp(topology("leaf-spine:2x2x2")).next_channel[2:].tolist()
    [[0, -1, 5, 7], [1, -1, 5, 7]]
    """
    from netloom.routing.kernels.sssp import cheapest_ways

    inside, ends, links, weight = _weighed(topology)
    table = np.empty((len(ends.order), inside.num_routers), np.int32)
    turns = ends.exit[ends.order], ends.order < ends.num_apart, ends.copies[ends.order]
    table[ends.order] = cheapest_ways(*turns, ends.routers, ends.at_router, links, weight)
    return tables.told("sssp", table, ends)


def _weighed(
    topology: Topology,
) -> tuple[Topology, tables.EndPoints, tuple[Ints, Ints, Ints, Ints], Ints]:
    """Return routers, end points, links as ``cheapest_ways`` takes them, and their first weight."""
    inside, ends = topology.routers, tables.end_points(topology)
    links = (inside.channel_source, inside.channel_target, *tables.channels_by_port(topology))
    weight = np.full(inside.num_channels, int(ends.at_router.sum()) ** 2, np.int64)
    return inside, ends, links, weight


DATA_LANES = 8
"""Lanes of data that switches of today have."""

TOO_MANY = f"more than {DATA_LANES} lanes are needed"


def dfsssp(topology: Topology) -> tables.ForwardingTable:
    """Return the table of OpenSM's engine dfsssp, with its lanes.

    The ways are those of ``sssp``. All paths between end points, and from these to the routers,
    begin in one lane. A lane's dependencies are searched depth first. Of each circle that is met,
    the dependency that the fewest pairs need is taken out, and the paths that need it go to the
    next lane. After Domke, Hoefler & Nagel, *Deadlock-free oblivious routing for arbitrary
    topologies*, 2011. OpenSM then spreads the paths of one lane over those that stay empty. Here
    they stay in the lanes that are needed.

    Raises
    ------
    InputError
        If more than eight lanes are needed. OpenSM then configures minhop, which may deadlock, and
        reports this in its log only.

    Examples
    --------
    >>> from netloom.routing.forwarding.tables import lanes_used
    >>> from netloom.topology import torus
    >>> lanes_used(dfsssp(torus(5))), lanes_used(dfsssp(torus(2, 2)))
    (2, 1)
    """
    found = sssp(topology)
    level, count = _lanes(topology, found)
    if count > DATA_LANES:
        wanted = f"at most {DATA_LANES}; OpenSM then takes minhop and tells its log only"
        raise InputError(f"routing dfsssp on {topology.name}", _needed(count), wanted)
    return replace(found, name="dfsssp", lanes=tables.Lanes(level))


def dfsssp_falls_back(topology: Topology) -> str:
    """Return why OpenSM would configure minhop instead of dfsssp. Empty if it would not."""
    _, count = _lanes(topology, sssp(topology))
    return f"{_needed(count)}, of {DATA_LANES}" if count > DATA_LANES else ""


def _needed(count: int) -> str:
    return f"{f'over {tables.MOST_COUNTED}' if count > tables.MOST_COUNTED else count} lanes needed"


def _lanes(topology: Topology, found: tables.ForwardingTable) -> tuple[UInt8s, int]:
    """Return the lane of each (end point, router), and how many lanes there are."""
    from netloom.routing.kernels.sssp import broken_circles

    inside, ends, table = topology.routers, tables.end_points(topology), tables.whole_table(found)
    _, first = np.unique(ends.exit[ends.order[: ends.num_apart]], return_index=True)
    sources = distinct(ends.exit[: ends.num_apart])[np.argsort(first)]
    out_port = port_numbers(topology)[0][: inside.num_channels]
    rank: Ints = np.arange(inside.num_routers)
    if topology.cabling is not None:
        rank = topology.cabling.router_lid
    key = np.empty(inside.num_channels, np.int64)
    key[np.lexsort((out_port, rank[inside.channel_source]))] = np.arange(inside.num_channels)
    most_out = int(np.diff(inside.outgoing()[0]).max(initial=0))
    paths = np.outer(ends.copies[ends.order], ends.at_router[sources] - 1)
    wires = key, ranks(*inside.outgoing()), inside.channel_target, most_out
    lane, count = broken_circles(table[ends.order], sources, paths, *wires, tables.MOST_COUNTED)
    level = np.zeros(table.shape, np.uint8)
    level[ends.order[:, None], sources] = lane
    return level, count


def lash(topology: Topology) -> tables.ForwardingTable:
    """Return the table and the lanes of OpenSM's lash (layered shortest paths).

    One shortest way leads from each router to each other, the same for all adapters there, and by
    the lowest port of several to one neighbour. Entries are the genuine ones. The two ways between
    two routers go into the first layer where no circle of waiting closes. Then pairs move from the
    fullest to the emptiest layer. OpenSM draws these at random, so that a pair may have another
    layer there. How many there are is the same. After Skeie, Lysne & Theiss, *Layered shortest path
    (LASH) routing in irregular system area networks*, 2002.

    Raises
    ------
    InputError
        If it needs more layers than switches have lanes: OpenSM falls back to ``minhop`` there.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> lash(torus(5)).lanes.level.max()
    np.uint8(1)
    """
    from netloom.routing.kernels.layers import even_layers

    ends = tables.end_points(topology)
    ways, pairs, layer, used, graph = _layers(topology)
    if used > DATA_LANES:
        raise tables.falls_back(topology, "lash", TOO_MANY, "sssp; or minhop itself")
    if used > 1:
        drawn = np.random.default_rng(1).permutation(len(pairs))
        even_layers(ways, graph, pairs, layer, used, drawn)
    level = np.zeros(ways.shape, np.uint8)
    level[pairs[:, 0], pairs[:, 1]] = level[pairs[:, 1], pairs[:, 0]] = layer
    lanes = tables.Lanes(level[ends.exit[: ends.num_destinations]]) if used > 1 else None
    return tables.told("lash", ways[ends.exit], ends, lanes)


def _layers(topology: Topology) -> tuple[Ints, Ints, Ints, int, object]:
    """Return the ways, the pairs of routers with their layers, how many, and the dependencies."""
    from netloom.routing.kernels.layers import layer_pairs, tree_ways

    inside, order = topology.routers, tables.end_points(topology).routers
    leaving = tables.channels_by_port(topology, leaving=True)
    ways = tree_ways(order, inside.channel_source, inside.channel_target, leaving)
    graph = tables.dependency_graph(topology, DATA_LANES)
    most = len(order) * (len(order) - 1) // 2
    pairs, layer = np.empty((most, 2), np.int32), np.empty(most, np.int32)
    count, used = layer_pairs(ways, order, graph, DATA_LANES, pairs, layer)
    return ways, pairs[:count], layer[:count], used, graph


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

    graph: tables.DependencyGraph
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


def nue(topology: Topology, lanes: int = 1) -> tables.ForwardingTable:
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
    >>> from netloom.routing.forwarding.tables import lane_circle
    >>> from netloom.topology import torus
    >>> lane_circle(torus(5), nue(torus(5)))
    ()
    """
    from netloom.routing.kernels.sssp import cheapest_ways

    if lanes > tables.MOST_LANES:
        raise InputError(f"routing nue:{lanes}", f"{lanes} lanes", f"at most {tables.MOST_LANES}")
    inside, ends, links, weight = _weighed(topology)
    back = way_back(topology)[: inside.num_channels]
    if (back < 0).any():
        raise InputError(f"routing nue on {topology.name}", "cables one way", "cables both ways")
    nodes, order = np.arange(inside.num_routers, dtype=np.int32), np.arange(ends.num_apart)
    if (cabling := topology.cabling) is not None:  # by LID, GUID: from last byte to first
        lid, guid = cabling.router_lid, np.append(cabling.port_guid, cabling.others.guid)
        by_lid = np.argsort(lid.astype(np.uint16).byteswap(), kind="stable")
        nodes, order = by_lid.astype(np.int32), np.argsort(guid.byteswap(), kind="stable")
    wired = np.bincount(inside.channel_source, minlength=inside.num_routers) > 0
    order = order[wired[ends.exit[order]]]  # nothing leads to what is cut off
    table = np.full((len(ends.exit), inside.num_routers), -1, np.int32)
    for lane in range(min(lanes, len(order))):
        some = order[lane::lanes]
        table[some] = _ways(topology, ends, some, nodes, links, back, weight)
    own = ends.num_apart + nodes
    turns = nodes, np.zeros(len(nodes), np.bool_), ends.copies[own]
    table[own] = cheapest_ways(*turns, nodes, ends.at_router, links, weight)
    found = None
    if lanes > 1:
        level = np.zeros(table.shape, np.uint8)
        level[order] = (np.arange(len(order)) % lanes)[:, None]
        found = tables.Lanes(level)
    return tables.told(f"nue:{lanes}" if lanes > 1 else "nue", table, ends, found)


def _ways(
    topology: Topology,
    ends: tables.EndPoints,
    some: Ints,
    nodes: Ints,
    links: tuple[Ints, Ints, Ints, Ints],
    back: Ints,
    weight: Ints,
) -> Ints:
    """Return the ways to some end points, all in one lane. Add their paths to the weight."""
    from netloom.routing.kernels.nue import convex_hull, most_central, nue_ways, reserve
    from netloom.routing.kernels.sssp import cheapest_ways

    count = topology.num_routers
    terminals = np.bincount(ends.exit[some], minlength=count)
    hull = terminals > 0
    outward = (links[0], *links[2:])
    convex_hull(hull, nodes, outward)
    kept = (hull[links[0]] & hull[links[1]])[links[3]]
    inner = links[0], offsets_of(kept)[links[2]], links[3][kept]
    root = np.array([most_central(hull, terminals, nodes, inner)], np.int32)
    one = np.ones(1, np.int64)
    escape = cheapest_ways(root, one < 1, one, nodes, np.zeros(count, np.int64), links, weight)[0]
    reached = (escape >= 0) | (np.bincount(links[0], minlength=count) == 0)
    reached[root] = True
    if not reached.all():
        here, there = (topology.router_name(int(each)) for each in (root[0], reached.argmin()))
        what = f"no way from {here} to {there}"
        raise InputError(f"routing nue on {topology.name}", what, "a connected network")
    graph = tables.dependency_graph(topology)
    into, shape = int(np.diff(graph.in_offsets).max(initial=0)), graph.uses.shape
    steps = *np.zeros((3, *shape), np.bool_), *np.empty((2, graph.uses.size), np.int32)
    begun = np.zeros(1, np.int64), *np.zeros((2, shape[0]), np.bool_)
    found, stacked = np.empty((2, count), np.int32)
    costs = np.empty(count, np.int64), found, np.zeros(shape[0], np.int64)
    scratch = [*steps, *begun, *costs, np.empty((count, into), np.int32), stacked]
    search = Search(graph, back, links[3], escape, *scratch)
    reserve(search, nodes, terminals > 0)
    total = 1 + int(np.sum(escape >= 0))
    sent = ends.exit[some], ends.copies[some], ends.at_router
    return np.asarray(nue_ways(search, nodes, *sent, total, weight))


LEVELS = (2, 8)
"""Fewest and most levels of switches."""
MOST_PLACES = 255
"""Most routers that differ in one digit of their place."""


@dataclass(frozen=True, eq=False)
class _Tree:
    """The levels of a tree, and its routers in their order.

    Attributes
    ----------
    level
        int64[num_routers], hops from the roots. The number of routers where there is no way.
    groups
        By router and kind, the numbers of its groups of cables, in the order of the tree.
    neighbour, cables
        By group, the router at the other end, and the channels that enter from there, by port.
    place
        int64[num_routers], the place of each router in the order of the tree.
    leaves
        The routers of the lowest level from the first to the last that has adapters, in order.
    """

    level: Ints
    groups: tuple[list[list[int]], ...]
    neighbour: list[int]
    cables: list[list[int]]
    place: Ints
    leaves: list[int]


def ftree(topology: Topology) -> tables.ForwardingTable:
    """Return the table of OpenSM's engine for full trees, entry for entry.

    Destinations are taken leaf by leaf and port by port. Ways down to them use the cables in turn,
    and so do ways up. Leaves with fewer adapters than the fullest count as if they had as many.
    On a full tree no shift of all hosts shares a cable.

    Raises
    ------
    InputError
        If the network is not a full tree: OpenSM falls back to ``minhop`` there.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> ftree(topology("fat-tree:2x2")).next_channel[:, 0].tolist()
    [-1, -1, 0, 1]
    """
    from netloom.routing.kernels.min_hop import COLUMNS, tree_table

    tree = _tree_of(topology)
    if isinstance(tree, str):
        raise tables.falls_back(topology, "ftree", tree, "a full tree; or minhop itself")
    ends, routers = tables.end_points(topology), len(tree.level)
    # the tree as the flat arrays of the kernel: see there
    sizes = [[len(members) for members in kind] for kind in tree.groups]
    bounds = offsets_of(np.array(sizes).ravel())
    offsets = np.stack([bounds[kind * routers : (kind + 1) * routers + 1] for kind in range(3)])
    members = [group for kind in tree.groups for own in kind for group in own]
    firsts = offsets_of([len(entering) for entering in tree.cables])
    adapters = np.bincount(ends.exit[: ends.num_apart], minlength=routers) > 0
    cables = firsts, np.array([c for own in tree.cables for c in own], np.int32)
    groups = offsets, np.array(members, np.int32)
    counts = (len(tree.neighbour), topology.num_network_channels) * 2
    uses = tuple(np.zeros(count, np.int64) for count in counts)
    scratch = np.empty(routers, np.int32), np.empty(routers, np.int64)
    stack = np.empty((2 * routers + 32, COLUMNS), np.int64)
    wires = *groups, np.array(tree.neighbour, np.int32), *cables
    flat = *wires, *uses, tree.place, tree.level, adapters, *scratch, stack
    table = tree_table(*_in_turn(topology, tree), ends.num_apart, flat, len(ends.exit))
    return tables.told("ftree", table, ends)


def _tree_of(topology: Topology) -> _Tree | str:
    """Return the tree that a network is, or why it is none."""
    ends, routers = tables.end_points(topology), topology.num_routers
    adapters = np.bincount(ends.exit[: ends.num_apart], minlength=routers)
    others = len(topology.others)
    if topology.cabling is not None and topology.cabling.lmc.any():
        return "ports have several LIDs (LMC above 0)"
    if routers < 2 or topology.num_hosts + others < 2:
        return "there are fewer than two switches or adapters"
    height = router_heights(topology, np.flatnonzero(adapters))
    known = height < routers
    level = router_heights(topology, np.flatnonzero(known & (height == height[known].max())))
    known = level < routers
    lowest = int(level[known].max())
    if lowest == 0 and routers > 1 and adapters[known].all():
        counted = ", aggregation nodes counted" if others else ""
        return f"every switch has adapters{counted}"
    if not LEVELS[0] <= lowest + 1 <= LEVELS[1]:
        levels = f"{lowest + 1} level" + "s" * (lowest > 0)
        return f"switches are on {levels} and not on {LEVELS[0]} to {LEVELS[1]}"
    for router in ends.routers[adapters[ends.routers] > 0].tolist():
        if level[router] != lowest:
            name = topology.router_name(router)
            return f"adapters hang on switch {name}, above the lowest level"
    return _indexed(topology, level, lowest, adapters)


def _indexed(topology: Topology, level: Ints, lowest: int, adapters: Ints) -> _Tree | str:
    """Return the tree with its routers in order, or why it is not full."""
    order = [
        each for each in tables.end_points(topology).routers.tolist() if level[each] < len(level)
    ]
    groups, neighbour, cables = _groups(topology, level)
    tuples = _tuples(level, lowest, adapters, order, (groups, neighbour))
    if tuples is None:
        return f"more than {MOST_PLACES} switches differ in one digit of their place"
    last = (MOST_PLACES,) * len(next(iter(tuples.values())))
    in_order = sorted(range(len(level)), key=lambda router: (tuples.get(router, last), router))
    place = np.empty(len(level), np.int64)
    place[in_order] = np.arange(len(level))
    for kind in (UP, DOWN):
        for members in groups[kind]:
            members.sort(key=lambda group: place[neighbour[group]])
    floor = [router for router in in_order if level[router] == lowest]
    used = [number for number, router in enumerate(floor) if adapters[router]]
    if len(used) < 2:
        return "fewer than two switches have adapters"
    tree = _Tree(level, groups, neighbour, cables, place, floor[used[0] : used[-1] + 1])
    return _unlike(topology, tree, order, lowest) or tree


def _groups(
    topology: Topology, level: Ints
) -> tuple[tuple[list[list[int]], ...], list[int], list[list[int]]]:
    """Return each router's groups by kind, in order of their first ports, and what they are."""
    source = topology.routers.channel_source.tolist()
    offsets, channels = tables.channels_by_port(topology)
    groups: tuple[list[list[int]], ...] = tuple([[] for _ in level] for _ in range(3))
    neighbour: list[int] = []
    cables = []
    for router in range(len(level)):
        found: dict[int, list[int]] = {}
        for channel in channels[offsets[router] : offsets[router + 1]].tolist():
            if source[channel] != router:
                found.setdefault(source[channel], []).append(channel)
        for other, entering in found.items():
            step = int(level[other]) - int(level[router])
            kind = UP if step < 0 else DOWN if step > 0 else EQUAL
            groups[kind][router].append(len(neighbour))
            neighbour.append(other)
            cables.append(entering)
    return groups, neighbour, cables


def _tuples(
    level: Ints,
    lowest: int,
    adapters: Ints,
    order: list[int],
    wiring: tuple[tuple[list[list[int]], ...], list[int]],
) -> dict[int, tuple[int, ...]] | None:
    """Return the digits that OpenSM gives routers, the level first. None where it runs out of them.

    From the first leaf on, breadth first. A router's neighbour on the level below or above differs
    from it in the level and in one digit, for which the lowest free value is taken.
    """
    groups, neighbour = wiring
    start = next(router for router in order if level[router] == lowest and adapters[router])
    tuples = {start: (lowest,) + (0,) * lowest}
    taken = {tuples[start]}
    free: dict[tuple[int, ...], int] = {}
    queue = deque([start])
    while queue:
        router = queue.popleft()
        own = tuples[router]
        for kind, step in ((DOWN, 1), (UP, -1)):
            for group in groups[kind][router]:
                other = neighbour[group]
                if other in tuples:
                    continue
                digit = own[0] + max(step, 0)
                rest = (own[0] + step, *own[1:digit], -1, *own[digit + 1 :])
                value = free.get(rest, 0)
                while (given := (*rest[:digit], value, *rest[digit + 1 :])) in taken:
                    value += 1
                if value >= MOST_PLACES:
                    return None
                free[rest], tuples[other] = value + 1, given
                taken.add(given)
                queue.append(other)
    return tuples


def _unlike(topology: Topology, tree: _Tree, order: list[int], lowest: int) -> str:
    """Return in what a switch differs from the first of its level. Empty if none does.

    As OpenSM compares them: all groups above with the first switch's first, the first group below
    with the first switch's first.
    """
    first: dict[int, int] = {}
    for router in order:
        rank = int(tree.level[router])
        model = first.setdefault(rank, router)
        for kind, words in ((UP, "above"), (DOWN, "below")):
            own, expected = tree.groups[kind][router], tree.groups[kind][model]
            if router == model or (kind == DOWN and rank == lowest):
                continue
            name, other = (topology.router_name(each) for each in (router, model))
            if len(own) != len(expected):
                said = f"{len(own)} switches {words} it and {other} has {len(expected)}"
                return f"switch {name} has {said}"
            some = own if kind == UP else own[:1]
            sizes = {len(tree.cables[group]) for group in some}
            wanted = {len(tree.cables[group]) for group in expected[:1]}
            if sizes - wanted:
                said = f"{max(sizes - wanted)} cables to a switch {words} it and {other}"
                return f"switch {name} has {said} has {max(wanted)}"
    return ""


def _in_turn(topology: Topology, tree: _Tree) -> tuple[Ints, Ints]:
    """Return the end points in the order in which they are routed, and their routers.

    Leaf by leaf, by port; -1 for each adapter that a leaf has less than the fullest. Then the
    routers themselves.
    """
    ends = tables.end_points(topology)
    own: list[list[int]] = [[] for _ in tree.level]
    for end in ends.order[: ends.num_apart].tolist():
        own[ends.exit[end]].append(end)
    most = max(len(own[leaf]) for leaf in tree.leaves)
    order = []
    at = []
    for leaf in tree.leaves:
        order += own[leaf] + [-1] * (most - len(own[leaf]))
        at += [leaf] * most
    known = [each for each in ends.routers.tolist() if tree.level[each] < len(tree.level)]
    order += [ends.num_apart + each for each in known]
    return np.array(order, np.int64), np.array(at + known, np.int64)


_Engine: TypeAlias = Callable[[Topology], tables.ForwardingTable]

_EVERY = [minhop, updn, dnup, ftree, dor, lash, torus_2qos, sssp, dfsssp, nue]

ENGINES = {engine.__name__.replace("_", "-"): engine for engine in _EVERY}
"""Every engine, by the name that OpenSM gives it, in lower case."""

_FALLS_BACK: dict[str, Callable[[Topology], object]] = {
    "updn": updn_falls_back,
    "ftree": _tree_of,
    "torus-2qos": routed_torus,
    "dfsssp": dfsssp_falls_back,
    "lash": lambda topology: TOO_MANY if _layers(topology)[3] > DATA_LANES else "",
}
"""What says a reason, or else returns anything but text."""


def would_fall_back(topology: Topology, engine: str) -> str:
    """Return why OpenSM, asked for an engine, would configure minhop. Empty if it would not.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> would_fall_back(topology("fat-tree:2x2"), "updn")
    ''
    >>> would_fall_back(topology("torus:4x4"), "updn")
    'no switch has over 90% of all adapters at one distance and all others within 5%'
    """
    said = _FALLS_BACK[engine](topology) if engine in _FALLS_BACK else ""
    return said if isinstance(said, str) else ""
