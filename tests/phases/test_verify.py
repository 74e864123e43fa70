"""Faults are planted in plans that are right; the verifier has to find every one."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings, strategies as st

from netloom.contention.messages import ConSetCosts
from netloom.phases import Capacity, InvalidPlanError, Timetable, first_violation, verify
from netloom.routing import Paths
from netloom.topology import torus
from tests.phases.hand_made import (
    all_at_once,
    first_fit,
    joined,
    last_end,
    made,
    one_at_a_time,
    places_of,
)


def with_route(plan, connection, channels):
    """Return the plan with another route for one connection."""
    routes = [plan.routes[c].tolist() for c in range(len(plan.routes))]
    routes[connection] = channels
    offsets = np.cumsum([0, *map(len, routes)])
    flat = np.array([channel for route in routes for channel in route], np.int32)
    return replace(plan, routes=Paths(offsets, flat))


def with_order(plan, before, after):
    order = np.array([before], np.int32), np.array([after], np.int32)
    return replace(plan, connections=replace(plan.connections, before=order[0], after=order[1]))


def at(array, index, value):
    """Return a copy with one entry changed."""
    changed = array.copy()
    changed[index] = value
    return changed


def index(plan):
    return st.integers(0, len(plan.connections) - 1)


def a_pair(data, plan, condition):
    """Return two connections of which this holds."""
    every = range(len(plan.connections))
    pairs = [(a, b) for a in every for b in every if condition(a, b)]
    assume(pairs)
    return data.draw(st.sampled_from(pairs))


# --- Faults of a plan: each returns a plan that breaks the rule it is listed with.


def in_no_phase(data, plan):
    return replace(plan, phase=at(plan.phase, data.draw(index(plan)), -1))


def after_an_empty_phase(data, plan):
    far = plan.num_phases + data.draw(st.integers(1, 2**30))
    return replace(plan, phase=at(plan.phase, data.draw(index(plan)), far))


def phase_missing(data, plan):
    return replace(plan, phase=np.delete(plan.phase, data.draw(index(plan))))


def route_missing(data, plan):
    routes = Paths(plan.routes.offsets[:-1], plan.routes.channels[: plan.routes.offsets[-2]])
    return replace(plan, routes=routes)


def other_network(data, plan):
    larger = replace(plan.connections, num_nodes=plan.topology.num_nodes + 1)
    return replace(plan, connections=larger)


def hop_missing(data, plan):
    connection = data.draw(index(plan))
    route = plan.routes[connection].tolist()
    del route[data.draw(st.integers(0, len(route) - 1))]
    return with_route(plan, connection, route)


def hop_changed(data, plan):
    connection = data.draw(index(plan))
    route = plan.routes[connection].tolist()
    hop = data.draw(st.integers(0, len(route) - 1))
    channel = data.draw(st.integers(-1, plan.topology.num_channels))
    assume(channel != route[hop])
    return with_route(plan, connection, [*route[:hop], channel, *route[hop + 1 :]])


def there_and_back(data, plan):
    connection, network = data.draw(index(plan)), plan.topology
    route = plan.routes[connection].tolist()
    hop = data.draw(st.integers(0, len(route) - 1))
    back = (network.source_end == network.target_end[route[hop]]) & (
        network.target_end == network.source_end[route[hop]]
    )
    twice = [route[hop], int(np.flatnonzero(back)[0]), route[hop]]
    return with_route(plan, connection, [*route[:hop], *twice, *route[hop + 1 :]])


def routes_swapped(data, plan):
    ends = [*zip(plan.connections.source, plan.connections.target, strict=True)]
    a, b = a_pair(data, plan, lambda a, b: ends[a] != ends[b])
    swapped = with_route(plan, a, plan.routes[b].tolist())
    return with_route(swapped, b, plan.routes[a].tolist())


def too_little_capacity(data, plan):
    most = int(plan.use().max())
    assume(most > 1)
    return replace(plan, capacity=replace(plan.capacity, virtual_channels=most - 1))


def phases_joined(data, plan):
    joined_up = replace(plan, phase=np.zeros_like(plan.phase))
    assume(joined_up.use().max() > plan.capacity.virtual_channels)
    return joined_up


def order_of_phases(data, plan):
    return with_order(plan, *a_pair(data, plan, lambda a, b: plan.phase[a] > plan.phase[b]))


PLAN_FAULTS = {
    in_no_phase: "once",
    after_an_empty_phase: "once",
    phase_missing: "once",
    route_missing: "once",
    other_network: "once",
    hop_missing: "route",
    hop_changed: "route",
    there_and_back: "route",
    routes_swapped: "route",
    too_little_capacity: "capacity",
    phases_joined: "capacity",
    order_of_phases: "order",
}


# --- Faults of a timetable: each returns a plan, too.


def time_missing(data, plan, times, costs):
    return plan, replace(times, start=times.start[:-1])


def phase_without_makespan(data, plan, times, costs):
    return plan, replace(times, makespan=times.makespan[:-1])


def negative_start(data, plan, times, costs):
    return plan, replace(times, start=at(times.start, data.draw(index(plan)), -1))


def no_time(data, plan, times, costs):
    field = data.draw(st.sampled_from(["start", "end"]))
    what = data.draw(st.sampled_from([np.nan, np.inf]))
    changed = at(getattr(times, field), data.draw(index(plan)), what)
    return plan, replace(times, **{field: changed})


def too_short(data, plan, times, costs):
    connection = data.draw(index(plan))
    least = plan.connections.words[connection] * costs.clocks_per_word
    end = times.start[connection] + least * data.draw(st.floats(0, 0.99))
    return plan, replace(times, end=at(times.end, connection, end))


def two_at_once(data, plan, times, costs):
    ends = [*zip(plan.connections.source, plan.connections.target, strict=True)]

    def compete(a, b):
        sides = {ends[a][0] == ends[b][0], ends[a][1] == ends[b][1]}
        if not costs.both_ways:
            sides |= {ends[a][0] == ends[b][1], ends[a][1] == ends[b][0]}
        return a != b and plan.phase[a] == plan.phase[b] and any(sides)

    times = one_at_a_time(plan, costs)
    a, b = a_pair(data, plan, compete)
    start = times.start[a] + 0.9 * (times.end[a] - times.start[a])
    moved = at(times.start, b, start), at(times.end, b, start + times.end[b] - times.start[b])
    return plan, replace(times, start=moved[0], end=moved[1], makespan=last_end(plan, moved[1]))


def too_much_at_once(data, plan, times, costs):
    times = all_at_once(plan, costs)
    phase = data.draw(index(plan))
    end = np.where(plan.phase == plan.phase[phase], times.end * 0.99, times.end)
    return plan, replace(times, end=end, makespan=last_end(plan, end))


def makespan_changed(data, plan, times, costs):
    phase = data.draw(st.integers(0, plan.num_phases - 1))
    by = data.draw(st.sampled_from([-1, 1, np.nan]))
    return plan, replace(times, makespan=at(times.makespan, phase, times.makespan[phase] + by))


def bound_above_makespan(data, plan, times, costs):
    phase = data.draw(st.integers(0, plan.num_phases - 1))
    by = data.draw(st.sampled_from([1, np.nan]))
    bound = at(times.lower_bound, phase, times.makespan[phase] + by)
    return plan, replace(times, lower_bound=bound)


def order_of_times(data, plan, times, costs):
    def late(a, b):
        return plan.phase[a] == plan.phase[b] and times.end[a] > times.start[b]

    return with_order(plan, *a_pair(data, plan, late)), times


TIME_FAULTS = {
    time_missing: "timetable",
    phase_without_makespan: "timetable",
    negative_start: "timetable",
    no_time: "timetable",
    too_short: "timetable",
    two_at_once: "timetable",
    too_much_at_once: "timetable",
    makespan_changed: "timetable",
    bound_above_makespan: "timetable",
    order_of_times: "order",
}


@given(made())
def test_what_is_right_passes(right):
    assert first_violation(*right) is None
    verify(right[0])


@given(st.data())
def test_order_that_is_kept_passes(data):
    plan, times, costs = data.draw(made())

    def kept(a, b):
        together = plan.phase[a] == plan.phase[b]
        return plan.phase[a] < plan.phase[b] or (together and times.end[a] <= times.start[b])

    before, after = a_pair(data, plan, kept)
    assert first_violation(with_order(plan, before, after), times, costs) is None


@pytest.mark.parametrize("fault", PLAN_FAULTS)
@settings(max_examples=40)
@given(st.data())
def test_every_fault_of_a_plan_is_found(fault, data):
    plan, times, costs = data.draw(made())
    wrong = fault(data, plan)
    for found in (first_violation(wrong), first_violation(wrong, times, costs)):
        assert found is not None
        assert found.rule == PLAN_FAULTS[fault]
        assert "\n" not in str(found)


@pytest.mark.parametrize("fault", TIME_FAULTS)
@settings(max_examples=40)
@given(st.data())
def test_every_fault_of_a_timetable_is_found(fault, data):
    plan, times, costs = data.draw(made())
    wrong, at_times = fault(data, plan, times, costs)
    found = first_violation(wrong, at_times, costs)
    assert found is not None
    assert found.rule == TIME_FAULTS[fault]
    assert first_violation(wrong) is None
    assert "\n" not in str(found)


def is_right(plan):
    """Return what the verifier should say of phases and routes, in so many words."""
    used, network, ends = {}, plan.topology, plan.connections
    if {*plan.phase.tolist()} != {*range(max(plan.phase.tolist()) + 1)}:
        return False
    for connection in range(len(ends)):
        visited = [int(ends.source[connection])]
        for channel in plan.routes[connection].tolist():
            if network.source_end[channel] != visited[-1]:
                return False
            visited.append(int(network.target_end[channel]))
        if visited[-1] != ends.target[connection] or len({*visited}) < len(visited):
            return False
        for place in places_of(plan, connection):
            at = (int(plan.phase[connection]), place)
            used[at] = used.get(at, 0) + 1
    return max(used.values()) <= plan.capacity.virtual_channels


@given(st.data())
def test_plans_at_random_are_judged_as_the_definition_does(data):
    """Phases anywhere and random walks as routes: right or wrong, both agree."""
    plan, _, _ = data.draw(made())
    last = data.draw(st.integers(0, 3))
    phases = st.lists(
        st.integers(0, last), min_size=len(plan.connections), max_size=len(plan.connections)
    )
    plan = replace(plan, phase=np.array(data.draw(phases), np.int32))
    if data.draw(st.booleans()):
        connection, node = data.draw(index(plan)), None
        walk, node = [], int(plan.connections.source[connection])
        for _ in range(data.draw(st.integers(1, 6))):
            leaving = np.flatnonzero(plan.topology.source_end == node).tolist()
            walk.append(data.draw(st.sampled_from(leaving)))
            node = int(plan.topology.target_end[walk[-1]])
            if node == plan.connections.target[connection]:
                break
        plan = with_route(plan, connection, walk)
    assert (first_violation(plan) is None) == is_right(plan)


# --- What a violation says, by hand: 0 -> 1 -> 2 -> 3 on a ring of eight, two connections.


def two_on_a_ring(**changes):
    ring = torus(8)
    plan = first_fit(ring, joined(8, [(0, 2), (1, 3)], [10, 30]), Capacity(2))
    return replace(plan, **changes)


def in_phases(*phases, **changes):
    return two_on_a_ring(phase=np.array(phases, np.int32), **changes)


def over(*channels):
    return with_route(two_on_a_ring(), 0, list(channels))


RING = two_on_a_ring()
SAID = [  # plan, starts and ends, and the telling part of what is said
    (in_phases(0, 0, capacity=Capacity(1)), None, "phase 0, node 1: found 2 connections, 1 too"),
    (in_phases(0, -1), None, "connection 101 -> 103: found phase -1; expected a phase from 0 on"),
    (two_on_a_ring(capacity=Capacity(1, "channel")), None, "phase 0, channel 1 -> 2: found"),
    (with_order(in_phases(1, 0), 0, 1), None, "100 -> 102, which it waits for, in phase 1;"),
    (over(), None, "phase 0, connection 100 -> 102: found no route; expected at least one channel"),
    (over(1), None, "channel 1 -> 2 as hop 1; expected a channel that leaves node 0, its source"),
    (over(0, 2), None, "2 -> 3 as hop 2; expected a channel that leaves node 1, where hop 1 ends"),
    (over(0), None, "a route that ends in node 1; expected node 2, its target"),
    (over(0, 16), None, "channel 16 as hop 2; expected channels from 0 to 15"),
    (over(0, 1, 13, 1), None, "a route that visits node 1 twice; expected each node once"),
    (RING, ([0, 0], [20, 59]), "101 -> 103: found 59 clocks for 30 words, 1 too few"),
    (with_order(RING, 0, 1), ([0, 0], [20, 60]), "a start at clock 0, 20 too early; expected"),
    (RING, ([5, 0], [4, 60]), "found clocks 5 to 4; expected a start from 0 on"),
    (RING, ([0, 0], [20, 61]), "phase 0: found a makespan of 60 clocks; expected 61, when"),
]


@pytest.mark.parametrize(("plan", "clocks", "said"), SAID)
def test_a_violation_says_where_it_is_and_what_was_expected(plan, clocks, said):
    if clocks is None:
        with pytest.raises(InvalidPlanError, match=re.escape(said)):
            verify(plan)
        return
    start, end = np.array(clocks, float)
    times = Timetable(start, end, np.array([60.0]), np.ones(1), "timetable")
    assert said in str(first_violation(plan, times, ConSetCosts()))


def test_a_channel_that_two_connections_share_bounds_streaming_and_sharing_only():
    """Channel 1 -> 2 carries 40 words at 2 clocks: 80, while both processors need 60 at most."""
    plan, costs = two_on_a_ring(), ConSetCosts()
    start, end = np.zeros(2), np.array([60.0, 60.0])
    for kind in ("shared", "streaming"):
        times = Timetable(start, end, np.array([60.0]), np.array([60.0]), kind)
        assert str(first_violation(plan, times, costs)) == (
            "phase 0, channel 1 -> 2: found 80 clocks of words from clock 0 to 60, 20 too many;"
            " expected at most 60"
        )
    times = Timetable(start, end, np.array([60.0]), np.array([60.0]), "timetable")
    assert first_violation(plan, times, costs) is None


def test_connections_that_share_a_channel_one_after_the_other_have_time_enough():
    """The second waits for the first: 20 clocks, then 60, and they share nothing."""
    plan, last = two_on_a_ring(), np.array([80.0])
    start, end = np.array([0.0, 20.0]), np.array([20.0, 80.0])
    for kind in ("shared", "streaming"):
        times = Timetable(start, end, last, last, kind)
        assert first_violation(plan, times, ConSetCosts()) is None


def test_a_slow_channel_makes_connections_last_where_channels_count():
    plan, costs, last = two_on_a_ring(), ConSetCosts(channel_clocks_per_word=3), np.array([150.0])
    for kind, wrong in (("timetable", False), ("shared", True), ("streaming", True)):
        times = Timetable(np.array([0.0, 90.0]), np.array([30.0, 150.0]), last, last, kind)
        found = first_violation(plan, times, costs)
        assert (found is not None) == wrong
    assert str(found) == (
        "phase 0, connection 101 -> 103: found 60 clocks for 30 words, 30 too few; expected at"
        " least 3 a word"
    )


def test_work_that_ends_early_is_counted_although_the_phase_lasts():
    """Three sends of 10 words take 60 clocks: two cannot both have ended by clock 30."""
    plan = first_fit(torus(8), joined(8, [(0, 1), (0, 7), (0, 2)], [10] * 3), Capacity(4))
    costs = ConSetCosts()
    end = np.array([30.0, 30.0, 100.0])
    times = Timetable(np.zeros(3), end, np.array([100.0]), np.array([60.0]), "streaming")
    assert str(first_violation(plan, times, costs)) == (
        "phase 0, node 0: found 40 clocks of sends from clock 0 to 30, 10 too many; expected at"
        " most 30"
    )
    assert first_violation(plan, replace(times, end=np.array([30.0, 40.0, 100.0])), costs) is None


def test_a_processor_that_cannot_do_both_ways_is_at_one_connection():
    plan = first_fit(torus(8), joined(8, [(0, 1), (1, 2)], [10, 10]), Capacity(4))
    for both_ways in (True, False):
        costs = ConSetCosts(both_ways=both_ways)
        times = one_at_a_time(plan, ConSetCosts())
        found = first_violation(plan, times, costs)
        assert (found is None) == both_ways
    assert str(found) == (
        "phase 0, node 1: found connection 100 -> 101 from clock 0 on, while 101 -> 102 lasts"
        " until 20; expected one at a time of its sends and receives"
    )


def test_a_connection_without_words_takes_no_time_of_its_processors():
    plan = first_fit(torus(8), joined(8, [(0, 1), (0, 2)], [10, 0]), Capacity(4))
    times = Timetable(
        np.array([0.0, 5]), np.array([20.0, 5]), *2 * (np.array([20.0]),), "timetable"
    )
    assert first_violation(plan, times, ConSetCosts()) is None


def test_sums_of_floats_may_be_off_in_their_last_digits():
    plan = two_on_a_ring()
    costs = ConSetCosts(clocks_per_word=0.1, channel_clocks_per_word=0.1)
    times = all_at_once(plan, costs)
    nearly = replace(times, end=times.end * (1 - 1e-12))
    assert first_violation(plan, nearly, costs) is None
