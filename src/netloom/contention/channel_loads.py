"""What the channels of a network carry, those between routers and those of hosts apart.

Loads alone are exact for any routing, those with several paths per pair included, and for so many
paths that none but a block of them is ever listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.contention.several_paths import expected_loads
from netloom.routing import paths

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.routing import Routing
    from netloom.topology import Topology

BLOCK = 2**20
"""Paths that are listed at a time."""


@dataclass(frozen=True, eq=False, kw_only=True)
class ChannelLoads:
    """What every channel has to bear.

    Loads are whole numbers of paths, or expected ones where a routing has several paths per pair.

    Attributes
    ----------
    moving
        bool[num_pairs]: which pairs use the network, that is, are of different hosts. Two hosts of
        one router move although their path has no hops.
    channel_load
        int32[num_network_channels], χ: number of paths on each channel between routers. float64 of
        expected ones.
    weighted_channel_load
        float64[num_network_channels]: their weight.
    host_channel_load
        int32[2 * num_ports], the paths on the injection channels of all ports, then on their
        ejection channels. Empty in a direct network.
    weighted_host_channel_load
        float64[2 * num_ports]: their weight.
    channel_bandwidth
        float64[num_channels], flits/cycle of all channels, by their numbers.
    """

    moving: Bools
    channel_load: NDArray[Any]
    weighted_channel_load: Floats
    host_channel_load: NDArray[Any]
    weighted_host_channel_load: Floats
    channel_bandwidth: Floats

    @cached_property
    def channel_time(self) -> Floats:
        """float64[num_channels], how long each works: weight over bandwidth, hosts' included."""
        load = np.concatenate([self.weighted_channel_load, self.weighted_host_channel_load])
        return np.asarray(load / self.channel_bandwidth)

    @property
    def busiest_channel(self) -> int:
        """The channel that works longest. Of several, one between routers."""
        return int(self.channel_time.argmax())

    @cached_property
    def common_bandwidth(self) -> float | None:
        """The bandwidth of all channels where they are alike. None where they are not."""
        rate = self.channel_bandwidth
        return float(rate[0]) if len(rate) and bool((rate == rate[0]).all()) else None

    @property
    def hosted(self) -> bool:
        """Whether hosts have channels of their own."""
        return len(self.host_channel_load) > 0


def split_loads(topology: Topology, load: NDArray[Any], weighted_load: Floats) -> dict[str, Any]:
    """Return the fields of ``ChannelLoads`` that hold the loads of all channels of a network."""
    first = topology.num_network_channels
    return {
        "channel_load": load[:first],
        "weighted_channel_load": weighted_load[:first],
        "host_channel_load": load[first:],
        "weighted_host_channel_load": weighted_load[first:],
        "channel_bandwidth": topology.channel_bandwidth,
    }


def checked_pairs(
    sources: ArrayLike, targets: ArrayLike, weights: ArrayLike | None
) -> tuple[Ints, Ints, Floats]:
    """Return sources, targets and weights of pairs as arrays of one length.

    Raises
    ------
    InputError
        If they do not match.
    """
    from_node = np.ascontiguousarray(sources, np.int32)
    to_node = np.ascontiguousarray(targets, np.int32)
    weight = np.ones(len(from_node)) if weights is None else np.asarray(weights, np.float64)
    if not from_node.shape == to_node.shape == weight.shape:
        raise InputError("paths", f"{len(to_node)} targets, {len(weight)} weights", "one a source")
    return from_node, to_node, weight


def measure_loads(
    topology: Topology,
    routing: Routing,
    sources: ArrayLike,
    targets: ArrayLike,
    weights: ArrayLike | None = None,
) -> ChannelLoads:
    """Return what all channels carry, without the contention of single paths.

    If a routing has several paths per pair, loads are exact expectations. Of others only a block
    of paths is in memory at a time. Parameters and errors are those of ``measure``.

    Examples
    --------
    >>> from netloom.routing import ShortestPath
    >>> from netloom.topology import topology
    >>> found = measure_loads(topology("leaf-spine:2x2x2"), ShortestPath(), [0, 1, 0], [2, 2, 1])
    >>> found.channel_load, found.host_channel_load
    (array([2, 0, 0, 0, 0, 2, 0, 0], dtype=int32), array([2, 1, 0, 0, 0, 1, 2, 0], dtype=int32))
    """
    source, target, weight = checked_pairs(sources, targets, weights)
    moving = source != target
    ways = _expected if routing.several else _counted
    loads: tuple[NDArray[Any], Floats] = ways(topology, routing, source, target, weight)
    return ChannelLoads(moving=moving, **split_loads(topology, *loads))


def _counted(
    topology: Topology,
    routing: Routing,
    sources: Ints,
    targets: Ints,
    weights: Floats,
) -> tuple[Ints, Floats]:
    """Count the paths on each channel, and their weight, block by block."""
    from netloom.contention.kernels.stamped import count_loads

    load, weighted = np.zeros(topology.num_channels, np.int32), np.zeros(topology.num_channels)
    for first in range(0, len(sources), BLOCK):
        block = slice(first, first + BLOCK)
        routed = paths(topology, routing, sources[block], targets[block])
        count_loads(routed.channels, routed.offsets, weights[block], load, weighted)
    return load, weighted


def _expected(
    topology: Topology,
    routing: Routing,
    sources: Ints,
    targets: Ints,
    weights: Floats,
) -> tuple[Floats, Floats]:
    """Return the expected number of paths on each channel, and their weight."""
    weighted = expected_loads(topology, routing, sources, targets, weights)
    alike = float(weights[0]) if len(weights) else 1.0
    if alike and bool((weights == alike).all()):
        return weighted / alike, weighted
    return expected_loads(topology, routing, sources, targets, np.ones(len(sources))), weighted
