"""Collectives in time: on cables, and on the routes that a fabric has installed.

On cables, messages go in an order, the best of a few orders and chunks. A message leaves when it is
ready and there is room for it. It runs at the rate of the slowest link of its route, and takes that
much of each for as long as it is sent. It arrives a latency later. Ranks pass on a chunk as soon as
it has arrived. Nothing is in step: the finish is that of the last arrival, and no rate is shared.

All-gathers and reduce-scatters can also take the routes that a fabric has installed. Switches
forward by tables that nobody wants to change for one program. A schedule may still choose which
rank sends to which, and when. Every rank's block enters each router's group of ranks once, and is
passed on within the group. It takes the route whose busiest channel has the lowest load. A
timetable of rounds then keeps every channel within its capacity. In time, it goes round by round,
or each message leaves as soon as there is room.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.progress import tell_so_far
from netloom.phases.collectives.network import RankNetwork, whole_numbers
from netloom.phases.collectives.schedules import Prices
from netloom.phases.collectives.trees import Forest, Optimum, forest, optimum
from netloom.routing import Paths, Routing, paths
from netloom.workload.counter_random import stream_keys
from netloom.workload.programs.collectives.program import (
    EVERYBODY,
    CollectiveProgram,
    owners,
    single,
    waits,
)
from netloom.workload.programs.messages import Lists, grouped

# -- on cables -------------------------------------------------------------------------------------


MOST_MESSAGES = 3_000_000
"""A schedule of more messages is refused."""

NUM_PRIORITIES = 3
"""Orders of ``priorities``."""


@dataclass(frozen=True, eq=False)
class Jobs:
    """Messages to be scheduled, and what they wait for.

    Attributes
    ----------
    route
        int32[num_messages], the route of each.
    part
        float64[num_messages], the part of the collective's size that each carries.
    chunk
        int32[num_messages], the chunk that each carries.
    sums
        bool[num_messages], whether the target adds it to what it has.
    before, after
        int64[…], pairs of messages: the first must have arrived before the second leaves.
    """

    route: Ints
    part: Floats
    chunk: Ints
    sums: Bools
    before: Ints
    after: Ints

    def __len__(self) -> int:
        return len(self.route)

    def longest(self, seconds: Floats) -> Floats:
        """float64[num_messages], the longest way from each to the end, itself included.

        ``seconds``: float64[num_messages], what each takes. Ones count messages.
        """
        found = seconds.copy()
        waiting = np.bincount(self.before, minlength=len(self))
        earlier_of = grouped(self.after, self.before, len(self))
        ready = np.flatnonzero(waiting == 0)
        while len(ready):
            pairs = earlier_of.taken(ready)
            earlier = pairs.values
            np.maximum.at(found, earlier, np.repeat(found[ready], pairs.lengths) + seconds[earlier])
            np.subtract.at(waiting, earlier, 1)
            ready = np.unique(earlier[waiting[earlier] == 0])
        return found


@dataclass(frozen=True, eq=False)
class Tracks:
    """Ways that parts of a collective's data go. Each is a row of messages, for every chunk alike.

    Attributes
    ----------
    network, routes
        The ranks, and the links of each route.
    slices
        float64[num_routes], what the tracks use of each route, in capacity of the network.
    collective, root
        What they are for.
    messages
        The route of each message of a track.
    before, after
        Pairs of messages of a track: the first must have arrived before the second leaves.
    sums
        bool[num_routes], whether what comes by a route is added.
    weight, total
        How much goes along each track, if the collective's size is ``total``.
    owners
        int32[num_tracks] each, who has what goes along it at first, and in the end.
    """

    network: RankNetwork
    routes: Lists
    slices: Floats
    collective: str
    root: int
    messages: Lists
    before: Lists
    after: Lists
    sums: Bools
    weight: NDArray[Any]
    total: int
    owners: tuple[Ints, Ints]

    def cut(self, parts: Ints) -> tuple[Jobs, CollectiveProgram, Floats]:
        """Return the messages of chunks, so many of each track, and the program they will fill.

        Also returns the part of its track's data that goes before the chunk of each message,
        float64[num_messages].
        """
        track = np.repeat(np.arange(len(parts)), parts)  # of each chunk
        number = np.arange(len(track)) - np.repeat(np.cumsum(parts) - parts, parts)
        size = (self.weight / (self.total * parts))[track]
        route, before, after = (
            each.taken(track) for each in (self.messages, self.before, self.after)
        )
        chunk, first = route.owners(), route.offsets[before.owners()]
        jobs = Jobs(
            route.values, size[chunk], chunk.astype(np.int32), self.sums[route.values],
            first + before.values, first + after.values,
        )  # fmt: skip
        empty = np.zeros(0, np.int32)
        program = CollectiveProgram(
            self.collective, "synthesised", self.network.num_ranks, size, self.root, empty, empty,
            empty, single(empty), np.zeros(0, np.bool_), *(each[track] for each in self.owners),
        )  # fmt: skip
        return jobs, program, (number / parts[track])[chunk]


class Servers(NamedTuple):
    """How messages share cables: what each route takes, and how much of it there is.

    ``rate``: float64[num_routes], capacity that a message has. ``latency``: float64[num_routes],
    seconds. ``taken``: the resources that the messages of a route use at that rate. ``room``:
    float64[…], the capacity of each resource. ``unit``: bytes/s of capacity 1.
    """

    rate: Floats
    latency: Floats
    taken: Lists
    room: Floats
    unit: float

    def seconds(self, jobs: Jobs, size_bytes: float) -> Floats:
        """Return how long each message is sent, float64[num_messages]."""
        return np.asarray(jobs.part * size_bytes / (self.rate * self.unit)[jobs.route])


@dataclass(frozen=True, eq=False)
class Timed:
    """A program with times on a network, and the bound that no schedule beats.

    Attributes
    ----------
    program
        The messages, in steps: the ranks of their start times.
    network
        What it was made for.
    size_bytes
        The size of the collective.
    start, end
        float64[num_messages], seconds: when each message leaves, and when all of it has arrived.
    routes
        The channels of the topology that each message takes, in order.
    bound_seconds
        No schedule ends before, whatever latencies.
    prices
        Of the network's links, if they prove it.
    """

    program: CollectiveProgram
    network: RankNetwork
    size_bytes: float
    start: Floats
    end: Floats
    routes: Lists
    bound_seconds: float
    prices: Prices | None = None

    @property
    def finish_seconds(self) -> float:
        """When the last message has arrived."""
        return float(self.end.max(initial=0.0))

    @property
    def efficiency(self) -> float:
        """The bound over the finish."""
        return self.bound_seconds / self.finish_seconds

    @property
    def inside_nodes(self) -> float | None:
        """The part of all bytes that goes from host to host inside nodes. None if that counts."""
        if not len(self.network.inside):
            return None
        routes, size = self.routes, self.program.message_size
        first, last = routes.values[routes.offsets[:-1]], routes.values[routes.offsets[1:] - 1]
        inside = np.minimum(first, last) >= self.network.topology.num_channels
        return float(size[inside].sum() / size.sum())

    @property
    def bytes_per_second(self) -> float:
        """The algorithm bandwidth: size over time."""
        return self.size_bytes / self.finish_seconds

    def __repr__(self) -> str:
        return f"<{self.program!r}, {self.efficiency:.4f} of the bound>"


def servers(network: RankNetwork, routes: Lists, slices: Floats | None = None) -> Servers:
    """Return how the messages of routes share the cables of a network.

    Parameters
    ----------
    routes
        Links of the network, by route, in order.
    slices
        float64[num_routes], capacity that is kept for each route through switches alone, so that
        no message waits for two cables to be free at once. None if messages take a cable as a
        whole, those of slower routes as much of it as they need.
    """
    first = routes.offsets[:-1]
    capacity = network.capacity.astype(np.float64)
    rate = np.minimum.reduceat(network.single.astype(np.float64)[routes.values], first)
    latency = np.add.reduceat(network.latency[routes.values], first)
    unit = float(network.unit) * network.bytes_per_second
    if slices is None:
        return Servers(rate, latency, routes, capacity, unit)
    through = routes.lengths > 1
    rate = np.where(through, np.minimum(slices, rate), rate)
    own = np.where(through, network.num_links + np.arange(len(first)), routes.values[first])
    return Servers(rate, latency, single(own), np.append(capacity, slices), unit)


def listed(
    shared: Servers, jobs: Jobs, priority: NDArray[Any], size_bytes: float
) -> tuple[Floats, Floats]:
    """Return when each message leaves and arrives, float64[num_messages], seconds.

    Parameters
    ----------
    shared
        The routes. See ``servers``.
    jobs
        What to send.
    priority
        Of each message. The least goes first, of equal ones the first listed.
    size_bytes
        The size of the collective.

    Raises
    ------
    InputError
        If there are more than ``MOST_MESSAGES``.
    """
    from netloom.phases.collectives.kernels.listing import run_list

    many, num_routes, taken = len(jobs), len(shared.rate), shared.taken
    if many > MOST_MESSAGES:
        wanted = f"at most {MOST_MESSAGES:,}: fewer ranks or chunks"
        raise InputError("schedule", f"{many:,} messages", wanted)
    place = np.empty(many, np.int64)
    place[np.argsort(priority, kind="stable")] = np.arange(many)
    waits = np.bincount(jobs.after, minlength=many).astype(np.int32)
    through = np.repeat(np.arange(num_routes), taken.lengths)
    start, end = np.full(many, -1.0), np.full(many, -1.0)
    links = len(shared.room)
    sent = run_list(
        (jobs.route, shared.seconds(jobs, size_bytes), place, waits),
        grouped(jobs.before, jobs.after, many),
        (taken.offsets, taken.values, shared.rate, shared.latency,
         *grouped(taken.values, through, links)),
        shared.room.copy(),
        (grouped(jobs.route, jobs.route, num_routes)[0],
         np.zeros(many, [("key", "i4"), ("item", "i4")]), np.zeros(num_routes, np.int64)),
        np.zeros(2 * many + 2, [("key", "f8"), ("item", "i8")]),
        (np.zeros(links + 1, np.int64), np.zeros(links, np.int8)),
        (start, end),
    )  # fmt: skip
    assert sent == many, "messages that wait for each other in a circle"
    return start, end


def priorities(
    shared: Servers, jobs: Jobs, share: Floats, per_block: int, size_bytes: float
) -> list[Floats]:
    """Return the orders that are worth trying: late chunks later, long ways to go sooner.

    Chunk by chunk fills the pipe of long collectives, though not before what has far to go. The
    longest way first alone shortens brief ones.

    Parameters
    ----------
    share
        float64[num_messages], the part of its tree's data that goes before the chunk.
    per_block
        Chunks per block.
    """
    way = jobs.longest(np.ones(len(jobs)))
    seconds = jobs.longest(shared.seconds(jobs, size_bytes) + shared.latency[jobs.route])
    loads = np.zeros(len(shared.room))
    busy = np.bincount(jobs.route, shared.seconds(jobs, size_bytes) * shared.rate[jobs.route],
                       minlength=len(shared.rate))  # fmt: skip
    np.add.at(loads, shared.taken.values, np.repeat(busy, shared.taken.lengths))
    least = float((loads / shared.room).max())
    return [share * per_block - way, share * least - 2 * seconds, -seconds]


BACKWARDS = {"reduce-scatter": "all-gather", "reduce": "broadcast"}
"""Collectives that are others with time reversed, on the reversed network."""

CHUNKS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Chunks that are tried."""

