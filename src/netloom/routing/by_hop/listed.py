"""Routings that are listed: forwarding tables, routing functions written out, and given paths.

Where a packet goes next is a list of ports: all lanes of one channel, or of each channel that a
routing function offers. Tables are read at (router, host port). Paths hop by hop, in layers of
virtual channels.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from netloom.base.arrays import Int16s, Ints, UInt8s, distinct, offsets_of
from netloom.base.errors import DeadlockError, InputError
from netloom.routing import rules
from netloom.routing.by_hop import tables as hop
from netloom.routing.forwarding.tables import (
    Choices,
    ForwardingTable,
    check_table,
    cycle_of_waits,
    dependencies,
    lane_circle,
    layered,
    senders,
)
from netloom.routing.parse import MOST_ROUTES, Routing, all_pairs, paths
from netloom.routing.ragged import PAIRS_AT_ONCE, Paths
from netloom.routing.source_routing import SourceRoutes
from netloom.routing.virtual_channel_tables import VirtualChannelRouting
from netloom.topology import Topology
from netloom.topology.core import port_numbers

Listed: TypeAlias = "tuple[hop.HopTables, hop.Births]"

MOST_HOPS = 2**26
"""Most hops of paths that are kept, some 300 MB."""

MOST_SOUGHT = 2**20
"""Most hops for which as few layers as possible are sought, unless VCs are too few otherwise."""


def listed_paths(topology: Topology, routing: Routing) -> hop.PathBirths:
    """Return all paths of a routing between the hosts of a network.

    If a path depends only on the routers at its ends, return the paths between routers.

    Raises
    ------
    InputError
        If there are too many.
    NoRouteError
        If a pair has none.
    """
    into, one_port = topology.injection_router, topology.num_ports == topology.num_hosts
    by_routers = isinstance(routing, rules.ShortestPath | rules.Layered) and one_port
    by_routers = by_routers and bool((into == topology.ejection_router).all())
    if isinstance(routing, SourceRoutes):
        keys, found = routing.pairs, routing.routes
    elif by_routers:
        routers, first = np.unique(into, return_index=True)
        hosts = topology.port_host[first]
        if len(hosts) ** 2 > MOST_ROUTES:
            many = f"{len(hosts)} routers with hosts for routing '{routing}'"
            most = f"at most {int(MOST_ROUTES**0.5)}"
            raise InputError(topology.name, many, f"{most} to list the paths between all of them")
        one, other = np.nonzero(~np.eye(len(hosts), dtype=np.bool_))
        keys = routers[one].astype(np.int64) * topology.num_routers + routers[other]
        found = paths(topology, routing, hosts[one], hosts[other])
    else:
        sources, targets = all_pairs(topology, str(routing))
        keys = sources.astype(np.int64) * topology.num_hosts + targets
        found = paths(topology, routing, sources, targets)
    if len(found.channels) > MOST_HOPS:
        hops = f"paths of {len(found.channels):,} hops for routing '{routing}'"
        raise InputError(topology.name, hops, f"at most {MOST_HOPS:,} to list them")
    ports = None if by_routers else np.stack(found.ports)
    offsets = np.append(found.offsets, found.offsets[-1])
    return hop.PathBirths(topology, str(routing), keys, Paths(offsets, found.channels), ports)


def hop_layers(
    topology: Topology, routing: Routing, routed: Paths, num_vcs: int
) -> tuple[UInt8s, int]:
    """Return the layer of virtual channels of each hop, and how many layers there are.

    One layer where packets cannot wait for each other in a circle. Otherwise the layers of
    ``Layered``, or one layer for each hop of a path, which always suffices.

    Parameters
    ----------
    topology, routing
        The network and the routing.
    routed
        Paths between routers.
    num_vcs
        How many layers there can be.

    Raises
    ------
    DeadlockError
        If more layers are needed, with the circle in one.
    """
    hops = len(routed.channels)
    if rules.in_one_order(topology, routing):
        return np.zeros(hops, np.uint8), 1
    count = topology.num_network_channels
    held, asked = dependencies(routed)
    waits = distinct(held.astype(np.int64) * count + asked)
    circle = cycle_of_waits(*np.divmod(waits, count), count)
    if not circle:
        return np.zeros(hops, np.uint8), 1
    needed = []
    for layer in _layerings(topology, routed):
        count = int(layer.max()) + 1
        if count <= num_vcs:
            return layer.astype(np.uint8), count
        needed.append(count)
    named = tuple(topology.channel_name(channel) for channel in circle)
    wanted = f"at least {min(needed)} VCs, or routing up-down"
    raise DeadlockError(_where(topology, routing, num_vcs), named, wanted)


def _layerings(topology: Topology, routed: Paths) -> Iterator[Ints]:
    """Yield layers of hops without a circle, int[num_hops] each, until one is good enough."""
    inside = topology.routers
    begin = np.repeat(routed.offsets[:-1], routed.lengths)
    by_hop = np.arange(len(routed.channels)) - begin
    if len(by_hop) > MOST_SOUGHT:
        yield by_hop
    if np.bincount(inside.channel_source).max() <= rules.MOST_PORTS:
        yield rules.layers(inside, routed.taken(np.flatnonzero(routed.lengths)))
    yield by_hop


def as_table(topology: Topology, routing: Routing) -> ForwardingTable | None:
    """Return a routing as a forwarding table. None if it is not one by destination alone.

    A function's is none where hosts have several ports, for packets may leave at any of them.
    """
    one_port = topology.num_ports == topology.num_hosts
    if isinstance(routing, ForwardingTable) and (routing.choices is None or one_port):
        return routing
    if isinstance(routing, rules.Spread):
        return routing.table(topology)
    if not isinstance(routing, rules.DModK) or not one_port:
        return None
    # the paths from one host of each router say the entries
    _, first = np.unique(topology.injection_router, return_index=True)
    hosts = topology.port_host[first]
    table = np.full((topology.num_ports, topology.num_routers), -1, np.int32)
    step = max(PAIRS_AT_ONCE // len(hosts), 1)
    for begin in range(0, topology.num_hosts, step):
        targets = np.arange(begin, min(begin + step, topology.num_hosts), dtype=np.int32)
        target = np.repeat(targets, len(hosts))
        found = paths(topology, routing, np.tile(hosts, len(targets)), target)
        router = topology.routers.channel_source[found.channels]
        table[np.repeat(target, found.lengths), router] = found.channels
    return ForwardingTable(str(routing), table)


def laned(
    topology: Topology, table: ForwardingTable, num_vcs: int, *, free: bool
) -> tuple[ForwardingTable, UInt8s]:
    """Return a table with lanes free of circles, and the lanes that hosts' packets use.

    If lanes are ``free``, as nobody has said any, packets that could wait in a circle are put into
    lanes as ``forwarding.tables.layered`` does.

    Returns
    -------
    table, lanes
        uint8[], the lanes, ascending. A lane becomes a share of the virtual channels.

    Raises
    ------
    DeadlockError
        With the circle, if packets can wait for each other in one.
    InputError
        If there are fewer VCs than lanes.
    """
    if free and lane_circle(topology, table):
        table = replace(table, lanes=layered(topology, table.next_channel))
    else:
        check_circle(topology, table, num_vcs)
    lanes = np.zeros(1, np.uint8)
    if table.lanes is not None:
        assert table.lanes.lane_of is None  # a packet's lane is its service level, all the way
        level = table.lanes.level[: len(table.next_channel)]
        used = np.unique(level[(table.next_channel >= 0) & (senders(topology).T > 0)])
        lanes = used if len(used) else lanes
    check_lanes(topology, table, len(lanes), num_vcs)
    return table, lanes


def check_circle(topology: Topology, table: ForwardingTable, num_vcs: int) -> None:
    """Raise DeadlockError if hosts' packets can wait for each other in a circle."""
    circle = lane_circle(topology, table)
    if not circle:
        return
    lane_in = "" if table.lanes is None else " (lane {})"
    named = tuple(topology.channel_name(channel) + lane_in.format(lane) for channel, lane in circle)
    try:
        needed = int(layered(topology, table.next_channel).level.max(initial=0)) + 1
        instead = "routing up-down, or a table with lanes (dfsssp, nue:N)"
        wanted = f"{instead}: these paths need {needed}"
    except InputError:  # too many, or it leads in a circle
        wanted = "routing up-down or nue:1: more VCs do not help this one"
    raise DeadlockError(_where(topology, table, num_vcs), named, wanted)


