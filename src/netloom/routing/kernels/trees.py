"""Paths in fat trees with parallel links, from a key for each path, over flat arrays.

``tree`` is what ``tree_index`` of ``netloom.routing.rules`` returns. Levels are numbered from the
hosts, 0.

Twin: ``tests/reference/tree_routing.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit(nogil=True)
def meeting_levels(children, sources, targets):
    """Return the level of the nearest common ancestor of each pair of places of hosts."""
    levels = np.empty(len(sources), np.int64)
    for pair in range(len(sources)):
        source, target, level = sources[pair], targets[pair], 0
        while source != target:
            source //= children[level]
            target //= children[level]
            level += 1
        levels[pair] = level
    return levels


@njit(nogil=True)
def fill_paths(tree, steps, sources, targets, keys, offsets):
    """Walk every path up to where source and target meet, and down again.

    Returned are its channels between routers, and the ports of its hosts at both ends.

    The digits of a path's key give its choices above each level. The parent is
    ``key // steps[0, level] % parents``, the cable up ``key // steps[1, level] % parallel``, and
    the cable down on the way back ``key // steps[2, level] % parallel``.
    """
    children, parents, parallel, first_up, channel_at = tree
    num_up = len(channel_at) // 2
    channels = np.empty(offsets[-1], np.int32)
    port, sink = np.empty(len(sources), np.int32), np.empty(len(sources), np.int32)
    for path in range(len(sources)):
        begin, end = offsets[path], offsets[path + 1]
        source, target, key = sources[path], targets[path], keys[path]
        low, below = 0, 1  # the digits of parents that were chosen, and how many ways they can be
        if source == target:
            port[path] = sink[path] = channel_at[source * parents[0] * parallel[0]]
        level = 0
        while source != target:
            parent = key // steps[0, level] % parents[level]
            cables = parallel[level]
            up = key // steps[1, level] % cables
            down = key // steps[2, level] % cables
            here = ((source * below + low) * parents[level] + parent) * cables + first_up[level]
            there = ((target * below + low) * parents[level] + parent) * cables + first_up[level]
            if level == 0:
                port[path], sink[path] = channel_at[here + up], channel_at[num_up + there + down]
            else:
                channels[begin + level - 1] = channel_at[here + up]
                channels[end - level] = channel_at[num_up + there + down]
            low += parent * below
            below *= parents[level]
            source //= children[level]
            target //= children[level]
            level += 1
    return channels, port, sink
