"""Open-loop traffic of which a part is broadcast, by trees of one-hop messages, and its runs.

The traffic of Shahrabi, Ould-Khaoua & Mackenzie (2002): every node generates messages, each a
broadcast with probability β. All nodes replicate broadcasts and send the copies on. As in
``stream``, all chance is in the traffic, and no draw depends on the network or on how a run is cut.

A run warms up, measures, and says what it is worth. The start-up is found by MSER-5. The window
grows until the confidence interval is as narrow as requested, the network saturates, or a limit is
reached. All results are computed from the times of the messages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from functools import partial
from math import ceil
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints, Records
from netloom.base.errors import InputError
from netloom.base.figures import CYCLES, SHARE, Figures, derived, figure, known, places, unseen
from netloom.contention.busiest import USED
from netloom.simulation import steady
from netloom.simulation.agenda import ProgramRun
from netloom.simulation.network.figures import Backlog, note_of, state_of
from netloom.simulation.program_network import ProgramNetwork
from netloom.topology import Cube, Topology, average_distance
from netloom.workload.programs.messages import Lists, Messages, messages
from netloom.workload.programs.traces import ROW_FIRST, Branches, Orientation, branches
from netloom.workload.traffic import Traffic
from netloom.workload.traffic.stream import Arrivals, Lengths, PacketStream

MESSAGES = "messages/node/cycle"

STREAMS = 6
"""Streams of chance that a seed makes. The first three are the packets' own."""


class Sent(NamedTuple):
    """All that has been sent so far, by the rows that messages became, one if it is unicast.

    ``birth``: int64[num_rows], the cycle in which the message was generated. The others are
    bool[num_rows]. ``first`` tells whether the message begins with the row, ``broadcast`` whether
    it is one. ``asked`` tells whether the target is one that it is for, or just on the way.
    """

    birth: Ints
    first: Bools
    broadcast: Bools
    asked: Bools

    def ends(self, complete: Ints) -> Ints:
        """Return int64[num_messages], the cycle in which each message was everywhere; -1: not yet.

        ``complete``: int64[num_rows], the cycle in which each row was complete, or −1 if it is not
        yet.

        Examples
        --------
        >>> first = np.array([True, False, True])
        >>> sent = Sent(np.zeros(3, int), first, *np.zeros((2, 3), bool))
        >>> sent.ends(np.array([8, 12, -1]))
        array([12, -1])
        """
        rows = np.flatnonzero(self.first)
        least = np.minimum.reduceat(complete, rows)
        return np.where(least < 0, -1, np.maximum.reduceat(complete, rows))


