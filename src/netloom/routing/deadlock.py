"""Can packets wait for each other in a circle? The channel-dependency graph answers.

A routing function that uses each channel's single queue is free of deadlock if and only if no
cycle of channels exists in which each may be held while the next is asked for (Dally & Seitz,
*Deadlock-free message routing in multiprocessor interconnection networks*, 1987).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.routing.dimension_order import DimensionOrder
from netloom.routing.layered import Layered
from netloom.routing.parse import Routing, all_routes
from netloom.routing.source_routing import SourceRoutes
from netloom.routing.trees import DModK, RandomUp, SModK
from netloom.routing.up_down import UpDown
from netloom.topology import Cube, Topology

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.routing.ragged import Paths

MOST_STEPS = 2**30
"""Largest nodes × channels of a general network whose shortest-path table is searched."""


def find_deadlock(topology: Topology, routing: Routing) -> tuple[int, ...]:
    """Return a cycle of channels in which this routing can deadlock, or () when it cannot.

    One virtual channel a channel is assumed; datelines and escape channels are what removes the
    cycles that this finds. All pairs of nodes may communicate (with given routes: those that
    have one).

    Raises
    ------
    InputError
        If a general network has too many nodes to follow the paths of all pairs.

    Examples
    --------
    >>> from netloom.topology import mesh, torus
    >>> find_deadlock(mesh(8, 8), DimensionOrder())
    ()
    >>> find_deadlock(torus(4), DimensionOrder())
    (0, 1, 2, 3)
    """
    if isinstance(routing, DimensionOrder) and isinstance(topology, Cube):
        return _ring_cycle(topology)
    if isinstance(routing, UpDown | DModK | SModK | RandomUp):
        return ()  # their paths take channels in one order: see there
    if routing.several:
        found = f"{routing}, by which pairs have several paths"
        raise InputError("routing", found, "a routing of one path a pair")
    if isinstance(routing, Layered):
        routing = all_routes(topology, routing)
    if isinstance(routing, SourceRoutes):
        return dependency_cycle(routing.routes, topology.num_channels)
    if topology.num_vertices * topology.num_channels > MOST_STEPS:
        found = f"{topology.num_vertices} nodes times {topology.num_channels} channels"
        raise InputError(topology.name, found, f"at most {MOST_STEPS} to check for deadlock")
    from netloom.routing.kernels.shortest_path import table_waits

    outgoing = topology.outgoing()
    ends = (topology.channel_source, topology.channel_target)
    held, slot = np.nonzero(table_waits(ends, *topology.incoming(), *outgoing))
    asked = outgoing[1][outgoing[0][topology.channel_target[held]] + slot]
    return cycle_of_waits(held, asked, topology.num_channels)


def dependency_cycle(routed: Paths, num_channels: int) -> tuple[int, ...]:
    """Return a cycle of the channel-dependency graph of these paths, or () when there is none.

    Each of its channels some packet may hold while it waits for the next; the last waits for
    the first.
    """
    inside = np.ones(len(routed.channels), bool)
    inside[routed.offsets[1:][np.diff(routed.offsets) > 0] - 1] = False
    at = np.flatnonzero(inside)
    return cycle_of_waits(routed.channels[at], routed.channels[at + 1], num_channels)


def cycle_of_waits(
    held: NDArray[np.integer[Any]], asked: NDArray[np.integer[Any]], num_channels: int
) -> tuple[int, ...]:
    """Return a cycle among these dependencies, or ()."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    shape = (num_channels, num_channels)
    waits = coo_array((np.ones(len(held), np.int8), (held, asked)), shape=shape)
    _, part = connected_components(waits, connection="strong")
    knotted = part[held] == part[asked]
    following = dict(zip(held[knotted].tolist(), asked[knotted].tolist(), strict=True))
    return _walk_to_cycle(following)


def _walk_to_cycle(following: dict[int, int]) -> tuple[int, ...]:
    """Follow one successor of each channel, all within one knot, until a channel comes again."""
    if not following:
        return ()
    seen: dict[int, int] = {}
    channel = min(following)
    while channel not in seen:
        seen[channel] = len(seen)
        channel = following[channel]
    return tuple(list(seen)[seen[channel] :])


def _ring_cycle(topology: Cube) -> tuple[int, ...]:
    """Under dimension order only a ring can close a cycle, and only one of 4 nodes or more.

    On a ring of 3 no minimal path has two hops, so no channel is held while another is awaited.
    """
    for axis, (side, wrap) in enumerate(zip(topology.sides, topology.wraps, strict=True)):
        if wrap and side >= 4:
            first = int(topology.line_base[axis, 0])
            return tuple(range(first, first + side))
    return ()
