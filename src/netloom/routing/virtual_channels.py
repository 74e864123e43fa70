"""Routing as a router of virtual channels sees it: which output VCs a packet may ask for.

What can deadlock is refused here, with the circle of channels in which it would. Rings of four
nodes or more (of three, no minimal way has two hops) close a circle under every routing. Two
*classes* of VCs cut it at a dateline between coordinates side − 1 and 0 (Dally & Seitz 1987).
Adaptive routing needs escape VCs that are free of circles, and may then do as it likes in the
others (Duato 1993).

Circles are looked for among virtual channels. An arrow leads from each that a packet may hold to
each that it may request meanwhile. If every packet may request some VCs everywhere (an escape),
only these must be free of circles. But an arrow also joins two escape VCs if packets can go between
them through other VCs.

``find_deadlock`` asks the same with a single queue per channel. A routing function may then
deadlock exactly if channels make a cycle: each may be held while the next is requested (Dally &
Seitz, *Deadlock-free message routing in multiprocessor interconnection networks*, 1987).
"""

from __future__ import annotations

from dataclasses import replace
from os.path import isfile
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import NO_INT64S, Bools, Ints, distinct
from netloom.base.errors import DeadlockError, InputError, NoRouteError
from netloom.base.spec import split_spec
from netloom.base.words import or_near
from netloom.routing import rules, virtual_channel_tables as by_rule
from netloom.routing.by_hop.hosted import BY_HOP, hosted_routing
from netloom.routing.by_hop.tables import channels_by_port, ports
from netloom.routing.forwarding.tables import (
    ForwardingTable,
    check_table,
    cycle_of_waits,
    dependencies,
    dependency_cycle,
    lane_circle,
)
from netloom.routing.parse import (
    AXES,
    MOST_ROUTES,
    SIMULATED,
    SYNONYMS,
    Routing,
    all_pairs,
    all_routes,
    named_here,
    parse_routing,
    paths,
)
from netloom.routing.ragged import router_pairs
from netloom.routing.source_routing import SourceRoutes, route_numbers, shortest_path_table
from netloom.routing.virtual_channel_tables import (
    MOST_SLOTS,
    RULES,
    TIES_GROW,
    VirtualChannelRouting,
)
from netloom.topology import Cube, Topology, cube, mesh, torus
from netloom.topology.core import ranks

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
    from netloom.routing.kernels.followed import fill_waits

    topology, tables = routing.topology, routing.tables
    assert tables.kind not in (by_rule.TABLE, by_rule.PATHS)
    count = topology.num_channels * tables.num_vcs
    if count > MOST_VIRTUAL_CHANNELS:
        raise InputError(topology.name, f"{count} virtual channels", f"{MOST_VIRTUAL_CHANNELS}")
    wired = ports(topology)
    channel_into = np.full((topology.num_routers, wired.num_network_ports), -1, np.int64)
    channel_into[topology.channel_target, wired.in_port] = np.arange(topology.num_channels)
    wiring = (channels_by_port(topology), channel_into, topology.channel_target, wired.in_port)
    escapes = tables.kind in (by_rule.ADAPTIVE, by_rule.STICKY_ESCAPE)
    any_source = escapes or tables.kind in (by_rule.WEST_FIRST, by_rule.NEGATIVE_FIRST)
    escape_vcs = int(tables.class_vcs[0] | tables.class_vcs[1]) if escapes else tables.all_vcs
    waits = np.zeros((count, count), np.bool_)
    coins = np.arange(1 + (tables.kind == by_rule.O1TURN))  # of every kind that the routing tells
    for axis in np.flatnonzero(tables.wraps & (tables.sides % 2 == 0)):
        coins = np.concatenate([coins, coins | 1 << axis])
    middles = routing.needs_aux * topology.num_routers
    packets = coins, not any_source, middles, routing.minimal
    safe = fill_waits(tables, wiring, *packets, escape_vcs, waits)
    assert safe, f"{routing.name} on {topology.name} leaves a packet without an escape channel"
    return waits


VirtualRouting: TypeAlias = str | Routing | VirtualChannelRouting

NAMES = ", ".join([*RULES, "dimension-order:0,1", "shortest-path, up-down, layered or routes:FILE"])


