"""The least time of a collective, and trees that reach it.

In an all-gather, what the ranks of a set S have must leave S for the others: M/N · |S| bytes
through the links that leave it. Reduce-scatter, broadcast and reduce have like cuts. The set for
which this takes longest is the bottleneck, and no schedule is faster. Zhao et al., *ForestColl:
efficient collective communications on heterogeneous network fabrics*, 2024. Here without a binary
search, by Newton's steps from cut to cut in exact fractions.

Switches are split off: a network of ranks alone can do as much. Capacity of a way u → w → t through
a switch w becomes a link u → t, as much as no rank misses. After that the switch has no links. If
switches have as much capacity in as out, this never gets stuck (Bang-Jensen, Frank & Jackson,
*Preserving and increasing local edge-connectivity in mixed graphs*, SIAM J. Discrete Math. 8, 1995;
ForestColl, 2024, uses it so).

Then out-trees from every root are packed, no link used beyond its capacity. The construction
follows Edmonds' theorem on disjoint branchings in its capacitated form (Bérczi & Frank, *Packing
arborescences*, 2010). Trees grow link by link, without backtracking. Maximum flows limit how often
a link is used. Trees of the same root that are alike are one *batch* with a multiplicity.

The least time of any collective follows from the cuts and ways of a network. Any routing, any order
of ranks on these hosts and any algorithm are allowed. Routers do not add. If ranks form k groups, 2
(k − 1) sizes leave the groups of an all-reduce together. Patarasuk & Yuan, *Bandwidth optimal
all-reduce algorithms for clusters of workstations*, 2009, prove it for single ranks. The groups for
which this takes longest are those of least bandwidth out of them per group less one. If every link
is as fast both ways and only ranks forward, that many trees can be packed (Tutte 1961,
Nash-Williams 1961). Used up one way and down the other, they are an all-reduce at this bound. The
least is found by Newton's steps from groups to groups. A step is a greedy algorithm over a
submodular function, a minimum cut per rank (Cunningham, *Optimal attack and reinforcement of a
network*, J. ACM 32, 1985, and Barahona, *Separating from the dominant of the spanning tree
polytope*, Oper. Res. Lett. 12, 1992).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from math import gcd
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.units import rate
from netloom.base.words import counted, listed
from netloom.bounds.cuts import cuts_of, first_largest, pods
from netloom.bounds.demand import Demand, apart, leading_out
from netloom.phases.collectives.kernels.trees import INFINITE, fill_arcs, first_short, join_groups
from netloom.phases.collectives.network import RankNetwork, rank_network
from netloom.phases.collectives.schedules import INTO, Prices
from netloom.topology import Topology
from netloom.topology.core import joined
from netloom.workload.programs.collectives.program import COLLECTIVES, least_seconds
from netloom.workload.programs.messages import Lists, grouped, lists

# -- trees -----------------------------------------------------------------------------------------


class Optimum(NamedTuple):
    """The rate at which every root can send to all ranks at once, and what holds it there.

    Attributes
    ----------
    network
        In the direction in which the data goes out of its roots: reversed for reduce-scatter.
    weights
        int64[num_ranks], how much each rank has to send, relatively: 1 each for all-gather, 1 for
        the root alone of a broadcast.
    rate
        x, of a root of weight 1, in units of the network's capacity: a fraction, exact.
    inside
        int32[…], the ranks within the bottleneck cut.
    leaving
        int32[…], the links that leave it.
    trees
        k, the least number of trees per weight 1 with which equal trees reach the rate and fill
        whole channels.
    """

    network: RankNetwork
    weights: Ints
    rate: Fraction
    inside: Ints
    leaving: Ints
    trees: int

    @property
    def bandwidth(self) -> Fraction:
        """The algorithm bandwidth, relative to the network's reference rate: size over time."""
        return self.rate * int(self.weights.sum()) * self.network.unit

    @property
    def bytes_per_second(self) -> float:
        """The algorithm bandwidth: no schedule moves the collective's size faster."""
        return float(self.bandwidth) * self.network.bytes_per_second

    def seconds(self, size_bytes: float) -> float:
        """Return the least time of a collective of this size, latencies left out."""
        return size_bytes / self.bytes_per_second

    @property
    def bottleneck(self) -> str:
        """The bottleneck cut in a sentence, for people."""
        network = self.network
        names = listed([network.name_of(rank) for rank in self.inside.tolist()], 4)
        ends = zip(network.source[self.leaving], network.target[self.leaving], strict=True)
        ways = [f"{network.name_of(int(a))} -> {network.name_of(int(b))}" for a, b in ends]
        total = float(network.rate[self.leaving].sum())
        ranks = counted(len(self.inside), "node" if network.by_node else "rank")
        speed = rate(total) if network.bytes_per_second != 1 else f"{total:.4g} channels"
        through = f"{counted(len(ways), 'link')} of {speed} together ({listed(ways, 4)})"
        send = "sends" if len(self.inside) == 1 else "send"
        return f"{ranks} ({names}) {send} to the others through {through}."


