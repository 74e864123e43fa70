"""The end points of a subnet in the order in which OpenSM's sssp, dfsssp and nue route to them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.routing.forwarding.tables import exits
from netloom.topology.cabling import port_numbers

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.topology import Topology


class EndPoints(NamedTuple):
    """All that a table leads to: destinations, other end points, routers.

    Attributes
    ----------
    exit
        int32[num_ends], the router of each.
    copies
        int64[num_ends], how many addresses each has.
    num_destinations, num_apart
        How many are destinations of packets between hosts. How many are no routers: these come
        first, the routers themselves last.
    order
        int64[num_ends]: end points at the routers of most addresses first, port by port. Then the
        routers in the same order.
    routers
        int32[num_routers], the routers by GUID, read from its last byte to its first: so OpenSM's
        map of switches sorts numbers in network order on the processors of today.
    at_router
        int64[num_routers], addresses at each router, its own counted.
    """

    exit: Ints
    copies: Ints
    num_destinations: int
    num_apart: int
    order: Ints
    routers: Ints
    at_router: Ints


def end_points(topology: Topology) -> EndPoints:
    """Return the end points of a network, in the order in which OpenSM's engines take them.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> ends = end_points(topology("leaf-spine:2x2x2"))
    >>> ends.exit.tolist(), ends.order.tolist(), ends.at_router.tolist()
    ([0, 0, 1, 1, 0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6, 7], [3, 3, 1, 1])
    """
    cabling, count = topology.cabling, topology.num_routers
    leave = exits(topology)
    copies, port = np.ones(len(leave), np.int64), np.zeros(len(leave), np.int32)
    rank = np.arange(count, dtype=np.int32)
    if not topology.direct:
        port = port_numbers(topology)[0][topology.num_network_channels + topology.num_ports :]
    num_destinations = len(leave)
    if cabling is not None:
        copies = 1 << cabling.lmc.astype(np.int64)
        leave = np.append(leave, cabling.others.router)
        port = np.append(port, cabling.others.port)
        copies = np.append(copies, np.ones(len(cabling.others), np.int64))
        rank[np.argsort(cabling.router_guid.byteswap(), kind="stable")] = np.arange(count)
    num_apart = len(leave)
    at_router = 1 + np.bincount(leave, copies, minlength=count).astype(np.int64)
    order = np.lexsort((port, rank[leave], -at_router[leave]))
    own = np.lexsort((rank, -at_router))
    return EndPoints(
        np.append(leave, np.arange(count)).astype(np.int32),
        np.append(copies, np.ones(count, np.int64)), num_destinations, num_apart,
        np.append(order, num_apart + own), np.argsort(rank).astype(np.int32), at_router,
    )  # fmt: skip


def channels_by_port(topology: Topology) -> tuple[Ints, Ints]:
    """Return the channels that enter each router as ``Topology.incoming``, in order of port."""
    inside = topology.routers
    in_port = port_numbers(topology)[1][: inside.num_channels]
    offsets, _ = inside.incoming()
    return offsets, np.lexsort((in_port, inside.channel_target)).astype(np.int32)
