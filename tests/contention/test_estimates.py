from itertools import permutations

import numpy as np
import pytest

from netloom.contention import estimate_mesh, estimates, expect_random, measure
from netloom.routing import DimensionOrder
from netloom.topology import cube, hypercube, mesh, torus


def all_placements(net, order, source, target, tasks):
    """Mean ν, χ and largest χ over every placement of the tasks, by trying them all."""
    contention, load, largest, tried = 0.0, 0.0, 0.0, 0
    for node_of in permutations(range(net.num_nodes), tasks):
        at = np.array(node_of)
        found = measure(net, order, at[source], at[target])
        contention += found.path_contention.mean()
        load += found.channel_load.mean()
        largest += found.channel_load.max()
        tried += 1
    return contention / tried, load / tried, largest / tried


TRIANGLE = (np.array([0, 0, 1, 1, 2, 2]), np.array([1, 2, 0, 2, 0, 1]))
NETWORKS = [mesh(2, 3), mesh(5), torus(6), torus(5), torus(2, 3), hypercube(2), mesh(2, 1, 3)]
NETWORKS += [cube([2, 3], [False, True])]
FAN = (np.array([0, 0, 0, 3]), np.array([1, 2, 3, 1]))


@pytest.mark.parametrize("net", NETWORKS, ids=lambda net: net.name)
@pytest.mark.parametrize(("edges", "tasks"), [(TRIANGLE, 3), (FAN, 4)])
@pytest.mark.parametrize("reverse", [False, True])
def test_expectations_are_exact(net, edges, tasks, reverse):
    order = tuple(range(len(net.sides)))
    routing = DimensionOrder(order if reverse else ())
    expected = expect_random(net, routing, *edges)
    contention, load, largest = all_placements(net, routing, *edges, tasks)
    assert expected.path_contention_mean == pytest.approx(contention)
    assert expected.channel_load_mean == pytest.approx(load)
    assert expected.channel_load_max == pytest.approx(largest)
    assert (expected.channel_load_max_by, expected.channel_load_max_error) == ("enumeration", 0)


@pytest.mark.parametrize("net", [mesh(3, 4), torus(12)], ids=lambda net: net.name)
def test_sampling_says_how_far_it_may_be_off(monkeypatch, net):
    star = np.array([0, 0, 0]), np.array([1, 2, 4])  # task 3 talks to nobody
    monkeypatch.setattr(estimates, "MOST_PLACEMENTS", 100_000)
    exact = expect_random(net, DimensionOrder(), *star)
    monkeypatch.setattr(estimates, "MOST_PLACEMENTS", 100)
    found = expect_random(net, DimensionOrder(), *star)
    assert (exact.channel_load_max_by, found.channel_load_max_by) == ("enumeration", "sampling")
    assert 0 < found.channel_load_max_error < 0.02 * found.channel_load_max
    apart = abs(found.channel_load_max - exact.channel_load_max)
    assert apart < 4 * found.channel_load_max_error


def test_a_tiny_program_on_a_large_network_is_sampled():
    tree = np.array([0, 1, 0, 2, 1, 3, 1, 4]), np.array([1, 0, 2, 0, 3, 1, 4, 1])
    found = expect_random(mesh(256, 256), DimensionOrder(), *tree)
    assert found.channel_load_max_by == "sampling"
    assert 1.5 < found.channel_load_max < 3


def test_no_edges_no_contention():
    found = expect_random(mesh(4, 4), DimensionOrder(), [], [])
    assert found.path_contention_mean == 0
    assert found.channel_load_max == 0


def test_table_3_1():
    found = estimate_mesh(256, 3.75)
    assert found.channel_load_mean == 10
    assert found.channel_load_max == 22.5
    assert found.path_contention_mean == 30
    assert found.path_contention_max == 60
    assert (found.saturation_average_node, found.saturation_worst_node) == (1 / 8, 1 / 16)
