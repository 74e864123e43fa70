"""Simulate processors that issue transactions and wait for them (Johnson 1992)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.base.figures import CYCLES, SHARE, Figures, derived, figure, unseen
from netloom.base.progress import patience
from netloom.base.words import counted, number, percent
from netloom.contention.busiest import ChannelUse, channel_uses
from netloom.drawing.timelines import Timeline
from netloom.questions.answers import Answer, Verdict, table
from netloom.questions.base import InstanceOf, Question, option
from netloom.questions.fields import Placed, ProgramFile
from netloom.questions.named import entering, network_again, placed, program_on, provenance_of
from netloom.questions.outputs import PLOT, perfetto_output
from netloom.questions.register import asks
from netloom.questions.simulate.engines import OnEngine, PreparedNetwork, prepare_program
from netloom.questions.simulate.fields import ProgramQuestion
from netloom.questions.simulate.programs import left_out
from netloom.questions.terminal import rough, subject
from netloom.routing import ShortestPath, paths
from netloom.simulation.agenda import LAST_CYCLE
from netloom.simulation.side_by_side import run_all
from netloom.workload import ProcessGraph
from netloom_papers.programs import transactions
from netloom_papers.programs.transactions import Protocol, TransactionRun, coherence, request_reply

BUSY, IDLE = 0.8, 0.5
"""Use of the busiest link above which bandwidth is the limit, and below which latency is."""

END_BUSY = 0.6
"""Use of the link between a node and its router from which more contexts gain nothing: messages
come in bursts, and wait for each other there."""

AT_WORK = 0.9
"""Share of its time from which a processor counts as at work."""

MOST_CONTEXTS = 256
"""Hardware contexts of a processor."""


in_cycles = partial(option, default=0, ge=0, le=2**24, unit=CYCLES)
"""A time of a transaction. None by default."""


class Channel(Figures):
    """A channel, and how many contexts each processor has."""

    contexts: int = figure(key=True)
    use: ChannelUse = figure(at=".")


class TransactionSimulation(Answer):
    """What ``simulate_transactions`` found, in Johnson's terms.

    Attributes
    ----------
    run_cycles
        T_r.
    distance
        d, the mean path length of the program's edges under its mapping, hops.
    inside_nodes
        The share of these edges inside nodes.
    silent_tasks
        Tasks without edges, which have no transactions and no part in means.
    measured
        What transactions and messages took.
    network
        Where, of an answer that was asked just now.
    """

    setup: OnEngine = figure(at=".", table=False)
    inside_nodes: float = figure(table=False)
    program: str = figure(table=False)
    silent_tasks: int = figure(table=False)
    contexts: int = figure("contexts of a processor", lead=True, key=True)
    run_cycles: float = figure("computation", CYCLES, lead=True)
    distance: float = figure(unit="hops", lead=True, key=True)
    measured: TransactionRun = figure(at=".")
    interrupted: bool = figure()
    network: PreparedNetwork = unseen(default=None)

    @derived(unit=CYCLES)
    def inter_message_cycles(self) -> float:
        """Mean time between two messages of a node."""
        return 1 / self.measured.message_rate

    @derived(lead=True)
    def messages_per_transaction(self) -> float:
        """How many messages a transaction takes."""
        return self.measured.messages / self.measured.transactions

    @derived("share of its time that a processor waits", SHARE, table=False)
    def waiting(self) -> float:
        """What ``processor_use`` lacks to 1."""
        return 1 - self.measured.processor_use

    @derived("use of the link from a node to its router", SHARE, table=False)
    def end_use(self) -> float | None:
        """None where that is no limit, or not known."""
        router, found = self.setup.router, self.measured
        used = found.message_rate * (found.message_flits or 0.0)
        one = router.get("injection_channels", router.get("end_channels")) == 1
        return used if one and used <= 1 else None

    @property
    def of(self) -> str:
        """Program, network and mapping."""
        return subject(self.program, self.setup.topology, self.asked["mapping"])

    def judged(self) -> Verdict:
        """Return what share of its time a processor works, and what limits it."""
        found, count = self.measured, number(self.messages_per_transaction)
        use, most, ends = found.processor_use, found.utilisation_max, self.end_use or 0.0
        lines = {
            "why": f"a transaction takes {number(found.transaction_latency)} cycles, for "
            f"{number(self.run_cycles)} of computation: its {count} messages take "
            f"{number(found.message_latency)} cycles each"
        }
        if self.interrupted:
            ran = counted(found.cycles, "cycle", ",")
            said = f"Interrupted after {ran}: processors computed {rough(use)} of the time so far."
            note = "So far: not yet a steady state."
            return Verdict("unknown", said, lines, self.again(), note)
        works = f"Processors compute {rough(use)} of the time"
        if use >= AT_WORK:
            return Verdict("fine", f"{works}: the network hardly delays them.", lines)
        waits = f"{works} and wait {rough(self.waiting)}"
        if not self.run_cycles:
            every = number(found.inter_transaction_cycles)
            waits = f"Processors only wait, a transaction every {every} cycles"
        twice = min(2 * self.contexts, MOST_CONTEXTS)  # they overlap waiting and work
        more = "" if twice == self.contexts else self.again(contexts=twice)
        if most > BUSY:
            said = f": the busiest link is {rough(most)} busy, so bandwidth is the limit."
            movable = self.asked["mapping"] == "identity"
            more = self.again("map", rankfile="ranks.txt") if movable else ""
        elif ends > END_BUSY:
            said = f": the link of each node to its router is the limit, {rough(ends)} busy."
            more = ""
        elif most < IDLE:
            said = f". Links are at most {rough(most)} busy: latency, not bandwidth, is the limit."
        else:
            said = f". Latency and bandwidth both limit: the busiest link is {rough(most)} busy."
        return Verdict("limited", f"{waits}{said}", lines, more)

    def remarks(self) -> Iterator[str]:
        """Yield how long was measured, how it was run, and what is left out."""
        yield (
            f"measured {counted(self.measured.cycles, 'cycle', ',')}: "
            f"{counted(self.measured.transactions, 'transaction', ',')}, "
            f"{counted(self.measured.messages, 'message', ',')}, seed {self.setup.seed}"
        )
        yield self.setup.how
        yield from left_out(0, self.silent_tasks)

    @table(Channel)
    def channels(self) -> dict[str, Any]:
        """Return one row per channel: the contexts, its two nodes, and flits per cycle on it."""
        run = (self.contexts, self.measured.channel_flits)
        return channel_uses("contexts", [run], self.network.topology)

    def timeline(self) -> Timeline:
        """Return when each node computed, sent and received, from the start-up on.

        Raises
        ------
        InputError
            If it was not asked to keep these times.
        """
        if self.measured.kept is None:
            raise InputError("perfetto", "no times of messages", "timeline=True")
        from netloom.drawing.programs import nodes_timeline

        cycle, contexts = self.network.cycle_us, self.contexts
        return nodes_timeline(
            self.network, self.measured.kept, self.program, cycle, contexts=contexts
        )

    def footer(self) -> list[str]:
        """Return what ran, and how long transactions and messages take."""
        return [
            f"Transactions of {self.program} on {self.setup.topology}; "
            f"{counted(self.contexts, 'context')} per node, average distance "
            f"{number(self.distance)} hops; {self.setup.router['name']}",
            f"A transaction every {number(self.measured.inter_transaction_cycles)} cycles per "
            f"node; messages take {number(self.measured.message_latency)} cycles",
        ]

    def parts(self) -> dict[str, Any]:
        """Return where a context's time goes between transactions, and the channels."""
        from netloom.drawing.bars import Bar, stacked
        from netloom.drawing.frame import BEST, THIS
        from netloom.drawing.networks.chart import USE, loaded_chart

        run, waits = self.run_cycles, self.measured.transaction_latency
        said = f"A context waits {percent(waits / (run + waits))} of its time for transactions"
        rows = [
            Bar("computes", run, number(run), BEST),
            Bar("waits for the transaction", waits, number(waits), THIS),
        ]
        channels = self.channels()
        at_hand = self.network.topology if self.kept is None else None
        net = network_again(at_hand, self.asked, channels)
        return {
            "time": stacked(rows, said, "time from transaction to transaction (cycles)"),
            "channels": loaded_chart(net, channels, "utilisation", USE),
        }


