"""Traces: what a program computed and sent, and what each of it waited for, task by task.

A trace knows tasks only. Put on the nodes of a network it becomes messages, which any simulator can
replay. Its times and lengths are cycles and flits, or seconds and bytes: ``in_cycles`` and
``in_seconds`` turn one into the other, given a clock. ``trace_files`` reads traces.

The order of rows in a file has no meaning. Of rows that are ready in the same cycle, the one with
the longest chain of rows to come goes first. Ties go to the first id.

A multicast without hardware support is sent to neighbours, who send copies on to theirs, along a
tree of shortest paths (Bose, Broeg, Kwon & Ashir 1995; Shahrabi, Ould-Khaoua & Mackenzie 2002).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from heapq import heapify, heappop, heappush
from typing import Any, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netloom.base.arrays import Bools, Floats, Ints, distinct, owners_of
from netloom.base.errors import InputError, NoRouteError
from netloom.topology import Cube, Topology
from netloom.topology.measures import check_direct
from netloom.workload.graphs.process_graph import mapped_nodes
from netloom.workload.programs.messages import COLUMNS, Given, Lists, Messages, checked, grouped

# -- trees -----------------------------------------------------------------------------------------


MOST_TEMPLATES = 64
"""Most trees that are kept to be moved from root to root. A torus of two dimensions has eight."""


@dataclass(frozen=True, eq=False)
class Orientation:
    """Which trees of shortest paths: by default the same for every root, along rows first.

    On k-ary n-cubes the root sends along its row both ways, each node of the row along its column
    both ways, and so on through the dimensions, the last first. The farthest node of an even ring
    is reached by growing coordinates. In a k x k torus 2k nodes send no copy on, k² − 3k one, 2 two
    and k − 3 three (Shahrabi et al. 2002, eq. 2). On other networks it is a breadth-first tree over
    the channels of lowest number.
    """

    # On k-ary n-cubes: all dimensions, in the order in which a copy crosses them.
    order: tuple[int, ...] = ()
    # On k-ary n-cubes, for each dimension: whether the node just half-way round a ring is reached
    # by growing coordinates (0) or falling ones (1).
    lean: tuple[int, ...] = ()
    # On other networks, float64[num_channels]: of the channels that could bring a node its copy,
    # the one of least preference does.
    preference: Floats | None = None


ROW_FIRST = Orientation()


class Branches(NamedTuple):
    """The messages of a tree, each to a neighbour. Those that bring a copy before those it becomes.

    ``source``, ``target``: int32[], nodes. ``after``: int32[], the message that brings the copy to
    the source, −1 where the source is the root. ``asked``: bool[], whether the target is one of
    those that the copies are for, or just on the way.
    """

    source: Ints
    target: Ints
    after: Ints
    asked: Bools

    @property
    def leaves(self) -> Bools:
        """Which messages no other waits for: when these have arrived, all have."""
        last = np.ones(len(self.after), bool)
        last[self.after[self.after >= 0]] = False
        return last


class _Spread(NamedTuple):
    """Nodes in the order in which they are reached, and the place of each one's parent."""

    node: Ints  # the root first
    parent: Ints  # −1 for the root


