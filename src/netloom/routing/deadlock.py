"""Can packets wait for each other in a circle? The channel-dependency graph answers.

A routing function with a single queue per channel may deadlock exactly if there is a cycle of
channels in which each may be held while the next is requested. See Dally & Seitz, *Deadlock-free
message routing in multiprocessor interconnection networks*, 1987.

Layers of virtual channels keep routings with choices free of deadlock. A packet begins in the
lowest layer and never goes back to a lower one. If the graph of (channel, layer) has no circle,
packets cannot deadlock, whatever they choose. Layers by hops: Günther, *Prevention of deadlocks in
packet-switched data transport systems*, 1981. By global channels, on dragonflies: Kim, Dally, Scott
& Abts 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError, NoRouteError
from netloom.routing.cycles import cycle_of_waits, dependencies, dependency_cycle
from netloom.routing.dimension_order import DimensionOrder
from netloom.routing.forwarding.lanes import lane_circle, waits_of_table
from netloom.routing.forwarding.tables import ForwardingTable
from netloom.routing.hosted import router_pairs
from netloom.routing.parse import MOST_ROUTES, Routing, all_pairs, all_routes, paths
from netloom.routing.route_tables import shortest_rows
from netloom.routing.rules import (
    DModK,
    Ecmp,
    Layered,
    Minimal,
    MinimalGroup,
    RandomUp,
    ShortestPath,
    SModK,
    Spread,
    UpDown,
    Valiant,
    detour,
    host_routers,
    minimal_ways,
    spread_table,
    ways_of,
)
from netloom.routing.source_routing import SourceRoutes
from netloom.routing.ways import JOINED, is_hyperx
from netloom.topology import Cube, Topology
from netloom.topology.core import TreeShape

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Bools, Ints
    from netloom.routing.ways import Ways


MOST_FLAGS = 2**28
"""Most flags of (channel, layer, next channel) that are looked at."""

PLAIN, GLOBALS, HOPS = "one layer", "one more behind a global channel", "one for each hop"


class Part(NamedTuple):
    """The layers of one part of packets' ways: all of it, or one side of a drawn router or group.

    Attributes
    ----------
    rule
        How packets go from layer to layer.
    layers
        How many there are.
    rises
        bool[num_network_channels], the channels behind which packets are one layer higher.
    circle
        Channels that packets of this part could wait for in a circle if they had one layer. Empty
        if they could not.
    """

    rule: str
    layers: int
    rises: Bools
    circle: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Layering:
    """Layers of virtual channels in which a routing is free of deadlock.

    Attributes
    ----------
    routing
        The routing's name.
    parts
        One part, or two where packets travel by way of a drawn router or group: the second one's
        layers are above the first one's.
    """

    routing: str
    parts: tuple[Part, ...]

    @property
    def layers(self) -> int:
        """How many layers there are in all: the virtual channels that suffice."""
        return sum(part.layers for part in self.parts)

    def __repr__(self) -> str:
        rules = "; ".join(f"{part.layers}: {part.rule}" for part in self.parts)
        return f"<{self.routing}: {self.layers} layers ({rules})>"


def layers_needed(topology: Topology, routing: Routing) -> Layering:
    """Return layers of virtual channels that keep a routing with choices free of deadlock.

    The first of three rules is taken that leaves no circle: one layer. On dragonflies one more
    behind each global channel. One for each hop, which never has one. The first two are proved by
    following packets between all routers of hosts through all choices. There may be rules of fewer
    layers: on rings, datelines (``virtual_channel_routing``).

    Parameters
    ----------
    topology
        The network.
    routing
        ``Minimal``, ``MinimalGroup``, ``Valiant``, or dimension order on a HyperX. For others,
        ``find_deadlock`` answers.

    Raises
    ------
    InputError
        If the routing is another or does not fit the network, or the network is too large.
    NoRouteError
        If there is no way between two routers of hosts.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> layers_needed(topology("dragonfly:2x4x2"), Valiant("groups"))
    <valiant-group: 3 layers (1: one layer; 2: one more behind a global channel)>
    """
    hosts = np.zeros(topology.num_routers, np.bool_)
    hosts[host_routers(topology)] = True
    if isinstance(routing, Valiant):
        trip = detour(topology, routing)
        first, arrived = _part(topology, trip.ways, hosts, trip.goals, to_group=trip.to_group)
        goals = host_routers(topology)
        second, _ = _part(topology, trip.ways, hosts | arrived, goals)
        return Layering(str(routing), (first, second))
    if isinstance(routing, Minimal | MinimalGroup) or (
        isinstance(routing, DimensionOrder) and is_hyperx(topology)
    ):
        ways = ways_of(topology, routing)
        return Layering(str(routing), (_part(topology, ways, hosts, host_routers(topology))[0],))
    wanted = "minimal, minimal-group, valiant, or dimension order on a hyperx"
    raise InputError("routing", f"{routing} on {topology.name}", wanted)


def _part(
    topology: Topology, ways: Ways, entries: Bools, goals: Ints, *, to_group: bool = False
) -> tuple[Part, Bools]:
    """Return the layers of packets from some routers to goals, and where they arrive."""
    from netloom.routing.kernels.several_layers import layered_waits

    hops, in_one = 0, tuple[int, ...]()
    for rule, rises, most in _rules(ways):
        flags = len(rises) * most * int(np.diff(ways.out_offsets).max(initial=0))
        if flags > MOST_FLAGS:
            raise InputError(
                topology.name, f"{flags:,} pairs of channels", f"at most {MOST_FLAGS:,}"
            )
        waits, arrived, used, hops = layered_waits(
            ways, entries[None], goals, to_group, rises, most
        )
        if hops < 0:
            raise NoRouteError(int(np.argmax(entries)), int(goals[0]), JOINED)
        circle = cycle_of_waits(*_numbered(ways, waits, rises), len(rises) * most)
        in_one = circle if rule == PLAIN else in_one
        if used <= most and not circle:
            return Part(rule, max(used, 1), rises, in_one), arrived
    return Part(HOPS, max(hops, 1), np.ones(len(ways.source), np.bool_), in_one), arrived


def _numbered(ways: Ways, waits: Bools, rises: Bools) -> tuple[Ints, Ints]:
    """Return what is held and asked for as ``channel * layers + layer``, given flags of slots."""
    held, layer, slot = np.nonzero(waits)
    asked = ways.out_channels[ways.out_offsets[ways.target[held]] + slot]
    layers = waits.shape[1]
    return held * layers + layer, asked * layers + layer + rises[held]


def _rules(ways: Ways) -> Iterator[tuple[str, Bools, int]]:
    """Yield rules, the channels behind which packets rise, and the most layers to look at."""
    crossing = ways.group[ways.source] != ways.group[ways.target]
    yield PLAIN, np.zeros(len(crossing), np.bool_), 1
    if crossing.any():
        yield GLOBALS, crossing, 2


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
    if isinstance(routing, DimensionOrder) and isinstance(inside, Cube) and _all_send(topology):
        return _ring_cycle(inside)
    if isinstance(routing, ShortestPath) and _all_send(topology):
        if inside.num_routers * inside.num_channels > MOST_STEPS:
            found = f"{inside.num_routers} nodes times {inside.num_channels} channels"
            raise InputError(topology.name, found, f"at most {MOST_STEPS} to check for deadlock")
        return cycle_of_waits(*_shortest_waits(inside), inside.num_channels)
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
        routing = ForwardingTable(str(routing), spread_table(topology))
    if isinstance(routing, ForwardingTable):
        return tuple(channel for channel, _ in lane_circle(topology, routing))
    if isinstance(routing, Minimal):
        return cycle_of_waits(*_minimal_waits(topology), count)
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


def _shortest_waits(topology: Topology) -> tuple[Ints, Ints]:
    """Return what is held and asked for by ``ShortestPath`` between all nodes, each two once."""
    found = np.zeros(0, np.int64)
    nodes, step = topology.num_routers, max(ENTRIES_AT_ONCE // topology.num_routers, 1)
    for first in range(0, nodes, step):
        rows = shortest_rows(topology, np.arange(first, min(first + step, nodes)))
        held, asked = waits_of_table(topology, ForwardingTable("shortest-path", rows))
        found = np.union1d(found, held * topology.num_channels + asked)
    return np.divmod(found, topology.num_channels)


def _minimal_waits(topology: Topology) -> tuple[Ints, Ints]:
    """Return what is held and asked for on all shortest paths between hosts, each two once."""
    from netloom.routing.kernels.several_layers import layered_waits

    ways, (entry, leave) = minimal_ways(topology), router_pairs(topology)
    goals, row = np.unique(leave, return_inverse=True)
    entries = np.zeros((len(goals), topology.num_routers), np.bool_)
    entries[row, entry] = True
    rises = np.zeros(len(ways.source), np.bool_)
    waits, *_ = layered_waits(ways, entries, goals, to_group=False, rises=rises, num_layers=1)
    return _numbered(ways, waits, rises)


def _all_send(topology: Topology) -> bool:
    """Whether packets go from every router to every other."""
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
