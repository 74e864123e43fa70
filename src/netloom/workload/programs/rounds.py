"""Programs in rounds: the same rows again and again, and what all hosts exchange at once.

In a program that repeats, each row waits for its own round or the one before. The parts that do not
depend on each other get their rounds independently, each only as many as it may need. One part may
run 100 rounds while others run 100,000. So row numbers depend on how a run is cut into steps,
unless all rows depend on each other. The same holds for ties that a simulator breaks by number.
What is drawn for a row depends only on its round.

A collective by rings, recursive doubling and halving, Bruck's or pairwise exchanges is a list of
rounds of all hosts, and one of a thousand steps is few different ones. A program says how often
each is repeated, and whoever runs it may see that repeats are equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from netloom.base.arrays import Bools, Floats, Ints, offsets_of, ranges
from netloom.base.errors import InputError
from netloom.workload.programs.messages import COLUMNS, Messages, checked

Columns: TypeAlias = "Mapping[str, Ints]"

Draw: TypeAlias = "Callable[[Ints, Ints], Columns]"


# -- programs that repeat --------------------------------------------------------------------------


MOST_ROWS = 2**25
"""Most rows of a program that repeats. A run that needs more is a mistake."""

ROWS_AT_ONCE = 2**20
"""Rows that are drawn at once, if that is at least a round."""

NEVER = np.iinfo(np.int64).max


class Rounds:
    """A program of rounds that never ends. A ``Source``.

    Parameters
    ----------
    one
        The rows of one round, numbered from ``len(one)`` on: numbers below that, in ``after``,
        are rows of the round before, which the first round does not wait for. A row that waits
        for none of its own round has to wait for one of the round before.
    draw
        Returns the columns that change from round to round, as arrays of n values by name. Its
        arguments are int64[n], the numbers of rounds, and int64[n], their rows from 0 on. Rows that
        depend on each other come together, a whole round at a time, in ascending order. It must
        always return the same values for a row of a round.

    Attributes
    ----------
    num_rows
        Rows so far.

    Examples
    --------
    >>> from netloom.workload.programs.messages import messages
    >>> ping_pong = messages(2, first=2, source=[0, 1], target=[1, 0], flits=8, after=[[1], [2]])
    >>> rounds = Rounds(ping_pong, lambda number, row: {})
    >>> table = rounds.extend(np.zeros(0, np.int64), until=20)
    >>> len(table), table.after.tolist()
    (4, [0, 1, 2])
    """

    def __init__(self, one: Messages, draw: Draw) -> None:
        rows = len(one)
        assert one.first == rows
        self.num_nodes = one.num_nodes
        self.one = one
        self.num_rows = 0
        self._waits = one.after_offsets, one.after
        self._draw = draw
        self._parts = _parts(one)
        self._made = np.zeros(len(self._parts.offsets) - 1, np.int64)  # rounds of each part
        self._numbers = np.zeros((2, rows), np.int64)  # of the rows of its last two rounds
        self._room = np.zeros((2, 1024), np.int32)  # the row and the round of each number
        self._now = 0  # the latest cycle heard of
        self._before = np.zeros(rows, np.int64)  # when the last rounds that are complete were so
        self._open = np.zeros(0, np.int64)  # numbers of the rows after those rounds
        self._open_least = np.zeros(0, np.int64)  # cycles that they take at least

    @property
    def num_rounds(self) -> int:
        """Rounds so far of the part that has most."""
        return int(self._made.max())

    def extend(self, complete: Ints, until: int) -> Messages:
        """Return the next rounds of each part, those that could begin before the cycle ``until``.

        See ``messages.Source``. What can begin is worked out from the times so far, and from
        then on without contention: a message takes at least a cycle for each of its flits.

        Raises
        ------
        InputError
            If that takes more than ``MOST_ROWS`` rows.
        """
        from netloom.workload.kernels.programs import find_gates

        assert len(complete) == self.num_rows
        times = self._times_so_far(complete)
        gates = np.full(len(self._made), NEVER)  # the least cycle of each part's next round
        find_gates(self._made, self._parts.of_row, self._parts.opens, *self._waits, times, gates)
        part = np.flatnonzero(gates < until)
        blocks = [self._block(part[:0], 1)]
        rows, count = self.num_rows, 1
        while len(part):
            block = self._block(part, count)
            gate = np.where(self._parts.opens[block.row], self._released(block, times), NEVER)
            fits = np.minimum.reduceat(gate, block.begin) < until
            blocks.append(block.only(fits))
            rows += len(blocks[-1].row)
            if rows > MOST_ROWS:
                found = f"{until}, before which a program of {len(self.one)} messages repeats"
                raise InputError("cycles", f"{found} {self.num_rounds} times", "fewer")
            more = fits.reshape(len(part), count).sum(axis=1)
            self._made[part] += more
            part = part[more == count]
            at_once = ROWS_AT_ONCE // max(int(np.diff(self._parts.offsets)[part].sum()), 1)
            count = max(1, min(2 * count, at_once))
        return self._numbered(blocks)

    def of_rounds(self, times: Ints, rows: Ints, most: int | None = None) -> Ints:
        """Return int64[num_rounds, len(rows)], the times of some rows of each round.

        They are -1 where a round of that part of the program has not been made yet.

        ``times``: int64[rows so far], such as ``complete`` of ``extend``. ``rows``: of a
        round, from 0 on, each once. Rounds after the first ``most`` are left out.
        """
        count = self.num_rounds if most is None else min(most, self.num_rounds)
        found = np.full((count, len(rows)), -1, np.int64)
        row, number = self._room[:, : len(times)]
        column = self._columns(rows)[row]
        kept = (column >= 0) & (number < count)
        found[number[kept], column[kept]] = times[kept]
        return found

    def rounds_done(self, complete: Ints, rows: Ints) -> Ints:
        """Return int64[len(rows)], in how many rounds each of some rows is complete."""
        column = self._columns(rows)[self.row_of(np.flatnonzero(complete >= 0))]
        return np.bincount(column + 1, minlength=len(rows) + 1)[1:]

    def row_of(self, numbers: ArrayLike) -> Ints:
        """Return which row of its round each row number is."""
        return self._room[0, : self.num_rows][np.asarray(numbers, np.int64)]

    def _columns(self, rows: Ints) -> Ints:
        """The place of each row of a round among ``rows``, -1 if it is none of them."""
        column = np.full(len(self.one), -1)
        column[rows] = np.arange(len(rows))
        return column

    def _times_so_far(self, complete: Ints) -> Ints:
        """When the rows of the last two rounds are complete, or can be. See ``least_times``."""
        from netloom.workload.kernels.programs import least_times

        done = complete[self._open]
        row, number = (each[self._open] for each in self._room)
        self._now = max(self._now, int(done.max(initial=0)))
        # of each part, the round from which on they are not complete
        part, first_open, waits = self._parts.of_row[row], self._made.copy(), done < 0
        np.minimum.at(first_open, part[waits], number[waits])
        behind = first_open[part] - number
        self._before[row[behind == 1]] = done[behind == 1]
        is_open = behind <= 0
        self._open, self._open_least = self._open[is_open], self._open_least[is_open]
        times = np.stack([self._before, self._before])
        released = np.zeros(len(self._open), np.int64)
        given = done[is_open], self._open_least, row[is_open], number[is_open]
        least_times(self._now, *given, *self._waits, times, released)
        return times

    def _block(self, part: Ints, count: int) -> _Block:
        """The next ``count`` rounds of some parts, one part after the other."""
        of = np.repeat(part, count)
        begin, size = self._parts.offsets[of], np.diff(self._parts.offsets)[of]
        row = self._parts.rows[ranges(begin, size)]
        number = np.repeat(self._made[of] + np.tile(np.arange(count), len(part)), size)
        drawn = {
            name: values.astype(COLUMNS[name], copy=False)
            for name, values in self._draw(number, row).items()
        }
        assert all(values.shape == row.shape for values in drawn.values())

        def column(name: str) -> Ints:
            return drawn[name] if name in drawn else getattr(self.one, name)[row]

        transit = np.where(column("source") != column("target"), column("flits"), 0)
        least = column("delay").astype(np.int64) + column("run") + transit + column("receive")
        return _Block(row, number, least, np.cumsum(size) - size, drawn)

    def _released(self, block: _Block, times: Ints) -> Ints:
        """The first cycle in which each row can be released. ``times`` are gone on with."""
        from netloom.workload.kernels.programs import least_times

        # as in ``_room``: one kernel for both
        row, number = block.row.astype(np.int32), block.number.astype(np.int32)
        released, done = np.zeros(len(row), np.int64), np.full(len(row), -1)
        least_times(self._now, done, block.least, row, number, *self._waits, times, released)
        return released

    def _numbered(self, blocks: list[_Block]) -> Messages:
        """The rows of some blocks as a table, round by round."""
        from netloom.workload.kernels.programs import number_waits

        one, first = self.one, self.num_rows
        row, number, least = (
            np.concatenate([getattr(block, name) for block in blocks])
            for name in ("row", "number", "least")
        )
        order = np.argsort(number * len(one) + row)
        row, number = row[order], number[order]
        self.num_rows += len(row)
        if self.num_rows > self._room.shape[1]:
            room = np.zeros((2, max(self.num_rows, 2 * self._room.shape[1])), np.int32)
            room[:, :first] = self._room[:, :first]
            self._room = room
        self._room[:, first : self.num_rows] = row, number
        self._open = np.concatenate([self._open, np.arange(first, self.num_rows)])
        self._open_least = np.concatenate([self._open_least, least[order]])
        columns = {name: getattr(one, name)[row] for name in COLUMNS}
        for name in blocks[0].drawn:
            columns[name] = np.concatenate([block.drawn[name] for block in blocks])[order]
        offsets = np.zeros(len(row) + 1, np.int64)
        after = np.zeros(int(np.diff(one.after_offsets)[row].sum()), np.int64)
        number_waits(first, row, number, *self._waits, self._numbers, offsets, after)
        after = after[: offsets[-1]]
        return checked(
            Messages(one.num_nodes, first, **columns, after_offsets=offsets, after=after)
        )


class _Parts(NamedTuple):
    """The parts of a round that do not depend on each other, in any round.

    ``of_row``: int32[rows], the part of each row. ``offsets``, ``rows``: the rows of each, ragged
    and ascending. ``opens``: bool[rows], whether a row waits for no other of its own round.
    """

    of_row: Ints
    offsets: Ints
    rows: Ints
    opens: Bools


class _Block(NamedTuple):
    """Rounds of some parts: int64[n] each, and the columns that are drawn.

    ``row`` of its round. ``number`` of that; ``least`` cycles that it takes; ``begin``: where each
    round begins.
    """

    row: Ints
    number: Ints
    least: Ints
    begin: Ints
    drawn: Columns

    def only(self, kept: Bools) -> _Block:
        """Some of the rounds."""
        size = np.diff(self.begin, append=len(self.row))
        rows = np.repeat(kept, size)
        drawn = {name: values[rows] for name, values in self.drawn.items()}
        row, number, least = self.row[rows], self.number[rows], self.least[rows]
        return _Block(row, number, least, np.cumsum(size[kept]) - size[kept], drawn)


def _parts(one: Messages) -> _Parts:
    """The connected components of what rows wait for."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(one)
    waiting = one.waits() - count
    ends = (waiting, one.after % count)
    waits = coo_array((np.ones(len(waiting), np.int8), ends), shape=(count, count))
    parts, of_row = connected_components(waits, directed=False)
    size = np.bincount(of_row, minlength=parts)
    opens = np.bincount(waiting, weights=one.after >= count, minlength=count) == 0
    assert np.all(np.diff(one.after_offsets)[opens] > 0), "a row waits for nothing, in any round"
    offsets, rows = offsets_of(size), np.argsort(of_row, kind="stable")
    return _Parts(of_row, offsets, rows, opens)


