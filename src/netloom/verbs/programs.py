"""What several questions name: a program, a network or machine, and where the tasks run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.errors import InputError
from netloom.machines import Machine, machine, machine_names
from netloom.mapping import place
from netloom.spec import split_spec
from netloom.topology import Topology, topology
from netloom.workload import read

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from netloom.workload import ProcessGraph


def read_program(app: str | ProcessGraph, *, messages: str | None, parts: str) -> ProcessGraph:
    """Return the process graph that ``app`` is or names; see ``workload.read``.

    Raises
    ------
    InputError
        If it cannot be read, or options for reading go with a graph that is read already.
    """
    if isinstance(app, str):
        return read(app, messages=messages, parts=parts)
    if messages is not None or parts != "network":
        raise InputError("app", "a process graph that is read already", "a file for these options")
    return app


def find_network(on: str | Topology | Machine) -> tuple[Topology, Machine | None]:
    """Return the network that ``on`` is or names, and the machine if it is one.

    Raises
    ------
    InputError
        If there is no such network or machine.

    Examples
    --------
    >>> find_network("symult2010:4x4")[0]
    <mesh:4x4: 16 nodes, 48 directed channels>
    """
    if isinstance(on, str) and split_spec(on)[0] in machine_names():
        on = machine(on)
    if isinstance(on, Machine):
        return on.network(), on
    if isinstance(on, str) and ":" not in on:
        machines = ", ".join(machine_names())
        raise InputError("on", f"'{on}'", f"a network such as mesh:8x8, or a machine: {machines}")
    return (topology(on) if isinstance(on, str) else on), None


def place_program(
    mapping: Any, graph: ProcessGraph, network: Topology, *, seed: int, tasks_per_node: int
) -> NDArray[np.int32]:
    """Return int32[num_tasks], the node of each task; see ``mapping.place``.

    Raises
    ------
    InputError
        If there is no such mapping, or it does not fit.
    """
    return place(
        mapping,
        graph.num_tasks,
        network.num_nodes,
        seed=seed,
        tasks_per_node=tasks_per_node,
        topology_name=network.name,
    )