def optimum(network: RankNetwork, weights: ArrayLike | None = None) -> Optimum:
    """Return the best rate of sending from each rank to all others, with its bottleneck.

    For reduce-scatter and reduce give the reversed network.

    Parameters
    ----------
    network
        The ranks and links.
    weights
        int[num_ranks], how much each rank has to send, relatively; some above 0. The default is 1
        each (all-gather). A broadcast is 1 for one rank and 0 for the others.

    Raises
    ------
    InputError
        If some rank cannot reach another.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> found = optimum(rank_network(topology("mesh:3x3")))
    >>> found.bandwidth, found.rate, found.trees
    (Fraction(9, 4), Fraction(1, 4), 1)
    >>> found.bottleneck
    '8 ranks ((0,1), (0,2), (1,0) and 5 more) send to the others through 2 links of 2 channels
    together ((0,1) -> (0,0) and (1,0) -> (0,0)).'
    """
    given = np.ones(network.num_ranks, np.int64)
    if weights is not None:
        given = np.asarray(weights, np.int64)
    # all vertices but the rank that takes longest to receive what the others have
    arriving = np.zeros(network.num_vertices, np.int64)
    np.add.at(arriving, network.target, network.capacity)
    others = given.sum() - given
    ways = zip(arriving.tolist(), others.tolist(), strict=False)
    rates = [(Fraction(into, rest), rank) for rank, (into, rest) in enumerate(ways) if rest]
    inside = np.arange(network.num_vertices) != min(rates)[1]
    rate = _rate_of(network, given, inside)
    # the links, and a super-source with an arc to each rank that has something to send
    source, ranks = network.num_vertices, np.arange(network.num_ranks)
    own = 2 * (network.num_links + ranks)
    begin = np.append(network.source, np.full(len(ranks), source)).astype(np.int32)
    end = np.append(network.target, ranks).astype(np.int32)
    arcs = graph_of(source + 1, len(begin))
    fill_arcs(arcs, begin, end, np.ones(len(begin), np.int64))
    whole, place = arcs[3], 0
    while True:
        whole[: 2 * network.num_links : 2] = network.capacity * rate.denominator
        whole[own] = given * rate.numerator
        whole[own[:place]] = INFINITE
        limit = int(given.sum()) * rate.numerator
        assert limit < INFINITE, "capacities too large for exact flows"
        place = int(first_short(arcs, source, place, own, np.int64(limit)))
        if place < 0:  # no rank cannot receive at this rate
            break
        inside = arcs[5][0, :source] >= 0  # of the cut that the last flow met
        lower = _rate_of(network, given, inside)
        assert lower < rate, "a cut that does not lower the rate"
        rate = lower
    leaving = np.flatnonzero(inside[network.source] & ~inside[network.target])
    parts = *network.capacity.tolist(), *network.single.tolist()
    trees = rate.numerator // gcd(rate.numerator, *parts)
    held = np.flatnonzero(inside[: network.num_ranks])
    return Optimum(network, given, rate, held.astype(np.int32), leaving.astype(np.int32), trees)


def _rate_of(network: RankNetwork, weights: Ints, inside: Bools) -> Fraction:
    """Return the rate that a cut allows."""
    crossing = inside[network.source] & ~inside[network.target]
    capacity = int(network.capacity[crossing].sum())
    if not capacity:
        ranks = inside[: network.num_ranks]
        here, there = (network.name_of(int(np.argmax(each))) for each in (ranks, ~ranks))
        found = f"no way from {here} to {there}"
        raise InputError(network.topology.name, found, "ranks that can all reach each other")
    return Fraction(capacity, int(weights[inside[: network.num_ranks]].sum()))


