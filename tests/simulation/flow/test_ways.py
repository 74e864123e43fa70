"""The links of flows: how they are spread over several paths, and what they have alone."""

import numpy as np
import pytest

from netloom.routing import parse_routing, paths
from netloom.simulation.flow import flow_network, made_ways, ways_of
from netloom.topology import topology


def spread(spec, routing, flows=40):
    net = topology(spec)
    chosen = parse_routing(routing, net)
    rng = np.random.default_rng(2)
    source = rng.integers(0, net.num_hosts, flows).astype(np.int32)
    target = ((source + rng.integers(1, net.num_hosts, flows)) % net.num_hosts).astype(np.int32)
    network = flow_network(net)
    return (
        network,
        paths(net, chosen, source, target).whole(net),
        ways_of(network, chosen, source, target),
    )


@pytest.mark.parametrize(
    ("spec", "routing", "whole"),
    [
        ("fat-tree:4x3", "minimal", 16),
        ("slim-fly:5/4", "valiant", 50),
        ("jellyfish:32x5x3/1", "valiant", None),  # of routers of several degrees
        ("torus:6x10", "minimal", None),
        ("torus:4x4", "default", 1),
    ],
)
def test_shares_are_the_probabilities_of_the_paths_exactly(spec, routing, whole):
    network, found, ways = spread(spec, routing)
    assert whole in (None, ways.whole)
    pair = np.arange(len(found)) if found.pair is None else found.pair
    chance = np.ones(len(found)) if found.probability is None else found.probability
    inside = network.topology.num_channels
    for way in range(len(ways)):
        used = np.zeros(inside)
        for path in np.flatnonzero(pair == way):
            np.add.at(used, found[path], chance[path])
        hops = slice(ways.offsets[way], ways.offsets[way + 1])
        own = ways.links[hops] < inside
        shares = np.zeros(inside)
        shares[ways.links[hops][own]] = ways.shares[hops][own] / ways.whole
        assert np.abs(shares - used).max() < 1e-12


def test_a_path_that_crosses_a_channel_twice_uses_it_twice():
    network = flow_network(topology("ring:4"), end_channels=False)
    ways = made_ways(network, np.zeros(3, np.int64), np.array([5, 2, 5]), np.ones(3), 1)
    assert (ways.links.tolist(), ways.shares.tolist(), ways.whole) == ([2, 5], [1, 2], 1)
    assert ways.latency.tolist() == [3]
    assert ways.capacity(network.capacity).tolist() == [0.5]
