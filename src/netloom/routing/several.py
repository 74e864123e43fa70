"""Routings by ways with choices: all shortest paths, through groups, or any way round.

Valiant & Brebner, *Universal schemes for parallel communication*, 1981. Kim, Dally, Scott & Abts,
*Technology-driven, highly-scalable dragonfly topology*, 2008.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, NamedTuple, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.hosted import legs, spliced
from netloom.routing.ragged import Paths, offsets_of
from netloom.routing.ways import (
    DIGITS,
    DRAWN,
    JOINED,
    WHOLE,
    Ways,
    dimensions,
    group_ways,
    ordered_ways,
    shortest_ways,
    usual_ways,
)
from netloom.topology.faults import working_nodes

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Ints
    from netloom.routing.dimension_order import DimensionOrder
    from netloom.topology import Topology

    Hosts: TypeAlias = tuple[Ints, Ints]

MOST_PATHS = 2**24
"""Most paths that are listed."""

MOST_HOPS = 2**28
"""Most hops that these have, a gigabyte."""


@dataclass(frozen=True)
class Minimal:
    """Any shortest path: at every router, each channel that leads one hop nearer is as likely.

    Of parallel channels each counts. Hops are those between routers. That is how packets spread
    if each router picks at random among the ports of its shortest-path table. Paths of one pair
    need not be equally likely.
    """

    several: ClassVar[bool] = True

    def __str__(self) -> str:
        return "minimal"


@dataclass(frozen=True)
class MinimalGroup:
    """On a dragonfly, local, global, local: by a direct link between the two groups.

    Of several such ways the shortest, of several of these one by the target's number: as digits,
    the lowest first, it picks among equal channels hop by hop. So several links between two groups
    share the targets. Within a group packets stay there. On a dragonfly+ they go up to a spine
    and down again at either side.
    """

    several: ClassVar[bool] = False

    def __str__(self) -> str:
        return "minimal-group"


@dataclass(frozen=True)
class Valiant:
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

    def direct(self, entry: Ints, leave: Ints) -> Bools:
        """Return which pairs of routers draw nothing: equal ones, or those of one group."""
        if self.to_group:
            return np.asarray(self.ways.group[entry] == self.ways.group[leave])
        return np.asarray(entry == leave)


def listed(
    ways: Ways,
    sources: Ints,
    goals: Ints,
    *,
    to_group: bool = False,
    hosts: Hosts | None = None,
    where: str,
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
    hops, many = measure_ways(ways, by_goal, sources, goals, to_group)
    offsets_of(hops, *(hosts or (sources, goals)), JOINED)
    check_paths(many.sum(), where, hops=(many * hops).sum())
    counts = many.astype(np.int64)
    pair = np.repeat(np.arange(len(sources), dtype=np.int32), counts)
    offsets = np.append(0, np.cumsum(hops[pair], dtype=np.int64))
    first_path = np.append(0, np.cumsum(counts))
    channels, chance = list_paths(ways, by_goal, sources, goals, to_group, first_path, offsets)
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
    to_group: bool = False,
    hosts: Hosts | None = None,
    pick: int,
) -> Paths:
    """Return one path of each pair of routers: each pair's number picks among equal channels.

    ``hosts`` are as in ``listed``.

    ``pick`` is WHOLE, DIGITS or DRAWN: see ``kernels.several.walk_paths``.

    Raises
    ------
    NoRouteError
        If there is no path.
    """
    from netloom.routing.kernels.several import hops_to_goals, walk_paths

    by_goal = np.argsort(goals, kind="stable")
    hops = hops_to_goals(ways, by_goal, sources, goals, to_group)
    offsets = offsets_of(hops, *(hosts or (sources, goals)), JOINED)
    channels = walk_paths(ways, by_goal, sources, goals, to_group, numbers, pick, offsets)
    return Paths(offsets, channels)


def minimal_ways(topology: Topology) -> Ways:
    """Return all shortest paths between the routers of a network."""
    return shortest_ways(topology.routers)


def ways_of(topology: Topology, routing: Minimal | MinimalGroup | DimensionOrder) -> Ways:
    """Return the ways between routers by a routing.

    Raises
    ------
    InputError
        If the routing does not fit the network.
    """
    if isinstance(routing, Minimal):
        return minimal_ways(topology)
    if isinstance(routing, MinimalGroup):
        return group_ways(topology, str(routing))
    if topology.broken:
        found = f"'{routing}' on {topology.name}"
        raise InputError("routing", found, "spread or another that goes round what is broken")
    return ordered_ways(topology, routing.order)


def detour(topology: Topology, routing: Valiant) -> Detour:
    """Return how packets travel under a routing.

    Raises
    ------
    InputError
        If the network has no groups, and these are wanted, or no router to go by way of.
    """
    goals = host_routers(topology)
    if not len(goals):
        found = f"{routing} on {topology.name}, where packets enter and leave by different routers"
        raise InputError("routing", found, "routers by which packets enter and leave")
    if routing.over == "groups":
        ways = group_ways(topology, str(routing))
        return Detour(ways, np.unique(ways.group[goals]), to_group=True)
    return Detour(usual_ways(topology), goals, to_group=False)


def host_routers(topology: Topology) -> Ints:
    """Return the routers that packets can enter and leave for hosts, int32[], ascending."""
    if topology.direct:
        return working_nodes(topology)
    return np.intersect1d(topology.injection_router, topology.ejection_router)


def several_paths(topology: Topology, routing: Several, sources: Ints, targets: Ints) -> Paths:
    """Return all paths of every pair of hosts, with their probabilities (see ``paths``).

    Raises
    ------
    InputError
        If there are more than ``MOST_PATHS``.
    NoRouteError
        If a pair has no path.
    """
    ends, hosts = legs(topology, sources, targets), (sources, targets)
    where = f"{routing} on {topology.name}"
    if isinstance(routing, Minimal):
        ways = ways_of(topology, routing)
        found = listed(ways, ends.entry, ends.exit, hosts=hosts, where=where)
    else:
        found = _listed_detours(detour(topology, routing), ends.entry, ends.exit, hosts, where)
    return spliced(ends, found)


def drawn_paths(
    topology: Topology, routing: Several, sources: Ints, targets: Ints, rng: np.random.Generator
) -> Paths:
    """Return one path of every pair of hosts, drawn with its probability (see ``draw_paths``).

    Raises
    ------
    NoRouteError
        If a pair has no path.
    """
    ends, hosts = legs(topology, sources, targets), (sources, targets)
    numbers = rng.integers(0, 2**62, (3, len(sources)))
    if isinstance(routing, Minimal):
        ways = ways_of(topology, routing)
        found = walked(ways, ends.entry, ends.exit, numbers[0], hosts=hosts, pick=DRAWN)
        return spliced(ends, found)
    trip = detour(topology, routing)
    straight = trip.direct(ends.entry, ends.exit)
    own = trip.ways.group[ends.entry] if trip.to_group else ends.exit
    goals = np.where(straight, own, trip.goals[numbers[1] % len(trip.goals)])
    there = walked(
        trip.ways, ends.entry, goals, numbers[0],
        to_group=trip.to_group, hosts=hosts, pick=DRAWN,
    )  # fmt: skip
    begin = ends_of(trip.ways, there, ends.entry)
    back = walked(trip.ways, begin, ends.exit, numbers[2], hosts=hosts, pick=DRAWN)
    return spliced(ends, joined(there, back))


def single_paths(
    topology: Topology, routing: MinimalGroup | DimensionOrder, sources: Ints, targets: Ints
) -> Paths:
    """Return the path of every pair of hosts, where targets share equal channels (see ``paths``).

    Raises
    ------
    InputError
        If the routing does not fit the network.
    NoRouteError
        If a pair has no path.
    """
    ends, ways = legs(topology, sources, targets), ways_of(topology, routing)
    numbers, pick = target_numbers(topology, routing)
    hosts = sources, targets
    found = walked(ways, ends.entry, ends.exit, numbers[targets], hosts=hosts, pick=pick)
    return spliced(ends, found)


def target_numbers(topology: Topology, routing: MinimalGroup | DimensionOrder) -> tuple[Ints, int]:
    """Return the number by which each target picks among equal channels, and how it does.

    On a dragonfly a host's own number, by its digits. On a HyperX (the sum of its router's
    coordinates + its place among the router's hosts) modulo the lanes. So the targets that a hop
    leads to share its lanes, whichever coordinates they have in common.
    """
    if isinstance(routing, MinimalGroup):
        return np.arange(topology.num_hosts), DIGITS
    router = np.arange(topology.num_hosts)
    if not topology.direct:
        router[topology.port_host[::-1]] = topology.ejection_router[::-1]
    order = np.argsort(router, kind="stable")
    place = np.empty(len(router), np.int64)
    place[order] = np.arange(len(router)) - np.searchsorted(router[order], router[order])
    return place + np.sum(np.unravel_index(router, dimensions(topology)), axis=0), WHOLE


def ends_of(ways: Ways, paths: Paths, sources: Ints) -> Ints:
    """Return the router where each path ends, given where it begins."""
    found = sources.copy()
    moved = np.flatnonzero(paths.lengths)
    found[moved] = ways.target[paths.channels[paths.offsets[moved + 1] - 1]]
    return found


def joined(first: Paths, second: Paths) -> Paths:
    """Return paths that consist of two parts each, part by part of the same number."""
    offsets = first.offsets + second.offsets
    channels = np.empty(offsets[-1], np.int32)
    for part, before in ((first, second.offsets[:-1]), (second, first.offsets[1:])):
        place = np.repeat(before, part.lengths)
        channels[np.arange(len(part.channels)) + place] = part.channels
    return Paths(offsets, channels)


def _listed_detours(trip: Detour, entry: Ints, leave: Ints, hosts: Hosts, where: str) -> Paths:
    """Return all ways by way of all goals: every first part with every second one that follows."""
    straight = trip.direct(entry, leave)
    own = trip.ways.group[entry] if trip.to_group else leave
    counts = np.where(straight, 1, len(trip.goals))
    check_paths(counts.sum(), where)
    pair = np.repeat(np.arange(len(entry), dtype=np.int32), counts)
    drawn = np.arange(len(pair)) - np.repeat(np.cumsum(counts) - counts, counts)
    goals = np.where(straight[pair], own[pair], trip.goals[drawn]).astype(np.int32)
    there = listed(
        trip.ways, entry[pair], goals,
        to_group=trip.to_group, hosts=(hosts[0][pair], hosts[1][pair]), where=where,
    )  # fmt: skip
    assert there.pair is not None
    assert there.probability is not None
    begun = pair[there.pair]
    back = listed(
        trip.ways, ends_of(trip.ways, there, entry[begun]), leave[begun],
        hosts=(hosts[0][begun], hosts[1][begun]), where=where,
    )  # fmt: skip
    assert back.pair is not None
    assert back.probability is not None
    found = joined(there.taken(back.pair), back)
    chance = (there.probability / counts[begun])[back.pair] * back.probability
    return Paths(found.offsets, found.channels, begun[back.pair], chance)


def check_fits(topology: Topology, routing: Several | MinimalGroup | DimensionOrder) -> None:
    """Raise InputError if a routing does not fit a network."""
    if isinstance(routing, Valiant):
        detour(topology, routing)
    else:
        ways_of(topology, routing)
