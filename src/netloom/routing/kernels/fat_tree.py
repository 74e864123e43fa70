"""OpenSM's ftree over flat arrays: ways down and up a tree, each by the cable used least.

A *group* is the cables from one neighbour, that is, the channels that enter from there. ``tree``
holds four things. The groups of each router are given as offsets[kind, router] into ``members``
(kinds below), with each group's neighbour and its first place in ``cables``. Counts show how often
groups and cables were chosen on the way up and on the way down. Each router has its place in the
tree's order, its level (0 is a root), and whether adapters hang on it. For the current destination
there are the entry and the hops of each router so far, and the stack of searches (columns below).
Each search waits for the one above it.

Twin: ``tests/reference/opensm.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, kernel, njit

TO_UPPER, TO_LOWER, TO_EQUAL = 0, 1, 2
NO_ENTRY, ARRIVED = -1, -2
FAR = 2**30

KIND, ROUTER, BEFORE, MAIN, HOPS, STEP, GROUP, CABLE, LEADS, BEST = range(10)
COLUMNS = 10
DOWNWARD, UPWARD = 0, 1
FRESH, LOWER_DONE, MAIN_DONE = -3, -2, -1
NOT_DONE, LEADS_NOWHERE, LEADS_ON = 2, 0, 1


@kernel
def sort_groups(members, first, last, uses, neighbour, place):
    """Sort a router's groups by their uses, then by their neighbours' places in the tree."""
    for slot in range(first + 1, last):
        group = members[slot]
        key, tie = uses[group], place[neighbour[group]]
        free = slot
        while free > first:
            other = members[free - 1]
            if (uses[other], place[neighbour[other]]) <= (key, tie):
                break
            members[free] = other
            free -= 1
        members[free] = group


@kernel
def least_cable(group, group_first, cables, uses):
    """Return the cable of a group that was used least, of these the first."""
    chosen = cables[group_first[group]]
    for slot in range(group_first[group] + 1, group_first[group + 1]):
        if uses[cables[slot]] < uses[chosen]:
            chosen = cables[slot]
    return chosen


@inlined
def begin(stack, top, kind, router, before, main, hops):
    """Put a search on the stack."""
    stack[top, KIND], stack[top, ROUTER], stack[top, BEFORE] = kind, router, before
    stack[top, MAIN], stack[top, HOPS], stack[top, STEP] = main, hops, FRESH


@kernel
def resume_down(tree, top, led, real):
    """Let the routers below a router, and below these, send up to it.

    Put the next search on the stack, or return whether any leads to adapters. ``led`` is what the
    last search returned.
    """
    offsets, members, neighbour, group_first, cables = tree[0], tree[1], tree[2], tree[3], tree[4]
    group_ups, cable_ups, place, adapters = tree[5], tree[6], tree[9], tree[11]
    entry, reach, stack = tree[12], tree[13], tree[14]
    router, hops = stack[top, ROUTER], stack[top, HOPS]
    first, last = offsets[TO_LOWER, router], offsets[TO_LOWER, router + 1]
    beside, end = offsets[TO_EQUAL, router], offsets[TO_EQUAL, router + 1]
    if stack[top, STEP] == FRESH:
        stack[top, LEADS] = adapters[router]
        if first == last and not adapters[router]:
            return LEADS_NOWHERE
        sort_groups(members, first, last, group_ups, neighbour, place)
        sort_groups(members, beside, end, group_ups, neighbour, place)
        stack[top, STEP] = 0
    elif led:
        stack[top, LEADS] = LEADS_ON
        cable_ups[stack[top, CABLE]] += 1
        group_ups[stack[top, GROUP]] += 1
    lower = last - first
    for number in range(stack[top, STEP], lower + (end - beside if real else 0)):
        group = members[first + number if number < lower else beside + number - lower]
        other = neighbour[group]
        if other == stack[top, BEFORE] or hops + 1 >= reach[other]:
            continue
        cable = least_cable(group, group_first, cables, cable_ups)
        entry[other], reach[other] = cable, hops + 1
        stack[top, STEP], stack[top, GROUP], stack[top, CABLE] = number + 1, group, cable
        begin(stack, top + 1, DOWNWARD, other, -1, 0, hops + 1)
        return NOT_DONE
    return stack[top, LEADS]


@kernel
def resume_up(tree, top, led):
    """Let routers send to this one: those below it, one above it, then all others above it.

    The way to the one above is the main way if ``MAIN``. Main ways alone are counted, and those
    between routers of one level. Returns as ``resume_down``.
    """
    offsets, members, neighbour, group_first, cables = tree[0], tree[1], tree[2], tree[3], tree[4]
    group_downs, cable_downs, place, level = tree[7], tree[8], tree[9], tree[10]
    entry, reach, stack = tree[12], tree[13], tree[14]
    router, hops = stack[top, ROUTER], stack[top, HOPS]
    step, main = stack[top, STEP], stack[top, MAIN]
    if step == FRESH:
        stack[top, STEP], stack[top, LEADS] = LOWER_DONE, LEADS_NOWHERE
        begin(stack, top + 1, DOWNWARD, router, stack[top, BEFORE], 0, hops)
        return NOT_DONE
    stack[top, LEADS] |= led
    first, last = offsets[TO_UPPER, router], offsets[TO_UPPER, router + 1]
    if step == LOWER_DONE:
        if level[router] == 0:
            return stack[top, LEADS]
        sort_groups(members, first, last, group_downs, neighbour, place)
        stack[top, STEP], stack[top, BEST] = MAIN_DONE, members[first]
        if main:
            best = members[first]
            other = neighbour[best]
            cable = least_cable(best, group_first, cables, cable_downs)
            group_downs[best] += 1
            cable_downs[cable] += 1
            if entry[other] == NO_ENTRY or hops + 1 < reach[other]:
                entry[other], reach[other] = cable, hops + 1
            begin(stack, top + 1, UPWARD, other, router, 1, hops + 1)
            return NOT_DONE
    first += 1 if main else 0
    beside, end = offsets[TO_EQUAL, router], offsets[TO_EQUAL, router + 1]
    upper = last - first
    if step > upper and led:
        group_downs[stack[top, BEST]] += 1
        cable_downs[stack[top, CABLE]] += 1
    for number in range(max(step, 0), upper + end - beside):
        if number == upper:
            sort_groups(members, beside, end, group_downs, neighbour, place)
        group = members[first + number if number < upper else beside + number - upper]
        other = neighbour[group]
        if entry[other] != NO_ENTRY and hops + 1 >= reach[other]:
            continue
        cable = least_cable(group, group_first, cables, cable_downs)
        entry[other], reach[other] = cable, hops + 1
        stack[top, STEP], stack[top, CABLE] = number + 1, cable
        begin(stack, top + 1, UPWARD, other, router, 0, hops + 1)
        return NOT_DONE
    return stack[top, LEADS]


@njit(nogil=True)
def tree_table(order, routers, adapters, tree, num_ends):
    """Return int32[ends, routers], the channel from each router to each end; -1 where none.

    ``order`` are the ends in turn, on ``routers``. Below zero is an adapter that is missing. Ends
    below ``adapters`` are adapters, the others are the routers themselves.
    """
    entry, reach, stack = tree[12], tree[13], tree[14]
    table = np.full((num_ends, len(entry)), NO_ENTRY, np.int32)
    for turn in range(len(order)):
        end, router = order[turn], routers[turn]
        entry[:] = NO_ENTRY
        reach[:] = FAR
        main = hops = 1 if end < adapters else 0
        reach[router] = hops
        if end >= 0:
            entry[router] = ARRIVED
        begin(stack, 0, UPWARD, router, -1, main, hops)
        top, led = 0, LEADS_NOWHERE
        while top >= 0:
            if stack[top, KIND] == UPWARD:
                found = resume_up(tree, top, led)
            else:
                found = resume_down(tree, top, led, end >= 0)
            led = LEADS_NOWHERE if found == NOT_DONE else found
            top += 1 if found == NOT_DONE else -1
        if end >= 0:
            table[end] = np.maximum(entry, NO_ENTRY)
    return table
