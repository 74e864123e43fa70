"""Paths chosen for a mapped program, where the machine lets each pair of nodes have its own."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from threading import Event
from time import thread_time
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.errors import InputError
from netloom.mapping.placements import check_mapping
from netloom.mapping.routes.joint_routes_bound import CLOSE, least_load
from netloom.progress import patience
from netloom.provenance import DEFAULT_SEED
from netloom.routing import (
    DimensionOrder,
    Paths,
    Routing,
    SourceRoutes,
    find_deadlock,
    parse_routing,
    paths,
)
from netloom.routing.dimension_order import cube_tables
from netloom.routing.layered import MOST_LAYERS, layers
from netloom.simulation.side_by_side import ctrl_c_sets
from netloom.topology import Cube, Topology, hop_distances

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import ArrayLike, NDArray

    from netloom.workload import ProcessGraph

MOST_NODES = 2**13
"""Most nodes of a network; a table holds the distance of every pair."""

MOST_OUT = 62
"""Most channels that leave a node: a set of them is the bits of an int64."""

FAR = 2**14
"""Hops to where no path leads: more than any path has."""

ROUNDS = 200
"""Rounds from each start, unless told otherwise."""

STARTS = 8
"""Most starts other than the routing's own paths."""

SWEEPS, GAIN = 8, 0.01
"""Most rounds at first in which every path is taken out and put in again, one by one, and the part
of Σ load^12 that each has to bring for another."""

STUCK = 60
"""Rounds that bring nothing, after which to go on to the next start."""

NEAR = 200
"""How many of the paths over the busiest channels are looked at again in later rounds."""


@dataclass(frozen=True, eq=False)
class JointRoutes:
    """Routes chosen together, and what they bought.

    Attributes
    ----------
    routes
        One for each pair of nodes between which the program sends.
    before, after
        The maximum weighted channel load under the routing itself, and on these routes.
    bound
        Below which no choice of minimal paths comes.
    virtual_channels
        How many a channel needs for these routes to be free of deadlock.
    layer
        int32[len(routes.routes.channels)], the virtual channel, or layer of them, of each hop with
        which they are. With one, any may be used.
    moved
        How many of the routes are not the routing's own.
    rounds
        How many there were.
    interrupted
        Whether Ctrl-C ended them.
    """

    routes: SourceRoutes
    before: float
    after: float
    bound: float
    virtual_channels: int
    layer: NDArray[np.int32]
    moved: int
    rounds: int
    interrupted: bool


class _State(NamedTuple):
    """All paths; see ``kernels.joint_routes``."""

    load: NDArray[np.float64]
    routes: NDArray[np.int32]
    lengths: NDArray[np.int32]
    layer: NDArray[np.int32]
    uses: NDArray[np.int32]
    waits: NDArray[np.int64]
    closed: NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Task:
    """What stays the same: the network, and who sends how much to whom."""

    topology: Topology
    source: NDArray[np.int32]
    target: NDArray[np.int32]
    weight: NDArray[np.float64]
    net: tuple[NDArray[Any], ...]
    wiring: tuple[NDArray[Any], ...]
    most_layers: int


