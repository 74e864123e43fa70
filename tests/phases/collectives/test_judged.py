"""Schedules that are right pass the judge; one that was changed anywhere does not."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, strategies as st

from netloom.phases.collectives.judged import judge
from netloom.phases.collectives.pipelines import Asked
from netloom.phases.collectives.schedules import cut_seconds
from netloom.phases.collectives.synthesis import SYNTHESISED, proven, synthesised
from netloom.phases.violations import InvalidPlanError
from netloom.workload.programs.messages import Lists
from tests.phases.collectives.boxes import plain
from tests.reference.collectives_checked import check


@cache
def made(spec, collective, **options):
    net = plain(spec)
    net = replace(net, bytes_per_second=25e9, latency=np.full(net.num_links, 1e-6))
    found = synthesised(Asked(net, collective, 10e6, **options))
    check(found.program)
    return proven(found)


def without(schedule, kept):
    """A schedule of some of the messages."""
    program = schedule.program
    columns = {name: getattr(program, name)[kept] for name in ("source", "target", "step", "sums")}
    program = replace(program, **columns, chunks=program.chunks.taken(kept))
    routes = schedule.routes.taken(kept)
    times = schedule.start[kept], schedule.end[kept]
    return replace(schedule, program=program, routes=routes, start=times[0], end=times[1])


def rule(schedule):
    with pytest.raises(InvalidPlanError) as broken:
        judge(schedule)
    return broken.value.violation.rule


@pytest.mark.parametrize("spec", ["torus:3x4", "mesh:2x3", "leaf-spine:2x1x2", "hypercube:3"])
@pytest.mark.parametrize("collective", SYNTHESISED)
def test_what_is_synthesised_is_right(spec, collective):
    schedule = made(spec, collective)
    judged = judge(schedule)
    assert judged.finish_seconds == schedule.end.max() >= schedule.bound.seconds
    assert 0 < judged.busiest <= 1 + 1e-9
    assert judged.bound_seconds == schedule.bound.seconds > 0.8 * schedule.finish_seconds


def test_depths_by_hand():
    assert judge(made("line:4", "broadcast", root=0, chunks=1)).depth == 3
    assert judge(made("ring:3", "all-gather", chunks=1)).depth == 1


@given(st.sampled_from(SYNTHESISED), st.integers(0, 10**6))
def test_no_message_can_be_missed(collective, number):
    schedule = made("mesh:2x3", collective, chunks=2)
    count = schedule.program.num_messages
    kept = np.delete(np.arange(count), number % count)
    assert rule(without(schedule, kept)) in ("order", "data")


@given(st.sampled_from(SYNTHESISED), st.integers(0, 10**6))
def test_no_message_can_be_sent_twice_at_once(collective, number):
    schedule = made("mesh:2x3", collective, chunks=2)
    count = schedule.program.num_messages
    kept = np.sort(np.append(np.arange(count), number % count))
    assert rule(without(schedule, kept)) == "capacity"


def test_a_sum_that_comes_twice_is_found():
    schedule = made("ring:4", "reduce", root=0, chunks=1)
    last = schedule.program.num_messages - 1
    again = without(schedule, np.append(np.arange(last + 1), last))
    later = 2 * schedule.finish_seconds
    shifted = again.start.copy(), again.end.copy()
    for times in shifted:
        times[-1] += later
    program = replace(again.program, step=np.append(again.program.step[:-1], 10**6))
    assert rule(replace(again, program=program, start=shifted[0], end=shifted[1])) == "data"


@given(st.integers(0, 10**6), st.floats(0.01, 0.99))
def test_a_message_cannot_be_faster_than_its_channels(number, part):
    schedule = made("torus:3x3", "all-gather")
    number %= schedule.program.num_messages
    end = schedule.end.copy()
    end[number] -= part * schedule.sending[number]
    assert rule(replace(schedule, end=end)) == "timetable"


def test_a_message_before_what_it_carries_is_found():
    schedule = made("line:3", "broadcast", root=0, chunks=1)
    assert schedule.program.num_messages == 2
    early = schedule.start[1] * 0.9
    start = np.array([schedule.start[0], early])
    end = schedule.end - np.array([0, schedule.start[1] - early])
    assert rule(replace(schedule, start=start, end=end)) == "order"


def test_a_message_to_another_rank_leaves_its_way():
    schedule = made("torus:3x3", "all-gather")
    target = schedule.program.target.copy()
    target[5] = (target[5] + 1) % 9
    assert rule(replace(schedule, program=replace(schedule.program, target=target))) == "route"


def test_a_way_through_a_rank_is_none():
    schedule = made("line:3", "broadcast", root=0, chunks=1)
    routes = schedule.routes
    both = Lists(np.array([0, 2, 3]), np.append(routes.values, routes.values[1]))
    target = np.array([2, 2], np.int32)
    program = replace(schedule.program, target=target)
    with pytest.raises(InvalidPlanError, match="passes through a rank"):
        judge(replace(schedule, routes=both, program=program))


@pytest.mark.parametrize("collective", SYNTHESISED)
@pytest.mark.parametrize("owner", ["first_owner", "final_owner"])
def test_chunks_are_the_data_of_the_collective(collective, owner):
    schedule = made("mesh:2x3", collective, chunks=2)
    owners = getattr(schedule.program, owner).copy()
    owners[0] = 3 if owners[0] != 3 else 4
    assert rule(replace(schedule, program=replace(schedule.program, **{owner: owners}))) == "data"


def test_sizes_and_bounds_that_are_wrong():
    """Chunks that do not make up the size, and a bound that the cut does not prove."""
    schedule = made("mesh:2x3", "all-gather")
    program, bound = schedule.program, schedule.bound
    small = replace(program, chunk_size=program.chunk_size * 0.99)
    assert rule(replace(schedule, program=small)) == "data"
    high = replace(bound, seconds=bound.seconds * 1.01)
    assert rule(replace(schedule, bound=high)) == "bound"


@given(st.sampled_from(SYNTHESISED), st.sets(st.integers(0, 7)))
def test_no_cut_proves_more_than_a_schedule_takes(collective, inside):
    schedule = made("mesh:2x4", collective)
    chosen = np.array(sorted(inside), np.int32)
    least = cut_seconds(schedule.network, collective, 0, schedule.size_bytes, chosen)
    assert least <= schedule.finish_seconds
