"""A mapping with little contention, for any program on any network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import compress, islice, pairwise, permutations, product
from math import factorial, prod
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Floats, Ints, offsets_of, owners_of
from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.provenance import DEFAULT_SEED
from netloom.contention import measure
from netloom.mapping.allocation import allocated_hosts
from netloom.mapping.layouts import Layout, cube_of_hosts
from netloom.mapping.placements import check_room
from netloom.mapping.search.bounds import least
from netloom.mapping.search.objectives import HOP_BYTES, Measure, objective_of, on_paths
from netloom.mapping.search.starts import near_hosts, random_starts, starts_of
from netloom.routing import DimensionOrder, Paths, Routing, parse_routing, paths
from netloom.routing.rules import CubeTables, cube_tables
from netloom.simulation.side_by_side import run_all
from netloom.topology import Topology, hop_distances, mesh
from netloom.workload import ProcessGraph, process_graph

MOST_TABLED = 512
"""Nodes up to which the paths of all pairs are looked up where they could be walked, ..."""

MOST_PAIRS = 2**22
"""... and pairs of nodes up to which they are where they cannot."""

MOST_DISTANCES = 4096
"""Nodes up to which the distances of all pairs are looked up."""

MOST_ROUTED = 2**20
"""Pairs whose paths are listed at a time."""

FEW_NEAR = 4
"""Other hosts that count as near at least."""


class Graph(NamedTuple):
    """For each item, the items it is joined to, and the weights to and from them."""

    offsets: Ints
    others: Ints
    out: Floats
    into: Floats


SPARED = 0.05
"""Share of what a program sends that a light one may be without."""

DRAWS = 32
"""Partners of each item that are drawn from: each as often as its share of the weight rounds to."""


def drawn_partners(graph: Graph) -> Ints:
    """Return partners of each item, int64[items, DRAWS], by weight, or -1 if there is none.

    A partner with a share s of what an item sends and receives is there about s × ``DRAWS`` times.

    Examples
    --------
    >>> graph = Graph(np.array([0, 2, 3, 4]), np.array([1, 2, 0, 0]), np.ones(4), np.zeros(4))
    >>> np.bincount(drawn_partners(graph)[0]).tolist()
    [0, 16, 16]
    """
    items = len(graph.offsets) - 1
    before = np.append(0.0, np.cumsum(np.maximum(graph.out + graph.into, 0.0)))
    first, last = before[graph.offsets[:-1]], before[graph.offsets[1:]]
    share = (np.arange(DRAWS) + 0.5) / DRAWS
    marks = first[:, None] + (last - first)[:, None] * share
    at = np.searchsorted(before, marks.ravel(), side="right").reshape(items, DRAWS) - 1
    at = np.clip(at, graph.offsets[:-1, None], np.maximum(graph.offsets[1:] - 1, 0)[:, None])
    found = np.full((items, DRAWS), -1, np.int64)
    joined = last > first
    found[joined] = graph.others[at[joined]]
    return found


class Net(NamedTuple):
    """A network's tables. See ``kernels.search``."""

    cube: CubeTables
    offsets: Ints
    channels: Ints
    distance: NDArray[Any]  # int16 or, where a pair has several paths, float64
    shares: Floats


@dataclass(frozen=True, eq=False)
class SearchArrays:
    """What stays the same in a search."""

    # graph, net: program and network.
    graph: Graph
    net: Net
    # light, base: the program without what matters little, and the load of each channel that all
    # pairs of tasks alike make; see ``light_graph``. Both are those of the program where little is
    # saved.
    light: Graph
    base: Floats
    partners: Ints  # of each item, drawn by weight; see ``drawn_partners``
    place_node: Ints  # int64[places], the node of each place
    # int64[places], the row of that node in tables: its number among the nodes that may be used, or
    # its router where paths are walked.
    place_row: Ints
    # The places near each row: those of itself and of its neighbours, as a ragged array.
    near: tuple[Ints, Ints]
    # num_tasks, num_channels: counts.
    num_tasks: int
    num_channels: int


