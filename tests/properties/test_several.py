"""Several paths a pair: the fast listing, drawing and loads agree with the readable ones."""

import re
from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.contention import expected_loads
from netloom.routing import (
    DimensionOrder,
    Ecmp,
    Layered,
    Minimal,
    MinimalGroup,
    ShortestPath,
    Spread,
    UpDown,
    Valiant,
    draw_paths,
    paths,
)
from netloom.routing.ragged import legs
from netloom.routing.rules import dimensions, host_routers
from netloom.topology import topology
from tests.properties.several_strategies import flows, networks, router_graphs
from tests.reference.several import Way, valiant_group_paths, valiant_paths

ANYWHERE = Minimal(), Valiant(), ShortestPath(), UpDown(), Layered(), Spread(), Ecmp(3)

DRAGONFLIES = (
    "dragonfly:2x2x1", "dragonfly:1x3x2/3", "dragonfly:2x2x2/3/palmtree",
    "dragonfly+:2x2x2x1", "dragonfly+:3x2x1x2/3",
)  # fmt: skip
IN_ORDER = "hyperx:3x3/2", "hyperx:2x4/1/3", "mesh:3x2/2", "torus:4x2", "torus:3x4/2", "ring:6"

KNOWN = {
    **dict.fromkeys(DRAGONFLIES, (Minimal(), MinimalGroup(), Valiant(), Valiant("groups"))),
    **dict.fromkeys(IN_ORDER, (Minimal(), DimensionOrder(), Valiant())),
}


def way_on(network, *, usual):
    """Return how packets travel between routers: as usual there, or by any shortest path."""
    inside = network.routers
    ends = list(zip(inside.channel_source.tolist(), inside.channel_target.tolist(), strict=True))
    if not usual:
        return Way(ends)
    if network.name.startswith("dragonfly"):
        labels = (inside.name_of(router) for router in range(network.num_routers))
        return Way(ends, group_of=[label[: re.search("r|l|s", label).start()] for label in labels])
    if dimensions(network):
        return Way(ends, coordinates=list(np.ndindex(*dimensions(network))))
    return Way(ends)


def expected_paths(network, routing, source, target, host):
    """Return {channels: probability} of a pair of routers, by the readable definitions."""
    way = way_on(network, usual=not isinstance(routing, Minimal))
    if isinstance(routing, Minimal):
        return way.all_paths(source, [target])
    if isinstance(routing, Valiant):
        if routing.over == "groups":
            return valiant_group_paths(way, source, target)
        return valiant_paths(way, source, target, host_routers(network, "").tolist())
    if isinstance(routing, MinimalGroup):
        return {tuple(way.path_by_choice(source, target, digits(host))): 1}
    hosts = network.num_hosts // network.num_routers
    number = host % hosts + sum(way.coordinates[target])
    return {tuple(way.path_by_choice(source, target, lambda choices: number % choices)): 1}


def digits(number):
    """Return the choices that a number makes by its digits, the lowest first."""
    left = [number]

    def chosen(choices):
        left[0], digit = divmod(left[0], choices)
        return digit

    return chosen


def listed_by_pair(found):
    """Return {channels: probability} of each pair."""
    if found.pair is None:
        return [{tuple(path.tolist()): 1.0} for path in found]
    by_pair = [Counter() for _ in range(found.pair.max(initial=-1) + 1)]
    for number, pair in enumerate(found.pair):
        by_pair[pair][tuple(found[number].tolist())] += found.probability[number]
    return by_pair


def inside(network, paths_of_pair):
    """Take the channels of ports off paths of different hosts."""
    if network.direct:
        return paths_of_pair
    return {path[1:-1]: chance for path, chance in paths_of_pair.items()}


def loads_of(found, weight, num_channels):
    """Return the sum over all paths of weight × probability."""
    if found.pair is not None:
        weight = weight[found.pair] * found.probability
    load = np.zeros(num_channels)
    np.add.at(load, found.channels, np.repeat(weight, found.lengths))
    return load


