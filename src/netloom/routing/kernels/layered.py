"""Paths round broken parts, and their assignment to layers of virtual channels, over flat arrays.

``wiring`` is (channel_target, out_offsets, out_channels, rank): the network's channels, those that
leave each node, and the place of each channel among those. A layer's dependency graph is
``waits[layer, channel]``: a bit for each channel, by its place, that may be waited for meanwhile.

Twin: ``tests/reference/lanes.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.dimension_order import step
from netloom.routing.kernels.shortest_path import distances_to

ONE = np.int64(1)


@njit(nogil=True)
def fill_detours(
    tables, orders, channel_of, by_target, sources, targets, offsets, ends, incoming, outgoing
):
    """Walk every path: by the first of the orders of dimensions that is open from end to end.

    Where none is, by the first of them from node to node as long as it leads nearer, and by the
    lowest-numbered channel that does where it does not. ``tables`` is the ``CubeTables`` of the
    whole network, ``orders`` [order, place], without dimensions where that is no cube.
    ``channel_of`` the channel that each of the whole network's has become, -1 for none.
    """
    channel_source, channel_target = ends
    in_offsets, in_channels = incoming
    out_offsets, out_channels = outgoing
    channels = np.empty(offsets[-1], np.int32)
    distance = np.empty(len(out_offsets) - 1, np.int32)
    queue = np.empty_like(distance)
    known = -1
    for path in by_target:
        if targets[path] != known:
            known = targets[path]
            distances_to(known, channel_source, in_offsets, in_channels, distance, queue)
        node, followed = sources[path], orders[0]
        for order in orders:
            if is_open(tables, order, channel_of, node, known, distance, channel_target):
                followed = order
                break
        for free in range(offsets[path], offsets[path + 1]):
            channel = in_order(tables, followed, channel_of, node, known)
            if channel < 0 or distance[channel_target[channel]] != distance[node] - 1:
                for slot in range(out_offsets[node], out_offsets[node + 1]):
                    channel = out_channels[slot]
                    if distance[channel_target[channel]] == distance[node] - 1:
                        break
            channels[free] = channel
            node = channel_target[channel]
    return channels


@njit(nogil=True)
def is_open(tables, order, channel_of, node, target, distance, channel_target):
    """Whether an order of dimensions leads nearer to the target at every node of its way there."""
    while node != target:
        channel = in_order(tables, order, channel_of, node, target)
        if channel < 0 or distance[channel_target[channel]] != distance[node] - 1:
            return False
        node = channel_target[channel]
    return True


@njit(nogil=True)
def in_order(tables, order, channel_of, node, target):
    """The channel that dimension order takes from a node, -1 where it is broken or there is none.

    In a ring, the + direction where both ways are as short.
    """
    for axis in order:
        _, hops, first, place, _ = step(tables, axis, node, target)
        if hops > 0:
            return channel_of[first + place]
    return -1


@njit(nogil=True)
def assign_layers(offsets, channels, wiring, most_layers):
    """Put every path into the first layer that stays free of circles with it, or into several.

    Return the layer of each hop, -1 where there are too few layers, the number of layers, and
    their graphs.
    """
    num_channels = len(wiring[0])
    waits = np.zeros((most_layers, num_channels), np.int64)
    closed = np.zeros((most_layers, num_channels), np.int64)
    seen, stack = np.full(num_channels, -1, np.int64), np.empty(num_channels, np.int64)
    scratch = (seen, stack, np.zeros(1, np.int64))
    layers = np.empty(len(channels), np.int32)
    count = 1
    for path in range(len(offsets) - 1):
        hops = slice(offsets[path], offsets[path + 1])
        layers[hops] = -1
        for layer in range(count):
            if add_path(channels[hops], wiring, waits[layer], closed[layer], scratch):
                layers[hops] = layer
                break
        else:
            climb(channels[hops], wiring, waits, layers[hops], scratch)
            count = max(count, layers[hops][-1] + 1)
    return layers, count, waits, closed


@njit(nogil=True)
def climb(route, wiring, waits, layers, scratch):
    """Begin a path in layer 0 and go on to the next layer wherever a circle would close.

    What is held in one layer and asked for in a higher one closes no circle, for none leads back.
    """
    layer = layers[0] = 0
    for hop in range(len(route) - 1):
        held, asked = route[hop], route[hop + 1]
        if leads_to(asked, held, wiring, waits[layer], scratch):
            layer += 1
            if layer == len(waits):
                return
        else:
            waits[layer, held] |= ONE << wiring[3][asked]
        layers[hop + 1] = layer


@njit(nogil=True)
def level_layers(offsets, channels, wiring, layers, num_layers, waits, closed):
    """Move paths, one after the other, to the layer of the fewest hops if that takes them.

    Paths in several layers stay where they are.
    """
    num_channels = len(wiring[0])
    seen, stack = np.full(num_channels, -1, np.int64), np.empty(num_channels, np.int64)
    scratch = (seen, stack, np.zeros(1, np.int64))
    load = np.bincount(layers, minlength=num_layers)
    for path in range(len(offsets) - 1):
        hops = slice(offsets[path], offsets[path + 1])
        least, own, length = np.argmin(load), layers[hops][0], offsets[path + 1] - offsets[path]
        if layers[hops][-1] != own or load[least] + 2 * length > load[own]:
            continue
        if add_path(channels[hops], wiring, waits[least], closed[least], scratch):
            load[least] += length
            load[own] -= length
            layers[hops] = least


@njit(nogil=True)
def add_path(route, wiring, waits, closed, scratch):
    """Add the dependencies of a path to a layer's graph, all or none. Return whether they are in.

    ``closed`` remembers the dependencies that would close a circle whatever the path: the graph
    only grows.
    """
    rank = wiring[3]
    for hop in range(len(route) - 1):
        if (closed[route[hop]] >> rank[route[hop + 1]]) & 1:
            return False
    added = np.zeros(len(route), np.bool_)
    for hop in range(len(route) - 1):
        held, asked = route[hop], route[hop + 1]
        bit = ONE << rank[asked]
        if waits[held] & bit:
            continue
        if leads_to(asked, held, wiring, waits, scratch):
            for earlier in range(hop):
                if added[earlier]:
                    waits[route[earlier]] &= ~(ONE << rank[route[earlier + 1]])
            if leads_to(asked, held, wiring, waits, scratch):
                closed[held] |= bit
            return False
        waits[held] |= bit
        added[hop] = True
    return True


@njit(nogil=True)
def leads_to(start, goal, wiring, waits, scratch):
    """Whether ``goal`` is waited for, at any number of removes, by what holds ``start``."""
    channel_target, out_offsets, out_channels, _ = wiring
    seen, stack, stamp = scratch
    stamp[0] += 1
    stack[0], seen[start] = start, stamp[0]
    count = 1
    while count:
        count -= 1
        channel = stack[count]
        if channel == goal:
            return True
        first, bits = out_offsets[channel_target[channel]], waits[channel]
        while bits:
            if bits & 1:
                asked = out_channels[first]
                if seen[asked] != stamp[0]:
                    seen[asked] = stamp[0]
                    stack[count] = asked
                    count += 1
            bits >>= 1
            first += 1
    return False
