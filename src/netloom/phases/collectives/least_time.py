"""What no algorithm beats on a network: the least time of a collective, from its cuts and ways.

Any routing, any order of ranks on these hosts and any algorithm are allowed. Routers do not add.

If ranks form k groups, 2 (k − 1) sizes leave the groups of an all-reduce together. Patarasuk &
Yuan, *Bandwidth optimal all-reduce algorithms for clusters of workstations*, 2009, prove it for
single ranks. The groups for which this takes longest are those of least bandwidth out of them per
group less one. If every link is as fast both ways and only ranks forward, that many trees can be
packed (Tutte 1961, Nash-Williams 1961). Used up one way and down the other, they are an all-reduce
at this bound. The least is found by Newton's steps from groups to groups. A step is a greedy
algorithm over a submodular function, a minimum cut per rank (Cunningham, *Optimal attack and
reinforcement of a network*, J. ACM 32, 1985, and Barahona, *Separating from the dominant of the
spanning tree polytope*, Oper. Res. Lett. 12, 1992).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.units import rate
from netloom.base.words import counted
from netloom.bounds.demand import leading_out
from netloom.bounds.parts import joined, pods
from netloom.phases.collectives.network import rank_network
from netloom.phases.collectives.schedules import Prices
from netloom.phases.collectives.trees import optimum
from netloom.topology import Cube
from netloom.workload.programs.collectives.costs import least_seconds
from netloom.workload.programs.collectives.program import COLLECTIVES
from netloom.workload.programs.messages import Lists

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Floats, Ints
    from netloom.phases.collectives.network import RankNetwork
    from netloom.topology import Topology


MOST_SOURCES = 256
"""Hosts from which latencies are looked at, if there are more."""

MOST_LEVELS = 8
"""Most rates of links by which hosts are grouped."""

MOST_DISTANCES = 1024
"""Most hosts between all of which distances are found."""


@dataclass(frozen=True)
class LeastTime:
    """What a collective takes at least.

    Attributes
    ----------
    latency
        Seconds, of however little data.
    alpha
        Seconds of one message without data between the two nearest hosts.
    per_byte
        Seconds per byte of the collective's size.
    why
        What that is: a sentence for people. "" if nothing crosses the network.
    """

    latency: float
    alpha: float
    per_byte: float
    why: str

    def seconds(self, size_bytes: float) -> float:
        """Return the least time of a size: both hold, and may hold at once."""
        return max(self.latency, self.per_byte * size_bytes)


@dataclass(frozen=True, eq=False)
class _Ranks:
    """Hosts or nodes with ranks, and what is between them. ``weight``: int64[…], ranks of each."""

    collective: str
    network: RankNetwork
    weight: Ints
    root: int  # the number of the root's host here
    port: Floats  # bytes/s into and out of each, where channels do not say

    @property
    def total(self) -> int:
        return int(self.weight.sum())


def least_time(
    collective: str,
    topology: Topology,
    host_of: Ints,
    *,
    root: int = 0,
    bytes_per_second: float = 1.0,
    latency_seconds: NDArray[Any] | float = 0.0,
    overhead: float = 0.0,
    port: float = np.inf,
    by_node: bool = False,
) -> LeastTime:
    """Return what a collective takes at least on a network.

    All-gather, reduce-scatter, broadcast and reduce: the cut of ``optimum``. All-reduce: for every
    partition of the hosts into k groups, 2(k − 1) sizes leave these groups together (Patarasuk &
    Yuan 2009, for single ranks). A whole size crosses each cut in both directions. Up to
    ``MOST_GROUPED`` hosts times links, the partitions tried include the one that takes longest
    (``weakest_groups``). All-to-all, gather and scatter: what the groups send to each other.
    All-to-all also: Σ bytes × channels on a shortest path / rate of all channels.

    Parameters
    ----------
    collective
        One of ``COLLECTIVES``.
    topology, host_of
        The network, and int[num_ranks], the host of each rank. Several may share one.
    root
        The rank of rooted collectives.
    bytes_per_second
        Of a channel of bandwidth 1.
    latency_seconds
        Of each channel, or float64[num_channels].
    overhead
        Seconds of the processor at each end of a message.
    port
        Bytes/s that each host of a direct network can send, and receive. No limit by default.
    by_node
        Whether hosts of one node (``topology.node_of_host``) exchange data at once, and send by all
        channels of the node. Then nothing beats this, however fast a node is inside.

    Raises
    ------
    InputError
        If there is no such collective, or some rank cannot reach another.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> net = topology("torus:8x8x8")
    >>> least_time("all-gather", net, np.arange(512)).per_byte * 512 * 6
    511.0
    >>> least_time("all-reduce", topology("mesh:3x3"), np.arange(9)).per_byte * 1.5
    1.0
    >>> least_time("all-to-all", net, np.arange(512)).per_byte
    1.0
    >>> nodes = topology("rail:2x8x8x8")  # 16 nodes of 8 hosts
    >>> least_time("all-reduce", nodes, np.arange(128), by_node=True).per_byte * 8
    1.875
    """
    if collective not in COLLECTIVES:
        raise InputError("collective", f"'{collective}'", ", ".join(COLLECTIVES))
    given = np.asarray(host_of)
    owner = topology.local_group if by_node else np.arange(topology.num_hosts)
    places, first, place, weight = np.unique(
        owner[given], return_index=True, return_inverse=True, return_counts=True
    )
    if len(places) < 2:
        return LeastTime(0.0, 0.0, 0.0, "")
    network = rank_network(
        topology, given[first], bytes_per_second=bytes_per_second, latency_seconds=latency_seconds,
        by_node=by_node,
    )  # fmt: skip
    ports = np.bincount(owner)[places] * port
    ranks = _Ranks(collective, network, weight, int(place[root]), ports)
    near, far = _latencies(ranks)
    told = least_seconds(
        len(places), latency=near, overhead=overhead, gap=0.0, ranks_each=int(weight.max())
    )
    begun = max(2 * overhead + far, told)
    alpha = 2 * overhead + near
    if collective == "barrier":
        return LeastTime(begun, alpha, 0.0, "Latency alone.")
    found = max(_bounds(ranks), key=lambda each: each[0])
    return LeastTime(begun, alpha, *found)


def _latencies(ranks: _Ranks) -> tuple[float, float]:
    """Return the least latency between any two hosts, and that of the two that are furthest."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    network, hosts = ranks.network, len(ranks.weight)
    graph = csr_array(
        (network.latency, (network.source, network.target)), shape=(network.num_vertices,) * 2
    )
    rooted = ranks.collective in ("broadcast", "reduce", "gather", "scatter")
    some = np.unique(np.linspace(0, hosts - 1, min(hosts, MOST_SOURCES)).astype(np.int64))
    from_root = np.array([ranks.root])
    if ranks.collective in ("reduce", "gather"):
        graph = csr_array(graph.T)
    times = dijkstra(graph, indices=from_root if rooted else some)[:, :hosts]
    if not np.isfinite(times).all():
        raise InputError(network.topology.name, "pieces", "ranks that can all reach each other")
    leave, come = network.source < hosts, network.target < hosts
    near = np.inf
    for links in ((leave & come,), (leave & ~come, come & ~leave)):  # straight, or by routers
        near = min(near, sum(network.latency[some].min(initial=np.inf) for some in links))
    return float(near), float(times.max())


