"""Simulate a network flit by flit under one load, or under several until it saturates."""

from __future__ import annotations

import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Concatenate, ParamSpec

import numpy as np
from pydantic import model_validator

from netloom.base.errors import InputError
from netloom.base.figures import CYCLES, FLITS, Figures, derived, figure, known, unseen
from netloom.base.progress import counting, counting_runs, patience
from netloom.base.words import counted, listed, number
from netloom.questions import terminal
from netloom.questions.answers import Answer, only, table
from netloom.questions.base import Numbers, ask, option, parse_numbers, positional_fields
from netloom.questions.channels import ChannelUse, channel_uses
from netloom.questions.curves import Axes, CurveKind
from netloom.questions.named import provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.questions.shown import around, arrow, rough, subject
from netloom.questions.simulate.fields import OpenLoad
from netloom.questions.simulate.network import SLOW
from netloom.questions.verdicts import Verdict
from netloom.simulation.capacity import Bound, FailureCost  # noqa: TC001 (types of figures)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    import polars as pl

    from netloom.drawing.load_curves import LoadCurves
    from netloom.questions.recorded import Recorded
    from netloom.questions.simulate.network import SimulatedNetwork
    from netloom.simulation.network.loaded import Setting
    from netloom.simulation.network.run import NetworkRun
    from netloom.simulation.steady import Limits, Stability
    from netloom.simulation.tally import GroupMeasured, Measured
    from netloom.topology import Topology

P = ParamSpec("P")

NOTABLE = 1.005
"""Latency beside other programs, in times that alone, that is worth a word."""

MOST_BINS = 64
"""Bins of a histogram in JSON. ``latencies`` has every value."""

SATURATION = "simulate.saturation"


class SimulateQuestion(OpenLoad):
    """A network under a load, or several."""

    load: Numbers = option(
        "Offered load of the average sending node, per program: 0.2, 0.1,0.2 or START:STOP:STEP.",
        unit=FLITS,
        panel="Traffic",
    )

    @model_validator(mode="before")
    @classmethod
    def _offered_is_the_load(cls, given: Any) -> Any:
        """Take ``offered``, as other questions call it, for ``load``."""
        if isinstance(given, dict) and "offered" in given and "load" not in given:
            return {("load" if name == "offered" else name): given[name] for name in given}
        return given

    @property
    def loads(self) -> tuple[float, ...]:
        """The loads asked for, or InputError if there is one that cannot be."""
        return parse_numbers(self.load, "load")


class Failures(Figures):
    """What is broken, and what that costs."""

    channels: tuple[str, ...] = figure()
    nodes: tuple[str, ...] = figure()
    cost: FailureCost = figure(at=".")