def virtual_channel_routing(
    topology: Topology,
    routing: VirtualRouting,
    *,
    num_vcs: int,
    injection_channels: int = 1,
    ejection_channels: int = 1,
) -> VirtualChannelRouting:
    """Return a routing for the routers of a network, having made sure that it cannot deadlock.

    Parameters
    ----------
    topology
        The network.
    routing
        A name, a routing, or what this or ``routing_by_hop`` made for this network. Half-way round
        a ring, where both ways are as short, each packet's coin decides. x is the last dimension.
        West is falling x.

        - ``default``: dimension order on k-ary n-cubes, ``layered`` on networks with broken parts,
          ``shortest-path`` elsewhere.
        - ``dimension-order``, ``dimension-order:0,1``: one dimension after the other. In rings, a
          packet that crosses the dateline goes from the lower class of VCs to the upper one as it
          takes the wrap channel. One that does not cross it may use both.
          ``dimension-order-static-dateline`` gives the first the upper class, and the second the
          lower one, for all of the ring.
        - ``adaptive``: any minimal direction. VC 0 (0 and 1 where there are rings) is the escape.
          (Routers must let a head ask for an adaptive VC only where its whole packet fits, or
          which is empty: Duato's proof has no packet wait behind another in an adaptive VC.)
          With ``adaptive:ties=+``, packets that are half-way round a ring go the growing way only.
          ``adaptive-sticky-escape`` never leaves the escape VCs again, and has no adaptive
          VC but VC 3 where there are rings.
        - ``west-first``, ``negative-first`` (Glass & Ni 1992), ``odd-even`` (Chiu 2000): partly
          adaptive, on meshes, without classes.
        - ``o1turn`` (Seo et al. 2005): along x first in the lower class, or last in the upper one.
          A coin decides, or (``o1turn-adaptive``) the credits of both at the source.
        - ``valiant`` (Valiant & Brebner 1981), ``romm`` (Nesson & Johnsson 1995): dimension order
          to an intermediate node, any one or one in the minimal box. From there the packet
          continues in a class of VCs of its own (in rings, two).
        - ``shortest-path``, ``routes:FILE``, or what ``table`` made: any VC.
        - ``up-down``: any VC, on any network of two-way links, but not always a shortest path.
        - ``layered``: shortest paths, dimension order where that is not broken, in layers of VCs in
          which no circle closes: see ``Layered``.

        These are the routings of direct networks. Hosts on the routers of a k-ary n-cube take those
        of its dimensions too, but ``valiant``: see ``rules_fit``. For all others of hosts on
        routers see ``by_hop.hosted.hosted_routing``: nearest common ancestors, UGAL and others.
    num_vcs
        Virtual channels of every channel.
    injection_channels, ejection_channels
        Channels between each node and its router.

    Raises
    ------
    InputError
        If the name is not known, does not fit the network, or a router has too many slots.
    DeadlockError
        With the circle of channels, where the routing can deadlock on so many VCs.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> virtual_channel_routing(torus(8, 8), "dimension-order", num_vcs=2).minimal
    True
    >>> virtual_channel_routing(torus(4), "dimension-order", num_vcs=1)
    Traceback (most recent call last):
        ...
    netloom.DeadlockError: dimension-order on torus:4 with 1 VC: found channels that wait
    for each other in a circle: 0 -> 1 (VC 0), 1 -> 2 (VC 0), 2 -> 3 (VC 0), 3 -> 0 (VC 0);
    expected at least 2 VCs
    """
    if isinstance(routing, VirtualChannelRouting):
        made = routing.topology
        alike = made.name == topology.name and not made.broken | topology.broken
        if not (made is topology or alike) or routing.tables.num_vcs != num_vcs:
            found = f"one made for {made.name} with {routing.tables.num_vcs} VCs"
            wanted = f"one for {topology.name} with {num_vcs}"
            raise InputError(f"routing '{routing.name}'", found, wanted)
        return routing
    if topology.direct:
        check_slots(topology, num_vcs, injection_channels, ejection_channels)
    elif not _ruled(topology, routing, num_vcs):
        return hosted_routing(topology, routing, num_vcs)
    named = named_routing(topology, routing) if isinstance(routing, str) else routing
    if isinstance(named, rules.DimensionOrder):
        rules.cube_tables(topology.routers, named)  # refuses no cube, and an order that is none
        return _checked_rule(topology, "dimension-order", named, num_vcs, ejection_channels)
    if isinstance(named, str):
        return _checked_rule(topology, named, rules.DimensionOrder(), num_vcs, ejection_channels)
    if named.several:
        found = "a routing of several paths for each pair of nodes"
        raise InputError(f"routing '{named}'", found, f"for simulation {NAMES}")
    return _listed(topology, named, num_vcs, ejection_channels)


