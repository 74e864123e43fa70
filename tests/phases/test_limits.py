"""What keeps phases from being faster, and for which lengths messages are: by hand."""

import numpy as np
import pytest

from netloom.models import ConSetCosts, MessageCosts
from netloom.phases import Capacity, Plan, Timetable, connections
from netloom.phases.timetables import limit_of, plan_break_even_words
from netloom.routing import DimensionOrder, paths
from netloom.topology import mesh
from netloom.workload import process_graph


def hand_made(edges, phase, words, nodes=4, channels=12):
    """A plan on a line, over dimension-order routes."""
    source, target = np.array(edges).T
    graph = process_graph(nodes, source, target, bytes=4.0 * np.array(words))
    given, line = connections(graph, range(nodes), nodes), mesh(nodes)
    routes = paths(line, DimensionOrder(), given.source, given.target)
    return Plan(line, given, Capacity(channels), np.array(phase, np.int32), routes, "by hand")


def test_the_break_even_of_a_plan_by_hand():
    # 0 sends 3 + 1 words in phases of their own, and 2 sends 2 beside the 1; mean 2 words
    plan = hand_made([(0, 1), (0, 2), (2, 3)], [0, 1, 1], [3, 1, 2])
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
    crossing = hand_made([(0, 2), (1, 3)], [0, 0], [1000, 1000])  # both over 1 -> 2
    found = limited(crossing, [4000.0])
    assert found.kind == "channels"
    assert "In phase 0, of 4,000 clocks, channel 1 -> 2 is busy for 4,000" in found.sentence
    assert "no processor for more than 2,000" in found.sentence
    assert limited(crossing, [2000.0], "timetable").kind == "processors"
    star = hand_made([(1, 0), (1, 2), (2, 3)], [0, 0, 0], [1000, 1000, 1])
    found = limited(star, [4000.0])
    assert found.kind == "processors"
    assert "the processor of node 1 is busy for 4,000" in found.sentence
    assert limited(star, [6000.0], "shared").kind == "turns"
    found = limited(star, [4000.0], costs=ConSetCosts(phase_clocks=4000 - 352))
    assert found.kind == "switches"
    assert found.sentence == "Switching between phases takes 50\u00a0% of the time."
