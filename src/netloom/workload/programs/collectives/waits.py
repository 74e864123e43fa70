"""What each message of a collective waits for: the messages that brought what it carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.workload.kernels.collectives import find_brought
from netloom.workload.programs.rounds import ranges

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.workload.programs.collectives.program import CollectiveProgram

    Pairs = tuple[Ints, Ints]


def waits(program: CollectiveProgram, *, stepwise: bool) -> tuple[Ints, ...]:
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
    return np.append(0, np.cumsum(per_row, dtype=np.int64)), waited


def _brought(program: CollectiveProgram) -> Pairs:
    """Return pairs of messages: one that carries a chunk, and one that brought it or added to it.

    In a step, ranks send before they get anything.
    """
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
