"""Find the mapping under which a program contends least, and report what it gains."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from netloom.base.arrays import Floats, Ints, distinct
from netloom.base.errors import InputError
from netloom.base.figures import SHARE, Figures, Number, derived, figure, frame, unseen
from netloom.base.progress import patience
from netloom.base.units import seconds as in_seconds, size
from netloom.base.words import counted, folded, load_share, number, percent, shares
from netloom.contention import load_to_compare
from netloom.contention.channel_loads import ChannelLoads
from netloom.contention.mapped import (
    ContentionCount,
    MappedChannel,
    carried,
    channels_of,
    contention_counts,
    counted_contention,
    weights_of,
)
from netloom.mapping import (
    FORMATS,
    FoundMapping,
    Layout,
    check_rank_file,
    find_layout,
    rank_file,
    search_mapping as search,
)
from netloom.mapping.allocation import places_of
from netloom.mapping.gains import (
    CLOSE,
    LATENCY,
    WORTH,
    ComparedMapping,
    Gain,
    Objective,
    PairedRuns,
    SimulatedRun,
    clearly_less,
    gain_of,
    paired,
    relative_change,
)
from netloom.mapping.placements import check_room, ranks_on_computers
from netloom.mapping.search.generations import judged_layout
from netloom.mapping.search.objectives import Measure as ObjectiveMeasure, objective_of
from netloom.mapping.search.starts import random_starts
from netloom.questions import fields, named, terminal
from netloom.questions.analyze import Analysis, MappedNetwork
from netloom.questions.answers import Answer, Columns, Mark, Measure, Parts, Verdict, table
from netloom.questions.base import MOST, ask, option
from netloom.questions.outputs import PLOT, SAVE_MAPPING, Output, check_in_folder, rank_file_output
from netloom.questions.register import asks, kind_of
from netloom.questions.terminal import IN_ORDER, short_name, size_of, subject
from netloom.routing import SourceRoutes, write_routes
from netloom.routing.rules import layers
from netloom.topology import Topology
from netloom.topology.faults import check_working
from netloom.topology.names import vertex_word
from netloom.workload import ProcessGraph

if TYPE_CHECKING:
    from netloom.questions.simulate.load import Simulation

LITTLE = 0.2
"""A change from which on a gain is not small."""

WORSE = 0.01
"""A change from which on another figure is worse."""

LONGER = 6
"""Times as long a search that may still find something is worth."""

CLEARLY = 1.005
"""Times the busiest channel's load that counts as more, in a picture."""

PAIRS = 5
"""Runs of both mappings that are simulated, each pair with a seed of its own."""

ROUNDS_IN_FILES = 8
"""Rounds of a search in an experiment file that does not say how many."""

UNTIMED = "rounds instead: what is found must not depend on how fast the machine is"

SAME = ("app", "on", "messages", "parts", "failed_channels", "failed_nodes", "routing", "weight",
        "tasks_per_node", "seed", "count_inside_nodes")  # fmt: skip
"""What ``analyze`` and ``simulate`` are asked as well."""

NAMES = {
    "identity": "rank order",
    "random": "random, mean",
    "random_best": "random, best",
    "result": "found",
}
"""What people call the mappings compared."""

WHEN = {"before": "Before (rank order)", "after": "After"}
"""Titles of networks."""

OF_OBJECTIVE = {
    "hop-bytes": "hop_bytes",
    "max-channel-load": "weighted_channel_load_max",
    "path-contention": "path_contention_max",
    "saturation": "saturation_worst_node",
}
"""The figure that an objective is."""

COSTS = {
    "hop_bytes": "hop-bytes",
    "channel_load_max": "most paths on a channel{between}",
    "weighted_channel_load_max": "most {weight} on a channel{between}",
    "path_contention_mean": "paths met on average",
    "path_contention_max": "most paths met",
    "saturation_worst_node": "first node delayed at load",
    "saturation_upper_bound": "most load carried",
}
"""Figures that may get worse, in sentences."""

CHANGES = {
    "hop_bytes": "hop-bytes",
    "weighted_channel_load_max": "most load{where}",
    "channel_load_max": "most paths{where}",
    "path_contention_mean": "paths met (ν), mean",
    "path_contention_max": "paths met (ν), most",
    "saturation_worst_node": "delays from (more is better)",
    "saturation_upper_bound": "most carried (more is better)",
}
"""Figures that a picture compares, beside the objective."""

SEARCH = "What is looked for, and how long"
CHECK = "Simulation of before and after"


class MappingQuestion(
    fields.Seeded,
    fields.BrokenParts,
    fields.HostNames,
    fields.PathRouting,
    fields.EdgeWeight,
    fields.Allocated,
    fields.ProgramFile,
    fields.ProgramOnNetwork,
    panel=SEARCH,
):
    """The best place of each task of a program: its communication contends least there."""

    objective: str = option(
        "Objective to minimize: max-channel-load, hop-bytes, path-contention, "
        "saturation, or a mixture such as hop-bytes:1,max-channel-load:2.",
        default="max-channel-load",
    )
    layout: str | None = option(
        "Layout instead of a search: tiles, gray, fold, hilbert ...", default=None
    )
    seconds: float = option(
        "Processor time of the search, all threads together.",
        default=10.0,
        unit="seconds",
        gt=0,
        le=MOST,
    )
    rounds: int | None = option(
        "Rounds of annealing, instead of a time (repeatable).", default=None, ge=0, le=MOST
    )
    simulate: bool = option(
        "Judge by paired simulations before and after, at one load.", default=False, panel=CHECK
    )
    load: float | None = option(
        "Offered load per node, as a fraction of a channel.",
        default=None,
        gt=0,
        le=1,
        panel=CHECK,
        shown_default="what the busiest channel can just carry afterwards",
    )


