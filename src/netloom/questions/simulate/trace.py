"""Replay a trace of messages with its dependencies, and divide its time by cause."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.figures import SHARE, Figures, Number, Place, derived, figure, leaves, say, unseen
from netloom.base.progress import counting
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.units import parse_bytes, parse_seconds
from netloom.base.words import counted, listed, percent
from netloom.drawing.timelines import Timeline
from netloom.machines import Machine
from netloom.machines.named_machines import Clock, clock_of, known_clock
from netloom.mapping.allocation import place_program
from netloom.questions import named
from netloom.questions.answers import Answer, Columns, Grade, Mark, Measure, Parts, Verdict, table
from netloom.questions.base import InstanceOf, Question, argument, option
from netloom.questions.fields import Placed, Seconds, Size, refuse
from netloom.questions.outputs import PERFETTO, PLOT, table_output
from netloom.questions.register import asks
from netloom.questions.simulate import engines
from netloom.questions.simulate.fields import AnyProgramQuestion
from netloom.questions.simulate.flows import LONG, estimated
from netloom.questions.terminal import arrow, order_named, subject
from netloom.routing import Paths
from netloom.simulation import figures
from netloom.simulation.flow import GivenPaths
from netloom.simulation.side_by_side import run_all
from netloom.simulation.traces import FlowTraceRun, TraceRun, run_flow_trace, run_trace
from netloom.topology import Topology
from netloom.workload.programs.collectives.msccl import Execution, executed, parse_msccl
from netloom.workload.programs.messages import with_costs
from netloom.workload.programs.traces import Replay, Trace

CYCLES = "cycles"

LOST = Grade("share of the finish time that waiting takes", fine=0.05, act=0.2)

LONGER = 10
"""Times the cycles of a run that was too short, for the next one."""

LEAST_PART = 0.005
"""Parts of the critical path below this share of the time are not said."""

SAME = 1e-9
"""Times that differ by such a part are the same but for rounding."""

AGREES = 0.01
"""Percent by which a replay may differ from its plan and agree."""

AS_PLANNED = "as planned"
"""What the routes of a plan are called."""

OF_GOAL = ("overhead_cycles", "gap_cycles", "calc_cycles")
OF_TIMED_GOAL = ("gap_time", "calc_time")
"""Fields that say how to read a GOAL schedule, in cycles and in seconds."""


class TraceFile(Question, panel="Trace"):
    """A trace, and how it is read."""

    trace: str | Path | InstanceOf[Trace] | InstanceOf[Execution] = argument(
        "Table of messages (.csv, .tsv, .parquet), .goal, plan.json of a collective, MSCCL .xml, "
        "or training: chakra:DIR/%d.et, kineto:DIR/%d.json, llm:tp=8,...",
        panel="Arguments",
        file=True,
    )
    size: Size | None = option("Size of an MSCCL program, such as 64MB.", default=None)
    flit_bytes: int | None = option(
        "Size of a flit, which a channel moves per cycle.",
        unit="bytes",
        default=None,
        ge=1,
        le=MAX_ELEMENTS,
        shown_default="the machine's",
    )
    overhead_cycles: int = option(
        "Overhead o of GOAL messages.", default=0, ge=0, lt=2**31, unit=CYCLES
    )
    gap_cycles: int = option("Gap g between GOAL messages.", default=0, ge=0, lt=2**31, unit=CYCLES)
    calc_cycles: float = option(
        "Time per unit of a GOAL calc.", default=1.0, ge=0, lt=2**31, unit=CYCLES
    )
    gap_time: Seconds | None = option(
        "Gap g between GOAL messages as flows.", default=None, shown_default="0"
    )
    calc_time: Seconds | None = option(
        "Time per GOAL calc unit, as flows.", default=None, shown_default="1ns"
    )
    algorithm: str | None = option(
        "Algorithm: bruck, all-to-all=bruck.", default=None, shown_default="ring"
    )


class ReplayQuestion(AnyProgramQuestion, Placed, TraceFile):
    """A trace of messages that wait for one another."""


class OfCycles(Figures):
    """What only runs cycle by cycle know."""

    finish_us: float | None = figure("finish", "µs", table=False)
    ideal_finish_us: float | None = figure("finish if nothing waited", "µs", table=False)
    flit_hops: int = figure("flit-hops", lead=True)
    message_latency: figures.Spread = figure(
        "message latency", figures.TIME, flat="message_latency_", key=True, lead=True
    )
    unhindered_latency: figures.Spread = figure(
        "unhindered latency", figures.TIME, flat="unhindered_latency_"
    )
    cycles: int = figure("simulated", CYCLES)
    busiest_host_channel: figures.UsedChannel | None


class OfFlows(Figures):
    """What only runs of flows know."""

    alone: float | None = figure(
        "finish if no message met another", figures.TIME, key=True, lead=True
    )
    bound: float | None = figure("earliest possible finish", figures.TIME, key=True, lead=True)
    in_order_finish: float | None = figure("finish, sent in order", figures.TIME, lead=True)
    shared_finish: float | None = figure("finish, sent all at once", figures.TIME, lead=True)
    slowdown: figures.Spread = figure(
        "times as long as alone", flat="slowdown_", key=True, lead=True
    )
    expected_error: figures.Trust


class TraceReplay(Answer):
    """What ``replay`` found on any engine: times in ``time_unit``, sizes in ``size_unit``.

    ``ideal_finish`` is when it would have finished had no row waited for channels, or a processor.
    """

    setup: engines.OnSimulated = figure(at=".", table=False)
    routers: engines.OnRouters | None = figure(at=".", table=False, optional=True)
    law: engines.OnFlows | None = figure(at=".", table=False, optional=True)
    time_unit: Literal["cycles", "seconds"]
    size_unit: Literal["flits", "bytes"]
    trace: str
    tasks: int
    num_entries: int = figure(at="entries", table=False)
    mapping: str
    inside_nodes: float
    finish: Number | None = figure(unit=figures.TIME, key=True, lead=True)
    ideal_finish: Number | None = figure(
        "finish if nothing waited", figures.TIME, key=True, lead=True
    )
    contention_share: float | None = figure("share of contention", SHARE, key=True)
    critical_path: figures.CriticalEntries | None = figure("critical path", flat="")
    num_messages: int = figure("messages", at="messages", key=True, lead=True)
    size: Number = figure("sent", figures.SIZE, lead=True)
    of_cycles: OfCycles | None = figure(at=".", optional=True)
    of_flows: OfFlows | None = figure(at=".", optional=True)
    utilisation: figures.Use = figure(
        "channels between routers used", flat="utilisation_", key=True, lead=True
    )
    interrupted: bool = figure()
    num_rows: int = figure(at="rows", table=False)
    rows_complete: int
    longest_wait: figures.Wait | None
    parallelism: dict[str, float] | None = figure("critical path by parallelism", figures.TIME)
    slowest_messages: tuple[figures.Message, ...] = figure("slowest messages")
    busiest: tuple[figures.UsedChannel, ...] = figure("busiest channels")
    note: str | None
    run: TraceRun = unseen()
    network: engines.PreparedNetwork | engines.PreparedFlows = unseen()

    @property
    def of(self) -> str:
        """Trace, network and mapping."""
        planned = self.setup.routing == AS_PLANNED
        return subject(self.trace, self.setup.topology, AS_PLANNED if planned else self.mapping)

    @property
    def how(self) -> str:
        """What moved the messages, in words."""
        return self.law.how if self.law else str(self.routers and self.routers.router["name"])

    @property
    def best(self) -> Number | None:
        """When it would have finished had no message met another, or nothing waited."""
        return self.of_flows.alone if self.of_flows else self.ideal_finish

    @derived("share of the finish time that waiting takes", SHARE, table=False)
    def lost(self) -> float | None:
        """None if it did not finish."""
        if not self.finish or self.best is None:
            return None
        return max(1 - self.best / self.finish, 0.0)

    @derived("share by which the finish is above the earliest possible", SHARE, table=False)
    def above_bound(self) -> float | None:
        """None if it did not finish, or the bound is not known."""
        bound = self.of_flows.bound if self.of_flows else None
        return self.finish / bound - 1 if self.finish and bound else None

    def time(self, value: Number | None) -> str:
        """Return a time in words: in seconds, if a clock is known."""
        us = self.routers.cycle_us if self.routers else None
        if value is None or us is None:
            return say(value, self.time_unit)
        return say(value * us * 1e-6, "seconds")

    def measure(self) -> Measure | None:
        """Return when the program finishes. None if it did not."""
        if not self.finish:
            return None
        return Measure(self.finish, self.time(self.finish), "takes {}", "time to finish")

    def judged(self) -> Verdict:
        """Return how long the program takes, and what part of that it waits."""
        if self.finish is None:
            done = f"{self.rows_complete:,} of {counted(self.num_rows, 'row', ',')} were complete."
            if self.interrupted or self.of_cycles is None:
                return Verdict("unknown", f"Interrupted: {done}", next=self.again())
            cycles = self.of_cycles.cycles
            said = f"Not finished after {counted(cycles, 'cycle', ',')}: {done}"
            return Verdict("unknown", said, next=self.again(most_cycles=LONGER * cycles))
        if not self.finish:
            return Verdict("fine", f"Takes {self.time(0)}: nothing computes or moves.")
        mark, said = self._of_flows(self.of_flows) if self.of_flows else self._beside_best()
        next_ = "" if mark == "fine" else self._next()
        return Verdict(mark, f"Takes {said}", self._lines(), next_, self._trusted())

    def _beside_best(self) -> tuple[Mark, str]:
        """Return the mark and the sentence if only waiting makes the program longer."""
        took = self.time(self.finish)
        if not self.lost or self.lost < SAME:
            return "fine", f"{took}, no longer than {self._ideally}."
        less = f"{self.time(self.best)} {self._ideally} ({percent(self.lost)} less)"
        return LOST.mark(self.lost), f"{took}; {less}."

    @property
    def _ideally(self) -> str:
        """When it would have taken the time ``best``."""
        return "if no message met another" if self.of_flows else "if nothing waited"

    def _of_flows(self, flows: OfFlows) -> tuple[Mark, str]:
        """Return the mark and the sentence of a run of flows."""
        took, above = self.time(self.finish), self.above_bound
        ends = flows.in_order_finish, flows.shared_finish
        if flows.expected_error.undecided(*ends):
            low, high = sorted(each or 0.0 for each in ends)
            decides = "the order in which messages are sent decides"
            return "unknown", f"{self.time(low)} to {self.time(high)}: {decides}."
        if above is not None and flows.bound and flows.bound > (flows.alone or 0) * (1 + SAME):
            busiest = arrow(self.busiest[0].name or "")
            if 1 + above < LONG.fine:
                used = percent(min(1 / (1 + above), 1))
                return "limited", f"{took}: {busiest} is busy {used} of the time."
            said = f"{took}, {percent(above)} more than {busiest} is busy for"
            return LONG.mark(1 + above), f"{said} ({self.time(flows.bound)})."
        return self._beside_best()

    def _trusted(self) -> str:
        """Return what to know before relying on the verdict."""
        if flows := self.of_flows:
            note = estimated(flows.expected_error, self.time(flows.in_order_finish))
        else:  # less time would be saved than the critical path waits
            waits = sum(time for time, part in self.spent() if part.name in figures.WAITS)
            saved = (self.finish or 0) - (self.ideal_finish or 0)
            note = "* if nothing waited, another path would be critical" * (waits > saved)
        if not self.trace.startswith("llm:") or "tflops=" in self.trace:
            return note
        said = "omputing takes no time: add tflops=N to the program (10^12 operations per second)"
        return f"{note} C{said}" if note else f"* c{said}"

    def spent(self) -> list[tuple[Number, Place]]:
        """Return the parts of the critical path that take time, and how long each takes."""
        path = self.critical_path
        found = [(each.of(path) or 0, each) for each in leaves(figures.Spent)]
        return [(time, each) for time, each in found if time > 0]

    def _lines(self) -> dict[str, str]:
        shares = [(time / (self.finish or 1), each.title) for time, each in self.spent()]
        parts = sorted(each for each in shares if each[0] >= LEAST_PART)
        made_of = " · ".join(f"{percent(share)} {said}" for share, said in reversed(parts))
        place, longest = "", self.longest_wait
        if longest is not None:
            place = f"{longest.id} waits {self.time(longest.time)} for "
            if longest.part == "source_wait":
                place += f"{longest.source}'s own channel into the network"
            elif longest.part == "contention":
                to = f"→{longest.target}" if longest.target else ""
                place += f"other messages, {longest.source}{to}"
            else:
                place += f"a processor, at {longest.source}"
        found = {"where": place, "why": made_of and f"critical path: {made_of}"}
        if split := self.parallelism:
            whole = sum(split.values())
            most = sorted(filter(split.get, split), key=split.__getitem__, reverse=True)
            said = " · ".join(f"{percent(split[name] / whole)} {name}" for name in most)
            found["split"] = f"critical path by parallelism: {said}"
        between = [each for each in self.busiest if each.between == "routers"]
        if self.utilisation.max and between:
            name, used = arrow(between[0].name or ""), percent(self.utilisation.max)
            found["busiest"] = f"between routers {name}, {used} used"
        return found

    def _next(self) -> str:
        """Return what a better placement is searched with, or what shows each message's waits."""
        trace = self.asked["trace"]
        if str(trace).startswith("llm:") and self.asked["mapping"] == "identity":
            return self.again("map", app=trace, rankfile="ranks.txt")
        return self.again(save_messages="times.csv")

    def plainly(self, name: str) -> str:
        """Return the name of a channel as people know it."""
        return arrow(name)

    def remarks(self) -> Iterator[str]:
        """Yield how it ran, and a note on the run."""
        yield f"{self.setup.size}, {self.setup.routing}"
        yield self.how
        if self.of_cycles and (own := self.of_cycles.busiest_host_channel):
            used = percent(own.utilisation)
            yield f"busiest channel of a host: {arrow(own.name or '')}, {used} used"
        yield from [self.note] if self.note else []

    def footer(self) -> list[str]:
        """Return what was replayed, and when it finished."""
        where = f"{self.trace} on {self.setup.topology}, {order_named(self.mapping)}"
        said = "not finished" if self.finish is None else f"finished in {self.time(self.finish)}"
        if self.best is not None:
            said += f"; {self.time(self.best)} {self._ideally}"
        return [f"{where}; {said}; {self.setup.routing}, {self.how}"]

    @cached_property
    def crossed(self) -> figures.Crossed | None:
        """The channels of each message that arrived, as flows those of hosts too.

        None if the engine does not keep them.
        """
        if isinstance(self.run, FlowTraceRun):
            return figures.crossed_links(self.run.flows, figures.moved_rows(self.run.rows))
        assert not isinstance(self.network, engines.PreparedFlows)
        return figures.crossed_channels(self.network, self.run.rows, self.run.busy)

    @table(figures.Message)
    def messages(self) -> Columns:
        """Return one row per message, in the order of the trace.

        A multicast has a row for each hop of its tree, and no target task. Of flows, the ratio
        (latency − source_wait) / unhindered is ``slowdown``, 1 within a node. If something had not
        happened when the run ended, it is null.
        """
        return self.run.messages()

    @table(figures.UsedChannel)
    def channels(self) -> Columns:
        """Return one row per channel between routers, the busiest first: what crossed it.

        Of flows, ``busy`` is that over its bandwidth, and ``utilisation`` the part of the whole
        time. In cycles, ``utilisation`` is flits per cycle.
        """
        return self.run.channels()

    @table(figures.Link)
    def critical_entries(self) -> Columns:
        """Return one row for each link of the critical path, the first first.

        ``id`` names the entry, of which a multicast gives several links. Empty where the trace did
        not finish.
        """
        return self.run.links()

    @table(figures.BusyPart)
    def busy_channels(self) -> Columns:
        """Return the mean use of the busiest channels in equal parts of the time.

        The busiest comes first. Only channels between routers count. ``critical`` marks parts in
        which a message of the critical path is on the channel. There are no rows if the engine does
        not keep the channels of messages.
        """
        return self.run.busy_parts(self.crossed)

    def timeline(self) -> Timeline:
        """Return when each task computed, sent and received. In µs, or cycles as 1 µs each."""
        from netloom.drawing.programs import trace_timeline

        in_cycles = self.routers.cycle_us if self.routers else None
        return trace_timeline(
            self.run,
            self.run.topology,
            unit=self.time_unit,
            size=self.size_unit,
            unit_us=1e6 if self.time_unit == "seconds" else in_cycles,
            crossed=self.crossed,
        )

    def arranged(self) -> list[Any]:
        """Return nodes and busy channels over time above the critical path, beside the channels."""
        from netloom.drawing.frame import column

        *beside, channels = self.parts().values()
        return [column(*beside), channels]

    def parts(self) -> Parts:
        """Return nodes and busy channels over time, the critical path, and the channels."""
        import polars as pl

        from netloom.drawing.bars import Bar, bars
        from netloom.drawing.frame import REFERENCE, THIS
        from netloom.drawing.programs import channels_over_time, nodes_over_time

        unit, messages, links = self.time_unit, self.messages(), self.critical_entries()
        busy = self.busy_channels()
        arrows = [arrow(each) for each in busy["name"].to_list()]
        busy = busy.with_columns(name=pl.Series(arrows, dtype=pl.String))
        over_time = {
            "time": nodes_over_time(messages, links, self.setup.nodes, unit),
            "busy": channels_over_time(busy, messages, links, unit),
        }
        spent, held = self.spent(), ("source_wait", "contention")
        whole = sum(time for time, _ in spent)
        most = max((time for time, _ in spent), default=1.0)
        scale, shown = (1.0, CYCLES) if unit == CYCLES else units.TIME.scale(most)
        rows = [
            Bar(
                part.told.head or part.title,
                time / scale,
                f"{say(time, unit)}, {percent(time / whole)}",
                THIS if part.name in held else REFERENCE,
            )
            for time, part in spent
        ]
        said = "Nothing is known of the critical path"
        if whole:
            waits = sum(time for time, part in spent if part.name in held)
            said = f"{percent(waits / whole)} of the critical path waits for channels"
        channels = self.channels().sort("channel")
        load = ("size", self.size_unit) if self.of_flows else ("utilisation", "flits/cycle")
        return {name: part for name, part in over_time.items() if part is not None} | {
            "critical path": bars(rows, said, f"time on the critical path ({shown})", width=330),
            "channels": self.network_drawn(channels, load[0], f"{load[1]} on the channel"),
        }


