"""A network that is ready to run programs, on whichever engine was asked for."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from netloom.errors import InputError
from netloom.machines import Machine
from netloom.questions.answers import CYCLES, Column, Columns
from netloom.questions.fields import ROUTER_FIELDS, asked_router, refuse
from netloom.questions.named import network_of
from netloom.routing import (
    RouteTable,
    UpDown,
    VirtualChannelRouting,
    parse_routing,
    virtual_channel_routing,
)
from netloom.simulation.flow.program import FlowRules
from netloom.simulation.network.arrays import MOST_NODES
from netloom.simulation.network.routers import Router, end_channels
from netloom.simulation.program_network import ProgramNetwork
from netloom.simulation.worm import Worm, check_one_path
from netloom.topology import Topology
from netloom.topology.alike import check_alike
from netloom.topology.faults import broken_parts
from netloom.words import counted
from netloom.workload.traffic.lengths import LONGEST

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.questions.simulate.fields import ProgramQuestion
    from netloom.routing import Routing

WORM_FIELDS = tuple(field.name for field in fields(Worm) if field.name != "switching")
"""Fields of ``Worm`` that a question may change one by one."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PreparedNetwork(ProgramNetwork):
    """The network of a question, ready to run programs.

    Attributes
    ----------
    machine
        None where only a topology was named. Its flits are those of the question, so that its
        ``cycle_us`` is a cycle of what is run.
    """

    machine: Machine | None

    @property
    def router_fields(self) -> dict[str, Any]:
        """The name of what switches, and its fields."""
        router = asdict(self.router)
        if self.engine_name == "flow":
            return {"name": self.router_name} | router
        own = WORM_FIELDS if self.engine_name == "worm" else ROUTER_FIELDS
        return {"name": self.router_name} | {name: router[name] for name in ("switching", *own)}


def _packet_flits(found: Any) -> int | None:
    network = found.network
    return network.packet_flits if network.engine_name == "network" else None


def _of_machine(name: str) -> Callable[[Any], float | None]:
    return lambda found: getattr(found.network.machine, name, None)


NETWORK = Columns(
    Column("topology", kind=str, value="network.topology.name"),
    Column("nodes", kind=int, value="network.topology.num_hosts"),
    Column("channels", kind=int, value="network.topology.num_network_channels"),
    Column("failures", kind=dict, value=lambda found: broken_parts(found.network.topology)),
    Column("engine", kind=str, value="network.engine_name"),
    Column("routing", kind=str, value="network.routing_name"),
    Column("router", kind=dict, value="network.router_fields"),
    Column("packet_flits", kind=int, value=_packet_flits),
    Column("switch_cycles", unit=CYCLES, kind=int, value="network.switch_cycles"),
    Column("flit_bytes", value=_of_machine("flit_bytes")),
    Column("cycle_us", value=_of_machine("cycle_us")),
    Column("seed", kind=int, value="network.seed"),
)
"""What answers say of the network that ran them, their ``network``."""


