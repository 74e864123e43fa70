"""Packets followed through every choice of a routing: what they hold and what they ask for.

By hop, ``tables`` is the ``HopTables`` of ``routing.by_hop.tables``. With C channels between
routers and S states, *place* ``channel * S + state`` is a head at the router behind a channel, in
the state in which it came. ``(C + router) * S + state`` one at the router where it begins.
``wires`` are the channel at each output port, int32[R, ports], and the router behind each channel,
int32[C].

By rule, ``tables`` is the ``RouteTables`` of ``virtual_channel_tables``. A virtual channel is
``channel * num_vcs + vc``. ``wiring`` is the channel at each output port and at each input port
(both [node, port]), then the target and the input port of each channel. A state of a packet is the
node and input slot that its head is at, and its ``aux``.

Twin: ``tests/reference/walks.py``. By rule: ``tests/reference/virtual_channels.py``.
"""

from __future__ import annotations

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.by_hop.tables import ALWAYS
from netloom.routing.kernels.virtual_channels import allowed, arrived, heading

# -- by hop ----------------------------------------------------------------------------------------


NOWHERE = np.int64(-1)


@njit
def follow(tables, wires, begins, ends, leads, mask, masks, waits, reached):
    """Follow packets from some routers to all ends that their tables lead to.

    Return whether all find a way, else a router without one and the exit that it has none to.

    Parameters
    ----------
    begins
        int16[R], the state of packets that begin at a router, or -1: none does.
    ends
        int32[goals, 2], exit router and goal of the packets to each end.
    leads
        bool[detour goals, classes], whether packets to exits of a class make that detour.
    mask, masks
        int64[S], the number of the VCs of each state among different ones, and how many.
    waits
        uint8[C * masks * ports * masks], set where a packet may hold a channel (in VCs) while it
        asks for an output port (in VCs).
    reached
        uint8[S], set for states in which packets come to a router.
    """
    states, num_channels = len(tables.vcs), len(wires[1])
    places = (num_channels + len(begins)) * states
    classes = tables.detour_classes
    begun = np.zeros(len(leads) * places, np.uint8)
    arrived = np.zeros(places * classes, np.uint8)
    seen, stack = np.zeros(places, np.int32), np.empty(places, np.int64)
    news = np.ones(1, np.int64)
    found = (mask, masks, waits, reached, begun, arrived, news)
    stamp = 0
    while news[0]:
        news[0] = 0
        for end in range(len(ends)):
            stamp, size = stamp + 1, 0
            exit_router, goal = np.int64(ends[end, 0]), np.int64(ends[end, 1])
            for router in range(len(begins)):
                if begins[router] < 0:
                    continue
                table = tables.table[begins[router]]
                base = tables.table_start[table] + router * tables.table_goals[table]
                if tables.lengths[base + goal] >= 0:
                    place = (num_channels + router) * states + begins[router]
                    size = push(seen, stack, size, stamp, place)
            for place in range(places if len(leads) else 0):
                if arrived[place * classes + tables.detour_class[exit_router]]:
                    size = push(seen, stack, size, stamp, place)
            lost = flood(tables, wires, exit_router, goal, leads, found, seen, stack, size, stamp)
            if lost >= 0:
                return False, lost, exit_router
        for middle in range(len(leads)):
            stamp, size = stamp + 1, 0
            for place in range(places):
                if begun[middle * places + place]:
                    size = push(seen, stack, size, stamp, place)
            flood(tables, wires, NOWHERE, middle, leads, found, seen, stack, size, stamp)
    return True, NOWHERE, NOWHERE


@njit
def flood(tables, wires, exit_router, goal, leads, found, seen, stack, size, stamp):
    """Visit all places that packets to one end, or (NOWHERE) to the goal of a detour, come to.

    Return a router where a packet finds no way, or -1 if there is none.
    """
    mask, masks, waits, reached, _, arrived, news = found
    states, num_channels = len(tables.vcs), len(wires[1])
    num_ports, away = wires[0].shape[1], exit_router < 0
    places = len(seen)
    while size:
        size -= 1
        place = stack[size]
        channel, state = place // states, place % states
        router = wires[1][channel] if channel < num_channels else channel - num_channels
        after = np.int64(state)
        if away and tables.decides[state]:
            after = np.int64(tables.leave[state])
        elif not away:
            after = undisturbed(tables, router, exit_router, state, found, places, place)
            if after < 0:
                continue
        reached[state] = reached[after] = 1
        if not away and router == exit_router and tables.eject_vcs[after] != 0:
            continue
        table = tables.table[after]
        base = tables.table_start[table] + router * tables.table_goals[table]
        first = tables.starts[base + goal]
        if tables.ports[first] == 0:
            if not away:
                return router
            for each in range(tables.detour_classes):
                if leads[goal, each]:
                    note(arrived, place * tables.detour_classes + each, news)
            continue
        for index in range(first + 1, first + 1 + tables.ports[first]):
            port = np.int64(tables.ports[index])
            kind = tables.out_kind[(router << tables.port_shift) | port]
            behind = np.int64(tables.delta[after * tables.num_kinds + kind])
            if channel < num_channels:
                held = channel * masks + mask[state]
                waits[(held * num_ports + port) * masks + mask[behind]] = 1
            size = push(seen, stack, size, stamp, wires[0][router, port] * states + behind)
    return -1


