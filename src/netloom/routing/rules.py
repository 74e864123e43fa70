"""Routings by rule: shortest, layered, ECMP, spread, up*/down*, in trees, and ways with choices.

Layers of virtual channels are for routing round failures: Skeie, Lysne & Theiss, *Layered shortest
path (LASH) routing in irregular system area networks*, 2002. Skeie, Lysne, Flich, López, Robles &
Duato, *LASH-TOR: a generic transition-oriented routing algorithm*, 2004. Up*/down* routing is free
of deadlock on any network of two-way links, on one virtual channel: Schroeder et al., *Autonet: a
high-speed, self-configuring local area network using point-to-point links*, 1991.

Ways with choices are all shortest paths, through groups, or any way round: Valiant & Brebner,
*Universal schemes for parallel communication*, 1981. Kim, Dally, Scott & Abts,
*Technology-driven, highly-scalable dragonfly topology*, 2008.

Dimension order corrects one coordinate after the other, each the shorter way.

Ways with choices are shortest paths by the channels that a routing allows. Of the channels that
lead one hop nearer to the goal, all of the lowest rank are equally good. Paths that are listed,
drawn or walked choose among them. ``Ways`` holds the data that the kernels need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any, ClassVar, Literal, NamedTuple, TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from netloom.base.arrays import (
    NO_INT64S,
    Bools,
    Ints,
    UInt64s,
    distinct,
    offsets_of,
    places_among,
    places_within,
)
from netloom.base.errors import InputError
from netloom.routing.forwarding.tables import (
    MOST_ENTRIES,
    ForwardingTable,
    dependency_graph,
    senders,
)
from netloom.routing.ragged import (
    DIGITS,
    DRAWN,
    HASHED,
    SALTED,
    WHOLE,
    Legs,
    Paths,
    legs,
    path_offsets,
    router_pairs,
)
from netloom.topology import Cube, Topology
from netloom.topology.core import DragonflyShape, HyperXShape, TreeShape, joined
from netloom.topology.families import tree_ends
from netloom.topology.measures import router_heights


class Rule:
    """A routing that a rule says. ``several``: whether a pair may have several paths."""

    several: ClassVar[bool] = False

    def check(self, topology: Topology) -> None:
        """Raise InputError if it does not fit a network."""

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return all paths of every pair of hosts (see ``parse.paths``)."""
        raise NotImplementedError

    def drawn(
        self, topology: Topology, sources: Ints, targets: Ints, rng: np.random.Generator
    ) -> Paths:
        """Return one path of every pair, drawn with its probability (see ``parse.draw_paths``)."""
        del rng
        return self.paths(topology, sources, targets)


class Named(Rule):
    """A rule that its name says whole."""

    _name: ClassVar[str]

    def __init_subclass__(cls, *, name: str, several: bool = False) -> None:
        cls._name, cls.several = name, several

    def __str__(self) -> str:
        return self._name


class ByTarget(Rule):
    """A rule of ways, of which a target's number picks one among equal channels.

    ``pick`` says how: see ``kernels.several.walk_paths``.
    """

    pick: ClassVar[int]

    def ways(self, topology: Topology) -> Ways:
        """Return its ways between routers. InputError: there are none."""
        raise NotImplementedError

    def numbers(self, topology: Topology) -> Ints:
        """Return the number of each host as a target, int64[num_hosts]."""
        raise NotImplementedError

    def check(self, topology: Topology) -> None:
        """Raise InputError if it does not fit a network."""
        self.ways(topology)

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return the path of every pair of hosts."""
        pairs, numbers = (topology, sources, targets), self.numbers(topology)[targets]
        return walked_between(*pairs, self.ways(topology), numbers, pick=self.pick)


# -- dimension order -------------------------------------------------------------------------------


@dataclass(frozen=True)
class DimensionOrder(ByTarget):
    """Dimension-order routing (e-cube, XY): minimal, deterministic, on k-ary n-cubes only.

    Attributes
    ----------
    order
        The dimensions (0 is the slowest varying) in the order in which they are corrected. Empty
        means last to first: within a row first, which the thesis calls "row channels first". Half
        way round a ring, where both ways are as short, the + direction is taken.
    """

    pick = WHOLE

    order: tuple[int, ...] = ()

    def __str__(self) -> str:
        return "dimension-order" + (":" + ",".join(map(str, self.order)) if self.order else "")

    def ways(self, topology: Topology) -> Ways:
        """Return its ways between routers, where nothing is broken."""
        if topology.broken:
            found = f"'{self}' on {topology.name}"
            raise InputError("routing", found, "spread or another that goes round what is broken")
        return ordered_ways(topology, self.order)

    def numbers(self, topology: Topology) -> Ints:
        """Return the sum of the coordinates of a target's router + its place among its hosts.

        On a HyperX it picks one of the lanes of a hop. So the targets that a hop leads to share its
        lanes, whichever coordinates they have in common.
        """
        router = np.arange(topology.num_hosts)
        router[topology.port_host[::-1]] = topology.ejection_router[::-1]
        router = topology.switch_of[router]
        coordinates = np.stack(np.unravel_index(router, dimensions(topology)))
        return np.asarray(places_among(router) + coordinates.sum(axis=0))

    def check(self, topology: Topology) -> None:
        """Raise InputError if it does not fit a network, or names no order of its dimensions."""
        if is_hyperx(topology):
            self.ways(topology)
        else:
            cube_tables(topology.routers, self)

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return the path of every pair of hosts."""
        if is_hyperx(topology):
            return super().paths(topology, sources, targets)
        from netloom.routing.kernels.dimension_order import fill_paths, path_offsets

        tables, ends = cube_tables(topology.routers, self), legs(topology, sources, targets)
        offsets = path_offsets(tables, ends.entry, ends.exit)
        return ends.around(Paths(offsets, fill_paths(tables, ends.entry, ends.exit, offsets)))


