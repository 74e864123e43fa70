"""The flow engine, from one time at which flows begin or end to the next, and fair levels.

Rows become flows: they take their turn to enter the network, and join the flows of a class. Rounds
of messages that never share a link need no engine: each takes the time that it takes alone.

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

Twin: ``tests/reference/flow.py``. That of ``block``: ``tests/reference/lossless.py``. That of
rounds: ``tests/reference/rounds.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import inlined, kernel, part
from netloom.base.held import held
from netloom.base.kernels.heap import put, take
from netloom.simulation.flow.layout import INFINITE
from netloom.simulation.kernels.agenda import (
    ARRIVED,
    MOVE,
    SEND,
    clock_of,
    first_time,
    happen,
    is_due,
    plan,
)
from netloom.simulation.kernels.records import record

# -- levels ----------------------------------------------------------------------------------------


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


@inlined
def hops_of(owner):
    """The hops of a class, by their places."""
    return range(owner.first, owner.first + owner.hops)


@inlined
def entries_of(link):
    """The places in ``entries`` of the classes on a link."""
    return range(link.first, link.first + link.count)


@part
def touch(state, link, key):
    """Have a link's level looked at, from a key on."""
    clock, here = clock_of(state), record(state.links, link)
    if here.place < 0 or key < here.key:
        here.key = key
        clock.waiting = put(state.agenda, clock.waiting, state.links, link)


@part
def mark(state, number, how):
    """Note that the level of a class may have changed, or (2) that its end has."""
    here = record(state.classes, number)
    if here.changed == 0:
        clock = clock_of(state)
        state.changed[np.uint64(clock.marked)] = number
        clock.marked += 1
    here.changed = max(here.changed, how)


@part
def two_least(state, here):
    """The least and the second least level of the links of a class, or what it would have alone."""
    one, two = here.most, np.int64(INFINITE)
    for hop in hops_of(here):
        level = record(state.links, state.hop_link[np.uint64(hop)]).level
        two = min(two, max(one, level))
        one = min(one, level)
    return one, two


@part
def join(state, number, weight):
    """Add weight to a class, or take it away: on all its links."""
    here, clock = record(state.classes, number), clock_of(state)
    begins = here.weight == 0
    if begins and clock.stale == 0:
        here.one, here.two = two_least(state, here)
    here.weight += weight
    for hop in hops_of(here):
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
        for place in entries_of(link):
            entry = record(state.entries, place)
            counted = entry.weight if entry.others < level else np.int64(0)
            lower += counted * entry.others
            light += counted
            next_to += counted if entry.others == level - 1 else np.int64(0)
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
    clock, seen = clock_of(state), np.int64(0)
    while clock.waiting > 0:
        number = state.agenda[0]
        link = record(state.links, number)
        least, level = link.level, link.level
        if link.light < link.weight:
            level = level_of(link, link.lower, link.light)
            least = min(least, level)
        elif link.lower > link.capacity:
            level, least = np.int64(-1), quotient(link.capacity, link.weight)
        elif link.level < INFINITE:
            level = np.int64(INFINITE)
        if level != link.level:
            if later(state, number, least):
                continue
            seen += link.count
            level, lower, light = full_at(state, link, least)
            if level != link.level:
                least = min(level, link.level)
                if later(state, number, least):
                    continue
        clock.waiting = take(state.agenda, clock.waiting, state.links, number)
        if level == link.level:
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
    """Put the first link back if others are to be looked at before the level where it changes."""
    clock, key = clock_of(state), np.int64(INFINITE)
    for place in range(1, min(clock.waiting, 3)):
        key = min(key, record(state.links, state.agenda[np.uint64(place)]).key)
    if key >= least:
        return False
    record(state.links, number).key = least
    put(state.agenda, clock.waiting, state.links, number)
    return True


@part
def tell(state, number, least):
    """Let the other links of its classes know that a link's level changed, from a level on."""
    link, seen, noting = record(state.links, number), np.int64(0), clock_of(state).noting
    for place in entries_of(link):
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
        for hop in hops_of(here):
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
    clock = clock_of(state)
    clock.fillings += 1
    for number in range(np.int32(len(state.links))):
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
    link, clock = record(state.links, number), clock_of(state)
    for place in entries_of(link):
        owner = record(state.entries, place).owner
        here = record(state.classes, owner)
        if here.filled == clock.fillings:
            continue
        here.filled = clock.fillings
        clock.work += 1
        here.one = level
        if level != here.rate or clock.noting != 0:
            mark(state, owner, 1)
        for hop in hops_of(here):
            other = record(state.links, state.hop_link[np.uint64(hop)])
            weight = here.weight * state.hop_share[np.uint64(hop)]
            other.lower -= weight * level
            other.light -= weight


