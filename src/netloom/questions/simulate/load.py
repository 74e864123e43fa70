"""Simulate a network flit by flit under one load, or under several until it saturates."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any, Concatenate, ParamSpec

import numpy as np
from pydantic import model_validator

from netloom.base.arrays import distinct
from netloom.base.errors import InputError
from netloom.base.figures import CYCLES, FLITS, Figures, figure, unseen
from netloom.base.progress import counting, counting_runs, patience
from netloom.base.words import begun, counted, listed, number
from netloom.contention.busiest import ChannelUse, channel_uses
from netloom.machines import Machine
from netloom.questions import terminal
from netloom.questions.answers import Answer, Columns, Parts, Verdict, only, table
from netloom.questions.base import Numbers, ask, option, parse_numbers, positional_fields
from netloom.questions.curves import Axes, CurveKind
from netloom.questions.fields import ROUTER_FIELDS, asked_router
from netloom.questions.named import entering, network_of, placed, program_on, provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.recorded import Recorded
from netloom.questions.register import asks
from netloom.questions.simulate.fields import OpenLoad
from netloom.questions.simulate.programs import only_program, pattern_asked, share_programs, suffers
from netloom.questions.terminal import around, arrow, rough
from netloom.simulation.network import run as network_runs
from netloom.simulation.network.bound import Bound, FailureCost
from netloom.simulation.network.figures import Point
from netloom.simulation.network.layout import MOST_NODES
from netloom.simulation.network.routers import with_lanes
from netloom.simulation.steady import SLOW
from netloom.topology.faults import broken_parts
from netloom.workload import parse_arrivals, parse_lengths
from netloom.workload.programs.shared import program_seeds, shared_traffic
from netloom.workload.traffic import from_process_graph

P = ParamSpec("P")

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


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulatedNetwork(network_runs.LoadedNetwork):
    """The network of a question, and the packets that come to it.

    Attributes
    ----------
    machine
        None where only a topology was named.
    router_name
        The preset, ``as given`` for a router of one's own.
    refused
        The techniques that are not possible, and why.
    remarks
        What was changed to make techniques comparable, and what failures cost.
    cost
        What failures cost, or None where nothing is broken.
    inside_nodes
        The share of the traffic that stays inside nodes.
    """

    machine: Machine | None
    router_name: str
    refused: dict[str, str]
    remarks: tuple[str, ...]
    cost: FailureCost | None
    inside_nodes: float

    @property
    def router_fields(self) -> dict[str, Any]:
        """The router's name and its fields."""
        router = asdict(self.settings[0].router)
        return {"name": self.router_name} | {name: router[name] for name in ROUTER_FIELDS}


class Failures(Figures):
    """What is broken, and what that costs."""

    channels: tuple[str, ...]
    nodes: tuple[str, ...]
    cost: FailureCost = figure(at=".")


