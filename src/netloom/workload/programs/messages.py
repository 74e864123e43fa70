"""Messages that wait for each other: the one form that every program takes for a simulator.

Loops, broadcasts and traces are tables of messages, drawn in advance. A table also lists which
messages each one waits for. So a simulator needs no knowledge of programs and no randomness.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from netloom.base.arrays import Bools, Ints, offsets_of, owners_of, ranges


class Lists(NamedTuple):
    """Lists of numbers, one after the other: list i is ``values[offsets[i]:offsets[i + 1]]``.

    ``offsets``: int64[num_lists + 1]. ``values``: int64 or int32[offsets[-1]].
    """

    offsets: Ints
    values: NDArray[Any]

    @property
    def lengths(self) -> Ints:
        """Return int64[num_lists]."""
        return np.diff(self.offsets)

    def of(self, number: int) -> NDArray[Any]:
        """Return the list of this number."""
        return self.values[self.offsets[number] : self.offsets[number + 1]]

    def owners(self) -> Ints:
        """Return int64[len(values)], the list that each value is in."""
        return owners_of(self.lengths)

    def taken(self, order: Ints) -> Lists:
        """Return the lists of these numbers, in this order."""
        lengths = self.lengths[order]
        return cut(self.values[ranges(self.offsets[order], lengths)], lengths)


def cut(values: NDArray[Any], lengths: ArrayLike) -> Lists:
    """Return values as lists of these lengths, one after the other.

    Examples
    --------
    >>> cut(np.array([7, 8, 9]), [2, 0, 1]).of(0)
    array([7, 8])
    """
    return Lists(offsets_of(lengths), values)


def lists(rows: Iterable[Sequence[int]], dtype: DTypeLike = np.int64) -> Lists:
    """Return lists of numbers as one array.

    Examples
    --------
    >>> lists([[3], [], [1, 2]]).offsets
    array([0, 1, 1, 3])
    """
    kept = list(rows)
    lengths = [len(each) for each in kept]
    values = np.fromiter((value for each in kept for value in each), dtype, sum(lengths))
    return cut(values, lengths)


def grouped(keys: Ints, values: Ints, many: int) -> Lists:
    """Return the values of each key below ``many``, in the order in which they are given, int64.

    Examples
    --------
    >>> grouped(np.array([2, 0, 2]), np.array([7, 8, 9]), 3).of(2)
    array([7, 9])
    """
    ordered = values[np.argsort(keys, kind="stable")].astype(np.int64)
    return cut(ordered, np.bincount(keys, minlength=many))


COLUMNS = {
    "start": np.int64,
    "delay": np.int32,
    "run": np.int32,
    "source": np.int32,
    "target": np.int32,
    "flits": np.int32,
    "hold": np.int32,
    "receive": np.int32,
    "context": np.int32,
}
"""The columns of ``Messages``, one value a row, and their dtypes."""


@dataclass(frozen=True, eq=False)
class Messages:
    """A table of messages, and what each waits for. A row is a message or a computation.

    A row is released when all rows it waits for are complete. It is ready ``delay`` cycles later,
    but ``delay`` cycles after ``start`` at the earliest. Then the processor of its source takes it,
    first come first served, for ``run`` cycles, after which it is sent. The processor stays busy
    for ``hold`` cycles more. Once it has arrived, the processor of its target takes it for
    ``receive`` cycles, and it is complete. A row with ``run`` and ``hold`` 0 and no context needs
    no processor. It is sent when it is ready, even if the processor is busy. A row with ``receive``
    0 does not wait for its target's processor. In the terms of LogGP, ``run`` and ``receive`` are
    the overheads o, and ``hold`` is the gap g.

    For flows, which need no cycles, times may be float64 seconds, and lengths float64 bytes.
    """

    num_nodes: int  # nodes of the network
    first: int  # number of the first row: tables may be appended to each other
    start: NDArray[Any]  # int64[n], the earliest cycle; 0 for what only waits for others
    # delay, run, hold, receive: int32[n], cycles; see above.
    delay: NDArray[Any]
    run: NDArray[Any]
    # source, target: int32[n], nodes; a message to its own source arrives at once.
    source: Ints
    target: Ints
    flits: NDArray[Any]  # int32[n], length; 0 for a computation, which sends nothing
    hold: NDArray[Any]
    receive: NDArray[Any]
    # int32[n], the hardware context that the row belongs to: a processor that goes on with another
    # context than its last has to switch first, which it begins as soon as it is free. -1 where
    # contexts mean nothing.
    context: Ints
    # after_offsets, after: int64[n + 1] and int64[after_offsets[-1]]: row i waits for the rows
    # after[after_offsets[i]:after_offsets[i + 1]], numbered through all tables. Always lower
    # numbers than the row's own, so that no rows can wait for each other in a circle.
    after_offsets: Ints
    after: Ints

    def __len__(self) -> int:
        return len(self.source)

    @property
    def moving(self) -> Bools:
        """Which rows use the network: bool[len(self)]."""
        return np.asarray((self.flits > 0) & (self.source != self.target))

    def waits(self) -> Ints:
        """Return int64[after_offsets[-1]], the row that does the waiting of each of ``after``."""
        return self.first + owners_of(np.diff(self.after_offsets))


class Source(Protocol):
    """What makes a program's messages, as a simulation goes on.

    Tables of a program that never ends, such as a loop, are made in parts.
    """

    @property
    def num_nodes(self) -> int:
        """Nodes of the network."""

    def extend(self, complete: Ints, until: int) -> Messages:
        """Return rows such that nothing is missing before the cycle ``until``.

        ``complete``: int64[rows so far], the cycle in which each was complete; -1 where it
        is not yet. The simulation will run to the cycle ``until``, and not beyond.
        """


def messages(
    num_nodes: int,
    *,
    source: ArrayLike,
    target: ArrayLike,
    flits: ArrayLike,
    after: Lists | Sequence[Sequence[int]] | None = None,
    first: int = 0,
    **columns: Any,
) -> Messages:
    """Return a table of messages from lists, arrays or single values.

    ``source``, ``target`` and ``flits`` hold one value a row, or one for all. ``after`` lists
    for each row the rows that it waits for. None wait by default. ``first`` is the number of
    the first row. Any other column of ``Messages`` may be given: 0 by default, -1 for
    ``context``.

    Examples
    --------
    >>> there_and_back = messages(4, source=[0, 3], target=[3, 0], flits=8, after=[[], [0]])
    >>> len(there_and_back), there_and_back.after.tolist()
    (2, [0])
    """
    count = len(np.broadcast_arrays(np.atleast_1d(source), target, flits, *columns.values())[0])
    given = {"source": source, "target": target, "flits": flits, **columns}
    assert set(given) <= set(COLUMNS), f"no such column: {set(given) - set(COLUMNS)}"
    table = {
        name: np.array(np.broadcast_to(given.get(name, -(name == "context")), count), dtype)
        for name, dtype in COLUMNS.items()
    }
    rows = [()] * count if after is None else after
    offsets, waited = rows if isinstance(rows, Lists) else lists(rows)
    return checked(Messages(num_nodes, first, **table, after_offsets=offsets, after=waited))


def with_costs(table: Messages, *, overhead: float = 0.0, delay: float = 0.0) -> Messages:
    """Return the table with what each message that leaves its node costs besides.

    ``overhead``: time of the processors at both ends. ``delay``: time without its processor.

    Examples
    --------
    >>> table = messages(2, source=0, target=[1, 0], flits=8)
    >>> with_costs(table, overhead=1.5).run, with_costs(table, delay=1.5).delay
    (array([1.5, 0. ]), array([1.5, 0. ]))
    """
    work, later = (np.where(table.moving, each, 0.0) for each in (overhead, delay))
    return replace(
        table, run=table.run + work, receive=table.receive + work, delay=table.delay + later
    )


@dataclass(frozen=True, eq=False)
class Given:
    """The source of a program that is one table, given as it is."""

    messages: Messages

    @property
    def num_nodes(self) -> int:
        """Nodes of the network."""
        return self.messages.num_nodes

    def extend(self, complete: Ints, until: int) -> Messages:  # noqa: ARG002
        """Return the table at first, and nothing from then on."""
        if len(complete) == 0:
            return self.messages
        return messages(self.num_nodes, source=[], target=[], flits=[], first=len(complete))


def checked(table: Messages) -> Messages:
    """Return the table, sure that it is one: a row waits for earlier ones, nodes are nodes."""
    assert table.after_offsets[-1] == len(table.after)
    assert np.all(table.waits() > table.after), "a row waits for itself or a later one"
    for ends in (table.source, table.target):
        assert not len(ends) or (ends.min() >= 0 and ends.max() < table.num_nodes)
    assert all(np.all(getattr(table, name) >= -(name == "context")) for name in COLUMNS)
    return table
