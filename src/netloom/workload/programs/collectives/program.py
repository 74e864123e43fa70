"""What a collective sends, message by message: one form for known algorithms and made schedules.

A collective moves *chunks*, parts of its data that are never cut further. A program lists its
messages in steps, and which chunks each carries. Chunks say who has them at first and who must
have them in the end, so that a program can be executed on data and checked.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.workload.programs.many_lists import Lists

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from netloom.base.arrays import Bools, Floats, Ints

COLLECTIVES = (
    "all-gather", "reduce-scatter", "all-reduce", "broadcast", "reduce", "gather", "scatter",
    "all-to-all", "barrier",
)  # fmt: skip
"""What programs are for."""

SUMMED = ("reduce-scatter", "all-reduce", "reduce", "barrier")
"""Collectives to whose chunks every rank contributes."""

EVERYBODY = -1
"""For an owner of a chunk: every rank contributes to it, or every rank must have it."""


def single(chunk: ArrayLike) -> Lists:
    """Return lists of one chunk each.

    Examples
    --------
    >>> single([4, 2]).of(1).tolist()
    [2]
    """
    values = np.array(chunk, np.int32)
    return Lists(np.arange(len(values) + 1, dtype=np.int64), values)


@dataclass(frozen=True, eq=False)
class CollectiveProgram:
    """The messages of a collective, in steps.

    The *size* of a collective is what the common test suites call so: the vector of each rank for
    all-reduce, broadcast and reduce. The whole result for all-gather and gather. The whole input of
    a rank for reduce-scatter, scatter and all-to-all.

    Attributes
    ----------
    collective
        One of ``COLLECTIVES``.
    algorithm
        Its name, such as ``ring``. ``synthesised`` if it was made for a network.
    num_ranks
        Number of ranks.
    chunk_size
        float64[num_chunks], the part of the collective's size that each chunk has. The chunks that
        make up the size are 1 together; for all-to-all those that each rank has at first.
    root
        The root of rooted collectives, or 0 for the others.
    source, target
        int32[num_messages], ranks.
    step
        int32[num_messages], ascending. A message carries only what its source had before its step.
    chunks
        The chunks that each message carries.
    sums
        bool[num_messages], whether the target adds the chunks to what it has; otherwise it takes
        them as they are.
    first_owner
        int32[num_chunks], the rank that has the chunk at first, or ``EVERYBODY``: every rank
        contributes to it.
    final_owner
        int32[num_chunks], the rank that must have the chunk in the end, or ``EVERYBODY``.
    """

    collective: str
    algorithm: str
    num_ranks: int
    chunk_size: Floats
    root: int
    source: Ints
    target: Ints
    step: Ints
    chunks: Lists
    sums: Bools
    first_owner: Ints
    final_owner: Ints

    def __post_init__(self) -> None:
        """Arrays belong together. What a user can get wrong is checked by ``well_formed``."""
        messages, chunks = len(self.source), len(self.chunk_size)
        assert self.collective in COLLECTIVES
        assert len(self.target) == len(self.step) == len(self.sums) == messages
        assert len(self.chunks.offsets) == messages + 1
        assert len(self.first_owner) == len(self.final_owner) == chunks
        assert not messages or (np.diff(self.step) >= 0).all(), "steps are not ascending"

    @property
    def num_messages(self) -> int:
        """Number of messages."""
        return len(self.source)

    @property
    def num_chunks(self) -> int:
        """Number of chunks."""
        return len(self.chunk_size)

    @property
    def num_steps(self) -> int:
        """Number of steps, those without messages included."""
        return int(self.step[-1]) + 1 if len(self.step) else 0

    @property
    def message_size(self) -> Floats:
        """float64[num_messages], the part of the collective's size that each message carries."""
        found, some = np.zeros(self.num_messages), self.chunks.lengths > 0
        if some.any():
            sizes = self.chunk_size[self.chunks.values]
            found[some] = np.add.reduceat(sizes, self.chunks.offsets[:-1][some])
        return found

    def __repr__(self) -> str:
        return (
            f"<{self.collective}, {self.algorithm}: {self.num_ranks} ranks, "
            f"{self.num_chunks} chunks, {self.num_messages} messages in {self.num_steps} steps>"
        )


def owners(
    collective: str, num_ranks: int, per_rank: int, root: int = 0
) -> tuple[Floats, Ints, Ints]:
    """Return sizes, first and final owners of a collective's chunks, all equally large.

    All-gather, gather: chunk r·c + i is part i of rank r's block. Reduce-scatter, scatter: chunk
    r·c + i is part i of what rank r gets. All-to-all: chunk (s·P + t)·c + i is part i of what s has
    for t, its own included. All-reduce, broadcast and reduce, with P·c chunks as well, number them
    as they come. A barrier has one chunk of no size.

    Parameters
    ----------
    per_rank
        c, chunks per block.
    root
        Of broadcast, reduce, gather and scatter.

    Raises
    ------
    InputError
        If there is no such collective, no rank, no chunk or no such root.

    Examples
    --------
    >>> size, first, final = owners("all-gather", 4, 2)
    >>> first.tolist(), set(final.tolist()), float(size.sum())
    ([0, 0, 1, 1, 2, 2, 3, 3], {-1}, 1.0)
    """
    if collective not in COLLECTIVES:
        raise InputError("collective", f"'{collective}'", ", ".join(COLLECTIVES))
    if num_ranks < 1:
        raise InputError("ranks", str(num_ranks), "at least 1")
    if per_rank < 1:
        raise InputError("chunks", str(per_rank), "at least 1")
    if not 0 <= root < num_ranks:
        raise InputError("root", str(root), f"a rank from 0 to {num_ranks - 1}")
    if collective == "barrier":
        return np.zeros(1), np.full(1, EVERYBODY, np.int32), np.full(1, EVERYBODY, np.int32)
    block = np.arange(num_ranks, dtype=np.int32).repeat(per_rank)
    every, at_root = np.full_like(block, EVERYBODY), np.full_like(block, root)
    if collective == "all-to-all":
        first, final = block.repeat(num_ranks), np.tile(block, num_ranks)
    else:
        first, final = {
            "all-gather": (block, every), "gather": (block, at_root), "broadcast": (at_root, every),
            "reduce-scatter": (every, block), "scatter": (at_root, block),
            "reduce": (every, at_root), "all-reduce": (every, every),
        }[collective]  # fmt: skip
    return np.full(len(first), 1 / (num_ranks * per_rank)), first.copy(), final.copy()
