"""The known algorithms of each collective, by the names that users know them by."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.workload.programs.collectives import makers
from netloom.workload.programs.collectives.program import (
    COLLECTIVES,
    Blocks,
    Outline,
    Steps,
    backwards,
    blockwise,
    listed_program,
    relabelled,
    renamed,
    sliced_outline,
    steps,
    whole,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Ints
    from netloom.workload.programs.collectives.program import CollectiveProgram

MOST_CARRIED = 2**25
"""Most chunks that all messages of a program carry together, if it is listed."""

MOST_CHUNKS = 2**16
"""Most chunks into which something is cut."""

MOST_PARTS = 2**25
"""Most ranks times chunks."""

ROOTED = ("broadcast", "reduce", "gather", "scatter")

MOST_RANKS = 2**17
"""Most ranks of a collective."""


@dataclass(frozen=True)
class Request:
    """What a collective is asked for.

    Attributes
    ----------
    collective
        One of ``COLLECTIVES``.
    num_ranks
        P.
    root
        Of broadcast, reduce, gather and scatter.
    chunks
        Number of parts into which each chunk of the algorithm is cut. Chains and trees pipeline
        the parts. Other algorithms repeat each step for each part.
    ranks_per_node
        Number of consecutive ranks on each node. None if nodes are unknown.
    torus
        Sides of the torus whose hosts have ranks row by row. None for other networks.
    """

    collective: str
    num_ranks: int
    root: int = 0
    chunks: int = 1
    ranks_per_node: int | None = None
    torus: tuple[int, ...] | None = None

    def nodes(self) -> tuple[int, int]:
        """Return how many nodes there are, and ranks on each. Refuse what does not divide."""
        each = self.ranks_per_node
        if each is None:
            raise InputError(
                "algorithm", "no equal number of ranks per node", "as many ranks on each node"
            )
        return self.num_ranks // each, each

    def sides(self, name: str) -> tuple[int, ...]:
        """Return the sides of the torus."""
        if self.torus is None:
            raise InputError(
                "algorithm", f"{name} without a torus", "a torus, or another algorithm"
            )
        return self.torus


Direction: TypeAlias = int
Maker: TypeAlias = "Callable[[Request, Direction], Blocks]"


def _swing(request: Request, _: Direction) -> Blocks:
    if request.torus is None:
        return makers.swing_on_ring(request.num_ranks)
    odd = [side for side in request.torus if side > 1 and side % 2]
    if odd:
        raise InputError("algorithm", f"swing on a torus with a side of {odd[0]}", "even sides")
    return makers.swing(request.torus)


_BLOCKS: dict[str, Maker] = {
    "linear": lambda request, _: makers.linear(request.num_ranks),
    "pairwise": lambda request, _: makers.pairwise(request.num_ranks),
    "ring": lambda request, direction: makers.ring(request.num_ranks, direction),
    "bidirectional-ring": lambda request, _: makers.bidirectional_ring(request.num_ranks),
    "recursive-doubling": lambda request, _: makers.recursive_doubling(request.num_ranks),
    "bruck": lambda request, _: makers.bruck(request.num_ranks),
    "pat": lambda request, _: makers.pat(request.num_ranks),
    "swing": _swing,
    "torus-rings": lambda request, _: makers.torus_rings(request.sides("torus-rings")),
    "hierarchical": lambda request, direction: Blocks(
        1, makers.ring_lane(request.nodes(), [0, 1], direction)
    ),
}
"""All-gathers. The direction is that of rings: 1, or −1 for what is taken backwards."""

_TREES: dict[str, Callable[[int], list[Ints]]] = {
    "linear": lambda num_ranks: [makers.star(num_ranks)],
    "chain": lambda num_ranks: [makers.chain(num_ranks)],
    "binary-tree": lambda num_ranks: [makers.binary_tree(num_ranks)],
    "double-binary-tree": lambda num_ranks: (
        [np.append(-1, tree + 1) for tree in makers.nccl_trees(num_ranks - 1)]
        if num_ranks > 1
        else [makers.star(1)] * 2
    ),
}
"""Trees with root 0, each for a part of the vector."""


def _gathering(name: str, request: Request) -> Outline:
    """Return an all-gather, a reduce-scatter, which is one backwards, or one after the other."""
    ways = {"all-gather": (1,), "reduce-scatter": (-1,)}.get(request.collective, (-1, 1))
    parts, found = 1, list[Steps]()
    for direction in ways:
        parts, made = _BLOCKS[name](request, direction)
        found += made if direction > 0 else backwards(made)
    return blockwise(request.collective, request.num_ranks, found, parts=parts)


def _tree(name: str, request: Request) -> Outline:
    """Return a broadcast, reduction or both along trees, pipelined."""
    parents, chunks = _TREES[name](request.num_ranks), request.chunks
    if request.collective in ("broadcast", "reduce"):
        found = makers.along(parents, chunks, sums=request.collective == "reduce")
    else:
        found = makers.up_and_down(parents, chunks)
    return _whole(request, found, len(parents) * chunks)


def _double_all_reduce(request: Request) -> Outline:
    """Return an all-reduce along NCCL's trees: over nodes, if they are known."""
    each = request.ranks_per_node or 1
    trees = makers.nccl_trees(request.num_ranks // each)
    parents = [makers.on_nodes(tree, each) for tree in trees]
    found = makers.up_and_down(parents, request.chunks)
    return whole("all-reduce", request.num_ranks, found, chunks=2 * request.chunks)


def _whole(request: Request, found: list[Steps], chunks: int = 1) -> Outline:
    """Return the outline of a collective on vectors, from steps of root 0."""
    label = (np.arange(request.num_ranks) + request.root) % request.num_ranks
    placed = relabelled(found, label)
    return whole(request.collective, request.num_ranks, placed, chunks=chunks, root=request.root)


def _binomial(request: Request) -> Outline:
    """Return a broadcast or a reduction along a binomial tree, or one after the other."""
    there = makers.binomial(request.num_ranks)
    back = backwards(there)
    found = {"broadcast": there, "reduce": back}.get(request.collective, [*back, *there])
    return _whole(request, found)


def _recursive_doubling(request: Request) -> Outline:
    return _whole(request, makers.recursive_doubling_sums(request.num_ranks))


def _dissemination(request: Request) -> Outline:
    """In step s rank r tells r + 2^s (Hensgen, Finkel & Manber 1988)."""
    size = request.num_ranks
    ranks, same = np.arange(size), np.zeros((size, 1), np.int64)
    distances = [2**bit for bit in range((size - 1).bit_length())]
    found = [
        each
        for distance in distances
        for each in steps(ranks, (ranks + distance) % size, lambda _: same, sums=True)
    ]
    return _whole(request, found)


def _scatter_all_gather(request: Request) -> Outline:
    """Binomial scatter, then a ring (van de Geijn)."""
    size = request.num_ranks
    return _whole(request, [*makers.binomial_scatter(size), *makers.ring(size).steps], size)


def _rabenseifner_reduce(request: Request) -> Outline:
    """Recursive halving, then a binomial gather."""
    size = request.num_ranks
    halving = backwards(makers.recursive_doubling(size).steps)
    gather = backwards(makers.binomial_scatter(size), sums=False)
    return _whole(request, [*halving, *gather], size)


def _scattered(name: str, request: Request) -> Outline:
    """Return a scatter or a gather, from steps of root 0."""
    size, root = request.num_ranks, request.root
    found = makers.linear_scatter(size) if name == "linear" else makers.binomial_scatter(size)
    if request.collective == "gather":
        found = backwards(found, sums=False)
    placed = relabelled(found, (np.arange(size) + root) % size)
    named = renamed(placed, lambda block: (block + root) % size)
    return blockwise(request.collective, size, named, root=root)


def _hierarchical(request: Request) -> Outline:
    """Return a broadcast or a reduction through nodes and rails."""
    num_nodes, each = request.nodes()
    make = makers.nodes_broadcast if request.collective == "broadcast" else makers.nodes_reduce
    root_node, root_place = divmod(request.root, each)
    node, place = np.divmod(np.arange(request.num_ranks), each)
    label = (node + root_node) % num_nodes * each + (place + root_place) % each
    found = relabelled(make(num_nodes, each), label)
    return whole(request.collective, request.num_ranks, found, chunks=each, root=request.root)


def _all_to_all(make: Callable[..., list[Steps]], request: Request) -> Outline:
    makers.check_pairs(request.num_ranks)
    sizes = request.nodes() if make is makers.nodes_all_to_all else (request.num_ranks,)
    return blockwise("all-to-all", request.num_ranks, make(*sizes))


_GATHERS = (
    "linear", "ring", "bidirectional-ring", "recursive-doubling", "bruck", "pat", "swing",
    "torus-rings", "hierarchical",
)  # fmt: skip

PIPELINED = ("linear", "chain", "binary-tree", "double-binary-tree")
"""Algorithms of broadcast, reduce and all-reduce that send chunk after chunk down trees."""

_ALONG = {name: partial(_tree, name) for name in PIPELINED}

ALGORITHMS: dict[str, dict[str, Callable[[Request], Outline]]] = {
    "broadcast": {
        **_ALONG,
        "binomial": _binomial,
        "scatter-all-gather": _scatter_all_gather,
        "hierarchical": _hierarchical,
    },
    "reduce": {
        **_ALONG,
        "binomial": _binomial,
        "rabenseifner": _rabenseifner_reduce,
        "hierarchical": _hierarchical,
    },
    "all-reduce": {
        **{name: _ALONG[name] for name in ("linear", "chain", "binary-tree")},
        "binomial": _binomial,
        "double-binary-tree": _double_all_reduce,
        "ring": partial(_gathering, "ring"),
        "bidirectional-ring": partial(_gathering, "bidirectional-ring"),
        "recursive-doubling": _recursive_doubling,
        "rabenseifner": partial(_gathering, "recursive-doubling"),
        **{
            name: partial(_gathering, name)
            for name in ("bruck", "swing", "torus-rings", "hierarchical")
        },
    },
    "all-gather": {name: partial(_gathering, name) for name in _GATHERS},
    "reduce-scatter": {
        **{
            name: partial(_gathering, name)
            for name in ("pairwise", *_GATHERS)
            if name != "recursive-doubling"
        },
        "recursive-halving": partial(_gathering, "recursive-doubling"),
    },
    "gather": {name: partial(_scattered, name) for name in ("linear", "binomial")},
    "scatter": {name: partial(_scattered, name) for name in ("linear", "binomial")},
    "all-to-all": {
        "linear": partial(_all_to_all, makers.linear_all_to_all),
        "pairwise": partial(_all_to_all, makers.pairwise_all_to_all),
        "bruck": partial(_all_to_all, makers.bruck_all_to_all),
        "hierarchical": partial(_all_to_all, makers.nodes_all_to_all),
    },
    "barrier": {
        "linear": _ALONG["linear"],
        "binomial": _binomial,
        "recursive-doubling": _recursive_doubling,
        "dissemination": _dissemination,
    },
}
"""By collective, then by name: what makes the outline of each algorithm."""


def algorithms_of(collective: str) -> tuple[str, ...]:
    """Return the names of the algorithms of a collective.

    Raises
    ------
    InputError
        If there is no such collective.

    Examples
    --------
    >>> algorithms_of("all-to-all")
    ('linear', 'pairwise', 'bruck', 'hierarchical')
    """
    if collective not in ALGORITHMS:
        raise InputError("collective", f"'{collective}'", ", ".join(COLLECTIVES))
    return tuple(ALGORITHMS[collective])


def outline(
    collective: str,
    algorithm: str,
    num_ranks: int,
    *,
    root: int = 0,
    chunks: int = 1,
    ranks_per_node: int | None = None,
    torus: tuple[int, ...] | None = None,
) -> Outline:
    """Return a collective by a known algorithm in outline: steps that are alike are one entry.

    Parameters
    ----------
    collective, algorithm
        See ``algorithms_of``.
    num_ranks, root, chunks, ranks_per_node, torus
        See ``Request``.

    Raises
    ------
    InputError
        If the collective or algorithm is unknown or does not fit. Rings of a torus need the torus,
        and a hierarchy needs nodes. Nodes or sides must make up the ranks.

    Examples
    --------
    >>> outline("all-reduce", "ring", 16384).num_messages
    536838144
    """
    request = Request(collective, num_ranks, root, chunks, ranks_per_node, torus)
    if algorithm not in algorithms_of(collective):
        wanted = f"for {collective}: {', '.join(algorithms_of(collective))}"
        raise InputError("algorithm", f"'{algorithm}'", wanted)
    _check(request)
    if num_ranks * chunks > MOST_PARTS:
        raise InputError("chunks", f"{chunks} for {num_ranks} ranks", f"{MOST_PARTS // num_ranks}")
    found = ALGORITHMS[collective][algorithm](request)
    whole_vectors = collective in ("broadcast", "reduce", "all-reduce", "barrier")
    pipelined = whole_vectors and algorithm in PIPELINED
    return found if pipelined else sliced_outline(found, chunks)


def collective_program(
    collective: str,
    algorithm: str,
    num_ranks: int,
    *,
    root: int = 0,
    chunks: int = 1,
    ranks_per_node: int | None = None,
    torus: tuple[int, ...] | None = None,
) -> CollectiveProgram:
    """Return a collective by a known algorithm, message by message. See ``outline``.

    Raises
    ------
    InputError
        As ``outline`` does, and if messages carry more than ``MOST_CARRIED`` chunks together.

    Examples
    --------
    >>> collective_program("all-gather", "bruck", 6)
    <all-gather, bruck: 6 ranks, 6 chunks, 18 messages in 3 steps>
    """
    found = outline(
        collective, algorithm, num_ranks,
        root=root, chunks=chunks, ranks_per_node=ranks_per_node, torus=torus,
    )  # fmt: skip
    carried = sum(each.times * int(each.width.sum()) for each in found.steps)
    if carried > MOST_CARRIED:
        said = f"{num_ranks}, with which messages carry {carried} chunks"
        raise InputError("ranks", said, f"at most {MOST_CARRIED} chunks, or rounds")
    return listed_program(found, algorithm)


def _check(request: Request) -> None:
    """Refuse numbers that are none, and nodes and tori that are not of these ranks."""
    size, each, torus = request.num_ranks, request.ranks_per_node, request.torus
    if not 1 <= size <= MOST_RANKS:
        raise InputError("ranks", f"{size}", f"1 to {MOST_RANKS}")
    if not 0 <= request.root < size:
        raise InputError("root", f"{request.root}", f"a rank from 0 to {size - 1}")
    if request.root and request.collective not in ROOTED:
        raise InputError("root", f"{request.root} of {request.collective}", "none")
    most = 1 if request.collective == "barrier" else MOST_CHUNKS
    if not 1 <= request.chunks <= most:
        raise InputError("chunks", f"{request.chunks} for {request.collective}", f"1 to {most}")
    if each is not None and (each < 1 or size % each):
        raise InputError("ranks per node", f"{each} of {size} ranks", f"a divisor of {size}")
    if torus is not None and (min(torus, default=0) < 1 or prod(torus) != size):
        sides = "x".join(map(str, torus))
        raise InputError(
            "torus", f"{sides or 'no sides'} for {size} ranks", f"sides of {size} ranks"
        )
