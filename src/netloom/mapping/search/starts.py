"""Mappings that a search starts from, and is measured against.

At random, by recursive bisection of network and program together, and by embedding, under which
tasks that communicate are neighbours: structure found, not stumbled on.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from heapq import heapify, heappop, heappush
from itertools import combinations, count
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Bools, Floats, Ints, distinct
from netloom.base.provenance import DEFAULT_SEED
from netloom.mapping.layouts import fitting_layouts
from netloom.mapping.search.objectives import JointWeights, Measure, hops, joint_weights
from netloom.topology import Cube, Topology, hop_distances, working_nodes
from netloom.workload import ProcessGraph

Neighbours: TypeAlias = tuple[Ints, Ints]
"""Offsets, and the neighbours of each."""

Program: TypeAlias = tuple[Ints, Ints, Ints]
"""The same, and whole weights."""

LARGEST_SUM = 2**29
"""Most that all whole-number weights may come to: METIS adds them up in 32 bits."""

FEW_TASKS = 8
"""Tasks up to which all ways to halve them are compared."""

ANCHOR = 2
"""Weight of each of the two vertices that stand for everything outside, in tasks of the part. It is
so large that no balanced bisection puts both on the same side."""


class Part(NamedTuple):
    """The communication within a part of the program, and how it is drawn to places outside."""

    # source, others, weights: the tasks of the part, ascending, the others that each talks to, and
    # int64 weights.
    source: Ints
    others: Ints
    weights: Ints
    # float64[tasks], in units of weight: above 0, towards the first half of the network's part.
    drawn: Floats


def bisect(part: Part, share: int, seed: int) -> Bools:
    """Return which tasks go to the first half, ``share`` of them, bool[tasks].

    METIS cuts little weight, and then those tasks change sides that it costs least to move. Of a
    few tasks, all halves are compared.

    Examples
    --------
    A line of four, 1 - 0 - 3 - 2, of which the first is drawn to the first half:

    >>> line = [np.array(a) for a in ([0, 0, 1, 2, 3, 3], [1, 3, 0, 3, 0, 2], [1] * 6)]
    >>> bisect(Part(*line, drawn=np.array([0.5, 0, 0, 0])), share=2, seed=1)
    array([ True,  True, False, False])
    """
    tasks = len(part.drawn)
    if share in (0, tasks):
        return np.full(tasks, share > 0)
    if tasks <= FEW_TASKS:  # the best of all ways
        sent = np.zeros((tasks, tasks))
        sent[part.source, part.others] = part.weights
        ways = _ways(tasks, share)
        kept = np.einsum("wi,ij,wj->w", ways, sent, ways - 1)  # minus what is cut
        return np.asarray(ways[int(np.argmax(kept + ways @ part.drawn))] > 0)
    first = np.zeros(tasks, np.bool_)
    if len(part.others):
        first = _cut(part, share, seed)
        if 2 * share == tasks and part.drawn[first].sum() < part.drawn[~first].sum():
            first = ~first
    return _exactly(part, first, share)


def gain(part: Part, first: Bools) -> float:
    """Return how far tasks follow where they are drawn to, less the weight that is cut.

    Examples
    --------
    >>> pair = [np.array(a) for a in ([0, 1], [1, 0], [3, 3])]
    >>> gain(Part(*pair, drawn=np.array([2.0, 1.0])), np.array([True, False]))
    -2.5
    """
    cut = part.weights @ (first[part.source] != first[part.others]) / 2
    return float(part.drawn @ np.where(first, 0.5, -0.5) - cut)


@lru_cache(maxsize=FEW_TASKS**2)
def _ways(tasks: int, share: int) -> Floats:
    chosen = np.array(list(combinations(range(tasks), share)))
    ways = np.zeros((len(chosen), tasks))
    np.put_along_axis(ways, chosen, 1.0, axis=1)
    return ways


def _cut(part: Part, share: int, seed: int) -> Bools:
    """Return a first half of nearly the wished size that METIS cuts off, as it is drawn."""
    import pymetis

    tasks = len(part.drawn)
    drawn = np.rint(part.drawn).astype(np.int64)
    sizes, edges = np.ones(tasks, np.int64), np.stack([part.source, part.others, part.weights])
    if drawn.any():  # two more vertices
        sizes = np.append(sizes, [ANCHOR * tasks] * 2)
        moved = np.flatnonzero(drawn)
        anchor, pull = np.where(drawn[moved] > 0, tasks, tasks + 1), np.abs(drawn[moved])
        edges = np.hstack([edges, [moved, anchor, pull], [anchor, moved, pull]])
    end, target, weight = edges[:, np.argsort(edges[0], kind="stable")]
    offsets = np.append(0, np.cumsum(np.bincount(end, minlength=len(sizes))))
    width = pymetis.zero_copy_dtype()
    fraction = (share + (len(sizes) > tasks) * ANCHOR * tasks) / int(sizes.sum())
    found = pymetis.part_graph(
        2,
        pymetis.CSRAdjacency(offsets.astype(width), target.astype(width)),
        vweights=sizes.astype(width),
        eweights=weight.astype(width),
        tpwgts=[fraction, 1 - fraction],
        recursive=True,
        options=pymetis.Options(seed=seed % 2**31, ufactor=1),
    )
    side = np.asarray(found.vertex_part)
    return np.asarray(side[:tasks] == (side[tasks] if len(side) > tasks else 0))


def _exactly(part: Part, first: Bools, share: int) -> Bools:
    """Move the tasks that it costs least to move until the first half has its size."""
    first, excess = first.copy(), int(first.sum()) - share
    begins = np.searchsorted(part.source, np.arange(len(first) + 1))
    cut = np.where(first[part.source] != first[part.others], part.weights, -part.weights)
    gain = np.bincount(part.source, cut, len(first)) + np.where(first, -part.drawn, part.drawn)
    for _ in range(abs(excess)):
        movable = first if excess > 0 else ~first
        task = int(np.argmax(np.where(movable, gain, -np.inf)))
        near = slice(begins[task], begins[task + 1])
        same = first[part.others[near]] == first[task]
        gain[part.others[near]] += np.where(same, 2, -2) * part.weights[near]
        gain[task] = -gain[task]
        first[task] = not first[task]
    return first


CENTRES = 64
"""Nodes around which a part is tried."""


SAME_ROUTER = 16
"""Weight of two hosts of one router where networks are halved. A channel between routers has 1."""


class Ground(NamedTuple):
    """The network in which hosts lie: whatever is broken, distances change little."""

    network: Topology  # without faults
    # float64[rows, rows] hops; empty if routers form a k-ary n-cube, where they are counted.
    table: Floats
    row: Ints  # int64[num_hosts], the row of each host, -1 where it has none
    router: Ints  # int64[num_hosts], the router of each host's first port
    # int64[num_hosts], an order of hosts in which those close together are near each other. Empty
    # if their routers are joined without others between.
    order: Ints


def ground_of(topology: Topology, nodes: Ints | None = None) -> Ground:
    """Return the network in which nodes lie: these, or all of them."""
    whole = topology.whole
    hosts = np.arange(whole.num_hosts) if nodes is None else distinct(nodes)
    router = whole.injection_router[np.minimum(whole.port_offsets[:-1], whole.num_ports - 1)]
    row, order, table = np.full(whole.num_hosts, -1), np.zeros(0, np.int64), np.zeros((0, 0))
    if not isinstance(whole.routers, Cube):
        from scipy.cluster.hierarchy import leaves_list, linkage
        from scipy.sparse.csgraph import connected_components
        from scipy.spatial.distance import squareform

        found = hops(whole, hosts, hosts)
        table, row[hosts] = np.where(np.isinf(found), whole.num_hosts, found), np.arange(len(hosts))
        if connected_components(table <= 1)[0] > 1:
            order = np.zeros(whole.num_hosts, np.int64)
            order[hosts] = np.arange(len(hosts))
            if len(hosts) > 2:  # as leaves of a dendrogram: pods and groups stay together
                line = leaves_list(linkage(squareform(table, checks=False), "average"))
                order[hosts] = np.argsort(line, kind="stable")
    return Ground(whole, table, row, router.astype(np.int64), order)


def apart(ground: Ground, sources: Ints, targets: Ints) -> Floats:
    """Return how far each source is from each target, float64[sources, targets], in hops."""
    if len(ground.table):
        return np.asarray(ground.table[np.ix_(ground.row[sources], ground.row[targets])])
    frame, router = ground.network.routers, ground.router
    return hop_distances(frame, router[sources])[:, router[targets]]


def compact_nodes(topology: Topology, ground: Ground, allowed: Ints, number: int) -> Ints:
    """Return so many of the allowed nodes, as close together as can be had.

    They are those nearest to some point: blocks on meshes, subcubes of hypercubes. Of such sets,
    that with the most channels between its routers if these form a k-ary n-cube. In other networks
    that with the fewest hops between its nodes.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> compact_nodes(mesh(4, 4), ground_of(mesh(4, 4)), np.arange(16), 4)
    array([0, 1, 4, 5])
    """
    if number == len(allowed):
        return allowed
    best, most = allowed[:number], -np.inf
    for nearest in _orders(ground, allowed):
        part = np.sort(allowed[nearest[:number]])
        if len(ground.table):
            inside = -float(apart(ground, part, part).sum())
        else:
            chosen = np.zeros(topology.num_routers, np.bool_)
            chosen[ground.router[part]] = True
            source, target = topology.routers.channel_source, topology.routers.channel_target
            inside = float((chosen[source] & chosen[target]).sum())
        if inside > most:
            best, most = part, inside
    return best


def _orders(ground: Ground, allowed: Ints) -> Iterator[Ints]:
    """Yield the order of the allowed nodes by distance, from one point after the other."""
    every, frame = -(-len(allowed) // CENTRES), ground.network.routers
    at = ground.router[allowed]
    for centre in range(0, len(allowed), every):
        if not isinstance(frame, Cube):
            yield np.argsort(apart(ground, allowed[[centre]], allowed)[0], kind="stable")
            continue
        for between in (0.0, 0.5):  # a node, or the middle of a small cube of nodes
            away = np.zeros((len(frame.sides), len(allowed)))
            for axis, (side, stride) in enumerate(zip(frame.sides, frame.strides, strict=True)):
                along = np.abs(at // stride % side - at[centre] // stride % side - between)
                away[axis] = np.minimum(along, side - along) if frame.wraps[axis] else along
            yield np.lexsort((away.sum(axis=0), away.max(axis=0)))


def halves(ground: Ground, nodes: Ints, seed: int) -> tuple[Ints, Ints, Ints]:
    """Return two halves of some nodes with few channels between them, and the middles of both.

    K-ary n-cubes are halved across their longest side, with all their hosts. METIS halves other
    networks if the hosts' routers are joined without others between. Otherwise they are halved in
    an order that keeps leaves and pods together. The second half may be larger by one.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> halves(ground_of(mesh(2, 6)), np.arange(12), seed=1)
    (array([0, 6, 1, 7, 2, 8]), array([ 3,  9,  4, 10,  5, 11]), array([1, 4]))
    """
    half = len(nodes) // 2
    if len(nodes) <= 2:
        return nodes[:half], nodes[half:], nodes
    frame = ground.network.routers
    if isinstance(frame, Cube):
        along, extent = _coordinates(frame, ground.router[nodes])
        order = np.lexsort(along[np.argsort(extent, kind="stable")])
        centres = [
            part[np.argmin(np.abs(along[:, part] - along[:, part].mean(axis=1)[:, None]).sum(0))]
            for part in (order[:half], order[half:])
        ]
        return nodes[order[:half]], nodes[order[half:]], nodes[centres]
    if len(ground.order):
        line = nodes[np.argsort(ground.order[nodes], kind="stable")]
        parts = line[:half], line[half:]
    else:
        table = apart(ground, nodes, nodes)
        np.fill_diagonal(table, np.inf)
        source, target = np.nonzero(table <= 1)
        weight = np.where(table[source, target] < 1, SAME_ROUTER, 1)
        first = bisect(Part(source, target, weight, np.zeros(len(nodes))), half, seed)
        parts = nodes[first], nodes[~first]
    middles = [part[np.argmin(apart(ground, part, part).sum(axis=1))] for part in parts]
    return *parts, np.array(middles)  # those with the fewest hops to all others


def _coordinates(frame: Cube, nodes: Ints) -> tuple[Ints, Floats]:
    """Return nodes' coordinates, counted from behind the widest gap, and how far they extend.

    A ring that is full counts half: to halve it, it must be cut twice.
    """
    along = np.array(np.unravel_index(nodes, frame.sides), np.int64)
    extent = np.zeros(len(frame.sides))
    for axis, (side, wraps) in enumerate(zip(frame.sides, frame.wraps, strict=True)):
        values = np.flatnonzero(np.bincount(along[axis]))
        if wraps:
            gap = np.diff(values, append=values[0] + side)
            first = values[(int(np.argmax(gap)) + 1) % len(values)]
            along[axis] = (along[axis] - first) % side
            extent[axis] = side / 2 if gap.max() == 1 else side - gap.max() + 1
        else:
            extent[axis] = values[-1] - values[0] + 1
    return along, extent


SWEEPS = 4
MOST_SWEPT = 4096
"""Times that all parts are cut anew, to fit the others, of programs of at most so many tasks.
Larger ones are cut once more."""


def partitioned(
    app: ProcessGraph,
    topology: Topology,
    *,
    nodes: ArrayLike | None = None,
    tasks_per_node: int = 1,
    weights: Floats | None = None,
    seed: int = DEFAULT_SEED,
) -> Ints:
    """Return the mapping by dual recursive bisection (Pellegrini & Roman 1996).

    The network is halved where it is cheapest to cut, and METIS halves the program so that little
    is sent between its halves. Each half of the program goes to a half of the network, and so on
    recursively. Tasks of a part are drawn to the half that is nearer to their partners outside of
    it. If there are fewer tasks than places, the smallest sufficient set of nodes is used, close
    together.

    The mapping is int32[num_tasks]. ``nodes`` have a place for each task, and are all that work
    by default. ``weights`` (float64[num_edges]) are the bytes by default.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.workload import process_graph
    >>> line = process_graph(4, [0, 2, 3], [2, 3, 1])
    >>> partitioned(line, mesh(4)).tolist() in ([0, 3, 1, 2], [3, 0, 2, 1])
    True
    """
    allowed = working_nodes(topology) if nodes is None else distinct(nodes)
    assert app.num_tasks <= len(allowed) * tasks_per_node, "a place for each task"
    joint = joint_weights(app, weights)
    offsets, others = joint.indptr.astype(np.int64), joint.indices.astype(np.int64)
    scaled = joint.data / joint.data.sum() * LARGEST_SUM  # in this order, the tiniest survive
    program = offsets, others, np.maximum(1, np.rint(scaled)).astype(np.int64)
    ground = ground_of(topology, allowed)
    used = compact_nodes(topology, ground, allowed, -(-app.num_tasks // tasks_per_node))
    node_of = np.full(app.num_tasks, used[0], np.int32)  # in the end; the middle of a part so far
    local = np.full(app.num_tasks, -1, np.int64)
    level = [(np.arange(app.num_tasks), used)]
    while len(level[-1][1]) > 1:  # the largest part: second halves are never smaller
        cuts = [_halved(ground, *both, tasks_per_node, seed) for both in level]
        firsts = _choose(program, cuts, node_of, local, ground, seed)
        level = [
            half
            for cut, first in zip(cuts, firsts, strict=True)
            for half in ((cut.tasks[first], cut.near), (cut.tasks[~first], cut.far))
            if len(half[1])
        ]
    return node_of


class Cut(NamedTuple):
    """Some tasks, the halves of the nodes they go to, and how many go to the first."""

    # tasks, near, far: the tasks, and the nodes of both halves; ``near`` is empty for a single
    # node.
    tasks: Ints
    near: Ints
    far: Ints
    middles: Ints  # a node in the middle of each half
    share: int  # tasks that go to ``near``


def _halved(ground: Ground, tasks: Ints, region: Ints, tasks_per_node: int, seed: int) -> Cut:
    """Return where some nodes are halved, and how many of their tasks go to each half."""
    near, far, middles = halves(ground, region, seed)
    share = round(len(tasks) * len(near) / len(region))
    least = max(0, len(tasks) - tasks_per_node * len(far))
    return Cut(tasks, near, far, middles, min(max(share, least), tasks_per_node * len(near)))


def _choose(
    program: Program, cuts: list[Cut], node_of: Ints, local: Ints, ground: Ground, seed: int
) -> list[Bools]:
    """Return which tasks of each cut go to its first half, and move them to the halves' middles.

    Those cut first do not know yet what others do: so all are cut again, if that is better.
    """
    firsts = [np.zeros(len(cut.tasks), np.bool_) for cut in cuts]
    for sweep in range(1 + (SWEEPS if len(node_of) <= MOST_SWEPT else 1)):
        changed = False
        for number, cut in enumerate(cuts):
            if not len(cut.near):
                continue
            part = _part(program, cut.tasks, local, node_of, ground, cut.middles)
            first = bisect(part, cut.share, seed + sweep)
            if sweep == 0 or gain(part, first) > gain(part, firsts[number]):
                firsts[number], changed = first, True
                node_of[cut.tasks] = np.where(first, *cut.middles)
        if not changed:
            break
    return firsts


def _part(
    program: Program, tasks: Ints, local: Ints, node_of: Ints, ground: Ground, middles: Ints
) -> Part:
    """Return the part of the program that some tasks are. ``local`` is working space, all -1."""
    offsets, others, weights = program
    counts = offsets[tasks + 1] - offsets[tasks]
    ends = np.cumsum(counts)
    at = np.arange(int(counts.sum())) + np.repeat(offsets[tasks] - ends + counts, counts)
    source, other, weight = np.repeat(np.arange(len(tasks)), counts), others[at], weights[at]
    local[tasks] = np.arange(len(tasks))
    target = local[other]
    local[tasks] = -1
    outside, pull = target < 0, np.zeros(0)
    if outside.any():
        away = apart(ground, middles, node_of[other[outside]])
        between = apart(ground, middles[:1], middles[1:])[0, 0]
        pull = (away[1] - away[0]) / max(between, 1) * weight[outside]  # 0 on one router
    drawn = np.bincount(source[outside], pull, len(tasks)).astype(np.float64)
    inside = ~outside
    return Part(source[inside], target[inside], weight[inside], drawn)


MOST_GAPS = 3
"""Heavy parts of a program that are tried after the whole, ..."""

LEAST_GAP = 1.5
"""... each of them this many times heavier than all the rest, edge by edge, ..."""

LEAST_SHARE = 0.5
"""... and with this share of the weight."""

STEPS_A_TASK = 10_000
MOST_STEPS = 3_000_000
"""Steps after which a search gives up: so many for each task, and no more in all."""

FEW_BESIDE = 12
"""Neighbours of a node up to which there are so many steps. With more, steps take longer."""

FIRST_STEPS = 50
"""Steps for each task in the first attempts. Twice as many after every ``ATTEMPTS``."""

ATTEMPTS = 16

MOST_ROOTS = 64
"""Nodes that are tried for a task that talks to none of those placed before it."""

MOST_COMPARED = 2048
"""Tasks and nodes up to which it is compared how many others are within some hops of each, ..."""

RADIUS = 32
"""... up to so many."""


def near_hosts(topology: Topology, hosts: Ints, few: int = 0) -> Any:
    """Return which of some hosts are near each of them: itself, and those at most a channel away.

    Around a host that has not ``few`` others so near, as many more channels away as it takes, as
    far as they lead. A sparse bool[len(hosts), len(hosts)], columns sorted, of the way from a row's
    host to a column's.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> near_hosts(mesh(4), np.arange(4)).indices.tolist()
    [0, 1, 0, 1, 2, 1, 2, 3, 2, 3]
    >>> near_hosts(mesh(4), np.arange(4), few=2)[[0]].indices.tolist()
    [0, 1, 2]
    """
    from scipy.sparse import csr_array, vstack

    def joined(ends: tuple[Ints, Ints], rows: int, columns: int) -> Any:
        return csr_array((np.ones(len(ends[0]), np.bool_), ends), shape=(rows, columns))

    routers, size, every = topology.routers, topology.num_routers, np.arange(topology.num_hosts)
    hung = topology.num_hosts, size
    reached = joined((topology.port_host, topology.injection_router), *hung)[hosts]
    leaves = joined((topology.port_host, topology.ejection_router), *hung)[hosts].T
    group = np.unique(topology.local_group, return_inverse=True)[1]
    inside = joined((every, group), len(every), len(every))[hosts]
    inside = inside @ inside.T
    step = joined((routers.channel_source, routers.channel_target), size, size)
    left, rows, near = np.arange(len(hosts)), [], []
    while len(left):
        before, reached = reached.nnz, reached + reached @ step
        found = (reached @ leaves + inside[left]).tocsr()
        enough = (np.diff(found.indptr) > few) | (reached.nnz == before)
        rows.append(left[enough])
        near.append(found[enough])
        left, reached = left[~enough], reached[~enough]
    found = vstack(near, "csr")[np.argsort(np.concatenate(rows))]
    found.sort_indices()
    return found


def embed(
    app: ProcessGraph,
    topology: Topology,
    *,
    nodes: ArrayLike | None = None,
    weights: Floats | None = None,
    seed: int = DEFAULT_SEED,
) -> Ints | None:
    """Return a mapping under which each edge, or each heavy one, is at most one channel long.

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
    allowed = working_nodes(topology) if nodes is None else distinct(nodes)
    if app.num_tasks > len(allowed):
        return None
    joint, rng = joint_weights(app, weights), np.random.default_rng(seed)
    near = near_hosts(topology, allowed)
    both = near.multiply(near.T).tocsr()
    both.setdiag(0)
    both.eliminate_zeros()
    host = both.indptr.astype(np.int64), both.indices.astype(np.int64)
    for least in _thresholds(joint):
        talking, heavy = _heavy_part(joint, least)
        found = _search(heavy, host, rng)
        if found is not None:
            node_of = np.full(app.num_tasks, -1, np.int32)
            node_of[talking] = allowed[found]
            _seat_others(node_of, joint, topology, allowed)
            return node_of
    return None


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
    from netloom.mapping.kernels.embedding import search

    degree, free_near = np.diff(guest[0]), np.diff(host[0])
    tasks, number, most = len(degree), len(free_near), int(degree.max())
    # Which kinds of tasks fit onto which kinds of nodes, and the kind of each. An embedding brings
    # nothing further apart: a node has as many others within any distance as its task, or more.
    radius = RADIUS if max(len(guest[0]), len(host[0])) <= MOST_COMPARED else 1
    of_tasks, task_kind = np.unique(_within(guest, radius), axis=0, return_inverse=True)
    of_nodes, node_kind = np.unique(_within(host, radius), axis=0, return_inverse=True)
    possible = np.array([(of_nodes >= each).all(axis=1) for each in of_tasks])
    kinds = possible, task_kind.astype(np.int64), node_kind.astype(np.int64)
    choice = possible.sum(axis=1)[task_kind]
    if not choice.all():
        return None
    deepest = MOST_ROOTS + tasks * max(MOST_ROOTS, int(free_near.max()))
    space = np.zeros(deepest, np.int64), np.zeros(deepest), np.zeros(tasks + 1, np.int64)
    limits = number - tasks, int(degree.min())
    beside = max(1.0, len(host[1]) / number / FEW_BESIDE)
    left, attempt = int(min(MOST_STEPS, STEPS_A_TASK * tasks) / beside), 0
    while left > 0:
        central, narrow = attempt % 4 < 2, attempt % 2 == 0
        deep = most <= 2 or attempt % 8 >= 4
        root = int(np.argmin(choice)) if central else int(rng.integers(tasks))
        order = place_order(guest, root, rng.permutation(tasks), deep=deep)
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


