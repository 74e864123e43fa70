"""How fast do processors that wait for transactions issue them, on this network?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.questions.answers import CYCLES
from netloom.questions.base import InstanceOf, Question, option
from netloom.questions.fields import ContextSwitches, Placed, ProgramFile
from netloom.questions.named import entering, num_places, placed, read_program
from netloom.questions.outputs import PLOT
from netloom.questions.recipes import provenance_of
from netloom.questions.register import asks
from netloom.questions.simulate.engines import prepare_program
from netloom.questions.simulate.fields import ProgramQuestion
from netloom.questions.timelines import perfetto_output
from netloom.routing import ShortestPath, paths
from netloom.simulation.kernels.agenda import LAST_CYCLE
from netloom.simulation.side_by_side import run_all
from netloom.workload import ProcessGraph
from netloom.workload.programs.protocols import Protocol, coherence, request_reply
from netloom_papers.programs.transactions import (
    BATCHES,
    WARM_BATCHES,
    Transactions,
    batch_cycles,
    run_transactions,
)
from netloom_papers.questions.simulate.transactions.answer import TransactionSimulation

if TYPE_CHECKING:
    from netloom.questions.simulate.engines import PreparedNetwork


class CommunicatingProgram(Question, panel="Program"):
    """The program whose tasks have transactions."""

    app: str | InstanceOf[ProcessGraph] = option(
        "Process graph, as for analyze, one instance per context.",
        file=True,
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
    program: Transactions
    batch: int
    distance: float
    inside_nodes: float


def prepare(question: TransactionQuestion) -> PreparedTransactions:
    """Read the program, build the network, place the tasks, and choose how long to measure."""
    protocol = _protocol(question)
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
    program = Transactions(
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
    between_routers = routed.channels < topology.num_network_channels
    distance = np.count_nonzero(between_routers) / graph.num_edges
    batch = _batch(question, network.zero_load_latency(distance, sum(lengths)))
    return PreparedTransactions(graph, network, program, batch, distance, inside)


def _batch(question: TransactionQuestion, message: float) -> int:
    """Return the cycles of a batch, given those of all messages of an unhindered transaction."""
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
    return batch


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
        run = partial(run_transactions, network, ready.program, ready.batch, question.contexts,
                      keep=question.timeline)  # fmt: skip
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


def _protocol(question: TransactionQuestion) -> Protocol:
    if isinstance(question.protocol, Protocol):
        if question.memory_cycles:
            raise InputError("memory_cycles", f"{question.memory_cycles}", "the protocol's own")
        return question.protocol
    named = coherence if question.protocol == "coherence" else request_reply
    return named(memory_cycles=question.memory_cycles)
