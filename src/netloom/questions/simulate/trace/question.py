"""When does this trace finish on this network, and what does it wait for?"""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np

from netloom.errors import InputError
from netloom.mapping.named import place_tasks
from netloom.progress import counting
from netloom.questions.base import InstanceOf, argument, option
from netloom.questions.fields import ContextSwitches, Placed, refuse
from netloom.questions.named import find_network
from netloom.questions.outputs import PLOT
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

TRACE = "Trace"

OF_GOAL = ("overhead_cycles", "gap_cycles", "calc_cycles")
"""Fields that say how to read a GOAL schedule."""


class ReplayQuestion(ContextSwitches, Placed, ProgramQuestion):
    """A trace of messages that wait for one another."""

    trace: str | Path | InstanceOf[Trace] = argument(
        "Table of messages (.csv, .tsv, .parquet) or GOAL schedule (.goal), whose order of rows "
        "says nothing; or a trace.",
        kw_only=True,
        file=True,
    )
    flit_bytes: int | None = option(
        "Bytes of a flit; a cycle is the time that a channel takes for them.",
        default=None,
        ge=1,
        le=MAX_ELEMENTS,
        panel=TRACE,
        shown_default="the machine's",
    )
    overhead_cycles: int = option(
        "Of GOAL: the overhead o.", default=0, ge=0, lt=2**31, panel=TRACE
    )
    gap_cycles: int = option("Of GOAL: the gap g.", default=0, ge=0, lt=2**31, panel=TRACE)
    calc_cycles: float = option(
        "Of GOAL: cycles of a unit of calc.", default=1.0, ge=0, lt=2**31, panel=TRACE
    )


@asks(
    ReplayQuestion,
    title="Replayed trace",
    example="netloom simulate trace examples/halo.csv --on torus:4x4x4",
    page="run-a-program.md",
    outputs=(PLOT,),
)
def replay(question: ReplayQuestion) -> TraceReplay:
    """Replay a trace with all its dependences: when it finishes, and what that time is made of.

    Ctrl-C ends the run, and what was known by then is the answer.

    Raises
    ------
    InputError
        If a field, a file or their combination cannot be used.
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
    trace = _read(question)
    network = prepare_program(
        question,
        longest_flits=int(np.max(trace.flits, initial=0)),
        flit_bytes=trace.flit_bytes or question.flit_bytes,
    )
    node_of = place_tasks(
        question.mapping,
        trace.num_tasks,
        network.topology,
        seed=question.seed,
        tasks_per_node=question.tasks_per_node,
    )
    program = trace.placed(network.topology, node_of)
    with counting(len(program.messages), f"{trace.name} on {network.topology.name}") as tell:
        run = partial(run_trace, network, program, question.most_cycles, tell)
        runs = run_all([run])
    found = runs[0] if runs else run(stopped=lambda: True)
    return TraceReplay(
        **vars(found),
        network=network,
        trace=trace,
        mapping=question.mapping if isinstance(question.mapping, str) else "as given",
        provenance=provenance_of(question, "replay", network.topology),
    )


def _read(question: ReplayQuestion) -> Trace:
    """Return the trace, having refused what says nothing of it."""
    refuse(question, ("switch_cycles",), "transactions: the entries of a trace have no contexts")
    if question.engine == "worm":
        refuse(question, ("packet_flits",), "engine network: lockstep worms are not cut")
    trace = question.trace
    if trace is None:
        raise InputError("trace", "none", "a .csv, .tsv, .parquet or .goal file")
    if isinstance(trace, Trace):
        refuse(question, ("flit_bytes", *OF_GOAL), "the path of a trace, to be read so")
        return trace
    flit_bytes = _flit_bytes(question)
    if Path(trace).suffix.lower() != ".goal":
        refuse(question, OF_GOAL, "a .goal file, to be read so")
        return read_trace(trace, flit_bytes=flit_bytes)
    if flit_bytes is None:
        raise InputError("flit_bytes", "none", "the bytes of a flit: GOAL counts in bytes")
    return read_goal(
        trace, flit_bytes=flit_bytes, **{name: getattr(question, name) for name in OF_GOAL}
    )


def _flit_bytes(question: ReplayQuestion) -> int | None:
    """Return the bytes of a flit, the machine's own where none are given."""
    if question.flit_bytes is not None:
        return question.flit_bytes
    _, on_machine = find_network(question.on)
    if on_machine is None or not float(on_machine.flit_bytes).is_integer():
        return None
    return int(on_machine.flit_bytes)