class CommunicatingProgram(Question, panel="Program"):
    """The program whose tasks have transactions."""

    app: str | InstanceOf[ProcessGraph] = option(
        "Process graph, as for analyze, one instance per context.", file=True
    )


class TransactionFields(Question, panel="Transactions"):
    """What a transaction takes."""

    contexts: int = option("Hardware contexts per processor.", default=1, ge=1, le=MOST_CONTEXTS)
    run_cycles: float = in_cycles(
        "Mean computation between two transactions of a context.", default=16
    )
    law: Literal["fixed", "uniform", "exponential"] = option(
        "Distribution of the computation: fixed, uniform or exponential.", default="fixed"
    )
    fixed_cycles: int = in_cycles("Fixed cost per transaction, excluding messages and memory.")
    protocol: Literal["coherence", "request-reply"] | InstanceOf[Protocol] = option(
        "Messages of a transaction: coherence (reads and writes of coherent caches) or "
        "request-reply.",
        default="coherence",
    )
    memory_cycles: int = in_cycles("Time from a request to its answer.")
    batch_cycles: int | None = in_cycles(
        "Length of each of 20 batches, after 5 of warm-up.",
        default=None,
        ge=1,
        panel="When to stop",
        shown_default="as long as 10 unhindered transactions",
    )
    timeline: bool = option("Keep the times of each message, for a timeline.", default=False)
    switch_cycles: int = option(
        "Time of a context switch, hidden while the processor waits.",
        default=0,
        ge=0,
        le=2**20,
        panel="Processors",
        unit=CYCLES,
    )


