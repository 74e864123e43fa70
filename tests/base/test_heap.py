"""Heaps of kernels, which give back what went in in its order."""

from heapq import heapify, heappop, heappush

import numpy as np
import pytest

from netloom.base.compilation import njit
from netloom.base.kernels.heap import pop, push, put, take

FEW = 200


@njit()
def pushed(heap, size, key, item):
    return push(heap, size, key, item)


@njit()
def popped(heap, size):
    return pop(heap, size)


@njit()
def moved(heap, size, items, item):
    return put(heap, size, items, item)


@njit()
def taken(heap, size, items, item):
    return take(heap, size, items, item)


@pytest.mark.parametrize("key", ["i4", "i8", "f8"])
def test_entries_come_out_by_key_and_item(key):
    rng, heap, twin, size = (
        np.random.default_rng(1),
        np.zeros(FEW, [("key", key), ("item", "i8")]),
        [],
        0,
    )
    for item in range(10 * FEW):
        if size < FEW and (not size or rng.random() < 0.55):
            entry = rng.integers(9).item(), (7 * item) % (10 * FEW)
            size = pushed(heap, size, *entry)
            heappush(twin, entry)
        else:
            assert heap[0].item() == heappop(twin)
            size = popped(heap, size)
        assert size == len(twin)


@pytest.mark.parametrize("key", ["i8", "f8"])
def test_items_know_their_places(key):
    rng = np.random.default_rng(2)
    items = np.zeros(FEW, [("key", key), ("place", "i4")])
    items["place"] = -1
    heap, size, inside = np.zeros(FEW, np.int32), 0, set()
    for _ in range(10 * FEW):
        item = int(rng.integers(FEW))
        if item in inside and rng.random() < 0.5:
            size = taken(heap, size, items, item)
            inside.remove(item)
        else:
            items["key"][item] = rng.integers(9)
            size = moved(heap, size, items, item)
            inside.add(item)
        assert size == len(inside)
        assert {*np.flatnonzero(items["place"] >= 0)} == inside
        assert all(heap[items["place"][each]] == each for each in inside)
        twin = [(items["key"][each], each) for each in inside]
        heapify(twin)
        assert not twin or heap[0] == heappop(twin)[1]
