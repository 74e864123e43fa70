"""The groups of ranks that have the least bandwidth to each other: what holds an all-reduce back.

If ranks form k groups, 2 (k − 1) sizes leave the groups of an all-reduce together. Patarasuk &
Yuan, *Bandwidth optimal all-reduce algorithms for clusters of workstations*, 2009, prove it for
single ranks. The groups for which this takes longest are those of least bandwidth out of them per
group less one. If every link is as fast both ways and only ranks forward, that many trees can be
packed (Tutte 1961, Nash-Williams 1961). Used up one way and down the other, they are an all-reduce
at this bound.

The least is found by Newton's steps from groups to groups. A step is a greedy algorithm over a
submodular function, a minimum cut per rank (Cunningham, *Optimal attack and reinforcement of a
network*, J. ACM 32, 1985, and Barahona, *Separating from the dominant of the spanning tree
polytope*, Oper. Res. Lett. 12, 1992).
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from netloom.phases.collectives.kernels.flows import INFINITE, fill_arcs
from netloom.phases.collectives.kernels.groups import join_groups
from netloom.phases.collectives.prices import Prices
from netloom.workload.programs.many_lists import Lists

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.phases.collectives.network import RankNetwork

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
