"""Tori by translates of one tree set: at the bound in rounds, and as deep as they are wide."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from netloom.base.errors import InputError
from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.translates import translated, translates
from netloom.phases.collectives.trees import optimum
from netloom.topology import topology
from tests.phases.collectives.boxes import plain
from tests.reference.collectives_checked import check


@pytest.mark.parametrize(
    ("sides", "rounds", "depth"),
    [((4, 4), 15, 4), ((8, 8), 63, 8), ((16, 16), 255, 16), ((4, 4, 4), 63, 6),
     ((8, 8, 8), 511, 12), ((4, 8), 31, 6), ((5, 7), 34, 5), ((3, 4), 11, 3), ((2, 2, 2), 7, 3)],
)  # fmt: skip
def test_rounds_are_the_bound_at_the_least_depth(sides, rounds, depth):
    found = translates(sides)
    assert (found.rounds, found.bound, int(found.depth.max())) == (rounds, rounds, depth)


@given(st.lists(st.integers(1, 5), min_size=1, max_size=3), st.sampled_from([None, 1, 2]))
@settings(deadline=None, max_examples=40)
def test_any_torus(sides, trees):
    """Every vertex hangs on a neighbour that had its data, each direction used once a round."""
    if np.prod(sides) < 2:
        sides = [*sides, 2]
    found = translates(sides, trees)
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
    assert found.rounds >= found.bound
    assert int(found.depth.max()) == sum(side // 2 for side in sides)


@pytest.mark.parametrize("collective", ["all-gather", "reduce-scatter"])
@pytest.mark.parametrize("spec", ["torus:4x4", "torus:3x5", "hypercube:3", "ring:6"])
def test_schedules_in_time(spec, collective):
    net = topology(spec)
    order = np.random.default_rng(3).permutation(net.num_hosts)
    ranks = rank_network(net, order, bytes_per_second=50e9, latency_seconds=1e-6)
    found = translated(ranks, collective, 1e9)
    check(found.program)
    assert 0.99 < found.efficiency <= 1
    assert found.bound_seconds == pytest.approx(1e9 / 50e9 / float(optimum(ranks).bandwidth))
    for message in range(found.program.num_messages):
        (channel,) = found.routes.of(message)
        ends = order[found.program.source[message]], order[found.program.target[message]]
        assert ends == (net.source_end[channel], net.target_end[channel])


def test_large_tori_come_near_the_bound():
    ranks = rank_network(topology("torus:8x8"), bytes_per_second=50e9, latency_seconds=1e-6)
    assert translated(ranks, "all-gather", 64e6).efficiency > 0.996


@pytest.mark.parametrize("spec", ["mesh:3x3", "petersen", "leaf-spine:2x2x2"])
def test_what_is_not_alike_is_refused(spec):
    with pytest.raises(InputError, match="a whole torus or hypercube"):
        translated(plain(spec), "all-gather", 1e6)


def test_other_collectives_and_sizes_are_refused():
    with pytest.raises(InputError, match="all-gather or reduce-scatter"):
        translated(plain("torus:3x3"), "broadcast", 1e6)
    with pytest.raises(InputError, match="at least 2 vertices"):
        translates((1,))
    with pytest.raises(InputError, match="at least 1"):
        translates((3,), 0)
