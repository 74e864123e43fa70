"""The routings by hop that have names, and the virtual channels in which no circle closes.

VCs are dealt out by ladders, which packets climb and never go down. A rung is a kind of channel
with a class of VCs of its own. A packet takes each channel on the next higher rung of that kind. It
may stay on its rung if channels of the kind cannot wait for each other in a circle. From the goal
of a detour it goes on above a separator. So nothing on a rung waits for a lower one, and no circle
closes. These are the rising VC numbers of Günther, *Prevention of deadlocks in packet-switched data
transport systems*, 1981 (on dragonflies, Kim et al. 2008). The escape of adaptive routing, on any
network of two-way links, is up*/down* in one VC.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import whole_number
from netloom.routing.by_hop.tables import (
    ALONG,
    ALWAYS,
    DRAWN,
    EVERY,
    HASHED,
    LEAST,
    LOCAL,
    TWO,
    Automaton,
    NextPorts,
    bits,
    check_starts,
    next_ports,
)
from netloom.routing.dimension_order import DimensionOrder
from netloom.routing.port_numbers import hosted_ports
from netloom.routing.rules import Ecmp, layer_vcs, router_ranks, router_salts, two_way
from netloom.routing.several import Valiant, detour, host_routers, ways_of
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
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Ints
    from netloom.topology import Topology


SEPARATOR = -1
"""In place of the kind of a rung: packets that turn from a detour's goal go on above it."""


class Ladder(NamedTuple):
    """The rungs that the ways of a routing climb.

    Attributes
    ----------
    kind
        int8[num_network_channels], the kind of each channel.
    rungs
        The kind of each rung, lowest first. ``SEPARATOR`` between the parts of a detour.
    repeats
        For each kind, whether channels of a rung may follow each other. Packets that take such
        channels in a row never come round in a circle.
    """

    kind: NDArray[np.int8]
    rungs: tuple[int, ...]
    repeats: tuple[bool, ...]

    def only(self, used: Bools) -> Ladder:
        """Return the ladder without rungs that no packet takes, and without what is behind."""
        last = int(np.flatnonzero(used).max(initial=-1))
        kept = [
            kind for at, kind in enumerate(self.rungs[: last + 1]) if used[at] or kind == SEPARATOR
        ]
        return self._replace(rungs=tuple(kept))

    @property
    def classes(self) -> int:
        """How many classes of VCs it needs: the most rungs of a kind."""
        return max((self.rungs.count(kind) for kind in range(len(self.repeats))), default=1)

    @property
    def turn(self) -> int:
        """The place from which packets go on from the goal of a detour."""
        return self.rungs.index(SEPARATOR) + 1 if SEPARATOR in self.rungs else len(self.rungs)

    def place_vcs(self, num_vcs: int) -> Ints:
        """Return the VCs of the channel by which a packet comes to each place, int64[rungs + 1].

        The rungs of a kind share all VCs evenly. If there are too few, the highest ones share
        the last VC, and a circle may close.
        """
        vcs = np.full(len(self.rungs) + 1, bits(num_vcs), np.int64)
        for kind in range(len(self.repeats)):
            own = np.flatnonzero(np.array(self.rungs) == kind)
            shares = layer_vcs(max(min(len(own), num_vcs), 1), num_vcs)
            vcs[own + 1] = shares[np.minimum(np.arange(len(own)), len(shares) - 1)]
        return vcs

    def climbed(self) -> NDArray[np.int16]:
        """Return int16[rungs + 1, kinds], where a packet is after a channel: 1 is rung 0.

        It is 0 before its first channel. It comes to the last place where there is no rung for it.
        """
        places = len(self.rungs) + 1
        after = np.full((places, len(self.repeats)), places - 1, np.int16)
        for place in range(places):
            for kind, repeats in enumerate(self.repeats):
                above = [rung + 1 for rung in range(place, places - 1) if self.rungs[rung] == kind]
                if repeats and place > 0 and self.rungs[place - 1] == kind:
                    above = [place]
                after[place, kind] = above[0] if above else places - 1
        return after


def straight(ladder: Ladder, num_vcs: int) -> Automaton:
    """Return the states of packets that go where they want to, without a detour."""
    places = len(ladder.rungs) + 1
    zeros, own = np.zeros(places, np.int8), np.arange(places, dtype=np.int16)
    return Automaton(
        ladder.kind, ladder.climbed(), ladder.place_vcs(num_vcs),
        np.full(places, bits(num_vcs), np.int64), zeros, zeros, zeros, own, own, own,
    )  # fmt: skip


