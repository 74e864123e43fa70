"""A schedule of a collective with all that it takes to judge it: network, times, routes and bound.

Nothing here refers to how the schedule was made: it is what a plan file holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from hashlib import sha256
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.units import rate, size
from netloom.base.words import counted, listed
from netloom.phases.collectives.duals import on_channels
from netloom.phases.collectives.prices import priced_seconds
from netloom.phases.collectives.step_proofs import proven_rounds
from netloom.workload.programs.many_lists import Lists

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.phases.collectives.listed import Timed
    from netloom.phases.collectives.optimum import Optimum
    from netloom.phases.collectives.prices import Prices
    from netloom.phases.collectives.step_proofs import StepProof
    from netloom.workload.programs.collectives.program import CollectiveProgram

INTO = ("reduce-scatter", "reduce")
"""Collectives whose bottleneck is what enters a set of ranks, not what leaves it."""

MOST_NAMED = 4
"""Most ranks or channels that a sentence names."""


@dataclass(frozen=True, eq=False)
class ScheduleNetwork:
    """The network of a schedule, as ranks see it.

    Attributes
    ----------
    name
        What it is called.
    labels
        The name of each vertex. The first are the ranks, the others only forward.
    host
        int32[num_ranks], the host of each rank in the network of that name.
    source, target
        int32[num_channels], vertices.
    rate
        float64[num_channels], bytes/s.
    latency
        float64[num_channels], seconds.
    """

    name: str
    labels: tuple[str, ...]
    host: Ints
    source: Ints
    target: Ints
    rate: Floats
    latency: Floats

    @property
    def digest(self) -> str:
        """What changes if anything of the network changes: 16 hexadecimal digits."""
        seen = sha256("\n".join((self.name, *self.labels)).encode())
        kinds = ("<i4", "<i4", "<i4", "<f8", "<f8")
        columns = (self.host, self.source, self.target, self.rate, self.latency)
        for values, kind in zip(columns, kinds, strict=True):
            seen.update(b"|" + np.ascontiguousarray(values, kind).tobytes())
        return seen.hexdigest()[:16]

    def channel_name(self, channel: int) -> str:
        """Return ``gpu0 -> gpu9``."""
        ends = int(self.source[channel]), int(self.target[channel])
        return " -> ".join(self.labels[end] for end in ends)


@dataclass(frozen=True, eq=False)
class Bound:
    """The time that no schedule beats, and why.

    Attributes
    ----------
    seconds
        Latencies left out.
    why
        In a sentence, for people.
    inside
        int32[…], the vertices of the bottleneck cut, from which anybody can compute the bound
        (``cut_seconds``). Empty if it is of another kind.
    prices
        Of channels, from which anybody can compute it too (``priced_seconds``).
    """

    seconds: float
    why: str
    inside: Ints
    prices: Prices | None = None


@dataclass(frozen=True, eq=False)
class StepBound:
    """The time that no schedule of few steps beats.

    Attributes
    ----------
    seconds
        Latencies left out.
    proof
        The prices that prove it, of the number of steps in it. For reduce-scatter and reduce they
        are those of the all-gather or broadcast that runs backwards. It uses channels from their
        ends to their beginnings, in steps from the last to the first.
    """

    seconds: float
    proof: StepProof


@dataclass(frozen=True, eq=False)
class Schedule:
    """When each message of a collective leaves and arrives, and which way it goes.

    Attributes
    ----------
    program
        The messages. Steps are the ranks of their start times.
    size_bytes
        The size of the collective. See ``CollectiveProgram``.
    network
        What they are sent over.
    start, end
        float64[num_messages], seconds.
    routes
        The channels of ``network`` that each message takes, in order.
    bound
        What no schedule beats.
    few
        What no schedule of few steps beats, if this is one of few steps.
    """

    program: CollectiveProgram
    size_bytes: float
    network: ScheduleNetwork
    start: Floats
    end: Floats
    routes: Lists
    bound: Bound
    few: StepBound | None = None

    @property
    def finish_seconds(self) -> float:
        """When the last message has arrived."""
        return float(self.end.max(initial=0.0))

    @property
    def sending(self) -> Floats:
        """float64[num_messages], seconds for which each message is sent: its latency left out."""
        way = np.add.reduceat(self.network.latency[self.routes.values], self.routes.offsets[:-1])
        found: Floats = self.end - self.start - way
        return found

    def __repr__(self) -> str:
        part = self.bound.seconds / self.finish_seconds
        return f"<{self.program!r} on {self.network.name}, {part:.4f} of the bound>"


def schedule_of(timed: Timed, best: Optimum | None = None, why: str = "") -> Schedule:
    """Return a timed program as a schedule that stands for itself.

    Parameters
    ----------
    timed
        What was made.
    best
        The optimum whose bottleneck cut is the bound. None if another is.
    why
        The bound in words, if there is no cut.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> from netloom.phases.collectives.optimum import optimum
    >>> from netloom.phases.collectives.synthesis import synthesised
    >>> net = rank_network(topology("ring:4"), bytes_per_second=25e9)
    >>> found = schedule_of(synthesised(net, "all-gather", 1e9), optimum(net))
    >>> found.bound.seconds, found.bound.why
    (0.015, '0 receives 750 MB through 2 channels of 50 GB/s together: 3 -> 0 and 1 -> 0.')
    """
    network = timed.network
    used = np.unique(network.channels.values)
    number = np.full(network.num_channels, -1, np.int64)
    link = np.empty(network.num_channels, np.int64)
    link[network.channels.values] = np.repeat(
        np.arange(network.num_links), network.channels.lengths
    )
    number[used] = np.arange(len(used))
    link = link[used]
    kept = ScheduleNetwork(
        network.topology.name,
        tuple(network.name_of(vertex) for vertex in range(network.num_vertices)),
        network.vertices[: network.num_ranks],
        network.source[link], network.target[link],
        network.channel_rate[used],
        network.latency[link],
    )  # fmt: skip
    routes = Lists(timed.routes.offsets, number[timed.routes.values].astype(np.int32))
    nothing = np.zeros(0, np.int32)
    bound = Bound(timed.bound_seconds, why, nothing)
    if timed.prices is not None:
        prices = on_channels(timed.prices, link, network.num_links)
        seconds = priced_seconds(kept, timed.program.collective, timed.size_bytes, prices)
        bound = Bound(seconds, f"{why} {_price_words(kept, prices)}", nothing, prices)
    if best is not None:
        inside = _inside(best)
        of = timed.program.collective, timed.program.root, timed.size_bytes
        seconds = cut_seconds(kept, *of, inside)
        bound = Bound(seconds, _cut_words(kept, *of, inside), inside)
    return Schedule(timed.program, timed.size_bytes, kept, timed.start, timed.end, routes, bound)


def _inside(best: Optimum) -> Ints:
    """Return the vertices of a bottleneck cut: what its ranks reach without the links that leave.

    In a network that is reversed this reads backwards, and the cut is the same.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    network = best.network
    stays = np.ones(network.num_links, np.bool_)
    stays[best.leaving] = False
    ends = network.source[stays], network.target[stays]
    graph = csr_array((np.ones(len(ends[0])), ends), shape=(network.num_vertices,) * 2)
    away = dijkstra(graph, indices=best.inside, min_only=True, unweighted=True)
    return np.flatnonzero(np.isfinite(away)).astype(np.int32)


