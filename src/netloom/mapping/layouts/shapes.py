"""What a program is, told by its edges: a tree, a mesh or torus, a hypercube.

A file whose edges are those of a pattern is laid out as the pattern is. Weights do not count.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.workload.graphs import generators

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.workload import ProcessGraph


@dataclass(frozen=True)
class TaskGrid:
    """A mesh or torus of tasks, numbered row-major."""

    sides: tuple[int, ...]  # tasks in each dimension, each at least 2, the slowest varying first
    closed: bool  # whether sides of more than 2 close into rings

    def is_ring(self, axis: int) -> bool:
        """Whether the first and last tasks of this dimension talk, without being neighbours."""
        return self.closed and self.sides[axis] > 2


def is_binary_tree(app: ProcessGraph) -> bool:
    """Whether these are the edges of ``binary-tree:N``: complete, in heap order, both ways.

    Examples
    --------
    >>> is_binary_tree(generators.binary_tree(12)), is_binary_tree(generators.line(12))
    (True, False)
    """
    if app.num_edges != 2 * (app.num_tasks - 1):
        return False
    return _same_edges(app, generators.binary_tree(app.num_tasks))


def grid_of(app: ProcessGraph) -> TaskGrid | None:
    """Return the mesh or torus whose edges these are, or None.

    The first task's neighbours give the sides away. The other edges then have to agree.

    Examples
    --------
    >>> grid_of(generators.torus(4, 8))
    TaskGrid(sides=(4, 8), closed=True)
    >>> grid_of(generators.binary_tree(7)) is None
    True
    """
    first = app.target[: int(np.searchsorted(app.source, 1))].tolist()
    for grid in _read_sides(first, app.num_tasks):
        make = generators.torus if grid.closed else generators.mesh
        if app.num_edges == _num_edges(grid) and _same_edges(app, make(*grid.sides)):
            return grid
    return None


def hypercube_dimension(app: ProcessGraph) -> int:
    """Return n if these are the edges of ``hypercube:n``, else 0.

    Examples
    --------
    >>> hypercube_dimension(generators.hypercube(3)), hypercube_dimension(generators.ring(8))
    (3, 0)
    """
    grid = grid_of(app)
    return len(grid.sides) if grid is not None and set(grid.sides) == {2} else 0


def _read_sides(first: list[int], num_tasks: int) -> Iterator[TaskGrid]:
    """Yield the grids in which task 0 has these neighbours.

    From the fastest dimension on: a dimension of stride s adds the neighbour s, and a ring of k
    the neighbour (k − 1)s too. S times the side is the next stride.
    """
    seeds: list[tuple[tuple[int, ...], int, int, bool]] = [((), 1, 0, False)]
    while seeds:
        sides, stride, used, closed = seeds.pop()
        if used == len(first):
            if stride == num_tasks and sides:
                yield TaskGrid(sides, closed)
            continue
        if first[used] != stride:
            continue
        nexts = [(first[used + 1] if used + 1 < len(first) else num_tasks, used + 1, closed)]
        if used + 1 < len(first):
            nexts.append((stride + first[used + 1], used + 2, True))
        seeds += [
            ((following // stride, *sides), following, after, ring)
            for following, after, ring in nexts
            if following % stride == 0
        ]


def _num_edges(grid: TaskGrid) -> int:
    num_tasks = int(np.prod(grid.sides))
    links = (
        num_tasks - (0 if grid.is_ring(axis) else num_tasks // side)
        for axis, side in enumerate(grid.sides)
    )
    return 2 * sum(links)


def _same_edges(app: ProcessGraph, pattern: ProcessGraph) -> bool:
    return np.array_equal(app.source, pattern.source) and np.array_equal(app.target, pattern.target)
