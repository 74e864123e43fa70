"""Measures of networks: degree, links, distances, and whether all is alike.

Distances between hosts are hops: channels between routers. ``check_alike`` and ``check_direct``
refuse networks that a simulator or a model does not take.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints, places_among, places_within
from netloom.base.errors import InputError
from netloom.topology.core import Topology, adjacency, way_back
from netloom.topology.cubes import Cube
from netloom.topology.faults import working_nodes


def check_alike(topology: Topology, what: str) -> None:
    """Refuse a network whose channels differ in bandwidth or latency.

    Parameters
    ----------
    topology
        The network. Injection and ejection channels count, where it lists them.
    what
        What is asked for, such as ``compiled phases``.

    Raises
    ------
    InputError
        Naming the first channel that does not take a flit per cycle in one cycle.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> check_alike(topology("leaf-spine:4x2x4"), "compiled phases")
    """
    odd = (topology.channel_bandwidth != 1) | (topology.channel_cycles != 1)
    if odd.any():
        first = int(odd.argmax())
        rate, cycles = topology.channel_bandwidth[first], topology.channel_cycles[first]
        name = topology.channel_name(first)
        found = f"channel {name} of bandwidth {rate:g} and latency {cycles} cycles"
        wanted = f"channels of bandwidth 1 and latency 1 for {what}; analyze takes any"
        raise InputError(topology.name, found, wanted)


def check_direct(topology: Topology, what: str, instead: str = "analyze or map") -> None:
    """Refuse a network whose hosts hang on routers.

    ``what`` is asked for, such as ``simulation flit by flit``. ``instead`` are the commands and
    options that take such a network.

    Raises
    ------
    InputError
        If the network has channels between hosts and routers.

    Examples
    --------
    >>> from netloom.topology import mesh, topology
    >>> check_direct(mesh(4, 4), "simulation flit by flit")
    >>> check_direct(topology("leaf-spine:4x2x4"), "simulation flit by flit")
    Traceback (most recent call last):
        ...
    netloom.InputError: leaf-spine:4x2x4: found hosts that hang on routers; expected a \
