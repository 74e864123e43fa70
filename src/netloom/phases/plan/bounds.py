"""How few phases, and how little time, any plan can do with.

A network is seen as connections see it: hosts that hang on routers send and receive as two
vertices. So no path leads through a host, and whatever searches for paths need not know what a host
is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError, NoRouteError
from netloom.base.words import counted
from netloom.topology import Cube, Topology, hop_distances, slabs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.models.messages import ConSetCosts
    from netloom.phases.plan.plans import Capacity, Connections


MOST_NODES = 2**13
"""Most nodes of a network. A table holds the distance of every pair."""


@dataclass(frozen=True)
class PhaseBound:
    """The fewest phases that any plan can have, and why.

    Attributes
    ----------
    phases
        The largest of the bounds; 0 without connections.
    why
        What would be too full with fewer phases.
    """

    phases: int
    why: str


def hops_to(topology: Topology) -> Floats:
    """Return float64[nodes, nodes], the hops to each node (row) from each one. Inf: no path.

    If hosts hang on routers, nodes are the vertices of ``wired``, and hosts' channels are hops.

    Raises
    ------
    InputError
        If there are too many nodes.
    """
    net = wired(topology)
    if net.num_routers > MOST_NODES:
        most = MOST_NODES
        found = f"{topology.num_hosts} nodes"
        if not topology.direct:
            found = f"{topology.num_hosts} hosts, twice, and {topology.num_routers} routers"
        raise InputError("topology", found, f"at most {most}")
    return hop_distances(net, backwards=True)


def least_phases(given: Connections, topology: Topology, capacity: Capacity) -> PhaseBound:
    """Return the fewest phases that any plan can have.

    There are three bounds. A connection takes at least the virtual channels of a shortest path. A
    node can start and end only a certain number. All connections that leave a part of the network
    must use the few nodes or channels at its edge. A part is a half or less of a torus or mesh, a
    leaf or a pod.

    Raises
    ------
    NoRouteError
        If no path joins the nodes of a connection.

    Examples
    --------
    >>> import numpy as np
    >>> from netloom.phases import Capacity, connections
    >>> from netloom.topology import torus
    >>> from netloom.workload import read
    >>> everyone = connections(read("all-to-all:64"), np.arange(64), 64)
    >>> least_phases(everyone, torus(8, 8), Capacity(12))  # doctest: +NORMALIZE_WHITESPACE
    PhaseBound(phases=27,
        why='shortest paths take 20,416 virtual channels of nodes, at most 768 per phase')
    """
    hops = hops_to(topology)[given.target + arrivals(topology), given.source]
    if not np.isfinite(hops).all():
        lost = int(np.argmax(~np.isfinite(hops)))
        ends = int(given.source[lost]), int(given.target[lost])
        raise NoRouteError(*ends, "a network that joins every connection's nodes", topology.name)
    if not len(given):
        return PhaseBound(0, "there is nothing to connect")
    return max(_bounds(given, topology, capacity, hops), key=lambda bound: bound.phases)


def least_clocks(given: Connections, topology: Topology, costs: ConSetCosts) -> float:
    """Return the clocks that all words need at least, context switches left out.

    The busiest processor has to send and receive its words. All channels together have to carry
    every word over a shortest path. The channels around a part of the network have to carry the
    words that leave it.

    Examples
    --------
    >>> import numpy as np
    >>> from netloom.models.messages import ConSetCosts
    >>> from netloom.phases import connections
    >>> from netloom.topology import torus
    >>> from netloom.workload import read
    >>> everyone = connections(read("all-to-all:64"), np.arange(64), 64, words=1)
    >>> least_clocks(everyone, torus(8, 8), ConSetCosts())
    128.0
    """
    words = given.words.astype(np.float64)
    sent, received = (np.bincount(end, words, 1) for end in (given.source, given.target))
    if costs.both_ways:
        access = max(sent.max(), received.max())
    else:
        access = (np.bincount(np.append(given.source, given.target), np.tile(words, 2), 1)).max()
    hops = hops_to(topology)[given.target + arrivals(topology), given.source]
    shared = float((hops - _ends(topology)) @ words) / max(1, topology.num_network_channels)
    if not topology.direct:
        ports = int(np.diff(topology.port_offsets).max())
        shared = max(shared, float(sent.max()) / ports, float(received.max()) / ports)
    for inside in _parts(topology):
        leaving = inside[given.source] & ~inside[given.target]
        edge = inside[topology.source_end] & ~inside[topology.target_end]
        shared = max(shared, float(words[leaving].sum()) / max(1, int(edge.sum())))
    return max(float(access) * costs.clocks_per_word, shared * costs.channel_clocks_per_word)


def _bounds(
    given: Connections, topology: Topology, capacity: Capacity, hops: Floats
) -> Iterator[PhaseBound]:
    """Yield the bounds that there are."""
    limit, per = capacity.virtual_channels, capacity.per
    between = int((hops - _ends(topology)).sum())  # channels between routers
    taken = between + (len(given) if per == "node" else 0)
    room = limit * (topology.num_routers if per == "node" else topology.num_network_channels)
    room = max(1, room)
    why = f"shortest paths take {taken:,} virtual channels of {per}s, at most {room:,} per phase"
    yield PhaseBound(-(-taken // room), why)
    sent, ended = (
        np.bincount(end, minlength=topology.num_hosts) for end in (given.source, given.target)
    )
    if per == "node":
        yield _at_node(sent + ended, np.ones_like(sent), limit, topology, "start or end")
    else:
        out = np.bincount(topology.source_end, minlength=topology.num_hosts)
        into = np.bincount(topology.target_end, minlength=topology.num_hosts)
        out, into = out[: topology.num_hosts], into[: topology.num_hosts]
        yield _at_node(sent, out, limit, topology, "start")
        yield _at_node(ended, into, limit, topology, "end")
    for inside in _parts(topology):
        yield _leaving(given, topology, capacity, inside)


def _at_node(ends: Ints, places: Ints, limit: int, topology: Topology, what: str) -> PhaseBound:
    """Return the bound of the node with the most connections for its places."""
    needed = -(-ends // np.maximum(1, limit * places))
    node = int(np.argmax(needed))
    return PhaseBound(
        int(needed[node]),
        f"{ends[node]} connections {what} at node {topology.name_of(node)}, at most"
        f" {limit * places[node]} per phase",
    )


def _leaving(
    given: Connections, topology: Topology, capacity: Capacity, inside: Bools
) -> PhaseBound:
    """Return the bound of what leaves a part of the network, or touches its edge."""
    out = inside[topology.source_end] & ~inside[topology.target_end]
    starts, ends = inside[given.source], inside[given.target]
    if capacity.per == "channel":
        crossing, edge = int((starts & ~ends).sum()), int(out.sum())
    else:
        border = np.zeros(topology.num_ends, np.bool_)
        border[topology.source_end[out]] = True
        touches = (starts != ends) | border[given.source] | border[given.target]
        crossing, edge = int(touches.sum()), int(border.sum())
    room = capacity.virtual_channels * max(1, edge)
    part = counted(int(inside.sum()), "node")
    why = f"{crossing} connections cross the edge of {part}, at most {room} per phase"
    return PhaseBound(-(-crossing // room), why)


def _ends(topology: Topology) -> int:
    """Return the hops of a path that are not between routers: those of hosts' own channels."""
    return 0 if topology.direct else 2