class UnderLoad(Figures):
    """What answers say of a network and of the packets that come to it."""

    topology: str = figure(table=False)
    nodes: int = figure(table=False)
    num_routers: int | None = figure("routers", at="routers", table=False, optional=True)
    num_channels: int = figure("channels", at="channels", table=False)
    failures: Failures | None = figure()
    traffic: str = figure(table=False)
    inside_nodes: float = figure(table=False)
    arrivals: str = figure(table=False)
    packet_law: str = figure(at="packet_flits.law", table=False)
    packet_mean: float = figure(unit="flits", at="packet_flits.mean", table=False)
    routing: str = figure(table=False)
    router: dict[str, object] = figure(table=False)
    throughput_bounds: dict[str, Bound] = figure("limit of each technique")
    flit_bytes: float | None = figure(unit="bytes", table=False)
    cycle_us: float | None = figure(unit="µs", table=False)
    seed: int = figure(table=False)
    notes: tuple[str, ...] = figure("remarks", at="remarks")
    refused: dict[str, object] = figure("techniques that are not possible, and why", table=False)

    @classmethod
    def of(cls, network: SimulatedNetwork) -> UnderLoad:
        """Return what is said of a network that is ready to be simulated."""
        topology, machine = network.topology, network.machine
        return cls(
            topology=topology.name,
            nodes=topology.num_hosts,
            num_routers=None if topology.direct else topology.num_routers,
            num_channels=topology.num_network_channels,
            failures=_failures(network),
            traffic=network.traffic.name,
            inside_nodes=network.inside_nodes,
            arrivals=network.arrivals.name,
            packet_law=network.lengths.name,
            packet_mean=network.lengths.mean,
            routing=network.settings[0].routing.name,
            router=network.router_fields,
            throughput_bounds={each.router.switching: each.bound for each in network.settings},
            flit_bytes=machine.flit_bytes if machine else None,
            cycle_us=machine.cycle_us if machine else None,
            seed=network.seed,
            notes=network.remarks,
            refused=dict(network.refused),
        )

    @property
    def compares(self) -> bool:
        """Whether techniques are compared, possible or not."""
        return len(self.throughput_bounds) + len(self.refused) > 1

    @property
    def bound(self) -> Bound:
        """What limits the technique that could carry most."""
        return max(self.throughput_bounds.values(), key=lambda bound: bound.load)

    def subject(self, asked: Mapping[str, Any]) -> str:
        """Return what is simulated, in short."""
        mapping = asked["mapping"] if asked["app"] is not None else None
        return subject(self.traffic, self.topology, mapping)

    @property
    def _vcs(self) -> str:
        return counted(str(self.router["vcs"]), "VC")

    @property
    def how(self) -> str:
        """The routers, the packets and the size of the network, in words."""
        router, plural = self.router, "s" * (self.packet_law != "1")
        size = counted(self.nodes, "node")
        if self.num_routers is not None:
            size = f"{counted(self.nodes, 'host')}, {counted(self.num_routers, 'router')}"
        parts = [
            f"{router['name']}",
            *([] if self.compares else self.throughput_bounds),
            f"{self._vcs} of {counted(str(router['buffer_flits']), 'flit')}",
            self.routing,
            f"packets of {self.packet_law} flit{plural}",
            self.arrivals,
            *([f"{number(self.cycle_us)} µs per cycle"] if self.cycle_us else []),
            f"{size}, {counted(self.num_channels, 'channel')}",
        ]
        return ", ".join(parts)

    def remarks(self) -> Iterator[str]:
        """Yield how it was run, what was changed, and which techniques are not possible."""
        yield self.how
        yield from self.notes
        yield from (f"{name} is not possible: {why}" for name, why in self.refused.items())

    def footer(self) -> list[str]:
        """Return what was simulated, on which routers, and what limits it."""
        router, bound = self.router, self.bound
        return [
            f"{self.traffic} on {self.topology}; {self.routing}, {router['name']} router, "
            f"{self._vcs} of {router['buffer_flits']} flits, packets of {self.packet_law} flits",
            f"Limit with {bound.whose}: {number(bound.load)} {FLITS}, by {bound.what}",
        ]


def _failures(network: SimulatedNetwork) -> Failures | None:
    from netloom.topology.faults import broken_parts

    broken = broken_parts(network.topology)
    if broken is None or network.cost is None:
        return None
    channels, nodes = tuple(broken["channels"]), tuple(broken["nodes"])
    return Failures(channels=channels, nodes=nodes, cost=network.cost)


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
    def of(cls, measured: Measured | GroupMeasured, *, stable: bool) -> Fared:
        """Return what was measured, latencies only of a network that keeps up."""
        return cls(
            accepted=measured.accepted,
            accepted_ci95=known(measured.accepted_ci95),
            packet_latency_mean=known(measured.packet_latency) if stable else None,
            packet_latency_ci95=known(measured.packet_latency_ci95) if stable else None,
            packets=measured.packets,
        )


class Alone(Figures):
    """How a program fares that has the network to itself."""

    fared: Fared = figure(at=".")
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
    alone: Alone | None = figure()
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
    def of(cls, found: Stability, topology: Topology) -> Backlog:
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

    @property
    def mean_said(self) -> str:
        """Mean latency, in words: about, where it is less precise than it was asked for."""
        half = None if self.is_sure else self.packet_latency_ci95
        return around(self.packet_latency_mean, half)

    def latency_over(self, other: Point) -> tuple[float | None, float | None]:
        """Return packet latency as a multiple of another run's, and its 95 % half-width.

        Of two runs over the same cycles, see ``simulate_beside``. None unless both keep up.
        """
        from netloom.simulation.intervals import Batches, paired_ratio

        def all_of(run: NetworkRun) -> Batches:
            sums, counts = zip(*run.latency_batches, strict=True)
            return Batches(np.sum(sums, axis=0), np.sum(counts, axis=0))

        if not (self.stable and other.stable):
            return None, None
        ratio, half = paired_ratio(all_of(self.run), all_of(other.run))
        return known(ratio), known(half)


class OfRun(Figures):
    """Which run a row of a table is of."""

    switching: str = figure()
    offered: float = figure(unit=FLITS)


class Channel(Figures):
    """A channel in one run."""

    of: OfRun = figure(at=".")
    use: ChannelUse = figure(at=".")


class NodeTraffic(Figures):
    """What a node offers in one run, and what of that is accepted. Names if hosts have routers."""

    of: OfRun = figure(at=".")
    node: int = figure()
    node_offered: float = figure("offered by the node", FLITS)
    node_accepted: float = figure("accepted of that", FLITS)
    name: str | None = figure("host", optional=True)


class Latency(Figures):
    """How many packets of a run that kept up had one latency."""

    of: OfRun = figure(at=".")
    packet_latency: int = figure("packet latency", CYCLES)
    packets: int = figure()


