"""Deterministic shortest-path routing, for networks that are no k-ary n-cube (or are)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import NoRouteError
from netloom.routing.ragged import Paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.topology import Topology


@dataclass(frozen=True)
class ShortestPath:
    """At every node, the lowest-numbered channel that leads one hop nearer to the target.

    That is a table (one channel for each node and target), as routers of irregular networks
    hold it; it is minimal and deterministic, but may deadlock: ``find_deadlock`` tells.
    """

    def __str__(self) -> str:
        return "shortest-path"


def shortest_paths(
    topology: Topology, sources: NDArray[np.int32], targets: NDArray[np.int32]
) -> Paths:
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
    lengths = path_lengths(by_target, sources, targets, ends[0], *incoming, topology.num_nodes)
    if len(lengths) and lengths.min() < 0:
        path = int(np.argmin(lengths))
        raise NoRouteError(int(sources[path]), int(targets[path]), "a connected network")
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Paths(
        offsets, fill_paths(by_target, sources, targets, offsets, ends, *incoming, *outgoing)
    )
