"""How the ports of a router are numbered, and which channel is at which."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.topology import Cube, Topology

if TYPE_CHECKING:
    from netloom.base.arrays import Ints


MOST_PORTS = 2**14
"""Most ports of a router: their numbers are int16."""

TINY = 1e-9
"""What a bandwidth may be above a whole number and not need a lane more."""


class Ports(NamedTuple):
    """The network ports of every router of a network.

    Attributes
    ----------
    num_network_ports
        Most network ports of any node. Ports of a node are numbered from 0.
    out_port, in_port
        int32[num_channels], the output port by which a channel leaves its source and the input
        port by which it enters its target.
    axis_port
        int64[dimensions, 2], the port of growing (0) and of falling (1) coordinates in each
        dimension of a k-ary n-cube. It is -1 in a dimension of one node, and empty on other
        networks.
    """

    num_network_ports: int
    out_port: Ints
    in_port: Ints
    axis_port: Ints


def ports(topology: Topology) -> Ports:
    """Return the port numbers of a network.

    On a k-ary n-cube the dimensions take ports in their order: two each, growing coordinates
    first, but one where a dimension has two nodes (both directions are one link there). A channel
    enters by the input port of the number of the output port it left by. On any other network a
    channel's ports are its ranks, by channel number, among those that leave its source and among
    those that enter its target.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> ports(mesh(2, 3)).axis_port.tolist()
    [[0, 0], [1, 2]]
    """
    if isinstance(topology, Cube):
        return _cube_ports(topology)
    none = np.zeros((0, 2), np.int64)
    out_port, in_port = _ranks(*topology.outgoing()), _ranks(*topology.incoming())
    most = int(max(out_port.max(initial=-1), in_port.max(initial=-1))) + 1
    return Ports(most, out_port, in_port, none)


class HostedPorts(NamedTuple):
    """The ports of every router of a network whose hosts hang on routers.

    Attributes
    ----------
    num_ports
        Most input or output ports of any router. Ports of a router are numbered from 0.
    out_port, in_port
        int32[num_channels], the first output port by which a channel leaves its source, and the
        first input port by which it enters its target. It is 0 at a host's end.
    lanes
        int32[num_channels], how many ports in a row each channel has at either end.
    """

    num_ports: int
    out_port: Ints
    in_port: Ints
    lanes: Ints


def hosted_ports(topology: Topology) -> HostedPorts:
    """Return the port numbers of a network whose hosts hang on routers.

    A router's output ports are those of the channels that leave it, by channel number: channels
    to routers first, then to its host ports. Input ports are numbered alike by the channels that
    enter. A channel of bandwidth above 1 is a bundle of ⌈bandwidth⌉ lanes, each a port.

    Raises
    ------
    InputError
        If the network is direct, or a router has more than ``MOST_PORTS``.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> wired = hosted_ports(topology("leaf-spine:2x1x2"))
    >>> wired.num_ports, wired.out_port.tolist()
    (3, [0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 1, 2])
    """
    if topology.direct:
        raise InputError(topology.name, "a direct network", "hosts that hang on routers")
    lanes = channel_lanes(topology)
    out_port, outside = _first_ports(topology, topology.channel_source, lanes)
    in_port, inside = _first_ports(topology, topology.channel_target, lanes)
    num_ports = max(outside, inside)
    if num_ports > MOST_PORTS:
        found = f"a router of {num_ports} ports, bundles counted by their lanes"
        raise InputError(topology.name, found, f"at most {MOST_PORTS}")
    return HostedPorts(num_ports, out_port, in_port, lanes)


def channel_lanes(topology: Topology) -> Ints:
    """Return int32[num_channels], the lanes of each channel: its bandwidth, rounded up."""
    return np.ceil(np.maximum(topology.channel_bandwidth, 1) - TINY).astype(np.int32)


def each_lane(lanes: Ints) -> tuple[Ints, Ints]:
    """Return the place in ``lanes`` of the channel of every lane, and the lane's number there.

    Examples
    --------
    >>> [each.tolist() for each in each_lane(np.array([1, 3], np.int32))]
    [[0, 1, 1, 1], [0, 0, 1, 2]]
    """
    channel = np.repeat(np.arange(len(lanes)), lanes)
    return channel, np.arange(len(channel)) - np.repeat(np.cumsum(lanes) - lanes, lanes)


def _first_ports(topology: Topology, end: Ints, lanes: Ints) -> tuple[Ints, int]:
    """Return the first port of each channel at its end, and the most ports of a router."""
    order = np.argsort(end, kind="stable")
    after = np.cumsum(lanes[order])
    before = after - lanes[order]
    counts = np.bincount(end, minlength=topology.num_vertices)
    first = np.cumsum(counts) - counts
    start = np.append(before, 0)[np.minimum(first, len(order))]
    found = np.zeros(len(end), np.int32)
    found[order] = before - start[end[order]]
    found[end < topology.num_hosts] = 0
    ports = np.bincount(end, lanes, topology.num_vertices)[topology.num_hosts :]
    return found, int(ports.max(initial=0))


def _cube_ports(topology: Cube) -> Ports:
    axis_port = np.full((len(topology.sides), 2), -1, np.int64)
    count = 0
    for axis, side in enumerate(topology.sides):
        needed = min(side - 1, 2)
        axis_port[axis] = [count, count + needed - 1] if needed else [-1, -1]
        count += needed
    lines = topology.num_vertices // np.array(topology.sides, np.int64)
    port = np.repeat(axis_port.ravel(), np.repeat(lines * topology.line_channels, 2))
    return Ports(count, port.astype(np.int32), port.astype(np.int32), axis_port)


def _ranks(offsets: Ints, channels: Ints) -> Ints:
    ranks = np.empty(len(channels), np.int32)
    ranks[channels] = np.arange(len(channels)) - np.repeat(offsets[:-1], np.diff(offsets))
    return ranks
