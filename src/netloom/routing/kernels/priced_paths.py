"""The cheapest path through a network whose places have prices.

A place has a capacity: it is a node or a channel. ``enters[c]`` is the place that a path takes when
it crosses channel c. ``starts[v]`` is the one that it takes by starting in node v, or -1 for none.
A price is the cost of a place to a path that takes it, 1 or more. A surcharge is the additional
cost of a channel, 0 or more. The remaining cost is at least the remaining hops times the lowest
price (A*). If nodes are places, the last hop costs the price of the target.

``net`` is (channel_source, channel_target, out_offsets, out_channels, enters, starts, distance),
with ``distance[target, node]`` in hops. ``scratch`` begins with room for one search. These are
paid, hops and via of each node, the keys and nodes of a heap, and whether a node is settled. The
heap has room for all channels and nodes and one more.

Twin: ``tests/reference/partitioning.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, kernel


@inlined
def push(keys, nodes, size, key, node):
    """Put a node into a heap. Return the new size."""
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
    """Take the first node out of a heap. Return the new size."""
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
    """Find the cheapest path below ``limit``. Return its price (inf: none) and its hops.

    ``price`` has one entry per place, ``surcharge`` one per channel.
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