FULL_SEARCH, FEW_MESSAGES = 64, 200_000
"""With more chunks per block, or messages, only the best orders are tried, ..."""

MANY_MESSAGES = 1_100_000
"""... and not with more messages than this."""

FEW_TREES = 8
"""With more trees of a root than these, chunks are counted per block and not per tree."""

PATIENCE = 2
"""So often more chunks may be no better before no more are tried."""

GAIN, GOOD = 1e-3, 1e-3
"""More chunks have to be better by a part. What is so near the bound is good enough."""


def along_trees(
    network: RankNetwork,
    collective: str,
    size_bytes: float,
    *,
    root: int = 0,
    chunks: Sequence[int] = CHUNKS,
    until: float = np.inf,
) -> Timed:
    """Return a schedule of an all-gather, reduce-scatter, broadcast or reduce, and its bound.

    Its trees reach the optimum. What the schedule loses is the time to fill and empty the pipe.

    Parameters
    ----------
    network
        The ranks, and links with rates and latencies.
    collective
        One of the four.
    size_bytes
        As ``CollectiveProgram`` has it.
    root
        Of broadcast and reduce.
    chunks
        Chunks to try of what goes down a tree. Of a block, which is what a root sends to all,
        where a root has more than ``FEW_TREES``.
    until
        As ``fastest`` has it.

    Raises
    ------
    InputError
        If the collective is another, the size is none, a root is no rank, the network is in
        pieces, or a switch has not as much bandwidth in as out.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("torus:3x3"), bytes_per_second=25e9, latency_seconds=1e-6)
    >>> found = along_trees(net, "all-gather", 64e6)
    >>> found.efficiency > 0.99, found.program.num_ranks
    (True, 9)
    """
    forward = BACKWARDS.get(collective, collective)
    if forward not in ("all-gather", "broadcast"):
        wanted = "all-gather, reduce-scatter, broadcast or reduce"
        raise InputError("collective", f"'{collective}'", wanted)
    if not size_bytes > 0:
        raise InputError("size", f"{size_bytes}", "above 0 bytes")
    if not 0 <= root < network.num_ranks:
        raise InputError("root", f"{root}", f"0 to {network.num_ranks - 1}")
    weights = np.ones(network.num_ranks, np.int64)
    if forward == "broadcast":
        weights = (np.arange(network.num_ranks) == root).astype(np.int64)
    backwards = forward != collective
    used = network.reversed() if backwards else network
    best = optimum(used, weights)
    trees = forest(best)
    route, above = below_roots(trees)
    batch, after = np.nonzero(above >= 0)
    block, every = trees.root, np.full(len(trees.root), EVERYBODY, np.int32)
    tracks = Tracks(
        used, trees.routes, slices_of(trees), collective, root,
        Lists(np.arange(len(route) + 1) * route.shape[1], route.ravel()),
        grouped(batch, above[batch, after], len(route)), grouped(batch, after, len(route)),
        np.zeros(len(trees.routes.lengths), np.bool_), trees.many, int(trees.trees.sum()),
        (every, block) if backwards else (block, every),
    )  # fmt: skip
    each = int(trees.trees.max())
    alike = each if each <= FEW_TREES else 1  # then all chunks have one size
    share = trees.many / trees.trees[trees.root]
    ladder = [alike * many for many in chunks]
    bound = best.seconds(size_bytes)
    return pipelined(
        tracks, lambda many: many * share, ladder, size_bytes, bound, until, backwards=backwards
    )


