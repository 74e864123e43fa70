"""Mappings by simulated annealing: two places change what they hold, at the cost of what changes.

Items are the tasks, and as many more without edges as there are places left; a place is a node, or
one of several of a node. The cost of a mapping is a sum over channels of f(load), so that a swap
costs the paths of two items, not an analysis. ``net`` holds the tables of a k-ary n-cube (see
``dimension_order_kernel``) and, for other networks and routings, the paths of all pairs of nodes.
"""

import numpy as np

from netloom.compilation import inlined, kernel
from netloom.routing.dimension_order_kernel import step


@inlined
def power_of(load, terms):
    """Return f(load): its share of the sum of all loads, and of that of their twelfth powers."""
    linear, steep, unit = terms
    scaled = load / unit
    squared = scaled * scaled
    fourth = squared * squared
    return linear * load + steep * fourth * fourth * fourth


@inlined
def change(loads, channel, weight, terms):
    """Add a weight to the load of a channel; return by how much f grows."""
    before = loads[channel]
    loads[channel] = before + weight
    return power_of(before + weight, terms) - power_of(before, terms)


@inlined
def shift(net, source, target, weight, loads, terms):
    """Add a weight to the channels of a path, or take it away; return how much the cost grows."""
    cube, offsets, channels, distance = net
    if source == target or weight == 0.0:
        return 0.0
    if terms[1] == 0.0 and len(distance) > 0:
        return terms[0] * weight * distance[source, target]
    grown = 0.0
    if len(offsets) > 0:
        pair = source * len(distance) + target
        for place in range(offsets[pair], offsets[pair + 1]):
            grown += change(loads, channels[place], weight, terms)
        return grown
    node = np.int32(source)
    for axis in cube.order:
        _, hops, first, place, node = step(cube, axis, node, target)
        if terms[1] == 0.0:  # hops alone count
            grown += terms[0] * weight * hops
            continue
        length = cube.line_channels[axis]
        for _ in range(hops):
            grown += change(loads, first + place, weight, terms)
            place = place + 1 if place + 1 < length else 0
    return grown


@inlined
def shift_item(net, graph, node_of, one, but, sign, loads, terms):
    """Add the paths of an item, or take them away, but for those to one other item."""
    offsets, others, out, into = graph
    grown = 0.0
    for place in range(offsets[one], offsets[one + 1]):
        other = others[place]
        if other == but:
            continue
        here, there = node_of[one], node_of[other]
        grown += shift(net, here, there, sign * out[place], loads, terms)
        grown += shift(net, there, here, sign * into[place], loads, terms)
    return grown


@kernel
def swap(net, graph, node_of, one, other, loads, terms):
    """Let two items change places; return by how much the cost grows."""
    grown = shift_item(net, graph, node_of, one, -1, -1.0, loads, terms)
    grown += shift_item(net, graph, node_of, other, one, -1.0, loads, terms)
    node_of[one], node_of[other] = node_of[other], node_of[one]
    grown += shift_item(net, graph, node_of, one, -1, 1.0, loads, terms)
    grown += shift_item(net, graph, node_of, other, one, 1.0, loads, terms)
    return grown


@kernel
def fill(net, graph, node_of, loads, terms):
    """Fill in the loads of all channels; return the cost of the mapping."""
    offsets, others, out, _ = graph
    loads[:] = 0.0
    cost = 0.0
    for one in range(len(offsets) - 1):
        for place in range(offsets[one], offsets[one + 1]):
            cost += shift(net, node_of[one], node_of[others[place]], out[place], loads, terms)
    return cost


@inlined
def partner(graph, node_of, item_at, near, one, rng):
    """Return an item to change places with: one that would bring an item next to another it joins.

    Or, one time in four, any.
    """
    offsets, others = graph[0], graph[1]
    near_offsets, near_places = near
    first, last = offsets[one], offsets[one + 1]
    if last > first and rng.random() < 0.75:
        joined = others[first + int(rng.random() * (last - first))]
        node = node_of[joined]
        start, end = near_offsets[node], near_offsets[node + 1]
        if end > start:
            return item_at[near_places[start + int(rng.random() * (end - start))]]
    return int(rng.random() * len(node_of))


@kernel
def anneal(
    net, graph, tasks, node_of, place_of, item_at, near, loads, terms, first, last, moves, rng
):
    """Anneal a mapping from the one temperature to the other; return the cost that it grew by.

    ``near`` holds, for each node, the places of its neighbours, as a ragged array. Temperatures
    are in the cost's own unit; at 0 only better mappings are taken.
    """
    grown = 0.0
    cooling = (last / first) ** (1.0 / max(1, moves)) if first > 0 else 1.0
    warm = first
    for _ in range(moves):
        warm *= cooling
        one = int(rng.random() * tasks)
        other = partner(graph, node_of, item_at, near, one, rng)
        if one == other or node_of[one] == node_of[other]:
            continue
        gain = swap(net, graph, node_of, one, other, loads, terms)
        if gain <= 0.0 or (warm > 0 and rng.random() < np.exp(-gain / warm)):
            grown += gain
            here, there = place_of[one], place_of[other]
            place_of[one], place_of[other] = there, here
            item_at[here], item_at[there] = other, one
        elif terms[1] == 0.0:  # loads are not kept
            node_of[one], node_of[other] = node_of[other], node_of[one]
        else:
            swap(net, graph, node_of, one, other, loads, terms)
    return grown