def _bounds(ranks: _Ranks) -> Iterator[tuple[float, str]]:
    """Yield seconds per byte that some cut takes, and which."""
    yield _ports(ranks)
    gathers = {"all-gather": False, "reduce-scatter": True, "broadcast": False, "reduce": True}
    one = np.zeros_like(ranks.weight)
    one[ranks.root] = 1
    if ranks.collective in gathers:
        whole = ranks.collective in ("broadcast", "reduce")
        yield _cut(ranks, one if whole else ranks.weight, backwards=gathers[ranks.collective])
        return
    if ranks.collective == "all-reduce":
        yield _cut(ranks, one, backwards=False)
        yield _cut(ranks, one, backwards=True)
        if ranks.network.num_ranks * ranks.network.num_links <= MOST_GROUPED:
            yield _between(ranks, weakest_groups(ranks.network))
    for groups in _partitions(ranks.network):
        yield _between(ranks, groups)
    if ranks.collective == "all-to-all" and len(ranks.weight) <= MOST_DISTANCES:
        yield from _ways(ranks)


def _cut(ranks: _Ranks, weights: Ints, *, backwards: bool) -> tuple[float, str]:
    network = ranks.network.reversed() if backwards else ranks.network
    found = optimum(network, weights)
    said = found.bottleneck
    return 1 / found.bytes_per_second, f"{said} Backwards for sums." if backwards else said