class Between(Figures):
    """Bytes between nodes in rank order, and with the mapping as files have it: never more."""

    before: float = figure(unit="bytes")
    after: float = figure(unit="bytes")


class Promise(Figures):
    """What a layout promises of its largest channel load, and what was measured."""

    name: str
    promised_channel_load: int | None
    measured_channel_load: int
    source: str


class Simulated(Figures):
    """The program simulated under identity and under the mapping that was found.

    Attributes
    ----------
    load
        Offered traffic of the average sending node, flits/node/cycle. None where nothing ran.
    before, after
        What came of it, with the seed of the question. None where it was not run to its end.
    compared
        All pairs of runs. None where there are none.
    note
        Why it was not run to its end.
    runs
        The runs of ``before`` and ``after``.
    """

    load: float | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    compared: PairedRuns | None
    note: str | None
    runs: dict[str, Simulation] = unseen(default=None)


class Channel(Figures):
    """A channel under rank order (``before``) or under the mapping (``after``)."""

    mapping: str
    channel: MappedChannel = figure(at=".")


class Row(Figures):
    """A mapping compared, as a terminal shows it. ``objective`` where no other figure is that."""

    of: ComparedMapping = figure(at=".")
    objective: Number | None = figure("objective", lead=True)


class ProgramMapping(Answer):
    """A mapping of a program onto a network, and what it gains.

    Attributes
    ----------
    before, after
        What ``analyze`` says of identity and of the mapping. None where nothing is left that
        crosses the network.
    starts
        Each mapping that it is compared with, identity first and the result last. ``random`` is
        the mean of 25.
    unchanged
        Whether ranks stay in order: nothing better was found, by the objective or its ties.
    virtual_channels
        How many a channel needs, for the mapping's own routes to be free of deadlock. Paths are
        put into layers of them. None where it has no routes of its own.
    graph, network, nodes, found, routes
        The program and the network, the hosts that may be used, the mapping and how it was found,
        and routes that belong to it: None where packets take those of ``routing``.
    """

    ROWS: ClassVar[type[Figures]] = ComparedMapping

    app: str
    topology: str
    tasks: int
    num_nodes: int = figure("nodes", at="nodes")
    allocated_nodes: int
    routing: str
    weight: str
    inside_nodes: float = figure("traffic inside nodes", SHARE)
    between_nodes: Between
    objective: Objective
    before: Analysis | None
    after: Analysis | None
    starts: tuple[ComparedMapping, ...]
    layout: Promise | None
    unchanged: bool
    own_routes: bool
    virtual_channels: int | None
    simulated: Simulated | None
    gain: Gain = figure(at="verdict")
    found_by: str
    rounds: int
    seconds: float = figure(unit="seconds")
    interrupted: bool
    seed: int
    host_of: tuple[int, ...] = figure("node of each task", at="mapping")

    graph: ProcessGraph = unseen()
    network: Topology = unseen()
    nodes: Ints = unseen()
    found: FoundMapping | None = unseen()
    routes: SourceRoutes | None = unseen()

    @derived("what loads are counted in", table=False)
    def load_unit(self) -> str:
        """``paths`` if each path weighs 1, as in patterns."""
        if self.before is not None:
            return self.before.load_unit
        return "paths" if self.weight == "uniform" else self.weight

    @derived("how many fewer paths are met on average", SHARE, table=False)
    def fewer_met(self) -> float | None:
        """As a share of those in rank order."""
        first, last = (each and each.own.path_contention for each in (self.before, self.after))
        return relative_change(first.mean, last.mean) if first and last else None

    @derived("how much smaller hop-bytes are", SHARE, table=False)
    def fewer_hop_bytes(self) -> float | None:
        """As a share of those in rank order."""
        first, last = (each.own.hop_bytes if each else None for each in (self.before, self.after))
        return None if first is None or last is None else relative_change(first, last)

    @property
    def rows(self) -> Sequence[Figures]:
        """Every mapping that is compared."""
        return self.starts

    @cached_property
    def mapping(self) -> Ints:
        """The node of each task: what other questions take as ``mapping``."""
        return np.array(self.host_of, np.int32) if self.found is None else self.found.node_of

    @property
    def node_of(self) -> Ints:
        """The node of each task, as analyses call it."""
        return self.mapping

    @property
    def value(self) -> float:
        """Of the objective: the smaller, the better."""
        return self.objective.after

    @property
    def bound(self) -> float:
        """No mapping is below. 0 if nothing better is known."""
        return self.objective.bound

    @property
    def gains(self) -> bool:
        """Whether the mapping is better than rank order. See ``Gain``."""
        return self.gain.gains

    @property
    def as_asked(self) -> bool:
        """Whether files hold the mapping even if it gains nothing: a layout."""
        return self.layout is not None

    @property
    def applied(self) -> Ints:
        """The node of each task as files have it: rank order if the verdict keeps that.

        A layout that was asked for is written as it is.
        """
        assert self.found is not None
        kept = not (self.as_asked or self.gains)
        return self.found.mappings["identity"] if kept else self.mapping

    @property
    def of(self) -> str:
        """The program and the network."""
        return subject(self.app, self.topology)

    def measure(self) -> Measure | None:
        """Return what the busiest channel carries with the mapping, if that was the objective."""
        objective = self.objective
        if objective.name != "max-channel-load" or objective.timed or self.after is None:
            return None
        most = min(objective.before, objective.after)
        where = f"busiest channel{self.between} with the mapping found"
        return Measure(
            most, carried(self.load_unit, most), f"has {{}} on its {where}", f"on the {where}"
        )

    @property
    def between(self) -> str:
        """What says that hosts' own channels are not meant, if they have such."""
        hosted = self.before is not None and self.before.busiest_router is not None
        return " between routers" * hosted

    @property
    def _gain(self) -> str:
        """How much better the objective is than in rank order."""
        return self.objective.gain_said(self.load_unit, self.between, self.fewer_met)

    # The verdict.

    def judged(self) -> Verdict:
        """Return whether a mapping should be applied, by the figures of its search."""
        compared = self.simulated.compared if self.simulated else None
        mark = "fine"
        if compared:
            sentence = self._simulated(compared)
        elif self.gains:
            mark, sentence = self._found()
        else:
            sentence = self._kept()
        lines = dict(self._lines(counted_too=compared is not None))
        notes = ["* estimate."] * ("*" in lines.get("limits", ""))
        if self.simulated and compared:
            half = number(compared.half_width) + " cycles"
            if compared.quantity != LATENCY:
                half = number(100 * compared.half_width) + " points"
            runs = f"{counted(compared.pairs, 'pair')} of runs"
            notes.append(f"Simulated at {percent(self.simulated.load)} load in {runs}.")
            notes.append(f"The difference is known to ±\u00a0{half}.")
        return Verdict(mark, sentence, lines, self._next(), " ".join(notes))

    def _simulated(self, compared: PairedRuns) -> str:
        """Return the sentence by what was simulated."""
        first, last, kept = compared.before, compared.after, f"Keep {IN_ORDER}: simulated,"
        if compared.quantity == LATENCY:
            said = f"{kept} the mapping makes no measurable difference"
            if self.gains:
                less = percent(compared.changed, 2)
                said = f"Found: simulated, packets take {less} less time than in {IN_ORDER}"
            elif compared.kind == "worse":
                said = f"{kept} packets take {percent(compared.changed, 2)} longer with the mapping"
            return f"{said} ({number(first)} → {number(last)} cycles)."
        before, after = shares(first, last)
        if self.gains:
            gets = f"the worst node gets {after} of its traffic accepted"
            return f"Found: simulated, {gets}, {before} in {IN_ORDER}."
        if compared.kind == "worse":
            gets = f"the worst node gets only {after} of its traffic accepted with the mapping"
            return f"{kept} {gets}, not {before}."
        return f"{kept} the mapping makes no measurable difference to the worst node ({after})."

    def _found(self) -> tuple[Mark, str]:
        """Return the mark and the sentence of a mapping that gains something."""
        objective = self.objective
        first, last = objective.before, objective.after
        optimal = "Found, and proved optimal:"
        if self.after is None:
            return "fine", f"{optimal} 0 B cross the network, all traffic is inside nodes."
        if last >= first * (1 - WORTH):
            rank, result = self._ends
            met = counted(result.path_contention_max or 0, "path")
            but = (
                f"the path that meets most others meets {met}, not {rank.path_contention_max or 0}"
            )
            if clearly_less(rank.hop_bytes, result.hop_bytes):
                hops = f"({number(rank.hop_bytes)} → {number(result.hop_bytes)})"
                but = f"hop-bytes are {percent(self.fewer_hop_bytes, 2)} less {hops}"
            said = f"{objective.noun(self.between)} is as in {IN_ORDER}, but {but}"
            return "limited", f"Small gain: {said}."
        if self.gain.kind == "bound":
            return "fine", f"{optimal} {self._gain}."
        saved = first / last - 1 if objective.name == "saturation" else 1 - last / first
        if saved < LITTLE:
            return "limited", f"Small gain: {self._gain}."
        return "fine", f"Found: {self._gain}."

    def _kept(self) -> str:
        """Say why rank order should stay."""
        objective, kept = self.objective, f"Keep {IN_ORDER}:"
        first, last, changed = objective.before, objective.after, percent(objective.changed, 2)
        if self.before is None:
            return f"{kept} 0 B cross the network, all traffic is inside nodes."
        if last > first * (1 + CLOSE):
            whose = "the layout" if self.layout else "what was found"
            return f"{kept} with {whose}, {objective.noun(self.between)} is {changed} worse."
        if last < first * (1 - CLOSE):
            return f"{kept} what was found gains only {changed} of {objective.noun(self.between)}."
        if self.gain.kind == "bound":
            value = objective.value_said(self.load_unit)
            most = f" ({value})" if value else ", a gain of 0\u00a0% is possible"
            return f"{kept} proved optimal for {objective.noun(self.between)}{most}."
        most = "how much is possible is unknown"
        if possible := objective.possible_said():
            most = f"a gain of at most {possible} is possible"
        if self.layout:
            name = short_name(self.layout.name)
            return f"{kept} the layout {name} gains 0\u00a0% ({most})."
        long = counted(self.rounds, "round")
        if self.asked["rounds"] is None and not self.interrupted:
            long = f"{number(self.asked['seconds'])} s"
        return f"{kept} no better mapping found in {long} ({most})."

    def _lines(self, *, counted_too: bool) -> Iterator[tuple[str, str]]:
        """Yield what goes with the sentence, by label."""
        objective = self.objective
        if self.before is None or self.after is None:
            return
        if counted_too and objective.after < objective.before * (1 - CLOSE):
            yield "counted", self._gain
        if not self.gains:
            return
        yield "where", self.after.where()
        if (possible := objective.possible_said()) and self.gain.kind != "bound":
            bound = f"no mapping can save more than {possible}"
            if objective.name == "saturation":
                bound = f"no mapping allows more than {possible} the load of {IN_ORDER}"
            yield "bound", bound
        yield "limits", self._limits(self.before, self.after)
        yield "costs", self._costs()

    def _limits(self, before: Analysis, after: Analysis) -> str:
        """Return the loads at which the first node is delayed and the network is full."""
        if abs(before.inside_nodes - after.inside_nodes) > CLOSE:
            return ""  # loads are of what enters the network, which differs
        first, last = before.own.saturation, after.own.saturation
        most = before.split_bound or first.upper_bound, after.split_bound or last.upper_bound
        said = []
        for label, star, *known in (
            (f"first {before.node} delayed at", "*", first.worst_node, last.worst_node),
            ("nothing beyond", "", *most),  # half-way traffic may go both ways
        ):
            if None not in known:
                was, now = (load_share(each) for each in known)
                if was != now:
                    said.append(f"{label} {now}{star} ({was}{star} before)")
        return " · ".join(said)

    @property
    def _ends(self) -> tuple[ComparedMapping, ComparedMapping]:
        """Rank order and the result, as they are compared."""
        return self.starts[0], self.starts[-1]

    def _costs(self) -> str:
        """Say which other figures got worse, the worst first."""
        (first, last), aim = self._ends, OF_OBJECTIVE.get(self.objective.name)
        said = []
        for name, label in COSTS.items():
            before, after = getattr(first, name), getattr(last, name)
            if name == aim or not (before and after and isfinite(before) and isfinite(after)):
                continue
            load = name.startswith("saturation")
            worse = before / after - 1 if load else after / before - 1
            same = name == "weighted_channel_load_max" and self.load_unit == "paths"
            if worse >= WORSE and not same:
                label = label.format(weight=self.weight, between=self.between)
                form = load_share if load else number
                said.append((-worse, f"{label} {form(before)} → {form(after)}"))
        said.sort(key=lambda each: each[0])
        return " · ".join(each for _, each in said[:3])

    def _next(self) -> str:
        """Return the command that writes the mapping, or that searches for longer."""
        asked, objective = self.asked, self.objective
        own = {"routes": "own.routes"} if self.own_routes else {}
        if self.gains:
            return self.again(**own, rankfile="ranks.txt")
        room = bool(objective.bound) and objective.bound < objective.before * (1 - LITTLE)
        searched = asked["layout"] is None and asked["rounds"] is None and self.before is not None
        if room and searched and self.simulated is None:
            return self.again(**own, seconds=LONGER * asked["seconds"])
        return ""

    # The terminal.

    def figure_lines(self, width: int) -> list[str]:
        """Return all mappings by their figures, and what these are."""
        alone = not self.objective.scale and not self.objective.times
        rows = [Row(of=each, objective=None if alone else each.objective) for each in self.starts]
        found = terminal.table(rows, self, width, plainly=lambda name: NAMES.get(name, name))
        notes = ["Random: 25 mappings. Loads: % of a channel, offered by the average sender."]
        if self.inside_nodes:
            notes.append("They are of what enters the network, and mappings differ in that.")
        if any(each and each.split_bound for each in (self.before, self.after)):
            notes.append("Most load: with all half-way traffic in the + direction.")
        if self.between:
            notes.append(f"Most {self.weight} and paths: on a channel{self.between}.")
        if any(each.saturation_worst_node is not None for each in self.starts):
            notes.append("* estimate (lemma 4).")
        return [*found, *folded(" ".join(notes), width)]

    def remarks(self) -> Iterator[str]:
        """Yield what the verdict and the table do not say."""
        if self.found is not None:
            what = f"{counted(self.tasks, 'task')} and {counted(self.graph.num_edges, 'edge')} on "
            what += size_of(self.network)
            if len(self.nodes) < self.network.num_hosts:
                what += f", {len(self.nodes):,} of these nodes may be used"
            yield f"{what}, {self.routing}."
        objective, layout = self.objective, self.layout
        rounds = counted(self.rounds, "round") if self.rounds else "less than a whole round"
        how = f"layout {layout.name} ({layout.source})" if layout else f"{rounds}, {self._began()}"
        yield f"{objective.name} by {self.weight}: {how}, seed {self.seed}."
        if layout is None:
            ended = "Interrupted after" if self.interrupted else "Searched for"
            yield f"{ended} {in_seconds(self.seconds, 2)} of processor time."
        if objective.times:
            whose = "of all channels, those of hosts included" if objective.hosts else "of channels"
            yield f"max-channel-load is the largest load over bandwidth {whose}."
        if self.inside_nodes:
            before, after = size(self.between_nodes.before), size(self.between_nodes.after)
            yield f"Between nodes: {before} in rank order, {after} as written."
        yield from self._not_taken()
        if layout is not None:
            own = " on its own routes" if self.own_routes else ""
            promised, measured = layout.promised_channel_load, layout.measured_channel_load
            said = "no largest χ" if promised is None else f"a largest χ of {promised}"
            yield f"The layout promises {said}{own}; measured: {measured}."
        if self.virtual_channels is not None:
            many = counted(self.virtual_channels, "virtual channel")
            yield f"Its own routes need {many} to be free of deadlock."
        if (simulated := self.simulated) is not None:
            runs = ((simulated.before, "in rank order"), (simulated.after, "with the mapping"))
            gets = [f"{percent(run['worst_node_share'])} {where}" for run, where in runs if run]
            if gets:
                load = percent(simulated.load)
                yield f"Accepted of the worst node's traffic at {load} load: {', '.join(gets)}."
            if simulated.note is not None:
                yield f"Not simulated: {simulated.note}."
        if self.interrupted:
            yield "Interrupted: the best mapping found by then."

    def _began(self) -> str:
        """Return what the mapping was made from."""
        by = self.found_by
        return f"from {'a random mapping' if by == 'search' else NAMES.get(by, by)}"

    def _not_taken(self) -> Iterator[str]:
        """Say which mappings are better by the objective, but send more between nodes."""
        if self.found is None:
            return
        node, before = self.network.node_of_host, self.between_nodes.before
        for name, node_of in self.found.mappings.items():
            more = float(self.graph.across(node[node_of]).bytes.sum())
            better = self.found.starts[name] < self.value * (1 - CLOSE)
            if better and more > before * (1 + CLOSE):
                said = f"{NAMES.get(name, name).capitalize()} is not taken: between nodes it sends"
                yield f"{said} {size(more)}, and rank order {size(before)}."

    # Tables.

    @table(Channel)
    def channels(self) -> Columns:
        """Return one row per channel under identity (``before``) and under the mapping (``after``).

        As ``Analysis.channels`` has them, with loads of 0 if nothing crosses the network.
        """
        import polars as pl

        count = self.network.num_channels
        nothing = ChannelLoads(
            moving=np.zeros(0, np.bool_),
            load=np.zeros(count, np.int32),
            weighted_load=np.zeros(count),
            channel_bandwidth=self.network.channel_bandwidth,
            between=self.network.num_network_channels,
        )
        idle = channels_of(self.network, nothing)
        tables = []
        for when, each in zip(WHEN, (self.before, self.after), strict=True):
            known = frame(MappedChannel, idle) if each is None else each.channels()
            tables.append(known.with_columns(mapping=pl.lit(when)))
        return pl.concat(tables, how="diagonal_relaxed").to_dict(as_series=False)

    @table(ContentionCount)
    def path_contention(self) -> Columns:
        """Return how many paths meet how many others, ``before`` and ``after``."""
        both = zip(WHEN, (self.before, self.after), strict=True)
        return contention_counts(
            {when: counted_contention(each.mapped) for when, each in both if each}
        )

    def channel_loads(self) -> tuple[str, Floats]:
        """Return what channels carry, over bandwidth where that differs, and in which unit."""
        from netloom.drawing.networks.chart import times_of

        return self.load_unit, times_of(self.channels())

    # The picture.

    def footer(self) -> list[str]:
        """Return what was mapped, by which objective, and what the search began with."""
        what = f"{self.app} mapped onto {self.topology}, {self.routing}"
        return [f"{what}; objective {self.objective.name}; {self._began()}"]

    def arranged(self) -> list[Any]:
        """Return the network before, after and their difference, above what the mapping changes."""
        import altair as alt

        rows = alt.hconcat(*self.networks(400.0).values(), spacing=30)
        rows = rows.resolve_scale(color="independent", stroke="independent")
        drawn = self._compared()
        below = alt.hconcat(drawn["objective"], drawn["falling"], spacing=40)
        return [alt.vconcat(rows, below, spacing=26)]

    def parts(self) -> Parts:
        """Return the networks, what the mapping changes, and all channels by load."""
        return {**self.networks(), **self._compared()}

    def networks(self, width: float | None = None) -> dict[str, Any]:
        """Return the network by channel load before and after, on one scale, and their difference.

        The scale is gray up to the lower of both means: so what is busiest afterwards can be seen.
        """
        from netloom.drawing.networks.chart import LOAD, ON

        channels, title, scale = self.channels(), self.load_unit + ON, None
        both = {when: channels.filter(mapping=when) for when in WHEN}
        loads = {when: each[LOAD].to_numpy() for when, each in both.items()}
        if all(map(len, loads.values())):
            most = max(float(each.max()) for each in loads.values())
            scale = min(float(each.mean()) for each in loads.values()), most or 1.0
        shown = partial(self.network_drawn, load=LOAD, title=title, width=width)
        drawn = {
            when: shown(channels=both[when], scale=scale, when=said) for when, said in WHEN.items()
        }
        before = loads["before"].astype(np.float64)
        drawn["difference"] = shown(channels=both["after"], when="Difference", before=before)
        return drawn

    def _compared(self) -> dict[str, Any]:
        """Return the figures before and after, and the loads of all channels."""
        from netloom.drawing.mappings import changes, falling
        from netloom.drawing.networks.chart import LOAD

        channels = self.channels()
        if "kind" in channels.columns:
            channels = channels.filter(kind="network")
        before, after = (channels.filter(mapping=when)[LOAD].to_numpy() for when in WHEN)
        which = f"channels{self.between}"
        said = self._carried(before, after)
        drawn = falling(before, after, self.load_unit, which, said)
        return {"objective": changes([*self._changes()]), "falling": drawn}

    def _carried(self, before: Floats, after: Floats) -> str:
        """Return how many channels carried more before than any does afterwards, or reversed."""
        more = int((before > after.max(initial=0) * CLEARLY).sum())
        less = int((after > before.max(initial=0) * CLEARLY).sum())
        many = f"of {counted(len(before), 'channel')}{self.between}"
        if more:
            return f"{more:,} {many} carried more than the busiest does afterwards"
        if less:
            verb = "carries" if less == 1 else "carry"
            return f"{less:,} {many} {verb} more than the busiest did in rank order"
        return f"The busiest {many} carries as much as in rank order"

    def _changes(self) -> Iterator[Any]:
        """Yield the objective and other figures before and after."""
        from netloom.drawing.mappings import Change

        objective, load = self.objective, partial(carried, self.load_unit)
        name, anywhere = objective.name.replace("-", " "), " on a channel"
        form = number
        where = self.between or anywhere
        if objective.name == "max-channel-load":
            name = "most time{where}" if objective.timed else CHANGES["weighted_channel_load_max"]
            form = number if objective.timed else load
        name = name.format(where=anywhere if objective.hosts else where)
        before, after = objective.before, objective.after
        said = f"{form(before)} → {form(after)}"
        yield Change(name, before, after, said, objective.bound)
        seen = {(before, after)}
        for each, name in CHANGES.items():
            pair = getattr(self._ends[0], each), getattr(self._ends[1], each)
            if pair in seen or None in pair:
                continue
            seen.add(pair)
            form = load if each == "weighted_channel_load_max" else number
            form = load_share if "saturation" in each else form
            said = f"{form(pair[0])} → {form(pair[1])}"
            yield Change(name.format(where=where), *pair, said)


