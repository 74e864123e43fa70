"""All-reduce and all-to-all by linear programs: schedules, and the prices that prove their bounds.

An all-reduce has in-trees and out-trees at once: up to 1.5 times reduce-scatter, then all-gather.
One collective after the other is not the best if hosts differ (the corners of meshes, odd boxes).
Then it is better to use roots in the middle, and to divide links unevenly between both directions.
A linear program finds the weights of the roots and the shares of each link for out-trees and for
in-trees. Every rank must be able to receive from all roots and send to all. Trees are packed in
both, one pair per unit of weight, and pipelined. If reduce-scatter followed by all-gather already
meets the bound of the weakest groups of ranks, no program is solved.

In an all-to-all, what a rank sends to all others is one commodity, for only totals matter on the
links: N · links variables instead of N² · links. The program's flows are peeled into paths. Each is
a chain of messages from rank to rank.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.phases.collectives.network import RankNetwork
from netloom.phases.collectives.pipelines import (
    CHUNKS,
    FEW_TREES,
    Timed,
    Tracks,
    below_roots,
    pipelined,
    slices_of,
)
from netloom.phases.collectives.schedules import Prices
from netloom.phases.collectives.trees import (
    MOST_GROUPED,
    Forest,
    group_prices,
    least_out,
    optimum,
    packed,
    weakest_groups,
)
from netloom.workload.programs.collectives.program import EVERYBODY
from netloom.workload.programs.messages import Lists, lists

if TYPE_CHECKING:
    from scipy.sparse import csr_array


FINEST_PRICES = 5040
"""Largest common denominator of prices that is looked for."""

EXACT = 1e-9
"""Part of the highest price by which small fractions may be off what the solver found."""

MOST_EXACT = 2.0**51
"""All prices together, if they are no small fractions: the finest that stay exact in sums."""


def prices_of(tables: Floats, level: Floats) -> Prices:
    """Return prices as whole numbers. Any prices are valid, and these prove what the duals do.

    Parameters
    ----------
    tables
        float64[num_tables, num_links]. What is below 0 by rounding counts as 0.
    level
        float64[2, num_forwarding].

    Examples
    --------
    >>> found = prices_of(np.array([[0.5, 0.25, 0.0], [0.0, 0.0, 0.75]]), np.zeros((2, 0)))
    >>> found.price, found.channels.of(0), found.channels.of(1)
    (array([2, 1, 3]), array([0, 1], dtype=int32), array([2], dtype=int32))
    """
    given = np.append(np.maximum(tables, 0.0).ravel(), level.ravel())
    most = float(np.abs(given).max(initial=0.0)) or 1.0
    known, place = np.unique(np.round(given / most, 12), return_inverse=True)
    near = [Fraction(each).limit_denominator(FINEST_PRICES) for each in known.tolist()]
    scale = lcm(*(each.denominator for each in near))
    off = np.abs([float(each) for each in near] - known).max(initial=0.0)
    if scale > FINEST_PRICES or off > EXACT:  # as fine as fits
        found = np.rint(given * (MOST_EXACT / float(np.abs(given).sum()))).astype(np.int64)
    else:
        parts = np.array([int(each * scale) for each in near], np.int64)
        found = parts[place] // max(int(np.gcd.reduce(parts)), 1)
    table, levels = found[: tables.size].reshape(tables.shape), found[tables.size :]
    row, link = np.nonzero(table)
    offsets = np.append(0, np.cumsum((table > 0).sum(axis=1), dtype=np.int64))
    return Prices(
        Lists(offsets, link.astype(np.int32)), table[row, link], levels.reshape(level.shape)
    )


def on_channels(prices: Prices, link: Ints, num_links: int) -> Prices:
    """Return prices of links as those of their channels.

    Parameters
    ----------
    link
        int64[num_channels], the link that each channel is part of.
    """
    channels, price = [], []
    for number in range(len(prices.channels.offsets) - 1):
        first, last = prices.channels.offsets[number : number + 2]
        each = np.zeros(num_links, np.int64)
        each[prices.channels.values[first:last]] = prices.price[first:last]
        some = np.flatnonzero(each[link])
        channels.append(some.astype(np.int32))
        price.append(each[link[some]])
    offsets = np.append(0, np.cumsum([len(each) for each in channels], dtype=np.int64))
    return Prices(Lists(offsets, np.concatenate(channels)), np.concatenate(price), prices.level)


MOST_FLOWS = 400_000
"""A linear program of more variables is refused."""

SMOOTH = 5040
"""Largest denominator of weights and shares that is looked for, before they are rounded."""

FUZZ = 1e-7
"""What the solver leaves open."""


@dataclass(frozen=True, eq=False)
class Joint:
    """An optimum of all-reduce, in trees.

    Attributes
    ----------
    network
        The ranks and links.
    upper
        Algorithm bandwidth in units of the network's capacity that no all-reduce by trees exceeds,
        if ranks copy and add, and switches only forward.
    trees
        int64[num_ranks], pairs of trees of each root.
    out, into
        int64[num_links], out-trees and in-trees that each link carries.
    rate
        Capacity of one tree, in units of the network's.
    prices
        Of links: they prove ``upper``.
    """

    network: RankNetwork
    upper: float
    trees: Ints
    out: Ints
    into: Ints
    rate: Fraction
    prices: Prices

    @property
    def bandwidth(self) -> float:
        """Algorithm bandwidth that the trees reach, relative to the network's reference rate."""
        return float(self.rate * int(self.trees.sum()) * self.network.unit)

    @property
    def bound(self) -> float:
        """That of the linear program, relative to the network's reference rate."""
        return self.upper * float(self.network.unit)

    def __repr__(self) -> str:
        trees, on = int(self.trees.sum()), self.network.topology.name
        of = f"{self.bandwidth:.6g} of {self.bound:.6g}"
        return f"<all-reduce {of} on {on}, {counted(trees, 'pair')} of trees>"


