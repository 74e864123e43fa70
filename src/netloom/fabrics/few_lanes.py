"""Tables free of credit loops in few lanes, for networks that are not trees.

A lane belongs to a destination, so packets to it never change lanes, and a subnet manager can set
the lane by destination. Rows of the table are found one by one, from the destination outwards. They
take no channel that would close a circle of dependencies in their lane, as in Nue (Domke, Hoefler &
Matsuoka, *Routing on the dependency graph*, 2016). The table then improves: rows are removed, one
by one and in groups, and found anew while the others stay (Shaw, *Using constraint programming and
local search methods*, 1998). Groups matter if turns are scarce: a turn can be replaced by a better
one only when all rows that use it are removed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.errors import InputError
from netloom.base.progress import counting
from netloom.base.provenance import DEFAULT_SEED
from netloom.contention import effective_bisection
from netloom.routing.forwarding.tables import (
    MOST_ENTRIES,
    MOST_LANES,
    DependencyGraph,
    ForwardingTable,
    Lanes,
    dependency_graph,
    senders,
)
from netloom.topology import Topology
from netloom.topology.core import adjacency, joined, way_back

STARTS, MOST_STARTS = 2**25, 24
"""Channels looked at to find first tables (a second or two), and most of these."""

TRIES, MOST_TRIES = 2**26, 2**13
"""Channels looked at to improve one of them, and most tries."""

ROUNDS = 6
"""How often each row of a first table is taken out alone."""

KEPT = 3
"""First tables that are improved."""

STEPS = 16
"""Parts of the improvement of a table, for progress to be shown."""

SAMPLES = 400
"""Matchings by which tables are told apart."""

MOST_GROUP = 0.4
"""Rows that are taken out together at most, as a share of all."""

COLLIDING, AT_LAST = 16.0, 3.0
"""Cost of the pairs of paths that can collide, beside that of loads, and in the second half."""

WORTH = 0.15
"""What a load of twice the mean is worth, in effective bisection bandwidth."""


class Search(NamedTuple):
    """The state of ``netloom.fabrics.kernels.few_lanes``.

    With D rows, R routers and C channels between them. Rows are the destinations of the table,
    then the routers that have none, whose packets count nothing.

    Attributes
    ----------
    table, lane
        int32[D, R], the channel by which packets to a row's destination leave each router, -1 for
        none. int64[D], the lane of each row.
    old, old_lane
        The same as before a try.
    exits, reach
        int64[D], the router where packets leave, and the routers that can send there.
    order, group
        int64[D], rows in the order in which they are taken out, and those that are.
    sent
        int64[R, D] or [R, 1], the hosts that send from each router.
    source, target, room, in_tree
        int32[C] twice, float64[C] and bool[C]: the ends of a channel. The paths that it carries if
        all channels work the same time. Whether it belongs to the tree of the reserve.
    load, alike
        int64[C], paths on a channel, and sum of squares of those of one source, and of one
        destination.
    via
        int32[R, C], destinations to which a router sends over a channel.
    own, touched, weight, base, settled, heap
        Scratch: paths of one row. Channels. What a channel costs. What a router's way costs. The
        routers that have one, and the ways to try next, by cost.
    dice, taste
        int64[1] and float64[3], for ``draw``. How much a source keeps its own paths apart, the time
        above which a channel is dear, and how random costs are.
    lanes, rows, singles, most_rows
        How many there are of lanes, of rows whose packets count, of tries that take out one row,
        and of rows in a group.
    collide, far
        What a pair of paths costs that can collide. More than any cost.
    """

    table: Ints
    lane: Ints
    old: Ints
    old_lane: Ints
    exits: Ints
    reach: Ints
    order: Ints
    group: Ints
    sent: Ints
    source: Ints
    target: Ints
    room: Floats
    in_tree: Bools
    load: Ints
    alike: Ints
    via: Ints
    own: Ints
    touched: Ints
    weight: Floats
    base: Floats
    settled: Bools
    heap: NDArray[np.void]
    dice: Ints
    taste: Floats
    lanes: int
    rows: int
    singles: int
    most_rows: int
    collide: float
    far: float


def in_few_lanes(
    topology: Topology, lanes: int = 1, *, seed: int = DEFAULT_SEED, effort: float = 1.0
) -> ForwardingTable:
    """Return a table whose packets never wait for each other in a circle, in so many lanes.

    A packet's destination determines its lane. All routers reach all end points and each other, and
    all these paths together are free of circles. Many first tables are made. The best are improved,
    with a number of tries that depends on the size of the network. Then the best is taken, by its
    busiest channel and by its effective bisection bandwidth.

    Parameters
    ----------
    topology
        The network, each cable two channels.
    lanes
        1 … 16.
    seed
        Where chance comes from.
    effort
        Tries, as a multiple of the usual number.

    Raises
    ------
    InputError
        If there are too many lanes, entries of the table, or channels of one way only.

    Examples
    --------
    >>> from netloom.routing import find_deadlock
    >>> from netloom.topology import topology
    >>> net = topology("torus:4x4/1")
    >>> table = in_few_lanes(net, effort=0.1)
    >>> table.lanes is None, find_deadlock(net, table)
    (True, ())
    """
    from netloom.fabrics.kernels.few_lanes import improve

    if not 1 <= lanes <= MOST_LANES:
        raise InputError("lanes", str(lanes), f"1 … {MOST_LANES}")
    frame = _Frame(topology)
    work = frame.rows * topology.num_network_channels * min(lanes, 3)
    starts = int(np.clip(STARTS * effort / (work * (1 + ROUNDS)), KEPT, MOST_STARTS))
    group = max(min(int(MOST_GROUP * frame.rows), 64), 2)
    tries = int(min(TRIES * effort * frame.rows / (work * group / 2), MOST_TRIES * effort))
    found = []
    firsts: list[tuple[float, int, Search, DependencyGraph]] = []
    with counting(starts + KEPT * STEPS, f"tables in {lanes} lane{'s' * (lanes > 1)}") as tell:
        for number in range(starts):
            rng = np.random.default_rng((seed, number))
            search = frame.search(lanes, rng, number, group)
            graph = dependency_graph(topology, lanes)
            _reserve(search, graph, 1)
            improve(search, graph, 0, frame.rows)
            _reserve(search, graph, -1)
            cost = improve(search, graph, frame.rows, search.singles)
            firsts = sorted([*firsts, (cost, number, search, graph)], key=lambda each: each[:2])
            firsts = firsts[:KEPT]
            tell(number + 1)
        for place, (_, _, first, graph) in enumerate(firsts):
            done = frame.rows + first.singles
            for step in range(STEPS):
                at_last = first._replace(collide=AT_LAST)
                improve(first if 2 * step < STEPS else at_last, graph, done, tries // STEPS)
                done += tries // STEPS
                tell(starts + place * STEPS + step + 1)
            found.append(_table_of(topology, first))
    return max(found, key=lambda table: _worth(topology, table))


def _worth(topology: Topology, table: ForwardingTable) -> float:
    """Return how good a table is, to tell tables of one network apart."""
    from netloom.contention import shift_loads

    load = shift_loads(topology, table).total_load / topology.channel_bandwidth
    between = load[: topology.num_network_channels]
    if not between.any():
        return 0.0
    share = effective_bisection(topology, table, samples=SAMPLES).mean
    return share - WORTH * float(between.max() / between.mean())


class _Frame:
    """What all searches in one network have in common."""

    def __init__(self, topology: Topology) -> None:
        from scipy.sparse.csgraph import dijkstra

        inside = topology.routers
        self.topology = topology
        self.ends = topology.ejection_router.astype(np.int64)
        routers = np.arange(inside.num_routers)
        self.exits = np.concatenate([self.ends, np.setdiff1d(routers, self.ends)])
        self.rows = len(self.exits)
        entries = inside.num_routers * max(self.rows, inside.num_channels)
        if entries > MOST_ENTRIES:
            wanted = f"at most {MOST_ENTRIES:,} for a search in few lanes"
            raise InputError(topology.name, f"{entries:,} routers × channels", wanted)
        self.back = way_back(inside)
        if (self.back < 0).any():
            one_way = inside.channel_name(int(np.argmax(self.back < 0)))
            raise InputError(topology.name, f"no way back of {one_way}", "cables of two channels")
        self.sent = np.ascontiguousarray(senders(topology))
        self.joined = adjacency(inside.num_routers, inside.channel_source, inside.channel_target)
        rate = topology.channel_bandwidth[: inside.num_channels]
        hops = dijkstra(self.joined, unweighted=True)
        far = np.where(np.isfinite(hops), hops, 0.0)
        paths = float((far[:, self.ends] * self.sent).sum())
        # times the mean time of channels if all paths are as short as can be
        self.room = np.ascontiguousarray(rate * (paths / float(rate.sum()) if paths else 1.0))

    def search(self, lanes: int, rng: np.random.Generator, number: int, most_rows: int) -> Search:
        """Return the state of a search: every fourth in random order, others by number."""
        from scipy.sparse.csgraph import breadth_first_order

        inside, many = self.topology.routers, self.rows
        count, channels = inside.num_routers, inside.num_channels
        part = joined(count, inside.channel_source, inside.channel_target)
        by_ends = np.full((count, count), -1, np.int64)
        by_ends[inside.channel_source, inside.channel_target] = np.arange(channels)
        tree = np.zeros(channels, np.bool_)  # a spanning tree of each part
        for each in range(int(part.max()) + 1):
            root = rng.choice(np.flatnonzero(part == each))
            reached, before = breadth_first_order(self.joined, root, directed=False)
            down = by_ends[before[reached[1:]], reached[1:]]
            tree[down] = tree[self.back[down]] = True
        order = rng.permutation(many) if number % 4 == 3 else np.arange(many)
        taste = np.array([1.0 + number % 2, (2.0, 1.5)[number // 2 % 2], 0.0])
        table, lane = np.full((2, many, count), -1, np.int32), np.zeros((2, many), np.int64)
        reach, group = np.bincount(part)[part][self.exits], np.zeros(many, np.int64)
        rows = table[0], lane[0], table[1], lane[1], self.exits, reach, order, group, self.sent
        wires = inside.channel_source, inside.channel_target, self.room, tree
        load, alike, own, touched = np.zeros((4, channels), np.int64)
        loads = load, alike, np.zeros((count, channels), np.int32), own, touched, np.zeros(channels)
        heap = np.zeros(channels, [("key", "f8"), ("item", "i8")])
        scratch = np.zeros(count), np.zeros(count, np.bool_), heap, rng.integers(1, 2**62, 1), taste
        numbers = lanes, len(self.ends), ROUNDS * many, most_rows, COLLIDING, np.inf
        fields = [*rows, *wires, *loads, *scratch, *numbers]
        return Search(*fields)


def _reserve(search: Search, graph: DependencyGraph, sign: int) -> None:
    """Count all dependencies of ways in the tree, or discount them."""
    from netloom.routing.kernels.layers import insert, remove

    for held in np.flatnonzero(search.in_tree).tolist():
        router = int(graph.channel_target[held])
        leaving = graph.out_channels[graph.out_offsets[router] : graph.out_offsets[router + 1]]
        for slot in np.flatnonzero(search.in_tree[leaving]).tolist():
            if graph.channel_target[leaving[slot]] == graph.channel_source[held]:
                continue
            for lane in range(search.lanes):
                if sign < 0:
                    remove(graph, lane, held, slot)
                else:
                    assert insert(graph, lane, held, slot)


def _table_of(topology: Topology, search: Search) -> ForwardingTable:
    """Return the table of a search, to all end points and routers."""
    count, rows = topology.num_routers, search.rows
    row_of = np.zeros(count, np.int64)
    row_of[search.exits[::-1]] = np.arange(len(search.exits))[::-1]
    others, lanes = row_of[exits_of_others(topology)], None
    if search.lanes > 1:
        level = search.lane[np.concatenate([np.arange(rows), others])].astype(np.uint8)
        lanes = Lanes(np.repeat(level[:, None], count, axis=1))
    return ForwardingTable("balanced", search.table[:rows].copy(), search.table[others], lanes)


def exits_of_others(topology: Topology) -> Ints:
    """Return the routers of a table's other rows: those of other end points, then all."""
    routers = np.arange(topology.num_routers, dtype=np.int32)
    return np.concatenate([topology.others.router, routers]).astype(np.int32)
