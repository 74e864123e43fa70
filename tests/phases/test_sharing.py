"""Connections that share channels, by hand and by the paper's patterns."""

import numpy as np
import pytest

from netloom.contention import ConSetCosts
from netloom.phases import schedule
from netloom.topology import torus
from tests.phases.hand_made import plan_of_program, plan_of_rows

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
