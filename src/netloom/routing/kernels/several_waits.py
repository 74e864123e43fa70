"""Which channels packets may hold while they ask for which: ways with choices.

``ways`` is the ``Ways`` of ``routing.ways``.

Twin: ``tests/reference/several_waits.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.several import most_choices, next_channels, search


@njit(nogil=True)
def several_waits(ways, slot, entries, goals, to_group):
    """Follow all packets from routers to each of the goals.

    ``entries[goal, router]``, of one row where it is the same for all goals, says whether packets
    begin there. ``slot[channel]`` is its place among those that leave its router.

    Returns
    -------
    waits
        ``waits[c, k]`` is whether a packet may hold channel c while it asks for the k-th channel
        that leaves the router c enters.
    arrived
        Whether packets arrive at each router.
    joined
        Whether all entries have a way to their goals.
    """
    num_routers, most = len(ways.group), most_choices(ways)
    waits = np.zeros((len(ways.source), most), np.bool_)
    distance, queue = np.empty(num_routers, np.int32), np.empty(num_routers, np.int32)
    found, choices = np.empty((num_routers, most), np.int32), np.zeros(num_routers, np.int64)
    arrived, joined = np.zeros(num_routers, np.bool_), True
    for row in range(len(goals)):
        reached, group = search(ways, goals[row], to_group, distance, queue)
        present = entries[row % len(entries)].copy()
        joined &= not np.any(present & (distance < 0))
        for router in queue[:reached]:
            choices[router] = 0
            if distance[router] > 0:
                choices[router] = next_channels(ways, router, group, distance, found[router])
        for place in range(reached - 1, -1, -1):  # farthest first
            router = queue[place]
            if not present[router]:
                continue
            arrived[router] |= distance[router] == 0
            for held in found[router, : choices[router]]:
                there = ways.target[held]
                present[there] = True
                for asked in found[there, : choices[there]]:
                    waits[held, slot[asked]] = True
    return waits, arrived, joined
