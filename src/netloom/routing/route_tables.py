"""Tables that Python functions write out, and that of shortest paths."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from netloom.base.errors import InputError, NoRouteError
from netloom.routing.forwarding.tables import MOST_ENTRIES, ForwardingTable, choices_of

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.topology import Topology

    NextChannels: TypeAlias = Callable[[int, int], int | Iterable[int] | None]


def table(topology: Topology, function: NextChannels, *, name: str = "table") -> ForwardingTable:
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
    >>> one_way.next_channel.tolist()[0]
    [-1, 1, 2, 3]
    >>> tree = topology("leaf-spine:2x2x1")  # of 2 hosts: leaves are vertices 2 and 3
    >>> channels = {2: [1, 1], 3: [3, 3], 4: [4, 5], 5: [6, 7]}
    >>> by_spine_1 = table(tree, lambda node, target: channels[node][target])
    >>> from netloom.routing import paths
    >>> path = paths(tree, by_spine_1, [0], [1]).whole(tree)[0]
    >>> [tree.channel_name(channel) for channel in path]
    ['h0 -> leaf0', 'leaf0 -> spine1', 'spine1 -> leaf1', 'leaf1 -> h1']
    """
    from netloom.routing.kernels.waits import stranded

    inside = topology.routers
    _check_nodes(topology, name)
    leaves = np.split(topology.ejection_router, topology.port_offsets[1:-1])
    exits = [set(routers.tolist()) for routers in leaves]
    rows = np.full((topology.num_ports, inside.num_routers), -1, np.int32)
    sets: dict[tuple[int, ...], int] = {}
    for router in np.flatnonzero(inside.vertex_up).tolist():
        leaving = set(np.flatnonzero(inside.channel_source == router).tolist())
        for target in range(topology.num_hosts):
            if not exits[target] or router in exits[target]:
                continue
            answer = function(topology.router_vertex(router), target)
            said = list(answer) if isinstance(answer, Iterable) else [answer]
            channels = tuple(sorted({int(each) for each in said if each is not None}))
            if not channels and topology.direct:
                raise NoRouteError(router, target, "a channel", name)
            strange = next((each for each in channels if each not in leaving), None)
            if strange is not None:
                node = _called(topology, topology.router_vertex(router))
                found = f"channel {strange} at node {node} towards node {_called(topology, target)}"
                wanted = f"a channel that leaves node {node} for another router"
                raise InputError(name, found, wanted)
            number = channels[0] if channels else -1
            if len(channels) > 1:
                number = inside.num_channels + sets.setdefault(channels, len(sets))
            rows[topology.port_offsets[target] : topology.port_offsets[target + 1], router] = number
    choices = choices_of(sets)
    ports = topology.port_offsets, topology.port_host, topology.ejection_router
    router, port = stranded(rows, choices, ports, inside.channel_source, *inside.incoming())
    if router >= 0:
        host = int(topology.port_host[port])
        node = _called(topology, topology.router_vertex(router))
        circle = f"a way from node {node} that need never come to node {_called(topology, host)}"
        raise InputError(name, circle, "choices that all lead to the target")
    return ForwardingTable(name, rows, choices=choices)


def _called(topology: Topology, vertex: int) -> str:
    """Return the name of a vertex, or its number."""
    return topology.name_of(vertex) if topology.labels else str(vertex)


def shortest_path_table(topology: Topology) -> ForwardingTable:
    """Return ``ShortestPath`` as a table: see there.

    Raises
    ------
    InputError
        If there are too many nodes.
    """
    _check_nodes(topology, "shortest-path")
    rows = shortest_rows(topology, np.arange(topology.num_hosts))
    return ForwardingTable("shortest-path", rows)


def shortest_rows(topology: Topology, targets: Ints) -> Ints:
    """Return the channels of ``ShortestPath`` to some nodes: int32[targets, nodes], -1 for none."""
    from netloom.routing.kernels import shortest_path

    ends = (topology.channel_source, topology.channel_target)
    rows: Ints = shortest_path.shortest_rows(
        targets, ends, *topology.incoming(), *topology.outgoing()
    )
    return rows


def _check_nodes(topology: Topology, name: str) -> None:
    nodes, hosts = topology.num_routers, topology.num_hosts
    if nodes * hosts > MOST_ENTRIES:
        found = f"a table of {nodes} routers times {hosts} hosts"
        raise InputError(name, found, f"at most {MOST_ENTRIES:,}")
