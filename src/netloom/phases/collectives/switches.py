"""Switches split off: a network of ranks alone that can do as much, and what its links stand for.

Capacity of a way u → w → t through a switch w becomes a link u → t, as much as no rank misses.
After that the switch has no links. If switches have as much capacity in as out, this never gets
stuck (Bang-Jensen, Frank & Jackson, *Preserving and increasing local edge-connectivity in mixed
graphs*, SIAM J. Discrete Math. 8, 1995; ForestColl, 2024, uses it so).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.phases.collectives.kernels.trees import movable

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.phases.collectives.network import RankNetwork
    from netloom.phases.collectives.optimum import Optimum

MOST_VERTICES = 2048
"""Capacities between all vertices are a table of so many rows at most."""

Shares: TypeAlias = dict[tuple[int, int], list[tuple[int, tuple[int, ...]]]]
"""By source and target: how much each way carries, and the links of the network that it takes."""


@dataclass(frozen=True, eq=False)
class Ways:
    """Links between ranks, and the ways through switches that each stands for.

    Attributes
    ----------
    capacity
        int64[num_ranks, num_ranks], in units of one tree's bandwidth.
    ways
        What its links stand for.
    """

    capacity: Ints
    ways: Shares


def graph_of(vertices: int, arcs: int, kinds: int = 4) -> tuple[Any, ...]:
    """Return room for a graph of so many vertices and arcs, as the kernels take it."""
    return (
        np.full(vertices, -1, np.int32), np.zeros(2 * arcs, np.int32), np.zeros(2 * arcs, np.int32),
        np.zeros(2 * arcs, np.int64), np.zeros(2 * arcs, np.int64),
        np.zeros((kinds, vertices), np.int32),
    )  # fmt: skip


def split_off(network: RankNetwork, capacity: Ints, trees: Ints) -> Ways:
    """Return links between ranks that carry as many trees as the network with its switches does.

    Parameters
    ----------
    network
        The ranks, switches and links.
    capacity
        int64[num_links], trees that each link carries.
    trees
        int64[num_ranks], trees of each root.

    Raises
    ------
    InputError
        If a switch has not as much capacity in as out, or the network is too large.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> star = rank_network(topology("leaf-spine:1x1x3"))
    >>> found = split_off(star, star.capacity * 2, np.ones(3, np.int64))
    >>> found.capacity.sum(axis=0)
    array([2, 2, 2])
    """
    if network.num_vertices > MOST_VERTICES:
        found = f"{network.num_vertices} ranks and switches"
        raise InputError(network.topology.name, found, f"at most {MOST_VERTICES} for exact trees")
    left = np.zeros((network.num_vertices,) * 2, np.int64)
    left[network.source, network.target] = capacity
    ends = zip(network.source.tolist(), network.target.tolist(), capacity.tolist(), strict=True)
    ways: Shares = {(u, v): [(most, (link,))] for link, (u, v, most) in enumerate(ends) if most}
    room = graph_of(network.num_vertices + 1, 4 * network.num_links + 64 + network.num_ranks)
    for switch in range(network.num_ranks, network.num_vertices):
        _check_even(network, left, switch)  # of all before the first, which needs it of the others
    for switch in range(network.num_ranks, network.num_vertices):
        for after in np.flatnonzero(left[switch]).tolist():
            before = np.flatnonzero(left[:, switch]).tolist()
            for each in sorted(before, key=lambda vertex: vertex == after):  # itself last
                most = min(left[each, switch], left[switch, after])
                if most == 0:
                    continue
                arcs = int((left > 0).sum()) + network.num_ranks + 8
                if 2 * arcs > len(room[1]):
                    room = graph_of(network.num_vertices + 1, 2 * arcs)
                moved = int(movable(left, trees, switch, after, each, most, room))
                if moved:
                    _move(left, ways, each, switch, after, moved)
            assert left[switch, after] == 0, "a switch that cannot be split off"
    ranks = network.num_ranks
    return Ways(left[:ranks, :ranks].copy(), ways)


def tree_units(found: Optimum, trees: int | None = None) -> tuple[Ints, int]:
    """Return what each link carries in trees, int64[num_links], and the trees of a weight of 1.

    With more trees than the least number, or fewer, capacities are rounded down if need be.
    """
    many = found.trees if trees is None else trees
    per_tree = found.rate / many
    units = [int(each / per_tree) for each in found.network.capacity.tolist()]
    return np.array(units, np.int64), many


def _check_even(network: RankNetwork, left: Ints, switch: int) -> None:
    enters, leaves = int(left[:, switch].sum()), int(left[switch].sum())
    if enters != leaves:
        found = f"switch {network.name_of(switch)} with {enters} in and {leaves} out"
        wanted = "as much bandwidth into each switch as out of it"
        raise InputError(network.topology.name, found, wanted)


def _move(
    left: Ints,
    ways: Shares,
    before: int,
    through: int,
    after: int,
    moved: int,
) -> None:
    """Make a link of so much of the ways through a switch. A way back to its start is dropped."""
    left[before, through] -= moved
    left[through, after] -= moved
    into, out_of = ways[before, through], ways[through, after]
    if before != after:
        left[before, after] += moved
    while moved:
        (most_in, way_in), (most_out, way_out) = into.pop(), out_of.pop()
        most = min(most_in, most_out, moved)
        if most_in > most:
            into.append((most_in - most, way_in))
        if most_out > most:
            out_of.append((most_out - most, way_out))
        if before != after:
            ways.setdefault((before, after), []).append((most, way_in + way_out))
        moved -= most