@dataclass(frozen=True, eq=False)
class MappingTask(MappedNetwork):
    """What a question about a mapping names, read and built once, mapped in order.

    Attributes
    ----------
    nodes
        int32[], the hosts that may be used, ascending.
    tasks_per_host
        Most tasks of each.
    layout
        None where a mapping is searched for.
    """

    question: MappingQuestion
    nodes: Ints
    tasks_per_host: int
    layout: Layout | None = None

    @cached_property
    def value_of(self) -> ObjectiveMeasure:
        """What measures mappings by the objective, scaled as the search does."""
        objective = objective_of(self.question.objective)
        weights = weights_of(self.graph, self.question.weight)
        plain = ObjectiveMeasure(
            self.graph,
            self.network,
            self.routing,
            weights,
            objective,
            self.nodes,
            self.tasks_per_host,
        )
        return plain.scaled(self.node_of)

    def mapped(self, node_of: Ints, routes: SourceRoutes | None) -> MappedNetwork:
        """Return the program under another mapping, perhaps on routes of its own."""
        routing = self.routing if routes is None else routes
        return replace(self, node_of=node_of, routing=routing)

    def crosses(self, node_of: Ints) -> bool:
        """Whether a mapping leaves anything that crosses the network."""
        return bool(self.value_of.crossing(node_of).any())


