"""Schedules of any collective that can be made for a network, by the method that suits it.

All-reduce and all-to-all by linear programs: schedules, and the prices that prove their bounds.

An all-reduce has in-trees and out-trees at once: up to twice as fast as reduce-scatter, then
all-gather. One collective after the other is not the best if hosts differ (meshes, odd boxes).
Then it is better to use roots in the middle, and to divide links unevenly between both directions.
A linear program finds the weights of the roots and the shares of each link for out-trees and for
in-trees. Every rank must be able to receive from all roots and send to all. Trees are packed in
both, one pair per unit of weight, and pipelined. In large networks in which only ranks forward, and
every cable is as fast both ways, one root in the middle is enough. The weakest groups of ranks are
the bound there. If reduce-scatter followed by all-gather already meets that bound, no program is
solved, nor where it is too large.

In an all-to-all, what a rank sends to all others is one commodity, for only totals matter on the
links: N · links variables instead of N² · links. The program's flows are peeled into paths. Each is
a chain of messages from rank to rank.
"""

from __future__ import annotations

from collections import deque
from dataclasses import replace
from fractions import Fraction
from math import gcd, lcm
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.units import rate, size
from netloom.base.words import counted, listed
from netloom.bounds.demand import apart
from netloom.phases.collectives.network import RankNetwork
from netloom.phases.collectives.pipelines import (
    CHUNKS,
    FEW_TREES,
    MOST_MESSAGES,
    Asked,
    Timed,
    Tracks,
    along_trees,
    below_roots,
    pipelined,
    slices_of,
    translatable,
    translated,
    turned_round,
)
from netloom.phases.collectives.schedules import (
    INTO,
    Bound,
    Prices,
    Schedule,
    ScheduleNetwork,
    cut_seconds,
    priced_seconds,
)
from netloom.phases.collectives.trees import (
    MOST_GROUPED,
    Forest,
    group_prices,
    least_out,
    least_time,
    optimum,
    packed,
    weakest_groups,
)
from netloom.workload.programs.collectives.program import EVERYBODY, CollectiveProgram
from netloom.workload.programs.messages import Lists, cut, grouped, lists

if TYPE_CHECKING:
    from scipy.sparse import csr_array


# -- linear programs -------------------------------------------------------------------------------


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


MOST_FLOWS, MANY_FLOWS, FEW_FLOWS = 400_000, 40_000, 10_000
"""A linear program of more variables is refused, one of all-reduce with more not solved (it takes
a minute and more). One of fewer than the last is left to the simplex method, and to both kinds of
trees."""

SMOOTH = 5040
"""Largest denominator of weights and shares that is looked for, before they are rounded."""

SLIGHT = 1e-4
"""Price of shares of links beside the gain of trees, at most."""

FUZZ = 1e-7
"""What the solver leaves open."""


