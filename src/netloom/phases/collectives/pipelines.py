"""Collectives along trees, cut into chunks: the best of a few orders and numbers of chunks."""

from __future__ import annotations

from itertools import product
from time import perf_counter
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import tell_so_far
from netloom.phases.collectives.listed import (
    NUM_PRIORITIES,
    Jobs,
    Servers,
    Timed,
    listed,
    priorities,
    servers,
    timed,
)
from netloom.phases.collectives.optimum import optimum
from netloom.phases.collectives.trees import Forest, forest
from netloom.workload.programs.collectives.program import EVERYBODY, CollectiveProgram
from netloom.workload.programs.many_lists import lists

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom.base.arrays import Floats, Ints
    from netloom.phases.collectives.network import RankNetwork

BACKWARDS = {"reduce-scatter": "all-gather", "reduce": "broadcast"}
"""Collectives that are others with time reversed, on the reversed network."""

CHUNKS = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024)
"""Chunks that are tried."""

FULL_SEARCH, FEW_MESSAGES = 64, 200_000
"""With more chunks per block, or messages, only the best orders are tried, ..."""

MANY_MESSAGES = 1_100_000
"""... and not with more messages than this."""

FEW_TREES = 8
"""With more trees of a root than these, chunks are counted per block and not per tree."""

PATIENCE = 2
"""So often more chunks may be no better before no more are tried."""

GAIN, GOOD = 1e-3, 1e-3
"""More chunks have to be better by a part. What is so near the bound is good enough."""


def along_trees(
    network: RankNetwork,
    collective: str,
    size_bytes: float,
    *,
    root: int = 0,
    chunks: Sequence[int] = CHUNKS,
    until: float = np.inf,
) -> Timed:
    """Return a schedule of an all-gather, reduce-scatter, broadcast or reduce, and its bound.

    Its trees reach the optimum. What the schedule loses is the time to fill and empty the pipe.

    Parameters
    ----------
    network
        The ranks, and links with rates and latencies.
    collective
        One of the four.
    size_bytes
        As ``CollectiveProgram`` has it.
    root
        Of broadcast and reduce.
    chunks
        Chunks to try of what goes down a tree. Of a block, which is what a root sends to all,
        where a root has more than ``FEW_TREES``.
    until
        As ``fastest`` has it.

    Raises
    ------
    InputError
        If the collective is another, the size is none, a root is no rank, the network is in
        pieces, or a switch has not as much bandwidth in as out.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> from netloom.phases.collectives.network import rank_network
    >>> net = rank_network(topology("torus:3x3"), bytes_per_second=25e9, latency_seconds=1e-6)
    >>> found = along_trees(net, "all-gather", 64e6)
    >>> found.efficiency > 0.99, found.program.num_ranks
    (True, 9)
    """
    forward = BACKWARDS.get(collective, collective)
    if forward not in ("all-gather", "broadcast"):
        wanted = "all-gather, reduce-scatter, broadcast or reduce"
        raise InputError("collective", f"'{collective}'", wanted)
    if not size_bytes > 0:
        raise InputError("size", f"{size_bytes}", "above 0 bytes")
    if not 0 <= root < network.num_ranks:
        raise InputError("root", f"{root}", f"0 to {network.num_ranks - 1}")
    weights = np.ones(network.num_ranks, np.int64)
    if forward == "broadcast":
        weights = (np.arange(network.num_ranks) == root).astype(np.int64)
    backwards = forward != collective
    used = network.reversed() if backwards else network
    best = optimum(used, weights)
    trees = forest(best)
    bound = best.seconds(size_bytes)
    return _best(used, trees, collective, root, size_bytes, bound, chunks, until)


def _best(
    network: RankNetwork, trees: Forest, collective: str, root: int, size_bytes: float,
    bound: float, chunks: Sequence[int], until: float,
) -> Timed:  # fmt: skip
    """Return the schedule that ends first of all that are tried."""
    backwards = collective in BACKWARDS
    shared = [servers(network, trees.routes)]
    if (trees.routes.lengths > 1).any():
        shared.append(servers(network, trees.routes, slices_of(trees)))

    def cut(many: int) -> tuple[Jobs, CollectiveProgram, Floats]:
        return tree_jobs(trees, chunks_of(trees, many), collective, root)

    each = int(trees.trees.max())
    alike = each if each <= FEW_TREES else 1  # then all chunks have one size
    ladder = [alike * many for many in chunks]
    jobs, times, program = fastest(shared, cut, ladder, size_bytes, bound, until)
    backwards = collective in BACKWARDS
    return timed(
        network, trees.routes, jobs, times, program, size_bytes, bound, backwards=backwards
    )


