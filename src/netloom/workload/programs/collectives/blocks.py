"""All-gathers: how each rank's block comes to all others, each once. P ranks, n = ⌈log2 P⌉.

Backwards they are reduce-scatters (``outline.backwards``), and one after the other all-reduces.
Sources: Thakur, Rabenseifner & Gropp 2005 (ring, recursive doubling). Bruck et al. 1997. Jain &
Sabharwal 2010 (rings of tori). De Sensi et al. 2024 (Swing). Jeaugey 2025 (PAT).
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.workload.programs.collectives.outline import (
    Blocks,
    Steps,
    merged,
    renamed,
    steps,
)
from netloom.workload.programs.many_lists import Lists
from netloom.workload.programs.rounds import ranges

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom.base.arrays import Ints


MOST_PAIRS = 2**25
"""Most pairs of ranks that are listed."""


def linear(num_ranks: int) -> Blocks:
    """Return an all-gather of one step: each rank sends its block to all others."""
    source, target = pairs(num_ranks)
    return Blocks(1, steps(source, target, lambda _: source[:, None]))


def pairs(num_ranks: int) -> tuple[Ints, Ints]:
    """Return all pairs of different ranks, each rank's from its next to its previous."""
    check_pairs(num_ranks)
    ranks = np.arange(num_ranks)
    source = np.repeat(ranks, num_ranks - 1)
    return source, (source + np.tile(np.arange(1, num_ranks), num_ranks)) % num_ranks


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


def pairwise(num_ranks: int) -> Blocks:
    """Return an all-gather in which each rank sends its block to one other per step."""
    check_pairs(num_ranks)
    ranks = np.arange(num_ranks)
    every = [partners(num_ranks, number) for number in range(1, num_ranks)]
    return Blocks(1, [one for to in every for one in steps(ranks, to, lambda _: ranks[:, None])])


def ring(num_ranks: int, direction: int = 1) -> Blocks:
    """Return a ring: in step s rank r sends block r − s to r + 1, or block r + s to r − 1."""
    ranks = np.arange(num_ranks)

    def block(step: int) -> Ints:
        return (ranks[:, None] - direction * step) % num_ranks

    return Blocks(1, steps(ranks, (ranks + direction) % num_ranks, block, count=num_ranks - 1))


def bidirectional_ring(num_ranks: int) -> Blocks:
    """Return two rings, each with half of each block, in opposite directions."""
    return together([ring(num_ranks, direction).steps for direction in (1, -1)])


def together(lanes: Sequence[list[Steps]]) -> Blocks:
    """Return all-gathers of a part of each block each, all at once."""
    parts = len(lanes)

    def part(lane: list[Steps], number: int) -> list[Steps]:
        return renamed(lane, lambda block: block * parts + number)

    return Blocks(parts, merged([part(lane, number) for number, lane in enumerate(lanes)]))


def bruck(num_ranks: int) -> Blocks:
    """Return Bruck's all-gather: in step s rank r sends min(2^s, P − 2^s) blocks to r − 2^s.

    They are those of rank r and of the ranks after it.
    """
    ranks, found, distance = np.arange(num_ranks), list[Steps](), 1
    while distance < num_ranks:
        width = min(distance, num_ranks - distance)
        blocks = _shifted(num_ranks, np.arange(width))
        found += steps(ranks, (ranks - distance) % num_ranks, blocks, width=width)
        distance *= 2
    return Blocks(1, found)


def pat(num_ranks: int) -> Blocks:
    """Return PAT: binomial trees of all ranks in parallel, the farthest first.

    Step s has distance d = 2^(n−1−s): rank r sends to r + d the blocks of r − 2d·i, as far as
    2d·i + d < P. So little goes far. Messages are never cut: buffers have room for P/2 blocks.
    """
    ranks, found = np.arange(num_ranks), list[Steps]()
    for bit in reversed(range((num_ranks - 1).bit_length())):
        offsets = -np.arange(0, num_ranks - 2**bit, 2 ** (bit + 1))
        blocks = _shifted(num_ranks, offsets)
        found += steps(ranks, (ranks + 2**bit) % num_ranks, blocks, width=len(offsets))
    return Blocks(1, found)


