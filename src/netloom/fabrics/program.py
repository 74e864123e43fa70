"""Programs and jobs on forwarding tables.

A program is what its hosts send in all: ``Flows``. ``tables_for_program`` finds a table by which
its busiest channel works shortly, and ``costs_of`` what tables cost programs. Jobs that run at the
same time share cables: ``shared_by`` says which, and what that costs each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints, distinct, offsets_of
from netloom.base.errors import InputError, NoRouteError
from netloom.base.figures import SHARE, Figures, derived, figure
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.words import counted, number, percent
from netloom.fabrics.balancing import (
    MOST_LANES,
    Objective,
    balanced,
    costs_nothing,
    leads,
    shortest_ways,
    tree_ways,
)
from netloom.fabrics.figures import Cable, cable, pairs_reached, ways_of
from netloom.routing.forwarding.tables import ForwardingTable, lane_circle, lanes_used, layered
from netloom.routing.ragged import legs
from netloom.topology import Topology

# -- programs --------------------------------------------------------------------------------------


ROUNDS = 24
"""How often each destination of a program chooses its paths."""

POWERS = (2.0, 4.0, 12.0)
"""Powers of the time that a channel works, of the first rounds, those that follow, the last."""


class Flows(NamedTuple):
    """What hosts send through the network, in all.

    Attributes
    ----------
    source, target
        int32[num_flows] hosts whose messages use the network, each pair once.
    volume
        float64[num_flows], bytes.
    """

    source: Ints
    target: Ints
    volume: Floats


def flows_of(topology: Topology, source: Ints, target: Ints, volume: Floats) -> Flows:
    """Return what hosts send through the network, given messages between hosts.

    What stays inside a node does not. See ``Topology.local_group``.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> pairs = np.array([[0, 1], [0, 2], [0, 2]], np.int32).T
    >>> flows_of(topology("rail:1x2x2x1"), *pairs, np.array([5.0, 3.0, 4.0])).volume
    array([7.])
    """
    outside = topology.crosses(source, target) & (volume > 0)
    return _summed(source[outside], target[outside], volume[outside])


def _summed(source: Ints, target: Ints, volume: Floats) -> Flows:
    """Return flows with each pair once, sorted by source, then target."""
    span = int(target.max(initial=0)) + 1
    known, place = np.unique(source.astype(np.int64) * span + target, return_inverse=True)
    sums = np.bincount(place, weights=volume, minlength=len(known)).astype(np.float64)
    first, second = np.divmod(known, span)
    return Flows(first.astype(np.int32), second.astype(np.int32), sums)


def merged_flows(several: Sequence[tuple[Flows, float]]) -> Flows:
    """Return the flows of several programs as if all ran at once, each times its weight.

    Examples
    --------
    >>> one = Flows(np.array([0], np.int32), np.array([1], np.int32), np.array([4.0]))
    >>> merged_flows([(one, 1.0), (one, 0.5)]).volume
    array([6.])
    """
    source, target = (np.concatenate([flows[side] for flows, _ in several]) for side in (0, 1))
    volume = np.concatenate([flows.volume * weight for flows, weight in several])
    return _summed(source, target, volume)


def program_times(topology: Topology, table: ForwardingTable, flows: Flows) -> Floats:
    """Return how long each channel works for a program by a table: bytes over bandwidth.

    float64[num_channels].

    Raises
    ------
    NoRouteError
        If the table does not lead to a host that the program sends to.
    """
    routed = table.paths(topology, flows.source, flows.target).whole(topology)
    volume = np.repeat(flows.volume, np.diff(routed.offsets))
    load = np.bincount(routed.channels, weights=volume, minlength=topology.num_channels)
    return np.asarray(load / topology.channel_bandwidth)


def for_program(
    topology: Topology,
    start: ForwardingTable,
    flows: Flows,
    allowed: Bools,
    *,
    seed: int = DEFAULT_SEED,
    tries: int = 4,
) -> ForwardingTable:
    """Return a table by which a program's busiest channel works as shortly as could be found.

    Destination by destination, the program's flows to it take the cheapest paths, largest first,
    while the others stay. A path costs Σ (x + w)^p - x^p over its channels. Here x is the time that
    a channel works, and w the time that the flow adds. This is repeated with rising p. Rows of
    hosts that the program does not send to stay unchanged, as do entries that none of its flows
    meets. The table is never worse for the program than the given one.

    Parameters
    ----------
    topology, start
        The network, and the table to begin with.
    flows
        What the program sends.
    allowed
        bool[num_destinations, num_network_channels], the channels by which packets may go to each
        destination. Each leads one hop nearer, however packets go on.
    seed, tries
        Where the order of destinations comes from, and how many orders are tried.
    """
    from netloom.fabrics.kernels.rerouting import descend

    inside, ends = topology.routers, legs(topology, flows.source, flows.target)
    # the rows that flows lead to, and what each router sends there, most first
    rows, entries, sums = _summed(ends.target_port, ends.entry, flows.volume)
    order = np.lexsort((-sums, rows))
    known, counts = np.unique(rows, return_counts=True)
    listed = offsets_of(counts), entries[order], sums[order]
    speed = np.ascontiguousarray(inside.channel_bandwidth)
    rng = np.random.default_rng(seed)
    powers = np.repeat(POWERS, ROUNDS // len(POWERS))
    best, least = start, busiest_time(topology, start, flows)
    for turn in range(tries if len(known) else 0):
        turns = np.array([rng.permutation(len(known)) for _ in powers])
        if turn == 0:
            turns[:] = np.arange(len(known))
        begun = start.next_channel[known], topology.ejection_router[known], listed, allowed[known]
        wires = inside.outgoing(), inside.channel_target, speed
        laid = descend(*begun, *wires, turns, powers)
        table = start.next_channel.copy()
        table[known] = laid
        found = replace(start, next_channel=table)
        time = busiest_time(topology, found, flows)
        if time < least * (1 - 1e-9):
            best, least = found, time
    return best


def fitting(topology: Topology, rows: Ints, allowed: Bools) -> Ints:
    """Return rows of a table, in each place that is not allowed the first channel that is.

    Rows that mix channels which are not allowed with others might lead in a circle.
    """
    offsets, leaving = topology.routers.outgoing()
    may = allowed[:, leaving]
    place = np.where(may, np.arange(len(leaving)), len(leaving))
    first = np.full(rows.shape, len(leaving), np.int64)
    some = np.flatnonzero(np.diff(offsets))
    first[:, some] = np.minimum.reduceat(place, offsets[some], axis=1)
    instead = np.append(leaving, np.int32(-1))[first]
    kept = np.take_along_axis(allowed, np.maximum(rows, 0), axis=1) & (rows >= 0)
    return np.where(kept, rows, instead).astype(np.int32)


FEW = 1
"""Descents to the table that a search begins with: all but the program's rows are found anew."""