class Simulation(Answer):
    """What ``simulate`` found, at one load or at several, of one technique or of several.

    Its points are those of each technique in rising order of loads. Past the first load at which a
    technique saturates there are none.

    Attributes
    ----------
    advice
        What was better known before the runs, or None where nothing is amiss.
    network
        The network, of an answer that was asked just now.
    """

    PART_TITLES: ClassVar = {"latencies": "Latencies of packets"}

    setup: UnderLoad = figure(at=".")
    loads: tuple[float, ...] = figure("loads asked for", at="asked")
    advice: str | None = figure(table=False)
    interrupted: bool = figure(table=False)
    points: tuple[Point, ...] = figure()
    network: SimulatedNetwork = unseen(default=None)

    @property
    def several(self) -> bool:
        """Whether several loads or techniques were asked for."""
        return len(self.loads) > 1 or self.setup.compares

    @property
    def inside_nodes(self) -> float:
        """Share of the traffic that stays inside nodes."""
        return self.setup.inside_nodes

    @property
    def of(self) -> str:
        """Traffic, network and mapping."""
        return self.setup.subject(self.asked)

    @property
    def point(self) -> Point:
        """The one point, or InputError if several loads or techniques were asked for."""
        return only(self, self.points, "several loads or techniques")

    @property
    def offered(self) -> float:
        """Offered traffic of the average sending node, as asked (of one load)."""
        return self.point.offered

    @property
    def accepted(self) -> float:
        """Accepted traffic, mean of the sending nodes, flits/node/cycle (of one load)."""
        return self.point.accepted

    @property
    def packet_latency(self) -> float | None:
        """Mean packet latency in cycles, None past saturation (of one load)."""
        return self.point.packet_latency_mean

    @property
    def stable(self) -> bool:
        """Whether the network kept up (of one load)."""
        return self.point.stable

    def judged(self) -> Verdict:
        """Return whether the network carries the load, at which latency, and what limits it."""
        if not self.several:
            return self._of_one(self.points[0])
        return self._of_techniques() if self.setup.compares else self._of_loads()

    def _bound(self, point: Point) -> Bound:
        return self.setup.throughput_bounds[point.switching]

    def _is_overloaded(self, point: Point) -> bool:
        """Whether a load is too much: as the run shows, or for certain above the bound."""
        return not point.stable and (point.offered > self._bound(point).load or point.is_known)

    def _is_saturated(self, point: Point) -> bool:
        """Whether the network is saturated, as a search for saturation defines it."""
        return self._is_overloaded(point) or (point.is_carried and point.is_slow)

    def _of_one(self, point: Point) -> Verdict:
        limits, more = limit_said(self._bound(point)), self.again(SATURATION, cycles=None)
        if self._is_overloaded(point):
            said = f"Overloaded: {self._overload(point)}. No latency exists here."
            return Verdict("act", said, "", {"accepts": _accepted(point), "limits": limits}, more)
        if not point.is_known:
            return Verdict("unknown", _too_short(point), "", {"limits": limits}, longer(self))
        load = number(point.offered)
        if not point.is_sure:
            said = f"Too short to be sure: about {point.mean_said} cycles at {load}{_idle(point)}."
            lines = {"why": _doubt(point), "limits": limits}
            return Verdict("unknown", said, "", lines, longer(self))
        busiest, mark = "", "fine"
        if point.utilisation_max is not None:
            busiest = f" Busiest link {rough(point.utilisation_max)}."
        if point.is_slow:
            times, idle = number(point.times_idle), number(point.zero_load_latency)
            said = f"Carries {load}, but at {point.mean_said} cycles, {times} times the idle "
            said += f"{idle}."
            mark = "limited"
        else:
            tail = f", p99 {number(point.packet_latency_p99)}"
            said = f"Carries {load} at {point.mean_said} cycles{_idle(point, tail)}."
        lines = {"where": _where(point), "shared": _shared(point), "limits": limits}
        return Verdict(mark, said + busiest, "", lines, more)

    def _overload(self, point: Point) -> str:
        """Return in words by how much a load is too much."""
        load, backlog = number(point.offered), point.backlog
        if backlog.node is not None:
            share = rough(backlog.node_growth)
            queue = f"at {load} the queue of node {backlog.node}"
            return f"{queue} keeps {share} of what the node sends"
        if backlog.growth is not None:
            return f"{load} asked, {rough(backlog.growth)} of it piles up"
        most = number(self._bound(point).load)
        if most == load:
            return f"{load} {FLITS} asked, which is all that can be carried"
        return f"{load} {FLITS} asked, at most {most} can be carried"

    def _of_loads(self) -> Verdict:
        points, limits = self.points, {"limits": limit_said(self.setup.bound)}
        failed = next((each for each in points if self._is_saturated(each)), None)
        below = [each for each in points if failed is None or each.offered < failed.offered]
        carried = [each for each in below if each.is_carried]
        if vague := [each for each in points if not each.is_known and each is not failed]:
            said = _known_so_far(vague[0], carried)
            return Verdict("unknown", said, "", limits, longer(self))
        more = self.again(SATURATION, cycles=None)
        slow = failed is not None and not self._is_overloaded(failed)
        if failed is not None and not carried:
            if slow:
                said = f"Saturated from the lowest load on: {_slow_said(failed)}."
                return Verdict("limited", said, "", {"where": _where(failed)} | limits, more)
            said = f"Overloaded from the lowest load on: {self._overload(failed)}."
            return Verdict("act", said, "", {"accepts": _accepted(failed)} | limits, more)
        last = carried[-1]
        lines = {"where": _where(last)} | limits
        if failed is not None:
            idle = _idle(last).replace(" (", ", ").removesuffix(")")
            at = f"({last.mean_said} cycles at {number(last.offered)}{idle})"
            said = f"Saturates between {number(last.offered)} and {number(failed.offered)} {at}."
            lines = {"why": _slow_said(failed)} | lines if slow else lines
        else:
            said = f"Carries all loads up to {number(last.offered)}: {last.mean_said} cycles there"
            said += f"{_idle(last)}."
        mark = "fine" if failed is None else "limited"
        if not all(each.is_sure for each in carried) or (slow and not _is_surely_slow(failed)):
            mark, more = "unknown", longer(self)
            said = said.removesuffix(".") + ", in runs too short to be sure."
        return Verdict(mark, said, "", lines, more)

    def _of_techniques(self) -> Verdict:
        points, lines = self.points, {"limits": limit_said(self.setup.bound)}
        asked, seen = list(self.setup.throughput_bounds), {each.switching for each in points}
        vague = [each for each in points if not each.is_known and not self._is_overloaded(each)]
        if vague:
            ran = counted(vague[0].cycles, "cycle", ",")
            said = f"Not all techniques are known: {vague[0].switching} ran too short, "
            said += f"{ran} at {number(vague[0].offered)}."
            return Verdict("unknown", said, "", lines, longer(self))
        if missing := [each for each in asked if each not in seen]:
            said = f"Interrupted: {listed(missing)} did not run."
            return Verdict("unknown", said, "", lines, self.again())
        carried = [each for each in points if each.stable]
        more = self.again(SATURATION, cycles=None)
        if not carried:
            least = min(points, key=lambda each: each.backlog.growth or 0)
            said = f"No technique carries the lowest load: with {least.switching}, "
            return Verdict("act", f"{said}{self._overload(least)}.", "", lines, more)
        most = max(each.offered for each in carried)
        there = [each for each in carried if each.offered == most]
        first = min(there, key=lambda each: each.packet_latency_mean or 0.0)
        equal = [each.switching for each in there if _as_fast(each, first)]
        slower = [each for each in there if not _as_fast(each, first)]
        others = [each for each in asked if each not in {one.switching for one in there}]
        latencies = [
            f"{each.switching} {number(each.packet_latency_mean)} cycles" for each in slower
        ]
        lines = {"slower": listed(latencies), "fails": listed(others)} | lines
        names = f"{begun(listed(equal))} {'are' if len(equal) > 1 else 'is'}"
        latency = f"{number(first.packet_latency_mean)} cycles{_idle(first)}"
        above = [each.offered for each in points if each.offered > most]
        if above:
            said = f"{names} fastest: {latency} at {number(most)}, and overloaded at "
            said += f"{number(min(above))}."
        else:
            said = f"{names} fastest at {number(most)}: {latency}."
        if not all(each.is_sure for each in there):
            said = said.removesuffix(".") + ", in runs too short to be sure."
            return Verdict("unknown", said, "", lines, longer(self))
        mark = "limited" if others or above or first.is_slow else "fine"
        return Verdict(mark, said, "", lines, more)

    def figure_lines(self, width: int = 80) -> list[str]:
        """Return its leading figures, of several techniques one table each."""
        if not self.setup.compares:
            return super().figure_lines(width)
        found: list[str] = []
        for technique in dict.fromkeys(each.switching for each in self.points):
            rows = [each for each in self.points if each.switching == technique]
            found += [""] * bool(found) + [f"{begun(technique)}:"]
            found += terminal.table(rows, self, width)
        return found

    def remarks(self) -> Iterator[str]:
        """Yield how long one load was measured, how it was run, and what was changed."""
        if not self.several:
            yield _measured(self.points[0])
        yield from self.setup.remarks()

    @table(Channel)
    def channels(self) -> dict[str, Any]:
        """Return one row per run and channel: its two nodes, and flits per cycle on it."""
        return channel_rows(self.points, self.network.topology)

    @table(NodeTraffic)
    def nodes(self) -> dict[str, Any]:
        """Return one row per run and node: its offered and its accepted traffic."""
        topology, traffic, many = self.network.topology, self.network.traffic, len(self.points)
        found: dict[str, Any] = _runs(self.points, traffic.num_nodes) | {
            "node": np.tile(np.arange(traffic.num_nodes, dtype=np.int32), many),
            "node_offered": np.concatenate([each.offered * traffic.rate for each in self.points]),
            "node_accepted": np.concatenate([each.run.accepted_by_node for each in self.points]),
        }
        if not topology.direct:
            found["name"] = [topology.name_of(host) for host in range(topology.num_hosts)] * many
        return found

    @table(Latency)
    def latencies(self) -> dict[str, Any]:
        """Return one row per run that kept up and packet latency: how many packets had it."""
        kept_up = [each for each in self.points if each.stable]
        cycles = [np.flatnonzero(each.run.latency_counts) for each in kept_up]
        counts = [each.run.latency_counts[at] for each, at in zip(kept_up, cycles, strict=True)]
        none = [np.zeros(0, np.int64)]
        return _runs(kept_up, list(map(len, cycles))) | {
            "packet_latency": np.concatenate(cycles or none),
            "packets": np.concatenate(counts or none),
        }

    def footer(self) -> list[str]:
        """Return what was simulated, on which routers, and what limits it."""
        return self.setup.footer()

    def parts(self) -> dict[str, Any]:
        """Return latency and what gets through by load, or where the packets of one load go."""
        if self.several:
            curves = self._curves()
            return {"latency": curves.latency(), "accepted": curves.accepted()}
        from netloom.questions.network_chart import USE, loaded_chart, network_again

        channels = self.channels()
        at_hand = self.network.topology if self.kept is None else None
        net = network_again(at_hand, self.asked, channels)
        return {
            "channels": loaded_chart(net, channels, "utilisation", USE),
            "latencies": self._latency_spread(),
        }

    def _latency_spread(self) -> Any:
        """Return how long packets took. Past saturation, how much nodes get through."""
        from netloom.drawing.load_curves import accepted_by_node, latencies

        point = self.points[0]
        if point.histogram is None:
            nodes = self.nodes()
            nodes = nodes.filter(nodes["node_offered"] > 0)
            share = nodes["node_accepted"].to_numpy() / nodes["node_offered"].to_numpy()
            return accepted_by_node(share, "Interrupted" if point.stable else "Overloaded")
        bins = point.histogram
        return latencies(
            (bins.first_cycle, bins.bin_cycles, np.array(bins.packets)),
            mean=point.packet_latency_mean or 0.0,
            longest=point.packet_latency_max or 0.0,
            marks={"p50": point.packet_latency_p50 or 0.0, "p99": point.packet_latency_p99 or 0.0},
        )

    def _curves(self) -> LoadCurves:
        idle = {
            each.switching: each.zero_load_latency
            for each in self.points
            if each.packet_latency_mean is not None
        }
        return curves_of(self.table(), self.setup, self.saturation_intervals(), idle.values())

    def saturation_intervals(self) -> dict[str, tuple[float, float]]:
        """Return between which loads each technique saturates: the last it carried, the first not.

        Traffic piles up at that, or packets take several times as long as on an idle network: the
        definition of a search, which says itself where that is.
        """
        found = {}
        for technique in self.setup.throughput_bounds:
            mine = [e for e in self.points if e.switching == technique and not e.interrupted]
            behind = [each.offered for each in mine if not each.stable or each.is_slow]
            if behind:
                first = min(behind)
                below = [each.offered for each in mine if each.offered < first]
                found[technique] = (max(below, default=0.0), first)
        return found