direct network (mesh, torus …) for simulation flit by flit; for this one, use analyze or map
    """
    if not topology.direct:
        wanted = f"a direct network (mesh, torus …) for {what}; for this one, use {instead}"
        raise InputError(topology.name, "hosts that hang on routers", wanted)


def busy_shares(topology: Topology, flits: Floats) -> Floats:
    """Return what channels between routers carry, over the bandwidth of each.

    Parameters
    ----------
    flits
        float[num_network_channels], flits per cycle.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> busy_shares(mesh(2), np.array([0.5, 0.25]))
    array([0.5 , 0.25])
    """
    return np.asarray(flits / topology.channel_bandwidth[: topology.num_network_channels])


def degree(topology: Topology) -> int:
    """Return the largest number of channels that lead from a router to others.

    Parallel channels count each, those to hosts do not.

    Examples
    --------
    >>> from netloom.topology import mesh, topology
    >>> degree(mesh(8, 8)), degree(topology("slim-fly:5/4"))
    (4, 7)
    """
    return int(np.bincount(topology.routers.channel_source, minlength=1).max())


def num_links(topology: Topology) -> int:
    """Return the number of bidirectional links between routers (pairs of opposite channels).

    Parallel links count each, those to hosts do not.

    Examples
    --------
    >>> from netloom.topology import hypercube, topology
    >>> num_links(hypercube(4)), num_links(topology("leaf-spine:4x2x4/2"))
    (32, 16)
    """
    return int((way_back(topology.routers) >= 0).sum()) // 2


def slabs(cube: Cube) -> Iterator[Bools]:
    """Yield parts of a k-ary n-cube with few channels around them, as bool[num_nodes].

    All on one side of a cut across an open dimension. Half the length of a ring, wherever it
    begins.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> [int(part.sum()) for part in slabs(mesh(4, 2))]
    [2, 4, 6, 4]
    """
    at = np.unravel_index(np.arange(cube.num_routers), cube.sides)
    for along, side, wraps in zip(at, cube.sides, cube.wraps, strict=True):
        for cut in range(side if wraps else side - 1):
            yield (along - cut) % side < side // 2 if wraps else along <= cut


MOST_NODES_BY_SEARCH = 20_000
"""Largest general graph whose all-pairs distances are searched for (time grows with N · C)."""


def hop_distances(
    topology: Topology, nodes: Ints | None = None, *, backwards: bool = False
) -> Floats:
    """Return the hops of a shortest path from each of some hosts to every host.

    float64[len(nodes), num_hosts]. Infinite where there is no path. Channels between routers are
    hops, those between a host and its router are not. Of several ports the nearest count.

    Parameters
    ----------
    topology
        The network.
    nodes
        The hosts where paths begin. All by default.
    backwards
        Whether paths end in these hosts, and begin in every host.

    Examples
    --------
    >>> from netloom.topology import topology, torus
    >>> hop_distances(torus(5), np.array([3]))
    array([[2., 2., 1., 0., 1.]])
    >>> hop_distances(topology("leaf-spine:2x2x2"), np.array([0]))
    array([[0., 0., 2., 2.]])
    """
    begins = np.arange(topology.num_hosts) if nodes is None else np.asarray(nodes)
    found = host_distances(topology, begins, np.arange(topology.num_hosts), backwards=backwards)
    found[np.arange(len(begins)), begins] = 0  # whatever the way round through the network
    return found


def diameter(topology: Topology) -> int:
    """Return the largest distance between two hosts that work, in hops.

    Examples
    --------
    >>> from netloom.topology import mesh, topology, torus
    >>> diameter(mesh(8, 8)), diameter(torus(8, 8)), diameter(topology("fat-tree:4x3"))
    (14, 8, 4)
    """
    routers = topology.routers
    if isinstance(routers, Cube) and alike(topology):
        reach = zip(routers.sides, routers.wraps, strict=True)
        return sum(side // 2 if wrap else side - 1 for side, wrap in reach)
    return max((int(row.max()) for row, _ in _distance_rows(topology)), default=0)


def average_distance(topology: Topology) -> float:
    """Return the mean distance over all ordered pairs of *distinct* hosts that work, in hops.

    On a square mesh this is exactly 2√N/3 (Chittor 1991, eq. 3.18, whose middle form counts
    pairs of a node with itself too and so comes out a little lower). Of cubes a closed form has it.
    Other networks are searched from each router that has hosts.

    Raises
    ------
    InputError
        If a network that must be searched has too many routers.

    Examples
    --------
    >>> from netloom.topology import mesh, topology
    >>> round(average_distance(mesh(16, 16)), 4)
    10.6667
    >>> round(average_distance(topology("slim-fly:5/4")), 4)
    1.8291
    """
    hosts = len(working_nodes(topology))
    if hosts < 2:
        return 0.0
    routers = topology.routers
    if isinstance(routers, Cube) and alike(topology):
        between = 0  # exactly, by summing dimension by dimension
        for side, wrap in zip(routers.sides, routers.wraps, strict=True):
            pairs = side * (side * side - 1) // 3
            if wrap:
                pairs = side * sum(min(x, side - x) for x in range(side))
            between += pairs * (routers.num_routers // side) ** 2
        total: float = between * (topology.num_hosts // routers.num_routers) ** 2
    else:
        total = sum(float((row * weight).sum()) for row, weight in _distance_rows(topology))
    return total / (hosts * (hosts - 1))


def alike(topology: Topology) -> bool:
    """Return whether all routers have as many hosts, of one port each, and nothing is broken.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> alike(topology("mesh:4x4/2")), alike(topology("leaf-spine:2x2x2"))
    (True, False)
    """
    if topology.broken or topology.num_ports != topology.num_hosts:
        return False
    per_router = np.bincount(topology.injection_router, minlength=topology.num_routers)
    there = np.array_equal(topology.injection_router, topology.ejection_router)
    return there and bool((per_router == per_router[0]).all())


def _router_distances(routers: Topology, begins: Ints, *, backwards: bool = False) -> Floats:
    """Return float64[len(begins), num_routers], hops in a direct network."""
    everyone = np.arange(routers.num_routers)
    if isinstance(routers, Cube):
        hops = np.zeros((len(begins), routers.num_routers))
        for side, stride, wraps in zip(routers.sides, routers.strides, routers.wraps, strict=True):
            apart = np.abs((begins // stride % side)[:, None] - everyone // stride % side)
            hops += np.minimum(apart, side - apart) if wraps else apart
        return hops
    from scipy.sparse.csgraph import dijkstra

    ends = routers.channel_source, routers.channel_target
    graph = adjacency(routers.num_routers, *(ends[::-1] if backwards else ends))
    return np.asarray(dijkstra(graph, indices=begins, unweighted=True))


def host_distances(
    topology: Topology, begins: Ints, ends: Ints, *, backwards: bool = False, between: Any = None
) -> Floats:
    """Return float64[len(begins), len(ends)], hops between hosts. From a host to itself as well.

    A host that cannot reach itself by its own ports counts as any other two of its place.
    ``between`` returns the hops from some routers to all, if they are kept somewhere.
    """
    between = between or partial(_router_distances, backwards=backwards)
    leaving, entering = topology.injection_router, topology.ejection_router
    if backwards:
        leaving, entering = entering, leaving
    first, of_first = _ports(topology, begins)
    last, of_last = _ports(topology, ends)
    sources, row = np.unique(leaving[first], return_inverse=True)
    hops = between(topology.routers, sources)
    hops = _least(_taken(hops, row, 0), of_first, len(begins), 0)
    return _least(_taken(hops, entering[last], 1), of_last, len(ends), 1)


def _taken(values: Floats, places: Ints, axis: int) -> Floats:
    """Return some rows or columns, without a copy where they are all of them in order."""
    if np.array_equal(places, np.arange(values.shape[axis])):
        return values
    return values[places] if axis == 0 else values[:, places]


def _ports(topology: Topology, hosts: Ints) -> tuple[Ints, Ints]:
    """Return the ports of some hosts, host by host, and which of the hosts each belongs to."""
    begins = topology.port_offsets[hosts]
    counts = topology.port_offsets[hosts + 1] - begins
    owner = np.repeat(np.arange(len(hosts)), counts)
    return begins[owner] + places_within(counts), owner


def _least(values: Floats, owner: Ints, count: int, axis: int) -> Floats:
    """Return the least of each owner's rows or columns, infinite for owners without any."""
    if np.array_equal(owner, np.arange(count)):
        return values
    shape = (count, values.shape[1]) if axis == 0 else (values.shape[0], count)
    found = np.full(shape, np.inf)
    with_ports, first = np.unique(owner, return_index=True)
    if len(with_ports):
        least = np.minimum.reduceat(values, first, axis=axis)
        found[(with_ports, slice(None)) if axis == 0 else (slice(None), with_ports)] = least
    return found


