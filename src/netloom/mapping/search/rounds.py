"""One round of a mapping search: anneal a mapping, then see what it is worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise, permutations, product
from math import factorial, prod
from time import thread_time
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.mapping.search.arrays import SearchArrays, search_arrays
from netloom.mapping.search.objectives import HOP_BYTES
from netloom.routing import DimensionOrder
from netloom.topology import Cube, Topology, mesh
from netloom.workload import process_graph

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Floats, Ints
    from netloom.mapping.search.objectives import Measure

MOVES, MOST_MOVES, FEW_JOINED = 5_000, 20_000_000, 64
"""Moves of a round's first stage for each task, and at most in all. Fewer where tasks are joined to
more than so many others, which makes moves slow."""

AIMED_SHARE, MOST_AIMED, FEW_MET = 1 / 2, 3_000_000, 16
"""Moves of an aimed stage, as a share of the first's, and at most. Fewer where tasks are joined to
more than so many others. They follow paths, and so take longer."""

SHORT = 1 / 4
"""Share of these moves in every other round: many short ones find what a few long ones miss, and
the other way round."""

ATTEMPTS = 4
"""Times that a long round from nowhere brings together what communicates."""

DOUBLING = 32
"""Rounds after which moves double."""

SLICES = 24
"""Parts of an annealing. After each the clock is looked at, and what was found is measured."""

FRESH, AGAIN, AIMED = (0.3, 0.005), (0.03, 0.001), (0.3, 0.0005)
"""First and last temperature, in the cost of a mean task. They are for three cases: bringing
together tasks that communicate in a random mapping, and in a good one, and optimizing the
objective."""

AIMED_AGAIN = 0.03, 0.01
"""First temperatures of long and short rounds, if a good mapping is to become better still."""

ASIDE = 0.97
"""Share of the highest load from which on a channel is one of the busiest."""

IMAGES, MANY_TASKS = 64, 1024
"""Images of a mapping that are measured, of the network turned or reflected. An eighth of these for
programs of more tasks."""

TRIES = 300
"""Swaps in a row that may fail, where an objective is only approached by annealing."""

POLISHING = 20_000
"""Swaps that are tried in order when a round is over, for each of two aims."""

SAME = 1e-9
"""Relative difference of loads that is none."""

LEAST_SHARE = 1.0
"""Of hop-bytes in the cost of an aimed annealing: short paths load all channels less."""


@dataclass
class Clock:
    """When a search is over: by the processor time of its threads, whatever else a machine does."""

    seconds: float  # processor time that all rounds together may take
    enough: float  # a value that cannot be made better
    spent: dict[int, float] = field(default_factory=dict)  # processor time of each round so far
    interrupted: bool = False

    def over(self, stopped: Callable[[], bool]) -> bool:
        """Whether to stop: the time is up, or Ctrl-C was pressed."""
        self.interrupted |= stopped()
        return self.interrupted or sum([*self.spent.values()]) >= self.seconds


class Round(NamedTuple):
    """What a round found."""

    # What rounds are compared by: see ``Measure.ranked``.
    rank: tuple[float, ...]
    value: float  # of the objective
    # number, name: of the round, and of the mapping that it started from.
    number: int
    name: str
    node_of: Ints  # int64[num_tasks]
    finished: bool = True  # whether it came to its end


def warm_up() -> None:
    """Have the kernels compiled, or loaded, before time counts."""
    app, topology = process_graph(2, [0], [1]), mesh(2)
    nodes = np.arange(2, dtype=np.int32)
    arrays = search_arrays(app, topology, DimensionOrder(), app.bytes, nodes, 1)
    rng = np.random.default_rng(0)
    held = _held(arrays, nodes, rng)
    for aimed in (False, True):
        next(_annealed(arrays, held, Stage(aimed, AIMED, 0, ASIDE, light=True), 0.0, rng))
        _polish(arrays, held, 1, aimed=aimed)


def run_round(
    arrays: SearchArrays,
    value_of: Measure,
    number: int,
    name: str,
    start: Ints | None,
    clock: Clock,
    stopped: Callable[[], bool],
    seed: int,
) -> Round:
    """Return the best mapping of one round of annealing: from a start, or from nowhere.

    From nowhere, tasks that communicate are first brought together (hop-bytes), whatever the
    objective. Then it is the objective's turn. At last swaps are tried in order, as long as one
    makes the busiest channels or the hops less.
    """
    began = thread_time()

    def over() -> bool:
        clock.spent[number] = thread_time() - began
        return clock.over(stopped)

    rng = np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(1, number)))
    single = value_of.objective.single
    share = value_of.objective.shares.get("hop-bytes", 0.0)
    best = Round((np.inf,), np.inf, number, name, np.zeros(0, np.int64), finished=False)
    aims, nearest, fewest = single != "hop-bytes", start, np.inf

    def known(node_of: Ints) -> Round:
        one = _better(best._replace(rank=(np.inf,)), value_of, node_of.astype(np.int64))
        return _turned(arrays, value_of, one, rng) if aims else one

    if start is not None:
        best = known(start)
        nearest = best.node_of
    for stage in _stages(arrays, number, fresh=start is None, aims=aims):
        held = _held(arrays, nearest if stage.aimed else start, rng)
        for _ in _annealed(arrays, held, stage, share, rng):
            best = _better(best, value_of, nodes_of(arrays, held))
            if over() or best.value <= clock.enough:
                return best
        if aims and not stage.aimed:
            gathered = known(nodes_of(arrays, held))
            best = min(best, gathered, key=lambda one: one.rank)
            if gathered.rank[HOP_BYTES] < fewest:
                nearest, fewest = gathered.node_of, gathered.rank[HOP_BYTES]
    best = _turned(arrays, value_of, best, rng) if aims else best
    if single in ("hop-bytes", "max-channel-load"):
        held = _held(arrays, best.node_of, rng)
        _polish(arrays, held, POLISHING, aimed=aims)
        best = _better(best, value_of, nodes_of(arrays, held))
    if {"path-contention", "saturation"} & set(value_of.objective.shares):
        best = _tried(arrays, value_of, best, over, rng)
    over()
    return best._replace(finished=True)


class Stage(NamedTuple):
    """A stage of a round."""

    aimed: bool  # at what is asked; otherwise at bringing together what communicates
    heat: tuple[float, float]  # first and last temperature, in the cost of a mean task
    moves: int  # how many
    aside: float  # as ``kernels.search.anneal`` has it
    light: bool  # whether what matters little is left out; see ``arrays.light_graph``


def _stages(arrays: SearchArrays, number: int, *, fresh: bool, aims: bool) -> Iterator[Stage]:
    """Yield the stages of a round. Two long ones and two short ones take turns.

    From nowhere, a long one brings together several times what communicates: the best of these is
    what the aimed stage begins with.
    """
    turn = number // 2
    short, aside = turn % 2, ASIDE if turn // 2 % 2 == 0 else 0.0
    most = MOVES * arrays.num_tasks * 2 ** (number // DOUBLING) * (SHORT if short else 1)
    light = fresh or short > 0
    joined = len((arrays.light if light else arrays.graph).others) / arrays.num_tasks
    if fresh or not aims:
        moves = int(min(most, MOST_MOVES) / max(1.0, joined / FEW_JOINED))
        heat = FRESH if fresh else AGAIN
        for _ in range(ATTEMPTS if fresh and aims and not short else 1):
            yield Stage(aimed=False, heat=heat, moves=moves, aside=0.0, light=light)
    if aims:
        moves = int(min(most * AIMED_SHARE, MOST_AIMED) / max(1.0, joined / FEW_MET))
        heat = AIMED if fresh else (AIMED_AGAIN[short], AIMED[1])
        yield Stage(aimed=True, heat=heat, moves=moves, aside=aside, light=light)


class Held(NamedTuple):
    """A mapping while it is annealed. See ``kernels.search``. Nodes are rows of the tables."""

    node_of: Ints
    place_of: Ints
    item_at: Ints
    loads: Floats


def _held(arrays: SearchArrays, start: Ints | None, rng: np.random.Generator) -> Held:
    if start is None:
        place_of = rng.permutation(len(arrays.place_node))
    else:
        place_of = places_of_items(start, arrays.place_node)
    node_of = arrays.place_row[place_of]
    return Held(node_of, place_of, np.argsort(place_of), np.zeros(arrays.num_channels))


def nodes_of(arrays: SearchArrays, held: Held) -> Ints:
    """Return the node of each task."""
    return arrays.place_node[held.place_of[: arrays.num_tasks]]


def room(arrays: SearchArrays) -> tuple[NDArray[np.generic], ...]:
    """Return the working space of a thread's kernels. See ``kernels.search``."""
    channels = arrays.num_channels
    return (
        np.zeros(channels, np.int64), np.zeros(channels), np.zeros(channels, np.int8),
        np.zeros(1, np.int64), np.zeros(len(arrays.place_node), np.int64), np.zeros(channels),
    )  # fmt: skip


