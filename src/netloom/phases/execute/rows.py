"""The program that a phase is to a simulator: which connection waits for which, word by word."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.workload.programs.messages import COLUMNS, Messages, checked

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.models.messages import ConSetCosts
    from netloom.phases.plan.connections import Connections
    from netloom.phases.plan.plans import Plan

MOST_ROWS = 2**22
"""Most words of a phase that are sent one by one, where processors are slower than channels."""


@dataclass(frozen=True, eq=False)
class PhaseRows:
    """The rows of a phase."""

    members: NDArray[np.int64]  # int64[m], the connections of the phase, by number
    table: Messages  # what is sent; a connection's rows are in the order of its words
    owner: NDArray[np.int32]  # int32[rows], the place in ``members`` of the connection of each row
    by_owner: NDArray[np.int64]  # int64[rows], the rows by connection, in order


def phase_rows(
    plan: Plan,
    costs: ConSetCosts,
    start: NDArray[np.float64] | None,
    rank: NDArray[np.int32],
    phase: int,
) -> PhaseRows:
    """Return what a phase sends, and what each row of it waits for; see ``execute``.

    ``start``: float64[n], when the timetable has each connection start; None: all at once.
    ``rank``: int32[n], the ``ranks`` of all connections: those that start together go in their
    order.

    Raises
    ------
    InputError
        If there are too many words that are sent one by one.
    """
    members = np.flatnonzero(plan.phase == phase)
    given = plan.connections
    begin = np.zeros(len(members)) if start is None else start[members]
    sequence = members[np.lexsort((members, rank[members], begin))]
    waits = order_within(given, members)
    if start is not None:
        for met, earlier in meetings(given, sequence, both_ways=costs.both_ways).items():
            waits[met] |= earlier
    pace = costs.clocks_per_word / costs.channel_clocks_per_word
    words = given.words[sequence]
    single = pace == 1
    count = np.ones(len(sequence), np.int64) if single else np.maximum(words, 1)
    if count.sum() > MOST_ROWS:
        found = f"{count.sum()} words in phase {phase}, sent one by one"
        raise InputError("words", found, f"at most {MOST_ROWS}, to simulate it")
    connection, ends = np.repeat(sequence, count), np.cumsum(count)
    word = np.arange(len(connection)) - np.repeat(ends - count, count)
    last_row = dict(zip(sequence.tolist(), (ends - 1).tolist(), strict=True))
    after, offsets = _edges(sequence, count, waits, last_row)
    left = np.repeat(words, count)
    columns: dict[str, NDArray[Any]] = {
        name: np.zeros(len(connection), dtype) for name, dtype in COLUMNS.items()
    }
    columns["source"], columns["target"] = given.source[connection], given.target[connection]
    columns["context"][:] = -1
    columns["flits"][:] = left if single else np.minimum(left, 1)
    columns["delay"][:] = np.floor(word * pace) * (not single)
    taken = np.rint(left * pace) - np.floor(word * pace) - 1
    columns["receive"][:] = np.where((word == left - 1) & (not single), np.maximum(taken, 0), 0)
    table = Messages(given.num_nodes, 0, **columns, after_offsets=offsets, after=after)
    owner = np.searchsorted(members, connection).astype(np.int32)
    return PhaseRows(members, checked(table), owner, np.argsort(owner, kind="stable"))


def order_within(given: Connections, members: NDArray[np.int64]) -> dict[int, set[int]]:
    """Return, for each of some connections, those among them that its order has it wait for.

    Examples
    --------
    >>> from netloom.phases.plan.connections import connections
    >>> from netloom.workload import read
    >>> order = [((0, 1), (1, 2)), ((0, 1), (2, 3))]
    >>> given = connections(read("ring:4"), range(4), 4, order=order)
    >>> order_within(given, np.array([0, 3]))
    {0: set(), 3: {0}}
    """
    waits: dict[int, set[int]] = {connection: set() for connection in members.tolist()}
    inside = np.zeros(len(given), np.bool_)
    inside[members] = True
    both = inside[given.before] & inside[given.after]
    pairs = given.before[both].tolist(), given.after[both].tolist()
    for first, second in zip(*pairs, strict=True):
        waits[second].add(first)
    return waits


def meetings(
    given: Connections, sequence: NDArray[np.int64], *, both_ways: bool
) -> dict[int, set[int]]:
    """Return what each connection follows at its processors: the last send and the last receive.

    Parameters
    ----------
    given
        The connections.
    sequence
        Some of them, in the order in which they are to start.
    both_ways
        Whether a processor sends and receives at the same time; otherwise its sends and receives
        are one sequence.

    Examples
    --------
    >>> from netloom.phases.plan.connections import connections
    >>> from netloom.workload import read
    >>> given = connections(read("ring:4"), range(4), 4)  # 0 -> 1, 0 -> 3, 1 -> 0, 1 -> 2 ...
    >>> meetings(given, np.array([0, 1, 2]), both_ways=True)
    {0: set(), 1: {0}, 2: set()}
    >>> meetings(given, np.array([0, 1, 2]), both_ways=False)
    {0: set(), 1: {0}, 2: {0, 1}}
    """
    last: dict[tuple[int, bool], int] = {}
    found = {}
    for connection in sequence.tolist():
        ends = [
            (int(given.source[connection]), True),
            (int(given.target[connection]), not both_ways),
        ]
        found[connection] = {last[end] for end in ends if end in last}
        last.update(dict.fromkeys(ends, connection))
    return found


def _edges(
    sequence: NDArray[np.int64],
    count: NDArray[np.int64],
    waits: dict[int, set[int]],
    last_row: dict[int, int],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return ``after`` and its offsets: every row of a connection waits for the same others."""
    rows = [sorted(last_row[other] for other in waits[each]) for each in sequence.tolist()]
    degree = np.array([len(each) for each in rows], np.int64)
    flat = np.fromiter((row for each in rows for row in each), np.int64, int(degree.sum()))
    first = np.cumsum(degree) - degree
    row_degree = np.repeat(degree, count)
    offsets = np.zeros(len(row_degree) + 1, np.int64)
    np.cumsum(row_degree, out=offsets[1:])
    within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], row_degree)
    return flat[np.repeat(np.repeat(first, count), row_degree) + within], offsets
