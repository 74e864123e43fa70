"""How fast do processors that wait for transactions issue them, on this network?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from netloom.errors import InputError
from netloom.mapping.named import place_program
from netloom.progress import patience
from netloom.questions.answers import Answer
from netloom.questions.base import InstanceOf, option
from netloom.questions.channel_table import channels_by
from netloom.questions.fields import ContextSwitches, Placed, ProgramFile
from netloom.questions.named import read_program
from netloom.questions.numbers import plainly
from netloom.questions.outputs import PLOT
from netloom.questions.recipes import provenance_of
from netloom.questions.register import asks
from netloom.questions.simulate.engines import prepare_program
from netloom.questions.simulate.fields import ProgramQuestion
from netloom.questions.simulate.loop.answer import silent
from netloom.routing import ShortestPath, paths
from netloom.simulation.kernels.agenda import LAST_CYCLE
from netloom.simulation.side_by_side import run_all
from netloom.simulation.transactions import (
    BATCHES,
    WARM_BATCHES,
    TransactionRun,
    batch_cycles,
    run_transactions,
)
from netloom.workload import ProcessGraph
from netloom.workload.programs.protocols import Protocol, coherence, request_reply
from netloom.workload.programs.transactions import Transactions

if TYPE_CHECKING:
    import polars as pl

    from netloom.provenance import Provenance
    from netloom.questions.simulate.engines import PreparedNetwork

TRANSACTIONS = "Transactions: contexts that wait for a protocol"


class TransactionQuestion(ContextSwitches, Placed, ProgramFile, ProgramQuestion):
    """Processors whose contexts run, issue a transaction and wait for it."""

    app: str | InstanceOf[ProcessGraph] = option(
        "Process graph, as for analyze, whose tasks have transactions with their neighbours; one "
        "instance for each context.",
        panel="Program",
        file=True,
    )
    contexts: int = option(
        "Hardware contexts of a processor.", default=1, ge=1, le=256, panel=TRANSACTIONS
    )
    run_cycles: float = option(
        "Mean computation between two transactions, cycles.",
        default=16,
        ge=0,
        le=2**24,
        panel=TRANSACTIONS,
    )
    law: Literal["fixed", "uniform", "exponential"] = option(
        "Distribution of that: fixed, uniform or exponential.", default="fixed", panel=TRANSACTIONS
    )
    fixed_cycles: int = option(
        "Cycles of a transaction beside its messages and memory.",
        default=0,
        ge=0,
        le=2**24,
        panel=TRANSACTIONS,
    )
    protocol: Literal["coherence", "request-reply"] | InstanceOf[Protocol] = option(
        "coherence: cache-coherency reads and writes; or request-reply.",
        default="coherence",
        panel=TRANSACTIONS,
    )
    memory_cycles: int = option(
        "Cycles from a request to its answer.", default=0, ge=0, le=2**24, panel=TRANSACTIONS
    )
    batch_cycles: int | None = option(
        "Measure 20 parts of so many cycles, after 5 for warming up.",
        default=None,
        ge=1,
        le=2**24,
        panel="When to stop",
        shown_default="as long as 10 unhindered transactions",
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class TransactionSimulation(TransactionRun, Answer):
    """What ``simulate_transactions`` found, in Johnson's terms.

    Attributes
    ----------
    network
        What ran the program.
    program, contexts, run_cycles
        What was run: its name, p and T_r.
    distance
        d, the mean path length of the program's edges under its mapping, hops.
    silent_tasks
        Tasks without edges, which have no transactions and no part in means.
    provenance
        Version, question and seed.
    """

    former_tables: ClassVar = ("table", "channels")

    network: PreparedNetwork
    program: str
    contexts: int
    run_cycles: float
    distance: float
    silent_tasks: int
    provenance: Provenance

    @property
    def left_out(self) -> str | None:
        """What of the program has no transactions, in words; None if all of it has."""
        return silent(self.silent_tasks) if self.silent_tasks else None

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
                "cycles": self.cycle,
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


@asks(
    TransactionQuestion,
    title="Simulated transactions",
    example="netloom simulate transactions --on torus:8x8 --app torus:8x8 --contexts 2",
    page="run-a-program.md",
    outputs=(PLOT,),
)
def simulate_transactions(question: TransactionQuestion) -> TransactionSimulation:
    """Simulate processors whose contexts run, issue a transaction and wait for it (Johnson 1992).

    Ctrl-C ends the run, and what was known by then is the answer.

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
    protocol = _protocol(question)
    lengths = [step.flits for each in protocol.transactions for step in each.steps]
    network = prepare_program(question, longest_flits=max(lengths))
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
    message = network.zero_load_latency(distance, sum(lengths))
    alone = 2 * message + question.fixed_cycles + question.memory_cycles + question.run_cycles
    working = question.contexts * (question.run_cycles + question.switch_cycles)
    batch = question.batch_cycles or batch_cycles(alone, working)
    end = (WARM_BATCHES + BATCHES) * batch
    if end >= LAST_CYCLE:
        found = f"{question.run_cycles:g} and a batch of {batch} cycles"
        wanted = f"less: {WARM_BATCHES + BATCHES} batches below {LAST_CYCLE}"
        raise InputError("run_cycles", found, wanted)
    if end > question.most_cycles:
        raise InputError("most_cycles", f"{question.most_cycles}", f"at least {end}")
    with patience(f"{graph.name} on {network.topology.name}: transactions"):
        run = partial(run_transactions, network, program, batch, question.contexts)
        measured = next(iter(run_all([run])), None)
    if measured is None:
        raise KeyboardInterrupt  # as of any run that was stopped before anything was known
    return TransactionSimulation(
        network=network,
        program=graph.name,
        contexts=question.contexts,
        run_cycles=question.run_cycles,
        distance=distance,
        **vars(measured),
        silent_tasks=graph.num_tasks - len(np.unique(graph.source)),
        provenance=provenance_of(question, "simulate_transactions", network.topology),
    )


def _protocol(question: TransactionQuestion) -> Protocol:
    if isinstance(question.protocol, Protocol):
        if question.memory_cycles:
            raise InputError("memory_cycles", f"{question.memory_cycles}", "the protocol's own")
        return question.protocol
    named = coherence if question.protocol == "coherence" else request_reply
    return named(memory_cycles=question.memory_cycles)
