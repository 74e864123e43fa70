"""How the ports of a router are numbered, and which channel is at which."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.topology import Cube, Topology
from netloom.topology.core import ranks

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
        axis_port = np.full((len(topology.sides), 2), -1, np.int64)
        count = 0
        for axis, side in enumerate(topology.sides):
            needed = min(side - 1, 2)
            axis_port[axis] = [count, count + needed - 1] if needed else [-1, -1]
            count += needed
        lines = topology.num_routers // np.array(topology.sides, np.int64)
        port = np.repeat(axis_port.ravel(), np.repeat(lines * topology.line_channels, 2))
        return Ports(count, port.astype(np.int32), port.astype(np.int32), axis_port)
    none = np.zeros((0, 2), np.int64)
    out_port, in_port = ranks(*topology.outgoing()), ranks(*topology.incoming())
    most = int(max(out_port.max(initial=-1), in_port.max(initial=-1))) + 1
    return Ports(most, out_port, in_port, none)


def channels_by_port(topology: Topology) -> Ints:
    """Return the channel at each output port, int64[num_nodes, network ports], -1 for none."""
    wired = ports(topology)
    channel_at = np.full((topology.num_routers, wired.num_network_ports), -1, np.int64)
    channel_at[topology.channel_source, wired.out_port] = np.arange(topology.num_channels)
    return channel_at


class HostedPorts(NamedTuple):
    """The ports of every router of a network whose hosts hang on routers.

    Attributes
    ----------
    num_ports
        Most input or output ports of any router. Ports of a router are numbered from 0.
    network_ports
        Where the ports of hosts begin, if it is the same at all routers. Else ``num_ports``.
    out_port, in_port
        int32[num_channels], the first output port by which a channel leaves its source, and the
        first input port by which it enters its target. It is 0 at a host's end.
    lanes
        int32[num_channels], how many ports in a row each channel has at either end.
    """

    num_ports: int
    network_ports: int
    out_port: Ints
    in_port: Ints
    lanes: Ints


def hosted_ports(topology: Topology) -> HostedPorts:
    """Return the port numbers of a network whose hosts hang on routers.

    A router's output ports are those of the channels that leave it, by channel number: channels
    to routers first, then to its host ports. Input ports are numbered alike by the channels that
    enter. A channel of bandwidth above 1 is a bundle of ⌈bandwidth⌉ lanes, each a port. Routers
    that are a k-ary n-cube without bundles have the ports of ``ports``, and those of hosts behind.

    Raises
    ------
    InputError
        If a router has more than ``MOST_PORTS``.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> wired = hosted_ports(topology("leaf-spine:2x1x2"))
    >>> wired.num_ports, wired.out_port.tolist()
    (3, [0, 0, 0, 1, 0, 0, 0, 0, 1, 2, 1, 2])
    """
    routers, lanes, many = topology.routers, channel_lanes(topology), topology.num_ports
    inside, into, out_of = np.split(lanes, [routers.num_channels, routers.num_channels + many])
    leaving, entering = np.zeros((2, routers.num_routers), np.int32)
    cube = isinstance(routers, Cube) and bool((inside == 1).all())
    if isinstance(routers, Cube) and cube:
        by_axis = ports(routers)
        leaving += by_axis.num_network_ports
        entering += by_axis.num_network_ports
        out_port, in_port = by_axis.out_port, by_axis.in_port
    else:
        out_port = _first_ports(routers.channel_source, inside, leaving)
        in_port = _first_ports(routers.channel_target, inside, entering)
    network_ports = int(leaving.max(initial=0))
    injection = _first_ports(topology.injection_router, into, entering)
    ejection = _first_ports(topology.ejection_router, out_of, leaving)
    num_ports = int(max(leaving.max(initial=0), entering.max(initial=0)))
    if num_ports > MOST_PORTS:
        found = f"a router of {num_ports} ports, bundles counted by their lanes"
        raise InputError(topology.name, found, f"at most {MOST_PORTS}")
    none = np.zeros(many, np.int32)
    return HostedPorts(
        num_ports, network_ports if cube else num_ports,
        np.concatenate([out_port, none, ejection]), np.concatenate([in_port, injection, none]),
        lanes,
    )  # fmt: skip


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


def _first_ports(router: Ints, lanes: Ints, free: Ints) -> Ints:
    """Return the first port of each channel at its router, int32[len(router)].

    ``free`` is the first port of each router that is free: it is moved behind these.
    """
    order = np.argsort(router, kind="stable")
    before = np.cumsum(lanes[order]) - lanes[order]
    counts = np.bincount(router, minlength=len(free))
    start = np.append(before, 0)[np.minimum(np.cumsum(counts) - counts, len(order))]
    found = np.empty(len(router), np.int32)
    found[order] = before - start[router[order]]
    found += free[router]
    free += np.bincount(router, lanes, len(free)).astype(np.int32)
    return found
