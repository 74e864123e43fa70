"""Permutations: every task sends to one other, and hears from one (Dally & Towles, table 3.1).

Each is one byte in one message from every task, in one direction. A task that the permutation
leaves where it is does not send. Tasks of grids are numbered row-major.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import check_size, parse_sides, power_of_two, whole_number
from netloom.workload.graphs.generators import check_count, sorted_edges

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Ints
    from netloom.workload.graphs.process_graph import ProcessGraph


def transpose(side: int) -> ProcessGraph:
    """Return the transpose of a matrix with one element a task: (i, j) sends to (j, i).

    Raises
    ------
    InputError
        If ``side`` is below 1, or there are too many tasks.

    Examples
    --------
    >>> transpose(12)
    <transpose:12: 144 tasks, 132 directed edges, 132 bytes, 132 messages>
    """
    name = f"transpose:{side}"
    whole_number(str(side), where=name, least=1)
    check_size(side * side, where=name, what="tasks")
    tasks = np.arange(side * side, dtype=np.int32).reshape(side, side)
    return _permutation(name, tasks.T.ravel())


def bit_complement(num_tasks: int) -> ProcessGraph:
    """Return the permutation that turns over every bit of the task's number.

    Raises
    ------
    InputError
        If ``num_tasks`` is not a power of two, or too large.

    Examples
    --------
    >>> bit_complement(4).target
    array([3, 2, 1, 0], dtype=int32)
    """
    name = f"bit-complement:{num_tasks}"
    power_of_two(str(num_tasks), where=name)
    return _permutation(name, np.arange(num_tasks, dtype=np.int32)[::-1].copy())


def bit_reverse(num_tasks: int) -> ProcessGraph:
    """Return the permutation that reads the bits of the task's number backwards.

    Raises
    ------
    InputError
        If ``num_tasks`` is not a power of two, or too large.

    Examples
    --------
    >>> edges = bit_reverse(8)
    >>> edges.source, edges.target
    (array([1, 3, 4, 6], dtype=int32), array([4, 6, 1, 3], dtype=int32))
    """
    name = f"bit-reverse:{num_tasks}"
    num_bits = power_of_two(str(num_tasks), where=name)
    tasks = np.arange(num_tasks, dtype=np.int32)
    reversed_bits = np.zeros_like(tasks)
    for bit in range(num_bits):
        reversed_bits |= (tasks >> bit & 1) << (num_bits - 1 - bit)
    return _permutation(name, reversed_bits)


def shuffle(num_tasks: int) -> ProcessGraph:
    """Return the perfect shuffle, which rotates the bits of the task's number left by one.

    Raises
    ------
    InputError
        If ``num_tasks`` is not a power of two, or too large.

    Examples
    --------
    >>> edges = shuffle(8)
    >>> edges.source, edges.target
    (array([1, 2, 3, 4, 5, 6], dtype=int32), array([2, 4, 6, 1, 3, 5], dtype=int32))
    """
    name = f"shuffle:{num_tasks}"
    power_of_two(str(num_tasks), where=name)
    doubled = 2 * np.arange(num_tasks, dtype=np.int32)
    return _permutation(name, doubled % num_tasks + (doubled >= num_tasks))


def tornado(*sides: int) -> ProcessGraph:
    """Return the permutation that goes nearly half way round every dimension.

    Each coordinate moves ceil(k / 2) − 1 forward, modulo its side k: just under half
    way, so that on a torus all shortest paths go the same way round.

    Raises
    ------
    InputError
        If a side is not positive, or there are too many tasks.

    Examples
    --------
    >>> tornado(8).target
    array([3, 4, 5, 6, 7, 0, 1, 2], dtype=int32)
    """
    name = "tornado:" + "x".join(map(str, sides))
    return _shifted(name, sides, [(side + 1) // 2 - 1 for side in sides])


def neighbour(*sides: int) -> ProcessGraph:
    """Return the permutation that moves every coordinate one forward, modulo its side.

    Raises
    ------
    InputError
        If a side is not positive, or there are too many tasks.

    Examples
    --------
    >>> neighbour(2, 3).target
    array([4, 5, 3, 1, 2, 0], dtype=int32)
    """
    return _shifted("neighbour:" + "x".join(map(str, sides)), sides, [1] * len(sides))


def shift(num_tasks: int, *distances: int) -> ProcessGraph:
    """Return the program in which task i sends to i + d, modulo their number, for each distance d.

    Raises
    ------
    InputError
        If there is no distance, or one is a multiple of the number of tasks, or the same as
        another.

    Examples
    --------
    >>> edges = shift(5, 1, 3)
    >>> edges.source, edges.target
    (array([0, 0, 1, 1, 2, 2, 3, 3, 4, 4], dtype=int32),
     array([1, 3, 2, 4, 0, 3, 1, 4, 0, 2], dtype=int32))
    """
    name = f"shift:{','.join(map(str, distances))}/{num_tasks}"
    whole_number(str(num_tasks), where=name, least=1)
    check_size(num_tasks * len(distances), where=name, what="edges")
    ahead = np.unique(np.array(distances, np.int64) % num_tasks)
    if not len(ahead) or ahead[0] == 0 or len(ahead) < len(distances):
        found = f"distances {', '.join(map(str, distances)) or 'none'} among {num_tasks} tasks"
        raise InputError(name, found, "different ones, none a multiple of the number of tasks")
    tasks = np.arange(num_tasks)
    target = np.sort((tasks[:, None] + ahead) % num_tasks, axis=1)
    source = np.repeat(tasks, len(ahead))
    return sorted_edges(name, num_tasks, source.astype(np.int32), target.ravel().astype(np.int32))


def random_permutation(num_tasks: int, seed: int = DEFAULT_SEED) -> ProcessGraph:
    """Return a uniformly random permutation. One seed gives one, here as everywhere.

    Raises
    ------
    InputError
        If there is no task, or there are too many.

    Examples
    --------
    >>> random_permutation(6, seed=3).target
    array([2, 5, 4, 1, 3, 0], dtype=int32)
    """
    name = f"random-permutation:{num_tasks},{seed}"
    check_count(num_tasks, name)
    drawn = np.random.default_rng(seed).permutation(num_tasks)
    return _permutation(name, drawn.astype(np.int32))


def _shifted(name: str, sides: Sequence[int], shifts: Sequence[int]) -> ProcessGraph:
    parse_sides("x".join(map(str, sides)), where=name)
    moving = [(side, shift) for side, shift in zip(sides, shifts, strict=True) if side > 1]
    grid = np.arange(prod(sides), dtype=np.int32).reshape([side for side, _ in moving])
    for axis, (_, shift) in enumerate(moving):
        grid = np.roll(grid, -shift, axis)
    return _permutation(name, grid.ravel())


def _permutation(name: str, target: Ints) -> ProcessGraph:
    """Edges i -> target[i], without the tasks that stay where they are."""
    tasks = np.arange(len(target), dtype=np.int32)
    moving = target != tasks
    return sorted_edges(name, len(target), tasks[moving], target[moving])
