"""Parts of a network that are close together: the nodes for a small program, and halves."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.mapping.search.bisection import Part, bisect
from netloom.mapping.search.pairs import hops
from netloom.topology import Cube, Topology

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray


CENTRES = 64
"""Nodes around which a part is tried."""


class Ground(NamedTuple):
    """The network in which nodes lie: whatever is broken, distances change little."""

    network: Topology  # without faults
    # float64[num_nodes, num_nodes] hops; empty for k-ary n-cubes, where they are counted.
    table: NDArray[np.float64]


def ground_of(topology: Topology) -> Ground:
    """Return the network in which nodes lie."""
    whole = topology.whole
    if isinstance(whole, Cube):
        return Ground(whole, np.zeros((0, 0)))
    table = hops(whole, np.arange(whole.num_hosts))
    return Ground(whole, np.where(np.isinf(table), whole.num_hosts, table))


def apart(
    ground: Ground, sources: NDArray[np.integer], targets: NDArray[np.integer]
) -> NDArray[np.float64]:
    """Return how far each source is from each target, float64[sources, targets], in hops."""
    if len(ground.table):
        return np.asarray(ground.table[np.ix_(sources, targets)])
    return hops(ground.network, sources, targets)


def compact_nodes(
    topology: Topology, ground: Ground, allowed: NDArray[np.integer], number: int
) -> NDArray[np.integer]:
    """Return so many of the allowed nodes with as many channels between them as can be had.

    They are those nearest to some point: blocks on meshes, subcubes of hypercubes.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> compact_nodes(mesh(4, 4), ground_of(mesh(4, 4)), np.arange(16), 4)
    array([0, 1, 4, 5])
    """
    if number == len(allowed):
        return allowed
    best, most = allowed[:number], -1
    for nearest in _orders(ground, allowed):
        chosen = np.zeros(topology.num_hosts, np.bool_)
        chosen[allowed[nearest[:number]]] = True
        inside = int((chosen[topology.channel_source] & chosen[topology.channel_target]).sum())
        if inside > most:
            best, most = np.flatnonzero(chosen), inside
    return best


def _orders(ground: Ground, allowed: NDArray[np.integer]) -> Iterator[NDArray[np.int64]]:
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


def halves(
    ground: Ground, nodes: NDArray[np.integer], seed: int
) -> tuple[NDArray[np.integer], NDArray[np.integer], NDArray[np.integer]]:
    """Return two halves of some nodes with few channels between them, and the middles of both.

    K-ary n-cubes are halved across their longest side, other networks by METIS. The second half
    may be larger by one.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> halves(ground_of(mesh(2, 6)), np.arange(12), seed=1)
    (array([0, 6, 1, 7, 2, 8]), array([ 3,  9,  4, 10,  5, 11]), array([1, 4]))
    """
    half = len(nodes) // 2
    if len(nodes) <= 2:
        return nodes[:half], nodes[half:], nodes
    if isinstance(ground.network, Cube):
        along, extent = _coordinates(ground.network, nodes)
        order = np.lexsort(along[np.argsort(extent, kind="stable")])
        centres = [
            part[np.argmin(np.abs(along[:, part] - along[:, part].mean(axis=1)[:, None]).sum(0))]
            for part in (order[:half], order[half:])
        ]
        return nodes[order[:half]], nodes[order[half:]], nodes[centres]
    source, target = np.nonzero(ground.table[np.ix_(nodes, nodes)] == 1)
    offsets = np.append(0, np.cumsum(np.bincount(source, minlength=len(nodes))))
    part = Part(offsets, target, np.ones(len(target), np.int64), np.zeros(len(nodes)))
    first = bisect(part, half, seed)
    parts = nodes[first], nodes[~first]
    middles = [part[np.argmin(ground.table[np.ix_(part, part)].sum(axis=1))] for part in parts]
    return *parts, np.array(middles)


def _coordinates(
    frame: Cube, nodes: NDArray[np.integer]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
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
