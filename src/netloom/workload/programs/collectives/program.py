"""Collectives as messages of blocks: their steps, costs and sizes, and what they send.

A collective moves *chunks*, parts of its data that are never cut further. A program lists its
messages in steps, and which chunks each carries. Chunks say who has them at first and who must have
them in the end, so that a program can be executed on data and checked. Known algorithms and made
schedules have this one form.

A ring of a thousand ranks takes a thousand steps that differ only in their chunks. An *outline* has
one entry for all of them, whose chunks are computed on demand.

A program of some size becomes a trace, which runs on all engines. An outline becomes rounds, which
list alike steps once, for programs that are too long to list.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from heapq import heappush, heapreplace
from itertools import accumulate, pairwise
from math import ceil
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base import units
from netloom.base.arrays import Bools, Floats, Ints, ranges
from netloom.base.errors import InputError
from netloom.base.spec import real_number
from netloom.base.textfiles import replacing
from netloom.base.units import parse_bytes
from netloom.base.words import listed
from netloom.workload.programs.messages import Lists, cut
from netloom.workload.programs.rounds import Round, RoundProgram
from netloom.workload.programs.traces import MOST_LENGTH, MOST_SECONDS, Trace, message_trace

Carried: TypeAlias = "Callable[[int], Lists | Ints]"

# -- sizes as people write them --------------------------------------------------------------------


FACTOR = 4.0
"""Between the sizes of a range that says none."""

MOST_SIZES = 64
"""Sizes of one question: each is run by each algorithm."""

WANTED = "a size (64MB), several (1KB,1MB), or a range (1KB:1GB, by 4; 1KB:1GB:2, by 2)"


def parse_sizes(given: Any) -> tuple[float, ...]:
    """Return sizes in bytes, rising, none twice.

    Raises
    ------
    InputError
        If one is none or 0, a range falls or its factor is not above 1, or there are too many.

    Examples
    --------
    >>> parse_sizes("1KB:64KB"), parse_sizes("1MB,8"), parse_sizes("1:10:3")
    ((1000.0, 4000.0, 16000.0, 64000.0), (8.0, 1000000.0), (1.0, 3.0, 9.0, 10.0))
    """
    some = given.split(",") if isinstance(given, str) else given
    some = list(some) if isinstance(some, list | tuple) else [some]
    found = set()
    for each in some:
        for size in _sizes_of(each):
            found.add(size)
            if len(found) > MOST_SIZES:
                raise InputError("size", f"more than {MOST_SIZES} sizes", WANTED)
    if not found:
        raise InputError("size", "none", WANTED)
    return tuple(sorted(found))


def _sizes_of(given: Any) -> Iterator[float]:
    """Yield a size, or the sizes of a range: those by its factor, and its end."""
    parts = given.split(":") if isinstance(given, str) else [given]
    if len(parts) > 3:
        raise InputError("size", f"'{given}'", WANTED)
    size, end = (parse_bytes(parts[place], where="size") for place in (0, len(parts[:2]) - 1))
    if not (size and end):
        raise InputError("size", "0", WANTED)
    factor = real_number(parts[2], where="size") if len(parts) == 3 else FACTOR
    if size > end:
        raise InputError("size", f"'{given}', which falls", WANTED)
    if not factor > 1:
        raise InputError("size", f"'{given}', by {factor:g}", "a factor above 1")
    while size < end * (1 - 1e-9):
        yield size
        size *= factor
    yield end


def size_ranges(sizes: list[float], some: list[float]) -> str:
    """Return in words at which of all sizes something holds.

    Examples
    --------
    >>> size_ranges([1e3, 1e4, 1e5], [1e4, 1e5]), size_ranges([1e3, 1e4], [1e3])
    ('from 10 kB', 'at 1 kB')
    >>> size_ranges([1.0], [1.0])
    'at 1 B'
    >>> size_ranges([1.0, 2.0, 3.0, 4.0], [1.0, 3.0])
    'at 1 B and 3 B'
    """
    if len(some) == 1:
        return f"at {units.size(some[0])}"
    if some == sizes:
        return "at all sizes"
    first, last = sizes.index(some[0]), sizes.index(some[-1])
    if some != sizes[first : last + 1]:
        return f"at {listed([units.size(each) for each in some])}"
    if last == len(sizes) - 1:
        return f"from {units.size(some[0])}"
    if first == 0:
        return f"up to {units.size(some[-1])}"
    return f"from {units.size(some[0])} to {units.size(some[-1])}"


# -- programs and outlines -------------------------------------------------------------------------


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

    Examples
    --------
    >>> size, first, final = owners("all-gather", 4, 2)
    >>> first.tolist(), set(final.tolist()), float(size.sum())
    ([0, 0, 1, 1, 2, 2, 3, 3], {-1}, 1.0)
    """
    if collective == "barrier":
        return np.zeros(1), np.full(1, EVERYBODY, np.int32), np.full(1, EVERYBODY, np.int32)
    block = np.arange(num_ranks, dtype=np.int32).repeat(per_rank)
    every, at_root = np.full_like(block, EVERYBODY), np.full_like(block, root)
    first, final = block, every
    if collective == "all-to-all":
        first, final = block.repeat(num_ranks), np.tile(block, num_ranks)
    elif "reduce" in collective:
        first = every
    elif collective in ("broadcast", "scatter"):
        first = at_root
    if "scatter" in collective:
        final = block
    elif collective in ("gather", "reduce"):
        final = at_root
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
        def carried(number: int) -> Lists:
            return each.chunks(each.times - 1 - number)

        added = np.full(len(each.source), sums)
        return Steps(each.target, each.source, each.width, added, carried, each.times)

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
        return cut(np.concatenate([part.values for part in parts]), lengths)

    source, target, width, sums = (
        np.concatenate([each[place] for each, _ in active]) for place in range(4)
    )
    return Steps(source, target, width, sums, carried, count)


