"""The table of layouts: each by its name, and those that fit a program and a network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.contention import measure
from netloom.mapping.layouts.boxes import columns, planes
from netloom.mapping.layouts.curves import hilbert, morton, snake
from netloom.mapping.layouts.fold import fold
from netloom.mapping.layouts.parts import Layout, refusal, require_cube
from netloom.mapping.layouts.shapes import hypercube_dimension
from netloom.mapping.layouts.trees import h_tree, tiles
from netloom.routing import DimensionOrder
from netloom.topology import Cube, Topology, cube

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Ints
    from netloom.workload import ProcessGraph


def find_layout(name: str, app: ProcessGraph, topology: Topology) -> Layout:
    """Return the layout of this name, of a program on a network.

    Parameters
    ----------
    name
        One of ``LAYOUTS``.
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
    >>> from netloom.workload import binary_tree
    >>> find_layout("tiles", binary_tree(255), mesh(16, 16))
    <layout tiles of 255 tasks, χ_max 2 on its own routes>
    >>> find_layout("tiles", binary_tree(255), mesh(8, 8))
    Traceback (most recent call last):
        ...
    netloom.InputError: layout 'tiles': found mesh:8x8 for 255 tasks;
    expected at least 16 x 16 nodes
    """
    if name not in LAYOUTS:
        raise InputError("layout", f"'{name}'", ", ".join(LAYOUTS))
    return LAYOUTS[name](app, topology)


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
    for name, lay_out in LAYOUTS.items():
        try:
            fitting[name] = lay_out(app, topology)
        except InputError:
            continue
    return fitting


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
    sides = topology.sides if isinstance(topology, Cube) else ()
    if not sides or any(side & (side - 1) for side in sides):
        wanted = "a mesh, torus or hypercube whose sides are powers of two"
        raise InputError("mapping 'gray'", f"the network {topology.name}", wanted)
    if num_tasks != topology.num_hosts:
        found = f"{num_tasks} tasks for {topology.num_hosts} nodes of {topology.name}"
        raise InputError("mapping 'gray'", found, "one task for each node")
    at = np.unravel_index(np.arange(num_tasks), sides)
    codes = [coordinate ^ (coordinate >> 1) for coordinate in at]
    node_of = np.empty(num_tasks, np.int32)
    node_of[np.ravel_multi_index(codes, sides)] = np.arange(num_tasks)
    return node_of


def gray_layout(app: ProcessGraph, topology: Topology) -> Layout:
    """Lay a hypercube out by Gray codes. See ``gray``.

    The first nodes of a line always have as many edges among them as under the identity. So χ_max
    on a mesh is the identity's: ⌊2k/3⌋ on a line of k nodes, for the longest line (Chittor 1991,
    theorem 2). On a ring it is computed.

    Raises
    ------
    InputError
        If the program is no hypercube, or the network does not take it node by task.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.workload import hypercube
    >>> gray_layout(hypercube(6), mesh(8, 8))
    <layout gray of 64 tasks, χ_max 5>
    """
    _require_hypercube("gray", app)
    node_of = gray(app.num_tasks, topology)
    promise = _load_of_lines(require_cube("gray", topology), coded=True)
    return Layout("gray", node_of, promise, None, "Feldmann et al. 1993, section 5.1.2")


def identity_layout(app: ProcessGraph, topology: Topology) -> Layout:
    """Lay a hypercube out with task t on node t.

    No layout on a line of k nodes has a lower χ_max than its ⌊2k/3⌋. On a mesh, the longest line
    counts (Chittor 1991, theorem 2 and section 3.5.3). On a ring it is worked out.

    Raises
    ------
    InputError
        If the program is no hypercube, or the network does not take it node by task.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> from netloom.workload import hypercube
    >>> identity_layout(hypercube(8), mesh(16, 16))
    <layout identity of 256 tasks, χ_max 10>
    """
    _require_hypercube("identity", app)
    grid = require_cube("identity", topology)
    if app.num_tasks != grid.num_hosts:
        found = f"{app.num_tasks} tasks for {grid.num_hosts} nodes of {grid.name}"
        raise refusal("identity", found, "one task for each node")
    node_of = np.arange(app.num_tasks, dtype=np.int32)
    promise = _load_of_lines(grid, coded=False)
    return Layout("identity", node_of, promise, None, "Chittor 1991, section 3.5.3")


def _require_hypercube(name: str, app: ProcessGraph) -> None:
    if not hypercube_dimension(app):
        raise refusal(name, f"the program {app.name}", "a hypercube such as hypercube:8")


def _load_of_lines(grid: Cube, *, coded: bool) -> int:
    """χ_max of a hypercube whose bits are shared out over the sides, Gray-coded or not."""
    return max(
        _load_of_ring(side, coded=coded) if wraps else 2 * side // 3
        for side, wraps in zip(grid.sides, grid.wraps, strict=True)
    )


def _load_of_ring(side: int, *, coded: bool) -> int:
    """The same on one ring: edges stay within lines, so that one line tells of them all."""
    task = np.arange(side)
    place = np.empty(side, np.int64)
    place[task ^ (task >> 1) if coded else task] = task
    bits = [1 << bit for bit in range(side.bit_length() - 1)]
    source = np.repeat(task, len(bits))
    target = source ^ np.tile(bits, side)
    found = measure(cube((side,), wraps=True), DimensionOrder(), place[source], place[target])
    return int(found.channel_load.max(initial=0))


LAYOUTS: dict[str, Callable[[ProcessGraph, Topology], Layout]] = {
    "tiles": tiles,
    "h-tree": h_tree,
    "columns": columns,
    "planes": planes,
    "identity": identity_layout,
    "gray": gray_layout,
    "fold": fold,
    "snake": snake,
    "hilbert": hilbert,
    "morton": morton,
}
"""All layouts by name, those for one kind of program first."""
