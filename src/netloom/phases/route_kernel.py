"""Routes through copies of a network, one copy a phase, by the prices of its places.

A place is what has a capacity: a node, or a channel. ``enters[c]`` is the place that a path takes
when it crosses channel c; ``starts[v]`` the one that it takes by starting in node v, -1 for none.
Every price is 1 or more. What remains to be paid is at least the hops that remain times the lowest
price of the phase, and for the last of them, where nodes are places, the price of the target (A*).
"""

import numpy as np

from netloom.compilation import inlined, kernel

LOYALTY = 20.0
"""What a connection would rather pay than leave the phase that it is best in for other reasons."""


@inlined
def push(keys, nodes, size, key, node):
    """Put a node into a heap; return the new size."""
    place = size
    while place > 0:
        above = (place - 1) >> 1
        if keys[above] <= key:
            break
        keys[place], nodes[place] = keys[above], nodes[above]
        place = above
    keys[place], nodes[place] = key, node
    return size + 1


@inlined
def pop(keys, nodes, size):
    """Take the first node out of a heap; return the new size."""
    size -= 1
    key, node = keys[size], nodes[size]
    place, below = 0, 1
    while below < size:
        if below + 1 < size and keys[below + 1] < keys[below]:
            below += 1
        if keys[below] >= key:
            break
        keys[place], nodes[place] = keys[below], nodes[below]
        place, below = below, 2 * below + 1
    keys[place], nodes[place] = key, node
    return size


@inlined
def lowest(price):
    """Return the lowest price."""
    least = price[0]
    for one in price:
        least = min(least, one)
    return least


@kernel
def find(net, scratch, price, surcharge, source, target, limit, route):
    """Find the cheapest path below ``limit``; return its price (inf: none) and its hops.

    ``price`` has one entry a place, ``surcharge`` one a channel.
    """
    source_of, target_of, out_offsets, out_channels, enters, starts, distance = net
    paid, hops, via, keys, nodes, settled = scratch[:6]
    first = price[starts[source]] if starts[source] >= 0 else 0.0
    if first + distance[target, source] >= limit:
        return np.inf, 0
    step_price = lowest(price)
    last = price[starts[target]] - step_price if starts[target] >= 0 and source != target else 0.0
    estimate = first + step_price * distance[target, source] + last
    if estimate >= limit:
        return np.inf, 0
    paid[:] = np.inf
    settled[:] = False
    paid[source], hops[source] = first, 0
    size = push(keys, nodes, 0, estimate, source)
    while size > 0:
        node = nodes[0]
        size = pop(keys, nodes, size)
        if settled[node]:
            continue
        settled[node] = True
        if node == target:
            back, count = target, hops[target]
            for step in range(count - 1, -1, -1):
                route[step] = via[back]
                back = source_of[via[back]]
            return paid[target], count
        for place in range(out_offsets[node], out_offsets[node + 1]):
            channel = out_channels[place]
            other = target_of[channel]
            ahead = distance[target, other]
            if settled[other] or hops[node] + 1 + ahead > len(route):
                continue
            cost = paid[node] + price[enters[channel]] + surcharge[channel]
            estimate = cost
            if other != target:
                estimate += step_price * ahead + last
            if cost < paid[other] and estimate < limit:
                paid[other], hops[other], via[other] = cost, hops[node] + 1, channel
                size = push(keys, nodes, size, estimate, other)
    return np.inf, 0


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
    """Route, in turn, connections without a route or with a crowded one; return how many are lost.

    Each takes the cheapest path of all phases, where any but its ``home`` (-1: none) costs more,
    and its last phase where several are cheapest; or, with ``first_fit``, the path of the first
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