def check_lanes(topology: Topology, routing: ForwardingTable, lanes: int, num_vcs: int) -> None:
    """Raise InputError if there are fewer VCs than lanes."""
    if lanes > num_vcs:
        found = f"packets in {lanes} lanes"
        raise InputError(_where(topology, routing, num_vcs), found, f"at least {lanes} VCs")


def _where(topology: Topology, routing: Routing, num_vcs: int) -> str:
    return f"{routing} on {topology.name} with {num_vcs} VC{'s' * (num_vcs > 1)}"


SHORTEST = rules.ShortestPath | rules.Layered | rules.Spread | rules.DModK | rules.SModK
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
    table = as_table(topology, routing)
    if table is None:
        tables, births = _by_paths(topology, routing, num_vcs)
    elif table.choices is not None:
        check_table(topology, table)
        if circle := lane_circle(topology, table):
            named = tuple(topology.channel_name(channel) for channel, _ in circle)
            wanted = "up-down, layered or a table without a circle: more VCs do not help this one"
            raise DeadlockError(f"{table} on {topology.name}", named, wanted)
        tables, births = _by_table(topology, table, np.zeros(1, np.uint8), num_vcs)
    elif table.lanes is not None and table.lanes.lane_of is not None:
        check_circle(topology, table, num_vcs)
        tables, births = _by_paths(topology, table, num_vcs)
    else:
        laned_table = laned(topology, table, num_vcs, free=isinstance(routing, rules.Spread))
        tables, births = _by_table(topology, *laned_table, num_vcs)
    chooses = isinstance(routing, ForwardingTable) and routing.choices is not None
    return VirtualChannelRouting(
        str(routing),
        topology,
        tables,
        needs_aux=isinstance(births, hop.PathBirths),
        minimal=isinstance(routing, SHORTEST),
        births=births,
        routes=None if chooses else routing,
    )


