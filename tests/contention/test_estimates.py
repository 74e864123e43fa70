import numpy as np
import pytest

from netloom.contention import estimate_mesh, expect_random, measure
from netloom.routing import DimensionOrder
from netloom.topology import cube, hypercube, mesh, torus


def all_placements(net, order, source, target, tasks):
    """Mean ν and χ over every placement of the tasks, by trying them all."""
    from itertools import permutations

    contention, load, tried = 0.0, 0.0, 0
    for node_of in permutations(range(net.num_nodes), tasks):
        at = np.array(node_of)
        found = measure(net, order, at[source], at[target])
        contention += found.path_contention.mean()
        load += found.channel_load.mean()
        tried += 1
    return contention / tried, load / tried


TRIANGLE = (np.array([0, 0, 1, 1, 2, 2]), np.array([1, 2, 0, 2, 0, 1]))
FAN = (np.array([0, 0, 0, 3]), np.array([1, 2, 3, 1]))


@pytest.mark.parametrize(
    "net", [mesh(2, 3), mesh(5), torus(6), torus(5), torus(2, 3), cube([2, 3], [False, True]),
            hypercube(2), mesh(2, 1, 3)],
    ids=lambda net: net.name,
)  # fmt: skip
@pytest.mark.parametrize(("edges", "tasks"), [(TRIANGLE, 3), (FAN, 4)])
@pytest.mark.parametrize("reverse", [False, True])
def test_expectations_are_exact(net, edges, tasks, reverse):
    order = tuple(range(len(net.sides)))
    routing = DimensionOrder(order if reverse else ())
    expected = expect_random(net, routing, *edges)
    contention, load = all_placements(net, routing, *edges, tasks)
    assert expected.path_contention_mean == pytest.approx(contention)
    assert expected.channel_load_mean == pytest.approx(load)


def test_the_expected_maximum_load_is_near_what_random_mappings_show():
    net, routing = mesh(16, 16), DimensionOrder()
    tasks = np.arange(256)
    source = np.repeat(tasks, 8)
    target = (tasks[:, None] ^ (1 << np.arange(8))).ravel()
    rng = np.random.default_rng(1)
    shown = np.mean(
        [
            measure(net, routing, at[source], at[target]).channel_load.max()
            for at in (rng.permutation(256) for _ in range(100))
        ]
    )
    expected = expect_random(net, routing, source, target)
    assert expected.channel_load_max == pytest.approx(shown, rel=0.04)


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
