"""One open-loop run: warm up, measure until it is precise enough, and say what it is worth.

The start-up is found by MSER-5 on packet latencies: the network runs, for twice as long each time,
until the rule finds that the start-up lies in the first half; what came until then is left out.
Then it is measured in equal steps, until the 95 % confidence interval of the mean packet latency
(batch means) is as narrow as asked, the network is seen to fall behind, or a limit is met. All
decisions depend on cycles and packets only, never on time: the same question has the same answer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from netloom.simulation.network.engine import Engine
from netloom.simulation.network.layout import BORN
from netloom.simulation.network.sent import Sender, SentPackets
from netloom.simulation.stability import LEAST_SAMPLES, Stability, past_limit, stability
from netloom.simulation.tally import Tally, worst_node
from netloom.simulation.warmup import warmup_packets

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from netloom.routing import VirtualChannelRouting
    from netloom.simulation.network.bound import Bound
    from netloom.simulation.network.reservations import Reservation
    from netloom.simulation.network.routers import Router
    from netloom.simulation.paired import Batches
    from netloom.simulation.tally import Delivered, GroupMeasured, Measured
    from netloom.topology import Topology
    from netloom.workload import Arrivals, Lengths, Traffic

MOST_SAMPLES = 128
"""Samples of backlog and buffers kept; when they are full, every other one goes."""

STEP_HOPS = 500_000
"""Flit-hops of a step, about: the run can be interrupted between steps."""

LEAST_WARM_PACKETS = 500
LEAST_LATENCIES = 4
"""Mean packet latencies that a start-up lasts at least."""

LEAST_PACKETS = 200
"""Packets of a window by which it can be told whether a network keeps up."""
CLEARLY = 1.5
"""How many times as precise as asked a run must be to end at once. One that is hardly so goes on
until the next look: intervals are narrow by chance most often when the mean is too low."""

LEAST_STEP, MOST_STEP = 50, 1024
"""Cycles of a step."""


@dataclass(frozen=True)
class Limits:
    """When a run ends.

    Attributes
    ----------
    cycles
        Measured cycles; None: as many as precision needs.
    precision
        Half-width of the 95 % confidence interval of the mean packet latency, as a fraction of it,
        that is narrow enough.
    most_cycles
        Measured cycles after which a run ends whatever its precision, and cycles after which the
        search for the end of the start-up is given up.
    latency
        Mean packet latency, in cycles, beyond which nobody cares; infinite by default.
    """

    cycles: int | None = None
    precision: float = 0.02
    most_cycles: int = 200_000
    latency: float = float("inf")


@dataclass(frozen=True, eq=False)
class NetworkRun:
    """What one run at one load was asked and found. Traffic is in flits/node/cycle.

    Attributes
    ----------
    load
        Offered traffic of the average sending node, as asked.
    created
        What was in fact created in the measured window.
    measured
        Latencies, hops, accepted traffic and how precise they are. Latencies of a network that
        falls behind say how long was waited, and nothing else.
    stable, reason
        Whether the network keeps up, and why it is thought so. A load above a proven limit is past
        saturation, however little the run shows of it.
    interrupted
        Whether the run was stopped from outside.
    warmed_up
        Whether the end of the start-up was seen before the limit.
    precise
        Whether the precision asked for was reached, or a number of cycles was asked for and enough
        packets came in it to tell anything.
    warmup_cycles
        Cycles left out at the start.
    accepted_worst_node, worst_node
        Accepted traffic of the sending node that got least of what it offered, and which it is.
    flit_hops
        Flits that crossed channels between routers, in the measured window.
    cpu_seconds
        Processor time of the whole run.
    channel_utilisation
        float[num_channels], flits a cycle on each channel.
    accepted_by_node
        float[num_nodes], delivered traffic of each source.
    vc_occupancy
        float[vcs], mean flits in the network buffers of each VC.
    latency_counts
        int64[longest + 1]: how many packets had each latency.
    groups
        What was measured of each group of packets, where they were told apart.
    latency_batches
        Packet latencies by batches, of each group, or of all packets: what ``paired_ratio`` takes.
    step, stops
        Cycles of a step of the measured window, and the cycles at which the run paused before it:
        what another run needs to go through the same.
    """

    load: float
    created: float
    measured: Measured
    stable: bool
    reason: str
    interrupted: bool
    warmed_up: bool
    precise: bool
    warmup_cycles: int
    accepted_worst_node: float
    worst_node: int
    flit_hops: int
    cpu_seconds: float
    channel_utilisation: NDArray[np.float64]
    accepted_by_node: NDArray[np.float64]
    vc_occupancy: NDArray[np.float64]
    latency_counts: NDArray[np.int64]
    groups: tuple[GroupMeasured, ...]
    latency_batches: tuple[Batches, ...]
    step: int
    stops: tuple[int, ...]


@dataclass
class _Samples:
    """Backlog and packets by source, at regular distances in the measured window."""

    cycles: list[int] = field(default_factory=list)
    backlogs: list[int] = field(default_factory=list)
    inside: list[NDArray[np.int32]] = field(default_factory=list)
    every: int = 1
    seen: int = 0
    precision: float = np.inf  # at the last look

    @property
    def looked_at(self) -> bool:
        """Whether a run is looked at now: at 32, 64, 96 ... samples, however it is to end."""
        powers = self.seen & (self.seen - 1) == 0
        return self.seen > LEAST_SAMPLES and (powers or self.seen % 32 == 0)

    def add(self, cycle: int, backlog: int, inside: NDArray[np.int64]) -> None:
        if self.seen % self.every == 0:
            self.cycles.append(cycle)
            self.backlogs.append(backlog)
            self.inside.append(inside.astype(np.int32))
        self.seen += 1
        if len(self.cycles) == MOST_SAMPLES:
            for values in (self.cycles, self.backlogs, self.inside):
                del values[1::2]
            self.every *= 2


class Run:
    """A network, the packets that come to it, and what has been counted so far.

    Parameters
    ----------
    topology, routing, router
        The network; ``routing`` was made for the router's VCs and channels.
    traffic, load, lengths, arrivals
        The packets; see ``workload.PacketStream``.
    seed
        Of everything random. Packets and the coins of their routing have streams of their own.
    reservation
        The connections, with reserved VCs.
    bound
        What is proven to limit the traffic; None: nothing is known.
    senders
        What makes the packets, each with chance of its own, so that one has the same packets
        whatever others there are: ``traffic`` at ``load`` by default, which else is that of all.
    apart
        Whether the packets of each sender are also measured apart.

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
        senders: Sequence[Sender] = (),
        apart: bool = False,
    ) -> None:
        self.routing, self.router, self.traffic, self.load = routing, router, traffic, load
        self.lengths, self.reservation, self.bound = lengths, reservation, bound
        connections = None if reservation is None else reservation.connections
        self.engine = Engine(
            topology, routing, router, shortest_packet=lengths.shortest, connections=connections
        )
        senders = senders or [Sender(traffic, load, seed)]
        self.packets = SentPackets(senders, routing, reservation, lengths, arrivals)
        self.groups = self.packets.groups() if apart else None
        self.stops: list[int] = []
        self.born_flits = np.zeros(topology.num_nodes, np.int64)
        self.delivered_packets = np.zeros(topology.num_nodes, np.int64)
        self.born_packets = np.zeros(topology.num_nodes, np.int64)

    def advance(self, cycles: int) -> Delivered:
        """Run some cycles more; return the packets that they delivered."""
        until = self.engine.cycle + cycles
        self.stops.append(until)
        table = self.packets.until(until)
        source, flits = (table[:, BORN.index(name)] for name in ("source", "flits"))
        nodes = len(self.born_flits)
        self.born_flits += np.bincount(source, flits, nodes).astype(np.int64)
        self.born_packets += np.bincount(source, minlength=nodes)
        delivered = self.engine.advance(table, until)
        self.delivered_packets += np.bincount(delivered.source, minlength=nodes)
        return delivered

    @property
    def past_limit(self) -> Stability | None:
        """Say that the load is past saturation, where that is proven."""
        if self.bound is None:
            return None
        return past_limit(
            self.load, self.bound.load, self.bound.what, by_chance=self.packets.by_chance
        )

    @property
    def backlog_flits(self) -> int:
        """Flits of all packets created that have not left, those of sources included."""
        probes = self.engine.count("delivered") if self.router.switching == "circuit" else 0
        return int(self.born_flits.sum()) - self.engine.count("ejected") + probes


