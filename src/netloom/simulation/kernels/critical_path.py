"""The longest path through rows that wait for each other.

Twin: ``tests/reference/agenda.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit(nogil=True)
def earliest_ends(start, cycles, after_offsets, after):
    """When each row could end at best: all it waits for, but not before its start, and its cycles.

    ``start``, ``cycles``: int64[n], or float64[n] in any unit. Rows wait for earlier ones only, so
    one pass in their order is enough.
    """
    ends = np.empty_like(cycles)
    for row in range(len(start)):
        begin = start[row]
        for slot in range(after_offsets[row], after_offsets[row + 1]):
            begin = max(begin, ends[after[slot]])
        ends[row] = begin + cycles[row]
    return ends
