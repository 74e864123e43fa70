"""Find where a mapped program contends and what limits it, without simulating."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import model_validator

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.figures import FLITS, SHARE, derived, figure, unseen
from netloom.base.progress import patience
from netloom.base.units import seconds, size
from netloom.base.words import counted, folded, load_share, number, percent, rounded, shares
from netloom.bounds import Taper, bounds_of, tapers
from netloom.bounds.cuts import CLOSE, Bounds
from netloom.contention import (
    Verdict as Standing,
    busiest,
    offered_by_program,
    offered_by_run,
    slowdown,
    verdict as standing_of,
)
from netloom.contention.mapped import (
    ContentionCount,
    MappedChannel,
    MappedFigures,
    MappedNode,
    MappedProgram,
    MeanMessage,
    Slowdown,
    Spread,
    carried,
    channels_of,
    contention_counts,
    counted_contention,
    measured_program,
    nodes_of,
    pairs_by_channel,
    paths_of,
    weights_of,
)
from netloom.machines import Machine, machine_names
from netloom.mapping import gains
from netloom.mapping.allocation import place_program
from netloom.questions import fields, named
from netloom.questions.answers import Answer, Columns, Measure, Parts, Verdict, table
from netloom.questions.base import MOST, option
from netloom.questions.outputs import PLOT, SAVE_MAPPING, rank_file_output
from netloom.questions.register import asks
from netloom.questions.terminal import arrow, subject, table as terminal_table
from netloom.routing import Paths, Routing, find_deadlock, routes_by
from netloom.topology import Topology
from netloom.workload import ProcessGraph

if TYPE_CHECKING:
    import polars as pl

    from netloom.drawing.networks.traffic import Delays

LOAD = "Offered load (said at most one way)"

_LOAD = partial(option, default=None, gt=0, le=MOST, panel=LOAD)


class AnalyzeQuestion(
    fields.HostNames,
    fields.Seeded,
    fields.EdgeWeight,
    fields.Placed,
    fields.ProgramFile,
    fields.BrokenParts,
    fields.ProgramOnNetwork,
):
    """Where a mapped program contends, and what limits it."""

    routing: fields.OnePathOrFunction = fields.routing_option(
        "Routing: default, dimension-order[:0,1], xy, shortest-path, spread, "
        "ecmp[:SEED], layered, up-down, minimal, valiant or "
        "routes:FILE. On trees: d-mod-k, s-mod-k, nca. On dragonflies: "
        "minimal-group, valiant-group. In Python: functions. All: netloom routings."
    )
    random_mappings: int | None = option(
        "Random mappings to compare with; none with given routes.",
        default=None,
        ge=0,
        le=100_000,
        shown_default="25, fewer if large",
    )
    offered: float | None = _LOAD("Offered load per sending node, a fraction of a channel.")
    run_seconds: float | None = _LOAD(
        "Time of the recorded run on a machine without contention.", unit="seconds"
    )
    instructions_per_message: float | None = _LOAD(
        "Instructions per task between two messages (on a machine)."
    )
    mips: float | None = _LOAD(
        "Speed of a task, with instructions_per_message.", unit="million instructions per second"
    )

    @model_validator(mode="after")
    def _one_way_to_say_the_load(self) -> AnalyzeQuestion:
        ways = (self.offered, self.run_seconds, self.instructions_per_message)
        if sum(way is not None for way in ways) > 1:
            wanted = "one of offered, run_seconds and instructions_per_message"
            raise InputError("offered", "several ways to say the load", wanted)
        if (self.instructions_per_message is None) != (self.mips is None):
            raise InputError("mips", "one without the other", "instructions_per_message and mips")
        return self


UNEVEN = (
    "estimates of saturation and slow-down, which are for channels of one bandwidth; the upper "
    "bound holds for any"
)
UNCOUNTED = (
    "path contention and estimates, which are of single paths: loads of channels and bounds are "
    "exact expectations over the several paths of each pair"
)
TOO_MANY = (
    "path contention and estimates: too many paths meet to compare them one by one; loads of "
    "channels and bounds are exact"
)
"""Why figures may be left out."""

LONG = 1.1
"""Times those of random mappings that paths are long."""

SAID = 2
"""Causes that are said, the first that apply."""

FEW = 3
"""Nodes that are named of many."""

PERCENT_MEANT = 2
"""A load from which on a share was probably given in per cent."""


class Analysis(Answer):
    """What a mapped program makes of a network.

    Attributes
    ----------
    own
        The figures by which this mapping is compared with others.
    offered
        Traffic of the average sending node, or None where it was not told.
    standing
        How the load stands to the limits, and which nodes are delayed.
    deadlock_cycle
        Channels that could wait for each other in a circle without virtual channels. Empty if
        there is no such circle, or it was not looked for (then ``deadlock_free`` is None).
    network, graph, node_of, mapped
        What was asked about, where tasks run, and what was measured.
    routed
        The paths of the mapping. None if they are too many to be looked through.
    random
        The random mappings compared with.
    random_path_contention
        int64[ν_max + 1]: how many paths of all random mappings together have each ν.
    slowdowns
        The estimated slow-down of each path. None if the load is not known, or nothing says.
    """

    app: str
    topology: str
    tasks: int
    num_nodes: int = figure("nodes", at="nodes", table=False)
    hosts: int
    routers: int
    num_channels: int = figure("channels between routers", at="channels", table=False)
    num_paths: int = figure("paths", at="paths", table=False)
    local_edges: int = figure("edges without a channel", table=False)
    inside_nodes: float = figure("traffic inside nodes", SHARE, table=False)
    routing: str
    weight: str
    slowdown: Slowdown | None = figure(
        "slow-down by contention (estimate)", "times", flat="slowdown_", lead=True
    )
    bottleneck: busiest.Bottleneck = figure(flat="bottleneck_")
    busiest_channel: busiest.BusiestChannel
    busiest_router: busiest.BusiestRouter | None = figure(flat="busiest_router_", lead=True)
    bounds: Bounds = figure("what no routing can beat")
    oversubscription: tuple[Taper, ...] | None = figure("oversubscription, level by level")
    mean_message: MeanMessage | None
    standing: Standing = figure(at="verdict", flat="")
    random_mapping: gains.RandomMappings = figure("random mappings")
    deadlock_free: bool | None
    deadlock_cycle: tuple[str, ...]
    note: str | None
    left_out: str | None
    shifts: tuple[busiest.ShiftLoad, ...] | None = figure("one shift after the other")
    causes: busiest.Causes = figure(at=".")
    own: MappedFigures = figure(at=".")
    offered: float | None = figure(unit=FLITS)
    host_channel_load: Spread | None = figure(
        "paths on a host's channel", "paths", flat="host_channel_load_", lead=True
    )
    network: Topology = unseen()
    graph: ProcessGraph | None = unseen()
    node_of: Ints = unseen()
    mapped: MappedProgram = unseen()
    routed: Paths | None = unseen()
    random: tuple[gains.RandomMapping, ...] = unseen(default=())
    random_path_contention: Ints = unseen()
    slowdowns: Floats | None = unseen()

    @derived("what loads are counted in", table=False)
    def load_unit(self) -> str:
        """``paths`` if each path weighs 1, as in patterns."""
        channel, message = self.busiest_channel, self.mean_message
        plain = (message is None or message.bytes == 1) and channel.load == channel.paths
        return "paths" if plain or self.weight == "uniform" else self.weight

    @derived("carried at most if half-way traffic goes both ways", FLITS, table=False)
    def split_bound(self) -> float | None:
        """Half-way traffic takes the + direction here, that of simulated packets one of the two.

        So the limit of the routing is this one. None if no traffic goes half-way round a ring, or
        the busiest channel would carry as much.
        """
        half, most = self.causes.half_way, self.own.saturation.upper_bound
        load = self.busiest_channel.load
        if half is None or not most or half.split_load >= load:
            return None
        return most * load / half.split_load

    @property
    def of(self) -> str:
        """Program, network and mapping."""
        return subject(self.app, self.topology, self.asked["mapping"])

    @property
    def node(self) -> str:
        """What sends is called."""
        return "node" if self.busiest_router is None else "host"

    @property
    def alone(self) -> bool:
        """Whether no two paths meet, and nothing is too full."""
        return self.standing.level == "contention-free" and not self.standing.beyond_capacity

    # The verdict.

    def judged(self) -> Verdict:
        """Return whether a mapped program contends."""
        mark, sentence = self._answer()
        calm = mark == "fine"
        lines = {
            "where": "" if calm and self.alone else self.where(),
            "why": "" if calm else " · ".join([*self._causes()][:SAID]),
            "rank": self._rank(),
            "limits": self._limits(),
        }
        notes = ["* estimate."] * ("*" in lines["limits"])
        if (share := self.meant) is not None:
            fraction = f"{percent(share)} is --offered {share:g}"
            notes.append(f"Loads are fractions of a channel: {fraction}.")
        if self.offered is None and self.standing.level == "depends-on-load":
            decided = self.own.saturation.worst_node is not None
            asks_for = "for a yes or no" if decided else "to compare"
            notes.append(f"Give the load {asks_for}: --offered 0.2")
        following = "" if calm else self._next(mark)
        return Verdict(mark, sentence, lines, following, " ".join(notes))

    def _answer(self) -> tuple[str, str]:
        """Return the mark and the sentence."""
        standing, limits, offered = self.standing, self.own.saturation, self.offered
        first, most = limits.worst_node, limits.upper_bound or 0.0
        if standing.beyond_capacity:
            asked, full = shares(offered or 0.0, most)
            said = f"{asked} load is offered, at most {full} can be carried"
            if self.split_bound and (offered or 0.0) <= self.split_bound:
                said += " with half-way traffic in one direction"
            return "act", f"Overloaded: {said}."
        if standing.level == "contention-free":
            return self._contention_free(most)
        if first is None:
            if offered is None:
                carried = load_share(most)
                said = f"at most {carried} load, and where contention begins is unknown"
                return "unknown", f"Carries {said}."
            asked, carried = shares(offered, most)
            said = f"your load is {asked}, at most {carried} is possible"
            return "unknown", f"Can be carried: {said}. Delays are not estimated here."
        if standing.level == "good-enough":
            said = f" up to {load_share(most)} load, at which the busiest channel is full"
            if offered is not None:
                asked, begins = shares(offered, first)
                room = rounded(first / offered)
                said = f": your load is {asked}, trouble starts near {begins} ({room}× headroom)"
            elif self.busiest_router is None:
                begins = load_share(first)
                said = f": it would begin near {begins} load, above what a node sends"
            return "fine", f"No contention expected{said}."
        if offered is None:
            mark = "act" if self.bottleneck.ratio > 1 else "limited"
            return mark, f"Contends above {load_share(first)} load."
        asked, begins = shares(offered, first)
        delayed = number(len(standing.affected_nodes))
        many = f"{delayed} of {counted(standing.senders, self.node)}"
        mark = "act" if standing.level == "most-nodes" else "limited"
        return mark, f"Delays {many} at {asked} load: contention begins near {begins}."

    def _contention_free(self, most: float) -> tuple[str, str]:
        """Say that no two paths meet. Channels of hosts may still be full."""
        if self.busiest_router is None:
            return "fine", "Contention-free at any load: no two messages share a channel."
        if most >= 1:
            return "fine", "Contention-free: no two messages share a channel between routers."
        if self.offered is None:
            said = f"but a host's own channel is full at {load_share(most)} load"
            return "limited", f"Contention-free between routers, {said}."
        asked, full = shares(self.offered, most)
        said = f"your load is {asked}, and the busiest host's channel is full at {full}"
        return "fine", f"Contention-free between routers: {said}."

    def where(self) -> str:
        """Return which channels are busiest, what each carries, and how much that is."""
        channel = self.busiest_channel
        load, together = carried(self.load_unit, channel.load), channel.together
        named = (
            f"{together} carry {load} each" if together else f"{arrow(channel.name)} carries {load}"
        )
        if channel.bandwidth != 1:
            named += f" at bandwidth {number(channel.bandwidth)}"
        if not together and channel.kind != "network":
            named = named.replace(" carries", ", a host's own channel, carries")
        if self.bounds.ratio <= CLOSE:
            return f"{named}, as little as any routing allows"
        times = rounded(self.bounds.ratio, 2 if self.bounds.ratio >= 1.05 else 3)
        return f"{named}, {times}× the least that any routing allows"

    def _causes(self) -> Iterator[str]:
        """Yield causes, the strongest kind first. Of many busiest channels those of the first."""
        channel, random = self.busiest_channel, self.random_mapping.figures
        better = self.bounds.ratio > CLOSE
        yield from self.causes.said(channel, arrow(channel.name), self.load_unit, better=better)
        own, mean = self.own.dilation, random.dilation.mean if random.dilation else None
        if own is not None and mean and own >= LONG * mean:
            hops, times = map(rounded, (own, own / mean))
            many = f"{times}× as many as under random mappings"
            yield f"bytes travel {hops} hops on average, {many}"

    @property
    def _judged_by(self) -> tuple[float | None, gains.OfRandom | None]:
        """What the sentence is about: of this mapping, and of random ones."""
        limits, random = self.own.saturation, self.random_mapping.figures
        if limits.worst_node is not None:
            return limits.worst_node, random.saturation_worst_node
        return limits.upper_bound, random.saturation_upper_bound

    @property
    def _as_any(self) -> bool:
        """Whether all mappings that are known are as good as this one."""
        own, found = self._judged_by
        if not self.random_mapping.mappings:
            return bool(self.random_mapping.alike)
        return found is not None and found.min == found.max == own

    def _rank(self) -> str:
        """Say how many random mappings this one beats, by what the sentence is about."""
        many, (own, found) = self.random_mapping.mappings, self._judged_by
        several, mappings = many > 1, counted(many, "random mapping")
        if self._as_any:
            return f"the same as {'each of ' * several}{mappings if many else 'every mapping'}"
        if not many or found is None or own is None:
            return ""
        if not found.beaten and own < found.min:
            return f"worse than {'all ' * several}{mappings}"
        return f"better than {number(found.beaten)} of {mappings}"

    def _limits(self) -> str:
        """Return the loads at which the first node, most nodes and the network are full."""
        limits = self.own.saturation
        first, most, bound = limits.worst_node, limits.average_node, limits.upper_bound
        if first is None or most is None or bound is None or self.alone:
            return ""
        begins, average, end = shares(first, most, bound)
        said = [f"first {self.node} delayed at {begins}*"] if first < bound else []
        said += [f"most {self.node}s at {average}*"] if first < most < bound else []
        said.append(f"nothing beyond {end}")
        if self.split_bound is not None:
            said[-1] += f", {load_share(self.split_bound)} if half-way traffic splits"
        return " · ".join(said)

    def _next(self, mark: str) -> str:
        """Return the command that may help, or that finds out more."""
        app = self.asked["app"]
        named = {"app": self.app if isinstance(app, str) else app}  # with its size
        if self.meant is not None:
            return self.again(**named, offered=self.meant)
        own_routes = str(self.asked["routing"]).startswith("routes:")
        movable = self.busiest_channel.kind == "network" and not own_routes
        if movable and not self._as_any and mark != "unknown":
            return self.again("map", **named, rankfile="ranks.txt")
        if self.offered is None:
            return self.again("simulate.saturation", **named)
        return self.again("simulate.load", **named, load=self.offered)

    @property
    def meant(self) -> float | None:
        """The load as a fraction if it was probably given in per cent, and is too much."""
        percents = self.asked["offered"] is not None and self.standing.beyond_capacity
        offered = self.offered or 0.0
        return offered / 100 if percents and PERCENT_MEANT <= offered <= 100 else None

    def measure(self) -> Measure | None:
        """Return the load that the network carries at most, half-way traffic both ways."""
        most = self.split_bound or self.own.saturation.upper_bound
        if most is None:
            return None
        what = "load from the average node, at most"
        return Measure(most, load_share(most), "carries up to {} load", what, more=True)

    # The terminal.

    def figure_lines(self, width: int) -> list[str]:
        """Return the figures beside those of random mappings, and what they are."""
        random = self.random_mapping.figures
        of_paths = terminal_table(
            [*gains.spreads_beside(self.own, random, self.load_unit)], self, width
        )
        of_loads = terminal_table([*gains.limits_beside(self.own, random, self.node)], self, width)
        limits, many = self.own.saturation, self.random_mapping.mappings
        notes = ["Loads: % of a channel, offered by the average sender."]
        if limits.worst_node is not None:
            notes.append("* estimate (lemmas 3 and 4).")
        if limits.lemma_3 is not None and limits.lemma_3 > (limits.upper_bound or 0.0):
            notes.append(f"Lemma 3 alone would allow {load_share(limits.lemma_3)}.")
        if self.busiest_channel.kind != "network":
            notes.append("Channel load: only between routers.")
        if many:
            notes.append(f"Better than: of {counted(many, 'random mapping')}, by the maximum.")
        more = super().figure_lines(width)
        footnote = [*folded(" ".join(notes), width), *[""] * bool(more)]
        return [*of_paths, "", *of_loads, *footnote, *more]

    def remarks(self) -> Iterator[str]:
        """Yield what the verdict and the figures do not say."""
        neck, channel = self.bottleneck, self.busiest_channel
        what = f"{counted(self.tasks, 'task', ',')} and {counted(self.num_paths, 'path', ',')}"
        parts = [counted(self.hosts, self.node), counted(self.num_channels, "channel")]
        if self.busiest_router is not None:
            parts.insert(1, counted(self.routers, "router"))
        yield f"{what} on {', '.join(parts)}, {self.routing}."
        busy = ""
        if channel.name == neck.channel and neck.channel_busy_cycles is not None:
            busy = f", busy for {counted(number(neck.channel_busy_cycles), 'cycle')}"
            if neck.channel_busy_us is not None:
                busy += f", {seconds(neck.channel_busy_us * 1e-6)}"
        many = counted(number(channel.paths), "path")
        yield f"Busiest channel: {arrow(channel.name)}, {many}{busy}."
        yield self.bounds.said(self.load_unit)
        if affected := self.standing.affected:
            others = len(affected) - FEW
            more = f" and {number(others)} more" if others > 0 else ""
            what = "Delayed first" if self.offered is None else "Delayed"
            yield f"{what}: {', '.join(affected[:FEW])}{more}."
        counted_too = self.graph is not None and bool((self.graph.messages > 1).any())
        if counted_too and self.mean_message and self.mean_message.hops is not None:
            mean = self.mean_message
            took = f"{number(mean.cycles)} cycles"
            if mean.us is not None:
                took += f", {seconds(mean.us * 1e-6)}"
            over = f"{size(mean.bytes)} over {number(mean.hops)} hops"
            yield f"Mean message: {over}, {took} without contention."
        yield from self._of_random()
        if self.local_edges:
            where = "On one host" if self.asked["count_inside_nodes"] else "Inside nodes"
            yield f"{where}, without a channel: {counted(self.local_edges, 'edge')}."
        if self.shifts:
            yield f"The first table is of all {len(self.shifts)} shifts at once."
        if self.left_out:
            yield f"Left out: {self.left_out}."
        yield from filter(None, [self.note])
        if self.deadlock_cycle:
            first = arrow(self.deadlock_cycle[0])
            many = counted(len(self.deadlock_cycle), "channel")
            yield f"Needs virtual channels: without them {many} can deadlock, the first {first}."

    def _of_random(self) -> Iterator[str]:
        """Say how many random mappings there were time for, and what is known of all mappings."""
        random, of_all = self.random_mapping, self.random_mapping.expected
        if random.alike:
            said = "each task sends the same to every other, no place is left"
            yield f"All mappings are alike: {said}."
        elif random.limited_by_work:
            many = counted(random.mappings, "random mapping")
            yield f"{many}: more would have taken too long (--random-mappings N takes N)."
            if of_all is not None:
                about = "about " * (of_all.channel_load_max_by != "enumeration")
                said = f"Over all mappings, exactly: path length {number(of_all.path_length_mean)}"
                said += f", channel load {number(of_all.channel_load_mean)}, path contention "
                said += f"{number(of_all.path_contention_mean)} on average; largest channel load "
                yield f"{said}{about}{number(of_all.channel_load_max)}."

    # Tables.

    def paths(self) -> pl.DataFrame:
        """Return one row per path: tasks, nodes, weights, contention, and slow-down if known."""
        import polars as pl

        return pl.DataFrame(paths_of(self.mapped, self.node_of, self.slowdowns), nan_to_null=True)

    @table(MappedChannel)
    def channels(self) -> Columns:
        """Return one row per channel: its two vertices and its load. Those of hosts come last."""
        pairs = pairs_by_channel(self.mapped, self.routed)
        return channels_of(self.network, self.mapped.contention, pairs)

    @table(MappedNode)
    def nodes(self) -> Columns:
        """Return one row per node: what it sends, and its saturation (estimate and bound)."""
        return nodes_of(self.mapped, self.node_of)

    @table(gains.RandomMapping)
    def random_table(self) -> Sequence[gains.RandomMapping]:
        """Return one row per random mapping, with the same figures as the mapping's own."""
        return self.random

    @table(ContentionCount)
    def path_contention(self) -> Columns:
        """Return how many paths meet how many others: of this mapping, and of all random ones.

        One row per mapping (``own`` or ``random``) and path contention level that occurs.
        """
        own = counted_contention(self.mapped)
        return contention_counts({"own": own, "random": self.random_path_contention})

    # The picture.

    def footer(self) -> list[str]:
        """Return what was analyzed."""
        name = subject(self.app, self.topology, named.mapping_name(self.asked["mapping"]))
        estimated = self.own.saturation.worst_node is not None
        return [f"{name}; {self.routing}" + "; * estimate" * estimated]

    def arranged(self) -> list[Any]:
        """Return the network by channel load beside the bar of loads and the random mappings."""
        from netloom.drawing.frame import column

        drawn = self.parts()
        channels = drawn.pop("channels")
        beside = [drawn[name] for name in ("loads", "saturation") if name in drawn]
        beside = beside or list(drawn.values())
        return [channels, column(*beside)] if beside else [channels]

    def parts(self) -> Parts:
        """Return the network by load, what loads do to nodes, and random mappings beside."""
        from netloom.drawing.loads import LoadLimits, met_by_paths
        from netloom.drawing.networks.chart import LOAD, ON

        title, delays = self.load_unit + ON, self.delays_from
        loads = LoadLimits(
            limits=self.own.saturation,
            split=self.split_bound,
            offered=self.offered,
            random=self.random_table(),
        )
        parts = {
            "channels": self.network_drawn(self.channels(), LOAD, title, delays=delays),
            "loads": loads.bar(),
            "saturation": loads.among_random(),
            "path contention": met_by_paths(self.path_contention()),
        }
        return {name: drawn for name, drawn in parts.items() if drawn is not None}

    def channel_loads(self) -> tuple[str, Floats]:
        """Return what channels carry, over bandwidth where that differs, and in which unit."""
        from netloom.drawing.networks.chart import times_of

        return self.load_unit, times_of(self.channels())

    @property
    def delays_from(self) -> Delays | None:
        """When the busiest channel delays, when it is full, and the load that both are of.

        The first two are parts of its time at the load that is offered: without one, at the highest
        that can be offered and carried. What never contends delays nowhere before a channel is
        full, nor is anything else said where contention begins is unknown. None if the limit is
        unknown.
        """
        from netloom.drawing.networks.traffic import Delays

        begins, full = self.own.saturation.worst_node, self.own.saturation.upper_bound
        if not full:
            return None
        if self.standing.level == "contention-free" or begins is None:
            begins = full
        at = self.offered or min(1.0, full)
        return Delays(begins / at, full / at, f"{load_share(at)} load")


