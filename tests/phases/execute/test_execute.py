"""Phases on simulated hardware: cycles counted by hand, slopes of iWarp's patterns."""

from dataclasses import replace

import numpy as np
import pytest

from netloom.base.errors import InputError
from netloom.contention.messages import ConSetCosts
from netloom.phases import schedule
from netloom.phases.execution import execute
from netloom.topology import mesh, topology, torus
from tests.phases.hand_made import butterfly, listed, neighbours, plan_of

IWARP = ConSetCosts()
LINE = mesh(5)


@pytest.mark.parametrize(("target", "hops"), [(1, 1), (4, 4)])
@pytest.mark.parametrize("words", [1, 2, 100])
def test_a_connection_alone_takes_its_words_and_two_cycles_a_hop(target, hops, words):
    found = execute(plan_of([(0, target)], words, on=LINE), IWARP)
    assert found.phase_cycles.tolist() == [words + 2 * hops + 3]
    assert found.clocks == 528 + 2 * (words + 2 * hops + 3)
    assert found.end.tolist() == [2 * (words + 2 * hops + 3)]
    assert found.channel_words.sum() == words * hops


def test_two_connections_share_a_channel_half_and_half():
    # 0 -> 2 and 1 -> 3 share 1 -> 2; the first has 100 words, gets half of it, and is done when
    # 200 words have passed; the second then has the channel alone for its other 200
    found = execute(plan_of([(0, 2), (1, 3)], [100, 300], on=LINE), IWARP)
    assert found.end == pytest.approx([400, 800], abs=24)
    shared = execute(plan_of([(0, 2), (1, 3)], 100, on=LINE), IWARP)
    assert shared.end == pytest.approx([400, 400], abs=24)
    assert shared.channel_load == pytest.approx(1, abs=0.05)


def test_a_node_interleaves_what_it_sends_and_what_it_receives():
    found = execute(plan_of([(2, 1), (2, 3)], 100, on=LINE), IWARP)
    assert found.end == pytest.approx([400, 400], abs=24), "one injection channel"
    found = execute(plan_of([(1, 2), (3, 2)], 100, on=LINE), IWARP)
    assert found.end == pytest.approx([400, 400], abs=24), "one ejection channel"
    found = execute(plan_of([(1, 2), (2, 3)], 100, on=LINE), IWARP)
    assert found.end == pytest.approx([200, 200], abs=24), "both ways at once"


def test_connections_meet_in_the_order_of_a_timetable():
    # 2 sends to 1, then to 3; 4 sends to 3 at once: 2 -> 3 waits for both
    plan = plan_of([(2, 1), (2, 3), (4, 3)], [50, 100, 200], on=LINE)
    late = replace(listed(plan), start=np.array([0.0, 5.0, 0.0]))
    found = execute(plan, IWARP, timetable=late)
    assert found.start.tolist() == [0, 410, 0]
    assert found.end.tolist() == [2 * 55, 410 + 2 * 105, 2 * 205]
    first = replace(listed(plan), start=np.array([9.0, 0.0, 5.0]))
    assert execute(plan, IWARP, timetable=first).start.tolist() == [210, 0, 210]


def test_one_way_processors_do_one_thing_at_a_time():
    plan = plan_of([(1, 2), (2, 3)], 100, on=LINE)
    costs = ConSetCosts(both_ways=False)
    assert execute(plan, IWARP, timetable=listed(plan)).start.tolist() == [0, 0]
    assert execute(plan, costs, timetable=listed(plan)).start.tolist() == [0, 210]


@pytest.mark.parametrize(("pace", "words"), [(5, 1), (5, 20), (2.5, 21)])
def test_slow_processors_send_at_their_pace(pace, words):
    costs = ConSetCosts(clocks_per_word=2 * pace, both_ways=False)
    plan = plan_of([(0, 2), (2, 4)], words, on=LINE)
    found = execute(plan, costs, timetable=listed(plan))
    cycles = round(pace * words) + 2 * 2 + 3
    assert found.end.tolist() == [2 * cycles, 4 * cycles]


def test_slow_processors_do_not_see_that_they_share_a_channel():
    # section 5.2: at 10 clocks a word, congestion of up to three (five) is invisible
    costs = ConSetCosts(clocks_per_word=10, both_ways=False)
    plan = plan_of([(0, 4), (1, 5), (2, 6), (3, 7)], 50, on=mesh(8))
    found = execute(plan, costs, timetable=listed(plan))
    assert found.end == pytest.approx([500] * 4, rel=0.06)


def test_order_is_obeyed_within_a_phase_and_given_by_phases():
    ordered = plan_of([(0, 1), (3, 2), (1, 0)], [60, 40, 10], on=LINE, order=[(0, 1), (1, 2)])
    found = execute(ordered, IWARP)
    assert found.start[1] == found.end[0] == 130
    assert found.start[2] == found.end[1]
    parted = replace(ordered, phase=np.array([0, 1, 1], np.int32))
    found = execute(parted, IWARP)
    assert found.phase_cycles.tolist() == [65, 45 + 15]
    assert found.clocks == 2 * 528 + 2 * (65 + 60)