@dataclass(eq=False)
class BroadcastTraffic:
    """The messages that nodes generate from cycle 0 on, some of them for all nodes, or for many.

    A program (``messages.Source``) that waits for nothing but its own copies. The k-th message is
    born at the same time and place whatever the fraction of broadcasts, and goes to the same
    target if it is unicast.

    Parameters
    ----------
    traffic
        Who generates messages how often, and where the unicast ones go.
    rate
        Messages a cycle of the average node that generates any.
    fraction
        Part β of the messages that are broadcast, 0 to 1.
    tree
        ``balanced``: an orientation drawn for every broadcast. ``row-first``: always the same.
    startup_cycles
        Cycles that every message, and every copy from node to node, takes before it is sent.
    multicast_targets
        So many nodes, drawn for each broadcast, are its targets, or 0 for all.

    Raises
    ------
    InputError
        If a number is out of range, or a node would have to generate more than the arrival
        process can, or more than a flit per cycle.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> from netloom.workload import parse_lengths
    >>> from netloom.workload.traffic import uniform
    >>> long = parse_lengths(32)
    >>> program = BroadcastTraffic(torus(8, 8), uniform(64), 0.002, 0.04, lengths=long)
    >>> table = program.extend(np.empty(0, np.int64), 5000)
    >>> sent = program.sent()
    >>> int(sent.first.sum()), int(sent.broadcast[sent.first].sum()), len(table)
    (649, 26, 2261)
    """

    topology: Topology
    traffic: Traffic
    rate: float
    fraction: float
    _: KW_ONLY
    lengths: Lengths
    arrivals: Arrivals | str = "bernoulli"
    tree: Literal["balanced", "row-first"] = "balanced"
    startup_cycles: int = 0
    multicast_targets: int = 0
    seed: int = 1

    def __post_init__(self) -> None:
        mean = self.lengths.mean
        if not 0 < self.rate * mean <= 1:
            wanted = f"above 0, at most {1 / mean:.4g}: a flit/node/cycle"
            raise InputError("rate", f"{self.rate:g} messages of {mean:g} flits", wanted)
        self._nodes = np.unique(self.topology.channel_target)  # a broken node has no channels
        assert np.isin(np.flatnonzero(self.traffic.rate), self._nodes).all(), "a broken node sends"
        others = len(self._nodes) - 1
        if self.multicast_targets > others:
            found = f"{self.multicast_targets} of {others + 1} nodes"
            raise InputError("multicast targets", found, f"1 to {others}, or 0 for all")
        self.num_nodes = self.topology.num_hosts
        law: dict[str, Any] = {"lengths": self.lengths, "arrivals": self.arrivals}
        self._stream = PacketStream(self.traffic, self.rate * mean, **law, seed=self.seed)
        children = np.random.SeedSequence(self.seed).spawn(STREAMS)[3:]
        self._kinds, self._orientations, self._targets = map(np.random.default_rng, children)
        self._parts: list[Sent] = []

    def extend(self, complete: Ints, until: int) -> Messages:
        """Return the rows of all messages born before ``until`` that are not yet returned.

        Raises
        ------
        InputError
            If ``until`` is above 2³¹ − 1.
        """
        made = len(complete)
        packets = self._stream.until(until)
        broadcast = self._kinds.random(len(packets.birth)) < self.fraction
        trees = [self._drawn_tree(root) for root in packets.source[broadcast].tolist()]
        counts = np.ones(len(broadcast), np.int64)  # rows of each message
        counts[broadcast] = [len(tree.source) for tree in trees]
        begin = made + np.cumsum(counts) - counts
        of = np.repeat(np.arange(len(counts)), counts)
        copies, asked, after = broadcast[of], np.ones(len(of), bool), np.full(len(of), -1)
        source, target = packets.source[of], packets.target[of]
        if trees:
            columns = map(np.concatenate, zip(*trees, strict=True))
            source[copies], target[copies], waits, asked[copies] = columns
            after[copies] = np.where(waits >= 0, begin[of[copies]] + waits, -1)
        table = messages(
            self.num_nodes,
            source=source,
            target=target,
            flits=packets.flits[of],
            start=packets.birth[of],
            delay=self.startup_cycles,
            after=Lists(np.append(0, np.cumsum(after >= 0)), after[after >= 0]),
            first=made,
        )
        self._parts.append(Sent(table.start, np.diff(of, prepend=-1) > 0, copies, asked))
        return table

    def sent(self) -> Sent:
        """Return all that has been sent so far."""
        return Sent(*map(np.concatenate, zip(*self._parts, strict=True)))

    def _drawn_tree(self, root: int) -> Branches:
        orientation, targets, count = ROW_FIRST, None, self.multicast_targets
        if self.tree == "balanced":
            orientation = balanced_orientation(self.topology, self._orientations)
        if count:
            keys = self._targets.random(len(self._nodes) - 1)
            drawn = np.argpartition(keys, count - 1)[:count]
            targets = self._nodes[self._nodes != root][drawn]
        return branches(self.topology, root, targets, orientation)


def balanced_orientation(topology: Topology, rng: np.random.Generator) -> Orientation:
    """Return an orientation drawn anew: order of the dimensions, and leans of the even rings.

    The row-first tree of a k x k torus loads columns k times as much as rows. If the orientation is
    drawn for each broadcast, all channels of a torus with equal sides carry the same mean traffic,
    as in the model of Shahrabi et al. (2002, eq. 4). On networks other than k-ary n-cubes, each
    node gets its copy from a neighbour drawn among those nearer to the root.
    """
    if isinstance(topology, Cube):
        dimensions = len(topology.sides)
        drawn = rng.random(2 * dimensions)
        order = np.argsort(drawn[:dimensions])
        return Orientation(
            tuple(order.tolist()), tuple((drawn[dimensions:] < 0.5).astype(int).tolist())
        )
    return Orientation(preference=rng.random(topology.num_channels))


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


