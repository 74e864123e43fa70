"""Schedules of collectives: what a plan file holds, and what anybody can prove of it.

A schedule has all that it takes to judge it: network, times, routes and bound. Nothing here refers
to how it was made, and nothing solves a program. Bounds are cuts, or prices, in three kinds.

Let each channel have a price per byte. Data that goes from one rank to another pays at least the
distance between them under these prices, on any path. Per second, all channels together take at
most Σ rate × price. So every schedule takes at least (what must be paid) / (what can be paid per
second). This holds for all prices. A linear program finds those that prove most (Shahrokhi &
Matula, *The maximum concurrent flow problem*, J. ACM 37, 1990). Prices are whole, distances and
sums are exact, and the seconds are rounded down.

A schedule of few steps goes in steps, one after the other, and each root's data is 1. A send takes
data over a link in a step. Its source needs the data earlier, which has *forwarding* values. The
send uses those of its link from its step on, and provides those of the links from its target in
later steps. Prices are right if no send makes a profit: (*worth* of the data at its target + what
it provides) ≤ (*price* of its link in its step + what it uses). Added up over all sends of a
schedule, at least as much forwarding value is provided as used. So the worth of all data is at most
the price of all sends, and a step of length t costs at most t · Σ rate · price.

Plan files of collectives are columns of numbers in JSON, which other programs read and people edit.

``docs/plan-file.md`` describes the format. Reading checks that a file says something. ``judge``
says whether that is right.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.provenance import Provenance
from netloom.base.textfiles import read_text, replacing
from netloom.base.words import listed
from netloom.bounds.demand import apart
from netloom.phases.plan_files import Record, Text, read_record
from netloom.routing import Paths
from netloom.simulation.figures import mean_rates
from netloom.topology import Topology
from netloom.workload.programs.collectives.program import (
    COLLECTIVES,
    CollectiveProgram,
    sizes_in_bytes,
    waits,
)
from netloom.workload.programs.messages import Lists, cut
from netloom.workload.programs.traces import Trace, message_trace

ROUNDING = 1e-9
"""A chunk this near to whole bytes, relative to its size, is of whole bytes."""

INTO = ("reduce-scatter", "reduce")
"""Collectives whose bottleneck is what enters a set of ranks, not what leaves it."""


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
        every = [getattr(self, each.name) for each in fields(self)]
        texts = [each for each in every if not isinstance(each, np.ndarray)]
        lines = (line for each in texts for line in (each if isinstance(each, tuple) else [each]))
        seen = sha256("\n".join(map(str, lines)).encode())
        for values in (each for each in every if isinstance(each, np.ndarray)):
            kind = "<f8" if values.dtype.kind == "f" else "<i4"
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
    few: StepProof | None = None

    @property
    def finish_seconds(self) -> float:
        """When the last message has arrived."""
        return float(self.end.max(initial=0.0))

    @property
    def carried(self) -> Floats:
        """float64[num_channels], the bytes that cross each channel."""
        size = (self.program.message_size * self.size_bytes)[self.routes.owners()]
        return np.asarray(np.bincount(self.routes.values, size, len(self.network.rate)), np.float64)

    def use(self, channel: int, edges: Floats) -> Floats:
        """Return the part of a channel's rate that is used between some times, float64[…]."""
        message = self.routes.owners()[self.routes.values == channel]
        begin, lasting = self.start[message], self.sending[message]
        rate = (self.program.message_size * self.size_bytes)[message] / lasting
        used = mean_rates(begin, begin + lasting, rate, edges) / self.network.rate[channel]
        return np.asarray(np.minimum(used, 1.0), np.float64)

    @property
    def padded_bytes(self) -> int:
        """The size with blocks of equally many whole bytes. The times are of the size given."""
        program, ranks = self.program, self.program.num_ranks
        exact = program.chunk_size * self.size_bytes
        near = np.rint(exact)
        whole = np.where(np.abs(exact - near) <= ROUNDING * exact, near, np.ceil(exact))
        if program.collective not in ("all-gather", "reduce-scatter", "all-to-all"):
            return int(whole.sum())
        first, final = (np.maximum(each, 0) for each in (program.first_owner, program.final_owner))
        return ranks * int(np.bincount(first.astype(np.int64) * ranks + final, whole).max())

    @property
    def sending(self) -> Floats:
        """float64[num_messages], seconds for which each message is sent: its latency left out."""
        way = np.add.reduceat(self.network.latency[self.routes.values], self.routes.offsets[:-1])
        return np.asarray(self.end - self.start - way)


