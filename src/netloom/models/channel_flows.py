"""Traffic on its paths, and the virtual channels it takes: what queueing models start from."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import DeadlockError, InputError
from netloom.base.words import counted
from netloom.routing import DimensionOrder, Paths, draw_aux, paths, ports, virtual_channel_routing
from netloom.routing.cycles import dependency_cycle
from netloom.routing.hosted import legs
from netloom.routing.route_tables import channels_by_port
from netloom.routing.rules import layer_vcs, layers
from netloom.routing.virtual_channel_tables import O1TURN, TWO_PHASE
from netloom.routing.virtual_channels import MOST_SLOTS
from netloom.topology import Cube
from netloom.topology.alike import check_alike, check_direct

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats, Ints
    from netloom.routing import Routing, VirtualChannelRouting
    from netloom.topology import Topology


@dataclass(frozen=True, eq=False)
class Flows:
    """Traffic on its paths.

    Attributes
    ----------
    paths
        The channels of each path.
    source, target
        int32[num_paths], the nodes at its ends, or the hosts' ports if hosts hang on routers.
    rate
        float64[num_paths], flits per cycle at load 1.
    vc_share
        float64[hops of all paths, vcs]: the chance of each VC on each hop.
    pair
        int64[num_paths]: the requested pair that it belongs to. Half-way round a ring a pair has
        two paths.
    num_nodes, num_channels
        Of the network. If hosts hang on routers, these count its ports, and the channels between
        routers.
    """

    paths: Paths
    source: Ints
    target: Ints
    rate: Floats
    vc_share: Floats
    pair: Ints
    num_nodes: int
    num_channels: int


def any_vc_flows(
    paths: Paths,
    sources: ArrayLike,
    targets: ArrayLike,
    rates: ArrayLike,
    *,
    vcs: int,
    num_nodes: int,
    num_channels: int,
) -> Flows:
    """Return the flows of given paths whose packets may take any VC of each channel.

    The paths are of any topology and deterministic routing: nodes at the ends of each, and its
    flits per cycle at load 1. The other numbers are those of the network.

    Raises
    ------
    InputError
        If a rate is negative or not finite, nothing is sent, or a node or a channel is none of the
        network's.

    Examples
    --------
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.routing import paths as find_paths
    >>> from netloom.topology import mesh
    >>> line = mesh(4)
    >>> found = find_paths(line, DimensionOrder(), [0, 1], [3, 3])
    >>> any_vc_flows(found, [0, 1], [3, 3], [1, 1], vcs=2, num_nodes=4, num_channels=6).paths
    <2 paths, 5 hops>
    """
    rate = checked_rates(rates, len(paths))
    if vcs < 1:
        raise InputError("vcs", str(vcs), "at least 1")
    share = np.full((len(paths.channels), vcs), 1 / vcs)
    source = checked_nodes("sources", sources, rate, num_nodes)
    target = checked_nodes("targets", targets, rate, num_nodes)
    if len(paths.channels) and not 0 <= paths.channels.min() <= paths.channels.max() < num_channels:
        raise InputError("paths", "a channel out of range", f"0 to {num_channels - 1}")
    return Flows(paths, source, target, rate, share, np.arange(len(paths)), num_nodes, num_channels)


def follow_flows(
    routing: VirtualChannelRouting, sources: ArrayLike, targets: ArrayLike, rates: ArrayLike
) -> Flows:
    """Return the flows of pairs of nodes, on the paths and VCs that a routing gives them.

    Half-way round a ring, a coin decides, so half of a pair's traffic goes either way. A packet
    takes each of the VCs that it may take next with the same chance. So packets that may not go
    back to the lower class of a ring drift to the upper one.

    Parameters
    ----------
    routing
        One that leaves no choice of channels: dimension order, given routes, tables of one channel
        each, shortest paths, up-down, layered.
    sources, targets, rates
        The pairs of nodes, and the flits per cycle of each at load 1.

    Raises
    ------
    InputError
        If the routing leaves a choice of channels, a rate is negative or not finite, nothing is
        sent, or a node is none of the network's.
    NoRouteError
        If a pair has no given route.

    Examples
    --------
    >>> from netloom.routing import virtual_channel_routing
    >>> from netloom.topology import torus
    >>> routing = virtual_channel_routing(torus(4), "dimension-order", num_vcs=2)
    >>> found = follow_flows(routing, [0, 1], [2, 2], [1.0, 1.0])
    >>> found.rate, found.vc_share[:2]  # two ways; the first starts in either VC
    (array([0.5, 0.5, 1. ]), array([[0.5 , 0.5 ],
           [0.25, 0.75]]))
    """
    from netloom.models.kernels.channel_flows import follow_all

    if routing.tables.kind in (TWO_PHASE, O1TURN):
        raise _no_choice(routing)
    topology = routing.topology
    check_direct(topology, "paths of nodes", "host_flows")
    check_alike(topology, "the model of latency")
    rate = checked_rates(rates, np.size(sources))
    source = checked_nodes("sources", sources, rate, topology.num_hosts)
    target = checked_nodes("targets", targets, rate, topology.num_hosts)
    _, aux = draw_aux(routing, np.random.default_rng(0), source, target)
    in_port = ports(topology).in_port.astype(np.int64)
    wiring = channels_by_port(topology), topology.channel_target, in_port
    which, weight, hops, (channels, share) = follow_all(
        routing.tables, wiring, source, target, aux, topology.num_channels
    )
    if (hops < 0).any():
        raise _no_choice(routing)
    offsets = np.concatenate([[0], np.cumsum(hops)])
    return Flows(
        Paths(offsets, channels), source[which], target[which], rate[which] * weight, share, which,
        topology.num_hosts, topology.num_channels,
    )  # fmt: skip


def checked_nodes(where: str, nodes: ArrayLike, rate: Floats, num_nodes: int) -> Ints:
    """Return nodes, one for each rate, if the network has them."""
    found = np.asarray(nodes)
    if found.shape != rate.shape:
        raise InputError(where, f"shape {found.shape}", f"one for each of {len(rate)}")
    wrong = ~((found >= 0) & (found < num_nodes) & (found == found.astype(np.int64)))
    if wrong.any():
        raise InputError(where, f"node {found[wrong][0]}", f"0 to {num_nodes - 1}")
    return found.astype(np.int32)


def checked_rates(rates: ArrayLike, count: int) -> Floats:
    """Return rates, if they are as many as they should be, and anything is sent."""
    rate = np.asarray(rates, np.float64)
    if rate.shape != (count,):
        raise InputError("rates", f"shape {rate.shape}", f"one for each of {count}")
    wrong = ~((rate >= 0) & np.isfinite(rate))
    if wrong.any():
        raise InputError("rates", str(rate[wrong][0]), "numbers of at least 0")
    if not rate.any():
        raise InputError("rates", "nothing sent", "some traffic to predict")
    return rate


def _no_choice(routing: VirtualChannelRouting) -> InputError:
    wanted = "one that leaves no choice of channels; simulate this one"
    return InputError("routing", routing.name, wanted)


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
    topology: Topology, routing: DimensionOrder, source: Ints, target: Ints, rate: Floats, vcs: int
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