def with_detours(ladder: Ladder, num_vcs: int, *, stays: Sequence[int] = ()) -> Automaton:
    """Return the states of packets that decide on a detour where they begin.

    They follow table 0 to the goal of a detour and table 1 to their exit: from that goal on, above
    the separator of the ladder, or from the beginning. Behind channels of the kinds that ``stays``
    names, packets that have taken no other decide again (progressive adaptive routing: Jiang, Kim &
    Dally, *Indirect adaptive routing on large scale interconnection networks*, 2009).
    """
    climbed, vcs = ladder.climbed(), ladder.place_vcs(num_vcs)
    places = len(climbed)
    undecided, away, back = (part * places + np.arange(places) for part in range(3))
    first = climbed + 2 * places
    for kind in stays:
        first[:, kind] -= 2 * places
    flags = np.repeat(np.eye(3, dtype=np.int8), places, axis=1)
    keep = np.concatenate([undecided if stays else back, away, back])
    everything = np.full(places, bits(num_vcs), np.int64)
    return Automaton(
        ladder.kind,
        np.concatenate([first, climbed + places, climbed + 2 * places]).astype(np.int16),
        np.tile(vcs, 3),
        np.concatenate([everything, np.zeros(places, np.int64), everything]),
        (1 - flags[1]).astype(np.int8), flags[1], flags[0],
        keep.astype(np.int16),
        np.concatenate([away, away, back]).astype(np.int16),
        np.concatenate([undecided, np.full(places, back[ladder.turn]), back]).astype(np.int16),
    )  # fmt: skip


def rank_kinds(topology: Topology) -> Ladder:
    """Return up (0), towards a lower rank (``up_down.router_ranks``), and down (1).

    Each may be taken again and again on one rung, for ranks only fall, or only rise.
    """
    inside, shape = topology.routers, family_of(topology)
    if isinstance(shape, TreeShape) and not topology.broken:
        widths = [shape.width(level + 1) for level in range(shape.levels)]
        rank = np.empty(topology.num_routers, np.int32)
        rank[slice(None) if shape.router_at is None else shape.router_at] = np.repeat(
            -np.arange(shape.levels), widths
        )
    else:
        rank = router_ranks(topology)
    down = rank[inside.channel_target] > rank[inside.channel_source]
    return Ladder(down.astype(np.int8), (0, 1), (True, True))


def group_kinds(topology: Topology) -> Ladder:
    """Return the kinds on a dragonfly: local (0) and global (1).

    On a dragonfly+ up from leaves to spines (0), global (1), and down to leaves (2).
    """
    shape, inside = family_of(topology), topology.routers
    assert isinstance(shape, DragonflyShape)
    (group, place), (goal, _) = (
        np.divmod(ends, shape.routers) for ends in (inside.channel_source, inside.channel_target)
    )
    if not shape.leaves:
        return Ladder((group != goal).astype(np.int8), (0, 1), (False, False))
    kind = np.where(group != goal, 1, np.where(place < shape.leaves, 0, 2))
    return Ladder(kind.astype(np.int8), (0, 1, 2), (False,) * 3)


def ordered_kinds(topology: Topology, order: Sequence[int] = ()) -> Ladder:
    """Return the kinds for dimension order, the dimension that is corrected first at the bottom.

    A HyperX has one kind per dimension, a k-ary n-cube two. A ring's channels across the dateline,
    from the last coordinate to the first and back, lead from the rung before it to the rung behind
    it (Dally & Seitz 1987). Packets in dimension order never turn back.
    """
    sides, inside = dimensions(topology), topology.routers
    wanted = tuple(order) or tuple(reversed(range(len(sides))))
    here, there = (
        np.array(np.unravel_index(ends, sides))
        for ends in (inside.channel_source, inside.channel_target)
    )
    axis = np.argmax(here != there, axis=0)
    place = np.argsort(wanted)[axis].astype(np.int8)
    if is_hyperx(topology):
        return Ladder(place, tuple(range(len(sides))), (False,) * len(sides))
    steps = np.abs(np.take_along_axis(here - there, axis[None], axis=0)[0])
    whole = inside.whole
    assert isinstance(whole, Cube)
    rungs = [
        kind
        for at, each in enumerate(wanted)
        for kind in ((2 * at, 2 * at + 1, 2 * at) if whole.wraps[each] else (2 * at,))
    ]
    return Ladder(
        (2 * place + (steps > 1)).astype(np.int8), tuple(rungs), (True, False) * len(sides)
    )


def usual_kinds(topology: Topology) -> Ladder:
    """Return the kinds of a family of networks that packets take in any order, or up and down."""
    if isinstance(family_of(topology), DragonflyShape):
        return group_kinds(topology)
    return ordered_kinds(topology) if is_hyperx(topology) else rank_kinds(topology)


ADAPTIVE, UP, DOWN = 0, 1, 2
"""The states of packets: in adaptive VCs, in the escape before it has gone down, and after."""