def cut_seconds(
    network: ScheduleNetwork, collective: str, root: int, size_bytes: float, inside: Ints
) -> float:
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
    part, through = many / ranks, coming if collective in INTO else leaving
    if collective in ("broadcast", "reduce"):
        part = float(held[root])
    elif collective in PRICED:
        through = min(leaving, coming)
        part = 1.0 if collective == "all-reduce" else many * (ranks - many) / ranks
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
    ranks = len(network.host)
    ends = network.source.astype(np.int64) * len(network.labels) + network.target
    _, first = np.unique(ends, return_index=True)  # parallel channels have the same latency
    pairs = network.source[first], network.target[first]
    if collective == "reduce":
        pairs = pairs[::-1]
    roots = np.array([root]) if collective in ("broadcast", "reduce") else np.arange(ranks)
    times = network.latency[first]
    far = (apart(pairs, times, len(network.labels), one)[:ranks] for one in roots)
    return max(float(each.max()) for each in far)


PRICED = ("all-reduce", "all-to-all")
"""Collectives whose bounds prices of channels prove."""

MOST_PAID = 2**53
"""Prices and levels together are at most this, so that every distance is a whole float."""


@dataclass(frozen=True, eq=False)
class Prices:
    """Tables of prices per byte of channels.

    An all-to-all has one table. An all-reduce of n ranks has 2 n. Table r is for data from the
    roots of the trees to rank r, table n + r for data from rank r to the roots. Whatever a switch
    forwards of each kind enters and leaves it. So switches may have levels, one per kind, and a
    channel takes the fall of the level along it.

    Attributes
    ----------
    channels
        By table, the channels that cost something: int32.
    price
        int64[len(channels.values)], at least 0.
    level
        int64[2, num_forwarding], of each vertex that is no rank, out and in. All-reduce only.
    """

    channels: Lists
    price: Ints
    level: Ints

    @property
    def total(self) -> int:
        """All prices and levels together."""
        return int(sum(self.price.tolist()) + sum(map(abs, self.level.ravel().tolist())))


def tables_of(collective: str, ranks: int) -> int:
    """Return how many tables of prices a collective has."""
    return 2 * ranks if collective == "all-reduce" else 1


def priced_seconds(
    network: ScheduleNetwork, collective: str, size_bytes: float, prices: Prices
) -> float:
    """Return what a collective takes at least by prices of channels, latencies left out.

    All-to-all: each pair sends size/N over its distance d(s, t), so time is at least
    size/N · Σ d(s, t) / Σ rate · price.

    All-reduce along pairs of trees: a root r sums a part w of the size, which goes from each rank v
    to r and back. It pays Σ_v d_v(r, v) + Σ_v d'_v(v, r) per byte, with the distances d_v and d'_v
    of the tables of v. Out-trees and in-trees use a channel. It costs the higher of both sums of
    its prices. So time is at least size · min_r (…) / Σ rate · cost.

    Returns 0 if the prices prove nothing.

    Parameters
    ----------
    network
        Ranks that all reach each other, and channels. Those that join the same two vertices count
        together, at the least of their prices.
    collective
        One of ``PRICED``.
    prices
        At most ``MOST_PAID`` together.

    Examples
    --------
    A ring of three ranks, 1 byte/s a channel, one way round:

    >>> ring, zero = np.arange(3, dtype=np.int32), np.zeros(3)
    >>> from netloom.phases.collectives.schedules import ScheduleNetwork
    >>> from netloom.workload.programs.messages import Lists
    >>> net = ScheduleNetwork("ring", ("a", "b", "c"), ring, ring, (ring + 1) % 3, zero + 1, zero)
    >>> every = Lists(np.array([0, 3]), ring)
    >>> same = Prices(every, np.ones(3, np.int64), np.zeros((2, 0), np.int64))
    >>> priced_seconds(net, "all-to-all", 3.0, same)
    3.0
    """
    assert collective in PRICED, "a collective whose bound is that of a cut"
    ranks = len(network.host)
    ends = network.source.astype(np.int64) * len(network.labels) + network.target
    pairs, link = np.unique(ends, return_inverse=True)
    links = pairs // len(network.labels), pairs % len(network.labels)

    def table(number: int) -> Ints:
        first, last = prices.channels.offsets[number : number + 2]
        each = np.zeros(len(ends), np.int64)
        each[prices.channels.values[first:last]] = prices.price[first:last]
        least = np.full(len(pairs), MOST_PAID, np.int64)
        np.minimum.at(least, link, each)
        return least

    def paid_from(each: Ints, some: Ints, *, back: bool = False) -> Ints:
        """Return the distances from some ranks to all ranks: int64[…, num_ranks]."""
        ends = (links[1], links[0]) if back else links
        found = apart(ends, each.astype(np.float64), len(network.labels), some)[:, :ranks]
        assert np.isfinite(found).all(), "ranks that cannot reach each other"
        return found.astype(np.int64)

    if collective == "all-to-all":
        cost = table(0)
        paid = sum(sum(row.tolist()) for row in paid_from(cost, np.arange(ranks)))
        return _seconds(Fraction(size_bytes) * paid / ranks, cost[link], network.rate)
    roots = np.zeros(ranks, np.int64)
    cost = np.zeros(len(pairs), np.int64)
    for kind in (0, 1):
        height = np.append(np.zeros(ranks, np.int64), prices.level[kind])
        summed = height[links[1]] - height[links[0]]
        for rank in range(ranks):
            each = table(kind * ranks + rank)
            if each.any():
                roots += paid_from(each, np.array([rank]), back=kind == 0)[0]
                summed += each
        cost = np.maximum(cost, summed)
    return _seconds(Fraction(size_bytes) * int(roots.min()), cost[link], network.rate)


