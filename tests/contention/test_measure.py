from dataclasses import replace

import numpy as np
import pytest

from netloom.contention import measure, saturation, verdict
from netloom.routing import DimensionOrder, source_routes
from netloom.topology import mesh


def test_given_routes_may_meet_and_part_and_meet_again():
    net = mesh(2, 4)
    routes = source_routes(net, [[0, 1, 2, 3], [4, 0, 1, 5, 6, 2, 3, 7]])
    found = measure(net, routes, [0, 4], [3, 7])
    assert found.path_contention.tolist() == [1, 1]
    assert found.channel_load.max() == 2


def test_big_weights_stay_exact():
    weights = np.array([2.0**51, 1.0, 3.0])
    found = measure(mesh(4), DimensionOrder(), [0, 1, 2], [3, 3, 3], weights)
    assert found.contending_weight.tolist() == [2.0**51 + 4] * 3


def limits(net, source, target, weights=None):
    weights = np.ones(len(source)) if weights is None else np.asarray(weights, float)
    found = measure(net, DimensionOrder(), source, target, weights)
    return saturation(found, source, weights, net.num_nodes)


def test_no_estimate_is_above_the_bound():
    """Two paths share a channel, eight meet nobody: at the bound the former are held up."""
    starts = [0, 1, *range(3, 11)]
    limit = limits(mesh(12), starts, [2, 2, *range(4, 12)])
    assert limit.lemma_3 == pytest.approx(10 / 12)
    assert limit.average_node == limit.upper_bound == pytest.approx(1 / 2)
    assert not (limit.node_estimate > limit.node_bound).any()
    found = verdict(limit, None, paths_meet=True)
    assert (found.level, found.senders) == ("depends-on-load", 10)
    beyond = verdict(limit, 0.6, paths_meet=True)
    assert beyond.level == "most-nodes"
    assert beyond.beyond_capacity
    assert beyond.margin == pytest.approx(0.5 / 0.6)


def test_traffic_is_that_of_the_average_sending_node():
    limit = limits(mesh(3), [0, 1], [2, 2], [30, 10])
    assert limit.node_share.tolist() == [1.5, 0.5, 0]
    assert limit.upper_bound == pytest.approx(20 / 40)
    assert limit.worst_node == pytest.approx(20 / 40)
    assert limit.node_bound[:2].tolist() == [30 / 40, 10 / 40]
    assert np.isnan(limit.node_bound[2])


def test_a_node_is_held_up_from_the_worst_nodes_saturation_on():
    limit = limits(mesh(4, 4), [0, 1, 2, 5], [3, 3, 3, 6], [1, 5, 2, 9])
    pressure = limit.node_share / limit.node_estimate
    assert 1 / np.nanmax(pressure) == pytest.approx(limit.worst_node)


def test_paths_that_never_meet_are_contention_free():
    limit = limits(mesh(4), [0, 2], [1, 3])
    assert verdict(limit, 0.9, paths_meet=False).level == "contention-free"
    assert verdict(limit, 1.1, paths_meet=False).beyond_capacity


def test_what_no_single_injection_channel_can_reach_is_good_enough_at_any_load():
    limit = limits(mesh(2, 2), [0, 0, 1], [1, 3, 3], [9, 1, 1])
    assert verdict(limit, None, paths_meet=True).level == "depends-on-load"
    found = verdict(replace(limit, worst_node=1.8), None, paths_meet=True)
    assert found.level == "good-enough"
    assert found.margin is None
