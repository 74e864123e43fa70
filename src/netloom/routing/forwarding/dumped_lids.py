"""LIDs of a fabric whose own file says none, as a dump of forwarding tables tells them."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.topology import Topology

_OWNED = re.compile(r"^0x([0-9a-f]{1,8}) .*\bportguid (?:0x)?([0-9a-f]+)", re.I | re.M)


def with_dumped_lids(topology: Topology, text: str) -> Topology:
    """Return a network with the LIDs that a dump says of its GUIDs, if its file says none.

    What ibsim reads, for example, has GUIDs but no LIDs. The GUID of an adapter's port is what the
    file says, or that of the adapter, or that plus the number of the port, as ibsim has it. The
    network is returned as it is if it has LIDs or no GUIDs, or the dump says no GUIDs.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> with_dumped_lids(mesh(2, 2), "").cabling is None
    True
    """
    cabling = topology.cabling
    if cabling is None or cabling.port_lid.any() or not cabling.router_guid.all():
        return topology
    lid_of = {int(guid, 16): int(lid, 16) for lid, guid in _OWNED.findall(text)}

    def lids(*choices: NDArray[np.uint64]) -> Ints:
        rows = zip(*(each.tolist() for each in choices), strict=True)
        known = (next((lid_of[guid] for guid in row if guid in lid_of), 0) for row in rows)
        return np.fromiter(known, np.int32)

    first = topology.num_network_channels
    node = cabling.host_guid[topology.port_host]
    number = cabling.out_port[first : first + topology.num_ports].astype(np.uint64)
    others = cabling.others
    ports = lids(cabling.port_guid, node + number, node)
    found = replace(
        cabling, router_lid=lids(cabling.router_guid), port_lid=ports,
        others=replace(others, lid=lids(others.guid, others.guid + np.uint64(1))),
    )  # fmt: skip
    return replace(topology, cabling=found)
