"""Several runs of a combining network at one rate, each with hot spots and requests of its own."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.simulation.intervals import batch_interval, interval_over_runs, percentiles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.simulation.combining.network import CombiningNetwork
    from netloom.simulation.combining.run import CombiningRun


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
    """Runs of one network at one rate.

    Attributes
    ----------
    network
        The network.
    runs, seeds
        One run a replication, and its seed.
    """

    network: CombiningNetwork
    runs: tuple[CombiningRun, ...]
    seeds: tuple[int, ...]

    @property
    def interrupted(self) -> bool:
        """Whether figures are of runs that were stopped from outside."""
        return any(run.interrupted for run in self.runs)

    @property
    def stable(self) -> bool | None:
        """Whether the network keeps up in all runs; None where one is too short to tell."""
        if any(run.stable is False for run in self.runs):
            return False
        return None if any(run.stable is None for run in self.runs) else True

    @property
    def latency_counts(self) -> NDArray[np.int64]:
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
        where = f"replies behind stage {2 * stages + 1 - level}"
        if level <= stages:
            where = f"requests behind stage {level - 1}" if level else "the PEs"
        return where, float(means[level])

    @property
    def combined_share(self) -> float:
        """Part of the requests that reached memory within another, at whichever stage they met."""
        alone = [np.prod(1 - run.combining_rate) for run in self.runs]
        return 1 - float(np.mean(alone))

    @property
    def steps_taken(self) -> Steps | None:
        """The steps that requests took, over those of all runs alike; None without any."""
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
        """Return the lengths of the queues of a level; see ``CombiningRun``."""
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