SAME = 1 + 1e-9
"""Times that differ by less are the same."""


def busiest_time(topology: Topology, table: ForwardingTable, flows: Flows) -> float:
    """Return how long a program's busiest channel between routers works by a table.

    In bytes over bandwidth. Infinite if the table does not lead to all that the program sends to.

    Examples
    --------
    >>> from netloom.fabrics.program import Flows
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x2")
    >>> flows = Flows(np.array([0, 1], np.int32), np.array([2, 2], np.int32), np.array([3.0, 4.0]))
    >>> busiest_time(net, ENGINES["minhop"](net), flows)
    7.0
    """
    try:
        times = program_times(topology, table, flows)
    except NoRouteError:
        return float("inf")
    return float(times[: topology.num_network_channels].max(initial=0.0))


def tables_for_program(
    topology: Topology,
    installed: ForwardingTable,
    flows: Flows,
    *,
    lanes: int | None = None,
    objective: Objective = "all-to-all",
    seed: int = DEFAULT_SEED,
) -> ForwardingTable:
    """Return a table by which a program's busiest channel works shortly, free of credit loops.

    The rows of the hosts that the program sends to are made for it (``for_program``). They use
    shortest paths, or those of a tree if shortest paths need more lanes than there are. Then all
    other rows are balanced around them. The table is never worse for the program than ``balanced``
    with ``FEW`` descents. It is never worse than the installed table, unless that needs more lanes.

    Parameters
    ----------
    topology, installed
        The network, and its table, which may have holes and circles.
    flows
        What the program sends.
    lanes, objective, seed
        As in ``balanced``.

    Examples
    --------
    >>> from netloom.fabrics.program import Flows
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x2")
    >>> flows = Flows(np.array([0, 1], np.int32), np.array([2, 3], np.int32), np.array([5.0, 5.0]))
    >>> busiest_time(net, tables_for_program(net, ENGINES["minhop"](net), flows), flows)
    5.0
    """
    most, rows = lanes or MOST_LANES, np.zeros(len(installed.next_channel), np.bool_)
    known = distinct(legs(topology, flows.source, flows.target).target_port)
    rows[known] = True
    general = balanced(topology, lanes=lanes, objective=objective, seed=seed, tries=FEW).table
    shortest = shortest_ways(topology)
    tree = tree_ways(topology, shortest)

    def around(start: ForwardingTable) -> ForwardingTable | None:
        """Return a table with the program's rows of another, the rest balanced, in few lanes."""
        try:
            found = balanced(
                topology, lanes=lanes, objective=objective, seed=seed, frozen=rows, start=start
            )
            several = [found.table, *(each.table for each in found.front)]
        except InputError:  # with these rows, all tables needed more lanes
            several = []
        fitting = (in_lanes(topology, each, most) for each in [*several, start])
        return next((each for each in fitting if each is not None), None)

    def time(table: ForwardingTable) -> float:
        return busiest_time(topology, table, flows)

    found = [general]
    one_lane = costs_nothing(topology, tree, shortest)
    for ways in (tree,) if one_lane else (shortest, tree):
        if ways is tree and tree.unreached:
            continue
        places = np.argsort(ways.exits)[topology.ejection_router]
        exits, row = np.unique(places, return_inverse=True)
        allowed = np.array([leads(topology, ways, place) for place in exits.tolist()])[row]
        tried = []
        for each in (general, installed):  # of the installed table, what these ways allow
            start = general.next_channel.copy()
            start[known] = fitting(topology, each.next_channel[known], allowed[known])
            begun = replace(general, next_channel=start)
            tried.append(for_program(topology, begun, flows, allowed, seed=seed))
        table = around(min(tried, key=lambda each: busiest_time(topology, each, flows)))
        if table is not None:
            found.insert(0, table)
            break
    least, kept = min(map(time, found)), time(installed)
    if kept * SAME < least:
        mixed = np.where(rows[:, None], installed.next_channel, general.next_channel)
        whole = _lost(topology, general)
        kept_rows = replace(general, next_channel=mixed, lanes=None)
        if _lost(topology, kept_rows) <= whole:
            found += [each for each in (around(kept_rows),) if each is not None]
        if _lost(topology, installed) <= whole:
            found += [each for each in (in_lanes(topology, installed, most),) if each is not None]
        least = min(map(time, found))
    return next(each for each in found if time(each) <= least * SAME)


