"""What runs of programs come to: the channels that messages crossed, finishes, waits and trust.

Channels are those of each message, and how busy they were over time. The rest are figures of
answers. Records are in the ``time_unit`` of the answer that has them, sizes in its ``size_unit``.
Flows that are all sent at once always take seconds and bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import fsum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Bools, Floats, Ints, Records
from netloom.base.errors import InputError
from netloom.base.figures import SHARE, Figures, Number, UnitOf, figure
from netloom.simulation.flow import FlowRun
from netloom.simulation.program_network import ProgramNetwork
from netloom.topology import Topology
from netloom.topology.cubes import Cube
from netloom.workload.programs.messages import Lists

# -- channels that messages crossed ----------------------------------------------------------------

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
    lasting: Records | None = None


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
            from_at, to_at = (np.unravel_index(each, topology.sides) for each in (source, target))
            for axis in np.flatnonzero(topology.wraps).tolist():
                side = int(topology.sides[axis])
                half_way = 2 * ((to_at[axis] - from_at[axis]) % side) == side
                backward = half_way & (rows["coin"] >> axis & 1 == 1)
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
    sends = (rows["flits"] > 0) & (rows["source"] != rows["target"])
    return np.asarray(sends & (rows["arrived"] >= 0) & (rows["entered"] >= 0))


def busiest_links(crossed: Crossed, size: Records) -> Iterator[tuple[int, Ints, Floats]]:
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
    return np.asarray(np.diff(np.interp(edges, times, passed)) / np.diff(edges))


def rate_sums(begin: NDArray[Any], end: NDArray[Any], rate: Floats) -> tuple[NDArray[Any], Floats]:
    """Return when the sum of rates changes, and what it is from then on."""
    times, inverse = np.unique(np.concatenate([begin, end]), return_inverse=True)
    change = np.bincount(inverse, np.concatenate([rate, -rate]), minlength=len(times))
    value = np.cumsum(change, dtype=np.float64)
    value[-1:] = 0
    return times, value


# -- figures of answers ----------------------------------------------------------------------------

TIME, SIZE = UnitOf("time_unit"), UnitOf("size_unit")

MOST_LISTED = 10
"""Slowest messages, busiest channels and last flows of a critical path that are figures."""


class Spread(Figures):
    """The mean of some values, their percentiles by nearest rank, and the largest."""

    mean: Number | None = figure("mean", key=True, lead=True)
    p50: Number | None = figure("median")
    p99: Number | None = figure("99 % up to", key=True, lead=True)
    max: Number | None = figure("largest", lead=True)

    @classmethod
    def of(cls, values: ArrayLike) -> Spread:
        """Return it of some values. The mean is of an exact sum: their order says nothing.

        Examples
        --------
        >>> found = Spread.of([1, 2, 3])
        >>> found.mean, found.p99
        (2.0, 3)
        """
        listed = np.asarray(values)
        if not len(listed):
            return cls(mean=None, p50=None, p99=None, max=None)
        middle, high = np.percentile(listed, [50, 99], method="inverted_cdf").tolist()
        mean = fsum(listed.tolist()) / len(listed)
        return cls(mean=mean, p50=middle, p99=high, max=listed.max().item())


ORDER_SAYS_NOTHING = 6.0
"""The gap between the ends in order and shared, as a factor, from which no end is expected."""


class Trust(Figures):
    """How far the finish of a run of flows, sent in order, can be trusted.

    Attributes
    ----------
    within
        The true finish differs from it by at most this part of it, in nine of ten cases. None:
        nothing can be said.
    why
        What decides that, as a sentence.
    """

    within: float | None = figure("expected error", SHARE)
    why: str

    def undecided(self, *ends: float | None) -> bool:
        """Whether the order decides when the program ends. ``ends``: in order, and shared."""
        known = [each for each in ends if each]
        if self.within is not None or len(known) < len(ends):
            return False
        return max(known) >= ORDER_SAYS_NOTHING * min(known)


class Finishes(Figures):
    """When flows that are all sent at once end, by how hosts send them and how routers share."""

    in_order: float | None = figure(
        "finish, sent in order", "seconds", at="in_order_finish_seconds", lead=True
    )
    shared: float | None = figure(
        "finish, sent all at once", "seconds", at="shared_finish_seconds", lead=True
    )
    lossless: float | None = figure(
        "finish, in order and lossless", "seconds", at="lossless_finish_seconds", lead=True
    )


class SentFlow(Figures):
    """A flow that was sent at time 0: when it entered and ended, and what held it back."""

    source_task: int
    target_task: int
    source_node: int
    target_node: int
    bytes: float = figure(unit="bytes")
    start_seconds: float = figure("start", "seconds")
    entered_seconds: float | None = figure("entered", "seconds")
    finish_seconds: float | None = figure("finish", "seconds")
    alone_seconds: float = figure("alone", "seconds")
    slowdown: float | None = figure("slow-down", "times")
    hops: float
    held_by: str | None = figure("held back by")


class InTurn(Figures):
    """The flows that followed each other at the host that finished last, and the last of them.

    ``sending`` is what their bytes take alone, ``held`` what sharing adds, and ``other`` latencies,
    overheads and waits for processors.
    """

    length: int = figure("last host: flows in turn", lead=True)
    sending: float = figure("last host: sending", "seconds", at="sending_seconds", lead=True)
    held: float = figure("last host: held back", "seconds", at="held_seconds", lead=True)
    other: float = figure("last host: latencies", "seconds", at="other_seconds")
    flows: tuple[SentFlow, ...]


class FlowsOnLink(Figures):
    """What flows did to a channel, and how many it held back, for how long in all."""

    bytes: float = figure("carried", "bytes", lead=True)
    flows: int = figure(lead=True)
    utilisation: float = figure("used", SHARE, lead=True)
    held_flows: int = figure("flows held back", head="held back", lead=True)
    held_seconds: float = figure("held back for, in all", "seconds")
    name: str = figure("channel", lead=True)


class FlowsOnChannel(FlowsOnLink):
    """What flows did to a channel of the network, by its number and its ends."""

    channel: int
    source_node: int
    target_node: int


class FlowsOnBusy(FlowsOnLink):
    """One of the busiest channels: between ``routers``, or a host's own (``hosts``)."""

    between: str


