"""The loop of every simulation that measures a steady state: warm up, measure, judge stability.

What is simulated has only to advance and to answer three questions about what it has seen. All
decisions depend on cycles and on what was observed, never on time: the same question has the same
answer. Between two steps a run can be stopped from outside. It keeps what it knows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike

    from netloom.base.arrays import Floats, Ints


SLOW = 3.0
"""Latency, in times that of the idle network, from which a network counts as saturated."""


@dataclass(frozen=True)
class Limits:
    """When a run ends.

    Attributes
    ----------
    cycles
        Measured cycles. None: as many as precision needs.
    precision
        Half-width of the 95 % confidence interval of the mean packet latency, as a fraction of it,
        that is narrow enough.
    most_cycles
        Measured cycles after which a run ends whatever its precision, and cycles after which the
        search for the end of the start-up is given up.
    latency
        Mean packet latency, in cycles, that is of no more interest. Infinite by default.
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
        """Look at the window so far, and return whether the run can end."""


def run_to(
    system: Advancing, until: int, *, step: int, stopped: Callable[[], bool] = lambda: False
) -> bool:
    """Advance to a cycle, ``step`` cycles at a time, and return whether it came so far.

    ``stopped`` is asked before each step: whether to end at once.
    """
    while system.cycle < until and not stopped():
        system.advance(min(system.cycle + step, until))
    return system.cycle >= until


def warm_up(
    system: WarmingUp, *, least: int, most: int, step: int, stopped: Callable[[], bool]
) -> bool:
    """Run until the start-up is over, twice as long each time, and return whether its end was seen.

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
    """Measure from the present cycle on until it is enough. Return whether it was not interrupted.

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
    bias reduction in simulation output", Simulation 69 (1997). K. P. White, M. J. Cobb and
    S. C. Spratt, "A comparison of five steady-state truncation heuristics for simulation", Proc.
    Winter Simulation Conference (2000).

    Of all d, take the one with the least Σ_{i ≥ d} (Yᵢ − Ȳ_d)² / (n − d)². Ȳ_d is the mean of those
    after the first d. This is the squared standard error of Ȳ_d, were they independent. A least
    value in the second half of the run means that the run is too short to tell.

    The last quarter of the run (at least 5 batches) is never cut. For a d that late, the answer
    would be None anyway. The statistic of the last few batches is also useless. It is 0 if they are
    equal by chance, which is frequent if packets seldom meet.

    Parameters
    ----------
    batch_means
        float[n]: means of 5 successive observations each, or of successive windows of time.

    Returns
    -------
    dropped
        Number of batches to leave out, at most n / 2. The smallest of equally good ones. None if
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

    It is a multiple of 5, see :func:`mser5`. ``latencies`` are in order of arrival, cycles. Up to 4
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


LEAST_SAMPLES = 16
"""With these or more, R² > 0.6 means a slope of over 4.5 standard errors."""

STRAIGHT = 0.6
"""R² above which a backlog is taken to grow along a line."""

BEHIND = 0.01
"""Growth of the backlog above which a network is behind, as a fraction of the traffic offered."""

CHANCE, SURE = 2.0, 5.0
"""Largest growth of the backlog by chance, in square roots of the packets offered: in a long
window, and in a look before the end of a run."""

SURE_NODE = 6.0
"""The same for the queue of one node, of many, and the packets that it offers."""

NODE_BEHIND = 0.05
"""The same for the queue of one node, as a fraction of the traffic that it offers."""

NODE_PACKETS = 8
"""Packets by which a node's queue must grow in each half of the window: fewer come and go."""


SAME = 1e-9
"""Relative difference up to which a load is at a limit: they differ by rounding only."""


class Stability(NamedTuple):
    """Whether a run is stable, and the sentence that says why.

    Attributes
    ----------
    growth
        What piles up in the whole network, as a fraction of the traffic offered, or None if that is
        not known. Near 0 if the run is stable.
    node, node_growth
        The node whose queue keeps growing, and by what fraction of the traffic that it offers. Both
        are None if there is no such node.
    """

    stable: bool
    reason: str
    growth: float | None = None
    node: int | None = None
    node_growth: float | None = None


def past_limit(load: float, limit: float, what: str, *, by_chance: bool) -> Stability | None:
    """Return that a load is past saturation by a proven limit, or None if the limit allows it.

    A run may be too short to show it, because the backlog has yet to build up. If packets arrive at
    random, the limit itself is past saturation, too. Queues at a resource with a load of 100 % grow
    slowly without end, because a random walk without drift has no steady state.

    Both are flits/node/cycle of the average sender. ``what`` is the resource that limits it, in
    words. ``by_chance`` says whether packets of every sender come by chance.

    Examples
    --------
    >>> past_limit(0.15, 1 / 7, "channel 0 -> 1", by_chance=True).reason
    'the load is above 0.1429, the most that can be carried (limited by channel 0 -> 1)'
    >>> past_limit(1.0, 1.0, "injection at node 0", by_chance=False) is None
    True
    """
    if load > limit * (1 + SAME):
        where = "above"
    elif by_chance and load >= limit * (1 - SAME):
        where = "at"
    else:
        return None
    reason = f"the load is {where} {limit:.4g}, the most that can be carried (limited by {what})"
    return Stability(stable=False, reason=reason)


