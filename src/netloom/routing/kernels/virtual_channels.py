"""Which output slots a packet may ask for at a router: one call a packet and hop.

``tables`` is the ``RouteTables`` of ``virtual_channel_tables``. A slot is ``port * num_vcs + vc``.
Sets of slots and of VCs are bits of an int64. ``aux`` is -1 or the number of a given path. For
Valiant's and ROMM's packets, it is the intermediate node on the way there, and -2 minus that node
afterwards.

Twin: ``tests/reference/virtual_channels.py``.
"""

import numpy as np

from netloom.base.compilation import inlined, part
from netloom.routing.virtual_channel_tables import (
    ADAPTIVE,
    DIMENSION_ORDER,
    NEGATIVE_FIRST,
    O1TURN,
    PATHS,
    STATIC_DATELINE,
    STICKY_ESCAPE,
    TABLE,
    TWO_PHASE,
    WEST_FIRST,
)

EMPTY = np.int64(0)


@inlined
def arrived(tables, node, aux):
    """Return the ``aux`` of a packet that has come to ``node``: ask before ``allowed``."""
    if tables.kind == TWO_PHASE and aux == node:
        return -2 - aux
    return aux


@inlined
def allowed(tables, node, in_slot, source, target, aux, coin, hops):
    """Return the output slots that a packet at ``node`` may ask for."""
    kind = tables.kind
    # one comparison at a time: a kernel that knows the kind is compiled without the others
    if kind == TABLE:
        return tables.next_slots[node, target]
    if kind == PATHS:
        return tables.path_slots[tables.path_offsets[aux] + hops]
    if kind == TWO_PHASE and aux >= 0:
        return in_order(tables, node, in_slot, source, aux, coin, 0)
    if node == target:
        return np.int64(tables.ejection)
    if kind == DIMENSION_ORDER or kind == STATIC_DATELINE:  # noqa: SIM109 (see above)
        return in_order(tables, node, in_slot, source, target, coin, 0)
    if kind == TWO_PHASE:
        return in_order(tables, node, in_slot, -2 - aux, target, coin, 2)
    if kind == ADAPTIVE or kind == STICKY_ESCAPE:  # noqa: SIM109
        return adaptive(tables, node, in_slot, target, coin)
    if kind == O1TURN:
        return o1turn(tables, node, target, coin)
    return turn_model(tables, node, source, target)


@part
def heading(tables, axis, start, end, coin):
    """Direction from one coordinate to another (0 growing, 1 falling), and whether it is a tie."""
    if not tables.wraps[axis]:
        return (0 if end > start else 1), False
    side = tables.sides[axis]
    ahead = end - start if end > start else end - start + side
    if 2 * ahead == side and not tables.ties_grow:
        return (coin >> axis) & 1, True
    return (0 if 2 * ahead <= side else 1), False


@part
def crosses(direction, start, end):
    """Whether the way from one coordinate to another in a direction crosses the wrap channel."""
    return end < start if direction == 0 else end > start


@part
def in_order(tables, node, in_slot, entry, goal, coin, first):
    """Dimension order from ``entry`` to ``goal``, in the VC classes ``first`` and the one above.

    In a ring, a packet that crosses the wrap channel is in the lower class before it, in the upper
    one on it and after. One that does not may be in both, but does not go back to the lower one.
    With a static dateline, the first is in the upper class all the way, the second in the lower.
    """
    axes = len(tables.order)
    at, to = node * axes, goal * axes
    for rank in range(axes):
        axis = tables.order[rank]
        here, there = tables.coordinates[at + axis], tables.coordinates[to + axis]
        if here != there:
            low, high = tables.class_vcs[first], tables.class_vcs[first + 1]
            direction, _ = heading(tables, axis, here, there, coin)
            vcs = low | high
            if tables.dateline[axis]:
                crossing = crosses(direction, tables.coordinates[entry * axes + axis], there)
                if tables.kind == STATIC_DATELINE:
                    vcs = high if crossing else low
                elif crossing:
                    edge = tables.sides[axis] - 1 if direction == 0 else 0
                    before = crosses(direction, here, there) and here != edge
                    vcs = low if before else high
                elif (tables.held[(first + 1) * axes + axis] >> in_slot) & 1:
                    vcs = high
            return vcs << tables.shifts[2 * axis + direction]
    return EMPTY


@part
def adaptive(tables, node, in_slot, target, coin):
    """Every minimal direction in the adaptive VCs, dimension order in the escape VCs.

    In a ring the escape class is the lower one where the way from here crosses the wrap channel.

    With a sticky escape, once in an escape VC, only escape VCs. The class is then the upper one for
    a packet whose way, from where it enters the escape VCs of that ring, crosses the wrap channel.
    Of a tie, adaptive VCs take the falling way.
    """
    axes, sticky = len(tables.order), tables.kind == STICKY_ESCAPE
    low, high, free = tables.class_vcs[0], tables.class_vcs[1], tables.class_vcs[2]
    if sticky and (tables.escape_slots >> in_slot) & 1:
        free = EMPTY
    slots, escapes = EMPTY, True
    for rank in range(axes):
        axis = tables.order[rank]
        here = tables.coordinates[node * axes + axis]
        there = tables.coordinates[target * axes + axis]
        if here == there:
            continue
        direction, tie = heading(tables, axis, here, there, coin)
        if escapes:
            escapes, vcs = False, low | high
            if tables.dateline[axis]:
                crossing = crosses(direction, here, there)
                crossed = sticky and (tables.held[axes + axis] >> in_slot) & 1
                vcs = high if crossed or crossing == sticky else low
            slots |= vcs << tables.shifts[2 * axis + direction]
        if tie:
            slots |= free << tables.shifts[2 * axis + 1]
        if not tie or not sticky:
            slots |= free << tables.shifts[2 * axis + (0 if tie else direction)]
    return slots


@part
def o1turn(tables, node, target, coin):
    """Column last in the lower class, or row last in the upper one, as the coin fell."""
    axis = 0 if coin & 1 else 1
    if tables.coordinates[2 * node + axis] == tables.coordinates[2 * target + axis]:
        axis = 1 - axis
    here, there = tables.coordinates[2 * node + axis], tables.coordinates[2 * target + axis]
    direction = 0 if there > here else 1
    return tables.class_vcs[coin & 1] << tables.shifts[2 * axis + direction]


@part
def turn_model(tables, node, source, target):
    """West-first, negative-first and odd-even: minimal ways without the turns that close cycles."""
    kind, axes = tables.kind, len(tables.order)
    vcs = np.int64(tables.all_vcs)
    growing, falling = EMPTY, EMPTY
    for axis in range(axes):
        ahead = tables.coordinates[target * axes + axis] - tables.coordinates[node * axes + axis]
        if ahead > 0:
            growing |= vcs << tables.shifts[2 * axis]
        elif ahead < 0:
            falling |= vcs << tables.shifts[2 * axis + 1]
    if kind == NEGATIVE_FIRST:
        return falling if falling else growing
    column, end = tables.coordinates[2 * node + 1], tables.coordinates[2 * target + 1]
    both = growing | falling
    if column == end:
        return both
    along = vcs << tables.shifts[2 if end > column else 3]
    if kind == WEST_FIRST:
        return along if end < column else both
    across = both & ~along
    if end < column:  # westbound: rows change in even columns only
        return both if column & 1 == 0 else along
    if across == 0:
        return along
    slots = EMPTY
    if column & 1 or column == tables.coordinates[2 * source + 1]:
        slots |= across
    if end & 1 or end - column != 1:
        slots |= along
    return slots