def full_order(order: Sequence[int], count: int) -> tuple[int, ...]:
    """Return the order of so many dimensions: last to first if none is given.

    Raises
    ------
    InputError
        If it does not name each once.
    """
    wanted = tuple(order) or tuple(reversed(range(count)))
    if sorted(wanted) != list(range(count)):
        named = f"each of the dimensions {[*range(count)]} once"
        raise InputError("routing", f"order {wanted}", named)
    return wanted


class CubeTables(NamedTuple):
    """A cube and an order as flat arrays, for the kernels."""

    sides: Ints
    strides: Ints
    wraps: Bools
    line_channels: Ints
    line_base: Ints
    order: Ints


def cube_tables(topology: Topology, routing: DimensionOrder) -> CubeTables:
    """Return the kernels' tables, checking that this routing exists on this network.

    Raises
    ------
    InputError
        If the network is not a k-ary n-cube, or ``order`` does not name each dimension once.
    """
    if not isinstance(topology, Cube):
        wanted = "shortest-path or routes:FILE on a graph"
        raise InputError("routing", f"{routing} on {topology.name}", wanted)
    return CubeTables(
        np.array(topology.sides, np.int64),
        topology.strides,
        np.array(topology.wraps, np.bool_),
        topology.line_channels,
        topology.line_base,
        np.array(full_order(routing.order, len(topology.sides)), np.int64),
    )


