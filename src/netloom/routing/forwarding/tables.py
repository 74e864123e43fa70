"""Forwarding tables as routings, the lanes of their packets, and circles of channels that wait.

A table says for each destination and router the one channel that packets take next, as the
switches of a subnet do. Destinations are the host ports of a network, in their order, and the nodes
of a direct network. Other end points of a subnet, and the routers themselves, follow. If a table is
wrong, packets vanish, go round, or come to the wrong end.

Packets in one lane share buffers. They can deadlock if they wait for each other in a circle: a
cycle of the channel-dependency graph.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from netloom.base.arrays import (
    NO_INT32S,
    Bools,
    Int8s,
    Ints,
    UInt8s,
    UInt64s,
    distinct,
    offsets_of,
    places_within,
)
from netloom.base.errors import InputError
from netloom.base.figures import Figures, figure, unseen
from netloom.routing.ragged import Paths, legs, legs_between, path_offsets
from netloom.topology import Topology
from netloom.topology.core import Cabling, joined, port_numbers, ranks

# -- circles ---------------------------------------------------------------------------------------


def dependency_cycle(routed: Paths, num_channels: int) -> tuple[int, ...]:
    """Return a cycle of the channel-dependency graph of these paths, or () when there is none.

    Each of its channels some packet may hold while it waits for the next. The last waits for
    the first.
    """
    return cycle_of_waits(*dependencies(routed), num_channels)


def dependencies(routed: Paths) -> tuple[Ints, Ints]:
    """Return each two channels in a row on these paths: what is held, and what is asked for.

    int32[] both. A dependency comes as often as paths have it.
    """
    inside = np.ones(len(routed.channels), bool)
    inside[routed.offsets[1:][np.diff(routed.offsets) > 0] - 1] = False
    at = np.flatnonzero(inside)
    return routed.channels[at], routed.channels[at + 1]


def cycle_of_waits(held: Ints, asked: Ints, num_channels: int) -> tuple[int, ...]:
    """Return a cycle among these dependencies, or ()."""
    part = joined(num_channels, held, asked, both_ways=True)
    knotted = part[held] == part[asked]
    following = dict(zip(held[knotted].tolist(), asked[knotted].tolist(), strict=True))
    if not following:
        return ()
    # follow one successor of each channel, all within one knot, until a channel comes again
    seen: dict[int, int] = {}
    channel = min(following)
    while channel not in seen:
        seen[channel] = len(seen)
        channel = following[channel]
    return tuple(list(seen)[seen[channel] :])


# -- tables ----------------------------------------------------------------------------------------


MOST_ENTRIES = 2**26
"""Most routers × destinations of a forwarding table."""


@dataclass(frozen=True, eq=False)
class Lanes:
    """The virtual lanes of packets.

    Attributes
    ----------
    level
        uint8[num_destinations, num_routers], the service level (SL) of packets from the hosts of a
        router to a destination. It does not change on the way. Rows for the other end points of
        a subnet (``Cabling.others``) may follow. Their level is 0 where there are none.
    lane_of
        uint8[num_routers, ports, ports, 16], the lane (VL) by router, the ports by which packets
        come in and go out, and service level (``topology.core.port_numbers`` numbers ports).
        None where a packet's lane is its service level.
    """

    level: UInt8s
    lane_of: UInt8s | None = None


class Choices(NamedTuple):
    """Sets of channels of which packets may take any, each set once.

    Attributes
    ----------
    offsets
        int64[num_sets + 1]. Set s is ``channels[offsets[s]:offsets[s + 1]]``.
    channels
        int32[], ascending within a set of two or more.
    """

    offsets: Ints
    channels: Ints


@dataclass(frozen=True, eq=False)
class ForwardingTable:
    """A routing that each router's table says, by destination alone.

    Switches' tables have one channel for each. Functions of users (``source_routing.table``) may
    offer several, and packets may leave at any port of their host.

    Attributes
    ----------
    name
        What ``parse_routing`` makes it from, such as ``minhop`` or ``lfts:FILE``.
    next_channel
        int32[num_destinations, num_routers], the channel between routers by which a packet to a
        host port (in a direct network, to a node) leaves each router. It is -1 if the packet has
        arrived or has no path. With C channels between routers, C + s stands for the s-th of
        ``choices``.
    others
        int32[num_others + num_routers, num_routers], the same to the other end points of a subnet
        (``Cabling.others``), then to the routers themselves. None where nobody asked.
    lanes
        The lanes of packets. None where all take one.
    undelivered
        bool[num_destinations], where the last router's own entry does not lead to the destination.
        None where all do.
    astray
        int32[entries, 3], the entries by which packets vanish: row (of ``next_channel``, then of
        ``others``), router and port. The port leads neither to a router nor to the destination
        (255: the last router has no entry). None if there are none.
    choices
        Channels that packets may choose from. None in the tables of switches.
    """

    several: ClassVar[bool] = False

    name: str
    next_channel: Ints
    others: Ints | None = None
    lanes: Lanes | None = None
    undelivered: Bools | None = None
    astray: Ints | None = None
    choices: Choices | None = None

    def __str__(self) -> str:
        return self.name

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return the path of every pair of hosts (see ``paths``).

        Of several ports of the source, packets take the one that ``ragged.legs`` says. By the table
        of a function they leave at the first router with a port to the target.

        Raises
        ------
        InputError
            If the table is that of another network, or leaves a choice on a path.
        NoRouteError
            If the table does not lead to a target.
        """
        from netloom.routing.kernels.forwarding import fill_followed, follow_lengths

        check_table(topology, self)
        table, ends = self.next_channel, legs(topology, sources, targets)
        row, enters, still = ends.target_port, topology.routers.channel_target, sources == targets
        lengths, last = follow_lengths(table, row, ends.entry, enters)
        lengths[still] = 0
        if (lengths == -2).any():
            pair = int(np.argmin(lengths))
            node = topology.router_name(last[pair])
            found = f"several channels at {node} towards {topology.name_of(int(targets[pair]))}"
            raise InputError(self.name, found, "one, for paths that are known in advance")
        lost, wanted = last != ends.exit, "hosts that can reach each other"
        if self.choices is not None:  # packets leave at their host's first port at that router
            port, wanted = np.full(len(last), -1, np.int32), "a table that leads there"
            firsts = topology.port_offsets
            for place in reversed(range(int(np.diff(firsts).max(initial=0)))):
                one = np.minimum(firsts[targets] + place, topology.num_ports - 1)
                here = topology.ejection_router[one] == last
                port = np.where(here & (topology.port_host[one] == targets), one, port)
            lost = port < 0
            ends = ends._replace(target_port=np.where(still, row, port))
        if self.undelivered is not None:
            lost |= self.undelivered[row]
        lengths[lost & ~still] = -1
        offsets = path_offsets(lengths, sources, targets, wanted)
        found = fill_followed(table, row, ends.entry, offsets, enters)
        return ends.around(Paths(offsets, found))


