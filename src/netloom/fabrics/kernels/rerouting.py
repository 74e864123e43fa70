"""Paths to one destination after the other, each by what collides least with all others.

Let X be the number of pairs of paths that share a channel, but neither source nor destination.
While other paths stay, X is linear in the paths to one destination. A path from source s over
channel c adds (paths on c to other destinations − those from s). So each destination takes cheapest
paths, and X never rises.

A router looks at all ways that are not laid yet (``search``). In large networks it looks at few:
every router first notes the way that is cheapest while nothing goes to this destination. Then those
with hosts choose among their own channels (``choose``), given what is by now on the ways that the
routers behind noted. Of a source's own paths only those on these channels count: nearly all of a
leaf's paths are on its uplinks.

Tuples that functions share: ``listed`` (order, offsets, channels) as ``list_ways`` fills them in.
``laid`` (row, before, cost, pick): the paths to the current destination, those before, and the cost
and first channel of the path from each router. ``state`` (load, own, from_router, bandwidth): paths
to other destinations on each channel, paths to this one, how many other destinations a router's
sources reach over it, and flits/cycle. In large networks ``from_router`` has no columns, and
``own`` is ``load`` itself. ``rules`` (own_share, strength, aim, change): the weight of a source's
own paths, the price of load / bandwidth above a target, the target, and the price of a changed
entry.

Twin: ``tests/reference/rerouting.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, njit
from netloom.fabrics.kernels.ways import list_ways


@njit(nogil=True)
def reroute(turns, table, old, ends, sent, column, senders, ways, wiring, state, rules):
    """Give every destination of ``turns`` new paths, in that order.

    ``table[destination, router]`` is the channel to take, or -1 for none yet. Of equal paths, the
    one before is kept, or else the first. ``old`` is a table whose entries should not change
    without need. ``ends[destination]`` is the router where packets leave.
    ``sent[router, destination]`` are the sources that send from a router, with one column if that
    is the same for all. ``column[router]`` is its place in ``from_router``, or -1 without sources.
    ``senders`` are routers in the order in which they choose. If there is a target, or the network
    is large, another one begins for each destination. ``ways`` is (near, falls, height,
    row_of_exit), see ``nearness``. Router r is exit ``row_of_exit[r]``. Return how many entries
    changed.
    """
    near, falls, height, row_of_exit = ways
    target, num_routers = wiring[1], table.shape[1]
    order = np.empty(num_routers, np.int32)
    offsets = np.empty(num_routers + 1, np.int64)
    channels = np.empty(len(target), np.int32)
    listed = (order, offsets, channels)
    queue = np.empty(num_routers, np.int32)
    seen = np.full(num_routers, -1, np.int64)
    cost = np.empty(num_routers, np.float64)
    pick = np.empty(num_routers, np.int32)
    before, earlier = np.empty((2, num_routers), np.int32)
    own, few = state[1], state[2].shape[1] == 0
    turned = few or rules[1] > 0
    known, end, moved = 0, -1, 0
    for destination in turns:
        row, weights = table[destination], sent[:, destination % sent.shape[1]]
        if ends[destination] != end:
            end = ends[destination]
            place = row_of_exit[end]
            known = list_ways(near[place], falls[place], height, wiring, order, offsets, channels)
        earlier[:] = row
        before[:] = old[destination] if rules[3] > 0 else row
        follow(row, end, weights, column, target, state, -1)
        row[:] = -1
        laid = (row, before, cost, pick)
        cost[end] = 0.0
        if few:
            settle(known, listed, laid, target, state, (0.0, 0.0, 0.0, rules[3]))
        for turn in range(len(senders)):
            router = senders[(turn + (destination if turned else 0)) % len(senders)]
            weight = weights[router]
            if weight == 0 or router == end or near[row_of_exit[end], router] < 0:
                continue
            if row[router] < 0 and few:
                choose(router, end, weight, listed, laid, target, state, rules)
            elif row[router] < 0:
                mark = destination * num_routers + router
                search(
                    router, end, weight, column[router], mark, queue, seen, listed, laid, target,
                    state, rules,
                )  # fmt: skip
            at = router
            while at != end:
                if row[at] < 0:
                    row[at] = pick[at]
                own[row[at]] += weight
                at = target[row[at]]
        if not few:
            settle(known, listed, laid, target, state, rules)
            follow(row, end, weights, column, target, state, 1)
        for step in range(1, known):
            row[order[step]] = pick[order[step]]
        moved += np.sum(row != earlier)
    return moved


@inlined
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


@inlined
def settle(known, listed, laid, target, state, rules):
    """Note the cheapest way on from every router, as if one path came from each, nearest first.

    The first router listed is where packets leave.
    """
    for step in range(1, known):
        cheapest(listed[0][step], 1, -1, listed, laid, target, state, rules)


@inlined
def cheapest(router, weight, source, listed, laid, target, state, rules):
    """Note the cheapest way on from a router, given the costs of the routers behind it."""
    row, before, cost, pick = laid
    _, offsets, channels = listed
    load, own, from_router, bandwidth, slowness = state
    own_share, strength, aim, change = rules
    fixed = row[router]
    least, chosen = np.inf, -1
    low = offsets[router]
    for slot in range(low, offsets[router + 1] if fixed < 0 else low + 1):
        channel = channels[slot] if fixed < 0 else fixed
        rate = bandwidth[channel]
        paid = float(load[channel])
        if source >= 0:
            paid = (paid - own_share * from_router[channel, source]) * (weight / rate)
        else:
            paid *= slowness[channel]
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


@inlined
def choose(router, end, weight, listed, laid, target, state, rules):
    """Choose one of a router's own channels, given the ways that the routers behind it noted."""
    _, offsets, channels = listed
    _, before, cost, pick = laid
    load, _, _, bandwidth, slowness = state
    own_share, strength, aim, change = rules
    least, chosen = np.inf, -1
    for slot in range(offsets[router], offsets[router + 1]):
        channel = channels[slot]
        paid = load[channel] * (weight - own_share) * slowness[channel]
        paid += weight * cost[target[channel]]
        if before[router] >= 0 and channel != before[router]:
            paid += change
        while strength > 0 and paid < least:
            over = load[channel] - aim * bandwidth[channel]
            more = over + weight
            if more > 0:
                above, slow = over if over > 0 else 0.0, slowness[channel]
                paid += strength * (more * more - above * above) * slow * slow
            if target[channel] == end:
                break
            channel = pick[target[channel]]
        if paid < least or (paid == least and channels[slot] == before[router]):
            least, chosen = paid, channels[slot]
    pick[router] = chosen


@inlined
def follow(row, end, weights, column, target, state, sign):
    """Add the paths of one destination to the loads, or take them off."""
    load, own, from_router, _, _ = state
    few = from_router.shape[1] == 0
    for router in range(len(row)):
        if weights[router] == 0 or row[router] < 0:
            continue
        at = router
        while at != end:
            channel = row[at]
            load[channel] += sign * weights[router]
            if not few:
                own[channel] = 0
                from_router[channel, column[router]] += sign
            at = target[channel]


@njit(nogil=True)
def count_paths(table, ends, sent, column, target, state):
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
        follow(row, ends[destination], weights, column, target, state, 1)
