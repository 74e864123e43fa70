"""Links and ways of the flow engine, and what blocks in them.

Links have a capacity and a latency. Ways are the links that flows use, under a routing or given.

In lossless networks, links share by turns, and block.

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

from dataclasses import dataclass, replace
from fractions import Fraction
from math import inf, lcm

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints, distinct
from netloom.base.errors import InputError
from netloom.routing import Paths, Routing, paths
from netloom.routing.forwarding.tables import dependencies
from netloom.simulation.agenda import Pairs
from netloom.topology import Cube, Topology
from netloom.workload.programs.messages import Messages

# -- links and ways --------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FlowNetwork:
    """Links that flows share. A link is a channel of the network, by its number.

    Those of hosts' ports come after those between routers: port p injects by link
    ``num_network_channels + p``, and receives by the link ``num_ports`` behind that. If the network
    does not say how fast they are, they are there with ``end_channels`` only.

    Attributes
    ----------
    topology
        The network.
    capacity
        float64[num_links], size that a link moves in a unit of time: bytes per second, or flits per
        cycle.
    latency
        float64[num_links], in the same unit of time.
    end_channels
        Whether hosts send and receive through links as fast as the reference, since the network
        does not say how fast these are.
    efficiency
        float64[num_links] or one number, payload over what a link carries. Capacities are of
        payload.
    """

    topology: Topology
    capacity: Floats
    latency: Floats
    end_channels: bool
    efficiency: Floats | float = 1.0

    @property
    def num_links(self) -> int:
        """How many links there are."""
        return len(self.capacity)

    @property
    def hosts_are_faster(self) -> bool:
        """Whether each host can fill two channels between routers at once: it sends by several."""
        ports = self.capacity[self.topology.num_network_channels :]
        inside = self.capacity[: self.topology.num_network_channels]
        grid = isinstance(self.topology.routers, Cube)
        return bool(grid and len(ports) and ports.min() >= 2 * inside.max(initial=0.0))

    def link_name(self, link: int) -> str:
        """Return the name of a link, as a channel is called.

        Examples
        --------
        >>> from netloom.topology import mesh
        >>> network = flow_network(mesh(2, 2))
        >>> network.link_name(0), network.link_name(8), network.link_name(12)
        ('(0,0) -> (1,0)', 'into (0,0)', 'out of (0,0)')
        """
        topology = self.topology
        port = link - topology.num_network_channels
        if port < 0 or not self.end_channels:
            return topology.channel_name(link)
        way, place = divmod(port, topology.num_ports)
        host = topology.name_of(int(topology.port_host[place]))
        return f"{'out of' if way else 'into'} {host}"

    def __repr__(self) -> str:
        return f"<flows on {self.topology.name}: {self.num_links} links>"


def flow_network(
    topology: Topology,
    *,
    bandwidth: float = 1.0,
    latency: float | Floats = 1.0,
    end_channels: bool = True,
    efficiency: float | Floats = 1.0,
) -> FlowNetwork:
    """Return the links of a network.

    Parameters
    ----------
    topology
        The network.
    bandwidth
        What a channel of bandwidth 1 moves: bytes/second, or flits/cycle (1).
    latency
        Time over a channel whose latency is a cycle: seconds, or cycles.
    end_channels
        Whether each port of a host sends by one channel of bandwidth 1, and receives by one, if the
        network does not say how fast they are. Otherwise they are as fast as it says anyway.

    efficiency
        Payload over what each channel carries, one number or float64[num_channels]. That of hosts'
        own channels is the largest.

    Raises
    ------
    InputError
        If the bandwidth is not above 0, or a latency below 0.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> network = flow_network(topology("leaf-spine:2x1x2"), bandwidth=25e9, latency=600e-9)
    >>> network, network.capacity[0]
    (<flows on leaf-spine:2x1x2: 12 links>, np.float64(25000000000.0))
    """
    if not 0 < bandwidth < inf:
        raise InputError("bandwidth", f"{bandwidth:g}", "a rate above 0")
    delay = np.asarray(latency, np.float64)
    if not ((delay >= 0) & (delay < inf)).all():
        raise InputError("latency", f"{latency}", "times of at least 0")
    ends = bool(end_channels) and not topology.ports_listed
    more = 2 * topology.num_ports if ends else 0
    share = np.broadcast_to(efficiency, topology.num_channels)
    share = np.append(share, np.full(more, share.max(initial=0.0)))
    capacity = np.append(topology.channel_bandwidth, np.ones(more)) * bandwidth * share
    delays = np.append(topology.channel_cycles * delay, np.zeros(more))
    return FlowNetwork(topology, capacity, delays, ends, share)


WHOLE = 2**20
"""Shares of a flow that is spread over several paths, where fewer do not say how exactly."""

MOST_PARTS = 2**16
"""Largest denominator that a probability is taken to have."""

MOST_SHARES = 4096
"""Common multiples of shares, or of weights, up to this are taken as they are."""


@dataclass(frozen=True, eq=False)
class Ways:
    """The links that flows use, way by way, and how much of a flow uses each.

    Attributes
    ----------
    offsets
        int64[num_ways + 1]. Way w has the hops ``offsets[w]`` … ``offsets[w + 1] - 1``.
    links
        int32[offsets[-1]], none twice in a way.
    shares
        int32[offsets[-1]], out of ``whole``, how much of a flow uses the link. More than that where
        a path crosses it more than once.
    whole
        The shares of a flow that uses a link with all that it is.
    latency
        float64[num_ways], the mean over the paths of each way.
    queue
        int32[num_ways], the injection channel by which it enters; -1 if it has none.
    """

    offsets: Ints
    links: Ints
    shares: Ints
    whole: int
    latency: Floats
    queue: Ints

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def capacity(self, capacity: Floats) -> Floats:
        """Return float64[num_ways], the rate of a flow that is alone."""
        most = capacity[self.links] * self.whole / self.shares
        return np.asarray(np.minimum.reduceat(most, self.offsets[:-1]) if len(self) else most)

    def in_shares(self, whole: int) -> Ways:
        """Return the same ways in shares out of another number. Exact for a multiple of ``whole``.

        Examples
        --------
        >>> none = np.zeros(1)
        >>> half = Ways(np.array([0, 2]), np.arange(2), np.array([1, 2]), 2, none, none)
        >>> half.in_shares(6).shares
        array([3, 6], dtype=int32)
        """
        parts = np.rint(self.shares * (whole / self.whole))
        return replace(self, shares=np.maximum(parts, 1).astype(np.int32), whole=whole)


def ways_of(network: FlowNetwork, routing: Routing, sources: Ints, targets: Ints) -> Ways:
    """Return the ways of pairs of different hosts under a routing.

    A flow whose pair has several paths is spread over them as their probabilities say.

    Raises
    ------
    NoRouteError
        If the routing has no path for a pair.
    InputError
        If the pairs have too many paths.

    Examples
    --------
    >>> from netloom.routing import Minimal
    >>> from netloom.simulation.flow import flow_network
    >>> from netloom.topology import topology
    >>> network = flow_network(topology("leaf-spine:2x2x1"))
    >>> found = ways_of(network, Minimal(), np.array([0], np.int32), np.array([1], np.int32))
    >>> found.links, found.shares, found.whole
    (array([ 0,  1,  5,  7,  8, 11], dtype=int32), array([1, 1, 1, 1, 2, 2], dtype=int32), 2)
    """
    found = paths(network.topology, routing, sources, targets).whole(network.topology)
    return _over(network, found, sources, targets)


class WaysOfPairs:
    """The ways of pairs of hosts under a routing, found once rows need them."""

    def __init__(self, network: FlowNetwork, routing: Routing) -> None:
        self._network, self._routing = network, routing
        self._pairs = Pairs(network.topology.num_hosts)

    def of(self, messages: Messages) -> tuple[Ways, Ints]:
        """Return the ways that are new, and int64[num_rows], the way of each row by its number.

        Ways are numbered as they are found. A row that does not use the network has -1.
        """
        sources, targets, way = self._pairs.of(messages)
        return ways_of(self._network, self._routing, sources, targets), way


@dataclass(frozen=True, eq=False)
class GivenPaths:
    """A path of each message, where a routing would give one to each pair of hosts.

    Attributes
    ----------
    name
        What to call them.
    paths
        Different paths. None is empty.
    path
        int64[num_rows], the path of each row of a program.
    """

    name: str
    paths: Paths
    path: Ints

    @classmethod
    def of_entries(cls, name: str, routes: Paths, entry: Ints) -> GivenPaths:
        """Return the paths of rows that belong to entries, each with a route. Empty: it has none.

        ``entry``: int64[num_rows].
        """
        lengths = routes.lengths.astype(np.int64)
        key = np.zeros(len(routes), np.int64)  # equal for paths that are the same so far
        for hop in range(int(lengths.max(initial=0))):
            here = np.zeros(len(routes), np.int64)
            goes_on = lengths > hop
            here[goes_on] = routes.channels[routes.offsets[:-1][goes_on] + hop] + 1
            _, key = np.unique(key * (here.max() + 1) + here, return_inverse=True)
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        distinct = routes.taken(first)
        sent = np.flatnonzero(distinct.lengths)  # what stays inside a node has no path
        number = np.searchsorted(sent, np.arange(len(distinct)))
        return cls(name, distinct.taken(sent), number[place[entry]])

    def __str__(self) -> str:
        return self.name

    def of(self, network: FlowNetwork, messages: Messages) -> tuple[Ways, Ints]:
        """Return the ways of the paths, with the channels of their hosts, and that of each row."""
        found, routers = self.paths, network.topology.routers
        hosts = np.zeros((2, len(found)), np.int32)
        if network.end_channels:  # hosts are routers, which paths begin and end at
            hosts[0] = routers.channel_source[found.channels[found.offsets[:-1]]]
            hosts[1] = routers.channel_target[found.channels[found.offsets[1:] - 1]]
        return _over(network, found, *hosts), np.where(messages.moving, self.path, -1)


def _over(network: FlowNetwork, found: Paths, sources: Ints, targets: Ints) -> Ways:
    """Return the ways of pairs of hosts over paths."""
    from netloom.simulation.flow.kernels.flows import repeats

    topology, lengths, links = network.topology, np.diff(found.offsets), found.channels
    first = topology.num_network_channels
    if found.pair is None and not network.end_channels and not repeats(found.offsets, links):
        owner = np.repeat(np.arange(len(found)), lengths)
        latency = np.bincount(owner, network.latency[links], len(found)).astype(np.float64)
        queue = np.maximum(links[found.offsets[:-1]] - np.int32(first), np.int32(-1))
        return Ways(found.offsets, links, np.ones(len(links), np.int32), 1, latency, queue)
    pair = np.arange(len(found)) if found.pair is None else found.pair.astype(np.int64)
    part = np.ones(len(found)) if found.probability is None else found.probability
    owner = np.repeat(pair, lengths)
    share = np.repeat(part, lengths)
    if network.end_channels:
        number = np.arange(len(sources))
        into, out_of = (topology.port_offsets[ends] for ends in (sources, targets))
        ends = first + into, first + topology.num_ports + out_of
        owner = np.concatenate([owner, number, number])
        links = np.concatenate([links, *ends]).astype(np.int32)
        share = np.concatenate([share, np.ones(2 * len(sources))])
    return made_ways(network, owner, links, share, len(sources))


def made_ways(network: FlowNetwork, owner: Ints, links: Ints, share: Floats, count: int) -> Ways:
    """Return ways from hops in any order: the way, the link and the part of a flow of each."""
    key = owner * np.int64(network.num_links) + links
    alone, place = np.unique(key, return_inverse=True)
    part = np.bincount(place, share, len(alone)).astype(np.float64)
    way, link = np.divmod(alone, max(network.num_links, 1))
    counts = np.bincount(way, minlength=count)
    whole = _shares(part)
    port, queue = link - network.topology.num_network_channels, np.full(count, -1, np.int32)
    into = np.flatnonzero((port >= 0) & (port < network.topology.num_ports))[::-1]
    queue[way[into]] = port[into]  # the first of each way, which is written last
    offsets = np.append(0, np.cumsum(counts, dtype=np.int64))
    shares = np.maximum(np.rint(part * whole), 1).astype(np.int32)
    latency = np.bincount(way, part * network.latency[link], count).astype(np.float64)
    return Ways(offsets, link.astype(np.int32), shares, whole, latency, queue)


def _shares(part: Floats) -> int:
    """Return the least number of shares that says exactly how flows are spread, or ``WHOLE``."""
    whole = 1
    for value in np.unique(np.round(part, 12)).tolist():
        whole = lcm(whole, Fraction(value).limit_denominator(MOST_PARTS).denominator)
        if whole > WHOLE:
            return WHOLE
    return whole


EXACT = 1e-12
"""Weights that are no more off, as a part of them, are exact but for rounding."""

MOST_WHOLE = 2**24
"""Weights of all flows together, at most, for which whole numbers leave levels fine enough."""


def latency_weights(latency: Floats) -> Ints | None:
    """Return weights in inverse proportion to latencies above 0, as small whole numbers.

    None if there are none: only where latencies are small multiples of one, such as of a channel's,
    are they exact.

    Examples
    --------
    >>> latency_weights(np.array([2e-6, 4e-6, 6e-6]))
    array([6, 3, 2])
    >>> latency_weights(np.array([1e-6, np.pi * 1e-6])) is None
    True
    """
    alike = latency.min() / latency
    for times in range(1, MOST_SHARES + 1):
        weights = alike * times
        whole = np.rint(weights).astype(np.int64)
        if whole.min() > 0 and np.abs(weights / np.maximum(whole, 1) - 1).max() < EXACT:
            return whole if whole.sum() < MOST_WHOLE else None
    return None


# -- sharing by turns, and blocking ----------------------------------------------------------------

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
    topology, routers = network.topology, network.topology.routers
    host = np.full(topology.num_ports, -1, np.int64)  # a link leads from or to no router there
    source = np.concatenate([routers.channel_source, host, topology.ejection_router])
    target = np.concatenate([routers.channel_target, topology.injection_router, host])
    vertices = np.int64(topology.num_routers)
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

    topology, before = network.topology, hops_before(network, ways)
    after = np.flatnonzero(before >= 0)
    edges = [(ways.links[before[after]].astype(np.int64), ways.links[after].astype(np.int64))]
    first = np.unique(topology.injection_router, return_index=True)[1]
    hosts = distinct(topology.port_host[first])
    if routing is not None and len(hosts) <= MOST_ROUTERS:
        source, target = (each.ravel() for each in np.meshgrid(hosts, hosts, indexing="ij"))
        other = source != target
        held, asked = dependencies(paths(topology, routing, source[other], target[other]))
        key = distinct(held.astype(np.int64) * network.num_links + asked)
        edges.append(np.divmod(key, network.num_links))
    ends = np.concatenate([one for one, _ in edges]), np.concatenate([two for _, two in edges])
    shape = (network.num_links, network.num_links)
    graph = csr_array((np.ones(len(ends[0]), np.int8), ends), shape=shape)
    count, part = connected_components(graph, connection="strong")
    return np.asarray(np.bincount(part, minlength=count)[part] > 1)
