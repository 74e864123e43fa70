"""OpenSM's minhop over flat arrays: of the shortest ways the port that has the fewest."""

import numpy as np

from netloom.compilation import njit
from netloom.routing.kernels.shortest_path import distances_to


@njit(nogil=True)
def least_used(order, exits, out_port, channel_source, channel_target, incoming, outgoing):
    """Return int32[destinations, routers]: destinations in an order, least used port first.

    Of several ports that are used alike, a router takes the one of the lowest number.
    """
    num_routers = len(outgoing[0]) - 1
    table = np.full((len(exits), num_routers), -1, np.int32)
    used = np.zeros(len(channel_source), np.int64)
    distance = np.empty(num_routers, np.int32)
    seen = np.empty(num_routers, np.int32)
    for destination in order:
        end = exits[destination]
        distances_to(end, channel_source, incoming[0], incoming[1], distance, seen)
        for router in range(num_routers):
            if router == end or distance[router] < 0:
                continue
            chosen = -1
            for slot in range(outgoing[0][router], outgoing[0][router + 1]):
                channel = outgoing[1][slot]
                if distance[channel_target[channel]] != distance[router] - 1:
                    continue
                if chosen < 0 or (used[channel], out_port[channel]) < (
                    used[chosen],
                    out_port[chosen],
                ):
                    chosen = channel
            table[destination, router] = chosen
            used[chosen] += 1
    return table
