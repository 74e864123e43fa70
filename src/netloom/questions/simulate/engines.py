"""A network that is ready to run programs, on whichever engine was asked for.

Routers, flit by flit, and flows are netloom's own. Packages add others, each as an ``Engine``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

from netloom.base.declared import declared
from netloom.base.errors import InputError
from netloom.base.figures import CYCLES, Figures, figure
from netloom.base.words import counted, listed
from netloom.machines import Machine
from netloom.machines.named_machines import Clock
from netloom.questions.base import Question
from netloom.questions.fields import ROUTER_FIELDS, asked_router, refuse
from netloom.questions.named import network_of
from netloom.routing import Routing, VirtualChannelRouting, parse_routing
from netloom.simulation.flow import FlowLaw, FlowNetwork, GivenPaths, flow_network
from netloom.simulation.flow.run import FlowRules
from netloom.simulation.network.engine import routing_for
from netloom.simulation.network.layout import MOST_NODES
from netloom.simulation.network.routers import Router, with_lanes
from netloom.simulation.program_network import ProgramNetwork, Rules
from netloom.topology import Topology
from netloom.topology.faults import broken_parts
from netloom.workload.traffic.stream import LONGEST


@dataclass(frozen=True)
class Engine:
    """What a package declares to run programs on an engine of its own.

    It is the value of an entry point of the group ``netloom.engines``, whose name is that of the
    engine: what it moves, such as ``flow``.

    Attributes
    ----------
    said
        What it is, in the help of commands.
    messages
        What it makes of messages, in other words: these are not cut into packets.
    fields
        The fields that say something of this engine only.
    prepare
        Given a question and its network, returns the rules and the routing. Fields of other
        engines have been refused.
    """

    said: str
    messages: str
    fields: type[Question]
    prepare: Callable[[Any, Topology], tuple[Rules, Routing]]


@cache
def others() -> dict[str, Engine]:
    """Return the engines of other packages, by name."""
    return {name: each.load() for name, each in declared("engines").items()}


OTHERS = tuple(declared("engines"))
"""The names of these engines. Nothing of them is imported."""

IN_CYCLES = f"engine {listed(['network', *OTHERS], last='or')}"
"""The engines that have no flows, in words."""

SHARING = {
    "max-min": "shared fairly", "by-latency": "shared by latency",
    "lossless": "shared by turns, with back-pressure",
}  # fmt: skip
"""How flows share channels, as a person says it."""

LAW = tuple(FlowLaw.__dataclass_fields__)
FLOW_FIELDS = (*sorted(LAW), "latency", "overhead", "efficiency")
"""Fields that say something of flows only. A bandwidth may also say how long a cycle is."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedNetwork(ProgramNetwork):
    """The network of a question, ready to run programs.

    Attributes
    ----------
    machine
        None where only a topology was named. Its flits are those of the question, so that its
        ``cycle_us`` is a cycle of what is run.
    bytes_per_second
        The bandwidth of a channel, if it is known and there is no machine.
    flit_bytes
        Bytes of a flit, if they are known.
    """

    machine: Machine | None
    bytes_per_second: float | None = None
    flit_bytes: float | None = None

    @property
    def cycle_us(self) -> float | None:
        """Microseconds of a cycle, or None if no clock is known."""
        if self.bytes_per_second is not None and self.flit_bytes is not None:
            return self.flit_bytes / self.bytes_per_second * 1e6
        return None if self.machine is None else self.machine.cycle_us

    @property
    def router_fields(self) -> dict[str, Any]:
        """The name of what switches, and its fields."""
        router = vars(self.router)
        if isinstance(self.router, Router):
            router = {"switching": self.router.switching} | router
        return {"name": self.router_name} | router


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedFlows:
    """The network of a question, ready to run programs as flows.

    Attributes
    ----------
    topology, routing, links
        The network, the routing whose paths flows take, and its channels as flows share them.
    clock
        What bytes and seconds are, or None if the network is in flits and cycles.
    law, seed
        As the question has them.
    routes
        The path of each message, where a program has its own.
    """

    topology: Topology
    routing: Routing
    links: FlowNetwork
    clock: Clock | None
    law: FlowLaw
    seed: int
    routes: GivenPaths | None = None

    engine_name: ClassVar = "flow"

    @property
    def routing_name(self) -> str:
        """The routing, as a person calls it."""
        return str(self.routes or self.routing)

    @property
    def router_name(self) -> str:
        """How channels are shared, as a person says it."""
        return OnFlows.of(self).how


