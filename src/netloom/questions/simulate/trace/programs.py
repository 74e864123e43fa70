"""What is replayed: a trace and how it is read, MSCCL XML or a plan of a collective as a trace.

An XML has one rank for each GPU, and a size that the question says. Ranks, routes and times of a
plan are those of its file.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from pydantic import Field

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.spec import MAX_ELEMENTS
from netloom.base.units import LARGEST, parse_bytes, seconds
from netloom.base.words import counted
from netloom.mapping.allocation import allocated_hosts, places_of
from netloom.phases.collectives.schedule_files import read_schedule
from netloom.phases.collectives.schedules import schedule_trace
from netloom.questions.base import InstanceOf, Question, argument, option
from netloom.questions.columns import CYCLES
from netloom.questions.fields import Placed, Seconds
from netloom.questions.named import computing
from netloom.questions.simulate.engines import PreparedFlows
from netloom.questions.simulate.fields import AnyProgramQuestion
from netloom.routing import Paths
from netloom.simulation.flow import GivenPaths
from netloom.workload.programs.collectives.msccl import parse_msccl
from netloom.workload.programs.collectives.msccl_running import Execution, executed
from netloom.workload.programs.traces import Trace  # noqa: TC001 (Pydantic reads annotations)

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Ints
    from netloom.phases.collectives.schedules import Schedule
    from netloom.topology import Topology
    from netloom.workload.programs.traces import Replay


class TraceFile(Question, panel="Trace"):
    """A trace, and how it is read."""

    trace: str | Path | InstanceOf[Trace] | InstanceOf[Execution] = argument(
        "Table of messages (.csv, .tsv, .parquet), .goal, plan.json of a collective, MSCCL .xml, "
        "or training: chakra:DIR/%d.et, kineto:DIR/%d.json, llm:tp=8,...",
        kw_only=True,
        panel="Arguments",
        file=True,
    )
    size: Annotated[float, Field(gt=0, le=LARGEST)] | str | None = option(
        "Size of an MSCCL program, such as 64MB.", default=None
    )
    flit_bytes: int | None = option(
        "Size of a flit, which a channel moves per cycle.",
        unit="bytes",
        default=None,
        ge=1,
        le=MAX_ELEMENTS,
        shown_default="the machine's",
    )
    overhead_cycles: int = option(
        "Overhead o at each end of a GOAL message.",
        default=0,
        ge=0,
        lt=2**31,
        unit=CYCLES,
    )
    gap_cycles: int = option(
        "Gap g between GOAL messages.",
        default=0,
        ge=0,
        lt=2**31,
        unit=CYCLES,
    )
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
        "Algorithm: bruck, all-to-all=bruck.",
        default=None,
        shown_default="ring",
    )


class ReplayQuestion(AnyProgramQuestion, Placed, TraceFile):
    """A trace of messages that wait for one another."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ProgramFlows(PreparedFlows):
    """A network for an MSCCL program of a size."""

    execution: Execution
    size_bytes: float

    def remark(self, finish: float) -> str:
        """Return the algorithm bandwidth, and whether the size was padded."""
        collective = self.execution.found.collective
        rate = units.rate(self.size_bytes / finish)
        said = f"{collective} of {units.size(self.size_bytes)}: {rate} of algorithm bandwidth."
        return f"{said} {padding(self.execution, self.size_bytes)}".strip()


def padding(execution: Execution, size_bytes: float) -> str:
    """Return that a size was padded, in a sentence. Nothing if it was not."""
    padded, chunks = execution.padded_bytes(size_bytes), execution.found.per_loop
    if padded == size_bytes:
        return ""
    return f"Padded to {padded:,} B: {counted(chunks, 'chunk', ',')} of {padded // chunks:,} B."


def is_msccl(trace: Any) -> bool:
    """Whether a trace is MSCCL XML: a file, or one that has been executed."""
    named = isinstance(trace, str | Path) and str(trace).lower().endswith(".xml")
    return named or isinstance(trace, Execution)


