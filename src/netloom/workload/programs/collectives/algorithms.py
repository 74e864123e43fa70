"""The known algorithms of each collective, and how their steps are made.

P ranks, n = ⌈log2 P⌉. An all-gather brings each rank's block to all others, once. Backwards it is a
reduce-scatter (``program.backwards``), and one after the other they are an all-reduce. In an
all-to-all, chunk s·P + t is what rank s has for rank t. Steps of collectives with a root are for a
root 0: ranks get other names later. In a hierarchy rank n·g + l is rank l of node n: its rail is l,
and g ranks are on each of N nodes.

Sources: Thakur, Rabenseifner & Gropp 2005 (ring, recursive doubling, trees). Bruck et al. 1997.
Sanders, Speck & Träff 2009 (two trees), and NCCL, ``src/graph/trees.cc`` (which two). Jain &
Sabharwal 2010 (rings of tori). De Sensi et al. 2024 (Swing). Jeaugey 2025 (PAT). De
Sensi et al., *Bine Trees*, SC 2025.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Ints, offsets_of, ranges
from netloom.base.errors import InputError
from netloom.workload.programs.collectives.program import (
    COLLECTIVES,
    Carried,
    CollectiveProgram,
    Outline,
    Steps,
    always,
    backwards,
    idle,
    listed_program,
    merged,
    outlined,
    relabelled,
    renamed,
    sliced_outline,
    steps,
)
from netloom.workload.programs.messages import Lists, cut

Lanes: TypeAlias = list[list[Steps]]
"""All-gathers at once, each of a part of each block. Every chunk comes to each other rank once."""


# -- all-gathers -----------------------------------------------------------------------------------


MOST_PAIRS = 2**25
"""Most pairs of ranks that are listed."""


def exchanges(num_ranks: int, *, at_once: bool) -> list[tuple[Ints, Ints]]:
    """Return who sends to whom, step by step, until each rank has sent to each other.

    At once, each rank sends to its next first. Otherwise to one other per step: see ``partners``.
    """
    check_pairs(num_ranks)
    ranks = np.arange(num_ranks)
    if not at_once:
        return [(ranks, partners(num_ranks, number)) for number in range(1, num_ranks)]
    source = np.repeat(ranks, num_ranks - 1)
    return [(source, (source + np.tile(np.arange(1, num_ranks), num_ranks)) % num_ranks)]


def exchanged(num_ranks: int, *, at_once: bool, alike: bool = True) -> list[Steps]:
    """Return steps in which each rank sends its own block to all others: an all-gather.

    If not ``alike``, it sends each of them what it has for that one: an all-to-all.
    """
    found = list[Steps]()
    for source, target in exchanges(num_ranks, at_once=at_once):
        chunk = source if alike else source * num_ranks + target
        found += steps(source, target, always(chunk[:, None]))
    return found


def check_pairs(num_ranks: int) -> None:
    """Refuse more pairs of ranks than ``MOST_PAIRS``."""
    if num_ranks**2 > MOST_PAIRS:
        found = f"{num_ranks}, of which each has to do with each"
        raise InputError("ranks", found, f"at most {int(MOST_PAIRS**0.5)}")


def partners(num_ranks: int, number: int) -> Ints:
    """Return to whom each rank sends in exchange ``number``, from 1 on: one with each other rank.

    With r ⊕ number if the number of ranks is a power of 2. Otherwise to r + number.
    """
    ranks = np.arange(num_ranks)
    if num_ranks & (num_ranks - 1) == 0:
        return ranks ^ number
    return (ranks + number) % num_ranks


def ring(num_ranks: int, direction: int = 1) -> list[Steps]:
    """Return a ring: in step s rank r sends block r − s to r + 1, or block r + s to r − 1."""
    return ring_lane([num_ranks], [0], direction)


def bruck(num_ranks: int) -> list[Steps]:
    """Return Bruck's all-gather: in step s rank r sends min(2^s, P − 2^s) blocks to r − 2^s.

    They are those of rank r and of the ranks after it.
    """
    ranks, found, distance = np.arange(num_ranks), list[Steps](), 1
    while distance < num_ranks:
        width = min(distance, num_ranks - distance)
        blocks = _shifted(num_ranks, np.arange(width))
        found += steps(ranks, (ranks - distance) % num_ranks, blocks, width=width)
        distance *= 2
    return found


def pat(num_ranks: int) -> list[Steps]:
    """Return PAT: binomial trees of all ranks in parallel, the farthest first.

    Step s has distance d = 2^(n−1−s): rank r sends to r + d the blocks of r − 2d·i, as far as
    2d·i + d < P. So little goes far. Messages are never cut: buffers have room for P/2 blocks.
    """
    ranks, found = np.arange(num_ranks), list[Steps]()
    for bit in reversed(range((num_ranks - 1).bit_length())):
        offsets = -np.arange(0, num_ranks - 2**bit, 2 ** (bit + 1))
        blocks = _shifted(num_ranks, offsets)
        found += steps(ranks, (ranks + 2**bit) % num_ranks, blocks, width=len(offsets))
    return found


def _shifted(num_ranks: int, offsets: Ints) -> Callable[[int], Ints]:
    """Return the ``carried`` of steps in which rank r sends the blocks of r + offsets."""
    return lambda _: (np.arange(num_ranks)[:, None] + offsets) % num_ranks


def recursive_doubling(num_ranks: int) -> list[Steps]:
    """Return recursive doubling: in step s rank r exchanges its 2^s blocks with r ⊕ 2^s.

    Of P ranks that are no power of 2 the first 2·(P − 2^⌊log2 P⌋) are folded in pairs.
    """
    core = 2 ** (num_ranks.bit_length() - 1)
    member, _, begin = fold(num_ranks, core)
    bounds, number = np.append(begin, num_ranks), np.arange(core)
    found, distance = list[Steps](), 1
    while distance < core:
        low = bounds[number // distance * distance]
        width = bounds[number // distance * distance + distance] - low
        partner = member[number ^ distance]
        found += steps(member, partner, _consecutive(low, width), width=width)
        distance *= 2
    return _with_pairs(found, num_ranks, core)


def _consecutive(low: Ints, width: Ints) -> Callable[[int], Lists]:
    """Return the ``carried`` of steps in which ranks send as many blocks, from the lowest on."""
    return lambda _: cut(ranges(low, width).astype(np.int32), width)


def folded(found: list[Steps], num_ranks: int, core: int) -> list[Steps]:
    """Return an all-gather of more ranks than its steps are for: the first are paired.

    In each of the first P − core pairs, the even rank first sends its block to the odd one. The odd
    rank takes part for both, and afterwards sends the even one all that it lacks.
    """
    if num_ranks == core:
        return found
    check_pairs(num_ranks)
    member, size, begin = fold(num_ranks, core)

    def one(each: Steps) -> Steps:
        def carried(number: int) -> Lists:
            given = each.chunks(number)
            lengths = np.add.reduceat(size[given.values], given.offsets[:-1])
            values = ranges(begin[given.values], size[given.values])
            return cut(values.astype(np.int32), lengths)

        ends = member[each.source], member[each.target]
        return Steps(*ends, carried(0).lengths, each.sums, carried, each.times)

    return _with_pairs([one(each) for each in found], num_ranks, core)


def _with_pairs(found: list[Steps], num_ranks: int, core: int) -> list[Steps]:
    """Return steps of the core with those of the pairs before and after. See ``folded``."""
    even, blocks = np.arange(0, 2 * (num_ranks - core), 2), np.arange(num_ranks - 1)
    return [
        *steps(even, even + 1, lambda _: even[:, None]),
        *found,
        *steps(even + 1, even, lambda _: blocks + (blocks >= even[:, None]), width=num_ranks - 1),
    ]


def fold(num_ranks: int, core: int) -> tuple[Ints, Ints, Ints]:
    """Return the rank that is each member of the core, for how many it stands, and their first."""
    number, more = np.arange(core), num_ranks - core
    size = np.where(number < more, 2, 1)
    begin = np.cumsum(size) - size
    return (begin + size - 1).astype(np.int32), size, begin


def _each_way(
    sides: Sequence[int], lane_of: Callable[[Sequence[int], Sequence[int], int], list[Steps]]
) -> Lanes:
    """Return lanes that begin with each dimension, in both directions, all at once."""
    dims = [dim for dim, side in enumerate(sides) if side > 1]
    orders = [dims[first:] + dims[:first] for first in range(len(dims))]
    return [lane_of(sides, order, way) for order in orders for way in (1, -1)] or [[]]


def ring_lane(sides: Sequence[int], order: Sequence[int], direction: int = 1) -> list[Steps]:
    """Return an all-gather by rings along dimensions, in this order."""
    have = [np.arange(side)[:, None] for side in sides]
    found = list[Steps]()
    for dim in order:
        found += _ring_along(sides, have, dim, direction)
        have[dim] = np.tile(np.arange(sides[dim]), (sides[dim], 1))
    return found


def _ring_along(sides: Sequence[int], have: list[Ints], dim: int, direction: int) -> list[Steps]:
    side, others = np.arange(sides[dim]), list(have)
    ranks = np.arange(prod(sides))
    target = _moved(sides, dim, (side + direction) % len(side))

    def blocks(step: int) -> Ints:
        mine = (side[:, None] - direction * step) % len(side)
        return _products(sides, [*others[:dim], mine, *others[dim + 1 :]])

    width = prod(each.shape[1] for each in others) // others[dim].shape[1]
    return steps(ranks, target, blocks, width=width, count=len(side) - 1)


def _moved(sides: Sequence[int], dim: int, to: Ints) -> Ints:
    """Return the rank to which each goes if coordinate ``dim`` becomes ``to`` of itself."""
    coordinates = list(np.unravel_index(np.arange(prod(sides)), tuple(sides)))
    coordinates[dim] = to[coordinates[dim]]
    return np.ravel_multi_index(coordinates, tuple(sides))


def _products(sides: Sequence[int], chosen: list[Ints]) -> Ints:
    """Return the blocks of products of coordinates: int64[num_ranks, product of widths].

    ``chosen[dim]``: int64[side, width], the coordinates chosen by those of each coordinate.
    """
    found = np.zeros((prod(sides), 1), np.int64)
    for dim, where in enumerate(np.unravel_index(np.arange(prod(sides)), tuple(sides))):
        more = chosen[dim][where]
        found = (found[:, :, None] * sides[dim] + more[:, None, :]).reshape(len(where), -1)
    return found


def swing_lane(
    sides: Sequence[int], order: Sequence[int], direction: int, *, near: bool = False
) -> list[Steps]:
    """Return Swing: exchanges at distances 1, −1, 3, −5, 11 …, in reverse as an all-gather.

    As a reduce-scatter, step s of a dimension joins even a with a + ρ and odd a with a − ρ,
    ρ = (1 − (−2)^(s+1)) / 3. Dimensions take turns. Blocks that the partner has are not sent, if
    sides are no powers of 2. Sides are even.

    ``near``: step s joins a with a ⊕ 2^s instead, of coordinates that count from 0 in the
    direction. Sides are powers of 2.
    """
    turns = [
        (dim, step)
        for step in range((max(sides) - 1).bit_length())
        for dim in order
        if 2**step < sides[dim]
    ]
    have = [np.zeros(1, np.int64) for _ in sides]  # of an even coordinate; odd ones have −have
    found = list[Steps]()
    for dim, step in reversed(turns):
        distance = np.array(2**step if near else direction * (1 - (-2) ** (step + 1)) // 3)
        theirs = _met(distance, have[dim], sides[dim], near=near)
        met = partial(_met, near=near, way=direction)
        offsets = [*have[:dim], np.setdiff1d(have[dim], theirs), *have[dim + 1 :]]
        partner = met(np.arange(sides[dim]), distance, sides[dim])
        found += _swing_along(sides, dim, partner, offsets, met)
        have[dim] = np.union1d(have[dim], theirs)
    return found


def _met(at: Ints, offset: Ints, side: int, *, near: bool, way: int = 1) -> Ints:
    """Return where offsets lead from coordinates: forward from even ones, back from odd ones."""
    to = way * (way * at % side ^ offset) if near else at + np.where(at % 2, -1, 1) * offset
    return np.asarray(to % side)


def _swing_along(
    sides: Sequence[int], dim: int, partner: Ints, offsets: Sequence[Ints], met: Callable[..., Ints]
) -> list[Steps]:
    """Return the step in which coordinates exchange what their partners lack."""

    def blocks(_: int) -> Ints:
        chosen = [
            met(np.arange(side)[:, None], offset, side)
            for side, offset in zip(sides, offsets, strict=True)
        ]
        return _products(sides, chosen)

    width = prod(map(len, offsets))
    ranks = np.arange(prod(sides))
    return steps(ranks, _moved(sides, dim, partner), blocks, width=width) if width else []


# -- all-to-alls -----------------------------------------------------------------------------------


def bruck_all_to_all(num_ranks: int) -> list[Steps]:
    """Return steps that send on by 2^s each chunk whose distance has bit s (Bruck et al. 1997).

    Before step s, a chunk has come as far as the lower bits of its distance.
    """
    ranks, distances = np.arange(num_ranks), np.arange(num_ranks)
    found = list[Steps]()
    for bit in range((num_ranks - 1).bit_length()):
        sent = distances[distances >> bit & 1 == 1]

        def chunks(_: int, bit: int = bit, sent: Ints = sent) -> Ints:
            source = (ranks[:, None] - sent % 2**bit) % num_ranks
            return np.asarray(source * num_ranks + (source + sent) % num_ranks, np.int64)

        found += steps(ranks, (ranks + 2**bit) % num_ranks, chunks, width=len(sent))
    return found


def with_pair_sizes(
    program: CollectiveProgram, pair_bytes: ArrayLike
) -> tuple[CollectiveProgram, float]:
    """Return an all-to-all in which each pair has a size of its own (all-to-all-v), and its size.

    Pairs of no bytes have no chunks, and a message without chunks is not sent. The size of the
    collective is the largest of what a rank has at first, in bytes.

    Parameters
    ----------
    program
        An all-to-all of P ranks.
    pair_bytes
        float64[P, P], what each rank (row) has for each, itself included.

    Examples
    --------
    >>> from netloom.workload.programs.collectives.algorithms import collective_program
    >>> program = collective_program("all-to-all", "pairwise", 3)
    >>> skewed, size = with_pair_sizes(program, [[0, 8, 0], [4, 0, 12], [0, 0, 0]])
    >>> skewed, size
    (<all-to-all, pairwise: 3 ranks, 3 chunks, 3 messages in 2 steps>, 16.0)
    >>> (skewed.message_size * size).tolist()
    [8.0, 12.0, 4.0]
    """
    sizes, ranks = np.asarray(pair_bytes, np.float64), program.num_ranks
    size = float(sizes.sum(axis=1).max())
    slices = program.num_chunks // ranks**2
    part = np.repeat(sizes.ravel() / (slices * (size or 1.0)), slices)
    kept = part > 0
    number = (np.cumsum(kept) - 1).astype(np.int32)
    offsets, values = program.chunks
    carried = offsets_of(kept[values])[offsets]
    sent = np.diff(carried) > 0
    columns = {name: getattr(program, name)[sent] for name in ("source", "target", "step", "sums")}
    owners = {name: getattr(program, name)[kept] for name in ("first_owner", "final_owner")}
    chunks = Lists(np.append(0, carried[1:][sent]), number[values[kept[values]]])
    return replace(program, chunk_size=part[kept], chunks=chunks, **columns, **owners), size


# -- trees -----------------------------------------------------------------------------------------


def star(num_ranks: int) -> Ints:
    """Return the parents of a tree in which all are children of rank 0. The root has none, −1."""
    return np.append(-1, np.zeros(num_ranks - 1, np.int64))


def nccl_trees(num_ranks: int) -> list[Ints]:
    """Return the parents of NCCL's two trees: a leaf of one is inside the other.

    In the first, r's lowest bit is removed, and the next one added, if there is such a rank. The
    second is the first mirrored if the number is even, shifted by one if it is odd.

    Examples
    --------
    >>> [tree.tolist() for tree in nccl_trees(6)]
    [[-1, 2, 4, 2, 0, 4], [1, 5, 3, 1, 3, -1]]
    """
    ranks = np.arange(num_ranks)
    bit = ranks & -ranks
    up = (ranks ^ bit) | (bit << 1)
    first = np.where(ranks == 0, -1, np.where(up >= num_ranks, ranks ^ bit, up))
    other = first[(ranks - 1) % num_ranks] if num_ranks % 2 else first[::-1]
    named = (other + 1) % num_ranks if num_ranks % 2 else num_ranks - 1 - other
    return [first, np.where(other < 0, -1, named)]


def on_nodes(tree: Ints, ranks_per_node: int) -> Ints:
    """Return the parents of a tree over nodes, the ranks of each a chain behind its first."""
    ranks = np.arange(len(tree) * ranks_per_node)
    up = tree[ranks // ranks_per_node]
    head = np.where(up < 0, -1, up * ranks_per_node)
    return np.where(ranks % ranks_per_node == 0, head, ranks - 1)


def along(parents: list[Ints], chunks: int, *, sums: bool = False) -> list[Steps]:
    """Return the broadcast of a part of the vector down each tree, in ``chunks`` each, pipelined.

    A rank at depth d gets chunk k in step d − 1 + k. Tree t has chunks t·chunks and up. With sums
    it is the reduction up each tree.
    """
    lanes = []
    for number, tree in enumerate(parents):
        target, depth = np.flatnonzero(tree >= 0), depths(tree)
        source, delay = tree[target], depth[target] - 1
        if sums:
            source, target, delay = target, source, depth.max() - depth[target]
        order = np.argsort(delay, kind="stable")
        source, target, delay = source[order], target[order], delay[order]
        changes = np.unique(np.concatenate([delay, delay + chunks])).tolist()
        lane = list[Steps]()
        for begin, end in itertools.pairwise(changes):
            active = slice(*np.searchsorted(delay, [begin - chunks, begin], side="right").tolist())
            carried = partial(np.add, number * chunks + begin - delay[active, None])
            lane += steps(source[active], target[active], carried, sums=sums, count=end - begin)
        lanes.append(lane)
    return merged(lanes)


def up_and_down(parents: list[Ints], chunks: int) -> list[Steps]:
    """Return the reduction up each tree, and the broadcast of each chunk once the root has it."""
    height = max(int(depths(tree).max()) for tree in parents)
    return merged([along(parents, chunks, sums=True), [*idle(height), *along(parents, chunks)]])


def depths(parents: Ints) -> Ints:
    """Return how far from its root each rank is: int64[num_ranks]."""
    depth, above = (parents >= 0).astype(np.int64), parents
    while (above >= 0).any():  # depth: how far it is to the rank above, which doubles
        depth = depth + np.where(above < 0, 0, depth[above])
        above = np.where(above < 0, -1, above[above])
    return depth


def _first_chunk(messages: int) -> Carried:
    return always(np.zeros((messages, 1), np.int64))


def binomial(num_ranks: int) -> list[Steps]:
    """Return a broadcast: in step s the ranks below 2^s send to r + 2^s."""
    found, distance = list[Steps](), 1
    while distance < num_ranks:
        ranks = np.arange(min(distance, num_ranks - distance))
        found += steps(ranks, ranks + distance, _first_chunk(len(ranks)))
        distance *= 2
    return found


def linear_scatter(num_ranks: int) -> list[Steps]:
    """Return a scatter: rank 0 sends all blocks at once."""
    others = np.arange(1, num_ranks)
    return steps(np.zeros_like(others), others, lambda _: others[:, None])


def binomial_scatter(num_ranks: int) -> list[Steps]:
    """Return a scatter: r sends to r + d the blocks from r + d on, d = 2^(n−1) … 1, up to d."""
    found = list[Steps]()
    for bit in reversed(range((num_ranks - 1).bit_length())):
        half = 2**bit
        source = np.arange(0, num_ranks - half, 2 * half)
        width = np.minimum(num_ranks - source - half, half)
        found += steps(source, source + half, _consecutive(source + half, width), width=width)
    return found


def recursive_doubling_sums(num_ranks: int) -> list[Steps]:
    """Return an all-reduce: in step s rank r exchanges its whole sum with r ⊕ 2^s.

    Other numbers than powers of 2 are folded: see ``folded``.
    """
    found = recursive_doubling(num_ranks)
    summing = len(found) - (num_ranks.bit_count() > 1)  # the even of pairs get the sum at last
    return [
        one
        for number, each in enumerate(found)
        for one in steps(*each[:2], _first_chunk(len(each.source)), sums=number < summing)
    ]


# -- nodes and rails -------------------------------------------------------------------------------


def _rails(nodes: int, ranks_per_node: int) -> list[Steps]:
    """Return a binomial broadcast of chunk l on each rail l."""
    rail = np.arange(ranks_per_node)
    found = list[Steps]()
    for each in binomial(nodes):
        chunk = np.tile(rail, len(each.source))[:, None]
        source, target = (end[:, None] * ranks_per_node + rail for end in each[:2])
        found += steps(source.ravel(), target.ravel(), always(chunk))
    return found


def _inside(nodes: int, ranks_per_node: int, direction: int) -> list[Steps]:
    """Return rings inside all nodes, with one chunk of each rank."""
    rings = ring_lane([nodes, ranks_per_node], [1], direction)
    return renamed(rings, lambda block: block % ranks_per_node)


def nodes_all_to_all(nodes: int, ranks_per_node: int) -> list[Steps]:
    """Return an all-to-all: on rails to the target's node, then inside it. Both are pairwise.

    Chunk s·P + t is what s has for t.
    """
    size = nodes * ranks_per_node
    ranks = np.arange(size)
    node, place = np.divmod(ranks, ranks_per_node)
    found = list[Steps]()
    for number in range(1, nodes):
        there = partners(nodes, number)[node]
        target = there * ranks_per_node + place
        chunks = ranks[:, None] * size + there[:, None] * ranks_per_node + np.arange(ranks_per_node)
        found += steps(ranks, target, always(chunks), width=ranks_per_node)
    for number in range(1, ranks_per_node):
        target = node * ranks_per_node + partners(ranks_per_node, number)[place]
        source = np.arange(nodes) * ranks_per_node + place[:, None]
        chunks = source * size + target[:, None]
        found += steps(ranks, target, always(chunks), width=nodes)
    return found


# -- algorithms by name ----------------------------------------------------------------------------


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
    several_ports
        Whether a rank sends several messages at once, by links of its own.
    """

    collective: str
    num_ranks: int
    root: int = 0
    chunks: int = 1
    ranks_per_node: int | None = None
    torus: tuple[int, ...] | None = None
    several_ports: bool = False

    def sides(self, algorithm: str) -> tuple[int, ...]:
        """Return the sides of the torus. Refuse an algorithm that needs one if there is none."""
        if self.torus is None:
            wanted = "a torus, or another algorithm"
            raise InputError("algorithm", f"{algorithm} without a torus", wanted)
        return self.torus

    def nodes(self) -> tuple[int, int]:
        """Return how many nodes there are, and ranks on each. Refuse what does not divide."""
        each = self.ranks_per_node
        if each is None:
            found = "no equal number of ranks per node"
            raise InputError("algorithm", found, "as many ranks on each node")
        return self.num_ranks // each, each


