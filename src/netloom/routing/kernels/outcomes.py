"""Ends of packets under a forwarding table, over flat arrays: each entry is looked at once.

Twin: ``tests/reference/outcomes.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit(nogil=True)
def outcomes(table, last, lost, channel_target):
    """Return what becomes of packets from each router to each row: int32[rows, routers].

    -1: they arrive at ``last[row]``, whose own entry delivers them. A router r: they end there,
    because it has no entry or one that leads nowhere. -2 - r: they circle, and r is the
    lowest-numbered router of the circle. ``lost[row]`` is set if the entry of ``last[row]`` does
    not deliver.
    """
    rows, routers = table.shape
    ends = np.empty((rows, routers), np.int32)
    place = np.zeros(routers, np.int64)
    way = np.empty(routers, np.int32)
    for row in range(rows):
        place[:] = -1  # not seen; -2: its outcome is known
        for start in range(routers):
            router, hops, found = start, 0, 0
            while True:
                if place[router] == -2:
                    found = ends[row, router]
                    break
                if place[router] >= 0:  # a circle closes here
                    lowest = router
                    for hop in range(place[router], hops):
                        lowest = min(lowest, way[hop])
                    found = -2 - lowest
                    break
                place[router] = hops
                way[hops] = router
                hops += 1
                if table[row, router] < 0:
                    found = -1 if router == last[row] and not lost[row] else router
                    break
                router = channel_target[table[row, router]]
            for hop in range(hops):
                ends[row, way[hop]] = found
                place[way[hop]] = -2
    return ends
