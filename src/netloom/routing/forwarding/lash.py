"""OpenSM's lash: shortest ways, and as many lanes as keep them free of deadlock."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.forwarding.end_points import end_points
from netloom.routing.forwarding.lanes import dependency_graph
from netloom.routing.forwarding.opensm import leaving_by_port, told
from netloom.routing.forwarding.tables import Lanes

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.routing.forwarding.tables import ForwardingTable
    from netloom.topology import Topology

MOST_LAYERS = 8
"""Most layers: the data lanes (VLs) that switches have."""


def lash(topology: Topology) -> ForwardingTable:
    """Return the table and the lanes of OpenSM's lash (layered shortest paths).

    One shortest way leads from each router to each other, the same for all adapters there, and by
    the lowest port of several to one neighbour. Entries are the genuine ones. The two ways between
    two routers go into the first layer where no circle of waiting closes. Then pairs move from the
    fullest to the emptiest layer. OpenSM draws these at random, so that a pair may have another
    layer there. How many there are is the same. After Skeie, Lysne & Theiss, *Layered shortest path
    (LASH) routing in irregular system area networks*, 2002.

    Raises
    ------
    InputError
        If it needs more layers than switches have lanes: OpenSM falls back to ``minhop`` there.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> lash(torus(5)).lanes.level.max()
    np.uint8(1)
    """
    from netloom.routing.kernels.lash import even_layers

    ends = end_points(topology)
    ways, pairs, layer, used, graph = _layers(topology)
    if used > MOST_LAYERS:
        found = f"{topology.name}, where {_too_many()}, so that OpenSM configures minhop"
        raise InputError("routing lash", found, "sssp; or minhop itself")
    if used > 1:
        drawn = np.random.default_rng(1).permutation(len(pairs))
        even_layers(ways, graph, pairs, layer, used, drawn)
    level = np.zeros(ways.shape, np.uint8)
    level[pairs[:, 0], pairs[:, 1]] = level[pairs[:, 1], pairs[:, 0]] = layer
    lanes = Lanes(level[ends.exit[: ends.num_destinations]]) if used > 1 else None
    return told("lash", ways[ends.exit], ends, lanes)


def lash_falls_back(topology: Topology) -> str:
    """Return why OpenSM would configure minhop instead of lash. Empty if it would not."""
    return _too_many() if _layers(topology)[3] > MOST_LAYERS else ""


def _too_many() -> str:
    return f"more than {MOST_LAYERS} lanes are needed"


def _layers(
    topology: Topology,
) -> tuple[Ints, Ints, Ints, int, object]:
    """Return the ways, the pairs of routers with their layers, how many, and the dependencies."""
    from netloom.routing.kernels.lash import layer_pairs, tree_ways

    inside, order = topology.routers, end_points(topology).routers
    ways = tree_ways(order, inside.channel_source, inside.channel_target, leaving_by_port(topology))
    graph = dependency_graph(topology, MOST_LAYERS)
    most = len(order) * (len(order) - 1) // 2
    pairs, layer = np.empty((most, 2), np.int32), np.empty(most, np.int32)
    closed = np.zeros(graph.uses.shape, np.bool_)
    count, used = layer_pairs(ways, order, graph, closed, MOST_LAYERS, pairs, layer)
    return ways, pairs[:count], layer[:count], used, graph