def _ports(ranks: _Ranks) -> tuple[float, str]:
    """Return what the host with the most to send or to receive through its port takes."""
    own, total, port = ranks.weight, ranks.total, ranks.port
    others = (total - own) / total
    if ranks.collective in ("gather", "scatter"):
        most = float(others[ranks.root] / port[ranks.root])
    else:
        most = {
            "all-reduce": 2 * (len(own) - 1) / float(port.sum()),
            "all-to-all": float((own * others / port).max()),
            "broadcast": float(1 / port.min()),
            "reduce": float(1 / port.min()),
        }.get(ranks.collective, float((others / port).max()))
    return most, f"Each node sends and receives {rate(float(port.min()))}."


def _partitions(network: RankNetwork) -> Iterator[Ints]:
    """Yield groups of all vertices, which may be any.

    Each host alone. The hosts of each computer. What faster links join, and routers with the hosts
    that they join, from the nearest to the furthest: further ones are in no group, -1.
    """
    count, hosts = network.num_vertices, network.num_ranks
    alone = np.full(count, -1, np.int64)
    alone[:hosts] = np.arange(hosts)
    yield alone
    computer = alone.copy()
    computer[:hosts] = network.topology.node_of_host[network.vertices[:hosts]]
    yield computer
    ends = network.source, network.target
    for slow in np.unique(network.capacity)[:-1][:MOST_LEVELS]:
        yield joined(count, *(end[network.capacity > slow] for end in ends))
    both = np.concatenate(ends), np.concatenate(ends[::-1])
    for group in islice(pods(alone >= 0, *both), 1, None):
        if len(np.unique(group[:hosts])) < 2:
            return
        yield group


def _between(ranks: _Ranks, groups: Ints) -> tuple[float, str]:
    """Return what groups of hosts take at least to send each other what they must."""
    network, total = ranks.network, ranks.total
    hosts = network.num_ranks
    known, group = np.unique(groups[:hosts], return_inverse=True)
    number = np.full(int(groups.max()) + 2, -1)  # of groups with hosts; the last is that of none
    number[known] = np.arange(len(known))
    weight = np.bincount(group, weights=ranks.weight).astype(np.float64)
    leaving, coming = leading_out(number[groups], network.source, network.target, network.rate)
    if len(known) < 2:
        return 0.0, ""
    if ranks.collective == "all-reduce":
        both = min(float(leaving.sum()), float(coming.sum()))
        many = counted(len(known), "group")
        said = f"{many} of {_members(network)}s send each other {rate(both)} together at most."
        return 2 * (len(known) - 1) / both, said
    share, root = weight / total, group[ranks.root]
    outside = 1 - share
    if ranks.collective == "all-to-all":  # a rank's buffer is the size
        sent = received = np.asarray(weight * outside, np.float64)
    else:
        at_root, elsewhere = np.zeros(len(known)), np.where(np.arange(len(known)) == root, 0, share)
        at_root[root] = outside[root]
        sent, received = elsewhere, at_root
        if ranks.collective == "scatter":
            sent, received = received, sent
    times = np.maximum(_over(sent, leaving), _over(received, coming))
    worst = int(np.argmax(times))
    which = np.flatnonzero(group == worst)
    named = network.name_of(int(which[0]))
    others = counted(len(which) - 1, _members(network))
    more = f" and {others} with it" if len(which) > 1 else ""
    speed = rate(float(min(leaving[worst], coming[worst])))
    return float(times[worst]), f"{named}{more} {'have' if more else 'has'} {speed} to the others."


def _members(network: RankNetwork) -> str:
    return "node" if network.by_node else "host"


def _over(size: Floats, speed: Floats) -> Floats:
    """Return sizes over speeds. Nothing takes no time."""
    with np.errstate(divide="ignore"):
        return np.where(size > 0, size / np.where(size > 0, speed, 1), 0.0)


