"""Paths moved one after the other off busy channels, none waiting in a circle, over flat arrays.

``net`` and ``room`` are as in ``kernels.priced_paths``, each channel a place, ``room`` with one
array more, for a route. ``state`` is what all paths are:

- ``load[channel]``: the weight on it;
- ``routes[path, hop]``, ``lengths[path]``, ``layer[path, hop]``: channels, and layers of VCs;
- ``graph``, the ``DependencyGraph`` of the layers: which channels are held while which are asked
  for. ``closed`` [layer, held, slot] are the dependencies that are known to close a circle.

``spare`` is (extra, best, came, rest, queue, seen, found). Per channel it has the cost that a path
would add, and in a search its price and the channel before. Per node it has the price of the rest
of the path, a queue, and whether the node is in it. The rest is room for a route.

Judged by ``tests/properties/test_joint_routes.py``: what it finds is judged.
"""

import numpy as np

from netloom.base.compilation import kernel, njit
from netloom.routing.kernels.layers import closes, insert, remove
from netloom.routing.kernels.priced_paths import find

LESS = 1e-9
"""Relative price by which a path must be cheaper than the one before."""


@njit(nogil=True)
def forced(net, sources, targets, weights):
    """Return the weight that each channel carries whatever minimal paths are chosen.

    Also return which channels are on a minimal path, on the first hop of one, and on the last.
    """
    _, target_of, out_offsets, out_channels, _, _, distance = net
    load = np.zeros(len(target_of))
    used, first, last = np.zeros((3, len(target_of)), np.bool_)
    level = np.empty(len(distance), np.int64)
    following = np.empty_like(level)
    seen = np.full(len(distance), -1, np.int64)
    for path in range(len(sources)):
        source, target = sources[path], targets[path]
        level[0], size = source, 1
        for left in range(distance[target, source], 0, -1):
            ways, only, coming = 0, 0, 0
            for node in level[:size]:
                for slot in range(out_offsets[node], out_offsets[node + 1]):
                    channel = out_channels[slot]
                    other = target_of[channel]
                    if distance[target, other] != left - 1:
                        continue
                    ways, only, used[channel] = ways + 1, channel, True
                    first[channel] |= node == source
                    last[channel] |= other == target
                    if seen[other] != path:
                        seen[other] = path
                        following[coming] = other
                        coming += 1
            if ways == 1:
                load[only] += weights[path]
            level, following, size = following, level, coming
    return load, used, first, last


@kernel
def leave(one, hops, state):
    """Take the waits of the first hops of a path out of the graphs."""
    _, routes, _, layer, graph, closed = state
    for hop in range(hops - 1):
        level, held = layer[one, hop], routes[one, hop]
        if layer[one, hop + 1] == level:
            slot = graph.slot[routes[one, hop + 1]]
            remove(graph, level, held, slot)
            if graph.uses[level * len(graph.channel_target) + held, slot] == 0:
                closed[level] = False


@kernel
def enter(one, state):
    """Put the waits of a path into the graphs. Return False, and do nothing, for a circle."""
    _, routes, lengths, layer, graph, _ = state
    for hop in range(lengths[one] - 1):
        level = layer[one, hop]
        if layer[one, hop + 1] == level:
            slot = graph.slot[routes[one, hop + 1]]
            if not insert(graph, level, routes[one, hop], slot):
                leave(one, hop + 1, state)
                return False
    return True


@njit(nogil=True)
def enter_all(state):
    """Put the waits of all paths into the graphs, which are empty."""
    for one in range(len(state[2])):
        enter(one, state)


@njit(nogil=True)
def carry(one, weight, state):
    """Put a weight on the channels of a path."""
    load, routes, lengths = state[:3]
    for hop in range(lengths[one]):
        load[routes[one, hop]] += weight


@njit(nogil=True)
def price_all(load, weight, unit, extra):
    """Price each channel: by how much a weight on it raises Σ (load / unit)^12."""
    for channel in range(len(load)):
        before, after = load[channel] / unit, (load[channel] + weight) / unit
        extra[channel] = after**12 - before**12


@kernel
def may_wait(held, asked, level, state):
    """Whether a path may hold one channel and ask for another without closing a circle."""
    graph, closed = state[4], state[5]
    slot = graph.slot[asked]
    if graph.uses[level * len(graph.channel_target) + held, slot]:
        return True
    if closed[level, held, slot]:
        return False
    closed[level, held, slot] = closes(graph, level, held, slot)
    return not closed[level, held, slot]


