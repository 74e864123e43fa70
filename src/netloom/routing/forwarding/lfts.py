"""Forwarding tables that a subnet manager has computed: ``lfts:FILE``, perhaps with lanes."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.forwarding.addresses import NO_PORT, addresses
from netloom.routing.forwarding.dumps import read_ports
from netloom.routing.forwarding.tables import ForwardingTable
from netloom.topology.cabling import port_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.topology import Topology


def read_lfts(topology: Topology, files: str, *, gone: bool = False) -> ForwardingTable:
    """Return the table that a dump says: see ``dumps.read_ports``.

    Entries that led over what is broken, or gone, lead nowhere.

    Parameters
    ----------
    topology
        The network.
    files
        The dump. ``TABLES,sl2vl:LANES`` says the lanes of switches, too. With the service level of
        each pair, ``TABLES,sl2vl:LANES,psl:LEVELS``: see ``service_levels``. Otherwise all packets
        are on level 0.
    gone
        Whether the dump may tell of switches and end points that the network has no more.

    Raises
    ------
    InputError
        If the network has no LIDs. Naming file and line, if the dump is broken, or of another
        fabric.
    """
    rest, _, levels = files.partition(",psl:")
    path, _, sl2vl = rest.partition(",sl2vl:")
    if levels and not sl2vl:
        found = "levels of packets without the lanes of switches"
        raise InputError(f"routing lfts:{files}", found, "lfts:TABLES,sl2vl:LANES,psl:LEVELS")
    table = table_of_ports(topology, read_ports(topology, path, gone=gone), f"lfts:{files}")
    if not sl2vl:
        return table
    from netloom.routing.forwarding.service_levels import read_lanes

    return replace(table, lanes=read_lanes(topology, sl2vl, levels))


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
