"""The most heavily loaded channel on each path, without walking the path.

A path is at most one run of a line in each dimension. For each dimension, ``heaviest[j, c]`` is
the largest load on the 2**j channels of c's line that begin at c; two overlapping such spans
cover any run.
"""

import numpy as np
from numba import njit

from netloom.routing.dimension_order_kernel import step


@njit(cache=True)
def spans(load, length):
    """Largest load of each span of 2**j channels, j = 0, 1 …, clipped at the end of its line."""
    levels = 1
    while 2**levels <= length:
        levels += 1
    heaviest = np.empty((levels, len(load)))
    heaviest[0] = load
    for level in range(1, levels):
        half = 2 ** (level - 1)
        for channel in range(len(load)):
            best = heaviest[level - 1, channel]
            if channel % length + half < length:
                best = max(best, heaviest[level - 1, channel + half])
            heaviest[level, channel] = best
    return heaviest


@njit(cache=True)
def _heaviest_run(heaviest, first, hops):
    level = 0
    while 2 ** (level + 1) <= hops:
        level += 1
    return max(heaviest[level, first], heaviest[level, first + hops - 2**level])


@njit(cache=True, nogil=True)
def raise_to_heaviest(tables, rank, targets, at, heaviest, peak):
    """Raise ``peak`` of each path to its heaviest channel in one dimension, and move it on."""
    axis = tables.order[rank]
    base, length = tables.line_base[axis, 0], tables.line_channels[axis]
    for path in range(len(targets)):
        _, hops, line, place, reached = step(tables, axis, at[path], targets[path])
        if hops == 0:
            continue
        line -= base
        before_end = min(hops, length - place)
        best = _heaviest_run(heaviest, line + place, before_end)
        if hops > before_end:  # round the end of a ring
            best = max(best, _heaviest_run(heaviest, line, hops - before_end))
        peak[path] = max(peak[path], best)
        at[path] = reached
