"""One open-loop run: warm up, measure until it is precise enough, and say what it is worth.

Its packets are those of one traffic, or of several programs, as one table.

The start-up is found by MSER-5 on packet latencies. The network runs, twice as long each time,
until the rule places the start-up in the first half. Earlier packets are excluded. Then the network
is measured in equal steps until the mean packet latency is as precise as requested, the network
saturates, or a limit is reached. The precision is the 95 % confidence interval by batch means. All
decisions depend on cycles and packets, never on elapsed time. So the same question has the same
answer.

A network and its packets are ready to run under any load. Several runs of it are a list of loads,
the load at which it saturates, or pairs of runs. They are independent and go to as many threads as
there are processors (the kernel lets other threads run). Answers do not depend on how many there
are. What failures cost is said without a run.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import ceil
from threading import Event

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.figures import known
from netloom.routing import VirtualChannelRouting, draw_aux
from netloom.routing.virtual_channels import VirtualRouting
from netloom.simulation.network.bound import Bound, FailureCost, Intact, throughput_bound
from netloom.simulation.network.engine import Engine, Reservation, reserve, routing_for
from netloom.simulation.network.figures import (
    Alone,
    Backlog,
    Fared,
    Histogram,
    OneProgram,
    Point,
    Search,
    Slowdown,
    note_of,
)
from netloom.simulation.network.idle import Idle, idle_network, one_kind, rough_idle, tightest_loop
from netloom.simulation.network.layout import BORN
from netloom.simulation.network.routers import SWITCHINGS, Router, Switching
from netloom.simulation.side_by_side import ctrl_c_sets, processors, result, run_all
from netloom.simulation.steady import (
    LEAST_SAMPLES,
    SLOW,
    Delivered,
    Groups,
    Limits,
    Stability,
    Tally,
    paired_ratio,
    past_limit,
    run_to,
    stability,
    warmup_packets,
    watched,
    worst_node,
)
from netloom.topology import Topology
from netloom.topology.measures import busy_shares
from netloom.workload import Arrivals, Lengths, Packets, PacketStream, Traffic
from netloom.workload.programs.shared import SharedProgram
from netloom.workload.traffic.stream import Due

FIRST = 2**16
"""Packets that there is room for at first."""


@dataclass(frozen=True, eq=False)
class Sender:
    """What makes packets, with chance of its own. See ``workload.PacketStream``.

    The same seed makes the same packets, and the same coins of their routing. ``node_of`` is
    int32[num_tasks], the node of each task, if the traffic is of tasks: so a program has the same
    packets under every mapping. None if it is of nodes.
    """

    traffic: Traffic
    load: float
    seed: int
    node_of: Ints | None = None


class SentPackets:
    """The packets of all senders, born cycle by cycle. Those of one cycle sender by sender.

    Routing, or reservation, says what packets carry for it. Lengths and arrivals are those of
    ``workload.PacketStream``.
    """

    def __init__(
        self,
        senders: Sequence[Sender],
        routing: VirtualChannelRouting,
        reservation: Reservation | None,
        lengths: Lengths,
        arrivals: Arrivals,
    ) -> None:
        self._senders, self._routing, self._reservation = senders, routing, reservation
        stream = partial(PacketStream, lengths=lengths, arrivals=arrivals)
        self._streams = [stream(each.traffic, each.load, seed=each.seed) for each in senders]
        coins = (np.random.SeedSequence(each.seed, spawn_key=(7,)) for each in senders)
        self._coins = list(map(np.random.default_rng, coins))
        # An aux that is drawn comes from the stream of the coins: after those of a call, not of a
        # block, which are cut elsewhere.
        self._call_by_call = routing.needs_aux and routing.routes is None and reservation is None
        columns = (partial(self._columns, number) for number in range(len(senders)))
        blocks = (each.blocks(of) for each, of in zip(self._streams, columns, strict=True))
        self._due = list(map(Due, blocks))
        self.by_chance = not all(
            arrivals.kind == "bernoulli" and stream.rates.max() >= 1 for stream in self._streams
        )
        """Whether chance decides when packets are born: none does if there is one every cycle."""
        self._owner = np.zeros(FIRST, np.int32)  # the sender of each packet, by its number
        self._created = 0

    @property
    def a_cycle(self) -> float:
        """Packets that are created in a cycle, on average."""
        return float(sum(stream.rates.sum() for stream in self._streams))

    def until(self, cycle: int) -> Ints:
        """Return int32[n, 6], the packets born before a cycle that were not returned before.

        The columns are those of ``layout.BORN``.
        """
        tables = []
        for due, coins in zip(self._due, self._coins, strict=True):
            parts = due.until(cycle)
            rows = np.empty((sum(len(part[0]) for part in parts), len(BORN)), np.int32)
            after = 0
            for part in parts:
                first, after = after, after + len(part[0])
                for place, column in enumerate(part):
                    rows[first:after, place] = column
            if self._call_by_call:
                _, source, target, *_ = rows.T
                rows[:, 4], rows[:, 5] = draw_aux(self._routing, coins, source, target)
            tables.append(rows)
        if len(tables) == 1:
            return tables[0]
        owner = np.repeat(np.arange(len(tables)), [len(table) for table in tables])
        table = np.concatenate(tables)
        order = np.argsort(table[:, BORN.index("birth")], kind="stable")
        after = self._created + len(owner)
        if after > len(self._owner):  # the room for them doubles when needed
            self._owner = np.concatenate([self._owner, np.zeros(after, np.int32)])
        self._owner[self._created : after] = owner[order]
        self._created = after
        return table[order]

    def groups(self) -> Groups:
        """Return how packets are told apart by their senders."""

        def of(packets: Delivered) -> Ints:
            if len(self._senders) == 1:
                return np.zeros(len(packets.number), np.int32)
            return self._owner[packets.number]

        rates = (each.traffic.rate for each in self._senders)
        return Groups(tuple(int(np.count_nonzero(rate)) for rate in rates), of)

    def _columns(self, number: int, packets: Packets) -> tuple[Ints, ...]:
        """Return the columns of ``layout.BORN``. Nothing yet in those drawn call by call."""
        node_of = self._senders[number].node_of
        if node_of is not None:
            ends = (node_of[packets.source], node_of[packets.target])
            packets = packets._replace(source=ends[0], target=ends[1])
        if self._call_by_call:
            drawn = (packets.birth, packets.birth)
        elif self._reservation is None:
            coins = self._coins[number]
            drawn = draw_aux(self._routing, coins, packets.source, packets.target)
        else:
            aux = self._reservation.aux_of(packets.source, packets.target)
            drawn = (np.zeros_like(aux), aux)
        return tuple(np.ascontiguousarray(each, np.int32) for each in (*packets, *drawn))


MOST_SAMPLES = 128
"""Samples of backlog and buffers kept. When they are full, every other one goes."""

STEP_HOPS = 500_000
"""Flit-hops of a step, about: the run can be interrupted between steps."""

LEAST_WARM_PACKETS = 500
LEAST_LATENCIES = 4
"""Mean packet latencies that a start-up lasts at least."""

LEAST_PACKETS = 200
"""Packets of a window by which it can be told whether a network keeps up."""
LOOK = 32
"""Samples between two looks at a window: whether it is precise enough, or the network is behind."""

CLEARLY = 1.5
"""How many times as precise as asked a run must be to end at once. One that is hardly so goes on
until the next look: intervals are narrow by chance most often when the mean is too low."""

LEAST_STEP, MOST_STEP = 50, 1024
"""Cycles of a step."""


class Run:
    """A network, the packets that come to it, and what has been counted so far.

    Parameters
    ----------
    topology, routing, router
        The network. ``routing`` was made for the router's VCs and channels.
    traffic, load, lengths, arrivals, seed
        The packets; see ``workload.PacketStream``. The coins of their routing are drawn apart.
    reservation, bound
        The connections, with reserved VCs; what is proven to limit the traffic, if it is known.
    idle
        What packets find in the idle network, where it is known already.
    senders
        Sources of the packets, ``traffic`` at ``load`` by default. Each has a random stream of its
        own, so its packets do not depend on the other sources. If sources are given, ``load`` is
        that of all together.
    apart
        Whether the packets of each sender are also measured apart.
    specialize
        See ``Engine``.

    Attributes
    ----------
    stops
        The cycles up to which it was run, call by call.
    """

    def __init__(
        self,
        topology: Topology,
        routing: VirtualChannelRouting,
        router: Router,
        traffic: Traffic,
        load: float,
        *,
        lengths: Lengths,
        arrivals: Arrivals,
        seed: int,
        reservation: Reservation | None = None,
        bound: Bound | None = None,
        idle: Idle | None = None,
        senders: Sequence[Sender] = (),
        apart: bool = False,
        specialize: bool | None = None,
    ) -> None:
        self.routing, self.router, self.traffic, self.load = routing, router, traffic, load
        self.lengths, self.reservation, self.bound, self.seed = lengths, reservation, bound, seed
        self._idle = idle
        connections = None if reservation is None else reservation.connections
        engine = partial(Engine, connections=connections, specialize=specialize)
        self.engine = engine(topology, routing, router, shortest_packet=lengths.shortest)
        senders = senders or [Sender(traffic, load, seed)]
        self.packets = SentPackets(senders, routing, reservation, lengths, arrivals)
        self.groups = self.packets.groups() if apart else None
        self.stops: list[int] = []
        self.born_packets, self.born_flits = self.engine.born_packets, self.engine.born_flits
        self.delivered_packets = self.engine.delivered_packets

    def advance(self, cycles: int) -> Delivered:
        """Run some cycles more. Return the packets that they delivered."""
        until = self.engine.cycle + cycles
        self.stops.append(until)
        return self.engine.advance(self.packets.until(until), until)

    @property
    def senders(self) -> int:
        """Nodes that send."""
        return int(np.count_nonzero(self.load * self.traffic.rate))

    @cached_property
    def idle(self) -> Idle:
        """What packets find in the idle network: about, where it is not known."""
        topology, router, flits = self.routing.topology, self.router, self.lengths.mean
        known = self._idle or idle_network(
            topology, self.routing, self.traffic, router, flits=flits
        )
        return known or rough_idle(topology, router)

    def zero_load_latency(self, hops: float) -> float:
        """Return the latency of all packets of the traffic in the idle network.

        If it is not known, and channels are alike, that of packets of the mean length over so many
        ``hops``. NaN if they differ, or hops are not known.
        """
        if self._idle:
            return self._idle.latency
        alike = one_kind(self.routing.topology) and not np.isnan(hops)
        return self.router.zero_load_cycles(hops, self.lengths.mean) if alike else np.nan

    @property
    def backlog_flits(self) -> int:
        """Flits of all packets created that have not left, those of sources included."""
        probes = self.engine.count("delivered") if self.router.switching == "circuit" else 0
        return int(self.born_flits.sum()) - self.engine.count("ejected") + probes


def run_network(
    run: Run,
    limits: Limits,
    *,
    beside: Point | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> Point:
    """Warm a network up, measure it until a limit is met, and return what was found.

    Parameters
    ----------
    run
        A run that has not begun.
    limits
        When it ends.
    beside
        Another run that it is to be compared with: it warms up and is measured in the same cycles,
        whatever the limits. See ``steady.paired_ratio``.
    stopped
        Asked between steps: whether to end at once, with what is known.

    Raises
    ------
    DeadlockError
        If packets block each other for good.
    """
    start = time.thread_time()
    if beside is not None:
        limits = replace(limits, cycles=beside.cycles)
    warming, most = _WarmUp(run), limits.most_measured
    if beside is None:
        flits_a_cycle = run.load * float(run.traffic.rate.sum())
        work = flits_a_cycle * max(run.idle.hops, 1) + len(run.born_flits) / 64
        step = int(np.clip(STEP_HOPS / work, LEAST_STEP, MOST_STEP))
        step = max(1, min(step, most // (2 * LEAST_SAMPLES)))
        idle = round(run.idle.latency, 6)  # whichever way its mean was added up
        least = ceil(max(10 * idle, LEAST_WARM_PACKETS / run.packets.a_cycle))
        looked = partial(watched, warming, warming.look, step=step, stopped=stopped)
        warmed_up = bool(looked(first=least, most=limits.most_cycles))
    else:
        came = (run_to(warming, until, step=until, stopped=stopped) for until in beside.stops)
        step, warmed_up = beside.step, all(came) and warming.has_settled(latencies=0)
    engine, stops = run.engine, tuple(run.stops)
    window = _Window(run, limits, step)
    channels, hops = engine.channel_flits(), engine.count("link_hops")
    born, born_packets = run.born_flits.copy(), int(run.born_packets.sum())
    looked = partial(watched, window, window.look, most=most, step=step, stopped=stopped)
    ended = looked(first=(LOOK - 1) * step, longer=lambda cycles: cycles + LOOK * step) is not None
    engine.flits()  # they balance
    tally = window.tally
    cycles = max(tally.cycles, 1)
    rate = run.load * run.traffic.rate
    worst = worst_node(tally.delivered_flits, rate, cycles)
    found, topology = tally.measured(run.senders), engine.topology
    verdict = window.stability(int(run.born_packets.sum()) - born_packets)
    proven, chance = run.bound, run.packets.by_chance
    past = past_limit(run.load, proven.load, proven.what, by_chance=chance) if proven else None
    verdict = (window.behind or past or verdict) if verdict.stable else verdict
    crossed = (engine.channel_flits() - channels) / cycles
    used = busy_shares(topology, crossed)

    def if_stable(value: float) -> float | None:
        return known(value) if verdict.stable else None

    precise = found.packets >= LEAST_PACKETS and (
        limits.cycles is not None or found.precision <= limits.precision
    )
    seen = {"interrupted": not ended, "warmed_up": warmed_up, "precise": precise}
    return Point(
        switching=run.router.switching,
        offered=run.load,
        created=float((run.born_flits - born).sum() / cycles / run.senders),
        accepted=found.accepted,
        accepted_ci95=known(found.accepted_ci95),
        accepted_worst_node=worst.accepted,
        packet_latency_mean=if_stable(found.packet_latency),
        packet_latency_ci95=if_stable(found.packet_latency_ci95),
        packet_latency_p50=if_stable(found.packet_latency_p50),
        packet_latency_p99=if_stable(found.packet_latency_p99),
        packet_latency_max=if_stable(found.packet_latency_max),
        network_latency_mean=if_stable(found.network_latency),
        network_latency_ci95=if_stable(found.network_latency_ci95),
        source_queue_latency_mean=if_stable(found.queue_latency),
        zero_load_latency=if_stable(run.zero_load_latency(found.hops)),
        hops_mean=known(found.hops),
        utilisation_mean=float(used.mean()) if len(used) else None,
        utilisation_max=float(used.max()) if len(used) else None,
        stable=verdict.stable,
        interrupted=not ended,
        cycles=found.cycles,
        warmup_cycles=tally.begin,
        packets=found.packets,
        precision=if_stable(found.precision),
        flit_hops=engine.count("link_hops") - hops,
        cpu_seconds=time.thread_time() - start,
        seed=run.seed,
        busiest_channel=topology.channel_name(int(used.argmax())) if len(used) else None,
        worst_node=topology.name_of(worst.node),
        warmed_up=warmed_up,
        precise=precise,
        backlog=Backlog.of(verdict, topology),
        reason=verdict.reason,
        note=note_of(verdict, found.packets, "packet", **seen),
        vc_occupancy=tuple((window.occupancy / max(window.steps * len(channels), 1)).tolist()),
        histogram=Histogram.of(tally.latency_counts) if verdict.stable and found.packets else None,
        measured=found,
        worst=worst,
        channel_utilisation=crossed,
        accepted_by_node=tally.delivered_flits / cycles,
        latency_counts=tally.latency_counts,
        groups=tally.measured_by_group(),
        latency_batches=tally.latency_batches(),
        step=step,
        stops=stops,
    )


class _WarmUp:
    """A run whose start-up is looked for."""

    def __init__(self, run: Run) -> None:
        self.run, self._latencies = run, [np.zeros(0, np.int32)]

    @property
    def cycle(self) -> int:
        return self.run.engine.cycle

    def advance(self, until: int) -> None:
        delivered = self.run.advance(until - self.cycle)
        self._latencies.append(delivered.arrival - delivered.birth)

    def has_settled(self, *, latencies: float = LEAST_LATENCIES) -> bool:
        """Return what MSER-5 finds, once the run is so many mean latencies long."""
        seen = np.concatenate(self._latencies)
        # Before far packets can have arrived, the near ones alone may well look settled.
        long_enough = len(seen) > 0 and self.cycle >= latencies * seen.mean()
        return bool(long_enough and warmup_packets(seen) is not None)

    def look(self) -> bool | None:
        """Return whether the start-up is over. None: it may yet be, as the backlog is small."""
        if self.has_settled():
            return True
        behind = self.run.backlog_flits > 0.3 * self.run.born_flits.sum()
        return False if behind and self.cycle > 2_000 else None


class _Window:
    """A run whose window is measured.

    ``samples`` are cycles, backlogs and packets by source, at regular distances. ``behind`` is what
    a look before the end was sure of.
    """

    def __init__(self, run: Run, limits: Limits, step: int) -> None:
        self.run, self.limits, self.step = run, limits, step
        self.tally = Tally(
            len(run.born_flits), begin=self.cycle, batch_cycles=max(step // 8, 1), groups=run.groups
        )
        self.samples, self.every, self.seen = list[tuple[int, int, Ints]](), 1, 0
        self.occupancy, self.steps = np.zeros(run.router.vcs), 0
        self.behind: Stability | None = None
        self._precision = np.inf  # at the last look
        self._sample()

    @property
    def cycle(self) -> int:
        return self.run.engine.cycle

    def advance(self, until: int) -> None:
        cycles = until - self.cycle
        self.tally.add(self.run.advance(cycles), until)
        if cycles == self.step:  # samples lie at equal distances
            self._sample()
        engine = self.run.engine
        self.occupancy += engine.vc_flits()
        self.steps += 1

    def _sample(self) -> None:
        run = self.run
        if self.seen % self.every == 0:
            inside = (run.born_packets - run.delivered_packets).astype(np.int32)
            self.samples.append((self.cycle, run.backlog_flits, inside))
        self.seen += 1
        if len(self.samples) == MOST_SAMPLES:
            del self.samples[1::2]
            self.every *= 2

    def look(self) -> bool | None:
        """Whether the network is behind for sure, or its latency known, or beyond all interest."""
        if self.seen % LOOK or self.tally.cycles % self.step:
            return None  # the window ends here, between two looks
        if self.behind is None:
            found = self.stability(self.tally.packets, interim=True)
            where = f"{found.reason}, in the first {self.tally.cycles} cycles"
            self.behind = None if found.stable else found._replace(reason=where)
        if self.limits.cycles is not None or self.behind:
            return self.limits.cycles is None or None
        measured, goal = self.tally.measured(self.run.senders), self.limits.precision
        twice = self._precision <= goal and measured.precision <= goal
        clearly = measured.precision <= goal / CLEARLY
        self._precision = measured.precision
        return measured.packet_latency > self.limits.latency or twice or clearly or None

    def stability(self, packets: int, *, interim: bool = False) -> Stability:
        """Return whether the network keeps up, and why, so many packets came in the window."""
        run = self.run
        if len(self.samples) < LEAST_SAMPLES or packets < LEAST_PACKETS:
            few = f"{packets} packets are too few to tell whether the network keeps up"
            return Stability(stable=True, reason=few)
        cycles, backlogs, waiting = zip(*self.samples, strict=True)
        inside = np.stack([waiting[at] for at in (0, len(waiting) // 2, -1)])
        rate, mean = run.load * run.traffic.rate, run.lengths.mean
        return stability(cycles, backlogs, inside, rate, mean, interim=interim)


MOST_RAISED = 254
"""Flits up to which buffers are raised to make techniques comparable."""


@dataclass(frozen=True, eq=False)
class Setting:
    """One switching technique on the network: all that a run needs but its load.

    The routing is made for the router's VCs. Connections are for reserved VCs. The bound limits
    the traffic with this routing and these injection and ejection channels. ``idle`` is what
    packets of the mean length find in an idle network. None where it is not known.
    """

    router: Router
    routing: VirtualChannelRouting
    reservation: Reservation | None
    bound: Bound
    idle: Idle | None = None


@dataclass(frozen=True, eq=False)
class ProgramTraffic:
    """The programs that make the traffic, and where they run, if each has nodes of its own.

    ``traffics`` and ``seeds`` are those of each alone, whatever the other programs. ``load_factor``
    is the load of the average sending node if every program offers a load of 1. Above 1 if
    programs share nodes.
    """

    shared: SharedProgram
    traffics: tuple[Traffic, ...]
    seeds: tuple[int, ...]
    load_factor: float


@dataclass(frozen=True, eq=False, kw_only=True)
class LoadedNetwork:
    """A network, and the packets that come to it.

    Attributes
    ----------
    traffic, lengths, arrivals, seed
        Who sends to whom, how long packets are, when they come. The seed of everything random.
    programs
        The programs whose traffic it is. None for that of a pattern, or of one program without
        nodes of its own.
    tasks
        Of one program, with a task per node: the traffic of its tasks, and the node of each. What
        they send and when is drawn for them, whatever the mapping.
    settings
        One for each switching technique that is possible.
    specialize
        Whether kernels are compiled for its routers alone. None: if runs are long enough.
    """

    topology: Topology
    traffic: Traffic
    lengths: Lengths
    arrivals: Arrivals
    seed: int
    programs: ProgramTraffic | None = None
    tasks: tuple[Traffic, Ints] | None = None
    settings: tuple[Setting, ...] = ()
    specialize: bool | None = None

    @property
    def name(self) -> str:
        """What a person calls it: ``uniform on mesh:8x8``."""
        return f"{self.traffic.name} on {self.topology.name}"

    def make_run(self, setting: Setting, load: float) -> Run:
        """Return a run that has not begun."""
        senders = []  # none if the traffic alone makes the packets
        if self.tasks is not None:
            traffic, node_of = self.tasks
            senders = [Sender(traffic, load, self.seed, node_of)]
        elif self.programs is not None:
            each = self.program_load(load)
            pairs = zip(self.programs.traffics, self.programs.seeds, strict=True)
            senders = [Sender(traffic, each, seed) for traffic, seed in pairs]
        run = partial(Run, self.topology, setting.routing, setting.router, self.traffic, load)
        run = partial(run, reservation=setting.reservation, bound=setting.bound, idle=setting.idle)
        run = partial(run, lengths=self.lengths, arrivals=self.arrivals, seed=self.seed)
        run = partial(run, specialize=self.specialize)
        return run(senders=senders, apart=self.programs is not None)

    def alone(self, program: int) -> LoadedNetwork:
        """Return the same network with one of its programs only, where it is, and its bounds."""
        assert self.programs is not None
        programs, one = self.programs, slice(program, program + 1)
        traffic = programs.traffics[program]
        alone = ProgramTraffic(
            programs.shared.alone(program), programs.traffics[one], programs.seeds[one], 1.0
        )
        network = replace(self, traffic=traffic, programs=alone)
        settings = tuple(
            _made(network, each.router, each.routing, each.reservation) for each in self.settings
        )
        return replace(network, settings=settings)

    def mean_load(self, load: float) -> float:
        """Return the load of the average sending node if every program offers ``load``.

        Raises
        ------
        InputError
            If that is more than 1.
        """
        if self.programs is None:
            return load
        mean, factor = load * self.programs.load_factor, self.programs.load_factor
        if mean > 1 >= load:
            found = f"{load:g} of every program, {mean:.4g} of the average node that they share"
            raise InputError("load", found, f"at most {1 / factor:.4g}")
        return mean

    def program_load(self, load: float) -> float:
        """Return what every program offers if the average sending node offers ``load``."""
        return load / self.programs.load_factor if self.programs else load

    def most_load(self, setting: Setting) -> float:
        """Return the load from which it is past saturation, or above which none can be."""
        busiest = float(self.traffic.rate.max()) / self.lengths.mean
        return min(setting.bound.load, self.arrivals.most / busiest, 1.0)

    def check_load(self, load: float) -> None:
        """Raise InputError if no node can send so much with these packets."""
        PacketStream(
            self.traffic, load, lengths=self.lengths, arrivals=self.arrivals, seed=self.seed
        )


def techniques_of(asked: str | None, base: Router) -> list[Switching]:
    """Return the switching techniques asked for, none twice. The router's own by default.

    Examples
    --------
    >>> techniques_of("circuit, wormhole", Router())
    ['wormhole', 'circuit']
    """
    if asked is None:
        return [base.switching]
    named = [word.strip() for word in asked.split(",")]
    for name in named:
        if name not in (*SWITCHINGS, "all"):
            wanted = f"{', '.join(SWITCHINGS)}, several with commas, or all"
            raise InputError("switching", f"'{name}'", wanted)
    return [each for each in SWITCHINGS if each in named or "all" in named]


def comparable(
    base: Router, techniques: list[Switching], lengths: Lengths
) -> tuple[Router, tuple[str, ...]]:
    """Return a router whose buffers hold a packet if a technique needs that. Say what changed."""
    whole = [each for each in ("virtual-cut-through", "store-and-forward") if each in techniques]
    longest = lengths.longest
    if len(techniques) == 1 or not whole or not base.buffer_flits < longest <= MOST_RAISED:
        return base, ()
    remark = (
        f"buffers of {longest} flits a VC instead of {base.buffer_flits}, for all: "
        f"{' and '.join(whole)} must hold a whole packet"
    )
    return replace(base, buffer_flits=longest), (remark,)


def possible_settings(
    network: LoadedNetwork,
    base: Router,
    routing: VirtualRouting,
    techniques: list[Switching],
    load: float | None,
) -> tuple[tuple[Setting, ...], dict[str, str]]:
    """Return the techniques that are possible, and why the others are not.

    Each is checked by running one cycle at ``load``, or at the highest that is possible. That cycle
    also loads the kernels, so that no run's processor time includes their compilation.

    Raises
    ------
    InputError
        If no technique is possible.
    DeadlockError
        If the routing can deadlock on so many VCs.
    """
    settings: list[Setting] = []
    refused: dict[str, str] = {}
    for technique in techniques:
        try:
            setting = _setting(network, replace(base, switching=technique), routing)
            network.make_run(setting, load or network.most_load(setting)).advance(1)
            settings.append(setting)
        except InputError as error:
            if len(techniques) == 1:
                raise
            refused[technique] = str(error)
    if not settings:
        found = "; ".join(f"{technique}: {why}" for technique, why in refused.items())
        raise InputError("switching", f"no technique that is possible here: {found}")
    return tuple(settings), refused


def _setting(network: LoadedNetwork, router: Router, asked: VirtualRouting) -> Setting:
    topology, lengths = network.topology, network.lengths
    if router.whole_packets and lengths.longest > router.buffer_flits:
        found = f"packets of up to {lengths.longest} flits for buffers of {router.buffer_flits}"
        wanted = f"buffers that hold a packet: buffer_flits for {router.switching}"
        raise InputError("packet_flits", found, wanted)
    reservation = None
    if router.switching == "reserved":
        if isinstance(asked, VirtualChannelRouting):
            wanted = "a routing of one path for each pair of nodes, as reserved VCs need"
            raise InputError("routing", f"the table {asked.name}", wanted)
        reservation = reserve(topology, asked, network.traffic, router)
        routing = reservation.routing
    else:
        routing = routing_for(topology, asked, router)
    return _made(network, router, routing, reservation)


def _made(
    network: LoadedNetwork,
    router: Router,
    routing: VirtualChannelRouting,
    reservation: Reservation | None,
) -> Setting:
    """Return a setting with what limits its traffic, and what packets find if there is little."""
    topology, traffic = network.topology, network.traffic
    bound = throughput_bound(topology, routing, traffic, router)
    idle = idle_network(topology, routing, traffic, router, flits=network.lengths.mean)
    return Setting(router, routing, reservation, bound, idle)


def advice_of(settings: tuple[Setting, ...], loads: tuple[float, ...]) -> str | None:
    """Return what to know before the runs: what cannot work well, why, and what to change."""
    lines = []
    bound = max((each.bound for each in settings), key=lambda bound: bound.load)
    if loads and loads[0] > bound.load:
        lines.append(
            f"load {loads[0]:g} is above {bound.load:.4g}, the most that can be carried with "
            f"{bound.whose} (limited by {bound.what}): packets will pile up, and no latency will "
            "be given"
        )
    first = settings[0]
    loop = tightest_loop(first.routing.topology, first.routing, first.router)
    if loop and loop.room < loop.needed:
        name = first.routing.topology.channel_name(loop.channel)
        more = ceil(first.router.buffer_flits * loop.needed / loop.room)
        lines.append(
            f"buffers of {loop.room} flits per channel, for credits that take {loop.cycles} cycles "
            f"to come back on channel {name}: it carries at most {loop.room / loop.needed:.0%} of "
            f"its bandwidth. {loop.needed} flits fill it, with buffer_flits {more}, fill_channels "
            "or more vcs"
        )
    return "; ".join(lines) or None


def failure_cost(
    topology: Topology,
    routing: VirtualChannelRouting,
    traffic: Traffic,
    router: Router,
    bound: Bound,
) -> FailureCost:
    """Return what the failures cost some traffic, whose routing goes round what is broken.

    ``bound`` is what limits it there.
    """
    hops, whole = _mean_hops(topology, routing, traffic, router), topology.whole
    try:
        default = routing_for(whole, "default", router)
    except InputError:  # it would deadlock on these VCs, which says nothing of what is asked
        return FailureCost(hops=hops, intact=None, bound=bound)
    intact = Intact(
        routing=default.name,
        bound=throughput_bound(whole, default, traffic, router),
        hops=_mean_hops(whole, default, traffic, router),
    )
    return FailureCost(hops=hops, intact=intact, bound=bound)


def _mean_hops(
    topology: Topology, routing: VirtualChannelRouting, traffic: Traffic, router: Router
) -> float | None:
    """Return the mean path length between routers. None where it is not known."""
    idle = idle_network(topology, routing, traffic, router)
    return idle.hops if idle else None


IDLE_CYCLES = 100_000
"""Cycles that the latency of an idle network may take to be measured."""

ZERO_LOAD = 0.005
"""Offered load at which latency is taken for that of an idle network."""


def run_loads(
    make_run: Callable[[float], Run],
    loads: Sequence[float],
    limits: Limits,
    *,
    tell: Callable[[int], None] = lambda _: None,
) -> list[Point]:
    """Run every load, in rising order, up to the first at which the network saturates.

    Ctrl-C ends the runs under way. What is known so far is returned, the last of it marked as
    interrupted.

    ``make_run`` makes a run that has not begun, at a load in flits/node/cycle. ``tell`` is called
    with the number of runs that have ended, whenever one has.
    """
    rising = sorted(loads)
    saturated = len(rising)

    def one(index: int, stopped: Callable[[], bool]) -> Point | None:
        nonlocal saturated
        if index > saturated:
            return None
        run = make_run(rising[index])
        found = run_network(run, limits, stopped=lambda: stopped() or index > saturated)
        if not found.stable:
            saturated = min(saturated, index)
        return found

    runs = run_all(
        [partial(one, index) for index in range(len(rising))],
        tell=tell,
        is_last=lambda found: found is None or not found.stable or found.interrupted,
    )
    return [run for run in runs if run is not None]


def bracket_saturation(
    make_run: Callable[[float], Run], limits: Limits, *, below: float = 1.0, width: float = 0.01
) -> Search:
    """Find the offered load at which a network saturates, by bracketing.

    Ctrl-C ends the search with the bracket that it has by then.

    Parameters
    ----------
    make_run, limits
        As for ``run_loads``.
    below
        The highest load to look at: a proven limit, or all that it can be offered.
    width
        Width of the bracket, as a fraction of the load, at which to stop.
    """
    runs = []
    stop, low_load = Event(), 2 * min(ZERO_LOAD, below / 10)

    def measure(load: float, beyond: float) -> Point:
        until = replace(limits, latency=beyond)
        if load < low_load:  # there are few packets: their latency must be known all the same
            until = replace(until, cycles=None, most_cycles=max(until.most_cycles, IDLE_CYCLES))
        return run_network(make_run(load), until, stopped=stop.is_set)

    with ctrl_c_sets(stop), ThreadPoolExecutor(processors()) as pool:

        def both(loads: Sequence[float], beyond: float) -> list[Point]:
            waiting = [pool.submit(measure, load, beyond) for load in loads]
            try:
                found = [result(future, stop) for future in waiting]
            except BaseException:
                stop.set()
                raise
            runs.extend(found)
            return found

        idle, last = both((min(ZERO_LOAD, below / 10), below), float("inf"))
        beyond = SLOW * idle.measured.packet_latency
        low, high = idle, last

        def too_much(run: Point) -> bool:
            return not run.stable or run.measured.packet_latency > beyond

        def apart() -> float:
            return high.offered - low.offered

        while too_much(high) and apart() > width * high.offered and not stop.is_set():
            third = apart() / 3
            for found in both((low.offered + third, high.offered - third), beyond):
                if found.interrupted:
                    break
                if too_much(found):
                    high = found
                    break
                low = found
    runs.sort(key=lambda run: run.offered)
    kept_up = [run.accepted for run in runs if run.stable]
    saturates = too_much(high)
    last_kept = low if saturates else high
    return Search(
        switching=idle.switching,
        saturation_offered=(low.offered + high.offered) / 2 if saturates else high.offered,
        saturation_offered_width=high.offered - low.offered if saturates else None,
        saturation_throughput=last_kept.accepted,
        accepted_worst_node=last_kept.accepted_worst_node,
        peak_accepted=max(kept_up, default=0.0),
        saturates=saturates,
        interrupted=stop.is_set(),
        zero_load_latency=known(idle.measured.packet_latency),
        latency_factor=SLOW,
        cpu_seconds=sum(run.cpu_seconds for run in runs),
        runs=tuple(runs),
    )


def run_beside(
    pairs: Sequence[tuple[Callable[[], Run], Point]],
    limits: Limits,
    *,
    tell: Callable[[int], None] = lambda _: None,
) -> list[Point]:
    """Run each network over the warm-up and the measured cycles of another run.

    ``pairs``: what makes a run that has not begun, and the other run. ``tell`` is called with the
    number of runs that have ended, whenever one has.
    """

    def one(make_run: Callable[[], Run], other: Point, stopped: Callable[[], bool]) -> Point:
        return run_network(make_run(), limits, beside=other, stopped=stopped)

    return run_all([partial(one, *pair) for pair in pairs], tell=tell)


def run_programs_alone(
    network: LoadedNetwork,
    together: Sequence[tuple[Setting, Point]],
    limits: Limits,
    *,
    tell: Callable[[int], None] = lambda _: None,
) -> list[tuple[Point | None, ...]]:
    """Return, for each run of all programs, one of each alone. None for what Ctrl-C ended."""
    assert network.programs is not None
    count = len(network.programs.traffics)
    alone = [network.alone(number) for number in range(count)]
    pairs = []
    for setting, run in together:
        place, load = network.settings.index(setting), network.program_load(run.offered)
        pairs += [(partial(one.make_run, one.settings[place], load), run) for one in alone]
    runs = run_beside(pairs, limits, tell=tell)
    ended = [None if run.interrupted else run for run in runs]
    ended += [None] * (len(pairs) - len(ended))
    return [tuple(ended[first : first + count]) for first in range(0, len(ended), count)]


def with_programs(
    network: LoadedNetwork, run: Point, alone: tuple[Point | None, ...] = ()
) -> Point:
    """Return a run with how each program fared, where programs have nodes of their own."""
    if network.programs is None:
        return run
    shared, programs = network.programs.shared, list[OneProgram]()
    for place, name in enumerate(shared.names):
        mine, measured = shared.program_of == place, run.groups[place]
        apart, slowdown = alone[place] if alone else None, None
        if apart is not None:
            ratio, half = np.nan, np.nan
            if run.stable and apart.stable:
                ratio, half = paired_ratio(run.latency_batches[place], apart.latency_batches[0])
            both = apart.measured.accepted, measured.accepted
            slowdown = Slowdown(
                packet_latency=known(ratio),
                packet_latency_ci95=known(half),
                accepted=known(both[0] / both[1]) if both[1] > 0 else None,
            )
        one = OneProgram(
            name=name,
            nodes=len(np.unique(shared.node_of[mine])),
            tasks=int(np.count_nonzero(mine)),
            offered=network.program_load(run.offered),
            fared=Fared.of(measured, stable=run.stable),
            alone=None if apart is None else Alone.of(apart),
            slowdown=slowdown,
        )
        programs.append(one)
    return replace(run, programs=tuple(programs), alone=alone)