def _one_lane(request: Request, _: int, *, near: bool = False) -> Lanes:
    """Bine: one lane of Swing. Near first: halving and doubling of which most goes to neighbors."""
    sides, core = request.torus, request.num_ranks
    fit = [each.bit_count() == 1 or not (near or each % 2) for each in sides or ()]
    if sides is None or not all(fit):
        core = 2 ** (core.bit_length() - 1) if near else max(core - core % 2, 1)
        sides = (core,)
    elif near and request.several_ports:
        return _each_way(sides, partial(swing_lane, near=True))
    order = [dim for dim, side in enumerate(sides) if side > 1]
    return [folded(swing_lane(sides, order, 1, near=near), request.num_ranks, core)]


def _swing(request: Request, _: int) -> Lanes:
    """Swing on a torus, or on the ranks as a ring: of an odd number the first two are folded."""
    if request.torus is None:
        count = request.num_ranks
        core = count - count % 2 if count > 1 else 1
        lanes = [swing_lane([core], [0], way) for way in (1, -1)]
        return [folded(lane, count, core) for lane in lanes]
    odd = [side for side in request.torus if side > 1 and side % 2]
    if odd:
        raise InputError("algorithm", f"swing on a torus with a side of {odd[0]}", "even sides")
    return _each_way(request.torus, swing_lane)


