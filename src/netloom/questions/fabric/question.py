"""Which cable of this fabric slows its jobs, why, and what is broken?"""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import cached_property
from os.path import isfile
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.words import counted, number
from netloom.bounds import bisection_bound, busiest_bound
from netloom.fabrics.figures import (
    ENDS,
    busiest_destinations,
    cable,
    cause_of,
    on_several_switches,
    pairs_reached,
    rises,
    table_figures,
    ways_of,
)
from netloom.fabrics.program import Flows, flows_of, sharing
from netloom.mapping.allocation import allocated_hosts, places_of
from netloom.questions.base import InstanceOf, option
from netloom.questions.columns import Column, Columns, table
from netloom.questions.fields import BrokenParts, OnFabric, Seeded, TasksPerNode, refuse
from netloom.questions.named import network_of, provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.register import Answer, asks
from netloom.routing.forwarding.engines import ENGINES, would_fall_back
from netloom.routing.forwarding.lanes import lane_circle
from netloom.routing.forwarding.lfts import read_lfts
from netloom.routing.forwarding.tables import ForwardingTable, table_problems
from netloom.topology import Topology
from netloom.topology.faults import working_nodes
from netloom.topology.names import short_names
from netloom.topology.subnets.missing import missing_parts
from netloom.topology.subnets.shapes import shape_words
from netloom.workload import read

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from netloom.base.arrays import Ints
    from netloom.base.provenance import Provenance
    from netloom.bounds import Bound
    from netloom.fabrics.figures import Cause, TableFigures
    from netloom.fabrics.program import Sharing
    from netloom.routing.forwarding.tables import Problems


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
        The times of channels. See ``fabrics.program``.
    """

    topology: Topology
    jobs: list[Job]
    unrouted: list[int]
    sharing: Sharing

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per job: its size, its busiest cable alone, and what others cost it."""
        found, network = self.sharing, self.topology
        rows = []
        for place, job in enumerate(self.jobs):
            sends = bool(found.alone[place] > 0)
            slowest = int(found.slowest[place])
            beside = np.flatnonzero(found.use[:, slowest] > 0)
            rows.append({
                "name": job.name,
                "nodes": len(np.unique(network.node_of_host[job.hosts])),
                "hosts": len(job.hosts),
                "program": job.program,
                "inside": job.inside,
                "unrouted": self.unrouted[place],
                "alone": float(found.alone[place]),
                "slowdown": float(found.slowdown[place]),
                "busiest": cable(network, int(found.busiest[place])) if sends else None,
                "shared": cable(network, slowest) if sends and len(beside) > 1 else None,
                "shared_with": [
                    self.jobs[each].name for each in beside if sends and each != place
                ],
            })  # fmt: skip
        return rows

    def shared_rows(self, most: int | None = None) -> list[dict[str, Any]]:
        """Return a row per cable (one way) that several jobs use, the busiest first."""
        return [
            {
                **cable(self.topology, each.channel),
                "use": each.together,
                "jobs": [
                    {"name": self.jobs[job].name, "use": use} for job, use in each.use.items()
                ],
            }
            for each in self.sharing.shared()[:most]
        ]


def cables(network: Topology) -> dict[str, list[Any]]:
    """Return both ends of all channels between routers and their ports, as columns."""
    ends = [network.cable_end(channel) for channel in range(network.num_network_channels)]
    return {name: [end[at] for end in ends] for at, name in enumerate(ENDS)}


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


MOST_NAMED = 8
"""Hosts that are named as those that a cable's paths lead to."""

MOST_SHARED = 10
"""Cables in JSON that jobs share. The table has all."""

CHANNELS = Columns(
    Column("channel", kind=int),
    Column("source_node", kind=int),
    Column("target_node", kind=int),
    Column("from", kind=str),
    Column("from_port", kind=int),
    Column("to", kind=str),
    Column("to_port", kind=int),
    Column("way", "up, away from hosts; down; or across", kind=str),
    Column("paths", "paths of an all-to-all", kind=int),
    Column("time", "paths over bandwidth"),
    Column("leads_to", "hosts to which most of these paths lead", kind=str, optional=True),
)

