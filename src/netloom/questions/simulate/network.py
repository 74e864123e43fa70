"""A network made ready to be simulated: what the fields of a question add up to."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.mapping.named import place_program
from netloom.questions.fields import ROUTER_FIELDS, asked_router
from netloom.questions.named import find_network, read_program, read_traffic
from netloom.questions.simulate.shared import only_program, share_programs
from netloom.routing import RouteTable, virtual_channel_routing
from netloom.simulation.network.bound import throughput_bound
from netloom.simulation.network.engine import MOST_NODES
from netloom.simulation.network.failure_cost import failure_cost
from netloom.simulation.network.reservations import reserve
from netloom.simulation.network.routers import SWITCHINGS, Router, Switching, end_channels
from netloom.simulation.network.run import Run
from netloom.simulation.network.sent import Sender
from netloom.topology.faults import Faulty, broken_parts
from netloom.words import counted
from netloom.workload import PacketStream, parse_arrivals, parse_lengths
from netloom.workload.programs.shared import program_seeds, shared_traffic
from netloom.workload.traffic import from_process_graph

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.machines import Machine
    from netloom.provenance import Provenance
    from netloom.questions.simulate.fields import OpenLoad
    from netloom.routing import VirtualChannelRouting
    from netloom.simulation.network.bound import Bound
    from netloom.simulation.network.failure_cost import FailureCost
    from netloom.simulation.network.reservations import Reservation
    from netloom.topology import Topology
    from netloom.workload import Arrivals, Lengths, Traffic
    from netloom.workload.programs.shared import SharedProgram

MOST_RAISED = 254
"""Flits up to which buffers are raised to make techniques comparable."""

OF_A_PROGRAM = ("messages", "mapping", "parts", "weight", "tasks_per_node", "shared", "alone")
"""Fields that say something of ``app`` only."""


@dataclass(frozen=True, eq=False)
class Setting:
    """One switching technique on the network: all that a run needs but its load.

    Attributes
    ----------
    router, routing
        The router, and the routing made for its VCs.
    reservation
        The connections, with reserved VCs.
    bound
        What limits the traffic with this routing and these injection and ejection channels.
    """

    router: Router
    routing: VirtualChannelRouting
    reservation: Reservation | None
    bound: Bound


@dataclass(frozen=True, eq=False)
class Programs:
    """The programs that make the traffic, where each has nodes of its own.

    Attributes
    ----------
    shared
        The programs and where they run.
    traffics
        That of each alone.
    seeds
        Of the packets of each, which are the same whatever other programs there are.
    load_factor
        The load of the average sending node where every program offers a load of 1; above 1 if
        programs share nodes.
    """

    shared: SharedProgram
    traffics: tuple[Traffic, ...]
    seeds: tuple[int, ...]
    load_factor: float


@dataclass(frozen=True, eq=False)
class SimulatedNetwork:
    """The network of a question, and the packets that come to it.

    Attributes
    ----------
    topology, machine
        The network; ``machine`` is None where only a topology was named.
    router_name
        The preset, ``as given`` for a router of one's own.
    traffic, lengths, arrivals
        Who sends to whom, how long packets are, when they come.
    seed
        Of everything random.
    settings
        One for each switching technique that is possible.
    refused
        The techniques that are not, and why.
    remarks
        What was changed to make techniques comparable, and what failures cost.
    programs
        The programs whose traffic it is; None where it is that of a pattern, or of one program
        without nodes of its own.
    tasks
        Of one program, with a task a node: the traffic of its tasks, and the node of each. What
        they send and when is drawn for them, whatever the mapping.
    cost
        What failures cost; None where nothing is broken.
    """

    topology: Topology
    machine: Machine | None
    router_name: str
    traffic: Traffic
    lengths: Lengths
    arrivals: Arrivals
    seed: int
    settings: tuple[Setting, ...]
    refused: dict[str, str]
    remarks: tuple[str, ...]
    programs: Programs | None
    tasks: tuple[Traffic, NDArray[np.int32]] | None
    cost: FailureCost | None

    @property
    def name(self) -> str:
        """What a person calls it: ``uniform on mesh:8x8``."""
        return f"{self.traffic.name} on {self.topology.name}"

    @property
    def compares(self) -> bool:
        """Whether techniques are compared, possible or not."""
        return len(self.settings) + len(self.refused) > 1

    def make_run(self, setting: Setting, load: float) -> Run:
        """Return a run that has not begun."""
        return Run(
            self.topology,
            setting.routing,
            setting.router,
            self.traffic,
            load,
            lengths=self.lengths,
            arrivals=self.arrivals,
            seed=self.seed,
            reservation=setting.reservation,
            bound=setting.bound,
            senders=self._senders(load),
            apart=self.programs is not None,
        )

    def _senders(self, load: float) -> list[Sender]:
        """Return what makes the packets where that is not just the traffic."""
        if self.tasks is not None:
            traffic, node_of = self.tasks
            return [Sender(traffic, load, self.seed, node_of)]
        if self.programs is None:
            return []
        each = load / self.programs.load_factor
        pairs = zip(self.programs.traffics, self.programs.seeds, strict=True)
        return [Sender(traffic, each, seed) for traffic, seed in pairs]

    def alone(self, program: int) -> SimulatedNetwork:
        """Return the same network with one of its programs only, where it is, and its bounds."""
        assert self.programs is not None
        programs, one = self.programs, slice(program, program + 1)
        traffic = programs.traffics[program]
        alone = Programs(
            programs.shared.alone(program), programs.traffics[one], programs.seeds[one], 1.0
        )
        settings = tuple(
            replace(each, bound=throughput_bound(self.topology, each.routing, traffic, each.router))
            for each in self.settings
        )
        return replace(self, traffic=traffic, programs=alone, settings=settings)

    def mean_load(self, load: float) -> float:
        """Return the load of the average sending node where every program offers ``load``.

        Raises
        ------
        InputError
            If that is more than 1.
        """
        if self.programs is None:
            return load
        mean, factor = load * self.programs.load_factor, self.programs.load_factor
        if mean > 1 >= load:
            found = f"{load:g} of every program, {mean:.4g} of the average node that they share"
            raise InputError("load", found, f"at most {1 / factor:.4g}")
        return mean

    def most_load(self, setting: Setting) -> float:
        """Return the load from which it is past saturation, or above which none can be."""
        busiest = float(self.traffic.rate.max()) / self.lengths.mean
        return min(setting.bound.load, self.arrivals.most / busiest, 1.0)

    def describe(self, provenance: Provenance) -> dict[str, Any]:
        """Return as plain data what all runs have in common."""
        first, broken = self.settings[0], broken_parts(self.topology)
        fields = asdict(first.router)
        return {
            "topology": self.topology.name,
            "nodes": self.topology.num_nodes,
            "channels": self.topology.num_channels,
            "failures": broken and broken | (self.cost.to_dict() if self.cost else {}),
            "traffic": self.traffic.name,
            "arrivals": self.arrivals.name,
            "packet_flits": {"law": self.lengths.name, "mean": self.lengths.mean},
            "routing": first.routing.name,
            "router": {"name": self.router_name} | {name: fields[name] for name in ROUTER_FIELDS},
            "throughput_bounds": {
                setting.router.switching: setting.bound.to_dict() for setting in self.settings
            },
            "flit_bytes": self.machine.flit_bytes if self.machine else None,
            "cycle_us": self.machine.cycle_us if self.machine else None,
            "seed": self.seed,
            "remarks": list(self.remarks),
            "refused": dict(self.refused),
            "provenance": provenance.to_dict(),
        }


def largest_bound(settings: tuple[Setting, ...]) -> Bound:
    """Return the bound of the technique that could carry most."""
    return max((setting.bound for setting in settings), key=lambda bound: bound.load)


def prepare(question: OpenLoad, load: float | None) -> SimulatedNetwork:
    """Return the network that a question is about, checked by running one cycle of it.

    That cycle also loads the kernels, so that no run's processor time holds their compilation.

    Parameters
    ----------
    question
        The question.
    load
        The highest load that is asked for, of each program if there are several; None where the
        network's own highest will be.

    Raises
    ------
    InputError
        If a field cannot be used, or no technique can.
    DeadlockError
        If the routing can deadlock on so many VCs.
    """
    topology, on_machine = find_network(
        question.on, failed_channels=question.failed_channels, failed_nodes=question.failed_nodes
    )
    if topology.num_nodes > MOST_NODES:
        found = f"{counted(topology.num_nodes, 'node')}"
        raise InputError(topology.name, found, f"at most {MOST_NODES} to simulate flit by flit")
    name, base = asked_router(question, on_machine)
    lengths, arrivals = question.packet_flits, question.arrivals
    traffic, programs, tasks = _traffic(question, topology)
    network = SimulatedNetwork(
        topology=topology,
        machine=on_machine,
        router_name=name,
        traffic=traffic,
        lengths=parse_lengths(lengths) if isinstance(lengths, str | int) else lengths,
        arrivals=parse_arrivals(arrivals) if isinstance(arrivals, str) else arrivals,
        seed=question.seed,
        settings=(),
        refused={},
        remarks=(),
        programs=programs,
        tasks=tasks,
        cost=None,
    )
    if load is not None:  # a load that these packets cannot make is no technique's fault
        load = network.mean_load(load)
        PacketStream(
            network.traffic, load, lengths=network.lengths, arrivals=network.arrivals,
            seed=question.seed,
        )  # fmt: skip
    techniques = _techniques(question.switching, base)
    base, remarks = _comparable(base, techniques, network.lengths)
    settings, refused = _settings(question, network, base, techniques, load)
    cost = None
    if isinstance(topology, Faulty):
        first = settings[0]
        cost = failure_cost(topology, first.routing, traffic, first.router, first.bound)
        remarks = (*remarks, cost.remark)
    return replace(network, settings=settings, refused=refused, remarks=remarks, cost=cost)


def _settings(
    question: OpenLoad,
    network: SimulatedNetwork,
    base: Router,
    techniques: list[Switching],
    load: float | None,
) -> tuple[tuple[Setting, ...], dict[str, str]]:
    """Return the techniques that are possible, and why the others are not."""
    settings: list[Setting] = []
    refused: dict[str, str] = {}
    for technique in techniques:
        try:
            setting = _setting(question, network, replace(base, switching=technique))
            network.make_run(setting, load or network.most_load(setting)).advance(1)
            settings.append(setting)
        except InputError as error:
            if len(techniques) == 1:
                raise
            refused[technique] = str(error)
    if not settings:
        found = "; ".join(f"{technique}: {why}" for technique, why in refused.items())
        raise InputError("switching", f"no technique that is possible here: {found}")
    return tuple(settings), refused


def _traffic(
    question: OpenLoad, topology: Topology
) -> tuple[Traffic, Programs | None, tuple[Traffic, NDArray[np.int32]] | None]:
    """Return the traffic, the programs that make it, and that of the tasks of a single one."""
    if question.app is None:
        for field in OF_A_PROGRAM:
            default = type(question).model_fields[field].default
            if not np.array_equal(getattr(question, field), default):
                raise InputError(field, "no program", f"app, for {field} to go with")
        return read_traffic(question.traffic, topology), None, None
    if question.traffic is not None:
        raise InputError("traffic", "traffic as well as app", "one of them")
    only = only_program(question.app)
    if only is None:
        return *_of_programs(question, topology), None
    graph = read_program(only, messages=question.messages, parts=question.parts)
    node_of = place_program(
        question.mapping,
        graph,
        topology,
        seed=question.seed,
        tasks_per_node=question.tasks_per_node,
    )
    traffic = from_process_graph(graph, node_of, topology.num_nodes, weight=question.weight)
    tasks = None
    if len(np.unique(node_of)) == graph.num_tasks:
        alike = np.arange(graph.num_tasks)
        own = from_process_graph(graph, alike, graph.num_tasks, weight=question.weight)
        tasks = own, np.asarray(node_of, np.int32)
    return traffic, None, tasks


def _of_programs(question: OpenLoad, topology: Topology) -> tuple[Traffic, Programs]:
    """Return the traffic of programs on nodes of their own."""
    shared = share_programs(question, topology, question.seed)
    together, load_factor = shared_traffic(shared, weight=question.weight)
    alone = [shared.alone(number) for number in range(len(shared.names))]
    traffics = tuple(
        from_process_graph(one.graph, one.node_of, one.num_nodes, weight=question.weight)
        for one in alone
    )
    return together, Programs(shared, traffics, program_seeds(shared, question.seed), load_factor)


def _techniques(asked: str | None, base: Router) -> list[Switching]:
    """Return the switching techniques asked for, none twice."""
    if asked is None:
        return [base.switching]
    named = [word.strip() for word in asked.split(",")]
    for name in named:
        if name not in (*SWITCHINGS, "all"):
            wanted = f"{', '.join(SWITCHINGS)}, several with commas, or all"
            raise InputError("switching", f"'{name}'", wanted)
    return [each for each in SWITCHINGS if each in named or "all" in named]


def _comparable(
    base: Router, techniques: list[Switching], lengths: Lengths
) -> tuple[Router, tuple[str, ...]]:
    """Give the routers that are compared buffers that hold a packet, if one of them needs it."""
    whole = [each for each in ("virtual-cut-through", "store-and-forward") if each in techniques]
    longest = lengths.longest
    if len(techniques) == 1 or not whole or not base.buffer_flits < longest <= MOST_RAISED:
        return base, ()
    remark = (
        f"buffers of {longest} flits a VC instead of {base.buffer_flits}, for all: "
        f"{' and '.join(whole)} must hold a whole packet"
    )
    return replace(base, buffer_flits=longest), (remark,)


def _setting(question: OpenLoad, network: SimulatedNetwork, router: Router) -> Setting:
    topology, lengths = network.topology, network.lengths
    if router.whole_packets and lengths.longest > router.buffer_flits:
        found = f"packets of up to {lengths.longest} flits for buffers of {router.buffer_flits}"
        wanted = f"buffers that hold a packet: buffer_flits for {router.switching}"
        raise InputError("packet_flits", found, wanted)
    reservation = None
    if router.switching == "reserved":
        if isinstance(question.routing, RouteTable):
            wanted = "a routing of one path for each pair of nodes, as reserved VCs need"
            raise InputError("routing", f"the table {question.routing.name}", wanted)
        reservation = reserve(topology, question.routing, network.traffic, router)
        routing = reservation.routing
    else:
        injection, ejection = end_channels(topology, router)
        routing = virtual_channel_routing(
            topology,
            question.routing,
            num_vcs=router.vcs,
            injection_channels=injection,
            ejection_channels=ejection,
        )
    bound = throughput_bound(topology, routing, network.traffic, router)
    return Setting(router, routing, reservation, bound)