def prepare(question: MappingQuestion) -> MappingTask:
    """Read the program, build the network, and find the nodes that may be used."""
    if question.load is not None and not question.simulate:
        raise InputError("load", f"{question.load:g} without a simulation", "simulate as well")
    if question.layout is not None:
        fields.refuse(question, ("seconds", "rounds", "tasks_per_node"), "a search, with no layout")
    objective_of(question.objective)
    graph = named.read_program(question.app, messages=question.messages, parts=question.parts)
    network, machine = named.network_of(question)
    places = places_of(named.allocated(question, network), network, question.tasks_per_node)
    check_room(graph.num_tasks, places.num_groups, question.tasks_per_node, network.name)
    nodes, tasks_per_host = places.each()
    task = MappingTask(
        graph=graph,
        network=network,
        machine=machine,
        routing=named.routing_of(question.routing, network),
        node_of=places.at(np.arange(graph.num_tasks)),
        question=question,
        nodes=nodes,
        tasks_per_host=tasks_per_host,
    )
    weights_of(graph, question.weight)  # refused now, if there are none
    if question.layout is None:
        return task
    layout = find_layout(question.layout, graph, network)
    check_working(network, layout.node_of, f"layout '{question.layout}'")
    outside = ~np.isin(layout.node_of, nodes)
    if outside.any():
        at = int(np.argmax(outside))
        name = vertex_word(network, int(layout.node_of[at]))
        found = f"task {at} on node {name}, which is not allocated"
        raise InputError(
            f"layout '{question.layout}'", found, "an allocation that has all its nodes"
        )
    return replace(task, layout=layout)


