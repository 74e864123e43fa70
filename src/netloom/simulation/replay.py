"""Run a program on an engine, part by part: its source makes what is needed as it goes on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from netloom.simulation.agenda import Records
    from netloom.simulation.program_engine import ProgramEngine
    from netloom.workload.programs.messages import Source


MOST_ROWS = 2**24
"""Rows after which a run ends however far it has come: some 2 GB."""


HEARING_CYCLES = 10_000
"""Cycles after which a run that is to stop does, however far its program is known."""


@dataclass(frozen=True)
class Ending:
    """How a run came to its end.

    Attributes
    ----------
    cycle
        The cycle it came to.
    enough
        Whether it came as far as asked.
    interrupted
        Whether it was stopped from outside.
    """

    cycle: int
    enough: bool
    interrupted: bool


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
    engine
        An engine that has not begun.
    source
        Makes the rows.
    enough
        Whether the rows so far will do, asked after every step; without it, a program runs until
        all of it is complete.
    step
        Least cycles from one extension of the program to the next, which is otherwise an eighth of
        the cycles so far: that is how far a run may go beyond ``enough``.
    most_cycles
        Cycles after which it ends in any case.
    stopped
        Asked after every step: whether to end at once.
    tell
        Told the rows complete after every step.

    Raises
    ------
    DeadlockError
        If messages block each other for good.

    Examples
    --------
    >>> from netloom.routing import DimensionOrder
    >>> from netloom.simulation.worm import Worm, WormEngine
    >>> from netloom.topology import mesh
    >>> from netloom.workload.programs.messages import Given, messages
    >>> there_and_back = messages(16, source=[0, 3], target=[3, 0], flits=10, after=[[], [0]])
    >>> engine = WormEngine(mesh(4, 4), DimensionOrder(), Worm())
    >>> run_program(engine, Given(there_and_back), most_cycles=1000)
    Ending(cycle=29, enough=True, interrupted=False)
    """
    until = engine.cycle
    while True:
        until = min(until + max(step, until // 8), most_cycles)
        more = source.extend(engine.rows["complete"], until)
        if len(more):
            engine.append(more)
        _advance(engine, until, stopped)
        tell(engine.completed)
        done = engine.completed == engine.num_rows if enough is None else enough(engine.rows)
        if not done and stopped():
            return Ending(engine.cycle, enough=False, interrupted=True)
        if done or until == most_cycles or engine.num_rows > MOST_ROWS:
            return Ending(engine.cycle, done, interrupted=False)


def _advance(engine: ProgramEngine, until: int, stopped: Callable[[], bool]) -> None:
    """Run to a cycle, unless all is complete or it is to stop before."""
    cycle = engine.cycle
    while cycle < until and engine.completed < engine.num_rows and not stopped():
        cycle = min(cycle + HEARING_CYCLES, until)
        engine.advance(cycle)