def cut_seconds(
    network: ScheduleNetwork, collective: str, root: int, size_bytes: float,
    inside: Ints,
) -> float:  # fmt: skip
    """Return what a collective takes at least, as data has to cross the border of some vertices.

    All-gather: what the n ranks inside have leaves once, n/N of the size. Reduce-scatter: n/N of
    the size enters, the sums of what is outside. Broadcast and reduce: all of the size if the root
    is inside. All-reduce: all of it, both ways. All-to-all: n (N − n)/N of the size, both ways.
    0 if nothing has to cross.
    """
    ranks = len(network.host)
    held = np.zeros(len(network.labels), np.bool_)
    held[inside] = True
    many = int(held[:ranks].sum())
    if many in (0, ranks):
        return 0.0
    leaving = float(network.rate[held[network.source] & ~held[network.target]].sum())
    coming = float(network.rate[~held[network.source] & held[network.target]].sum())
    part = {
        "all-gather": many / ranks, "reduce-scatter": many / ranks,
        "broadcast": float(held[root]), "reduce": float(held[root]),
        "all-reduce": 1.0, "all-to-all": many * (ranks - many) / ranks,
    }[collective]  # fmt: skip
    through = coming if collective in INTO else leaving
    if collective in ("all-reduce", "all-to-all"):
        through = min(leaving, coming)
    return part * size_bytes / through if part else 0.0