def in_lanes(topology: Topology, table: ForwardingTable, most: int) -> ForwardingTable | None:
    """Return a table with lanes in which no packets wait for each other in a circle.

    Its own lanes if they will do, others if not. None if there are not enough.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import torus
    >>> table = ENGINES["minhop"](torus(5))
    >>> in_lanes(torus(5), table, 1) is None, lanes_used(in_lanes(torus(5), table, 2))
    (True, 2)
    """
    everyone = len(topology.others) > 0
    try:
        if lanes_used(table) <= most and not lane_circle(topology, table, everyone=everyone):
            return table
        others = table.others if everyone else None
        lanes = layered(topology, table.next_channel, others=others, most=most)
    except InputError:
        return None
    return replace(table, lanes=lanes)


def _lost(topology: Topology, table: ForwardingTable) -> int:
    """Return from how many end points to how many others packets do not arrive."""
    from netloom.routing.forwarding.tables import table_problems

    found = table_problems(topology, table)
    return found.unrouted + found.unrouted_others


class Program(NamedTuple):
    """A program on its hosts.

    Attributes
    ----------
    name
        What was asked for, as it was written.
    weight
        What its bytes count.
    flows
        What its hosts send through the network.
    inside
        The share of its bytes that stays inside nodes.
    """

    name: str
    weight: float
    flows: Flows
    inside: float


