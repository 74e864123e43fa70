"""Packets of open-loop traffic: when they come, and where they go, from numbers that were drawn.

Twin: ``tests/reference/packets.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, kernel

# -- numbers of `counter_random`, one at a time ----------------------------------------------------


GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@inlined
def scrambled(bits):
    """SplitMix64's bijection of 64 bits, each of which depends on all."""
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return bits ^ (bits >> np.uint64(31))


@inlined
def bits_at(key, index):
    """Return the 64 bits at a place of a chain or stream, by its key."""
    return scrambled(key + (np.uint64(index) + np.uint64(1)) * GOLDEN)


# -- packets ---------------------------------------------------------------------------------------


unsigned = np.uint64
"""An index as it is, that is never negative. See ``simulation.kernels.records``."""


@kernel
def add_up(gaps, at, scale, whole):
    """Turn gaps, drawn with mean 1, into what they reach from ``at`` on. ``whole`` ones are cells.

    Return what the last one reaches.
    """
    for place in range(len(gaps)):
        index = unsigned(place)
        gap = gaps[index] * scale
        at += max(np.ceil(gap), 1.0) if whole else gap
        gaps[index] = at
    return at


@kernel
def note_arrivals(cells, members, lots, kept, start, keys):
    """Write ``cycle << 32 | sender`` of each arrival to ``keys``. Return how many there are.

    ``cells`` are places in rows of all members, row after row and cycle after cycle from ``start``
    on. If there are ``lots``, an arrival stays if its lot is below the member's share ``kept``.
    """
    row = len(members)
    each = 1.0 / row
    count = 0
    for at in range(len(cells)):
        index = unsigned(at)
        cycle = np.int64(cells[index] * each)  # or one beside it, as it is rounded
        place = np.int64(cells[index]) - cycle * row
        if place < 0:
            cycle, place = cycle - 1, place + row
        elif place >= row:
            cycle, place = cycle + 1, place - row
        if len(lots) == 0 or lots[index] < kept[unsigned(place)]:
            keys[unsigned(count)] = (start + cycle) << 32 | members[unsigned(place)]
            count += 1
    return count


@kernel
def draw_weighted(places, sources, offsets, threshold, target, alias, targets):
    """Write the target of each packet, by Walker's tables and a random number in [0, 1) each."""
    for index in range(len(sources)):
        source = sources[unsigned(index)]
        first = offsets[unsigned(source)]
        place = places[unsigned(index)] * (offsets[unsigned(source + 1)] - first)
        column = np.int64(place)
        cell = unsigned(first + column)
        own = place - column < threshold[cell]
        targets[unsigned(index)] = target[cell] if own else alias[cell]


@kernel
def hot_place(place, rank, ends):
    """Return which hot node lies at a place among the weights of all but the one of a rank.

    ``ends``: what the weights of all add up to, one after the other. No rank is left out if it is
    not of these.
    """
    several = rank < len(ends)
    own = ends[rank] - (ends[rank - 1] if rank > 0 else 0.0) if several else 0.0
    low, high = 0, len(ends) - 1 - several
    while low < high:
        middle = (low + high) // 2
        if place < (ends[middle] if middle < rank else ends[middle + 1] - own):
            high = middle
        else:
            low = middle + 1
    return low + (low >= rank)


@kernel
def draw_hot(lots, fraction, places, sources, rank, left, ends, hot_nodes, targets):
    """Give each packet whose lot is below the fraction one of the hot nodes instead of its target.

    Its place, a random number in [0, 1), is one among the weights that are ``left`` of all hot
    nodes without its source.
    """
    taken = 0
    for index in range(len(sources)):
        if lots[unsigned(index)] < fraction:
            own = rank[unsigned(sources[unsigned(index)])]
            if left[own] > 0:
                picked = hot_place(places[unsigned(taken)] * left[own], own, ends)
                targets[unsigned(index)] = hot_nodes[unsigned(picked)]
            taken += 1
