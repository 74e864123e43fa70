"""Ports at the ends of paths: which ones packets take, and paths with their channels.

Twin: ``tests/reference/several.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.shortest_path import distances_to


@njit()
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


@njit(nogil=True)
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
