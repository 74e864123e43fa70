"""Forwarding tables that a subnet manager has computed: ``lfts:FILE``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.routing.forwarding.addresses import NO_PORT, addresses
from netloom.routing.forwarding.dumps import read_ports
from netloom.routing.forwarding.tables import ForwardingTable
from netloom.topology.cabling import port_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.topology import Topology


def read_lfts(topology: Topology, path: str, *, gone: bool = False) -> ForwardingTable:
    """Return the table that a dump says: see ``dumps.read_ports``.

    Entries that led over what is broken, or gone, lead nowhere.

    Raises
    ------
    InputError
        If the network has no LIDs; naming file and line, if the dump is broken, or of another
        fabric.
    """
    return table_of_ports(topology, read_ports(topology, path, gone=gone), f"lfts:{path}")


def table_of_ports(topology: Topology, ports: NDArray[np.uint8], name: str) -> ForwardingTable:
    """Return the table in which routers send by these ports.

    uint8[rows, routers] as in ``port_table``, which says them again. An entry that leads neither
    to a router nor to its destination is in ``ForwardingTable.astray``.

    Examples
    --------
    >>> from netloom.routing.forwarding.addresses import port_table
    >>> from netloom.routing.forwarding.min_hop import minhop
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> ports = port_table(net, minhop(net))
    >>> ports[2, 2] = 9
    >>> table_of_ports(net, ports, "by hand").astray.tolist()
    [[2, 2, 9]]
    """
    every = addresses(topology)
    count = topology.num_network_channels
    channel_at = np.full((topology.num_routers, NO_PORT + 1), -1, np.int32)
    channel_at[topology.routers.channel_source, port_numbers(topology)[0][:count]] = np.arange(
        count, dtype=np.int32
    )
    rows, last = np.arange(len(ports)), every.router[: len(ports)]
    table = channel_at[np.arange(topology.num_routers), ports]
    table[rows, last] = -1
    arrives = np.zeros(ports.shape, np.bool_)
    arrives[rows, last] = ports[rows, last] == every.port[: len(ports)]
    missing = ports == NO_PORT
    missing[rows, last] = False
    row, router = np.nonzero((table < 0) & ~arrives & ~missing)
    astray = np.stack([row, router, ports[row, router]], axis=1).astype(np.int32)
    ends = len(topology.ejection_router)
    undelivered = ~arrives[rows, last][:ends]
    return ForwardingTable(
        name, table[:ends], table[ends:] if len(table) > ends else None,
        undelivered=undelivered if undelivered.any() else None,
        astray=astray if len(astray) else None,
    )  # fmt: skip
