"""The node of each task under a mapping that a name, a file or an array says, round failures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.mapping.allocation import node_names
from netloom.mapping.distance import mapping_with_distance
from netloom.mapping.layouts.catalogue import LAYOUTS, find_layout, gray
from netloom.mapping.placements import place
from netloom.spec import real_number
from netloom.topology.faults import check_working, working_nodes, working_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from netloom.topology import Topology
    from netloom.workload import ProcessGraph

DISTANCE = "distance:"
"""How the name of a mapping of a wished average path length begins."""

ANY_PROGRAM = ("identity", "gray")
"""Layouts that as mappings are for any program, whatever its edges."""


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
        What ``place`` takes, the name of a layout (see ``mapping.layouts``; packets take
        the routes of the network, not its own), or ``distance:4`` for an average path length of 4
        hops (see ``mapping.distance``). Those that have a name use nodes that work only.
    hosts
        The host name of each node, for mapping files; see ``mapping.allocation.node_names``.

    Raises
    ------
    InputError
        If there is no such mapping, it does not fit, or it puts a task on a broken node.

    Examples
    --------
    >>> from netloom.topology import mesh, without
    >>> from netloom.workload import ring
    >>> broken = without(mesh(2, 2), nodes="1")
    >>> place_program("identity", ring(3), broken, seed=1, tasks_per_node=1)
    array([0, 2, 3], dtype=int32)
    """
    if isinstance(mapping, str) and mapping.startswith(DISTANCE):
        if tasks_per_node > 1:
            found = f"{tasks_per_node} for mapping '{mapping}'"
            raise InputError("tasks_per_node", found, "1: one task a node")
        hops = real_number(mapping.removeprefix(DISTANCE), where=f"mapping '{mapping}'")
        near = mapping_with_distance(graph, working_part(network), hops, seed)
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
    >>> from netloom.topology import mesh, without
    >>> broken = without(mesh(2, 2), nodes="1")
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
