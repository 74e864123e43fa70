"""Mean packet latency of any routed traffic on virtual channels, without simulation.

Every path has its own rate, so process graphs, mappings, patterns and routings need no special
cases. The path of a packet must not depend on other packets: adaptive routing is left to the
simulator. Injection and ejection channels count as channels, one of each per node. The unknowns
belong to *turns*: all packets that come over one channel and go on over another, in the same VCs,
have the same mean waits. There are two techniques, as in the simulator: wormhole and virtual
cut-through, with V virtual channels that send their flits in turn.

What a head that has come to the front of its buffer waits for is, with packets of L flits:

- *The channel.* Packets from one input come one after the other and meet only those of *other*
  inputs. The contention matrix of Ogras, Bogdan & Marculescu, "An analytical approach for
  network-on-chip performance analysis", IEEE TCAD 29, 2010, assumes the same. The others are
  counted as in mean value analysis (Reiser & Lavenberg, J. ACM 27, 1980), by Little's law from
  their own times at the front. So no packet waits for more packets than there are buffers. Each
  costs L: taking turns flit by flit is processor sharing, whose sojourn is L / (1 - ρ) (Kleinrock,
  Queueing Systems vol. 2, 1976, section 4.4). If all the other VCs are taken, a packet is served
  first come first served instead. It then finds half of one in service (Pollaczek and Khinchine,
  deterministic lengths).
- *A virtual channel.* A packet may wait for an idle virtual channel while all others are taken too.
  The chance of this is a power of the chance that one is taken, as in Dally, "Virtual-channel flow
  control", IEEE TPDS 3, 1992, who also assumes independence. A taken VC is idle in three cases.
  With wormhole switching, its packet is delayed further on. This *stall* is the part of the next
  delay that does not fit into the buffer (Draper & Ghosh, J. Parallel Distrib. Comput. 23, 1994,
  add all of it). With virtual cut-through, its buffer has no room for a whole packet, and as many
  packets as fit share that wait. Finally, it is idle for the cycle in which a head takes it.
- *The packets before it in its buffer*: M/G/1 with the front's times as service, of which only the
  delays count, since packets come over a channel spaced already. A delay is taken to be nothing or
  exponential, with the second moment of meetings of equally long packets.
- *The crossbar's input*, which VCs that wait for other outputs take too (``CONFLICT``).
- *The source*: Geo/G/1 (Takagi, Queueing Analysis vol. 3, 1993) in front of the injection channel.
  What its own packets do to each other behind that is no service of its.

Short buffers: a flit cannot be sent before the one B flits ahead of it has left the buffer that
both go to, and its credit has come back. This *loop* takes a flit's way there and a credit's way
back. A lone packet that no buffer holds waits for credits, exactly. Its source sends nothing else
meanwhile. A VC needs a buffer's slots for a loop each, between packets that follow at once. A
packet that can only use 1 / m of a channel disturbs others less, by the ratio of waits in M/M/m and
M/M/1 (Sakasegawa, Ann. Inst. Stat. Math. 29, 1977). With one VC there is nothing to send meanwhile:
packets queue for all of that, first come first served.

These depend on one another along the paths, and are iterated to a fixed point, from an idle network
on. If there is none, or a channel, a VC, a front or a source is busy all the time, it is saturated.

One number is fitted, ``CONFLICT``. The closures (for example, that the chance of all VCs being
taken is a plain power) were chosen by simulation. This used 80 configurations with 5 and 20 flits,
2 and 4 VCs and ample buffers, and the draws of the study ``latency-accuracy``. The study measures
the error of the model, which ``latency_band`` gives.

Not modeled: bursts (packets come as Bernoulli arrivals), packets of different lengths, losses of
switch allocation in small packets, trees of packets that one VC holds up.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from math import sqrt
from typing import Any, Literal, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Bools, Floats, Ints, distinct, offsets_of
from netloom.base.errors import DeadlockError, InputError
from netloom.base.words import counted, listed
from netloom.contention.expected_load import checked_pairs
from netloom.routing import DimensionOrder, Paths, Routing, VirtualChannelRouting, paths, ports
from netloom.routing.by_hop.tables import channels_by_port
from netloom.routing.forwarding.tables import dependency_cycle
from netloom.routing.ragged import legs
from netloom.routing.rules import layer_vcs, layers
from netloom.routing.virtual_channel_tables import MOST_SLOTS, O1TURN, TWO_PHASE
from netloom.routing.virtual_channels import draw_aux, virtual_channel_routing
from netloom.topology import Cube, Topology
from netloom.topology.measures import check_alike, check_direct
from netloom.workload import Traffic
from netloom.workload.traffic.patterns import HotSpot


@dataclass(frozen=True, eq=False)
class Flows:
    """Traffic on its paths.

    Attributes
    ----------
    paths
        The channels of each path.
    source, target
        int32[num_paths], the nodes at its ends, or the hosts' ports if hosts hang on routers.
    rate
        float64[num_paths], flits per cycle at load 1.
    vc_share
        float64[hops of all paths, vcs]: the chance of each VC on each hop.
    pair
        int64[num_paths]: the requested pair that it belongs to. Half-way round a ring a pair has
        two paths.
    num_nodes, num_channels
        Of the network. If hosts hang on routers, these count its ports, and the channels between
        routers.
    """

    paths: Paths
    source: Ints
    target: Ints
    rate: Floats
    vc_share: Floats
    pair: Ints
    num_nodes: int
    num_channels: int

    @property
    def layers(self) -> int:
        """In how many layers of VCs paths are that could deadlock, or 1 if in none."""
        used = np.unique(self.vc_share, axis=0)
        disjoint = len(used) > 1 and ((used > 0).sum(axis=0) <= 1).all()
        return len(used) if disjoint else 1


def follow_flows(
    routing: VirtualChannelRouting, sources: ArrayLike, targets: ArrayLike, rates: ArrayLike
) -> Flows:
    """Return the flows of pairs of nodes, on the paths and VCs that a routing gives them.

    Half-way round a ring, a coin decides, so half of a pair's traffic goes either way. A packet
    takes each of the VCs that it may take next with the same chance. So packets that may not go
    back to the lower class of a ring drift to the upper one.

    Parameters
    ----------
    routing
        One that leaves no choice of channels: dimension order, given routes, tables of one channel
        each, shortest paths, up-down, layered.
    sources, targets, rates
        The pairs of nodes, and the flits per cycle of each at load 1.

    Raises
    ------
    InputError
        If the routing leaves a choice of channels, a rate is negative or not finite, nothing is
        sent, or a node is none of the network's.
    NoRouteError
        If a pair has no given route.

    Examples
    --------
    >>> from netloom.routing import virtual_channel_routing
    >>> from netloom.topology import torus
    >>> routing = virtual_channel_routing(torus(4), "dimension-order", num_vcs=2)
    >>> found = follow_flows(routing, [0, 1], [2, 2], [1.0, 1.0])
    >>> found.rate, found.vc_share[:2]  # two ways; the first starts in either VC
    (array([0.5, 0.5, 1. ]), array([[0.5 , 0.5 ],
           [0.25, 0.75]]))
    """
    from netloom.contention.kernels.channel_queueing import follow_all

    wanted = "one that leaves no choice of channels; simulate this one"
    choice, topology = InputError("routing", routing.name, wanted), routing.topology
    if routing.tables.kind in (TWO_PHASE, O1TURN):
        raise choice
    check_direct(topology, "paths of nodes", "host_flows")
    source, target, rate = _checked(topology, sources, targets, rates)
    _, aux = draw_aux(routing, np.random.default_rng(0), source, target)
    in_port = ports(topology).in_port.astype(np.int64)
    wiring = channels_by_port(topology), topology.channel_target, in_port
    which, weight, hops, (channels, share) = follow_all(
        routing.tables, wiring, source, target, aux, topology.num_channels
    )
    if (hops < 0).any():
        raise choice
    inner = Paths(offsets_of(hops), channels)
    source, target, rate = source[which], target[which], rate[which] * weight
    hosts, channels = topology.num_hosts, topology.num_channels
    return Flows(inner, source, target, rate, share, which, hosts, channels)


def _checked(
    topology: Topology, sources: ArrayLike, targets: ArrayLike, rates: ArrayLike
) -> tuple[Ints, Ints, Floats]:
    """Return pairs of hosts and their rates, if the network has them and anything is sent."""
    check_alike(topology, "the model of latency")
    source, target, rate = checked_pairs(sources, targets, rates)
    wrong = ~((rate >= 0) & np.isfinite(rate))
    if wrong.any():
        raise InputError("rates", str(rate[wrong][0]), "numbers of at least 0")
    if not rate.any():
        raise InputError("rates", "nothing sent", "some traffic to predict")
    for where, hosts in (("sources", source), ("targets", target)):
        known = (hosts >= 0) & (hosts < topology.num_hosts)
        if not known.all():
            raise InputError(where, f"node {hosts[~known][0]}", f"0 to {topology.num_hosts - 1}")
    return source, target, rate


def host_flows(
    topology: Topology,
    routing: Routing,
    sources: ArrayLike,
    targets: ArrayLike,
    rates: ArrayLike,
    *,
    vcs: int,
    most_hops: int = 2**28,
) -> Flows:
    """Return the flows of pairs of hosts that hang on routers: a port is a node of them.

    A host injects and receives packets by each of its ports as by a node of its own. Packets to
    itself go out and in by its first port. If a routing has several paths for a pair, each packet
    draws one. Dimension order on cubes has classes of VCs, as on direct networks. Other paths take
    any VC, or any VC of a layer if they could deadlock (see ``routing.Layered``).

    Parameters
    ----------
    topology, routing
        The network and the routing.
    sources, targets, rates
        The pairs of hosts, and the flits per cycle of each at load 1.
    vcs
        Virtual channels of every channel.
    most_hops
        Most hops of all paths, times VCs.

    Raises
    ------
    InputError
        If channels differ, there are too many hops, a rate is negative or not finite, nothing is
        sent, or a host is none of the network's.
    NoRouteError
        If the routing has no path for a pair.
    DeadlockError
        If packets could wait for each other in a circle on so many VCs.

    Examples
    --------
    >>> from netloom.routing import UpDown
    >>> from netloom.topology import topology
    >>> found = host_flows(
    ...     topology("leaf-spine:2x1x2"), UpDown(), [0, 0], [1, 3], [0.5, 0.5], vcs=2)
    >>> found.paths, found.source, found.target
    (<2 paths, 2 hops>, array([0, 0], dtype=int32), array([1, 3], dtype=int32))
    """
    source, target, rate = _checked(topology, sources, targets, rates)
    if isinstance(routing, DimensionOrder) and isinstance(topology.routers, Cube):
        of_routers = virtual_channel_routing(topology.routers, routing, num_vcs=vcs)
        ends = legs(topology, source, target)
        flows = follow_flows(of_routers, ends.entry, ends.exit, rate)
        begin, end = ends.source_port[flows.pair], ends.target_port[flows.pair]
        return replace(flows, source=begin, target=end, num_nodes=topology.num_ports)
    routed = paths(topology, routing, source, target)
    if len(routed.channels) * vcs > most_hops:
        found = f"{len(routed.channels):,} hops with {vcs} VCs"
        raise InputError(topology.name, found, f"at most {most_hops:,}, hops times VCs")
    pair = np.arange(len(routed)) if routed.pair is None else routed.pair.astype(np.int64)
    part = rate[pair] if routed.probability is None else rate[pair] * routed.probability
    share = np.full((len(routed.channels), vcs), 1 / vcs)
    if circle := dependency_cycle(routed, topology.num_network_channels):
        wanted = "routing up-down: more VCs are not looked for at routers of this size"
        routers, needed = topology.routers, 0
        if np.bincount(routers.channel_source).max() <= MOST_SLOTS:
            layer = layers(routers, routed.taken(np.flatnonzero(routed.lengths > 0)))
            needed = int(layer.max(initial=0)) + 1
            wanted = f"at least {needed} VCs, or routing up-down"
        if not 0 < needed <= vcs:
            named = tuple(topology.channel_name(channel) for channel in circle)
            found = f"{routing} on {topology.name} with {counted(vcs, 'VC')}"
            raise DeadlockError(found, named, wanted)
        of_layer = layer_vcs(needed, vcs)[:, None] >> np.arange(vcs) & 1
        share[:] = (of_layer / of_layer.sum(axis=1, keepdims=True))[layer]
    ports, channels = topology.num_ports, topology.num_network_channels
    inner, (entry, leave) = Paths(routed.offsets, routed.channels), routed.ports
    return Flows(inner, entry, leave, part, share, pair, ports, channels)


CONFLICT = 0.45
"""Share of the time in which a packet that waits elsewhere keeps its input's crossbar from others.