MOST_VERTICES = 2048
"""Capacities between all vertices are a table of so many rows at most."""

Shares: TypeAlias = dict[tuple[int, int], list[tuple[int, tuple[int, ...]]]]
"""By source and target: how much each way carries, and the links of the network that it takes."""


def graph_of(vertices: int, arcs: int, kinds: int = 4) -> tuple[Any, ...]:
    """Return room for a graph of so many vertices and arcs, as the kernels take it."""
    of_arcs = (np.zeros(2 * arcs, kind) for kind in (np.int32, np.int32, np.int64, np.int64))
    return np.full(vertices, -1, np.int32), *of_arcs, np.zeros((kinds, vertices), np.int32)


def split_off(network: RankNetwork, capacity: Ints, trees: Ints) -> tuple[Ints, Shares]:
    """Return links between ranks that carry as many trees as the network with its switches does.

    int64[num_ranks, num_ranks], how many each carries, and the ways that links stand for.

    Parameters
    ----------
    network
        The ranks, switches and links.
    capacity
        int64[num_links], trees that each link carries.
    trees
        int64[num_ranks], trees of each root.

    Raises
    ------
    InputError
        If a switch has not as much capacity in as out, or the network is too large.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> star = rank_network(topology("leaf-spine:1x1x3"))
    >>> split_off(star, star.capacity * 2, np.ones(3, np.int64))[0].sum(axis=0)
    array([2, 2, 2])
    """
    from netloom.phases.collectives.kernels.trees import movable

    if network.num_vertices > MOST_VERTICES:
        found = f"{network.num_vertices} ranks and switches"
        raise InputError(network.topology.name, found, f"at most {MOST_VERTICES} for exact trees")
    left = np.zeros((network.num_vertices,) * 2, np.int64)
    left[network.source, network.target] = capacity
    ends = zip(network.source.tolist(), network.target.tolist(), capacity.tolist(), strict=True)
    ways: Shares = {(u, v): [(most, (link,))] for link, (u, v, most) in enumerate(ends) if most}
    room = graph_of(network.num_vertices + 1, 4 * network.num_links + 64 + network.num_ranks)
    for switch in range(network.num_ranks, network.num_vertices):
        # of all before the first, which needs it of the others
        enters, leaves = int(left[:, switch].sum()), int(left[switch].sum())
        if enters != leaves:
            found = f"switch {network.name_of(switch)} with {enters} in and {leaves} out"
            wanted = "as much bandwidth into each switch as out of it"
            raise InputError(network.topology.name, found, wanted)
    for switch in range(network.num_ranks, network.num_vertices):
        for after in np.flatnonzero(left[switch]).tolist():
            before = np.flatnonzero(left[:, switch]).tolist()
            for each in sorted(before, key=lambda vertex: vertex == after):  # itself last
                most = min(left[each, switch], left[switch, after])
                if most == 0:
                    continue
                arcs = int((left > 0).sum()) + network.num_ranks + 8
                if 2 * arcs > len(room[1]):
                    room = graph_of(network.num_vertices + 1, 2 * arcs)
                moved = int(movable(left, trees, switch, after, each, most, room))
                if moved:
                    _move(left, ways, each, switch, after, moved)
            assert left[switch, after] == 0, "a switch that cannot be split off"
    ranks = network.num_ranks
    return left[:ranks, :ranks].copy(), ways


def _move(left: Ints, ways: Shares, before: int, through: int, after: int, moved: int) -> None:
    """Make a link of so much of the ways through a switch. A way back to its start is dropped."""
    left[before, through] -= moved
    left[through, after] -= moved
    into, out_of = ways[before, through], ways[through, after]
    if before != after:
        left[before, after] += moved
    while moved:
        (most_in, way_in), (most_out, way_out) = into.pop(), out_of.pop()
        most = min(most_in, most_out, moved)
        if most_in > most:
            into.append((most_in - most, way_in))
        if most_out > most:
            out_of.append((most_out - most, way_out))
        if before != after:
            ways.setdefault((before, after), []).append((most, way_in + way_out))
        moved -= most