@part
def refresh(state):
    """Let links know again what their classes use, and classes the levels of their links."""
    clock = clock_of(state)
    for number in range(len(state.links)):
        link = record(state.links, number)
        link.lower, link.light = 0, 0
    for place in range(clock.active):
        here = record(state.classes, state.ends[np.uint64(place)])
        here.one, here.two = two_least(state, here)
        for hop in hops_of(here):
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
    clock = clock_of(state)
    clock.fillings += 1
    for number in range(np.int32(len(state.links))):
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
            link = record(state.links, number)
            link.level = step
            for place in entries_of(link):
                owner = record(state.entries, place).owner
                here = record(state.classes, owner)
                if here.filled == clock.fillings:
                    continue
                here.filled = clock.fillings
                clock.work += 1
                here.one, here.next = step, level * here.factor
                if here.next != here.speed or clock.noting != 0:
                    mark(state, owner, 1)
                for hop in hops_of(here):
                    other = record(state.fills, state.hop_link[np.uint64(hop)])
                    weight = here.weight * state.hop_share[np.uint64(hop)]
                    other.left -= weight * here.next
                    other.light -= weight * here.factor
                    other.classes -= 1


@part
def look(state, number):
    """Sum up what is left of a link, and what the classes count that have no speed yet."""
    link, fill = record(state.links, number), record(state.fills, number)
    left, light, fillings = fill.capacity, 0.0, clock_of(state).fillings
    for place in entries_of(link):
        entry = record(state.entries, place)
        owner = record(state.classes, entry.owner)
        if owner.filled == fillings:
            left -= owner.next * entry.weight
        else:
            light += owner.factor * entry.weight
    fill.left, fill.light = left, light


TIE = 1e-9
"""Levels are equal that differ by no more than this part."""

MOST_ROUNDS = 64
"""How often turns are made anew from those before them, where these go round in circles."""


@part
def block(state):
    """Give every class its level."""
    clock = clock_of(state)
    clock.fillings += 1
    count = gather(state)
    take_turns(state, count)
    for number in range(len(state.links)):  # all are empty
        gate = record(state.gates, number)
        gate.room, gate.turns, gate.most = record(state.links, number).capacity, 0.0, np.inf
    for place in range(count):
        here = record(state.classes, state.crowd[np.uint64(place)])
        here.filled = 0
        for hop in hops_of(here):
            gate = record(state.gates, state.hop_link[np.uint64(hop)])
            gate.turns += record(state.hops, hop).turns
    waiting = np.int64(0)
    for place in range(count):
        number = state.crowd[np.uint64(place)]
        record(state.tries, number).key = could_have(state, number)
        waiting = put(state.unsettled, waiting, state.tries, number)
    while waiting > 0:
        least, taken = np.inf, np.int64(0)
        while waiting > 0 and record(state.tries, state.unsettled[0]).key <= least * (1 + TIE):
            number = state.unsettled[0]
            tried = record(state.tries, number)
            level = could_have(state, number)
            if level > tried.key * (1 + TIE):
                tried.key = level
                put(state.unsettled, waiting, state.tries, number)
                continue
            tried.key = level
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
    clock, waiting = clock_of(state), np.int64(0)
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
        for hop in hops_of(here):
            there = record(state.hops, hop)
            there.turns = 1.0 if there.before >= 0 else here.weight * there.part
    for _ in range(MOST_ROUNDS):
        clock_of(state).work += count
        state.inputs[:] = 0.0  # what comes by each input, in turns of the link before
        for place in range(count):
            here = record(state.classes, state.crowd[np.uint64(place)])
            for hop in hops_of(here):
                there = record(state.hops, hop)
                if there.before >= 0:
                    some = there.part * record(state.hops, there.before).turns
                    state.inputs[np.uint64(there.input)] += some
        changed = 0.0  # by what part one changed most
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
        if changed <= TIE:
            break


@part
def could_have(state, number):
    """The level that a class could have now. Its ``hop`` is the last one that allows no more."""
    here, found = record(state.classes, number), record(state.tries, number)
    least = np.float64(here.most)
    found.hop = -1
    clock_of(state).work += 1
    for hop in hops_of(here):
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
    clock = clock_of(state)
    here.one = max(np.int64(found.key), 1)
    here.filled = 1
    clock.work += 1
    if here.one != here.rate or clock.noting != 0:
        mark(state, number, 1)
    for hop in hops_of(here):
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
            clock_of(state).work += links.count
            for place in entries_of(links):
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


# -- rows that become flows ------------------------------------------------------------------------


@inlined
def wait(state, time, row):
    """Let a row that is sent wait for those before it in its queue, and for its latency."""
    here = record(state.rows, row)
    if here.queue >= 0:
        queue = record(state.queues, here.queue)
        if queue.busy != 0:
            if queue.head < 0:
                queue.head = row
            else:
                record(state.rows, queue.tail).right = row
            queue.tail = row
            return
        queue.busy = 1
    plan(state, time + here.latency, row, MOVE)


