"""Collectives of a root: trees, pipelined or not, and those that send up a tree and down again.

Steps are for a root 0. ``algorithms`` gives ranks other names. Sources: Thakur, Rabenseifner &
Gropp 2005, Sanders, Speck & Träff 2009 (two trees), and NCCL, ``src/graph/trees.cc`` (which two).
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from netloom.workload.programs.collectives.blocks import fold
from netloom.workload.programs.collectives.outline import (
    Steps,
    idle,
    merged,
    steps,
)
from netloom.workload.programs.many_lists import Lists
from netloom.workload.programs.rounds import ranges

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Ints


def star(num_ranks: int) -> Ints:
    """Return the parents of a tree in which all are children of rank 0. The root has none, −1."""
    return np.append(-1, np.zeros(num_ranks - 1, np.int64))


def chain(num_ranks: int) -> Ints:
    """Return the parents of a chain: the rank before."""
    return np.arange(num_ranks) - 1


def binary_tree(num_ranks: int) -> Ints:
    """Return the parents of a binary tree, level by level: r has 2r + 1 and 2r + 2."""
    return (np.arange(num_ranks) - 1) // 2


def nccl_tree(num_ranks: int) -> Ints:
    """Return the parents of the first of NCCL's two trees: r's lowest bit set, the next one added.

    If there is no such rank, the bit is only removed.
    """
    ranks = np.arange(num_ranks)
    bit = ranks & -ranks
    up = (ranks ^ bit) | (bit << 1)
    return np.where(ranks == 0, -1, np.where(up >= num_ranks, ranks ^ bit, up))


def nccl_trees(num_ranks: int) -> list[Ints]:
    """Return the parents of NCCL's two trees: a leaf of one is inside the other.

    The second is the first mirrored if the number is even, shifted by one if it is odd.

    Examples
    --------
    >>> [tree.tolist() for tree in nccl_trees(6)]
    [[-1, 2, 4, 2, 0, 4], [1, 5, 3, 1, 3, -1]]
    """
    first, ranks = nccl_tree(num_ranks), np.arange(num_ranks)
    if num_ranks % 2:
        other = first[(ranks - 1) % num_ranks]
        second = np.where(other < 0, -1, (other + 1) % num_ranks)
    else:
        other = first[::-1]
        second = np.where(other < 0, -1, num_ranks - 1 - other)
    return [first, second]


def on_nodes(tree: Ints, ranks_per_node: int) -> Ints:
    """Return the parents of a tree over nodes, the ranks of each a chain behind its first."""
    ranks = np.arange(len(tree) * ranks_per_node)
    up = tree[ranks // ranks_per_node]
    head = np.where(up < 0, -1, up * ranks_per_node)
    return np.where(ranks % ranks_per_node == 0, head, ranks - 1)


def below_root(trees: list[Ints]) -> list[Ints]:
    """Return trees over ranks 1 and up, whose roots are children of rank 0."""
    return [np.append(-1, tree + 1) for tree in trees]


def down(parents: list[Ints], chunks: int) -> list[Steps]:
    """Return the broadcast of a part of the vector down each tree, in ``chunks`` each, pipelined.

    A rank at depth d gets chunk k in step d − 1 + k. Tree t has chunks t·chunks and up.
    """
    lanes = []
    for number, tree in enumerate(parents):
        ranks = np.flatnonzero(tree >= 0)
        delay = depths(tree)[ranks] - 1
        lanes.append(_pipelined(tree[ranks], ranks, delay, number * chunks, chunks))
    return merged(lanes)


def up(parents: list[Ints], chunks: int) -> list[Steps]:
    """Return the reduction of a part of the vector up each tree. See ``down``."""
    lanes = []
    for number, tree in enumerate(parents):
        ranks, depth = np.flatnonzero(tree >= 0), depths(tree)
        delay = depth.max() - depth[ranks]
        lanes.append(_pipelined(ranks, tree[ranks], delay, number * chunks, chunks, sums=True))
    return merged(lanes)


def up_and_down(parents: list[Ints], chunks: int) -> list[Steps]:
    """Return the reduction up each tree, and the broadcast of each chunk once the root has it."""
    height = max(int(depths(tree).max()) for tree in parents)
    return merged([up(parents, chunks), [*idle(height), *down(parents, chunks)]])


def depths(parents: Ints) -> Ints:
    """Return how far from its root each rank is: int64[num_ranks]."""
    depth, above = (parents >= 0).astype(np.int64), parents
    while (above >= 0).any():  # depth: how far it is to the rank above, which doubles
        depth = depth + np.where(above < 0, 0, depth[above])
        above = np.where(above < 0, -1, above[above])
    return depth


def _pipelined(
    source: Ints,
    target: Ints,
    delay: Ints,
    first: int,
    chunks: int,
    *,
    sums: bool = False,
) -> list[Steps]:
    """Return steps in which each pair sends chunk after chunk, the first after its delay."""
    order = np.argsort(delay, kind="stable")
    source, target, delay = source[order], target[order], delay[order]
    changes = np.unique(np.concatenate([delay, delay + chunks]))
    found = list[Steps]()
    for begin, end in pairwise(changes.tolist()):
        active = slice(*np.searchsorted(delay, [begin - chunks, begin], side="right").tolist())
        at_first = first + begin - delay[active, None]
        found += steps(
            source[active], target[active], partial(np.add, at_first), sums=sums, count=end - begin
        )
    return found


def _same(first: int, messages: int) -> Callable[[int], Ints]:
    """Return the ``carried`` of steps in which all messages carry one chunk, the next per step."""
    return lambda number: np.full((messages, 1), first + number)


def binomial(num_ranks: int) -> list[Steps]:
    """Return a broadcast: in step s the ranks below 2^s send to r + 2^s."""
    found, distance = list[Steps](), 1
    while distance < num_ranks:
        ranks = np.arange(min(distance, num_ranks - distance))
        found += steps(ranks, ranks + distance, _same(0, len(ranks)))
        distance *= 2
    return found


def linear_scatter(num_ranks: int) -> list[Steps]:
    """Return a scatter: rank 0 sends all blocks at once."""
    others = np.arange(1, num_ranks)
    return steps(np.zeros_like(others), others, lambda _: others[:, None])


def binomial_scatter(num_ranks: int) -> list[Steps]:
    """Return a scatter: r sends to r + d the blocks from r + d on, d = 2^(n−1) … 1, up to d."""
    found = list[Steps]()
    for bit in reversed(range((num_ranks - 1).bit_length())):
        half = 2**bit
        source = np.arange(0, num_ranks - half, 2 * half)
        found += _blocks_from(source, source + half, np.minimum(num_ranks - source - half, half))
    return found


def _blocks_from(source: Ints, target: Ints, width: Ints) -> list[Steps]:
    """Return a step whose messages carry as many blocks, from the target's on."""
    offsets = np.append(0, np.cumsum(width, dtype=np.int64))
    blocks = Lists(offsets, ranges(target, width).astype(np.int32))
    return steps(source, target, lambda _: blocks, width=width)


def recursive_doubling(num_ranks: int) -> list[Steps]:
    """Return an all-reduce: in step s rank r exchanges its whole sum with r ⊕ 2^s.

    Other numbers than powers of 2 are folded: see ``blocks.folded``.
    """
    core = 2 ** (num_ranks.bit_length() - 1)
    member, more = fold(num_ranks, core)[0], num_ranks - core
    even, number = np.arange(0, 2 * more, 2), np.arange(core)
    found = steps(even, even + 1, _same(0, more), sums=True)
    for bit in range(core.bit_length() - 1):
        found += steps(member, member[number ^ 2**bit], _same(0, core), sums=True)
    return [*found, *steps(even + 1, even, _same(0, more))]
