"""Three-dimensional meshes on two-dimensional ones: plane by plane, or column by column."""

from __future__ import annotations

from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np

from netloom.mapping.layouts.parts import Layout, nodes_at, refusal, require_cube
from netloom.mapping.layouts.shapes import grid_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Ints
    from netloom.base.errors import InputError
    from netloom.topology import Cube, Topology
    from netloom.workload import ProcessGraph

_SOURCE = "Chittor 1991, section 3.5.2, figure 3.12"


def planes(app: ProcessGraph, topology: Topology) -> Layout:
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
    sides, grid = _box_and_network("planes", app, topology)
    candidates = []
    for turn, down, across in _foldings(sides, grid.sides):
        _, high, wide = (sides[axis] for axis in turn)
        in_a_column = down if across == 1 else min(down, 2)  # the snake turns at alternate ends
        loads = _load(wide, across, grid, 1), _load(high, in_a_column, grid, 0)
        candidates.append((max(loads), down * across, turn, down, across))
    if not candidates:
        raise _too_small("planes", app, topology, sides)
    promise, _, turn, _, across = min(candidates)
    depth, row, column = _turned(sides, turn)
    tile_row, tile_column = _snake(depth, across)
    rows = tile_row * sides[turn[1]] + row
    node_of = nodes_at(grid.sides, (rows, tile_column * sides[turn[2]] + column))
    return Layout("planes", node_of, promise, None, _SOURCE)


def columns(app: ProcessGraph, topology: Topology) -> Layout:
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
    sides, grid = _box_and_network("columns", app, topology)
    candidates = []
    for turn, down, across in _foldings(sides, grid.sides):
        _, high, wide = (sides[axis] for axis in turn)
        loads = _load(across, wide, grid, 1), _load(down, high, grid, 0)
        candidates.append((max(loads), down * across, turn, down, across))
    if not candidates:
        raise _too_small("columns", app, topology, sides)
    promise, _, turn, down, across = min(candidates)
    depth, row, column = _turned(sides, turn)
    in_row, in_column = _snake(depth, across)
    node_of = nodes_at(grid.sides, (row * down + in_row, column * across + in_column))
    return Layout("columns", node_of, promise, None, _SOURCE)


def _box_and_network(
    name: str, app: ProcessGraph, topology: Topology
) -> tuple[tuple[int, ...], Cube]:
    shape = grid_of(app)
    if shape is None or len(shape.sides) != 3 or any(map(shape.is_ring, range(3))):
        raise refusal(name, f"the program {app.name}", "a 3D mesh such as mesh:4x4x4")
    return shape.sides, require_cube(name, topology, dimensions=2)


def _too_small(
    name: str, app: ProcessGraph, topology: Topology, sides: tuple[int, ...]
) -> InputError:
    need = [
        (max(down * sides[turn[1]], across * sides[turn[2]]), down * across, turn, down, across)
        for turn, down, across in _foldings(sides, (max(sides) ** 2, max(sides) ** 2))
    ]
    _, _, turn, down, across = min(need)
    room = f"{down * sides[turn[1]]}x{across * sides[turn[2]]}"
    found = f"{topology.name} for the {name} of {app.name}"
    return refusal(name, found, f"room to fold one dimension, such as mesh:{room}")


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


def _load(width: int, tiles: int, grid: Cube, axis: int) -> int:
    """χ_max of a line of tiles: equal places of neighbouring tiles talk, and neighbours in a tile.

    ``width`` paths cross from tile to tile. If a tile has neighbours on both sides, there are
    as many at each point within it, beside its own. Half way round a ring both directions go the
    same way, so that two tiles that fill it count as three.
    """
    if tiles == 1 or width == 1:
        return min(1, tiles * width - 1)
    round_the_ring = grid.wraps[axis] and 2 * width == grid.sides[axis]
    return width + (1 if tiles > 2 or round_the_ring else 0)


def _turned(sides: tuple[int, ...], turn: tuple[int, ...]) -> list[Ints]:
    at = np.unravel_index(np.arange(np.prod(sides)), sides)
    return [np.asarray(at[axis], np.int64) for axis in turn]


def _snake(position: Ints, across: int) -> tuple[Ints, Ints]:
    """Return row and column along a snake that goes ``across`` columns and turns."""
    row, column = np.divmod(position, across)
    return row, np.where(row % 2 == 0, column, across - 1 - column)
