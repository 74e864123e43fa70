"""What a combining network is made of, how its switches treat requests that meet, and one run."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from netloom.base.errors import InputError
from netloom.base.provenance import DEFAULT_SEED
from netloom.simulation.intervals import percentiles, run_interval
from netloom.simulation.steady import BATCH, BEHIND, STRAIGHT, fitted_line, mser5
from netloom.topology.omegas import DIGITS, Digits, checked_stages, digit_reversed
from netloom_papers.combining.engine import MOST_STEPS, CombiningEngine
from netloom_papers.combining.layout import OPERATIONS, RULES, UNBOUNDED

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike, NDArray

    from netloom.base.arrays import Floats, Ints
    from netloom_papers.combining.hot_spots import HotSpotTraffic


ORDERS = ("forward", "backward")

LONGEST_SERVICE = 10_000
"""Most steps that a memory module takes for a request."""


@dataclass(frozen=True)
class CombiningNetwork:
    """An Omega network of buffered switches that combine requests to one word of memory.

    N processing elements and N memory modules are joined by K = log_r N stages of r × r switches
    (Gottlieb et al., "The NYU Ultracomputer", IEEE Trans. Computers C-32, 1983; Rosenblum & Mayr,
    "Simulation of an Ultracomputer with several hot spots", STAN-CS-86-1119, 1986, section 2).
    Packets move by one stage a step at most. Replies go back the way their requests came.

    Attributes
    ----------
    pes
        N: a power of the switch size, 4 to 65536.
    switch_size
        r: 2, 4 or 8.
    queue, wait_buffer
        Packets that each queue, and each pool of waiting partners, holds. None: any number.
    combining
        Which requests to one word become one. ``waiting``: two that enter a switch for the same
        output, or one that enters and one that waits in the output queue already, which needs no
        room there. This is what reproduces the published tables. ``slot``: the same, but only
        where the queue has room. ``entering``: only two that enter together, as the report's text
        has it. ``none``: no combining.
    unlimited
        Whether a request may combine any number of times at a switch, not once. Requests that enter
        together then first look for a partner that waits in the queue; if there is none, they
        become a pair. Partners leave one by one as soon as there is room on the way back.
    order
        ``forward``: stages move in the order of a request's path, so that room made in a step
        can be used in the next one only. ``backward``: in the reverse order (report, 3.1).
    digits
        Which digits of a module's number the stages look at: ``most-significant-first``, as in
        Lawrie's Omega network, or ``least-significant-first``.
    service_steps
        Steps that a module takes for a request.
    operation
        What a request does to its word while it fetches it: ``add``, ``or``, ``and``, ``xor``,
        ``max``, ``min``, ``swap`` or ``load``.

    Raises
    ------
    InputError
        If a field is none of these.

    Examples
    --------
    >>> CombiningNetwork(512, queue=4).stages
    9
    """

    pes: int
    switch_size: int = 2
    queue: int | None = None
    wait_buffer: int | None = None
    combining: Literal["waiting", "slot", "entering", "none"] = "waiting"
    unlimited: bool = False
    order: Literal["forward", "backward"] = "forward"
    digits: Digits = "most-significant-first"
    service_steps: int = 1
    operation: Literal["add", "or", "and", "xor", "max", "min", "swap", "load"] = "add"

    def __post_init__(self) -> None:
        checked_stages(self.pes, self.switch_size)
        for field in ("queue", "wait_buffer"):
            capacity = getattr(self, field)
            if capacity is not None and not 1 <= capacity < UNBOUNDED:
                raise InputError(field, f"{capacity}", "at least 1 packet, or unbounded")
        if not 1 <= self.service_steps <= LONGEST_SERVICE:
            wanted = f"1 to {LONGEST_SERVICE} steps"
            raise InputError("service_steps", f"{self.service_steps}", wanted)
        for field, allowed in (
            ("combining", RULES),
            ("order", ORDERS),
            ("digits", DIGITS),
            ("operation", OPERATIONS),
        ):
            if getattr(self, field) not in allowed:
                wanted = f"one of {', '.join(allowed)}"
                raise InputError(field, f"'{getattr(self, field)}'", wanted)

    @property
    def digit_bits(self) -> int:
        """Bits of a line's number that a stage decides: log₂ r."""
        return self.switch_size.bit_length() - 1

    @property
    def stages(self) -> int:
        """K = log_r N."""
        return (self.pes.bit_length() - 1) // self.digit_bits

    @property
    def unhindered_steps(self) -> int:
        """Steps of a request that nothing holds up: 2 K + 2, and what memory takes beyond 1."""
        return 2 * self.stages + 1 + self.service_steps

    def lines_of(self, modules: ArrayLike) -> Ints:
        """Return the line behind the last stage that each module is on. Also the other way round.

        Examples
        --------
        >>> CombiningNetwork(8, digits="least-significant-first").lines_of([1, 6])
        array([4, 3], dtype=int32)
        """
        if self.digits == "most-significant-first":
            return np.asarray(modules, np.int32)
        return digit_reversed(modules, self.pes, self.switch_size)