class Joint(NamedTuple):
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
    >>> found = joint(rank_network(topology("line:4")))
    >>> found.upper, float(found.rate * found.trees.sum())
    (1.0, 1.0)
    """
    ways = optimum(network).rate, optimum(network.reversed()).rate
    each = ways[0] * ways[1] / (ways[0] + ways[1])  # of a root, one collective after the other
    ranks, flows = network.num_ranks, network.num_ranks * network.num_links
    weights, out, prices = np.zeros(0), np.zeros(0), None
    if flows <= MOST_GROUPED:
        groups = weakest_groups(network)
        best, large = least_out(network, groups) / 2, 2 * flows > FEW_FLOWS
        packs = large and network.num_vertices == ranks and mirrored(network) is not None
        if packs or best == each * ranks or flows > MANY_FLOWS:
            upper, prices = float(best), group_prices(network, groups)
        if packs and best > each * ranks and flows <= MANY_FLOWS:
            ends, even = (network.source, network.target), np.ones(network.num_links)
            hops = apart(ends, even, ranks, np.arange(ranks)).max(axis=1)
            _, weights, out, _ = solved(network, int(hops.argmin()))  # a root in the middle
    if prices is None:
        upper, weights, out, prices = solved(network)
    near = [Fraction(value).limit_denominator(SMOOTH) for value in [*weights, *out]]
    exact = np.allclose([float(value) for value in near], [*weights, *out], rtol=0, atol=FUZZ)
    exact = exact and lcm(*(value.denominator for value in near)) <= SMOOTH
    better = len(out) and upper > float(each * ranks) * (1 + FUZZ)
    if not better or not (exact or network.num_vertices == ranks):
        near = [each] * ranks
        near += [Fraction(most) * each / ways[0] for most in network.capacity.tolist()]
    elif not exact:
        near = [Fraction(int((value + FUZZ) * SMOOTH), SMOOTH) for value in [*weights, *out]]
    pairs, shares = near[:ranks], near[ranks:]
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


def mirrored(network: RankNetwork) -> Ints | None:
    """Return the link the other way of each. None if some has none of the same capacity.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> mirrored(rank_network(topology("line:3")))
    array([1, 0, 3, 2])
    """
    turned = np.lexsort((network.source, network.target))
    same = np.array_equal(network.source[turned], network.target)
    same = same and np.array_equal(network.target[turned], network.source)
    return turned if same and np.array_equal(network.capacity[turned], network.capacity) else None


def solved(network: RankNetwork, root: int | None = None) -> tuple[float, Floats, Floats, Prices]:
    """Return the linear program's optimum, weights, out-trees' share of links, and its prices.

    The optimum is in units of the network's capacity. Weights are float64[num_ranks], shares
    float64[num_links]. Switches forward and neither copy nor add: of out-trees, and of in-trees,
    as much enters as leaves them. If every link has one the other way, in-trees are out-trees
    turned round: the mean of an optimum and the same turned round is one, too. Then a large program
    has the out-trees alone, and both ways of a cable have its capacity together.

    Parameters
    ----------
    root
        Of all trees, if one is enough. Shares that cost least by prices of all kinds are whole
        multiples of one unit then: their polyhedron is that of a submodular flow.

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
    from scipy.sparse import block_array, csr_array, diags_array, eye_array, kron

    ranks, links, vertices = network.num_ranks, network.num_links, network.num_vertices
    turned = mirrored(network) if 2 * ranks * links > FEW_FLOWS else None
    roots, kinds = np.arange(ranks) if root is None else np.array([root]), 1 + (turned is None)
    flows = kinds * ranks * links
    leaving = _leaving(network, flows)
    shares = slice(len(roots), len(roots) + kinds * links)
    columns = shares.stop + flows  # weights, out, into, and the flows of each rank
    # what leaves a vertex less what enters it is its weight; the rank receives them all
    own = kron(np.ones((kinds * ranks, 1)), -eye_array(vertices, ranks), format="csr")
    rows = np.repeat(np.arange(kinds * ranks) * vertices + np.tile(np.arange(ranks), kinds), ranks)
    place = rows, np.tile(np.arange(ranks), kinds * ranks)
    own = (own + csr_array((np.ones(len(rows)), place), own.shape))[:, roots]
    ways = np.repeat([1.0, -1.0][:kinds], ranks)
    switches = kron(eye_array(kinds), leaving[ranks:])
    moved = kron(diags_array(ways), leaving)
    equal = block_array([[own, None, moved], [None, switches, None]], format="csr")
    above = kron(eye_array(kinds), kron(np.ones((ranks, 1)), eye_array(links)))
    both = csr_array(kron(np.ones((1, 2)), eye_array(links)))
    if turned is not None:
        both = both[:, :links] + both[:, links + turned]
    none = csr_array((flows, len(roots)))
    within = block_array([[none, -above, eye_array(flows)], [None, both, None]], format="csr")
    gain, room = np.zeros(columns), np.append(np.zeros(flows), 1.0 * network.capacity)
    gain[: len(roots)] = -1
    if root is not None:
        gain[shares] = SLIGHT * np.random.default_rng(0).random(kinds * links)
    result = _optimum(gain, within, room, equal)
    tables = -result.ineqlin.marginals[:flows].reshape(kinds * ranks, links)
    levels = -result.eqlin.marginals[kinds * ranks * vertices :].reshape(kinds, vertices - ranks)
    if turned is not None:
        tables, levels = np.append(tables, tables[:, turned], 0), np.append(levels, -levels, 0)
    prices = prices_of(tables, levels)
    weights = np.zeros(ranks)
    weights[roots] = result.x[: len(roots)]
    return float(weights.sum()), weights, result.x[shares][:links], prices


