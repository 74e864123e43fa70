"""Several programs at once: what a question says of them, and how each fares beside the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.questions.named import read_program
from netloom.questions.numbers import known, plainly
from netloom.simulation.paired import paired_ratio
from netloom.topology.faults import Faulty
from netloom.workload import ProcessGraph
from netloom.workload.programs.shared import SharedProgram, parse_placed, share

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.questions.simulate.fields import Programs as ProgramFields
    from netloom.simulation.network.run import NetworkRun
    from netloom.simulation.paired import Batches
    from netloom.simulation.tally import GroupMeasured
    from netloom.topology import Topology


def only_program(app: Any) -> str | ProcessGraph | None:
    """Return the one program that ``app`` is; None if there are several, or if it has nodes.

    Examples
    --------
    >>> only_program(["ring:4"]), only_program("ring:4@0-3")
    ('ring:4', None)
    """
    ((first, nodes), *others) = _listed(app)
    return None if others or nodes is not None else first


def share_programs(question: ProgramFields, topology: Topology, seed: int) -> SharedProgram:
    """Return the programs of a question, each mapped onto its own nodes.

    Parameters
    ----------
    question
        Its ``app`` is several programs, or one on nodes of its own.
    topology
        The network.
    seed
        Of random mappings.

    Raises
    ------
    InputError
        If a program cannot be read or does not fit its nodes, programs have nodes in common
        though ``shared`` is not said, or another field does not go with several programs.
    """
    listed = _listed(question.app)
    if question.messages is not None and len(listed) > 1:
        raise InputError("messages", f"one file for {len(listed)} programs", "none, or one program")
    if question.tasks_per_node > 1:
        found = f"{question.tasks_per_node} for programs on nodes of their own"
        raise InputError("tasks_per_node", found, "1: one task of a program a node")
    if not isinstance(question.mapping, str):
        found = "an array for programs on nodes of their own"
        raise InputError("mapping", found, "identity or random, which each program has on its own")
    graphs = [
        read_program(app, messages=question.messages, parts=question.parts) for app, _ in listed
    ]
    return share(
        list(zip(graphs, (nodes for _, nodes in listed), strict=True)),
        topology.num_nodes,
        mapping=question.mapping,  # type: ignore[arg-type]
        seed=seed,
        shared=question.shared,
        failed_nodes=topology.failed_nodes if isinstance(topology, Faulty) else (),
    )


@dataclass(frozen=True, eq=False)
class ProgramLoad:
    """How one of several programs fares under an offered load.

    Attributes
    ----------
    name, nodes, tasks
        The program, how many nodes it runs on, and its tasks.
    offered
        Offered traffic of its average sending node, flits/node/cycle.
    measured, batches
        What its packets get and take beside those of the others, and their latencies by batches.
    stable
        Whether the network kept up; if not, latencies say nothing.
    alone
        The run in which it had the network to itself; None where there was none.
    """

    name: str
    nodes: int
    tasks: int
    offered: float
    measured: GroupMeasured
    batches: Batches
    stable: bool
    alone: NetworkRun | None

    @property
    def latency(self) -> float | None:
        """Mean packet latency, cycles; None past saturation, or without packets."""
        return known(self.measured.packet_latency) if self.stable else None

    @property
    def latency_slowdown(self) -> float | None:
        """Packet latency beside the others, as a multiple of that alone; 1 if they never meet.

        Both runs have the same packets of this program, and are measured over the same cycles.
        """
        return known(self._slowdown[0])

    @property
    def latency_slowdown_ci95(self) -> float | None:
        """Half-width of the 95 % interval of that multiple, batch by batch of both runs."""
        return known(self._slowdown[1])

    @property
    def _slowdown(self) -> tuple[float, float]:
        if self.alone is None or not self.alone.stable or not self.stable:
            return np.nan, np.nan
        return paired_ratio(self.batches, self.alone.latency_batches[0])

    @property
    def accepted_slowdown(self) -> float | None:
        """Accepted traffic alone, as a multiple of that beside the others."""
        if self.alone is None or not self.measured.accepted > 0:
            return None
        return known(self.alone.measured.accepted / self.measured.accepted)

    @plainly
    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        alone = self.alone
        return {
            "name": self.name,
            "nodes": self.nodes,
            "tasks": self.tasks,
            "offered": self.offered,
            **_figures(self.measured, stable=self.stable),
            "alone": alone
            and _figures(alone.measured, stable=alone.stable) | {"stable": alone.stable},
            "slowdown": alone
            and {
                "packet_latency": self.latency_slowdown,
                "packet_latency_ci95": self.latency_slowdown_ci95,
                "accepted": self.accepted_slowdown,
            },
        }


def program_loads(
    programs: SharedProgram, offered: float, run: NetworkRun, alone: tuple[NetworkRun | None, ...]
) -> tuple[ProgramLoad, ...]:
    """Return how each program fared in a run; ``alone`` holds a run of each, or nothing."""
    return tuple(
        ProgramLoad(
            name=name,
            nodes=len(np.unique(programs.node_of[programs.program_of == number])),
            tasks=int(np.count_nonzero(programs.program_of == number)),
            offered=offered,
            measured=run.groups[number],
            batches=run.latency_batches[number],
            stable=run.stable,
            alone=alone[number] if alone else None,
        )
        for number, name in enumerate(programs.names)
    )


def _figures(measured: Any, *, stable: bool) -> dict[str, Any]:
    """Return the figures that ``Measured`` and ``GroupMeasured`` have in common."""
    latency = {"mean": measured.packet_latency, "ci95": measured.packet_latency_ci95}
    return {
        "accepted": known(measured.accepted),
        "accepted_ci95": known(measured.accepted_ci95),
        "packet_latency": {
            part: known(value) if stable else None for part, value in latency.items()
        },
        "packets": measured.packets,
    }


def _listed(app: Any) -> list[tuple[str | ProcessGraph, NDArray[np.int32] | None]]:
    """Return the programs of ``app``, each with the nodes that it names, if any."""
    given = app if isinstance(app, list | tuple) else [app]
    if not given:
        raise InputError("app", "no program", "at least one")
    return [_placed(item) for item in given]


def _placed(item: Any) -> tuple[str | ProcessGraph, NDArray[np.int32] | None]:
    if isinstance(item, str):
        return parse_placed(item)
    if isinstance(item, ProcessGraph):
        return item, None
    wanted = "a program such as ring:8 or ring:8@0-7, or a pair: a program and its nodes"
    if not isinstance(item, list | tuple) or len(item) != 2:
        raise InputError("app", repr(item), wanted)
    app, nodes = item
    if not isinstance(app, str | ProcessGraph):
        raise InputError("app", repr(app), wanted)
    listed = np.asarray(nodes)
    if listed.ndim != 1 or listed.dtype.kind not in "iu":
        raise InputError("app", f"nodes {nodes!r}", "a list of node numbers")
    found, counts = np.unique(listed, return_counts=True)
    if counts.max(initial=1) > 1:
        raise InputError("app", f"node {found[np.argmax(counts)]} twice", "each node once")
    return app, listed
