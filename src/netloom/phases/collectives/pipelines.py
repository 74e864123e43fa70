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

On tori and hypercubes every root uses the same trees, moved to where it is: *translates*. Where all
vertices are alike it suffices to find the trees of one root. If they use each direction equally
often, the whole machine uses each channel equally often. Every vertex hangs on a neighbour that is
nearer to the root, so that trees are as deep as the network is wide and no deeper. What is sent
when is a timetable of as many machines as there are directions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from itertools import product
from time import perf_counter
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.progress import tell_so_far
from netloom.phases.collectives.network import RankNetwork
from netloom.phases.collectives.schedules import Prices
from netloom.phases.collectives.trees import Forest, forest, optimum
from netloom.phases.plan.plans import longest_ways
from netloom.routing import Paths, Routing, paths
from netloom.topology.cubes import Cube
from netloom.workload.counter_random import stream_keys
from netloom.workload.programs.collectives.program import (
    EVERYBODY,
    CollectiveProgram,
    owners,
    single,
    waits,
)
from netloom.workload.programs.messages import Lists, cut, grouped

# -- on cables -------------------------------------------------------------------------------------


MOST_MESSAGES = 3_000_000
"""A schedule of more messages is refused."""

BACKWARDS = {"reduce-scatter": "all-gather", "reduce": "broadcast"}
"""Collectives that are others with time reversed, on the reversed network."""


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
    before, after
        int64[…], pairs of messages: the first must have arrived before the second leaves.
    """

    route: Ints
    part: Floats
    chunk: Ints
    before: Ints
    after: Ints

    def __len__(self) -> int:
        return len(self.route)

    def longest(self, seconds: Floats) -> Floats:
        """float64[num_messages], the longest way from each to the end, itself included.

        ``seconds``: float64[num_messages], what each takes. Ones count messages.
        """
        return longest_ways(self.after, self.before, seconds)[0]


Chunks: TypeAlias = tuple[Floats, Ints, Ints]
"""Sizes of chunks, their first owners, and their final owners."""


class Asked(NamedTuple):
    """What a schedule is asked for.

    Attributes
    ----------
    network
        The ranks, and links with rates and latencies.
    collective
        One of ``synthesis.SYNTHESISED``.
    size_bytes
        As ``CollectiveProgram`` has it.
    root
        Of broadcast and reduce.
    chunks
        Into how many chunks data that goes one way is cut. None: as many as end first.
    until
        A time of ``perf_counter`` after which the first schedule, or the best so far, suffices.
    """

    network: RankNetwork
    collective: str
    size_bytes: float
    root: int = 0
    chunks: int | None = None
    until: float = np.inf

    @property
    def weights(self) -> Ints:
        """int64[num_ranks], how much each rank has to send, or to receive, relatively."""
        ranks = np.arange(self.network.num_ranks)
        rooted = self.collective in ("broadcast", "reduce")
        return (ranks == self.root).astype(np.int64) if rooted else np.ones_like(ranks)

    @property
    def outward(self) -> RankNetwork:
        """The network in the direction in which the data goes out of its roots."""
        return self.network.reversed() if self.collective in BACKWARDS else self.network

    def program(
        self, chunks: Chunks, source: Ints, target: Ints, carried: Lists, sums: Bools
    ) -> CollectiveProgram:
        """Return a program of these messages, all in one step."""
        size, first, final = chunks
        of = self.collective, "synthesised", self.network.num_ranks, size, self.root
        step = np.zeros(len(source), np.int32)
        return CollectiveProgram(*of, source, target, step, carried, sums, first, final)


class Tracks(NamedTuple):
    """Ways that parts of a collective's data go. Each is a row of messages, for every chunk alike.

    Attributes
    ----------
    asked
        What they are for.
    routes
        The links of each route, in the direction in which the data goes out of its roots.
    ways
        The route of each message of a track. Then pairs of messages of a track: the first must have
        arrived before the second leaves.
    sums
        bool[num_routes], whether what comes by a route is added.
    slices
        float64[num_routes], what the tracks use of each route, in capacity of the network.
    weight, total
        How much goes along each track, if the collective's size is ``total``.
    owners
        int32[num_tracks] each, who has what goes along it at first, and in the end.
    parts
        Returns the chunks of each track, not rounded, for so many per block.
    """

    asked: Asked
    routes: Lists
    ways: tuple[Lists, Lists, Lists]
    sums: Bools
    slices: Floats
    weight: NDArray[Any]
    total: int
    owners: tuple[Ints, Ints]
    parts: Callable[[int], Floats]

    def cut(self, many: int) -> tuple[Jobs, Chunks, Floats]:
        """Return the messages of so many chunks per block, and these chunks.

        Also returns the part of its track's data that goes before the chunk of each message,
        float64[num_messages].
        """
        parts = np.maximum(np.rint(self.parts(many)), 1).astype(np.int64)  # chunks of each track
        track = np.repeat(np.arange(len(parts)), parts)  # of each chunk
        number = np.arange(len(track)) - np.repeat(np.cumsum(parts) - parts, parts)
        size = (self.weight / (self.total * parts))[track]
        route, before, after = (each.taken(track) for each in self.ways)
        chunk, first = route.owners(), route.offsets[before.owners()]
        pairs = first + before.values, first + after.values
        jobs = Jobs(route.values, size[chunk], chunk.astype(np.int32), *pairs)
        first, final = (each[track] for each in self.owners)
        return jobs, (size, first, final), (number / parts[track])[chunk]


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


class Timed(NamedTuple):
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


def timed(
    asked: Asked,
    program: CollectiveProgram,
    times: tuple[Floats, Floats],
    routes: Lists,
    bound: float,
    *,
    ties: tuple[Ints, ...] = (),
    prices: Prices | None = None,
) -> Timed:
    """Return a program with its messages in the order of their starts.

    ``times``: starts and ends. ``ties``: what orders messages of one start, the last key first.
    """
    step = np.unique(times[0], return_inverse=True)[1].astype(np.int32)
    order = np.lexsort((*ties, step))
    names = ("source", "target", "sums")
    columns = {name: getattr(program, name)[order] for name in names}
    program = replace(program, step=step[order], chunks=program.chunks.taken(order), **columns)
    (start, end), taken, size = times, routes.taken(order), asked.size_bytes
    return Timed(program, asked.network, size, start[order], end[order], taken, bound, prices)


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
    links, offsets = len(shared.room), grouped(jobs.route, jobs.route, num_routes)[0]
    through = grouped(taken.values, taken.owners(), links)
    waiting = np.zeros(many, [("key", "i4"), ("item", "i4")])
    start, end = np.full(many, -1.0), np.full(many, -1.0)
    sent = run_list(
        (jobs.route, shared.seconds(jobs, size_bytes), place, waits),
        grouped(jobs.before, jobs.after, many),
        (*taken, shared.rate, shared.latency, *through),
        shared.room.copy(),
        (offsets, waiting, np.zeros(num_routes, np.int64)),
        np.zeros(2 * many + 2, [("key", "f8"), ("item", "i8")]),
        (np.zeros(links + 1, np.int64), np.zeros(links, np.int8)),
        (start, end),
    )
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
    lasting = shared.seconds(jobs, size_bytes)
    seconds = jobs.longest(lasting + shared.latency[jobs.route])
    loads = np.zeros(len(shared.room))
    busy = np.bincount(jobs.route, lasting * shared.rate[jobs.route], len(shared.rate))
    np.add.at(loads, shared.taken.values, np.repeat(busy, shared.taken.lengths))
    least = float((loads / shared.room).max())
    return [share * per_block - way, share * least - 2 * seconds, -seconds]


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


def along_trees(asked: Asked) -> Timed:
    """Return a schedule of an all-gather, reduce-scatter, broadcast or reduce, and its bound.

    Its trees reach the optimum. What the schedule loses is the time to fill and empty the pipe.
    Chunks are of what goes down a tree. If a root has more than ``FEW_TREES``, they are those of a
    block, which is what a root sends to all.

    Raises
    ------
    InputError
        If the network is in pieces, or a switch has not as much bandwidth in as out.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("torus:3x3"), bytes_per_second=25e9, latency_seconds=1e-6)
    >>> found = along_trees(Asked(net, "all-gather", 64e6))
    >>> found.efficiency > 0.99, found.program.num_ranks
    (True, 9)
    """
    best = optimum(asked.outward, asked.weights)
    trees = forest(best)
    ways = below_roots(trees)
    block, every = trees.root, np.full(len(trees.root), EVERYBODY, np.int32)
    share = trees.many / trees.trees[trees.root]
    tracks = Tracks(
        asked,
        trees.routes,
        ways,
        np.zeros(len(trees.routes.lengths), np.bool_),
        slices_of(trees, ways[0]),
        trees.many,
        int(trees.trees.sum()),
        (every, block) if asked.collective in BACKWARDS else (block, every),
        lambda many: many * share,
    )
    each = int(trees.trees.max())
    alike = each if each <= FEW_TREES else 1  # then all chunks have one size
    ladder = [alike * many for many in ((asked.chunks,) if asked.chunks else CHUNKS)]
    return pipelined(tracks, ladder, best.seconds(asked.size_bytes))


def pipelined(
    tracks: Tracks, chunks: Sequence[int], bound: float, prices: Prices | None = None
) -> Timed:
    """Return the fastest schedule of chunks along tracks, its messages by their starts.

    If the collective is one of ``BACKWARDS``, time runs backwards: copies on the reversed network
    become sums on the network.

    Parameters
    ----------
    chunks
        Chunks per block to try, ascending.
    bound
        Seconds that no schedule can beat.
    prices
        Of links, if they prove the bound.
    """
    network, routes = tracks.asked.outward, tracks.routes
    jobs, (start, end), cut_into = fastest(tracks, network, chunks, bound)
    source = network.source[routes.values[routes.offsets[:-1]]][jobs.route]
    target = network.target[routes.values[routes.offsets[1:] - 1]][jobs.route]
    sums, links = tracks.sums[jobs.route], routes.taken(jobs.route)
    way = network.channels.values[network.channels.offsets[:-1]][links.values]
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
    if tracks.asked.collective in BACKWARDS:
        start, end = end.max() - end, end.max() - start
        source, target, sums = target, source, np.ones_like(sums)
        taken = turned_round(taken)
    program = tracks.asked.program(cut_into, source, target, single(jobs.chunk), sums)
    times, ties = (start, end), (jobs.chunk, target, source)
    return timed(tracks.asked, program, times, taken, bound, ties=ties, prices=prices)


def fastest(
    tracks: Tracks, network: RankNetwork, chunks: Sequence[int], bound: float
) -> tuple[Jobs, tuple[Floats, Floats], Chunks]:
    """Return the messages, times and chunks that end first, of the orders and chunks tried.

    ``network``: of the tracks' routes. ``chunks``: per block, ascending. ``bound``: seconds that no
    schedule can beat.
    """
    size, until = tracks.asked.size_bytes, tracks.asked.until
    shared = [servers(network, tracks.routes)]
    if (tracks.routes.lengths > 1).any():
        shared.append(servers(network, tracks.routes, tracks.slices))
    hows = range(len(shared))
    ways = list(product(range(3), hows))  # of the orders of ``priorities``
    best, finish, stale = None, np.inf, 0
    begun, done = perf_counter(), 0
    for number, many in enumerate(chunks):
        if best is not None and (finish < bound * (1 + GOOD) or perf_counter() > until):
            break
        jobs, cut_into, share = tracks.cut(many)
        if best is not None and len(jobs) > MANY_MESSAGES:
            break
        ends, before = {}, finish
        keys = {}
        for order, how in ways:
            if best is not None and perf_counter() > until:
                return best
            if how not in keys:
                keys[how] = priorities(shared[how], jobs, share, many, size)
            times = listed(shared[how], jobs, keys[how][order], size)
            ends[order, how] = times[1].max()
            if ends[order, how] < finish * (1 - GAIN):
                finish, best = ends[order, how], (jobs, times, cut_into)
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


def turned_round(given: Lists) -> Lists:
    """Return lists from their ends to their beginnings."""
    last = np.repeat(given.offsets[:-1] + given.offsets[1:] - 1, given.lengths)
    return Lists(given.offsets, given.values[last - np.arange(len(last))])


def slices_of(trees: Forest, messages: Lists) -> Floats:
    """Return what trees use of each route, float64[num_routes], in capacity of the network."""
    used = np.zeros(len(trees.routes.lengths), np.int64)
    np.add.at(used, messages.values, trees.many[messages.owners()])
    each = trees.rate / (float(trees.network.unit) * trees.network.bytes_per_second)
    return np.asarray(used.astype(np.float64) * each)


def below_roots(trees: Forest) -> tuple[Lists, Lists, Lists]:
    """Return the messages down each batch, one to each rank but its root, in the order of ranks.

    The route of each. Then pairs of messages of a batch: the first comes to the rank above.
    """
    ranks, batches = trees.network.num_ranks, len(trees.root)
    below = np.arange(ranks)[None, :] != trees.root[:, None]
    place = np.cumsum(below, axis=1) - 1
    above = np.take_along_axis(place, np.maximum(trees.parent, 0), axis=1)
    batch, rank = np.nonzero(below & (trees.parent != trees.root[:, None]))
    messages = cut(trees.route[below], np.full(batches, ranks - 1))
    first, later = above[batch, rank], place[batch, rank]
    return messages, grouped(batch, first, batches), grouped(batch, later, batches)


# -- translates ------------------------------------------------------------------------------------


class Translates(NamedTuple):
    """The trees of vertex 0 of a torus, which every other root uses translated.

    Attributes
    ----------
    sides
        Of the torus. Sides of 2 have one cable.
    step_of
        int64[num_directions, num_dimensions], where each direction leads.
    direction
        int32[num_trees, num_vertices], the direction in which each vertex receives, or −1 for the
        root.
    parent
        int32[num_trees, num_vertices], from which vertex, or −1 for the root.
    depth
        int32[num_vertices], how far each vertex is from the root, in every tree.
    round_of
        int32[num_trees, num_vertices], the round in which each receives, or −1 for the root.
    """

    sides: tuple[int, ...]
    step_of: Ints
    direction: Ints
    parent: Ints
    depth: Ints
    round_of: Ints

    @property
    def rounds(self) -> int:
        """Rounds, in each of which every channel carries one chunk: a tree's part of a block."""
        return int(self.round_of.max()) + 1

    def moved(self) -> Ints:
        """int32[num_vertices, num_vertices], where the vertex v is from root r: row r, column v."""
        at = np.array(np.unravel_index(np.arange(self.direction.shape[1]), self.sides))
        moved = (at[:, :, None] + at[:, None, :]) % np.array(self.sides)[:, None, None]
        return np.asarray(np.ravel_multi_index(tuple(moved), self.sides), np.int32)


