"""Cheapest paths over flat arrays, and the heaps that find them.

In the heap of four children per place, the vertex of the least key comes out first. ``heap`` is
(members, place, key, size): the vertex at each place, the place of each vertex, its key, and in
``size[0]`` how many are in. Of several least children the last goes up, and a vertex rises only
past greater keys: which of equal keys comes first follows from what went in when.

A priced path leads through a network whose places have prices. A place has a capacity: it is a node
or a channel. ``enters[c]`` is the place that a path takes when it crosses channel c. ``starts[v]``
is the one that it takes by starting in node v, or -1 for none. A price is the cost of a place to a
path that takes it, 1 or more. A surcharge is the additional cost of a channel, 0 or more. The
remaining cost is at least the remaining hops times the lowest price (A*). If nodes are places, the
last hop costs the price of the target.

``net`` is (channel_source, channel_target, out_offsets, out_channels, enters, starts, distance),
with ``distance[target, node]`` in hops. ``scratch`` begins with room for one search. These are
paid, hops and via of each node, the keys and nodes of a heap, and whether a node is settled. The
heap has room for all channels and nodes and one more.

Twin: ``tests/reference/cheapest_ways.py``. Of priced paths: ``tests/reference/partitioning.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import inlined, kernel, njit

# -- the heap of four children ---------------------------------------------------------------------


CHILDREN = 4


@njit
def empty_heap(num_vertices):
    """A heap with room for this many vertices."""
    members, place = np.empty(num_vertices, np.int32), np.full(num_vertices, -1, np.int32)
    return members, place, np.empty(num_vertices, np.int64), np.zeros(1, np.int64)


@kernel
def push(heap, vertex, key):
    """Put a vertex in."""
    members, place, keys, size = heap
    keys[vertex], members[size[0]], place[vertex] = key, vertex, size[0]
    size[0] += 1
    rise(heap, vertex)


@kernel
def lower(heap, vertex, key):
    """Give a vertex that is in a lower key."""
    heap[2][vertex] = key
    rise(heap, vertex)


@kernel
def pop(heap):
    """Take out the vertex of the least key."""
    members, place, _, size = heap
    least = members[0]
    size[0] -= 1
    if size[0] > 0:
        members[0] = members[size[0]]
        place[members[0]] = 0
        sink(heap, members[0])
    place[least] = -1
    return least


@kernel
def rise(heap, vertex):
    """Move a vertex up past what has a greater key."""
    members, place, keys, _ = heap
    at = place[vertex]
    while at > 0:
        above = (at - 1) // CHILDREN
        if keys[members[above]] <= keys[vertex]:
            break
        members[at] = members[above]
        place[members[at]] = at
        at = above
    members[at], place[vertex] = vertex, at


@kernel
def sink(heap, vertex):
    """Move a vertex down past what has a smaller key."""
    members, place, keys, size = heap
    at = place[vertex]
    while CHILDREN * at + 1 < size[0]:
        below = CHILDREN * at + 1
        for child in range(below + 1, min(below + CHILDREN, size[0])):
            if keys[members[child]] <= keys[members[below]]:
                below = child
        if keys[members[below]] >= keys[vertex]:
            break
        members[at] = members[below]
        place[members[at]] = at
        at = below
    members[at], place[vertex] = vertex, at


@kernel
def drop(heap, vertex):
    """Take out a vertex that is in."""
    members, place, keys, size = heap
    at = place[vertex]
    size[0] -= 1
    last = members[size[0]]
    members[at], place[last] = last, at
    place[vertex] = -1
    if at < size[0]:
        above = members[(at - 1) // CHILDREN] if at > 0 else last
        if at > 0 and keys[above] > keys[last]:
            rise(heap, last)
        elif at == 0 or keys[above] < keys[last]:
            sink(heap, last)


# -- priced paths ----------------------------------------------------------------------------------


@inlined
def push_place(keys, nodes, size, key, node):
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
def pop_place(keys, nodes, size):
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
    size = push_place(keys, nodes, 0, estimate, source)
    while size > 0:
        node = nodes[0]
        size = pop_place(keys, nodes, size)
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
                size = push_place(keys, nodes, size, estimate, other)
    return np.inf, 0