class SeenLatency(Figures):
    """Latencies of one class of messages, as measured. None past saturation."""

    mean: float | None = figure("mean", CYCLES, lead=True, key=True, half="ci95")
    ci95: float | None = figure("± 95 %", CYCLES)
    p50: float | None = figure("median", CYCLES)
    p99: float | None = figure("99 % up to", CYCLES)
    max: float | None = figure("largest", CYCLES)

    @classmethod
    def of(cls, found: Latency, *, stable: bool) -> Self:
        """Return latencies as they were measured, or unknown past saturation."""
        values = {each.name: known(getattr(found, each.name)) for each in places(cls)}
        return cls(**values if stable else dict.fromkeys(values))


class BroadcastRun(Figures):
    """What one run at one rate found, of the messages that were everywhere within its window.

    Broadcasts last until their last target is reached. Start-up is included.

    Attributes
    ----------
    rate
        Messages a cycle of the average sending node, as asked.
    created, accepted
        The same, as generated in the window, and as delivered.
    hops
        Mean over the unicast messages.
    cycles, warmup_cycles
        Those of the window, and those left out at the start.
    flit_hops
        Flits that crossed channels within the window.
    stable, backlog, reason
        Whether the network kept up, what piled up, and why it is thought so.
    precise, warmed_up, interrupted
        Whether the precision asked for was reached, the start-up seen to end, and the run stopped
        from outside.
    unicast, broadcast, target
        Latencies, also past saturation, of unicast messages, of broadcasts (until the last of their
        nodes is reached), and of all nodes that broadcasts reached. This and what follows is known
        of a run that was made just now.
    channel_utilisation
        float64[num_network_channels], flits per cycle on each channel.
    """

    rate: float = figure(unit=MESSAGES, lead=True, key=True)
    created: float = figure(unit=MESSAGES)
    accepted: float = figure(unit=MESSAGES, lead=True, key=True)
    zero_load_latency: float | None = figure("unicast latency if idle", CYCLES)
    unicast_latency: SeenLatency = figure(
        "unicast latency", flat="unicast_latency_", lead=True, key=True
    )
    broadcast_latency: SeenLatency = figure(
        "broadcast latency", flat="broadcast_latency_", lead=True, key=True
    )
    target_latency: SeenLatency = figure("latency to each target", flat="target_latency_")
    unicast_messages: int = figure()
    broadcast_messages: int = figure()
    hops: float | None = figure("hops of a unicast")
    utilisation_mean: float = figure("mean channel", USED, at="utilisation.mean")
    utilisation_max: float = figure("busiest channel", USED, at="utilisation.max", key=True)
    utilisation_unicast: float = figure("mean channel, unicasts", USED, at="utilisation.unicast")
    utilisation_broadcast: float = figure(
        "mean channel, broadcasts", USED, at="utilisation.broadcast"
    )
    cycles: int = figure("measured", CYCLES)
    warmup_cycles: int = figure("warm-up", CYCLES)
    flit_hops: int = figure()
    stable: bool = figure("keeps up", key=True)
    backlog: Backlog = figure()
    reason: str = figure()
    precise: bool = figure()
    warmed_up: bool = figure()
    interrupted: bool = figure()
    note: str | None = figure()
    unicast: Latency = unseen(default=None)
    broadcast: Latency = unseen(default=None)
    target: Latency = unseen(default=None)
    channel_utilisation: Floats = unseen(default=None)

    @derived("share of broadcasts in the traffic on links", SHARE, table=False)
    def broadcast_share(self) -> float | None:
        """None where there is no traffic."""
        return self.utilisation_broadcast / self.utilisation_mean if self.utilisation_mean else None

    @derived(lead=True)
    def state(self) -> str:
        """What is to be known of it in a word."""
        told = {"is_known": self.is_known, "sure": self.precise and self.warmed_up}
        return state_of(interrupted=self.interrupted, stable=self.stable, **told)

    @derived("messages that arrived", table=False)
    def messages(self) -> int:
        """Of both kinds."""
        return self.unicast_messages + self.broadcast_messages

    @property
    def is_known(self) -> bool:
        """Whether the run was long enough to tell whether the network carries its rate."""
        if self.interrupted or not self.messages:
            return False
        return not self.stable or self.backlog.growth is not None


