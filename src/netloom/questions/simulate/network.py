"""A network made ready to be simulated under a load, and what answers say of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from netloom.base.arrays import Ints
from netloom.base.errors import InputError
from netloom.base.figures import FLITS, Figures, figure
from netloom.base.words import counted, number
from netloom.machines import Machine
from netloom.questions.fields import ROUTER_FIELDS, asked_router
from netloom.questions.named import entering, network_of, placed, program_on
from netloom.questions.simulate.fields import OpenLoad
from netloom.questions.simulate.programs import only_program, pattern_asked, share_programs
from netloom.questions.terminal import subject
from netloom.simulation.network.bound import Bound, FailureCost
from netloom.simulation.network.layout import MOST_NODES
from netloom.simulation.network.routers import with_lanes
from netloom.simulation.network.run import (
    LoadedNetwork,
    ProgramTraffic,
    comparable,
    failure_cost,
    possible_settings,
    techniques_of,
)
from netloom.topology.faults import broken_parts
from netloom.workload import Traffic, parse_arrivals, parse_lengths
from netloom.workload.programs.shared import program_seeds, shared_traffic
from netloom.workload.traffic import from_process_graph


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
    def router_fields(self) -> dict[str, Any]:
        """The router's name and its fields."""
        router = asdict(self.settings[0].router)
        return {"name": self.router_name} | {name: router[name] for name in ROUTER_FIELDS}


class Failures(Figures):
    """What is broken, and what that costs."""

    channels: tuple[str, ...] = figure()
    nodes: tuple[str, ...] = figure()
    cost: FailureCost = figure(at=".")


class UnderLoad(Figures):
    """What answers say of a network and of the packets that come to it."""

    topology: str = figure(table=False)
    nodes: int = figure(table=False)
    num_routers: int | None = figure("routers", at="routers", table=False, optional=True)
    num_channels: int = figure("channels", at="channels", table=False)
    failures: Failures | None = figure()
    traffic: str = figure(table=False)
    inside_nodes: float = figure(table=False)
    arrivals: str = figure(table=False)
    packet_law: str = figure(at="packet_flits.law", table=False)
    packet_mean: float = figure(unit="flits", at="packet_flits.mean", table=False)
    routing: str = figure(table=False)
    router: dict[str, object] = figure(table=False)
    throughput_bounds: dict[str, Bound] = figure("limit of each technique")
    flit_bytes: float | None = figure(unit="bytes", table=False)
    cycle_us: float | None = figure(unit="µs", table=False)
    seed: int = figure(table=False)
    notes: tuple[str, ...] = figure("remarks", at="remarks")
    refused: dict[str, object] = figure("techniques that are not possible, and why", table=False)

    @classmethod
    def of(cls, network: SimulatedNetwork) -> UnderLoad:
        """Return what is said of a network that is ready to be simulated."""
        topology, machine, failures = network.topology, network.machine, None
        broken = broken_parts(topology)
        if broken is not None and network.cost is not None:
            channels, nodes = tuple(broken["channels"]), tuple(broken["nodes"])
            failures = Failures(channels=channels, nodes=nodes, cost=network.cost)
        return cls(
            topology=topology.name,
            nodes=topology.num_hosts,
            num_routers=None if topology.direct else topology.num_routers,
            num_channels=topology.num_network_channels,
            failures=failures,
            traffic=network.traffic.name,
            inside_nodes=network.inside_nodes,
            arrivals=network.arrivals.name,
            packet_law=network.lengths.name,
            packet_mean=network.lengths.mean,
            routing=network.settings[0].routing.name,
            router=network.router_fields,
            throughput_bounds={each.router.switching: each.bound for each in network.settings},
            flit_bytes=machine.flit_bytes if machine else None,
            cycle_us=machine.cycle_us if machine else None,
            seed=network.seed,
            notes=network.remarks,
            refused=dict(network.refused),
        )

    @property
    def compares(self) -> bool:
        """Whether techniques are compared, possible or not."""
        return len(self.throughput_bounds) + len(self.refused) > 1

    @property
    def bound(self) -> Bound:
        """What limits the technique that could carry most."""
        return max(self.throughput_bounds.values(), key=lambda bound: bound.load)

    def subject(self, asked: Mapping[str, Any]) -> str:
        """Return what is simulated, in short."""
        mapping = asked["mapping"] if asked["app"] is not None else None
        return subject(self.traffic, self.topology, mapping)

    @property
    def _vcs(self) -> str:
        buffers = counted(str(self.router["buffer_flits"]), "flit")
        return f"{counted(str(self.router['vcs']), 'VC')} of {buffers}"

    @property
    def _packets(self) -> str:
        return f"packets of {counted(self.packet_law, 'flit')}"

    @property
    def how(self) -> str:
        """The routers, the packets and the size of the network, in words."""
        size = counted(self.nodes, "node")
        if self.num_routers is not None:
            size = f"{counted(self.nodes, 'host')}, {counted(self.num_routers, 'router')}"
        parts = [
            str(self.router["name"]),
            *([] if self.compares else self.throughput_bounds),
            self._vcs,
            self.routing,
            self._packets,
            self.arrivals,
            *([f"{number(self.cycle_us)} µs per cycle"] if self.cycle_us else []),
            f"{size}, {counted(self.num_channels, 'channel')}",
        ]
        return ", ".join(parts)

    def remarks(self) -> Iterator[str]:
        """Yield how it was run, what was changed, and which techniques are not possible."""
        yield self.how
        yield from self.notes
        yield from (f"{name} is not possible: {why}" for name, why in self.refused.items())

    def footer(self) -> list[str]:
        """Return what was simulated, on which routers, and what limits it."""
        bound = self.bound
        return [
            f"{self.traffic} on {self.topology}; {self.routing}, {self.router['name']} router, "
            f"{self._vcs}, {self._packets}",
            f"Limit with {bound.whose}: {number(bound.load)} {FLITS}, by {bound.what}",
        ]


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
    programs: ProgramTraffic | None = None
    tasks: tuple[Traffic, Ints] | None = None  # those of a single program
    if (pattern := pattern_asked(question, topology)) is not None:
        traffic, inside = pattern
    elif (only := only_program(question.app, topology)) is None:
        shared = share_programs(question, topology, question.seed)
        sent, inside = entering(shared.graph, topology, shared.node_of, question.weight)
        shared = replace(shared, graph=sent)
        traffic, load_factor = shared_traffic(shared, weight=question.weight)
        alone = [shared.alone(number) for number in range(len(shared.names))]
        traffics = tuple(
            from_process_graph(one.graph, one.node_of, one.num_nodes, weight=question.weight)
            for one in alone
        )
        seeds = program_seeds(shared, question.seed)
        programs = ProgramTraffic(shared, traffics, seeds, load_factor)
    else:
        graph = program_on(question, topology, only)
        node_of = placed(question, graph, topology)
        sent, inside = entering(graph, topology, node_of, question.weight)
        traffic = from_process_graph(sent, node_of, topology.num_hosts, weight=question.weight)
        if len(np.unique(node_of)) == graph.num_tasks:
            alike = np.arange(graph.num_tasks)
            own = from_process_graph(sent, alike, graph.num_tasks, weight=question.weight)
            tasks = own, np.asarray(node_of, np.int32)
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
