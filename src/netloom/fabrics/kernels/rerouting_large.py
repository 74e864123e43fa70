"""Paths to one destination after the other in large networks: hosts choose among few ways.

As ``rerouting``, but every router first takes the way that is cheapest while nothing goes to this
destination. Then the routers with hosts choose again, one after the other, given what those before
them have put on the ways that the routers behind them took. Of a source's own paths only those on
its router's own channels count: nearly all of a leaf's paths are on its uplinks.

``listed`` is (order, offsets, channels) as ``list_ways`` fills them in. ``laid`` is (row, before,
cost): the paths to the current destination, those that cost nothing to keep, and the cost of the
path from each router. ``rates`` is (slowness, room): 1 / bandwidth, and the load at the target.

Twin: ``tests/reference/rerouting.py``.
"""

import numpy as np

from netloom.base.compilation import kernel, njit
from netloom.fabrics.kernels.ways import list_ways


@njit(nogil=True)
def reroute_large(turns, table, old, ends, sent, senders, ways, wiring, load, bandwidth, rules):
    """Give every destination of ``turns`` new paths, in that order. See ``rerouting.reroute``.

    ``load`` is float64[num_channels], paths. ``rules`` is (own_share, strength, aim, change). Of
    ``senders`` another one begins for each destination. Return how many entries are others now.
    """
    near, falls, height, row_of_exit = ways
    target, num_routers = wiring[1], table.shape[1]
    order = np.empty(num_routers, np.int32)
    offsets = np.empty(num_routers + 1, np.int64)
    channels = np.empty(len(target), np.int32)
    listed = (order, offsets, channels)
    cost = np.empty(num_routers, np.float64)
    flow = np.empty(num_routers, np.int64)
    before, earlier = np.empty((2, num_routers), np.int32)
    rates = (1.0 / bandwidth, rules[2] * bandwidth)
    known, end, moved = 0, -1, 0
    for destination in turns:
        row, weights = table[destination], sent[:, destination % sent.shape[1]]
        if ends[destination] != end:
            end = ends[destination]
            place = row_of_exit[end]
            known = list_ways(near[place], falls[place], height, wiring, order, offsets, channels)
        earlier[:] = row
        before[:] = old[destination] if rules[3] > 0 else row
        laid = (row, before, cost)
        lay(known, listed, laid, weights, target, load, rates, rules[3])
        flow[:] = 0  # what comes to each router from others
        for turn in range(len(senders)):
            router = senders[(turn + destination) % len(senders)]
            weight = weights[router]
            if weight == 0 or router == end or near[row_of_exit[end], router] < 0:
                continue
            if flow[router] == 0:
                choose(router, end, weight, listed, laid, target, load, rates, rules)
            at = router
            while at != end:
                load[row[at]] += weight
                at = target[row[at]]
                flow[at] += weight
        moved += np.sum(row != earlier)
    return moved


@kernel
def lay(known, listed, laid, weights, target, load, rates, change):
    """Take a destination's paths off. Then let all routers choose, nearest first."""
    order, offsets, channels = listed
    row, before, cost = laid
    for router in range(len(row)):
        if weights[router] == 0 or row[router] < 0:
            continue
        at = router
        while at != order[0]:
            load[row[at]] -= weights[router]
            at = target[row[at]]
    row[:] = -1
    cost[order[0]] = 0.0
    for step in range(1, known):
        at = order[step]
        least, chosen = np.inf, -1
        for slot in range(offsets[at], offsets[at + 1]):
            channel = channels[slot]
            paid = load[channel] * rates[0][channel] + cost[target[channel]]
            if before[at] >= 0 and channel != before[at]:
                paid += change
            if paid < least or (paid == least and channel == before[at]):
                least, chosen = paid, channel
        cost[at], row[at] = least, chosen


@kernel
def choose(router, end, weight, listed, laid, target, load, rates, rules):
    """Let a router with hosts choose, given what is on the ways behind it by now."""
    _, offsets, channels = listed
    row, before, cost = laid
    slowness, room = rates
    own_share, strength, _, change = rules
    least, chosen = np.inf, -1
    for slot in range(offsets[router], offsets[router + 1]):
        channel = channels[slot]
        paid = load[channel] * (weight - own_share) * slowness[channel]
        paid += weight * cost[target[channel]]
        if before[router] >= 0 and channel != before[router]:
            paid += change
        while strength > 0 and paid < least:
            over = load[channel] - room[channel]
            more = over + weight
            if more > 0:
                above = over if over > 0 else 0.0
                slow = slowness[channel]
                paid += strength * (more * more - above * above) * slow * slow
            if target[channel] == end:
                break
            channel = row[target[channel]]
        if paid < least or (paid == least and channels[slot] == before[router]):
            least, chosen = paid, channels[slot]
    row[router] = chosen


@njit(nogil=True)
def count_flows(table, ends, sent, target, load):
    """Add the paths of all destinations to the loads. Cut off those that do not arrive."""
    for destination in range(len(table)):
        row, weights = table[destination], sent[:, destination % sent.shape[1]]
        for router in range(len(row)):
            at, hops = router, 0
            while at != ends[destination] and row[at] >= 0 and hops < len(row):
                at, hops = target[row[at]], hops + 1
            if at != ends[destination]:
                row[router] = -1
                continue
            at = router
            while at != ends[destination] and weights[router] > 0:
                load[row[at]] += weights[router]
                at = target[row[at]]
