"""Routing tables: for every node and target, the channels that a packet may take next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

import numpy as np

from netloom.base.errors import InputError, NoRouteError
from netloom.routing.cycles import cycle_of_waits
from netloom.routing.forwarding.tables import MOST_ENTRIES
from netloom.routing.hosted import legs, spliced
from netloom.routing.port_numbers import ports
from netloom.routing.ragged import Paths, offsets_of

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.topology import Topology

    NextChannels: TypeAlias = Callable[[int, int], int | Iterable[int] | None]

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
        int64[num_routers, num_hosts], a bit for each output port (``routing.ports`` of the
        routers) by which a packet at a router (row) may go on to a host (column). 0 where it has
        arrived, or there is no way.
    """

    several: ClassVar[bool] = False

    name: str
    next_ports: Ints

    def __str__(self) -> str:
        return self.name


def table(topology: Topology, function: NextChannels, *, name: str = "table") -> RouteTable:
    """Return the routing that a function of yours makes: the next channel, or the choice of them.

    Whether packets can deadlock is asked when it is used on virtual channels, and by
    ``find_deadlock``.

    Parameters
    ----------
    topology
        The network.
    function
        ``function(node, target)`` returns the channel that a packet at ``node`` takes next on its
        way to ``target``, or several to choose from. It is called once for every two different
        nodes. If hosts hang on routers, ``node`` is the vertex of a router and ``target`` a host.
        It is then called for every router except those that the host receives from, where packets
        have arrived. No channel (None) means that there is no path.
    name
        What to call it in messages.

    Raises
    ------
    InputError
        If a channel does not leave the node or leads to a host. If choices can lead in a circle and
        never reach the target. If there are too many nodes.
    NoRouteError
        If the function offers no channel between two nodes of a direct network.

    Examples
    --------
    >>> from netloom.topology import topology, torus
    >>> one_way = table(torus(4), lambda node, target: node)
    >>> one_way.next_ports.tolist()[0]
    [0, 1, 1, 1]
    >>> tree = topology("leaf-spine:2x2x1")  # of 2 hosts: leaves are vertices 2 and 3
    >>> channels = {2: [1, 1], 3: [3, 3], 4: [4, 5], 5: [6, 7]}
    >>> by_spine_1 = table(tree, lambda node, target: channels[node][target])
    >>> from netloom.routing import paths
    >>> [tree.channel_name(channel) for channel in paths(tree, by_spine_1, [0], [1])[0]]
    ['h0 -> leaf0', 'leaf0 -> spine1', 'spine1 -> leaf1', 'leaf1 -> h1']
    """
    from netloom.routing.kernels.table import stranded

    inside = topology.routers
    _check_nodes(topology, name)
    exits = _exits(topology)
    found = np.zeros((inside.num_vertices, topology.num_hosts), np.int64)
    leaving = inside.channel_source.tolist(), ports(inside).out_port.tolist()
    working = np.flatnonzero(inside.vertex_up).tolist()
    for router in range(inside.num_vertices) if topology.direct else working:
        for target in range(topology.num_hosts):
            ends = exits[1][exits[0][target] : exits[0][target + 1]]
            if len(ends) and router not in ends:
                answer = function(topology.router_vertex(router), target)
                channels = _channels(topology, answer, router, target, leaving[0], name)
                found[router, target] = sum(1 << leaving[1][each] for each in channels)
    wiring = (ports(inside).out_port, inside.channel_source, *inside.incoming())
    router, target = stranded(found, *exits, *wiring)
    if router >= 0:
        node, host = _called(topology, topology.router_vertex(router)), _called(topology, target)
        circle = f"a way from node {node} that need never come to node {host}"
        raise InputError(name, circle, "choices that all lead to the target")
    return RouteTable(name, found)


def _channels(
    topology: Topology,
    answer: int | Iterable[int] | None,
    router: int,
    target: int,
    channel_source: list[int],
    name: str,
) -> set[int]:
    """Return the channels that a function said, having made sure that they leave the router."""
    said = list(answer) if isinstance(answer, Iterable) else [answer]
    channels = {int(channel) for channel in said if channel is not None}
    if not channels and topology.direct:
        raise NoRouteError(router, target, "a channel", name)
    for channel in sorted(channels):
        if not 0 <= channel < len(channel_source) or channel_source[channel] != router:
            node, host = (
                _called(topology, topology.router_vertex(router)),
                _called(topology, target),
            )
            leaves = f"a channel that leaves node {node}"
            leaves += "" if topology.direct else " for another router"
            raise InputError(name, f"channel {channel} at node {node} towards node {host}", leaves)
    return channels


def _called(topology: Topology, vertex: int) -> str:
    """Return the name of a vertex, or its number."""
    return topology.name_of(vertex) if topology.labels else str(vertex)


