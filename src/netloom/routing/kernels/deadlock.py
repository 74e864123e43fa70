"""Which channels packets may hold while they ask for which, over flat arrays.

Twin: ``tests/reference/lanes.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.shortest_path import distances_to


@njit(nogil=True)
def minimal_waits(by_exit, entry, leave, ways):
    """Which channels follow each other on any shortest path between these pairs of routers.

    ``by_exit`` visits pairs exit by exit. ``ways`` is the ``Ways`` of ``netloom.routing.rules``.
    ``waits[c, k]`` is for channel c and the k-th channel that leaves the router c enters.
    """
    num_routers = len(ways.in_offsets) - 1
    target, out_offsets, out_channels = ways.target, ways.out_offsets, ways.out_channels
    waits = np.zeros((len(target), np.max(np.diff(out_offsets))), np.bool_)
    distance = np.empty(num_routers, np.int32)
    order = np.empty(num_routers, np.int32)
    reached = np.empty(num_routers, np.bool_)
    place = 0
    while place < len(by_exit):
        goal = leave[by_exit[place]]
        distances_to(goal, ways.source, ways.in_offsets, ways.in_channels, distance, order)
        reached[:] = False
        while place < len(by_exit) and leave[by_exit[place]] == goal:
            reached[entry[by_exit[place]]] = True
            place += 1
        for rank in range(int(np.sum(distance >= 0)) - 1, 0, -1):  # from far to near
            router = order[rank]
            if not reached[router]:
                continue
            for slot in range(out_offsets[router], out_offsets[router + 1]):
                held = out_channels[slot]
                after = target[held]
                if distance[after] != distance[router] - 1:
                    continue
                reached[after] = True
                for k in range(out_offsets[after + 1] - out_offsets[after]):
                    asked = out_channels[out_offsets[after] + k]
                    if distance[target[asked]] == distance[after] - 1 and distance[after] > 0:
                        waits[held, k] = True
    return waits