def translates(sides: Sequence[int]) -> Translates:
    """Return the trees of one root of a torus, as many as directions, and an all-gather's rounds.

    Parameters
    ----------
    sides
        Vertices in each dimension, two in all or more.

    Examples
    --------
    >>> found = translates((8, 8))
    >>> len(found.direction), int(found.depth.max()), found.rounds
    (4, 8, 63)
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_flow

    sides, vertices = tuple(sides), int(np.prod(sides))
    one = np.eye(len(sides), dtype=np.int64)
    steps = np.concatenate(
        [[one[axis], -one[axis]][: side - 1] for axis, side in enumerate(sides) if side > 1]
    )
    # Vertices choose among the directions that lead there on shortest paths, such that none is
    # chosen more often than others need be: a flow from vertices to directions.
    ways, width = len(steps), np.array(sides)
    at = np.array(np.unravel_index(np.arange(vertices), sides)).T
    ahead = (at @ steps.T) % (np.abs(steps) @ width)  # how far along each direction it lies
    toward = (ahead > 0) & (2 * ahead <= np.abs(steps) @ width)
    depth = np.minimum(at, width - at).sum(axis=1).astype(np.int32)
    vertex, way = np.nonzero(toward)
    source, sink = vertices + ways, vertices + ways + 1
    others = np.arange(1, vertices)
    ends = (
        np.concatenate([np.full(len(others), source), vertex, vertices + np.arange(ways)]),
        np.concatenate([others, vertices + way, np.full(ways, sink)]),
    )
    most = vertices - 1
    while True:
        room = np.repeat([ways, most], [len(others) + len(vertex), ways]).astype(np.int32)
        found = maximum_flow(csr_array((room, ends), shape=(sink + 1,) * 2), source, sink)
        if found.flow_value == len(others) * ways:
            break
        most += 1
    taken = np.zeros((vertices, ways), np.int64)
    carried = found.flow.tocoo()
    forth = (carried.row < vertices) & (carried.data > 0)
    taken[carried.row[forth], carried.col[forth] - vertices] = carried.data[forth]
    taken[0, 0] = ways
    chosen = np.repeat(np.tile(np.arange(ways), vertices), taken.ravel())
    direction = chosen.reshape(vertices, ways).T.astype(np.int32).copy()
    before = (at[None, :, :] - steps[direction]) % np.array(sides)
    parent = np.ravel_multi_index(tuple(np.moveaxis(before, -1, 0)), sides).astype(np.int32)
    direction[:, 0] = parent[:, 0] = -1
    return Translates(sides, steps, direction, parent, depth, _turns(direction, parent))


def _turns(direction: Ints, parent: Ints) -> Ints:
    """Return the round in which each vertex receives in each tree: the highest first."""
    tree, vertex = np.nonzero(parent >= 0)
    first = tree * parent.shape[1]  # vertices are numbered through all trees
    above, below = first + parent[tree, vertex], first + vertex
    height = longest_ways(below, above, np.ones(parent.size, np.int64))[0].tolist()
    children, way = grouped(above, below, parent.size), direction.ravel().tolist()
    found = np.full(parent.size, -1, np.int32)
    ready: list[list[tuple[int, int]]] = [[] for _ in range(int(direction.max()) + 1)]
    new, now = list(range(0, parent.size, parent.shape[1])), 0
    while new or any(ready):
        for each in new:
            for child in children.of(each).tolist():
                heappush(ready[way[child]], (-height[child], child))
        new = [heappop(queue)[1] for queue in ready if queue]
        found[new] = now
        now += 1
    return found.reshape(parent.shape)


def translatable(network: RankNetwork) -> bool:
    """Return whether all vertices of a network are ranks and alike: a torus or a hypercube.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> [translatable(rank_network(topology(each))) for each in ("torus:4x4", "mesh:4x4")]
    [True, False]
    """
    cube = network.topology
    if not isinstance(cube, Cube) or network.num_ranks < cube.num_routers:
        return False
    closed = all(wrap or side <= 2 for wrap, side in zip(cube.wraps, cube.sides, strict=True))
    even = np.ptp(network.capacity) == 0 and np.ptp(network.latency) == 0
    return closed and bool(even)


def translated(asked: Asked) -> Timed:
    """Return a schedule of an all-gather or reduce-scatter on a torus, by translates of one root's.

    Every vertex of a torus or hypercube is a rank, in any order, all links alike. Chunks are those
    of a tree.

    Raises
    ------
    InputError
        If messages are too many.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("torus:4x4"), bytes_per_second=50e9, latency_seconds=1e-6)
    >>> round(translated(Asked(net, "all-gather", 64e6)).efficiency, 3)
    0.997
    """
    network, size_bytes = asked.network, asked.size_bytes
    cube, ranks = network.topology, network.num_ranks
    assert isinstance(cube, Cube)
    found = translates(cube.sides)
    trees = ways = len(found.step_of)
    bound = optimum(network).seconds(size_bytes)
    tree, vertex = np.nonzero(found.parent >= 0)
    parent, job = found.parent[tree, vertex], np.full(found.parent.shape, -1, np.int64)
    job[tree, vertex] = np.arange(len(tree))
    above = job[tree, parent]
    later, room = np.flatnonzero(above >= 0), np.ones(ways)
    latency, each = np.full(ways, network.latency[0]), single(range(ways))
    shared = Servers(room, latency, each, room, float(network.rate[0]))
    best, finish = None, np.inf
    for many in (asked.chunks,) if asked.chunks else (1, 2, 4, 8, 16):
        if best is not None and many * trees * ranks * (ranks - 1) > MOST_MESSAGES / 3:
            break
        # the messages of one root's trees, by tree, vertex and chunk
        number = np.arange(many)
        chunk = (tree[:, None] * many + number).ravel().astype(np.int32)
        pairs = ((one[:, None] * many + number).ravel() for one in (above[later], later))
        part = np.full(len(chunk), 1 / (ranks * trees * many))
        jobs = Jobs(np.repeat(found.direction[tree, vertex], many), part, chunk, *pairs)
        way = jobs.longest(np.ones(len(jobs)))
        share = (jobs.chunk % many) / many
        for key in (-way, share * many * found.rounds - way):
            times = listed(shared, jobs, key, size_bytes)
            if times[1].max() < finish * (1 - 1e-3):
                finish, best = times[1].max(), (many, *times)
    assert best is not None
    many, start, end = best
    rank_of, count = np.argsort(network.vertices), len(start) * ranks
    sums = asked.collective in BACKWARDS
    if count > MOST_MESSAGES:
        wanted = f"at most {MOST_MESSAGES:,}: fewer ranks or chunks"
        raise InputError("schedule", f"{count:,} messages", wanted)
    if sums:
        start, end = end.max() - end, end.max() - start
    moved = found.moved()
    of, number = np.divmod(np.arange(len(start)), many)
    source, target = (
        rank_of[moved[:, each[of]].T].ravel().astype(np.int32) for each in (parent, vertex)
    )
    chunk = (rank_of[None, :] * trees + tree[of][:, None]) * many + number[:, None]
    if sums:
        source, target = target, source
    cut_into = owners(asked.collective, ranks, trees * many)
    added = np.full(count, sums)
    program = asked.program(cut_into, source, target, single(chunk.ravel()), added)
    keys = network.source.astype(np.int64) * ranks + network.target
    link = np.searchsorted(keys, source.astype(np.int64) * ranks + target)
    channels = single(network.channels.values[network.channels.offsets[link]])
    both = np.repeat(start, ranks), np.repeat(end, ranks)
    return timed(asked, program, both, channels, bound)


# -- on installed routes ---------------------------------------------------------------------------


MOST_RANKS = 2048
"""Most ranks: routes of all pairs are held at once."""

MOST_ON_TABLES = 20_000_000
"""Most messages of a schedule."""

TRIES = 5
"""Sets of trees that are tried. The shallow ones of fewest rounds are taken."""

SLACK = 16
"""How many sends a rank may be ahead of its share of the trees grown so far."""


def on_tables(asked: Asked, routing: Routing, *, seed: int = 1) -> tuple[Timed, int]:
    """Return an all-gather or a reduce-scatter over the routes of a routing, and its rounds.

    In a round, the slowest channel carries one chunk. There are two ways. All messages of a round
    leave together, once those of the round before have arrived. Or each leaves as soon as its data
    is there and its channels have room, earlier rounds first. It is what ends first.

    Parameters
    ----------
    routing
        What gives the routes, such as ``lfts:FILE``: one for each pair of ranks.
    seed
        Of the groups that are looked at.

    Raises
    ------
    InputError
        If ranks or messages are too many, a pair has several routes or one over a broken channel.
    NoRouteError
        If the routing has no route for a pair.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.routing import parse_routing
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = topology("leaf-spine:4x2x4")
    >>> given = rank_network(net, bytes_per_second=25e9, latency_seconds=5e-7)
    >>> found, rounds = on_tables(Asked(given, "all-gather", 1e9), parse_routing("d-mod-k", net))
    >>> found.efficiency > 0.8, 15 <= rounds < 20
    (True, True)
    """
    network, topology, chunks = asked.network, asked.network.topology, asked.chunks or 1
    ranks, outward = network.num_ranks, asked.collective == "all-gather"
    if ranks > MOST_RANKS or ranks * ranks * chunks > MOST_ON_TABLES:
        wanted = f"at most {MOST_RANKS} ranks and {MOST_ON_TABLES} messages"
        raise InputError("ranks", f"{ranks} with {chunks} chunks each", wanted)
    # blocks that go inward are grown as trees that go outward, and turned round in the end
    hosts = network.vertices[:ranks]
    ends = hosts.repeat(ranks), np.tile(hosts, ranks)
    routes = paths(topology, routing, *(ends if outward else ends[::-1])).whole(topology)
    if routes.pair is not None:
        raise InputError("routing", "several routes per pair", "one, as forwarding tables give")
    if not topology.channel_up[routes.channels].all():
        raise InputError("routing", "a route over a broken channel", "routes that work")
    rates = topology.channel_bandwidth.astype(np.float64)
    room = np.floor(rates / rates[routes.channels].min() * (1 + 1e-12)).astype(np.int64)
    shallow = (ranks - 1).bit_length()
    tried = []
    for key in stream_keys(seed, TRIES):
        parent = _trees(network, routes, room, key)
        tried.append((parent, *_rounds(routes, room, parent, chunks)))
    parent, round_of, rounds, _ = min(tried, key=lambda each: (max(each[3], shallow), each[2]))
    step = round_of if outward else rounds - 1 - round_of
    order = np.argsort(step, kind="stable")
    order = order[round_of[order] >= 0]
    root, target = np.divmod(order // chunks, ranks)
    source = parent[root, target]
    pair, step = source.astype(np.int64) * ranks + target, step[order].astype(np.int32)
    source, target = (
        each.astype(np.int32) for each in ((source, target) if outward else (target, source))
    )
    chunk, sums = root * chunks + order % chunks, np.full(len(order), not outward)
    cut_into = owners(asked.collective, ranks, chunks)
    program = asked.program(cut_into, source, target, single(chunk), sums)
    program = replace(program, algorithm="on-tables", step=step)
    # in time: routes of pairs of ranks that are used
    used, route = np.unique(pair, return_inverse=True)
    taken = Lists(routes.offsets.astype(np.int64), routes.channels.astype(np.int32)).taken(used)
    first = taken.offsets[:-1]
    slowest = np.minimum.reduceat(rates[taken.values], first)
    late = np.add.reduceat(network.channel_latency[taken.values], first)
    shared = Servers(slowest, late, taken, rates, network.bytes_per_second)
    awaited = waits(program, stepwise=False)
    pairs = awaited.values, awaited.owners()
    jobs = Jobs(route.astype(np.int32), program.message_size, program.chunks.values, *pairs)
    start, end = listed(shared, jobs, step, asked.size_bytes)
    lasting = shared.seconds(jobs, asked.size_bytes) + late[route]
    longest = np.zeros(program.num_steps)
    np.maximum.at(longest, step, lasting)
    if longest.sum() < end.max():
        start = np.append(0.0, np.cumsum(longest))[step]
        end = start + lasting
    bound = optimum(asked.outward).seconds(asked.size_bytes)
    times, ways = (start, end), taken.taken(route)
    return timed(asked, program, times, ways, bound), int(rounds)


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
    parent, load = np.empty((ranks, ranks), np.int32), np.zeros(topology.num_channels, np.int64)
    sends, holders, order = np.zeros((3, ranks), np.int64)
    unserved, bucket = np.zeros(len(first) - 1, np.int64), np.zeros(SPREAD + 1, np.int64)
    groups, ways = (first, members, group_of), (routes.offsets, routes.channels, room)
    state = sends, load, unserved, holders, order, bucket
    grow_trees(ways, groups, roots, float(SLACK), key, parent, state)
    return parent


def _rounds(routes: Paths, room: Ints, parent: Ints, chunks: int) -> tuple[Ints, int, int]:
    """Return the round of each message (root · ranks + target) · chunks + chunk. Rounds, depth."""
    from netloom.phases.collectives.kernels.listing import SPREAD, timetable

    ranks = len(parent)
    node = np.arange(ranks * ranks)
    own = parent.ravel() < 0
    above = np.where(own, node, node // ranks * ranks + parent.ravel())
    child_first, child = grouped(above[~own], node[~own], ranks * ranks)
    # how many messages are below each at most
    height = longest_ways(node[~own], above[~own], np.ones(ranks * ranks, np.int64))[0] - 1
    depth = int(height.max())
    keys = (depth - height)[:, None] + np.arange(chunks) * (depth + 1)
    # the channel by which each rank sends to all others, −1 if there are several
    away = ~np.eye(ranks, dtype=bool).ravel()
    starts = routes.channels[routes.offsets[:-1][away]].reshape(ranks, ranks - 1)
    exits = np.where((starts == starts[:, :1]).all(axis=1), starts[:, 0], -1).astype(np.int64)
    messages, num_keys = ranks * ranks * chunks, chunks * (depth + 1)
    owes = -np.bincount(parent[parent >= 0], minlength=ranks) * chunks
    head, tail = np.zeros((2, ranks, num_keys), np.int64)
    following, fresh, round_of = np.zeros((3, messages), np.int64)
    round_of[:] = -1
    ways, used = (routes.offsets, routes.channels, room), np.zeros(len(room), np.int64)
    queues, idle = (used, head, tail, following), np.zeros(ranks, np.bool_)
    turns = np.arange(ranks), owes, np.zeros(ranks, np.int64), np.zeros(SPREAD + 1, np.int64)
    children, found = (child_first, child), (round_of, fresh)
    rounds = timetable(ways, keys.ravel(), chunks, exits, children, queues, turns, idle, found)
    return round_of, int(rounds), depth
