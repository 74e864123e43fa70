"""Dimension-order routing on k-ary n-cubes, over flat arrays.

``tables`` is the ``CubeTables`` of ``dimension_order``: sides, strides, wraps, channels per line,
first channel of each dimension and direction, and the order in which dimensions are corrected.
"""

import numpy as np
from numba import njit


@njit(cache=True)
def travel(start, end, side, wrap):
    """Direction (0 forward, 1 backward) and hops from coordinate ``start`` to ``end``."""
    if not wrap:
        return (0, end - start) if end >= start else (1, start - end)
    forward = end - start if end >= start else end - start + side
    if 2 * forward <= side:  # a tie goes forward
        return 0, forward
    return 1, side - forward


@njit(cache=True)
def line_start(tables, axis, direction, node):
    """First channel of the directed line through ``node`` along ``axis``."""
    side, stride = tables.sides[axis], tables.strides[axis]
    line = node // (stride * side) * stride + node % stride
    return tables.line_base[axis, direction] + line * tables.line_channels[axis]


@njit(cache=True)
def position(coordinate, direction, side):
    """Place on its line of the channel that leaves ``coordinate`` in ``direction``."""
    return coordinate if direction == 0 else side - 1 - coordinate


@njit(cache=True)
def path_offsets(tables, sources, targets):
    """Offsets of the ragged array that ``fill_paths`` fills."""
    offsets = np.zeros(len(sources) + 1, np.int64)
    for path in range(len(sources)):
        hops = 0
        for axis in range(len(tables.sides)):
            side, stride = tables.sides[axis], tables.strides[axis]
            start, end = sources[path] // stride % side, targets[path] // stride % side
            hops += travel(start, end, side, tables.wraps[axis])[1]
        offsets[path + 1] = offsets[path] + hops
    return offsets


@njit(cache=True)
def fill_paths(tables, sources, targets, offsets):
    """Channels of every path, in the order in which they are crossed."""
    channels = np.empty(offsets[-1], np.int32)
    for path in range(len(sources)):
        node = np.int64(sources[path])
        free = offsets[path]
        for axis in tables.order:
            side, stride = tables.sides[axis], tables.strides[axis]
            start, end = node // stride % side, targets[path] // stride % side
            direction, hops = travel(start, end, side, tables.wraps[axis])
            first = line_start(tables, axis, direction, node)
            place = position(start, direction, side)
            for hop in range(hops):
                channels[free] = first + (place + hop) % side
                free += 1
            node += (end - start) * stride
    return channels
