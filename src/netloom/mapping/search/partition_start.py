"""Mappings by recursive bisection of network and program together."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from netloom.base.provenance import DEFAULT_SEED
from netloom.mapping.search.bisection import Part, bisect, gain, whole_weights
from netloom.mapping.search.compact import Ground, apart, compact_nodes, ground_of, halves
from netloom.mapping.search.pairs import joint_weights
from netloom.topology import Topology, working_nodes

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.workload import ProcessGraph

    Program: TypeAlias = tuple[Ints, Ints, Ints]


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
    allowed = working_nodes(topology) if nodes is None else np.unique(nodes)
    assert app.num_tasks <= len(allowed) * tasks_per_node, "a place for each task"
    joint = joint_weights(app, weights)
    offsets, others = joint.indptr.astype(np.int64), joint.indices.astype(np.int64)
    program = offsets, others, whole_weights(joint.data)
    ground = ground_of(topology, allowed)
    used = compact_nodes(topology, ground, allowed, -(-app.num_tasks // tasks_per_node))
    node_of = np.full(app.num_tasks, used[0], np.int32)  # in the end; the middle of a part so far
    local = np.full(app.num_tasks, -1, np.int64)
    level = [(np.arange(app.num_tasks), used)]
    while len(level[-1][1]) > 1:  # the largest part: second halves are never smaller
        cuts = [_cut(ground, *both, tasks_per_node, seed) for both in level]
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


def _cut(
    ground: Ground,
    tasks: Ints,
    region: Ints,
    tasks_per_node: int,
    seed: int,
) -> Cut:
    """Return where some nodes are halved, and how many of their tasks go to each half."""
    near, far, middles = halves(ground, region, seed)
    share = round(len(tasks) * len(near) / len(region))
    least = max(0, len(tasks) - tasks_per_node * len(far))
    return Cut(tasks, near, far, middles, min(max(share, least), tasks_per_node * len(near)))


def _choose(
    program: Program,
    cuts: list[Cut],
    node_of: Ints,
    local: Ints,
    ground: Ground,
    seed: int,
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
    program: Program,
    tasks: Ints,
    local: Ints,
    node_of: Ints,
    ground: Ground,
    middles: Ints,
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
    counts = np.bincount(source[inside], minlength=len(tasks))
    return Part(np.append(0, np.cumsum(counts)), target[inside], weight[inside], drawn)
