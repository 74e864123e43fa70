"""Routings of networks whose hosts hang on routers, with VCs in which no circle closes.

VCs are dealt out by ladders, which packets climb and never go down. A rung is a kind of channel
with a class of VCs of its own. A packet takes each channel on the next higher rung of that kind. It
may stay on its rung if channels of the kind cannot wait for each other in a circle. From the goal
of a detour it goes on above a separator. So nothing on a rung waits for a lower one, and no circle
closes. These are the rising VC numbers of Günther, *Prevention of deadlocks in packet-switched data
transport systems*, 1981 (on dragonflies, Kim et al. 2008). The escape of adaptive routing, on any
network of two-way links, is up*/down* in one VC.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from os.path import isfile
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import NO_INT32S, Bools, Int8s, Int16s, Ints, distinct
from netloom.base.errors import DeadlockError, InputError
from netloom.base.spec import split_spec, whole_number
from netloom.base.words import or_near
from netloom.routing import rules
from netloom.routing.by_hop import tables as hop
from netloom.routing.by_hop.listed import listed_routing
from netloom.routing.forwarding.tables import cycle_of_waits
from netloom.routing.parse import SYNONYMS, Routing, named_here, names, parse_routing
from netloom.routing.ragged import router_pairs
from netloom.routing.virtual_channel_tables import VirtualChannelRouting
from netloom.topology import Cube, Topology
from netloom.topology.core import DragonflyShape, TreeShape

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

    kind: Int8s
    rungs: tuple[int, ...]
    repeats: tuple[bool, ...]

    @property
    def classes(self) -> int:
        """How many classes of VCs it needs: the most rungs of a kind."""
        return max((self.rungs.count(kind) for kind in range(len(self.repeats))), default=1)

    def place_vcs(self, num_vcs: int) -> Ints:
        """Return the VCs of the channel by which a packet comes to each place, int64[rungs + 1].

        The rungs of a kind share all VCs evenly. If there are too few, the highest ones share
        the last VC, and a circle may close.
        """
        vcs = np.full(len(self.rungs) + 1, hop.bits(num_vcs), np.int64)
        for kind in range(len(self.repeats)):
            own = np.flatnonzero(np.array(self.rungs) == kind)
            shares = rules.layer_vcs(max(min(len(own), num_vcs), 1), num_vcs)
            vcs[own + 1] = shares[np.minimum(np.arange(len(own)), len(shares) - 1)]
        return vcs

    def climbed(self) -> Int16s:
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


def with_detours(ladder: Ladder, num_vcs: int, *, stays: Sequence[int] = ()) -> hop.Automaton:
    """Return the states of packets that decide on a detour where they begin.

    They follow table 0 to the goal of a detour and table 1 to their exit: from that goal on, above
    the separator of the ladder, or from the beginning. Behind channels of the kinds that ``stays``
    names, packets that have taken no other decide again (progressive adaptive routing: Jiang, Kim &
    Dally, *Indirect adaptive routing on large scale interconnection networks*, 2009).
    """
    climbed, vcs = ladder.climbed(), ladder.place_vcs(num_vcs)
    places, rungs = len(climbed), ladder.rungs
    turn = rungs.index(SEPARATOR) + 1 if SEPARATOR in rungs else len(rungs)
    undecided, away, back = (part * places + np.arange(places) for part in range(3))
    first = climbed + 2 * places
    for kind in stays:
        first[:, kind] -= 2 * places
    decides, to_aux, _ = np.repeat(np.eye(3, dtype=np.int8), places, axis=1)
    everything = np.full(places, hop.bits(num_vcs), np.int64)
    keep = undecided if stays else back, away, back
    turns = undecided, np.full(places, back[turn]), back
    moves = (np.concatenate(each).astype(np.int16) for each in (keep, (away, away, back), turns))
    return hop.Automaton(
        ladder.kind,
        np.concatenate([first, climbed + places, climbed + 2 * places]).astype(np.int16),
        np.tile(vcs, 3),
        np.concatenate([everything, np.zeros(places, np.int64), everything]),
        (1 - to_aux).astype(np.int8),
        to_aux,
        decides,
        *moves,
    )


def rank_kinds(topology: Topology) -> Ladder:
    """Return up (0), towards a lower rank (``rules.router_ranks``), and down (1).

    Each may be taken again and again on one rung, for ranks only fall, or only rise.
    """
    inside, shape = topology.routers, rules.family_of(topology)
    if isinstance(shape, TreeShape) and not topology.broken:
        widths = [shape.width(level + 1) for level in range(shape.levels)]
        rank = np.zeros(topology.num_routers, np.int32)
        places = slice(None) if shape.router_at is None else shape.router_at
        rank[places] = np.repeat(-np.arange(shape.levels), widths)
    else:
        rank = rules.router_ranks(topology)
    down = rank[inside.channel_target] > rank[inside.channel_source]
    return Ladder(down.astype(np.int8), (0, 1), (True, True))


def group_kinds(topology: Topology) -> Ladder:
    """Return the kinds on a dragonfly: local (0) and global (1).

    On a dragonfly+ up from leaves to spines (0), global (1), and down to leaves (2).
    """
    shape, inside = rules.family_of(topology), topology.routers
    assert isinstance(shape, DragonflyShape)
    group, place = np.divmod(topology.switch_of[inside.channel_source], shape.routers)
    goal = topology.switch_of[inside.channel_target] // shape.routers
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
    sides, inside = rules.dimensions(topology), topology.routers
    wanted = tuple(order) or tuple(reversed(range(len(sides))))
    of = topology.switch_of
    ends = of[inside.channel_source], of[inside.channel_target]
    axis, change = rules.channel_axes(*ends, sides)
    place = np.argsort(wanted)[axis].astype(np.int8)
    if rules.is_hyperx(topology):
        return Ladder(place, tuple(range(len(sides))), (False,) * len(sides))
    whole = inside.whole
    assert isinstance(whole, Cube)
    rungs = [
        kind
        for at, each in enumerate(wanted)
        for kind in ((2 * at, 2 * at + 1, 2 * at) if whole.wraps[each] else (2 * at,))
    ]
    kind = (2 * place + (np.abs(change) > 1)).astype(np.int8)
    return Ladder(kind, tuple(rungs), (True, False) * len(sides))


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
    known = {}
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


def lists_by_group(group: NDArray[Any], goals: Sequence[Ints]) -> dict[str, Any]:
    """Return lists by the group of the router where packets draw. None in the exit's group.

    None to routers of group -1, which are inside computers, nor there.
    """
    nothing, groups = NO_INT32S, range(len(goals))
    lists = [[nothing if own == other else goals[own] for other in groups] for own in groups]
    return lists_to(group, lists)


def lists_to(detour_class: NDArray[Any], lists: Sequence[Sequence[Ints]]) -> dict[str, Any]:
    """Return ``detour_lists``, where routers of class -1 have none and are the exits of none."""
    if (detour_class >= 0).all():
        return detour_lists(detour_class, lists)
    apart = [[*each, NO_INT32S] for each in lists]
    apart.append([NO_INT32S] * len(apart[0]))
    return detour_lists(np.where(detour_class < 0, len(lists), detour_class), apart)


THRESHOLD = 2
"""Flits by which a detour must be the shorter one, if nothing else is said."""

MOST_THRESHOLD = 2**20
"""Flits by which queues must differ, at most: no buffer holds as many."""


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
    straight: hop.NextPorts
    ladder: Ladder
    choice: int
    rungs: tuple[int, ...] = ()
    out: hop.NextPorts | None = None
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
    if argument and name in _BARE:
        raise InputError(f"routing '{name}:{argument}'", f"'{argument}'", f"{name} alone")
    found = _PLANS[name](topology, name, argument)
    if not len(topology.cards) or found.escape or isinstance(topology.family, TreeShape):
        return found
    # cards are first and last on every way: kinds of their own, of which one channel is enough
    inside, kinds = topology.routers, len(found.ladder.repeats)
    kind = found.ladder.kind.copy()
    kind[np.isin(inside.channel_source, topology.cards)] = kinds
    kind[np.isin(inside.channel_target, topology.cards)] = kinds + 1
    round_, repeats = (kinds, *found.ladder.rungs, kinds + 1), (*found.ladder.repeats, False, False)
    rungs = (kinds, *found.rungs, kinds + 1) if found.rungs else ()
    return found._replace(ladder=Ladder(kind, round_, repeats), rungs=rungs)


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
        if isinstance(rules.family_of(topology), TreeShape):
            return "nca"
        if isinstance(rules.family_of(topology), DragonflyShape):
            return "minimal-group"
        if isinstance(topology.routers, Cube) or rules.is_hyperx(topology):
            return "dimension-order"
    return "minimal"


def _minimal(topology: Topology, name: str, _: str) -> Plan:
    ways = rules.shortest_ways(topology.routers)
    family, rungs = rules.family_of(topology), tuple[int, ...]()
    if isinstance(family, DragonflyShape):
        ladder = group_kinds(topology)
    else:
        ladder = ordered_kinds(topology) if rules.is_hyperx(topology) else rank_kinds(topology)
    if rules.is_hyperx(topology) and not topology.broken:
        sides = len(ladder.rungs)  # the last dimension first needs most rungs
        rungs = (ladder.rungs * sides)[: sides * (sides - 1) + 1]
    elif isinstance(family, TreeShape) and not topology.broken:
        rungs = ladder.rungs
    return Plan(name, hop.next_ports(topology, ways), ladder, hop.DRAWN, rungs, minimal=True)


def _ancestor(topology: Topology, name: str, argument: str) -> Plan:
    choices = {"": hop.TWO, "all": hop.LEAST, "every": hop.EVERY}
    if argument not in choices:
        where = f"routing '{name}:{argument}'"
        raise InputError(where, f"'{argument}'", "all (the least used), every (any that is free)")
    choice = hop.DRAWN if name == "nca" else choices[argument]
    full = f"{name}:{argument}" if argument else name
    straight = hop.next_ports(topology, rules.shortest_ways(topology.routers))
    ladder = rank_kinds(topology)
    tree = isinstance(rules.family_of(topology), TreeShape) and not topology.broken
    return Plan(full, straight, ladder, choice, ladder.rungs if tree else (), minimal=True)


def _minimal_group(topology: Topology, name: str, _: str) -> Plan:
    straight = hop.next_ports(topology, rules.group_ways(topology, name))
    ladder = group_kinds(topology)
    return Plan(name, straight, ladder, hop.DRAWN, () if topology.broken else _across(ladder)[0])


def _ordered(topology: Topology, name: str, argument: str) -> Plan:
    where = f"{name}:{argument}" if argument else name
    if not rules.dimensions(topology):
        wanted = "a k-ary n-cube or a HyperX; minimal fits any network"
        raise InputError("routing", f"{where} on {topology.name}", wanted)
    order = tuple(whole_number(word, where=where) for word in argument.split(",") if argument)
    routing, ladder = rules.DimensionOrder(order), ordered_kinds(topology, order)
    straight = hop.next_ports(topology, routing.ways(topology))
    return Plan(str(routing), straight, ladder, hop.DRAWN, ladder.rungs, minimal=True)


def _hashed(topology: Topology, name: str, argument: str) -> Plan:
    seed = whole_number(argument, where=f"{name}:{argument}") if argument else rules.Ecmp().seed
    routing = rules.Ecmp(seed, polarised=name == "ecmp-polarised")
    salts = rules.router_salts(routing, topology.num_routers)
    same = _minimal(topology, str(routing), "")
    return same._replace(choice=hop.HASHED, more={"salts": salts})


def _adaptive(topology: Topology, name: str, _: str) -> Plan:
    straight = hop.next_ports(topology, rules.shortest_ways(topology.routers))
    return Plan(name, straight, rank_kinds(topology), hop.EVERY, escape=True)


def _valiant(topology: Topology, name: str, _: str) -> Plan:
    if name == "valiant":
        drawn = rules.detour(topology, rules.Valiant())
        goals = lists_to(np.minimum(topology.switch_of, 0), [[drawn.goals]])
        return _detoured(topology, name, hop.DRAWN, {"detour": hop.ALWAYS, **goals})
    drawn = rules.detour(topology, rules.Valiant("groups"))
    group = drawn.ways.group - 1
    goals = lists_by_group(group, [drawn.goals] * (int(group.max()) + 1))
    trip = _detoured(topology, name, hop.DRAWN, {"detour": hop.ALWAYS, **goals})
    trip = trip._replace(out=hop.next_ports(topology, drawn.out))
    if not trip.rungs:
        return trip
    again = _across(trip.ladder)[1]  # to a spine of the group, on a dragonfly+
    return trip._replace(rungs=(0, 1, SEPARATOR, *again))


def _weighed(topology: Topology, name: str, argument: str) -> Plan:
    """UGAL (Singh, *Load-balanced routing in interconnection networks*, 2005), PAR.

    They weigh a detour against the direct way: by any router with hosts. On dragonflies by any of
    another group, and packets within a group draw none.
    """
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
    if name == "par" and not isinstance(rules.family_of(topology), DragonflyShape):
        found = f"par on {topology.name}"
        raise InputError("routing", found, "a dragonfly or dragonfly+; ugal-l fits others")
    goals, shape = rules.host_routers(topology, name), rules.family_of(topology)
    drawn = lists_to(np.minimum(topology.switch_of, 0), [[goals]])
    if isinstance(shape, DragonflyShape):
        group = topology.switch_of // shape.routers
        drawn = lists_by_group(group, [goals[group[goals] != own] for own in range(shape.groups)])
    given = {"threshold": threshold, "detour": hop.ALONG if name == "ugal-g" else hop.LOCAL}
    full = f"{name}:threshold={threshold}" if argument else name
    trip = _detoured(topology, full, hop.LEAST, {**drawn, **given})
    if name != "par":
        return trip
    across, again = _across(trip.ladder)  # from a spine without the link, down and up to another
    rungs = (0, *again, SEPARATOR, *across) if trip.rungs else ()
    return trip._replace(stays=(0,), rungs=rungs)


def _detoured(topology: Topology, name: str, choice: int, more: dict[str, Any]) -> Plan:
    """Return detours by the ways that packets usually take on a network."""
    ways = rules.usual_ways(topology)
    if topology.broken and rules.dimensions(topology):
        found = f"'{name}' on {topology.name}"
        raise InputError("routing", found, "minimal or min-adaptive, which go round what is broken")
    rungs: tuple[int, ...] = ()
    if isinstance(rules.family_of(topology), DragonflyShape):
        ladder = group_kinds(topology)
        rungs = _across(ladder)[0]
    elif rules.dimensions(topology):
        ladder = ordered_kinds(topology)
        rungs = ladder.rungs
    else:
        ladder = rank_kinds(topology)
    twice = (*rungs, SEPARATOR, *rungs) if rungs and not topology.broken else ()
    table = hop.next_ports(topology, ways)
    return Plan(name, table, ladder, choice, twice, out=table, more=more)


def _across(ladder: Ladder) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the kinds on the way from one group of a dragonfly to another, and from a spine."""
    return ((0, 1, 0),) * 2 if len(ladder.rungs) == 2 else ((0, 1, 2), (2, 0, 1, 2))


