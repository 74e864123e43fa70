"""How rows become flows: their turn to enter the network, and the flows of a class.

Twin: ``tests/reference/flow.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, part
from netloom.simulation.flow.kernels.levels import join, mark
from netloom.simulation.kernels.agenda import ARRIVED, COMPLETE, MOVE, SEND, happen, is_due, plan
from netloom.simulation.kernels.records import record


@inlined
def begin_flows(state, until, now):
    """Handle all events up to a time. Flows that begin do so ``now``."""
    clock = record(state.clock, 0)
    while is_due(state, until):
        time, row, kind = happen(state)
        if kind == SEND:
            wait(state, time, row)
        elif kind == MOVE:
            move(state, now, time, row)
        elif kind == COMPLETE and row >= clock.watch:
            clock.seen = 1


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
    here.goal = owner.served + here.size / here.weight
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
