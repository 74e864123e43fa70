"""Shortest paths by the hash of source and target, over flat arrays.

Twin: ``tests/reference/spread.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.shortest_path import distances_to


@njit(nogil=True)
def mixed(number):
    """The finalizer of SplitMix64 (Steele, Lea & Flood 2014)."""
    number += np.uint64(0x9E3779B97F4A7C15)
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))


@njit(nogil=True)
def fill_hashed(by_exit, entry, leave, offsets, sources, targets, salts, ends, incoming, outgoing):
    """Walk every path from router to router: of n equal channels, the hash modulo n.

    ``salts[router]`` is the seed of each router. The hash is of salt, source and target.
    """
    channel_source, channel_target = ends
    in_offsets, in_channels = incoming
    out_offsets, out_channels = outgoing
    channels = np.empty(offsets[-1], np.int32)
    distance = np.empty(len(out_offsets) - 1, np.int32)
    queue = np.empty_like(distance)
    known = -1
    for path in by_exit:
        if leave[path] != known:
            known = leave[path]
            distances_to(known, channel_source, in_offsets, in_channels, distance, queue)
        router = entry[path]
        pair = mixed(mixed(np.uint64(sources[path])) ^ np.uint64(targets[path]))
        for free in range(offsets[path], offsets[path + 1]):
            equal = 0
            for slot in range(out_offsets[router], out_offsets[router + 1]):
                after = channel_target[out_channels[slot]]
                equal += distance[after] == distance[router] - 1
            left = np.int64(mixed(pair ^ salts[router]) % np.uint64(equal))
            for slot in range(out_offsets[router], out_offsets[router + 1]):
                channel = out_channels[slot]
                if distance[channel_target[channel]] == distance[router] - 1:
                    if left == 0:
                        channels[free] = channel
                        router = channel_target[channel]
                        break
                    left -= 1
    return channels
