"""All-to-alls of P ranks; chunk s·P + t is what rank s has for rank t."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.workload.programs.collectives.blocks import pairs, partners
from netloom.workload.programs.collectives.outline import Steps, steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


def linear(num_ranks: int) -> list[Steps]:
    """Each rank sends to all others in one step, beginning with the next rank."""
    source, target = pairs(num_ranks)
    return steps(source, target, lambda _: (source * num_ranks + target)[:, None])


def pairwise(num_ranks: int) -> list[Steps]:
    """Each rank sends to one other per step."""
    ranks = np.arange(num_ranks)

    def one(target: NDArray[np.int64]) -> list[Steps]:
        return steps(ranks, target, lambda _: (ranks * num_ranks + target)[:, None])

    return [each for number in range(1, num_ranks) for each in one(partners(num_ranks, number))]


def bruck(num_ranks: int) -> list[Steps]:
    """In step s a chunk for a rank at a distance with bit s is sent on by 2^s (Bruck et al. 1997).

    A rank that has the chunk then is as far from its source as the lower bits say.
    """
    ranks, distances = np.arange(num_ranks), np.arange(num_ranks)
    found = list[Steps]()
    for bit in range((num_ranks - 1).bit_length()):
        sent = distances[distances >> bit & 1 == 1]
        chunks = _passing(num_ranks, sent, 2**bit)
        found += steps(ranks, (ranks + 2**bit) % num_ranks, chunks, width=len(sent))
    return found


def _passing(
    num_ranks: int, sent: NDArray[np.int64], hop: int
) -> Callable[[int], NDArray[np.int64]]:
    """Return what says the chunks of these distances that are at each rank before a hop."""

    def chunks(_: int) -> NDArray[np.int64]:
        source = (np.arange(num_ranks)[:, None] - sent % hop) % num_ranks
        return source * num_ranks + (source + sent) % num_ranks

    return chunks
