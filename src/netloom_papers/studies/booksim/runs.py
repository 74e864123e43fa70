"""Short runs as BookSim 2 makes them: windows from an empty network, and the load of saturation.

Near saturation a short run's mean latency is far below that of the steady state, and differs from
seed to seed. So runs are as long as the reference's: a start-up is left out, a window measured,
then the network runs on until every packet of the window has arrived. Measured are the packets
created before the window's end that came to the head of their source's queue in it. Traffic counts
as accepted when it leaves the network within the window. The mean of several seeds is compared: one
has a scatter of up to 3 % at 80 % of saturation.
"""

from __future__ import annotations

from concurrent.futures import CancelledError
from math import inf, sqrt
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import DeadlockError
from netloom.simulation.network.bound import throughput_bound
from netloom.simulation.network.sweep import ZERO_LOAD

if TYPE_CHECKING:
    from threading import Event

    from netloom.base.arrays import Ints
    from netloom.simulation.network.run import Run
    from netloom.simulation.tally import Delivered
    from netloom_papers.studies.booksim.cases import Case

IDLE, AT_50, AT_80, SATURATION, PEAK = (
    "zero-load latency",
    "latency at 50 % of saturation",
    "latency at 80 % of saturation",
    "saturation load",
    "highest accepted traffic",
)
"""What is measured of a configuration."""

SEEDS = (1, 2, 3, 4)

MOST_DRAIN = 20_000
"""Cycles after the window in which its packets must arrive. Their mean latency is infinite else."""

LATENCY_FACTOR = 3.0
"""How many times the latency of an idle network means saturation, in the reference."""

BRACKET = 0.03
"""How close, as a fraction of the load, the reference closed in on that."""

BEYOND = 1.5
"""Times the throughput bound: where short runs are saturated as well. (A little above the bound
they may not be: what cannot leave has not had the time to pile up.)"""

STEP = 500
"""Cycles after the window between two looks at whether its packets have arrived."""

SAMPLED = 4.0
"""Standard errors within which the ways of the reference's few packets are a matter of chance."""

HOPELESS = 5.0
"""Times the latency of saturation: a run whose mean is sure to be above that ends there."""


class Window(NamedTuple):
    """Cycles of a short run: left out at the start, and measured."""

    start: int
    cycles: int


class Asked(NamedTuple):
    """A run whose latency is wanted: its load (flits/node/cycle) and its window."""

    load: float
    window: Window


class Sample(NamedTuple):
    """Packets of a window, int32[num_packets] each: latency in cycles, hops between routers."""

    latency: Ints
    hops: Ints


class Point(NamedTuple):
    """Latency (cycles) of a short run at a load (flits/node/cycle)."""

    load: float
    latency: float


def measure(case: Case, stop: Event) -> dict[str, float]:
    """Measure one configuration as the reference was measured. Nothing where it is refused.

    ``stop`` ends the runs under way with ``CancelledError``.
    """
    if case.routing is None:
        return {}
    if case.asked:
        return {
            item: idle_latency(case, stop) if item == IDLE else mean_latency(case, wanted, stop)
            for item, wanted in case.asked.items()
        }
    found = {IDLE: idle_latency(case, stop)}
    for item, share in ((AT_50, 0.5), (AT_80, 0.8)):
        if item in case.measured:
            wanted = Asked(share * case.measured[SATURATION], case.effort.window)
            found[item] = mean_latency(case, wanted, stop)
    ends = [saturate(case, LATENCY_FACTOR * found[IDLE], seed, stop) for seed in SEEDS]
    found[SATURATION], found[PEAK] = np.mean(ends, axis=0).tolist()
    return found


def mean_latency(case: Case, wanted: Asked, stop: Event) -> float:
    """Return the mean packet latency at a load, over all seeds."""
    runs = (short_run(case.run(wanted.load, seed), wanted.window, stop) for seed in SEEDS)
    return float(np.mean([latency for latency, _ in runs]))


def idle_latency(case: Case, stop: Event) -> float:
    """Return the mean packet latency at next to no load, over all seeds.

    The reference has about 800 packets of it, whose paths may be 2 % longer or shorter than those
    of the traffic. Its table may say how many routers they crossed. If chance explains that number
    (``SAMPLED`` standard errors), the latency is adjusted to paths of that length. It moves along
    the line fitted to latencies by the number of routers crossed.
    """
    window = case.effort.idle
    samples = [drained(case.run(ZERO_LOAD, seed), window, stop)[1] for seed in SEEDS]
    latency, hops = (np.concatenate(column) for column in zip(*samples, strict=True))
    mean = float(latency.mean())
    if case.routers_crossed is None or not hops.var():
        return mean
    longer = case.routers_crossed - 1 - float(hops.mean())
    if abs(longer) > SAMPLED * float(hops.std()) / sqrt(len(hops) / len(SEEDS)):
        return mean
    return mean + longer * float(np.cov(latency, hops, bias=True)[0, 1] / hops.var())