Fitted, the only such number of the model: 0.3 to 0.6 do as well. Where packets are longer than
buffers it is 0: the packets that wait have no flits there to send.
"""


@dataclass(frozen=True)
class ChannelRouter:
    """The properties of all routers that the model needs.

    Attributes
    ----------
    vcs, buffer_flits
        Virtual channels of every channel, and flits that the buffer of one holds.
    switching
        ``wormhole`` or ``virtual-cut-through``.
    hop_cycles, end_cycles
        An idle network takes ``end_cycles`` + ``hop_cycles`` × hops + L − 1 for a packet of L
        flits: a router and a channel a hop. Injection channel, one more router and ejection
        channel. The default is that of the simulator's three-stage router.
    credit_cycles
        From winning the switch to the use of the buffer slot by the router before.
    head_cycles
        Those of ``hop_cycles`` in which a head at the front of its buffer has no VC yet, or 0 in a
        speculative router. In the last of them the VC is taken, and nothing is sent on it.
    entry_loop_cycles
        From a flit's leaving the source to the source's use of the buffer slot that it took.
    """

    vcs: int = 4
    buffer_flits: int = 8
    switching: Literal["wormhole", "virtual-cut-through"] = "wormhole"
    hop_cycles: int = 4
    end_cycles: int = 6
    credit_cycles: int = 2
    head_cycles: int = 1
    entry_loop_cycles: int = 4

    @classmethod
    def of(cls, router: Any) -> Self:
        """Return those of a simulator's router."""
        times = router.timing()
        head = times.head_wait + (0 if router.speculative else 1)
        return cls(
            vcs=router.vcs,
            buffer_flits=router.buffer_flits,
            switching=router.switching,
            hop_cycles=head + times.flit,
            end_cycles=head + times.injection + times.ejection,
            credit_cycles=times.credit,
            head_cycles=head,
            entry_loop_cycles=times.injection + times.injection_credit,
        )

    def __post_init__(self) -> None:
        for name, value in vars(self).items():
            least = int(name in ("vcs", "buffer_flits", "hop_cycles"))
            if name != "switching" and value < least:
                raise InputError(name, value, f"at least {least}")

    @property
    def loop_cycles(self) -> int:
        """Cycles between two routers from a flit's sending to the next use of its buffer slot."""
        return self.hop_cycles - self.head_cycles + self.credit_cycles


