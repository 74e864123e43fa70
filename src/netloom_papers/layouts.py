"""Layouts of Chittor's thesis: binary trees and three-dimensional meshes, on two-dimensional ones.

Trees are laid out as tiles with one spare node, or as an H-tree, three-dimensional meshes plane by
plane, or column by column.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import permutations

import numpy as np

from netloom.base.arrays import Bools, Ints
from netloom.mapping import layouts
from netloom.routing import DimensionOrder, Paths, paths
from netloom.topology import Cube, Topology, mesh
from netloom.workload import ProcessGraph
from netloom.workload.graphs import generators

_OF_TREES = "Chittor 1991, section 3.5.1"
_OF_BOXES = "Chittor 1991, section 3.5.2, figure 3.12"

_QUARTERS = ((0, 0), (0, 1), (1, 0), (1, 1))
"""Quarters of a tile, as (row, column)."""

_TURNED = (True, False, True, True)
"""Whether the tile in each quarter is transposed, before its spare cell is placed. The spare cell
of the first quarter is in its outer corner, those of the other three in the middle of the whole."""

_SUBTREES = (0, 2, 1, 3)
"""The quarters of the four subtrees, left to right."""


def tiles(app: ProcessGraph, topology: Topology) -> layouts.Layout:
    """Lay a binary tree out on a mesh or torus with one spare node, on routes of its own.

    A tree of 4^m − 1 tasks takes 2^m × 2^m nodes. Four tiles of a quarter of the size are turned so
    that three of their spare nodes meet in the middle, and take the root and its children. The
    fourth stays spare, in a corner. One rule holds for all sizes. It was found by trying all rules
    that put the spare there and bend each new path once. Rules were compared by χ_max = 2, then by
    few other paths met. Half of such a tile is a tree of 2^(2m−1) − 1 tasks. Every edge uses the
    same links both ways, and no channel carries more than 2 paths. The routes are free of deadlock
    on one virtual channel (tested up to 16,383 tasks).

    The idea is Youn and Singh's, as adapted by Chittor 1991, section 3.5.1, whose drawings are
    lost. This arrangement is netloom's. Under dimension order in place of its own routes, it has
    χ_max 3 up to 255 tasks.

    The tree is in heap order. An incomplete one takes the nodes of the next complete one.

    Raises
    ------
    InputError
        If the program is no such tree, or the network is none or too small.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.workload import binary_tree
    >>> tiles(binary_tree(15), mesh(4, 4))
    <layout tiles of 15 tasks, χ_max 2 on its own routes>
    """
    levels = _levels("tiles", app)
    size = (levels + 1) // 2
    place, along_row = np.zeros((0, 2), np.int64), np.zeros(0, np.bool_)
    for level in range(size):
        place, along_row = _next_tile(place, along_row, 2**level)
    rows = columns = 2**size
    if levels % 2:  # the left half, without the root and the right child
        left = np.arange(1, len(place) // 2 + 1)
        left += _first_of_level(left) - 1
        place, along_row, columns = place[left], along_row[left], columns // 2
    turned, grid, node_of = _fitted("tiles", app, topology, (rows, columns), place)
    routes = _routes(app, grid, node_of, along_row != turned)
    promise = 2 if app.num_tasks > 3 else min(1, app.num_edges)
    return layouts.Layout("tiles", node_of, promise, routes, _OF_TREES)


def h_tree(app: ProcessGraph, topology: Topology) -> layouts.Layout:
    """Lay a binary tree out without any contention: χ_max 1, no path meets another.

    This is the H-tree, on a mesh or torus of two dimensions. The children of a task lie on either
    side of it, alternately in its row and its column, each in the middle of its half. A tree of
    2^(2m+1) − 1 tasks takes a square of 2^(m+1) − 1 nodes a side (7 tasks 3 × 3, 31 tasks 7 × 7,
    127 tasks 15 × 15), one of 2^(2m) − 1 tasks half of the next. All paths are straight, so that
    dimension order takes them. Chittor 1991, section 3.5.1, cites a denser one by Gordon that is
    not described there.

    The tree is in heap order. An incomplete one takes the nodes of the next complete one.

    Raises
    ------
    InputError
        If the program is no such tree, or the network is none or too small.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.workload import binary_tree
    >>> h_tree(binary_tree(7), mesh(3, 3)).node_of
    array([4, 3, 5, 0, 6, 2, 8], dtype=int32)
    """
    levels = _levels("h-tree", app)
    rows, columns = 2 ** ((levels + 1) // 2) - 1, 2 ** (levels // 2 + 1) - 1
    place = np.empty((2**levels - 1, 2), np.int64)
    place[0] = rows // 2, columns // 2
    steps = [(rows + 1) // 4, (columns + 1) // 4]
    axis = 1
    for level in range(1, levels):
        first, step = 2**level - 1, steps[axis]
        children = np.repeat(place[first // 2 : first], 2, axis=0)
        children[0::2, axis] -= step
        children[1::2, axis] += step
        place[first : 2 * first + 1] = children
        steps[axis] = step // 2
        axis = 1 - axis
    _, _, node_of = _fitted("h-tree", app, topology, (rows, columns), place)
    promise = min(1, app.num_edges)
    return layouts.Layout("h-tree", node_of, promise, None, _OF_TREES)


def _levels(name: str, app: ProcessGraph) -> int:
    if not layouts.same_edges(app, generators.binary_tree(app.num_tasks)):
        raise layouts.refusal(
            name, f"the program {app.name}", "a binary tree such as binary-tree:255"
        )
    return app.num_tasks.bit_length()


def _fitted(
    name: str, app: ProcessGraph, topology: Topology, wanted: tuple[int, int], place: Ints
) -> tuple[bool, Cube, Ints]:
    """Whether rows and columns have to be exchanged to fit, the network, and the node of each task.

    ``place``: int64[tasks, 2], the row and column of each task, and perhaps of more.
    """
    grid = layouts.require_cube(name, topology, dimensions=2)
    places = place[: app.num_tasks].T
    for turned, (high, wide) in ((False, wanted), (True, wanted[::-1])):
        if high <= grid.sides[0] and wide <= grid.sides[1]:
            at = places[::-1] if turned else places
            return turned, grid, layouts.nodes_at(grid.sides, at)
    found = f"{topology.name} for {app.num_tasks} tasks"
    raise layouts.refusal(name, found, f"at least {wanted[0]} x {wanted[1]} nodes")


def _next_tile(place: Ints, along_row: Bools, side: int) -> tuple[Ints, Bools]:
    """Make one tile of four.

    ``place``: int64[4^m − 1, 2], row and column of each task in heap order. The spare is at (0,
    0). ``along_row``: bool[4^m − 1], whether the path from the parent of each task starts along the
    parent's row. ``side`` is 2^m.
    """
    whole = np.zeros((4 * len(place) + 3, 2), np.int64)
    whole[:3] = (side - 1, side), (side, side - 1), (side, side)
    whole_along = np.zeros(len(whole), np.bool_)
    for position, quarter in enumerate(_SUBTREES):
        corner, turned = _QUARTERS[quarter], _TURNED[quarter]
        # the spare cell of the first in its outer corner, of the others in the middle of the whole
        mirror = (False, False) if corner == (0, 0) else (not corner[0], not corner[1])
        cells = place[:, ::-1] if turned else place
        task = np.arange(1, len(place) + 1)  # its numbers in the tree of all four
        task += (3 + position) * _first_of_level(task) - 1
        whole[task] = np.where(mirror, side - 1 - cells, cells) + side * np.array(corner)
        whole_along[task] = along_row != turned
    top = np.arange(min(7, len(whole)))
    whole_along[top] = top % 2 == 1  # paths to left children of the top
    return whole, whole_along


def _first_of_level(task: Ints) -> Ints:
    """The highest power of two in each number, counted from the root's 1."""
    return np.int64(1) << (np.frexp(task)[1].astype(np.int64) - 1)