def _torus_rings(request: Request, _: int) -> Lanes:
    """Rings along one dimension after the other."""
    return _each_way(request.sides("torus-rings"), ring_lane)


_LANES: dict[str, Callable[[Request, int], Lanes]] = {
    "linear": lambda request, _: [exchanged(request.num_ranks, at_once=True)],
    "pairwise": lambda request, _: [exchanged(request.num_ranks, at_once=False)],
    "ring": lambda request, way: [ring(request.num_ranks, way)],
    "bidirectional-ring": lambda request, _: [ring(request.num_ranks, way) for way in (1, -1)],
    "recursive-doubling": lambda request, _: [recursive_doubling(request.num_ranks)],
    "bruck": lambda request, _: [bruck(request.num_ranks)],
    "pat": lambda request, _: [pat(request.num_ranks)],
    "near-first": partial(_one_lane, near=True),
    "bine": _one_lane,
    "bine-blocks": _one_lane,
    "swing": _swing,
    "swing-blocks": _swing,
    "torus-rings": _torus_rings,
    "hierarchical": lambda request, way: [ring_lane(request.nodes(), [0, 1], way)],
}
"""All-gathers. The direction is that of rings: 1, or −1 for what is taken backwards."""

_TREES: dict[str, Callable[[int], list[Ints]]] = {
    "linear": lambda num_ranks: [star(num_ranks)],
    "chain": lambda num_ranks: [np.arange(num_ranks) - 1],
    "binary-tree": lambda num_ranks: [(np.arange(num_ranks) - 1) // 2],
    "double-binary-tree": lambda num_ranks: (
        [np.append(-1, tree + 1) for tree in nccl_trees(num_ranks - 1)]
        if num_ranks > 1
        else [star(1)] * 2
    ),
}
"""Trees with root 0, each for a part of the vector: the parent of each rank."""


def _gathering(name: str, request: Request) -> Outline:
    """Return an all-gather, a reduce-scatter, which is one backwards, or one after the other."""
    ways = {"all-gather": (1,), "reduce-scatter": (-1,)}.get(request.collective, (-1, 1))
    parts, found = 1, list[Steps]()
    for direction in ways:
        lanes = _LANES[name](request, direction)
        parts = len(lanes)
        if parts > 1:
            lanes = [merged([_part(lane, number, parts) for number, lane in enumerate(lanes)])]
        found += lanes[0] if direction > 0 else backwards(lanes[0])
    return outlined(request.collective, request.num_ranks, found, parts=parts)


def _part(lane: list[Steps], number: int, parts: int) -> list[Steps]:
    """Return a lane that carries one part of each block."""
    return renamed(lane, lambda block: block * parts + number)


def _tree(name: str, request: Request) -> Outline:
    """Return a broadcast, reduction or both along trees, pipelined."""
    parents, chunks = _TREES[name](request.num_ranks), request.chunks
    if request.collective in ("broadcast", "reduce"):
        found = along(parents, chunks, sums=request.collective == "reduce")
    else:
        found = up_and_down(parents, chunks)
    return _whole(request, found, len(parents) * chunks)


def _double_all_reduce(request: Request) -> Outline:
    """Return an all-reduce along NCCL's trees: over nodes, if they are known."""
    each = request.ranks_per_node or 1
    trees = nccl_trees(request.num_ranks // each)
    parents = [on_nodes(tree, each) for tree in trees]
    return _whole(request, up_and_down(parents, request.chunks), 2 * request.chunks)


def _whole(
    request: Request, found: list[Steps], chunks: int = 1, label: Ints | None = None
) -> Outline:
    """Return the outline of a collective on vectors, from steps of root 0.

    ``label``: what ranks are called; as far from the root as they were from rank 0 by default.
    """
    collective, size, root = request.collective, request.num_ranks, request.root
    placed = relabelled(found, (np.arange(size) + root) % size if label is None else label)
    return outlined(collective, size, placed, parts=chunks, blocks=1, root=root)


def _binomial(request: Request) -> Outline:
    """Return a broadcast or a reduction along a binomial tree, or one after the other."""
    there = binomial(request.num_ranks)
    back = backwards(there)
    found = {"broadcast": there, "reduce": back}.get(request.collective, [*back, *there])
    return _whole(request, found)


def _bine_tree(request: Request) -> Outline:
    """Return a broadcast or a reduction along a Bine tree: the way of block 0 in its all-gather."""
    has, found = np.arange(request.num_ranks) == 0, list[Steps]()
    for each in _one_lane(request, 1)[0]:
        sent = has[each.source] & ~has[each.target]
        source, target = each.source[sent], each.target[sent]
        found += steps(source, target, _first_chunk(len(source)))
        has[target] = True
    return _whole(request, backwards(found) if request.collective == "reduce" else found)


def _recursive_doubling(request: Request) -> Outline:
    return _whole(request, recursive_doubling_sums(request.num_ranks))


def _doubling_lanes(name: str, request: Request) -> Outline:
    """Return an all-reduce by exchanges of whole sums, each lane's part of the vector.

    Sides that are no powers of 2 are a ring of the ranks, of which the first are folded.
    """
    size, sides = request.num_ranks, request.sides(name)
    core = 2 ** (size.bit_length() - 1)
    member, sides = fold(size, core)[0], sides if core == size else (core,)
    lanes = _each_way(sides, partial(swing_lane, near=name == "torus-doubling"))
    even, summed = np.arange(0, 2 * (size - core), 2), list[list[Steps]]()
    for number, lane in enumerate(lanes):
        chunk = always(np.full((core, 1), number))
        ends = [(member[each.source], member[each.target]) for each in reversed(lane)]
        summed.append([one for both in ends for one in steps(*both, chunk, sums=True)])
    whole = always(np.tile(np.arange(len(lanes)), (len(even), 1)))
    found = [
        *steps(even, even + 1, whole, width=len(lanes), sums=True),
        *merged(summed),
        *steps(even + 1, even, whole, width=len(lanes)),
    ]
    return _whole(request, found, len(lanes))


def _dissemination(request: Request) -> Outline:
    """In step s rank r tells r + 2^s (Hensgen, Finkel & Manber 1988)."""
    size = request.num_ranks
    ranks, chunk = np.arange(size), _first_chunk(size)
    found = list[Steps]()
    for bit in range((size - 1).bit_length()):
        found += steps(ranks, (ranks + 2**bit) % size, chunk, sums=True)
    return _whole(request, found)


def _scatter_all_gather(request: Request) -> Outline:
    """Binomial scatter, then a ring (van de Geijn)."""
    size = request.num_ranks
    return _whole(request, [*binomial_scatter(size), *ring(size)], size)


def _rabenseifner_reduce(request: Request) -> Outline:
    """Recursive halving, then a binomial gather."""
    size = request.num_ranks
    halving = backwards(recursive_doubling(size))
    return _whole(request, [*halving, *backwards(binomial_scatter(size), sums=False)], size)


def _scattered(name: str, request: Request) -> Outline:
    """Return a scatter or a gather, from steps of root 0."""
    size, root = request.num_ranks, request.root
    found = linear_scatter(size) if name == "linear" else binomial_scatter(size)
    if request.collective == "gather":
        found = backwards(found, sums=False)
    placed = relabelled(found, (np.arange(size) + root) % size)
    named = renamed(placed, lambda block: (block + root) % size)
    return outlined(request.collective, size, named, root=root)


def _hierarchical(request: Request) -> Outline:
    """Return a broadcast or a reduction of g chunks through nodes and rails.

    Rank l of the root's node gets chunk l, which goes along its rail (binomial), and then round
    each node. A reduction is that backwards.
    """
    num_nodes, each = request.nodes()
    to_all, scatter = request.collective == "broadcast", linear_scatter(each)
    inside = _inside(num_nodes, each, 1 if to_all else -1)
    found = [*_rails(num_nodes, each), *inside]
    whole_way = [*backwards(found), *backwards(scatter, sums=False)]
    root_node, root_place = divmod(request.root, each)
    node, place = np.divmod(np.arange(request.num_ranks), each)
    label = (node + root_node) % num_nodes * each + (place + root_place) % each
    return _whole(request, [*scatter, *found] if to_all else whole_way, each, label)


def _all_to_all(make: Callable[..., list[Steps]], request: Request) -> Outline:
    check_pairs(request.num_ranks)
    sizes = request.nodes() if make is nodes_all_to_all else (request.num_ranks,)
    return outlined("all-to-all", request.num_ranks, make(*sizes))


PIPELINED = ("linear", "chain", "binary-tree", "double-binary-tree")
"""Algorithms of broadcast, reduce and all-reduce that send chunk after chunk down trees."""


def _named(
    make: Callable[[str, Request], Outline], names: Sequence[str]
) -> dict[str, Callable[[Request], Outline]]:
    return {name: partial(make, name) for name in names}


_GATHERS = [name for name in _LANES if name != "pairwise"]

ALGORITHMS: dict[str, dict[str, Callable[[Request], Outline]]] = {
    "broadcast": {
        **_named(_tree, PIPELINED),
        "binomial": _binomial,
        "bine": _bine_tree,
        "scatter-all-gather": _scatter_all_gather,
        "hierarchical": _hierarchical,
    },
    "reduce": {
        **_named(_tree, PIPELINED),
        "binomial": _binomial,
        "bine": _bine_tree,
        "rabenseifner": _rabenseifner_reduce,
        "hierarchical": _hierarchical,
    },
    "all-reduce": {
        **_named(_tree, PIPELINED[:-1]),
        "binomial": _binomial,
        "double-binary-tree": _double_all_reduce,
        **_named(_gathering, ("ring", "bidirectional-ring")),
        "recursive-doubling": _recursive_doubling,
        "rabenseifner": partial(_gathering, "recursive-doubling"),
        **_named(_gathering, ("near-first", "bine", "bruck", "swing")),
        **_named(_doubling_lanes, ("swing-doubling", "torus-doubling")),
        **_named(_gathering, ("torus-rings", "hierarchical")),
    },
    "all-gather": _named(_gathering, _GATHERS),
    "reduce-scatter": {
        **_named(_gathering, ["pairwise", *(n for n in _GATHERS if n != "recursive-doubling")]),
        "recursive-halving": partial(_gathering, "recursive-doubling"),
    },
    "gather": _named(_scattered, ("linear", "binomial")),
    "scatter": _named(_scattered, ("linear", "binomial")),
    "all-to-all": {
        "linear": partial(_all_to_all, partial(exchanged, at_once=True, alike=False)),
        "pairwise": partial(_all_to_all, partial(exchanged, at_once=False, alike=False)),
        "bruck": partial(_all_to_all, bruck_all_to_all),
        "hierarchical": partial(_all_to_all, nodes_all_to_all),
    },
    "barrier": {
        **_named(_tree, PIPELINED[:1]),
        "binomial": _binomial,
        "recursive-doubling": _recursive_doubling,
        "dissemination": _dissemination,
    },
}
"""By collective, then by name: what makes the outline of each algorithm."""


BY_BLOCKS = ("bine-blocks", "swing-blocks")
"""Algorithms that send each block by itself, where they could gather blocks that lie apart."""

PERMUTING = ("bruck", "near-first", "bine", "swing")
"""All-gathers and reduce-scatters whose messages lie together if each rank reorders its blocks."""


def copies(collective: str, algorithm: str, num_ranks: int) -> float:
    """Return how many times each rank reorders as many bytes as the collective's size.

    Bruck's all-to-all gathers and spreads half of them in each step, and turns all at the end.

    Examples
    --------
    >>> copies("all-to-all", "bruck", 64), copies("all-gather", "bine", 64)
    (7, 1)
    """
    if collective == "all-to-all" and algorithm == "bruck":
        return 1 + (num_ranks - 1).bit_length()
    if algorithm == "torus-rings":
        return 2 * (collective in ("all-reduce", "reduce-scatter"))
    return int(collective in ("all-gather", "reduce-scatter") and algorithm in PERMUTING)


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
    several_ports: bool = False,
) -> Outline:
    """Return a collective by a known algorithm in outline: steps that are alike are one entry.

    Parameters
    ----------
    collective, algorithm
        See ``algorithms_of``.
    num_ranks, root, chunks, ranks_per_node, torus, several_ports
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
    if algorithm not in algorithms_of(collective):
        wanted = f"for {collective}: {', '.join(algorithms_of(collective))}"
        raise InputError("algorithm", f"'{algorithm}'", wanted)
    if not 1 <= num_ranks <= MOST_RANKS:
        raise InputError("ranks", num_ranks, f"1 to {MOST_RANKS}")
    if not 0 <= root < num_ranks:
        raise InputError("root", root, f"a rank from 0 to {num_ranks - 1}")
    if root and collective not in ROOTED:
        raise InputError("root", f"{root} of {collective}", "none")
    most = 1 if collective == "barrier" else MOST_CHUNKS
    if not 1 <= chunks <= most:
        raise InputError("chunks", f"{chunks} for {collective}", f"1 to {most}")
    if ranks_per_node is not None and (ranks_per_node < 1 or num_ranks % ranks_per_node):
        found = f"{ranks_per_node} of {num_ranks} ranks"
        raise InputError("ranks per node", found, f"a divisor of {num_ranks}")
    if torus is not None and (min(torus, default=0) < 1 or prod(torus) != num_ranks):
        sides = "x".join(map(str, torus)) or "no sides"
        raise InputError("torus", f"{sides} for {num_ranks} ranks", f"sides of {num_ranks} ranks")
    if num_ranks * chunks > MOST_PARTS:
        raise InputError("chunks", f"{chunks} for {num_ranks} ranks", f"{MOST_PARTS // num_ranks}")
    nodes = ranks_per_node, torus, several_ports
    request = Request(collective, num_ranks, root, chunks, *nodes)
    made = ALGORITHMS[collective][algorithm](request)
    whole_vectors = collective in ("broadcast", "reduce", "all-reduce", "barrier")
    pipelined = whole_vectors and algorithm in PIPELINED
    return made if pipelined else sliced_outline(made, chunks)


def collective_program(
    collective: str, algorithm: str, num_ranks: int, **options: Any
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
    found = outline(collective, algorithm, num_ranks, **options)
    carried = sum(each.times * int(each.width.sum()) for each in found.steps)
    if carried > MOST_CARRIED:
        said = f"{num_ranks}, with which messages carry {carried} chunks"
        raise InputError("ranks", said, f"at most {MOST_CARRIED} chunks, or rounds")
    return listed_program(found, algorithm)