class UnderLoad(Figures):
    """What answers say of a network and of the packets that come to it."""

    topology: str
    nodes: int
    num_routers: int | None = figure("routers", at="routers", optional=True)
    num_channels: int = figure("channels", at="channels")
    failures: Failures | None
    traffic: str
    inside_nodes: float
    arrivals: str
    packet_law: str = figure(at="packet_flits.law")
    packet_mean: float = figure(unit="flits", at="packet_flits.mean")
    routing: str
    router: dict[str, object]
    throughput_bounds: dict[str, Bound] = figure("limit of each technique")
    flit_bytes: float | None = figure(unit="bytes")
    cycle_us: float | None = figure(unit="µs")
    seed: int
    notes: tuple[str, ...] = figure("remarks", at="remarks")
    refused: dict[str, object] = figure("techniques that are not possible, and why")

    @classmethod
    def of(cls, network: SimulatedNetwork) -> UnderLoad:
        """Return what is said of a network that is ready to be simulated."""
        topology, machine, failures = network.topology, network.machine, None
        broken = broken_parts(topology)
        if broken is not None and network.cost is not None:
            channels, nodes = tuple(broken["channels"]), tuple(broken["nodes"])
            failures = Failures(channels=channels, nodes=nodes, cost=network.cost)
        return cls(
            topology=topology.name,
            nodes=topology.num_hosts,
            num_routers=None if topology.direct else topology.num_routers,
            num_channels=topology.num_network_channels,
            failures=failures,
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
        return terminal.subject(self.traffic, self.topology, mapping)

    @property
    def _vcs(self) -> str:
        buffers = counted(str(self.router["buffer_flits"]), "flit")
        return f"{counted(str(self.router['vcs']), 'VC')} of {buffers}"

    @property
    def _packets(self) -> str:
        return f"packets of {counted(self.packet_law, 'flit')}"

    @property
    def how(self) -> str:
        """The routers, the packets and the size of the network, in words."""
        size = counted(self.nodes, "node")
        if self.num_routers is not None:
            size = f"{counted(self.nodes, 'host')}, {counted(self.num_routers, 'router')}"
        parts = [
            str(self.router["name"]),
            *([] if self.compares else self.throughput_bounds),
            self._vcs,
            self.routing,
            self._packets,
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
        bound = self.bound
        return [
            f"{self.traffic} on {self.topology}; {self.routing}, {self.router['name']} router, "
            f"{self._vcs}, {self._packets}",
            f"Limit with {bound.whose}: {number(bound.load)} {FLITS}, by {bound.what}",
        ]


class OfRun(Figures):
    """Which run a row of a table is of."""

    switching: str
    offered: float = figure(unit=FLITS)


class Channel(Figures):
    """A channel in one run."""

    of: OfRun = figure(at=".")
    use: ChannelUse = figure(at=".")


class NodeTraffic(Figures):
    """What a node offers in one run, and what of that is accepted. Names if hosts have routers."""

    of: OfRun = figure(at=".")
    node: int
    node_offered: float = figure("offered by the node", FLITS)
    node_accepted: float = figure("accepted of that", FLITS)
    name: str | None = figure("host", optional=True)


class Latency(Figures):
    """How many packets of a run that kept up had one latency."""

    of: OfRun = figure(at=".")
    packet_latency: int = figure("packet latency", CYCLES)
    packets: int


class LoadAnswer(Answer):
    """What runs of a network found, at given loads or in search of one.

    Attributes
    ----------
    network
        The network, of an answer that was asked just now.
    """

    setup: UnderLoad = figure(at=".")
    network: SimulatedNetwork = unseen(default=None)

    @property
    def runs(self) -> tuple[Point, ...]:
        """What was measured, run by run."""
        raise NotImplementedError

    @property
    def inside_nodes(self) -> float:
        """Share of the traffic that stays inside nodes."""
        return self.setup.inside_nodes

    @property
    def of(self) -> str:
        """Traffic, network and mapping."""
        return self.setup.subject(self.asked)

    @property
    def limits(self) -> dict[str, str]:
        """What limits the technique that could carry most, as a line of a verdict."""
        return {"limits": limit_said(self.setup.bound)}

    @table(Channel)
    def channels(self) -> Columns:
        """Return one row per run and channel: its two nodes, and flits per cycle on it."""
        topology = self.network.topology
        loads = ((each.offered, each.channel_utilisation) for each in self.runs)
        used = channel_uses("offered", loads, topology)
        return _runs(self.runs, topology.num_network_channels) | used

    def footer(self) -> list[str]:
        """Return what was simulated, on which routers, and what limits it."""
        return self.setup.footer()

    def curves(
        self, saturates: Mapping[str, tuple[float, float]], idle: Iterable[float | None]
    ) -> dict[str, Any]:
        """Return latency and what gets through by load, as parts of a picture.

        ``saturates``: between which loads techniques do. ``idle``: latencies of the idle network.
        """
        from netloom.drawing.load_curves import LoadCurves

        told = {number(each): each for each in idle if each is not None}
        alike = next(iter(told.values())) if len(told) == 1 else None
        techniques, limit = tuple(self.setup.throughput_bounds), self.setup.bound.load
        curves = LoadCurves(self.table(), techniques, saturates, limit, alike)
        return {"latency": curves.latency(), "accepted": curves.accepted()}


class Simulation(LoadAnswer):
    """What ``simulate`` found, at one load or at several, of one technique or of several.

    Its points are those of each technique in rising order of loads. Past the first load at which a
    technique saturates there are none.

    Attributes
    ----------
    advice
        What was better known before the runs, or None where nothing is amiss.
    """

    loads: tuple[float, ...] = figure("loads asked for", at="asked")
    advice: str | None
    interrupted: bool
    points: tuple[Point, ...]

    @property
    def runs(self) -> tuple[Point, ...]:
        """What was measured, run by run: its points."""
        return self.points

    @property
    def several(self) -> bool:
        """Whether several loads or techniques were asked for."""
        return len(self.loads) > 1 or self.setup.compares

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
            return Verdict("act", said, {"accepts": _accepted(point), "limits": limits}, more)
        if not point.is_known:
            return Verdict("unknown", _too_short(point), {"limits": limits}, longer(self))
        load = number(point.offered)
        if not point.is_sure:
            said = f"Too short to be sure: about {_mean(point)} cycles at {load}{_idle(point)}."
            ran = counted(point.cycles, "cycle", ",")
            why = f"after {ran} the latency is less precise than asked"
            if not point.warmed_up:
                why = "the start-up was not seen to end"
            lines = {"why": why, "limits": limits}
            return Verdict("unknown", said, lines, longer(self))
        busiest, mark = "", "fine"
        if point.utilisation_max is not None:
            busiest = f" Busiest link {rough(point.utilisation_max)}."
        if point.is_slow:
            times, idle = number(point.times_idle), number(point.zero_load_latency)
            said = f"Carries {load}, but at {_mean(point)} cycles, {times} times the idle "
            said += f"{idle}."
            mark = "limited"
        else:
            tail = f", p99 {number(point.packet_latency_p99)}"
            said = f"Carries {load} at {_mean(point)} cycles{_idle(point, tail)}."
        slower = [(e.slowdown.packet_latency, e.name) for e in point.programs if e.slowdown]
        shared = suffers(slower, "{} times its latency alone")
        lines = {"where": _where(point), "shared": shared, "limits": limits}
        return Verdict(mark, said + busiest, lines, more)

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
        points, limits = self.points, self.limits
        failed = next((each for each in points if self._is_saturated(each)), None)
        below = [each for each in points if failed is None or each.offered < failed.offered]
        carried = [each for each in below if each.is_carried]
        if vague := [each for each in points if not each.is_known and each is not failed]:
            said = _too_short(vague[0])
            if carried:
                last, why = carried[-1], "Too short to tell"
                why = "Interrupted" if vague[0].interrupted else why
                known = f"{number(last.offered)} at {number(last.packet_latency_mean)} cycles"
                most = number(vague[0].offered)
                said = f"{why}: carries {known}, not known whether {most} too."
            return Verdict("unknown", said, limits, longer(self))
        more = self.again(SATURATION, cycles=None)
        slow = failed is not None and not self._is_overloaded(failed)
        if failed is not None and not carried:
            if slow:
                said = f"Saturated from the lowest load on: {_slow_said(failed)}."
                return Verdict("limited", said, {"where": _where(failed)} | limits, more)
            said = f"Overloaded from the lowest load on: {self._overload(failed)}."
            return Verdict("act", said, {"accepts": _accepted(failed)} | limits, more)
        last = carried[-1]
        lines = {"where": _where(last)} | limits
        if failed is not None:
            idle = _idle(last).replace(" (", ", ").removesuffix(")")
            at = f"({_mean(last)} cycles at {number(last.offered)}{idle})"
            said = f"Saturates between {number(last.offered)} and {number(failed.offered)} {at}."
            lines = {"why": _slow_said(failed)} | lines if slow else lines
        else:
            said = f"Carries all loads up to {number(last.offered)}: {_mean(last)} cycles there"
            said += f"{_idle(last)}."
        mark = "fine" if failed is None else "limited"
        if not all(each.is_sure for each in carried) or (slow and not _is_surely_slow(failed)):
            mark, more = "unknown", longer(self)
            said = said.removesuffix(".") + ", in runs too short to be sure."
        return Verdict(mark, said, lines, more)

    def _of_techniques(self) -> Verdict:
        points, lines = self.points, self.limits
        asked, seen = list(self.setup.throughput_bounds), {each.switching for each in points}
        vague = [each for each in points if not each.is_known and not self._is_overloaded(each)]
        if vague:
            ran = counted(vague[0].cycles, "cycle", ",")
            said = f"Not all techniques are known: {vague[0].switching} ran too short, "
            said += f"{ran} at {number(vague[0].offered)}."
            return Verdict("unknown", said, lines, longer(self))
        if missing := [each for each in asked if each not in seen]:
            said = f"Interrupted: {listed(missing)} did not run."
            return Verdict("unknown", said, lines, self.again())
        carried = [each for each in points if each.stable]
        more = self.again(SATURATION, cycles=None)
        if not carried:
            least = min(points, key=lambda each: each.backlog.growth or 0)
            said = f"No technique carries the lowest load: with {least.switching}, "
            return Verdict("act", f"{said}{self._overload(least)}.", lines, more)
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
            return Verdict("unknown", said, lines, longer(self))
        mark = "limited" if others or above or first.is_slow else "fine"
        return Verdict(mark, said, lines, more)

    def figure_lines(self, width: int) -> list[str]:
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
            point = self.points[0]
            said = f"measured {counted(point.cycles, 'cycle', ',')} after "
            said += f"{point.warmup_cycles:,} of warm-up: {counted(point.packets, 'packet', ',')}, "
            said += f"{counted(number(point.hops_mean), 'hop')} on average"
            if point.packet_latency_mean is not None:
                said += f", {number(point.source_queue_latency_mean)} cycles in the source queue "
                said += f"and {number(point.network_latency_mean)} in the network"
            worst = number(point.accepted_worst_node)
            yield f"{said}; worst node {point.worst_node}: {worst} {FLITS}"
        yield from self.setup.remarks()

    @table(NodeTraffic)
    def nodes(self) -> Columns:
        """Return one row per run and node: its offered and its accepted traffic."""
        topology, traffic, many = self.network.topology, self.network.traffic, len(self.points)
        found = _runs(self.points, traffic.num_nodes) | {
            "node": np.tile(np.arange(traffic.num_nodes, dtype=np.int32), many),
            "node_offered": np.concatenate([each.offered * traffic.rate for each in self.points]),
            "node_accepted": np.concatenate([each.accepted_by_node for each in self.points]),
        }
        if not topology.direct:
            found["name"] = [topology.name_of(host) for host in range(topology.num_hosts)] * many
        return found

    @table(Latency)
    def latencies(self) -> Columns:
        """Return one row per run that kept up and packet latency: how many packets had it."""
        kept_up = [each for each in self.points if each.stable]
        cycles = [np.flatnonzero(each.latency_counts) for each in kept_up]
        counts = [each.latency_counts[at] for each, at in zip(kept_up, cycles, strict=True)]
        none = [np.zeros(0, np.int64)]
        return _runs(kept_up, list(map(len, cycles))) | {
            "packet_latency": np.concatenate(cycles or none),
            "packets": np.concatenate(counts or none),
        }

    def parts(self) -> Parts:
        """Return latency and what gets through by load, or where the packets of one load go."""
        if self.several:
            idle = [e.zero_load_latency for e in self.points if e.packet_latency_mean is not None]
            return self.curves(self.saturation_intervals(), idle)
        from netloom.drawing.load_curves import accepted_by_node, latencies
        from netloom.drawing.networks.chart import USE

        point = self.points[0]
        if point.histogram is None:
            when = "Interrupted" if point.stable else "Overloaded"
            spread = accepted_by_node(self.nodes(), when)
        else:
            spread = latencies(point, point.histogram)
        drawn = self.network_drawn(self.channels(), "utilisation", USE)
        return {"channels": drawn, "latencies": spread}

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


def _too_short(point: Point) -> str:
    ran = counted(point.cycles, "cycle", ",")
    if point.interrupted:
        return f"Interrupted after {ran}: not known whether {number(point.offered)} is carried."
    seen = counted(point.packets, "packet", ",")
    return f"Too short to tell at {number(point.offered)}: {seen} in {ran}."


def _mean(point: Point) -> str:
    """Return a mean latency: about, where it is less precise than it was asked for."""
    return around(point.packet_latency_mean, None if point.is_sure else point.packet_latency_ci95)


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


def _as_fast(point: Point, first: Point) -> bool:
    """Whether a mean latency is that of the fastest, as far as their intervals tell."""
    apart = (point.packet_latency_mean or 0.0) - (first.packet_latency_mean or 0.0)
    sure = (point.packet_latency_ci95 or 0.0) + (first.packet_latency_ci95 or 0.0)
    return point is first or apart <= sure


def _runs(points: Sequence[Point], rows: int | list[int]) -> dict[str, Any]:
    """Return the columns of ``OfRun``: so many rows for each point."""
    return {
        "switching": np.repeat([each.switching for each in points], rows),
        "offered": np.repeat(np.array([each.offered for each in points], np.float64), rows),
    }


def prepare(question: OpenLoad) -> SimulatedNetwork:
    """Return the network that a question is about, checked by running one cycle at most load.

    Raises
    ------
    InputError
        If a field cannot be used, or no technique can.
    DeadlockError
        If the routing can deadlock on so many VCs.
    """
    load = max(question.loads, default=None)
    topology, on_machine = network_of(question)
    if topology.num_hosts > MOST_NODES:
        found = f"{counted(topology.num_hosts, 'node')}"
        raise InputError(topology.name, found, f"at most {MOST_NODES} to simulate flit by flit")
    name, base = asked_router(question, on_machine)
    topology = with_lanes(topology, base)
    lengths, arrivals = question.packet_flits, question.arrivals
    programs = None
    tasks = None  # those of a single program
    if (pattern := pattern_asked(question, topology)) is not None:
        traffic, inside = pattern
    elif (only := only_program(question.app, topology)) is None:
        shared = share_programs(question, topology, question.seed)
        sent, inside = entering(shared.graph, topology, shared.node_of, question.weight)
        shared = replace(shared, graph=sent)
        traffic, load_factor = shared_traffic(shared, weight=question.weight)
        alone = [shared.alone(number) for number in range(len(shared.names))]
        traffics = tuple(
            from_process_graph(one.graph, one.node_of, one.num_nodes, weight=question.weight)
            for one in alone
        )
        seeds = program_seeds(shared, question.seed)
        programs = network_runs.ProgramTraffic(shared, traffics, seeds, load_factor)
    else:
        graph = program_on(question, topology, only)
        node_of = placed(question, graph, topology)
        sent, inside = entering(graph, topology, node_of, question.weight)
        traffic = from_process_graph(sent, node_of, topology.num_hosts, weight=question.weight)
        if len(distinct(node_of)) == graph.num_tasks:
            alike = np.arange(graph.num_tasks)
            own = from_process_graph(sent, alike, graph.num_tasks, weight=question.weight)
            tasks = own, np.asarray(node_of, np.int32)
    loaded = network_runs.LoadedNetwork(
        topology=topology,
        traffic=traffic,
        lengths=parse_lengths(lengths) if isinstance(lengths, str | int) else lengths,
        arrivals=parse_arrivals(arrivals) if isinstance(arrivals, str) else arrivals,
        seed=question.seed,
        programs=programs,
        tasks=tasks,
        specialize=None if question.specialize == "auto" else question.specialize == "yes",
    )
    if load is not None:  # a load that these packets cannot make is no technique's fault
        load = loaded.mean_load(load)
        loaded.check_load(load)
    techniques = network_runs.techniques_of(question.switching, base)
    base, remarks = network_runs.comparable(base, techniques, loaded.lengths)
    routing = on_machine.routing(question.routing) if on_machine else question.routing
    settings, refused = network_runs.possible_settings(loaded, base, routing, techniques, load)
    cost = None
    if topology.broken:
        first = settings[0]
        cost = network_runs.failure_cost(
            topology, first.routing, traffic, first.router, first.bound
        )
        remarks = (*remarks, cost.remark)
    return SimulatedNetwork(
        **vars(loaded) | {"settings": settings},
        machine=on_machine,
        router_name=name,
        refused=refused,
        remarks=remarks,
        cost=cost,
        inside_nodes=inside,
    )


OFFERED, ACCEPTED = f"offered traffic, {FLITS}", f"accepted traffic, {FLITS}"
BY_LOAD = Axes(OFFERED, "packet latency", CYCLES, ACCEPTED)


def one_point(found: LoadAnswer, point: Point) -> Recorded:
    """Return what an answer says of one run, as the answer of a simulation of that alone."""
    import polars as pl

    only = (pl.col("offered") == point.offered) & (pl.col("switching") == point.switching)
    bounds = {point.switching: found.setup.throughput_bounds[point.switching]}
    kept = {name: rows.filter(only) for name, rows in (found.kept or {}).items()}
    one = Simulation(
        setup=replace(found.setup, throughput_bounds=bounds, refused={}),
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
    found: Any = record.answer
    if not found.several:
        return record
    here = (each for each in found.points if (each.offered, each.switching) == (load, technique))
    return one_point(found, next(here))


FIGURES = ("offered", "packet_latency_mean", "zero_load_latency", "packet_latency_ci95", "accepted")
CURVE = CurveKind(BY_LOAD, *FIGURES, "stable", besides=("load", "alone"), detail=detail)


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
    loads = tuple(network.mean_load(load) for load in question.loads)
    if advice := network_runs.advice_of(network.settings, loads):
        warnings.warn(advice, stacklevel=3)
    runs: list[tuple[network_runs.Setting, Point]] = []
    for setting in network.settings:
        make_run = partial(network.make_run, setting)
        with counting_runs(len(loads), f"{network.name}, {setting.router.switching}") as tell:
            found = network_runs.run_loads(make_run, loads, question.limits(), tell=tell)
        runs += [(setting, run) for run in found]
        if not found or found[-1].interrupted:
            break
    if not runs:
        raise KeyboardInterrupt  # stopped before anything was known
    alone: Sequence[tuple[Point | None, ...]] = [()] * len(runs)
    many = len(network.programs.traffics) if network.programs else 0
    known = not any(run.interrupted for _, run in runs)
    if question.alone and many > 1 and known:
        with counting(len(runs) * many, f"{network.name}: each program alone") as tell:
            alone = network_runs.run_programs_alone(network, runs, question.limits(), tell=tell)
    return _answer(question, network, runs, alone)


def _answer(
    question: SimulateQuestion,
    network: SimulatedNetwork,
    runs: Sequence[tuple[network_runs.Setting, Point]],
    alone: Sequence[tuple[Point | None, ...]],
) -> Simulation:
    loads = tuple(network.mean_load(load) for load in question.loads)
    points = tuple(
        network_runs.with_programs(network, run, beside)
        for (_, run), beside in zip(runs, alone, strict=True)
    )
    interrupted = any(each.interrupted or None in each.alone for each in points)
    if len(points) == 1:
        points = (replace(points[0], interrupted=interrupted),)
    return Simulation(
        setup=UnderLoad.of(network),
        loads=question.loads,
        advice=network_runs.advice_of(network.settings, loads),
        interrupted=interrupted,
        points=points,
        network=network,
        provenance=provenance_of(question, "simulate", network.topology),
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
    if other.kept is not None:
        raise InputError("other", "a simulation that was read", "one that was run just now")
    given = dict(zip(positional_fields(SimulateQuestion), values, strict=False)) | fields
    question = ask(SimulateQuestion, given | {"load": list(other.loads)})
    network = prepare(question)
    setting_of = {setting.router.switching: setting for setting in network.settings}
    pairs = [
        (setting_of[point.switching], point)
        for point in other.points
        if point.switching in setting_of
    ]
    made = [(partial(network.make_run, setting, run.offered), run) for setting, run in pairs]
    with patience(network.name):
        found = network_runs.run_beside(made, question.limits())
    runs = [(setting, run) for (setting, _), run in zip(pairs, found, strict=False)]
    return _answer(question, network, runs, [()] * len(runs))  # fewer runs after Ctrl-C
