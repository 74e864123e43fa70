"""Which channels the messages of a run crossed, and how busy these were over time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.topology.cubes import Cube
from netloom.workload.programs.messages import Lists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.simulation.agenda import Records
    from netloom.simulation.flow import FlowRun
    from netloom.simulation.program_network import ProgramNetwork
    from netloom.topology import Topology

    Times = NDArray[Any]

MOST_CHANNELS = 10
"""Busiest channels that are followed over time."""


class Crossed(NamedTuple):
    """What messages did to channels.

    ``links``: the links of each of the rows that moved, in their order. ``shares``: float64[…], the
    part of a message that crosses each. ``capacity``: float64[num_links], size per time. ``name``:
    what a link is called. ``lasting``: Time[…], how long each message used its links after it
    entered, or None for until it arrived.
    """

    links: Lists
    shares: Floats
    capacity: Floats
    name: Callable[[int], str]
    lasting: Times | None = None


def crossed_links(flows: FlowRun, moved: Bools) -> Crossed:
    """Return the links of those flows that have moved: see ``moved_rows``."""
    ways, links = flows.ways, flows.network
    hops = Lists(ways.offsets, np.arange(len(ways.links))).taken(flows.way[moved])
    taken = Lists(hops.offsets, ways.links[hops.values])
    return Crossed(taken, ways.shares[hops.values] / ways.whole, links.capacity, links.link_name)


def crossed_channels(network: ProgramNetwork, rows: Records, channel_flits: Ints) -> Crossed | None:
    """Return the channels of messages that have arrived. None if the engine does not keep them.

    They are those of the routing's one path for each pair, if these add up to the flits that the
    engine counted on each channel. These are ``channel_flits`` without those of messages on their
    way.
    """
    topology, moved = network.topology, np.flatnonzero(moved_rows(rows))
    inside = topology.num_network_channels
    taken = _routed(network, rows[moved])
    if taken is None:
        return None
    flits = rows["flits"][moved][taken.owners()]
    counted = np.bincount(taken.values, flits, minlength=topology.num_channels)[:inside]
    going = (rows["sent"] >= 0) & (rows["arrived"] < 0) & (rows["source"] != rows["target"])
    more = channel_flits - counted
    if more.min(initial=0) < 0 or more.max(initial=0) > rows["flits"][going].sum():
        return None
    capacity = np.asarray(topology.channel_bandwidth, np.float64)
    return Crossed(taken, np.ones(len(taken.values)), capacity, topology.channel_name)


def _routed(network: ProgramNetwork, rows: Records) -> Lists | None:
    """Return the channels of each message under a routing of one path for each pair, if it is such.

    In tori, the coins of messages decide between two equally long ways round a ring. A message that
    goes backward takes the mirror images of the channels that it would take forward.
    """
    from netloom.routing import DimensionOrder, VirtualChannelRouting, parse_routing, paths

    topology, routing = network.topology, network.routing
    source, target = (rows[name].astype(np.int64) for name in ("source", "target"))
    mirror = np.zeros(len(rows), np.int64)  # bit i: axis i is mirrored
    if isinstance(routing, VirtualChannelRouting):
        try:
            routing = routing.routes or parse_routing(routing.name, topology)
        except InputError:
            return None
        if isinstance(routing, DimensionOrder) and isinstance(topology, Cube):
            for axis, ahead, side in _ahead(topology, source, target):
                backward = (2 * ahead == side) & (rows["coin"] >> axis & 1 == 1)
                mirror |= backward.astype(np.int64) << axis
    many = topology.num_hosts
    kinds, number = np.unique((mirror * many + source) * many + target, return_inverse=True)
    if not len(kinds):
        return Lists(np.zeros(1, np.int64), np.zeros(0, np.int32))
    mirrors, pairs = np.divmod(kinds, many * many)
    lengths, values = [], []
    for which in np.unique(mirrors).tolist():  # rising, as the kinds are
        node, channel = _mirrored(topology, which)
        ends = np.divmod(pairs[mirrors == which], many)
        routed = paths(topology, routing, *(node[each] for each in ends)).whole(topology)
        if routed.probability is not None:
            return None
        lengths.append(routed.lengths)
        values.append(channel[routed.channels])
    offsets = np.append(0, np.cumsum(np.concatenate(lengths), dtype=np.int64))
    return Lists(offsets, np.concatenate(values)).taken(number)


def _ahead(topology: Cube, source: Ints, target: Ints) -> Iterator[tuple[int, Ints, int]]:
    """Yield the axes that are rings: number, how far each target is ahead, and the side."""
    from_at, to_at = (np.unravel_index(each, topology.sides) for each in (source, target))
    for axis, (side, wrap) in enumerate(zip(topology.sides, topology.wraps, strict=True)):
        if wrap:
            yield axis, (to_at[axis] - from_at[axis]) % side, int(side)


def _mirrored(topology: Topology, mirror: int) -> tuple[Ints, Ints]:
    """Return what each node and each channel becomes in a mirror of some axes of a torus."""
    if not mirror or not isinstance(topology, Cube):
        return np.arange(topology.num_ends), np.arange(topology.num_channels)
    sides = topology.sides
    at = np.unravel_index(np.arange(topology.num_routers), sides)
    turned = [
        (side - each) % side if mirror >> axis & 1 else each
        for axis, (each, side) in enumerate(zip(at, sides, strict=True))
    ]
    node = np.ravel_multi_index(tuple(turned), sides)
    ends = topology.channel_source.astype(np.int64), topology.channel_target
    key = ends[0] * topology.num_routers + ends[1]
    order = np.argsort(key, kind="stable")
    wanted = node[ends[0]] * topology.num_routers + node[ends[1]]
    place = np.minimum(np.searchsorted(key[order], wanted), len(order) - 1)
    return node, order[place]


def moved_rows(rows: Records) -> Bools:
    """Return which rows have sent a message over the network that has arrived."""
    found: Bools = (
        (rows["arrived"] >= 0) & (rows["flits"] > 0) & (rows["source"] != rows["target"])
        & (rows["entered"] >= 0)
    )  # fmt: skip
    return found


def busiest_links(crossed: Crossed, size: Times) -> Iterator[tuple[int, Ints, Floats]]:
    """Yield the busiest links, each with the messages that crossed it and the time that each took.

    ``size`` has the size of each of the rows that moved.
    """
    message, links = crossed.links.owners(), crossed.links.values
    taken = crossed.shares * size[message] / crossed.capacity[links]
    total = np.bincount(links, taken, minlength=len(crossed.capacity))
    busiest = np.argsort(-total, kind="stable")[:MOST_CHANNELS]
    for link in busiest[total[busiest] > 0].tolist():
        here = np.flatnonzero(links == link)
        yield link, message[here], taken[here]


def mean_rates(begin: NDArray[Any], end: NDArray[Any], rate: Floats, edges: NDArray[Any]) -> Floats:
    """Return the mean sum of rates, each from when it begins until it ends, between edges.

    Examples
    --------
    >>> begin, end, rate = np.array([0, 10]), np.array([20, 30]), np.array([0.5, 0.25])
    >>> mean_rates(begin, end, rate, np.array([0.0, 15.0, 30.0])).round(3).tolist()
    [0.583, 0.417]
    """
    times, value = rate_sums(begin, end, rate)
    passed = np.append(0.0, np.cumsum(value[:-1] * np.diff(times)))
    found: Floats = np.diff(np.interp(edges, times, passed)) / np.diff(edges)
    return found


def rate_sums(begin: NDArray[Any], end: NDArray[Any], rate: Floats) -> tuple[NDArray[Any], Floats]:
    """Return when the sum of rates changes, and what it is from then on."""
    times, inverse = np.unique(np.concatenate([begin, end]), return_inverse=True)
    change = np.bincount(inverse, np.concatenate([rate, -rate]), minlength=len(times))
    value: Floats = np.cumsum(change, dtype=np.float64)
    value[-1:] = 0
    return times, value
