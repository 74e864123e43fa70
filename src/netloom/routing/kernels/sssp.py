"""OpenSM's sssp and dfsssp over flat arrays.

sssp finds cheapest ways to one end point after the other. dfsssp breaks circles of dependencies by
moving paths to other lanes. A path is its number: place of its destination times ``len(sources)``,
plus place of its source.

Twin: ``tests/reference/cheapest_ways.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.priced_paths import empty_heap, lower, pop, push

# -- sssp ------------------------------------------------------------------------------------------


FAR = np.int64(2**62)


@njit
def cheapest_ways(exits, apart, copies, routers, sources, links, weight):
    """Return int32[end points, routers]: the channel from each router towards each end point.

    End points take their turns. ``exits`` are their routers, ``apart`` says which are no routers
    themselves, ``copies`` how many addresses they have (ways are those to the first). ``routers``
    is the order of routers in the heap, ``sources[router]`` how many end points send from it.
    ``links`` is (channel_source, channel_target, in_offsets, in_channels), the channels that enter
    a router in the order in which they are tried. ``weight[channel]`` grows by the paths that take
    it.
    """
    channel_source, channel_target, in_offsets, in_channels = links
    num_routers = len(routers)
    table = np.full((len(exits), num_routers), -1, np.int32)
    heap = empty_heap(num_routers + 1)
    distance = heap[2]
    row, order = np.empty((2, num_routers), np.int32)
    flow = np.empty(num_routers, np.int64)
    for end in range(len(exits)):
        for copy in range(copies[end]):
            row[:] = -1
            for router in routers:
                push(heap, router, FAR)
            if apart[end]:
                push(heap, num_routers, FAR)
                lower(heap, num_routers, 0)
                pop(heap)
            lower(heap, exits[end], 1)
            settled = 0
            while heap[3][0] > 0:
                router = pop(heap)
                if distance[router] == FAR:
                    continue
                order[settled] = router
                settled += 1
                for place in range(in_offsets[router], in_offsets[router + 1]):
                    channel = in_channels[place]
                    before = channel_source[channel]
                    cost = distance[router] + weight[channel]
                    if heap[1][before] >= 0 and cost < distance[before]:
                        row[before] = channel
                        lower(heap, before, cost)
            if copy == 0:
                table[end] = row
            flow[:] = sources
            for place in range(settled - 1, 0, -1):  # from far to near
                channel = row[order[place]]
                weight[channel] += flow[order[place]]
                flow[channel_target[channel]] += flow[order[place]]
    return table


# -- dfsssp ----------------------------------------------------------------------------------------


NEW, OPEN, DONE = 0, 1, 2


@njit
def broken_circles(table, sources, pairs, key, slot, channel_target, most_out, most_lanes):
    """Return the lane of each path, uint8[destinations, sources], and how many lanes there are.

    ``table`` has the rows in the order in which destinations are taken, ``sources`` the routers in
    the order in which sources are. ``pairs[destination, source]`` counts what a path joins.
    ``key[channel]`` orders channels. A lane's graph of dependencies is searched depth first; of a
    circle that is met, the dependency of fewest pairs goes, and its paths to the next lane.
    Returns more lanes than ``most_lanes`` where circles are left in the last.
    """
    lane = np.zeros((len(table), len(sources)), np.uint8)
    paths, moved = np.arange(lane.size), np.empty(lane.size, np.int64)
    count = lane.size
    for number in range(most_lanes + 1):
        links = np.zeros((len(key), most_out), np.int32)
        graph = lane_graph(table, sources, pairs, slot, channel_target, paths[:count], links, key)
        count = move_circles(
            table, sources, pairs, slot, channel_target, links, graph, lane, number, moved
        )
        if count < 0:
            return lane, number + 1
        paths, moved = moved, paths
    return lane, most_lanes + 1


@njit
def lane_graph(table, sources, pairs, slot, channel_target, paths, links, key):
    """Return the dependencies of paths: as links in order of coming, and the paths of each.

    (number of links of each channel, pairs on each dependency, offsets and numbers of its paths,
    channels in the order in which a search begins with them).
    """
    num_channels, most_out = links.shape
    degree = np.zeros(num_channels, np.int32)
    weight = np.zeros((num_channels, most_out), np.int64)
    number = np.zeros(num_channels * most_out + 1, np.int64)
    came = np.full(num_channels, -1, np.int64)
    known = 0
    for path in paths:
        row, held = table[path // len(sources)], np.int32(-1)
        asked = row[sources[path % len(sources)]]
        while asked >= 0:
            if came[asked] < 0:
                came[asked] = known
                known += 1
            if held >= 0:
                if weight[held, slot[asked]] == 0:
                    links[held, degree[held]] = asked
                    degree[held] += 1
                weight[held, slot[asked]] += pairs[path // len(sources), path % len(sources)]
                number[held * most_out + slot[asked] + 1] += 1
            held, asked = asked, row[channel_target[asked]]
    offsets = np.cumsum(number)
    free, members = offsets.copy(), np.empty(offsets[-1], np.int64)
    for path in paths:
        row, held = table[path // len(sources)], np.int32(-1)
        asked = row[sources[path % len(sources)]]
        while asked >= 0:
            if held >= 0:
                members[free[held * most_out + slot[asked]]] = path
                free[held * most_out + slot[asked]] += 1
            held, asked = asked, row[channel_target[asked]]
    return degree, weight, offsets, members, tree_order(came, key)


@njit
def tree_order(came, key):
    """Channels as a walk meets them, root first, in the tree of keys that they grew as they came.

    A search tree is told by its keys and their times: the first to come is the root.
    """
    known = np.flatnonzero(came >= 0)
    by_key = known[np.argsort(key[known])]
    count = len(by_key)
    left, right = np.full(count, -1, np.int64), np.full(count, -1, np.int64)
    stack, top = np.empty(count + 1, np.int64), 0
    for place in range(count):
        last = -1
        while top > 0 and came[by_key[stack[top - 1]]] > came[by_key[place]]:
            top -= 1
            last = stack[top]
        left[place] = last
        if top > 0:
            right[stack[top - 1]] = place
        stack[top] = place
        top += 1
    order, count = np.empty(count, np.int64), 0
    top = min(top, 1)
    while top > 0:
        top -= 1
        place = stack[top]
        order[count] = by_key[place]
        count += 1
        for child in (right[place], left[place]):
            if child >= 0:
                stack[top] = child
                top += 1
    return order


@njit
def move_circles(table, sources, pairs, slot, channel_target, links, graph, lane, number, moved):
    """Break the circles of a lane. Return how many paths moved, -1 if it had no circle."""
    degree, weight, offsets, members, order = graph
    status = np.zeros(len(degree), np.int8)
    before = np.full(len(degree), -1, np.int64)
    count, begin, circles = 0, 0, 0
    current = order[0] if len(order) else -1
    while current >= 0:
        status[current] = OPEN
        following = -1
        for link in links[current, : degree[current]]:
            if status[link] != DONE:
                following = link
                break
        if following >= 0 and status[following] == NEW:
            before[following] = current
            current = following
        elif following >= 0:
            circles += 1
            held, asked = weakest(following, links, degree, status, weight, slot)
            first = held * links.shape[1] + slot[asked]
            for path in members[offsets[first] : offsets[first + 1]]:
                destination, source = path // len(sources), path % len(sources)
                if lane[destination, source] == number:
                    lane[destination, source] = number + 1
                    moved[count] = path
                    count += 1
                    row, channel = table[destination], table[destination, sources[source]]
                    while row[channel_target[channel]] >= 0:
                        then = row[channel_target[channel]]
                        weight[channel, slot[then]] -= pairs[destination, source]
                        channel = then
            current, begin = following, 0
        else:
            status[current] = DONE
            done, current = current, before[current]
            before[done] = -1
            if current < 0:
                while begin < len(order) and status[order[begin]] != NEW:
                    begin += 1
                current = order[begin] if begin < len(order) else -1
    return count if circles else -1


@njit
def weakest(start, links, degree, status, weight, slot):
    """Take the dependency of fewest pairs out of the circle that is open. Return its two ends."""
    held, found, asked = start, start, np.int32(-1)
    while True:
        following = np.int32(-1)
        for link in links[held, : degree[held]]:
            if status[link] == OPEN:
                following = link
                break
        if asked < 0 or weight[held, slot[following]] < weight[found, slot[asked]]:
            found, asked = held, following
        if held != start:
            status[held] = NEW
        held = following
        if held == start:
            break
    status[start] = NEW
    kept = 0
    for place in range(degree[found]):
        if links[found, place] != asked:
            links[found, kept] = links[found, place]
            kept += 1
    degree[found] = kept
    return found, asked