@dataclass(frozen=True, eq=False)
class PreparedTrace:
    """A trace, the network that it runs on, and the rows that it becomes on its nodes.

    ``remark`` returns what to say of a finish, in seconds.
    """

    trace: Trace
    network: engines.PreparedNetwork | engines.PreparedFlows
    program: Replay
    remark: Callable[[float], str] | None = None


def prepare(question: ReplayQuestion) -> PreparedTrace:
    """Read the trace, build the network, and place the tasks."""
    topology, machine = named.network_of(question, switches=question.engine == "flow")
    remark = routes = None
    file = str(question.trace).lower() if isinstance(question.trace, str | Path) else ""
    if isinstance(question.trace, Execution) or file.endswith(".xml"):
        question, remark = _of_msccl(question, topology)
    refuse(question, ("size",), "an .xml of MSCCL, which has none of its own")
    if ":" not in file and file.endswith((".json", ".json.gz")):
        question, routes, remark = _of_plan(question, topology)
    if question.engine == "flow":
        from netloom.workload.programs.training import is_rank_program

        trace, clock = _read_for_flows(question, topology, machine)
        flows = engines.prepare_flows(question, topology, clock)
        flit_time = 1.0 if clock is None else 1 / clock.bytes_per_second
        program = _placed(question, trace, topology, flit_time=flit_time)
        if clock is not None and not _is_goal(question.trace):  # whose operations have theirs
            costs = {"overhead": clock.overhead_seconds}
            if is_rank_program(question.trace):  # processors compute meanwhile
                costs = {"delay": 2 * clock.overhead_seconds}
            program = replace(program, messages=with_costs(program.messages, **costs))
        if routes is not None:
            given = GivenPaths.of_entries(AS_PLANNED, routes, program.entry)
            flows = replace(flows, routes=given)
        return PreparedTrace(trace, flows, program, remark)
    engines.refuse_flow_fields(question)
    if question.engine != "network":
        engines.refuse_packets(question)
    trace, bandwidth = _read_in_cycles(question, topology, machine)
    network = engines.prepare_program(
        question,
        longest_flits=int(np.max(trace.flits, initial=0)),
        flit_bytes=trace.flit_bytes or question.flit_bytes,
        bytes_per_second=bandwidth,
        found=(topology, machine),
    )
    return PreparedTrace(trace, network, _placed(question, trace, network.topology))


