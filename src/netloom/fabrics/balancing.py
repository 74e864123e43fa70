"""Forwarding tables that load no cable more than it must, and keep random permutations fast.

The number of pairs of paths that share a channel and differ in source and in destination is
(half the density of) what permutations suffer. Destination by destination, all paths to it are
laid anew where they collide least with the others. That number never rises. Loads above a target
cost extra, more so round by round, until the busiest channel has come down.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.base.provenance import DEFAULT_SEED
from netloom.fabrics.bounds import busiest_bound
from netloom.fabrics.descent import (
    Judge,
    Problem,
    Rules,
    descended,
    judge_of,
    other_rows,
    problem_of,
)
from netloom.fabrics.few_lanes import in_few_lanes
from netloom.fabrics.levels import costs_nothing, shortest_ways, tree_ways
from netloom.routing.forwarding.lanes import MOST_COUNTED, lanes_used, layered
from netloom.routing.forwarding.tables import ForwardingTable

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Ints
    from netloom.fabrics.levels import Ways
    from netloom.routing.forwarding.tables import Lanes
    from netloom.topology import Topology

Objective = Literal["all-to-all", "shifts", "permutations"]

MOST_LANES = 8
"""Lanes that a network is taken to have where nobody said."""

MOST_TRIES, FEW = 24, 3
"""Descents from nothing to a table, at most and at least."""

EFFORT = 0.5
"""Tries of ``in_few_lanes``, where lanes are asked for, as a share of its own number."""

WORK = 3_000_000
"""Descents × destinations × channels of a search."""

WORTH = 1.1
"""Tables whose busiest channel is busier than the least busy one, times this, are not looked at."""

REACHED = 1.01
"""Bounds that a table comes so near are not looked for any further."""

IN_ORDER: tuple[tuple[float, int, float, float], ...] = ((1.0, 4, 1.0, 1.0), (2.0, 4, 1.0, 1.0))
AT_RANDOM = (
    (1.0, 4, 1.0, 1.0),
    (1.0, 4, 0.97, 1.0),
    (1.0, 4, 1.004, 1.0),
    (1.0, 4, 0.985, 1.0),
    (2.0, 0, 1.0, 0.1),
)
DIRECT = (
    (3.0, 0, 1.0, 1.0),
    (2.0, 0, 1.0, 0.1),
    (3.0, 3, 1.0, 1.0),
    (1.5, 0, 1.0, 1.0),
    (2.0, 3, 1.04, 1.0),
    (1.0, 3, 1.04, 0.1),
)
"""Of descents in order of number, in random order, and of these along all shortest ways: what own
paths count for, rounds without a target, target over the bound, price."""

SMALL = 100_000
"""Destinations × channels up to which lanes are counted of every table. Else of each descent's
best."""

LARGE = 4_000_000
"""Destinations × channels above which hosts choose among few ways."""

HUGE = 100_000_000
"""Destinations × channels above which there is time for two descents."""

LARGE_ORDER, LARGE_RANDOM = ((1.0, 1, 1.0, 100.0),), ((1.0, 1, 1.0, 30.0), (1.0, 2, 1.0, 30.0))
"""Descents in order of number and at random in large networks."""

NEAR = 1.002
"""Busiest channels that are nearer than this count as equal."""

CLOSE = 1.01
"""Busiest channels that are nearer than this may be outweighed by effective bisection."""

NOISE, MORE = 0.002, 0.006
"""Effective bisections that are nearer than this count as equal, and where a table is perfect in
shifts, or takes fewer lanes."""


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
    """The best table for an objective, and all that no other surpasses."""

    table: ForwardingTable
    front: tuple[Candidate, ...]


def balanced(
    topology: Topology,
    *,
    lanes: int | None = None,
    objective: Objective = "all-to-all",
    seed: int = DEFAULT_SEED,
    frozen: Bools | None = None,
    start: ForwardingTable | None = None,
    tries: int = MOST_TRIES,
) -> Balanced:
    """Return a table in which no cable carries more than it must.

    Parameters
    ----------
    topology
        The network.
    lanes
        How many lanes packets may take. By default as few as shortest ways need, at most eight. If
        lanes are asked for and the network is no tree, tables whose lane the destination decides
        are looked for, too (``in_few_lanes``). Others' lanes depend on the source as well.
    objective
        Which table of the front is chosen. ``all-to-all`` takes the lowest load of the busiest
        channel, ``shifts`` the same in the worst shift of the hosts, and ``permutations`` the best
        effective bisection.
    seed
        Where chance comes from.
    frozen
        bool[num_destinations], rows of ``start`` that stay as they are.
    start
        A table to begin with.
    tries
        Descents at most, along each kind of ways.

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
    tree = tree_ways(topology, shortest)
    begin = None if start is None else start.next_channel
    others = other_rows(topology, tree, None if start is None else start.others)
    search = Search(
        topology, judge_of(problem_of(topology, tree), seed), lanes or MOST_LANES, others
    )
    if costs_nothing(topology, tree, shortest):
        search.descend(tree, seed, begin, frozen, tries)
    else:
        if not tree.unreached:
            search.descend(tree, seed, begin, frozen, min(FEW, tries))
        search.descend(shortest, seed, begin, frozen, tries)
        if lanes is not None and frozen is None:
            search.add(in_few_lanes(topology, lanes, seed=seed, effort=EFFORT))
    if not search.found:
        wanted = f"one that needs at most {search.lanes} lanes"
        raise InputError(topology.name, "no table without a circle", wanted)
    fresh = judge_of(search.judge.problem, seed + 1, 1000)
    found = sorted(search.found, key=lambda each: (each.longest, -each.share))
    front = _unsurpassed([_candidate(each, fresh, others) for each in found])
    return Balanced(_chosen(front, objective, fresh.problem.least_shift()).table, front)


