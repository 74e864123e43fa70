"""A network made ready to be simulated under a load: what the fields of a question add up to."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.words import counted
from netloom.questions.fields import ROUTER_FIELDS, asked_router
from netloom.questions.named import (
    entering,
    network_of,
    placed,
    program_on,
    read_traffic,
)
from netloom.questions.simulate.programs import only_program, share_programs
from netloom.simulation.network.arrays import MOST_NODES
from netloom.simulation.network.loaded import (
    LoadedNetwork,
    ProgramTraffic,
    comparable,
    failure_cost,
    possible_settings,
    techniques_of,
)
from netloom.simulation.network.routers import with_lanes
from netloom.workload import parse_arrivals, parse_lengths
from netloom.workload.programs.shared import between_groups, program_seeds, shared_traffic
from netloom.workload.traffic import from_process_graph

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.machines import Machine
    from netloom.questions.simulate.fields import OpenLoad
    from netloom.simulation.capacity import FailureCost
    from netloom.topology import Topology
    from netloom.workload import Traffic

OF_A_PROGRAM = ("messages", "mapping", "parts", "weight", "tasks_per_node", "shared", "alone")
"""Fields that say something of ``app`` only."""

SLOW = 3.0
"""Latency, in times that of the idle network, from which a network counts as saturated."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SimulatedNetwork(LoadedNetwork):
    """The network of a question, and the packets that come to it.

    Attributes
    ----------
    machine
        None where only a topology was named.
    router_name
        The preset, ``as given`` for a router of one's own.
    refused
        The techniques that are not possible, and why.
    remarks
        What was changed to make techniques comparable, and what failures cost.
    cost
        What failures cost, or None where nothing is broken.
    inside_nodes
        The share of the traffic that stays inside nodes.
    """

    machine: Machine | None
    router_name: str
    refused: dict[str, str]
    remarks: tuple[str, ...]
    cost: FailureCost | None
    inside_nodes: float

    @property
    def compares(self) -> bool:
        """Whether techniques are compared, possible or not."""
        return len(self.settings) + len(self.refused) > 1

    @property
    def router_fields(self) -> dict[str, Any]:
        """The router's name and its fields."""
        router = asdict(self.settings[0].router)
        return {"name": self.router_name} | {name: router[name] for name in ROUTER_FIELDS}


def prepare(question: OpenLoad) -> SimulatedNetwork:
    """Return the network that a question is about, checked by running one cycle at most load.

    Raises
    ------
    InputError
        If a field cannot be used, or no technique can.
    DeadlockError
        If the routing can deadlock on so many VCs.
    """
    load = max(question.loads, default=None)
    topology, on_machine = network_of(question)
    if topology.num_hosts > MOST_NODES:
        found = f"{counted(topology.num_hosts, 'node')}"
        raise InputError(topology.name, found, f"at most {MOST_NODES} to simulate flit by flit")
    name, base = asked_router(question, on_machine)
    topology = with_lanes(topology, base)
    lengths, arrivals = question.packet_flits, question.arrivals
    traffic, programs, tasks, inside = _traffic(question, topology)
    loaded = LoadedNetwork(
        topology=topology,
        traffic=traffic,
        lengths=parse_lengths(lengths) if isinstance(lengths, str | int) else lengths,
        arrivals=parse_arrivals(arrivals) if isinstance(arrivals, str) else arrivals,
        seed=question.seed,
        programs=programs,
        tasks=tasks,
    )
    if load is not None:  # a load that these packets cannot make is no technique's fault
        load = loaded.mean_load(load)
        loaded.check_load(load)
    techniques = techniques_of(question.switching, base)
    base, remarks = comparable(base, techniques, loaded.lengths)
    routing = on_machine.routing(question.routing) if on_machine else question.routing
    settings, refused = possible_settings(loaded, base, routing, techniques, load)
    cost = None
    if topology.broken:
        first = settings[0]
        cost = failure_cost(topology, first.routing, traffic, first.router, first.bound)
        remarks = (*remarks, cost.remark)
    return SimulatedNetwork(
        **vars(loaded) | {"settings": settings},
        machine=on_machine,
        router_name=name,
        refused=refused,
        remarks=remarks,
        cost=cost,
        inside_nodes=inside,
    )


def _traffic(
    question: OpenLoad, topology: Topology
) -> tuple[Traffic, ProgramTraffic | None, tuple[Traffic, Ints] | None, float]:
    """Return the traffic, the programs that make it, and that of the tasks of a single one.

    Last comes the share that stays inside nodes.
    """
    if question.app is None:
        for field in OF_A_PROGRAM:
            default = type(question).model_fields[field].default
            if not np.array_equal(getattr(question, field), default):
                raise InputError(field, "no program", f"app, for {field} to go with")
        asked = read_traffic(question.traffic, topology, question.nodes)
        traffic, inside = between_groups(asked, topology.local_group)
        return traffic, None, None, inside
    if question.traffic is not None:
        raise InputError("traffic", "traffic as well as app", "one of them")
    only = only_program(question.app, topology)
    if only is None:
        together, programs, inside = _of_programs(question, topology)
        return together, programs, None, inside
    graph = program_on(question, topology, only)
    node_of = placed(question, graph, topology)
    sent, inside = entering(graph, topology, node_of, question.weight)
    traffic = from_process_graph(sent, node_of, topology.num_hosts, weight=question.weight)
    tasks = None
    if len(np.unique(node_of)) == graph.num_tasks:
        alike = np.arange(graph.num_tasks)
        own = from_process_graph(sent, alike, graph.num_tasks, weight=question.weight)
        tasks = own, np.asarray(node_of, np.int32)
    return traffic, None, tasks, inside


def _of_programs(question: OpenLoad, topology: Topology) -> tuple[Traffic, ProgramTraffic, float]:
    """Return the traffic of programs on nodes of their own, and the share inside nodes."""
    shared = share_programs(question, topology, question.seed)
    sent, inside = entering(shared.graph, topology, shared.node_of, question.weight)
    shared = replace(shared, graph=sent)
    together, load_factor = shared_traffic(shared, weight=question.weight)
    alone = [shared.alone(number) for number in range(len(shared.names))]
    traffics = tuple(
        from_process_graph(one.graph, one.node_of, one.num_nodes, weight=question.weight)
        for one in alone
    )
    seeds = program_seeds(shared, question.seed)
    return together, ProgramTraffic(shared, traffics, seeds, load_factor), inside
