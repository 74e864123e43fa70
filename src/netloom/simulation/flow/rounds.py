"""Programs of rounds on the flow engine: rounds that repeat are recognized, not run again.

Hosts wait for their neighbours: rounds overlap, and a host may be ahead of another. The state of
the engine is compared whenever the first message of the latest round is complete. If it equals,
relative to the time, the state some rounds ago, the run repeats itself: the same rounds follow, and
the engine is a function of its state. So the run continues after the last whole period. Periods are
found by Brent's algorithm (BIT 20, 1980), which keeps one state and replaces it at powers of two.
If no two messages can meet on a link, no engine is needed. A host's next round then begins when the
last of the messages that it waits for has arrived, each in the time that it takes alone. Periods
are found in the same way.

An engine that forgets keeps the rows of a program that goes on from the oldest that is not
complete. Rows, classes and times count from the first that are kept, so that numbers stay small and
times precise however long a run is, and two moments can be compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, lcm
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints, Records
from netloom.base.errors import InputError
from netloom.routing import Routing
from netloom.simulation.agenda import TIMES
from netloom.simulation.flow.engine import FAIR, ROUNDING, FlowEngine, FlowLaw
from netloom.simulation.flow.network import MOST_SHARES, WHOLE, FlowNetwork, Ways, ways_of
from netloom.workload.programs.rounds import Frontier, Round, RoundProgram, table_of


@dataclass(frozen=True, eq=False)
class RoundsRun:
    """When a program of rounds was over.

    Attributes
    ----------
    finish
        When the last message was complete.
    num_rounds, num_run
        Rounds of the whole program, and those that were run. The others repeat what was run.
    link_sizes
        float64[num_links], what has crossed each link in all.
    """

    finish: float
    num_rounds: int
    num_run: int
    link_sizes: Floats

    def __repr__(self) -> str:
        rounds = f"{self.num_rounds} rounds, {self.num_run} of them run"
        return f"<{rounds}, finished at {self.finish:.6g}>"


class Log:
    """When rounds that were run were over, in their order, and how far all have come."""

    def __init__(self) -> None:
        self.ended: list[float] = []  # -inf: it has no messages
        self.finish = 0.0
        self.next = 0  # the number of the next round

    def add(self, *ended: float) -> None:
        """Note the next rounds."""
        self.ended += ended
        self.finish = max(self.finish, *ended)
        self.next += len(ended)

    def skip(self, count: int, period: int, time: float) -> None:
        """Note that the next rounds repeat the last ``period``, each time ``time`` later."""
        if count:
            later = count // period * time
            self.finish = max(self.finish, *(end + later for end in self.ended[-period:]))
            self.next += count


FITS = 1 + 1e-12
"""Flows fit on a link if they need no more than this of it, but for rounding."""


class Survey:
    """What is known of the rounds of a program.

    A host begins its messages of a round when those of the one before are complete. So those on a
    link at a time are, of each host, of one round only. If hosts fit on all links with the most
    that each needs in any round, no message slows another down.

    Attributes
    ----------
    link_sizes
        float64[num_links], what crosses each link in all.
    ahead
        For an entry of ``rounds`` (−1: before all of them), the last entry in which one of its
        hosts sends for the first time afterwards. Rounds up to that one must begin with it.
    num_rounds
        Of the whole program.
    apart
        Whether no two messages ever slow each other down.

    Raises
    ------
    NoRouteError
        If the routing has no path for a message.
    """

    def __init__(
        self, network: FlowNetwork, routing: Routing, program: RoundProgram, law: FlowLaw
    ) -> None:
        self.network, self.routing, self.law = network, routing, law
        self.link_sizes = np.zeros(network.num_links)
        self.ahead: dict[int, int] = {}
        self.num_rounds, self.apart = 0, True
        self._whole = 1
        self._pairs: Ints | None = None
        self._last: tuple[Ways, Ints]
        self._key = np.zeros(0, np.int64)  # host and link
        self._rate = np.zeros(0)  # the most that the host's flows need of it in any round
        last = np.full(program.num_hosts, -1)
        ways, sent = None, np.zeros(0)  # the latest ways, and what each carries
        for index, one in enumerate(program):
            self.num_rounds += one.count
            known, path = self.ways_of(one)
            if known is not ways:
                self._add(ways, sent)
                ways, sent = known, np.zeros(len(known))
                self.apart = self.apart and self._fits(known, one.source[path >= 0])
            sent += one.bytes[path >= 0] * one.count
            for before in np.flatnonzero(np.bincount(last[one.source] + 1)) - 1:
                if before < index - 1:
                    self.ahead[int(before)] = index
            last[one.source] = index
            last[one.target] = index
        self._add(ways, sent)
        self._pairs = None  # ways so far may be in fewer shares

    def ways_of(self, one: Round) -> tuple[Ways, Ints]:
        """Return the ways of a round's messages, and the way of each; -1 for one that has none.

        The ways are the same object as of the round before if they are the same, in shares that
        suffice for all rounds so far.
        """
        pairs = np.where(one.moving, one.source * np.int64(2**31) + one.target, -1)
        if self._pairs is None or not np.array_equal(pairs, self._pairs):
            uses = np.flatnonzero(pairs >= 0)
            path = np.full(len(one), -1, np.int64)
            path[uses] = np.arange(len(uses))
            ways = ways_of(self.network, self.routing, one.source[uses], one.target[uses])
            common = lcm(self._whole, ways.whole)
            self._whole = common if common <= MOST_SHARES else WHOLE
            self._last, self._pairs = (ways.in_shares(self._whole), path), pairs
        return self._last

    def _add(self, ways: Ways | None, sent: Floats) -> None:
        """Add what crossed some ways to the links."""
        if ways is not None:
            hops = np.repeat(sent, np.diff(ways.offsets)) * ways.shares / ways.whole
            self.link_sizes += np.bincount(ways.links, hops, len(self.link_sizes))

    def _fits(self, ways: Ways, source: Ints) -> bool:
        """Return whether the rounds so far and this one fit."""
        if self.law.in_order and np.bincount(source).max(initial=0) > 1:
            return False  # they wait for each other
        capacity = self.network.capacity
        count = np.diff(ways.offsets)
        hops = np.repeat(ways.capacity(capacity), count) * ways.shares / ways.whole
        key = np.repeat(source, count) * np.int64(len(capacity)) + ways.links
        alone, place = np.unique(key, return_inverse=True)
        rate = np.bincount(place, hops, len(alone))
        self._key, place = np.unique(np.append(self._key, alone), return_inverse=True)
        most = np.zeros(len(self._key))
        np.maximum.at(most, place, np.append(self._rate, rate))
        self._rate = most
        need = np.bincount(self._key % len(capacity), most, len(capacity))
        return bool((need <= capacity * FITS).all())


class Moment(NamedTuple):
    """All that the future of a run depends on, relative to its time.

    ``numbers``: how far rows have come, and what is next. ``times``: when things happen next, and
    since when rows have been ready. ``parts``: the part of each size that is left.
    """

    numbers: Ints
    times: Floats
    parts: Floats

    def is_like(self, other: Moment, elapsed: float) -> bool:
        """Return whether two moments are the same but for rounding.

        Times may differ by ``ROUNDING`` of the time ``elapsed`` between them.
        """
        return (
            np.array_equal(self.numbers, other.numbers)
            and len(self.times) == len(other.times)
            and len(self.parts) == len(other.parts)
            and bool((np.abs(self.times - other.times) <= ROUNDING * elapsed).all())
            and bool((np.abs(self.parts - other.parts) <= ROUNDING).all())
        )


class Window(FlowEngine):
    """A flow engine whose first rows and classes can be dropped."""

    def moment(self, first: int, base: int) -> Moment:
        """Return what the future depends on, rows that will be appended aside.

        ``first``: the first row that counts, all before are complete. ``base``: its first class.
        """
        state, rows, now = self.state, self.rows[first:], self.time
        stage = sum((rows[name] >= 0).astype(np.int64) for name in TIMES)
        waits = (rows["sent"] >= 0) & (rows["entered"] < 0)
        moves = (rows["entered"] >= 0) & (rows["arrived"] < 0)
        open_ = rows["complete"] < 0
        queues, events = state.queues, self._events()
        owner = state.classes[rows["path"][moves]]
        served = owner["served"] + owner["speed"] * (now - owner["since"])
        return Moment(
            numbers=np.concatenate([
                stage, rows["pending"], np.where(open_, rows["path"] - base, -1),
                np.where(waits, rows["right"] - first, -1),
                np.maximum(queues["head"] - first, -1),
                np.where(queues["head"] >= 0, queues["tail"] - first, -1), queues["busy"],
                events["item"] - (first << 3),
            ]),
            times=np.concatenate([
                events["key"] - now, np.maximum(state.hosts["free"] - now, 0),
                np.where(waits, np.maximum(rows["sent"] + rows["latency"] - now, 0), 0),
                np.where(rows["ready"] >= 0, now - rows["ready"], 0),
            ]),
            parts=np.append(
                (rows["goal"][moves] - served) / rows["flits"][moves],
                np.where(open_, rows["flits"], 0),
            ),
        )  # fmt: skip

    def _events(self) -> Records:
        """All events in their order."""
        state = self.state
        events = state.events[: int(state.clock["events"][0])]
        return events[np.lexsort((events["item"], events["key"]))]

    def forget(self, rows: int, classes: int, earlier: float) -> None:
        """Drop the first rows, all complete, and the first classes. Set all times back.

        The classes must be of dropped rows only. ``earlier``: at most the first time of those kept.
        """
        state, clock = self.state, self.state.clock
        assert (self.rows["complete"][:rows] >= 0).all()
        events = self._events()
        events["key"] -= earlier
        events["item"] -= rows << 3
        state.events[: len(events)] = events
        state.hosts["free"] -= earlier
        for name in ("head", "tail"):
            _less(state.queues, name, rows)
        clock["completed"] -= rows
        clock["time"] -= earlier
        clock["horizon"] -= earlier
        _less(state.classes, "flow", rows)
        for name in ("key", "since"):
            state.classes[name] -= earlier
        edge = int(np.searchsorted(state.edge_row[: self._num_edges], rows))
        more = self._num_edges - edge
        state.edge_row[:more] = state.edge_row[edge : self._num_edges] - rows
        state.edge_next[:more] = np.maximum(state.edge_next[edge : self._num_edges] - edge, -1)
        self._num_edges = more
        kept = self.rows[rows:].copy()
        state.rows[len(kept) : self.num_rows] = np.zeros(1, state.rows.dtype)
        self.num_rows = len(kept)
        for name in TIMES:
            kept[name] -= np.where(kept[name] >= 0, earlier, 0.0)
        kept["start"] = np.maximum(kept["start"] - earlier, 0)
        for name, less in (
            ("left", rows), ("right", rows), ("last", rows), ("waiters", edge), ("path", classes)
        ):  # fmt: skip
            _less(kept, name, less)
        state.rows[: len(kept)] = kept
        if classes:
            self._forget_classes(classes)
        # times set back may be equal that were not, and classes end in the order of both
        near = int(clock["near"][0])
        ends = np.sort(self.state.near[:near])
        ends = ends[np.argsort(self.state.classes["key"][ends], kind="stable")]
        self.state.near[:near] = ends
        self.state.classes["place"][ends] = np.arange(near)

    def _forget_classes(self, count: int) -> None:
        state = self.state
        hops = int(state.classes["hops"][:count].sum(dtype=np.int64))
        state.entries["owner"] -= count
        state.entries["hop"] -= hops
        near, far = int(state.clock["near"][0]), int(state.clock["far"][0])
        state.near[:near] -= count
        state.far[:far] -= count
        classes = state.classes[count:].copy()
        classes["first"] -= hops
        self.latency, self.queue = self.latency[count:].copy(), self.queue[count:].copy()
        self.state = state._replace(
            classes=classes,
            hop_link=state.hop_link[hops:].copy(),
            hop_share=state.hop_share[hops:].copy(),
            hop_place=state.hop_place[hops:].copy(),
        )


def _less(records: Records, name: str, count: int) -> None:
    """Let numbers count from another on. Those before are none."""
    records[name] = np.where(records[name] >= count, records[name] - count, -1)


MOST_WAITING = 2**22
"""Most messages of rounds that have begun and are not over, where rounds overlap."""


class _Begun(NamedTuple):
    """A round that has begun: its first row, how many it has, and the class of its first way."""

    first: int
    rows: int
    base: int


class Overlapping:
    """Rounds that wait for neighbours, on an engine that knows those that are not over.

    The next round has to begin before a host could send in it: when the first message of the latest
    is complete. Earlier for hosts that skip rounds, as ``Survey.ahead`` says.
    """

    def __init__(
        self, network: FlowNetwork, program: RoundProgram, found: Survey, overhead: float
    ) -> None:
        self.program, self.found, self.overhead = program, found, overhead
        self.window = Window(network, found.law)
        self.frontier = Frontier(program.num_hosts)
        self.log = Log()
        self._begun: list[_Begun] = []
        self._over = 0  # rounds of these, from the first, that are over
        self._origin = 0.0  # when the window's times begin
        self._ways: Ways | None = None
        self._base = 0  # the class of the first of them

    def run(self, tell: Callable[[int], None]) -> Log:
        """Run all rounds."""
        until = self.found.ahead.get(-1, 0)
        for index, one in enumerate(self.program):
            left, period = one.count, _Period()
            while left:
                self._begin(one)
                left -= 1
                if not left:
                    until = max(until, self.found.ahead.get(index, 0))
                if index < until or not len(one):
                    continue
                self.window.advance(watch=self._begun[-1].first)
                self._note()
                period.passed += self._forget(repeats=left > 0)
                kept = self._begun[self._over :]
                oldest = kept[0] if kept else _Begun(self.window.num_rows, 0, self._base)
                if left and period.found(self.window, oldest.first, oldest.base):
                    times = (left - 1) // period.length  # at least one is left
                    self.log.skip(times * period.length, period.length, period.time)
                    self._origin += times * period.time
                    left -= times * period.length
                    period = _Period()
                tell(self.log.next)
        self.window.advance()
        self._note()
        assert self._over == len(self._begun)
        return self.log

    def _begin(self, one: Round) -> None:
        """Let the engine know the next round."""
        window, first = self.window, self.window.num_rows
        if first and first + len(one) > MOST_WAITING:
            many = f"{first + len(one)} messages of rounds that overlap"
            wanted = f"at most {MOST_WAITING}: some hosts are far ahead of others"
            raise InputError(f"round {self.log.next + len(self._begun)}", many, wanted)
        if len(one):
            ways, path = self.found.ways_of(one)
            if ways is not self._ways:
                self._ways, self._base = ways, window.add_ways(ways)
            waits = self.frontier.follow(one, first)
            table = table_of(self.program.num_hosts, [one], [waits], self.overhead, first=first)
            window.append(table, np.where(path >= 0, path + self._base, -1))
        self._begun.append(_Begun(first, len(one), self._base))

    def _note(self) -> None:
        """Note when rounds that are over ended."""
        rows = self.window.rows
        for each in self._begun[self._over :]:
            mine = rows[each.first : each.first + each.rows]
            if each.rows and mine["complete"].min() < 0:
                break
            self.log.add(self._origin + float(mine["complete"].max(initial=-inf)))
            self._over += 1

    def _forget(self, *, repeats: bool) -> float:
        """Forget rounds that are over once they are most. Return by how much times were set back.

        Unless the latest round ``repeats``, times stay as they are: then they are rounded as they
        would be if nothing was forgotten.
        """
        if 2 * self._over < len(self._begun):
            return 0.0
        rows, kept = self.window.rows, self._begun[self._over :]
        count = kept[0].first if kept else len(rows)
        classes = min([each.base for each in kept], default=self._base)
        ready = rows["ready"][count:]
        earlier = float(ready[ready >= 0].min(initial=self.window.time)) if repeats else 0.0
        self.window.forget(count, classes, earlier)
        self.frontier.forget(count)
        self._base -= classes
        self._begun = [_Begun(each.first - count, each.rows, each.base - classes) for each in kept]
        self._over = 0
        self._origin += earlier
        return earlier


class _Period:
    """The search for two moments that are alike (Brent 1980)."""

    def __init__(self) -> None:
        self.passed = 0.0  # by how much times were set back since the moment that is kept
        self.length, self.time = 0, 0.0
        self._power = 1
        self._kept: Moment | None = None
        self._outline = (0, 0, 0)
        self._at = 0.0

    def found(self, window: Window, first: int, base: int) -> bool:
        """Return whether this moment is like the kept one, ``length`` rounds and ``time`` ago.

        ``first``, ``base``: the first row and class of what is not over.
        """
        self.length += 1
        self.time = self.passed + window.time - self._at
        events = int(window.state.clock["events"][0])
        outline = window.num_rows - first, events, window.active  # of moments that are alike, too
        if (
            self._kept is not None
            and outline == self._outline
            and window.moment(first, base).is_like(self._kept, self.time)
        ):
            return True
        if self._kept is None or self.length == self._power:
            self._power *= 1 if self._kept is None else 2
            self._kept, self._outline = window.moment(first, base), outline
            self._at, self.passed, self.length = window.time, 0.0, 0
        return False


def run_rounds(
    network: FlowNetwork,
    routing: Routing,
    program: RoundProgram,
    law: FlowLaw = FAIR,
    *,
    overhead: float = 0.0,
    tell: Callable[[int], None] = lambda _: None,
) -> RoundsRun:
    """Run a program of rounds as flows that share links max-min fairly.

    The answer is that of ``run_flows`` with all messages as a table (``as_messages``), but for
    rounding. Memory is needed for rounds that overlap, not for all. Rounding errors grow in a long
    series of different rounds if hosts wait for neighbours and share links. A size changed by 1e-15
    of itself may change a finish by percents after about 60 rounds. Rounds that are not repeated
    are rounded as in a table.

    Parameters
    ----------
    network, routing
        The links, in units of bytes, and the routing of whose paths they are part.
    program
        The rounds.
    law
        How flows share the links: max-min.
    overhead
        Time that the processor of each end takes for a message that uses the network.
    tell
        Told now and then how many rounds are over.

    Raises
    ------
    NoRouteError
        If the routing has no path for a message.
    InputError
        If an argument cannot be used, or hosts get so far ahead of others that the messages between
        do not fit into memory.

    Examples
    --------
    >>> from netloom.routing import DModK
    >>> from netloom.simulation.flow import flow_network
    >>> from netloom.topology import topology
    >>> from netloom.workload.programs.rounds import RoundProgram, exchange
    >>> network = flow_network(topology("leaf-spine:2x1x2"), bandwidth=1e9, latency=1e-6)
    >>> hosts = np.arange(4)
    >>> ring = exchange(hosts, (hosts + 1) % 4, 1e6, count=1000)
    >>> run_rounds(network, DModK(), RoundProgram(4, [ring]))
    <1000 rounds, 1 of them run, finished at 1.004>
    """
    if not 0 <= overhead < np.inf:
        raise InputError("overhead", f"{overhead:g}", "a time of at least 0")
    if program.num_hosts > network.topology.num_hosts:
        many = f"{program.num_hosts} hosts on {network.topology.num_hosts}"
        raise InputError("rounds", many, "at most as many as the network has")
    found = Survey(network, routing, program, law)
    if found.apart and overhead == 0:
        log = _apart(network, program, found, tell)
    else:
        log = Overlapping(network, program, found, overhead).run(tell)
    return RoundsRun(log.finish, found.num_rounds, len(log.ended), found.link_sizes)


def _apart(
    network: FlowNetwork, program: RoundProgram, found: Survey, tell: Callable[[int], None]
) -> Log:
    """Run rounds whose messages never meet: each takes the time that it takes alone."""
    from netloom.simulation.flow.kernels.flows import follow

    log, origin, last = Log(), 0.0, None
    ready = np.zeros(program.num_hosts)  # from ``origin`` on
    later, kept = np.empty_like(ready), np.empty_like(ready)
    for one in program:
        if not len(one):
            log.add(-inf)
            log.skip(one.count - 1, 1, 0.0)
            continue
        ways, path = found.ways_of(one)
        if ways is not last:
            last, rate = ways, ways.capacity(network.capacity)
        cost, uses = np.zeros(len(one)), path >= 0
        cost[uses] = ways.latency + one.bytes[uses] / rate
        taking = np.zeros(len(ready), np.bool_)
        taking[one.source] = taking[one.target] = True
        hosts = np.flatnonzero(taking)
        left = one.count
        while left:
            ended, elapsed = np.zeros(left), np.zeros(2)
            back = ready[hosts].min()
            ready -= back
            origin += back
            done, period = follow(
                ready, later, kept, hosts, one.source, one.target, cost, ROUNDING, ended, elapsed
            )
            log.add(*(origin + ended[:done]).tolist())
            left -= done
            skipped = left // period * period if period else 0
            time = float(elapsed[1])
            log.skip(skipped, period, time)
            left -= skipped
            passed = elapsed[0] + (skipped // period * time if skipped else 0.0)
            ready[~taking] -= passed
            origin += passed
            tell(log.next)
    return log
