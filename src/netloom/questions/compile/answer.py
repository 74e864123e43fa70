"""The answer of ``compile_phases``: phases, routes and times, and what they save."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from netloom.base.words import counted
from netloom.drawing.timelines import Slices, Track, nanoseconds
from netloom.models import conset_clocks
from netloom.phases import write_plan
from netloom.phases.execute.node_programs import node_programs
from netloom.phases.limits import (
    Limit,
    channel_words,
    expected_makespan,
    limit_of,
    predicted_clocks,
    processor_words,
)
from netloom.questions.columns import INSIDE, Column, Columns, asked, table
from netloom.questions.register import Answer, by_verb
from netloom.questions.timelines import Crossed, Happened, timeline_of
from netloom.workload.programs.many_lists import Lists

if TYPE_CHECKING:
    from pathlib import Path

    import polars as pl

    from netloom.base.arrays import Floats, Ints
    from netloom.base.provenance import Provenance
    from netloom.drawing.timelines import Timeline
    from netloom.models import ConSetCosts, MessageCosts
    from netloom.phases import PhaseBound, Plan, Timetable
    from netloom.phases.execute.execution import Execution
    from netloom.phases.execute.message_passing import MessagePassing
    from netloom.phases.execute.node_programs import NodeProgram
    from netloom.questions.verdict import Verdict
    from netloom.workload import ProcessGraph


SURELY = 1.03
"""Times the expected clocks, phases may take when they are simulated."""

CLOCKS = "clocks"

CONNECTIONS = Columns(
    Column("connection", kind=int),
    Column("source_task", kind=int),
    Column("target_task", kind=int),
    Column("source", "from node", kind=int),
    Column("target", "to node", kind=int),
    Column("words", kind=int),
    Column("phase", kind=int),
    Column("hops", kind=int),
    Column("start", unit=CLOCKS),
    Column("end", unit=CLOCKS),
    Column("simulated_start", unit=CLOCKS, optional=True),
    Column("simulated_end", unit=CLOCKS, optional=True),
)

PHASES = Columns(
    Column("phase", kind=int, key=True),
    Column("connections", kind=int, key=True),
    Column("words"),
    Column("channels_used", kind=int, key=True),
    Column("processor_clocks", "busiest processor", CLOCKS),
    Column("channel_clocks", "busiest channel", CLOCKS),
    Column("makespan", unit=CLOCKS, key=True),
    Column("lower_bound", unit=CLOCKS, key=True),
    Column("simulated", unit=CLOCKS, optional=True),
)

CHANNELS = Columns(
    Column("phase", kind=int),
    Column("channel", kind=int),
    Column("source_node", kind=int),
    Column("target_node", kind=int),
    Column("words"),
)

NODES = Columns(Column("node", kind=int), Column("words"))


@dataclass(frozen=True, eq=False)
class SimulatedPhases:
    """What simulation made of phases, and of messages. None where it did not come to it.

    ``note`` says why, and ``interrupted`` whether it was stopped from outside.
    """

    execution: Execution | None
    passed: MessagePassing | None
    note: str | None = None
    interrupted: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the clocks of both, and of each phase, as plain data."""
        phases = self.execution
        return {
            "conset": phases and phases.clocks,
            "message_passing": self.passed and self.passed.mean_clocks,
            "phases": phases and phases.phase_cycles * phases.cycle_clocks,
            "channel_load": phases and phases.channel_load,
            "note": self.note,
        }


class Outcome(NamedTuple):
    """Which is faster.

    Attributes
    ----------
    faster
        ``open`` if only simulation can tell, ``none`` if there is nothing to do.
    factor
        Clocks of the slower over those of the faster. None if it is open.
    """

    faster: Literal["phases", "messages", "open", "none"]
    factor: float | None