def straight(network: RankNetwork, way: tuple[int, ...]) -> tuple[int, ...]:
    """Return a way without its loops: each vertex is left by the link that left it last.

    Ways through switches that are split off one after the other may come back to where they were.
    """
    leaves = {int(network.source[link]): link for link in way}
    links, here = list[int](), int(network.source[way[0]])
    while here != network.target[way[-1]]:
        links.append(leaves[here])
        here = int(network.target[leaves[here]])
    return tuple(links)


@dataclass(frozen=True, eq=False)
class Forest:
    """Batches of out-trees over the ranks, and the links that each of their edges takes.

    Attributes
    ----------
    network
        In the direction of the trees, away from their roots.
    trees
        int64[num_ranks], trees of each root.
    root
        int32[num_batches], ascending.
    many
        int64[num_batches], trees of the batch. Those of a root are its ``trees`` together.
    parent
        int32[num_batches, num_ranks], the rank from which each rank receives, or −1 for the root.
    route
        int32[num_batches, num_ranks], the route by which it does, one of ``routes``, or −1.
    routes
        The links of the network that each route takes, in order.
    rate
        Bandwidth of one tree, bytes/s.
    """

    network: RankNetwork
    trees: Ints
    root: Ints
    many: Ints
    parent: Ints
    route: Ints
    routes: Lists
    rate: float


def forest(found: Optimum) -> Forest:
    """Return trees that reach an optimum: the least number with which all trees are alike.

    Raises
    ------
    InputError
        If a switch has not as much bandwidth in as out.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> found = forest(optimum(rank_network(topology("torus:4x4"))))
    >>> len(found.many), int(found.many.sum())
    (37, 64)
    """
    network, per_tree = found.network, found.rate / found.trees
    capacity = [int(most / per_tree) for most in network.capacity.tolist()]
    rate = float(found.rate * network.unit) * network.bytes_per_second / found.trees
    return packed(network, np.array(capacity, np.int64), found.weights * found.trees, rate)


def packed(network: RankNetwork, capacity: Ints, trees: Ints, rate: float) -> Forest:
    """Return so many trees of each root, within capacities in trees per link.

    Every rank must be able to receive all trees at once, which an optimum ensures.
    """
    from netloom.phases.collectives.kernels.trees import grow

    room, ways = split_off(network, capacity, trees)
    source, target = (each.astype(np.int32) for each in np.nonzero(room))
    offsets = np.append(0, np.cumsum(np.bincount(source, minlength=network.num_ranks)))
    links, left = (offsets.astype(np.int64), source, target), room[source, target].copy()
    ranks, waiting, batches = network.num_ranks, trees.copy(), list[tuple[int, int, Ints, Ints]]()
    slots = 2 * ranks + 8
    many, covered = np.zeros((2, slots), np.int64)
    order, parent = np.zeros((2, slots, ranks), np.int32)
    # a batch: root, multiplicity, order of joining, and the link by which each joined
    stack: tuple[NDArray[Any], ...] = (many, order, covered, parent)
    arcs = len(left) + ranks + 8
    graph = graph_of(ranks + 1 + slots, arcs + slots * (ranks + 1), 5)
    for root in np.flatnonzero(trees).tolist():
        waiting[root] = 0
        stack[0][0], stack[1][0, 0], stack[2][0] = trees[root], root, 1
        stack[3][0] = -1
        depth = 1
        while depth:
            if depth + ranks > slots:
                slots *= 2
                stack = tuple(np.concatenate([each, each]) for each in stack)
                graph = graph_of(ranks + 1 + slots, arcs + slots * (ranks + 1), 5)
            depth = int(grow(links, left, waiting, stack, depth, graph))
            assert depth >= 0, "a tree that cannot grow"
            many, order, _, parent = stack
            batches.append((root, int(many[depth]), order[depth].copy(), parent[depth].copy()))
    # batches are cut where one way of a link is full and the next begins
    numbers: dict[tuple[int, ...], int] = {}
    ends = zip(source.tolist(), target.tolist(), strict=True)
    rest = {pair: [(most, straight(network, way)) for most, way in ways[pair]] for pair in ends}
    roots, sizes, parents, routes = [], [], [], []
    for root, multiplicity, order, entered in batches:
        above = np.where(entered >= 0, source[entered], -1).astype(np.int32)
        while multiplicity:
            pairs = {v: (int(above[v]), v) for v in order.tolist() if above[v] >= 0}
            most = min([multiplicity, *(rest[pair][-1][0] for pair in pairs.values())])
            route = np.full(len(above), -1, np.int32)
            for vertex, pair in pairs.items():
                amount, way = rest[pair].pop()
                if amount > most:
                    rest[pair].append((amount - most, way))
                route[vertex] = numbers.setdefault(way, len(numbers))
            roots.append(root)
            sizes.append(most)
            parents.append(above)
            routes.append(route)
            multiplicity -= most
    columns = np.array(roots, np.int32), np.array(sizes, np.int64), np.array(parents)
    return Forest(network, trees, *columns, np.array(routes), lists(numbers, np.int32), rate)


