"""Rosenblum & Mayr 1986, figures 1 to 15: mean queues and wait pools by stage."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.figures import COMPUTED, Plot
from netloom.studies.comparing import run_side_by_side
from netloom.studies.rosenblum_mayr_queues import size_of, spacing
from netloom.studies.rosenblum_mayr_systems import systems
from netloom.studies.rosenblum_mayr_tables import alike, anchors
from netloom.studies.validation import published

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom.simulation.combining import CombiningRun
    from netloom.studies.rosenblum_mayr_systems import System

    Runs: TypeAlias = Mapping[str, Sequence[CombiningRun]]

SIZES: dict[float, tuple[int | None, ...]] = {
    0.05: (None, 5, 4, 3, 2),
    0.10: (None, 6, 5, 4, 3),
    0.15: (None, 7, 6, 5, 4),
}
"""Queue sizes by request rate: those that the report's words name for 0.05, as many around the
critical size for the others, and unbounded queues to compare with, which it does not plot."""


PARTS = (
    ("PE-to-MM queue", "queue_mean", True, -1),
    ("MM-to-PE queue", "queue_mean", False, 0),
    ("wait pool", "wait_mean", True, 0),
)
"""Of each experiment three figures: what, field of a run, whether towards the modules, and the
first stage: -1 is the processing elements."""

EXPERIMENTS = {
    1: "no-wait policy",
    4: "no-wait policy, rate 0.05, by queue size",
    7: "no-wait policy, rate 0.10, by queue size",
    10: "no-wait policy, rate 0.15, by queue size",
    13: "no-wait policy, by spacing of hot spots",
}
"""By the number of their first figure."""


def figure(number: int) -> Plot:
    """Return one of the report's figures 1 to 15, by stage, a line a system.

    Each is of one run, with placements like that of the report's first seed as far as its tables
    tell; but spaced hot spots are averaged over seeds, which differ much.
    """
    first = number - (number - 1) % len(PARTS)
    return stage_plot(number, EXPERIMENTS[first], _runs(first))


def stage_plot(number: int, what: str, runs: Runs) -> Plot:
    """Return mean lengths by stage, of some runs of each series.

    Parameters
    ----------
    number
        Of the figure: requests, replies and wait pools take turns.
    what, runs
        What is simulated, and the runs by series.
    """
    import polars as pl

    part, field, towards, start = PARTS[(number - 1) % len(PARTS)]
    stages = len(next(iter(runs.values()))[0].wait_mean)
    names = ["PEs", *map(str, range(stages)), "MMs"]
    points = []
    for series, some in runs.items():
        lengths = np.mean([getattr(run, field) for run in some], axis=0)
        if field == "queue_mean":  # the elements and towards the modules, then these and back
            half = stages + 1
            lengths = lengths[:half] if towards else lengths[half:][::-1]
        points += [
            {"series": series, "x": x, "y": float(y), "whose": COMPUTED}
            for x, y in zip(names[start + 1 :], lengths, strict=False)
        ]
    title = f"Figure {number}: mean {part} by stage, {what}"
    return Plot(title, "stage", "mean length, packets", pl.DataFrame(points))


@cache
def _runs(first: int) -> Runs:
    """Return the runs of an experiment, by series."""
    tables, known = published("rosenblum-mayr-tables"), published("rosenblum-mayr")
    if first == 13:
        return {
            f"{name}, {size_of(queue)}": runs
            for (name, queue), runs in spacing(known["section 4.4"]).items()
        }
    by_name = systems(tables, 512)
    wanted = [name for name in anchors(tables, 512) if first == 1 or name == "Normal"]
    placements = {by_name[name].family: alike(tables, 512, name, (1, 0))[0][0] for name in wanted}
    if first > 1:
        rate, sizes = list(SIZES.items())[(first - 4) // len(PARTS)]
        by_name = {
            size_of(size): replace(by_name["Normal"], rate=rate, queue=size) for size in sizes
        }
    return _once(by_name, placements)


def _once(by_name: Mapping[str, System], placements: Mapping[tuple[Any, ...], int]) -> Runs:
    """One run of each system."""
    runs = run_side_by_side(
        [
            partial(system.run, system.traffic(placements[system.family]), 1)
            for system in by_name.values()
        ],
        lambda _: None,
    )
    return {name: [run] for name, run in zip(by_name, runs, strict=True)}