def analysis_of(task: MappingTask, node_of: Ints, routes: SourceRoutes | None) -> Analysis | None:
    """Analyze a mapping. None where it leaves no traffic on the network."""
    if not task.crosses(node_of):
        return None
    kind = kind_of("analyze")
    asked = ask(kind.question, _same(task, node_of, routes) | {"random_mappings": 0})
    found: Analysis = kind.find(asked, task.mapped(node_of, routes))
    return found


def _same(task: MappingTask, node_of: Ints, routes: SourceRoutes | None) -> dict[str, Any]:
    """Return the fields of a question about one mapping."""
    fields = {name: getattr(task.question, name) for name in SAME}
    return fields | {"mapping": node_of} | ({} if routes is None else {"routing": routes})


def compared_mappings(
    task: MappingTask, found: FoundMapping, before: Analysis | None, after: Analysis | None
) -> Iterator[ComparedMapping]:
    """Yield the figures of all mappings compared: identity first, the result last.

    A layout is there twice: first on the routes of the network, not on its own.
    """

    def of(name: str, value: float, node_of: Ints) -> ComparedMapping:
        crosses, mapped = task.crosses(node_of), task.mapped(node_of, None)
        own = mapped.measured(task.question.weight).figures() if crosses else None
        return ComparedMapping.of(name, value, own)

    starts, seed = found.starts, task.question.seed
    drawn = random_starts(task.graph.num_tasks, task.nodes, task.tasks_per_host, seed)
    rows = [of("random", 0.0, node_of) for node_of in drawn]
    yield ComparedMapping.of("identity", starts["identity"], before.own if before else None)
    yield ComparedMapping.mean_of("random", starts["random"], rows)
    others = sorted(found.mappings.items(), key=lambda each: each[0] != "random_best")
    yield from (of(name, starts[name], node_of) for name, node_of in others if name != "identity")
    yield ComparedMapping.of("result", found.value, after.own if after else None)


