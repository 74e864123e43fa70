"""What a collective sends: waits, sizes, traces, GOAL.

What each message of a collective waits for: the messages that brought what it carries.

Collectives of a size, in bytes and seconds: as messages, as traces, and as rounds.

Messages and traces run on all engines. Rounds list alike steps once, for programs that are too long
to list.

Collectives written as GOAL schedules, which LogGOPSim and ``goal.read_timed_goal`` read.
"""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError, NotAMappingError
from netloom.base.textfiles import replacing
from netloom.workload.programs.messages import Lists
from netloom.workload.programs.rounds import Round, ranges, round_program
from netloom.workload.programs.traces import MOST_LENGTH, MOST_SECONDS, message_trace

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats, Ints
    from netloom.workload.programs.collectives.program import CollectiveProgram, Outline
    from netloom.workload.programs.rounds import RoundProgram
    from netloom.workload.programs.traces import Trace

    Pairs = tuple[Ints, Ints]


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
    found = [_brought(program)]
    if stepwise:
        found.append(_sent_before(program))
    count = np.int64(max(program.num_messages, 1))
    key = np.concatenate([waiter * count + waited for waiter, waited in found])
    key.sort()
    first = np.ones(len(key), np.bool_)
    np.not_equal(key[1:], key[:-1], out=first[1:])
    waiter, waited = np.divmod(key[first], count)
    per_row = np.bincount(waiter, minlength=program.num_messages)
    return Lists(np.append(0, np.cumsum(per_row, dtype=np.int64)), waited)


def _brought(program: CollectiveProgram) -> Pairs:
    """Return pairs of messages: one that carries a chunk, and one that brought it or added to it.

    In a step, ranks send before they get anything.
    """
    from netloom.workload.kernels.collectives import find_brought

    count, lengths = program.num_messages, program.chunks.lengths
    ends = np.concatenate([program.source, program.target]).astype(np.int64)
    when = np.concatenate([2 * program.step.astype(np.int64), 2 * program.step + 1])
    order = np.argsort(ends * (2 * program.num_steps) + when, kind="stable")
    events = np.where(order < count, order, ~(order - count))
    offsets = np.searchsorted(ends[order], np.arange(program.num_ranks + 1))
    row_of = np.repeat(np.arange(count, dtype=np.int32), lengths)
    nothing, latest = np.zeros(0, np.int64), np.zeros(program.num_chunks, np.int64)
    before = np.zeros(len(row_of), np.int64)

    def find(waiter: Ints, waited: Ints) -> int:
        owner, seen = np.full_like(latest, -1), np.full(count, -1, np.int64)
        return int(
            find_brought(
                events, offsets, *program.chunks, row_of, program.sums,
                latest, owner, before, seen, waiter, waited,
            )
        )  # fmt: skip

    pairs = find(nothing, nothing)
    found = np.zeros(pairs, np.int64), np.zeros(pairs, np.int64)
    find(*found)
    return found


def _sent_before(program: CollectiveProgram) -> Pairs:
    """Return pairs of messages of a source: one, and another of the last step before it."""
    key = program.source * np.int64(program.num_steps) + program.step
    order = np.argsort(key, kind="stable")
    _, begin, group = np.unique(key[order], return_index=True, return_inverse=True)
    size = np.diff(begin, append=len(key))
    source = program.source[order[begin]]
    follows = np.append(False, source[1:] == source[:-1]) if len(begin) else group > 0
    before = np.maximum(group - 1, 0)
    count = np.where(follows[group], size[before], 0)
    return np.repeat(order, count), order[ranges(begin[before], count)]


ROUNDING = 1e-12
"""Sizes that differ by such a part differ by rounding."""

LEAST_BYTES = 1.0
"""A message has at least so many bytes, even in a barrier."""


