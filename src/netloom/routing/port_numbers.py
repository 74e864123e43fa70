"""How the ports of a router are numbered, and which channel is at which."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.topology import Cube, Topology

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Ports(NamedTuple):
    """The network ports of every router of a network.

    Attributes
    ----------
    num_network_ports
        Most network ports of any node; ports of a node are numbered from 0.
    out_port, in_port
        int32[num_channels], the output port by which a channel leaves its source and the input
        port by which it enters its target.
    axis_port
        int64[dimensions, 2], the port of growing (0) and of falling (1) coordinates in each
        dimension of a k-ary n-cube; -1 in a dimension of one node. Empty on other networks.
    """

    num_network_ports: int
    out_port: NDArray[np.int32]
    in_port: NDArray[np.int32]
    axis_port: NDArray[np.int64]


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


def _ranks(offsets: NDArray[np.int64], channels: NDArray[np.int32]) -> NDArray[np.int32]:
    ranks = np.empty(len(channels), np.int32)
    ranks[channels] = np.arange(len(channels)) - np.repeat(offsets[:-1], np.diff(offsets))
    return ranks