def _routes(app: ProcessGraph, grid: Cube, node_of: Ints, along_row: Bools) -> Paths:
    """Return the path of each edge, which bends once, takes the same links both ways, and no wrap.

    So they are paths of dimension order in the mesh, in one order or the other.
    """
    row_first = along_row[np.maximum(app.source, app.target)] == (app.source < app.target)
    flat, ends = mesh(*grid.sides), (node_of[app.source], node_of[app.target])
    rows, columns = (paths(flat, DimensionOrder(order), *ends) for order in ((1, 0), (0, 1)))
    by_row = np.repeat(row_first, rows.lengths)
    taken = np.where(by_row, rows.channels, columns.channels)
    known, wanted = (
        net.channel_source.astype(np.int64) * net.num_hosts + net.channel_target
        for net in (grid, flat)
    )
    order = np.argsort(known)
    same = order[np.searchsorted(known[order], wanted[taken])]  # those of the torus, if it is one
    return Paths(rows.offsets, same.astype(np.int32))


def planes(app: ProcessGraph, topology: Topology) -> layouts.Layout:
    """Lay a 3D mesh out on a 2D mesh or torus plane by plane: scheme A of Chittor 1991, 3.5.2.

    Each plane is a tile, and the tiles follow each other in snake order, so that what leaves a
    plane goes to the tile beside it or below. A cube of k × k × k tasks has χ_max k + 1 where
    three tiles lie in a row, and k in rows of two. Raster order would cost 2k + 1.
    No node is lost where the tiles fill the network. Which dimension is cut into planes, which way
    they lie and how many there are in a row is chosen for the lowest χ_max.

    Raises
    ------
    InputError
        If the program is no mesh of three dimensions, or the network is none of two, or too small.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.workload import mesh as tasks
    >>> planes(tasks(4, 4, 4), mesh(8, 8))
    <layout planes of 64 tasks, χ_max 4>
    >>> planes(tasks(9, 9, 9), mesh(27, 27))
    <layout planes of 729 tasks, χ_max 10>
    """
    return _folded("planes", app, topology)