def outlined(
    collective: str,
    num_ranks: int,
    found: list[Steps],
    *,
    parts: int = 1,
    blocks: int | None = None,
    root: int = 0,
) -> Outline:
    """Return the outline of a collective whose chunks are ``parts`` of each block.

    There is a block of each rank, and chunks as ``owners`` numbers them. Vectors, which belong to
    no rank alone, may have another number of blocks.
    """
    chunks = owners(collective, blocks or num_ranks, parts, root)
    return Outline(collective, num_ranks, root, *chunks, found)


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
    every = [(each, number) for each in given.steps for number in range(each.times)]
    found = [each for each, _ in every]
    carried = [each.chunks(number) for each, number in every]
    messages = [len(each.source) for each in found]
    empty = np.zeros(0, np.int32)
    lengths = np.concatenate([empty, *(each.lengths for each in carried)])
    return CollectiveProgram(
        given.collective,
        algorithm,
        given.num_ranks,
        given.chunk_size,
        given.root,
        np.concatenate([empty, *(each.source for each in found)]),
        np.concatenate([empty, *(each.target for each in found)]),
        np.repeat(np.arange(len(every), dtype=np.int32), messages),
        cut(np.concatenate([empty, *(each.values for each in carried)]), lengths),
        np.concatenate([np.zeros(0, np.bool_), *(each.sums for each in found)]),
        given.first_owner,
        given.final_owner,
    )


# -- costs on any network --------------------------------------------------------------------------


WHOLE = ("broadcast", "reduce")
"""Collectives in which a rank sends or receives the size, whatever the number of ranks."""


def bus_factor(collective: str, num_ranks: int) -> float:
    """Return bus bandwidth / (size / time), as nccl-tests (``doc/PERFORMANCE.md``) define it.

    That is the bandwidth at which a rank's link is used, the same for any number of ranks.

    All-reduce: 2(P − 1)/P. Broadcast, reduce: 1. The others (P − 1)/P.

    Raises
    ------
    InputError
        If there is no such collective, or it moves no data.

    Examples
    --------
    >>> bus_factor("all-reduce", 8), bus_factor("all-to-all", 4), bus_factor("reduce", 4)
    (1.75, 0.75, 1.0)
    """
    if collective not in COLLECTIVES or collective == "barrier":
        wanted = ", ".join(each for each in COLLECTIVES if each != "barrier")
        raise InputError("collective", f"'{collective}'", wanted)
    if collective in WHOLE:
        return 1.0
    return (1 + (collective == "all-reduce")) * (num_ranks - 1) / num_ranks


