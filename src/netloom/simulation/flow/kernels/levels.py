"""Max-min fair levels of classes of flows.

Levels are found anew only where a flow that begins or ends can matter.

A link is full at the level x where x = (capacity - what is used below x) // (weight of the rest).
``entry.others`` is the least level of the other links of a class, by which it is held back there.
A class has the least level of its links. So each has a full link on which no other is faster, which
is what max-min fair means (Bertsekas & Gallager, *Data Networks*, 1992, section 6.5.2).

A flow that begins or ends at a level changes nothing below it. A link whose level moves from a to b
changes nothing below min(a, b). So links are visited in the order of these levels.

``fill`` finds all levels from scratch, by progressive filling: all flows get more and more until a
link is full, which holds its flows back. Then the rest.

``weigh`` does so in floats, where a link that is full shares by latency. A unit of weight of a
class counts as much as its ``factor``. Levels are then speeds for a factor of 1. They never fall
while links fill up one after the other, which keeps what rounding leaves of a link from being taken
for a level.

``block`` finds them where links share by turns and what waits blocks what comes behind it. See
``flow.network`` for the law. Flows are given their levels in the order of these, the least first.

Twin: ``tests/reference/flow.py``. That of ``block``: ``tests/reference/lossless.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import inlined, part
from netloom.base.kernels.heap import put, take
from netloom.simulation.flow.layout import INFINITE
from netloom.simulation.kernels.records import record


@inlined
def quotient(whole, part_of):
    """The whole part of a quotient of numbers below 2 ** 53: integers take longer to divide."""
    found = np.int64(np.float64(whole) / np.float64(part_of))
    rest = whole - found * part_of
    if rest < 0:
        found -= 1
    elif rest >= part_of:
        found += 1
    return found


@inlined
def level_of(link, lower, light):
    """The level at which a link is full if classes of a weight use so much below it.

    At least that at which all would be equal, if these use more than there is.
    """
    if lower > link.capacity:
        return quotient(link.capacity, link.weight)
    return quotient(link.capacity - lower, link.weight - light)


@part
def touch(state, link, key):
    """Have a link's level looked at, from a key on."""
    clock, here = record(state.clock, 0), record(state.links, link)
    if here.place < 0 or key < here.key:
        here.key = key
        clock.waiting = put(state.agenda, clock.waiting, state.links, link)


@part
def mark(state, number, how):
    """Note that the level of a class may have changed, or (2) that its end has."""
    here = record(state.classes, number)
    if here.changed == 0:
        clock = record(state.clock, 0)
        state.changed[np.uint64(clock.marked)] = number
        clock.marked += 1
    here.changed = max(here.changed, how)


@part
def two_least(state, here):
    """The least and the second least level of the links of a class, or what it would have alone."""
    one, two = here.most, np.int64(INFINITE)
    for hop in range(here.first, here.first + here.hops):
        level = record(state.links, state.hop_link[np.uint64(hop)]).level
        if level < one:
            one, two = level, one
        elif level < two:
            two = level
    return one, two


@part
def join(state, number, weight):
    """Add weight to a class, or take it away: on all its links."""
    here, clock = record(state.classes, number), record(state.clock, 0)
    begins = here.weight == 0
    if begins and clock.stale == 0:
        here.one, here.two = two_least(state, here)
    here.weight += weight
    for hop in range(here.first, here.first + here.hops):
        number_of_link = state.hop_link[np.uint64(hop)]
        link = record(state.links, number_of_link)
        if begins:
            state.hop_place[np.uint64(hop)] = link.count
            entry = record(state.entries, link.first + link.count)
            link.count += 1
            entry.owner, entry.hop, entry.weight = number, hop, 0
            entry.others = here.two if link.level == here.one else here.one
        entry = record(state.entries, link.first + state.hop_place[np.uint64(hop)])
        more = weight * state.hop_share[np.uint64(hop)]
        entry.weight += more
        link.weight += more
        if clock.stale == 0:
            if entry.others < link.level:
                link.lower += more * entry.others
                link.light += more
            if link.level < INFINITE or link.lower > link.capacity:
                touch(state, number_of_link, np.int64(0) if weight > 0 else here.one)
        if here.weight == 0:
            link.count -= 1
            last = record(state.entries, link.first + link.count)
            entry.others, entry.weight = last.others, last.weight
            entry.owner, entry.hop = last.owner, last.hop
            state.hop_place[np.uint64(last.hop)] = state.hop_place[np.uint64(hop)]


