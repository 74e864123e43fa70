"""Timetables by hand, with and without shared channels, and what keeps phases from being faster."""

import numpy as np
import pytest

from netloom.contention import ConSetCosts, MessageCosts
from netloom.phases import Timetable, schedule
from netloom.phases.timetables import limit_of, plan_break_even_words
from netloom.topology import mesh, torus
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


IWARP = ConSetCosts()


@pytest.mark.parametrize("kind", ["shared", "streaming"])
def test_two_connections_halve_a_channel(kind):
    """0 -> 2 and 1 -> 3 share 1 -> 2: 4 clocks a word up to 40, then the longer has it alone."""
    found = schedule(plan_of_rows(torus(8), [(0, 2, 10), (1, 3, 20)]), IWARP, kind=kind)
    assert found.end.tolist() == pytest.approx([40, 60])
    assert found.lower_bound.tolist() == [60]


def test_what_a_slow_connection_leaves_goes_to_the_others():
    """0 -> 2 (10 words) shares the access of 0 with 0 -> 1, and a channel with 1 -> 3 (30 each).

    Up to 40 clocks all have 1/4 word a clock; then 20 words each are left of two, at 1/2.
    """
    rows = [(0, 2, 10), (0, 1, 30), (1, 3, 30)]
    found = schedule(plan_of_rows(torus(8), rows), IWARP, kind="streaming")
    assert found.end.tolist() == pytest.approx([40, 80, 80])


def test_a_sender_waits_or_passes_whichever_is_sooner():
    """0 -> 3 is next for node 0, but 1 -> 3 keeps node 3 busy: 0 -> 2 goes first."""
    rows = [(1, 3, 10), (0, 3, 5), (0, 2, 10)]
    plan = plan_of_rows(torus(8), rows)
    costs = ConSetCosts(channel_clocks_per_word=0.1)
    found = schedule(plan, costs, kind="shared", priority=np.arange(3))
    assert found.start.tolist() == pytest.approx([0, 20, 0])
    assert found.makespan.tolist() == pytest.approx([30])


def test_the_torus_pattern_in_order_of_direction_takes_eight_clocks_a_word():
    """Feldmann et al. 1993, Table 1: predicted 8 clocks a word, measured 8.06."""
    plan = plan_of_program("torus:8x8", torus(8, 8), 256)
    row, column = np.divmod(plan.connections.source, 8)
    next_row, next_column = np.divmod(plan.connections.target, 8)
    priority = 8 * ((next_row - row) % 8) + (next_column - column) % 8
    found = schedule(plan, IWARP, kind="shared", priority=priority)
    assert found.makespan.tolist() == pytest.approx([8 * 256])
    assert schedule(plan, IWARP, kind="shared").makespan.tolist() == pytest.approx([8 * 256])


@pytest.mark.parametrize("kind", ["timetable", "shared", "streaming"])
def test_all_to_all_on_16_processors_and_its_bounds(kind):
    """15 words out at 2 clocks; half of 8 * 8 pairs cross the middle, 4 channels a way: 16."""
    plan = plan_of_program("all-to-all:16", torus(4, 4), 8)
    found = schedule(plan, IWARP, kind=kind)
    busiest = np.bincount(plan.routes.channels).max()
    bound = 8 * 2 * (15 if kind == "timetable" else max(15, busiest))
    assert found.lower_bound.tolist() == [bound]
    assert bound <= found.makespan[0] * (1 + 1e-9)
    assert found.makespan[0] <= 1.6 * bound


LINE = mesh(4)


def test_the_break_even_of_a_plan_by_hand():
    # 0 sends 3 + 1 words in phases of their own, and 2 sends 2 beside the 1; mean 2 words
    plan = plan_of_rows(LINE, [(0, 1, 3), (0, 2, 1), (2, 3, 2)], phase=[0, 1, 1])
    costs, passing = ConSetCosts(sync_clocks=0, phase_clocks=100), MessageCosts()
    # a mean word: phases take 1.5 + 1 words; node 0 saves 800 - 200 and sends 2, node 2 saves
    # 800 - 200 and sends 1, receives 0.5; node 1 saves 200, node 3 saves 200, receiving 1.5 and 1
    expected = max(600 / (5 - 4), 600 / (5 - 2), 200 / (5 - 3), 200 / (5 - 2))
    assert plan_break_even_words(plan, costs, passing) == pytest.approx(expected)
    dear = ConSetCosts(sync_clocks=0, phase_clocks=500)
    assert plan_break_even_words(plan, dear, passing) == 0


def limited(plan, lasting, kind="streaming", costs=None):
    times = np.zeros(len(plan.connections))
    found = Timetable(times, times, np.array(lasting), np.array(lasting), kind)
    return limit_of(plan, found, costs or ConSetCosts())


def test_what_limits_a_plan_is_named():
    crossing = plan_of_rows(LINE, [(0, 2, 1000), (1, 3, 1000)])  # both over 1 -> 2
    found = limited(crossing, [4000.0])
    assert found.kind == "channels"
    assert "In phase 0, of 4,000 clocks, channel 1 -> 2 is busy for 4,000" in found.sentence
    assert "no processor for more than 2,000" in found.sentence
    assert limited(crossing, [2000.0], "timetable").kind == "processors"
    star = plan_of_rows(LINE, [(1, 0, 1000), (1, 2, 1000), (2, 3, 1)])
    found = limited(star, [4000.0])
    assert found.kind == "processors"
    assert "the processor of node 1 is busy for 4,000" in found.sentence
    assert limited(star, [6000.0], "shared").kind == "turns"
    found = limited(star, [4000.0], costs=ConSetCosts(phase_clocks=4000 - 352))
    assert found.kind == "switches"
    assert found.sentence == "Switching between phases takes 50\u00a0% of the time."