def of_gpus(topology: Topology, table: ForwardingTable) -> ForwardingTable:
    """Return a table that leads to the card of each GPU as one of the network of cards does.

    Without lanes, and rows of other end points.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import minhop
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x2@4x2x9")
    >>> of_gpus(net, minhop(net.of_cards)).paths(net, np.array([0, 0]), np.array([3, 4])).lengths
    array([0, 4], dtype=int32)
    """
    before, inside = topology.of_cards, topology.routers
    assert before is not None
    outer = np.flatnonzero(topology.inner_part[topology.ejection_router] < 0)
    row, here = topology.card_of_host[topology.port_host[outer]], topology.ejection_router[outer]
    found = np.full((topology.num_ports, topology.num_routers), -1, np.int32)
    found[outer, : before.num_routers] = table.next_channel[row]
    to_card, from_card = np.full((2, topology.num_routers), -1, np.int32)
    for end, way in ((inside.channel_target, to_card), (inside.channel_source, from_card)):
        channels = np.flatnonzero(np.isin(end, topology.cards))
        way[end[channels]] = channels
    found[np.ix_(outer, topology.cards)] = from_card[topology.cards]
    found[outer, before.ejection_router[row]] = to_card[here]
    found[outer, here] = -1
    undelivered = None
    if table.undelivered is not None:
        undelivered = np.zeros(topology.num_ports, np.bool_)
        undelivered[outer] = table.undelivered[row]
    return ForwardingTable(table.name, found, undelivered=undelivered)


