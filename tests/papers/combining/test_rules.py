"""What a combining network does, worked out by hand; the engine and its readable twin both do it.

Networks are of four lines and 2 × 2 switches unless something else is said: levels 0 to 5 are the
PE queues, the request queues of stages 0 and 1, the module queues, and the reply queues of stages
1 and 0. PEs 0 and 2 share a switch of stage 0. With rate 1 every PE that has a hot spot makes a
request in each step.
"""

from collections import Counter
from itertools import accumulate, permutations

import numpy as np
import pytest

from netloom.workload.counter_random import random_bits, uniforms
from netloom_papers.combining import CombiningEngine, CombiningNetwork
from netloom_papers.combining.hot_spots import HotSpotTraffic
from tests.reference.combining import (
    CHANGES,
    GAPS,
    IDENTITY,
    PHI,
    REQUEST_ORDER,
    CombiningTwin,
    bits_at,
    counted,
    shuffled,
)


@pytest.fixture(params=[CombiningEngine, CombiningTwin], ids=["engine", "twin"])
def make(request):
    return request.param


def traffic(pes, assigned, *, rate=1.0, **options):
    """Return what the PEs named in ``assigned`` ask for; the others ask for nothing."""
    hot_spots = sorted({module for modules in assigned.values() for module in modules})
    per_pe = max(map(len, assigned.values()))
    rows = [(assigned.get(pe, []) + [-1] * per_pe)[:per_pe] for pe in range(pes)]
    return HotSpotTraffic(np.array(hot_spots), np.array(rows), rate, **options)


def run(assigned, steps=1, *, pes=4, seed=1, asked=(), **network):
    """Make requests for some steps, and let everything come back: the twin, as the engine does."""
    asked = traffic(pes, assigned, **dict(asked))
    twin, engine = (
        make(CombiningNetwork(pes, **network), asked, seed=seed)
        for make in (CombiningTwin, CombiningEngine)
    )
    for simulated in (twin, engine):
        simulated.advance(steps)
        simulated.drain()
        assert simulated.in_flight == 0
    assert counted(engine) == counted(twin)
    steps = Counter(request.done - request.birth for request in twin.requests)
    assert twin.latency_counts == steps
    return twin


def listed(counts):
    return np.asarray(counts).tolist()


def lines_used(simulated):
    """Return, level by level, the only line that held anything, and the most it held."""
    used = [np.flatnonzero(row).tolist() for row in np.asarray(simulated.queue_max)]
    assert all(len(lines) == 1 for lines in used)
    return [lines[0] for lines in used]


@pytest.mark.parametrize("order", ["forward", "backward"])
def test_one_request_goes_through_every_level_in_a_step_each(order):
    simulated = run({0: [2]}, order=order)
    assert simulated.latency_counts == {6: 1}
    assert lines_used(simulated) == [0, 1, 2, 2, 1, 0]
    assert simulated.population_sums == [0, 1, 1, 1, 1, 1]
    assert simulated.wait_sums == [0, 0]
    assert simulated.per_step == [[1, 0, 0], *[[0, 0, 0]] * 4, [0, 1, 6]]
    (request,) = simulated.requests
    assert (request.pe, request.module, request.hot) == (0, 2, True)
    assert (request.birth, request.done, request.value) == (-1, 5, 0)
    assert simulated.memory[0] == [0, 0, request.operand, 0]
    assert simulated.issued_to == simulated.accesses == [0, 0, 1, 0]
    assert simulated.arrived == [1, 1]
    assert simulated.step == 6


@pytest.mark.parametrize(
    ("network", "pe", "module", "lines"),
    [
        ({"pes": 8}, 0, 1, [0, 0, 0, 1, 1, 0, 0, 0]),
        ({"pes": 8, "digits": "least-significant-first"}, 0, 1, [0, 1, 2, 4, 4, 2, 1, 0]),
        ({"pes": 8}, 6, 3, [6, 4, 1, 3, 3, 1, 4, 6]),
        ({"pes": 16, "switch_size": 4}, 7, 9, [7, 14, 9, 9, 14, 7]),
        (
            {"pes": 16, "switch_size": 4, "digits": "least-significant-first"},
            *(7, 9, [7, 13, 6, 6, 13, 7]),
        ),
        ({"pes": 8, "switch_size": 8}, 5, 3, [5, 3, 3, 5]),
    ],
)
def test_lines_follow_the_digits_of_the_module(network, pe, module, lines):
    simulated = run({pe: [module]}, **network)
    assert lines_used(simulated) == lines
    assert simulated.latency_counts == {len(lines): 1}
    assert simulated.accesses == [m == module for m in range(network["pes"])]


