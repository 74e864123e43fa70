"""Forwarding tables that load no cable more than it must, and keep random permutations fast.

The number of pairs of paths that share a channel and differ in source and in destination is
(half the density of) what permutations suffer. Destination by destination, all paths to it are
laid anew where they collide least with the others. That number never rises. Loads above a target
cost extra, more so round by round, until the busiest channel has come down.

Packets that never go up after they went down wait for each other in no circle, so one lane is
enough. Every router gets a height of its own. A channel leads up where its target is higher.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from heapq import heappop, heappush
from operator import or_
from typing import Literal

import numpy as np

from netloom.base.arrays import Bools, Floats, Int16s, Ints
from netloom.base.errors import InputError
from netloom.base.figures import SHARE, Figures, figure, unseen
from netloom.base.progress import counting
from netloom.base.provenance import DEFAULT_SEED
from netloom.bounds import busiest_bound
from netloom.fabrics.few_lanes import exits_of_others, in_few_lanes
from netloom.routing.forwarding.tables import (
    MOST_COUNTED,
    ForwardingTable,
    lanes_used,
    layered,
    senders,
)
from netloom.routing.ragged import legs
from netloom.routing.rules import ranked
from netloom.topology import Topology
from netloom.topology.core import Wiring
from netloom.topology.faults import working_nodes

State = tuple[Ints, Ints, Ints, Floats, Floats]

Draws = tuple[Ints, Ints, Ints, Floats]


# -- ways ------------------------------------------------------------------------------------------


ROOTS = 6
"""Routers that are tried as the root above all others."""

MOSTLY = 0.95
"""Share of shortest ways that are left in a tree (by their logarithms)."""

MOST_TURNED = 2**23
"""Routers × channels of networks where a root is looked for though no end point needs it."""

SLACK = 1e-9
"""Rounding of sums."""


@dataclass(frozen=True, eq=False)
class Ways:
    """The channels that may lead to each router where packets leave.

    Attributes
    ----------
    height
        int32[num_routers], no two alike. All 0 where every shortest way may be taken.
    exits
        int32[num_exits], routers with hosts, then all others.
    near
        int16[num_exits, num_routers], hops to each exit; -1 without a way.
    falls
        bool[num_exits, num_routers], whether they all lead down.
    unreached, longer
        Pairs of routers with hosts, weighted by these, that have no way up and then down, and that
        have one, but longer than the shortest.
    """

    height: Ints
    exits: Ints
    near: Int16s
    falls: Bools
    unreached: int
    longer: int

    @property
    def plain(self) -> bool:
        """Whether these are all shortest ways, which may need several lanes."""
        return bool((self.height == 0).all())


def shortest_ways(topology: Topology) -> Ways:
    """Return all shortest ways."""
    return _ways(topology, np.zeros(topology.num_routers, np.int32), None)


def tree_ways(topology: Topology, shortest: Ways, installed: Ints | None = None) -> Ways:
    """Return the ways up and then down that cost hosts least.

    Routers are ranked in several ways: by hops to the nearest one with hosts, and by hops to all
    hosts, fewest on top. The ranking with the fewest pairs of hosts without a path is taken, then
    that with the fewest longer paths. If some routers still do not reach each other, such as two
    spines, one router becomes the root of all. It and everything above it are turned upside down,
    so that the rest keeps its paths. If that removes paths between hosts, it is done only if end
    points would not reach each other without it. Of roots that cost nothing, the one is taken that
    admits most entries of a table that is ``installed``. This is int32[num_rows, num_routers], with
    its last rows to the routers.
    """
    bearing, weight = bearing_routers(topology)
    hops = shortest.near[: len(bearing)].astype(np.int64)
    far = np.where(hops < 0, np.iinfo(np.int32).max, hops)
    most = weight[bearing] * 2 >= weight.max(initial=0)
    rankings = [ranked(far.min(axis=0))]  # heights of all routers, no two alike
    if not most.all():
        rankings.append(ranked(far[most].min(axis=0)))
    rankings.append(ranked(-(np.maximum(hops, 0) * weight[bearing][:, None]).sum(axis=0)))
    found = min(
        (_ways(topology, height, shortest) for height in rankings),
        key=lambda ways: (ways.unreached, ways.longer),
    )
    lost = (found.near < 0) & (shortest.near >= 0)
    if not lost.any():
        return found
    ends = np.union1d(bearing, topology.others.router)  # of any kind
    needed = lost[np.ix_(np.isin(found.exits, ends), ends)].any()
    if not needed and len(found.exits) * topology.num_network_channels > MOST_TURNED:
        return found
    choices = _choices(topology, found)
    tried: list[tuple[float, ...]] = []
    rooted: list[Ways] = []
    for height in _rooted(topology, found.height, ROOTS if installed is None else None):
        ways = _ways(topology, height, shortest)
        gone = max(choices - _choices(topology, ways), SLACK * choices)
        kept, place = 0, np.argsort(ways.exits)
        if installed is not None:  # entries of a table to the routers, its last rows
            rows = enumerate(installed[-topology.num_routers :])
            kept = sum(leads(topology, ways, place[end])[row[row >= 0]].sum() for end, row in rows)
        tried.append((ways.unreached, ways.longer, gone, -int(kept)))
        rooted.append(ways)
        if installed is None and tried[-1] <= (found.unreached, found.longer, SLACK * choices):
            return ways
    best = min(tried)
    if needed or best[:3] <= (found.unreached, found.longer, SLACK * choices):
        return rooted[tried.index(best)]
    return found


def leads(topology: Topology, ways: Ways, place: int) -> Bools:
    """Return by which channels between routers packets may go to an exit, by its place.

    bool[num_network_channels]. Each leads one hop nearer, up first and then down.
    """
    inside, near, falls = topology.routers, ways.near[place], ways.falls[place]
    source, target = inside.channel_source, inside.channel_target
    down = ways.height[source] > ways.height[target]
    stays = (down == falls[source]) & (falls[target] | ~down)
    nearer = (near[target] == near[source] - 1) & (near[target] >= 0)
    return np.asarray(nearer & (ways.plain | stays))


def costs_nothing(topology: Topology, tree: Ways, shortest: Ways) -> bool:
    """Return whether going up and then down leaves nearly all shortest ways between hosts."""
    if tree.unreached or tree.longer * 20 > sum(bearing_routers(topology)[1]) ** 2:
        return False
    return _choices(topology, tree) >= MOSTLY * _choices(topology, shortest)


def bearing_routers(topology: Topology) -> tuple[Ints, Ints]:
    """Return the routers with hosts, and how many ports of hosts each router of all has."""
    ports = np.bincount(topology.ejection_router, minlength=topology.num_routers)
    weight = np.maximum(senders(topology).max(axis=1), ports * topology.routers.vertex_up)
    return np.flatnonzero(weight).astype(np.int32), weight


def _ways(topology: Topology, height: Ints, shortest: Ways | None) -> Ways:
    from netloom.fabrics.kernels.ways import nearness

    bearing, weight = bearing_routers(topology)
    rest = np.setdiff1d(np.arange(topology.num_routers), bearing)
    ends = np.concatenate([bearing, rest]).astype(np.int32)
    near, falls = nearness(ends, height, topology.routers.wiring())
    unreached = longer = 0
    if shortest is not None:
        block = np.ix_(np.arange(len(bearing)), bearing)
        mine, best = near[block], shortest.near[block]
        pairs = weight[bearing][:, None] * weight[bearing]
        unreached = int(pairs[(mine < 0) & (best >= 0)].sum())
        longer = int(pairs[(mine >= 0) & (mine > best)].sum())
    return Ways(height, ends, near, falls, unreached, longer)


def _rooted(topology: Topology, height: Ints, most: int | None) -> Iterator[Ints]:
    """Yield heights at which one router is above all others, by the best of these routers.

    Best are those from which most of the highest routers can be reached upwards.
    """
    inside = topology.routers
    offsets, leaving = inside.outgoing()
    parts = np.split(inside.channel_target[leaving], offsets[1:-1])
    beside: list[list[int]] = [part.tolist() for part in parts]
    high = height.tolist()
    tops = [0] * len(high)  # the highest routers above each, as bits
    for router in np.argsort(-height).tolist():
        above = (tops[each] for each in beside[router] if high[each] > high[router])
        tops[router] = reduce(or_, above, 0) or 1 << router
    bearing, _ = bearing_routers(topology)
    best = sorted(bearing.tolist(), key=lambda router: -tops[router].bit_count())
    for root in best[:most]:
        yield _turned(root, beside, high)


def _turned(root: int, beside: list[list[int]], high: list[int]) -> Ints:
    """Return the heights where a root and what was above it are on top, the root highest.

    All others follow, highest first among those that have a neighbour above them.
    """
    above, queue = {root}, [root]
    for router in queue:
        for each in beside[router]:
            if high[each] > high[router] and each not in above:
                above.add(each)
                queue.append(each)
    placed = dict.fromkeys(sorted(above, key=high.__getitem__))
    for start in [root, *sorted(range(len(high)), key=high.__getitem__, reverse=True)]:
        heap: list[tuple[int, int]] = []
        if start not in placed:
            placed[start] = None
            around = [start]
        else:
            around = list(placed) if start == root else []
        for router in around:
            for each in beside[router]:
                heappush(heap, (-high[each], each))
        while heap:
            router = heappop(heap)[1]
            if router not in placed:
                placed[router] = None
                for each in beside[router]:
                    if each not in placed:
                        heappush(heap, (-high[each], each))
    height = np.empty(len(high), np.int32)
    height[list(placed)] = np.arange(len(high))[::-1]
    return height


def _choices(topology: Topology, ways: Ways) -> float:
    """Return how many ways there are between routers with hosts: the sum of their logarithms."""
    source, target = topology.routers.channel_source, topology.routers.channel_target
    bearing, _ = bearing_routers(topology)
    total = 0.0
    for row in range(len(bearing)):
        near, led = ways.near[row], leads(topology, ways, row)
        count = np.zeros(len(near))
        count[ways.exits[row]] = 1.0
        for hops in range(1, int(near.max()) + 1):
            step = np.flatnonzero(led & (near[source] == hops))
            np.add.at(count, source[step], count[target[step]])
        total += float(np.log(np.maximum(count[bearing], 1.0)).sum())
    return total


# -- tables ----------------------------------------------------------------------------------------


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


class Candidate(Figures):
    """A table and how good it is.

    Attributes
    ----------
    all_to_all
        Largest load over bandwidth of a channel between routers if each host sends to each other.
    bisection
        Effective bisection bandwidth: the mean of matchings by which no table was chosen.
    shift_max, shift_mean
        Largest load over bandwidth in a shift of the hosts: in the worst, and the mean of shifts.
    table
        The table.
    front
        Of the one that is chosen: all that no other surpasses, itself among them.
    """

    all_to_all: float = figure("busiest cable of an all-to-all")
    bisection: float = figure("effective bisection bandwidth", SHARE)
    shift_max: float = figure("busiest cable of the worst shift")
    shift_mean: float = figure("busiest cable of a shift, mean")
    lanes: int = figure("virtual lanes")
    table: ForwardingTable = unseen()
    front: tuple[Candidate, ...] = unseen(default=())

    def surpasses(self, other: Candidate) -> bool:
        """Whether this is as good as another in all respects but the mean of shifts."""
        return (
            self.all_to_all <= other.all_to_all
            and self.bisection >= other.bisection
            and self.shift_max <= other.shift_max
            and self.lanes <= other.lanes
        )


def balanced(
    topology: Topology,
    *,
    lanes: int | None = None,
    objective: Objective = "all-to-all",
    seed: int = DEFAULT_SEED,
    frozen: Bools | None = None,
    start: ForwardingTable | None = None,
    tries: int = MOST_TRIES,
) -> Candidate:
    """Return a table in which no cable carries more than it must, with its ``front``.

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
    >>> best = balanced(topology("fat-tree:4x2"), objective="shifts")
    >>> best.all_to_all, best.shift_max
    (12.0, 1.0)
    """
    if lanes is not None and lanes < 1:
        raise InputError("lanes", str(lanes), "at least one")
    shortest = shortest_ways(topology)
    tree = tree_ways(topology, shortest)
    begin = None if start is None else start.next_channel
    others = other_rows(topology, tree, None if start is None else start.others)
    judge = judge_of(problem_of(topology, tree), seed)
    search = Search(topology, judge, lanes or MOST_LANES, others)
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
    front: list[Candidate] = []
    judged = []
    for each in sorted(search.found, key=lambda each: (each.all_to_all, -each.bisection)):
        table = each.table if each.table.others is not None else replace(each.table, others=others)
        judged.append(fresh.judged(table, each.all_to_all, each.lanes))
    for new in sorted(judged, key=lambda each: (each.all_to_all, -each.bisection)):
        if not any(each.surpasses(new) for each in front):
            front.append(new)
    chosen = _chosen(front, objective, fresh.problem.least_shift())
    return replace(chosen, front=tuple(front))


@dataclass(eq=False)
class Search:
    """Tables that no other surpasses, among those that were looked at."""

    topology: Topology
    judge: Judge
    lanes: int
    others: Ints | None
    found: list[Candidate] = field(default_factory=list)
    bound: float | None = None
    waiting: list[Candidate] = field(default_factory=list)

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
                    least = min((each.all_to_all for each in self.found), default=np.inf)
                    if longest <= least * WORTH or turn == max(rules.free - 1, 0):
                        self.look_at(table, longest, one_lane=not ways.plain)
                for new in self.waiting:
                    self.keep(self.in_lanes(new))
                self.waiting = []
                if rules.large:
                    start = table
                least = min((each.all_to_all for each in self.found), default=np.inf)
                if self.bound is None and least > bound * REACHED:
                    self.bound = busiest_bound(self.topology).value
                    bound = max(bound, self.bound)
                if number and any(
                    each.all_to_all <= bound * NEAR and each.shift_max <= floor
                    for each in self.found
                ):
                    return

    def add(self, table: ForwardingTable) -> None:
        """Judge a table from elsewhere, and keep it if no other surpasses it."""
        problem = self.judge.problem
        load = problem.loads(table.next_channel.copy(), large=True)[0]
        longest = float((load / problem.bandwidth).max(initial=0.0))
        self.keep(self.judge.judged(table, longest, lanes_used(table)))

    def look_at(self, table: Ints, longest: float, *, one_lane: bool) -> None:
        """Judge a table, and keep it if no other surpasses it."""
        rivals = [*self.found, *self.waiting]
        new = self.judge.judged(ForwardingTable("balanced", table), longest, rivals=rivals)
        if any(each.surpasses(new) for each in rivals):
            return
        new = replace(new, table=ForwardingTable("balanced", table.copy()))
        if one_lane:
            self.keep(new)
        elif self.judge.problem.size <= SMALL:
            self.keep(self.in_lanes(new))
        else:
            self.waiting = [each for each in self.waiting if not new.surpasses(each)] + [new]

    def in_lanes(self, found: Candidate) -> Candidate:
        """Return a table with the lanes that it needs. They are shared with other end points."""
        asked = self.others if len(self.topology.others) else None
        rows = found.table.next_channel
        lanes = layered(self.topology, rows, others=asked, most=MOST_COUNTED)
        count = int(lanes.level.max(initial=0)) + 1
        table = replace(found.table, lanes=lanes if count > 1 else None)
        return replace(found, table=table, lanes=count)

    def keep(self, new: Candidate) -> None:
        """Keep a table in few enough lanes if no other surpasses it."""
        if new.lanes > self.lanes or any(each.surpasses(new) for each in self.found):
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


def _chosen(front: list[Candidate], objective: Objective, floor: float) -> Candidate:
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


MATCHINGS = 250
"""Random permutations by which tables are chosen."""

MOST_MATCHED, FEWEST = 2**19, 50
"""Pairs of hosts of all matchings, and how many matchings there are at least."""

GROWTH = 1.3
"""How the price of load over the target grows from round to round."""

PATIENCE = 8
"""Rounds with a growing price after which one that changes nothing is the last."""

MOST_SHIFTED = 2**18
"""Pairs of hosts of all shifts that are looked at."""


@dataclass(frozen=True, eq=False)
class Problem:
    """A network and the ways that paths may take, as the kernels want them.

    ``ends`` is the router of each destination. ``sent``, ``column``: see the kernel ``reroute``.
    """

    topology: Topology
    ways: Ways
    wiring: Wiring
    ends: Ints
    sent: Ints
    column: Ints
    bandwidth: Floats

    @property
    def size(self) -> int:
        """Destinations × channels."""
        return max(len(self.ends) * len(self.bandwidth), 1)

    def loads(self, table: Ints, *, large: bool = False) -> State:
        """Return what ``kernels.rerouting`` calls the state, given a table.

        Entries that lead nowhere are taken out of the table.
        """
        from netloom.fabrics.kernels.rerouting import count_paths

        columns = 0 if large else max(int(self.column.max()) + 1, 1)
        load = np.zeros(len(self.bandwidth), np.int64)
        of_router = np.zeros((len(load), columns), np.int32)
        own = load if large else np.zeros_like(load)
        state = load, own, of_router, self.bandwidth, 1.0 / self.bandwidth
        count_paths(table, self.ends, self.sent, self.column, self.wiring[1], state)
        return state

    def least_longest(self) -> float:
        """Return a lower bound on the busiest channel's time.

        Whatever enters the network at a router, or leaves it there, has to share its channels, and
        all paths together, at their shortest, share all channels.
        """
        source, target = self.wiring[0], self.wiring[1]
        routers = len(self.column)
        left, received, hops = np.zeros(routers), np.zeros(routers), 0.0
        for end, row in zip(self.ways.exits.tolist(), self.ways.near, strict=True):
            mine = np.flatnonzero(self.ends == end)
            if not len(mine):
                continue
            sent = self.sent[:, mine % self.sent.shape[1]].sum(axis=1) * (row > 0)
            left += sent
            received[end] = sent.sum()
            hops += float(sent @ row)
        shares = [hops / max(float(self.bandwidth.sum()), 1e-300)]
        for paths, side in ((left, source), (received, target)):
            rate = np.bincount(side, self.bandwidth, routers)
            shares += (paths[rate > 0] / rate[rate > 0]).tolist()
        return max(shares)

    def least_shift(self) -> float:
        """Return the time that some shift takes at best where a router's hosts all send away."""
        rates = np.bincount(self.wiring[0], self.bandwidth, len(self.column))
        hosts = self.sent.max(axis=1)
        fits = (hosts > 0) & (rates > 0) & (2 * hosts <= hosts.sum())
        return float(np.ceil((hosts[fits] / rates[fits]).max(initial=0.0)))


