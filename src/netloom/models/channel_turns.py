"""Traffic on its paths as *turns*: what the kernel of ``channel_queueing`` takes of a network.

A turn is all packets that come over one channel and go on over another, in the same VCs.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.models.channel_flows import Flows

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

    def __post_init__(self) -> None:
        for name in ("vcs", "buffer_flits", "hop_cycles"):
            if getattr(self, name) < 1:
                raise InputError(name, str(getattr(self, name)), "at least 1")
        for name in ("end_cycles", "credit_cycles", "head_cycles", "entry_loop_cycles"):
            if getattr(self, name) < 0:
                raise InputError(name, str(getattr(self, name)), "at least 0")
        if self.switching not in ("wormhole", "virtual-cut-through"):
            wanted = "wormhole or virtual-cut-through"
            raise InputError("switching", f"'{self.switching}'", wanted)

    @property
    def loops(self) -> Loops:
        """What buffers cost that are shorter than the way of a flit and its credit."""
        inside = self.hop_cycles - self.head_cycles + self.credit_cycles
        return Loops(self.buffer_flits, inside, self.entry_loop_cycles, self.head_cycles)


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


class _Hops(NamedTuple):
    """All hops of all paths, those into and out of the network included, one path after the other.

    ``before`` is -1 on the first one of a path. ``used`` numbers the patterns of VC shares.
    """

    channel: Ints
    before: Ints
    used: Ints
    used_before: Ints
    patterns: Floats
    first: Ints


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


class Times(NamedTuple):
    """What a packet takes, in cycles.

    ``inside`` and ``entry``: ``own`` of channels between routers and of the source's. ``source``:
    for how long a source that nothing else delays sends nothing else. The others: see ``Turns``.
    """

    inside: float
    entry: float
    source: float
    stretched: float
    room: float
    recycle: float


def vc_times(router: ChannelRouter, flits: int) -> Times:
    """Return what a packet of so many flits takes where nothing else is in its way."""
    gap, loops = float(min(router.head_cycles, 1)), router.loops
    until_room = router.hop_cycles + router.credit_cycles + flits - router.buffer_flits
    fits = max(router.buffer_flits // flits, 1)
    if router.switching == "virtual-cut-through":
        own, size = max(gap, until_room / fits), float(router.buffer_flits)
        return Times(own, own, float(flits), float(flits), size, float(until_room))
    inside, entry = (
        max(gap, time_between_packets(loops, loop, flits) - flits)
        for loop in (loops.inside, loops.entry)
    )
    source, room = time_at_source(loops, flits), float(router.buffer_flits)
    if router.vcs > 1:  # other VCs are sent on meanwhile
        entry = gap
    else:
        source = max(source, flits + entry)
        room = max(room - loops.inside - loops.head, 0.0)
    return Times(inside, entry, source, stretch(loops, flits), room, float(until_room))


def group(flows: Flows, router: ChannelRouter, flits: int) -> tuple[Turns, Floats, Ints, Ints]:
    """Return the turns, packets per cycle of each, the turn of every hop, each path's first hop."""
    hops, leave = _hops(flows), flows.num_channels + flows.num_nodes
    pair_key = (hops.before + 1) * (leave + flows.num_nodes) + hops.channel
    key = (pair_key * len(hops.patterns) + hops.used) * len(hops.patterns) + hops.used_before
    _, where, hop_turn = np.unique(key, return_index=True, return_inverse=True)
    hop_rate = np.repeat(flows.rate / flits, np.diff(flows.paths.offsets) + 2)
    turn_rate = np.bincount(hop_turn, hop_rate).astype(np.float64)
    channel, before = hops.channel[where], hops.before[where]
    share, share_before = hops.patterns[hops.used[where]], hops.patterns[hops.used_before[where]]
    flow = np.zeros((leave + flows.num_nodes, flows.vc_share.shape[1]))
    np.add.at(flow, channel, turn_rate[:, None] * share)
    all_flow = np.maximum(flow.sum(axis=1), np.finfo(np.float64).tiny)
    whole, times = router.switching == "virtual-cut-through", vc_times(router, flits)
    by_channel = np.full(leave + flows.num_nodes, times.inside)
    by_channel[flows.num_channels : leave] = times.entry
    if not whole:  # nothing keeps a sink from taking flits
        by_channel[leave:] = min(router.head_cycles, 1)
    own, beside = by_channel[channel], 1 - (share_before**2).sum(axis=1)
    spaced = (own if router.vcs > 1 else by_channel[before]) * (1 - beside)
    if not whole:  # a source sends one packet after the other, whatever their VCs
        spaced[before >= flows.num_channels] = times.source - flits
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
        stretched=times.stretched,
        buffer=float(router.buffer_flits),
        room=times.room,
        whole=whole,
        single=router.vcs == 1 and not whole,
        head=float(router.head_cycles),
        source=times.source,
        recycle=times.recycle,
        spread=sqrt(2 * (times.stretched / flits + 1)) - 2,
        conflict=CONFLICT if flits <= router.buffer_flits else 0.0,
        fits=float(max(router.buffer_flits // flits, 1)),
    )
    return turns, turn_rate, np.asarray(hop_turn, np.int64), hops.first


class Loops(NamedTuple):
    """Buffers of ``buffer`` flits and their loops, in cycles.

    A flit cannot be sent before the one B flits ahead of it has left the buffer that both go to,
    and its credit has come back. This *loop* takes a flit's way there and a credit's way back.
    ``inside``: between two routers. ``entry``: between the source and its router. ``head``: for how
    long a head waits at every router, which delays the flits behind it once.
    """

    buffer: int
    inside: int
    entry: int
    head: int


def credit_wait(loops: Loops, hops: ArrayLike, flits: int) -> Floats:
    """Return for how long lone packets of this many flits wait for credits, over so many hops.

    The tail is delayed by the longest chain of waits. It goes round q = ⌊(P − 1) / B⌋ loops, each
    so much longer than B flits in a row. A chain goes round loops between routers behind the head's
    own way through all of them. One that also goes round the source's loop from there on has the
    waits of the head at as many routers only as it comes back from.

    Examples
    --------
    >>> credit_wait(Loops(buffer=4, inside=6, entry=4, head=1), [0, 1, 3], flits=13)
    array([0., 6., 6.])
    """
    crossed = np.asarray(hops)
    rounds = (flits - 1) // loops.buffer
    if not rounds:
        return np.zeros(crossed.shape)
    inside, entry = loops.inside - loops.buffer, loops.entry - loops.buffer
    behind = np.where(crossed > 0, rounds * inside, 0)
    at_source = rounds * entry - crossed * loops.head
    reach = np.minimum(rounds, crossed + 1)
    both = (reach - 1) * inside + (rounds - reach + 1) * entry
    both -= (crossed + 1 - reach) * loops.head
    return np.asarray(np.maximum(np.maximum(behind, 0), np.maximum(at_source, both)), np.float64)


def time_at_source(loops: Loops, flits: int) -> float:
    """Return for how long the source of a packet of this many flits sends nothing else.

    Examples
    --------
    >>> time_at_source(Loops(buffer=8, inside=6, entry=4, head=1), flits=5)
    5.0
    >>> time_at_source(Loops(buffer=4, inside=6, entry=4, head=1), flits=13)  # 4 at 0, 5, 11; 1
    18.0
    """
    rounds = (flits - 1) // loops.buffer
    last = flits - 1
    if rounds:
        first = max(loops.entry + loops.head, loops.buffer)
        later = max(loops.inside, loops.entry, loops.buffer)
        last = first + (rounds - 1) * later + last % loops.buffer
    return float(1 + last)


def time_between_packets(loops: Loops, loop: int, flits: int) -> float:
    """Return how many cycles, at least, a VC takes a packet where they follow one another.

    Every flit has a slot of the buffer for one loop, those that arrive before their head goes on
    for as long as it waits besides.

    Examples
    --------
    >>> time_between_packets(Loops(buffer=4, inside=6, entry=4, head=1), 6, flits=2)  # 14 / 4
    3.5
    """
    return max(flits, (flits * loop + min(flits, loops.buffer) * loops.head) / loops.buffer)


def stretch(loops: Loops, flits: int) -> float:
    """Return for how long a lone packet is on its way over a channel, from head to tail.

    Examples
    --------
    >>> stretch(Loops(buffer=4, inside=6, entry=4, head=1), flits=13)
    19.0
    """
    longer = max(loops.inside, loops.entry) - loops.buffer
    return float(flits + (flits - 1) // loops.buffer * max(longer, 0))
