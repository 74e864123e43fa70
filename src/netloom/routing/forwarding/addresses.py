"""The addresses of a subnet: whose a LID is, and what is behind each port of a switch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology
    from netloom.topology.cabling import Cabling

NO_PORT = 255
"""What an entry of a switch says where there is no way."""

MOST_LID = 0xBFFF
"""The largest LID of one end point. Those above are of groups."""


@dataclass(frozen=True, eq=False)
class Addresses:
    """What tables lead to: the ports of hosts, then other end points, then the routers themselves.

    These are the rows of ``ForwardingTable.next_channel``, then those of ``others``.

    Attributes
    ----------
    name
        What the network calls each.
    guid
        uint64[rows], of the port (of the router), or 0 if nobody said.
    lid, lmc
        int32[rows]: a row has the 2**lmc LIDs from its own on, or 0 if it has none.
    router, port
        int32[rows], the router where packets leave, and the port by which. Port 0 is that router
        itself.
    kind
        int8[rows]: 0 for the port of a host (a node of a direct network), 1 for another end point,
        2 for a router.
    """

    name: tuple[str, ...]
    guid: NDArray[np.uint64]
    lid: Ints
    lmc: Ints
    router: Ints
    port: Ints
    kind: NDArray[np.int8]

    def __len__(self) -> int:
        return len(self.name)


def addressed(topology: Topology, where: str, *, wanted: str = "") -> Cabling:
    """Return the cabling of a network whose tables can be read and written.

    Raises
    ------
    InputError
        If no file says the LIDs and the GUIDs of switches. ``where`` and ``wanted`` are for it.
    """
    cabling = topology.cabling
    wanted = wanted or "a fabric with LIDs: fabric:FILE of ibnetdiscover in the running subnet"
    if cabling is None or not cabling.port_lid.any():
        raise InputError(where, f"{topology.name}, which has no LIDs", wanted)
    if not cabling.router_guid.all():
        raise InputError(where, f"{topology.name}, which has switches without a GUID", wanted)
    return cabling


def addresses(topology: Topology) -> Addresses:
    """Return what the tables of a network lead to.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> every = addresses(topology("leaf-spine:2x2x1"))
    >>> every.name[-3:], every.router.tolist(), every.port.tolist()
    (('leaf1', 'spine0', 'spine1'), [0, 1, 0, 1, 2, 3], [3, 3, 0, 0, 0, 0])
    """
    from netloom.topology.cabling import port_numbers

    ports, routers = topology.num_ports, topology.num_routers
    nothing, own = np.zeros(routers, np.int32), np.arange(routers, dtype=np.int32)
    names = tuple(topology.name_of(topology.router_vertex(router)) for router in range(routers))
    if topology.direct:
        kind = np.zeros(routers, np.int8)
        return Addresses(names, nothing.astype(np.uint64), nothing, nothing, own, nothing, kind)
    hosts = tuple(topology.name_of(host) for host in topology.port_host.tolist())
    leaves = port_numbers(topology)[0][topology.num_network_channels + ports :]
    cabling = topology.cabling
    if cabling is None:
        empty = np.zeros(ports + routers, np.int32)
        kind = np.repeat(np.array([0, 2], np.int8), [ports, routers])
        return Addresses(
            (*hosts, *names), empty.astype(np.uint64), empty, empty,
            np.concatenate([topology.ejection_router, own]), np.concatenate([leaves, nothing]),
            kind,
        )  # fmt: skip
    others = cabling.others
    kind = np.repeat(np.arange(3, dtype=np.int8), [ports, len(others), routers])
    lmc = np.zeros(len(kind), np.int32)
    lmc[:ports] = cabling.lmc
    return Addresses(
        (*hosts, *others.names, *names),
        np.concatenate([cabling.port_guid, others.guid, cabling.router_guid]),
        np.concatenate([cabling.port_lid, others.lid, cabling.router_lid]),
        lmc,
        np.concatenate([topology.ejection_router, others.router, own]),
        np.concatenate([leaves, others.port, nothing]),
        kind,
    )


def rows_of_lids(topology: Topology, where: str) -> Ints:
    """Return whose each LID is: int32[largest LID + 1], rows of ``addresses``, or -1 if nobody's.

    Raises
    ------
    InputError
        If two have one LID. ``where`` is for it.
    """
    every = addresses(topology)
    counts = np.where(every.lid > 0, 1 << every.lmc, 0)
    row = np.repeat(np.arange(len(every), dtype=np.int32), counts)
    lid = every.lid[row] + np.arange(len(row)) - np.repeat(np.cumsum(counts) - counts, counts)
    owner = np.full(int(lid.max(initial=0)) + 1, -1, np.int32)
    order = np.argsort(lid, kind="stable")
    twice = np.flatnonzero(np.diff(lid[order]) == 0)
    if len(twice):
        first, second = (every.name[row[order[twice[0] + k]]] for k in (0, 1))
        found = f"LID {lid[order[twice[0]]]} of '{first}' and of '{second}'"
        raise InputError(where, found, "a LID for each: scan the fabric again")
    owner[lid] = row
    return owner


def whole_table(table: ForwardingTable) -> Ints:
    """Return all rows of a table: those of hosts' ports, then the others, where there are any."""
    if table.others is None:
        return table.next_channel
    return np.concatenate([table.next_channel, table.others])


def port_table(topology: Topology, table: ForwardingTable) -> NDArray[np.uint8]:
    """Return the port by which each router sends to each row of ``whole_table``.

    uint8[rows, routers]; 0 is the router itself, ``NO_PORT`` no way.

    Examples
    --------
    >>> from netloom.routing.forwarding.min_hop import minhop
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> port_table(net, minhop(net))[2:4].tolist()
    [[1, 3, 2, 2], [2, 4, 2, 2]]
    """
    from netloom.topology.cabling import port_numbers

    every, rows = addresses(topology), whole_table(table)
    leaves = port_numbers(topology)[0][: topology.num_network_channels]
    ports = np.full(rows.shape, NO_PORT, np.uint8)
    leading = rows >= 0
    ports[leading] = leaves[rows[leading]]
    here = np.arange(len(rows)), every.router[: len(rows)]
    arrived = rows[here] < 0
    if table.undelivered is not None:
        arrived[: len(table.undelivered)] &= ~table.undelivered
    ports[here] = np.where(arrived, every.port[: len(rows)], ports[here])
    if table.astray is not None:
        row, router, port = table.astray.T
        ports[row, router] = port
    return ports
