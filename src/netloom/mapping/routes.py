"""Paths chosen for a mapped program, where the machine lets each pair of nodes have its own."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass, replace
from threading import Event
from time import thread_time
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.progress import patience
from netloom.base.provenance import DEFAULT_SEED
from netloom.mapping.layouts import Layout
from netloom.mapping.placements import check_mapping
from netloom.mapping.search.bounds import least
from netloom.mapping.search.generations import FoundMapping, beside_random
from netloom.mapping.search.objectives import Measure
from netloom.routing import DimensionOrder, Paths, Routing, SourceRoutes, find_deadlock, paths
from netloom.routing.forwarding.tables import DependencyGraph, dependency_graph
from netloom.routing.ragged import legs
from netloom.routing.rules import MOST_LAYERS, cube_tables, layers
from netloom.simulation.side_by_side import ctrl_c_sets
from netloom.topology import Cube, Topology, hop_distances

CLOSE = 1e-9
"""Relative difference of loads that is none."""


def least_load(
    topology: Topology, net: tuple[NDArray[Any], ...], source: Ints, target: Ints, weight: Floats
) -> float:
    """Return a weighted load that the busiest channel has whatever minimal paths are chosen.

    Each pair must use every channel that is on all its minimal paths, and its path is not split.
    All pairs together cross as many channels as they have hops. The traffic that a node sends
    leaves by the few channels that lead nearer, and the traffic that it receives enters by few.
    Traffic across a cut of a k-ary n-cube uses the few channels of the cut.

    ``net`` is the network as in ``kernels.joint_routes``. Sources and targets are different nodes,
    and weights are above 0.
    """
    from netloom.mapping.kernels.joint_routes import forced

    load, used, first, last = forced(net, source, target, weight)
    hops = net[6][target, source]
    found = [float(load.max()), float(weight.max()), float(weight @ hops / used.sum())]
    for ends, ways, of in ((source, first, 0), (target, last, 1)):
        channels = np.bincount(net[of][ways], minlength=topology.num_hosts)
        moved = np.bincount(ends, weight, topology.num_hosts)
        found.append(float((moved / np.maximum(1, channels)).max()))
    # what crosses the cuts of a k-ary n-cube, where there is only one way round
    cube = (topology.sides, topology.strides, topology.wraps) if isinstance(topology, Cube) else ()
    for side, stride, wraps in zip(*cube, strict=True):
        start, end = (ends // stride % side for ends in (source, target))
        for begin, stop in ((start, end), (end, start)):  # rising, and falling
            steps = (stop - begin) % side if wraps else stop - begin
            only = (steps > 0) & ((2 * steps < side) | (not wraps))
            change = np.bincount(begin[only], weight[only], 2 * side)
            change -= np.bincount((begin + steps)[only], weight[only], 2 * side)
            crossing = np.cumsum(change).reshape(2, side).sum(axis=0)
            found.append(float(crossing.max()) * side / topology.num_hosts)
    least = max(found)
    if (weight == weight[0]).all():
        return float(np.ceil(least / weight[0] - CLOSE) * weight[0])
    return least


MOST_NODES = 2**13
"""Most nodes of a network. A table holds the distance of every pair."""

FAR = 2**14
"""Hops to where no path leads: more than any path has."""

STARTS = 8
"""Most starts other than the routing's own paths."""

SWEEPS, GAIN = 8, 0.01
"""Most rounds at first in which every path is taken out and put in again, one by one, and the part
of Σ load^12 that each has to bring for another."""

STUCK = 60
"""Rounds that bring nothing, after which to go on to the next start."""

NEAR = 200
"""How many of the paths over the busiest channels are looked at again in later rounds."""


class State(NamedTuple):
    """All paths. See ``kernels.joint_routes``."""

    load: Floats
    routes: Ints
    lengths: Ints
    layer: Ints
    graph: DependencyGraph
    closed: Bools


@dataclass(frozen=True, eq=False)
class Task:
    """What stays the same: the network, and who sends how much to whom."""

    topology: Topology
    source: Ints
    target: Ints
    weight: Floats
    net: tuple[NDArray[Any], ...]
    most_layers: int


def all_rounds(
    task: Task, routing: Routing, own: Paths, rounds: int, rng: np.random.Generator
) -> Iterator[tuple[Paths, Ints]]:
    """Yield paths and layers after each round, from one start after the other."""
    for start in _starts(task, routing, own, rng):
        layer = layers(task.topology, start)
        if int(layer.max()) < task.most_layers:
            yield from _rounds(task, start, layer, rounds, rng)


def _starts(task: Task, routing: Routing, own: Paths, rng: np.random.Generator) -> Iterator[Paths]:
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


