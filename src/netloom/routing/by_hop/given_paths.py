"""All paths of a routing between hosts, listed, and layers of virtual channels for their hops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import DeadlockError, InputError
from netloom.routing.by_hop.births import PathBirths
from netloom.routing.cycles import cycle_of_waits, dependencies
from netloom.routing.deadlock import in_one_order
from netloom.routing.hosted import between_routers
from netloom.routing.layered import Layered, ShortestPath, layers
from netloom.routing.parse import MOST_ROUTES, all_pairs, paths
from netloom.routing.ragged import Paths
from netloom.routing.route_tables import MOST_PORTS
from netloom.routing.source_routing import SourceRoutes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.routing.parse import Routing
    from netloom.topology import Topology

MOST_HOPS = 2**26
"""Most hops of paths that are kept, some 300 MB."""

MOST_SOUGHT = 2**20
"""Most hops for which as few layers as possible are sought, unless VCs are too few otherwise."""


def listed_paths(topology: Topology, routing: Routing) -> PathBirths:
    """Return all paths of a routing between the hosts of a network.

    If a path depends only on the routers at its ends, return the paths between routers.

    Raises
    ------
    InputError
        If there are too many.
    NoRouteError
        If a pair has none.
    """
    if isinstance(routing, SourceRoutes):
        return _births(topology, routing, routing.pairs, routing.routes)
    if by_routers(topology, routing):
        routers, first = np.unique(topology.injection_router, return_index=True)
        hosts = topology.port_host[first]
        if len(hosts) ** 2 > MOST_ROUTES:
            found = f"{len(hosts)} routers with hosts for routing '{routing}'"
            most = f"at most {int(MOST_ROUTES**0.5)}"
            raise InputError(topology.name, found, f"{most} to list the paths between all of them")
        one, other = np.nonzero(~np.eye(len(hosts), dtype=np.bool_))
        keys = routers[one].astype(np.int64) * topology.num_routers + routers[other]
        return _births(topology, routing, keys, paths(topology, routing, hosts[one], hosts[other]))
    sources, targets = all_pairs(topology, str(routing))
    keys = sources.astype(np.int64) * topology.num_hosts + targets
    return _births(topology, routing, keys, paths(topology, routing, sources, targets))


def by_routers(topology: Topology, routing: Routing) -> bool:
    """Whether a path depends on nothing but the routers where it enters and leaves."""
    if not isinstance(routing, ShortestPath | Layered) or topology.num_ports != topology.num_hosts:
        return False
    return bool((topology.injection_router == topology.ejection_router).all())


def _births(topology: Topology, routing: Routing, keys: Ints, found: Paths) -> PathBirths:
    """Return what packets draw, given all paths with the channels of hosts."""
    inner = between_routers(topology, found)
    if len(inner.channels) > MOST_HOPS:
        hops = f"paths of {len(inner.channels):,} hops for routing '{routing}'"
        raise InputError(topology.name, hops, f"at most {MOST_HOPS:,} to list them")
    offsets = np.append(inner.offsets, inner.offsets[-1])
    ports = None
    if not by_routers(topology, routing):
        first, count = topology.num_network_channels, topology.num_ports
        begin, end = found.offsets[:-1], found.offsets[1:] - 1
        ports = np.stack([found.channels[begin] - first, found.channels[end] - first - count])
    return PathBirths(topology, str(routing), keys, Paths(offsets, inner.channels), ports)


def hop_layers(
    topology: Topology, routing: Routing, routed: Paths, num_vcs: int
) -> tuple[NDArray[np.uint8], int]:
    """Return the layer of virtual channels of each hop, and how many layers there are.

    One layer where packets cannot wait for each other in a circle. Otherwise the layers of
    ``Layered``, or one layer for each hop of a path, which always suffices.

    Parameters
    ----------
    topology, routing
        The network and the routing.
    routed
        Paths between routers.
    num_vcs
        How many layers there can be.

    Raises
    ------
    DeadlockError
        If more layers are needed, with the circle in one.
    """
    hops = len(routed.channels)
    if in_one_order(topology, routing):
        return np.zeros(hops, np.uint8), 1
    circle = _circle(topology, routed)
    if not circle:
        return np.zeros(hops, np.uint8), 1
    needed = []
    for layer in _layerings(topology, routed):
        count = int(layer.max()) + 1
        if count <= num_vcs:
            return layer.astype(np.uint8), count
        needed.append(count)
    named = tuple(topology.channel_name(channel) for channel in circle)
    where = f"{routing} on {topology.name} with {num_vcs} VC{'s' * (num_vcs > 1)}"
    raise DeadlockError(where, named, f"at least {min(needed)} VCs, or routing up-down")


def _layerings(topology: Topology, routed: Paths) -> Iterator[Ints]:
    """Yield layers of hops without a circle, int[num_hops] each, until one is good enough."""
    inside = topology.routers
    begin = np.repeat(routed.offsets[:-1], routed.lengths)
    by_hop = np.arange(len(routed.channels)) - begin
    if len(by_hop) > MOST_SOUGHT:
        yield by_hop
    if np.bincount(inside.channel_source).max() <= MOST_PORTS:
        yield layers(inside, routed.taken(np.flatnonzero(routed.lengths)))
    yield by_hop


def _circle(topology: Topology, routed: Paths) -> tuple[int, ...]:
    """Return channels that packets wait for in a circle, or ()."""
    count = topology.num_network_channels
    held, asked = dependencies(routed)
    waits = np.unique(held.astype(np.int64) * count + asked)
    return cycle_of_waits(*np.divmod(waits, count), count)
