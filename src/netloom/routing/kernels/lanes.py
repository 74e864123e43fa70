"""Lanes of the paths of a forwarding table, over flat arrays.

``sent[router, destination]``, of one column where it is the same for all, says how many sources
send from a router.

Twin: ``tests/reference/lanes.py``.
"""

import numpy as np

from netloom.base.compilation import kernel, njit
from netloom.routing.kernels.acyclic import insert, remove, remove_path


@njit(nogil=True)
def first_fit(table, sent, graph, closed, level):
    """Put the path from each router that sends to each destination into the first lane it fits.

    ``level[destination, router]`` gets the lane. ``closed`` are flags, as ``graph.uses``, for
    dependencies that would close a circle whatever comes: nothing is ever taken out. Returns how
    many lanes are used, -1 if those of the graph are too few, -2 if the table leads in a circle.
    """
    num_lanes, used = len(closed) // len(graph.channel_target), 1
    path = np.empty(table.shape[1], np.int32)
    for destination in range(len(table)):
        row, column = table[destination], destination % sent.shape[1]
        for start in range(table.shape[1]):
            if sent[start, column] <= 0 or row[start] < 0:
                continue
            hops, router = 0, start
            while row[router] >= 0 and hops < len(path):
                path[hops] = row[router]
                router = graph.channel_target[row[router]]
                hops += 1
            if hops == len(path):
                return -2
            lane = 0
            while lane < num_lanes and not takes(graph, closed, lane, path, hops):
                lane += 1
            if lane == num_lanes:
                return -1
            level[destination, start] = lane
            used = max(used, lane + 1)
    return used


@kernel
def takes(graph, closed, lane, path, hops):
    """Whether a path has found place in a lane."""
    first = lane * len(graph.channel_target)
    for hop in range(hops - 1):
        if closed[first + path[hop], graph.slot[path[hop + 1]]]:
            return False
    for hop in range(hops - 1):
        slot = graph.slot[path[hop + 1]]
        if insert(graph, lane, path[hop], slot):
            continue
        remove_path(graph, lane, path, hop + 1)
        if insert(graph, lane, path[hop], slot):  # only the path's own closed it
            remove(graph, lane, path[hop], slot)
        else:
            closed[first + path[hop], slot] = True
        return False
    return True