def joint(network: RankNetwork) -> Joint:
    """Return the best split of links between in-trees and out-trees, and how many trees of whom.

    Raises
    ------
    InputError
        If the network is too large, or in pieces.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> joint(rank_network(topology("line:4")))
    <all-reduce 1 of 1 on line:4, 1 pair of trees>
    """
    ways = optimum(network).rate, optimum(network.reversed()).rate
    each = ways[0] * ways[1] / (ways[0] + ways[1])  # of a root, one collective after the other
    known = network.num_ranks * network.num_links <= MOST_GROUPED
    groups = weakest_groups(network) if known else None
    if groups is not None and 2 * each * network.num_ranks == least_out(network, groups):
        upper, prices = float(each * network.num_ranks), group_prices(network, groups)
        weights, out = np.zeros(0), np.zeros(0)
    else:
        upper, weights, out, prices = solved(network)
    near = [Fraction(value).limit_denominator(SMOOTH) for value in [*weights, *out]]
    exact = np.allclose([float(value) for value in near], [*weights, *out], rtol=0, atol=FUZZ)
    exact = exact and lcm(*(value.denominator for value in near)) <= SMOOTH
    if upper <= float(each * network.num_ranks) * (1 + FUZZ) or not (
        exact or network.num_vertices == network.num_ranks
    ):
        near = [each] * network.num_ranks
        near += [Fraction(most) * each / ways[0] for most in network.capacity.tolist()]
    elif not exact:
        near = [Fraction(int((value + FUZZ) * SMOOTH), SMOOTH) for value in [*weights, *out]]
    pairs, shares = near[: network.num_ranks], near[network.num_ranks :]
    rest = [most - share for most, share in zip(network.capacity.tolist(), shares, strict=True)]
    scale = lcm(*(value.denominator for value in near))
    whole = [int(value * scale) for value in (*pairs, *shares, *rest)]
    common = gcd(*whole)
    values = np.array(whole, np.int64) // common
    trees, out_trees, in_trees = np.split(values, [len(pairs), len(pairs) + len(shares)])
    fits = min(
        optimum(replace(network, capacity=out_trees), trees).rate,
        optimum(replace(network, capacity=in_trees).reversed(), trees).rate,
    )
    if fits < 1:  # rounding: fewer trees
        trees = np.array([int(most * fits) for most in trees.tolist()], np.int64)
    return Joint(network, upper, trees, out_trees, in_trees, Fraction(common, scale), prices)


