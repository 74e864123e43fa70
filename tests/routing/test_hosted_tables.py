"""Tables of your own where hosts hang on routers."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import netloom as nl
from netloom.base.errors import InputError
from netloom.routing import DModK, ShortestPath, Spread, find_deadlock, paths, spread_table, table
from netloom.topology import mesh, topology, torus, without
from netloom.topology.core import attach_hosts
from tests.routing.test_spread import random_network


def every_pair(network):
    hosts = np.arange(network.num_hosts)
    return hosts.repeat(len(hosts)), np.tile(hosts, len(hosts))


@settings(deadline=None, max_examples=25)
@given(st.randoms(use_true_random=False), st.booleans())
def test_a_table_routes_as_the_routing_that_it_writes_out(chance, hosted):
    network = random_network(chance, hosted=hosted)
    rows = spread_table(network)
    first = 0 if network.direct else network.num_hosts

    def spread(node, target):
        channel = rows[target][node - first]
        return None if channel < 0 else int(channel)

    written = table(network, spread)
    pairs = every_pair(network)
    one, two = (paths(network, routing, *pairs) for routing in (Spread(), written))
    assert np.array_equal(one.offsets, two.offsets)
    assert np.array_equal(one.channels, two.channels)


def d_mod_k_on(tree):
    """Return a function that gives the next channel of D-mod-k on a leaf-spine tree."""
    channel = {
        (int(a), int(b)): c
        for c, (a, b) in enumerate(zip(tree.source_end, tree.target_end, strict=True))
    }
    leaves, spines = tree.family.children[1], tree.family.parents[1]
    hosts = tree.num_hosts

    def onward(node, target):
        leaf = hosts + target // (hosts // leaves)
        goes_up = node < hosts + leaves
        return channel[node, hosts + leaves + target % spines if goes_up else leaf]

    return onward


def test_a_function_may_be_analysed():
    tree = topology("leaf-spine:4x2x4")
    routing = table(tree, d_mod_k_on(tree), name="mine")
    one, two = (paths(tree, each, *every_pair(tree)) for each in (routing, DModK()))
    assert np.array_equal(one.channels, two.channels)
    assert find_deadlock(tree, routing) == ()
    found = nl.analyze("all-to-all:16", tree, routing=routing, random_mappings=0)
    assert found.routing == "mine"
    assert found.to_dict()["channel_load"]["max"] == 24


def test_choices_are_for_simulation():
    net = mesh(2, 2)
    ends = list(zip(net.source_end.tolist(), net.target_end.tolist(), strict=True))

    def nearer(node, target):
        channels = [c for c in range(8) if ends[c][0] == node]
        direct = [c for c in channels if ends[c][1] == target]
        return direct or channels

    routing = table(net, nearer)
    assert paths(net, routing, [0, 2], [1, 2]).lengths.tolist() == [1, 0]
    with pytest.raises(InputError, match=r"several channels at \(0,0\) towards \(1,1\)"):
        paths(net, routing, [0], [3])
    assert find_deadlock(net, routing)


def test_packets_leave_at_the_first_router_of_their_host():
    ring = torus(4)
    ports = np.array([0, 2, 1, 3])  # host 0 on routers 0 and 2, host 1 on 1 and 3
    network = attach_hosts(ring, ports, name="two ports", port_host=np.array([0, 0, 1, 1]))
    forward = table(network, lambda node, target: node - 2)
    pairs = every_pair(network)
    assert paths(network, forward, *pairs).whole(network).lengths.tolist() == [0, 3, 3, 0]
    there = [
        network.channel_name(channel)
        for channel in paths(network, forward, [0], [1]).whole(network)[0]
    ]
    back = [
        network.channel_name(channel)
        for channel in paths(network, forward, [1], [0]).whole(network)[0]
    ]
    assert len({*there, *back}) == 6
    assert (there[0][:5], there[-1][-5:]) == ("h0 ->", "-> h1")
    assert find_deadlock(network, forward) == ()


def test_ways_that_end_or_turn_in_circles_are_told():
    tree = topology("leaf-spine:2x2x2")
    onward = d_mod_k_on(tree)
    with pytest.raises(InputError, match="channel 1 at node leaf1 towards node h0; expected a cha"):
        table(tree, lambda node, target: 1)
    with pytest.raises(InputError, match="leaves node leaf0 for another router"):
        table(tree, lambda node, target: 8 if node == 4 else onward(node, target))
    # from the leaves to spine 0, and from there to leaf 0 whatever the target
    circle = {4: 0, 5: 2, 6: 4, 7: 6}
    with pytest.raises(InputError, match="a way from node leaf0 that need never come to node h2"):
        table(tree, lambda node, target: circle[node] if target > 1 else onward(node, target))
    # spine 0 has no way to hosts of leaf 1
    with pytest.raises(InputError, match="a way from node leaf0 that need never come to node h2"):
        table(tree, lambda node, target: None if node == 6 and target > 1 else onward(node, target))


def test_broken_networks_are_asked_for_what_works():
    tree = without(topology("leaf-spine:4x2x2"), nodes="spine1, h3")
    asked = []

    def shortest(node, target):
        asked.append((node, target))
        leaf = tree.num_hosts + target // 2
        for channel in range(tree.num_network_channels):
            ends = tree.source_end[channel], tree.target_end[channel]
            if ends[0] == node and ends[1] in (leaf, tree.num_hosts + 4):
                return channel
        raise AssertionError

    routing = table(tree, shortest)
    assert len(asked) == 5 * 7 - 7
    some = [0, 1, 2, 4], [7, 5, 6, 0]
    one, two = (paths(tree, each, *some) for each in (routing, ShortestPath()))
    assert np.array_equal(one.channels, two.channels)


def test_routers_may_have_any_number_of_channels():
    wide = topology("leaf-spine:70x1x1")
    by_spine = table(wide, d_mod_k_on(wide))
    one, two = (paths(wide, each, *every_pair(wide)) for each in (by_spine, DModK()))
    assert np.array_equal(one.channels, two.channels)
    assert find_deadlock(wide, by_spine) == ()