def as_program(
    question: ReplayQuestion, topology: Topology
) -> tuple[ReplayQuestion, Callable[[PreparedFlows, Replay], PreparedFlows]]:
    """Return the question with the file as its trace, and what makes the network one for it.

    Unless the question says otherwise, as flows all thread blocks of a GPU send at the same time.

    Raises
    ------
    InputError
        If the file cannot be read, or does not compute its collective. If its number of GPUs does
        not fit the network or its nodes, or there is no size.
    """
    if question.size is None:
        raise InputError("size", "none", "the size of the collective, such as 64MB")
    size = parse_bytes(question.size, where="size")
    given = question.trace
    found = given.found if isinstance(given, Execution) else parse_msccl(str(given))
    if isinstance(question.mapping, str):
        where = computing(question, topology)
        hosts = allocated_hosts(where["nodes"], topology, where["hosts"])
        ranks = places_of(hosts, topology, question.tasks_per_node).count
        if found.num_gpus != ranks:
            said = f"{found.num_gpus} GPUs"
            wanted = f"{ranks}, the ranks of {topology.name}; choose some by nodes"
            raise InputError(found.path, said, wanted)
    execution = given if isinstance(given, Execution) else executed(found)
    changed = {"trace": execution.trace(size), "size": None} | _all_at_once(question, topology)

    def on(flows: PreparedFlows, _: Replay) -> ProgramFlows:
        return ProgramFlows(**vars(flows), execution=execution, size_bytes=size)

    return question.model_copy(update=changed), on


SUFFIXES = (".json", ".json.gz")

SAME = 0.01
"""Percent by which a replay may differ from its plan and agree."""

AS_PLANNED = "as planned"
"""What the routes of a plan are called."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PlannedFlows(PreparedFlows):
    """A network on which each message takes the route of its plan, which ends at its time."""

    routes: GivenPaths
    planned_seconds: float

    @property
    def routing_name(self) -> str:
        """The routing, as a person calls it."""
        return str(self.routes)

    def shared(self) -> dict[str, Any]:
        """Return what runs of flows take of it, by the names of their parameters."""
        return super().shared() | {"routing": self.routes}

    def remark(self, finish: float) -> str:
        """Return how far the finish is from that of the plan."""
        part = 100 * (finish / self.planned_seconds - 1)
        said = f"takes {abs(part):.3g} % {'longer' if part > 0 else 'less'}"
        if abs(part) < SAME:
            said = f"agrees within {SAME} %"
        return f"The plan promises {seconds(self.planned_seconds, 4)}; the replay {said}."


def is_plan(trace: Any) -> bool:
    """Whether a trace is named that is a plan file."""
    return (
        isinstance(trace, str | Path)
        and str(trace).lower().endswith(SUFFIXES)
        and (":" not in str(trace))
    )


def planned_flows(
    flows: PreparedFlows, program: Replay, routes: Paths, planned_seconds: float
) -> PlannedFlows:
    """Return a network for a program whose entries are a plan's messages, with their routes."""
    distinct, place = _distinct(routes)
    sent = np.flatnonzero(distinct.lengths)  # what stays inside a node has no path
    number = np.searchsorted(sent, np.arange(len(distinct)))
    given = GivenPaths(AS_PLANNED, distinct.taken(sent), number[place[program.entry]])
    return PlannedFlows(**vars(flows), routes=given, planned_seconds=planned_seconds)


def _all_at_once(question: ReplayQuestion, topology: Topology) -> dict[str, Any]:
    """Return the fields by which hosts send as flows on all channels at once, unless it says them.

    They are left as they are on other engines.
    """
    if question.engine != "flow":
        return {}
    said = question.model_fields_set
    changed: dict[str, Any] = {} if "injection" in said else {"injection": "shared"}
    if not topology.ports_listed and "end_channels" not in said:
        changed["end_channels"] = 0
    return changed


