"""Shortest paths on any network, spread evenly by a forwarding table.

A forwarding table says for each destination and router the one channel that packets take next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from netloom.errors import InputError
from netloom.routing.cycles import slots_of
from netloom.routing.hosted import PAIRS_AT_ONCE, legs, spliced
from netloom.routing.ragged import Paths, offsets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.topology import Topology

MOST_ENTRIES = 2**26
"""Most routers × destinations of a forwarding table."""

ROUNDS = 4
"""How often each destination chooses its paths."""

_TABLES: WeakKeyDictionary[Topology, NDArray[np.int32]] = WeakKeyDictionary()


@dataclass(frozen=True)
class Spread:
    """Shortest paths, spread so that channels are about as busy when all hosts send to all others.

    Destinations choose in their order, all paths to one at once: a channel costs the fourth power
    of (paths that take it to other destinations / bandwidth), and every router takes the shortest
    path that costs least, of several the channel of the lowest number. Then each gives up its paths
    and chooses again, three times. After Hoefler, Schneider & Lumsdaine, *Optimized routing for
    large-scale InfiniBand networks*, 2009, who choose once, and by the load itself.

    Paths are shortest in hops, the same for a pair whatever else communicates, and depend on the
    router and the destination alone, as routers' forwarding tables must. They may deadlock:
    ``find_deadlock`` tells. On full fat trees no channel has more paths than under ``DModK``.
    """

    several: ClassVar[bool] = False

    def __str__(self) -> str:
        return "spread"


def spread_paths(
    topology: Topology, sources: NDArray[np.int32], targets: NDArray[np.int32]
) -> Paths:
    """Return the path of every pair of hosts (see ``paths``).

    Raises
    ------
    InputError
        If the table would be too large.
    NoRouteError
        If a target cannot be reached.
    """
    from netloom.routing.kernels.forwarding import fill_followed, follow_lengths

    table, ends = spread_table(topology), legs(topology, sources, targets)
    destinations = _destinations(topology, targets, ends.ejection)
    enters = topology.routers.channel_target
    lengths, last = follow_lengths(table, destinations, ends.entry, enters)
    lengths[last != ends.exit] = -1
    lengths[sources == targets] = 0
    offsets = offsets_of(lengths, sources, targets, "hosts that can reach each other")
    found = fill_followed(table, destinations, ends.entry, offsets, enters)
    return spliced(ends, Paths(offsets, found))


def followed(
    topology: Topology, entry: NDArray[np.int32], destinations: NDArray[np.int32]
) -> Paths:
    """Return the paths from routers to rows of ``spread_table``, without channels of ports.

    Raises
    ------
    NoRouteError
        If there is no way, naming the routers.
    """
    from netloom.routing.kernels.forwarding import fill_followed, follow_lengths

    table, enters = spread_table(topology), topology.routers.channel_target
    leave = destinations if topology.direct else topology.ejection_router[destinations]
    lengths, last = follow_lengths(table, destinations, entry, enters)
    lengths[last != leave] = -1
    offsets = offsets_of(lengths, entry, leave, "hosts that can reach each other")
    return Paths(offsets, fill_followed(table, destinations, entry, offsets, enters))


def spread_table(topology: Topology) -> NDArray[np.int32]:
    """Return the forwarding table of ``Spread``: see there.

    Returns
    -------
    int32[num_ports, num_routers]
        The channel by which a packet to each host port leaves each router; -1 where it has arrived
        or there is no way. In a direct network, int32[num_hosts, num_hosts].

    Raises
    ------
    InputError
        If there are more than ``MOST_ENTRIES`` entries.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> spread_table(topology("leaf-spine:2x2x2"))[2:]
    array([[ 0, -1,  5,  7],
           [ 1, -1,  5,  7]], dtype=int32)
    """
    if topology not in _TABLES:
        _TABLES[topology] = _made(topology)
    return _TABLES[topology]


def spread_waits(topology: Topology) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """Return what packets hold and what they ask for, each two channels in a row once.

    Raises
    ------
    InputError
        If the table would be too large.
    """
    from netloom.routing.kernels.forwarding import table_waits

    inside = topology.routers
    own = np.full(topology.num_ports or topology.num_hosts, -1, np.int32)
    if not topology.direct and len(np.unique(topology.port_host)) == topology.num_ports:
        own = topology.injection_router  # whose one host is the destination itself
    waits = table_waits(
        spread_table(topology), _senders(topology), own, inside.channel_target, *inside.outgoing()
    )
    return slots_of(inside, waits)


def _made(topology: Topology) -> NDArray[np.int32]:
    from netloom.routing.kernels.forwarding import spread_table as spread

    inside = topology.routers
    exits = topology.ejection_router
    if topology.direct:
        exits = np.arange(topology.num_hosts, dtype=np.int32)
    entries = len(exits) * inside.num_vertices
    if entries > MOST_ENTRIES:
        found = f"{inside.num_vertices} routers times {len(exits)} destinations"
        raise InputError(f"routing spread on {topology.name}", found, f"at most {MOST_ENTRIES:,}")
    wiring = (inside.channel_source, inside.channel_target, *inside.incoming(), *inside.outgoing())
    table: NDArray[np.int32] = spread(
        exits, _senders(topology), np.ascontiguousarray(inside.channel_bandwidth), wiring, ROUNDS
    )
    return table


def _destinations(
    topology: Topology, targets: NDArray[np.int32], ejection: NDArray[np.int32]
) -> NDArray[np.int32]:
    """Return the row of the table for each pair: the target's port, or the target itself."""
    if topology.direct:
        return targets
    # a pair of equal hosts has no port, and no path whatever its row
    return np.maximum(ejection - topology.num_network_channels - topology.num_ports, 0)


def _senders(topology: Topology) -> NDArray[np.int64]:
    """Return how many hosts send from each router to each destination.

    int64[num_routers, num_ports], or [num_routers, 1] where that is the same for all destinations.
    """
    if topology.direct:
        return topology.vertex_up.astype(np.int64)[:, None]
    counts = np.diff(topology.port_offsets)
    if counts.max(initial=0) <= 1:
        injects = topology.injection_router
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