@njit
def undisturbed(tables, router, exit_router, state, found, places, place):
    """The state of a packet that goes on to its exit, or -1 if it always makes a detour.

    Notes the detours that it may draw.
    """
    if tables.to_aux[state]:
        return np.int64(tables.turn[state])
    if not tables.decides[state]:
        return np.int64(state)
    if router == exit_router:
        return np.int64(tables.none[state])
    row = tables.detour_class[router] * tables.detour_classes + tables.detour_class[exit_router]
    start = tables.detour_start[row]
    if tables.detours[start] == 0:
        return np.int64(tables.none[state])
    keeps = tables.detour != ALWAYS
    for index in range(start + 1, start + 1 + tables.detours[start]):
        goal = tables.detours[index]
        if goal >= 0:
            note(found[4], goal * places + place, found[6])
        else:
            keeps = True
    return np.int64(tables.keep[state]) if keeps else np.int64(-1)


@njit
def note(flags, place, news):
    """Set a flag, and that there is something new if it was not set."""
    news[0] |= flags[place] == 0
    flags[place] = 1


@njit
def push(seen, stack, size, stamp, place):
    """Put a place on the stack unless it has been there. Return how many are."""
    if seen[place] == stamp:
        return size
    seen[place] = stamp
    stack[size] = place
    return size + 1


# -- by rule ---------------------------------------------------------------------------------------


SLOTS = 64  # input slots of a node, and some


@njit
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
    stacks = np.empty((2, states, 3), np.int64)
    scratch = np.zeros((2, states), np.int64), stacks, np.zeros(2, np.int64)
    for source in range(num_nodes if by_source else 1):
        for target in range(num_nodes):
            for coin in coins:
                packet = (source if by_source else -1, target, coin)
                for aux in range(intermediates):
                    if not minimal or in_box(tables, source, target, aux, coin):
                        follow_slots(tables, wiring, packet, aux, escape_vcs, waits, scratch)
                if intermediates > 0:
                    continue
                if not follow_slots(tables, wiring, packet, -1, escape_vcs, waits, scratch):
                    return False
    return True


@njit
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


@njit
def follow_slots(tables, wiring, packet, aux, escape_vcs, waits, scratch):
    """Visit every state that a packet can come to. From those in escape VCs, look for waits."""
    num_vcs = tables.num_vcs
    seen, stack, stamps = scratch[0][0], scratch[1][0], scratch[2]
    stamps[0] += 1
    count = 0
    for node in range(len(wiring[0])):
        if packet[0] in (-1, node):
            count = push_slot(seen, stack, count, stamps[0], node, tables.injection_slot, aux)
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


@njit
def look_ahead(tables, wiring, packet, state, held, escape_vcs, waits, scratch):
    """From a state in an escape VC, find the escape VCs asked for next, through any others."""
    num_vcs = tables.num_vcs
    seen, stack, stamps = scratch[0][1], scratch[1][1], scratch[2]
    stamps[1] += 1
    count = push_slot(seen, stack, 0, stamps[1], state[0], state[1], state[2])
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


@njit
def choices(tables, packet, node, slot, aux):
    """The output slots that a packet may ask for in a state, and its ``aux`` from there on."""
    after = arrived(tables, node, aux)
    return allowed(tables, node, slot, packet[0], packet[1], after, packet[2], 0), after


@njit
def go(tables, wiring, node, out, aux, seen, stack, count, stamp):
    """Put the state behind an output slot on a stack."""
    channel = wiring[0][node, out // tables.num_vcs]
    slot = wiring[3][channel] * tables.num_vcs + out % tables.num_vcs
    return push_slot(seen, stack, count, stamp, wiring[2][channel], slot, aux)


@njit
def push_slot(seen, stack, count, stamp, node, slot, aux):
    """Put a state on a stack unless it has been there. Return how many are."""
    place = (node * SLOTS + slot) * 2 + (aux < -1)
    if seen[place] == stamp:
        return count
    seen[place] = stamp
    stack[count, 0], stack[count, 1], stack[count, 2] = node, slot, aux
    return count + 1