BATCHES = 64
"""Batches that a run is cut into, for confidence intervals and for the growth of the backlog."""

HEARING = 2**18
"""Steps times processing elements between two looks at whether to stop: some 10 ms at a usual load,
some tenths of a second where every element asks in every step."""


@dataclass(frozen=True)
class CombiningRun:
    """What a run was like. Means and sums are those of Rosenblum & Mayr 1986, section 2.4.

    Means of queues and pools are sums over all steps, divided by ``steps`` and by the number of
    queues of the level that were ever used. The steps include those in which the last requests
    return. Maxima are taken within a step, after packets have entered a queue and before they
    leave.

    Attributes
    ----------
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
        from batch means of this one run. Seeds differ by more, because their hot spots do.
    latency_counts
        int64[any]: requests that took so many steps, from 0 on.
    queue_mean, queue_max, queues_used
        float64, int32, int64[2 K + 2], by level: processing elements, requests behind stages 0 to
        K − 1, memory modules, replies behind stages K − 1 to 0.
    wait_mean, wait_max, pools_used
        float64, int32, int64[K]: packets in wait pools, by stage.
    combining_rate
        float64[K]: of the requests that come to a stage, those that another takes along.
    modules
        int32[any]: all modules that were hot spots at the beginning, in the order drawn, and those
        that came later and were asked for.
    elements
        int64[any]: processing elements that had each of them at first.
    requests_to, accesses_of
        int64[any]: requests for each of them, and those that its module executed (of the
        background as well).
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
    interrupted
        Whether it was stopped from outside. Figures are of the steps it came to.
    moves
        Moves of packets by a stage.
    cpu_seconds
        Time it took one processor.
    """

    steps: int
    finalisation_steps: int
    pes: int
    requests: int
    discarded_waiting: int
    discarded_full: int
    steps_mean: float
    steps_ci95: float
    steps_min: float
    steps_p50: float
    steps_p99: float
    steps_max: float
    latency_counts: Ints
    queue_mean: Floats
    queue_max: Ints
    queues_used: Ints
    wait_mean: Floats
    wait_max: Ints
    pools_used: Ints
    combining_rate: Floats
    modules: Ints
    elements: Ints
    requests_to: Ints
    accesses_of: Ints
    throughput: float
    throughput_ci95: float
    stable: bool | None
    growth: float
    reason: str
    interrupted: bool
    moves: int
    cpu_seconds: float

    @property
    def requests_per_pe(self) -> float:
        """Requests made, per processing element."""
        return self.requests / self.pes

    @property
    def refused(self) -> float:
        """Part of the requests, made or not, that found the queue of their element full."""
        return self.discarded_full / max(self.requests + self.discarded_full, 1)

    @property
    def piles_up(self) -> bool:
        """Whether requests in flight grow on and on. Not where what is too much is refused."""
        return self.stable is False and self.refused <= BEHIND

    @property
    def mean_queue(self) -> float:
        """The mean over all levels of the mean queue, each level alike, as the tables have it."""
        return float(self.queue_mean.mean())

    @property
    def mean_wait(self) -> float:
        """The mean over all stages of the mean wait pool, each stage alike."""
        return float(self.wait_mean.mean())


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
    interrupted = made < steps or engine.in_flight > 0
    came = np.setdiff1d(np.flatnonzero(engine.issued_to), traffic.hot_spots)
    modules = np.concatenate([traffic.hot_spots, came]).astype(np.int32)
    elements = np.bincount(traffic.assigned[traffic.assigned >= 0], minlength=network.pes)
    arrived = engine.arrived
    return CombiningRun(
        steps=made,
        finalisation_steps=engine.step - made,
        pes=network.pes,
        requests=engine.issued,
        discarded_waiting=engine.discarded_waiting,
        discarded_full=engine.discarded_full,
        **_latency(engine),
        latency_counts=np.trim_zeros(engine.latency_counts, "b"),
        **_use(engine, max(made, 1)),
        combining_rate=np.divide(
            engine.combined, arrived, out=np.zeros(len(arrived)), where=arrived > 0
        ),
        modules=modules,
        elements=elements[modules],
        requests_to=engine.issued_to[modules],
        accesses_of=engine.accesses[modules],
        **_kept_up(engine, made),
        interrupted=interrupted,
        moves=engine.moves,
        cpu_seconds=time.thread_time() - began,
    )


