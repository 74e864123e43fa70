"""Routing tables: for every node and target, the channels that a packet may take next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from netloom.errors import InputError, NoRouteError
from netloom.routing.cycles import cycle_of_waits
from netloom.routing.port_numbers import ports

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.topology import Topology

    NextChannels: TypeAlias = Callable[[int, int], int | Iterable[int]]

MOST_ENTRIES = 2**26
"""Largest nodes × nodes of a network that is routed by tables."""

MOST_PORTS = 62
"""Most ports of a node: a set of ports is the bits of an int64."""


@dataclass(frozen=True, eq=False)
class RouteTable:
    """A routing function, written out: any network, any number of choices.

    Attributes
    ----------
    name
        What to call it in messages.
    next_ports
        int64[num_nodes, num_nodes], a bit for each output port (``routing.ports``) by which a
        packet at a node (row) may go on to a target (column). 0 where it has arrived.
    """

    several: ClassVar[bool] = False

    name: str
    next_ports: NDArray[np.int64]

    def __str__(self) -> str:
        return self.name


def table(topology: Topology, function: NextChannels, *, name: str = "table") -> RouteTable:
    """Return the routing that a function of yours makes: the next channel, or the choice of them.

    Whether packets can deadlock is asked when it is used on virtual channels.

    Parameters
    ----------
    topology
        The network.
    function
        ``function(node, target)`` returns the channel that a packet at ``node`` takes next on its
        way to ``target``, or several to choose from. Asked once for every two different nodes.
    name
        What to call it in messages.

    Raises
    ------
    InputError
        If a channel does not leave the node, if choices can lead in a circle without ever coming
        to the target, or if there are too many nodes.
    NoRouteError
        If the function offers no channel.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> one_way = table(torus(4), lambda node, target: node)
    >>> one_way.next_ports.tolist()[0]
    [0, 1, 1, 1]
    """
    from netloom.routing.kernels.table import stranded

    _check_nodes(topology, name)
    found = np.zeros((topology.num_vertices, topology.num_vertices), np.int64)
    source, port = topology.channel_source.tolist(), ports(topology).out_port.tolist()
    for node in range(topology.num_vertices):
        for target in range(topology.num_vertices):
            if node != target:
                answer = function(node, target)
                channels = list(answer) if isinstance(answer, Iterable) else [answer]
                if not channels:
                    raise NoRouteError(node, target, "a channel", name)
                for channel in map(int, channels):
                    if not 0 <= channel < len(source) or source[channel] != node:
                        asked = f"channel {channel} at node {node} towards node {target}"
                        raise InputError(name, asked, f"a channel that leaves node {node}")
                    found[node, target] |= 1 << port[channel]
    out_port = ports(topology).out_port
    node, target = stranded(found, out_port, topology.channel_source, *topology.incoming())
    if node >= 0:
        circle = f"a way from node {node} that need never come to node {target}"
        raise InputError(name, circle, "choices that all lead to the target")
    return RouteTable(name, found)


def shortest_path_table(topology: Topology) -> RouteTable:
    """Return ``ShortestPath`` as a table: see there.

    Raises
    ------
    InputError
        If there are too many nodes.
    """
    from netloom.routing.kernels.table import shortest_table

    _check_nodes(topology, "shortest-path")
    ends = (topology.channel_source, topology.channel_target)
    outgoing = topology.outgoing()
    next_ports = shortest_table(ports(topology).out_port, ends, *topology.incoming(), *outgoing)
    return RouteTable("shortest-path", next_ports)


def table_cycle(topology: Topology, routing: RouteTable) -> tuple[int, ...]:
    """Return a cycle of channels in which this routing can deadlock, or () when it cannot.

    As ``find_deadlock``: exact where a channel's virtual channels are all alike and the routing
    leaves no choice. Where it does, a cycle is a danger, not yet a proof of one (Duato 1993).
    """
    from netloom.routing.kernels.table import table_waits

    channel_at = channels_by_port(topology)
    waits = table_waits(routing.next_ports, channel_at, topology.channel_target)
    held, port = np.nonzero(waits[:, None] >> np.arange(channel_at.shape[1]) & 1)
    asked = channel_at[topology.channel_target[held], port]
    return cycle_of_waits(held, asked, topology.num_channels)


def channels_by_port(topology: Topology) -> NDArray[np.int64]:
    """Return the channel at each output port, int64[num_nodes, network ports], -1 for none."""
    wired = ports(topology)
    channel_at = np.full((topology.num_vertices, wired.num_network_ports), -1, np.int64)
    channel_at[topology.channel_source, wired.out_port] = np.arange(topology.num_channels)
    return channel_at


def _check_nodes(topology: Topology, name: str) -> None:
    nodes = topology.num_vertices
    if nodes * nodes > MOST_ENTRIES:
        most = int(MOST_ENTRIES**0.5)
        raise InputError(name, f"a table for {nodes} nodes", f"at most {most} nodes")
    most = ports(topology).num_network_ports
    if most > MOST_PORTS:
        raise InputError(name, f"a node of {most} channels", f"at most {MOST_PORTS} a node")