def least_steps(num_places: int, ranks_each: int = 1) -> int:
    """Return ⌈log2 P⌉: steps until all hear of one, or one of all, if each sends to one per step.

    Ranks of one place hear of each other at once: with n ranks each, ⌈log(n + 1) P⌉ steps.

    Most collectives take at least that many steps, because data of every rank, or of a root,
    reaches all ranks. Gather, scatter and all-to-all do so only if messages are forwarded. A rank
    that sends several messages at once needs fewer steps: see ``least_seconds``.

    Examples
    --------
    >>> [least_steps(ranks) for ranks in (1, 2, 5, 8, 9)], least_steps(16, 8)
    ([0, 1, 3, 3, 4], 2)
    """
    steps, told = 0, 1
    while told < num_places:
        steps, told = steps + 1, told * (ranks_each + 1)
    return steps


def least_seconds(
    num_ranks: int, latency: float, overhead: float, gap: float, ranks_each: int = 1
) -> float:
    """Return the least time in which one rank is heard of by all, or hears of all: LogP's.

    Each rank that has heard sends to another every max(o, g), and a message takes o + L + o (Karp,
    Sahay, Santos & Schauser 1993). Nothing that all depend on can be faster on any network whose
    latencies are at least L.

    Parameters
    ----------
    num_ranks
        P.
    latency, overhead, gap
        L, o and g, in seconds: the latency of the shortest path between two ranks. The time of a
        processor for a message. The time between two messages of a rank.
    ranks_each
        Ranks that hear of each other at once, and all send. P then counts such places.

    Raises
    ------
    InputError
        If a time is below 0.

    Examples
    --------
    Without an overhead or gap a rank reaches all others at once.

    >>> least_seconds(8, 1e-6, 0, 0), least_seconds(8, 6, 2, 4)
    (1e-06, 24.0)
    """
    for name, value in (("latency", latency), ("overhead", overhead), ("gap", gap)):
        if not 0 <= value < np.inf:
            raise InputError(name, f"{value:g} seconds", "a time of at least 0")
    if num_ranks == 1:
        return 0.0
    between, whole = max(overhead, gap), 2 * overhead + latency
    if between == 0:
        return float(whole)
    # when the next message of each rank that has heard is heard
    heap, last = [whole] * ranks_each, 0.0
    for _ in range(num_ranks - 1):
        last = heap[0]
        heapreplace(heap, last + between)
        for _ in range(ranks_each):
            heappush(heap, last + whole)
    return float(last)


# -- traces, rounds and GOAL -----------------------------------------------------------------------


