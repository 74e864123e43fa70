"""Mappings that a search starts from, and is measured against."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.base.errors import InputError
from netloom.mapping.layouts.catalogue import fitting_layouts
from netloom.mapping.search.embedding import embed
from netloom.mapping.search.partition_start import partitioned

if TYPE_CHECKING:
    from collections.abc import Iterator

    from netloom.base.arrays import Floats, Ints
    from netloom.topology import Topology
    from netloom.workload import ProcessGraph

RANDOM_MAPPINGS = 25
"""Random mappings that a result is compared with."""


def starts_of(
    app: ProcessGraph,
    topology: Topology,
    weights: Floats,
    nodes: Ints,
    tasks_per_node: int,
    seed: int,
) -> Iterator[tuple[str, Ints]]:
    """Yield the names and mappings to start from: those that cost least to make first.

    ``identity``, ``partition`` (of program and network together), ``embedding`` (every edge, or
    every heavy one, one channel long), and layouts of programs with a recognized shape. There is no
    embedding if hosts hang on routers. An embedding or layout that does not exist is left out.
    """
    places = np.repeat(nodes, tasks_per_node)
    yield "identity", places[: app.num_tasks].astype(np.int32)
    for name, layout in fitting_layouts(app, topology).items():
        if name != "identity" and np.isin(layout.node_of, nodes).all():
            yield name, layout.node_of
    if tasks_per_node == 1 and topology.direct:
        found = embed(app, topology, nodes=nodes, weights=weights, seed=seed)
        if found is not None:
            yield "embedding", found
    yield (
        "partition",
        partitioned(
            app, topology, nodes=nodes, tasks_per_node=tasks_per_node, weights=weights, seed=seed
        ),
    )


def random_starts(num_tasks: int, nodes: Ints, tasks_per_node: int, seed: int) -> Iterator[Ints]:
    """Yield the random mappings that a result is compared with."""
    places = np.repeat(nodes, tasks_per_node).astype(np.int32)
    for number in range(RANDOM_MAPPINGS):
        rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))
        yield rng.permutation(places)[:num_tasks]


def check_room(num_tasks: int, nodes: Ints, tasks_per_node: int) -> None:
    """Raise an InputError if the tasks do not fit onto the nodes."""
    if tasks_per_node < 1:
        raise InputError("tasks_per_node", f"{tasks_per_node}", "at least 1")
    if num_tasks > len(nodes) * tasks_per_node:
        found = f"{num_tasks} tasks for {len(nodes)} nodes, {tasks_per_node} per node"
        raise InputError("nodes", found, "a place for each task")
