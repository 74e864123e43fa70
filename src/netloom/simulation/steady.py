"""The loop of every simulation that measures a steady state: warm up, then measure.

What is simulated has only to advance and to answer three questions about what it has seen. All
decisions depend on cycles and on what was observed, never on time: the same question has the same
answer. Between two steps a run can be stopped from outside; it keeps what it knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable


@dataclass(frozen=True)
class Limits:
    """When a run ends.

    Attributes
    ----------
    cycles
        Measured cycles; None: as many as precision needs.
    precision
        Half-width of the 95 % confidence interval of the mean packet latency, as a fraction of it,
        that is narrow enough.
    most_cycles
        Measured cycles after which a run ends whatever its precision, and cycles after which the
        search for the end of the start-up is given up.
    latency
        Mean packet latency, in cycles, beyond which nobody cares; infinite by default.
    """

    cycles: int | None = None
    precision: float = 0.02
    most_cycles: int = 200_000
    latency: float = float("inf")

    @property
    def most_measured(self) -> int:
        """The most cycles that are measured."""
        return self.most_cycles if self.cycles is None else self.cycles


class Advancing(Protocol):
    """What can be run on, cycle by cycle."""

    @property
    def cycle(self) -> int:
        """The next cycle to be run."""

    def advance(self, until: int) -> object:
        """Run up to, and without, the cycle ``until``."""


class WarmingUp(Advancing, Protocol):
    """What has a start-up that ends."""

    def has_settled(self) -> bool:
        """Return whether the end of the start-up lies in what was observed so far."""

    def is_hopeless(self) -> bool:
        """Return whether the backlog is so large that no steady state is to be expected."""


class Measurable(Advancing, Protocol):
    """What is measured in a window that grows."""

    def is_enough(self) -> bool:
        """Look at the window so far; return whether the run can end."""


def run_to(
    system: Advancing, until: int, *, step: int, stopped: Callable[[], bool] = lambda: False
) -> bool:
    """Advance to a cycle, ``step`` cycles at a time; return whether it came so far.

    ``stopped`` is asked before each step: whether to end at once.
    """
    while system.cycle < until and not stopped():
        system.advance(min(system.cycle + step, until))
    return system.cycle >= until


def warm_up(
    system: WarmingUp, *, least: int, most: int, step: int, stopped: Callable[[], bool]
) -> bool:
    """Run until the start-up is over, twice as long each time; return whether its end was seen.

    It is looked for after ``least`` cycles first, and given up after ``most``.
    """
    until = min(least, most)
    while run_to(system, until, step=step, stopped=stopped):
        if system.has_settled():
            return True
        if until >= most or system.is_hopeless():
            return False
        until = min(2 * until, most)
    return False


def measure_window(
    system: Measurable,
    *,
    first: int,
    longer: Callable[[int], int],
    most: int,
    step: int,
    stopped: Callable[[], bool],
) -> bool:
    """Measure from the present cycle on until it is enough; return whether it was not interrupted.

    The window has ``first`` cycles at the first look, ``longer`` says how many at the look after
    one of so many, and ``most`` are the most.
    """
    begin, cycles = system.cycle, min(first, most)
    while run_to(system, begin + cycles, step=step, stopped=stopped):
        if system.is_enough() or cycles >= most:
            return True
        cycles = min(longer(cycles), most)
    return False
