"""Who sends how much to whom, as sums: traffic of large networks without a list of all pairs.

A demand is a few products (every host of one kind sends the same to every host of another kind),
and a list of pairs for the rest. Sums over parts of a network follow from both, so that uniform
and hot-spot traffic cost as much as there are hosts, not pairs.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.workload import Traffic
from netloom.workload.traffic.patterns import Fixed, HotSpot, Law, Uniform

BLOCK = 2**17
"""Pairs that are looked at a time."""


def apart(ends: tuple[Ints, Ints], lengths: Floats, count: int, starts: Ints) -> Floats:
    """Return how far vertices are from some of them, float64[starts, count]. Inf: no way.

    Parameters
    ----------
    ends, lengths
        The source and target of each channel, and its length. No two join the same vertices.
    count
        Number of vertices.
    starts
        Those to start from.

    Examples
    --------
    >>> apart((np.array([0, 1]), np.array([1, 2])), np.array([2.0, 3.0]), 3, np.array([0]))
    array([[0., 2., 5.]])
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    return np.asarray(dijkstra(csr_array((lengths, ends), shape=(count, count)), indices=starts))


class Demand(NamedTuple):
    """Flits per cycle from every host to every other at load 1: products, and pairs.

    Attributes
    ----------
    products
        Pairs of float64[num_hosts], ``sent`` and ``taken``: host s sends ``sent[s] * taken[t]`` to
        host t, itself included.
    source, target, weight
        int32[], int32[], float64[]: what goes between pairs of hosts besides. It is negative where
        a product counts what a host does not send to itself.
    """

    products: tuple[tuple[Floats, Floats], ...]
    source: Ints
    target: Ints
    weight: Floats


def listed_pairs(traffic: Traffic) -> int:
    """Return how many pairs of nodes ``traffic.matrix()`` has to go through.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> listed_pairs(uniform(1 << 20)) == (1 << 20) * ((1 << 20) - 1)
    True
    """
    return listed_by(traffic.law, traffic.num_nodes)


def listed_by(law: Law, num_nodes: int) -> int:
    """Return how many pairs of nodes the shares of a law are."""
    if isinstance(law, Uniform):
        return num_nodes * (num_nodes - (not law.to_self))
    if isinstance(law, HotSpot):
        return listed_by(law.base, num_nodes) + num_nodes * len(law.hot_nodes)
    return num_nodes if isinstance(law, Fixed) else len(law.target)


def demand_of(traffic: Traffic) -> Demand:
    """Return what some traffic asks of a network.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> found = demand_of(uniform(3))
    >>> np.outer(*found.products[0])[0], found.weight
    (array([0.5, 0.5, 0.5]), array([-0.5, -0.5, -0.5]))
    """
    return _demand_by(traffic.law, traffic.rate)


def _demand_by(law: Law, rate: Floats) -> Demand:
    hosts = np.arange(len(rate), dtype=np.int32)
    if isinstance(law, Uniform):
        each = rate / (law.num_nodes - (not law.to_self))
        own = hosts[:0] if law.to_self else hosts
        return Demand(((each, np.ones(len(rate))),), own, own, -each[own])
    if isinstance(law, HotSpot):
        kept, to_hot = split(law, rate)
        base, hot = _demand_by(law.base, kept), law.hot_nodes
        weight = np.zeros(len(rate))
        weight[hot] = law.weight
        own = hot[law.rank[hot] < len(hot)]  # hot nodes that do not send to themselves
        return Demand(
            (*base.products, (to_hot, weight)),
            np.append(base.source, own),
            np.append(base.target, own),
            np.append(base.weight, -to_hot[own] * weight[own]),
        )
    source, target, share = law.shares()
    return Demand((), source, target, rate[source] * share)


def all_to_all(hosts: Ints, num_hosts: int) -> Demand:
    """Return that each of some hosts sends 1 to every other.

    Examples
    --------
    >>> received(all_to_all(np.array([0, 2]), 4), 4)
    array([1., 0., 1., 0.])
    """
    each = np.bincount(hosts, minlength=num_hosts).astype(np.float64)
    return Demand(((each, each),), hosts, hosts, -np.ones(len(hosts)))


def split(law: HotSpot, rate: Floats) -> tuple[Floats, ...]:
    """Return what each node sends as the base has it, and to a hot node of weight 1 but itself.

    Both are float64[num_nodes].
    """
    others = law.others()
    to_hot = np.where(others > 0, law.fraction * rate / np.where(others > 0, others, 1), 0.0)
    return np.where(others > 0, (1 - law.fraction) * rate, rate), to_hot


