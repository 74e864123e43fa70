"""What a permutation loads, and what its pairs get, written for the reader."""

from collections import Counter


def figures(paths, bandwidth, between):
    """Return (largest load, longest time) of channels below ``between``, and the mean share.

    ``paths`` are lists of channels; those from ``between`` on are of hosts.
    """
    load = Counter(channel for path in paths for channel in path)
    routers = [channel for channel in load if channel < between]
    shares = []
    for path in paths:
        least = min((bandwidth[channel] / load[channel] for channel in path), default=1.0)
        alone = min((bandwidth[channel] for channel in path if channel >= between), default=1.0)
        shares.append(min(least / alone, 1.0))
    return (
        max((load[channel] for channel in routers), default=0),
        max((load[channel] / bandwidth[channel] for channel in routers), default=0.0),
        sum(shares) / len(shares),
    )
