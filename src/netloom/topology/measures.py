"""Degree, distances, diameter and bisection width of a network, and parts that it falls into."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError
from netloom.topology.cubes import Cube
from netloom.topology.faults import working_nodes

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.topology.core import Topology

MOST_NODES_BY_SEARCH = 20_000
"""Largest general graph whose all-pairs distances are searched for (time grows with N · C)."""


def degree(topology: Topology) -> int:
    """Return the largest number of channels that leave a node.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> degree(mesh(8, 8))
    4
    """
    return int(np.bincount(topology.channel_source, minlength=topology.num_vertices).max())


def num_links(topology: Topology) -> int:
    """Return the number of bidirectional links (pairs of opposite channels).

    Examples
    --------
    >>> from netloom.topology import hypercube
    >>> num_links(hypercube(4))
    32
    """
    source, target = topology.channel_source.astype(np.int64), topology.channel_target
    forward = source * topology.num_vertices + target
    backward = target.astype(np.int64) * topology.num_vertices + source
    return int(np.isin(forward, backward).sum()) // 2


def hop_distances(
    topology: Topology, nodes: NDArray[np.integer] | None = None, *, backwards: bool = False
) -> NDArray[np.float64]:
    """Return the hops of a shortest path from each of some nodes to every node.

    float64[len(nodes), num_nodes]; infinite where there is no path.

    Parameters
    ----------
    topology
        The network.
    nodes
        Where paths begin; all nodes by default.
    backwards
        Whether paths end in these nodes, and begin in every node.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> hop_distances(torus(5), np.array([3]))
    array([[2., 2., 1., 0., 1.]])
    """
    everyone = np.arange(topology.num_vertices)
    begins = everyone if nodes is None else nodes
    if isinstance(topology, Cube):
        hops = np.zeros((len(begins), topology.num_vertices))
        for side, stride, wraps in zip(
            topology.sides, topology.strides, topology.wraps, strict=True
        ):
            apart = np.abs((begins // stride % side)[:, None] - everyone // stride % side)
            hops += np.minimum(apart, side - apart) if wraps else apart
        return hops
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    ends = topology.channel_source, topology.channel_target
    size = topology.num_vertices, topology.num_vertices
    channels = np.ones(topology.num_channels), ends[::-1] if backwards else ends
    return np.asarray(dijkstra(csr_array(channels, shape=size), indices=begins, unweighted=True))


def slabs(cube: Cube) -> Iterator[NDArray[np.bool_]]:
    """Yield parts of a k-ary n-cube with few channels around them, as bool[num_nodes].

    All on one side of a cut across an open dimension; half the length of a ring, wherever it
    begins.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> [int(part.sum()) for part in slabs(mesh(4, 2))]
    [2, 4, 6, 4]
    """
    at = np.unravel_index(np.arange(cube.num_vertices), cube.sides)
    for along, side, wraps in zip(at, cube.sides, cube.wraps, strict=True):
        for cut in range(side if wraps else side - 1):
            yield (along - cut) % side < side // 2 if wraps else along <= cut


def diameter(topology: Topology) -> int:
    """Return the largest distance between two nodes that work, in hops.

    Examples
    --------
    >>> from netloom.topology import mesh, torus
    >>> diameter(mesh(8, 8)), diameter(torus(8, 8))
    (14, 8)
    """
    if isinstance(topology, Cube):
        reach = zip(topology.sides, topology.wraps, strict=True)
        return sum(side // 2 if wrap else side - 1 for side, wrap in reach)
    return max(int(row.max()) for row in _distance_rows(topology))


def average_distance(topology: Topology) -> float:
    """Return the mean distance over all ordered pairs of *distinct* nodes that work, in hops.

    On a square mesh this is exactly 2√N/3 (Chittor 1991, eq. 3.18, whose middle form counts
    pairs of a node with itself too and so comes out a little lower).

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> round(average_distance(mesh(16, 16)), 4)
    10.6667
    """
    nodes = len(working_nodes(topology))
    if nodes < 2:
        return 0.0
    if isinstance(topology, Cube):
        return _cube_distance_sum(topology) / (nodes * (nodes - 1))
    return sum(int(row.sum()) for row in _distance_rows(topology)) / (nodes * (nodes - 1))


def bisection_width(topology: Topology) -> int:
    """Return the fewest links whose removal halves a k-ary n-cube (for odd N, to within a node).

    With dimensions ordered from the one that is cheapest to cut, halving cuts the first; where
    its side is odd the middle layer is itself halved, and so on until a side is even (Aroca &
    Fernández Anta, *Bisection (band)width of product networks*, 2014, theorem for arrays, and
    twice that for tori). A ring of k counts as a line of k/2 with twice the links. Checked by
    exhaustion, mixed wraps included, up to 16 nodes.

    Raises
    ------
    InputError
        If the network is not a k-ary n-cube (the problem is NP-hard there).

    Examples
    --------
    >>> from netloom.topology import hypercube, mesh
    >>> bisection_width(hypercube(8)), bisection_width(mesh(8, 8)), bisection_width(mesh(3, 3))
    (128, 8, 4)
    """
    if not isinstance(topology, Cube):
        raise InputError(topology.name, "a general graph", "a mesh, torus or hypercube")
    dimensions = [
        (side / 2 if wrap else float(side), side, 2 if wrap else 1)
        for side, wrap in zip(topology.sides, topology.wraps, strict=True)
        if side > 1
    ]
    dimensions.sort(reverse=True)
    width = 0
    for index, (_, side, links) in enumerate(dimensions):
        width += links * prod(other for _, other, _ in dimensions[index + 1 :])
        if side % 2 == 0:
            break
    return width


def _cube_distance_sum(topology: Cube) -> int:
    """Sum of the distances of all ordered pairs, exactly, by summing dimension by dimension."""
    total = 0
    for side, wrap in zip(topology.sides, topology.wraps, strict=True):
        if wrap:
            pairs = side * sum(min(x, side - x) for x in range(side))
        else:
            pairs = side * (side * side - 1) // 3
        total += pairs * (topology.num_vertices // side) ** 2
    return total


def _distance_rows(topology: Topology) -> Iterator[NDArray[np.float64]]:
    """Yield blocks of rows of the distance matrix of all pairs of nodes that work."""
    if topology.num_vertices > MOST_NODES_BY_SEARCH:
        raise InputError(
            topology.name, f"{topology.num_vertices} nodes", f"at most {MOST_NODES_BY_SEARCH} here"
        )
    working = working_nodes(topology)
    block = max(1, 2**22 // topology.num_vertices)
    for first in range(0, len(working), block):
        yield hop_distances(topology, working[first : first + block])[:, working]