def pipelined(
    tracks: Tracks,
    parts: Callable[[int], Floats],
    chunks: Sequence[int],
    size_bytes: float,
    bound_seconds: float,
    until: float = np.inf,
    *,
    backwards: bool = False,
) -> Timed:
    """Return the fastest schedule of chunks along tracks, its messages by their starts.

    Parameters
    ----------
    parts
        Returns chunks of each track for so many per block, not rounded.
    chunks
        Chunks per block to try, ascending.
    bound_seconds
        Seconds that no schedule can beat.
    until
        As ``fastest`` has it.
    backwards
        Whether time runs backwards: copies on the reversed network become sums on the network.
    """
    network, routes = tracks.network, tracks.routes
    shared = [servers(network, routes)]
    if (routes.lengths > 1).any():
        shared.append(servers(network, routes, tracks.slices))

    def cut(many: int) -> tuple[Jobs, CollectiveProgram, Floats]:
        return tracks.cut(np.maximum(np.rint(parts(many)), 1).astype(np.int64))

    jobs, times, program = fastest(shared, cut, chunks, size_bytes, bound_seconds, until)
    start, end = times
    source = network.source[routes.values[routes.offsets[:-1]]][jobs.route]
    target = network.target[routes.values[routes.offsets[1:] - 1]][jobs.route]
    sums, links = jobs.sums, routes.taken(jobs.route)
    way: Ints = network.channels.values[network.channels.offsets[:-1]][links.values]
    # of parallel channels that are a link, a message takes the least busy
    message, several = links.owners(), network.channels.lengths > 1
    places = np.flatnonzero(several[links.values])
    free: dict[int, list[float]] = {}
    for place in places[np.lexsort((start[message[places]], links.values[places]))].tolist():
        link = int(links.values[place])
        ends = free.setdefault(link, [0.0] * int(network.channels.lengths[link]))
        which = min(range(len(ends)), key=ends.__getitem__)
        ends[which] = float(end[message[place]])
        way[place] = network.channels.of(link)[which]
    taken = Lists(links.offsets, way)
    if backwards:
        start, end = end.max() - end, end.max() - start
        source, target, sums, network = target, source, np.ones_like(sums), network.reversed()
        last = np.repeat(taken.offsets[:-1] + taken.offsets[1:] - 1, taken.lengths)
        taken = Lists(taken.offsets, taken.values[last - np.arange(len(last))])
    _, step = np.unique(start, return_inverse=True)
    order = np.lexsort((jobs.chunk, target, source, step))
    made = replace(
        program, source=source[order], target=target[order], step=step[order].astype(np.int32),
        chunks=single(jobs.chunk[order]), sums=sums[order],
    )  # fmt: skip
    taken = taken.taken(order)
    return Timed(made, network, size_bytes, start[order], end[order], taken, bound_seconds)


