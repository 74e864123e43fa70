"""What a random mapping will do, without trying one.

Chittor 1991, section 3.4, estimates contention under random mapping on a square mesh from the
number of nodes and the mean degree alone (table 3.1). Those are fits to small systems: the mean
path contention level C/2 is 30 % low at 16,384 nodes. ``expect_random`` gives the exact
expectations instead, for any process graph on any k-ary n-cube under dimension order.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations
from math import prod, sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Floats
from netloom.base.figures import Figures
from netloom.base.provenance import DEFAULT_SEED
from netloom.contention.expected_load import dimension_order_loads
from netloom.routing import DimensionOrder
from netloom.routing.rules import cube_tables
from netloom.topology import Cube, average_distance

MOST_PLACEMENTS = 5_000
"""Placements of a program that are all tried."""

FEWEST_SAMPLES, MOST_SAMPLES, SAMPLED_HOPS = 8, 400, 2**25
"""Random placements that are tried otherwise: so many that their paths, or the channels that are
looked at, are at most this many in all."""


class MeshEstimate(Figures):
    """Table 3.1 with the lemmas that follow from it: a random mapping on a square 2D mesh."""

    channel_load_mean: float
    channel_load_max: float
    path_contention_mean: float
    path_contention_max: float
    saturation_average_node: float
    saturation_worst_node: float


def estimate_mesh(num_nodes: int, mean_degree: float) -> MeshEstimate:
    """Return the thesis's estimates for a random mapping on a √N × √N mesh.

    With C = δ_avg √N they are χ: C/6 and 3C/8, ν: C/2 and C (mean and maximum, table 3.1), and
    saturation node traffic 2/√N for the average and 1/√N for the worst node, whatever the process
    graph (lemmas 6 and 7, eqs. 3.30 and 3.31).

    Parameters
    ----------
    num_nodes
        N, nodes of the mesh.
    mean_degree
        δ_avg, outgoing edges per task.

    Examples
    --------
    >>> estimate_mesh(256, 4.0).path_contention_mean
    32.0
    """
    c = mean_degree * sqrt(num_nodes)
    return MeshEstimate(
        channel_load_mean=c / 6,
        channel_load_max=3 * c / 8,
        path_contention_mean=c / 2,
        path_contention_max=c,
        saturation_average_node=2 / sqrt(num_nodes),
        saturation_worst_node=1 / sqrt(num_nodes),
    )


class Expectation(Figures):
    """Exact means over all placements of a process graph's tasks, one on a node.

    Attributes
    ----------
    path_length_mean
        Expected hops of a path.
    channel_load_mean
        Expected paths on a channel, over all channels.
    channel_load_max
        Expected largest channel load, the one figure here that need not be exact.
    channel_load_max_by
        How it was found. ``enumeration``: from all placements, exactly. ``sampling``: the mean of
        random placements with a seed of their own.
    channel_load_max_error
        Its standard error: 0 where enumerated.
    path_contention_mean
        Expected number of other paths that a path meets.
    """

    path_length_mean: float
    channel_load_mean: float
    channel_load_max: float
    channel_load_max_by: Literal["enumeration", "sampling"]
    channel_load_max_error: float
    path_contention_mean: float


def expect_random(
    topology: Cube, routing: DimensionOrder, sources: ArrayLike, targets: ArrayLike
) -> Expectation:
    """Return what to expect of a uniformly random mapping of these process-graph edges.

    Two paths of a cube share one unbroken run of channels (see ``kernels.channel_loads``). So the
    number of pairs of paths that meet is Σ (pairs on a channel) − Σ (pairs on two consecutive
    channels), and both sums have closed forms. Pairs of edges with a common source or target are
    counted separately. An edge never meets one that starts where it ends. Time: proportional to the
    edges and the sides, not to the nodes.

    Parameters
    ----------
    topology, routing
        A k-ary n-cube of at least four nodes, and dimension order on it.
    sources, targets
        int[num_edges] *tasks*: edges sorted, none repeated, none from a task to itself.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> ring = np.arange(64)
    >>> found = expect_random(mesh(8, 8), DimensionOrder(), ring, (ring + 1) % 64)
    >>> round(found.path_length_mean, 3), round(found.path_contention_mean, 3)
    (5.333, 2.896)
    """
    source, target = np.asarray(sources, np.int64), np.asarray(targets, np.int64)
    nodes, edges = topology.num_hosts, len(source)
    distance = average_distance(topology)
    order = cube_tables(topology, routing).order.tolist()
    axes = [_axis(topology.sides[axis], wraps=topology.wraps[axis]) for axis in order]
    together, same_source, same_target = _meeting_pairs(nodes, axes)
    degree_out = np.bincount(source, minlength=nodes).astype(np.float64)
    degree_in = np.bincount(target, minlength=nodes).astype(np.float64)
    from_one, into_one = (float(d @ (d - 1)) for d in (degree_out, degree_in))
    there, back = source * nodes + target, target * nodes + source
    opposite = np.isin(back, there, assume_unique=True)  # is an edge too
    following = 2 * float(degree_in @ degree_out) - int(opposite.sum())
    apart = edges * (edges - 1.0) - from_one - into_one - following
    triples = nodes * (nodes - 1.0) * (nodes - 2.0)
    unrelated = together - nodes * (nodes - 1.0) - same_source - same_target
    meetings = (
        from_one * same_source / triples
        + into_one * same_target / triples
        + apart * unrelated / (triples * (nodes - 3.0))
    )
    # the largest channel load of all placements, or of some
    busy, ends = np.unique(np.concatenate([source, target]), return_inverse=True)
    # as many hosts as tasks, of which eight have more placements than that
    placements = prod(range(nodes, nodes - min(len(busy), 8), -1))
    sampled = placements > MOST_PLACEMENTS
    mappings: Iterable[Any] = permutations(range(nodes), len(busy))
    if sampled:
        rng, work = (
            np.random.default_rng(DEFAULT_SEED),
            max(edges * distance, topology.num_channels),
        )
        samples = int(np.clip(SAMPLED_HOPS // work, FEWEST_SAMPLES, MOST_SAMPLES))
        mappings = (rng.choice(nodes, len(busy), replace=False) for _ in range(samples))
    ends, each, largest = ends.reshape(2, -1), np.ones(edges), []
    for node_of in mappings:
        start, stop = np.array(node_of, np.int32)[ends]
        load = dimension_order_loads(topology, routing, start, stop, each, both_ways=False)
        largest.append(load.max())
    error = float(np.std(largest, ddof=1) / sqrt(len(largest))) if sampled else 0.0
    return Expectation(
        path_length_mean=distance,
        channel_load_mean=edges * distance / topology.num_channels,
        channel_load_max=float(np.mean(largest)),
        channel_load_max_by="sampling" if sampled else "enumeration",
        channel_load_max_error=error,
        path_contention_mean=float(meetings / edges) if edges else 0.0,
    )


@dataclass(frozen=True)
class _Axis:
    """Pairs of coordinates along one dimension, by what their minimal path does (per direction).

    ``crossing[d, j]`` pairs cross the channel at place j of a directed line, ``passing[d, j]``
    cross it and the next one. ``leaving[d, x]`` leave coordinate x, ``arriving[d, x]`` end there.
    """

    side: int
    crossing: Floats
    passing: Floats
    leaving: Floats
    arriving: Floats


def _axis(side: int, *, wraps: bool) -> _Axis:
    if wraps:
        farthest = np.array([[side // 2], [(side + 1) // 2 - 1.0]])  # hops forward, hops backward
        every = np.ones((1, side))
        crossing = farthest * (farthest + 1) / 2 * every
        passing, ends = farthest * (farthest - 1) / 2 * every, farthest * every
        return _Axis(side, crossing, passing, ends, ends)
    before = np.stack([np.arange(1.0, side)] * 2)  # places count in the direction of travel
    beyond = side - before
    passing = before[:, :-1] * (beyond[:, :-1] - 1)
    ahead = side - 1.0 - np.arange(side)
    leaving = np.stack([ahead, ahead[::-1]])
    return _Axis(side, before * beyond, passing, leaving, leaving[::-1])


def _meeting_pairs(nodes: int, axes: list[_Axis]) -> tuple[float, float, float]:
    """Ordered pairs of (source, target) pairs whose paths meet.

    Returns those among all pairs (a pair with itself included), those with the same source and
    another target, and those with the same target and another source.
    """
    # Nodes that differ only in the dimensions corrected before each one, and only in those after:
    # on a channel of a dimension, these coordinates of the source and of the target can be anything
    sides = np.array([axis.side for axis in axes], np.float64)
    earlier = np.append(1.0, np.cumprod(sides))[:-1]
    later = nodes / (earlier * sides)
    together = same_source = same_target = 0.0
    for rank, axis in enumerate(axes):
        lines = nodes / axis.side
        together += lines**3 * float((axis.crossing**2).sum() - (axis.passing**2).sum())
        out, into = axis.leaving * later[rank], axis.arriving * earlier[rank]
        same_source += lines * float((out * (out - 1)).sum())
        same_target += lines * float((into * (into - 1)).sum())
        for after in range(rank + 1, len(axes)):
            turns = float((axis.arriving**2).sum() * (axes[after].leaving ** 2).sum())
            free = (earlier[rank] * later[after]) ** 2
            together -= free * nodes / (axis.side * axes[after].side) * turns
    return together, same_source, same_target
