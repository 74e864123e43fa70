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
from math import ceil

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.phases.collectives.network import RankNetwork
from netloom.phases.collectives.pipelines import MOST_MESSAGES, Jobs, Servers, Timed, listed
from netloom.phases.collectives.trees import optimum
from netloom.topology.cubes import Cube
from netloom.workload.programs.collectives.program import CollectiveProgram, owners, single


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

    @property
    def bound(self) -> int:
        """Fewest rounds: each vertex receives all other blocks through its channels."""
        vertices = int(self.direction.shape[1])
        return ceil((vertices - 1) * self.num_trees / len(self.step_of))

    def moved(self) -> Ints:
        """int32[num_vertices, num_vertices], where the vertex v is from root r: row r, column v."""
        at = np.array(np.unravel_index(np.arange(self.direction.shape[1]), self.sides))
        moved = (at[:, :, None] + at[:, None, :]) % np.array(self.sides)[:, None, None]
        return np.asarray(np.ravel_multi_index(tuple(moved), self.sides), np.int32)

    def __repr__(self) -> str:
        depth = int(self.depth.max())
        return f"<{self.num_trees} trees, depth {depth}, {self.rounds} rounds of {self.bound}>"


def translates(sides: Sequence[int], trees: int | None = None) -> Translates:
    """Return the trees of one root of a torus, and the rounds of an all-gather by them.

    Parameters
    ----------
    sides
        Vertices in each dimension.
    trees
        Trees per root. As many as directions by default, which reaches the bound.

    Raises
    ------
    InputError
        If there is one vertex alone, or no tree.

    Examples
    --------
    >>> translates((8, 8))
    <4 trees, depth 8, 63 rounds of 63>
    >>> translates((2, 2, 2)), translates((8, 8), trees=1)
    (<3 trees, depth 3, 7 rounds of 7>, <1 trees, depth 8, 16 rounds of 16>)
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import maximum_flow

    sides = tuple(int(side) for side in sides)
    vertices = int(np.prod(sides))
    if vertices < 2 or min(sides) < 1:
        raise InputError("torus", f"sides {sides}", "at least 2 vertices")
    steps = np.array([
        sign * np.eye(len(sides), dtype=np.int64)[dimension]
        for dimension, side in enumerate(sides) for sign in (1, -1)
        if side > 2 or (side == 2 and sign == 1)
    ])  # fmt: skip
    many = len(steps) if trees is None else trees
    if many < 1:
        raise InputError("trees", f"{many}", "at least 1")
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
    most = ceil((vertices - 1) * many / ways)
    while True:
        ends = (
            np.concatenate([np.full(len(others), source), vertex, vertices + np.arange(ways)]),
            np.concatenate([others, vertices + way, np.full(ways, sink)]),
        )
        room = np.concatenate(
            [np.full(len(others) + len(vertex), many), np.full(ways, most)]
        ).astype(np.int32)
        graph = coo_array((room, ends), shape=(sink + 1,) * 2).tocsr()
        found = maximum_flow(graph, source, sink)
        if found.flow_value == (vertices - 1) * many:
            break
        most += 1
    flow = found.flow.toarray() if vertices <= 2048 else found.flow.tocsr()
    taken = np.zeros((vertices, ways), np.int64)
    taken[vertex, way] = np.asarray(flow[vertex, vertices + way]).ravel()
    taken[0, 0] = many
    chosen = np.repeat(np.tile(np.arange(ways), vertices), taken.ravel())
    direction = chosen.reshape(vertices, many).T.astype(np.int32).copy()
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


def translated(
    network: RankNetwork,
    collective: str,
    size_bytes: float,
    *,
    chunks: Sequence[int] = (1, 2, 4, 8, 16),
) -> Timed:
    """Return a schedule of an all-gather or reduce-scatter on a torus, by translates of one root's.

    Parameters
    ----------
    network
        Every vertex of a torus or hypercube as a rank, in any order, all links alike.
    chunks
        Chunks per tree to try.

    Raises
    ------
    InputError
        If the network or the collective is another, the size is none, or messages are too many.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("torus:4x4"), bytes_per_second=50e9, latency_seconds=1e-6)
    >>> round(translated(net, "all-gather", 64e6).efficiency, 3)
    0.997
    """
    if collective not in ("all-gather", "reduce-scatter"):
        raise InputError("collective", f"'{collective}'", "all-gather or reduce-scatter")
    if not translatable(network):
        wanted = "a whole torus or hypercube, all links alike"
        raise InputError(network.topology.name, "vertices that are not alike", wanted)
    if not size_bytes > 0:
        raise InputError("size", f"{size_bytes}", "above 0 bytes")
    cube = network.topology
    assert isinstance(cube, Cube)
    found = translates(cube.sides)
    bound = optimum(network).seconds(size_bytes)
    ranks = network.num_ranks
    best, finish = None, np.inf
    for many in chunks:
        if best is not None and many * found.num_trees * ranks * (ranks - 1) > MOST_MESSAGES / 3:
            break
        jobs, shared = _template(network, found, many)
        way = jobs.longest(np.ones(len(jobs)))
        share = (jobs.chunk % many) / many
        for key in (-way, share * many * found.rounds - way):
            times = listed(shared, jobs, key, size_bytes)
            if times[1].max() < finish * (1 - 1e-3):
                finish, best = times[1].max(), (many, times)
    assert best is not None
    many, (start, end) = best
    rank_of, sums = np.argsort(network.vertices), collective == "reduce-scatter"
    if len(start) * ranks > MOST_MESSAGES:
        wanted = f"at most {MOST_MESSAGES:,}: fewer ranks or chunks"
        raise InputError("schedule", f"{len(start) * ranks:,} messages", wanted)
    if sums:
        start, end = end.max() - end, end.max() - start
    row = np.argsort(start, kind="stable")
    tree, vertex = np.nonzero(found.parent >= 0)
    moved = found.moved()
    job, number = row // many, row % many
    target = rank_of[moved[:, vertex[job]].T].ravel()
    source = rank_of[moved[:, found.parent[tree, vertex][job]].T].ravel()
    chunk = (rank_of[None, :] * found.num_trees + tree[job][:, None]) * many + number[:, None]
    if sums:
        source, target = target, source
    size, first, final = owners(collective, ranks, found.num_trees * many)
    row = np.repeat(row, ranks)
    start, end = start[row], end[row]
    _, step = np.unique(start, return_inverse=True)
    program = CollectiveProgram(
        collective, "synthesised", ranks, size, 0, source.astype(np.int32), target.astype(np.int32),
        step.astype(np.int32), single(chunk.ravel()), np.full(len(row), sums), first, final,
    )  # fmt: skip
    keys = network.source.astype(np.int64) * ranks + network.target
    link = np.searchsorted(keys, source.astype(np.int64) * ranks + target)
    channels = network.channels.values[network.channels.offsets[link]]
    return Timed(program, network, size_bytes, start, end, single(channels), bound)


def _template(network: RankNetwork, found: Translates, many: int) -> tuple[Jobs, Servers]:
    """Return the messages of one root's trees, by tree, vertex and chunk, and what carries them."""
    trees, vertices = found.direction.shape
    below = found.parent >= 0
    place = np.full(found.parent.shape, -1, np.int64)
    place[below] = np.arange(below.sum())
    above = np.take_along_axis(place, np.maximum(found.parent, 0), axis=1)[below]
    number = np.arange(many)
    later = (np.arange(len(above))[above >= 0, None] * many + number).ravel()
    earlier = (above[above >= 0, None] * many + number).ravel()
    tree = np.nonzero(below)[0]
    chunk = (tree[:, None] * many + number).ravel()
    jobs = Jobs(
        np.repeat(found.direction[below], many), np.full(len(chunk), 1 / (vertices * trees * many)),
        chunk.astype(np.int32), np.zeros(len(chunk), np.bool_), earlier, later,
    )  # fmt: skip
    ways = len(found.step_of)
    room = np.ones(ways)
    latency = np.full(ways, network.latency[0])
    return jobs, Servers(room, latency, single(range(ways)), room, float(network.rate[0]))
