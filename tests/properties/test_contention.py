"""Counting line by line, stamping path by path, and the definition itself must agree."""

from dataclasses import fields

import numpy as np
from hypothesis import given, strategies as st

from netloom.contention import measure, measure_paths, saturation
from netloom.routing import DimensionOrder, ShortestPath, paths
from tests.properties.strategies import cubes, pairs
from tests.reference import contention as definition


def weights_for(data, count):
    return np.array(data.draw(st.lists(st.integers(0, 99), min_size=count, max_size=count)), float)


@given(st.data())
def test_counting_by_lines_equals_stamping_paths(data):
    topology = data.draw(cubes())
    routing = DimensionOrder(tuple(data.draw(st.permutations(range(len(topology.sides))))))
    source, target = data.draw(pairs(topology.num_nodes))
    weights = weights_for(data, len(source))
    counted = measure(topology, routing, source, target, weights)
    routed = paths(topology, routing, source, target)
    stamped = measure_paths(routed, topology.num_channels, weights)
    for field in fields(counted):
        assert np.array_equal(getattr(counted, field.name), getattr(stamped, field.name)), field
    walked = [counted.weighted_channel_load[path].max(initial=0) for path in routed]
    assert counted.heaviest_channel.tolist() == walked


@given(st.data())
def test_stamping_paths_equals_the_definition(data):
    topology = data.draw(cubes(most_nodes=30))
    source, target = data.draw(pairs(topology.num_nodes, most=25))
    weights = weights_for(data, len(source))
    routed = paths(topology, ShortestPath(), source, target)
    found = measure(topology, ShortestPath(), source, target, weights)
    listed = [path.tolist() for path in routed]
    expected = definition.contention(listed, weights)
    assert (
        list(
            zip(
                found.path_length.tolist(),
                found.logical_path_length.tolist(),
                found.path_contention.tolist(),
                found.contending_weight.tolist(),
                strict=True,
            )
        )
        == expected
    )
    counts, totals = definition.channel_loads(listed, weights, topology.num_channels)
    assert found.channel_load.tolist() == counts
    assert found.weighted_channel_load.tolist() == totals


@given(st.data())
def test_what_is_always_true_of_contention(data):
    topology = data.draw(cubes())
    source, target = data.draw(pairs(topology.num_nodes))
    found = measure(topology, DimensionOrder(), source, target)
    assert found.channel_load.sum() == found.path_length.sum()
    assert np.all(found.logical_path_length <= found.path_length)
    assert np.all(found.logical_path_length <= found.path_contention)
    used = found.path_length > 0
    assert np.all(found.path_contention[used] + 1 >= found.heaviest_channel[used])


@given(st.data())
def test_saturation_reduces_to_the_printed_lemmas_for_equal_weights(data):
    topology = data.draw(cubes())
    source, target = data.draw(pairs(topology.num_nodes))
    weight = data.draw(st.sampled_from([1.0, 4096.0]))
    found = measure(topology, DimensionOrder(), source, target, np.full(len(source), weight))
    moving = found.path_length > 0
    if not moving.any():
        return
    weights = np.full(len(source), weight)
    limit = saturation(found, source, weights, topology.num_nodes)
    degree = np.bincount(source[moving], minlength=topology.num_nodes)
    mean_degree = degree.sum() / np.count_nonzero(degree)
    nu = found.path_contention[moving]
    assert np.isclose(limit.lemma_3, mean_degree / (nu.mean() + 1))
    assert np.isclose(limit.worst_node, mean_degree / (nu.max() + 1))
    assert np.isclose(limit.upper_bound, mean_degree / found.channel_load.max())
    assert limit.worst_node <= limit.upper_bound * (1 + 1e-12)
    assert limit.average_node == min(limit.lemma_3, limit.upper_bound)
    for node in np.flatnonzero(degree):
        worst = nu[source[moving] == node].max()
        lemma_5 = degree[node] * (1 - worst / (nu.max() + 1))
        assert np.isclose(limit.node_estimate[node], min(lemma_5, limit.node_bound[node]))
    assert np.isnan(limit.node_estimate[degree == 0]).all()
