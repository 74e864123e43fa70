"""Run a program on an engine, part by part: its source makes what is needed as it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from netloom.simulation.steady import measure_window

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.simulation.agenda import ProgramEngine, Records
    from netloom.workload.programs.messages import Source


MOST_ROWS = 2**24
"""Rows after which a run ends however far it has come: some 2 GB."""


HEARING_CYCLES = 10_000
"""Cycles after which a run that is to stop does, however far its program is known."""


@dataclass(frozen=True)
class Ending:
    """The cycle that a run came to, whether that is as far as asked, or it was stopped outside."""

    cycle: int
    enough: bool
    interrupted: bool


class ProgramRun:
    """An engine and the source of its rows, which are made as the run goes on.

    ``cycle`` is what it came to. An engine whose rows are all complete waits where it is: its own
    cycle may be earlier. ``stopped`` is asked every ``HEARING_CYCLES``: whether to end at once.
    """

    def __init__(
        self,
        engine: ProgramEngine,
        source: Source,
        *,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self.engine, self.source, self.cycle = engine, source, engine.cycle
        self._stopped = stopped

    def advance(self, until: int) -> None:
        """Have the rows made that may begin before a cycle, and run up to it."""
        more = self.source.extend(self.engine.complete, until)
        if len(more):
            self.engine.append(more)
        while self.cycle < until and not self._stopped():
            self.cycle = min(self.cycle + HEARING_CYCLES, until)
            self.engine.advance(self.cycle)


class _WholeProgram(ProgramRun):
    """A program that is run until it is complete, or has come far enough."""

    def __init__(
        self,
        engine: ProgramEngine,
        source: Source,
        *,
        enough: Callable[[Records], bool] | None,
        stopped: Callable[[], bool],
        tell: Callable[[int], None],
    ) -> None:
        super().__init__(engine, source, stopped=stopped)
        self.done, self._enough, self._tell = False, enough, tell

    def is_enough(self) -> bool:
        engine = self.engine
        self._tell(engine.completed)
        complete = engine.completed == engine.num_rows
        self.done = complete if self._enough is None else self._enough(engine.rows)
        return self.done or engine.num_rows > MOST_ROWS


def run_program(
    engine: ProgramEngine,
    source: Source,
    *,
    enough: Callable[[Records], bool] | None = None,
    step: int = 10_000,
    most_cycles: int,
    stopped: Callable[[], bool] = lambda: False,
    tell: Callable[[int], None] = lambda _: None,
) -> Ending:
    """Run a program until it is complete, has come far enough, or has grown too long.

    Too long is what takes more than ``most_cycles``, or was made in parts to more than
    ``MOST_ROWS`` rows.

    Parameters
    ----------
    engine, source
        An engine that has not begun, and what makes its rows.
    enough
        Whether the rows so far will do, asked after every step. Without it, a program runs until
        all of it is complete.
    step
        Least cycles from one extension of the program to the next, which is otherwise 1/8 of the
        cycles so far. A run may continue this far beyond ``enough``.
    stopped, tell
        Asked after every step whether to end at once. Told the rows complete.

    Examples
    --------
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.simulation.flow.network import flow_network
    >>> from netloom.simulation.flow.program import FlowProgram
    >>> from netloom.topology import mesh
    >>> from netloom.workload.programs.messages import Given, messages
    >>> there_and_back = messages(16, source=[0, 3], target=[3, 0], flits=10, after=[[], [0]])
    >>> engine = FlowProgram(flow_network(mesh(4, 4)), DimensionOrder())
    >>> run_program(engine, Given(there_and_back), most_cycles=1000)
    Ending(cycle=26, enough=True, interrupted=False)
    """
    run = _WholeProgram(engine, source, enough=enough, stopped=stopped, tell=tell)
    ended = measure_window(
        run,
        first=step,
        longer=lambda cycles: cycles + max(step, cycles // 8),
        most=most_cycles,
        step=most_cycles,
        stopped=stopped,
    )
    return Ending(engine.cycle, run.done, interrupted=not ended)
