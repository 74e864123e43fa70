"""What packets hold while they ask for what, and whether they come, under a table.

Over flat arrays.

``table[goal, router]`` is -1 where packets to a goal have arrived or have no way. A number below
that of channels is the channel that they take. One from there on is a set of channels to choose
from: see ``choices`` (offsets, channels).

Twin: ``tests/reference/waits.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit(nogil=True)
def table_waits(table, choices, sent, ports, level, lane_of, wiring, waits):
    """Mark which lanes of which channels packets may ask for while they hold which.

    Packets are followed through all choices: those of one goal and service level once from each
    router, or, where lanes change on the way, from each lane of a channel.

    Parameters
    ----------
    sent
        [router, goal], of one column where it is the same for all: whether packets begin there.
    ports
        The ports by which packets of a router's sources come in, ragged: (offsets, numbers).
    level
        [goal, router], the service level of packets that begin there, 0 beyond its rows.
    lane_of
        That of ``Lanes``. Without routers where a packet's lane is its service level.
    wiring
        (channel_target, slot, out_port, in_port). A slot is the place of a channel among those that
        leave its source.
    waits
        ``waits[channel * lanes + lane, slot]`` gets a bit for each lane of the channel that is
        asked for, the slot-th that leaves the router that the held one enters.
    """
    channel_target, slot, out_port, in_port = wiring
    offsets, channels = choices
    num_channels, switched = len(channel_target), len(lane_of) > 0
    lanes = len(waits) // max(num_channels, 1)
    passed = np.zeros((16 if switched else lanes, table.shape[1]), np.int64)
    seen = np.zeros((16, num_channels if switched else 0), np.int64)
    stack = np.empty(len(waits) + 1, np.int64)
    for goal in range(len(table)):
        row, column, stamp = table[goal], goal % sent.shape[1], np.int64(goal + 1) << 16
        for start in range(table.shape[1]):
            if sent[start, column] <= 0 or row[start] < 0:
                continue
            service = np.int64(level[goal, start]) if goal < len(level) else np.int64(0)
            for at in range(ports[0][start], ports[0][start + 1]):
                router, comes, held, size = np.int64(start), ports[1][at], np.int64(-1), 0
                while True:
                    new = switched or passed[service, router] != stamp
                    if not new and held < 0:
                        break
                    passed[service, router] = stamp
                    number = np.int64(row[router])
                    many = number >= num_channels
                    first = offsets[number - num_channels] if many else 0
                    last = offsets[number - num_channels + 1] if many else np.int64(number >= 0)
                    for place in range(first, last):
                        asked = np.int64(channels[place]) if many else number
                        lane = service
                        if switched:
                            lane = np.int64(lane_of[router, comes, out_port[asked], service])
                            been = max(seen[service, asked], stamp)
                            new = not (been >> lane) & 1
                            seen[service, asked] = been | np.int64(1) << lane
                        if held >= 0:
                            waits[held, slot[asked]] |= np.uint16(1 << lane)
                        if new:
                            stack[size] = asked << 4 | lane
                            size += 1
                    if size == 0:
                        break
                    size -= 1
                    channel = stack[size] >> 4
                    held = channel * lanes + (stack[size] & 15)
                    router, comes = np.int64(channel_target[channel]), in_port[channel]


@njit(nogil=True)
def stranded(table, choices, ports, channel_source, in_offsets, in_channels):
    """Return a (router, goal) from which some choices never lead to the goal, or (-1, -1).

    Routers are taken off once all their choices lead to routers taken off before. Any that is left
    can go in a circle. Goals are ports, and packets may leave at any port of the goal's host:
    ``ports`` is (port_offsets, port_host, ejection_router).
    """
    num_routers, num_channels = table.shape[1], len(channel_source)
    port_offsets, port_host, exits = ports
    left, queue = np.empty(num_routers, np.int64), np.empty(num_routers, np.int64)
    for goal in range(len(table)):
        row = table[goal]
        for router in range(num_routers):
            number = row[router]
            left[router] = number >= 0
            if number >= num_channels:
                place = number - num_channels
                left[router] = choices[0][place + 1] - choices[0][place]
        head, tail = 0, 0
        host = port_host[goal]
        for port in range(port_offsets[host], port_offsets[host + 1]):
            if left[exits[port]] == 0:  # of two ports at one router, the first
                left[exits[port]] = -1
                queue[tail] = exits[port]
                tail += 1
        while head < tail:
            nearer = queue[head]
            head += 1
            for slot in range(in_offsets[nearer], in_offsets[nearer + 1]):
                channel = in_channels[slot]
                router = channel_source[channel]
                if offers(row[router], choices, num_channels, channel):
                    left[router] -= 1
                    if left[router] == 0:
                        queue[tail] = router
                        tail += 1
        for router in range(num_routers):
            if left[router] > 0:
                return router, goal
    return -1, -1


@njit(nogil=True)
def offers(number, choices, num_channels, channel):
    """Whether an entry is this channel, or offers it among others."""
    if number < num_channels:
        return number == channel
    place = number - num_channels
    for each in range(choices[0][place], choices[0][place + 1]):
        if choices[1][each] == channel:
            return True
    return False