def half_way_round(cube: Cube, source: Ints, target: Ints) -> Bools:
    """Return which pairs of nodes are half-way round a ring from each other in some dimension.

    Both ways are as short there: ``DimensionOrder`` takes the + direction, simulated packets draw
    one of the two.

    Parameters
    ----------
    cube
        The network.
    source, target
        int32[num_pairs], nodes.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> half_way_round(torus(4, 4), np.array([0, 0]), np.array([2, 5])).tolist()
    [True, False]
    """
    found = np.zeros(len(source), np.bool_)
    for side, stride, wraps in zip(cube.sides, cube.strides, cube.wraps, strict=True):
        if wraps and side > 2:  # between two nodes there is one channel each way
            ahead = (target // stride - source // stride) % side
            found |= 2 * ahead == side
    return found


# -- ways ------------------------------------------------------------------------------------------


CONNECTED = "hosts that can reach each other"
JOINED = "a way by the channels that this routing may use"


class Ways(NamedTuple):
    """Which channels lead packets on, as flat arrays.

    Attributes
    ----------
    group
        int32[num_routers], the group of each router. A channel may be used if it stays in its
        group, enters the group of the goal, or enters group 0.
    goal
        int32[num_routers], the goal that each router is: its own number, or where packets go to any
        router of a group, the number of that.
    rank
        int32[num_channels], the rank of each channel.
    source, target
        int32[num_channels], the routers that each channel leaves and enters.
    in_offsets, in_channels, out_offsets, out_channels
        The channels that enter and leave each router (see ``Topology.incoming``).
    """

    group: Ints
    goal: Ints
    rank: Ints
    source: Ints
    target: Ints
    in_offsets: Ints
    in_channels: Ints
    out_offsets: Ints
    out_channels: Ints


def shortest_ways(topology: Topology) -> Ways:
    """Return all shortest paths between the vertices of a network, of which hosts never forward.

    Each host is a group of its own, so that packets may use any port of it.
    """
    group = np.zeros(topology.num_ends, np.int32)
    apart = topology.num_ends - topology.num_routers  # hosts that are no routers
    group[:apart] = np.arange(1, apart + 1)
    rank = np.zeros(topology.num_channels, np.int32)
    return Ways(group, np.arange(topology.num_ends, dtype=np.int32), rank, *topology.wiring())


def legal_ways(net: Topology, up: Bools) -> tuple[Ways, Ints]:
    """Return the ways that lead up and then down, and the channel of the network that each takes.

    Vertices are routers that packets come to before they have gone down, then those that they come
    to after. A goal is a router, by its number.

    Parameters
    ----------
    net
        A network of two-way links.
    up
        bool[num_channels], which of them lead up, towards the root.
    """
    count, down = net.num_routers, np.flatnonzero(~up).astype(np.int32)
    source = np.append(net.channel_source, net.channel_source[down] + np.int32(count))
    target = net.channel_target + np.int32(count) * ~up
    both = Topology(net.name, 2 * count, source, np.append(target, target[down]))
    goal = np.tile(np.arange(count, dtype=np.int32), 2)
    return shortest_ways(both)._replace(goal=goal), np.append(np.arange(len(up)), down)


def ordered_ways(topology: Topology, order: Sequence[int] = ()) -> Ways:
    """Return the ways of dimension order between the routers of a k-ary n-cube or a HyperX.

    ``order`` is as in ``DimensionOrder``. Half-way round a ring, both directions are as good.

    Raises
    ------
    InputError
        If ``order`` does not name each of the dimensions once.
    """
    sides = dimensions(topology)
    assert sides, f"{topology.name} has no dimensions"
    wanted, ways = full_order(order, len(sides)), shortest_ways(topology.routers)
    of = topology.switch_of
    axis, _ = channel_axes(of[ways.source], of[ways.target], sides)
    return ways._replace(rank=np.argsort(wanted).astype(np.int32)[axis])


def channel_axes(source: Ints, target: Ints, sides: tuple[int, ...]) -> tuple[Ints, Ints]:
    """Return the dimension that each channel of a grid lies in, and by how much it leads on."""
    here, there = (np.array(np.unravel_index(ends, sides)) for ends in (source, target))
    axis = np.argmax(here != there, axis=0)
    return axis, np.take_along_axis(there - here, axis[None], axis=0)[0]


def group_ways(topology: Topology, asked: str) -> Ways:
    """Return the ways between the routers of a dragonfly that visit no third group.

    Raises
    ------
    InputError
        If the network is no dragonfly, naming the routing that is ``asked`` for.
    """
    shape = family_of(topology)
    if not isinstance(shape, DragonflyShape):
        raise InputError("routing", f"{asked} on {topology.name}", "a dragonfly or dragonfly+")
    group = (1 + topology.switch_of // shape.routers).astype(np.int32)
    return shortest_ways(topology.routers)._replace(group=group)


def usual_ways(topology: Topology) -> Ways:
    """Return the ways that packets usually take between routers.

    On dragonflies those of ``group_ways``, on k-ary n-cubes and HyperX those of dimension order,
    elsewhere all shortest paths.
    """
    if isinstance(family_of(topology), DragonflyShape):
        return group_ways(topology, "")
    return ordered_ways(topology) if dimensions(topology) else shortest_ways(topology.routers)


def is_hyperx(topology: Topology) -> bool:
    """Whether the routers of a network are, or were before anything broke, those of a HyperX."""
    return isinstance(family_of(topology), HyperXShape)


def dimensions(topology: Topology) -> tuple[int, ...]:
    """Return the sides of the grid of a network's routers. None where they have no dimensions."""
    routers, shape = topology.routers.whole, family_of(topology)
    if isinstance(routers, Cube):
        return routers.sides
    return shape.sides if isinstance(shape, HyperXShape) else ()


def family_of(topology: Topology) -> object:
    """Return the family of a network, or of its routers, before anything broke."""
    return topology.whole.family or topology.routers.whole.family


# -- paths on ways with choices --------------------------------------------------------------------


Hosts: TypeAlias = tuple[Ints, Ints]

MOST_PATHS = 2**24
"""Most paths that are listed."""

MOST_HOPS = 2**28
"""Most hops that these have, a gigabyte."""

NO_SALTS = np.zeros(0, np.uint64)


@dataclass(frozen=True)
class Minimal(Named, name="minimal", several=True):
    """Any shortest path: at every router, each channel that leads one hop nearer is as likely.

    Of parallel channels each counts. Hops are those between routers. That is how packets spread
    if each router picks at random among the ports of its shortest-path table. Paths of one pair
    need not be equally likely.
    """

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return all shortest paths. InputError: they are more than ``MOST_PATHS``."""
        ends, ways = legs(topology, sources, targets), shortest_ways(topology.routers)
        where, hosts = f"{self} on {topology.name}", (sources, targets)
        return ends.around(listed(ways, ends.entry, ends.exit, hosts=hosts, where=where))

    def drawn(
        self, topology: Topology, sources: Ints, targets: Ints, rng: np.random.Generator
    ) -> Paths:
        """Return one path of every pair, drawn channel by channel."""
        numbers = rng.integers(0, 2**62, len(sources))
        ways = shortest_ways(topology.routers)
        return walked_between(topology, sources, targets, ways, numbers, pick=DRAWN)


@dataclass(frozen=True)
class MinimalGroup(ByTarget, Named, name="minimal-group"):
    """On a dragonfly, local, global, local: by a direct link between the two groups.

    Of several such ways the shortest, of several of these one by the target's number: as digits,
    the lowest first, it picks among equal channels hop by hop. So several links between two groups
    share the targets. Within a group packets stay there. On a dragonfly+ they go up to a spine
    and down again at either side.
    """

    pick = DIGITS

    def ways(self, topology: Topology) -> Ways:
        """Return its ways between routers. InputError: the network is no dragonfly."""
        return group_ways(topology, str(self))

    def numbers(self, topology: Topology) -> Ints:
        """Return the hosts' own numbers."""
        return np.arange(topology.num_hosts)


@dataclass(frozen=True)
class Valiant(Rule):
    """By way of a router or group that is drawn at random, whatever the traffic.

    Attributes
    ----------
    over
        ``routers``: to any router that hosts hang on, each as likely, that of the source and that
        of the target included, and from there to the target. ``groups``: on a dragonfly, to any
        group, those of source and target included, by one of its direct links, and from the router
        where that arrives to the target. Packets within a group stay in it.

    On either part of the way, packets go as they usually do on the network, and of equally good
    channels each is as likely: on dragonflies by direct links between the two groups
    (``MinimalGroup``), on k-ary n-cubes and HyperX in dimension order, last dimension first,
    elsewhere by any shortest path. Hosts of one router send to each other directly.
    """

    several: ClassVar[bool] = True

    over: Literal["routers", "groups"] = "routers"

    def __str__(self) -> str:
        return "valiant" if self.over == "routers" else "valiant-group"

    def check(self, topology: Topology) -> None:
        """Raise InputError if a network has no groups, and these are wanted, or no such router."""
        detour(topology, self)

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return all paths: every first part with every second one that follows.

        Raises
        ------
        InputError
            If they are more than ``MOST_PATHS``.
        """
        ends, trip = legs(topology, sources, targets), detour(topology, self)
        where = f"{self} on {topology.name}"
        straight, own = trip.straight(ends.entry, ends.exit)
        counts = np.where(straight, 1, len(trip.goals))
        check_paths(counts.sum(), where)
        pair = np.repeat(np.arange(len(sources), dtype=np.int32), counts)
        goals = np.where(straight[pair], own[pair], trip.goals[places_within(counts)])
        begin, pairs = ends.entry[pair], (sources[pair], targets[pair])
        there = listed(trip.out, begin, goals.astype(np.int32), hosts=pairs, where=where)
        assert there.pair is not None
        assert there.probability is not None
        begun = pair[there.pair]
        begin = ends_of(trip.ways, there, ends.entry[begun])
        pairs = sources[begun], targets[begun]
        back = listed(trip.ways, begin, ends.exit[begun], hosts=pairs, where=where)
        assert back.pair is not None
        assert back.probability is not None
        found = end_to_end(there.taken(back.pair), back)
        chance = (there.probability / counts[begun])[back.pair] * back.probability
        return ends.around(Paths(found.offsets, found.channels, begun[back.pair], chance))

    def drawn(
        self, topology: Topology, sources: Ints, targets: Ints, rng: np.random.Generator
    ) -> Paths:
        """Return one path of every pair, of which both parts and what is between are drawn."""
        numbers = rng.integers(0, 2**62, (3, len(sources)))
        ends, hosts = legs(topology, sources, targets), (sources, targets)
        trip = detour(topology, self)
        straight, own = trip.straight(ends.entry, ends.exit)
        goals = np.where(straight, own, trip.goals[numbers[1] % len(trip.goals)])
        there = walked(trip.out, ends.entry, goals, numbers[0], hosts=hosts, pick=DRAWN)
        begin = ends_of(trip.ways, there, ends.entry)
        back = walked(trip.ways, begin, ends.exit, numbers[2], hosts=hosts, pick=DRAWN)
        return ends.around(end_to_end(there, back))


Several: TypeAlias = Minimal | Valiant


class Detour(NamedTuple):
    """How packets travel under ``Valiant``.

    Attributes
    ----------
    ways
        Of either part.
    goals
        int32[num_goals], the routers or groups that are drawn, each as likely.
    to_group
        Whether these are groups.
    """

    ways: Ways
    goals: Ints
    to_group: bool

    @property
    def out(self) -> Ways:
        """The same ways to what is drawn."""
        return self.ways._replace(goal=self.ways.group) if self.to_group else self.ways

    def straight(self, entry: Ints, leave: Ints) -> tuple[Bools, Ints]:
        """Return which pairs draw nothing, equal ones or of one group, and the goals of these."""
        group = self.ways.group
        here, there = (group[entry], group[leave]) if self.to_group else (entry, leave)
        return np.asarray(here == there), there


def listed(
    ways: Ways, sources: Ints, goals: Ints, *, hosts: Hosts | None = None, where: str
) -> Paths:
    """Return all paths from routers to routers, or to the first router of a group.

    ``hosts`` are the sources and targets of the pairs, by which an error names one.

    Raises
    ------
    InputError
        If there are more than ``MOST_PATHS``, or of more than ``MOST_HOPS``, naming ``where``.
    NoRouteError
        If there is no path.
    """
    from netloom.routing.kernels.several import list_paths, measure_ways

    by_goal = np.argsort(goals, kind="stable")
    hops, many = measure_ways(ways, by_goal, sources, goals, counted=True)
    path_offsets(hops, *(hosts or (sources, goals)), JOINED)
    check_paths(many.sum(), where, hops=(many * hops).sum())
    counts = many.astype(np.int64)
    pair = np.repeat(np.arange(len(sources), dtype=np.int32), counts)
    offsets = offsets_of(hops[pair])
    first_path = offsets_of(counts)
    channels, chance = list_paths(ways, by_goal, sources, goals, first_path, offsets)
    return Paths(offsets, channels, pair, chance)


def check_paths(many: float, where: str, *, hops: float = 0) -> None:
    """Raise InputError if so many paths, of so many hops in all, are too many to list."""
    if many > MOST_PATHS or hops > MOST_HOPS:
        found, wanted = f"{many:,.0f} paths", f"at most {MOST_PATHS:,} to list"
        if many <= MOST_PATHS:
            found, wanted = f"{found} of {hops:,.0f} hops", f"at most {MOST_HOPS:,} hops to list"
        raise InputError(where, found, f"{wanted}: take fewer pairs, or draw one path of each")


def walked(
    ways: Ways,
    sources: Ints,
    goals: Ints,
    numbers: Ints,
    *,
    hosts: Hosts | None = None,
    pick: int,
    salts: UInt64s = NO_SALTS,
    wanted: str = JOINED,
) -> Paths:
    """Return one path of each pair of routers: each pair's number picks among equal channels.

    ``hosts`` are as in ``listed``. ``wanted`` is what is missing where there is no path.

    ``pick`` and ``salts`` are as in ``kernels.several.walk_paths``.

    Raises
    ------
    NoRouteError
        If there is no path.
    """
    from netloom.routing.kernels.several import measure_ways, walk_paths

    by_goal = np.argsort(goals, kind="stable")
    hops, _ = measure_ways(ways, by_goal, sources, goals, counted=False)
    offsets = path_offsets(hops, *(hosts or (sources, goals)), wanted)
    channels = walk_paths(ways, by_goal, sources, goals, numbers, pick, salts, offsets)
    return Paths(offsets, channels)


def walked_between(
    topology: Topology, sources: Ints, targets: Ints, ways: Ways, numbers: Ints, **how: Any
) -> Paths:
    """Return one path of each pair of hosts, which ``walked`` leads between their routers."""
    ends = legs(topology, sources, targets)
    hosts = sources, targets
    return ends.around(walked(ways, ends.entry, ends.exit, numbers, hosts=hosts, **how))


def detour(topology: Topology, routing: Valiant) -> Detour:
    """Return how packets travel under a routing.

    Raises
    ------
    InputError
        If the network has no groups, and these are wanted, or no router to go by way of.
    """
    goals = host_routers(topology, str(routing))
    if routing.over == "groups":
        ways = group_ways(topology, str(routing))
        return Detour(ways, distinct(ways.group[goals]), to_group=True)
    return Detour(usual_ways(topology), goals, to_group=False)


def host_routers(topology: Topology, asked: str) -> Ints:
    """Return the routers that packets can enter and leave for hosts, int32[], ascending.

    Raises
    ------
    InputError
        If there are none, naming the routing that is ``asked`` for.
    """
    both = np.intersect1d(topology.injection_router, topology.ejection_router)
    both = distinct(topology.switch_of[both[topology.inner_part[both] < 0]])
    both = both[topology.routers.vertex_up[both]].astype(np.int32)
    if not len(both):
        found = f"{asked} on {topology.name}, where packets enter and leave by different routers"
        raise InputError("routing", found, "routers by which packets enter and leave")
    return both


def ends_of(ways: Ways, paths: Paths, sources: Ints) -> Ints:
    """Return the router where each path ends, given where it begins."""
    found = sources.copy()
    moved = np.flatnonzero(paths.lengths)
    found[moved] = ways.target[paths.channels[paths.offsets[moved + 1] - 1]]
    return found


def end_to_end(first: Paths, second: Paths) -> Paths:
    """Return paths that consist of two parts each, part by part of the same number."""
    offsets = first.offsets + second.offsets
    channels = np.empty(offsets[-1], np.int32)
    for part, before in ((first, second.offsets[:-1]), (second, first.offsets[1:])):
        place = np.repeat(before, part.lengths)
        channels[np.arange(len(part.channels)) + place] = part.channels
    return Paths(offsets, channels)


MOST_PORTS = 62
"""Most channels that leave a router where listed paths seek layers before they count hops."""

MOST_LAYERS = 62
"""Most layers that are looked for: no router has more VCs."""


@dataclass(frozen=True)
class ShortestPath(Named, name="shortest-path"):
    """At every node, the lowest-numbered channel that leads one hop nearer to the target.

    That is a table (one channel for each node and target), as routers of irregular networks
    hold it. It is minimal and deterministic, but may deadlock: ``find_deadlock`` tells.
    """

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return the table's path of every pair."""
        ways, first = shortest_ways(topology.routers), np.zeros(len(sources), np.int64)
        wanted = "a connected network" if topology.direct else CONNECTED
        pairs = topology, sources, targets
        return walked_between(*pairs, ways, first, pick=WHOLE, wanted=wanted)


@dataclass(frozen=True)
class Layered(Named, name="layered"):
    """Shortest paths in layers of virtual channels, of as few layers as a search finds.

    On a k-ary n-cube with broken parts, a path is that of dimension order, last dimension first. If
    that is broken or no longer shortest, it is that of the opposite order, first dimension first.
    If that fails too, the path goes from node to node by dimension order as long as that leads
    nearer to the target. If it does not, the path takes the lowest-numbered channel that does. So
    broken parts change only the paths that they block, and these are spread. Networks without
    dimensions are routed as by ``ShortestPath``.

    These paths may deadlock on one virtual channel. With more, each pair of nodes is put into the
    first layer in which its path closes no circle of dependencies. Pairs with the longest paths
    come first. If no layer takes the whole path, it begins in the lowest layer and moves on to the
    next wherever it would close a circle, never back. Then paths move from fuller layers to emptier
    ones that can take them. A packet may use any VC of the layer that it is in.
    """

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return the path of every pair."""
        from netloom.routing.kernels.layers import fill_detours
        from netloom.routing.kernels.several import measure_ways

        inside, ends = topology.routers, legs(topology, sources, targets)
        whole, channel_of = inside.whole, np.full(inside.whole.num_channels, -1, np.int32)
        channel_of[inside.whole_channel] = np.arange(inside.num_channels)
        if isinstance(whole, Cube):
            tables = cube_tables(whole, DimensionOrder())
        else:
            none, flat = NO_INT64S, np.zeros((0, 2), np.int64)
            tables = CubeTables(none, none, np.zeros(0, np.bool_), none, flat, none)
        orders = np.stack([tables.order, tables.order[::-1]])
        ways, by_target = shortest_ways(inside), np.argsort(ends.exit, kind="stable")
        pairs = by_target, ends.entry, ends.exit
        hops, _ = measure_ways(ways, *pairs, counted=False)
        wanted = "nodes that work" if topology.direct else CONNECTED
        offsets = path_offsets(hops, sources, targets, wanted)
        return ends.around(
            Paths(offsets, fill_detours(tables, orders, channel_of, *pairs, offsets, ways))
        )


def layers(topology: Topology, routed: Paths) -> Ints:
    """Return the layer of each hop of each path, such that no packets wait in a circle.

    int32[len(routed.channels)], from 0 on, not falling along a path. No path is empty.

    Raises
    ------
    InputError
        If more than ``MOST_LAYERS`` are needed.

    Examples
    --------
    >>> from netloom.routing import all_routes
    >>> from netloom.topology import torus
    >>> ring = torus(5)
    >>> sorted(set(layers(ring, all_routes(ring, Layered()).routes).tolist()))
    [0, 1]
    """
    from netloom.routing.kernels.layers import assign_layers, level_layers

    graph = dependency_graph(topology, MOST_LAYERS)
    closed = np.zeros(graph.uses.shape, np.bool_)
    order = np.argsort(-routed.lengths, kind="stable")
    places = Paths(routed.offsets, np.arange(len(routed.channels))).taken(order)
    offsets, hops = places.offsets, places.channels
    channels = routed.channels[hops]
    found, count = assign_layers(offsets, channels, graph, closed)
    if len(found) and found.min() < 0:
        raise InputError(topology.name, f"paths for over {MOST_LAYERS} layers", "another routing")
    level_layers(offsets, channels, graph, closed, found, count)
    layer = np.empty(len(hops), np.int32)
    layer[hops] = found
    return layer


def layer_vcs(num_layers: int, num_vcs: int) -> Ints:
    """Return the VCs of each layer as bits, int64[num_layers]. Lower layers have more.

    Examples
    --------
    >>> layer_vcs(2, 3).tolist()
    [3, 4]
    """
    vcs = np.zeros(num_layers, np.int64)
    for vc in range(num_vcs):
        vcs[vc * num_layers // num_vcs] |= np.int64(1) << np.int64(vc)
    return vcs


@dataclass(frozen=True)
class Ecmp(Rule):
    """Shortest paths. Of n equally short channels, the one of number hash modulo n.

    The hash is SplitMix64's finalizer of source, target and the router's own seed, so that the
    choices at the routers of a path have nothing to do with each other. (Hopps, *Analysis of an
    equal-cost multi-path algorithm*, RFC 2992, 2000.)

    Attributes
    ----------
    seed
        What the seeds of the routers come from.
    polarised
        Whether all routers have the same seed. The packets that meet at a router then have one
        hash modulo n in common, and choose alike again: some of the channels are never used.
    """

    seed: int = 1
    polarised: bool = False

    def __str__(self) -> str:
        name = "ecmp-polarised" if self.polarised else "ecmp"
        return name if self.seed == 1 else f"{name}:{self.seed}"

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return the path of every pair of hosts."""
        from netloom.routing.kernels.shortest_path import mixed

        numbers = mixed(mixed(sources.astype(np.uint64)) ^ targets.astype(np.uint64)).view(np.int64)
        pairs = topology, sources, targets, shortest_ways(topology.routers), numbers
        salts = router_salts(self, topology.num_routers)
        return walked_between(*pairs, pick=HASHED, salts=salts, wanted=CONNECTED)


def router_salts(routing: Ecmp, num_routers: int) -> UInt64s:
    """Return the seed of each router, uint64[num_routers]."""
    from netloom.routing.kernels.shortest_path import mixed

    salt = mixed(np.uint64(routing.seed))
    if routing.polarised:
        return np.full(num_routers, salt, np.uint64)
    salts: UInt64s = mixed(salt ^ np.arange(num_routers, dtype=np.uint64))
    return salts


ROUNDS = 4
"""How often each destination chooses its paths."""

_TABLES: WeakKeyDictionary[Topology, Ints] = WeakKeyDictionary()


@dataclass(frozen=True)
class Spread(Named, name="spread"):
    """Shortest paths, spread so that channels are about as busy when all hosts send to all others.

    Destinations choose in their order, all paths to one at once. The cost of a channel is (paths
    that take it to other destinations / bandwidth)⁴. Every router takes the shortest path with the
    lowest cost. Ties go to the lowest-numbered channel. Then each destination gives up its paths
    and chooses again, three times. The method follows Hoefler, Schneider & Lumsdaine, *Optimized
    routing for large-scale InfiniBand networks*, 2009, who choose once, and by the load itself.

    Paths are shortest in hops, the same for a pair whatever else communicates, and depend on the
    router and the destination alone, as routers' forwarding tables must. They may deadlock:
    ``find_deadlock`` tells. On full fat trees no channel has more paths than under ``DModK``.
    """

    def table(self, topology: Topology) -> ForwardingTable:
        """Return it as a table. InputError: that has more than ``MOST_ENTRIES`` entries."""
        return ForwardingTable(str(self), spread_table(topology))

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return the path of every pair of hosts."""
        return self.table(topology).paths(topology, sources, targets)


def followed(topology: Topology, entry: Ints, destinations: Ints) -> Paths:
    """Return the paths from routers to rows of ``spread_table``, without channels of ports.

    Raises
    ------
    NoRouteError
        If there is no way, naming the routers.
    """
    from netloom.routing.kernels.forwarding import fill_followed, follow_lengths

    table, enters = spread_table(topology), topology.routers.channel_target
    leave = topology.ejection_router[destinations]
    lengths, last = follow_lengths(table, destinations, entry, enters)
    lengths[last != leave] = -1
    offsets = path_offsets(lengths, entry, leave, CONNECTED)
    return Paths(offsets, fill_followed(table, destinations, entry, offsets, enters))


def spread_table(topology: Topology) -> Ints:
    """Return the forwarding table of ``Spread``: see there.

    Returns
    -------
    int32[num_ports, num_routers]
        The channel by which a packet to each host port leaves each router; -1 where it has arrived
        or there is no way. In a direct network, int32[num_hosts, num_hosts].

    Raises
    ------
    InputError
        If there are more than ``MOST_ENTRIES`` entries.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> spread_table(topology("leaf-spine:2x2x2"))[2:]
    array([[ 0, -1,  5,  7],
           [ 1, -1,  5,  7]], dtype=int32)
    """
    from netloom.routing.kernels.forwarding import spread_table as spread

    if topology in _TABLES:
        return _TABLES[topology]
    inside, leaves = topology.routers, topology.ejection_router
    entries = len(leaves) * inside.num_routers
    if entries > MOST_ENTRIES:
        found = f"{inside.num_routers} routers times {len(leaves)} destinations"
        raise InputError(f"routing spread on {topology.name}", found, f"at most {MOST_ENTRIES:,}")
    bandwidth = np.ascontiguousarray(inside.channel_bandwidth)
    _TABLES[topology] = spread(leaves, senders(topology), bandwidth, inside.wiring(), ROUNDS)
    return _TABLES[topology]


_RANKS: WeakKeyDictionary[Topology, Ints] = WeakKeyDictionary()

SCATTER = (0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9)
"""Odd factors of the hash of source, target and router by which paths of one pair spread."""

MOST_SAMPLES = 256
"""Nodes that the root should be near to: all of them in networks of up to this many."""


@dataclass(frozen=True)
class UpDown(Named, name="up-down"):
    """Up*/down* routing: no packet goes up again once it has gone down.

    Nodes are ranked by their distance from a root in the middle of the network, then by number. A
    channel leads up if it leads to a lower rank. Every path takes channels in one order, so packets
    cannot wait for each other in a circle. First come channels that lead up, by the falling rank of
    the node that they enter, then those that lead down, by its rising rank. A packet takes one of
    the shortest of such paths, always the same for a pair of nodes. Pairs spread over all of them.

    Links of which one direction is missing or broken are not used at all, as in Autonet.

    If hosts hang on routers, routers are ranked by their distance from the hosts, the farthest
    first, provided that all packets can then take shortest paths (``router_ranks``). So the spines
    of a tree share the traffic that a single root would get.
    """

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return the path of every pair.

        Raises
        ------
        InputError
            If the two-way links of a direct network do not join all nodes.
        NoRouteError
            If a pair has a node without channels, or is not joined by two-way links.
        """
        links, net = two_way(topology.routers)
        if topology not in _RANKS:
            ranks = node_ranks(topology, net) if topology.direct else router_ranks(topology)
            _RANKS[topology] = ranks
        rank, factors = _RANKS[topology], np.array(SCATTER, np.uint64)
        ways, channel = legal_ways(net, rank[net.channel_target] < rank[net.channel_source])
        # of several channels that are as short, a hash of pair and router decides
        numbers = sources.astype(np.uint64) * factors[0] ^ targets.astype(np.uint64) * factors[1]
        pairs = topology, sources, targets, ways, numbers.view(np.int64)
        salts = ways.goal.astype(np.uint64) * factors[2]
        found = walked_between(*pairs, pick=SALTED, salts=salts, wanted="nodes that work")
        return replace(found, channels=links[channel[found.channels]])


def router_ranks(topology: Topology) -> Ints:
    """Return int32[num_routers], the ranks of the routers that hosts hang on.

    In trees, shortest paths between routers with hosts first lead away from the hosts, then towards
    them. If all such paths do so, routers are ranked by their distance from the nearest host, the
    farthest first. If not, they are ranked from a root, as in ``node_ranks``, one for each plane of
    routers.
    """
    from netloom.routing.kernels.several import measure_ways

    inside, (entry, leave) = topology.routers, router_pairs(topology)
    _, net = two_way(inside)
    hops = router_heights(net, np.concatenate([entry, leave]))
    hops[hops == inside.num_routers] = -1
    if hops.max(initial=0) > 0:
        rank = ranked(-hops)
        legal, _ = legal_ways(net, rank[net.channel_target] < rank[net.channel_source])
        pairs = np.argsort(leave, kind="stable"), entry, leave
        hops, _ = measure_ways(shortest_ways(net), *pairs, counted=False)
        if np.array_equal(hops, measure_ways(legal, *pairs, counted=False)[0]):
            return rank
    return node_ranks(inside, net, planes=True)


def ranked(keys: Ints) -> Ints:
    """Return the rank of each key, of equal ones the first first."""
    rank = np.empty(len(keys), np.int32)
    rank[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return rank


def two_way(topology: Topology) -> tuple[Ints, Topology]:
    """Return the channels whose opposite is there too, int32[], ascending, and them as a network.

    That network has their places as the numbers of its channels.
    """
    source, target = topology.channel_source.astype(np.int64), topology.channel_target
    forward = source * topology.num_routers + target
    backward = target.astype(np.int64) * topology.num_routers + source
    links = np.flatnonzero(np.isin(forward, backward)).astype(np.int32)
    ends = topology.channel_source[links], topology.channel_target[links]
    return links, Topology(topology.name, topology.num_routers, *ends, topology.labels)


def node_ranks(topology: Topology, net: Topology, *, planes: bool = False) -> Ints:
    """Return int32[num_nodes], the rank of each node: 0 is the root.

    The root is the node of the least total distance to ``MOST_SAMPLES`` nodes spread evenly over
    the node numbers, of several the first. If there are ``planes``, each has a root.

    ``net`` is the network with nothing but its two-way links.

    Raises
    ------
    InputError
        Naming a node that is not joined to the root by two-way links, where there are no planes.
    """
    from netloom.routing.kernels.shortest_path import distance_sums

    inside = distinct(topology.channel_source)
    if not len(inside):  # a network of one node
        return np.arange(topology.num_routers, dtype=np.int32)
    plane = np.zeros(len(inside), np.int64)
    if planes:
        plane = joined(net.num_routers, net.channel_source, net.channel_target)[inside]
    level = np.full(topology.num_routers, topology.num_routers, np.int64)
    arrays = net.channel_source, *net.incoming()
    for each in np.unique(plane):
        part = inside[plane == each]
        samples = part[np.linspace(0, len(part) - 1, min(MOST_SAMPLES, len(part))).astype(int)]
        root = part[int(np.argmin(distance_sums(samples, *arrays)[part]))]
        level[part] = distance_sums(np.array([root], np.int32), *arrays)[part]
        lost = part[(level[part] == 0) & (part != root)]
        if len(lost):
            found = f"nodes {topology.name_of(int(root))} and {topology.name_of(int(lost[0]))}"
            wanted = "links that work in both directions: up-down uses no others"
            raise InputError(topology.name, f"{found} joined by one-way channels only", wanted)
    return ranked(level)


class OfTrees(Rule):
    """A rule of whole fat trees, which numbers the ways up to where two hosts meet."""

    def check(self, topology: Topology) -> None:
        """Raise InputError if a network is no fat tree, or a broken one."""
        whole_tree(topology, self)

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return the path of every pair of hosts: one of them says its number."""
        shape = whole_tree(topology, self)
        start, end, ends = _tree_pairs(topology, sources, targets)
        below = np.array([prod(shape.parents[:level]) for level in range(shape.levels + 1)])
        steps = np.stack([below[:-1], below[1:], below[1:]])
        keys = (end if isinstance(self, DModK) else start) // shape.sharing
        return _by_ports(_walk(topology, steps, start, end, keys), ends)


@dataclass(frozen=True)
class DModK(OfTrees, Named, name="d-mod-k"):
    """D-mod-k: the target's place decides which way a packet takes up a fat tree.

    Let W_l = w_1 … w_l. Above level l, the packet takes parent ``floor(d / W_l) mod w_{l+1}``, by
    cable ``floor(d / W_{l+1}) mod p_{l+1}``. Hosts are level 0. Together these choices are the up
    port ``floor(d / W_l) mod (w_{l+1} p_{l+1})``. Down it takes the cable of the same number. Here
    d is the place of the target in the order of the tree, which is its number unless a file numbers
    hosts otherwise. In a full tree every shift of all hosts loads no channel with more than one
    path.

    Zahavi, *Fat-tree routing and node ordering providing contention free traffic for MPI global
    collectives*, 2012.
    """


@dataclass(frozen=True)
class SModK(OfTrees, Named, name="s-mod-k"):
    """S-mod-k: as ``DModK``, with the place of the source instead of that of the target."""


@dataclass(frozen=True)
class RandomUp(OfTrees, Named, name="nca", several=True):
    """Up a fat tree by any port, each as likely, to a nearest common ancestor. Down again.

    Of parallel cables on the way down each is as likely, too.
    """

    def paths(self, topology: Topology, sources: Ints, targets: Ints) -> Paths:
        """Return all paths of every pair of hosts. InputError: more than ``MOST_PATHS``."""
        shape = whole_tree(topology, self)
        start, end, ends = _tree_pairs(topology, sources, targets)
        steps, ways = random_steps(shape)
        levels = _levels(shape, start, end)
        counts = np.array(ways)[levels]
        total = sum(int(ways[level]) * int(many) for level, many in enumerate(np.bincount(levels)))
        check_paths(total, f"routing {self} on {topology.name}")
        pair = np.arange(len(start), dtype=np.int32).repeat(counts)
        found = _walk(topology, steps, start[pair], end[pair], places_within(counts))
        return _by_ports(replace(found, pair=pair, probability=(1 / counts)[pair]), ends)

    def drawn(
        self, topology: Topology, sources: Ints, targets: Ints, rng: np.random.Generator
    ) -> Paths:
        """Return one path of every pair of hosts."""
        shape = whole_tree(topology, self)
        start, end, ends = _tree_pairs(topology, sources, targets)
        steps, ways = random_steps(shape)
        keys = rng.integers(0, np.array(ways)[_levels(shape, start, end)])
        return _by_ports(_walk(topology, steps, start, end, keys), ends)


def random_steps(shape: TreeShape) -> tuple[Ints, list[int]]:
    """Return the steps of keys that number all ways, and how many ways there are.

    int64[3, levels] (see ``kernels.shortest_path.fill_tree_paths``). The second is of pairs that
    meet at level 0 (equal hosts), 1, 2 …

    Raises
    ------
    InputError
        If there are more ways than a number holds.
    """
    steps, ways = np.ones((3, shape.levels), np.int64), [1]
    for level in range(shape.levels):
        cables = shape.parallel[level]
        digits = [shape.parents[level], cables, cables]
        steps[:, level] = [ways[-1] * prod(digits[:kind]) for kind in range(3)]
        ways.append(ways[-1] * prod(digits))
        if ways[-1] >= 2**62:
            raise InputError("routing nca", f"{ways[-1]} ways between two hosts", "fewer")
    return steps, ways


def host_places(topology: Topology) -> Ints:
    """Return int64[num_hosts], the place of each host in the order of its tree."""
    assert isinstance(topology.family, TreeShape)
    places, host_at = np.arange(topology.num_hosts), topology.family.host_at
    if host_at is not None:
        places[host_at] = places.copy()
    return places


def _tree_pairs(topology: Topology, sources: Ints, targets: Ints) -> tuple[Ints, Ints, Legs | None]:
    """Return the places of sources and targets in a tree, and their ports if some are inside.

    A target inside the computer of its source has the place of that: their path has no hop.
    """
    place = host_places(topology)
    if topology.inside_and_out is None:
        return place[sources], place[targets], None
    ends = legs(topology, sources, targets)
    inner = topology.inner_part[ends.entry] >= 0
    return place[sources], place[np.where(inner, sources, targets)], ends


def _by_ports(found: Paths, ends: Legs | None) -> Paths:
    """Return paths with these ports if there are any."""
    return found if ends is None else ends.around(found)


_TREES: WeakKeyDictionary[Topology, tuple[Ints, ...]] = WeakKeyDictionary()


def tree_index(topology: Topology) -> tuple[Ints, ...]:
    """Return a tree as flat arrays, for the kernels: its channels by the places of their ends.

    Returns
    -------
    children, parents, parallel
        int64[levels], m, w and p (see ``TreeShape``).
    first_up
        int64[levels], the place of the first channel above each level.
    channel_at
        int32[num_channels]: the channels that lead up, level by level, in a level by the places of
        child and parent, then by cable. Behind them those that lead down in the same order. Those
        of hosts are by their ports.
    """
    if topology in _TREES:
        return _TREES[topology]
    shape = topology.family
    assert isinstance(shape, TreeShape)
    low, high = tree_ends(shape)
    widths = [shape.width(level + 1) * shape.children[level] for level in range(shape.levels)]
    sizes = np.multiply(widths, shape.parallel)
    first_up = offsets_of(sizes)[:-1]
    wanted = np.concatenate([low, high]) * topology.num_ends + np.concatenate([high, low])
    given = topology.source_end.astype(np.int64) * topology.num_ends + topology.target_end
    given[~np.isin(given, wanted)] = topology.num_ends**2  # insides of computers, behind all others
    order = np.argsort(wanted, kind="stable")
    there = np.argsort(given, kind="stable")[: len(order)]
    assert np.array_equal(wanted[order], given[there]), f"{topology.name} is not the tree it says"
    channel_at = np.empty(len(wanted), np.int32)
    beyond = there - topology.num_network_channels
    channel_at[order] = np.where(beyond < 0, there, beyond % topology.num_ports)
    m, w, p = (np.array(each) for each in (shape.children, shape.parents, shape.parallel))
    return _TREES.setdefault(topology, (m, w, p, first_up, channel_at))


def whole_tree(topology: Topology, routing: Rule) -> TreeShape:
    """Return the parameters of a network that one of these routings is asked for.

    Raises
    ------
    InputError
        If it is no fat tree, or a broken one.
    """
    shape = topology.family
    if topology.broken or not isinstance(shape, TreeShape):
        found = f"{routing} on {topology.name}"
        raise InputError("routing", found, "a whole fat tree; spread fits any network")
    return shape


def _levels(shape: TreeShape, start: Ints, end: Ints) -> Ints:
    """Return the level of the nearest common ancestor of each pair of places of hosts."""
    levels = np.zeros(len(start), np.int64)
    for children in shape.children:
        levels += start != end
        start, end = start // children, end // children
    return levels


def _walk(topology: Topology, steps: Ints, start: Ints, end: Ints, keys: Ints) -> Paths:
    """Return the path of each key (see the kernel) between places of hosts."""
    from netloom.routing.kernels.shortest_path import fill_tree_paths

    assert isinstance(topology.family, TreeShape)
    levels = np.maximum(_levels(topology.family, start, end) - 1, 0)
    offsets = offsets_of(2 * levels)
    channels, *ports = fill_tree_paths(tree_index(topology), steps, start, end, keys, offsets)
    return Paths(offsets, channels, ports=tuple(ports))


def in_one_order(topology: Topology, routing: object) -> bool:
    """Whether all paths take channels in one order, as the routing or the network sees to."""
    if isinstance(routing, UpDown | OfTrees):
        return True
    if isinstance(routing, DimensionOrder):
        return is_hyperx(topology)
    shortest = isinstance(routing, ShortestPath | Layered | Spread | Ecmp | Minimal)
    return shortest and isinstance(topology.family, TreeShape) and not topology.broken
