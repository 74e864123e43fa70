"""Layers of virtual channels in which no circle of dependencies closes, over flat arrays.

``graph`` is the ``DependencyGraph`` of ``netloom.routing.forwarding.tables``. A dependency is held
channel and slot: the place of the channel that is asked for among those that leave the router that
the held one enters. Channel c in a lane is vertex ``lane * channels + c``. ``rank`` orders the
vertices of a lane such that each dependency that is used leads from a lower to a higher rank.

The order is maintained by the algorithm of Pearce & Kelly, *A dynamic topological sort algorithm
for directed acyclic graphs*, 2006. An insertion moves only vertices whose ranks lie between its two
ends.

Paths of a forwarding table get lanes, and paths round broken parts get layers of virtual channels.
OpenSM's lash finds one way for each two routers and puts pairs of ways into layers.
``sent[router, destination]``, of one column where it is the same for all, says how many sources
send from a router.

Twin: ``tests/reference/lanes.py``. Of lash: ``tests/reference/opensm.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import kernel, njit
from netloom.routing.kernels.dimension_order import step
from netloom.routing.kernels.shortest_path import distances_to

# -- dependencies without a circle -----------------------------------------------------------------


@kernel
def insert(graph, lane, held, slot):
    """Use a dependency once more, or return False, where that would close a circle."""
    first = lane * len(graph.channel_target)
    if graph.uses[first + held, slot] == 0:
        asked = graph.out_channels[graph.out_offsets[graph.channel_target[held]] + slot]
        if not put_in_order(graph, first, held, asked):
            return False
    graph.uses[first + held, slot] += 1
    return True


@kernel
def remove(graph, lane, held, slot):
    """Use a dependency once less."""
    graph.uses[lane * len(graph.channel_target) + held, slot] -= 1


@kernel
def insert_path(graph, lane, path, hops):
    """Use all dependencies of ``path[:hops]`` once more, or none and return False."""
    for hop in range(hops - 1):
        if not insert(graph, lane, path[hop], graph.slot[path[hop + 1]]):
            remove_path(graph, lane, path, hop + 1)
            return False
    return True


@kernel
def remove_path(graph, lane, path, hops):
    """Use all dependencies of ``path[:hops]`` once less."""
    for hop in range(hops - 1):
        remove(graph, lane, path[hop], graph.slot[path[hop + 1]])


@kernel
def put_in_order(graph, first, held, asked):
    """Give ranks such that ``held`` comes before ``asked``. False if no order has that."""
    low, high = graph.rank[first + asked], graph.rank[first + held]
    if high < low:
        return True
    ahead = follow_ahead(graph, first, asked, high)
    if ahead < 0:
        return False
    both = follow_behind(graph, first, held, low, ahead)
    sort_by_rank(graph, first, 0, ahead)
    sort_by_rank(graph, first, ahead, both)
    one, other = 0, ahead
    for place in range(both):  # the ranks of all that moves, ascending
        take = other == both or (
            one < ahead
            and graph.rank[first + graph.found[one]] < graph.rank[first + graph.found[other]]
        )
        at = one if take else other
        graph.pool[place] = graph.rank[first + graph.found[at]]
        one, other = one + take, other + (not take)
    for place in range(both):  # what leads to ``held`` first, then what ``asked`` leads to
        at = ahead + place if place < both - ahead else place - (both - ahead)
        graph.rank[first + graph.found[at]] = graph.pool[place]
    return True


@kernel
def follow_ahead(graph, first, start, high):
    """Find what ``start`` leads to, up to a rank. Return how many, -1 if one has that rank."""
    graph.stamp[0] += 1
    stamp = graph.stamp[0]
    if graph.rank[first + start] == high:
        return -1
    graph.found[0], graph.seen[start] = start, stamp
    count, place = 1, 0
    while place < count:
        held = graph.found[place]
        place += 1
        router = graph.channel_target[held]
        begin = graph.out_offsets[router]
        for slot in range(graph.out_offsets[router + 1] - begin):
            if graph.uses[first + held, slot] == 0:
                continue
            asked = graph.out_channels[begin + slot]
            if graph.rank[first + asked] == high:
                return -1
            if graph.rank[first + asked] < high and graph.seen[asked] != stamp:
                graph.seen[asked] = stamp
                graph.found[count] = asked
                count += 1
    return count


@kernel
def follow_behind(graph, first, start, low, place):
    """Find what leads to ``start`` from a rank on, put it behind what is found. Return the end."""
    stamp = graph.stamp[0]
    graph.found[place], graph.seen[start] = start, stamp
    count = place + 1
    while place < count:
        asked = graph.found[place]
        place += 1
        router, slot = graph.channel_source[asked], graph.slot[asked]
        for at in range(graph.in_offsets[router], graph.in_offsets[router + 1]):
            held = graph.in_channels[at]
            if graph.uses[first + held, slot] == 0 or graph.rank[first + held] < low:
                continue
            if graph.seen[held] != stamp:
                graph.seen[held] = stamp
                graph.found[count] = held
                count += 1
    return count


@kernel
def sort_by_rank(graph, first, begin, end):
    """Sort ``found[begin:end]`` by rank, by Shell's method."""
    gap = 1
    while 3 * gap < end - begin:
        gap = 3 * gap + 1
    while gap > 0:
        for place in range(begin + gap, end):
            channel, at = graph.found[place], place
            rank = graph.rank[first + channel]
            while at - gap >= begin and graph.rank[first + graph.found[at - gap]] > rank:
                graph.found[at] = graph.found[at - gap]
                at -= gap
            graph.found[at] = channel
        gap //= 3