def _optimum(gain: Floats, above: Any, most: Floats, equal: Any) -> Any:
    """Return the solution of a linear program whose equations are 0."""
    from scipy import optimize

    linprog: Any = optimize.linprog  # whose types know no sparse arrays
    nothing, method = np.zeros(equal.shape[0]), "highs" if len(gain) < FEW_FLOWS else "highs-ipm"
    found = linprog(gain, A_ub=above, b_ub=most, A_eq=equal, b_eq=nothing, method=method)
    assert found.status == 0, found.message
    return found


def _leaving(network: RankNetwork, flows: int) -> csr_array:
    """Return which links leave each vertex (1), and which enter it (−1). Refuse too many flows."""
    from scipy.sparse import csr_array

    links = network.num_links
    if flows > MOST_FLOWS:
        found = f"{network.num_ranks} ranks and {links} links"
        raise InputError(network.topology.name, found, f"at most {MOST_FLOWS:,} flows in all")
    ends = np.append(network.source, network.target), np.tile(np.arange(links), 2)
    return csr_array((np.repeat([1.0, -1.0], links), ends), (network.num_vertices, links))


def all_reduce(asked: Asked) -> Timed:
    """Return a schedule of an all-reduce by pairs of trees, and the bound of the linear program.

    Chunks are those of what goes by a pair of trees. Per root, on average, if roots have more than
    ``FEW_TREES``.

    Raises
    ------
    InputError
        As ``joint`` does.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("line:4"), bytes_per_second=25e9)
    >>> found = all_reduce(Asked(net, "all-reduce", 1e9))
    >>> round(found.bound_seconds, 9), found.efficiency > 0.95
    (0.04, True)
    """
    network = asked.network
    best = joint(network)
    bound = asked.size_bytes / (best.upper * float(network.unit) * network.bytes_per_second)
    rate = float(best.rate * network.unit) * network.bytes_per_second
    out = packed(network, best.out, best.trees, rate)
    back = network.reversed()
    turned = np.lexsort((network.source, network.target))  # the link that each reversed one was
    shares = best.into[turned]
    same = np.array_equal(shares, best.out) and mirrored(network) is not None
    into = replace(out, network=back) if same else packed(back, shares, best.trees, rate)
    ways, multiplicity = _pairs(out, into)
    kinds = len(out.routes.lengths), len(into.routes.lengths)
    back_ways = turned_round(into.routes)
    routes = cut(
        np.append(out.routes.values, turned[back_ways.values]).astype(np.int32),
        np.append(out.routes.lengths, back_ways.lengths),
    )
    every, total = np.full(len(multiplicity), EVERYBODY, np.int32), int(out.trees.sum())
    roots = np.count_nonzero(out.trees)
    pairs = total / roots
    few = pairs <= FEW_TREES
    each = pairs if few or roots == 1 else 1  # chunks of a root: many of each tree, or of all
    most = 1.5 * CHUNKS[-1] / (each if few else 1)  # about as many of each root as given
    chunks = (asked.chunks,) if asked.chunks else CHUNKS
    tried = [many for many in chunks if many <= most] or chunks[:1]
    share = multiplicity.astype(np.float64)
    tracks = Tracks(
        asked,
        routes,
        ways,
        np.repeat([False, True], kinds),
        np.append(*(slices_of(trees, below_roots(trees)[0]) for trees in (out, into))),
        multiplicity / total,
        1,
        (every, every),
        lambda many: (many * each / pairs) * share,
    )
    return pipelined(tracks, tried, bound, best.prices)