def branches(
    topology: Topology, root: int, targets: Ints | None = None, orientation: Orientation = ROW_FIRST
) -> Branches:
    """Return the messages of a tree, or of the part of it that leads to ``targets``.

    ``targets``: int[], nodes, all by default. The root among them changes nothing. The
    orientation is row-first by default.

    Raises
    ------
    NoRouteError
        If a target is out of reach.

    Examples
    --------
    >>> from netloom.topology import mesh
    >>> part = branches(mesh(3, 3), 4, np.array([0]))
    >>> part.source, part.target, part.after, part.asked
    (array([4, 3], dtype=int32), array([3, 0], dtype=int32), array([-1,  0], dtype=int32),
     array([False,  True]))
    """
    node, parent = _spread(topology, root, orientation)
    if targets is None:
        used = np.arange(1, len(node))
        asked = np.ones(len(node), bool)
    else:
        place = np.full(topology.num_hosts, -1)
        place[node] = np.arange(len(node))
        asked_places = place[targets]
        if len(targets) and asked_places.min() < 0:
            lost = int(targets[int(np.argmin(asked_places))])
            raise NoRouteError(root, lost, "a network in which all targets can be reached")
        asked = np.zeros(len(node), bool)
        asked[asked_places] = True
        needed = np.zeros(len(parent), bool)  # on a way from the root to a place that is asked for
        needed[0] = True
        reached = np.flatnonzero(asked)
        while len(reached):
            needed[reached] = True
            reached = distinct(parent[reached])
            reached = reached[reached >= 0]
            reached = reached[~needed[reached]]
        used = np.flatnonzero(needed[1:]) + 1
    number = np.full(len(node) + 1, -1, np.int32)  # of the message that reaches a place
    number[used] = np.arange(len(used), dtype=np.int32)
    above = parent[used]
    return Branches(node[above], node[used], number[above], asked[used])


def straight(root: int, targets: Ints) -> Branches:
    """Return a message from the root to each of the other targets, in their order.

    Hosts that hang on routers do not forward: there are no neighbours to send copies on.

    Examples
    --------
    >>> straight(4, np.array([3, 4, 7])).target
    array([3, 7], dtype=int32)
    """
    others = targets[targets != root].astype(np.int32)
    count = len(others)
    return Branches(
        np.full(count, root, np.int32), others, np.full(count, -1, np.int32), np.ones(count, bool)
    )


def _spread(topology: Topology, root: int, orientation: Orientation) -> _Spread:
    check_direct(topology, "trees of messages between neighbours", "messages to each target")
    if not isinstance(topology, Cube):
        return _graph_spread(topology, root, orientation)
    along = orientation.order or tuple(reversed(range(len(topology.sides))))
    shape = (topology.sides, topology.wraps, along, orientation.lean or (0,) * len(along))
    at = topology.coordinates(root)
    around = [wrap or side <= 2 for side, wrap in zip(topology.sides, topology.wraps, strict=True)]
    if not all(around):
        return _cube_spread(*shape, at)
    origin = _kept_spread(*shape, (0,) * len(at))  # every node of a torus sees the same
    node = np.zeros(topology.num_hosts, np.int32)
    for place, shift, side in zip(_coordinates(topology.sides), at, topology.sides, strict=True):
        node *= side
        node += (place[origin.node] + shift) % side
    return _Spread(node, origin.parent)


@lru_cache(MOST_TEMPLATES)
def _coordinates(sides: tuple[int, ...]) -> tuple[Ints, ...]:
    """Coordinates of all nodes, dimension by dimension."""
    return tuple(along.ravel() for along in np.indices(sides, np.int32))


def _cube_spread(
    sides: tuple[int, ...],
    wraps: tuple[bool, ...],
    order: tuple[int, ...],
    lean: tuple[int, ...],
    root: tuple[int, ...],
) -> _Spread:
    """A node's parent is one step back in the last dimension that is crossed on the way to it."""
    coordinates = _coordinates(sides)
    number = np.arange(len(coordinates[0]), dtype=np.int32)
    parent = np.full(len(number), -1, np.int32)
    turn = np.zeros(len(number), np.int32)  # which of the dimensions in order is crossed last
    depth = np.zeros(len(number), np.int32)
    for place, axis in enumerate(order):
        side, at, along = sides[axis], root[axis], coordinates[axis]
        offset = along - at
        if wraps[axis]:
            offset %= side
            far = 2 * offset > side - lean[axis]
            offset[far] -= side
        moved = offset != 0
        back = (along - np.sign(offset)) % side
        stride = int(np.prod(sides[axis + 1 :]))
        parent[moved] = (number + (back - along) * stride)[moved]
        turn[moved] = place
        depth += np.abs(offset)
    return _ordered(parent, np.lexsort((number, turn, depth)))


_kept_spread = lru_cache(MOST_TEMPLATES)(_cube_spread)


