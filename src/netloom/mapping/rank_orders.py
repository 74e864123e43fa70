"""A better order of the ranks of a collective on the hosts that have them."""

from __future__ import annotations

import numpy as np

from netloom.base.figures import Figures, derived, figure
from netloom.simulation.collectives import Algorithm, Runner, graph_of

OBJECTIVES = ("max-channel-load", "hop-bytes")
"""What is searched for. The order that is quickest when run is taken."""

ROUNDS = 2
"""Rounds of annealing for each."""


class Reordered(Figures):
    """The best rank order found for an algorithm at a size.

    The order is the one given, and ``objective`` is "", if nothing better was found.
    """

    algorithm: str
    size: float = figure(unit="bytes")
    given_seconds: float = figure("as given", "seconds")
    found_seconds: float = figure("in the order found", "seconds")
    objective: str = figure("what was minimized")
    node_of: tuple[int, ...] = figure("host of each rank")

    @derived("whether it is better than the order given")
    def better(self) -> bool:
        """Whether a search found what is quicker when run."""
        return bool(self.objective)


def reordered(
    algorithm: Algorithm, runner: Runner, size: float, given_seconds: float, *, seed: int
) -> Reordered:
    """Search for a better order of ranks on the hosts that have them, and run it.

    Parameters
    ----------
    algorithm, runner, size, given_seconds
        What is run, as given, and what it takes.
    seed
        Of the search.
    """
    from netloom.mapping import search_mapping

    given = runner.host_of
    hosts, places = np.unique(given, return_counts=True)
    graph = graph_of(algorithm.outline(1))
    best, seconds_of_best, by = given, given_seconds, ""
    for objective in OBJECTIVES:
        placed = search_mapping(
            graph,
            runner.links.topology,
            routing=runner.routing,
            objective=objective,
            nodes=hosts,
            tasks_per_node=int(places.max()),
            identity=given,
            rounds=ROUNDS,
            seed=seed,
        ).node_of
        # Each host keeps as many ranks as it was given, also if places are free.
        placed[np.argsort(placed, kind="stable")] = np.sort(given)
        seconds = runner.on(placed).timed(algorithm, size).seconds
        if seconds < seconds_of_best * (1 - 1e-9):
            best, seconds_of_best, by = placed, seconds, objective
    return Reordered(
        algorithm=algorithm.name,
        size=size,
        given_seconds=given_seconds,
        found_seconds=seconds_of_best,
        objective=by,
        node_of=tuple(best.tolist()),
    )
