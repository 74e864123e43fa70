"""OpenSM's updn and dnup: routers have ranks, and no way turns twice."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.forwarding.end_points import end_points
from netloom.routing.forwarding.opensm import (
    DOWN,
    EQUAL,
    UP,
    counted_table,
    hops_from,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Ints
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology

MOST_HOPS = 64
"""Most hops of a way in a subnet."""


def updn(topology: Topology, roots: Sequence[int] | None = None) -> ForwardingTable:
    """Return the table of OpenSM's up/down engine, entry for entry.

    Ranks are hops from the nearest root. No way goes up again, to a router of lower rank, once it
    has gone down. Of two neighbours of one rank the one of the higher GUID is the upper. Among
    the shortest such ways ports are used alike, as ``minhop`` does.

    Parameters
    ----------
    roots
        Numbers of routers, as an administrator's file of roots (``opensm -a``) names them. Without
        them those that ``found_roots`` finds.

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
    reason = "" if roots else updn_falls_back(topology)
    if reason:
        found = f"{topology.name}, where {reason}, so that OpenSM configures minhop"
        raise InputError("routing updn", found, "a tree; or minhop itself")
    found_or_given = found_roots(topology) if not roots else np.array(roots)
    rank, inside = hops_from(topology, found_or_given), topology.routers
    place = _by_guid(topology)
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

    ends, inside = end_points(topology), topology.routers
    adapters = np.bincount(ends.exit[: ends.num_apart], minlength=topology.num_routers)
    seen = ends_by_distance(adapters, inside.channel_source, *inside.incoming(), MOST_HOPS)
    most = (seen > 0.9 * ends.num_apart).sum(axis=1) == 1
    alone = (seen > 0.05 * ends.num_apart).sum(axis=1) == 1
    return np.flatnonzero(most & alone)


def dnup(topology: Topology) -> ForwardingTable:
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
    ends, inside = end_points(topology), topology.routers
    rank = hops_from(topology, np.unique(ends.exit[: ends.num_apart]))
    here, there = rank[inside.channel_target], rank[inside.channel_source]
    directions = np.where(here < there, DOWN, np.where(here > there, UP, EQUAL)).astype(np.int8)
    return counted_table(topology, "dnup", directions=directions, barred=UP)


def _by_guid(topology: Topology) -> Ints:
    """Return the place of each router among all by GUID, or by number where they have none."""
    place = np.arange(topology.num_routers)
    if topology.cabling is not None:
        place[np.argsort(topology.cabling.router_guid, kind="stable")] = place.copy()
    return place