SHIFTS = Columns(
    Column("distance", kind=int),
    Column("paths", "paths on the busiest channel", kind=int),
)

JOBS = Columns(
    Column("name", kind=str),
    Column("nodes", kind=int),
    Column("hosts", kind=int),
    Column("program", kind=str),
    Column("inside", "share of its traffic that stays inside nodes"),
    Column("unrouted", "pairs of hosts without a path", kind=int),
    Column("alone", "time of its busiest channel, alone", "bytes over bandwidth"),
    Column("slowdown", "times as long beside the others, at most"),
    Column("shared_with", kind=str),
)

SHARED = Columns(
    Column("from", kind=str),
    Column("from_port", kind=int),
    Column("to", kind=str),
    Column("to_port", kind=int),
    Column("job", kind=str),
    Column("use", "time for this job, as a share of what the job takes alone"),
    Column("together", "the same, of all jobs"),
)


def _of(name: str, *path: str, kind: type = float, **more: Any) -> Column:
    """Return a column of what ``found`` has. ``a_b`` stands in JSON at ``a.b`` if path says so."""
    return Column(name, kind=kind, value=".".join(("found", *(path or (name,)))),
                  json=".".join(path) if path else "", **more)  # fmt: skip


FAIR, UNEVEN = 1.1, 1.5
"""Times the bound up to which the busiest cable is fairly, and tolerably, loaded."""


def level_of(figures: Mapping[str, Any]) -> str:
    """Return ``lost``, ``loop``, ``uneven`` or ``good``.

    Pairs of hosts have no path, packets can wait in a circle, the busiest cable carries more than
    it must, or none of these.
    """
    if figures["unrouted"]:
        return "lost"
    if not figures["deadlock_free"]:
        return "loop"
    ratio = figures["all_to_all"]["ratio"]
    return "good" if ratio is None or ratio <= FAIR else "uneven"