def places_of_items(start: Ints, place_node: Ints) -> Ints:
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
    held: Held,
    stage: Stage,
    hop_share: float,
    rng: np.random.Generator,
) -> Iterator[None]:
    """Anneal a mapping part by part, from the first temperature to the last."""
    from netloom.mapping.kernels.search import anneal, cost, fill, gather

    net, work, tasks = tuple(arrays.net), room(arrays), arrays.num_tasks
    graph = tuple(arrays.light if stage.light else arrays.graph)
    base = arrays.base if stage.light else np.zeros(arrays.num_channels)
    fill(net, graph, base, tuple(held), work)
    total = float((held.loads - base).sum())
    if not total > 0:  # what sends is together, and there is no cost to set temperatures by
        yield
        return
    linear = max(hop_share, LEAST_SHARE) / total
    terms = linear, 1.0 - hop_share, float(held.loads.max())
    unit = (cost(held.loads, terms) if stage.aimed else total) / tasks
    edges = np.geomspace(stage.heat[0] * unit, stage.heat[1] * unit, SLICES + 1)
    moves = stage.moves // SLICES
    for first, last in pairwise(edges):
        part = net, graph, arrays.partners, tasks, tuple(held), arrays.near
        if stage.aimed:  # the highest load is the unit, however low it has come
            terms = linear, 1.0 - hop_share, float(held.loads.max()) or 1.0
            anneal(*part, terms, first, last, moves, stage.aside, work, rng)
        else:
            gather(*part, first, last, moves, rng)
        yield