def longer(answer: Answer) -> str:
    """Return the command that asks the same question again, with runs that are longer."""
    if answer.asked.get("cycles") is not None:
        return answer.again(cycles=None)
    return answer.again(most_cycles=10 * answer.asked["most_cycles"])


def limit_said(bound: Bound) -> str:
    """Return the most that can be carried, and what limits it.

    Examples
    --------
    >>> limit_said(Bound(load=0.4921875, what="channel 0 -> 1"))
    'no router can carry more than 0.492 with this routing: link 0→1'
    """
    what = arrow(bound.what or "").replace("channel", "link")
    return f"no router can carry more than {number(bound.load)} with {bound.whose}: {what}"


def begun(words: str) -> str:
    """Return words as a sentence begins."""
    return f"{words[0].upper()}{words[1:]}"


def _too_short(point: Point) -> str:
    ran = counted(point.cycles, "cycle", ",")
    if point.interrupted:
        return f"Interrupted after {ran}: not known whether {number(point.offered)} is carried."
    seen = counted(point.packets, "packet", ",")
    return f"Too short to tell at {number(point.offered)}: {seen} in {ran}."


def _doubt(point: Point) -> str:
    if not point.warmed_up:
        return "the start-up was not seen to end"
    return f"after {counted(point.cycles, 'cycle', ',')} the latency is less precise than asked"