def _parts(topology: Topology) -> Iterator[Bools]:
    """Yield slabs of a k-ary n-cube, or leaves and pods, and what lies outside each of them."""
    if isinstance(topology, Cube):
        some = slabs(topology)
    elif topology.direct:
        return
    else:
        some = parts(topology)
    for part in some:
        yield part
        yield ~part


def wired(topology: Topology) -> Topology:
    """Return a direct network of the same channels, in which paths may lead through any vertex.

    A direct network is that itself. Of others, host h receives as vertex
    ``arrivals(topology) + h``. All other vertices keep their numbers.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> tree = topology("leaf-spine:2x1x1")
    >>> net = wired(tree)
    >>> net.num_routers, net.channel_target[-2:].tolist()
    (7, [5, 6])
    """
    if topology.direct:
        return topology
    first = arrivals(topology)
    target = topology.target_end
    receives = np.where(target < topology.num_hosts, target + first, target).astype(np.int32)
    vertices = first + topology.num_hosts
    return Topology(topology.name, vertices, topology.source_end, receives)


def arrivals(topology: Topology) -> int:
    """Return the vertex as which host 0 receives in ``wired``."""
    return 0 if topology.direct else topology.num_ends


def parts(topology: Topology) -> Iterator[Bools]:
    """Yield parts of a network whose hosts hang on routers: a router with its hosts, or a pod.

    bool[num_ends]. Pods are those of whole fat trees.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> [int(part.sum()) for part in parts(topology("fat-tree:2x3"))][-2:]
    [8, 8]
    """
    from netloom.topology.core import TreeShape

    first, hosts = topology.num_hosts, topology.port_host
    both = topology.injection_router, topology.ejection_router
    for router in np.unique(both[0]).tolist():
        inside = np.zeros(topology.num_ends, np.bool_)
        inside[first + router] = True
        inside[hosts[(both[0] == router) & (both[1] == router)]] = True
        yield inside
    shape = topology.family
    if topology.broken or not isinstance(shape, TreeShape):
        return
    starts = np.cumsum([0, *(shape.width(level) for level in range(1, shape.levels + 1))])
    router_at = np.arange(topology.num_routers) if shape.router_at is None else shape.router_at
    host_at = np.arange(first) if shape.host_at is None else shape.host_at
    for height in range(2, shape.levels):
        pods = int(np.prod(shape.children[height:]))
        vertices = [host_at, *(first + part for part in np.split(router_at, starts[1:-1])[:height])]
        for pod in range(pods):
            inside = np.zeros(topology.num_ends, np.bool_)
            for level in vertices:  # a pod is a slice of each of its levels
                size = len(level) // pods
                inside[level[pod * size : (pod + 1) * size]] = True
            yield inside
