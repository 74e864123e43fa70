"""Can packets wait for each other in a circle? The channel-dependency graph answers.

A routing function with a single queue per channel may deadlock exactly if there is a cycle of
channels in which each may be held while the next is requested. See Dally & Seitz, *Deadlock-free
message routing in multiprocessor interconnection networks*, 1987.
"""

from __future__ import annotations

import numpy as np

from netloom.base.arrays import Bools, Ints
from netloom.base.errors import InputError, NoRouteError
from netloom.routing.forwarding.tables import (
    ForwardingTable,
    cycle_of_waits,
    dependencies,
    dependency_cycle,
    lane_circle,
    waits_of_table,
)
from netloom.routing.parse import MOST_ROUTES, Routing, all_pairs, all_routes, paths
from netloom.routing.ragged import router_pairs
from netloom.routing.rules import (
    Layered,
    Minimal,
    ShortestPath,
    Spread,
    Valiant,
    detour,
    host_routers,
    in_one_order,
    spread_table,
)
from netloom.routing.source_routing import SourceRoutes, shortest_rows
from netloom.routing.ways import JOINED, DimensionOrder, Ways, is_hyperx, shortest_ways
from netloom.topology import Cube, Topology
from netloom.topology.core import ranks

MOST_FLAGS = 2**28
"""Most flags of (channel, next channel) that are looked at."""

MOST_STEPS = 2**30
"""Largest nodes × channels of a general network whose shortest-path table is searched."""

MOST_LISTED = 2**22
"""Most paths that are followed one by one."""

PAIRS_AT_ONCE = 2**17
"""Pairs whose paths are listed at a time."""

ENTRIES_AT_ONCE = 2**22
"""Entries of a table that are followed at a time."""


