"""The least time of an all-gather, reduce-scatter, broadcast or reduce, and trees that reach it.

What the ranks of a set S have must leave S for the others: M/N · |S| bytes through the links that
leave it. The set for which this takes longest is the bottleneck, and no schedule is faster. Zhao et
al., *ForestColl: efficient collective communications on heterogeneous network fabrics*, 2024. Here
without a binary search, by Newton's steps from cut to cut in exact fractions.

Switches are split off: a network of ranks alone can do as much. Capacity of a way u → w → t through
a switch w becomes a link u → t, as much as no rank misses. After that the switch has no links. If
switches have as much capacity in as out, this never gets stuck (Bang-Jensen, Frank & Jackson,
*Preserving and increasing local edge-connectivity in mixed graphs*, SIAM J. Discrete Math. 8, 1995;
ForestColl, 2024, uses it so).

Then out-trees from every root are packed, no link used beyond its capacity. The construction
follows Edmonds' theorem on disjoint branchings in its capacitated form (Bérczi & Frank, *Packing
arborescences*, 2010). Trees grow link by link, without backtracking. Maximum flows limit how often
a link is used. Trees of the same root that are alike are one *batch* with a multiplicity.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.base.units import rate as rate_words
from netloom.base.words import counted, listed
from netloom.workload.programs.messages import Lists, lists

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from netloom.base.arrays import Bools, Ints
    from netloom.phases.collectives.network import RankNetwork


@dataclass(frozen=True, eq=False)
class Optimum:
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
        speed = rate_words(total) if network.bytes_per_second != 1 else f"{total:.4g} channels"
        through = f"{counted(len(ways), 'link')} of {speed} together ({listed(ways, 4)})"
        send = "sends" if len(self.inside) == 1 else "send"
        return f"{ranks} ({names}) {send} to the others through {through}."

    def __repr__(self) -> str:
        on, trees = self.network.topology.name, counted(self.trees, "tree")
        return f"<optimum {float(self.bandwidth):.6g} on {on}, {trees} per root>"


def optimum(network: RankNetwork, weights: ArrayLike | None = None) -> Optimum:
    """Return the best rate of sending from each rank to all others, with its bottleneck.

    For reduce-scatter and reduce give the reversed network.

    Parameters
    ----------
    network
        The ranks and links.
    weights
        int[num_ranks], how much each rank has to send, relatively. The default is 1 each
        (all-gather). A broadcast is 1 for one rank and 0 for the others.

    Raises
    ------
    InputError
        If some rank cannot reach another, or weights are negative, or all 0.

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
    given = np.ones(network.num_ranks, np.int64) if weights is None else np.asarray(weights)
    given = given.astype(np.int64)
    if len(given) != network.num_ranks or given.min() < 0 or not given.any():
        raise InputError("weights", f"{given.tolist()!s:.40}", "one per rank, some above 0")
    inside = _all_but_slowest(network, given)
    rate = _rate_of(network, given, inside)
    graph = _Graph(network, given)
    place = 0
    while True:
        place = graph.first_short(rate, place)
        if place < 0:
            break
        inside = graph.arcs[5][0, : graph.source] >= 0  # of the cut that the last flow met
        lower = _rate_of(network, given, inside)
        assert lower < rate, "a cut that does not lower the rate"
        rate = lower
    leaving = np.flatnonzero(inside[network.source] & ~inside[network.target])
    parts = *network.capacity.tolist(), *network.single.tolist()
    trees = rate.numerator // gcd(rate.numerator, *parts)
    ranks = np.flatnonzero(inside[: network.num_ranks])
    return Optimum(network, given, rate, ranks.astype(np.int32), leaving.astype(np.int32), trees)


class _Graph:
    """The links, and a super-source with an arc to each rank that has something to send."""

    def __init__(self, network: RankNetwork, weights: Ints) -> None:
        from netloom.phases.collectives.kernels.flows import fill_arcs

        self.source = network.num_vertices
        self.weights = weights
        self.capacity = network.capacity
        ranks = np.arange(network.num_ranks)
        self.own = 2 * (network.num_links + ranks)
        sources = np.append(network.source, np.full(len(ranks), self.source)).astype(np.int32)
        targets = np.append(network.target, ranks).astype(np.int32)
        self.arcs = graph_of(self.source + 1, len(sources))
        fill_arcs(*self.arcs[:4], sources, targets, np.ones(len(sources), np.int64))

    def first_short(self, rate: Fraction, begin: int) -> int:
        """Return the first rank from ``begin`` on that cannot receive at this rate; −1 if none."""
        from netloom.phases.collectives.kernels.flows import INFINITE, first_short

        whole = self.arcs[3]
        whole[: 2 * len(self.capacity) : 2] = self.capacity * rate.denominator
        whole[self.own] = self.weights * rate.numerator
        whole[self.own[:begin]] = INFINITE
        limit = int(self.weights.sum()) * rate.numerator
        assert limit < INFINITE, "capacities too large for exact flows"
        return int(first_short(*self.arcs, self.source, begin, self.own, np.int64(limit)))