def _directions_first(task: Task, order: DimensionOrder, rising: int) -> Paths:
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
    task: Task, start: Paths, layer: Ints, rounds: int, rng: np.random.Generator
) -> Iterator[tuple[Paths, Ints]]:
    """Yield paths and layers after each round from one start. See ``joint_routes``."""
    from netloom.mapping.kernels.joint_routes import enter_all

    number, graph = len(start), dependency_graph(task.topology, task.most_layers)
    hops = int(max(start.lengths.max(), task.net[6][task.target, task.source].max()))
    state = State(
        load=load_of(task, start),
        routes=np.zeros((number, hops), np.int32),
        lengths=start.lengths,
        layer=np.zeros((number, hops), np.int32),
        graph=graph,
        closed=graph.uses.reshape(task.most_layers, -1, graph.uses.shape[1]) > 0,
    )
    state.routes[_within(state)], state.layer[_within(state)] = start.channels, layer
    enter_all(tuple(state))
    unit = float(state.load.max())
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
        offsets = np.append(0, np.cumsum(state.lengths, dtype=np.int64))
        routed = Paths(offsets, state.routes[_within(state)])
        state.load[:] = load_of(task, routed)  # as rounding has it
        yield routed, state.layer[_within(state)]
        highest = float(state.load.max())
        stuck = 0 if highest < lowest * (1 - CLOSE) else stuck + 1
        lowest = min(lowest, highest)
        if stuck >= STUCK:
            return


def _shaken(task: Task, state: State, unit: float, rng: np.random.Generator) -> State:
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


def _reroute(task: Task, state: State, turn: Ints, unit: float, *, together: bool) -> bool:
    """Reroute paths in turn. Return whether all have found a place."""
    from netloom.mapping.kernels.joint_routes import reroute

    nodes, num_channels = task.topology.num_hosts, task.topology.num_channels
    heap = num_channels + nodes + 1
    room = (
        np.zeros(nodes), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(heap),
        np.zeros(heap, np.int64), np.zeros(nodes, np.bool_), np.zeros(num_channels),
    )  # fmt: skip
    spare = (
        np.zeros(num_channels), np.zeros(num_channels), np.zeros(num_channels, np.int64),
        np.zeros(nodes), np.zeros(nodes, np.int64), np.zeros(nodes, np.bool_),
        np.zeros(state.routes.shape[1], np.int32),
    )  # fmt: skip
    placed: bool = reroute(
        task.net, task.topology.incoming(), tuple(state), room, spare,
        task.source, task.target, task.weight, turn, unit, together,
    )  # fmt: skip
    return placed


def _within(state: State) -> Bools:
    """Return which places of the table of routes are hops."""
    return np.arange(state.routes.shape[1]) < state.lengths[:, None]


def load_of(task: Task, routed: Paths) -> Floats:
    """Return the weighted load of each channel."""
    weight = np.repeat(task.weight, routed.lengths)
    return np.bincount(routed.channels, weight, task.topology.num_channels).astype(np.float64)


def _cost(state: State, unit: float) -> float:
    return float(np.sum(np.power(state.load / unit, 12)))


