"""Routings that are listed: forwarding tables, routing functions written out, and given paths.

Where a packet goes next is a list of ports: all lanes of one channel, or of each channel that a
routing function offers. Tables are read at (router, host port). Paths hop by hop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from netloom.base.errors import DeadlockError
from netloom.routing.by_hop.births import PathBirths, TableBirths
from netloom.routing.by_hop.given_paths import hop_layers, listed_paths
from netloom.routing.by_hop.lanes import (
    as_table,
    check_circle,
    check_lanes,
    hop_lanes,
    laned,
    reached,
)  # fmt: skip
from netloom.routing.by_hop.tables import (
    EVERY,
    GIVEN,
    Automaton,
    NextPorts,
    bits,
    check_starts,
    hop_tables,
    pair_ports,
)  # fmt: skip
from netloom.routing.cycles import cycle_of_waits
from netloom.routing.forwarding.tables import ForwardingTable
from netloom.routing.layered import Layered, ShortestPath, layer_vcs
from netloom.routing.port_numbers import each_lane, hosted_ports
from netloom.routing.route_tables import RouteTable, channels_by_port, check_table
from netloom.routing.spread import Spread
from netloom.routing.trees import DModK, SModK
from netloom.routing.virtual_channel_tables import VirtualChannelRouting

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.routing.by_hop.births import Births
    from netloom.routing.by_hop.tables import HopTables
    from netloom.routing.parse import Routing
    from netloom.topology import Topology

    Listed: TypeAlias = tuple[HopTables, Births]

SHORTEST = ShortestPath | Layered | Spread | DModK | SModK
"""Routings by which every packet takes a shortest path between its ports."""


def listed_routing(topology: Topology, routing: Routing, num_vcs: int) -> VirtualChannelRouting:
    """Return a routing for the virtual channels of a network of hosts on routers.

    Parameters
    ----------
    topology
        The network.
    routing
        Any that ``parse_routing`` reads, or a table. One that goes by destination alone is kept as
        a table of (router, host port). Of others all paths are listed, between hosts, or between
        routers where that is all that they depend on. Of several paths packets draw one at birth.
    num_vcs
        Virtual channels of every channel. Lanes of a table, or layers in which listed paths are
        free of circles, share them evenly.

    Raises
    ------
    InputError
        If the routing does not fit the network, there are too many paths, or fewer VCs than lanes.
    DeadlockError
        With the circle of channels, if packets can wait for each other in one.

    Examples
    --------
    >>> from netloom.routing import parse_routing
    >>> from netloom.topology import topology
    >>> net = topology("dragonfly:2x4x2")
    >>> listed_routing(net, parse_routing("minimal-group", net), 2).needs_aux
    True
    """
    tables, births = _listed(topology, routing, num_vcs)
    return VirtualChannelRouting(
        str(routing), topology, tables, needs_aux=isinstance(births, PathBirths),
        minimal=isinstance(routing, SHORTEST), births=births,
        routes=None if isinstance(routing, RouteTable) else routing,
    )  # fmt: skip


def _listed(topology: Topology, routing: Routing, num_vcs: int) -> Listed:
    if isinstance(routing, RouteTable) and topology.num_ports == topology.num_hosts:
        return _by_function(topology, routing, num_vcs)
    table = as_table(topology, routing)
    if table is None:
        return _by_paths(topology, routing, num_vcs)
    if table.lanes is not None and table.lanes.lane_of is not None:
        check_circle(topology, table, num_vcs)
        return _by_paths(topology, table, num_vcs)
    free = isinstance(routing, Spread)
    return _by_table(topology, *laned(topology, table, num_vcs, free=free), num_vcs)


class PortLists(NamedTuple):
    """Lists of output ports, each as its length, then the ports.

    Attributes
    ----------
    start
        int32[num_channels + 1], where the list of each channel begins: the ports of its lanes at
        its source. The last is empty, so channel -1 has none.
    ports
        int16[], all lists.
    """

    start: Ints
    ports: NDArray[np.int16]


def port_lists(topology: Topology) -> PortLists:
    """Return the list of every channel of a network.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> lists = port_lists(topology("leaf-spine:2x1x2"))
    >>> [lists.ports[place : place + 2].tolist() for place in lists.start[8:]]
    [[1, 1], [1, 2], [1, 1], [1, 2], [0]]
    """
    wired = hosted_ports(topology)
    lanes = wired.lanes.astype(np.int64)
    start = np.append(0, np.cumsum(lanes + 1))
    ports = np.zeros(start[-1] + 1, np.int16)
    ports[start[:-1]] = lanes
    channel, lane = each_lane(wired.lanes)
    ports[start[channel] + 1 + lane] = wired.out_port[channel] + lane
    return PortLists(start.astype(np.int32), ports)


def _by_table(
    topology: Topology, table: ForwardingTable, lanes: NDArray[np.uint8], num_vcs: int
) -> Listed:
    """Return the routing of a forwarding table, a packet's lane the same all the way."""
    next_channel = table.next_channel
    check_starts(topology, next_channel.size)
    lists = port_lists(topology)
    starts = lists.start[np.ascontiguousarray(next_channel.T)].ravel()
    goals = NextPorts(len(next_channel), starts, lists.ports, np.zeros(0, np.int16))
    level = np.zeros(0, np.uint8)
    if table.lanes is not None and len(lanes) > 1:
        level = np.searchsorted(lanes, table.lanes.level[: len(next_channel)]).astype(np.uint8)
    tables = hop_tables(
        topology, num_vcs, [goals], states(topology, layer_vcs(len(lanes), num_vcs), num_vcs),
        choice=EVERY, level=level.ravel(),
        sink_goal=np.arange(topology.num_ports, dtype=np.int32), **_by_pairs(topology),
    )  # fmt: skip
    births = TableBirths(topology, str(table), reached(topology, table))
    return tables, births