class PortLists(NamedTuple):
    """Lists of output ports, each as its length, then the ports.

    Attributes
    ----------
    start
        int32[], where lists begin. The list of each channel between routers: the ports of its lanes
        at its source. Of each set of channels: those of all. The last is empty, so -1 has none.
    ports
        int16[], all lists.
    """

    start: Ints
    ports: Int16s


def port_lists(topology: Topology, choices: Choices | None = None) -> PortLists:
    """Return the list of every channel of a network, and of sets that packets choose from.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> lists = port_lists(topology("leaf-spine:2x1x2"))
    >>> [lists.ports[place : place + 2].tolist() for place in lists.start]
    [[1, 0], [1, 0], [1, 0], [1, 1], [0]]
    """
    wired, count = hop.hosted_ports(topology), topology.num_network_channels
    channels, offsets = np.arange(count), np.arange(count + 1)
    if choices is not None:
        channels = np.append(channels, choices.channels)
        offsets = np.append(offsets, count + choices.offsets[1:])
    lanes = wired.lanes[channels]
    many = np.diff(offsets_of(lanes)[offsets])
    start = offsets_of(many + 1)
    ports = np.zeros(start[-1] + 1, np.int16)
    ports[start[:-1]] = many
    member, lane = hop.each_lane(lanes)
    place = np.arange(len(member)) + np.repeat(np.arange(1, len(many) + 1), many)
    ports[place] = wired.out_port[channels[member]] + lane
    return PortLists(start.astype(np.int32), ports)


