"""A combining network, step by step: requests are made, and all packets move by a stage at most.

Twin: ``tests/reference/combining.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, kernel
from netloom.simulation.kernels.records import lowest, record, unsigned
from netloom.workload.kernels.counter_random import bits_at, chain_key, uniform_at
from netloom_papers.combining.kernels.queue import append, composed, take
from netloom_papers.combining.kernels.switch import pass_replies, pass_requests
from netloom_papers.combining.layout import (
    CHOICES,
    DONE,
    FULL,
    GAPS,
    HOT,
    LOST,
    MODULES,
    OPERANDS,
    REPLY_ORDER,
    REQUEST_ORDER,
    STUCK,
)

NEVER = 2**62


@inlined
def gap(setup, key, number):
    """Return how many chances pass before one fires."""
    if setup.log_quiet == 0.0:
        return NEVER
    passed = np.log1p(-uniform_at(key, number)) / setup.log_quiet
    return np.int64(min(passed, float(NEVER)))


@inlined
def word_asked(setup, state, pe, number):
    """Return the word that a request is for and its place among the element's; -1, -1: none."""
    hot = uniform_at(chain_key(state.stream_keys[HOT], 0), number) < setup.hot_fraction
    if not hot:
        bits = bits_at(chain_key(state.stream_keys[MODULES], 0), number)
        return setup.lines + np.int64(bits & np.uint64(setup.lines - 1)), -1
    many = state.num_assigned[unsigned(pe)]
    if many == 0:
        return -1, -1
    chosen = uniform_at(chain_key(state.stream_keys[CHOICES], 0), number)
    place = pe * setup.places + np.int64(chosen * many)
    return np.int64(state.assigned[unsigned(place)]), place


@inlined
def issue(setup, state, step, pe, number):
    """Make a request, unless there is no hot spot, or no room, or one to wait for."""
    counts = record(state.counts, 0)
    cell, place = word_asked(setup, state, pe, number)
    if cell < 0:
        return
    if setup.wait and place >= 0 and state.outstanding[unsigned(place)]:
        counts.waiting += 1
        return
    if record(state.queues, pe).length >= setup.queue:
        counts.full += 1
        return
    index = counts.free_packet
    packet = record(state.packets, index)
    counts.free_packet = packet.next
    counts.free_packets -= 1
    counts.issued += 1
    operand = np.int64(bits_at(chain_key(state.stream_keys[OPERANDS], 0), number) >> np.uint64(48))
    packet.partner = -1
    packet.cell = cell
    packet.origin = pe
    packet.birth = step - 1
    packet.value = operand
    if place >= 0:
        state.outstanding[unsigned(place)] = 1
        state.issued_to[unsigned(cell)] += 1
    if setup.keep:
        state.operands[unsigned(index)] = operand
    append(setup, state, 0, pe, np.int32(index), step - 1)


@inlined
def make_requests(setup, state, step):
    """Make the requests of a step."""
    counts = record(state.counts, 0)
    key = chain_key(state.stream_keys[GAPS], 0)
    while counts.next_chance < (step + 1) * setup.lines:
        issue(setup, state, step, counts.next_chance - step * setup.lines, counts.fired)
        counts.fired += 1
        counts.next_chance += 1 + gap(setup, key, counts.fired)


@inlined
def serve(setup, state, step, line):
    """Let a memory module do what the request at the head of its line asks, if it is free."""
    level = setup.stages
    if state.busy_until[unsigned(line)] > step:
        return
    if record(state.queues, (level + 1) * setup.lines + line).length >= setup.queue:
        return
    index = record(state.queues, level * setup.lines + line).head
    packet = record(state.packets, index)
    fetched = state.memory[unsigned(packet.cell)]
    state.memory[unsigned(packet.cell)] = composed(setup.operation, fetched, packet.value)
    packet.value = fetched
    state.accesses[unsigned(line)] += 1
    state.busy_until[unsigned(line)] = step + setup.service_steps
    take(setup, state, level, line)
    append(setup, state, level + 1, line, index, step + setup.service_steps - 1)


