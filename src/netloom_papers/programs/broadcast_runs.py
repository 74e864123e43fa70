"""One run of traffic with broadcasts: warm up, measure, and say what it is worth.

The start-up is found by MSER-5. The window grows until the confidence interval is as narrow as
requested, the network saturates, or a limit is reached. All results are computed from the times of
the messages.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.simulation.intervals import (
    CORRELATED,
    autocorrelation,
    merge_correlated,
    run_interval,
)
from netloom.simulation.replay import ProgramRun
from netloom.simulation.steady import Stability, measure_window, stability, warm_up, warmup_packets
from netloom.simulation.tally import MOST_BATCHES, PRECISE_BATCHES, PRECISE_PACKETS
from netloom.topology import Cube, average_distance
from netloom_papers.programs.broadcast import direction_flits, latencies, target_latencies

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.simulation.agenda import ProgramEngine
    from netloom.simulation.program_network import ProgramNetwork
    from netloom.simulation.steady import Limits
    from netloom.workload import Traffic
    from netloom_papers.programs.broadcast import BroadcastTraffic, Sent

STEP_CYCLES = 500
"""Cycles after which a run can be interrupted."""

LEAST_WARM_MESSAGES = 500
LEAST_WARM_LATENCIES = 10
"""What a start-up lasts at least: so many messages, so many latencies of an idle network."""

LEAST_CYCLES = 2_000
"""Cycles of the first window."""

GROWTH = 1.5
"""By which a window grows until it is precise."""

SAMPLES = 64
"""Times in a window at which the backlog is looked at."""

LEAST_MESSAGES = 200
"""Messages of a window by which it can be told whether a network keeps up."""

TELLING_MESSAGES, TELLING_NODE_MESSAGES = 10_000, 400
TELLING_ROWS = 2**21
"""Least number of messages (in all and per average sender, or from node to node) at which a network
that seems to saturate is taken to saturate. Near saturation up to 1 in 10 windows of 2 500 messages
of 64 nodes look so, none of 60 of 10 000. Of 256 nodes that send 40 each, some queue soon does."""

HOPELESS = 0.3
"""Part of all flits that wait, from which a start-up will not come to an end."""


class Latency(NamedTuple):
    """Latencies of one class of messages, cycles: NaN where there is too little to tell.

    ``ci95`` is the half-width of a 95 % confidence interval of the mean from batch means, and
    ``precision`` that over the mean. NaN, hence below no goal, unless there are 16 batches, 500
    messages, and batches long enough to be independent.
    """

    messages: int
    mean: float
    ci95: float
    p50: float
    p99: float
    max: float
    precision: float


@dataclass(frozen=True, eq=False)
class BroadcastRun:
    """What one run at one rate found, of the messages that were everywhere within its window.

    Attributes
    ----------
    rate
        Messages a cycle of the average sending node, as asked.
    created, accepted
        The same, as generated in the window, and as delivered.
    unicast, broadcast, target
        Latencies of unicast messages, of broadcasts (until the last of their nodes is reached), and
        of all nodes that broadcasts reached. Start-up included.
    hops, flits
        Means over the unicast messages.
    stability
        Whether the network kept up, and why it is thought so.
    interrupted, warmed_up, precise
        Whether the run was stopped from outside, its start-up seen to end, and the precision asked
        for reached.
    warmup_cycles, cycles
        Cycles left out at the start, and those of the window.
    flit_hops
        Flits that crossed channels within the window.
    channel_utilisation
        float64[num_network_channels], flits per cycle on each channel.
    class_utilisation
        float64[2]: mean over all channels, of unicast messages and of broadcasts.
    broadcast_by_direction
        float64[n, 2] on k-ary n-cubes: mean utilization by broadcasts of the channels of each
        dimension and direction. None elsewhere, and where copies took more than one hop.
    """

    rate: float
    created: float
    accepted: float
    unicast: Latency
    broadcast: Latency
    target: Latency
    hops: float
    flits: float
    stability: Stability
    interrupted: bool
    warmed_up: bool
    precise: bool
    warmup_cycles: int
    cycles: int
    flit_hops: int
    channel_utilisation: Floats
    class_utilisation: Floats
    broadcast_by_direction: Floats | None

    @property
    def stable(self) -> bool:
        """Whether the network kept up."""
        return self.stability.stable

    @property
    def reason(self) -> str:
        """Why it is thought so."""
        return self.stability.reason


class _Seen(NamedTuple):
    """All messages so far, the latency of each, and the times and hops of their rows."""

    sent: Sent
    latency: Ints
    complete: Ints
    hops: Ints

    @property
    def end(self) -> Ints:
        """The cycle in which each message was everywhere; -1 where it is not yet."""
        return np.where(self.latency >= 0, self.sent.birth + self.latency, -1)

    @property
    def owner(self) -> Ints:
        """The message that each row belongs to."""
        return np.repeat(np.arange(len(self.latency)), np.diff(self.sent.offsets))


def run_broadcasts(
    network: ProgramNetwork,
    traffic: Traffic,
    program: BroadcastTraffic,
    rate: float,
    mean_flits: float,
    limits: Limits,
    stopped: Callable[[], bool],
) -> BroadcastRun:
    """Warm a network up, measure it until a limit is met, and return what was found.

    The precision is that of unicast messages, or of broadcasts if all are. ``stopped`` is asked
    between steps: whether to end at once, with what is known.
    """
    run = _BroadcastRun(network.make_engine(), program, limits)
    messages_a_cycle = rate * float(traffic.rate.sum())
    idle = network.zero_load_latency(average_distance(network.topology), mean_flits)
    wanted = max(LEAST_WARM_LATENCIES * idle, LEAST_WARM_MESSAGES / messages_a_cycle)
    warmed_up = warm_up(
        run, least=ceil(wanted), most=limits.most_cycles, step=STEP_CYCLES, stopped=stopped
    )
    run.begin = run.cycle
    channels = run.engine.channel_flits()
    most = limits.most_measured
    wanted = max(run.begin, LEAST_CYCLES, 2 * PRECISE_PACKETS / messages_a_cycle)
    ended = measure_window(
        run, first=most if limits.cycles else ceil(wanted),
        longer=lambda cycles: ceil(GROWTH * cycles), most=most, step=STEP_CYCLES, stopped=stopped,
    )  # fmt: skip
    if not ended:
        run.is_enough()  # at what there is
    used = (run.engine.channel_flits() - channels) / max(run.cycle - run.begin, 1)
    return _found(
        network, traffic, run, used, rate=rate, interrupted=not ended, warmed_up=warmed_up
    )


class _BroadcastRun(ProgramRun):
    """Messages on their way, and what the last look at the window since ``begin`` found."""

    source: BroadcastTraffic
    begin = 0
    seen: _Seen
    latency: tuple[Latency, Latency, Latency]
    verdict: Stability

    def __init__(self, engine: ProgramEngine, source: BroadcastTraffic, limits: Limits) -> None:
        super().__init__(engine, source)
        self.limits = limits

    @property
    def observed(self) -> int:
        """The class of messages that decides: broadcasts only where there is nothing else."""
        return int(self.source.fraction == 1)

    def _look(self) -> _Seen:
        sent, rows = self.source.sent(), self.engine.rows
        complete = rows["complete"].copy()
        self.seen = _Seen(sent, latencies(sent, complete), complete, rows["hops"].copy())
        return self.seen

    def has_settled(self) -> bool:
        seen = self._look()
        counted = (seen.latency >= 0) & (seen.sent.broadcast == self.observed)
        if not counted.any():
            return False
        arrivals = np.argsort(seen.end[counted], kind="stable")
        return warmup_packets(seen.latency[counted][arrivals]) is not None

    def is_hopeless(self) -> bool:
        seen = self.seen
        waiting = seen.sent.flits[seen.complete < 0].sum()
        return bool(waiting > HOPELESS * seen.sent.flits.sum()) and _telling(seen, 0)

    def is_enough(self) -> bool:
        seen = self._look()
        self.verdict = _stability(seen, self.begin, self.cycle)
        self.latency = _latencies(seen, self.begin, self.cycle)
        return self.is_precise if self.verdict.stable else _telling(seen, self.begin)

    @property
    def is_precise(self) -> bool:
        found = self.latency[self.observed]
        if self.limits.cycles is not None:
            return found.messages >= LEAST_MESSAGES
        return found.precision <= self.limits.precision


def _telling(seen: _Seen, begin: int) -> bool:
    """Whether so much was sent since a cycle that a backlog is no chance."""
    messages, rows = (
        np.count_nonzero(birth >= begin) for birth in (seen.sent.birth, seen.sent.birth[seen.owner])
    )
    senders = len(np.unique(seen.sent.source))
    enough = max(TELLING_MESSAGES, TELLING_NODE_MESSAGES * senders)
    return bool(messages >= enough or rows >= TELLING_ROWS)


def _latencies(seen: _Seen, begin: int, end: int) -> tuple[Latency, Latency, Latency]:
    """Latencies of unicast messages, of broadcasts, and of the nodes that these reached."""
    unicast, broadcast = (
        _latency(seen.end[chosen], seen.latency[chosen], begin, end)
        for chosen in (~seen.sent.broadcast, seen.sent.broadcast)
    )
    message, latency = target_latencies(seen.sent, seen.complete)
    target = _latency(seen.sent.birth[message] + latency, latency, begin, end)
    return unicast, broadcast, target


def _latency(arrival: Ints, latency: Ints, begin: int, end: int) -> Latency:
    """Summarize what arrived in the window."""
    inside = (arrival >= begin) & (arrival < end)
    latency = latency[inside]
    if not len(latency):
        return Latency(0, *(np.nan,) * (len(Latency._fields) - 1))
    batch = (arrival[inside] - begin) * MOST_BATCHES // (end - begin)
    counts = np.bincount(batch, minlength=MOST_BATCHES)
    sums = np.bincount(batch, latency, MOST_BATCHES)
    mean, ci95 = run_interval(sums, counts)
    batches = merge_correlated(sums, counts)
    middle, high = np.percentile(latency, [50, 99], method="inverted_cdf")
    precise = (
        np.count_nonzero(batches[1]) >= PRECISE_BATCHES
        and len(latency) >= PRECISE_PACKETS
        and autocorrelation(*batches) <= CORRELATED
    )
    return Latency(
        messages=len(latency),
        mean=mean,
        ci95=ci95,
        p50=float(middle),
        p99=float(high),
        max=float(latency.max()),
        precision=ci95 / mean if precise else np.nan,
    )


def _stability(seen: _Seen, begin: int, end: int) -> Stability:
    """Say whether the network kept up: what waits, copies to come included, by node that sends."""
    sent = seen.sent
    born = sent.birth[seen.owner]
    messages = np.count_nonzero((sent.birth >= begin) & (sent.birth < end))
    if messages < LEAST_MESSAGES:
        few = f"{messages} messages are too few to tell whether the network keeps up"
        return Stability(stable=True, reason=few)
    times = begin + (end - begin) * np.arange(SAMPLES + 1) // SAMPLES
    done = np.where(seen.complete >= 0, seen.complete, np.iinfo(np.int64).max)
    change = np.zeros(SAMPLES + 2)
    for when, sign in ((born, 1.0), (done, -1.0)):
        change += sign * np.bincount(np.searchsorted(times, when), sent.flits, SAMPLES + 2)
    nodes = int(max(sent.source.max(), sent.target.max())) + 1
    waiting = [
        np.bincount(sent.source[(born <= when) & (done > when)], minlength=nodes)
        for when in times[[0, (SAMPLES + 1) // 2, -1]]
    ]
    rate = np.bincount(sent.source, sent.flits, nodes) / end
    return stability(times, np.cumsum(change)[:-1], waiting, rate, float(sent.flits.mean()))


def _found(
    network: ProgramNetwork,
    traffic: Traffic,
    run: _BroadcastRun,
    used: Floats,
    *,
    rate: float,
    interrupted: bool,
    warmed_up: bool,
) -> BroadcastRun:
    seen, begin, end = run.seen, run.begin, run.cycle
    cycles, sent = max(end - begin, 1), seen.sent
    senders = int(np.count_nonzero(traffic.rate))

    def inside(when: Ints) -> Bools:
        return (when >= begin) & (when < end)

    moved = inside(seen.complete)
    of_class = sent.broadcast[seen.owner]
    class_hops = np.bincount(of_class[moved], (sent.flits * seen.hops)[moved], 2)
    unicast = moved & ~of_class
    topology, by_direction = network.topology, None
    if isinstance(topology, Cube) and (seen.hops[moved & of_class] == 1).all():
        flits = np.where(moved, sent.flits, 0)
        crossed = direction_flits(topology, sent._replace(flits=flits))[1]
        by_direction = topology.per_channel(crossed) / cycles
    return BroadcastRun(
        rate=rate,
        created=int(np.count_nonzero(inside(sent.birth))) / cycles / senders,
        accepted=int(np.count_nonzero(inside(seen.end))) / cycles / senders,
        unicast=run.latency[0],
        broadcast=run.latency[1],
        target=run.latency[2],
        hops=float(seen.hops[unicast].mean()) if unicast.any() else np.nan,
        flits=float(sent.flits[unicast].mean()) if unicast.any() else np.nan,
        stability=run.verdict,
        interrupted=interrupted,
        warmed_up=warmed_up,
        precise=run.is_precise,
        warmup_cycles=begin,
        cycles=end - begin,
        flit_hops=round(float(used.sum()) * cycles),
        channel_utilisation=used,
        class_utilisation=class_hops / max(topology.num_channels, 1) / cycles,
        broadcast_by_direction=by_direction,
    )
