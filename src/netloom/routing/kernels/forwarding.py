"""Forwarding tables over flat arrays: their paths, their ends, and what packets wait for.

``table[goal, router]``, or ``next_channel``, is the one channel by which packets to a goal leave a
router. It is -1 where they have arrived or have no way. A number from that of channels on is a set
of channels to choose from: see ``choices`` (offsets, channels). ``wiring`` is (channel_source,
channel_target, in_offsets, in_channels, out_offsets, out_channels), where nothing else is said.

Ends of packets are found by looking at each entry once.

Twin: ``tests/reference/forwarding.py``. Of ends: ``tests/reference/outcomes.py``. Of waits:
``tests/reference/waits.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.shortest_path import distances_to

# -- paths -----------------------------------------------------------------------------------------


@njit
def follow_lengths(next_channel, destinations, entry, channel_target):
    """Return hops and last router of each path.

    Hops are -1 where the table leads in a circle, -2 where it leaves a choice.
    """
    lengths = np.empty(len(entry), np.int32)
    last = np.empty(len(entry), np.int32)
    most, num_channels = next_channel.shape[1], len(channel_target)
    for path in range(len(entry)):
        row, router, hops = next_channel[destinations[path]], entry[path], 0
        while 0 <= row[router] < num_channels and hops < most:
            router = channel_target[row[router]]
            hops += 1
        lengths[path] = -1 if hops == most else hops if row[router] < 0 else -2
        last[path] = router
    return lengths, last


@njit
def fill_followed(next_channel, destinations, entry, offsets, channel_target):
    """Walk every path of the table."""
    channels = np.empty(offsets[-1], np.int32)
    for path in range(len(entry)):
        row, router = next_channel[destinations[path]], entry[path]
        for free in range(offsets[path], offsets[path + 1]):
            channels[free] = row[router]
            router = channel_target[row[router]]
    return channels


@njit
def spread_table(exits, sent, bandwidth, wiring, rounds):
    """Return the forwarding table of shortest paths that are spread evenly.

    Destination by destination, every router takes the shortest path that costs least, given the
    paths to all other destinations. Each channel of it costs (load / bandwidth)^4. In a further
    round each destination gives up its paths and chooses again.

    ``exits[destination]`` is the router where packets leave, ``sent[router, destination]`` the
    sources that send from a router. ``sent`` has one column where it is the same for all.
    """
    channel_source, channel_target, in_offsets, in_channels, out_offsets, out_channels = wiring
    num_routers = len(in_offsets) - 1
    next_channel = np.full((len(exits), num_routers), -1, np.int32)
    load = np.zeros(len(channel_source), np.int64)
    cost = np.empty(num_routers, np.float64)
    flow = np.empty(num_routers, np.int64)
    distance, order = np.empty((2, num_routers), np.int32)
    reached, known = 0, np.int32(-1)
    for turn in range(rounds):
        for destination in range(len(exits)):
            row, senders = next_channel[destination], sent[:, destination % sent.shape[1]]
            if exits[destination] != known:
                known = exits[destination]
                distances_to(known, channel_source, in_offsets, in_channels, distance, order)
                reached = int(np.sum(distance >= 0))
            if turn > 0:
                add_flows(row, senders, order, reached, channel_target, flow, load, -1)
            cost[known] = 0
            for place in range(1, reached):  # from near to far
                router, least, chosen = order[place], np.inf, -1
                for slot in range(out_offsets[router], out_offsets[router + 1]):
                    channel = out_channels[slot]
                    after = channel_target[channel]
                    if distance[after] == distance[router] - 1:
                        share = load[channel] / bandwidth[channel]
                        paid = cost[after] + share * share * share * share
                        if paid < least:
                            least, chosen = paid, channel
                cost[router], row[router] = least, chosen
            add_flows(row, senders, order, reached, channel_target, flow, load, 1)
    return next_channel


@njit
def add_flows(row, senders, order, reached, channel_target, flow, load, sign):
    """Add the paths to one destination to the load, or take them off."""
    flow[:] = senders
    for place in range(reached - 1, 0, -1):  # from far to near
        router = order[place]
        load[row[router]] += sign * flow[router]
        flow[channel_target[row[router]]] += flow[router]


# -- ends ------------------------------------------------------------------------------------------


@njit
def outcomes(table, last, lost, channel_target):
    """Return what becomes of packets from each router to each row: int32[rows, routers].

    -1: they arrive at ``last[row]``, whose own entry delivers them. A router r: they end there,
    because it has no entry or one that leads nowhere. -2 - r: they circle, and r is the
    lowest-numbered router of the circle. ``lost[row]`` is set if the entry of ``last[row]`` does
    not deliver.
    """
    rows, routers = table.shape
    ends = np.empty((rows, routers), np.int32)
    place = np.zeros(routers, np.int64)
    way = np.empty(routers, np.int32)
    for row in range(rows):
        place[:] = -1  # not seen; -2: its outcome is known
        for start in range(routers):
            router, hops, found = start, 0, 0
            while True:
                if place[router] == -2:
                    found = ends[row, router]
                    break
                if place[router] >= 0:  # a circle closes here
                    lowest = router
                    for hop in range(place[router], hops):
                        lowest = min(lowest, way[hop])
                    found = -2 - lowest
                    break
                place[router] = hops
                way[hops] = router
                hops += 1
                if table[row, router] < 0:
                    found = -1 if router == last[row] and not lost[row] else router
                    break
                router = channel_target[table[row, router]]
            for hop in range(hops):
                ends[row, way[hop]] = found
                place[way[hop]] = -2
    return ends


# -- waits -----------------------------------------------------------------------------------------


@njit
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