class ProgramCost(Figures):
    """What a program's messages keep busy, in bytes over bandwidth, once each.

    Attributes
    ----------
    before, after
        The busiest channel between routers by the tables that are installed and by the new ones.
        ``before`` is None if those do not lead to all that the program sends to.
    hosts
        The busiest channel of a host, which no table changes.
    floor, why
        What no table of this network can beat between routers, and where that comes from.
    inside
        The share of its bytes that stays inside nodes, and takes no cable.
    """

    name: str = figure("busiest cable of", lead=True)
    before: float | None = figure(
        "busiest cable before", "bytes", head="installed", lead=True, none="no path"
    )
    after: float = figure("busiest cable after", "bytes", head="new", lead=True)
    floor: float = figure("least that any table can have", "bytes", head="limit", lead=True)
    hosts: float = figure("busiest adapter", "bytes", lead=True)
    why: str = figure("what the least comes from")
    inside: float = figure("share of its bytes that stays inside nodes", SHARE)

    @derived("how much less the busiest cable carries", SHARE)
    def less(self) -> float | None:
        """As a share of what it carries by the tables that are installed."""
        return 1 - self.after / self.before if self.before else None

    @derived("times the least")
    def ratio(self) -> float | None:
        """None where no table needs a cable."""
        return self.after / self.floor if self.floor else None

    @derived("how much more than the least", SHARE)
    def above(self) -> float | None:
        """As a share of it."""
        return None if self.ratio is None else self.ratio - 1


def costs_of(
    programs: Sequence[Program], topology: Topology, before: ForwardingTable, after: ForwardingTable
) -> tuple[ProgramCost, ...]:
    """Return what each program keeps busy by two tables.

    Examples
    --------
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x2")
    >>> flows = Flows(np.array([0, 1], np.int32), np.array([2, 2], np.int32), np.array([3.0, 4.0]))
    >>> table = ENGINES["minhop"](net)
    >>> (cost,) = costs_of([Program("both", 1.0, flows, 0.0)], net, table, table)
    >>> cost.before, cost.after, cost.floor, cost.hosts
    (7.0, 7.0, 7.0, 7.0)
    """
    from netloom.bounds import traffic_bound

    inside, found = topology.num_network_channels, []
    for each in programs:
        old = busiest_time(topology, before, each.flows)
        times = program_times(topology, after, each.flows)
        floor = traffic_bound(topology, *each.flows)
        found.append(
            ProgramCost(
                name=each.name,
                before=old if np.isfinite(old) else None,
                after=float(times[:inside].max(initial=0.0)),
                floor=floor.value,
                hosts=float(times[inside:].max(initial=0.0)),
                why=floor.why,
                inside=each.inside,
            )
        )
    return tuple(found)


# -- jobs ------------------------------------------------------------------------------------------


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


class JobUse(Figures):
    """What a job's traffic takes on a channel, as a share of what the job takes alone."""

    name: str
    use: float


class SharedCable(Figures):
    """A channel that several jobs use: the time of all jobs on it (one job alone: 1), and each."""

    use: float
    cable: Cable = figure(at=".")
    jobs: tuple[JobUse, ...]

    @property
    def users(self) -> str:
        """The jobs that use it, and the time of each."""
        return ", ".join(f"{job.name} {job.use:.2g}" for job in self.jobs)


class JobCost(Figures):
    """A job, and what the others cost it."""

    name: str
    nodes: int
    hosts: int
    program: str
    inside: float = figure("share of its traffic that stays inside nodes", SHARE)
    unrouted: int = figure("pairs of its hosts without a path, which send nothing")
    alone: float = figure("time of its busiest channel, alone", "bytes over bandwidth")
    slowdown: float = figure("times as long beside the others, at most")
    busiest: Cable | None = figure("its busiest channel, alone")
    shared: Cable | None = figure("the channel where others cost it most")
    shared_with: tuple[str, ...] = figure("jobs that use that channel, too")

    @derived("time that the others add, at most", SHARE, table=False)
    def delay(self) -> float:
        """As a share of what it takes alone."""
        return self.slowdown - 1

    @property
    def words(self) -> str:
        """What it is, and what the others cost it."""
        size = f"{counted(self.nodes, 'node', ',')}, {counted(self.hosts, 'host', ',')}"
        who = f"Job {self.name} ({size}, {self.program})"
        if not self.alone:
            return f"{who} sends nothing between nodes."
        rest = ""
        if self.inside > 0.0005:
            rest = f" {percent(self.inside)} of its traffic stays inside nodes, without a cable."
        if self.unrouted:
            have = "has" if self.unrouted == 1 else "have"
            rest += f" {counted(self.unrouted, 'pair', ',')} of its hosts {have} no path."
        if self.shared is None:
            return f"{who} shares no cable that is busy for it.{rest}"
        return (
            f"{who} takes up to {number(self.slowdown)} times as long as alone: it shares "
            f"{self.shared.words} with {', '.join(self.shared_with)}.{rest}"
        )


