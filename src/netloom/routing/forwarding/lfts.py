"""Forwarding tables as OpenSM dumps them, and reads them: ``lfts:FILE``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError
from netloom.routing.forwarding.tables import ForwardingTable
from netloom.textfiles import read_text

if TYPE_CHECKING:
    from netloom.topology import Topology

_SWITCH = re.compile(r"^Unicast lids \[.*\] of switch .*guid 0x([0-9a-f]+)", re.IGNORECASE)
_ENTRY = re.compile(r"^0x([0-9a-f]+) +(\d+)", re.IGNORECASE)


def read_lfts(topology: Topology, path: str) -> ForwardingTable:
    """Return the table that a dump of OpenSM says.

    Raises
    ------
    InputError
        If the network has no LIDs, or naming file and line.
    """
    cabling = topology.cabling
    if cabling is None or not cabling.port_lid.any():
        wanted = "a fabric with LIDs, such as fabric:FILE of ibnetdiscover"
        raise InputError(f"routing lfts:{path}", topology.name, wanted)
    router_of = {guid: number for number, guid in enumerate(cabling.router_guid.tolist())}
    row_of = {lid: row for row, lid in enumerate(cabling.port_lid.tolist())}
    ends = len(cabling.port_lid)
    extra = [*cabling.others.lid.tolist(), *cabling.router_lid.tolist()]
    row_of |= {lid: ends + place for place, lid in enumerate(extra) if lid}
    leaving = {
        (source, port): channel
        for channel, (source, port) in enumerate(
            zip(topology.routers.channel_source.tolist(), cabling.out_port.tolist(), strict=False)
        )
    }
    table = np.full((ends + len(extra), topology.num_routers), -1, np.int32)
    router = -1
    text = read_text(path, wanted="forwarding tables, as OpenSM dumps them")
    for number, line in enumerate(text.split("\n"), start=1):
        switch, entry = _SWITCH.match(line), _ENTRY.match(line)
        if switch:
            guid = int(switch[1], 16)
            if guid not in router_of:
                found = f"a switch of GUID 0x{guid:016x}, which {topology.name} does not have"
                raise InputError(f"{path}:{number}", found, "tables of this fabric")
            router = router_of[guid]
        elif entry and router >= 0:
            lid = int(entry[1], 16)
            if lid not in row_of:
                found = f"LID 0x{lid:04x}, which no port of {topology.name} has"
                raise InputError(f"{path}:{number}", found, "tables of this fabric")
            table[row_of[lid], router] = leaving.get((router, int(entry[2])), -1)
    return ForwardingTable(f"lfts:{path}", table[:ends], table[ends:])
