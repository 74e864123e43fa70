"""How fast do processors communicate that wait for their network, and what is a mapping worth?"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.mapping.named import place_program
from netloom.questions.base import MOST, MOST_DIMENSIONS, Numbers, Question, option
from netloom.questions.fields import (
    EdgeWeight,
    Network,
    Nodes,
    Program,
    ProgramFile,
    Seeded,
    refuse,
)
from netloom.questions.named import mapping_name, read_program
from netloom.questions.numbers import parse_sizes
from netloom.questions.outputs import PLOT
from netloom.questions.predict.fields import SIZES, find_torus
from netloom.questions.recipes import provenance_of
from netloom.questions.register import asks
from netloom.topology import Cube, average_distance
from netloom.workload import ProcessGraph
from netloom_papers.models import locality as model
from netloom_papers.models.locality import (
    Application,
    MappedMessages,
    TorusNetwork,
    TransactionCost,
    mean_locality,
    random_distance,
)
from netloom_papers.questions.predict.locality.answer import LocalityPrediction

if TYPE_CHECKING:
    from netloom.base.arrays import Floats

Models = tuple[Application, TransactionCost, TorusNetwork]

NODES, DIMENSIONS = 1000, 2
"""Where neither they nor a network are given: Johnson's largest but one."""

RANDOM_MAPPINGS = 10
"""Random mappings of a program that its own is compared with."""

OF_A_PROGRAM = ("messages", "parts", "mapping", "weight")
"""Fields that say something of ``app`` only."""


class TorusSize(Question, panel="Torus"):
    """The torus."""

    nodes: Numbers | None = option(
        f"Nodes of the torus: {SIZES}.", default=None, kw_only=False, shown_default="1000"
    )
    dimensions: int | None = option(
        "Dimensions of the torus.", default=None, ge=1, le=MOST_DIMENSIONS, shown_default="2"
    )
    on: Network | None = option(
        "Torus instead of its size: torus:8x8, a topology or a machine.", default=None, file=True
    )
    node_channels: Literal[0, 1, 2] = option(
        "Channels between node and router with a queue: 0, 1 or 2.", default=0
    )


class TasksOfNodes(Question, panel="Program"):
    """How far messages go: a distance, or a program with a task on each node."""

    distance: float | None = option(
        "Mean distance of messages under the mapping, d.", unit="hops", default=None, gt=0, le=MOST,
        shown_default="those of a random mapping",
    )  # fmt: skip
    app: Program | None = option(
        "Process graph with one task per node, as for analyze.", default=None, file=True
    )
    mapping: Nodes = option(
        "Mapping: identity, random, a layout (gray, tiles, fold ...), "
        "distance:HOPS, a file, or the node of each task.",
        default="identity",
        file=True,
    )


class Processors(Question, panel="Processors and their transactions (by default Alewife's)"):
    """Processors that wait for the network."""

    contexts: float = option(
        "Hardware contexts, or outstanding transactions, per processor.",
        default=1, ge=1, le=MOST,
    )  # fmt: skip
    network_speed: float = option("Network clock / processor clock.", default=2, gt=0, le=MOST)
    run_processor_cycles: float | None = option(
        "Useful work between two transactions, T_r.", unit="processor cycles",
        default=None, ge=0, le=MOST, shown_default="8.055",
    )  # fmt: skip
    switch_processor_cycles: float | None = option(
        "Time of a context switch, T_s.", unit="processor cycles",
        default=None, ge=0, le=MOST, shown_default="11",
    )  # fmt: skip
    fixed_processor_cycles: float | None = option(
        "Fixed time per transaction, excluding messages, T_f.", unit="processor cycles",
        default=None, ge=0, le=MOST, shown_default="38.85 with one context",
    )  # fmt: skip
    transaction_messages: float | None = option(
        "Messages per transaction, g.", default=None, gt=0, le=MOST, shown_default="3.2"
    )
    critical_messages: float | None = option(
        "Messages on a transaction's critical path, c.",
        default=None, ge=0, le=MOST, shown_default="1.895 with one context",
    )  # fmt: skip
    message_flits: float | None = option(
        "Mean length of a message, B.", unit="flits",
        default=None, gt=0, le=MOST, shown_default="12",
    )  # fmt: skip