class OnTopology(Figures):
    """What answers say of a network."""

    topology: str
    nodes: int
    num_channels: int = figure("channels", at="channels")
    failures: dict[str, object] | None

    @staticmethod
    def of_topology(topology: Topology) -> OnTopology:
        """Return what is said of a network."""
        return OnTopology(
            topology=topology.name,
            nodes=topology.num_hosts,
            num_channels=topology.num_network_channels,
            failures=broken_parts(topology),
        )

    @property
    def size(self) -> str:
        """How large the network is, in words."""
        return f"{counted(self.nodes, 'node')}, {counted(self.num_channels, 'channel')}"


class OnSimulated(OnTopology):
    """What answers say of the network that ran them, and of its engine."""

    engine: str
    routing: str
    seed: int

    @staticmethod
    def of_network(network: PreparedNetwork | PreparedFlows) -> OnSimulated:
        """Return what is said of a network that is ready to run programs."""
        return OnSimulated(
            **vars(OnTopology.of_topology(network.topology)),
            engine=network.engine_name,
            routing=network.routing_name,
            seed=network.seed,
        )


class OnRouters(Figures):
    """What answers say of routers, or of what moves messages cycle by cycle."""

    router: dict[str, object]
    packet_flits: int | None = figure(unit="flits")
    switch_cycles: int = figure(unit=CYCLES)
    flit_bytes: float | None = figure(unit="bytes")
    cycle_us: float | None = figure(unit="µs")

    @staticmethod
    def of_routers(network: PreparedNetwork) -> OnRouters:
        """Return what is said of the routers of a network that is ready to run programs."""
        return OnRouters(
            router=network.router_fields,
            packet_flits=network.packet_flits if network.engine_name == "network" else None,
            switch_cycles=network.switch_cycles,
            flit_bytes=network.flit_bytes,
            cycle_us=network.cycle_us,
        )


class OnFlows(FlowLaw):
    """What answers say of flows: how they share channels, and what bytes and seconds are."""

    end_channels: bool
    clock: Clock | None

    @classmethod
    def of(cls, flows: PreparedFlows) -> OnFlows:
        """Return what is said of a network that is ready for flows."""
        return cls(**vars(flows.law), end_channels=flows.links.end_channels, clock=flows.clock)

    @property
    def how(self) -> str:
        """How channels are shared, as a person says it."""
        fast = self.clock.words if self.clock else "a flit per cycle"
        return f"flows, {SHARING[self.sharing or 'max-min']}, {self.turns} from each node; {fast}"


class OnEngine(OnSimulated, OnRouters):
    """What answers say of the network and of the engine that ran them, cycle by cycle."""

    @classmethod
    def of(cls, network: PreparedNetwork) -> OnEngine:
        """Return what is said of a network that is ready to run programs."""
        where, routers = cls.of_network(network), cls.of_routers(network)
        return cls(**vars(where), **vars(routers))

    @property
    def how(self) -> str:
        """The router, the routing and the size of the network, in words."""
        return f"{self.router['name']}, {self.routing}; {self.size}"


def prepare_flows(question: Any, topology: Topology, clock: Clock | None) -> PreparedFlows:
    """Return the network that a question is about, for flows. In cycles if there is no clock.

    Raises
    ------
    InputError
        If a field cannot be used, or belongs to another engine.
    """
    _refuse_fields_of_others(question, "flow")
    wanted = f"{IN_CYCLES}: flows have no routers, packets or cycles"
    refuse(question, ("router", "switching", *ROUTER_FIELDS, "packet_flits", "most_cycles"), wanted)
    routing = flow_routing(question.routing, topology)
    if question.tolerance and question.injection == "in-order":
        found = f"{question.tolerance:g} with injection in-order"
        raise InputError("tolerance", found, "0, or injection shared, whose errors do not grow")
    return PreparedFlows(
        topology=topology,
        routing=routing,
        links=timed_links(topology, clock, end_channels=_limited(question, topology)),
        clock=clock,
        law=FlowLaw(**{name: getattr(question, name) for name in LAW}),
        seed=question.seed,
    )


def timed_links(topology: Topology, clock: Clock | None, *, end_channels: bool) -> FlowNetwork:
    """Return a network as flows share it: by its clock, or in flits and cycles if it has none."""
    rates: dict[str, Any] = {}
    if clock is not None:
        rates = {"bandwidth": clock.bytes_per_second, "latency": clock.latency_seconds}
        rates["efficiency"] = clock.costs.share if clock.costs else 1.0
    return flow_network(topology, end_channels=end_channels, **rates)


