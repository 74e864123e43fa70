"""A question about a mapping made ready: its program, its network, and the nodes it may use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.mapping import find_layout, read_hosts
from netloom.mapping.allocation import allocated_hosts, places_of
from netloom.mapping.placements import check_room
from netloom.mapping.search.objectives import measure_by, objective_of
from netloom.questions.analyze.question import MappedNetwork
from netloom.questions.fields import refuse
from netloom.questions.named import network_of, read_program
from netloom.routing import parse_routing
from netloom.topology.faults import check_working
from netloom.topology.named_parts import vertex_word

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.mapping import Layout
    from netloom.mapping.search.objectives import Measure
    from netloom.questions.map.question import MappingQuestion
    from netloom.routing import SourceRoutes


@dataclass(frozen=True, eq=False)
class MappingTask(MappedNetwork):
    """What a question about a mapping names, read and built once, mapped in order.

    Attributes
    ----------
    nodes
        int32[], the hosts that may be used, ascending.
    tasks_per_host
        Most tasks of each.
    layout
        None where a mapping is searched for.
    """

    question: MappingQuestion
    nodes: Ints
    tasks_per_host: int
    layout: Layout | None = None

    @cached_property
    def value_of(self) -> Measure:
        """What measures mappings by the objective, scaled as the search does."""
        objective = objective_of(self.question.objective)
        weights = self.weights(self.question.weight)
        return measure_by(
            objective, self.graph, self.network, self.routing, weights, self.node_of,
            self.tasks_per_host,
        )  # fmt: skip

    def mapped(self, node_of: Ints, routes: SourceRoutes | None) -> MappedNetwork:
        """Return the program under another mapping, perhaps on routes of its own."""
        routing = self.routing if routes is None else routes
        return replace(self, node_of=node_of, routing=routing)

    def crosses(self, node_of: Ints) -> bool:
        """Whether a mapping leaves anything that crosses the network."""
        return bool(self.value_of.crossing(node_of).any())


def prepare(question: MappingQuestion) -> MappingTask:
    """Read the program, build the network, and find the nodes that may be used."""
    if question.load is not None and not question.simulate:
        raise InputError("load", f"{question.load:g} without a simulation", "simulate as well")
    if question.layout is not None:
        refuse(question, ("seconds", "rounds", "tasks_per_node"), "a search, with no layout")
    objective_of(question.objective)
    graph = read_program(question.app, messages=question.messages, parts=question.parts)
    network, machine = network_of(question)
    hosts = None if question.hosts is None else read_hosts(str(question.hosts))
    allocated = allocated_hosts(question.nodes, network, hosts)
    places = places_of(allocated, network, question.tasks_per_node)
    check_room(graph.num_tasks, places.num_groups, question.tasks_per_node, network.name)
    nodes, tasks_per_host = places.each()
    routing = question.routing
    task = MappingTask(
        graph=graph,
        network=network,
        machine=machine,
        routing=parse_routing(routing, network) if isinstance(routing, str) else routing,
        node_of=places.at(np.arange(graph.num_tasks)),
        question=question,
        nodes=nodes,
        tasks_per_host=tasks_per_host,
    )
    task.weights(question.weight)  # refused now, if there are none
    if question.layout is None:
        return task
    return replace(task, layout=_layout(task, question.layout))


def _layout(task: MappingTask, name: str) -> Layout:
    """Return the layout of this name, if it keeps to the nodes that may be used."""
    layout = find_layout(name, task.graph, task.network)
    check_working(task.network, layout.node_of, f"layout '{name}'")
    outside = ~np.isin(layout.node_of, task.nodes)
    if outside.any():
        at = int(np.argmax(outside))
        name = vertex_word(task.network, int(layout.node_of[at]))
        found = f"task {at} on node {name}, which is not allocated"
        raise InputError(f"layout '{name}'", found, "an allocation that has all its nodes")
    return layout