def _pairs(out: Forest, into: Forest) -> tuple[tuple[Lists, Lists, Lists], Ints]:
    """Return the messages of each kind of pair of trees, who waits for whom, and how many pairs.

    Data goes up the in-tree and down the out-tree of the same root. Routes of in-trees have the
    numbers after those of out-trees.
    """
    first, others = len(out.routes.lengths), out.network.num_ranks - 1
    ups, downs, every = below_roots(into), below_roots(out), np.arange(others)
    found: list[list[Ints]] = [[], [], []]
    many = []
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
            # a message up waits for those of the ranks below, one down for that to the rank above
            (go_up, parent, child), (go_down, above, below) = (
                [each.of(batch) for each in ways] for ways, batch in ((ups, up), (downs, down))
            )
            ends, starts = np.setdiff1d(every, child), np.setdiff1d(every, below) + others
            ways, turns = len(ends), np.repeat(ends, len(starts))
            found[0].append(np.append(first + go_up, go_down))
            found[1].append(np.concatenate([child, turns, others + above]))
            found[2].append(np.concatenate([parent, np.tile(starts, ways), others + below]))
            many.append(most)
    routes, before, after = (
        cut(np.concatenate(rows), [len(row) for row in rows]) for rows in found
    )
    return (routes, before, after), np.array(many, np.int64)


