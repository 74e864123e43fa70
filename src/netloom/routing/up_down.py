"""Up*/down* routing: free of deadlock on any network of two-way links, on one virtual channel.

Schroeder et al., *Autonet: a high-speed, self-configuring local area network using point-to-point
links*, 1991.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from netloom.errors import InputError
from netloom.routing.hosted import through_routers
from netloom.routing.ragged import Paths, offsets_of
from netloom.topology import Topology

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_SAMPLES = 256
"""Nodes that the root shall be near to: all of them in networks of up to so many."""


@dataclass(frozen=True)
class UpDown:
    """Up*/down* routing: no packet goes up again once it has gone down.

    Nodes are ranked by their distance from a root in the middle of the network, then by number;
    a channel leads up if it leads to a lower rank. Packets cannot wait for each other in a circle,
    for every path takes channels in one order: those that lead up, by the falling rank of the node
    that they enter, then those that lead down, by its rising rank. A packet takes one of the
    shortest of such paths, always the same for a pair of nodes; pairs spread over all of them.

    Links of which one direction is missing or broken are not used at all, as in Autonet.
    """

    several: ClassVar[bool] = False

    def __str__(self) -> str:
        return "up-down"


def up_down_paths(
    topology: Topology,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    *,
    planes: bool = False,
) -> Paths:
    """Return the up*/down* path of every pair (see ``paths``).

    The routers that hosts hang on may make several ``planes`` that are not joined, each with a
    root of its own.

    Raises
    ------
    InputError
        If the two-way links do not join all nodes.
    NoRouteError
        If a pair has a node without channels.
    """
    from netloom.routing.kernels.up_down import fill_legal, legal_lengths

    if not topology.direct:
        between = partial(up_down_paths, topology.routers, planes=True)
        return through_routers(topology, sources, targets, between)
    links = two_way(topology)
    net = Topology(
        topology.name, topology.num_vertices, topology.channel_source[links],
        topology.channel_target[links], topology.labels,
    )  # fmt: skip
    rank = node_ranks(topology, net, planes=planes)
    ends = (net.channel_source, net.channel_target)
    up = rank[ends[1]] < rank[ends[0]]
    incoming, outgoing = net.incoming(), net.outgoing()
    by_target = np.argsort(targets, kind="stable")
    lengths = legal_lengths(by_target, sources, targets, up, ends[0], *incoming)
    offsets = offsets_of(lengths, sources, targets, "nodes that work")
    taken = fill_legal(by_target, sources, targets, offsets, up, ends, *incoming, *outgoing)
    return Paths(offsets, links[taken])


def two_way(topology: Topology) -> NDArray[np.int32]:
    """Return the channels whose opposite is there too, int32[], ascending."""
    source, target = topology.channel_source.astype(np.int64), topology.channel_target
    forward = source * topology.num_vertices + target
    backward = target.astype(np.int64) * topology.num_vertices + source
    return np.flatnonzero(np.isin(forward, backward)).astype(np.int32)


def node_ranks(topology: Topology, net: Topology, *, planes: bool = False) -> NDArray[np.int32]:
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
    rank = np.empty(topology.num_vertices, np.int32)
    rank[np.argsort(level, kind="stable")] = np.arange(topology.num_vertices)
    return rank


def _levels(topology: Topology, net: Topology, inside: NDArray[np.int32]) -> NDArray[np.int64]:
    """Return int64[num_nodes], the distance of each of some nodes from their root."""
    from netloom.routing.kernels.up_down import distance_sums

    samples = inside[np.linspace(0, len(inside) - 1, min(MOST_SAMPLES, len(inside))).astype(int)]
    arrays = net.channel_source, *net.incoming()
    root = inside[int(np.argmin(distance_sums(samples, *arrays)[inside]))]
    level: NDArray[np.int64] = distance_sums(np.array([root], np.int32), *arrays)
    lost = inside[(level[inside] == 0) & (inside != root)]
    if len(lost):
        found = f"nodes {topology.name_of(int(root))} and {topology.name_of(int(lost[0]))}"
        wanted = "links that work in both directions: up-down uses no others"
        raise InputError(topology.name, f"{found} joined by one-way channels only", wanted)
    return level


def _parts(net: Topology, inside: NDArray[np.int32]) -> list[NDArray[np.int32]]:
    """Return the nodes of each part of a network of two-way links, each ascending."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    links = np.ones(net.num_channels), (net.channel_source, net.channel_target)
    shape = (net.num_vertices, net.num_vertices)
    count, part = connected_components(coo_array(links, shape=shape), directed=False)
    parts = [inside[part[inside] == each] for each in range(count)]
    return [each for each in parts if len(each)]