def table_paths(topology: Topology, routing: RouteTable, sources: Ints, targets: Ints) -> Paths:
    """Return the path of every pair of hosts by a table (see ``paths``).

    Of several ports of the source, packets take the one that ``hosted.legs`` says. They leave at
    the first router with a port to the target.

    Raises
    ------
    InputError
        If the table is that of another network, or leaves a choice on a path.
    NoRouteError
        If the table does not lead to a target.
    """
    from netloom.routing.kernels.table import fill_followed, follow

    check_table(topology, routing)
    ends, inside = legs(topology, sources, targets), topology.routers
    wiring = (routing.next_ports, channels_by_port(inside), inside.channel_target)
    lengths, last = follow(*wiring, ends.entry, targets)
    lengths[sources == targets] = 0
    if (lengths == -2).any():
        pair = int(np.argmin(lengths))
        node = topology.name_of(topology.router_vertex(int(last[pair])))
        found = f"several channels at {node} towards {topology.name_of(int(targets[pair]))}"
        raise InputError(routing.name, found, "one, for paths that are known in advance")
    left = _left_by(topology, last, targets, ends.ejection)
    lengths[(left < 0) & (sources != targets)] = -1
    offsets = offsets_of(lengths, sources, targets, "a table that leads there")
    channels = fill_followed(*wiring, ends.entry, targets, offsets)
    ejection = ends.ejection if topology.direct else left.astype(np.int32)
    return spliced(ends._replace(ejection=ejection), Paths(offsets, channels))


def check_table(topology: Topology, routing: RouteTable) -> None:
    """Refuse a table that is not for the routers and hosts of this network.

    Raises
    ------
    InputError
        Naming both.
    """
    shape = (topology.num_routers, topology.num_hosts)
    if routing.next_ports.shape != shape:
        here = " x ".join(map(str, routing.next_ports.shape))
        wanted = " x ".join(map(str, shape))
        if topology.direct:
            here, wanted = str(len(routing.next_ports)), f"the {topology.num_hosts}"
        found = f"a table for {here} nodes"
        raise InputError(routing.name, found, f"one for {wanted} nodes here")


def _exits(topology: Topology) -> tuple[Ints, Ints]:
    """Return the routers that each host receives from, as a ragged array."""
    if topology.direct:
        nodes = np.arange(topology.num_hosts + 1)
        return nodes, nodes[:-1].astype(np.int32)
    return topology.port_offsets, topology.ejection_router


def _left_by(topology: Topology, last: Ints, targets: Ints, ejection: Ints) -> Ints:
    """Return the ejection channel from the last router of each path, -1 where there is none.

    In a direct network, the target itself where the path has come there.
    """
    offsets, exits = _exits(topology)
    found = np.full(len(last), -1, np.int64)
    first = 0 if topology.direct else topology.num_network_channels + topology.num_ports
    for place in range(int(np.diff(offsets).max(initial=0)) - 1, -1, -1):
        port = np.minimum(offsets[targets] + place, len(exits) - 1)
        here = (offsets[targets] + place < offsets[targets + 1]) & (exits[port] == last)
        found = np.where(here, first + port, found)
    return np.where(ejection < 0, found if topology.direct else -1, found)


def shortest_path_table(topology: Topology) -> RouteTable:
    """Return ``ShortestPath`` as a table: see there.

    Raises
    ------
    InputError
        If there are too many nodes.
    """
    _check_nodes(topology, "shortest-path")
    rows = shortest_rows(topology, np.arange(topology.num_hosts))
    bits = np.append(1 << ports(topology).out_port.astype(np.int64), 0)
    return RouteTable("shortest-path", bits[rows.T])


def shortest_rows(topology: Topology, targets: Ints) -> Ints:
    """Return the channels of ``ShortestPath`` to some nodes: int32[targets, nodes], -1 for none."""
    from netloom.routing.kernels import shortest_path

    ends = (topology.channel_source, topology.channel_target)
    return shortest_path.shortest_rows(targets, ends, *topology.incoming(), *topology.outgoing())


def table_cycle(topology: Topology, routing: RouteTable) -> tuple[int, ...]:
    """Return a cycle of channels in which this routing can deadlock, or () when it cannot.

    As ``find_deadlock``: exact where a channel's virtual channels are all alike and the routing
    leaves no choice. If it does, a cycle is a danger, not yet a proof of one (Duato 1993).
    """
    from netloom.routing.kernels.table import table_waits

    channel_at = channels_by_port(topology)
    waits = table_waits(routing.next_ports, channel_at, topology.channel_target)
    held, port = np.nonzero(waits[:, None] >> np.arange(channel_at.shape[1]) & 1)
    asked = channel_at[topology.channel_target[held], port]
    return cycle_of_waits(held, asked, topology.num_channels)


def channels_by_port(topology: Topology) -> Ints:
    """Return the channel at each output port, int64[num_nodes, network ports], -1 for none."""
    wired = ports(topology)
    channel_at = np.full((topology.num_vertices, wired.num_network_ports), -1, np.int64)
    channel_at[topology.channel_source, wired.out_port] = np.arange(topology.num_channels)
    return channel_at


def _check_nodes(topology: Topology, name: str) -> None:
    nodes, hosts = topology.num_routers, topology.num_hosts
    if nodes * hosts > MOST_ENTRIES:
        if not topology.direct:
            found = f"a table of {nodes} routers times {hosts} hosts"
            raise InputError(name, found, f"at most {MOST_ENTRIES:,}")
        most = int(MOST_ENTRIES**0.5)
        raise InputError(name, f"a table for {nodes} nodes", f"at most {most} nodes")
    most = ports(topology.routers).num_network_ports
    if most > MOST_PORTS:
        raise InputError(name, f"a node of {most} channels", f"at most {MOST_PORTS} per node")