def check_paths(network, routing, source, target):
    found = listed_by_pair(paths(network, routing, source, target).whole(network))
    ends = legs(network, source, target)
    for pair in range(len(source)):
        host = int(target[pair])
        if source[pair] == host:
            assert found[pair] == {(): 1}
            continue
        routers = int(ends.entry[pair]), int(ends.exit[pair])
        expected = expected_paths(network, routing, *routers, host)
        expected = {path: float(chance) for path, chance in expected.items()}
        assert inside(network, found[pair]) == pytest.approx(expected)


def check_loads(network, routing, source, target, weight):
    found = paths(network, routing, source, target).whole(network)
    load = expected_loads(network, routing, source, target, weight)
    assert load == pytest.approx(loads_of(found, weight, network.num_channels), abs=1e-9)
    each = found.lengths * (1 if found.pair is None else found.probability)
    pair = np.arange(len(source)) if found.pair is None else found.pair
    assert load.sum() == pytest.approx((weight[pair] * each).sum())


@given(st.data())
@settings(max_examples=60)
def test_paths_on_any_network_are_all_there_are(data):
    routers = data.draw(router_graphs())
    source, target, _ = data.draw(flows(routers))
    check_paths(routers, data.draw(st.sampled_from([Minimal(), Valiant()])), source, target)


@pytest.mark.parametrize("spec", KNOWN)
@given(data=st.data())
@settings(max_examples=12)
def test_paths_on_networks_of_a_family_are_those_of_its_routings(spec, data):
    network = topology(spec)
    source, target, _ = data.draw(flows(network, most=4))
    routing = data.draw(st.sampled_from(KNOWN[spec]))
    if routing != DimensionOrder() or spec.startswith("hyperx"):  # of cubes, elsewhere
        check_paths(network, routing, source, target)


@given(st.data())
@settings(max_examples=60)
def test_hosts_send_by_their_ports(data):
    network = data.draw(networks())
    source, target, _ = data.draw(flows(network))
    routing = data.draw(st.sampled_from([Minimal(), Valiant()]))
    found, ends = (
        paths(network, routing, source, target).whole(network),
        legs(network, source, target),
    )
    assert np.bincount(found.pair, found.probability) == pytest.approx(1)
    for number, pair in enumerate(found.pair):
        at, path = source[pair], found[number].tolist()
        if path and not network.direct:
            first = network.num_network_channels
            assert path[0] == first + ends.source_port[pair]
            assert path[-1] == first + network.num_ports + ends.target_port[pair]
        for channel in path:
            assert network.source_end[channel] == at
            at = network.target_end[channel]
        assert at == target[pair]


@given(st.data(), st.sampled_from(ANYWHERE))
@settings(max_examples=150)
def test_loads_are_those_of_the_paths(data, routing):
    network = data.draw(networks())
    check_loads(network, routing, *data.draw(flows(network)))


@pytest.mark.parametrize("spec", KNOWN)
@given(data=st.data())
@settings(max_examples=12)
def test_loads_on_networks_of_a_family_are_those_of_the_paths(spec, data):
    network = topology(spec)
    routing = data.draw(st.sampled_from(KNOWN[spec]))
    check_loads(network, routing, *data.draw(flows(network)))


@given(st.data(), st.integers(0, 2**32))
@settings(max_examples=60)
def test_drawn_paths_are_listed_ones(data, seed):
    network = data.draw(st.one_of(networks(), st.sampled_from(sorted(KNOWN)).map(topology)))
    routings = KNOWN.get(network.name, (Minimal(), Valiant()))
    routing = data.draw(st.sampled_from(routings))
    source, target, _ = data.draw(flows(network, most=4))
    drawn = draw_paths(network, routing, source, target, seed).whole(network)
    listed = listed_by_pair(paths(network, routing, source, target).whole(network))
    assert drawn.pair is None
    assert len(drawn) == len(source)
    assert all(tuple(drawn[pair].tolist()) in listed[pair] for pair in range(len(source)))