# -- lanes of a forwarding table -------------------------------------------------------------------


@njit
def first_fit(table, sent, graph, closed, level):
    """Put the path from each router that sends to each destination into the first lane it fits.

    ``level[destination, router]`` gets the lane. ``closed`` are flags, as ``graph.uses``, for
    dependencies that would close a circle whatever comes: nothing is ever taken out. Returns how
    many lanes are used, -1 if those of the graph are too few, -2 if the table leads in a circle.
    """
    num_lanes, used = len(closed) // len(graph.channel_target), 1
    path = np.empty(table.shape[1], np.int32)
    for destination in range(len(table)):
        row, column = table[destination], destination % sent.shape[1]
        for start in range(table.shape[1]):
            if sent[start, column] <= 0 or row[start] < 0:
                continue
            hops, router = 0, start
            while row[router] >= 0 and hops < len(path):
                path[hops] = row[router]
                router = graph.channel_target[row[router]]
                hops += 1
            if hops == len(path):
                return -2
            lane = 0
            while lane < num_lanes and not takes(graph, closed, lane, path, hops):
                lane += 1
            if lane == num_lanes:
                return -1
            level[destination, start] = lane
            used = max(used, lane + 1)
    return used


@kernel
def takes(graph, closed, lane, path, hops):
    """Whether a path has found place in a lane."""
    first = lane * len(graph.channel_target)
    for hop in range(hops - 1):
        if closed[first + path[hop], graph.slot[path[hop + 1]]]:
            return False
    for hop in range(hops - 1):
        slot = graph.slot[path[hop + 1]]
        if insert(graph, lane, path[hop], slot):
            continue
        remove_path(graph, lane, path, hop + 1)
        if insert(graph, lane, path[hop], slot):  # only the path's own closed it
            remove(graph, lane, path[hop], slot)
        else:
            closed[first + path[hop], slot] = True
        return False
    return True


# -- paths round broken parts ----------------------------------------------------------------------


