"""Traffic where routing leaves packets a choice: the ways of all, and the cheapest of them.

``tables`` is the ``RouteTables`` of ``virtual_channel_tables``. Ways are a graph of *places*: a
node on the way to one target (or, where the routing looks at the source, of one pair). Places are
numbered so that all ways lead to lower numbers. A place without ways is a target.

Twin: ``tests/reference/expected_load.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.virtual_channels import allowed
from netloom.routing.virtual_channel_tables import O1TURN

UNSEEN, BEGUN = -1, -2


@njit()
def _turns_once(tables, node, source, target, coin):
    """Whether the way with this coin leads over ``node``: along an axis, then along the other."""
    first = 0 if coin & 1 else 1
    where, other = tables.coordinates, 1 - first
    before_turn = where[2 * node + other] == where[2 * source + other]
    return before_turn or where[2 * node + first] == where[2 * target + first]


@njit()
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


@njit()
def _unseen(wiring, node, out, place):
    """The first node that is one hop on and not yet seen; -1 for none."""
    channel_at, channel_target = wiring
    for port in range(channel_at.shape[1]):
        if out >> port & 1 and place[channel_target[channel_at[node, port]]] == UNSEEN:
            return channel_target[channel_at[node, port]]
    return -1


@njit(nogil=True)
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


@njit(nogil=True)
def take_cheapest(ways, weights, price, load):
    """Send all traffic by its cheapest way. Return what it pays. ``load`` is overwritten.

    ``ways`` is what ``list_ways`` returned, ``weights`` what starts in each first place, ``price``
    what each channel asks of a unit of traffic. Of ways as cheap, the lowest port's.
    """
    first, channels, heads, entries = ways
    places = len(first) - 1
    cost, chosen, amount = np.zeros(places), np.full(places, -1), np.zeros(places)
    for at in range(places):
        for arc in range(first[at], first[at + 1]):
            asked = price[channels[arc]] + cost[heads[arc]]
            if chosen[at] < 0 or asked < cost[at]:
                cost[at], chosen[at] = asked, arc
    paid = 0.0
    for number in range(len(entries)):
        amount[entries[number]] += weights[number]
        paid += weights[number] * cost[entries[number]]
    load[:] = 0
    for at in range(places - 1, -1, -1):
        if chosen[at] >= 0:
            load[channels[chosen[at]]] += amount[at]
            amount[heads[chosen[at]]] += amount[at]
    return paid
