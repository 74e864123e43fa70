"""What rows wait for: one another, processors, and their turn to enter the network.

The rules are those of ``simulation.kernels.agenda``, in continuous time.

Twin: ``tests/reference/flow.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, kernel, part
from netloom.simulation.flow.kernels.heaps import drop, merged, note
from netloom.simulation.flow.kernels.levels import join, mark
from netloom.simulation.kernels.records import record

READY, SEND, MOVE, ARRIVED, COMPLETE = 0, 1, 2, 3, 4
"""The kinds of events: a row's dependences are fulfilled, its message is sent, its bytes begin to
move, they have moved, nothing of it is left to be done."""


@part
def plan(state, time, row, kind):
    """Have something happen to a row at a time."""
    clock = record(state.clock, 0)
    clock.events = note(state.events, clock.events, time, np.int64(row) << 3 | kind)


@inlined
def happen(state, until, now):
    """Handle all events up to a time. Flows that begin do so ``now``."""
    clock = record(state.clock, 0)
    while clock.events > 0 and record(state.events, 0).time <= until:
        event = record(state.events, 0)
        time, row, kind = event.time, event.code >> 3, event.code & 7
        clock.events = drop(state.events, clock.events)
        if kind == READY:
            kind = begin(state, time, row)
        if kind == SEND:
            kind = send(state, time, row)
        if kind == MOVE:
            move(state, now, time, row)
        if kind == ARRIVED:
            kind = arrive(state, time, row)
        if kind == COMPLETE:
            finish(state, time, row)


@inlined
def begin(state, time, row):
    """Let a row that is ready have its processor. Return SEND if it is sent at once, else READY."""
    here = record(state.rows, row)
    here.ready = time
    if here.run == 0 and here.hold == 0 and here.context < 0:
        return SEND
    host = record(state.hosts, here.source)
    free = host.free
    if here.context >= 0:
        if host.context >= 0 and host.context != here.context:
            free += record(state.clock, 0).switch
        host.context = here.context
    at = max(time, free) + here.run
    host.free = at + here.hold
    if at == time:
        return SEND
    plan(state, at, row, SEND)
    return READY


@inlined
def send(state, time, row):
    """Send a row: into its queue, or into the network. Return ARRIVED if it needs none."""
    here = record(state.rows, row)
    here.sent = time
    if here.path < 0:
        return ARRIVED
    if here.queue < 0:
        plan(state, time + here.latency, row, MOVE)
        return SEND
    queue = record(state.queues, here.queue)
    if queue.busy != 0:
        if queue.head < 0:
            queue.head = row
        else:
            record(state.rows, queue.tail).right = row
        queue.tail = row
        return SEND
    queue.busy = 1
    plan(state, time + here.latency, row, MOVE)
    return SEND


@inlined
def move(state, now, time, row):
    """Let the bytes of a row begin to move."""
    here, clock = record(state.rows, row), record(state.clock, 0)
    here.entered = max(time - here.latency, here.sent)
    owner = record(state.classes, here.path)
    serve(owner, now)
    here.goal = owner.served + here.size / here.weight
    here.left, here.right = -1, -1
    owner.flow = merged(state.rows, np.int64(owner.flow), np.int64(row))
    clock.moved += 1
    join(state, here.path, here.weight)
    mark(state, here.path, 2)


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


@inlined
def arrive(state, time, row):
    """Let the processor of its target take a row. Return COMPLETE if it is so at once."""
    here = record(state.rows, row)
    here.arrived = time
    if here.receive == 0:
        return COMPLETE
    host = record(state.hosts, here.target)
    host.free = max(time, host.free) + here.receive
    plan(state, host.free, row, COMPLETE)
    return ARRIVED


@inlined
def finish(state, time, row):
    """A row is complete: those that waited for it alone are ready after their delay."""
    clock, here = record(state.clock, 0), record(state.rows, row)
    here.complete = time
    clock.completed += 1
    if row >= clock.watch:
        clock.seen = 1
    edge = np.int64(here.waiters)
    while edge >= 0:
        waiter = state.edge_row[np.uint64(edge)]
        there = record(state.rows, waiter)
        there.pending -= 1
        if there.pending == 0:
            there.last = row
            plan(state, max(time, there.start) + there.delay, waiter, READY)
        edge = state.edge_next[np.uint64(edge)]


@kernel
def link(state, first, offsets, after, first_edge):
    """Let new rows, from ``first`` on, wait for what is not complete yet of ``after``."""
    clock = record(state.clock, 0)
    edge = first_edge
    for row in range(first, first + len(offsets) - 1):
        here = record(state.rows, row)
        released, last = 0.0, np.int64(-1)
        for place in range(offsets[row - first], offsets[row - first + 1]):
            waited = after[place]
            there = record(state.rows, waited)
            if there.complete < 0:
                here.pending += 1
                state.edge_row[np.uint64(edge)] = row
                state.edge_next[np.uint64(edge)] = there.waiters
                there.waiters = edge
                edge += 1
            elif there.complete > released or (there.complete == released and waited > last):
                released, last = there.complete, waited
        if here.pending == 0:
            here.last = last
            plan(state, max(max(released, here.start) + here.delay, clock.time), row, READY)
    return edge
