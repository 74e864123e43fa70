"""OpenSM's counters over flat arrays: of the shortest permitted ways the port that has the fewest.

``ways`` never changes. It holds the routers that each channel leaves and enters, the channels out
of each router by port, and those into it by port. The last two are (offsets, channels).

Twin: ``tests/reference/opensm.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.shortest_path import distances_to

EQUAL = 2
"""The direction of a channel that may follow any other."""
NO_WAY = 2**30


@njit(nogil=True)
def fill_hops(end, ways, directions, barred, state):
    """Fill the hops to a router by each channel and from each router, as OpenSM finds them.

    A search from the end outwards, port by port. It steps over a channel from its target to its
    source, and takes on that channel's direction. A step whose direction is 1 − ``barred`` after
    ``barred`` is not taken. A router waits at most once, and keeps the direction it waits with.
    """
    source, _, _, entering = ways
    by_channel, least, facing, searched, waits, queue = state
    by_channel[:] = NO_WAY
    least[:] = NO_WAY
    searched[:] = -1
    waits[:] = False
    least[end], facing[end], queue[0] = 0, 1 - barred, end
    head, tail, room = 0, 1, len(queue)
    while head != tail:
        router = queue[head % room]
        head += 1
        waits[router] = False
        hops = least[router]
        mark = hops * 3 + facing[router]
        if searched[router] == mark:
            continue
        searched[router] = mark
        for slot in range(entering[0][router], entering[0][router + 1]):
            channel = entering[1][slot]
            if facing[router] == barred and directions[channel] == 1 - barred:
                continue
            if hops + 1 >= by_channel[channel]:
                continue
            before = source[channel]
            by_channel[channel] = hops + 1
            least[before] = min(least[before], hops + 1)
            if not waits[before]:
                waits[before], facing[before] = True, directions[channel]
                queue[tail % room] = before
                tail += 1


@njit(nogil=True)
def fill_choices(end, ways, state, same_neighbour, offsets, choices):
    """Fill the channels of least hops out of each router, by port.

    With ``same_neighbour``, those alone that lead to where the first of them leads.
    """
    _, target, leaving, _ = ways
    by_channel, least = state[0], state[1]
    count = 0
    for router in range(len(leaving[0]) - 1):
        offsets[router] = count
        if router == end or least[router] >= NO_WAY:
            continue
        for slot in range(leaving[0][router], leaving[0][router + 1]):
            channel = leaving[1][slot]
            if by_channel[channel] != least[router]:
                continue
            first = choices[offsets[router]] if count > offsets[router] else channel
            if not same_neighbour or target[channel] == target[first]:
                choices[count] = channel
                count += 1
    offsets[-1] = count


@njit(nogil=True)
def least_used(order, exits, counted, ways, directions, barred, same_neighbour):
    """Return int32[ends, routers]: ends in an order, by the port used least, of these the lowest.

    The first ``counted`` ends are counted. Ways to the others are not.
    """
    num_routers, num_channels = len(ways[2][0]) - 1, len(ways[0])
    table = np.full((len(exits), num_routers), -1, np.int32)
    used = np.zeros(num_channels, np.int64)
    state = (
        np.empty(num_channels, np.int32), np.empty(num_routers, np.int32),
        np.empty(num_routers, np.int8), np.empty(num_routers, np.int32),
        np.empty(num_routers, np.bool_), np.empty(num_routers + 1, np.int32),
    )  # fmt: skip
    offsets = np.zeros(num_routers + 1, np.int64)
    choices = np.empty(num_channels, np.int32)
    known = -1
    for place in order:
        end = exits[place]
        if end != known:
            known = end
            fill_hops(end, ways, directions, barred, state)
            fill_choices(end, ways, state, same_neighbour, offsets, choices)
        for router in range(num_routers):
            if offsets[router] == offsets[router + 1]:
                continue
            chosen = choices[offsets[router]]
            for slot in range(offsets[router] + 1, offsets[router + 1]):
                if used[choices[slot]] < used[chosen]:
                    chosen = choices[slot]
            table[place, router] = chosen
            if place < counted:
                used[chosen] += 1
    return table


@njit(nogil=True)
def ends_by_distance(ends, channel_source, in_offsets, in_channels, most):
    """Return int64[routers, most], how many ends are how far from a router."""
    num_routers = len(ends)
    found = np.zeros((num_routers, most), np.int64)
    distance = np.empty(num_routers, np.int32)
    queue = np.empty(num_routers, np.int32)
    for end in range(num_routers):
        if ends[end]:
            distances_to(end, channel_source, in_offsets, in_channels, distance, queue)
            for router in range(num_routers):
                if 0 <= distance[router] < most:
                    found[router, distance[router]] += ends[end]
    return found
