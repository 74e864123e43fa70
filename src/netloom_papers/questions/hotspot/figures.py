"""What runs of a combining network say, as plain data: of queues, wait buffers and hot spots."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.questions.numbers import known
from netloom.simulation.intervals import interval_over_runs

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom_papers.combining import CombiningNetwork, CombiningRun
    from netloom_papers.combining.runs import QueueLengths, Replications


def queue_figures(point: Replications) -> dict[str, Any]:
    """Return the figures of queues and wait buffers: of all together, and by ``stages``."""
    runs, stages = point.runs, point.network.stages
    queue = [_figures(point.queue(level)) for level in range(2 * stages + 2)]
    wait = [_figures(point.wait_pool(stage)) for stage in range(stages)]
    rates = np.array([run.combining_rate for run in runs]).mean(axis=0)
    return {
        "queue": _all([run.mean_queue for run in runs], queue),
        "wait_buffer": _all([run.mean_wait for run in runs], wait),
        "pe_queue": queue[0],
        "module_queue": queue[stages + 1],
        "stages": [
            {
                "stage": stage,
                "requests": queue[stage + 1],
                "replies": queue[2 * stages + 1 - stage],
                "wait": wait[stage],
                "combining_rate": float(rates[stage]),
            }
            for stage in range(stages)
        ],
    }


def _all(means: list[float], parts: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean of all parts alike, as the tables of the report have it, and the maximum."""
    mean, half = interval_over_runs(means)
    return {"mean": mean, "ci95": known(half), "max": max(part["max"] for part in parts)}


def _figures(found: QueueLengths) -> dict[str, Any]:
    used = int(found.used) if found.used.is_integer() else found.used
    return found._asdict() | {"ci95": known(found.ci95), "used": used}


def hot_spots_of(
    network: CombiningNetwork, runs: Sequence[CombiningRun], seeds: Sequence[int]
) -> list[dict[str, Any]]:
    """Return the hot spots of each run, in the order drawn.

    Requests for one, those that its module executed, each of which stands for all that had
    combined. Both also a step, over all steps of the run, and the part of them in which the
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
    """Return half the interval of one run's mean steps. None where the mean never settles."""
    return None if run.piles_up else known(run.steps_ci95)


def stage_rows(rate: float, seed: int, run: CombiningRun) -> list[dict[str, Any]]:
    """Return one row per stage and kind of queue of one run."""
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