@dataclass(frozen=True, eq=False)
class MappedNetwork:
    """What a question names, read and built once: hand it on rather than name it again.

    Attributes
    ----------
    node_of
        int32[num_tasks], where each task runs.
    """

    graph: ProcessGraph
    network: Topology
    machine: Machine | None
    routing: Routing
    node_of: Ints

    def measured(self, weight: str) -> MappedProgram:
        """Measure the paths of the mapping. Those inside nodes have no channels."""
        weights = weights_of(self.graph, weight)
        return measured_program(self.graph, self.network, self.routing, self.node_of, weights)


def prepare(question: AnalyzeQuestion) -> MappedNetwork:
    """Read the program, build the network and its routing, and place the tasks."""
    network, on_machine = named.network_of(question)
    graph = named.program_on(question, network)
    asked = question.routing
    routing = routes_by(network, asked) if callable(asked) else named.routing_of(asked, network)
    node_of = named.placed(question, graph, network)
    return MappedNetwork(graph, network, on_machine, routing, node_of)


@asks(
    AnalyzeQuestion,
    prepare=prepare,
    title="Contention analysis",
    example="netloom analyze examples/lammps-64.mtx --on torus:8x8 --plot hot.png",
    page="will-it-contend.md",
    outputs=(PLOT, SAVE_MAPPING, rank_file_output()),
)
def analyze(question: AnalyzeQuestion, ready: MappedNetwork) -> Analysis:
    """Find where a mapped program contends and what limits it, without simulating.

    Patterns named without a size are of all hosts, or of all that --nodes allows: all-to-all,
    ring, shift:1,5,17 or random-permutation. Several shifts are analyzed as one program in which
    each task sends to several. "shifts" in JSON has each of them on its own. If hosts hang on
    routers, channel loads are of channels between routers, those of hosts' channels apart, and the
    busiest channel is the one of all that works longest.

    Examples
    --------
    >>> from netloom import analyze
    >>> found = analyze("hypercube:10", "mesh:32x32", random_mappings=0)
    >>> found.own.channel_load.max
    21
    """
    graph, network, routing, on = ready.graph, ready.network, ready.routing, ready.machine
    with patience(f"Counting the contention of {counted(graph.num_edges, 'path', ',')}"):
        mapped = ready.measured(question.weight)
    loads, limit, own = mapped.contention, mapped.limit, mapped.figures()
    offered = _offered(question, mapped, on)
    standing = standing_of(limit, offered, paths_meet=mapped.paths_meet, hosted=not network.direct)
    names = tuple(network.name_of(node) for node in standing.affected_nodes)
    slowdowns = None
    if offered is not None and mapped.by_path is not None and limit.estimated:
        slowdowns = slowdown(mapped.by_path, limit, offered)
    many, places = question.random_mappings, named.num_places(question, network)
    alike = gains.all_alike(mapped, ready.node_of, places, question.tasks_per_node)

    def place(seed: int) -> Ints:
        return place_program("random", graph, network, **named.placing(question) | {"seed": seed})

    asked = 0 if alike and many is None else many
    random, met = gains.measured_at_random(mapped, routing, place, question.seed, asked)
    routed = busiest.followed(mapped, routing)
    causes = busiest.causes_of(mapped, routing, routed)
    mean = MeanMessage.of(mapped, on.flit_bytes if on else 1)
    if mean is not None and mean.hops is not None and on is not None and on.message_costs:
        mean = replace(mean, us=float(on.message_time_us(mean.bytes, mean.hops)))
    cycle = None
    with suppress(InputError):  # too large to search, which is no reason to say nothing else
        cycle = find_deadlock(network, routing)
    note = None
    if causes.half_way is not None:
        paths = causes.half_way.paths
        go = f"{counted(paths, 'path', ',')} {'goes' if paths == 1 else 'go'} half-way round a ring"
        note = f"{go}. All take the + direction here, simulated packets take either."
    left_out = None if limit.estimated else UNEVEN
    if mapped.by_path is None:
        left_out = UNCOUNTED if routing.several else TOO_MANY
    whole, in_bytes = question.nodes is None, question.weight == "bytes"
    return Analysis(
        app=graph.name,
        topology=network.name,
        tasks=graph.num_tasks,
        num_nodes=network.num_nodes,
        hosts=network.num_hosts,
        routers=network.num_routers,
        num_channels=network.num_network_channels,
        num_paths=int(mapped.moving.sum()),
        local_edges=int((~mapped.moving).sum()),
        inside_nodes=mapped.inside_nodes,
        routing=str(routing),
        weight=question.weight,
        own=own,
        host_channel_load=Spread.of(loads.host_channel_load) if loads.hosted else None,
        bottleneck=busiest.Bottleneck.of(
            mapped, (on.flit_bytes if on else 1) if in_bytes else None, on.cycle_us if on else None
        ),
        offered=offered,
        slowdown=None if slowdowns is None else Slowdown.of(slowdowns, mapped.weights),
        standing=replace(standing, affected=names),
        busiest_channel=busiest.BusiestChannel.of(network, loads),
        busiest_router=busiest.BusiestRouter.of(network, loads),
        bounds=bounds_of(
            network, mapped.source, mapped.target, mapped.weights, float(loads.channel_time.max())
        ),
        oversubscription=None if network.direct else tuple(tapers(network)),
        mean_message=mean,
        random_mapping=gains.RandomMappings(
            mappings=len(random),
            limited_by_work=asked is None and 0 < len(random) < gains.MOST_RANDOM,
            alike=alike or None,
            figures=gains.over_random(own, random),
            table_3_1=gains.estimated(mapped, routing) if whole else None,
            expected=gains.expected(mapped, routing)
            if whole and question.tasks_per_node == 1
            else None,
        ),
        deadlock_free=None if cycle is None else not cycle,
        deadlock_cycle=tuple(network.channel_name(channel) for channel in cycle or ()),
        note=note,
        left_out=left_out,
        shifts=busiest.shift_by_shift(mapped, routing),
        causes=causes,
        network=network,
        graph=graph,
        node_of=ready.node_of,
        mapped=mapped,
        routed=routed,
        random=random,
        random_path_contention=met,
        slowdowns=slowdowns,
        provenance=named.provenance_of(question, "analyze", network),
    )


def _offered(question: AnalyzeQuestion, mapped: MappedProgram, on: Machine | None) -> float | None:
    """Offered traffic, from whichever way it was told."""
    if question.run_seconds is None and question.instructions_per_message is None:
        return question.offered
    if on is None:
        raise InputError("on", "no machine", f"one of {', '.join(machine_names())} for this load")
    graph, moving = mapped.graph, mapped.moving
    sent = np.bincount(mapped.source[moving], graph.bytes[moving])
    if question.run_seconds is not None:
        mean_sent = float(sent.sum() / np.count_nonzero(sent))
        return offered_by_run(mean_sent, question.run_seconds * 1e6, on.bandwidth_bytes_per_us)
    assert question.instructions_per_message is not None
    assert question.mips is not None
    message_bytes = float(sent.sum() / graph.messages[moving].sum())
    return offered_by_program(
        message_bytes,
        question.instructions_per_message / question.mips,
        float(on.message_time_us(message_bytes)),
        on.bandwidth_bytes_per_us,
    )