def _checked_rule(
    topology: Topology, name: str, order: rules.DimensionOrder, num_vcs: int, ejection_channels: int
) -> VirtualChannelRouting:
    """Return a routing of ``RULES``, having made sure that it exists there and cannot deadlock.

    Raises
    ------
    InputError
        If it does not fit the network.
    DeadlockError
        If VCs are too few, with the circle of this network or of a small one like it.
    """
    rule, where, routers = (RULES[name.partition(":")[0]], f"routing '{name}'", topology.routers)
    if not isinstance(routers, Cube):
        wanted = "layered, up-down, shortest-path, routes:FILE or a table: it has no dimensions"
        raise InputError(where, topology.name, wanted)
    if rule.two_dimensions and len(routers.sides) != 2:
        raise InputError(where, topology.name, "a mesh of two dimensions")
    if rule.ring_vcs == 0 and any(routers.wraps):
        raise InputError(where, topology.name, "a mesh: on rings its turns deadlock")
    rings = bool(by_rule.datelines(routers).any())
    least = rule.ring_vcs if rings else rule.vcs
    overlapping = rule.kind == by_rule.STATIC_DATELINE and rings and num_vcs % 2 == 1
    if num_vcs < least or overlapping:
        wanted = f"at least {least} VCs" if not overlapping else "an even number of VCs"
        where = f"{name} on {routers.name} with {num_vcs} VC{'s' * (num_vcs > 1)}"
        if rule.kind == by_rule.STICKY_ESCAPE:
            raise InputError(where, "no VC that is not an escape", wanted)
        small = routers if routers.num_routers <= MOST_NODES else _small(routers)
        circle = virtual_channel_cycle(by_rule.rule_routing(small, name, order, num_vcs, 1))
        if circle:  # on a line, some routings have none
            shown = "" if small is routers else f" (shown on {small.name})"
            named = tuple(f"{small.channel_name(channel)} (VC {vc})" for channel, vc in circle)
            raise DeadlockError(where + shown, named, wanted)
    return by_rule.rule_routing(topology, name, order, num_vcs, ejection_channels)


def _small(topology: Cube) -> Cube:
    """Return a small network like this one: two dimensions of 4 nodes at most, rings first.

    That is enough to deadlock in: round a ring, or by turning between two dimensions.
    """
    sides = np.array(topology.sides)
    rings_first = np.lexsort((-sides, ~by_rule.datelines(topology)))
    sides[rings_first[:2]] = np.minimum(sides[rings_first[:2]], 4)
    sides[rings_first[2:]] = 1
    cut = tuple(sides.tolist())
    if all(topology.wraps):
        return torus(*cut)
    return cube(cut, topology.wraps) if any(topology.wraps) else mesh(*cut)


def _ruled(topology: Topology, routing: VirtualRouting, num_vcs: int) -> bool:
    """Return whether a rule leads packets between hosts that hang on routers.

    Valiant's make their detours hop by hop there. So does dimension order with so many VCs that no
    rule can: see ``rules_fit``.
    """
    cube = topology.routers
    if topology.broken or not isinstance(cube, Cube):
        return False
    if not isinstance(routing, str | rules.DimensionOrder):
        return False
    name, _ = split_spec(str(routing))
    if name in ("default", "dimension-order") or sorted(name) == sorted(AXES[: len(cube.sides)]):
        return by_rule.rules_fit(topology, num_vcs)
    return name in RULES and name not in BY_HOP