def prepare_program(
    question: ProgramQuestion,
    *,
    longest_flits: int,
    flit_bytes: float | None = None,
    found: tuple[Topology, Machine | None] | None = None,
) -> PreparedNetwork:
    """Return the network that a question is about.

    Parameters
    ----------
    longest_flits
        Flits of the longest message, which is the longest packet where none is asked for.
    flit_bytes
        Bytes of a flit; the machine's own by default.

    Raises
    ------
    InputError
        If a field cannot be used, or belongs to the other engine.
    DeadlockError
        If the routing can deadlock.
    """
    topology, on_machine = found or network_of(question)
    if on_machine is not None and flit_bytes is not None:
        on_machine = on_machine.with_flit_bytes(flit_bytes)
        topology = on_machine.rated(topology)
    if question.engine != "flow" and "injection" in type(question).model_fields:
        refuse(question, ("injection",), "engine flow, of whose flows this says something")
    if question.engine == "worm":
        check_alike(topology, "lockstep worms")
    if question.engine != "flow" and topology.num_hosts > MOST_NODES:
        nodes = counted(topology.num_hosts, "node")
        raise InputError(topology.name, nodes, f"at most {MOST_NODES} to simulate")
    router: Router | Worm | FlowRules
    routing: VirtualChannelRouting | Routing
    if question.engine == "flow":
        router, routing = _flows(question, topology), _flow_routing(question, topology)
    elif question.engine == "worm":
        router, routing = _worm(question, topology), _worm_routing(question, topology)
    else:
        if question.packet_flits is None and longest_flits > LONGEST:
            none = f"none, for messages of up to {counted(longest_flits, 'flit')}"
            raise InputError("packet_flits", none, f"at most {LONGEST}, to cut them")
        router = _router(question, on_machine)
        routing = _routing(question, topology, router)
    return PreparedNetwork(
        topology=topology,
        machine=on_machine,
        router=router,
        routing=routing,
        packet_flits=question.packet_flits or max(longest_flits, 1),
        switch_cycles=getattr(question, "switch_cycles", 0),
        seed=question.seed,
    )


def _flows(question: ProgramQuestion, topology: Topology) -> FlowRules:
    own = ("router", "switching", *ROUTER_FIELDS, *WORM_FIELDS)
    fields = [name for name in own if name != "end_channels"]
    refuse(question, fields, "engine network or worm: flows have no routers")
    if question.packet_flits is not None and getattr(question, "gap_cycles", None) is None:
        wanted = "engine network: flows are not cut into packets"
        raise InputError("packet_flits", f"{question.packet_flits}", wanted)
    ends = question.end_channels
    if ends == 0 and not topology.direct:
        found = "0, where hosts that hang on routers have channels of their own"
        raise InputError("end_channels", found, "1")
    return FlowRules(getattr(question, "injection", "in-order"), end_channels=ends != 0)


def _flow_routing(question: ProgramQuestion, topology: Topology) -> Routing:
    asked = question.routing
    if isinstance(asked, VirtualChannelRouting):
        raise InputError("routing", f"the table {asked.name}", "paths for each pair of nodes")
    return parse_routing(asked, topology) if isinstance(asked, str) else asked


def _worm(question: ProgramQuestion, topology: Topology) -> Worm:
    wanted = "engine network, whose routers this says something of"
    refuse(question, ("router", *ROUTER_FIELDS), wanted)
    given = {name: getattr(question, name) for name in ("switching", *WORM_FIELDS)}
    if given["end_channels"] is None:  # hosts that hang on routers have channels of their own
        given["end_channels"] = int(not topology.direct)
    return Worm(**{name: value for name, value in given.items() if value is not None})


def _worm_routing(question: ProgramQuestion, topology: Topology) -> Routing:
    """Return the routing of lockstep worms: one path for each pair of nodes.

    They have one VC, on which ``layered``, the default elsewhere round failures, may deadlock.
    """
    asked = question.routing
    if asked == "default" and topology.broken:
        return UpDown()
    if isinstance(asked, RouteTable | VirtualChannelRouting):
        raise InputError("routing", f"the table {asked.name}", "one path for each pair of nodes")
    routing = parse_routing(asked, topology) if isinstance(asked, str) else asked
    check_one_path(routing)
    return routing


def _router(question: ProgramQuestion, on_machine: Machine | None) -> Router:
    refuse(question, WORM_FIELDS, "engine worm, of whose channels this says something")
    _, router = asked_router(question, on_machine)
    if question.switching is None:
        return router
    return replace(router, switching=question.switching)  # type: ignore[arg-type]


def _routing(
    question: ProgramQuestion, topology: Topology, router: Router
) -> VirtualChannelRouting:
    injection, ejection = end_channels(topology, router)
    return virtual_channel_routing(
        topology,
        question.routing,
        num_vcs=router.vcs,
        injection_channels=injection,
        ejection_channels=ejection,
    )