def _idle(point: Point, more: str = "") -> str:
    """Return the latency of the idle network, if it is known, and more, in brackets."""
    idle = point.zero_load_latency
    if idle is None:
        return f" ({more.removeprefix(', ')})" * bool(more)
    return f" ({number(idle)} idle{more})"


def _where(point: Point) -> str:
    if point.busiest_channel is None:
        return ""
    said = f"{arrow(point.busiest_channel)} is {rough(point.utilisation_max)} busy"
    average = f"the average link {rough(point.utilisation_mean)}"
    return f"{said} at {number(point.offered)}, {average}"


def _accepted(point: Point) -> str:
    said = f"{number(point.accepted)} of {number(point.offered)} {FLITS} arrive"
    return f"{said}, least from {point.worst_node}: {number(point.accepted_worst_node)}"


def _shared(point: Point) -> str:
    """Return which of several programs suffers most from the others."""
    slower = [
        (each.slowdown.packet_latency, each.name)
        for each in point.programs
        if each.slowdown and each.slowdown.packet_latency
    ]
    if not slower:
        return ""
    times, name = max(slower)
    if times < NOTABLE:
        return "no program delays another"
    return f"{name} suffers most: {number(times)} times its latency alone"


def _is_surely_slow(point: Point | None) -> bool:
    """Whether latency is too long for certain, as far as its interval tells."""
    if point is None or point.packet_latency_mean is None:
        return False
    least = point.packet_latency_mean - (point.packet_latency_ci95 or 0)
    return least > SLOW * (point.zero_load_latency or 0.0)


