"""Which hosts can reach which."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Ints
    from netloom.topology.core import Topology


def two_apart(topology: Topology) -> tuple[int, int] | None:
    """Return two working hosts of which the first cannot reach the second. None if all can.

    Hosts do not forward: a packet stays among the routers from its injection to its ejection.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    routers, up = topology.routers, topology.vertex_up
    hosts = np.flatnonzero(up[: topology.num_hosts])
    links = np.ones(routers.num_channels), (routers.channel_source, routers.channel_target)
    graph = coo_array(links, shape=(routers.num_vertices,) * 2).tocsr()
    _, part = connected_components(graph, connection="strong")
    if topology.direct:
        main = np.bincount(part[hosts]).argmax()
        lost = hosts[part[hosts] != main]
        return None if not len(lost) else _ordered(graph, lost[0], hosts[part[hosts] == main][0])
    into, out_of = topology.injection_router, topology.ejection_router
    if (part[into] == part[out_of]).all():
        joined = np.unique(np.stack([part[into], topology.port_host]), axis=1)
        if np.bincount(joined[0]).max(initial=0) == len(hosts):
            return None  # all hosts have a port in one part whose routers all reach each other
    return _two_apart_by_search(topology, graph, hosts, part)


def _two_apart_by_search(
    topology: Topology, graph: Any, hosts: Ints, part: Ints
) -> tuple[int, int] | None:
    """Search from the routers of each host. For networks of one-way channels or several planes.

    Routers of one strongly connected ``part`` reach the same hosts: one search is for all of them.
    """
    from scipy.sparse.csgraph import breadth_first_order

    into, out_of, owner = topology.injection_router, topology.ejection_router, topology.port_host
    reached: dict[int, Bools] = {}

    def reached_from(router: int) -> Bools:
        if (key := int(part[router])) not in reached:
            found = np.zeros(topology.num_hosts, np.bool_)
            order = breadth_first_order(graph, router, return_predecessors=False)
            found[owner[np.isin(out_of, order)]] = True
            reached[key] = found
        return reached[key]

    for host in hosts.tolist():
        ports = topology.port_offsets[host : host + 2]
        found = np.any([reached_from(int(r)) for r in into[ports[0] : ports[1]]], axis=0)
        found[host] = True
        lost = hosts[~found[hosts]]
        if len(lost):
            return host, int(lost[0])
    return None


def _ordered(graph: Any, lost: int, kept: int) -> tuple[int, int]:
    """Return two nodes of a direct network, the first of which cannot reach the second."""
    from scipy.sparse.csgraph import breadth_first_order

    reached = breadth_first_order(graph, lost, return_predecessors=False)
    return (int(kept), int(lost)) if kept in reached else (int(lost), int(kept))