def run_broadcasts(
    network: ProgramNetwork,
    program: BroadcastTraffic,
    limits: steady.Limits,
    stopped: Callable[[], bool],
) -> BroadcastRun:
    """Warm a network up, measure it until a limit is met, and return what was found.

    The precision is that of unicast messages, or of broadcasts if all are. ``stopped`` is asked
    between steps: whether to end at once, with what is known.
    """
    run = _BroadcastRun(network.make_engine(), program)
    run.limits = limits
    run.advance(0)  # it may be stopped before anything is sent
    rate, topology = program.rate, network.topology
    messages_a_cycle = rate * float(program.traffic.rate.sum())
    idle = network.zero_load_latency(average_distance(topology), program.lengths.mean)
    wanted = max(LEAST_WARM_LATENCIES * idle, LEAST_WARM_MESSAGES / messages_a_cycle)
    watched = partial(steady.watched, run, step=STEP_CYCLES, stopped=stopped)
    warmed_up = bool(watched(run.look_for_the_start, first=ceil(wanted), most=limits.most_cycles))
    begin = run.begin = run.cycle
    channels, most = run.engine.channel_flits(), limits.most_measured
    wanted = max(begin, LEAST_CYCLES, 2 * steady.PRECISE_PACKETS / messages_a_cycle)
    first = most if limits.cycles else ceil(wanted)
    looked = partial(watched, lambda: run.is_enough() or None, first=first, most=most)
    ended = looked(longer=lambda cycles: ceil(GROWTH * cycles)) is not None
    if not ended:
        run.is_enough()  # at what there is
    cycles, rows = max(run.cycle - begin, 1), run.rows
    used = (run.engine.channel_flits() - channels) / cycles
    senders = int(np.count_nonzero(program.traffic.rate))
    moved, broadcast = run.inside(rows["complete"]), run.sent.broadcast
    crossed = np.bincount(broadcast[moved], (rows["flits"] * rows["hops"])[moved], 2)
    shares = crossed / max(topology.num_channels, 1) / cycles
    unicast = rows[moved & ~broadcast]
    path, length = (
        float(unicast[name].mean()) if len(unicast) else np.nan for name in ("hops", "flits")
    )
    idle = program.startup_cycles + network.zero_load_latency(path, length)
    found, classes = run.verdict, run.latency
    state = {"interrupted": not ended, "warmed_up": warmed_up, "precise": run.is_precise}
    unicasts, broadcasts = classes["unicast"].messages, classes["broadcast"].messages
    more: dict[str, Any] = {**state, **classes}
    for name, each in classes.items():
        more[f"{name}_latency"] = SeenLatency.of(each, stable=found.stable)
    return BroadcastRun(
        rate=rate,
        created=int(np.count_nonzero(run.inside(run.birth))) / cycles / senders,
        accepted=int(np.count_nonzero(run.inside(run.end))) / cycles / senders,
        zero_load_latency=known(idle) if found.stable else None,
        unicast_messages=unicasts,
        broadcast_messages=broadcasts,
        hops=known(path),
        utilisation_mean=float(shares.sum()),
        utilisation_max=float(used.max(initial=0)),
        utilisation_unicast=float(shares[0]),
        utilisation_broadcast=float(shares[1]),
        cycles=run.cycle - begin,
        warmup_cycles=begin,
        flit_hops=round(float(used.sum()) * cycles),
        stable=found.stable,
        backlog=Backlog.of(found, topology),
        reason=found.reason,
        note=note_of(found, unicasts + broadcasts, "message", **state),
        channel_utilisation=used,
        **more,
    )


