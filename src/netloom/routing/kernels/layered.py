"""Paths round broken parts, and their assignment to layers of virtual channels, over flat arrays.

Twin: ``tests/reference/lanes.py``.
"""

import numpy as np

from netloom.base.compilation import kernel, njit
from netloom.routing.kernels.acyclic import insert
from netloom.routing.kernels.dimension_order import step
from netloom.routing.kernels.lanes import takes
from netloom.routing.kernels.shortest_path import distances_to


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
def assign_layers(offsets, channels, graph, closed):
    """Put every path into the first layer that stays free of circles with it, or into several.

    Return the layer of each hop, -1 where there are too few layers, and the number of layers.
    ``graph`` and ``closed`` as in ``kernels.lanes``.
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


@njit(nogil=True)
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
