"""Can packets that are routed by hop wait for each other in a circle?

All packets are followed through all choices, detours and states. The vertices of the graph are
virtual channels. An arrow leads from each that a packet may hold to each that it may request
meanwhile (Dally & Seitz, *Deadlock-free message routing in multiprocessor interconnection
networks*, 1987). A packet may always request VCs of an escape, if there is one, and then never
leaves it. Only the escape must then be free of circles (Duato, *A new theory of deadlock-free
adaptive routing in wormhole networks*, 1993). Routers must then keep packets from waiting behind
others in adaptive VCs, as described in ``RouteTables``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.by_hop.tables import GIVEN, HopTables, channels_at_ports
from netloom.routing.cycles import cycle_of_waits

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Ints
    from netloom.topology import Topology

MOST_PLACES = 2**28
"""Most places, times goals of detours, that are followed: each takes a byte."""


class TooLargeError(InputError):
    """A network in which packets are not followed: it would take too much memory."""


class Followed(NamedTuple):
    """What packets do under a routing.

    Attributes
    ----------
    reached
        bool[S], the states in which packets come to a router.
    held, asked
        int64[arrows, 2], pairs of a channel and the number of VCs in ``masks``.
    masks
        int64[], different sets of VCs.
    """

    reached: Bools
    held: Ints
    asked: Ints
    masks: Ints


def hop_circle(topology: Topology, tables: HopTables) -> tuple[tuple[int, int], ...]:
    """Return a circle of virtual channels in which packets can deadlock, or () if there is none.

    The circle is of pairs (channel, VC), each of which may be held while the next is waited for,
    the last while the first is. It is exact but for detours: those from one class of routers to
    another are all taken to lead to every exit of that class.

    Raises
    ------
    TooLargeError
        If the network is too large.
    InputError
        If a packet finds no way.
    """
    found = followed(topology, tables)
    return circle_among(found.held, found.asked, found.masks)


def followed(topology: Topology, tables: HopTables) -> Followed:
    """Follow all packets of a routing by hop, those in its escape only where it has one.

    Raises
    ------
    TooLargeError
        If the network is too large.
    InputError
        If a packet finds no way.
    """
    from netloom.routing.kernels.followed import follow

    assert tables.choice != GIVEN, "given paths list their channels"
    assert len(tables.lengths) == len(tables.starts), "forwarding tables are checked elsewhere"
    assert not len(tables.level), "lanes by service level have a check of their own"
    outward, _ = channels_at_ports(topology)
    inside, states = topology.routers, len(tables.vcs)
    ends = np.stack([tables.exit_router, tables.sink_goal], axis=1)
    ends = np.unique(ends, axis=0).astype(np.int32)
    leads = _leads(tables)
    masks, mask = np.unique(tables.vcs, return_inverse=True)
    size = (inside.num_channels + inside.num_vertices) * states * max(len(leads), 1)
    arrows = inside.num_channels * len(masks) ** 2 * outward.shape[1]
    if max(size, arrows) > MOST_PLACES:
        wanted = "a smaller network, or a routing that is free of deadlock by a rule"
        raise TooLargeError(topology.name, "too many channels to look for circles in", wanted)
    waits, reached = np.zeros(arrows, np.uint8), np.zeros(states, np.uint8)
    begins = np.full(inside.num_vertices, -1, np.int16)
    if tables.escape_vcs:
        begins[:] = tables.escape_state
    else:
        begins[topology.injection_router] = 0
    wires = outward, inside.channel_target
    ways, router, last = follow(
        tables, wires, begins, ends, leads, mask.astype(np.int64), len(masks), waits, reached
    )
    if not ways:
        names = [topology.name_of(topology.router_vertex(int(each))) for each in (router, last)]
        raise InputError(topology.name, f"no way from {names[0]} to {names[1]}", "a connected one")
    channel, held, port, asked = np.unravel_index(
        np.flatnonzero(waits), (inside.num_channels, len(masks), outward.shape[1], len(masks))
    )
    behind = outward[inside.channel_target[channel], port]
    return Followed(
        reached.astype(bool),
        np.stack([channel, held], axis=1),
        np.stack([behind, asked], axis=1).astype(np.int64),
        masks,
    )


def circle_among(held: Ints, asked: Ints, masks: Ints) -> tuple[tuple[int, int], ...]:
    """Return a circle among arrows from channels in VCs to channels in VCs, or ().

    ``held`` and ``asked`` are int64[arrows, 2]: a channel, and which of ``masks`` its VCs are.

    Examples
    --------
    >>> circle_among(np.array([[0, 0], [1, 0]]), np.array([[1, 0], [0, 0]]), np.array([2]))
    ((0, 1), (1, 1))
    """
    shared = masks[None, :].view(np.uint64) >> np.arange(64, dtype=np.uint64)[:, None] & np.uint64(
        1
    )
    kinds, first = np.unique(shared, axis=0, return_index=True)
    first = first[kinds.any(axis=1)]  # one VC of each set of VCs that nothing tells apart
    some, count = shared[first].astype(bool), len(first)
    pairs = []
    for one in range(count):
        for other in range(count):
            both = some[one, held[:, 1]] & some[other, asked[:, 1]]
            pairs.append((held[both, 0] * count + one, asked[both, 0] * count + other))
    if not pairs:
        return ()
    before, after = (np.concatenate(each) for each in zip(*pairs, strict=True))
    many = int(max(before.max(initial=-1), after.max(initial=-1))) + 1
    circle = cycle_of_waits(before, after, many)
    return tuple((place // count, int(first[place % count])) for place in circle)


def _leads(tables: HopTables) -> Bools:
    """Return bool[detour goals, classes], whether packets to a class make a detour."""
    if not tables.detour:
        return np.zeros((0, tables.detour_classes), np.bool_)
    goals = int(tables.detours.max(initial=-1)) + 1
    leads = np.zeros((goals, tables.detour_classes), np.bool_)
    for row, start in enumerate(tables.detour_start.tolist()):
        drawn = tables.detours[start + 1 : start + 1 + tables.detours[start]]
        leads[drawn[drawn >= 0], row % tables.detour_classes] = True
    return leads
