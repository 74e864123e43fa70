"""Connections moved between phases until the phases, one after the other, last less long.

A phase lasts as long as its busiest processor or channel: its height. ``busy`` holds the clocks of
processors, then channels, in each phase.
"""

import numpy as np
from numba import njit

from netloom.phases.route_kernel import find, shift, window

EVENNESS = 0.02
"""Worth of even loads next to the height of a phase, so that moves below it count too."""

ROOM = 0.9
"""Share of a phase's height to which new routes load channels, where they can."""

PARTNERS = 12
"""Connections that are looked at for one that makes room for another."""


@njit(cache=True, nogil=True)
def height_of(busy, unit):
    """Return the height of a phase, and its cost: the height, and how uneven the loads are."""
    height, squares = 0.0, 0.0
    for clocks in busy:
        height = max(height, clocks)
        squares += clocks * clocks
    return height, height + EVENNESS * squares / unit


@njit(cache=True, nogil=True)
def occupy(busy, ends, places, one, clocks, route, count, sign):
    """Add a connection's clocks to its processors and channels in a phase, or take them out."""
    receivers, channels = places
    busy[ends[0][one]] += sign * clocks[0][one]
    busy[receivers + ends[1][one]] += sign * clocks[0][one]
    for step in range(count):
        busy[channels + route[step]] += sign * clocks[1][one]


@njit(cache=True, nogil=True)
def leave(net, ends, places, clocks, state, busy, one, kept):
    """Take a connection out of its phase; its route is kept. Return the route's hops."""
    phase, routes, lengths = state[4], state[5], state[6]
    here, count = phase[one], lengths[one]
    kept[:count] = routes[one, :count]
    shift(net, state, one, ends[0][one], -1)
    occupy(busy[here], ends, places, one, clocks, kept, count, -1)
    phase[one] = -1
    return count


@njit(cache=True, nogil=True)
def enter(net, ends, places, clocks, state, busy, one, there, route, count):
    """Put a connection into a phase over a route."""
    phase, routes, lengths = state[4], state[5], state[6]
    phase[one], lengths[one] = there, count
    routes[one, :count] = route[:count]
    shift(net, state, one, ends[0][one], 1)
    occupy(busy[there], ends, places, one, clocks, route, count, 1)


@njit(cache=True, nogil=True)
def way(net, scratch, ends, places, clocks, state, busy, surcharge, one, there, limit, found):
    """Find a route in a phase that has room for it, around channels that would be too busy."""
    first = places[1]
    for channel in range(len(surcharge)):
        crowded = busy[there, first + channel] + clocks[1][one] > limit
        surcharge[channel] = 1.0 if crowded else 0.0
    price = state[1]
    paid, count = find(
        net, scratch, price[there], surcharge, ends[0][one], ends[1][one], np.inf, found
    )
    return count if paid < np.inf else -1


@njit(cache=True, nogil=True)
def partner_in(phase, there, rng):
    """Return a connection of a phase by chance; -1 if a few tries find none."""
    for _ in range(PARTNERS):
        other = int(rng.random() * len(phase))
        if phase[other] == there:
            return other
    return -1


@njit(cache=True, nogil=True)
def busiest(heights, busy, places, state, ends, rng):
    """Return a connection of the busiest processor or channel of a phase, by chance."""
    phase, routes, lengths = state[4], state[5], state[6]
    number = int(rng.random() * len(heights))
    spot = np.argmax(busy[number])
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


@njit(cache=True, nogil=True)
def exchange(net, scratch, ends, places, clocks, state, busy, heights, moved, room, surcharge):
    """Move a connection to another phase or route, and its partner, if any, to where it was.

    ``moved`` holds both connections (-1: no partner) and their two phases. Both have been taken
    out; returns how many are back in, which is all of them where both find a route.
    """
    one, other, here, there = moved
    found = room[0]
    limit = ROOM * heights[there]
    hops = way(net, scratch, ends, places, clocks, state, busy, surcharge, one, there, limit, found)
    if hops < 0:
        return 0
    enter(net, ends, places, clocks, state, busy, one, there, found, hops)
    if other < 0:
        return 1
    limit = ROOM * heights[here]
    hops = way(
        net, scratch, ends, places, clocks, state, busy, surcharge, other, here, limit, found
    )
    if hops < 0:
        return 1
    enter(net, ends, places, clocks, state, busy, other, here, found, hops)
    return 2


@njit(cache=True, nogil=True)
def propose(state, ends, places, busy, heights, before, after, rng):
    """Return a connection, a partner or -1, and the phases that they may change places between."""
    phase, last = state[4], len(busy) - 1
    if rng.random() < 0.5:
        one = busiest(heights, busy, places, state, ends, rng)
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


@njit(cache=True, nogil=True)
def balance(net, scratch, ends, places, clocks, state, before, after, busy, moves, heat, rng):
    """Anneal a plan by moving connections, or exchanging two; return the height of all phases.

    Parameters
    ----------
    places
        Where receivers, then channels begin in a row of ``busy``.
    clocks
        For each connection, the clocks it keeps a processor, then a channel busy.
    """
    longest = state[5].shape[1]
    heights, costs = np.zeros(len(busy)), np.zeros(len(busy))
    unit = max(1e-9, busy.sum() / len(busy))
    for number in range(len(busy)):
        heights[number], costs[number] = height_of(busy[number], unit)
    surcharge, room = np.zeros(len(net[0])), np.empty((3, longest), np.int32)
    for turn in range(moves):
        moved = propose(state, ends, places, busy, heights, before, after, rng)
        one, other, here, there = moved
        count = leave(net, ends, places, clocks, state, busy, one, room[1])
        other_count = 0
        if other >= 0:
            other_count = leave(net, ends, places, clocks, state, busy, other, room[2])
        back = exchange(
            net, scratch, ends, places, clocks, state, busy, heights, moved, room, surcharge
        )
        if back == 1 + (other >= 0):
            high_here, cost_here = height_of(busy[here], unit)
            high_there, cost_there = height_of(busy[there], unit)
            gain = costs[here] - cost_here
            if there != here:
                gain += costs[there] - cost_there
            warm = heat * (1.0 - turn / moves) ** 2 + 1e-12
            if gain >= 0 or rng.random() < np.exp(gain / warm):
                heights[here], costs[here] = high_here, cost_here
                heights[there], costs[there] = high_there, cost_there
                continue
        if back >= 1:
            leave(net, ends, places, clocks, state, busy, one, room[0])
        if back == 2:
            leave(net, ends, places, clocks, state, busy, other, room[0])
        enter(net, ends, places, clocks, state, busy, one, here, room[1], count)
        if other >= 0:
            enter(net, ends, places, clocks, state, busy, other, there, room[2], other_count)
    return heights.sum()
