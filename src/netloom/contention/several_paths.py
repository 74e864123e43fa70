"""Expected channel loads under every routing: those of one path a pair, and those of several.

Traffic is first summed over all pairs between which a routing sees no difference. What has one
path is then walked, some hundred thousand pairs at a time. What has several is pushed as a flow,
for each target router at once, from the farthest routers to the nearest: the load that comes to a
router is split as its packets are. No path is listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError, NoRouteError
from netloom.routing import DimensionOrder, Layered, Minimal, RandomUp, ShortestPath, UpDown, paths
from netloom.routing.several import JOINED, port_ways, router_ends
from netloom.routing.trees import whole_tree
from netloom.topology import Cube

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from netloom.routing import Routing
    from netloom.routing.several import Ways
    from netloom.topology import Topology

FEWEST_PAIRS, MOST_PAIRS = 2**12, 2**20
"""Pairs that are walked at a time."""

MOST_HOPS = 2**24
"""Hops of the paths that are walked at a time, about."""

ROUTERS_ONLY = (DimensionOrder, ShortestPath, UpDown, Layered)
"""Routings under which hosts of one router, and to hosts of one router, have the same path."""


def expected_loads(
    topology: Topology,
    routing: Routing,
    sources: ArrayLike,
    targets: ArrayLike,
    weights: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return how much of some traffic each channel carries, on average over drawn paths.

    Exact under every routing: the sum over all paths of all pairs of weight × probability, which
    is not worked out path by path where pairs have several. Memory is bounded by the pairs.

    Parameters
    ----------
    topology, routing
        The network and how packets travel on it.
    sources, targets
        int[num_pairs] hosts. A pair of equal hosts uses no channel.
    weights
        float[num_pairs], such as bytes; 1 where not given.

    Returns
    -------
    float64[num_channels], channels of host ports too. They are not divided by bandwidths.

    Raises
    ------
    InputError
        If the arrays do not match, or the routing does not fit the network.
    NoRouteError
        If the routing has no path for a pair.

    Examples
    --------
    Of four hosts' packets to hosts of the other leaf, each spine carries half:

    >>> from netloom.routing import Minimal
    >>> from netloom.topology import topology
    >>> net = topology("leaf-spine:2x2x4")
    >>> load = expected_loads(net, Minimal(), [0, 1, 2, 3], [4, 5, 6, 7])
    >>> {net.channel_name(c): float(load[c]) for c in np.flatnonzero(load[:8])}
    {'leaf0 -> spine0': 2.0, 'leaf0 -> spine1': 2.0, 'spine0 -> leaf1': 2.0, 'spine1 -> leaf1': 2.0}
    """
    source, target = np.asarray(sources, np.int32), np.asarray(targets, np.int32)
    weight = np.ones(len(source)) if weights is None else np.asarray(weights, np.float64)
    if not source.shape == target.shape == weight.shape:
        found = f"{len(target)} targets, {len(weight)} weights"
        raise InputError("pairs", found, "one a source")
    load = np.zeros(topology.num_channels)
    if isinstance(routing, RandomUp):
        whole_tree(topology, routing)  # refuses what is none
    if isinstance(routing, (Minimal, *ROUTERS_ONLY)) or _one_port(topology, routing):
        blocks = _between_routers(topology, source, target, weight, load)
        demand = _summed(topology.num_routers, blocks)
        _add_loads(topology.routers, routing, demand, load[: topology.num_network_channels])
    else:
        demand = _summed(topology.num_vertices, [(source, target, weight)])
        _add_loads(topology, routing, demand, load)
    return load


def _one_port(topology: Topology, routing: Routing) -> bool:
    """Whether packets go up a tree at random, and their hosts leave no choice of a port."""
    return isinstance(routing, RandomUp) and len(set(topology.port_host)) == topology.num_ports


def _add_loads(
    topology: Topology, routing: Routing, demand: Any, load: NDArray[np.float64]
) -> None:
    """Add what flows between the vertices of a network load."""
    if routing.several:
        _push(port_ways(topology), demand, load)
    elif isinstance(routing, DimensionOrder) and isinstance(topology, Cube):
        _count_lines(topology, routing, demand, load)
    else:
        _walk(topology, routing, demand, load)


def _between_routers(
    topology: Topology,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    weights: NDArray[np.float64],
    load: NDArray[np.float64],
) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]]:
    """Yield routers and weights of all pairs, block by block; add the loads of host channels."""
    for first in range(0, len(sources), MOST_PAIRS):
        block = slice(first, first + MOST_PAIRS)
        ends, weight = router_ends(topology, sources[block], targets[block]), weights[block]
        for channels in (ends.injection, ends.ejection):
            used = channels >= 0
            load += np.bincount(channels[used], weight[used], minlength=len(load))
        moving = ends.entry != ends.exit
        yield ends.entry[moving], ends.exit[moving], weight[moving]


def _summed(
    num_ends: int,
    blocks: Any,
) -> Any:
    """Return pairs of equal ends as one: a SciPy csr_array of weights, [target, source]."""
    from scipy.sparse import csr_array

    shape = (num_ends, num_ends)
    demand = csr_array(shape)
    for source, target, weight in blocks:
        demand = demand + csr_array((weight, (target, source)), shape=shape)
    return demand


def _walk(topology: Topology, routing: Routing, demand: Any, load: NDArray[np.float64]) -> None:
    """Add the loads of the one path of each pair."""
    from netloom.contention.kernels.several_paths import add_paths

    targets = np.repeat(np.arange(demand.shape[0], dtype=np.int32), np.diff(demand.indptr))
    first, many = 0, FEWEST_PAIRS
    while first < len(targets):
        block = slice(first, first + many)
        found = paths(topology, routing, demand.indices[block], targets[block])
        add_paths(found.channels, found.offsets, demand.data[block], load)
        first += many
        hops = len(found.channels) / max(len(found), 1)
        many = int(np.clip(MOST_HOPS / max(hops, 1), FEWEST_PAIRS, MOST_PAIRS))


def _count_lines(
    routers: Cube, routing: DimensionOrder, demand: Any, load: NDArray[np.float64]
) -> None:
    """Add what dimension order loads, dimension by dimension; half-way round a ring forwards."""
    from netloom.contention.expected_load import dimension_order_loads

    targets = np.repeat(np.arange(demand.shape[0], dtype=np.int32), np.diff(demand.indptr))
    ends = demand.indices.astype(np.int32), targets
    load += dimension_order_loads(routers, routing, *ends, demand.data, both_ways=False)


def _push(ways: Ways, demand: Any, load: NDArray[np.float64]) -> None:
    """Add what flows to each goal load, split over all next channels."""
    from netloom.contention.kernels.several_paths import push_flows

    goals = np.arange(demand.shape[0], dtype=np.int32)
    first, sources = demand.indptr.astype(np.int64), demand.indices.astype(np.int32)
    source, goal = push_flows(ways, goals, first, sources, demand.data, load)
    if source >= 0:
        raise NoRouteError(int(source), int(goal), JOINED)