ROUNDS = 200
"""Rounds from each start, unless told otherwise."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Choice:
    """Paths between routers chosen together, and what they bought.

    Attributes
    ----------
    between
        The paths, none of them empty.
    layer
        int32[len(between.channels)], the virtual channel, or layer of them, of each hop with which
        they are free of deadlock. With one, any may be used.
    before, after
        The maximum weighted channel load under the routing itself, and on these paths.
    bound
        Below which no choice of minimal paths comes.
    rounds
        How many there were.
    interrupted
        Whether Ctrl-C ended them.
    """

    between: Paths
    layer: Ints
    before: float = 0.0
    after: float = 0.0
    bound: float = 0.0
    rounds: int = 0
    interrupted: bool = False


@dataclass(frozen=True, eq=False, kw_only=True)
class JointRoutes(Choice):
    """Routes chosen together.

    Attributes
    ----------
    routes
        One for each pair of nodes between which the program sends.
    virtual_channels
        How many a channel needs for these routes to be free of deadlock.
    moved
        How many of the routes are not the routing's own.
    """

    routes: SourceRoutes
    virtual_channels: int
    moved: int


def joint_routes(
    value_of: Measure,
    node_of: ArrayLike,
    *,
    virtual_channels: int | None = None,
    rounds: int = ROUNDS,
    seconds: float = np.inf,
    seed: int = DEFAULT_SEED,
) -> JointRoutes:
    """Choose the path of every pair of nodes such that the busiest channel has less to carry.

    It begins with the routing's own paths. It removes them and inserts them again, the heaviest
    first, then in random order. Each takes the minimal path that raises Σ load^12 over all channels
    least. Once that gains little, all paths over a busiest channel are removed together and
    inserted again in random order. Then paths over busy channels are inserted again one by one.
    Changes that raise Σ load^12 are undone. The turns of the first paths exclude others. So under
    dimension order, all this is repeated from up to 8 other starts. In these, all hops along some
    directions, one or the other of each dimension, come before all others, as in negative-first
    routing (Glass & Ni 1992). The best of all rounds is the answer, even if Ctrl-C ends them.

    Three things are guaranteed. Each path is minimal, or the routing's own. The highest load is
    never above that of the routing itself. Packets cannot wait in a circle. For this, each inserted
    path is assigned to a layer of virtual channels without a cycle of dependencies. A path that
    would close a cycle in every layer is not taken. There are at most ``virtual_channels`` layers.
    The answer gives the layer of each hop, because more layers may be needed if only the routes are
    known.

    If hosts hang on routers, all of this is of the channels between routers: a path keeps the ports
    of the routing's own.

    Parameters
    ----------
    value_of
        What measures mappings: of this program, on this network, with these weights of its edges,
        by this routing, whose paths they are at first.
    node_of
        int[num_tasks], the node of each task. Edges between the same two nodes take the same path.
    virtual_channels
        Number per channel. By default, as many as the routing needs. These are the layers of its
        paths for this program. On k-ary n-cubes, they are at least those of dimension order (1, or
        2 if there are rings of 4 nodes or more).
    rounds
        Most rounds from each start; 60 without progress end these as well, and the bound ends all.
    seconds
        Processor time after which to end, once a round is done. Without this, a seed decides all.
    seed
        Of what is left to chance.

    Raises
    ------
    InputError
        If the mapping does not fit, nothing crosses the network, it has more than 8192 nodes, or
        the routing's own paths need more virtual channels.
    NoRouteError
        If the routing has no path for a pair.

    Examples
    --------
    Each node of a mesh sends to the one mirrored at the diagonal: under dimension order, all of a
    row turn at the same node.

    >>> from netloom.mapping.search.objectives import Measure, objective_of
    >>> from netloom.topology import mesh
    >>> from netloom.workload import process_graph
    >>> row, column = np.divmod(np.arange(16), 4)
    >>> sends = row != column
    >>> app = process_graph(16, np.arange(16)[sends], (4 * column + row)[sends])
    >>> asked, nodes = objective_of("max-channel-load"), np.arange(16)
    >>> value_of = Measure(app, mesh(4, 4), DimensionOrder(), app.bytes, asked, nodes)
    >>> found = joint_routes(value_of, nodes, seed=1)
    >>> found.before, found.after, found.bound, found.virtual_channels
    (3.0, 1.0, 1.0, 1)
    """
    topology, routed = value_of.topology, value_of.routing
    if rounds < 0:
        raise InputError("rounds", f"{rounds}", "at least 0")
    # refuse what routes cannot be chosen for
    if routed.several:
        wanted = "a routing with one path per pair, to choose routes"
        raise InputError("routing", f"{routed}, which has several paths per pair", wanted)
    rate = topology.routers.channel_bandwidth
    if (rate != rate[:1]).any():
        wanted = "channels of one bandwidth between routers, to choose routes"
        raise InputError(topology.name, "channels that differ in bandwidth", wanted)
    # the pairs of different nodes between which the program sends
    app, carried, hosts = value_of.app, value_of.weights, topology.num_hosts
    nodes = check_mapping(node_of, app.num_tasks, hosts, app.num_tasks)
    begins, ends = nodes[app.source].astype(np.int64), nodes[app.target].astype(np.int64)
    moving = topology.crosses(begins, ends)
    if not carried[moving].sum() > 0:
        raise InputError(app.name, "no traffic between different nodes", "something to route")
    together, edge = np.unique(begins[moving] * hosts + ends[moving], return_inverse=True)
    weight = np.bincount(edge, carried[moving]).astype(np.float64)
    source, target = (each.astype(np.int32) for each in np.divmod(together, hosts))
    between = paths(topology, routed, source, target)
    apart = np.flatnonzero(between.lengths)
    own = between.taken(apart)
    with patience("choosing routes"):
        found = _chosen(
            topology.routers, routed, own, weight[apart], virtual_channels, rounds, seconds, seed
        )
    lengths = np.zeros(len(between), np.int64)
    lengths[apart] = found.between.lengths
    offsets = np.append(0, np.cumsum(lengths))
    routes = replace(between, offsets=offsets, channels=found.between.channels)
    pairs = source.astype(np.int64) * topology.num_ends + target
    return JointRoutes(
        **vars(found),
        routes=SourceRoutes("joint", pairs, routes),
        virtual_channels=int(found.layer.max(initial=0)) + 1,
        moved=sum(not np.array_equal(found.between[one], own[one]) for one in range(len(own))),
    )


def _chosen(
    routers: Topology,
    routing: Routing,
    own: Paths,
    weight: Floats,
    virtual_channels: int | None,
    rounds: int,
    seconds: float,
    seed: int,
) -> Choice:
    """Choose the routes of paths of routers, none of them empty."""
    source = routers.channel_source[own.channels[own.offsets[:-1]]]
    target = routers.channel_target[own.channels[own.offsets[1:] - 1]]
    own_layer = layers(routers, own)
    needs, most = int(own_layer.max(initial=0)) + 1, virtual_channels
    if most is None:
        dated = isinstance(routers, Cube) and isinstance(routing, DimensionOrder)
        most = max(needs, 2 if dated and find_deadlock(routers, routing) else 1)
    elif not needs <= most <= MOST_LAYERS:
        wanted = f"from the {needs} that the paths of {routing} need to {MOST_LAYERS}"
        raise InputError("virtual_channels", f"{most}", wanted)
    sends = weight > 0
    if not sends.any():
        return Choice(between=own, layer=own_layer)
    if routers.num_hosts > MOST_NODES:
        wanted = f"at most {MOST_NODES} to choose routes"
        raise InputError("topology", f"{routers.num_hosts} nodes", wanted)
    distance = np.minimum(hop_distances(routers, backwards=True), FAR).astype(np.int16)
    ends = routers.channel_source, routers.channel_target, *routers.outgoing()
    places = np.arange(routers.num_channels), np.full(routers.num_hosts, -1)
    task = Task(routers, source, target, weight, (*ends, *places, distance), most)
    bound = least_load(routers, task.net, source[sends], target[sends], weight[sends])
    before = float(load_of(task, own).max())
    best, layer, value, ended = own, own_layer, before, 0
    end = thread_time() + seconds
    rng = np.random.default_rng(seed)
    stop = Event()
    with ctrl_c_sets(stop):
        for chosen, its_layer in all_rounds(task, routing, own, rounds, rng):
            ended += 1
            highest = float(load_of(task, chosen).max())
            if highest < value * (1 - CLOSE):
                best, layer, value = chosen, its_layer, highest
            if value <= bound * (1 + CLOSE) or stop.is_set() or thread_time() > end:
                break
    # the layers of paths from 0 on, or others if there are fewer of them
    known = np.unique(layer, return_inverse=True)[1].astype(np.int32)
    other = layers(routers, best)
    layer = other if other.max() < known.max() else known
    return Choice(
        between=best,
        layer=layer,
        before=before,
        after=value,
        bound=bound,
        rounds=ended,
        interrupted=stop.is_set(),
    )


def routes_of_layout(layout: Layout, value_of: Measure) -> SourceRoutes | None:
    """Return the routes that belong to a layout, None if it has none."""
    if layout.routes is None:
        return None
    app, topology = value_of.app, value_of.topology
    source, target = layout.node_of[app.source], layout.node_of[app.target]
    pairs = source.astype(np.int64) * topology.num_ends + target
    order = np.argsort(pairs)
    routed = legs(topology, source, target).around(layout.routes).taken(order)
    return SourceRoutes(f"those of {layout.name}", pairs[order], routed)


def judged_layout(
    layout: Layout, value_of: Measure, routes: SourceRoutes | None, *, identity: Ints, seed: int
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


def on_chosen_routes(
    found: FoundMapping, value_of: Measure, *, seed: int, seconds: float
) -> tuple[FoundMapping, SourceRoutes | None]:
    """Return what was found on routes chosen for it, and these: never worse than without.

    None if nothing crosses the network. ``seconds`` is the processor time of the choice.
    """
    if not value_of.crossing(found.node_of).any():
        return found, None
    rounds = 0 if found.interrupted else ROUNDS
    chosen = joint_routes(value_of, found.node_of, rounds=rounds, seed=seed, seconds=seconds)
    found = replace(found, interrupted=found.interrupted or chosen.interrupted)
    value = replace(value_of, routing=chosen.routes)(found.node_of)
    if value > found.value:  # fewer bytes on the busiest channel, and yet a worse objective
        own = joint_routes(value_of, found.node_of, rounds=0, seed=seed, seconds=seconds)
        return found, own.routes
    return replace(found, value=value), chosen.routes
