"""Shortest paths spread evenly, and equal-cost paths by hashes, on any network."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import NoRouteError
from netloom.routing import (
    Ecmp,
    ShortestPath,
    Spread,
    parse_routing,
    paths,
    rules as module,
    spread_table,
)
from netloom.topology import Topology, hypercube, mesh, topology, torus, without
from netloom.topology.core import attach_hosts
from tests.reference import spread as reference


def all_to_all(network, routing):
    """Return the load of every network channel, each host sending to each."""
    hosts = np.flatnonzero(network.vertex_up[: network.num_hosts])
    found = paths(network, routing, hosts.repeat(len(hosts)), np.tile(hosts, len(hosts))).whole(
        network
    )
    count = network.num_network_channels
    return np.bincount(found.channels, minlength=network.num_channels)[:count]


def random_network(chance, *, hosted):
    """Return a strongly connected multigraph of uneven bandwidth, with hosts on some routers."""
    size = chance.randint(2, 8)
    edges = [(r, (r + 1) % size) for r in range(size)]
    for _ in range(chance.randint(0, 3 * size)):
        a, b = chance.sample(range(size), 2)
        edges.append((a, b))
    source, target = (np.array(ends, np.int32) for ends in zip(*edges, strict=True))
    bandwidth = np.array([chance.choice([1.0, 2.0, 4.0]) for _ in edges])
    inside = Topology("random", size, source, target, channel_bandwidth=bandwidth)
    if not hosted:
        return inside
    into, out_of = ([chance.randrange(size) for _ in range(2 * size)] for _ in range(2))
    return attach_hosts(inside, np.array(into), name="hosted", ejection=np.array(out_of))


def ends_of(network):
    inside = network.routers
    return list(zip(inside.channel_source.tolist(), inside.channel_target.tolist(), strict=True))


@settings(deadline=None, max_examples=30)
@given(st.randoms(use_true_random=False), st.booleans())
def test_the_table_is_that_of_the_definition(chance, hosted):
    network = random_network(chance, hosted=hosted)
    routers = network.num_routers
    exits = network.ejection_router.tolist() if hosted else list(range(routers))
    enters = network.injection_router if hosted else np.arange(routers)
    sent = dict(enumerate(np.bincount(enters, minlength=routers).tolist()))
    bandwidth = network.routers.channel_bandwidth.tolist()
    wanted = reference.spread_table(
        ends_of(network), bandwidth, exits, [sent] * len(exits), module.ROUNDS
    )
    found = [
        {router: channel for router, channel in enumerate(row) if channel >= 0}
        for row in spread_table(network).tolist()
    ]
    assert found == wanted


@settings(deadline=None, max_examples=30)
@given(st.randoms(use_true_random=False), st.booleans(), st.booleans(), st.integers(0, 2**40))
def test_hashed_paths_are_those_of_the_definition(chance, hosted, polarised, seed):
    network = random_network(chance, hosted=hosted)
    hosts = np.arange(network.num_hosts)
    pairs = hosts.repeat(len(hosts)), np.tile(hosts, len(hosts))
    enters = (network.injection_router if hosted else hosts).tolist()
    leaves = (network.ejection_router if hosted else hosts).tolist()
    found = paths(network, Ecmp(seed, polarised), *pairs).whole(network)
    ends = ends_of(network)
    for path, (source, target) in enumerate(zip(*map(np.ndarray.tolist, pairs), strict=True)):
        if source == target:
            assert len(found[path]) == 0
            continue
        inner = reference.hashed_path(
            ends, enters[source], leaves[target], source, target, seed, polarised
        )
        assert found[path].tolist()[hosted : len(found[path]) - hosted] == inner


@pytest.mark.parametrize(
    ("network", "most", "theirs"),
    [
        (topology("leaf-spine:8x4x8"), 112, 112),
        (topology("leaf-spine:4x2x4/2"), 12, 12),
        (topology("xgft:8x8/1x8"), 56, 56),
        (topology("fat-tree:k=8"), 124, 208),
        (topology("dragonfly:2x4x2"), 68, 92),
        (hypercube(5), 18, 29),
        (mesh(4, 4), 18, 18),
        (torus(4, 4, 4), 40, 61),
    ],
)
def test_spread_paths_are_as_even_as_those_of_subnet_managers(network, most, theirs):
    """``theirs``: the lower of OpenSM 3.3.23's minhop and sssp, on the same network."""
    load = all_to_all(network, Spread())
    assert load.sum() == all_to_all(network, ShortestPath()).sum()
    assert load.max() <= most <= theirs


def test_a_damaged_tree_is_spread_and_still_reaches_all():
    whole = topology("leaf-spine:8x4x8")
    network = without(whole, channels="leaf0-spine0, leaf1-spine2", nodes="spine3, h5")
    routing = parse_routing("default", network)
    assert routing == Spread()
    load = all_to_all(network, routing)
    # leaf 1 has two spines left, by which its 8 hosts send to 55
    assert 8 * 55 / 2 <= load.max() <= 1.1 * 8 * 55 / 2
    lost = np.array([5]), np.array([0])
    with pytest.raises(NoRouteError):
        paths(network, routing, *lost)


def test_spread_paths_use_every_rail_of_the_hosts():
    """Two planes that are not joined, each host with a port in each."""
    planes = Topology(
        "planes", 4, np.array([0, 1, 2, 3], np.int32), np.array([1, 0, 3, 2], np.int32)
    )
    router_of_port = np.tile([0, 2, 1, 3], 4).reshape(-1, 2)[[0, 0, 0, 1, 1, 1]].ravel()
    network = attach_hosts(planes, router_of_port, name="rails", port_host=np.arange(6).repeat(2))
    for routing in (Spread(), Ecmp(), ShortestPath()):
        load = all_to_all(network, routing)
        assert load.sum() == 18
        assert load.max() <= 5


def test_one_seed_polarises_and_several_do_not():
    network = topology("fat-tree:4x3")
    for seed in (1, 2, 3):
        good, bad = (all_to_all(network, Ecmp(seed, each)) for each in (False, True))
        assert good.min() > 0
        # a switch of the middle level gets packets of one residue only, and sends up one cable
        up = network.routers.channel_target >= 32
        assert np.count_nonzero(bad[up & (network.routers.channel_source >= 16)]) == 16
        assert bad.max() > 2 * good.max()
