"""What limits a network whose hosts hang on routers: cuts of it, and what its channels carry.

Cuts hold for every routing: each host and router alone, the subtrees of fat trees, the groups of
dragonflies, the coordinates of grids, two halves of the hosts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.contention.choices import chosen_loads
from netloom.contention.cuts import cut_parts, grid_sets, parts_of
from netloom.contention.decisions import drawn_loads
from netloom.contention.hop_stages import can_follow, chooses, forks
from netloom.routing import paths
from netloom.simulation.network.demand import (
    MOST_PAIRS,
    Demand,
    crossing,
    first_largest,
    limit_of,
    listed_pairs,
    received,
)
from netloom.simulation.network.entries import between_ports, followed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Floats
    from netloom.routing import VirtualChannelRouting
    from netloom.routing.by_hop.tables import HopTables
    from netloom.topology import Topology
    from netloom.workload import Traffic


def end_limits(
    topology: Topology, traffic: Traffic, demand: Demand, rate: Floats
) -> Iterator[tuple[float, str]]:
    """Yield the load of the fullest injection and ejection, over their bandwidth, and their names.

    All ports of a host together: a routing may choose among them. ``rate`` is that of each channel.
    """
    hosts, (sends, receives) = topology.num_hosts, _port_channels(topology)
    taken = received(demand, hosts)
    for flits, channels, end in (
        (traffic.rate, sends, "injection"), (taken, receives, "ejection"),
    ):  # fmt: skip
        room = np.bincount(topology.port_host, rate[channels], hosts)
        busy = np.divide(flits, room, out=np.zeros(hosts), where=room > 0)
        host = first_largest(busy)
        yield float(busy[host]), f"{end} at {topology.name_of(host)}"


def cut_limits(topology: Topology, demand: Demand, rate: Floats) -> Iterator[tuple[float, str]]:
    """Yield the load of the fullest cut of each kind, over its bandwidth, and its name."""
    rounded = float((rate / topology.channel_bandwidth).max(initial=1))
    grids = (parts_of(topology, *each) for each in grid_sets(topology))
    for part in (*cut_parts(topology), *grids):
        if part.kind == "host":  # see ``end_limits``, which counts what hosts send to themselves
            continue
        ways = crossing(demand, part.begins, part.ends, len(part.leaving))
        rooms = part.leaving * rounded, part.entering * rounded
        for weight, room, way in zip(ways, rooms, ("out of", "into"), strict=True):
            busy = np.divide(weight, room, out=np.zeros(len(weight)), where=room > 0)
            at = first_largest(busy)
            flits = f"{room[at]:.4g} flits/cycle in all"
            yield float(busy[at]), f"the channels {way} {part.name_of(at)}, {flits}"


def routing_limits(
    topology: Topology,
    routing: VirtualChannelRouting,
    traffic: Traffic,
    demand: Demand,
    rate: Floats,
    fullest: float,
) -> list[tuple[float, str]] | None:
    """Return the loads of the fullest channels of a routing, over their bandwidth, and their names.

    None where they are not to be had. ``fullest`` is the load of what limits any routing.
    """
    tables: HopTables = routing.tables
    if routing.routes is not None and listed_pairs(traffic) <= MOST_PAIRS:
        return [_fullest(topology, _given_loads(topology, routing, traffic) / rate)]
    by_port = between_ports(topology, tables, demand) if can_follow(tables) else None
    if by_port is None:
        return None
    limits = [_fullest(topology, _port_loads(topology, by_port) / rate)]
    inside = topology.num_network_channels
    if not inside:  # one router
        return limits
    easy = followed(topology, tables, demand, idle=True)
    if easy is None:
        return None
    stages, begin, entries = easy
    load = drawn_loads(stages, begin, entries.weight, inside)
    plain = _fullest(topology, load / rate[:inside])
    if not (chooses(tables) and (forks(stages).any() or tables.detour or tables.escape_vcs)):
        return [*limits, plain]
    if plain[0] <= max(fullest, limits[0][0]):  # in an idle network already they choose so well
        return limits
    found = followed(topology, tables, demand)
    if found is None:
        return None
    stages, begin, entries = found
    split = chosen_loads(stages, begin, entries.weight, rate[:inside], enough=fullest)
    return [*limits, limit_of(topology, split)]


def _port_channels(topology: Topology) -> tuple[slice, slice]:
    """Return the injection and the ejection channels of all ports of hosts."""
    first, ports = topology.num_network_channels, topology.num_ports
    return slice(first, first + ports), slice(first + ports, first + 2 * ports)


def _port_loads(topology: Topology, by_port: Demand) -> Floats:
    """Return float64[num_channels], what the ports of hosts carry."""
    load, (sends, receives) = np.zeros(topology.num_channels), _port_channels(topology)
    back = Demand(
        tuple((taken, sent) for sent, taken in by_port.products),
        by_port.target, by_port.source, by_port.weight,
    )  # fmt: skip
    load[sends], load[receives] = (received(way, topology.num_ports) for way in (back, by_port))
    return load


def _given_loads(topology: Topology, routing: VirtualChannelRouting, traffic: Traffic) -> Floats:
    """Return float64[num_channels], what packets load that have a path of their own, or several."""
    assert routing.routes is not None
    source, target, weight = traffic.matrix()
    routed = paths(topology, routing.routes, source, target)
    flits = weight * traffic.rate.sum()
    if routed.pair is not None and routed.probability is not None:
        flits = flits[routed.pair] * routed.probability
    by_hop = np.repeat(flits, routed.lengths)
    return np.bincount(routed.channels, by_hop, topology.num_channels).astype(np.float64)


def _fullest(topology: Topology, time: Floats) -> tuple[float, str]:
    """Return the longest time of a channel, and its name."""
    channel = first_largest(time)
    return float(time[channel]), f"channel {topology.channel_name(channel)}"
