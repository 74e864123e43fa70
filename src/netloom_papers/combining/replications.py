"""Several runs of a combining network, and the queue size below which such a network suffers.

Each run has hot spots and requests of its own.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.errors import InputError
from netloom.simulation.intervals import batch_interval, interval_over_runs, percentiles
from netloom.simulation.side_by_side import run_all
from netloom_papers.combining.network import BATCHES, run_combining

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom.base.arrays import Floats, Ints
    from netloom_papers.combining.hot_spots import HotSpotTraffic
    from netloom_papers.combining.network import CombiningNetwork, CombiningRun


class Steps(NamedTuple):
    """The steps that requests took: their mean, half its 95 % interval over runs, percentiles."""

    mean: float
    ci95: float
    min: int
    p50: int
    p99: int
    max: int


class QueueLengths(NamedTuple):
    """Packets in the queues of a level, or the wait pools of a stage.

    Mean over the runs with half its 95 % interval, the most in any run, and the mean number of
    those that were ever used.
    """

    mean: float
    ci95: float
    max: int
    used: float


@dataclass(frozen=True, eq=False)
class Replications:
    """Runs of one network at one rate, one a replication, and the seed of each."""

    network: CombiningNetwork
    runs: tuple[CombiningRun, ...]
    seeds: tuple[int, ...]

    @property
    def interrupted(self) -> bool:
        """Whether figures are of runs that were stopped from outside."""
        return any(run.interrupted for run in self.runs)

    @property
    def stable(self) -> bool | None:
        """Whether the network keeps up in all runs. None where one is too short to tell."""
        if any(run.stable is False for run in self.runs):
            return False
        return None if any(run.stable is None for run in self.runs) else True

    @property
    def latency_counts(self) -> Ints:
        """How many requests of all runs took so many steps, from 0 on: int64[any]."""
        total = np.zeros(max(len(run.latency_counts) for run in self.runs), np.int64)
        for run in self.runs:
            total[: len(run.latency_counts)] += run.latency_counts
        return total

    @property
    def sizes_used(self) -> tuple[int, int]:
        """The most packets that were ever in a queue, and in a wait buffer."""
        return (
            max(int(run.queue_max.max()) for run in self.runs),
            max(int(run.wait_max.max()) for run in self.runs),
        )

    @property
    def fullest(self) -> tuple[str, float]:
        """The queues that are longest on average, but for the modules', and their mean length."""
        means = np.mean([run.queue_mean for run in self.runs], axis=0)
        stages = self.network.stages
        means[stages + 1] = 0.0
        level = int(means.argmax())
        where = f"replies at the outputs of stage {2 * stages + 1 - level}"
        if level <= stages:
            where = f"requests {f'at the outputs of stage {level - 1}' if level else 'in the PEs'}"
        return where, float(means[level])

    @property
    def combined_share(self) -> float:
        """Part of the requests that reached memory within another, at whichever stage they met."""
        alone = [np.prod(1 - run.combining_rate) for run in self.runs]
        return 1 - float(np.mean(alone))

    @property
    def steps_taken(self) -> Steps | None:
        """The steps that requests took, over those of all runs alike. None without any."""
        counts = self.latency_counts
        seen = np.flatnonzero(counts)
        if not len(seen):
            return None
        completed = [run.latency_counts.sum() for run in self.runs]
        sums = [run.latency_counts @ np.arange(len(run.latency_counts)) for run in self.runs]
        mean, half = batch_interval(sums, completed)
        median, rare = percentiles(counts, (50, 99)).tolist()
        return Steps(mean, half, int(seen[0]), median, rare, int(seen[-1]))

    def queue(self, level: int) -> QueueLengths:
        """Return the lengths of the queues of a level. See ``CombiningRun``."""
        return self._lengths("queue_mean", "queue_max", "queues_used", level)

    def wait_pool(self, stage: int) -> QueueLengths:
        """Return the lengths of the wait pools of a stage."""
        return self._lengths("wait_mean", "wait_max", "pools_used", stage)

    def _lengths(self, mean: str, longest: str, used: str, place: int) -> QueueLengths:
        means, most, count = (
            np.array([getattr(run, name)[place] for run in self.runs])
            for name in (mean, longest, used)
        )
        return QueueLengths(
            *interval_over_runs(means), int(most.max()), interval_over_runs(count)[0]
        )


DISCERNIBLE = 0.1
"""Rise of a stage's mean queue that counts as one. The report judged by eye. Between 0.07 and 0.34
all give its sizes."""

LEAST_STEPS = 2 * BATCHES
"""Half of a run may be start-up. The rest has to fill the batches that tell whether it keeps up."""


@dataclass(frozen=True)
class SizeTried:
    """What queues and wait pools of a size do to the mean queues of requests.

    Attributes
    ----------
    size
        Packets that each queue, and each wait pool, holds. None: any number.
    rise
        Relative growth of the mean queue of requests behind a stage, compared with unbounded
        queues. It is that of the stage where the queue grows most, and the median over all runs.
    stage
        That stage, in the run with the median rise.
    steps_mean
        Mean steps of a request, averaged over all runs.
    refused
        Requests that found the queue of their element full, of all that were made or refused.
    """

    size: int | None
    rise: float
    stage: int
    steps_mean: float
    refused: float


