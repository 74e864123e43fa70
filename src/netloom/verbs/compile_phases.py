"""In which phases, over which routes and when does a known pattern communicate best?"""

from __future__ import annotations

from os import PathLike  # noqa: TC003 (pydantic reads the annotations)
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from netloom.errors import DeadlockError
from netloom.machines import Machine  # noqa: TC001
from netloom.mapping.named import place_program
from netloom.models import ConSetCosts, MessageCosts
from netloom.phases import (
    Capacity,
    connections,
    least_clocks,
    least_phases,
    partition,
    schedule,
    verify,
)
from netloom.phases.execute import execute
from netloom.phases.message_passing import message_passing
from netloom.phases.order_files import connection_order
from netloom.progress import patience
from netloom.provenance import DEFAULT_SEED
from netloom.spec import MAX_ELEMENTS
from netloom.topology import Topology  # noqa: TC001
from netloom.verbs.compiled_phases import CompiledPhases, SimulatedPhases
from netloom.verbs.programs import find_network, read_program
from netloom.verbs.question import MOST, MOST_SEED, MOST_WORDS, InstanceOf, Question, ask
from netloom.verbs.record import provenance_of
from netloom.words import counted
from netloom.workload import ProcessGraph  # noqa: TC001

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from netloom.phases import Connections, Plan, Timetable


class CompileQuestion(Question):
    """The question that ``compile_phases`` answers.

    Attributes
    ----------
    app
        Who talks to whom: a process graph, a spec such as ``all-to-all:64``, or a file.
    parts
        Which part of Open MPI's monitoring to read (see ``workload.read``).
    on, failed_channels, failed_nodes
        The network or machine, and what of it is broken; as for ``analyze``.
    mapping, tasks_per_node
        Where tasks run: ``identity``, ``random``, ``gray``, ``distance:HOPS``, a file, or the array
        ``node_of``; and how many a node takes. Tasks of one node need no connection.
    channels, per
        Virtual channels for connections of each ``node``, one of which a connection takes at every
        node of its path; or of each ``channel``.
    words, word_bytes
        Words of every connection; by default the process graph's bytes, in words of so many.
    order
        Which connections come before which: a file of lines such as ``0 1 < 2 3``, or pairs of
        edges; see ``connection_order``.
    method, objective
        See ``phases.partition``.
    schedule
        ``streaming``, ``shared`` or ``timetable``, see ``phases.schedule``. ``auto``: streaming
        where processors send and receive at once and as fast as a channel, else shared.
    sync_clocks, phase_clocks, clocks_per_word, channel_clocks_per_word, both_ways
        Of phases; see ``models.ConSetCosts``. A processor takes as long for a word of a message.
    send_clocks, receive_clocks
        Overheads of a message, see ``models.MessageCosts``.
    execute
        Whether to simulate both, flit by flit: the phases, and messages in random order.
    seed
        Of all that is left to chance.
    """

    app: str | InstanceOf[ProcessGraph]
    parts: str = "network"
    on: str | InstanceOf[Topology] | InstanceOf[Machine]
    failed_channels: str | None = None
    failed_nodes: str | None = None
    mapping: Any = "identity"
    tasks_per_node: int = Field(1, ge=1, le=MAX_ELEMENTS)
    channels: int = Field(12, ge=0, le=MAX_ELEMENTS)
    per: Literal["node", "channel"] = "node"
    words: int | None = Field(None, ge=0, le=MOST_WORDS)
    word_bytes: int = Field(4, ge=1, le=MAX_ELEMENTS)
    order: str | PathLike[str] | list[Any] | None = None
    method: Literal["auto", "symmetric", "negotiated", "sequential"] = "auto"
    objective: Literal["phases", "time"] = "phases"
    schedule: Literal["auto", "streaming", "shared", "timetable"] = "auto"
    sync_clocks: float = Field(352.0, ge=0, le=MOST)
    phase_clocks: float = Field(176.0, ge=0, le=MOST)
    clocks_per_word: float = Field(2.0, ge=0, le=MOST)
    channel_clocks_per_word: float = Field(2.0, ge=0, le=MOST)
    both_ways: bool = True
    send_clocks: float = Field(400.0, ge=0, le=MOST)
    receive_clocks: float = Field(400.0, ge=0, le=MOST)
    execute: bool = False
    seed: int = Field(DEFAULT_SEED, ge=0, le=MOST_SEED)