def check_table(topology: Topology, routing: ForwardingTable) -> None:
    """Refuse a table that is not for the routers and ports of this network.

    Raises
    ------
    InputError
        Naming both.
    """
    here, wanted = routing.next_channel.shape, (topology.num_ports, topology.num_routers)
    if here != wanted:
        found = f"a table for {here[1]} routers and {here[0]} ports of hosts"
        raise InputError(routing.name, found, f"one for {wanted[1]} and {wanted[0]}")


def senders(topology: Topology, taking: Ints | None = None) -> Ints:
    """Return how many hosts send from each router to each destination.

    int64[num_routers, num_ports], or [num_routers, 1] where that is the same for all destinations:
    the one host that is the destination itself counts. All hosts take part, or those ``taking``
    names.
    """
    takes = topology.vertex_up[: topology.num_hosts]
    if taking is not None:
        takes = np.isin(np.arange(topology.num_hosts), taking)
    counts = np.where(takes, np.diff(topology.port_offsets), 0)
    if counts.max(initial=0) <= 1:
        injects = topology.injection_router[counts[topology.port_host] > 0]
        return np.bincount(injects, minlength=topology.num_routers).astype(np.int64)[:, None]
    sent = np.zeros((topology.num_routers, topology.num_ports), np.int64)
    for ends in legs_between(topology, np.flatnonzero(counts).astype(np.int32)):
        np.add.at(sent, (ends.entry, ends.target_port), 1)
    return sent


def port_senders(topology: Topology) -> Ints:
    """Return how many ports send from each router: int64[num_routers, 1].

    Each port is an end point, as a subnet manager routes from each to the address of each. Those
    that are not nearest to any other count, too (``senders`` counts hosts by their nearest ports).
    """
    works = topology.vertex_up[topology.port_host]
    sent = np.bincount(topology.injection_router[works], minlength=topology.num_routers)
    return sent.astype(np.int64)[:, None]


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
    guid: UInt64s
    lid: Ints
    lmc: Ints
    router: Ints
    port: Ints
    kind: Int8s

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
    ports, routers, cabling = topology.num_ports, topology.num_routers, topology.cabling
    names = tuple(topology.router_name(router) for router in range(routers))
    own = np.arange(routers, dtype=np.int32)
    if topology.direct:
        nothing, kind = np.zeros(routers, np.int32), np.zeros(routers, np.int8)
        return Addresses(names, nothing.astype(np.uint64), nothing, nothing, own, nothing, kind)
    hosts = [topology.name_of(host) for host in topology.port_host.tolist()]
    router = topology.ejection_router
    port = port_numbers(topology)[0][topology.num_network_channels + ports :]
    others = topology.others
    kind = np.repeat(np.arange(3, dtype=np.int8), [ports, len(others), routers])
    guid, (lid, lmc) = np.zeros(len(kind), np.uint64), np.zeros((2, len(kind)), np.int32)
    if cabling is not None:
        guid = np.concatenate([cabling.port_guid, others.guid, cabling.router_guid])
        lid = np.concatenate([cabling.port_lid, others.lid, cabling.router_lid])
        lmc[:ports] = cabling.lmc
    router = np.concatenate([router, others.router, own])
    port = np.concatenate([port, others.port, np.zeros_like(own)])
    return Addresses((*hosts, *others.names, *names), guid, lid, lmc, router, port, kind)


def addresses_by_lid(topology: Topology) -> tuple[Addresses, Ints]:
    """Return what the tables of a network lead to, and whose each LID is.

    The second is int32[largest LID + 1], rows of ``addresses``, or -1 if nobody's.

    Raises
    ------
    InputError
        If two have one LID.
    """
    every = addresses(topology)
    counts = np.where(every.lid > 0, 1 << every.lmc, 0)
    row = np.repeat(np.arange(len(every), dtype=np.int32), counts)
    lid = every.lid[row] + places_within(counts)
    owner = np.full(int(lid.max(initial=0)) + 1, -1, np.int32)
    order = np.argsort(lid, kind="stable")
    twice = np.flatnonzero(np.diff(lid[order]) == 0)
    if len(twice):
        first, second = (every.name[row[order[twice[0] + k]]] for k in (0, 1))
        found = f"LID {lid[order[twice[0]]]} of '{first}' and of '{second}'"
        raise InputError(topology.name, found, "a LID for each: scan the fabric again")
    owner[lid] = row
    return every, owner


