"""A network as connections see it: hosts that hang on routers send and receive as two vertices.

So no path leads through a host, and whatever searches for paths need not know what a host is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.topology import Topology

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Bools


def wired(topology: Topology) -> Topology:
    """Return a direct network of the same channels, in which paths may lead through any vertex.

    A direct network is that itself. Of others, host h receives as vertex
    ``arrivals(topology) + h``. All other vertices keep their numbers.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> tree = topology("leaf-spine:2x1x1")
    >>> net = wired(tree)
    >>> net.num_vertices, net.channel_target[-2:].tolist()
    (7, [5, 6])
    """
    if topology.direct:
        return topology
    first = arrivals(topology)
    target = topology.channel_target
    receives = np.where(target < topology.num_hosts, target + first, target).astype(np.int32)
    vertices = first + topology.num_hosts
    return Topology(topology.name, vertices, topology.channel_source, receives)


def arrivals(topology: Topology) -> int:
    """Return the vertex as which host 0 receives in ``wired``."""
    return 0 if topology.direct else topology.num_vertices


def parts(topology: Topology) -> Iterator[Bools]:
    """Yield parts of a network whose hosts hang on routers: a router with its hosts, or a pod.

    bool[num_vertices]. Pods are those of whole fat trees.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> [int(part.sum()) for part in parts(topology("fat-tree:2x3"))][-2:]
    [8, 8]
    """
    from netloom.topology.family import TreeShape

    first, hosts = topology.num_hosts, topology.port_host
    both = topology.injection_router, topology.ejection_router
    for router in np.unique(both[0]).tolist():
        inside = np.zeros(topology.num_vertices, np.bool_)
        inside[first + router] = True
        inside[hosts[(both[0] == router) & (both[1] == router)]] = True
        yield inside
    shape = topology.family
    if topology.broken or not isinstance(shape, TreeShape):
        return
    starts = np.cumsum([0, *(shape.width(level) for level in range(1, shape.levels + 1))])
    router_at = np.arange(topology.num_routers) if shape.router_at is None else shape.router_at
    host_at = np.arange(first) if shape.host_at is None else shape.host_at
    for height in range(2, shape.levels):
        pods = int(np.prod(shape.children[height:]))
        vertices = [host_at, *(first + part for part in np.split(router_at, starts[1:-1])[:height])]
        for pod in range(pods):
            inside = np.zeros(topology.num_vertices, np.bool_)
            for level in vertices:  # a pod is a slice of each of its levels
                size = len(level) // pods
                inside[level[pod * size : (pod + 1) * size]] = True
            yield inside
