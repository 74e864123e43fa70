"""Programs of rounds on the flow engine: rounds that repeat are recognised, not run again.

Rounds with a barrier do not depend on each other: each different one is run once. If hosts wait for
their neighbours, rounds overlap, and a host may be ahead of another. The state of the engine is
looked at whenever the first message of the latest round is complete. If that is what it was some
rounds ago, relative to the time, everything goes on as it did: the same rounds follow, and the
engine is a function of its state. So the run goes on after the last whole period (periods are
looked for as Brent, BIT 20, 1980, does: against one state that is kept, at powers of two).
If no two messages can meet on a link, a round adds to each host's time what the messages that it
waits for take alone, and takes the latest: no engine is needed, and the same holds.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from netloom.errors import InputError
from netloom.simulation.flow.engine import ROUNDING
from netloom.simulation.flow.round_ways import Survey, survey
from netloom.simulation.flow.window import Window
from netloom.workload.programs.messages import Messages
from netloom.workload.programs.round_programs import Frontier

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

    from netloom.routing import Routing
    from netloom.simulation.flow.network import FlowNetwork
    from netloom.simulation.flow.ways import Ways
    from netloom.simulation.flow.window import Moment
    from netloom.workload.programs.round_programs import Round, RoundProgram

MOST_WAITING = 2**22
"""Most messages of rounds that have begun and are not over, where rounds overlap."""


@dataclass(frozen=True)
class Repeat:
    """Rounds that were not run because they are as those before, later.

    ``first``: the number of the first; ``count``: how many; ``period``: rounds after which
    everything is the same, ``time`` later.
    """

    first: int
    count: int
    period: int
    time: float


@dataclass(frozen=True, eq=False)
class RoundsRun:
    """When rounds began and were over.

    Attributes
    ----------
    number
        int64[n], the rounds that were run, by number from 0 on; the others are ``repeats``.
    began, ended
        float64[n], when the first of their messages was ready to be sent, and when the last was
        complete. NaN for a round without messages.
    repeats
        The rounds that were not run.
    finish
        When the last message was complete.
    num_rounds, num_messages
        Of the whole program.
    link_sizes
        float64[num_links], what has crossed each link in all.
    capacity
        float64[num_links], of the network.
    """

    number: NDArray[np.int64]
    began: NDArray[np.float64]
    ended: NDArray[np.float64]
    repeats: tuple[Repeat, ...]
    finish: float
    num_rounds: int
    num_messages: int
    link_sizes: NDArray[np.float64]
    capacity: NDArray[np.float64]

    def when(self, number: int) -> tuple[float, float]:
        """Return when a round began and was over, whether it was run or not."""
        later = 0.0
        for each in self.repeats:
            place = number - each.first
            if 0 <= place < each.count:
                times, within = divmod(place, each.period)
                number, later = each.first - each.period + within, (times + 1) * each.time
        place = int(np.searchsorted(self.number, number))
        if not (place < len(self.number) and self.number[place] == number):
            raise InputError("round", f"{number}", f"0 to {self.num_rounds - 1}")
        return float(self.began[place] + later), float(self.ended[place] + later)

    def busiest(self, count: int = 10) -> NDArray[np.int64]:
        """Return the links that take longest to move what crosses them, the busiest first."""
        order = np.argsort(-self.link_sizes / self.capacity, kind="stable")
        return order[:count]

    def __repr__(self) -> str:
        rounds = f"{self.num_rounds} rounds, {len(self.number)} of them run"
        return f"<{rounds}, finished at {self.finish:.6g}>"


def run_rounds(
    network: FlowNetwork,
    routing: Routing,
    program: RoundProgram,
    *,
    overhead: float = 0.0,
    injection: Literal["in-order", "shared"] = "in-order",
    tell: Callable[[int], None] = lambda _: None,
) -> RoundsRun:
    """Run a program of rounds as flows that share links max-min fairly.

    The answer is that of ``run_flows`` with all messages as a table (``as_messages``), but for
    rounding. Memory is needed for rounds that overlap, not for all. Of many different rounds in a
    row where hosts wait for neighbours and share links, rounding decides: a change of a size by 1
    in 1e15 may change a finish by percents after some sixty rounds. Rounds that are not repeated
    are rounded as in a table.

    Parameters
    ----------
    network, routing
        The links, in units of bytes, and the routing of whose paths they are part.
    program
        The rounds.
    overhead
        Time that the processor of each end takes for a message that uses the network.
    injection
        As in ``run_flows``.
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
    >>> from netloom.workload.programs.round_programs import exchange, round_program
    >>> network = flow_network(topology("leaf-spine:2x1x2"), bandwidth=1e9, latency=1e-6)
    >>> hosts = np.arange(4)
    >>> ring = exchange(hosts, (hosts + 1) % 4, 1e6, count=1000)
    >>> run_rounds(network, DModK(), round_program(4, [ring]))
    <1000 rounds, 1 of them run, finished at 1.004>
    >>> run_rounds(network, DModK(), round_program(4, [ring], order="neighbours"))
    <1000 rounds, 1 of them run, finished at 1.004>
    """
    if injection not in ("in-order", "shared"):
        raise InputError("injection", f"'{injection}'", "in-order or shared")
    if not 0 <= overhead < np.inf:
        raise InputError("overhead", f"{overhead:g}", "a time of at least 0")
    if program.num_hosts > network.topology.num_hosts:
        many = f"{program.num_hosts} hosts on {network.topology.num_hosts}"
        raise InputError("rounds", many, "at most as many as the network has")
    found = survey(network, routing, program, in_order=injection == "in-order")
    if program.order == "barrier":
        log = _with_barriers(network, program, found, overhead, tell)
    elif found.apart and overhead == 0:
        log = _apart(network, program, found, tell)
    else:
        log = _Overlapping(network, program, found, overhead).run(tell)
    return log.run(program, found, network)


class _Log:
    """What is written down of rounds as they are run."""

    def __init__(self) -> None:
        self.number: list[NDArray[np.int64]] = []
        self.began: list[NDArray[np.float64]] = []
        self.ended: list[NDArray[np.float64]] = []
        self.repeats: list[Repeat] = []
        self.next = 0  # the number of the next round

    def add(self, began: NDArray[np.float64], ended: NDArray[np.float64]) -> None:
        """Note the next rounds."""
        self.number.append(self.next + np.arange(len(began)))
        self.began.append(began)
        self.ended.append(ended)
        self.next += len(began)

    def skip(self, count: int, period: int, time: float) -> None:
        """Note that the next rounds are as those before."""
        if count:
            self.repeats.append(Repeat(self.next, count, period, time))
            self.next += count

    def run(self, program: RoundProgram, found: Survey, network: FlowNetwork) -> RoundsRun:
        """Return all that was noted."""
        none = np.zeros(0)
        number = np.concatenate([none.astype(np.int64), *self.number])
        ended = np.concatenate([none, *self.ended])
        finish = np.nanmax(ended, initial=0.0)
        for each in self.repeats:
            first, last = np.searchsorted(number, [each.first - each.period, each.first])
            rest = ended[first:last] + each.count // each.period * each.time
            finish = np.nanmax(rest, initial=finish)
        return RoundsRun(
            number,
            np.concatenate([none, *self.began]),
            ended,
            tuple(self.repeats),
            float(finish),
            program.num_rounds,
            program.num_messages,
            found.link_sizes,
            network.capacity,
        )


def _table(one: Round, overhead: float) -> Messages:
    """Return the rows of a round, which wait for nothing."""
    nothing = np.zeros(len(one))
    work = one.moving * overhead
    hosts = int(max(one.source.max(initial=0), one.target.max(initial=0))) + 1
    return Messages(
        hosts,
        0,
        start=nothing,
        delay=nothing,
        run=work,
        source=one.source,
        target=one.target,
        flits=one.bytes,
        hold=nothing,
        receive=work,
        context=np.full(len(one), -1, np.int32),
        after_offsets=np.zeros(len(one) + 1, np.int64),
        after=np.zeros(0, np.int64),
    )


def _with_barriers(
    network: FlowNetwork,
    program: RoundProgram,
    found: Survey,
    overhead: float,
    tell: Callable[[int], None],
) -> _Log:
    """Run each different round once."""
    log, known, time = _Log(), dict[bytes, float](), 0.0
    for one in program:
        name = _name(one)
        if name not in known:
            known[name] = _alone(network, one, found, overhead) if len(one) else 0.0
        length = known[name]
        log.add(np.array([time]), np.array([time + length]))
        log.skip(one.count - 1, 1, length)
        time += one.count * length
        tell(log.next)
    return log


def _name(one: Round) -> bytes:
    """Return what a round has in common with those alone that are equal to it."""
    from hashlib import blake2b

    name = blake2b(digest_size=16)
    for column in (one.source, one.target, one.bytes):
        name.update(column.tobytes())
    return name.digest()


def _alone(network: FlowNetwork, one: Round, found: Survey, overhead: float) -> float:
    """Return how long a round takes that begins when the network is empty."""
    window = Window(network, in_order=found.in_order)
    ways, path = found.ways_of(one)
    window.append(_table(one, overhead), ways, path)
    window.advance()
    rows = window.rows["complete"]
    assert rows.min() >= 0
    return float(rows.max())


def _apart(
    network: FlowNetwork, program: RoundProgram, found: Survey, tell: Callable[[int], None]
) -> _Log:
    """Run rounds whose messages never meet: each takes the time that it takes alone."""
    from netloom.simulation.flow.kernels.rounds import follow

    log, origin = _Log(), 0.0
    ready = np.zeros(program.num_hosts)  # from ``origin`` on
    later, kept = np.empty_like(ready), np.empty_like(ready)
    for one in program:
        if not len(one):
            log.add(np.full(1, np.nan), np.full(1, np.nan))
            log.skip(one.count - 1, 1, 0.0)
            continue
        cost = _costs(network, one, found)
        hosts = np.unique(np.concatenate([one.source, one.target]))
        left = one.count
        while left:
            began, ended, elapsed = np.zeros(left), np.zeros(left), np.zeros(2)
            back = ready[hosts].min()
            ready -= back
            origin += back
            done, period = follow(
                ready, later, kept, hosts, one.source, one.target, cost, ROUNDING, began, ended,
                elapsed,
            )  # fmt: skip
            log.add(origin + began[:done], origin + ended[:done])
            left -= done
            skipped = left // period * period if period else 0
            time = float(elapsed[1])
            log.skip(skipped, period, time)
            left -= skipped
            passed = elapsed[0] + (skipped // period * time if skipped else 0.0)
            absent = np.ones(len(ready), np.bool_)
            absent[hosts] = False
            ready[absent] -= passed
            origin += passed
            tell(log.next)
    return log


def _costs(network: FlowNetwork, one: Round, found: Survey) -> NDArray[np.float64]:
    """Return how long each message takes alone."""
    cost = np.zeros(len(one))
    ways, path = found.ways_of(one)
    uses = path >= 0
    cost[uses] = ways.latency + one.bytes[uses] / ways.capacity(network.capacity)
    return cost


class _Begun(NamedTuple):
    """A round that has begun: its first row, how many it has, and the class of its first way."""

    first: int
    rows: int
    base: int


class _Overlapping:
    """Rounds that wait for neighbours, on an engine that knows those that are not over.

    The next round has to begin before a host could send in it: when the first message of the latest
    is complete; earlier for hosts that skip rounds, as ``Survey.ahead`` says.
    """

    def __init__(
        self, network: FlowNetwork, program: RoundProgram, found: Survey, overhead: float
    ) -> None:
        self.program, self.found, self.overhead = program, found, overhead
        self.window = Window(network, in_order=found.in_order)
        self.frontier = Frontier(program.num_hosts)
        self.log = _Log()
        self._begun: list[_Begun] = []
        self._kept = 0  # rounds that were not over when others were forgotten
        self._origin = 0.0  # when the window's times begin
        self._ways: Ways | None = None
        self._base = 0  # the class of the first of them

    def run(self, tell: Callable[[int], None]) -> _Log:
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
                period.passed += self._retire(repeats=left > 0)
                if left and period.found(self.window):
                    left -= self._skip(left, period)
                    period = _Period()
                tell(self.log.next)
        self.window.advance()
        self._kept = 0
        self._retire(repeats=False)
        assert not self._begun
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
                self._ways, self._base = ways, window.num_classes
            offsets, after = self.frontier.follow(one, first)
            table = replace(
                _table(one, self.overhead), first=first, after_offsets=offsets, after=after
            )
            window.append(table, ways, path, base=self._base)
        self._begun.append(_Begun(first, len(one), self._base))

    def _retire(self, *, repeats: bool) -> float:
        """Forget the first rounds, if they are over; return by how much times were set back.

        That costs as much as there is. Unless the latest round ``repeats``, it is done if there are
        twice as many rounds as were kept last time, and times stay as they are: then they are
        rounded as they would be if nothing was forgotten.
        """
        if not repeats and len(self._begun) < 2 * self._kept:
            return 0.0
        rows = self.window.rows
        over = 0
        for each in self._begun:
            mine = rows[each.first : each.first + each.rows]
            if each.rows and mine["complete"].min() < 0:
                break
            began, ended = (mine["ready"].min(), mine["complete"].max()) if len(mine) else _NEVER
            self.log.add(np.full(1, self._origin + began), np.full(1, self._origin + ended))
            over += 1
        if not over:
            return 0.0
        kept = self._begun[over:]
        self._kept = len(kept)
        count = kept[0].first if kept else len(rows)
        classes = min([each.base for each in kept], default=self._base)
        ready = rows["ready"][count:]
        earlier = float(ready[ready >= 0].min(initial=self.window.time)) if repeats else 0.0
        self.window.forget(count, classes, earlier)
        self.frontier.forget(count)
        self._base -= classes
        self._begun = [_Begun(each.first - count, each.rows, each.base - classes) for each in kept]
        self._origin += earlier
        return earlier

    def _skip(self, left: int, period: _Period) -> int:
        """Go on after whole periods; return how many rounds that are. At least one is left."""
        times = (left - 1) // period.length
        if not times:
            return 0
        self.log.skip(times * period.length, period.length, period.time)
        self._origin += times * period.time
        return times * period.length


_NEVER = (np.nan, np.nan)


class _Period:
    """The search for two moments that are alike (Brent 1980)."""

    def __init__(self) -> None:
        self.passed = 0.0  # by how much times were set back since the moment that is kept
        self.length, self.time = 0, 0.0
        self._power = 1
        self._kept: Moment | None = None
        self._at = 0.0

    def found(self, window: Window) -> bool:
        """Return whether this moment is like the kept one, ``length`` rounds and ``time`` ago."""
        moment = window.moment()
        self.length += 1
        self.time = self.passed + window.time - self._at
        if self._kept is not None and moment.is_like(self._kept, self.time):
            return True
        if self._kept is None or self.length == self._power:
            self._power *= 1 if self._kept is None else 2
            self._kept, self._at, self.passed, self.length = moment, window.time, 0.0, 0
        return False