@dataclass(frozen=True, eq=False)
class CompiledPhases(Answer):
    """A pattern in phases, with routes and times. The plan has been verified.

    Attributes
    ----------
    graph, node_of
        The pattern, and the node of each task.
    plan, timetable
        Phase and route of each connection, and when it starts and ends.
    costs, message_costs
        Of phases, and of messages.
    bound
        No plan has fewer phases, and why.
    least_word_clocks
        Clocks that all words take at least, on processors and channels. Without switches.
    simulated
        What simulation found. None where it was not asked for.
    seconds
        That partition and schedule took.
    inside_nodes
        The share of the words that stays inside nodes, and needs no connections.
    """

    graph: ProcessGraph
    node_of: Ints
    plan: Plan
    timetable: Timetable
    costs: ConSetCosts
    message_costs: MessageCosts
    bound: PhaseBound
    least_word_clocks: float
    simulated: SimulatedPhases | None
    seconds: float
    inside_nodes: float
    provenance: Provenance

    columns: ClassVar = CONNECTIONS
    in_json: ClassVar = Columns()
    key_table: ClassVar = "phases"
    about: ClassVar = INSIDE + Columns(
        Column("app", kind=str, value="graph.name"),
        Column("topology", kind=str, value="plan.topology.name"),
        Column("tasks", kind=int, value="graph.num_tasks"),
        Column("nodes", kind=int, value="plan.topology.num_hosts"),
        Column("direct", kind=bool, value="plan.topology.direct"),
        Column("network_channels", kind=int, value="plan.topology.num_channels"),
        Column("connections", kind=int, value=lambda found: len(found.plan.connections)),
        Column("words", kind=int, value=lambda found: found.plan.connections.words.sum()),
        Column("channels", kind=int, value="plan.capacity.virtual_channels"),
        Column("per", kind=str, value="plan.capacity.per"),
        Column("phases", kind=int, value="plan.num_phases"),
        Column("lower_bound_phases", kind=int, value="bound.phases"),
        Column("lower_bound_why", kind=str, value="bound.why"),
        Column("lower_bound_clocks", unit=CLOCKS),
        Column("max_channels_used", kind=int),
        Column("method", kind=str, value="plan.method"),
        Column("objective", kind=str, value=asked("objective")),
        Column("costs", kind=dict, value=lambda found: asdict(found.costs)),
        Column("switch_clocks", unit=CLOCKS, value="costs.switch_clocks",
               json="costs.switch_clocks"),
        Column("message_costs", kind=dict, value=lambda found: asdict(found.message_costs)),
        Column("predicted", kind=dict),
        Column("schedule", kind=str, value="timetable.kind", json="schedule.kind"),
        Column("clocks", unit=CLOCKS, json="schedule.clocks"),
        Column("expected_clocks", unit=CLOCKS, json="schedule.expected_clocks"),
        Column("makespan", kind=list, value="timetable.makespan", json="schedule.makespan"),
        Column("lower_bound", kind=list, value="timetable.lower_bound",
               json="schedule.lower_bound"),
        Column("simulated", kind=dict,
               value=lambda found: found.simulated and found.simulated.to_dict()),
        Column("limit", kind=dict, value=lambda found: found.limit and found.limit._asdict()),
        Column("verdict", kind=dict, value=lambda found: found.outcome._asdict()),
        Column("seconds", unit="seconds"),
        Column("interrupted", kind=bool),
        Column("seed", kind=int, value="provenance.seed"),
    )  # fmt: skip

    @property
    def interrupted(self) -> bool:
        """Whether simulation was stopped from outside."""
        return self.simulated is not None and self.simulated.interrupted

    @property
    def clocks(self) -> float:
        """Clocks of all phases by the timetable, with their switches."""
        return conset_clocks(self.timetable.makespan, self.costs)

    @cached_property
    def expected_clocks(self) -> float:
        """The same with the latency of routes, which the timetable leaves out.

        Simulated transfers take 3 % more to 11 % less (docs/compile.md). Of kind ``timetable``
        more, if connections share channels.
        """
        return conset_clocks(expected_makespan(self.plan, self.timetable, self.costs), self.costs)

    @property
    def lower_bound_clocks(self) -> float:
        """No plan that counts shared channels takes fewer clocks, with switches."""
        return self.bound.phases * self.costs.switch_clocks + self.least_word_clocks

    @cached_property
    def max_channels_used(self) -> int:
        """Most virtual channels that a node, or channel, has in use in a phase."""
        return int(self.plan.use().max(initial=0))

    @cached_property
    def predicted(self) -> dict[str, float | None]:
        """Clocks by the formulas of ``models.messages``, in which no channel is shared."""
        return predicted_clocks(self.plan, self.costs, self.message_costs)

    @cached_property
    def limit(self) -> Limit | None:
        """What keeps the phases from being faster. None without any."""
        if not self.plan.num_phases:
            return None
        return limit_of(self.plan, self.timetable, self.costs)

    @cached_property
    def outcome(self) -> Outcome:
        """Which is faster, phases or messages, as far as is known."""
        if self.limit is None:
            return Outcome("none", None)
        run, passing = self.simulated, self.predicted["message_passing"]
        assert passing is not None
        if run and run.execution and run.passed:
            return _compared(run.execution.clocks, run.passed.mean_clocks)
        if self.timetable.kind == "timetable":
            return _compared(self.clocks, passing)
        clocks = SURELY * self.expected_clocks
        if clocks > passing:
            return Outcome("open", None)
        return Outcome("phases", passing / max(clocks, 1e-300))

    @property
    def verdict(self) -> Verdict:
        """Which is faster, by how much, and why, in words."""
        return by_verb(self.provenance.verb).verdict(self.to_dict())

    def programs(self) -> list[NodeProgram]:
        """Return the program of each node: what it sends and receives, in which order."""
        return node_programs(self.plan, self.timetable, self.costs)

    def write(self, path: str | Path) -> None:
        """Write a plan file, programs included. See ``docs/plan-file.md``.

        Raises
        ------
        InputError
            If it cannot be written.
        """
        write_plan(
            path,
            self.plan,
            self.timetable,
            self.costs,
            lower_bound_phases=self.bound.phases,
            provenance=self.provenance,
            programs=[program.to_dict() for program in self.programs()],
        )

    def timeline(self) -> Timeline:
        """Return when each connection moves its words, and the phases, on tracks of nodes."""
        run = self.simulated.execution if self.simulated else None
        return phases_timeline(self.plan, self.timetable, self.costs, run)

    @table(PHASES)
    def phases(self) -> pl.DataFrame:
        """Return one row per phase: its contents, its busiest parts, and how long it takes.

        Clocks without the switch. ``simulated`` where phases were simulated.
        """
        import polars as pl

        plan, costs = self.plan, self.costs
        words = plan.connections.words.astype(np.float64)
        at_nodes = processor_words(plan, words, both_ways=costs.both_ways)
        columns = {
            "phase": np.arange(plan.num_phases),
            "connections": np.bincount(plan.phase, minlength=plan.num_phases),
            "words": np.bincount(plan.phase, words, plan.num_phases),
            "channels_used": plan.use().max(axis=1, initial=0),
            "processor_clocks": at_nodes.max(axis=1, initial=0.0) * costs.clocks_per_word,
            "channel_clocks": (
                channel_words(plan).max(axis=1, initial=0.0) * costs.channel_clocks_per_word
            ),
            "makespan": self.timetable.makespan,
            "lower_bound": self.timetable.lower_bound,
        }
        if self.simulated and self.simulated.execution:
            run = self.simulated.execution
            columns["simulated"] = run.phase_cycles * run.cycle_clocks
        return pl.DataFrame(columns)

    @table(CHANNELS)
    def channels(self) -> pl.DataFrame:
        """Return one row per phase and channel that is used in it: its two nodes, and its words."""
        import polars as pl

        words, network = channel_words(self.plan), self.plan.topology
        phase, channel = np.nonzero(words)
        return pl.DataFrame(
            {
                "phase": phase,
                "channel": channel,
                "source_node": network.channel_source[channel],
                "target_node": network.channel_target[channel],
                "words": words[phase, channel],
            }
        )

    @table(NODES)
    def nodes(self) -> pl.DataFrame:
        """Return one row per node: the words that its processor moves in all phases.

        If it sends and receives at the same time, the larger of both counts in each phase.
        """
        import polars as pl

        words = self.plan.connections.words.astype(np.float64)
        moved = processor_words(self.plan, words, both_ways=self.costs.both_ways).sum(axis=0)
        return pl.DataFrame({"node": np.arange(len(moved)), "words": moved})

    def table(self) -> pl.DataFrame:
        """Return one row per connection: times in clocks since its phase began, without the switch.

        If phases were simulated, there are ``simulated_start`` and ``simulated_end``, too.
        """
        import polars as pl

        given = self.plan.connections
        columns = {
            "connection": np.arange(len(given)),
            "source_task": given.source_task,
            "target_task": given.target_task,
            "source": given.source,
            "target": given.target,
            "words": given.words,
            "phase": self.plan.phase,
            "hops": self.plan.routes.lengths,
            "start": self.timetable.start,
            "end": self.timetable.end,
        }
        if self.simulated and self.simulated.execution:
            columns["simulated_start"] = self.simulated.execution.start
            columns["simulated_end"] = self.simulated.execution.end
        return CONNECTIONS.checked(pl.DataFrame(columns))

    def __repr__(self) -> str:
        plan, predicted, limit = self.plan, self.predicted, self.plan.capacity
        most = f"{self.max_channels_used} of {limit.virtual_channels} virtual channels"
        head = f"<{self.graph.name} in phases on {plan.topology.name}; {self.origin}>"
        said = self.verdict.marked
        if not plan.num_phases:
            return f"{head}\n{said}"
        lines = [
            head,
            said,
            f"{len(plan.connections)} connections in {self.phases_said}, {plan.method}; at most"
            f" {most} per {limit.per}",
            f"predicted: {predicted['conset']:,.0f} clocks, {predicted['message_passing']:,.0f} by"
            f" message passing; {self.break_even_said}",
            f"{self.timetable.kind}: {self.clocks:,.0f} clocks{self.least_said};"
            f" {self.lasting_said}",
            f"with routes: {self.expected_said}",
        ]
        return "\n".join(lines)

    @property
    def phases_said(self) -> str:
        """How many phases there are, and how few there can be."""
        many, least = self.plan.num_phases, self.bound.phases
        counted = f"{many} phase{'s' * (many != 1)}"
        return f"{counted}, the lower bound" if many == least else f"{counted} (at least {least})"

    @property
    def break_even_said(self) -> str:
        """For which lengths of connections the formulas prefer phases."""
        words = self.predicted["break_even_words"]
        if words is None:
            return "phases are faster however long connections are"
        if words == 0:
            return "phases are never faster"
        mean = "a connection" if np.ptp(self.plan.connections.words) == 0 else "a mean connection"
        return f"phases are faster up to {counted(words, 'word', ',.0f')} of {mean}"

    @property
    def least_said(self) -> str:
        """What no plan goes below, unless the timetable leaves channels out of account."""
        if self.timetable.kind == "timetable":
            return ", shared channels not counted"
        return f", of at least {self.lower_bound_clocks:,.0f}"

    @property
    def expected_said(self) -> str:
        """What the latency of routes makes of it, and how far simulations are from that."""
        said = f"{self.expected_clocks:,.0f} clocks expected, latency included"
        if self.timetable.kind == "timetable":
            return f"{said}; more where connections share channels"
        return f"{said}; simulated transfers take 3 % more to 11 % less"

    @property
    def lasting_said(self) -> str:
        """How long phases last, and how far that is from the least their connections take."""
        lasting = self.timetable.makespan
        least, most = (f"{clocks:,.0f}" for clocks in (lasting.min(), lasting.max()))
        said = f"phases of {most}" if least == most else f"phases of {least} to {most}"
        total, bound = float(lasting.sum()), float(self.timetable.lower_bound.sum())
        if total <= bound * (1 + 1e-9):
            return f"{said}, at their bounds"
        return f"{said}, {100 * (total / bound - 1):.3g} % above their bounds"