def _graph_spread(topology: Topology, root: int, orientation: Orientation) -> _Spread:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    source, target = topology.channel_source, topology.channel_target
    shape = (topology.num_hosts, topology.num_hosts)
    links = csr_array((np.ones(topology.num_channels), (source, target)), shape=shape)
    depth = dijkstra(links, indices=np.array([root]), unweighted=True)[0]
    nearer = np.flatnonzero((depth[source] + 1 == depth[target]) & np.isfinite(depth[source]))
    preference = nearer if orientation.preference is None else orientation.preference[nearer]
    best = np.lexsort((preference, target[nearer]))
    reached, which = np.unique(target[nearer][best], return_index=True)
    parent = np.full(topology.num_hosts, -1, np.int32)
    parent[reached] = source[nearer][best][which]
    order = np.argsort(depth, kind="stable")
    return _ordered(parent, order[: len(reached) + 1])


def _ordered(parent: Ints, order: Ints) -> _Spread:
    """Nodes in order, and the places of their parents in it."""
    place = np.full(len(parent) + 1, -1, np.int32)  # one more, for the parent of the root
    place[order] = np.arange(len(order), dtype=np.int32)
    return _Spread(order.astype(np.int32), place[parent[order]])


# -- traces ----------------------------------------------------------------------------------------


Unit: TypeAlias = Literal["cycles", "seconds"]

EVERYONE = -1
"""In place of a target: all tasks but the source."""

MOST_SHOWN = 8
"""Most entries of a circle that an error names."""

TIMES = ("start", "delay", "run", "hold", "receive")
"""The columns of a trace that are times."""

MOST_CYCLES = 2**31 - 1
"""Most cycles of a processor, and most flits of a message: both are int32."""

MOST_START = 2**53
"""Most cycles of a start."""

MOST_CHAIN = 2.0**61
"""Most cycles of all rows together, in which seconds are counted for the order of rows."""

MOST_SECONDS, MOST_LENGTH = 1e9, 2.0**53
"""Most seconds of anything, some 32 years, and most bytes of a message."""