def test_two_connections_may_join_the_same_nodes_by_different_ways():
    ring = topology("ring:4")
    (east,) = np.flatnonzero((ring.channel_source == 0) & (ring.channel_target == 1))
    west = [
        int(np.flatnonzero((ring.channel_source == a) & (ring.channel_target == b))[0])
        for a, b in ((0, 3), (3, 2), (2, 1))
    ]
    found = execute(plan_of([(0, 1), (0, 1)], [80, 20], on=ring, routes=[[east], west]), IWARP)
    assert found.channel_words[0, east] == 80
    assert found.channel_words[0, west].tolist() == [20] * 3


def test_connections_without_words_cost_nothing_but_keep_the_order():
    plan = plan_of([(0, 1), (1, 2), (2, 3)], [30, 0, 30], on=LINE, order=[(0, 1), (1, 2)])
    for timetable in (None, listed(plan)):
        found = execute(plan, IWARP, timetable=timetable)
        assert found.end.tolist() == [70, 70, 140]
    slow = ConSetCosts(clocks_per_word=4)
    ends = execute(plan, slow, timetable=listed(plan)).end
    assert ends.tolist() == [2 * 65, 2 * 65, 4 * 65]
    empty = execute(plan_of([(0, 1)], 0, on=LINE), IWARP)
    assert empty.clocks == 528


def test_long_connections_are_cut_into_packets_without_a_gap():
    words = 3 * 32_767 + 5
    found = execute(plan_of([(0, 1), (0, 2)], [words, 1], on=LINE), IWARP)
    assert found.phase_cycles[0] == pytest.approx(words + 1 + 5, abs=3)


def test_words_are_conserved_on_every_channel():
    rng = np.random.default_rng(5)
    pairs = [(a, b) for a, b in rng.integers(0, 16, (40, 2)).tolist() if a != b]
    plan = plan_of(
        pairs, rng.integers(0, 60, len(pairs)), rng.integers(0, 4, len(pairs)), on=torus(4, 4)
    )
    for costs in (IWARP, ConSetCosts(clocks_per_word=6, both_ways=False)):
        for timetable in (None, listed(plan)):
            if timetable is None and not costs.both_ways:
                continue
            found = execute(plan, costs, timetable=timetable)
            crossed = np.zeros((4, 64), np.int64)
            for number in range(len(pairs)):
                crossed[plan.phase[number], plan.routes[number]] += plan.connections.words[number]
            assert (found.channel_words == crossed).all()
            assert (found.channel_load <= 1).all()


def test_iwarps_patterns_cost_as_many_clocks_a_word_as_measured():
    # measured slopes from 2,048 to 16,384 words: 8.05 (Table 1) and 20.2 (Table 2)
    def slope(pairs, phase):
        clocks = []
        for words in (256, 1024):
            plan = plan_of(pairs, words, phase)
            found = execute(plan, IWARP, timetable=listed(plan))
            clocks.append(found.clocks)
        return (clocks[1] - clocks[0]) / 768

    assert slope(neighbours(), 0) == pytest.approx(8.0, abs=0.01)
    rows_and_columns = [bit // 3 for _ in range(64) for bit in range(6)]
    assert slope(butterfly(), rows_and_columns) == pytest.approx(20.0, abs=0.02)


def test_streaming_is_what_max_min_sharing_says():
    # all-to-all on a ring of 8, all at once: 8.5 words a connection on the busiest channel
    ring = torus(8)
    plan = plan_of([(a, b) for a in range(8) for b in range(8) if a != b], 500, on=ring)
    found = execute(plan, IWARP)
    fluid = schedule(plan, IWARP, kind="streaming")
    assert found.clocks - 528 == pytest.approx(fluid.makespan[0], rel=0.03)
    assert execute(plan, IWARP, timetable=fluid).clocks == found.clocks


def test_what_cannot_be_simulated_is_named():
    with pytest.raises(InputError, match=r"clocks_per_word: found 1; expected at least the 2"):
        execute(plan_of([(0, 1)], 5, on=LINE), ConSetCosts(clocks_per_word=1))
    for costs in (ConSetCosts(both_ways=False), ConSetCosts(clocks_per_word=10)):
        with pytest.raises(InputError, match="interleaved; expected a timetable"):
            execute(plan_of([(0, 1)], 5, on=LINE), costs)
    with pytest.raises(InputError, match=r"words: found 4.29e\+09 words' time in a phase"):
        execute(plan_of([(0, 1)], 2**32, on=LINE), IWARP)
    slow = ConSetCosts(clocks_per_word=10)
    many = plan_of([(0, 1)], 2**23, on=LINE)
    with pytest.raises(InputError, match="8388608 words in phase 0, sent one by one"):
        execute(many, slow, timetable=listed(many))
    with pytest.raises(InputError) as error:
        execute(plan_of([(0, 8)] * 13 + [(0, 1)], 5, [1] * 13 + [0]), IWARP)
    assert str(error.value) == (
        "phase 1: found 13 connections on channel (0,0) -> (1,0), on routers of 5 ports;"
        " expected at most 12 on a channel, to simulate it"
    )
    with pytest.raises(InputError, match=r"13 connections from node \(0,0\), on routers"):
        execute(plan_of([(0, node) for node in range(1, 14)], 5), IWARP)