def _compared(phases: float, messages: float) -> Outcome:
    factor = max(phases, messages) / max(min(phases, messages), 1e-300)
    return Outcome("phases" if phases <= messages else "messages", factor)


def phases_timeline(
    plan: Plan, timetable: Timetable, costs: ConSetCosts, run: Execution | None = None
) -> Timeline:
    """Return the phases one after the other, by simulation if there was one, else by timetable.

    Each begins with a switch. A connection lasts from when it may send until its last word is
    there. Clocks are shown as µs.
    """
    given, times = plan.connections, timetable if run is None else run
    lasting = timetable.makespan if run is None else run.phase_cycles * run.cycle_clocks
    ends = np.asarray(np.cumsum(lasting + costs.switch_clocks), np.float64)
    begin = np.asarray(ends - lasting, np.float64)
    none, every = np.zeros(len(given)), np.ones(len(given), np.bool_)
    start, end = begin[plan.phase] + times.start, begin[plan.phase] + times.end
    network = plan.topology
    happened = Happened(
        names=[f"node {network.name_of(node)}" for node in range(network.num_hosts)],
        source=given.source, target=given.target,
        ready=start, sent=start, entered=start, arrived=end, complete=end,
        delay=none, run=none, hold=none, receive=none,
        size=given.words, moved=every, awaited=~every,
        ids=[given.describe(each) for each in range(len(given))],
    )  # fmt: skip
    routes = Lists(plan.routes.offsets, plan.routes.channels)
    word = max(costs.channel_clocks_per_word, 1e-300)
    capacity = np.full(network.num_channels, 1 / word)
    found = timeline_of(
        happened, program=f"{given.name} in phases on {network.name}", unit="clocks",
        size="words",
        crossed=Crossed(routes, np.ones(len(routes.values)), capacity, network.channel_name),
        about={"times": timetable.kind if run is None else "simulated",
               "clocks": float(ends[-1]) if len(ends) else 0.0},
    )  # fmt: skip
    return _with_phases(found, begin, ends, costs.switch_clocks)


def _with_phases(found: Timeline, begin: Floats, ends: Floats, switch: float) -> Timeline:
    """Add a track of phases, in each of which there is a switch, and then words move."""
    track, count = len(found.tracks), len(ends)
    first, middle, last = (nanoseconds(each, 1.0) for each in (begin - switch, begin, ends))
    number = list(range(count))
    rows = [
        ("phase", first, last, [f"phase {each}" for each in number]),
        ("switch", first, middle, ()),
        ("move", middle, last, ()),
    ]
    slices = []
    for kind, since, until, names in rows:
        kept = np.flatnonzero(until > since)
        said = [names[each] for each in kept.tolist()] if names else ()
        slices.append(Slices(kind, np.full(len(kept), track), since[kept], until[kept], said,
                             {"phase": kept.tolist()}))  # fmt: skip
    return replace(
        found,
        tracks=(*found.tracks, Track("phases", "phases")),
        slices=(*found.slices, *slices),
    )
