"""Dimension order around what is broken, over flat arrays.

Directions are 2 d for falling and 2 d + 1 for growing coordinates of dimension d. ``grid`` holds
the router at each place [x, y, z], -1 for none. Each router's place, and its neighbours by
direction, -1 where there is no cable.

Twin: ``tests/reference/opensm.py``.
"""

import numpy as np

from netloom.base.compilation import kernel, njit

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
