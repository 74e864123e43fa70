"""What traffic does a program get through, whose tasks compute, send, wait, and again?"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from netloom.contention import loop_saturation
from netloom.errors import InputError
from netloom.mapping.named import place_program
from netloom.progress import counting
from netloom.questions.base import option
from netloom.questions.fields import refuse
from netloom.questions.named import read_program
from netloom.questions.numbers import parse_numbers
from netloom.questions.outputs import PLOT
from netloom.questions.recipes import provenance_of
from netloom.questions.register import asks
from netloom.questions.simulate.engines import prepare_program
from netloom.questions.simulate.fields import ProgramQuestion, Programs
from netloom.questions.simulate.loop.answer import LoopSimulation, LoopSpeed, ProgramSpeed
from netloom.questions.simulate.programs import only_program, share_programs
from netloom.routing import VirtualChannelRouting
from netloom.simulation.loops import run_loop
from netloom.simulation.side_by_side import run_all
from netloom.topology import Topology
from netloom.topology.faults import working_nodes
from netloom.workload import ProcessGraph
from netloom.workload.programs.loops import ClosedLoop, loop_times, loops_done

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from netloom.questions.simulate.engines import PreparedNetwork
    from netloom.workload.programs.loops import LoopTimes
    from netloom.workload.programs.shared import SharedProgram

LOOP = "Loop: every task computes, sends, waits, and again"


UNIFORM = "uniform"
"""The program of which every task sends to any other, drawn anew each time."""


class LoopQuestion(Programs, ProgramQuestion):
    """Tasks that compute, send a message, wait for it, and again."""

    applied: Any = option(
        "Applied traffic of every task, flits/cycle: the part of its time that it would send if "
        "messages took no longer than their flits. 0.25, 0.1,0.2 or START:STOP:STEP.",
        panel=LOOP,
    )
    message_flits: int = option("Message length L.", default=50, ge=1, le=2**24, panel=LOOP)
    think: Literal["fixed", "uniform", "exponential"] = option(
        "Distribution of computation times: uniform on 0 to twice the mean, fixed or exponential.",
        default="uniform",
        panel=LOOP,
    )
    choice: Literal["uniform", "bytes", "messages"] = option(
        "How a task draws the neighbour that it sends to: uniform, or by the edges' bytes or "
        "messages.",
        default="uniform",
        panel=LOOP,
    )
    gap_cycles: int | None = option(
        "Cut messages into packets of packet_flits, each sent so many cycles after the one before "
        "is complete.",
        default=None,
        ge=0,
        le=2**24,
        panel=LOOP,
        shown_default="all at once",
    )
    loops: int = option("Loops of every task that count.", default=100, ge=1, le=10**6, panel=LOOP)
    skip: int = option("Loops before them that do not.", default=10, ge=0, le=10**6, panel=LOOP)


@asks(
    LoopQuestion,
    title="Simulated program of loops",
    example="netloom simulate loop --on mesh:8x8 --app transpose:8 --applied 0.1:0.9:0.2",
    page="run-a-program.md",
    sweep="applied",
    outputs=(PLOT,),
)
def simulate_loop(question: LoopQuestion) -> LoopSimulation:
    """Simulate a program whose tasks wait for each of their messages: the traffic it gets through.

    Runs at several applied traffics go on at once, on all processors. Ctrl-C ends them, and what
    was known by then is the answer. Of several programs each is run alone too (see ``alone``).

    Raises
    ------
    InputError
        If a field, a file or their combination cannot be used.
    DeadlockError
        If messages block each other for good.

    Examples
    --------
    >>> found = simulate_loop(
    ...     "mesh:4x4", applied=0.9, app="transpose:4", engine="worm", release_cycles=0)
    >>> round(found.points[0].times.worst_node, 2)  # three paths share a channel
    0.33
    """
    if question.app == UNIFORM:
        fields = ("messages", "parts", "mapping", "tasks_per_node", "choice")
        refuse(question, fields, f"a process graph, where {UNIFORM} is a task a node")
    applied = parse_numbers(question.applied, "applied", below_one=True)
    packet = _program_packet(question)
    network = prepare_program(question, longest_flits=packet or question.message_flits)
    placed = _program(question, network.topology)
    graph, node_of, shared = placed.graph, placed.node_of, placed.shared
    limit, routing = None, network.routing
    if graph is not None and not isinstance(routing, VirtualChannelRouting):  # paths are known
        shares = graph.shares(question.choice)
        limit = loop_saturation(network.topology, routing, graph, node_of, shares)

    def make_loop(
        graph: ProcessGraph | None, node_of: ArrayLike, traffic: float, first_task: int = 0
    ) -> ClosedLoop:
        return ClosedLoop(
            graph,
            node_of,
            network.topology.num_nodes,
            applied=traffic,
            message_flits=question.message_flits,
            think=question.think,
            choice=question.choice,
            packet_flits=packet,
            gap_cycles=question.gap_cycles or 0,
            seed=question.seed,
            first_task=first_task,
        )

    name = UNIFORM if graph is None else graph.name
    count = len(shared.names) if shared else 0
    each = [shared.alone(number) for number in range(count)] if shared else []
    first_of = np.cumsum([0] + [one.graph.num_tasks for one in each]).tolist()
    loops = [(traffic, make_loop(graph, node_of, traffic), shared) for traffic in applied]
    loops += [
        (traffic, make_loop(one.graph, one.node_of, traffic, first_of[number]), None)
        for number, one in enumerate(each if question.alone and count > 1 else [])
        for traffic in applied
    ]
    with counting(len(loops), f"{name} on {network.topology.name}") as tell:
        found = run_all([partial(_run, question, network, *loop) for loop in loops], tell=tell)
    points = found[: len(applied)]
    return LoopSimulation(
        network=network,
        program=name,
        mapping=question.mapping if isinstance(question.mapping, str) else "as given",
        message_flits=question.message_flits,
        limit=limit,
        edges_within_nodes=placed.edges_within_nodes,
        silent_tasks=placed.silent_tasks,
        points=_beside_alone(points, found[len(applied) :], len(applied)),
        asked=applied,
        finished=len(found) == len(loops) and not any(one.ending.interrupted for one in found),
        provenance=provenance_of(question, "simulate_loop", network.topology),
    )


def _beside_alone(
    points: list[LoopSpeed], alone: list[LoopSpeed], count: int
) -> tuple[LoopSpeed, ...]:
    """Put what programs do alone, ``count`` runs of each, to what they do together."""
    times = dict(enumerate(each.times for each in alone))
    return tuple(
        replace(
            point,
            programs=tuple(
                replace(program, alone=times.get(number * count + place))
                for number, program in enumerate(point.programs)
            ),
        )
        for place, point in enumerate(points)
    )


def _program_packet(question: LoopQuestion) -> int | None:
    """Return the flits of the packets that the program itself cuts its messages into, if any."""
    if question.gap_cycles is not None and question.packet_flits is None:
        raise InputError("gap_cycles", f"{question.gap_cycles}", "packet_flits as well")
    program_cuts = question.engine == "worm" or question.gap_cycles is not None
    return question.packet_flits if program_cuts else None


class _Placed(NamedTuple):
    """What of a program enters the network, None for ``uniform``, and what does not.

    ``shared``: which programs the tasks are of, where there are several.
    """

    graph: ProcessGraph | None
    node_of: NDArray[np.int32]
    shared: SharedProgram | None = None
    edges_within_nodes: int = 0
    silent_tasks: int = 0


def _program(question: LoopQuestion, topology: Topology) -> _Placed:
    """Return the tasks that communicate over the network, and where they are."""
    if question.app is None:
        raise InputError("app", "no program", f"a process graph, or {UNIFORM}")
    only = only_program(question.app)
    if only is None:
        several = share_programs(question, topology, question.seed)
        busy = several.across_network()
        within, silent = _left_out(several.graph, busy.graph)
        return _Placed(busy.graph, busy.node_of, busy, within, silent)
    if only == UNIFORM:
        return _Placed(None, working_nodes(topology))
    graph = read_program(only, messages=question.messages, parts=question.parts)
    node_of = place_program(
        question.mapping,
        graph,
        topology,
        seed=question.seed,
        tasks_per_node=question.tasks_per_node,
    )
    sent = graph.across(node_of)
    if graph.num_edges and not sent.num_edges:
        nothing = "nothing sent between tasks of different nodes"
        raise InputError(graph.name, nothing, "communication that enters the network")
    return _Placed(sent, node_of, None, *_left_out(graph, sent))


def _left_out(whole: ProcessGraph, sent: ProcessGraph) -> tuple[int, int]:
    """Return the edges that do not enter the network, and the tasks that send nothing over it."""
    return whole.num_edges - sent.num_edges, whole.num_tasks - len(np.unique(sent.source))


def _run(
    question: LoopQuestion,
    network: PreparedNetwork,
    applied: float,
    loop: ClosedLoop,
    shared: SharedProgram | None,
    stopped: Callable[[], bool],
) -> LoopSpeed:
    """Run one loop until every task has gone round often enough."""
    run = run_loop(
        network,
        loop,
        question.skip + question.loops,
        message_flits=question.message_flits,
        most_cycles=question.most_cycles,
        by_node=only_program(question.app) is None,
        stopped=stopped,
    )
    programs = []
    for number, name in enumerate(shared.names if shared else ()):
        assert shared is not None
        nodes = shared.node_of[shared.program_of == number]
        times = _times(question, run.ends[:, shared.program_of[loop.tasks] == number])
        programs.append(ProgramSpeed(name, len(np.unique(nodes)), len(nodes), times, None))
    times = _times(question, run.ends)
    return LoopSpeed(**vars(run), applied=applied, times=times, programs=tuple(programs))


def _times(question: LoopQuestion, ends: NDArray[np.int64]) -> LoopTimes | None:
    """Return the loop times of some tasks; None where one has not gone round often enough."""
    if loops_done(ends).min() < question.skip + question.loops:
        return None
    return loop_times(
        ends, message_flits=question.message_flits, skip=question.skip, loops=question.loops
    )