def whole_table(table: ForwardingTable) -> Ints:
    """Return all rows of a table: those of hosts' ports, then the others, where there are any."""
    assert table.choices is None
    if table.others is None:
        return table.next_channel
    return np.concatenate([table.next_channel, table.others])


def port_table(topology: Topology, table: ForwardingTable) -> UInt8s:
    """Return the port by which each router sends to each row of ``whole_table``.

    uint8[rows, routers]; 0 is the router itself, ``NO_PORT`` no way.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import minhop
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> port_table(net, minhop(net))[2:4].tolist()
    [[1, 3, 2, 2], [2, 4, 2, 2]]
    """
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


class EndPoints(NamedTuple):
    """All that a table leads to: destinations, other end points, routers.

    Attributes
    ----------
    exit
        int32[num_ends], the router of each.
    copies
        int64[num_ends], how many addresses each has.
    num_destinations, num_apart
        How many are destinations of packets between hosts. How many are no routers: these come
        first, the routers themselves last.
    order
        int64[num_ends]: end points at the routers of most addresses first, port by port. Then the
        routers in the same order.
    routers
        int32[num_routers], the routers by GUID, read from its last byte to its first: so OpenSM's
        map of switches sorts numbers in network order on the processors of today.
    at_router
        int64[num_routers], addresses at each router, its own counted.
    """

    exit: Ints
    copies: Ints
    num_destinations: int
    num_apart: int
    order: Ints
    routers: Ints
    at_router: Ints


def end_points(topology: Topology) -> EndPoints:
    """Return the end points of a network, in the order in which OpenSM's engines take them.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> ends = end_points(topology("leaf-spine:2x2x2"))
    >>> ends.exit.tolist(), ends.order.tolist(), ends.at_router.tolist()
    ([0, 0, 1, 1, 0, 1, 2, 3], [0, 1, 2, 3, 4, 5, 6, 7], [3, 3, 1, 1])
    """
    every, count = addresses(topology), topology.num_routers
    apart = every.kind < 2
    leave, copies = every.router[apart], 1 << every.lmc[apart].astype(np.int64)
    rank = np.arange(count, dtype=np.int32)
    if topology.cabling is not None:
        rank[np.argsort(topology.cabling.router_guid.byteswap(), kind="stable")] = rank.copy()
    at_router = 1 + np.bincount(leave, copies, minlength=count).astype(np.int64)
    order = np.lexsort((every.port[apart], rank[leave], -at_router[leave]))
    return EndPoints(
        exit=np.append(leave, np.arange(count)).astype(np.int32),
        copies=np.append(copies, np.ones(count, np.int64)),
        num_destinations=topology.num_ports,
        num_apart=len(leave),
        order=np.append(order, len(leave) + np.lexsort((rank, -at_router))),
        routers=np.argsort(rank).astype(np.int32),
        at_router=at_router,
    )


def channels_by_port(topology: Topology, *, leaving: bool = False) -> tuple[Ints, Ints]:
    """Return the channels between routers that enter each router, or leave it, in order of port.

    Ragged, as ``Topology.incoming`` has them.
    """
    inside = topology.routers
    port = port_numbers(topology)[0 if leaving else 1][: inside.num_channels]
    ends = inside.channel_source if leaving else inside.channel_target
    offsets, _ = inside.outgoing() if leaving else inside.incoming()
    return offsets, np.lexsort((port, ends)).astype(np.int32)


def falls_back(topology: Topology, engine: str, reason: str, wanted: str) -> InputError:
    """Return the error of an engine for which OpenSM would configure minhop on a network."""
    found = f"{topology.name}, where {reason}, so that OpenSM configures minhop"
    return InputError(f"routing {engine}", found, wanted)