def simulated_mappings(
    task: MappingTask,
    found: FoundMapping,
    before: Analysis | None,
    after: Analysis | None,
    routes: SourceRoutes | None,
) -> Simulated:
    """Simulate identity and the result at the same pace, in pairs of runs with the same seed.

    What cannot run says why.
    """
    if before is None or after is None:
        which = "before" if before is None else "after"
        return _simulations(None, {}, f"nothing crosses the network {which}")
    if routes is None and np.array_equal(found.node_of, task.node_of):
        return _simulations(None, {}, "ranks stay in order: nothing to compare")
    # A load is of what enters the network, of which one mapping may leave less than the other:
    # at these the program goes as fast under both.
    first, last, load = before.mapped.limit, after.mapped.limit, task.question.load
    pace = first.mean_weight / last.mean_weight
    if load is None:
        most = min(1.0, 1 / float(first.node_share.max()))
        load = min(load_to_compare(first, last) * pace, most)
    loads = {"before": load, "after": load / pace}
    mappings = {"before": (task.node_of, None), "after": (found.node_of, routes)}
    built: dict[str, Any] = {"app": task.graph, "messages": None, "parts": "network"}
    if task.machine is None:
        built |= {"on": task.network, "failed_channels": None, "failed_nodes": None}
    else:  # its routers are simulated
        built["on"] = task.machine
    runs: dict[str, list[Simulation]] = {"before": [], "after": []}
    ready: dict[str, Any] = {}
    kind = kind_of("simulate.load")
    for place in range(PAIRS):
        for when, (node_of, own) in mappings.items():
            fields = _same(task, node_of, own) | {"load": loads[when]}
            fields["seed"] += place
            try:
                asked = ask(kind.question, fields)
                if when not in ready:
                    ready[when] = kind.prepare(asked.model_copy(update=built))
                network = replace(ready[when], seed=fields["seed"])
                with warnings.catch_warnings():  # that much is offered on purpose
                    warnings.simplefilter("ignore", UserWarning)
                    run = kind.find(asked, network)
            except InputError as error:  # such as routes that can deadlock
                return _simulations(load, runs, f"{when}: {error}")
            runs[when].append(run)
            if run.interrupted:
                return _simulations(load, runs, f"{when}: interrupted")
    return _simulations(load, runs, None)