class _BroadcastRun(ProgramRun):
    """Messages on their way, and what the last look at the window since ``begin`` found."""

    source: BroadcastTraffic
    limits: steady.Limits
    begin = 0
    sent: Sent
    rows: Records
    birth: Ints
    end: Ints
    """The cycles in which each message was generated, and was everywhere; -1: not yet."""
    latency: dict[str, Latency]
    verdict: steady.Stability

    def inside(self, when: Ints) -> Bools:
        """Return which of these cycles are in the window."""
        return (when >= self.begin) & (when < self.cycle)

    def _look(self) -> Bools:
        """Look at all messages so far. Return which of them are broadcast."""
        sent, self.rows = self.source.sent(), self.engine.rows
        self.sent, self.end = sent, sent.ends(self.rows["complete"])
        self.birth = sent.birth[sent.first]
        return sent.broadcast[sent.first]

    def look_for_the_start(self) -> bool | None:
        """Return whether the start-up is over. None: it may yet be, as few flits wait."""
        broadcast = self._look()
        counted = (self.end >= 0) & (broadcast == (self.source.fraction == 1))
        arrivals = np.argsort(self.end[counted], kind="stable")
        if steady.warmup_packets((self.end - self.birth)[counted][arrivals]) is not None:
            return True
        flits = self.rows["flits"]
        waiting = flits[self.rows["complete"] < 0].sum()
        return False if waiting > HOPELESS * flits.sum() and self._is_telling(0) else None

    def is_enough(self) -> bool:
        broadcast = self._look()
        reached = self.sent.asked & self.sent.broadcast
        self.latency = {
            "unicast": self._latency(self.end[~broadcast], self.birth[~broadcast]),
            "broadcast": self._latency(self.end[broadcast], self.birth[broadcast]),
            "target": self._latency(self.rows["complete"][reached], self.sent.birth[reached]),
        }
        self.verdict = self._stability()
        return self.is_precise if self.verdict.stable else self._is_telling(self.begin)

    @property
    def is_precise(self) -> bool:
        found = self.latency["broadcast" if self.source.fraction == 1 else "unicast"]
        if self.limits.cycles is not None:
            return found.messages >= LEAST_MESSAGES
        return found.precision <= self.limits.precision

    def _is_telling(self, begin: int) -> bool:
        """Whether so much was sent since a cycle that a backlog is no chance."""
        senders = len(np.unique(self.rows["source"]))
        enough = max(TELLING_MESSAGES, TELLING_NODE_MESSAGES * senders)
        messages, rows = (np.count_nonzero(each >= begin) for each in (self.birth, self.sent.birth))
        return bool(messages >= enough or rows >= TELLING_ROWS)

    def _latency(self, arrival: Ints, birth: Ints) -> Latency:
        """Summarize what arrived in the window."""
        inside = self.inside(arrival)
        latency = (arrival - birth)[inside]
        if not len(latency):
            return Latency(0, *(np.nan,) * (len(Latency._fields) - 1))
        batch = (arrival[inside] - self.begin) * steady.MOST_BATCHES // (self.cycle - self.begin)
        counts = np.bincount(batch, minlength=steady.MOST_BATCHES)
        sums = np.bincount(batch, latency, steady.MOST_BATCHES)
        mean, ci95 = steady.run_interval(sums, counts)
        batches = steady.merge_correlated(sums, counts)
        ranks = np.percentile(latency, [50, 99, 100], method="inverted_cdf")
        middle, high, longest = map(float, ranks)
        precise = (
            np.count_nonzero(batches[1]) >= steady.PRECISE_BATCHES
            and len(latency) >= steady.PRECISE_PACKETS
            and steady.autocorrelation(*batches) <= steady.CORRELATED
        )
        precision = ci95 / mean if precise else np.nan
        return Latency(len(latency), mean, ci95, middle, high, longest, precision)

    def _stability(self) -> steady.Stability:
        """Say whether the network kept up: what waits, copies to come included, by sending node."""
        rows, begin, end = self.rows, self.begin, self.cycle
        messages = np.count_nonzero(self.inside(self.birth))
        if messages < LEAST_MESSAGES:
            few = f"{messages} messages are too few to tell whether the network keeps up"
            return steady.Stability(stable=True, reason=few)
        times = begin + (end - begin) * np.arange(SAMPLES + 1) // SAMPLES
        birth, source, flits = self.sent.birth, rows["source"], rows["flits"]
        done = np.where(rows["complete"] >= 0, rows["complete"], np.iinfo(np.int64).max)
        change = np.zeros(SAMPLES + 2)
        for when, sign in ((birth, 1.0), (done, -1.0)):
            change += sign * np.bincount(np.searchsorted(times, when), flits, SAMPLES + 2)
        nodes = int(max(source.max(), rows["target"].max())) + 1
        waiting = [
            np.bincount(source[(birth <= when) & (done > when)], minlength=nodes)
            for when in times[[0, (SAMPLES + 1) // 2, -1]]
        ]
        rate = np.bincount(source, flits, nodes) / end
        return steady.stability(times, np.cumsum(change)[:-1], waiting, rate, float(flits.mean()))
