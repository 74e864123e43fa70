"""All packets of a routing by hop, through all choices: what they hold and what they ask for.

``tables`` is the ``HopTables`` of ``routing.by_hop.tables``. With C channels between routers and S
states, *place* ``channel * S + state`` is a head at the router behind a channel, in the state in
which it came; ``(C + router) * S + state`` one at the router where it begins. ``wires`` are the
channel at each output port, int32[R, ports], and the router behind each channel, int32[C].
"""

import numpy as np

from netloom.compilation import njit


@njit(nogil=True)
def follow(tables, wires, begins, ends, leads, mask, masks, waits, reached):
    """Follow packets from some routers to all ends that their tables lead to.

    Return whether all find a way, else a router without one and the exit that it has none to.

    Parameters
    ----------
    begins
        int16[R], the state of packets that begin at a router; -1: none does.
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
    found = (mask, masks, waits, reached, begun, arrived)
    stamp, known = 0, -1
    while True:
        count = np.sum(begun != 0) + np.sum(arrived != 0) if len(leads) else 0
        if count == known:
            return True, 0, 0
        known = count
        there = np.flatnonzero(arrived)
        for end in range(len(ends)):
            stamp, size = stamp + 1, 0
            for router in range(len(begins)):
                if begins[router] >= 0 and joined(tables, begins[router], router, ends[end, 1]):
                    place = (num_channels + router) * states + begins[router]
                    size = push(seen, stack, size, stamp, place)
            for each in there:
                if each % classes == tables.detour_class[ends[end, 0]]:
                    size = push(seen, stack, size, stamp, each // classes)
            lost = flood(tables, wires, ends[end], leads, found, seen, stack, size, stamp)
            if lost >= 0:
                return False, lost, ends[end, 0]
        for goal in range(len(leads)):
            stamp, size = stamp + 1, 0
            for place in range(places):
                if begun[goal * places + place]:
                    size = push(seen, stack, size, stamp, place)
            away = np.array([-1, goal], np.int32)
            flood(tables, wires, away, leads, found, seen, stack, size, stamp)


@njit(nogil=True)
def flood(tables, wires, end, leads, found, seen, stack, size, stamp):
    """Visit all places that packets to one end, or (exit -1) to the goal of a detour, come to.

    Return a router where a packet finds no way; -1 if there is none.
    """
    mask, masks, waits, reached, begun, arrived = found
    states, num_channels = len(tables.vcs), len(wires[1])
    num_ports, away = wires[0].shape[1], end[0] < 0
    places = len(seen)
    while size:
        size -= 1
        place = stack[size]
        channel, state = place // states, place % states
        router = wires[1][channel] if channel < num_channels else channel - num_channels
        after = state
        if tables.decides[state]:
            if away:
                after = tables.leave[state]
            else:
                after = decide(tables, router, end[0], state, begun, places, place)
        elif tables.to_aux[state] and not away:
            after = tables.turn[state]
        reached[state] = reached[after] = 1
        if not away and router == end[0] and tables.eject_vcs[after] != 0:
            continue
        table = tables.table[after]
        first = tables.starts[
            tables.table_start[table] + router * tables.table_goals[table] + end[1]
        ]
        if tables.ports[first] == 0:
            if not away:
                return router
            for each in range(tables.detour_classes):
                if leads[end[1], each]:
                    arrived[place * tables.detour_classes + each] = 1
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


@njit(nogil=True)
def joined(tables, state, router, goal):
    """Whether the table of a state has a way from a router to a goal."""
    table = tables.table[state]
    base = tables.table_start[table] + router * tables.table_goals[table]
    return tables.lengths[base + goal] >= 0


@njit(nogil=True)
def decide(tables, router, exit_router, state, begun, places, place):
    """Note the detours that a packet may draw at a place; return its state if it makes none."""
    if router == exit_router:
        return tables.none[state]
    row = tables.detour_class[router] * tables.detour_classes + tables.detour_class[exit_router]
    start = tables.detour_start[row]
    for index in range(start + 1, start + 1 + tables.detours[start]):
        goal = tables.detours[index]
        if goal >= 0:
            begun[goal * places + place] = 1
    return tables.keep[state] if tables.detours[start] else tables.none[state]


@njit(nogil=True)
def push(seen, stack, size, stamp, place):
    """Put a place on the stack unless it has been there; return how many are."""
    if seen[place] == stamp:
        return size
    seen[place] = stamp
    stack[size] = place
    return size + 1
