"""OpenSM's counters and trees over flat arrays: minhop, updn and ftree.

Counters take, of the shortest permitted ways, the port that has the fewest. ``ways`` never changes.
It holds the routers that each channel leaves and enters, the channels out of each router by port,
and those into it by port. The last two are (offsets, channels).

ftree takes ways down and up a tree, each by the cable used least. A *group* is the cables from one
neighbour, that is, the channels that enter from there. ``tree`` holds four things. The groups of
each router are given as offsets[kind, router] into ``members`` (kinds below), with each group's
neighbour and its first place in ``cables``. Counts show how often groups and cables were chosen on
the way up and on the way down. Each router has its place in the tree's order, its level (0 is a
root), and whether adapters hang on it. For the current destination there are the entry and the hops
of each router so far, and the stack of searches (columns below). Each search waits for the one
above it.

Twin: ``tests/reference/opensm.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import inlined, kernel, njit
from netloom.routing.kernels.shortest_path import distances_to

# -- counters --------------------------------------------------------------------------------------


NO_WAY = 2**30


@njit
def fill_hops(end, ways, directions, barred, state):
    """Fill the hops to a router by each channel and from each router, as OpenSM finds them.

    A search from the end outwards, port by port. It steps over a channel from its target to its
    source, and takes on that channel's direction. A step whose direction is 1 − ``barred`` after
    ``barred`` is not taken. A router waits at most once, and keeps the direction it waits with.
    """
    source, _, _, entering = ways
    by_channel, least, facing, searched, waits, queue = state
    by_channel[:] = NO_WAY
    least[:] = NO_WAY
    searched[:] = -1
    waits[:] = False
    least[end], facing[end], queue[0] = 0, 1 - barred, end
    head, tail, room = 0, 1, len(queue)
    while head != tail:
        router = queue[head % room]
        head += 1
        waits[router] = False
        hops = least[router]
        mark = hops * 3 + facing[router]
        if searched[router] == mark:
            continue
        searched[router] = mark
        for slot in range(entering[0][router], entering[0][router + 1]):
            channel = entering[1][slot]
            if facing[router] == barred and directions[channel] == 1 - barred:
                continue
            if hops + 1 >= by_channel[channel]:
                continue
            before = source[channel]
            by_channel[channel] = hops + 1
            least[before] = min(least[before], hops + 1)
            if not waits[before]:
                waits[before], facing[before] = True, directions[channel]
                queue[tail % room] = before
                tail += 1


@njit
def fill_choices(end, ways, state, same_neighbour, offsets, choices):
    """Fill the channels of least hops out of each router, by port.

    With ``same_neighbour``, those alone that lead to where the first of them leads.
    """
    _, target, leaving, _ = ways
    by_channel, least = state[0], state[1]
    count = 0
    for router in range(len(leaving[0]) - 1):
        offsets[router] = count
        if router == end or least[router] >= NO_WAY:
            continue
        for slot in range(leaving[0][router], leaving[0][router + 1]):
            channel = leaving[1][slot]
            if by_channel[channel] != least[router]:
                continue
            first = choices[offsets[router]] if count > offsets[router] else channel
            if not same_neighbour or target[channel] == target[first]:
                choices[count] = channel
                count += 1
    offsets[-1] = count


@njit
def least_used(order, exits, counted, ways, directions, barred, same_neighbour):
    """Return int32[ends, routers]: ends in an order, by the port used least, of these the lowest.

    The first ``counted`` ends are counted. Ways to the others are not.
    """
    num_routers, num_channels = len(ways[2][0]) - 1, len(ways[0])
    table = np.full((len(exits), num_routers), -1, np.int32)
    used = np.zeros(num_channels, np.int64)
    by_channel, facing = np.empty(num_channels, np.int32), np.empty(num_routers, np.int8)
    least, searched = np.empty((2, num_routers), np.int32)
    waits, queue = np.empty(num_routers, np.bool_), np.empty(num_routers + 1, np.int32)
    state = by_channel, least, facing, searched, waits, queue
    offsets = np.zeros(num_routers + 1, np.int64)
    choices = np.empty(num_channels, np.int32)
    known = -1
    for place in order:
        end = exits[place]
        if end != known:
            known = end
            fill_hops(end, ways, directions, barred, state)
            fill_choices(end, ways, state, same_neighbour, offsets, choices)
        for router in range(num_routers):
            if offsets[router] == offsets[router + 1]:
                continue
            chosen = choices[offsets[router]]
            for slot in range(offsets[router] + 1, offsets[router + 1]):
                if used[choices[slot]] < used[chosen]:
                    chosen = choices[slot]
            table[place, router] = chosen
            if place < counted:
                used[chosen] += 1
    return table


@njit
def ends_by_distance(ends, channel_source, in_offsets, in_channels, most):
    """Return int64[routers, most], how many ends are how far from a router."""
    num_routers = len(ends)
    found = np.zeros((num_routers, most), np.int64)
    distance, queue = np.empty((2, num_routers), np.int32)
    for end in range(num_routers):
        if ends[end]:
            distances_to(end, channel_source, in_offsets, in_channels, distance, queue)
            for router in range(num_routers):
                if 0 <= distance[router] < most:
                    found[router, distance[router]] += ends[end]
    return found


# -- fat tree --------------------------------------------------------------------------------------


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


@njit
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
