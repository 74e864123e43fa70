"""What packets of routings with choices hold and ask for."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings

from netloom.routing import Valiant, find_deadlock, paths
from netloom.routing.forwarding.tables import dependencies
from netloom.routing.kernels.several import several_waits
from netloom.routing.rules import detour, ends_of, host_routers, listed
from netloom.routing.ways import shortest_ways
from netloom.topology import topology
from netloom.topology.core import ranks
from tests.properties.several_strategies import networks
from tests.reference.several_waits import waits_of


def check(ways, sources, goals, *, to_group=False):
    """Compare what is held and asked for, and where packets arrive, with all paths written out."""
    entries = np.zeros((1, len(ways.group)), np.bool_)
    entries[0, sources] = True
    place = ranks(ways.out_offsets, ways.out_channels)
    waits, arrived, joined = several_waits(ways, place, entries, goals, to_group)
    pairs = np.array(list(product(sources.tolist(), goals.tolist())), np.int32)
    found = listed(ways, *pairs.T.copy(), to_group=to_group, where="all")
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
    arrived = check(trip.ways, hosts, trip.goals, to_group=trip.to_group)
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


@pytest.mark.parametrize(
    ("spec", "routing"),
    [
        ("dragonfly:1x3x1", Valiant()),
        ("dragonfly:1x3x1", Valiant("groups")),
        ("slim-fly:3/2", Valiant()),
        ("torus:5x2", Valiant()),
        ("mesh:3x2", Valiant()),
    ],
)
def test_a_circle_of_a_part_is_one_of_the_listed_paths(spec, routing):
    net = topology(spec)
    hosts = np.arange(net.num_hosts)
    found = paths(net, routing, np.repeat(hosts, len(hosts)), np.tile(hosts, len(hosts)))
    waits = set(zip(*(ends.tolist() for ends in dependencies(found)), strict=True))
    circle = find_deadlock(net, routing)
    assert set(pairwise((*circle, circle[0]))) <= waits


def test_a_circle_is_found_where_paths_are_too_many_to_list():
    assert find_deadlock(topology("dragonfly:4x8x4"), Valiant("groups"))
