"""A network as the making of schedules sees it: ranks, what forwards, and links in whole numbers.

Optima are exact only if capacities are: bandwidths become whole multiples of one unit. Channels
that join the same two vertices are one link of their bandwidths together.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import gcd, lcm

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.topology import Topology
from netloom.topology.faults import working_nodes
from netloom.workload.programs.messages import Lists, cut

FINEST = 10**6
"""Largest common denominator of bandwidths. Others are rounded down to as many parts."""


@dataclass(frozen=True, eq=False)
class RankNetwork:
    """Ranks and the links between them. ``rank_network`` makes one.

    Vertices 0 … ``num_ranks`` − 1 are the ranks, which send, receive and pass on what they have
    received. The others only forward: routers, and the vertices of a direct network that no rank
    has.

    Attributes
    ----------
    topology
        The network that it was made from.
    num_ranks, num_vertices
        How many ranks, and how many vertices in all.
    vertices
        int32[num_vertices], the vertex of ``topology`` that each is.
    source, target
        int32[num_links], ascending, no pair twice.
    capacity
        int64[num_links], above 0, multiples of ``unit``.
    unit
        The bandwidth of capacity 1, relative to the topology's reference rate.
    single
        int64[num_links], the capacity of the slowest channel of a link: a message takes one.
    channels
        The channels of ``topology`` that each link is.
    latency
        float64[num_links], seconds. That of the slowest of a link's channels.
    bytes_per_second
        Of bandwidth 1.
    by_node
        Whether a rank is a node with all its hosts, among which data passes at once.
    inside
        int64[…], the capacities of links between hosts of one node, which ``topology`` lacks. Their
        channels have the numbers after those of ``topology``.
    """

    topology: Topology
    num_ranks: int
    vertices: Ints
    source: Ints
    target: Ints
    capacity: Ints
    unit: Fraction
    single: Ints = field(repr=False)
    channels: Lists = field(repr=False)
    latency: Floats = field(repr=False)
    bytes_per_second: float
    by_node: bool = False
    inside: Ints = field(default_factory=lambda: np.zeros(0, np.int64), repr=False)

    @property
    def num_channels(self) -> int:
        """Number of channels of the topology, and of those inside nodes."""
        return self.topology.num_channels + len(self.inside)

    @property
    def channel_rate(self) -> Floats:
        """float64[num_channels], bytes/s."""
        inside = self.inside.astype(np.float64) * float(self.unit)
        rates = np.append(self.topology.channel_bandwidth, inside)
        return np.asarray(rates * self.bytes_per_second)

    @property
    def channel_latency(self) -> Floats:
        """float64[num_channels], seconds: 0 for those that no link has."""
        found = np.zeros(self.num_channels)
        found[self.channels.values] = np.repeat(self.latency, self.channels.lengths)
        return found

    @property
    def num_vertices(self) -> int:
        """Number of ranks and of what only forwards."""
        return len(self.vertices)

    @property
    def num_links(self) -> int:
        """Number of directed links."""
        return len(self.source)

    @property
    def rate(self) -> Floats:
        """float64[num_links], bytes/s."""
        each = float(self.unit) * self.bytes_per_second
        return np.asarray(self.capacity.astype(np.float64) * each)

    def name_of(self, vertex: int) -> str:
        """Return what a vertex is called."""
        found = int(self.vertices[vertex])
        if self.by_node and vertex < self.num_ranks:
            return self.topology.computer_name(int(self.topology.node_of_host[found]))
        return self.topology.name_of(found)

    def reversed(self) -> RankNetwork:
        """Return the network with every link the other way: gathering becomes scattering."""
        order = np.lexsort((self.source, self.target))
        same = ("capacity", "single", "latency")
        taken = {name: getattr(self, name)[order] for name in same}
        taken |= {"source": self.target[order], "target": self.source[order]}
        return replace(self, channels=self.channels.taken(order), **taken)


def rank_network(
    topology: Topology,
    hosts: Sequence[int] | Ints | None = None,
    *,
    bytes_per_second: float = 1.0,
    latency_seconds: ArrayLike = 0.0,
    even: bool = False,
    by_node: bool = False,
    free_inside: bool = False,
) -> RankNetwork:
    """Return what synthesis sees of a network.

    Parameters
    ----------
    topology
        The network. Broken channels are left out.
    hosts
        The host of each rank, none twice. Every host by default that works and is no switch. Other
        hosts take no part, except in a direct network without switches, in which they forward.
    bytes_per_second
        Of a channel of bandwidth 1.
    latency_seconds
        Of each channel: one number, or float64[num_channels].
    even
        Whether hosts that forward are left out unless they have as much bandwidth in as out, which
        trees need. See ``trees.split_off``.
    by_node
        Whether each rank is a node, named by one of its hosts, with the channels of all of them.
    free_inside
        Whether hosts of a node that has ranks, all of them, are joined by links that never limit:
        each has twice what the node can send by its channels.

    Raises
    ------
    InputError
        If there are fewer than two ranks, one is a switch, has failed or is named twice.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> found = rank_network(topology("leaf-spine:2x2x4"))
    >>> found.num_ranks, found.num_vertices, found.num_links
    (8, 12, 24)
    >>> rank_network(topology("ring:6"), [0, 3]).num_vertices
    6
    """
    working = np.setdiff1d(working_nodes(topology), topology.switches)
    ranks = (working if hosts is None else np.asarray(hosts)).astype(np.int64)
    if len(ranks) < 2:
        raise InputError("ranks", f"{len(ranks)}", f"at least 2 hosts of {topology.name}")
    known, times = np.unique(ranks, return_counts=True)
    if len(known) < len(ranks):
        twice = topology.name_of(int(known[np.argmax(times)]))
        raise InputError("ranks", f"host {twice} twice", "one rank per host")
    for those, why in ((topology.failed_nodes, "has failed"), (topology.switches, "is a switch")):
        unfit = np.intersect1d(ranks, np.array(those, np.int64))
        if len(unfit):
            odd_one = f"{topology.name_of(int(unfit[0]))}, which {why}"
            raise InputError("ranks", odd_one, "hosts that run tasks")
    hosts_forward = topology.direct and not topology.switches
    forwards = np.ones(topology.num_ends, np.bool_)
    forwards[: topology.num_hosts] = hosts_forward
    forwards[list(topology.switches)] = True
    group = topology.local_group
    rank_of_group = np.full(int(group.max()) + 1, -1, np.int64)
    rank_of_group[group[ranks]] = np.arange(len(ranks))
    same_node = np.flatnonzero(rank_of_group[group] >= 0)
    members = same_node if by_node else ranks
    if free_inside:
        forwards[same_node] = topology.vertex_up[same_node]
    forwards[members] = False
    if even and hosts_forward:
        forwards &= _even(topology, ranks, forwards)
    vertices = np.concatenate([ranks, np.flatnonzero(forwards)]).astype(np.int32)
    number = np.full(topology.num_ends, -1, np.int64)
    number[vertices] = np.arange(len(vertices))
    if by_node:
        number[members] = rank_of_group[group[members]]
    ends = np.stack([number[topology.source_end], number[topology.target_end]])
    whole, unit = whole_numbers(topology.channel_bandwidth)
    latency = np.broadcast_to(np.asarray(latency_seconds, np.float64), topology.num_channels)
    inside = np.zeros(0, np.int64)
    if free_inside:
        joined, inside = _inside_nodes(topology, vertices, ends, whole)
        ends, whole = np.append(ends, joined, axis=1), np.append(whole, inside)
        latency = np.append(latency, np.zeros(len(inside)))
    used = np.flatnonzero((ends >= 0).all(axis=0) & (ends[0] != ends[1]))
    keys = ends[0][used] * len(vertices) + ends[1][used]
    order = used[np.argsort(keys, kind="stable")].astype(np.int32)
    pairs, counts = np.unique(keys, return_counts=True)
    link = np.repeat(np.arange(len(pairs)), counts)
    capacity, slowest = np.zeros(len(pairs), np.int64), np.zeros(len(pairs))
    single = np.full(len(pairs), np.iinfo(np.int64).max)
    np.add.at(capacity, link, whole[order])
    np.minimum.at(single, link, whole[order])
    np.maximum.at(slowest, link, latency[order])
    common = int(np.gcd.reduce(np.append(capacity, single))) or 1
    return RankNetwork(
        topology,
        len(ranks),
        vertices,
        (pairs // len(vertices)).astype(np.int32),
        (pairs % len(vertices)).astype(np.int32),
        capacity // common,
        unit * common,
        single // common,
        cut(order, counts),
        slowest,
        bytes_per_second,
        by_node,
        inside // common,
    )


def _inside_nodes(topology: Topology, vertices: Ints, ends: Ints, whole: Ints) -> tuple[Ints, Ints]:
    """Return links between the hosts of each node, int64[2, …], and capacities that never limit.

    ``ends`` are those of the topology's channels, -1 for none, and ``whole`` their capacities.
    """
    hosts, group = np.flatnonzero(vertices < topology.num_hosts), topology.local_group
    of_host = group[vertices[hosts]]
    one, other = np.nonzero(of_host[:, None] == of_host)
    apart = one != other
    leaves = (ends >= 0).all(axis=0) & (vertices[ends[0]] < topology.num_hosts)
    leaves &= ends[0] != ends[1]
    sent = np.bincount(group[vertices[ends[0][leaves]]], whole[leaves], int(group.max()) + 1)
    inside = 2 * sent[of_host[one[apart]]].astype(np.int64)
    return hosts[np.stack([one[apart], other[apart]])], inside


def _even(topology: Topology, ranks: Ints, forwards: Bools) -> Bools:
    """Return which vertices have as much bandwidth in as out, bool[num_vertices].

    Those that have not are left out with their channels, until all that are left have.
    """
    source, target, rate = topology.source_end, topology.target_end, topology.channel_bandwidth
    there = forwards.copy()
    while True:
        there[ranks] = True
        used = np.flatnonzero(there[source] & there[target])
        into, out_of = (
            np.bincount(ends[used], rate[used], minlength=len(there)) for ends in (target, source)
        )
        even = np.isclose(into, out_of, rtol=1e-9, atol=0)
        even[ranks] = True
        if (even | ~there).all():
            return there
        there &= even


def whole_numbers(values: Floats) -> tuple[Ints, Fraction]:
    """Return positive numbers as whole multiples of a unit, and that unit.

    Exact where they are ratios of small numbers, as the rates of cables are. Otherwise rounded down
    to a millionth of the largest.

    Examples
    --------
    >>> whole_numbers(np.array([1, 0.7, 12.5]))
    (array([ 10,   7, 125]), Fraction(1, 10))
    """
    if not len(values):
        return np.zeros(0, np.int64), Fraction(1)
    known, place = np.unique(values, return_inverse=True)
    ratios = [Fraction(each / known[0]).limit_denominator(1000) for each in known]
    scale = lcm(*(each.denominator for each in ratios))
    unit = Fraction(known[0]).limit_denominator(FINEST) / scale
    near = np.isclose([float(each) for each in ratios], known / known[0], rtol=1e-9, atol=0)
    if scale > FINEST or not near.all():
        unit = Fraction(known[-1]).limit_denominator(FINEST) / FINEST
        found = np.maximum(np.floor(known / known[-1] * FINEST * (1 + 1e-12)), 1).astype(np.int64)
        return found[place], unit
    parts = [int(each * scale) for each in ratios]
    common = gcd(*parts)
    return (np.array(parts, np.int64) // common)[place], unit * common
