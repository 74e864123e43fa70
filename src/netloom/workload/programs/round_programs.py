"""Programs of rounds: what all hosts exchange at once, how often, and how rounds follow each other.

Rings, recursive doubling and halving, Bruck's and pairwise exchanges: a collective is a list of
rounds, and one of a thousand steps is few different ones. A program says how often each is
repeated, and whoever runs it may see that repeats are equal.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.workload.programs.messages import Messages, checked
from netloom.workload.programs.rounds import ranges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Bools, Floats, Ints

Order: TypeAlias = Literal["barrier", "neighbours"]

ORDERS = ("barrier", "neighbours")


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
    """

    source: Ints
    target: Ints
    bytes: Floats
    count: int = 1

    def __len__(self) -> int:
        return len(self.source)

    @property
    def moving(self) -> Bools:
        """Which messages use the network: bool[n]."""
        return np.asarray((self.bytes > 0) & (self.source != self.target))


@dataclass(frozen=True, eq=False)
class RoundProgram:
    """Rounds, one after the other.

    Attributes
    ----------
    num_hosts
        Hosts of the network. Messages name them by number.
    rounds
        The rounds. Any sequence: one that makes its rounds when they are asked for needs no memory
        for them, but is asked more than once.
    order
        When rounds begin. ``barrier``: each once all messages of the round before are complete.
        ``neighbours``: a host begins its messages of a round once all those of earlier rounds that
        it sent or received are complete, whatever other hosts do. A host that takes no part in a
        round does not wait for it.
    """

    num_hosts: int
    rounds: Sequence[Round]
    order: Order = "barrier"

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
        return f"<{self.num_rounds} rounds, {self.num_messages} messages, {self.order}>"


def exchange(source: ArrayLike, target: ArrayLike, size: ArrayLike, count: int = 1) -> Round:
    """Return a round of messages of ``size`` bytes each, repeated ``count`` times.

    Raises
    ------
    InputError
        If sizes are not finite numbers of at least 0, there is not one value per message, or the
        count is below 1.

    Examples
    --------
    A ring all-reduce of 1 MB on 4 hosts is six rounds, all alike.

    >>> hosts = np.arange(4)
    >>> ring = exchange(hosts, (hosts + 1) % 4, 1e6 / 4, count=6)
    >>> round_program(4, [ring])
    <6 rounds, 24 messages, barrier>
    """
    ends = np.atleast_1d(np.asarray(source, np.int32)), np.atleast_1d(np.asarray(target, np.int32))
    given = np.asarray(size, np.float64)
    if ends[0].ndim != 1 or ends[0].shape != ends[1].shape:
        raise InputError("rounds", f"{ends[0].size} sources, {ends[1].size} targets", "as many")
    if given.shape not in ((), ends[0].shape):
        raise InputError("rounds", f"{given.size} sizes", f"one, or {len(ends[0])}")
    if not (np.isfinite(given) & (given >= 0)).all():
        wrong = given[~(np.isfinite(given) & (given >= 0))][0]
        raise InputError("rounds", f"{wrong:g} bytes", "finite sizes of at least 0")
    if count < 1:
        raise InputError("rounds", f"a round that is repeated {count} times", "at least 1")
    return Round(*ends, np.array(np.broadcast_to(given, ends[0].shape)), int(count))


def round_program(
    num_hosts: int, rounds: Sequence[Round], *, order: Order = "barrier"
) -> RoundProgram:
    """Return a program of rounds between hosts 0 to ``num_hosts`` − 1.

    Raises
    ------
    InputError
        If a round names a host that does not exist, or the order is none.
    """
    if order not in ORDERS:
        raise InputError("order", f"'{order}'", " or ".join(ORDERS))
    program = RoundProgram(num_hosts, rounds, order)
    for number, each in enumerate(program):
        for ends in (each.source, each.target):
            if len(ends) and not (ends.min() >= 0 and ends.max() < num_hosts):
                wrong = ends.max() if ends.max() >= num_hosts else ends.min()
                raise InputError(f"round {number}", f"host {wrong}", f"0 to {num_hosts - 1}")
    return program


