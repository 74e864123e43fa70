"""Exact contention of dimension-order paths on a k-ary n-cube, without looking at pairs of paths.

Why counting suffices. Let two minimal dimension-order paths share channels. Within one dimension
they share an unbroken run of a line (on a ring too: each covers at most half of it), and if they
share channels in two dimensions then they turn between them at the same node and are the same in
between. So what two paths share is always *one unbroken run of channels*, and each path q that
meets path p has exactly one channel of p on which it is *new*: on p's channel but not on the one
before it. Therefore

    1 + ν(p) = load(c_1) + Σ_{i>1} [load(c_i) - turning(c_{i-1}, c_i)],

where ``turning(a, b)`` counts the paths that cross a and then b. Inside a line the difference is
the number of paths that *join* at c_i, coming from another line or from the node itself, so one
prefix sum over joins answers for a whole line. Between two lines it is one table look-up. Each
dimension takes two passes over the paths: count, then ask. Work: O(paths · dimensions + channels).

The thesis's logical path length d counts the channels on which some path is new.
"""

import numpy as np
from numba import njit

from netloom.routing.dimension_order_kernel import line_start, position, travel


@njit(cache=True)
def step(tables, axis, node, target):
    """Where the path at ``node`` goes along ``axis``.

    Returns its direction, its hops, the first channel of its line and its place on that line.
    """
    side, stride = tables.sides[axis], tables.strides[axis]
    start, end = node // stride % side, target // stride % side
    direction, hops = travel(start, end, side, tables.wraps[axis])
    place = position(start, direction, side)
    return direction, hops, line_start(tables, axis, direction, node), place


@njit(cache=True)
def _cover(load, line, length, place, hops, weight):
    """Add ``weight`` to a difference array over ``hops`` channels of a line, round its end too."""
    load[line + place] += weight
    beyond = place + hops
    if beyond < length:
        load[line + beyond] -= weight
    elif beyond > length:
        load[line] += weight
        load[line + beyond - length] -= weight


@njit(cache=True)
def _sum_lines(values, length):
    """Turn every line of ``length`` values into its running sum."""
    for line in range(0, len(values), length):
        for place in range(line + 1, line + length):
            values[place] += values[place - 1]


@njit(cache=True)
def _between(running, line, length, place, hops):
    """Sum over the channels of a run after its first, from a line's running sum."""
    last = place + hops - 1
    if last < length:
        return running[line + last] - running[line + place]
    return running[line + length - 1] - running[line + place] + running[line + last - length]


@njit(cache=True)
def count_dimension(tables, rank, targets, weights, at, came, loads, joins, turns):
    """First pass along one dimension: who crosses, joins and turns onto each channel.

    ``rank`` is the dimension's place in the order of correction. ``at`` is the node each path has
    reached, ``came`` the (rank, direction) by which it got there, -1 where it starts. ``loads``,
    ``joins`` and ``turns`` are pairs (count, weight) of arrays over this dimension's channels.
    """
    axis = tables.order[rank]
    base, length = tables.line_base[axis, 0], tables.line_channels[axis]
    for path in range(len(targets)):
        _, hops, line, place = step(tables, axis, at[path], targets[path])
        if hops == 0:
            continue
        line -= base
        first = line + place
        _cover(loads[0], line, length, place, hops, 1)
        _cover(loads[1], line, length, place, hops, weights[path])
        joins[0][first] += 1
        joins[1][first] += weights[path]
        if came[path] >= 0:
            turns[0][first, came[path]] += 1
            turns[1][first, came[path]] += weights[path]
    _sum_lines(loads[0], length)
    _sum_lines(loads[1], length)


@njit(cache=True)
def ask_dimension(tables, rank, targets, at, came, loads, joins, turns, met):
    """Second pass: add what each path meets along this dimension, and move it to the next.

    ``met`` is (path length, logical path length, paths met, weight met); a path counts itself
    once among the paths it meets.
    """
    axis = tables.order[rank]
    base, length = tables.line_base[axis, 0], tables.line_channels[axis]
    side, stride = tables.sides[axis], tables.strides[axis]
    new_here = (joins[0] > 0).astype(np.int32)
    _sum_lines(joins[0], length)
    _sum_lines(joins[1], length)
    _sum_lines(new_here, length)
    for path in range(len(targets)):
        direction, hops, line, place = step(tables, axis, at[path], targets[path])
        if hops == 0:
            continue
        line -= base
        first = line + place
        new, new_weight = loads[0][first], loads[1][first]
        itself = 1
        if came[path] >= 0:
            new -= turns[0][first, came[path]]
            new_weight -= turns[1][first, came[path]]
            itself = 0
        met[0][path] += hops
        met[1][path] += (new > itself) + _between(new_here, line, length, place, hops)
        met[2][path] += new + _between(joins[0], line, length, place, hops)
        met[3][path] += new_weight + _between(joins[1], line, length, place, hops)
        at[path] += (targets[path] // stride % side - at[path] // stride % side) * stride
        came[path] = 2 * rank + direction