def place_order(guest: Neighbours, root: int, first: Ints, *, deep: bool) -> Ints:
    """Return the order in which tasks are placed: each next one has the most placed neighbours.

    Of such, that with the most neighbours. Of these the one found first (or last, if ``deep``, so
    that the order follows a chain). It begins with ``root``, and ``first`` says which of the other
    tasks come before others where nothing else does.

    Examples
    --------
    >>> star = np.array([0, 3, 4, 5, 6]), np.array([1, 2, 3, 0, 0, 0])
    >>> place_order(star, 2, np.array([3, 1, 0, 2]), deep=False)
    array([2, 0, 1, 3])
    """
    offsets, near = (each.tolist() for each in guest)
    degree, turn = np.diff(guest[0]).tolist(), count(0, -1 if deep else 1)
    waiting = [(0, -degree[task], next(turn), task) for task in first.tolist()]
    heapify(waiting)
    beside, order, task = [0] * len(degree), list[int](), root  # placed neighbours, or -1 if placed
    while True:
        order.append(task)
        beside[task] = -1
        if len(order) == len(degree):
            return np.array(order, np.int64)
        for other in near[offsets[task] : offsets[task + 1]]:
            if beside[other] >= 0:
                beside[other] += 1
                heappush(waiting, (-beside[other], -degree[other], next(turn), other))
        task, fewer = -1, 0
        while task < 0 or beside[task] != -fewer:  # what it was before it had more
            fewer, _, _, task = heappop(waiting)


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


