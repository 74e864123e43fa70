"""The rank order of a collective as a mapping question: which rank runs on which host."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.mapping import search_mapping
from netloom.workload import ProcessGraph, process_graph

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.questions.collective.runs import Algorithm, Runner
    from netloom.workload.programs.collectives.outline import Outline

OBJECTIVES = ("max-channel-load", "hop-bytes")
"""What is searched for. The order that is quickest when run is taken."""

ROUNDS = 2
"""Rounds of annealing for each."""


@dataclass(frozen=True, eq=False)
class Reordered:
    """The best rank order found for an algorithm at a size.

    Attributes
    ----------
    algorithm, size
        For what it was searched.
    node_of
        int32[num_ranks], the host of each rank: as given if nothing better was found.
    given_seconds, found_seconds
        What the collective takes as given, and so.
    objective
        What was minimized. "" if the order stays as given.
    """

    algorithm: str
    size: float
    node_of: Ints
    given_seconds: float
    found_seconds: float
    objective: str

    @property
    def better(self) -> bool:
        """Whether it is better than the order given."""
        return bool(self.objective)

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain data."""
        names = ("algorithm", "size", "given_seconds", "found_seconds", "objective")
        found = {name: getattr(self, name) for name in names}
        return found | {"better": self.better, "node_of": self.node_of.tolist()}


def graph_of(outline: Outline) -> ProcessGraph:
    """Return what ranks send each other in all steps together, in parts of a collective's size.

    Examples
    --------
    >>> from netloom.workload.programs.collectives.algorithms import outline
    >>> graph_of(outline("all-reduce", "ring", 4)).bytes.tolist()
    [1.5, 1.5, 1.5, 1.5]
    """
    size = outline.num_ranks
    key = np.concatenate([each.source * np.int64(size) + each.target for each in outline.steps])
    sent = np.concatenate([each.width * np.float64(each.times) for each in outline.steps])
    pairs, place = np.unique(key, return_inverse=True)
    total = np.bincount(place, weights=sent) * float(outline.chunk_size[0] or 1)
    name = f"{outline.collective} of {size} ranks"
    return process_graph(size, pairs // size, pairs % size, bytes=total, name=name)


def reordered(
    algorithm: Algorithm,
    runner: Runner,
    size: float,
    given_seconds: float,
    *,
    seed: int,
) -> Reordered:
    """Search for a better order of ranks on the hosts that have them, and run it.

    Parameters
    ----------
    algorithm, runner, size, given_seconds
        What is run, as given, and what it takes.
    seed
        Of the search.
    """
    flows, given = runner.flows, runner.host_of
    hosts, places = np.unique(given, return_counts=True)
    graph = graph_of(algorithm.outline(1))
    found = Reordered(algorithm.name, size, given, given_seconds, given_seconds, "")
    for objective in OBJECTIVES:
        placed = search_mapping(
            graph, flows.topology,
            routing=flows.routing, objective=objective, nodes=hosts,
            tasks_per_node=int(places.max()), identity=given, rounds=ROUNDS, seed=seed,
        ).node_of  # fmt: skip
        # Each host keeps as many ranks as it was given, also if places are free.
        placed[np.argsort(placed, kind="stable")] = np.sort(given)
        seconds = runner.on(placed).timed(algorithm, size).seconds
        if seconds < found.found_seconds * (1 - 1e-9):
            found = Reordered(algorithm.name, size, placed, given_seconds, seconds, objective)
    return found
