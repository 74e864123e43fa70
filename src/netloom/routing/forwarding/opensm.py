"""What all engines of OpenSM share: the order of switches, ports and addresses, and counters."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.routing.forwarding.tables import ForwardingTable, exits
from netloom.topology.cabling import port_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.topology import Topology

UP, DOWN, EQUAL = 0, 1, 2
"""The directions of steps, as the kernels number them."""

Ragged = tuple["NDArray[np.int64]", "NDArray[np.int32]"]


class EndPoints(NamedTuple):
    """What a subnet manager routes to: host ports, aggregation nodes, then the routers.

    Attributes
    ----------
    router
        int32[num_ends], the router that each hangs on, or is.
    port
        int32[num_ends], the router's port; 0 where the end is the router itself.
    hosts
        How many are host ports (in a direct network, nodes).
    adapters
        How many are no routers.
    """

    router: NDArray[np.int32]
    port: NDArray[np.int32]
    hosts: int
    adapters: int


def end_points(topology: Topology) -> EndPoints:
    """Return what a subnet manager routes to, in the order of the rows of a table.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> found = end_points(topology("leaf-spine:2x2x1"))
    >>> found.router.tolist(), found.port.tolist()
    ([0, 1, 0, 1, 2, 3], [3, 3, 0, 0, 0, 0])
    """
    at_hosts = exits(topology)
    hosts = len(at_hosts)
    own = np.arange(topology.num_routers, dtype=np.int32)
    ports = np.zeros(hosts, np.int32)
    if not topology.direct:
        ports = port_numbers(topology)[0][topology.num_network_channels + topology.num_ports :]
    routers, numbers = [at_hosts], [ports]
    if topology.cabling is not None:
        routers.append(topology.cabling.others.router)
        numbers.append(topology.cabling.others.port)
    adapters = sum(map(len, routers))
    routers.append(own)
    numbers.append(np.zeros(len(own), np.int32))
    return EndPoints(
        np.concatenate(routers).astype(np.int32), np.concatenate(numbers).astype(np.int32),
        hosts, adapters,
    )  # fmt: skip


def switch_order(topology: Topology) -> NDArray[np.int64]:
    """Return the routers in the order in which OpenSM goes through them.

    It keeps switches by GUID as the wire has it, in network order, read as a number of the machine
    it runs on: the last byte counts most. By number where the GUIDs are not all known.
    """
    if topology.cabling is None or not topology.cabling.router_guid.all():
        return np.arange(topology.num_routers)
    return np.argsort(topology.cabling.router_guid.byteswap(), kind="stable")


def hops_from(topology: Topology, first: NDArray[np.int64]) -> NDArray[np.int64]:
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


def by_port(topology: Topology) -> tuple[Ragged, Ragged]:
    """Return the channels between routers out of each router, and into it, by port of that router.

    (offsets, channels) both; channels of one port by number.
    """
    inside = topology.routers
    leaves, enters = (ports[: inside.num_channels] for ports in port_numbers(topology))
    found = []
    for router, port in ((inside.channel_source, leaves), (inside.channel_target, enters)):
        order = np.lexsort((port, router)).astype(np.int32)
        counts = np.bincount(router, minlength=topology.num_routers)
        found.append((np.append(0, np.cumsum(counts)).astype(np.int64), order))
    return found[0], found[1]


def counted_table(
    topology: Topology,
    name: str,
    *,
    directions: NDArray[np.int8] | None = None,
    barred: int = DOWN,
    same_neighbour: bool = False,
) -> ForwardingTable:
    """Return the table that OpenSM's counters make of the shortest permitted ways.

    A router goes through the adapters' ports and takes, of its own ports on a shortest permitted
    way, the one that has been given the fewest so far, of these the lowest. Adapters on the routers
    with most adapters come first, then in the order of their routers' GUIDs and by port. Ways to
    the routers themselves follow and are not counted.

    Parameters
    ----------
    directions
        int8[channels between routers], the direction of the step from a channel's target back to
        its source; None where any way is permitted.
    barred
        No step of the opposite direction follows one of this.
    same_neighbour
        Whether only ports to the neighbour on the lowest port of a shortest way are taken.
    """
    from netloom.routing.kernels.min_hop import least_used

    inside, ends = topology.routers, end_points(topology)
    leaving, entering = by_port(topology)
    if directions is None:
        directions = np.full(inside.num_channels, EQUAL, np.int8)
    table = least_used(
        _in_turn(topology, ends), ends.router, ends.adapters,
        (inside.channel_source, inside.channel_target, leaving, entering),
        directions, barred, same_neighbour,
    )  # fmt: skip
    return told(name, table, topology)


def told(name: str, table: NDArray[np.int32], topology: Topology) -> ForwardingTable:
    """Return a table of all end points as one of destinations and others."""
    hosts = len(exits(topology))
    others = None if topology.cabling is None else table[hosts:]
    return ForwardingTable(name, table[:hosts], others)


def _in_turn(topology: Topology, ends: EndPoints) -> NDArray[np.int64]:
    """Return the end points in the order in which OpenSM routes to them."""
    turn = np.empty(topology.num_routers, np.int64)
    turn[switch_order(topology)] = np.arange(topology.num_routers)
    router, port = ends.router[: ends.adapters], ends.port[: ends.adapters]
    adapters = np.bincount(router, minlength=topology.num_routers)
    order = np.lexsort((port, turn[router], -adapters[router]))
    own = ends.adapters + np.arange(0 if topology.cabling is None else topology.num_routers)
    return np.concatenate([order, own])
