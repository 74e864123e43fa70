"""The loop of every simulation that measures a steady state: warm up, then measure.

What is simulated has only to advance and to answer three questions about what it has seen. All
decisions depend on cycles and on what was observed, never on time: the same question has the same
answer. Between two steps a run can be stopped from outside; it keeps what it knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike


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


BATCH = 5
"""Observations averaged into one: the 5 of MSER-5."""

LEAST_BATCHES = 10
"""Fewer say nothing about where a start-up ends."""


def mser5(batch_means: ArrayLike) -> int | None:
    """Return how many leading batches belong to the start-up, or None where it has not ended.

    MSER-5: observations are averaged in fives, and leading averages are dropped as long as this
    makes the mean of the rest more certain. K. P. White, "An effective truncation heuristic for
    bias reduction in simulation output", Simulation 69 (1997); K. P. White, M. J. Cobb and
    S. C. Spratt, "A comparison of five steady-state truncation heuristics for simulation", Proc.
    Winter Simulation Conference (2000).

    Of all d, take the one with the least Σ_{i ≥ d} (Yᵢ − Ȳ_d)² / (n − d)², Ȳ_d the mean of those
    after the first d: the squared standard error of Ȳ_d, were they independent. A least value in
    the second half of the run means that the run is too short to tell.

    The last quarter of the run (at least 5 batches) is never cut into. A d as late as that would
    be answered by None anyway; and the statistic of the last few batches is worthless, as it is 0
    when they are equal by chance, which happens all the time where packets seldom meet.

    Parameters
    ----------
    batch_means
        float[n]: means of 5 successive observations each, or of successive windows of time.

    Returns
    -------
    dropped
        Number of batches to leave out, at most n / 2; the smallest of equally good ones. None if
        n < 10 or the start-up has not ended within the first half.

    Examples
    --------
    >>> mser5([90, 60, 30, 12, 10, 11, 10, 9, 10, 11, 9, 10])
    4
    >>> print(mser5(range(12)))
    None
    """
    means = np.asarray(batch_means, np.float64)
    assert means.ndim == 1, "one mean a batch"
    assert np.isfinite(means).all(), "an empty batch has no mean"
    count = len(means)
    if count < LEAST_BATCHES:
        return None
    # Measured from the last value, equal batches at the end sum to exactly 0.
    backwards = (means - means[-1])[::-1]
    kept = np.arange(1, count + 1)
    squares = np.cumsum(backwards**2) - np.cumsum(backwards) ** 2 / kept
    error = (np.maximum(squares, 0) / kept**2)[::-1]
    spared = max(5, -(-count // 4))
    dropped = int(np.argmin(error[: count - spared + 1]))
    return dropped if 2 * dropped <= count else None


def warmup_packets(latencies: ArrayLike) -> int | None:
    """Return how many packets of a run belong to its start-up, or None where it has not ended.

    It is a multiple of 5; see :func:`mser5`. ``latencies`` are in order of arrival, cycles. Up to 4
    at the end that do not fill a batch are not looked at.

    Examples
    --------
    >>> warmup_packets([100] * 10 + [20, 21, 20, 19, 20] * 20)
    10
    """
    observed = np.asarray(latencies, np.float64)
    whole = len(observed) // BATCH * BATCH
    dropped = mser5(observed[:whole].reshape(-1, BATCH).mean(axis=1))
    return None if dropped is None else BATCH * dropped