def _of_msccl(
    question: ReplayQuestion, topology: Topology
) -> tuple[ReplayQuestion, Callable[[float], str]]:
    """Return the question with an MSCCL program as its trace, and what to say of a finish.

    Unless the question says otherwise, as flows all thread blocks of a GPU send at the same time.
    """
    if question.size is None:
        raise InputError("size", "none", "the size of the collective, such as 64MB")
    size, given = parse_bytes(question.size, where="size"), question.trace
    found = given.found if isinstance(given, Execution) else parse_msccl(str(given))
    if isinstance(question.mapping, str):
        ranks = named.num_places(question, topology)
        if found.num_gpus != ranks:
            wanted = f"{ranks}, the ranks of {topology.name}; choose some by nodes"
            raise InputError(found.path, f"{found.num_gpus} GPUs", wanted)
    execution = given if isinstance(given, Execution) else executed(found)

    def remark(finish: float) -> str:
        said = f"{found.collective} of {units.size(size)}: {units.rate(size / finish)}"
        return f"{said} of algorithm bandwidth. {execution.padding(size)}".strip()

    changed = {"trace": execution.trace(size), "size": None} | _all_at_once(question, topology)
    return question.model_copy(update=changed), remark


def _all_at_once(question: ReplayQuestion, topology: Topology) -> dict[str, Any]:
    """Return the fields by which hosts send as flows on all channels at once, unless it says them.

    They are left as they are on other engines.
    """
    if question.engine != "flow":
        return {}
    changed: dict[str, Any] = {"injection": "shared"}
    if not topology.ports_listed:
        changed["end_channels"] = 0
    return {name: changed[name] for name in changed.keys() - question.model_fields_set}


