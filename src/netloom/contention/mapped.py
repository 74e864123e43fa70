"""A program on a network, measured: its figures, by which mappings are compared, and its tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.figures import FLITS, SHARE, Figures, Number, UnitOf, figure, known, say
from netloom.base.units import size
from netloom.base.words import counted, number
from netloom.contention.channel_loads import ChannelLoads, Contention, measured
from netloom.contention.saturation_limit import Saturation, capacity_fraction, saturation
from netloom.routing import Paths, Routing
from netloom.topology import Topology
from netloom.workload import ProcessGraph

LOADS = UnitOf("load_unit")
"""The unit of loads: of what the edges of the process graph weigh."""

RATE = "flits/cycle"
"""The unit of bandwidth."""

MOST_SORTED = 2**22
"""Most hops of all paths that are sorted by channel."""

FEW = 3
"""Pairs of a channel that are named."""


def carried(unit: str, amount: float) -> str:
    """Return an amount of traffic with its unit, such as ``load_unit`` names.

    Examples
    --------
    >>> carried("bytes", 12_299_755), carried("messages", 1), carried("paths", 2.5)
    ('12.3 MB', '1 message', '2.5 paths')
    """
    return size(amount) if unit == "bytes" else counted(number(amount), unit[:-1])


class Spread(Figures):
    """The mean of what paths or channels have, and the most that one has."""

    mean: float = figure(lead=True)
    max: Number | None = figure(key=True, lead=True)

    @classmethod
    def of(cls, values: NDArray[Any]) -> Self:
        """Return those of values: 0 of none."""
        mean = float(values.mean()) if len(values) else 0.0  # one router has no channels
        return cls(mean=mean, max=values.max(initial=0).item())


class Hops(Spread):
    """The hops of paths."""

    max: int | None = figure(key=True)


class Loads(Spread):
    """The loads of channels."""

    max: float = figure(key=True)


class Met(Spread):
    """How many other paths are met, told by the mean."""

    mean: float = figure(key=True)
    max: int


class OfCapacity(Figures):
    """Limits of the load as fractions of the network's capacity (eq. 3.32)."""

    average_node: float | None
    worst_node: float | None
    upper_bound: float | None


class Limits(Figures):
    """Loads at which nodes are delayed, and the one at which a channel is full: ``Saturation``."""

    average_node: float | None = figure("most nodes delayed from (estimate)", FLITS)
    worst_node: float | None = figure("first node delayed from (estimate)", FLITS, key=True)
    upper_bound: float | None = figure("carried at most by these paths", FLITS, key=True)
    lemma_3: float | None = figure("average node by lemma 3 alone", FLITS, table=False)
    of_capacity: OfCapacity | None = figure("limits over the network's capacity")


class MappedFigures(Figures):
    """The figures by which mappings are compared.

    Means and maxima of path figures are over the paths that use the network, those of channel
    figures over all channels between routers, used or not. What is not known is None.
    """

    path_length: Hops = figure("path length D", "hops", flat="path_length_")
    logical_path_length: Hops | None = figure("logical path length d", flat="logical_path_length_")
    channel_load: Spread = figure("paths on a channel", "paths", flat="channel_load_", key=True)
    weighted_channel_load: Loads = figure(
        "load of a channel", LOADS, flat="weighted_channel_load_", key=True
    )
    path_contention: Met | None = figure("paths met", "paths", flat="path_contention_", key=True)
    hop_bytes: float | None = figure("hop-bytes")
    dilation: float | None = figure("hops per byte", key=True)
    saturation: Limits = figure(flat="saturation_", key=True)