class ShareSlower(Figures):
    """Which share of the flows took at most so many times as long as alone."""

    share: float = figure("share of the flows", SHARE)
    slowdown: float = figure("times as long")


class Spent(Figures):
    """What a time on the critical path is made of, in the order in which it passes.

    See ``simulation.traces.Parts``.
    """

    compute: Number | None = figure("computing", TIME, head="computation", lead=True)
    processor_wait: Number | None = figure("waiting for a processor", TIME, lead=True)
    source_wait: Number | None = figure(
        "waiting for the node's own channel",
        TIME,
        head="waiting for the source's channel",
        lead=True,
    )
    message: Number | None = figure("messages on the way", TIME, head="messages", lead=True)
    contention: Number | None = figure(
        "contention in the network", TIME, head="contention", lead=True
    )
    receive: Number | None = figure("receiving", TIME, lead=True)


WAITS = ("processor_wait", "source_wait", "contention")
"""The parts that are waits."""


class Link(Spent):
    """A link of the critical path: an entry of the trace, of which a multicast gives several."""

    id: str
    source_node: int | None
    target_node: int | None
    complete: Number | None = figure(unit=TIME)


class CriticalEntries(Spent):
    """The chain of entries that determined when a trace finished, and its last links."""

    start: Number = figure(unit=TIME, table=False)
    length: int = figure("entries", table=False)
    entries: tuple[Link, ...]


class Wait(Figures):
    """The longest wait of an entry of the critical path: for what, and the names of its nodes."""

    id: str
    part: str
    time: Number = figure(unit=TIME)
    source: str
    target: str | None


class Message(Figures):
    """When a message was ready, sent and complete, and what its latency is made of.

    ``latency`` is from sending to arrival: ``source_wait`` until its node's channel into the
    network took it, ``unhindered`` if it meets no other, and ``contention``.
    """

    id: str
    source_task: int
    target_task: int | None
    source_node: int
    target_node: int
    size: Number = figure(unit=SIZE)
    ready: Number | None = figure(unit=TIME)
    sent: Number | None = figure(unit=TIME)
    arrived: Number | None = figure(unit=TIME)
    complete: Number | None = figure(unit=TIME)
    latency: Number | None = figure(unit=TIME)
    source_wait: Number | None = figure(unit=TIME)
    unhindered: Number | None = figure(unit=TIME)
    contention: Number | None = figure(unit=TIME)
    slowdown: float | None = figure("times as long as alone", optional=True)
    hops: Number | None


class UsedChannel(Figures):
    """A channel by what crossed it, and which part of it was used.

    In tables of all channels of a run in cycles, ``utilisation`` is flits per cycle.
    """

    channel: int | None = figure(optional=True)
    source_node: int | None = figure(optional=True)
    target_node: int | None = figure(optional=True)
    size: Number = figure("carried", SIZE, lead=True)
    busy: float | None = figure(unit=TIME, optional=True)
    utilisation: float = figure("used", SHARE, lead=True)
    bandwidth: float | None = figure(unit="flits/cycle", optional=True)
    between: str | None = figure(optional=True, table=False)
    name: str | None = figure("channel", optional=True, lead=True)


class BusyPart(Figures):
    """How busy a channel is in a part of the time."""

    name: str = figure("channel")
    begin: float = figure("from", TIME)
    end: float = figure("until", TIME)
    utilisation: float = figure("share of the channel in use", SHARE)
    critical: bool = figure("used by the critical path")


class Use(Figures):
    """How busy channels between routers are."""

    mean: float = figure("on average", SHARE, lead=True)
    max: float = figure("at most", SHARE, key=True, lead=True)
