"""Mappings by simulated annealing: two places change what they hold, at the cost of what changes.

Items are the tasks, and as many more without edges as there are places left. A place is a node, or
one of several of a node. The cost of a mapping is a sum over channels of f(load), so that a swap
costs the paths of two items, not an analysis. ``net`` holds the tables of a k-ary n-cube (see
``kernels.dimension_order``). For other networks and routings, it holds the paths of all pairs of
nodes. These are their channels, the shares of a unit of weight on each (``shares``, empty if all
are 1), and their hops.

``held`` is a mapping: the node and the place of each item, the item at each place, and the loads of
all channels. ``work`` is scratch memory: the channels that a swap touches, their loads before, a
mark on each, their number, a list of items, and f of each channel.

Twin: ``tests/reference/mapping_cost.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, kernel
from netloom.routing.kernels.dimension_order import step

SAME = 1e-9
"""Relative difference of loads that is none."""


@inlined
def power_of(load, terms):
    """Return f(load): its share of the sum of all loads, and of that of their twelfth powers."""
    linear, steep, unit = terms
    scaled = load / unit
    squared = scaled * scaled
    fourth = squared * squared
    return linear * load + steep * fourth * fourth * fourth


@inlined
def add(channel, weight, loads, work):
    """Add a weight to the load of a channel, and keep what it was before the swap."""
    touched, before, marked, count = work[0], work[1], work[2], work[3]
    if marked[channel] == 0:
        marked[channel] = 1
        touched[count[0]] = channel
        before[count[0]] = loads[channel]
        count[0] += 1
    loads[channel] += weight


@inlined
def shift(net, source, target, weight, loads, work):
    """Add a weight to the channels of a path, or take it away."""
    cube, offsets, channels, distance, shares = net
    if source == target or weight == 0.0:
        return
    if len(offsets) > 0:
        pair = source * len(distance) + target
        for place in range(offsets[pair], offsets[pair + 1]):
            part = weight * shares[place] if len(shares) > 0 else weight
            add(channels[place], part, loads, work)
        return
    node = np.int32(source)
    for axis in cube.order:
        _, hops, first, place, node = step(cube, axis, node, target)
        length = cube.line_channels[axis]
        for _ in range(hops):
            add(first + place, weight, loads, work)
            place = place + 1 if place + 1 < length else 0


@inlined
def shift_item(net, graph, node_of, one, but, sign, loads, work):
    """Add the paths of an item, or take them away, but for those to one other item."""
    offsets, others, out, into = graph
    for place in range(offsets[one], offsets[one + 1]):
        other = others[place]
        if other == but:
            continue
        here, there = node_of[one], node_of[other]
        shift(net, here, there, sign * out[place], loads, work)
        shift(net, there, here, sign * into[place], loads, work)


@inlined
def exchange(net, graph, node_of, one, other, loads, work):
    """Let two items change nodes, and their paths with them. ``work`` keeps what that touches."""
    work[3][0] = 0
    shift_item(net, graph, node_of, one, -1, -1.0, loads, work)
    shift_item(net, graph, node_of, other, one, -1.0, loads, work)
    node_of[one], node_of[other] = node_of[other], node_of[one]
    shift_item(net, graph, node_of, one, -1, 1.0, loads, work)
    shift_item(net, graph, node_of, other, one, 1.0, loads, work)
    touched, marked, count = work[0], work[2], work[3]
    for place in range(count[0]):
        marked[touched[place]] = 0


@inlined
def undo(node_of, one, other, loads, work):
    """Take an exchange back."""
    node_of[one], node_of[other] = node_of[other], node_of[one]
    touched, before, count = work[0], work[1], work[3]
    for place in range(count[0]):
        loads[touched[place]] = before[place]


@inlined
def replace(held, one, other):
    """Write down that two items have changed places."""
    place_of, item_at = held[1], held[2]
    here, there = place_of[one], place_of[other]
    place_of[one], place_of[other] = there, here
    item_at[here], item_at[there] = other, one


@kernel
def fill(net, graph, base, held, work):
    """Fill in the loads of all channels: on top of those of a base."""
    node_of, loads = held[0], held[3]
    offsets, others, out, _ = graph
    for channel in range(len(loads)):
        loads[channel] = base[channel]
    for one in range(len(offsets) - 1):
        for place in range(offsets[one], offsets[one + 1]):
            work[3][0] = 0
            shift(net, node_of[one], node_of[others[place]], out[place], loads, work)
            for at in range(work[3][0]):
                work[2][work[0][at]] = 0


@kernel
def cost(loads, terms):
    """Return the cost of a mapping, given the loads of all channels."""
    total = 0.0
    for load in loads:
        total += power_of(load, terms)
    return total


@inlined
def hops(net, source, target):
    """Return the hops of a path."""
    cube, _, _, distance, _ = net
    if len(distance) > 0:
        return distance[source, target]
    number, node = np.int64(0), np.int32(source)
    for axis in cube.order:
        _, crossed, _, _, node = step(cube, axis, node, target)
        number += crossed
    return number


@inlined
def lengthened(net, graph, node_of, one, but, here, there):
    """Return by how much hops grow if an item moves, but for those to one other item."""
    offsets, others, out, into = graph
    grown = 0.0
    for place in range(offsets[one], offsets[one + 1]):
        other = others[place]
        if other != but:
            end = node_of[other]
            grown += out[place] * (hops(net, there, end) - hops(net, here, end))
            grown += into[place] * (hops(net, end, there) - hops(net, end, here))
    return grown


@inlined
def hops_grown(net, graph, node_of, one, other):
    """Return by how much weight times hops grows if two items change nodes."""
    offsets, others, out, into = graph
    here, there = node_of[one], node_of[other]
    grown = lengthened(net, graph, node_of, one, other, here, there)
    grown += lengthened(net, graph, node_of, other, one, there, here)
    for place in range(offsets[one], offsets[one + 1]):
        if others[place] == other:
            turned = hops(net, there, here) - hops(net, here, there)
            grown += (out[place] - into[place]) * turned
    return grown


@inlined
def crosses(net, source, target, loads, level):
    """Tell whether a path crosses a channel of at least this load."""
    cube, offsets, channels, distance, _ = net
    if source == target:
        return False
    if len(offsets) > 0:
        pair = source * len(distance) + target
        for place in range(offsets[pair], offsets[pair + 1]):
            if loads[channels[place]] >= level:
                return True
        return False
    node = np.int32(source)
    for axis in cube.order:
        _, hops, first, place, node = step(cube, axis, node, target)
        length = cube.line_channels[axis]
        for _ in range(hops):
            if loads[first + place] >= level:
                return True
            place = place + 1 if place + 1 < length else 0
    return False


@kernel
def busy_items(net, graph, held, level, items):
    """List the items with a path over a channel of at least this load. Return their number."""
    node_of, loads = held[0], held[3]
    offsets, others, out, into = graph
    found = 0
    for one in range(len(offsets) - 1):
        for place in range(offsets[one], offsets[one + 1]):
            here, there = node_of[one], node_of[others[place]]
            if (out[place] > 0.0 and crosses(net, here, there, loads, level)) or (
                into[place] > 0.0 and crosses(net, there, here, loads, level)
            ):
                items[found] = one
                found += 1
                break
    return found


@inlined
def highest(loads):
    """Return the load of the busiest channel."""
    most = 0.0
    for load in loads:
        most = max(most, load)
    return most


@inlined
def partner(partners, node_of, item_at, near, one, rng):
    """Return an item to change places with: one that would bring an item next to another it joins.

    Which of those is a matter of weight. Or, one time in four, any.
    """
    near_offsets, near_places = near
    if partners[one, 0] >= 0 and rng.random() < 0.75:
        node = node_of[partners[one, int(rng.random() * partners.shape[1])]]
        start, end = near_offsets[node], near_offsets[node + 1]
        if end > start:
            return item_at[near_places[start + int(rng.random() * (end - start))]]
    return int(rng.random() * len(node_of))


@inlined
def accepted(gain, warm, rng):
    """Tell whether a swap is kept: if it costs nothing, or by chance."""
    return gain <= 0.0 or (warm > 0 and rng.random() < np.exp(-gain / warm))


@kernel
def gather(net, graph, partners, tasks, held, near, first, last, moves, rng):
    """Anneal weight times hops. Return by how much it grew. Loads are not kept.

    ``partners`` holds some of whom each item joins, by weight. ``near``, for each node, the places
    of its neighbours, as a ragged array. Temperatures fall from the one to the other, in the cost's
    own unit.
    """
    node_of, item_at = held[0], held[2]
    grown = 0.0
    cooling = (last / first) ** (1.0 / max(1, moves)) if first > 0 else 1.0
    warm = first
    for _ in range(moves):
        warm *= cooling
        one = int(rng.random() * tasks)
        other = partner(partners, node_of, item_at, near, one, rng)
        if one == other or node_of[one] == node_of[other]:
            continue
        gain = hops_grown(net, graph, node_of, one, other)
        if accepted(gain, warm, rng):
            grown += gain
            node_of[one], node_of[other] = node_of[other], node_of[one]
            replace(held, one, other)
    return grown


@kernel
def anneal(net, graph, partners, tasks, held, near, terms, first, last, moves, aside, work, rng):
    """Anneal a mapping from the one temperature to the other. Return the cost that it grew by.

    As ``gather``, for a cost that depends on loads. Half of the items that move are drawn from
    those whose paths cross busy channels, with a load of at least ``aside`` times the highest. Busy
    channels are counted anew after as many moves as there are tasks. With an ``aside`` of 0, all
    items are drawn from all.
    """
    node_of, item_at, loads = held[0], held[2], held[3]
    touched, count, items, costs = work[0], work[3], work[4], work[5]
    for channel in range(len(loads)):
        costs[channel] = power_of(loads[channel], terms)
    grown = 0.0
    cooling = (last / first) ** (1.0 / max(1, moves)) if first > 0 else 1.0
    warm = first
    busy = 0
    for move in range(moves):
        warm *= cooling
        if aside > 0.0 and move % tasks == 0:
            busy = busy_items(net, graph, held, aside * highest(loads), items)
        if busy > 0 and rng.random() < 0.5:
            one = items[int(rng.random() * busy)]
        else:
            one = int(rng.random() * tasks)
        other = partner(partners, node_of, item_at, near, one, rng)
        if one == other or node_of[one] == node_of[other]:
            continue
        exchange(net, graph, node_of, one, other, loads, work)
        gain = 0.0
        for place in range(count[0]):
            channel = touched[place]
            gain += power_of(loads[channel], terms) - costs[channel]
        if not accepted(gain, warm, rng):
            undo(node_of, one, other, loads, work)
            continue
        grown += gain
        for place in range(count[0]):
            channel = touched[place]
            costs[channel] = power_of(loads[channel], terms)
        replace(held, one, other)
    return grown


@inlined
def relieved(loads, work, top, level, square):
    """Tell whether a swap leaves fewer channels at the top, or as many and smaller squares."""
    touched, before, count = work[0], work[1], work[3]
    fewer, grown = 0, 0.0
    for place in range(count[0]):
        load, was = loads[touched[place]], before[place]
        if load > top:
            return False
        fewer += int(was >= level) - int(load >= level)
        grown += load * load - was * was
    return fewer > 0 or (fewer == 0 and grown < -SAME * square)


@inlined
def shortened(loads, work, lid, total):
    """Tell whether a swap makes the sum of all loads smaller, and none larger than the lid."""
    touched, before, count = work[0], work[1], work[3]
    grown = 0.0
    for place in range(count[0]):
        load, was = loads[touched[place]], before[place]
        if load > lid and load > was:
            return False
        grown += load - was
    return grown < -SAME * total


@kernel
def relieve(net, graph, held, tries, work):
    """Lower the busiest channels by swaps, until none of their items helps or tries are used up.

    A swap is kept if it makes the highest load lower or the number of channels with it smaller,
    or the sum of squares, in this order. The first that does. Return the swaps tried.
    """
    node_of, loads, items = held[0], held[3], work[4]
    tried, better = 0, True
    while better and tried < tries:
        better = False
        highest_load, square = highest(loads), 0.0
        for load in loads:
            square += load * load
        top, level = highest_load * (1 + SAME), highest_load * (1 - SAME)
        busy = busy_items(net, graph, held, level, items)
        for at in range(busy):
            one = items[at]
            for other in range(len(node_of)):
                if node_of[one] == node_of[other]:
                    continue
                tried += 1
                exchange(net, graph, node_of, one, other, loads, work)
                if relieved(loads, work, top, level, square):
                    replace(held, one, other)
                    better = True
                    break
                undo(node_of, one, other, loads, work)
            if better or tried >= tries:
                break
    return tried


@kernel
def shorten(net, graph, tasks, held, lid, tries, work):
    """Lower the sum of all loads by swaps that raise none above a lid. Return the swaps tried."""
    node_of, loads = held[0], held[3]
    tried, since, one = 0, 0, 0
    total = 0.0
    for load in loads:
        total += load
    while since < tasks and tried < tries:
        since += 1
        for other in range(len(node_of)):
            if node_of[one] == node_of[other]:
                continue
            tried += 1
            exchange(net, graph, node_of, one, other, loads, work)
            if shortened(loads, work, lid, total):
                replace(held, one, other)
                since = 0
            else:
                undo(node_of, one, other, loads, work)
        one = one + 1 if one + 1 < tasks else 0
    return tried