def solved(network: RankNetwork) -> tuple[float, Floats, Floats, Prices]:
    """Return the linear program's optimum, weights, out-trees' share of links, and its prices.

    The optimum is in units of the network's capacity. Weights are float64[num_ranks], shares
    float64[num_links]. Switches forward and neither copy nor add: of out-trees, and of in-trees,
    as much enters as leaves them.

    Raises
    ------
    InputError
        If the network is too large.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> round(solved(rank_network(topology("mesh:3x3")))[0], 9)
    1.5
    """
    from scipy.optimize import linprog
    from scipy.sparse import block_array, csr_array, diags_array, eye_array, kron

    ranks, links, vertices = network.num_ranks, network.num_links, network.num_vertices
    flows = 2 * ranks * links
    if flows > MOST_FLOWS:
        found = f"{ranks} ranks and {links} links"
        raise InputError(network.topology.name, found, f"at most {MOST_FLOWS:,} flows in all")
    columns = ranks + 2 * links + flows  # weights, out, into, and the flows of each rank
    leaving = _leaving(network)
    # what leaves a vertex less what enters it is its weight; the rank receives them all
    own = kron(np.ones((2 * ranks, 1)), -eye_array(vertices, ranks), format="csr")
    rows = np.repeat(np.arange(2 * ranks) * vertices + np.tile(np.arange(ranks), 2), ranks)
    place = rows, np.tile(np.arange(ranks), 2 * ranks)
    own = own + csr_array((np.ones(len(rows)), place), own.shape)
    ways = np.repeat([1.0, -1.0], ranks)
    switches = kron(eye_array(2), leaving[ranks:])
    equal = block_array(
        [[own, None, kron(diags_array(ways), leaving)], [None, switches, None]], format="csr"
    )
    above = kron(eye_array(2), kron(np.ones((ranks, 1)), eye_array(links)))
    both = kron(np.ones((1, 2)), eye_array(links))
    within = block_array(
        [[csr_array((flows, ranks)), -above, eye_array(flows)], [None, both, None]], format="csr"
    )
    solve: Any = linprog  # whose types know no sparse arrays
    gain = np.zeros(columns)
    gain[:ranks] = -1
    result = solve(
        gain, A_ub=within, b_ub=np.append(np.zeros(flows), network.capacity.astype(np.float64)),
        A_eq=equal, b_eq=np.zeros(equal.shape[0]), method="highs",
    )  # fmt: skip
    assert result.status == 0, result.message
    prices = prices_of(
        -result.ineqlin.marginals[:flows].reshape(2 * ranks, links),
        -result.eqlin.marginals[2 * ranks * vertices :].reshape(2, vertices - ranks),
    )
    return -float(result.fun), result.x[:ranks], result.x[ranks : ranks + links], prices


def _leaving(network: RankNetwork) -> csr_array:
    """Return which links leave each vertex (1), and which enter it (−1)."""
    from scipy.sparse import csr_array

    links = network.num_links
    ends = np.append(network.source, network.target), np.tile(np.arange(links), 2)
    return csr_array((np.repeat([1.0, -1.0], links), ends), (network.num_vertices, links))


