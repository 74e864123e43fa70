"""Routing tables, one set of output ports for each node and target, over flat arrays.

``table[node, target]`` is a set of ports as the bits of an int64. ``channel_at[node, port]`` the
channel that leaves a node by a port. If hosts hang on routers, nodes are routers and targets
hosts; packets to target t have arrived at ``exits[exit_offsets[t]:exit_offsets[t + 1]]``.

Twin: ``tests/reference/virtual_channels.py``.
"""

import numpy as np

from netloom.base.compilation import njit

ONE = np.int64(1)


@njit()
def stranded(table, exit_offsets, exits, out_port, channel_source, in_offsets, in_channels):
    """Return a (node, target) from which some choices never lead to the target, or (-1, -1).

    Nodes are taken off once all their choices lead to nodes taken off before. Any that is left can
    go in a circle.
    """
    num_nodes, num_targets = table.shape
    choices = np.empty(num_nodes, np.int64)
    queue = np.empty(num_nodes, np.int64)
    for target in range(num_targets):
        for node in range(num_nodes):
            choices[node] = 0
            ports = table[node, target]
            while ports:
                ports &= ports - 1
                choices[node] += 1
        head, tail = 0, 0
        for slot in range(exit_offsets[target], exit_offsets[target + 1]):
            if choices[exits[slot]] == 0:  # of two ports at one router, the first
                choices[exits[slot]] = -1
                queue[tail] = exits[slot]
                tail += 1
        while head < tail:
            nearer = queue[head]
            head += 1
            for slot in range(in_offsets[nearer], in_offsets[nearer + 1]):
                channel = in_channels[slot]
                node = channel_source[channel]
                if (table[node, target] >> np.int64(out_port[channel])) & 1:
                    choices[node] -= 1
                    if choices[node] == 0:
                        queue[tail] = node
                        tail += 1
        for node in range(num_nodes):
            if choices[node] > 0:
                return node, target
    return -1, -1


@njit()
def follow(table, channel_at, channel_target, entry, targets):
    """Return hops and last node of every path. Hops are -2 where there is a choice."""
    lengths = np.empty(len(entry), np.int32)
    last = np.empty(len(entry), np.int32)
    for path in range(len(entry)):
        node, hops = entry[path], 0
        ports = table[node, targets[path]]
        while ports > 0 and ports & (ports - 1) == 0:
            node = channel_target[channel_at[node, lowest(ports)]]
            ports = table[node, targets[path]]
            hops += 1
        lengths[path] = hops if ports == 0 else -2
        last[path] = node
    return lengths, last


@njit()
def fill_followed(table, channel_at, channel_target, entry, targets, offsets):
    """Walk every path of a table that leaves no choice."""
    channels = np.empty(offsets[-1], np.int32)
    for path in range(len(entry)):
        node = entry[path]
        for free in range(offsets[path], offsets[path + 1]):
            channels[free] = channel_at[node, lowest(table[node, targets[path]])]
            node = channel_target[channels[free]]
    return channels


@njit()
def lowest(ports):
    """The number of the lowest port of a set that is not empty."""
    port = 0
    while not (ports >> port) & 1:
        port += 1
    return port


@njit()
def table_waits(table, channel_at, channel_target):
    """For every channel, the ports that a packet may ask for while it holds that channel."""
    waits = np.zeros(len(channel_target), np.int64)
    num_nodes, num_ports = channel_at.shape
    for node in range(num_nodes):
        for target in range(num_nodes):
            for port in range(num_ports):
                if (table[node, target] >> port) & 1:
                    held = channel_at[node, port]
                    waits[held] |= table[channel_target[held], target]
    return waits
