"""What messages wait for: their dependencies and the processors of their nodes.

Whatever happens to a row at a known time is an event in one agenda, a heap by time and by row. An
event that is planned before all others often happens next: it stands apart until then. An engine
takes from the agenda what is due, gives what is sent to its network, and puts in when messages
arrive. Times are cycles or seconds: what type they are of is for the arrays to say.

Twin: ``tests/reference/agenda.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import inlined, kernel, njit, part
from netloom.base.kernels.heap import is_first, pop, push
from netloom.simulation.kernels.records import record, unsigned

# -- the agenda of a program -----------------------------------------------------------------------

READY, SEND, ARRIVED, COMPLETE, MOVE = np.arange(5)
"""The kinds of events: a row's dependences are fulfilled, its message leaves, its tail is there,
nothing of it is left to be done. Flows have one more: its bytes begin to move. They are of one
type: Numba would compile ``plan`` for each literal."""


@inlined
def clock_of(agenda):
    """The clock of an agenda, which is one record."""
    return record(agenda.clock, 0)


@part
def plan(agenda, time, row, kind):
    """Have something happen to a row at a time. What is beyond the latest never comes."""
    clock, first = clock_of(agenda), record(agenda.events, 0)
    time, item = min(time, clock.latest), np.int64(row) << 3 | kind
    if clock.apart == 0:
        if clock.events == 0 or is_first(time, item, first.key, first.item):
            clock.apart, clock.soon, clock.what = 1, time, item
            clock.events += 1
            return
    elif is_first(time, item, clock.soon, clock.what):
        time, clock.soon = clock.soon, time
        item, clock.what = clock.what, item
    clock.events = push(agenda.events, clock.events - clock.apart, time, item) + clock.apart


@inlined
def first_time(agenda):
    """Return the time of the first event of an agenda that has one."""
    clock = clock_of(agenda)
    return clock.soon if clock.apart != 0 else record(agenda.events, 0).key


@inlined
def is_due(agenda, until):
    """Whether something is to happen up to a time."""
    return clock_of(agenda).events > 0 and first_time(agenda) <= until


@inlined
def happen(agenda):
    """Handle the first event of an agenda that has one. Return its time, its row and what it was.

    That is SEND if its message is to enter the network, COMPLETE if it is, and MOVE. All else is
    done with.
    """
    clock, event = clock_of(agenda), record(agenda.events, 0)
    time, item = event.key, np.int64(event.item)
    if clock.apart != 0:
        time, item = clock.soon, clock.what
        clock.events, clock.apart = clock.events - 1, 0
    else:
        clock.events = pop(agenda.events, clock.events)
    row, kind = item >> 3, item & 7
    if kind == READY:
        kind = begin(agenda, time, row)
    if kind == SEND:
        here = record(agenda.rows, row)
        here.sent = time
        if here.path < 0:
            kind = ARRIVED
    if kind == ARRIVED:
        kind = arrive(agenda, time, row)
    if kind == COMPLETE:  # those that waited for it alone are ready after their delay
        here = record(agenda.rows, row)
        here.complete = time
        clock.completed += 1
        edge = here.waiters
        while edge >= 0:
            waiter = np.int64(agenda.edge_row[unsigned(edge)])
            there = record(agenda.rows, waiter)
            there.pending -= 1
            if there.pending == 0:
                there.last = row
                plan(agenda, max(time, there.start) + there.delay, waiter, READY)
            edge = agenda.edge_next[unsigned(edge)]
    return time, row, kind


@inlined
def due(agenda, cycle):
    """Handle all events of a cycle. Return how many rows are sent, noted in ``agenda.sent``."""
    sent = 0
    while is_due(agenda, cycle):
        _, row, kind = happen(agenda)
        if kind == SEND:
            agenda.sent[unsigned(sent)] = row
            sent += 1
    return sent


@inlined
def begin(agenda, time, row):
    """Let a row that is ready have its processor. Return SEND if it is sent at once, else READY.

    A processor that is to go on with another context has begun to switch when it was free.
    """
    here = record(agenda.rows, row)
    here.ready = time
    if here.run == 0 and here.hold == 0 and here.context < 0:
        return SEND
    host = record(agenda.hosts, here.source)
    free = host.free
    if here.context >= 0:
        if host.context >= 0 and host.context != here.context:
            free += clock_of(agenda).switch
        host.context = here.context
    at = max(time, free) + here.run
    host.free = at + here.hold
    if at == time:
        return SEND
    plan(agenda, at, row, SEND)
    return READY


@inlined
def arrive(agenda, time, row):
    """Let the processor of its target take a row. Return COMPLETE if it is so at once."""
    here = record(agenda.rows, row)
    here.arrived = time
    if here.receive == 0:
        return COMPLETE
    host = record(agenda.hosts, here.target)
    host.free = max(time, host.free) + here.receive
    plan(agenda, host.free, row, COMPLETE)
    return ARRIVED


@kernel
def link(agenda, first, offsets, after, first_edge):
    """Let new rows, from ``first`` on, wait for what is not complete yet of ``after``."""
    clock, edge = clock_of(agenda), first_edge
    for row in range(first, first + len(offsets) - 1):
        here = record(agenda.rows, row)
        released, last = here.complete, np.int64(-1)
        for place in range(offsets[row - first], offsets[row - first + 1]):
            waited = after[place]
            there = record(agenda.rows, waited)
            if there.complete < 0:
                here.pending += 1
                agenda.edge_row[unsigned(edge)] = row
                agenda.edge_next[unsigned(edge)] = there.waiters
                there.waiters = edge
                edge += 1
            elif there.complete > released or (there.complete == released and waited > last):
                released, last = there.complete, waited
        if here.pending == 0:
            here.last = last
            at = max(released, here.start) + here.delay
            plan(agenda, max(at, clock.time), row, READY)
    return edge


# -- the longest path through rows -----------------------------------------------------------------


@njit
def earliest_ends(start, cycles, after_offsets, after):
    """When each row could end at best: all it waits for, but not before its start, and its cycles.

    ``start``, ``cycles``: int64[n], or float64[n] in any unit. Rows wait for earlier ones only, so
    one pass in their order is enough.
    """
    ends = np.empty_like(cycles)
    for row in range(len(start)):
        begin = start[row]
        for slot in range(after_offsets[row], after_offsets[row + 1]):
            begin = max(begin, ends[after[slot]])
        ends[row] = begin + cycles[row]
    return ends