def told(name: str, table: Ints, ends: EndPoints, lanes: Lanes | None = None) -> ForwardingTable:
    """Return a table of all end points as one of destinations and others."""
    hosts = ends.num_destinations
    return ForwardingTable(name, table[:hosts], table[hosts:], lanes)


_Cause = tuple[str, tuple[int, ...], int]
"""A fault's kind, routers and port."""


class Fault(Figures):
    """One thing that is wrong, and whom it hurts.

    Attributes
    ----------
    kind
        ``loop``: packets go round a circle of routers. ``black hole``: a router sends them out by a
        port without a cable. ``wrong delivery``: it sends them to the wrong host, or keeps them.
        ``no entry``: it drops them.
    routers
        The circle, its lowest number first, or the one router.
    port
        The port by which packets leave it; -1 in a loop, and where there is no entry.
    pairs
        How many ordered pairs of hosts cannot communicate for it.
    destinations
        How many end points packets do not reach for it: hosts' ports, other end points, routers.
    first
        The name of the first of these.
    words
        All that in a sentence, without its full stop.
    """

    kind: str
    pairs: int
    destinations: int
    words: str = figure("sentence", at="sentence")
    routers: tuple[int, ...] = unseen(())
    port: int = unseen(-1)
    first: str = unseen("")


@dataclass(frozen=True)
class Problems:
    """What is wrong with a table.

    Attributes
    ----------
    unrouted
        Ordered pairs of hosts (of a host and each port of another, where that has several) whose
        packets do not arrive.
    unrouted_others
        Pairs of a host and another end point or a router, to which its packets do not arrive.
    faults
        Why, those that hurt most pairs first.
    """

    unrouted: int
    unrouted_others: int
    faults: tuple[Fault, ...]

    def __bool__(self) -> bool:
        return bool(self.faults)


def table_problems(topology: Topology, table: ForwardingTable) -> Problems:
    """Return which packets do not arrive under a table, and by what faults.

    Examples
    --------
    >>> from netloom.routing.forwarding.tables import port_table
    >>> from netloom.routing.forwarding.lfts import table_of_ports
    >>> from netloom.routing.forwarding.engines import minhop
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> ports = port_table(net, minhop(net))
    >>> ports[2, 2] = 9
    >>> found = table_problems(net, table_of_ports(net, ports, "by hand"))
    >>> found.unrouted, found.faults[0].words
    (2, 'spine0 sends packets to h2 into port 9, which has no cable')
    """
    from netloom.routing.kernels.forwarding import outcomes

    every, hosts, inside = addresses(topology), len(topology.ejection_router), topology.routers
    whole, target = whole_table(table), inside.channel_target
    rows = whole[: len(every.router)]  # the nodes of a direct network are its routers
    lost, port_of = np.zeros(len(rows), np.bool_), dict[tuple[int, int], int]()
    if table.undelivered is not None:
        lost[: len(table.undelivered)] = table.undelivered
    if table.astray is not None:
        row, router, _ = table.astray.T
        lost[row[every.router[row] == router]] = True
        port_of = {(row, router): port for row, router, port in table.astray.tolist()}
    last = every.router[: len(rows)].astype(np.int32)
    ends = outcomes(rows, last, lost, target)
    # how many hosts send from each router to each row
    at_hosts = np.broadcast_to(senders(topology), (topology.num_routers, hosts)).T.copy()
    if len(distinct(topology.port_host)) == hosts:  # where the destination itself counts
        at_hosts[np.arange(hosts), topology.injection_router] -= 1
    everyone = np.bincount(topology.injection_router, minlength=topology.num_routers)
    sent = np.concatenate([at_hosts, np.tile(everyone, (len(rows) - hosts, 1))])
    sent[~inside.vertex_up[last]] = 0  # nobody expects to reach what is broken
    sends = port_senders(topology)[:, 0]
    sends[topology.others.router] = 1
    out_port = port_numbers(topology)[0][: topology.num_network_channels]
    leads = zip(inside.channel_source.tolist(), out_port.tolist(), strict=True)
    cabled = {*leads, *zip(every.router.tolist(), every.port.tolist(), strict=True)}
    hurt: dict[_Cause, list[tuple[int, int]]] = {}  # rows, with pairs of hosts
    for row in np.flatnonzero((ends != -1).any(axis=1)).tolist():
        hit = (ends[row] != -1) & (sent[row] + sends > 0) & inside.vertex_up[every.router[row]]
        for end in np.unique(ends[row][hit]).tolist():
            port = port_of.get((row, end), NO_PORT)
            cause = ("no entry", (end,), -1)
            if end < -1:
                circle = [-2 - end]
                while (after := int(target[whole[row, circle[-1]]])) != circle[0]:
                    circle.append(after)
                cause = ("loop", tuple(circle), -1)
            elif port != NO_PORT:
                wrong = (end, port) in cabled
                cause = ("wrong delivery" if wrong else "black hole", (end,), port)
            pairs = int(sent[row][ends[row] == end].sum()) if row < hosts else 0
            hurt.setdefault(cause, []).append((row, pairs))
    faults = [_fault(topology, cause, rows, every) for cause, rows in hurt.items()]
    faults.sort(key=lambda each: (-each.pairs, -each.destinations))
    unrouted = np.sum(sent, axis=1, where=ends != -1)
    return Problems(int(unrouted[:hosts].sum()), int(unrouted[hosts:].sum()), tuple(faults))


