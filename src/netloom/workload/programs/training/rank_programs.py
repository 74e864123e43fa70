"""Programs of ranks, and the traces that they are.

A program of ranks lists computations, sends, receives and calls of collectives, with what each
awaits. Records of training (Chakra, the PyTorch profiler) and ``llm:`` programs say which
collective a rank calls, not which messages that takes. A program of ranks keeps it so.
``as_trace`` puts the messages of an algorithm in the place of each call.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.workload.programs.collectives.algorithms import (
    algorithms_of,
    collective_program,
    outline,
    with_pair_sizes,
)
from netloom.workload.programs.collectives.program import (
    COLLECTIVES,
    LEAST_BYTES,
    sizes_in_bytes,
    waits,
)
from netloom.workload.programs.messages import Lists, cut, grouped, lists
from netloom.workload.programs.traces import MOST_LENGTH, Trace, ordered_trace

Unmatched: TypeAlias = "defaultdict[tuple[int, int, int], list[Ends]]"

Where = Callable[[int], str]


# -- programs of ranks -----------------------------------------------------------------------------


COMPUTE, DELAY, SEND, RECEIVE, CALL = range(5)
"""Kinds of operations. A delay is work elsewhere, which does not take the rank's processor."""


@dataclass(frozen=True, eq=False)
class Call:
    """One collective, called by all ranks of a group.

    Attributes
    ----------
    collective
        One of ``COLLECTIVES``.
    ranks
        The group, in its own order.
    size_bytes
        As ``CollectiveProgram`` means it: the vector of each rank for all-reduce, broadcast and
        reduce. The whole result for all-gather and gather. The whole input of a rank for the rest.
    root
        A place in the group.
    pair_bytes
        float64[P, P], of an all-to-all with unequal parts: what each place has for each.
    purpose
        What it is for, such as ``tensor`` parallelism. "" if nothing says so.
    """

    collective: str
    ranks: tuple[int, ...]
    size_bytes: float
    root: int = 0
    pair_bytes: Floats | None = None
    purpose: str = ""


@dataclass(frozen=True, eq=False)
class RankProgram:
    """What each rank does, operation by operation.

    Attributes
    ----------
    name
        The file, or what it was made from.
    num_ranks
        Number of ranks.
    ids
        A name of each operation, all different.
    kind, rank
        int8[n] and int32[n]: what it is, and whose.
    seconds
        float64[n], of computations and delays. An operation of another kind with seconds begins
        that much after what it awaits.
    peer, bytes
        int32[n] and float64[n]: of sends, to whom and how much. Of receives, from whom.
    link
        int64[n]: of a receive, the send that it gets. Of a call, its place in ``calls``. Else −1.
    after
        For each operation those of the same rank that it awaits.
    calls
        The collectives.
    """

    name: str
    num_ranks: int
    ids: Sequence[str]
    kind: NDArray[np.int8]
    rank: Ints
    seconds: Floats
    peer: Ints
    bytes: Floats
    link: Ints
    after: Lists
    calls: Sequence[Call]

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        counts = f"{len(self)} operations, {len(self.calls)} collectives"
        return f"<{self.name}: {self.num_ranks} ranks, {counts}>"