def find_deadlock(topology: Topology, routing: Routing) -> tuple[int, ...]:
    """Return a cycle of channels in which this routing can deadlock, or () when it cannot.

    One virtual channel a channel is assumed, except for a forwarding table with lanes. Datelines
    and escape channels are what removes the cycles that this finds. All pairs of different hosts
    that work may communicate (with given routes: those that have one), by any of their paths if
    they have several.

    Up*/down* routing cannot deadlock on any network, and no routing by shortest paths can on a
    whole fat tree: packets go up first, then down, and never up again. Nor can dimension order on
    a HyperX, where a packet takes one hop in each dimension.

    Raises
    ------
    InputError
        If there are too many pairs, paths or nodes to follow.

    Examples
    --------
    >>> from netloom.topology import mesh, torus
    >>> find_deadlock(mesh(8, 8), DimensionOrder())
    ()
    >>> find_deadlock(torus(4), DimensionOrder())
    (0, 1, 2, 3)
    """
    if isinstance(routing, Layered) and topology.direct:
        routing = all_routes(topology, routing)
    if isinstance(routing, SourceRoutes):
        return dependency_cycle(routing.routes, topology.num_channels)
    if in_one_order(topology, routing):
        return ()
    inside = topology.routers
    ends = topology.injection_router, topology.ejection_router
    one_port = topology.num_ports == topology.num_hosts
    all_send = one_port and all(len(np.unique(each)) == inside.num_routers for each in ends)
    if isinstance(routing, DimensionOrder) and isinstance(inside, Cube) and all_send:
        # only a ring can close a cycle, of 4 nodes or more: of 3 no minimal path has two hops
        for axis, (side, wrap) in enumerate(zip(inside.sides, inside.wraps, strict=True)):
            if wrap and side >= 4:
                first = int(inside.line_base[axis, 0])
                return tuple(range(first, first + side))
        return ()
    if isinstance(routing, ShortestPath) and all_send:
        nodes, channels = inside.num_routers, inside.num_channels
        if nodes * channels > MOST_STEPS:
            found = f"{nodes} nodes times {channels} channels"
            raise InputError(topology.name, found, f"at most {MOST_STEPS} to check for deadlock")
        waits, step = np.zeros(0, np.int64), max(ENTRIES_AT_ONCE // nodes, 1)
        for first in range(0, nodes, step):
            rows = shortest_rows(inside, np.arange(first, min(first + step, nodes)))
            held, asked = waits_of_table(inside, ForwardingTable("shortest-path", rows))
            waits = np.union1d(waits, held * channels + asked)
        return cycle_of_waits(*np.divmod(waits, channels), channels)
    circle = _detour_circle(topology, routing) if isinstance(routing, Valiant) else ()
    return circle or listed_cycle(topology, routing)


def _detour_circle(topology: Topology, routing: Valiant) -> tuple[int, ...]:
    """Return a circle on one part of packets' ways, to what is drawn or from there, or ().

    No paths are listed for it.
    """
    trip, hosts = detour(topology, routing), host_routers(topology, str(routing))
    many = len(trip.ways.source)
    flags = many * int(np.diff(trip.ways.out_offsets).max(initial=0))
    if flags > MOST_FLAGS:
        found = f"{flags:,} pairs of channels"
        raise InputError(topology.name, found, f"at most {MOST_FLAGS:,}")
    entries = np.zeros(topology.num_routers, np.bool_)
    entries[hosts] = True
    for goals, to_group in ((trip.goals, trip.to_group), (hosts, False)):
        waits, arrived, joined = _ways_waits(trip.ways, entries[None], goals, to_group=to_group)
        if not joined:
            raise NoRouteError(int(np.argmax(entries)), int(goals[0]), JOINED)
        circle = cycle_of_waits(*waits, many)
        if circle:
            return circle
        entries |= arrived
    return ()


def _ways_waits(
    ways: Ways, entries: Bools, goals: Ints, *, to_group: bool = False
) -> tuple[tuple[Ints, Ints], Bools, bool]:
    """Return what is held and asked for on ways, each two once, and two more of the kernel."""
    from netloom.routing.kernels.several import several_waits

    place = ranks(ways.out_offsets, ways.out_channels)
    waits, arrived, joined = several_waits(ways, place, entries, goals, to_group)
    held, slot = np.nonzero(waits)
    asked = ways.out_channels[ways.out_offsets[ways.target[held]] + slot]
    return (held, asked), arrived, joined


def listed_cycle(topology: Topology, routing: Routing) -> tuple[int, ...]:
    """Return what ``find_deadlock`` does for a routing by name, by following all paths.

    Raises
    ------
    InputError
        If there are too many pairs or paths.
    """
    count = topology.num_channels
    if isinstance(routing, Spread):
        routing = ForwardingTable(str(routing), spread_table(topology))
    if isinstance(routing, ForwardingTable):
        return tuple(channel for channel, _ in lane_circle(topology, routing))
    if isinstance(routing, Minimal):
        entry, leave = router_pairs(topology)
        goals, row = np.unique(leave, return_inverse=True)
        entries = np.zeros((len(goals), topology.num_routers), np.bool_)
        entries[row, entry] = True
        waits, *_ = _ways_waits(shortest_ways(topology.routers), entries, goals)
        return cycle_of_waits(*waits, count)
    by_routers = isinstance(routing, ShortestPath | Layered | DimensionOrder)
    if is_hyperx(topology) or not by_routers:
        sources, targets = all_pairs(topology, str(routing))
        return cycle_of_waits(*_waits(topology, routing, sources, targets, count), count)
    # which hosts hang on two routers makes no difference to the way between these
    inside, (sources, targets) = topology.routers, router_pairs(topology)
    if len(sources) > MOST_ROUTES:
        found = f"{len(sources)} pairs of routers with hosts"
        raise InputError(topology.name, found, f"at most {MOST_ROUTES} to check for deadlock")
    return cycle_of_waits(*_waits(inside, routing, sources, targets, count), count)


def _waits(
    topology: Topology, routing: Routing, sources: Ints, targets: Ints, num_channels: int
) -> tuple[Ints, Ints]:
    """Return what is held and what is asked for on the paths of some pairs, each two once."""
    found, listed = np.zeros(0, np.int64), 0
    step = PAIRS_AT_ONCE // 256 if routing.several else PAIRS_AT_ONCE
    for first in range(0, len(sources), step):
        some = slice(first, first + step)
        routed = paths(topology, routing, sources[some], targets[some])
        listed += len(routed)
        if listed > MOST_LISTED:
            over = f"over {MOST_LISTED:,} paths"
            raise InputError(f"routing {routing} on {topology.name}", over, "fewer to follow")
        held, asked = dependencies(routed)
        found = np.union1d(found, held.astype(np.int64) * num_channels + asked)
    return np.divmod(found, num_channels)
