"""Routings of networks whose hosts hang on routers, with VCs in which no circle closes."""

from __future__ import annotations

from os.path import isfile
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import DeadlockError, InputError
from netloom.base.spec import split_spec
from netloom.base.words import or_near
from netloom.routing.by_hop.circles import TooLargeError, followed, hop_circle
from netloom.routing.by_hop.escapes import escape_automaton, escape_tables
from netloom.routing.by_hop.ladders import SEPARATOR, Ladder, straight, with_detours
from netloom.routing.by_hop.listed import listed_routing
from netloom.routing.by_hop.named import BY_HOP, Plan, default_by_hop, plan
from netloom.routing.by_hop.tables import (
    ALWAYS,
    LEAST,
    MOST_VCS,
    TWO,
    HopTables,
    NextPorts,
    bits,
    hop_tables,
)
from netloom.routing.dimension_order import DimensionOrder
from netloom.routing.ecmp import Ecmp
from netloom.routing.hosted import router_pairs
from netloom.routing.parse import SYNONYMS, named_here, names, parse_routing
from netloom.routing.several import Minimal, MinimalGroup, Valiant
from netloom.routing.trees import RandomUp
from netloom.routing.virtual_channel_tables import VirtualChannelRouting

if TYPE_CHECKING:
    from netloom.routing.parse import Routing
    from netloom.topology import Topology

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
