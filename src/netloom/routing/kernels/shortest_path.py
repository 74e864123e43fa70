"""Shortest paths on any directed graph: one breadth-first search backwards from each target.

Twin: ``tests/reference/shortest_path.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit()
def distances_to(target, channel_source, in_offsets, in_channels, distance, queue):
    """Fill ``distance`` with every node's hops to ``target``, -1 where there is no way."""
    distance[:] = -1
    distance[target] = 0
    queue[0] = target
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        for slot in range(in_offsets[node], in_offsets[node + 1]):
            nearer = channel_source[in_channels[slot]]
            if distance[nearer] < 0:
                distance[nearer] = distance[node] + 1
                queue[tail] = nearer
                tail += 1


@njit()
def path_lengths(by_target, sources, targets, channel_source, in_offsets, in_channels, num_nodes):
    """Hops of every path, -1 where there is no way. ``by_target`` visits paths target by target."""
    lengths = np.empty(len(sources), np.int32)
    distance = np.empty(num_nodes, np.int32)
    queue = np.empty(num_nodes, np.int32)
    known = -1
    for path in by_target:
        if targets[path] != known:
            known = targets[path]
            distances_to(known, channel_source, in_offsets, in_channels, distance, queue)
        lengths[path] = distance[sources[path]]
    return lengths


@njit()
def fill_paths(
    by_target, sources, targets, offsets, ends, in_offsets, in_channels, out_offsets, out_channels
):
    """Walk every path: at each node the lowest-numbered channel that leads one hop nearer.

    ``ends`` is (channel_source, channel_target).
    """
    channel_source, channel_target = ends
    num_nodes = len(out_offsets) - 1
    channels = np.empty(offsets[-1], np.int32)
    distance = np.empty(num_nodes, np.int32)
    queue = np.empty(num_nodes, np.int32)
    known = -1
    for path in by_target:
        if targets[path] != known:
            known = targets[path]
            distances_to(known, channel_source, in_offsets, in_channels, distance, queue)
        node = sources[path]
        for free in range(offsets[path], offsets[path + 1]):
            for slot in range(out_offsets[node], out_offsets[node + 1]):
                channel = out_channels[slot]
                if distance[channel_target[channel]] == distance[node] - 1:
                    channels[free] = channel
                    node = channel_target[channel]
                    break
    return channels


@njit()
def table_waits(ends, in_offsets, in_channels, out_offsets, out_channels):
    """Which channels a packet may hold while it asks for which, under the table of ``fill_paths``.

    ``waits[c, k]`` is for channel c and the k-th channel that leaves the node c enters: true where
    some path crosses one after the other. Only a path's first two channels are looked at, for
    every path's later channels are the first two of another.
    """
    channel_source, channel_target = ends
    num_nodes = len(out_offsets) - 1
    waits = np.zeros((len(channel_source), np.max(np.diff(out_offsets))), np.bool_)
    distance = np.empty(num_nodes, np.int32)
    queue = np.empty(num_nodes, np.int32)
    first = np.empty(num_nodes, np.int32)  # which of its channels each node sends over
    for target in range(num_nodes):
        distances_to(target, channel_source, in_offsets, in_channels, distance, queue)
        for node in range(num_nodes):
            for slot in range(out_offsets[node], out_offsets[node + 1]):
                if distance[channel_target[out_channels[slot]]] == distance[node] - 1:
                    first[node] = slot - out_offsets[node]
                    break
        for node in range(num_nodes):
            if distance[node] > 1:  # others have come, or have no way: nodes without channels
                held = out_channels[out_offsets[node] + first[node]]
                waits[held, first[channel_target[held]]] = True
    return waits
