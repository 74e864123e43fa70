"""A fat tree is recognised however it is numbered, and nothing else is."""

from collections import Counter
from dataclasses import replace

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.routing import parse_routing, paths
from netloom.topology import Topology, topology
from netloom.topology.core import attach_hosts
from netloom.topology.families import xgft
from netloom.topology.graph import tree_shape

SPECS = ["fat-tree:4x3", "fat-tree:2x4", "fat-tree:k=8", "fat-tree:3x1", "leaf-spine:8x4x8",
         "leaf-spine:4x2x4/2", "xgft:4x4x4/1x2x4", "xgft:3x2/2x3/1x2", "xgft:2x3x2/2x1x3/2x1x2",
         "xgft:1x3/1x2", "xgft:3x1x2/1x1x2", "xgft:2x1/1x3", "xgft:4x2x2/1x3x1"]  # fmt: skip


@st.composite
def trees(draw):
    """Small random PGFTs."""
    levels = draw(st.integers(1, 4))
    some = st.lists(st.integers(1, 3), min_size=levels, max_size=levels)
    most = st.lists(st.integers(1, 2), min_size=levels, max_size=levels)
    return xgft(draw(some), draw(some), draw(most))


def renumbered(net, rng, *, hosts=False):
    """The same network, routers (and hosts) by other numbers, channels in another order."""
    of_router = rng.permutation(net.num_routers)
    of_host = rng.permutation(net.num_hosts) if hosts else np.arange(net.num_hosts)
    order = rng.permutation(net.num_network_channels)
    routers = Topology(
        "graph:shuffled", net.num_routers,
        of_router[net.routers.channel_source][order].astype(np.int32),
        of_router[net.routers.channel_target][order].astype(np.int32),
    )  # fmt: skip
    owner = of_host[net.port_host]
    ports = np.argsort(owner, kind="stable")
    return attach_hosts(
        routers, of_router[net.injection_router][ports], name="graph:shuffled",
        port_host=owner[ports],
    )  # fmt: skip


def placed_channels(net, shape):
    """How many channels join any two places of hosts and routers."""
    place = np.arange(net.num_ends)
    if shape.host_at is not None:
        place[shape.host_at] = np.arange(net.num_hosts)
    if shape.router_at is not None:
        place[net.num_hosts + shape.router_at] = net.num_hosts + np.arange(net.num_routers)
    return Counter(zip(place[net.source_end].tolist(), place[net.target_end].tolist(),
                       strict=True))  # fmt: skip


def numbers(shape):
    return shape.children, shape.parents, shape.parallel


@pytest.mark.parametrize("spec", SPECS)
def test_a_tree_is_recognised_as_its_spec_numbers_it(spec):
    net = topology(spec)
    found = tree_shape(replace(net, family=None))
    assert numbers(found) == numbers(net.family)
    assert found.router_at is None
    assert found.host_at is None


@settings(max_examples=150, deadline=None)
@given(trees(), st.integers(0, 2**32))
def test_renumbered_routers_get_their_places_back(net, seed):
    """Hosts keep their places, so that routing by labels is the same up to names of routers."""
    shuffled = renumbered(net, np.random.default_rng(seed))
    found = tree_shape(shuffled)
    assert numbers(found) == numbers(net.family)
    assert found.host_at is None
    assert placed_channels(shuffled, found) == placed_channels(net, net.family)


@settings(max_examples=100, deadline=None)
@given(trees(), st.integers(0, 2**32))
def test_renumbered_hosts_get_places_of_subtrees(net, seed):
    shuffled = renumbered(net, np.random.default_rng(seed), hosts=True)
    found = tree_shape(shuffled)
    assert numbers(found) == numbers(net.family)
    assert placed_channels(shuffled, found) == placed_channels(net, net.family)