def saturate(case: Case, beyond: float, seed: int, stop: Event) -> tuple[float, float]:
    """Return the load at which latency is ``beyond``, and the highest accepted traffic of all runs.

    Every seed closes in for itself: a mean of latencies would be that of the worst seed. The load
    is bisected to ``BRACKET``, and interpolated there in 1 / latency, which falls nearly in a
    straight line. If the reference gives up runs for their latency, those do not count for the
    traffic, nor do loads beyond what it looked at.
    """
    idle, most, window = beyond / LATENCY_FACTOR, HOPELESS * beyond, case.effort.window
    low, high = Point(0.0, idle), Point(highest_load(case), inf)
    tried: list[tuple[Point, float]] = []
    while high.load - low.load > BRACKET * high.load:
        load = (low.load + high.load) / 2
        latency, accepted = short_run(case.run(load, seed), window, stop, most=most)
        point = Point(load, latency)
        tried.append((point, accepted))
        if latency > beyond:
            high = point
        else:
            low = point
    share = (1 / low.latency - 1 / beyond) / (1 / low.latency - 1 / high.latency)
    found = low.load + share * (high.load - low.load)
    past = [min(1.0, times * found) for times in case.effort.past]
    patience = case.patience(idle)
    if patience == inf:
        ends = [through_window(case.run(load, seed), window)[1] for load in past]
        return found, max(*ends, *(accepted for _, accepted in tried))
    for load in past:
        latency, accepted = short_run(case.run(load, seed), window, stop, most=patience)
        tried.append((Point(load, latency), accepted))
    kept = [got for at, got in tried if at.latency <= patience and at.load <= max(past)]
    return found, max(kept, default=0.0)


def highest_load(case: Case) -> float:
    """Return a load at which short runs are saturated as well, or the highest that there is."""
    if not case.network.direct:
        return 1.0
    assert case.routing is not None
    bound = throughput_bound(case.network, case.routing, case.traffic, case.router)
    return min(1.0, BEYOND * bound.load)


def short_run(run: Run, window: Window, stop: Event, *, most: float = inf) -> tuple[float, float]:
    """Return the mean packet latency and the accepted traffic of one run from an empty network.

    A run whose mean is sure to be above ``most`` ends there, with a latency that is above it, too.
    One that deadlocks accepts nothing, with an infinite latency.
    """
    try:
        accepted, sample, mean = drained(run, window, stop, most=most)
    except DeadlockError:
        return inf, 0.0
    return float(sample.latency.mean()) if mean is None else mean, accepted


def drained(
    run: Run, window: Window, stop: Event, *, most: float = inf
) -> tuple[float, Sample, float | None]:
    """Return the accepted traffic and the packets measured, once all have arrived.

    Where they do not, or their mean latency is sure to be above ``most``: what it is then, at
    least, in third place.
    """
    parts, accepted = through_window(run, window)
    end, created = run.engine.cycle, int(run.born_packets.sum())
    while missing := created - sum(int((part.birth < end).sum()) for part in parts):
        if stop.is_set():
            raise CancelledError
        sample, waited = _measured(parts, window, end), run.engine.cycle - end
        least = (sample.latency.sum() + missing * waited) / (len(sample.latency) + missing)
        if waited >= MOST_DRAIN or least > most:
            return accepted, sample, inf if waited >= MOST_DRAIN else float(least)
        parts.append(run.advance(STEP))
    return accepted, _measured(parts, window, end), None


def _measured(parts: list[Delivered], window: Window, end: int) -> Sample:
    """Return the packets that are measured, of those delivered so far."""
    birth, entry, arrival, hops = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("birth", "entry", "arrival", "hops")
    )
    inside = (entry >= window.start) & (birth < end)
    return Sample((arrival - birth)[inside], hops[inside])


def through_window(run: Run, window: Window) -> tuple[list[Delivered], float]:
    """Run up to the end of a window. Return what was delivered, and the traffic accepted in it."""
    start = run.advance(window.start)
    before = run.engine.count("ejected")
    parts = [start, run.advance(window.cycles)]
    flits = run.engine.count("ejected") - before
    return parts, flits / window.cycles / len(run.born_flits)