def waits(program: CollectiveProgram, *, stepwise: bool) -> Lists:
    """Return for each message the messages that it waits for, ascending, as offsets and numbers.

    It waits for the last message that brought one of its chunks to its source as it is, and for all
    that added to that chunk since.

    Parameters
    ----------
    stepwise
        Whether it waits also for all messages that its source sent in the last step in which it
        sent any.

    Examples
    --------
    >>> from netloom.workload.programs.collectives.algorithms import collective_program
    >>> chain = collective_program("broadcast", "chain", 3, chunks=2)
    >>> offsets, waited = waits(chain, stepwise=True)
    >>> list(zip(chain.step.tolist(), chain.source.tolist())), offsets.tolist(), waited.tolist()
    ([(0, 0), (1, 0), (1, 1), (2, 1)], [0, 0, 1, 2, 4], [0, 0, 1, 2])
    """
    from netloom.workload.kernels.programs import find_brought

    # those that brought a chunk to a rank, or added to it
    count, steps = program.num_messages, max(program.num_steps, 1)
    ends = np.concatenate([program.source, program.target]).astype(np.int64)
    when = np.concatenate([2 * program.step.astype(np.int64), 2 * program.step + 1])
    order = np.argsort(ends * (2 * steps) + when, kind="stable")
    events = np.where(order < count, order, ~(order - count))
    offsets = np.searchsorted(ends[order], np.arange(program.num_ranks + 1))
    given = program.chunks, program.sums, program.num_chunks
    waiter, waited = find_brought(events, offsets, *given)
    base = np.int64(max(count, 1))
    key = waiter * base + waited
    if stepwise and count:  # those of the same source in the last step before it
        turn = program.source * np.int64(steps) + program.step
        order = np.argsort(turn, kind="stable")
        _, begin, group = np.unique(turn[order], return_index=True, return_inverse=True)
        size, source = np.diff(begin, append=count), program.source[order[begin]]
        follows, before = np.append(False, source[1:] == source[:-1]), np.maximum(group - 1, 0)
        many = np.where(follows[group], size[before], 0)
        sent = np.repeat(order, many) * base + order[ranges(begin[before], many)]
        key = np.concatenate([key, sent])
    key.sort()  # np.unique, which counts by hashes, takes many times as long
    first = np.append(True, key[1:] != key[:-1])[: len(key)]
    waiter, waited = np.divmod(key[first], base)
    return cut(waited, np.bincount(waiter, minlength=count))


ROUNDING = 1e-12
"""Sizes that differ by such a part differ by rounding."""

LEAST_BYTES = 1.0
"""A message has at least so many bytes, even in a barrier."""


def trace_of(
    program: CollectiveProgram, size_bytes: float, *, overhead_seconds: float = 0.0
) -> Trace:
    """Return a collective as a trace in bytes and seconds, whose tasks are ranks.

    A message waits for those that brought what it carries, and until all that its rank sent in its
    step before has arrived. ``Trace.in_cycles`` and ``Trace.placed`` make of it what each engine
    runs.

    Parameters
    ----------
    program
        The collective.
    size_bytes
        Its size. See ``CollectiveProgram``.
    overhead_seconds
        Time of the processors of both ends for each message.

    Raises
    ------
    InputError
        If a size or time is none.

    Examples
    --------
    >>> from netloom.workload.programs.collectives.algorithms import collective_program
    >>> trace_of(collective_program("broadcast", "binomial", 8), 1e6)
    <broadcast, binomial: 8 tasks, 7 messages, 7 entries>
    """
    if not 0 <= overhead_seconds <= MOST_SECONDS:
        raise InputError("overhead", f"{overhead_seconds:g} seconds", f"0 to {MOST_SECONDS:g}")
    return message_trace(
        f"{program.collective}, {program.algorithm}",
        program.num_ranks,
        map(str, range(program.num_messages)),
        program.source,
        program.target,
        sizes_in_bytes(program.message_size, size_bytes),
        waits(program, stepwise=True),
        work=overhead_seconds,
    )


def rounds_of(
    outline: Outline,
    size_bytes: float,
    host_of_rank: ArrayLike,
    *,
    num_hosts: int | None = None,
    node_of_host: ArrayLike | None = None,
    by_blocks: bool = False,
) -> RoundProgram:
    """Return a collective as rounds: steps that are alike are one round with a count.

    ``neighbours``: a rank goes on when all that it sent and received before is complete. These are
    the steps of ``trace_of`` if each step carries what the one before brought. Ranks that share a
    host wait for each other.

    Parameters
    ----------
    outline, size_bytes
        The collective, and its size in bytes.
    host_of_rank
        int[num_ranks], the host of each rank. Several may share one.
    num_hosts
        Of the network. One more than the last host of a rank by default.
    node_of_host
        int[num_hosts], the node that owns each host. Messages inside a node then have no bytes, and
        arrive at once.
    by_blocks
        Whether each block of a message is a piece of its own.

    Raises
    ------
    InputError
        If the size is none.

    Examples
    --------
    >>> from netloom.workload.programs.collectives.algorithms import outline
    >>> rounds_of(outline("all-reduce", "ring", 16384), 1e9, range(16384))
    <32766 rounds, 536838144 messages>
    """
    hosts = np.asarray(host_of_rank).astype(np.int32)
    count = int(hosts.max()) + 1 if num_hosts is None else num_hosts
    unit = float(outline.chunk_size[0]) if len(outline.chunk_size) else 0.0
    rounds = []
    for each in outline.steps:
        if len(each.source):
            ends = hosts[each.source], hosts[each.target]
            sizes = sizes_in_bytes(each.width * np.float64(unit), size_bytes)
            if node_of_host is not None:
                source, target = (np.asarray(node_of_host)[end] for end in ends)
                sizes = np.where((source == target) & (ends[0] != ends[1]), 0.0, sizes)
            pieces = each.width if by_blocks else 1
            rounds.append(Round(*ends, sizes, each.times, pieces, each.sums))
    return RoundProgram(count, rounds)