class JobCosts(NamedTuple):
    """What jobs cost each other, and the channels that they share, the busiest first."""

    jobs: tuple[JobCost, ...]
    shared: tuple[SharedCable, ...]


def shared_by(topology: Topology, table: ForwardingTable, jobs: Sequence[Job]) -> JobCosts:
    """Return what jobs that run at the same time cost each other under a table.

    Every job sends all its messages once. Alone, it takes the time that its busiest channel works
    (bytes / bandwidth). This is the unit of time of each job, so that jobs of different sizes are
    compared as if they sent without pause. Beside the others it takes at most the time that the
    busiest of its channels works for all jobs together.

    Examples
    --------
    Two jobs of two hosts each, on two leaves with one spine:

    >>> from netloom.fabrics.program import flows_of
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x2")
    >>> jobs = [
    ...     Job(name, np.array([a, b]), "ring", flows_of(net, *np.array([[a], [b]]), np.ones(1)), 0)
    ...     for name, a, b in (("one", 0, 2), ("two", 1, 3))
    ... ]
    >>> (first, _), (shared, *_) = shared_by(net, ENGINES["minhop"](net), jobs)
    >>> first.slowdown, first.shared_with, shared.cable.words, shared.use
    (2.0, ('two',), 'leaf0 → spine0', 2.0)
    """
    times, lost = np.zeros((len(jobs), topology.num_channels)), []
    for place, job in enumerate(jobs):
        arrives = ways_of(topology, table, job.hosts).arrives
        reached = pairs_reached(topology, arrives)(job.flows.source, job.flows.target)
        lost.append(int((~reached).sum()))
        if reached.any():
            source, target = job.flows.source[reached], job.flows.target[reached]
            sent = Flows(source, target, job.flows.volume[reached])
            times[place] = program_times(topology, table, sent)
    alone, busiest = times.max(axis=1, initial=0.0), times.argmax(axis=1)
    use = times / np.maximum(alone, 1e-300)[:, None]
    together = np.where(use > 0, use.sum(axis=0), 0.0)
    costs = []
    for place, job in enumerate(jobs):
        slowest = int(together[place].argmax())
        beside = np.flatnonzero(use[:, slowest] > 0).tolist() if alone[place] > 0 else []
        costs.append(
            JobCost(
                name=job.name,
                nodes=len(np.unique(topology.node_of_host[job.hosts])),
                hosts=len(job.hosts),
                program=job.program,
                inside=job.inside,
                unrouted=lost[place],
                alone=float(alone[place]),
                slowdown=float(together[place, slowest]) if beside else 1.0,
                busiest=cable(topology, int(busiest[place])) if beside else None,
                shared=cable(topology, slowest) if len(beside) > 1 else None,
                shared_with=tuple(jobs[each].name for each in beside if each != place),
            )
        )
    several = np.flatnonzero((use > 0).sum(axis=0) > 1)
    shared = several[np.argsort(-use[:, several].sum(axis=0), kind="stable")].tolist()
    names = [job.name for job in jobs]
    cables = []
    for channel in shared:
        each = zip(names, use[:, channel].tolist(), strict=True)
        jobs_on = tuple(JobUse(name=name, use=part) for name, part in each if part)
        total, where = float(use[:, channel].sum()), cable(topology, channel)
        cables.append(SharedCable(use=total, cable=where, jobs=jobs_on))
    return JobCosts(tuple(costs), tuple(cables))
