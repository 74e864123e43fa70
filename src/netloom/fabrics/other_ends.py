"""Ways to what runs no programs: aggregation nodes, and the switches themselves."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.routing.forwarding.addresses import addresses
from netloom.topology.cabling import port_numbers

if TYPE_CHECKING:
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology


def with_others(topology: Topology, table: ForwardingTable) -> ForwardingTable:
    """Return a table that leads to all end points; one that does already is returned as it is.

    Shortest ways, ports of a router used alike.

    Examples
    --------
    >>> from netloom.routing.forwarding.min_hop import minhop
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> with_others(net, minhop(net)).others.tolist()
    [[-1, 2, 4, 6], [0, -1, 5, 7], [0, 2, -1, 6], [1, 3, 4, -1]]
    """
    if table.others is not None:
        return table
    from netloom.routing.kernels.min_hop import least_used

    inside, every = topology.routers, addresses(topology)
    leave = every.router[every.kind > 0]
    rows = least_used(
        np.arange(len(leave)), leave, port_numbers(topology)[0], inside.channel_source,
        inside.channel_target, inside.incoming(), inside.outgoing(),
    )  # fmt: skip
    return replace(table, others=rows)