def _by_pairs(topology: Topology) -> dict[str, Ints]:
    """Return the ports of pairs of hosts, as the paths that are listed elsewhere take them."""
    entry, sink = pair_ports(topology, always=True)
    return {"pair_entry": entry, "pair_sink": sink}


def _by_paths(topology: Topology, routing: Routing, num_vcs: int) -> Listed:
    """Return the routing of all paths, each hop in the VCs of its lane or layer."""
    births = listed_paths(topology, routing)
    if isinstance(routing, ForwardingTable):
        by_hop = hop_lanes(topology, routing, births)
        lanes = np.unique(by_hop)
        layer, count = np.searchsorted(lanes, by_hop).astype(np.uint8), max(len(lanes), 1)
        check_lanes(topology, routing, count, num_vcs)
    else:
        layer, count = hop_layers(topology, routing, births.routed, num_vcs)
    lists = port_lists(topology)
    own = np.zeros((2, 0), np.int32) if births.ports is None else births.ports
    tables = hop_tables(
        topology, num_vcs, [], states(topology, layer_vcs(count, num_vcs), num_vcs),
        choice=GIVEN, ports=lists.ports, path_offsets=births.routed.offsets,
        path_starts=lists.start[births.routed.channels], path_layer=layer,
        path_entry=own[0], path_sink=own[1],
    )  # fmt: skip
    return tables, births


def _by_function(topology: Topology, routing: RouteTable, num_vcs: int) -> Listed:
    """Return the routing of a function that is written out, choices and all."""
    check_table(topology, routing)
    circle = choice_circle(topology, routing)
    if circle:
        named = tuple(topology.channel_name(channel) for channel in circle)
        wanted = "up-down, layered or a table without a circle: more VCs do not help this one"
        raise DeadlockError(f"{routing} on {topology.name}", named, wanted)
    starts, ports = _lists_of_sets(topology, routing.next_ports)
    goals = NextPorts(topology.num_hosts, starts, ports, np.zeros(0, np.int16))
    state = states(topology, layer_vcs(1, num_vcs), num_vcs)
    tables = hop_tables(
        topology, num_vcs, [goals], state, choice=EVERY, sink_goal=topology.port_host
    )
    arrives = routing.next_ports != 0
    arrives[topology.ejection_router, topology.port_host] = True
    entries = np.unique(topology.injection_router)
    known = None if arrives[entries][:, topology.port_host].all() else arrives.T[topology.port_host]
    return tables, TableBirths(topology, routing.name, known)


def states(topology: Topology, vcs: Ints, num_vcs: int) -> Automaton:
    """Return the states of packets that stay in one: a lane or layer, with its VCs, each."""
    own = np.arange(len(vcs), dtype=np.int16)
    no = np.zeros(len(vcs), np.int8)
    return Automaton(
        kind=np.zeros(topology.num_network_channels, np.int8), delta=own[:, None], vcs=vcs,
        eject_vcs=np.full(len(vcs), bits(num_vcs), np.int64), table=no, to_aux=no, decides=no,
        keep=own, leave=own, turn=own,
    )  # fmt: skip


def _lists_of_sets(topology: Topology, next_ports: Ints) -> tuple[Ints, NDArray[np.int16]]:
    """Return the list of ports of each set of ``RouteTable``, each that a router has once."""
    lists, channel_at = port_lists(topology), channels_by_port(topology.routers)
    starts = np.zeros(next_ports.shape, np.int32)
    ports = [0]
    for router, row in enumerate(next_ports):
        sets, which = np.unique(row, return_inverse=True)
        places = []
        for each in sets.tolist():
            places.append(len(ports) if each else 0)
            found: list[int] = []
            for rank, channel in enumerate(channel_at[router].tolist()):
                if each >> rank & 1:
                    start = lists.start[channel]
                    found += lists.ports[start + 1 : start + 1 + lists.ports[start]].tolist()
            if each:
                ports += [len(found), *found]
        starts[router] = np.array(places, np.int32)[which]
    return starts.ravel(), np.array(ports, np.int16)


def choice_circle(topology: Topology, routing: RouteTable) -> tuple[int, ...]:
    """Return channels that hosts' packets can wait for in a circle by a table with choices, or ().

    Packets are followed from the routers that they enter by, through all choices. A circle of
    choices is a danger, not yet a proof of a deadlock (Duato 1993).
    """
    from netloom.routing.port_numbers import ports

    inside, asks = topology.routers, routing.next_ports
    out_port = ports(inside).out_port.astype(np.int64)
    comes = np.zeros(asks.shape, np.bool_)
    comes[np.unique(topology.injection_router)] = True
    order = np.arange(inside.num_channels)
    seen = -1
    while seen != (seen := int(np.count_nonzero(comes))):
        for channel in order:
            source, target = inside.channel_source[channel], inside.channel_target[channel]
            comes[target] |= comes[source] & (asks[source] >> out_port[channel] & 1 == 1)
    waits = np.zeros(inside.num_channels, np.int64)
    for channel in order:
        source, target = inside.channel_source[channel], inside.channel_target[channel]
        held = comes[source] & (asks[source] >> out_port[channel] & 1 == 1)
        waits[channel] = np.bitwise_or.reduce(asks[target][held], initial=0)
    held, port = np.nonzero(waits[:, None] >> np.arange(channels_by_port(inside).shape[1]) & 1)
    asked = channels_by_port(inside)[inside.channel_target[held], port]
    return cycle_of_waits(held, asked, inside.num_channels)
