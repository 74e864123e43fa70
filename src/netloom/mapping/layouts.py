"""Layouts: mappings that are built for one kind of program on one kind of network."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError
from netloom.topology import Cube

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.topology import Topology


def gray(num_tasks: int, topology: Topology) -> NDArray[np.int32]:
    """Return the Gray-code layout of a hypercube's tasks on a mesh, torus or hypercube.

    The bits of a task's number are shared out over the dimensions of the network, and each part
    is the reflected Gray code of a coordinate: neighbours in the network differ in one bit, so
    that n of a hypercube's channels become one hop each (Chittor 1991, section 3.5; Feldmann et
    al. 1993, section 5.1.2).

    Returns
    -------
    node_of
        int32[num_tasks].

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
    if num_tasks != topology.num_nodes:
        found = f"{num_tasks} tasks for {topology.num_nodes} nodes of {topology.name}"
        raise InputError("mapping 'gray'", found, "one task for each node")
    at = np.unravel_index(np.arange(num_tasks), sides)
    codes = [coordinate ^ (coordinate >> 1) for coordinate in at]
    node_of = np.empty(num_tasks, np.int32)
    node_of[np.ravel_multi_index(codes, sides)] = np.arange(num_tasks)
    return node_of