def _seconds(paid: Fraction, cost: Ints, rate: Floats) -> float:
    """Return what is paid over what channels take per second, rounded down."""
    known, place = np.unique(rate, return_inverse=True)
    taken = [0] * len(known)
    for number, each in zip(place.tolist(), cost.tolist(), strict=True):
        taken[number] += each
    rates = zip(map(Fraction, known.tolist()), taken, strict=True)
    whole = sum((one * many for one, many in rates), Fraction(0))
    if not whole:
        return 0.0
    exact = paid / whole
    near = float(exact)
    return near if Fraction(near) <= exact else float(np.nextafter(near, 0.0))


Ends = tuple[int, int]
"""The source and target of a link."""


@dataclass(frozen=True, eq=False)
class StepProof:
    """Prices that bound every schedule of at most ``steps`` steps. What is not listed is 0.

    Attributes
    ----------
    steps
        Number of steps, numbered from 0.
    worth
        int64[…, 3]: a root, a rank, and what the root's data is worth there.
    price
        int64[…, 4]: the source and target of a link, a step, and the price.
    forwarding
        int64[…, 5]: a root, the source and target of a link, a step, and a value. It is the value
        of having the root's data at the source for the link up to that step.
    seconds
        What that is at the size of a schedule, latencies left out. For reduce-scatter and reduce
        the prices are those of the all-gather or broadcast that runs backwards. It uses channels
        from their ends to their beginnings, in steps from the last to the first.
    """

    steps: int
    worth: Ints
    price: Ints
    forwarding: Ints
    seconds: float = 0.0

    @property
    def count(self) -> int:
        """How many numbers it takes."""
        return len(self.worth) + len(self.price) + len(self.forwarding)

    @property
    def total(self) -> int:
        """All worths together."""
        return int(self.worth[:, -1].sum())


