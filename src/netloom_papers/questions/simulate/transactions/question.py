"""How fast do processors that wait for transactions issue them, on this network?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.words import counted, number
from netloom.drawing.colours import BEST, THIS
from netloom.questions.base import InstanceOf, Question, option
from netloom.questions.columns import (
    CYCLES,
    INSIDE,
    Column,
    Columns,
    channel_columns,
    channels_by,
    table,
    use_of_channels,
)
from netloom.questions.fields import ContextSwitches, Placed, ProgramFile
from netloom.questions.named import entering, num_places, placed, provenance_of, read_program
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.questions.shown import Verdict, interval, pairs, percent, subject
from netloom.questions.simulate.engines import NETWORK, prepare_program
from netloom.questions.simulate.fields import ProgramQuestion
from netloom.questions.simulate.loop.answer import silent
from netloom.questions.simulate.said import again, configuration, rough, setup_of
from netloom.questions.simulate.timelines import nodes_timeline
from netloom.questions.timelines import perfetto_output
from netloom.routing import ShortestPath, paths
from netloom.simulation.agenda import LAST_CYCLE
from netloom.simulation.side_by_side import run_all
from netloom.topology.measures import busy_shares
from netloom.workload import ProcessGraph
from netloom.workload.programs.node_costs import Protocol, coherence, request_reply
from netloom_papers.programs import transactions
from netloom_papers.questions.told import Told

if TYPE_CHECKING:
    from collections.abc import Mapping

    import polars as pl

    from netloom.base.provenance import Provenance
    from netloom.drawing.frame import Part
    from netloom.drawing.timelines import Timeline
    from netloom.questions.register import Recorded
    from netloom.questions.simulate.engines import PreparedNetwork

MEASURED = {
    "message_rate": ("rate", "messages/node/cycle"),
    "message_latency": ("message latency", CYCLES),
    "inter_transaction_cycles": ("between transactions", CYCLES),
    "transaction_latency": ("transaction latency", CYCLES),
}
"""Figures that have an interval: titles and units."""

CONTEXTS = Column("contexts", kind=int, key=True)


def _interval(name: str) -> Column:
    title, unit = MEASURED[name]
    return Column(f"{name}_ci95", f"{title} ± 95 %", unit, lambda found: found.interval(name))


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class TransactionSimulation(Told, transactions.TransactionRun):
    """What ``simulate_transactions`` found, in Johnson's terms.

    Attributes
    ----------
    program, contexts, run_cycles
        What was run: its name, p and T_r.
    distance
        d, the mean path length of the program's edges under its mapping, hops.
    inside_nodes
        The share of these edges inside nodes.
    silent_tasks
        Tasks without edges, which have no transactions and no part in means.
    """

    network: PreparedNetwork
    program: str
    contexts: int
    run_cycles: float
    distance: float
    silent_tasks: int
    inside_nodes: float
    provenance: Provenance

    columns: ClassVar = Columns(
        CONTEXTS,
        Column("run_cycles", "computation", CYCLES),
        Column("distance", unit="hops", key=True),
        *(
            Column(name, title, unit, f"found.{name}", key=unit == CYCLES)
            for name, (title, unit) in MEASURED.items()
        ),
        Column("messages", value="found.messages", kind=int),
        Column("transactions", value="found.transactions", kind=int),
        *map(_interval, MEASURED),
        Column("inter_message_cycles", unit=CYCLES, value=lambda it: 1 / it.found.message_rate),
        Column(
            "messages_per_transaction", value=lambda it: it.found.messages / it.found.transactions
        ),
        Column("message_flits", "message length", "flits", "mean_flits"),
        Column("processor_use", "processor use", key=True),
        *use_of_channels(lambda it: busy_shares(it.network.topology, it.channel_flits)),
        Column("cycles", "simulated", CYCLES, "cycle", int),
        Column("interrupted", kind=bool),
    )  # fmt: skip
    about: ClassVar = (
        NETWORK + INSIDE + Columns(Column("program", kind=str), Column("silent_tasks", kind=int))
    )

    @property
    def processor_use(self) -> float:
        """The share of a processor's time that does the program's work: T_r / t_t."""
        return self.run_cycles / self.found.inter_transaction_cycles

    @table(channel_columns(CONTEXTS))
    def channels(self) -> pl.DataFrame:
        """Return one row per channel: the contexts, its two nodes, and flits per cycle on it."""
        run = (self.contexts, self.channel_flits)
        return channels_by("contexts", [run], self.network.topology)

    def timeline(self) -> Timeline:
        """Return when each node computed, sent and received, from the start-up on.

        Raises
        ------
        InputError
            If it was not asked to keep these times.
        """
        if self.kept is None:
            raise InputError("perfetto", "no times of messages", "timeline=True")
        return nodes_timeline(self.network, self.kept, self.program, contexts=self.contexts)


class CommunicatingProgram(Question, panel="Program"):
    """The program whose tasks have transactions."""

    app: str | InstanceOf[ProcessGraph] = option(
        "Process graph, as for analyze, one instance per context.", file=True
    )


class TransactionFields(Question, panel="Transactions"):
    """What a transaction takes."""

    contexts: int = option("Hardware contexts per processor.", default=1, ge=1, le=256)
    run_cycles: float = option(
        "Mean computation between two transactions of a context.",
        default=16,
        ge=0,
        le=2**24,
        unit=CYCLES,
    )
    law: Literal["fixed", "uniform", "exponential"] = option(
        "Distribution of the computation: fixed, uniform or exponential.", default="fixed"
    )
    fixed_cycles: int = option(
        "Fixed cost per transaction, excluding messages and memory.",
        default=0,
        ge=0,
        le=2**24,
        unit=CYCLES,
    )
    protocol: Literal["coherence", "request-reply"] | InstanceOf[Protocol] = option(
        "Messages of a transaction: coherence (reads and writes of coherent caches) or "
        "request-reply.",
        default="coherence",
    )
    memory_cycles: int = option(
        "Time from a request to its answer.", default=0, ge=0, le=2**24, unit=CYCLES
    )
    batch_cycles: int | None = option(
        "Length of each of 20 batches, after 5 of warm-up.",
        default=None,
        ge=1,
        le=2**24,
        panel="When to stop",
        unit=CYCLES,
        shown_default="as long as 10 unhindered transactions",
    )
    timeline: bool = option("Keep the times of each message, for a timeline.", default=False)


class TransactionQuestion(
    ProgramQuestion, ContextSwitches, TransactionFields, Placed, ProgramFile, CommunicatingProgram
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
    graph = read_program(
        question.app, messages=question.messages, parts=question.parts,
        tasks=num_places(question, network.topology), seed=question.seed,
    )  # fmt: skip
    node_of = placed(question, graph, network.topology)
    topology = network.topology
    sent, inside = entering(graph, topology, node_of, "uniform")
    if graph.num_edges and not sent.num_edges:
        nothing = "nothing sent between tasks of different nodes"
        raise InputError(graph.name, nothing, "communication that enters the network")
    routed = paths(topology, ShortestPath(), node_of[sent.source], node_of[sent.target])
    program = transactions.Transactions(
        graph,
        node_of,
        topology.num_hosts,
        group=topology.local_group,
        contexts=question.contexts,
        run_cycles=question.run_cycles,
        law=question.law,
        fixed_cycles=question.fixed_cycles,
        protocol=protocol,
        seed=question.seed,
    )
    distance = len(routed.channels) / graph.num_edges
    message = network.zero_load_latency(distance, sum(lengths))
    alone = 2 * message + question.fixed_cycles + question.memory_cycles + question.run_cycles
    working = question.contexts * (question.run_cycles + question.switch_cycles)
    batch = question.batch_cycles or transactions.batch_cycles(alone, working)
    batches = transactions.WARM_BATCHES + transactions.BATCHES
    if batches * batch >= LAST_CYCLE:
        found = f"{question.run_cycles:g} and a batch of {batch} cycles"
        wanted = f"less: {batches} batches below {LAST_CYCLE}"
        raise InputError("run_cycles", found, wanted)
    if batches * batch > question.most_cycles:
        raise InputError("most_cycles", f"{question.most_cycles}", f"at least {batches * batch}")
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
    >>> found.found.messages / found.found.transactions > 3
    True
    """
    graph, network = ready.graph, ready.network
    with patience(f"{graph.name} on {network.topology.name}: transactions"):
        given = (network, ready.program, ready.batch, question.contexts)
        run = partial(transactions.run_transactions, *given, keep=question.timeline)
        measured = next(iter(run_all([run])), None)
    if measured is None:
        raise KeyboardInterrupt  # as of any run that was stopped before anything was known
    return TransactionSimulation(
        network=network,
        program=graph.name,
        contexts=question.contexts,
        run_cycles=question.run_cycles,
        distance=ready.distance,
        inside_nodes=ready.inside_nodes,
        **vars(measured),
        silent_tasks=graph.num_tasks - len(np.unique(graph.source)),
        provenance=provenance_of(question, "simulate_transactions", network.topology),
    )


