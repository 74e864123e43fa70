"""Programs that repeat: rounds of the same rows, each waiting for its own round or the one before.

Rows are numbered round by round, and only whole rounds are added, to all parts of the program at
once. So a row's number, and with it every tie that a simulator decides by number, does not depend
on how the run is cut into parts.
"""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from netloom.errors import InputError
from netloom.workload.messages import COLUMNS, Messages, checked, concatenated
from netloom.workload.rounds_kernel import least_times

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    Draw: TypeAlias = "Callable[[NDArray[np.int64]], Mapping[str, NDArray[np.int32]]]"

MOST_ROWS = 2**25
"""Most rows of a program that repeats; a run that needs more is a mistake."""


class Rounds:
    """A program of rounds that never ends; a ``Source``.

    Parameters
    ----------
    one
        The rows of one round, numbered from ``len(one)`` on: numbers below that, in ``after``,
        are rows of the round before, which the first round does not wait for. A row that waits
        for none of its own round has to wait for one of the round before.
    draw
        The columns that change from round to round: given int64[k, 1], the numbers of k rounds,
        it returns arrays of k rows, one column a row of the round, by name. It has to return the
        same for a round whenever it is asked.

    Examples
    --------
    >>> from netloom.workload.messages import messages
    >>> ping_pong = messages(2, first=2, source=[0, 1], target=[1, 0], flits=8, after=[[1], [2]])
    >>> rounds = Rounds(ping_pong, lambda numbers: {})
    >>> table = rounds.extend(np.zeros(0, np.int64), until=20)
    >>> len(table), table.after.tolist()
    (8, [0, 1, 2, 3, 4, 5, 6])
    """

    def __init__(self, one: Messages, draw: Draw) -> None:
        assert one.first == len(one)
        self.num_nodes = one.num_nodes
        self.one = one
        self.num_rounds = 0
        self._draw = draw
        self._open = 0  # rounds before this one are complete
        self._least = np.zeros((0, len(one)), np.int64)  # cycles of each row of the others
        self._gate, self._gate_offsets = _gate(one)

    def extend(self, complete: NDArray[np.int64], until: int) -> Messages:
        """Return the next rounds, as many as could begin before the cycle ``until``.

        See ``messages.Source``. What can begin is worked out from the times so far, and from
        then on without contention: a message takes at least a cycle for each of its flits.

        Raises
        ------
        InputError
            If that takes more than ``MOST_ROWS`` rows.
        """
        rows = len(self.one)
        assert len(complete) == self.num_rounds * rows
        done = complete.reshape(-1, rows)
        unfinished = np.flatnonzero((done[self._open :] < 0).any(axis=1))
        finished = int(unfinished[0]) if len(unfinished) else self.num_rounds - self._open
        self._open += finished
        self._least = self._least[finished:]
        before = np.zeros(rows, np.int64)
        if self._open:
            before[:] = done[self._open - 1]
        open_ = np.ascontiguousarray(done[self._open :])
        now = int(max(before.max(), open_.max(initial=0)))
        last = self._last_times(open_, now, self._least, before)
        tables = [self._table(0)]
        while np.maximum.reduceat(last[self._gate], self._gate_offsets).min() < until:
            count = max(4, len(self._least) // 4)
            if (self.num_rounds + count) * rows > MOST_ROWS:
                found = f"{until}, before which a program of {rows} messages repeats"
                raise InputError("cycles", f"{found} {self.num_rounds} times", "fewer")
            tables.append(self._table(count))
            least = _least_cycles(tables[-1]).reshape(count, rows)
            last = self._last_times(np.full((count, rows), -1), now, least, last)
            self._least = np.concatenate([self._least, least])
            self.num_rounds += count
        return concatenated(tables)

    def of_rounds(self, times: NDArray[np.int64], rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return int64[num_rounds, len(rows)], the times of some rows of each round.

        Parameters
        ----------
        times
            int64[rows so far], such as ``complete`` of ``extend``.
        rows
            Rows of a round, from 0 on.
        """
        return times.reshape(-1, len(self.one))[:, rows]

    def _last_times(
        self,
        done: NDArray[np.int64],
        now: int,
        least: NDArray[np.int64],
        before: NDArray[np.int64],
    ) -> NDArray[np.int64]:
        """The least times of the last of these rounds, or of the one before if there is none."""
        times = np.empty_like(least)
        least_times(done, now, least, before, self.one.after_offsets, self.one.after, times)
        return times[-1] if len(times) else before

    def _table(self, count: int) -> Messages:
        """The next ``count`` rounds."""
        one, rows = self.one, len(self.one)
        numbers = np.arange(self.num_rounds, self.num_rounds + count)[:, np.newaxis]
        columns = {name: np.tile(getattr(one, name), count) for name in COLUMNS}
        for name, drawn in self._draw(numbers).items():
            assert drawn.shape == (count, rows)
            columns[name] = drawn.astype(COLUMNS[name]).ravel()
        after = (one.after + (numbers - 1) * rows).ravel()
        counts = np.tile(np.diff(one.after_offsets), count)
        offsets = np.concatenate([[0], np.cumsum(counts)])
        kept = np.concatenate([[0], np.cumsum(after >= 0)])  # the first round has none before it
        first = self.num_rounds * rows
        table = Messages(
            one.num_nodes, first, **columns, after_offsets=kept[offsets], after=after[after >= 0]
        )
        return checked(table)


def second_half(two: Messages) -> Messages:
    """Return one round, as ``Rounds`` wants it, from a table of two rounds that are alike.

    Examples
    --------
    >>> from netloom.workload.messages import messages
    >>> second_half(messages(2, source=0, target=1, flits=[8, 8], after=[[], [0]])).first
    1
    """
    rows = len(two) // 2
    assert two.first == 0
    assert len(two) == 2 * rows
    begin = two.after_offsets[rows]
    arrays = {f.name: getattr(two, f.name)[rows:] for f in fields(Messages) if f.name in COLUMNS}
    offsets = two.after_offsets[rows:] - begin
    return Messages(two.num_nodes, rows, **arrays, after_offsets=offsets, after=two.after[begin:])


def _least_cycles(table: Messages) -> NDArray[np.int64]:
    """Cycles (int64[n]) from a row's release to its completion, if nothing is in its way."""
    transit = np.where(table.source != table.target, table.flits, 0)
    return table.delay.astype(np.int64) + table.run + transit + table.receive


def _gate(one: Messages) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """What the first rows of a round wait for: rows of the round before, ragged."""
    rows = len(one)
    counts = np.diff(one.after_offsets)
    own = np.bincount(one.waits() - rows, weights=one.after >= rows, minlength=rows)
    first = own == 0
    assert np.all(counts[first] > 0), "a row waits for nothing, in any round"
    offsets = np.concatenate([[0], np.cumsum(counts[first])[:-1]])
    return one.after[np.repeat(first, counts)], offsets