def _simulations(
    load: float | None, runs: Mapping[str, Sequence[Simulation]], note: str | None
) -> Simulated:
    """Return what was simulated: the runs of the question's seed, and all pairs compared."""
    first = {when: each[0] for when, each in runs.items() if each}
    told = {
        when: run.table().row(0, named=True) | {"worst_node_share": run.point.worst.share}
        for when, run in first.items()
    }
    pairs = [
        [SimulatedRun(run.packet_latency, run.point.worst.share) for run in each]
        for each in runs.values()
    ]
    return Simulated(
        load=load,
        before=told.get("before"),
        after=told.get("after"),
        compared=None if note else paired(*pairs),
        note=note,
        runs=first,
    )


def _refuse_ranks(task: MappingTask, form: str, hosts: Sequence[str] | None) -> None:
    """Raise InputError if no mapping that may be found has a rank file of this form."""
    owner, own_slots = task.network.node_of_host, task.network.num_nodes < task.network.num_hosts
    computers = distinct(owner[task.nodes])
    if task.layout is not None:
        ranks, slots = ranks_on_computers(task.layout.node_of, task.network)
        rank_file(ranks, form, hosts, computers, slots)
    elif own_slots and form != FORMATS[0]:
        found = f"{form}, which does not say on which host of its node a rank is"
        raise InputError("rankfile_format", found, FORMATS[0])
    else:
        places = -(-len(task.nodes) * task.tasks_per_host // len(computers))
        check_rank_file(form, task.graph.num_tasks, computers, places, hosts)


RANK_FILE = rank_file_output(
    _refuse_ranks, lambda answer: answer.nodes, lambda answer: answer.gains or answer.as_asked
)


def _refuse_routes(_: MappingQuestion, task: MappingTask) -> None:
    """Raise InputError if the mapping has no routes of its own."""
    if task.layout is None or task.layout.routes is None:
        raise InputError("routes", "the network's own", "a layout that has routes, such as tiles")


def _write_routes(answer: Any, path: Path) -> str:
    write_routes(answer.network, answer.routes, path)
    return f"Routes: --routing routes:{path}"


ROUTES = Output(
    "routes",
    "Write the routes of a layout that has its own: for --routing routes:FILE.",
    _write_routes,
    check_in_folder,
    _refuse_routes,
)


def _in_rounds(fields: dict[str, Any]) -> dict[str, Any]:
    """Return fields that say how long to search by rounds."""
    if "seconds" in fields:
        raise InputError("seconds", f"{fields['seconds']}", UNTIMED)
    return fields if fields.get("layout") is not None else {"rounds": ROUNDS_IN_FILES} | fields


@asks(
    MappingQuestion,
    prepare=prepare,
    repeatable=_in_rounds,
    title="Mapping search",
    example="netloom map examples/lammps-64.mtx --on torus:4x4x4 --seconds 10 --rankfile ranks.txt",
    page="map.md",
    outputs=(PLOT, SAVE_MAPPING, RANK_FILE, ROUTES),
)
def find_mapping(question: MappingQuestion, task: MappingTask) -> ProgramMapping:
    """Find the mapping under which a program contends least, and report what it gains.

    Begins with partitions, embeddings and layouts of such programs, and makes them better until the
    processor time is used up, or nothing can be better. If nothing is better than ranks in order,
    these stay. Ctrl-C ends the search: the best so far is the answer.

    Examples
    --------
    >>> found = find_mapping("mesh:4x4", "torus:4x4", objective="hop-bytes", rounds=1)
    >>> found.value, found.bound, found.gain.kind
    (48.0, 48.0, 'bound')
    """
    layout, value_of, seed = task.layout, task.value_of, question.seed
    routes = None if layout is None else layout.source_routes(task.graph, task.network)
    if layout is None:
        found = search(
            task.graph,
            task.network,
            routing=task.routing,
            objective=question.objective,
            weights=value_of.weights,
            nodes=task.nodes,
            tasks_per_node=task.tasks_per_host,
            identity=task.node_of,
            seconds=question.seconds,
            rounds=question.rounds,
            seed=seed,
        )
    else:
        found = judged_layout(layout, value_of, routes, identity=task.node_of, seed=seed)
    with patience("comparing mappings"):
        before = analysis_of(task, task.node_of, None)
        after = analysis_of(task, found.node_of, routes)
        starts = tuple(compared_mappings(task, found, before, after))
    simulated = None
    if question.simulate and not found.interrupted:
        simulated = simulated_mappings(task, found, before, after, routes)
    gain = gain_of(
        found,
        before.own if before else None,
        after.own if after else None,
        simulated.compared if simulated else None,
    )
    promise, lanes = None, None
    if layout is not None:
        promise = Promise(
            name=layout.name,
            promised_channel_load=layout.chi_max,
            measured_channel_load=int(after.own.channel_load.max or 0) if after else 0,
            source=layout.source,
        )
    if routes is not None:
        between = routes.routes.taken(np.flatnonzero(routes.routes.lengths))
        lanes = int(layers(task.network.routers, between).max(initial=0)) + 1
    identity = found.mappings["identity"]
    kept = layout is None and not gain.gains
    applied = identity if kept else found.node_of
    return ProgramMapping(
        app=task.graph.name,
        topology=task.network.name,
        tasks=task.graph.num_tasks,
        num_nodes=task.network.num_hosts,
        allocated_nodes=len(task.nodes),
        routing=str(task.routing),
        weight=question.weight,
        inside_nodes=named.entering(task.graph, task.network, applied, question.weight)[1],
        between_nodes=Between(before=value_of.between(identity), after=value_of.between(applied)),
        objective=Objective.of(found, value_of, task.network),
        before=before,
        after=after,
        starts=starts,
        layout=promise,
        unchanged=bool((found.node_of == identity).all()),
        own_routes=routes is not None,
        virtual_channels=lanes,
        simulated=simulated,
        gain=gain,
        found_by=found.found_by,
        rounds=found.rounds,
        seconds=found.seconds,
        interrupted=found.interrupted
        or any(each.interrupted for each in (simulated.runs if simulated else {}).values()),
        seed=question.seed,
        host_of=tuple(found.node_of.tolist()),
        graph=task.graph,
        network=task.network,
        nodes=task.nodes,
        found=found,
        routes=routes,
        provenance=named.provenance_of(question, "find_mapping", task.network),
    )
