"""Which class of flows ends next: those that end soon in a heap, those that end later in a bag.

Most ends move many times before they come: a move within the bag costs nothing.

Twin: ``tests/reference/flow.py``.
"""

import numpy as np

from netloom.base.compilation import part
from netloom.base.kernels.heap import put, take
from netloom.simulation.kernels.records import record


@part
def next_end(state):
    """When the next class ends. Infinite if none does."""
    clock = record(state.clock, 0)
    if clock.near == 0:
        if clock.far == 0:
            return np.inf
        look_further(state)
    return record(state.classes, state.near[0]).key


@part
def look_further(state):
    """Move the classes that end first from the bag into the heap: those well before the mean."""
    clock = record(state.clock, 0)
    first, total = np.inf, 0.0
    for place in range(clock.far):
        key = record(state.classes, state.far[np.uint64(place)]).key
        first = min(first, key)
        total += key
    clock.horizon = first + max(total / clock.far - first, 0.0) / 4
    for place in range(clock.far - 1, -1, -1):
        number = state.far[np.uint64(place)]
        if record(state.classes, number).key <= clock.horizon:
            forget(state, number)
            clock.near = put(state.near, clock.near, state.classes, number)


@part
def expect(state, number):
    """Have a class end at its ``key``, which may have changed."""
    clock, here = record(state.clock, 0), record(state.classes, number)
    soon = here.key <= clock.horizon
    if here.place != -1 and soon != (here.place >= 0):
        forget(state, number)
    if soon:
        clock.near = put(state.near, clock.near, state.classes, number)
    elif here.place == -1:
        state.far[np.uint64(clock.far)] = number
        here.place = -2 - clock.far
        clock.far += 1


@part
def forget(state, number):
    """Take a class out of heap or bag."""
    clock, here = record(state.clock, 0), record(state.classes, number)
    if here.place >= 0:
        clock.near = take(state.near, clock.near, state.classes, number)
    else:
        place = -2 - here.place
        clock.far -= 1
        last = state.far[np.uint64(clock.far)]
        state.far[np.uint64(place)] = last
        record(state.classes, last).place = -2 - place
        here.place = -1
