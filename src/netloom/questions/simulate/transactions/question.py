"""How fast do processors that wait for transactions issue them, on this network?"""

# ruff: noqa: TC001 (pydantic reads the annotations)

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from netloom.errors import InputError
from netloom.machines import Machine
from netloom.progress import patience
from netloom.questions.base import InstanceOf, ask
from netloom.questions.channel_table import channels_by
from netloom.questions.named import place_program, read_program
from netloom.questions.numbers import plainly
from netloom.questions.recipes import provenance_of
from netloom.questions.simulate.engines import ProgramQuestion, prepare_program
from netloom.questions.simulate.loop.answer import silent
from netloom.routing import ShortestPath, paths
from netloom.simulation.intervals import batch_interval
from netloom.simulation.kernels.agenda import LAST_CYCLE
from netloom.simulation.replay import Ending, run_program
from netloom.spec import MAX_ELEMENTS
from netloom.topology import Topology
from netloom.workload import ProcessGraph
from netloom.workload.programs.protocols import Protocol, coherence, request_reply
from netloom.workload.programs.transactions import Transactions

if TYPE_CHECKING:
    import polars as pl
    from numpy.typing import NDArray

    from netloom.provenance import Provenance
    from netloom.questions.simulate.engines import ProgramNetwork
    from netloom.simulation.program_engine import ProgramEngine
    from netloom.workload.programs.transactions import TransactionStatistics

BATCHES = 20
"""Equal parts of the measured time; as long again as five of them comes before, for warming up."""

BATCH_TRANSACTIONS = 10
"""Transactions that a thread issues in a batch, where no message meets another."""


class TransactionQuestion(ProgramQuestion):
    """The question that ``simulate_transactions`` answers.

    Attributes
    ----------
    app, messages, parts, mapping, tasks_per_node
        The program whose tasks have their transactions with their neighbours, and where they
        run (see ``analyze``); ``distance:4`` is a mapping of average distance 4. There is one
        instance of it for each context.
    contexts
        p, the hardware contexts of a processor.
    run_cycles, law
        T_r, the mean computation between two transactions, and its law: ``fixed``, ``uniform``
        or ``exponential``.
    fixed_cycles
        T_f, what a transaction takes beside its messages.
    protocol
        ``coherence``: cache-coherency reads and writes; ``request-reply``; or a ``Protocol``.
    memory_cycles
        From a request to its answer, of the named protocols.
    batch_cycles
        The run is measured in 20 parts of so many cycles, after 5 for warming up; by default as
        long as 10 unhindered transactions of a thread.
    """

    app: str | InstanceOf[ProcessGraph] | None = None
    messages: str | None = None
    parts: str = "network"
    mapping: Any = "identity"
    tasks_per_node: int = Field(1, ge=1, le=MAX_ELEMENTS)
    contexts: int = Field(1, ge=1, le=256)
    run_cycles: float = Field(16, ge=0, le=2**24)
    law: Literal["fixed", "uniform", "exponential"] = "fixed"
    fixed_cycles: int = Field(0, ge=0, le=2**24)
    protocol: Literal["coherence", "request-reply"] | InstanceOf[Protocol] = "coherence"
    memory_cycles: int = Field(0, ge=0, le=2**24)
    batch_cycles: int | None = Field(None, ge=1, le=2**24)


