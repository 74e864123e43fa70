"""What tests of families look at: the routers of links, and where a network is as it should be."""

from collections import Counter

import numpy as np


def links(network):
    """How many channels lead from router to router, by their numbers."""
    routers = network.routers
    return Counter(zip(routers.channel_source.tolist(), routers.channel_target.tolist(),
                       strict=True))  # fmt: skip


def check_network(network):
    """The promises of ``Topology`` that every whole network with two-way links keeps."""
    found = links(network)
    assert all(found[a, b] == found[b, a] for a, b in found)
    assert all(a != b for a, b in found)
    keys = network.routers.channel_source.astype(np.int64) * network.num_routers
    assert (np.diff(keys + network.routers.channel_target) >= 0).all()
    assert network.num_ends == network.num_hosts + network.num_routers
    first = network.num_network_channels
    assert np.array_equal(network.source_end[:first],
                          network.routers.channel_source + network.num_hosts)  # fmt: skip
    assert np.array_equal(network.source_end[first : first + network.num_ports],
                          network.port_host)  # fmt: skip
    assert len({network.name_of(v) for v in range(network.num_ends)}) == network.num_ends
    assert network.num_channels == first + 2 * network.num_ports
    assert (np.bincount(network.port_host, minlength=network.num_hosts) > 0).all()
