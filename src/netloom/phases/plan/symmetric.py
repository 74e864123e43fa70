"""Patterns that look alike from every node of a torus: whole permutations packed into phases.

All connections over one displacement, one from each node, take the same number of virtual
channels of every node and load all channels of one direction alike. So a phase is a set of such
permutations, and what was a routing problem is bin packing. All-to-all on a torus of 8x8 is 63 of
them, where the general router sees 4,032 connections.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.phases.plan.plans import Capacity, Plan
from netloom.routing import Paths

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Floats, Ints
    from netloom.models.messages import ConSetCosts
    from netloom.phases.plan.connections import Connections
    from netloom.topology import Cube

TRIES = 1_000_000
"""Moves that annealing tries for the first hundred permutations. In proportion for more."""

HEAT, PENALTY = 0.3, 1.0
"""Of annealing, in largest loads of one permutation: its temperature at first, and the price of a
virtual channel too many."""


@dataclass(frozen=True, eq=False)
class Permutations:
    """The connections of a pattern in sets that go into one phase together."""

    # The connections of each set: one from each node, or from each second one.
    members: list[Ints]
    # int64[sets, kinds], the virtual channels that each set takes of each kind of node or channel:
    # those that all sets treat alike are one kind.
    sizes: Ints
    # float64[sets, kinds], the clocks for which each set keeps a kind of channel or processor busy.
    weights: Floats
    routes: Paths  # the path of every connection


def permutations(
    given: Connections, topology: Cube, capacity: Capacity, costs: ConSetCosts, *, halved: bool
) -> Permutations | None:
    """Return a pattern's sets and their routes. None if it does not look alike from every node.

    Paths go by dimension order. Half-way round a ring they go either way, from nodes in turn.

    Parameters
    ----------
    halved
        Whether a set holds the connections of each second node, as on a chessboard. Such halves
        fill phases better. None is returned where a side is odd.
    """
    even = all(side % 2 == 0 for side in topology.sides if side > 1)
    closed = all(map(_closed, topology.sides, topology.wraps))
    alike = list(_alike(given, topology)) if closed and not len(given.before) else []
    if sum(map(len, alike)) < len(given) or (halved and not even):
        return None
    routed: list[Ints] = [np.zeros(0, np.int64)] * len(given)
    sets, held, busy = [], [], []
    colour = np.sum(np.unravel_index(given.source, topology.sides), axis=0) % 2
    for one in alike:
        hops = _paths(topology, given.source[one], int(given.target[one[0]]))
        for connection, path in zip(one.tolist(), hops, strict=True):
            routed[connection] = path
        parts = [colour[one] == 0, colour[one] == 1] if halved else [np.ones(len(one), bool)]
        for part in parts:
            sets.append(one[part])
            on_nodes, on_channels = _counts(given, topology, one[part], hops[part])
            held.append(on_nodes.sum(0) if capacity.per == "node" else on_channels)
            busy.append(_clocks(given, one[0], on_nodes[0], on_nodes[1], on_channels, costs))
    offsets = np.cumsum([0, *map(len, routed)])
    channels = np.concatenate(routed).astype(np.int32)
    sizes, weights = (  # in one layout, so that the kernel is compiled once
        np.ascontiguousarray(np.unique(rows, axis=1)) for rows in (np.array(held), np.array(busy))
    )
    return Permutations(sets, sizes, weights, Paths(offsets, channels))


def pack_permutations(
    given: Connections,
    topology: Cube,
    capacity: Capacity,
    sets: Permutations,
    num_phases: int,
    *,
    seed: int = 1,
) -> Plan | None:
    """Return a plan of so many phases that last as short as could be found. None without one.

    Sets of connections are packed into phases by simulated annealing.
    """
    from netloom.phases.kernels.packing import pack

    if num_phases > len(sets.members) or sets.sizes.max() > capacity.virtual_channels:
        return None
    unit = max(float(sets.weights.max(axis=1).mean()), 1e-9)
    rng = np.random.default_rng(seed)
    phase_of = rng.integers(0, num_phases, len(sets.members))
    excess = pack(
        sets.sizes, sets.weights / unit, capacity.virtual_channels, num_phases,
        TRIES * max(1, len(sets.members) // 100), HEAT, PENALTY, rng, phase_of,
    )  # fmt: skip
    if excess:
        return None
    phase = np.empty(len(given), np.int32)
    numbers = np.unique(phase_of, return_inverse=True)[1]
    for members, number in zip(sets.members, numbers.tolist(), strict=True):
        phase[members] = number
    return Plan(topology, given, capacity, phase, sets.routes, "symmetric")


def _closed(side: int, wraps: bool) -> bool:  # noqa: FBT001  # one of two columns
    """Whether all nodes of a dimension have the same neighbours around them."""
    return wraps or side <= 2


def _alike(given: Connections, topology: Cube) -> Iterator[Ints]:
    """Yield the connections of each displacement that start in every node, and carry as much."""
    ends = [np.array(np.unravel_index(end, topology.sides)) for end in (given.source, given.target)]
    apart = (ends[1] - ends[0]) % np.array(topology.sides)[:, None]
    by_node = np.lexsort((given.source, given.words, *apart))
    kinds = np.vstack([apart, given.words[None]])[:, by_node]
    changes = np.flatnonzero((kinds[:, 1:] != kinds[:, :-1]).any(axis=0)) + 1
    everywhere = np.arange(topology.num_hosts)
    for one in np.split(by_node, changes):
        if np.array_equal(given.source[one], everywhere):
            yield one


def _paths(topology: Cube, source: Ints, target_of_first: int) -> Ints:
    """Return int64[nodes, hops], the channels from every node over the displacement of node 0."""
    at, hops = source.astype(np.int64), []
    coordinates = np.unravel_index(at, topology.sides)
    for axis, apart in enumerate(topology.coordinates(target_of_first)):
        side = topology.sides[axis]
        falling = np.full(len(at), 2 * apart > side)
        if 2 * apart == side:
            falling = coordinates[axis] % 2 == 1
        leaving = _channel_from(topology, axis)
        for _ in range(min(apart, side - apart)):
            hops.append(leaving[falling.astype(np.int64), at])
            at = topology.channel_target[hops[-1]].astype(np.int64)
    return np.array(hops, np.int64).reshape(-1, len(at)).T


def _channel_from(topology: Cube, axis: int) -> Ints:
    """Return int64[2, nodes], the channel that leaves each node in each direction; -1: none."""
    leaving = np.full((2, topology.num_hosts), -1, np.int64)
    lines = topology.num_hosts // topology.sides[axis]
    for direction in range(2):
        first = topology.line_base[axis, direction]
        channels = np.arange(first, first + lines * topology.line_channels[axis])
        leaving[direction, topology.channel_source[channels]] = channels
    return leaving


def _counts(given: Connections, topology: Cube, one: Ints, hops: Ints) -> tuple[Ints, Ints]:
    """Return the sends, arrivals and passages at each node, and the connections on each channel."""
    nodes = topology.num_hosts
    ends = [np.bincount(end[one], minlength=nodes) for end in (given.source, given.target)]
    between = np.bincount(topology.channel_target[hops[:, :-1]].ravel(), minlength=nodes)
    on_channels = np.bincount(hops.ravel(), minlength=topology.num_channels)
    return np.array([*ends, between]), on_channels


def _clocks(
    given: Connections,
    one: np.int64,
    sends: Ints,
    arrivals: Ints,
    on_channels: Ints,
    costs: ConSetCosts,
) -> Floats:
    """Return the clocks for which processors, then channels, are busy with a set's words."""
    ends = [sends, arrivals] if costs.both_ways else [sends + arrivals]
    access = np.concatenate(ends) * costs.clocks_per_word
    clocks = np.concatenate([access, on_channels * costs.channel_clocks_per_word])
    return np.asarray(clocks * given.words[one], np.float64)
