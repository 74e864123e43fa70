"""Connections into phases, over flat arrays.

There are four parts.

* Edge coloring of connections between senders and receivers.
* Items packed into bins of several resources each. Bins hold them and cost least together.
* Routes of connections through copies of a network, one copy per phase. Places, prices and
  surcharges are those of ``routing.kernels.priced_paths``.
* Connections moved between phases until the phases, one after the other, last less long.

A phase lasts as long as its busiest processor or channel: its height. ``Task``, ``State`` and
``Load`` are those of ``phases.plan.plans``.

Twin: ``tests/reference/partitioning.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import inlined, kernel, njit
from netloom.routing.kernels.priced_paths import find

# -- edge coloring ---------------------------------------------------------------------------------


@njit
def edge_colouring(one, other, num_processors, colours):
    """Return int64[n], a color of each connection, none twice at a processor.

    The connections join senders to receivers, at most ``colours`` at each, so that König's theorem
    gives a coloring: a connection takes a color that is free at its sender. If it is taken at the
    receiver, the path of that color and of one that is free there changes them.
    """
    of = np.full((num_processors, colours), -1, np.int64)
    colour = np.empty(len(one), np.int64)
    for connection in range(len(one)):
        mine, theirs = 0, 0
        while of[one[connection], mine] >= 0:
            mine += 1
        while of[other[connection], theirs] >= 0:
            theirs += 1
        place, old, new = other[connection], mine, theirs
        moved = of[place, old]
        of[place, old] = connection
        while moved >= 0:  # it has color old at place, where new is free
            far = one[moved] + other[moved] - place
            after = of[far, new]
            of[place, new], of[far, new] = moved, moved
            colour[moved] = new
            if after < 0:
                of[far, old] = -1
            moved, place, old, new = after, far, new, old
        of[one[connection], mine] = connection
        colour[connection] = mine
    return colour


# -- packing ---------------------------------------------------------------------------------------


EVENNESS = 0.01
"""Worth of even loads, next to the largest one of a bin: where moving one item changes no largest
load, annealing would walk blindly."""


@inlined
def place(item, into, sign, sizes, weights, held, load):
    """Add an item to a bin, or take it out of it."""
    for kind in range(sizes.shape[1]):
        held[into, kind] += sign * sizes[item, kind]
    for kind in range(weights.shape[1]):
        load[into, kind] += sign * weights[item, kind]


@inlined
def move(item, other, first, second, sizes, weights, held, load):
    """Move an item from the first bin to the second, and the other (-1: none) to the first."""
    place(item, first, -1, sizes, weights, held, load)
    place(item, second, 1, sizes, weights, held, load)
    if other >= 0:
        place(other, second, -1, sizes, weights, held, load)
        place(other, first, 1, sizes, weights, held, load)


@inlined
def refresh(one, held, load, capacity, excess, height):
    """Bring up to date by how much a bin exceeds the capacities, and what it costs.

    That is its largest load, and how even they are.
    """
    over, largest, squares = 0, 0.0, 0.0
    for kind in range(held.shape[1]):
        over += max(0, held[one, kind] - capacity)
    for kind in range(load.shape[1]):
        here = load[one, kind]
        largest = max(largest, here)
        squares += here * here
    excess[one], height[one] = over, largest + EVENNESS * squares


@njit
def pack(sizes, weights, capacity, bins, tries, heat, penalty, rng, bin_of):
    """Anneal a packing, moving and swapping items. Return its excess over the capacities.

    ``bin_of`` holds a packing and takes the best one found: the one of least excess, and of those
    the one with the least sum of bins' heights.
    """
    num_items = len(sizes)
    held = np.zeros((bins, sizes.shape[1]), np.int64)
    load = np.zeros((bins, weights.shape[1]))
    excess, height = np.zeros(bins, np.int64), np.zeros(bins)
    now = bin_of.copy()
    for item in range(num_items):
        place(item, now[item], 1, sizes, weights, held, load)
    for one in range(bins):
        refresh(one, held, load, capacity, excess, height)
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
        moved = other if swap else -1
        move(item, moved, first, second, sizes, weights, held, load)
        old = excess[first], excess[second], height[first], height[second]
        refresh(first, held, load, capacity, excess, height)
        refresh(second, held, load, capacity, excess, height)
        after = penalty * (excess[first] + excess[second]) + height[first] + height[second]
        warm = heat * (1.0 - turn / tries) ** 2 + 1e-9
        if after > before and rng.random() >= np.exp((before - after) / warm):
            move(item, moved, second, first, sizes, weights, held, load)
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


# -- routes by prices ------------------------------------------------------------------------------


LOYALTY = 20.0
"""What a connection would rather pay than leave the phase that it is best in for other reasons."""


@inlined
def shift(task, state, one, sign):
    """Add the path of a connection to its phase, or take it out, and price its places anew."""
    use, price, history, table, phase, routes, lengths = state
    enters, starts, number = task.net[4], task.net[5], phase[one]
    for step in range(-1, lengths[one]):
        place = enters[routes[one, step]] if step >= 0 else starts[task.ends[0][one]]
        if place >= 0:
            use[number, place] += sign
            price[number, place] = (1.0 + history[number, place]) * table[use[number, place]]


@inlined
def crowded(task, state, one, capacity):
    """Whether a connection has no route, or one through a place that is too full."""
    enters, starts, number = task.net[4], task.net[5], state.phase[one]
    if number < 0:
        return True
    start = starts[task.ends[0][one]]
    most = state.use[number, start] if start >= 0 else 0
    for step in range(state.lengths[one]):
        most = max(most, state.use[number, enters[state.routes[one, step]]])
    return most > capacity


@inlined
def window(task, phase, one, last):
    """Return the first and last phase in which a connection keeps its order with the others."""
    low, high, (first, earlier), (start, later) = 0, last, task.before, task.after
    for place in range(first[one], first[one + 1]):
        low = max(low, phase[earlier[place]])
    for place in range(start[one], start[one + 1]):
        other = phase[later[place]]
        if other >= 0:
            high = min(high, other)
    return low, high


@kernel
def route(task, state, turn, capacity, home, first_fit):
    """Route, in turn, connections without a route or with a crowded one. Return how many are lost.

    Each takes the cheapest path of all phases, where any but its ``home`` (-1: none) costs more,
    and its last phase where several are cheapest. Or, with ``first_fit``, the path of the first
    phase that has one. The lost find none: phase -1.
    """
    use, price, _, _, phase, routes, lengths = state
    net, scratch, (source, target), free = task.net, task.scratch, task.ends, task.surcharge
    starts, distance, lost, found = net[5], net[6], 0, scratch[6]
    for one in turn:
        if not crowded(task, state, one, capacity):
            continue
        start = max(0, home[one])
        if phase[one] >= 0:
            start = phase[one]
            shift(task, state, one, -1)
            phase[one] = -1
        low, high = window(task, phase, one, len(use) - 1)
        start = min(max(start, low), high)
        best, here, there = np.inf, source[one], target[one]
        least = distance[there, here] + (1.0 if starts[here] >= 0 else 0.0)
        for ahead in range(high - low + 1):
            number = start + ahead if start + ahead <= high else start + ahead - (high - low + 1)
            away = LOYALTY if home[one] >= 0 and number != home[one] else 0.0
            limit = best - away
            paid, count = find(net, scratch, price[number], free, here, there, limit, found)
            if paid + away < best:
                best = paid + away
                phase[one], lengths[one] = number, count
                for step in range(count):
                    routes[one, step] = found[step]
                if best <= least or first_fit:
                    break
        if best < np.inf:
            shift(task, state, one, 1)
        else:
            lost += 1
    return lost


@kernel
def rip_up(task, state, chosen):
    """Take the routes of connections away."""
    for one in chosen:
        if state.phase[one] >= 0:
            shift(task, state, one, -1)
            state.phase[one] = -1


# -- moves between phases --------------------------------------------------------------------------


EVENNESS_OF_PHASES = 0.02
"""Worth of even loads next to the height of a phase, so that moves below it count too."""

ROOM = 0.9
"""Share of a phase's height to which new routes load channels, where they can."""