def sizes_in_bytes(part: Floats, size_bytes: float) -> Floats:
    """Return the bytes of messages from their parts of a collective's size.

    What is whole but for rounding is whole, so that no engine adds a flit for it.

    Raises
    ------
    InputError
        If the size is none.
    """
    if not 0 <= size_bytes <= MOST_LENGTH:
        raise InputError("size", f"{size_bytes:g} bytes", f"0 to {MOST_LENGTH:g}")
    exact = part * size_bytes
    whole = np.rint(exact)
    found = np.where(np.abs(exact - whole) <= ROUNDING * whole, whole, exact)
    return np.maximum(found, LEAST_BYTES).astype(np.float64)


def write_goal(program: CollectiveProgram, size_bytes: float, path: str | Path) -> None:
    r"""Write a collective in GOAL's text format, for LogGOPSim and ``read_goal``.

    A send requires the receives that brought what it carries. As a send of GOAL is complete before
    its message has arrived, ranks do not wait for what they sent, as they do in ``trace_of``.
    Message number m is ``sm`` and ``rm``, with tag m.

    Parameters
    ----------
    program
        The collective.
    size_bytes
        Its size. See ``CollectiveProgram``. Messages have whole bytes, rounded up.
    path
        A text file. An existing one is replaced.

    Raises
    ------
    InputError
        If the size is none, or the file cannot be written.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from netloom.workload.programs.collectives.algorithms import collective_program
    >>> file = Path(mkdtemp()) / "chain.goal"
    >>> write_goal(collective_program("broadcast", "chain", 3), 64, file)
    >>> print(file.read_text(), end="")
    num_ranks 3
    rank 0 {
    s0: send 64b to 1 tag 0
    }
    rank 1 {
    r0: recv 64b from 0 tag 0
    s1: send 64b to 2 tag 1
    s1 requires r0
    }
    rank 2 {
    r1: recv 64b from 1 tag 1
    }
    """
    sizes = [ceil(size) for size in sizes_in_bytes(program.message_size, size_bytes).tolist()]
    brought = waits(program, stepwise=False)
    source, target = program.source.tolist(), program.target.tolist()
    ends = np.concatenate([program.source, program.target])
    order = np.lexsort((np.tile(np.arange(program.num_messages), 2), ends))
    begin = np.searchsorted(ends[order], np.arange(program.num_ranks + 1))
    with replacing(Path(path)) as new, new.open("w", encoding="ascii", newline="\n") as stream:
        stream.write(f"num_ranks {program.num_ranks}\n")
        for rank in range(program.num_ranks):  # receives and sends in order of messages
            stream.write(f"rank {rank} {{\n")
            for place in order[begin[rank] : begin[rank + 1]].tolist():
                number = place % program.num_messages
                size = sizes[number]
                if place >= program.num_messages:
                    stream.write(f"r{number}: recv {size}b from {source[number]} tag {number}\n")
                    continue
                stream.write(f"s{number}: send {size}b to {target[number]} tag {number}\n")
                for each in brought.of(number):
                    stream.write(f"s{number} requires r{each}\n")
            stream.write("}\n")
