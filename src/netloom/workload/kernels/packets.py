"""Packets of open-loop traffic: when they come, and where they go, from numbers that were drawn."""

import numpy as np

from netloom.compilation import kernel

unsigned = np.uint64
"""An index as it is, that is never negative; see ``simulation.kernels.records``."""


@kernel
def add_up(gaps, at, scale, whole):
    """Turn gaps, drawn with mean 1, into what they reach from ``at`` on; ``whole`` ones are cells.

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
    """Write ``cycle << 32 | sender`` of each arrival to ``keys``; return how many there are.

    ``cells`` are places in rows of all members, row after row and cycle after cycle from ``start``
    on. Where there are ``lots``, an arrival stays if its lot is below the member's share ``kept``.
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
def write_rows(columns, rows):
    """Write what columns hold as rows."""
    for place in range(len(rows)):
        row = unsigned(place)
        for column in range(len(columns)):
            rows[row, unsigned(column)] = columns[column][row]


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
