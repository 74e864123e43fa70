"""Rosenblum & Mayr 1986, tables I to VI and figures 1 to 15, recomputed."""

from __future__ import annotations

from functools import partial
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from netloom.figures import Cell, Grid
from netloom.studies.comparing import compare_all
from netloom.studies.exhibits import Exhibit, Shown
from netloom.studies.rosenblum_mayr_figures import EXPERIMENTS, PARTS, SIZES, figure
from netloom.studies.rosenblum_mayr_queues import PARTS as QUEUE_PARTS
from netloom.studies.rosenblum_mayr_systems import PAPER, systems
from netloom.studies.rosenblum_mayr_tables import (
    COLUMNS,
    NO_WAIT,
    WAIT,
    all_seeds,
    placements_alike,
)
from netloom.studies.validation import published

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.studies.validation import Row

CONFIGURATIONS = {"table I": 16, "table IV": 512}

ONE_RUN = (
    "Each printed number is of one run of one seed, which decides where hot spots are. Computed is "
    "the mean over 40 seeds; a number is within if one of them is as far off."
)

ALIKE = (
    "Placements alike: means over placements whose no-wait steps, as printed, are like the "
    "report's. Numbers used for that are compared nevertheless, and say little."
)

FIT = (
    "The report leaves rules of a step open; those here were chosen on these tables. How well "
    "they agree is a fit, and no test of the rules."
)

NOT_PRINTED = "The report plots curves and prints no numbers."

IN_ROWS = "What its words say of them in numbers is in the rows."

ONE_PLACEMENT = (
    "One run, as in the report, with a placement of hot spots like that of its first seed as far "
    "as its tables tell."
)

WORDS = {
    1: "The report: queues and wait buffers are used more in the stages close to the modules, and "
    "wait buffers more the fewer hot spots there are.",
    4: "Queue sizes are those that the report names; the critical one is 2.",
    7: "Which queue sizes the report plots is not known; the critical one is 4.",
    10: "Which queue sizes the report plots is not known; the critical one is 5.",
    13: "The report shows its first seed, and sees an effect of spacing only in queues in the "
    "centre. Seeds differ much: computed is the mean of all.",
}
"""What there is to know of each experiment, by its first figure."""


def _configurations(table: str, _: bool) -> Shown:
    """Systems; computed is what the generator of requests makes of them."""
    known = published("rosenblum-mayr-tables")
    pes = CONFIGURATIONS[table]
    lines = []
    for name, system in systems(known, pes).items():
        traffics = [system.traffic(seed) for seed in range(1, known["seeds"] + 1)]
        spots = np.mean([len(traffic.hot_spots) for traffic in traffics])
        per_pe = np.mean([traffic.mean_per_pe for traffic in traffics])
        cells = (
            Cell(system.hot_spots, float(spots)),
            Cell(round(system.per_pe * system.assign, 4), float(per_pe)),
            Cell(inf if system.queue is None else system.queue, None),
            Cell(system.rate, None),
        )
        lines.append((name, cells))
    grid = Grid(
        f"T{table[1:]}: characteristics of simulated {pes}-PE systems",
        ("", "total hot spots", "mean hot spots per PE", "max. queue length", "request rate"),
        tuple(lines),
    )
    remark = (
        "Parameters of the systems. Computed are hot spots as they are placed and assigned, means "
        "over 40 seeds; rounds and probability of the assignment are not printed, only their "
        "product."
    )
    return Shown((grid,), (), (remark,))


def _performance(table: str, quick: bool) -> Shown:
    known = published("rosenblum-mayr-tables")
    rows = tuple(all_seeds(known, [table]))
    grids = [_grid(f"T{table[1:]}: {_what(table)}, 40 seeds", list(known[table]["rows"]), rows)]
    remarks = [ONE_RUN, FIT]
    if quick:
        remarks.append("Quick: not compared with placements like the report's.")
    else:
        some = tuple(placements_alike(known, [table]))
        grids.append(_grid("The same, placements alike", list(known[table]["rows"]), some))
        rows += some
        remarks.insert(1, ALIKE)
    return Shown(tuple(grids), rows, tuple(remarks))


def _what(table: str) -> str:
    for policy, tables in (("wait", WAIT), ("no-wait", NO_WAIT)):
        for pes, name in tables.items():
            if name == table:
                return f"performance of {pes}-PE systems, {policy} policy"
    raise AssertionError(table)


def _grid(title: str, names: Sequence[str], rows: Sequence[Row]) -> Grid:
    """Return rows in the order of the tables: of each system both seeds, and all columns."""
    labels = [f"{name}, seed {seed}" for name in names for seed in (1, 2)]
    cells = iter(Cell(row.printed, row.computed, row.within) for row in rows)
    return Grid(
        title,
        ("", *COLUMNS),
        tuple((label, tuple(next(cells) for _ in COLUMNS)) for label in labels),
    )


def _figure(number: int, _: bool) -> Shown:
    first = number - (number - 1) % len(PARTS)
    rows = _said(first)
    remarks = [f"{NOT_PRINTED} {IN_ROWS}" if rows else NOT_PRINTED, WORDS[first]]
    if first < 13:
        remarks.append(ONE_PLACEMENT)
    return Shown((figure(number),), rows, tuple(remarks))


def _said(first: int) -> tuple[Row, ...]:
    """Return the rows of what the report says of an experiment, by its first figure."""
    known = published(PAPER)
    if first == 1:
        return ()
    if first == 13:
        item = "section 4.4"
        part = known[item]
    else:
        item = "section 4.3"
        rate = list(SIZES)[(first - 4) // len(PARTS)]
        name = f"critical size at a rate of {rate:.2f}"
        values = {name: known[item]["values"][name]}
        part = known[item] | {"rates": [rate], "values": values}
    return tuple(compare_all(PAPER, {item: part}, {item: QUEUE_PARTS[item]}))


def _exhibits() -> dict[str, Exhibit]:
    found = {}
    for roman, number in (("I", 1), ("II", 2), ("III", 3), ("IV", 4), ("V", 5), ("VI", 6)):
        table = f"table {roman}"
        if table in CONFIGURATIONS:
            line = f"Characteristics of simulated {CONFIGURATIONS[table]}-PE systems"
            found[f"table-{number}"] = Exhibit(line, partial(_configurations, table))
        else:
            line = _what(table).capitalize().replace("-pe", "-PE")
            found[f"table-{number}"] = Exhibit(line, partial(_performance, table))
    for number in range(1, 16):
        first = number - (number - 1) % len(PARTS)
        part = PARTS[(number - 1) % len(PARTS)][0]
        line = f"Mean {part} by stage, {EXPERIMENTS[first]}"
        found[f"fig-{number}"] = Exhibit(line, partial(_figure, number))
    return found


EXHIBITS: dict[str, Exhibit] = _exhibits()
"""Tables and figures, by name, in the paper's order."""

NOT_EXHIBITS: dict[str, str] = {}
"""Figures and tables without anything to recompute, and why: none."""