def _slow_said(point: Point) -> str:
    """Return why a load that is carried counts as too much."""
    mean = around(point.packet_latency_mean, point.packet_latency_ci95)
    times = number(point.times_idle)
    return f"packets take {mean} cycles at {number(point.offered)}, {times} times idle"


def _known_so_far(vague: Point, carried: Sequence[Point]) -> str:
    if not carried:
        return _too_short(vague)
    last, most = carried[-1], number(vague.offered)
    why = "Interrupted" if vague.interrupted else "Too short to tell"
    known = f"{number(last.offered)} at {number(last.packet_latency_mean)} cycles"
    return f"{why}: carries {known}, not known whether {most} too."


def _as_fast(point: Point, first: Point) -> bool:
    """Whether a mean latency is that of the fastest, as far as their intervals tell."""
    apart = (point.packet_latency_mean or 0.0) - (first.packet_latency_mean or 0.0)
    sure = (point.packet_latency_ci95 or 0.0) + (first.packet_latency_ci95 or 0.0)
    return point is first or apart <= sure


def _measured(point: Point) -> str:
    """Return how long a run was, and what its packets did."""
    said = f"measured {counted(point.cycles, 'cycle', ',')} after {point.warmup_cycles:,} of "
    said += f"warm-up: {counted(point.packets, 'packet', ',')}, "
    said += f"{counted(number(point.hops_mean), 'hop')} on average"
    if point.packet_latency_mean is not None:
        waits, inside = number(point.source_queue_latency_mean), number(point.network_latency_mean)
        said += f", {waits} cycles in the source queue and {inside} in the network"
    return f"{said}; worst node {point.worst_node}: {number(point.accepted_worst_node)} {FLITS}"


def curves_of(
    runs: pl.DataFrame,
    setup: UnderLoad,
    saturates: Mapping[str, tuple[float, float]],
    idle: Any,
) -> LoadCurves:
    """Return the curves of runs. ``idle``: latencies of the idle network, None for unknown."""
    from netloom.drawing.load_curves import LoadCurves

    told = {number(each): each for each in idle if each is not None}
    return LoadCurves(
        runs, tuple(setup.throughput_bounds), saturates, setup.bound.load,
        next(iter(told.values())) if len(told) == 1 else None,
    )  # fmt: skip


def _runs(points: Sequence[Point], rows: int | list[int]) -> dict[str, Any]:
    """Return the columns of ``OfRun``: so many rows for each point."""
    return {
        "switching": np.repeat([each.switching for each in points], rows),
        "offered": np.repeat(np.array([each.offered for each in points], np.float64), rows),
    }