def _all_but_slowest(network: RankNetwork, weights: Ints) -> Bools:
    """Return all vertices but the rank that takes longest to receive what the others have."""
    arriving = np.zeros(network.num_vertices, np.int64)
    np.add.at(arriving, network.target, network.capacity)
    others = weights.sum() - weights
    rates = [
        Fraction(int(arriving[rank]), int(others[rank])) if others[rank] else None
        for rank in range(network.num_ranks)
    ]
    slowest = min((each, rank) for rank, each in enumerate(rates) if each is not None)[1]
    found = np.ones(network.num_vertices, np.bool_)
    found[slowest] = False
    return found


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
    return (
        np.full(vertices, -1, np.int32), np.zeros(2 * arcs, np.int32), np.zeros(2 * arcs, np.int32),
        np.zeros(2 * arcs, np.int64), np.zeros(2 * arcs, np.int64),
        np.zeros((kinds, vertices), np.int32),
    )  # fmt: skip


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

    def __repr__(self) -> str:
        batches, ranks = len(self.root), self.network.num_ranks
        return f"<{batches} batches of {int(self.many.sum())} trees, {ranks} ranks>"


def forest(found: Optimum, trees: int | None = None) -> Forest:
    """Return trees that reach an optimum.

    Parameters
    ----------
    found
        The optimum, of ``optimum``.
    trees
        Trees of a root of weight 1. By default the least number with which all trees are alike.
        With another number capacities are rounded down to whole trees, and some may not fit.

    Raises
    ------
    InputError
        If a switch has not as much bandwidth in as out.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> from netloom.phases.collectives.trees import optimum
    >>> forest(optimum(rank_network(topology("torus:4x4"))))
    <37 batches of 64 trees, 16 ranks>
    """
    each = found.trees if trees is None else trees
    per_tree = found.rate / each
    capacity = np.array(
        [int(most / per_tree) for most in found.network.capacity.tolist()], np.int64
    )
    rate = float(found.rate * found.network.unit) * found.network.bytes_per_second / each
    return packed(found.network, capacity, found.weights * each, rate)


def packed(network: RankNetwork, capacity: Ints, trees: Ints, rate: float) -> Forest:
    """Return so many trees of each root, within capacities in trees per link.

    Every rank must be able to receive all trees at once, which an optimum ensures.
    """
    room, ways = split_off(network, capacity, trees)
    source, target = (each.astype(np.int32) for each in np.nonzero(room))
    offsets = np.append(0, np.cumsum(np.bincount(source, minlength=network.num_ranks)))
    left = room[source, target].copy()
    batches = _grown((offsets.astype(np.int64), source, target), left, trees)
    return _on_cables(network, ways, (source, target), batches, trees, rate)


def _grown(
    links: tuple[Ints, Ints, Ints], left: Ints, trees: Ints
) -> list[tuple[int, int, Ints, Ints]]:
    """Return batches: root, multiplicity, order of joining, and the link by which each joined."""
    from netloom.phases.collectives.kernels.trees import grow

    ranks, waiting = len(trees), trees.copy()
    found = []
    slots = 2 * ranks + 8
    stack = _stack(slots, ranks)
    graph = graph_of(ranks + 1 + slots, len(left) + ranks + slots * (ranks + 1) + 8, 5)
    for root in np.flatnonzero(trees).tolist():
        waiting[root] = 0
        many, order, covered, parent = stack
        many[0], order[0, 0], covered[0] = trees[root], root, 1
        parent[0] = -1
        depth = 1
        while depth:
            if depth + ranks > slots:
                slots *= 2
                wider = _stack(slots, ranks)
                for old, new in zip(stack, wider, strict=True):
                    new[: len(old)] = old
                stack = wider
                arcs = len(left) + ranks + slots * (ranks + 1) + 8
                graph = graph_of(ranks + 1 + slots, arcs, 5)
                many, order, covered, parent = stack
            depth = int(grow(links, left, waiting, stack, depth, graph))
            assert depth >= 0, "a tree that cannot grow"
            found.append((root, int(many[depth]), order[depth].copy(), parent[depth].copy()))
    return found


def _stack(slots: int, ranks: int) -> tuple[NDArray[Any], ...]:
    return (
        np.zeros(slots, np.int64), np.zeros((slots, ranks), np.int32),
        np.zeros(slots, np.int64), np.full((slots, ranks), -1, np.int32),
    )  # fmt: skip


def _on_cables(
    network: RankNetwork,
    ways: Shares,
    ends: tuple[Ints, Ints],
    batches: list[tuple[int, int, Ints, Ints]],
    trees: Ints,
    rate: float,
) -> Forest:
    """Return the forest, batches cut where one way of a link is full and the next begins."""
    source, target = (each.tolist() for each in ends)
    numbers: dict[tuple[int, ...], int] = {}
    rest = {pair: list(ways[pair]) for pair in zip(source, target, strict=True)}
    root, many, parents, routes = [], [], [], []
    for of_root, multiplicity, order, joined in batches:
        above = np.array([source[link] if link >= 0 else -1 for link in joined.tolist()], np.int32)
        while multiplicity:
            pairs = {v: (int(above[v]), v) for v in order.tolist() if above[v] >= 0}
            most = min([multiplicity, *(rest[pair][-1][0] for pair in pairs.values())])
            route = np.full(len(above), -1, np.int32)
            for vertex, pair in pairs.items():
                amount, links = rest[pair].pop()
                if amount > most:
                    rest[pair].append((amount - most, links))
                route[vertex] = numbers.setdefault(links, len(numbers))
            root.append(of_root)
            many.append(most)
            parents.append(above)
            routes.append(route)
            multiplicity -= most
    return Forest(
        network, trees, np.array(root, np.int32), np.array(many, np.int64), np.array(parents),
        np.array(routes), lists(numbers, np.int32), rate,
    )  # fmt: skip