@dataclass
class Builder:
    """Operations as they are added, one by one.

    ``sends``, ``receives``: by source, target and tag, in order. ``pending``: by group, then by
    rank, the collectives in the order in which it calls them. ``program`` joins them.
    """

    num_ranks: int
    ids: list[str] = field(default_factory=list)
    rows: list[tuple[int, int, float, int, float, int]] = field(default_factory=list)
    after: list[list[int]] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    sends: Unmatched = field(default_factory=lambda: defaultdict(list))
    receives: Unmatched = field(default_factory=lambda: defaultdict(list))
    pending: defaultdict[Hashable, defaultdict[int, list[Pending]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def add(
        self,
        name: str,
        kind: int,
        rank: int,
        after: list[int],
        *,
        seconds: float = 0.0,
        peer: int = -1,
        size: float = 0.0,
        link: int = -1,
    ) -> int:
        """Add an operation, and return its number."""
        self.ids.append(name)
        self.rows.append((kind, rank, seconds, peer, size, link))
        self.after.append(after)
        return len(self.ids) - 1

    def seek(self, operation: int, tag: int, where: str) -> int:
        """Have a send or a receive seek its other end. A size of 0 is none that is said."""
        kind, rank, _, peer, size, _ = self.rows[operation]
        ends = self.sends if kind == SEND else self.receives
        key = (rank, peer, tag) if kind == SEND else (peer, rank, tag)
        ends[key].append(Ends(operation, size, where))
        return operation

    def link(self, operation: int, link: int) -> None:
        """Say later which send a receive gets, or which call an operation is of."""
        self.rows[operation] = (*self.rows[operation][:-1], link)

    def program(self, name: str) -> RankProgram:
        """Return the program.

        Raises
        ------
        InputError
            Naming what has no other end, or one of another size. Naming the call of a rank that
            another rank of its group does not make, or makes otherwise.
        """
        _match_sends(self)
        _match_calls(self)
        given = list(zip(*self.rows, strict=True)) or [()] * 6
        dtypes = (np.int8, np.int32, np.float64, np.int32, np.float64, np.int64)
        columns: list[Any] = [*map(np.array, given, dtypes), lists(self.after), self.calls]
        return RankProgram(name, self.num_ranks, self.ids, *columns)


class Pending(NamedTuple):
    """What a rank says of a collective that it calls, before the others are known."""

    operation: int
    collective: str
    ranks: tuple[int, ...]
    size_bytes: float
    root: int  # a place in the group
    where: str
    row: tuple[float, ...] = ()  # of an all-to-all, if parts are unequal: bytes for each place
    purpose: str = ""


def _match_calls(builder: Builder) -> None:
    """Join what the ranks of each group call: the first of each are one collective, and so on."""
    for by_rank in builder.pending.values():
        longest = max(by_rank.values(), key=len)
        for number, call in enumerate(longest):
            calls = []
            for rank in call.ranks:
                made = by_rank.get(rank, [])
                if number >= len(made):
                    found = f"{call.collective}, call {number + 1} of its group"
                    found += f", of which rank {rank} makes {len(made)}"
                    raise InputError(call.where, found, "as many calls by all ranks of a group")
                calls.append(made[number])
            _join(builder, calls)


def _join(builder: Builder, calls: list[Pending]) -> None:
    first = calls[0]
    sizes = {call.size_bytes for call in calls}
    unequal = first.collective == "all-to-all" and (len(sizes) > 1 or any(c.row for c in calls))
    for call in calls:
        if (call.collective, call.ranks, call.root) != (first.collective, first.ranks, first.root):
            found, wanted = (
                f"{one.collective}{f' from rank {one.ranks[one.root]}' if one.root else ''} "
                f"of {len(one.ranks)} ranks"
                for one in (call, first)
            )
            raise InputError(call.where, found, f"{wanted}, as in {first.where}")
        if call.size_bytes != first.size_bytes and not unequal:
            found = f"{call.collective} of {call.size_bytes:.15g} bytes"
            raise InputError(call.where, found, f"{first.size_bytes:.15g}, as in {first.where}")
        builder.link(call.operation, len(builder.calls))
    ranks = len(calls)
    rows = [call.row or (call.size_bytes / ranks,) * ranks for call in calls]
    pairs = np.array(rows, np.float64) if unequal else None
    joined = Call(first.collective, first.ranks, max(sizes), first.root, pairs, first.purpose)
    builder.calls.append(joined)


class Ends(NamedTuple):
    """A send or a receive that seeks its other end."""

    operation: int
    size_bytes: float  # 0 where it is not said
    where: str


def _match_sends(builder: Builder) -> None:
    """Join receives with sends of the same source, target and tag, in order."""
    for key in {**builder.sends, **builder.receives}:
        given, taken = builder.sends[key], builder.receives[key]
        shown = f"rank {key[0]} to rank {key[1]}, tag {key[2]}"
        if len(given) != len(taken):
            longer, other = (given, "receive") if len(given) > len(taken) else (taken, "send")
            extra = longer[min(len(given), len(taken))]
            raise InputError(extra.where, f"{shown}, without a {other}", f"a {other} for it")
        for send, receive in zip(given, taken, strict=True):
            if receive.size_bytes and receive.size_bytes != send.size_bytes:
                found = f"{receive.size_bytes:.15g} bytes from a send of {send.size_bytes:.15g}"
                raise InputError(receive.where, f"{shown}: {found}", f"as many, as in {send.where}")
            builder.link(receive.operation, send.operation)


def check_group(ranks: Sequence[int], num_ranks: int, where: str) -> tuple[int, ...]:
    """Return the ranks of a group, all different and all there.

    Raises
    ------
    InputError
        If they are not.

    Examples
    --------
    >>> check_group([0, 2], 4, "groups.json")
    (0, 2)
    """
    check_size(len(ranks), where=where, what="ranks")
    if not ranks or len(set(ranks)) < len(ranks):
        raise InputError(where, f"a group {list(ranks)[:8]}", "ranks, each once")
    if not 0 <= min(ranks) <= max(ranks) < num_ranks:
        wrong = min(ranks) if min(ranks) < 0 else max(ranks)
        raise InputError(where, f"rank {wrong}", f"0 to {num_ranks - 1}, each of which has a file")
    return tuple(ranks)


# -- traces ----------------------------------------------------------------------------------------


USUAL = {
    "all-reduce": "ring",
    "all-gather": "ring",
    "reduce-scatter": "ring",
    "broadcast": "binomial",
    "reduce": "binomial",
    "gather": "binomial",
    "scatter": "binomial",
    "all-to-all": "linear",
    "barrier": "dissemination",
}
"""The algorithm of each collective for which none is asked for."""

MOST_MESSAGES = 2**22
"""Most messages of all collectives of a program together."""


def parse_algorithms(text: str, *, where: str = "algorithm") -> dict[str, str]:
    """Return the algorithm of each collective: those asked for, the usual ones for the others.

    ``text`` is a name, for all collectives that have such an algorithm, or a list such as
    ``all-reduce=rabenseifner,all-to-all=pairwise``.

    Raises
    ------
    InputError
        If a collective or algorithm does not exist.

    Examples
    --------
    >>> parse_algorithms("all-to-all=pairwise")["all-to-all"], parse_algorithms("")["broadcast"]
    ('pairwise', 'binomial')
    """
    found = dict(USUAL)
    for word in filter(None, (word.strip() for word in text.split(","))):
        collective, given, name = (part.strip() for part in word.partition("="))
        if not given:
            fitting = [each for each in COLLECTIVES if collective in algorithms_of(each)]
            if not fitting:
                every = sorted({name for each in COLLECTIVES for name in algorithms_of(each)})
                raise InputError(where, f"'{collective}'", ", ".join(every))
            found |= dict.fromkeys(fitting, collective)
            continue
        if collective not in COLLECTIVES:
            raise InputError(where, f"collective '{collective}'", ", ".join(COLLECTIVES))
        if name not in algorithms_of(collective):
            wanted = f"for {collective}: {', '.join(algorithms_of(collective))}"
            raise InputError(where, f"'{name}'", wanted)
        found[collective] = name
    return found


def as_trace(program: RankProgram, algorithms: Mapping[str, str], where: Where) -> Trace:
    """Return the program as a trace in seconds and bytes, with messages in place of collectives.

    A rank begins its part of a collective once what it awaits is complete, whether the others have
    begun or not. It is done when all that it sends has arrived, and all that is for it. A send is
    complete once it has arrived, a receive at the same time.

    Parameters
    ----------
    program
        The program. Tasks of the trace are its ranks.
    algorithms
        By collective: see ``parse_algorithms``.
    where
        The place of an operation, as the user would look for it.

    Raises
    ------
    InputError
        If operations await each other in a circle, there are too many messages, or an algorithm
        does not fit.
    """
    alike: dict[tuple[str, int, int, bytes], list[int]] = {}
    for number, call in enumerate(program.calls):
        if len(call.ranks) > 1:
            pairs = b"" if call.pair_bytes is None else call.pair_bytes.tobytes()
            key = call.collective, len(call.ranks), call.root, pairs
            alike.setdefault(key, []).append(number)
    messages = 0
    for (collective, num_ranks, root, _), calls in alike.items():
        found = outline(collective, algorithms[collective], num_ranks, root=root)
        messages += found.num_messages * len(calls)
        if messages > MOST_MESSAGES:
            wanted = f"at most {MOST_MESSAGES}: fewer ranks, layers or micro-batches"
            raise InputError(program.name, f"over {messages - 1} messages of collectives", wanted)
    table = _Table(program)
    for (collective, *_), calls in alike.items():
        table.expand(algorithms[collective], np.array(calls, np.int64))
    return table.trace(where)


class _Table:
    """Entries of a trace: one of each operation, then the ends of calls, then messages."""

    def __init__(self, program: RankProgram) -> None:
        self.program = program
        self.calling = np.flatnonzero(program.kind == CALL)
        count, ends = len(program), len(self.calling)
        self.count = count + ends
        self.done = np.arange(count)  # the entry that is complete when an operation is
        self.done[self.calling] = count + np.arange(ends)
        awaited = self.done[program.after.values]
        self.pairs = [(program.after.owners(), awaited), (self.done[self.calling], self.calling)]
        gets = np.flatnonzero(program.kind == RECEIVE)
        self.pairs.append((gets, program.link[gets]))
        # The operation by which each rank takes part in each call.
        self.by_call = np.argsort(program.link[self.calling], kind="stable")
        self.sent: list[tuple[Ints, Ints, Floats]] = []
        self.names: list[str] = []

    def expand(self, algorithm: str, numbers: Ints) -> None:
        """Add the messages of calls that are alike."""
        program, calls = self.program, [self.program.calls[each] for each in numbers.tolist()]
        call = calls[0]
        one = collective_program(call.collective, algorithm, len(call.ranks), root=call.root)
        if call.pair_bytes is not None:
            one, _ = with_pair_sizes(one, call.pair_bytes)
        awaited = waits(one, stepwise=True)
        waiter, after = awaited.owners(), awaited.values
        # the messages after which each rank is done: its last, and those that it passes on to none
        passed_on = np.zeros(one.num_messages, np.bool_)
        passed_on[after[one.source[waiter] == one.target[after]]] = True
        last = np.full(one.num_ranks, -1)
        np.maximum.at(last, one.source, one.step)
        sent, got = np.flatnonzero(one.step == last[one.source]), np.flatnonzero(~passed_on)
        rank = np.concatenate([one.source[sent], one.target[got]])
        done = grouped(rank, np.concatenate([sent, got]), one.num_ranks)
        ranks = np.array([call.ranks for call in calls], np.int32)
        first = self.count + np.arange(len(calls))[:, None] * one.num_messages
        rows = first + np.arange(one.num_messages)
        # The operations of these calls, [calls, ranks].
        links = program.link[self.calling[self.by_call]]
        begin = np.searchsorted(links, numbers)
        taking = self.calling[self.by_call[begin[:, None] + np.arange(one.num_ranks)]]
        place = np.argsort(np.argsort(ranks, axis=1), axis=1)
        by_rank = np.take_along_axis(taking, np.argsort(program.rank[taking], axis=1), axis=1)
        taking = np.take_along_axis(by_rank, place, axis=1)
        assert (program.rank[taking] == ranks).all()
        self.pairs.append((rows.ravel(), taking[:, one.source].ravel()))
        self.pairs.append(((first + waiter).ravel(), (first + after).ravel()))
        ends = self.done[taking[:, done.owners()]]
        self.pairs.append((ends.ravel(), (first + done.values).ravel()))
        source, target = ranks[:, one.source].ravel(), ranks[:, one.target].ravel()
        sizes = [sizes_in_bytes(one.message_size, call.size_bytes) for call in calls]
        self.sent.append((source, target, np.concatenate(sizes)))
        for number in numbers.tolist():
            call = program.calls[number]
            name = ".".join(filter(None, (call.purpose, call.collective, str(number))))
            self.names += [f"{name}.{row}" for row in range(one.num_messages)]
        self.count += rows.size

    def trace(self, where: Where) -> Trace:
        """Return the trace."""
        program, ends = self.program, self.calling
        sends, computes = program.kind == SEND, program.kind == COMPUTE
        none = np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0)
        sent = [np.concatenate(each) for each in zip(none, *self.sent, strict=True)]
        tail = np.zeros(len(ends) + len(sent[0]))
        lengths = np.where(sends, np.maximum(program.bytes, LEAST_BYTES), 0.0)
        longest = max(lengths.max(initial=0.0), sent[2].max(initial=0.0))
        if not longest <= MOST_LENGTH:  # NaN is neither
            found = f"a message of {longest:g} bytes"
            raise InputError(program.name, found, f"at most {MOST_LENGTH:g}")
        check_size(len(lengths) + len(sent[2]), where=program.name, what="messages")
        targets = np.concatenate([program.peer[sends], sent[1]]).astype(np.int64)
        has = np.concatenate([sends, np.zeros(len(ends), bool), np.ones(len(sent[0]), bool)])
        owners = np.concatenate([np.arange(len(program)), ends])
        waiter, awaited = map(np.concatenate, zip(*self.pairs, strict=True))
        return ordered_trace(
            program.name,
            program.num_ranks,
            [*program.ids, *(f"{program.ids[each]}.end" for each in ends.tolist()), *self.names],
            {
                "run": np.append(np.where(computes, program.seconds, 0.0), tail),
                "delay": np.append(np.where(computes, 0.0, program.seconds), tail),
                "source": np.concatenate([program.rank, program.rank[ends], sent[0]]),
                "flits": np.concatenate([lengths, np.zeros(len(ends)), sent[2]]),
            },
            cut(targets, has),
            grouped(waiter, awaited, self.count),
            lambda entry: where(int(owners[entry])) if entry < len(owners) else program.name,
            flit_bytes=1,
            unit="seconds",
        )


def ranks_apart(trace: Trace) -> Trace:
    """Return the trace for ranks that share hosts: each computes on a processor of its own.

    A host has one processor, so that computations become delays. Those of a rank have to follow
    each other anyway.

    Raises
    ------
    InputError
        If a rank has computations that do not, so that its own processor decides their order.

    Examples
    --------
    >>> from netloom.workload.programs.training import rank_trace
    >>> trace = ranks_apart(rank_trace("llm:dp=2,layers=2,hidden=64,tflops=1"))
    >>> bool(trace.run.any()), bool(trace.delay.any())
    (False, True)
    """
    from netloom.workload.kernels.programs import remaining_chains

    owners, waited = trace.after.owners(), trace.after.values
    own = trace.source[owners] == trace.source[waited]
    inside = cut(waited[own], np.bincount(owners[own], minlength=len(trace)))
    chains, longest = np.zeros(len(trace), np.int64), np.zeros(trace.num_tasks, np.int64)
    remaining_chains((trace.run > 0).astype(np.int64), *inside, chains)
    np.maximum.at(longest, trace.source, chains)
    every = np.bincount(trace.source[trace.run > 0], minlength=trace.num_tasks)
    if (longest < every).any():
        rank = int(np.argmax(longest < every))
        found = f"rank {rank}, whose computations may overlap, on a host with others"
        raise InputError(trace.name, found, "a host for each rank")
    return replace(trace, run=np.zeros_like(trace.run), delay=trace.delay + trace.run)
