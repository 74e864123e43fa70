"""OpenSM's minhop: shortest ways, ports of a router used alike."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.routing.forwarding.tables import ForwardingTable, exits
from netloom.topology.cabling import port_numbers

if TYPE_CHECKING:
    from netloom.topology import Topology


def minhop(topology: Topology) -> ForwardingTable:
    """Return the table of OpenSM's default engine (``opensm/doc/current-routing.txt``).

    Every router sends to each LID, in ascending order, by the port of a shortest way that has been
    given the fewest LIDs so far. Packets may wait for each other in a circle.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> minhop(topology("leaf-spine:2x2x2")).next_channel[2:].tolist()
    [[0, -1, 5, 7], [1, -1, 5, 7]]
    """
    from netloom.routing.kernels.min_hop import least_used

    inside = topology.routers
    order = np.arange(len(exits(topology)))
    if topology.cabling is not None:
        order = np.argsort(topology.cabling.port_lid, kind="stable")
    table = least_used(
        order, exits(topology), port_numbers(topology)[0], inside.channel_source,
        inside.channel_target, inside.incoming(), inside.outgoing(),
    )  # fmt: skip
    return ForwardingTable("minhop", table)
