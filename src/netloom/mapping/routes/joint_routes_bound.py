"""How little the busiest channel can carry, whatever minimal paths are chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.topology import Cube, Topology

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Floats, Ints


CLOSE = 1e-9
"""Relative difference of loads that is none."""


def least_load(
    topology: Topology,
    net: tuple[NDArray[Any], ...],
    source: Ints,
    target: Ints,
    weight: Floats,
) -> float:
    """Return a weighted load that the busiest channel has whatever minimal paths are chosen.

    Each pair must use every channel that is on all its minimal paths, and its path is not split.
    All pairs together cross as many channels as they have hops. The traffic that a node sends
    leaves by the few channels that lead nearer, and the traffic that it receives enters by few.
    Traffic across a cut of a k-ary n-cube uses the few channels of the cut.

    ``net`` is the network as in ``kernels.joint_routes``. Sources and targets are different nodes,
    and weights are above 0.
    """
    from netloom.mapping.kernels.joint_routes import forced

    load, used, first, last = forced(net, source, target, weight)
    hops = net[6][target, source]
    found = [float(load.max()), float(weight.max()), float(weight @ hops / used.sum())]
    for ends, ways, of in ((source, first, 0), (target, last, 1)):
        channels = np.bincount(net[of][ways], minlength=topology.num_hosts)
        moved = np.bincount(ends, weight, topology.num_hosts)
        found.append(float((moved / np.maximum(1, channels)).max()))
    least = max([*found, *_cuts(topology, source, target, weight)])
    if (weight == weight[0]).all():
        return float(np.ceil(least / weight[0] - CLOSE) * weight[0])
    return least


def _cuts(
    topology: Topology,
    source: Ints,
    target: Ints,
    weight: Floats,
) -> Iterator[float]:
    """Yield the load that crosses the cuts of a k-ary n-cube, where there is only one way round."""
    if not isinstance(topology, Cube):
        return
    for side, stride, wraps in zip(topology.sides, topology.strides, topology.wraps, strict=True):
        start, end = (ends // stride % side for ends in (source, target))
        for begin, stop in ((start, end), (end, start)):  # rising, and falling
            steps = (stop - begin) % side if wraps else stop - begin
            forced = (steps > 0) & ((2 * steps < side) | (not wraps))
            change = np.bincount(begin[forced], weight[forced], 2 * side)
            change -= np.bincount((begin + steps)[forced], weight[forced], 2 * side)
            crossing = np.cumsum(change).reshape(2, side).sum(axis=0)
            yield float(crossing.max()) * side / topology.num_hosts
