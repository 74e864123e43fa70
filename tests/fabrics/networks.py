"""Random networks for tests of fabrics."""

import numpy as np

from netloom.topology import Topology
from netloom.topology.core import attach_hosts


def uneven(rng, most=8):
    """Return a random network in one piece: hosts anywhere, cables twice, bandwidths unequal."""
    count = int(rng.integers(3, most))
    edges = [(int(rng.integers(each)), each) for each in range(1, count)]
    edges += [tuple(rng.choice(count, 2, replace=False)) for _ in range(int(rng.integers(0, 8)))]
    tails = [a for a, _ in edges] + [b for _, b in edges]
    heads = [b for _, b in edges] + [a for a, _ in edges]
    rate = np.tile(rng.choice([0.5, 1.0, 2.0], len(edges)), 2)
    ends = np.array(tails, np.int32), np.array(heads, np.int32)
    routers = Topology("random", count, *ends, channel_bandwidth=rate)
    hosts = rng.integers(0, count, int(rng.integers(2, 9)))
    return attach_hosts(routers, np.sort(hosts), name="random")