@dataclass(frozen=True, eq=False)
class FabricCheck(Answer):
    """How good the tables of a fabric are, and what is broken.

    Attributes
    ----------
    network, forwarding
        The fabric, and where its switches forward.
    asked, fallback
        The tables that were asked for. Why OpenSM would configure minhop instead, or "".
    figures
        All-to-all, shifts, matchings, circles. See ``fabrics.figures``.
    bound, bisection_bound
        What no routing beats in an all-to-all, and in random matchings.
    cause
        Why the busiest channel is as busy. None where no traffic crosses a channel.
    faults
        Packets that do not arrive, and why. See ``routing.forwarding.problems``.
    others_circle
        Channels, with lanes, in which packets wait for each other once aggregation nodes and the
        like send, too. () where there is no such circle, None where no table leads there.
    jobs
        What jobs cost each other.
    """

    network: Topology
    forwarding: ForwardingTable
    asked: str
    fallback: str
    figures: TableFigures
    bound: Bound
    bisection_bound: float
    cause: Cause | None
    faults: Problems
    others_circle: tuple[tuple[int, int], ...] | None
    jobs: JobCosts
    provenance: Provenance

    columns: ClassVar = Columns(
        _of("all_to_all_max", "all_to_all", "max", kind=int, key=True,
            title="paths of an all-to-all on the busiest cable"),
        _of("all_to_all_mean", "all_to_all", "mean", title="the same, mean cable"),
        _of("all_to_all_time", "all_to_all", "time",
            title="paths over bandwidth, where that is most"),
        _of("all_to_all_bound", "all_to_all", "bound", key=True,
            title="paths that the busiest cable must carry at least"),
        _of("all_to_all_time_bound", "all_to_all", "time_bound", title="that bound over bandwidth"),
        _of("all_to_all_ratio", "all_to_all", "ratio", title="times that bound"),
        _of("all_to_all_why", "all_to_all", "why", kind=str, title="where the bound comes from"),
        _of("shifts_max", "shifts", "max", kind=int, title="worst shift: paths on one cable"),
        _of("shifts_mean", "shifts", "mean", key=True, title="mean shift: paths on one cable"),
        _of("shifts_count", "shifts", "count", kind=int, title="shifts of the hosts"),
        _of("effective_bisection_mean", "effective_bisection", "mean", key=True,
            title="effective bisection bandwidth", unit="share of a host's"),
        _of("effective_bisection_sd", "effective_bisection", "sd",
            title="its spread, matching by matching"),
        _of("effective_bisection_samples", "effective_bisection", "samples", kind=int),
        _of("effective_bisection_bound", "effective_bisection", "bound",
            title="what no tables bring that above"),
        _of("switch_hops_mean", "switch_hops", "mean"),
        _of("switch_hops_max", "switch_hops", "max", kind=int),
        _of("unrouted", kind=int, key=True, title="pairs of hosts without a path"),
        _of("lanes", kind=int),
        _of("deadlock_free", kind=bool, key=True, title="free of credit loops"),
    )  # fmt: skip
    about: ClassVar = Columns(
        Column("topology", kind=str, value="network.name"),
        Column("shape", kind=str),
        Column("nodes", kind=int, value="network.num_nodes"),
        _of("hosts", kind=int),
        _of("switches", kind=int),
        _of("cables", kind=int),
        Column("other_end_points", kind=int, value="num_others"),
        Column("several_switches", "hosts with ports on several switches", kind=int,
               value=lambda answer: on_several_switches(answer.network)),
        Column("routing", kind=str, value="forwarding.name"),
        Column("fallback", kind=str, value=lambda answer: answer.fallback or None),
        Column("lids", kind=bool, value=lambda answer: answer.num_lids > 0),
        Column("short", kind=dict, value="short_told"),
        Column("verdict", kind=dict, value=lambda answer: {"level": level_of(answer.found)}),
        Column("circle", kind=list, value=lambda answer: answer.named(answer.figures.circle)),
        Column("others_circle", kind=list,
               value=lambda answer: answer.named(answer.others_circle)),
        _of("busiest", kind=list),
        Column("cause", kind=dict, value="told_cause"),
        Column("ways", kind=list, value="by_way"),
        Column("problems", kind=list),
        Column("missing", kind=list),
        Column("jobs", kind=list, value=lambda answer: answer.jobs.rows()),
        Column("shared_cables", kind=list,
               value=lambda answer: answer.jobs.shared_rows(MOST_SHARED)),
    )  # fmt: skip

    @cached_property
    def found(self) -> dict[str, Any]:
        """The figures as JSON has them, with bounds."""
        data = self.figures.to_dict()
        data["all_to_all"] |= self.figures.beside(self.bound.value) | {"why": self.bound.why}
        data["effective_bisection"]["bound"] = self.bisection_bound
        return data

    @cached_property
    def short(self) -> dict[str, str]:
        """The names of routers without what their firmware adds, where that is unique."""
        return short_names(self.network.routers.labels)

    @cached_property
    def short_told(self) -> dict[str, str]:
        """Those short names whose switches figures name."""
        cables = [*self.found["busiest"], *(self.named(self.figures.circle) or [])]
        cables += [*(self.named(self.others_circle) or []), *self.jobs.shared_rows(MOST_SHARED)]
        for job in self.jobs.rows():
            cables += [job[name] for name in ("busiest", "shared") if job[name]]
        told = [self.bound.why, *(each["sentence"] for each in self.problems), *self.missing]
        said = "\n".join([*told, *(each[end] for each in cables for end in ("from", "to"))])
        return {label: name for label, name in self.short.items() if label in said}

    @property
    def num_lids(self) -> int:
        """Ports with a LID. Without any, tables cannot be written."""
        cabling = self.network.cabling
        return 0 if cabling is None else int((cabling.port_lid > 0).sum())

    @cached_property
    def shape(self) -> str:
        """What kind of network it is, in words."""
        return shape_words(self.network)

    @cached_property
    def missing(self) -> list[str]:
        """What the network lacks beside a regular one of its kind, a sentence each."""
        return list(missing_parts(self.network))

    @property
    def problems(self) -> list[dict[str, Any]]:
        """What is wrong with the tables, a sentence each, those that hurt most pairs first."""
        return [
            {"kind": each.kind, "pairs": each.pairs, "destinations": each.destinations,
             "sentence": each.words}
            for each in self.faults.faults
        ]  # fmt: skip

    @property
    def num_others(self) -> int:
        """End points that run no programs, such as aggregation nodes."""
        cabling = self.network.cabling
        return 0 if cabling is None else len(cabling.others)

    @cached_property
    def way(self) -> list[str]:
        """Whether each channel between routers leads up, away from hosts, down or across."""
        found: list[str] = np.array(["down", "across", "up"])[rises(self.network) + 1].tolist()
        return found

    @property
    def by_way(self) -> list[dict[str, Any]]:
        """Paths of an all-to-all on the channels that lead up, down and across."""
        way, paths = np.array(self.way), self.figures.paths
        found = []
        for name in ("up", "down", "across"):
            mine = paths[way == name]
            if len(mine):
                found.append({
                    "way": name, "channels": len(mine), "least": int(mine.min()),
                    "mean": float(mine.mean()), "most": int(mine.max()),
                })  # fmt: skip
        return found

    @property
    def told_cause(self) -> dict[str, Any] | None:
        """Why the busiest channel is as busy, as plain data."""
        cause = self.cause
        if cause is None:
            return None
        names = [self.network.name_of(host) for host in cause.hosts[:MOST_NAMED]]
        unit = self.network.reference_gbps or 1.0
        return {
            "way": cause.way, "share": cause.share, "beside": cause.beside,
            "least": cause.least, "most": cause.most, "alike": cause.alike,
            "usual": cause.usual, "destinations": len(cause.hosts),
            "rate": cause.rate * unit, "usual_rate": cause.usual_rate * unit,
            "rate_unit": "Gb/s" if self.network.reference_gbps else "",
            "as_usual": cause.as_usual, "mended_ratio": cause.mended,
            "hosts": [
                {"name": name, "paths": paths}
                for name, paths in zip(names, cause.paths, strict=False)
            ],
        }  # fmt: skip

    def named(self, circle: tuple[tuple[int, int], ...] | None) -> list[dict[str, Any]] | None:
        """Return a circle of channels by the names and ports of their ends."""
        if circle is None:
            return None
        return [cable(self.network, channel) | {"lane": lane} for channel, lane in circle]

    @table(CHANNELS)
    def channels(self) -> pl.DataFrame:
        """Return one row per channel between routers: its ends, and its load by an all-to-all."""
        import polars as pl

        net, count = self.network, self.network.num_network_channels
        hosts, paths = busiest_destinations(net, self.forwarding, self.figures.taking)
        told = {} if count and not len(hosts) else {"leads_to": [
            ", ".join(f"{net.name_of(host)} ({many:,})"
                      for host, many in zip(*each, strict=True) if many)
            for each in zip(hosts.tolist(), paths.tolist(), strict=True)
        ]}  # fmt: skip
        return pl.DataFrame({
            "channel": np.arange(count),
            "source_node": net.source_end[:count],
            "target_node": net.target_end[:count],
            **cables(net),
            "way": self.way,
            "paths": self.figures.paths,
            "time": self.figures.time,
            **told,
        })  # fmt: skip

    @table(SHIFTS)
    def shift_table(self) -> pl.DataFrame:
        """Return one row per shift of the hosts: its distance, and paths on the busiest channel."""
        import polars as pl

        found = self.figures
        return pl.DataFrame({"distance": found.shifts.distance, "paths": found.largest_of_shifts})

    @table(JOBS)
    def job_table(self) -> pl.DataFrame:
        """Return one row per job: its size, and what the others cost it."""
        rows = [row | {"shared_with": ", ".join(row["shared_with"])} for row in self.jobs.rows()]
        return JOBS.frame_of(rows)

    @table(SHARED)
    def shared_cables(self) -> pl.DataFrame:
        """Return one row per cable (one way) and job, of cables that several jobs use."""
        rows = []
        for each in self.jobs.shared_rows():
            ends = {name: each[name] for name in ENDS}
            for job in each["jobs"]:
                of_job = {"job": job["name"], "use": job["use"], "together": each["use"]}
                rows.append(ends | of_job)
        return SHARED.frame_of(rows)

    def __repr__(self) -> str:
        data = self.found
        return (
            f"<Check of {self.network.name} ({self.forwarding.name}), {data['hosts']} hosts: "
            f"busiest cable {data['all_to_all']['max']} paths, bound "
            f"{number(data['all_to_all']['bound'])}; {self.origin}>\n"
            f"{self.to_dict()['verdict']['sentence']}"
        )


