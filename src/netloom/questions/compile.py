"""Compile a communication pattern, known in advance, into phases, routes and a timetable."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from operator import methodcaller
from os import PathLike
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from netloom.base.errors import DeadlockError, InputError
from netloom.base.figures import SHARE, Figures, derived, figure, unseen
from netloom.base.progress import patience
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.textfiles import write_text
from netloom.base.units import seconds
from netloom.base.words import arrows, counted, number, percent
from netloom.contention import ConSetCosts, MessageCosts, conset_clocks
from netloom.drawing.save import check_writable, make_folder
from netloom.drawing.timelines import Timeline
from netloom.phases import Connections, Plan, Timetable, connections, plan_files, write_plan
from netloom.phases.plan.plans import MOST_WORDS
from netloom.phases.timetables import (
    Limit,
    Predicted,
    expected_makespan,
    limit_of,
    predicted_clocks,
)
from netloom.questions import named, terminal
from netloom.questions.answers import Answer, Columns, Verdict, table as table_of
from netloom.questions.base import MOST, option
from netloom.questions.fields import BrokenParts, MonitoredParts, Placed, ProgramOnNetwork, Seeded
from netloom.questions.outputs import PERFETTO, Output, picture_output
from netloom.questions.plans import beside_fewest, phases_timeline, plan_output
from netloom.questions.register import asks
from netloom.questions.terminal import size_of, subject
from netloom.topology import Topology
from netloom.topology.measures import check_alike
from netloom.workload import ProcessGraph

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.drawing.timetables import PhasesInTime
    from netloom.phases.execution import Execution, NodeProgram

SURELY = 1.03
"""Times the expected clocks, phases may take when they are simulated."""

CLOCKS = "clocks"

MOST_ROWS = 12
"""Most phases that are shown one by one. If there are more, the longest are shown."""

USED = {"out": "plan.json", "programs": "nodes/"}
"""What writes a plan, so that it can be used."""


_OF_PROGRAM = partial(option, panel="Program")
_HELD = partial(option, panel="What the network holds")
_HOW = partial(option, panel="How it is compiled")
_COST = partial(option, panel="Costs of the machine, in clocks (those of iWarp)")
_CLOCKS = partial(_COST, unit=CLOCKS, ge=0, le=MOST)


class CompileQuestion(Seeded, BrokenParts, Placed, MonitoredParts, ProgramOnNetwork):
    """A pattern that is known in advance, to be cut into phases."""

    words: int | None = _OF_PROGRAM(
        "Words of every connection, instead of the pattern's bytes.",
        default=None,
        ge=0,
        le=MOST_WORDS,
    )
    word_bytes: int = _OF_PROGRAM("Size of a word.", unit="bytes", default=4, ge=1, le=MAX_ELEMENTS)
    order: str | PathLike[str] | list[Any] | None = _OF_PROGRAM(
        "Order of connections: a file of lines such as '0 1 < 2 3' (0→1 before 2→3), or "
        "pairs of edges.",
        default=None,
        file=True,
    )
    channels: int = _HELD(
        "Virtual channels for connections, of each node or channel.",
        default=12,
        ge=0,
        le=MAX_ELEMENTS,
    )
    per: Literal["node", "channel"] | None = _HELD(
        "Place of virtual channels: node (one per node of a path, ends included) or "
        "channel (one per channel).",
        default=None,
        shown_default="node; channel if hosts hang on routers",
    )
    method: Literal["auto", "symmetric", "negotiated", "sequential"] = _HOW(
        "Method: symmetric (regular patterns on tori), negotiated (any), sequential "
        "(the paper's) or auto.",
        default="auto",
    )
    objective: Literal["phases", "time"] = _HOW(
        "Objective: phases (fewest, then shortest) or time (least for phases and switches).",
        default="phases",
    )
    schedule: Literal["auto", "streaming", "shared", "timetable"] = _HOW(
        "Schedule of a phase: streaming (all connections at once), shared (one at a "
        "time per processor), timetable (the same, without shared channels) or auto "
        "(streaming or shared, by speed).",
        default="auto",
    )
    execute: bool = _HOW(
        "Simulate phases, and messages in random order, flit by flit.", default=False
    )
    sync_clocks: float = _CLOCKS("Synchronization before a phase.", default=352.0)
    phase_clocks: float = _CLOCKS("Set-up of a phase.", default=176.0)
    clocks_per_word: float = _CLOCKS("Time of a word at a processor.", default=2.0)
    channel_clocks_per_word: float = _CLOCKS("Time of a word on a channel.", default=2.0)
    both_ways: bool = _COST(
        "Let a processor send and receive at the same time.",
        default=True,
        flags=("--both-ways/--one-way",),
    )
    send_clocks: float = _CLOCKS("Overhead to send a message.", default=400.0)
    receive_clocks: float = _CLOCKS("Overhead to receive a message.", default=400.0)


class Simulated(Figures):
    """What simulation made of phases, and of messages. None where it did not come to it.

    ``note`` says why.
    """

    conset: float | None = figure("phases", CLOCKS, lead=True, default=None)
    message_passing: float | None = figure("messages", CLOCKS, lead=True, default=None)
    phases: tuple[float, ...] | None = figure(unit=CLOCKS, default=None)
    channel_load: tuple[float, ...] | None = figure("busiest channel works", default=None)
    note: str | None
    execution: Execution | None = unseen(default=None)
    interrupted: bool = unseen(default=False)


class Outcome(Figures):
    """Which is faster.

    Attributes
    ----------
    faster
        ``open`` if only simulation can tell, ``none`` if there is nothing to do.
    factor
        Clocks of the slower over those of the faster. None if it is open.
    """

    faster: Literal["phases", "messages", "open", "none"]
    factor: float | None = figure(unit="times")


class CompiledPhases(Answer):
    """A pattern in phases, with routes and times. The plan has been verified.

    Attributes
    ----------
    lower_bound_clocks
        No plan that counts shared channels takes fewer clocks, with switches.
    max_channels_used
        Most virtual channels that a node, or channel, has in use in a phase.
    clocks
        Of all phases by the timetable, with their switches.
    expected_clocks
        The same with the latency of routes, which the timetable leaves out. Simulated transfers
        take 3 % more to 11 % less (docs/compile.md). Of kind ``timetable`` more, if connections
        share channels.
    seconds
        That partition and schedule took.
    plan, timetable
        Phase and route of each connection, and when it starts and ends.
    costs
        Of phases.
    """

    KEY_TABLE: ClassVar = "phases"

    inside_nodes: float = figure("share of the words that stays inside nodes", SHARE)
    app: str
    topology: str
    tasks: int
    num_nodes: int = figure("nodes", at="nodes")
    direct: bool
    network_channels: int
    connections: int
    words: int
    num_channels: int = figure("virtual channels", at="channels")
    per: str
    num_phases: int = figure("phases", at="phases", lead=True, key=True, limit="lower_bound_phases")
    lower_bound_phases: int
    lower_bound_why: str
    max_channels_used: int = figure("virtual channels used", lead=True, limit="num_channels")
    method: str
    phase_costs: dict[str, float] = figure(at="costs")
    message_costs: dict[str, float]
    schedule: str = figure(at="schedule.kind")
    clocks: float = figure("by schedule", CLOCKS, at="schedule.clocks", lead=True, key=True)
    lower_bound_clocks: float = figure("at least, with shared channels", CLOCKS, lead=True)
    expected_clocks: float = figure(
        "expected, latency included", CLOCKS, at="schedule.expected_clocks", lead=True, key=True
    )
    makespan: tuple[float, ...] = figure(unit=CLOCKS, at="schedule.makespan")
    lower_bound: tuple[float, ...] = figure(unit=CLOCKS, at="schedule.lower_bound")
    predicted: Predicted = figure("by formula", flat="predicted_", lead=True)
    simulated: Simulated | None = figure("simulated", flat="simulated_", lead=True)
    limit: Limit | None
    seconds: float = figure(unit="seconds")
    interrupted: bool
    plan: Plan = unseen()
    timetable: Timetable = unseen()
    costs: ConSetCosts = unseen()
    net: Topology | None = unseen()

    @derived("share of the schedule that switches take", SHARE, lead=True)
    def switch_share(self) -> float | None:
        """None without phases."""
        return 1 - sum(self.makespan) / self.clocks if self.clocks else None

    @derived(at="verdict")
    def outcome(self) -> Outcome:
        """Which is faster, phases or messages, as far as is known."""
        if self.limit is None:
            return Outcome(faster="none", factor=None)
        phases, messages = self._against
        if not self._simulated and self.schedule != "timetable":
            if SURELY * phases > messages:
                return Outcome(faster="open", factor=None)
            phases *= SURELY
        factor = max(phases, messages) / max(min(phases, messages), 1e-300)
        return Outcome(faster="phases" if phases <= messages else "messages", factor=factor)

    @property
    def _simulated(self) -> tuple[float, float] | None:
        """The clocks of phases and of messages, if simulation came to both."""
        run = self.simulated
        if run is None or run.conset is None or run.message_passing is None:
            return None
        return run.conset, run.message_passing

    @property
    def _against(self) -> tuple[float, float]:
        """The clocks of phases and of messages, as far as is known."""
        kept = self.clocks if self.schedule == "timetable" else self.expected_clocks
        return self._simulated or (kept, self.predicted.message_passing)

    @property
    def of(self) -> str:
        """Program, network and mapping."""
        return subject(self.app, self.topology, self.asked["mapping"])

    def judged(self) -> Verdict:
        """Return which is faster, phases or messages, by how much, and what limits the phases."""
        faster, factor = self.outcome.faster, self.outcome.factor or 1.0
        if faster == "none":
            return Verdict("fine", "Nothing to connect: no two nodes communicate.", note=self._note)
        phases, messages = (f"{clocks:,.0f}" for clocks in self._against)
        against = f"({phases} against {messages} clocks)"
        times = f"{number(factor)} times as fast as" if factor >= 1.005 else "as fast as"
        write, run = self.again(**USED), self.again(execute=True)
        simulated = self.asked["execute"]
        following = run if not simulated else write if faster == "phases" else ""
        if faster == "open":
            mark, said = "unknown", f"Cannot tell yet: phases take {phases} clocks, messages "
            said += f"{messages} or more."
        elif self.schedule == "timetable" and not self._simulated:
            slower = "messages" if faster == "phases" else "phases"
            mark, said = "unknown", f"By formula, {faster} are {times} {slower} {against}."
        elif faster == "phases":
            about = "" if self._simulated else "at least "
            mark, said = "fine", f"Use phases: {about}{times} messages {against}."
        else:
            mark, said = "limited", f"Keep message passing: {times} phases {against}."
        assert self.limit, "nothing to connect is said above"
        least = self.lower_bound_phases
        better = "Faster switching" if self.num_phases == least else "Fewer phases"
        switching = self.limit.kind == "switches"
        more = f" {better} would help, faster links would not." * switching
        pays, mean = self.predicted.break_even_words, self.words / self.connections
        until = ""
        if pays and (faster == "phases") == (mean <= pays):
            until = f"up to {counted(pays, 'word', ',.0f')} per connection (by formula)"
        lines = {
            "why": arrows(f"{self.limit.sentence}{more}"),
            "limits": f"{beside_fewest(self.num_phases, least)}: {self.lower_bound_why}",
            "pays": until,
        }
        return Verdict(mark, said, lines, following, self._note)

    @property
    def _note(self) -> str:
        """Which clocks are estimates, and what simulation did not come to."""
        if self.simulated and self.simulated.note:
            return f"* {self.simulated.note}"
        if self._simulated or self.outcome.faster == "none":
            return ""
        if self.schedule == "timetable":
            return "* estimates: neither figure counts channels that connections share"
        longer = "messages take longer if they share channels"
        if self.outcome.faster == "open":
            return f"* estimates: {longer}"
        allowed = "phases may take 3 % more, which the factor allows for"
        return f"* estimates: {allowed}, and {longer}"

    def figure_lines(self, width: int) -> list[str]:
        """Return the longest phases, and the figures of all."""
        if not self.num_phases:
            return []
        rows, hidden = self.phases(), self.num_phases - MOST_ROWS
        if hidden > 0:
            rows = rows.sort("makespan", "phase", descending=[True, False]).head(MOST_ROWS)
        found = terminal.table(
            [plan_files.Phase.from_json(each) for each in rows.to_dicts()], self, width
        )
        found += [f"The longest {MOST_ROWS}; {hidden} more."] * (hidden > 0)
        return [*found, "", *terminal.pairs(self, self, width)]

    def remarks(self) -> Iterator[str]:
        """Yield what was compiled and how, and how far from their bounds phases are."""
        ordered = len(self.plan.connections.before) if self.net else 0
        network = f", {ordered} in order" if ordered else ""
        network += f"; {size_of(self.net)}" if self.net else ""
        connections = counted(self.connections, "connection", ",")
        words = counted(self.words, "word", ",")
        yield f"{counted(self.tasks, 'task')}, {connections}, {words}{network}"
        how = f"{self.method}, {self.schedule}, compiled in {seconds(self.seconds, 2)}"
        yield f"{counted(self.num_channels, 'virtual channel')} per {self.per}; {how}"
        if not self.num_phases:
            return
        least, most = (f"{clocks:,.0f}" for clocks in (min(self.makespan), max(self.makespan)))
        lasting = most if least == most else f"{least} to {most}"
        over = sum(self.makespan) / max(sum(self.lower_bound), 1e-300) - 1
        near = "at its bound" if over <= 1e-9 else f"in all {percent(over)} above the bound"
        yield f"each phase lasts {lasting} clocks without its switch, {near}"
        if self.simulated and self.simulated.channel_load:
            works = percent(max(self.simulated.channel_load))
            yield f"simulated, the busiest channel works {works} of its phase"
        if self.schedule == "timetable":
            yield "expected clocks are more where connections share channels"
        else:
            yield "simulated transfers take 3 % more to 11 % less than expected"
        pays, until = self.predicted.break_even_words, "faster however long connections are"
        if pays is not None:
            until = f"faster up to {counted(pays, 'word', ',.0f')} of a mean connection"
        yield f"by formula phases are {'never faster' if pays == 0 else until}"

    def programs(self) -> list[NodeProgram]:
        """Return the program of each node: what it sends and receives, in which order."""
        from netloom.phases.execution import node_programs

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
            lower_bound_phases=self.lower_bound_phases,
            provenance=self.provenance,
            programs=[program.to_dict() for program in self.programs()],
        )

    def timeline(self) -> Timeline:
        """Return when each connection moves its words, and the phases, on tracks of nodes."""
        run = self.simulated.execution if self.simulated else None
        return phases_timeline(self.plan, self.timetable, self.costs, run)

    @table_of(plan_files.Phase)
    def phases(self) -> Columns:
        """Return one row per phase. ``simulated`` where phases were simulated."""
        run = self.simulated.phases if self.simulated else None
        simulated = {} if run is None else {"simulated": run}
        return plan_files.sums_of_phases(self.plan, self.timetable, self.costs) | simulated

    @table_of(plan_files.Channel)
    def channels(self) -> Columns:
        """Return one row per phase and channel that is used in it."""
        return plan_files.sums_of_channels(self.plan)

    @table_of(plan_files.Node)
    def nodes(self) -> Columns:
        """Return one row per node: the words that its processor moves."""
        return plan_files.sums_of_nodes(self.plan, self.costs)

    @table_of(plan_files.Connection)
    def table(self) -> Columns:
        """Return one row per connection. If phases were simulated, with those times, too."""
        run = self.simulated.execution if self.simulated else None
        return plan_files.sums_of_connections(self.plan, self.timetable, run)

    @property
    def network(self) -> Topology | None:
        """The network, made again from the question where it is not at hand."""
        return named.network_again(self.net, self.asked, self.channels())

    def parts(self) -> dict[str, Part]:
        """Return where the time goes, the timetable, and the phases on the network, by name."""
        phases = {"phases on the network": self._maps[0]}
        return {"time": self._time, "timetable": self._in_time().chart()} | phases

    def arranged(self) -> list[Part]:
        """Return where the time goes above the timetable. ``phase_map`` is that of the phases."""
        from netloom.drawing.frame import column

        return [column(self._time, self._in_time().chart(), spacing=20)]

    def footer(self) -> list[str]:
        """Return the pattern and its phases, and what bars of the timetable are."""
        clocks = counted(number(self.clocks), "clock")
        kind = f"{counted(self.connections, 'connection')}, {self.schedule}: {clocks}"
        return [self._title, kind, *self._in_time().words]

    @property
    def _title(self) -> str:
        least = self.lower_bound_phases
        bound = ", the lower bound" if self.num_phases == least else f" (at least {least})"
        return f"{self.app} on {self.topology}: {counted(self.num_phases, 'phase')}{bound}"

    @property
    def _time(self) -> Part:
        from netloom.drawing.timetables import switching

        return switching(self.clocks, sum(self.makespan), self.num_phases)

    @property
    def _maps(self) -> tuple[Part, int, float]:
        """The first phases on the network, how many they are, and how busy channels are in all."""
        from netloom.drawing.timetables import phase_maps

        crossed = self.channels()
        words = np.zeros((self.num_phases, self.network_channels))
        places = crossed["phase"].to_numpy(), crossed["channel"].to_numpy()
        words[places] = self.phase_costs["channel_clocks_per_word"] * crossed["words"].to_numpy()
        return phase_maps(self.network, words, np.array(self.makespan))

    def _in_time(self) -> PhasesInTime:
        from netloom.drawing.timetables import PhasesInTime

        network = self.network
        return PhasesInTime(
            self.table(),
            np.array(self.makespan),
            self.phases()["connections"].to_numpy(),
            self.phase_costs["switch_clocks"],
            bool(self.phase_costs["both_ways"]),
            self.nodes()["words"].to_numpy(),
            str if network is None else network.name_of,
        )

    def phase_map(self) -> Part:
        """Return every phase on the network, channels by the share of the phase that they work."""
        from netloom.drawing.frame import framed

        (maps, shown, mean), many = self._maps, counted(self.num_phases, "phase")
        said = f"Channels carry words {percent(mean)} of the time of {many}, without switches."
        part = f"; the first {shown} of {many}" if shown < self.num_phases else ""
        words = f"every channel by the share of each phase in which it carries words{part}"
        return framed([maps], said, [self._title, words])


def _check_programs(path: Path) -> None:
    """Refuse what is neither a .json file nor a folder, or cannot be written."""
    check_writable(path, folder=path.suffix != ".json")
    if path.suffix not in ("", ".json"):
        raise InputError(str(path), f"suffix '{path.suffix}'", "a .json file or a folder")


def _write_programs(answer: Any, path: Path) -> str:
    make_folder(path.parent)
    programs = answer.programs()
    if path.suffix == ".json":
        lines = ",\n ".join(json.dumps(each.to_dict()) for each in programs)
        write_text(path, f"[\n {lines}\n]\n")
    else:
        make_folder(path)
        width = len(str(len(programs) - 1))
        for each in programs:
            write_text(path / f"node-{each.node:0{width}}.txt", f"{each}\n")
    return f"Programs: {path}"


FILES = (
    plan_output("Plan file: phases, routes, times, programs."),
    Output(
        "programs",
        "Programs of the nodes: a .json file, or a folder for a text file per node.",
        _write_programs,
        _check_programs,
    ),
    picture_output("gantt", "Gantt chart", methodcaller("picture"), "Gantt chart"),
    PERFETTO,
    picture_output("map", "Every phase on the network", methodcaller("phase_map"), "Map"),
)


@dataclass(frozen=True, eq=False)
class MappedPattern:
    """A pattern on a network: the connections that come of where its tasks are.

    ``inside_nodes`` is the share of its words that needs none.
    """

    graph: ProcessGraph
    network: Topology
    connections: Connections
    inside_nodes: float


def prepare(question: CompileQuestion) -> MappedPattern:
    """Read the pattern, build the network, place the tasks, and count what they send."""
    network, _ = named.network_of(question)
    check_alike(network, "compiled phases")
    graph = named.read_program(question.app, messages=None, parts=question.parts)
    node_of = named.placed(question, graph, network)
    given = connections(
        graph,
        node_of,
        network.num_hosts,
        words=question.words,
        word_bytes=question.word_bytes,
        order=question.order,
        group=network.local_group,
    )
    weight: Literal["bytes", "uniform"] = "bytes" if question.words is None else "uniform"
    _, inside = named.entering(graph, network, node_of, weight)
    return MappedPattern(graph, network, given, inside)


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
    >>> found.num_phases, found.predicted.conset
    (1, 2576.0)
    """
    from netloom.phases import Capacity, least_clocks, least_phases, partition, schedule, verify

    costs = ConSetCosts(
        sync_clocks=question.sync_clocks,
        phase_clocks=question.phase_clocks,
        clocks_per_word=question.clocks_per_word,
        channel_clocks_per_word=question.channel_clocks_per_word,
        both_ways=question.both_ways,
    )
    passing = MessageCosts(
        send_clocks=question.send_clocks,
        receive_clocks=question.receive_clocks,
        clocks_per_word=question.clocks_per_word,
    )
    network, given = ready.network, ready.connections
    per = question.per or ("node" if network.direct else "channel")
    capacity = Capacity(question.channels, per)
    kind = question.schedule
    if kind == "auto":
        slower = question.clocks_per_word > question.channel_clocks_per_word
        kind = "streaming" if question.both_ways and not slower else "shared"
    begin = perf_counter()
    with patience(f"Compiling {counted(len(given), 'connection', ',')}"):
        plan = partition(
            given,
            network,
            capacity,
            costs=costs,
            method=question.method,
            objective=question.objective,
            seed=question.seed,
        )
        timetable = schedule(plan, costs, kind=kind, seed=question.seed)
    took = perf_counter() - begin
    verify(plan, timetable, costs)
    simulated = None
    if question.execute:  # what was finished when it was interrupted is kept
        from netloom.phases.execution import execute, message_passing

        at_channels = replace(passing, clocks_per_word=question.channel_clocks_per_word)
        executed, passed, note, interrupted = None, None, None, False
        try:
            executed = execute(plan, costs, timetable=timetable)
            passed = message_passing(given, network, at_channels, seed=question.seed)
        except KeyboardInterrupt:
            note, interrupted = "interrupted: what was finished by then", True
        except DeadlockError as error:
            note = f"no messages: {error}"
        simulated = Simulated(note=note, interrupted=interrupted, execution=executed)
        if executed is not None:
            simulated = replace(
                simulated,
                conset=executed.clocks,
                message_passing=passed.clocks if passed else None,
                phases=tuple((executed.phase_cycles * executed.cycle_clocks).tolist()),
                channel_load=tuple(executed.channel_load.tolist()),
            )
    bound = least_phases(given, network, capacity)
    least_word_clocks = least_clocks(given, network, costs) if len(given) else 0.0
    return CompiledPhases(
        inside_nodes=ready.inside_nodes,
        app=ready.graph.name,
        topology=network.name,
        tasks=ready.graph.num_tasks,
        num_nodes=network.num_hosts,
        direct=network.direct,
        network_channels=network.num_channels,
        connections=len(given),
        words=int(given.words.sum()),
        num_channels=capacity.virtual_channels,
        per=capacity.per,
        num_phases=plan.num_phases,
        lower_bound_phases=bound.phases,
        lower_bound_why=bound.why,
        max_channels_used=int(plan.use().max(initial=0)),
        method=plan.method,
        phase_costs=asdict(costs) | {"switch_clocks": costs.switch_clocks},
        message_costs=asdict(passing),
        schedule=timetable.kind,
        clocks=conset_clocks(timetable.makespan, costs),
        lower_bound_clocks=bound.phases * costs.switch_clocks + least_word_clocks,
        expected_clocks=conset_clocks(expected_makespan(plan, timetable, costs), costs),
        makespan=tuple(timetable.makespan.tolist()),
        lower_bound=tuple(timetable.lower_bound.tolist()),
        predicted=predicted_clocks(plan, costs, passing),
        simulated=simulated,
        limit=limit_of(plan, timetable, costs) if plan.num_phases else None,
        seconds=took,
        interrupted=simulated is not None and simulated.interrupted,
        plan=plan,
        timetable=timetable,
        costs=costs,
        net=network,
        provenance=named.provenance_of(question, "compile_phases", network),
    )
