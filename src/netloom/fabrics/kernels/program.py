"""Tables for a program over flat arrays: one destination's paths after the other.

``allowed[exit, channel]`` says by which channels packets may go to a router. Each leads one hop
nearer. ``outgoing`` is (offsets, channels) by router.

Twin: ``tests/reference/program_tables.py``.
"""

import numpy as np

from netloom.base.compilation import njit


@njit(nogil=True)
def follow_flows(row, router, volume, channel_target, load):
    """Add the flows to one destination to the load of the channels that the row leads them over."""
    for flow in range(len(router)):
        here = router[flow]
        while row[here] >= 0:
            load[row[here]] += volume[flow]
            here = channel_target[row[here]]


@njit(nogil=True)
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


@njit(nogil=True)
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


@njit(nogil=True)
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
            route_flows(
                row, ends[place], routers[some], volumes[some], allowed[place], outgoing,
                channel_target, speed, load, powers[turn],
            )  # fmt: skip
        found = _score(load, speed)
        if found < least:
            best[:], least = table, found
    return best


@njit(nogil=True)
def _score(load, speed):
    """Return the longest time a channel works, rounded, and the sum of squares of all times."""
    most, squares = 0.0, 0.0
    for channel in range(len(load)):
        time = load[channel] / speed[channel]
        most = max(most, time)
        squares += time * time
    return np.float64(np.float32(most)), squares
