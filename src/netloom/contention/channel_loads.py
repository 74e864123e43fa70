"""Path contention level, logical path length and channel load of a routed process graph.

The three contention parameters of Chittor 1991, definitions 27 to 30. A path counts itself only in
a channel's load: ν and d count *other* paths. The printed eq. 3.6 would include the path itself,
but every number that the thesis prints excludes it.

Path length, logical path length and ν are of channels between routers. If hosts hang on routers by
channels of their own, the loads of those are given apart: each belongs to one host, whatever the
routing and the network between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeGuard

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.contention.expected_load import checked_pairs, expected_loads
from netloom.routing import DimensionOrder, Paths, Routing, paths
from netloom.routing.ragged import legs
from netloom.routing.rules import cube_tables
from netloom.topology import Cube, Topology


@dataclass(frozen=True, eq=False, kw_only=True)
class ChannelLoads:
    """What every channel has to bear.

    Loads are whole numbers of paths, or expected ones where a routing has several paths per pair.

    Attributes
    ----------
    moving
        bool[num_pairs]: which pairs use the network, that is, are of different hosts. Two hosts of
        one router move although their path has no hops.
    load
        int32[num_channels], χ: number of paths on each channel, those of hosts last: the injection
        channels of all ports, then their ejection channels. float64 of expected ones.
    weighted_load
        float64[num_channels]: their weight.
    channel_bandwidth
        float64[num_channels], flits/cycle.
    between
        How many channels are between routers. All are in a direct network.
    """

    moving: Bools
    load: NDArray[Any]
    weighted_load: Floats
    channel_bandwidth: Floats
    between: int

    @property
    def channel_load(self) -> NDArray[Any]:
        """The paths on each channel between routers."""
        return self.load[: self.between]

    @property
    def weighted_channel_load(self) -> Floats:
        """The weight on each channel between routers."""
        return self.weighted_load[: self.between]

    @property
    def host_channel_load(self) -> NDArray[Any]:
        """The paths on each channel of hosts."""
        return self.load[self.between :]

    @property
    def weighted_host_channel_load(self) -> Floats:
        """The weight on each channel of hosts."""
        return self.weighted_load[self.between :]

    @cached_property
    def channel_time(self) -> Floats:
        """float64[num_channels], how long each works: weight over bandwidth, hosts' included."""
        return self.weighted_load / self.channel_bandwidth

    @property
    def meetings(self) -> float:
        """Pairs of paths on one channel between routers, summed over channels."""
        return float((self.channel_load.astype(np.float64) ** 2).sum())

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
        return len(self.load) > self.between


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
    weighted = expected_loads(topology, routing, source, target, weight)
    alike = float(weight[0]) if len(weight) else 1.0
    load = weighted / alike if alike else weighted
    if not (alike and bool((weight == alike).all())):
        load = expected_loads(topology, routing, source, target)
    if not routing.several:
        load = np.rint(load).astype(np.int32)
    return ChannelLoads(
        moving=source != target,
        load=load,
        weighted_load=weighted,
        channel_bandwidth=topology.channel_bandwidth,
        between=topology.num_network_channels,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class Contention(ChannelLoads):
    """What every path and every channel has to bear.

    Attributes
    ----------
    path_length
        int32[num_paths], D: hops, that is, channels between routers.
    logical_path_length
        int32[num_paths], d: channels of the path on which at least one new path is met.
    path_contention
        int32[num_paths], ν: number of *other* paths that share at least one channel between
        routers.
    contending_weight
        float64[num_paths]: weight of those other paths and of the path itself.
    heaviest_channel
        float64[num_paths]: largest channel time (weight over bandwidth) along the path, over all
        of its channels, those of hosts included, or 0 without channels.
    """

    path_length: Ints
    logical_path_length: Ints
    path_contention: Ints
    contending_weight: Floats
    heaviest_channel: Floats


def measure(
    topology: Topology,
    routing: Routing,
    sources: ArrayLike,
    targets: ArrayLike,
    weights: ArrayLike | None = None,
) -> Contention:
    """Return the contention of the paths from each source host to its target host.

    Dimension order on a k-ary n-cube is counted line by line, in time proportional to paths and
    channels. Any other routing path by path. Both are exact.

    Parameters
    ----------
    topology, routing
        The network and how packets travel on it: one path per pair.
    sources, targets
        int[num_paths] hosts. A pair of equal hosts uses no channel and meets no path.
    weights
        float[num_paths], such as bytes, or 1 if not given. Weighted results are exact while the
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

    Two hosts of one leaf, and one that sends to another leaf:

    >>> from netloom.topology import topology
    >>> from netloom.routing import ShortestPath
    >>> found = measure(topology("leaf-spine:2x2x2"), ShortestPath(), [0, 0], [1, 2])
    >>> found.path_length, found.host_channel_load
    (array([0, 2], dtype=int32), array([2, 0, 0, 0, 0, 1, 1, 0], dtype=int32))
    """
    from_node, to_node, weight = checked_pairs(sources, targets, weights)
    if routing.several:
        wanted = "one with a path per pair: expected_loads measures what has several"
        raise InputError("routing", routing, wanted)
    inside = topology.routers
    if by_lines(routing, topology):
        ends = legs(topology, from_node, to_node)
        between = _measure_lines(inside, routing, ends.entry, ends.exit, weight)
        ports: tuple[Ints, ...] = ends.source_port, ends.target_port
    else:
        routed, rate = paths(topology, routing, from_node, to_node), inside.channel_bandwidth
        between, ports = measure_paths(routed, len(rate), weight, bandwidth=rate), routed.ports
    if not topology.ports_listed:
        return between
    # what the ports carry at which paths begin and end
    moving, many = from_node != to_node, 2 * topology.num_ports
    used = np.concatenate([ports[0][moving], topology.num_ports + ports[1][moving]])
    load = np.bincount(used, minlength=many).astype(np.int32)
    weighted_load = np.bincount(used, np.tile(weight[moving], 2), many).astype(np.float64)
    at_ports = (weighted_load / topology.port_bandwidth)[used].reshape(2, -1).max(axis=0)
    heaviest = between.heaviest_channel.copy()
    heaviest[moving] = np.maximum(heaviest[moving], at_ports)
    alone = moving & (between.path_length == 0)
    return replace(
        between,
        moving=moving,
        load=np.append(between.load, load),
        weighted_load=np.append(between.weighted_load, weighted_load),
        channel_bandwidth=topology.channel_bandwidth,
        contending_weight=np.where(alone, weight, between.contending_weight),
        heaviest_channel=heaviest,
    )


def by_lines(routing: Routing, topology: Topology) -> TypeGuard[DimensionOrder]:
    """Return whether paths are counted line by line: dimension order on an even k-ary n-cube."""
    inside = topology.routers
    ordered = isinstance(routing, DimensionOrder) and isinstance(inside, Cube)
    return ordered and bool((inside.channel_bandwidth == 1).all())


MOST_MEETINGS = 2**32
"""``meetings`` that ``measured`` still compares."""


def measured(
    topology: Topology,
    routing: Routing,
    sources: ArrayLike,
    targets: ArrayLike,
    weights: ArrayLike | None = None,
) -> ChannelLoads:
    """Return the contention of paths as ``measure`` does, or their loads alone.

    Only loads are known if there are several paths per pair. The same holds if paths are listed and
    so many of them meet that a comparison would take many seconds.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> isinstance(measured(mesh(5), DimensionOrder(), [0], [2]), Contention)
    True
    """
    if routing.several:
        return measure_loads(topology, routing, sources, targets, weights)
    if not by_lines(routing, topology) and len(np.asarray(sources)) > MOST_MEETINGS**0.5:
        found = measure_loads(topology, routing, sources, targets, weights)
        if found.meetings > MOST_MEETINGS:
            return found
    return measure(topology, routing, sources, targets, weights)


def measure_paths(
    routed: Paths,
    num_channels: int,
    weights: ArrayLike | None = None,
    *,
    bandwidth: Floats | None = None,
) -> Contention:
    """Return the contention of any given paths of routers, each looked at channel by channel.

    Parameters
    ----------
    routed
        The paths. None crosses a channel twice.
    num_channels
        Channels of the network.
    weights
        float[num_paths], or 1 if not given.
    bandwidth
        float64[num_channels], flits/cycle, or 1 if not given.

    Examples
    --------
    >>> both = Paths(np.array([0, 2, 3]), np.array([0, 1, 1], np.int32))
    >>> measure_paths(both, num_channels=3).channel_load
    array([1, 2, 0], dtype=int32)
    """
    from netloom.contention.kernels.channel_loads import stamp_paths
    from netloom.contention.kernels.expected_load import add_paths

    weight = np.ones(len(routed)) if weights is None else np.asarray(weights, np.float64)
    rate = np.ones(num_channels) if bandwidth is None else bandwidth
    load = np.bincount(routed.channels, minlength=num_channels).astype(np.int32)
    weighted_load = np.zeros(num_channels)
    add_paths(routed.channels, routed.offsets, weight, weighted_load)
    logical, paths_met, met_weight = stamp_paths(routed.channels, routed.offsets, weight, load)
    lengths, heaviest = routed.lengths, np.zeros(len(routed))
    if len(used := np.flatnonzero(lengths)):
        time = (weighted_load / rate)[routed.channels]
        heaviest[used] = np.maximum.reduceat(time, routed.offsets[used])
    met = lengths, logical, paths_met, heaviest, met_weight
    return _between_routers(met, load, weighted_load, rate)


def _between_routers(
    met: tuple[Any, ...], load: Ints, weighted_load: Floats, rate: Floats
) -> Contention:
    """Return what paths of routers meet. They count themselves once among the paths in ``met``."""
    lengths, logical, paths_met, heaviest, met_weight = met
    return Contention(
        moving=lengths > 0,
        path_length=lengths,
        logical_path_length=logical,
        path_contention=paths_met - (lengths > 0),
        contending_weight=met_weight,
        heaviest_channel=heaviest,
        load=load,
        weighted_load=weighted_load,
        channel_bandwidth=rate,
        between=len(load),
    )


def _measure_lines(
    topology: Topology, routing: DimensionOrder, sources: Ints, targets: Ints, weights: Floats
) -> Contention:
    """Count line by line, one dimension after the other (see ``kernels.channel_loads``)."""
    from netloom.contention.kernels.channel_loads import ask_dimension, count_dimension, spans

    tables = cube_tables(topology, routing)
    num_paths, each = len(sources), float(weights[0]) if len(weights) else 1.0
    alike = each.is_integer() and bool((weights == each).all())  # as many times what paths are
    kind, columns = (np.int32, 1) if alike else (np.float64, 2)
    load = np.zeros(topology.num_channels, np.int32)
    weighted_load = np.zeros(topology.num_channels)
    at, came = sources.copy(), np.full(num_paths, -1, np.int8)
    met = *np.zeros((3, num_paths), np.int32), *np.zeros((2, num_paths))
    for rank, axis in enumerate(tables.order):
        length, first = int(tables.line_channels[axis]), int(tables.line_base[axis, 0])
        size = 2 * topology.num_hosts // int(tables.sides[axis]) * length
        if not size:
            continue
        here, ways_in = slice(first, first + size), max(2 * rank, 1)
        shapes = (size, columns), (size, columns + 1), (size, ways_in, columns)
        tallies = tuple(np.zeros(shape, kind) for shape in shapes)
        paths_here = tables, rank, targets, None if alike else weights, at, came
        count_dimension(*paths_here, *tallies)
        heaviest = spans(np.ascontiguousarray(tallies[0][:, -1]), length)
        ask_dimension(*paths_here, *tallies, heaviest, met)
        load[here], weighted_load[here] = tallies[0][:, 0], tallies[0][:, -1]
    if alike:
        weighted_load *= each
        met = *met[:3], met[3] * each, met[2] * each
    rate = topology.channel_bandwidth
    return _between_routers(met, load, weighted_load, rate)