def channel_rows(points: Sequence[Point], topology: Topology) -> dict[str, Any]:
    """Return the columns of ``Channel``, run by run."""
    runs = ((each.offered, each.run.channel_utilisation) for each in points)
    used = channel_uses("offered", runs, topology)
    return _runs(points, topology.num_network_channels) | used


BY_LOAD = Axes(
    "offered traffic, flits/node/cycle", "packet latency", "cycles",
    "accepted traffic, flits/node/cycle",
)  # fmt: skip


def one_point(found: Answer, setup: UnderLoad, point: Point) -> Recorded:
    """Return what an answer says of one run, as the answer of a simulation of that alone."""
    import polars as pl

    from netloom.questions.recorded import Recorded

    only = (pl.col("offered") == point.offered) & (pl.col("switching") == point.switching)
    bounds = {point.switching: setup.throughput_bounds[point.switching]}
    kept = {name: rows.filter(only) for name, rows in (found.kept or {}).items()}
    one = Simulation(
        setup=replace(setup, throughput_bounds=bounds, refused={}),
        loads=(point.offered,),
        advice=None,
        interrupted=point.interrupted,
        points=(point,),
        provenance=replace(found.provenance, verb=simulate.__name__),
        kept=kept,
    )
    return Recorded(one.provenance.verb, one.to_dict(), kept)


def detail(record: Recorded, load: float, technique: str) -> Recorded:
    """Return what a simulation says of one load."""
    if not record.answer.several:
        return record
    found = Simulation.from_json(record.figures, kept=record.tables)
    here = (each for each in found.points if (each.offered, each.switching) == (load, technique))
    return one_point(found, found.setup, next(here))


CURVE = CurveKind(
    BY_LOAD, "offered", "packet_latency_mean", "zero_load_latency", "packet_latency_ci95",
    "accepted", "stable", besides=("load", "alone"), detail=detail,
)  # fmt: skip


def prepare(question: OpenLoad) -> SimulatedNetwork:
    """Return the network that a question is about. See ``simulate.network``."""
    from netloom.questions.simulate import network

    return network.prepare(question)


@asks(
    SimulateQuestion,
    prepare=prepare,
    title="Simulation",
    example="netloom simulate --on torus:8x8 --traffic tornado --load 0.05:0.6:0.05 --plot c.svg",
    page="simulate-a-network.md",
    sweep="load",
    outputs=(PLOT,),
    curve=CURVE,
    levels=parse_numbers,
)
def simulate(question: SimulateQuestion, network: SimulatedNetwork) -> Simulation:
    """Simulate a network flit by flit under one load, or under several until it saturates.

    Nodes offer packets at the given rate, even if the network cannot carry them. Runs at several
    loads use all processors. The answer does not depend on how many there are. Ctrl-C ends the
    runs, and the answer contains what is known by then. Several programs are also run alone, one
    by one, which multiplies the time.

    Raises
    ------
    DeadlockError
        If packets could block each other for good.

    Examples
    --------
    >>> from netloom import simulate
    >>> found = simulate("mesh:4x4", load=0.1, cycles=2000)
    >>> found.stable, round(found.offered, 3)
    (True, 0.1)
    >>> simulate("mesh:4x4", load="0.1:0.3:0.1", cycles=500).table()["offered"].to_list()
    [0.1, 0.2, 0.3]
    """
    from netloom.simulation.network.loaded import advice_of, run_loads

    loads = tuple(network.mean_load(load) for load in question.loads)
    if advice := advice_of(network.settings, loads):
        warnings.warn(advice, stacklevel=3)
    runs: list[tuple[Setting, NetworkRun]] = []
    for setting in network.settings:
        make_run = partial(network.make_run, setting)
        with counting_runs(len(loads), f"{network.name}, {setting.router.switching}") as tell:
            found = run_loads(make_run, loads, question.limits(), tell=tell)
        runs += [(setting, run) for run in found]
        if not found or found[-1].interrupted:
            break
    if not runs:
        raise KeyboardInterrupt  # stopped before anything was known
    alone: Sequence[tuple[NetworkRun | None, ...]] = [()] * len(runs)
    if question.alone and network.programs and len(network.programs.traffics) > 1:
        alone = _alone(network, runs, question.limits())
    return _answer(question, network, runs, alone)


def _alone(
    network: SimulatedNetwork, together: Sequence[tuple[Setting, NetworkRun]], limits: Limits
) -> Sequence[tuple[NetworkRun | None, ...]]:
    """Run each program alone at every load that all of them were run at. On Ctrl-C, some."""
    from netloom.simulation.network.loaded import run_programs_alone

    assert network.programs is not None
    if any(run.interrupted for _, run in together):
        return [()] * len(together)
    runs = len(together) * len(network.programs.traffics)
    with counting(runs, f"{network.name}: each program alone") as tell:
        return run_programs_alone(network, together, limits, tell=tell)


