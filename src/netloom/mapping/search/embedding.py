"""Mappings under which tasks that communicate are neighbours: structure found, not stumbled on."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.base.provenance import DEFAULT_SEED
from netloom.mapping.search.pairs import hops, joint_weights
from netloom.topology import Topology, working_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.mapping.search.pairs import JointWeights
    from netloom.workload import ProcessGraph

    Neighbours: TypeAlias = tuple[Ints, Ints]
    Kinds: TypeAlias = tuple[Bools, Ints, Ints]

MOST_GAPS = 3
"""Heavy parts of a program that are tried after the whole, ..."""

LEAST_GAP = 1.5
"""... each of them this many times heavier than all the rest, edge by edge, ..."""

LEAST_SHARE = 0.5
"""... and with this share of the weight."""

STEPS_A_TASK = 10_000
MOST_STEPS = 3_000_000
"""Steps after which a search gives up: so many for each task, and no more in all."""

FIRST_STEPS = 50
"""Steps for each task in the first attempts. Twice as many after every ``ATTEMPTS``."""

ATTEMPTS = 16

MOST_ROOTS = 64
"""Nodes that are tried for a task that talks to none of those placed before it."""

MOST_COMPARED = 2048
"""Tasks and nodes up to which it is compared how many others are within some hops of each, ..."""

RADIUS = 32
"""... up to so many."""


def embed(
    app: ProcessGraph,
    topology: Topology,
    *,
    nodes: ArrayLike | None = None,
    weights: Floats | None = None,
    seed: int = DEFAULT_SEED,
) -> Ints | None:
    """Return a mapping under which each edge, or each heavy one, is one channel long.

    A search places task after task next to those it communicates with, goes back where that leads
    nowhere, and begins again elsewhere where it takes too long. Numbers of tasks and nodes mean
    nothing to it. If no mapping of the whole program is found, the edges that outweigh all
    others by far are tried alone (the largest ratios of one weight to the next). The tasks they
    leave out are put near those they talk to most.

    The mapping is int32[num_tasks], one task per node. None where none was found, which is no
    proof that there is none. The direction of edges does not matter, edges of weight 0 do not
    count, and neighbours in the network are joined both ways. ``nodes`` are all that work by
    default, ``weights`` (float64[num_edges]) the bytes.

    Examples
    --------
    >>> from netloom.topology import hypercube
    >>> from netloom.workload import process_graph
    >>> square = process_graph(4, [0, 3, 1, 2], [3, 1, 2, 0])
    >>> embed(square, hypercube(2))[[0, 3, 1, 2]]
    array([0, 2, 3, 1], dtype=int32)
    """
    allowed = working_nodes(topology) if nodes is None else np.unique(nodes)
    if app.num_tasks > len(allowed):
        return None
    joint, rng = joint_weights(app, weights), np.random.default_rng(seed)
    host = _links(topology, allowed)
    for least in _thresholds(joint):
        talking, heavy = _heavy_part(joint, least)
        found = _search(heavy, host, rng)
        if found is not None:
            node_of = np.full(app.num_tasks, -1, np.int32)
            node_of[talking] = allowed[found]
            _seat_others(node_of, joint, topology, allowed)
            return node_of
    return None


def _links(topology: Topology, allowed: Ints) -> Neighbours:
    """Return the neighbours of each allowed node among the allowed, by their place among them."""
    place = np.full(topology.num_hosts, -1, np.int64)
    place[allowed] = np.arange(len(allowed))
    source, target = place[topology.channel_source], place[topology.channel_target]
    kept = (source >= 0) & (target >= 0)
    there = np.unique(source[kept] * len(allowed) + target[kept])
    back = there % len(allowed) * len(allowed) + there // len(allowed)
    both = there[np.isin(there, back)]
    counts = np.bincount(both // len(allowed), minlength=len(allowed))
    return np.append(0, np.cumsum(counts)), both % len(allowed)


def _thresholds(joint: JointWeights) -> Iterator[float]:
    """Yield the least weights of the parts to try: the whole first, then fewer and fewer edges."""
    if not joint.nnz:
        return
    values, counts = np.unique(joint.data, return_counts=True)
    yield float(values[0])
    share = np.cumsum((values * counts)[::-1])[::-1] / joint.data.sum()
    gap = values[1:] / values[:-1]
    fit = np.flatnonzero((gap >= LEAST_GAP) & (share[1:] >= LEAST_SHARE))
    widest = fit[np.argsort(-gap[fit], kind="stable")[:MOST_GAPS]]
    yield from values[1:][np.sort(widest)].tolist()


def _heavy_part(joint: JointWeights, least: float) -> tuple[Ints, Neighbours]:
    """Return the tasks with edges of a least weight, and the neighbours of each among them."""
    tasks = joint.shape[0]
    source = np.repeat(np.arange(tasks), np.diff(joint.indptr))
    heavy = joint.data >= least
    talking, first = np.unique(source[heavy], return_index=True)
    place = np.zeros(tasks, np.int64)
    place[talking] = np.arange(len(talking))
    offsets = np.append(first, np.count_nonzero(heavy)).astype(np.int64)
    return talking, (offsets, place[joint.indices[heavy]])


def _search(guest: Neighbours, host: Neighbours, rng: np.random.Generator) -> Ints | None:
    """Return the node of each task of the guest, such that neighbours stay neighbours."""
    from netloom.mapping.kernels.embedding import place_order, search

    degree, free_near = np.diff(guest[0]), np.diff(host[0])
    tasks, number, most = len(degree), len(free_near), int(degree.max())
    kinds = _kinds(guest, host)
    choice = kinds[0].sum(axis=1)[kinds[1]]
    if not choice.all():
        return None
    order, first = np.zeros(tasks, np.int64), np.zeros((tasks, 3), np.int64)
    heads = np.zeros(((most + 1) ** 2, 2), np.int64)
    deepest = MOST_ROOTS + tasks * max(MOST_ROOTS, int(free_near.max()))
    space = np.zeros(deepest, np.int64), np.zeros(deepest), np.zeros(tasks + 1, np.int64)
    limits = number - tasks, int(degree.min())
    left, attempt = min(MOST_STEPS, STEPS_A_TASK * tasks), 0
    while left > 0:
        central, narrow = attempt % 4 < 2, attempt % 2 == 0
        deep = most <= 2 or attempt % 8 >= 4
        root = int(np.argmin(choice)) if central else int(rng.integers(tasks))
        place_order(guest, root, deep, rng.permutation(tasks), order, first, heads)
        node_of, task_at = np.full(tasks, -1), np.full(number, -1)
        state = (node_of, task_at, free_near.copy(), free_near.copy(), degree.copy())
        few = min(left, FIRST_STEPS * tasks * 2 ** (attempt // ATTEMPTS))
        steps = search(
            guest, host, kinds, order, state, limits, narrow, MOST_ROOTS, space, few, rng
        )
        if steps > 0:
            return node_of
        left += steps - tasks
        attempt += 1
    return None


def _kinds(guest: Neighbours, host: Neighbours) -> Kinds:
    """Return which kinds of tasks fit onto which kinds of nodes, and the kind of each.

    An embedding brings nothing further apart, so that a node has at least as many others within
    any distance as its task has.
    """
    radius = RADIUS if max(len(guest[0]), len(host[0])) <= MOST_COMPARED else 1
    tasks, task_kind = np.unique(_within(guest, radius), axis=0, return_inverse=True)
    nodes, node_kind = np.unique(_within(host, radius), axis=0, return_inverse=True)
    possible = np.array([(nodes >= task).all(axis=1) for task in tasks])
    return possible, task_kind.astype(np.int64), node_kind.astype(np.int64)


def _within(graph: Neighbours, radius: int) -> Ints:
    """Return how many others are within 1 … radius hops of each."""
    offsets, near = graph
    number = len(offsets) - 1
    if radius == 1:
        return np.diff(offsets)[:, None]
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    ends: Any = (np.ones(len(near)), near, offsets)
    joined = csr_array(ends, shape=(number, number))
    apart = np.asarray(dijkstra(joined, unweighted=True, limit=radius))
    apart[np.isinf(apart)] = radius + 1
    bins = np.arange(number)[:, None] * (radius + 2) + apart.astype(np.int64)
    counts = np.bincount(bins.ravel(), minlength=number * (radius + 2))
    return np.asarray(np.cumsum(counts.reshape(number, -1)[:, 1:-1], axis=1))


def _seat_others(
    node_of: Ints,
    joint: JointWeights,
    topology: Topology,
    allowed: Ints,
) -> None:
    """Put each task without a node where its weight times distance is least. The heaviest first."""
    free = np.setdiff1d(allowed, node_of)
    seated = (node_of >= 0).astype(np.float64)
    pull = np.asarray(joint @ seated)
    for _ in range(int(np.count_nonzero(node_of < 0))):
        task = int(np.argmax(np.where(node_of < 0, pull, -1.0)))
        near = slice(joint.indptr[task], joint.indptr[task + 1])
        others, weight = joint.indices[near], joint.data[near]
        placed = node_of[others] >= 0
        cost = weight[placed] @ hops(topology, node_of[others[placed]])[:, free]
        place = int(np.argmin(cost))
        node_of[task] = free[place]
        free = np.delete(free, place)
        pull[others] += weight
