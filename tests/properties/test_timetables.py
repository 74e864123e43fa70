"""Timetables against plain definitions, and what must hold for any of them."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
from hypothesis import given, settings, strategies as st

from netloom.contention import ConSetCosts
from netloom.phases import Capacity, Connections, Plan, schedule
from netloom.phases.kernels.partition import edge_colouring
from netloom.phases.kernels.timetable import fair_rates
from netloom.phases.plan.plans import ranks
from netloom.phases.timetables import each_phase, flow_times, places_of
from netloom.routing import DimensionOrder, paths
from netloom.topology import torus
from tests.reference import timetables as definition

COSTS = [
    ConSetCosts(clocks_per_word=b, channel_clocks_per_word=c, both_ways=both_ways)
    for b, c in ((2, 2), (10, 2), (1, 3))
    for both_ways in (True, False)
]


@st.composite
def plans(draw, most=14, least_words=0, ordered=True):
    topology = torus(draw(st.integers(2, 4)), draw(st.integers(2, 4)))
    node = st.integers(0, topology.num_nodes - 1)
    ends = st.tuples(node, node).filter(lambda pair: pair[0] != pair[1])
    drawn = draw(st.lists(st.tuples(ends, st.integers(least_words, 40)), min_size=1, max_size=most))
    source = np.array([pair[0] for pair, _ in drawn], np.int32)
    target = np.array([pair[1] for pair, _ in drawn], np.int32)
    words = np.array([length for _, length in drawn], np.int64)
    count = len(drawn)
    phase = np.array(draw(st.lists(st.integers(0, 2), min_size=count, max_size=count)), np.int32)
    pairs = []
    if ordered:
        turn = draw(st.permutations(range(count)))
        some = st.tuples(st.integers(0, count - 1), st.integers(0, count - 1))
        for one, other in draw(st.sets(some, max_size=6)):
            before, after = turn[min(one, other)], turn[max(one, other)]
            if before != after and phase[before] <= phase[after]:
                pairs.append((before, after))
    order = np.array(pairs, np.int32).reshape(-1, 2)
    given_ = Connections(
        topology.num_nodes, source, target, words, source, target, order[:, 0], order[:, 1], "drawn"
    )
    routes = paths(topology, DimensionOrder(), source, target)
    return Plan(topology, given_, Capacity(20), phase, routes, "drawn")


def by_phase(plan, costs):
    """Each phase for the definitions: its members, connections, order, uses and capacities."""
    given_, nodes = plan.connections, plan.connections.num_nodes
    for phase in range(plan.num_phases):
        members = np.flatnonzero(plan.phase == phase).tolist()
        local = {connection: number for number, connection in enumerate(members)}
        ends = [
            (int(given_.source[c]), int(given_.target[c]) + (nodes if costs.both_ways else 0))
            for c in members
        ]
        listed = [(*ends[local[c]], int(given_.words[c])) for c in members]
        order = {
            (local[before], local[after])
            for before, after in zip(given_.before.tolist(), given_.after.tolist(), strict=True)
            if before in local and after in local
        }
        uses = {
            local[c]: [*ends[local[c]], *(("channel", ch) for ch in plan.routes[c].tolist())]
            for c in members
        }
        capacity = {
            place: 1
            / Fraction(
                costs.channel_clocks_per_word if isinstance(place, tuple) else costs.clocks_per_word
            )
            for places in uses.values()
            for place in places
        }
        yield members, listed, order, uses, capacity


def by_priority(members, rank, priority):
    keys = [(rank[connection], priority[connection]) for connection in members]
    return sorted(range(len(members)), key=keys.__getitem__)


@given(plans(), st.sampled_from(COSTS))
def test_algorithm_as_equals_its_definition(plan, costs):
    found = schedule(plan, costs, tries=0)
    for members, listed, order, _, _ in by_phase(plan, costs):
        expected = definition.algorithm_as(listed, order)
        assert (found.start[members] / costs.clocks_per_word).tolist() == expected


@given(plans(), st.sampled_from(COSTS), st.data())
def test_filling_by_priority_equals_its_definition(plan, costs, data):
    count = len(plan.connections)
    priority = np.array(data.draw(st.lists(st.integers(0, 3), min_size=count, max_size=count)))
    found = schedule(plan, costs, priority=priority)
    rank = ranks(plan.connections)
    for members, listed, order, _, _ in by_phase(plan, costs):
        sequence = by_priority(members, rank, priority)
        expected = definition.in_sequence(listed, order, sequence)
        assert (found.start[members] / costs.clocks_per_word).tolist() == expected


@given(plans(), st.sampled_from(COSTS))
def test_sharing_equals_its_definition(plan, costs):
    """By priority, so that what shares is all that is compared."""
    priority = np.arange(len(plan.connections)) % 3
    one_by_one = schedule(plan, costs, kind="shared", priority=priority)
    at_once = schedule(plan, costs, kind="streaming")
    rank = ranks(plan.connections)
    for phase, (members, *problem) in enumerate(by_phase(plan, costs)):
        if not members:
            continue
        _, ends = definition.flow(*problem)
        assert np.allclose(at_once.end[members], np.array(ends, float), rtol=1e-7)
        sequence = by_priority(members, rank, priority)
        both = [definition.flow(*problem, sequence, in_turn=turn) for turn in (True, False)]
        start, end = min(both, key=lambda times: max(times[1]))
        least = float(max(end))
        assert np.isclose(one_by_one.makespan[phase], least, rtol=1e-7)
        if max(both[0][1]) != max(both[1][1]):
            assert np.allclose(one_by_one.start[members], np.array(start, float), rtol=1e-7)


@given(plans(), st.sampled_from(COSTS), st.sampled_from(["timetable", "shared", "streaming"]))
@settings(max_examples=150)
def test_any_timetable_holds_what_it_promises(plan, costs, kind):
    found = schedule(plan, costs, kind=kind, tries=50)
    given_ = plan.connections
    assert (found.makespan >= found.lower_bound * (1 - 1e-9)).all()
    for members, _, order, _, _ in by_phase(plan, costs):
        start, end = found.start[members], found.end[members]
        slower = costs.clocks_per_word
        if kind != "timetable":
            slower = max(slower, costs.channel_clocks_per_word)
        lasting = given_.words[members] * slower
        assert (end - start >= lasting * (1 - 1e-9)).all()
        for before, after in order:
            assert start[after] >= end[before] * (1 - 1e-9)
        if kind != "streaming":
            assert_no_overlap(plan, members, found, both_ways=costs.both_ways)


def assert_no_overlap(plan, members, found, *, both_ways):
    busy = {}
    for c in members:
        if plan.connections.words[c]:
            ends = int(plan.connections.source[c]), int(plan.connections.target[c])
            sides = ("send", "receive") if both_ways else ("any", "any")
            for end, side in zip(ends, sides, strict=True):
                busy.setdefault((end, side), []).append((found.start[c], found.end[c]))
    for times in busy.values():
        times.sort()
        for (_, end), (start, _) in pairwise(times):
            assert start >= end * (1 - 1e-9)


@given(plans(), st.sampled_from(COSTS))
def test_improvement_is_never_worse_and_repeats(plan, costs):
    plain, better = schedule(plan, costs, tries=0), schedule(plan, costs, tries=60, seed=3)
    assert (better.makespan <= plain.makespan).all()
    again = schedule(plan, costs, tries=60, seed=3)
    assert again.start.tolist() == better.start.tolist()


@given(plans(most=40, ordered=False), st.integers(1, 50))
def test_equally_long_connections_meet_the_bound_both_ways(plan, words):
    plan.connections.words[:] = words
    found = schedule(plan, ConSetCosts(), tries=1)
    assert found.makespan.tolist() == found.lower_bound.tolist()


@given(plans())
def test_channels_that_are_never_full_leave_the_timetable_as_it_is(plan):
    costs = ConSetCosts(clocks_per_word=10, channel_clocks_per_word=0.01)
    assumed = schedule(plan, costs, tries=40).makespan
    shared = schedule(plan, costs, kind="shared", tries=40).makespan
    assert (shared <= assumed * (1 + 1e-9)).all()


@given(plans(least_words=1), st.sampled_from(COSTS))
def test_programs_in_order_of_start_keep_to_the_shared_times(plan, costs):
    found = schedule(plan, costs, kind="shared", tries=20)
    for phase in each_phase(plan, both_ways=costs.both_ways):
        if not len(phase.members):
            continue
        start = found.start[phase.members]
        places = places_of(plan, phase, costs)
        sequence = np.lexsort((phase.rank, start))
        replayed, _ = flow_times(phase, places, sequence, exclusive=True, in_turn=True)
        assert np.allclose(replayed, start, rtol=1e-7)


@given(plans(ordered=False), st.sampled_from(COSTS), st.data())
def test_fair_rates_have_a_bottleneck_each(plan, costs, data):
    """Bertsekas & Gallager: max-min fair if and only if every connection has a bottleneck."""
    phase = next(p for p in each_phase(plan, both_ways=costs.both_ways))
    count = len(phase.members)
    if not count:
        return
    places = places_of(plan, phase, costs)
    running = np.array(data.draw(st.lists(st.booleans(), min_size=count, max_size=count)))
    rate, size = fair_rates(running, *places), len(places.capacity)
    assert (rate[~running] == -1).all()
    owner, used = places.uses.owners(), places.uses.values
    active = running[owner]
    carried = np.bincount(used[active], rate[owner[active]], size)
    assert (carried <= places.capacity * (1 + 1e-9)).all()
    largest = np.zeros(size)
    np.maximum.at(largest, used[active], rate[owner[active]])
    bottleneck = carried >= places.capacity * (1 - 1e-9)
    for connection in np.flatnonzero(running):
        mine = places.uses.of(connection)
        assert any(bottleneck[p] and rate[connection] >= largest[p] * (1 - 1e-9) for p in mine)


@given(st.lists(st.tuples(st.integers(0, 6), st.integers(7, 13)), min_size=1, max_size=60))
def test_colours_are_as_few_as_konig_says(drawn):
    one, other = np.array(drawn, np.int64).T.copy()
    most = int(np.bincount(np.concatenate([one, other])).max())
    colour = edge_colouring(one, other, 14, most)
    assert colour.min() >= 0
    assert colour.max() < most
    for end in (one, other):
        assert len(set(zip(end.tolist(), colour.tolist(), strict=True))) == len(drawn)