@njit
def fill_detours(tables, orders, channel_of, by_target, sources, targets, offsets, ways):
    """Walk every path: by the first of the orders of dimensions that is open from end to end.

    Where none is, by the first of them from node to node as long as it leads nearer, and by the
    lowest-numbered channel that does where it does not. ``tables`` is the ``CubeTables`` of the
    whole network, ``orders`` [order, place], without dimensions where that is no cube. ``ways`` are
    shortest ways.
    ``channel_of`` the channel that each of the whole network's has become, -1 for none.
    """
    channel_target, wires = ways.target, (ways.source, ways.in_offsets, ways.in_channels)
    channels = np.empty(offsets[-1], np.int32)
    distance = np.empty(len(ways.group), np.int32)
    queue = np.empty_like(distance)
    known = -1
    for path in by_target:
        if targets[path] != known:
            known = targets[path]
            distances_to(known, *wires, distance, queue)
        node, followed = sources[path], orders[0]
        for order in orders:
            if is_open(tables, order, channel_of, node, known, distance, channel_target):
                followed = order
                break
        for free in range(offsets[path], offsets[path + 1]):
            channel = in_order(tables, followed, channel_of, node, known)
            if channel < 0 or distance[channel_target[channel]] != distance[node] - 1:
                for slot in range(ways.out_offsets[node], ways.out_offsets[node + 1]):
                    channel = ways.out_channels[slot]
                    if distance[channel_target[channel]] == distance[node] - 1:
                        break
            channels[free] = channel
            node = channel_target[channel]
    return channels


@njit
def is_open(tables, order, channel_of, node, target, distance, channel_target):
    """Whether an order of dimensions leads nearer to the target at every node of its way there."""
    while node != target:
        channel = in_order(tables, order, channel_of, node, target)
        if channel < 0 or distance[channel_target[channel]] != distance[node] - 1:
            return False
        node = channel_target[channel]
    return True


@njit
def in_order(tables, order, channel_of, node, target):
    """The channel that dimension order takes from a node, -1 where it is broken or there is none.

    In a ring, the + direction where both ways are as short.
    """
    for axis in order:
        _, hops, first, place, _ = step(tables, axis, node, target)
        if hops > 0:
            return channel_of[first + place]
    return -1