@dataclass(frozen=True, eq=False)
class MappedProgram:
    """One mapping's paths, measured.

    ``source`` and ``target`` are hosts, ``weights`` floats, one for each edge of the process graph.
    The hosts of an edge are the same if it stays inside a node.
    ``contention`` is a ``Contention``. If a routing has several paths per pair, or there are more
    paths than can be compared, it is loads alone.
    """

    graph: ProcessGraph
    topology: Topology
    source: Ints
    target: Ints
    weights: Floats
    contention: ChannelLoads
    limit: Saturation

    @property
    def moving(self) -> Bools:
        """Which edges of the process graph use the network (bool[num_edges])."""
        return self.contention.moving

    @property
    def inside_nodes(self) -> float:
        """The share of the traffic that stays inside nodes."""
        return float(self.weights[~self.moving].sum() / self.weights.sum())

    @property
    def by_path(self) -> Contention | None:
        """The contention path by path. None where only the loads of channels are known."""
        return self.contention if isinstance(self.contention, Contention) else None

    @property
    def paths_meet(self) -> bool | None:
        """Whether two paths share a channel between routers. None where nobody counted."""
        return None if self.by_path is None else bool(self.by_path.path_contention.any())

    @property
    def sent_by_host(self) -> Floats:
        """float64[num_hosts], what each host sends over the network."""
        weight = np.where(self.moving, self.weights, 0.0)
        sent = np.bincount(self.source, weight, self.topology.num_hosts)
        return sent.astype(np.float64)

    def figures(self) -> MappedFigures:
        """Return the figures by which this mapping is compared with others."""
        found, by_path, moving = self.contention, self.by_path, self.moving
        logical, met, hop_bytes = None, None, None
        if by_path is not None:
            length = Hops.of(by_path.path_length[moving])
            logical = Hops.of(by_path.logical_path_length[moving])
            met = Met.of(by_path.path_contention[moving])
            hop_bytes = float(self.graph.bytes @ by_path.path_length)
        else:
            length = Hops(mean=float(found.channel_load.sum()) / int(moving.sum()), max=None)
            in_bytes = np.array_equal(self.weights, self.graph.bytes)
            hop_bytes = float(found.weighted_channel_load.sum()) if in_bytes else None
        moved = float(self.graph.bytes[moving].sum())
        dilation = None if hop_bytes is None else hop_bytes / moved if moved else 0.0
        room = float(self.topology.routers.channel_bandwidth.sum()) / self.topology.num_hosts
        names = ("average_node", "worst_node", "upper_bound")
        loads, of_capacity = {name: getattr(self.limit, name) for name in names}, None
        if dilation is not None and room:
            parts = {name: float(capacity_fraction(loads[name], dilation, room)) for name in names}
            of_capacity = OfCapacity(**{name: known(part) for name, part in parts.items()})
        return MappedFigures(
            path_length=length,
            logical_path_length=logical,
            channel_load=Spread.of(found.channel_load),
            weighted_channel_load=Loads.of(found.weighted_channel_load),
            path_contention=met,
            hop_bytes=hop_bytes,
            dilation=dilation,
            saturation=Limits(
                **{name: known(load) for name, load in loads.items()},
                lemma_3=known(self.limit.lemma_3),
                of_capacity=of_capacity,
            ),
        )


def measured_program(
    graph: ProcessGraph, topology: Topology, routing: Routing, host_of: Ints, weights: Floats
) -> MappedProgram:
    """Measure the paths of a placed program. Those inside nodes have no channels.

    Parameters
    ----------
    host_of
        int32[num_tasks], the host of each task.
    weights
        float64[num_edges], what each edge of the process graph weighs.

    Raises
    ------
    InputError
        If nothing that weighs anything crosses the network.

    Examples
    --------
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.topology import mesh
    >>> from netloom.workload import ring
    >>> program, hosts = ring(4), np.arange(4, dtype=np.int32)
    >>> found = measured_program(program, mesh(4), DimensionOrder(), hosts, program.bytes)
    >>> found.figures().path_length.max
    3
    """
    source, target = host_of[graph.source], host_of[graph.target]
    target = np.where(topology.crosses(source, target), target, source)
    found = measured(topology, routing, source, target, weights)
    limit = saturation(found, source, weights, topology.num_hosts)
    return MappedProgram(graph, topology, source, target, weights, found, limit)


def weights_of(graph: ProcessGraph, weight: Any) -> Floats:
    """Return what each edge weighs, by ``bytes``, ``messages`` or ``uniform``.

    Raises
    ------
    InputError
        If none weighs anything.
    """
    found = graph.weights(weight)
    if not found.any():
        wanted = "a program that communicates"
        wanted += f", or another weight than {weight}" if graph.num_edges else ""
        raise InputError(graph.name, f"no {weight} sent from a task to another", wanted)
    return found


