"""The least time of an all-to-all by a linear program, and a schedule at it.

What a rank sends to all others is one commodity, for only totals matter on the links: N · links
variables instead of N² · links. The program's flows are peeled into paths. Each is a chain of
messages from rank to rank.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.phases.collectives.duals import prices_of
from netloom.phases.collectives.listed import Jobs, Timed, servers, timed
from netloom.phases.collectives.optimum import optimum
from netloom.phases.collectives.pipelines import fastest
from netloom.workload.programs.collectives.program import CollectiveProgram
from netloom.workload.programs.many_lists import Lists, lists

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Floats, Ints
    from netloom.phases.collectives.network import RankNetwork
    from netloom.phases.collectives.prices import Prices

MOST_FLOWS = 400_000
"""A linear program of more variables is refused."""

FUZZ = 1e-7
"""What the solver leaves open, of a pair's rate."""


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

    @property
    def full(self) -> Ints:
        """int32[…], the links that are full in this solution, the bottleneck among them."""
        used = self.flow.sum(axis=0)
        return np.flatnonzero(used > self.network.capacity * (1 - 1e-6)).astype(np.int32)

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
    from scipy.sparse import coo_array

    optimum(network)  # refuses networks in pieces
    ranks, links, vertices = network.num_ranks, network.num_links, network.num_vertices
    flows = ranks * links
    if flows > MOST_FLOWS:
        found = f"{ranks} ranks and {links} links"
        raise InputError(network.topology.name, found, f"at most {MOST_FLOWS:,} flows in all")
    source, number = np.repeat(np.arange(ranks), links), np.arange(flows)
    one = np.ones(flows)
    places = (source * vertices + np.tile(end, ranks) for end in (network.target, network.source))
    ends = np.concatenate(list(places))
    wanted = np.zeros((ranks, vertices))
    wanted[:, :ranks] = -1.0
    wanted[np.arange(ranks), np.arange(ranks)] = ranks - 1.0
    rows = np.flatnonzero(wanted)
    equal = coo_array(
        (np.concatenate([one, -one, wanted.ravel()[rows]]),
         (np.append(ends, rows), np.concatenate([number, number, np.full(len(rows), flows)]))),
        shape=(ranks * vertices, flows + 1),
    )  # fmt: skip
    shared = coo_array((one, (number % links, number)), shape=(links, flows + 1))
    gain = np.zeros(flows + 1)
    gain[-1] = -1
    solve: Any = linprog  # whose types know no sparse arrays
    result = solve(
        gain, A_ub=shared.tocsr(), b_ub=network.capacity.astype(np.float64), A_eq=equal.tocsr(),
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
    came = {source: -1}
    queue = deque([source])
    parent: dict[int, int] = {source: -1}
    while queue:
        here = queue.popleft()
        if here in wanted:
            links = []
            while came[here] >= 0:
                links.append(came[here])
                here = parent[here]
            return links[::-1]
        for link in leaving[here]:
            there = target[link]
            if left[link] > FUZZ and there not in came:
                came[there], parent[there] = link, here
                queue.append(there)
    return []


def all_to_all(
    network: RankNetwork,
    size_bytes: float,
    *,
    parts: Sequence[int] = (1, 2, 4, 8, 16),
    until: float = np.inf,
) -> Timed:
    """Return a schedule of an all-to-all of equal blocks, and the bound of the linear program.

    Parameters
    ----------
    size_bytes
        The whole buffer of a rank, what it keeps for itself included.
    parts
        Into how many parts each path's data is cut, to try.
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
    peeled = paths_of(found)
    hops = [_hops(network, links) for _, _, _, links in peeled]
    numbers: dict[tuple[int, ...], int] = {}
    route = [[numbers.setdefault(hop, len(numbers)) for hop in each] for each in hops]
    routes = lists(numbers, np.int32)
    shared = [servers(network, routes)]
    if (routes.lengths > 1).any():
        used = np.zeros(len(numbers))
        for (_, _, part, _), along in zip(peeled, route, strict=True):
            used[along] += part * found.rate
        shared.append(servers(network, routes, used))

    def cut(many: int) -> tuple[Jobs, CollectiveProgram, Floats]:
        return _path_jobs(network.num_ranks, peeled, route, many)

    jobs, times, program = fastest(shared, cut, parts, size_bytes, bound, until)
    made = timed(network, routes, jobs, times, program, size_bytes, bound)
    return replace(made, prices=found.prices)


def _hops(network: RankNetwork, links: list[int]) -> list[tuple[int, ...]]:
    """Return a way in parts that lead from rank to rank: ranks pass on what they have received."""
    found: list[tuple[int, ...]] = []
    since: list[int] = []
    for link in links:
        since.append(link)
        if network.target[link] < network.num_ranks:
            found.append(tuple(since))
            since = []
    return found


def _path_jobs(
    ranks: int, peeled: list[tuple[int, int, float, list[int]]], route: list[list[int]], many: int
) -> tuple[Jobs, CollectiveProgram, Floats]:
    """Return the messages of all paths, each in so many parts. Chunks that stay come last."""
    length = np.repeat([len(along) for along in route], many)
    path = np.repeat(np.arange(len(route)), many)  # of each chunk
    number = np.tile(np.arange(many), len(route))
    first = np.cumsum(length) - length
    chunk = np.repeat(np.arange(len(path)), length)
    hop = np.arange(len(chunk)) - np.repeat(first, length)
    offsets = np.append(0, np.cumsum([len(along) for along in route]))
    all_routes = np.array([each for along in route for each in along], np.int32)
    size = np.array([part for _, _, part, _ in peeled])[path] / (ranks * many)
    later = np.flatnonzero(hop > 0)
    jobs = Jobs(
        all_routes[offsets[path[chunk]] + hop], size[chunk], chunk.astype(np.int32),
        np.zeros(len(chunk), np.bool_), later - 1, later,
    )  # fmt: skip
    own = np.arange(ranks, dtype=np.int32)
    ends = [np.array([each[side] for each in peeled], np.int32)[path] for side in (0, 1)]
    empty = np.zeros(0, np.int32)
    program = CollectiveProgram(
        "all-to-all", "synthesised", ranks, np.append(size, np.full(ranks, 1 / ranks)), 0, empty,
        empty, empty, Lists(np.zeros(1, np.int64), empty), np.zeros(0, np.bool_),
        np.append(ends[0], own), np.append(ends[1], own),
    )  # fmt: skip
    return jobs, program, (number / many)[chunk]
