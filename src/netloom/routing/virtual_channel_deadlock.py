"""Can packets on virtual channels wait for each other in a circle?

The vertices of the graph are virtual channels. An arrow leads from each that a packet may hold to
each that it may request meanwhile. Without a circle there is no deadlock (Dally & Seitz,
*Deadlock-free message routing in multiprocessor interconnection networks*, 1987). If every packet
may request some VCs everywhere (an escape), only these must be free of circles. But an arrow also
joins two escape VCs if packets can go between them through other VCs (Duato, *A new theory of
deadlock-free adaptive routing in wormhole networks*, 1993).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import DeadlockError, InputError
from netloom.routing.cycles import cycle_of_waits
from netloom.routing.port_numbers import ports
from netloom.routing.route_tables import channels_by_port
from netloom.routing.virtual_channel_tables import (
    ADAPTIVE,
    NEGATIVE_FIRST,
    O1TURN,
    PATHS,
    RULES,
    STATIC_DATELINE,
    STICKY_ESCAPE,
    TABLE,
    WEST_FIRST,
    VirtualChannelRouting,
    datelines,
    rule_routing,
)
from netloom.topology import Cube, cube, mesh, torus

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Ints
    from netloom.routing.dimension_order import DimensionOrder

MOST_NODES = 32
"""Largest network in which a refused routing is followed. Of larger ones, a small one like it."""

MOST_VIRTUAL_CHANNELS = 2**14
"""Most virtual channels of a network that is followed: the graph is a square of flags."""


def virtual_channel_cycle(routing: VirtualChannelRouting) -> tuple[tuple[int, int], ...]:
    """Return a circle of virtual channels in which packets can deadlock, or () if there is none.

    All packets are followed through all choices, with any intermediate nodes and coins: exact, and
    for small networks (networks of 100 nodes take seconds).

    A circle is of pairs (channel, VC), each of which may be held while the next is waited for,
    the last while the first is. The routing is one of k-ary n-cubes by rule, whose tables may
    be short of VCs.

    Raises
    ------
    InputError
        If the network has too many virtual channels.
    """
    waits = escape_waits(routing)
    held, asked = np.nonzero(waits)
    circle = cycle_of_waits(held, asked, len(waits))
    return tuple(divmod(place, routing.tables.num_vcs) for place in circle)


def escape_waits(routing: VirtualChannelRouting) -> Bools:
    """Return which escape virtual channels packets may hold while they ask for which.

    Numbered ``channel * num_vcs + vc``, [held, asked]. If there is no escape, all are counted.
    See ``virtual_channel_cycle``.
    """
    from netloom.routing.kernels.virtual_channel_deadlock import fill_waits

    topology, tables = routing.topology, routing.tables
    assert tables.kind not in (TABLE, PATHS)
    count = topology.num_channels * tables.num_vcs
    if count > MOST_VIRTUAL_CHANNELS:
        raise InputError(topology.name, f"{count} virtual channels", f"{MOST_VIRTUAL_CHANNELS}")
    wired = ports(topology)
    channel_into = np.full((topology.num_vertices, wired.num_network_ports), -1, np.int64)
    channel_into[topology.channel_target, wired.in_port] = np.arange(topology.num_channels)
    wiring = (channels_by_port(topology), channel_into, topology.channel_target, wired.in_port)
    any_source = (ADAPTIVE, STICKY_ESCAPE, WEST_FIRST, NEGATIVE_FIRST)
    escapes = tables.kind in (ADAPTIVE, STICKY_ESCAPE)
    escape_vcs = int(tables.class_vcs[0] | tables.class_vcs[1]) if escapes else tables.all_vcs
    waits = np.zeros((count, count), np.bool_)
    safe = fill_waits(
        tables, wiring, _coins(routing), tables.kind not in any_source,
        topology.num_vertices if routing.needs_aux else 0, routing.minimal, escape_vcs, waits,
    )  # fmt: skip
    assert safe, f"{routing.name} on {topology.name} leaves a packet without an escape channel"
    return waits


def check_rule(topology: Cube, name: str, order: DimensionOrder, num_vcs: int) -> None:
    """Refuse a routing of ``RULES`` on so few VCs that it can deadlock.

    Raises
    ------
    DeadlockError
        With the circle, of this network or of a small one like it.
    """
    rule = RULES[name.partition(":")[0]]
    rings = bool(datelines(topology).any())
    least = rule.ring_vcs if rings else rule.vcs
    overlapping = rule.kind == STATIC_DATELINE and rings and num_vcs % 2 == 1
    if num_vcs >= least and not overlapping:
        return
    wanted = f"at least {least} VCs" if not overlapping else "an even number of VCs"
    where = f"{name} on {topology.name} with {num_vcs} VC{'s' * (num_vcs > 1)}"
    if rule.kind == STICKY_ESCAPE:
        raise InputError(where, "no VC that is not an escape", wanted)
    small = topology if topology.num_vertices <= MOST_NODES else _small(topology)
    followed = rule_routing(small, name, order, num_vcs, 1)
    circle = virtual_channel_cycle(followed)
    if circle:  # on a line, some routings have none
        shown = "" if small is topology else f" (shown on {small.name})"
        named = tuple(f"{small.channel_name(channel)} (VC {vc})" for channel, vc in circle)
        raise DeadlockError(where + shown, named, wanted)


def _coins(routing: VirtualChannelRouting) -> Ints:
    """Return coins of every kind that this routing can tell from others."""
    tables = routing.tables
    if tables.kind == O1TURN:
        return np.arange(2)
    coins = np.zeros(1, np.int64)
    for axis in np.flatnonzero(tables.wraps & (tables.sides % 2 == 0)):
        coins = np.concatenate([coins, coins | 1 << axis])
    return coins


def _small(topology: Cube) -> Cube:
    """Return a small network like this one: two dimensions of 4 nodes at most, rings first.

    That is enough to deadlock in: round a ring, or by turning between two dimensions.
    """
    sides = np.array(topology.sides)
    rings_first = np.lexsort((-sides, ~datelines(topology)))
    sides[rings_first[:2]] = np.minimum(sides[rings_first[:2]], 4)
    sides[rings_first[2:]] = 1
    cut = tuple(sides.tolist())
    if all(topology.wraps):
        return torus(*cut)
    return cube(cut, topology.wraps) if any(topology.wraps) else mesh(*cut)
