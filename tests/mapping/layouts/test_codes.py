"""Lines and rings through boxes: every step is one hop where that can be."""

from math import prod

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.mapping.layouts import hilbert, is_folded_ring, line_code, morton, ring_code, snake
from netloom.topology import cube, hypercube, mesh, torus
from netloom.workload import all_to_all, binary_tree, hypercube as hypercube_tasks, line, ring
from tests.mapping.layouts.test_fold import measured

BOXES = st.lists(st.integers(2, 5), min_size=1, max_size=4).filter(lambda sides: prod(sides) >= 3)


def points(code):
    return list(zip(*(coordinate.tolist() for coordinate in code), strict=True))


@given(BOXES, st.data())
def test_a_line_code_visits_each_point_once_by_steps_of_one(sides, data):
    length = data.draw(st.integers(1, prod(sides)))
    code = line_code(length, sides)
    assert len(set(points(code))) == length
    assert all(max(coordinate) < side for coordinate, side in zip(code, sides, strict=True))
    assert (sum(np.abs(np.diff(coordinate)) for coordinate in code) == 1).all()


@given(BOXES, st.data())
@settings(max_examples=200)
def test_a_ring_code_has_one_long_step_if_odd_and_none_if_even(sides, data):
    length = data.draw(st.integers(3, prod(sides)))
    code = ring_code(length, sides)
    assert len(set(points(code))) == length
    for coordinate, side in zip(code, sides, strict=True):
        assert min(coordinate) >= 0
        assert max(coordinate) < side
    steps = sum(np.abs(np.roll(coordinate, -1) - coordinate) for coordinate in code)
    assert steps.max() <= 2
    if not is_folded_ring(length, sides):
        assert (steps > 1).sum() == length % 2


def test_even_rings_fit_every_box_that_has_an_even_side():
    for sides in ((2, 2), (3, 4), (5, 2), (3, 3, 2)):
        assert not any(is_folded_ring(length, sides) for length in range(4, prod(sides) + 1))
    assert is_folded_ring(9, (3, 3))
    assert is_folded_ring(4, (9,))


@pytest.mark.parametrize("sides", [(8,), (4, 4), (3, 5), (2, 3, 4), (2, 2, 2, 2), (1, 6)])
@pytest.mark.parametrize("wraps", [False, True])
def test_snakes_keep_their_promise(sides, wraps):
    network = cube(sides, wraps)
    for tasks in range(3, network.num_nodes + 1):
        for app in (line(tasks), ring(tasks)):
            layout = snake(app, network)
            found = measured(layout, app, network)
            assert found.channel_load.max() == layout.chi_max <= 2
            assert found.path_length.max() <= 2
            if app.name.startswith("line"):
                assert layout.chi_max == found.path_length.max() == 1


def test_a_ring_of_tasks_goes_round_a_ring_of_nodes():
    assert snake(ring(9), torus(9)).node_of.tolist() == list(range(9))
    assert snake(ring(9), torus(9)).chi_max == 1
    assert snake(ring(9), mesh(9)).chi_max == 2


@pytest.mark.parametrize("sides", [(2, 2), (4, 4), (16, 16), (8, 8, 8), (2, 2, 2, 2), (4,) * 4])
def test_hilbert_curves_are_lines(sides):
    network, app = mesh(*sides), line(prod(sides))
    layout = hilbert(app, network)
    assert sorted(layout.node_of.tolist()) == list(range(network.num_nodes))
    at = np.unravel_index(layout.node_of, sides)
    assert (sum(np.abs(np.diff(coordinate)) for coordinate in at) == 1).all()
    assert layout.chi_max == measured(layout, app, network).channel_load.max() == 1


def test_each_quarter_of_a_hilbert_curve_fills_a_quarter_of_the_network():
    row, column = np.divmod(hilbert(line(64), mesh(8, 8)).node_of.reshape(4, 16), 8)
    assert all(np.ptp(row, axis=1) == 3)
    assert all(np.ptp(column, axis=1) == 3)


@pytest.mark.parametrize("sides", [(4, 4), (8, 8), (2, 8), (4, 2, 8), (16, 1, 4)])
def test_morton_order_of_a_hypercube_keeps_its_promise(sides):
    network = mesh(*sides)
    app = hypercube_tasks(network.num_nodes.bit_length() - 1)
    layout = morton(app, network)
    assert sorted(layout.node_of.tolist()) == list(range(network.num_nodes))
    assert layout.chi_max == measured(layout, app, network).channel_load.max()


def test_curves_promise_nothing_of_other_programs():
    for app in (all_to_all(5), binary_tree(7)):
        assert hilbert(app, mesh(4, 4)).chi_max is None
        assert morton(app, hypercube(4)).chi_max is None
    assert hilbert(binary_tree(7), mesh(4, 4)).node_of.tolist() == [0, 4, 5, 1, 2, 3, 7]