def between(demand: Demand, begins: Ints, ends: Ints, shape: tuple[int, int]) -> Floats:
    """Return float64[shape], what goes from each part to each part.

    Parameters
    ----------
    demand
        Who sends how much to whom.
    begins, ends
        int64[num_hosts], the part in which each host sends, and the one in which it receives; -1
        where it counts for none.
    shape
        How many parts there are of either kind.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> part = np.array([0, 0, 1])
    >>> between(demand_of(uniform(3)), part, part, (2, 2))
    array([[1., 1.],
           [1., 0.]])
    """
    found = np.zeros(shape)
    for sent, taken in demand.products:
        found += np.outer(_by_part(begins, sent, shape[0]), _by_part(ends, taken, shape[1]))
    for source, target, weight in _in_blocks(demand):
        first, second = begins[source], ends[target]
        known = (first >= 0) & (second >= 0)
        cell = first[known] * shape[1] + second[known]
        found += np.bincount(cell, weight[known], found.size).reshape(shape)
    return found


def crossing(demand: Demand, begins: Ints, ends: Ints, count: int) -> tuple[Floats, Floats]:
    """Return what leaves each part for others, and what enters it from others: float64[count].

    Parameters are those of ``between``. Hosts that count for no part are left out on either side.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> part = np.array([0, 0, 1])
    >>> crossing(demand_of(uniform(3)), part, part, 2)
    (array([1., 1.]), array([1., 1.]))
    """
    out, into = np.zeros(count), np.zeros(count)
    for sent, taken in demand.products:
        leaves, enters = _by_part(begins, sent, count), _by_part(ends, taken, count)
        out += leaves * (enters.sum() - enters)
        into += enters * (leaves.sum() - leaves)
    for source, target, weight in _in_blocks(demand):
        first, second = begins[source] + 1, ends[target] + 1  # 0 for none
        moved = weight * ((first > 0) & (second > 0) & (first != second))
        out += np.bincount(first, moved, count + 1)[1:]
        into += np.bincount(second, moved, count + 1)[1:]
    return out, into


def crossing_stretches(
    demand: Demand, begins: Ints, ends: Ints, count: int, stretches: tuple[Ints, Ints]
) -> tuple[Floats, Floats]:
    """Return what leaves and enters several parts in a row: float64[len(stretches)].

    ``stretches`` are the first part of each, and that after its last. The rest is as for
    ``crossing``.

    Examples
    --------
    >>> from netloom.workload.traffic import uniform
    >>> part = np.array([0, 1, 2])
    >>> crossing_stretches(demand_of(uniform(3)), part, part, 3, (np.array([0]), np.array([2])))
    (array([1.]), array([1.]))
    """
    first, after = stretches
    out, into = np.zeros(len(first)), np.zeros(len(first))
    for sent, taken in demand.products:
        leaves, enters = (
            np.append(0.0, np.cumsum(_by_part(part, values, count)))
            for part, values in ((begins, sent), (ends, taken))
        )
        here, there = leaves[after] - leaves[first], enters[after] - enters[first]
        out += here * (enters[-1] - there)
        into += there * (leaves[-1] - here)
    pairs = between(demand._replace(products=()), begins, ends, (count, count))
    np.fill_diagonal(pairs, 0.0)
    if not pairs.any():
        return out, into
    to_here = np.zeros((count + 1, count + 1))
    to_here[1:, 1:] = pairs.cumsum(0).cumsum(1)
    inside = to_here[after, after] - to_here[first, after]
    inside -= to_here[after, first] - to_here[first, first]
    for found, total in ((out, to_here[:, -1]), (into, to_here[-1])):
        found += total[after] - total[first] - inside
    return out, into


def leading_out(part: Ints, source: Ints, target: Ints, room: Floats) -> tuple[Floats, Floats]:
    """Return the room of channels that lead out of each part, and of those that lead into it.

    Both are float64[parts].

    Parameters
    ----------
    part
        int64[num_routers], the part of each router, or -1 for none.
    source, target, room
        Of channels between routers: where they begin, where they end, what they carry.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> net = mesh(3)
    >>> leading_out(np.array([0, 0, -1]), net.channel_source, net.channel_target, np.ones(4))
    (array([1.]), array([1.]))
    """
    first, second = part[source] + 1, part[target] + 1  # 0 for none
    crossed, count = np.where(first != second, room, 0.0), int(part.max(initial=-1)) + 2
    out, into = (np.bincount(each, crossed, count)[1:] for each in (first, second))
    return out.astype(np.float64), into.astype(np.float64)


def received(demand: Demand, num_hosts: int) -> Floats:
    """Return float64[num_hosts], what each host receives, from itself too.

    Examples
    --------
    >>> from netloom.workload.traffic import hot_spot, uniform
    >>> received(demand_of(hot_spot(uniform(5), 0.5, [4])), 5)
    array([0.625, 0.625, 0.625, 0.625, 2.5  ])
    """
    found = np.bincount(demand.target, demand.weight, num_hosts).astype(np.float64)
    for sent, taken in demand.products:
        found += sent.sum() * taken
    return found


def _by_part(part: Ints, values: Floats, count: int) -> Floats:
    known = part >= 0
    return np.bincount(part[known], values[known], count).astype(np.float64)


def _in_blocks(demand: Demand) -> Iterator[tuple[Ints, Ints, Floats]]:
    """Yield the pairs of a demand, some at a time."""
    for first in range(0, len(demand.weight), BLOCK):
        some = slice(first, first + BLOCK)
        yield demand.source[some], demand.target[some], demand.weight[some]
