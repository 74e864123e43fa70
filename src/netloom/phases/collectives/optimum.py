"""The least time of an all-gather, reduce-scatter, broadcast or reduce on a network, exactly.

What the ranks of a set S have must leave S for the others: M/N · |S| bytes through the links that
leave it. The set for which this takes longest is the bottleneck, and no schedule is faster. Trees
reach it (``trees``). Zhao et al., *ForestColl: efficient collective communications on
heterogeneous network fabrics*, 2024. Here without a binary search, by Newton's steps from cut to
cut in exact fractions.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import gcd
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.units import rate as rate_words
from netloom.base.words import counted, listed
from netloom.phases.collectives.kernels.flows import INFINITE, fill_arcs, first_short

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

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
        inside = graph.source_side()
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
        self.source = network.num_vertices
        self.weights = weights
        self.capacity = network.capacity
        ranks = np.arange(network.num_ranks)
        self.own = 2 * (network.num_links + ranks)
        sources = np.append(network.source, np.full(len(ranks), self.source)).astype(np.int32)
        targets = np.append(network.target, ranks).astype(np.int32)
        arcs = 2 * len(sources)
        self.first = np.full(self.source + 1, -1, np.int32)
        self.following, self.head = (np.zeros(arcs, np.int32) for _ in range(2))
        self.whole, self.cap = (np.zeros(arcs, np.int64) for _ in range(2))
        self.room = np.zeros((4, self.source + 1), np.int32)
        fill_arcs(
            self.first, self.following, self.head, self.whole, sources, targets,
            np.ones(len(sources), np.int64),
        )  # fmt: skip

    def first_short(self, rate: Fraction, begin: int) -> int:
        """Return the first rank from ``begin`` on that cannot receive at this rate; −1 if none."""
        links = len(self.capacity)
        self.whole[: 2 * links : 2] = self.capacity * rate.denominator
        self.whole[self.own] = self.weights * rate.numerator
        self.whole[self.own[:begin]] = INFINITE
        limit = int(self.weights.sum()) * rate.numerator
        assert limit < INFINITE, "capacities too large for exact flows"
        found = first_short(
            self.first, self.following, self.head, self.whole, self.cap, self.room, self.source,
            begin, self.own, np.int64(limit),
        )  # fmt: skip
        return int(found)

    def source_side(self) -> Bools:
        """Return which vertices are within the cut that the last flow met, bool[num_vertices]."""
        found: Bools = self.room[0, : self.source] >= 0
        return found


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
