"""Expected loads of channels over flat arrays.

If routing leaves packets a choice, ways are a graph of *places*: a node on the way to one target.
If the routing looks at the source, it is the way of one pair. Places are numbered so that all ways
lead to lower numbers. A place without ways is a target. ``tables`` is the ``RouteTables`` of
``virtual_channel_tables``.

If packets of a k-ary n-cube draw their way, loads are added pair by pair. ``tables`` is
``CubeTables``. Half-way round a ring half of the packets go either way (``add_in_order``: if
``both_ways``). Runs of channels are added to ``load`` as differences: +w where a run begins and -w
behind its end, so that a running sum along each line gives the loads.

Elsewhere, flows are pushed from router to router. ``ways`` is the ``Ways`` of ``routing.rules``.

Twin: ``tests/reference/expected_load.py``, and ``tests/reference/several.py`` of flows.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.dimension_order import step, travel
from netloom.routing.kernels.several import most_choices, next_channels, search
from netloom.routing.kernels.virtual_channels import allowed
from netloom.routing.virtual_channel_tables import O1TURN

# -- ways to choose from ---------------------------------------------------------------------------


UNSEEN, BEGUN = -1, -2


@njit
def _turns_once(tables, node, source, target, coin):
    """Whether the way with this coin leads over ``node``: along an axis, then along the other."""
    first = 0 if coin & 1 else 1
    where, other = tables.coordinates, 1 - first
    before_turn = where[2 * node + other] == where[2 * source + other]
    return before_turn or where[2 * node + first] == where[2 * target + first]


@njit
def _ports(tables, node, source, target):
    """The output ports (as bits) by which a packet may go on, whatever its coin.

    The two ways of O1TURN meet at their ends only: where a packet is says which coin it has.
    """
    slots = np.int64(0)
    for coin in (0, -1):
        if tables.kind == O1TURN and not _turns_once(tables, node, source, target, coin):
            continue
        slots |= allowed(tables, node, tables.injection_slot, source, target, -1, coin, 0)
    found = np.int64(0)
    for port in range(tables.injection_slot // tables.num_vcs):
        if slots >> port * tables.num_vcs & tables.all_vcs:
            found |= np.int64(1) << port
    return found


@njit
def _unseen(wiring, node, out, place):
    """The first node that is one hop on and not yet seen; -1 for none."""
    channel_at, channel_target = wiring
    for port in range(channel_at.shape[1]):
        if out >> port & 1 and place[channel_target[channel_at[node, port]]] == UNSEEN:
            return channel_target[channel_at[node, port]]
    return -1


@njit
def list_ways(tables, wiring, targets, offsets, sources, most_arcs):
    """Return the places of all targets: first arc, channel and head of each arc, first places.

    ``wiring`` is the channel at each output port [node, port] and the node that each channel
    enters. ``sources[offsets[t]:offsets[t + 1]]`` send to ``targets[t]``, and each has its first
    place in the last array. Without arcs if there are more than ``most_arcs``. No routing has a way
    that leads round in a circle: ``table`` refuses those, all others are minimal.
    """
    channel_at, channel_target = wiring
    nodes, ports = channel_at.shape
    first, channels, heads = [0], np.empty(most_arcs, np.int32), np.empty(most_arcs, np.int32)
    entries, none = np.empty(len(sources), np.int32), np.empty(0, np.int32)
    place, out = np.empty(nodes, np.int32), np.empty(nodes, np.int64)
    stack, arcs = np.empty(nodes, np.int32), 0
    for number in range(len(targets)):
        place[:] = UNSEEN
        for entry in range(offsets[number], offsets[number + 1]):
            stack[0], depth = sources[entry], np.int64(place[sources[entry]] == UNSEEN)
            while depth:
                node = stack[depth - 1]
                if place[node] == UNSEEN:
                    place[node], out[node] = BEGUN, 0
                    if node != targets[number]:
                        out[node] = _ports(tables, node, sources[entry], targets[number])
                deeper = _unseen(wiring, node, out[node], place)
                if deeper >= 0:
                    stack[depth] = deeper
                    depth += 1
                    continue
                if arcs + ports > most_arcs:
                    return np.array(first), none, none, entries
                for port in range(ports):
                    if out[node] >> port & 1:
                        channels[arcs] = channel_at[node, port]
                        heads[arcs] = place[channel_target[channel_at[node, port]]]
                        arcs += 1
                place[node] = len(first) - 1
                first.append(arcs)
                depth -= 1
            entries[entry] = place[sources[entry]]
    return np.array(first), channels[:arcs].copy(), heads[:arcs].copy(), entries


# -- drawn ways of cubes ---------------------------------------------------------------------------


@njit
def add_run(load, line, length, place, hops, weight):
    """Add ``weight`` to ``hops`` channels of a line from ``place`` on, round its end too."""
    load[line + place] += weight
    beyond = place + hops
    if beyond > length:
        load[line] += weight
        beyond -= length
    if beyond < length:
        load[line + beyond] -= weight


@njit
def add_in_order(tables, sources, targets, weights, both_ways, load):
    """Add what packets between pairs of nodes load in dimension order, as differences."""
    for path in range(len(sources)):
        node = sources[path]
        for axis in tables.order:
            _, hops, line, place, node = step(tables, axis, node, targets[path])
            if hops == 0:
                continue
            length, side = tables.line_channels[axis], tables.sides[axis]
            if not both_ways or not tables.wraps[axis] or 2 * hops != side:
                add_run(load, line, length, place, hops, weights[path])
                continue
            add_run(load, line, length, place, hops, weights[path] / 2)
            back = line + tables.line_base[axis, 1] - tables.line_base[axis, 0]
            add_run(load, back, length, side - 1 - place, hops, weights[path] / 2)


@njit
def _add_line(tables, axis, node, direction, load, fill, hops, first_phase):
    """Add the chance that each of ``hops`` channels from ``node`` is crossed in one phase."""
    side, stride = tables.sides[axis], tables.strides[axis]
    start = node // stride % side
    line = node // (stride * side) * stride + node % stride
    length = tables.line_channels[axis]
    first = tables.line_base[axis, direction] + line * length
    place = start if direction == 0 else side - 1 - start
    for hop in range(hops):
        many = hops - hop if first_phase else hop + 1
        load[first + (place + hop) % side] += fill * many / (hops + 1)


@njit
def _moved(tables, axis, node, hops):
    """The node so many hops (negative: falling) along one dimension."""
    side, stride = tables.sides[axis], tables.strides[axis]
    start = node // stride % side
    return node + ((start + hops) % side - start) * stride


@njit
def add_by_box(tables, sources, targets, weights, load):
    """Add what ROMM loads: dimension order to any node of the minimal box, and on from there.

    On the way to the intermediate node, dimensions corrected earlier are where that is and later
    ones where the source is. On the way from it, where the target is and where that is.
    """
    axes = len(tables.order)
    hops, ahead = np.zeros(axes, np.int64), np.zeros(axes, np.int64)
    for path in range(len(sources)):
        source, target = np.int64(sources[path]), np.int64(targets[path])
        ties, ways = 0, 1
        for rank in range(axes):
            axis = tables.order[rank]
            side, stride = tables.sides[axis], tables.strides[axis]
            start, end = source // stride % side, target // stride % side
            direction, hops[rank] = travel(start, end, side, tables.wraps[axis])
            ahead[rank] = hops[rank] if direction == 0 else -hops[rank]
            if tables.wraps[axis] and 2 * hops[rank] == side:
                ties |= 1 << rank
                ways *= 2
        for coin in range(1 << axes):
            if coin & ~ties:
                continue
            for rank in range(axes):
                if ties >> rank & 1:
                    ahead[rank] = -hops[rank] if coin >> rank & 1 else hops[rank]
            for rank in range(axes):
                if hops[rank]:
                    _add_boxes(tables, rank, source, hops, ahead, weights[path] / ways, load)


@njit
def _add_boxes(tables, rank, source, hops, ahead, weight, load):
    axis, direction = tables.order[rank], 0 if ahead[rank] > 0 else 1
    for first_phase in (True, False):
        low, high = (0, rank) if first_phase else (rank + 1, len(hops))
        count = 1
        for other in range(low, high):
            count *= hops[other] + 1
        for number in range(count):
            node = source
            if not first_phase:
                for other in range(rank):
                    node = _moved(tables, tables.order[other], node, ahead[other])
            left = number
            for other in range(low, high):
                along = left % (hops[other] + 1)
                left //= hops[other] + 1
                sign = 1 if ahead[other] > 0 else -1
                node = _moved(tables, tables.order[other], node, sign * along)
            _add_line(tables, axis, node, direction, load, weight / count, hops[rank], first_phase)


# -- flows and listed paths ------------------------------------------------------------------------


@njit
def push_flows(ways, goals, first, sources, weights, load):
    """Add what flows to goals load, split evenly over the next channels of each router.

    To router goals[i] flows weights[k] from router sources[k], first[i] <= k < first[i + 1].
    Returns a source that has no way to its goal, and the goal, or -1 twice.
    """
    num_routers = len(ways.group)
    distance, queue = np.empty(num_routers, np.int32), np.empty(num_routers, np.int32)
    found, flow = np.empty(most_choices(ways), np.int32), np.zeros(num_routers)
    for number in range(len(goals)):
        if first[number] == first[number + 1]:
            continue
        reached, group = search(ways, goals[number], distance, queue)
        for entry in range(first[number], first[number + 1]):
            if distance[sources[entry]] < 0:
                return sources[entry], goals[number]
            flow[sources[entry]] += weights[entry]
        for place in range(reached - 1, 0, -1):  # farthest first: all has come that comes
            router = queue[place]
            if flow[router] != 0 and distance[router] > 0:
                choices = next_channels(ways, router, group, distance, found)
                share = flow[router] / choices
                for choice in range(choices):
                    load[found[choice]] += share
                    flow[ways.target[found[choice]]] += share
            flow[router] = 0
        flow[goals[number]] = 0
    return -1, -1


@njit
def add_paths(channels, offsets, weights, load):
    """Add the weight of each path to each of its channels."""
    for path in range(len(offsets) - 1):
        for hop in range(offsets[path], offsets[path + 1]):
            load[channels[hop]] += weights[path]