def draw_aux(
    routing: VirtualChannelRouting, rng: np.random.Generator, sources: ArrayLike, targets: ArrayLike
) -> tuple[Ints, Ints]:
    """Return what each packet carries for its routing: its coin and its ``aux``.

    Parameters
    ----------
    routing, rng
        The routing, and where chance comes from.
    sources, targets
        int[num_packets] nodes.

    Returns
    -------
    coin
        int32[num_packets], 31 random bits. Bit a decides a tie in dimension a: 0 is growing.
    aux
        int32[num_packets]: for ``valiant`` any node, for ``romm`` any in the minimal box, which
        goes round a ring as the coin says. The number of a given route. Otherwise -1.

    Raises
    ------
    NoRouteError
        If a pair of different nodes has no given route.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> romm = virtual_channel_routing(mesh(4, 4), "romm", num_vcs=2)
    >>> draw_aux(romm, np.random.default_rng(1), [0, 5], [0, 4])[1].tolist()
    [0, 4]
    """
    start, end = np.asarray(sources, np.int32), np.asarray(targets, np.int32)
    # as integers(0, 2**31), which asks of each whether to draw again: none ever is
    coin = (rng.integers(0, 2**32, len(start), dtype=np.uint32) >> 1).astype(np.int32)
    if routing.births is not None:
        return coin, routing.births.draw(routing.tables, start, end)
    if not routing.needs_aux:
        return coin, np.full(len(start), -1, np.int32)
    if routing.routes is not None:
        wanted = "a route for every pair that sends"
        return coin, route_numbers(routing.topology, routing.routes, start, end, wanted)
    if routing.minimal:
        return coin, _in_minimal_box(routing, rng, start, end, coin)
    return coin, rng.integers(0, routing.topology.num_routers, len(start), dtype=np.int32)


def named_routing(topology: Topology, spec: str) -> str | Routing:
    """Return the routing that a spec string names, or the name itself if it is of ``RULES``."""
    name, argument = split_spec(spec)
    if named_here(name) and name != "valiant":  # which is one of RULES
        return parse_routing(spec, topology)
    cube = topology.routers
    fits = isinstance(cube, Cube) and sorted(name) == sorted(AXES[: len(cube.sides)])
    if fits or isfile(spec):  # noqa: PTH113 (any words may be no path)
        return parse_routing(spec, topology)
    if SYNONYMS.get(name, name) in SIMULATED:
        wanted = f"hosts that hang on routers, such as fat-tree:4x3 or {topology.name}/1"
        raise InputError(f"routing '{spec}'", topology.name, wanted)
    may_tie = name in RULES and RULES[name].kind in (by_rule.ADAPTIVE, by_rule.STICKY_ESCAPE)
    if name not in RULES or (argument and not (may_tie and argument == TIES_GROW)):
        near = or_near(name, NAMES.split(", "), NAMES)
        wanted = f"{name} or {name}:{TIES_GROW}" if may_tie else near
        raise InputError(f"routing '{spec}'", f"'{spec if argument else name}'", wanted)
    return spec


def _listed(
    topology: Topology, routing: Routing, num_vcs: int, ejection_channels: int
) -> VirtualChannelRouting:
    """Return a routing that lists its channels, if they cannot make a circle.

    Paths that can are put into layers of VCs, each without a circle, where VCs are enough.
    """
    wanted = "up-down, layered or routes without a circle: more VCs do not help these"
    choices = isinstance(routing, ForwardingTable) and routing.choices is not None
    if choices or isinstance(routing, rules.ShortestPath):
        table = routing if choices else shortest_path_table(topology)
        assert isinstance(table, ForwardingTable)
        check_table(topology, table)
        circle = tuple(channel for channel, _ in lane_circle(topology, table))
        if not circle:
            return by_rule.table_routing(topology, table, num_vcs, ejection_channels)
    else:
        routes = routing if isinstance(routing, SourceRoutes) else all_routes(topology, routing)
        layered = isinstance(routing, rules.Layered)
        free = layered or isinstance(routing, rules.UpDown)
        circle = () if free else dependency_cycle(routes.routes, topology.num_channels)
        if not circle and not layered:
            return by_rule.path_routing(topology, routes, num_vcs, ejection_channels)
        layer = rules.layers(topology, routes.routes)
        needed = int(layer.max(initial=0)) + 1
        if needed <= num_vcs:
            vcs = rules.layer_vcs(needed, num_vcs)[layer]
            made = by_rule.path_routing(topology, routes, num_vcs, ejection_channels, vcs)
            return replace(made, minimal=layered)
        if layered:
            found = f"paths that need {needed} layers to be free of deadlock"
            where = f"{routing} on {topology.name} with {num_vcs} VC{'s' * (num_vcs > 1)}"
            raise InputError(where, found, f"at least {needed} VCs, or routing up-down")
        wanted = f"at least {needed} VCs, or routes without a circle"
    named = tuple(topology.channel_name(channel) for channel in circle)
    raise DeadlockError(f"{routing} on {topology.name}", named, wanted)


