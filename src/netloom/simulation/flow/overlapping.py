"""Rounds that overlap, for each host waits for its neighbours only, on an engine that forgets."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.simulation.flow.round_log import Log
from netloom.simulation.flow.window import Window
from netloom.workload.programs.messages import Messages
from netloom.workload.programs.round_programs import Frontier

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.simulation.flow.network import FlowNetwork
    from netloom.simulation.flow.round_ways import Survey
    from netloom.simulation.flow.ways import Ways
    from netloom.simulation.flow.window import Moment
    from netloom.workload.programs.round_programs import Round, RoundProgram

MOST_WAITING = 2**22
"""Most messages of rounds that have begun and are not over, where rounds overlap."""


def table_of(one: Round, overhead: float) -> Messages:
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
        self.window = Window(network, in_order=found.in_order)
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
                if left and self._repeats(period):
                    left -= self._skip(left, period)
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
                self._ways, self._base = ways, window.num_classes
            offsets, after = self.frontier.follow(one, first)
            table = replace(
                table_of(one, self.overhead), first=first, after_offsets=offsets, after=after
            )
            window.append(table, ways, path, base=self._base)
        self._begun.append(_Begun(first, len(one), self._base))

    def _note(self) -> None:
        """Note when rounds that are over began and ended."""
        rows = self.window.rows
        for each in self._begun[self._over :]:
            mine = rows[each.first : each.first + each.rows]
            if each.rows and mine["complete"].min() < 0:
                break
            began, ended = (mine["ready"].min(), mine["complete"].max()) if each.rows else _NEVER
            self.log.add(np.full(1, self._origin + began), np.full(1, self._origin + ended))
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

    def _repeats(self, period: _Period) -> bool:
        """Return whether everything is as it was ``period.length`` rounds ago."""
        kept = self._begun[self._over :]
        first = kept[0].first if kept else self.window.num_rows
        return period.found(self.window, first, kept[0].base if kept else self._base)

    def _skip(self, left: int, period: _Period) -> int:
        """Go on after whole periods. Return how many rounds that are. At least one is left."""
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
        self._outline = (0, 0, 0)
        self._at = 0.0

    def found(self, window: Window, first: int, base: int) -> bool:
        """Return whether this moment is like the kept one, ``length`` rounds and ``time`` ago.

        ``first``, ``base``: the first row and class of what is not over.
        """
        self.length += 1
        self.time = self.passed + window.time - self._at
        outline = window.outline(first)
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
