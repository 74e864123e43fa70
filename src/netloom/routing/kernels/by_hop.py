"""Where a packet between hosts may go from a router: one call a packet and hop.

``tables`` is the ``HopTables`` of ``routing.by_hop.tables``. ``used[router << port_shift | port]``
are the flits sent into an output port whose credits have not come back. ``packet`` is a record of
``source``, ``target``, ``sink`` (a host port), ``coin`` (31 random bits), ``aux`` and ``way`` (the
state). ``aux`` is the goal of a detour, the number of a given path, or -1.

Kernels know functions of users by their address only. So a kernel that is compiled and kept can
call a function that did not exist then.

Twin: ``tests/reference/by_hop.py``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from netloom.base.compilation import inlined, part
from netloom.routing.by_hop.tables import ALONG, ALWAYS, DRAWN, EVERY, GIVEN, HASHED, OWN, TWO
from netloom.routing.kernels.shortest_path import mixed

# -- functions of users ----------------------------------------------------------------------------


LISTED, USED = types.CPointer(types.int16), types.CPointer(types.int32)
NEXT_PORT = types.int64(*[types.int64] * 2, LISTED, types.int64, USED, *[types.int64] * 2)
"""What is called: router, goal, ports and how many, what is used and how many, coin."""


@intrinsic
def intrinsic_call(_, address, router, goal, ports, start, count, used, here, size, coin):  # noqa: ARG001
    """Call the function at ``address`` with parts of the arrays ``ports`` and ``used``."""
    whole = types.int64
    signature = whole(whole, whole, whole, ports, whole, whole, used, whole, whole, whole)

    def generate(context, builder, signature, arguments):
        address, router, goal, ports, start, count, used, here, size, coin = arguments
        pointers = []
        for array, first, place in ((ports, start, 3), (used, here, 6)):
            data = context.make_array(signature.args[place])(context, builder, array).data
            pointers.append(builder.gep(data, [first]))
        kinds = [context.get_value_type(each) for each in NEXT_PORT.args]
        function = ir.FunctionType(context.get_value_type(NEXT_PORT.return_type), kinds)
        target = builder.inttoptr(address, function.as_pointer())
        listed, flits = pointers
        return builder.call(target, [router, goal, listed, count, flits, size, coin])

    return signature, generate


called: Any = intrinsic_call


# -- the next hop ----------------------------------------------------------------------------------


DRAWS = 4  # numbers that a packet can draw at a router: two ports, a goal, a coin
unsigned = np.uint64  # indexes are: signed ones are checked for counting from the end
NOTHING = np.int64(-2)  # in place of a goal, where there are none to draw from


@inlined
def next_hop(tables, used, allowed, base, router, in_port, in_vc, packet, hops):
    """Set the slots that a packet may ask for: slot s is bit s & 63 of allowed[base + (s >> 6)].

    The packet has come by an input port and VC, after so many hops from router to router. Its
    ``way`` is then its state at this router, ``aux`` may be the goal that it has drawn.
    """
    sink, state, place = unsigned(packet.sink), packet.way, np.int64(0)
    exit_router, goal = tables.exit_router[sink], np.int64(tables.sink_goal[sink])
    if tables.choice == GIVEN:
        place = tables.path_offsets[packet.aux] + hops
        leaves = place == tables.path_offsets[packet.aux + 1]
    else:
        state = state_at(tables, used, router, in_port, in_vc, packet, hops)
        packet.way = state
        leaves = router == exit_router and tables.eject_vcs[unsigned(state)] != 0
    if leaves:
        for lane in range(tables.exit_lanes[sink]):
            port = tables.exit_port[sink] + lane
            ask(allowed, base, port, tables.eject_vcs[unsigned(state)], tables.lane_shift)
    elif tables.choice == GIVEN:
        at, vcs = tables.path_starts[place], tables.vcs[tables.path_layer[place]]
        ask_each(tables, allowed, base, at, vcs)
    else:
        if tables.detour and tables.to_aux[unsigned(state)]:
            goal = np.int64(packet.aux)
        go_on(tables, used, allowed, base, router, state, goal, packet, hops)


@inlined
def state_at(tables, used, router, in_port, in_vc, packet, hops):
    """The state of a packet that has come to a router, decided on a detour where it has to."""
    state = packet.way
    exit_router, exit_goal = tables.exit_router[packet.sink], tables.sink_goal[packet.sink]
    if hops > 0:
        if tables.escape_vcs and state < tables.escape_state and tables.escape_vcs >> in_vc & 1:
            state = tables.escape_state
        kind = tables.in_kind[unsigned(router << tables.port_shift | in_port)]
        state = tables.delta[unsigned(state * tables.num_kinds + kind)]
    elif len(tables.level):
        state = np.int32(tables.level[packet.sink * len(tables.detour_class) + router])
    if tables.detour and tables.decides[unsigned(state)]:
        goal = NOTHING
        if router != exit_router:
            goal = detour(tables, used, router, exit_router, exit_goal, state, packet, hops)
        if goal >= 0:
            packet.aux = goal
            state = tables.leave[state]
        elif goal == NOTHING:
            state = tables.none[state]
        else:
            state = tables.keep[state]
    to_aux = tables.detour and tables.to_aux[state]
    if to_aux and tables.ports[first(tables, state, router, packet.aux)] == 0:
        state = tables.turn[state]
    return state


@inlined
def ends_of(tables, port_offsets, packet):
    """The injection port and the sink of a packet that is born, both numbers of host ports.

    Those of its given path, or of its pair of hosts. The first of each host where the routing says
    none, and of a host that sends to itself.
    """
    source, target = np.int64(packet.source), np.int64(packet.target)
    entry, sink = port_offsets[source], port_offsets[target]
    if source != target:
        if len(tables.path_sink):
            entry, sink = tables.path_entry[packet.aux], tables.path_sink[packet.aux]
        elif len(tables.pair_sink):
            pair = source * (len(port_offsets) - 1) + target
            entry, sink = tables.pair_entry[pair], tables.pair_sink[pair]
    return np.int32(entry), np.int32(sink)


@inlined
def go_on(tables, used, allowed, base, router, state, goal, packet, hops):
    """Ask for ports that lead from a router to a goal."""
    here, at = router << tables.port_shift, first(tables, state, router, goal)
    count, choice = tables.ports[unsigned(at)], tables.choice
    if choice == EVERY or (tables.escape_vcs and state >= tables.escape_state):
        for index in range(at + 1, at + 1 + count):
            port = tables.ports[unsigned(index)]
            vcs = behind(tables, state, here | port)
            ask(allowed, base, port, vcs, tables.lane_shift)
    else:
        if choice == OWN:
            asked, ports = tables.function, tables.ports
            size = 1 << tables.port_shift
            coin = packet.coin
            chosen = called(asked, router, goal, ports, at + 1, count, used, here, size, coin)
            chosen = min(max(chosen, 0), count - 1)
            port = tables.ports[unsigned(at + 1 + chosen)]
        elif choice == HASHED:
            pair = mixed(mixed(np.uint64(packet.source)) ^ np.uint64(packet.target))
            chosen = np.int64(mixed(pair ^ tables.salts[unsigned(router)]) % np.uint64(count))
            port = tables.ports[unsigned(at + 1 + chosen)]
        elif choice == DRAWN:
            port = tables.ports[unsigned(at + 1 + drawn(packet.coin, DRAWS * hops, count))]
        else:
            port = picked(choice, tables.ports, at, used, here, packet.coin, hops)
        ask(allowed, base, port, behind(tables, state, here | port), tables.lane_shift)
    if tables.escape_vcs and state < tables.escape_state:
        at = first(tables, tables.escape_state, router, goal)
        ask_each(tables, allowed, base, at, tables.escape_vcs)


@inlined
def ask_each(tables, allowed, base, at, vcs):
    """Add VCs of all output ports of a list."""
    for index in range(at + 1, at + 1 + tables.ports[unsigned(at)]):
        ask(allowed, base, tables.ports[unsigned(index)], vcs, tables.lane_shift)


@inlined
def ask(allowed, base, port, vcs, lane_shift):
    """Add VCs of an output port to the slots that a packet may ask for."""
    slot = np.int64(port) << lane_shift
    allowed[unsigned(base + (slot >> 6))] |= np.int64(vcs) << (slot & 63)


@inlined
def first(tables, state, router, goal):
    """Where the list of next ports begins that a packet follows in a state."""
    table = unsigned(tables.table[unsigned(state)])
    row = tables.table_start[table] + router * tables.table_goals[table] + goal
    return tables.starts[unsigned(row)]


@inlined
def behind(tables, state, at):
    """The VCs of an output port for a packet in a state."""
    move = state * tables.num_kinds + tables.out_kind[unsigned(at)]
    return tables.vcs[unsigned(tables.delta[unsigned(move)])]


@part
def drawn(coin, number, count):
    """A random number below ``count``, always the same for a coin and a number."""
    bits = (np.uint64(coin) - np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)  # ``mixed`` adds one
    bits = mixed(bits + np.uint64(number + 1) * np.uint64(0xC2B2AE3D27D4EB4F)) >> np.uint64(33)
    return np.int64((bits * np.uint64(count)) >> np.uint64(31))


@part
def picked(choice, ports, at, used, here, coin, hops):
    """The port that a packet takes of a list, by chance and by what is used."""
    count, number = np.int64(ports[unsigned(at)]), DRAWS * hops
    if choice in (DRAWN, TWO):
        port = ports[unsigned(at + 1 + drawn(coin, number, count))]
        if choice == TWO:
            other = ports[unsigned(at + 1 + drawn(coin, number + 1, count))]
            if used[unsigned(here | other)] < used[unsigned(here | port)]:
                port = other
        return port
    least, equal = used[unsigned(here | ports[unsigned(at + 1)])], 0
    for index in range(at + 1, at + 1 + count):
        flits = used[unsigned(here | ports[unsigned(index)])]
        if flits < least:
            least, equal = flits, 0
        equal += flits == least
    left = drawn(coin, number, equal)
    for index in range(at + 1, at + 1 + count):
        if used[unsigned(here | ports[unsigned(index)])] == least:
            if left == 0:
                return ports[unsigned(index)]
            left -= 1
    return ports[unsigned(at + 1)]


@inlined
def detour(tables, used, router, exit_router, exit_goal, state, packet, hops):
    """The goal of the detour that a packet makes from here, or -1 for none."""
    kinds = tables.detour_class
    row = kinds[router] * tables.detour_classes + kinds[exit_router]
    start = tables.detour_start[row]
    count, goal = np.int64(tables.detours[start]), NOTHING
    if count > 0:
        goal = np.int64(tables.detours[start + 1 + drawn(packet.coin, DRAWS * hops + 2, count)])
    if goal >= 0 and tables.detour != ALWAYS:
        out, straight = tables.table[tables.leave[state]], tables.table[tables.keep[state]]
        goals = tables.table_goals[out], tables.table_goals[straight]
        base = tables.table_start[out], tables.table_start[straight]
        away = base[0] + router * goals[0] + goal
        direct = base[1] + router * goals[1] + exit_goal
        if tables.lengths[away] <= 0:
            return np.int64(-1)
        wires = (tables.starts, tables.ports, tables.next_router, tables.port_shift)
        if tables.detour == ALONG:
            most, there = 1 << 30, hops + tables.lengths[away]
        else:
            most, there = 1, hops
        way = tables.choice, packet.coin
        near = flits_along(wires, used, way, base[1] + exit_goal, goals[1], router, hops, most)
        far = flits_along(wires, used, way, base[0] + goal, goals[0], router, hops, most)
        if tables.detour == ALONG:
            far += flits_along(wires, used, way, base[1] + exit_goal, goals[1], goal, there, most)
        else:
            back = base[1] + goal * goals[1] + exit_goal
            weight = tables.lengths[away] + tables.lengths[back]
            near *= tables.weight if tables.weight else tables.lengths[direct]
            far *= tables.detour_weight if tables.detour_weight else weight
        far += tables.threshold
        if near == far and tables.even_by_coin != 0:
            if drawn(packet.coin, DRAWS * hops + 3, 2) == 0:
                goal = np.int64(-1)
        elif near <= far:
            goal = np.int64(-1)
    return goal


@part
def flits_along(wires, used, way, base, goals, router, hops, most):
    """The flits in the queues along the way that a packet would take from a router.

    Its lists begin at ``starts[base + router * goals]``. ``most``: how many hops are looked at.
    """
    starts, ports, next_router, shift = wires
    flits = np.int64(0)
    for hop in range(hops, hops + most):
        at = starts[base + router * goals]
        if ports[at] == 0:
            break
        here = router << shift
        port = picked(way[0], ports, at, used, here, way[1], hop)
        flits += used[here | port]
        router = np.int64(next_router[here | port])
    return flits
