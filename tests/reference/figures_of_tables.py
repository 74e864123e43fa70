"""Every path of a forwarding table, one pair of hosts after the other."""

from collections import Counter


def all_to_all(topology, next_channel, pairs, undelivered=()):
    """Return the paths on each channel between routers, the pairs without one, and the most hops.

    ``pairs`` are (row of the table, first router, last router).
    """
    load, lost, longest = Counter(), 0, 0
    for row, first, last in pairs:
        router, path = first, []
        while next_channel[row, router] >= 0 and len(path) <= topology.num_routers:
            path.append(int(next_channel[row, router]))
            router = topology.routers.channel_target[path[-1]]
        if router != last or row in undelivered or next_channel[row, router] >= 0:
            lost += 1
            continue
        load.update(path)
        longest = max(longest, len(path))
    return load, lost, longest