PARTNERS = 12
"""Connections that are looked at for one that makes room for another."""


@inlined
def refresh_phase(load, number):
    """Bring the height of a phase up to date. Return its cost, less for loads that are even."""
    if load.stale[number]:
        height = 0.0
        for clocks in load.busy[number]:
            height = max(height, clocks)
        load.heights[number], load.stale[number] = height, False
    return load.heights[number] + EVENNESS_OF_PHASES * load.squares[number] / load.unit


@inlined
def add(load, number, place, clocks):
    """Keep a processor or channel of a phase busy for more clocks, or for fewer."""
    before = load.busy[number, place]
    after = before + clocks
    load.busy[number, place] = after
    load.squares[number] += (after - before) * (after + before)
    if clocks > 0:
        load.heights[number] = max(load.heights[number], after)
    elif before >= load.heights[number]:
        load.stale[number] = True


@inlined
def occupy(task, load, number, one, route, count, sign):
    """Add a connection's clocks to its processors and channels in a phase, or take them out."""
    (receivers, channels), (at_ends, at_channels) = load.places, load.clocks
    add(load, number, task.ends[0][one], sign * at_ends[one])
    add(load, number, receivers + task.ends[1][one], sign * at_ends[one])
    for step in range(count):
        add(load, number, channels + route[step], sign * at_channels[one])