def stability(
    cycle: ArrayLike,
    backlog_flits: ArrayLike,
    node_packets: ArrayLike,
    rate: ArrayLike,
    packet_flits: float,
    *,
    interim: bool = False,
) -> Stability:
    """Return whether a run was stable within its window, with the reason.

    It is unstable if either

    - the backlog of the network grows linearly (least squares, R² > 0.6), also in the second half
      of the window, by more than min(1 %, 2 / √N) of the N packets offered, or
    - the queue of one node grows by more than 5 % of what that node offers, and by at least 8
      packets, in the first *and* in the second half of the window. (When a permutation starves
      one node of many, the whole hardly shows it.)

    ``interim`` is for looks before the end of a run, which may end it. Each look is a chance to be
    wrong, so the thresholds are higher: at least 5 / √N of the whole, and at least 6 / √n of a
    node's n packets. This is Haybittle and Peto's rule for trials that may be stopped early.

    The limits are chosen on M/D/1 queues with packets of 1 and of 8 flits, alone and 64 together.
    At ρ = 0.5, 0.8, 0.9 and 0.95, in windows of 20 / (1 − ρ)² service times, fewer than 1 in 100
    are called unstable. At ρ = 1.05 and 1.2, in 8000 service times, more than 99 in 100. At
    ρ = 1.02 a queue alone is found out in some 3 of 4 such windows, and in 9 of 10 of 32 000. In a
    window much shorter than these a busy network may be called unstable: what one sees is growth.
    ``benchmarks/stability.py`` prints how often networks near saturation are called unstable.

    Parameters
    ----------
    cycle
        int[samples], at least 16, ascending: when samples were taken, at regular distances in the
        measured window.
    backlog_flits
        int[samples]: flits of all packets born but not delivered.
    node_packets
        int[3, num_nodes]: packets that wait in each node's source queue (those on their way may be
        counted as well) at the first sample, sample ``samples // 2`` and the last.
    rate
        float[num_nodes]: traffic that each node offers, flits/cycle. Some must.
    packet_flits
        Mean length of a packet.
    interim
        Whether the run goes on if this look finds it stable.

    Examples
    --------
    >>> when = np.arange(0, 10_000, 500)
    >>> stability(when, 40 + when // 10, [[0, 5], [0, 60], [0, 115]], [0.5, 0.5], 8).reason
    'the backlog grows by 0.1 flits/cycle, 10 % of the traffic offered'
    >>> stability(when, 40 + when % 3, [[0, 5], [1, 3], [2, 4]], [0.5, 0.5], 8).stable
    True
    """
    times, backlog = np.asarray(cycle, np.float64), np.asarray(backlog_flits, np.float64)
    offered = np.asarray(rate, np.float64)
    total = float(offered.sum())
    assert len(times) == len(backlog) >= LEAST_SAMPLES, "too few samples"
    assert total > 0, "no node sends"
    born = total / packet_flits * (times[-1] - times[0])
    least = max(BEHIND, SURE / born**0.5) if interim else min(BEHIND, CHANCE / born**0.5)
    slope, straight = fitted_line(times, backlog)
    half = len(times) // 2
    late, _ = fitted_line(times[half:], backlog[half:])
    if slope > least * total and straight > STRAIGHT and late > 0:
        return Stability(
            stable=False,
            reason=f"the backlog grows by {slope:.3g} flits/cycle, {100 * slope / total:.3g} % "
            "of the traffic offered",
            growth=slope / total,
        )
    parts = times[[0, half, -1]]
    sure = SURE_NODE if interim else 0.0
    node, behind = _worst_queue(parts, np.asarray(node_packets), offered / packet_flits, sure)
    if behind > NODE_BEHIND:
        return Stability(
            stable=False,
            reason=f"the queue of node {node} grows by {100 * behind:.3g} % of the traffic that "
            "it offers, or more, in both halves of the window",
            growth=slope / total,
            node=node,
            node_growth=behind,
        )
    return Stability(
        stable=True,
        reason=f"the backlog changes by {100 * slope / total:.2g} % of the traffic offered, and no "
        "node's queue keeps growing",
        growth=slope / total,
    )


def fitted_line(times: Floats, values: Floats) -> tuple[float, float]:
    """Return the slope of the least-squares line and its R², 0 where all values are equal.

    Examples
    --------
    >>> fitted_line(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))
    (2.0, 1.0)
    """
    late, high = times - times.mean(), values - values.mean()
    slope = float(late @ high / (late @ late))
    spread = float(high @ high)
    return slope, slope**2 * float(late @ late) / spread if spread > 0 else 0.0


def _worst_queue(
    times: Floats,
    packets: Ints,
    births: Floats,
    sure: float,
) -> tuple[int, float]:
    """Return the node whose queue grows most, and by what fraction of its births at least.

    ``births`` are packets/cycle of each node. The fraction is that of the half of the window in
    which it grows less. It is 0 if no queue grows by enough packets in both: 8, or ``sure`` square
    roots of those born, if that is more.
    """
    growth = np.diff(packets.astype(np.float64), axis=0)
    born = np.diff(times)[:, None] * births
    enough = np.maximum(NODE_PACKETS, sure * np.sqrt(born))
    grows = (births > 0) & (growth >= enough).all(axis=0)
    fraction = np.zeros_like(growth)
    np.divide(growth, born, out=fraction, where=grows)
    least = fraction.min(axis=0)
    node = int(np.argmax(least))
    return node, float(least[node])
