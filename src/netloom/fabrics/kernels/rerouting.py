"""Tables made destination by destination over flat arrays.

A table for a program lays one destination's paths after the other. ``allowed[exit, channel]`` says
by which channels packets may go to a router. Each leads one hop nearer. ``outgoing`` is (offsets,
channels) by router.

Twin: ``tests/reference/program_tables.py``.

A table for all lays the paths to one destination after the other, each by what collides least with
all others. Let X be the number of pairs of paths that share a channel, but neither source nor
destination. While other paths stay, X is linear in the paths to one destination. A path from source
s over channel c adds (paths on c to other destinations − those from s). So each destination takes
cheapest paths, and X never rises.

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

from __future__ import annotations

import numpy as np

from netloom.base.compilation import inlined, njit
from netloom.fabrics.kernels.ways import list_ways

# -- for a program ---------------------------------------------------------------------------------


@njit
def follow_flows(row, router, volume, channel_target, load):
    """Add the flows to one destination to the load of the channels that the row leads them over."""
    for flow in range(len(router)):
        here = router[flow]
        while row[here] >= 0:
            load[row[here]] += volume[flow]
            here = channel_target[row[here]]


@njit
def route_flows(row, end, router, volume, allowed, outgoing, channel_target, speed, load, power):
    """Give one destination's flows, largest first, the cheapest paths. The others' load stays.

    A path costs Σ (x + w)^power - x^power over its channels. Here x is the time that a channel
    works for all flows so far, and w the time that this flow adds. A router that has its entry
    keeps it. ``row`` gets the entries of the routers on these paths, and ``load`` the flows.
    """
    offsets, leaving = outgoing
    fixed = np.zeros(len(row), np.bool_)
    seen = np.full(len(row), -1, np.int64)
    cost = np.empty(len(row))
    chosen = np.full(len(row), -1, np.int32)
    reach = np.empty(len(row), np.int32)
    for flow in range(len(router)):
        if router[flow] == end:
            continue
        reach[0], seen[router[flow]] = router[flow], flow
        count = _reached(reach, seen, flow, fixed, row, allowed, outgoing, channel_target)
        for place in range(count - 1, -1, -1):
            here = reach[place]
            cost[here], chosen[here] = np.inf, -1
            if here == end:
                cost[here] = 0.0
                continue
            for slot in range(offsets[here], offsets[here + 1]):
                channel = leaving[slot]
                if not allowed[channel] or (fixed[here] and channel != row[here]):
                    continue
                time = load[channel] / speed[channel]
                more = (time + volume[flow] / speed[channel]) ** power - time**power
                paid = cost[channel_target[channel]] + more
                better = paid < cost[here] * (1 - 1e-12)
                same = paid <= cost[here] * (1 + 1e-12) and channel == row[here]
                if better or same:  # of equal ways the one that is there
                    cost[here], chosen[here] = paid, channel
        here = router[flow]
        if cost[here] == np.inf:
            continue  # there is no allowed way
        while here != end:
            row[here], fixed[here] = chosen[here], True
            load[chosen[here]] += volume[flow]
            here = channel_target[chosen[here]]


@njit
def _reached(reach, seen, flow, fixed, row, allowed, outgoing, channel_target):
    """Fill in the routers on allowed ways from ``reach[0]``, farthest first. Return their number.

    Hops only ever lead nearer, so what is reached first is farther. ``seen`` is of this flow.
    """
    offsets, leaving = outgoing
    count, place = 1, 0
    while place < count:
        here = reach[place]
        place += 1
        for slot in range(offsets[here], offsets[here + 1]):
            channel = leaving[slot]
            after = channel_target[channel]
            open_way = channel == row[here] if fixed[here] else allowed[channel]
            if open_way and seen[after] != flow:
                seen[after] = flow
                reach[count] = after
                count += 1
    return count


@njit
def descend(table, ends, flows, allowed, outgoing, channel_target, speed, order, powers):
    """Route destination after destination, again and again. Return the load and the best table.

    ``table[destination]`` are rows to begin with, ``ends[destination]`` is the exit router, and
    ``flows`` is (offsets by destination, source router, volume), volumes falling. ``order[round]``
    is the order of the destinations and ``powers[round]`` the power of the cost. The best table is
    the one of the least time on the busiest channel, of several such of the least sum of squares.
    """
    offsets, routers, volumes = flows
    load = np.zeros(len(channel_target))
    for place in range(len(table)):
        some = slice(offsets[place], offsets[place + 1])
        follow_flows(table[place], routers[some], volumes[some], channel_target, load)
    best, least = table.copy(), _score(load, speed)
    for turn in range(len(order)):
        for place in order[turn]:
            some = slice(offsets[place], offsets[place + 1])
            row = table[place]
            follow_flows(row, routers[some], -volumes[some], channel_target, load)
            np.maximum(load, 0.0, load)
            own, wires = (routers[some], volumes[some], allowed[place]), (outgoing, channel_target)
            route_flows(row, ends[place], *own, *wires, speed, load, powers[turn])
        found = _score(load, speed)
        if found < least:
            best[:], least = table, found
    return best


@njit
def _score(load, speed):
    """Return the longest time a channel works, rounded, and the sum of squares of all times."""
    most, squares = 0.0, 0.0
    for channel in range(len(load)):
        time = load[channel] / speed[channel]
        most = max(most, time)
        squares += time * time
    return np.float64(np.float32(most)), squares


# -- for all hosts ---------------------------------------------------------------------------------


@njit(error_model="numpy")
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
    own, few = state[1], state[2].shape[1] == 0
    lists = 1 if few else len(near)  # in large networks exits come one after the other
    orders = np.empty((lists, num_routers), np.int32)
    offsets = np.empty((lists, num_routers + 1), np.int64)
    channels = np.empty((lists, len(target)), np.int32)
    known_of, listed_of = np.empty(lists, np.int64), np.full(lists, -1, np.int64)
    queue = np.empty(num_routers, np.int32)
    seen = np.full(num_routers, -1, np.int64)
    cost = np.empty(num_routers, np.float64)
    pick = np.empty(num_routers, np.int32)
    before, earlier = np.empty((2, num_routers), np.int32)
    turned = few or rules[1] > 0
    moved = 0
    for destination in turns:
        row, weights = table[destination], sent[:, destination % sent.shape[1]]
        end = ends[destination]
        place = row_of_exit[end]
        kept = place % lists
        listed = (orders[kept], offsets[kept], channels[kept])
        if listed_of[kept] != place:
            listed_of[kept] = place
            known_of[kept] = list_ways(near[place], falls[place], height, wiring, *listed)
        known, order = known_of[kept], orders[kept]
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
                source, states = column[router], (listed, laid, target, state, rules)
                search(router, end, weight, source, mark, queue, seen, *states)
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
def search(router, end, weight, source, mark, queue, seen, listed, laid, target, state, rules):
    """Find the cheapest way from a router, over those of its ways that are not laid yet."""
    row = laid[0]
    _, offsets, channels = listed
    queue[0], count, done = router, 1, 0
    seen[router] = mark
    while done < count:  # the routers that it may touch, from far to near
        at = np.uint64(queue[done])
        done += 1
        if at == np.uint64(end):
            continue
        fixed, low = row[at], offsets[at]
        for slot in range(low, offsets[at + np.uint64(1)] if fixed < 0 else low + 1):
            channel = np.uint64(channels[np.uint64(slot)] if fixed < 0 else fixed)
            after = np.uint64(target[channel])
            if seen[after] != mark:
                seen[after] = mark
                queue[np.uint64(count)] = after
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
    router = np.uint64(router)  # unsigned: not counted from the end
    fixed = row[router]
    least, chosen = np.inf, np.int32(-1)
    low = offsets[router]
    for slot in range(low, offsets[router + np.uint64(1)] if fixed < 0 else low + 1):
        channel = np.uint64(channels[np.uint64(slot)] if fixed < 0 else fixed)
        rate = bandwidth[channel]
        paid = float(load[channel])
        if source >= 0:
            paid = (paid - own_share * from_router[channel, np.uint64(source)]) * (weight / rate)
        else:
            paid *= slowness[channel]
        if strength > 0:
            over = (load[channel] + own[channel]) / rate - aim
            more = over + weight / rate
            if more > 0:
                paid += strength * (more * more - (over * over if over > 0 else 0.0))
        if fixed < 0 and np.int32(channel) != before[router] and before[router] >= 0:
            paid += change
        paid += cost[np.uint64(target[channel])]
        if paid < least or (paid == least and np.int32(channel) == before[router]):
            least, chosen = paid, np.int32(channel)
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
        while strength > 0 and paid <= least:
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


@njit
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
