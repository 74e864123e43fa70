"""What several questions name: a program, a network or machine, and where the tasks run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.machines import Machine, machine, machine_names
from netloom.mapping import LAYOUTS, find_layout, gray, place
from netloom.mapping.allocation import node_names
from netloom.mapping.distance import mapping_with_distance
from netloom.questions.recipes import traffic_of
from netloom.spec import real_number, split_spec
from netloom.topology import Topology, topology
from netloom.topology.faults import Faulty, check_working, first_broken, without, working_nodes
from netloom.topology.kinds import check_all_compute
from netloom.words import counted
from netloom.workload import parse_traffic, read
from netloom.workload.programs.shared import among

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from netloom.workload import ProcessGraph, Traffic

DISTANCE = "distance:"
"""How the name of a mapping of a wished average path length begins."""

ANY_PROGRAM = ("identity", "gray")
"""Layouts that as mappings are for any program, whatever its edges."""


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


def read_traffic(asked: str | dict[str, Any] | Traffic | None, topology: Topology) -> Traffic:
    """Return the traffic asked for, uniform by default; a named pattern is kept to working nodes.

    Raises
    ------
    InputError
        If there is no such pattern, or it is of other nodes than the network's that work.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> read_traffic(None, mesh(4, 4))
    <uniform: 16 of 16 nodes send>
    """
    asked = "uniform" if asked is None else asked
    whole = topology.whole if isinstance(topology, Faulty) else topology
    if isinstance(asked, dict):
        pattern = traffic_of(asked, whole)
    else:
        pattern = parse_traffic(asked, whole) if isinstance(asked, str) else asked
    if pattern.num_nodes != topology.num_nodes:
        wanted = f"traffic of the {counted(topology.num_nodes, 'node')} of {topology.name}"
        raise InputError("traffic", f"{pattern.name} of {pattern.num_nodes} nodes", wanted)
    if not isinstance(topology, Faulty) or not topology.failed_nodes:
        return pattern
    met = np.unique(pattern.matrix()[:2])
    lost = first_broken(topology, met)
    if lost is None:
        return pattern
    if not isinstance(asked, str) or split_spec(asked)[0] == "pairs":
        found = f"traffic of node {met[lost]}, which failed"
        raise InputError(f"traffic '{pattern.name}'", found, "traffic between nodes that work")
    return among(pattern, working_nodes(topology))


def find_network(
    on: str | Topology | Machine,
    *,
    failed_channels: str | None = None,
    failed_nodes: str | None = None,
) -> tuple[Topology, Machine | None]:
    """Return the network that ``on`` is or names, and the machine if it is one.

    Parameters
    ----------
    on
        The network or machine.
    failed_channels, failed_nodes
        What of it is broken, such as ``3-4,7->8`` and ``5,9``; see ``topology.without``.

    Raises
    ------
    InputError
        If there is no such network, machine, channel or node, some nodes run no tasks (see
        ``topology.kinds``), or what is broken cuts the network in two.

    Examples
    --------
    >>> find_network("symult2010:4x4")[0]
    <mesh:4x4: 16 nodes, 48 directed channels>
    >>> find_network("mesh:4x4", failed_channels="5-6")[0]
    <mesh:4x4 without 5-6: 16 nodes, 46 directed channels>
    """
    if isinstance(on, str) and split_spec(on)[0] in machine_names():
        on = machine(on)
    if isinstance(on, str) and ":" not in on:
        machines = ", ".join(machine_names())
        raise InputError("on", f"'{on}'", f"a network such as mesh:8x8, or a machine: {machines}")
    on_machine = on if isinstance(on, Machine) else None
    if isinstance(on, Machine):
        on = on.network()
    network = topology(on) if isinstance(on, str) else on
    check_all_compute(network)
    if failed_channels or failed_nodes:
        network = without(network, channels=failed_channels or "", nodes=failed_nodes or "")
    return network, on_machine


def place_program(
    mapping: Any,
    graph: ProcessGraph,
    network: Topology,
    *,
    seed: int,
    tasks_per_node: int,
    hosts: Sequence[str] | None = None,
) -> NDArray[np.int32]:
    """Return int32[num_tasks], the node of each task.

    Parameters
    ----------
    mapping
        What ``mapping.place`` takes, the name of a layout (see ``mapping.layouts``; packets take
        the routes of the network, not its own), or ``distance:4`` for an average path length of 4
        hops (see ``mapping.distance``). Those that have a name use nodes that work only.
    graph, network
        The program and the network.
    seed, tasks_per_node
        See ``mapping.place``.
    hosts
        The host name of each node, for mapping files; see ``mapping.allocation.node_names``.

    Raises
    ------
    InputError
        If there is no such mapping, it does not fit, or it puts a task on a broken node.

    Examples
    --------
    >>> from netloom.workload import ring
    >>> broken = find_network("mesh:2x2", failed_nodes="1")[0]
    >>> place_program("identity", ring(3), broken, seed=1, tasks_per_node=1)
    array([0, 2, 3], dtype=int32)
    """
    if isinstance(mapping, str) and mapping.startswith(DISTANCE):
        if tasks_per_node > 1:
            found = f"{tasks_per_node} for mapping '{mapping}'"
            raise InputError("tasks_per_node", found, "1: one task a node")
        hops = real_number(mapping.removeprefix(DISTANCE), where=f"mapping '{mapping}'")
        near = mapping_with_distance(graph, _working_part(network), hops, seed)
        return working_nodes(network)[near].astype(np.int32)
    if isinstance(mapping, str) and mapping in LAYOUTS and mapping not in ANY_PROGRAM:
        laid_out = find_layout(mapping, graph, network).node_of
        check_working(network, laid_out)
        return laid_out
    return place_tasks(
        mapping, graph.num_tasks, network, seed=seed, tasks_per_node=tasks_per_node, hosts=hosts
    )


def place_tasks(
    mapping: Any,
    num_tasks: int,
    network: Topology,
    *,
    seed: int,
    tasks_per_node: int,
    hosts: Sequence[str] | None = None,
) -> NDArray[np.int32]:
    """Return int32[num_tasks], the node of each of so many tasks; see ``place_program``.

    Raises
    ------
    InputError
        If there is no such mapping, it does not fit, or it puts a task on a broken node.

    Examples
    --------
    >>> broken = find_network("mesh:2x2", failed_nodes="1")[0]
    >>> place_tasks("identity", 3, broken, seed=1, tasks_per_node=1)
    array([0, 2, 3], dtype=int32)
    """
    if isinstance(mapping, str) and mapping.startswith(DISTANCE):
        wanted = "another: these tasks have no process graph, with distances"
        raise InputError("mapping", f"'{mapping}'", wanted)
    if isinstance(mapping, str) and mapping == "gray":
        laid_out = gray(num_tasks, network)
        check_working(network, laid_out)
        return laid_out
    named = isinstance(mapping, str) and mapping in ("identity", "random")
    nodes = working_nodes(network) if named else np.arange(network.num_nodes, dtype=np.int32)
    placed = place(
        mapping,
        num_tasks,
        len(nodes),
        seed=seed,
        tasks_per_node=tasks_per_node,
        topology_name=network.name,
        names=None if named or not isinstance(mapping, str | Path) else node_names(network, hosts),
    )
    node_of: NDArray[np.int32] = nodes[placed]
    check_working(network, node_of)
    return node_of


def _working_part(network: Topology) -> Topology:
    """Return the network of the nodes that work, numbered on."""
    if not isinstance(network, Faulty):
        return network
    working = working_nodes(network)
    source, target = (
        np.searchsorted(working, ends).astype(np.int32)
        for ends in (network.channel_source, network.channel_target)
    )
    return Topology(network.name, len(working), source, target)
