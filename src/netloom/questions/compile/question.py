"""In which phases, over which routes and when does a known pattern communicate best?"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from functools import cached_property
from os import PathLike
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np

from netloom.base.errors import DeadlockError, InputError
from netloom.base.progress import patience
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.textfiles import write_text
from netloom.base.words import counted
from netloom.drawing.save import check_writable, make_folder
from netloom.drawing.timelines import Slices, Track, nanoseconds
from netloom.models import ConSetCosts, MessageCosts, conset_clocks
from netloom.phases import (
    Capacity,
    connections,
    least_clocks,
    least_phases,
    partition,
    schedule,
    verify,
    write_plan,
)
from netloom.phases.execute.execution import execute
from netloom.phases.execute.message_passing import message_passing
from netloom.phases.execute.node_programs import node_programs
from netloom.phases.plan.plans import connection_order
from netloom.phases.timetables import (
    Limit,
    channel_words,
    expected_makespan,
    limit_of,
    predicted_clocks,
    processor_words,
)
from netloom.questions.base import MOST, MOST_WORDS, option
from netloom.questions.columns import INSIDE, Column, Columns, asked, table
from netloom.questions.fields import BrokenParts, MonitoredParts, Placed, ProgramOnNetwork, Seeded
from netloom.questions.named import entering, network_of, placed, provenance_of, read_program
from netloom.questions.outputs import Output, picture_output
from netloom.questions.register import Answer, asks, by_verb, chart_of, record
from netloom.questions.timelines import PERFETTO, Crossed, Happened, timeline_of
from netloom.topology import Topology
from netloom.topology.alike import check_alike
from netloom.workload import ProcessGraph
from netloom.workload.programs.messages import Lists

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    import polars as pl

    from netloom.base.arrays import Floats, Ints
    from netloom.base.provenance import Provenance
    from netloom.drawing.timelines import Timeline
    from netloom.phases import Connections, PhaseBound, Plan, Timetable
    from netloom.phases.execute.execution import Execution
    from netloom.phases.execute.message_passing import MessagePassing
    from netloom.phases.execute.node_programs import NodeProgram
    from netloom.questions.shown import Verdict


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
                "source_node": network.source_end[channel],
                "target_node": network.target_end[channel],
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


def _write_plan(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    make_folder(path.parent)
    answer.write(path)
    return f"Plan: {path}"


def _check_programs(path: Path) -> None:
    """Refuse what is neither a .json file nor a folder, or cannot be written."""
    check_writable(path, folder=path.suffix != ".json")
    if path.suffix not in ("", ".json"):
        raise InputError(str(path), f"suffix '{path.suffix}'", "a .json file or a folder")


def _write_programs(answer: Any, path: Path, _: Mapping[str, str]) -> str:
    make_folder(path.parent)
    programs = answer.programs()
    if path.suffix == ".json":
        lines = ",\n ".join(json.dumps(each.to_dict()) for each in programs)
        write_text(path, f"[\n {lines}\n]\n")
        return f"Programs: {path}"
    make_folder(path)
    width = len(str(len(programs) - 1))
    for each in programs:
        write_text(path / f"node-{each.node:0{width}}.txt", f"{each}\n")
    return f"Programs: {path}"


def _phase_map(answer: Any) -> Any:
    from netloom.questions.compile.chart import phase_map

    return phase_map(record(answer))


FILES = (
    Output("out", "Plan file: phases, routes, times, programs.", _write_plan),
    Output(
        "programs",
        "Programs of the nodes: a .json file, or a folder for a text file per node.",
        _write_programs,
        _check_programs,
    ),
    picture_output("gantt", "Gantt chart", chart_of, "Gantt chart"),
    PERFETTO,
    picture_output("map", "Every phase on the network", _phase_map, "Map"),
)


PROGRAM = "Program"
HELD = "What the network holds"
HOW = "How it is compiled"
COSTS = "Costs of the machine, in clocks (those of iWarp)"

CONSET = ("sync_clocks", "phase_clocks", "clocks_per_word", "channel_clocks_per_word", "both_ways")
PASSING = ("send_clocks", "receive_clocks")
"""Costs of phases, and of messages."""


class CompileQuestion(Seeded, BrokenParts, Placed, MonitoredParts, ProgramOnNetwork):
    """A pattern that is known in advance, to be cut into phases."""

    words: int | None = option(
        "Words of every connection, instead of the pattern's bytes.",
        default=None,
        ge=0,
        le=MOST_WORDS,
        panel=PROGRAM,
    )
    word_bytes: int = option(
        "Size of a word.", unit="bytes", default=4, ge=1, le=MAX_ELEMENTS, panel=PROGRAM
    )
    order: str | PathLike[str] | list[Any] | None = option(
        "Order of connections: a file of lines such as '0 1 < 2 3' (0→1 before 2→3), or "
        "pairs of edges.",
        default=None,
        panel=PROGRAM,
        file=True,
    )
    channels: int = option(
        "Virtual channels for connections, of each node or channel.",
        default=12,
        ge=0,
        le=MAX_ELEMENTS,
        panel=HELD,
    )
    per: Literal["node", "channel"] | None = option(
        "Place of virtual channels: node (one per node of a path, ends included) or "
        "channel (one per channel).",
        default=None,
        panel=HELD,
        shown_default="node; channel if hosts hang on routers",
    )
    method: Literal["auto", "symmetric", "negotiated", "sequential"] = option(
        "Method: symmetric (regular patterns on tori), negotiated (any), sequential "
        "(the paper's) or auto.",
        default="auto",
        panel=HOW,
    )
    objective: Literal["phases", "time"] = option(
        "Objective: phases (fewest, then shortest) or time (least for phases and switches).",
        default="phases",
        panel=HOW,
    )
    schedule: Literal["auto", "streaming", "shared", "timetable"] = option(
        "Schedule of a phase: streaming (all connections at once), shared (one at a "
        "time per processor), timetable (the same, without shared channels) or auto "
        "(streaming or shared, by speed).",
        default="auto",
        panel=HOW,
    )
    execute: bool = option(
        "Simulate phases, and messages in random order, flit by flit.", default=False, panel=HOW
    )
    sync_clocks: float = option(
        "Synchronization before a phase.", unit="clocks", default=352.0, ge=0, le=MOST, panel=COSTS
    )
    phase_clocks: float = option(
        "Set-up of a phase.", unit="clocks", default=176.0, ge=0, le=MOST, panel=COSTS
    )
    clocks_per_word: float = option(
        "Time of a word at a processor.", unit="clocks", default=2.0, ge=0, le=MOST, panel=COSTS
    )
    channel_clocks_per_word: float = option(
        "Time of a word on a channel.", unit="clocks", default=2.0, ge=0, le=MOST, panel=COSTS
    )
    both_ways: bool = option(
        "Let a processor send and receive at the same time.",
        default=True,
        flags=("--both-ways/--one-way",),
        panel=COSTS,
    )
    send_clocks: float = option(
        "Overhead to send a message.", unit="clocks", default=400.0, ge=0, le=MOST, panel=COSTS
    )
    receive_clocks: float = option(
        "Overhead to receive a message.", unit="clocks", default=400.0, ge=0, le=MOST, panel=COSTS
    )


@dataclass(frozen=True, eq=False)
class MappedPattern:
    """A pattern on a network: its tasks' nodes, and the connections that come of that.

    ``inside_nodes`` is the share of its words that needs none.
    """

    graph: ProcessGraph
    network: Topology
    node_of: Ints
    connections: Connections
    inside_nodes: float


def prepare(question: CompileQuestion) -> MappedPattern:
    """Read the pattern, build the network, place the tasks, and count what they send."""
    network, _ = network_of(question)
    check_alike(network, "compiled phases")
    graph = read_program(question.app, messages=None, parts=question.parts)
    order = connection_order(question.order, graph)
    node_of = placed(question, graph, network)
    given = connections(
        graph, node_of, network.num_hosts,
        words=question.words, word_bytes=question.word_bytes, order=order,
        group=network.local_group,
    )  # fmt: skip
    weight: Literal["bytes", "uniform"] = "bytes" if question.words is None else "uniform"
    _, inside = entering(graph, network, node_of, weight)
    return MappedPattern(graph, network, node_of, given, inside)


@asks(
    CompileQuestion,
    prepare=prepare,
    title="Compiled phases",
    example="netloom compile all-to-all:64 --on torus:8x8 --words 256 --execute",
    page="compile.md",
    outputs=FILES,
)
def compile_phases(question: CompileQuestion, ready: MappedPattern) -> CompiledPhases:
    """Compile a communication pattern, known in advance, into phases, routes and a timetable.

    This is Feldmann, Stricker & Warfel's ConSet (1993). Connections that the hardware can hold at
    the same time make a phase, and phases follow one another. While words move, nothing has to be
    routed, buffered or waited for. The plan that is returned has been verified.

    Raises
    ------
    NoRouteError
        If no path joins the nodes of a connection.

    Examples
    --------
    >>> found = compile_phases("torus:4x4", "torus:4x4", words=256)
    >>> found.plan.num_phases, found.to_dict()["predicted"]["conset"]
    (1, 2576.0)
    """
    costs = ConSetCosts(**_fields(question, CONSET))
    passing = MessageCosts(**_fields(question, (*PASSING, "clocks_per_word")))
    network, given = ready.network, ready.connections
    per = question.per or ("node" if network.direct else "channel")
    capacity = Capacity(question.channels, per)
    begin = perf_counter()
    with patience(f"Compiling {counted(len(given), 'connection', ',')}"):
        plan = partition(
            given, network, capacity,
            costs=costs, method=question.method, objective=question.objective, seed=question.seed,
        )  # fmt: skip
        timetable = schedule(plan, costs, kind=_kind(question), seed=question.seed)
    seconds = perf_counter() - begin
    verify(plan, timetable, costs)
    return CompiledPhases(
        graph=ready.graph,
        node_of=ready.node_of,
        plan=plan,
        timetable=timetable,
        costs=costs,
        message_costs=passing,
        bound=least_phases(given, network, capacity),
        least_word_clocks=least_clocks(given, network, costs) if len(given) else 0.0,
        simulated=_simulated(question, plan, timetable, costs) if question.execute else None,
        seconds=seconds,
        inside_nodes=ready.inside_nodes,
        provenance=provenance_of(question, "compile_phases", network),
    )


def _fields(question: CompileQuestion, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(question, name) for name in names}


def _kind(question: CompileQuestion) -> Literal["streaming", "shared", "timetable"]:
    if question.schedule != "auto":
        return question.schedule
    slower = question.clocks_per_word > question.channel_clocks_per_word
    return "streaming" if question.both_ways and not slower else "shared"


def _simulated(
    question: CompileQuestion, plan: Plan, timetable: Timetable, costs: ConSetCosts
) -> SimulatedPhases:
    """Run phases and messages. What was finished when it was interrupted is kept."""
    overheads = _fields(question, PASSING)
    at_channels = MessageCosts(**overheads, clocks_per_word=question.channel_clocks_per_word)
    executed = None
    try:
        executed = execute(plan, costs, timetable=timetable)
        passed = message_passing(plan.connections, plan.topology, at_channels, seed=question.seed)
    except KeyboardInterrupt:
        note = "interrupted: what was finished by then"
        return SimulatedPhases(executed, None, note, interrupted=True)
    except DeadlockError as error:
        return SimulatedPhases(executed, None, f"no messages: {error}")
    return SimulatedPhases(executed, passed)
