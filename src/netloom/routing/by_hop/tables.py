"""Numbers of ports, what the kernel of routing by hop takes, and what packets carry.

A packet at a router is in a *state*. The state determines which table it follows to which goal.
With the kind of the next channel, it also determines the packet's next state and VCs. So the VCs of
each part of a path are data. Following all packets shows whether they can wait for each other in a
circle (``by_hop.hosted.hop_circle``). A packet between hosts may carry the number of its path from
its birth on, if its routing is listed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from netloom.base.arrays import (
    NO_INT32S,
    NO_INT64S,
    Bools,
    Int8s,
    Int16s,
    Ints,
    UInt8s,
    UInt64s,
    offsets_of,
    places_within,
)
from netloom.base.errors import InputError
from netloom.routing.ragged import Paths, check_found, legs
from netloom.routing.rules import Ways
from netloom.topology import Cube, Topology
from netloom.topology.core import joined, ranks

# -- port numbers ----------------------------------------------------------------------------------


MOST_PORTS = 2**14
"""Most ports of a router: their numbers are int16."""

TINY = 1e-9
"""What a bandwidth may be above a whole number and not need a lane more."""


class Ports(NamedTuple):
    """The network ports of every router of a network.

    Attributes
    ----------
    num_network_ports
        Most network ports of any node. Ports of a node are numbered from 0.
    out_port, in_port
        int32[num_channels], the output port by which a channel leaves its source and the input
        port by which it enters its target.
    axis_port
        int64[dimensions, 2], the port of growing (0) and of falling (1) coordinates in each
        dimension of a k-ary n-cube. It is -1 in a dimension of one node, and empty on other
        networks.
    """

    num_network_ports: int
    out_port: Ints
    in_port: Ints
    axis_port: Ints


def ports(topology: Topology) -> Ports:
    """Return the port numbers of a network.

    On a k-ary n-cube the dimensions take ports in their order: two each, growing coordinates
    first, but one where a dimension has two nodes (both directions are one link there). A channel
    enters by the input port of the number of the output port it left by. On any other network a
    channel's ports are its ranks, by channel number, among those that leave its source and among
    those that enter its target.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> ports(mesh(2, 3)).axis_port.tolist()
    [[0, 0], [1, 2]]
    """
    if isinstance(topology, Cube):
        axis_port = np.full((len(topology.sides), 2), -1, np.int64)
        count = 0
        for axis, side in enumerate(topology.sides):
            needed = min(side - 1, 2)
            axis_port[axis] = [count, count + needed - 1] if needed else [-1, -1]
            count += needed
        lines = topology.num_routers // np.array(topology.sides, np.int64)
        port = np.repeat(axis_port.ravel(), np.repeat(lines * topology.line_channels, 2))
        return Ports(count, port.astype(np.int32), port.astype(np.int32), axis_port)
    out_port, in_port = ranks(*topology.outgoing()), ranks(*topology.incoming())
    most = int(max(out_port.max(initial=-1), in_port.max(initial=-1))) + 1
    return Ports(most, out_port, in_port, np.zeros((0, 2), np.int64))


def channels_by_port(topology: Topology) -> Ints:
    """Return the channel at each output port, int64[num_nodes, network ports], -1 for none."""
    wired = ports(topology)
    channel_at = np.full((topology.num_routers, wired.num_network_ports), -1, np.int64)
    channel_at[topology.channel_source, wired.out_port] = np.arange(topology.num_channels)
    return channel_at


class HostedPorts(NamedTuple):
    """The ports of every router of a network whose hosts hang on routers.

    Attributes
    ----------
    num_ports
        Most input or output ports of any router. Ports of a router are numbered from 0.
    network_ports
        Where the ports of hosts begin, if it is the same at all routers. Else ``num_ports``.
    out_port, in_port
        int32[num_channels], the first output port by which a channel leaves its source, and the
        first input port by which it enters its target. It is 0 at a host's end.
    lanes
        int32[num_channels], how many ports in a row each channel has at either end.
    """

    num_ports: int
    network_ports: int
    out_port: Ints
    in_port: Ints
    lanes: Ints


def hosted_ports(topology: Topology) -> HostedPorts:
    """Return the port numbers of a network whose hosts hang on routers.

    A router's output ports are those of the channels that leave it, by channel number: channels
    to routers first, then to its host ports. Input ports are numbered alike by the channels that
    enter. A channel of bandwidth above 1 is a bundle of ⌈bandwidth⌉ lanes, each a port. Routers
    that are a k-ary n-cube without bundles have the ports of ``ports``, and those of hosts behind.

    Raises
    ------
    InputError
        If a router has more than ``MOST_PORTS``.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> wired = hosted_ports(topology("leaf-spine:2x1x2"))
    >>> wired.num_ports, wired.out_port.tolist()
    (3, [0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 1, 2])
    """
    routers, lanes, many = topology.routers, channel_lanes(topology), topology.num_ports
    inside, into, out_of = np.split(lanes, [routers.num_channels, routers.num_channels + many])
    leaving, entering = np.zeros((2, routers.num_routers), np.int32)
    cube = isinstance(routers, Cube) and bool((inside == 1).all())
    if isinstance(routers, Cube) and cube:
        by_axis = ports(routers)
        leaving += by_axis.num_network_ports
        entering += by_axis.num_network_ports
        out_port, in_port = by_axis.out_port, by_axis.in_port
    else:
        out_port = _first_ports(routers.channel_source, inside, leaving)
        in_port = _first_ports(routers.channel_target, inside, entering)
    network_ports = int(leaving.max(initial=0))
    injection = _first_ports(topology.injection_router, into, entering)
    ejection = _first_ports(topology.ejection_router, out_of, leaving)
    num_ports = int(max(leaving.max(initial=0), entering.max(initial=0)))
    if num_ports > MOST_PORTS:
        found = f"a router of {num_ports} ports, bundles counted by their lanes"
        raise InputError(topology.name, found, f"at most {MOST_PORTS}")
    none = np.zeros(many, np.int32)
    out_port, in_port = np.append(out_port, none), np.append(in_port, injection)
    numbers = np.append(out_port, ejection), np.append(in_port, none)
    return HostedPorts(num_ports, network_ports if cube else num_ports, *numbers, lanes)


def channel_lanes(topology: Topology) -> Ints:
    """Return int32[num_channels], the lanes of each channel: its bandwidth, rounded up."""
    return np.ceil(np.maximum(topology.channel_bandwidth, 1) - TINY).astype(np.int32)


def each_lane(lanes: Ints) -> tuple[Ints, Ints]:
    """Return the place in ``lanes`` of the channel of every lane, and the lane's number there.

    Examples
    --------
    >>> [each.tolist() for each in each_lane(np.array([1, 3], np.int32))]
    [[0, 1, 1, 1], [0, 0, 1, 2]]
    """
    channel = np.repeat(np.arange(len(lanes)), lanes)
    return channel, places_within(lanes)


def _first_ports(router: Ints, lanes: Ints, free: Ints) -> Ints:
    """Return the first port of each channel at its router, int32[len(router)].

    ``free`` is the first port of each router that is free: it is moved behind these.
    """
    order = np.argsort(router, kind="stable")
    before, ordered = offsets_of(lanes[order]), router[order]
    found = np.empty(len(router), np.int32)
    found[order] = before[:-1] - before[np.searchsorted(ordered, ordered)]
    found += free[router]
    free += np.bincount(router, lanes, len(free)).astype(np.int32)
    return found


# -- tables ----------------------------------------------------------------------------------------


# Which of the next ports a packet asks for, for HopTables.choice.
DRAWN = 0  # one at random
TWO = 1  # two drawn, the less used of them; if equal, the first
LEAST = 2  # the least used, of several any at random
EVERY = 3  # all of them
HASHED = 4  # one by a hash of source, target and router
OWN = 5  # the one that a user's function names
GIVEN = 6  # given paths

# Whether a packet makes a detour, for HopTables.detour.
ALWAYS = 1  # every packet
LOCAL = 2  # by the queues of the first ports of both ways
ALONG = 3  # by the queues along both ways

MOST_VCS = 64
"""VCs of a channel: a set of them is a word of 64 bits."""
MOST_PAIRS = 2**22
"""Most pairs of hosts of several ports: the ports of each pair are kept."""

MOST_STARTS = 2**28
"""Most routers × goals of all tables of a routing, a gigabyte."""


class HopTables(NamedTuple):
    """What ``kernels.by_hop.next_hop`` takes, whole: numbers and flat arrays.

    With R routers, ``at = router << port_shift | port``. P are host ports, S states, K kinds of
    channels. VCs are the bits of an int64.
    """

    num_vcs: int
    lane_shift: int  # a slot is port << lane_shift | vc
    port_shift: int
    num_kinds: int
    escape_state: int  # the first state of such packets, who ask for all ports; S: there is none
    next_router: Ints  # [at] router behind an output port; -1 behind a host's
    out_kind: Int8s  # [at] kind of the channel at an output port
    in_kind: Int8s  # [at] kind of the channel at an input port; -1 of a host's
    exit_router: Ints  # [P] router that a host port receives from
    exit_port: Int16s  # [P] first of its output ports there
    exit_lanes: Int16s  # [P] how many
    sink_goal: Ints  # [P] the goal, in the tables, of packets to a host port
    table_start: Ints  # [tables] where each begins in starts and lengths
    table_goals: Ints  # [tables] number of its goals
    starts: Ints  # [table_start + router * goals + goal] where in ports ...
    ports: Int16s  # ... the number of next ports is, and behind it the ports
    lengths: Int16s  # [as starts] hops to the goal; -1: no way
    detour_class: Ints  # [R]
    delta: Int16s  # [state * kinds + kind] state behind a channel
    vcs: Ints  # [S] VCs of the channel by which a packet comes into a state
    eject_vcs: Ints  # [S] VCs to the host; none: a packet passes its exit by
    table: Int8s  # [S] table that a packet follows
    to_aux: Int8s  # [S] whether its goal is packet.aux, the detour's
    decides: Int8s  # [S] whether it decides on a detour
    keep: Int16s  # [S] state after deciding against, or having drawn no goal (-1)
    leave: Int16s  # [S] state after deciding for it
    turn: Int16s  # [S] state from where a detour's goal is reached
    none: Int16s  # [S] state at the exit, or where there is no goal to draw
    pair_entry: Ints  # [source * hosts + target] port by which packets enter, and ...
    pair_sink: Ints  # ... leave; none where any port of either will do
    choice: int = DRAWN
    detour: int = 0
    threshold: int = 0  # flits in favor of the way without a detour
    weight: int = 0  # of a queue on that way; 0: the hops of the way
    detour_weight: int = 0  # of a queue on a detour; 0: its hops
    even_by_coin: int = 0  # whether a coin decides where both come to the same, else no detour
    adaptive_vcs: int = 0  # VCs preferred on network ports; none: no preference
    escape_vcs: int = 0  # VCs that a packet which is in one never leaves again
    function: int = 0  # address of the user's function
    detour_classes: int = 1
    detour_start: Ints = np.zeros(1, np.int32)  # [class of router * classes + class of exit] ...
    detours: Ints = np.zeros(1, np.int32)  # ... where here their number is, behind it the goals
    salts: UInt64s = np.zeros(0, np.uint64)  # [R] seeds of the hashes
    level: UInt8s = np.zeros(0, np.uint8)  # [sink * R + router] first state; none: 0
    path_offsets: Ints = NO_INT64S  # [paths + 1] for given paths, where hops begin
    path_starts: Ints = NO_INT32S  # [hops] where in ports the list of each hop is
    path_layer: UInt8s = np.zeros(0, np.uint8)  # [hops] state behind it: its VCs
    path_entry: Ints = NO_INT32S  # [paths] port by which packets enter, and ...
    path_sink: Ints = NO_INT32S  # ... leave; none where paths are between routers


class NextPorts(NamedTuple):
    """One table of ports that lead on.

    Attributes
    ----------
    num_goals
        G.
    starts
        int32[R * G], by router * G + goal, the place in ``ports`` of the list's length.
    ports
        int16[], lengths of lists, each followed by its ports, ascending.
    lengths
        int16[R * G], hops to the goal; -1 where there is no way.
    """

    num_goals: int
    starts: Ints
    ports: Int16s
    lengths: Int16s


class Automaton(NamedTuple):
    """The states of packets. Fields as in ``HopTables``, ``kind`` of the channels of routers."""

    kind: Int8s  # [num_network_channels]
    delta: Int16s  # [S, K]
    vcs: Ints
    eject_vcs: Ints
    table: Int8s
    to_aux: Int8s
    decides: Int8s
    keep: Int16s
    leave: Int16s
    turn: Int16s
    none: Int16s | None = None  # as ``keep`` where it is not given


def plain_states(kind: Int8s, delta: Ints, vcs: Ints, num_vcs: int) -> Automaton:
    """Return states of packets that follow table 0 to their exits without a detour."""
    own, no = np.arange(len(vcs), dtype=np.int16), np.zeros(len(vcs), np.int8)
    every = np.full(len(vcs), bits(num_vcs), np.int64)
    return Automaton(kind, delta.astype(np.int16), vcs, every, no, no, no, own, own, own)


def bits(count: int) -> int:
    """Return the lowest ``count`` VCs as the bits of an int64. All 64 are -1."""
    return (1 << count) - 1 if count < MOST_VCS else -1


def next_ports(topology: Topology, ways: Ways, channels: Ints | None = None) -> NextPorts:
    """Return the ports that lead on by these ways, to each of their goals.

    ``channels`` are those of the network that the ways take: each its own if nothing is said.

    Raises
    ------
    InputError
        If the table would be too large.

    Examples
    --------
    >>> from netloom.routing.rules import shortest_ways
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x3x1")
    >>> found = next_ports(net, shortest_ways(net.routers))
    >>> found.ports[found.starts[0 * found.num_goals + 1] :][:4].tolist()  # leaf 0 to leaf 1
    [3, 0, 1, 2]
    """
    from netloom.routing.kernels.several import fill_next_ports

    wired, vertices = hosted_ports(topology), len(ways.group)
    num_goals = int(ways.goal.max(initial=0)) + 1
    check_starts(topology, vertices * num_goals)
    if channels is None:
        channels = np.arange(topology.num_network_channels)
    starts = np.zeros(vertices * num_goals, np.int32)
    lengths = np.full(vertices * num_goals, -1, np.int16)
    wires = wired.out_port[channels], wired.lanes[channels], num_goals
    scratch = np.empty(wired.num_ports + 1, np.int16)
    ports, size = fill_next_ports(ways, *wires, starts, lengths, scratch)
    return NextPorts(num_goals, starts, ports[:size].copy(), lengths)


def check_starts(topology: Topology, count: int) -> None:
    """Refuse tables that would be too large."""
    if count > MOST_STARTS:
        found = f"{count:,} entries of routers × goals"
        raise InputError(topology.name, found, f"at most {MOST_STARTS:,} for routing by hop")


def hop_tables(
    topology: Topology, num_vcs: int, tables: Sequence[NextPorts], automaton: Automaton, **more: Any
) -> HopTables:
    """Return the record of a routing on a network of hosts on routers.

    Parameters
    ----------
    topology, num_vcs
        The network, and the VCs of every channel.
    tables
        What packets may follow, by the numbers of ``automaton.table``.
    automaton
        The states.
    **more
        Other fields of ``HopTables``.
    """
    wired = hosted_ports(topology)
    port_shift = max(wired.num_ports - 1, 1).bit_length()
    shape, inside = (topology.num_routers, 1 << port_shift), topology.num_network_channels
    next_router, kinds = np.full(shape, -1, np.int32), np.full((2, *shape), -1, np.int8)
    for at, channels in enumerate(channels_at_ports(topology)):
        rows, places = np.nonzero((channels >= 0) & (channels < inside))
        between = channels[rows, places]
        kinds[at, rows, places] = automaton.kind[between]
        if at == 0:
            next_router[rows, places] = topology.channel_target[between]
    many = np.array([each.num_goals for each in tables], np.int64)
    sizes = np.array([len(each.starts) for each in tables], np.int64)
    before = offsets_of([len(each.ports) for each in tables])
    begins = zip(tables, before[:-1], strict=True)
    shifted = [each.starts + np.int32(first) for each, first in begins]
    pair_entry, pair_sink = pair_ports(topology, always=False)
    states = automaton._asdict() | {"delta": automaton.delta.astype(np.int16).ravel()}
    del states["kind"]
    if automaton.none is None:
        states["none"] = automaton.keep
    plain = HopTables(
        num_vcs=num_vcs,
        lane_shift=max(num_vcs - 1, 0).bit_length(),
        port_shift=port_shift,
        num_kinds=automaton.delta.shape[1],
        escape_state=len(automaton.vcs),
        next_router=next_router.ravel(),
        out_kind=kinds[0].ravel(),
        in_kind=kinds[1].ravel(),
        exit_router=topology.ejection_router,
        **exits_of(topology),
        sink_goal=topology.ejection_router,
        table_start=offsets_of(sizes)[:-1],
        table_goals=many,
        starts=np.concatenate([NO_INT32S, *shifted]),
        ports=np.concatenate([np.zeros(1, np.int16), *(each.ports for each in tables)])[1:],
        lengths=np.concatenate([np.zeros(0, np.int16), *(each.lengths for each in tables)]),
        detour_class=np.zeros(topology.num_routers, np.int32),
        **states,
        pair_entry=pair_entry,
        pair_sink=pair_sink,
    )
    return plain._replace(**more)


def exits_of(topology: Topology) -> dict[str, Any]:
    """Return the first output port of each host port at its router, and how many there are."""
    wired, first = hosted_ports(topology), topology.num_network_channels + topology.num_ports
    parts = {"exit_port": wired.out_port, "exit_lanes": wired.lanes}
    return {name: part[first:].astype(np.int16) for name, part in parts.items()}


def pair_ports(topology: Topology, *, always: bool) -> tuple[Ints, Ints]:
    """Return the ports by which the packets of each pair of hosts enter and leave.

    int32[num_hosts * num_hosts] both, by source, then target. As ``ragged.legs`` says. Empty where
    every host has one port, and, unless they are wanted ``always``, where packets can go from any
    port to any other.

    Raises
    ------
    InputError
        If hosts have several ports, and there are too many hosts.
    """
    hosts = topology.num_hosts
    works = np.diff(topology.port_offsets) > 0
    one_port = (np.diff(topology.port_offsets) <= 1).all()
    if not (one_port or always):  # are there routers with hosts that cannot reach each other?
        between = topology.channel_source, topology.channel_target
        part = joined(topology.num_routers, *between, both_ways=True)
        met = part[np.concatenate([topology.injection_router, topology.ejection_router])]
        always = bool((met != met[0]).any())
    if one_port or not always:
        return NO_INT32S, NO_INT32S
    if hosts**2 > MOST_PAIRS:
        most = f"at most {int(MOST_PAIRS**0.5)} for routing by hop"
        raise InputError(topology.name, f"{hosts} hosts, some of several ports", most)
    known = np.flatnonzero(works[:, None] & works)
    sources, targets = (ends.astype(np.int32) for ends in np.divmod(known, hosts))
    ends, found = legs(topology, sources, targets), np.zeros((2, hosts**2), np.int32)
    found[:, known] = ends.source_port, ends.target_port
    return found[0], found[1]


def channels_at_ports(topology: Topology) -> tuple[Ints, Ints]:
    """Return the channel at each output and each input port, int32[R, ports] both, -1 for none.

    A bundle's channel is at each of its lanes.
    """
    wired = hosted_ports(topology)
    found = []
    for end, port in ((topology.source_end, wired.out_port), (topology.target_end, wired.in_port)):
        at = np.full((topology.num_routers, wired.num_ports), -1, np.int32)
        channels = np.flatnonzero(end >= topology.num_hosts).astype(np.int32)
        place, lane = each_lane(wired.lanes[channels])
        each = channels[place]
        at[end[each] - topology.num_hosts, port[each] + lane] = each
        found.append(at)
    return found[0], found[1]


# -- births ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class TableBirths:
    """Packets that tables lead on carry nothing.

    Attributes
    ----------
    topology, name
        The network, and the routing for messages.
    reached
        bool[num_ports, num_routers], whether packets come to a host port from the router that they
        enter by. None where they always do.
    """

    topology: Topology
    name: str
    reached: Bools | None = None

    def draw(self, tables: HopTables, sources: Ints, targets: Ints) -> Ints:
        """Return int32[num_packets] of -1.

        Raises
        ------
        NoRouteError
            If the tables do not lead from a source to its target.
        """
        if self.reached is not None:
            offsets = self.topology.port_offsets
            port, sink = offsets[sources], offsets[targets]
            if len(tables.pair_sink):
                pair = sources.astype(np.int64) * self.topology.num_hosts + targets
                port, sink = tables.pair_entry[pair], tables.pair_sink[pair]
            found = self.reached[sink, self.topology.injection_router[port]]
            check_found(found, sources, targets, "hosts that can reach each other", self.name)
        return np.full(len(sources), -1, np.int32)


@dataclass(frozen=True, eq=False)
class PathBirths:
    """Packets that carry the number of the path listed for their pair.

    Attributes
    ----------
    topology, name
        The network, and the routing for messages.
    pairs
        int64[num_pairs], ascending: ``source * num_hosts + target``, or, where paths join routers,
        ``entry * num_routers + exit``.
    routed
        Their paths without channels of hosts. One more stands behind them, which is empty: that of
        packets that stay at their router.
    ports
        int32[2, num_paths], the injection port and the sink of each. None where paths join routers.
    """

    topology: Topology
    name: str
    pairs: Ints
    routed: Paths
    ports: Ints | None = None

    def draw(self, tables: HopTables, sources: Ints, targets: Ints) -> Ints:
        """Return int32[num_packets], the number of the path of each.

        Raises
        ------
        NoRouteError
            If a pair has no path.
        """
        del tables
        topology = self.topology
        start, end, count = sources, targets, topology.num_hosts
        own, sink = (topology.port_offsets[hosts] for hosts in (sources, targets))
        if self.ports is None:
            count = topology.num_routers
            start, end = topology.injection_router[own], topology.ejection_router[sink]
            still = start == end
        else:
            stays = topology.injection_router[own] == topology.ejection_router[own]
            still = (start == end) & stays
        keys = start.astype(np.int64) * count + end
        place = np.searchsorted(self.pairs, keys)
        found = still | (np.append(self.pairs, -1)[place] == keys)
        check_found(found, sources, targets, "a route for every pair that sends", self.name)
        return np.where(still, len(self.routed) - 1, place).astype(np.int32)


Births = TableBirths | PathBirths
