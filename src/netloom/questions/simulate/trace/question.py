"""When does this trace finish on this network, and what does it wait for?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError
from netloom.mapping.named import place_tasks
from netloom.progress import counting
from netloom.questions.answers import CYCLES
from netloom.questions.base import InstanceOf, Question, argument, option
from netloom.questions.fields import Placed, refuse
from netloom.questions.named import mapping_name, network_of, placing
from netloom.questions.outputs import PLOT, table_output
from netloom.questions.recipes import provenance_of
from netloom.questions.register import asks
from netloom.questions.simulate.engines import prepare_program
from netloom.questions.simulate.fields import ProgramQuestion
from netloom.questions.simulate.trace.answer import TraceReplay
from netloom.simulation.side_by_side import run_all
from netloom.simulation.traces import run_trace
from netloom.spec import MAX_ELEMENTS
from netloom.workload.programs.goal import read_goal
from netloom.workload.programs.trace_files import read_trace
from netloom.workload.programs.traces import Trace

if TYPE_CHECKING:
    from netloom.machines import Machine
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.workload.programs.traces import Replay

OF_GOAL = ("overhead_cycles", "gap_cycles", "calc_cycles")
"""Fields that say how to read a GOAL schedule."""


class TraceFile(Question, panel="Trace"):
    """A trace, and how it is read."""

    trace: str | Path | InstanceOf[Trace] = argument(
        "Table of messages (.csv, .tsv, .parquet) in any order, or a GOAL schedule (.goal).",
        kw_only=True,
        panel="Arguments",
        file=True,
    )
    flit_bytes: int | None = option(
        "Size of a flit, in bytes; a channel takes one cycle for it.",
        default=None,
        ge=1,
        le=MAX_ELEMENTS,
        shown_default="the machine's",
    )
    overhead_cycles: int = option(
        "Overhead o of a GOAL message at each end, in cycles.",
        default=0,
        ge=0,
        lt=2**31,
        unit=CYCLES,
    )
    gap_cycles: int = option(
        "Gap g between two GOAL messages of a task, in cycles.",
        default=0,
        ge=0,
        lt=2**31,
        unit=CYCLES,
    )
    calc_cycles: float = option(
        "Time of a GOAL unit of calc, in cycles.", default=1.0, ge=0, lt=2**31, unit=CYCLES
    )


class ReplayQuestion(ProgramQuestion, Placed, TraceFile):
    """A trace of messages that wait for one another."""


@dataclass(frozen=True, eq=False)
class PreparedTrace:
    """A trace, the network that it runs on, and the rows that it becomes on its nodes."""

    trace: Trace
    network: PreparedNetwork
    program: Replay


def prepare(question: ReplayQuestion) -> PreparedTrace:
    """Read the trace, build the network, and place the tasks."""
    if question.engine == "flow":
        raise InputError("engine", "'flow'", "network or worm, for traces")
    found = network_of(question)
    trace = _read(question, found[1])
    network = prepare_program(
        question,
        longest_flits=int(np.max(trace.flits, initial=0)),
        flit_bytes=trace.flit_bytes or question.flit_bytes,
        found=found,
    )
    node_of = place_tasks(question.mapping, trace.num_tasks, network.topology, **placing(question))
    return PreparedTrace(trace, network, trace.placed(network.topology, node_of))


@asks(
    ReplayQuestion,
    prepare=prepare,
    title="Replayed trace",
    example="netloom simulate trace examples/halo.csv --on torus:4x4x4",
    page="run-a-program.md",
    outputs=(
        table_output("save_messages", "The times of every message, .csv or .parquet.", "messages"),
        PLOT,
    ),
)
def replay(question: ReplayQuestion, ready: PreparedTrace) -> TraceReplay:
    """Replay a trace of messages with all its dependencies, and divide its time among causes.

    Ctrl-C ends the run, and what was known by then is the answer.

    Raises
    ------
    DeadlockError
        If messages block each other for good.

    Examples
    --------
    >>> found = replay("torus:4x4x4", trace="examples/halo.csv", router="single-cycle")
    >>> found.finish_cycles > found.ideal_finish_cycles > 6000
    True
    >>> len(found.messages()), found.critical_entries()["id"][0].startswith("step0.")
    (1278, True)
    """
    trace, network, program = ready.trace, ready.network, ready.program
    with counting(len(program.messages), f"{trace.name} on {network.topology.name}") as tell:
        run = partial(run_trace, network, program, question.most_cycles, tell)
        runs = run_all([run])
    found = runs[0] if runs else run(stopped=lambda: True)
    return TraceReplay(
        **vars(found),
        network=network,
        trace=trace,
        mapping=mapping_name(question.mapping),
        provenance=provenance_of(question, "replay", network.topology),
    )


def _read(question: ReplayQuestion, on_machine: Machine | None) -> Trace:
    """Return the trace, having refused what says nothing of it."""
    if question.engine == "worm":
        refuse(question, ("packet_flits",), "engine network: lockstep worms are not cut")
    trace = question.trace
    if isinstance(trace, Trace):
        refuse(question, ("flit_bytes", *OF_GOAL), "the path of a trace, to be read so")
        return trace
    flit_bytes = question.flit_bytes
    if flit_bytes is None and on_machine and float(on_machine.flit_bytes).is_integer():
        flit_bytes = int(on_machine.flit_bytes)
    if Path(trace).suffix.lower() != ".goal":
        refuse(question, OF_GOAL, "a .goal file, to be read so")
        return read_trace(trace, flit_bytes=flit_bytes)
    if flit_bytes is None:
        raise InputError("flit_bytes", "none", "the bytes of a flit: GOAL counts in bytes")
    return read_goal(
        trace, flit_bytes=flit_bytes, **{name: getattr(question, name) for name in OF_GOAL}
    )