def check_slots(topology: Topology, num_vcs: int, injection: int, ejection: int) -> None:
    """Refuse routers with more slots than a set of them can hold."""
    for name, count in (("vcs", num_vcs), ("injection", injection), ("ejection", ejection)):
        if count < 1:
            raise InputError(name, str(count), "at least 1")
    network_ports = ports(topology).num_network_ports
    num_ports = network_ports + max(injection, ejection)
    if num_ports * num_vcs > MOST_SLOTS:
        found = f"{num_ports} ports ({network_ports} of them network ports) of {num_vcs} VCs"
        raise InputError(topology.name, found, f"at most {MOST_SLOTS} VCs in all ports of a router")


def _in_minimal_box(
    routing: VirtualChannelRouting, rng: np.random.Generator, start: Ints, end: Ints, coin: Ints
) -> Ints:
    if routing.between is not None:
        start, end = (routing.tables.host_router[each] for each in (start, end))
    dimensions = rules.cube_tables(routing.topology.routers, rules.DimensionOrder())
    node = np.zeros(len(start), np.int64)
    sizes = zip(dimensions.sides, dimensions.strides, dimensions.wraps, strict=True)
    for axis, (side, stride, wrap) in enumerate(sizes):
        here = start // stride % side
        ahead = end // stride % side - here
        if wrap:
            ahead %= side
            tie_falls = (2 * ahead == side) & (coin.astype(np.int64) >> axis & 1 == 1)
            ahead -= side * ((2 * ahead > side) | tie_falls)
        hops = rng.integers(0, np.abs(ahead) + 1)
        node += (here + np.sign(ahead) * hops) % side * stride
    return node.astype(np.int32)


# -- one virtual channel ---------------------------------------------------------------------------


MOST_FLAGS = 2**28
"""Most flags of (channel, next channel) that are looked at."""

MOST_STEPS = 2**30
"""Largest nodes × channels of a general network whose shortest-path table is searched."""

MOST_LISTED = 2**22
"""Most paths that are followed one by one."""

PAIRS_AT_ONCE = 2**17
"""Pairs whose paths are listed at a time."""


def find_deadlock(topology: Topology, routing: Routing) -> tuple[int, ...]:
    """Return a cycle of channels in which this routing can deadlock, or () when it cannot.

    One virtual channel a channel is assumed, except for a forwarding table with lanes. Datelines
    and escape channels are what removes the cycles that this finds. All pairs of different hosts
    that work may communicate (with given routes: those that have one), by any of their paths if
    they have several.

    Up*/down* routing cannot deadlock on any network, and no routing by shortest paths can on a
    whole fat tree: packets go up first, then down, and never up again. Nor can dimension order on
    a HyperX, where a packet takes one hop in each dimension.

    Raises
    ------
    InputError
        If there are too many pairs, paths or nodes to follow.

    Examples
    --------
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.topology import mesh, torus
    >>> find_deadlock(mesh(8, 8), DimensionOrder())
    ()
    >>> find_deadlock(torus(4), DimensionOrder())
    (0, 1, 2, 3)
    """
    if isinstance(routing, rules.Layered) and topology.direct:
        routing = all_routes(topology, routing)
    if isinstance(routing, SourceRoutes):
        return dependency_cycle(routing.routes, topology.num_channels)
    if rules.in_one_order(topology, routing):
        return ()
    inside = topology.routers
    if (
        isinstance(routing, rules.DimensionOrder)
        and isinstance(inside, Cube)
        and _all_send(topology)
    ):
        # only a ring can close a cycle, of 4 nodes or more: of 3 no minimal path has two hops
        for axis, (side, wrap) in enumerate(zip(inside.sides, inside.wraps, strict=True)):
            if wrap and side >= 4:
                first = int(inside.line_base[axis, 0])
                return tuple(range(first, first + side))
        return ()
    circle = _detour_circle(topology, routing) if isinstance(routing, rules.Valiant) else ()
    return circle or listed_cycle(topology, routing)


def _detour_circle(topology: Topology, routing: rules.Valiant) -> tuple[int, ...]:
    """Return a circle on one part of packets' ways, to what is drawn or from there, or ().

    No paths are listed for it.
    """
    trip, hosts = rules.detour(topology, routing), rules.host_routers(topology, str(routing))
    many = len(trip.ways.source)
    flags = many * int(np.diff(trip.ways.out_offsets).max(initial=0))
    if flags > MOST_FLAGS:
        found = f"{flags:,} pairs of channels"
        raise InputError(topology.name, found, f"at most {MOST_FLAGS:,}")
    entries = np.zeros(topology.num_routers, np.bool_)
    entries[hosts] = True
    for ways, goals in ((trip.out, trip.goals), (trip.ways, hosts)):
        waits, arrived, joined = _ways_waits(ways, entries[None], goals)
        if not joined:
            raise NoRouteError(int(np.argmax(entries)), int(goals[0]), rules.JOINED)
        circle = cycle_of_waits(*waits, many)
        if circle:
            return circle
        entries |= arrived
    return ()