def escape_tables(topology: Topology) -> tuple[NDArray[np.int8], NextPorts, NextPorts]:
    """Return the kind of each channel, up 0 and down 1, and the ports that lead on.

    Of the shortest ways that go up and then down, for packets that have not gone down yet, and for
    those that have.
    """
    from netloom.routing.kernels.next_ports import fill_legal_ports

    inside, wired = topology.routers, hosted_ports(topology)
    count = inside.num_vertices
    check_starts(topology, 2 * count * count)
    rank = router_ranks(topology)
    links, net = two_way(inside)
    up = rank[net.channel_target] < rank[net.channel_source]
    starts = np.zeros(2 * count * count, np.int32)
    lengths = np.full(2 * count * count, -1, np.int16)
    ports, size = fill_legal_ports(
        up, (net.channel_source, net.channel_target), net.incoming(), net.outgoing(),
        wired.out_port[links], wired.lanes[links],
        starts, lengths, np.empty(wired.num_ports + 1, np.int16),
    )  # fmt: skip
    kind = (rank[inside.channel_target] > rank[inside.channel_source]).astype(np.int8)
    own, half = ports[:size].copy(), count * count
    first = NextPorts(count, starts[:half], own, lengths[:half])
    return kind, first, NextPorts(count, starts[half:], own, lengths[half:])


def escape_automaton(kind: NDArray[np.int8], num_vcs: int) -> Automaton:
    """Return the states of packets that may go any shortest way in all VCs but VC 0.

    In VC 0 they go up and then down, and never leave it again.
    """
    zeros, own = np.zeros(3, np.int8), np.arange(3, dtype=np.int16)
    return Automaton(
        kind, np.array([[ADAPTIVE] * 2, [UP, DOWN], [DOWN] * 2], np.int16),
        np.array([bits(num_vcs) & ~1, 1, 1], np.int64), np.full(3, bits(num_vcs), np.int64),
        own.astype(np.int8), zeros, zeros, own, own, own,
    )  # fmt: skip


def detour_lists(detour_class: Ints, lists: Sequence[Sequence[Ints]]) -> dict[str, Any]:
    """Return the fields of ``HopTables`` that say which goals packets draw.

    Parameters
    ----------
    detour_class
        int32[R], the class of each router.
    lists
        For the class of the router where a packet draws and that of its exit the goals, each as
        likely; -1 stands for none. Lists that are one object are kept once.
    """
    classes = len(lists)
    starts = np.zeros(classes * classes, np.int32)
    known: dict[int, int] = {}
    parts, size = [], 0
    for row, goals in enumerate(goals for each in lists for goals in each):
        if id(goals) not in known:
            known[id(goals)] = size
            parts.append(np.append(len(goals), goals))
            size += len(parts[-1])
        starts[row] = known[id(goals)]
    return {
        "detour_class": detour_class.astype(np.int32),
        "detour_classes": classes,
        "detour_start": starts,
        "detours": np.concatenate(parts).astype(np.int32),
    }


def valiant_goals(topology: Topology, over: str) -> dict[str, Any]:
    """Return the goals of ``several.Valiant`` over ``routers`` or ``groups``.

    Raises
    ------
    InputError
        If the network has none.
    """
    trip = detour(topology, Valiant("groups" if over == "groups" else "routers"))
    if not trip.to_group:
        return detour_lists(np.zeros(topology.num_routers, np.int32), [[trip.goals]])
    return _by_group(trip.ways.group - 1, [trip.goals] * int(trip.ways.group.max()))


def other_goals(topology: Topology, asked: str) -> dict[str, Any]:
    """Return the goals of routings that weigh a detour against the direct way.

    Any router with hosts. On dragonflies any of another group, and packets within a group draw
    none.

    Raises
    ------
    InputError
        If the network has none, naming the routing that is ``asked`` for.
    """
    goals, shape = host_routers(topology), family_of(topology)
    if not len(goals):
        found = f"{asked} on {topology.name}, where packets enter and leave by different routers"
        raise InputError("routing", found, "routers by which packets enter and leave")
    if not isinstance(shape, DragonflyShape):
        return detour_lists(np.zeros(topology.num_routers, np.int32), [[goals]])
    group = np.arange(topology.num_routers) // shape.routers
    away = [goals[group[goals] != own] for own in range(shape.groups)]
    return _by_group(group, away)


def _by_group(group: NDArray[Any], goals: Sequence[Ints]) -> dict[str, Any]:
    """Return lists by the group of the router where packets draw. None in the exit's group."""
    nothing = np.zeros(0, np.int32)
    count = len(goals)
    lists = [
        [nothing if own == other else goals[own] for other in range(count)] for own in range(count)
    ]
    return detour_lists(group, lists)


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