class Turns(NamedTuple):
    """Arrays over turns, then numbers.

    ``before`` (-1 at the source) and ``channel``: where packets come from and go to. ``pair``
    numbers these pairs. ``share_before``, ``share``: chance of each VC. ``choices``: the number of
    VCs of which one is taken. ``beside``: fraction of its own input's packets that are in other VCs
    than it. ``same_vcs``: fraction of the channel's packets that take VCs which it may take.
    ``leaves``: whether the channel is an ejection channel. ``starts``: whether packets come from a
    source and do not wait for its other packets. ``own``: least cycles from a tail to the next head
    in a VC, or to what the next packet lacks when it follows immediately. ``spaced``: cycles that
    packets of one input are apart already. ``whole``: whether only whole packets move. ``single``:
    whether there is only one VC. ``stretched``: cycles that a lone packet is on its way over a
    channel. ``room``: part of a delay that its buffers absorb. ``head``: cycles that a head lacks a
    VC. ``source``: cycles for which a packet keeps its source. ``recycle``: cycles until there is
    room for another whole packet (negative: before). The ``fits`` packets of a full buffer share
    them. ``spread``: power of a channel's utilization by which stretched packets disturb less.
    ``conflict``: see ``CONFLICT``.
    """

    before: Ints
    channel: Ints
    pair: Ints
    share_before: Floats
    share: Floats
    choices: Floats
    beside: Floats
    same_vcs: Floats
    leaves: Bools
    starts: Bools
    own: Floats
    spaced: Floats
    flits: float
    stretched: float
    buffer: float
    room: float
    whole: bool
    single: bool
    head: float
    source: float
    recycle: float
    spread: float
    conflict: float
    fits: float