def joint_routes(
    app: ProcessGraph,
    topology: Topology,
    node_of: ArrayLike,
    *,
    weights: NDArray[np.float64] | None = None,
    routing: str | Routing = "default",
    virtual_channels: int | None = None,
    rounds: int = ROUNDS,
    seconds: float = np.inf,
    seed: int = DEFAULT_SEED,
) -> JointRoutes:
    """Choose the path of every pair of nodes such that the busiest channel has less to carry.

    It begins with the routing's own paths and takes them out and puts them in again, the heaviest
    first, then in any order: each where it raises Σ load^12 over all channels least, of its
    minimal paths. Once that brings little, all paths over a busiest channel are taken out together,
    put in again in any order, and what crosses busy channels once more one by one; what raises
    Σ load^12 is undone. Since the turns that paths take at first keep others from being taken, all
    that is done again, under dimension order, from up to 8 other starts: with all hops along some
    directions, one or the other of each dimension, before all others, as in negative-first routing
    (Glass & Ni 1992). The best of all rounds is the answer, also where Ctrl-C ends them.

    Guaranteed: each path is minimal, or the routing's own. The highest load is never above that of
    the routing itself. And packets cannot wait in a circle: as they are put in, paths are assigned
    to layers of virtual channels, each without a cycle of dependencies, and where a path would
    close one in all of them, it is not taken. There are no more layers than ``virtual_channels``;
    the answer says which hop is in which, for who knows only the routes may need more of them.

    Parameters
    ----------
    app, topology, node_of
        The program, the network, and int[num_tasks], the node of each task. Edges between the same
        two nodes take the same path.
    weights
        float64[num_edges], what edges carry; their bytes by default.
    routing
        Whose paths they are at first.
    virtual_channels
        How many a channel has. By default, as many as the routing needs: on k-ary n-cubes, those
        of dimension order (1, or 2 where there are rings of 4 nodes or more) or, if that is more,
        the layers of its paths for this program; elsewhere those layers.
    rounds
        Most rounds from each start; 60 without progress end these as well, and the bound ends all.
    seconds
        Processor time after which to end, once a round is done; without this, a seed decides all.
    seed
        Of what is left to chance.

    Raises
    ------
    InputError
        If the mapping does not fit, nothing crosses the network, it has more than 8192 nodes or a
        node more than 62 channels, or the routing's own paths need more virtual channels.
    NoRouteError
        If the routing has no path for a pair.

    Examples
    --------
    Each node of a mesh sends to the one mirrored at the diagonal: under dimension order, all of a
    row turn at the same node.

    >>> from netloom.topology import mesh
    >>> from netloom.workload import process_graph
    >>> row, column = np.divmod(np.arange(16), 4)
    >>> sends = row != column
    >>> transpose = process_graph(16, np.arange(16)[sends], (4 * column + row)[sends])
    >>> found = joint_routes(transpose, mesh(4, 4), np.arange(16), seed=1)
    >>> found.before, found.after, found.bound, found.virtual_channels
    (3.0, 1.0, 1.0, 1)
    """
    routed = parse_routing(routing, topology) if isinstance(routing, str) else routing
    source, target, weight = _merged(app, topology, node_of, weights)
    own = paths(topology, routed, source, target)
    own_layer = layers(topology, own)
    most = _most_layers(topology, routed, int(own_layer.max()) + 1, virtual_channels)
    task = _task(topology, source, target, weight, most)
    sends = weight > 0
    bound = least_load(topology, task.net, source[sends], target[sends], weight[sends])
    before = float(_load(task, own).max())
    if rounds < 0:
        raise InputError("rounds", f"{rounds}", "at least 0")
    best, layer, value, ended = own, own_layer, before, 0
    end = thread_time() + seconds
    rng = np.random.default_rng(seed)
    stop = Event()
    with patience("choosing routes"), ctrl_c_sets(stop):
        for chosen, its_layer in _all_rounds(task, routed, own, rounds, rng):
            ended += 1
            highest = float(_load(task, chosen).max())
            if highest < value * (1 - CLOSE):
                best, layer, value = chosen, its_layer, highest
            if value <= bound * (1 + CLOSE) or stop.is_set() or thread_time() > end:
                break
    pairs = source.astype(np.int64) * topology.num_hosts + target
    layer = _fewest(topology, best, layer)
    return JointRoutes(
        routes=SourceRoutes("joint", pairs, best),
        before=before,
        after=value,
        bound=bound,
        virtual_channels=int(layer.max()) + 1,
        layer=layer,
        moved=sum(not np.array_equal(best[pair], own[pair]) for pair in range(len(own))),
        rounds=ended,
        interrupted=stop.is_set(),
    )


def _merged(
    app: ProcessGraph,
    topology: Topology,
    node_of: ArrayLike,
    weights: NDArray[np.float64] | None,
) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.float64]]:
    """Return the pairs of different nodes between which the program sends, sorted; their weight."""
    nodes = check_mapping(node_of, app.num_tasks, topology.num_hosts, app.num_tasks)
    carried = app.bytes if weights is None else np.asarray(weights, np.float64)
    source, target = nodes[app.source].astype(np.int64), nodes[app.target].astype(np.int64)
    moving = source != target
    if not carried[moving].sum() > 0:
        raise InputError(app.name, "no traffic between different nodes", "something to route")
    together = source[moving] * topology.num_hosts + target[moving]
    pairs, edge = np.unique(together, return_inverse=True)
    weight = np.bincount(edge, carried[moving]).astype(np.float64)
    ends = np.divmod(pairs, topology.num_hosts)
    return ends[0].astype(np.int32), ends[1].astype(np.int32), weight


def _most_layers(topology: Topology, routing: Routing, own: int, given: int | None) -> int:
    """Return how many layers there may be, if they do for the routing's own paths."""
    if given is None:
        dated = isinstance(topology, Cube) and isinstance(routing, DimensionOrder)
        return max(own, 2 if dated and find_deadlock(topology, routing) else 1)
    if not own <= given <= MOST_LAYERS:
        wanted = f"from the {own} that the paths of {routing} need to {MOST_LAYERS}"
        raise InputError("virtual_channels", f"{given}", wanted)
    return given


