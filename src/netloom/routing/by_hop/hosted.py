"""Routings of networks whose hosts hang on routers, with VCs in which no circle closes."""

from __future__ import annotations

from os.path import isfile
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import DeadlockError, InputError
from netloom.base.spec import split_spec
from netloom.base.words import or_near
from netloom.routing.by_hop.listed import listed_routing
from netloom.routing.by_hop.named import (
    BY_HOP,
    SEPARATOR,
    Ladder,
    Plan,
    default_by_hop,
    escape_automaton,
    escape_tables,
    plan,
    straight,
    with_detours,
)
from netloom.routing.by_hop.tables import (
    ALWAYS,
    GIVEN,
    LEAST,
    MOST_VCS,
    OWN,
    TWO,
    HopTables,
    NextPorts,
    bits,
    channels_at_ports,
    check_starts,
    hop_tables,
)
from netloom.routing.cycles import cycle_of_waits
from netloom.routing.dimension_order import DimensionOrder
from netloom.routing.hosted import router_pairs
from netloom.routing.parse import SYNONYMS, named_here, names, parse_routing
from netloom.routing.port_numbers import hosted_ports
from netloom.routing.rules import Ecmp, RandomUp
from netloom.routing.several import Minimal, MinimalGroup, Valiant
from netloom.routing.virtual_channel_tables import VirtualChannelRouting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from netloom.base.arrays import Bools, Ints
    from netloom.routing.parse import Routing
    from netloom.topology import Topology


MOST_PLACES = 2**28
"""Most places, times goals of detours, that are followed: each takes a byte."""


class TooLargeError(InputError):
    """A network in which packets are not followed: it would take too much memory."""


class Followed(NamedTuple):
    """What packets do under a routing.

    Attributes
    ----------
    reached
        bool[S], the states in which packets come to a router.
    held, asked
        int64[arrows, 2], pairs of a channel and the number of VCs in ``masks``.
    masks
        int64[], different sets of VCs.
    """

    reached: Bools
    held: Ints
    asked: Ints
    masks: Ints


def hop_circle(topology: Topology, tables: HopTables) -> tuple[tuple[int, int], ...]:
    """Return a circle of virtual channels in which packets can deadlock, or () if there is none.

    The circle is of pairs (channel, VC), each of which may be held while the next is waited for,
    the last while the first is. It is exact but for detours: those from one class of routers to
    another are all taken to lead to every exit of that class.

    Raises
    ------
    TooLargeError
        If the network is too large.
    InputError
        If a packet finds no way.
    """
    found = followed(topology, tables)
    return circle_among(found.held, found.asked, found.masks)


def followed(topology: Topology, tables: HopTables) -> Followed:
    """Follow all packets of a routing by hop, those in its escape only where it has one.

    Raises
    ------
    TooLargeError
        If the network is too large.
    InputError
        If a packet finds no way.
    """
    from netloom.routing.kernels.followed import follow

    assert tables.choice != GIVEN, "given paths list their channels"
    assert len(tables.lengths) == len(tables.starts), "forwarding tables are checked elsewhere"
    assert not len(tables.level), "lanes by service level have a check of their own"
    outward, _ = channels_at_ports(topology)
    inside, states = topology.routers, len(tables.vcs)
    ends = np.stack([tables.exit_router, tables.sink_goal], axis=1)
    ends = np.unique(ends, axis=0).astype(np.int32)
    leads = _leads(tables)
    masks, mask = np.unique(tables.vcs, return_inverse=True)
    size = (inside.num_channels + inside.num_vertices) * states * max(len(leads), 1)
    arrows = inside.num_channels * len(masks) ** 2 * outward.shape[1]
    if max(size, arrows) > MOST_PLACES:
        wanted = "a smaller network, or a routing that is free of deadlock by a rule"
        raise TooLargeError(topology.name, "too many channels to look for circles in", wanted)
    waits, reached = np.zeros(arrows, np.uint8), np.zeros(states, np.uint8)
    begins = np.full(inside.num_vertices, -1, np.int16)
    if tables.escape_vcs:
        begins[:] = tables.escape_state
    else:
        begins[topology.injection_router] = 0
    wires = outward, inside.channel_target
    ways, router, last = follow(
        tables, wires, begins, ends, leads, mask.astype(np.int64), len(masks), waits, reached
    )
    if not ways:
        names = [topology.name_of(topology.router_vertex(int(each))) for each in (router, last)]
        raise InputError(topology.name, f"no way from {names[0]} to {names[1]}", "a connected one")
    channel, held, port, asked = np.unravel_index(
        np.flatnonzero(waits), (inside.num_channels, len(masks), outward.shape[1], len(masks))
    )
    behind = outward[inside.channel_target[channel], port]
    return Followed(
        reached.astype(bool),
        np.stack([channel, held], axis=1),
        np.stack([behind, asked], axis=1).astype(np.int64),
        masks,
    )