@dataclass(frozen=True, eq=False)
class Judge:
    """What tables are judged by: the same random matchings, and shifts, for all.

    Both are permutations of hosts as the kernel ``permuted`` takes them.
    """

    problem: Problem
    matchings: Draws
    shifts: Draws

    def judged(
        self,
        table: ForwardingTable,
        longest: float,
        lanes: int = 1,
        rivals: Sequence[Candidate] = (),
    ) -> Candidate:
        """Return how good a table is, whose busiest channel takes so long.

        If one of the ``rivals`` surpasses it, only the shifts that show this are looked at.
        """
        rows = table.next_channel
        bisection = float(self.permuted(self.matchings, rows)[1].mean())
        found = Candidate(
            all_to_all=longest,
            bisection=bisection,
            shift_max=np.inf,
            shift_mean=np.inf,
            lanes=lanes,
            table=table,
        )
        enough = min((each.shift_max for each in rivals if each.surpasses(found)), default=np.inf)
        shift = self.permuted(self.shifts, rows, enough)[0]
        worst, mean = float(shift.max(initial=0.0)), float(shift.mean())
        return replace(found, shift_max=worst, shift_mean=mean)

    def permuted(self, draws: Draws, table: Ints, enough: float = np.inf) -> tuple[Floats, ...]:
        """Return the longest time and the mean share of each permutation, under a table.

        Those after the first that takes ``enough`` are not looked at.
        """
        from netloom.fabrics.kernels.figures import permuted

        wires = self.problem.wiring[1], self.problem.bandwidth
        found: tuple[Floats, ...] = permuted(table, *draws, *wires, enough)
        return found


