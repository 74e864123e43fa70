"""Every path of a forwarding table, destination by destination, whether it arrives or not.

Twin: ``tests/reference/figures_of_tables.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit(nogil=True)
def all_to_all(next_channel, wanted, exits, sent, own, channel_target):
    """Follow the paths of all senders to all destinations that are wanted.

    ``sent[router, destination]`` is how many hosts send from a router, with one column if that is
    the same for all destinations. It excludes the destination itself, which is one host of router
    ``own[destination]`` (-1: of none). ``exits[destination]`` is the router where packets leave.

    Returns five things: the paths on each channel, bool[destinations, routers] whether packets from
    a router arrive, the number of pairs with and without a path, and the most hops.
    """
    num_routers = next_channel.shape[1]
    load = np.zeros(len(channel_target), np.int64)
    arrives = np.zeros(next_channel.shape, np.bool_)
    seen = np.full(num_routers, -1, np.int64)
    stamp, routed, unrouted, longest = 0, 0, 0, 0
    for destination in range(len(next_channel)):
        if not wanted[destination]:
            continue
        row = next_channel[destination]
        for start in range(num_routers):
            pairs = sent[start, destination % sent.shape[1]] - (own[destination] == start)
            if pairs <= 0:
                continue
            stamp += 1
            router, hops = start, 0
            while row[router] >= 0 and seen[router] != stamp:
                seen[router] = stamp
                router = channel_target[row[router]]
                hops += 1
            if row[router] >= 0 or router != exits[destination]:
                unrouted += pairs
                continue
            arrives[destination, start] = True
            routed += pairs
            longest = max(longest, hops)
            router = start
            for _ in range(hops):
                load[row[router]] += pairs
                router = channel_target[row[router]]
    return load, arrives, routed, unrouted, longest
