"""What layouts are made of: their record, shapes of programs, lines and rings through boxes.

A program's shape is told by its edges: a file whose edges are those of a pattern is laid out as the
pattern is. Weights do not count.

A code is a line or ring through a box of any sides, as one array of coordinates a side. Along a
line code each point is a neighbour of the one before. Along a ring code the last is a neighbour of
the first too, wherever that can be.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.topology import Cube, Topology
from netloom.workload.graphs import generators

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Ints
    from netloom.routing import Paths
    from netloom.workload import ProcessGraph


@dataclass(frozen=True, eq=False)
class Layout:
    """A mapping that is built, not searched for, and what it promises.

    Attributes
    ----------
    name
        As in ``catalogue.layouts``.
    node_of
        int32[num_tasks], the node of each task, one task per node.
    chi_max
        No channel carries more paths, one path a directed edge of the process graph: on its own
        routes, or under dimension order, last dimension first, where it has none. None where it
        depends on the program, and no promise is made.
    routes
        The path of each edge of the process graph, in the graph's order. None where the layout
        counts on dimension order.
    source
        Who described it, and where.
    """

    name: str
    node_of: Ints
    chi_max: int | None
    routes: Paths | None
    source: str

    def __repr__(self) -> str:
        promise = "" if self.chi_max is None else f", χ_max {self.chi_max}"
        own = " on its own routes" if self.routes is not None else ""
        return f"<layout {self.name} of {len(self.node_of)} tasks{promise}{own}>"


def refusal(name: str, found: str, wanted: str) -> InputError:
    """Return the error that says why layout ``name`` does not fit, for the caller to raise.

    Examples
    --------
    >>> raise refusal("tiles", "mesh:4x4", "a binary tree")
    Traceback (most recent call last):
        ...
    netloom.InputError: layout 'tiles': found mesh:4x4; expected a binary tree
    """
    return InputError(f"layout '{name}'", found, wanted)


def cube_of_hosts(topology: Topology) -> tuple[Cube, Ints] | None:
    """Return the k-ary n-cube that routers form, and the host on each of them, int32[num_routers].

    None if they form none, a part of it is broken, or not each of them has one host.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> cube_of_hosts(topology("mesh:2x2/1"))
    (<mesh:2x2: 4 nodes, 8 directed channels>, array([0, 1, 2, 3], dtype=int32))
    >>> cube_of_hosts(topology("mesh:2x2/2")) is None
    True
    """
    cube, router = topology.routers, topology.injection_router
    one_each = topology.num_hosts == topology.num_ports == len(np.unique(router))
    if not isinstance(cube, Cube) or not one_each or topology.num_ports < topology.num_routers:
        return None
    if not np.array_equal(router, topology.ejection_router):
        return None
    host_on = np.empty(topology.num_routers, np.int32)
    host_on[router] = topology.port_host
    return cube, host_on


def require_cube(name: str, topology: Topology, dimensions: int | None = None) -> Cube:
    """Return the network if it is a whole mesh, torus or hypercube of that many dimensions.

    Raises
    ------
    InputError
        If it is not.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> require_cube("h-tree", mesh(4, 4), dimensions=2)
    <mesh:4x4: 16 nodes, 48 directed channels>
    """
    if dimensions is None:
        wanted = "a mesh, torus or hypercube, no part of it broken"
    else:
        wanted = f"a mesh or torus of {dimensions} dimensions, no part of it broken"
    if not isinstance(topology, Cube) and isinstance(topology.routers, Cube):
        wanted += ", with one host on each router"
    if not isinstance(topology, Cube) or dimensions not in (None, len(topology.sides)):
        raise refusal(name, f"the network {topology.name}", wanted)
    return topology


def nodes_at(sides: Sequence[int], places: Iterable[ArrayLike]) -> Ints:
    """Return the nodes with these coordinates, one array a dimension, as int32[num_places].

    Examples
    --------
    >>> nodes_at((4, 4), ([0, 1], [3, 2]))
    array([3, 6], dtype=int32)
    """
    columns = tuple(np.asarray(place, np.int64) for place in places)
    return np.ravel_multi_index(columns, tuple(sides)).astype(np.int32)


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
        if _same_edges(app, make(*grid.sides)):
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


def _same_edges(app: ProcessGraph, pattern: ProcessGraph) -> bool:
    return np.array_equal(app.source, pattern.source) and np.array_equal(app.target, pattern.target)


def line_code(length: int, sides: Sequence[int]) -> list[Ints]:
    """Return the first points of the reflected Gray code of mixed radices: a snake.

    They are the coordinates on each side, int64[length]. The first changes most seldom. The
    line has at most as many points as the box.

    Examples
    --------
    >>> line_code(6, (2, 3))
    [array([0, 0, 0, 1, 1, 1]), array([0, 1, 2, 2, 1, 0])]
    """
    left, block = np.arange(length), prod(sides)
    code = []
    for side in sides:
        block //= side
        coordinate, left = np.divmod(left, block)
        left = np.where(coordinate % 2 == 1, block - 1 - left, left)
        code.append(coordinate)
    return code


def folded(length: int) -> Ints:
    """Return a ring folded flat onto a line: 0, 2, 4 … 5, 3, 1. No step is longer than 2.

    Examples
    --------
    >>> folded(7)
    array([0, 2, 4, 6, 5, 3, 1])
    """
    position = np.arange(length)
    return np.minimum(2 * position, 2 * (length - position) - 1)


def ring_code(length: int, sides: Sequence[int]) -> list[Ints]:
    """Return a ring through a box, of steps of 1 where that can be.

    An even ring is a Hamiltonian cycle, of as much of the box as it needs. It goes out and back in
    every two rows, and returns along the first column. A box is bipartite, so an odd ring cannot
    have unit steps only. It is the even one without a point, in the middle of a straight piece if
    there is any, so that a packet passes through there as before. In one dimension, and if a box of
    odd sides is too full, the ring is folded onto the line code, with steps of up to 2.

    The coordinates on each side are int64[length]. The ring has at least 3 points, and at most
    as many as the box, whose sides are at least 2.

    Examples
    --------
    >>> ring_code(8, (2, 4))
    [array([0, 0, 0, 1, 1, 1, 1, 0]), array([1, 2, 3, 3, 2, 1, 0, 0])]
    """
    room = [_most_on_cycle(side, prod(sides) // side) for side in sides]
    slow = room.index(max(room))
    across, even = prod(sides) // sides[slow], length + length % 2
    if room[slow] < even:
        order = folded(length)
        return [coordinate[order] for coordinate in line_code(length, sides)]
    row, column = _cycle(even, across)
    others = line_code(across, [side for axis, side in enumerate(sides) if axis != slow])
    code = [coordinate[column] for coordinate in others]
    code.insert(slow, row)
    return [np.delete(each, _straight_point(code)) for each in code] if length % 2 else code


def is_folded_ring(length: int, sides: Sequence[int]) -> bool:
    """Whether ``ring_code`` has to fold this ring, with steps of up to 2 throughout."""
    most = max(_most_on_cycle(side, prod(sides) // side) for side in sides)
    return most < length + length % 2


def _most_on_cycle(rows: int, across: int) -> int:
    """Points of the longest cycle: rows in pairs, an odd last one of two points."""
    if across == 1:
        return 0
    return rows * across if rows % 2 == 0 else (rows - 1) * across + 2


def _cycle(length: int, across: int) -> tuple[Ints, Ints]:
    """Rows and columns of a cycle of even length in the fewest rows that it fits into."""
    rows = 2 * (length // (2 * across))
    if rows * across < length:
        rows += 1 if length - rows * across <= 2 else 2
    spare = _most_on_cycle(rows, across) - length  # to be cut off the pairs, two a column
    parts = []
    for first in range(0, rows - 1, 2):
        cut = min(spare // 2, across - 2)
        spare -= 2 * cut
        out = np.arange(1, across - cut)
        parts += [(np.full(len(out), first), out), (np.full(len(out), first + 1), out[::-1])]
    if rows % 2:
        parts.append((np.array([rows - 1]), np.array([1])))
    parts.append((np.arange(rows - 1, -1, -1), np.zeros(rows, np.int64)))
    row, column = map(np.concatenate, zip(*parts, strict=True))
    return row, column


def _straight_point(code: list[Ints]) -> int:
    """Return a point of the ring whose neighbours differ in one coordinate. Else the last."""
    changed = [np.roll(each, -1) != np.roll(each, 1) for each in code]
    straight = np.flatnonzero(np.sum(changed, axis=0) == 1)
    return int(straight[0]) if len(straight) else len(code[0]) - 1