@dataclass(frozen=True, eq=False)
class Trace:
    """What tasks compute and send, entry by entry. No entry waits for a later one.

    An entry is released when all entries that it waits for are complete, and not before
    ``start``. It is ready ``delay`` cycles after that, in which the processor may do other work. It
    takes its task's processor for ``run`` cycles, and is sent then. An entry
    without targets is a computation. One with several is a multicast, sent on from node to node,
    and complete when it has reached all. A processor serves entries in the order in which they
    are released. One that needs none, with ``run`` and ``hold`` 0, does not queue for it, and is
    sent at once even if the processor is busy.

    In seconds, times are float64 and lengths are bytes, float64 too.
    """

    name: str  # the file, or what it was made from
    num_tasks: int  # number of tasks
    ids: tuple[str, ...]  # the name of each entry
    start: NDArray[Any]  # int64[n], the earliest cycle
    # delay, run, hold, receive: int32[n], cycles until the entry is ready, cycles of the source's
    # processor before and after it is sent, and of a target's before it is complete; as in
    # ``messages.Messages``.
    delay: NDArray[Any]
    run: NDArray[Any]
    hold: NDArray[Any]
    receive: NDArray[Any]
    source: Ints  # int32[n], tasks
    flits: NDArray[Any]  # int32[n], length of what is sent to each target
    targets: Lists  # for each entry the tasks that it goes to, or ``EVERYONE``
    after: Lists  # for each entry the entries that it waits for
    # Bytes of a flit, where lengths were given in bytes: then they are how long a cycle is. 1 in
    # seconds.
    flit_bytes: float | None = None
    unit: Unit = "cycles"

    def __len__(self) -> int:
        return len(self.ids)

    def __repr__(self) -> str:
        sent = int(np.count_nonzero(np.diff(self.targets.offsets)))
        return f"<{self.name}: {self.num_tasks} tasks, {sent} messages, {len(self)} entries>"

    def in_seconds(self, cycle_seconds: float, flit_bytes: float) -> Trace:
        """Return the trace in seconds and bytes, given what a cycle and a flit are.

        A trace in seconds is returned as it is.
        """
        if self.unit == "seconds":
            return self
        times = {name: getattr(self, name) * float(cycle_seconds) for name in TIMES}
        flits = self.flits * float(flit_bytes)
        return replace(self, **times, flits=flits, flit_bytes=1, unit="seconds")

    def in_cycles(self, cycle_seconds: float, flit_bytes: float) -> Trace:
        r"""Return the trace in cycles and flits: times to the nearest cycle, whole flits.

        A trace in cycles is returned as it is.

        Raises
        ------
        InputError
            If something takes more cycles, or more flits, than engines of cycles take.

        Examples
        --------
        >>> from tempfile import mkdtemp
        >>> from pathlib import Path
        >>> from netloom.workload.programs.trace_files import read_trace
        >>> file = Path(mkdtemp()) / "one.csv"
        >>> _ = file.write_text("id,time_seconds,source,target,bytes\na,3e-6,0,1,100\n")
        >>> trace = read_trace(file).in_cycles(1e-9, 64)
        >>> trace.start.tolist(), trace.flits.tolist()
        ([3000], [2])
        """
        if self.unit == "cycles":
            return self
        found = {name: np.rint(getattr(self, name) / cycle_seconds) for name in TIMES}
        found["flits"] = np.ceil(self.flits / flit_bytes)
        for name, values in found.items():
            most = MOST_START if name == "start" else MOST_CYCLES
            if (values > most).any():
                row = int(np.argmax(values > most))
                what = "flits" if name == "flits" else "cycles"
                found_there = f"{values[row]:.6g} {what} in entry '{self.ids[row]}'"
                raise InputError(self.name, found_there, f"at most {most}, or engine flow")
        columns = {name: values.astype(COLUMNS[name]) for name, values in found.items()}
        return replace(self, **columns, flit_bytes=flit_bytes, unit="cycles")

    def placed(self, topology: Topology, node_of: ArrayLike, *, flit_time: float = 1.0) -> Replay:
        """Return the program that replays the trace, each task on its node.

        Rows are numbered such that, of those of one cycle, the one that goes first has the lower
        number. It is the row with the longest remaining chain. Ties go to the first id, shorter ids
        before longer ones. A chain adds up a row and the rows that wait for it: computation, a
        cycle for each flit that leaves its node, and receiving. A row that takes no time counts as
        a cycle. In seconds, ``flit_time`` replaces the cycle: the time that a channel takes for a
        byte.

        Multicasts follow the row-first trees of the network. If hosts hang on routers, the
        source sends a message to each target instead. ``node_of``: int[num_tasks or
        more], the node of each task. Several may share one.

        Raises
        ------
        NotAMappingError
            If tasks have no node, or one that is none of the network.

        Examples
        --------
        >>> from netloom.topology import mesh
        >>> from netloom.workload.programs.trace_files import read_trace
        >>> program = read_trace("examples/halo.csv").placed(mesh(8, 8), range(64))
        >>> program
        <examples/halo.csv: 1471 rows>
        """
        import polars as pl

        from netloom.workload.kernels.programs import remaining_chains

        given = np.asarray(node_of)[: self.num_tasks]
        nodes = mapped_nodes(given, self.num_tasks, topology.num_hosts)
        # an entry is a row. A multicast is a row for its computation, then those of its tree
        counts, trees = np.ones(len(self), np.int64), dict[int, Branches]()
        everyone, several = np.unique(nodes), self.targets.lengths > 1
        several[self.targets.owners()[self.targets.values == EVERYONE]] = True
        for entry in np.flatnonzero(several).tolist():
            some, root = self.targets.of(entry), int(nodes[self.source[entry]])
            targets = everyone if some[0] == EVERYONE else np.unique(nodes[some])
            part = branches(topology, root, targets) if topology.direct else straight(root, targets)
            if len(part.source):  # else all of them are on the source's own node
                trees[entry] = part
                counts[entry] += len(part.source)
        begin = np.cumsum(counts) - counts
        # columns of all rows, with those filled in that are the first of an entry
        offsets, tasks = self.targets
        alone = (np.diff(offsets) > 0) & ~np.isin(np.arange(len(self)), list(trees))
        heads = nodes[self.source]
        goals = heads.copy()
        chosen = tasks[offsets[:-1][alone]]
        goals[alone] = np.where(chosen == EVERYONE, heads[alone], nodes[chosen])
        values: dict[str, Any] = {name: getattr(self, name) for name in TIMES} | {
            "source": heads,
            "target": goals,
            "flits": np.where(alone, self.flits, 0),
            "receive": np.where(alone, self.receive, 0),
            "context": -1,
        }
        columns: dict[str, NDArray[Any]] = {}
        for name, value in values.items():
            columns[name] = np.full(counts.sum(), -(name == "context"), _dtype(name, self.unit))
            columns[name][begin] = value
        final = np.ones(len(columns["source"]), bool)  # rows that are the last of their entry
        waits, waited = [], []
        for entry, part in trees.items():
            first = begin[entry] + 1
            rows = slice(first, first + len(part.source))
            columns["source"][rows], columns["target"][rows] = part.source, part.target
            columns["flits"][rows] = self.flits[entry]
            columns["receive"][rows] = self.receive[entry]
            final[begin[entry]], final[rows] = False, part.leaves
            waits.append(np.arange(rows.start, rows.stop))
            waited.append(part.after + first)  # −1, from the root, is the row of the computation
        owner = owners_of(counts)
        completing = grouped(owner[final], np.flatnonzero(final), len(self)).taken(
            self.after.values
        )
        waits.append(begin[self.after.owners()][completing.owners()])
        waited.append(completing.values)
        after = grouped(np.concatenate(waits), np.concatenate(waited), len(owner))
        # Messages that stay inside nodes arrive at once. A row without flits sends nothing, and its
        # target's processor still takes it.
        source, target, flits = (columns[name] for name in ("source", "target", "flits"))
        stays = ~topology.crosses(source, target)
        sent, kept = float(flits.sum()), float(flits[stays].sum())
        flits[stays & (source != target)] = 0
        # What each row takes at least, itself at least a cycle: the time of a flit. What a row
        # waits for has a longer remaining chain than the row, and so a lower number.
        delay, run, receive = (columns[name] + 0.0 for name in ("delay", "run", "receive"))
        least = delay + run + np.where(source != target, flits, 0) * flit_time + receive
        cycle = max(flit_time, float(least.sum()) / MOST_CHAIN)
        chains = np.zeros(len(least), np.int64)
        remaining_chains(np.maximum(np.rint(least / cycle), 1).astype(np.int64), *after, chains)
        names = pl.Series("id", self.ids, dtype=pl.String)
        by_name = pl.DataFrame({"length": names.str.len_chars(), "id": names}).select(
            pl.arg_sort_by("length", "id", maintain_order=True)
        )
        rank = np.argsort(by_name.to_series().to_numpy())
        turn = np.lexsort((rank[owner], -chains))
        place, waiting = np.argsort(turn), after.taken(turn)
        table = Messages(
            num_nodes=topology.num_hosts,
            first=0,
            **{name: values[turn] for name, values in columns.items()},
            after_offsets=waiting.offsets,
            after=place[waiting.values],
        )
        return Replay(checked(table), self, owner[turn], kept / sent if sent else 0.0)


