"""What runs under a load come to, as figures: traffic, latencies, queues, and each program's."""

from __future__ import annotations

from typing import Self

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.base.figures import CYCLES, FLITS, SHARE, Figures, derived, figure, known, unseen
from netloom.base.words import counted
from netloom.simulation.steady import (
    SLOW,
    Batches,
    GroupMeasured,
    Measured,
    Stability,
    WorstNode,
    paired_ratio,
)
from netloom.topology import Topology

RATE = "flits/cycle"

LONG = 200_000
"""Cycles of a run from which where it saturates is known about as well as a run can tell."""

MOST_BINS = 64
"""Bins of a histogram in JSON. ``latencies`` has every value."""


MEAN, HALF = "packet_latency.mean", "packet_latency_ci95"
"""Where JSON has the mean packet latency, and the figure that is half its interval."""


class Fared(Figures):
    """What a program gets through, and what its packets take."""

    accepted: float = figure(unit=FLITS, lead=True, half="accepted_ci95")
    accepted_ci95: float | None = figure("accepted, ± 95 %", FLITS)
    packet_latency_mean: float | None = figure("latency", CYCLES, at=MEAN, lead=True, half=HALF)
    packet_latency_ci95: float | None = figure("latency, ± 95 %", CYCLES, at="packet_latency.ci95")
    packets: int

    @classmethod
    def of(cls, measured: Measured | GroupMeasured, *, stable: bool) -> Self:
        """Return what was measured, latencies only of a network that keeps up."""
        return cls(
            accepted=measured.accepted,
            accepted_ci95=known(measured.accepted_ci95),
            packet_latency_mean=known(measured.packet_latency) if stable else None,
            packet_latency_ci95=known(measured.packet_latency_ci95) if stable else None,
            packets=measured.packets,
        )


class FaredAlone(Fared):
    """The same without other programs. Beside those, a terminal shows its latency only."""

    accepted: float = figure(unit=FLITS)
    packet_latency_mean: float | None = figure(
        "latency alone", CYCLES, at="packet_latency.mean", head="alone", lead=True
    )


class Alone(Figures):
    """How a program fares that has the network to itself."""

    fared: FaredAlone = figure(at=".")
    stable: bool

    @classmethod
    def of(cls, run: Point) -> Self:
        """Return how the only program of a run fares."""
        return cls(fared=FaredAlone.of(run.measured, stable=run.stable), stable=run.stable)


class Slowdown(Figures):
    """How a program fares beside others, compared with alone.

    Both runs have the same packets of this program, and are measured over the same cycles.
    """

    packet_latency: float | None = figure(
        "latency over that alone", "times", head="slow-down", lead=True, half="packet_latency_ci95"
    )
    packet_latency_ci95: float | None = figure("± 95 %")
    accepted: float | None = figure("accepted alone over that beside others")


class OneProgram(Figures):
    """How one of several programs fares beside the others, and alone."""

    name: str = figure("program", lead=True)
    nodes: int = figure("on nodes", lead=True)
    tasks: int
    offered: float = figure(unit=FLITS)
    fared: Fared = figure(at=".")
    alone: Alone | None = figure(flat="alone_", lead=True)
    slowdown: Slowdown | None = figure(flat="slowdown_", lead=True)