class LocalityQuestion(Seeded, Processors, EdgeWeight, ProgramFile, TasksOfNodes, TorusSize):
    """Processors that wait for a torus, and where their tasks run."""


@dataclass(frozen=True, eq=False)
class MappedTorus:
    """The tori of a question, and where messages go on them.

    Attributes
    ----------
    models
        Johnson's models of the processors and of the network.
    chosen, random
        Where messages go under that mapping, and under a random one: a value for each size, or
        of several random mappings each.
    """

    nodes: tuple[int, ...]
    dimensions: int
    topology: Cube | None
    graph: ProcessGraph | None
    mapping: str
    models: Models
    chosen: MappedMessages
    random: MappedMessages


def prepare(question: LocalityQuestion) -> MappedTorus:
    """Build the torus, and map the program to it if there is one."""
    _check_places(question)
    topology, graph = None, None
    if question.on is None:
        dimensions = question.dimensions or DIMENSIONS
        sizes = _sizes(question, dimensions)
        far = random_distance(sizes, dimensions)
    else:
        topology = find_torus(question.on)
        sizes, dimensions = (topology.num_hosts,), len(topology.sides)
        far = np.array([average_distance(topology)])
    models = _models(question, dimensions)
    at_random = MappedMessages.even(far)
    chosen, name = at_random, "random"
    if question.app is not None:
        assert topology is not None  # checked
        graph, chosen, at_random = _mapped(question, topology)
        name = mapping_name(question.mapping)
    elif question.distance is not None:
        chosen = _at_distance(question.distance, sizes, dimensions, topology)
        name = f"of distance {question.distance:g}"
    return MappedTorus(sizes, dimensions, topology, graph, name, models, chosen, at_random)


@asks(
    LocalityQuestion,
    prepare=prepare,
    title="Model of locality",
    example="netloom predict locality --on torus:8x8 --app examples/lammps-64.mtx --contexts 4",
    page="is-locality-worth-it.md",
    outputs=(PLOT,),
)
def predict_locality(question: LocalityQuestion, ready: MappedTorus) -> LocalityPrediction:
    """Predict how fast processors communicate over a torus, and what a better mapping gains.

    In Johnson's model (ISCA 1992), processors that wait longer also send less: see
    ``models.locality``.

    Examples
    --------
    >>> found = predict_locality(1000)
    >>> figures = found.to_dict()
    >>> round(figures["gain"], 2), round(figures["message_rate"], 4)
    (2.06, 0.0131)
    >>> predict_locality([1e3, 1e6]).table().filter(mapping="ideal")["gain"].round(1).to_list()
    [2.1, 41.2]
    """
    models, sizes = ready.models, len(ready.nodes)
    return LocalityPrediction(
        nodes=ready.nodes,
        dimensions=ready.dimensions,
        topology=ready.topology,
        graph=ready.graph,
        mapping=ready.mapping,
        chosen=mean_locality(*models, ready.chosen, sizes),
        ideal=mean_locality(*models, MappedMessages.even(np.ones(sizes)), sizes),
        random=mean_locality(*models, ready.random, sizes),
        work_cycles=question.network_speed * float(models[0].run_processor_cycles),  # type: ignore[arg-type]
        per_hop_limit=float(model.per_hop_limit(*models)),
        provenance=provenance_of(question, "predict_locality", ready.topology),
    )


def _check_places(question: LocalityQuestion) -> None:
    """Raise InputError if a network, a distance and a program do not go together."""
    if question.on is not None:
        for field in ("nodes", "dimensions"):
            if getattr(question, field) is not None:
                raise InputError(field, f"{getattr(question, field)} as well as on", "one of them")
    if question.app is not None:
        if question.on is None:
            raise InputError("on", "no network for the program", "a torus, such as torus:8x8")
        if question.distance is not None:
            wanted = f"one of them; mapping distance:{question.distance:g} makes such a mapping"
            raise InputError("distance", f"{question.distance:g} as well as app", wanted)
        return
    refuse(question, OF_A_PROGRAM, "app, which this says something of")


