"""Collectives as messages of blocks, and as outlines of steps.

What a collective sends, message by message: one form for known algorithms and made schedules.

A collective moves *chunks*, parts of its data that are never cut further. A program lists its
messages in steps, and which chunks each carries. Chunks say who has them at first and who must
have them in the end, so that a program can be executed on data and checked.

Collectives in outline: steps whose chunks are computed on demand, and operations on steps.

A ring of a thousand ranks takes a thousand steps that differ only in their chunks. An outline has
one entry for all of them, so that it stays short. A reduce-scatter is an all-gather backwards in
time, from target to source, with sums.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.workload.programs.messages import Lists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Bools, Floats, Ints

    Carried: TypeAlias = "Callable[[int], Lists | Ints]"


COLLECTIVES = (
    "all-gather", "reduce-scatter", "all-reduce", "broadcast", "reduce", "gather", "scatter",
    "all-to-all", "barrier",
)  # fmt: skip
"""What programs are for."""

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


class Steps(NamedTuple):
    """Steps that follow each other, and differ only in the chunks that their messages carry."""

    source: Ints  # int32[n], ranks
    target: Ints
    width: Ints  # int64[n], how many chunks each message carries
    sums: Bools  # bool[n], whether the target adds them
    # The chunks of the messages of step k, from 0 on: lists, or an array of n rows alike.
    carried: Carried
    times: int  # how many steps

    def chunks(self, number: int) -> Lists:
        """Return the chunks of the messages of a step, from 0 on."""
        given = self.carried(number)
        if isinstance(given, Lists):
            return given
        rows, width = given.shape
        return Lists(np.arange(rows + 1, dtype=np.int64) * width, given.astype(np.int32).ravel())


class Blocks(NamedTuple):
    """An all-gather: how many chunks each rank's block is cut into, and its steps.

    Chunk b·parts + i is part i of the block of rank b. Each comes to each other rank once.
    """

    parts: int
    steps: list[Steps]


class Outline(NamedTuple):
    """A collective in outline. Its chunks are all equally large.

    ``chunk_size``: float64[num_chunks]. ``first_owner``, ``final_owner``: int32[num_chunks]; see
    ``CollectiveProgram``.
    """

    collective: str
    num_ranks: int
    root: int
    chunk_size: Floats
    first_owner: Ints
    final_owner: Ints
    steps: list[Steps]

    @property
    def num_steps(self) -> int:
        """Number of steps."""
        return sum(each.times for each in self.steps)

    @property
    def num_messages(self) -> int:
        """Number of messages."""
        return sum(each.times * len(each.source) for each in self.steps)


def steps(
    source: ArrayLike,
    target: ArrayLike,
    carried: Carried,
    *,
    width: ArrayLike = 1,
    sums: bool = False,
    count: int = 1,
) -> list[Steps]:
    """Return a list of one ``Steps``, or an empty list if the count is 0 or nobody sends.

    Examples
    --------
    >>> ring = steps([0, 1], [1, 0], lambda k: np.array([[0], [1]]), count=3)
    >>> [each.times for each in ring], steps([], [], lambda k: np.zeros((0, 1)))
    ([3], [])
    """
    ends = np.atleast_1d(np.asarray(source, np.int32)), np.atleast_1d(np.asarray(target, np.int32))
    if not len(ends[0]) or count < 1:
        return []
    widths = np.broadcast_to(np.asarray(width, np.int64), ends[0].shape)
    return [Steps(*ends, widths, np.full(len(ends[0]), sums), carried, count)]


def always(chunks: Lists | Ints) -> Carried:
    """Return the ``carried`` of steps that all carry the same chunks."""
    return lambda _: chunks


def idle(count: int) -> list[Steps]:
    """Return steps without messages."""
    nobody = np.zeros(0, np.int32)
    nothing = np.zeros((0, 1), np.int32)
    widths = np.zeros(0, np.int64)
    found = Steps(nobody, nobody, widths, np.zeros(0, np.bool_), lambda _: nothing, count)
    return [found] if count > 0 else []


def renamed(given: Iterable[Steps], names: Callable[[Ints], ArrayLike]) -> list[Steps]:
    """Return steps whose chunks have other numbers."""

    def one(each: Steps) -> Steps:
        def carried(number: int) -> Lists:
            offsets, values = each.chunks(number)
            return Lists(offsets, np.asarray(names(values), np.int32))

        return each._replace(carried=carried)

    return [one(each) for each in given]


def relabelled(given: Iterable[Steps], ranks: Ints) -> list[Steps]:
    """Return steps in which rank i is called ``ranks[i]``."""
    label = ranks.astype(np.int32)
    return [each._replace(source=label[each.source], target=label[each.target]) for each in given]


def backwards(given: Sequence[Steps], *, sums: bool = True) -> list[Steps]:
    """Return steps backwards in time, from target to source: an all-gather as a reduce-scatter.

    Data that went from one rank to many comes back from all of them, and is added if ``sums``.
    """

    def one(each: Steps) -> Steps:
        return each._replace(
            source=each.target,
            target=each.source,
            sums=np.full(len(each.source), sums),
            carried=lambda number: each.chunks(each.times - 1 - number),
        )

    return [one(each) for each in reversed(given)]


def merged(lanes: Sequence[Sequence[Steps]]) -> list[Steps]:
    """Return the steps of several lanes at once: step k has the messages of step k of each.

    Examples
    --------
    >>> one = steps([0], [1], lambda k: np.array([[k]]), count=3)
    >>> both = merged([one, [*idle(2), *one]])
    >>> [(each.times, len(each.source)) for each in both]
    [(2, 1), (1, 2), (2, 1)]
    >>> both[1].chunks(0).values.tolist()
    [2, 0]
    """
    starts = [list(accumulate((each.times for each in lane), initial=0)) for lane in lanes]
    found = []
    for begin, end in pairwise(sorted({number for each in starts for number in each})):
        active = []
        for lane, firsts in zip(lanes, starts, strict=True):
            place = bisect_right(firsts, begin) - 1
            if place < len(lane) and len(lane[place].source):
                active.append((lane[place], begin - firsts[place]))
        found.append(_together(active, end - begin) if active else idle(end - begin)[0])
    return found


def _together(active: list[tuple[Steps, int]], count: int) -> Steps:
    """Return steps of several lanes as one, from steps and the number that each lane is at."""

    def carried(number: int) -> Lists:
        parts = [each.chunks(done + number) for each, done in active]
        lengths = np.concatenate([part.lengths for part in parts])
        offsets = np.append(0, np.cumsum(lengths, dtype=np.int64))
        return Lists(offsets, np.concatenate([part.values for part in parts]))

    source, target, width, sums = (
        np.concatenate([each[place] for each, _ in active]) for place in range(4)
    )
    return Steps(source, target, width, sums, carried, count)


def blockwise(
    collective: str, num_ranks: int, found: list[Steps], *, parts: int = 1, root: int = 0
) -> Outline:
    """Return the outline of a collective whose chunks are ``parts`` of each rank's block.

    Chunks as ``owners`` numbers them.
    """
    return Outline(collective, num_ranks, root, *owners(collective, num_ranks, parts, root), found)


def whole(
    collective: str, num_ranks: int, found: list[Steps], *, chunks: int = 1, root: int = 0
) -> Outline:
    """Return the outline of a collective on vectors that are cut into ``chunks`` parts.

    Broadcast, reduce, all-reduce, and barrier, whose chunks have no size.
    """
    size = np.full(chunks, 0.0 if collective == "barrier" else 1 / chunks)
    everybody = np.full(chunks, EVERYBODY, np.int32)
    at_root = np.full(chunks, root, np.int32)
    first = at_root if collective == "broadcast" else everybody
    final = at_root if collective == "reduce" else everybody
    return Outline(collective, num_ranks, root, size, first, final, found)


def sliced_outline(given: Outline, slices: int) -> Outline:
    """Return an outline whose chunks are cut into slices: one step per slice in place of each step.

    Slice i of chunk c is chunk c·slices + i.
    """

    def one(each: Steps) -> Steps:
        def carried(number: int) -> Lists:
            offsets, values = each.chunks(number // slices)
            return Lists(offsets, values * np.int32(slices) + np.int32(number % slices))

        return each._replace(carried=carried, times=each.times * slices)

    return given._replace(
        chunk_size=np.repeat(given.chunk_size / slices, slices),
        first_owner=np.repeat(given.first_owner, slices),
        final_owner=np.repeat(given.final_owner, slices),
        steps=list(given.steps) if slices == 1 else [one(each) for each in given.steps],
    )


def listed_program(given: Outline, algorithm: str) -> CollectiveProgram:
    """Return all messages of an outline."""
    parts: list[tuple[Steps, Lists, Ints]] = []
    step = 0
    for each in given.steps:
        for number in range(each.times):
            if len(each.source):
                numbers = np.full(len(each.source), step, np.int32)
                parts.append((each, each.chunks(number), numbers))
            step += 1
    empty = np.zeros(0, np.int32)
    lengths = np.concatenate([empty, *(carried.lengths for _, carried, _ in parts)])
    return CollectiveProgram(
        given.collective,
        algorithm,
        given.num_ranks,
        given.chunk_size,
        given.root,
        np.concatenate([empty, *(each.source for each, _, _ in parts)]),
        np.concatenate([empty, *(each.target for each, _, _ in parts)]),
        np.concatenate([empty, *(numbers for _, _, numbers in parts)]),
        Lists(
            np.append(0, np.cumsum(lengths, dtype=np.int64)),
            np.concatenate([empty, *(carried.values for _, carried, _ in parts)]),
        ),
        np.concatenate([np.zeros(0, np.bool_), *(each.sums for each, _, _ in parts)]),
        given.first_owner,
        given.final_owner,
    )
