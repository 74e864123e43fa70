"""Speeds of all flows where a link that is full shares by latency: in floats, from scratch.

As ``filling``, but that a unit of weight of a class counts as much as its ``factor``. Levels are
speeds for a factor of 1. They never fall while links fill up one after the other, which keeps what
rounding leaves of a link from being taken for a level.

Twin: ``tests/reference/flow.py``.
"""

import numpy as np

from netloom.base.compilation import part
from netloom.base.kernels.heap import put, take
from netloom.simulation.flow.kernels.levels import mark
from netloom.simulation.flow.layout import INFINITE
from netloom.simulation.kernels.records import record


@part
def weigh(state):
    """Give every class its next speed, and the number of the step in which it got it."""
    clock = record(state.clock, 0)
    clock.fillings += 1
    for number in range(len(state.links)):
        link, fill = record(state.links, number), record(state.fills, number)
        link.level, fill.classes = INFINITE, link.count
        if link.count > 0:
            look(state, number)
            fill.key = fill.left / fill.light
            clock.waiting = put(state.agenda, clock.waiting, state.fills, number)
    step, level = np.int64(0), 0.0
    while clock.waiting > 0:
        number = state.agenda[0]
        fill = record(state.fills, number)
        if fill.classes > 0:
            key = max(fill.left, 0.0) / max(fill.light, np.finfo(np.float64).tiny)
            if key > fill.key:
                fill.key = key
                put(state.agenda, clock.waiting, state.fills, number)
                continue
        clock.waiting = take(state.agenda, clock.waiting, state.fills, number)
        if fill.classes > 0:
            look(state, number)  # what rounding has left of the differences is gone
            level = max(level, fill.left / fill.light)
            step += 1
            record(state.links, number).level = step
            give(state, number, level, step)


@part
def look(state, number):
    """Sum up what is left of a link, and what the classes count that have no speed yet."""
    link, fill = record(state.links, number), record(state.fills, number)
    left, light, fillings = fill.capacity, 0.0, record(state.clock, 0).fillings
    for place in range(link.first, link.first + link.count):
        entry = record(state.entries, place)
        owner = record(state.classes, entry.owner)
        if owner.filled == fillings:
            left -= owner.next * entry.weight
        else:
            light += owner.factor * entry.weight
    fill.left, fill.light = left, light


@part
def give(state, number, level, step):
    """Give the classes of a full link that have none yet their speed at a level."""
    link, clock = record(state.links, number), record(state.clock, 0)
    for place in range(link.first, link.first + link.count):
        owner = record(state.entries, place).owner
        here = record(state.classes, owner)
        if here.filled == clock.fillings:
            continue
        here.filled = clock.fillings
        clock.work += 1
        here.one, here.next = step, level * here.factor
        if here.next != here.speed or clock.noting != 0:
            mark(state, owner, 1)
        for hop in range(here.first, here.first + here.hops):
            other = record(state.fills, state.hop_link[np.uint64(hop)])
            weight = here.weight * state.hop_share[np.uint64(hop)]
            other.left -= weight * here.next
            other.light -= weight * here.factor
            other.classes -= 1
