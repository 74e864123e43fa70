"""Plan files of collectives as traces: ranks, routes and times are those of the plan."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.units import seconds
from netloom.phases.collectives.schedule_files import read_schedule
from netloom.phases.collectives.schedule_traces import schedule_trace
from netloom.questions.simulate.engines import PreparedFlows
from netloom.routing import Paths
from netloom.simulation.flow import GivenPaths

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.phases.collectives.schedules import Schedule
    from netloom.questions.simulate.trace.question import ReplayQuestion
    from netloom.topology import Topology
    from netloom.workload.programs.traces import Replay

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


@dataclass(frozen=True, eq=False)
class Planned:
    """The route of each message of a plan as channels of a network, and when the plan ends."""

    routes: Paths
    seconds: float

    def on(self, flows: PreparedFlows, program: Replay) -> PlannedFlows:
        """Return a network for a program whose entries are the plan's messages."""
        distinct, place = _distinct(self.routes)
        sent = np.flatnonzero(distinct.lengths)  # what stays inside a node has no path
        number = np.searchsorted(sent, np.arange(len(distinct)))
        given = GivenPaths(AS_PLANNED, distinct.taken(sent), number[place[program.entry]])
        return PlannedFlows(**vars(flows), routes=given, planned_seconds=self.seconds)


def as_planned(
    question: ReplayQuestion, topology: Topology
) -> tuple[ReplayQuestion, Planned | None]:
    """Return the question with the plan as its trace, and the routes of the plan.

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
                planned = Planned(routes, schedule.finish_seconds)
                trace = changed["trace"]
                changed["trace"] = replace(trace, flits=trace.flits * (routes.lengths > 0))
    if question.engine == "flow" and "injection" not in said:
        changed["injection"] = "shared"
    if question.engine == "flow" and topology.direct and "end_channels" not in said:
        changed["end_channels"] = 0
    return question.model_copy(update=changed), planned


def routes_on(schedule: Schedule, topology: Topology) -> Paths | None:
    """Return the route of each message as channels of a network. None if it lacks some of them.

    Vertices are those of the same name, ranks those of the plan's hosts. Of channels that join the
    same two vertices, the first is the first. Channels of the plan between hosts of one node, which
    the network lacks, are left out: a route inside a node is empty.
    """
    network, ranks = schedule.network, len(schedule.network.host)
    number = {topology.name_of(vertex): vertex for vertex in range(topology.num_vertices)}
    vertices = [*network.host.tolist(), *(number.get(name, -1) for name in network.labels[ranks:])]
    vertex = np.array(vertices, np.int64)
    if [topology.name_of(host) for host in vertices[:ranks]] != list(network.labels[:ranks]):
        return None
    many = np.int64(topology.num_vertices)
    planned = _numbered(vertex[network.source] * many + vertex[network.target])
    there = _numbered(topology.channel_source.astype(np.int64) * many + topology.channel_target)
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
