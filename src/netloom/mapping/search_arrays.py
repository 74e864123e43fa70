"""A program, a network and its places as the search kernel wants them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.errors import InputError
from netloom.routing import DimensionOrder, paths
from netloom.routing.dimension_order import cube_tables
from netloom.topology import hop_distances, mesh

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.routing import Routing
    from netloom.routing.dimension_order import CubeTables
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph

MOST_TABLED = 512
"""Nodes up to which the paths of all pairs are looked up where they could be walked, ..."""

MOST_PAIRS = 2**22
"""... and pairs of nodes up to which they are where they cannot."""

MOST_DISTANCES = 4096
"""Nodes up to which the distances of all pairs are looked up."""


class Graph(NamedTuple):
    """For each item, the items it is joined to, and the weights to and from them."""

    offsets: NDArray[np.int64]
    others: NDArray[np.int64]
    out: NDArray[np.float64]
    into: NDArray[np.float64]


class Net(NamedTuple):
    """A network's tables; see ``search_kernel``."""

    cube: CubeTables
    offsets: NDArray[np.int64]
    channels: NDArray[np.int32]
    distance: NDArray[np.int16]


@dataclass(frozen=True, eq=False)
class SearchArrays:
    """What stays the same in a search.

    Attributes
    ----------
    graph, net
        Program and network.
    place_node
        int64[places], the node of each place.
    near
        The places around each node: those of itself and of its neighbours, as a ragged array.
    num_tasks, num_channels
        Counts.
    """

    graph: Graph
    net: Net
    place_node: NDArray[np.int64]
    near: tuple[NDArray[np.int64], NDArray[np.int64]]
    num_tasks: int
    num_channels: int


def search_arrays(
    app: ProcessGraph,
    topology: Topology,
    routing: Routing,
    weights: NDArray[np.float64],
    nodes: NDArray[np.int32],
    tasks_per_node: int,
) -> SearchArrays:
    """Return the arrays of a search.

    Raises
    ------
    InputError
        If the network is too large for its routing.
    """
    place_node = np.repeat(nodes, tasks_per_node).astype(np.int64)
    return SearchArrays(
        graph=_graph(app, weights, len(place_node)),
        net=_net(topology, routing, nodes),
        place_node=place_node,
        near=_near(topology, place_node),
        num_tasks=app.num_tasks,
        num_channels=topology.num_channels,
    )


def _graph(app: ProcessGraph, weights: NDArray[np.float64], items: int) -> Graph:
    low = np.minimum(app.source, app.target).astype(np.int64)
    high = np.maximum(app.source, app.target).astype(np.int64)
    pairs, pair = np.unique(low * items + high, return_inverse=True)
    up = app.source < app.target
    upwards = np.bincount(pair[up], weights[up], len(pairs)).astype(np.float64)
    downwards = np.bincount(pair[~up], weights[~up], len(pairs)).astype(np.float64)
    ends = np.concatenate([pairs // items, pairs % items])
    order = np.argsort(ends, kind="stable")
    offsets = np.append(0, np.cumsum(np.bincount(ends, minlength=items)))
    others = np.concatenate([pairs % items, pairs // items])
    out, into = np.append(upwards, downwards), np.append(downwards, upwards)
    return Graph(offsets.astype(np.int64), others[order], out[order], into[order])


def _net(topology: Topology, routing: Routing, nodes: NDArray[np.int32]) -> Net:
    number = topology.num_nodes
    if isinstance(routing, DimensionOrder) and number > MOST_TABLED:
        none = np.zeros(0, np.int64), np.zeros(0, np.int32)
        distance = np.zeros((0, 0), np.int16)
        if number <= MOST_DISTANCES:
            distance = hop_distances(topology).astype(np.int16)
        return Net(cube_tables(topology, routing), *none, distance)
    if number * number > MOST_PAIRS:
        wanted = f"at most {int(MOST_PAIRS**0.5)} nodes, or dimension order"
        raise InputError("topology", f"{number} nodes with {routing} routing", wanted)
    source, target = (ends.ravel() for ends in np.meshgrid(nodes, nodes, indexing="ij"))
    routed = paths(topology, routing, source, target)
    lengths = np.zeros(number * number, np.int64)
    pair = source.astype(np.int64) * number + target
    lengths[pair] = routed.lengths
    offsets = np.append(0, np.cumsum(lengths))
    order = np.argsort(pair, kind="stable")
    begins = np.repeat(routed.offsets[:-1][order] - offsets[pair[order]], routed.lengths[order])
    channels = routed.channels[begins + np.arange(len(begins))]
    hops = lengths.reshape(number, number).astype(np.int16)
    return Net(cube_tables(mesh(1), DimensionOrder()), offsets, channels, hops)


def _near(
    topology: Topology, place_node: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of each node and its neighbours."""
    nodes = np.arange(topology.num_nodes)
    around = np.concatenate([topology.channel_source, nodes])
    ends = np.concatenate([topology.channel_target, nodes])
    places = np.argsort(place_node, kind="stable")
    first = np.searchsorted(place_node[places], np.arange(topology.num_nodes + 1))
    counts = np.diff(first)[ends]
    order = np.argsort(around, kind="stable")
    begins = np.repeat(first[ends[order]], counts[order])
    ends_before = np.cumsum(counts[order]) - counts[order]
    rank = np.arange(int(counts.sum())) - np.repeat(ends_before, counts[order])
    offsets = np.append(0, np.cumsum(np.bincount(around, counts, topology.num_nodes)))
    return offsets.astype(np.int64), places[begins + rank]
