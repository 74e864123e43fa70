"""Traffic of one permutation of hosts after the other: the busiest channel, and what pairs get.

Twin: ``tests/reference/permutations.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit(nogil=True)
def permutation_figures(channels, offsets, firsts, bandwidth, between, total, load):
    """Return the largest load and time between routers, and the mean share, of each permutation.

    Permutation g has the paths ``firsts[g]`` … ``firsts[g + 1]`` - 1, whose channels are
    ``channels[offsets[p]:offsets[p + 1]]``. Channels from ``between`` on are of hosts. A pair's
    share is the least bandwidth over load along its path, over what the path's host channels carry.
    Over 1 where there are none, and 1 of a path without channels. ``total`` gains the loads of all
    permutations. ``load`` has a zero for every channel, and again so afterwards.
    """
    count = len(firsts) - 1
    largest, longest, shares = np.zeros(count, np.int64), np.zeros(count), np.zeros(count)
    for group in range(count):
        low, high = offsets[firsts[group]], offsets[firsts[group + 1]]
        for hop in range(low, high):
            load[channels[hop]] += 1
        for hop in range(low, high):
            channel = channels[hop]
            if channel < between:
                largest[group] = max(largest[group], load[channel])
                longest[group] = max(longest[group], load[channel] / bandwidth[channel])
        for path in range(firsts[group], firsts[group + 1]):
            least, alone = np.inf, np.inf
            for hop in range(offsets[path], offsets[path + 1]):
                channel = channels[hop]
                least = min(least, bandwidth[channel] / load[channel])
                if channel >= between:
                    alone = min(alone, bandwidth[channel])
            if alone == np.inf:
                alone = 1.0
            shares[group] += 1.0 if least == np.inf else min(least / alone, 1.0)
        shares[group] /= max(firsts[group + 1] - firsts[group], 1)
        for hop in range(low, high):
            total[channels[hop]] += 1
            load[channels[hop]] = 0
    return largest, longest, shares
