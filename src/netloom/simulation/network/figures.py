"""What runs under a load come to, as figures: traffic, latencies, queues, and each program's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np

from netloom.base.figures import CYCLES, FLITS, Figures, derived, figure, known, unseen
from netloom.base.words import counted
from netloom.simulation.intervals import Batches, paired_ratio
from netloom.simulation.steady import SLOW
from netloom.topology.measures import busy_shares

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.simulation.network.loaded import LoadedNetwork, Setting
    from netloom.simulation.network.run import NetworkRun
    from netloom.simulation.steady import Stability
    from netloom.simulation.tally import GroupMeasured, Measured
    from netloom.topology import Topology

MOST_BINS = 64
"""Bins of a histogram in JSON. ``latencies`` has every value."""


class Fared(Figures):
    """What a program gets through, and what its packets take."""

    accepted: float = figure(unit=FLITS, lead=True, half="accepted_ci95")
    accepted_ci95: float | None = figure("accepted, ± 95 %", FLITS)
    packet_latency_mean: float | None = figure(
        "latency", CYCLES, at="packet_latency.mean", lead=True, half="packet_latency_ci95"
    )
    packet_latency_ci95: float | None = figure("latency, ± 95 %", CYCLES, at="packet_latency.ci95")
    packets: int = figure()

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
    stable: bool = figure()


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
    tasks: int = figure()
    offered: float = figure(unit=FLITS)
    fared: Fared = figure(at=".")
    alone: Alone | None = figure(flat="alone_", lead=True)
    slowdown: Slowdown | None = figure(flat="slowdown_", lead=True)


class Histogram(Figures):
    """How many packets had which latency, in bins of equal width."""

    first_cycle: int = figure()
    bin_cycles: int = figure()
    packets: tuple[int, ...] = figure()


class Backlog(Figures):
    """What piles up in a run, as shares of the traffic offered, and at which node."""

    growth: float | None = figure()
    node: str | None = figure()
    node_growth: float | None = figure()

    @classmethod
    def of(cls, found: Stability, topology: Topology) -> Self:
        """Return what was found out about a run on a network."""
        node = None if found.node is None else topology.name_of(found.node)
        return cls(growth=found.growth, node=node, node_growth=found.node_growth)


def state_of(point: Any, *, sure: bool, slow: bool = False) -> str:
    """Return what is to be known of a point in a word, if it is as precise as asked, or slow."""
    if point.interrupted:
        return "interrupted"
    if not point.stable:
        return "overloaded"
    if not point.is_known:
        return "too short"
    return "saturated" if slow else "carried" if sure else "less precise"


class Point(Figures):
    """What was measured at one offered load. Past saturation there are no latencies.

    Attributes
    ----------
    setting, run
        The router and what its run found, of an answer that was asked just now.
    alone
        Of several programs: a run of each with the network to itself, None where it was
        interrupted, or nothing where that was not asked for.
    """

    switching: str = figure()
    offered: float = figure(unit=FLITS, lead=True, key=True)
    created: float = figure(unit=FLITS)
    accepted: float = figure(unit=FLITS, lead=True, key=True, half="accepted_ci95")
    accepted_ci95: float | None = figure("accepted, ± 95 %", FLITS)
    accepted_worst_node: float = figure("worst node", FLITS)
    packet_latency_mean: float | None = figure(
        "latency", CYCLES, at="packet_latency.mean", lead=True, key=True,
        half="packet_latency_ci95",
    )  # fmt: skip
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
    utilisation_mean: float | None = figure("mean channel", "flits/cycle", at="utilisation.mean")
    utilisation_max: float | None = figure(
        "busiest channel", "flits/cycle", at="utilisation.max", head="busiest link", lead=True,
        key=True,
    )  # fmt: skip
    stable: bool = figure("keeps up", key=True)
    interrupted: bool = figure()
    cycles: int = figure("measured", CYCLES)
    warmup_cycles: int = figure("warm-up", CYCLES)
    packets: int = figure()
    precision: float | None = figure()
    flit_hops: int = figure("flit-hops")
    cpu_seconds: float = figure("processor time", "s")
    seed: int = figure()
    busiest_channel: str | None = figure(at="utilisation.busiest_channel", table=False)
    worst_node: str = figure(table=False)
    warmed_up: bool = figure(table=False)
    precise: bool = figure(table=False)
    backlog: Backlog = figure()
    reason: str = figure(table=False)
    note: str | None = figure(table=False)
    vc_occupancy: tuple[float, ...] = figure("flits in each VC")
    histogram: Histogram | None = figure()
    programs: tuple[OneProgram, ...] = figure("side by side")
    setting: Setting = unseen(default=None)
    run: NetworkRun = unseen(default=None)
    alone: tuple[NetworkRun | None, ...] = unseen(default=())

    @derived("latency over that of the idle network", "times", table=False)
    def times_idle(self) -> float | None:
        """None where one of them is not known."""
        if not self.zero_load_latency or self.packet_latency_mean is None:
            return None
        return self.packet_latency_mean / self.zero_load_latency

    @derived(lead=True)
    def state(self) -> str:
        """What is to be known of it in a word. A slow network counts as saturated."""
        return state_of(self, sure=self.is_sure, slow=self.is_slow)

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

        def all_of(run: NetworkRun) -> Batches:
            sums, counts = zip(*run.latency_batches, strict=True)
            return Batches(np.sum(sums, axis=0), np.sum(counts, axis=0))

        if not (self.stable and other.stable):
            return None, None
        ratio, half = paired_ratio(all_of(self.run), all_of(other.run))
        return known(ratio), known(half)


def point_of(
    network: LoadedNetwork,
    setting: Setting,
    run: NetworkRun,
    alone: tuple[NetworkRun | None, ...] = (),
) -> Point:
    """Return the figures of a run. Its latencies are those of whatever arrived, if it kept up."""
    topology, found = network.topology, run.measured
    used = busy_shares(topology, run.channel_utilisation)

    def cycles(value: float) -> float | None:
        return known(value) if run.stable else None

    return Point(
        switching=setting.router.switching,
        offered=run.load,
        created=run.created,
        accepted=found.accepted,
        accepted_ci95=known(found.accepted_ci95),
        accepted_worst_node=run.accepted_worst_node,
        packet_latency_mean=cycles(found.packet_latency),
        packet_latency_ci95=cycles(found.packet_latency_ci95),
        packet_latency_p50=cycles(found.packet_latency_p50),
        packet_latency_p99=cycles(found.packet_latency_p99),
        packet_latency_max=cycles(found.packet_latency_max),
        network_latency_mean=cycles(found.network_latency),
        network_latency_ci95=cycles(found.network_latency_ci95),
        source_queue_latency_mean=cycles(found.queue_latency),
        zero_load_latency=cycles(setting.zero_load_latency(found.hops, network.lengths.mean)),
        hops_mean=known(found.hops),
        utilisation_mean=float(used.mean()) if len(used) else None,
        utilisation_max=float(used.max()) if len(used) else None,
        stable=run.stable,
        interrupted=run.interrupted,
        cycles=found.cycles,
        warmup_cycles=run.warmup_cycles,
        packets=found.packets,
        precision=cycles(found.precision),
        flit_hops=int(run.flit_hops),
        cpu_seconds=run.cpu_seconds,
        seed=network.seed,
        busiest_channel=topology.channel_name(int(used.argmax())) if len(used) else None,
        worst_node=topology.name_of(run.worst_node),
        warmed_up=run.warmed_up,
        precise=run.precise,
        backlog=Backlog.of(run.stability, topology),
        reason=run.reason,
        note=note_of(run, found.packets, "packet"),
        vc_occupancy=tuple(run.vc_occupancy.tolist()),
        histogram=_histogram(run),
        programs=tuple(_programs(network, run, alone)),
        setting=setting,
        run=run,
        alone=alone,
    )


def note_of(run: Any, count: int, what: str) -> str | None:
    """Return what to know before relying on a run that has measured so many of something."""
    if not count:
        return f"nothing was measured{': interrupted' if run.interrupted else ''}"
    if not run.stable:
        past = (
            f"past saturation: {run.reason}. No latency is given, because it would grow with the "
        )
        return past + "length of the run"
    doubts = ["interrupted: these are the figures up to then"] * run.interrupted
    doubts += ["the start-up was not seen to end"] * (not run.warmed_up)
    if not (run.precise or run.interrupted):
        doubts.append(f"precision not reached: {counted(count, what)}")
    return ", ".join(doubts) or None


def _histogram(run: NetworkRun) -> Histogram | None:
    """Return the latencies in at most ``MOST_BINS`` equal bins, from the least on."""
    if not run.stable or not run.measured.packets:
        return None
    counts = run.latency_counts
    seen = np.flatnonzero(counts)
    first, last = int(seen[0]), int(seen[-1])
    width = -(-(last + 1 - first) // MOST_BINS)
    bins = np.add.reduceat(counts[first : last + 1], np.arange(0, last + 1 - first, width))
    return Histogram(first_cycle=first, bin_cycles=width, packets=tuple(bins.tolist()))


def _programs(
    network: LoadedNetwork, run: NetworkRun, alone: tuple[NetworkRun | None, ...]
) -> Iterator[OneProgram]:
    """Yield how each program fared in a run, where programs have nodes of their own."""
    if network.programs is None:
        return
    shared = network.programs.shared
    for place, name in enumerate(shared.names):
        mine, measured = shared.program_of == place, run.groups[place]
        apart = alone[place] if alone else None
        beside = None
        if apart is not None:
            fared = FaredAlone.of(apart.measured, stable=apart.stable)
            beside = Alone(fared=fared, stable=apart.stable)
        yield OneProgram(
            name=name,
            nodes=len(np.unique(shared.node_of[mine])),
            tasks=int(np.count_nonzero(mine)),
            offered=network.program_load(run.load),
            fared=Fared.of(measured, stable=run.stable),
            alone=beside,
            slowdown=_slowdown(run, place, apart),
        )


def _slowdown(run: NetworkRun, place: int, alone: NetworkRun | None) -> Slowdown | None:
    """Return how much slower the program at a place is than alone, if that was run."""
    if alone is None:
        return None
    ratio, half, accepted = np.nan, np.nan, run.groups[place].accepted
    if run.stable and alone.stable:
        ratio, half = paired_ratio(run.latency_batches[place], alone.latency_batches[0])
    return Slowdown(
        packet_latency=known(ratio),
        packet_latency_ci95=known(half),
        accepted=known(alone.measured.accepted / accepted) if accepted > 0 else None,
    )