def _latency(engine: CombiningEngine) -> dict[str, Any]:
    """Return the figures of ``steps_*``."""
    names = [f"steps_{name}" for name in ("mean", "ci95", "min", "p50", "p99", "max")]
    if not engine.completed:
        return dict.fromkeys(names, np.nan)
    _, completed, steps = _batches(engine.per_step)
    mean = float(steps.sum() / completed.sum())
    _, half = run_interval(steps, completed)
    middle, high = percentiles(engine.latency_counts, (50, 99)).tolist()
    seen = np.flatnonzero(engine.latency_counts)
    figures = (mean, half, float(seen[0]), middle, high, float(seen[-1]))
    return dict(zip(names, figures, strict=True))


def _use(engine: CombiningEngine, steps: int) -> dict[str, Any]:
    """Return means, maxima and numbers of the queues by level and of the pools by stage."""
    found: dict[str, Any] = {}
    for what, whats, sums, longest in (
        ("queue", "queues", engine.population_sums, engine.queue_max),
        ("wait", "pools", engine.wait_sums, engine.pool_max),
    ):
        used = np.count_nonzero(longest, axis=1)
        found[f"{what}_mean"] = sums / steps / np.maximum(used, 1)
        found |= {f"{what}_max": longest.max(axis=1), f"{whats}_used": used}
    return found


def _kept_up(engine: CombiningEngine, made: int) -> dict[str, Any]:
    """Return what was completed per element and step, and whether that is what was asked for."""
    per_step = engine.per_step[:made].astype(np.float64)
    pes = engine.network.pes
    whole = made // BATCH * BATCH
    starts = mser5(per_step[:whole, 1].reshape(-1, BATCH).mean(axis=1))
    begin = made // 2 if starts is None else BATCH * starts
    if made - begin < BATCHES:
        reason = f"too short to tell: {made} steps"
        too_short = {"stable": None, "growth": np.nan, "reason": reason}
        return {"throughput": np.nan, "throughput_ci95": np.nan, **too_short}
    _, completed, _ = _batches(per_step[begin:])
    spans = np.diff(_edges(made - begin)) * float(pes)
    throughput, half = run_interval(completed, spans)
    backlog = np.cumsum(per_step[:, 0] - per_step[:, 1])[begin + _edges(made - begin)[1:] - 1]
    slope, straight = fitted_line(_edges(made - begin)[1:].astype(np.float64), backlog)
    refused = engine.discarded_full / max(engine.issued + engine.discarded_full, 1)
    asked = float(per_step[begin:, 0].mean())
    growth = slope / asked if asked else 0.0
    said = f"{100 * growth:.2g} % of the requests made (R² = {straight:.2f})"
    stable, reason = False, f"requests in flight grow by {slope:.3g} a step, {said}"
    if refused > BEHIND:
        reason = f"{100 * refused:.3g} % of the requests find the queue of their PE full"
    elif not (growth > BEHIND and straight > STRAIGHT):
        stable = True
        reason = f"requests in flight change by {said}, and {100 * refused:.2g} % are refused"
    verdict = {"stable": stable, "growth": growth, "reason": reason}
    return {"throughput": throughput, "throughput_ci95": half, **verdict}


def _edges(length: int) -> Ints:
    return np.linspace(0, length, min(BATCHES, length) + 1).astype(np.int64)


def _batches(per_step: NDArray[np.generic]) -> Floats:
    """Return sums over batches of equal length: float64[3, batches]."""
    starts = _edges(len(per_step))[:-1]
    return np.add.reduceat(per_step, starts, axis=0).T.astype(np.float64)