def all_reduce(
    network: RankNetwork,
    size_bytes: float,
    *,
    chunks: Sequence[int] = CHUNKS,
    until: float = np.inf,
) -> Timed:
    """Return a schedule of an all-reduce by pairs of trees, and the bound of the linear program.

    Parameters
    ----------
    chunks
        Chunks to try of what goes by a pair of trees. Per root, on average, where roots have more
        than ``FEW_TREES``.
    until
        As ``fastest`` has it.

    Raises
    ------
    InputError
        As ``joint`` does, or if the size is none.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("line:4"), bytes_per_second=25e9)
    >>> found = all_reduce(net, 1e9)
    >>> round(found.bound_seconds, 9), found.efficiency > 0.95
    (0.04, True)
    """
    if not size_bytes > 0:
        raise InputError("size", f"{size_bytes}", "above 0 bytes")
    best = joint(network)
    bound = size_bytes / (best.bound * network.bytes_per_second)
    rate = float(best.rate * network.unit) * network.bytes_per_second
    out = packed(network, best.out, best.trees, rate)
    back = network.reversed()
    turned = np.lexsort((network.source, network.target))  # the link that each reversed one was
    shares = best.into[turned]
    mirrored = np.array_equal(shares, best.out) and all(
        np.array_equal(getattr(back, name), getattr(network, name))
        for name in ("source", "target", "capacity")
    )
    into = replace(out, network=back) if mirrored else packed(back, shares, best.trees, rate)
    number = len(out.routes.offsets) - 1
    routes = lists(
        [out.routes.of(route).tolist() for route in range(number)]
        + [turned[into.routes.of(route)][::-1].tolist()
           for route in range(len(into.routes.offsets) - 1)],
        np.int32,
    )  # fmt: skip
    messages, before, after, multiplicity = _pairs(out, into)
    every, total = np.full(len(multiplicity), EVERYBODY, np.int32), int(out.trees.sum())
    tracks = Tracks(
        network, routes, np.append(slices_of(out), slices_of(into)), "all-reduce", 0,
        messages, before, after, np.arange(len(routes.lengths)) >= number, multiplicity / total, 1,
        (every, every.copy()),
    )  # fmt: skip
    pairs = total / int((out.trees > 0).sum())  # of a root, of those that have any
    each = pairs if pairs <= FEW_TREES else 1  # chunks of a root: many of each of few trees, or all
    most = 1.5 * CHUNKS[-1] / each  # about as many of each root as given
    tried = [many for many in chunks if many <= most] or chunks[:1]

    def cut(many: int) -> Floats:
        return (many * each / pairs) * multiplicity.astype(np.float64)

    made = pipelined(tracks, cut, tried, size_bytes, bound, until)
    return replace(made, prices=best.prices)


def _pairs(out: Forest, into: Forest) -> tuple[Lists, Lists, Lists, Ints]:
    """Return the messages of each kind of pair of trees, who waits for whom, and how many pairs.

    Data goes up the in-tree and down the out-tree of the same root. Routes of in-trees have the
    numbers after those of out-trees.
    """
    up_route, ups = below_roots(into)
    down_route, downs = below_roots(out)
    first, others = len(out.routes.lengths), ups.shape[1]
    routes, firsts, seconds = (list[list[int]]() for _ in range(3))
    many: list[int] = []
    for root in np.flatnonzero(out.trees).tolist():
        left = [
            [[each, int(trees.many[each])] for each in np.flatnonzero(trees.root == root).tolist()]
            for trees in (into, out)
        ]
        while left[0]:
            (up, _), (down, _) = left[0][-1], left[1][-1]
            most = min(rest[-1][1] for rest in left)
            for rest in left:
                rest[-1][1] -= most
                if not rest[-1][1]:
                    rest.pop()
            above, over = ups[up], downs[down]  # the message of the rank above, of each
            later, below = np.flatnonzero(above >= 0), np.flatnonzero(over >= 0)
            ends, starts = np.flatnonzero(above < 0), np.flatnonzero(over < 0)
            before = later, np.repeat(ends, len(starts)), others + over[below]
            after = above[later], others + np.tile(starts, len(ends)), others + below
            routes.append([*(first + up_route[up]).tolist(), *down_route[down].tolist()])
            firsts.append(np.concatenate(before).tolist())
            seconds.append(np.concatenate(after).tolist())
            many.append(most)
    return lists(routes, np.int32), lists(firsts), lists(seconds), np.array(many, np.int64)


