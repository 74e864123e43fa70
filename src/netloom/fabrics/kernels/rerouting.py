"""Paths to one destination after the other, each by what collides least with all others.

Let X be the number of pairs of paths that share a channel, but neither source nor destination.
While other paths stay, X is linear in the paths to one destination. A path from source s over
channel c adds (paths on c to other destinations − those from s). So each destination takes cheapest
paths, and X never rises.

Tuples that functions share: ``listed`` (order, offsets, channels) as ``list_ways`` fills them in.
``laid`` (row, before, cost, pick): the paths to the current destination, those before, and the cost
and first channel of the path from each router. ``state`` (load, own, from_router, bandwidth): paths
to other destinations on each channel, paths to this one, how many other destinations a router's
sources reach over it, and flits/cycle. ``rules`` (own_share, strength, aim, change): the weight of
a source's own paths, the price of load / bandwidth above a target, the target, and the price of a
changed entry.

Twin: ``tests/reference/rerouting.py``.
"""

import numpy as np

from netloom.base.compilation import kernel, njit
from netloom.fabrics.kernels.ways import list_ways


@njit(nogil=True)
def reroute(turns, table, old, ends, sent, column, senders, ways, wiring, state, rules):
    """Give every destination of ``turns`` new paths, in that order.

    ``table[destination, router]`` is the channel to take, or -1 for none yet. Of equal paths, the
    one before is kept, or else the first. ``old`` is a table whose entries should not change
    without need. ``ends[destination]`` is the router where packets leave.
    ``sent[router, destination]`` are the sources that send from a router, with one column if that
    is the same for all. ``column[router]`` is its place in ``from_router``, or -1 without sources.
    ``senders`` are routers in the order in which they choose. ``ways`` is (near, falls, height,
    row_of_exit), see ``nearness``. Router r is exit ``row_of_exit[r]``. Return how many entries
    changed.
    """
    near, falls, height, row_of_exit = ways
    target = wiring[1]
    num_routers = table.shape[1]
    order = np.empty(num_routers, np.int32)
    offsets = np.empty(num_routers + 1, np.int64)
    channels = np.empty(len(target), np.int32)
    listed = (order, offsets, channels)
    queue = np.empty(num_routers, np.int32)
    seen = np.full(num_routers, -1, np.int64)
    cost = np.empty(num_routers, np.float64)
    pick = np.empty(num_routers, np.int32)
    before, earlier = np.empty((2, num_routers), np.int32)
    load, own, from_router, _ = state
    aimless = rules[1] == 0
    known, end, moved = 0, -1, 0
    for destination in turns:
        row, weights = table[destination], sent[:, destination % sent.shape[1]]
        if ends[destination] != end:
            end = ends[destination]
            place = row_of_exit[end]
            known = list_ways(near[place], falls[place], height, wiring, order, offsets, channels)
        earlier[:] = row
        before[:] = old[destination] if rules[3] > 0 else row
        follow(row, end, weights, column, target, own, from_router, load, -1)
        row[:] = -1
        laid = (row, before, cost, pick)
        cost[end] = 0.0
        for turn in range(len(senders)):
            router = senders[(turn + (0 if aimless else destination)) % len(senders)]
            weight, source = weights[router], column[router]
            if weight > 0 and router != end and near[row_of_exit[end], router] >= 0:
                if row[router] < 0:
                    mark = destination * num_routers + router
                    search(
                        router, end, weight, source, mark, queue, seen, listed, laid, target, state,
                        rules,
                    )  # fmt: skip
                at = router
                while at != end:
                    if row[at] < 0:
                        row[at] = pick[at]
                    own[row[at]] += weight
                    at = target[row[at]]
        settle(known, listed, laid, target, state, rules)
        follow(row, end, weights, column, target, own, from_router, load, 1)
        moved += np.sum(row != earlier)
    return moved


@kernel
def search(
    router, end, weight, source, mark, queue, seen, listed, laid, target, state, rules
):  # fmt: skip
    """Find the cheapest way from a router, over those of its ways that are not laid yet."""
    row = laid[0]
    _, offsets, channels = listed
    queue[0], count, done = router, 1, 0
    seen[router] = mark
    while done < count:  # the routers that it may touch, from far to near
        at = queue[done]
        done += 1
        if at == end:
            continue
        low = offsets[at]
        for slot in range(low, offsets[at + 1] if row[at] < 0 else low + 1):
            after = target[channels[slot] if row[at] < 0 else row[at]]
            if seen[after] != mark:
                seen[after] = mark
                queue[count] = after
                count += 1
    for step in range(count - 1, -1, -1):
        if queue[step] != end:
            cheapest(queue[step], weight, source, listed, laid, target, state, rules)


@kernel
def settle(known, listed, laid, target, state, rules):
    """Choose for the routers that no path touches, as if one path came from each, nearest first.

    The first router listed is where packets leave.
    """
    row, _, _, pick = laid
    for step in range(1, known):
        router = listed[0][step]
        cheapest(router, 1, -1, listed, laid, target, state, rules)
        row[router] = pick[router]


@kernel
def cheapest(router, weight, source, listed, laid, target, state, rules):
    """Note the cheapest way on from a router, given the costs of the routers behind it."""
    row, before, cost, pick = laid
    _, offsets, channels = listed
    load, own, from_router, bandwidth = state
    own_share, strength, aim, change = rules
    fixed = row[router]
    least, chosen = np.inf, -1
    low = offsets[router]
    for slot in range(low, offsets[router + 1] if fixed < 0 else low + 1):
        channel = channels[slot] if fixed < 0 else fixed
        rate = bandwidth[channel]
        paid = float(load[channel])
        if source >= 0:
            paid -= own_share * from_router[channel, source]
        paid *= weight / rate
        if strength > 0:
            over = (load[channel] + own[channel]) / rate - aim
            more = over + weight / rate
            if more > 0:
                paid += strength * (more * more - (over * over if over > 0 else 0.0))
        if fixed < 0 and channel != before[router] and before[router] >= 0:
            paid += change
        paid += cost[target[channel]]
        if paid < least or (paid == least and channel == before[router]):
            least, chosen = paid, channel
    cost[router], pick[router] = least, chosen


@kernel
def follow(row, end, weights, column, target, own, from_router, load, sign):
    """Add the paths of one destination to the loads, or take them off. ``own`` is set to zero."""
    for router in range(len(row)):
        if weights[router] == 0 or row[router] < 0:
            continue
        at = router
        while at != end:
            channel = row[at]
            own[channel] = 0
            load[channel] += sign * weights[router]
            from_router[channel, column[router]] += sign
            at = target[channel]


@njit(nogil=True)
def count_paths(table, ends, sent, column, target, own, from_router, load):
    """Add the paths of all destinations to the loads. Cut off those that do not arrive."""
    for destination in range(len(table)):
        row = table[destination]
        for router in range(len(row)):
            at, hops = router, 0
            while at != ends[destination] and row[at] >= 0 and hops < len(row):
                at, hops = target[row[at]], hops + 1
            if at != ends[destination]:
                row[router] = -1
        weights = sent[:, destination % sent.shape[1]]
        follow(row, ends[destination], weights, column, target, own, from_router, load, 1)