def _fault(
    topology: Topology, cause: _Cause, rows: list[tuple[int, int]], every: Addresses
) -> Fault:
    kind, routers, port = cause
    names = [topology.router_name(router) for router in routers]
    named, more = every.name[rows[0][0]], len(rows) - 1
    whom = f"{named} and {more} more destination{'s' * (more > 1)}" if more else named
    if kind == "loop":
        words = f"packets to {whom} go round: {' -> '.join([*names, names[0]])}"
    elif kind == "no entry":
        words = f"{names[0]} has no entry for {whom}"
    elif kind == "black hole":
        words = f"{names[0]} sends packets to {whom} into port {port}, which has no cable"
    elif port == 0:
        words = f"{names[0]} keeps packets to {whom}"
    else:
        words = f"{names[0]} sends packets to {whom} to the wrong end, by port {port}"
    pairs = sum(pairs for _, pairs in rows)
    whose: dict[str, Any] = {"routers": routers, "port": port, "first": named}
    return Fault(kind=kind, pairs=pairs, destinations=len(rows), words=words, **whose)


# -- lanes -----------------------------------------------------------------------------------------


MOST_LANES = 16
"""Most lanes (virtual lanes of data) and service levels that InfiniBand knows."""

MOST_COUNTED = 62
"""Most lanes that are tried where more than a fabric has are needed."""


class DependencyGraph(NamedTuple):
    """Which channels are held while which are asked for, free of circles in each of some lanes.

    The state of ``netloom.routing.kernels.layers``, for kernels. With C channels between routers
    and L lanes, vertex ``lane * C + c`` is channel c in a lane.

    Attributes
    ----------
    channel_source, channel_target
        int32[C], the routers that each channel leaves and enters.
    in_offsets, in_channels, out_offsets, out_channels
        The channels that enter and that leave each router, ragged.
    slot
        int32[C], the place of a channel among those that leave its source.
    uses
        int32[L * C, most channels that leave a router], how often the channel at each slot is asked
        for by what holds a channel.
    rank
        int32[L * C], the place of a channel in an order that each used dependency follows.
    seen, found, pool, stamp
        Scratch, int32[C] each. The number of the search before, int64[1].
    """

    channel_source: Ints
    channel_target: Ints
    in_offsets: Ints
    in_channels: Ints
    out_offsets: Ints
    out_channels: Ints
    slot: Ints
    uses: Ints
    rank: Ints
    seen: Ints
    found: Ints
    pool: Ints
    stamp: Ints


