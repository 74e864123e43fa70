"""Where each task runs: identity and random placements, and the check of any other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError, NotAMappingError
from netloom.base.provenance import DEFAULT_SEED
from netloom.base.spec import check_size
from netloom.base.textfiles import file_kind
from netloom.mapping.files.mapping_files import read_mapping

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Ints


def identity(num_tasks: int, num_nodes: int, tasks_per_node: int = 1) -> Ints:
    """Return int32[num_tasks], nodes filled in order: task t on node t // tasks_per_node.

    Raises
    ------
    InputError
        If the tasks do not fit.

    Examples
    --------
    >>> identity(5, 4, tasks_per_node=2)
    array([0, 0, 1, 1, 2], dtype=int32)
    """
    check_room(num_tasks, num_nodes, tasks_per_node, "topology")
    return (np.arange(num_tasks) // tasks_per_node).astype(np.int32)


def random_mapping(
    num_tasks: int, num_nodes: int, seed: int = DEFAULT_SEED, tasks_per_node: int = 1
) -> Ints:
    """Return int32[num_tasks]: every way to seat the tasks in the nodes' places is as likely.

    A node has ``tasks_per_node`` places, so that with one task per node this is a uniformly random
    choice of distinct nodes. One seed gives one mapping, here as everywhere.

    Raises
    ------
    InputError
        If the tasks do not fit, or the seed is negative.

    Examples
    --------
    >>> sorted(random_mapping(4, 4, seed=7).tolist())
    [0, 1, 2, 3]
    """
    check_room(num_tasks, num_nodes, tasks_per_node, "topology")
    places = random_places(num_tasks, num_nodes * tasks_per_node, seed)
    return (places // tasks_per_node).astype(np.int32)


def random_places(num_tasks: int, num_places: int, seed: int) -> Ints:
    """Return a place for each task, int64[num_tasks], no two the same, every way as likely.

    Raises
    ------
    InputError
        If there are too many places, or the seed is negative.
    """
    if seed < 0:
        raise InputError("seed", str(seed), "a whole number of at least 0")
    check_size(num_places, where="tasks_per_node", what="places for tasks")
    return np.random.default_rng(seed).permutation(num_places)[:num_tasks]


def check_mapping(
    node_of: ArrayLike,
    num_tasks: int,
    num_nodes: int,
    tasks_per_node: int = 1,
    where: str = "mapping",
    called: Callable[[int], str] = str,
) -> Ints:
    """Return ``node_of`` as int32[num_tasks] if it is a mapping, and say why where it is not.

    Parameters
    ----------
    node_of
        int[num_tasks], the node of each task.
    num_tasks, num_nodes
        Of the process graph and of the network.
    tasks_per_node
        Most tasks that a node takes.
    where
        The field or file that errors name.
    called
        Returns what errors call a node.

    Raises
    ------
    NotAMappingError
        If it has the wrong length, names a node that there is none of, or overfills a node.

    Examples
    --------
    >>> check_mapping([3, 0], num_tasks=2, num_nodes=4)
    array([3, 0], dtype=int32)
    """
    nodes = np.asarray(node_of)
    if nodes.shape != (num_tasks,):
        count = f"{len(nodes)} nodes" if nodes.ndim == 1 else f"an array of shape {nodes.shape}"
        raise NotAMappingError(where, f"{count} for {num_tasks} tasks", "one node for each task")
    if nodes.size and nodes.dtype.kind not in "iu":
        raise NotAMappingError(where, f"values of type {nodes.dtype}", "whole node numbers")
    outside = (nodes < 0) | (nodes >= num_nodes)
    if outside.any():
        task = int(np.argmax(outside))
        raise NotAMappingError(
            where, f"task {task} on host {nodes[task]}", f"hosts 0 to {num_nodes - 1}"
        )
    nodes = nodes.astype(np.int32)
    check_capacity(nodes, tasks_per_node, where, called)
    return nodes


def place(
    mapping: str | Path | ArrayLike,
    num_tasks: int,
    num_nodes: int,
    *,
    seed: int = DEFAULT_SEED,
    tasks_per_node: int = 1,
    topology_name: str = "topology",
    names: Mapping[str, int | Sequence[int]] | None = None,
    called: Callable[[int], str] = str,
) -> Ints:
    """Return the checked mapping that ``mapping`` names, int32[num_tasks].

    Parameters
    ----------
    mapping
        ``identity``, ``random``, the path of a mapping file, or the node of each task.
    num_tasks, num_nodes
        Of the process graph and of the network.
    seed
        Of the random mapping.
    tasks_per_node
        Most tasks that a node takes.
    topology_name
        Named where the tasks do not fit.
    names
        The node of each name that a mapping file may use instead of its number. Several are taken
        in turn.
    called
        Returns what errors call a node.

    Raises
    ------
    InputError
        If the tasks do not fit, the name or file is not known, or what it holds is no mapping
        (``NotAMappingError``).

    Examples
    --------
    >>> place("identity", 3, 4)
    array([0, 1, 2], dtype=int32)
    >>> place("identity", 64, 16, topology_name="mesh:4x4")
    Traceback (most recent call last):
        ...
    netloom.InputError: mesh:4x4: found 16 nodes for 64 tasks; expected at least 64 nodes,
    or tasks_per_node=4
    """
    check_room(num_tasks, num_nodes, tasks_per_node, topology_name)
    if isinstance(mapping, str) and mapping == "identity":
        return identity(num_tasks, num_nodes, tasks_per_node)
    if isinstance(mapping, str) and mapping == "random":
        return random_mapping(num_tasks, num_nodes, seed, tasks_per_node)
    if not isinstance(mapping, str | Path):
        return check_mapping(mapping, num_tasks, num_nodes, tasks_per_node, called=called)
    if (kind := file_kind(mapping)) != "a file":
        wanted = "identity, random, a layout such as gray, or a mapping file"
        missing = "no such name or file" if kind == "no such file" else kind
        raise InputError(f"mapping '{mapping}'", missing, wanted)
    found = read_mapping(mapping, names)
    return check_mapping(found, num_tasks, num_nodes, tasks_per_node, str(mapping), called)


def check_room(num_tasks: int, num_nodes: int, tasks_per_node: int, where: str) -> None:
    """Refuse more tasks than nodes have places for. ``where`` is what errors name.

    Raises
    ------
    InputError
        If they do not fit, or ``tasks_per_node`` is below 1.
    """
    if tasks_per_node < 1:
        raise InputError("tasks_per_node", str(tasks_per_node), "at least 1")
    check_size(num_tasks, where=where, what="tasks")
    if num_tasks <= num_nodes * tasks_per_node:
        return
    found = f"{num_nodes} nodes for {num_tasks} tasks"
    if tasks_per_node > 1:
        found += f", {tasks_per_node} per node"
    least_nodes, least_a_node = -(-num_tasks // tasks_per_node), -(-num_tasks // num_nodes)
    raise InputError(
        where, found, f"at least {least_nodes} nodes, or tasks_per_node={least_a_node}"
    )


def check_capacity(
    nodes: Ints, tasks_per_node: int, where: str, called: Callable[[int], str] = str
) -> None:
    """Refuse a mapping, int32[num_tasks], that puts more tasks on a node than it takes.

    Raises
    ------
    NotAMappingError
        Naming the first such node, as ``called`` calls it.
    """
    used, counts = np.unique(nodes, return_counts=True)
    most = int(counts.max(initial=0))
    if most <= tasks_per_node:
        return
    crowded = int(np.argmax(counts > tasks_per_node))
    node, count = called(int(used[crowded])), counts[crowded]
    first, second = np.flatnonzero(nodes == used[crowded])[:2]
    if tasks_per_node == 1:
        found, wanted = f"tasks {first} and {second} both on host {node}", "one task per node"
    else:
        found = f"{count} tasks on host {node}, {first} and {second} among them"
        wanted = f"at most {tasks_per_node} per node"
    raise NotAMappingError(where, found, f"{wanted}, or tasks_per_node={most}")
