"""The search for a row of a forwarding table in one lane, and what it costs, by definition."""

import networkx as nx
import numpy as np


def found_row(topology, end, waits, weight, shared):
    """Return the entries of all routers to ``end``, and the sum of costs of their whole paths.

    Routers get their way one after the other, the cheapest first: of equal ones the channel of the
    lowest number. ``waits`` is a graph of channels with an edge from what is held to what is asked
    for; the row's own are added as they come, and none that closes a circle. A path costs the
    ``weight`` of its channels less what ``shared[source, channel]`` says. None if a router has no
    way.
    """
    inside = topology.routers
    row = {end: None}
    own = waits.copy()

    def path(router):
        channels = []
        while row[router] is not None:
            channels.append(row[router])
            router = int(inside.channel_target[row[router]])
        return channels

    tried, costs = set(), {}
    while True:
        ways = []
        for channel in range(inside.num_channels):
            source, target = (
                int(ends[channel]) for ends in (inside.channel_source, inside.channel_target)
            )
            if target in row and source not in row and channel not in tried:
                whole = [channel, *path(target)]
                ways.append((sum(weight[c] - shared[source, c] for c in whole), channel))
        if not ways:
            break
        cost, channel = min(ways)
        tried.add(channel)
        source, target = int(inside.channel_source[channel]), int(inside.channel_target[channel])
        if row[target] is not None:
            known = own.has_node(row[target]) and own.has_node(channel)
            if known and nx.has_path(own, row[target], channel):
                continue
            own.add_edge(channel, row[target])
        row[source], costs[source] = channel, cost
    if len(row) < topology.num_routers:
        return None
    entries = [-1 if row[each] is None else row[each] for each in range(topology.num_routers)]
    return np.array(entries), costs


def load_and_alike(topology, table, exits):
    """Return paths by channel, and the sum of squares of those of one source or destination."""
    inside, between = topology.routers, topology.num_network_channels
    hosts = np.bincount(topology.injection_router, minlength=topology.num_routers)
    paths = np.zeros((inside.num_routers, len(exits), between), int)
    for destination in range(len(exits)):
        for source in range(inside.num_routers):
            router = source
            while table[destination, router] >= 0:
                paths[source, destination, table[destination, router]] = 1
                router = inside.channel_target[table[destination, router]]
    counted = paths * hosts[:, None, None]
    of_source = (hosts[:, None] * paths.sum(axis=1) ** 2).sum(axis=0)
    of_destination = (counted.sum(axis=0) ** 2).sum(axis=0)
    return counted.sum(axis=(0, 1)), of_source + of_destination