BUSY, IDLE = 0.8, 0.5
"""Use of the busiest link above which bandwidth is the limit, and below which latency is."""

END_BUSY = 0.6
"""Use of the link between a node and its router from which more contexts gain nothing: messages
come in bursts, and wait for each other there."""

AT_WORK = 0.9
"""Share of its time from which a processor counts as at work."""

MOST_CONTEXTS = 256


def verdict(found: Mapping[str, Any]) -> Verdict:
    """Return what share of its time a processor works, and what limits it."""
    of = subject(found["program"], found["topology"], configuration(found)["mapping"])
    use, links = found["processor_use"], found["utilisation"]
    count, message = number(found["messages_per_transaction"]), number(found["message_latency"])
    lines = {
        "why": f"a transaction takes {number(found['transaction_latency'])} cycles, for "
        f"{number(found['run_cycles'])} of computation: its {count} messages take {message} cycles "
        "each"
    }
    if found["interrupted"]:
        ran = counted(found["cycles"], "cycle", ",")
        said = f"Interrupted after {ran}: processors computed {rough(use)} of the time so far."
        again_all = again("simulate.transactions", found)
        return Verdict("unknown", said, of, lines, again_all, "So far: not yet a steady state.")
    works = f"Processors compute {rough(use)} of the time"
    if use >= AT_WORK:
        return Verdict("fine", f"{works}: the network hardly delays them.", of, lines)
    most, router = links["max"] or 0.0, found["router"]
    ends = float(found["message_rate"]) * float(found["message_flits"] or 0)
    if router.get("injection_channels", router.get("end_channels")) != 1 or ends > 1:
        ends = 0.0  # the link from a node to its router is no limit, or its use is unknown
    waits = f"{works} and wait {rough(1 - use)}"
    if not found["run_cycles"]:
        every = number(found["inter_transaction_cycles"])
        waits = f"Processors only wait, a transaction every {every} cycles"
    more, mark = "", "limited"
    if most > BUSY:
        said = f"{waits}: the busiest link is {rough(most)} busy, so bandwidth is the limit."
        if configuration(found)["mapping"] == "identity":
            more = again("map", found, rankfile="ranks.txt")
    elif ends > END_BUSY:
        said = f"{waits}: the link of each node to its router is the limit, {rough(ends)} busy."
    elif most < IDLE:
        said = f"{waits}. Links are at most {rough(most)} busy: latency, not bandwidth, is the "
        said += "limit."
        more = _more_contexts(found)
    else:
        said = f"{waits}. Latency and bandwidth both limit: the busiest link is {rough(most)} busy."
        more = _more_contexts(found)
    return Verdict(mark, said, of, lines, more)


