"""Routes of connections through copies of a network, one copy a phase.

Places, prices and surcharges are those of ``kernels.priced_paths``.

Twin: ``tests/reference/partitioning.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, kernel
from netloom.routing.kernels.priced_paths import find

LOYALTY = 20.0
"""What a connection would rather pay than leave the phase that it is best in for other reasons."""


@inlined
def shift(net, state, one, source, sign):
    """Add the path of a connection to its phase, or take it out, and price its places anew."""
    use, price, history, table, phase, routes, lengths = state
    enters, starts, number = net[4], net[5], phase[one]
    if starts[source] >= 0:
        place = starts[source]
        use[number, place] += sign
        price[number, place] = (1.0 + history[number, place]) * table[use[number, place]]
    for step in range(lengths[one]):
        place = enters[routes[one, step]]
        use[number, place] += sign
        price[number, place] = (1.0 + history[number, place]) * table[use[number, place]]


@inlined
def crowded(net, state, one, source, capacity):
    """Whether a connection has no route, or one through a place that is too full."""
    use, phase, routes, lengths = state[0], state[4], state[5], state[6]
    enters, starts, number = net[4], net[5], phase[one]
    if number < 0:
        return True
    if starts[source] >= 0 and use[number, starts[source]] > capacity:
        return True
    most = 0
    for step in range(lengths[one]):
        most = max(most, use[number, enters[routes[one, step]]])
    return most > capacity


@inlined
def window(one, phase, before, after, last):
    """Return the first and last phase in which a connection keeps its order with the others."""
    low, high = 0, last
    for place in range(before[0][one], before[0][one + 1]):
        low = max(low, phase[before[1][place]])
    for place in range(after[0][one], after[0][one + 1]):
        other = phase[after[1][place]]
        if other >= 0:
            high = min(high, other)
    return low, high


@kernel
def route(net, scratch, ends, state, turn, before, after, capacity, surcharge, home, first_fit):
    """Route, in turn, connections without a route or with a crowded one. Return how many are lost.

    Each takes the cheapest path of all phases, where any but its ``home`` (-1: none) costs more,
    and its last phase where several are cheapest. Or, with ``first_fit``, the path of the first
    phase that has one. The lost find none: phase -1.
    """
    source, target = ends
    use, price, phase, routes, lengths = state[0], state[1], state[4], state[5], state[6]
    starts, distance = net[5], net[6]
    lost, found = 0, scratch[6]
    for one in turn:
        if not crowded(net, state, one, source[one], capacity):
            continue
        start = max(0, home[one])
        if phase[one] >= 0:
            start = phase[one]
            shift(net, state, one, source[one], -1)
            phase[one] = -1
        low, high = window(one, phase, before, after, len(use) - 1)
        start = min(max(start, low), high)
        best = np.inf
        least = distance[target[one], source[one]] + (1.0 if starts[source[one]] >= 0 else 0.0)
        for ahead in range(high - low + 1):
            number = start + ahead if start + ahead <= high else start + ahead - (high - low + 1)
            away = LOYALTY if home[one] >= 0 and number != home[one] else 0.0
            paid, count = find(
                net, scratch, price[number], surcharge, source[one], target[one], best - away, found
            )
            if paid + away < best:
                best = paid + away
                phase[one], lengths[one] = number, count
                for step in range(count):
                    routes[one, step] = found[step]
                if best <= least or first_fit:
                    break
        if best < np.inf:
            shift(net, state, one, source[one], 1)
        else:
            lost += 1
    return lost


@kernel
def rip_up(net, ends, state, chosen):
    """Take the routes of connections away."""
    phase = state[4]
    for one in chosen:
        if phase[one] >= 0:
            shift(net, state, one, ends[0][one], -1)
            phase[one] = -1
