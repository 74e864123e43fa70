"""One round of a mapping search: anneal a mapping, then see what it is worth."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.mapping.search_arrays import search_arrays
from netloom.routing import DimensionOrder
from netloom.topology import mesh
from netloom.workload import process_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from netloom.mapping.objectives import Measure
    from netloom.mapping.search_arrays import SearchArrays

MOVES, MOST_MOVES, FEW_JOINED = 15_000, 20_000_000, 16
"""Moves of a round's first stage for each task, and at most in all; fewer where tasks are joined
to more than so many others, which makes moves slow. They double now and then."""

DOUBLING = 8
"""Rounds after which moves double."""

SLICES = 24
"""Parts of an annealing; after each the clock is looked at, and what was found is measured."""

FRESH, AGAIN, AIMED = (0.3, 0.005), (0.03, 0.001), (0.3, 0.0005)
"""First and last temperature, in the cost of a mean task: of a random mapping that is to bring
together what communicates, of a good one, and of one that is to do what is asked."""

AIMED_SHARE = 1 / 6
"""Moves of an aimed stage, as a share of the first's: they follow paths, and so take longer."""

TRIES = 300
"""Swaps in a row that may fail, where an objective is only approached by annealing."""

LEAST_SHARE = 1.0
"""Of hop-bytes in the cost of an aimed annealing: short paths load all channels less."""

FILLED = 1e-300
"""A steepness that counts for nothing, and yet has loads filled in."""


@dataclass
class Clock:
    """When a search is over.

    Attributes
    ----------
    ends
        Of the time, as ``time.monotonic`` has it.
    enough
        A value that cannot be made better.
    """

    ends: float
    enough: float
    reached: bool = False
    interrupted: bool = False

    def over(self, stopped: Callable[[], bool]) -> bool:
        """Whether to stop: the time is up, the bound is met, or Ctrl-C was pressed."""
        self.interrupted |= stopped()
        return self.reached or self.interrupted or time.monotonic() >= self.ends


class Round(NamedTuple):
    """What a round found: its value, number and start, the node of each task, and if it ended."""

    value: float
    number: int
    name: str
    node_of: NDArray[np.int64]
    finished: bool = True


def warm_up() -> None:
    """Have the kernels compiled, or loaded, before time counts."""
    app, topology = process_graph(2, [0], [1]), mesh(2)
    nodes = np.arange(2, dtype=np.int32)
    arrays = search_arrays(app, topology, DimensionOrder(), app.bytes, nodes, 1)
    rng = np.random.default_rng(0)
    for _ in _annealed(arrays, _state(arrays, nodes, rng), True, 0.0, AIMED, 0, rng):  # noqa: FBT003
        break


