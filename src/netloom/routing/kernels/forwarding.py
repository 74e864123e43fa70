"""Forwarding tables over flat arrays: one channel for each destination and router.

``next_channel[destination, router]`` is -1 where a packet has arrived, or where there is no way.
It is at least the number of channels where there is a choice.
``wiring`` is (channel_source, channel_target, in_offsets, in_channels, out_offsets, out_channels).

Twin: ``tests/reference/forwarding.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.shortest_path import distances_to


@njit(nogil=True)
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


@njit(nogil=True)
def fill_followed(next_channel, destinations, entry, offsets, channel_target):
    """Walk every path of the table."""
    channels = np.empty(offsets[-1], np.int32)
    for path in range(len(entry)):
        row, router = next_channel[destinations[path]], entry[path]
        for free in range(offsets[path], offsets[path + 1]):
            channels[free] = row[router]
            router = channel_target[row[router]]
    return channels


@njit(nogil=True)
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
    distance = np.empty(num_routers, np.int32)
    order = np.empty(num_routers, np.int32)
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


@njit(nogil=True)
def add_flows(row, senders, order, reached, channel_target, flow, load, sign):
    """Add the paths to one destination to the load, or take them off."""
    flow[:] = senders
    for place in range(reached - 1, 0, -1):  # from far to near
        router = order[place]
        load[row[router]] += sign * flow[router]
        flow[channel_target[row[router]]] += flow[router]
