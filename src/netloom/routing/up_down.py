"""Up*/down* routing: free of deadlock on any network of two-way links, on one virtual channel.

Schroeder et al., *Autonet: a high-speed, self-configuring local area network using point-to-point
links*, 1991.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar
from weakref import WeakKeyDictionary

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.hosted import legs, router_pairs, spliced
from netloom.routing.ragged import Paths, offsets_of
from netloom.topology import Topology

if TYPE_CHECKING:
    from netloom.base.arrays import Ints

_RANKS: WeakKeyDictionary[Topology, Ints] = WeakKeyDictionary()

MOST_SAMPLES = 256
"""Nodes that the root should be near to: all of them in networks of up to this many."""


@dataclass(frozen=True)
class UpDown:
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

    several: ClassVar[bool] = False

    def __str__(self) -> str:
        return "up-down"


def up_down_paths(topology: Topology, sources: Ints, targets: Ints) -> Paths:
    """Return the up*/down* path of every pair (see ``paths``).

    Raises
    ------
    InputError
        If the two-way links of a direct network do not join all nodes.
    NoRouteError
        If a pair has a node without channels, or is not joined by two-way links.
    """
    if topology.direct:
        links, net = two_way(topology)
        rank = node_ranks(topology, net)
        return _legal_paths(links, net, rank, sources, targets, (sources, targets))
    if topology not in _RANKS:
        _RANKS[topology] = router_ranks(topology)
    (links, net), ends = two_way(topology.routers), legs(topology, sources, targets)
    found = _legal_paths(links, net, _RANKS[topology], ends.entry, ends.exit, (sources, targets))
    return spliced(ends, found)


def _legal_paths(
    links: Ints,
    net: Topology,
    rank: Ints,
    sources: Ints,
    targets: Ints,
    keys: tuple[Ints, Ints],
) -> Paths:
    """Return the path of every pair of nodes by two-way links and the ranks of the nodes.

    ``keys`` are the two nodes, or the hosts for which packets go from one to the other.
    """
    from netloom.routing.kernels.up_down import fill_legal, legal_lengths

    ends = (net.channel_source, net.channel_target)
    up = rank[ends[1]] < rank[ends[0]]
    incoming, outgoing = net.incoming(), net.outgoing()
    by_target = np.argsort(targets, kind="stable")
    lengths = legal_lengths(by_target, sources, targets, up, ends[0], *incoming)
    offsets = offsets_of(lengths, *keys, "nodes that work")
    taken = fill_legal(by_target, sources, targets, keys, offsets, up, ends, *incoming, *outgoing)
    return Paths(offsets, links[taken])


def router_ranks(topology: Topology) -> Ints:
    """Return int32[num_routers], the ranks of the routers that hosts hang on.

    In trees, shortest paths between routers with hosts first lead away from the hosts, then towards
    them. If all such paths do so, routers are ranked by their distance from the nearest host, the
    farthest first. If not, they are ranked from a root, as in ``node_ranks``, one for each plane of
    routers.
    """
    from netloom.routing.kernels.shortest_path import path_lengths
    from netloom.routing.kernels.up_down import legal_lengths

    inside, (entry, leave) = topology.routers, router_pairs(topology)
    _, net = two_way(inside)
    hops = np.full(inside.num_vertices, -1, np.int64)
    hops[np.concatenate([entry, leave])] = 0
    for far in range(inside.num_vertices):
        reached = net.channel_target[hops[net.channel_source] == far]
        reached = reached[hops[reached] < 0]
        if not len(reached):
            break
        hops[reached] = far + 1
    if hops.max(initial=0) > 0:
        rank = _by_order(-hops)
        by_exit, wires = np.argsort(leave, kind="stable"), (net.channel_source, *net.incoming())
        up = rank[net.channel_target] < rank[net.channel_source]
        shortest = path_lengths(by_exit, entry, leave, *wires, inside.num_vertices)
        if np.array_equal(legal_lengths(by_exit, entry, leave, up, *wires), shortest):
            return rank
    return node_ranks(inside, net, planes=True)


def _by_order(keys: Ints) -> Ints:
    """Return the rank of each key, of equal ones the first first."""
    rank = np.empty(len(keys), np.int32)
    rank[np.argsort(keys, kind="stable")] = np.arange(len(keys))
    return rank


def two_way(topology: Topology) -> tuple[Ints, Topology]:
    """Return the channels whose opposite is there too, int32[], ascending, and them as a network.

    That network has their places as the numbers of its channels.
    """
    source, target = topology.channel_source.astype(np.int64), topology.channel_target
    forward = source * topology.num_vertices + target
    backward = target.astype(np.int64) * topology.num_vertices + source
    links = np.flatnonzero(np.isin(forward, backward)).astype(np.int32)
    return links, Topology(
        topology.name, topology.num_vertices, topology.channel_source[links],
        topology.channel_target[links], topology.labels,
    )  # fmt: skip


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
    inside = np.unique(topology.channel_source)
    if not len(inside):  # a network of one node
        return np.arange(topology.num_vertices, dtype=np.int32)
    parts = _parts(net, inside) if planes else [inside]
    level = np.full(topology.num_vertices, topology.num_vertices, np.int64)
    for part in parts:
        level[part] = _levels(topology, net, part)[part]
    return _by_order(level)


def _levels(topology: Topology, net: Topology, inside: Ints) -> Ints:
    """Return int64[num_nodes], the distance of each of some nodes from their root."""
    from netloom.routing.kernels.up_down import distance_sums

    samples = inside[np.linspace(0, len(inside) - 1, min(MOST_SAMPLES, len(inside))).astype(int)]
    arrays = net.channel_source, *net.incoming()
    root = inside[int(np.argmin(distance_sums(samples, *arrays)[inside]))]
    level: Ints = distance_sums(np.array([root], np.int32), *arrays)
    lost = inside[(level[inside] == 0) & (inside != root)]
    if len(lost):
        found = f"nodes {topology.name_of(int(root))} and {topology.name_of(int(lost[0]))}"
        wanted = "links that work in both directions: up-down uses no others"
        raise InputError(topology.name, f"{found} joined by one-way channels only", wanted)
    return level


def _parts(net: Topology, inside: Ints) -> list[Ints]:
    """Return the nodes of each part of a network of two-way links, each ascending."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = np.ones(net.num_channels), (net.channel_source, net.channel_target)
    shape = (net.num_vertices, net.num_vertices)
    count, part = connected_components(coo_array(links, shape=shape), directed=False)
    parts = [inside[part[inside] == each] for each in range(count)]
    return [each for each in parts if len(each)]
