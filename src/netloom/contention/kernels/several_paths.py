"""Loads of channels where packets have several ways: flows, pushed from router to router.

``ways`` is the ``Ways`` of ``routing.ways``.

Twin: ``tests/reference/several.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.several import most_choices, next_channels, search


@njit(nogil=True)
def push_flows(ways, goals, first, sources, weights, load):
    """Add what flows to goals load, split evenly over the next channels of each router.

    To router goals[i] flows weights[k] from router sources[k], first[i] <= k < first[i + 1].
    Returns a source that has no way to its goal, and the goal, or -1 twice.
    """
    num_routers = len(ways.group)
    distance, queue = np.empty(num_routers, np.int32), np.empty(num_routers, np.int32)
    found, flow = np.empty(most_choices(ways), np.int32), np.zeros(num_routers)
    for number in range(len(goals)):
        if first[number] == first[number + 1]:
            continue
        reached, group = search(ways, goals[number], False, distance, queue)  # noqa: FBT003
        for entry in range(first[number], first[number + 1]):
            if distance[sources[entry]] < 0:
                return sources[entry], goals[number]
            flow[sources[entry]] += weights[entry]
        for place in range(reached - 1, 0, -1):  # farthest first: all has come that comes
            router = queue[place]
            if flow[router] != 0 and distance[router] > 0:
                choices = next_channels(ways, router, group, distance, found)
                share = flow[router] / choices
                for choice in range(choices):
                    load[found[choice]] += share
                    flow[ways.target[found[choice]]] += share
            flow[router] = 0
        flow[goals[number]] = 0
    return -1, -1


@njit(nogil=True)
def add_paths(channels, offsets, weights, load):
    """Add the weight of each path to each of its channels."""
    for path in range(len(offsets) - 1):
        for hop in range(offsets[path], offsets[path + 1]):
            load[channels[hop]] += weights[path]