# -- least time ------------------------------------------------------------------------------------


MOST_SOURCES = 256
"""Hosts from which latencies are looked at, if there are more."""

MOST_LEVELS = 8
"""Most rates of links by which hosts are grouped."""

MOST_DISTANCES = 1024
"""Most hosts between all of which distances are found."""


class LeastTime(NamedTuple):
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


class _Ranks(NamedTuple):
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
    All-to-all also: Σ bytes × channels on a shortest path / rate of all channels, and
    the cuts of ``bounds.cuts``: rows of a grid, subtrees, groups, halves.

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
        topology,
        given[first],
        bytes_per_second=bytes_per_second,
        latency_seconds=latency_seconds,
        by_node=by_node,
    )
    ports = np.bincount(owner)[places] * port
    ranks = _Ranks(collective, network, weight, int(place[root]), ports)
    # the least latency between any two hosts, and that of the two that are furthest
    hosts = len(places)
    ends = network.source, network.target
    if collective in ("reduce", "gather"):
        ends = ends[::-1]
    some = np.unique(np.linspace(0, hosts - 1, min(hosts, MOST_SOURCES)).astype(np.int64))
    if collective in ("broadcast", "reduce", "gather", "scatter"):
        some = np.array([ranks.root])
    times = apart(ends, network.latency, network.num_vertices, some)[:, :hosts]
    if not np.isfinite(times).all():
        raise InputError(topology.name, "pieces", "ranks that can all reach each other")
    leave, come = network.source < hosts, network.target < hosts
    near, far = np.inf, float(times.max())
    for links in ((leave & come,), (leave & ~come, come & ~leave)):  # straight, or by routers
        near = min(near, float(sum(network.latency[each].min(initial=np.inf) for each in links)))
    told = least_seconds(
        len(places), latency=near, overhead=overhead, gap=0.0, ranks_each=int(weight.max())
    )
    begun = max(2 * overhead + far, told)
    alpha = 2 * overhead + near
    if collective == "barrier":
        return LeastTime(begun, alpha, 0.0, "Latency alone.")
    found = list(_bounds(ranks))
    tightest = found[first_largest(np.array([seconds for seconds, _ in found]))]
    return LeastTime(begun, alpha, *tightest)


def _bounds(ranks: _Ranks) -> Iterator[tuple[float, str]]:
    """Yield seconds per byte that some cut takes, and which."""
    # what the host with the most to send or to receive through its port takes
    own, port = ranks.weight, ranks.port
    others = (ranks.total - own) / ranks.total
    all_of_it, at_root = float(1 / port.min()), float(others[ranks.root] / port[ranks.root])
    most = {
        "all-reduce": 2 * (len(own) - 1) / float(port.sum()),
        "all-to-all": float((own * others / port).max()),
        "broadcast": all_of_it,
        "reduce": all_of_it,
        "gather": at_root,
        "scatter": at_root,
    }.get(ranks.collective, float((others / port).max()))
    yield most, f"Each node sends and receives {rate(float(port.min()))}."
    one = np.zeros_like(ranks.weight)
    one[ranks.root] = 1
    if ranks.collective in ("all-gather", "broadcast", *INTO):
        whole = ranks.collective in ("broadcast", "reduce")
        yield _cut(ranks, one if whole else ranks.weight, backwards=ranks.collective in INTO)
        return
    if ranks.collective == "all-reduce":
        yield _cut(ranks, one, backwards=False)
        yield _cut(ranks, one, backwards=True)
        if ranks.network.num_ranks * ranks.network.num_links <= MOST_GROUPED:
            yield _between(ranks, weakest_groups(ranks.network))
    for groups in _partitions(ranks.network):
        yield _between(ranks, groups)
    if ranks.collective != "all-to-all":
        return
    if len(ranks.weight) <= MOST_DISTANCES:
        yield from _ways(ranks)
    network = ranks.network
    topology, speed, by_node = network.topology, network.bytes_per_second, network.by_node
    group, router = topology.local_group[topology.port_host], topology.injection_router
    split = len(np.unique(group)) < len(np.unique(group * np.int64(topology.num_routers) + router))
    if by_node and split:
        return  # a node may send by channels on either side of a cut
    each = np.zeros(topology.num_hosts)
    each[network.vertices[: len(ranks.weight)]] = ranks.weight
    own = np.flatnonzero(each)
    demand = Demand(((each / ranks.total, each),), own, own, -(each[own] ** 2) / ranks.total)
    for cut in cuts_of(topology, demand):
        if not (by_node and cut.kind == "host"):  # a node has the channels of all its hosts
            verb = {"out": "send", "in": "receive"}[cut.way]
            yield cut.time / speed, f"{cut.name} can {verb} {rate(cut.bandwidth * speed)}."


