"""Forwarding tables as files that a subnet manager takes: ``opensm -R file -U FILE``."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.textfiles import replacing
from netloom.fabrics.other_ends import with_others
from netloom.routing.forwarding.addresses import NO_PORT, addressed, addresses, port_table
from netloom.routing.forwarding.addresses import rows_of_lids as owners_of_lids

if TYPE_CHECKING:
    from pathlib import Path

    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology

KINDS = ("Channel Adapter", "Channel Adapter", "Switch")
"""What OpenSM calls each kind of ``Addresses``."""


def write_lfts(topology: Topology, table: ForwardingTable, path: str | Path) -> int:
    """Write a table as OpenSM dumps them, and loads them. Return the number of its entries.

    All LIDs have entries: those of hosts' ports (each of 2**lmc, the same way), of other end
    points and of the switches themselves. If the table leads to hosts only, the others are
    those of ``with_others``. Where there is no way, or an end point has no LID, there is no entry.

    Raises
    ------
    InputError
        If the network has no LIDs or GUIDs, the last router of a way sends packets elsewhere, or
        the file cannot be written.
    """
    cabling = addressed(
        topology, str(path),
        wanted="a fabric with both, so that switches can be told what to do: the output of "
        "ibnetdiscover in the running subnet",
    )  # fmt: skip
    if table.undelivered is not None and table.undelivered.any():
        row = int(np.argmax(table.undelivered))
        found = f"a table that does not deliver to '{addresses(topology).name[row]}'"
        raise InputError(f"routing {table}", found, "one that does")
    every, owner = addresses(topology), owners_of_lids(topology, topology.name)
    ports = port_table(topology, with_others(topology, table))
    lids = np.flatnonzero(owner >= 0)
    rows = owner[lids]
    tails = [
        f" # {KINDS[every.kind[row]]} portguid 0x{every.guid[row]:016x}: '{every.name[row]}'\n"
        for row in rows.tolist()
    ]
    heads = [f"0x{lid:04x} " for lid in lids.tolist()]
    words = [f"{port:03d}" for port in range(NO_PORT)]
    written, first = 0, len(every) - topology.num_routers
    with replacing(path) as new, new.open("w", encoding="utf-8", newline="\n") as stream:
        for router in np.flatnonzero(topology.routers.vertex_up).tolist():
            said = zip(heads, ports[rows, router].tolist(), tails, strict=True)
            entries = [head + words[port] + tail for head, port, tail in said if port != NO_PORT]
            stream.write(
                f"Unicast lids [0-{len(owner) - 1}] of switch Lid {cabling.router_lid[router]} "
                f"guid 0x{cabling.router_guid[router]:016x} ('{every.name[first + router]}'):\n"
            )
            stream.writelines(entries)
            stream.write(f"{len(owner) - 1} lids dumped\n")
            written += len(entries)
    return written