def run_round(
    arrays: SearchArrays,
    value_of: Measure,
    number: int,
    name: str,
    start: NDArray[np.int32] | None,
    clock: Clock,
    stopped: Callable[[], bool],
    seed: int,
) -> Round:
    """Return the best mapping of one round of annealing: from a start, or from nowhere.

    From nowhere, tasks that communicate are first brought together (hop-bytes), whatever the
    objective; then it is the objective's turn.
    """
    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, number)))
    state = _state(arrays, start, rng)
    aims = value_of.objective.single != "hop-bytes"
    joined = max(1.0, len(arrays.graph.others) / arrays.num_tasks / FEW_JOINED)
    moves = int(min(MOVES * arrays.num_tasks, MOST_MOVES) / joined) * 2 ** (number // DOUBLING)
    stages = [(False, FRESH if start is None else AGAIN)] if start is None or not aims else []
    stages += [(True, AIMED)] if aims else []
    best = Round(np.inf, number, name, state.node_of[: arrays.num_tasks].copy(), finished=False)
    for aimed, heat in stages:
        share = value_of.objective.shares.get("hop-bytes", 0.0)
        tried = int(moves * AIMED_SHARE) if aimed else moves
        for _ in _annealed(arrays, state, aimed, share, heat, tried, rng):
            best = _better(best, value_of, state.node_of[: arrays.num_tasks])
            if clock.over(stopped) or best.value <= clock.enough:
                return best
    if {"path-contention", "saturation"} & set(value_of.objective.shares):
        best = _tried(arrays, value_of, best, clock, stopped, rng)
    return best._replace(finished=True)


class _State(NamedTuple):
    """A mapping while it is annealed: nodes and places of items, items at places, and loads."""

    node_of: NDArray[np.int64]
    place_of: NDArray[np.int64]
    item_at: NDArray[np.int64]
    loads: NDArray[np.float64]


def _state(
    arrays: SearchArrays, start: NDArray[np.int32] | None, rng: np.random.Generator
) -> _State:
    if start is None:
        place_of = rng.permutation(len(arrays.place_node))
    else:
        place_of = places_of(start, arrays.place_node)
    node_of = arrays.place_node[place_of]
    return _State(node_of, place_of, np.argsort(place_of), np.zeros(arrays.num_channels))


def places_of(start: NDArray[np.int32], place_node: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of each item: of tasks on their nodes, and of what is left over after."""
    by_node = np.argsort(place_node, kind="stable")
    order = np.argsort(start, kind="stable")
    first = np.searchsorted(place_node[by_node], start[order])
    rank = np.arange(len(start)) - np.searchsorted(start[order], start[order])
    place_of = np.empty(len(place_node), np.int64)
    place_of[order] = by_node[first + rank]
    place_of[len(start) :] = np.setdiff1d(by_node, place_of[: len(start)])
    return place_of


def _annealed(
    arrays: SearchArrays,
    state: _State,
    aimed: bool,  # noqa: FBT001  # one of two kinds of stage
    hop_share: float,
    heat: tuple[float, float],
    moves: int,
    rng: np.random.Generator,
) -> Iterator[None]:
    """Anneal a mapping part by part, from the first temperature to the last."""
    from netloom.mapping.search_kernel import anneal, fill

    net, graph = tuple(arrays.net), tuple(arrays.graph)
    fill(net, graph, state.node_of, state.loads, (1.0, FILLED, 1.0))
    if not state.loads.any():  # what sends is together, and there is no cost to set temperatures by
        yield
        return
    total, most = float(state.loads.sum()), float(state.loads.max())
    terms = (1.0, 0.0, 1.0)
    if aimed:
        terms = max(hop_share, LEAST_SHARE) / total, 1.0 - hop_share, most
    unit = fill(net, graph, state.node_of, state.loads, terms) / arrays.num_tasks
    edges = np.geomspace(heat[0] * unit, heat[1] * unit, SLICES + 1)
    for first, last in pairwise(edges):
        anneal(
            net, graph, arrays.num_tasks, state.node_of, state.place_of, state.item_at, arrays.near,
            state.loads, terms, first, last, moves // SLICES, rng,
        )  # fmt: skip
        yield


def _better(best: Round, value_of: Measure, node_of: NDArray[np.int64]) -> Round:
    """Return the round with this mapping, if it is better than the best so far."""
    value = value_of(node_of)
    return best._replace(value=value, node_of=node_of.copy()) if value < best.value else best


def _tried(
    arrays: SearchArrays,
    value_of: Measure,
    best: Round,
    clock: Clock,
    stopped: Callable[[], bool],
    rng: np.random.Generator,
) -> Round:
    """Return a mapping made better by swaps of two places, each measured exactly."""
    place_of = places_of(best.node_of.astype(np.int32), arrays.place_node)
    tries, tried = TRIES * 2 ** (best.number // DOUBLING), 0
    while tried < tries and not clock.over(stopped):
        one, other = rng.integers(arrays.num_tasks), rng.integers(len(place_of))
        place_of[[one, other]] = place_of[[other, one]]
        node_of = arrays.place_node[place_of[: arrays.num_tasks]]
        value = value_of(node_of)
        tried = 0 if value < best.value else tried + 1
        if value <= best.value:
            best = best._replace(value=value, node_of=node_of)
        else:
            place_of[[one, other]] = place_of[[other, one]]
    return best