def fastest(
    shared: Sequence[Servers],
    cut: Callable[[int], tuple[Jobs, CollectiveProgram, Floats]],
    chunks: Sequence[int],
    size_bytes: float,
    bound: float,
    until: float = np.inf,
) -> tuple[Jobs, tuple[Floats, Floats], CollectiveProgram]:
    """Return the messages, times and program that end first, of the orders and chunks tried.

    Parameters
    ----------
    shared
        Ways to share cables.
    cut
        Returns messages, program and shares (see ``priorities``) for so many chunks per block.
    chunks
        Chunks per block, ascending.
    bound
        Seconds that no schedule can beat.
    until
        A time of ``perf_counter`` after which the best so far is returned, if there is one.
    """
    ways = list(product(range(NUM_PRIORITIES), range(len(shared))))
    hows = range(len(shared))
    best, finish, stale = None, np.inf, 0
    begun, done = perf_counter(), 0
    for number, many in enumerate(chunks):
        if best is not None and (finish < bound * (1 + GOOD) or perf_counter() > until):
            break
        jobs, program, share = cut(many)
        if best is not None and len(jobs) > MANY_MESSAGES:
            break
        ends, before = {}, finish
        keys: dict[int, list[Floats]] = {}
        for order, how in ways:
            if best is not None and perf_counter() > until:
                return best
            if how not in keys:
                keys[how] = priorities(shared[how], jobs, share, many, size_bytes)
            times = listed(shared[how], jobs, keys[how][order], size_bytes)
            ends[order, how] = times[1].max()
            if ends[order, how] < finish * (1 - GAIN):
                finish, best = ends[order, how], (jobs, times, program)
            done += len(jobs)
            later = (len(jobs) * more / many for more in chunks[number + 1 :])
            left = len(jobs) + sum(count for count in later if count <= MANY_MESSAGES)
            left *= len(ways)
            tell_so_far(
                f"{100 * min(bound / finish, 1):.3g} % of the bound so far; another "
                f"{left * (perf_counter() - begun) / done:.0f} s at most"
            )
        if many >= FULL_SEARCH or len(jobs) >= FEW_MESSAGES:
            stale += finish == before
            if stale == PATIENCE:
                break
            ranked = sorted(ways, key=ends.__getitem__)
            first = [next((way for way in ranked if way[1] == how), ranked[0]) for how in hows]
            wide = many < 4 * FULL_SEARCH
            ways = list(dict.fromkeys([*ranked[:2], *first])) if wide else ranked[:1]
    assert best is not None
    return best