def test_two_that_enter_together_become_one():
    simulated = run({0: [0], 2: [0]})
    assert simulated.latency_counts == {6: 2}
    assert simulated.arrived == [2, 1]
    assert simulated.combined == [1, 0]
    assert simulated.pool_max == [[1, 0, 0, 0], [0] * 4]
    assert simulated.wait_sums == [4, 0]  # steps 0 to 3: its partner comes back in step 4
    assert simulated.population_sums == [0, 1, 1, 1, 1, 2]
    assert simulated.accesses == [1, 0, 0, 0]


def test_without_combining_one_is_behind_the_other():
    simulated = run({0: [0], 2: [0]}, combining="none")
    assert simulated.latency_counts == {6: 1, 7: 1}
    assert simulated.combined == [0, 0]
    assert simulated.queue_max[1] == [2, 0, 0, 0]
    assert simulated.accesses == [2, 0, 0, 0]


@pytest.mark.parametrize("seed", range(10))
def test_the_first_of_two_is_drawn(seed):
    simulated = run({0: [0], 2: [0]}, combining="none", seed=seed)
    drawn = int(random_bits(seed, REQUEST_ORDER, 0, 0)[()])  # step 0, stage 0, line 0
    assert [request.pe for request in simulated.requests] == ([0, 2] if drawn % 2 else [2, 0])


@pytest.mark.parametrize("operation", list(PHI))
def test_four_become_one_and_each_gets_a_value_of_its_own(operation):
    simulated = run({pe: [3] for pe in range(4)}, operation=operation)
    assert simulated.latency_counts == {6: 4}
    assert simulated.combined == [2, 1]
    assert simulated.accesses == [0, 0, 0, 1]
    phi, identity = PHI[operation], IDENTITY[operation]

    def is_serial(order):
        words = list(accumulate((r.operand for r in order), phi, initial=identity))
        return words == [*(r.value for r in order), simulated.memory[0][3]]

    assert any(is_serial(order) for order in permutations(simulated.requests))


STREAM = {
    # One PE, one request a step for seven steps, numbered in order; memory takes ten steps for
    # each, from steps 2, 12, 22 ... on, so they pile up in the request queue of stage 1.
    # 3 finds 1, which is at the front and might leave, and 2, which takes it; 2 has a partner
    # when 4 comes; 4 takes 5; 6 comes too late.
    "waiting": ({}, [14, 24, 34, 35, 44, 45, 54], [0, 2]),
    "slot": ({"combining": "slot"}, [14, 24, 34, 35, 44, 45, 54], [0, 2]),
    "entering": ({"combining": "entering"}, list(range(14, 84, 10)), [0, 0]),
    "none": ({"combining": "none"}, list(range(14, 84, 10)), [0, 0]),
    # Stage 1 moves before stage 0, and memory before both: fronts that are left wait, and combine.
    "backward": ({"order": "backward"}, [14, 24, 25, 34, 35, 44, 45], [0, 3]),
    # 2 takes 3, 4, 5 and 6; they are back first, the last first.
    "unlimited": ({"unlimited": True}, [14, 24, 38, 37, 36, 35, 34], [0, 4]),
    "pool of one": ({"wait_buffer": 1}, [14, 24, 34, 35, 44, 54, 64], [0, 1]),
    # 2 takes 3 though the queue is full; 4 and 5 wait in stage 0, where 5 takes 6, and in step 14
    # 4 takes both. The last two want two places in their PE's queue, and wait for 4 to leave it.
    "queues of two": ({"queue": 2}, [14, 24, 34, 35, 44, 46, 47], [1, 2]),
    "slot, queues of two": ({"queue": 2, "combining": "slot"}, list(range(14, 84, 10)), [0, 0]),
}


@pytest.mark.parametrize("case", STREAM)
def test_requests_combine_with_those_that_wait(case):
    network, done, combined = STREAM[case]
    simulated = run({0: [0]}, 7, service_steps=10, **network)
    requests = sorted(simulated.requests, key=lambda request: request.birth)
    assert [request.birth for request in requests] == list(range(-1, 6))
    assert [request.done for request in requests] == done
    assert simulated.combined == combined
    assert simulated.accesses[0] == 7 - sum(combined)
    words = [0, *accumulate(request.operand for request in requests)]
    assert [*(request.value for request in requests), simulated.memory[0][0]] == words


