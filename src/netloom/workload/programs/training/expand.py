"""Programs of ranks as traces: the messages of an algorithm in the place of each collective."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import check_size
from netloom.workload.programs.collectives.algorithms import (
    algorithms_of,
    collective_program,
    outline,
)
from netloom.workload.programs.collectives.makers import with_pair_sizes
from netloom.workload.programs.collectives.program import COLLECTIVES
from netloom.workload.programs.collectives.sent import LEAST_BYTES, sizes_in_bytes, waits
from netloom.workload.programs.messages import Lists, grouped
from netloom.workload.programs.traces import MOST_LENGTH, ordered_trace
from netloom.workload.programs.training.rank_programs import CALL, COMPUTE, RECEIVE, SEND

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from netloom.base.arrays import Floats, Ints
    from netloom.workload.programs.collectives.program import CollectiveProgram
    from netloom.workload.programs.traces import Trace
    from netloom.workload.programs.training.rank_programs import Call, RankProgram

    Where = Callable[[int], str]

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


class _Expanded(NamedTuple):
    """A collective by an algorithm, and what of it each row and each end awaits."""

    program: CollectiveProgram
    waits: Lists  # for each message the messages that it awaits
    ends: Lists  # for each rank the messages after which it is done


def _expanded(call: Call, algorithm: str) -> _Expanded:
    num_ranks = len(call.ranks)
    program = collective_program(call.collective, algorithm, num_ranks, root=call.root)
    if call.pair_bytes is not None:
        program, _ = with_pair_sizes(program, call.pair_bytes)
    awaited = waits(program, stepwise=True)
    waiter, after = awaited.owners(), awaited.values
    passed_on = np.zeros(program.num_messages, np.bool_)
    passed_on[after[program.source[waiter] == program.target[after]]] = True
    last = np.full(num_ranks, -1)
    np.maximum.at(last, program.source, program.step)
    sent = np.flatnonzero(program.step == last[program.source])
    got = np.flatnonzero(~passed_on)
    rank = np.concatenate([program.source[sent], program.target[got]])
    ends = grouped(rank, np.concatenate([sent, got]), num_ranks)
    return _Expanded(program, awaited, ends)


def _by_template(
    program: RankProgram, algorithms: Mapping[str, str]
) -> Iterator[tuple[_Expanded, Ints]]:
    """Yield every different collective of several ranks, and the calls that are of it.

    Raises
    ------
    InputError
        If there are more than ``MOST_MESSAGES`` messages, or an algorithm does not fit.
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
    for (collective, *_), calls in alike.items():
        found_here = _expanded(program.calls[calls[0]], algorithms[collective])
        yield found_here, np.array(calls, np.int64)


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
    table = _Table(program)
    for found, numbers in _by_template(program, algorithms):
        table.expand(found, numbers)
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

    def expand(self, found: _Expanded, numbers: Ints) -> None:
        """Add the messages of calls that are alike."""
        program, calls = self.program, [self.program.calls[each] for each in numbers.tolist()]
        one = found.program
        ranks = np.array([call.ranks for call in calls], np.int32)
        first = self.count + np.arange(len(calls))[:, None] * one.num_messages
        rows = first + np.arange(one.num_messages)
        part = one.message_size
        # The operations of these calls, [calls, ranks].
        links = program.link[self.calling[self.by_call]]
        begin = np.searchsorted(links, numbers)
        taking = self.calling[self.by_call[begin[:, None] + np.arange(one.num_ranks)]]
        place = np.argsort(np.argsort(ranks, axis=1), axis=1)
        by_rank = np.take_along_axis(taking, np.argsort(program.rank[taking], axis=1), axis=1)
        taking = np.take_along_axis(by_rank, place, axis=1)
        assert (program.rank[taking] == ranks).all()
        self.pairs.append((rows.ravel(), taking[:, one.source].ravel()))
        owner = found.waits.owners()
        self.pairs.append(((first + owner).ravel(), (first + found.waits.values).ravel()))
        ends = self.done[taking[:, found.ends.owners()]]
        self.pairs.append((ends.ravel(), (first + found.ends.values).ravel()))
        self.sent.append(
            (
                ranks[:, one.source].ravel(),
                ranks[:, one.target].ravel(),
                np.concatenate([sizes_in_bytes(part, call.size_bytes) for call in calls]),
            )
        )
        for number in numbers.tolist():
            call = program.calls[number]
            name = ".".join(filter(None, (call.purpose, call.collective, str(number))))
            self.names += [f"{name}.{row}" for row in range(one.num_messages)]
        self.count += rows.size

    def trace(self, where: Where) -> Trace:
        """Return the trace."""
        program, ends = self.program, self.calling
        sends, computes = program.kind == SEND, program.kind == COMPUTE
        sent = [np.concatenate(each) for each in zip(*self.sent, strict=True)] or [
            np.zeros(0, np.int32), np.zeros(0, np.int32), np.zeros(0)
        ]  # fmt: skip
        tail = np.zeros(len(ends) + len(sent[0]))
        lengths = np.where(sends, np.maximum(program.bytes, LEAST_BYTES), 0.0)
        _check_lengths(program.name, lengths, sent[2])
        targets = np.concatenate([program.peer[sends], sent[1]]).astype(np.int64)
        has = np.concatenate([sends, np.zeros(len(ends), bool), np.ones(len(sent[0]), bool)])
        waiter = np.concatenate([pair[0] for pair in self.pairs])
        awaited = np.concatenate([pair[1] for pair in self.pairs])
        owners = np.concatenate([np.arange(len(program)), ends])
        nothing = np.zeros(self.count)
        return ordered_trace(
            program.name,
            program.num_ranks,
            [*program.ids, *(f"{program.ids[each]}.end" for each in ends.tolist()), *self.names],
            {
                "start": nothing, "hold": nothing, "receive": nothing,
                "run": np.append(np.where(computes, program.seconds, 0.0), tail),
                "delay": np.append(np.where(computes, 0.0, program.seconds), tail),
                "source": np.concatenate([program.rank, program.rank[ends], sent[0]]),
                "flits": np.concatenate([lengths, np.zeros(len(ends)), sent[2]]),
            },
            Lists(np.append(0, np.cumsum(has)).astype(np.int64), targets),
            grouped(waiter, awaited, self.count),
            lambda entry: where(int(owners[entry])) if entry < len(owners) else program.name,
            flit_bytes=1,
            unit="seconds",
        )  # fmt: skip


