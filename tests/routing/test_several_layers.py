"""Layers in which routings with choices are free of deadlock."""

from itertools import pairwise, product

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.base.errors import InputError
from netloom.routing import (
    DimensionOrder,
    Minimal,
    MinimalGroup,
    ShortestPath,
    Valiant,
    find_deadlock,
    paths,
)
from netloom.routing.cycles import dependencies
from netloom.routing.deadlock import layers_needed
from netloom.routing.rules import detour, ends_of, host_routers, listed, ways_of
from netloom.topology import topology
from tests.properties.several_strategies import networks
from tests.reference.several_layers import has_circle


@pytest.mark.parametrize(
    ("spec", "routing", "layers"),
    [
        ("fat-tree:2x3", Minimal(), [1]),
        ("mesh:4x4/2", Valiant(), [1, 1]),
        ("hyperx:3x3/2", DimensionOrder(), [1]),
        ("hyperx:3x3/2", Valiant(), [1, 1]),
        ("hyperx:3x3/2", Minimal(), [2]),
        ("slim-fly:5/4", Minimal(), [2]),  # as its authors count
        ("slim-fly:5/4", Valiant(), [2, 2]),
        ("dragonfly:2x4x2", MinimalGroup(), [2]),  # as Kim et al. 2008
        ("dragonfly:2x4x2", Valiant("groups"), [1, 2]),
        ("dragonfly:2x4x2", Valiant(), [2, 2]),
        ("dragonfly+:2x2x2x2", MinimalGroup(), [1]),  # up, across, down
    ],
)
def test_layers_that_are_known(spec, routing, layers):
    found = layers_needed(topology(spec), routing)
    assert [part.layers for part in found.parts] == layers
    assert found.layers == sum(layers)


def all_parts(network, routing):
    """Return all paths of each part of packets' ways, between all routers of hosts."""
    hosts = host_routers(network)
    if not isinstance(routing, Valiant):
        return [all_paths(ways_of(network, routing), hosts, hosts)[0]]
    trip = detour(network, routing)
    there, ends = all_paths(trip.ways, hosts, trip.goals, to_group=trip.to_group)
    return [there, all_paths(trip.ways, np.union1d(hosts, ends), hosts)[0]]


def all_paths(ways, sources, goals, *, to_group=False):
    pairs = np.array(list(product(sources.tolist(), goals.tolist())), np.int32)
    found = listed(ways, *pairs.T.copy(), to_group=to_group, where="all")
    return [path.tolist() for path in found], ends_of(ways, found, pairs[found.pair, 0])


def check(network, routing):
    layering = layers_needed(network, routing)
    paths = all_parts(network, routing)
    given_parts = zip(paths, layering.parts, strict=True)
    assert not has_circle([(each, part.rises, part.layers) for each, part in given_parts])
    for each, part in zip(paths, layering.parts, strict=True):
        if part.layers > 1:  # one layer would not have done
            assert has_circle([(each, np.zeros_like(part.rises), 1)])


@pytest.mark.parametrize(
    "spec", ["dragonfly:1x3x1", "dragonfly:1x2x2/3", "dragonfly+:2x2x1x1", "dragonfly:1x4x1/4"]
)
@pytest.mark.parametrize("routing", [MinimalGroup(), Valiant(), Valiant("groups"), Minimal()])
def test_layers_on_dragonflies_are_free_of_circles(spec, routing):
    check(topology(spec), routing)


@given(networks(), st.sampled_from([Minimal(), Valiant()]))
@settings(max_examples=80)
def test_layers_on_any_network_are_free_of_circles(network, routing):
    check(network, routing)


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


def test_other_routings_are_refused():
    with pytest.raises(InputError, match="shortest-path on fat-tree:2x2"):
        layers_needed(topology("fat-tree:2x2"), ShortestPath())
