"""What the channels of a network carry, and which of them count for a mapping."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from netloom.base.arrays import Floats
    from netloom.routing import Paths
    from netloom.topology import Topology


def pace_of(topology: Topology, tasks_per_node: int) -> Floats:
    """Return what a unit of load on each channel counts, float64[num_channels].

    Its time, 1 / bandwidth. If every host has one task and equal ports, the hosts' own channels
    carry the same under every mapping, and count nothing. Otherwise no mapping would be better than
    another if these channels are the busiest. With several tasks per host, several hosts per node,
    several ports or different ports, they count like all others.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> pace_of(topology("leaf-spine:2x1x1"), tasks_per_node=1)
    array([1., 1., 1., 1., 0., 0., 0., 0.])
    """
    pace = 1 / topology.channel_bandwidth
    if not hosts_count(topology, tasks_per_node):
        pace[topology.num_network_channels :] = 0
    return np.asarray(pace)


def hop_pace(topology: Topology) -> Floats:
    """Return 1 for each channel between routers, 0 for those of hosts: float64[num_channels]."""
    return (np.arange(topology.num_channels) < topology.num_network_channels).astype(np.float64)


def hosts_count(topology: Topology, tasks_per_node: int) -> bool:
    """Return whether what hosts send and receive may differ from mapping to mapping."""
    first, ports = topology.num_network_channels, topology.num_ports
    differ = any(
        (each != each[:1]).any() for each in np.split(topology.channel_bandwidth[first:], [ports])
    )
    several = bool((np.diff(topology.port_offsets) > 1).any())
    shared = len(np.unique(topology.local_group)) < topology.num_hosts
    return ports > 0 and (tasks_per_node > 1 or shared or several or differ)


def on_paths(routed: Paths, weights: Floats) -> Floats:
    """Return what each path carries, float64[num_paths], of pairs that send these weights."""
    if routed.pair is None or routed.probability is None:
        return weights
    return np.asarray(weights[routed.pair] * routed.probability)


def channel_times(
    topology: Topology,
    routed: Paths,
    weights: Floats,
    pace: Floats,
) -> Floats:
    """Return float64[num_channels], what pairs that send these weights load channels with."""
    carried = np.repeat(on_paths(routed, weights), routed.lengths)
    loads = np.bincount(routed.channels, carried, topology.num_channels)
    return np.asarray(loads * pace, np.float64)
