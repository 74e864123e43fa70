"""A collective as one exchange: connections that are compiled into phases, and what these take."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.phases import Connections, Plan, Timetable, connections
from netloom.simulation.collectives import Timed
from netloom.topology import Cube, Topology
from netloom.topology.measures import check_alike
from netloom.workload import process_graph

PHASES = "phases"

OF_PHASES = (
    "all-to-all", "all-gather", "reduce-scatter", "gather", "scatter", "broadcast", "reduce",
)  # fmt: skip
"""Collectives that are one exchange: each rank sends what it has, and waits for nobody."""

MOST_WORK = 60_000
"""Most connections times channels that are compiled unless phases are named: some seconds."""

MOST_ON_TORI = 300_000
"""The same on tori, whose patterns look alike from each host."""

MOST_NAMED = 4_000_000
"""The same if phases are named: some minutes."""

FREE = 1e-6
"""The time of a byte at a processor, over that on a channel: only channels limit it."""

MOST_BYTES = 2.0**40
"""Most bytes of a connection."""


@dataclass(frozen=True, eq=False)
class PhasePlan:
    """A verified plan, made for a size. On another its phases last in proportion.

    Attributes
    ----------
    plan, timetable
        In words of a byte, and clocks of a byte on a channel.
    size
        Of the collective that it was made for, in bytes.
    byte_seconds
        Of a channel.
    latency
        float64[num_channels], seconds.
    switch_seconds
        To synchronize all ranks before a phase, and to set it up.
    end_channels
        Whether hosts of direct networks send and receive at the rate of one channel.
    """

    plan: Plan
    timetable: Timetable
    size: float
    byte_seconds: float
    latency: Floats
    switch_seconds: float
    end_channels: bool

    @cached_property
    def _way(self) -> Floats:
        """float64[n], seconds of each connection's route."""
        routes = self.plan.routes
        total = np.append(0.0, np.cumsum(self.latency[routes.channels]))
        return np.asarray(total[routes.offsets[1:]] - total[routes.offsets[:-1]])

    def seconds(self, size: float) -> float:
        """Return the time of all phases and switches, until the last byte is there."""
        moved = self.timetable.end * (self.byte_seconds * size / self.size)
        lasting = np.zeros(self.plan.num_phases)
        np.maximum.at(lasting, self.plan.phase, moved + self._way)
        return float(lasting.sum()) + self.plan.num_phases * self.switch_seconds

    def timed(self, size: float) -> Timed:
        """Return what a size takes, and the busiest channel."""
        from netloom.phases.timetables import channel_words

        given = self.plan.connections
        words = channel_words(self.plan).sum(axis=0)
        if self.end_channels:
            ends = (given.source, given.target)
            hosts = [np.bincount(end, given.words, given.num_nodes) for end in ends]
            words = np.concatenate([words, *hosts])
        link = int(np.argmax(words))
        crossed = float(words[link]) * size / self.size
        return Timed(self.seconds(size), 1, link, crossed, crossed * self.byte_seconds)


