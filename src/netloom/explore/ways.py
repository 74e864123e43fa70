"""How flows cross a network, in the least words that a page can follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.explore.view import Table
from netloom.routing import paths
from netloom.routing.forwarding.tables import ForwardingTable

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.explore.view import Flows
    from netloom.routing import Paths, Routing
    from netloom.topology import Topology

MOST_PAIRS = 1_100_000
"""Pairs of hosts of which a table is made by following every path."""

MOST_ENTRIES = 2**22
"""Hosts × routers of the largest table that a page has."""

MOST_HOPS = 1_500_000
"""Channels on the paths of all flows, where there is no table."""


def ways_of(topology: Topology, routing: Routing, flows: Flows) -> tuple[Table | Paths | None, str]:
    """Return how flows go, and why that is not known. One of the two.

    A table, if the way of a packet depends on its destination alone. Else the path of each flow,
    or its paths with their probabilities.

    Examples
    --------
    >>> from netloom.explore.view import Flows
    >>> from netloom.routing import parse_routing
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> ranks, one = np.arange(4, dtype=np.int32), np.ones(4)
    >>> flows = Flows(ranks, ranks, ranks[::-1].copy(), one)
    >>> found, why = ways_of(net, parse_routing("d-mod-k", net), flows)
    >>> found.next_channel.shape, why
    ((4, 4), '')
    """
    table = table_of(topology, routing)
    if table is not None:
        return table, ""
    sources, targets = flows.hosts
    if len(sources) > MOST_HOPS:
        return None, f"{len(sources):,} flows are too many for a page that follows each path."
    try:
        found = paths(topology, routing, sources, targets)
    except InputError as error:
        return None, f"{error.found[:1].upper()}{error.found[1:]}: more than a page follows."
    if len(found.channels) > MOST_HOPS:
        return None, f"All paths have {len(found.channels):,} hops: more than a page follows."
    return found, ""


def table_of(topology: Topology, routing: Routing) -> Table | None:
    """Return the table of a routing. None if it has none that is small enough.

    The page walks from the router of one host to the router of the other, so every host needs one
    port.
    """
    hosts, routers = topology.num_hosts, topology.num_routers
    if hosts * routers > MOST_ENTRIES or not _one_port(topology):
        return None
    if isinstance(routing, ForwardingTable):
        if topology.direct:
            return Table(routing.next_channel[:hosts])
        rows = np.full(hosts, -1, np.int64)
        rows[topology.port_host] = np.arange(topology.num_ports)
        return Table(np.where(rows[:, None] >= 0, routing.next_channel[rows], -1).astype(np.int32))
    if routing.several or hosts**2 > MOST_PAIRS or topology.broken:
        return None
    return _followed(topology, routing)


def _one_port(topology: Topology) -> bool:
    """Whether each host has one port, so that packets enter and leave by the only one."""
    return topology.direct or len(np.unique(topology.port_host)) == topology.num_ports


def _followed(topology: Topology, routing: Routing) -> Table | None:
    """Return the table that the paths of all pairs of hosts have in common. None if they differ."""
    hosts = np.arange(topology.num_hosts, dtype=np.int32)
    sources, targets = np.repeat(hosts, len(hosts)), np.tile(hosts, len(hosts))
    apart = sources != targets
    try:
        every = paths(topology, routing, sources[apart], targets[apart])
    except (InputError, LookupError):
        return None
    inside = every.channels < topology.num_network_channels
    channel = every.channels[inside].astype(np.int64)
    target = np.repeat(targets[apart], every.lengths)[inside]
    router = topology.routers.channel_source[channel]
    table = np.full((topology.num_hosts, topology.num_routers), -1, np.int32)
    table[target, router] = channel
    return Table(table) if (table[target, router] == channel).all() else None


def loads_of(topology: Topology, flows: Flows, ways: Table | Paths) -> Floats:
    """Return float64[num_network_channels], what flows put on each channel.

    It is what a page works out again: an answer's own loads must be the same.
    """
    load = np.zeros(topology.num_channels)
    if isinstance(ways, Table):
        return _walked(topology, flows, ways)
    pair = np.arange(len(ways)) if ways.pair is None else ways.pair
    share = flows.amount[pair]
    if ways.probability is not None:
        share = share * ways.probability
    np.add.at(load, ways.channels, np.repeat(share, ways.lengths))
    return load[: topology.num_network_channels]


def _walked(topology: Topology, flows: Flows, ways: Table) -> Floats:
    load = np.zeros(topology.num_network_channels)
    sources, targets = flows.hosts
    moving = sources != targets
    at = routers_of(topology)[sources[moving]]
    to, amount = targets[moving], flows.amount[moving]
    for _ in range(topology.num_routers):
        channel = ways.next_channel[to, at]
        going = channel >= 0
        if not going.any():
            break
        channel, to, amount = channel[going], to[going], amount[going]
        np.add.at(load, channel, amount)
        at = topology.routers.channel_target[channel]
    return load


def routers_of(topology: Topology) -> Ints:
    """Return int32[num_hosts], the router of each host with one port. -1 of a host without."""
    if topology.direct:
        return np.arange(topology.num_hosts, dtype=np.int32)
    found = np.full(topology.num_hosts, -1, np.int32)
    found[topology.port_host] = topology.injection_router
    return found