def _ways(ranks: _Ranks) -> Iterator[tuple[float, str]]:
    """Yield what an all-to-all takes if every byte went a shortest way, all channels always busy.

    Also of the channels of each dimension of a mesh or torus alone, which bytes cannot avoid.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    network, hosts = ranks.network, len(ranks.weight)
    ends = network.source, network.target
    lengths = [(np.ones(network.num_links), "all channels")]
    topology = network.topology.whole
    router: Ints = np.arange(topology.num_routers)
    if topology.ports_listed:  # a host is where its first port is
        router = np.append(topology.injection_router[topology.port_offsets[:-1]], router)
    if isinstance(topology.routers, Cube):
        sides = topology.routers.sides
        where = [np.unravel_index(router[network.vertices[end]], sides) for end in ends]
        for number, (one, other) in enumerate(zip(*where, strict=True)):
            along = (one != other).astype(np.float64)
            lengths.append((along, f"the channels of dimension {number}"))
    for length, said in lengths:
        graph = csr_array((length, ends), shape=(network.num_vertices,) * 2)
        apart = dijkstra(graph, indices=np.arange(hosts))[:, :hosts]
        size = float(ranks.weight @ apart @ ranks.weight) / ranks.total
        room = float(length @ network.rate)
        if room:
            yield size / room, f"Shortest ways fill {said}."


MOST_GROUPED = 4_000_000
"""Most hosts times links of networks whose weakest groups are found, in up to 3 seconds."""


def weakest_groups(network: RankNetwork) -> Ints:
    """Return the groups of vertices with the least bandwidth out of them per group less one.

    Each rank is in a group. Routers may be in none, −1. int64[num_vertices], a group's number is
    that of one of its ranks. If no other groups have less, each rank alone.

    Parameters
    ----------
    network
        Ranks that can all reach each other.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> weakest_groups(rank_network(topology("line:4")))
    array([0, 1, 2, 3])
    >>> import networkx as nx
    >>> two = nx.barbell_graph(3, 0)
    >>> weakest_groups(rank_network(topology(two)))
    array([2, 2, 2, 5, 5, 5])
    """
    from netloom.phases.collectives.kernels.flows import INFINITE, fill_arcs
    from netloom.phases.collectives.kernels.groups import join_groups

    ranks, vertices = network.num_ranks, network.num_vertices
    best = np.full(vertices, -1, np.int64)
    best[:ranks] = np.arange(ranks)
    least = least_out(network, best)
    rank = np.arange(ranks, dtype=np.int32)
    beside = np.full(ranks, vertices, np.int32)
    sources = np.concatenate([network.source, beside, rank]).astype(np.int32)
    targets = np.concatenate([network.target, rank, beside + 1]).astype(np.int32)
    arcs = 2 * len(sources)
    first = np.full(vertices + 2, -1, np.int32)
    following, head = (np.zeros(arcs, np.int32) for _ in range(2))
    whole, cap = (np.zeros(arcs, np.int64) for _ in range(2))
    fill_arcs(first, following, head, whole, sources, targets, np.zeros(len(sources), np.int64))
    room, height = np.zeros((4, vertices + 2), np.int32), np.zeros(ranks, np.int64)
    while True:
        whole[: 2 * network.num_links : 2] = network.capacity * least.denominator
        most = int(whole.sum()) + ranks * least.numerator
        assert most < INFINITE, "capacities too large for exact flows"
        found = np.empty(vertices, np.int64)
        join_groups(
            first, following, head, whole, cap, room, vertices, np.int64(least.numerator), height,
            found,
        )  # fmt: skip
        if len(np.unique(found[:ranks])) < 2 or (lower := least_out(network, found)) >= least:
            return best
        best, least = found, lower


def least_out(network: RankNetwork, group: Ints) -> Fraction:
    """Return the capacity of what leaves groups, per group less one.

    Parameters
    ----------
    group
        As ``weakest_groups`` returns them. Half of theirs is an algorithm bandwidth, in units of
        the network's capacity, that no all-reduce exceeds.
    """
    ends = group[network.source], group[network.target]
    leaving = int(network.capacity[(ends[0] >= 0) & (ends[0] != ends[1])].sum())
    return Fraction(leaving, len(np.unique(group[: network.num_ranks])) - 1)


def group_prices(network: RankNetwork, group: Ints) -> Prices:
    """Return prices of links that prove what groups of ranks do.

    In each group, one rank has priced links. Those into it cost 1 for data from roots, and those
    out of it cost 1 for data to roots. So each root pays 2 (k − 1). Routers of no group have a
    level of 1, so that a path from group to group costs 1 where it leaves the first.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("line:3"))
    >>> group_prices(net, weakest_groups(net)).channels.of(0)  # into rank 0
    array([1], dtype=int32)
    """
    ends = group[network.source], group[network.target]
    crosses = np.flatnonzero(ends[0] != ends[1])
    keys = [(kind, ends[1 - kind][crosses]) for kind in (0, 1)]
    table = np.concatenate([np.where(of >= 0, kind * network.num_ranks + of, -1)
                            for kind, of in keys])  # fmt: skip
    link = np.tile(crosses, 2)[table >= 0]
    table = table[table >= 0]
    order = np.argsort(table, kind="stable")
    offsets = np.searchsorted(table[order], np.arange(2 * network.num_ranks + 1)).astype(np.int64)
    outside = (group[network.num_ranks :] < 0).astype(np.int64)
    return Prices(
        Lists(offsets, link[order].astype(np.int32)), np.ones(len(link), np.int64),
        np.stack([outside, np.zeros_like(outside)]),
    )  # fmt: skip
