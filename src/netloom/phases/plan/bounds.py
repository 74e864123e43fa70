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
from netloom.bounds.demand import Demand, crossing, leading_out
from netloom.bounds.parts import of_hosts, router_sets
from netloom.routing.hosted import legs
from netloom.topology import Cube, Topology, hop_distances, slabs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Floats, Ints
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
    hops = _hops(given, topology)
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
    hops = _hops(given, topology)
    shared = float(hops @ words) / max(1, topology.num_network_channels)
    for moved, leads in zip((sent, received), _own_channels(topology), strict=True):
        shared = max(shared, float(moved.max()) / max(1, int(leads.max())))
    demand = Demand((), given.source, given.target, words)
    for part in _parts(topology):
        for leaving, edge in _leaving(topology, part, demand):
            shared = max(shared, float((leaving / np.maximum(1, edge)).max()))
    return max(float(access) * costs.clocks_per_word, shared * costs.channel_clocks_per_word)


def _bounds(
    given: Connections, topology: Topology, capacity: Capacity, hops: Floats
) -> Iterator[PhaseBound]:
    """Yield the bounds that there are."""
    limit, per = capacity.virtual_channels, capacity.per
    taken = int(hops.sum()) + (len(given) if per == "node" else 0)
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
        out, into = _own_channels(topology)
        yield _at_node(sent, out, limit, topology, "start")
        yield _at_node(ended, into, limit, topology, "end")
    demand = Demand((), given.source, given.target, np.ones(len(given)))
    for part in _parts(topology):
        yield _at_edge(topology, capacity, part, demand)


def _at_node(ends: Ints, places: Ints, limit: int, topology: Topology, what: str) -> PhaseBound:
    """Return the bound of the node with the most connections for its places."""
    needed = -(-ends // np.maximum(1, limit * places))
    node = int(np.argmax(needed))
    return PhaseBound(
        int(needed[node]),
        f"{ends[node]} connections {what} at node {topology.name_of(node)}, at most"
        f" {limit * places[node]} per phase",
    )


def _at_edge(topology: Topology, capacity: Capacity, part: Ints, demand: Demand) -> PhaseBound:
    """Return the bound of what leaves or enters a part of the network, or touches its edge."""
    each = _leaving if capacity.per == "channel" else _touching
    crossing, edge = (np.stack(some) for some in zip(*each(topology, part, demand), strict=True))
    room = capacity.virtual_channels * np.maximum(1, edge)
    needed = -(-crossing // room)
    way, at = np.unravel_index(int(needed.argmax()), needed.shape)
    nodes = np.bincount(part[part >= 0])[at]
    if not topology.direct:
        nodes += np.count_nonzero((np.stack(of_hosts(topology, part)) == at).all(axis=0))
    why = (
        f"{crossing[way, at]:.0f} connections cross the edge of {counted(int(nodes), 'node')}, "
        f"at most {room[way, at]:.0f} per phase"
    )
    return PhaseBound(int(needed[way, at]), why)


def _leaving(topology: Topology, part: Ints, demand: Demand) -> Iterator[tuple[Floats, Floats]]:
    """Yield what leaves each part and the channels that lead out, and the same of what enters."""
    inside, count = topology.routers, int(part.max()) + 1
    channels = inside.channel_source, inside.channel_target, np.ones(inside.num_channels)
    ways = crossing(demand, *of_hosts(topology, part), count)
    yield from zip(ways, leading_out(part, *channels), strict=True)


def _touching(topology: Topology, part: Ints, demand: Demand) -> Iterator[tuple[Floats, Floats]]:
    """Yield what takes one of the routers at the edge of each part, and how many these are."""
    inside, count = topology.routers, int(part.max()) + 1
    start, end = inside.channel_source, inside.channel_target
    edge = np.zeros(inside.num_routers, np.bool_)
    across = part[start] != part[end]
    edge[start[across]] = edge[end[across]] = True
    edge &= part >= 0
    begins, ends = of_hosts(topology, part)
    first, last = of_hosts(topology, np.arange(inside.num_routers))
    source, target = begins[demand.source], ends[demand.target]
    known = (source >= 0) & (target >= 0)
    takes = (source != target) | edge[first[demand.source]] | edge[last[demand.target]]
    touching = np.bincount(source[known & takes], minlength=count)
    touching += np.bincount(target[known & (source != target)], minlength=count)
    yield touching.astype(np.float64), np.bincount(part[edge], minlength=count).astype(np.float64)


def _hops(given: Connections, topology: Topology) -> Floats:
    """Return the hops between routers that each connection takes at least. Inf: no path."""
    ends = legs(topology, given.source, given.target)
    return np.asarray(hops_to(topology.routers)[ends.exit, ends.entry])


def _own_channels(topology: Topology) -> tuple[Ints, Ints]:
    """Return how many channels leave and enter each host, of its router where it is one."""
    ends, hosts = (topology.source_end, topology.target_end), topology.num_hosts
    out, into = (np.bincount(end, minlength=topology.num_ends)[:hosts] for end in ends)
    return out, into


def _parts(topology: Topology) -> Iterator[Ints]:
    """Yield parts of a network, int64[num_routers]: slabs of a grid, routers, and pods."""
    if isinstance(topology.routers, Cube):
        for inside in slabs(topology.routers):
            yield (~inside).astype(np.int64)
    for _, part, _ in router_sets(topology):
        yield part


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
    inside, hosts, first = topology.routers, topology.num_hosts, arrivals(topology)
    into = topology.injection_router
    begin = hosts + inside.channel_source, topology.port_host, hosts + topology.ejection_router
    end = hosts + inside.channel_target, hosts + into, first + topology.port_host
    source, target = (np.concatenate(each).astype(np.int32) for each in (begin, end))
    return Topology(topology.name, first + hosts, source, target)


def arrivals(topology: Topology) -> int:
    """Return the vertex as which host 0 receives in ``wired``."""
    return 0 if topology.direct else topology.num_hosts + topology.num_routers
