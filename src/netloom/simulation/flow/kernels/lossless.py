"""Levels of all flows where links share by turns and what waits blocks what comes behind it.

See ``blocking`` for the law. Flows are given their levels in the order of these, the least first.

Twin: ``tests/reference/lossless.py``.
"""

import numpy as np

from netloom.base.compilation import part
from netloom.base.kernels.heap import put, take
from netloom.simulation.flow.kernels.levels import mark
from netloom.simulation.kernels.records import record

TIE = 1e-9
"""Levels are equal that differ by no more than this part."""

MOST_ROUNDS = 64
"""How often turns are made anew from those before them, where these go round in circles."""


@part
def block(state):
    """Give every class its level."""
    clock = record(state.clock, 0)
    clock.fillings += 1
    count = gather(state)
    take_turns(state, count)
    open_links(state, count)
    waiting = np.int64(0)
    for place in range(count):
        number = state.crowd[np.uint64(place)]
        record(state.tries, number).key = could_have(state, number)
        waiting = put(state.unsettled, waiting, state.tries, number)
    while waiting > 0:
        least, taken = np.inf, np.int64(0)
        while waiting > 0 and record(state.tries, state.unsettled[0]).key <= least * (1 + TIE):
            number = state.unsettled[0]
            here = record(state.tries, number)
            level = could_have(state, number)
            if level > here.key * (1 + TIE):
                here.key = level
                put(state.unsettled, waiting, state.tries, number)
                continue
            here.key = level
            least = min(least, level)
            waiting = take(state.unsettled, waiting, state.tries, number)
            state.crowd[np.uint64(taken)] = number
            taken += 1
        for place in range(taken):
            settle_at(state, state.crowd[np.uint64(place)])
        for place in range(taken):
            waiting = hold_up(state, state.crowd[np.uint64(place)], waiting)
    clock.stale = 1


@part
def gather(state):
    """List all classes with flows in ``crowd``, by number. Return how many there are."""
    clock, waiting = record(state.clock, 0), np.int64(0)
    for place in range(clock.near + clock.far + clock.marked):
        if place < clock.near:
            number = state.near[np.uint64(place)]
        elif place < clock.near + clock.far:
            number = state.far[np.uint64(place - clock.near)]
        else:
            number = state.changed[np.uint64(place - clock.near - clock.far)]
        here = record(state.tries, number)
        if record(state.classes, number).weight > 0 and here.place < 0:
            here.key = 0.0
            waiting = put(state.unsettled, waiting, state.tries, number)
    count = waiting
    for place in range(count):
        number = state.unsettled[0]
        waiting = take(state.unsettled, waiting, state.tries, number)
        state.crowd[np.uint64(place)] = number
    return count


@part
def take_turns(state, count):
    """Find the turns of each class on each of its links, in proportion to those of others there.

    All inputs of a link that flows come by have one turn in all, which flows share as they shared
    the link before. Each flow is an input of its own to its first link.
    """
    for place in range(count):
        here = record(state.classes, state.crowd[np.uint64(place)])
        for hop in range(here.first, here.first + here.hops):
            there = record(state.hops, hop)
            there.turns = 1.0 if there.before >= 0 else here.weight * there.part
    for _ in range(MOST_ROUNDS):
        record(state.clock, 0).work += count
        add_inputs(state, count)
        if share_inputs(state, count) <= TIE:
            break


@part
def add_inputs(state, count):
    """Add up what comes by each input of each link, in turns of the link before."""
    state.inputs[:] = 0.0
    for place in range(count):
        here = record(state.classes, state.crowd[np.uint64(place)])
        for hop in range(here.first, here.first + here.hops):
            there = record(state.hops, hop)
            if there.before >= 0:
                some = there.part * record(state.hops, there.before).turns
                state.inputs[np.uint64(there.input)] += some


@part
def share_inputs(state, count):
    """Share one turn of each input among its classes. Return by what part one changed most."""
    changed = 0.0
    for place in range(count):
        here = record(state.classes, state.crowd[np.uint64(place)])
        # the last hop first: each is made from the one before as that was
        for hop in range(here.first + here.hops - 1, here.first - 1, -1):
            there = record(state.hops, hop)
            if there.before >= 0:
                some = there.part * record(state.hops, there.before).turns
                turns = some / state.inputs[np.uint64(there.input)]
                changed = max(changed, abs(turns - there.turns) / turns)
                there.turns = turns
    return changed


@part
def open_links(state, count):
    """Let all links be empty."""
    for number in range(len(state.links)):
        gate = record(state.gates, number)
        gate.room, gate.turns, gate.most = record(state.links, number).capacity, 0.0, np.inf
    for place in range(count):
        number = state.crowd[np.uint64(place)]
        here = record(state.classes, number)
        here.filled = 0
        for hop in range(here.first, here.first + here.hops):
            gate = record(state.gates, state.hop_link[np.uint64(hop)])
            gate.turns += record(state.hops, hop).turns


@part
def could_have(state, number):
    """The level that a class could have now. Its ``hop`` is the last one that allows no more."""
    here, found = record(state.classes, number), record(state.tries, number)
    least = np.float64(here.most)
    found.hop = -1
    record(state.clock, 0).work += 1
    for hop in range(here.first, here.first + here.hops):
        gate, turns = record(state.gates, state.hop_link[np.uint64(hop)]), record(state.hops, hop)
        each = min(gate.room / max(gate.turns, turns.turns), gate.most)
        level = each * turns.turns / (here.weight * state.hop_share[np.uint64(hop)])
        if level <= least * (1 + TIE):
            found.hop = hop
            least = min(level, least)
    return least


@part
def settle_at(state, number):
    """Give a class the level that it could have."""
    here, found = record(state.classes, number), record(state.tries, number)
    clock = record(state.clock, 0)
    here.one = max(np.int64(found.key), 1)
    here.filled = 1
    clock.work += 1
    if here.one != here.rate or clock.noting != 0:
        mark(state, number, 1)
    for hop in range(here.first, here.first + here.hops):
        gate = record(state.gates, state.hop_link[np.uint64(hop)])
        gate.room = max(gate.room - here.one * here.weight * state.hop_share[np.uint64(hop)], 0)
        gate.turns -= record(state.hops, hop).turns


@part
def hold_up(state, number, waiting):
    """Let a class that waits for a link hold up all that share the links before it.

    Nobody's turn there is longer than its own.
    """
    here, found = record(state.classes, number), record(state.tries, number)
    if found.hop < 0:
        return waiting
    hop = np.int64(record(state.hops, found.hop).before)
    while hop >= 0:
        there, link = record(state.hops, hop), state.hop_link[np.uint64(hop)]
        gate = record(state.gates, link)
        most = found.key * here.weight * state.hop_share[np.uint64(hop)] / there.turns
        if gate.circle == 0 and most < gate.most:
            gate.most = most
            links = record(state.links, link)
            record(state.clock, 0).work += links.count
            for place in range(links.first, links.first + links.count):
                entry = record(state.entries, place)
                other = record(state.classes, entry.owner)
                if other.filled != 0:
                    continue
                turns = record(state.hops, entry.hop).turns
                level = most * turns / (other.weight * state.hop_share[np.uint64(entry.hop)])
                tried = record(state.tries, entry.owner)
                if level < tried.key:
                    tried.key = level
                    waiting = put(state.unsettled, waiting, state.tries, entry.owner)
        hop = np.int64(there.before)
    return waiting
