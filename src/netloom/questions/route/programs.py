"""Programs that tables are made for: what they send, and what each gains."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.errors import InputError
from netloom.fabrics.program import Flows, flows_of, merged_flows, program_times
from netloom.questions.named import num_places, placed, read_program
from netloom.spec import real_number

if TYPE_CHECKING:
    from netloom.fabrics.balancing import Objective
    from netloom.routing import ForwardingTable
    from netloom.topology import Topology

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
    """

    name: str
    weight: float
    flows: Flows


@dataclass(frozen=True)
class ProgramCost:
    """What a program's messages keep busy, in bytes over bandwidth, once each.

    Attributes
    ----------
    name
        What was asked for.
    before, after
        The busiest channel between routers by the tables that are installed and by the new ones.
    hosts
        The busiest channel of a host, which no table changes.
    floor
        What no table of this network can beat, between routers.
    why
        What the floor comes from.
    """

    name: str
    before: float
    after: float
    hosts: float
    floor: float
    why: str

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
        if star and before.replace(".", "", 1).isdigit():
            app, weight = behind, real_number(before, where="for")
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
    return Program(str(getattr(item, "name", item)), weight, flows)


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
        times = [program_times(network, table, each.flows) for table in (before, after)]
        old, new = (float(time[:inside].max(initial=0.0)) for time in times)
        own = float(np.max(times[1][inside:], initial=0.0))
        floor = traffic_bound(network, *each.flows)
        found.append(ProgramCost(each.name, old, new, own, floor.value, floor.why))
    return tuple(found)
