"""Packets of open-loop traffic: when they come, and where they go, from numbers that were drawn."""

import numpy as np

from netloom.compilation import kernel


@kernel
def note_arrivals(cells, members, lots, kept, start, keys):
    """Write ``cycle << 32 | sender`` of each arrival to ``keys``; return how many there are.

    ``cells`` are places in rows of all members, row after row and cycle after cycle from ``start``
    on. Where there are ``lots``, an arrival stays if its lot is below the member's share ``kept``.
    """
    row = np.int64(len(members))
    thinned = len(lots) > 0
    cycle = first = np.int64(0)
    count = 0
    for index in range(len(cells)):
        cell = np.int64(cells[index])
        if cell < first or cell >= first + row:
            cycle = cell // row
            first = cycle * row
        place = cell - first
        if not thinned or lots[index] < kept[place]:
            keys[count] = (start + cycle) << 32 | members[place]
            count += 1
    return count


@kernel
def draw_weighted(places, sources, offsets, threshold, target, alias, targets):
    """Write the target of each packet, by Walker's tables and a random number in [0, 1) each."""
    for index in range(len(sources)):
        source = sources[index]
        first = offsets[source]
        place = places[index] * (offsets[source + 1] - first)
        column = np.int64(place)
        cell = first + column
        own = place - column < threshold[cell]
        targets[index] = target[cell] if own else alias[cell]