def _of_plan(
    question: ReplayQuestion, topology: Topology
) -> tuple[ReplayQuestion, Paths | None, Callable[[float], str] | None]:
    """Return the question with a plan as its trace, its routes, and what to say of a finish.

    By default ranks are on the hosts of the plan. As flows they send on all their channels at the
    same time, because the plan has the times. There are no routes if the question asks for others,
    puts ranks elsewhere, or the network lacks a channel of the plan.
    """
    from netloom.phases.collectives.schedules import read_schedule, routes_on, schedule_trace

    path = Path(question.trace)  # type: ignore[arg-type]
    schedule = read_schedule(path).schedule
    trace, routes = schedule_trace(schedule, path.name), None
    changed = _all_at_once(question, topology)
    said, hosts = question.model_fields_set, schedule.network.host
    if not said & {"mapping", "nodes", "tasks_per_node"} and hosts.max() < topology.num_hosts:
        changed["mapping"] = hosts
        if question.engine == "flow" and "routing" not in said:
            routes = routes_on(schedule, topology)
    if routes is not None:
        trace = replace(trace, flits=trace.flits * (routes.lengths > 0))

    def remark(finish: float) -> str:
        part = 100 * (finish / schedule.finish_seconds - 1)
        said = f"takes {abs(part):.3g} % {'longer' if part > 0 else 'less'}"
        if abs(part) < AGREES:
            said = f"agrees within {AGREES} %"
        promised = units.seconds(schedule.finish_seconds, 4)
        return f"The plan promises {promised}; the replay {said}."

    changed["trace"] = trace
    return question.model_copy(update=changed), routes, remark if routes else None


