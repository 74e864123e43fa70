"""The loop of the flow engine: from one time at which flows begin or end to the next.

Twin: ``tests/reference/flow.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, kernel, part
from netloom.base.held import held
from netloom.base.kernels.heap import take
from netloom.simulation.flow.kernels.ends import expect, forget, next_end
from netloom.simulation.flow.kernels.levels import block, fill, refresh, settle, weigh
from netloom.simulation.flow.kernels.rows import begin_flows, end_flows
from netloom.simulation.kernels.agenda import first_time
from netloom.simulation.kernels.records import record

FEW, EACH = 64, 8
"""Flows that begin or end at once are few up to so many, so many classes may be seen for each."""

MOST_PATIENCE = 1024

ROUNDING = 2.0**-40


@kernel
def advance(arrays, until, batches):
    """Run up to a time, or through so many times at which flows begin or end. Return how many.

    If a row that is watched for is complete, that counts as all of them.
    """
    state = held(arrays)
    clock = record(state.clock, 0)
    for batch in range(batches):
        time = next_end(state)
        if clock.events > 0:
            time = min(time, first_time(state))
        if time > until or time == np.inf:
            return batch
        clock.time = time
        clock.moved = 0
        if clock.stale != 0 and clock.left == 0:
            refresh(state)
        latest = time + time * clock.tolerance
        while next_end(state) <= latest:
            number = state.near[0]
            forget(state, number)
            end_flows(state, number, time)
        begin_flows(state, latest, time)
        if clock.moved > 0:
            clock.batches += 1
            share(state)
        update(state, time)
        if clock.seen != 0:
            return batches
    return batches


@inlined
def share(state):
    """Find the levels of all classes: anew where they change, or from scratch where most do."""
    clock, links = record(state.clock, 0), len(state.links)
    if clock.lossless != 0:
        block(state)
        return
    if clock.weighed != 0:
        weigh(state)
        return
    active = clock.near + clock.far
    filling = active + active // 4 + 3 * min(active, links) + links // 8  # as long as to look at
    if clock.moved > FEW and 2 * clock.moved > active:  # most of them change in any case
        clock.left = max(clock.left, 1)
    elif clock.left == 0:
        filling += EACH * clock.moved
        before = clock.work
        done = settle(state, 2 * filling)
        if clock.work - before <= filling:
            clock.patience = max(clock.patience // 2, 1)
        else:
            clock.patience = min(clock.patience * 2, MOST_PATIENCE)
            clock.left = clock.patience
        if done:
            return
    while clock.waiting > 0:
        clock.waiting = take(state.agenda, clock.waiting, state.links, state.agenda[0])
    clock.left -= 1
    fill(state)


@inlined
def update(state, now):
    """Let the classes whose level changed end at another time."""
    clock = record(state.clock, 0)
    for place in range(clock.marked):
        number = state.changed[np.uint64(place)]
        here = record(state.classes, number)
        how = here.changed
        here.changed = 0
        if clock.noting != 0:
            note_holder(state, number, now)
        if here.weight == 0:
            here.rate, here.speed = 0, 0.0
            if here.place != -1:
                forget(state, number)
            continue
        same = here.next == here.speed if clock.weighed != 0 else here.one == here.rate
        if same and how < 2:
            continue
        if here.since != now:
            here.served += here.speed * (now - here.since)
            here.since = now
        here.rate = here.one
        here.speed = here.next if clock.weighed != 0 else here.rate * clock.step
        left = record(state.rows, here.flow).goal - here.served
        here.key = now + max(left, 0.0) / here.speed
        expect(state, number)
    clock.marked = 0


@part
def note_holder(state, number, now):
    """Note for how long a link has held a class back, and which does so from now on.

    The first of its links at its level does, if its flows, which have one weight, could be faster
    alone. Where links share by turns it is the last that allows no more.
    """
    here, held = record(state.classes, number), record(state.holders, number)
    if held.hop >= 0:
        state.hop_held[np.uint64(held.hop)] += held.weight * (now - held.since)
    held.since, held.weight, held.hop = now, here.weight, -1
    if here.weight == 0:
        return
    clock, weight = record(state.clock, 0), record(state.rows, here.flow).weight
    if clock.weighed != 0:
        free = here.next * weight >= here.most * clock.step * (1 - ROUNDING)
    else:
        free = here.one >= here.most // weight
    if free:
        return
    if clock.lossless != 0:
        held.hop = record(state.tries, number).hop
    else:
        for hop in range(here.first, here.first + here.hops):
            if record(state.links, state.hop_link[np.uint64(hop)]).level == here.one:
                held.hop = hop
                break
