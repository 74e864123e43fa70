"""Jobs on a fabric: read as they are named, and what they cost each other."""

from __future__ import annotations

from dataclasses import dataclass
from os.path import isfile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.fabrics.figures import pairs_reached, ways_of
from netloom.fabrics.program import Flows, flows_of
from netloom.fabrics.sharing import sharing
from netloom.mapping.allocation import allocated_hosts, places_of
from netloom.workload import read

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.fabrics.sharing import Sharing
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology

FORM = "NAME=NODES or NAME=NODES:PROGRAM, such as cfd=n[1-8] or fft=hosts.txt:all-to-all"

MOST_JOBS = 64
"""Most jobs that are compared."""


class Job(NamedTuple):
    """A job: what it is called, its hosts in order, its program, and what it sends.

    Attributes
    ----------
    inside
        Of what it sends, the share between hosts of one computer, which takes no cable.
    """

    name: str
    hosts: Ints
    program: str
    flows: Flows
    inside: float


def read_jobs(
    asked: str | list[str] | None, topology: Topology, tasks_per_node: int, seed: int
) -> list[Job]:
    """Return the jobs that a question names.

    Tasks fill the hosts in the order of the list. See ``places_of``.

    Raises
    ------
    InputError
        If one is not written so, a node or a program cannot be found, or it has more tasks than
        places.
    """
    words = [asked] if isinstance(asked, str) else asked or []
    if len(words) > MOST_JOBS:
        raise InputError("job", f"{len(words)} jobs", f"at most {MOST_JOBS}")
    jobs: list[Job] = []
    for word in words:
        job = _job(word, topology, tasks_per_node, seed)
        if job.name in (each.name for each in jobs):
            raise InputError("job", f"'{job.name}' twice", "each job by a name of its own")
        jobs.append(job)
    return jobs


def _job(word: str, topology: Topology, tasks_per_node: int, seed: int) -> Job:
    name, sign, rest = word.partition("=")
    if not name.strip() or not sign or not rest:
        raise InputError("job", f"'{word}'", FORM)
    nodes, program = apart(rest)
    hosts = allocated_hosts(nodes, topology)
    places = places_of(hosts, topology, tasks_per_node)
    graph = read(program or "all-to-all", tasks=places.count, seed=seed)
    if graph.num_tasks > places.count:
        tasks = f"{counted(graph.num_tasks, 'task', ',')} of {graph.name}"
        wanted = f"at most {places.count:,}, one for each host of job {name}"
        if tasks_per_node > 1:
            wanted = f"at most {places.count:,}, the places that job {name} has on its nodes"
        raise InputError("job", tasks, wanted)
    volume = graph.bytes if graph.bytes.any() else np.ones(graph.num_edges)
    host_of = places.at(np.arange(graph.num_tasks))
    flows = flows_of(topology, host_of[graph.source], host_of[graph.target], volume)
    inside = 1 - float(flows.volume.sum()) / float(volume.sum()) if len(volume) else 0.0
    return Job(name.strip(), hosts, graph.name, flows, max(inside, 0.0))


def apart(rest: str) -> tuple[str, str]:
    """Return the node list and the program of ``NODES:PROGRAM``. Brackets may hold a colon."""
    if isfile(rest):  # noqa: PTH113
        return rest, ""
    depth = 0
    for place, letter in enumerate(rest):
        depth += (letter in "[(") - (letter in "])")
        if letter == ":" and depth == 0:
            return rest[:place], rest[place + 1 :]
    return rest, ""


@dataclass(frozen=True, eq=False)
class JobCosts:
    """Jobs, and what they cost each other.

    Attributes
    ----------
    jobs
        What was asked about. None where there are none.
    unrouted
        Pairs of hosts of each job that the table does not route. They send nothing.
    sharing
        The times of channels. See ``fabrics.sharing``.
    """

    topology: Topology
    jobs: list[Job]
    unrouted: list[int]
    sharing: Sharing

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per job: its size, its busiest cable alone, and what others cost it."""
        found, network = self.sharing, self.topology
        rows = []
        for number, job in enumerate(self.jobs):
            sends = bool(found.alone[number] > 0)
            slowest = int(found.slowest[number])
            beside = np.flatnonzero(found.use[:, slowest] > 0)
            rows.append({
                "name": job.name,
                "nodes": len(np.unique(network.node_of_host[job.hosts])),
                "hosts": len(job.hosts),
                "program": job.program,
                "inside": job.inside,
                "unrouted": self.unrouted[number],
                "alone": float(found.alone[number]),
                "slowdown": float(found.slowdown[number]),
                "busiest": _cable(network, int(found.busiest[number])) if sends else None,
                "shared": _cable(network, slowest) if sends and len(beside) > 1 else None,
                "shared_with": [
                    self.jobs[each].name for each in beside if sends and each != number
                ],
            })  # fmt: skip
        return rows

    def shared_rows(self, most: int | None = None) -> list[dict[str, Any]]:
        """Return a row per cable (one way) that several jobs use, the busiest first."""
        return [
            {
                **_cable(self.topology, each.channel),
                "use": each.together,
                "jobs": [
                    {"name": self.jobs[job].name, "use": use} for job, use in each.use.items()
                ],
            }
            for each in self.sharing.shared()[:most]
        ]


def _cable(topology: Topology, channel: int) -> dict[str, Any]:
    source, out_port, target, in_port = topology.cable_end(channel)
    return {"from": source, "from_port": out_port, "to": target, "to_port": in_port}


def shared_by(topology: Topology, table: ForwardingTable, jobs: list[Job]) -> JobCosts:
    """Return what jobs that run at the same time cost each other under a table."""
    kept, lost = [], []
    for job in jobs:
        ways = ways_of(topology, table, job.hosts)
        reached = pairs_reached(topology, ways.arrives)(job.flows.source, job.flows.target)
        sent = job.flows
        kept.append(Flows(sent.source[reached], sent.target[reached], sent.volume[reached]))
        lost.append(int((~reached).sum()))
    return JobCosts(topology, jobs, lost, sharing(topology, table, kept))
