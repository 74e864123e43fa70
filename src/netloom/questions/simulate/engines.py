"""A network that is ready to run programs, on whichever engine was asked for."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields, replace
from typing import TYPE_CHECKING, Any

from netloom.errors import InputError
from netloom.machines import Machine
from netloom.questions.fields import ROUTER_FIELDS, asked_router, refuse
from netloom.questions.named import find_network
from netloom.routing import (
    RouteTable,
    UpDown,
    parse_routing,
    virtual_channel_routing,
)
from netloom.simulation.network.engine import MOST_NODES
from netloom.simulation.network.routers import Router, end_channels
from netloom.simulation.program_network import ProgramNetwork
from netloom.simulation.worm import Worm
from netloom.topology import Topology
from netloom.topology.faults import Faulty, broken_parts
from netloom.words import counted
from netloom.workload.traffic.lengths import LONGEST

if TYPE_CHECKING:
    from netloom.provenance import Provenance
    from netloom.questions.simulate.fields import ProgramQuestion
    from netloom.routing import Routing, VirtualChannelRouting

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

    def describe(self, provenance: Provenance) -> dict[str, Any]:
        """Return as plain data what all runs have in common."""
        worm = self.engine_name == "worm"
        kept = ("switching", *(WORM_FIELDS if worm else ROUTER_FIELDS))
        router = asdict(self.router)
        return {
            "topology": self.topology.name,
            "nodes": self.topology.num_nodes,
            "channels": self.topology.num_channels,
            "failures": broken_parts(self.topology),
            "engine": self.engine_name,
            "routing": self.routing_name,
            "router": {"name": self.router_name} | {name: router[name] for name in kept},
            "packet_flits": None if worm else self.packet_flits,
            "switch_cycles": self.switch_cycles,
            "flit_bytes": self.machine.flit_bytes if self.machine else None,
            "cycle_us": self.machine.cycle_us if self.machine else None,
            "seed": self.seed,
            "provenance": provenance.to_dict(),
        }


def prepare_program(
    question: ProgramQuestion, *, longest_flits: int, flit_bytes: float | None = None
) -> PreparedNetwork:
    """Return the network that a question is about.

    Parameters
    ----------
    question
        The question.
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
    topology, on_machine = find_network(
        question.on, failed_channels=question.failed_channels, failed_nodes=question.failed_nodes
    )
    if topology.num_nodes > MOST_NODES:
        found = f"{counted(topology.num_nodes, 'node')}"
        raise InputError(topology.name, found, f"at most {MOST_NODES} to simulate")
    router: Router | Worm
    routing: VirtualChannelRouting | Routing
    if question.engine == "worm":
        router, routing = _worm(question), _worm_routing(question, topology)
    else:
        if question.packet_flits is None and longest_flits > LONGEST:
            found = f"none, for messages of up to {counted(longest_flits, 'flit')}"
            raise InputError("packet_flits", found, f"at most {LONGEST}, to cut them")
        router = _router(question, on_machine)
        routing = _routing(question, topology, router)
    return PreparedNetwork(
        topology=topology,
        machine=on_machine and on_machine.with_flit_bytes(flit_bytes),
        router=router,
        routing=routing,
        packet_flits=question.packet_flits or max(longest_flits, 1),
        switch_cycles=getattr(question, "switch_cycles", 0),
        seed=question.seed,
    )


def _worm(question: ProgramQuestion) -> Worm:
    wanted = "engine network, whose routers this says something of"
    refuse(question, ("router", *ROUTER_FIELDS), wanted)
    given = {name: getattr(question, name) for name in ("switching", *WORM_FIELDS)}
    return Worm(**{name: value for name, value in given.items() if value is not None})


def _worm_routing(question: ProgramQuestion, topology: Topology) -> Routing:
    """Return the routing of lockstep worms: one path for each pair of nodes.

    They have one VC, on which ``layered``, the default elsewhere round failures, may deadlock.
    """
    asked = question.routing
    if asked == "default" and isinstance(topology, Faulty):
        return UpDown()
    if isinstance(asked, RouteTable):
        raise InputError("routing", f"the table {asked.name}", "one path for each pair of nodes")
    return parse_routing(asked, topology) if isinstance(asked, str) else asked


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