def proven_rounds(
    proof: StepProof, num_ranks: int, roots: Sequence[int], room: Mapping[Ends, Fraction]
) -> Fraction:
    """Return how long every schedule of at most ``proof.steps`` steps sends, if each root sends 1.

    Parameters
    ----------
    proof
        The prices.
    num_ranks
        Ranks that must have the data of all roots.
    roots
        Who has data to send.
    room
        How much each link carries per unit of time, by its source and target, ranks both.

    Raises
    ------
    InputError
        Naming the first price that is wrong.

    Examples
    --------
    >>> import numpy as np
    >>> one = StepProof(1, *(np.array(rows, np.int64) for rows in (
    ...     [[0, 1, 1]], [[0, 1, 0, 1]], np.zeros((0, 5)))))
    >>> proven_rounds(one, 2, [0], {(0, 1): Fraction(25), (1, 0): Fraction(25)})
    Fraction(1, 25)
    """
    tables = (proof.worth, proof.price, proof.forwarding)
    worth, price, held = ({tuple(row[:-1]): row[-1] for row in table.tolist()} for table in tables)
    if len(worth) + len(price) + len(held) != proof.count:
        raise InputError("proof", "a number twice", "each once")
    if min((*price.values(), *held.values()), default=0) < 0:
        raise InputError("proof", "a price below 0", "none")
    for root, rank in worth:
        if root not in roots or rank == root or not 0 <= rank < num_ranks:
            found = f"a worth of data of rank {root} at rank {rank}"
            raise InputError("proof", found, "data that a rank needs")
    for *_, source, target, step in (*price, *held):
        if (source, target) not in room or not 0 <= step < proof.steps:
            found = f"link {source} -> {target} in step {step + 1}"
            raise InputError("proof", found, f"a link and one of {proof.steps} steps")
    for root in roots:
        mine = {place[1:]: value for place, value in held.items() if place[0] == root}
        _check_root(proof.steps, root, (worth, price, mine), list(room))
    cost = [Fraction(0)] * proof.steps
    for (source, target, step), value in price.items():
        cost[step] += room[source, target] * value
    total = sum(worth.values())
    if total <= 0:
        return Fraction(0)
    if not max(cost):
        raise InputError("proof", f"worths of {total} without a price", "prices")
    return Fraction(total) / max(cost)


def _check_root(
    steps: int, root: int, prices: Sequence[Mapping[tuple[int, ...], int]], links: Sequence[Ends]
) -> None:
    """Refuse prices at which a send of this root's data is worth more than it costs."""
    worth, price, held = prices
    came = {root: 0}
    for step in range(steps):
        for source, target in links:
            if came.get(source, steps) <= step:
                came.setdefault(target, step + 1)
    used: dict[tuple[int, ...], int] = {}
    enabled: dict[int, int] = {}
    for step in reversed(range(steps)):
        for place, value in held.items():
            if place[2] == step:
                used[place[:2]] = used.get(place[:2], 0) + value
        sends = [(a, b) for a, b in links if came.get(a, steps) <= step and b != root]
        for source, target in sends:
            own = 0 if source == root else used.get((source, target), 0)
            pays = worth.get((root, target), 0) + enabled.get(target, 0)
            if pays > price.get((source, target, step), 0) + own:
                said = f"proof, data of rank {root}, link {source} -> {target}, step {step + 1}"
                raise InputError(said, "a send worth more than it costs", "no such send")
        for source, target in sends:
            more = held.get((source, target, step), 0)
            enabled[source] = enabled.get(source, 0) + more


def schedule_trace(schedule: Schedule, name: str) -> Trace:
    """Return a schedule as a trace in bytes and seconds, whose tasks are ranks.

    A message is sent at its time, and later if what it carries arrives later.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> from netloom.phases.collectives.pipelines import Asked
    >>> from netloom.phases.collectives.synthesis import proven, synthesised
    >>> net = rank_network(topology("ring:4"), bytes_per_second=25e9)
    >>> schedule_trace(proven(synthesised(Asked(net, "all-gather", 1e9))), "plan.json")
    <plan.json: 4 tasks, 24 messages, 24 entries>
    """
    program = schedule.program
    sizes = sizes_in_bytes(program.message_size, schedule.size_bytes)
    awaited, numbers = waits(program, stepwise=False), map(str, range(program.num_messages))
    ends, start = (program.source, program.target), schedule.start
    return message_trace(name, program.num_ranks, numbers, *ends, sizes, awaited, start=start)


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
    found = np.array([channel.get(key, -1) for key in planned], np.int32)
    ends = vertex[np.stack([network.source, network.target])]
    hosts = ((ends >= 0) & (ends < topology.num_hosts)).all(axis=0)
    node = topology.node_of_host[np.where(hosts, ends, 0)]
    inside = hosts & (node[0] == node[1]) & (found < 0)
    missing = ~inside & ((found < 0) | (ends < 0).any(axis=0))
    if missing[schedule.routes.values].any():
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


# -- files -----------------------------------------------------------------------------------------


FORMAT = "netloom-collective"
VERSION = 1

WANTED = "a plan file, as netloom compile collective --out writes it"
MOST_CHARACTERS = 2**29
"""Most bytes of a plan file, unpacked."""