@njit
def assign_layers(offsets, channels, graph, closed):
    """Put every path into the first layer that stays free of circles with it, or into several.

    Return the layer of each hop, -1 where there are too few layers, and the number of layers.
    ``graph`` and ``closed`` as in ``first_fit``.
    """
    layers = np.empty(len(channels), np.int32)
    count = 1
    for path in range(len(offsets) - 1):
        hops = slice(offsets[path], offsets[path + 1])
        route = channels[hops]
        layers[hops] = -1
        for layer in range(count):
            if takes(graph, closed, layer, route, len(route)):
                layers[hops] = layer
                break
        else:
            climb(route, graph, len(closed) // len(graph.channel_target), layers[hops])
            count = max(count, layers[hops][-1] + 1)
    return layers, count


@kernel
def climb(route, graph, most_layers, layers):
    """Begin a path in layer 0 and go on to the next layer wherever a circle would close.

    What is held in one layer and asked for in a higher one closes no circle, for none leads back.
    """
    layer = layers[0] = 0
    for hop in range(len(route) - 1):
        if not insert(graph, layer, route[hop], graph.slot[route[hop + 1]]):
            layer += 1
            if layer == most_layers:
                return
        layers[hop + 1] = layer


@njit
def level_layers(offsets, channels, graph, closed, layers, num_layers):
    """Move paths, one after the other, to the layer of the fewest hops if that takes them.

    Paths in several layers stay where they are. What a path waited for in its old layer stays.
    """
    load = np.bincount(layers, minlength=num_layers)
    for path in range(len(offsets) - 1):
        hops = slice(offsets[path], offsets[path + 1])
        route = channels[hops]
        least, own, length = np.argmin(load), layers[hops][0], len(route)
        if layers[hops][-1] != own or load[least] + 2 * length > load[own]:
            continue
        if takes(graph, closed, least, route, length):
            load[least] += length
            load[own] -= length
            layers[hops] = least


# -- pairs of ways, as OpenSM's lash puts them -----------------------------------------------------


CLOSE = 6
"""Layers whose sizes differ by less are not evened out further."""


@njit
def tree_ways(order, channel_source, channel_target, leaving):
    """Return int32[routers, routers], the channel to each router (row) from each other.

    From each router, in an order, grows a tree, breadth first and port by port. A router forwards
    as the first tree does in which what it forwards to is below it.
    """
    num_routers = len(order)
    ways = np.full((num_routers, num_routers), -1, np.int32)
    above, queue = np.empty((2, num_routers), np.int32)
    for root in order:
        above[:] = -1
        queue[0], head, tail = root, 0, 1
        while head < tail:
            router = queue[head]
            head += 1
            for slot in range(leaving[0][router], leaving[0][router + 1]):
                channel = leaving[1][slot]
                other = channel_target[channel]
                if other != root and above[other] < 0:
                    above[other] = channel
                    queue[tail] = other
                    tail += 1
        for place in range(1, tail):
            router = queue[place]
            while router != root:
                channel = above[router]
                router = channel_source[channel]
                if ways[queue[place], router] < 0:
                    ways[queue[place], router] = channel
    return ways


@kernel
def fill_path(ways, here, there, channel_target, path):
    """Fill the way from one router to another. Return its hops."""
    hops = 0
    while here != there:
        path[hops] = ways[there, here]
        here = channel_target[path[hops]]
        hops += 1
    return hops


@kernel
def put_both(graph, layer, ways, first, second, paths):
    """Use both ways between two routers in a layer, or neither and return False."""
    ahead = fill_path(ways, first, second, graph.channel_target, paths[0])
    back = fill_path(ways, second, first, graph.channel_target, paths[1])
    if not insert_path(graph, layer, paths[0], ahead):
        return False
    if insert_path(graph, layer, paths[1], back):
        return True
    remove_path(graph, layer, paths[0], ahead)
    return False


@njit
def layer_pairs(ways, order, graph, most, pairs, layer):
    """Fill the pairs of routers with ways, and the first layer of each.

    ``pairs`` is int32[routers * (routers - 1) / 2, 2], ``layer`` int32 of that length. Returned are
    the number of pairs and of layers. ``most`` + 1 layers if more than ``most`` are needed.
    """
    paths = np.empty((2, len(order)), np.int32)
    count, used = 0, 1
    for one in range(len(order)):
        for two in range(one + 1, len(order)):
            first, second = order[one], order[two]
            if ways[second, first] < 0 or ways[first, second] < 0:
                continue
            at = 0
            while at < most and not put_both(graph, at, ways, first, second, paths):
                at += 1
            if at == most:
                return count, most + 1
            used = max(used, at + 1)
            pairs[count], layer[count] = (first, second), at
            count += 1
    return count, used


@njit
def even_layers(ways, graph, pairs, layer, used, random):
    """Move pairs, each asked once in a random order, from the fullest layer to the emptiest.

    Where they fit, until the two differ by less than ``CLOSE`` ways.
    """
    paths = np.empty((2, len(ways)), np.int32)
    sizes = np.bincount(layer, minlength=used)
    fullest, emptiest = np.argmax(sizes), np.argmin(sizes)
    for number in random:
        if layer[number] != fullest:
            continue
        if 2 * (sizes[fullest] - sizes[emptiest]) < CLOSE:
            return
        first, second = pairs[number]
        if not put_both(graph, emptiest, ways, first, second, paths):
            continue
        for here, there in ((first, second), (second, first)):
            hops = fill_path(ways, here, there, graph.channel_target, paths[0])
            remove_path(graph, fullest, paths[0], hops)
        layer[number] = emptiest
        sizes[fullest] -= 1
        sizes[emptiest] += 1
        fullest, emptiest = np.argmax(sizes), np.argmin(sizes)
