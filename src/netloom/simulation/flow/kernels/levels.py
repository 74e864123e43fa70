"""Max-min fair levels, found anew only where a flow that begins or ends can matter.

A link is full at the level x where x = (capacity - what is used below x) // (weight of the rest).
``entry.others`` is the least level of the other links of a class, by which it is held back there.
A class has the least level of its links. So each has a full link on which no other is faster, which
is what max-min fair means (Bertsekas & Gallager, *Data Networks*, 1992, section 6.5.2).

A flow that begins or ends at a level changes nothing below it. A link whose level moves from a to b
changes nothing below min(a, b). So links are visited in the order of these levels.

Twin: ``tests/reference/flow.py``.
"""

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