def _placed(
    question: ReplayQuestion, trace: Trace, topology: Topology, *, flit_time: float = 1.0
) -> Replay:
    from netloom.workload.programs.training import is_rank_program, ranks_apart

    where = named.computing(question, topology)
    node_of, run = place_program(question.mapping, trace.num_tasks, topology, **where), trace
    if is_rank_program(question.trace) and len(np.unique(node_of)) < trace.num_tasks:
        run = ranks_apart(trace)
    return replace(run.placed(topology, node_of, flit_time=flit_time), trace=trace)


def _read_in_cycles(
    question: ReplayQuestion, topology: Topology, machine: Machine | None
) -> tuple[Trace, float | None]:
    """Return the trace in cycles, and the bandwidth that says how long they are, if one does."""
    movers = listed(["routers", *(f"{name}s" for name in engines.OTHERS)])
    refuse(question, OF_TIMED_GOAL, f"engine flow; cycles for {movers}")
    if machine is not None:
        refuse(question, ("bandwidth",), "none, since the machine has its own; or engine flow")
    size = question.flit_bytes or (machine.flit_bytes if machine else None)
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
    clock = known_clock(question, topology, machine)
    size = question.flit_bytes or (machine.flit_bytes if machine else None)
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


def _is_goal(trace: Any) -> bool:
    return isinstance(trace, str | Path) and Path(trace).suffix.lower() == ".goal"


