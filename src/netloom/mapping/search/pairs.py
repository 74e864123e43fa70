"""What pairs of tasks send each other, and how far apart pairs of nodes are."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from netloom.topology import Cube, Topology, hop_distances

if TYPE_CHECKING:
    from scipy.sparse import csr_array

    from netloom.base.arrays import Floats, Ints
    from netloom.workload import ProcessGraph

    JointWeights: TypeAlias = csr_array[np.float64, tuple[int, int]]


def joint_weights(app: ProcessGraph, weights: Floats | None = None) -> JointWeights:
    """Return what each two tasks send each other, both ways together.

    A symmetric float64 sparse matrix [num_tasks, num_tasks], without zeros, columns sorted.
    ``weights``: float64[num_edges], what edges carry. Their bytes by default.

    Examples
    --------
    >>> from netloom.workload import process_graph
    >>> joint_weights(process_graph(3, [0, 1, 2], [1, 0, 1], bytes=[5, 2, 0])).toarray()
    array([[0., 7., 0.],
           [7., 0., 0.],
           [0., 0., 0.]])
    """
    from scipy.sparse import csr_array

    carried = app.bytes if weights is None else weights
    sent = csr_array((carried, (app.source, app.target)), shape=(app.num_tasks, app.num_tasks))
    joint = csr_array(sent + sent.T)
    joint.eliminate_zeros()
    joint.sort_indices()
    return joint


def hops(
    topology: Topology,
    sources: Ints,
    targets: Ints | None = None,
) -> Floats:
    """Return the shortest distances of some nodes from others: the way there or the way back.

    float64[len(sources), len(targets)], the smaller of both ways. Infinite where there is none.
    Targets are all nodes by default. Hops are channels between routers: of two hosts of one router
    or one node there are none. Of several ports, those count that are nearest.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> hops(torus(5), np.array([3]))
    array([[2., 2., 1., 0., 1.]])
    >>> from netloom.topology import topology
    >>> hops(topology("leaf-spine:2x2x2"), np.array([0]))
    array([[0., 0., 2., 2.]])
    """
    if not topology.direct:
        return _between_hosts(topology, sources, targets)
    found = hop_distances(topology, sources)
    if not isinstance(topology, Cube):  # there, both ways are as long
        found = np.minimum(found, hop_distances(topology, sources, backwards=True))
    return found if targets is None else found[:, targets]


def _between_hosts(topology: Topology, sources: Ints, targets: Ints | None) -> Floats:
    ends = np.arange(topology.num_hosts) if targets is None else targets
    found = _one_way(topology, sources, ends)
    np.minimum(found, _one_way(topology, ends, sources).T, out=found)
    group = topology.local_group
    found[group[sources][:, None] == group[ends]] = 0
    return found


def _one_way(topology: Topology, sources: Ints, targets: Ints) -> Floats:
    """Return the hops between the nearest ports of each source and target."""
    (begins, first), (ends, last) = (_ports_of(topology, hosts) for hosts in (sources, targets))
    entries, row = np.unique(topology.injection_router[begins], return_inverse=True)
    apart = router_hops(topology.routers, entries)
    found = apart[np.ix_(row, topology.ejection_router[ends])]
    if len(begins) > len(sources):
        found = np.minimum.reduceat(found, first, axis=0)
    if len(ends) > len(targets):
        found = np.minimum.reduceat(found, last, axis=1)
    return np.asarray(found)


def router_hops(routers: Topology, some: Ints) -> Floats:
    """Return the hops from some routers to all, float64[len(some), num_routers]."""
    found = _router_hops(routers, some.astype(np.int64).tobytes())
    found.flags.writeable = False
    return found


@lru_cache(maxsize=4)
def _router_hops(routers: Topology, some: bytes) -> Floats:
    return hop_distances(routers, np.frombuffer(some, np.int64))


def _ports_of(topology: Topology, hosts: Ints) -> tuple[Ints, Ints]:
    """Return the ports of some hosts, each of which has one, and where those of each begin."""
    offsets = topology.port_offsets
    counts = offsets[hosts + 1] - offsets[hosts]
    assert (counts > 0).all(), "hosts that work have ports"
    first = np.cumsum(counts) - counts
    return np.arange(int(counts.sum())) + np.repeat(offsets[hosts] - first, counts), first