# -- rounds of all hosts ---------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Round:
    """Messages that are sent in one round, and how often the round is repeated.

    Attributes
    ----------
    source, target
        int32[n], hosts. A message to its own host arrives at once.
    bytes
        float64[n], the size of each. One of 0 is not sent, and arrives at once.
    count
        How many rounds of this kind follow each other.
    pieces
        Into how many pieces each message is cut, each of which its source begins.
    sums
        Whether targets add what they receive.
    """

    source: Ints
    target: Ints
    bytes: Floats
    count: int = 1
    pieces: Ints | int = 1
    sums: Bools | bool = False

    def __len__(self) -> int:
        return len(self.source)

    @property
    def moving(self) -> Bools:
        """Which messages use the network: bool[n]."""
        return np.asarray((self.bytes > 0) & (self.source != self.target))


@dataclass(frozen=True, eq=False)
class RoundProgram:
    """Rounds, one after the other.

    A host begins its messages of a round once all those of earlier rounds that it sent or received
    are complete, whatever other hosts do. A host that takes no part in a round does not wait for
    it.

    Attributes
    ----------
    num_hosts
        Hosts of the network. Messages name them by number.
    rounds
        The rounds. Any sequence: one that makes its rounds when they are asked for needs no memory
        for them, but is asked more than once.
    """

    num_hosts: int
    rounds: Sequence[Round]

    @property
    def num_rounds(self) -> int:
        """How many rounds there are, repeats included."""
        return sum(each.count for each in self)

    @property
    def num_messages(self) -> int:
        """How many messages there are, repeats included."""
        return sum(each.count * len(each) for each in self)

    def __iter__(self) -> Iterator[Round]:
        return iter(self.rounds)

    def __repr__(self) -> str:
        return f"<{self.num_rounds} rounds, {self.num_messages} messages>"