def _by_table(topology: Topology, table: ForwardingTable, lanes: UInt8s, num_vcs: int) -> Listed:
    """Return the routing of a forwarding table, a packet's lane the same all the way."""
    from netloom.routing.kernels.forwarding import outcomes

    next_channel = table.next_channel
    hop.check_starts(topology, next_channel.size)
    lists = port_lists(topology, table.choices)
    starts = lists.start[np.ascontiguousarray(next_channel.T)].ravel()
    goals = hop.NextPorts(len(next_channel), starts, lists.ports, np.zeros(0, np.int16))
    entry, sink = hop.pair_ports(topology, always=True)  # as listed paths take them
    level = np.zeros(0, np.uint8)
    if table.lanes is not None and len(lanes) > 1:
        level = np.searchsorted(lanes, table.lanes.level[: len(next_channel)]).astype(np.uint8)
    in_lanes = states(topology, rules.layer_vcs(len(lanes), num_vcs), num_vcs)
    found = hop.hop_tables(
        topology, num_vcs, [goals], in_lanes, choice=hop.EVERY, level=level.ravel()
    )
    every = np.arange(topology.num_ports, dtype=np.int32)
    tables = found._replace(sink_goal=every, pair_entry=entry, pair_sink=sink)
    if table.choices is not None:  # which all lead to the target
        reached = next_channel >= 0
        reached[np.arange(len(reached)), topology.ejection_router] = True
    else:
        lost = table.undelivered
        lost = np.zeros(topology.num_ports, np.bool_) if lost is None else lost
        wires = topology.ejection_router, lost, topology.routers.channel_target
        reached = outcomes(next_channel, *wires) == -1
    everywhere = reached[:, np.unique(topology.injection_router)].all()
    return tables, hop.TableBirths(topology, str(table), None if everywhere else reached)


def _by_paths(topology: Topology, routing: Routing, num_vcs: int) -> Listed:
    """Return the routing of all paths, each hop in the VCs of its lane or layer."""
    births = listed_paths(topology, routing)
    routed, lists = births.routed, port_lists(topology)
    own = np.zeros((2, 0), np.int32) if births.ports is None else births.ports
    if isinstance(routing, ForwardingTable) and routing.lanes is not None:
        # the lane by the port that a packet comes in by, the one it goes out by, and its level
        assert routing.lanes.lane_of is not None
        out_port, in_port = port_numbers(topology)
        port, sink = own
        lengths = routed.lengths[: len(port)]
        path = np.repeat(np.arange(len(port)), lengths)
        level = routing.lanes.level[sink, topology.injection_router[port]][path]
        held = np.empty_like(routed.channels)
        held[1:] = routed.channels[:-1]
        begins = routed.offsets[: len(port)][lengths > 0]
        held[begins] = topology.num_network_channels + port[lengths > 0]
        router = topology.routers.channel_source[routed.channels]
        ports = in_port[held], out_port[routed.channels]
        by_hop = routing.lanes.lane_of[router, *ports, level]
        lanes = np.unique(by_hop)
        layer, count = np.searchsorted(lanes, by_hop).astype(np.uint8), max(len(lanes), 1)
        check_lanes(topology, routing, count, num_vcs)
    else:
        layer, count = hop_layers(topology, routing, routed, num_vcs)
    in_layers = states(topology, rules.layer_vcs(count, num_vcs), num_vcs)
    tables = hop.hop_tables(topology, num_vcs, [], in_layers, choice=hop.GIVEN, ports=lists.ports)
    starts = lists.start[routed.channels]
    tables = tables._replace(path_offsets=routed.offsets, path_starts=starts, path_layer=layer)
    return tables._replace(path_entry=own[0], path_sink=own[1]), births


def states(topology: Topology, vcs: Ints, num_vcs: int) -> hop.Automaton:
    """Return the states of packets that stay in one: a lane or layer, with its VCs, each."""
    kind = np.zeros(topology.num_network_channels, np.int8)
    return hop.plain_states(kind, np.arange(len(vcs))[:, None], vcs, num_vcs)