def _more_contexts(found: Mapping[str, Any]) -> str:
    """Return the command that asks for twice the contexts, which overlap waiting with work."""
    twice = min(2 * found["contexts"], MOST_CONTEXTS)
    if twice == found["contexts"]:
        return ""
    return again("simulate.transactions", found, contexts=twice)


def lines(result: TransactionSimulation) -> list[Any]:
    """Return how long transactions and their messages take."""
    data = result.to_dict()

    def known(name: str) -> str:
        return interval(data[name], data[f"{name}_ci95"])

    rows = {
        "processor": f"a transaction every {known('inter_transaction_cycles')} cycles, "
        f"{percent(result.processor_use)} of it computation",
        "transaction": f"{known('transaction_latency')} cycles",
        "message": f"{known('message_latency')} cycles over "
        f"{counted(number(result.distance), 'hop')} on average",
        "messages": f"{number(data['messages_per_transaction'])} per transaction, of "
        f"{counted(number(data['message_flits']), 'flit')}, "
        f"{known('message_rate')} per node and cycle",
        "links busy": f"{percent(data['utilisation']['mean'])} on average, "
        f"{percent(data['utilisation']['max'])} at most",
        "contexts": f"{counted(result.contexts, 'context')} per processor",
        "measured": f"{counted(data['cycles'], 'cycle', ',')}: "
        f"{counted(data['transactions'], 'transaction', ',')}, "
        f"{counted(data['messages'], 'message', ',')}, seed {data['seed']}",
        "network": setup_of(result.network),
    }
    left_out = result.silent_tasks and f"• left out: {silent(result.silent_tasks)}"
    return [pairs(rows), *filter(None, [left_out])]


def footer(record: Recorded) -> list[str]:
    """Return what ran, and how long transactions and messages take."""
    found = record.figures
    return [
        f"Transactions of {found['program']} on {found['topology']}; "
        f"{counted(found['contexts'], 'context')} per node, average distance "
        f"{number(found['distance'])} hops; {found['router']['name']}",
        f"A transaction every {number(found['inter_transaction_cycles'])} cycles per node; "
        f"messages take {number(found['message_latency'])} cycles",
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return where a context's time goes from transaction to transaction, and the channels."""
    from netloom.drawing.bars import Bar, stacked
    from netloom.questions.network_chart import channels_chart
    from netloom.questions.simulate.drawn import ON_CHANNEL

    found = record.figures
    run, waits = float(found["run_cycles"]), float(found["transaction_latency"])
    said = f"A context waits {percent(waits / (run + waits))} of its time for transactions"
    rows = [
        Bar("computes", run, number(run), BEST),
        Bar("waits for the transaction", waits, number(waits), THIS),
    ]
    return {
        "time": stacked(rows, said, "time from transaction to transaction (cycles)"),
        "channels": channels_chart(record, record.tables["channels"], "utilisation", ON_CHANNEL),
    }