def _polish(arrays: SearchArrays, held: Held, tries: int, *, aimed: bool) -> None:
    """Try swaps in order: for the busiest channels, and then for hops if these do not suffer."""
    from netloom.mapping.kernels.search import fill, relieve, shorten

    net, graph, work = tuple(arrays.net), tuple(arrays.graph), room(arrays)
    state = tuple(held)
    fill(net, graph, np.zeros(arrays.num_channels), state, work)
    if aimed:
        relieve(net, graph, state, tries, work)
    lid = float(held.loads.max()) * (1 + SAME) if aimed else np.inf
    shorten(net, graph, arrays.num_tasks, state, lid, tries, work)


def _better(best: Round, value_of: Measure, node_of: Ints) -> Round:
    """Return the round with this mapping, if it is better than the best so far."""
    value, rank = value_of.ranked(node_of)
    if rank < best.rank:
        return best._replace(rank=rank, value=value, node_of=node_of.copy())
    return best


def _turned(
    arrays: SearchArrays, value_of: Measure, best: Round, rng: np.random.Generator
) -> Round:
    """Return the best image of a round's mapping: the network turned or reflected onto itself."""
    turned, allowed = best, np.zeros(value_of.topology.num_hosts, np.bool_)
    allowed[arrays.place_node] = True
    most = IMAGES if arrays.num_tasks <= MANY_TASKS else IMAGES // 8
    for image in images(value_of.topology, most, rng):
        node_of = image[best.node_of]
        if allowed[node_of].all():
            turned = _better(turned, value_of, node_of)
    return turned


def _tried(
    arrays: SearchArrays,
    value_of: Measure,
    best: Round,
    over: Callable[[], bool],
    rng: np.random.Generator,
) -> Round:
    """Return a mapping made better by swaps of two places, each measured exactly."""
    place_of = places_of_items(best.node_of, arrays.place_node)
    tries, tried = TRIES * 2 ** (best.number // DOUBLING), 0
    while tried < tries and not over():
        one, other = rng.integers(arrays.num_tasks), rng.integers(len(place_of))
        place_of[[one, other]] = place_of[[other, one]]
        node_of = arrays.place_node[place_of[: arrays.num_tasks]]
        value, rank = value_of.ranked(node_of)
        tried = 0 if rank < best.rank else tried + 1
        if rank <= best.rank:
            best = best._replace(rank=rank, value=value, node_of=node_of)
        else:
            place_of[[one, other]] = place_of[[other, one]]
    return best


def images(topology: Topology, most: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Yield where each node goes when a k-ary n-cube is turned or reflected onto itself.

    Dimension order corrects one dimension before the other, and half-way ties of rings go one way.
    So a rotated or reflected mapping has the same distances, and may load channels less. Moving it
    along rings changes nothing, nor does reflecting a dimension without ties.

    An image is int64[num_nodes]. That of all in place is left out where all are listed. If
    there are more than ``most``, so many are drawn. Other networks than whole cubes have no
    images here.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> [each.tolist() for each in images(mesh(2, 2), 10, np.random.default_rng(1))]
    [[0, 2, 1, 3]]
    """
    if not isinstance(topology, Cube):
        return
    kinds = list(zip(topology.sides, topology.wraps, strict=True))
    alike = [[axis for axis, kind in enumerate(kinds) if kind == one] for one in sorted(set(kinds))]
    tied = [axis for axis, (side, wrap) in enumerate(kinds) if wrap and side % 2 == 0 and side > 2]
    if prod(factorial(len(axes)) for axes in alike) * 2 ** len(tied) - 1 <= most:
        for orders in product(*(permutations(axes) for axes in alike)):
            for turned in product((False, True), repeat=len(tied)):
                if any(turned) or list(orders) != [tuple(axes) for axes in alike]:
                    yield _image(topology, alike, orders, np.array(tied)[list(turned)])
        return
    for _ in range(most):
        drawn = [tuple(rng.permutation(axes).tolist()) for axes in alike]
        yield _image(topology, alike, tuple(drawn), np.array(tied)[rng.random(len(tied)) < 0.5])


def _image(
    cube: Cube,
    alike: list[list[int]],
    orders: tuple[tuple[int, ...], ...],
    turned: Ints,
) -> Ints:
    """Return the image of each node: axes in another order, some of them reflected."""
    along = np.array(np.unravel_index(np.arange(cube.num_hosts), cube.sides), np.int64)
    moved = along.copy()
    for axes, order in zip(alike, orders, strict=True):
        moved[axes] = along[list(order)]
    for axis in turned.tolist():
        moved[axis] = cube.sides[axis] - 1 - moved[axis]
    return np.asarray(np.ravel_multi_index(tuple(moved), cube.sides), np.int64)