def _cut(ranks: _Ranks, weights: Ints, *, backwards: bool) -> tuple[float, str]:
    network = ranks.network.reversed() if backwards else ranks.network
    found = optimum(network, weights)
    said = found.bottleneck
    return 1 / found.bytes_per_second, f"{said} Backwards for sums." if backwards else said


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
    hosts, member = network.num_ranks, "node" if ranks.network.by_node else "host"
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
        said = f"{many} of {member}s send each other {rate(both)} together at most."
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
    others = counted(len(which) - 1, member)
    more = f" and {others} with it" if len(which) > 1 else ""
    speed = rate(float(min(leaving[worst], coming[worst])))
    return float(times[worst]), f"{named}{more} {'have' if more else 'has'} {speed} to the others."


def _over(size: Floats, speed: Floats) -> Floats:
    """Return sizes over speeds. Nothing takes no time."""
    with np.errstate(divide="ignore"):
        return np.where(size > 0, size / np.where(size > 0, speed, 1), 0.0)


def _ways(ranks: _Ranks) -> Iterator[tuple[float, str]]:
    """Yield what an all-to-all takes by shortest ways that keep all channels always busy."""
    network, hosts = ranks.network, len(ranks.weight)
    ends, length = (network.source, network.target), np.ones(network.num_links)
    ways = apart(ends, length, network.num_vertices, np.arange(hosts))[:, :hosts]
    size = float(ranks.weight @ ways @ ranks.weight) / ranks.total
    if room := float(network.rate.sum()):
        yield size / room, "Shortest ways fill all channels."


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
    ranks, vertices = network.num_ranks, network.num_vertices
    best = np.full(vertices, -1, np.int64)
    best[:ranks] = np.arange(ranks)
    least = least_out(network, best)
    rank = np.arange(ranks, dtype=np.int32)
    beside = np.full(ranks, vertices, np.int32)
    sources = np.concatenate([network.source, beside, rank]).astype(np.int32)
    targets = np.concatenate([network.target, rank, beside + 1]).astype(np.int32)
    arcs = graph_of(vertices + 2, len(sources))
    fill_arcs(arcs, sources, targets, np.zeros(len(sources), np.int64))
    whole, height = arcs[3], np.zeros(ranks, np.int64)
    while True:
        whole[: 2 * network.num_links : 2] = network.capacity * least.denominator
        most = int(network.capacity.sum()) * least.denominator + ranks * least.numerator
        assert most < INFINITE, "capacities too large for exact flows"
        found = np.empty(vertices, np.int64)
        join_groups(arcs, vertices, np.int64(least.numerator), height, found)
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
    ranks, ends = network.num_ranks, (group[network.source], group[network.target])
    crosses = np.flatnonzero(ends[0] != ends[1])
    of = np.append(ends[1][crosses], ends[0][crosses])
    table = (np.repeat([0, ranks], len(crosses)) + of)[of >= 0]
    channels = grouped(table, np.tile(crosses, 2)[of >= 0], 2 * ranks)
    channels = channels._replace(values=channels.values.astype(np.int32))
    outside = (group[ranks:] < 0).astype(np.int64)
    return Prices(channels, np.ones(len(table), np.int64), np.stack([outside, 0 * outside]))
