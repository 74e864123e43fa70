"""Traffic of one permutation of hosts after the other: the busiest channel, and what pairs get.

Twin: ``tests/reference/permutations.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit
def permutation_figures(channels, offsets, port, sink, firsts, bandwidth, between, total, load):
    """Return the largest load and time between routers, and the mean share, of each permutation.

    Permutation g has the paths ``firsts[g]`` … ``firsts[g + 1]`` - 1, whose channels between
    routers are ``channels[offsets[p]:offsets[p + 1]]``, from host port ``port[p]`` to ``sink[p]``.
    Channels from ``between`` on are those of ports, if they are listed: first all that inject. A
    pair's share is the least bandwidth over load along its path, over what the channels of its
    ports carry, or over 1 where these are not listed. It is 1 of a path without channels. ``total``
    gains the loads of all permutations. ``load`` has a zero for every channel, also afterwards.
    """
    count, ports = len(firsts) - 1, (len(load) - between) // 2
    largest, longest, shares = np.zeros(count, np.int64), np.zeros(count), np.zeros(count)
    for group in range(count):
        first, last = firsts[group], firsts[group + 1]
        low, high = offsets[first], offsets[last]
        listed = range(first, last if ports else first)
        for hop in range(low, high):
            load[channels[hop]] += 1
        for hop in range(low, high):
            channel = channels[hop]
            largest[group] = max(largest[group], load[channel])
            longest[group] = max(longest[group], load[channel] / bandwidth[channel])
        for path in listed:
            load[between + port[path]] += 1
            load[between + ports + sink[path]] += 1
        for path in range(first, last):
            least, alone = np.inf, 1.0
            if ports:
                into, out_of = between + port[path], between + ports + sink[path]
                alone = min(bandwidth[into], bandwidth[out_of])
                least = min(bandwidth[into] / load[into], bandwidth[out_of] / load[out_of])
            for hop in range(offsets[path], offsets[path + 1]):
                channel = channels[hop]
                least = min(least, bandwidth[channel] / load[channel])
            shares[group] += min(least / alone, 1.0)
        shares[group] /= max(last - first, 1)
        for hop in range(low, high):
            total[channels[hop]] += 1
            load[channels[hop]] = 0
        for path in listed:
            for channel in (between + port[path], between + ports + sink[path]):
                total[channel] += 1
                load[channel] = 0
    return largest, longest, shares