class Frontier:
    """The rows for which each host still has to wait before it sends in the next round.

    Those of the last round in which it sent, and of all since: what was before, that round waited
    for itself.
    """

    def __init__(self, num_hosts: int) -> None:
        self._host = np.zeros(0, np.int32)
        self._row = np.zeros(0, np.int64)
        self._num_hosts = num_hosts

    def follow(self, one: Round, first: int) -> tuple[Ints, Ints]:
        """Return the rows for which each message of the next round waits, as offsets and rows.

        ``first`` is the row of its first message.
        """
        held = np.bincount(self._host, minlength=self._num_hosts)
        begin = np.cumsum(held) - held
        rows = self._row[np.argsort(self._host, kind="stable")]
        count = held[one.source]
        after = rows[ranges(begin[one.source], count)]
        sends = np.zeros(self._num_hosts, np.bool_)
        sends[one.source] = True
        kept = ~sends[self._host]
        number = first + np.arange(len(one))
        other = one.source != one.target
        self._host = np.concatenate([self._host[kept], one.source, one.target[other]])
        self._row = np.concatenate([self._row[kept], number, number[other]])
        return np.append(0, np.cumsum(count)), after

    def forget(self, rows: int) -> None:
        """Forget the first rows, which are complete. The others count from there."""
        kept = self._row >= rows
        self._host, self._row = self._host[kept], self._row[kept] - rows


def as_messages(program: RoundProgram, *, overhead: float = 0.0) -> Messages:
    """Return all rounds as a table of messages, round by round, in float64 bytes.

    A barrier is a row of no bytes from host 0 to itself. It waits for one round, and the next round
    waits for it. ``overhead`` is the time that the processor of each end takes for a message that
    uses the network.

    Examples
    --------
    >>> twice = exchange([0, 1], [1, 0], 8, count=2)
    >>> as_messages(round_program(2, [twice], order="neighbours")).after.tolist()
    [0, 1, 1, 0]
    >>> as_messages(round_program(2, [twice])).after.tolist()
    [0, 1, 2, 2]
    """
    rounds = [each for each in program for _ in range(each.count)]
    frontier, gate = Frontier(program.num_hosts), exchange([0], [0], 0)
    parts: list[Round] = []
    waits: list[tuple[Ints, Ints]] = []
    first = 0
    for number, each in enumerate(rounds):
        if program.order == "neighbours":
            waits.append(frontier.follow(each, first))
        else:
            last = np.full(len(each), first - 1) if number else np.zeros(0, np.int64)
            waits.append((np.arange(len(each) + 1) * bool(number), last))
        parts.append(each)
        first += len(each)
        if program.order == "barrier" and number < len(rounds) - 1:
            before = np.arange(first - len(each) - bool(number and not len(each)), first)
            waits.append((np.array([0, len(before)]), before))
            parts.append(gate)
            first += 1
    return _table(program.num_hosts, parts, waits, overhead)


def _table(
    num_hosts: int,
    parts: list[Round],
    waits: list[tuple[Ints, Ints]],
    overhead: float,
) -> Messages:
    """Return rounds as a table, whose rows wait as given."""
    if not parts:
        parts, waits = [exchange([], [], 0)], [(np.zeros(1, np.int64), np.zeros(0, np.int64))]
    counts = np.concatenate([np.diff(offsets) for offsets, _ in waits])
    work = np.concatenate([each.moving for each in parts]) * overhead
    nothing = np.zeros(len(work))
    return checked(
        Messages(
            num_hosts,
            0,
            start=nothing,
            delay=nothing,
            run=work,
            source=np.concatenate([each.source for each in parts]),
            target=np.concatenate([each.target for each in parts]),
            flits=np.concatenate([each.bytes for each in parts]),
            hold=nothing,
            receive=work,
            context=np.full(len(work), -1, np.int32),
            after_offsets=np.append(0, np.cumsum(counts)).astype(np.int64),
            after=np.concatenate([after for _, after in waits]).astype(np.int64),
        )
    )
