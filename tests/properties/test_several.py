"""Several paths a pair: the fast listing, drawing and loads agree with the readable ones."""

from collections import Counter

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given, settings

from netloom.contention import expected_loads
from netloom.routing import Layered, Minimal, ShortestPath, UpDown, draw_paths, paths
from netloom.routing.several import router_ends
from tests.properties.several_strategies import flows, networks, router_graphs
from tests.reference.several import shortest_paths

SINGLE = ShortestPath(), UpDown(), Layered()


def ends_of(topology):
    source, target = topology.channel_source.tolist(), topology.channel_target.tolist()
    return list(zip(source, target, strict=True))


def listed_by_pair(found):
    """Return {channels: probability} of each pair."""
    by_pair = [Counter() for _ in range(found.pair.max(initial=-1) + 1)]
    for number, pair in enumerate(found.pair):
        by_pair[pair][tuple(found[number].tolist())] += found.probability[number]
    return by_pair


def loads_of(found, weight, num_channels):
    """Return the sum over all paths of weight × probability."""
    if found.pair is not None:
        weight = weight[found.pair] * found.probability
    load = np.zeros(num_channels)
    np.add.at(load, found.channels, np.repeat(weight, found.lengths))
    return load


@given(st.data())
@settings(max_examples=60)
def test_minimal_paths_are_all_shortest_ones(data):
    routers = data.draw(router_graphs())
    source, target, _ = data.draw(flows(routers))
    found = listed_by_pair(paths(routers, Minimal(), source, target))
    for pair, (a, b) in enumerate(zip(source.tolist(), target.tolist(), strict=True)):
        expected = shortest_paths(a, b, ends_of(routers))
        assert found[pair] == pytest.approx({path: float(p) for path, p in expected.items()})


@given(st.data())
@settings(max_examples=60)
def test_hosts_send_by_their_ports(data):
    network = data.draw(networks())
    source, target, _ = data.draw(flows(network))
    found, ends = paths(network, Minimal(), source, target), router_ends(network, source, target)
    assert np.bincount(found.pair, found.probability) == pytest.approx(1)
    for number, pair in enumerate(found.pair):
        at, path = source[pair], found[number].tolist()
        if path and not network.direct:
            assert path[0] == ends.injection[pair]
            assert path[-1] == ends.ejection[pair]
        for channel in path:
            assert network.channel_source[channel] == at
            at = network.channel_target[channel]
        assert at == target[pair]


@given(st.data(), st.sampled_from([Minimal(), *SINGLE]))
@settings(max_examples=150)
def test_loads_are_those_of_the_paths(data, routing):
    network = data.draw(networks())
    source, target, weight = data.draw(flows(network))
    found = paths(network, routing, source, target)
    load = expected_loads(network, routing, source, target, weight)
    assert load == pytest.approx(loads_of(found, weight, network.num_channels))
    each = found.lengths * (1 if found.pair is None else found.probability)
    pair = np.arange(len(source)) if found.pair is None else found.pair
    assert load.sum() == pytest.approx((weight[pair] * each).sum())


@given(st.data(), st.integers(0, 2**32))
@settings(max_examples=60)
def test_drawn_paths_are_listed_ones(data, seed):
    network = data.draw(networks())
    source, target, _ = data.draw(flows(network))
    drawn = draw_paths(network, Minimal(), source, target, seed)
    listed = listed_by_pair(paths(network, Minimal(), source, target))
    assert drawn.pair is None
    assert len(drawn) == len(source)
    assert all(tuple(drawn[pair].tolist()) in listed[pair] for pair in range(len(source)))