@dataclass(frozen=True, eq=False)
class Found:
    """A table on the way, its lanes (None for one), and how it is judged."""

    table: Ints
    longest: float
    share: float
    shift: float
    count: int = 1
    lanes: Lanes | None = None
    others: Ints | None = None

    def surpasses(self, other: Found) -> bool:
        """Whether this is as good as another in all respects."""
        return (
            self.longest <= other.longest
            and self.share >= other.share
            and self.shift <= other.shift
            and self.count <= other.count
        )


@dataclass(eq=False)
class Search:
    """Tables that no other surpasses, among those that were looked at."""

    topology: Topology
    judge: Judge
    lanes: int
    others: Ints | None
    found: list[Found] = field(default_factory=list)
    bound: float | None = None
    waiting: list[Found] = field(default_factory=list)

    def descend(
        self,
        ways: Ways,
        seed: int,
        start: Ints | None,
        frozen: Bools | None,
        most: int = MOST_TRIES,
    ) -> None:
        """Look at the tables of several descents along these ways."""
        problem = problem_of(self.topology, ways)
        tries = int(np.clip(WORK // problem.size, min(FEW, most), most))
        if problem.size > HUGE:
            tries = 2
        bound, floor = max(problem.least_longest(), self.bound or 0.0), problem.least_shift()
        with counting(tries, "balanced tables") as tell:
            for number in range(tries):
                tell(number)
                rules = plan(problem, seed, number, bound)
                for turn, (table, longest) in enumerate(descended(problem, rules, start, frozen)):
                    least = min((each.longest for each in self.found), default=np.inf)
                    if longest <= least * WORTH or turn == max(rules.free - 1, 0):
                        self.look_at(table, longest, one_lane=not ways.plain)
                for new in self.waiting:
                    self.keep(self.in_lanes(new))
                self.waiting = []
                if rules.large:
                    start = table
                least = min((each.longest for each in self.found), default=np.inf)
                if self.bound is None and least > bound * REACHED:
                    self.bound = busiest_bound(self.topology).value
                    bound = max(bound, self.bound)
                if number and any(
                    each.longest <= bound * NEAR and each.shift <= floor for each in self.found
                ):
                    return

    def asked(self) -> Ints | None:
        """Return the rows of other end points, where there are any: they share the lanes."""
        cabling = self.topology.cabling
        return self.others if cabling is not None and len(cabling.others) else None

    def add(self, table: ForwardingTable) -> None:
        """Judge a table from elsewhere, and keep it if no other surpasses it."""
        problem, rows = self.judge.problem, table.next_channel
        longest = float((problem.loads(rows.copy())[0] / problem.bandwidth).max(initial=0.0))
        share = float(self.judge.permuted(self.judge.matchings, rows)[1].mean())
        shift = float(self.judge.permuted(self.judge.shifts, rows)[0].max(initial=0.0))
        new = Found(rows, longest, share, shift, lanes_used(table), table.lanes, table.others)
        self.keep(new)

    def look_at(self, table: Ints, longest: float, *, one_lane: bool) -> None:
        """Judge a table, and keep it if no other surpasses it."""
        judge = self.judge
        share = float(judge.permuted(judge.matchings, table)[1].mean())
        shift = float(judge.permuted(judge.shifts, table)[0].max(initial=0.0))
        new = Found(table, longest, share, shift)
        if any(each.surpasses(new) for each in [*self.found, *self.waiting]):
            return
        new = replace(new, table=table.copy())
        if one_lane:
            self.keep(new)
        elif judge.problem.size <= SMALL:
            self.keep(self.in_lanes(new))
        else:
            self.waiting = [each for each in self.waiting if not new.surpasses(each)] + [new]

    def in_lanes(self, found: Found) -> Found:
        """Return a table with the lanes that it needs."""
        lanes = layered(self.topology, found.table, others=self.asked(), most=MOST_COUNTED)
        count = int(lanes.level.max(initial=0)) + 1
        return replace(found, count=count, lanes=lanes if count > 1 else None)

    def keep(self, new: Found) -> None:
        """Keep a table in few enough lanes if no other surpasses it."""
        if new.count > self.lanes or any(each.surpasses(new) for each in self.found):
            return
        self.found = [each for each in self.found if not new.surpasses(each)] + [new]


def plan(problem: Problem, seed: int, number: int, bound: float) -> Rules:
    """Return what the n-th descent does: first in order of number, then in random order."""
    count, routers = len(problem.ends), problem.topology.num_routers
    turns, order, kinds = np.arange(count), np.arange(routers), IN_ORDER
    large, rounds = problem.size > LARGE, 40 if problem.ways.plain else 30
    if large:
        kinds, rounds = LARGE_ORDER, 8
        if problem.size > HUGE:
            rounds = 6 if number else 2
    first = len(kinds)
    if number >= first:
        rng = np.random.default_rng([seed, number])
        turns, order = rng.permutation(count), rng.permutation(routers)
        kinds = DIRECT if problem.ways.plain else AT_RANDOM
    if number >= first and large:  # hosts of a router one after the other
        turns, kinds = np.argsort(order[problem.ends], kind="stable"), LARGE_RANDOM
    own, free, aim, price = kinds[(number - first * (number >= first)) % len(kinds)]
    return Rules(turns, order, own, aim * bound, rounds=rounds, free=free, price=price, large=large)


def _candidate(found: Found, judge: Judge, others: Ints | None) -> Candidate:
    share = judge.permuted(judge.matchings, found.table)[1]
    shift = judge.permuted(judge.shifts, found.table)[0]
    rows = others if found.others is None else found.others
    table = ForwardingTable("balanced", found.table, rows, found.lanes)
    return Candidate(
        table, found.longest, float(share.mean()), float(shift.max(initial=0.0)),
        float(shift.mean()), found.count,
    )  # fmt: skip


def _unsurpassed(candidates: list[Candidate]) -> tuple[Candidate, ...]:
    """Return the candidates than which no other is as good in all respects."""
    kept: list[Candidate] = []
    for new in sorted(candidates, key=lambda each: (each.all_to_all, -each.bisection)):
        if not any(
            each.bisection >= new.bisection
            and each.shift_max <= new.shift_max
            and each.lanes <= new.lanes
            for each in kept
        ):
            kept.append(new)
    return tuple(kept)


def _chosen(front: tuple[Candidate, ...], objective: Objective, floor: float) -> Candidate:
    if objective == "permutations":
        return max(front, key=lambda each: (each.bisection, -each.all_to_all))
    if objective == "shifts":
        return min(front, key=lambda each: (each.shift_max, each.shift_mean, each.all_to_all))
    least = min(each.all_to_all for each in front)
    close = [each for each in front if each.all_to_all <= least * CLOSE]
    top = max(each.bisection for each in close)
    unit = least or 1.0  # hosts on one router load no channel between routers
    lead = min(close, key=lambda each: each.all_to_all / unit - each.bisection / max(top, 1e-9))
    near = [each for each in front if each.all_to_all <= lead.all_to_all * NEAR]
    best = max(each.bisection for each in near)
    fewest = min(each.lanes for each in near if each.bisection >= best - MORE)
    near = [each for each in near if each.lanes == fewest]
    best = max(each.bisection for each in near)
    shift = min(each.shift_max for each in near)
    alike = [
        each
        for each in near
        if each.bisection >= best - (MORE if each.shift_max == shift == floor else NOISE)
    ]
    return min(alike, key=lambda each: (each.shift_max, -each.bisection))
