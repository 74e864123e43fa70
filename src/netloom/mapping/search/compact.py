"""Parts of a network that are close together: the nodes for a small program, and halves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.mapping.search.bisection import Part, bisect
from netloom.mapping.search.pairs import hops
from netloom.topology import Cube, Topology

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Floats, Ints


CENTRES = 64
"""Nodes around which a part is tried."""


class Ground(NamedTuple):
    """The network in which nodes lie: whatever is broken, distances change little."""

    network: Topology  # without faults
    # float64[rows, rows] hops; empty for k-ary n-cubes, where they are counted.
    table: Floats
    row: Ints  # int64[num_hosts], the row of each host, -1 where it has none
    router: Ints  # int64[num_hosts], the router of each host's first port
    # int64[num_hosts], an order of hosts in which those close together are near each other; only
    # where hosts hang on routers.
    order: Ints


def ground_of(topology: Topology, nodes: Ints | None = None) -> Ground:
    """Return the network in which nodes lie: all of them or, if hosts hang on routers, these."""
    whole = topology.whole
    every = np.arange(whole.num_hosts)
    if isinstance(whole, Cube):
        return Ground(whole, np.zeros((0, 0)), every, every, every)
    if whole.direct:
        table = hops(whole, every)
        return Ground(whole, np.where(np.isinf(table), whole.num_hosts, table), every, every, every)
    hosts = every if nodes is None else np.unique(nodes)
    found = hops(whole, hosts, hosts)
    table = np.where(np.isinf(found), whole.num_hosts, found)
    row, order = np.full(len(every), -1, np.int64), np.zeros(len(every), np.int64)
    row[hosts] = np.arange(len(hosts))
    order[hosts] = _side_by_side(table)
    router = whole.injection_router[np.minimum(whole.port_offsets[:-1], whole.num_ports - 1)]
    return Ground(whole, table, row, router.astype(np.int64), order)


def _side_by_side(table: Floats) -> Ints:
    """Return the place of each host in a line: leaves, pods and groups stay together.

    It is the order of leaves of a dendrogram (average linkage), which for trees is the tree.
    """
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(table) < 3:
        return np.arange(len(table))
    line = leaves_list(linkage(squareform(table, checks=False), "average"))
    return np.argsort(line, kind="stable")


def apart(ground: Ground, sources: Ints, targets: Ints) -> Floats:
    """Return how far each source is from each target, float64[sources, targets], in hops."""
    if len(ground.table):
        return np.asarray(ground.table[np.ix_(ground.row[sources], ground.row[targets])])
    return hops(ground.network, sources, targets)


def compact_nodes(topology: Topology, ground: Ground, allowed: Ints, number: int) -> Ints:
    """Return so many of the allowed nodes with as many channels between them as can be had.

    They are those nearest to some point: blocks on meshes, subcubes of hypercubes. Hosts that hang
    on routers are to have as few hops between them as can be had.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> compact_nodes(mesh(4, 4), ground_of(mesh(4, 4)), np.arange(16), 4)
    array([0, 1, 4, 5])
    """
    if number == len(allowed):
        return allowed
    best, most = allowed[:number], -np.inf
    for nearest in _orders(ground, allowed):
        chosen = np.zeros(topology.num_hosts, np.bool_)
        chosen[allowed[nearest[:number]]] = True
        if topology.direct:
            source, target = topology.channel_source, topology.channel_target
            inside = float((chosen[source] & chosen[target]).sum())
        else:
            part = np.flatnonzero(chosen)
            inside = -float(apart(ground, part, part).sum())
        if inside > most:
            best, most = np.flatnonzero(chosen), inside
    return best


def _orders(ground: Ground, allowed: Ints) -> Iterator[Ints]:
    """Yield the order of the allowed nodes by distance, from one point after the other."""
    every, frame = -(-len(allowed) // CENTRES), ground.network
    for centre in allowed[::every]:
        if not isinstance(frame, Cube):
            yield np.argsort(apart(ground, centre[None], allowed)[0], kind="stable")
            continue
        for between in (0.0, 0.5):  # a node, or the middle of a small cube of nodes
            away = np.zeros((len(frame.sides), len(allowed)))
            for axis, (side, stride) in enumerate(zip(frame.sides, frame.strides, strict=True)):
                along = np.abs(allowed // stride % side - centre // stride % side - between)
                away[axis] = np.minimum(along, side - along) if frame.wraps[axis] else along
            yield np.lexsort((away.sum(axis=0), away.max(axis=0)))


def halves(ground: Ground, nodes: Ints, seed: int) -> tuple[Ints, Ints, Ints]:
    """Return two halves of some nodes with few channels between them, and the middles of both.

    K-ary n-cubes are halved across their longest side, with all their hosts. Networks whose hosts
    hang on routers are halved in the order that keeps leaves and groups together. METIS halves
    others. The second half may be larger by one.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> halves(ground_of(mesh(2, 6)), np.arange(12), seed=1)
    (array([0, 6, 1, 7, 2, 8]), array([ 3,  9,  4, 10,  5, 11]), array([1, 4]))
    """
    half = len(nodes) // 2
    if len(nodes) <= 2:
        return nodes[:half], nodes[half:], nodes
    frame = ground.network.routers
    if isinstance(frame, Cube):
        along, extent = _coordinates(frame, ground.router[nodes])
        order = np.lexsort(along[np.argsort(extent, kind="stable")])
        centres = [
            part[np.argmin(np.abs(along[:, part] - along[:, part].mean(axis=1)[:, None]).sum(0))]
            for part in (order[:half], order[half:])
        ]
        return nodes[order[:half]], nodes[order[half:]], nodes[centres]
    if not ground.network.direct:
        line = nodes[np.argsort(ground.order[nodes], kind="stable")]
        return (
            line[:half],
            line[half:],
            np.array([_middle(ground, p) for p in np.split(line, [half])]),
        )
    source, target = np.nonzero(ground.table[np.ix_(nodes, nodes)] == 1)
    offsets = np.append(0, np.cumsum(np.bincount(source, minlength=len(nodes))))
    part = Part(offsets, target, np.ones(len(target), np.int64), np.zeros(len(nodes)))
    first = bisect(part, half, seed)
    parts = nodes[first], nodes[~first]
    return *parts, np.array([_middle(ground, part) for part in parts])


def _middle(ground: Ground, part: Ints) -> int:
    """Return the node of a part with the fewest hops to all others."""
    return int(part[np.argmin(apart(ground, part, part).sum(axis=1))])


def _coordinates(frame: Cube, nodes: Ints) -> tuple[Ints, Floats]:
    """Return nodes' coordinates, counted from behind the widest gap, and how far they extend.

    A ring that is full counts half: to halve it, it must be cut twice.
    """
    along = np.array(np.unravel_index(nodes, frame.sides), np.int64)
    extent = np.zeros(len(frame.sides))
    for axis, (side, wraps) in enumerate(zip(frame.sides, frame.wraps, strict=True)):
        values = np.flatnonzero(np.bincount(along[axis]))
        if wraps:
            gap = np.diff(values, append=values[0] + side)
            first = values[(int(np.argmax(gap)) + 1) % len(values)]
            along[axis] = (along[axis] - first) % side
            extent[axis] = side / 2 if gap.max() == 1 else side - gap.max() + 1
        else:
            extent[axis] = values[-1] - values[0] + 1
    return along, extent
