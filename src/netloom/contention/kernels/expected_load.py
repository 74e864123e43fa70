"""Expected loads of channels of k-ary n-cubes where packets draw their way: pair by pair.

``tables`` is ``CubeTables``. Half-way round a ring half of the packets go either way
(``add_in_order``: if ``both_ways``). Runs of
channels are added to ``load`` as differences: +w where a run begins and -w behind its end, so that
a running sum along each line gives the loads.

Twin: ``tests/reference/expected_load.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.dimension_order import step, travel


@njit()
def _add_run(load, line, length, place, hops, weight):
    """Add ``weight`` to ``hops`` channels of a line from ``place`` on, round its end too."""
    load[line + place] += weight
    beyond = place + hops
    if beyond > length:
        load[line] += weight
        beyond -= length
    if beyond < length:
        load[line + beyond] -= weight


@njit(nogil=True)
def add_in_order(tables, sources, targets, weights, both_ways, load):
    """Add what packets between pairs of nodes load in dimension order, as differences."""
    for path in range(len(sources)):
        node = sources[path]
        for axis in tables.order:
            _, hops, line, place, node = step(tables, axis, node, targets[path])
            if hops == 0:
                continue
            length, side = tables.line_channels[axis], tables.sides[axis]
            if not both_ways or not tables.wraps[axis] or 2 * hops != side:
                _add_run(load, line, length, place, hops, weights[path])
                continue
            _add_run(load, line, length, place, hops, weights[path] / 2)
            back = line + tables.line_base[axis, 1] - tables.line_base[axis, 0]
            _add_run(load, back, length, side - 1 - place, hops, weights[path] / 2)


@njit()
def _add_line(tables, axis, node, direction, load, fill, hops, first_phase):
    """Add the chance that each of ``hops`` channels from ``node`` is crossed in one phase."""
    side, stride = tables.sides[axis], tables.strides[axis]
    start = node // stride % side
    line = node // (stride * side) * stride + node % stride
    length = tables.line_channels[axis]
    first = tables.line_base[axis, direction] + line * length
    place = start if direction == 0 else side - 1 - start
    for hop in range(hops):
        many = hops - hop if first_phase else hop + 1
        load[first + (place + hop) % side] += fill * many / (hops + 1)


@njit()
def _moved(tables, axis, node, hops):
    """The node so many hops (negative: falling) along one dimension."""
    side, stride = tables.sides[axis], tables.strides[axis]
    start = node // stride % side
    return node + ((start + hops) % side - start) * stride


@njit(nogil=True)
def add_by_box(tables, sources, targets, weights, load):
    """Add what ROMM loads: dimension order to any node of the minimal box, and on from there.

    On the way to the intermediate node, dimensions corrected earlier are where that is and later
    ones where the source is. On the way from it, where the target is and where that is.
    """
    axes = len(tables.order)
    hops, ahead = np.zeros(axes, np.int64), np.zeros(axes, np.int64)
    for path in range(len(sources)):
        source, target = np.int64(sources[path]), np.int64(targets[path])
        ties, ways = 0, 1
        for rank in range(axes):
            axis = tables.order[rank]
            side, stride = tables.sides[axis], tables.strides[axis]
            start, end = source // stride % side, target // stride % side
            direction, hops[rank] = travel(start, end, side, tables.wraps[axis])
            ahead[rank] = hops[rank] if direction == 0 else -hops[rank]
            if tables.wraps[axis] and 2 * hops[rank] == side:
                ties |= 1 << rank
                ways *= 2
        for coin in range(1 << axes):
            if coin & ~ties:
                continue
            for rank in range(axes):
                if ties >> rank & 1:
                    ahead[rank] = -hops[rank] if coin >> rank & 1 else hops[rank]
            for rank in range(axes):
                if hops[rank]:
                    _add_boxes(tables, rank, source, hops, ahead, weights[path] / ways, load)


@njit()
def _add_boxes(tables, rank, source, hops, ahead, weight, load):
    axis, direction = tables.order[rank], 0 if ahead[rank] > 0 else 1
    for first_phase in (True, False):
        low, high = (0, rank) if first_phase else (rank + 1, len(hops))
        count = 1
        for other in range(low, high):
            count *= hops[other] + 1
        for number in range(count):
            node = source
            if not first_phase:
                for other in range(rank):
                    node = _moved(tables, tables.order[other], node, ahead[other])
            left = number
            for other in range(low, high):
                along = left % (hops[other] + 1)
                left //= hops[other] + 1
                sign = 1 if ahead[other] > 0 else -1
                node = _moved(tables, tables.order[other], node, sign * along)
            _add_line(tables, axis, node, direction, load, weight / count, hops[rank], first_phase)
