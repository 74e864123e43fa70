"""Dimension order on k-ary n-cubes, also around what is broken, over flat arrays.

``tables`` is the ``CubeTables`` of ``routing.rules``: sides, strides, wraps, channels per line,
first channel of each dimension and direction, and the order in which dimensions are corrected.

Around what is broken, directions are 2 d for falling and 2 d + 1 for growing coordinates of
dimension d. ``grid`` holds the router at each place [x, y, z], -1 for none. Each router's place,
and its neighbours by direction, -1 where there is no cable.

Twin: ``tests/reference/dimension_order.py``. Around what is broken: ``tests/reference/opensm.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import kernel, njit

# -- dimension order -------------------------------------------------------------------------------


@njit()
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


@njit()
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


@njit()
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


# -- torus -----------------------------------------------------------------------------------------


NOWHERE = -1


@kernel
def shorter_way(here, there, side):
    """Return the direction of the shorter way around a ring, 1 for growing, -1 if both are one."""
    if here == there:
        return -1
    inner = abs(there - here)
    grows = there > here
    if inner > side - inner:
        grows = not grows
    return 1 if grows else 0


@kernel
def open_way(grid, axis, router, goal, side):
    """Return the direction along a dimension that leads to a router on it, the shorter first."""
    _, place, step = grid
    first = shorter_way(place[router, axis], place[goal, axis], side)
    for turn in range(2):
        direction = 2 * axis + (first + turn) % 2
        at = router
        for _ in range(side):
            at = step[at, direction]
            if at == goal:
                return direction
            if at < 0:
                break
    return NOWHERE


@kernel
def along(grid, axis, router, end, sides):
    """Return the direction in which to go along a dimension to where a way turns.

    If no router stands there, the shorter way as far as it leads, except in the last dimension.
    """
    at_place, place, step = grid
    x, y, z = place[router, 0], place[router, 1], place[router, 2]
    if axis == 0:
        x = place[end, 0]
    elif axis == 1:
        y = place[end, 1]
    else:
        z = place[end, 2]
    goal = at_place[x, y, z]
    if goal >= 0:
        return open_way(grid, axis, router, goal, sides[axis])
    if axis == 2:
        return NOWHERE
    direction = 2 * axis + shorter_way(place[router, axis], place[end, axis], sides[axis])
    return direction if step[router, direction] >= 0 else NOWHERE


@njit(nogil=True)
def torus_directions(grid, sides):
    """Return int8[routers, routers], the direction to each router (row) from each other."""
    _, place, _ = grid
    num_routers = len(place)
    found = np.full((num_routers, num_routers), NOWHERE, np.int8)
    for end in range(num_routers):
        for router in range(num_routers):
            if router == end or place[end, 0] < 0 or place[router, 0] < 0:
                continue
            for axis in range(3):
                if place[end, axis] == place[router, axis]:
                    continue
                direction = along(grid, axis, router, end, sides)
                if direction >= 0:
                    found[end, router] = direction
                    break
    return found
