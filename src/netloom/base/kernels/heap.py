"""Heaps in arrays, where the least key comes first, and of equal keys the lower item.

There are two. One is an array of entries, records of a ``key`` and an ``item``, from which only the
first is taken. In the other, items are records themselves that have a ``key`` and know their
``place`` in the heap (-1: they are not there). Their keys may change, and any may be taken.
Whole keys of entries, and their items, are below 2^31.

Judged by ``tests/base/test_heap.py``, which sorts.
"""

import numpy as np
from numba import types

from netloom.base.compilation import overloaded, part


def is_first(key, item, other_key, other_item):
    """Whether an entry comes before another."""


@overloaded(is_first)
def _is_first(key, item, other_key, other_item):  # noqa: ARG001
    """Ask once where keys and items are int32, for they are often equal: nobody foresees when."""

    def by_floats(key, item, other_key, other_item):
        return item < other_item if key == other_key else key < other_key

    def by_integers(key, item, other_key, other_item):
        return (np.int64(key) << 32 | item) < (np.int64(other_key) << 32 | other_item)

    return by_floats if isinstance(key, types.Float) else by_integers


@part
def push(heap, size, key, item):
    """Put an entry into a heap. Return the new size."""
    place = size
    while place > 0:
        above = heap[np.uint64((place - 1) >> 1)]
        if is_first(above.key, above.item, key, item):
            break
        here = heap[np.uint64(place)]
        here.key, here.item = above.key, above.item
        place = (place - 1) >> 1
    here = heap[np.uint64(place)]
    here.key, here.item = key, item
    return size + 1


@part
def pop(heap, size):
    """Take the first entry out. Return the new size."""
    size -= 1
    last = heap[np.uint64(size)]
    key, item = last.key, last.item
    place, below = np.int64(0), np.int64(1)
    while below < size:
        if below + 1 < size:
            one, other = heap[np.uint64(below)], heap[np.uint64(below + 1)]
            below += is_first(other.key, other.item, one.key, one.item)
        under = heap[np.uint64(below)]
        if is_first(key, item, under.key, under.item):
            break
        here = heap[np.uint64(place)]
        here.key, here.item = under.key, under.item
        place = below
        below = 2 * place + 1
    here = heap[np.uint64(place)]
    here.key, here.item = key, item
    return size


@part
def put(heap, size, items, item):
    """Insert an item by its key, or move it after that has changed. Return the new size."""
    here = items[np.uint64(item)]
    place, key = np.int64(here.place), here.key
    if place < 0:
        place = size
        size += 1
    while place > 0:
        other = heap[np.uint64((place - 1) >> 1)]
        above = items[np.uint64(other)]
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
            there, beside = items[np.uint64(other)].key, items[np.uint64(right)].key
            if beside < there or (beside == there and right < other):
                other = right
                below += 1
        under = items[np.uint64(other)]
        if key < under.key or (key == under.key and item < other):
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
    """Take an item out. Return the new size."""
    size -= 1
    gone = items[np.uint64(item)]
    place = gone.place
    gone.place = -1
    other = heap[np.uint64(size)]
    if other != item:
        items[np.uint64(other)].place = place
        heap[np.uint64(place)] = other
        put(heap, size, items, other)
    return size