MOST_CELLS = 2**26
"""Most ranks times chunks, for each of which the judge keeps a number."""

MOST_STEPS, MOST_PRICES = 64, 2**20
"""Most steps of a schedule of few steps, and most prices of a kind that bound it."""


def names_collective(text: str) -> bool:
    """Whether a plan file says that it is one of a collective."""
    return re.search(rf'"format"\s*:\s*"{FORMAT}"', text[:4096]) is not None


class ScheduleFile(NamedTuple):
    """A schedule, and which version of netloom answered which question with it."""

    schedule: Schedule
    provenance: Mapping[str, Any]


def write_schedule(path: str | Path, schedule: Schedule, provenance: Provenance) -> None:
    """Write a schedule. Gzip compresses it if the name ends in ``.gz``.

    A column of equal values is written as one value. Times are numbers in the list of all times,
    because many messages leave or arrive together.

    Raises
    ------
    InputError
        If the file cannot be written.
    """
    text = schedule_text(schedule, provenance.to_dict())
    data = text.encode()
    if Path(path).suffix == ".gz":
        data = gzip.compress(data, 6, mtime=0)
    with replacing(path) as new:
        new.write_bytes(data)


def schedule_text(schedule: Schedule, provenance: Mapping[str, Any]) -> str:
    """Return what ``write_schedule`` writes."""
    program, network, bound = schedule.program, schedule.network, schedule.bound
    times, places = np.unique(np.concatenate([schedule.start, schedule.end]), return_inverse=True)
    start, end = np.split(places, 2)
    fields: dict[str, Any] = {"format": FORMAT, "version": VERSION, "provenance": dict(provenance)}
    fields |= {"collective": program.collective, "algorithm": program.algorithm}
    fields |= {"ranks": program.num_ranks, "root": program.root, "size_bytes": schedule.size_bytes}
    fields["bound"] = {"seconds": bound.seconds, "why": bound.why, "inside": bound.inside.tolist()}
    if bound.prices is not None:
        prices = bound.prices
        fields["bound"]["prices"] = {
            "num_channels": _column(prices.channels.lengths),
            "channels": prices.channels.values.tolist(),
            "price": _column(prices.price),
            "level": _column(prices.level.ravel()),
        }
    if (few := schedule.few) is not None:
        tables = {name: getattr(few, name).tolist() for name in ("price", "worth", "forwarding")}
        fields["few_steps"] = {"steps": few.steps, "seconds": few.seconds} | tables
    net: dict[str, Any] = {"name": network.name, "digest": network.digest}
    net |= {"vertices": list(network.labels), "hosts": network.host.tolist()}
    net |= {"source": network.source.tolist(), "target": network.target.tolist()}
    net |= {"bytes_per_second": _column(network.rate), "latency_seconds": _column(network.latency)}
    owners = {name: _column(getattr(program, name)) for name in ("first_owner", "final_owner")}
    chunks = {"count": program.num_chunks, "size": _column(program.chunk_size)} | owners
    messages = {"count": program.num_messages, "source": program.source.tolist()}
    messages |= {"target": program.target.tolist(), "start": start.tolist(), "end": end.tolist()}
    messages["sums"] = _column(program.sums)
    for name, lists in (("chunks", program.chunks), ("channels", schedule.routes)):
        messages |= {f"num_{name}": _column(lists.lengths), name: lists.values.tolist()}
    groups = {"network": net, "chunks": chunks, "messages": messages}
    lines = [f" {json.dumps(name)}: {json.dumps(value)}" for name, value in fields.items()]
    for name, group in groups.items():
        inside = [
            f"  {json.dumps(column)}: {json.dumps(value, separators=(',', ':'))}"
            for column, value in group.items()
        ]
        lines.append(f' "{name}": {{\n' + ",\n".join(inside) + "\n }")
    lines.append(f' "times_seconds": {json.dumps(times.tolist(), separators=(",", ":"))}')
    return "{\n" + ",\n".join(lines) + "\n}\n"


def read_schedule(path: str | Path, text: str | None = None) -> ScheduleFile:
    """Read a plan file of a collective, as it was written or as someone edited it.

    Parameters
    ----------
    text
        What is in the file, if that is known.

    Raises
    ------
    InputError
        Naming the file and the field if it cannot be read, columns have other lengths than they
        should, or a number is of no rank, chunk, channel or time.
    """
    if text is None:
        text = read_text(path, wanted=WANTED, most_bytes=MOST_CHARACTERS)
    return read_record(path, text, _File, _schedule)