def test_lengths_and_waits_of_the_stream():
    """A reply comes before the one ahead of it leaves, in the same step: two in each queue."""
    simulated = run({0: [0]}, 7, service_steps=10)
    assert np.asarray(simulated.queue_max)[:, 0].tolist() == [1, 2, 4, 2, 2, 2]
    assert simulated.pool_max == [[0] * 4, [2, 0, 0, 0]]
    assert simulated.wait_sums == [0, 28 + 36]  # 3: steps 4 to 31, 5: steps 6 to 41
    assert simulated.arrived == [7, 7]


def test_one_place_is_enough_for_two_replies_to_one_queue():
    """Request 1 takes 2; in step 22 only one of them fits into the queue back."""
    simulated = run({0: [0]}, 4, queue=1, order="backward", service_steps=10)
    requests = simulated.requests
    assert [(request.birth, request.done) for request in requests] == [
        *((-1, 14), (1, 24), (0, 25), (2, 35))
    ]
    operands = {request.birth: request.operand for request in requests}
    before = {birth: sum(operands[b] for b in operands if b < birth) for birth in operands}
    assert {request.birth: request.value for request in requests} == before


@pytest.mark.parametrize(
    ("order", "combined", "steps"),
    # Forward, in step 1 the queue of stage 0 is full and neither of two moves nor combines.
    # Backward it has a place by then: one takes it, and the other combines with its like.
    [("forward", [0, 0], {6: 1, 7: 2, 8: 1}), ("backward", [1, 0], {6: 1, 7: 3})],
)
@pytest.mark.parametrize("seed", range(5))
def test_a_full_queue_stops_two(order, combined, steps, seed):
    simulated = run({0: [0], 2: [1]}, 2, queue=2, order=order, seed=seed)
    assert simulated.combined == combined
    assert simulated.latency_counts == steps


@pytest.mark.parametrize(("order", "last"), [("forward", 8), ("backward", 7)])
def test_a_place_can_be_taken_when_it_has_been_left(order, last):
    simulated = run({0: [0], 2: [0]}, queue=1, order=order, combining="none")
    assert simulated.latency_counts == {6: 1, last: 1}


@pytest.mark.parametrize(
    ("network", "combined", "steps"),
    [
        ({}, 2, {4: 2, 5: 2}),
        ({"combining": "entering"}, 2, {4: 2, 5: 2}),
        ({"combining": "none"}, 0, {4: 1, 5: 1, 6: 1, 7: 1}),
        ({"wait_buffer": 1}, 1, {4: 2, 5: 1, 6: 1}),
        ({"queue": 1}, 2, {4: 2, 6: 2}),
        ({"queue": 1, "order": "backward"}, 2, {4: 2, 5: 2}),
        ({"unlimited": True}, 3, {4: 4}),
        ({"unlimited": True, "queue": 1}, 3, {4: 4}),
        ({"unlimited": True, "wait_buffer": 2}, 2, {4: 3, 5: 1}),
        ({"unlimited": True, "queue": 1, "wait_buffer": 1}, 1, {4: 2, 6: 1, 8: 1}),
    ],
)
def test_four_meet_in_one_switch(network, combined, steps):
    simulated = run({pe: [2] for pe in range(4)}, switch_size=4, **network)
    assert simulated.combined == [combined]
    assert simulated.accesses == [0, 0, 4 - combined, 0]
    assert simulated.latency_counts == steps


def test_memory_takes_its_time():
    simulated = run({0: [0], 2: [0]}, combining="none", service_steps=3)
    assert simulated.latency_counts == {8: 1, 11: 1}


@pytest.mark.parametrize("order", ["forward", "backward"])
def test_who_waits_makes_one_request_at_a_time(order):
    simulated = run({0: [0]}, 13, asked={"wait": True}, order=order)
    assert [request.birth for request in simulated.requests] == [-1, 5, 11]
    assert simulated.discarded_waiting == 10
    assert simulated.discarded_full == 0


def test_a_full_queue_of_a_pe_refuses_requests():
    """One of two stays in its queue in step 0; the other's next one joins it in step 1."""
    simulated = run({0: [0], 2: [0]}, 3, queue=1, combining="none")
    assert (simulated.issued, simulated.discarded_full, simulated.discarded_waiting) == (3, 3, 0)