def _read(question: ReplayQuestion, size: float | None, clock: Clock | None = None) -> Trace:
    """Return the trace, having refused what says nothing of it. ``size`` is that of a flit."""
    from netloom.workload.programs.trace_files import CALC_SECONDS, read_goal, read_trace
    from netloom.workload.programs.training import is_rank_program, rank_trace

    trace, flows = question.trace, question.engine == "flow"
    flit_bytes = int(size) if size is not None and float(size).is_integer() else None
    if not _is_goal(trace):
        refuse(question, (*OF_GOAL, *OF_TIMED_GOAL), "a .goal file, to be read so")
    if is_rank_program(trace):
        return rank_trace(str(trace), question.algorithm or "")
    assert not isinstance(trace, Execution), "an execution that is no trace yet"
    refuse(question, ("algorithm",), "chakra:, kineto: or llm:, whose collectives take one")
    if isinstance(trace, Trace):
        if trace.unit == "cycles" and not (flows and trace.flit_bytes is None):
            refuse(question, ("flit_bytes",), "the path of a trace, to be read so")
        return trace
    if not _is_goal(trace):
        whole = flows and (clock is not None or flit_bytes is None)
        return read_trace(trace, flit_bytes=flit_bytes, unit="seconds" if whole else "cycles")
    if clock is not None:
        refuse(question, OF_GOAL, "overhead, gap_time or calc_time: the network has a bandwidth")
        return read_goal(
            trace,
            overhead=clock.overhead_seconds,
            gap=_seconds(question, "gap_time", 0.0),
            calc=_seconds(question, "calc_time", CALC_SECONDS),
        )
    refuse(question, OF_TIMED_GOAL, "a bandwidth, without which times are cycles")
    if flit_bytes is None:
        raise InputError("flit_bytes", "none", "the bytes of a flit: GOAL counts in bytes")
    given = {name.removesuffix("_cycles"): getattr(question, name) for name in OF_GOAL}
    return read_goal(trace, flit_bytes=flit_bytes, **given)


