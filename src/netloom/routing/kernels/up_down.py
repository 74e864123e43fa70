"""Up*/down* routing on networks of two-way links, over flat arrays.

``up[channel]`` says whether a channel leads up, towards the root. A state of a packet is
``2 * node + phase``: in phase 0 it has gone up only and may still, in phase 1 it has gone down.

Twin: ``tests/reference/round_failures.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.shortest_path import distances_to


@njit(nogil=True)
def distance_sums(samples, channel_source, in_offsets, in_channels):
    """Sum of the hops from every node to all samples. Hops of nodes that cannot are left out."""
    num_nodes = len(in_offsets) - 1
    sums = np.zeros(num_nodes, np.int64)
    distance = np.empty(num_nodes, np.int32)
    queue = np.empty(num_nodes, np.int32)
    for sample in samples:
        distances_to(sample, channel_source, in_offsets, in_channels, distance, queue)
        for node in range(num_nodes):
            sums[node] += max(distance[node], 0)
    return sums


@njit(nogil=True)
def legal_distances(target, up, channel_source, in_offsets, in_channels, distance, queue):
    """Fill ``distance`` with the hops of the shortest legal path from every state, -1 for none."""
    distance[:] = -1
    distance[2 * target], distance[2 * target + 1] = 0, 0
    queue[0], queue[1] = 2 * target, 2 * target + 1
    head, tail = 0, 2
    while head < tail:
        state = queue[head]
        head += 1
        node, phase = state // 2, state % 2
        for slot in range(in_offsets[node], in_offsets[node + 1]):
            channel = in_channels[slot]
            before = 2 * channel_source[channel]
            if up[channel] == (phase == 1):
                continue  # up leads to phase 0, down to phase 1
            for earlier in range(before, before + 1 + phase):
                if distance[earlier] < 0:
                    distance[earlier] = distance[state] + 1
                    queue[tail] = earlier
                    tail += 1


@njit(nogil=True)
def legal_lengths(by_target, sources, targets, up, channel_source, in_offsets, in_channels):
    """Hops of every path, -1 where there is none. ``by_target`` visits paths target by target."""
    lengths = np.empty(len(sources), np.int32)
    distance = np.empty(2 * (len(in_offsets) - 1), np.int32)
    queue = np.empty_like(distance)
    known = -1
    for path in by_target:
        if targets[path] != known:
            known = targets[path]
            legal_distances(known, up, channel_source, in_offsets, in_channels, distance, queue)
        lengths[path] = distance[2 * sources[path]]
    return lengths


@njit(nogil=True)
def fill_legal(
    by_target, sources, targets, keys, offsets, up, ends, in_offsets, in_channels, out_offsets,
    out_channels,
):  # fmt: skip
    """Walk every path. If several channels are as short, a hash of pair and node decides.

    ``keys`` are the numbers of the two that are hashed: the pair's own, or those of its hosts.
    """
    channel_source, channel_target = ends
    channels = np.empty(offsets[-1], np.int32)
    distance = np.empty(2 * (len(in_offsets) - 1), np.int32)
    queue = np.empty_like(distance)
    known = -1
    for path in by_target:
        if targets[path] != known:
            known = targets[path]
            legal_distances(known, up, channel_source, in_offsets, in_channels, distance, queue)
        state = 2 * sources[path]
        for free in range(offsets[path], offsets[path + 1]):
            node, choices = state // 2, 0
            for slot in range(out_offsets[node], out_offsets[node + 1]):
                after = following(state, out_channels[slot], up, channel_target)
                choices += after >= 0 and distance[after] == distance[state] - 1
            left = scattered(keys[0][path], keys[1][path], node) % choices
            for slot in range(out_offsets[node], out_offsets[node + 1]):
                after = following(state, out_channels[slot], up, channel_target)
                if after >= 0 and distance[after] == distance[state] - 1:
                    if left == 0:
                        channels[free], state = out_channels[slot], after
                        break
                    left -= 1
    return channels


@njit(nogil=True)
def following(state, channel, up, channel_target):
    """The state of a packet after a channel, -1 where it may not take that channel."""
    if up[channel]:
        return 2 * channel_target[channel] if state % 2 == 0 else -1
    return 2 * channel_target[channel] + 1


@njit(nogil=True)
def scattered(source, target, node):
    """A number below 2**31 that looks random: the finalizer of SplitMix64 (Steele et al. 2014)."""
    mixed = np.uint64(source) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= np.uint64(target) * np.uint64(0xC2B2AE3D27D4EB4F)
    mixed += np.uint64(node) * np.uint64(0x165667B19E3779F9)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.int64((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(33))