@njit(nogil=True)
def price_rest(net, spare, source, target):
    """Fill ``rest`` with the lowest price of each node's way to the target, on minimal paths.

    Return how many nodes there are on these. ``queue`` has them, the source first.
    """
    _, target_of, out_offsets, out_channels, _, _, distance = net
    extra, rest, queue, seen = spare[0], spare[3], spare[4], spare[5]
    seen[:] = False
    queue[0], size, head = source, 1, 0
    while head < size:
        node, head = queue[head], head + 1
        for slot in range(out_offsets[node], out_offsets[node + 1]):
            other = target_of[out_channels[slot]]
            if distance[target, other] == distance[target, node] - 1 and not seen[other]:
                seen[other], queue[size] = True, other
                size += 1
    rest[target] = 0.0
    for node in queue[: size - 1][::-1]:
        rest[node] = np.inf
        for slot in range(out_offsets[node], out_offsets[node + 1]):
            channel = out_channels[slot]
            other = target_of[channel]
            if distance[target, other] == distance[target, node] - 1:
                rest[node] = min(rest[node], extra[channel] + rest[other])
    return size


@njit(nogil=True)
def find_between_waits(net, incoming, state, spare, ends, level, limit, route):
    """Find the cheapest minimal path whose every wait closes no circle by itself.

    Return its price, ``limit`` where there is none below that, and its hops.
    """
    _, target_of, out_offsets, out_channels, _, _, distance = net
    extra, best, came, rest, queue, _, _ = spare
    in_offsets, in_channels = incoming
    source, target = ends
    size = price_rest(net, spare, source, target)
    best[:] = np.inf
    for node in queue[: size - 1]:
        for slot in range(out_offsets[node], out_offsets[node + 1]):
            channel = out_channels[slot]
            other = target_of[channel]
            if distance[target, other] != distance[target, node] - 1:
                continue
            most = limit - rest[other]
            if node == source and extra[channel] < most:
                best[channel], came[channel] = extra[channel], -1
            for into in range(in_offsets[node], in_offsets[node + 1]):
                held = in_channels[into]
                cost = best[held] + extra[channel]
                if cost < min(most, best[channel]) and may_wait(held, channel, level, state):
                    best[channel], came[channel] = cost, held
    last = -1
    for into in range(in_offsets[target], in_offsets[target + 1]):
        channel = in_channels[into]
        if best[channel] < limit:
            last, limit = channel, best[channel]
    hops = distance[target, source] if last >= 0 else 0
    for hop in range(hops - 1, -1, -1):
        route[hop] = last
        last = came[last]
    return limit, hops


@njit(nogil=True)
def put(one, route, hops, level, state):
    """Give a path this route, all in one layer, if that closes no circle."""
    _, routes, lengths, layer = state[:4]
    routes[one, :hops], lengths[one], layer[one, :hops] = route[:hops], hops, level
    return enter(one, state)


@njit(nogil=True)
def try_cheaper(one, net, incoming, state, room, spare, ends, price, limit):
    """Give a path the cheapest route below ``limit`` that is found to close no circle."""
    extra, found = spare[0], spare[6]
    least = net[6][ends[1], ends[0]]
    surcharge = room[6]
    surcharge[:] = extra * (0.5 / limit)
    most = least + 0.5 * (1 - LESS)
    cost, hops = find(net, room, price, surcharge, ends[0], ends[1], most, found)
    if cost == np.inf:
        return False
    for level in range(len(state[5])):
        if put(one, found, hops, level, state):
            return True
    return try_between(one, net, incoming, state, spare, ends, limit * (1 - LESS))


@njit(nogil=True)
def try_between(one, net, incoming, state, spare, ends, limit):
    """As ``try_cheaper``, of the routes whose waits close no circle one by one."""
    found = spare[6]
    for level in range(len(state[5])):
        cost, hops = find_between_waits(net, incoming, state, spare, ends, level, limit, found)
        if cost < limit and put(one, found, hops, level, state):
            return True
    return False


@njit(nogil=True)
def reroute(net, incoming, state, room, spare, sources, targets, weights, turn, unit, all_):
    """Take paths out and put them in again, in turn, each where it costs least.

    One at a time a path can always go back where it was. With ``all_`` of them out at once it may
    find no place without closing a circle. Return whether all have found one.
    """
    load, routes, lengths, layer = state[:4]
    price = np.ones(len(load))
    if all_:
        for one in turn:
            leave(one, lengths[one], state)
            carry(one, -weights[one], state)
    for one in turn:
        if not all_:
            leave(one, lengths[one], state)
            carry(one, -weights[one], state)
        before, hops, levels = routes[one].copy(), lengths[one], layer[one].copy()
        ends = (sources[one], targets[one])
        price_all(load, weights[one], unit, spare[0])
        now = spare[0][before[:hops]].sum()
        if now == 0 or not try_cheaper(one, net, incoming, state, room, spare, ends, price, now):
            routes[one], lengths[one], layer[one] = before, hops, levels
            back = enter(one, state)
            if not back and not try_between(one, net, incoming, state, spare, ends, np.inf):
                return False
        carry(one, weights[one], state)
    return True
