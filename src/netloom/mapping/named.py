"""The node of each task under a mapping that a name, a file or an array says, round failures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.errors import InputError
from netloom.mapping.allocation import node_names
from netloom.mapping.layouts.catalogue import LAYOUTS, find_layout, gray
from netloom.mapping.placements import identity, place
from netloom.provenance import DEFAULT_SEED
from netloom.spec import real_number
from netloom.topology import Topology, hop_distances
from netloom.topology.faults import check_working, working_nodes, working_part

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from netloom.workload import ProcessGraph

DISTANCE = "distance:"
"""How the name of a mapping of a wished average path length begins."""

ANY_PROGRAM = ("identity", "gray")
"""Layouts that as mappings are for any program, whatever its edges."""

MOST_NODES = 4_096
"""Largest network: the distances of all pairs of nodes are held in memory."""

TRIES = 200
"""Swaps that are tried, for each node of the network, before the search gives up."""


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
        hops (see ``mapping_with_distance``). Those that have a name use nodes that work only.
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
    nodes = working_nodes(network) if named else np.arange(network.num_hosts, dtype=np.int32)
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


def mapping_with_distance(
    graph: ProcessGraph, topology: Topology, distance: float, seed: int = DEFAULT_SEED
) -> NDArray[np.int32]:
    """Return a mapping whose average path length is nearly ``distance``.

    It starts from the identity and swaps what two nodes hold, two drawn at a time, wherever that
    brings the average nearer to ``distance``: so the further it is from the identity's, the more
    tasks have lost their place. Johnson 1992, section 3.2, compares nine mappings of a torus
    program, of average distances from one to just over six hops; how they were made is not said.

    The mean is of the shortest distances between the ends of an edge, in hops; all directed
    edges count alike. The average of what is returned, int32[num_tasks], is as near to
    ``distance`` as swaps of two nodes can bring it, and at most 2 % away. The network has at
    most ``MOST_NODES`` nodes, with one task each.

    Raises
    ------
    InputError
        If no such mapping is found, the tasks do not fit, none communicates, or the network is
        too large.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> from netloom.workload import torus as torus_graph
    >>> node_of = mapping_with_distance(torus_graph(4, 4), torus(4, 4), distance=1)
    >>> node_of.tolist() == list(range(16))
    True
    """
    if topology.num_hosts > MOST_NODES:
        found = f"{topology.num_hosts} nodes"
        raise InputError(topology.name, found, f"at most {MOST_NODES} for a wished distance")
    if not graph.num_edges:
        raise InputError(graph.name, "no edges", "tasks that communicate")
    if seed < 0:
        raise InputError("seed", f"{seed}", "a whole number of at least 0")
    place = np.arange(topology.num_hosts)  # of tasks, and of the empty places after them
    place[: graph.num_tasks] = identity(graph.num_tasks, topology.num_hosts)
    hops = hop_distances(topology)
    edges_of = _edges_of(graph, topology.num_hosts)
    wished = distance * graph.num_edges
    off = float(hops[place[graph.source], place[graph.target]].sum()) - wished
    rng = np.random.default_rng(seed)
    for first, second in rng.integers(topology.num_hosts, size=(TRIES * topology.num_hosts, 2)):
        if off == 0:
            break
        touched = np.union1d(edges_of[first], edges_of[second])
        source, target = graph.source[touched], graph.target[touched]
        before = hops[place[source], place[target]].sum()
        place[[first, second]] = place[[second, first]]
        moved = off + float(hops[place[source], place[target]].sum() - before)
        if abs(moved) <= abs(off):  # as near is fine: it leads on to others
            off = moved
        else:
            place[[first, second]] = place[[second, first]]
    if not abs(off) <= 0.02 * wished:
        nearest = (wished + off) / graph.num_edges
        found = f"{distance:g} hops, where swaps lead no nearer than to {nearest:.4g}"
        raise InputError("distance", found, "an average distance that a mapping can have")
    return place[: graph.num_tasks].astype(np.int32)


def _edges_of(graph: ProcessGraph, num_places: int) -> list[NDArray[np.int64]]:
    """The edges that leave or enter each task; none for the empty places after them."""
    ends = np.concatenate([graph.source, graph.target])
    order = np.argsort(ends, kind="stable")
    cuts = np.cumsum(np.bincount(ends, minlength=num_places))[:-1]
    return [part % graph.num_edges for part in np.split(order, cuts)]
