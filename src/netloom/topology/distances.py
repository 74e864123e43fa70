"""How far nodes are apart, and the parts that a network falls into."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.topology.cubes import Cube

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.topology.core import Topology


def hop_distances(
    topology: Topology, nodes: NDArray[np.integer] | None = None, *, backwards: bool = False
) -> NDArray[np.float64]:
    """Return the hops of a shortest path from each of some nodes to every node.

    Parameters
    ----------
    topology
        The network.
    nodes
        Where paths begin; all nodes by default.
    backwards
        Whether paths end in these nodes, and begin in every node.

    Returns
    -------
    hops
        float64[len(nodes), num_nodes]; infinite where there is no path.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> hop_distances(torus(5), np.array([3]))
    array([[2., 2., 1., 0., 1.]])
    """
    everyone = np.arange(topology.num_nodes)
    begins = everyone if nodes is None else nodes
    if isinstance(topology, Cube):
        hops = np.zeros((len(begins), topology.num_nodes))
        for side, stride, wraps in zip(
            topology.sides, topology.strides, topology.wraps, strict=True
        ):
            apart = np.abs((begins // stride % side)[:, None] - everyone // stride % side)
            hops += np.minimum(apart, side - apart) if wraps else apart
        return hops
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    ends = topology.channel_source, topology.channel_target
    size = topology.num_nodes, topology.num_nodes
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
    at = np.unravel_index(np.arange(cube.num_nodes), cube.sides)
    for along, side, wraps in zip(at, cube.sides, cube.wraps, strict=True):
        for cut in range(side if wraps else side - 1):
            yield (along - cut) % side < side // 2 if wraps else along <= cut
