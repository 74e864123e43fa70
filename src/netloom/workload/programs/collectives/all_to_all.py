"""All-to-alls of P ranks. Chunk s·P + t is what rank s has for rank t."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.workload.programs.collectives.blocks import pairs, partners
from netloom.workload.programs.collectives.outline import Steps, steps
from netloom.workload.programs.many_lists import Lists

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Ints
    from netloom.workload.programs.collectives.program import CollectiveProgram


def linear(num_ranks: int) -> list[Steps]:
    """Return one step in which each rank sends to all others, the next rank first."""
    source, target = pairs(num_ranks)
    return steps(source, target, lambda _: (source * num_ranks + target)[:, None])


def pairwise(num_ranks: int) -> list[Steps]:
    """Return steps in which each rank sends to one other."""
    ranks = np.arange(num_ranks)

    def one(target: Ints) -> list[Steps]:
        return steps(ranks, target, lambda _: (ranks * num_ranks + target)[:, None])

    return [each for number in range(1, num_ranks) for each in one(partners(num_ranks, number))]


def bruck(num_ranks: int) -> list[Steps]:
    """Return steps that send on by 2^s each chunk whose distance has bit s (Bruck et al. 1997).

    Before step s, a chunk has come as far as the lower bits of its distance.
    """
    ranks, distances = np.arange(num_ranks), np.arange(num_ranks)
    found = list[Steps]()
    for bit in range((num_ranks - 1).bit_length()):
        sent = distances[distances >> bit & 1 == 1]
        chunks = _passing(num_ranks, sent, 2**bit)
        found += steps(ranks, (ranks + 2**bit) % num_ranks, chunks, width=len(sent))
    return found


def _passing(num_ranks: int, sent: Ints, hop: int) -> Callable[[int], Ints]:
    """Return the ``carried`` of a hop: chunks of these distances, at the ranks where they are."""

    def chunks(_: int) -> Ints:
        source = (np.arange(num_ranks)[:, None] - sent % hop) % num_ranks
        return source * num_ranks + (source + sent) % num_ranks

    return chunks


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

    Raises
    ------
    InputError
        If the program is none, the table is not square, or sizes are not finite and at least 0.

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
    if program.collective != "all-to-all":
        raise InputError("sizes of pairs", f"for {program.collective}", "all-to-all")
    if sizes.shape != (ranks, ranks):
        shape = "x".join(map(str, sizes.shape))
        raise InputError("sizes of pairs", f"a table of {shape}", f"{ranks}x{ranks}")
    if not (np.isfinite(sizes) & (sizes >= 0)).all():
        raise InputError("sizes of pairs", "some below 0, or not finite", "bytes of at least 0")
    size = float(sizes.sum(axis=1).max())
    slices = program.num_chunks // ranks**2
    part = np.repeat(sizes.ravel() / (slices * (size or 1.0)), slices)
    kept = part > 0
    number = (np.cumsum(kept) - 1).astype(np.int32)
    offsets, values = program.chunks
    carried = np.append(0, np.cumsum(kept[values], dtype=np.int64))[offsets]
    sent = np.diff(carried) > 0
    return replace(
        program,
        chunk_size=part[kept],
        first_owner=program.first_owner[kept],
        final_owner=program.final_owner[kept],
        source=program.source[sent],
        target=program.target[sent],
        step=program.step[sent],
        sums=program.sums[sent],
        chunks=Lists(np.append(0, carried[1:][sent]), number[values[kept[values]]]),
    ), size
