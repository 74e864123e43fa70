"""Rosenblum & Mayr 1986, tables I to VI and figures 1 to 15, recomputed."""

from __future__ import annotations

from dataclasses import replace
from functools import cache, partial
from itertools import product
from math import inf
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from netloom.base.figures import Cell, Grid, Plot
from netloom_papers.studies.exhibits import Shown
from netloom_papers.studies.panels import cell, curve, grid, plot
from netloom_papers.studies.rosenblum_mayr_queues import PARTS as QUEUE_PARTS
from netloom_papers.studies.rosenblum_mayr_queues import size_of, spacing
from netloom_papers.studies.rosenblum_mayr_tables import (
    COLUMNS,
    PAPER,
    alike,
    all_seeds,
    anchors,
    placements_alike,
    systems,
)
from netloom_papers.studies.validation import compare_all, published, run_side_by_side

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom_papers.combining import CombiningRun
    from netloom_papers.studies.rosenblum_mayr_tables import System
    from netloom_papers.studies.validation import Row

    Runs: TypeAlias = Mapping[str, Sequence[CombiningRun]]

ONE_RUN = (
    "Each printed number is of one run of one seed, which decides where hot spots are. Computed is "
    "the mean over 40 seeds; a number is within if one of them is as far off."
)

ALIKE = (
    "Placements alike: means over placements whose no-wait steps, as printed, are like the "
    "report's. Numbers used for that are compared nevertheless, and say little."
)

SIZES: dict[float, tuple[int | None, ...]] = {
    0.05: (None, 5, 4, 3, 2),
    0.10: (None, 6, 5, 4, 3),
    0.15: (None, 7, 6, 5, 4),
}
"""Queue sizes by request rate: for 0.05 those that the report's text names, for the others as many
around the critical size. Unbounded queues, which the report does not plot, are for comparison."""


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


def _configurations(table: str, pes: int, _: bool) -> Shown:
    """Systems. Computed is what the generator of requests makes of them."""
    known = published("rosenblum-mayr-tables")
    cells = {}
    for name, system in systems(known, pes).items():
        traffics = [system.traffic(seed) for seed in range(1, known["seeds"] + 1)]
        spots = np.mean([len(traffic.hot_spots) for traffic in traffics])
        per_pe = np.mean([traffic.mean_per_pe for traffic in traffics])
        cells[name, "total hot spots"] = Cell(system.hot_spots, float(spots))
        mean = round(system.per_pe * system.assign, 4)
        cells[name, "mean hot spots per PE"] = Cell(mean, float(per_pe))
        cells[name, "max. queue length"] = Cell(inf if system.queue is None else system.queue, None)
        cells[name, "request rate"] = Cell(system.rate, None)
    return Shown([grid(f"Table {table}: characteristics of simulated {pes}-PE systems", cells)])


def _performance(table: str, what: str, quick: bool) -> Shown:
    known = published("rosenblum-mayr-tables")
    names = list(known[f"table {table}"]["rows"])
    rows = tuple(all_seeds(known, [f"table {table}"]))
    grids = [_grid(f"Table {table}: performance of {what} policy, 40 seeds", names, rows)]
    if quick:
        return Shown(grids, rows, (ONE_RUN,))
    some = tuple(placements_alike(known, [f"table {table}"]))
    grids.append(_grid("The same, placements alike", names, some))
    return Shown(grids, rows + some, (ONE_RUN, ALIKE))


def _grid(title: str, names: Sequence[str], rows: Sequence[Row]) -> Grid:
    """Return rows in the order of the tables: of each system both seeds, and all columns."""
    places = product((f"{name}, seed {seed}" for name in names for seed in (1, 2)), COLUMNS)
    return grid(title, {place: cell(row) for place, row in zip(places, rows, strict=True)})


def _figure(number: int, _: bool) -> Shown:
    return Shown((figure(number),), _said(number - (number - 1) % len(PARTS)))


def _said(first: int) -> tuple[Row, ...]:
    """Return the rows of what the report says of an experiment, by its first figure."""
    if first == 1:
        return ()
    if first == 13:
        return compare_all(PAPER, PAPER, QUEUE_PARTS, "section 4.4")
    rate = list(SIZES)[(first - 4) // len(PARTS)]
    name = f"critical size at a rate of {rate:.2f}"
    values = {name: published(PAPER)["section 4.3"]["values"][name]}
    return compare_all(PAPER, PAPER, QUEUE_PARTS, "section 4.3", rates=[rate], values=values)


def figure(number: int) -> Plot:
    """Return one of the report's figures 1 to 15, by stage, a line per system.

    Each is of one run, with placements like that of the report's first seed as far as its tables
    tell. But spaced hot spots are averaged over seeds, which differ much.
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
    part, field, towards, start = PARTS[(number - 1) % len(PARTS)]
    stages = len(next(iter(runs.values()))[0].wait_mean)
    names = ["PEs", *map(str, range(stages)), "MMs"][start + 1 :]
    curves = []
    for series, some in runs.items():
        lengths = np.mean([getattr(run, field) for run in some], axis=0)
        if field == "queue_mean":  # the elements and towards the modules, then these and back
            half = stages + 1
            lengths = lengths[:half] if towards else lengths[half:][::-1]
        length = min(len(names), len(lengths))
        curves.append(curve(series, names[:length], lengths[:length]))
    title = f"Figure {number}: mean {part} by stage, {what}"
    return plot(title, ("stage", "mean length, packets"), curves)


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
    )
    return {name: [run] for name, run in zip(by_name, runs, strict=True)}


EXHIBITS = {
    "table-1": partial(_configurations, "I", 16),
    "table-2": partial(_performance, "II", "16-PE systems, wait"),
    "table-3": partial(_performance, "III", "16-PE systems, no-wait"),
    "table-4": partial(_configurations, "IV", 512),
    "table-5": partial(_performance, "V", "512-PE systems, wait"),
    "table-6": partial(_performance, "VI", "512-PE systems, no-wait"),
    **{f"fig-{number}": partial(_figure, number) for number in range(1, 16)},
}
"""What recomputes the tables and figures, by name, in the paper's order."""
