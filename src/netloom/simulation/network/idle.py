"""Where packets enter routers, what their ways take in an idle network, and what fills a channel.

A demand of uniform or hot-spot traffic has no list of pairs. The entries cost as much as there are
routers and goals.

A lone packet is followed flit by flit. Its latency depends only on the delays and bandwidths of its
channels in order. So the mean over all packets of some traffic is a mean over the few sequences
that occur.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import floor
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints, distinct
from netloom.bounds.demand import Demand, between, demand_of, listed_pairs
from netloom.contention.decisions import (
    Follower,
    Stages,
    can_follow,
    forks,
    pair_goals,
    sequences,
    table_goals,
)
from netloom.routing import Routing, VirtualChannelRouting, paths
from netloom.routing.by_hop.tables import (
    EVERY,
    GIVEN,
    HASHED,
    OWN,
    HopTables,
    channel_lanes,
    channels_at_ports,
    hosted_ports,
)
from netloom.routing.virtual_channel_tables import TWO_PHASE
from netloom.simulation.network.layout import kept_rates
from netloom.simulation.network.routers import ChannelKind, Router, through
from netloom.topology import Cube, Topology, hop_distances
from netloom.workload import Traffic

MOST_PAIRS = 2**21
"""Most pairs of nodes whose paths are counted channel by channel."""


def at_ports(demand: Demand, port_host: Ints, num_hosts: int) -> Demand:
    """Return a demand between the ports of hosts, of which chance takes one at either end.

    Parameters
    ----------
    demand
        Who sends how much to whom.
    port_host
        int32[num_ports], the host of each port, ascending.
    num_hosts
        How many hosts there are.

    Examples
    --------
    >>> from netloom.bounds.demand import demand_of
    >>> from netloom.workload.traffic import permutation
    >>> found = at_ports(demand_of(permutation([1, 0])), np.array([0, 0, 1], np.int32), 2)
    >>> found.source, found.target, found.weight
    (array([0, 1, 2, 2]), array([2, 2, 0, 1]), array([0.5, 0.5, 0.5, 0.5]))
    """
    many = np.bincount(port_host, minlength=num_hosts)
    first, share = np.cumsum(many) - many, 1 / many[port_host]
    both = many[demand.source] * many[demand.target]
    pair = np.repeat(np.arange(len(both)), both)
    place = np.arange(len(pair)) - np.repeat(np.cumsum(both) - both, both)
    here, there = demand.source[pair], demand.target[pair]
    source, target = first[here] + place // many[there], first[there] + place % many[there]
    ends = [(sent[port_host], taken[port_host]) for sent, taken in demand.products]
    products = tuple((sent * share, taken * share) for sent, taken in ends)
    return Demand(products, source, target, (demand.weight / np.maximum(both, 1))[pair])


MOST_ENTRIES = 2**22
"""Most pairs of a router and a goal."""

ROUNDING = 1e-12
"""What is smaller than this part of the largest is nothing, left by a difference."""


class Entries(NamedTuple):
    """Packets that enter by one router for one goal, by channels of hosts of one kind.

    Attributes
    ----------
    router, goal
        int64[], the router, and the goal in the tables of a routing by hop.
    weight
        float64[], flits per cycle at load 1.
    into, out_of
        int64[], the kinds of the injection and the ejection channel.
    """

    router: Ints
    goal: Ints
    weight: Floats
    into: Ints
    out_of: Ints


def between_ports(topology: Topology, tables: HopTables, demand: Demand) -> Demand | None:
    """Return a demand of hosts as one of their ports. None if there are too many pairs.

    Of several ports chance takes one at either end, unless the tables say which each pair takes.
    """
    hosts = topology.num_hosts
    if not len(tables.pair_entry):
        return at_ports(demand, topology.port_host, hosts)
    if hosts**2 > MOST_ENTRIES:
        return None
    each = np.arange(hosts)
    sent = between(demand, each, each, (hosts, hosts)).ravel()
    pair = np.flatnonzero(sent > sent.max(initial=0) * ROUNDING)
    none = np.zeros((2, topology.num_ports))
    entry, sink = tables.pair_entry[pair], tables.pair_sink[pair]
    return Demand(((none[0], none[1]),), entry, sink, sent[pair])


def followed(
    topology: Topology,
    tables: HopTables,
    demand: Demand,
    kind_of: Ints | None = None,
    *,
    idle: bool = False,
) -> tuple[Stages, Ints, Entries] | None:
    """Return the stages that packets go through, where each entry begins, and the entries.

    Parameters
    ----------
    topology, tables
        The network and its routing.
    demand
        Who sends how much to whom.
    kind_of
        int64[num_channels], the kinds of channels that are told apart. None by default.
    idle
        As for ``Follower``.

    Returns
    -------
    None where there are more than ``MOST_ENTRIES``, or too many stages.
    """
    kinds = np.zeros(topology.num_channels, np.int64) if kind_of is None else kind_of
    first, ports = topology.num_network_channels, topology.num_ports
    by_port = between_ports(topology, tables, demand)
    if by_port is None:
        return None
    entry = np.stack([kinds[first : first + ports], topology.injection_router], axis=1)
    leave = np.stack([kinds[first + ports :], tables.sink_goal], axis=1)
    if tables.choice == HASHED:  # which tells every host from every other
        entry, leave = (np.column_stack([each, np.arange(ports)]) for each in (entry, leave))
    known_in, begins = np.unique(entry, axis=0, return_inverse=True)
    known_out, ends = np.unique(leave, axis=0, return_inverse=True)
    if len(known_in) * len(known_out) > MOST_ENTRIES:
        return None
    sent = between(by_port, begins.ravel(), ends.ravel(), (len(known_in), len(known_out)))
    row, column = np.nonzero(sent > sent.max(initial=0) * ROUNDING)
    came, going = known_in[row], known_out[column]
    goal, goals = going[:, 1], table_goals(tables)
    if tables.choice == HASHED:
        host = topology.port_host
        goals = pair_goals(tables, host[came[:, 2]], host[going[:, 2]], going[:, 2])
        goal = np.arange(len(goal))
    entries = Entries(came[:, 1], goal, sent[row, column], came[:, 0], going[:, 0])
    outward, _ = channels_at_ports(topology)
    found = Follower(tables, goals, outward, idle=idle).stages(entries.router, goal)
    return None if found is None else (*found, entries)


MOST_STARTS = 64
"""About how many routers a rough mean looks from."""

MOST_SEQUENCES = 4096
"""Most different sequences of channels that are told apart."""

DRAWN = 2**16
"""Packets that are drawn where there are too many pairs to list."""


@dataclass(frozen=True)
class Idle:
    """What packets find in an idle network, on average.

    Attributes
    ----------
    latency
        From creation to the tail's arrival, cycles.
    hops
        Channels between routers on the way.
    exact
        Whether that is exact but for rounding: false where it depends on arbitration which way a
        packet goes.
    """

    latency: float
    hops: float
    exact: bool


def idle_network(
    topology: Topology,
    routing: VirtualChannelRouting,
    traffic: Traffic,
    router: Router,
    *,
    flits: float = 1,
) -> Idle | None:
    """Return the mean latency of some traffic in an idle network.

    Routers that look at credits find all of them available. So all channels that lead on are
    equally good, and no packet makes a detour unless the routing prefers it. If there are too many
    pairs to list, it is a mean over packets that are drawn, always the same.

    Parameters
    ----------
    topology, routing, traffic, router
        The network and its packets.
    flits
        Length of a packet. Between whole numbers latencies are interpolated.

    Returns
    -------
    None where there are too many ways to follow.

    Examples
    --------
    >>> from netloom.routing import virtual_channel_routing
    >>> from netloom.simulation.network.routers import Router
    >>> from netloom.topology import topology
    >>> from netloom.workload import parse_traffic
    >>> net = topology("fat-tree:4x3")
    >>> routing = virtual_channel_routing(net, "nca", num_vcs=4)
    >>> found = idle_network(net, routing, parse_traffic("uniform-self", net), Router(), flits=5)
    >>> found.hops, found.latency
    (3.375, 23.5)
    """
    kinds, kind_of = channel_kinds(topology, router)
    found = _sequences(topology, routing, traffic, kind_of)
    if found is None:
        return None
    every, weight, exact = found
    alike = one_kind(topology)

    def taken(each: tuple[int, ...], length: int) -> float:
        if alike:
            return router.zero_load_cycles(len(each) - 2, length)
        return lone_cycles(router, [kinds[at] for at in each], length)

    low = floor(flits)
    latency = np.zeros(len(every))
    for length, part in ((low, 1 - (flits - low)), (low + 1, flits - low)):
        if part:
            latency += part * np.array([taken(each, length) for each in every], float)
    hops = np.array([len(each) - 2 for each in every])
    total = weight.sum()
    return Idle(float(latency @ weight / total), float(hops @ weight / total), exact)


def one_kind(topology: Topology) -> bool:
    """Return whether all channels take a flit per cycle, and a cycle for it."""
    return topology.even and bool((topology.channel_cycles == 1).all())


def channel_kinds(topology: Topology, router: Router) -> tuple[list[ChannelKind], Ints]:
    """Return the kinds of channels, and of which each is.

    int64[num_network_channels + 2 * num_ports]: channels between routers, those by which the ports
    of hosts inject, those by which they receive. A channel between routers is
    ``router.channel_cycles`` times as long as the network has it. One of a bandwidth above 1 is a
    bundle, of which a packet takes one lane. If a network says nothing of hosts' channels, they
    take a flit per cycle, and a cycle for it.
    """
    inside, listed = topology.num_network_channels, topology.num_channels
    cycles = np.ones(inside + 2 * topology.num_ports, np.int64)
    cycles[:listed] = topology.channel_cycles
    cycles[:inside] *= router.channel_cycles
    lane = np.ones(len(cycles))
    lane[:listed] = topology.channel_bandwidth / channel_lanes(topology)
    rates, place = kept_rates(lane)
    known, kind_of = np.unique(cycles * len(rates) + place, return_inverse=True)
    told = (divmod(kind, len(rates)) for kind in known.tolist())
    return [ChannelKind(delay, rates[rate]) for delay, rate in told], kind_of.ravel()


def channel_rates(topology: Topology) -> Floats:
    """Return float64[num_channels], flits per cycle: bandwidths as routers keep to them.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> channel_rates(topology("leaf-spine:1x1x1"))
    array([1., 1., 1., 1.])
    """
    lanes = channel_lanes(topology)
    rates, place = kept_rates(topology.channel_bandwidth / lanes)
    return np.array(list(map(float, rates)))[place] * lanes


def lone_cycles(router: Router, channels: Sequence[ChannelKind], flits: int) -> int:
    """Return the latency of a packet in an idle network, from creation to the tail's arrival.

    Parameters
    ----------
    router
        The routers.
    channels
        The injection channel, those between routers, and the ejection channel.
    flits
        The packet's length.

    Examples
    --------
    A cable of 20 cycles, and one that takes a flit in two cycles. (Flits behind the head catch up
    at every router, where it waits for a VC and they do not.)

    >>> from fractions import Fraction
    >>> from netloom.simulation.network.routers import Router
    >>> near, far = ChannelKind(1, Fraction(1)), ChannelKind(20, Fraction(1))
    >>> Router().zero_load_cycles(hops=2, flits=5)
    18
    >>> lone_cycles(Router(), [near, near, near, near], 5)
    18
    >>> lone_cycles(Router(), [near, far, near, near], 5)
    37
    >>> lone_cycles(Router(), [near, ChannelKind(1, Fraction(1, 2)), near, near], 5)
    20
    """
    head = router.timing().head_wait + (not router.speculative)
    if router.switching == "reserved":
        return through(router, channels, flits, 0)
    if router.switching != "circuit":
        return through(router, channels, flits, head)
    # a probe there, its acknowledgement back, then the data, which waits for nothing
    back = sum(1 + each.cycles for each in channels)
    back += router.credit_cycles * (len(channels) - 2)
    probed = through(router, channels, 1, head) + back
    return probed + through(router, channels, flits, 0)


class Loop(NamedTuple):
    """The channel between routers whose buffers fill the least part of it.

    Attributes
    ----------
    channel
        Which.
    cycles
        What the credit of a flit takes to come back.
    needed
        Flits that its buffers have to hold so that it can be used all the time.
    room
        Flits that the buffers of the VCs hold that packets may take there.
    """

    channel: int
    cycles: int
    needed: int
    room: int


def tightest_loop(
    topology: Topology, routing: VirtualChannelRouting, router: Router
) -> Loop | None:
    """Return the channel whose buffers are smallest beside what fills it. None if there is none.

    Examples
    --------
    >>> from netloom.routing import virtual_channel_routing
    >>> from netloom.simulation.network.routers import Router
    >>> from netloom.topology import topology
    >>> net = topology("fat-tree:4x3")
    >>> tightest_loop(net, virtual_channel_routing(net, "nca", num_vcs=2), Router(vcs=2))
    Loop(channel=0, cycles=5, needed=5, room=16)
    """
    inside = topology.num_network_channels
    if not inside:
        return None
    kinds, kind_of = channel_kinds(topology, router)
    times, lanes = router.timing(), channel_lanes(topology)[:inside]
    around = times.flit + times.credit - 2 * router.channel_cycles
    loops = np.array([around + 2 * each.cycles for each in kinds])[kind_of[:inside]]
    rates = [(each.rate.numerator, each.rate.denominator) for each in kinds]
    share, whole = np.array(rates, np.int64)[kind_of[:inside]].T
    needed = -(-loops * share // whole) * lanes
    depth = np.maximum(router.buffer_flits, loops if router.fill_channels else 0)
    # how many VCs packets can take, as far as is known
    tables, usable = routing.tables, np.full(inside, routing.tables.num_vcs)
    if isinstance(tables, HopTables) and tables.choice != GIVEN:
        every = np.bitwise_or.reduce(tables.vcs[tables.delta.reshape(-1, tables.num_kinds)], axis=0)
        many = np.bitwise_count((every | tables.escape_vcs).view(np.uint64)).astype(np.int64)
        source = topology.routers.channel_source.astype(np.int64)
        at = (source << tables.port_shift) | hosted_ports(topology).out_port[:inside]
        usable = many[tables.out_kind[at]]
    room = usable * depth * lanes
    channel = int(np.argmin(room / needed))
    return Loop(channel, int(loops[channel]), int(needed[channel]), int(room[channel]))


def rough_idle(topology: Topology, router: Router) -> Idle:
    """Return about what packets of a flit find on shortest paths, where no more is to be had.

    Of hosts on some routers, to hosts on all.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import dijkstra

    inside, routers = topology.routers, topology.num_routers
    kinds, kind_of = channel_kinds(topology, router)
    cycles = np.array([each.cycles for each in kinds])[kind_of]
    along = cycles[: inside.num_channels] + router.router_cycles
    order = np.argsort(-along, kind="stable")  # of parallel channels, the last is the shortest
    ends = inside.channel_source[order], inside.channel_target[order]
    keys, last = np.unique((ends[0].astype(np.int64) * routers + ends[1])[::-1], return_index=True)
    shortest = along[order][::-1][last].astype(np.float64)
    graph = coo_array((shortest, np.divmod(keys, routers)), shape=(routers, routers)).tocsr()
    enters, leaves = distinct(topology.injection_router), distinct(topology.ejection_router)
    some = enters[:: max(len(enters) // MOST_STARTS, 1)]
    found = [dijkstra(graph, indices=some, unweighted=each)[:, leaves] for each in (False, True)]
    known = np.isfinite(found[0])
    within, hops = (float(each[known].mean()) if known.any() else 0.0 for each in found)
    return Idle(3 + router.router_cycles + within, hops, exact=False)


def _sequences(
    topology: Topology, routing: VirtualChannelRouting, traffic: Traffic, kind_of: Ints
) -> tuple[list[tuple[int, ...]], Floats, bool] | None:
    """Return the sequences of kinds of channels that packets take, and how many take each.

    Also whether that is exact.
    """
    tables = routing.tables
    if routing.routes is not None and listed_pairs(traffic) <= MOST_PAIRS:
        return _given(topology, routing.routes, traffic, kind_of)
    if not isinstance(tables, HopTables):
        return _by_distance(routing, traffic, kind_of)
    if not can_follow(tables):
        return None
    found = followed(topology, tables, demand_of(traffic), kind_of, idle=True)
    if found is None:
        return None
    stages, begin, entries = found
    ends = list(zip(entries.into.tolist(), entries.out_of.tolist(), strict=True))
    taken = sequences(stages, begin, entries.weight, ends, kind_of, most=MOST_SEQUENCES)
    if taken is None:
        return None
    every = [(into, *inside, out_of) for into, out_of, *inside in taken]
    exact = tables.choice not in (EVERY, OWN) or not forks(stages).any()
    return every, np.array(list(taken.values())), exact


def _given(
    topology: Topology, routes: Routing, traffic: Traffic, kind_of: Ints
) -> tuple[list[tuple[int, ...]], Floats, bool] | None:
    """Return the same where packets have given paths."""
    source, target, weight = traffic.matrix()
    routed = paths(topology, routes, source, target)
    pair = np.arange(len(weight)) if routed.pair is None else routed.pair
    if routed.probability is not None:
        weight = weight[pair] * routed.probability
    first = topology.num_network_channels
    rows = np.full((len(weight), int(routed.lengths.max(initial=0)) + 2), -1)
    rows[:, 0] = kind_of[first + routed.ports[0]]
    rows[:, -1] = kind_of[first + topology.num_ports + routed.ports[1]]
    place = np.arange(len(routed.channels)) - np.repeat(routed.offsets[:-1], routed.lengths)
    rows[np.repeat(np.arange(len(weight)), routed.lengths), place + 1] = kind_of[routed.channels]
    alike = (kind_of[:first] == kind_of[0]).all()
    key, most = np.zeros(len(weight), np.int64), max(int(kind_of.max()) + 2, rows.shape[1])
    for column in (routed.lengths, rows[:, 0], rows[:, -1]) if alike else rows.T:
        key = np.unique(key * most + column + 1, return_inverse=True)[1]
    known, one = np.unique(key, return_index=True)
    if len(known) > MOST_SEQUENCES:
        return None
    every = [tuple(kind for kind in row if kind >= 0) for row in rows[one].tolist()]
    return every, np.bincount(key, weight).astype(np.float64), True


def _by_distance(
    routing: VirtualChannelRouting, traffic: Traffic, kind_of: Ints
) -> tuple[list[tuple[int, ...]], Floats, bool] | None:
    """Return the same where packets take shortest ways, and channels between routers are alike.

    Valiant's take them to a router that is drawn, and from there. None where ways are not known.
    """
    topology, kind = routing.topology, routing.tables.kind
    inside, ports = topology.num_network_channels, topology.num_ports
    valiant = kind == TWO_PHASE and not routing.minimal
    if (kind_of[:inside] != kind_of[0]).any() or not (routing.minimal or valiant):
        return None
    rng, goals = np.random.default_rng(0), topology.num_routers if valiant else 1
    exact = listed_pairs(traffic) * goals <= MOST_PAIRS
    if exact:
        source, target, weight = traffic.matrix()
    else:
        chance = traffic.rate / traffic.rate.sum()
        source = rng.choice(len(chance), DRAWN, p=chance).astype(np.int32)
        target, weight = traffic.law.draw(rng, source), np.full(DRAWN, 1 / DRAWN)
    port, sink = topology.port_offsets[source], topology.port_offsets[target]
    entry, leave = topology.injection_router[port], topology.ejection_router[sink]
    if valiant and exact:  # each pair once for each goal
        goal = np.tile(np.arange(goals), len(port))
        port, sink, entry, leave = (np.repeat(each, goals) for each in (port, sink, entry, leave))
        weight = np.repeat(weight, goals)
    elif valiant:
        goal = rng.integers(0, goals, DRAWN)
    if valiant:
        hops = _hops(topology, entry, goal) + _hops(topology, goal, leave)
    else:
        hops = _hops(topology, entry, leave)
    shape = int(kind_of.max()) + 1, int(hops.max(initial=0)) + 1, int(kind_of.max()) + 1
    ends = kind_of[inside + port], hops, kind_of[inside + ports + sink]
    known, one = np.unique(np.ravel_multi_index(ends, shape), return_inverse=True)
    ways = np.stack(np.unravel_index(known, shape), axis=1).tolist()
    every = [(into, *[int(kind_of[0])] * many, out_of) for into, many, out_of in ways]
    return every, np.bincount(one, weight).astype(np.float64), exact


def _hops(topology: Topology, source: Ints, target: Ints) -> Ints:
    """Return int64[pairs], the hops between pairs of routers."""
    routers = topology.routers
    if isinstance(routers, Cube):
        hops = np.zeros(len(source), np.int64)
        for side, stride, wraps in zip(routers.sides, routers.strides, routers.wraps, strict=True):
            apart = np.abs(source // stride % side - target // stride % side)
            hops += np.minimum(apart, side - apart) if wraps else apart
        return hops
    begins, row = np.unique(source, return_inverse=True)
    return hop_distances(routers, begins)[row, target].astype(np.int64)
