"""Connections moved between phases until the phases, one after the other, last less long.

A phase lasts as long as its busiest processor or channel: its height. What is known of the phases
is ``load``: ``busy``, float64[phases, places], the clocks of processors, then channels. ``heights``
and ``squares``, float64[phases], the most of each row and the sum of its squares; ``stale``,
bool[phases], whether something as busy as the height has become less so.

Twin: ``tests/reference/partitioning.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, kernel
from netloom.phases.kernels.route import shift, window
from netloom.routing.kernels.priced_paths import find

EVENNESS = 0.02
"""Worth of even loads next to the height of a phase, so that moves below it count too."""

ROOM = 0.9
"""Share of a phase's height to which new routes load channels, where they can."""

PARTNERS = 12
"""Connections that are looked at for one that makes room for another."""


@inlined
def refresh(load, number):
    """Bring the height of a phase up to date. Return its cost, less for loads that are even."""
    busy, heights, squares, stale, unit = load
    if stale[number]:
        height = 0.0
        for clocks in busy[number]:
            height = max(height, clocks)
        heights[number], stale[number] = height, False
    return heights[number] + EVENNESS * squares[number] / unit


@inlined
def add(load, number, place, clocks):
    """Keep a processor or channel of a phase busy for more clocks, or for fewer."""
    busy, heights, squares, stale, _ = load
    before = busy[number, place]
    after = before + clocks
    busy[number, place] = after
    squares[number] += (after - before) * (after + before)
    if clocks > 0:
        heights[number] = max(heights[number], after)
    elif before >= heights[number]:
        stale[number] = True


@inlined
def occupy(load, number, ends, places, one, clocks, route, count, sign):
    """Add a connection's clocks to its processors and channels in a phase, or take them out."""
    receivers, channels = places
    add(load, number, ends[0][one], sign * clocks[0][one])
    add(load, number, receivers + ends[1][one], sign * clocks[0][one])
    for step in range(count):
        add(load, number, channels + route[step], sign * clocks[1][one])


@kernel
def leave(net, ends, places, clocks, state, load, one, kept):
    """Take a connection out of its phase. Its route is kept. Return the route's hops."""
    phase, routes, lengths = state[4], state[5], state[6]
    here, count = phase[one], lengths[one]
    for step in range(count):
        kept[step] = routes[one, step]
    shift(net, state, one, ends[0][one], -1)
    occupy(load, here, ends, places, one, clocks, kept, count, -1)
    phase[one] = -1
    return count


@kernel
def enter(net, ends, places, clocks, state, load, one, there, route, count):
    """Put a connection into a phase over a route."""
    phase, routes, lengths = state[4], state[5], state[6]
    phase[one], lengths[one] = there, count
    for step in range(count):
        routes[one, step] = route[step]
    shift(net, state, one, ends[0][one], 1)
    occupy(load, there, ends, places, one, clocks, route, count, 1)


@kernel
def way(net, scratch, ends, places, clocks, state, load, surcharge, one, there, found):
    """Find a route in a phase that has room for it, around channels that would be too busy."""
    first, limit = places[1], ROOM * load[1][there] - clocks[1][one]
    row, price = load[0][there], state[1]
    for channel in range(len(surcharge)):
        surcharge[channel] = 1.0 if row[first + channel] > limit else 0.0
    paid, count = find(
        net, scratch, price[there], surcharge, ends[0][one], ends[1][one], np.inf, found
    )
    return count if paid < np.inf else -1


@inlined
def partner_in(phase, there, rng):
    """Return a connection of a phase by chance, or -1 if a few tries find none."""
    for _ in range(PARTNERS):
        other = int(rng.random() * len(phase))
        if phase[other] == there:
            return other
    return -1


