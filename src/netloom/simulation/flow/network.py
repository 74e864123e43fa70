"""A network as the flow engine sees it: links of a capacity and a latency, and ways over them."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from netloom.errors import InputError
from netloom.routing import paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.routing import Routing
    from netloom.topology import Topology

WHOLE = 2**20
"""Shares of a flow that is spread over several paths, where fewer do not say how exactly."""

MOST_SHARES = 4096
"""Most shares that are tried to say exactly how flows are spread."""


@dataclass(frozen=True, eq=False)
class FlowNetwork:
    """Links that flows share. A link is a channel of the network, by its number.

    In a direct network with ``end_channels`` each host has two more: the injection links of all
    hosts come after the channels, then their ejection links.

    Attributes
    ----------
    topology
        The network.
    capacity
        float64[num_links], size that a link moves in a unit of time: bytes a second, or flits a
        cycle.
    latency
        float64[num_links], in the same unit of time.
    end_channels
        Whether hosts of a direct network send and receive through links of their own.
    """

    topology: Topology
    capacity: NDArray[np.float64]
    latency: NDArray[np.float64]
    end_channels: bool

    @property
    def num_links(self) -> int:
        """How many links there are."""
        return len(self.capacity)

    def link_name(self, link: int) -> str:
        """Return the name of a link, as a channel is called.

        Examples
        --------
        >>> from netloom.topology import mesh
        >>> network = flow_network(mesh(2, 2))
        >>> network.link_name(0), network.link_name(8), network.link_name(12)
        ('(0,0) -> (1,0)', 'into (0,0)', 'out of (0,0)')
        """
        if link < self.topology.num_channels:
            return self.topology.channel_name(link)
        way, host = divmod(link - self.topology.num_channels, self.topology.num_hosts)
        return f"{'out of' if way else 'into'} {self.topology.name_of(host)}"

    def __repr__(self) -> str:
        return f"<flows on {self.topology.name}: {self.num_links} links>"


def flow_network(
    topology: Topology,
    *,
    bandwidth: float = 1.0,
    latency: float = 1.0,
    end_channels: bool = True,
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
        In a direct network: whether each host sends by one channel of bandwidth 1, and receives by
        one. Hosts that hang on routers have channels of their own anyway.

    Raises
    ------
    InputError
        If the bandwidth is not above 0, or the latency below 0.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> network = flow_network(topology("leaf-spine:2x1x2"), bandwidth=25e9, latency=600e-9)
    >>> network, network.capacity[0]
    (<flows on leaf-spine:2x1x2: 12 links>, np.float64(25000000000.0))
    """
    if not 0 < bandwidth < inf:
        raise InputError("bandwidth", f"{bandwidth:g}", "a rate above 0")
    if not 0 <= latency < inf:
        raise InputError("latency", f"{latency:g}", "a time of at least 0")
    capacity = topology.channel_bandwidth * bandwidth
    delays = topology.channel_cycles.astype(np.float64) * latency
    ends = bool(end_channels) and topology.direct
    if ends:
        capacity = np.append(capacity, np.full(2 * topology.num_hosts, bandwidth))
        delays = np.append(delays, np.zeros(2 * topology.num_hosts))
    return FlowNetwork(topology, capacity, delays, ends)


@dataclass(frozen=True, eq=False)
class Ways:
    """The links that flows use, way by way, and how much of a flow uses each.

    Attributes
    ----------
    offsets
        int64[num_ways + 1]; way w has the hops ``offsets[w]`` … ``offsets[w + 1] - 1``.
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

    offsets: NDArray[np.int64]
    links: NDArray[np.int32]
    shares: NDArray[np.int32]
    whole: int
    latency: NDArray[np.float64]
    queue: NDArray[np.int32]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def capacity(self, capacity: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return float64[num_ways], the rate of a flow that is alone."""
        most = capacity[self.links] * self.whole / self.shares
        return np.asarray(np.minimum.reduceat(most, self.offsets[:-1]) if len(self) else most)


def ways_of(
    network: FlowNetwork, routing: Routing, sources: NDArray[np.int32], targets: NDArray[np.int32]
) -> Ways:
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
    >>> from netloom.topology import topology
    >>> network = flow_network(topology("leaf-spine:2x2x1"))
    >>> found = ways_of(network, Minimal(), np.array([0], np.int32), np.array([1], np.int32))
    >>> found.links, found.shares, found.whole
    (array([ 0,  1,  5,  7,  8, 11], dtype=int32), array([1, 1, 1, 1, 2, 2], dtype=int32), 2)
    """
    topology = network.topology
    found = paths(topology, routing, sources, targets)
    lengths = np.diff(found.offsets)
    pair = np.arange(len(found)) if found.pair is None else found.pair.astype(np.int64)
    part = np.ones(len(found)) if found.probability is None else found.probability
    owner: NDArray[np.int64] = np.repeat(pair, lengths)
    share = np.repeat(part, lengths)
    links = found.channels
    if network.end_channels:
        number = np.arange(len(sources))
        first = topology.num_channels
        ends = first + sources, first + topology.num_hosts + targets
        owner = np.concatenate([owner, number, number])
        links = np.concatenate([links, *ends]).astype(np.int32)
        share = np.concatenate([share, np.ones(2 * len(sources))])
    return made_ways(network, owner, links, share, len(sources))


def made_ways(
    network: FlowNetwork,
    owner: NDArray[np.int64],
    links: NDArray[np.int32],
    share: NDArray[np.float64],
    count: int,
) -> Ways:
    """Return ways from hops in any order: the way, the link and the part of a flow of each.

    Raises
    ------
    InputError
        If a way has no links.
    """
    key = owner * np.int64(network.num_links) + links
    alone, place = np.unique(key, return_inverse=True)
    part = _summed(place, share, len(alone))
    way, link = np.divmod(alone, max(network.num_links, 1))
    counts = np.bincount(way, minlength=count)
    if count and counts.min() == 0:
        wrong = int(np.argmin(counts))
        raise InputError("path", f"no channels on path {wrong}", "at least one channel")
    whole = _shares(part)
    latency = _summed(way, part * network.latency[link], count)
    return Ways(
        np.append(0, np.cumsum(counts, dtype=np.int64)),
        link.astype(np.int32),
        np.maximum(np.rint(part * whole), 1).astype(np.int32),
        whole,
        latency,
        _queues(network, way, link, count),
    )


def _summed(
    place: NDArray[np.int64], value: NDArray[np.float64], count: int
) -> NDArray[np.float64]:
    return np.bincount(place, value, count).astype(np.float64)


def _shares(part: NDArray[np.float64]) -> int:
    """Return the least number of shares that says exactly how flows are spread, or ``WHOLE``."""
    values = np.unique(np.round(part, 12))
    for whole in range(1, MOST_SHARES + 1):
        if np.abs(values * whole - np.rint(values * whole)).max(initial=0) < 1e-9 * whole:
            return whole
    return WHOLE


def _queues(
    network: FlowNetwork, way: NDArray[np.int64], link: NDArray[np.int64], count: int
) -> NDArray[np.int32]:
    """Return the first injection channel of each way; -1 where it has none."""
    topology, found = network.topology, np.full(count, -1, np.int32)
    first = topology.num_channels if topology.direct else topology.num_network_channels
    ports = topology.num_hosts if topology.direct else topology.num_ports
    into = np.flatnonzero((link >= first) & (link < first + ports))[::-1]
    found[way[into]] = link[into] - first
    return found
