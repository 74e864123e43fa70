"""What runs of a combining network say, as plain data: of queues, wait buffers and hot spots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.questions.numbers import known
from netloom.simulation.intervals import batch_interval

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from netloom.simulation.combining import CombiningNetwork, CombiningRun


def over_runs(values: ArrayLike) -> tuple[float, float]:
    """Return the mean over runs, all alike, and half its 95 % interval (NaN of one run).

    Examples
    --------
    >>> mean, half = over_runs([1.0, 2.0, 3.0])
    >>> round(mean, 2), round(half, 2)
    (2.0, 2.48)
    """
    given = np.asarray(values, np.float64)
    return batch_interval(given, np.ones(len(given)))


def queue_figures(
    network: CombiningNetwork, runs: Sequence[CombiningRun]
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the figures of queues and wait buffers: of all together, and stage by stage."""
    stages = network.stages
    queue = [_figures(runs, "queue_mean", "queue_max", "queues_used", level)
             for level in range(2 * stages + 2)]  # fmt: skip
    wait = [_figures(runs, "wait_mean", "wait_max", "pools_used", stage) for stage in range(stages)]
    rates = np.array([run.combining_rate for run in runs]).mean(axis=0)
    together = {
        "queue": _all([run.mean_queue for run in runs], queue),
        "wait_buffer": _all([run.mean_wait for run in runs], wait),
        "pe_queue": queue[0],
        "module_queue": queue[stages + 1],
    }
    by_stage = [
        {
            "stage": stage,
            "requests": queue[stage + 1],
            "replies": queue[2 * stages + 1 - stage],
            "wait": wait[stage],
            "combining_rate": float(rates[stage]),
        }
        for stage in range(stages)
    ]
    return together, by_stage


def _all(means: list[float], parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean of all parts alike, as the tables of the report have it, and the maximum."""
    mean, half = over_runs(means)
    return {"mean": mean, "ci95": known(half), "max": max(part["max"] for part in parts)}


def _figures(
    runs: Sequence[CombiningRun], mean: str, longest: str, used: str, place: int
) -> dict[str, Any]:
    def of(name: str) -> NDArray[Any]:
        return np.array([getattr(run, name)[place] for run in runs])

    average, half = over_runs(of(mean))
    count = over_runs(of(used))[0]
    return {
        "mean": average,
        "ci95": known(half),
        "max": int(of(longest).max()),
        "used": int(count) if count.is_integer() else count,
    }


def hot_spots_of(
    network: CombiningNetwork, runs: Sequence[CombiningRun], seeds: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the hot spots of each run, in the order drawn.

    Requests for one, those that its module executed, each of which stands for all that had
    combined; both also a step, over all steps of the run, and the part of them in which the
    module was busy.
    """
    found = []
    for run, seed in zip(runs, seeds, strict=True):
        steps = max(run.steps + run.finalisation_steps, 1)
        columns = (run.modules, run.elements, run.requests_to, run.accesses_of)
        for module, elements, requests, accesses in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            found.append(
                {
                    "seed": seed,
                    "module": module,
                    "elements": elements,
                    "requests": requests,
                    "accesses": accesses,
                    "requests_per_step": requests / steps,
                    "accesses_per_step": accesses / steps,
                    "busy": accesses * network.service_steps / steps,
                }
            )
    return found


def steps_interval(run: CombiningRun) -> float | None:
    """Return half the interval of one run's mean steps; None where the mean never settles."""
    return None if run.piles_up else known(run.steps_ci95)


def run_row(rate: float, run: CombiningRun, seed: int) -> dict[str, Any]:
    """Return what one run found as one row of a table."""
    few = ("mean", "min", "p50", "p99", "max")
    return {
        "rate": rate,
        "seed": seed,
        "stable": run.stable,
        "requests": run.requests,
        "requests_per_pe": run.requests_per_pe,
        "discarded_waiting": run.discarded_waiting,
        "discarded_full": run.discarded_full,
        **{f"steps_{part}": known(getattr(run, f"steps_{part}")) for part in few},
        "steps_ci95": steps_interval(run),
        "queue_mean": run.mean_queue,
        "queue_max": int(run.queue_max.max()),
        "wait_buffer_mean": run.mean_wait,
        "wait_buffer_max": int(run.wait_max.max()),
        "throughput": known(run.throughput),
        "throughput_ci95": known(run.throughput_ci95),
        "finalisation_steps": run.finalisation_steps,
        "reason": run.reason,
        "interrupted": run.interrupted,
        "moves": run.moves,
        "cpu_seconds": run.cpu_seconds,
    }


def stage_rows(rate: float, seed: int, run: CombiningRun) -> list[dict[str, Any]]:
    """Return one row a stage and kind of queue of one run."""
    stages = len(run.wait_mean)
    places = [("requests", level - 1) for level in range(stages + 1)]
    places += [("replies", stages - down) for down in range(stages + 1)]
    places += [("waiting", stage) for stage in range(stages)]
    mean = [*run.queue_mean.tolist(), *run.wait_mean.tolist()]
    longest = [*run.queue_max.tolist(), *run.wait_max.tolist()]
    used = [*run.queues_used.tolist(), *run.pools_used.tolist()]
    rates = run.combining_rate.tolist()
    return [
        {
            "rate": rate,
            "seed": seed,
            "kind": kind,
            "stage": stage,
            "mean": mean[row],
            "max": longest[row],
            "used": used[row],
            "combining_rate": rates[stage] if kind == "requests" and stage >= 0 else None,
        }
        for row, (kind, stage) in enumerate(places)
    ]
