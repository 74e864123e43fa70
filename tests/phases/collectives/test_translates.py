"""Tori by translates of one tree set: at the bound in rounds, and as deep as they are wide."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.pipelines import Asked, translates
from netloom.phases.collectives.synthesis import ALONG_TREES, TRANSLATES, method_of, synthesised
from netloom.phases.collectives.trees import optimum
from netloom.topology import topology
from tests.phases.collectives.boxes import made, plain

SIDES = [(4, 4), (8, 8), (16, 16), (4, 4, 4), (8, 8, 8), (4, 8), (5, 7), (3, 4), (2, 2, 2)]


@pytest.mark.parametrize("sides", SIDES)
def test_rounds_are_the_bound_at_the_least_depth(sides):
    """Every vertex receives a chunk of each other one by each direction, and a round is one."""
    found = translates(sides)
    depth = sum(side // 2 for side in sides)
    assert (found.rounds, int(found.depth.max())) == (np.prod(sides) - 1, depth)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3))
@settings(deadline=None, max_examples=40)
def test_any_torus(sides):
    """Every vertex hangs on a neighbour that had its data, each direction used once a round."""
    if np.prod(sides) < 2:
        sides = [*sides, 2]
    found = translates(sides)
    at = np.array(np.unravel_index(np.arange(np.prod(sides)), sides)).T
    for tree, (ways, parents) in enumerate(zip(found.direction, found.parent, strict=True)):
        for vertex in range(1, len(parents)):
            step, parent = found.step_of[ways[vertex]], parents[vertex]
            assert ((at[parent] + step) % sides == at[vertex]).all()
            assert found.round_of[tree, vertex] > found.round_of[tree, parent]
            assert found.depth[vertex] == found.depth[parent] + 1
    below = found.parent >= 0
    used = np.stack([found.direction[below], found.round_of[below]])
    assert np.unique(used, axis=1).shape == used.shape
    assert found.rounds >= np.prod(sides) - 1
    assert int(found.depth.max()) == sum(side // 2 for side in sides)


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
@pytest.mark.parametrize("spec", ["torus:4x4", "torus:3x5", "hypercube:3", "ring:6"])
def test_schedules_in_time(spec, collective):
    net = topology(spec)
    order = np.random.default_rng(3).permutation(net.num_hosts)
    ranks = rank_network(net, order, bytes_per_second=50e9, latency_seconds=1e-6)
    assert method_of(Asked(ranks, collective, 1e9)) == TRANSLATES
    found = made(ranks, collective, 1e9)
    assert 0.99 < found.efficiency <= 1
    assert found.bound_seconds == pytest.approx(1e9 / 50e9 / float(optimum(ranks).bandwidth))


def test_large_tori_come_near_the_bound():
    ranks = rank_network(topology("torus:8x8"), bytes_per_second=50e9, latency_seconds=1e-6)
    assert synthesised(Asked(ranks, "all-gather", 64e6)).efficiency > 0.996


@pytest.mark.parametrize("spec", ["mesh:3x3", "petersen", "leaf-spine:2x2x2"])
def test_what_is_not_alike_goes_by_packed_trees(spec):
    assert method_of(Asked(plain(spec), "all-gather", 1e6)) == ALONG_TREES
