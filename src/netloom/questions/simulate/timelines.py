"""Timelines of programs that ran on an engine: their rows on tracks of ranks, or of nodes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.questions.timelines import Crossed, Happened, timeline_of
from netloom.routing import DimensionOrder, VirtualChannelRouting, parse_routing, paths
from netloom.simulation.agenda import SPANS, TIMES
from netloom.topology.cubes import Cube
from netloom.workload.programs.messages import Lists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Bools, Ints
    from netloom.drawing.timelines import Timeline
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.simulation.agenda import Records
    from netloom.simulation.flow import FlowRun
    from netloom.simulation.loops import KeptRows
    from netloom.simulation.traces import TraceRun
    from netloom.topology import Topology
    from netloom.workload.programs.traces import Trace


def trace_timeline(
    run: TraceRun, trace: Trace, topology: Topology, *, unit: str, size: str,
    unit_us: float | None, crossed: Crossed | None,
) -> Timeline:  # fmt: skip
    """Return the timeline of a trace, on tracks of its tasks.

    What a node without a task passes on, in the tree of a multicast, is on a track of the node.
    """
    rows, entry, table = run.rows, run.program.entry, run.program.messages
    single = np.bincount(entry, minlength=len(trace))[entry] == 1
    head = single | (rows["flits"] == 0)  # the others pass on a multicast
    on_node = np.full(topology.num_hosts, -1, np.int64)
    on_node[table.source[head][::-1]] = trace.source[entry[head]][::-1]
    to, chosen = trace.targets.offsets[:-1][entry], np.full(len(entry), -1, np.int64)
    known = single & (np.diff(trace.targets.offsets)[entry] == 1)
    chosen[known] = trace.targets.values[to[known]]
    told = chosen >= 0
    on_node[table.target[told][::-1]] = chosen[told][::-1]
    empty = np.flatnonzero(on_node < 0)
    on_node[empty] = trace.num_tasks + np.arange(len(empty))
    happened = happened_to(
        rows,
        names=[
            *(f"rank {task}" for task in range(trace.num_tasks)),
            *(f"node {topology.name_of(node)}" for node in empty.tolist()),
        ],
        source=np.where(head, trace.source[entry], on_node[table.source]),
        target=np.where(told, chosen, on_node[table.target]),
        ids=[trace.ids[each] for each in entry.tolist()],
        computing=(trace.run[entry] > 0) & (table.run == 0),  # ranks that share a host
    )
    return timeline_of(
        happened, program=f"{trace.name} on {topology.name}", unit=unit, size=size,
        unit_us=unit_us, crossed=crossed, path=run.critical_path,
    )  # fmt: skip


def happened_to(rows: Records, *, source: Ints, target: Ints, **more: Any) -> Happened:
    """Return what happened to rows of an engine, from and to which tracks. ``more``: its fields."""
    known, none = rows.dtype.names or (), np.zeros(len(rows), np.int64)
    awaited = np.zeros(len(rows), np.bool_)  # those that released others, by being complete last
    awaited[rows["last"][rows["last"] >= 0]] = True
    times: dict[str, Any] = {
        name: rows[name] if name in known else none for name in (*TIMES, *SPANS)
    }
    return Happened(
        source=source,
        target=target,
        **times,
        size=rows["flits"],
        moved=moved_rows(rows),
        awaited=awaited,
        **more,
    )


def nodes_timeline(
    network: PreparedNetwork, kept: KeptRows, program: str, **about: Any
) -> Timeline:
    """Return the timeline of a program whose rows do not name their tasks, on tracks of nodes."""
    rows, topology = kept.rows, network.topology
    happened = happened_to(
        rows,
        names=[f"node {topology.name_of(node)}" for node in range(topology.num_hosts)],
        source=rows["source"],
        target=rows["target"],
        computing=kept.computing,
    )
    return timeline_of(
        happened, program=f"{program} on {topology.name}", unit="cycles", size="flits",
        unit_us=network.cycle_us, crossed=crossed_channels(network, rows, kept.channel_flits),
        about=about,
    )  # fmt: skip


def crossed_links(flows: FlowRun, moved: Bools) -> Crossed:
    """Return the links of those flows that have moved, as ``Happened`` has it."""
    ways, links = flows.ways, flows.network
    hops = Lists(ways.offsets, np.arange(len(ways.links))).taken(flows.way[moved])
    taken = Lists(hops.offsets, ways.links[hops.values])
    return Crossed(taken, ways.shares[hops.values] / ways.whole, links.capacity, links.link_name)


def crossed_channels(
    network: PreparedNetwork, rows: Records, channel_flits: Ints
) -> Crossed | None:
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


def _routed(network: PreparedNetwork, rows: Records) -> Lists | None:
    """Return the channels of each message under a routing of one path for each pair, if it is such.

    In tori, the coins of messages decide between two equally long ways round a ring. A message that
    goes backward takes the mirror images of the channels that it would take forward.
    """
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
