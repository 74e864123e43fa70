"""Lanes of a forwarding table: which packets share buffers, and whether they wait in a circle."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.cycles import cycle_of_waits
from netloom.routing.forwarding.tables import (
    Choices,
    ForwardingTable,
    Lanes,
    port_senders,
    senders,
)
from netloom.topology.core import port_numbers, ranks

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.topology import Topology

MOST_LANES = 16
"""Most lanes (virtual lanes of data) and service levels that InfiniBand knows."""

MOST_COUNTED = 62
"""Most lanes that are tried where more than a fabric has are needed."""


class DependencyGraph(NamedTuple):
    """Which channels are held while which are asked for, free of circles in each of some lanes.

    The state of ``netloom.routing.kernels.acyclic``, for kernels. With C channels between routers
    and L lanes, vertex ``lane * C + c`` is channel c in a lane.

    Attributes
    ----------
    channel_source, channel_target
        int32[C], the routers that each channel leaves and enters.
    in_offsets, in_channels, out_offsets, out_channels
        The channels that enter and that leave each router, ragged.
    slot
        int32[C], the place of a channel among those that leave its source.
    uses
        int32[L * C, most channels that leave a router], how often the channel at each slot is asked
        for by what holds a channel.
    rank
        int32[L * C], the place of a channel in an order that each used dependency follows.
    seen, found, pool, stamp
        Scratch, int32[C] each. The number of the search before, int64[1].
    """

    channel_source: Ints
    channel_target: Ints
    in_offsets: Ints
    in_channels: Ints
    out_offsets: Ints
    out_channels: Ints
    slot: Ints
    uses: Ints
    rank: Ints
    seen: Ints
    found: Ints
    pool: Ints
    stamp: Ints


def dependency_graph(topology: Topology, num_lanes: int = 1) -> DependencyGraph:
    """Return an empty graph of dependencies between the channels of a network's routers.

    Examples
    --------
    >>> from netloom.routing.kernels.acyclic import insert
    >>> from netloom.topology import torus
    >>> graph = dependency_graph(torus(3))
    >>> [insert(graph, 0, held, 0) for held in (0, 1, 2)]  # 0 -> 1 -> 2 -> 0
    [True, True, False]
    """
    inside = topology.routers
    count = inside.num_channels
    offsets, leaving = inside.outgoing()
    most = int(np.diff(offsets).max(initial=0))
    return DependencyGraph(
        inside.channel_source, inside.channel_target, *inside.incoming(), offsets, leaving,
        ranks(offsets, leaving), np.zeros((num_lanes * count, most), np.int32),
        np.tile(np.arange(count, dtype=np.int32), num_lanes),
        np.zeros(count, np.int32), np.empty(count, np.int32), np.empty(count, np.int32),
        np.zeros(1, np.int64),
    )  # fmt: skip


def layered(
    topology: Topology, next_channel: Ints, *, others: Ints | None = None, most: int = MOST_LANES
) -> Lanes:
    """Return lanes in which the packets of a table never wait for each other in a circle.

    All ports send to all others, those of one adapter included, as OpenSM takes it. Destination by
    destination, the path from each router with hosts goes into the first lane whose
    dependencies stay free of circles with it. A packet's lane is its service level.

    Parameters
    ----------
    topology
        The network.
    next_channel
        int32[num_destinations, num_routers], as in ``ForwardingTable``.
    others
        The same to other end points (``Cabling.others``, and more rows that are not looked at):
        these then communicate, too, and ``Lanes.level`` has rows for them behind those of hosts.
    most
        Most lanes that there are.

    Raises
    ------
    InputError
        If more lanes are needed, saying how many, or if the table leads in a circle.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import torus
    >>> net = torus(5)
    >>> int(layered(net, ENGINES["minhop"](net).next_channel).level.max())
    1
    """
    from netloom.routing.kernels.lanes import first_fit

    table, sent = _to_all(topology, next_channel, others, port_senders(topology))
    level = np.zeros(table.shape, np.uint8)
    if not topology.num_network_channels:
        return Lanes(level)
    for lanes in (most, MOST_COUNTED):
        graph = dependency_graph(topology, lanes)
        used = first_fit(table, sent, graph, np.zeros(graph.uses.shape, np.bool_), level)
        if 0 <= used <= most:
            return Lanes(level)
        if used == -2:
            found = "a table that leads packets in a circle"
            raise InputError(topology.name, found, "one that leads to its destinations")
    needed = f"over {MOST_COUNTED}" if used < 0 else str(used)
    found = f"a table that needs {needed} lanes to be free of deadlock"
    raise InputError(topology.name, found, f"one that needs at most {most}")


def lanes_used(table: ForwardingTable) -> int:
    """Return how many lanes the packets of a table take: one more than the highest.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import torus
    >>> lanes_used(ENGINES["minhop"](torus(5)))
    1
    """
    if table.lanes is None:
        return 1
    if table.lanes.lane_of is None:
        return int(table.lanes.level.max(initial=0)) + 1
    levels = np.unique(table.lanes.level)
    return int(table.lanes.lane_of[..., levels].max(initial=0)) + 1


def lane_circle(
    topology: Topology, table: ForwardingTable, *, everyone: bool = False
) -> tuple[tuple[int, int], ...]:
    """Return channels with lanes that packets can wait for in a circle, or () if there are none.

    All ports send to all others, as OpenSM takes it, whichever ports are nearest to each other: by
    the table of a function, the nearest. A circle of choices is a danger, not yet a proof of a
    deadlock (Duato 1993).

    Parameters
    ----------
    topology
        The network.
    table
        Its forwarding table, with lanes or without.
    everyone
        Whether the other end points of a subnet (``Cabling.others``) send and receive like hosts.

    Returns
    -------
    tuple of (channel, lane)
        Each may be held while the next is asked for, the last while the first is.

    Raises
    ------
    InputError
        If ``everyone`` is asked for, and the table does not lead to other end points.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import torus
    >>> lane_circle(torus(5), ENGINES["minhop"](torus(5)))
    ((0, 0), (1, 0), (2, 0), (3, 0), (4, 0))
    """
    lanes = _numbered(table)
    waits = waits_of_table(topology, table, everyone=everyone)
    circle = cycle_of_waits(*waits, topology.num_network_channels * lanes)
    return tuple((vertex // lanes, vertex % lanes) for vertex in circle)


def waits_of_table(
    topology: Topology, table: ForwardingTable, *, everyone: bool = False
) -> tuple[Ints, Ints]:
    """Return what packets hold and what they ask for: see ``lane_circle``.

    Returns
    -------
    held, asked
        int64[] both, ``channel * lanes + lane``, of as many lanes as the table takes, or all that
        there are where they change on the way. None comes twice.
    """
    from netloom.routing.kernels.waits import table_waits

    inside, others = topology.routers, None
    if everyone and topology.cabling is not None and len(topology.cabling.others):
        others = table.others
        if others is None:
            found = f"no ways to the {len(topology.cabling.others)} other end points"
            raise InputError(f"routing {table}", found, "a table of all end points")
    offsets, leaving = inside.outgoing()
    level, lane_of = np.zeros((0, 0), np.uint8), np.zeros((0, 0, 0, 0), np.uint8)
    if table.lanes is not None:
        level = table.lanes.level
    # where lanes stay as they are, it is one by which ports packets come and go
    entries = np.arange(topology.num_routers + 1), np.zeros(topology.num_routers, np.int32)
    out_port = in_port = np.zeros(inside.num_channels, np.int32)
    if table.lanes is not None and table.lanes.lane_of is not None:
        lane_of, (out_port, in_port) = table.lanes.lane_of, port_numbers(topology)
        entries = _entry_ports(topology, in_port, everyone=others is not None)
    lanes = _numbered(table)
    most = int(np.diff(offsets).max(initial=0))
    waits = np.zeros((inside.num_channels * lanes, most), np.uint16)
    choices = table.choices or Choices(np.zeros(1, np.int64), np.zeros(0, np.int32))
    sent = port_senders(topology) if table.choices is None else senders(topology)
    rows, sent = _to_all(topology, table.next_channel, others, sent)
    table_waits(
        rows, choices, sent, entries, level, lane_of,
        (inside.channel_target, ranks(offsets, leaving), out_port, in_port), waits,
    )  # fmt: skip
    held, slot = np.nonzero(waits)
    lane, at = np.nonzero(waits[held, slot] >> np.arange(lanes, dtype=np.uint16)[:, None] & 1)
    held, slot = held[at], slot[at]
    asked = leaving[offsets[inside.channel_target[held // lanes]] + slot].astype(np.int64)
    return held, asked * lanes + lane


def _numbered(table: ForwardingTable) -> int:
    """Return how many lanes of each channel ``waits_of_table`` numbers."""
    switched = table.lanes is not None and table.lanes.lane_of is not None
    return MOST_LANES if switched else lanes_used(table)


def _to_all(
    topology: Topology, next_channel: Ints, others: Ints | None, sent: Ints
) -> tuple[Ints, Ints]:
    """Return the rows of a table to all end points that count, and how many ports send to each.

    ``others`` are the rows to those that are no hosts, if they count, and ``sent`` how many hosts
    send. The second is int64[num_routers, rows], or [num_routers, 1] if that is the same for all.
    """
    if sent.shape[1] == 1:
        own = topology.injection_router
        apart = (sent[own, 0] == 1) & (own != topology.ejection_router)
        if apart.any():  # the one port of a router sends nothing to itself at another
            sent = np.repeat(sent, topology.num_ports, axis=1)
            sent[own[apart], np.flatnonzero(apart)] = 0
    if others is None or topology.cabling is None:
        return next_channel, sent
    many = len(topology.cabling.others)
    more = np.bincount(topology.cabling.others.router, minlength=topology.num_routers)
    if sent.shape[1] > 1:
        every = np.repeat(sent.max(axis=1, keepdims=True), many, axis=1)
        sent = np.concatenate([sent, every], axis=1)
    return np.concatenate([next_channel, others[:many]]), sent + more[:, None]


def _entry_ports(topology: Topology, in_port: Ints, *, everyone: bool) -> tuple[Ints, Ints]:
    """Return the ports by which sources send into each router, ragged."""
    routers, numbers = topology.injection_router, np.zeros(topology.num_ports, np.int32)
    listed = np.split(in_port[topology.num_network_channels :], 2)[0]
    numbers[: len(listed)] = listed
    if everyone and topology.cabling is not None:
        routers = np.append(routers, topology.cabling.others.router)
        numbers = np.append(numbers, topology.cabling.others.port)
    order = np.argsort(routers, kind="stable")
    counts = np.bincount(routers, minlength=topology.num_routers)
    return np.append(0, np.cumsum(counts, dtype=np.int64)), numbers[order]