@part
def full_at(state, link, level):
    """The level at which a link is full, looked for from a level on. What is used below, by whom.

    From any level the first step leads to the right one or below, and then up to it.
    """
    while True:
        lower, light, next_to = np.int64(0), np.int64(0), np.int64(0)
        for place in range(link.first, link.first + link.count):
            entry = record(state.entries, place)
            if entry.others < level:
                lower += entry.weight * entry.others
                light += entry.weight
                if entry.others == level - 1:
                    next_to += entry.weight
        if light == link.weight:
            if lower <= link.capacity:
                return np.int64(INFINITE), lower, light
            found = quotient(link.capacity, link.weight)
        else:
            found = level_of(link, lower, light)
            if found == level:
                # whole numbers may leave two solutions, one unit apart: the lower one is taken
                below = link.capacity - lower + next_to * (level - 1)
                if next_to > 0 and quotient(below, link.weight - light + next_to) == level - 1:
                    return level - 1, lower - next_to * (level - 1), light - next_to
                return level, lower, light
        level = found


@inlined
def settle(state, most):
    """Find all levels that change. Return whether it was done before ``most`` classes were seen."""
    clock, seen = record(state.clock, 0), np.int64(0)
    while clock.waiting > 0:
        number = state.agenda[0]
        link = record(state.links, number)
        clock.waiting = take(state.agenda, clock.waiting, state.links, number)
        if link.light < link.weight:
            least = level_of(link, link.lower, link.light)
            if least == link.level:
                continue
            least = min(least, link.level)
        elif link.lower > link.capacity:
            least = quotient(link.capacity, link.weight)
        else:
            if link.level == INFINITE:
                continue
            least = link.level
        if later(state, number, least):
            continue
        seen += link.count
        level, lower, light = full_at(state, link, least)
        if level == link.level:
            continue
        least = min(level, link.level)
        if later(state, number, least):
            continue
        link.level, link.lower, link.light = level, lower, light
        seen += tell(state, number, least)
        if seen > most:
            clock.work += seen
            return False
    clock.work += seen
    return True


@part
def later(state, number, least):
    """Put a link back if others are to be looked at before the level from which it changes."""
    clock = record(state.clock, 0)
    if clock.waiting == 0 or record(state.links, state.agenda[0]).key >= least:
        return False
    touch(state, number, least)
    return True


@part
def tell(state, number, least):
    """Let the other links of its classes know that a link's level changed, from a level on."""
    link, seen, noting = record(state.links, number), np.int64(0), record(state.clock, 0).noting
    for place in range(link.first, link.first + link.count):
        entry = record(state.entries, place)
        here = record(state.classes, entry.owner)
        if entry.others < least and here.two < least:
            continue
        seen += 1
        one, two = two_least(state, here)
        if one == here.one and two == here.two:
            if noting != 0:  # another link at this level may hold it back from now on
                mark(state, entry.owner, 1)
            continue
        mark(state, entry.owner, 1)
        here.one, here.two = one, two
        for hop in range(here.first, here.first + here.hops):
            beside = state.hop_link[np.uint64(hop)]
            if beside == number:
                continue
            other = record(state.links, beside)
            there = record(state.entries, other.first + state.hop_place[np.uint64(hop)])
            before, now = there.others, two if other.level == one else one
            if now == before:
                continue
            there.others = now
            if before < other.level:
                other.lower -= there.weight * before
                other.light -= there.weight
            if now < other.level:
                other.lower += there.weight * now
                other.light += there.weight
            if (before < other.level or now < other.level) and (
                other.level < INFINITE or other.lower > other.capacity
            ):
                touch(state, beside, least)
    return seen


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
    for place in range(clock.active):
        here = record(state.classes, state.ends[np.uint64(place)])
        here.one, here.two = two_least(state, here)
        for hop in range(here.first, here.first + here.hops):
            link = record(state.links, state.hop_link[np.uint64(hop)])
            entry = record(state.entries, link.first + state.hop_place[np.uint64(hop)])
            entry.others = here.two if link.level == here.one else here.one
            if entry.others < link.level:
                link.lower += entry.weight * entry.others
                link.light += entry.weight
    clock.stale = 0


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
    for place in range(clock.active + clock.marked):
        if place < clock.active:
            number = state.ends[np.uint64(place)]
        else:
            number = state.changed[np.uint64(place - clock.active)]
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
