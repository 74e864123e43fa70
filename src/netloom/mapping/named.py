"""The node of each task under a mapping that a name, a file or an array says, round failures."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import real_number
from netloom.mapping.allocation import (
    allocated_hosts,
    hosts_of_computers,
    node_names,
    places_of,
)
from netloom.mapping.layouts.catalogue import find_layout, gray, layouts
from netloom.mapping.placements import check_capacity, check_room, place, random_places
from netloom.topology import Topology, hop_distances
from netloom.topology.faults import check_working
from netloom.topology.named_parts import vertex_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Ints
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
    nodes: str | Path | ArrayLike | None = None,
) -> Ints:
    """Return int32[num_tasks], the host of each task.

    Parameters
    ----------
    mapping
        Any value of ``place``, the name of a layout (see ``mapping.layouts``), or ``distance:4``
        for an average path length of 4 hops (see ``mapping_with_distance``). Under a layout,
        packets take the routes of the network, not the layout's. Named mappings use only working
        nodes.
    tasks_per_node
        Most tasks of a host. Of a computer, where one owns several and it is above 1.
    hosts
        The host name of each node, for mapping files and ``nodes``. See
        ``mapping.allocation.node_names``.
    nodes
        The nodes that may be used, which ``identity`` fills in their order. See
        ``mapping.allocation.allocated_hosts``.

    Raises
    ------
    InputError
        If there is no such mapping, it does not fit, or it puts a task on a node that is broken or
        not allocated.

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
            raise InputError("tasks_per_node", found, "1: one task per node")
        wished = real_number(mapping.removeprefix(DISTANCE), where=f"mapping '{mapping}'")
        allocated = allocated_hosts(nodes, network, hosts)
        return mapping_with_distance(graph, network, wished, seed, hosts=allocated)
    if isinstance(mapping, str) and mapping in layouts() and mapping not in ANY_PROGRAM:
        laid_out = find_layout(mapping, graph, network).node_of
        _check_allocated(network, laid_out, nodes, hosts)
        return laid_out
    return place_tasks(
        mapping, graph.num_tasks, network,
        seed=seed, tasks_per_node=tasks_per_node, hosts=hosts, nodes=nodes,
    )  # fmt: skip


def place_tasks(
    mapping: Any,
    num_tasks: int,
    network: Topology,
    *,
    seed: int,
    tasks_per_node: int,
    hosts: Sequence[str] | None = None,
    nodes: str | Path | ArrayLike | None = None,
) -> Ints:
    """Return int32[num_tasks], the host of each of so many tasks. See ``place_program``.

    Raises
    ------
    InputError
        As ``place_program`` does.

    Examples
    --------
    >>> from netloom.topology import mesh, without
    >>> broken = without(mesh(2, 2), nodes="1")
    >>> place_tasks("identity", 3, broken, seed=1, tasks_per_node=1)
    array([0, 2, 3], dtype=int32)
    >>> place_tasks("identity", 3, mesh(2, 2), seed=1, tasks_per_node=2, nodes="3,n1")
    array([3, 3, 1], dtype=int32)
    """
    if isinstance(mapping, str) and mapping.startswith(DISTANCE):
        wanted = "another: these tasks have no process graph, with distances"
        raise InputError("mapping", f"'{mapping}'", wanted)
    if isinstance(mapping, str) and mapping == "gray":
        laid_out = gray(num_tasks, network)
        _check_allocated(network, laid_out, nodes, hosts)
        return laid_out
    if isinstance(mapping, str) and mapping in ("identity", "random"):
        places = places_of(allocated_hosts(nodes, network, hosts), network, tasks_per_node)
        check_room(num_tasks, places.num_groups, tasks_per_node, network.name)
        if mapping == "identity":
            return places.at(np.arange(num_tasks))
        return places.at(random_places(num_tasks, places.count, seed))
    placed = _given(mapping, num_tasks, network, tasks_per_node, hosts)
    _check_allocated(network, placed, nodes, hosts)
    return placed