class Slowdown(Figures):
    """By what contention lengthens the communication of a path (estimates)."""

    mean: float = figure(lead=True)
    max: float = figure(lead=True)

    @classmethod
    def of(cls, slowdowns: Floats, weights: Floats) -> Slowdown:
        """Return the mean, by weight, of what is known, and the maximum."""
        there = ~np.isnan(slowdowns)
        mean = float(np.average(slowdowns[there], weights=weights[there]))
        return cls(mean=mean, max=float(slowdowns[there].max()))


class MeanMessage(Figures):
    """The mean message's size and hops, and its time without contention.

    Cycles are those of wormhole switching (eq. 1.3) at one hop and one flit per cycle. µs are the
    machine's own α + βL, if published.
    """

    bytes: float
    hops: float | None = figure(default=None, optional=True)
    cycles: float | None = figure(default=None, optional=True)
    us: float | None = figure(unit="µs", default=None, optional=True)

    @classmethod
    def of(cls, mapped: MappedProgram, flit_bytes: Number) -> MeanMessage | None:
        """Return that of a program whose paths are measured. None if it sends none."""
        graph, moving = mapped.graph, mapped.moving
        messages = graph.messages[moving]
        if not messages.sum():
            return None
        mean = float(graph.bytes[moving].sum() / messages.sum())
        if mapped.by_path is None:
            return cls(bytes=mean)
        hops = float(np.average(mapped.by_path.path_length[moving], weights=messages))
        flits = float(np.ceil(mean / flit_bytes))
        return cls(bytes=mean, hops=hops, cycles=hops + max(flits - 1, 0))


def paths_of(mapped: MappedProgram, host_of: Ints, slowdowns: Floats | None) -> dict[str, Any]:
    """Return columns with a row per path: tasks, hosts, weights, and contention if known."""
    graph, found = mapped.graph, mapped.by_path
    columns = {
        "source_task": graph.source,
        "target_task": graph.target,
        "source_node": host_of[graph.source],
        "target_node": host_of[graph.target],
        "bytes": graph.bytes,
        "messages": graph.messages,
    }
    if found is not None:
        columns |= {
            "path_length": found.path_length,
            "logical_path_length": found.logical_path_length,
            "path_contention": found.path_contention,
            "heaviest_channel_weight": found.heaviest_channel,
        }
    return columns if slowdowns is None else columns | {"slowdown": slowdowns}


class MappedChannel(Figures):
    """A channel, and what a mapped program puts on it. Those of hosts come last.

    Names and kinds only if hosts have channels of their own. Pairs only if there are few enough.
    """

    channel: int
    source_node: int
    target_node: int
    channel_load: Number = figure("paths", "paths")
    weighted_channel_load: float = figure("load", LOADS)
    name: str | None = figure("channel", optional=True)
    kind: str | None = figure(optional=True)
    bandwidth: float = figure(unit=RATE)
    time: float = figure("load over bandwidth")
    pairs: str | None = figure("pairs with most traffic", optional=True)


def channels_of(
    topology: Topology, found: ChannelLoads, pairs: list[str] | None = None
) -> dict[str, Any]:
    """Return the columns of ``MappedChannel``. ``pairs``: of each channel, if they are known."""
    columns: dict[str, Any] = {
        "channel": np.arange(topology.num_channels),
        "source_node": topology.source_end,
        "target_node": topology.target_end,
        "channel_load": found.load,
        "weighted_channel_load": found.weighted_load,
        "bandwidth": found.channel_bandwidth,
        "time": found.channel_time,
    }
    if not topology.direct:
        counts = topology.num_network_channels, topology.num_ports, topology.num_ports
        columns |= {
            "name": [topology.channel_name(each) for each in range(topology.num_channels)],
            "kind": np.repeat(["network", "injection", "ejection"], counts),
        }
    return columns if pairs is None else columns | {"pairs": pairs}


def edges_by_channel(mapped: MappedProgram, routed: Paths, hops: Ints) -> tuple[Ints, Ints, Floats]:
    """Return channels, ascending, the edges that load each, and their loads, most first.

    ``hops``: int64[], places of the channels in ``routed.channels`` that are looked at.
    """
    path = np.searchsorted(routed.offsets, hops, side="right") - 1
    edge = path if routed.pair is None else routed.pair[path]
    part = 1.0 if routed.probability is None else routed.probability[path]
    many = max(mapped.graph.num_edges, 1)
    number = routed.channels[hops].astype(np.int64) * many + edge
    keys, place = np.unique(number, return_inverse=True)
    load = np.zeros(len(keys))
    np.add.at(load, place, mapped.weights[edge] * part)
    channel, edge = np.divmod(keys, many)
    order = np.lexsort((edge, -load, channel))
    return channel[order], edge[order], load[order]