def columns(app: ProcessGraph, topology: Topology) -> layouts.Layout:
    """Lay a 3D mesh out on a 2D mesh or torus column by column: scheme B of Chittor 1991, 3.5.2.

    Each column is a tile, through which it runs in snake order. The tiles lie as the columns do. A
    cube of k × k × k tasks on tiles of m × m nodes, m = ⌈√k⌉, has χ_max m + 1 from k = 3 on. This
    is much less than ``planes``, but nodes are lost if k is not m². The dimension of the columns
    and their folding are chosen for the lowest χ_max.

    Raises
    ------
    InputError
        If the program is no mesh of three dimensions, or the network is none of two, or too small.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.workload import mesh as tasks
    >>> columns(tasks(4, 4, 4), mesh(8, 8))
    <layout columns of 64 tasks, χ_max 3>
    """
    return _folded("columns", app, topology)


def _folded(name: str, app: ProcessGraph, topology: Topology) -> layouts.Layout:
    """Fold one dimension into rows and columns, of planes beside each other or within a tile."""
    shape = layouts.grid_of(app)
    if shape is None or len(shape.sides) != 3 or any(map(shape.is_ring, range(3))):
        raise layouts.refusal(name, f"the program {app.name}", "a 3D mesh such as mesh:4x4x4")
    sides, grid = shape.sides, layouts.require_cube(name, topology, dimensions=2)

    def load(turn: tuple[int, ...], down: int, across: int) -> int:
        _, high, wide = (sides[axis] for axis in turn)
        tiles = (across, wide), (down, high)
        if name == "planes":  # the snake turns at alternate ends
            tiles = (wide, across), (high, down if across == 1 else min(down, 2))
        return max(_load_of_tiles(*tiles[0], grid, 1), _load_of_tiles(*tiles[1], grid, 0))

    foldings = list(_foldings(sides, grid.sides))
    if not foldings:
        need = [
            (max(down * sides[turn[1]], across * sides[turn[2]]), down * across, turn, down, across)
            for turn, down, across in _foldings(sides, (max(sides) ** 2, max(sides) ** 2))
        ]
        _, _, turn, down, across = min(need)
        room = f"{down * sides[turn[1]]}x{across * sides[turn[2]]}"
        found = f"{topology.name} for the {name} of {app.name}"
        raise layouts.refusal(name, found, f"room to fold one dimension, such as mesh:{room}")
    promise, _, turn, down, across = min(
        (load(*each), each[1] * each[2], *each) for each in foldings
    )
    at = np.unravel_index(np.arange(app.num_tasks), sides)
    depth, row, column = (np.asarray(at[axis], np.int64) for axis in turn)
    along_row, along = np.divmod(depth, across)
    along_column = np.where(along_row % 2 == 0, along, across - 1 - along)
    if name == "planes":
        places = along_row * sides[turn[1]] + row, along_column * sides[turn[2]] + column
    else:
        places = row * down + along_row, column * across + along_column
    return layouts.Layout(name, layouts.nodes_at(grid.sides, places), promise, None, _OF_BOXES)


def _foldings(
    sides: tuple[int, ...], room: tuple[int, ...]
) -> Iterator[tuple[tuple[int, ...], int, int]]:
    """Yield the ways to fold one dimension: (depth, row and column dimension), rows, columns.

    Both schemes spread the depth over ``across`` columns and ``down`` rows, of tiles or of nodes
    in a tile, so that both fit the same networks.
    """
    for turn in permutations(range(3)):
        depth, high, wide = (sides[axis] for axis in turn)
        for across in range(1, min(room[1] // wide, depth) + 1):
            down = -(-depth // across)
            if down * high <= room[0]:
                yield turn, down, across


def _load_of_tiles(width: int, tiles: int, grid: Cube, axis: int) -> int:
    """χ_max of a line of tiles: equal places of neighbouring tiles talk, and neighbours in a tile.

    ``width`` paths cross from tile to tile. If a tile has neighbours on both sides, there are
    as many at each point within it, beside its own. Half way round a ring both directions go the
    same way, so that two tiles that fill it count as three.
    """
    if tiles == 1 or width == 1:
        return min(1, tiles * width - 1)
    round_the_ring = grid.wraps[axis] and 2 * width == grid.sides[axis]
    return width + (1 if tiles > 2 or round_the_ring else 0)


LAYOUTS = {"tiles": tiles, "h-tree": h_tree, "columns": columns, "planes": planes}
"""Those of trees and those of boxes, in the order in which a search starts from them."""