@inlined
def busiest(load, places, state, ends, rng):
    """Return a connection of the busiest processor or channel of a phase, by chance."""
    phase, routes, lengths = state[4], state[5], state[6]
    busy, heights = load[0], load[1]
    number, spot = int(rng.random() * len(busy)), 0
    least = heights[number] * (1 - 1e-9)
    while spot < busy.shape[1] - 1 and busy[number, spot] < least:
        spot += 1
    receivers, channels = places
    start = int(rng.random() * len(phase))
    for ahead in range(len(phase)):
        one = start + ahead if start + ahead < len(phase) else start + ahead - len(phase)
        if phase[one] != number:
            continue
        if spot >= channels:
            for step in range(lengths[one]):
                if routes[one, step] == spot - channels:
                    return one
        elif ends[0][one] == spot or receivers + ends[1][one] == spot:
            return one
    return start


@kernel
def exchange(net, scratch, ends, places, clocks, state, load, moved, room, surcharge):
    """Move a connection to another phase or route, and its partner, if any, to where it was.

    ``moved`` holds both connections (-1: no partner) and their two phases. Both have been taken
    out. Returns how many are back in, which is all of them where both find a route.
    """
    one, other, here, there = moved
    found = room[0]
    hops = way(net, scratch, ends, places, clocks, state, load, surcharge, one, there, found)
    if hops < 0:
        return 0
    enter(net, ends, places, clocks, state, load, one, there, found, hops)
    if other < 0:
        return 1
    hops = way(net, scratch, ends, places, clocks, state, load, surcharge, other, here, found)
    if hops < 0:
        return 1
    enter(net, ends, places, clocks, state, load, other, here, found, hops)
    return 2


@kernel
def propose(state, ends, places, load, before, after, rng):
    """Return a connection, a partner or -1, and the phases that they may change places between."""
    phase, last = state[4], len(load[0]) - 1
    if rng.random() < 0.5:
        one = busiest(load, places, state, ends, rng)
    else:
        one = int(rng.random() * len(phase))
    here = phase[one]
    low, high = window(one, phase, before, after, last)
    there = low + int(rng.random() * (high - low + 1))
    other = -1
    if there != here and rng.random() < 0.5:
        other = partner_in(phase, there, rng)
    if other >= 0:  # its order is kept when the first connection has moved already
        phase[one] = there
        low, high = window(other, phase, before, after, last)
        phase[one] = here
        if not low <= here <= high:
            other = -1
    return one, other, here, there


@kernel
def balance(net, scratch, ends, places, clocks, state, before, after, load, work, moves, heat, rng):
    """Anneal a plan by moving connections, or exchanging two. ``load`` then holds what it is.

    Parameters
    ----------
    places
        Places in a row of ``busy`` at which receivers, then channels begin.
    clocks
        For each connection, the clocks it keeps a processor, then a channel busy.
    load
        ``busy`` of the plan, all heights stale, and the unit of squares.
    work
        Room for surcharges of channels, and for three routes.
    """
    heights, squares, stale = load[1], load[2], load[3]
    surcharge, room = work
    for number in range(len(heights)):
        refresh(load, number)
    for turn in range(moves):
        moved = propose(state, ends, places, load, before, after, rng)
        one, other, here, there = moved
        high_here, square_here = heights[here], squares[here]
        high_there, square_there = heights[there], squares[there]
        cost = refresh(load, here)
        if there != here:
            cost += refresh(load, there)
        count = leave(net, ends, places, clocks, state, load, one, room[1])
        other_count = 0
        if other >= 0:
            other_count = leave(net, ends, places, clocks, state, load, other, room[2])
        back = exchange(net, scratch, ends, places, clocks, state, load, moved, room, surcharge)
        if back == 1 + (other >= 0):
            gain = cost - refresh(load, here)
            if there != here:
                gain -= refresh(load, there)
            warm = heat * (1.0 - turn / moves) ** 2 + 1e-12
            if gain >= 0 or rng.random() < np.exp(gain / warm):
                continue
        if back >= 1:
            leave(net, ends, places, clocks, state, load, one, room[0])
        if back == 2:
            leave(net, ends, places, clocks, state, load, other, room[0])
        enter(net, ends, places, clocks, state, load, one, here, room[1], count)
        if other >= 0:
            enter(net, ends, places, clocks, state, load, other, there, room[2], other_count)
        heights[here], squares[here], stale[here] = high_here, square_here, False
        heights[there], squares[there], stale[there] = high_there, square_there, False
