"""What each message of a collective waits for: the messages that brought what it carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.workload.programs.rounds import ranges

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.workload.programs.collectives.program import CollectiveProgram

    Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]


def waits(program: CollectiveProgram, *, stepwise: bool) -> tuple[NDArray[np.int64], ...]:
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

    Arrivals of a chunk at a rank follow each other, in order of messages, so that those that a
    message waits for are the last ones before its step.
    """
    chunks = program.chunks
    row = np.repeat(np.arange(program.num_messages), chunks.lengths)
    step, steps = program.step[row].astype(np.int64), np.int64(program.num_steps)
    at_target = program.target[row] * np.int64(program.num_chunks) + chunks.values
    order = np.argsort(at_target, kind="stable")
    place, arrival = at_target[order], row[order]
    afresh = ~program.sums[arrival]
    afresh[:1] = True
    afresh[1:] |= place[1:] != place[:-1]
    begin = np.maximum.accumulate(np.where(afresh, np.arange(len(place)), 0))
    wanted = program.source[row] * np.int64(program.num_chunks) + chunks.values
    end = np.searchsorted(place * steps + step[order], wanted * steps + step)
    last = np.maximum(end - 1, 0)
    there = (end > 0) & (place[last] == wanted) if len(place) else np.zeros(0, np.bool_)
    count = np.where(there, end - begin[last], 0) if len(place) else last
    return np.repeat(row, count), arrival[ranges(end - count, count)]


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