@dataclass(frozen=True, eq=False)
class TransactionSimulation:
    """What ``simulate_transactions`` found, in Johnson's terms.

    Attributes
    ----------
    network
        What ran the program.
    program, contexts, run_cycles
        What was run: its name, p and T_r.
    distance
        d, the mean path length of the program's edges under its mapping, hops.
    found
        Figures of all of the measured time.
    batches
        Figures of its parts.
    silent_tasks
        Tasks without edges, which have no transactions and no part in means.
    mean_flits
        B, the mean length of a message.
    channel_flits
        float64[num_channels], flits a cycle on each channel.
    ending
        How the run ended.
    provenance
        Version, question and seed.
    """

    network: ProgramNetwork
    program: str
    contexts: int
    run_cycles: float
    distance: float
    found: TransactionStatistics
    batches: tuple[TransactionStatistics, ...]
    silent_tasks: int
    mean_flits: float
    channel_flits: NDArray[np.float64]
    ending: Ending
    provenance: Provenance

    def interval(self, quantity: str) -> float:
        """Return the half-width of the 95 % confidence interval of a figure, from batch means."""
        values = [getattr(batch, quantity) for batch in self.batches]
        return batch_interval(values, np.ones(len(values)))[1]

    @property
    def left_out(self) -> str | None:
        """What of the program has no transactions, in words; None if all of it has."""
        return silent(self.silent_tasks) if self.silent_tasks else None

    @property
    def interrupted(self) -> bool:
        """Whether the run was stopped from outside."""
        return self.ending.interrupted

    @property
    def processor_use(self) -> float:
        """The share of a processor's time that does the program's work: T_r / t_t."""
        return self.run_cycles / self.found.inter_transaction_cycles

    def row(self) -> dict[str, Any]:
        """Return the figures as one row of a table: the fields of ``to_dict``, flat."""
        intervals = {
            f"{name}_ci95": self.interval(name)
            for name in (
                "message_rate", "message_latency", "inter_transaction_cycles",
                "transaction_latency",
            )
        }  # fmt: skip
        return (
            {"contexts": self.contexts, "run_cycles": self.run_cycles, "distance": self.distance}
            | self.found.to_dict()
            | intervals
            | {
                "inter_message_cycles": 1 / self.found.message_rate,
                "messages_per_transaction": self.found.messages / self.found.transactions,
                "message_flits": self.mean_flits,
                "processor_use": self.processor_use,
                "utilisation_mean": float(self.channel_flits.mean()),
                "utilisation_max": float(self.channel_flits.max(initial=0.0)),
                "cycles": self.ending.cycle,
                "interrupted": self.interrupted,
            }
        )

    def table(self) -> pl.DataFrame:
        """Return the one row of all figures; times in cycles."""
        import polars as pl

        return pl.DataFrame([self.row()])

    def channels(self) -> pl.DataFrame:
        """Return one row a channel: the contexts, its two nodes, and flits a cycle on it."""
        run = (self.contexts, self.channel_flits)
        return channels_by("contexts", [run], self.network.topology)

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data, the JSON of ``netloom simulate --transactions``."""
        row = self.row()
        used = {part: row.pop(f"utilisation_{part}") for part in ("mean", "max")}
        common = self.network.describe(self.provenance)
        common |= {"program": self.program, "silent_tasks": self.silent_tasks}
        return common | row | {"utilisation": used}

    def __repr__(self) -> str:
        found, seed = self.found, self.provenance.seed
        return (
            f"<Transactions of {self.program} on {self.network.topology.name}, {self.contexts} "
            f"contexts, distance {self.distance:.3g}; seed {seed}, netloom "
            f"{self.provenance.version}>\n"
            f"a transaction every {found.inter_transaction_cycles:.4g} cycles a node, latency "
            f"{found.transaction_latency:.4g}; {found.message_rate:.4g} messages a cycle, latency "
            f"{found.message_latency:.4g} ± {self.interval('message_latency'):.2g}"
        )


def simulate_transactions(on: str | Topology | Machine, **options: Any) -> TransactionSimulation:
    """Simulate processors whose contexts run, issue a transaction and wait for it (Johnson 1992).

    Ctrl-C ends the run, and what was known by then is the answer.

    Parameters
    ----------
    on, app
        The network and the program; see ``TransactionQuestion``, as for all other options.

    Raises
    ------
    InputError
        If a field, a file or their combination cannot be used.
    DeadlockError
        If messages block each other for good.

    Examples
    --------
    >>> found = simulate_transactions("torus:4x4", app="torus:4x4", contexts=2)
    >>> found.found.messages / found.found.transactions > 3
    True
    """
    question = ask(TransactionQuestion, {"on": on, **options})
    protocol = _protocol(question)
    lengths = [step.flits for each in protocol.transactions for step in each.steps]
    network = prepare_program(question, longest_flits=max(lengths))
    if question.app is None:
        raise InputError("app", "no program", "a process graph: who has transactions with whom")
    graph = read_program(question.app, messages=question.messages, parts=question.parts)
    node_of = place_program(
        question.mapping, graph, network.topology,
        seed=question.seed, tasks_per_node=question.tasks_per_node,
    )  # fmt: skip
    if graph.num_edges and not graph.across(node_of).num_edges:
        nothing = "nothing sent between tasks of different nodes"
        raise InputError(graph.name, nothing, "communication that enters the network")
    routed = paths(network.topology, ShortestPath(), node_of[graph.source], node_of[graph.target])
    program = Transactions(
        graph,
        node_of,
        network.topology.num_nodes,
        contexts=question.contexts,
        run_cycles=question.run_cycles,
        law=question.law,
        fixed_cycles=question.fixed_cycles,
        protocol=protocol,
        seed=question.seed,
    )
    distance = float(np.diff(routed.offsets).mean())
    batch = question.batch_cycles or _batch_cycles(question, network, distance, sum(lengths))
    engine = network.make_engine()
    begin, end = 5 * batch, (5 + BATCHES) * batch
    if end >= LAST_CYCLE:
        found = f"{question.run_cycles:g} and a batch of {batch} cycles"
        raise InputError("run_cycles", found, f"less: {5 + BATCHES} batches below {LAST_CYCLE}")
    if end > question.most_cycles:
        raise InputError("most_cycles", f"{question.most_cycles}", f"at least {end}")
    with patience(f"{graph.name} on {network.topology.name}: transactions"):
        ending, used = _run(engine, program, (begin, end), batch, question.contexts)
    marks = np.arange(begin, ending.cycle + 1, batch)
    if len(marks) < 3:
        found = f"{question.contexts}, with which {engine.num_rows} messages come to cycle {end}"
        raise InputError("contexts", found, "fewer, or shorter batch_cycles")
    return TransactionSimulation(
        network=network,
        program=graph.name,
        contexts=question.contexts,
        run_cycles=question.run_cycles,
        distance=distance,
        found=program.statistics(engine.rows, begin=begin, end=int(marks[-1])),
        batches=_batches(program, engine, marks),
        silent_tasks=graph.num_tasks - len(np.unique(graph.source)),
        mean_flits=_mean_flits(engine),
        channel_flits=used,
        ending=ending,
        provenance=provenance_of(question, "simulate_transactions", network.topology),
    )


def _protocol(question: TransactionQuestion) -> Protocol:
    if isinstance(question.protocol, Protocol):
        if question.memory_cycles:
            raise InputError("memory_cycles", f"{question.memory_cycles}", "the protocol's own")
        return question.protocol
    named = coherence if question.protocol == "coherence" else request_reply
    return named(memory_cycles=question.memory_cycles)


def _batch_cycles(
    question: TransactionQuestion, network: ProgramNetwork, distance: float, flits: int
) -> int:
    message = network.unhindered_cycles(distance, flits)
    alone = 2 * message + question.fixed_cycles + question.memory_cycles
    working = question.contexts * (question.run_cycles + question.switch_cycles)
    return int(BATCH_TRANSACTIONS * max(alone + question.run_cycles, working)) + 1


def _run(
    engine: ProgramEngine, program: Transactions, window: tuple[int, int], batch: int, contexts: int
) -> tuple[Ending, NDArray[np.float64]]:
    """Run to the end of the window; return how, and the flits a cycle on each channel in it."""
    begin, end = window
    step = min(batch, -(-4 * batch // contexts))
    _advance(engine, program, begin, step)
    before = engine.channel_flits()
    try:
        ending = _advance(engine, program, end, step)
    except KeyboardInterrupt:
        if engine.cycle < begin + 2 * batch:
            raise
        ending = Ending(engine.cycle, enough=False, interrupted=True)
    return ending, (engine.channel_flits() - before) / max(ending.cycle - begin, 1)


def _advance(engine: ProgramEngine, program: Transactions, until: int, step: int) -> Ending:
    """Run to a cycle in short steps: for each, threads get rows as if none waited for another."""
    while True:
        most = min(engine.cycle + step, until)
        ending = run_program(engine, program, enough=lambda _: False, step=step, most_cycles=most)
        if most == until:
            return ending


def _batches(
    program: Transactions, engine: ProgramEngine, marks: NDArray[np.int64]
) -> tuple[TransactionStatistics, ...]:
    spans = zip(marks[:-1].tolist(), marks[1:].tolist(), strict=True)
    return tuple(program.statistics(engine.rows, begin=first, end=last) for first, last in spans)


def _mean_flits(engine: ProgramEngine) -> float:
    rows = engine.rows
    sent = (rows["sent"] >= 0) & (rows["flits"] > 0) & (rows["source"] != rows["target"])
    return float(rows["flits"][sent].mean()) if sent.any() else float("nan")