@kernel
def leave(task, state, load, one, kept):
    """Take a connection out of its phase. Its route is kept. Return the route's hops."""
    here, count = state.phase[one], state.lengths[one]
    for step in range(count):
        kept[step] = state.routes[one, step]
    shift(task, state, one, -1)
    occupy(task, load, here, one, kept, count, -1)
    state.phase[one] = -1
    return count


@kernel
def enter(task, state, load, one, there, route, count):
    """Put a connection into a phase over a route."""
    state.phase[one], state.lengths[one] = there, count
    for step in range(count):
        state.routes[one, step] = route[step]
    shift(task, state, one, 1)
    occupy(task, load, there, one, route, count, 1)


@kernel
def resettle(task, state, load, one, there, found):
    """Put a connection into a phase, around channels that would be too busy. Return whether it is.

    It is not if no route has room for it.
    """
    limit = ROOM * load.heights[there] - load.clocks[1][one]
    row, first, surcharge = load.busy[there], load.places[1], task.surcharge
    for channel in range(len(surcharge)):
        surcharge[channel] = 1.0 if row[first + channel] > limit else 0.0
    start, end, price = task.ends[0][one], task.ends[1][one], state.price[there]
    paid, hops = find(task.net, task.scratch, price, surcharge, start, end, np.inf, found)
    if paid < np.inf:
        enter(task, state, load, one, there, found, hops)
    return paid < np.inf


@inlined
def busiest(task, state, load, rng):
    """Return a connection of the busiest processor or channel of a phase, by chance."""
    phase, routes, lengths, busy = state.phase, state.routes, state.lengths, load.busy
    number, spot = int(rng.random() * len(busy)), 0
    least = load.heights[number] * (1 - 1e-9)
    while spot < busy.shape[1] - 1 and busy[number, spot] < least:
        spot += 1
    receivers, channels = load.places
    start = int(rng.random() * len(phase))
    for ahead in range(len(phase)):
        one = start + ahead if start + ahead < len(phase) else start + ahead - len(phase)
        if phase[one] != number:
            continue
        if spot >= channels:
            for step in range(lengths[one]):
                if routes[one, step] == spot - channels:
                    return one
        elif task.ends[0][one] == spot or receivers + task.ends[1][one] == spot:
            return one
    return start


@kernel
def propose(task, state, load, rng):
    """Return a connection, a partner or -1, and the phases that they may change places between."""
    phase, last, other = state.phase, len(load.busy) - 1, -1
    one = busiest(task, state, load, rng) if rng.random() < 0.5 else int(rng.random() * len(phase))
    here = phase[one]
    low, high = window(task, phase, one, last)
    there = low + int(rng.random() * (high - low + 1))
    tries = PARTNERS if there != here and rng.random() < 0.5 else 0
    while other < 0 and tries > 0:
        chosen, tries = int(rng.random() * len(phase)), tries - 1
        other = chosen if phase[chosen] == there else -1
    if other >= 0:  # its order is kept when the first connection has moved already
        phase[one] = there
        low, high = window(task, phase, other, last)
        phase[one] = here
        if not low <= here <= high:
            other = -1
    return one, other, here, there


@kernel
def balance(task, state, load, room, moves, heat, rng):
    """Anneal a plan by moving connections, or exchanging two. ``load`` then holds what it is.

    ``load`` has all heights stale. ``room``: for three routes.
    """
    heights, squares, stale = load.heights, load.squares, load.stale
    for number in range(len(heights)):
        refresh_phase(load, number)
    for turn in range(moves):
        one, other, here, there = propose(task, state, load, rng)
        high_here, square_here = heights[here], squares[here]
        high_there, square_there = heights[there], squares[there]
        cost = refresh_phase(load, here)
        if there != here:
            cost += refresh_phase(load, there)
        count, other_count = leave(task, state, load, one, room[1]), 0
        if other >= 0:
            other_count = leave(task, state, load, other, room[2])
        # how many are back in: all of them if both find a route
        back = 1 if resettle(task, state, load, one, there, room[0]) else 0
        if back == 1 and other >= 0:
            back += 1 if resettle(task, state, load, other, here, room[0]) else 0
        if back == 1 + (other >= 0):
            gain = cost - refresh_phase(load, here)
            if there != here:
                gain -= refresh_phase(load, there)
            warm = heat * (1.0 - turn / moves) ** 2 + 1e-12
            if gain >= 0 or rng.random() < np.exp(gain / warm):
                continue
        if back >= 1:
            leave(task, state, load, one, room[0])
        if back == 2:
            leave(task, state, load, other, room[0])
        enter(task, state, load, one, here, room[1], count)
        if other >= 0:
            enter(task, state, load, other, there, room[2], other_count)
        heights[here], squares[here], stale[here] = high_here, square_here, False
        heights[there], squares[there], stale[there] = high_there, square_there, False
