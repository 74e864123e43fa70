"""Forwarding tables that load no cable more than it must, and keep random permutations fast.

The number of pairs of paths that share a channel and differ in source and in destination is
(half the density of) what permutations suffer. Destination by destination, all paths to it are
laid anew where they collide least with the others; that number never rises. Loads above a target
cost extra, more so round by round, until the busiest channel has come down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom.errors import InputError
from netloom.fabrics.descent import Judge, Problem, Rules, descended, judge_of, problem_of
from netloom.fabrics.levels import shortest_ways, tree_ways
from netloom.progress import counting
from netloom.provenance import DEFAULT_SEED
from netloom.routing.forwarding.tables import ForwardingTable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from netloom.fabrics.levels import Ways
    from netloom.topology import Topology

Objective = Literal["all-to-all", "shifts", "permutations"]

NEAR = 1.002
"""Busiest channels that are nearer than this count as equal."""

NOISE, MORE = 0.002, 0.006
"""Effective bisections that are nearer than this count as equal, if neither table is perfect in
shifts, and if one is."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """A table and how good it is.

    Attributes
    ----------
    table
        The table.
    all_to_all
        Largest load over bandwidth of a channel between routers if each host sends to each other.
    bisection
        Effective bisection bandwidth: the mean of matchings by which no table was chosen.
    shift_max, shift_mean
        Largest load over bandwidth in a shift of the hosts: in the worst, and the mean of shifts.
    lanes
        How many lanes packets take.
    """

    table: ForwardingTable
    all_to_all: float
    bisection: float
    shift_max: float
    shift_mean: float
    lanes: int


@dataclass(frozen=True, eq=False)
class Balanced:
    """The table that serves an objective best, and all that no other surpasses."""

    table: ForwardingTable
    front: tuple[Candidate, ...]


def balanced(
    topology: Topology,
    *,
    lanes: int | None = None,
    objective: Objective = "all-to-all",
    seed: int = DEFAULT_SEED,
    frozen: NDArray[np.bool_] | None = None,
    start: ForwardingTable | None = None,
) -> Balanced:
    """Return a table in which no cable carries more than it must.

    Parameters
    ----------
    topology
        The network.
    lanes
        How many lanes packets may take; as few as needed by default.
    objective
        Which table of the front is chosen: the one with the least busiest channel (``all-to-all``),
        with the least busiest one in the worst shift of the hosts (``shifts``), or with the best
        effective bisection (``permutations``).
    seed
        Where chance comes from.
    frozen
        bool[num_destinations], rows of ``start`` that stay as they are.
    start
        A table to begin with.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> best = balanced(topology("fat-tree:4x2"), objective="shifts").front[0]
    >>> best.all_to_all, best.shift_max
    (12.0, 1.0)
    """
    if lanes is not None and lanes < 1:
        raise InputError("lanes", str(lanes), "at least one")
    shortest = shortest_ways(topology)
    ways = tree_ways(topology, shortest)
    found: list[Found] = []
    problem = problem_of(topology, ways)
    judge = judge_of(problem, seed)
    plans = list(_plans(problem, seed))
    with counting(len(plans), "tables") as tell:
        for done, rules in enumerate(plans):
            tell(done)
            for table, longest in descended(
                problem, rules, None if start is None else start.next_channel, frozen
            ):
                found = _kept(found, judge, table, longest)
    others = other_rows(problem, ways)
    fresh = judge_of(problem, seed + 1, 1000)
    front = tuple(
        sorted(
            (_candidate(each, fresh, others) for each in found), key=lambda each: each.all_to_all
        )
    )
    return Balanced(_chosen(front, objective, problem.least_shift()).table, front)


@dataclass(frozen=True, eq=False)
class Found:
    """A table on the way, and how it is judged."""

    table: NDArray[np.int32]
    longest: float
    share: float
    shift: float


def _kept(
    found: list[Found], judge: Judge, table: NDArray[np.int32], longest: float
) -> list[Found]:
    """Return the tables that no other surpasses, a new one among them or not."""
    share = float(judge.permuted(judge.matchings, table)[1].mean())
    shift = float(judge.permuted(judge.shifts, table)[0].max(initial=0.0))
    if any(
        each.longest <= longest and each.share >= share and each.shift <= shift for each in found
    ):
        return found
    new = Found(table.copy(), longest, share, shift)
    return [
        each for each in found if each.longest < longest or each.share > share or each.shift < shift
    ] + [new]


def _plans(problem: Problem, seed: int) -> Iterator[Rules]:
    """Yield what to try: orders of destinations and routers, targets, and what own paths count."""
    count, routers = len(problem.ends), problem.topology.num_routers
    bound = problem.least_longest()
    yield Rules(np.arange(count), np.arange(routers), 1.0, bound)
    rng = np.random.default_rng(seed)
    for number in range(7):
        turns, order = rng.permutation(count), rng.permutation(routers)
        yield Rules(turns, order, 1.0, (1.0, 1.004, 1.02, 1.002)[number % 4] * bound)


def _candidate(found: Found, judge: Judge, others: NDArray[np.int32] | None) -> Candidate:
    share = judge.permuted(judge.matchings, found.table)[1]
    shift = judge.permuted(judge.shifts, found.table)[0]
    table = ForwardingTable("balanced", found.table, others)
    return Candidate(
        table, found.longest, float(share.mean()), float(shift.max(initial=0.0)),
        float(shift.mean()), 1,
    )  # fmt: skip


def _chosen(front: tuple[Candidate, ...], objective: Objective, floor: float) -> Candidate:
    if objective == "permutations":
        return max(front, key=lambda each: (each.bisection, -each.all_to_all))
    if objective == "shifts":
        return min(front, key=lambda each: (each.shift_max, each.shift_mean, each.all_to_all))
    least = min(each.all_to_all for each in front)
    near = [each for each in front if each.all_to_all <= least * NEAR]
    best = max(each.bisection for each in near)
    shift = min(each.shift_max for each in near)
    alike = [
        each
        for each in near
        if each.bisection >= best - (MORE if each.shift_max == shift == floor else NOISE)
    ]
    return min(alike, key=lambda each: (each.shift_max, -each.bisection))


def other_rows(problem: Problem, ways: Ways) -> NDArray[np.int32] | None:
    """Return the rows of end points that run no programs, and of the routers themselves.

    None where the network is not of a subnet.
    """
    topology = problem.topology
    if topology.cabling is None:
        return None
    ends = np.concatenate([topology.cabling.others.router, np.arange(topology.num_routers)]).astype(
        np.int32
    )
    asked = replace(
        problem,
        ends=ends,
        sent=np.ones((topology.num_routers, 1), np.int64),
        column=np.arange(topology.num_routers, dtype=np.int32),
        ways=ways,
    )
    turns, order = np.arange(len(ends)), np.arange(topology.num_routers)
    *_, (table, _) = descended(asked, Rules(turns, order, 1.0, np.inf, rounds=2), None, None)
    return table
