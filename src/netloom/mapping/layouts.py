"""Layouts: mappings that are built for one kind of program on one kind of network.

A program's shape is told by its edges: a file whose edges are those of a pattern is laid out as the
pattern is. Weights do not count. ``layout_table`` has the layouts by name.

A code is a line or ring through a box of any sides, as one array of coordinates a side. Along a
line code each point is a neighbour of the one before. Along a ring code the last is a neighbour of
the first too, wherever that can be. A Gray code makes neighbours in the network of tasks that
differ in one bit.

Meshes and tori of tasks are folded onto meshes, tori and hypercubes of other sides. Each side of
the program is written as digits, and each digit is a part of one coordinate of the network. For
example, a side of 8 tasks may be 2 × 4, with the 2 in the rows and the 4 in the columns. Along a
side the digits follow a Gray code, so that a step changes one digit by one. A digit's place in its
coordinate determines how many hops that is. (Ma and Tao, *Embeddings among toruses and meshes*,
1987, and Chan and Chin, *On embedding rectangular grids in hypercubes*, 1988, prove how far such
embeddings go.)

Along a curve, a snake makes neighbours of tasks that follow each other. A Hilbert curve also keeps
tasks near that are not far apart in number. Morton order splits the network in halves, again and
again, as task numbers do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from heapq import nsmallest
from itertools import islice
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Ints, distinct
from netloom.base.declared import declared
from netloom.base.errors import InputError
from netloom.routing import DimensionOrder, Paths, SourceRoutes
from netloom.routing.ragged import legs
from netloom.topology import Cube, Topology
from netloom.workload import ProcessGraph
from netloom.workload.graphs import generators

# -- shapes of programs, lines and rings -----------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Layout:
    """A mapping that is built, not searched for, and what it promises.

    Attributes
    ----------
    name
        As in ``layout_table``.
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

    def source_routes(self, app: ProcessGraph, topology: Topology) -> SourceRoutes | None:
        """Return the layout's own routes as a routing of the network. None if it has none."""
        if self.routes is None:
            return None
        source, target = self.node_of[app.source], self.node_of[app.target]
        pairs = source.astype(np.int64) * topology.num_ends + target
        order = np.argsort(pairs)
        routed = legs(topology, source, target).around(self.routes).taken(order)
        return SourceRoutes(f"those of {self.name}", pairs[order], routed)


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
    one_each = topology.num_hosts == topology.num_ports == len(distinct(router))
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
    kind = f"mesh or torus of {dimensions} dimensions" if dimensions else "mesh, torus or hypercube"
    wanted = f"a {kind}, no part of it broken"
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
    for sides in _read_sides(first, app.num_tasks):
        for closed, make in enumerate((generators.mesh, generators.torus)):
            if same_edges(app, make(*sides)):
                return TaskGrid(sides, bool(closed))
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


