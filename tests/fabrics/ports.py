"""Random small fabrics in which some adapters have two ports on different switches."""

from pathlib import Path

import numpy as np

from netloom.topology import Topology, topology
from netloom.topology.core import attach_hosts
from tests.reference.scans import scan


def two_ports(rng, most=7):
    """Return a random network in one piece: some hosts have two ports on different routers."""
    count = int(rng.integers(3, most))
    edges = [(int(rng.integers(each)), each) for each in range(1, count)]
    edges += [tuple(rng.choice(count, 2, replace=False)) for _ in range(int(rng.integers(0, 4)))]
    if rng.random() < 0.5:
        edges = [(each, (each + 1) % count) for each in range(count)]
    tails = [a for a, _ in edges] + [b for _, b in edges]
    heads = [b for _, b in edges] + [a for a, _ in edges]
    routers = Topology("random", count, np.array(tails, np.int32), np.array(heads, np.int32))
    hosts = int(rng.integers(3, 7))
    ports = [
        (host, int(router))
        for host in range(hosts)
        for router in rng.choice(count, 1 + int(rng.random() < 0.5), replace=False)
    ]
    owner, at = (np.array(each) for each in zip(*ports, strict=True))
    return attach_hosts(routers, at, name="random", port_host=owner)


def scanned(net, folder):
    """Return a network as it is read from what ibnetdiscover would say of it."""
    path = Path(folder) / "fabric.txt"
    path.write_text(scan(net))
    return topology(f"fabric:{path}")
