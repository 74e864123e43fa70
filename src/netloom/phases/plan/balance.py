"""Phases that last less long: connections moved between them after they have been routed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.phases.plan.bounds import least_clocks
from netloom.phases.plan.negotiate import plan_of, scratch_of, state_of, task_of
from netloom.phases.plan.wiring import arrivals

if TYPE_CHECKING:
    from netloom.base.arrays import Floats
    from netloom.models.messages import ConSetCosts
    from netloom.phases.plan.plans import Plan
    from netloom.topology import Topology

MOVES = 1000
"""Moves that are tried for each connection, ..."""

LEAST_MOVES, MOST_MOVES, FEW_MOVES = 40_000, 1_000_000, 100_000
"""... but at least and at most so many in all. Few where plans are only compared."""

HEAT = 0.05
"""Of annealing at first, in clocks of a mean connection."""


def phase_clocks(plan: Plan, costs: ConSetCosts) -> Floats:
    """Return float64[num_phases], the clocks of each phase's busiest processor or channel.

    No timetable of the phase can be shorter. Words of many connections interleaved come close.
    """
    longest: Floats = _busy(plan, costs)[0].max(axis=1, initial=0.0)
    return longest


def balanced(
    plan: Plan, costs: ConSetCosts, *, seed: int = 1, most_moves: int = MOST_MOVES
) -> Plan:
    """Return a plan of as many phases or fewer that last less long, or the same plan.

    Connections are moved to other phases and routes, or change places, by simulated annealing of
    the sum over all phases of what their busiest processor or channel has to do.

    The plan keeps all capacities. At most ``most_moves`` are tried.
    """
    from netloom.phases.kernels.balance import balance

    given, topology = plan.connections, plan.topology
    busy, receivers = _busy(plan, costs)
    before = float(busy.max(axis=1, initial=0.0).sum())
    if plan.num_phases < 1 or before <= least_clocks(given, topology, costs):
        return plan
    task = task_of(given, topology, plan.capacity, seed)
    state = state_of(task, plan)
    state.table[plan.capacity.virtual_channels :] = np.inf
    state.price[:] = state.table[state.use]
    words = given.words.astype(np.float64)
    heights, unit = np.zeros(plan.num_phases), max(1e-9, float(busy.sum()) / plan.num_phases)
    load = busy, heights, (busy**2).sum(axis=1), np.ones(plan.num_phases, np.bool_), unit
    work = np.zeros(topology.num_channels), np.zeros((3, task.hops), np.int32)
    balance(
        task.net, scratch_of(task), task.ends,
        (receivers - arrivals(topology), _processors(topology, costs)),
        (words * costs.clocks_per_word, words * costs.channel_clocks_per_word), tuple(state),
        task.before, task.after, load, work,
        min(most_moves, max(LEAST_MOVES, MOVES * len(given))),
        HEAT * float(words.mean()) * costs.clocks_per_word, np.random.default_rng(seed),
    )  # fmt: skip
    after = plan_of(given, topology, plan.capacity, state, plan.method)
    return after if heights.sum() < before else plan


def _processors(topology: Topology, costs: ConSetCosts) -> int:
    """Return how many processors, or halves of them, work side by side."""
    return topology.num_hosts * (2 if costs.both_ways else 1)


def _busy(plan: Plan, costs: ConSetCosts) -> tuple[Floats, int]:
    """Return float64[phases, processors + channels] in clocks, and where receivers begin."""
    given, topology = plan.connections, plan.topology
    processors = _processors(topology, costs)
    receivers = processors - topology.num_hosts
    clocks = given.words * costs.clocks_per_word
    hops, width = plan.routes.lengths, processors + topology.num_channels
    start = plan.phase.astype(np.int64) * width
    channels = np.repeat(start, hops) + processors + plan.routes.channels
    at = np.concatenate([start + given.source, start + receivers + given.target, channels])
    on_channels = np.repeat(given.words * costs.channel_clocks_per_word, hops)
    busy = np.bincount(
        at, np.concatenate([clocks, clocks, on_channels]), minlength=plan.num_phases * width
    )
    return busy.astype(np.float64).reshape(-1, width), receivers