@inlined
def move(state, now, time, row):
    """Let the bytes of a row begin to move."""
    here, clock = record(state.rows, row), clock_of(state)
    here.entered = max(time - here.latency, here.sent)
    owner = record(state.classes, here.path)
    serve(owner, now)
    here.goal = owner.served + here.flits / here.weight
    here.left, here.right = -1, -1
    owner.flow = merged(state.rows, np.int64(owner.flow), row)
    clock.moved += 1
    join(state, here.path, np.int64(here.weight))
    mark(state, here.path, 2)


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


@part
def serve(owner, now):
    """Bring what a class has served up to a time."""
    if owner.weight > 0:
        owner.served += owner.speed * (now - owner.since)
    else:
        owner.served = 0.0
    owner.since = now


@inlined
def end_flows(state, number, now):
    """End the flows of a class whose bytes have moved first. Those of one goal end together."""
    owner, clock = record(state.classes, number), clock_of(state)
    time = owner.key
    goal = record(state.rows, owner.flow).goal
    if time == now:
        owner.served, owner.since = goal, now
    else:  # a little later, which counts as now
        serve(owner, now)
    while owner.flow >= 0 and record(state.rows, owner.flow).goal == goal:
        row = np.int64(owner.flow)
        here = record(state.rows, row)
        owner.flow = merged(state.rows, np.int64(here.left), np.int64(here.right))
        clock.moved += 1
        join(state, number, -here.weight)
        mark(state, number, 2)
        plan(state, time, row, ARRIVED)
        here.right = -1
        if here.queue >= 0:
            queue = record(state.queues, here.queue)
            after = np.int64(queue.head)
            if after < 0:
                queue.busy = 0
            else:
                there = record(state.rows, after)
                queue.head = there.right
                plan(state, max(time, there.sent + there.latency), after, MOVE)


# -- from one time to the next ---------------------------------------------------------------------

FEW, EACH = 64, 8
"""Flows that begin or end at once are few up to so many, so many classes may be seen for each."""

MOST_PATIENCE = 1024
"""Changes after which it is looked at again whether classes are solved all together, at most."""

ROUNDING = 2.0**-40


@inlined
def next_end(state):
    """When the next class ends. Infinite if none does."""
    if clock_of(state).active == 0:
        return np.inf
    return record(state.classes, state.ends[0]).key


@kernel
def advance(arrays, until, batches):
    """Run up to a time, or through so many times at which flows begin or end. Return how many."""
    state = held(arrays, "")
    clock = clock_of(state)
    for batch in range(batches):
        time = next_end(state)
        if clock.events > 0:
            time = min(time, first_time(state))
        if time > until or time == np.inf:
            return batch
        clock.time = time
        clock.moved = 0
        if clock.stale != 0 and clock.left == 0:
            refresh(state)
        latest = time + time * clock.tolerance
        while next_end(state) <= latest:
            number = state.ends[0]
            clock.active = take(state.ends, clock.active, state.classes, number)
            end_flows(state, number, time)
        while is_due(state, latest):  # flows that begin do so now
            at, row, kind = happen(state)
            if kind == SEND:
                wait(state, at, row)
            elif kind == MOVE:
                move(state, time, at, row)
        if clock.moved > 0:
            clock.batches += 1
            share(state)
        update(state, time)
    return batches


