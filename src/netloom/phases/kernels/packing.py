"""Items into bins of several resources each, such that bins hold them and cost least together.

Twin: ``tests/reference/partitioning.py``.
"""

import numpy as np

from netloom.base.compilation import njit

EVENNESS = 0.01
"""Worth of even loads, next to the largest one of a bin: where moving one item changes no largest
load, annealing would walk blindly."""


@njit(nogil=True)
def excess_of(held, size, capacity):
    """Return by how much a bin's contents, with one more item, exceed the capacities."""
    over = 0
    for kind in range(len(held)):
        over += max(0, held[kind] + size[kind] - capacity)
    return over


@njit(nogil=True)
def height_of(load, weight):
    """Return the cost of a bin with one more item: its largest load, and how even they are."""
    height, squares = 0.0, 0.0
    for kind in range(len(load)):
        here = load[kind] + weight[kind]
        height = max(height, here)
        squares += here * here
    return height + EVENNESS * squares


@njit(nogil=True)
def place(item, into, sign, sizes, weights, held, load):
    """Add an item to a bin, or take it out of it."""
    for kind in range(sizes.shape[1]):
        held[into, kind] += sign * sizes[item, kind]
    for kind in range(weights.shape[1]):
        load[into, kind] += sign * weights[item, kind]


@njit(nogil=True)
def refresh(one, held, load, empty, nothing, capacity, excess, height):
    """Bring what is known of a bin up to date."""
    excess[one] = excess_of(held[one], empty, capacity)
    height[one] = height_of(load[one], nothing)


@njit(nogil=True)
def pack(sizes, weights, capacity, bins, tries, heat, penalty, rng, bin_of):
    """Anneal a packing, moving and swapping items. Return its excess over the capacities.

    ``bin_of`` holds a packing and takes the best one found: the one of least excess, and of those
    the one with the least sum of bins' heights.
    """
    num_items = len(sizes)
    held = np.zeros((bins, sizes.shape[1]), np.int64)
    load = np.zeros((bins, weights.shape[1]))
    empty, nothing = np.zeros(sizes.shape[1], np.int64), np.zeros(weights.shape[1])
    excess, height = np.zeros(bins, np.int64), np.zeros(bins)
    now = bin_of.copy()
    for item in range(num_items):
        place(item, now[item], 1, sizes, weights, held, load)
    for one in range(bins):
        refresh(one, held, load, empty, nothing, capacity, excess, height)
    best_excess, best_height = excess.sum(), height.sum()
    over, high = best_excess, best_height
    for turn in range(tries):
        item, other = int(rng.random() * num_items), int(rng.random() * num_items)
        first = now[item]
        swap = rng.random() < 0.5
        second = now[other] if swap else int(rng.random() * bins)
        if first == second:
            continue
        before = penalty * (excess[first] + excess[second]) + height[first] + height[second]
        place(item, first, -1, sizes, weights, held, load)
        place(item, second, 1, sizes, weights, held, load)
        if swap:
            place(other, second, -1, sizes, weights, held, load)
            place(other, first, 1, sizes, weights, held, load)
        old = excess[first], excess[second], height[first], height[second]
        refresh(first, held, load, empty, nothing, capacity, excess, height)
        refresh(second, held, load, empty, nothing, capacity, excess, height)
        after = penalty * (excess[first] + excess[second]) + height[first] + height[second]
        warm = heat * (1.0 - turn / tries) ** 2 + 1e-9
        if after > before and rng.random() >= np.exp((before - after) / warm):
            place(item, second, -1, sizes, weights, held, load)
            place(item, first, 1, sizes, weights, held, load)
            if swap:
                place(other, first, -1, sizes, weights, held, load)
                place(other, second, 1, sizes, weights, held, load)
            excess[first], excess[second], height[first], height[second] = old
            continue
        now[item] = second
        if swap:
            now[other] = first
        over += excess[first] + excess[second] - old[0] - old[1]
        high += height[first] + height[second] - old[2] - old[3]
        if over < best_excess or (over == best_excess and high < best_height - 1e-9):
            best_excess, best_height = over, high
            bin_of[:] = now
    return best_excess
