"""Max-min fair levels of all flows from scratch: progressive filling.

All flows get more and more until a link is full, which holds its flows back. Then the rest.

Twin: ``tests/reference/flow.py``.
"""

import numpy as np

from netloom.base.compilation import part
from netloom.base.kernels.heap import put, take
from netloom.simulation.flow.kernels.levels import mark, quotient, two_least
from netloom.simulation.flow.layout import INFINITE
from netloom.simulation.kernels.records import record


@part
def fill(state):
    """Give every class its level. Links know only their weights and levels from then on.

    ``lower`` is what is left of a link meanwhile, and ``light`` the weight that has no level yet.
    """
    clock = record(state.clock, 0)
    clock.fillings += 1
    for number in range(len(state.links)):
        link = record(state.links, number)
        link.level, link.lower, link.light = INFINITE, link.capacity, link.weight
        if link.weight > 0:
            link.key = quotient(link.capacity, link.weight)
            clock.waiting = put(state.agenda, clock.waiting, state.links, number)
    while clock.waiting > 0:
        level, ties = np.int64(INFINITE), 0
        # links that are full at the same level are all taken before their flows are
        while clock.waiting > 0 and record(state.links, state.agenda[0]).key <= level:
            number = state.agenda[0]
            link = record(state.links, number)
            if link.light > 0:
                share = quotient(link.lower, link.light)
                if share > link.key:
                    link.key = share
                    put(state.agenda, clock.waiting, state.links, number)
                    continue
            clock.waiting = take(state.agenda, clock.waiting, state.links, number)
            if link.light > 0:
                level = link.key
                link.level = level
                state.ties[np.uint64(ties)] = number
                ties += 1
        for tie in range(ties):
            hold_back(state, state.ties[np.uint64(tie)], level)
    clock.stale = 1


@part
def hold_back(state, number, level):
    """Give the classes of a full link that have none yet its level."""
    link, clock = record(state.links, number), record(state.clock, 0)
    for place in range(link.first, link.first + link.count):
        owner = record(state.entries, place).owner
        here = record(state.classes, owner)
        if here.filled == clock.fillings:
            continue
        here.filled = clock.fillings
        clock.work += 1
        here.one = level
        if level != here.rate or clock.noting != 0:
            mark(state, owner, 1)
        for hop in range(here.first, here.first + here.hops):
            other = record(state.links, state.hop_link[np.uint64(hop)])
            weight = here.weight * state.hop_share[np.uint64(hop)]
            other.lower -= weight * level
            other.light -= weight


@part
def refresh(state):
    """Let links know again what their classes use, and classes the levels of their links."""
    clock = record(state.clock, 0)
    for number in range(len(state.links)):
        link = record(state.links, number)
        link.lower, link.light = 0, 0
    for place in range(clock.near + clock.far):
        if place < clock.near:
            here = record(state.classes, state.near[np.uint64(place)])
        else:
            here = record(state.classes, state.far[np.uint64(place - clock.near)])
        here.one, here.two = two_least(state, here)
        for hop in range(here.first, here.first + here.hops):
            link = record(state.links, state.hop_link[np.uint64(hop)])
            entry = record(state.entries, link.first + state.hop_place[np.uint64(hop)])
            entry.others = here.two if link.level == here.one else here.one
            if entry.others < link.level:
                link.lower += entry.weight * entry.others
                link.light += entry.weight
    clock.stale = 0