def _answer(
    question: SimulateQuestion,
    network: SimulatedNetwork,
    runs: Sequence[tuple[Setting, NetworkRun]],
    alone: Sequence[tuple[NetworkRun | None, ...]],
) -> Simulation:
    from netloom.simulation.network.loaded import advice_of

    loads = tuple(network.mean_load(load) for load in question.loads)
    points = tuple(
        point_of(network, setting, run, beside)
        for (setting, run), beside in zip(runs, alone, strict=True)
    )
    interrupted = any(each.interrupted or None in each.alone for each in points)
    if len(points) == 1:
        points = (replace(points[0], interrupted=interrupted),)
    return Simulation(
        setup=UnderLoad.of(network),
        loads=question.loads,
        advice=advice_of(network.settings, loads),
        interrupted=interrupted,
        points=points,
        network=network,
        provenance=provenance_of(question, "simulate", network.topology),
    )


def point_of(
    network: SimulatedNetwork,
    setting: Setting,
    run: NetworkRun,
    alone: tuple[NetworkRun | None, ...] = (),
) -> Point:
    """Return the figures of a run. Its latencies are those of whatever arrived, if it kept up."""
    from netloom.topology.measures import busy_shares

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
    network: SimulatedNetwork, run: NetworkRun, alone: tuple[NetworkRun | None, ...]
) -> Iterator[OneProgram]:
    """Yield how each program fared in a run, where programs have nodes of their own."""
    if network.programs is None:
        return
    shared = network.programs.shared
    for place, name in enumerate(shared.names):
        mine, measured = shared.program_of == place, run.groups[place]
        apart = alone[place] if alone else None
        yield OneProgram(
            name=name,
            nodes=len(np.unique(shared.node_of[mine])),
            tasks=int(np.count_nonzero(mine)),
            offered=network.program_load(run.load),
            fared=Fared.of(measured, stable=run.stable),
            alone=None
            if apart is None
            else Alone(fared=Fared.of(apart.measured, stable=apart.stable), stable=apart.stable),
            slowdown=_slowdown(run, place, apart),
        )


def _slowdown(run: NetworkRun, place: int, alone: NetworkRun | None) -> Slowdown | None:
    """Return how much slower the program at a place is than alone, if that was run."""
    from netloom.simulation.intervals import paired_ratio

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


def _beside(
    kind: Callable[P, OpenLoad],  # noqa: ARG001 (its parameters are what counts)
) -> Callable[[Callable[..., Simulation]], Callable[Concatenate[Simulation, P], Simulation]]:
    """Give a function the parameters of a question after its first."""
    return lambda function: function


@_beside(OpenLoad)
def simulate_beside(other: Simulation, *values: Any, **fields: Any) -> Simulation:
    """Simulate as another simulation was, cycle by cycle, to compare the two, see ``latency_over``.

    Warm-up and measured cycles of each run are those of the other's run of that technique and
    load: ``cycles`` and ``precision`` have no effect. A program with at most one task per node has
    the same packets in both, under any mapping, routing and network. ``other`` decides for how long
    both are measured: if only one of the two keeps up, pass that one.

    Parameters
    ----------
    other
        The simulation to compare with, not one that was read from a store.
    values, fields
        Those of ``simulate``, without ``load``, which is the other's.

    Raises what ``simulate`` does.

    Examples
    --------
    >>> options = {"on": "mesh:4x4", "app": "ring:16", "load": 0.2, "cycles": 2000}
    >>> identity = simulate(**options)
    >>> there_and_back = [0, 1, 2, 3, 7, 6, 5, 4, 8, 9, 10, 11, 15, 14, 13, 12]
    >>> snake = simulate_beside(identity, mapping=there_and_back, **options)
    >>> ratio, half_width = snake.point.latency_over(identity.point)
    >>> ratio + half_width < 1
    True
    """
    from netloom.simulation.network.loaded import run_beside

    if other.kept is not None:
        raise InputError("other", "a simulation that was read", "one that was run just now")
    given = dict(zip(positional_fields(SimulateQuestion), values, strict=False)) | fields
    question = ask(SimulateQuestion, given | {"load": list(other.loads)})
    network = prepare(question)
    setting_of = {setting.router.switching: setting for setting in network.settings}
    pairs = [
        (setting_of[point.switching], point.run)
        for point in other.points
        if point.switching in setting_of
    ]
    made = [(partial(network.make_run, setting, run.load), run) for setting, run in pairs]
    with patience(network.name):
        found = run_beside(made, question.limits())
    runs = [(setting, run) for (setting, _), run in zip(pairs, found, strict=False)]
    return _answer(question, network, runs, [()] * len(runs))  # fewer runs after Ctrl-C
