"""Shortest paths over flat arrays, paths in trees, and their ends.

On any directed graph, a breadth-first search backwards from each target finds shortest paths.
Of equally short ones, the lowest-numbered channels count.

In fat trees with parallel links, a path follows from a key. ``tree`` is what ``tree_index`` of
``netloom.routing.rules`` returns. Levels are numbered from the hosts, 0.

At the ends of paths are ports: which ones packets take, and paths with their channels.

Twin: ``tests/reference/shortest_path.py``. In trees: ``tests/reference/tree_routing.py``. Ports:
``tests/reference/several.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import njit

# -- shortest path ---------------------------------------------------------------------------------


@njit
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


@njit
def shortest_rows(targets, ends, in_offsets, in_channels, out_offsets, out_channels):
    """The lowest-numbered channel that leads one hop nearer to each of some targets.

    int32[targets, nodes], -1 at the target, and where there is no way.
    """
    channel_source, channel_target = ends
    num_nodes = len(out_offsets) - 1
    rows = np.full((len(targets), num_nodes), -1, np.int32)
    distance, queue = np.empty((2, num_nodes), np.int32)
    for row in range(len(targets)):
        distances_to(targets[row], channel_source, in_offsets, in_channels, distance, queue)
        for node in range(num_nodes):
            for slot in range(out_offsets[node], out_offsets[node + 1]):
                channel = out_channels[slot]
                if distance[node] > 0 and distance[channel_target[channel]] == distance[node] - 1:
                    rows[row, node] = channel
                    break
    return rows


@njit
def mixed(number):
    """The finalizer of SplitMix64 (Steele, Lea & Flood 2014)."""
    number += np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


# -- in trees --------------------------------------------------------------------------------------


@njit
def fill_tree_paths(tree, steps, sources, targets, keys, offsets):
    """Walk every path up to where source and target meet, and down again.

    Returned are its channels between routers, and the ports of its hosts at both ends.

    The digits of a path's key give its choices above each level. The parent is
    ``key // steps[0, level] % parents``, the cable up ``key // steps[1, level] % parallel``, and
    the cable down on the way back ``key // steps[2, level] % parallel``.
    """
    children, parents, parallel, first_up, channel_at = tree
    num_up = len(channel_at) // 2
    channels = np.empty(offsets[-1], np.int32)
    port, sink = np.empty((2, len(sources)), np.int32)
    for path in range(len(sources)):
        begin, end = offsets[path], offsets[path + 1]
        source, target, key = sources[path], targets[path], keys[path]
        low, below = 0, 1  # the digits of parents that were chosen, and how many ways they can be
        if source == target:
            port[path] = sink[path] = channel_at[source * parents[0] * parallel[0]]
        level = 0
        while source != target:
            parent = key // steps[0, level] % parents[level]
            cables = parallel[level]
            up = key // steps[1, level] % cables
            down = key // steps[2, level] % cables
            here = ((source * below + low) * parents[level] + parent) * cables + first_up[level]
            there = ((target * below + low) * parents[level] + parent) * cables + first_up[level]
            if level == 0:
                port[path], sink[path] = channel_at[here + up], channel_at[num_up + there + down]
            else:
                channels[begin + level - 1] = channel_at[here + up]
                channels[end - level] = channel_at[num_up + there + down]
            low += parent * below
            below *= parents[level]
            source //= children[level]
            target //= children[level]
            level += 1
    return channels, port, sink


# -- up*/down* -------------------------------------------------------------------------------------


@njit
def distance_sums(samples, channel_source, in_offsets, in_channels):
    """Sum of the hops from every node to all samples. Hops of nodes that cannot are left out."""
    num_nodes = len(in_offsets) - 1
    sums = np.zeros(num_nodes, np.int64)
    distance, queue = np.empty((2, num_nodes), np.int32)
    for sample in samples:
        distances_to(sample, channel_source, in_offsets, in_channels, distance, queue)
        for node in range(num_nodes):
            sums[node] += max(distance[node], 0)
    return sums


# -- ports -----------------------------------------------------------------------------------------


@njit
def nearest_ports(
    by_target, sources, targets, offsets, entry, leave, channel_source, in_offsets, in_channels
):
    """Return the ports of each pair between which there are the fewest hops. Ties by number."""
    num_routers = len(in_offsets) - 1
    most = np.max(np.diff(offsets))
    distance = np.empty((most, num_routers), np.int32)
    queue = np.empty(num_routers, np.int32)
    source_port = np.empty(len(sources), np.int64)
    target_port = np.empty(len(sources), np.int64)
    known = -1
    for pair in by_target:
        target = targets[pair]
        if target != known:
            known = target
            for port in range(offsets[target], offsets[target + 1]):
                row = distance[port - offsets[target]]
                distances_to(leave[port], channel_source, in_offsets, in_channels, row, queue)
        source = sources[pair]
        least, equal = -1, 0
        for port in range(offsets[source], offsets[source + 1]):
            for end in range(offsets[target + 1] - offsets[target]):
                hops = distance[end, entry[port]]
                if hops >= 0 and (least < 0 or hops < least):
                    least, equal = hops, 0
                if hops >= 0 and hops == least:
                    equal += 1
        wanted = (source + target) % equal if equal else 0
        source_port[pair], target_port[pair] = offsets[source], offsets[target]
        for port in range(offsets[source], offsets[source + 1]):
            for end in range(offsets[target + 1] - offsets[target]):
                if least >= 0 and distance[end, entry[port]] == least:
                    if wanted == 0:
                        source_port[pair], target_port[pair] = port, offsets[target] + end
                    wanted -= 1
    return source_port, target_port


@njit
def with_ports(offsets, channels, port, sink, port_host, first):
    """Return offsets and channels of paths with those of their ports, which begin at ``first``."""
    count, behind = len(offsets) - 1, first + len(port_host)
    starts, moving = np.zeros(count + 1, np.int64), np.empty(count, np.bool_)
    for path in range(count):
        moving[path] = port_host[port[path]] != port_host[sink[path]]
        more = 2 * moving[path]
        starts[path + 1] = starts[path] + offsets[path + 1] - offsets[path] + more
    found = np.empty(starts[-1], np.int32)
    for path in range(count):
        at = starts[path]
        if moving[path]:
            found[at], found[starts[path + 1] - 1] = first + port[path], behind + sink[path]
            at += 1
        for hop in range(offsets[path], offsets[path + 1]):
            found[at] = channels[hop]
            at += 1
    return starts, found