@settings(max_examples=150, deadline=None)
@given(trees(), st.data())
def test_a_link_that_is_moved_or_missing_makes_it_none(net, data):
    routers = net.routers
    if not routers.num_channels:
        return
    lost = data.draw(st.integers(0, routers.num_channels - 1))
    a, b = int(routers.channel_source[lost]), int(routers.channel_target[lost])
    back = np.flatnonzero((routers.channel_source == b) & (routers.channel_target == a))[0]
    source = np.delete(routers.channel_source, [lost, back])
    target = np.delete(routers.channel_target, [lost, back])
    found = tree_shape(_hung(net, source, target))
    assert found is None or numbers(found) != numbers(net.family)  # a smaller tree may be left
    to = data.draw(st.integers(0, routers.num_routers - 1))
    if to in (a, b):
        return
    source, target = np.append(source, [a, to]), np.append(target, [to, a])
    moved = _hung(net, source.astype(np.int32), target.astype(np.int32))
    found = tree_shape(moved)
    if found is not None:  # then it is the tree that is found, whichever that is
        again = xgft(*numbers(found))
        assert placed_channels(moved, found) == placed_channels(again, again.family)


def _hung(net, source, target):
    routers = Topology("graph:damaged", net.num_routers, source, target)
    return attach_hosts(
        routers, net.injection_router, name="graph:damaged", port_host=net.port_host
    )


@pytest.mark.parametrize(
    "spec",
    ["mesh:4x4/4", "dragonfly:2x4x2", "dragonfly+:2x2x2x2", "hyperx:4x4/4", "slim-fly:5/4",
     "jellyfish:32x5x3/1", "butterfly:4x3", "omega:16", "omega:4", "torus:4x4", "ring:4/2",
     "hypercube:3/1"],
)  # fmt: skip
def test_what_is_no_tree_is_none(spec):
    assert tree_shape(topology(spec)) is None


def test_small_networks_that_are_trees_as_well_are_recognised():
    assert numbers(tree_shape(topology("omega:4/4"))) == ((8,), (1,), (1,))
    assert numbers(tree_shape(topology("butterfly:4x1"))) == ((4,), (1,), (1,))
    assert numbers(tree_shape(topology("line:1/5"))) == ((5,), (1,), (1,))


def test_a_rail_network_is_a_tree_with_hosts_in_another_order():
    net = topology("rail:2x3x4x2/2")
    found = tree_shape(replace(net, family=None))
    assert numbers(found) == numbers(net.family)
    assert found.host_at.tolist() == net.family.host_at.tolist()
    assert found.router_at is None


def test_a_pod_joined_to_other_rows_of_the_core_is_no_tree():
    """Same degrees, same levels, same subtrees: but routers of a row do not share their parents."""
    net = topology("fat-tree:k=4")
    source, target = net.routers.channel_source.copy(), net.routers.channel_target.copy()
    # in every pod the first aggregation router has cores 16 and 18, the second 17 and 19
    for a, b in ((8, 18), (9, 17)):
        other = 9 if a == 8 else 8
        source[(net.routers.channel_source == a) & (net.routers.channel_target == b)] = other
        target[(net.routers.channel_target == a) & (net.routers.channel_source == b)] = other
    assert not np.array_equal(source, net.routers.channel_source)
    assert tree_shape(_hung(net, source, target)) is None


@settings(max_examples=60, deadline=None)
@given(trees(), st.integers(0, 2**32), st.sampled_from(["d-mod-k", "s-mod-k"]))
def test_routing_by_labels_is_the_same_on_a_renumbered_tree(net, seed, routing):
    rng = np.random.default_rng(seed)
    shuffled = renumbered(net, rng)
    found = tree_shape(shuffled)
    shuffled = replace(shuffled, family=found)
    source, target = np.divmod(np.arange(net.num_hosts**2, dtype=np.int32), net.num_hosts)
    seen = []
    for each in (net, shuffled):
        routed = paths(each, parse_routing(routing, each), source, target)
        place = np.arange(each.num_ends)
        if each.family.router_at is not None:
            place[each.num_hosts + each.family.router_at] = each.num_hosts + np.arange(
                each.num_routers
            )
        ends = place[each.source_end], place[each.target_end], each.twin_number
        seen.append([column[routed.channels].tolist() for column in ends])
    assert seen[0] == seen[1]
