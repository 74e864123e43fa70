"""Any connections on any network: routes in as few phases as negotiation finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.phases.plan.bounds import hops_to
from netloom.phases.plan.connections import Connections, ranks
from netloom.phases.plan.plans import Capacity, Plan
from netloom.phases.plan.wiring import arrivals, wired
from netloom.routing import Paths

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.base.arrays import Floats, Ints
    from netloom.topology import Topology

ROUNDS = 60
"""Most rounds of negotiation for one number of phases."""

PATIENCE = 12
"""Rounds without progress after which negotiation gives up."""

FIRST_PRESSURE, PRESSURE_GROWTH, MOST_PRESSURE = 0.5, 1.3, 50.0
"""The price of a place too full, as a multiple, and its growth from round to round."""

HISTORY_GROWTH = 0.3
"""What a place's price gains for good with each round and each path too many."""

RIP_UPS, RIPPED = 10, 0.25
"""Rounds of ripping up and rerouting in sequential routing, and the share ripped up in each."""

FEW = 16
"""Most connections without a route for which another round is tried although the last one left no
fewer. If there are more, random retries do not find room for all of them."""


class State(NamedTuple):
    """Routes so far, and what they make places cost.

    ``use``, ``price`` and ``history`` have a row per phase and a column per place. The price of a
    place is (1 + history) × ``table[use]``. ``phase`` is -1 without a route. The first
    ``lengths[i]`` of ``routes[i]`` are the channels of connection i.
    """

    use: Ints
    price: Floats
    history: Floats
    table: Floats
    phase: Ints
    routes: Ints
    lengths: Ints


@dataclass(frozen=True, eq=False)
class Task:
    """What kernels know: the network, who is to be joined, and in which order."""

    # Ends and outgoing channels, places, and distances; see ``kernels.priced_paths``.
    net: tuple[NDArray[np.generic], ...]
    ends: tuple[Ints, Ints]  # sources and targets
    # before, after: for each connection those that come before and after it, as ragged arrays.
    before: tuple[Ints, Ints]
    after: tuple[Ints, Ints]
    # int64[n], the order in which connections are routed: in their own order, the longest first.
    turn: Ints
    hops: int  # most hops of a path
    places: int  # how many places have a capacity


def task_of(given: Connections, topology: Topology, capacity: Capacity, seed: int) -> Task:
    """Return what kernels need."""
    distance, net = hops_to(topology), wired(topology)
    target = (given.target + arrivals(topology)).astype(np.int32)
    hops = distance[target, given.source].astype(np.int64)
    offsets, channels = net.outgoing()
    nodes = np.arange(net.num_vertices)
    per_node = capacity.per == "node"
    enters = topology.channel_target if per_node else np.arange(topology.num_channels)
    starts = nodes % topology.num_vertices if per_node else np.full_like(nodes, -1)
    longest = int(distance[np.isfinite(distance)].max(initial=1))
    ends = net.channel_source, net.channel_target
    places = enters.astype(np.int64), starts.astype(np.int64)
    tie = np.random.default_rng(seed).random(len(given))
    return Task(
        net=(*ends, offsets, channels, *places, distance),
        ends=(given.source, target),
        before=ragged(given.after, given.before, len(given)),
        after=ragged(given.before, given.after, len(given)),
        turn=np.lexsort((tie, -hops, ranks(given))),
        hops=min(net.num_vertices, 3 * longest + 4),
        places=capacity.places(topology),
    )


def negotiated(
    given: Connections,
    topology: Topology,
    capacity: Capacity,
    num_phases: int,
    *,
    seed: int = 1,
    home: Ints | None = None,
) -> Plan | None:
    """Return a plan of so many phases, found by negotiated congestion. None where it gives up.

    All connections are routed, each by its cheapest path, though places become too full. Then
    those through such places are routed again, round by round, while the prices of these places
    rise with every round in which they stay too full (PathFinder: McMurchie & Ebeling 1995),
    over the copies of the network that the phases are (Feldmann et al. 1993, section 4.4.1).

    ``seed`` is of the order in which connections are routed. ``home``: int64[n], the phase that
    each connection should be in, if that costs little.
    """
    task = task_of(given, topology, capacity, seed)
    state = _state(task, len(given), num_phases)
    rng, limit = np.random.default_rng(seed), capacity.virtual_channels
    turn, pressure, least, since = task.turn, FIRST_PRESSURE, np.inf, 0
    home = np.full(len(given), -1) if home is None else home
    for _ in range(ROUNDS):
        state.table[:] = 1.0 + pressure * np.maximum(0, np.arange(len(state.table)) + 1 - limit)
        state.price[:] = (1.0 + state.history) * state.table[state.use]
        lost = _route(task, state, turn, limit, home, first_fit=False)
        assert lost == 0, "every place can be had at a price"
        over = np.maximum(0, state.use - limit)
        if not over.any():
            return plan_of(given, topology, capacity, state, "negotiated")
        state.history[:] += HISTORY_GROWTH * over
        since = 0 if over.sum() < least else since + 1
        least = min(least, int(over.sum()))
        if since > PATIENCE:
            break
        pressure = min(pressure * PRESSURE_GROWTH, MOST_PRESSURE)
        turn = turn if len(given.before) else rng.permutation(turn)
    return None