_Count = Annotated[int, Field(ge=0, lt=2**31)]
_Owner = Annotated[int, Field(ge=-1, lt=2**31)]
_Seconds = Annotated[float, Field(ge=0, le=1e9)]
_Positive = Annotated[float, Field(gt=0, le=1e21)]


_Price = Annotated[int, Field(ge=0, le=MOST_PAID)]
_Level = Annotated[int, Field(ge=-MOST_PAID, le=MOST_PAID)]


class _Prices(Record):
    num_channels: list[_Count] | _Count
    channels: list[_Count]
    price: list[_Price] | _Price
    level: list[_Level] | _Level


class _Bound(Record):
    seconds: _Seconds
    why: Text
    inside: list[_Count]
    prices: _Prices | None = None


_Amount = Annotated[int, Field(gt=-(2**62), lt=2**62)]
_StepPrices = Annotated[list[tuple[_Count, _Count, _Count, _Amount]], Field(max_length=MOST_PRICES)]
_Worths = Annotated[list[tuple[_Count, _Count, _Amount]], Field(max_length=MOST_PRICES)]
_Forwarding = Annotated[
    list[tuple[_Count, _Count, _Count, _Count, _Amount]], Field(max_length=MOST_PRICES)
]


class _FewSteps(Record):
    steps: Annotated[int, Field(ge=1, le=MOST_STEPS)]
    seconds: _Seconds
    price: _StepPrices
    worth: _Worths
    forwarding: _Forwarding


class _Network(Record):
    name: Text
    digest: Text
    vertices: list[Text]
    hosts: list[_Count]
    source: list[_Count]
    target: list[_Count]
    bytes_per_second: list[_Positive] | _Positive
    latency_seconds: list[_Seconds] | _Seconds


class _Chunks(Record):
    count: Annotated[int, Field(ge=1, lt=2**31)]
    size: list[_Positive] | _Positive
    first_owner: list[_Owner] | _Owner
    final_owner: list[_Owner] | _Owner


class _Messages(Record):
    count: Annotated[int, Field(ge=1, lt=2**31)]
    source: list[_Count]
    target: list[_Count]
    start: list[_Count]
    end: list[_Count]
    sums: list[bool] | bool
    num_chunks: list[_Count] | _Count
    chunks: list[_Count]
    num_channels: list[_Count] | _Count
    channels: list[_Count]


class _File(Record):
    format: Literal["netloom-collective"]
    version: Literal[1]
    provenance: dict[str, Any]
    collective: Literal[COLLECTIVES]  # type: ignore[valid-type]
    algorithm: Text
    ranks: Annotated[int, Field(ge=2, lt=2**20)]
    root: _Count
    size_bytes: _Positive
    bound: _Bound
    few_steps: _FewSteps | None = None
    network: _Network
    chunks: _Chunks
    messages: _Messages
    times_seconds: list[_Seconds]


def _column(values: NDArray[Any]) -> Any:
    """Return a column for JSON: one value if all are the same."""
    same = len(values) and (values == values[0]).all()
    return values[0].item() if same else values.tolist()


def _filled(
    where: str, given: Any, count: int, kind: type[np.generic], below: int = 2**31
) -> NDArray[Any]:
    """Return a column as so many values, all below a number."""
    if isinstance(given, list) and len(given) != count:
        raise InputError(where, f"{len(given)} values", f"{count}, or one for all")
    found = np.array(given, kind) if isinstance(given, list) else np.full(count, given, kind)
    if count and found.max() >= below:
        place = int(np.argmax(found >= below))
        raise InputError(f"{where}[{place}]", f"{found[place]}", f"numbers below {below}")
    return found


def _lists(where: str, given: Record, name: str, count: int, below: int) -> Lists:
    lengths, values = getattr(given, f"num_{name}"), getattr(given, name)
    many = _filled(f"{where}.num_{name}", lengths, count, np.int64)
    return cut(_filled(f"{where}.{name}", values, int(many.sum()), np.int32, below), many)


