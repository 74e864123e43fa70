"""Threads that run, issue a transaction, and go on when it is complete (Johnson 1992).

Runs are in steady state, measured by batches of equal length.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Floats, Ints
from netloom.base.errors import InputError
from netloom.base.figures import CYCLES, SHARE, Figures, figure, known, places, unseen
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import check_size
from netloom.contention.busiest import USED
from netloom.simulation.agenda import ProgramRun
from netloom.simulation.loops import KeptRows, kept_rows
from netloom.simulation.program_network import ProgramNetwork
from netloom.simulation.steady import interval_over_runs, run_to
from netloom.topology.measures import busy_shares
from netloom.workload.counter_random import Law, durations, uniforms
from netloom.workload.graphs.process_graph import ProcessGraph
from netloom.workload.programs.loops import senders
from netloom.workload.programs.messages import messages
from netloom.workload.programs.rounds import Rounds

NODE_RATE = "messages/node/cycle"

RUNNING, BEGINNING = 0, 2
"""Streams of chance. ``durations`` takes two."""

_Row: TypeAlias = tuple[int, int, int, int, int, list[int]]
"""Source, target, flits (of a run 0), delay, context, and the rows it waits for."""


@dataclass(frozen=True)
class Step:
    """One message of a transaction."""

    kind: str  # its name, such as ``REQ``; no two of a transaction have the same
    # ``thread``: the one whose transaction it is sends the message to its neighbour. ``neighbour``:
    # the other way round.
    sender: Literal["thread", "neighbour"]
    flits: int  # length
    after: str = ""  # the step that this one answers; empty: the transaction begins with it
    # From the completion of that step until this one is sent: what its sender does meanwhile keeps
    # no processor busy.
    delay_cycles: int = 0


@dataclass(frozen=True)
class Transaction:
    """A transaction: its thread goes on when all its steps are complete."""

    name: str  # such as ``read``
    steps: tuple[Step, ...]  # in an order in which each comes after the one that it answers
    # ``each``: a pass through the thread's loop has one transaction with each neighbour, one after
    # the other. ``all``: it has a single one, with all neighbours at the same time.
    partners: Literal["each", "all"] = "each"


@dataclass(frozen=True)
class Protocol:
    """What a thread does in one pass through its loop.

    Raises
    ------
    InputError
        If there is nothing to do, a step answers none that comes before it, or a number is out
        of range.

    Examples
    --------
    >>> Protocol("push", (Transaction("write", (Step("ACK", "neighbour", 8, after="DATA"),)),))
    Traceback (most recent call last):
        ...
    netloom.InputError: protocol push, write: found ACK after 'DATA'; expected a step that
    comes before it
    """

    name: str  # named in errors
    transactions: tuple[Transaction, ...]  # in order

    def __post_init__(self) -> None:
        if not self.transactions:
            raise InputError(f"protocol {self.name}", "no transactions", "at least one")
        for transaction in self.transactions:
            _check(transaction, f"protocol {self.name}, {transaction.name}")


def _check(transaction: Transaction, where: str) -> None:
    if not transaction.steps:
        raise InputError(where, "no steps", "at least one")
    if transaction.partners not in ("each", "all"):
        raise InputError(where, f"partners '{transaction.partners}'", "each or all")
    before: set[str] = set()
    for step in transaction.steps:
        if step.sender not in ("thread", "neighbour"):
            found = f"{step.kind} sent by '{step.sender}'"
            raise InputError(where, found, "thread or neighbour")
        if step.after and step.after not in before:
            found = f"{step.kind} after '{step.after}'"
            raise InputError(where, found, "a step that comes before it")
        if step.kind in before or not step.kind:
            raise InputError(where, f"two steps {step.kind}", "a name for each")
        if step.flits < 1 or step.delay_cycles < 0:
            found = f"{step.kind} of {step.flits} flits after {step.delay_cycles} cycles"
            raise InputError(where, found, "at least 1 flit, and no negative delay")
        before.add(step.kind)


def coherence(*, memory_cycles: int = 0) -> Protocol:
    """Return the cache-coherency traffic of Johnson's synthetic program on Alewife.

    A thread reads the state of each neighbour by a request to the neighbour's memory, which sends
    the line after ``memory_cycles``. Then it writes its own state. This invalidates the copies of
    all neighbours, and each of them acknowledges (Johnson 1992, section 3.2). With four neighbours,
    5 transactions take 16 messages. So g = 3.2, with B = 12 flits on average, as in the paper.
    Messages have 8 flits (a header of 8 bytes) or 24 (with a line of 16 bytes) on channels of 8
    bits. The paper does not print these sizes; they are derived from g and B.

    Examples
    --------
    >>> [transaction.name for transaction in coherence().transactions]
    ['read', 'write']
    """
    request = Step("REQ", "thread", 8)
    data = Step("DATA", "neighbour", 24, after="REQ", delay_cycles=memory_cycles)
    invalidate = Step("INV", "thread", 8)
    acknowledge = Step("ACK", "neighbour", 8, after="INV")
    read = Transaction("read", (request, data))
    return Protocol("coherence", (read, Transaction("write", (invalidate, acknowledge), "all")))


def request_reply(*, memory_cycles: int = 0) -> Protocol:
    """Return the simplest transactions: a request to a neighbour, and its reply, of 12 flits each.

    Examples
    --------
    >>> len(request_reply().transactions[0].steps)
    2
    """
    request = Step("REQ", "thread", 12)
    reply = Step("REPLY", "neighbour", 12, after="REQ", delay_cycles=memory_cycles)
    return Protocol("request-reply", (Transaction("request", (request, reply)),))


class Transactions(Rounds):
    """A program of threads on block-multithreaded processors. A ``Source``.

    Each thread runs for T_r cycles, during which no other thread of its node runs. Then it issues a
    transaction with its neighbours in the process graph. It can run again T_f cycles after the last
    message of the transaction is complete. Several instances of the program share the nodes, one in
    each hardware context. They share no data (Johnson 1992, section 3.2). A processor that goes
    from one context to another takes the cycles that the simulator was given as ``switch_cycles``,
    T_s.

    Parameters
    ----------
    graph
        Whom a task has its transactions with: the targets of its edges. A task without any has no
        thread: it only answers.
    node_of
        int[num_tasks], the node of each task, in every instance.
    contexts
        p, the instances of the program.
    run_cycles
        T_r, mean cycles that a thread runs between transactions.
    law
        The law of T_r: ``fixed``, ``uniform`` from 0 to twice the mean, or ``exponential``.
    fixed_cycles
        T_f, the part of a transaction's latency that is none of its messages'.
    protocol
        The messages of the transactions. ``coherence()`` by default.
    seed
        The same seed makes the same program. Each thread begins at a time of its own, drawn from
        0 to 2 (T_r + T_f), lest all do the same at the same time.
    group
        int32[num_nodes], alike for nodes whose messages to each other arrive at once, as
        ``Topology.local_group`` has them. By default all differ.

    Attributes
    ----------
    num_nodes_used
        Nodes that have threads.

    Raises
    ------
    InputError
        If a value is out of range, or no task has a neighbour.

    Examples
    --------
    >>> from netloom.workload.graphs.generators import torus
    >>> program = Transactions(torus(8, 8), range(64), 64, contexts=2, run_cycles=16)
    >>> len(program.extend(np.zeros(0, np.int64), until=1)) % (2 * 64 * 21)
    0
    """

    def __init__(
        self,
        graph: ProcessGraph,
        node_of: ArrayLike,
        num_nodes: int,
        *,
        contexts: int = 1,
        run_cycles: float,
        law: Law = "fixed",
        fixed_cycles: int = 0,
        protocol: Protocol | None = None,
        seed: int = DEFAULT_SEED,
        group: Ints | None = None,
    ) -> None:
        nodes, protocol = np.asarray(node_of, np.int32), protocol or coherence()
        tasks = senders(graph)
        self.run_cycles, self.num_nodes_used = run_cycles, len(np.unique(nodes[tasks]))
        degree = np.bincount(graph.source)[tasks]
        issued = {"each": degree, "all": np.ones_like(degree)}
        issues = sum(issued[each.partners] for each in protocol.transactions)
        runs = np.tile(issues, contexts)  # of each thread in a pass
        steps = sum(len(each.steps) for each in protocol.transactions)
        total = int(runs.sum()) + contexts * steps * int(degree.sum())
        check_size(total, where="contexts", what="messages of one pass")
        neighbours = np.split(nodes[graph.target], np.cumsum(degree)[:-1])
        ends = zip(nodes[tasks].tolist(), (each.tolist() for each in neighbours), strict=True)
        rows: list[_Row] = []
        for context, (own, others) in product(range(contexts), ends):
            waits = last = list[int]()  # the first run waits for the end of the pass before
            for transaction in protocol.transactions:
                groups = [others] if transaction.partners == "all" else [[each] for each in others]
                for partners in groups:
                    issue = len(rows)
                    rows.append((own, own, 0, fixed_cycles, context, waits))
                    waits = []
                    for partner in partners:
                        waits += _add_messages(rows, transaction, own, partner, issue, total)
            last.extend(row - total for row in waits)
        names = ("source", "target", "flits", "delay", "context", "after")
        columns: dict[str, Any] = dict(zip(names, zip(*rows, strict=True), strict=True))
        one = messages(num_nodes, first=total, **columns)
        if group is not None:
            one = replace(one, flits=np.where(group[one.source] == group[one.target], 0, one.flits))
        self._sent = np.flatnonzero((one.flits > 0) & (one.source != one.target))
        self._run_rows, self._firsts = np.flatnonzero(one.context >= 0), np.cumsum(runs) - runs
        thread_of, most_runs = np.repeat(np.arange(len(runs)), runs), int(runs.max())
        begin = uniforms(seed, BEGINNING, np.arange(len(runs)))
        begin *= 2 * (run_cycles + fixed_cycles)
        run_of = np.cumsum(one.context >= 0) - 1

        def draw(number: Ints, row: Ints) -> dict[str, Ints]:
            running = np.flatnonzero(one.context[row] >= 0)
            which = run_of[row[running]]
            thread = thread_of[which]
            index = number[running] * most_runs + which - self._firsts[thread]
            run = np.zeros(len(row), np.int32)
            run[running] = durations(law, run_cycles, seed, RUNNING, thread, index)
            delay = one.delay[row]
            delay[running[index == 0]] = begin[thread[index == 0]]
            return {"run": run, "delay": delay}

        super().__init__(one, draw)

    def statistics(
        self, rows: NDArray[np.void], *, begin: int = 0, end: int
    ) -> TransactionStatistics:
        """Return what transactions and their messages took in a part of a simulation.

        What happened in cycles from ``begin`` on and before ``end`` counts: messages when
        they arrive, transactions when they are issued or when they end. ``rows`` are a
        simulation's records of all rows so far, with fields ``ready``, ``sent``,
        ``arrived`` and ``complete`` in cycles, -1 where it is not yet.

        Raises
        ------
        InputError
            If nothing did.
        """
        times = {name: rows[name].astype(np.int64) for name in ("ready", "sent", "arrived")}
        sent, arrived = (self.of_rounds(times[name], self._sent) for name in ("sent", "arrived"))
        counted = (arrived >= begin) & (arrived < end)
        issued = self.of_rounds(rows["complete"].astype(np.int64), self._run_rows)
        issues = int(np.count_nonzero((issued >= begin) & (issued < end)))
        resumed = self.of_rounds(times["ready"], self._run_rows)
        begun, firsts = np.roll(issued, 1, axis=1), self._firsts
        lasts = np.append(firsts[1:], len(self._run_rows)) - 1  # runs of a thread, in its passes
        begun[:, firsts] = np.roll(issued[:, lasts], 1, axis=0)
        ended = (resumed >= begin) & (resumed < end)
        ended[:1, firsts] = False  # a thread's first run ends no transaction
        if not (counted.any() and issues and ended.any()):
            found = f"{begin} to {end}, in which no message arrives or no transaction ends"
            raise InputError("cycles", found, "more of them")
        node_cycles = self.num_nodes_used * (end - begin)
        return TransactionStatistics(
            message_rate=np.count_nonzero(counted) / node_cycles,
            message_latency=float((arrived - sent)[counted].mean()),
            inter_transaction_cycles=node_cycles / issues,
            transaction_latency=float((resumed - begun)[ended].mean()),
            messages=int(np.count_nonzero(counted)),
            transactions=issues,
        )


class TransactionStatistics(Figures):
    """What transactions and their messages took, in Johnson's terms.

    Attributes
    ----------
    message_rate
        r_m, messages that a node sends a cycle, 1 / t_m. Nodes without threads do not count.
    message_latency
        T_m, mean cycles from the sending of a message to its arrival.
    inter_transaction_cycles
        t_t, mean cycles between transactions that a node issues.
    transaction_latency
        T_t, mean cycles from the issue of a transaction until its thread can run, T_f included.
    messages, transactions
        How many there were. Messages that do not leave their node are not counted.
    message_rate_ci95 ...
        Half of 95 % confidence intervals, from batch means. None of a batch.
    """

    message_rate: float = figure("rate", NODE_RATE, lead=True, half="message_rate_ci95")
    message_latency: float = figure(
        "message latency", CYCLES, lead=True, key=True, half="message_latency_ci95"
    )
    inter_transaction_cycles: float = figure(
        "between transactions", CYCLES, lead=True, key=True, half="inter_transaction_cycles_ci95"
    )
    transaction_latency: float = figure(
        "transaction latency", CYCLES, lead=True, key=True, half="transaction_latency_ci95"
    )
    messages: int = figure()
    transactions: int = figure()
    message_rate_ci95: float | None = figure("rate ± 95 %", NODE_RATE, default=None)
    message_latency_ci95: float | None = figure("message latency ± 95 %", CYCLES, default=None)
    inter_transaction_cycles_ci95: float | None = figure(
        "between transactions ± 95 %", CYCLES, default=None
    )
    transaction_latency_ci95: float | None = figure(
        "transaction latency ± 95 %", CYCLES, default=None
    )


def _add_messages(
    rows: list[_Row], transaction: Transaction, own: int, partner: int, issue: int, first: int
) -> list[int]:
    """Add a transaction's messages to and from one partner. Return those that none answers.

    ``first`` is the number of the pass's first row, which others wait for by its number.
    """
    made = {"": first + issue}
    for step in transaction.steps:
        ends = (own, partner) if step.sender == "thread" else (partner, own)
        waits = [made[step.after]]
        made[step.kind] = first + len(rows)
        rows.append((*ends, step.flits, step.delay_cycles, -1, waits))
    answered = {step.after for step in transaction.steps}
    return [row for kind, row in made.items() if kind not in answered]


WARM_BATCHES, BATCHES = 5, 20
"""Batches of the start-up, and equal parts of the measured time after it."""

BATCH_TRANSACTIONS = 10
"""Transactions that a thread issues in a batch, or a processor for each of its threads, where no
message meets another."""


class TransactionRun(TransactionStatistics):
    """What a run of transactions found in its window, in all of the measured time.

    Attributes
    ----------
    message_flits
        B, the mean length of a message.
    cycles
        The cycle it came to.
    channel_flits
        float64[num_network_channels], flits per cycle on each channel. This and what follows is
        known of a run that was made just now.
    kept
        The rows, those of the start-up too, if they were to be kept.
    """

    message_flits: float | None = figure("message length", "flits", lead=True)
    processor_use: float = figure("processor use", SHARE, lead=True, key=True)
    utilisation_mean: float = figure("mean channel", USED, at="utilisation.mean", lead=True)
    utilisation_max: float = figure(
        "busiest channel", USED, at="utilisation.max", lead=True, key=True
    )
    cycles: int = figure("simulated", CYCLES)
    channel_flits: Floats = unseen(default=None)
    kept: KeptRows | None = unseen(default=None)


def run_transactions(
    network: ProgramNetwork,
    program: Transactions,
    batch: int,
    contexts: int,
    stopped: Callable[[], bool],
    *,
    keep: bool = False,
) -> TransactionRun | None:
    """Run through the start-up and all batches of so many cycles. Return what was found.

    The rows of each of the ``contexts`` of a processor are made as if it were alone there. None if
    the run was stopped before two batches were complete. ``keep``: to keep the rows.
    """
    engine = network.make_engine()
    run = ProgramRun(engine, program)
    begin = WARM_BATCHES * batch
    step = min(batch, -(-4 * batch // contexts))
    run_to(run, begin, step=step, stopped=stopped)
    before = engine.channel_flits()
    run_to(run, begin + BATCHES * batch, step=step, stopped=stopped)
    marks = np.arange(begin, run.cycle + 1, batch).tolist()
    if len(marks) < 3:
        return None
    rows = engine.rows
    sent = (rows["sent"] >= 0) & (rows["flits"] > 0) & (rows["source"] != rows["target"])
    batches = [program.statistics(rows, begin=first, end=last) for first, last in pairwise(marks)]
    halves: dict[str, Any] = {
        each.name: known(interval_over_runs([getattr(one, of) for one in batches])[1])
        for each in places(TransactionStatistics)
        if (of := each.name.removesuffix("_ci95")) != each.name
    }
    found = program.statistics(rows, begin=begin, end=marks[-1])
    channel_flits = (engine.channel_flits() - before) / max(run.cycle - begin, 1)
    used = busy_shares(network.topology, channel_flits)
    return TransactionRun(
        **vars(found) | halves,
        message_flits=float(rows["flits"][sent].mean()) if sent.any() else None,
        processor_use=program.run_cycles / found.inter_transaction_cycles,
        utilisation_mean=float(used.sum() / max(len(used), 1)),
        utilisation_max=float(used.max(initial=0.0)),
        cycles=run.cycle,
        channel_flits=channel_flits,
        kept=kept_rows(engine, every=0) if keep else None,
    )
