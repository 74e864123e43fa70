"""Meshes and tori of tasks on meshes, tori and hypercubes of other sides.

Each side of the program is written as digits, and each digit is a part of one coordinate of the
network. For example, a side of 8 tasks may be 2 × 4, with the 2 in the rows and the 4 in the
columns. Along a side the digits follow a Gray code, so that a step changes one digit by one. A
digit's place in its coordinate determines how many hops that is. (Ma and Tao, *Embeddings among
toruses and meshes*, 1987, and Chan and Chin, *On embedding rectangular grids in hypercubes*, 1988,
prove how far such embeddings go.)
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nsmallest
from itertools import islice
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from netloom.contention import measure
from netloom.mapping.layouts.codes import is_folded_ring, line_code, ring_code
from netloom.mapping.layouts.parts import Layout, nodes_at, refusal, require_cube
from netloom.mapping.layouts.shapes import TaskGrid, grid_of
from netloom.routing import DimensionOrder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Ints
    from netloom.topology import Cube, Topology
    from netloom.workload import ProcessGraph

MOST_SPLITS = 2_000
"""Most ways of sharing out the sides whose χ_max is bounded."""

MEASURED = 8
"""Most ways whose χ_max is measured: those of the lowest bounds."""

_SOURCE = "Ma and Tao 1987; Chan and Chin 1988"


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
    best: tuple[int, int] | None = None
    for _, digits in nsmallest(MEASURED, ways, key=lambda way: way[0]):
        placed = _placed(grid, network, digits)
        found = measure(network, DimensionOrder(), placed[app.source], placed[app.target])
        cost = int(found.channel_load.max()), int(found.path_length.sum())
        if best is None or cost < best:
            best, node_of = cost, placed
        if cost[1] == app.num_edges:  # every path is one hop
            break
    assert best is not None
    return Layout("fold", node_of, best[0], None, _SOURCE)


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
    alike = axis and _looks(network, axis) == _looks(network, axis - 1)
    if alike and column == [above[axis - 1] for above in taken]:
        most = min(most, row[-1])
    for factor in range(most, 0, -1):
        if side % factor == 0:
            yield from _rows(side // factor, network, taken, (*row, factor))


def _looks(network: Cube, axis: int) -> tuple[int, bool]:
    return network.sides[axis], network.wraps[axis]


def _weighed(split: tuple[_Factors, ...], grid: TaskGrid, network: Cube) -> tuple[int, list[Digit]]:
    """Return the digits of a split, in the order of least load, and a bound of χ_max.

    ``weight`` paths of a digit cross any point of a line, twice as many if its ring is folded.
    """
    bound, digits = 0, []
    for across in range(len(network.sides)):
        parts = [(row[across], axis) for axis, row in enumerate(split) if row[across] > 1]
        parts.sort()
        orders = [parts]
        if network.wraps[across]:  # the last digit can go round: let each have its turn
            orders += [[*parts[:at], *parts[at + 1 :], part] for at, part in enumerate(parts)]
        loads, chosen = min(
            ((_load(order, across, split, grid, network), order) for order in orders),
            key=lambda choice: choice[0],
        )
        bound = max(bound, loads)
        weight = 1
        for radix, axis in chosen:
            digits.append(Digit(axis, across, radix, weight))
            weight *= radix
    return bound, digits


def _load(
    order: list[tuple[int, int]],
    across: int,
    split: tuple[_Factors, ...],
    grid: TaskGrid,
    network: Cube,
) -> int:
    load, weight = 0, 1
    for radix, axis in order:
        digit = Digit(axis, across, radix, weight)
        flat = grid.is_ring(axis) and not _goes_round(digit, grid, network)
        radices = [factor for factor in split[axis] if factor > 1]
        load += weight * (2 if flat and is_folded_ring(grid.sides[axis], radices) else 1)
        weight *= radix
    return load


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
