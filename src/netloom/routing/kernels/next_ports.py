"""Tables of the ports that lead on, equal lists kept once, over flat arrays."""

import numpy as np

from netloom.compilation import njit
from netloom.routing.kernels.several import most_choices, next_channels, search
from netloom.routing.kernels.up_down import following, legal_distances


@njit(nogil=True)
def fill_next_ports(ways, out_port, lanes, num_goals, to_group):
    """Return where each list is, the lists, and the hops, by router * num_goals + goal.

    ``ways`` is the ``Ways`` of ``routing.ways``; ``out_port`` and ``lanes`` are of its channels.
    """
    num_routers = len(ways.group)
    starts = np.zeros(num_routers * num_goals, np.int32)
    lengths = np.full(num_routers * num_goals, -1, np.int16)
    distance = np.empty(num_routers, np.int32)
    queue = np.empty(num_routers, np.int32)
    channels = np.empty(most_choices(ways) + 1, np.int32)
    found = np.empty(lanes.sum() + 1, np.int16)
    ports, size = np.zeros(64, np.int16), 1  # the first list is empty
    places, known = np.zeros(64, np.int32), 0
    for goal in range(num_goals):
        count, goal_group = search(ways, goal, to_group, distance, queue)
        for rank in range(count):
            router = queue[rank]
            lengths[router * num_goals + goal] = distance[router]
            if distance[router] == 0:
                continue
            many = next_channels(ways, router, goal_group, distance, channels)
            length = 0
            for each in range(many):
                for lane in range(lanes[channels[each]]):
                    found[length] = out_port[channels[each]] + lane
                    length += 1
            if size + length + 1 > len(ports):
                ports = longer(ports, 2 * (size + length + 1))
            if 2 * (known + 1) > len(places):
                places = rehashed(places, ports)
            size, fresh, place = keep(places, ports, size, found, length)
            known += fresh
            starts[router * num_goals + goal] = place
    return starts, ports[:size].copy(), lengths


@njit(nogil=True)
def longer(numbers, length):
    """The same numbers with room for more, which are 0."""
    found = np.zeros(length, numbers.dtype)
    found[: len(numbers)] = numbers
    return found


@njit(nogil=True)
def rehashed(places, ports):
    """A table of the same lists with twice the room."""
    found = np.zeros(2 * len(places), places.dtype)
    for place in places:
        if place:
            length = ports[place]
            found[place_of(found, ports, ports[place + 1 : place + 1 + length], length)] = place
    return found


@njit(nogil=True)
def place_of(places, ports, wanted, length):
    """The slot of a table of lists where a list is, or where it would go."""
    number = np.uint64(length)
    for each in range(length):
        number = (number ^ np.uint64(wanted[each])) * np.uint64(0x9E3779B97F4A7C15)
        number ^= number >> np.uint64(29)
    slot = np.int64(number & np.uint64(len(places) - 1))
    while places[slot]:
        start = places[slot]
        same = ports[start] == length
        for each in range(length):
            if not same or ports[start + 1 + each] != wanted[each]:
                same = False
                break
        if same:
            break
        slot = (slot + 1) & (len(places) - 1)
    return slot


@njit(nogil=True)
def fill_legal_ports(up, ends, incoming, outgoing, out_port, lanes):
    """As ``fill_next_ports``, of the shortest ways that go up and then down, by phase.

    The arrays are of the two-way links only: see ``kernels.up_down``.
    """
    num_routers = len(outgoing[0]) - 1
    starts = np.zeros((2, num_routers * num_routers), np.int32)
    lengths = np.full((2, num_routers * num_routers), -1, np.int16)
    distance = np.empty(2 * num_routers, np.int32)
    queue = np.empty_like(distance)
    found = np.empty(lanes.sum() + 1, np.int16)
    ports, size = np.zeros(64, np.int16), 1
    places, known = np.zeros(64, np.int32), 0
    for goal in range(num_routers):
        legal_distances(goal, up, ends[0], incoming[0], incoming[1], distance, queue)
        for state in range(2 * num_routers):
            router, phase = state // 2, state % 2
            if distance[state] < 0:
                continue
            lengths[phase, router * num_routers + goal] = distance[state]
            if distance[state] == 0:
                continue
            length = 0
            for slot in range(outgoing[0][router], outgoing[0][router + 1]):
                channel = outgoing[1][slot]
                after = following(state, channel, up, ends[1])
                if after >= 0 and distance[after] == distance[state] - 1:
                    for lane in range(lanes[channel]):
                        found[length] = out_port[channel] + lane
                        length += 1
            if size + length + 1 > len(ports):
                ports = longer(ports, 2 * (size + length + 1))
            if 2 * (known + 1) > len(places):
                places = rehashed(places, ports)
            size, fresh, place = keep(places, ports, size, found, length)
            known += fresh
            starts[phase, router * num_routers + goal] = place
    return starts, ports[:size].copy(), lengths


@njit(nogil=True)
def keep(places, ports, size, found, length):
    """Put a list behind the others unless it is among them; return their size, and where it is."""
    slot = place_of(places, ports, found, length)
    if places[slot]:
        return size, 0, np.int64(places[slot])
    ports[size] = length
    ports[size + 1 : size + 1 + length] = found[:length]
    places[slot] = size
    return size + length + 1, 1, size
