"""Contention where hosts hang on routers, by loads that were worked out by hand."""

from dataclasses import replace

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.contention import (
    Contention,
    measure,
    measure_loads,
    measured,
    saturation,
    slowdown,
    verdict,
)
from netloom.routing import DModK, Minimal, ShortestPath
from netloom.topology import mesh, topology
from netloom.topology.core import attach_hosts


def loads_by_name(net, found):
    """The weighted loads of all channels that carry something, by name."""
    load = np.append(found.weighted_channel_load, found.weighted_host_channel_load)
    return {net.channel_name(channel): float(load[channel]) for channel in np.flatnonzero(load)}


def limits(net, routing, source, target, weights):
    weights = np.asarray(weights, float)
    return saturation(
        measure(net, routing, source, target, weights), source, weights, net.num_hosts
    )


def test_the_bound_is_of_all_channels_hosts_among_them():
    net = topology("leaf-spine:2x2x4")
    incast = limits(net, DModK(), [0, 1, 2], [3, 3, 3], [1, 1, 1])  # inside one leaf
    assert incast.upper_bound == pytest.approx(1 / 3)
    assert incast.worst_node == incast.average_node == incast.upper_bound
    assert incast.lemma_3 == 1
    assert incast.node_bound[:3].tolist() == pytest.approx([1 / 3] * 3)
    one_leaf = measure(net, DModK(), [0, 1, 2], [3, 3, 3])
    assert not one_leaf.channel_load.any()
    assert one_leaf.channel_time.argmax() == one_leaf.busiest_channel == 8 + 8 + 3


def test_a_verdict_does_not_contradict_the_bound():
    net = topology("leaf-spine:2x2x4")
    limit = limits(net, DModK(), [0, 1, 2], [3, 3, 3], [1, 1, 1])
    alone = verdict(limit, None, paths_meet=False, hosted=True)
    assert (alone.level, alone.beyond_capacity) == ("contention-free", False)
    over = verdict(limit, 0.5, paths_meet=False, hosted=True)
    assert over.beyond_capacity
    meeting = limits(net, DModK(), [0, 0, 0, 0, 1], [1, 2, 3, 4, 6], [9, 9, 9, 9, 1])
    assert meeting.worst_node == meeting.upper_bound
    words = verdict(meeting, None, paths_meet=True, hosted=True)
    assert words.level == "good-enough"
    assert meeting.upper_bound == pytest.approx(0.514, abs=5e-4)
    assert verdict(meeting, 0.5, paths_meet=True, hosted=True).level == "good-enough"
    assert verdict(meeting, 0.6, paths_meet=True, hosted=True).level == "most-nodes"


def uneven():
    """Two leaves of two hosts; the uplinks are four times as fast as the hosts' channels."""
    routers = topology("leaf-spine:2x1x2").routers
    fast = attach_hosts(routers, np.array([0, 0, 1, 1]), name="fast uplinks", bandwidth=0.25)
    assert not fast.even
    return fast


def test_with_uneven_bandwidths_time_counts_and_nothing_is_estimated():
    net = uneven()
    found = measure(net, ShortestPath(), [0, 1], [2, 3], [2, 1])
    assert found.weighted_channel_load.max() == 3
    assert found.channel_time.max() == 8
    assert found.heaviest_channel.tolist() == [8, 4]
    assert net.channel_name(found.busiest_channel) == "h0 -> leaf0"
    assert found.common_bandwidth is None
    limit = saturation(found, [0, 1], [2, 1], net.num_hosts)
    assert limit.upper_bound == pytest.approx(1.5 / 8)
    assert limit.node_bound[:2].tolist() == [0.25, 0.25]
    assert not limit.estimated
    assert np.isnan([limit.average_node, limit.worst_node, limit.lemma_3]).all()
    assert np.isnan(limit.node_estimate).all()


@pytest.mark.parametrize(
    ("offered", "level", "margin"),
    [
        (None, "depends-on-load", None),
        (0.1, "below-bound", 1.875),
        (0.3, "some-nodes", 0.625),
        (0.5, "most-nodes", 0.375),
    ],
)
def test_without_estimates_the_verdict_is_by_the_bound(offered, level, margin):
    net = uneven()
    limit = limits(net, ShortestPath(), [0, 1], [2, 3], [2, 1])
    found = verdict(limit, offered, paths_meet=True, hosted=True)
    assert found.level == level
    assert found.margin == (None if margin is None else pytest.approx(margin))
    assert found.senders == 2
    assert found.beyond_capacity == (offered in (0.3, 0.5))
    assert found.affected_nodes == {None: (0, 1), 0.1: (), 0.3: (0,), 0.5: (0, 1)}[offered]


def test_channels_that_are_all_twice_as_fast_carry_twice_as_much():
    routers = mesh(2, 2)
    plain = attach_hosts(routers, np.arange(4), name="plain")
    fast = replace(plain, channel_bandwidth=np.full(plain.num_channels, 2.0))
    ends = [0, 0, 1, 2], [3, 1, 3, 0], [5, 1, 2, 4]
    one, other = (limits(net, ShortestPath(), *ends) for net in (plain, fast))
    for name in ("average_node", "worst_node", "upper_bound", "lemma_3"):
        assert getattr(other, name) == pytest.approx(2 * getattr(one, name)), name
    assert other.node_estimate == pytest.approx(2 * one.node_estimate, nan_ok=True)
    slow = (
        slowdown(measure(net, ShortestPath(), *ends), limit, offered)
        for net, limit, offered in ((plain, one, 0.2), (fast, other, 0.4))
    )
    assert next(slow) == pytest.approx(next(slow))


def test_a_path_inside_a_leaf_is_not_slowed_down_and_one_inside_a_host_is_none():
    net = topology("leaf-spine:2x2x4")
    ends, weights = ([0, 1, 2, 3], [4, 6, 3, 3]), [1, 1, 1, 1]
    found = measure(net, DModK(), *ends, weights)
    limit = saturation(found, ends[0], weights, net.num_hosts)
    theta = slowdown(found, limit, 0.3)
    assert theta[2] == 1
    assert theta[0] == theta[1] > 1
    assert np.isnan(theta[3])


def test_loads_of_several_paths_are_expected_ones():
    net = topology("leaf-spine:2x2x4")
    found = measure_loads(net, Minimal(), [0, 1, 0], [4, 6, 1], [4, 2, 1])
    assert loads_by_name(net, found)["leaf0 -> spine1"] == 3
    assert found.channel_load.max() == 1.0
    assert not isinstance(measured(net, Minimal(), [0], [4]), Contention)
    limit = saturation(found, [0, 1, 0], [4, 2, 1], net.num_hosts)
    assert limit.upper_bound == pytest.approx(3.5 / 5)
    assert np.isnan(limit.node_bound).all()
    assert verdict(limit, 0.9, paths_meet=None, hosted=True).affected_nodes == ()
    with pytest.raises(InputError, match="minimal"):
        measure(net, Minimal(), [0], [4])