def _read_sides(
    first: list[int], num_tasks: int, stride: int = 1, sides: tuple[int, ...] = ()
) -> Iterator[tuple[int, ...]]:
    """Yield the sides of grids in which task 0 has these neighbours.

    From the fastest dimension on: a dimension of stride s adds the neighbour s, and a ring of k
    the neighbour (k − 1)s too. S times the side is the next stride.
    """
    if sides and not first and stride == num_tasks:
        yield sides
    if first[:1] != [stride]:
        return
    rest = first[1:]
    rings = [(stride + rest[0], rest[1:])] if rest else []
    for following, after in [*rings, ((*rest, num_tasks)[0], rest)]:
        if following % stride == 0:
            yield from _read_sides(after, num_tasks, following, (following // stride, *sides))


def same_edges(app: ProcessGraph, pattern: ProcessGraph) -> bool:
    """Whether two programs have the same edges, whatever these carry."""
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
    if length % 2 == 0:
        return code
    changed = [np.roll(each, -1) != np.roll(each, 1) for each in code]
    straight = np.flatnonzero(np.sum(changed, axis=0) == 1)  # neighbours differ in one coordinate
    out = int(straight[0]) if len(straight) else even - 1
    return [np.delete(each, out) for each in code]


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


# -- layouts ---------------------------------------------------------------------------------------


def gray(num_tasks: int, topology: Topology) -> Ints:
    """Return the node of each task of a hypercube, int32[num_tasks], by Gray codes.

    The bits of a task's number are divided among the dimensions of the network, and each part is
    the reflected Gray code of a coordinate. Neighbours in the network differ in one bit, so that n
    of a hypercube's channels become one hop each. See Chittor 1991, section 3.5, and Feldmann et
    al. 1993, section 5.1.2.

    Raises
    ------
    InputError
        If the network's sides are not powers of two, or there are not as many tasks as nodes.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> gray(8, torus(2, 4))
    array([0, 1, 3, 2, 4, 5, 7, 6], dtype=int32)
    """
    found = cube_of_hosts(topology)
    sides = () if found is None else found[0].sides
    if found is None or any(side & (side - 1) for side in sides):
        wanted = "a mesh, torus or hypercube whose sides are powers of two"
        if found is None and isinstance(topology.routers, Cube):
            wanted += ", with one host on each router"
        raise InputError("mapping 'gray'", f"the network {topology.name}", wanted)
    if num_tasks != topology.num_hosts:
        tasks = f"{num_tasks} tasks for {topology.num_hosts} nodes of {topology.name}"
        raise InputError("mapping 'gray'", tasks, "one task for each node")
    at = np.unravel_index(np.arange(num_tasks), sides)
    codes = [coordinate ^ (coordinate >> 1) for coordinate in at]
    node_of = np.empty(num_tasks, np.int32)
    node_of[np.ravel_multi_index(codes, sides)] = found[1]
    return node_of


def hypercube_layout(name: str, app: ProcessGraph, topology: Topology) -> Layout:
    """Lay a hypercube out by Gray codes (see ``gray``), or with task t on node t (``identity``).

    No layout on a line of k nodes has a lower χ_max than the identity's ⌊2k/3⌋. On a mesh, the
    longest line counts (Chittor 1991, theorem 2 and section 3.5.3). The first nodes of a line
    always have as many edges among them under Gray codes, so that their χ_max is the same.

    Raises
    ------
    InputError
        If the program is no hypercube, or the network does not take it node by task.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.workload import hypercube
    >>> hypercube_layout("gray", hypercube(6), mesh(8, 8))
    <layout gray of 64 tasks, χ_max 5>
    >>> hypercube_layout("identity", hypercube(8), mesh(16, 16))
    <layout identity of 256 tasks, χ_max 10>
    """
    if not hypercube_dimension(app):
        raise refusal(name, f"the program {app.name}", "a hypercube such as hypercube:8")
    coded, node_of = name == "gray", np.arange(app.num_tasks, dtype=np.int32)
    if coded:
        node_of = gray(app.num_tasks, topology)
    grid = require_cube(name, topology)
    if app.num_tasks != grid.num_hosts:
        found = f"{app.num_tasks} tasks for {grid.num_hosts} nodes of {grid.name}"
        raise refusal(name, found, "one task for each node")
    source = "Feldmann et al. 1993, section 5.1.2" if coded else "Chittor 1991, section 3.5.3"
    return _measured(name, app, grid, node_of, source)


def _measured(name: str, app: ProcessGraph, grid: Cube, node_of: Ints, source: str) -> Layout:
    """Return a layout that promises the χ_max that it has in dimension order."""
    from netloom.contention import measure

    found = measure(grid, DimensionOrder(), node_of[app.source], node_of[app.target])
    return Layout(name, node_of, int(found.channel_load.max(initial=0)), None, source)


MOST_SPLITS = 2_000
"""Most ways of sharing out the sides whose χ_max is bounded."""

MEASURED = 8
"""Most ways whose χ_max is measured: those of the lowest bounds."""

_Factors: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class Digit:
    """A part of one side of the program that is a part of one coordinate of the network."""

    axis: int  # the dimension of the program
    across: int  # the dimension of the network
    radix: int  # values of the digit
    weight: int  # what a step of one adds to the coordinate


def fold(app: ProcessGraph, topology: Topology) -> Layout:
    """Lay a mesh or torus of tasks out on a mesh, torus or hypercube of any other sides.

    What fits as it is has χ_max 1. A ring on a line is folded flat, with steps of 2 and χ_max 2.
    Other sides are cut into factors and put together anew, where they divide (χ_max is then
    measured, and the lowest of the likely ways is taken). On a hypercube each side follows a Gray
    code. A side that is no product of the network's parts is laid out as the next power of two.

    The program is a mesh, torus, line, ring or hypercube, in row-major order. The network has
    at least as many nodes.

    Raises
    ------
    InputError
        If the program or the network is none of those, or its sides cannot be put together.

    Examples
    --------
    >>> from netloom.topology import hypercube, mesh
    >>> from netloom.workload import ring, torus
    >>> fold(ring(8), mesh(8)).node_of
    array([0, 2, 4, 6, 7, 5, 3, 1], dtype=int32)
    >>> fold(torus(4, 8), hypercube(5))
    <layout fold of 32 tasks, χ_max 1>
    >>> fold(torus(8, 8), mesh(4, 16))
    <layout fold of 64 tasks, χ_max 5>
    """
    from netloom.contention import measure

    grid = grid_of(app)
    if grid is None:
        raise refusal("fold", f"the program {app.name}", "a mesh or torus such as mesh:8x8")
    network = require_cube("fold", topology)
    splits = list(islice(_splits(grid.sides, network), MOST_SPLITS))
    if not splits:  # no factors fit: whole powers of two may, with nodes to spare
        doubled = tuple(1 << (side - 1).bit_length() for side in grid.sides)
        splits = list(islice(_splits(doubled, network), MOST_SPLITS))
    if not splits:
        wanted = "sides that divide into those of the network"
        raise refusal("fold", f"{app.name} on {topology.name}", wanted)
    ways = [_weighed(split, grid, network) for split in splits]
    best = None
    for _, digits in nsmallest(MEASURED, ways, key=lambda way: way[0]):
        placed = _placed(grid, network, digits)
        found = measure(network, DimensionOrder(), placed[app.source], placed[app.target])
        cost = int(found.channel_load.max()), int(found.path_length.sum())
        if best is None or cost < best:
            best, node_of = cost, placed
        if cost[1] == app.num_edges:  # every path is one hop
            break
    assert best is not None
    return Layout("fold", node_of, best[0], None, "Ma and Tao 1987; Chan and Chin 1988")


def _splits(
    sides: tuple[int, ...], network: Cube, taken: tuple[_Factors, ...] = ()
) -> Iterator[tuple[_Factors, ...]]:
    """Yield tables of factors: one row per side, whose product it is, one column per coordinate.

    No column's product is more than its coordinate has room for. ``taken`` are the rows so far.
    Rows of equal sides come in falling order, for the same reason as columns do in ``_rows``.
    """
    number = len(taken)
    if number == len(sides):
        yield taken
        return
    alike = number > 0 and sides[number] == sides[number - 1]
    for row in _rows(sides[number], network, taken, ()):
        if not alike or row <= taken[-1]:
            yield from _splits(sides, network, (*taken, row))


def _rows(
    side: int, network: Cube, taken: tuple[_Factors, ...], row: _Factors
) -> Iterator[_Factors]:
    """Yield the ways to go on with a row, of which ``side`` is still to be shared out.

    Coordinates that are alike so far are taken in order: another order is the same table under
    other names.
    """
    axis = len(row)
    if axis == len(network.sides):
        if side == 1:
            yield row
        return
    column = [above[axis] for above in taken]
    most = min(side, network.sides[axis] // prod(column))
    looks = [*zip(network.sides, network.wraps, strict=True)]
    if axis and looks[axis] == looks[axis - 1] and column == [above[axis - 1] for above in taken]:
        most = min(most, row[-1])
    for factor in range(most, 0, -1):
        if side % factor == 0:
            yield from _rows(side // factor, network, taken, (*row, factor))


def _weighed(split: tuple[_Factors, ...], grid: TaskGrid, network: Cube) -> tuple[int, list[Digit]]:
    """Return the digits of a split, in the order of least load, and a bound of χ_max.

    ``weight`` paths of a digit cross any point of a line, twice as many if its ring is folded.
    """
    bound, digits = 0, list[Digit]()

    def laid(order: list[tuple[int, int]], across: int) -> tuple[int, list[Digit]]:
        load, weight, found = 0, 1, list[Digit]()
        for radix, axis in order:
            digit = Digit(axis, across, radix, weight)
            flat = grid.is_ring(axis) and not _goes_round(digit, grid, network)
            radices = [factor for factor in split[axis] if factor > 1]
            load += weight * (2 if flat and is_folded_ring(grid.sides[axis], radices) else 1)
            weight *= radix
            found.append(digit)
        return load, found

    for across in range(len(network.sides)):
        parts = sorted((row[across], axis) for axis, row in enumerate(split) if row[across] > 1)
        orders = [parts]
        if network.wraps[across]:  # the last digit can go round: let each have its turn
            orders += [[*parts[:at], *parts[at + 1 :], part] for at, part in enumerate(parts)]
        load, chosen = min((laid(order, across) for order in orders), key=lambda way: way[0])
        bound, digits = max(bound, load), digits + chosen
    return bound, digits


def _goes_round(digit: Digit, grid: TaskGrid, network: Cube) -> bool:
    """Whether a ring of tasks goes round a ring of nodes as it is."""
    fills = digit.radix * digit.weight == network.sides[digit.across]
    return fills and network.wraps[digit.across] and digit.radix == grid.sides[digit.axis]


def _placed(grid: TaskGrid, network: Cube, digits: list[Digit]) -> Ints:
    """Return the node of each task."""
    at = np.unravel_index(np.arange(prod(grid.sides)), grid.sides)
    places = [np.zeros(len(at[0]), np.int64) for _ in network.sides]
    for axis, side in enumerate(grid.sides):
        mine = [digit for digit in digits if digit.axis == axis]
        mine.sort(key=lambda digit: -digit.weight)  # what is dear changes seldom
        radices = [digit.radix for digit in mine]
        open_ended = not grid.is_ring(axis) or _goes_round(mine[0], grid, network)
        code = line_code(side, radices) if open_ended else ring_code(side, radices)
        for digit, coordinate in zip(mine, code, strict=True):
            places[digit.across] += digit.weight * coordinate[at[axis]]
    return nodes_at(network.sides, places)


def snake(app: ProcessGraph, topology: Topology) -> Layout:
    """Lay a line or ring of tasks out on any mesh, torus or hypercube: neighbours stay neighbours.

    A line goes to and fro along the rows, and from layer to layer. A ring goes to and fro and
    comes home along the first column. An odd one leaves out one point of that, and where it is
    too long for that, or the network is a line, it is folded flat (see ``ring_code``). χ_max is 1
    but for odd rings without a straight piece and folded ones, whose χ_max is measured.

    Raises
    ------
    InputError
        If the program is no line or ring, or the network is none of those, or too small.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.workload import ring
    >>> snake(ring(8), mesh(2, 4)).node_of
    array([1, 2, 3, 7, 6, 5, 4, 0], dtype=int32)
    """
    shape = grid_of(app)
    if shape is None or len(shape.sides) != 1:
        raise refusal("snake", f"the program {app.name}", "a line or ring such as ring:64")
    grid = require_cube("snake", topology)
    _check_room("snake", app, grid)
    long = [axis for axis, side in enumerate(grid.sides) if side > 1]
    sides = [grid.sides[axis] for axis in long]
    round_it = sides == [app.num_tasks] and grid.wraps[long[0]]
    code = ring_code if shape.is_ring(0) and not round_it else line_code
    places = [np.zeros(app.num_tasks, np.int64) for _ in grid.sides]
    for axis, coordinate in zip(long, code(app.num_tasks, sides), strict=True):
        places[axis] = coordinate
    return _measured("snake", app, grid, nodes_at(grid.sides, places), "Gray 1953")


def hilbert(app: ProcessGraph, topology: Topology) -> Layout:
    """Lay any program out along a Hilbert curve: each task beside the one before it.

    Skilling, *Programming the Hilbert curve*, 2004. A line of tasks has χ_max 1. Of other
    programs nothing is promised.

    The network is a mesh, torus or hypercube of equal sides, a power of two, in two dimensions
    or more. It has a node for each task.

    Raises
    ------
    InputError
        If the network is none of those, or too small.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.workload import line
    >>> hilbert(line(16), mesh(4, 4)).node_of[:8]
    array([0, 4, 5, 1, 2, 3, 7, 6], dtype=int32)
    """
    grid = _network("hilbert", app, topology)
    if len(set(grid.sides)) > 1:
        raise refusal("hilbert", f"the network {grid.name}", "a network of equal sides")
    bits, dimensions = grid.sides[0].bit_length() - 1, len(grid.sides)
    task = np.arange(app.num_tasks)
    # Skilling's TransposetoAxes
    places = [np.zeros(len(task), np.int64) for _ in range(dimensions)]
    for bit in range(bits * dimensions):
        places[dimensions - 1 - bit % dimensions] |= (task >> bit & 1) << bit // dimensions
    carried = places[-1] >> 1
    for axis in range(dimensions - 1, 0, -1):
        places[axis] ^= places[axis - 1]
    places[0] ^= carried
    for height in range(1, bits):
        low = (1 << height) - 1
        for axis in range(dimensions - 1, -1, -1):
            inverted = (places[axis] >> height & 1) == 1
            exchanged = np.where(inverted, 0, (places[0] ^ places[axis]) & low)
            places[0] ^= np.where(inverted, low, exchanged)
            places[axis] ^= exchanged
    shape = grid_of(app)
    is_line = shape is not None and len(shape.sides) == 1 and not shape.is_ring(0)
    promise = 1 if is_line else None
    return Layout("hilbert", nodes_at(grid.sides, places), promise, None, "Skilling 2004")


def morton(app: ProcessGraph, topology: Topology) -> Layout:
    """Lay any program out in Morton (Z) order: the bits of a task's number go round the sides.

    Morton, *A computer oriented geodetic data base*, 1966. A hypercube of as many tasks as nodes
    has the χ_max of the identity on a mesh, ⌊2k/3⌋ for the longest side k. Of other programs
    nothing is promised.

    The network is a mesh, torus or hypercube whose sides are powers of two, in two dimensions
    or more. It has a node for each task.

    Raises
    ------
    InputError
        If the network is none of those, or too small.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.workload import hypercube
    >>> morton(hypercube(4), mesh(4, 4)).node_of[:8]
    array([0, 1, 4, 5, 2, 3, 6, 7], dtype=int32)
    """
    grid = _network("morton", app, topology)
    task = np.arange(app.num_tasks)
    places = [np.zeros(app.num_tasks, np.int64) for _ in grid.sides]
    bit = 0
    for height in range(max(grid.sides).bit_length() - 1):
        for axis in reversed(range(len(grid.sides))):
            if grid.sides[axis] >> height > 1:
                places[axis] |= (task >> bit & 1) << height
                bit += 1
    promise = None
    if not any(grid.wraps) and 2 ** hypercube_dimension(app) == grid.num_hosts:
        promise = 2 * max(grid.sides) // 3
    return Layout("morton", nodes_at(grid.sides, places), promise, None, "Morton 1966")


def _network(name: str, app: ProcessGraph, topology: Topology) -> Cube:
    grid = require_cube(name, topology)
    if len(grid.sides) < 2 or any(side & (side - 1) for side in grid.sides):
        wanted = "sides that are powers of two, in two dimensions or more"
        raise refusal(name, f"the network {topology.name}", wanted)
    _check_room(name, app, grid)
    return grid


def _check_room(name: str, app: ProcessGraph, grid: Cube) -> None:
    if app.num_tasks > grid.num_hosts:
        found = f"{grid.num_hosts} nodes of {grid.name} for {app.num_tasks} tasks"
        raise refusal(name, found, "a node for each task")


OWN = {
    "identity": partial(hypercube_layout, "identity"),
    "gray": partial(hypercube_layout, "gray"),
    "fold": fold,
    "snake": snake,
    "hilbert": hilbert,
    "morton": morton,
}
"""netloom's own layouts by name, those for one kind of program first."""


@cache
def layout_table() -> dict[str, Callable[[ProcessGraph, Topology], Layout]]:
    """Return all layouts by name, those that other packages add first."""
    added: dict[str, Any] = {}
    for each in declared("layouts").values():
        added |= each.load()
    return added | OWN


def find_layout(name: str, app: ProcessGraph, topology: Topology) -> Layout:
    """Return the layout of this name, of a program on a network.

    Parameters
    ----------
    name
        One of ``layouts``.
    app
        The program, known by its edges: a file will do.
    topology
        The network.

    Raises
    ------
    InputError
        If there is no such layout, or it does not fit the program or the network.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.workload import ring
    >>> find_layout("snake", ring(255), mesh(16, 16))
    <layout snake of 255 tasks, χ_max 1>
    >>> find_layout("snake", ring(255), mesh(8, 8))
    Traceback (most recent call last):
        ...
    netloom.InputError: layout 'snake': found 64 nodes of mesh:8x8 for 255 tasks;
    expected a node for each task
    """
    if name not in layout_table():
        raise InputError("layout", f"'{name}'", ", ".join(layout_table()))
    return _on_hosts(layout_table()[name], app, topology)


def _on_hosts(
    lay_out: Callable[[ProcessGraph, Topology], Layout], app: ProcessGraph, topology: Topology
) -> Layout:
    """Return a layout on hosts, of which each router of a k-ary n-cube has one."""
    found = cube_of_hosts(topology)
    if found is None:
        return lay_out(app, topology)  # which refuses it
    cube, host_on = found
    layout = lay_out(app, cube)
    return replace(layout, node_of=host_on[layout.node_of])


def fitting_layouts(app: ProcessGraph, topology: Topology) -> dict[str, Layout]:
    """Return all layouts that fit, by name: those for this kind of program first.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.workload import hypercube, read
    >>> list(fitting_layouts(hypercube(6), mesh(8, 8)))
    ['identity', 'gray', 'fold', 'hilbert', 'morton']
    >>> list(fitting_layouts(read("all-to-all:6"), mesh(4, 4)))
    ['hilbert', 'morton']
    """
    fitting = {}
    for name, lay_out in layout_table().items():
        try:
            fitting[name] = _on_hosts(lay_out, app, topology)
        except InputError:
            continue
    return fitting
