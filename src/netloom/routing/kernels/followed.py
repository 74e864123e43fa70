"""All packets of a routing by hop, through all choices: what they hold and what they ask for.

``tables`` is the ``HopTables`` of ``routing.by_hop.tables``. With C channels between routers and S
states, *place* ``channel * S + state`` is a head at the router behind a channel, in the state in
which it came. ``(C + router) * S + state`` one at the router where it begins. ``wires`` are the
channel at each output port, int32[R, ports], and the router behind each channel, int32[C].

Twin: ``tests/reference/walks.py``.
"""

import numpy as np

from netloom.base.compilation import njit
from netloom.routing.by_hop.tables import ALWAYS

NOWHERE = np.int64(-1)


@njit(nogil=True)
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
                if begins[router] >= 0 and joined(tables, begins[router], router, goal):
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


@njit(nogil=True)
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


@njit(nogil=True)
def joined(tables, state, router, goal):
    """Whether the table of a state has a way from a router to a goal."""
    table = tables.table[state]
    base = tables.table_start[table] + router * tables.table_goals[table]
    return tables.lengths[base + goal] >= 0


@njit(nogil=True)
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


@njit(nogil=True)
def note(flags, place, news):
    """Set a flag, and that there is something new if it was not set."""
    news[0] |= flags[place] == 0
    flags[place] = 1


@njit(nogil=True)
def push(seen, stack, size, stamp, place):
    """Put a place on the stack unless it has been there. Return how many are."""
    if seen[place] == stamp:
        return size
    seen[place] = stamp
    stack[size] = place
    return size + 1
