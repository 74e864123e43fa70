"""The routings by hop that have names."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.routing.by_hop.detours import other_goals, valiant_goals
from netloom.routing.by_hop.kinds import group_kinds, ordered_kinds, rank_kinds, usual_kinds
from netloom.routing.by_hop.ladders import SEPARATOR, Ladder
from netloom.routing.by_hop.tables import (
    ALONG,
    ALWAYS,
    DRAWN,
    EVERY,
    HASHED,
    LEAST,
    LOCAL,
    TWO,
    NextPorts,
    next_ports,
)
from netloom.routing.dimension_order import DimensionOrder
from netloom.routing.ecmp import Ecmp, router_salts
from netloom.routing.several import ways_of
from netloom.routing.ways import (
    dimensions,
    family_of,
    group_ways,
    is_hyperx,
    shortest_ways,
    usual_ways,
)
from netloom.topology import Cube
from netloom.topology.family import DragonflyShape, TreeShape

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.topology import Topology

THRESHOLD = 2
"""Flits by which a detour must be the shorter one, if nothing else is said."""

MOST_THRESHOLD = 2**20


class Plan(NamedTuple):
    """A routing by name, before its VCs are dealt out.

    Attributes
    ----------
    name
        As ``parse_routing`` would write it.
    straight
        The ports that lead to the exit.
    ladder
        One round of the ladder that its packets climb: the same kinds again and again.
    choice
        As in ``HopTables``.
    rungs
        The rungs that suffice for all ways, where the shape of the network says so. None: they
        are found by following the packets.
    out
        The ports that lead to the goal of a detour, where packets make any.
    stays
        Kinds of channels behind which packets decide on a detour once more.
    escape
        Whether all VCs but VC 0 are free to all ways, with up*/down* in VC 0 to escape to.
    minimal
        Whether all packets are known to take shortest paths.
    more
        Other fields of ``HopTables``.
    """

    name: str
    straight: NextPorts
    ladder: Ladder
    choice: int
    rungs: tuple[int, ...] = ()
    out: NextPorts | None = None
    stays: tuple[int, ...] = ()
    escape: bool = False
    minimal: bool = False
    more: dict[str, Any] = {}  # noqa: RUF012 (never changed)


def plan(topology: Topology, name: str, argument: str) -> Plan:
    """Return what a name of ``BY_HOP`` says on a network.

    Raises
    ------
    InputError
        If the routing does not fit the network, or an option is none of its own.
    """
    if name in ("dimension-order", "ecmp", "ecmp-polarised"):
        return _PLANS[name](topology, name, argument)
    if argument and name not in _OPTIONS:
        raise InputError(f"routing '{name}:{argument}'", f"'{argument}'", f"{name} alone")
    return _PLANS[name](topology, name, argument)


def default_by_hop(topology: Topology) -> str:
    """Return the name of the routing of a network for which nobody named one.

    ``nca`` on fat trees, ``minimal-group`` on dragonflies, ``dimension-order`` where routers are a
    k-ary n-cube or a HyperX, ``minimal`` elsewhere and where something is broken.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> default_by_hop(topology("dragonfly:2x4x2")), default_by_hop(topology("hyperx:4x4/4"))
    ('minimal-group', 'dimension-order')
    """
    if not topology.broken:
        if isinstance(family_of(topology), TreeShape):
            return "nca"
        if isinstance(family_of(topology), DragonflyShape):
            return "minimal-group"
        if isinstance(topology.routers, Cube) or is_hyperx(topology):
            return "dimension-order"
    return "minimal"


def _minimal(topology: Topology, name: str, _: str) -> Plan:
    ways = shortest_ways(topology.routers)
    ladder = usual_kinds(topology)
    rungs: tuple[int, ...] = ()
    if is_hyperx(topology) and not topology.broken:  # the last dimension first needs most rungs
        sides = len(ladder.rungs)
        rungs = (ladder.rungs * sides)[: sides * (sides - 1) + 1]
    elif isinstance(family_of(topology), TreeShape) and not topology.broken:
        rungs = ladder.rungs
    return Plan(name, next_ports(topology, ways), ladder, DRAWN, rungs, minimal=True)


def _ancestor(topology: Topology, name: str, argument: str) -> Plan:
    choices = {"": TWO, "all": LEAST, "every": EVERY}
    if name == "nca":
        choice = DRAWN
    elif argument in choices:
        choice = choices[argument]
    else:
        where = f"routing '{name}:{argument}'"
        raise InputError(where, f"'{argument}'", "all (the least used), every (any that is free)")
    full = f"{name}:{argument}" if argument else name
    straight, ladder = next_ports(topology, shortest_ways(topology.routers)), rank_kinds(topology)
    tree = isinstance(family_of(topology), TreeShape) and not topology.broken
    return Plan(full, straight, ladder, choice, ladder.rungs if tree else (), minimal=True)


def _minimal_group(topology: Topology, name: str, _: str) -> Plan:
    straight = next_ports(topology, group_ways(topology, name))
    ladder = group_kinds(topology)
    return Plan(name, straight, ladder, DRAWN, () if topology.broken else _across(ladder))


def _ordered(topology: Topology, name: str, argument: str) -> Plan:
    where = f"{name}:{argument}" if argument else name
    if not dimensions(topology):
        wanted = "a k-ary n-cube or a HyperX; minimal fits any network"
        raise InputError("routing", f"{where} on {topology.name}", wanted)
    order = tuple(whole_number(word, where=where) for word in argument.split(",") if argument)
    ways = ways_of(topology, DimensionOrder(order))
    ladder = ordered_kinds(topology, order)
    straight = next_ports(topology, ways)
    return Plan(str(DimensionOrder(order)), straight, ladder, DRAWN, ladder.rungs, minimal=True)


def _hashed(topology: Topology, name: str, argument: str) -> Plan:
    seed = whole_number(argument, where=f"{name}:{argument}") if argument else Ecmp().seed
    routing = Ecmp(seed, polarised=name == "ecmp-polarised")
    salts = router_salts(routing, topology.num_routers)
    same = _minimal(topology, str(routing), "")
    return same._replace(choice=HASHED, more={"salts": salts})


def _adaptive(topology: Topology, name: str, _: str) -> Plan:
    straight = next_ports(topology, shortest_ways(topology.routers))
    return Plan(name, straight, rank_kinds(topology), EVERY, escape=True)


def _valiant(topology: Topology, name: str, _: str) -> Plan:
    over = "groups" if name == "valiant-group" else "routers"
    goals = valiant_goals(topology, over)
    trip = _detoured(topology, name, DRAWN, {"detour": ALWAYS, **goals})
    if over == "groups":
        ways = group_ways(topology, name)
        trip = trip._replace(out=next_ports(topology, ways, to_group=True))
        if trip.rungs:
            across = _across(trip.ladder)  # to a spine of the group, on a dragonfly+
            again = across if len(trip.ladder.rungs) == 2 else (2, *across)
            trip = trip._replace(rungs=(0, 1, SEPARATOR, *again))
    return trip


def _weighed(topology: Topology, name: str, argument: str) -> Plan:
    """UGAL (Singh, *Load-balanced routing in interconnection networks*, 2005), PAR."""
    threshold = THRESHOLD
    where = f"routing '{name}:{argument}'"
    for word in argument.split(",") if argument else ():
        option, _, value = word.partition("=")
        if option != "threshold":
            raise InputError(where, f"option '{option}'", "threshold=FLITS")
        threshold = whole_number(value, where=where)
        if threshold > MOST_THRESHOLD:
            raise InputError(where, value, f"at most {MOST_THRESHOLD} flits")
    name = "ugal-l" if name == "ugal" else name
    stays: tuple[int, ...] = ()
    if name == "par":
        if not isinstance(family_of(topology), DragonflyShape):
            found = f"par on {topology.name}"
            raise InputError("routing", found, "a dragonfly or dragonfly+; ugal-l fits others")
        stays = (0,)
    given = {"threshold": threshold, "detour": ALONG if name == "ugal-g" else LOCAL}
    full = f"{name}:threshold={threshold}" if argument else name
    trip = _detoured(topology, full, LEAST, {**other_goals(topology, name), **given})
    if not stays or not trip.rungs:
        return trip._replace(stays=stays)
    across = _across(trip.ladder)  # from a spine without the link, down and up to another
    again = across if len(trip.ladder.rungs) == 2 else (2, *across)
    return trip._replace(stays=stays, rungs=(0, *again, SEPARATOR, *across))


def _detoured(topology: Topology, name: str, choice: int, more: dict[str, Any]) -> Plan:
    """Return detours by the ways that packets usually take on a network."""
    ways = usual_ways(topology)
    if topology.broken and dimensions(topology):
        found = f"'{name}' on {topology.name}"
        raise InputError("routing", found, "minimal or min-adaptive, which go round what is broken")
    rungs: tuple[int, ...] = ()
    if isinstance(family_of(topology), DragonflyShape):
        ladder = group_kinds(topology)
        rungs = _across(ladder)
    elif dimensions(topology):
        ladder = ordered_kinds(topology)
        rungs = ladder.rungs
    else:
        ladder = rank_kinds(topology)
    twice = (*rungs, SEPARATOR, *rungs) if rungs and not topology.broken else ()
    table = next_ports(topology, ways)
    return Plan(name, table, ladder, choice, twice, out=table, more=more)


def _across(ladder: Ladder) -> tuple[int, ...]:
    """Return the kinds on the way from one group of a dragonfly to another."""
    return (0, 1, 0) if len(ladder.rungs) == 2 else (0, 1, 2)


_OPTIONS = ("nca-adaptive", "ugal", "ugal-l", "ugal-g", "par")

_PLANS: dict[str, Callable[[Topology, str, str], Plan]] = {
    "nca": _ancestor,
    "nca-adaptive": _ancestor,
    "minimal": _minimal,
    "min-adaptive": _adaptive,
    "minimal-group": _minimal_group,
    "dimension-order": _ordered,
    "ecmp": _hashed,
    "ecmp-polarised": _hashed,
    "valiant": _valiant,
    "valiant-group": _valiant,
    "ugal": _weighed,
    "ugal-l": _weighed,
    "ugal-g": _weighed,
    "par": _weighed,
}

BY_HOP = tuple(_PLANS)
"""The names of the routings that are computed hop by hop."""
