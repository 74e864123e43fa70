"""D-mod-k, S-mod-k and random up on fat trees."""

from collections import Counter
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.routing import DModK, RandomUp, SModK, dependency_cycle, find_deadlock, paths
from netloom.topology import Topology, topology
from netloom.topology.core import attach_hosts
from netloom.topology.families import xgft
from tests.reference.tree_routing import by_key, route

FULL = ["fat-tree:4x3", "fat-tree:k=8", "leaf-spine:4x4x4", "xgft:8x4/1x2/1x4", "xgft:4x4/2x2/1x1"]
"""Full trees; one has parallel links, one hosts of two ports."""


def all_pairs(network):
    hosts = np.arange(network.num_hosts, dtype=np.int32)
    return hosts.repeat(len(hosts)), np.tile(hosts, len(hosts))


def named(network, path):
    """Return (from, to, number among parallel channels) of each channel of a path."""
    return [
        (int(network.source_end[c]), int(network.target_end[c]),
         max(int(network.twin_number[c]) - 1, 0))
        for c in path
    ]  # fmt: skip


trees = st.integers(1, 3).flatmap(
    lambda levels: st.tuples(*(st.tuples(*[st.integers(1, 3)] * levels) for _ in range(3)))
)


@pytest.mark.parametrize("routing", [DModK(), SModK()])
@pytest.mark.parametrize("spec", FULL)
def test_no_shift_of_a_full_tree_loads_a_channel_twice(spec, routing):
    network = topology(spec)
    hosts = np.arange(network.num_hosts)
    for ahead in range(1, len(hosts)):
        found = paths(network, routing, hosts, (hosts + ahead) % len(hosts))
        load = np.bincount(found.channels, minlength=network.num_channels)
        assert load.max() == 1


@settings(deadline=None, max_examples=30)
@given(trees, st.randoms(use_true_random=False))
def test_paths_are_those_of_the_definition(shape, chance):
    network = xgft(*shape)
    _, parents, parallel = shape
    sources, targets = ([chance.randrange(network.num_hosts) for _ in range(20)] for _ in range(2))
    for routing, keys in ((DModK(), targets), (SModK(), sources)):
        found = paths(network, routing, sources, targets).whole(network)
        for pair, (source, target) in enumerate(zip(sources, targets, strict=True)):
            ups = by_key(parents, parallel, keys[pair])
            assert named(network, found[pair]) == route(*shape, source, target, ups)


@settings(deadline=None, max_examples=20)
@given(trees)
def test_random_up_lists_every_way_once(shape):
    network = xgft(*shape)
    source, target = 0, network.num_hosts - 1
    found = paths(network, RandomUp(), [target, source], [target, target]).whole(network)
    assert found.pair is not None
    assert found.probability is not None
    assert (len(found[0]), found.probability[0]) == (0, 1)
    ways = found.pair == int(source != target)
    assert np.allclose(found.probability[ways], 1 / max(np.count_nonzero(ways), 1))
    choices = [
        list(product(range(w), range(p), range(p))) for w, p in zip(shape[1], shape[2], strict=True)
    ]
    if source != target and np.prod([len(each) for each in choices]) <= 2000:
        wanted = {tuple(route(*shape, source, target, ups)) for ups in product(*choices)}
        listed = [tuple(named(network, found[int(p)])) for p in np.flatnonzero(ways)]
        assert len(listed) == len(set(listed))
        assert set(listed) == wanted


def test_drawn_paths_are_as_likely_as_listed_ones():
    network = topology("xgft:2x2x2/1x2x2/1x2x1")
    many = np.zeros(4000, np.int32)
    drawn = RandomUp().drawn(network, many, many + 7, np.random.default_rng(5))
    counts = Counter(tuple(drawn[path].tolist()) for path in range(len(drawn)))
    listed = paths(network, RandomUp(), [0], [7])
    assert set(counts) == {tuple(listed[path].tolist()) for path in range(len(listed))}
    expected = len(many) / len(counts)
    assert sum((each - expected) ** 2 / expected for each in counts.values()) < 3 * len(counts)


def renumbered(network, chance):
    """Return a tree with hosts, routers and channels in another order, as a file might have."""
    routers = network.routers
    new_host, new_router = (chance.permutation(n) for n in (network.num_hosts, network.num_routers))
    order = chance.permutation(routers.num_channels)
    inside = Topology(
        "other", routers.num_routers,
        new_router[routers.channel_source[order]].astype(np.int32),
        new_router[routers.channel_target[order]].astype(np.int32),
    )  # fmt: skip
    port_host = new_host[network.port_host]
    by_host = np.argsort(port_host, kind="stable")
    shape = replace(
        network.family, host_at=new_host.astype(np.int32), router_at=new_router.astype(np.int32)
    )
    found = attach_hosts(
        inside, new_router[network.injection_router][by_host],
        name="other", port_host=port_host[by_host], family=shape,
    )  # fmt: skip
    vertices = np.append(new_host, network.num_hosts + new_router)
    return found, vertices


@pytest.mark.parametrize("routing", [DModK(), SModK()])
@pytest.mark.parametrize("spec", FULL)
def test_a_renumbered_tree_is_routed_the_same(spec, routing):
    network = topology(spec)
    other, vertices = renumbered(network, np.random.default_rng(3))
    sources, targets = all_pairs(network)
    one = paths(network, routing, sources, targets)
    two = paths(other, routing, vertices[sources], vertices[targets])
    assert np.array_equal(one.offsets, two.offsets)
    for end in ("source_end", "target_end"):
        mine, theirs = getattr(network, end), getattr(other, end)
        assert np.array_equal(vertices[mine[one.channels]], theirs[two.channels])
    loads = (
        np.sort(np.bincount(found.channels, minlength=network.num_channels)) for found in (one, two)
    )
    assert np.array_equal(*loads)


@pytest.mark.parametrize("routing", [DModK(), SModK(), RandomUp()])
@pytest.mark.parametrize("spec", ["fat-tree:2x3", "leaf-spine:4x2x2/2", "xgft:2x3/2x2/1x2"])
def test_paths_in_trees_do_not_deadlock(spec, routing):
    network = topology(spec)
    assert find_deadlock(network, routing) == ()
    found = paths(network, routing, *all_pairs(network))
    assert dependency_cycle(found, network.num_channels) == ()