def problem_of(topology: Topology, ways: Ways) -> Problem:
    """Return what the kernels want of a network."""
    sent = senders(topology)
    column = np.full(topology.num_routers, -1, np.int32)
    bearing = np.flatnonzero(sent.max(axis=1))
    column[bearing] = np.arange(len(bearing))
    bandwidth = np.ascontiguousarray(topology.routers.channel_bandwidth, np.float64)
    ends, sent = topology.ejection_router, np.ascontiguousarray(sent)
    return Problem(topology, ways, topology.routers.wiring(), ends, sent, column, bandwidth)


def judge_of(problem: Problem, seed: int, most: int = MATCHINGS) -> Judge:
    """Return a judge whose matchings come from ``seed``. At most so many, fewer of many hosts."""
    hosts = working_nodes(problem.topology)
    matchings = int(np.clip(MOST_MATCHED // len(hosts), min(FEWEST, most), most))
    rng = np.random.default_rng(seed)
    half, count = len(hosts) // 2, len(hosts)
    drawn = np.array([rng.permutation(hosts)[: 2 * half] for _ in range(matchings)])
    ahead = np.unique(
        np.linspace(1, count - 1, max(min(MOST_SHIFTED // count, count - 1), 1), dtype=np.int64)
    )
    shifted = (np.arange(count) + ahead[:, None]) % count
    return Judge(
        problem,
        _draws(problem.topology, drawn[:, :half], drawn[:, half:]),
        _draws(problem.topology, np.tile(hosts, (len(ahead), 1)), hosts[shifted]),
    )


def _draws(topology: Topology, source: Ints, target: Ints) -> Draws:
    found = legs(topology, source.ravel(), target.ravel())
    firsts = np.arange(len(source) + 1, dtype=np.int64) * source.shape[1]
    into, out_of = topology.port_bandwidth.reshape(2, -1)
    alone = np.minimum(into[found.source_port], out_of[found.target_port])
    alone[np.isinf(alone)] = 1.0  # where nobody says a speed
    return firsts, found.entry, found.target_port, alone


@dataclass(frozen=True, eq=False)
class Rules:
    """How rounds go.

    Attributes
    ----------
    turns, order
        Destinations and routers, in the order in which they choose.
    own
        How much of a source's own paths does not count as colliding; 1 is exact.
    aim
        The load over bandwidth above which a channel costs extra.
    rounds, free
        How many rounds there are, and how many of them do without the target.
    price
        Of load over the target in the first round with it. ``GROWTH`` times as much in each next.
    change
        Price of an entry that is not that of the table to start with.
    large
        Whether hosts choose among few ways, for large networks (``kernels.rerouting``).
    """

    turns: Ints
    order: Ints
    own: float
    aim: float
    rounds: int = 30
    free: int = 4
    price: float = 1.0
    change: float = 0.0
    large: bool = False


def descended(
    problem: Problem, rules: Rules, start: Ints | None = None, frozen: Bools | None = None
) -> Iterator[tuple[Ints, float]]:
    """Yield the table after each round, and the time of its busiest channel.

    It is the same array every time. ``frozen`` are destinations whose rows stay. Rounds end where
    one changes nothing. Paths take all ways from each router, or few in large networks.
    """
    from netloom.fabrics.kernels.rerouting import reroute

    table = np.full((len(problem.ends), problem.topology.num_routers), -1, np.int32)
    if start is not None:
        table[:] = start
    old = table.copy() if rules.change else table
    turns = rules.turns if frozen is None else rules.turns[~frozen[rules.turns]]
    ways, strength = problem.ways, 0.0
    near = (ways.near, ways.falls, ways.height, np.argsort(ways.exits).astype(np.int32))
    order = rules.order[problem.column[rules.order] >= 0].astype(np.int32)
    state = problem.loads(table, large=rules.large)
    for number in range(rules.rounds):
        if number >= rules.free:
            strength = max(strength * GROWTH, rules.price)
        weighs = rules.own, strength, rules.aim, rules.change
        paths = turns, table, old, problem.ends, problem.sent, problem.column, order
        moved = reroute(*paths, near, problem.wiring, state, weighs)
        longest = float((state[0] / problem.bandwidth).max(initial=0.0))
        yield table, longest
        if not moved and (longest <= rules.aim or number > rules.free + PATIENCE):
            return


def other_rows(
    topology: Topology, ways: Ways, old: Ints | None = None, frozen: Bools | None = None
) -> Ints | None:
    """Return the rows of end points that run no programs, and of the routers themselves.

    Entries of ``old`` stay where these ways admit them, ``frozen`` rows in any case. None where the
    network is not of a subnet.
    """
    if topology.cabling is None:
        return None
    ends, routers = exits_of_others(topology), np.arange(topology.num_routers)
    column, sent = routers.astype(np.int32), np.ones((len(routers), 1), np.int64)
    problem = replace(problem_of(topology, ways), ends=ends, column=column, sent=sent)
    change = 0.0 if old is None else float(len(ends) * len(routers)) ** 2
    rules = Rules(np.arange(len(ends)), routers, 1.0, np.inf, rounds=2, change=change, large=True)
    *_, (table, _) = descended(problem, rules, old, frozen)
    return table
