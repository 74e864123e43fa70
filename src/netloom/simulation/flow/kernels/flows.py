"""The loop of the flow engine, from one time at which flows begin or end to the next.

Rows become flows: they take their turn to enter the network, and join the flows of a class. Rounds
of messages that never share a link need no engine: each takes the time that it takes alone.

Twin: ``tests/reference/flow.py``. That of rounds: ``tests/reference/rounds.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import inlined, kernel, part
from netloom.base.held import held
from netloom.base.kernels.heap import put, take
from netloom.simulation.flow.kernels.levels import block, fill, join, mark, refresh, settle, weigh
from netloom.simulation.kernels.agenda import ARRIVED, MOVE, SEND, first_time, happen, is_due, plan
from netloom.simulation.kernels.records import record

# -- rows that become flows ------------------------------------------------------------------------


@inlined
def begin_flows(state, until, now):
    """Handle all events up to a time. Flows that begin do so ``now``."""
    while is_due(state, until):
        time, row, kind = happen(state)
        if kind == SEND:
            wait(state, time, row)
        elif kind == MOVE:
            move(state, now, time, row)


@inlined
def wait(state, time, row):
    """Let a row that is sent wait for those before it in its queue, and for its latency."""
    here = record(state.rows, row)
    if here.queue >= 0:
        queue = record(state.queues, here.queue)
        if queue.busy != 0:
            if queue.head < 0:
                queue.head = row
            else:
                record(state.rows, queue.tail).right = row
            queue.tail = row
            return
        queue.busy = 1
    plan(state, time + here.latency, row, MOVE)


@inlined
def move(state, now, time, row):
    """Let the bytes of a row begin to move."""
    here, clock = record(state.rows, row), record(state.clock, 0)
    here.entered = max(time - here.latency, here.sent)
    owner = record(state.classes, here.path)
    serve(owner, now)
    here.goal = owner.served + here.flits / here.weight
    here.left, here.right = -1, -1
    owner.flow = merged(state.rows, np.int64(owner.flow), row)
    clock.moved += 1
    join(state, here.path, here.weight)
    mark(state, here.path, 2)


@part
def merged(rows, one, other):
    """Join two skew heaps of rows by ``goal``, either perhaps empty (-1). Return the first row."""
    first, parent = -1, -1
    while one >= 0 and other >= 0:
        left, right = record(rows, one).goal, record(rows, other).goal
        if right < left or (right == left and other < one):
            one, other = other, one
        if parent < 0:
            first = one
        else:
            record(rows, parent).left = one
        parent = one
        here = record(rows, one)
        one = np.int64(here.right)
        here.right = here.left
    rest = one if one >= 0 else other
    if parent < 0:
        return rest
    record(rows, parent).left = rest
    return first


@part
def serve(owner, now):
    """Bring what a class has served up to a time."""
    if owner.weight > 0:
        owner.served += owner.speed * (now - owner.since)
    else:
        owner.served = 0.0
    owner.since = now


@inlined
def end_flows(state, number, now):
    """End the flows of a class whose bytes have moved first. Those of one goal end together."""
    owner, clock = record(state.classes, number), record(state.clock, 0)
    time = owner.key
    goal = record(state.rows, owner.flow).goal
    if time == now:
        owner.served, owner.since = goal, now
    else:  # a little later, which counts as now
        serve(owner, now)
    while owner.flow >= 0 and record(state.rows, owner.flow).goal == goal:
        row = np.int64(owner.flow)
        here = record(state.rows, row)
        owner.flow = merged(state.rows, np.int64(here.left), np.int64(here.right))
        clock.moved += 1
        join(state, number, -here.weight)
        mark(state, number, 2)
        plan(state, time, row, ARRIVED)
        here.right = -1
        if here.queue >= 0:
            next_of(state, here.queue, time)


@part
def next_of(state, number, time):
    """Let the next row of a queue enter the network."""
    queue = record(state.queues, number)
    row = np.int64(queue.head)
    if row < 0:
        queue.busy = 0
    else:
        here = record(state.rows, row)
        queue.head = here.right
        plan(state, max(time, here.sent + here.latency), row, MOVE)


# -- from one time to the next ---------------------------------------------------------------------

FEW, EACH = 64, 8
"""Flows that begin or end at once are few up to so many, so many classes may be seen for each."""

MOST_PATIENCE = 1024

ROUNDING = 2.0**-40


@inlined
def next_end(state):
    """When the next class ends. Infinite if none does."""
    if record(state.clock, 0).active == 0:
        return np.inf
    return record(state.classes, state.ends[0]).key


@kernel
def advance(arrays, until, batches):
    """Run up to a time, or through so many times at which flows begin or end. Return how many."""
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
            number = state.ends[0]
            clock.active = take(state.ends, clock.active, state.classes, number)
            end_flows(state, number, time)
        begin_flows(state, latest, time)
        if clock.moved > 0:
            clock.batches += 1
            share(state)
        update(state, time)
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
    active = clock.active
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
            if here.place >= 0:
                clock.active = take(state.ends, clock.active, state.classes, number)
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
        clock.active = put(state.ends, clock.active, state.classes, number)
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


# -- rounds that never share a link ----------------------------------------------------------------


@kernel
def follow(ready, later, kept, hosts, source, target, cost, rounding, ended, elapsed):
    """Run rounds until all are over or they repeat. Return how many, and the period (0: none).

    ``ready``: when each host is, from the earliest of ``hosts``, which take part, on. That is set
    back after each round. ``later``, ``kept``: room for as much. ``ended``: of each round, from the
    first time on. ``elapsed``: the time that passed, and that of the period.
    """
    power, length = 1, 0
    for host in hosts:
        kept[np.uint64(host)] = ready[np.uint64(host)]
    for number in range(len(ended)):
        last = -np.inf
        for host in hosts:
            later[np.uint64(host)] = ready[np.uint64(host)]
        for row in range(len(source)):
            end = ready[np.uint64(source[row])] + cost[row]
            last = max(last, end)
            later[np.uint64(source[row])] = max(later[np.uint64(source[row])], end)
            later[np.uint64(target[row])] = max(later[np.uint64(target[row])], end)
        ended[number] = elapsed[0] + last
        back = np.inf
        for host in hosts:
            back = min(back, later[np.uint64(host)])
        for host in hosts:
            ready[np.uint64(host)] = later[np.uint64(host)] - back
        elapsed[0] += back
        elapsed[1] += back
        length += 1
        alike = True
        for host in hosts:
            away = abs(ready[np.uint64(host)] - kept[np.uint64(host)])
            if away > rounding * elapsed[1]:
                alike = False
                break
        if alike:
            return number + 1, length
        if length == power:
            for host in hosts:
                kept[np.uint64(host)] = ready[np.uint64(host)]
            power, length = 2 * power, 0
            elapsed[1] = 0.0
    return len(ended), 0


# -- passes over ways ------------------------------------------------------------------------------


@kernel
def repeats(offsets, links):
    """Return whether a link is twice on one way."""
    for way in range(len(offsets) - 1):
        for place in range(offsets[way], offsets[way + 1]):
            for other in range(offsets[way], place):
                if links[np.uint64(place)] == links[np.uint64(other)]:
                    return True
    return False


@kernel
def add_latencies(offsets, links, latency, found):
    """Add up the latencies of the links of each way, in their order."""
    for way in range(len(offsets) - 1):
        for place in range(offsets[way], offsets[way + 1]):
            found[way] += latency[np.uint64(links[np.uint64(place)])]


@kernel
def add_sizes(state, first, last, whole, crossed):
    """Add what rows that have arrived moved over each link."""
    for row in range(first, last):
        here = record(state.rows, row)
        if here.arrived >= 0.0 and here.path >= 0:
            owner = record(state.classes, here.path)
            for hop in range(owner.first, owner.first + owner.hops):
                share = state.hop_share[np.uint64(hop)] / whole
                crossed[np.uint64(state.hop_link[np.uint64(hop)])] += here.flits * share


@kernel
def move_lists(state, entries, first):
    """Move the lists of links to other places."""
    for number in range(len(state.links)):
        link = record(state.links, number)
        for place in range(link.count):
            here = record(entries, first[np.uint64(number)] + place)
            there = record(state.entries, link.first + place)
            here.others, here.weight = there.others, there.weight
            here.owner, here.hop = there.owner, there.hop
        link.first = first[np.uint64(number)]