@inlined
def deliver(setup, state, step, pe):
    """Give a reply to its processing element."""
    counts = record(state.counts, 0)
    level = 2 * setup.stages + 1
    index = record(state.queues, level * setup.lines + pe).head
    packet = record(state.packets, index)
    take(setup, state, level, pe)
    steps = step - packet.birth
    counts.completed += 1
    state.latency_counts[unsigned(steps)] += 1
    state.per_step[unsigned(3 * step + 1)] += 1
    state.per_step[unsigned(3 * step + 2)] += steps
    hot = packet.cell < setup.lines
    if hot:
        state.answered_to[unsigned(packet.cell)] += 1
        if setup.wait:
            for place in range(pe * setup.places, (pe + 1) * setup.places):
                if state.assigned[unsigned(place)] == packet.cell:
                    state.outstanding[unsigned(place)] = 0
    if setup.keep:
        entry = record(state.log, counts.logged)
        counts.logged += 1
        entry.pe = pe
        entry.module = packet.cell & (setup.lines - 1)
        entry.hot = hot
        entry.operand = state.operands[unsigned(index)]
        entry.birth = packet.birth
        entry.done = step
        entry.returned = packet.value
    packet.next = counts.free_packet
    counts.free_packet = index
    counts.free_packets += 1


@inlined
def move_group(setup, state, step, level, group, mask, keys):
    """Move the packets of one switch, or of as many lines that no switch follows."""
    stages = setup.stages
    if level < stages:
        pass_requests(setup, state, step, keys[0], level, group, mask)
    elif stages < level <= 2 * stages:
        pass_replies(setup, state, step, keys[1], 2 * stages - level, group, mask)
    else:
        while mask:
            line = group << setup.radix_bits | lowest(mask)
            mask &= mask - 1
            head = record(state.queues, level * setup.lines + line).head
            if record(state.packets, head).moved < step:
                if level == stages:
                    serve(setup, state, step, line)
                else:
                    deliver(setup, state, step, line)


@inlined
def move(setup, state, step, level, keys):
    """Move the packets of a level that can."""
    for word in range(setup.words):
        switches = state.group_words[unsigned(level * setup.words + word)]
        while switches:
            byte = lowest(switches) >> 3
            mask = np.int64(switches >> np.uint64(8 * byte) & np.uint64(255))
            switches &= ~(np.uint64(255) << np.uint64(8 * byte))
            move_group(setup, state, step, level, 8 * word + byte, mask, keys)


@inlined
def in_flight(setup, state):
    """Return how many packets there are, counted where they are."""
    found = 0
    for level in range(2 * setup.stages + 2):
        population = state.entered[level] - state.left[level]
        found += population
        state.population_sums[level] += population
    for stage in range(setup.stages):
        found += state.waits[stage]
        state.wait_sums[stage] += state.waits[stage]
    return found


@kernel
def run(setup, state, until, generate):
    """Run to the step ``until``, or to where there is no room for all packets of one more.

    Without ``generate``, no requests are made, and it ends where none is left.
    """
    counts = record(state.counts, 0)
    levels = 2 * setup.stages + 2
    if counts.fired == 0 and counts.next_chance < 0:
        counts.next_chance = gap(setup, chain_key(state.stream_keys[GAPS], 0), 0)
    while counts.step < until and (generate or counts.issued > counts.completed):
        if generate and counts.free_packets < setup.lines:
            return FULL
        if setup.keep and len(state.log) - counts.logged < setup.lines:
            return FULL
        step = counts.step
        before = counts.issued
        if generate:
            make_requests(setup, state, step)
        state.per_step[unsigned(3 * step)] = counts.issued - before
        request_key = chain_key(state.stream_keys[REQUEST_ORDER], step)
        reply_key = chain_key(state.stream_keys[REPLY_ORDER], step)
        for turn in range(levels):
            level = turn if setup.forward else levels - 1 - turn
            if state.entered[unsigned(level)] > state.left[unsigned(level)]:
                move(setup, state, step, level, (request_key, reply_key))
        counts.step += 1
        if in_flight(setup, state) != counts.issued - counts.completed:
            return LOST
        moved = state.left.sum()
        counts.still = counts.still + 1 if moved == counts.moved else 0
        counts.moved = moved
        if counts.still > setup.service_steps + 1 and counts.issued > counts.completed:
            return STUCK
    return DONE