def slices_of(trees: Forest) -> Floats:
    """Return what the trees use of each route, float64[num_routes], in capacity of the network."""
    used = np.zeros(len(trees.routes.offsets) - 1, np.int64)
    taken = trees.route >= 0
    np.add.at(used, trees.route[taken], np.broadcast_to(trees.many[:, None], taken.shape)[taken])
    each = trees.rate / (float(trees.network.unit) * trees.network.bytes_per_second)
    return np.asarray(used.astype(np.float64) * each)


def below_roots(trees: Forest) -> tuple[Ints, Ints]:
    """Return the messages down each batch, one to each rank but its root, in the order of ranks.

    The route of each, and the number of the message that comes to the rank above, −1 if that is
    the root: int[num_batches, num_ranks − 1].
    """
    ranks = trees.network.num_ranks
    below = np.arange(ranks)[None, :] != trees.root[:, None]
    place = np.cumsum(below, axis=1) - 1
    above = np.take_along_axis(place, np.maximum(trees.parent, 0), axis=1)
    above[trees.parent == trees.root[:, None]] = -1
    shape = (len(trees.root), ranks - 1)
    return trees.route[below].reshape(shape), above[below].reshape(shape)


# -- on installed routes ---------------------------------------------------------------------------


MOST_RANKS = 2048
"""Most ranks: routes of all pairs are held at once."""