def fastest(
    shared: Sequence[Servers],
    cut: Callable[[int], tuple[Jobs, CollectiveProgram, Floats]],
    chunks: Sequence[int],
    size_bytes: float,
    bound: float,
    until: float = np.inf,
) -> tuple[Jobs, tuple[Floats, Floats], CollectiveProgram]:
    """Return the messages, times and program that end first, of the orders and chunks tried.

    Parameters
    ----------
    shared
        Ways to share cables.
    cut
        Returns messages, program and shares (see ``priorities``) for so many chunks per block.
    chunks
        Chunks per block, ascending.
    bound
        Seconds that no schedule can beat.
    until
        A time of ``perf_counter`` after which the best so far is returned, if there is one.
    """
    ways = list(product(range(NUM_PRIORITIES), range(len(shared))))
    hows = range(len(shared))
    best, finish, stale = None, np.inf, 0
    begun, done = perf_counter(), 0
    for number, many in enumerate(chunks):
        if best is not None and (finish < bound * (1 + GOOD) or perf_counter() > until):
            break
        jobs, program, share = cut(many)
        if best is not None and len(jobs) > MANY_MESSAGES:
            break
        ends, before = {}, finish
        keys: dict[int, list[Floats]] = {}
        for order, how in ways:
            if best is not None and perf_counter() > until:
                return best
            if how not in keys:
                keys[how] = priorities(shared[how], jobs, share, many, size_bytes)
            times = listed(shared[how], jobs, keys[how][order], size_bytes)
            ends[order, how] = times[1].max()
            if ends[order, how] < finish * (1 - GAIN):
                finish, best = ends[order, how], (jobs, times, program)
            done += len(jobs)
            left = _left(len(jobs), many, chunks[number + 1 :]) * len(ways)
            tell_so_far(
                f"{100 * min(bound / finish, 1):.3g} % of the bound so far; another "
                f"{left * (perf_counter() - begun) / done:.0f} s at most"
            )
        if many >= FULL_SEARCH or len(jobs) >= FEW_MESSAGES:
            stale += finish == before
            if stale == PATIENCE:
                break
            ranked = sorted(ways, key=ends.__getitem__)
            first = [next((way for way in ranked if way[1] == how), ranked[0]) for how in hows]
            wide = many < 4 * FULL_SEARCH
            ways = list(dict.fromkeys([*ranked[:2], *first])) if wide else ranked[:1]
    assert best is not None
    return best


def _left(messages: int, many: int, later: Sequence[int]) -> float:
    """Return the messages of all that may still be tried, from those of so many chunks."""
    each = [messages * more / many for more in later]
    return messages + sum(count for count in each if count <= MANY_MESSAGES)


def chunks_of(trees: Forest, many: int) -> Ints:
    """Return how many chunks each batch's part of a block is cut into, int64[num_batches]."""
    share = trees.many / trees.trees[trees.root]
    found: Ints = np.maximum(np.rint(many * share), 1).astype(np.int64)
    return found


def slices_of(trees: Forest) -> Floats:
    """Return what the trees use of each route, float64[num_routes], in capacity of the network."""
    used = np.zeros(len(trees.routes.offsets) - 1, np.int64)
    taken = trees.route >= 0
    np.add.at(used, trees.route[taken], np.broadcast_to(trees.many[:, None], taken.shape)[taken])
    each = trees.rate / (float(trees.network.unit) * trees.network.bytes_per_second)
    found: Floats = used.astype(np.float64) * each
    return found


def tree_jobs(
    trees: Forest, parts: Ints, collective: str, root: int, first_chunk: int = 0
) -> tuple[Jobs, CollectiveProgram, Floats]:
    """Return the messages of chunks down their trees, and the program that they will fill.

    ``parts``: chunks of each batch. Also returns the part of its tree's data that goes before the
    chunk of each message, float64[num_messages].
    """
    ranks = trees.network.num_ranks
    batch = np.repeat(np.arange(len(parts)), parts)  # of each chunk
    number = np.arange(len(batch)) - np.repeat(np.cumsum(parts) - parts, parts)
    size = (trees.many / (trees.trees.sum() * parts))[batch]
    below = (
        np.arange(ranks)[None, :] != trees.root[:, None]
    )  # of each batch, all ranks but its root
    place = np.cumsum(below, axis=1) - 1  # of a rank's message among those of its chunk
    above = np.take_along_axis(place, np.maximum(trees.parent, 0), axis=1)
    above[trees.parent == trees.root[:, None]] = -1
    shape = (len(parts), ranks - 1)
    route, waits = trees.route[below].reshape(shape), above[below].reshape(shape)
    first = np.arange(len(batch))[:, None] * (ranks - 1)
    after = (first + np.arange(ranks - 1))[waits[batch] >= 0]
    before = (first + waits[batch])[waits[batch] >= 0]
    chunk = np.repeat(np.arange(len(batch)), ranks - 1)
    jobs = Jobs(
        route[batch].ravel().astype(np.int32), size[chunk], (chunk + first_chunk).astype(np.int32),
        np.zeros(len(chunk), np.bool_), before, after,
    )  # fmt: skip
    block, every = trees.root[batch].astype(np.int32), np.full(len(batch), EVERYBODY, np.int32)
    owners = (every, block) if collective in BACKWARDS else (block, every)
    empty = np.zeros(0, np.int32)
    program = CollectiveProgram(
        collective, "synthesised", ranks, size, root, empty, empty, empty, lists([], np.int32),
        np.zeros(0, np.bool_), *owners,
    )  # fmt: skip
    return jobs, program, (number / parts[batch])[chunk]