def _check_lengths(name: str, *lengths: Floats) -> None:
    for each in lengths:
        if len(each) and not each.max() <= MOST_LENGTH:  # NaN is neither
            raise InputError(name, f"a message of {each.max():g} bytes", f"at most {MOST_LENGTH:g}")
    check_size(sum(map(len, lengths)), where=name, what="messages")


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
    computes = (trace.run > 0).tolist()
    source, offsets = trace.source.tolist(), trace.after.offsets.tolist()
    after, before = trace.after.values.tolist(), [0] * len(trace)  # computations so far
    for entry, rank in enumerate(source):
        for other in after[offsets[entry] : offsets[entry + 1]]:
            if source[other] == rank and before[other] > before[entry]:
                before[entry] = before[other]
        before[entry] += computes[entry]
    longest = np.zeros(trace.num_tasks, np.int64)
    np.maximum.at(longest, trace.source, before)
    every = np.bincount(trace.source[trace.run > 0], minlength=trace.num_tasks)
    if (longest < every).any():
        rank = int(np.argmax(longest < every))
        found = f"rank {rank}, whose computations may overlap, on a host with others"
        raise InputError(trace.name, found, "a host for each rank")
    return replace(trace, run=np.zeros_like(trace.run), delay=trace.delay + trace.run)