def message_trace(
    name: str,
    num_tasks: int,
    ids: Iterable[str],
    source: Ints,
    target: Ints,
    size_bytes: Floats,
    after: Lists,
    *,
    start: ArrayLike = 0.0,
    work: float = 0.0,
) -> Trace:
    """Return a trace in seconds of messages with one target each, in the order of ``after``.

    ``work``: seconds that a message takes the processors at its ends.
    """
    count = len(source)
    begin, each = (np.array(np.broadcast_to(time, count), np.float64) for time in (start, work))
    targets = Lists(np.arange(count + 1), target.astype(np.int64))
    none = np.zeros(count)
    columns = begin, none, each, none, each, source, size_bytes, targets, after
    return Trace(name, num_tasks, tuple(ids), *columns, flit_bytes=1, unit="seconds")


@dataclass(frozen=True, eq=False, repr=False)
class Replay(Given):
    """A program that is known from the beginning: a trace on the nodes of a network."""

    trace: Trace  # what is replayed
    # int64[num_rows], the entry of the trace that each row belongs to; a multicast has many.
    entry: Ints
    inside_nodes: float = 0.0  # the share of what is sent that stays inside nodes

    def __repr__(self) -> str:
        return f"<{self.trace.name}: {len(self.messages)} rows>"


def ordered_trace(
    name: str,
    num_tasks: int,
    ids: list[str],
    columns: dict[str, NDArray[Any]],
    targets: Lists,
    after: Lists,
    where: Callable[[int], str],
    *,
    flit_bytes: int | None = None,
    unit: Unit = "cycles",
) -> Trace:
    """Return a trace from entries in any order: each comes after those that it waits for.

    Entries that already do stay where they are. Of those that could come next, the first does.

    ``after`` may point anywhere. ``columns`` are source, flits, and those of ``TIMES`` that are not
    0; ``where`` names the place of an entry, as the user would look for it.

    Raises
    ------
    InputError
        If entries wait for each other in a circle. It is printed.
    """
    order = _dependence_order(after)
    if len(order) < len(ids):
        circle = _circle(after, order)
        shown = [ids[entry] for entry in [*circle, circle[0]]]
        if len(shown) > MOST_SHOWN:
            shown[MOST_SHOWN - 2 : -1] = [f"… {len(shown) - MOST_SHOWN + 1} more"]
        found = f"a circle of entries that each wait for the next: {' -> '.join(shown)}"
        raise InputError(where(circle[0]), found, "dependences that end somewhere")
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    waited, columns = after.taken(order), dict.fromkeys(TIMES, np.zeros(len(order))) | columns
    return Trace(
        name,
        num_tasks,
        tuple(ids[entry] for entry in order.tolist()),
        **{name: values[order].astype(_dtype(name, unit)) for name, values in columns.items()},
        targets=targets.taken(order),
        after=Lists(waited.offsets, place[waited.values]),
        flit_bytes=flit_bytes,
        unit=unit,
    )


