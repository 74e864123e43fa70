"""Dimension order on k-ary n-cubes, over flat arrays.

``tables`` is the ``CubeTables`` of ``routing.rules``: sides, strides, wraps, channels per line,
first channel of each dimension and direction, and the order in which dimensions are corrected.

Twin: ``tests/reference/dimension_order.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import njit


@njit
def travel(start, end, side, wrap):
    """Direction (0 forward, 1 backward) and hops from coordinate ``start`` to ``end``."""
    if not wrap:
        return (0, end - start) if end >= start else (1, start - end)
    forward = end - start if end >= start else end - start + side
    if 2 * forward <= side:  # a tie goes forward
        return 0, forward
    return 1, side - forward


@njit(error_model="numpy")
def step(tables, axis, node, target):
    """Where a packet at ``node`` goes along ``axis`` on its way to ``target``.

    Returns its direction, its hops, the first channel of its directed line, its place on that
    line, and the node that it reaches.
    """
    side, stride = np.int32(tables.sides[axis]), np.int32(tables.strides[axis])
    node, target = np.int32(node), np.int32(target)
    above = node // stride  # node = (row * side + start) * stride + below
    row = above // side
    below, start = node - above * stride, above - row * side
    end = target // stride % side
    direction, hops = travel(start, end, side, tables.wraps[axis])
    place = start if direction == 0 else side - 1 - start
    line = row * stride + below
    first = tables.line_base[axis, direction] + line * tables.line_channels[axis]
    return direction, hops, first, place, node + (end - start) * stride


@njit
def path_offsets(tables, sources, targets):
    """Offsets of the ragged array that ``fill_paths`` fills."""
    offsets = np.zeros(len(sources) + 1, np.int64)
    for path in range(len(sources)):
        node, hops = sources[path], 0
        for axis in tables.order:
            _, crossed, _, _, node = step(tables, axis, node, targets[path])
            hops += crossed
        offsets[path + 1] = offsets[path] + hops
    return offsets


@njit
def fill_paths(tables, sources, targets, offsets):
    """Channels of every path, in the order in which they are crossed."""
    channels = np.empty(offsets[-1], np.int32)
    for path in range(len(sources)):
        node, free = sources[path], offsets[path]
        for axis in tables.order:
            _, hops, line, place, node = step(tables, axis, node, targets[path])
            for hop in range(place, place + hops):  # round the end of a ring where need be
                channels[free] = line + hop % tables.sides[axis]
                free += 1
    return channels