def sequential(
    given: Connections,
    topology: Topology,
    capacity: Capacity,
    num_phases: int,
    *,
    seed: int = 1,
) -> Plan | None:
    """Return a plan of so many phases by the paper's APR. None where it finds none.

    One connection after the other takes the cheapest path of all phases. A place costs 1 and one
    more for each path through it. A full place cannot be used. Then, several times, some
    connections are ripped up and rerouted after those without a route, as long as that leaves
    fewer, or few, without one. This is algorithm APR of Feldmann et al. 1993, section 4.4.1, which
    leaves costs and order open. These costs, with the longest first, are the best of those tried.
    Connections that come in an order take the first phase that has room for them, not the cheapest.

    ``seed`` is of the order in which connections of one length are routed.
    """
    from netloom.phases.kernels.route import rip_up

    task = task_of(given, topology, capacity, seed)
    state = _state(task, len(given), num_phases)
    rng, limit, ordered = np.random.default_rng(seed), capacity.virtual_channels, len(given.before)
    state.table[:] = 1.0 + np.arange(len(state.table))
    state.table[limit:] = np.inf
    state.price[:] = 1.0
    turn, nowhere, most = task.turn, np.full(len(given), -1), np.inf
    for again in range(RIP_UPS + 1):
        left = _route(task, state, turn, limit, nowhere, first_fit=bool(ordered))
        if left == 0:
            return plan_of(given, topology, capacity, state, "sequential")
        if ordered or again == RIP_UPS or left >= most:
            break
        most = max(FEW, left)
        lost = state.phase < 0
        rip_up(task.net, task.ends, tuple(state), np.flatnonzero(rng.random(len(lost)) < RIPPED))
        turn = np.concatenate([task.turn[lost[task.turn]], task.turn[~lost[task.turn]]])
    return None


def _state(task: Task, connections: int, num_phases: int) -> State:
    """Return a state without routes."""
    places = num_phases, task.places
    return State(
        use=np.zeros(places, np.int32),
        price=np.ones(places),
        history=np.zeros(places),
        table=np.ones(connections + 2),
        phase=np.full(connections, -1, np.int32),
        routes=np.zeros((connections, task.hops), np.int32),
        lengths=np.zeros(connections, np.int32),
    )


def state_of(task: Task, plan: Plan) -> State:
    """Return the state that a plan is. Its prices are those of empty places."""
    state = _state(task, len(plan.connections), plan.num_phases)
    state.use[:] = plan.use()
    state.phase[:], state.lengths[:] = plan.phase, plan.routes.lengths
    state.routes[np.arange(task.hops) < state.lengths[:, None]] = plan.routes.channels
    return state


def _route(
    task: Task,
    state: State,
    turn: Ints,
    limit: int,
    home: Ints,
    *,
    first_fit: bool,
) -> int:
    """Route what has no route or a crowded one. Return how many find none."""
    from netloom.phases.kernels.route import route

    free = np.zeros(len(task.net[0]))
    lost: int = route(
        task.net, scratch_of(task), task.ends, tuple(state), turn, task.before, task.after, limit,
        free, home, first_fit,
    )  # fmt: skip
    return lost


def plan_of(
    given: Connections, topology: Topology, capacity: Capacity, state: State, method: str
) -> Plan:
    """Return the plan of a state in which all is well. Phases without connections are left out."""
    offsets = np.append(0, np.cumsum(state.lengths, dtype=np.int64))
    channels = state.routes[np.arange(state.routes.shape[1]) < state.lengths[:, None]]
    phase = np.unique(state.phase, return_inverse=True)[1].astype(np.int32)
    return Plan(topology, given, capacity, phase, Paths(offsets, channels), method)


def scratch_of(task: Task) -> tuple[NDArray[np.generic], ...]:
    """Return room for one search."""
    nodes, channels = len(task.net[-1]), len(task.net[0])
    return (
        np.zeros(nodes), np.zeros(nodes, np.int64), np.zeros(nodes, np.int64),
        np.zeros(channels + nodes + 1), np.zeros(channels + nodes + 1, np.int64),
        np.zeros(nodes, np.bool_), np.zeros(task.hops, np.int32),
    )  # fmt: skip


def ragged(keys: Ints, values: Ints, groups: int) -> tuple[Ints, Ints]:
    """Return the values of each key, one group after the other."""
    offsets = np.append(0, np.cumsum(np.bincount(keys, minlength=groups)))
    return offsets.astype(np.int64), values[np.argsort(keys, kind="stable")].astype(np.int64)