def _seconds(question: ReplayQuestion, field: str, default: float) -> float:
    given = getattr(question, field)
    return default if given is None else parse_seconds(given, where=field)


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
def replay(question: ReplayQuestion, ready: PreparedTrace) -> TraceReplay:
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
    >>> found.finish > found.ideal_finish > 6000
    True
    >>> len(found.messages()), found.critical_entries()["id"][0].startswith("step0.")
    (1278, True)
    >>> flows = replay("torus:4x4x4", trace="examples/halo.csv", engine="flow", flit_bytes=16,
    ...                bandwidth="16GB/s", latency="1ns")
    >>> round(flows.finish * 1e9)  # a cycle is a nanosecond
    8566
    """
    trace, network, program = ready.trace, ready.network, ready.program
    run: Callable[..., TraceRun]
    with counting(len(program.messages), f"{trace.name} on {network.topology.name}") as tell:
        if isinstance(network, engines.PreparedFlows):
            routing = network.routes or network.routing
            run = partial(run_flow_trace, network.links, routing, program, network.law, tell=tell)
        else:
            run = partial(run_trace, network, program, question.most_cycles, tell)
        runs = run_all([lambda stopped: run(stopped=stopped)])
    found = runs[0] if runs else run(stopped=lambda: True)
    law, routers, of_cycles, of_flows = None, None, None, None
    if isinstance(network, engines.PreparedFlows):
        law, timed = engines.OnFlows.of(network), network.clock is not None
    else:
        routers, us, timed = engines.OnRouters.of_routers(network), network.cycle_us, False
        ends = (found.finish, found.ideal_finish)
        took, ideal = (None if us is None or each is None else each * us for each in ends)
        of_cycles = OfCycles(
            finish_us=took,
            ideal_finish_us=ideal,
            flit_hops=int(found.busy.sum()),
            message_latency=found.spread("latency"),
            unhindered_latency=found.spread("unhindered"),
            cycles=int(found.until),
            busiest_host_channel=found.busiest_host_channel,
        )
    if isinstance(found, FlowTraceRun):
        in_order, shared = found.ends
        of_flows = OfFlows(
            alone=found.alone_finish,
            bound=found.bound,
            in_order_finish=in_order,
            shared_finish=shared,
            slowdown=found.spread("slowdown"),
            expected_error=found.trust,
        )
    return TraceReplay(
        setup=engines.OnSimulated.of_network(network),
        routers=routers,
        law=law,
        time_unit="seconds" if timed else "cycles",
        size_unit="bytes" if timed else "flits",
        trace=trace.name,
        tasks=trace.num_tasks,
        num_entries=len(trace),
        mapping=named.mapping_name(question.mapping),
        inside_nodes=program.inside_nodes,
        finish=found.finish,
        ideal_finish=found.ideal_finish,
        contention_share=found.contention_share,
        critical_path=found.critical_entries,
        num_messages=len(found.sends),
        size=found.rows["flits"].sum().item(),
        of_cycles=of_cycles,
        of_flows=of_flows,
        utilisation=found.use,
        interrupted=found.interrupted,
        num_rows=len(found.rows),
        rows_complete=found.rows_complete,
        longest_wait=found.longest_wait,
        parallelism=found.parallelism,
        slowest_messages=found.slowest,
        busiest=found.busiest,
        note=_note(found, ready),
        run=found,
        network=network,
        provenance=named.provenance_of(question, "replay", network.topology),
    )


def _note(run: TraceRun, ready: PreparedTrace) -> str | None:
    """Return what to know before relying on the figures."""
    of = f"{run.rows_complete} of {counted(len(run.rows), 'row')} were complete"
    flows = isinstance(ready.network, engines.PreparedFlows)
    if run.interrupted:
        return f"interrupted{'' if flows else f' in cycle {run.until}'}: {of}"
    if run.finish is None:
        return f"after {run.until} cycles, {of}: it takes longer than most_cycles"
    return ready.remark(run.finish) if flows and ready.remark else None