class Histogram(Figures):
    """How many packets had which latency, in bins of equal width."""

    first_cycle: int
    bin_cycles: int
    packets: tuple[int, ...]

    @classmethod
    def of(cls, counts: Ints) -> Self:
        """Return how many had each latency in at most ``MOST_BINS`` bins, from the least on."""
        seen = np.flatnonzero(counts)
        first, last = int(seen[0]), int(seen[-1])
        width = -(-(last + 1 - first) // MOST_BINS)
        bins = np.add.reduceat(counts[first : last + 1], np.arange(0, last + 1 - first, width))
        return cls(first_cycle=first, bin_cycles=width, packets=tuple(bins.tolist()))


class Backlog(Figures):
    """What piles up in a run, as shares of the traffic offered, and at which node."""

    growth: float | None
    node: str | None
    node_growth: float | None

    @classmethod
    def of(cls, found: Stability, topology: Topology) -> Self:
        """Return what was found out about a run on a network."""
        node = None if found.node is None else topology.name_of(found.node)
        return cls(growth=found.growth, node=node, node_growth=found.node_growth)


def state_of(
    *, interrupted: bool, stable: bool, is_known: bool, sure: bool, slow: bool = False
) -> str:
    """Return what is to be known of a run in a word, if it is as precise as asked, or slow."""
    if interrupted:
        return "interrupted"
    if not stable:
        return "overloaded"
    if not is_known:
        return "too short"
    return "saturated" if slow else "carried" if sure else "less precise"


class Point(Figures):
    """What one run measured at one offered load. Past saturation there are no latencies.

    Attributes
    ----------
    stable, reason
        Whether the network keeps up, and why it is thought so. A load above a proven limit is past
        saturation, however little the run shows of it.
    warmed_up
        Whether the end of the start-up was seen before the limit.
    precise
        Whether the precision asked for was reached, or a number of cycles was asked for and enough
        packets came in it to tell anything.
    alone
        Of several programs: a run of each with the network to itself, None where it was
        interrupted, or nothing where that was not asked for.
    measured
        Latencies, hops and accepted traffic, also past saturation, where they depend only on how
        long it ran. This and what follows is known of a run that was made just now.
    worst
        The sending node that got least of what it offered.
    channel_utilisation
        float64[num_channels], flits per cycle on each channel.
    accepted_by_node
        float64[num_nodes], delivered traffic of each source.
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

    switching: str
    offered: float = figure(unit=FLITS, lead=True, key=True)
    created: float = figure(unit=FLITS)
    accepted: float = figure(unit=FLITS, lead=True, key=True, half="accepted_ci95")
    accepted_ci95: float | None = figure("accepted, ± 95 %", FLITS)
    accepted_worst_node: float = figure("worst node", FLITS)
    packet_latency_mean: float | None = figure(
        "latency", CYCLES, at=MEAN, lead=True, key=True, half=HALF
    )
    packet_latency_ci95: float | None = figure("latency, ± 95 %", CYCLES, at="packet_latency.ci95")
    packet_latency_p50: float | None = figure("half up to", CYCLES, at="packet_latency.p50")
    packet_latency_p99: float | None = figure(
        "99 % up to", CYCLES, at="packet_latency.p99", head="p99", lead=True, key=True
    )
    packet_latency_max: float | None = figure("all up to", CYCLES, at="packet_latency.max")
    network_latency_mean: float | None = figure("in the network", CYCLES, at="network_latency.mean")
    network_latency_ci95: float | None = figure(
        "in the network, ± 95 %", CYCLES, at="network_latency.ci95"
    )
    source_queue_latency_mean: float | None = figure(
        "in the source queue", CYCLES, at="source_queue_latency.mean"
    )
    zero_load_latency: float | None = figure("idle", CYCLES, key=True)
    hops_mean: float | None = figure("hops", at="hops.mean")
    utilisation_mean: float | None = figure("mean channel", RATE, at="utilisation.mean")
    utilisation_max: float | None = figure(
        "busiest channel", RATE, at="utilisation.max", head="busiest link", lead=True, key=True
    )
    stable: bool = figure("keeps up", key=True)
    interrupted: bool
    cycles: int = figure("measured", CYCLES)
    warmup_cycles: int = figure("warm-up", CYCLES)
    packets: int
    precision: float | None
    flit_hops: int = figure("flit-hops")
    cpu_seconds: float = figure("processor time", "s")
    seed: int
    busiest_channel: str | None = figure(at="utilisation.busiest_channel", table=False)
    worst_node: str = figure(table=False)
    warmed_up: bool = figure(table=False)
    precise: bool = figure(table=False)
    backlog: Backlog
    reason: str = figure(table=False)
    note: str | None = figure(table=False)
    vc_occupancy: tuple[float, ...] = figure("flits in each VC")
    histogram: Histogram | None
    programs: tuple[OneProgram, ...] = figure("side by side", default=())
    alone: tuple[Point | None, ...] = unseen(default=())
    measured: Measured = unseen()
    worst: WorstNode = unseen()
    channel_utilisation: Floats = unseen()
    accepted_by_node: Floats = unseen()
    latency_counts: Ints = unseen()
    groups: tuple[GroupMeasured, ...] = unseen(default=())
    latency_batches: tuple[Batches, ...] = unseen(default=())
    step: int = unseen(default=0)
    stops: tuple[int, ...] = unseen(default=())

    @derived("latency over that of the idle network", "times", table=False)
    def times_idle(self) -> float | None:
        """None where one of them is not known."""
        if not self.zero_load_latency or self.packet_latency_mean is None:
            return None
        return self.packet_latency_mean / self.zero_load_latency

    @derived(lead=True)
    def state(self) -> str:
        """What is to be known of it in a word. A slow network counts as saturated."""
        stopped, stable, sure, slow = self.interrupted, self.stable, self.is_sure, self.is_slow
        told = {"is_known": self.is_known, "sure": sure, "slow": slow}
        return state_of(interrupted=stopped, stable=stable, **told)

    @property
    def is_known(self) -> bool:
        """Whether the run was long enough to tell whether the network carries the load."""
        if self.interrupted or not self.packets:
            return False
        return not self.stable or self.backlog.growth is not None

    @property
    def is_carried(self) -> bool:
        """Whether it is known that the network carries the load."""
        return self.is_known and self.stable

    @property
    def is_sure(self) -> bool:
        """Whether the latency of a load that is carried is as precise as it was asked for."""
        return self.is_carried and self.warmed_up and self.precise

    @property
    def is_slow(self) -> bool:
        """Whether packets take so long that the network counts as saturated."""
        return (self.times_idle or 0.0) > SLOW

    def latency_over(self, other: Point) -> tuple[float | None, float | None]:
        """Return packet latency as a multiple of another run's, and its 95 % half-width.

        Of two runs over the same cycles, see ``simulate_beside``. None unless both keep up.
        """

        def all_of(run: Point) -> Batches:
            sums, counts = zip(*run.latency_batches, strict=True)
            return Batches(np.sum(sums, axis=0), np.sum(counts, axis=0))

        if not (self.stable and other.stable):
            return None, None
        ratio, half = paired_ratio(all_of(self), all_of(other))
        return known(ratio), known(half)


class Search(Figures):
    """Where one switching technique saturates, and the runs that show it.

    If it was interrupted, what it found is how far it had come.

    Attributes
    ----------
    saturation_offered
        Offered load at which the network saturates, or at which the mean packet latency is
        ``latency_factor`` times that of the idle network. It lies between two runs that are
        ``saturation_offered_width`` apart. If it never saturates, the highest load that can be
        offered.
    saturates
        Whether it saturates at any load that it can be offered.
    saturation_throughput, accepted_worst_node
        Accepted traffic there, of the mean and of the worst sending node.
    peak_accepted
        The highest accepted traffic of a run that kept up.
    zero_load_latency, latency_factor
        Mean packet latency at next to no load, cycles, and how many times that is too much.
    runs
        All runs, by load.
    """

    switching: str = figure(lead=True, key=True)
    saturation_offered: float = figure(
        "saturates at", FLITS, lead=True, key=True, half="saturation_offered_half_width"
    )
    saturation_offered_width: float | None = figure("width of that", FLITS)
    saturation_throughput: float = figure("accepted", FLITS, lead=True, key=True)
    accepted_worst_node: float = figure("worst node", FLITS, lead=True, key=True)
    peak_accepted: float = figure("most accepted", FLITS)
    saturates: bool
    interrupted: bool
    zero_load_latency: float | None = figure("zero-load latency", CYCLES)
    latency_factor: float = figure("latency too long, times")
    share_of_bound: float | None = figure(
        "share of the limit", SHARE, head="of the limit", lead=True, key=True, default=None
    )
    cpu_seconds: float = figure("processor time", "s")
    runs: tuple[Point, ...]

    @derived("half the width of that", FLITS)
    def saturation_offered_half_width(self) -> float | None:
        """None of a network that does not saturate."""
        width = self.saturation_offered_width
        return None if width is None else width / 2

    def carried(self, *, below: float | None = None) -> Point | None:
        """Return the run at the highest load that the network carried, if any."""
        runs = [each for each in self.runs if each.is_carried]
        runs = [each for each in runs if below is None or each.offered < below]
        return max(runs, key=lambda each: each.offered, default=None)

    @property
    def last(self) -> Point | None:
        """The run at the highest load that the network carried below saturation, if any."""
        return self.carried(below=self.saturation_offered if self.saturates else None)

    @property
    def is_sure(self) -> bool:
        """Whether that run was long enough to rely on."""
        last = self.last
        return last is not None and (last.is_sure or (last.warmed_up and last.cycles >= LONG))

    @property
    def interval(self) -> tuple[float, float]:
        """Between which loads it saturates."""
        half = self.saturation_offered_half_width or 0.0
        return self.saturation_offered - half, self.saturation_offered + half


def note_of(
    found: Stability, count: int, what: str, *, interrupted: bool, warmed_up: bool, precise: bool
) -> str | None:
    """Return what to know before relying on a run that has measured so many of something."""
    if not count:
        return f"nothing was measured{': interrupted' if interrupted else ''}"
    if not found.stable:
        past = f"past saturation: {found.reason}. No latency is given, because it would grow with "
        return past + "the length of the run"
    doubts = ["interrupted: these are the figures up to then"] * interrupted
    doubts += ["the start-up was not seen to end"] * (not warmed_up)
    if not (precise or interrupted):
        doubts.append(f"precision not reached: {counted(count, what)}")
    return ", ".join(doubts) or None