def trace_of(
    program: CollectiveProgram,
    size_bytes: float,
    *,
    overhead_seconds: float = 0.0,
    stepwise: bool = True,
) -> Trace:
    """Return a collective as a trace in bytes and seconds, whose tasks are ranks.

    A message waits for those that brought what it carries. ``Trace.in_cycles`` and ``Trace.placed``
    make of it what each engine runs.

    Parameters
    ----------
    program
        The collective.
    size_bytes
        Its size. See ``CollectiveProgram``.
    overhead_seconds
        Time of the processors of both ends for each message.
    stepwise
        Whether a rank sends only once all that it sent in its step before has arrived, as in the
        usual formulas. Otherwise as soon as it has what it sends.

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
    name, sizes = f"{program.collective}, {program.algorithm}", program.message_size
    return message_trace(
        name, program.num_ranks, map(str, range(program.num_messages)), program.source,
        program.target, sizes_in_bytes(sizes, size_bytes), waits(program, stepwise=stepwise),
        work=overhead_seconds,
    )  # fmt: skip


def rounds_of(
    outline: Outline,
    size_bytes: float,
    host_of_rank: ArrayLike,
    *,
    num_hosts: int | None = None,
    node_of_host: ArrayLike | None = None,
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

    Raises
    ------
    InputError
        If a size is none, or a rank has no host.

    Examples
    --------
    >>> from netloom.workload.programs.collectives.algorithms import outline
    >>> rounds_of(outline("all-reduce", "ring", 16384), 1e9, range(16384))
    <32766 rounds, 536838144 messages>
    """
    hosts = _hosts(outline.num_ranks, host_of_rank, num_hosts)
    unit = float(outline.chunk_size[0]) if len(outline.chunk_size) else 0.0
    rounds = []
    for each in outline.steps:
        if len(each.source):
            ends = hosts[each.source], hosts[each.target]
            sizes = sizes_in_bytes(each.width * np.float64(unit), size_bytes)
            if node_of_host is not None:
                source, target = (np.asarray(node_of_host)[end] for end in ends)
                sizes = np.where((source == target) & (ends[0] != ends[1]), 0.0, sizes)
            rounds.append(Round(*ends, sizes, each.times))
    count = int(hosts.max()) + 1 if num_hosts is None else num_hosts
    return round_program(count, rounds)


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


def _hosts(num_ranks: int, host_of_rank: ArrayLike, num_hosts: int | None) -> Ints:
    """Return the hosts of ranks, each of which has one."""
    given = np.asarray(host_of_rank)
    if given.shape != (num_ranks,):
        raise NotAMappingError("mapping", f"hosts for {given.size} ranks", f"{num_ranks}")
    most = int(given.max()) if num_hosts is None else num_hosts - 1
    if given.min() < 0 or given.max() > most:
        wrong = int(np.argmax((given < 0) | (given > most)))
        raise NotAMappingError("mapping", f"host {given[wrong]} for rank {wrong}", f"0 to {most}")
    return given.astype(np.int32)


def write_goal(program: CollectiveProgram, size_bytes: float, path: str | Path) -> None:
    r"""Write a collective as a schedule in GOAL's text format.

    A send requires the receives that brought what it carries. As a send of GOAL is complete before
    its message has arrived, ranks do not wait for what they sent: ``trace_of`` with
    ``stepwise=False`` is the same program. Message number m is ``sm`` and ``rm``, with tag m.

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
    with replacing(Path(path)) as new, new.open("w", encoding="ascii", newline="\n") as stream:
        stream.write(f"num_ranks {program.num_ranks}\n")
        for rank, lines in enumerate(_operations(program, sizes)):
            stream.write(f"rank {rank} {{\n" + "".join(lines) + "}\n")


def _operations(program: CollectiveProgram, sizes: list[int]) -> Iterator[list[str]]:
    """Yield the lines of each rank: receives and sends in order of messages."""
    offsets, waited = (each.tolist() for each in waits(program, stepwise=False))
    source, target = program.source.tolist(), program.target.tolist()
    ends = np.concatenate([program.source, program.target])
    order = np.lexsort((np.tile(np.arange(program.num_messages), 2), ends))
    begin = np.searchsorted(ends[order], np.arange(program.num_ranks + 1))
    for rank in range(program.num_ranks):
        lines = []
        for place in order[begin[rank] : begin[rank + 1]].tolist():
            number = place % program.num_messages
            size = sizes[number]
            if place >= program.num_messages:
                lines.append(f"r{number}: recv {size}b from {source[number]} tag {number}\n")
                continue
            lines.append(f"s{number}: send {size}b to {target[number]} tag {number}\n")
            brought = waited[offsets[number] : offsets[number + 1]]
            lines += [f"s{number} requires r{each}\n" for each in brought]
        yield lines