@dataclass(frozen=True)
class CriticalQueue:
    """The largest queue size that shows.

    Attributes
    ----------
    size
        Critical size; 0 if even queues for one packet do not show, None if no run keeps up with
        its requests even where queues are unbounded, or it was interrupted.
    tried
        Sizes tried, largest first. The first is unbounded. The critical one is among them, and the
        next larger one unless no queue ever was as long.
    runs, stable
        Runs of each size, and those of them that count: which keep up with unbounded queues.
    interrupted
        Whether it was stopped from outside.
    """

    size: int | None
    tried: tuple[SizeTried, ...]
    runs: int
    stable: int
    interrupted: bool


def critical_queue(
    network: CombiningNetwork,
    traffics: Sequence[HotSpotTraffic],
    steps: int,
    *,
    seeds: Sequence[int],
    rise: float = DISCERNIBLE,
) -> CriticalQueue:
    """Find the largest queue size at which queues are discernibly longer than where unbounded.

    "The largest queue size which produces the first discernible degradation of performance as the
    queue size is decreased from infinity" (Rosenblum & Mayr 1986, section 4.3), found by bisection.
    Each step simulates the same requests with queues and wait pools of one size. A size degrades
    performance if the median run's mean queue of requests behind some stage is longer by more than
    ``rise``. If requests pile up even in unbounded queues there is no critical size, so runs
    that do not keep up with these are left out.

    If no queue was ever longer than a size, that size counts as good without being tried.

    Parameters
    ----------
    network
        The network. The sizes of its own queues and pools are not used.
    traffics, seeds
        The requests and the seed of each run.
    steps
        Steps in which requests are made. At least 128, because fewer may not show whether a run
        keeps up.
    rise
        Fraction above which a rise is discernible.

    Raises
    ------
    InputError
        If there are too few steps.

    Examples
    --------
    >>> from netloom_papers.combining import CombiningNetwork
    >>> from netloom_papers.combining.hot_spots import HotSpotTraffic
    >>> from netloom_papers.combining.hot_spots import assign_hot_spots, place_hot_spots
    >>> places = [place_hot_spots(64, 4, seed=seed) for seed in range(6)]
    >>> traffics = [HotSpotTraffic(hot, assign_hot_spots(64, hot, 2, 0.95), 0.1) for hot in places]
    >>> critical_queue(CombiningNetwork(64), traffics, 500, seeds=range(6)).size
    2
    """
    if steps < LEAST_STEPS:
        wanted = f"at least {LEAST_STEPS}, to tell whether requests pile up"
        raise InputError("steps", f"{steps}", wanted)
    free = _runs(network, traffics, steps, seeds, None)
    interrupted = len(free) < len(seeds) or any(run.interrupted for run in free)
    kept = [place for place, run in enumerate(free) if run.stable]
    tried: list[SizeTried] = []
    if interrupted or not kept:
        return CriticalQueue(None, (), len(seeds), len(kept), interrupted)
    free = [free[place] for place in kept]
    tried.append(_compared(None, free, free))
    good = max(int(max(run.queue_max.max(), run.wait_max.max())) for run in free)
    bad = 0
    while good - bad > 1 and not interrupted:
        size = (good + bad) // 2
        tight = _runs(
            network, [traffics[at] for at in kept], steps, [seeds[at] for at in kept], size
        )
        interrupted = len(tight) < len(kept) or any(run.interrupted for run in tight)
        if interrupted:
            break
        tried.append(_compared(size, tight, free))
        good, bad = (good, size) if tried[-1].rise > rise else (size, bad)
    tried.sort(key=lambda each: -np.inf if each.size is None else -each.size)
    found = None if interrupted else bad
    return CriticalQueue(found, tuple(tried), len(seeds), len(kept), interrupted)


def _runs(
    network: CombiningNetwork,
    traffics: Sequence[HotSpotTraffic],
    steps: int,
    seeds: Sequence[int],
    size: int | None,
) -> list[CombiningRun]:
    sized = replace(network, queue=size, wait_buffer=size)

    def one(traffic: HotSpotTraffic, seed: int, stopped: Callable[[], bool]) -> CombiningRun:
        return run_combining(sized, traffic, steps, seed=seed, stopped=stopped)

    return run_all([partial(one, *each) for each in zip(traffics, seeds, strict=True)])


def _compared(
    size: int | None, tight: Sequence[CombiningRun], free: Sequence[CombiningRun]
) -> SizeTried:
    rises = np.array([_request_queues(run) for run in tight])
    usual = np.array([_request_queues(run) for run in free])
    rises = np.divide(rises, usual, out=np.ones_like(rises), where=usual > 0) - 1
    most = rises.max(axis=1)
    middle = int(np.argsort(most)[len(most) // 2])
    asked = sum(run.requests + run.discarded_full for run in tight)
    return SizeTried(
        size=size,
        rise=float(np.median(most)),
        stage=int(rises[middle].argmax()),
        steps_mean=float(np.mean([run.steps_mean for run in tight])),
        refused=sum(run.discarded_full for run in tight) / max(asked, 1),
    )


def _request_queues(run: CombiningRun) -> Floats:
    """Mean queues of requests behind each stage."""
    return run.queue_mean[1 : len(run.wait_mean) + 1]
