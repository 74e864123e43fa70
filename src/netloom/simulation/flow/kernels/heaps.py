"""Heaps of what has a time or level: of records that know their places, of events, of flows.

Twin: ``tests/reference/flow.py``.
"""

import numpy as np

from netloom.base.compilation import part
from netloom.simulation.kernels.records import record


@part
def put(heap, size, items, item):
    """Insert an item by its ``key``, or move it after that has changed. Return the new size.

    Of equal keys the lower number comes first.
    """
    here = record(items, item)
    place, key = np.int64(here.place), here.key
    if place < 0:
        place = size
        size += 1
    while place > 0:
        other = heap[np.uint64((place - 1) >> 1)]
        above = record(items, other)
        if above.key < key or (above.key == key and other < item):
            break
        heap[np.uint64(place)] = other
        above.place = place
        place = (place - 1) >> 1
    below = 2 * place + 1
    while below < size:
        other = heap[np.uint64(below)]
        if below + 1 < size:
            right = heap[np.uint64(below + 1)]
            there, beside = record(items, other).key, record(items, right).key
            if beside < there or (beside == there and right < other):
                other = right
                below += 1
        under = record(items, other)
        if key < under.key or (under.key == key and item < other):
            break
        heap[np.uint64(place)] = other
        under.place = place
        place = below
        below = 2 * place + 1
    heap[np.uint64(place)] = item
    here.place = place
    return size


@part
def take(heap, size, items, item):
    """Take an item out of a heap. Return the new size."""
    size -= 1
    gone = record(items, item)
    place = gone.place
    gone.place = -1
    other = heap[np.uint64(size)]
    if other != item:
        record(items, other).place = place
        heap[np.uint64(place)] = other
        put(heap, size, items, other)
    return size


@part
def note(events, size, time, code):
    """Put an event into a heap by time and code. Return the new size."""
    place = size
    while place > 0:
        above = record(events, (place - 1) >> 1)
        if above.time < time or (above.time == time and above.code < code):
            break
        here = record(events, place)
        here.time, here.code = above.time, above.code
        place = (place - 1) >> 1
    here = record(events, place)
    here.time, here.code = time, code
    return size + 1


@part
def drop(events, size):
    """Take the first event out. Return the new size."""
    size -= 1
    last = record(events, size)
    time, code = last.time, last.code
    place, below = np.int64(0), np.int64(1)
    while below < size:
        under = record(events, below)
        if below + 1 < size:
            beside = record(events, below + 1)
            if beside.time < under.time or (beside.time == under.time and beside.code < under.code):
                under = beside
                below += 1
        if time < under.time or (time == under.time and code < under.code):
            break
        here = record(events, place)
        here.time, here.code = under.time, under.code
        place = below
        below = 2 * place + 1
    here = record(events, place)
    here.time, here.code = time, code
    return size


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