def exchange(source: ArrayLike, target: ArrayLike, size: ArrayLike, count: int = 1) -> Round:
    """Return a round of messages of ``size`` bytes each, repeated ``count`` times.

    Examples
    --------
    A ring all-reduce of 1 MB on 4 hosts is six rounds, all alike.

    >>> hosts = np.arange(4)
    >>> ring = exchange(hosts, (hosts + 1) % 4, 1e6 / 4, count=6)
    >>> RoundProgram(4, [ring])
    <6 rounds, 24 messages>
    """
    ends = np.atleast_1d(np.asarray(source, np.int32)), np.atleast_1d(np.asarray(target, np.int32))
    return Round(*ends, np.array(np.broadcast_to(size, ends[0].shape), np.float64), count)


def as_messages(
    program: RoundProgram, *, overhead: float = 0.0, adding: tuple[float, float] = (0.0, 0.0)
) -> Messages:
    """Return all rounds as a table of messages, round by round, in float64 bytes.

    A host waits for the rows of the last round in which it sent, and of all since: what was before,
    that round waited for itself. ``overhead`` is the time that the processor of each end takes for
    a message that uses the network, at its source for each piece. ``adding`` is the time, and the
    time per byte, that a target adds, before the message counts as received.

    Examples
    --------
    >>> twice = exchange([0, 1], [1, 0], 8, count=2)
    >>> as_messages(RoundProgram(2, [twice])).after.tolist()
    [0, 1, 1, 0]
    """
    rounds = [each for each in program for _ in range(each.count)] or [exchange([], [], 0)]
    host, row = np.zeros(0, np.int32), np.zeros(0, np.int64)  # which waits for which so far
    counts, after, first = list[Ints](), list[Ints](), 0
    for one in rounds:
        held = np.bincount(host, minlength=program.num_hosts)
        begin = np.cumsum(held) - held
        counts.append(held[one.source])
        rows = row[np.argsort(host, kind="stable")]
        after.append(rows[ranges(begin[one.source], counts[-1])])
        sends = np.zeros(program.num_hosts, np.bool_)
        sends[one.source] = True
        kept, other = ~sends[host], one.source != one.target
        number = first + np.arange(len(one))
        host = np.concatenate([host[kept], one.source, one.target[other]])
        row = np.concatenate([row[kept], number, number[other]])
        first += len(one)
    work = np.concatenate([each.moving for each in rounds]) * overhead
    begun = np.concatenate([each.moving * each.pieces for each in rounds]) * overhead
    added = np.concatenate([
        each.moving * each.sums * (adding[0] + adding[1] * each.bytes) for each in rounds
    ])  # fmt: skip
    columns: dict[str, Any] = dict.fromkeys(("start", "delay", "hold"), np.zeros(len(work)))
    columns |= {"run": begun, "receive": work + added}
    columns["context"] = np.full(len(work), -1, np.int32)
    for name, of_round in (("source", "source"), ("target", "target"), ("flits", "bytes")):
        columns[name] = np.concatenate([getattr(each, of_round) for each in rounds])
    columns["after_offsets"] = offsets_of(np.concatenate(counts))
    return checked(Messages(program.num_hosts, 0, **columns, after=np.concatenate(after)))
