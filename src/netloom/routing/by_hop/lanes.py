"""Forwarding tables as routers of virtual channels see them: rows, lanes, and what they reach."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import DeadlockError, InputError
from netloom.routing.forwarding.lanes import lane_circle, layered
from netloom.routing.forwarding.tables import ForwardingTable, exits, senders
from netloom.routing.hosted import PAIRS_AT_ONCE
from netloom.routing.parse import paths
from netloom.routing.spread import Spread, spread_table
from netloom.routing.trees import DModK
from netloom.topology.cabling import port_numbers

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Ints
    from netloom.routing.by_hop.births import PathBirths
    from netloom.routing.parse import Routing
    from netloom.topology import Topology


def as_table(topology: Topology, routing: Routing) -> ForwardingTable | None:
    """Return a routing as a forwarding table. None if it is not one by destination alone."""
    if isinstance(routing, ForwardingTable):
        return routing
    if isinstance(routing, Spread):
        return ForwardingTable(str(routing), spread_table(topology))
    if isinstance(routing, DModK) and topology.num_ports == topology.num_hosts:
        return ForwardingTable(str(routing), _rows(topology, routing))
    return None


def _rows(topology: Topology, routing: DModK) -> Ints:
    """Return the table whose entries the paths from one host of each router say."""
    routers, first = np.unique(topology.injection_router, return_index=True)
    hosts, channels = topology.port_host[first], topology.num_network_channels
    table = np.full((topology.num_ports, topology.num_routers), -1, np.int32)
    step = max(PAIRS_AT_ONCE // len(hosts), 1)
    for begin in range(0, topology.num_hosts, step):
        targets = np.arange(begin, min(begin + step, topology.num_hosts), dtype=np.int32)
        target = np.repeat(targets, len(hosts))
        found = paths(topology, routing, np.tile(hosts, len(targets)), target)
        row = np.repeat(target, found.lengths)
        inside = found.channels < channels
        row, hop = row[inside], found.channels[inside]
        table[row, topology.routers.channel_source[hop]] = hop
    assert len(routers) == len(hosts)
    return table


def laned(
    topology: Topology, table: ForwardingTable, num_vcs: int, *, free: bool
) -> tuple[ForwardingTable, NDArray[np.uint8]]:
    """Return a table with lanes free of circles, and the lanes that hosts' packets use.

    If lanes are ``free``, as nobody has said any, packets that could wait in a circle are put into
    lanes as ``forwarding.lanes.layered`` does.

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
    lanes = lanes_of_hosts(topology, table)
    check_lanes(topology, table, len(lanes), num_vcs)
    return table, lanes


def check_circle(topology: Topology, table: ForwardingTable, num_vcs: int) -> None:
    """Raise DeadlockError if hosts' packets can wait for each other in a circle."""
    circle = lane_circle(topology, table)
    if circle:
        one = table.lanes is None
        named = (topology.channel_name(channel) + f" (lane {lane})" * (not one)
                 for channel, lane in circle)  # fmt: skip
        raise DeadlockError(
            _where(topology, table, num_vcs), tuple(named), _instead(topology, table)
        )


def check_lanes(topology: Topology, routing: ForwardingTable, lanes: int, num_vcs: int) -> None:
    """Raise InputError if there are fewer VCs than lanes."""
    if lanes > num_vcs:
        found = f"packets in {lanes} lanes"
        raise InputError(_where(topology, routing, num_vcs), found, f"at least {lanes} VCs")


def _where(topology: Topology, table: ForwardingTable, num_vcs: int) -> str:
    return f"{table} on {topology.name} with {num_vcs} VC{'s' * (num_vcs > 1)}"


def _instead(topology: Topology, table: ForwardingTable) -> str:
    """Return what to take instead of a table that can deadlock."""
    try:
        lanes = layered(topology, table.next_channel)
    except InputError:  # too many, or it leads in a circle
        return "routing up-down or nue:1: more VCs do not help this one"
    needed = int(lanes.level.max(initial=0)) + 1
    return f"routing up-down, or a table with lanes (dfsssp, nue:N): these paths need {needed}"


def lanes_of_hosts(topology: Topology, table: ForwardingTable) -> NDArray[np.uint8]:
    """Return the lanes that packets between hosts take, ascending, uint8[]. At least one.

    For tables by which a packet's lane is its service level, all the way.
    """
    if table.lanes is None:
        return np.zeros(1, np.uint8)
    assert table.lanes.lane_of is None
    sends = senders(topology).T > 0
    level = table.lanes.level[: len(table.next_channel)]
    lanes: NDArray[np.uint8] = np.unique(level[(table.next_channel >= 0) & sends])
    return lanes if len(lanes) else np.zeros(1, np.uint8)


def hop_lanes(topology: Topology, table: ForwardingTable, births: PathBirths) -> NDArray[np.uint8]:
    """Return the lane of each hop of the paths of a table, where lanes change on the way.

    uint8[num_hops], by the port that a packet comes in by, the port it goes out by, and its service
    level.
    """
    assert table.lanes is not None
    assert table.lanes.lane_of is not None
    assert births.ports is not None
    out_port, in_port = port_numbers(topology)
    routed, (port, sink) = births.routed, births.ports
    lengths = routed.lengths[: len(port)]
    path = np.repeat(np.arange(len(port)), lengths)
    level = table.lanes.level[sink, topology.injection_router[port]][path]
    held = np.empty_like(routed.channels)
    held[1:] = routed.channels[:-1]
    begins = routed.offsets[: len(port)][lengths > 0]
    held[begins] = topology.num_network_channels + port[lengths > 0]
    router = topology.routers.channel_source[routed.channels]
    lanes: NDArray[np.uint8] = table.lanes.lane_of[
        router, in_port[held], out_port[routed.channels], level
    ]
    return lanes


def reached(topology: Topology, table: ForwardingTable) -> Bools | None:
    """Return where packets come to each host port from. None if from all routers of hosts.

    bool[num_ports, num_routers], by the router that they enter by.
    """
    from netloom.routing.kernels.forwarding import follow_lengths

    next_channel, leaves = table.next_channel, exits(topology)
    entries = np.unique(topology.injection_router)
    found = np.zeros(next_channel.shape, np.bool_)
    step = max(PAIRS_AT_ONCE // len(entries), 1)
    for begin in range(0, len(next_channel), step):
        rows = np.arange(begin, min(begin + step, len(next_channel)), dtype=np.int32)
        row, entry = np.repeat(rows, len(entries)), np.tile(entries, len(rows))
        enters = topology.routers.channel_target
        lengths, last = follow_lengths(next_channel, row, entry, enters)
        found[row, entry] = (lengths >= 0) & (last == leaves[row])
    if table.undelivered is not None:
        found[table.undelivered] = False
    return None if found[:, entries].all() else found
