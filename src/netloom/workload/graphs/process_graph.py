"""Who talks to whom, how much: the process graph of a parallel program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError, NotAMappingError
from netloom.base.spec import check_size


@dataclass(frozen=True, eq=False)
class ProcessGraph:
    """Directed communication between tasks 0 … ``num_tasks`` − 1 (Chittor 1991, definition 19).

    Make one with ``process_graph``, which sorts and checks. Edges are sorted by source, then
    target, none is repeated and none leads from a task to itself.

    Attributes
    ----------
    name
        The spec string or file that it came from.
    num_tasks
        Number of tasks.
    source, target
        int32[num_edges], the task that sends and the task that receives.
    bytes, messages
        float64[num_edges], what the edge carries over the whole run. Neither negative.
    """

    name: str
    num_tasks: int
    source: Ints
    target: Ints
    bytes: Floats
    messages: Floats

    @property
    def num_edges(self) -> int:
        """Number of directed edges, that is, of paths once the graph is mapped."""
        return len(self.source)

    @property
    def columns(self) -> dict[str, Any]:
        """What is known of each edge, by name."""
        names = ("source", "target", "bytes", "messages")
        return {name: getattr(self, name) for name in names}

    def weights(self, kind: Literal["bytes", "messages", "uniform"]) -> Floats:
        """Return what each edge weighs: its bytes, its messages, or 1."""
        if kind == "uniform":
            return np.ones(self.num_edges)
        return self.bytes if kind == "bytes" else self.messages

    def shares(self, kind: Literal["bytes", "messages", "uniform"]) -> Floats:
        """Return the part of the weight that its source sends which each edge has; 0 of nothing.

        Examples
        --------
        >>> process_graph(3, [0, 0, 1], [1, 2, 0], bytes=[30, 10, 5]).shares("bytes").tolist()
        [0.75, 0.25, 1.0]
        """
        weight = self.weights(kind)
        total = np.bincount(self.source, weight, self.num_tasks)[self.source]
        return np.divide(weight, total, out=np.zeros(len(weight)), where=total > 0)

    def across(self, node_of: ArrayLike) -> ProcessGraph:
        """Return what enters a network: without the edges between tasks of the same node.

        ``node_of``: int[num_tasks], the node of each task.

        Examples
        --------
        >>> process_graph(3, [0, 1, 2], [1, 2, 0]).across([4, 4, 5]).source
        array([1, 2], dtype=int32)
        """
        nodes = np.asarray(node_of)
        return self.only(nodes[self.source] != nodes[self.target])

    def only(self, kept: Bools | slice) -> ProcessGraph:
        """Return the same tasks with some of the edges."""
        return replace(self, **{name: values[kept] for name, values in self.columns.items()})

    def __repr__(self) -> str:
        total = f"{float(self.bytes.sum()):.4g} bytes, {float(self.messages.sum()):.4g} messages"
        return f"<{self.name}: {self.num_tasks} tasks, {self.num_edges} directed edges, {total}>"


def process_graph(
    num_tasks: int,
    source: ArrayLike,
    target: ArrayLike,
    *,
    bytes: ArrayLike | None = None,  # noqa: A002  # the design's word for it
    messages: ArrayLike | None = None,
    name: str = "process graph",
) -> ProcessGraph:
    """Return a checked process graph from edges in any order.

    Parameters
    ----------
    num_tasks
        Number of tasks. Every source and target lies below it.
    source, target
        int[num_edges] tasks. Repeated edges are added up. An edge from a task to itself never
        enters the network and is left out.
    bytes
        float[num_edges], or 1 for every edge where it is not given.
    messages
        float[num_edges], or 1 for every edge where it is not given.
    name
        Named in error messages and results.

    Raises
    ------
    InputError
        If the arrays differ in length, a task is out of range, or a weight is negative, infinite
        or not a number.

    Examples
    --------
    >>> process_graph(3, [2, 0, 0], [0, 1, 1], bytes=[5, 1, 2]).bytes
    array([3., 5.])
    """
    sources, targets = np.asarray(source), np.asarray(target)
    check_size(num_tasks, where=name, what="tasks")
    check_size(len(sources), where=name, what="edges")
    weights = [
        np.ones(len(sources)) if given is None else np.asarray(given, dtype=np.float64)
        for given in (bytes, messages)
    ]
    columns = {"sources": sources, "targets": targets, "bytes": weights[0], "messages": weights[1]}
    for what, column in columns.items():
        if column.shape != (len(sources),):
            wanted = f"one for each of {len(sources)} edges"
            raise InputError(name, f"{what} of shape {column.shape}", wanted)
    check_edges(num_tasks, *columns.values(), where=lambda edge: f"{name}, edge {edge}")
    keys = sources.astype(np.int64) * num_tasks + targets
    kept = sources != targets
    if not kept.all():
        keys, weights = keys[kept], [weight[kept] for weight in weights]
    if not np.all(keys[1:] > keys[:-1]):
        keys, place = np.unique(keys, return_inverse=True)
        weights = [
            np.bincount(place, weight, minlength=len(keys)).astype(np.float64) for weight in weights
        ]
    ends = (each.astype(np.int32) for each in np.divmod(keys, num_tasks))
    return ProcessGraph(name, num_tasks, *ends, *weights)


def check_edges(
    num_tasks: int,
    source: NDArray[Any],
    target: NDArray[Any],
    bytes: NDArray[Any],  # noqa: A002
    messages: NDArray[Any] | None,
    *,
    where: Callable[[int], str],
) -> None:
    """Refuse edges between tasks that do not exist, and weights that are none.

    ``where`` names the place of edge i, as a user would look for it.

    Raises
    ------
    InputError
        Naming the place of the first edge that is wrong.
    """
    for what, tasks in (("source", source), ("target", target)):
        wrong = (tasks < 0) | (tasks >= num_tasks)
        if wrong.any():
            edge = int(np.argmax(wrong))
            raise InputError(where(edge), f"{what} task {tasks[edge]}", f"0 to {num_tasks - 1}")
    check_weights(bytes, "bytes", where)
    if messages is not None:
        check_weights(messages, "messages", where)


def check_weights(weights: NDArray[Any], what: str, where: Callable[[int], str]) -> None:
    """Refuse weights that are negative, infinite or not a number, as ``check_edges`` does."""
    wrong = ~(np.isfinite(weights) & (weights >= 0))
    if wrong.any():
        edge = int(np.argmax(wrong))
        raise InputError(where(edge), f"{what} = {weights[edge]}", "a number that is not negative")


def mapped_nodes(
    node_of: ArrayLike, num_tasks: int, num_nodes: int, where: str = "mapping"
) -> Ints:
    """Return the node of each task as int32[num_tasks], if each has one of the network.

    ``where`` is the field or file that errors name.

    Raises
    ------
    NotAMappingError
        If there are more or fewer nodes than tasks, or one that is none of the network.

    Examples
    --------
    >>> mapped_nodes([3, 0], num_tasks=2, num_nodes=4)
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
        found = f"task {task} on host {nodes[task]}"
        raise NotAMappingError(where, found, f"hosts 0 to {num_nodes - 1}")
    return nodes.astype(np.int32)
