"""OpenSM's ftree: routing of full trees, free of contention for shifts."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.forwarding.end_points import channels_by_port, end_points
from netloom.routing.forwarding.opensm import hops_from, told
from netloom.routing.kernels.fat_tree import COLUMNS, TO_EQUAL, TO_LOWER, TO_UPPER

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Ints
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology

LEVELS = (2, 8)
"""Fewest and most levels of switches."""
MOST_PLACES = 255
"""Most routers that differ in one digit of their place."""


@dataclass(frozen=True, eq=False)
class _Tree:
    """The levels of a tree, and its routers in their order.

    Attributes
    ----------
    level
        int64[num_routers], hops from the roots. The number of routers where there is no way.
    groups
        By router and kind, the numbers of its groups of cables, in the order of the tree.
    neighbour, cables
        By group, the router at the other end, and the channels that enter from there, by port.
    place
        int64[num_routers], the place of each router in the order of the tree.
    leaves
        The routers of the lowest level from the first to the last that has adapters, in order.
    """

    level: Ints
    groups: tuple[list[list[int]], ...]
    neighbour: list[int]
    cables: list[list[int]]
    place: Ints
    leaves: list[int]


def ftree(topology: Topology) -> ForwardingTable:
    """Return the table of OpenSM's engine for full trees, entry for entry.

    Destinations are taken leaf by leaf and port by port. Ways down to them use the cables in turn,
    and so do ways up. Leaves with fewer adapters than the fullest count as if they had as many.
    On a full tree no shift of all hosts shares a cable.

    Raises
    ------
    InputError
        If the network is not a full tree: OpenSM falls back to ``minhop`` there.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> ftree(topology("fat-tree:2x2")).next_channel[:, 0].tolist()
    [-1, -1, 0, 1]
    """
    from netloom.routing.kernels.fat_tree import tree_table

    tree = _tree_of(topology)
    if isinstance(tree, str):
        found = f"{topology.name}, where {tree}, so that OpenSM configures minhop"
        raise InputError("routing ftree", found, "a full tree; or minhop itself")
    ends = end_points(topology)
    order, at = _in_turn(topology, tree)
    table = tree_table(order, at, ends.num_apart, _flat(topology, tree), len(ends.exit))
    return told("ftree", table, ends)


def ftree_falls_back(topology: Topology) -> str:
    """Return why OpenSM would configure minhop instead of ftree. Empty if it would not."""
    tree = _tree_of(topology)
    return tree if isinstance(tree, str) else ""


def _tree_of(topology: Topology) -> _Tree | str:
    """Return the tree that a network is, or why it is none."""
    ends, routers = end_points(topology), topology.num_routers
    adapters = np.bincount(ends.exit[: ends.num_apart], minlength=routers)
    others = 0 if topology.cabling is None else len(topology.cabling.others)
    if topology.cabling is not None and topology.cabling.lmc.any():
        return "ports have several LIDs (LMC above 0)"
    if routers < 2 or topology.num_hosts + others < 2:
        return "there are fewer than two switches or adapters"
    height = hops_from(topology, np.flatnonzero(adapters))
    known = height < routers
    level = hops_from(topology, np.flatnonzero(known & (height == height[known].max())))
    known = level < routers
    lowest = int(level[known].max())
    if lowest == 0 and routers > 1 and adapters[known].all():
        counted = ", aggregation nodes counted" if others else ""
        return f"every switch has adapters{counted}"
    if not LEVELS[0] <= lowest + 1 <= LEVELS[1]:
        levels = f"{lowest + 1} level" + "s" * (lowest > 0)
        return f"switches are on {levels} and not on {LEVELS[0]} to {LEVELS[1]}"
    for router in ends.routers[adapters[ends.routers] > 0].tolist():
        if level[router] != lowest:
            name = topology.name_of(topology.router_vertex(router))
            return f"adapters hang on switch {name}, above the lowest level"
    return _indexed(topology, level, lowest, adapters)


def _indexed(topology: Topology, level: Ints, lowest: int, adapters: Ints) -> _Tree | str:
    """Return the tree with its routers in order, or why it is not full."""
    order = [each for each in end_points(topology).routers.tolist() if level[each] < len(level)]
    groups, neighbour, cables = _groups(topology, level)
    tuples = _tuples(level, lowest, adapters, order, (groups, neighbour))
    if tuples is None:
        return f"more than {MOST_PLACES} switches differ in one digit of their place"
    last = (MOST_PLACES,) * len(next(iter(tuples.values())))
    in_order = sorted(range(len(level)), key=lambda router: (tuples.get(router, last), router))
    place = np.empty(len(level), np.int64)
    place[in_order] = np.arange(len(level))
    for kind in (TO_UPPER, TO_LOWER):
        for members in groups[kind]:
            members.sort(key=lambda group: place[neighbour[group]])
    floor = [router for router in in_order if level[router] == lowest]
    used = [number for number, router in enumerate(floor) if adapters[router]]
    if len(used) < 2:
        return "fewer than two switches have adapters"
    tree = _Tree(level, groups, neighbour, cables, place, floor[used[0] : used[-1] + 1])
    return _unlike(topology, tree, order, lowest) or tree


def _groups(
    topology: Topology, level: Ints
) -> tuple[tuple[list[list[int]], ...], list[int], list[list[int]]]:
    """Return each router's groups by kind, in order of their first ports, and what they are."""
    source = topology.routers.channel_source.tolist()
    offsets, channels = channels_by_port(topology)
    groups: tuple[list[list[int]], ...] = tuple([[] for _ in level] for _ in range(3))
    neighbour: list[int] = []
    cables: list[list[int]] = []
    for router in range(len(level)):
        found: dict[int, list[int]] = {}
        for channel in channels[offsets[router] : offsets[router + 1]].tolist():
            if source[channel] != router:
                found.setdefault(source[channel], []).append(channel)
        for other, entering in found.items():
            step = int(level[other]) - int(level[router])
            kind = TO_UPPER if step < 0 else TO_LOWER if step > 0 else TO_EQUAL
            groups[kind][router].append(len(neighbour))
            neighbour.append(other)
            cables.append(entering)
    return groups, neighbour, cables