def test_background_is_another_word_of_a_module_and_never_combines():
    everyone = {pe: [pe // 2] for pe in range(4)}
    simulated = run(everyone, 5, asked={"hot_fraction": 0.0, "wait": True})
    requests = simulated.requests
    assert len(requests) == 20
    assert not any(request.hot for request in requests)
    assert simulated.combined == simulated.memory[0][:2] == [0, 0]
    assert simulated.issued_to == [0] * 4
    for module in range(4):
        of_module = [request for request in requests if request.module == module]
        assert simulated.accesses[module] == len(of_module)
        total = sum(request.operand for request in of_module)
        assert simulated.memory[1][module] == total


@pytest.mark.parametrize("rate", [0.3, 0.01, 0.0])
def test_chances_fire_at_the_gaps_that_are_drawn(rate):
    simulated = run({pe: [0] for pe in range(4)}, 50, asked={"rate": rate})
    if rate:
        drawn = np.log1p(-uniforms(1, GAPS, 0, np.arange(200))) / np.log1p(-rate)
        chances = np.cumsum(1 + np.floor(drawn).astype(np.int64)) - 1
        expected = np.bincount(chances[chances < 200] // 4, minlength=50)
    else:
        expected = np.zeros(50, np.int64)
    assert np.asarray(simulated.per_step)[:50, 0].tolist() == expected.tolist()


def test_hot_spots_come(make):
    asked = traffic(4, {0: [3], 2: [3]}, rate=0.0, new=1.0)
    asked = HotSpotTraffic(asked.hot_spots, np.insert(asked.assigned, 1, -1, axis=1), 0.0, new=1.0)
    simulated = make(CombiningNetwork(4), asked, seed=1)
    simulated.advance(1)
    first = int(uniforms(1, CHANGES, 0, 3)[()] * 3)
    assert listed(simulated.hot_spots) == [3, first]
    assert listed(simulated.assigned) == [[3, first], [first, -1], [3, first], [first, -1]]
    simulated.advance(5)
    assert sorted(listed(simulated.hot_spots)) == [0, 1, 2, 3]
    second = listed(simulated.hot_spots)[2]
    assert listed(simulated.assigned) == [[3, first], [first, second]] * 2


def test_hot_spots_go_but_for_the_last(make):
    asked = traffic(4, {0: [3, 0, 2], 1: [0, 2], 3: [2]}, rate=0.0, remove=1.0)
    simulated = make(CombiningNetwork(4), asked, seed=1)
    simulated.advance(1)
    gone = [0, 2, 3][int(uniforms(1, CHANGES, 0, 1)[()] * 3)]
    left = [[m for m in row if m not in (gone, -1)] for row in asked.assigned.tolist()]
    assert listed(simulated.hot_spots) == [m for m in [0, 2, 3] if m != gone]
    assert listed(simulated.assigned) == [row + [-1] * (3 - len(row)) for row in left]
    simulated.advance(9)
    (last,) = listed(simulated.hot_spots)
    left = [[m for m in row if m == last] for row in left]
    assert listed(simulated.assigned) == [row + [-1] * (3 - len(row)) for row in left]


def test_a_module_with_a_request_in_flight_becomes_no_hot_spot(make):
    """One of two hot spots goes; soon the other does, which is asked for from step 0 on."""
    asked = traffic(4, {0: [0], 1: [1]}, new=1.0, remove=1.0, assign=0.0)
    for seed in range(10):
        simulated = make(CombiningNetwork(4, service_steps=50), asked, seed=seed)
        simulated.advance(1)
        asked_for = int(np.argmax(simulated.issued_to))
        there = []
        for step in range(2, 40):
            simulated.advance(step)
            there.append(asked_for in listed(simulated.hot_spots))
        assert there == sorted(there, reverse=True)
        assert not there[-1]


def test_random_numbers_of_the_twin_are_those_of_the_package():
    draw = np.random.default_rng(5)
    for seed in (0, 1, 2**63 + 7):
        for _ in range(50):
            stream, chain, index = (int(draw.integers(2**bits)) for bits in (4, 50, 40))
            assert bits_at(seed, stream, chain, index) == random_bits(seed, stream, chain, index)


def test_shuffles_of_the_twin():
    assert shuffled([0, 1, 2, 3], 0) == [1, 2, 3, 0]
    assert shuffled([0, 1, 2, 3], 1) == [3, 2, 0, 1]
    orders = Counter(tuple(shuffled(range(4), bits)) for bits in range(24))
    assert sorted(orders) == sorted(permutations(range(4)))