def _network(record: _File) -> ScheduleNetwork:
    given, ranks = record.network, record.ranks
    vertices, channels = len(given.vertices), len(given.source)
    if vertices < ranks:
        wanted = f"at least {ranks}, as the first are the ranks"
        raise InputError("network.vertices", f"{vertices} vertices", wanted)
    found = ScheduleNetwork(
        given.name,
        tuple(given.vertices),
        _filled("network.hosts", given.hosts, ranks, np.int32),
        _filled("network.source", given.source, channels, np.int32, vertices),
        _filled("network.target", given.target, channels, np.int32, vertices),
        _filled("network.bytes_per_second", given.bytes_per_second, channels, np.float64, 10**22),
        _filled("network.latency_seconds", given.latency_seconds, channels, np.float64, 10**10),
    )
    if found.digest != given.digest:
        wanted = f"{found.digest}, that of the network in this file"
        raise InputError("network.digest", given.digest, wanted)
    return found


def _prices(record: _File, network: ScheduleNetwork) -> Prices | None:
    """Return the prices of a bound. There are none beside a cut, or of other collectives."""
    given, ranks = record.bound.prices, record.ranks
    if given is None:
        return None
    where = "bound.prices"
    if record.collective not in PRICED:
        raise InputError(where, f"some for {record.collective}", f"none but for {listed(PRICED)}")
    if record.bound.inside:
        raise InputError(where, "some beside a cut", "prices, or vertices inside a cut")
    many = tables_of(record.collective, ranks)
    channels = _lists(where, given, "channels", many, len(network.source))
    price = _filled(f"{where}.price", given.price, len(channels.values), np.int64, MOST_PAID + 1)
    levels = 2 * (len(network.labels) - ranks) if record.collective == "all-reduce" else 0
    level = _filled(f"{where}.level", given.level, levels, np.int64, MOST_PAID + 1).reshape(2, -1)
    found = Prices(channels, price, level)
    if found.total > MOST_PAID:
        raise InputError(where, f"{found.total} in all", f"at most {MOST_PAID}")
    return found


def _schedule(record: _File) -> ScheduleFile:
    """Return what a file says, once all numbers are ones of ranks, chunks, channels and times."""
    network = _network(record)
    given, ranks, count = record.messages, record.ranks, record.messages.count
    chunks, times = record.chunks.count, np.array(record.times_seconds, np.float64)
    if ranks * chunks > MOST_CELLS:
        wanted = f"at most {MOST_CELLS // ranks} for {ranks} ranks"
        raise InputError("chunks.count", str(chunks), wanted)
    if record.root >= ranks:
        raise InputError("root", str(record.root), f"a rank below {ranks}")
    start, end = (
        times[_filled(f"messages.{name}", getattr(given, name), count, np.int64, len(times))]
        for name in ("start", "end")
    )
    step = np.unique(start, return_inverse=True)[1].astype(np.int32)
    order = np.argsort(step, kind="stable")
    sizes = _filled("chunks.size", record.chunks.size, chunks, np.float64, 10**22)
    carried = _lists("messages", given, "chunks", count, chunks).taken(order)
    routes = _lists("messages", given, "channels", count, len(network.source)).taken(order)
    source, target = (
        _filled(f"messages.{name}", getattr(given, name), count, np.int32, ranks)[order]
        for name in ("source", "target")
    )
    sums = _filled("messages.sums", given.sums, count, np.bool_, 2)[order]
    owners = (
        _filled(f"chunks.{name}", getattr(record.chunks, name), chunks, np.int32, ranks)
        for name in ("first_owner", "final_owner")
    )
    of = record.collective, record.algorithm, ranks, sizes, record.root
    program = CollectiveProgram(*of, source, target, step[order], carried, sums, *owners)
    given_cut = record.bound.inside
    inside = _filled("bound.inside", given_cut, len(given_cut), np.int32, len(network.labels))
    few = None
    if (said := record.few_steps) is not None:
        columns = (said.worth, 3), (said.price, 4), (said.forwarding, 5)
        worth, price, held = (np.array(rows, np.int64).reshape(-1, n) for rows, n in columns)
        few = StepProof(said.steps, worth, price, held, said.seconds)
    bound = Bound(record.bound.seconds, record.bound.why, inside, _prices(record, network))
    start, end = start[order], end[order]
    found = Schedule(program, record.size_bytes, network, start, end, routes, bound, few)
    return ScheduleFile(found, record.provenance)
