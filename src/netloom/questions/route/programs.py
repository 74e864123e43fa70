"""Programs that tables are made for: what they send, and what each gains."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.base.spec import real_number
from netloom.fabrics.program import Flows, flows_of, merged_flows, program_times
from netloom.fabrics.program_tables import busiest_time
from netloom.questions.named import entering, num_places, placed, read_program

if TYPE_CHECKING:
    from netloom.fabrics.balancing import Objective
    from netloom.routing import ForwardingTable
    from netloom.topology import Topology

_NUMBER = re.compile(r"-?(\d+\.?\d*|\.\d+)(e-?\d+)?")

OBJECTIVES: tuple[Objective, ...] = ("all-to-all", "shifts", "permutations")


class Asked(NamedTuple):
    """What tables should be good for: an objective for all programs, and programs.

    Attributes
    ----------
    objective
        One of ``OBJECTIVES``.
    programs
        Those that come first, none or several.
    """

    objective: Objective
    programs: tuple[Program, ...]

    @property
    def flows(self) -> Flows:
        """All that the programs send, each times its weight, as if they ran at once."""
        return merged_flows([(each.flows, each.weight) for each in self.programs])


class Program(NamedTuple):
    """A program on its hosts.

    Attributes
    ----------
    name
        What was asked for, as it was written.
    weight
        What its bytes count.
    flows
        What its hosts send through the network.
    inside
        The share of its bytes that stays inside nodes.
    """

    name: str
    weight: float
    flows: Flows
    inside: float


@dataclass(frozen=True)
class ProgramCost:
    """What a program's messages keep busy, in bytes over bandwidth, once each.

    Attributes
    ----------
    name
        What was asked for.
    before, after
        The busiest channel between routers by the tables that are installed and by the new ones.
        ``before`` is None if those do not lead to all that the program sends to.
    hosts
        The busiest channel of a host, which no table changes.
    floor
        What no table of this network can beat, between routers.
    why
        What the floor comes from.
    inside
        The share of its bytes that stays inside nodes, and takes no cable.
    """

    name: str
    before: float | None
    after: float
    hosts: float
    floor: float
    why: str
    inside: float

    def to_dict(self) -> dict[str, Any]:
        """Return these figures as plain data."""
        return dict(vars(self))


def asked_for(question: Any, network: Topology) -> Asked:
    """Return what a question's ``wanted`` says, its programs read and placed.

    Raises
    ------
    InputError
        If there are two objectives, a program cannot be read or placed, or sends nothing through
        the network.
    """
    items = question.wanted if isinstance(question.wanted, list) else [question.wanted]
    objectives = [each for each in OBJECTIVES if each in items]
    if len(objectives) > 1:
        raise InputError("for", " and ".join(objectives), "one of these, and programs")
    programs = [_program(item, question, network) for item in items if item not in OBJECTIVES]
    return Asked(objectives[0] if objectives else OBJECTIVES[0], tuple(programs))


def _program(item: Any, question: Any, network: Topology) -> Program:
    """Read ``PROGRAM``, ``WEIGHT*PROGRAM`` or ``PROGRAM@NODES``, and place its tasks."""
    app, weight, nodes = item, 1.0, question.nodes
    if isinstance(item, str):
        before, star, behind = item.partition("*")
        if star and _NUMBER.fullmatch(before):
            app, weight = behind, real_number(before, where="for")
            if weight <= 0:
                raise InputError("for", f"'{item}'", "a weight above 0, such as 2*app.mtx")
        named, at, listed = app.rpartition("@")
        if at:
            app, nodes = named, listed
    own = question.model_copy(update={"nodes": nodes})
    try:
        tasks = num_places(own, network)
        graph = read_program(app, messages=None, parts="network", tasks=tasks, seed=question.seed)
    except InputError as error:
        if isinstance(app, str) and app.isidentifier():
            wanted = f"{', '.join(OBJECTIVES)} or a program such as app.mtx"
            raise InputError("for", f"'{item}'", wanted) from error
        raise
    host_of = placed(own, graph, network)
    flows = flows_of(network, host_of[graph.source], host_of[graph.target], graph.bytes)
    if not len(flows.source):
        found = f"a program whose tasks send nothing from computer to computer: '{item}'"
        raise InputError("for", found, "one that uses the network")
    inside = entering(graph, network, host_of)[1]
    return Program(str(getattr(item, "name", item)), weight, flows, inside)


def costs_of(
    programs: tuple[Program, ...],
    network: Topology,
    before: ForwardingTable,
    after: ForwardingTable,
) -> tuple[ProgramCost, ...]:
    """Return what each program keeps busy by two tables."""
    from netloom.fabrics.bounds import traffic_bound

    inside = network.num_network_channels
    found = []
    for each in programs:
        old, times = (
            busiest_time(network, before, each.flows), program_times(network, after, each.flows),
        )  # fmt: skip
        new, own = (float(part.max(initial=0.0)) for part in (times[:inside], times[inside:]))
        floor = traffic_bound(network, *each.flows)
        known = old if np.isfinite(old) else None
        found.append(ProgramCost(each.name, known, new, own, floor.value, floor.why, each.inside))
    return tuple(found)
