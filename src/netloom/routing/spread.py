"""Shortest paths on any network, spread evenly by a forwarding table.

A forwarding table says for each destination and router the one channel that packets take next.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.forwarding.tables import (
    MOST_ENTRIES,
    ForwardingTable,
    exits,
    forwarded_paths,
    senders,
    table_dependencies,
)
from netloom.routing.ragged import Paths, offsets_of

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.topology import Topology

ROUNDS = 4
"""How often each destination chooses its paths."""

_TABLES: WeakKeyDictionary[Topology, Ints] = WeakKeyDictionary()


@dataclass(frozen=True)
class Spread:
    """Shortest paths, spread so that channels are about as busy when all hosts send to all others.

    Destinations choose in their order, all paths to one at once. The cost of a channel is (paths
    that take it to other destinations / bandwidth)⁴. Every router takes the shortest path with the
    lowest cost. Ties go to the lowest-numbered channel. Then each destination gives up its paths
    and chooses again, three times. The method follows Hoefler, Schneider & Lumsdaine, *Optimized
    routing for large-scale InfiniBand networks*, 2009, who choose once, and by the load itself.

    Paths are shortest in hops, the same for a pair whatever else communicates, and depend on the
    router and the destination alone, as routers' forwarding tables must. They may deadlock:
    ``find_deadlock`` tells. On full fat trees no channel has more paths than under ``DModK``.
    """

    several: ClassVar[bool] = False

    def __str__(self) -> str:
        return "spread"


def spread_paths(topology: Topology, sources: Ints, targets: Ints) -> Paths:
    """Return the path of every pair of hosts (see ``paths``).

    Raises
    ------
    InputError
        If the table would be too large.
    NoRouteError
        If a target cannot be reached.
    """
    return forwarded_paths(
        topology, ForwardingTable("spread", spread_table(topology)), sources, targets
    )


def followed(topology: Topology, entry: Ints, destinations: Ints) -> Paths:
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


def spread_table(topology: Topology) -> Ints:
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


def spread_waits(topology: Topology) -> tuple[Ints, Ints]:
    """Return what packets hold and what they ask for, each two channels in a row once.

    Raises
    ------
    InputError
        If the table would be too large.
    """
    return table_dependencies(topology, spread_table(topology))


def _made(topology: Topology) -> Ints:
    from netloom.routing.kernels.forwarding import spread_table as spread

    inside = topology.routers
    leaves = exits(topology)
    entries = len(leaves) * inside.num_vertices
    if entries > MOST_ENTRIES:
        found = f"{inside.num_vertices} routers times {len(leaves)} destinations"
        raise InputError(f"routing spread on {topology.name}", found, f"at most {MOST_ENTRIES:,}")
    wiring = (inside.channel_source, inside.channel_target, *inside.incoming(), *inside.outgoing())
    table: Ints = spread(
        leaves, senders(topology), np.ascontiguousarray(inside.channel_bandwidth), wiring, ROUNDS
    )
    return table