def circle_among(held: Ints, asked: Ints, masks: Ints) -> tuple[tuple[int, int], ...]:
    """Return a circle among arrows from channels in VCs to channels in VCs, or ().

    ``held`` and ``asked`` are int64[arrows, 2]: a channel, and which of ``masks`` its VCs are.

    Examples
    --------
    >>> circle_among(np.array([[0, 0], [1, 0]]), np.array([[1, 0], [0, 0]]), np.array([2]))
    ((0, 1), (1, 1))
    """
    shared = masks[None, :].view(np.uint64) >> np.arange(64, dtype=np.uint64)[:, None] & np.uint64(
        1
    )
    kinds, first = np.unique(shared, axis=0, return_index=True)
    first = first[kinds.any(axis=1)]  # one VC of each set of VCs that nothing tells apart
    some, count = shared[first].astype(bool), len(first)
    pairs = []
    for one in range(count):
        for other in range(count):
            both = some[one, held[:, 1]] & some[other, asked[:, 1]]
            pairs.append((held[both, 0] * count + one, asked[both, 0] * count + other))
    if not pairs:
        return ()
    before, after = (np.concatenate(each) for each in zip(*pairs, strict=True))
    many = int(max(before.max(initial=-1), after.max(initial=-1))) + 1
    circle = cycle_of_waits(before, after, many)
    return tuple((place // count, int(first[place % count])) for place in circle)


def _leads(tables: HopTables) -> Bools:
    """Return bool[detour goals, classes], whether packets to a class make a detour."""
    if not tables.detour:
        return np.zeros((0, tables.detour_classes), np.bool_)
    goals = int(tables.detours.max(initial=-1)) + 1
    leads = np.zeros((goals, tables.detour_classes), np.bool_)
    for row, start in enumerate(tables.detour_start.tolist()):
        drawn = tables.detours[start + 1 : start + 1 + tables.detours[start]]
        leads[drawn[drawn >= 0], row % tables.detour_classes] = True
    return leads


NAMED = DimensionOrder | Ecmp | Minimal | MinimalGroup | Valiant | RandomUp
"""Routings that are computed hop by hop: by the names that they have."""

MOST_RUNGS = 2**10
"""Most rungs of a ladder. Networks of a few thousand hops across need as many."""


def hosted_routing(
    topology: Topology, routing: str | Routing, num_vcs: int
) -> VirtualChannelRouting:
    """Return a routing of a network whose hosts hang on routers, free of deadlock on its VCs.

    If packets may choose, each decides when its head comes to the front of a buffer. What is
    *used* of a port are the flits sent into it whose credits have not come back, over all its VCs.

    Parameters
    ----------
    topology
        The network.
    routing
        A name or a routing.

        - ``default``: ``nca`` on fat trees, ``minimal-group`` on dragonflies, ``dimension-order``
          on k-ary n-cubes and HyperX, ``minimal`` elsewhere and where something is broken.
        - ``nca`` (or ``random-up``): up to a nearest common ancestor, at each router by any port,
          each as likely, and down. ``nca-adaptive`` (or ``anca``) draws two ports at each router
          and takes the less used, or the first of two alike (Mitzenmacher, *The power of two
          choices*, 2001). ``nca-adaptive:all`` takes the least used of all, or any of several at
          random. ``nca-adaptive:every`` requests all of them.
        - ``minimal``: any shortest way, at each router each channel as likely. ``ecmp``: one by a
          hash of source and target. ``minimal-group``: see ``MinimalGroup``. ``dimension-order``:
          see ``DimensionOrder``, but ties and lanes are drawn.
        - ``min-adaptive``: all shortest ways in all VCs but VC 0, and up*/down* in VC 0, which a
          packet never leaves again (Duato 1993, Silla & Duato 2000).
        - ``valiant``, ``valiant-group``: by way of a router or group that is drawn: ``Valiant``.
        - ``ugal-l`` (or ``ugal``), ``ugal-g`` (Singh 2005): at the source's router, a packet goes
          directly if q_min H_min ≤ q_non H_non + T. Otherwise it goes through a randomly drawn
          router with hosts, on dragonflies one of another group. H counts hops, and q is the use of
          each path's first port. Under ``ugal-g``, q H is the use of all ports on the path.
          ``ugal-l:threshold=T`` sets T in flits, 2 by default. ``par`` (Jiang, Kim & Dally 2009)
          decides again at each router of the source's group.
        - Forwarding tables, given routes and all other routings of one path per pair: ``listed``.
    num_vcs
        Virtual channels of every channel. Packets climb classes of VCs, as many as their paths
        need. On dragonflies these are 2 for ``minimal-group``, 4 for ``valiant`` and ``ugal-l``,
        and 5 for ``par``. HyperX with ``dimension-order`` and fat trees need 1, or 2 with a detour.
        The VCs are divided evenly among the classes. With fewer VCs, all packets are followed
        through all choices, and the routing is accepted if no circle can close.

    Raises
    ------
    InputError
        If the routing is not known, or does not fit the network.
    DeadlockError
        With the circle, where it can deadlock on so many VCs.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> hosted_routing(topology("dragonfly:2x4x2"), "ugal-l:threshold=5", 4).name
    'ugal-l:threshold=5'
    """
    if not 1 <= num_vcs <= MOST_VCS:
        raise InputError("vcs", str(num_vcs), f"1 to {MOST_VCS}")
    if not isinstance(routing, str | NAMED):
        return listed_routing(topology, routing, num_vcs)
    name, argument = split_spec(str(routing))
    name = SYNONYMS.get(name, name)
    if name == "default":
        name = default_by_hop(topology)
    if name not in BY_HOP:
        try:
            parsed = parse_routing(str(routing), topology)
        except InputError as error:
            if named_here(name) or isfile(str(routing)):  # noqa: PTH113 (any words may be no path)
                raise
            wanted = f"{', '.join(BY_HOP)}; d-mod-k, spread, up-down, lfts:FILE or the like"
            wanted = or_near(name, [*BY_HOP, *names()], wanted)
            raise InputError(f"routing '{routing}'", f"'{name}'", wanted) from error
        return listed_routing(topology, parsed, num_vcs)
    return planned(topology, plan(topology, name, argument), num_vcs)


def planned(topology: Topology, wanted: Plan, num_vcs: int) -> VirtualChannelRouting:
    """Return a routing by name, free of deadlock on so many VCs.

    Its VCs are dealt out to the rungs of its ladder. If they are too few, packets are followed
    to find a circle, and if there is none, all is well.
    """
    where = f"{wanted.name} on {topology.name} with {num_vcs} VC{'s' * (num_vcs > 1)}"
    check_joined(topology, wanted.straight, wanted.name)
    if wanted.escape:
        tables = _escaping(topology, wanted, num_vcs, where)
    else:
        ladder = _climbed(topology, wanted)
        if wanted.name.startswith("nca") and ladder.classes > 1:
            found = "shortest ways that go up again after they went down"
            raise InputError(f"{wanted.name} on {topology.name}", found, "a fat tree, or minimal")
        tables = _tables(topology, wanted, ladder, num_vcs)
        if ladder.classes > num_vcs:
            refuse_circle(topology, tables, where, f"at least {ladder.classes} VCs")
    return VirtualChannelRouting(
        wanted.name, topology, tables,
        uses_credits=wanted.choice in (TWO, LEAST) or wanted.more.get("detour", 0) > ALWAYS,
        minimal=wanted.minimal,
    )  # fmt: skip


def check_joined(topology: Topology, ways: NextPorts, name: str) -> None:
    """Refuse a routing that leaves hosts without a way to others.

    Raises
    ------
    InputError
        Naming the routers of two such hosts.
    """
    entry, leave = router_pairs(topology)
    lost = ways.lengths[entry.astype(np.int64) * ways.num_goals + leave] < 0
    if lost.any():
        pair = int(np.argmax(lost))
        one, other = (
            topology.name_of(topology.router_vertex(int(end[pair]))) for end in (entry, leave)
        )
        raise InputError(f"{name} on {topology.name}", f"no way from {one} to {other}", "one")


def refuse_circle(topology: Topology, tables: HopTables, where: str, wanted: str) -> None:
    """Refuse a routing by which packets can wait for each other in a circle.

    Raises
    ------
    DeadlockError
        With the circle.
    """
    try:
        circle = hop_circle(topology, tables)
    except TooLargeError as error:
        raise InputError(where, error.found, wanted) from None
    if circle:
        named = tuple(f"{topology.channel_name(channel)} (VC {vc})" for channel, vc in circle)
        raise DeadlockError(where, named, wanted)


def _tables(topology: Topology, wanted: Plan, ladder: Ladder, num_vcs: int) -> HopTables:
    if wanted.out is None:
        automaton, tables = straight(ladder, num_vcs), [wanted.straight]
    else:
        automaton = with_detours(ladder, num_vcs, stays=wanted.stays)
        tables = [wanted.out, wanted.straight]
    return hop_tables(topology, num_vcs, tables, automaton, choice=wanted.choice, **wanted.more)


def _climbed(topology: Topology, wanted: Plan) -> Ladder:
    """Return the ladder with the rungs that packets need, found by following them all.

    The kinds of the ladder are repeated, until no packet comes to its upper end. Of a detour whose
    parts are ways alike, each needs the rungs of one way.
    """
    ladder = wanted.ladder
    if wanted.rungs:
        return ladder._replace(rungs=wanted.rungs)
    if wanted.out is wanted.straight and not wanted.stays:
        once = _climbed(topology, wanted._replace(out=None, more={})).rungs
        return ladder._replace(rungs=(*once, SEPARATOR, *once))
    rounds = 2
    while len(ladder.rungs) * rounds < MOST_RUNGS:
        once = ladder.rungs * rounds
        rungs = (*once, SEPARATOR) if wanted.out is None else (*once, SEPARATOR, *once, SEPARATOR)
        tried = ladder._replace(rungs=rungs)
        tables = _tables(topology, wanted, tried, 1)
        parts = followed(topology, tables).reached.reshape(-1, len(rungs) + 1)[:, 1:]
        inside = wanted.out is None or not parts[1, len(once) :].any()
        if inside and not parts[:, -1].any():
            return tried.only(np.asarray(parts.any(axis=0)))
        rounds *= 2
    found = f"ways that take more than {MOST_RUNGS} turns"
    raise InputError(f"{wanted.name} on {topology.name}", found, "min-adaptive")


def _escaping(topology: Topology, wanted: Plan, num_vcs: int, where: str) -> HopTables:
    """Return the tables of adaptive routing with an escape in VC 0."""
    if num_vcs < 2:
        raise InputError(where, "no VC but the escape", "at least 2 VCs")
    kind, before, after = escape_tables(topology)
    tables = hop_tables(
        topology, num_vcs, [wanted.straight, before, after], escape_automaton(kind, num_vcs),
        choice=wanted.choice, adaptive_vcs=bits(num_vcs) & ~1, escape_vcs=1, escape_state=1,
    )  # fmt: skip
    check_escape(topology, wanted.straight, before)
    return tables


def check_escape(topology: Topology, ways: NextPorts, escape: NextPorts) -> None:
    """Refuse an escape that does not lead on from wherever packets on shortest ways come.

    Raises
    ------
    InputError
        Naming two routers.
    """
    count = topology.num_routers
    length, lost = ways.lengths.reshape(count, count), escape.lengths.reshape(count, count) < 0
    begins = np.unique(topology.injection_router)
    for goal in np.unique(topology.ejection_router).tolist():
        for router in np.flatnonzero(lost[:, goal] & (length[:, goal] >= 0)).tolist():
            before = length[begins, router].astype(np.int64)
            on_way = before + length[router, goal] == length[begins, goal]
            if (on_way & (before >= 0)).any():
                one, other = (topology.name_of(topology.router_vertex(at)) for at in (router, goal))
                found = f"{one} and {other} joined by one-way channels only"
                wanted = "links that work in both directions, to escape by"
                raise InputError(topology.name, found, wanted)


LIKE = ("minimal", "nca", "minimal-group", "dimension-order")
"""Routings whose next ports a user's function may choose from."""


def routing_by_hop(
    topology: Topology,
    function: Callable[..., int],
    *,
    num_vcs: int,
    like: str = "minimal",
    next_routers: Callable[[int, int], Iterable[int]] | None = None,
    name: str = "",
) -> VirtualChannelRouting:
    """Return a routing by which a Python function picks the port that each packet takes next.

    Numba compiles the function, which must be plain enough for that.

    Parameters
    ----------
    topology
        A network whose hosts hang on routers.
    function
        Called once per packet and router as ``function(router, goal, ports, used, coin)``. The
        packet leaves the network at ``goal``. ``ports`` are the output ports that lead on
        (int16[]). ``used`` are the flits sent into each of the router's output ports that may still
        be in the next buffer (int32[ports]). ``coin`` is 31 random bits of the packet. The function
        returns a place in ``ports``.
    num_vcs
        Virtual channels of every channel.
    like
        The routing whose ports and VC classes packets take: ``minimal``, ``nca``,
        ``minimal-group`` or ``dimension-order``.
    next_routers
        Called in advance as ``next_routers(router, goal)`` for all routers and exits. Returns the
        routers that packets may go to next. They then take any VC.
    name
        What the routing is called. The function's name by default.

    Raises
    ------
    InputError
        If Numba cannot compile the function, or next routers are no neighbours or lead nowhere.
    DeadlockError
        With the circle, if a choice among the next ports can close one.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> def least_used(router, goal, ports, used, coin):
    ...     best = coin % len(ports)
    ...     for index in range(len(ports)):
    ...         if used[ports[index]] < used[ports[best]]:
    ...             best = index
    ...     return best
    >>> routing_by_hop(topology("fat-tree:4x3"), least_used, num_vcs=1).name
    'least_used'
    """
    called = name or getattr(function, "__name__", "") or "own"
    if not 1 <= num_vcs <= MOST_VCS:
        raise InputError("num_vcs", str(num_vcs), f"1 to {MOST_VCS}")
    kept = _compiled(function, called)
    more = {"function": kept.address, "choice": OWN}
    if next_routers is None:
        word, argument = split_spec(like)
        if word not in LIKE:
            raise InputError("like", f"'{like}'", ", ".join(LIKE))
        wanted = plan(topology, word, argument)
        found = planned(topology, wanted._replace(name=called), num_vcs)
        tables, minimal = found.tables._replace(**more), found.minimal
    else:
        ports = _next_ports(topology, next_routers, called)
        kind = np.zeros(topology.num_network_channels, np.int8)
        automaton = straight(Ladder(kind, (0,), (True,)), num_vcs)
        tables, minimal = hop_tables(topology, num_vcs, [ports], automaton, **more), False
        where = f"{called} on {topology.name} with any VC"
        check_joined(topology, ports, called)
        refuse_circle(topology, tables, where, "next routers that close no circle")
    return VirtualChannelRouting(
        called, topology, tables, uses_credits=True, minimal=minimal, function=kept
    )


def _compiled(function: Callable[..., int], name: str) -> Any:
    """Return the function as one that kernels can call by its address."""
    import re

    from numba import carray, cfunc, njit  # type: ignore[attr-defined]
    from numba.core.errors import NumbaError

    from netloom.routing.kernels.called import NEXT_PORT

    plain = njit(function)

    def asked(router, goal, ports, count, used, size, coin):  # type: ignore[no-untyped-def]
        return plain(router, goal, carray(ports, count), carray(used, size), coin)

    try:
        return cfunc(NEXT_PORT)(asked)
    except NumbaError as error:
        lines = re.sub(r"\x1b\[\d*m", "", str(error)).strip().splitlines()
        found = next((line for line in lines if not line.startswith("Failed in")), "an error")
        wanted = "a function of router, goal, ports, used and coin that Numba can compile"
        raise InputError(f"routing {name}", found, wanted) from None


def _next_ports(
    topology: Topology, next_routers: Callable[[int, int], Iterable[int]], name: str
) -> NextPorts:
    """Return the ports that lead to the routers that a function names.

    Raises
    ------
    InputError
        If one is no neighbour.
    """
    wired, inside = hosted_ports(topology), topology.routers
    count = inside.num_vertices
    check_starts(topology, count * count)
    offsets, leaving = inside.outgoing()
    starts, lengths = np.zeros(count * count, np.int32), np.full(count * count, -1, np.int16)
    ports = [0]
    known: dict[tuple[int, ...], int] = {(): 0}
    for goal in np.unique(topology.ejection_router).tolist():
        lengths[goal * count + goal] = 0
        for router in range(count):
            if router == goal:
                continue
            after = {int(each) for each in next_routers(router, goal)}
            channels = leaving[offsets[router] : offsets[router + 1]]
            there = inside.channel_target[channels]
            if strangers := after - set(there.tolist()):
                found = f"router {min(strangers)} behind router {router}"
                raise InputError(f"routing {name}", found, "routers that a channel leads to")
            taken = tuple(
                int(wired.out_port[channel]) + lane
                for channel in channels[np.isin(there, list(after))].tolist()
                for lane in range(wired.lanes[channel])
            )
            if taken not in known:
                known[taken] = len(ports)
                ports += [len(taken), *taken]
            starts[router * count + goal] = known[taken]
            lengths[router * count + goal] = 1 if taken else -1
    return NextPorts(count, starts, np.array(ports, np.int16), lengths)
