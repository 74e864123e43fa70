"""Timetables by hand, and how near those of irregular patterns come to their bounds."""

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.contention import ConSetCosts
from netloom.phases import schedule
from netloom.topology import torus
from tests.phases.hand_made import plan_of_program, plan_of_rows

WORD = ConSetCosts(clocks_per_word=1, channel_clocks_per_word=1)
ONE_WAY = ConSetCosts(clocks_per_word=1, channel_clocks_per_word=1, both_ways=False)


def halo(*, side=8, seed=1):
    """What a mesh cut into side x side parts exchanges: much over edges, little over corners."""
    rng = np.random.default_rng(seed)
    rows = []
    for row in range(side):
        for column in range(side):
            for down, right, most in ((0, 1, 30), (1, 0, 30), (1, 1, 4), (1, -1, 4)):
                if row + down < side and 0 <= column + right < side:
                    here, there = row * side + column, (row + down) * side + column + right
                    words = int(rng.integers(1 + most // 3, most))
                    rows += [(here, there, words), (there, here, words)]
    return rows


TRIANGLE = [(0, 1, 4), (1, 2, 3), (0, 2, 2)]


def test_as_one_way_by_hand():
    """Node 1 has 7 words: its longest, 0 -> 1, first. Then node 2 has 5: 1 -> 2, from 4 on."""
    found = schedule(plan_of_rows(torus(4), TRIANGLE), ONE_WAY, tries=0)
    assert found.start.tolist() == [0, 4, 7]
    assert found.end.tolist() == [4, 7, 9]
    assert found.makespan.tolist() == [9]
    assert found.lower_bound.tolist() == [7]


def test_as_both_ways_by_hand():
    found = schedule(plan_of_rows(torus(4), TRIANGLE), WORD, tries=0)
    assert found.start.tolist() == [0, 0, 4]
    assert found.makespan.tolist() == found.lower_bound.tolist() == [6]


def test_a_hole_between_two_connections_is_used():
    """Node 1 frees node 2 at 9: 4 -> 5 is busy up to 3, so 5 -> 2 fits in between, from 3 on."""
    rows = [(0, 1, 6), (1, 2, 3), (5, 2, 3), (4, 5, 3)]
    found = schedule(plan_of_rows(torus(8), rows), ONE_WAY, priority=np.array([0, 1, 3, 2]))
    assert found.start.tolist() == [0, 6, 3, 0]


def test_order_holds_within_a_phase_and_makes_the_bound():
    rows = [(0, 1, 5), (2, 3, 4), (4, 5, 3)]
    chained = schedule(plan_of_rows(torus(8), rows, order=[(2, 1), (1, 0)]), WORD)
    assert chained.start.tolist() == [7, 3, 0]
    assert chained.lower_bound.tolist() == chained.makespan.tolist() == [12]
    apart = plan_of_rows(torus(8), rows, order=[(2, 1), (1, 0)], phase=[1, 0, 0])
    assert schedule(apart, WORD).start.tolist() == [0, 3, 0]
    assert schedule(apart, WORD).makespan.tolist() == [7, 5]


@pytest.mark.parametrize("seed", [1, 3])
def test_improvement_finds_what_as_misses(seed):
    plan = plan_of_rows(torus(8, 8), halo(seed=seed))
    plain, better = schedule(plan, ONE_WAY, tries=0), schedule(plan, ONE_WAY, tries=20000)
    assert plain.makespan[0] > 1.08 * plain.lower_bound[0]
    assert better.makespan[0] <= 1.03 * plain.lower_bound[0]


def test_colours_meet_the_bound_where_as_does_not():
    """Both senders take their private receiver first, and meet at node 5 one after the other."""
    plan = plan_of_rows(torus(8), [(2, 0, 3), (4, 1, 3), (4, 5, 3), (2, 5, 3)])
    plain, better = (schedule(plan, WORD, tries=tries) for tries in (0, 1))
    assert plain.start.tolist() == [0, 0, 3, 6]
    assert better.makespan.tolist() == better.lower_bound.tolist() == [6]


def test_phases_of_all_to_all_meet_their_bounds():
    phase = np.random.default_rng(1).integers(0, 10, 64 * 63)
    plan = plan_of_program("all-to-all:64", torus(8, 8), 16, phase)
    found = schedule(plan, ConSetCosts(), tries=1)
    assert found.makespan.tolist() == found.lower_bound.tolist()


def test_phases_of_nothing_take_no_time():
    found = schedule(plan_of_rows(torus(4), TRIANGLE, phase=[0, 2, 2]), WORD)
    assert found.makespan.tolist() == [4, 0, 5]
    empty = schedule(plan_of_rows(torus(4), []), WORD)
    assert len(empty.start) == len(empty.makespan) == 0


def test_a_kind_that_is_not_known_is_named():
    with pytest.raises(InputError, match="kind: found 'fast'; expected one of timetable, shared"):
        schedule(plan_of_rows(torus(4), TRIANGLE), WORD, kind="fast")
