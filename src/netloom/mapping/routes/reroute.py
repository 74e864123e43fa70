"""Rounds in which paths of routers are taken out and put in again: see ``joint_routes``."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.mapping.routes.joint_routes_bound import CLOSE
from netloom.routing import DimensionOrder, Paths, Routing, paths
from netloom.routing.dimension_order import cube_tables
from netloom.routing.rules import layers
from netloom.topology import Cube, Topology, hop_distances

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.base.arrays import Bools, Floats, Ints

MOST_NODES = 2**13
"""Most nodes of a network. A table holds the distance of every pair."""

MOST_OUT = 62
"""Most channels that leave a node: a set of them is the bits of an int64."""

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
    uses: Ints
    waits: Ints
    closed: Ints


@dataclass(frozen=True, eq=False)
class Task:
    """What stays the same: the network, and who sends how much to whom."""

    topology: Topology
    source: Ints
    target: Ints
    weight: Floats
    net: tuple[NDArray[Any], ...]
    wiring: tuple[NDArray[Any], ...]
    most_layers: int


def task_of(
    topology: Topology,
    source: Ints,
    target: Ints,
    weight: Floats,
    most_layers: int,
) -> Task:
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
    return Task(
        topology=topology,
        source=source,
        target=target,
        weight=weight,
        net=(*ends, firsts, leaving, *places, distance),
        wiring=(topology.channel_target, firsts, leaving, place),
        most_layers=most_layers,
    )


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
    task: Task,
    start: Paths,
    layer: Ints,
    rounds: int,
    rng: np.random.Generator,
) -> Iterator[tuple[Paths, Ints]]:
    """Yield paths and layers after each round from one start. See ``joint_routes``."""
    state, unit = _first_state(task, start, layer), float(load_of(task, start).max())
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


def _first_state(task: Task, start: Paths, layer: Ints) -> State:
    """Return the state of the paths of a start."""
    number, num_channels = len(start), task.topology.num_channels
    hops = int(max(start.lengths.max(), task.net[6][task.target, task.source].max()))
    most_out = int(np.diff(task.wiring[1]).max())
    state = State(
        load=load_of(task, start),
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


def _reroute(task: Task, state: State, turn: Ints, unit: float, *, together: bool) -> bool:
    """Reroute paths in turn. Return whether all have found a place."""
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


def _within(state: State) -> Bools:
    """Return which places of the table of routes are hops."""
    return np.arange(state.routes.shape[1]) < state.lengths[:, None]


def _paths_of(state: State) -> Paths:
    offsets = np.append(0, np.cumsum(state.lengths, dtype=np.int64))
    return Paths(offsets, state.routes[_within(state)])


def load_of(task: Task, routed: Paths) -> Floats:
    """Return the weighted load of each channel."""
    weight = np.repeat(task.weight, routed.lengths)
    return np.bincount(routed.channels, weight, task.topology.num_channels).astype(np.float64)


def _cost(state: State, unit: float) -> float:
    return float(np.sum(np.power(state.load / unit, 12)))
