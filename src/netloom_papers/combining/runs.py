"""Runs of a combining network: until all requests are answered, and what they were like."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from netloom.base.arrays import Floats, Ints
from netloom.base.figures import Figures, figure, unseen
from netloom.base.provenance import DEFAULT_SEED
from netloom.simulation import steady
from netloom_papers.combining.hot_spots import HotSpotTraffic
from netloom_papers.combining.network import MOST_STEPS, CombiningEngine, CombiningNetwork

THROUGHPUT = "requests/PE/step"

BATCHES = 64
"""Batches that a run is cut into, for confidence intervals and for the growth of the backlog."""

HEARING = 2**18
"""Steps times processing elements between two looks at whether to stop: some 10 ms at a usual load,
some tenths of a second where every element asks in every step."""


class CombiningRun(Figures):
    """What a run was like. Means and sums are those of Rosenblum & Mayr 1986, section 2.4.

    Means of queues and pools are sums over all steps, divided by ``steps`` and by the number of
    queues of the level that were ever used. The steps include those in which the last requests
    return. Maxima are taken within a step, after packets have entered a queue and before they
    leave.

    Attributes
    ----------
    rate, seed
        The probability that an element makes a request in a step, and the seed.
    steps, finalisation_steps
        Steps in which requests were made (Z, or as far as it came), and those after them until all
        were completed.
    requests
        Requests made. Those discarded are not among them.
    discarded_waiting, discarded_full
        Requests discarded since one for the same hot spot was on its way (policy ``wait``), and
        since the processing element's queue was full.
    steps_mean, steps_ci95, steps_min, steps_p50, steps_p99, steps_max
        Steps from making a request to its reply, over all. NaN if there are none. The interval is
        from batch means of this one run, NaN if requests pile up, because the mean never settles.
        Seeds differ by more, because their hot spots do.
    latency_counts
        int64[any]: requests that took so many steps, from 0 on.
    queue_mean, queue_max, queue_used
        float64, int32, int64[2 K + 2], by level: processing elements, requests behind stages 0 to
        K − 1, memory modules, replies behind stages K − 1 to 0.
    wait_mean, wait_max, wait_used
        float64, int32, int64[K]: packets in wait pools, by stage.
    combining_rate
        float64[K]: of the requests that come to a stage, those that another takes along.
    hot_spots
        All that were hot spots at the beginning, in the order drawn, then those that came later
        and were asked for. ``elements`` had the ``module`` at first. ``requests`` were for it, and
        of these and the background's it executed ``accesses``. Both stand there per step of the
        run, too. ``busy`` is the part of the run in which the module worked.
    throughput, throughput_ci95
        Requests completed per element and step, after the start-up and before requests end.
    stable, reason
        Whether the network keeps up with its requests, and why. None if the run is too short to
        tell, which one of 128 steps or more never is. Judged by growth in the run: one in which
        finite queues are still filling does not keep up. In 1000 steps, 1 in 8 runs at 95 % of what
        a module serves are called unstable, and 3 in 4 at 105 %. In 8000, none and all of 60. If
        requests pile up, means depend on how long it lasts. If they are refused, means
        are of those that are not.
    growth
        By how much requests in flight grow, as a fraction of those made. NaN in a run that is too
        short to tell.
    piles_up
        Whether requests in flight grow on and on. Not where what is too much is refused.
    interrupted
        Whether it was stopped from outside. Figures are of the steps it came to.
    mean_queue, longest_queue, mean_wait, longest_wait
        The mean over all levels of the mean queue, each level alike, as the tables have it, and the
        longest. The same of the wait pools.
    moves
        Moves of packets by a stage.
    cpu_seconds
        Time it took one processor.
    """

    rate: float = figure(unit=THROUGHPUT, key=True)
    seed: int = figure()
    stable: bool | None = figure("keeps up", key=True)
    requests: int = figure()
    requests_per_pe: float = figure()
    discarded_waiting: int = figure()
    discarded_full: int = figure()
    steps_mean: float = figure("round trip", "steps", key=True)
    steps_min: float = figure("shortest", "steps")
    steps_p50: float = figure("half up to", "steps")
    steps_p99: float = figure("99 % up to", "steps", key=True)
    steps_max: float = figure("longest", "steps")
    steps_ci95: float = figure("± 95 %", "steps")
    mean_queue: float = figure("mean queue", "packets", at="queue_mean", key=True)
    longest_queue: int = figure("longest queue", "packets", at="queue_max", key=True)
    mean_wait: float = figure("mean wait buffer", "packets", at="wait_buffer_mean")
    longest_wait: int = figure("longest wait buffer", "packets", at="wait_buffer_max")
    throughput: float = figure(unit=THROUGHPUT, key=True)
    throughput_ci95: float = figure("± 95 %", THROUGHPUT)
    finalisation_steps: int = figure("until all are answered", "steps")
    reason: str = figure()
    interrupted: bool = figure()
    moves: int = figure()
    cpu_seconds: float = figure(unit="s")
    steps: int = unseen()
    growth: float = unseen()
    latency_counts: Ints = unseen()
    queue_mean: Floats = unseen()
    queue_max: Ints = unseen()
    queue_used: Ints = unseen()
    wait_mean: Floats = unseen()
    wait_max: Ints = unseen()
    wait_used: Ints = unseen()
    combining_rate: Floats = unseen()
    hot_spots: dict[str, NDArray[Any]] = unseen()
    piles_up: bool = unseen()


def run_combining(
    network: CombiningNetwork,
    traffic: HotSpotTraffic,
    steps: int,
    *,
    seed: int = DEFAULT_SEED,
    stopped: Callable[[], bool] = lambda: False,
) -> CombiningRun:
    """Simulate a combining network until all requests that are made in ``steps`` are completed.

    Parameters
    ----------
    steps
        Z: steps in which requests are made, at least 1.
    seed
        Of the requests and of the order of packets that meet.
    stopped
        Asked now and then: whether to end at once.

    Raises what ``CombiningEngine`` does.

    Examples
    --------
    >>> from netloom_papers.combining import CombiningNetwork
    >>> from netloom_papers.combining.hot_spots import HotSpotTraffic
    >>> one_for_all = HotSpotTraffic(np.array([5]), np.full((16, 1), 5), rate=0.15)
    >>> run = run_combining(CombiningNetwork(16), one_for_all, 1000)
    >>> run.steps_min, run.steps_mean, run.steps_max
    (10.0, 10.0, 10.0)
    >>> int(run.queue_max.max()), round(float(run.wait_mean[3]), 1)
    (2, 1.1)
    """
    assert 1 <= steps <= MOST_STEPS, f"{steps} steps"
    began = time.thread_time()
    engine = CombiningEngine(network, traffic, seed=seed)
    hearing = max(1, HEARING // network.pes)
    while engine.step < steps and not stopped():
        engine.advance(min(steps, engine.step + hearing))
    made = engine.step
    while engine.in_flight and not stopped():
        engine.drain(hearing)
    arrived, counts = engine.arrived, np.trim_zeros(engine.latency_counts, "b")
    kept_up = _kept_up(engine, made)
    took: dict[str, Any] = {"steps_ci95": np.nan}
    took |= {f"steps_{name}": float(value) for name, value in steps_of(counts).items()}
    if engine.completed and not kept_up["piles_up"]:
        _, completed, spent = _batches(engine.per_step)
        _, took["steps_ci95"] = steady.run_interval(spent, completed)
    return CombiningRun(
        rate=traffic.rate,
        seed=seed,
        steps=made,
        finalisation_steps=engine.step - made,
        requests=engine.issued,
        requests_per_pe=engine.issued / network.pes,
        discarded_waiting=engine.discarded_waiting,
        discarded_full=engine.discarded_full,
        **took,
        latency_counts=counts,
        **_use(engine, max(made, 1)),
        combining_rate=np.divide(
            engine.combined, arrived, out=np.zeros(len(arrived)), where=arrived > 0
        ),
        hot_spots=_hot_spots(engine),
        **kept_up,
        interrupted=made < steps or engine.in_flight > 0,
        moves=engine.moves,
        cpu_seconds=time.thread_time() - began,
    )


def steps_of(counts: Ints) -> dict[str, Any]:
    """Return the mean of steps, the least, two percentiles and the most. NaN if there are none.

    ``counts`` is int64[any]: how many requests took so many steps, from 0 on.
    """
    seen = np.flatnonzero(counts)
    if not len(seen):
        return dict.fromkeys(("mean", "min", "p50", "p99", "max"), np.nan)
    middle, high = steady.percentiles(counts, (50, 99)).tolist()
    mean = float(counts @ np.arange(len(counts)) / counts.sum())
    return {"mean": mean, "min": int(seen[0]), "p50": middle, "p99": high, "max": int(seen[-1])}


def _hot_spots(engine: CombiningEngine) -> dict[str, NDArray[Any]]:
    """Return the hot spots at first, and those that came later and were asked for, as columns."""
    traffic = engine.traffic
    came = np.setdiff1d(np.flatnonzero(engine.issued_to), traffic.hot_spots)
    modules = np.concatenate([traffic.hot_spots, came])
    elements = np.bincount(traffic.assigned[traffic.assigned >= 0], minlength=traffic.pes)
    found = {"requests": engine.issued_to[modules], "accesses": engine.accesses[modules]}
    steps = max(engine.step, 1)
    rates = {f"{name}_per_step": each / steps for name, each in found.items()}
    busy = found["accesses"] * engine.network.service_steps / steps
    return {"module": modules, "elements": elements[modules], **found, **rates, "busy": busy}


def _use(engine: CombiningEngine, steps: int) -> dict[str, Any]:
    """Return means, maxima and numbers of the queues by level and of the pools by stage."""
    found: dict[str, Any] = {}
    for what, sums, longest in (
        ("queue", engine.population_sums, engine.queue_max),
        ("wait", engine.wait_sums, engine.pool_max),
    ):
        used = np.count_nonzero(longest, axis=1)
        means, most = sums / steps / np.maximum(used, 1), longest.max(axis=1)
        found |= {f"{what}_mean": means, f"{what}_max": most, f"{what}_used": used}
        found |= {f"mean_{what}": float(means.mean()), f"longest_{what}": int(most.max())}
    return found


def _kept_up(engine: CombiningEngine, made: int) -> dict[str, Any]:
    """Return what was completed per element and step, and whether that is what was asked for."""
    figures = ("throughput", "throughput_ci95", "growth")
    per_step = engine.per_step[:made].astype(np.float64)
    begin = steady.warmup_packets(per_step[:, 1])
    per_step = per_step[made // 2 if begin is None else begin :]
    many = len(per_step)
    if many < BATCHES:
        reason = f"too short to tell: {made} steps"
        unknown = {"stable": None, "piles_up": False, "reason": reason}
        return dict.fromkeys(figures, np.nan) | unknown
    _, completed, _ = _batches(per_step)
    edges = _edges(many)
    throughput, half = steady.run_interval(completed, np.diff(edges) * float(engine.network.pes))
    in_flight = np.cumsum(engine.per_step[:made, 0] - engine.per_step[:made, 1])[-many:]
    backlog = in_flight[edges[1:] - 1].astype(np.float64)
    slope, straight = steady.fitted_line(edges[1:].astype(np.float64), backlog)
    refused = engine.discarded_full / max(engine.issued + engine.discarded_full, 1)
    asked = float(per_step[:, 0].mean())
    growth = slope / asked if asked else 0.0
    said = f"{100 * growth:.2g} % of the requests made (R² = {straight:.2f})"
    stable, reason = False, f"requests in flight grow by {slope:.3g} a step, {said}"
    if refused > steady.BEHIND:
        reason = f"{100 * refused:.3g} % of the requests find the queue of their PE full"
    elif not (growth > steady.BEHIND and straight > steady.STRAIGHT):
        stable = True
        reason = f"requests in flight change by {said}, and {100 * refused:.2g} % are refused"
    piles_up = not stable and refused <= steady.BEHIND
    found = dict(zip(figures, (throughput, half, growth), strict=True))
    return found | {"stable": stable, "piles_up": piles_up, "reason": reason}


def _edges(length: int) -> Ints:
    return np.linspace(0, length, min(BATCHES, length) + 1).astype(np.int64)


def _batches(per_step: NDArray[np.generic]) -> Floats:
    """Return sums over batches of equal length: float64[3, batches]."""
    starts = _edges(len(per_step))[:-1]
    return np.add.reduceat(per_step, starts, axis=0).T.astype(np.float64)
