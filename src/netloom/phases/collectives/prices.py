"""What prices of channels prove: weak duality, checked with whole numbers and shortest ways.

Let each channel have a price per byte. Data that goes from one rank to another pays at least the
distance between them under these prices, on any path. Per second, all channels together take at
most Σ rate × price. So every schedule takes at least (what must be paid) / (what can be paid per
second). This holds for all prices. A linear program finds those that prove most (Shahrokhi &
Matula, *The maximum concurrent flow problem*, J. ACM 37, 1990).

Nothing here solves a program. Prices are whole, distances and sums are exact, and the seconds are
rounded down.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.phases.collectives.schedules import ScheduleNetwork
    from netloom.workload.programs.many_lists import Lists

PRICED = ("all-reduce", "all-to-all")
"""Collectives whose bounds prices of channels prove."""

MOST_PAID = 2**53
"""Prices and levels together are at most this, so that every distance is a whole float."""


@dataclass(frozen=True, eq=False)
class Prices:
    """Tables of prices per byte of channels.

    An all-to-all has one table. An all-reduce of n ranks has 2 n. Table r is for data from the
    roots of the trees to rank r, table n + r for data from rank r to the roots. Whatever a switch
    forwards of each kind enters and leaves it. So switches may have levels, one per kind, and a
    channel takes the fall of the level along it.

    Attributes
    ----------
    channels
        By table, the channels that cost something: int32.
    price
        int64[len(channels.values)], at least 0.
    level
        int64[2, num_forwarding], of each vertex that is no rank, out and in. All-reduce only.
    """

    channels: Lists
    price: Ints
    level: Ints

    @property
    def total(self) -> int:
        """All prices and levels together."""
        return int(sum(self.price.tolist()) + sum(map(abs, self.level.ravel().tolist())))


def tables_of(collective: str, ranks: int) -> int:
    """Return how many tables of prices a collective has."""
    return 2 * ranks if collective == "all-reduce" else 1


def priced_seconds(
    network: ScheduleNetwork, collective: str, size_bytes: float, prices: Prices
) -> float:
    """Return what a collective takes at least by prices of channels, latencies left out.

    All-to-all: each pair sends size/N over its distance d(s, t), so time is at least
    size/N · Σ d(s, t) / Σ rate · price.

    All-reduce along pairs of trees: a root r sums a part w of the size, which goes from each rank v
    to r and back. It pays Σ_v d_v(r, v) + Σ_v d'_v(v, r) per byte, with the distances d_v and d'_v
    of the tables of v. Out-trees and in-trees use a channel. It costs the higher of both sums of
    its prices. So time is at least size · min_r (…) / Σ rate · cost.

    Returns 0 if the prices prove nothing.

    Parameters
    ----------
    network
        Ranks that all reach each other, and channels. Those that join the same two vertices count
        together, at the least of their prices.
    collective
        One of ``PRICED``.
    prices
        At most ``MOST_PAID`` together.

    Examples
    --------
    A ring of three ranks, 1 byte/s a channel, one way round:

    >>> ring, zero = np.arange(3, dtype=np.int32), np.zeros(3)
    >>> from netloom.phases.collectives.schedules import ScheduleNetwork
    >>> from netloom.workload.programs.many_lists import Lists
    >>> net = ScheduleNetwork("ring", ("a", "b", "c"), ring, ring, (ring + 1) % 3, zero + 1, zero)
    >>> every = Lists(np.array([0, 3]), ring)
    >>> same = Prices(every, np.ones(3, np.int64), np.zeros((2, 0), np.int64))
    >>> priced_seconds(net, "all-to-all", 3.0, same)
    3.0
    """
    assert collective in PRICED, "a collective whose bound is that of a cut"
    ranks = len(network.host)
    ends = network.source.astype(np.int64) * len(network.labels) + network.target
    pairs, link = np.unique(ends, return_inverse=True)
    links = pairs // len(network.labels), pairs % len(network.labels)

    def table(number: int) -> Ints:
        first, last = prices.channels.offsets[number : number + 2]
        each = np.zeros(len(ends), np.int64)
        each[prices.channels.values[first:last]] = prices.price[first:last]
        least = np.full(len(pairs), MOST_PAID, np.int64)
        np.minimum.at(least, link, each)
        return least

    def apart(each: Ints, rank: int | None, *, back: bool = False) -> Ints:
        ends = (links[1], links[0]) if back else links
        return _distances(each, ends, len(network.labels), ranks, rank)

    if collective == "all-to-all":
        cost = table(0)
        paid = sum(sum(row.tolist()) for row in apart(cost, None))
        return _seconds(Fraction(size_bytes) * paid / ranks, cost[link], network.rate)
    roots = np.zeros(ranks, np.int64)
    cost = np.zeros(len(pairs), np.int64)
    for kind in (0, 1):
        height = np.append(np.zeros(ranks, np.int64), prices.level[kind])
        summed = height[links[1]] - height[links[0]]
        for rank in range(ranks):
            each = table(kind * ranks + rank)
            if each.any():
                roots += apart(each, rank, back=kind == 0)[0]
                summed += each
        cost = np.maximum(cost, summed)
    return _seconds(Fraction(size_bytes) * int(roots.min()), cost[link], network.rate)


def _distances(
    price: Ints, links: tuple[Ints, Ints], vertices: int,
    ranks: int, rank: int | None,
) -> Ints:  # fmt: skip
    """Return the distances from one rank, or from each, to all ranks: int64[…, num_ranks]."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    graph = csr_array((price.astype(np.float64), links), shape=(vertices, vertices))
    some = np.arange(ranks) if rank is None else np.array([rank])
    found = dijkstra(graph, indices=some)[:, :ranks]
    assert np.isfinite(found).all(), "ranks that cannot reach each other"
    return found.astype(np.int64)


def _seconds(paid: Fraction, cost: Ints, rate: Floats) -> float:
    """Return what is paid over what channels take per second, rounded down."""
    known, place = np.unique(rate, return_inverse=True)
    taken = [0] * len(known)
    for number, each in zip(place.tolist(), cost.tolist(), strict=True):
        taken[number] += each
    whole = sum(
        (Fraction(one) * many for one, many in zip(known.tolist(), taken, strict=True)), Fraction(0)
    )
    if not whole:
        return 0.0
    exact = paid / whole
    near = float(exact)
    return near if Fraction(near) <= exact else float(np.nextafter(near, 0.0))
