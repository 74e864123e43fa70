"""What OpenSM's engines of shortest ways share: counters of ports."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.routing.forwarding.end_points import channels_by_port, end_points
from netloom.routing.forwarding.tables import ForwardingTable
from netloom.topology.cabling import port_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.routing.forwarding.end_points import EndPoints
    from netloom.routing.forwarding.tables import Lanes
    from netloom.topology import Topology

UP, DOWN, EQUAL = 0, 1, 2
"""The directions of steps, as the kernels number them."""

Ragged = tuple["Ints", "Ints"]


def hops_from(topology: Topology, first: Ints) -> Ints:
    """Return the hops from the nearest of some routers, int64[num_routers].

    The number of routers where there is no way.
    """
    inside = topology.routers
    hops = np.full(topology.num_routers, topology.num_routers, np.int64)
    hops[first] = 0
    while True:
        nearer = hops.copy()
        np.minimum.at(nearer, inside.channel_target, hops[inside.channel_source] + 1)
        if (nearer == hops).all():
            return hops
        hops = nearer


def leaving_by_port(topology: Topology) -> Ragged:
    """Return the channels between routers that leave each router, in order of port, ragged."""
    inside = topology.routers
    out_port = port_numbers(topology)[0][: inside.num_channels]
    offsets, _ = inside.outgoing()
    return offsets, np.lexsort((out_port, inside.channel_source)).astype(np.int32)


def counted_table(
    topology: Topology,
    name: str,
    *,
    directions: NDArray[np.int8] | None = None,
    barred: int = DOWN,
    same_neighbour: bool = False,
) -> ForwardingTable:
    """Return the table that OpenSM's counters make of the shortest permitted ways.

    A router goes through the adapters' ports. Of its own ports on a shortest permitted path, it
    takes the one with the fewest adapters so far. Ties go to the lowest port. Adapters on the
    routers with most adapters come first, then in the order of their routers' GUIDs and by port.
    Paths to the routers themselves follow and are not counted.

    Parameters
    ----------
    directions
        int8[channels between routers], the direction of the step from a channel's target back to
        its source. None where any way is permitted.
    barred
        No step of the opposite direction follows one of this.
    same_neighbour
        Whether only ports to the neighbour on the lowest port of a shortest way are taken.
    """
    from netloom.routing.kernels.min_hop import least_used

    inside, ends = topology.routers, end_points(topology)
    if directions is None:
        directions = np.full(inside.num_channels, EQUAL, np.int8)
    table = least_used(
        ends.order, ends.exit, ends.num_apart,
        (inside.channel_source, inside.channel_target, leaving_by_port(topology),
         channels_by_port(topology)),
        directions, barred, same_neighbour,
    )  # fmt: skip
    return told(name, table, ends)


def told(name: str, table: Ints, ends: EndPoints, lanes: Lanes | None = None) -> ForwardingTable:
    """Return a table of all end points as one of destinations and others."""
    hosts = ends.num_destinations
    return ForwardingTable(name, table[:hosts], table[hosts:], lanes)
