from itertools import pairwise

import numpy as np
import pytest

from netloom.contention import effective_bisection, measure_loads, shift_loads
from netloom.contention.kernels.permutations import permutation_figures
from netloom.routing import DimensionOrder, DModK, Minimal, parse_routing, paths
from netloom.topology import mesh, topology, without
from netloom.topology.core import attach_hosts
from tests.reference.permutations import figures


def test_uneven(monkeypatch):
    """Figures are those of the definition, permutation by permutation, in blocks of any size."""
    rng = np.random.default_rng(1)
    rate, at = rng.choice([0.5, 1.0, 2.0], 7), np.array([0, 0, 1, 2, 3, 5, 5])
    net = attach_hosts(mesh(3, 2), at, name="uneven", bandwidth=rate)
    routing = parse_routing("default", net)
    monkeypatch.setattr("netloom.contention.permutations.BLOCK", 15)
    found = shift_loads(net, routing)
    between = net.num_network_channels
    for number, by in enumerate(found.distance.tolist()):
        listed = [
            path.tolist() for path in paths(net, routing, np.arange(7), np.roll(range(7), -by))
        ]
        load, time, _ = figures(listed, net.channel_bandwidth, between)
        assert (found.largest_load[number], found.longest_time[number]) == (load, time)


@pytest.mark.parametrize("ports", [0, 3])
def test_shares_are_those_of_the_definition(ports):
    rng = np.random.default_rng(2)
    bandwidth = np.array([1.0, 2.0, 0.5, 1.0, *[4.0, 1.0, 0.5, 2.0, 1.0, 3.0][: 2 * ports]])
    inside = [rng.permutation(4)[: rng.integers(0, 5)].tolist() for _ in range(10)]
    port, sink = rng.integers(0, ports or 9, (2, 10))
    every = inside
    if ports:
        every = [[4 + port[at], *path, 7 + sink[at]] for at, path in enumerate(inside)]
    firsts = np.array([0, 3, 4, 10])
    offsets = np.append(0, np.cumsum([len(path) for path in inside]))
    channels = np.array([channel for path in inside for channel in path], np.int32)
    total, load = np.zeros((2, len(bandwidth)), np.int64)
    found = permutation_figures(channels, offsets, port, sink, firsts, bandwidth, 4, total, load)
    for number, (first, last) in enumerate(pairwise(firsts)):
        expected = figures(every[first:last], bandwidth, 4)
        assert tuple(each[number] for each in found) == pytest.approx(expected)
    assert (
        total.tolist()
        == np.bincount(np.concatenate(every).astype(int), minlength=len(bandwidth)).tolist()
    )
    assert not load.any()


def test_a_share_is_of_what_its_hosts_could_send_alone():
    """Two hosts of half the rate share an uplink: each gets all that it can send."""
    net = attach_hosts(mesh(2), np.array([0, 0, 1, 1]), name="slow hosts", bandwidth=0.5)
    assert effective_bisection(net, DimensionOrder(), samples=50).mean == 1.0
    fast = attach_hosts(mesh(2), np.array([0, 0, 1, 1]), name="fast hosts")
    assert effective_bisection(fast, DimensionOrder(), samples=50).mean < 1.0


def test_chosen_shifts_of_chosen_hosts():
    net = topology("leaf-spine:4x2x4")
    hosts = np.array([0, 1, 4, 5, 8], np.int32)
    found = shift_loads(net, DModK(), hosts=hosts, distances=np.array([2]))
    alone = measure_loads(net, DModK(), hosts, np.roll(hosts, -2)).channel_load
    assert found.largest_load.tolist() == [alone.max()]
    half = effective_bisection(net, DModK(), hosts=hosts, samples=1)
    assert half.samples == 1
    assert half.ci is None


def test_several_paths_are_expected_in_shifts_and_drawn_in_matchings():
    net = topology("leaf-spine:4x2x4")
    found = shift_loads(net, Minimal())
    by_leaf = found.largest_load[found.distance % 4 == 0]
    assert by_leaf.tolist() == [2.0] * 3  # four paths of each leaf over two spines
    assert 0 < effective_bisection(net, Minimal(), samples=20).mean < 1


def test_broken_hosts_take_no_part():
    net = without(topology("leaf-spine:2x1x2"), nodes="h3")
    found = shift_loads(net, parse_routing("default", net))
    assert found.distance.tolist() == [1, 2]