@dataclass(frozen=True, eq=False)
class Exchange:
    """The optimum of an all-to-all: the rate of each pair, and flows that reach it.

    Attributes
    ----------
    network
        The ranks and links.
    rate
        x, of each pair, in units of the network's capacity.
    flow
        float64[num_ranks, num_links], what of each rank crosses each link, in the same units.
    prices
        Of links: they prove that no rate is higher.
    """

    network: RankNetwork
    rate: float
    flow: Floats
    prices: Prices

    @property
    def bandwidth(self) -> float:
        """Algorithm bandwidth, relative to the network's reference rate: size over time."""
        return self.rate * self.network.num_ranks * float(self.network.unit)

    @property
    def bytes_per_second(self) -> float:
        """Algorithm bandwidth. No all-to-all moves a rank's buffer faster."""
        return self.bandwidth * self.network.bytes_per_second

    def __repr__(self) -> str:
        return f"<all-to-all {self.bandwidth:.6g} on {self.network.topology.name}>"


def exchange(network: RankNetwork) -> Exchange:
    """Return the best rate of an all-to-all of equal blocks on a network.

    Raises
    ------
    InputError
        If the network is too large, or in pieces.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> exchange(rank_network(topology("torus:4x4")))
    <all-to-all 2 on torus:4x4>
    """
    from scipy.optimize import linprog
    from scipy.sparse import csr_array, eye_array, hstack, kron

    optimum(network)  # refuses networks in pieces
    ranks, links, vertices = network.num_ranks, network.num_links, network.num_vertices
    flows = ranks * links
    if flows > MOST_FLOWS:
        found = f"{ranks} ranks and {links} links"
        raise InputError(network.topology.name, found, f"at most {MOST_FLOWS:,} flows in all")
    wanted = np.zeros((ranks, vertices))
    wanted[:, :ranks] = -1.0
    wanted[np.arange(ranks), np.arange(ranks)] = ranks - 1.0
    moved = kron(eye_array(ranks), -_leaving(network))
    equal = hstack([moved, csr_array(wanted.reshape(-1, 1))], format="csr")
    shared = kron(np.ones((1, ranks)), eye_array(links))
    shared = hstack([shared, csr_array((links, 1))], format="csr")
    gain = np.zeros(flows + 1)
    gain[-1] = -1
    solve: Any = linprog  # whose types know no sparse arrays
    result = solve(
        gain, A_ub=shared, b_ub=network.capacity.astype(np.float64), A_eq=equal,
        b_eq=np.zeros(ranks * vertices), method="highs" if flows < 10_000 else "highs-ipm",
    )  # fmt: skip
    assert result.status == 0, result.message
    prices = prices_of(-result.ineqlin.marginals[None], np.zeros((2, 0)))
    return Exchange(network, float(result.x[-1]), result.x[:-1].reshape(ranks, links), prices)