@inlined
def share(state):
    """Find the levels of all classes: anew where they change, or from scratch where most do."""
    clock, links = clock_of(state), len(state.links)
    if clock.lossless != 0:
        block(state)
        return
    if clock.weighed != 0:
        weigh(state)
        return
    active = clock.active
    filling = active + active // 4 + 3 * min(active, links) + links // 8  # as long as to look at
    if clock.moved > FEW and 2 * clock.moved > active:  # most of them change in any case
        clock.left = max(clock.left, 1)
    elif clock.left == 0:
        filling += EACH * clock.moved
        before = clock.work
        done = settle(state, 2 * filling)
        if clock.work - before <= filling:
            clock.patience = max(clock.patience // 2, 1)
        else:
            clock.patience = min(clock.patience * 2, MOST_PATIENCE)
            clock.left = clock.patience
        if done:
            return
    while clock.waiting > 0:
        clock.waiting = take(state.agenda, clock.waiting, state.links, state.agenda[0])
    clock.left -= 1
    fill(state)


@inlined
def update(state, now):
    """Let the classes whose level changed end at another time."""
    clock = clock_of(state)
    for place in range(clock.marked):
        number = state.changed[np.uint64(place)]
        here = record(state.classes, number)
        how = here.changed
        here.changed = 0
        if clock.noting != 0:
            note_holder(state, number, now)
        if here.weight == 0:
            here.rate, here.speed = 0, 0.0
            if here.place >= 0:
                clock.active = take(state.ends, clock.active, state.classes, number)
            continue
        same = here.next == here.speed if clock.weighed != 0 else here.one == here.rate
        if same and how < 2:
            continue
        if here.since != now:
            here.served += here.speed * (now - here.since)
            here.since = now
        here.rate = here.one
        here.speed = here.next if clock.weighed != 0 else here.rate * clock.step
        left = record(state.rows, here.flow).goal - here.served
        here.key = now + max(left, 0.0) / here.speed
        clock.active = put(state.ends, clock.active, state.classes, number)
    clock.marked = 0


@part
def note_holder(state, number, now):
    """Note for how long a link has held a class back, and which does so from now on.

    The first of its links at its level does, if its flows, which have one weight, could be faster
    alone. Where links share by turns it is the last that allows no more.
    """
    here, held = record(state.classes, number), record(state.holders, number)
    if held.hop >= 0:
        state.hop_held[np.uint64(held.hop)] += held.weight * (now - held.since)
    held.since, held.weight, held.hop = now, here.weight, -1
    if here.weight == 0:
        return
    clock, weight = clock_of(state), record(state.rows, here.flow).weight
    if clock.weighed != 0:
        free = here.next * weight >= here.most * clock.step * (1 - ROUNDING)
    else:
        free = here.one >= here.most // weight
    if free:
        return
    if clock.lossless != 0:
        held.hop = record(state.tries, number).hop
    else:
        for hop in hops_of(here):
            if record(state.links, state.hop_link[np.uint64(hop)]).level == here.one:
                held.hop = hop
                break


# -- rounds that never share a link ----------------------------------------------------------------


@kernel
def follow(ready, later, kept, hosts, source, target, cost, rounding, ended, elapsed):
    """Run rounds until all are over or they repeat. Return how many, and the period (0: none).

    ``ready``: when each host is, from the earliest of ``hosts``, which take part, on. That is set
    back after each round. ``later``, ``kept``: room for as much. ``ended``: of each round, from the
    first time on. ``elapsed``: the time that passed, and that of the period.
    """
    power, length = 1, 0
    for host in hosts:
        kept[np.uint64(host)] = ready[np.uint64(host)]
    for number in range(len(ended)):
        last = -np.inf
        for host in hosts:
            later[np.uint64(host)] = ready[np.uint64(host)]
        for row in range(len(source)):
            end = ready[np.uint64(source[row])] + cost[row]
            last = max(last, end)
            later[np.uint64(source[row])] = max(later[np.uint64(source[row])], end)
            later[np.uint64(target[row])] = max(later[np.uint64(target[row])], end)
        ended[number] = elapsed[0] + last
        back = np.inf
        for host in hosts:
            back = min(back, later[np.uint64(host)])
        for host in hosts:
            ready[np.uint64(host)] = later[np.uint64(host)] - back
        elapsed[0] += back
        elapsed[1] += back
        length += 1
        alike = True
        for host in hosts:
            away = abs(ready[np.uint64(host)] - kept[np.uint64(host)])
            if away > rounding * elapsed[1]:
                alike = False
                break
        if alike:
            return number + 1, length
        if length == power:
            for host in hosts:
                kept[np.uint64(host)] = ready[np.uint64(host)]
            power, length = 2 * power, 0
            elapsed[1] = 0.0
    return len(ended), 0


# -- passes over ways ------------------------------------------------------------------------------


@kernel
def repeats(offsets, links):
    """Return whether a link is twice on one way."""
    for way in range(len(offsets) - 1):
        for place in range(offsets[way], offsets[way + 1]):
            for other in range(offsets[way], place):
                if links[np.uint64(place)] == links[np.uint64(other)]:
                    return True
    return False


@kernel
def add_sizes(rows, classes, hop_link, hop_share, whole, crossed):
    """Add what rows that have arrived moved over each link."""
    for row in range(len(rows)):
        here = record(rows, row)
        if here.arrived >= 0.0 and here.path >= 0:
            owner = record(classes, here.path)
            for hop in hops_of(owner):
                share = hop_share[np.uint64(hop)] / whole
                crossed[np.uint64(hop_link[np.uint64(hop)])] += here.flits * share


@kernel
def move_lists(links, before, entries, first):
    """Move the lists of links to other places."""
    for number in range(len(links)):
        link = record(links, number)
        for place in range(link.count):
            here = record(entries, first[np.uint64(number)] + place)
            there = record(before, link.first + place)
            here.others, here.weight = there.others, there.weight
            here.owner, here.hop = there.owner, there.hop
        link.first = first[np.uint64(number)]