def dependency_graph(topology: Topology, num_lanes: int = 1) -> DependencyGraph:
    """Return an empty graph of dependencies between the channels of a network's routers.

    Examples
    --------
    >>> from netloom.routing.kernels.layers import insert
    >>> from netloom.topology import torus
    >>> graph = dependency_graph(torus(3))
    >>> [insert(graph, 0, held, 0) for held in (0, 1, 2)]  # 0 -> 1 -> 2 -> 0
    [True, True, False]
    """
    inside = topology.routers
    count, wires = inside.num_channels, inside.wiring()
    uses = np.zeros((num_lanes * count, int(np.diff(wires[4]).max(initial=0))), np.int32)
    rank = np.tile(np.arange(count, dtype=np.int32), num_lanes)
    scratch = *np.zeros((3, count), np.int32), np.zeros(1, np.int64)
    return DependencyGraph(*wires, ranks(*wires[4:]), uses, rank, *scratch)


def layered(
    topology: Topology, next_channel: Ints, *, others: Ints | None = None, most: int = MOST_LANES
) -> Lanes:
    """Return lanes in which the packets of a table never wait for each other in a circle.

    All ports send to all others, those of one adapter included, as OpenSM takes it. Destination by
    destination, the path from each router with hosts goes into the first lane whose
    dependencies stay free of circles with it. A packet's lane is its service level.

    Parameters
    ----------
    topology
        The network.
    next_channel
        int32[num_destinations, num_routers], as in ``ForwardingTable``.
    others
        The same to other end points (``Cabling.others``, and more rows that are not looked at):
        these then communicate, too, and ``Lanes.level`` has rows for them behind those of hosts.
    most
        Most lanes that there are.

    Raises
    ------
    InputError
        If more lanes are needed, saying how many, or if the table leads in a circle.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import torus
    >>> net = torus(5)
    >>> int(layered(net, ENGINES["minhop"](net).next_channel).level.max())
    1
    """
    from netloom.routing.kernels.layers import first_fit

    table, sent = _to_all(topology, next_channel, others, port_senders(topology))
    level = np.zeros(table.shape, np.uint8)
    if not topology.num_network_channels:
        return Lanes(level)
    for lanes in (most, MOST_COUNTED):
        graph = dependency_graph(topology, lanes)
        used = first_fit(table, sent, graph, np.zeros(graph.uses.shape, np.bool_), level)
        if 0 <= used <= most:
            return Lanes(level)
        if used == -2:
            found = "a table that leads packets in a circle"
            raise InputError(topology.name, found, "one that leads to its destinations")
    needed = f"over {MOST_COUNTED}" if used < 0 else str(used)
    found = f"a table that needs {needed} lanes to be free of deadlock"
    raise InputError(topology.name, found, f"one that needs at most {most}")


def lanes_used(table: ForwardingTable) -> int:
    """Return how many lanes the packets of a table take: one more than the highest.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import torus
    >>> lanes_used(ENGINES["minhop"](torus(5)))
    1
    """
    if table.lanes is None:
        return 1
    if table.lanes.lane_of is None:
        return int(table.lanes.level.max(initial=0)) + 1
    levels = np.unique(table.lanes.level)
    return int(table.lanes.lane_of[..., levels].max(initial=0)) + 1