MOST_ON_TABLES = 20_000_000
"""Most messages of a schedule."""

TRIES = 5
"""Sets of trees that are tried. The shallow ones of fewest rounds are taken."""

SLACK = 16
"""How many sends a rank may be ahead of its share of the trees grown so far."""


@dataclass(frozen=True, eq=False)
class TableSchedule:
    """A schedule in rounds, whose messages take installed routes.

    Attributes
    ----------
    network
        Ranks and links.
    program
        The messages. Step = round.
    routes
        The route of every message.
    rounds
        Number of rounds. In one, the slowest channel carries one chunk.
    depth
        The most messages that a block takes one after the other.
    best
        The optimum of the network under any routing.
    bound_rounds
        The least rounds that any schedule takes, whatever its routes.
    """

    network: RankNetwork
    program: CollectiveProgram
    routes: Paths
    rounds: int
    depth: int
    best: Optimum
    bound_rounds: Fraction

    @property
    def of_bound(self) -> float:
        """How much of the best bandwidth the schedule reaches, latencies left out."""
        return float(self.bound_rounds / self.rounds)

    def __repr__(self) -> str:
        what = f"{self.rounds} rounds ({self.of_bound:.3f} of the bound), depth {self.depth}"
        return f"<{self.program.collective} on {self.network.topology.name}: {what}>"


