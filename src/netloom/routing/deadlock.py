"""Can packets wait for each other in a circle? The channel-dependency graph answers.

A routing function with a single queue per channel may deadlock exactly if there is a cycle of
channels in which each may be held while the next is requested. See Dally & Seitz, *Deadlock-free
message routing in multiprocessor interconnection networks*, 1987.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.cycles import cycle_of_waits, dependencies, dependency_cycle, slots_of
from netloom.routing.dimension_order import DimensionOrder
from netloom.routing.ecmp import Ecmp
from netloom.routing.forwarding.lanes import lane_circle
from netloom.routing.forwarding.tables import ForwardingTable, table_dependencies
from netloom.routing.hosted import router_pairs
from netloom.routing.layered import Layered, ShortestPath
from netloom.routing.parse import MOST_ROUTES, Routing, all_pairs, all_routes, paths
from netloom.routing.route_tables import RouteTable, table_cycle
from netloom.routing.several import Minimal, Valiant, minimal_ways
from netloom.routing.several_layers import layers_needed
from netloom.routing.source_routing import SourceRoutes
from netloom.routing.spread import Spread, spread_waits
from netloom.routing.trees import DModK, RandomUp, SModK
from netloom.routing.up_down import UpDown
from netloom.routing.ways import is_hyperx
from netloom.topology import Cube, Topology
from netloom.topology.family import TreeShape

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
MOST_STEPS = 2**30
"""Largest nodes × channels of a general network whose shortest-path table is searched."""

MOST_LISTED = 2**22
"""Most paths that are followed one by one."""

PAIRS_AT_ONCE = 2**17
"""Pairs whose paths are listed at a time."""


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
    if isinstance(routing, RouteTable) and topology.direct:
        return table_cycle(topology, routing)
    if isinstance(routing, Layered) and topology.direct:
        routing = all_routes(topology, routing)
    if isinstance(routing, SourceRoutes):
        return dependency_cycle(routing.routes, topology.num_channels)
    if in_one_order(topology, routing):
        return ()
    inside = topology.routers
    if isinstance(routing, DimensionOrder) and isinstance(inside, Cube) and _all_send(topology):
        return _ring_cycle(inside)
    if isinstance(routing, ShortestPath) and topology.direct:
        return _shortest_path_cycle(topology)
    if isinstance(routing, Valiant):  # one part of packets' ways may do, without listing any
        for part in layers_needed(topology, routing).parts:
            if part.circle:
                return part.circle
    return listed_cycle(topology, routing)


def in_one_order(topology: Topology, routing: Routing) -> bool:
    """Whether all paths take channels in one order, as the routing or the network sees to."""
    if isinstance(routing, UpDown | DModK | SModK | RandomUp):
        return True
    if isinstance(routing, DimensionOrder):
        return is_hyperx(topology)
    shortest = isinstance(routing, ShortestPath | Layered | Spread | Ecmp | Minimal)
    return shortest and isinstance(topology.family, TreeShape) and not topology.broken


def listed_cycle(topology: Topology, routing: Routing) -> tuple[int, ...]:
    """Return what ``find_deadlock`` does for a routing by name, by following all paths.

    Raises
    ------
    InputError
        If there are too many pairs or paths.
    """
    count = topology.num_channels
    if isinstance(routing, Spread):
        return cycle_of_waits(*spread_waits(topology), count)
    if isinstance(routing, ForwardingTable) and routing.lanes is not None:
        return tuple(channel for channel, _ in lane_circle(topology, routing))
    if isinstance(routing, ForwardingTable):
        return cycle_of_waits(*table_dependencies(topology, routing.next_channel), count)
    if isinstance(routing, Minimal):
        return cycle_of_waits(*_minimal_waits(topology), count)
    by_routers = isinstance(routing, ShortestPath | Layered | DimensionOrder)
    if topology.direct or is_hyperx(topology) or not by_routers:
        sources, targets = all_pairs(topology, str(routing))
        return cycle_of_waits(*_waits(topology, routing, sources, targets, count), count)
    # which hosts hang on two routers makes no difference to the way between these
    inside, (sources, targets) = topology.routers, router_pairs(topology)
    if len(sources) > MOST_ROUTES:
        found = f"{len(sources)} pairs of routers with hosts"
        raise InputError(topology.name, found, f"at most {MOST_ROUTES} to check for deadlock")
    return cycle_of_waits(*_waits(inside, routing, sources, targets, count), count)


def _waits(
    topology: Topology,
    routing: Routing,
    sources: Ints,
    targets: Ints,
    num_channels: int,
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


def _minimal_waits(topology: Topology) -> tuple[Ints, Ints]:
    """Return what is held and what is asked for on all shortest paths between hosts."""
    from netloom.routing.kernels.deadlock import minimal_waits

    inside, (entry, leave) = topology.routers, router_pairs(topology)
    by_exit = np.argsort(leave, kind="stable")
    return slots_of(inside, minimal_waits(by_exit, entry, leave, minimal_ways(topology)))


def _shortest_path_cycle(topology: Topology) -> tuple[int, ...]:
    """Return a cycle of the table of ``ShortestPath`` between all nodes of a direct network."""
    if topology.num_vertices * topology.num_channels > MOST_STEPS:
        found = f"{topology.num_vertices} nodes times {topology.num_channels} channels"
        raise InputError(topology.name, found, f"at most {MOST_STEPS} to check for deadlock")
    from netloom.routing.kernels.shortest_path import table_waits

    ends = (topology.channel_source, topology.channel_target)
    waits = table_waits(ends, *topology.incoming(), *topology.outgoing())
    return cycle_of_waits(*slots_of(topology, waits), topology.num_channels)


def _all_send(topology: Topology) -> bool:
    """Whether packets go from every router to every other."""
    if topology.direct:
        return True
    ends = topology.injection_router, topology.ejection_router
    one_port = topology.num_ports == topology.num_hosts
    return one_port and all(len(np.unique(each)) == topology.num_routers for each in ends)


def _ring_cycle(topology: Cube) -> tuple[int, ...]:
    """Under dimension order only a ring can close a cycle, and only one of 4 nodes or more.

    On a ring of 3 no minimal path has two hops, so no channel is held while another is awaited.
    """
    for axis, (side, wrap) in enumerate(zip(topology.sides, topology.wraps, strict=True)):
        if wrap and side >= 4:
            first = int(topology.line_base[axis, 0])
            return tuple(range(first, first + side))
    return ()
