"""Tori and hypercubes: every root uses the same trees, moved to where it is.

Where all vertices are alike it suffices to find the trees of one root. If they use each direction
equally often, the whole machine uses each channel equally often. Every vertex hangs on a neighbour
that is nearer to the root, so that trees are as deep as the network is wide and no deeper. What is
sent when is a timetable of as many machines as there are directions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.phases.collectives.network import RankNetwork
from netloom.phases.collectives.pipelines import (
    BACKWARDS,
    MOST_MESSAGES,
    Asked,
    Jobs,
    Sent,
    Servers,
    Timed,
    listed,
    timed,
)
from netloom.phases.collectives.trees import optimum
from netloom.topology.cubes import Cube
from netloom.workload.programs.collectives.program import owners, single


@dataclass(frozen=True, eq=False)
class Translates:
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
    def num_trees(self) -> int:
        """Trees of each root."""
        return len(self.direction)

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
    >>> found.num_trees, int(found.depth.max()), found.rounds
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
    return Translates(sides, steps, direction, parent, depth, _rounds(direction, parent, depth))


def _rounds(direction: Ints, parent: Ints, depth: Ints) -> Ints:
    """Return the round in which each vertex receives in each tree: the highest first."""
    height = np.zeros(direction.shape, np.int64)
    order = np.argsort(-depth, kind="stable")
    trees = np.arange(len(direction))
    for vertex in order[:-1]:
        above = parent[:, vertex]
        height[trees, above] = np.maximum(height[trees, above], height[:, vertex] + 1)
    children: dict[tuple[int, int], list[int]] = {}
    for tree, vertex in np.argwhere(parent >= 0).tolist():
        children.setdefault((tree, int(parent[tree, vertex])), []).append(vertex)
    found = np.full(direction.shape, -1, np.int32)
    ready: list[list[tuple[int, int, int]]] = [[] for _ in range(int(direction.max()) + 1)]
    new = [(tree, 0) for tree in range(len(direction))]
    now = 0
    while new or any(ready):
        for tree, vertex in new:
            for child in children.get((tree, vertex), ()):
                entry = (-int(height[tree, child]), tree, child)
                heappush(ready[direction[tree, child]], entry)
        new = []
        for queue in ready:
            if queue:
                _, tree, vertex = heappop(queue)
                found[tree, vertex] = now
                new.append((tree, vertex))
        now += 1
    return found


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
    trees, ways = found.num_trees, len(found.step_of)
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
    program = asked.program(*owners(asked.collective, ranks, trees * many))
    sent = Sent(source, target, single(chunk.ravel()), np.full(count, sums))
    keys = network.source.astype(np.int64) * ranks + network.target
    link = np.searchsorted(keys, source.astype(np.int64) * ranks + target)
    channels = single(network.channels.values[network.channels.offsets[link]])
    both = np.repeat(start, ranks), np.repeat(end, ranks)
    return timed(asked, program, sent, both, channels, bound)
