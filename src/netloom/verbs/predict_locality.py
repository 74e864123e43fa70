"""How fast do processors communicate that wait for their network, and what is a mapping worth?"""

# ruff: noqa: TC001 (pydantic reads the annotations)

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from pydantic import Field

from netloom.errors import InputError
from netloom.machines import Machine
from netloom.mapping.named import place_program
from netloom.models import locality as model
from netloom.models.locality_mapping import MappedMessages, mean_locality
from netloom.models.locality_network import TorusNetwork, random_distance
from netloom.models.locality_node import Application, TransactionCost
from netloom.provenance import DEFAULT_SEED
from netloom.topology import Cube, Topology, average_distance
from netloom.verbs.locality_prediction import LocalityPrediction
from netloom.verbs.network_question import refuse
from netloom.verbs.predict_numbers import parse_sizes
from netloom.verbs.predict_torus import find_torus
from netloom.verbs.programs import read_program
from netloom.verbs.question import MOST, MOST_DIMENSIONS, MOST_SEED, InstanceOf, Question, ask
from netloom.verbs.record import provenance_of
from netloom.words import counted
from netloom.workload import ProcessGraph

if TYPE_CHECKING:
    from numpy.typing import NDArray

Models = tuple[Application, TransactionCost, TorusNetwork]

NODES, DIMENSIONS = 1000, 2
"""Where neither they nor a network are given: Johnson's largest but one."""

RANDOM_MAPPINGS = 10
"""Random mappings of a program that its own is compared with."""

OF_A_PROGRAM = ("messages", "parts", "mapping", "weight")
"""Fields that say something of ``app`` only."""


class LocalityQuestion(Question):
    """The question that ``predict_locality`` answers.

    Attributes
    ----------
    nodes, dimensions
        Of the torus: a number of nodes, several, or a range ``START:STOP:STEP`` or
        ``START:STOP:xFACTOR``; by default 1000, in 2 dimensions.
    on
        Instead of these a torus: a topology, a spec such as ``torus:8x8``, or a machine.
    contexts
        p: hardware contexts of a processor, or its outstanding transactions.
    network_speed
        The network's clock over the processor's.
    distance
        d, mean hops of a message under the mapping that is asked about; by default that of a
        random mapping.
    node_channels
        How many of the channels between a node and its router messages queue for: 0, 1 or 2.
    run_processor_cycles, switch_processor_cycles, fixed_processor_cycles
        T_r, T_s and T_f: useful work between two transactions, the time from one context to
        another, and what a transaction takes beside its messages.
    transaction_messages, critical_messages, message_flits
        g, c and B: messages of a transaction, those of them that follow one another, and their
        mean length. Like the three before, by default those of Johnson's program on Alewife; see
        ``models.locality.alewife``.
    app, messages, parts, mapping
        A program with a task on each node, how to read it, and where its tasks run (see
        ``analyze``): its mean distance and the loads of its channels under the mapping are
        counted. ``on`` says where. Every task has as many transactions as any other.
    weight
        How a task shares them among its neighbours: by ``bytes``, by ``messages``, or
        ``uniform``.
    seed
        Of the random mapping; those that are compared with use the seeds after it.
    """

    nodes: Any = None
    dimensions: int | None = Field(None, ge=1, le=MOST_DIMENSIONS)
    on: str | InstanceOf[Topology] | InstanceOf[Machine] | None = None
    contexts: float = Field(1, ge=1, le=MOST)
    network_speed: float = Field(2, gt=0, le=MOST)
    distance: float | None = Field(None, gt=0, le=MOST)
    node_channels: Literal[0, 1, 2] = 0
    run_processor_cycles: float | None = Field(None, ge=0, le=MOST)
    switch_processor_cycles: float | None = Field(None, ge=0, le=MOST)
    fixed_processor_cycles: float | None = Field(None, ge=0, le=MOST)
    transaction_messages: float | None = Field(None, gt=0, le=MOST)
    critical_messages: float | None = Field(None, ge=0, le=MOST)
    message_flits: float | None = Field(None, gt=0, le=MOST)
    app: str | InstanceOf[ProcessGraph] | None = None
    messages: str | None = None
    parts: str = "network"
    mapping: Any = "identity"
    weight: Literal["bytes", "messages", "uniform"] = "bytes"
    seed: int = Field(DEFAULT_SEED, ge=0, le=MOST_SEED)


def predict_locality(nodes: Any = None, **options: Any) -> LocalityPrediction:
    """Predict how often processors communicate over a torus, and what a mapping is worth to them.

    Johnson's model (ISCA 1992), in which processors that wait longer also send less: see
    ``models.locality``.

    Parameters
    ----------
    nodes
        The size of the torus; see ``LocalityQuestion``, as for all other options.

    Raises
    ------
    InputError
        If a field, a file or their combination cannot be used.

    Examples
    --------
    >>> found = predict_locality(1000)
    >>> figures = found.to_dict()
    >>> round(figures["gain"], 2), round(figures["message_rate"], 4)
    (2.06, 0.0131)
    >>> predict_locality([1e3, 1e6]).table().filter(mapping="ideal")["gain"].round(1).to_list()
    [2.1, 41.2]
    """
    question = ask(LocalityQuestion, {"nodes": nodes, **options})
    _check_places(question)
    topology, graph = None, None
    if question.on is None:
        dimensions = question.dimensions or DIMENSIONS
        sizes = _sizes(question, dimensions)
        far = random_distance(sizes, dimensions)
    else:
        topology = find_torus(question.on)
        sizes, dimensions = (topology.num_nodes,), len(topology.sides)
        far = np.array([average_distance(topology)])
    models = _models(question, dimensions)
    at_random = MappedMessages.even(far)
    chosen, name = at_random, "random"
    if question.app is not None:
        assert topology is not None  # checked
        graph, chosen, at_random = _mapped(question, topology)
        name = question.mapping if isinstance(question.mapping, str) else "as given"
    elif question.distance is not None:
        chosen = _at_distance(question.distance, sizes, dimensions, topology)
        name = f"of distance {question.distance:g}"
    return LocalityPrediction(
        nodes=sizes,
        dimensions=dimensions,
        topology=topology,
        graph=graph,
        mapping=name,
        chosen=mean_locality(*models, chosen, len(sizes)),
        ideal=mean_locality(*models, MappedMessages.even(np.ones(len(sizes))), len(sizes)),
        random=mean_locality(*models, at_random, len(sizes)),
        work_cycles=question.network_speed * float(models[0].run_processor_cycles),  # type: ignore[arg-type]
        per_hop_limit=float(model.per_hop_limit(*models)),
        provenance=provenance_of(question, "predict_locality", topology),
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


def _shares(question: LocalityQuestion, graph: ProcessGraph, topology: Cube) -> NDArray[np.float64]:
    """Return the part of its source's transactions that each edge has."""
    if graph.num_tasks != topology.num_nodes:
        found = f"{graph.num_tasks} tasks for the {topology.num_nodes} nodes of {topology.name}"
        raise InputError("app", found, "a task on each node: in the model all nodes are alike")
    total = np.bincount(graph.source, graph.weights(question.weight), graph.num_tasks)
    if not total.all():
        found = f"task {int(np.argmin(total))} of {graph.name}, which sends no {question.weight}"
        raise InputError("app", found, "tasks that all send: in the model all nodes are alike")
    return graph.shares(question.weight)