def exchange_of(
    collective: str,
    root: int,
    host_of: Ints,
    size: float,
    topology: Topology,
    node_of_host: Ints | None = None,
) -> Connections:
    """Return one connection for each pair of hosts whose ranks exchange something, a byte a word.

    Ranks of one host tell each other at once: they share what they receive, and add first. Hosts of
    one node, if ``node_of_host`` names those of all hosts, need no connections.

    Raises
    ------
    InputError
        If the collective is not one exchange, is too large, or a connection has too many bytes.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> four = np.arange(4, dtype=np.int32)
    >>> found = exchange_of("scatter", 1, four, 4e6, topology("ring:4"))
    >>> found.source.tolist(), found.target.tolist(), found.words.tolist()
    ([1, 1, 1], [0, 2, 3], [1000000, 1000000, 1000000])
    """
    if collective not in OF_PHASES:
        wanted = f"one of {', '.join(OF_PHASES)}, which are one exchange"
        raise InputError("algorithm", f"{PHASES} of {collective}", wanted)
    used, ranks = np.unique(host_of, return_counts=True)
    pairs = len(used) ** (2 if collective in ("all-to-all", "all-gather", "reduce-scatter") else 1)
    if pairs * topology.num_channels > MOST_NAMED:  # before they are listed
        found = f"{PHASES} of some {pairs:,} connections on {topology.num_channels:,} channels"
        wanted = f"at most {MOST_NAMED:,} connections times channels"
        raise InputError("algorithm", found, wanted)
    share, home = ranks / len(host_of), used == host_of[root]
    part = {
        "all-to-all": np.outer(ranks, share),
        "all-gather": np.outer(share, np.ones_like(ranks)),
        "reduce-scatter": np.outer(np.ones_like(ranks), share),
        "gather": np.outer(share, home),
        "scatter": np.outer(home, share),
        "broadcast": np.outer(home, np.ones_like(ranks)),
        "reduce": np.outer(np.ones_like(ranks), home),
    }[collective]
    place = used if node_of_host is None else node_of_host[used]
    part = part * (place[:, None] != place)
    source, target = np.nonzero(part)
    sent = np.maximum(np.rint(part[source, target] * size), 1)
    if sent.max() > MOST_BYTES:
        found = f"{sent.max():.3g} bytes of a connection"
        raise InputError("size", found, f"at most {MOST_BYTES:.3g} for {PHASES}")
    graph = process_graph(
        topology.num_hosts, used[source], used[target], bytes=sent, name=collective
    )
    hosts = np.arange(topology.num_hosts)
    return connections(graph, hosts, len(hosts), word_bytes=1)


def phase_plans(
    given: Connections,
    topology: Topology,
    size: float,
    *,
    virtual_channels: int,
    bytes_per_second: float,
    latency: Floats,
    switch_seconds: float,
    end_channels: bool,
    seed: int,
) -> list[PhasePlan]:
    """Compile connections twice: into as few phases as possible, and for the least time at a size.

    Parameters
    ----------
    given, topology, size
        What is sent, where, and the size of the collective that it is.
    virtual_channels
        That connections can have at each node, or of each channel if hosts hang on routers.
    bytes_per_second, latency
        Of a channel. float64[num_channels], seconds.
    switch_seconds
        Before each phase.
    end_channels
        Whether hosts of direct networks send and receive at the rate of one channel.

    Raises
    ------
    InputError
        If channels differ, or a connection has no route.
    """
    from netloom.contention import ConSetCosts
    from netloom.phases import Capacity, partition, schedule, verify

    capacity = Capacity(virtual_channels, "node" if topology.direct else "channel")
    costs = ConSetCosts(
        sync_clocks=switch_seconds * bytes_per_second,
        phase_clocks=0.0,
        clocks_per_word=1.0 if end_channels else FREE,
        channel_clocks_per_word=1.0,
    )
    objectives: tuple[Literal["phases", "time"], ...] = ("phases", "time")
    found = list[PhasePlan]()
    for objective in objectives:
        plan = partition(given, topology, capacity, costs=costs, objective=objective, seed=seed)
        timetable = schedule(plan, costs, kind="streaming", seed=seed)
        verify(plan, timetable, costs)
        made_for = size, 1 / bytes_per_second, latency, switch_seconds, end_channels
        found.append(PhasePlan(plan, timetable, *made_for))
        if plan.num_phases == 1:
            break
    return found


def refuse_phases(given: Connections, topology: Topology, *, named: bool) -> None:
    """Raise InputError if the network or the number of connections is not one to compile."""
    if len(topology.switches):
        wanted = "hosts that hang on routers, or a mesh or torus, for compiled phases"
        raise InputError(topology.name, "switches among its nodes", wanted)
    check_alike(topology, "compiled phases")
    torus = isinstance(topology, Cube) and not topology.broken and all(topology.wraps)
    most = MOST_NAMED if named else MOST_ON_TORI if torus else MOST_WORK
    work = len(given) * topology.num_channels
    if work > most:
        found = f"{counted(len(given), 'connection', ',')} on {topology.num_channels:,} channels"
        name = "" if named else ", which takes long to compile; name it to run it"
        wanted = f"at most {most:,} connections times channels"
        raise InputError("algorithm", f"{PHASES} of {found}{name}", wanted)
