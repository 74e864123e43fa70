"""Ways to what runs no programs: aggregation nodes, and the switches themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.routing.forwarding.addresses import addresses
from netloom.routing.forwarding.lanes import dependency_graph

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology


def with_others(topology: Topology, table: ForwardingTable) -> ForwardingTable:
    """Return a table that leads to all end points. One that does already is returned as it is.

    Packets between hosts keep their paths. Packets to other end points and to routers, and packets
    from other end points, get new ones. These are the shortest that close no circle of packets that
    wait for each other, if possible. Packets to other end points take service level 0.

    Examples
    --------
    >>> from netloom.routing.forwarding.min_hop import minhop
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> with_others(net, minhop(net)).others.tolist()
    [[-1, 2, 4, 6], [0, -1, 5, 7], [0, 2, -1, 6], [1, 3, 4, -1]]
    """
    if table.others is not None or topology.direct:
        return table
    from netloom.fabrics.kernels.other_ends import fill_ways, keep_crossed, use_ways

    every, graph = addresses(topology), dependency_graph(topology)
    enters = topology.routers.channel_target
    hosts, ends = np.zeros((2, topology.num_routers), np.bool_)
    hosts[topology.injection_router] = True
    ends[every.router[every.kind < 2]] = True
    rows = np.full((len(every), topology.num_routers), -1, np.int32)
    at_hosts = rows[: len(table.next_channel)]
    at_hosts[:] = table.next_channel
    if (ends & ~hosts).any():
        keep_crossed(at_hosts, hosts, enters)
    entered = np.broadcast_to(hosts, at_hosts.shape)
    if table.lanes is not None:
        entered = entered & (table.lanes.level[: len(entered)] == 0)
    use_ways(at_hosts, entered, graph)
    fill_ways(rows, every.router.astype(np.int32), ends, _order(topology.routers), graph)
    return replace(table, next_channel=at_hosts, others=rows[len(at_hosts) :])


def _order(inside: Topology) -> Ints:
    """Return the place of each router in an order: those with most neighbours first."""
    pairs = np.unique(np.stack([inside.channel_source, inside.channel_target]), axis=1)
    neighbours = np.bincount(pairs[0], minlength=inside.num_vertices)
    return np.argsort(np.argsort(-neighbours, kind="stable"), kind="stable")
