"""What messages wait for: their dependences and the processors of their nodes.

Whatever happens to a row at a known cycle is an event in one agenda, a heap of int64 keys that are
ordered by cycle, row and kind. An engine takes from it what is due at the beginning of each cycle,
gives what is sent to the network, and puts in when the tails of messages arrive.

Twin: ``tests/reference/agenda.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, kernel
from netloom.simulation.kernels.records import record, unsigned

READY, SEND, ARRIVED, COMPLETE = 0, 1, 2, 3
"""The kinds of events: a row's dependences are fulfilled, its message leaves, its tail is there,
nothing of it is left to be done."""

ONE = np.int64(1)

LAST_CYCLE = 2**31 - 1
"""No run comes to this cycle: a cycle and a row share an int64."""


@kernel
def push(heap, size, key):
    """Put a key into a heap of ``size`` keys. Return the new size."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if heap[unsigned(above)] <= key:
            break
        heap[unsigned(place)] = heap[unsigned(above)]
        place = above
    heap[unsigned(place)] = key
    return size + 1


@kernel
def pop(heap, size):
    """Take the least key, the first, out of a heap of ``size`` keys. Return the new size."""
    size -= 1
    key = heap[unsigned(size)]
    place, below = 0, 1
    while below < size:
        if below + 1 < size and heap[unsigned(below + 1)] < heap[unsigned(below)]:
            below += 1
        if heap[unsigned(below)] >= key:
            break
        heap[unsigned(place)] = heap[unsigned(below)]
        place = below
        below = 2 * place + 1
    heap[unsigned(place)] = key
    return size


@inlined
def note(agenda, cycle, row, kind):
    """Put an event into the agenda. One beyond the last cycle never comes."""
    clock = record(agenda.clock, 0)
    key = np.int64(min(cycle, LAST_CYCLE)) << 32 | np.int64(row) << 2 | kind
    clock.events = push(agenda.heap, clock.events, key)


@inlined
def next_cycle(agenda):
    """Return the cycle of the first event of an agenda that has one."""
    return agenda.heap[0] >> 32


@inlined
def due(agenda, cycle):
    """Handle all events of a cycle. Return how many rows are sent, noted in ``agenda.sent``."""
    clock = record(agenda.clock, 0)
    sent = 0
    while clock.events > 0 and agenda.heap[0] >> 32 == cycle:
        key = agenda.heap[0]
        clock.events = pop(agenda.heap, clock.events)
        row, kind = key >> 2 & ((ONE << 30) - 1), key & 3
        if kind == READY:
            kind = begin(agenda, cycle, row)
        if kind == SEND:
            here = record(agenda.rows, row)
            here.sent = cycle
            if here.flits == 0 or here.source == here.target:
                kind = ARRIVED
            else:
                agenda.sent[unsigned(sent)] = row
                sent += 1
        if kind == ARRIVED:
            kind = arrive(agenda, cycle, row)
        if kind == COMPLETE:
            finish(agenda, cycle, row)
    return sent


@inlined
def begin(agenda, cycle, row):
    """Let a row that is ready have its processor. Return SEND if it is sent at once, else READY.

    A processor that is to go on with another context has begun to switch when it was free.
    """
    here = record(agenda.rows, row)
    here.ready = cycle
    if here.run == 0 and here.hold == 0 and here.context < 0:
        return SEND
    node = record(agenda.nodes, here.source)
    free = node.free
    if here.context >= 0:
        if node.context >= 0 and node.context != here.context:
            free += record(agenda.clock, 0).switch_cycles
        node.context = here.context
    at = max(cycle, free) + here.run
    node.free = at + here.hold
    if at == cycle:
        return SEND
    note(agenda, at, row, SEND)
    return READY


@inlined
def arrive(agenda, cycle, row):
    """Let the processor of its target take a row. Return COMPLETE if it is so at once."""
    here = record(agenda.rows, row)
    here.arrived = cycle
    if here.receive == 0:
        return COMPLETE
    node = record(agenda.nodes, here.target)
    node.free = max(cycle, node.free) + here.receive
    note(agenda, node.free, row, COMPLETE)
    return ARRIVED


@inlined
def finish(agenda, cycle, row):
    """A row is complete: those that waited for it alone are ready after their delay."""
    clock, here = record(agenda.clock, 0), record(agenda.rows, row)
    here.complete = cycle
    clock.completed += 1
    edge = here.waiters
    while edge >= 0:
        waiter = agenda.edge_row[unsigned(edge)]
        there = record(agenda.rows, waiter)
        there.pending -= 1
        if there.pending == 0:
            there.last = row
            note(agenda, max(cycle, there.start) + there.delay, waiter, READY)
        edge = agenda.edge_next[unsigned(edge)]


@kernel
def link(agenda, first, offsets, after, first_edge):
    """Let new rows, from ``first`` on, wait for what is not complete yet of ``after``."""
    clock = record(agenda.clock, 0)
    edge = first_edge
    for row in range(first, first + len(offsets) - 1):
        here = record(agenda.rows, row)
        released, last = np.int64(0), np.int64(-1)
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
                released = there.complete
                last = waited
        if here.pending == 0:
            here.last = last
            at = max(released, here.start) + here.delay
            note(agenda, max(at, clock.cycle), row, READY)
    return edge