def as_planned(
    question: ReplayQuestion, topology: Topology
) -> tuple[ReplayQuestion, Callable[[PreparedFlows, Replay], PreparedFlows] | None]:
    """Return the question with the plan as its trace, and what gives the network its routes.

    By default ranks are on the hosts of the plan. As flows they send on all their channels at the
    same time, because the plan has the times. There are no routes if the question asks for others,
    puts ranks elsewhere, or the network lacks a channel of the plan.

    Raises
    ------
    InputError
        If the plan cannot be read.
    """
    path = Path(question.trace)  # type: ignore[arg-type]
    schedule = read_schedule(path).schedule
    changed: dict[str, Any] = {"trace": schedule_trace(schedule, path.name)}
    said, hosts = question.model_fields_set, schedule.network.host
    planned = None
    if not said & {"mapping", "nodes", "tasks_per_node"} and hosts.max() < topology.num_hosts:
        changed["mapping"] = hosts
        if question.engine == "flow" and "routing" not in said:
            routes = routes_on(schedule, topology)
            if routes is not None:
                planned = partial(
                    planned_flows, routes=routes, planned_seconds=schedule.finish_seconds
                )
                trace = changed["trace"]
                changed["trace"] = replace(trace, flits=trace.flits * (routes.lengths > 0))
    changed |= _all_at_once(question, topology)
    return question.model_copy(update=changed), planned


def routes_on(schedule: Schedule, topology: Topology) -> Paths | None:
    """Return the route of each message as channels of a network. None if it lacks some of them.

    Vertices are those of the same name, ranks those of the plan's hosts. Of channels that join the
    same two vertices, the first is the first. Channels of the plan between hosts of one node, which
    the network lacks, are left out: a route inside a node is empty.
    """
    network, ranks = schedule.network, len(schedule.network.host)
    number = {topology.name_of(vertex): vertex for vertex in range(topology.num_ends)}
    vertices = [*network.host.tolist(), *(number.get(name, -1) for name in network.labels[ranks:])]
    vertex = np.array(vertices, np.int64)
    if [topology.name_of(host) for host in vertices[:ranks]] != list(network.labels[:ranks]):
        return None
    many = np.int64(topology.num_ends)
    planned = _numbered(vertex[network.source] * many + vertex[network.target])
    there = _numbered(topology.source_end.astype(np.int64) * many + topology.target_end)
    channel = {key: place for place, key in enumerate(there)}
    used = np.zeros(len(planned), np.bool_)
    used[schedule.routes.values] = True
    known = [channel.get(key, -1) for key in planned]
    found = np.array(known, np.int32)
    ends = vertex[network.source], vertex[network.target]
    hosts = (np.stack(ends) >= 0).all(axis=0) & (np.stack(ends) < topology.num_hosts).all(axis=0)
    node = [topology.node_of_host[np.where(hosts, end, 0)] for end in ends]
    inside = hosts & (node[0] == node[1]) & (found < 0)
    if (used & ~inside & ((found < 0) | (ends[0] < 0) | (ends[1] < 0))).any():
        return None
    goes = ~inside[schedule.routes.values]
    kept = np.append(0, np.cumsum(goes))[schedule.routes.offsets]
    return Paths(kept, found[schedule.routes.values[goes]])


def _numbered(keys: Ints) -> list[tuple[int, int]]:
    """Return keys with how often each has been there before."""
    order = np.argsort(keys, kind="stable")
    _, first, place = np.unique(keys[order], return_index=True, return_inverse=True)
    before = np.empty(len(keys), np.int64)
    before[order] = np.arange(len(keys)) - first[place]
    return list(zip(keys.tolist(), before.tolist(), strict=True))


def _distinct(routes: Paths) -> tuple[Paths, Ints]:
    """Return the different paths among some, and int64[len(routes)], which one each is."""
    lengths = routes.lengths.astype(np.int64)
    key = np.zeros(len(routes), np.int64)
    for hop in range(int(lengths.max(initial=0))):
        here = np.zeros(len(routes), np.int64)
        goes_on = lengths > hop
        here[goes_on] = routes.channels[routes.offsets[:-1][goes_on] + hop] + 1
        _, key = np.unique(key * (here.max() + 1) + here, return_inverse=True)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return routes.taken(first), place.astype(np.int64)