def _places(topology: Topology) -> tuple[Ints, Floats]:
    """Return one working host of each place where some hang, and how many hang there.

    Two hosts of one place are as far as any other two from any third.
    """
    hosts = working_nodes(topology).astype(np.int64)
    ports, owner = _ports(topology, hosts)
    most = int(np.bincount(owner).max(initial=1))
    key = np.full((len(hosts), 2 * most), -1, np.int64)
    at = places_among(owner)
    key[owner, at] = topology.injection_router[ports]
    key[owner, most + at] = topology.ejection_router[ports]
    key[:, :most].sort(axis=1)
    key[:, most:].sort(axis=1)
    _, one, counts = np.unique(key, axis=0, return_index=True, return_counts=True)
    return hosts[one], counts.astype(np.float64)


def _distance_rows(topology: Topology) -> Iterator[tuple[Floats, Floats]]:
    """Yield blocks of the distances between places of hosts, and how many ordered pairs have each.

    Distances of no pair are 0.
    """
    if topology.num_routers > MOST_NODES_BY_SEARCH:
        what = "nodes" if topology.direct else "routers"
        found = f"{topology.num_routers} {what}"
        raise InputError(topology.name, found, f"at most {MOST_NODES_BY_SEARCH} here")
    hosts, counts = _places(topology)
    block = max(1, 2**22 // topology.num_routers)
    for first in range(0, len(hosts), block):
        some = slice(first, first + block)
        rows = host_distances(topology, hosts[some], hosts)
        weight = np.outer(counts[some], counts)
        own = np.arange(len(rows))
        weight[own, first + own] -= counts[some]
        rows[weight == 0] = 0
        yield rows, weight


def router_heights(topology: Topology, lowest: Ints | None = None) -> Ints:
    """Return how many hops each router is from the nearest of some: those with hosts by default."""
    inside, low = topology.routers, topology.injection_router if lowest is None else lowest
    return heights(low, inside.channel_source, inside.channel_target, topology.num_routers)


def heights(lowest: Ints | Bools, source: Ints, target: Ints, count: int) -> Ints:
    """Return how many channels lead to each vertex from the nearest of some, int64[count].

    As many as there are vertices where none does. Channel c leads from ``source[c]`` to
    ``target[c]``.

    Examples
    --------
    >>> heights(np.array([0]), np.array([0, 1]), np.array([1, 2]), 4)
    array([0, 1, 2, 4])
    """
    height = np.full(count, count)
    height[lowest] = 0
    while True:
        nearer = height.copy()
        np.minimum.at(nearer, target, height[source] + 1)
        if np.array_equal(nearer, height):
            return height
        height = nearer