def _given(
    mapping: Any,
    num_tasks: int,
    network: Topology,
    tasks_per_node: int,
    hosts: Sequence[str] | None,
) -> Ints:
    """Return the mapping of a file, or one that is given as it is, checked."""
    names: dict[str, int | Sequence[int]] = {}
    if isinstance(mapping, str | Path):
        names = {**hosts_of_computers(network, hosts), **node_names(network, hosts)}
    several = tasks_per_node > 1 and network.num_nodes < network.num_hosts
    called = partial(vertex_word, network)
    placed = place(
        mapping, num_tasks, network.num_hosts, topology_name=network.name, names=names,
        tasks_per_node=max(num_tasks, 1) if several else tasks_per_node, called=called,
    )  # fmt: skip
    if several:  # a computer takes so many, on whatever hosts of its own
        where = str(mapping) if isinstance(mapping, str | Path) else "mapping"
        own = network.node_of_host[placed]
        check_capacity(own, tasks_per_node, where, network.computer_name)
    return placed


def _check_allocated(
    network: Topology,
    node_of: Ints,
    nodes: str | Path | ArrayLike | None,
    hosts: Sequence[str] | None,
) -> None:
    """Refuse a mapping that puts a task on a node that is broken, or not allocated."""
    check_working(network, node_of)
    if nodes is None:
        return
    outside = ~np.isin(node_of, allocated_hosts(nodes, network, hosts))
    if outside.any():
        task = int(np.argmax(outside))
        found = f"task {task} on host {vertex_word(network, int(node_of[task]))}"
        raise InputError("mapping", f"{found}, which is not allocated", "allocated hosts only")


def mapping_with_distance(
    graph: ProcessGraph,
    topology: Topology,
    distance: float,
    seed: int = DEFAULT_SEED,
    *,
    hosts: Ints | None = None,
) -> Ints:
    """Return a mapping whose average path length is nearly ``distance``.

    It starts from the identity. It draws two nodes at a time, and swaps their tasks if that brings
    the average nearer to ``distance``. So the further it is from the identity's, the more tasks
    have lost their place. Johnson 1992, section 3.2, compares nine mappings of a torus program, of
    average distances from one to just over six hops. How they were made is not said.

    The mean is of the shortest distances between the ends of an edge, in hops. All directed
    edges count alike. The average of what is returned, int32[num_tasks], is as near to
    ``distance`` as swaps of two nodes can bring it, and at most 2 % away. The network has at
    most ``MOST_NODES`` nodes, with one task each. ``hosts``, int32[], are those that may be used,
    in order. By default all.

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
    usable = np.arange(topology.num_hosts, dtype=np.int32) if hosts is None else hosts
    if len(usable) > MOST_NODES:
        found = f"{len(usable)} nodes"
        raise InputError(topology.name, found, f"at most {MOST_NODES} for a wished distance")
    if not graph.num_edges:
        raise InputError(graph.name, "no edges", "tasks that communicate")
    if seed < 0:
        raise InputError("seed", f"{seed}", "a whole number of at least 0")
    check_room(graph.num_tasks, len(usable), 1, topology.name)
    place = np.arange(len(usable))  # of tasks, and of the empty places after them
    hops = hop_distances(topology, usable)[:, usable]
    edges_of = _edges_of(graph, len(usable))
    wished = distance * graph.num_edges
    off = float(hops[place[graph.source], place[graph.target]].sum()) - wished
    rng = np.random.default_rng(seed)
    for first, second in rng.integers(len(usable), size=(TRIES * len(usable), 2)):
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
    return usable[place[: graph.num_tasks]].astype(np.int32)


def _edges_of(graph: ProcessGraph, num_places: int) -> list[Ints]:
    """The edges that leave or enter each task. None for the empty places after them."""
    ends = np.concatenate([graph.source, graph.target])
    order = np.argsort(ends, kind="stable")
    cuts = np.cumsum(np.bincount(ends, minlength=num_places))[:-1]
    return [part % graph.num_edges for part in np.split(order, cuts)]