def _sizes(question: LocalityQuestion, dimensions: int) -> tuple[int, ...]:
    """Return numbers of nodes, at least two a side."""
    sizes = parse_sizes(NODES if question.nodes is None else question.nodes, "nodes")
    least = 2**dimensions
    if sizes[0] < least:
        wanted = f"at least {least:,}: two a side in {dimensions} dimension{'s' * (dimensions > 1)}"
        raise InputError("nodes", f"{sizes[0]}", wanted)
    return sizes


def _at_distance(
    distance: float, sizes: tuple[int, ...], dimensions: int, topology: Cube | None
) -> MappedMessages:
    """Return where messages go that distance, if they can on the smallest torus."""
    if topology is None:
        farthest = dimensions * sizes[0] ** (1 / dimensions) / 2
    else:
        farthest = sum(side // 2 for side in topology.sides)
    if distance > farthest * (1 + 1e-9):
        wanted = f"at most {farthest:.4g}, half-way round in each dimension of {sizes[0]:,} nodes"
        raise InputError("distance", f"{distance:g}", wanted)
    return MappedMessages.even(np.full(len(sizes), distance))


def _models(question: LocalityQuestion, dimensions: int) -> Models:
    """Return Alewife's models, with what the question says otherwise."""
    own = question.critical_messages is not None and question.fixed_processor_cycles is not None
    if question.contexts > 4 and not own:
        wanted = "at most the 4 of Alewife's processor, or critical_messages and "
        wanted += "fixed_processor_cycles of another"
        raise InputError("contexts", f"{question.contexts:g}", wanted)
    application, transaction, _ = model.alewife(min(question.contexts, 4))
    application_changes = {
        "contexts": question.contexts,
        "run_processor_cycles": question.run_processor_cycles,
        "switch_processor_cycles": question.switch_processor_cycles,
    }
    transaction_changes = {
        "messages": question.transaction_messages,
        "critical_messages": question.critical_messages,
        "message_flits": question.message_flits,
        "fixed_processor_cycles": question.fixed_processor_cycles,
    }
    application = replace(application, **_said(application_changes))
    transaction = replace(transaction, **_said(transaction_changes))
    critical, every = float(transaction.critical_messages), float(transaction.messages)  # type: ignore[arg-type]
    if critical > every:
        found = f"{critical:.4g} of the {counted(every, 'message', '.4g')} of a transaction"
        raise InputError("critical_messages", found, "at most transaction_messages")
    network = TorusNetwork(dimensions, question.network_speed, question.node_channels)
    return application, transaction, network


def _said(changes: dict[str, float | None]) -> dict[str, Any]:
    return {name: value for name, value in changes.items() if value is not None}


def _mapped(
    question: LocalityQuestion, topology: Cube
) -> tuple[ProcessGraph, MappedMessages, MappedMessages]:
    """Return the program, and where its messages go: under its mapping, and under random ones."""
    assert question.app is not None
    graph = read_program(question.app, messages=question.messages, parts=question.parts)
    share = _shares(question, graph, topology)

    def mapped(mapping: Any, seed: int) -> MappedMessages:
        node_of = place_program(mapping, graph, topology, seed=seed, tasks_per_node=1)
        ends = node_of[graph.source], node_of[graph.target]
        return MappedMessages.of_mapping(topology, *ends, share)

    others = [mapped("random", question.seed + 1 + each) for each in range(RANDOM_MAPPINGS)]
    own = mapped(question.mapping, question.seed)
    return graph, own, MappedMessages.of_several(others)


def _shares(question: LocalityQuestion, graph: ProcessGraph, topology: Cube) -> Floats:
    """Return the part of its source's transactions that each edge has."""
    if graph.num_tasks != topology.num_hosts:
        found = f"{graph.num_tasks} tasks for the {topology.num_hosts} nodes of {topology.name}"
        raise InputError("app", found, "a task on each node: in the model all nodes are alike")
    total = np.bincount(graph.source, graph.weights(question.weight), graph.num_tasks)
    if not total.all():
        found = f"task {int(np.argmin(total))} of {graph.name}, which sends no {question.weight}"
        raise InputError("app", found, "tasks that all send: in the model all nodes are alike")
    return graph.shares(question.weight)