def subnet_circle(network: Topology, found: ForwardingTable) -> tuple[tuple[int, int], ...] | None:
    """Return a circle in which packets wait once all end points of a subnet send and receive.

    None where there are no other end points than hosts, or the table does not lead to them.
    """
    cabling = network.cabling
    if cabling is None or not len(cabling.others) or found.others is None:
        return None
    return lane_circle(network, found, everyone=True)


class FabricQuestion(Seeded, TasksPerNode, BrokenParts, OnFabric):
    """A fabric, and the tables by which its switches forward."""

    routing: str | InstanceOf[ForwardingTable] = option(
        f"Forwarding tables: lfts:FILE as OpenSM dumps them, or an engine: {', '.join(ENGINES)}.",
        default="minhop",
        panel="Network",
        file=True,
    )
    without_hosts: str | None = option(
        "Hosts that run no jobs, such as storage: patterns of names, separated by commas.",
        default=None,
        panel="Network",
    )
    jobs: str | list[str] | None = option(
        "Job NAME=NODES[:PROGRAM]: a node list or host file, and a program (default: an "
        "all-to-all). Repeat it for jobs that run together.",
        default=None,
        panel="Jobs",
        flags=("--job",),
        several=True,
    )
    samples: int = option(
        "Number of random matchings of random halves (0: none).", default=1000, ge=0, le=10**6
    )