def group(flows: Flows, router: ChannelRouter, flits: int) -> tuple[Turns, Floats, Ints, Ints]:
    """Return the turns, packets per cycle of each, the turn of every hop, each path's first hop.

    Hops into and out of the network count, too. They stand path after path.
    """
    vcs, offsets = flows.vc_share.shape[1], flows.paths.offsets
    leave = flows.num_channels + flows.num_nodes
    ends = offsets[1:] + np.arange(1, len(offsets))
    entered = flows.num_channels + flows.source
    channel = np.insert(flows.paths.channels.astype(np.int64), offsets[:-1], entered)
    channel = np.insert(channel, ends, leave + flows.target)
    # the patterns of VC shares, and the number of that of each hop
    shares = np.concatenate([np.full((1, vcs), 1 / vcs), flows.vc_share])
    patterns, used = np.unique(shares.round(9), axis=0, return_inverse=True)
    used = used.ravel()
    any_vc = int(used[0])
    used = np.insert(np.insert(used[1:], offsets[:-1], any_vc), ends, any_vc)
    first_hop = offsets[:-1] + 2 * np.arange(len(offsets) - 1)
    before, used_before = np.roll(channel, 1), np.roll(used, 1)
    before[first_hop], used_before[first_hop] = -1, any_vc
    pair_key = (before + 1) * (leave + flows.num_nodes) + channel
    key = (pair_key * len(patterns) + used) * len(patterns) + used_before
    _, where, hop_turn = np.unique(key, return_index=True, return_inverse=True)
    hop_rate = np.repeat(flows.rate / flits, np.diff(offsets) + 2)
    turn_rate = np.bincount(hop_turn, hop_rate).astype(np.float64)
    channel, before = channel[where], before[where]
    share, share_before = patterns[used[where]], patterns[used_before[where]]
    flow = np.zeros((leave + flows.num_nodes, vcs))
    np.add.at(flow, channel, turn_rate[:, None] * share)
    all_flow = np.maximum(flow.sum(axis=1), np.finfo(np.float64).tiny)
    # what a packet takes where nothing else is in its way
    whole = router.switching == "virtual-cut-through"
    gap, room = float(min(router.head_cycles, 1)), float(router.buffer_flits)
    fits = float(max(router.buffer_flits // flits, 1))
    recycle = float(router.hop_cycles + router.credit_cycles + flits - router.buffer_flits)
    if whole:
        inside = entry = max(gap, recycle / fits)
        source = stretched = float(flits)
    else:
        inside, entry = (
            max(gap, time_between_packets(router, loop, flits) - flits)
            for loop in (router.loop_cycles, router.entry_loop_cycles)
        )
        source, stretched = time_at_source(router, flits), stretch(router, flits)
        if router.vcs > 1:  # other VCs are sent on meanwhile
            entry = gap
        else:
            source = max(source, flits + entry)
            room = max(room - router.loop_cycles - router.head_cycles, 0.0)
    by_channel = np.full(leave + flows.num_nodes, inside)
    by_channel[flows.num_channels : leave] = entry
    if not whole:  # nothing keeps a sink from taking flits
        by_channel[leave:] = gap
    own, beside = by_channel[channel], 1 - (share_before**2).sum(axis=1)
    spaced = (own if router.vcs > 1 else by_channel[before]) * (1 - beside)
    if not whole:  # a source sends one packet after the other, whatever their VCs
        spaced[before >= flows.num_channels] = source - flits
    turns = Turns(
        before=before,
        channel=channel,
        pair=np.unique(pair_key[where], return_inverse=True)[1],
        share_before=share_before,
        share=share,
        choices=1 / (share**2).sum(axis=1),
        beside=beside,
        same_vcs=((share > 0) * flow[channel]).sum(axis=1) / all_flow[channel],
        leaves=channel >= leave,
        starts=(before >= flows.num_channels) & (not whole),
        own=own,
        spaced=spaced,
        flits=float(flits),
        stretched=stretched,
        buffer=float(router.buffer_flits),
        room=room,
        whole=whole,
        single=router.vcs == 1 and not whole,
        head=float(router.head_cycles),
        source=source,
        recycle=recycle,
        spread=sqrt(2 * (stretched / flits + 1)) - 2,
        conflict=CONFLICT if flits <= router.buffer_flits else 0.0,
        fits=fits,
    )
    return turns, turn_rate, np.asarray(hop_turn, np.int64), first_hop


def credit_wait(router: ChannelRouter, hops: ArrayLike, flits: int) -> Floats:
    """Return for how long lone packets of this many flits wait for credits, over so many hops.

    The tail is delayed by the longest chain of waits. It goes round q = ⌊(P − 1) / B⌋ loops, each
    so much longer than B flits in a row. A chain goes round loops between routers behind the head's
    own way through all of them. One that also goes round the source's loop from there on has the
    waits of the head at as many routers only as it comes back from.

    Examples
    --------
    >>> credit_wait(ChannelRouter(buffer_flits=4, credit_cycles=3), [0, 1, 3], flits=13)
    array([0., 6., 6.])
    """
    crossed = np.asarray(hops)
    rounds = (flits - 1) // router.buffer_flits
    if not rounds:
        return np.zeros(crossed.shape)
    inside = router.loop_cycles - router.buffer_flits
    entry = router.entry_loop_cycles - router.buffer_flits
    behind = np.where(crossed > 0, rounds * inside, 0)
    at_source = rounds * entry - crossed * router.head_cycles
    reach = np.minimum(rounds, crossed + 1)
    both = (reach - 1) * inside + (rounds - reach + 1) * entry
    both -= (crossed + 1 - reach) * router.head_cycles
    return np.asarray(np.maximum(np.maximum(behind, 0), np.maximum(at_source, both)), np.float64)


def time_at_source(router: ChannelRouter, flits: int) -> float:
    """Return for how long the source of a packet of this many flits sends nothing else.

    Examples
    --------
    >>> time_at_source(ChannelRouter(credit_cycles=3), flits=5)
    5.0
    >>> time_at_source(ChannelRouter(buffer_flits=4, credit_cycles=3), flits=13)  # 4 at 0, 5, 11; 1
    18.0
    """
    rounds = (flits - 1) // router.buffer_flits
    last = flits - 1
    if rounds:
        first = max(router.entry_loop_cycles + router.head_cycles, router.buffer_flits)
        later = max(router.loop_cycles, router.entry_loop_cycles, router.buffer_flits)
        last = first + (rounds - 1) * later + last % router.buffer_flits
    return float(1 + last)


def time_between_packets(router: ChannelRouter, loop: int, flits: int) -> float:
    """Return how many cycles, at least, a VC takes a packet where they follow one another.

    Every flit has a slot of the buffer for one loop, those that arrive before their head goes on
    for as long as it waits besides.

    Examples
    --------
    >>> time_between_packets(ChannelRouter(buffer_flits=4, credit_cycles=3), 6, flits=2)  # 14 / 4
    3.5
    """
    deep = router.buffer_flits
    return max(flits, (flits * loop + min(flits, deep) * router.head_cycles) / deep)


def stretch(router: ChannelRouter, flits: int) -> float:
    """Return for how long a lone packet is on its way over a channel, from head to tail.

    Examples
    --------
    >>> stretch(ChannelRouter(buffer_flits=4, credit_cycles=3), flits=13)
    19.0
    """
    longer = max(router.loop_cycles, router.entry_loop_cycles) - router.buffer_flits
    return float(flits + (flits - 1) // router.buffer_flits * max(longer, 0))


CLOSE = 1e-4
"""Width of the bracket, as a fraction of the load, at which a search for saturation ends."""

LIMITS = ("channel", "VC credits", "head of line", "source")
"""What can be busy all the time: a channel, with flits. A VC, with packets and the credits that
they wait for. The front of a buffer, with a packet that waits. A source, with its own packets."""

NOT_FOUND = "no fixed point found"

CROWDING = 4.0
"""By which part of it a wait is longer than the fixed point says, on a channel that is always busy
with one VC to choose from. It goes with the fourth power of how busy the channel is, and with the
number of VCs. The fixed point counts packets at the front of buffers as if they came there
independently of each other. If buffers have room for several, they come in crowds. Fitted on 70
random networks under uniform traffic, and held against 70 others. Saturation is looked for without
it: nine of ten are within its errors as it is."""


@dataclass(frozen=True, eq=False)
class PreparedChannels:
    """Flows and routers, ready to be solved at any load.

    Attributes
    ----------
    flows, router, flits
        What was given.
    turns, turn_rate, hop_turn, first_hop
        What the kernel takes. Each turn's packets per cycle at load 1. The turn of every hop, those
        into and out of the network included. The first hop of each path.
    zero_load_cycles
        float64[num_paths], latency of each path in an idle network.
    utilization
        float64[num_channels], flits per cycle at load 1.
    full_load
        The load at which some channel, or a node's injection or ejection channel, is always busy.
    """

    flows: Flows
    router: ChannelRouter
    flits: int
    turns: Turns
    turn_rate: Floats
    hop_turn: Ints
    first_hop: Ints
    zero_load_cycles: Floats
    utilisation: Floats
    full_load: float


def prepare_channels(
    flows: Flows, router: ChannelRouter | None = None, *, flits: int = 5
) -> PreparedChannels:
    """Return flows ready to be solved, at any load.

    Parameters
    ----------
    flows
        Made by ``follow_flows`` or ``host_flows``.
    router
        The routers. The default ones if not given.
    flits
        Length of all packets, L.

    Raises
    ------
    InputError
        If the router's VCs are not those of the flows, packets have no flit, or a cut-through
        buffer cannot hold one.
    """
    routers = router or ChannelRouter()
    if flits < 1:
        raise InputError("flits", flits, "at least 1")
    if flows.vc_share.shape[1] != routers.vcs:
        raise InputError("vcs", str(routers.vcs), f"{flows.vc_share.shape[1]}, as the flows have")
    if routers.switching == "virtual-cut-through" and flits > routers.buffer_flits:
        found = f"{routers.buffer_flits} for packets of {flits} flits"
        raise InputError("buffer_flits", found, "buffers that hold a packet, to cut through")
    turns, rate, *_ = grouped = group(flows, routers, flits)
    hops = flows.paths.lengths
    moving = routers.end_cycles + routers.hop_cycles * hops + flits - 1
    idle = moving + credit_wait(routers, hops, flits)
    load = np.bincount(turns.channel, rate * flits)
    used, full = load[: flows.num_channels].astype(np.float64), float(1 / load.max())
    return PreparedChannels(flows, routers, flits, *grouped, idle, used, full)


class Busy(NamedTuple):
    """A resource, and how much of the time it is in use.

    ``what`` is one of ``LIMITS``. ``channel``: which. From the number of channels on, the injection
    channels of all nodes, and after these the ejection channels.
    """

    what: str
    channel: int
    utilisation: float


@dataclass(frozen=True, eq=False)
class ChannelPrediction:
    """What the model says of one load. Cycles. NaN where the network is saturated.

    Attributes
    ----------
    load
        The factor of the flows' rates.
    saturated
        Whether there is no steady state.
    latency, network_latency, source_wait, zero_load_latency
        Of the mean packet: from creation to the tail's arrival. Without and only the time until its
        head enters the injection channel, and in an idle network.
    path_latency
        float64[num_paths], as ``latency``.
    utilization
        float64[num_channels], flits per cycle.
    busiest_channel
        The channel that carries most; -1 if no path has any.
    busiest
        The busiest of each of ``LIMITS``. Past saturation, as far as was looked.
    reason
        Why there is no steady state: one of ``LIMITS``, or ``NOT_FOUND``, which says nothing of
        the network. "" if there is one.
    """

    load: float
    saturated: bool
    latency: float
    network_latency: float
    source_wait: float
    zero_load_latency: float
    path_latency: Floats
    utilisation: Floats
    busiest_channel: int
    busiest: tuple[Busy, ...]
    reason: str

    @property
    def tightest(self) -> Busy:
        """The resource that has least to spare."""
        return max(self.busiest, key=lambda each: each.utilisation)


def predict_channels(
    prepared: PreparedChannels, load: float = 1.0, *, crowded: bool = False
) -> ChannelPrediction:
    """Return the mean latencies at one load.

    Parameters
    ----------
    load
        By what the rates of all flows are multiplied, at least 0.
    crowded
        Whether waits are longer by ``CROWDING``.

    Raises
    ------
    InputError
        If the load is negative or not finite.

    Examples
    --------
    >>> from netloom.contention.channel_queueing import follow_flows
    >>> from netloom.routing import virtual_channel_routing
    >>> from netloom.topology import mesh
    >>> from netloom.workload.traffic import uniform
    >>> traffic = uniform(64).matrix()
    >>> routing = virtual_channel_routing(mesh(8, 8), "dimension-order", num_vcs=4)
    >>> flows = follow_flows(routing, traffic.source, traffic.target, traffic.weight * 64)
    >>> prepared = prepare_channels(flows, flits=5)
    >>> found = predict_channels(prepared, 0.19)  # simulated: 36.5 cycles
    >>> round(found.zero_load_latency, 2), 36 < found.latency < 38
    (31.33, True)
    """
    from netloom.contention.kernels.channel_queueing import fixed_point

    if not 0 <= load < np.inf:
        raise InputError("load", load, "a number of at least 0")
    rate = prepared.flows.rate
    turn_wait, stall, further, at, use, limit = fixed_point(
        prepared.turns, prepared.turn_rate * load
    )
    wait, source = _source_wait(prepared, load, stall, further)
    places = [Busy(*each) for each in zip(LIMITS, at.tolist(), use.tolist(), strict=False)]
    reason = ("", *LIMITS[:3], NOT_FOUND)[limit]
    if not limit and source.utilisation >= 1:
        reason = source.what
    turns = prepared.turns
    if crowded and not turns.whole:
        busy = np.bincount(turns.channel, prepared.turn_rate * load * prepared.flits)
        turn_wait *= 1 + CROWDING * busy[turns.channel] ** 4 / turns.choices
    network = prepared.zero_load_cycles + np.add.reduceat(
        turn_wait[prepared.hop_turn], prepared.first_hop
    )
    if reason:
        wait, network = np.full_like(wait, np.nan), np.full_like(network, np.nan)
    network_mean, wait_mean = (float(np.average(each, weights=rate)) for each in (network, wait))
    used = prepared.utilisation * load
    return ChannelPrediction(
        load=load,
        saturated=bool(reason),
        latency=network_mean + wait_mean,
        network_latency=network_mean,
        source_wait=wait_mean,
        zero_load_latency=float(np.average(prepared.zero_load_cycles, weights=rate)),
        path_latency=network + wait,
        utilisation=used,
        busiest_channel=int(np.argmax(used)) if used.any() else -1,
        busiest=(*places, source),
        reason=reason,
    )


def channel_saturation(prepared: PreparedChannels, *, latency_factor: float = np.inf) -> float:
    """Return the load from which on there is no steady state, or latency is too high.

    Parameters
    ----------
    latency_factor
        How many times the latency of an idle network is too much. ``find_saturation`` of the
        simulator takes 3.

    Raises
    ------
    InputError
        If the factor is not above 1.

    Examples
    --------
    >>> from netloom.routing import virtual_channel_routing
    >>> from netloom.topology import mesh
    >>> routing = virtual_channel_routing(mesh(2), "dimension-order", num_vcs=4)
    >>> flows = follow_flows(routing, [0], [1], [1.0])
    >>> round(channel_saturation(prepare_channels(flows, flits=5)), 3)
    1.0
    """
    if not latency_factor > 1:
        raise InputError("latency_factor", latency_factor, "more than 1")
    low, high = 0.0, prepared.full_load
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        found = predict_channels(prepared, middle)
        if found.saturated or found.latency > latency_factor * found.zero_load_latency:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def limiting_resource(prepared: PreparedChannels, saturation: float) -> tuple[Busy, bool]:
    """Return the resource that has least to spare where a network saturates.

    ``saturation`` is what ``channel_saturation`` said of it. Also returns whether the search ended
    at a network: False where above that load no fixed point was found, which may be the model's
    doing.

    Examples
    --------
    >>> from netloom.routing import virtual_channel_routing
    >>> from netloom.topology import mesh
    >>> routing = virtual_channel_routing(mesh(2), "dimension-order", num_vcs=4)
    >>> flows = follow_flows(routing, [0], [1], [1.0])
    >>> prepared = prepare_channels(flows, flits=5)
    >>> limiting_resource(prepared, channel_saturation(prepared))[0].what
    'channel'
    """
    below = predict_channels(prepared, saturation * (1 - 2 * CLOSE))
    above = predict_channels(prepared, saturation * (1 + 2 * CLOSE))
    return below.tightest, above.reason != NOT_FOUND


def _source_wait(
    prepared: PreparedChannels, load: float, stall: Floats, further: Floats
) -> tuple[Floats, Busy]:
    """Return the wait of each path's packets for the injection channel, and the busiest source.

    Geo/G/1: p (E[S (S - 1)]) / (2 (1 - p E[S])). Infinite where p E[S] is 1 or more.
    """
    flows, first = prepared.flows, prepared.hop_turn[prepared.first_hop]
    arrivals = flows.rate * load / prepared.flits
    turns, router, flits = prepared.turns, prepared.router, prepared.flits
    own = turns.own[first]
    spread = 0.0
    held_up = stall[first] - own
    # for how long the packets of each path keep their source, mean and variance
    if turns.whole:  # only where all other VCs are taken
        times = arrivals * (flits + stall[first]) / router.vcs
        taken = np.minimum(np.bincount(flows.source, times, flows.num_nodes), 1.0)
        hidden = (router.vcs - 1) * flits  # by sending in the others
        held_up = held_up * taken[flows.source] ** (router.vcs - 1)
        service = flits + held_up + np.maximum(own - hidden, 0.0)
    else:
        service = turns.source + held_up
        if flits > router.buffer_flits:
            delay = (turns.share[first] * further[turns.channel[first]]).sum(axis=1)
            scale = turns.stretched / 3 + delay
            spread = 2 * delay * scale * np.exp(-turns.room / scale) - held_up**2

    def of_nodes(weights: Floats) -> Floats:
        return np.bincount(flows.source, weights, flows.num_nodes).astype(np.float64)

    busy = of_nodes(arrivals * service)
    work = of_nodes(arrivals * (service * (service - 1) + spread)) / 2
    wait = np.full(flows.num_nodes, np.inf)
    np.divide(work, 1 - busy, out=wait, where=busy < 1)
    wait[of_nodes(flows.rate) == 0] = 0.0
    node = int(np.argmax(busy))
    return wait[flows.source], Busy(LIMITS[3], flows.num_channels + node, float(busy[node]))


def resource_name(busy: Busy, prepared: PreparedChannels, topology: Topology) -> str:
    """Return a resource as a person calls it: ``injection at node (0,3)``."""
    channels, nodes = prepared.flows.num_channels, prepared.flows.num_nodes
    if busy.channel < topology.num_channels:  # those of hosts, too, where they are listed
        name = f"channel {topology.channel_name(busy.channel)}"
        source = f"source of {name}"
    else:
        end, node = divmod(busy.channel - channels, nodes)
        source = f"source at node {topology.name_of(node)}"
        name = source.replace("source", ("injection", "ejection")[end], 1)
    if busy.what == LIMITS[1]:
        return f"credits of a VC of {name}"
    if busy.what == LIMITS[2]:
        return f"head of line behind {name}"
    return source if busy.what == LIMITS[3] else name


KNEE = 0.9
"""Part of the predicted saturation above which no latency is given: there it hangs on the error of
the saturation itself."""

PARTS = (0.35, 0.65, 0.8, KNEE)
"""Parts of the predicted saturation up to which errors of latency are told apart."""

ONE_VC, CUT_THROUGH = "one VC", "virtual cut-through"

KINDS = (
    ONE_VC, CUT_THROUGH,
    "ample buffers that hold a packet", "ample buffers, longer packets",
    "scarce buffers that hold a packet", "scarce buffers, longer packets",
)  # fmt: skip
"""Kinds of routers whose errors differ. Buffers are scarce that a VC alone cannot keep its channel
busy with: shorter than the way of a flit and its credit."""


class Band(NamedTuple):
    """Errors of a figure over the configurations that were compared.

    Attributes
    ----------
    compared
        How many figures these are.
    mean, rms
        Of the errors.
    within
        Nine of ten errors are not larger than this, up or down.
    low, high
        The extreme ones.
    below, above
        Of latencies: nine of ten errors are between these, one in twenty beyond either. At most 0
        and at least 0.
    """

    compared: int
    mean: float
    rms: float
    within: float
    low: float
    high: float
    below: float = 0.0
    above: float = 0.0


def router_kind(router: ChannelRouter, flits: int) -> str:
    """Return which of ``KINDS`` a router is of, for packets of so many flits.

    Examples
    --------
    >>> from netloom.contention.channel_queueing import ChannelRouter
    >>> router_kind(ChannelRouter(), flits=5)
    'ample buffers that hold a packet'
    """
    if router.switching == CUT_THROUGH.replace(" ", "-", 2):
        return CUT_THROUGH
    if router.vcs == 1:
        return ONE_VC
    scarce = router.buffer_flits < router.loop_cycles + router.head_cycles
    return KINDS[2 + 2 * scarce + (flits > router.buffer_flits)]


def saturation_band(kind: str) -> Band:
    """Return the errors of the saturation rate of routers of a kind."""
    return Band(**errors()["kinds"][kind]["saturation"])


def latency_band(kind: str, part: float) -> Band:
    """Return the errors of the mean latency at a part, at most ``KNEE``, of the saturation.

    Examples
    --------
    >>> low, high = (latency_band("one VC", part) for part in (0.2, 0.85))
    >>> low.within < high.within
    True
    """
    place = next(place for place, most in enumerate(PARTS) if part <= most)
    return Band(**errors()["kinds"][kind]["latency"][place])


def trust(kind: str) -> str:
    """Return in a line how far the model can be trusted for routers of a kind, as was measured.

    Examples
    --------
    >>> trust("one VC").startswith("one VC: nine of ten of ")
    True
    """
    found, saturation = errors()["source"], saturation_band(kind)
    bands = ((part, latency_band(kind, part)) for part in PARTS)
    off = ", ".join(
        f"{100 * band.below:+.2g} to {100 * band.above:+.2g} % up to {part:g}"
        for part, band in bands
    ).replace("-", "−")
    saturations, latencies = (
        f"{each['configurations']} random networks, seeds {listed(list(map(str, each['seeds'])))}"
        for each in (found, found["latency"])
    )
    return (
        f"{kind}: nine of ten of {saturation.compared} simulated networks saturate within "
        f"{100 * saturation.within:.2g} % of what the model says; latency, at parts of the "
        f"saturation: {off} (study {found['study']}, saturation of {saturations}, latency of "
        f"{latencies}, netloom {found['netloom']}, {found['latency']['date']})"
    )


@cache
def errors() -> dict[str, Any]:
    """Return the errors as the file has them."""
    text = files("netloom.contention").joinpath("data", "channel-queueing-errors.json")
    found: dict[str, Any] = json.loads(text.read_text(encoding="utf-8"))
    return found


def beside(name: str) -> Band:
    """Return the errors of saturations on networks that the bands are not of, by their name."""
    return Band(**errors()["beside"][name])


def off_by(
    figure: float, below: float, above: float, *, least: float = 0.0, most: float
) -> tuple[float, float]:
    """Return between which true figures an estimate has an error from ``below`` to ``above``.

    Examples
    --------
    >>> off_by(11.0, -0.1, 0.1, most=12.0)
    (10.0, 12.0)
    """
    high = figure / (1 + below) if below > -1 else most
    return max(figure / (1 + above), least), min(high, most)


TWO = 1.5
"""VCs that a packet may choose from: rather two than one."""

MOST_NODES = 64
"""Of the networks that the bands are from."""

FEW_TARGETS = 2.0
"""Nodes that a sender sends to, on average, at most which its packets do not mix."""

COMPARED = {
    "vcs": (1, 8), "buffer_flits": (2, 32), "route_cycles": (0, 1), "vc_allocation_cycles": (1, 1),
    "traversal_cycles": (0, 1), "channel_cycles": (1, 5), "credit_cycles": (0, 0),
}  # fmt: skip
"""Fields of routers, and the values of those that the bands are from."""

MOST_FLITS = 40
"""Of the packets that the bands are from."""


def accuracy_flags(
    prepared: PreparedChannels,
    topology: Topology,
    traffic: Traffic,
    routing: str,
    router: Mapping[str, Any],
    *,
    limit_told: bool,
) -> Iterator[str]:
    """Yield why to expect more than the usual error of a network, a line each.

    ``routing`` is a name, ``router`` has the fields of the routers by name. ``limit_told`` says
    whether the model has an answer above the load given as saturation.
    """
    kind = router_kind(prepared.router, prepared.flits)
    if not limit_told:
        yield "the model's equations have no solution above the load given as saturation: simulate"
    if router["vcs"] == 1:
        yield (
            "one VC: a packet that waits holds up all behind it, far back, which the model has in "
            f"part only; saturation was off by {_range(saturation_band(kind))}; raise vcs, or "
            "simulate"
        )
    elif kind == KINDS[-1] and prepared.turns.choices.min() < TWO:
        yield (
            "one VC of each class of a ring, shorter than its credits' way and than a packet: the "
            "classes behave as networks with one VC; saturation was off by "
            f"{_range(beside('one VC a class'))}; raise vcs or buffer_flits, or simulate"
        )
    pairs, senders = len(distinct(prepared.flows.pair)), len(distinct(prepared.flows.source))
    if pairs <= FEW_TARGETS * senders:
        others = counted(pairs / senders, "other", ".2g")
        yield (
            f"a node sends to {others} on average: such regular flows mix less "
            f"than the model assumes; saturation was off by {_range(beside('few targets'))}"
        )
    if isinstance(traffic.law, HotSpot):
        yield "hot spots were not compared with simulation: simulate at the load you care about"
    if topology.num_hosts > MOST_NODES:
        yield _beside(f"more than {MOST_NODES} nodes", "large")
    if not topology.direct:
        yield (
            "hosts that hang on routers: the expected errors are not of such networks; simulate "
            "beside the model"
        )
    elif not (isinstance(topology, Cube) and routing == "dimension-order"):
        yield _beside(f"routing {routing}, not dimension order on all of a cube", "faults")
    if router["oldest_first"]:
        yield _beside("the oldest packet first", "oldest first")
    outside = [
        f"{name} {router[name]} ({low} to {high})"
        for name, (low, high) in COMPARED.items()
        if not low <= router[name] <= high
    ]
    if prepared.flits > MOST_FLITS:
        outside.append(f"packet_flits {prepared.flits} (1 to {MOST_FLITS})")
    if outside:
        yield f"outside of what was compared with simulation: {', '.join(outside)}; simulate"


def _beside(what: str, name: str) -> str:
    band = beside(name)
    return (
        f"{what}: the expected errors are not of such networks; on {band.compared} of them "
        f"saturation was off by {_range(band)}"
    )


def _range(band: Band) -> str:
    """Return errors in words, as the model's figure has them."""
    low, high = (f"{100 * each:+.0f} %".replace("-", "−") for each in (band.low, band.high))
    return f"{low} to {high} ({100 * band.rms:.0f} % rms)"
