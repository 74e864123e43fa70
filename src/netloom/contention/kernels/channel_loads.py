"""Exact contention of paths over flat arrays.

Dimension-order paths on a k-ary n-cube are counted, without looking at pairs of paths. Counting
suffices for the following reason. Let two minimal dimension-order paths share channels.
Within one dimension they share an unbroken run of a line (on a ring too: each covers at most half
of it). If they share channels in two dimensions, they turn between these at the same node and are
the same in between. So two paths always share *one unbroken run of channels*. Each path q that
meets path p is *new* on exactly one channel of p: it is on that channel but not on the one before
it. Therefore

    1 + ν(p) = load(c_1) + Σ_{i>1} [load(c_i) - turning(c_{i-1}, c_i)],

where ``turning(a, b)`` counts the paths that cross a and then b. Inside a line the difference is
the number of paths that *join* at c_i, coming from another line or from the node itself. So one
prefix sum over joins suffices for a whole line. Between two lines it is one table look-up. Each
dimension takes two passes over the paths: one counts, the other looks up. Work: O(paths ·
dimensions + channels).

The thesis's logical path length d counts the channels on which some path is new.

The busiest channel of a path is also found without walking the path. ``spans`` holds the largest
load of every 2**j channels of a line, and two overlapping spans cover any run.

Of any other paths, each one stamps every path found on its channels. Work: O(paths · path length ·
channel load), which is fast enough for tens of thousands of paths. Any paths are allowed: a user's
own routes may meet, part and meet again.

Twin: ``tests/reference/contention.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.contention.kernels.expected_load import add_run
from netloom.routing.kernels.dimension_order import step

# -- counted, line by line -------------------------------------------------------------------------


COUNT, JOINED, WEIGHT = 0, 1, -1
"""Columns of the tables: paths, (a running sum of) whether any path joins, and their weight."""


@njit
def _sum_lines(values, length):
    """Turn every line of ``length`` rows into its running sum."""
    for line in range(0, len(values), length):
        for place in range(line + 1, line + length):
            values[place] += values[place - 1]


@njit
def count_dimension(tables, rank, targets, weights, at, came, load, join, turn):
    """First pass along one dimension: who crosses, joins and turns onto each channel.

    ``rank`` is the dimension's place in the order of correction. ``at`` is the node each path has
    reached, ``came`` the (rank, direction) by which it got there, -1 where it starts. ``load``,
    ``join`` and ``turn`` have a row for each of this dimension's channels. The data of one look-up
    are adjacent, because the rows are visited in no order. Without ``weights``, tables of whole
    numbers have no column of them, and more of a large network stays in the processor's cache.
    """
    axis = tables.order[rank]
    base, length = tables.line_base[axis, 0], tables.line_channels[axis]
    for path in range(len(targets)):
        _, hops, line, place, _ = step(tables, axis, at[path], targets[path])
        if hops == 0:
            continue
        line -= base
        first = line + place
        add_run(load[:, COUNT], line, length, place, hops, 1)
        join[first, COUNT] += 1
        if came[path] >= 0:
            turn[first, came[path], COUNT] += 1
        if weights is not None:
            add_run(load[:, WEIGHT], line, length, place, hops, weights[path])
            join[first, WEIGHT] += weights[path]
            if came[path] >= 0:
                turn[first, came[path], WEIGHT] += weights[path]
    _sum_lines(load, length)
    join[:, JOINED] = join[:, COUNT] > 0
    _sum_lines(join, length)


@njit
def spans(load, length):
    """Largest load of each span of 2**j channels, j = 0, 1 …, clipped at the end of its line."""
    levels = 1
    while 2**levels <= length:
        levels += 1
    heaviest = np.empty((levels, len(load)), load.dtype)
    heaviest[0] = load
    for level in range(1, levels):
        half = 2 ** (level - 1)
        for channel in range(len(load)):
            best = heaviest[level - 1, channel]
            if channel % length + half < length:
                best = max(best, heaviest[level - 1, channel + half])
            heaviest[level, channel] = best
    return heaviest


@njit
def _heaviest_run(heaviest, levels, first, hops):
    level = levels[hops]
    return max(heaviest[level, first], heaviest[level, first + hops - (1 << level)])


@njit
def ask_dimension(tables, rank, targets, weights, at, came, load, join, turn, heaviest, met):
    """Second pass: add what each path meets along this dimension, and move it to the next.

    ``heaviest`` is ``spans`` of the load by weight. ``met`` is (path length, logical path length,
    paths met, heaviest channel, weight met). A path counts itself once among the paths it meets.
    """
    axis = tables.order[rank]
    base, length = tables.line_base[axis, 0], tables.line_channels[axis]
    levels = np.zeros(length + 1, np.int64)  # of the longest span in so many hops
    for hops in range(2, length + 1):
        levels[hops] = levels[hops // 2] + 1
    for path in range(len(targets)):
        direction, hops, line, place, reached = step(tables, axis, at[path], targets[path])
        if hops == 0:
            continue
        line -= base
        first, last = line + place, line + place + hops - 1
        turned = came[path] >= 0
        new = load[first, COUNT] - (turn[first, came[path], COUNT] if turned else 0)
        met[1][path] += new > (not turned)
        before_end = min(hops, length - place)
        peak = _heaviest_run(heaviest, levels, first, before_end)
        end = -1
        if before_end < hops:  # the run goes on at the start of its ring
            last -= length
            end = line + length - 1
            peak = max(peak, _heaviest_run(heaviest, levels, line, hops - before_end))
            met[1][path] += join[end, JOINED]
            new += join[end, COUNT]
        met[0][path] += hops
        met[1][path] += join[last, JOINED] - join[first, JOINED]
        met[2][path] += new + join[last, COUNT] - join[first, COUNT]
        met[3][path] = max(met[3][path], peak)
        if weights is not None:
            weight = load[first, WEIGHT] - (turn[first, came[path], WEIGHT] if turned else 0.0)
            if end >= 0:
                weight += join[end, WEIGHT]
            met[4][path] += weight + join[last, WEIGHT] - join[first, WEIGHT]
        at[path] = reached
        came[path] = 2 * rank + direction


# -- stamped, path by path -------------------------------------------------------------------------


@njit
def stamp_paths(channels, offsets, weights, load):
    """Logical path length, paths met and weight met of every path.

    A path counts itself once among the paths it meets.
    """
    num_paths = len(offsets) - 1
    on_channel = np.empty(len(channels), np.int32)  # the paths on each channel, channel by channel
    first = np.zeros(len(load) + 1, np.int64)
    first[1:] = np.cumsum(load)
    free = first[:-1].copy()
    for path in range(num_paths):
        for hop in range(offsets[path], offsets[path + 1]):
            on_channel[free[channels[hop]]] = path
            free[channels[hop]] += 1
    logical = np.zeros(num_paths, np.int32)
    met = np.zeros(num_paths, np.int32)
    met_weight = np.zeros(num_paths)
    stamp = np.full(num_paths, -1, np.int32)
    for path in range(num_paths):
        for hop in range(offsets[path], offsets[path + 1]):
            new_other = False
            for slot in range(first[channels[hop]], first[channels[hop] + 1]):
                other = on_channel[slot]
                if stamp[other] != path:
                    stamp[other] = path
                    met[path] += 1
                    met_weight[path] += weights[other]
                    new_other |= other != path
            logical[path] += new_other
    return logical, met, met_weight
