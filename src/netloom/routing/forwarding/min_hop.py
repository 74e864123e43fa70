"""OpenSM's minhop and dor: shortest ways, by ports used alike or by the lowest."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.routing.forwarding.opensm import counted_table

if TYPE_CHECKING:
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology


def minhop(topology: Topology) -> ForwardingTable:
    """Return the table of OpenSM's default engine, entry for entry.

    Packets take shortest ways. Each router gives its ports alike numbers of destinations (see
    ``counted_table``). Packets may wait for each other in a circle.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> minhop(topology("leaf-spine:2x2x2")).next_channel[2:].tolist()
    [[0, -1, 5, 7], [1, -1, 5, 7]]
    """
    return counted_table(topology, "minhop")


def dor(topology: Topology) -> ForwardingTable:
    """Return the table of OpenSM's dimension order, entry for entry.

    Packets take shortest ways, and each router the neighbour on its lowest port that leads on. Of
    several cables to it the one that has been given the fewest destinations. That is dimension
    order on a mesh or cube whose cables of one dimension have the same ports on every router. On
    other networks, and on tori, packets may wait for each other in a circle.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> net = mesh(2, 2)
    >>> net.routers.channel_target[dor(net).next_channel[3, :3]].tolist()
    [2, 3, 3]
    """
    return counted_table(topology, "dor", same_neighbour=True)