def flow_routing(asked: Any, topology: Topology) -> Routing:
    """Return the routing whose paths flows take. InputError if it is a table of routers."""
    if isinstance(asked, VirtualChannelRouting):
        raise InputError("routing", f"the table {asked.name}", "paths for each pair of nodes")
    return parse_routing(asked, topology) if isinstance(asked, str) else asked


def _limited(question: Any, topology: Topology) -> bool:
    """Return whether hosts send at the rate of a channel if nothing says how fast they are."""
    if question.end_channels == 0 and topology.ports_listed:
        wanted = "1: hosts that hang on routers have channels of their own"
        raise InputError("end_channels", "0", wanted)
    return bool(question.end_channels != 0)


def refuse_flow_fields(question: Any) -> None:
    """Raise InputError if a field was given that says something of flows only."""
    refuse(question, FLOW_FIELDS, "engine flow, whose flows this says something of")


def refuse_packets(question: Any) -> None:
    """Raise InputError if messages should be cut, which engines of other packages do not do."""
    messages = others()[question.engine].messages
    refuse(question, ("packet_flits",), f"engine network: {messages} are not cut")


def prepare_program(
    question: Any,
    *,
    longest_flits: int,
    flit_bytes: float | None = None,
    bytes_per_second: float | None = None,
    found: tuple[Topology, Machine | None] | None = None,
) -> PreparedNetwork:
    """Return the network that a question is about.

    Parameters
    ----------
    longest_flits
        Flits of the longest message, which is the longest packet where none is asked for.
    flit_bytes
        Bytes of a flit. The machine's own by default.
    bytes_per_second
        Bandwidth of a channel, if it is known and there is no machine.

    Raises
    ------
    InputError
        If a field cannot be used, or belongs to the other engine.
    DeadlockError
        If the routing can deadlock.
    """
    topology, on_machine = found or network_of(question)
    if question.engine != "flow":
        refuse_flow_fields(question)
    _refuse_fields_of_others(question, question.engine)
    if on_machine is not None and flit_bytes is not None:
        on_machine, topology = on_machine.with_flits(topology, flit_bytes)

    if question.engine != "flow" and topology.num_hosts > MOST_NODES:
        nodes = counted(topology.num_hosts, "node")
        raise InputError(topology.name, nodes, f"at most {MOST_NODES} to simulate")
    router: Router | Rules
    routing: VirtualChannelRouting | Routing
    if question.engine == "flow":
        wanted = f"{IN_CYCLES}: flows have no routers"
        refuse(question, ("router", "switching", *ROUTER_FIELDS), wanted)
        if question.packet_flits is not None and getattr(question, "gap_cycles", None) is None:
            wanted = "engine network: flows are not cut into packets"
            raise InputError("packet_flits", f"{question.packet_flits}", wanted)
        injection: Any = getattr(question, "injection", "in-order")
        router = FlowRules(injection, end_channels=_limited(question, topology))
        routing = flow_routing(question.routing, topology)
    elif question.engine != "network":
        wanted = "engine network, whose routers this says something of"
        refuse(question, ("router", *ROUTER_FIELDS), wanted)
        router, routing = others()[question.engine].prepare(question, topology)
    else:
        if question.packet_flits is None and longest_flits > LONGEST:
            none = f"none, for messages of up to {counted(longest_flits, 'flit')}"
            raise InputError("packet_flits", none, f"at most {LONGEST}, to cut them")
        ends = listed([*OTHERS, "flow"], last="or")
        refuse(question, ("end_channels",), f"engine {ends}, of whose channels this says something")
        _, router = asked_router(question, on_machine)
        if question.switching is not None:
            router = replace(router, switching=question.switching)
        topology = with_lanes(topology, router)
        asked = on_machine.routing(question.routing) if on_machine else question.routing
        routing = routing_for(topology, asked, router)
    return PreparedNetwork(
        topology=topology,
        machine=on_machine,
        bytes_per_second=bytes_per_second,
        flit_bytes=on_machine.flit_bytes if on_machine else flit_bytes,
        router=router,
        routing=routing,
        packet_flits=question.packet_flits or max(longest_flits, 1),
        switch_cycles=getattr(question, "switch_cycles", 0),
        seed=question.seed,
    )


def _refuse_fields_of_others(question: Any, engine: str) -> None:
    """Raise InputError if a field was given that says something of another package's engine."""
    for name, other in others().items():
        if name != engine:
            wanted = f"engine {name}, of whose channels this says something"
            refuse(question, list(other.fields.model_fields), wanted)
