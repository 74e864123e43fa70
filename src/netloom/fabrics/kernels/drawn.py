"""Permutations of hosts straight from a forwarding table.

Twin: ``tests/reference/permutations.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit(nogil=True)
def permuted(table, firsts, entry, row, alone, channel_target, bandwidth):
    """Return the longest time on a channel between routers, and the mean share, of permutations.

    Permutation g has the pairs ``firsts[g]`` … ``firsts[g + 1]`` - 1: packets enter at router
    ``entry[p]`` and follow row ``row[p]`` of the table. ``alone[p]`` is what the pair could send
    where nobody else does. A pair without a way gets nothing. It stops where the table does.
    """
    count = len(firsts) - 1
    longest, shares = np.zeros(count), np.zeros(count)
    load = np.zeros(len(channel_target), np.int32)
    most = table.shape[1]
    for group in range(count):
        for sign in (1, 0, -1):
            for pair in range(firsts[group], firsts[group + 1]):
                ways, at, least = table[row[pair]], entry[pair], alone[pair]
                for _ in range(most):
                    channel = ways[at]
                    if channel < 0:
                        break
                    if sign != 0:
                        load[channel] += sign
                    else:
                        least = min(least, bandwidth[channel] / load[channel])
                        longest[group] = max(longest[group], load[channel] / bandwidth[channel])
                    at = channel_target[channel]
                if sign == 0:
                    shares[group] += least / alone[pair]
        shares[group] /= max(firsts[group + 1] - firsts[group], 1)
    return longest, shares
