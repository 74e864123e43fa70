"""Routings by which a pair of hosts has several paths, each with its probability.

Between routers, packets take ways with choices: all channels that lead one hop nearer to the goal
and that the routing allows are equally good. ``Ways`` holds what the kernels need to know of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from netloom.errors import InputError
from netloom.routing.hosted import Legs, legs, spliced
from netloom.routing.ragged import Paths, offsets_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.topology import Topology

MOST_PATHS = 2**24
"""Most paths that are listed."""

JOINED = "a connected network"


@dataclass(frozen=True)
class Minimal:
    """Any shortest path: at every router, each channel that leads one hop nearer is as likely.

    Of parallel channels each counts. Hops are those between routers. That is how packets spread
    if each router picks at random among the ports of its shortest-path table; paths of one pair
    need not be equally likely.
    """

    several: ClassVar[bool] = True

    def __str__(self) -> str:
        return "minimal"


class Ways(NamedTuple):
    """Which channels lead packets on, as flat arrays.

    Packets take shortest paths by the channels that they may use, and of several channels that
    lead one hop nearer one of the lowest rank.

    Attributes
    ----------
    group
        int32[num_routers], the group of each router. A channel may be used if it stays in its
        group, enters the group of the goal, or enters group 0.
    rank
        int32[num_channels], the rank of each channel.
    source, target
        int32[num_channels], the routers that each channel leaves and enters.
    in_offsets, in_channels, out_offsets, out_channels
        The channels that enter and leave each router (see ``Topology.incoming``).
    """

    group: NDArray[np.int32]
    rank: NDArray[np.int32]
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    in_offsets: NDArray[np.int64]
    in_channels: NDArray[np.int32]
    out_offsets: NDArray[np.int64]
    out_channels: NDArray[np.int32]


def minimal_ways(topology: Topology) -> Ways:
    """Return all shortest paths between the routers of a network."""
    return port_ways(topology.routers)


def port_ways(topology: Topology) -> Ways:
    """Return all shortest paths between the vertices of a network, of which hosts never forward.

    Each host is a group of its own. So packets may use any port of a host.
    """
    group = np.zeros(topology.num_vertices, np.int32)
    if not topology.direct:
        group[: topology.num_hosts] = np.arange(1, topology.num_hosts + 1)
    return Ways(
        group, np.zeros(topology.num_channels, np.int32),
        topology.channel_source, topology.channel_target,
        *topology.incoming(), *topology.outgoing(),
    )  # fmt: skip


def router_ends(topology: Topology, sources: NDArray[np.int32], targets: NDArray[np.int32]) -> Legs:
    """Return ``legs``; in a direct network without ports, where hosts are routers.

    Raises
    ------
    NoRouteError
        If a host has no port.
    """
    if not topology.direct:
        return legs(topology, sources, targets)
    none = np.full(len(sources), -1, np.int32)
    return Legs(none, none, sources, targets)


def several_paths(
    topology: Topology, routing: Minimal, sources: NDArray[np.int32], targets: NDArray[np.int32]
) -> Paths:
    """Return all paths of every pair of hosts, with their probabilities (see ``paths``).

    Raises
    ------
    InputError
        If there are more than ``MOST_PATHS``.
    NoRouteError
        If a pair has no path.
    """
    ends = router_ends(topology, sources, targets)
    where = f"{routing} on {topology.name}"
    return spliced(ends, listed(minimal_ways(topology), ends.entry, ends.exit, where=where))


def drawn_paths(
    topology: Topology,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    rng: np.random.Generator,
) -> Paths:
    """Return one path of every pair of hosts, drawn with its probability (see ``draw_paths``).

    Raises
    ------
    NoRouteError
        If a pair has no path.
    """
    ends = router_ends(topology, sources, targets)
    numbers = rng.integers(0, 2**62, len(sources))
    return spliced(ends, walked(minimal_ways(topology), ends.entry, ends.exit, numbers, drawn=True))


def listed(
    ways: Ways,
    sources: NDArray[np.int32],
    goals: NDArray[np.int32],
    *,
    to_group: bool = False,
    where: str,
) -> Paths:
    """Return all paths from routers to routers, or to the first router of a group.

    Raises
    ------
    InputError
        If there are more than ``MOST_PATHS``, naming ``where``.
    NoRouteError
        If there is no path.
    """
    from netloom.routing.kernels.several import list_paths, measure_ways

    by_goal = np.argsort(goals, kind="stable")
    hops, many = measure_ways(ways, by_goal, sources, goals, to_group)
    offsets_of(hops, sources, goals, JOINED)
    if many.sum() > MOST_PATHS:
        found = f"{many.sum():,.0f} paths"
        raise InputError(where, found, f"at most {MOST_PATHS:,} to list; fewer pairs, or a drawing")
    counts = many.astype(np.int64)
    pair = np.repeat(np.arange(len(sources), dtype=np.int32), counts)
    offsets = np.append(0, np.cumsum(hops[pair], dtype=np.int64))
    first_path = np.append(0, np.cumsum(counts))
    channels, chance = list_paths(ways, by_goal, sources, goals, to_group, first_path, offsets)
    return Paths(offsets, channels, pair, chance)


def walked(
    ways: Ways,
    sources: NDArray[np.int32],
    goals: NDArray[np.int32],
    numbers: NDArray[np.int64],
    *,
    to_group: bool = False,
    drawn: bool = False,
) -> Paths:
    """Return one path of each pair of routers: each pair's number picks among equal channels.

    See ``kernels.several.walk_paths``.

    Raises
    ------
    NoRouteError
        If there is no path.
    """
    from netloom.routing.kernels.several import measure_ways, walk_paths

    by_goal = np.argsort(goals, kind="stable")
    hops, _ = measure_ways(ways, by_goal, sources, goals, to_group)
    offsets = offsets_of(hops, sources, goals, JOINED)
    channels = walk_paths(ways, by_goal, sources, goals, to_group, numbers, drawn, offsets)
    return Paths(offsets, channels)
