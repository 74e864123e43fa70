"""Curves through a network, and the tasks along them: snake, Hilbert and Morton order.

A snake makes neighbours of tasks that follow each other. A Hilbert curve also keeps tasks near
that are not far apart in number. Morton order splits the network in halves, again and again, as
task numbers do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.contention import measure
from netloom.mapping.layouts.codes import line_code, ring_code
from netloom.mapping.layouts.parts import Layout, nodes_at, refusal, require_cube
from netloom.mapping.layouts.shapes import grid_of, hypercube_dimension
from netloom.routing import DimensionOrder

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.topology import Cube, Topology
    from netloom.workload import ProcessGraph


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
    node_of = nodes_at(grid.sides, places)
    found = measure(grid, DimensionOrder(), node_of[app.source], node_of[app.target])
    return Layout("snake", node_of, int(found.channel_load.max()), None, "Gray 1953")


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
    bits = grid.sides[0].bit_length() - 1
    places = _hilbert_places(np.arange(app.num_tasks), bits, len(grid.sides))
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


def _hilbert_places(index: Ints, bits: int, dimensions: int) -> list[Ints]:
    """Return the coordinates of points of the curve: Skilling's ``TransposetoAxes``."""
    places = [np.zeros(len(index), np.int64) for _ in range(dimensions)]
    for bit in range(bits * dimensions):
        places[dimensions - 1 - bit % dimensions] |= (index >> bit & 1) << bit // dimensions
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
    return places