def run_network(
    run: Run,
    limits: Limits,
    *,
    beside: NetworkRun | None = None,
    stopped: Callable[[], bool] = lambda: False,
) -> NetworkRun:
    """Warm a network up, measure it until a limit is met, and return what was found.

    Parameters
    ----------
    run
        A run that has not begun.
    limits
        When it ends.
    beside
        Another run that it is to be compared with: it warms up and is measured in the same cycles,
        whatever the limits; see ``paired.paired_ratio``.
    stopped
        Asked between steps: whether to end at once, with what is known.

    Raises
    ------
    DeadlockError
        If packets block each other for good.
    """
    start = time.thread_time()
    if beside is not None:
        limits = replace(limits, cycles=beside.measured.cycles)
    most = limits.most_cycles if limits.cycles is None else limits.cycles
    if beside is None:
        step = max(1, min(_step(run), most // (2 * LEAST_SAMPLES)))
        warmed_up = _warm_up(run, step, limits, stopped)
    else:
        step, warmed_up = beside.step, _warm_up_as(run, beside, stopped)
    engine, begin, stops = run.engine, run.engine.cycle, tuple(run.stops)
    tally = Tally(
        len(run.born_flits), begin=begin, batch_cycles=max(step // 8, 1), groups=run.groups
    )
    channels, hops = engine.channel_flits(), engine.count("link_hops")
    born, born_packets = run.born_flits.copy(), int(run.born_packets.sum())
    samples, occupancy, steps = _Samples(), np.zeros(run.router.vcs), 0
    samples.add(begin, run.backlog_flits, run.born_packets - run.delivered_packets)
    behind: Stability | None = None  # what a look before the end was sure of
    while not (ended := _ended(run, tally, samples, limits, behind)) and not stopped():
        cycles = min(step, most - tally.cycles)
        tally.add(run.advance(cycles), engine.cycle)
        if cycles == step:  # samples lie at equal distances
            samples.add(engine.cycle, run.backlog_flits, run.born_packets - run.delivered_packets)
            behind = behind or _sure(run, samples, tally)
        occupancy += engine.buffered()[:, : engine.setup.network_ports].sum(axis=(0, 1))
        steps += 1
    engine.flits()  # they balance
    cycles = max(tally.cycles, 1)
    rate = run.load * run.traffic.rate
    senders = int(np.count_nonzero(rate))
    worst = worst_node(tally.delivered_flits, rate, cycles)
    measured = tally.measured(senders)
    verdict = _stability(run, samples, int(run.born_packets.sum()) - born_packets)
    verdict = (behind or run.past_limit or verdict) if verdict.stable else verdict
    return NetworkRun(
        load=run.load,
        created=float((run.born_flits - born).sum() / cycles / senders),
        measured=measured,
        stable=verdict.stable,
        reason=verdict.reason,
        interrupted=not ended,
        warmed_up=warmed_up,
        precise=measured.packets >= LEAST_PACKETS
        and (limits.cycles is not None or measured.precision <= limits.precision),
        warmup_cycles=begin,
        accepted_worst_node=worst.accepted,
        worst_node=worst.node,
        flit_hops=engine.count("link_hops") - hops,
        cpu_seconds=time.thread_time() - start,
        channel_utilisation=(engine.channel_flits() - channels) / cycles,
        accepted_by_node=tally.delivered_flits / cycles,
        vc_occupancy=occupancy / max(steps * len(channels), 1),
        latency_counts=tally.latency_counts,
        groups=tally.measured_by_group(),
        latency_batches=tally.latency_batches(),
        step=step,
        stops=stops,
    )


def _step(run: Run) -> int:
    """Return the cycles of a step: of about ``STEP_HOPS`` flit-hops, whatever the network."""
    nodes = len(run.born_flits)
    setup = run.engine.setup
    flits_a_cycle = run.load * float(run.traffic.rate.sum())
    hops = nodes ** (1 / max(setup.network_ports / 2, 1))
    work = flits_a_cycle * hops + nodes / 64
    return int(np.clip(STEP_HOPS / work, LEAST_STEP, MOST_STEP))


def _warm_up(run: Run, step: int, limits: Limits, stopped: Callable[[], bool]) -> bool:
    """Run until MSER-5 finds the end of the start-up, or a limit; return whether it was found."""
    packets_a_cycle = run.packets.a_cycle
    few_hops = run.router.zero_load_cycles(2 * run.engine.setup.network_ports, 1)
    wanted = max(10 * few_hops, LEAST_WARM_PACKETS / packets_a_cycle)
    cycles = min(ceil(wanted), limits.most_cycles)
    latencies: list[NDArray[np.int32]] = []
    while not stopped():
        while run.engine.cycle < cycles and not stopped():
            delivered = run.advance(min(step, cycles - run.engine.cycle))
            latencies.append(delivered.arrival - delivered.birth)
        if stopped():
            break
        seen = np.concatenate(latencies)
        # Before far packets can have arrived, the near ones alone may well look settled.
        long_enough = len(seen) > 0 and cycles >= LEAST_LATENCIES * seen.mean()
        if long_enough and warmup_packets(seen) is not None:
            return True
        if cycles >= limits.most_cycles or _hopeless(run):
            break
        cycles = min(2 * cycles, limits.most_cycles)
    return False


def _warm_up_as(run: Run, other: NetworkRun, stopped: Callable[[], bool]) -> bool:
    """Run as long as another's start-up took; return whether this one's was over by then."""
    latencies = [np.zeros(0, np.int32)]
    for until in other.stops:
        if stopped():
            return False
        delivered = run.advance(until - run.engine.cycle)
        latencies.append(delivered.arrival - delivered.birth)
    seen = np.concatenate(latencies)
    return len(seen) > 0 and warmup_packets(seen) is not None


def _hopeless(run: Run) -> bool:
    """Whether a network is so far behind that it will not find a steady state: 30 % and more."""
    return run.backlog_flits > 0.3 * run.born_flits.sum() and run.engine.cycle > 2_000


def _ended(
    run: Run, tally: Tally, samples: _Samples, limits: Limits, behind: Stability | None
) -> bool:
    if limits.cycles is not None:
        return tally.cycles >= limits.cycles
    if tally.cycles >= limits.most_cycles or behind:
        return True
    if not samples.looked_at:
        return False
    measured = tally.measured(int(np.count_nonzero(run.traffic.rate)))
    before, samples.precision = samples.precision, measured.precision
    twice = before <= limits.precision and measured.precision <= limits.precision
    clearly = measured.precision <= limits.precision / CLEARLY
    return measured.packet_latency > limits.latency or twice or clearly


def _sure(run: Run, samples: _Samples, tally: Tally) -> Stability | None:
    """Return that the network falls behind, if a look before the end of the run is sure of it."""
    if not samples.looked_at:
        return None
    found = _stability(run, samples, tally.packets, interim=True)
    where = f"{found.reason}, in the first {tally.cycles} cycles"
    return None if found.stable else Stability(stable=False, reason=where)


def _stability(run: Run, samples: _Samples, packets: int, *, interim: bool = False) -> Stability:
    """Return whether the network keeps up, and why, of a window in which so many packets came."""
    if len(samples.cycles) < LEAST_SAMPLES or packets < LEAST_PACKETS:
        few = f"{packets} packets are too few to tell whether the network keeps up"
        return Stability(stable=True, reason=few)
    middle = len(samples.cycles) // 2
    inside = np.stack([samples.inside[at] for at in (0, middle, -1)])
    rate = run.load * run.traffic.rate
    mean = run.lengths.mean
    return stability(samples.cycles, samples.backlogs, inside, rate, mean, interim=interim)
