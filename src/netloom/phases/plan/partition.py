"""Connections into phases: which, by which routes, in how few and how short ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

import numpy as np

from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.models.messages import ConSetCosts
from netloom.phases.plan.balance import FEW_MOVES, balanced, phase_clocks
from netloom.phases.plan.bounds import least_clocks, least_phases
from netloom.phases.plan.connections import Connections, ranks
from netloom.phases.plan.negotiate import negotiated, sequential
from netloom.phases.plan.plans import Capacity, Plan
from netloom.phases.plan.symmetric import pack_permutations, permutations
from netloom.routing import Paths
from netloom.topology import Cube, Topology

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.base.arrays import Ints

    Attempt: TypeAlias = Callable[[int], Plan | None]

Method: TypeAlias = Literal["auto", "symmetric", "negotiated", "sequential"]
Objective: TypeAlias = Literal["phases", "time"]

STEP = 1.04
"""From one number of phases to the next, where more phases may take less time, ..."""

PATIENCE = 5
"""... until so many did not."""

IMPATIENCE = 4
"""Numbers of phases that are tried for a symmetric pattern before it is taken as any other."""

HURRY = 100
"""After f failures the next number of phases is higher by 1, and by f / HURRY of itself."""


def partition(
    given: Connections,
    topology: Topology,
    capacity: Capacity,
    *,
    costs: ConSetCosts | None = None,
    method: Method = "auto",
    objective: Objective = "phases",
    seed: int = DEFAULT_SEED,
) -> Plan:
    """Return connections in phases that the hardware can hold, each with its route.

    Parameters
    ----------
    given, topology, capacity
        What to connect, where, and how many connections a node or channel holds.
    costs
        Of context switches and words. IWarp's by default.
    method
        ``symmetric``: patterns that look alike from every node of a torus, as whole permutations.
        ``negotiated``: any pattern, by prices of places that are too full, and then by moving
        connections between phases until these last less long. ``sequential``: the paper's APR,
        as it is. ``auto``: the first that the pattern is fit for, or the second.
    objective
        ``phases``: as few as can be found, then as short as can be found. ``time``: as many as
        make the time of all phases and the switches between them least.
    seed
        Of what is left to chance.

    Raises
    ------
    InputError
        If the order of connections is a circle, or the method does not fit the pattern.
    NoRouteError
        If no path joins the nodes of a connection.

    Examples
    --------
    >>> import numpy as np
    >>> from netloom.phases import Capacity, connections
    >>> from netloom.topology import torus
    >>> from netloom.workload import read
    >>> everyone = connections(read("all-to-all:16"), np.arange(16), 16)
    >>> partition(everyone, torus(4, 4), Capacity(12))
    <240 connections in 4 phases on torus:4x4, at most 12 of 12 virtual channels a node, symmetric>
    """
    ranks(given)
    least = least_phases(given, topology, capacity).phases
    if not len(given):
        nothing = Paths(np.zeros(1, np.int64), np.zeros(0, np.int32))
        return Plan(topology, given, capacity, np.zeros(0, np.int32), nothing, "none")
    costs = costs if costs is not None else ConSetCosts()
    ways = {
        "symmetric": _symmetric(given, topology, capacity, costs, seed),
        "negotiated": _negotiated(given, topology, capacity, costs, seed),
        "sequential": lambda phases: sequential(given, topology, capacity, phases, seed=seed),
    }
    for name in ("symmetric", "negotiated") if method == "auto" else (method,):
        found = _fewest(ways[name], least, len(given), patient=name != "symmetric")
        if found is not None and objective == "time":
            found = _shortest(ways[name], found, costs, least_clocks(given, topology, costs))
        if found is not None:
            return balanced(found, costs, seed=seed) if name == "negotiated" else found
    wanted = "a pattern that looks alike from every node of a torus or hypercube, without an order"
    raise InputError("method 'symmetric'", given.name, wanted)


def _symmetric(
    given: Connections, topology: Topology, capacity: Capacity, costs: ConSetCosts, seed: int
) -> Attempt:
    """Return what packs whole and halved permutations, and takes the shorter phases."""
    if not isinstance(topology, Cube):
        return lambda _: None
    both = [
        sets
        for halved in (False, True)
        if (sets := permutations(given, topology, capacity, costs, halved=halved)) is not None
    ]

    def attempt(phases: int) -> Plan | None:
        plans = [pack_permutations(given, topology, capacity, s, phases, seed=seed) for s in both]
        packed = [plan for plan in plans if plan is not None]
        return min(packed, key=lambda plan: phase_clocks(plan, costs).sum(), default=None)

    return attempt


def _negotiated(
    given: Connections, topology: Topology, capacity: Capacity, costs: ConSetCosts, seed: int
) -> Attempt:
    """Return what negotiates routes, and makes phases somewhat shorter.

    Equal connections are tried twice: as they come, and sorted into phases by their colors.
    """
    colour = _even_phases(given, topology.num_hosts)

    def attempt(phases: int) -> Plan | None:
        homes: list[Ints | None] = [None]
        if colour is not None:
            homes.append(colour * phases // (int(colour.max()) + 1))
        plans = [negotiated(given, topology, capacity, phases, seed=seed, home=h) for h in homes]
        even = [
            balanced(plan, costs, seed=seed, most_moves=FEW_MOVES)
            for plan in plans
            if plan is not None
        ]
        return min(even, key=lambda plan: phase_clocks(plan, costs).sum(), default=None)

    return attempt


def _even_phases(given: Connections, num_nodes: int) -> Ints | None:
    """Return int64[n], a color for each connection, none twice at a sender or receiver.

    As many colors as the busiest processor sends or receives connections: no fewer will do
    (König's theorem). Phases of whole colors waste no processor's time where connections are
    equally long. None is returned where they are not, or come in an order.
    """
    from netloom.phases.kernels.colouring import edge_colouring

    if len(given.before) or len(np.unique(given.words)) > 1:
        return None
    colours = max(int(np.bincount(end).max(initial=0)) for end in (given.source, given.target))
    colour: Ints = edge_colouring(
        given.source.astype(np.int64), num_nodes + given.target.astype(np.int64), 2 * num_nodes,
        colours,
    )  # fmt: skip
    return colour


def _fewest(attempt: Attempt, least: int, most: int, *, patient: bool) -> Plan | None:
    """Return the plan of the fewest phases that an attempt finds. None where it finds none soon."""
    phases, failed = least, 0
    while failed < IMPATIENCE or patient:
        found = attempt(min(phases, most))
        if found is not None:
            return found
        assert phases < most or not patient, "each connection fits into a phase of its own"
        failed += 1
        phases += 1 + phases * failed // HURRY
    return None


def _shortest(attempt: Attempt, first: Plan, costs: ConSetCosts, floor: float) -> Plan:
    """Return the plan that takes least time, of those with as many phases as the first or more."""
    best, least = first, _total(first, costs)
    phases, worse = first.num_phases, 0
    while worse < PATIENCE:
        phases = max(phases + 1, int(phases * STEP))
        if phases * costs.switch_clocks + floor >= least or phases > len(first.connections):
            break
        plan = attempt(phases)
        if plan is not None and _total(plan, costs) < least:
            best, least, worse = plan, _total(plan, costs), 0
        else:
            worse += 1
    return best


def _total(plan: Plan, costs: ConSetCosts) -> float:
    """Return the clocks of all phases and the switches between them."""
    return plan.num_phases * costs.switch_clocks + float(phase_clocks(plan, costs).sum())