def _shifted(num_ranks: int, offsets: Ints) -> Callable[[int], Ints]:
    """Return the ``carried`` of steps in which rank r sends the blocks of r + offsets."""
    return lambda _: (np.arange(num_ranks)[:, None] + offsets) % num_ranks


def recursive_doubling(num_ranks: int) -> Blocks:
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
    return Blocks(1, _with_pairs(found, num_ranks, core))


def _consecutive(low: Ints, width: Ints) -> Callable[[int], Lists]:
    """Return the ``carried`` of steps in which ranks send as many blocks, from the lowest on."""

    def blocks(_: int) -> Lists:
        offsets = np.append(0, np.cumsum(width, dtype=np.int64))
        return Lists(offsets, ranges(low, width).astype(np.int32))

    return blocks


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
            offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
            values = ranges(begin[given.values], size[given.values])
            return Lists(offsets, values.astype(np.int32))

        return each._replace(
            source=member[each.source], target=member[each.target],
            width=carried(0).lengths, carried=carried,
        )  # fmt: skip

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


def torus_rings(sides: Sequence[int]) -> Blocks:
    """Return rings along one dimension after the other. A part of each block begins in each.

    There are two parts per dimension, one for each direction.

    Ranks are numbered row by row, the last coordinate fastest.
    """
    dims = [dim for dim, side in enumerate(sides) if side > 1]
    orders = [dims[first:] + dims[:first] for first in range(len(dims))]
    lanes = [ring_lane(sides, order, way) for order in orders for way in (1, -1)]
    return together(lanes) if lanes else Blocks(1, [])


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


def swing(sides: Sequence[int]) -> Blocks:
    """Return Swing: exchanges at distances 1, −1, 3, −5, 11 …, in reverse as an all-gather.

    As a reduce-scatter, step s of a dimension joins even a with a + ρ and odd a with a − ρ,
    ρ = (1 − (−2)^(s+1)) / 3. Dimensions take turns. A part of each block begins in each dimension,
    each way. Blocks that the partner has are not sent, if sides are no powers of 2. Sides are even.
    """
    dims = [dim for dim, side in enumerate(sides) if side > 1]
    orders = [dims[first:] + dims[:first] for first in range(len(dims))]
    lanes = [_swing_lane(sides, order, way) for order in orders for way in (1, -1)]
    return together(lanes) if lanes else Blocks(1, [])


def swing_on_ring(num_ranks: int) -> Blocks:
    """Swing of ranks in a ring. Of an odd number the first two are folded."""
    core = num_ranks - num_ranks % 2 if num_ranks > 1 else 1
    lanes = [_swing_lane([core], [0], way) for way in (1, -1)]
    return together([folded(lane, num_ranks, core) for lane in lanes])


def _swing_lane(sides: Sequence[int], order: Sequence[int], direction: int) -> list[Steps]:
    turns = [
        (dim, step)
        for step in range((max(sides) - 1).bit_length())
        for dim in order
        if 2**step < sides[dim]
    ]
    have = [np.zeros(1, np.int64) for _ in sides]  # of an even coordinate; odd ones have −have
    found = list[Steps]()
    for dim, step in reversed(turns):
        distance = direction * (1 - (-2) ** (step + 1)) // 3
        found += _swing_along(sides, list(have), dim, distance)
        have[dim] = np.union1d(have[dim], (distance - have[dim]) % sides[dim])
    return found


def _swing_along(sides: Sequence[int], have: list[Ints], dim: int, distance: int) -> list[Steps]:
    """Return the step in which coordinates exchange what their partners lack."""
    signs = [np.where(np.arange(side) % 2, -1, 1) for side in sides]
    partner = (np.arange(sides[dim]) + signs[dim] * distance) % sides[dim]
    missing = np.setdiff1d(have[dim], (distance - have[dim]) % sides[dim])
    offsets = [*have[:dim], missing, *have[dim + 1 :]]

    def blocks(_: int) -> Ints:
        chosen = [
            (np.arange(side)[:, None] + sign[:, None] * offset) % side
            for side, sign, offset in zip(sides, signs, offsets, strict=True)
        ]
        return _products(sides, chosen)

    width = prod(map(len, offsets))
    ranks = np.arange(prod(sides))
    return steps(ranks, _moved(sides, dim, partner), blocks, width=width) if width else []