def pairs_by_channel(mapped: MappedProgram, routed: Paths | None) -> list[str] | None:
    """Return the pairs of tasks that load each channel most, with their shares, in words.

    In a network from a file that names hosts and ports the pairs are those of hosts. None if the
    paths are not at hand, or are too many.
    """
    if routed is None or len(routed.channels) > MOST_SORTED:
        return None
    graph, many = mapped.graph, mapped.topology.num_channels
    channel, edge, load = edges_by_channel(mapped, routed, np.arange(len(routed.channels)))
    counts = np.bincount(channel, minlength=many)
    total = np.bincount(channel, load, many)
    first = np.cumsum(counts) - counts
    top = np.arange(len(channel)) - first[channel] < FEW
    words: list[list[str]] = [[] for _ in range(many)]
    share = load / np.maximum(total[channel], 1e-300)
    for at, each, part_of in zip(*(x[top].tolist() for x in (channel, edge, share)), strict=True):
        source, target = str(graph.source[each]), str(graph.target[each])
        if mapped.topology.cabling is not None:
            hosts = mapped.source[each], mapped.target[each]
            source, target = (mapped.topology.name_of(int(host)) for host in hosts)
        words[at].append(f"{source}→{target} ({say(part_of, SHARE)})")
    return [", ".join(each) for each in words]


class MappedNode(Figures):
    """A host, what it sends, and its saturation. Names only if hosts hang on routers."""

    node: int
    tasks: int
    sent_weight: float = figure("sent", LOADS)
    share_of_average: float = figure("traffic over the average node's")
    saturation_estimate: float | None = figure(unit=FLITS)
    saturation_bound: float | None = figure(unit=FLITS)
    name: str | None = figure("host", optional=True)
    bandwidth: float | None = figure("bandwidth of its ports", RATE, optional=True)


def nodes_of(mapped: MappedProgram, host_of: Ints) -> dict[str, Any]:
    """Return the columns of ``MappedNode``. ``host_of``: the host of each task."""
    limit, topology = mapped.limit, mapped.topology
    hosts = topology.num_hosts
    columns = {
        "node": np.arange(hosts, dtype=np.int32),
        "tasks": np.bincount(host_of, minlength=hosts),
        "sent_weight": mapped.sent_by_host,
        "share_of_average": limit.node_share,
        "saturation_estimate": limit.node_estimate.tolist(),
        "saturation_bound": limit.node_bound.tolist(),
    }
    if not topology.direct:
        columns |= {
            "name": [topology.name_of(each) for each in range(hosts)],
            "bandwidth": injection_bandwidth(topology),
        }
    return columns


def injection_bandwidth(topology: Topology) -> Floats:
    """Return float64[num_hosts], that of all ports of each host, or 1 if nobody says a speed."""
    rate = topology.port_bandwidth[: topology.num_ports]
    room = np.bincount(topology.port_host, rate, topology.num_hosts)
    return np.where((room > 0) & np.isfinite(room), room, 1.0)


class ContentionCount(Figures):
    """How many paths of a mapping meet so many others."""

    mapping: str
    path_contention: int = figure("path contention ν", "paths")
    paths: int = figure("paths that meet so many")


def contention_counts(of: dict[str, Ints]) -> dict[str, Any]:
    """Return the columns of ``ContentionCount``, mapping by mapping.

    ``of``: the names of mappings, each with int64[ν_max + 1], how many of its paths have each ν.
    """
    rows = [
        (name, level, many)
        for name, counts in of.items()
        for level, many in enumerate(counts.tolist())
        if many
    ]
    names = ("mapping", "path_contention", "paths")
    return {name: [row[at] for row in rows] for at, name in enumerate(names)}


def counted_contention(mapped: MappedProgram) -> Ints:
    """Return int64[ν_max + 1], how many paths have each ν. Empty where nobody compared paths."""
    found = mapped.by_path
    if found is None:
        return np.zeros(0, np.int64)
    return np.bincount(found.path_contention[found.moving])