def lane_circle(
    topology: Topology, table: ForwardingTable, *, everyone: bool = False
) -> tuple[tuple[int, int], ...]:
    """Return channels with lanes that packets can wait for in a circle, or () if there are none.

    All ports send to all others, as OpenSM takes it, whichever ports are nearest to each other: by
    the table of a function, the nearest. A circle of choices is a danger, not yet a proof of a
    deadlock (Duato 1993).

    Parameters
    ----------
    topology
        The network.
    table
        Its forwarding table, with lanes or without.
    everyone
        Whether the other end points of a subnet (``Cabling.others``) send and receive like hosts.

    Returns
    -------
    tuple of (channel, lane)
        Each may be held while the next is asked for, the last while the first is.

    Raises
    ------
    InputError
        If ``everyone`` is asked for, and the table does not lead to other end points.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import torus
    >>> lane_circle(torus(5), ENGINES["minhop"](torus(5)))
    ((0, 0), (1, 0), (2, 0), (3, 0), (4, 0))
    """
    lanes = _numbered(table)
    waits = waits_of_table(topology, table, everyone=everyone)
    circle = cycle_of_waits(*waits, topology.num_network_channels * lanes)
    return tuple((vertex // lanes, vertex % lanes) for vertex in circle)


def waits_of_table(
    topology: Topology, table: ForwardingTable, *, everyone: bool = False
) -> tuple[Ints, Ints]:
    """Return what packets hold and what they ask for: see ``lane_circle``.

    Returns
    -------
    held, asked
        int64[] both, ``channel * lanes + lane``, of as many lanes as the table takes, or all that
        there are where they change on the way. None comes twice.
    """
    from netloom.routing.kernels.forwarding import table_waits

    inside, others = topology.routers, None
    if everyone and len(topology.others):
        others = table.others
        if others is None:
            found = f"no ways to the {len(topology.others)} other end points"
            raise InputError(f"routing {table}", found, "a table of all end points")
    offsets, leaving = inside.outgoing()
    lanes = _numbered(table)
    level, lane_of = np.zeros((0, 0), np.uint8), np.zeros((0, 0, 0, 0), np.uint8)
    # where lanes stay as they are, it is one by which ports packets come and go
    entries = np.arange(topology.num_routers + 1), np.zeros(topology.num_routers, np.int32)
    out_port = in_port = np.zeros(inside.num_channels, np.int32)
    if table.lanes is not None:
        level = table.lanes.level
    if table.lanes is not None and table.lanes.lane_of is not None:
        lane_of, (out_port, in_port) = table.lanes.lane_of, port_numbers(topology)
        # the ports by which sources send into each router, ragged
        routers, numbers = topology.injection_router, np.zeros(topology.num_ports, np.int32)
        listed = np.split(in_port[topology.num_network_channels :], 2)[0]
        numbers[: len(listed)] = listed
        if others is not None:
            routers = np.append(routers, topology.others.router)
            numbers = np.append(numbers, topology.others.port)
        counts = np.bincount(routers, minlength=topology.num_routers)
        entries = offsets_of(counts), numbers[np.argsort(routers, kind="stable")]
    waits = np.zeros((len(leaving) * lanes, int(np.diff(offsets).max(initial=0))), np.uint16)
    choices = table.choices or Choices(np.zeros(1, np.int64), NO_INT32S)
    sent = port_senders(topology) if table.choices is None else senders(topology)
    rows, sent = _to_all(topology, table.next_channel, others, sent)
    wires = inside.channel_target, ranks(offsets, leaving), out_port, in_port
    table_waits(rows, choices, sent, entries, level, lane_of, wires, waits)
    held, slot = np.nonzero(waits)
    lane, at = np.nonzero(waits[held, slot] >> np.arange(lanes, dtype=np.uint16)[:, None] & 1)
    held, slot = held[at], slot[at]
    asked = leaving[offsets[inside.channel_target[held // lanes]] + slot].astype(np.int64)
    return held, asked * lanes + lane


def _numbered(table: ForwardingTable) -> int:
    """Return how many lanes of each channel ``waits_of_table`` numbers."""
    switched = table.lanes is not None and table.lanes.lane_of is not None
    return MOST_LANES if switched else lanes_used(table)


def _to_all(
    topology: Topology, next_channel: Ints, others: Ints | None, sent: Ints
) -> tuple[Ints, Ints]:
    """Return the rows of a table to all end points that count, and how many ports send to each.

    ``others`` are the rows to those that are no hosts, if they count, and ``sent`` how many hosts
    send. The second is int64[num_routers, rows], or [num_routers, 1] if that is the same for all.
    """
    if sent.shape[1] == 1:
        own = topology.injection_router
        apart = (sent[own, 0] == 1) & (own != topology.ejection_router)
        if apart.any():  # the one port of a router sends nothing to itself at another
            sent = np.repeat(sent, topology.num_ports, axis=1)
            sent[own[apart], np.flatnonzero(apart)] = 0
    if others is None:
        return next_channel, sent
    many = len(topology.others)
    more = np.bincount(topology.others.router, minlength=topology.num_routers)
    if sent.shape[1] > 1:
        every = np.repeat(sent.max(axis=1, keepdims=True), many, axis=1)
        sent = np.concatenate([sent, every], axis=1)
    return np.concatenate([next_channel, others[:many]]), sent + more[:, None]