def _fewest(topology: Topology, routed: Paths, layer: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the layers of paths from 0 on, or others if there are fewer of them."""
    known = np.unique(layer, return_inverse=True)[1].astype(np.int32)
    other = layers(topology, routed)
    return other if other.max() < known.max() else known


def _task(
    topology: Topology,
    source: NDArray[np.int32],
    target: NDArray[np.int32],
    weight: NDArray[np.float64],
    most_layers: int,
) -> _Task:
    """Return what kernels need."""
    number, num_channels = topology.num_hosts, topology.num_channels
    if number > MOST_NODES:
        raise InputError("topology", f"{number} nodes", f"at most {MOST_NODES} to choose routes")
    firsts, leaving = topology.outgoing()
    most_out = int(np.diff(firsts).max())
    if most_out > MOST_OUT:
        found = f"a node that {most_out} channels leave"
        raise InputError(topology.name, found, f"at most {MOST_OUT} to choose routes")
    distance = np.minimum(hop_distances(topology, backwards=True), FAR).astype(np.int16)
    place = np.empty(num_channels, np.int64)
    place[leaving] = np.arange(num_channels) - firsts[topology.channel_source[leaving]]
    ends = topology.channel_source, topology.channel_target
    places = np.arange(num_channels), np.full(number, -1)
    return _Task(
        topology=topology,
        source=source,
        target=target,
        weight=weight,
        net=(*ends, firsts, leaving, *places, distance),
        wiring=(topology.channel_target, firsts, leaving, place),
        most_layers=most_layers,
    )


def _all_rounds(
    task: _Task, routing: Routing, own: Paths, rounds: int, rng: np.random.Generator
) -> Iterator[tuple[Paths, NDArray[np.int32]]]:
    """Yield paths and layers after each round, from one start after the other."""
    for start in _starts(task, routing, own, rng):
        layer = layers(task.topology, start)
        if int(layer.max()) < task.most_layers:
            yield from _rounds(task, start, layer, rounds, rng)


def _starts(task: _Task, routing: Routing, own: Paths, rng: np.random.Generator) -> Iterator[Paths]:
    """Yield the routing's own paths, and others with some directions before all others."""
    yield own
    topology = task.topology
    if not isinstance(topology, Cube) or not isinstance(routing, DimensionOrder):
        return
    dimensions = len(topology.sides)
    backwards = DimensionOrder(tuple(cube_tables(topology, routing).order[::-1].tolist()))
    for number in rng.permutation(2 << min(dimensions, 30))[:STARTS]:
        order = backwards if number & 1 else routing
        yield _directions_first(task, order, number >> 1)


def _directions_first(task: _Task, order: DimensionOrder, rising: int) -> Paths:
    """Return minimal paths that take the hops along some directions first.

    Bit a of ``rising`` says whether those of dimension a are the rising or the falling ones.
    """
    topology = task.topology
    assert isinstance(topology, Cube)
    between = np.zeros(len(task.source), np.int32)
    sizes = zip(topology.sides, topology.strides, topology.wraps, strict=True)
    for axis, (side, stride, wraps) in enumerate(sizes):
        start, end = (ends // stride % side for ends in (task.source, task.target))
        rises = 2 * ((end - start) % side) <= side if wraps else end > start
        between += stride * np.where(rises == bool(rising >> axis & 1), end, start)
    legs = (
        paths(topology, order, task.source, between),
        paths(topology, order, between, task.target),
    )
    lengths = legs[0].lengths + legs[1].lengths
    path = np.concatenate([np.repeat(np.arange(len(leg)), leg.lengths) for leg in legs])
    channels = np.concatenate([leg.channels for leg in legs])[np.argsort(path, kind="stable")]
    return Paths(np.append(0, np.cumsum(lengths, dtype=np.int64)), channels)


def _rounds(
    task: _Task,
    start: Paths,
    layer: NDArray[np.int32],
    rounds: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Paths, NDArray[np.int32]]]:
    """Yield paths and layers after each round from one start; see ``joint_routes``."""
    state, unit = _first_state(task, start, layer), float(_load(task, start).max())
    turn = np.argsort(-task.weight, kind="stable")
    lowest, stuck, settled = np.inf, 0, False
    for number in range(rounds):
        cost = _cost(state, unit)
        if settled:
            state = _shaken(task, state, unit, rng)
        else:
            assert _reroute(task, state, turn, unit, together=False)
            turn = rng.permutation(turn)
        after = _cost(state, unit)
        settled |= number + 1 >= SWEEPS or after > cost * (1 - GAIN)
        routed = _paths_of(state)
        state.load[:] = _load(task, routed)  # as rounding has it
        yield routed, state.layer[_within(state)]
        highest = float(state.load.max())
        stuck = 0 if highest < lowest * (1 - CLOSE) else stuck + 1
        lowest = min(lowest, highest)
        if stuck >= STUCK:
            return


def _shaken(task: _Task, state: _State, unit: float, rng: np.random.Generator) -> _State:
    """Return the state with the paths over a busiest channel chosen anew, if that is no worse."""
    changed = deepcopy(state)
    busiest = rng.choice(np.flatnonzero(state.load >= state.load.max() * (1 - CLOSE)))
    crossing = (state.routes == busiest) & _within(state)
    turn = rng.permutation(np.flatnonzero(crossing.any(axis=1)))
    if not _reroute(task, changed, turn, unit, together=True):
        return state
    highest = np.where(_within(changed), changed.load[changed.routes], 0.0).max(axis=1)
    near = rng.permutation(len(highest))
    near = near[np.argsort(-highest[near], kind="stable")][:NEAR]
    assert _reroute(task, changed, rng.permutation(near), unit, together=False)
    return changed if _cost(changed, unit) <= _cost(state, unit) * (1 + CLOSE) else state


def _first_state(task: _Task, start: Paths, layer: NDArray[np.int32]) -> _State:
    """Return the state of the paths of a start."""
    number, num_channels = len(start), task.topology.num_channels
    hops = int(max(start.lengths.max(), task.net[6][task.target, task.source].max()))
    most_out = int(np.diff(task.wiring[1]).max())
    state = _State(
        load=_load(task, start),
        routes=np.zeros((number, hops), np.int32),
        lengths=start.lengths,
        layer=np.zeros((number, hops), np.int32),
        uses=np.zeros((task.most_layers, num_channels, most_out), np.int32),
        waits=np.zeros((task.most_layers, num_channels), np.int64),
        closed=np.zeros((task.most_layers, num_channels), np.int64),
    )
    state.routes[_within(state)], state.layer[_within(state)] = start.channels, layer
    inside = _within(state)[:, 1:] & (state.layer[:, 1:] == state.layer[:, :-1])
    held, asked = state.routes[:, :-1][inside], state.routes[:, 1:][inside]
    level, place = state.layer[:, :-1][inside], task.wiring[3][asked]
    np.add.at(state.uses, (level, held, place), 1)
    np.bitwise_or.at(state.waits, (level, held), np.int64(1) << place)
    return state


def _reroute(
    task: _Task, state: _State, turn: NDArray[np.int64], unit: float, *, together: bool
) -> bool:
    """Reroute paths in turn; return whether all have found a place."""
    from netloom.mapping.kernels.joint_routes import reroute

    nodes, num_channels = task.topology.num_hosts, task.topology.num_channels
    heap = num_channels + nodes + 1
    room = (
        np.zeros(nodes), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(heap),
        np.zeros(heap, np.int64), np.zeros(nodes, np.bool_), np.zeros(num_channels),
    )  # fmt: skip
    seeking = np.full(num_channels, -1), np.zeros(num_channels, np.int64), np.zeros(1, np.int64)
    spare = (
        np.zeros(num_channels), np.zeros(num_channels), np.zeros(num_channels, np.int64),
        np.zeros(nodes), np.zeros(nodes, np.int64), np.zeros(nodes, np.bool_),
        np.zeros(state.routes.shape[1], np.int32), seeking,
    )  # fmt: skip
    placed: bool = reroute(
        task.net, task.topology.incoming(), task.wiring, tuple(state), room, spare,
        task.source, task.target, task.weight, turn, unit, together,
    )  # fmt: skip
    return placed


def _within(state: _State) -> NDArray[np.bool_]:
    """Return which places of the table of routes are hops."""
    return np.arange(state.routes.shape[1]) < state.lengths[:, None]


def _paths_of(state: _State) -> Paths:
    offsets = np.append(0, np.cumsum(state.lengths, dtype=np.int64))
    return Paths(offsets, state.routes[_within(state)])


def _load(task: _Task, routed: Paths) -> NDArray[np.float64]:
    """Return the weighted load of each channel."""
    weight = np.repeat(task.weight, routed.lengths)
    return np.bincount(routed.channels, weight, task.topology.num_channels).astype(np.float64)


def _cost(state: _State, unit: float) -> float:
    return float(np.sum(np.power(state.load / unit, 12)))
