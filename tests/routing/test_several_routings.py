"""Minimal, Valiant's and dragonflies' routings by name, and what they are refused for."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings

from netloom.base.errors import InputError, NoRouteError
from netloom.routing import (
    DimensionOrder,
    Minimal,
    MinimalGroup,
    Valiant,
    draw_paths,
    find_deadlock,
    paths,
)
from netloom.routing.kernels.several import several_waits
from netloom.routing.rules import detour, ends_of, host_routers, listed, shortest_ways
from netloom.topology import mesh, topology, without
from netloom.topology.core import ranks
from tests.properties.several_strategies import networks
from tests.reference.several_waits import waits_of


@pytest.mark.parametrize(
    ("routing", "network", "pairs", "found"),
    [
        (Minimal(), mesh(32, 32), 1, "paths; expected at most 16,777,216 to list:"),
        (Valiant(), mesh(64, 64), 4097, "16,781,312 paths; expected at most 16,777,216 to list:"),
        (Minimal(), mesh(1024), 2**19, "524,288 paths of 536,346,624 hops; expected at most"),
    ],
)
def test_too_many_paths_are_refused_before_they_are_listed(routing, network, pairs, found):
    with pytest.raises(InputError, match=f"{routing} on {network.name}: found [0-9,]*.*{found}"):
        paths(network, routing, np.zeros(pairs), np.full(pairs, network.num_hosts - 1))


def test_minimal_hops_of_a_dragonfly():
    """Between two hosts of 72, with shortcuts by a third group; 2.3192 is another's figure."""
    net = topology("dragonfly:2x4x2")
    ends = np.repeat(np.arange(72), 72), np.tile(np.arange(72), 72)
    other = ends[0] != ends[1]
    ends = ends[0][other], ends[1][other]
    drawn = draw_paths(net, Minimal(), *ends, seed=1).whole(net)
    assert (drawn.lengths - 2).mean() == pytest.approx(2.3192, abs=5e-5)
    direct = paths(net, MinimalGroup(), *ends).whole(net).lengths - 2
    assert direct.max() == 3
    # a third of the way local, all of it global: 1 + 3/4 + 3/4 hops to another group's router
    assert direct.mean() == pytest.approx((6 * 1 + 64 * 2.5) / 71)


def test_links_between_two_groups_share_the_targets():
    net = topology("dragonfly:4x4x2/3")  # four links between two groups
    inside = net.routers
    group = np.arange(inside.num_routers) // 4
    direct = np.flatnonzero(
        (group[inside.channel_source] == 0) & (group[inside.channel_target] == 1)
    )
    assert len(direct) == 4
    sources, targets = np.repeat(np.arange(16), 16), np.tile(np.arange(16, 32), 16)
    found = paths(net, MinimalGroup(), sources, targets)
    load = np.bincount(found.channels, minlength=net.num_channels)
    assert load[direct].tolist() == [64] * 4
    assert (found.lengths - 2).max() <= 3


def test_lanes_of_a_hyperx_share_the_targets():
    net = topology("hyperx:4/6/3")
    hosts = np.arange(6)
    found = paths(net, DimensionOrder(), hosts, hosts + 6)  # from router 0 to router 1
    load = np.bincount(found.channels, minlength=net.num_channels)[: net.num_network_channels]
    assert sorted(load[load > 0].tolist()) == [2, 2, 2]


def test_a_hyperx_is_crossed_last_dimension_first():
    net = topology("hyperx:3x3/1")
    (path,) = paths(net, DimensionOrder(), [0], [8]).whole(net)
    assert [net.channel_name(c) for c in path[1:-1]] == ["(0,0) -> (0,2)", "(0,2) -> (2,2)"]
    (path,) = paths(net, DimensionOrder((0, 1)), [0], [8]).whole(net)
    assert [net.channel_name(c) for c in path[1:-1]] == ["(0,0) -> (2,0)", "(2,0) -> (2,2)"]


def test_broken_links_of_a_dragonfly_are_gone_round_within_groups_only():
    net = topology("dragonfly:1x3x1")  # one link between any two of four groups
    local = without(net, channels="g0r0-g0r1")
    assert len(paths(local, MinimalGroup(), [0], [1]).whole(local)[0]) == 2 + 2
    inside = net.routers
    between = np.flatnonzero((inside.channel_source // 3 == 0) & (inside.channel_target // 3 == 1))
    cut = without(net, channels=between.tolist())
    with pytest.raises(NoRouteError):
        paths(cut, MinimalGroup(), [0], [3]).whole(cut)
    assert len(paths(cut, Minimal(), [0], [3]).whole(cut)) > 0


def test_draws_are_as_likely_as_the_paths_and_the_same_again():
    net, many = topology("dragonfly:1x2x1"), 4000
    for routing in (Minimal(), Valiant(), Valiant("groups")):
        listed = paths(net, routing, [0], [5])
        drawn = draw_paths(net, routing, np.zeros(many, int), np.full(many, 5), seed=3)
        again = draw_paths(net, routing, np.zeros(many, int), np.full(many, 5), seed=3)
        assert drawn.channels.tolist() == again.channels.tolist()
        chance, count = {}, {}
        for number, path in enumerate(listed):
            key = tuple(path.tolist())
            chance[key] = chance.get(key, 0) + listed.probability[number]
        for path in drawn:
            count[tuple(path.tolist())] = count.get(tuple(path.tolist()), 0) + 1
        assert set(count) <= set(chance)
        for key, p in chance.items():
            sigma = np.sqrt(p * (1 - p) / many)
            assert abs(count.get(key, 0) / many - p) <= 5 * sigma


def check(ways, sources, goals):
    """Compare what is held and asked for, and where packets arrive, with all paths written out."""
    entries = np.zeros((1, len(ways.group)), np.bool_)
    entries[0, sources] = True
    place = ranks(ways.out_offsets, ways.out_channels)
    waits, arrived, joined = several_waits(ways, place, entries, goals)
    pairs = np.array(list(product(sources.tolist(), goals.tolist())), np.int32)
    found = listed(ways, *pairs.T.copy(), where="all")
    held, slot = np.nonzero(waits)
    asked = ways.out_channels[ways.out_offsets[ways.target[held]] + slot]
    given_waits = set(zip(held.tolist(), asked.tolist(), strict=True))
    assert given_waits == waits_of([path.tolist() for path in found])
    ends = ends_of(ways, found, pairs[found.pair, 0])
    assert joined
    assert np.flatnonzero(arrived).tolist() == np.unique(ends).tolist()
    return np.flatnonzero(arrived)


def check_detour(network, routing):
    trip, hosts = detour(network, routing), host_routers(network, "")
    arrived = check(trip.out, hosts, trip.goals)
    check(trip.ways, np.union1d(hosts, arrived), hosts)


@pytest.mark.parametrize(
    "spec", ["dragonfly:1x3x1", "dragonfly:1x2x2/3", "dragonfly+:2x2x1x1", "dragonfly:1x4x1/4"]
)
@pytest.mark.parametrize("routing", [Valiant(), Valiant("groups")])
def test_waits_on_dragonflies_are_those_of_all_paths(spec, routing):
    check_detour(topology(spec), routing)


@given(networks())
@settings(max_examples=80)
def test_waits_on_any_network_are_those_of_all_paths(network):
    check(shortest_ways(network.routers), host_routers(network, ""), host_routers(network, ""))
    check_detour(network, Valiant())


def test_a_circle_is_found_where_paths_are_too_many_to_list():
    assert find_deadlock(topology("dragonfly:4x8x4"), Valiant("groups"))
