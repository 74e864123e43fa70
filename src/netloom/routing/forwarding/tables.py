"""A forwarding table as a routing: its paths, what it fails to reach, and what packets wait for.

A table says for each destination and router the one channel that packets take next, as the
switches of a subnet do. Destinations are the host ports of a network, in their order, and the nodes
of a direct network.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from netloom.routing.cycles import slots_of
from netloom.routing.hosted import PAIRS_AT_ONCE, legs, spliced
from netloom.routing.ragged import Paths, offsets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Ints
    from netloom.topology import Topology

MOST_ENTRIES = 2**26
"""Most routers × destinations of a forwarding table."""


@dataclass(frozen=True, eq=False)
class Lanes:
    """The virtual lanes of packets.

    Attributes
    ----------
    level
        uint8[num_destinations, num_routers], the service level (SL) of packets from the hosts of a
        router to a destination. It does not change on the way. Rows for the other end points of
        a subnet (``Cabling.others``) may follow. Their level is 0 where there are none.
    lane_of
        uint8[num_routers, ports, ports, 16], the lane (VL) by router, the ports by which packets
        come in and go out, and service level (``topology.cabling.port_numbers`` numbers ports).
        None where a packet's lane is its service level.
    """

    level: NDArray[np.uint8]
    lane_of: NDArray[np.uint8] | None = None


@dataclass(frozen=True, eq=False)
class ForwardingTable:
    """A routing that each router's table says, by destination alone.

    Attributes
    ----------
    name
        What ``parse_routing`` makes it from, such as ``minhop`` or ``lfts:FILE``.
    next_channel
        int32[num_destinations, num_routers], the channel between routers by which a packet to a
        host port (in a direct network, to a node) leaves each router. It is -1 if the packet has
        arrived or has no path.
    others
        int32[num_others + num_routers, num_routers], the same to the other end points of a subnet
        (``Cabling.others``), then to the routers themselves. None where nobody asked.
    lanes
        The lanes of packets. None where all take one.
    undelivered
        bool[num_destinations], where the last router's own entry does not lead to the destination.
        None where all do.
    astray
        int32[entries, 3], the entries by which packets vanish: row (of ``next_channel``, then of
        ``others``), router and port. The port leads neither to a router nor to the destination
        (255: the last router has no entry). None if there are none.
    """

    several: ClassVar[bool] = False

    name: str
    next_channel: Ints
    others: Ints | None = None
    lanes: Lanes | None = None
    undelivered: Bools | None = None
    astray: Ints | None = None

    def __str__(self) -> str:
        return self.name


def exits(topology: Topology) -> Ints:
    """Return the router of each destination: where packets to it leave the routers."""
    if topology.direct:
        return np.arange(topology.num_hosts, dtype=np.int32)
    return topology.ejection_router


def forwarded_paths(
    topology: Topology,
    routing: ForwardingTable,
    sources: Ints,
    targets: Ints,
) -> Paths:
    """Return the path of every pair of hosts (see ``paths``).

    Raises
    ------
    NoRouteError
        If the table does not lead to a target.
    """
    from netloom.routing.kernels.forwarding import fill_followed, follow_lengths

    table, ends = routing.next_channel, legs(topology, sources, targets)
    row = destinations(topology, targets, ends.ejection)
    enters = topology.routers.channel_target
    lengths, last = follow_lengths(table, row, ends.entry, enters)
    lengths[last != ends.exit] = -1
    if routing.undelivered is not None:
        lengths[routing.undelivered[row]] = -1
    lengths[sources == targets] = 0
    offsets = offsets_of(lengths, sources, targets, "hosts that can reach each other")
    found = fill_followed(table, row, ends.entry, offsets, enters)
    return spliced(ends, Paths(offsets, found))


def destinations(topology: Topology, targets: Ints, ejection: Ints) -> Ints:
    """Return the row of the table for each pair: the target's port, or the target itself."""
    if topology.direct:
        return targets
    # a pair of equal hosts has no port, and no path whatever its row
    return np.maximum(ejection - topology.num_network_channels - topology.num_ports, 0)


def senders(topology: Topology, taking: Ints | None = None) -> Ints:
    """Return how many hosts send from each router to each destination.

    int64[num_routers, num_ports], or [num_routers, 1] where that is the same for all destinations:
    the one host that is the destination itself counts. All hosts take part, or those ``taking``
    names.
    """
    takes = np.ones(topology.num_hosts, np.bool_)
    if taking is not None:
        takes = np.isin(np.arange(topology.num_hosts), taking)
    if topology.direct:
        sending = topology.vertex_up if taking is None else takes
        return sending.astype(np.int64)[:, None]
    counts = np.where(takes, np.diff(topology.port_offsets), 0)
    if counts.max(initial=0) <= 1:
        injects = topology.injection_router[counts[topology.port_host] > 0]
        return np.bincount(injects, minlength=topology.num_routers).astype(np.int64)[:, None]
    sent = np.zeros((topology.num_routers, topology.num_ports), np.int64)
    hosts = np.flatnonzero(counts).astype(np.int32)
    step = max(PAIRS_AT_ONCE // len(hosts), 1)
    for first in range(0, len(hosts), step):
        some = hosts[first : first + step]
        ends = legs(topology, np.tile(hosts, len(some)), some.repeat(len(hosts)))
        moving = ends.ejection >= 0
        port = ends.ejection[moving] - topology.num_network_channels - topology.num_ports
        np.add.at(sent, (ends.entry[moving], port), 1)
    return sent


def port_senders(topology: Topology) -> Ints:
    """Return how many ports send from each router: int64[num_routers, 1].

    Each port is an end point, as a subnet manager routes from each to the address of each. Those
    that are not nearest to any other count, too (``senders`` counts hosts by their nearest ports).
    The nodes of a direct network have one port each.
    """
    if topology.direct:
        return topology.vertex_up.astype(np.int64)[:, None]
    sent = np.bincount(topology.injection_router, minlength=topology.num_routers)
    return sent.astype(np.int64)[:, None]


def table_dependencies(topology: Topology, next_channel: Ints) -> tuple[Ints, Ints]:
    """Return what packets between ports hold and what they ask for, in one lane.

    Of all pairs of ports. Each two channels in a row once. For ``cycles.cycle_of_waits``.
    """
    from netloom.routing.kernels.forwarding import table_waits

    inside = topology.routers
    own = np.full(topology.num_hosts, -1, np.int32)
    if not topology.direct:
        own = topology.injection_router  # where the destination itself sends
    waits = table_waits(
        next_channel, port_senders(topology), own, inside.channel_target, *inside.outgoing()
    )
    return slots_of(inside, waits)