def compile_phases(
    app: str | ProcessGraph, on: str | Topology | Machine, **options: Any
) -> CompiledPhases:
    """Compile a communication pattern that is known beforehand into phases, routes and times.

    Feldmann, Stricker & Warfel's ConSet (1993): connections that the hardware can hold all at once
    make a phase, phases follow one another, and nothing has to be routed, buffered or waited for
    while words move. What is returned has been verified.

    Parameters
    ----------
    app, on
        The pattern and the network; see ``CompileQuestion``, as for all other options.

    Raises
    ------
    InputError
        If a field, a file or their combination cannot be used.
    NoRouteError
        If no path joins the nodes of a connection.

    Examples
    --------
    >>> found = compile_phases("torus:4x4", "torus:4x4", words=256)
    >>> found.plan.num_phases, found.to_dict()["predicted"]["conset"]
    (1, 2576.0)
    """
    question = ask(CompileQuestion, {"app": app, "on": on, **options})
    costs, passing = _costs(question)
    capacity = Capacity(question.channels, question.per)
    network, _ = find_network(
        question.on, failed_channels=question.failed_channels, failed_nodes=question.failed_nodes
    )
    graph, node_of, given = _mapped(question, network)
    begin = perf_counter()
    with patience(f"Compiling {counted(len(given), 'connection', ',')}"):
        plan = partition(
            given, network, capacity,
            costs=costs, method=question.method, objective=question.objective, seed=question.seed,
        )  # fmt: skip
        timetable = schedule(plan, costs, kind=_kind(question), seed=question.seed)
    seconds = perf_counter() - begin
    verify(plan, timetable, costs)
    return CompiledPhases(
        graph=graph,
        node_of=node_of,
        plan=plan,
        timetable=timetable,
        costs=costs,
        message_costs=passing,
        bound=least_phases(given, network, capacity),
        least_word_clocks=least_clocks(given, network, costs) if len(given) else 0.0,
        simulated=_simulated(question, plan, timetable, costs) if question.execute else None,
        seconds=seconds,
        provenance=provenance_of(question, "compile_phases", network),
    )


def _mapped(
    question: CompileQuestion, network: Topology
) -> tuple[ProcessGraph, NDArray[np.int32], Connections]:
    """Return the pattern, the node of each task, and the connections that come of that."""
    graph = read_program(question.app, messages=None, parts=question.parts)
    order = connection_order(question.order, graph)
    node_of = place_program(
        question.mapping, graph, network,
        seed=question.seed, tasks_per_node=question.tasks_per_node,
    )  # fmt: skip
    given = connections(
        graph, node_of, network.num_nodes,
        words=question.words, word_bytes=question.word_bytes, order=order,
    )  # fmt: skip
    return graph, node_of, given


def _costs(question: CompileQuestion) -> tuple[ConSetCosts, MessageCosts]:
    costs = ConSetCosts(
        sync_clocks=question.sync_clocks,
        phase_clocks=question.phase_clocks,
        clocks_per_word=question.clocks_per_word,
        channel_clocks_per_word=question.channel_clocks_per_word,
        both_ways=question.both_ways,
    )
    return costs, MessageCosts(
        send_clocks=question.send_clocks,
        receive_clocks=question.receive_clocks,
        clocks_per_word=question.clocks_per_word,
    )


def _kind(question: CompileQuestion) -> Literal["streaming", "shared", "timetable"]:
    if question.schedule != "auto":
        return question.schedule
    slower = question.clocks_per_word > question.channel_clocks_per_word
    return "streaming" if question.both_ways and not slower else "shared"


def _simulated(
    question: CompileQuestion, plan: Plan, timetable: Timetable, costs: ConSetCosts
) -> SimulatedPhases:
    """Run phases and messages; what was finished when it was interrupted is kept."""
    at_channels = MessageCosts(
        send_clocks=question.send_clocks,
        receive_clocks=question.receive_clocks,
        clocks_per_word=question.channel_clocks_per_word,
    )
    executed = None
    try:
        executed = execute(plan, costs, timetable=timetable)
        passed = message_passing(plan.connections, plan.topology, at_channels, seed=question.seed)
    except KeyboardInterrupt:
        note = "interrupted: what was finished by then"
        return SimulatedPhases(executed, None, note, interrupted=True)
    except DeadlockError as error:
        return SimulatedPhases(executed, None, f"no messages: {error}")
    return SimulatedPhases(executed, passed)