def search_arrays(value_of: Measure) -> SearchArrays:
    """Return the arrays of a search for mappings that are measured so.

    Raises
    ------
    InputError
        If the network is too large for its routing.
    """
    app, topology, routing = value_of.app, value_of.topology, value_of.routing
    nodes, tasks_per_node, counts = value_of.nodes, value_of.tasks_per_node, value_of.counted
    place_node = np.repeat(nodes, tasks_per_node).astype(np.int64)
    # both directions of each pair of tasks together
    items, up = len(place_node), app.source < app.target
    low = np.minimum(app.source, app.target).astype(np.int64)
    high = np.maximum(app.source, app.target).astype(np.int64)
    pairs, pair = np.unique(low * items + high, return_inverse=True)
    there, back = (
        np.bincount(pair[way], value_of.weights[way], len(pairs)).astype(np.float64)
        for way in (up, ~up)
    )
    ends = np.concatenate([pairs // items, pairs % items])
    order = np.argsort(ends, kind="stable")
    offsets = offsets_of(np.bincount(ends, minlength=items))
    others = np.concatenate([pairs % items, pairs // items])[order]
    graph = Graph(offsets, others, np.append(there, back)[order], np.append(back, there)[order])
    net, row = _net(topology, routing, nodes, counts)
    light, alike = light_graph(graph, full=app.num_tasks == len(place_node))
    base = np.zeros(topology.num_channels)
    if alike:
        used, held = np.unique(place_node, return_counts=True)
        sent = alike * np.outer(held, held).ravel()
        if len(net.offsets):
            carried = np.repeat(sent, np.diff(net.offsets))
            shared = carried * net.shares if len(net.shares) else carried
            base += np.bincount(net.channels, shared, topology.num_channels)
        else:
            found = measure(topology, routing, *_pairs(topology, used, used), sent)
            base[: topology.num_network_channels] = found.weighted_channel_load
            base *= counts
    # the places of the hosts near each row of the tables
    near = near_hosts(topology, nodes, FEW_NEAR)
    many = np.zeros(int(row.max()) + 1, np.int64)
    many[row] = np.diff(near.indptr) * tasks_per_node
    beside = near[np.argsort(row, kind="stable")].indices.astype(np.int64)
    places = beside[:, None] * tasks_per_node + np.arange(tasks_per_node)
    return SearchArrays(
        graph=graph,
        net=net,
        light=light,
        base=base,
        partners=drawn_partners(light),
        place_node=place_node,
        place_row=np.repeat(row, tasks_per_node),
        near=(offsets_of(many), places.ravel()),
        num_tasks=app.num_tasks,
        num_channels=topology.num_channels,
    )


def light_graph(graph: Graph, *, full: bool) -> tuple[Graph, float]:
    """Return a program without what matters little, and what is sent from each task to each other.

    What all pairs send alike loads channels alike under every mapping, if every place is taken
    (``full``): so the median weight of all pairs is taken off each of them. Of what then is left,
    positive or negative, the least goes, up to ``SPARED`` of the sum. The graph stays as it is,
    and nothing is sent alike, unless that halves it.

    Examples
    --------
    Five tasks all send 1 to each other, and the first sends 9 more to the second:

    >>> offsets, others = np.arange(0, 21, 4), np.nonzero(~np.eye(5, dtype=bool))[1]
    >>> out, into = np.ones(20), np.ones(20)
    >>> out[0] = into[4] = 10
    >>> light, alike = light_graph(Graph(offsets, others, out, into), full=True)
    >>> light.offsets.tolist(), light.others.tolist(), light.out.tolist(), alike
    ([0, 1, 2, 2, 2, 2], [1, 0], [9.0, 0.0], 1.0)
    """
    items = len(graph.offsets) - 1
    alike = 0.0
    if full and len(graph.others) > items * (items - 1) // 2:
        sent = np.append(graph.out, np.zeros(items * (items - 1) - len(graph.out)))
        alike = float(np.median(sent))
    item, other, out, into = (owners_of(np.diff(graph.offsets)), *graph[1:])
    if alike:
        dense = np.zeros((2, items, items))
        dense[0, item, other], dense[1, item, other] = out, into
        item, other = np.nonzero(~np.eye(items, dtype=np.bool_))
        out, into = (dense[:, item, other] - alike).astype(np.float64)
    size = np.abs(out) + np.abs(into)
    order = np.argsort(size, kind="stable")
    least = int(np.searchsorted(np.cumsum(size[order]), SPARED * size.sum(), side="right"))
    kept = size >= np.append(size[order], np.inf)[least]  # both ends of a pair, which are as large
    if 2 * int(kept.sum()) > len(graph.others):
        return graph, 0.0
    counts = np.bincount(item[kept], minlength=items)
    offsets = offsets_of(counts)
    return Graph(offsets, other[kept].astype(np.int64), out[kept], into[kept]), alike


def _net(topology: Topology, routing: Routing, nodes: Ints, pace: Floats) -> tuple[Net, Ints]:
    """Return a network's tables, and the row of each node in them, int64[len(nodes)].

    Paths of dimension order are walked on large k-ary n-cubes whose hosts' channels do not count:
    rows are routers there.
    """
    cube = cube_of_hosts(topology) if topology.num_hosts > MOST_TABLED else None
    unlimited = not pace[topology.num_network_channels :].any()
    if isinstance(routing, DimensionOrder) and cube is not None and unlimited:
        none = np.zeros(0, np.int64), np.zeros(0, np.int32)
        distance = np.zeros((0, 0), np.int16)
        if topology.num_hosts <= MOST_DISTANCES:
            distance = hop_distances(cube[0]).astype(np.int16)
        tables = cube_tables(cube[0], routing)
        row = topology.injection_router[topology.port_offsets[nodes]].astype(np.int64)
        return Net(tables, *none, distance, np.zeros(0)), row
    number = len(nodes)
    if number * number > MOST_PAIRS:
        wanted = f"at most {int(MOST_PAIRS**0.5)} nodes, or an allocation of so many"
        raise InputError("topology", f"{number} nodes with {routing} routing", wanted)
    found = []
    step = max(1, MOST_ROUTED // number)
    for first in range(0, number, step):
        source, target = _pairs(topology, nodes[first : first + step], nodes)
        routed = paths(topology, routing, source, target).whole(topology)
        found.append(_crossed(topology, routed, len(source), pace))
    lengths, hops, channels, shares = map(np.concatenate, zip(*found, strict=True))
    distance = hops.reshape(number, number).astype(np.float64 if routing.several else np.int16)
    shares = shares[:0] if (shares == 1).all() else shares
    tables = cube_tables(mesh(1), DimensionOrder())
    offsets = offsets_of(lengths)
    return Net(tables, offsets, channels, distance, shares), np.arange(number)


def _pairs(
    topology: Topology, sources: NDArray[Any], targets: NDArray[Any]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return all pairs of hosts, the targets of those inside nodes as their sources."""
    source, target = (each.ravel() for each in np.meshgrid(sources, targets, indexing="ij"))
    return source, np.where(topology.crosses(source, target), target, source)


def _crossed(
    topology: Topology, routed: Paths, pairs: int, pace: Floats
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return how many channels that count each pair crosses, its hops, the channels and shares.

    A channel's share is what counts there of a unit that the pair sends. One that several paths of
    a pair cross is there once.
    """
    pair_of = np.arange(len(routed)) if routed.pair is None else routed.pair.astype(np.int64)
    pair = np.repeat(pair_of, routed.lengths)
    channels: Ints
    share: NDArray[Any] = np.repeat(on_paths(routed, np.ones(pairs)), routed.lengths)
    inside = routed.channels < topology.num_network_channels
    hops = np.bincount(pair[inside], share[inside], pairs)
    counts = pace[routed.channels] > 0
    pair, channels, share = pair[counts], routed.channels[counts].astype(np.int64), share[counts]
    if routed.pair is not None:
        keys, at = np.unique(pair * topology.num_channels + channels, return_inverse=True)
        share = np.bincount(at, share, len(keys))
        pair, channel = np.divmod(keys, topology.num_channels)
        channels = channel.astype(np.int32)
    return np.bincount(pair, minlength=pairs), hops, channels, share * pace[channels]


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


@cache
def warm_up() -> None:
    """Have the kernels compiled, or loaded, before time counts: once in a process."""
    app, topology = process_graph(2, [0], [1]), mesh(2)
    nodes = np.arange(2, dtype=np.int32)
    objective = objective_of("max-channel-load")
    arrays = search_arrays(Measure(app, topology, DimensionOrder(), app.bytes, objective, nodes))
    rng = np.random.default_rng(0)
    held = _held(arrays, nodes, rng)
    for aimed in (False, True):
        next(_annealed(arrays, held, Stage(aimed, AIMED, 0, ASIDE, light=True), 0.0, rng))
        _polish(arrays, held, 1, aimed=aimed)


class Stage(NamedTuple):
    """A stage of a round."""

    aimed: bool  # at what is asked; otherwise at bringing together what communicates
    heat: tuple[float, float]  # first and last temperature, in the cost of a mean task
    moves: int  # how many
    aside: float  # as ``kernels.search.anneal`` has it
    light: bool  # whether what matters little is left out; see ``light_graph``


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
    places = arrays.place_node
    place_of = rng.permutation(len(places)) if start is None else places_of_items(start, places)
    node_of = arrays.place_row[place_of]
    return Held(node_of, place_of, np.argsort(place_of), np.zeros(arrays.num_channels))


def nodes_of(arrays: SearchArrays, held: Held) -> Ints:
    """Return the node of each task."""
    return arrays.place_node[held.place_of[: arrays.num_tasks]]


def room(arrays: SearchArrays) -> tuple[NDArray[np.generic], ...]:
    """Return the working space of a thread's kernels. See ``kernels.search``."""
    channels, zeros = arrays.num_channels, np.zeros
    marked, number = zeros(channels, np.int8), zeros(1, np.int64)
    items = zeros(len(arrays.place_node), np.int64)
    return zeros(channels, np.int64), zeros(channels), marked, number, items, zeros(channels)


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
    arrays: SearchArrays, held: Held, stage: Stage, hop_share: float, rng: np.random.Generator
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


KNOWN = 4
"""Mappings to start from that are annealed."""

GENERATION = 4
"""Rounds that begin together, on any number of processors, from what all before them have found."""


@dataclass
class Search:
    """A search, and when it is over: by the processor time of its threads, whatever else runs."""

    arrays: SearchArrays
    value_of: Measure
    seed: int
    seconds: float  # processor time that all rounds together may take
    enough: float  # a value that cannot be made better
    spent: dict[int, float] = field(default_factory=dict)  # processor time of each round so far
    interrupted: bool = False

    def over(self, stopped: Callable[[], bool]) -> bool:
        """Whether to stop: the time is up, or Ctrl-C was pressed."""
        self.interrupted |= stopped()
        return self.interrupted or sum([*self.spent.values()]) >= self.seconds

    def run_round(
        self, number: int, name: str, start: Ints | None, stopped: Callable[[], bool]
    ) -> Round:
        """Return the best mapping of one round of annealing: from a start, or from nowhere.

        From nowhere, tasks that communicate are first brought together (hop-bytes), whatever the
        objective. Then it is the objective's turn. At last swaps are tried in order, as long as one
        makes the busiest channels or the hops less.
        """
        arrays, value_of, began = self.arrays, self.value_of, thread_time()

        def over() -> bool:
            self.spent[number] = thread_time() - began
            return self.over(stopped)

        rng = np.random.default_rng(np.random.SeedSequence(self.seed, spawn_key=(1, number)))
        single = value_of.objective.single
        share = value_of.objective.shares.get("hop-bytes", 0.0)
        best = Round((np.inf,), np.inf, number, name, np.zeros(0, np.int64), finished=False)
        aims, nearest, fewest = single != "hop-bytes", start, np.inf

        def known(node_of: Ints) -> Round:
            one = _better(best._replace(rank=(np.inf,)), value_of, node_of.astype(np.int64))
            return self._turned(one, rng) if aims else one

        if start is not None:
            best = known(start)
            nearest = best.node_of
        for stage in _stages(arrays, number, fresh=start is None, aims=aims):
            held = _held(arrays, nearest if stage.aimed else start, rng)
            for _ in _annealed(arrays, held, stage, share, rng):
                best = _better(best, value_of, nodes_of(arrays, held))
                if over() or best.value <= self.enough:
                    return best
            if aims and not stage.aimed:
                gathered = known(nodes_of(arrays, held))
                best = min(best, gathered, key=lambda one: one.rank)
                if gathered.rank[HOP_BYTES] < fewest:
                    nearest, fewest = gathered.node_of, gathered.rank[HOP_BYTES]
        best = self._turned(best, rng) if aims else best
        if single in ("hop-bytes", "max-channel-load"):
            held = _held(arrays, best.node_of, rng)
            _polish(arrays, held, POLISHING, aimed=aims)
            best = _better(best, value_of, nodes_of(arrays, held))
        if {"path-contention", "saturation"} & set(value_of.objective.shares):
            best = self._tried(best, over, rng)
        over()
        return best._replace(finished=True)

    def _turned(self, best: Round, rng: np.random.Generator) -> Round:
        """Return the best image of a round's mapping: the network turned or reflected."""
        arrays, value_of = self.arrays, self.value_of
        turned, allowed = best, np.zeros(value_of.topology.num_hosts, np.bool_)
        allowed[arrays.place_node] = True
        most = IMAGES if arrays.num_tasks <= MANY_TASKS else IMAGES // 8
        for image in images(value_of.topology, most, rng):
            node_of = image[best.node_of]
            if allowed[node_of].all():
                turned = _better(turned, value_of, node_of)
        return turned

    def _tried(self, best: Round, over: Callable[[], bool], rng: np.random.Generator) -> Round:
        """Return a mapping made better by swaps of two places, each measured exactly."""
        arrays = self.arrays
        place_of = places_of_items(best.node_of, arrays.place_node)
        tries, tried = TRIES * 2 ** (best.number // DOUBLING), 0
        while tried < tries and not over():
            one, other = rng.integers(arrays.num_tasks), rng.integers(len(place_of))
            place_of[[one, other]] = place_of[[other, one]]
            node_of = arrays.place_node[place_of[: arrays.num_tasks]]
            value, rank = self.value_of.ranked(node_of)
            tried = 0 if rank < best.rank else tried + 1
            if rank <= best.rank:
                best = best._replace(rank=rank, value=value, node_of=node_of)
            else:
                place_of[[one, other]] = place_of[[other, one]]
        return best

    def run(self, known: list[Round], rounds: int | None) -> tuple[Round, int]:
        """Return the best of all, and the rounds that came to their end.

        Rounds begin in generations, so that what they begin from does not depend on which thread
        was the faster. The starts take turns with random mappings first, and then the best so far.
        """
        best, first, ended, number = known, known[:KNOWN], 0, 0

        def work(one: int, best: list[Round]) -> Callable[[Callable[[], bool]], Round]:
            turn, name, node_of = one // 2, "search", None
            if one % 2:  # every other time from a mapping
                start = first[turn] if turn < len(first) else best[turn % len(best)]
                name, node_of = start.name, start.node_of
            return lambda stopped: self.run_round(one, name, node_of, stopped)

        while rounds is None or number < rounds:
            last = number + GENERATION if rounds is None else min(rounds, number + GENERATION)
            found = run_all([work(one, best) for one in range(number, last)])
            ended += sum(one.finished for one in found)
            by_rank = {one.rank: one for one in reversed([*best, *found])}  # the first of each
            best = [by_rank[rank] for rank in sorted(by_rank)][:KNOWN]
            cut_short, number = len(found) < last - number, last
            if best[0].value <= self.enough or cut_short or self.over(lambda: False):
                break
        return best[0], ended


def images(topology: Topology, most: int, rng: np.random.Generator) -> Iterator[Ints]:
    """Yield where each node goes when a k-ary n-cube is turned or reflected onto itself.

    Dimension order corrects one dimension before the other, and half-way ties of rings go one way.
    So a rotated or reflected mapping has the same distances, and may load channels less. Moving it
    along rings changes nothing, nor does reflecting a dimension without ties.

    An image is int64[num_nodes]. That of all in place is left out where all are listed. If
    there are more than ``most``, so many are drawn. Other networks than whole cubes with a host on
    each router have no images here.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> [each.tolist() for each in images(mesh(2, 2), 10, np.random.default_rng(1))]
    [[0, 2, 1, 3]]
    """
    found = cube_of_hosts(topology)
    if found is None:
        return
    cube, host_on = found
    router = np.argsort(host_on)
    kinds = list(zip(cube.sides, cube.wraps, strict=True))
    alike = [[axis for axis, kind in enumerate(kinds) if kind == one] for one in sorted(set(kinds))]
    tied = [axis for axis, (side, wrap) in enumerate(kinds) if wrap and side % 2 == 0 and side > 2]
    chosen: Iterable[tuple[Iterable[Sequence[int]], Iterable[bool]]] = (
        ([rng.permutation(axes).tolist() for axes in alike], rng.random(len(tied)) < 0.5)
        for _ in range(most)
    )
    if prod(factorial(len(axes)) for axes in alike) * 2 ** len(tied) - 1 <= most:
        orders = product(*(permutations(axes) for axes in alike))
        every = product(orders, product((False, True), repeat=len(tied)))
        chosen = islice(every, 1, None)  # the first has all in place
    along = np.array(np.unravel_index(np.arange(cube.num_hosts), cube.sides), np.int64)
    for way, turned in chosen:
        moved = along.copy()
        for axes, order in zip(alike, way, strict=True):
            moved[axes] = along[list(order)]
        for axis in compress(tied, turned):
            moved[axis] = cube.sides[axis] - 1 - moved[axis]
        yield host_on[np.ravel_multi_index(tuple(moved), cube.sides)[router]]


CLOSE = 1e-9
"""Relative distance from a bound that is none."""


@dataclass(frozen=True, eq=False)
class FoundMapping:
    """The best mapping that a search found, and what it is compared with.

    Attributes
    ----------
    node_of
        int32[num_tasks], the node of each task.
    objective
        As it was asked for.
    value
        Of the objective: the smaller, the better (see ``objectives``).
    bound
        Below which no mapping comes; 0 where nothing better is known.
    starts
        The value of every mapping that the search started from, and of random ones: ``random``,
        their mean, and ``random_best``, the best.
    mappings
        Those mappings, and the best random one.
    found_by
        The start that is the best, or was made better. ``search`` for a mapping from nowhere.
    rounds
        Rounds of annealing that were finished.
    seconds
        Processor time that it took, of all threads together.
    interrupted
        Whether Ctrl-C ended it.
    """

    node_of: Ints
    objective: str
    value: float
    bound: float
    starts: dict[str, float]
    mappings: dict[str, Ints]
    found_by: str
    rounds: int
    seconds: float
    interrupted: bool


def search_mapping(
    app: ProcessGraph,
    topology: Topology,
    *,
    routing: str | Routing = "default",
    objective: str = "max-channel-load",
    weights: Floats | None = None,
    nodes: ArrayLike | None = None,
    tasks_per_node: int = 1,
    identity: Ints | None = None,
    seconds: float = 10.0,
    rounds: int | None = None,
    seed: int = DEFAULT_SEED,
) -> FoundMapping:
    """Return the best mapping of a program onto a network that is found with a given effort.

    It is never worse than any start. Starts are the identity, the best of 25 random mappings, a
    recursive bisection of program and network, an embedding with edges one channel long, and known
    layouts of such programs. Random mappings are annealed in turn with the best known ones: first
    those starts, then results of earlier rounds. A round first brings communicating tasks together,
    and then optimizes the objective. Annealing swaps the tasks of two places, and recomputes only
    what that changes.

    Of mappings with the same objective, that with fewer hop-bytes comes first, then that with less
    path contention. Identity stays where nothing is better. No mapping sends more bytes between
    nodes than identity.

    Parameters
    ----------
    app, topology, routing
        What is mapped, where, and how packets travel there.
    objective
        ``hop-bytes``, ``max-channel-load``, ``path-contention``, ``saturation``, or several with
        shares, such as ``hop-bytes:1,max-channel-load:2``. See ``objectives``.
    weights
        float64[num_edges], what edges carry. Their bytes by default.
    nodes
        The nodes that may be used, such as those of an allocation. All that work and run tasks by
        default.
    tasks_per_node
        Most tasks of a node.
    identity
        int32[num_tasks], the tasks in order, where they do not fill nodes by their numbers.
    seconds
        Processor time after which to end, of all threads together: so a loaded machine, which
        takes longer, finds as much.
    rounds
        Rounds of annealing after which to end, however long they take: with these, a seed decides
        all, on any number of processors.
    seed
        Of all that is left to chance.

    Raises
    ------
    InputError
        If the objective is not known, the tasks do not fit, nothing is sent, or the network is too
        large for its routing.

    Examples
    --------
    >>> from netloom.topology import torus
    >>> from netloom.workload import mesh
    >>> found = search_mapping(mesh(4, 4), torus(4, 4), objective="hop-bytes", rounds=1)
    >>> found.value, found.bound, found.rounds
    (48.0, 48.0, 0)
    """
    warm_up()
    began = thread_time()
    routed = parse_routing(routing, topology) if isinstance(routing, str) else routing
    carried = app.bytes if weights is None else np.asarray(weights, np.float64)
    allowed = np.sort(allocated_hosts(nodes, topology))
    check_room(app.num_tasks, len(allowed), tasks_per_node, "nodes")
    if not carried.sum() > 0:
        raise InputError(app.name, "no traffic", "tasks that communicate")
    wanted = objective_of(objective)
    first = identity
    if first is None:
        first = np.repeat(allowed, tasks_per_node)[: app.num_tasks].astype(np.int32)
    plain = Measure(app, topology, routed, carried, wanted, allowed, tasks_per_node)
    value_of = replace(plain.scaled(first), most_between=plain.between(first))
    exponent = np.frexp(carried.max())[1]  # a power of 2 rounds nothing, and nothing underflows
    arrays = search_arrays(replace(value_of, weights=np.ldexp(carried, -exponent)))
    bound = least(value_of)
    begun = dict(starts_of(value_of, seed)) | {"identity": first}
    known, mappings, starts = beside_random(value_of, begun, seed)
    best, ended = known[0], 0
    most = np.inf if rounds is not None else seconds
    search = Search(arrays, value_of, seed, most, bound * (1 + CLOSE), {-1: thread_time() - began})
    if best.value > search.enough:
        with patience(f"searching for {objective}"):
            best, ended = search.run(known, rounds)
    return FoundMapping(
        node_of=best.node_of.astype(np.int32),
        objective=objective,
        value=best.value,
        bound=bound,
        starts=starts,
        mappings=mappings,
        found_by=best.name,
        rounds=ended,
        seconds=sum(search.spent.values()),
        interrupted=search.interrupted,
    )


def beside_random(
    value_of: Measure, mappings: dict[str, Ints], seed: int
) -> tuple[list[Round], dict[str, Ints], dict[str, float]]:
    """Return mappings and the best random one: as rounds, the best first. By name, their values.

    The values have the mean of random ones, too.
    """
    drawn = list(
        random_starts(value_of.app.num_tasks, value_of.nodes, value_of.tasks_per_node, seed)
    )
    values = [value_of(node_of) for node_of in drawn]
    mappings = mappings | {"random_best": drawn[int(np.argmin(values))]}
    known = []
    for name, node_of in mappings.items():
        value, rank = value_of.ranked(node_of)
        known.append(Round(rank, value, -1, name, node_of.astype(np.int64)))
    starts = {one.name: one.value for one in known} | {"random": float(np.mean(values))}
    return sorted(known, key=lambda one: one.rank), mappings, starts


def judged_layout(
    layout: Layout, value_of: Measure, routes: Routing | None, *, identity: Ints, seed: int
) -> FoundMapping:
    """Return a layout as if a search had found it, beside identity and random mappings.

    ``value_of`` measures mappings by the objective, and this one on its own ``routes`` if it has
    any. ``seed`` is that of the random mappings.
    """
    began = thread_time()
    mappings = {"identity": identity, layout.name: layout.node_of}
    _, mappings, starts = beside_random(value_of, mappings, seed)
    on_own_routes = value_of if routes is None else replace(value_of, routing=routes)
    return FoundMapping(
        node_of=layout.node_of,
        objective=value_of.objective.name,
        value=on_own_routes(layout.node_of),
        bound=least(value_of),
        starts=starts,
        mappings={name: mappings[name] for name in ("identity", "random_best", layout.name)},
        found_by=layout.name,
        rounds=0,
        seconds=thread_time() - began,
        interrupted=False,
    )
