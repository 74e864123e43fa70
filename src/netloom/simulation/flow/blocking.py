"""Sharing by turns, and blocking, as in lossless networks: what the engine has to be told of it.

A link gives its *inputs* turns, one after the other. An input is a link that flows come from, or a
flow itself on its first link. So all inputs that wait for a full link get equal shares of it,
however many flows they have. The flows of an input share its turn as they share the link that they
come from (first come, first served). A flow that waits for a link stays in the buffers of all links
before it, and no other flow's turn there is longer than its own. So flows that go elsewhere slow
down with it. Links whose channels wait for each other in a circle do not pass blocking on: virtual
channels keep them apart, or they would deadlock.

Levels are assigned in ascending order. In each step, the classes whose possible level is now the
lowest get that level. Then the classes that wait behind them are delayed, and the others share the
remaining capacity. So a class may get a little less than in another order. Levels are unique, use
no link beyond its capacity, and are found after as many steps as there are classes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.routing.cycles import dependencies
from netloom.simulation.flow import layout

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Ints
    from netloom.routing import Routing
    from netloom.simulation.flow.layout import Records
    from netloom.simulation.flow.network import FlowNetwork, Ways

MOST_ROUTERS = 512
"""Routers up to which circles are looked for among the paths of all pairs."""


def in_path_order(network: FlowNetwork, ways: Ways) -> Ways:
    """Return the ways with their links in the order in which flows cross them.

    Raises
    ------
    InputError
        If the paths of a flow cross each other's links in different orders.
    """
    before = hops_before(network, ways)
    depth, at = np.zeros(len(before), np.int64), before.copy()
    while (at >= 0).any():
        depth += at >= 0
        if depth.max() > len(network.capacity):
            wanted = "paths that share links in the same order, where sharing is lossless"
            raise InputError("routing", "flows spread over paths in circles", wanted)
        at = np.where(at >= 0, before[at], -1)
    way = np.repeat(np.arange(len(ways)), np.diff(ways.offsets))
    order = np.lexsort((ways.links, depth, way))
    return replace(ways, links=ways.links[order], shares=ways.shares[order])


def hops_before(network: FlowNetwork, ways: Ways) -> Ints:
    """Return int64[hops], from which hop of its way each is reached; -1 for the first.

    Of several, the one that most of the flow takes: the first of these.
    """
    source, target = _ends(network)
    vertices = np.int64(network.topology.num_routers)
    way = np.repeat(np.arange(len(ways), dtype=np.int64), np.diff(ways.offsets))
    links = ways.links
    reached = np.flatnonzero(target[links] >= 0)
    key = way[reached] * vertices + target[links[reached]]
    order = np.lexsort((links[reached], -ways.shares[reached], key))
    known, first = np.unique(key[order], return_index=True)
    before = np.full(len(links), -1, np.int64)
    wanted = way * vertices + source[links]
    place = np.minimum(np.searchsorted(known, wanted), max(len(known) - 1, 0))
    if len(known):
        found = (source[links] >= 0) & (known[place] == wanted)
        before[found] = reached[order[first[place[found]]]]
    return before


def _ends(network: FlowNetwork) -> tuple[Ints, Ints]:
    """Return from and to which router each link leads, -1 for a host behind it."""
    topology, links = network.topology, network.num_links
    routers, hosts = topology.routers, np.full(topology.num_ports, -1, np.int64)
    source = np.concatenate([routers.channel_source, hosts, topology.ejection_router])
    target = np.concatenate([routers.channel_target, topology.injection_router, hosts])
    return source[:links], target[:links]


def circles(network: FlowNetwork, routing: Routing | None, ways: Ways) -> Bools:
    """Return bool[num_links], whether links wait for each other in a circle.

    On the paths between all routers that have hosts, where these are not too many, and those of
    the ways.

    Examples
    --------
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.simulation.flow import flow_network, ways_of
    >>> from netloom.topology import mesh, torus
    >>> some = np.array([0], np.int32), np.array([1], np.int32)
    >>> for net in (mesh(5, 5), torus(5, 5)):
    ...     network = flow_network(net)
    ...     ways = ways_of(network, DimensionOrder(), *some)
    ...     print(circles(network, DimensionOrder(), ways).sum())
    0
    100
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    before = hops_before(network, ways)
    after = np.flatnonzero(before >= 0)
    edges = [(ways.links[before[after]].astype(np.int64), ways.links[after].astype(np.int64))]
    if routing is not None:
        edges.append(_between_routers(network, routing))
    ends = np.concatenate([one for one, _ in edges]), np.concatenate([two for _, two in edges])
    shape = (network.num_links, network.num_links)
    graph = csr_array((np.ones(len(ends[0]), np.int8), ends), shape=shape)
    count, part = connected_components(graph, connection="strong")
    return np.asarray(np.bincount(part, minlength=count)[part] > 1)


def _between_routers(network: FlowNetwork, routing: Routing) -> tuple[Ints, Ints]:
    """Return what follows what on the paths between the first hosts of all routers."""
    from netloom.routing import paths

    topology = network.topology
    none = np.zeros(0, np.int64)
    first = np.unique(topology.injection_router, return_index=True)[1]
    hosts = np.unique(topology.port_host[first])
    if len(hosts) > MOST_ROUTERS:
        return none, none
    source, target = (each.ravel() for each in np.meshgrid(hosts, hosts, indexing="ij"))
    other = source != target
    found = paths(topology, routing, source[other], target[other])
    held, asked = dependencies(found)
    key = np.unique(held.astype(np.int64) * network.num_links + asked)
    return np.divmod(key, network.num_links)


def hop_records(network: FlowNetwork, ways: Ways, first: int) -> Records:
    """Return a record of each hop of ways, which are in path order. See ``layout.HOP``.

    ``first`` is the number of the first hop. ``input`` is left to ``number_inputs``.
    """
    before = hops_before(network, ways)
    assert (before < np.arange(len(before))).all()
    hops = np.zeros(len(before), layout.HOP)
    share = ways.shares / np.where(before >= 0, ways.shares[before], ways.whole)
    hops["part"] = np.minimum(share, 1)
    hops["before"] = np.where(before >= 0, before + first, -1)
    return hops


def number_inputs(hops: Records, links: Ints, num_links: int) -> int:
    """Give each pair of links that follow each other a number. Return how many there are."""
    later = np.flatnonzero(hops["before"] >= 0)
    key = links[hops["before"][later]] * np.int64(num_links) + links[later]
    pairs, number = np.unique(key, return_inverse=True)
    hops["input"][later] = number
    return len(pairs)
