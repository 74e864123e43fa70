"""OpenSM's sssp over flat arrays: cheapest ways to one end point after the other.

Twin: ``tests/reference/cheapest_ways.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.heap import empty_heap, lower, pop, push

FAR = np.int64(2**62)


@njit(nogil=True)
def cheapest_ways(exits, apart, copies, routers, sources, links, weight):
    """Return int32[end points, routers]: the channel from each router towards each end point.

    End points take their turns. ``exits`` are their routers, ``apart`` says which are no routers
    themselves, ``copies`` how many addresses they have (ways are those to the first). ``routers``
    is the order of routers in the heap, ``sources[router]`` how many end points send from it.
    ``links`` is (channel_source, channel_target, in_offsets, in_channels), the channels that enter
    a router in the order in which they are tried. ``weight[channel]`` grows by the paths that take
    it.
    """
    channel_source, channel_target, in_offsets, in_channels = links
    num_routers = len(routers)
    table = np.full((len(exits), num_routers), -1, np.int32)
    heap = empty_heap(num_routers + 1)
    distance = heap[2]
    row = np.empty(num_routers, np.int32)
    order = np.empty(num_routers, np.int32)
    flow = np.empty(num_routers, np.int64)
    for end in range(len(exits)):
        for copy in range(copies[end]):
            row[:] = -1
            for router in routers:
                push(heap, router, FAR)
            if apart[end]:
                push(heap, num_routers, FAR)
                lower(heap, num_routers, 0)
                pop(heap)
            lower(heap, exits[end], 1)
            settled = 0
            while heap[3][0] > 0:
                router = pop(heap)
                if distance[router] == FAR:
                    continue
                order[settled] = router
                settled += 1
                for place in range(in_offsets[router], in_offsets[router + 1]):
                    channel = in_channels[place]
                    before = channel_source[channel]
                    cost = distance[router] + weight[channel]
                    if heap[1][before] >= 0 and cost < distance[before]:
                        row[before] = channel
                        lower(heap, before, cost)
            if copy == 0:
                table[end] = row
            flow[:] = sources
            for place in range(settled - 1, 0, -1):  # from far to near
                channel = row[order[place]]
                weight[channel] += flow[order[place]]
                flow[channel_target[channel]] += flow[order[place]]
    return table
