"""Routings of fat trees: up to where source and target meet, by a rule, and down again.

The trees are extended generalized fat trees with parallel links (``TreeShape``). The way down is
unique but for parallel cables. A rule says which parent and which cable to take up. These routings
are free of deadlock on one virtual channel: every path first takes channels that lead up, level by
level, and then only channels that lead down.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.ragged import Paths
from netloom.topology.families.trees import tree_links
from netloom.topology.family import TreeShape

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.topology import Topology

MOST_PATHS = 2**24
"""Most paths that are listed where pairs have several."""


@dataclass(frozen=True)
class DModK:
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

    several: ClassVar[bool] = False

    def __str__(self) -> str:
        return "d-mod-k"


@dataclass(frozen=True)
class SModK:
    """S-mod-k: as ``DModK``, with the place of the source instead of that of the target."""

    several: ClassVar[bool] = False

    def __str__(self) -> str:
        return "s-mod-k"


@dataclass(frozen=True)
class RandomUp:
    """Up a fat tree by any port, each as likely, to a nearest common ancestor. Down again.

    Of parallel cables on the way down each is as likely, too.
    """

    several: ClassVar[bool] = True

    def __str__(self) -> str:
        return "nca"


class TreeIndex(NamedTuple):
    """A tree as flat arrays, for the kernels.

    Attributes
    ----------
    children, parents, parallel
        int64[levels], m, w and p (see ``TreeShape``).
    first_up
        int64[levels], the place of the first channel above each level.
    channel_at
        int32[num_channels]: the channels that lead up, level by level, in a level by the places of
        child and parent, then by cable. Behind them those that lead down in the same order.
    """

    children: Ints
    parents: Ints
    parallel: Ints
    first_up: Ints
    channel_at: Ints


def tree_paths(
    topology: Topology,
    routing: DModK | SModK | RandomUp,
    sources: Ints,
    targets: Ints,
) -> Paths:
    """Return the paths of every pair of hosts, ports of the hosts included (see ``paths``).

    Raises
    ------
    InputError
        If the network is no whole fat tree, or more than ``MOST_PATHS`` paths would be listed.
    """
    shape = whole_tree(topology, routing)
    start, end = host_places(topology)[sources], host_places(topology)[targets]
    if not isinstance(routing, RandomUp):
        below = np.array([prod(shape.parents[:level]) for level in range(shape.levels + 1)])
        steps = np.stack([below[:-1], below[1:], below[1:]])
        keys = end if isinstance(routing, DModK) else start
        return _walk(topology, steps, start, end, keys)
    steps, ways = random_steps(shape)
    levels = _levels(shape, start, end)
    counts = np.array(ways)[levels]
    total = sum(int(ways[level]) * int(many) for level, many in enumerate(np.bincount(levels)))
    if total > MOST_PATHS:
        where = f"routing {routing} on {topology.name}"
        raise InputError(where, f"{total:,} paths", f"at most {MOST_PATHS:,} to list")
    pair = np.arange(len(start), dtype=np.int32).repeat(counts)
    keys = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts)
    found = _walk(topology, steps, start[pair], end[pair], keys)
    return Paths(found.offsets, found.channels, pair, (1 / counts)[pair])


def drawn_up(
    topology: Topology,
    sources: Ints,
    targets: Ints,
    rng: np.random.Generator,
) -> Paths:
    """Return one path of each pair of hosts, drawn as ``RandomUp`` says.

    Raises
    ------
    InputError
        If the network is no whole fat tree.
    """
    shape = whole_tree(topology, RandomUp())
    start, end = host_places(topology)[sources], host_places(topology)[targets]
    steps, ways = random_steps(shape)
    keys = rng.integers(0, np.array(ways)[_levels(shape, start, end)])
    return _walk(topology, steps, start, end, keys)


def random_steps(shape: TreeShape) -> tuple[Ints, list[int]]:
    """Return the steps of keys that number all ways, and how many ways there are.

    int64[3, levels] (see ``kernels.trees.fill_paths``). The second is of pairs that meet at level
    0 (equal hosts), 1, 2 …

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
    return _places(topology.family.host_at, topology.num_hosts)


def tree_index(topology: Topology) -> TreeIndex:
    """Return where the channels of a tree are, found by the places of their ends."""
    shape = topology.family
    assert isinstance(shape, TreeShape)
    host_at, router_at = shape.host_at, shape.router_at
    hosts, routers = topology.num_hosts, topology.num_routers
    vertex_at = np.concatenate([
        np.arange(hosts) if host_at is None else host_at,
        hosts + (np.arange(routers) if router_at is None else router_at),
    ])  # fmt: skip
    first = np.cumsum([0, *(shape.width(level) for level in range(shape.levels))])
    links = [np.add(tree_links(shape, k), first[k : k + 2, None]) for k in range(shape.levels)]
    low, high = vertex_at[np.concatenate(links, axis=1)]
    first_up = np.cumsum([0, *(each.shape[1] for each in links[:-1])])
    wanted = np.concatenate([low, high]) * topology.num_vertices + np.concatenate([high, low])
    given = topology.channel_source.astype(np.int64) * topology.num_vertices
    given += topology.channel_target
    order, there = np.argsort(wanted, kind="stable"), np.argsort(given, kind="stable")
    assert np.array_equal(wanted[order], given[there]), f"{topology.name} is not the tree it says"
    channel_at = np.empty(len(wanted), np.int32)
    channel_at[order] = there
    m, w, p = (np.array(each) for each in (shape.children, shape.parents, shape.parallel))
    return TreeIndex(m, w, p, first_up, channel_at)


def whole_tree(topology: Topology, routing: DModK | SModK | RandomUp) -> TreeShape:
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
    from netloom.routing.kernels.trees import meeting_levels

    levels: Ints = meeting_levels(np.array(shape.children, np.int64), start, end)
    return levels


def _walk(
    topology: Topology,
    steps: Ints,
    start: Ints,
    end: Ints,
    keys: Ints,
) -> Paths:
    """Return the path of each key (see ``kernels.trees.fill_paths``) between places of hosts."""
    from netloom.routing.kernels.trees import fill_paths

    assert isinstance(topology.family, TreeShape)
    offsets = np.append(0, np.cumsum(2 * _levels(topology.family, start, end)))
    return Paths(offsets, fill_paths(tree_index(topology), steps, start, end, keys, offsets))


def _places(vertex_at: Ints | None, count: int) -> Ints:
    """Return the place of each number, given the number at each place."""
    places = np.arange(count)
    if vertex_at is not None:
        places[vertex_at] = np.arange(count)
    return places
