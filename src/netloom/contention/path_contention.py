"""Path contention level, logical path length and channel load of a routed process graph.

The three contention parameters of Chittor 1991, definitions 27 to 30. A path counts itself in a
channel's load and nowhere else: ν and d speak of *other* paths (the printed eq. 3.6 would include
the path itself, but every number the thesis prints leaves it out).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError
from netloom.routing import DimensionOrder, Paths, paths
from netloom.routing.dimension_order import cube_tables

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from netloom.routing import Routing
    from netloom.topology import Topology


@dataclass(frozen=True, eq=False)
class Contention:
    """What every path and every channel has to bear.

    Attributes
    ----------
    path_length
        int32[num_paths], D: hops.
    logical_path_length
        int32[num_paths], d: channels of the path on which at least one new path is met.
    path_contention
        int32[num_paths], ν: number of *other* paths that share at least one channel.
    contending_weight
        float64[num_paths]: weight of those other paths and of the path itself.
    heaviest_channel
        float64[num_paths]: largest weighted channel load along the path; 0 without channels.
    channel_load
        int32[num_channels], χ: number of paths on the channel.
    weighted_channel_load
        float64[num_channels]: their weight.
    """

    path_length: NDArray[np.int32]
    logical_path_length: NDArray[np.int32]
    path_contention: NDArray[np.int32]
    contending_weight: NDArray[np.float64]
    heaviest_channel: NDArray[np.float64]
    channel_load: NDArray[np.int32]
    weighted_channel_load: NDArray[np.float64]


def measure(
    topology: Topology,
    routing: Routing,
    sources: ArrayLike,
    targets: ArrayLike,
    weights: ArrayLike | None = None,
) -> Contention:
    """Return the contention of the paths from each source node to its target node.

    Dimension order on a k-ary n-cube is counted line by line, in time proportional to paths and
    channels; any other routing path by path. Both are exact.

    Parameters
    ----------
    topology, routing
        The network and how packets travel on it.
    sources, targets
        int[num_paths] nodes. A pair of equal nodes uses no channel and meets no path.
    weights
        float[num_paths], such as bytes; 1 where not given. Weighted results are exact while the
        weights are whole numbers and sum to less than 2**53.

    Raises
    ------
    InputError
        If the arrays do not match, the routing does not fit the network, or by it pairs have
        several paths: ``expected_loads`` measures these.
    NoRouteError
        If the routing has no path for a pair.

    Examples
    --------
    Three messages along a line of five nodes, each two hops long (the middle one meets both):

    >>> from netloom.topology import mesh
    >>> found = measure(mesh(5), DimensionOrder(), [0, 1, 2], [2, 3, 4])
    >>> found.path_contention, found.logical_path_length
    (array([1, 2, 1], dtype=int32), array([1, 2, 1], dtype=int32))
    """
    from_node = np.ascontiguousarray(sources, np.int32)
    to_node = np.ascontiguousarray(targets, np.int32)
    weight = np.ones(len(from_node)) if weights is None else np.asarray(weights, np.float64)
    if not from_node.shape == to_node.shape == weight.shape:
        raise InputError("paths", f"{len(to_node)} targets, {len(weight)} weights", "one a source")
    if routing.several:
        wanted = "one with a path a pair: expected_loads measures what has several"
        raise InputError("routing", f"{routing}", wanted)
    if isinstance(routing, DimensionOrder):
        return _measure_cube(topology, routing, from_node, to_node, weight)
    return measure_paths(
        paths(topology, routing, from_node, to_node), topology.num_channels, weight
    )


def measure_paths(routed: Paths, num_channels: int, weights: ArrayLike | None = None) -> Contention:
    """Return the contention of any given paths, each looked at channel by channel.

    Parameters
    ----------
    routed
        The paths; none crosses a channel twice.
    num_channels
        Channels of the network.
    weights
        float[num_paths]; 1 where not given.

    Examples
    --------
    >>> import numpy as np
    >>> both = Paths(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32))
    >>> measure_paths(both, num_channels=3).channel_load
    array([1, 2, 0], dtype=int32)
    """
    from netloom.contention.kernels.stamped import count_loads, stamp_paths

    weight = np.ones(len(routed)) if weights is None else np.asarray(weights, np.float64)
    load, weighted_load = np.zeros(num_channels, np.int32), np.zeros(num_channels)
    count_loads(routed.channels, routed.offsets, weight, load, weighted_load)
    logical, met, met_weight = stamp_paths(routed.channels, routed.offsets, weight, load)
    lengths = routed.lengths
    used, heaviest = np.flatnonzero(lengths), np.zeros(len(routed))
    if len(used):
        on_path = weighted_load[routed.channels]
        heaviest[used] = np.maximum.reduceat(on_path, routed.offsets[used])
    others = met - (lengths > 0)
    return Contention(lengths, logical, others, met_weight, heaviest, load, weighted_load)


def _measure_cube(
    topology: Topology,
    routing: DimensionOrder,
    sources: NDArray[np.int32],
    targets: NDArray[np.int32],
    weights: NDArray[np.float64],
) -> Contention:
    """Count line by line, one dimension after the other (see ``kernels.cube``)."""
    from netloom.contention.kernels.cube import ask_dimension, count_dimension, spans

    tables = cube_tables(topology, routing)
    num_paths = len(sources)
    load = np.zeros(topology.num_channels, np.int32)
    weighted_load = np.zeros(topology.num_channels)
    at, came = sources.copy(), np.full(num_paths, -1, np.int8)
    met = (
        np.zeros(num_paths, np.int32),
        np.zeros(num_paths, np.int32),
        np.zeros(num_paths, np.int32),
        np.zeros(num_paths),
        np.zeros(num_paths),
    )
    for rank, axis in enumerate(tables.order):
        length, first = int(tables.line_channels[axis]), int(tables.line_base[axis, 0])
        size = 2 * topology.num_hosts // int(tables.sides[axis]) * length
        if not size:
            continue
        here, ways_in = slice(first, first + size), max(2 * rank, 1)
        tallies = np.zeros((size, 2)), np.zeros((size, 3)), np.zeros((size, ways_in, 2))
        count_dimension(tables, rank, targets, weights, at, came, *tallies)
        heaviest = spans(np.ascontiguousarray(tallies[0][:, 1]), length)
        ask_dimension(tables, rank, targets, at, came, *tallies, heaviest, met)
        load[here], weighted_load[here] = tallies[0].T
    path_length, logical, contention, contending, peak = met
    contention -= path_length > 0
    return Contention(path_length, logical, contention, contending, peak, load, weighted_load)
