"""Shortest paths on any directed graph: one breadth-first search backwards from each target.

Twin: ``tests/reference/shortest_path.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit()
def distances_to(target, channel_source, in_offsets, in_channels, distance, queue):
    """Fill ``distance`` with every node's hops to ``target``, -1 where there is no way.

    ``queue`` then lists the nodes that have one, nearest first. Returns their number.
    """
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
    return tail


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
def shortest_rows(targets, ends, in_offsets, in_channels, out_offsets, out_channels):
    """The channel that ``fill_paths`` takes at every node on the way to each of some targets.

    int32[targets, nodes], -1 at the target, and where there is no way.
    """
    channel_source, channel_target = ends
    num_nodes = len(out_offsets) - 1
    rows = np.full((len(targets), num_nodes), -1, np.int32)
    distance = np.empty(num_nodes, np.int32)
    queue = np.empty(num_nodes, np.int32)
    for row in range(len(targets)):
        distances_to(targets[row], channel_source, in_offsets, in_channels, distance, queue)
        for node in range(num_nodes):
            for slot in range(out_offsets[node], out_offsets[node + 1]):
                channel = out_channels[slot]
                if distance[node] > 0 and distance[channel_target[channel]] == distance[node] - 1:
                    rows[row, node] = channel
                    break
    return rows
