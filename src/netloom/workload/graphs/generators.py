"""Process graphs by name: of well-known programs, and permutations.

Every edge carries one byte in one message. Edges are made in their final order, task by task. Tasks
of grids are numbered row-major.

Trees, grids, cubes, all-to-all and random graphs communicate in both directions of each edge, a
butterfly forward only. They are made from a table of neighbours: no Python loop visits edges, and
only the few neighbours of a task are sorted.

In a permutation every task sends to one other, and hears from one (Dally & Towles, table 3.1). A
task that it leaves where it is does not send.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import check_size, parse_sides, power_of_two, whole_number
from netloom.workload.graphs.process_graph import ProcessGraph, process_graph

# -- well-known programs ---------------------------------------------------------------------------


MOST_DIMENSIONS = 28
"""A hypercube of more dimensions has more tasks than ``spec.MAX_ELEMENTS``."""


def binary_tree(num_tasks: int) -> ProcessGraph:
    """Return the complete binary tree in heap order: task 0 is the root, i has 2i + 1 and 2i + 2.

    Parents and children send to each other: 2 (num_tasks − 1) directed edges (Chittor 1991,
    section 3.5.1).

    Raises
    ------
    InputError
        If there is no task, or there are too many.

    Examples
    --------
    >>> binary_tree(7)
    <binary-tree:7: 7 tasks, 12 directed edges, 12 bytes, 12 messages>
    """
    name = f"binary-tree:{num_tasks}"
    check_count(num_tasks, name)
    check_size(2 * (num_tasks - 1), where=name, what="edges")
    tasks = np.arange(num_tasks, dtype=np.int32)
    neighbours = np.stack([(tasks - 1) // 2, 2 * tasks + 1, 2 * tasks + 2], axis=1)
    neighbours[0, 0] = -1
    neighbours[neighbours >= num_tasks] = -1
    return _from_neighbours(name, num_tasks, neighbours)


def mesh(*sides: int) -> ProcessGraph:
    """Return the mesh of tasks: each talks to the next one, both ways, in every dimension.

    Tasks are numbered row-major. The last coordinate varies fastest.

    Raises
    ------
    InputError
        If a side is not positive, or there are too many tasks or edges.

    Examples
    --------
    >>> mesh(4, 4)
    <mesh:4x4: 16 tasks, 48 directed edges, 48 bytes, 48 messages>
    """
    return _grid(sides, closed=False, name="mesh:" + "x".join(map(str, sides)))


def torus(*sides: int) -> ProcessGraph:
    """Return the torus of tasks: a mesh whose first and last tasks in a dimension also talk.

    A side of two is one link, as in the networks of ``netloom.topology``.

    Raises
    ------
    InputError
        If a side is not positive, or there are too many tasks or edges.

    Examples
    --------
    >>> torus(4, 4, 2)
    <torus:4x4x2: 32 tasks, 160 directed edges, 160 bytes, 160 messages>
    """
    return _grid(sides, closed=True, name="torus:" + "x".join(map(str, sides)))


def line(num_tasks: int) -> ProcessGraph:
    """Return the line of tasks: i and i + 1 send to each other.

    Raises
    ------
    InputError
        If there is no task, or there are too many.

    Examples
    --------
    >>> line(3).target
    array([1, 0, 2, 1], dtype=int32)
    """
    return _grid((num_tasks,), closed=False, name=f"line:{num_tasks}")


def ring(num_tasks: int) -> ProcessGraph:
    """Return the ring of tasks: the line, whose first and last tasks also talk.

    Raises
    ------
    InputError
        If there is no task, or there are too many.

    Examples
    --------
    >>> ring(3).target
    array([1, 2, 0, 2, 0, 1], dtype=int32)
    """
    return _grid((num_tasks,), closed=True, name=f"ring:{num_tasks}")


def hypercube(dimension: int) -> ProcessGraph:
    """Return the hypercube of 2**dimension tasks, which talk where they differ in one bit.

    Raises
    ------
    InputError
        If the dimension is below 1, or there are too many edges.

    Examples
    --------
    >>> hypercube(3)
    <hypercube:3: 8 tasks, 24 directed edges, 24 bytes, 24 messages>
    """
    name = f"hypercube:{dimension}"
    whole_number(str(dimension), where=name, least=1)
    if dimension > MOST_DIMENSIONS:  # before 2**dimension is a number that nothing can hold
        raise InputError(name, f"{dimension} dimensions", f"at most {MOST_DIMENSIONS}")
    return _grid((2,) * dimension, closed=False, name=name)


def all_to_all(num_tasks: int) -> ProcessGraph:
    """Return the graph in which every task sends to every other.

    Raises
    ------
    InputError
        If there is no task, or there are too many edges.

    Examples
    --------
    >>> all_to_all(64).num_edges
    4032
    """
    name = f"all-to-all:{num_tasks}"
    check_count(num_tasks, name)
    check_size(num_tasks * (num_tasks - 1), where=name, what="edges")
    tasks = np.arange(num_tasks, dtype=np.int32)
    others = np.arange(num_tasks - 1, dtype=np.int32)
    target = others + (others >= tasks[:, np.newaxis])  # each row skips its own task
    return sorted_edges(name, num_tasks, np.repeat(tasks, num_tasks - 1), target.ravel())


def butterfly(rows: int) -> ProcessGraph:
    """Return the butterfly, the communication of a fast Fourier transform, forward only.

    Task ``level * rows + row`` sends to rows ``row`` and ``row ^ (1 << level)`` of level + 1.
    There are log2(rows) + 1 levels.

    Parameters
    ----------
    rows
        Tasks of one level, a power of two.

    Raises
    ------
    InputError
        If ``rows`` is not a power of two, or there are too many tasks.

    Examples
    --------
    >>> butterfly(8)
    <butterfly:8: 32 tasks, 48 directed edges, 48 bytes, 48 messages>
    """
    name = f"butterfly:{rows}"
    levels = power_of_two(str(rows), where=name)
    num_tasks = (levels + 1) * rows
    check_size(2 * num_tasks, where=name, what="edges")
    level, row = np.divmod(np.arange(levels * rows, dtype=np.int32), np.int32(rows))
    crossed = row ^ np.left_shift(np.int32(1), level)
    neighbours = np.stack([row, crossed], axis=1) + ((level + 1) * np.int32(rows))[:, np.newaxis]
    return _from_neighbours(name, num_tasks, neighbours)


def random_regular(num_tasks: int, degree: int, seed: int = 1) -> ProcessGraph:
    """Return a random graph in which every task talks, both ways, to ``degree`` others.

    Drawn by ``networkx.random_regular_graph`` (Steger and Wormald 1999), edge by edge: large
    graphs take their time.

    Parameters
    ----------
    num_tasks, degree
        Their product is even, and ``degree`` is below ``num_tasks``.
    seed
        The same seed draws the same graph.

    Raises
    ------
    InputError
        If there is no such graph, or it would be too large.

    Examples
    --------
    >>> random_regular(64, 4, seed=7)
    <random-regular:64,4,7: 64 tasks, 256 directed edges, 256 bytes, 256 messages>
    """
    import networkx as nx

    name = f"random-regular:{num_tasks},{degree},{seed}"
    check_count(num_tasks, name)
    whole_number(str(degree), where=name)
    whole_number(str(seed), where=name)
    check_size(num_tasks * degree, where=name, what="edges")
    if degree >= num_tasks or num_tasks * degree % 2:
        wanted = "a degree below the number of tasks, and an even product of the two"
        raise InputError(name, f"degree {degree} for {num_tasks} tasks", wanted)
    drawn = nx.random_regular_graph(degree, num_tasks, seed=seed)
    ends = np.array(list(drawn.edges), dtype=np.int32).reshape(-1, 2)
    both_ways = np.concatenate([ends, ends[:, ::-1]])
    return process_graph(num_tasks, both_ways[:, 0], both_ways[:, 1], name=name)


def sorted_edges(name: str, num_tasks: int, source: Ints, target: Ints) -> ProcessGraph:
    """Return edges that are already sorted and checked as a process graph, one byte on each.

    ``source``, ``target``: int32[num_edges], sorted by source, then target, none repeated, no
    self-edge.

    Examples
    --------
    >>> ends = np.array([0, 1], np.int32)
    >>> sorted_edges("there and back", 2, ends, ends[::-1])
    <there and back: 2 tasks, 2 directed edges, 2 bytes, 2 messages>
    """
    return ProcessGraph(name, num_tasks, source, target, np.ones(len(source)), np.ones(len(source)))


def check_count(num_tasks: int, name: str) -> None:
    """Refuse a number of tasks that no program has. ``name`` is its own.

    Raises
    ------
    InputError
        If there is no task, or there are too many.
    """
    whole_number(str(num_tasks), where=name, least=1)
    check_size(num_tasks, where=name, what="tasks")


def _grid(sides: tuple[int, ...], *, closed: bool, name: str) -> ProcessGraph:
    """Mesh or torus: one column of neighbours for each direction that a task can send in."""
    num_tasks = prod(parse_sides("x".join(map(str, sides)), where=name))
    long_sides = [side for side in sides if side > 1]
    links = sum(num_tasks - (0 if closed and k > 2 else num_tasks // k) for k in long_sides)
    check_size(2 * links, where=name, what="edges")
    tasks = np.arange(num_tasks, dtype=np.int32).reshape(long_sides)
    moves = [
        (axis, step)
        for axis, side in enumerate(long_sides)
        for step in ((1,) if side == 2 else (1, -1))  # both ways lead to the one other task
    ]
    neighbours = np.empty((num_tasks, len(moves)), np.int32)
    for column, (axis, step) in enumerate(moves):
        moved = np.roll(tasks, -step, axis)
        if not closed and long_sides[axis] > 2:
            np.moveaxis(moved, axis, 0)[-1 if step == 1 else 0] = -1
        neighbours[:, column] = moved.ravel()
    return _from_neighbours(name, num_tasks, neighbours)


def _from_neighbours(name: str, num_tasks: int, neighbours: Ints) -> ProcessGraph:
    """Edges from row i of int32[tasks that send, columns] to its entries; −1 stands for none.

    The table is sorted in place, row by row, which puts the edges in their final order.
    """
    neighbours.sort(axis=1)
    present = neighbours >= 0
    senders = np.arange(len(neighbours), dtype=np.int32)
    source = np.repeat(senders, np.count_nonzero(present, axis=1))
    return sorted_edges(name, num_tasks, source, neighbours[present])


# -- permutations ----------------------------------------------------------------------------------


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


# -- by name ---------------------------------------------------------------------------------------


def _named(*makers: Callable[..., ProcessGraph]) -> dict[str, Callable[..., ProcessGraph]]:
    return {make.__name__.replace("_", "-"): make for make in makers}


BY_COUNT = _named(
    *(binary_tree, line, ring, hypercube, all_to_all, butterfly),
    *(transpose, bit_complement, bit_reverse, shuffle),
)
"""Graphs of one number, of tasks in most cases."""

BY_SIDES = _named(mesh, torus, tornado, neighbour)
"""Graphs whose tasks are a grid."""

PERMUTATIONS = ("transpose", "bit-complement", "bit-reverse", "shuffle", "tornado", "neighbour")
"""Those of them that are permutations of all tasks."""
