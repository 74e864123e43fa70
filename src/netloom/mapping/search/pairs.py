"""What pairs of tasks send each other, and how far apart pairs of nodes are."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from netloom.topology import Cube, Topology, hop_distances

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array

    from netloom.workload import ProcessGraph

    JointWeights: TypeAlias = csr_array[np.float64, tuple[int, int]]


def joint_weights(app: ProcessGraph, weights: NDArray[np.float64] | None = None) -> JointWeights:
    """Return what each two tasks send each other, both ways together.

    A symmetric float64 sparse matrix [num_tasks, num_tasks], without zeros, columns sorted.
    ``weights``: float64[num_edges], what edges carry; their bytes by default.

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
    sources: NDArray[np.integer],
    targets: NDArray[np.integer] | None = None,
) -> NDArray[np.float64]:
    """Return the shortest distances of some nodes from others: the way there or the way back.

    float64[len(sources), len(targets)], the smaller of both ways; infinite where there is none.
    Targets are all nodes by default.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> hops(torus(5), np.array([3]))
    array([[2., 2., 1., 0., 1.]])
    """
    found = hop_distances(topology, sources)
    if not isinstance(topology, Cube):  # there, both ways are as long
        found = np.minimum(found, hop_distances(topology, sources, backwards=True))
    return found if targets is None else found[:, targets]
