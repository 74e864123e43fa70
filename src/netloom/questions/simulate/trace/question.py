"""When does this trace finish on this network, and what does it wait for?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.base.units import parse_seconds
from netloom.base.words import listed
from netloom.mapping.allocation import place_tasks
from netloom.questions.fields import clock_of, known_clock, refuse
from netloom.questions.named import computing, mapping_name, network_of, provenance_of
from netloom.questions.outputs import PLOT, table_output
from netloom.questions.register import asks
from netloom.questions.simulate.engines import (
    OTHERS,
    PreparedFlows,
    prepare_flows,
    prepare_program,
    refuse_flow_fields,
    refuse_packets,
)
from netloom.questions.simulate.trace.answer import TraceReplay
from netloom.questions.simulate.trace.flow_answer import CycleFlowReplay, FlowReplay
from netloom.questions.simulate.trace.programs import (
    ReplayQuestion,
    as_planned,
    as_program,
    is_msccl,
    is_plan,
)
from netloom.questions.timelines import PERFETTO
from netloom.simulation.side_by_side import run_all
from netloom.simulation.traces import run_flow_trace, run_trace
from netloom.workload.programs.collectives.msccl_running import Execution
from netloom.workload.programs.goal import CALC_SECONDS, read_goal, read_timed_goal
from netloom.workload.programs.messages import with_delay, with_overhead
from netloom.workload.programs.trace_files import read_trace
from netloom.workload.programs.traces import Trace
from netloom.workload.programs.training import is_rank_program, rank_trace, ranks_apart

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.machines import Machine
    from netloom.questions.fields import Clock
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.simulation.traces import FlowTraceRun, TraceRun
    from netloom.topology import Topology
    from netloom.workload.programs.traces import Replay

OF_GOAL = ("overhead_cycles", "gap_cycles", "calc_cycles")
OF_TIMED_GOAL = ("gap_time", "calc_time")
"""Fields that say how to read a GOAL schedule, in cycles and in seconds."""


@dataclass(frozen=True, eq=False)
class PreparedTrace:
    """A trace, the network that it runs on, and the rows that it becomes on its nodes."""

    trace: Trace
    network: PreparedNetwork | PreparedFlows
    program: Replay


def prepare(question: ReplayQuestion) -> PreparedTrace:
    """Read the trace, build the network, and place the tasks."""
    topology, machine = network_of(question, switches=question.engine == "flow")
    on = None
    if is_msccl(question.trace):
        question, on = as_program(question, topology)
    refuse(question, ("size",), "an .xml of MSCCL, which has none of its own")
    if is_plan(question.trace):
        question, on = as_planned(question, topology)
    if question.engine == "flow":
        found = _prepared_flows(question, topology, machine)
        assert isinstance(found.network, PreparedFlows)
        return found if on is None else replace(found, network=on(found.network, found.program))
    refuse_flow_fields(question)
    if question.engine != "network":
        refuse_packets(question)
    trace, bandwidth = _read_in_cycles(question, topology, machine)
    network = prepare_program(
        question,
        longest_flits=int(np.max(trace.flits, initial=0)),
        flit_bytes=trace.flit_bytes or question.flit_bytes,
        bytes_per_second=bandwidth,
        found=(topology, machine),
    )
    return PreparedTrace(trace, network, _placed(question, trace, network.topology))


def _prepared_flows(
    question: ReplayQuestion, topology: Topology, machine: Machine | None
) -> PreparedTrace:
    trace, clock = _read_for_flows(question, topology, machine)
    network = prepare_flows(question, topology, clock)
    if clock is None:
        return PreparedTrace(trace, network, _placed(question, trace, topology))
    program = _placed(question, trace, topology, flit_time=1 / clock.bytes_per_second)
    if is_rank_program(question.trace):  # whose processors compute meanwhile
        delayed = with_delay(program.messages, 2 * clock.overhead_seconds)
        program = replace(program, messages=delayed)
    elif not _is_goal(question.trace):  # whose operations have theirs
        costly = with_overhead(program.messages, clock.overhead_seconds)
        program = replace(program, messages=costly)
    return PreparedTrace(trace, network, program)


def _placed(
    question: ReplayQuestion, trace: Trace, topology: Topology, *, flit_time: float = 1.0
) -> Replay:
    where = computing(question, topology)
    node_of = place_tasks(question.mapping, trace.num_tasks, topology, **where)
    if is_rank_program(question.trace) and len(np.unique(node_of)) < trace.num_tasks:
        trace = ranks_apart(trace)
    return trace.placed(topology, node_of, flit_time=flit_time)


@asks(
    ReplayQuestion,
    prepare=prepare,
    title="Replayed trace",
    example="netloom simulate trace examples/halo.csv --on torus:4x4x4",
    page="run-a-program.md",
    outputs=(
        table_output("save_messages", "The times of every message, .csv or .parquet.", "messages"),
        PERFETTO,
        PLOT,
    ),
)
def replay(
    question: ReplayQuestion, ready: PreparedTrace
) -> TraceReplay | FlowReplay | CycleFlowReplay:
    """Replay a trace of messages with its dependencies, and divide its time by cause.

    In cycles and flits, or with ``engine="flow"`` in seconds and bytes. Ctrl-C ends the run, and
    what was known by then is the answer.

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
    >>> flows = replay("torus:4x4x4", trace="examples/halo.csv", engine="flow", flit_bytes=16,
    ...                bandwidth="16GB/s", latency="1ns")
    >>> round(flows.finish * 1e9)  # a cycle is a nanosecond
    8566
    """
    trace, network, program = ready.trace, ready.network, ready.program
    run: Callable[..., TraceRun | FlowTraceRun]
    with counting(len(program.messages), f"{trace.name} on {network.topology.name}") as tell:
        if isinstance(network, PreparedFlows):
            run = partial(run_flow_trace, **network.shared(), program=program, tell=tell)
        else:
            run = partial(run_trace, network, program, question.most_cycles, tell)
        runs = run_all([lambda stopped: run(stopped=stopped)])
    found = runs[0] if runs else run(stopped=lambda: True)
    kind: Any = TraceReplay
    if isinstance(network, PreparedFlows):
        kind = FlowReplay if network.clock else CycleFlowReplay
    return kind(  # type: ignore[no-any-return]
        **vars(found),
        network=network,
        trace=trace,
        mapping=mapping_name(question.mapping),
        provenance=provenance_of(question, "replay", network.topology),
    )


def _read_in_cycles(
    question: ReplayQuestion, topology: Topology, machine: Machine | None
) -> tuple[Trace, float | None]:
    """Return the trace in cycles, and the bandwidth that says how long they are, if one does."""
    movers = listed(["routers", *(f"{name}s" for name in OTHERS)])
    refuse(question, OF_TIMED_GOAL, f"engine flow; cycles for {movers}")
    if machine is not None:
        refuse(question, ("bandwidth",), "none, since the machine has its own; or engine flow")
    size = _flit_bytes(question, machine)
    trace = _read(question, size)
    clock = known_clock(question, topology, machine)
    if clock is not None and size is None and (trace.unit == "seconds" or not trace.flit_bytes):
        refuse(question, ("bandwidth",), "flit_bytes as well, to say how long a cycle is")
        clock = None
    if trace.unit == "seconds":
        if clock is None or size is None:
            wanted = "engine flow, a machine, or bandwidth and flit_bytes, for cycles"
            raise InputError(trace.name, "seconds and bytes", wanted)
        trace = trace.in_cycles(size / clock.bytes_per_second, size)
    return trace, clock.bytes_per_second if clock and machine is None else None


def _read_for_flows(
    question: ReplayQuestion, topology: Topology, machine: Machine | None
) -> tuple[Trace, Clock | None]:
    """Return the trace in seconds, with the clock, or in cycles if none is known, and None."""
    clock, size = known_clock(question, topology, machine), _flit_bytes(question, machine)
    if clock is None and question.flit_bytes is None and _is_goal(question.trace):
        clock_of(question, topology, machine)  # which is needed then
    trace = _read(question, size, clock)
    if trace.unit == "seconds":
        refuse(question, ("flit_bytes",), "none: this trace has bytes and seconds for flows")
        return trace, clock or clock_of(question, topology, machine)
    size = trace.flit_bytes or size
    if clock is None or size is None:
        asked = ("bandwidth", "latency", "overhead")
        refuse(question, asked, "flit_bytes as well: the trace is in cycles and flits")
        return trace, None
    return trace.in_seconds(size / clock.bytes_per_second, size), clock


def _flit_bytes(question: ReplayQuestion, machine: Machine | None) -> float | None:
    if question.flit_bytes is not None:
        return question.flit_bytes
    return None if machine is None else machine.flit_bytes


def _is_goal(trace: Any) -> bool:
    return isinstance(trace, str | Path) and Path(trace).suffix.lower() == ".goal"


def _read(question: ReplayQuestion, size: float | None, clock: Clock | None = None) -> Trace:
    """Return the trace, having refused what says nothing of it. ``size`` is that of a flit."""
    trace, flows = question.trace, question.engine == "flow"
    flit_bytes = int(size) if size is not None and float(size).is_integer() else None
    if is_rank_program(trace):
        refuse(question, (*OF_GOAL, *OF_TIMED_GOAL), "a .goal file, to be read so")
        return rank_trace(str(trace), question.algorithm or "")
    assert not isinstance(trace, Execution), "an execution that is no trace yet"
    refuse(question, ("algorithm",), "chakra:, kineto: or llm:, whose collectives take one")
    if isinstance(trace, Trace):
        refuse(question, (*OF_GOAL, *OF_TIMED_GOAL), "the path of a trace, to be read so")
        if trace.unit == "cycles" and not (flows and trace.flit_bytes is None):
            refuse(question, ("flit_bytes",), "the path of a trace, to be read so")
        return trace
    if not _is_goal(trace):
        refuse(question, (*OF_GOAL, *OF_TIMED_GOAL), "a .goal file, to be read so")
        whole = flows and (clock is not None or flit_bytes is None)
        return read_trace(trace, flit_bytes=flit_bytes, unit="seconds" if whole else "cycles")
    if clock is not None:
        refuse(question, OF_GOAL, "overhead, gap_time or calc_time: the network has a bandwidth")
        return read_timed_goal(
            trace,
            overhead_seconds=clock.overhead_seconds,
            gap_seconds=_seconds(question, "gap_time", 0.0),
            calc_seconds=_seconds(question, "calc_time", CALC_SECONDS),
        )
    refuse(question, OF_TIMED_GOAL, "a bandwidth, without which times are cycles")
    if flit_bytes is None:
        raise InputError("flit_bytes", "none", "the bytes of a flit: GOAL counts in bytes")
    return read_goal(
        trace, flit_bytes=flit_bytes, **{name: getattr(question, name) for name in OF_GOAL}
    )


def _seconds(question: ReplayQuestion, field: str, default: float) -> float:
    given = getattr(question, field)
    return default if given is None else parse_seconds(given, where=field)
