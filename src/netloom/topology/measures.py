"""Degree and links of a network, and parts of it with few channels around them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Bools, Floats
    from netloom.topology.core import Topology
    from netloom.topology.cubes import Cube


def busy_shares(topology: Topology, flits: Floats) -> Floats:
    """Return what channels between routers carry, over the bandwidth of each.

    Parameters
    ----------
    flits
        float[num_network_channels], flits per cycle.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> busy_shares(mesh(2), np.array([0.5, 0.25]))
    array([0.5 , 0.25])
    """
    return np.asarray(flits / topology.channel_bandwidth[: topology.num_network_channels])


def degree(topology: Topology) -> int:
    """Return the largest number of channels that lead from a router to others.

    Parallel channels count each, those to hosts do not.

    Examples
    --------
    >>> from netloom.topology import mesh, topology
    >>> degree(mesh(8, 8)), degree(topology("slim-fly:5/4"))
    (4, 7)
    """
    return int(np.bincount(topology.routers.channel_source, minlength=1).max())


def num_links(topology: Topology) -> int:
    """Return the number of bidirectional links between routers (pairs of opposite channels).

    Parallel links count each, those to hosts do not.

    Examples
    --------
    >>> from netloom.topology import hypercube, topology
    >>> num_links(hypercube(4)), num_links(topology("leaf-spine:4x2x4/2"))
    (32, 16)
    """
    routers = topology.routers
    source, target = routers.channel_source.astype(np.int64), routers.channel_target
    ways, many = np.unique(source * routers.num_vertices + target, return_counts=True)
    back = ways % routers.num_vertices * routers.num_vertices + ways // routers.num_vertices
    at = np.searchsorted(ways, back)
    at[at == len(ways)] = 0
    return int(np.minimum(many, many[at])[ways[at] == back].sum()) // 2 if len(ways) else 0


def slabs(cube: Cube) -> Iterator[Bools]:
    """Yield parts of a k-ary n-cube with few channels around them, as bool[num_nodes].

    All on one side of a cut across an open dimension. Half the length of a ring, wherever it
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