def _all_send(topology: Topology) -> bool:
    """Return whether hosts of one port hang on all routers, both ways."""
    entry, one_port = topology.injection_router, topology.num_ports == topology.num_hosts
    both_ways = one_port and np.array_equal(entry, topology.ejection_router)
    return both_ways and len(distinct(entry)) == topology.num_routers


def _ways_waits(
    ways: rules.Ways, entries: Bools, goals: Ints
) -> tuple[tuple[Ints, Ints], Bools, bool]:
    """Return what is held and asked for on ways, each two once, and two more of the kernel."""
    from netloom.routing.kernels.several import several_waits

    place = ranks(ways.out_offsets, ways.out_channels)
    waits, arrived, joined = several_waits(ways, place, entries, goals)
    held, slot = np.nonzero(waits)
    asked = ways.out_channels[ways.out_offsets[ways.target[held]] + slot]
    return (held, asked), arrived, joined


def listed_cycle(topology: Topology, routing: Routing) -> tuple[int, ...]:
    """Return what ``find_deadlock`` does for a routing by name, by following all paths.

    Raises
    ------
    InputError
        If there are too many pairs or paths.
    """
    count = topology.num_channels
    if isinstance(routing, rules.Spread):
        routing = routing.table(topology)
    if isinstance(routing, ForwardingTable):
        return tuple(channel for channel, _ in lane_circle(topology, routing))
    inside = topology.routers
    if isinstance(routing, rules.Minimal | rules.ShortestPath):
        nodes, ways = inside.num_routers, rules.shortest_ways(inside)
        if isinstance(routing, rules.ShortestPath):  # of these, the lowest-numbered channels
            ways = ways._replace(rank=np.arange(inside.num_channels, dtype=np.int32))
        if _all_send(topology):
            if nodes * inside.num_channels > MOST_STEPS:
                found, most = f"{nodes} nodes times {inside.num_channels} channels", MOST_STEPS
                raise InputError(topology.name, found, f"at most {most} to check for deadlock")
            entries, goals = np.ones((1, nodes), np.bool_), np.arange(nodes, dtype=np.int32)
        else:
            entry, leave = router_pairs(topology)
            goals, row = np.unique(leave, return_inverse=True)
            entries = np.zeros((len(goals), nodes), np.bool_)
            entries[row, entry] = True
        waits, *_ = _ways_waits(ways, entries, goals)
        return cycle_of_waits(*waits, count)
    by_routers = isinstance(routing, rules.Layered | rules.DimensionOrder)
    if rules.is_hyperx(topology) or not by_routers:
        sources, targets = all_pairs(topology, str(routing))
        return cycle_of_waits(*_waits(topology, routing, sources, targets, count), count)
    # which hosts hang on two routers makes no difference to the way between these
    sources, targets = router_pairs(topology)
    if len(sources) > MOST_ROUTES:
        found = f"{len(sources)} pairs of routers with hosts"
        raise InputError(topology.name, found, f"at most {MOST_ROUTES} to check for deadlock")
    return cycle_of_waits(*_waits(inside, routing, sources, targets, count), count)


def _waits(
    topology: Topology, routing: Routing, sources: Ints, targets: Ints, num_channels: int
) -> tuple[Ints, Ints]:
    """Return what is held and what is asked for on the paths of some pairs, each two once."""
    found, listed = NO_INT64S, 0
    step = PAIRS_AT_ONCE // 256 if routing.several else PAIRS_AT_ONCE
    for first in range(0, len(sources), step):
        some = slice(first, first + step)
        routed = paths(topology, routing, sources[some], targets[some])
        listed += len(routed)
        if listed > MOST_LISTED:
            over = f"over {MOST_LISTED:,} paths"
            raise InputError(f"routing {routing} on {topology.name}", over, "fewer to follow")
        held, asked = dependencies(routed)
        found = distinct(np.append(found, held.astype(np.int64) * num_channels + asked))
    return np.divmod(found, num_channels)