@dataclass(frozen=True, eq=False)
class ReadyFabric:
    """What a question names: a network, its table, and the hosts and jobs that use it.

    Attributes
    ----------
    hosts
        int32[], those that take part.
    fallback
        Why OpenSM would configure minhop, though asked for another engine. Empty otherwise.
    """

    network: Topology
    table: ForwardingTable
    hosts: Ints
    jobs: list[Job]
    fallback: str


def prepare(question: FabricQuestion) -> ReadyFabric:
    """Read the fabric and its tables, and find the hosts of jobs."""
    network, _ = network_of(question)
    if not network.num_network_channels:
        raise InputError(network.name, "no cable between switches", "two switches at least")
    hosts = _taking(question.without_hosts, network)
    if not question.jobs:
        refuse(
            question, ("tasks_per_node", "count_inside_nodes"), "job, which this says something of"
        )
    jobs = read_jobs(question.jobs, network, question.tasks_per_node, question.seed)
    table, fallback = tables_of(question.routing, network)
    return ReadyFabric(network, table, hosts, jobs, fallback)


def tables_of(
    routing: str | ForwardingTable, network: Topology, *, gone: bool = False
) -> tuple[ForwardingTable, str]:
    """Return the forwarding table that a question names, and why OpenSM would fall back to minhop.

    ``gone``: a file may tell of switches and hosts that the network has no more.

    Raises
    ------
    InputError
        If it is no forwarding table.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> tables_of("updn", topology("torus:3x3"))[0].name
    'minhop'
    """
    wanted = f"lfts:FILE, or one of {', '.join(ENGINES)}"
    if isinstance(routing, ForwardingTable):
        if routing.choices is not None:
            raise InputError("routing", f"the table {routing} of a function", wanted)
        return routing, ""
    if isfile(routing) or routing.startswith("lfts:"):  # noqa: PTH113 (too long for a path)
        return read_lfts(network, routing.removeprefix("lfts:"), gone=gone), ""
    if routing not in ENGINES:
        raise InputError("routing", f"'{routing}'", wanted)
    why = would_fall_back(network, routing)
    return ENGINES["minhop" if why else routing](network), why


