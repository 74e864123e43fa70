"""Shortest paths, plain or in layers of virtual channels, each layer free of circles.

Layers are for routing round failures:

Skeie, Lysne & Theiss, *Layered shortest path (LASH) routing in irregular system area networks*,
2002. Skeie, Lysne, Flich, López, Robles & Duato, *LASH-TOR: a generic transition-oriented routing
algorithm*, 2004.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.dimension_order import CubeTables, DimensionOrder, cube_tables
from netloom.routing.ragged import Paths, offsets_of
from netloom.topology import Cube, Topology

if TYPE_CHECKING:
    from netloom.base.arrays import Ints


MOST_LAYERS = 62
"""Most layers that are looked for: no router has more VCs."""


@dataclass(frozen=True)
class ShortestPath:
    """At every node, the lowest-numbered channel that leads one hop nearer to the target.

    That is a table (one channel for each node and target), as routers of irregular networks
    hold it. It is minimal and deterministic, but may deadlock: ``find_deadlock`` tells.
    """

    several: ClassVar[bool] = False

    def __str__(self) -> str:
        return "shortest-path"


def shortest_paths(topology: Topology, sources: Ints, targets: Ints) -> Paths:
    """Return the table's path of every pair (see ``paths``).

    Raises
    ------
    NoRouteError
        If a target cannot be reached.
    """
    from netloom.routing.kernels.shortest_path import fill_paths, path_lengths

    by_target = np.argsort(targets, kind="stable")
    incoming, outgoing = topology.incoming(), topology.outgoing()
    ends = (topology.channel_source, topology.channel_target)
    lengths = path_lengths(by_target, sources, targets, ends[0], *incoming, topology.num_vertices)
    offsets = offsets_of(lengths, sources, targets, "a connected network")
    return Paths(
        offsets, fill_paths(by_target, sources, targets, offsets, ends, *incoming, *outgoing)
    )


@dataclass(frozen=True)
class Layered:
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

    several: ClassVar[bool] = False

    def __str__(self) -> str:
        return "layered"


def layered_paths(topology: Topology, sources: Ints, targets: Ints) -> Paths:
    """Return the path of every pair (see ``paths``).

    Raises
    ------
    NoRouteError
        If a target cannot be reached.
    """
    from netloom.routing.kernels.layered import fill_detours
    from netloom.routing.kernels.shortest_path import path_lengths

    whole = topology.whole
    channel_of = np.full(whole.num_channels, -1, np.int32)
    kept = topology.whole_channel
    channel_of[kept] = np.arange(topology.num_channels)
    if isinstance(whole, Cube):
        tables = cube_tables(whole, DimensionOrder())
    else:
        none, flat = np.zeros(0, np.int64), np.zeros((0, 2), np.int64)
        tables = CubeTables(none, none, np.zeros(0, np.bool_), none, flat, none)
    orders = np.stack([tables.order, tables.order[::-1]])
    by_target = np.argsort(targets, kind="stable")
    incoming, outgoing = topology.incoming(), topology.outgoing()
    ends = (topology.channel_source, topology.channel_target)
    lengths = path_lengths(by_target, sources, targets, ends[0], *incoming, topology.num_vertices)
    offsets = offsets_of(lengths, sources, targets, "nodes that work")
    channels = fill_detours(
        tables, orders, channel_of, by_target, sources, targets, offsets, ends, incoming, outgoing
    )
    return Paths(offsets, channels)


def layers(topology: Topology, routed: Paths) -> Ints:
    """Return the layer of each hop of each path, such that no packets wait in a circle.

    int32[len(routed.channels)], from 0 on, not falling along a path. Nodes have at most 62
    channels, and no path is empty.

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
    from netloom.routing.kernels.layered import assign_layers, level_layers

    firsts, leaving = topology.outgoing()
    place = np.empty(topology.num_channels, np.int64)
    place[leaving] = np.arange(len(leaving)) - firsts[topology.channel_source[leaving]]
    wiring = (topology.channel_target, firsts, leaving, place)
    lengths = routed.lengths
    order = np.argsort(-lengths, kind="stable")
    offsets = np.append(0, np.cumsum(lengths[order], dtype=np.int64))
    hops = np.repeat(routed.offsets[:-1][order] - offsets[:-1], lengths[order])
    hops += np.arange(offsets[-1])
    channels = routed.channels[hops]
    found, count, waits, closed = assign_layers(offsets, channels, wiring, MOST_LAYERS)
    if len(found) and found.min() < 0:
        raise InputError(topology.name, f"paths for over {MOST_LAYERS} layers", "another routing")
    level_layers(offsets, channels, wiring, found, count, waits, closed)
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
