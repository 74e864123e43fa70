"""Exact contention of any paths: for each path, stamp every path found on its channels.

Work: O(paths · path length · channel load), which is fast enough for tens of thousands of paths.
Any paths are allowed: a user's own routes may meet, part and meet again.

Twin: ``tests/reference/contention.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit()
def count_loads(channels, offsets, weights, load, weighted_load):
    """Add every path, and its weight, to each of its channels."""
    for path in range(len(offsets) - 1):
        for hop in range(offsets[path], offsets[path + 1]):
            load[channels[hop]] += 1
            weighted_load[channels[hop]] += weights[path]


@njit(nogil=True)
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