def _seat_others(node_of: Ints, joint: JointWeights, topology: Topology, allowed: Ints) -> None:
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


RANDOM_MAPPINGS = 25
"""Random mappings that a result is compared with."""


def starts_of(value_of: Measure, seed: int) -> Iterator[tuple[str, Ints]]:
    """Yield the names and mappings to start from: those that cost least to make first.

    ``identity``, ``partition`` (of program and network together), ``embedding`` (every edge, or
    every heavy one, at most one channel long), and layouts of programs with a recognized shape. An
    embedding or layout that does not exist is left out.
    """
    app, topology, nodes = value_of.app, value_of.topology, value_of.nodes
    each, weights = value_of.tasks_per_node, value_of.weights
    yield "identity", np.repeat(nodes, each)[: app.num_tasks].astype(np.int32)
    for name, layout in fitting_layouts(app, topology).items():
        if name != "identity" and np.isin(layout.node_of, nodes).all():
            yield name, layout.node_of
    if each == 1:
        found = embed(app, topology, nodes=nodes, weights=weights, seed=seed)
        if found is not None:
            yield "embedding", found
    found = partitioned(app, topology, nodes=nodes, tasks_per_node=each, weights=weights, seed=seed)
    yield "partition", found


def random_starts(num_tasks: int, nodes: Ints, tasks_per_node: int, seed: int) -> Iterator[Ints]:
    """Yield the random mappings that a result is compared with."""
    places = np.repeat(nodes, tasks_per_node).astype(np.int32)
    for number in range(RANDOM_MAPPINGS):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
        yield rng.permutation(places)[:num_tasks]
