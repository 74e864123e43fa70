"""Mean packet latency of any routed traffic on virtual channels, without simulation.

Every path has its own rate, so that process graphs, mappings, patterns and routings are all the
same here, as long as the way of a packet does not depend on other packets: adaptive routing is left
to the simulator. Injection and ejection channels count as channels, one of each a node. What is
solved for belongs to *turns*: all packets that come over one channel and go on over another, in the
same VCs, have the same mean waits. Two techniques, as the simulator has them: wormhole and virtual
cut-through, with V virtual channels that send their flits in turn.

What a head that has come to the front of its buffer waits for is, with packets of L flits:

- *The channel.* Packets from one input come one after the other and meet only those of *other*
  inputs (as in the contention matrix of Ogras, Bogdan & Marculescu, "An analytical approach for
  network-on-chip performance analysis", IEEE TCAD 29, 2010). Those are counted as in mean value
  analysis (Reiser & Lavenberg, J. ACM 27, 1980), by Little's law from their own times at the front,
  so that nobody waits for more packets than there are buffers. Each costs L: taking turns flit by
  flit is processor sharing, whose sojourn is L / (1 - ρ) (Kleinrock, Queueing Systems vol. 2,
  1976, section 4.4). Where all the other VCs are taken a packet is served first come first served
  instead, and finds half of one in service (Pollaczek and Khinchine, deterministic lengths).
- *A virtual channel* that nothing is sent on, all others being taken too (a power of the chance
  that one is: Dally, "Virtual-channel flow control", IEEE TPDS 3, 1992, has them independent as
  well). One is idle while its packet is held up further on (wormhole: the *stall*, what of the next
  delay does not fit into the buffer; Draper & Ghosh, J. Parallel Distrib. Comput. 23, 1994, add all
  of it); while its buffer has no room for a whole packet (virtual cut-through); and for the cycle
  in which a head takes it.
- *The packets before it in its buffer*: M/G/1 with the front's times as service, of which only the
  delays count, since packets come over a channel spaced already. A delay is taken to be nothing or
  exponential, with the second moment of meetings of equally long packets.
- *The source*: Geo/G/1 (Takagi, Queueing Analysis vol. 3, 1993) in front of the injection channel.

These depend on one another along the paths, and are iterated to a fixed point, from an idle network
on. If there is none, or a channel, a VC or a source is busy all the time, it is saturated.

No number here is fitted. But which of several such closures to take (as, that all VCs being taken
is a plain power) was chosen on 80 configurations simulated by netloom: 8 × 8 meshes and tori with
dimension order and datelines under uniform, transpose and tornado traffic; a measured process graph
in two mappings, on a mesh of 8 × 8 and a torus of 4 × 4 × 4; 5 and 20 flits, 2 and 4 VCs of 8 flits
(20 where cut-through needs them). The model's error, mean and worst, of the mean latency at parts
of the simulated saturation load, and of that load (3 times the latency of the idle network):

======================  ===========  ============  =============  ============
configurations          at 20 %      at 50 %       at 80 %        saturation
======================  ===========  ============  =============  ============
40 of wormhole          0.8 (2.3) %  1.3 (4.3) %   5.4 (16.6) %   5.1 (15.5) %
40 of cut-through       0.7 (2.2) %  1.6 (6.2) %   6.4 (17.9) %   8.9 (22.0) %
32 that changed it      0.6 (1.9) %  1.1 (2.7) %   4.7 (12.9) %   6.8 (17.5) %
16 not seen before      0.8 (2.2) %  1.9 (3.7) %   7.5 (14.4) %   7.1 (18.8) %
======================  ===========  ============  =============  ============

Near saturation latency is low more often than high, and cut-through saturates 8 % too late on
average (wormhole 1 %): most on rings whose two classes leave a packet one VC, and for 20 flits. Of
80 saturation loads 60 are within 10 %. The 32 are bit-complement, shuffle, bit-reverse, neighbour
and uniform traffic on meshes, tori and hypercubes of 25 to 144 nodes, with 1, 5 and 10 flits and 2,
3 and 4 VCs: after they had shown single flits to saturate up to twice too late, the cycle in which
a head takes its VC was added. The 16, all else kept, add hot spots, lines and rings, other routers,
buffers of 4 to 16 flits and 8 VCs.

Not modelled: bursts (packets come as Bernoulli arrivals), packets of different lengths, losses of
switch allocation, buffers so small that credits come back too late for a packet alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from netloom.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from netloom.models.channel_flows import Flows

CLOSE = 1e-4
"""Width of the bracket, as a fraction of the load, at which a search for saturation ends."""


@dataclass(frozen=True)
class ChannelRouter:
    """What the model needs to know of all routers.

    Attributes
    ----------
    vcs, buffer_flits
        Virtual channels of every channel, and flits that the buffer of one holds.
    switching
        ``wormhole`` or ``virtual-cut-through``.
    hop_cycles, end_cycles
        An idle network takes ``end_cycles`` + ``hop_cycles`` × hops + L − 1 for a packet of L
        flits: a router and a channel a hop; injection channel, one more router and ejection
        channel. The default is that of the simulator's three-stage router.
    credit_cycles
        From winning the switch to the use of the buffer slot by the router before.
    head_cycles
        Those of ``hop_cycles`` in which a head at the front of its buffer has no VC yet; 0 in a
        speculative router. In the last of them the VC is taken, and nothing is sent on it.
    """

    vcs: int = 4
    buffer_flits: int = 8
    switching: Literal["wormhole", "virtual-cut-through"] = "wormhole"
    hop_cycles: int = 4
    end_cycles: int = 6
    credit_cycles: int = 2
    head_cycles: int = 1

    def __post_init__(self) -> None:
        for name in ("vcs", "buffer_flits", "hop_cycles"):
            if getattr(self, name) < 1:
                raise InputError(name, str(getattr(self, name)), "at least 1")
        for name in ("end_cycles", "credit_cycles", "head_cycles"):
            if getattr(self, name) < 0:
                raise InputError(name, str(getattr(self, name)), "at least 0")
        if self.switching not in ("wormhole", "virtual-cut-through"):
            wanted = "wormhole or virtual-cut-through"
            raise InputError("switching", f"'{self.switching}'", wanted)


class Turns(NamedTuple):
    """What the kernel takes of a network: arrays over turns, then numbers.

    ``before`` (-1 at the source) and ``channel``: where packets come from and go to; ``pair``
    numbers those two; ``share_before``, ``share``: chance of each VC. ``choices``: of how many VCs
    one is taken; ``beside``: the fraction of packets of its own input that are in other VCs than
    it; ``same_vcs``: that of the channel's packets that take VCs which it may take. ``leaves``:
    whether the channel is an ejection channel. ``whole``: whether only whole packets move.
    ``head``: cycles that a head lacks a VC. ``gap``: cycles, at least, from a tail to the next head
    in a VC; ``recycle``: those until there is room for another whole packet (negative: before).
    """

    before: NDArray[np.int64]
    channel: NDArray[np.int64]
    pair: NDArray[np.int64]
    share_before: NDArray[np.float64]
    share: NDArray[np.float64]
    choices: NDArray[np.float64]
    beside: NDArray[np.float64]
    same_vcs: NDArray[np.float64]
    leaves: NDArray[np.bool_]
    flits: float
    buffer: float
    whole: bool
    head: float
    gap: float
    recycle: float


@dataclass(frozen=True, eq=False)
class PreparedChannels:
    """Flows and routers, ready to be solved at any load.

    Attributes
    ----------
    flows, router, flits
        What was given.
    turns, turn_rate, hop_turn, first_hop
        What the kernel takes; each turn's packets a cycle at load 1; the turn of every hop, those
        into and out of the network included; the first hop of each path.
    zero_load_cycles
        float64[num_paths], latency of each path in an idle network.
    utilisation
        float64[num_channels], flits a cycle at load 1.
    full_load
        The load at which some channel, or a node's injection or ejection channel, is always busy.
    """

    flows: Flows
    router: ChannelRouter
    flits: int
    turns: Turns
    turn_rate: NDArray[np.float64]
    hop_turn: NDArray[np.int64]
    first_hop: NDArray[np.int64]
    zero_load_cycles: NDArray[np.float64]
    utilisation: NDArray[np.float64]
    full_load: float


def prepare_channels(
    flows: Flows, router: ChannelRouter | None = None, *, flits: int = 5
) -> PreparedChannels:
    """Return flows ready to be solved, at any load.

    Parameters
    ----------
    flows
        Made by ``follow_flows`` or ``any_vc_flows``.
    router
        The routers; the default ones if not given.
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
        raise InputError("flits", str(flits), "at least 1")
    if flows.vc_share.shape[1] != routers.vcs:
        raise InputError("vcs", str(routers.vcs), f"{flows.vc_share.shape[1]}, as the flows have")
    if routers.switching == "virtual-cut-through" and flits > routers.buffer_flits:
        found = f"{routers.buffer_flits} for packets of {flits} flits"
        raise InputError("buffer_flits", found, "buffers that hold a packet, to cut through")
    turns, turn_rate, hop_turn, first_hop = _turns(flows, routers, flits)
    idle = routers.end_cycles + routers.hop_cycles * flows.paths.lengths + flits - 1
    load = np.bincount(turns.channel, turn_rate * flits)
    return PreparedChannels(
        flows, routers, flits, turns, turn_rate, hop_turn, first_hop,
        zero_load_cycles=np.asarray(idle, np.float64),
        utilisation=np.asarray(load[: flows.num_channels], np.float64),
        full_load=float(1 / load.max()),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class ChannelPrediction:
    """What the model says of one load. Cycles; NaN where the network is saturated.

    Attributes
    ----------
    load
        The factor of the flows' rates.
    saturated
        Whether there is no steady state.
    latency, network_latency, source_wait, zero_load_latency
        Of the mean packet: from creation to the tail's arrival; without and only the time until its
        head enters the injection channel; and in an idle network.
    path_latency, path_source_wait
        float64[num_paths].
    utilisation
        float64[num_channels], flits a cycle.
    busiest_channel
        The channel that carries most; -1 if no path has any.
    """

    load: float
    saturated: bool
    latency: float
    network_latency: float
    source_wait: float
    zero_load_latency: float
    path_latency: NDArray[np.float64]
    path_source_wait: NDArray[np.float64]
    utilisation: NDArray[np.float64]
    busiest_channel: int


def predict_channels(prepared: PreparedChannels, load: float = 1.0) -> ChannelPrediction:
    """Return the mean latencies at one load.

    Parameters
    ----------
    prepared
        Made by ``prepare_channels``.
    load
        By what the rates of all flows are multiplied, at least 0.

    Raises
    ------
    InputError
        If the load is negative or not finite.

    Examples
    --------
    >>> from netloom.models.channel_flows import follow_flows
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
    from netloom.models.channel_queueing_kernel import fixed_point

    if not 0 <= load < np.inf:
        raise InputError("load", str(load), "a number of at least 0")
    rate = prepared.flows.rate
    hop_wait, stall, found = fixed_point(prepared.turns, prepared.turn_rate * load)
    wait = _source_wait(prepared, load, stall)
    stable = bool(found) and bool(np.isfinite(wait).all())
    network = prepared.zero_load_cycles + np.add.reduceat(
        hop_wait[prepared.hop_turn], prepared.first_hop
    )
    if not stable:
        wait, network = np.full_like(wait, np.nan), np.full_like(network, np.nan)
    network_mean, wait_mean = (float(np.average(each, weights=rate)) for each in (network, wait))
    used = prepared.utilisation * load
    return ChannelPrediction(
        load=load,
        saturated=not stable,
        latency=network_mean + wait_mean,
        network_latency=network_mean,
        source_wait=wait_mean,
        zero_load_latency=float(np.average(prepared.zero_load_cycles, weights=rate)),
        path_latency=network + wait,
        path_source_wait=wait,
        utilisation=used,
        busiest_channel=int(np.argmax(used)) if used.any() else -1,
    )


def channel_latency_curve(prepared: PreparedChannels, loads: ArrayLike) -> NDArray[np.float64]:
    """Return the mean latency at each load (float64), NaN where the network is saturated.

    Examples
    --------
    >>> from netloom.models.channel_flows import any_vc_flows
    >>> from netloom.routing import Paths
    >>> alone = Paths(np.array([0, 1]), np.array([0], np.int32))
    >>> flows = any_vc_flows(alone, [0], [1], [1.0], vcs=4, num_nodes=2, num_channels=1)
    >>> channel_latency_curve(prepare_channels(flows, flits=5), [0, 0.5, 0.8, 1])  # Geo/D/1
    array([14., 16., 22., nan])
    """
    points = np.asarray(loads, np.float64)
    found = [predict_channels(prepared, float(load)).latency for load in points.flat]
    return np.array(found).reshape(points.shape)


def channel_saturation(prepared: PreparedChannels, *, latency_factor: float = np.inf) -> float:
    """Return the load from which on there is no steady state, or latency is too high.

    Parameters
    ----------
    prepared
        Made by ``prepare_channels``.
    latency_factor
        How many times the latency of an idle network is too much. ``find_saturation`` of the
        simulator takes 3.

    Raises
    ------
    InputError
        If the factor is not above 1.

    Examples
    --------
    >>> from netloom.models.channel_flows import any_vc_flows
    >>> from netloom.routing import Paths
    >>> alone = Paths(np.array([0, 1]), np.array([0], np.int32))
    >>> flows = any_vc_flows(alone, [0], [1], [1.0], vcs=4, num_nodes=2, num_channels=1)
    >>> round(channel_saturation(prepare_channels(flows, flits=5)), 3)
    1.0
    """
    if not latency_factor > 1:
        raise InputError("latency_factor", str(latency_factor), "more than 1")
    low, high = 0.0, prepared.full_load
    while high - low > CLOSE * high:
        middle = (low + high) / 2
        found = predict_channels(prepared, middle)
        if found.saturated or found.latency > latency_factor * found.zero_load_latency:
            high = middle
        else:
            low = middle
    return (low + high) / 2


def _source_wait(
    prepared: PreparedChannels, load: float, stall: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the wait of each path's packets for the injection channel; infinite if without end.

    Geo/G/1: p E[S (S - 1)] / (2 (1 - p E[S])), with one mean S for the packets of a turn.
    """
    flows, turns = prepared.flows, prepared.turns
    first = prepared.hop_turn[prepared.first_hop]
    arrivals = flows.rate * load / prepared.flits
    held_up = stall[first] - turns.gap
    if turns.whole:  # only where all other VCs are taken
        times = arrivals * (prepared.flits + stall[first]) / prepared.router.vcs
        taken = np.minimum(np.bincount(flows.source, times, flows.num_nodes), 1.0)
        hidden = (prepared.router.vcs - 1) * prepared.flits  # by sending in the others
        held_up = (stall[first] - turns.gap) * taken[flows.source] ** (prepared.router.vcs - 1)
        held_up += max(turns.gap - hidden, 0.0)
    service = prepared.flits + held_up
    busy = np.bincount(flows.source, arrivals * service, flows.num_nodes)
    work = np.bincount(flows.source, arrivals * service * (service - 1), flows.num_nodes) / 2
    wait = np.full(flows.num_nodes, np.inf)
    np.divide(work, 1 - busy, out=wait, where=busy < 1)
    sending = np.bincount(flows.source, flows.rate, flows.num_nodes) > 0
    wait[~sending] = 0.0
    return wait[flows.source]


class _Hops(NamedTuple):
    """All hops of all paths, those into and out of the network included, one path after the other.

    ``before`` is -1 on the first one of a path. ``used`` numbers the patterns of VC shares.
    """

    channel: NDArray[np.int64]
    before: NDArray[np.int64]
    used: NDArray[np.int64]
    used_before: NDArray[np.int64]
    patterns: NDArray[np.float64]
    first: NDArray[np.int64]


def _hops(flows: Flows) -> _Hops:
    vcs, offsets = flows.vc_share.shape[1], flows.paths.offsets
    entry, leave = flows.num_channels, flows.num_channels + flows.num_nodes
    ends = offsets[1:] + np.arange(1, len(offsets))
    channel = np.insert(flows.paths.channels.astype(np.int64), offsets[:-1], entry + flows.source)
    channel = np.insert(channel, ends, leave + flows.target)
    shares = np.concatenate([np.full((1, vcs), 1 / vcs), flows.vc_share])
    patterns, used = np.unique(shares.round(9), axis=0, return_inverse=True)
    used = used.ravel()
    any_vc = int(used[0])
    used = np.insert(np.insert(used[1:], offsets[:-1], any_vc), ends, any_vc)
    first = offsets[:-1] + 2 * np.arange(len(offsets) - 1)
    before, used_before = np.roll(channel, 1), np.roll(used, 1)
    before[first], used_before[first] = -1, any_vc
    return _Hops(channel, before, used, used_before, patterns, first)


def _turns(
    flows: Flows, router: ChannelRouter, flits: int
) -> tuple[Turns, NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Return the turns, the packets a cycle of each, the turn of each hop and the first hops."""
    hops, leave = _hops(flows), flows.num_channels + flows.num_nodes
    pair_key = (hops.before + 1) * (leave + flows.num_nodes) + hops.channel
    key = (pair_key * len(hops.patterns) + hops.used) * len(hops.patterns) + hops.used_before
    _, where, hop_turn = np.unique(key, return_index=True, return_inverse=True)
    hop_rate = np.repeat(flows.rate / flits, np.diff(flows.paths.offsets) + 2)
    turn_rate = np.bincount(hop_turn, hop_rate).astype(np.float64)
    channel, share = hops.channel[where], hops.patterns[hops.used[where]]
    share_before = hops.patterns[hops.used_before[where]]
    flow = np.zeros((leave + flows.num_nodes, flows.vc_share.shape[1]))
    np.add.at(flow, channel, turn_rate[:, None] * share)
    whole = router.switching == "virtual-cut-through"
    until_room = router.hop_cycles + router.credit_cycles + flits - router.buffer_flits
    gap = min(router.head_cycles, 1)
    all_flow = np.maximum(flow.sum(axis=1), np.finfo(np.float64).tiny)
    turns = Turns(
        before=hops.before[where],
        channel=channel,
        pair=np.unique(pair_key[where], return_inverse=True)[1],
        share_before=share_before,
        share=share,
        choices=1 / (share**2).sum(axis=1),
        beside=1 - (share_before**2).sum(axis=1),
        same_vcs=((share > 0) * flow[channel]).sum(axis=1) / all_flow[channel],
        leaves=channel >= leave,
        flits=float(flits),
        buffer=float(router.buffer_flits),
        whole=whole,
        head=float(router.head_cycles),
        gap=float(max(gap, until_room) if whole else gap),
        recycle=float(until_room),
    )
    return turns, turn_rate, np.asarray(hop_turn, np.int64), hops.first