def _taking(patterns: str | None, network: Topology) -> Ints:
    """Return the hosts that no pattern names."""
    hosts = working_nodes(network)
    for pattern in [] if patterns is None else patterns.split(","):
        nodes = network.node_of_host[hosts].tolist()
        names = zip(map(network.name_of, hosts.tolist()), map(network.computer_name, nodes),
                    strict=True)  # fmt: skip
        named = np.array(
            [any(fnmatchcase(name, pattern.strip()) for name in both) for both in names], np.bool_
        )
        if not named.any():
            raise InputError(
                "without_hosts", f"'{pattern}', which no host is called", "a name such as storage*"
            )
        hosts = hosts[~named]
    if len(hosts) < 2:
        raise InputError(network.name, counted(len(hosts), "host"), "at least two that take part")
    return hosts


@asks(
    FabricQuestion,
    prepare=prepare,
    title="Check of a fabric",
    example="netloom fabric --on examples/dgx-40.ibnetdiscover --plot fabric.png",
    page="which-cable-slows-my-job.md",
    outputs=(PLOT,),
)
def check_fabric(question: FabricQuestion, ready: ReadyFabric) -> FabricCheck:
    """Find the cable of a fabric that slows its jobs, the cause, and broken parts.

    The tables are those that a subnet manager dumped, or what OpenSM's engine would make: minhop,
    its default, where nothing is said. Cables are judged by an all-to-all of all hosts: paths, each
    way apart, beside a lower bound that no routing beats. Shifts, random matchings of random halves
    and circles of packets that wait for each other (credit loops) are looked at as well. Of jobs
    that run at the same time, the answer says which cables they share, and what it costs each.

    Examples
    --------
    >>> found = check_fabric("fat-tree:k=8", samples=10)
    >>> found.to_dict()["all_to_all"]["max"], found.to_dict()["all_to_all"]["bound"]
    (448, 124.0)
    """
    network, table, hosts = ready.network, ready.table, ready.hosts
    with patience(f"Following the paths between {len(hosts):,} hosts"):
        figures = table_figures(
            network, table, hosts=hosts, samples=question.samples, seed=question.seed
        )
    with patience(f"Finding what {counted(figures.cables, 'cable', ',')} must carry at least"):
        bound = busiest_bound(network, hosts=hosts)
        best_share = bisection_bound(network, hosts=hosts)
    busiest = figures.busiest(1)
    return FabricCheck(
        network=network,
        forwarding=table,
        fallback=ready.fallback,
        asked=str(question.routing),
        figures=figures,
        bound=bound,
        bisection_bound=best_share,
        cause=cause_of(network, table, figures, busiest[0].channel) if busiest else None,
        faults=table_problems(network, table),
        others_circle=subnet_circle(network, table),
        jobs=shared_by(network, table, ready.jobs),
        provenance=provenance_of(question, "check_fabric", network),
    )
