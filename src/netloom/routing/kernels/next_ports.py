"""Tables of the ports that lead on, equal lists kept once, over flat arrays.

Twin: ``tests/reference/by_hop.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.several import next_channels, search
from netloom.routing.kernels.up_down import following, legal_distances


@njit(nogil=True)
def fill_next_ports(ways, out_port, lanes, num_goals, to_group, starts, lengths, found):
    """Fill where each list is, and the hops, by router * num_goals + goal. Return the lists.

    ``ways`` is the ``Ways`` of ``routing.ways``. ``out_port`` and ``lanes`` are of its channels.
    ``found`` is scratch for all lanes that leave a router. Also returns the lists' size in all.
    """
    num_routers = len(ways.group)
    distance = np.empty(num_routers, np.int32)
    queue = np.empty(num_routers, np.int32)
    channels = np.empty(len(found), np.int32)
    lists = new_lists()
    for goal in range(num_goals):
        count, goal_group = search(ways, goal, to_group, distance, queue)
        for rank in range(count):
            router = queue[rank]
            lengths[router * num_goals + goal] = distance[router]
            if distance[router] > 0:
                many = next_channels(ways, router, goal_group, distance, channels)
                length = np.int64(0)
                for each in range(many):
                    length = put(found, length, out_port[channels[each]], lanes[channels[each]])
                lists, place = kept(lists, found, length)
                starts[router * num_goals + goal] = place
    return lists[0], lists[2]


@njit(nogil=True)
def fill_legal_ports(up, ends, incoming, outgoing, out_port, lanes, starts, lengths, found):
    """As ``fill_next_ports``, of the shortest ways that go up and then down.

    By phase * num_routers**2 + router * num_routers + goal. The arrays are of the two-way links
    only: see ``kernels.up_down``.
    """
    num_routers = len(outgoing[0]) - 1
    distance = np.empty(2 * num_routers, np.int32)
    queue = np.empty(2 * num_routers, np.int32)
    lists = new_lists()
    for goal in range(num_routers):
        legal_distances(goal, up, ends[0], incoming[0], incoming[1], distance, queue)
        for state in range(2 * num_routers):
            router, row = state // 2, (state % 2 * num_routers + state // 2) * num_routers + goal
            lengths[row] = distance[state]
            if distance[state] > 0:
                length = np.int64(0)
                for slot in range(outgoing[0][router], outgoing[0][router + 1]):
                    channel = outgoing[1][slot]
                    after = following(state, channel, up, ends[1])
                    if after >= 0 and distance[after] == distance[state] - 1:
                        length = put(found, length, out_port[channel], lanes[channel])
                lists, place = kept(lists, found, length)
                starts[row] = place
    return lists[0], lists[2]


@njit(nogil=True)
def put(found, length, port, lanes):
    """Append the ports of a channel. Return how many there are now."""
    for lane in range(lanes):
        found[length + lane] = port + lane
    return length + np.int64(lanes)


@njit(nogil=True)
def new_lists():
    """No lists but the empty one: lists, where each is by its hash, their size, their number."""
    return np.zeros(64, np.int16), np.zeros(64, np.int32), np.int64(1), np.int64(0)


@njit(nogil=True)
def kept(lists, found, length):
    """Return the lists with one more, unless it is among them, and where it is."""
    ports, places, size, known = lists
    if size + length + 1 > len(ports):
        more = np.zeros(2 * (size + length + 1), np.int16)
        for place in range(size):
            more[place] = ports[place]
        ports = more
    if 2 * (known + 1) > len(places):
        wider, start = np.zeros(2 * len(places), np.int32), np.int64(1)
        while start < size:
            wider[place_of(wider, ports, ports, start + 1, np.int64(ports[start]))] = start
            start += ports[start] + 1
        places = wider
    slot = place_of(places, ports, found, np.int64(0), length)
    if places[slot] == 0:
        ports[size] = length
        for each in range(length):
            ports[size + 1 + each] = found[each]
        places[slot] = size
        size += length + 1
        known += 1
    return (ports, places, size, known), np.int64(places[slot])


@njit(nogil=True)
def place_of(places, ports, wanted, first, length):
    """The slot of a table of lists where a list is, or where it would go."""
    number = np.uint64(length)
    for each in range(first, first + length):
        number = (number ^ np.uint64(wanted[each])) * np.uint64(0x9E3779B97F4A7C15)
        number ^= number >> np.uint64(29)
    slot = np.int64(number & np.uint64(len(places) - 1))
    while places[slot]:
        start = places[slot]
        same = ports[start] == length
        for each in range(length):
            if not same or ports[start + 1 + each] != wanted[first + each]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & (len(places) - 1)
    return slot