def _dtype(column: str, unit: Unit) -> type:
    """The dtype of a column of a trace, or of its messages."""
    measured = unit == "seconds" and column in (*TIMES, "flits")
    return np.float64 if measured else COLUMNS[column]


def _dependence_order(after: Lists) -> Ints:
    """Entries such that each comes after all that it waits for. Those in circles are missing."""
    count = len(after.offsets) - 1
    waiter = after.owners()
    if np.all(after.values < waiter):
        return np.arange(count)
    begins, waiters = (each.tolist() for each in grouped(after.values, waiter, count))
    missing = np.diff(after.offsets).tolist()
    free = [entry for entry, waits in enumerate(missing) if not waits]
    heapify(free)
    order = []
    while free:
        entry = heappop(free)
        order.append(entry)
        for other in waiters[begins[entry] : begins[entry + 1]]:
            missing[other] -= 1
            if not missing[other]:
                heappush(free, other)
    return np.array(order, np.int64)


def _circle(after: Lists, order: Ints) -> list[int]:
    """Entries that are not in ``order``, each waiting for the next, the last for the first."""
    stuck = np.ones(len(after.offsets) - 1, bool)
    stuck[order] = False
    way = [int(np.argmax(stuck))]
    seen = {}
    while way[-1] not in seen:
        seen[way[-1]] = len(way) - 1
        waited = after.of(way[-1])
        way.append(int(waited[stuck[waited]][0]))
    circle = way[seen[way[-1]] : -1]
    first = circle.index(min(circle))
    return circle[first:] + circle[:first]