def steps_seconds(schedule: Schedule, proof: StepProof) -> Fraction:
    """Return what prices prove that its collective takes in few steps, exactly, latencies left out.

    Raises
    ------
    InputError
        If the prices are wrong, the collective is not all-gather, reduce-scatter, broadcast or
        reduce, or vertices only forward.
    """
    network, program = schedule.network, schedule.program
    ranks, rooted = len(network.host), program.collective in ("broadcast", "reduce")
    if not rooted and program.collective not in ("all-gather", "reduce-scatter"):
        wanted = "all-gather, reduce-scatter, broadcast or reduce"
        raise InputError("collective", program.collective, wanted)
    if len(network.labels) > ranks:
        raise InputError("network", f"{network.labels[ranks]}, which only forwards", "ranks alone")
    room: dict[tuple[int, int], Fraction] = {}
    columns = (network.source, network.target, network.rate)
    for a, b, speed in zip(*(each.tolist() for each in columns), strict=True):
        ends = (b, a) if program.collective in INTO else (a, b)
        room[ends] = room.get(ends, Fraction(0)) + Fraction(speed)
    roots = [program.root] if rooted else list(range(ranks))
    return proven_rounds(proof, ranks, roots, room) * Fraction(schedule.size_bytes) / len(roots)


def least_latency(network: ScheduleNetwork, collective: str, root: int) -> float:
    """Return the latency of the longest way that data has to take, in seconds.

    The shortest way between the two ranks that are farthest apart. From the root of a broadcast, or
    to that of a reduce.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    ranks = len(network.host)
    ends = network.source.astype(np.int64) * len(network.labels) + network.target
    _, first = np.unique(ends, return_index=True)  # parallel channels have the same latency
    pairs = network.source[first], network.target[first]
    if collective == "reduce":
        pairs = pairs[::-1]
    graph = csr_array((network.latency[first], pairs), shape=(len(network.labels),) * 2)
    roots = np.array([root]) if collective in ("broadcast", "reduce") else np.arange(ranks)
    return max(float(dijkstra(graph, indices=one)[:ranks].max()) for one in roots)


def _price_words(network: ScheduleNetwork, prices: Prices) -> str:
    """Return the channels that cost something: they are full in every schedule at the bound."""
    channels = np.unique(prices.channels.values).tolist()
    if len(channels) == len(network.rate):
        return f"All {counted(len(channels), 'channel')} set it."
    many = counted(len(channels), "channel")
    names = listed([network.channel_name(channel) for channel in channels], MOST_NAMED)
    return f"{many} set{'s' * (len(channels) == 1)} it: {names}."


def _cut_words(
    network: ScheduleNetwork, collective: str, root: int, size_bytes: float,
    inside: Ints,
) -> str:  # fmt: skip
    """Return the bottleneck in a sentence, of the side that has fewer ranks."""
    held = np.zeros(len(network.labels), np.bool_)
    held[inside] = True
    into = collective in INTO
    ends = (network.target, network.source) if into else (network.source, network.target)
    channels = np.flatnonzero(held[ends[0]] & ~held[ends[1]])
    total = float(network.rate[channels].sum())
    members = np.flatnonzero(held[: len(network.host)])
    if 2 * len(members) > len(network.host):
        members, into = np.flatnonzero(~held[: len(network.host)]), not into
    who = listed([network.labels[rank] for rank in members.tolist()], MOST_NAMED)
    if len(members) > MOST_NAMED:
        who = f"{counted(len(members), 'rank')} ({who})"
    verb = ("receive" if into else "send") + "s" * (len(members) == 1)
    amount = size(cut_seconds(network, collective, root, size_bytes, inside) * total)
    ways = listed([network.channel_name(channel) for channel in channels.tolist()], MOST_NAMED)
    many = "one channel" if len(channels) == 1 else counted(len(channels), "channel")
    speed = rate(total) + " together" * (len(channels) > 1)
    return f"{who} {verb} {amount} through {many} of {speed}: {ways}."
