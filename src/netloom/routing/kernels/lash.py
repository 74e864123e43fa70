"""OpenSM's lash over flat arrays: one way for each two routers, pairs of ways into layers.

Twin: ``tests/reference/opensm.py``.
"""

import numpy as np

from netloom.base.compilation import kernel, njit
from netloom.routing.kernels.layers import insert_path, remove_path, takes

CLOSE = 6
"""Layers whose sizes differ by less are not evened out further."""


@njit(nogil=True)
def tree_ways(order, channel_source, channel_target, leaving):
    """Return int32[routers, routers], the channel to each router (row) from each other.

    From each router, in an order, grows a tree, breadth first and port by port. A router forwards
    as the first tree does in which what it forwards to is below it.
    """
    num_routers = len(order)
    ways = np.full((num_routers, num_routers), -1, np.int32)
    above = np.empty(num_routers, np.int32)
    queue = np.empty(num_routers, np.int32)
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


@kernel
def take_both(graph, layer, ways, first, second, paths):
    """Use both ways between two routers in a layer no more."""
    for turn in range(2):
        here, there = (first, second) if turn == 0 else (second, first)
        hops = fill_path(ways, here, there, graph.channel_target, paths[turn])
        remove_path(graph, layer, paths[turn], hops)


@njit(nogil=True)
def fits(graph, closed, layer, ways, first, second, paths):
    """Use both ways between two routers in a layer from which nothing is ever taken, if they fit.

    ``closed`` are flags, as ``graph.uses``, of what closes a circle there whatever comes.
    """
    ahead = fill_path(ways, first, second, graph.channel_target, paths[0])
    back = fill_path(ways, second, first, graph.channel_target, paths[1])
    if not takes(graph, closed, layer, paths[0], ahead):
        return False
    start = layer * len(graph.channel_target)
    for hop in range(back - 1):
        if closed[start + paths[1, hop], graph.slot[paths[1, hop + 1]]]:
            remove_path(graph, layer, paths[0], ahead)
            return False
    if insert_path(graph, layer, paths[1], back):
        return True
    remove_path(graph, layer, paths[0], ahead)
    if takes(graph, closed, layer, paths[1], back):  # without the way ahead
        remove_path(graph, layer, paths[1], back)
    return False


@njit(nogil=True)
def layer_pairs(ways, order, graph, closed, most, pairs, layer):
    """Fill the pairs of routers with ways, and the first layer of each. Return how many layers.

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
            while at < most and not fits(graph, closed, at, ways, first, second, paths):
                at += 1
            if at == most:
                return count, most + 1
            used = max(used, at + 1)
            pairs[count], layer[count] = (first, second), at
            count += 1
    return count, used


@njit(nogil=True)
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
        take_both(graph, fullest, ways, first, second, paths)
        layer[number] = emptiest
        sizes[fullest] -= 1
        sizes[emptiest] += 1
        fullest, emptiest = np.argmax(sizes), np.argmin(sizes)
