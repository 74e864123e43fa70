"""How much of some traffic each channel of a k-ary n-cube carries, where packets draw their way.

Exact expectations, for routings that decide without looking at the network: dimension order, half
of the packets either way round a ring where both are as short; O1TURN, which is the mean over two
orders; Valiant's and ROMM's, over all intermediate nodes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.routing import DimensionOrder
from netloom.routing.dimension_order import cube_tables

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.topology import Cube


def dimension_order_loads(
    topology: Cube,
    order: DimensionOrder,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return float64[num_channels], what packets between these pairs of nodes load.

    Parameters
    ----------
    topology, order
        The network, and the order of its dimensions.
    sources, targets, weights
        Pairs of nodes, and how much goes from one to the other.

    Examples
    --------
    Half-way round a ring of four nodes, half of it goes either way:

    >>> from netloom.topology import torus
    >>> ends = np.array([0], np.int32), np.array([2], np.int32)
    >>> dimension_order_loads(torus(4), DimensionOrder(), *ends, np.array([1.0]))
    array([0.5, 0.5, 0. , 0. , 0.5, 0. , 0. , 0.5])
    """
    from netloom.contention.kernels.expected_load import add_in_order

    tables, load = cube_tables(topology, order), np.zeros(topology.num_channels)
    add_in_order(tables, sources, targets, weights, load)
    for growing, falling, length, _ in _lines(topology):
        for channels in (growing, falling):
            load[channels] = load[channels].reshape(-1, length).cumsum(axis=1).ravel()
    return load


def to_every_node(
    topology: Cube, order: DimensionOrder, sent: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return float64[num_channels], the load where each node sends as much to every other.

    On a channel of a dimension, coordinates corrected before are the target's and those corrected
    after are the source's: all targets are alike, so the sources are summed over the former.

    Parameters
    ----------
    topology, order
        The network, and the order of its dimensions.
    sent
        float64[num_nodes], what each node sends to every other one.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> to_every_node(mesh(4), DimensionOrder(), np.ones(4))
    array([3., 4., 3., 3., 4., 3.])
    """
    load = np.empty(topology.num_channels)
    order_of = cube_tables(topology, order).order.tolist()
    sources = sent.reshape(topology.sides)
    for rank, axis in enumerate(order_of):
        side, wraps = topology.sides[axis], topology.wraps[axis]
        targets = np.prod([topology.sides[later] for later in order_of[rank + 1 :]], initial=1.0)
        length = side if wraps else side - 1
        shape = [length if each == axis else size for each, size in enumerate(topology.sides)]
        for direction in range(2):
            along = np.moveaxis(sources if direction == 0 else np.flip(sources, axis), axis, -1)
            crossing = _round_a_ring(along, side) if wraps else _along_a_line(along, side)
            full = np.broadcast_to(np.moveaxis(targets * crossing, -1, axis), shape)
            first = int(topology.line_base[axis, direction])
            load[first : first + full.size] = np.moveaxis(full, axis, -1).ravel()
        sources = sources.sum(axis=axis, keepdims=True)
    return load


def valiant_loads(
    topology: Cube,
    order: DimensionOrder,
    sent: NDArray[np.float64],
    received: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return float64[num_channels], what packets load that travel by way of any node.

    The first trip depends only on where a packet comes from, the second on where it goes. The
    second is the first one of what nodes receive, backwards, in the other order of dimensions.

    Parameters
    ----------
    topology, order
        The network, and the order of its dimensions in both trips.
    sent, received
        float64[num_nodes], what each node sends and receives, from and to itself too.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> valiant_loads(mesh(4), DimensionOrder(), np.ones(4), np.ones(4))
    array([1.5, 2. , 1.5, 1.5, 2. , 1.5])
    """
    nodes = topology.num_nodes
    reverse = DimensionOrder(tuple(cube_tables(topology, order).order[::-1].tolist()))
    there = to_every_node(topology, order, sent / nodes)
    back = to_every_node(topology, reverse, received / nodes)
    return there + _backwards(topology, back)


def romm_loads(
    topology: Cube,
    order: DimensionOrder,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    weights: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return float64[num_channels], what packets load that travel by way of their minimal box.

    Parameters
    ----------
    topology, order
        The network, and the order of its dimensions in both trips.
    sources, targets, weights
        Pairs of nodes, and how much goes from one to the other.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> ends = np.array([0], np.int32), np.array([3], np.int32)
    >>> load = romm_loads(mesh(2, 2), DimensionOrder(), *ends, np.array([1.0]))
    >>> {mesh(2, 2).channel_name(c): float(load[c]) for c in np.flatnonzero(load)}
    {'(0,0) -> (1,0)': 0.25, '(0,1) -> (1,1)': 0.75, '(0,0) -> (0,1)': 0.75, '(1,0) -> (1,1)': 0.25}
    """
    from netloom.contention.kernels.expected_load import add_by_box

    load = np.zeros(topology.num_channels)
    add_by_box(cube_tables(topology, order), sources, targets, weights, load)
    return load


def romm_work(topology: Cube, sources: NDArray[np.int32], targets: NDArray[np.int32]) -> float:
    """Return how many nodes the minimal boxes of these pairs hold in all: the work of the above.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> romm_work(mesh(3, 3), np.array([0, 0], np.int32), np.array([8, 1], np.int32))
    11.0
    """
    size = np.ones(len(sources))
    for side, stride, wraps in zip(topology.sides, topology.strides, topology.wraps, strict=True):
        apart = np.abs(sources // stride % side - targets // stride % side)
        size *= 1 + (np.minimum(apart, side - apart) if wraps else apart)
    return float(size.sum())


def _along_a_line(sent: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """What crosses each channel of an open line, for each target beyond it: all from before it."""
    return np.asarray(sent.cumsum(axis=-1)[..., : side - 1] * np.arange(side - 1.0, 0, -1))


def _round_a_ring(sent: NDArray[np.float64], side: int) -> NDArray[np.float64]:
    """What crosses each channel of a ring: a node x before it has targets beyond x hops."""
    hops = np.arange(1, side)
    chosen = np.where(2 * hops < side, 1.0, np.where(2 * hops == side, 0.5, 0.0))
    beyond = np.append(chosen[::-1].cumsum()[::-1], 0.0)
    circle = np.fft.rfft(sent, axis=-1) * np.fft.rfft(beyond)
    return np.maximum(np.fft.irfft(circle, n=side, axis=-1), 0.0)


def _lines(topology: Cube) -> Iterator[tuple[slice, slice, int, bool]]:
    """Yield each dimension's channels, growing and falling, those of a line, whether it closes."""
    for axis, length in enumerate(topology.line_channels.tolist()):
        size = topology.num_nodes // topology.sides[axis] * length
        growing, falling = (slice(first, first + size) for first in topology.line_base[axis])
        if length:
            yield growing, falling, length, topology.wraps[axis]


def _backwards(topology: Cube, load: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the load where all packets go back by the channels opposite to theirs."""
    turned = np.empty_like(load)
    for growing, falling, length, wraps in _lines(topology):
        for here, there in ((growing, falling), (falling, growing)):
            opposite = load[there].reshape(-1, length)[:, ::-1]
            turned[here] = np.roll(opposite, -1, axis=1).ravel() if wraps else opposite.ravel()
    return turned
