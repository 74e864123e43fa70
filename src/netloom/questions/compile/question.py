"""In which phases, over which routes and when does a known pattern communicate best?"""

from __future__ import annotations

import json
from dataclasses import dataclass
from os import PathLike
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from netloom.base.errors import DeadlockError, InputError
from netloom.base.progress import patience
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.textfiles import write_text
from netloom.base.words import counted
from netloom.drawing.save import check_writable, make_folder
from netloom.models import ConSetCosts, MessageCosts
from netloom.phases import (
    Capacity,
    connections,
    least_clocks,
    least_phases,
    partition,
    schedule,
    verify,
)
from netloom.phases.execute.execution import execute
from netloom.phases.execute.message_passing import message_passing
from netloom.phases.plan.connections import connection_order
from netloom.questions.base import MOST, MOST_WORDS, option
from netloom.questions.compile.answer import CompiledPhases, SimulatedPhases
from netloom.questions.fields import BrokenParts, MonitoredParts, Placed, ProgramOnNetwork, Seeded
from netloom.questions.named import entering, network_of, placed, provenance_of, read_program
from netloom.questions.outputs import Output, picture_output
from netloom.questions.register import asks, chart_of, record
from netloom.questions.timelines import PERFETTO
from netloom.topology import Topology
from netloom.topology.alike import check_alike, check_direct
from netloom.workload import ProcessGraph

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from netloom.base.arrays import Ints
    from netloom.phases import Connections, Plan, Timetable


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
    if question.execute:
        check_direct(network, "phases flit by flit", "compile without execute")
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