def paths_of(found: Exchange) -> list[tuple[int, int, float, list[int]]]:
    """Return source, target, part of the pair's block and links of each path of the flows."""
    network = found.network
    leaving: list[list[int]] = [[] for _ in range(network.num_vertices)]
    for link, vertex in enumerate(network.source.tolist()):
        leaving[vertex].append(link)
    target = network.target.tolist()
    peeled = []
    for source in range(network.num_ranks):
        left = (found.flow[source] / found.rate).tolist()
        lacks = dict.fromkeys((rank for rank in range(network.num_ranks) if rank != source), 1.0)
        got: dict[int, list[tuple[float, list[int]]]] = {rank: [] for rank in lacks}
        open_ranks = dict(lacks)
        while open_ranks:
            links = _nearest(source, open_ranks, left, leaving, target)
            if not links:
                break
            end = target[links[-1]]
            amount = min(open_ranks[end], *(left[link] for link in links))
            for link in links:
                left[link] -= amount
            got[end].append((amount, links))
            open_ranks[end] -= amount
            if open_ranks[end] <= FUZZ:
                del open_ranks[end]
        for end, ways in got.items():
            total = sum(amount for amount, _ in ways)
            assert abs(total - 1) < 1e-3, "flows that do not arrive"
            peeled += [(source, end, amount / total, links) for amount, links in ways]
    return peeled


def _nearest(
    source: int,
    wanted: dict[int, float],
    left: list[float],
    leaving: list[list[int]],
    target: list[int],
) -> list[int]:
    """Return the links of a shortest way with flow to a rank that lacks some. Empty if none."""
    came: dict[int, tuple[int, int]] = {source: (-1, -1)}  # by which link, and from where
    queue = deque([source])
    while queue:
        here = queue.popleft()
        if here in wanted:
            links = []
            while here != source:
                link, here = came[here]
                links.append(link)
            return links[::-1]
        for link in leaving[here]:
            there = target[link]
            if left[link] > FUZZ and there not in came:
                came[there] = link, here
                queue.append(there)
    return []


def all_to_all(
    network: RankNetwork,
    size_bytes: float,
    *,
    chunks: Sequence[int] = (1, 2, 4, 8, 16),
    until: float = np.inf,
) -> Timed:
    """Return a schedule of an all-to-all of equal blocks, and the bound of the linear program.

    Parameters
    ----------
    size_bytes
        The whole buffer of a rank, what it keeps for itself included.
    chunks
        Into how many chunks each path's data is cut, to try.
    until
        As ``fastest`` has it.

    Raises
    ------
    InputError
        As ``exchange`` does, or if the size is none.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("mesh:3x3"), bytes_per_second=25e9, latency_seconds=1e-6)
    >>> all_to_all(net, 1e9).efficiency > 0.98
    True
    """
    if not size_bytes > 0:
        raise InputError("size", f"{size_bytes}", "above 0 bytes")
    found = exchange(network)
    bound = size_bytes / found.bytes_per_second
    peeled, ranks = paths_of(found), network.num_ranks
    moves = np.append(np.ones(len(peeled)), np.zeros(ranks))
    peeled += [(rank, rank, 1.0, []) for rank in range(ranks)]  # what a rank keeps, last
    numbers: dict[tuple[int, ...], int] = {}
    route: list[list[int]] = []  # parts that lead from rank to rank: ranks pass on what they have
    for _, _, _, links in peeled:
        hops, since = list[int](), list[int]()
        for link in links:
            since.append(link)
            if network.target[link] < ranks:
                hops.append(numbers.setdefault(tuple(since), len(numbers)))
                since = []
        route.append(hops)
    used = np.zeros(len(numbers))
    for (_, _, part, _), along in zip(peeled, route, strict=True):
        used[along] += part * found.rate
    source, target, weight, _ = zip(*peeled, strict=True)
    messages = lists(route, np.int32)
    pairs = [range(max(each - 1, 0)) for each in messages.lengths.tolist()]
    before = lists(pairs)
    tracks = Tracks(
        network, lists(numbers, np.int32), used, "all-to-all", 0, messages,
        before, before._replace(values=before.values + 1), np.zeros(len(numbers), np.bool_),
        np.array(weight), ranks, (np.array(source, np.int32), np.array(target, np.int32)),
    )  # fmt: skip
    made = pipelined(tracks, lambda many: many * moves, chunks, size_bytes, bound, until)
    return replace(made, prices=found.prices)
