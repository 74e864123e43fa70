"""What traffic does a program get through, whose tasks compute, send, wait, and again?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.contention import loop_saturation
from netloom.questions.base import Numbers, Question, option, parse_numbers
from netloom.questions.fields import refuse
from netloom.questions.named import (
    entering,
    mapping_name,
    num_places,
    placed,
    provenance_of,
    read_program,
)
from netloom.questions.outputs import PLOT
from netloom.questions.register import asks
from netloom.questions.simulate.engines import prepare_program
from netloom.questions.simulate.fields import ProgramQuestion, Programs
from netloom.questions.simulate.loop.answer import LoopSimulation
from netloom.questions.simulate.programs import only_program, share_programs
from netloom.questions.timelines import perfetto_output
from netloom.routing import VirtualChannelRouting
from netloom.simulation.loops import beside_alone, run_loop
from netloom.simulation.side_by_side import run_all
from netloom.topology.faults import working_nodes
from netloom.workload import ProcessGraph
from netloom.workload.programs.loops import ClosedLoop

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.contention import Saturation
    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.topology import Topology
    from netloom.workload.programs.shared import SharedProgram

UNIFORM = "uniform"
"""The program of which every task sends to any other, drawn anew each time."""


class LoopFields(Question, panel="Loop: every task computes, sends, waits, and repeats"):
    """What a task does in its loop, and how many loops are measured."""

    applied: Numbers = option(
        "Applied traffic per task, its share of time spent sending: 0.25, 0.1,0.2 or "
        "START:STOP:STEP.",
        unit="flits/cycle",
    )
    message_flits: int = option("Message length L.", default=50, unit="flits", ge=1, le=2**24)
    think: Literal["fixed", "uniform", "exponential"] = option(
        "Computation times: uniform (0 to twice the mean), fixed or exponential.",
        default="uniform",
    )
    choice: Literal["uniform", "bytes", "messages"] = option(
        "Choice of the next neighbour: uniform, or by bytes or messages.",
        default="uniform",
    )
    gap_cycles: int | None = option(
        "Gap after each packet of a message, before the next.",
        unit="cycles",
        default=None,
        ge=0,
        le=2**24,
        shown_default="all at once",
    )
    loops: int = option("Measured loops of each task.", default=100, ge=1, le=10**6)
    skip: int = option("Loops of each task before the measured ones.", default=10, ge=0, le=10**6)
    timeline: bool = option("Keep the times of each message, for a timeline.", default=False)


class LoopQuestion(ProgramQuestion, Programs, LoopFields):
    """Tasks that compute, send a message, wait for it, and repeat."""


@dataclass(frozen=True, eq=False)
class PreparedLoop:
    """What a question names, read and built once.

    Attributes
    ----------
    graph, node_of
        The tasks that send over the network, None for ``uniform``, and the node of each.
    shared
        Of several programs: which one each task is of.
    edges_within_nodes, silent_tasks
        The edges and the tasks of the program that are left out.
    inside_nodes
        The share of these edges.
    """

    applied: tuple[float, ...]
    network: PreparedNetwork
    graph: ProcessGraph | None
    node_of: Ints
    shared: SharedProgram | None = None
    edges_within_nodes: int = 0
    silent_tasks: int = 0
    inside_nodes: float = 0.0


def prepare(question: LoopQuestion) -> PreparedLoop:
    """Build the network and its routing, read the program, and place its tasks."""
    if question.app == UNIFORM:
        fields = ("messages", "parts", "mapping", "tasks_per_node", "nodes", "choice")
        refuse(question, fields, f"a process graph, where {UNIFORM} is a task per node")
    applied = parse_numbers(question.applied, "applied", below_one=True)
    longest = _program_packet(question) or question.message_flits
    network = prepare_program(question, longest_flits=longest)
    return PreparedLoop(applied, network, *_tasks(question, network.topology))


@asks(
    LoopQuestion,
    prepare=prepare,
    title="Simulated program of loops",
    example="netloom simulate loop --on mesh:8x8 --app transpose:8 --applied 0.1:0.9:0.2",
    page="run-a-program.md",
    sweep="applied",
    outputs=(perfetto_output(asks="timeline"), PLOT),
)
def simulate_loop(question: LoopQuestion, ready: PreparedLoop) -> LoopSimulation:
    """Simulate a program whose tasks wait for each of their messages.

    Runs at several applied traffics use all processors. Ctrl-C ends the runs, and the answer
    contains what is known by then. Several programs are also run alone, one by one (see ``alone``).

    Raises
    ------
    DeadlockError
        If messages block each other for good.

    Examples
    --------
    >>> found = simulate_loop("mesh:4x4", applied=0.9, app="transpose:4", engine="flow")
    >>> round(found.points[0].times.worst_node, 2)  # three paths share a channel
    0.33
    """
    network, applied = ready.network, ready.applied
    name = UNIFORM if ready.graph is None else ready.graph.name
    loops = _loops(question, ready)
    run = partial(
        run_loop, network, skip=question.skip, loops=question.loops,
        most_cycles=question.most_cycles, by_node=ready.shared is not None,
    )  # fmt: skip
    with counting(len(loops), f"{name} on {network.topology.name}") as tell:
        last = len(applied) - 1  # the others have no timeline
        runs = [
            partial(run, *loop, keep=question.timeline and number == last)
            for number, loop in enumerate(loops)
        ]
        found = run_all(runs, tell=tell)
    return LoopSimulation(
        network=network,
        program=name,
        mapping=mapping_name(question.mapping),
        message_flits=question.message_flits,
        limit=_limit(question, ready),
        edges_within_nodes=ready.edges_within_nodes,
        silent_tasks=ready.silent_tasks,
        inside_nodes=ready.inside_nodes,
        points=beside_alone(found[: len(applied)], found[len(applied) :]),
        asked=applied,
        finished=len(found) == len(loops) and not any(one.ending.interrupted for one in found),
        provenance=provenance_of(question, "simulate_loop", network.topology),
    )


def _limit(question: LoopQuestion, ready: PreparedLoop) -> Saturation | None:
    """Return what static analysis says, or None if the paths are not known."""
    network, routing = ready.network, ready.network.routing
    if ready.graph is None or isinstance(routing, VirtualChannelRouting) or routing.several:
        return None
    shares = ready.graph.shares(question.choice)
    return loop_saturation(network.topology, routing, ready.graph, ready.node_of, shares)


def _loops(
    question: LoopQuestion, ready: PreparedLoop
) -> list[tuple[ClosedLoop, SharedProgram | None]]:
    """Return what to run at each applied traffic: all tasks, then each of several programs."""

    def loop(of: PreparedLoop | SharedProgram, applied: float, first: int = 0) -> ClosedLoop:
        return ClosedLoop(
            of.graph,
            of.node_of,
            ready.network.topology.num_hosts,
            applied=applied,
            message_flits=question.message_flits,
            think=question.think,
            choice=question.choice,
            packet_flits=_program_packet(question),
            gap_cycles=question.gap_cycles or 0,
            seed=question.seed,
            first_task=first,
        )

    shared = ready.shared
    found: list[tuple[ClosedLoop, SharedProgram | None]]
    found = [(loop(ready, applied), shared) for applied in ready.applied]
    if shared is None or not question.alone or len(shared.names) < 2:
        return found
    for number in range(len(shared.names)):
        alone, first = shared.alone(number), int(np.searchsorted(shared.program_of, number))
        found += [(loop(alone, applied, first), None) for applied in ready.applied]
    return found


def _program_packet(question: LoopQuestion) -> int | None:
    """Return the flits of the packets that the program itself cuts its messages into, if any."""
    if question.gap_cycles is not None and question.packet_flits is None:
        raise InputError("gap_cycles", f"{question.gap_cycles}", "packet_flits as well")
    program_cuts = question.engine != "network" or question.gap_cycles is not None
    return question.packet_flits if program_cuts else None


def _tasks(question: LoopQuestion, topology: Topology) -> tuple[Any, ...]:
    """Return the tasks that communicate over the network, where they are, and what is left out."""
    if question.app is None:
        raise InputError("app", "no program", f"a process graph, or {UNIFORM}")
    only = only_program(question.app, topology)
    if only is None:
        several = share_programs(question, topology, question.seed)
        sent, inside = entering(several.graph, topology, several.node_of, question.choice)
        busy = replace(several, graph=sent).without_idle()
        return busy.graph, busy.node_of, busy, *_left_out(several.graph, sent), inside
    hosts = working_nodes(topology)
    if only == UNIFORM and len(np.unique(topology.local_group[hosts])) == len(hosts):
        return None, hosts
    graph = read_program(
        "all-to-all" if only == UNIFORM else only,
        messages=question.messages, parts=question.parts,
        tasks=num_places(question, topology), seed=question.seed,
    )  # fmt: skip
    if only == UNIFORM:  # to any task of another node
        graph = replace(graph, name=UNIFORM)
    node_of = placed(question, graph, topology)
    sent, inside = entering(graph, topology, node_of, question.choice)
    if graph.num_edges and not sent.num_edges:
        nothing = "nothing sent between tasks of different nodes"
        raise InputError(graph.name, nothing, "communication that enters the network")
    return sent, node_of, None, *_left_out(graph, sent), inside


def _left_out(whole: ProcessGraph, sent: ProcessGraph) -> tuple[int, int]:
    """Return the edges that do not enter the network, and the tasks that send nothing over it."""
    return whole.num_edges - sent.num_edges, whole.num_tasks - len(np.unique(sent.source))
