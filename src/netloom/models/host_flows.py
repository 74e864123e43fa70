"""Traffic between hosts that hang on routers, as the flows that queueing models start from."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import DeadlockError, InputError
from netloom.base.words import counted
from netloom.models.channel_flows import Flows, checked_nodes, checked_rates, follow_flows
from netloom.routing import DimensionOrder, Paths, paths, virtual_channel_routing
from netloom.routing.cycles import dependency_cycle
from netloom.routing.hosted import legs
from netloom.routing.rules import layer_vcs, layers
from netloom.routing.virtual_channels import MOST_SLOTS
from netloom.topology import Cube
from netloom.topology.alike import check_alike

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats, Ints
    from netloom.routing import Routing
    from netloom.topology import Topology


def host_flows(
    topology: Topology,
    routing: Routing,
    sources: ArrayLike,
    targets: ArrayLike,
    rates: ArrayLike,
    *,
    vcs: int,
    most_hops: int = 2**28,
) -> Flows:
    """Return the flows of pairs of hosts that hang on routers: a port is a node of them.

    A host injects and receives packets by each of its ports as by a node of its own. Packets to
    itself go out and in by its first port. If a routing has several paths for a pair, each packet
    draws one. Dimension order on cubes has classes of VCs, as on direct networks. Other paths take
    any VC, or any VC of a layer if they could deadlock (see ``routing.layered``).

    Parameters
    ----------
    topology, routing
        The network and the routing.
    sources, targets, rates
        The pairs of hosts, and the flits per cycle of each at load 1.
    vcs
        Virtual channels of every channel.
    most_hops
        Most hops of all paths, times VCs.

    Raises
    ------
    InputError
        If channels differ, there are too many hops, a rate is negative or not finite, nothing is
        sent, or a host is none of the network's.
    NoRouteError
        If the routing has no path for a pair.
    DeadlockError
        If packets could wait for each other in a circle on so many VCs.

    Examples
    --------
    >>> from netloom.routing import UpDown
    >>> from netloom.topology import topology
    >>> found = host_flows(
    ...     topology("leaf-spine:2x1x2"), UpDown(), [0, 0], [1, 3], [0.5, 0.5], vcs=2)
    >>> found.paths, found.source, found.target
    (<2 paths, 2 hops>, array([0, 0], dtype=int32), array([1, 3], dtype=int32))
    """
    check_alike(topology, "the model of latency")
    rate = checked_rates(rates, np.size(sources))
    source = checked_nodes("sources", sources, rate, topology.num_hosts)
    target = checked_nodes("targets", targets, rate, topology.num_hosts)
    if isinstance(routing, DimensionOrder) and isinstance(topology.routers, Cube):
        return _by_rule(topology, routing, source, target, rate, vcs)
    routed = paths(topology, routing, source, target)
    if len(routed.channels) * vcs > most_hops:
        found = f"{len(routed.channels):,} hops with {vcs} VCs"
        raise InputError(topology.name, found, f"at most {most_hops:,}, hops times VCs")
    pair = np.arange(len(routed)) if routed.pair is None else routed.pair.astype(np.int64)
    part = rate[pair] if routed.probability is None else rate[pair] * routed.probability
    inner, entry, leave = _cut(topology, routed, source[pair], target[pair])
    share = _layered_share(topology, str(routing), inner, vcs)
    ports, channels = topology.num_ports, topology.num_network_channels
    return Flows(inner, entry, leave, part, share, pair, ports, channels)


def _cut(topology: Topology, routed: Paths, source: Ints, target: Ints) -> tuple[Paths, Ints, Ints]:
    """Return paths without the channels of hosts, and the ports whose channels those are."""
    channels, first = routed.channels, topology.num_network_channels
    moving, own = source != target, topology.port_offsets[:-1]
    begin, end = routed.offsets[:-1][moving], routed.offsets[1:][moving] - 1
    entry, leave = own[source], own[target]
    entry[moving] = channels[begin] - first
    leave[moving] = channels[end] - first - topology.num_ports
    offsets = routed.offsets - 2 * np.append(0, np.cumsum(moving))
    inner = Paths(offsets, channels[channels < first])
    return inner, entry.astype(np.int32), leave.astype(np.int32)


def _by_rule(
    topology: Topology,
    routing: DimensionOrder,
    source: Ints,
    target: Ints,
    rate: Floats,
    vcs: int,
) -> Flows:
    """Return the flows of hosts as those of their routers, with the ports of the hosts."""
    of_routers = virtual_channel_routing(topology.routers, routing, num_vcs=vcs)
    ends = legs(topology, source, target)
    found = follow_flows(of_routers, ends.entry, ends.exit, rate)
    first, still = topology.num_network_channels, source == target
    own = topology.port_offsets[:-1][source]
    entry = np.where(still, own, ends.injection - first)
    leave = np.where(still, own, ends.ejection - first - topology.num_ports)
    return replace(
        found,
        source=entry[found.pair].astype(np.int32),
        target=leave[found.pair].astype(np.int32),
        num_nodes=topology.num_ports,
    )


def _layered_share(topology: Topology, routing: str, inner: Paths, vcs: int) -> Floats:
    """Return the chance of each VC on each hop: any, or of a layer's if a circle could close.

    Layers are looked for where routers have few enough channels.
    """
    share = np.full((len(inner.channels), vcs), 1 / vcs)
    circle = dependency_cycle(inner, topology.num_network_channels)
    if not circle:
        return share
    wanted = "routing up-down: more VCs are not looked for at routers of this size"
    routers, needed = topology.routers, 0
    if np.bincount(routers.channel_source).max() <= MOST_SLOTS:
        some = inner.lengths > 0
        layer = layers(routers, inner.taken(np.flatnonzero(some)))
        needed = int(layer.max(initial=0)) + 1
        wanted = f"at least {needed} VCs, or routing up-down"
    if not 0 < needed <= vcs:
        named = tuple(topology.channel_name(channel) for channel in circle)
        raise DeadlockError(
            f"{routing} on {topology.name} with {counted(vcs, 'VC')}", named, wanted
        )
    of_layer = layer_vcs(needed, vcs)[:, None] >> np.arange(vcs) & 1
    share[:] = (of_layer / of_layer.sum(axis=1, keepdims=True))[layer]
    return share
