"""The smallest peak width over all linear layouts, by dynamic programming over sets of nodes.

Twin: ``tests/reference/wiring.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit()
def bit_count(word):
    """Return the number of bits set in ``word``."""
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count


@njit()
def smallest_peak(neighbours):
    """Peak width of the best layout. Bit w of ``neighbours[v]`` is set where a link joins v and w.

    ``best[nodes]`` is the smallest peak with which the set ``nodes`` can fill the first
    positions. The last node placed was any of the set, so it is the larger of the set's own cut
    and the smallest ``best`` of the sets that lack one node.
    """
    num_nodes = len(neighbours)
    cut = np.zeros(1 << num_nodes, np.int16)
    best = np.zeros(1 << num_nodes, np.int16)
    for nodes in range(1, 1 << num_nodes):
        rest = nodes & (nodes - 1)
        lowest = bit_count((nodes ^ rest) - 1)
        inside = bit_count(neighbours[lowest] & rest)
        cut[nodes] = cut[rest] + bit_count(neighbours[lowest]) - 2 * inside
        smallest = best[rest]
        left = rest
        while left:
            others = left & (left - 1)
            smallest = min(smallest, best[nodes ^ left ^ others])
            left = others
        best[nodes] = max(cut[nodes], smallest)
    return best[-1]
