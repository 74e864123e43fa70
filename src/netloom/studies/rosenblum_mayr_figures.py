"""Rosenblum & Mayr 1986, figures 1 to 15: mean queues and wait pools by stage."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.studies.comparing import run_side_by_side
from netloom.studies.rosenblum_mayr_queues import size_of, spacing
from netloom.studies.rosenblum_mayr_systems import systems
from netloom.studies.rosenblum_mayr_tables import alike, anchors
from netloom.studies.validation import published

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import polars as pl

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


def figures() -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Yield name, title and table of each figure of the report.

    A table has a row a point: ``series`` (str), ``stage`` (int: -1 the processing elements, 0 to 8
    the stages, 9 the memory modules) and ``length`` (float, mean packets in a queue or wait pool).
    Each is of one run, with placements like that of the report's first seed as far as its tables
    tell; but spaced hot spots are averaged over seeds, which differ much.
    """
    tables, known = published("rosenblum-mayr-tables"), published("rosenblum-mayr")
    by_name = systems(tables, 512)
    placements = {
        by_name[name].family: alike(tables, 512, name, (1, 0))[0][0]
        for name in anchors(tables, 512)
    }
    yield from _triple(1, "no-wait policy", _once(by_name, placements))
    for first, (rate, sizes) in zip((4, 7, 10), SIZES.items(), strict=True):
        sized = {size_of(size): replace(by_name["Normal"], rate=rate, queue=size) for size in sizes}
        what = f"no-wait policy, rate {rate:.2f}, by size of queues and wait pools"
        yield from _triple(first, what, _once(sized, placements))
    spaced = {
        f"{name}, {size_of(queue)}": runs
        for (name, queue), runs in spacing(known["section 4.4"]).items()
    }
    yield from _triple(13, "no-wait policy, by spacing of hot spots", spaced)


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


def _triple(first: int, what: str, runs: Runs) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Yield the three figures of an experiment: requests, replies and wait pools."""
    stages = len(next(iter(runs.values()))[0].wait_mean)
    through = range(stages)
    parts = (
        ("PE-to-MM queue", "queue_mean", 0, (-1, *through)),
        ("MM-to-PE queue", "queue_mean", stages + 1, (stages, *reversed(through))),
        ("wait pool", "wait_mean", 0, through),
    )
    for number, (length, field, start, order) in enumerate(parts, first):
        means = {
            series: np.mean([getattr(run, field) for run in some], axis=0)[start:][: len(order)]
            for series, some in runs.items()
        }
        table = _table(means, order)
        yield f"figure-{number:02}", f"Figure {number}: mean {length} by stage, {what}", table


def _table(means: Mapping[str, Sequence[float]], stages: Sequence[int]) -> pl.DataFrame:
    import polars as pl

    points = [
        {"series": series, "stage": stage, "length": float(length)}
        for series, lengths in means.items()
        for stage, length in sorted(zip(stages, lengths, strict=True))
    ]
    return pl.DataFrame(points)
