"""Which virtual channels wait for which, by following every packet through every choice.

A virtual channel is ``channel * num_vcs + vc``. ``tables`` is the ``RouteTables`` of
``virtual_channel_tables``. ``wiring`` is the channel at each output port and at each input port
(both [node, port]), then the target and the input port of each channel. A state of a packet is the
node and input slot that its head is at, and its ``aux``.

Twin: ``tests/reference/virtual_channels.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.kernels.virtual_channels import allowed, arrived, heading

SLOTS = 64  # input slots of a node, and some


@njit()
def fill_waits(tables, wiring, coins, by_source, intermediates, minimal, escape_vcs, waits):
    """Set ``waits[a, b]`` where a packet may hold a and ask for b, both in escape VCs.

    It may hold a while its head goes on through other VCs before it asks for b. All pairs of nodes
    send, with all ``coins``. ``by_source``: whether the way depends on the source.
    ``intermediates``: how many nodes can be intermediate ones, where routing is ``minimal`` those
    in the minimal box; 0 for no such routing. Return whether every packet finds an escape VC
    wherever it can come.
    """
    num_nodes = len(wiring[0])
    states = num_nodes * SLOTS * 2
    scratch = (
        np.zeros((2, states), np.int64), np.empty((2, states, 3), np.int64), np.zeros(2, np.int64)
    )  # fmt: skip
    for source in range(num_nodes if by_source else 1):
        for target in range(num_nodes):
            for coin in coins:
                packet = (source if by_source else -1, target, coin)
                for aux in range(intermediates):
                    if not minimal or in_box(tables, source, target, aux, coin):
                        follow(tables, wiring, packet, aux, escape_vcs, waits, scratch)
                if intermediates > 0:
                    continue
                if not follow(tables, wiring, packet, -1, escape_vcs, waits, scratch):
                    return False
    return True


@njit()
def in_box(tables, source, target, node, coin):
    """Whether a node is in the minimal box of a pair, round a ring as the coin says."""
    axes = len(tables.order)
    for axis in range(axes):
        start = tables.coordinates[source * axes + axis]
        end = tables.coordinates[target * axes + axis]
        at = tables.coordinates[node * axes + axis]
        direction, _ = heading(tables, axis, start, end, coin)
        sign = 1 if direction == 0 else -1
        side = tables.sides[axis]
        if sign * (at - start) % side > sign * (end - start) % side:
            return False
    return True


@njit()
def follow(tables, wiring, packet, aux, escape_vcs, waits, scratch):
    """Visit every state that a packet can come to. From those in escape VCs, look for waits."""
    num_vcs = tables.num_vcs
    seen, stack, stamps = scratch[0][0], scratch[1][0], scratch[2]
    stamps[0] += 1
    count = 0
    for node in range(len(wiring[0])):
        if packet[0] in (-1, node):
            count = push(seen, stack, count, stamps[0], node, tables.injection_slot, aux)
    while count:
        count -= 1
        node, slot, aux = stack[count]
        slots, after = choices(tables, packet, node, slot, aux)
        if slots & tables.ejection:
            continue
        if slot < tables.injection_slot and (escape_vcs >> (slot % num_vcs)) & 1:
            held = wiring[1][node, slot // num_vcs] * num_vcs + slot % num_vcs
            look_ahead(tables, wiring, packet, stack[count], held, escape_vcs, waits, scratch)
        offered = False
        for out in range(tables.injection_slot):
            if (slots >> out) & 1:
                offered |= (escape_vcs >> (out % num_vcs)) & 1 == 1
                count = go(tables, wiring, node, out, after, seen, stack, count, stamps[0])
        if not offered:
            return False
    return True


@njit()
def look_ahead(tables, wiring, packet, state, held, escape_vcs, waits, scratch):
    """From a state in an escape VC, find the escape VCs asked for next, through any others."""
    num_vcs = tables.num_vcs
    seen, stack, stamps = scratch[0][1], scratch[1][1], scratch[2]
    stamps[1] += 1
    count = push(seen, stack, 0, stamps[1], state[0], state[1], state[2])
    while count:
        count -= 1
        node, slot, aux = stack[count]
        slots, after = choices(tables, packet, node, slot, aux)
        if slots & tables.ejection:
            continue
        for out in range(tables.injection_slot):
            if (slots >> out) & 1:
                if (escape_vcs >> (out % num_vcs)) & 1:
                    channel = wiring[0][node, out // num_vcs]
                    waits[held, channel * num_vcs + out % num_vcs] = True
                else:
                    count = go(tables, wiring, node, out, after, seen, stack, count, stamps[1])


@njit()
def choices(tables, packet, node, slot, aux):
    """The output slots that a packet may ask for in a state, and its ``aux`` from there on."""
    after = arrived(tables, node, aux)
    return allowed(tables, node, slot, packet[0], packet[1], after, packet[2], 0), after


@njit()
def go(tables, wiring, node, out, aux, seen, stack, count, stamp):
    """Put the state behind an output slot on a stack."""
    channel = wiring[0][node, out // tables.num_vcs]
    slot = wiring[3][channel] * tables.num_vcs + out % tables.num_vcs
    return push(seen, stack, count, stamp, wiring[2][channel], slot, aux)


@njit()
def push(seen, stack, count, stamp, node, slot, aux):
    """Put a state on a stack unless it has been there. Return how many are."""
    place = (node * SLOTS + slot) * 2 + (aux < -1)
    if seen[place] == stamp:
        return count
    seen[place] = stamp
    stack[count, 0], stack[count, 1], stack[count, 2] = node, slot, aux
    return count + 1
