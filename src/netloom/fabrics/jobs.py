"""Jobs that run at the same time: which cables they share, and what that costs each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.figures import SHARE, Figures, derived, figure
from netloom.base.words import counted, number, percent
from netloom.fabrics.figures import Cable, cable, pairs_reached, ways_of
from netloom.fabrics.program import Flows, program_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Floats, Ints
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology


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


class Sharing(NamedTuple):
    """What jobs that run at the same time cost each other.

    Every job sends all its messages once. Alone, it takes the time that its busiest channel works
    (bytes / bandwidth). This is the unit of time of each job, so that jobs of different sizes are
    compared as if they sent without pause.

    Attributes
    ----------
    alone, busiest
        float64[jobs], the longest time that a channel works for each job, in bytes over bandwidth;
        0 of a job that sends nothing through the network. int64[jobs], that channel.
    use
        float64[jobs, num_channels], the time that each channel works, over that.
    slowdown, slowest
        float64[jobs], how many times as long as alone each job takes at most beside the others.
        That is the time that the busiest of its channels works for all jobs together. int64[jobs],
        that channel.
    shared
        int64[], the channels that several jobs use, the busiest first.
    """

    alone: Floats
    busiest: Ints
    use: Floats
    slowdown: Floats
    slowest: Ints
    shared: Ints


def sharing(topology: Topology, table: ForwardingTable, jobs: Sequence[Flows]) -> Sharing:
    """Return what jobs that run at the same time cost each other.

    Parameters
    ----------
    topology, table
        The network and where its routers forward.
    jobs
        What each sends through the network, by pairs that the table routes.

    Examples
    --------
    Two jobs on two leaves with one spine:

    >>> from netloom.fabrics.program import flows_of
    >>> from netloom.routing.forwarding.engines import ENGINES
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x1x2")
    >>> jobs = [flows_of(net, *np.array([[a], [b]]), np.ones(1)) for a, b in ((0, 2), (1, 3))]
    >>> found = sharing(net, ENGINES["minhop"](net), jobs)
    >>> found.slowdown, found.shared[0]
    (array([2., 2.]), np.int64(0))
    """
    times = np.zeros((len(jobs), topology.num_channels))
    for place, flows in enumerate(jobs):
        if len(flows.source):
            times[place] = program_times(topology, table, flows)
    alone = times.max(axis=1, initial=0.0)
    use = times / np.maximum(alone, 1e-300)[:, None]
    together = np.where(use > 0, use.sum(axis=0), 0.0)
    slowdown = np.where(alone > 0, together.max(axis=1, initial=1.0), 1.0)
    several = np.flatnonzero((use > 0).sum(axis=0) > 1)
    shared = several[np.argsort(-use[:, several].sum(axis=0), kind="stable")]
    return Sharing(alone, times.argmax(axis=1), use, slowdown, together.argmax(axis=1), shared)


class JobUse(Figures):
    """What a job's traffic takes on a channel, as a share of what the job takes alone."""

    name: str = figure()
    use: float = figure()


class SharedCable(Figures):
    """A channel that several jobs use: the time of all jobs on it (one job alone: 1), and each."""

    use: float = figure()
    cable: Cable = figure(at=".")
    jobs: tuple[JobUse, ...] = figure()

    @property
    def users(self) -> str:
        """The jobs that use it, and the time of each."""
        return ", ".join(f"{job.name} {job.use:.2g}" for job in self.jobs)


class JobCost(Figures):
    """A job, and what the others cost it."""

    name: str = figure()
    nodes: int = figure()
    hosts: int = figure()
    program: str = figure()
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
    routed, lost = [], []
    for job in jobs:
        ways = ways_of(topology, table, job.hosts)
        reached = pairs_reached(topology, ways.arrives)(job.flows.source, job.flows.target)
        sent = job.flows
        routed.append(Flows(sent.source[reached], sent.target[reached], sent.volume[reached]))
        lost.append(int((~reached).sum()))
    found = sharing(topology, table, routed)
    costs = []
    for place, job in enumerate(jobs):
        sends, slowest = bool(found.alone[place] > 0), int(found.slowest[place])
        beside = np.flatnonzero(found.use[:, slowest] > 0).tolist()
        costs.append(
            JobCost(
                name=job.name,
                nodes=len(np.unique(topology.node_of_host[job.hosts])),
                hosts=len(job.hosts),
                program=job.program,
                inside=job.inside,
                unrouted=lost[place],
                alone=float(found.alone[place]),
                slowdown=float(found.slowdown[place]),
                busiest=cable(topology, int(found.busiest[place])) if sends else None,
                shared=cable(topology, slowest) if sends and len(beside) > 1 else None,
                shared_with=tuple(jobs[each].name for each in beside if sends and each != place),
            )
        )
    return JobCosts(
        tuple(costs),
        tuple(
            SharedCable(
                use=float(found.use[:, channel].sum()),
                cable=cable(topology, channel),
                jobs=tuple(
                    JobUse(name=job.name, use=use)
                    for job, use in zip(jobs, found.use[:, channel].tolist(), strict=True)
                    if use
                ),
            )
            for channel in found.shared.tolist()
        ),
    )
