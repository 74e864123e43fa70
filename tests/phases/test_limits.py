"""What keeps phases from being faster, and for which lengths messages are: by hand."""

import numpy as np
import pytest

from netloom.contention import ConSetCosts, MessageCosts
from netloom.phases import Timetable
from netloom.phases.timetables import limit_of, plan_break_even_words
from netloom.topology import mesh
from tests.phases.hand_made import plan_of_rows

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
