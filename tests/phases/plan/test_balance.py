"""Phases that last less long: by hand, and never at the cost of what a plan must keep."""

import numpy as np
import pytest

from netloom.contention.messages import ConSetCosts
from netloom.phases import Capacity, first_violation, least_clocks, phase_clocks
from netloom.phases.plan.plans import balanced, negotiated
from netloom.topology import mesh, torus
from netloom.workload import read
from tests.phases.hand_made import joined, plan_of

MOVES = 3000


def by_hand(network, pairs, words, phase, capacity, order=()):
    plan = plan_of(pairs, words, phase, on=network, order=order, capacity=capacity)
    assert first_violation(plan) is None
    return plan


def full_phases(order=()):
    """Return two phases, each with a long connection and a short one where the other is long."""
    pairs, words = [(0, 1), (0, 1), (2, 3), (2, 3)], [100, 1, 100, 1]
    return by_hand(mesh(4), pairs, words, [0, 1, 1, 0], Capacity(1), order)


def test_clocks_by_hand():
    plan = by_hand(mesh(3), [(0, 2), (1, 2), (2, 1)], [5, 7, 9], [0, 0, 0], Capacity(3))
    assert phase_clocks(plan, ConSetCosts()).tolist() == [2 * (5 + 7)]
    assert phase_clocks(plan, ConSetCosts(both_ways=False)).tolist() == [2 * (5 + 7 + 9)]
    assert phase_clocks(plan, ConSetCosts(channel_clocks_per_word=3)).tolist() == [3 * (5 + 7)]


def test_long_connections_come_together():
    pairs = [(node, node + 1) for node in (0, 0, 2, 2, 4, 4)]
    words = [100, 1] * 3
    spread = by_hand(mesh(6), pairs, words, [0, 1, 1, 0, 0, 1], Capacity(2))
    assert phase_clocks(spread, ConSetCosts()).sum() == 2 * (100 + 100)
    together = balanced(spread, ConSetCosts(), most_moves=MOVES)
    assert together.num_phases == 2
    assert phase_clocks(together, ConSetCosts()).sum() == 2 * (100 + 1)


def test_connections_change_places_where_nothing_else_fits():
    full = full_phases()
    swapped = balanced(full, ConSetCosts(), most_moves=MOVES)
    assert first_violation(swapped) is None
    assert sorted(phase_clocks(swapped, ConSetCosts()).tolist()) == [2, 200]


@pytest.mark.parametrize("both_ways", [False, True])
def test_connections_that_change_places_keep_their_order(both_ways):
    """Both exchanges would halve the time, and both would break the order."""
    full = full_phases([(0, 1), (3, 2)])
    costs = ConSetCosts(both_ways=both_ways)
    for seed in range(3):
        kept = balanced(full, costs, seed=seed, most_moves=MOVES)
        assert first_violation(kept) is None
        assert kept.phase.tolist() == [0, 1, 1, 0]


def test_what_comes_first_may_change_places_with_others():
    full = full_phases([(0, 1)])
    swapped = balanced(full, ConSetCosts(), most_moves=MOVES)
    assert first_violation(swapped) is None
    assert phase_clocks(swapped, ConSetCosts()).tolist() == [200, 2]


def test_in_one_phase_routes_give_way_to_each_other():
    """Transposing 4x4: dimension order takes three paths over a channel, but one is enough."""
    network, app = mesh(4, 4), read("transpose:4")
    pairs = list(zip(app.source.tolist(), app.target.tolist(), strict=True))
    plan = by_hand(network, pairs, [10] * len(pairs), [0] * len(pairs), Capacity(12))
    costs = ConSetCosts()
    assert phase_clocks(plan, costs).tolist() == [3 * 20]
    better = balanced(plan, costs, most_moves=20_000)
    assert phase_clocks(better, costs).tolist() == [20]
    assert least_clocks(plan.connections, network, costs) == 20


def test_nothing_is_moved_where_nothing_can_be_gained():
    pairs = [(0, 1), (2, 3), (0, 1)]
    best = by_hand(mesh(4), pairs, [8, 3, 8], [0, 0, 1], Capacity(1))
    assert balanced(best, ConSetCosts()) is best
    empty = by_hand(mesh(4), pairs, [0, 0, 0], [0, 0, 1], Capacity(1))
    assert balanced(empty, ConSetCosts()) is empty


def test_a_random_pattern_gains():
    """Of 256 connections of 1 to 99 words; a fifth of the time at least, and near its bound."""
    rng, costs = np.random.default_rng(4), ConSetCosts(clocks_per_word=10, both_ways=False)
    source = np.repeat(np.arange(16), 16)
    target = (source + rng.integers(1, 16, 256)) % 16
    pairs = list(zip(source.tolist(), target.tolist(), strict=True))
    given_ = joined(16, pairs, rng.integers(1, 100, 256).tolist())
    plan = negotiated(given_, torus(4, 4), Capacity(12), 5)
    better = balanced(plan, costs, most_moves=50_000)
    assert first_violation(better) is None
    clocks, least = phase_clocks(better, costs).sum(), least_clocks(given_, torus(4, 4), costs)
    assert clocks <= 0.8 * phase_clocks(plan, costs).sum()
    assert clocks <= 1.05 * least