def on_tables(
    network: RankNetwork,
    routing: Routing,
    *,
    collective: str = "all-gather",
    chunks: int = 1,
    seed: int = 1,
) -> TableSchedule:
    """Return an all-gather or a reduce-scatter over the routes of a routing.

    Parameters
    ----------
    network
        Ranks and links.
    routing
        What gives the routes, such as ``lfts:FILE``: one for each pair of ranks.
    collective
        ``all-gather`` or ``reduce-scatter``.
    chunks
        Into how many chunks each block is cut: more fill the rounds better.
    seed
        Of the groups that are looked at.

    Raises
    ------
    InputError
        If the collective is another one, ranks or messages are too many, a pair has several routes
        or one over a broken channel.
    NoRouteError
        If the routing has no route for a pair.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.routing import parse_routing
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = topology("leaf-spine:4x2x4")
    >>> found = on_tables(rank_network(net), parse_routing("d-mod-k", net))
    >>> found.rounds >= found.bound_rounds, found.depth <= 6
    (True, True)
    """
    ranks = network.num_ranks
    if collective not in ("all-gather", "reduce-scatter"):
        raise InputError("collective", collective, "all-gather or reduce-scatter")
    if chunks < 1:
        raise InputError("chunks", str(chunks), "at least 1")
    if ranks > MOST_RANKS or ranks * ranks * chunks > MOST_ON_TABLES:
        wanted = f"at most {MOST_RANKS} ranks and {MOST_ON_TABLES} messages"
        raise InputError("ranks", f"{ranks} with {chunks} chunks each", wanted)
    outward = collective == "all-gather"
    # blocks that go inward are grown as trees that go outward, and turned round in the end
    hosts = network.vertices[:ranks]
    ends = hosts.repeat(ranks), np.tile(hosts, ranks)
    found = paths(network.topology, routing, *(ends if outward else ends[::-1]))
    routes = found.whole(network.topology)
    if routes.pair is not None:
        raise InputError("routing", "several routes per pair", "one, as forwarding tables give")
    if not network.topology.channel_up[routes.channels].all():
        raise InputError("routing", "a route over a broken channel", "routes that work")
    base = network.topology.channel_bandwidth[routes.channels].min()
    room = np.floor(network.topology.channel_bandwidth / base * (1 + 1e-12)).astype(np.int64)
    shallow = (ranks - 1).bit_length()
    tried = []
    for key in stream_keys(seed, TRIES):
        parent = _trees(network, routes, room, key)
        tried.append((parent, *_timed(routes, room, parent, chunks)))
    parent, round_of, rounds, depth = min(tried, key=lambda each: (max(each[3], shallow), each[2]))
    best = optimum(network if outward else network.reversed())
    unit = whole_numbers(np.array([base]))[1]
    bound = unit / (best.rate * network.unit) * chunks
    step = round_of if outward else rounds - 1 - round_of
    order = np.argsort(step, kind="stable")
    order = order[round_of[order] >= 0]
    root, target = np.divmod(order // chunks, ranks)
    source = parent[root, target]
    begin, end = (source, target) if outward else (target, source)
    size, first, final = owners(collective, ranks, chunks)
    program = CollectiveProgram(
        collective, "on-tables", ranks, size, 0, begin.astype(np.int32), end.astype(np.int32),
        step[order].astype(np.int32), single(root * chunks + order % chunks),
        np.full(len(order), not outward), first, final,
    )  # fmt: skip
    taken = routes.taken(source.astype(np.int64) * ranks + target)
    return TableSchedule(network, program, taken, rounds, depth, best, bound)


def _trees(network: RankNetwork, routes: Paths, room: Ints, key: np.uint64) -> Ints:
    """Return the tree of each root, int32[root, rank]: who sends the block to each rank."""
    from netloom.phases.collectives.kernels.listing import SPREAD, grow_trees

    ranks, topology = network.num_ranks, network.topology
    hosts = network.vertices[:ranks]
    router = topology.injection_router[topology.port_offsets[hosts]]
    group_of = np.unique(router, return_inverse=True)[1].astype(np.int64)
    members = np.argsort(group_of, kind="stable")
    first = np.append(0, np.cumsum(np.bincount(group_of)))
    within = np.empty(ranks, np.int64)
    within[members] = np.arange(ranks) - first[group_of[members]]
    roots = np.lexsort((group_of, within))  # groups take turns
    parent = np.empty((ranks, ranks), np.int32)
    grow_trees(
        routes.offsets, routes.channels, room, first, members, group_of, roots, float(SLACK),
        key, parent, np.zeros(ranks, np.int64),
        np.zeros(topology.num_channels, np.int64), np.zeros(len(first) - 1, np.int64),
        np.zeros(ranks, np.int64), np.zeros(ranks, np.int64), np.zeros(SPREAD + 1, np.int64),
    )  # fmt: skip
    return parent


def _timed(routes: Paths, room: Ints, parent: Ints, chunks: int) -> tuple[Ints, int, int]:
    """Return the round of each message (root · ranks + target) · chunks + chunk. Rounds, depth."""
    from netloom.phases.collectives.kernels.listing import SPREAD, timetable

    ranks = len(parent)
    node = np.arange(ranks * ranks)
    own = parent.ravel() < 0
    above = np.where(own, node, node // ranks * ranks + parent.ravel())
    child_first, child = grouped(above[~own], node[~own], ranks * ranks)
    height, depth = np.zeros(ranks * ranks, np.int64), 0
    layer = above[~own]
    while len(layer):  # those with somebody below them, then those with somebody two below …
        depth += 1
        height[layer] = depth
        layer = above[np.unique(layer[~own[layer]])]
    keys = (depth - height)[:, None] + np.arange(chunks) * (depth + 1)
    # the channel by which each rank sends to all others, −1 if there are several
    away = ~np.eye(ranks, dtype=bool).ravel()
    starts = routes.channels[routes.offsets[:-1][away]].reshape(ranks, ranks - 1)
    exits = np.where((starts == starts[:, :1]).all(axis=1), starts[:, 0], -1).astype(np.int64)
    messages, num_keys = ranks * ranks * chunks, chunks * (depth + 1)
    owes = -np.bincount(parent[parent >= 0], minlength=ranks) * chunks
    round_of = np.full(messages, -1, np.int64)
    lists = np.zeros((2, ranks, num_keys), np.int64)
    rounds = timetable(
        routes.offsets, routes.channels, room, parent, keys.ravel(), chunks,
        np.zeros(len(room), np.int64), exits, np.arange(ranks), owes,
        np.zeros(ranks, np.int64), np.zeros(SPREAD + 1, np.int64), np.zeros(ranks, np.bool_),
        *lists, np.zeros(messages, np.int64), child_first, child, round_of,
        np.zeros(messages, np.int64),
    )  # fmt: skip
    return round_of, int(rounds), depth


def timed_on_tables(found: TableSchedule, size_bytes: float) -> Timed:
    """Return when each message of a schedule in rounds leaves and arrives: what ends first.

    There are two ways. All messages of a round leave together, once those of the round before have
    arrived. Or each leaves as soon as its data is there and its channels have room, earlier rounds
    first.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.routing import parse_routing
    >>> from netloom.phases.collectives.network import rank_network
    >>> from netloom.phases.collectives.pipelines import on_tables
    >>> net = topology("leaf-spine:4x2x4")
    >>> given = rank_network(net, bytes_per_second=25e9, latency_seconds=5e-7)
    >>> timed_on_tables(on_tables(given, parse_routing("d-mod-k", net)), 1e9).efficiency > 0.8
    True
    """
    network, program, topology = found.network, found.program, found.network.topology
    routes = Lists(found.routes.offsets.astype(np.int64), found.routes.channels.astype(np.int32))
    pair = program.source.astype(np.int64) * network.num_ranks + program.target
    _, first, place = np.unique(pair, return_index=True, return_inverse=True)
    route, taken = place.astype(np.int32), routes.taken(first)  # one of each pair of ranks
    latency = network.channel_latency
    rates = topology.channel_bandwidth.astype(np.float64)
    slowest = np.minimum.reduceat(rates[taken.values], taken.offsets[:-1])
    late = np.add.reduceat(latency[taken.values], taken.offsets[:-1])
    shared = Servers(slowest, late, taken, rates, network.bytes_per_second)
    awaited = waits(program, stepwise=False)
    jobs = Jobs(
        route, program.message_size, program.chunks.values, program.sums, awaited.values,
        awaited.owners(),
    )  # fmt: skip
    start, end = listed(shared, jobs, program.step, size_bytes)
    lasting = shared.seconds(jobs, size_bytes) + shared.latency[route]
    longest = np.zeros(program.num_steps)
    np.maximum.at(longest, program.step, lasting)
    if longest.sum() < end.max():
        start = np.append(0.0, np.cumsum(longest))[program.step]
        end = start + lasting
    _, step = np.unique(start, return_inverse=True)
    order = np.argsort(step, kind="stable")
    made = replace(
        program, source=program.source[order], target=program.target[order],
        step=step[order].astype(np.int32), chunks=program.chunks.taken(order),
        sums=program.sums[order],
    )  # fmt: skip
    bound = found.best.seconds(size_bytes)
    return Timed(made, network, size_bytes, start[order], end[order], routes.taken(order), bound)
