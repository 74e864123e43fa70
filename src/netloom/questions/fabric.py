"""Find the cable of a fabric that slows its jobs, the cause, and broken parts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os.path import isfile
from pathlib import PurePath
from typing import Any, ClassVar, Literal

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.figures import Figures, Number, derived, figure, unseen
from netloom.base.progress import patience
from netloom.base.words import counted, listed, number, percent
from netloom.fabrics.figures import (
    EVEN,
    PROVED,
    Cable,
    Cause,
    FabricSize,
    HeldCable,
    TableFigures,
    WayPaths,
    busiest_destinations,
    cables,
    cause_of,
    fabric_size,
    held_cables,
    limits_of,
    paths_by_way,
    table_figures,
    ways_led,
)
from netloom.fabrics.program import Job, JobCost, SharedCable, flows_of, shared_by
from netloom.mapping.allocation import allocated_hosts, hosts_but, places_of
from netloom.questions import terminal
from netloom.questions.answers import (
    MARKS,
    Answer,
    Columns,
    Grade,
    Mark,
    Measure,
    Parts,
    Verdict,
    table,
)
from netloom.questions.base import InstanceOf, option
from netloom.questions.fields import BrokenParts, OnFabric, Seeded, TasksPerNode, refuse
from netloom.questions.named import network_again, network_of, provenance_of
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.questions.terminal import short_name
from netloom.routing.forwarding.engines import ENGINES
from netloom.routing.forwarding.lfts import named_table
from netloom.routing.forwarding.tables import Fault, ForwardingTable, lane_circle, table_problems
from netloom.topology import Topology
from netloom.topology.names import short_names
from netloom.topology.subnets.shapes import missing_parts, shape_of

LOAD = Grade("times that the busiest cable, or a job, takes of the least", fine=EVEN, act=1.5)

CLOSE = 1.03
"""Times its bound up to which a busiest cable leaves nothing that is worth looking for."""

NAMED = 1.05
"""Times its bound from which a picture names the busiest cable."""

MOST_IN_CIRCLE, MOST_MISSING, MOST_BUSIEST, MOST_SHARED = 10, 5, 5, 10
"""Switches of a circle that are named, and what a terminal, or JSON of shared cables, lists."""

MOST_JOBS = 64
"""Most jobs that are compared."""

FORM = "NAME=NODES or NAME=NODES:PROGRAM, such as cfd=n[1-8] or fft=hosts.txt:all-to-all"


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


class Channel(Figures):
    """A channel between switches, and its load by an all-to-all."""

    cable: Cable = figure(at=".")
    source_node: int
    target_node: int
    way: str = figure("up, away from hosts; down; or across")
    paths: int = figure("paths of an all-to-all")
    time: float = figure("paths over bandwidth")
    leads_to: str = figure("hosts to which most of these paths lead", optional=True)


class Shift(Figures):
    """A shift of the hosts."""

    distance: int
    paths: int = figure("paths on the busiest channel")


class Sharing(Figures):
    """A cable and one of the jobs that use it."""

    cable: Cable = figure(at=".")
    job: str
    use: float = figure("time for this job, as a share of what the job takes alone")
    together: float = figure("the same, of all jobs")


class Listed(Figures):
    """A cable, as a terminal lists it."""

    paths: Number | None = figure(lead=True, default=None)
    time: float | None = figure(lead=True, default=None)
    cable: str = figure("channel", lead=True)


class FabricCheck(Answer):
    """How good the tables of a fabric are, and what is broken.

    Attributes
    ----------
    fallback
        Why OpenSM would configure minhop instead of the tables that were asked for.
    short
        The names of switches without what their firmware adds, where figures have them.
    others_circle
        A circle once aggregation nodes and the like send, too. None where no table leads there.
    """

    ABOVE: ClassVar = True

    topology: str
    shape: str
    nodes: int
    size: FabricSize = figure(at=".")
    other_end_points: int
    routing: str
    fallback: str | None
    lids: bool
    short: dict[str, str]
    figures: TableFigures = figure(at=".")
    circle: tuple[HeldCable, ...] | None = figure("packets that wait for each other")
    others_circle: tuple[HeldCable, ...] | None = figure("the same of all end points")
    cause: Cause | None
    ways: tuple[WayPaths, ...] = figure("paths by where channels lead")
    problems: tuple[Fault, ...]
    missing: tuple[str, ...]
    jobs: tuple[JobCost, ...]
    most_shared: tuple[SharedCable, ...] = figure(at="shared_cables")

    network: Topology = unseen()
    forwarding: ForwardingTable = unseen()
    shared: tuple[SharedCable, ...] = unseen(default=())

    @derived("the worst of what was found", at="verdict.level", table=False)
    def level(self) -> Literal["lost", "loop", "uneven", "good"]:
        """Pairs of hosts without a path, a circle, a cable with more than it must, or none."""
        if self.figures.unrouted:
            return "lost"
        if not self.figures.deadlock_free:
            return "loop"
        ratio = self.figures.least.ratio
        return "good" if ratio is None or ratio <= LOAD.fine else "uneven"

    @property
    def of(self) -> str:
        """The fabric and its tables."""
        lfts = self.routing.startswith("lfts:")
        name = PurePath(self.routing).name if lfts else self.routing
        return f"{short_name(self.topology)}, {name} tables"

    def plainly(self, name: str) -> str:
        """Return words with the names of switches as people see them."""
        return terminal.in_short(name, self.short)

    def measure(self) -> Measure | None:
        """Return the paths on the busiest cable. None of jobs, lost packets and loops."""
        if self.jobs or self.level in ("lost", "loop"):
            return None
        most, what = self.figures.all_to_all.max, "paths of an all-to-all on the busiest cable"
        return Measure(most, number(most), f"has {{}} {what}", what)

    def judged(self) -> Verdict:
        """Return the worst of what was found. Of jobs, what they cost each other."""
        ratio, mends = self.figures.least.ratio, True
        mark = "act"
        if self.level == "lost":
            lost, pairs = number(self.figures.unrouted), number(self.size.pairs)
            have, whose = ("has", "its") if self.figures.unrouted == 1 else ("have", "their")
            said = f"{lost} of {pairs} pairs of hosts {have} no path: {whose} packets are lost."
            why = ". ".join(each.words.rstrip(".") for each in self.problems[:2])
            lines = {"why": self.plainly(why)}
        elif self.level == "loop":
            many = counted(len(self.circle or ()), "channel")
            said = f"Packets can wait for each other in a circle of {many} (credit loop): the "
            said += "fabric can lock up."
            lines = {"where": self._circle(self.circle or ())}
        elif self.jobs:
            mark, said, lines = self._of_jobs()
        elif ratio is None:
            cables = counted(self.size.cables, "cable", ",")
            said = f"No packet crosses any of the {cables} between switches."
            mark, lines, mends = "fine", {}, False
        else:
            mark, said, mends = LOAD.mark(ratio), self._busiest(ratio), ratio > CLOSE
            lines = self._cable_lines()
        if mark == "fine" and self.others_circle:
            mark = "limited"
        if self.jobs:
            mends = mark != "fine"
        return Verdict(mark, said, lines | self._looked_at(), self._next() if mends else "")

    def _of_jobs(self) -> tuple[Mark, str, dict[str, str]]:
        """Return the mark, the sentence and the lines of the job that suffers most from others."""
        worst = max(self.jobs, key=lambda each: each.slowdown)
        if worst.shared is None:
            said = "No job is slowed by another: 0 cables are busiest for two of the "
            said += f"{len(self.jobs)} jobs."
            if len(self.jobs) == 1:
                said = "The only job is slowed by no other: it shares 0 cables."
            return "fine", said, self._cable_lines() if self.figures.busiest else {}
        mark, whom = LOAD.mark(worst.slowdown), listed(worst.shared_with)
        said = f"Job {worst.name} takes up to {number(worst.slowdown)} times as long beside "
        said += f"{whom}, on one cable."
        if mark == "fine":
            more = percent(worst.delay)
            said = f"Jobs hardly slow each other: {worst.name} at most {more}, beside {whom}."
        ratio = self.figures.least.ratio
        tables = "" if ratio is None else self._busiest(ratio)
        return mark, said, {"where": self.plainly(worst.shared.words), "tables": tables}

    def _busiest(self, ratio: float) -> str:
        """Return what the busiest cable carries, and what it must."""
        paths = f"{counted(number(self.figures.busiest[0].paths), 'path')} of an all-to-all"
        if ratio <= PROVED:
            return f"The busiest cable carries {paths}: no routing can do better (proved)."
        above = f"{number(ratio)}× what"
        if ratio < LOAD.fine:
            above = f"{percent(self.figures.least.above)} more than"
        bound = number(self.figures.least.bound)
        return f"The busiest cable carries {paths}, {above} it must ({bound})."

    def _cable_lines(self) -> dict[str, str]:
        """Return which cable is busiest, and why, and what it must carry."""
        least = self.figures.least
        limits = {"limits": self.plainly(least.why)}
        if (least.ratio or 0) <= PROVED:
            return limits
        busy, why = self.figures.busiest[0], ""
        if self.cause is not None and self.cause.beside > 1:
            ends = self.plainly(busy.cable.source), self.plainly(busy.cable.target)
            why = self.cause.said(*ends, paths=busy.paths, ratio=least.ratio or 0.0)
        return {"where": self._where(), "why": why} | limits

    def _where(self) -> str:
        """Return both ends of the busiest cable."""
        return self.plainly(self.figures.busiest[0].cable.words)

    def _looked_at(self) -> dict[str, str]:
        """Return what else was looked at: circles, ports, and tables that OpenSM would not make."""
        lines, lanes = {}, counted(self.figures.lanes, "lane")
        if self.others_circle:
            many = counted(self.other_end_points, "aggregation node")
            circle = self._circle(self.others_circle)
            lines["loops"] = f"none between hosts ({lanes}); with the {many}: {circle}"
        elif self.figures.deadlock_free:
            whose = "hosts" if self.others_circle is None else "hosts and aggregation nodes"
            lines["loops"] = f"none between {whose} ({lanes})"
        elif self.figures.unrouted:
            lines["loops"] = self._circle(self.circle or ())
        if self.fallback:
            asked = self.asked["routing"]
            lines["care"] = f"OpenSM, asked for {asked}, falls back to minhop: {self.fallback}"
        return lines | {"ports": self.size.ports}

    def _circle(self, circle: Sequence[HeldCable]) -> str:
        """Return a circle of channels as the names of the switches that it goes round."""
        names = [self.plainly(each.cable.source) for each in circle]
        if len(names) > MOST_IN_CIRCLE:
            some = " → ".join(names[: MOST_IN_CIRCLE - 1])
            return f"{some} → … ({len(names)} switches) → {names[0]}"
        return " → ".join([*names, names[0]])

    def _next(self) -> str:
        """Return the command that looks for better tables, for all programs or for these jobs."""
        on, jobs = self.asked["on"], self.asked["jobs"]
        more = {"installed": self.asked["routing"]}
        if isinstance(on, str):
            more["on"] = on.removeprefix("fabric:")
        if self.lids:
            more["out"] = "better.lfts"
        for each in [jobs] if isinstance(jobs, str) else jobs or []:
            nodes, program = _apart(each.partition("=")[2])
            more.setdefault("wanted", []).append(f"{program or 'all-to-all'}@{nodes}")
        return self.again("route", but=("routing", "samples"), **more)

    def figure_lines(self, width: int) -> list[str]:
        """Return its leading figures, and the channels that are busiest and that jobs share."""
        busiest = [
            Listed(paths=each.paths, cable=self.plainly(each.cable.words))
            for each in self.figures.busiest[:MOST_BUSIEST]
        ]
        shared = [
            Listed(time=each.use, cable=f"{self.plainly(each.cable.words)}: {each.users}")
            for each in self.most_shared[:MOST_BUSIEST]
        ]
        found = super().figure_lines(width)
        for title, rows in (
            ("Busiest channels between switches:", busiest),
            ("Channels that jobs share, by the time of all jobs on them (one job: 1):", shared),
        ):
            found += ["", title, *terminal.table(rows, self, width)] if rows else []
        return found

    def remarks(self) -> Iterator[str]:
        """Yield what the verdict lacks, what jobs cost, what is missing, and what was checked."""
        ratio, hosts, drawn = self.figures.least.ratio, self.size.hosts, self.figures.shifts.count
        if self.level in ("lost", "loop") and ratio is not None:
            yield f"{MARKS[LOAD.mark(ratio)]} {self._busiest(ratio)} {self._where()}."
        for each in self.jobs:
            yield f"{MARKS[LOAD.mark(each.slowdown)]} {self.plainly(each.words)}"
        yield from map(self.plainly, self.missing[:MOST_MISSING])
        if len(self.missing) > MOST_MISSING:
            more = len(self.missing) - MOST_MISSING
            yield f"{more} more are missing or irregular: --json lists all"
        if drawn < hosts - 1:
            yield f"{drawn:,} of {hosts - 1:,} shifts of the hosts were drawn"
        shape = f"{self.shape}, " if self.shape else ""
        name = self.topology.removeprefix("fabric:")
        yield f"{name}: {shape}{self.size.words(self.nodes)}"
        made = "" if self.routing.startswith("lfts:") else ", as OpenSM's engine would make them"
        yield f"tables: {self.routing}{made}"

    @table(Channel)
    def channels(self) -> Columns:
        """Return one row per channel between routers: its ends, and its load by an all-to-all."""
        net, tables = self.network, self.forwarding
        count = net.num_network_channels
        hosts, paths = busiest_destinations(net, tables, self.figures.taking)
        leads_to = [
            ", ".join(
                f"{net.name_of(host)} ({many:,})" for host, many in zip(*each, strict=True) if many
            )
            for each in zip(hosts.tolist(), paths.tolist(), strict=True)
        ]
        return {
            **cables(net),
            "source_node": net.source_end[:count],
            "target_node": net.target_end[:count],
            "way": ways_led(net),
            "paths": self.figures.paths,
            "time": self.figures.time,
        } | ({} if count and not leads_to else {"leads_to": leads_to})

    @table(Shift)
    def shift_table(self) -> Columns:
        """Return one row per shift of the hosts: its distance, and paths on the busiest channel."""
        return {"distance": self.figures.distance, "paths": self.figures.largest_of_shifts}

    @table(Sharing)
    def shared_cables(self) -> Sequence[Figures]:
        """Return one row per cable (one way) and job, of cables that several jobs use."""
        return [
            Sharing(cable=each.cable, job=job.name, use=job.use, together=each.use)
            for each in self.shared
            for job in each.jobs
        ]

    def footer(self) -> list[str]:
        """Return how large the fabric is, and its tables."""
        name = self.topology.removeprefix("fabric:")
        return [f"{name}: {self.size.words()}; {self.routing}"]

    def parts(self) -> Parts:
        """Return the network, what jobs cost each other, and the paths of each channel."""
        from netloom.drawing.axes import ranked
        from netloom.drawing.fabrics import by_way, slowdowns

        channels, found, drawn = self.channels(), self.figures, {}
        net = network_again(self.network, self.asked, channels)
        if net is not None and channels.height:
            drawn["network"] = self._drawn(net)
        if self.jobs:
            drawn["jobs"] = slowdowns({each.name: each.slowdown for each in self.jobs})
        busiest, bound = "", found.all_to_all.bound or 0.0
        if found.least.ratio and found.least.ratio >= NAMED:
            first = channels.sort("paths", descending=True, maintain_order=True).head(1)
            busiest = self.plainly(Cable.from_json(first.row(0, named=True)).words)
        over = int((channels["paths"] > bound * 1.0005).sum())
        many = f"{over:,}" if over else "None"
        of_all = counted(channels.height, "channel", ",")
        verb = "carries" if over < 2 else "carry"
        said = f"{many} of {of_all} between switches {verb} more than the busiest must"
        drawn["cables"] = ranked(*by_way(channels), said, bound=bound, busiest=busiest)
        return drawn

    def _drawn(self, net: Topology) -> Any:
        """Return the network and what the answer is about: a circle, cables of jobs, or paths."""
        from netloom.drawing.fabrics import circle_marked, shared_marked
        from netloom.drawing.networks.chart import PATHS, network_chart
        from netloom.drawing.networks.traffic import Tips

        channels, uses = self.channels(), {}
        shared = self.shared_cables()
        tips, count = None, channels.height
        if "leads_to" in channels.columns:
            tips = Tips("most paths lead to", channels["leads_to"].to_list())
        if self.level == "loop":
            circle = [each.cable.channel for each in self.circle or ()]
            uses = {each: {"": 1.0} for each in circle if each is not None}
        elif self.level != "lost" and "channel" in shared.columns:
            for channel, job, use in shared.select("channel", "job", "use").rows():
                uses.setdefault(channel, {})[job] = use
        if not uses or next(iter(uses)) >= count:  # a host's own channel is not drawn
            paths = channels["paths"].to_numpy().astype(np.float64)
            return network_chart(net, paths, PATHS, tips=tips)
        uses = {channel: jobs for channel, jobs in uses.items() if channel < count}
        marked = circle_marked([*uses])
        if self.level != "loop":
            marked = shared_marked(uses, self.plainly(self.most_shared[0].cable.words))
        time = np.zeros(count)
        time[[*uses]] = [sum(jobs.values()) for jobs in uses.values()]
        return network_chart(net, time, "", marked=marked, tips=tips)


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
    from netloom.workload import read

    network, _ = network_of(question)
    if not network.num_network_channels:
        raise InputError(network.name, "no cable between switches", "two switches at least")
    hosts = hosts_but(question.without_hosts, network)
    if not question.jobs:
        of_jobs = ("tasks_per_node", "count_inside_nodes")
        refuse(question, of_jobs, "job, which this says something of")
    words = [question.jobs] if isinstance(question.jobs, str) else question.jobs or []
    if len(words) > MOST_JOBS:
        raise InputError("job", f"{len(words)} jobs", f"at most {MOST_JOBS}")
    jobs: list[Job] = []
    for word in words:
        name, sign, rest = word.partition("=")
        if not name.strip() or not sign or not rest:
            raise InputError("job", f"'{word}'", FORM)
        nodes, program = _apart(rest)
        own = allocated_hosts(nodes, network)
        places = places_of(own, network, question.tasks_per_node)
        graph = read(program or "all-to-all", tasks=places.count, seed=question.seed)
        if graph.num_tasks > places.count:
            tasks = f"{counted(graph.num_tasks, 'task', ',')} of {graph.name}"
            wanted = f"at most {places.count:,}, the places that job {name} has on its nodes"
            raise InputError("job", tasks, wanted)
        volume = graph.bytes if graph.bytes.any() else np.ones(graph.num_edges)
        host_of = places.at(np.arange(graph.num_tasks))  # in the order of the list
        flows = flows_of(network, host_of[graph.source], host_of[graph.target], volume)
        inside = 1 - float(flows.volume.sum()) / float(volume.sum()) if len(volume) else 0.0
        if name.strip() in (each.name for each in jobs):
            raise InputError("job", f"'{name.strip()}' twice", "each job by a name of its own")
        jobs.append(Job(name.strip(), own, graph.name, flows, max(inside, 0.0)))
    found, fallback = named_table(question.routing, network)
    return ReadyFabric(network, found, hosts, jobs, fallback)


def _apart(rest: str) -> tuple[str, str]:
    """Return the node list and the program of ``NODES:PROGRAM``. Brackets may hold a colon."""
    if isfile(rest):  # noqa: PTH113
        return rest, ""
    depth = 0
    for place, letter in enumerate(rest):
        depth += (letter in "[(") - (letter in "])")
        if letter == ":" and depth == 0:
            return rest[:place], rest[place + 1 :]
    return rest, ""


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
    >>> found.figures.all_to_all.max, found.figures.all_to_all.bound
    (448, 124.0)
    """
    network, tables, hosts, cabling = ready.network, ready.table, ready.hosts, ready.network.cabling
    size, others = fabric_size(network, hosts), None
    with patience(f"Finding what {counted(size.cables, 'cable', ',')} must carry at least"):
        limits = limits_of(network, hosts)
    with patience(f"Following the paths between {len(hosts):,} hosts"):
        found = table_figures(
            network,
            tables,
            hosts=hosts,
            samples=question.samples,
            seed=question.seed,
            limits=limits,
        )
    if cabling is not None and len(cabling.others) and tables.others is not None:
        others = lane_circle(network, tables, everyone=True)
    busiest = found.busiest[0].cable.channel if found.busiest else None
    costs = shared_by(network, tables, ready.jobs)
    answer = FabricCheck(
        topology=network.name,
        shape=shape_of(network).words,
        nodes=network.num_nodes,
        size=size,
        other_end_points=0 if cabling is None else len(cabling.others),
        routing=tables.name,
        fallback=ready.fallback or None,
        lids=cabling is not None and bool((cabling.port_lid > 0).any()),
        short={},
        figures=found,
        circle=held_cables(network, found.circle),
        others_circle=held_cables(network, others),
        cause=None if busiest is None else cause_of(network, tables, found, busiest),
        ways=paths_by_way(network, found.paths),
        problems=table_problems(network, tables).faults,
        missing=missing_parts(network),
        jobs=costs.jobs,
        most_shared=costs.shared[:MOST_SHARED],
        network=network,
        forwarding=tables,
        shared=costs.shared,
        provenance=provenance_of(question, "check_fabric", network),
    )
    # the short names of those switches that figures name
    kept = (found.busiest, answer.circle or (), answer.others_circle or (), answer.most_shared)
    named = [each.cable for some in kept for each in some]
    named += [each for job in answer.jobs for each in (job.busiest, job.shared) if each]
    told = [found.least.why, *(each.words for each in answer.problems)]
    said = "\n".join([*told, *answer.missing, *(each.words for each in named)])
    names = short_names(network.routers.labels)
    answer.short.update({label: name for label, name in names.items() if label in said})
    return answer