_BARE = ("nca", "minimal", "min-adaptive", "minimal-group", "valiant", "valiant-group")
"""Routings without options."""

_PLANS = {
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


MOST_PLACES = 2**28
"""Most places, times goals of detours, that are followed: each takes a byte."""


class TooLargeError(InputError):
    """A network in which packets are not followed: it would take too much memory."""


def hop_circle(topology: Topology, tables: hop.HopTables) -> tuple[tuple[int, int], ...]:
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
    _, *arrows = followed(topology, tables)
    return circle_among(*arrows)


def followed(topology: Topology, tables: hop.HopTables) -> tuple[Bools, Ints, Ints, Ints]:
    """Follow all packets of a routing by hop, those in its escape only where it has one.

    Returns
    -------
    reached
        bool[S], the states in which packets come to a router.
    held, asked
        int64[arrows, 2], pairs of a channel and the number of VCs in ``masks``.
    masks
        int64[], different sets of VCs.

    Raises
    ------
    TooLargeError
        If the network is too large.
    InputError
        If a packet finds no way.
    """
    from netloom.routing.kernels.followed import follow

    assert tables.choice != hop.GIVEN, "given paths list their channels"
    assert len(tables.lengths) == len(tables.starts), "forwarding tables are checked elsewhere"
    assert not len(tables.level), "lanes by service level have a check of their own"
    outward, _ = hop.channels_at_ports(topology)
    inside, states = topology.routers, len(tables.vcs)
    ends = np.stack([tables.exit_router, tables.sink_goal], axis=1)
    ends = np.unique(ends, axis=0).astype(np.int32)
    # whether packets to a class make a detour: [goal of the detour, class]
    middles = int(tables.detours.max(initial=-1)) + 1 if tables.detour else 0
    leads = np.zeros((middles, tables.detour_classes), np.bool_)
    for row, start in enumerate(tables.detour_start.tolist() if tables.detour else ()):
        drawn = tables.detours[start + 1 : start + 1 + tables.detours[start]]
        leads[drawn[drawn >= 0], row % tables.detour_classes] = True
    masks, mask = np.unique(tables.vcs, return_inverse=True)
    size = (inside.num_channels + inside.num_routers) * states * max(len(leads), 1)
    arrows = inside.num_channels * len(masks) ** 2 * outward.shape[1]
    if max(size, arrows) > MOST_PLACES:
        wanted = "a smaller network, or a routing that is free of deadlock by a rule"
        raise TooLargeError(topology.name, "too many channels to look for circles in", wanted)
    waits, reached = np.zeros(arrows, np.uint8), np.zeros(states, np.uint8)
    begins = np.full(inside.num_routers, -1, np.int16)
    if tables.escape_vcs:
        begins[:] = tables.escape_state
    else:
        begins[topology.injection_router] = 0
    wires = outward, inside.channel_target
    ways, router, last = follow(
        tables, wires, begins, ends, leads, mask.astype(np.int64), len(masks), waits, reached
    )
    if not ways:
        names = [topology.router_name(each) for each in (router, last)]
        raise InputError(topology.name, f"no way from {names[0]} to {names[1]}", "a connected one")
    channel, held, port, asked = np.unravel_index(
        np.flatnonzero(waits), (inside.num_channels, len(masks), outward.shape[1], len(masks))
    )
    behind = outward[inside.channel_target[channel], port]
    before, after = np.stack([channel, held], axis=1), np.stack([behind, asked], axis=1)
    return reached.astype(bool), before, after.astype(np.int64), masks


def circle_among(held: Ints, asked: Ints, masks: Ints) -> tuple[tuple[int, int], ...]:
    """Return a circle among arrows from channels in VCs to channels in VCs, or ().

    ``held`` and ``asked`` are int64[arrows, 2]: a channel, and which of ``masks`` its VCs are.

    Examples
    --------
    >>> circle_among(np.array([[0, 0], [1, 0]]), np.array([[1, 0], [0, 0]]), np.array([2]))
    ((0, 1), (1, 1))
    """
    bit = np.arange(64, dtype=np.uint64)[:, None]
    shared = masks[None, :].view(np.uint64) >> bit & np.uint64(1)
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


NAMED = rules.DimensionOrder | rules.Ecmp | rules.Several | rules.MinimalGroup | rules.RandomUp
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
          see ``DimensionOrder``, but ties and lanes are drawn. (On k-ary n-cubes
          ``virtual_channel_routing`` has a rule that comes first.)
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
    if not 1 <= num_vcs <= hop.MOST_VCS:
        raise InputError("vcs", str(num_vcs), f"1 to {hop.MOST_VCS}")
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

    Raises
    ------
    InputError
        If hosts have no way to others, naming the routers of two such.
    DeadlockError
        With the circle.
    """
    where = f"{wanted.name} on {topology.name} with {num_vcs} VC{'s' * (num_vcs > 1)}"
    (entry, leave), ways = router_pairs(topology), wanted.straight
    lost = ways.lengths[entry.astype(np.int64) * ways.num_goals + leave] < 0
    if lost.any():
        pair = int(np.argmax(lost))
        one, other = (topology.router_name(end[pair]) for end in (entry, leave))
        found = f"no way from {one} to {other}"
        raise InputError(f"{wanted.name} on {topology.name}", found, "one")
    if wanted.escape:
        tables = _escaping(topology, wanted, num_vcs, where)
    else:
        ladder = _climbed(topology, wanted)
        if wanted.name.startswith("nca") and ladder.classes > 1:
            found = "shortest ways that go up again after they went down"
            raise InputError(f"{wanted.name} on {topology.name}", found, "a fat tree, or minimal")
        tables = _tables(topology, wanted, ladder, num_vcs)
        if ladder.classes > num_vcs:
            needed = f"at least {ladder.classes} VCs"
            try:
                circle = hop_circle(topology, tables)
            except TooLargeError as error:
                raise InputError(where, error.found, needed) from None
            if circle:
                named = (f"{topology.channel_name(channel)} (VC {vc})" for channel, vc in circle)
                raise DeadlockError(where, tuple(named), needed)
    weighs = wanted.choice in (hop.TWO, hop.LEAST) or wanted.more.get("detour", 0) > hop.ALWAYS
    made = VirtualChannelRouting(wanted.name, topology, tables, minimal=wanted.minimal)
    return replace(made, uses_credits=weighs)


def _tables(topology: Topology, wanted: Plan, ladder: Ladder, num_vcs: int) -> hop.HopTables:
    if wanted.out is None:
        ladder_states = ladder.climbed(), ladder.place_vcs(num_vcs), num_vcs
        automaton, tables = hop.plain_states(ladder.kind, *ladder_states), [wanted.straight]
    else:
        automaton = with_detours(ladder, num_vcs, stays=wanted.stays)
        tables = [wanted.out, wanted.straight]
    return hop.hop_tables(topology, num_vcs, tables, automaton, choice=wanted.choice, **wanted.more)


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
        parts = followed(topology, tables)[0].reshape(-1, len(rungs) + 1)[:, 1:]
        inside = wanted.out is None or not parts[1, len(once) :].any()
        if inside and not parts[:, -1].any():
            used = np.asarray(parts.any(axis=0))
            last = int(np.flatnonzero(used).max(initial=-1))
            below = enumerate(rungs[: last + 1])
            kept = tuple(kind for at, kind in below if used[at] or kind == SEPARATOR)
            return ladder._replace(rungs=kept)
        rounds *= 2
    found = f"ways that take more than {MOST_RUNGS} turns"
    raise InputError(f"{wanted.name} on {topology.name}", found, "min-adaptive")


ADAPTIVE, UP, DOWN = 0, 1, 2
"""The states of packets: in adaptive VCs, in the escape before it has gone down, and after."""


def _escaping(topology: Topology, wanted: Plan, num_vcs: int, where: str) -> hop.HopTables:
    """Return the tables of adaptive routing with an escape in VC 0.

    The escape is the shortest ways that go up and then down: one table for packets that have not
    gone down yet, and one for those that have.
    """
    if num_vcs < 2:
        raise InputError(where, "no VC but the escape", "at least 2 VCs")
    inside, half, rank = topology.routers, topology.num_routers**2, rules.router_ranks(topology)
    links, net = rules.two_way(inside)
    ways, channel = rules.legal_ways(net, rank[net.channel_target] < rank[net.channel_source])
    both = hop.next_ports(topology, ways, links[channel])
    starts, lengths = both.starts.reshape(2, half), both.lengths.reshape(2, half)
    escapes = [both._replace(starts=starts[down], lengths=lengths[down]) for down in range(2)]
    kind = (rank[inside.channel_target] > rank[inside.channel_source]).astype(np.int8)
    free = hop.bits(num_vcs) & ~1  # in VC 0 they go up and then down, and never leave it again
    delta = np.array([[ADAPTIVE] * 2, [UP, DOWN], [DOWN] * 2])
    automaton = hop.plain_states(kind, delta, np.array([free, 1, 1], np.int64), num_vcs)
    automaton = automaton._replace(table=np.arange(3, dtype=np.int8))
    more = {"adaptive_vcs": free, "escape_vcs": 1, "escape_state": 1, "choice": wanted.choice}
    tables = hop.hop_tables(topology, num_vcs, [wanted.straight, *escapes], automaton, **more)
    check_escape(topology, wanted.straight, escapes[0])
    return tables


def check_escape(topology: Topology, ways: hop.NextPorts, escape: hop.NextPorts) -> None:
    """Refuse an escape that does not lead on from wherever packets on shortest ways come.

    Raises
    ------
    InputError
        Naming two routers.
    """
    count = topology.num_routers
    length, lost = ways.lengths.reshape(count, count), escape.lengths.reshape(count, count) < 0
    begins = distinct(topology.injection_router)
    for goal in distinct(topology.ejection_router).tolist():
        for router in np.flatnonzero(lost[:, goal] & (length[:, goal] >= 0)).tolist():
            before = length[begins, router].astype(np.int64)
            on_way = before + length[router, goal] == length[begins, goal]
            if (on_way & (before >= 0)).any():
                one, other = (topology.router_name(at) for at in (router, goal))
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
    name
        What the routing is called. The function's name by default.

    Raises
    ------
    InputError
        If Numba cannot compile the function.
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
    if not 1 <= num_vcs <= hop.MOST_VCS:
        raise InputError("num_vcs", str(num_vcs), f"1 to {hop.MOST_VCS}")
    kept = _compiled(function, called)
    word, argument = split_spec(like)
    if word not in LIKE:
        raise InputError("like", f"'{like}'", ", ".join(LIKE))
    wanted = plan(topology, word, argument)
    found = planned(topology, wanted._replace(name=called), num_vcs)
    tables = found.tables._replace(function=kept.address, choice=hop.OWN)
    return replace(found, tables=tables, uses_credits=True, function=kept)


def _compiled(function: Callable[..., int], name: str) -> Any:
    """Return the function as one that kernels can call by its address."""
    import re

    from numba import carray, cfunc, njit  # type: ignore[attr-defined]
    from numba.core.errors import NumbaError

    from netloom.routing.kernels.by_hop import NEXT_PORT

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