class TransactionQuestion(
    ProgramQuestion, TransactionFields, Placed, ProgramFile, CommunicatingProgram
):
    """Processors whose contexts run, issue a transaction and wait for it."""


@dataclass(frozen=True, eq=False)
class PreparedTransactions:
    """A program whose tasks have transactions, and the network that it runs on.

    ``batch`` is the length of a batch of measuring, cycles, ``distance`` the mean path length of
    the program's edges, ``inside_nodes`` the share of these inside nodes.
    """

    graph: ProcessGraph
    network: PreparedNetwork
    program: transactions.Transactions
    batch: int
    distance: float
    inside_nodes: float


def prepare(question: TransactionQuestion) -> PreparedTransactions:
    """Read the program, build the network, place the tasks, and choose how long to measure."""
    protocol = question.protocol
    if not isinstance(protocol, Protocol):
        named = coherence if protocol == "coherence" else request_reply
        protocol = named(memory_cycles=question.memory_cycles)
    elif question.memory_cycles:
        raise InputError("memory_cycles", f"{question.memory_cycles}", "the protocol's own")
    lengths = [step.flits for each in protocol.transactions for step in each.steps]
    network = prepare_program(question, longest_flits=max(lengths))
    graph = program_on(question, network.topology)
    node_of = placed(question, graph, network.topology)
    topology = network.topology
    sent, inside = entering(graph, topology, node_of, "uniform")
    if graph.num_edges and not sent.num_edges:
        nothing = "nothing sent between tasks of different nodes"
        raise InputError(graph.name, nothing, "communication that enters the network")
    routed = paths(topology, ShortestPath(), node_of[sent.source], node_of[sent.target])
    names = ("contexts", "run_cycles", "law", "fixed_cycles", "seed")
    options = {name: getattr(question, name) for name in names}
    program = transactions.Transactions(
        graph, node_of, topology.num_hosts, group=topology.local_group, protocol=protocol, **options
    )
    distance = len(routed.channels) / graph.num_edges
    message = network.zero_load_latency(distance, sum(lengths))
    alone = 2 * message + question.fixed_cycles + question.memory_cycles + question.run_cycles
    working = question.contexts * (question.run_cycles + question.switch_cycles)
    usual = int(transactions.BATCH_TRANSACTIONS * max(alone, working)) + 1
    batch = question.batch_cycles or usual
    whole = (transactions.WARM_BATCHES + transactions.BATCHES) * batch
    if whole > min(question.most_cycles, LAST_CYCLE - 1):
        wanted = f"at least {whole}, or less of run_cycles or batch_cycles"
        raise InputError("most_cycles", f"{question.most_cycles}", wanted)
    return PreparedTransactions(graph, network, program, batch, distance, inside)


@asks(
    TransactionQuestion,
    prepare=prepare,
    title="Simulated transactions",
    example="netloom simulate transactions --on torus:8x8 --app torus:8x8 --contexts 2",
    page="run-a-program.md",
    outputs=(perfetto_output(asks="timeline"), PLOT),
)
def simulate_transactions(
    question: TransactionQuestion, ready: PreparedTransactions
) -> TransactionSimulation:
    """Simulate processors that issue transactions and wait for them (Johnson 1992).

    Ctrl-C ends the run, and what was known by then is the answer.

    Raises
    ------
    DeadlockError
        If messages block each other for good.

    Examples
    --------
    >>> found = simulate_transactions("torus:4x4", app="torus:4x4", contexts=2)
    >>> found.messages_per_transaction > 3
    True
    """
    graph, network = ready.graph, ready.network
    with patience(f"{graph.name} on {network.topology.name}: transactions"):
        given = (network, ready.program, ready.batch, question.contexts)
        run = partial(transactions.run_transactions, *given, keep=question.timeline)
        measured = next(iter(run_all([run])), None)
    if measured is None:
        raise KeyboardInterrupt  # as of any run that was stopped before anything was known
    whole = (transactions.WARM_BATCHES + transactions.BATCHES) * ready.batch
    return TransactionSimulation(
        **{name: getattr(ready, name) for name in ("network", "distance", "inside_nodes")},
        setup=OnEngine.of(network),
        program=graph.name,
        silent_tasks=graph.num_tasks - len(np.unique(graph.source)),
        contexts=question.contexts,
        run_cycles=question.run_cycles,
        measured=measured,
        interrupted=measured.cycles < whole,
        provenance=provenance_of(question, "simulate_transactions", network.topology),
    )
