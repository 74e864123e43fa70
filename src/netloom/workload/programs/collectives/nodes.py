"""Collectives in a hierarchy: inside nodes, and on rails, which join ranks of the same place.

Rank n·g + l is rank l of node n: its rail is l, and g ranks are on each of N nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.workload.programs.collectives.blocks import partners, ring_lane
from netloom.workload.programs.collectives.outline import Blocks, Steps, always, backwards, steps
from netloom.workload.programs.collectives.rooted import binomial, linear_scatter

if TYPE_CHECKING:
    from netloom.base.arrays import Ints


def all_gather(nodes: int, ranks_per_node: int, direction: int = 1) -> Blocks:
    """Return rings on rails, then rings inside nodes with all blocks of each rail."""
    return Blocks(1, ring_lane([nodes, ranks_per_node], [0, 1], direction))


def broadcast(nodes: int, ranks_per_node: int) -> list[Steps]:
    """Return a broadcast of g chunks from rank 0.

    Rank l of its node gets chunk l, which goes along its rail (binomial), and then round each node.
    """
    return [
        *linear_scatter(ranks_per_node),
        *_rails(nodes, ranks_per_node),
        *_inside(nodes, ranks_per_node, 1),
    ]


def reduce(nodes: int, ranks_per_node: int) -> list[Steps]:
    """Return the reduction of g chunks to rank 0: a broadcast backwards."""
    return [
        *backwards(_inside(nodes, ranks_per_node, -1)),
        *backwards(_rails(nodes, ranks_per_node)),
        *backwards(linear_scatter(ranks_per_node), sums=False),
    ]


def _rails(nodes: int, ranks_per_node: int) -> list[Steps]:
    """Return a binomial broadcast of chunk l on each rail l."""
    rail = np.arange(ranks_per_node)
    found = list[Steps]()
    for each in binomial(nodes):
        chunk = np.tile(rail, len(each.source))[:, None]
        source, target = (end[:, None] * ranks_per_node + rail for end in each[:2])
        found += steps(source.ravel(), target.ravel(), always(chunk))
    return found


def _inside(nodes: int, ranks_per_node: int, direction: int) -> list[Steps]:
    """Return rings inside all nodes, with one chunk of each rank."""
    ranks = np.arange(nodes * ranks_per_node)
    place = ranks % ranks_per_node
    target = ranks - place + (place + direction) % ranks_per_node

    def chunk(step: int) -> Ints:
        return (place[:, None] - direction * step) % ranks_per_node

    return steps(ranks, target, chunk, count=ranks_per_node - 1)


def all_to_all(nodes: int, ranks_per_node: int) -> list[Steps]:
    """Return an all-to-all: on rails to the target's node, then inside it. Both are pairwise.

    Chunk s·P + t is what s has for t.
    """
    size = nodes * ranks_per_node
    ranks = np.arange(size)
    node, place = np.divmod(ranks, ranks_per_node)
    found = list[Steps]()
    for number in range(1, nodes):
        there = partners(nodes, number)[node]
        target = there * ranks_per_node + place
        chunks = ranks[:, None] * size + there[:, None] * ranks_per_node + np.arange(ranks_per_node)
        found += steps(ranks, target, always(chunks), width=ranks_per_node)
    for number in range(1, ranks_per_node):
        target = node * ranks_per_node + partners(ranks_per_node, number)[place]
        source = np.arange(nodes) * ranks_per_node + place[:, None]
        chunks = source * size + target[:, None]
        found += steps(ranks, target, always(chunks), width=nodes)
    return found