def _tuples(
    level: Ints,
    lowest: int,
    adapters: Ints,
    order: list[int],
    wiring: tuple[tuple[list[list[int]], ...], list[int]],
) -> dict[int, tuple[int, ...]] | None:
    """Return the digits that OpenSM gives routers, the level first. None where it runs out of them.

    From the first leaf on, breadth first. A router's neighbour on the level below or above differs
    from it in the level and in one digit, for which the lowest free value is taken.
    """
    groups, neighbour = wiring
    start = next(router for router in order if level[router] == lowest and adapters[router])
    tuples = {start: (lowest,) + (0,) * lowest}
    taken = {tuples[start]}
    free: dict[tuple[int, ...], int] = {}
    queue = deque([start])
    while queue:
        router = queue.popleft()
        own = tuples[router]
        for kind, step in ((TO_LOWER, 1), (TO_UPPER, -1)):
            for group in groups[kind][router]:
                other = neighbour[group]
                if other in tuples:
                    continue
                digit = own[0] + max(step, 0)
                rest = (own[0] + step, *own[1:digit], -1, *own[digit + 1 :])
                value = free.get(rest, 0)
                while (given := (*rest[:digit], value, *rest[digit + 1 :])) in taken:
                    value += 1
                if value >= MOST_PLACES:
                    return None
                free[rest], tuples[other] = value + 1, given
                taken.add(given)
                queue.append(other)
    return tuples


def _unlike(topology: Topology, tree: _Tree, order: list[int], lowest: int) -> str:
    """Return in what a switch differs from the first of its level. Empty if none does.

    As OpenSM compares them: all groups above with the first switch's first, the first group below
    with the first switch's first.
    """
    first: dict[int, int] = {}
    for router in order:
        rank = int(tree.level[router])
        model = first.setdefault(rank, router)
        for kind, words in ((TO_UPPER, "above"), (TO_LOWER, "below")):
            own, expected = tree.groups[kind][router], tree.groups[kind][model]
            if router == model or (kind == TO_LOWER and rank == lowest):
                continue
            name, other = (
                topology.name_of(topology.router_vertex(each)) for each in (router, model)
            )
            if len(own) != len(expected):
                said = f"{len(own)} switches {words} it and {other} has {len(expected)}"
                return f"switch {name} has {said}"
            some = own if kind == TO_UPPER else own[:1]
            sizes = {len(tree.cables[group]) for group in some}
            wanted = {len(tree.cables[group]) for group in expected[:1]}
            if sizes - wanted:
                said = f"{max(sizes - wanted)} cables to a switch {words} it and {other}"
                return f"switch {name} has {said} has {max(wanted)}"
    return ""


def _in_turn(topology: Topology, tree: _Tree) -> tuple[Ints, Ints]:
    """Return the end points in the order in which they are routed, and their routers.

    Leaf by leaf, by port; -1 for each adapter that a leaf has less than the fullest. Then the
    routers themselves.
    """
    ends = end_points(topology)
    own: list[list[int]] = [[] for _ in tree.level]
    for end in ends.order[: ends.num_apart].tolist():
        own[ends.exit[end]].append(end)
    most = max(len(own[leaf]) for leaf in tree.leaves)
    order: list[int] = []
    at: list[int] = []
    for leaf in tree.leaves:
        order += own[leaf] + [-1] * (most - len(own[leaf]))
        at += [leaf] * most
    known = [each for each in ends.routers.tolist() if tree.level[each] < len(tree.level)]
    order += [ends.num_apart + each for each in known]
    return np.array(order, np.int64), np.array(at + known, np.int64)


def _flat(topology: Topology, tree: _Tree) -> tuple[NDArray[np.generic], ...]:
    """Return the arrays of the kernel (see ``kernels.fat_tree``)."""
    count, channels = len(tree.neighbour), topology.num_network_channels
    sizes = [[len(members) for members in kind] for kind in tree.groups]
    bounds = np.append(0, np.cumsum(np.array(sizes).ravel()))
    routers = len(tree.level)
    offsets = np.stack([bounds[kind * routers : (kind + 1) * routers + 1] for kind in range(3)])
    members = [group for kind in tree.groups for own in kind for group in own]
    firsts = np.append(0, np.cumsum([len(entering) for entering in tree.cables]))
    ends = end_points(topology)
    adapters = np.bincount(ends.exit[: ends.num_apart], minlength=routers) > 0
    return (
        offsets.astype(np.int64), np.array(members, np.int32), np.array(tree.neighbour, np.int32),
        firsts.astype(np.int64), np.array([c for own in tree.cables for c in own], np.int32),
        np.zeros(count, np.int64), np.zeros(channels, np.int64),
        np.zeros(count, np.int64), np.zeros(channels, np.int64),
        tree.place, tree.level, adapters,
        np.empty(routers, np.int32), np.empty(routers, np.int64),
        np.empty((2 * routers + 32, COLUMNS), np.int64),
    )  # fmt: skip
