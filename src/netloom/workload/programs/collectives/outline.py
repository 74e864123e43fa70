"""Collectives in outline: steps whose chunks are computed on demand, and operations on steps.

A ring of a thousand ranks takes a thousand steps that differ only in their chunks. An outline has
one entry for all of them, so that it stays short. A reduce-scatter is an all-gather backwards in
time, from target to source, with sums.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

import numpy as np

from netloom.workload.programs.collectives.program import EVERYBODY, CollectiveProgram, owners
from netloom.workload.programs.many_lists import Lists

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Bools, Floats, Ints

    Carried: TypeAlias = "Callable[[int], Lists | Ints]"


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
        return as_lists(self.carried(number))


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


def as_lists(given: Lists | Ints) -> Lists:
    """Return the rows of an array as lists. Lists as they are."""
    if isinstance(given, Lists):
        return given
    rows, width = given.shape
    return Lists(np.arange(rows + 1, dtype=np.int64) * width, given.astype(np.int32).ravel())


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


def sliced(given: Iterable[Steps], slices: int) -> list[Steps]:
    """Return steps for chunks cut into slices: one step per slice in place of each step.

    Slice i of chunk c is chunk c·slices + i.
    """

    def one(each: Steps) -> Steps:
        def carried(number: int) -> Lists:
            offsets, values = each.chunks(number // slices)
            return Lists(offsets, values * np.int32(slices) + np.int32(number % slices))

        return each._replace(carried=carried, times=each.times * slices)

    return list(given) if slices == 1 else [one(each) for each in given]


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
    """Return an outline in slices. See ``sliced``."""
    return given._replace(
        chunk_size=np.repeat(given.chunk_size / slices, slices),
        first_owner=np.repeat(given.first_owner, slices),
        final_owner=np.repeat(given.final_owner, slices),
        steps=sliced(given.steps, slices),
    )


def listed_program(given: Outline, algorithm: str) -> CollectiveProgram:
    """Return all messages of an outline."""
    parts: list[tuple[Ints, Ints, Bools]] = []
    carried: list[Lists] = []
    numbers: list[Ints] = []
    step = 0
    for each in given.steps:
        for number in range(each.times):
            if len(each.source):
                parts.append((each.source, each.target, each.sums))
                carried.append(each.chunks(number))
                numbers.append(np.full(len(each.source), step, np.int32))
            step += 1
    empty = np.zeros(0, np.int32)
    lengths = [part.lengths for part in carried]
    return CollectiveProgram(
        given.collective,
        algorithm,
        given.num_ranks,
        given.chunk_size,
        given.root,
        np.concatenate([empty, *(source for source, _, _ in parts)]),
        np.concatenate([empty, *(target for _, target, _ in parts)]),
        np.concatenate([empty, *numbers]),
        Lists(
            np.append(0, np.cumsum(np.concatenate([empty, *lengths]), dtype=np.int64)),
            np.concatenate([empty, *(part.values for part in carried)]),
        ),
        np.concatenate([np.zeros(0, np.bool_), *(sums for _, _, sums in parts)]),
        given.first_owner,
        given.final_owner,
    )