class Exchange(NamedTuple):
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
    def bytes_per_second(self) -> float:
        """Algorithm bandwidth: size over time. No all-to-all moves a rank's buffer faster."""
        network = self.network
        return self.rate * network.num_ranks * float(network.unit) * network.bytes_per_second


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
    >>> round(exchange(rank_network(topology("torus:4x4"))).bytes_per_second, 9)
    2.0
    """
    from scipy.sparse import csr_array, eye_array, hstack, kron

    optimum(network)  # refuses networks in pieces
    ranks, links, vertices = network.num_ranks, network.num_links, network.num_vertices
    flows = ranks * links
    moved = kron(eye_array(ranks), -_leaving(network, flows))
    wanted = ranks * np.eye(ranks, vertices)
    wanted[:, :ranks] -= 1.0
    equal = hstack([moved, csr_array(wanted.reshape(-1, 1))], format="csr")
    shared = kron(np.ones((1, ranks)), eye_array(links))
    shared = hstack([shared, csr_array((links, 1))], format="csr")
    gain = np.zeros(flows + 1)
    gain[-1] = -1
    result = _optimum(gain, shared, network.capacity.astype(np.float64), equal)
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
    came = {source: (-1, -1)}  # by which link, and from where
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


def all_to_all(asked: Asked) -> Timed:
    """Return a schedule of an all-to-all of equal blocks, and the bound of the linear program.

    The size is the whole buffer of a rank, what it keeps for itself included. Chunks are those of
    a path's data.

    Raises
    ------
    InputError
        As ``exchange`` does.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("mesh:3x3"), bytes_per_second=25e9, latency_seconds=1e-6)
    >>> all_to_all(Asked(net, "all-to-all", 1e9)).efficiency > 0.98
    True
    """
    network = asked.network
    found = exchange(network)
    bound = asked.size_bytes / found.bytes_per_second
    peeled, ranks = paths_of(found), network.num_ranks
    moves = np.append(np.ones(len(peeled)), np.zeros(ranks))
    peeled += [(rank, rank, 1.0, []) for rank in range(ranks)]  # what a rank keeps, last
    numbers: dict[tuple[int, ...], int] = {}
    route = []  # parts that lead from rank to rank: ranks pass on what they have
    for _, _, _, links in peeled:
        hops, since = list[int](), list[int]()
        for link in links:
            since.append(link)
            if network.target[link] < ranks:
                hops.append(numbers.setdefault(tuple(since), len(numbers)))
                since = []
        route.append(hops)
    source, target, parts, _ = zip(*peeled, strict=True)
    weight, messages = np.array(parts), lists(route, np.int32)
    part = (weight * found.rate)[messages.owners()]
    before = lists(range(max(each - 1, 0)) for each in messages.lengths.tolist())
    tracks = Tracks(
        asked,
        lists(numbers, np.int32),
        (messages, before, before._replace(values=before.values + 1)),
        np.zeros(len(numbers), np.bool_),
        np.bincount(messages.values, part, len(numbers)).astype(np.float64),
        weight,
        ranks,
        (np.array(source, np.int32), np.array(target, np.int32)),
        lambda many: many * moves,
    )
    chunks = (asked.chunks,) if asked.chunks else (1, 2, 4, 8, 16)
    return pipelined(tracks, chunks, bound, found.prices)


# -- schedules -------------------------------------------------------------------------------------


BLOCKS = ("all-gather", "reduce-scatter")
SYNTHESISED = (*BLOCKS, "broadcast", "reduce", "all-reduce", "all-to-all")
"""Collectives that ``synthesised`` makes schedules of."""


ALONG_TREES, TRANSLATES = "packed trees", "translates of one root's trees"
PAIRS, PATHS = "pairs of trees", "paths of a flow"
BY_TREES = "A linear program over pairs of in-trees and out-trees has no better solution."
"""What no pairs of trees exceed, although other ways to add might."""

ON_TABLES = "trees over the routes of the routing"
IN_STEPS = "steps one after the other"
"""What schedules are made of."""

MOST_NAMED = 4
"""Most ranks or channels that a sentence names."""


def method_of(asked: Asked) -> str:
    """Return what ``synthesised`` makes a schedule of, in words."""
    if asked.collective in ("all-reduce", "all-to-all"):
        return PAIRS if asked.collective == "all-reduce" else PATHS
    ranks, links = asked.network.num_ranks, asked.network.num_links
    alike = asked.collective in BLOCKS and translatable(asked.network)
    return TRANSLATES if alike and links * (ranks - 1) <= MOST_MESSAGES else ALONG_TREES


def synthesised(asked: Asked) -> Timed:
    """Return a schedule of a collective, with the bound that no schedule beats.

    All-gather and reduce-scatter go by translates on whole tori and hypercubes, and by packed trees
    elsewhere, as broadcast and reduce do. All-reduce goes by pairs of trees, all-to-all by paths.

    Raises
    ------
    InputError
        If the network is in pieces or too large, or a switch's bandwidths in and out differ.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("torus:4x4"), bytes_per_second=50e9, latency_seconds=1e-6)
    >>> synthesised(Asked(net, "all-gather", 1e9)).program
    <all-gather, synthesised: 16 ranks, 64 chunks, 960 messages in 15 steps>
    """
    makers = {
        PAIRS: all_reduce,
        PATHS: all_to_all,
        TRANSLATES: translated,
        ALONG_TREES: along_trees,
    }
    return makers[method_of(asked)](asked)


def proven(timed: Timed) -> Schedule:
    """Return a schedule that stands for itself, with its bound and what proves it.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("ring:4"), bytes_per_second=25e9)
    >>> proven(synthesised(Asked(net, "all-reduce", 1e9))).bound.why
    '4 groups of hosts send each other 200 GB/s together at most. All 8 channels set it.'
    """
    network, program, size = timed.network, timed.program, timed.size_bytes
    used, number = np.unique(network.channels.values), np.zeros(network.num_channels, np.int32)
    number[used] = np.arange(len(used))
    link = network.channels.owners()[np.argsort(network.channels.values)]
    kept = ScheduleNetwork(
        network.topology.name,
        tuple(network.name_of(vertex) for vertex in range(network.num_vertices)),
        network.vertices[: network.num_ranks],
        network.source[link],
        network.target[link],
        network.channel_rate[used],
        network.latency[link],
    )
    routes = Lists(timed.routes.offsets, number[timed.routes.values])
    inside, prices, seconds, why = np.zeros(0, np.int32), timed.prices, timed.bound_seconds, ""
    if program.collective == "all-to-all":
        why = "A linear program over all flows has no better solution."
    elif program.collective == "all-reduce":
        held = least_time(  # what holds any all-reduce back as much as pairs of trees, if known
            "all-reduce",
            network.topology,
            network.vertices[: network.num_ranks],
            bytes_per_second=network.bytes_per_second,
            by_node=len(network.inside) > 0,
        )
        known = held.per_byte * size >= seconds * (1 - FUZZ)
        why = (held.why if known else "") or BY_TREES
    else:
        inside, seconds, why = _bottleneck(network, kept, program, size)
    if prices is not None:
        # of links, as those of their channels
        each = grouped(link, np.arange(len(link)), network.num_links).taken(prices.channels.values)
        table, channel = prices.channels.owners()[each.owners()], each.values.astype(np.int32)
        order, tables = np.lexsort((channel, table)), len(prices.channels.lengths)
        channels = cut(channel[order], np.bincount(table, minlength=tables))
        prices = Prices(channels, prices.price[each.owners()][order], prices.level)
        seconds = priced_seconds(kept, program.collective, size, prices)
        # the channels that cost something are full in every schedule at the bound
        full = np.unique(channel).tolist()
        many, names = counted(len(full), "channel"), map(kept.channel_name, full)
        named = f"{many} set{'s' * (len(full) == 1)} it: {listed(list(names), MOST_NAMED)}."
        why += f" All {many} set it." if len(full) == len(kept.rate) else f" {named}"
    bound = Bound(seconds, why, inside, prices)
    return Schedule(program, size, kept, timed.start, timed.end, routes, bound)


def _bottleneck(
    network: RankNetwork, kept: ScheduleNetwork, program: CollectiveProgram, size_bytes: float
) -> tuple[Ints, float, str]:
    """Return a bottleneck cut: vertices, int32[…], least seconds, and a sentence.

    The vertices are what its ranks reach within it. The sentence is of the side with fewer ranks.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    # in a network that is reversed this reads backwards, and the cut is the same
    asked = Asked(network, program.collective, 1.0, program.root)
    used, stays = asked.outward, np.ones(network.num_links)
    best = optimum(used, asked.weights)
    stays[best.leaving] = 0
    graph = csr_array((stays, (used.source, used.target)), shape=(used.num_vertices,) * 2)
    graph.eliminate_zeros()
    away = dijkstra(graph, indices=best.inside, min_only=True, unweighted=True)
    held, into = np.isfinite(away), program.collective in INTO
    inside, ranks = np.flatnonzero(held).astype(np.int32), network.num_ranks
    ends = (kept.target, kept.source) if into else (kept.source, kept.target)
    channels = np.flatnonzero(held[ends[0]] & ~held[ends[1]])
    total = float(kept.rate[channels].sum())
    members = np.flatnonzero(held[:ranks])
    if 2 * len(members) > ranks:
        members, into = np.flatnonzero(~held[:ranks]), not into
    who = listed([kept.labels[rank] for rank in members.tolist()], MOST_NAMED)
    if len(members) > MOST_NAMED:
        who = f"{counted(len(members), 'rank')} ({who})"
    verb = ("receive" if into else "send") + "s" * (len(members) == 1)
    seconds = cut_seconds(kept, program.collective, program.root, size_bytes, inside)
    ways = listed([kept.channel_name(channel) for channel in channels.tolist()], MOST_NAMED)
    many = "one channel" if len(channels) == 1 else counted(len(channels), "channel")
    speed = rate(total) + " together" * (len(channels) > 1)
    through = f"{size(seconds * total)} through {many} of {speed}"
    return inside, seconds, f"{who} {verb} {through}: {ways}."
