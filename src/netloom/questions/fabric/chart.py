"""The picture of a fabric's check: paths cable by cable beside the bound, and where they are."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from netloom.drawing.axes import Axis, axis
from netloom.drawing.bars import Bar, bars
from netloom.drawing.colours import REFERENCE, THIS
from netloom.drawing.panel import End, Look, looks_of, panel
from netloom.questions.fabric.verdict import short_names
from netloom.questions.network_chart import network_chart, topology_of
from netloom.words import counted, number

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.drawing.frame import Part
    from netloom.drawing.panel import Panel
    from netloom.questions.network_chart import NetworkChart
    from netloom.questions.recorded import Recorded

LED = {"down": "down, to hosts", "up": "up, from hosts", "across": "between switches"}
"""What channels are called by where they lead."""

LOOKS = dict(zip(LED, looks_of(LED).values(), strict=True))
"""How channels look by where they lead."""

MOST_POINTS = 1000
"""Points of a line."""

MARKED = 3
"""Busiest cables that the picture names."""


def footer(record: Recorded) -> list[str]:
    """Return what was asked about."""
    found = record.figures
    size = [counted(found["hosts"], "host", ","), counted(found["switches"], "switch", ","),
            counted(found["cables"], "cable", ",")]  # fmt: skip
    return [f"{found['topology'].removeprefix('fabric:')}: {', '.join(size)}; {found['routing']}"]


def arranged(record: Recorded) -> list[Part]:
    """Return the network above the curve of its cables."""
    drawn = parts(record)
    below: list[Any] = [drawn[name] for name in ("cables", "jobs") if name in drawn]
    lower = below[0] if len(below) == 1 else alt.hconcat(*below, spacing=30)
    if "network" not in drawn:
        return [lower]
    stacked = alt.vconcat(lower, drawn["network"], spacing=26)
    return [stacked.resolve_scale(color="independent", stroke="independent")]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture, by name."""
    drawn: dict[str, Part] = {"cables": cables(record)}
    if record.tables["job_table"].height:
        drawn["jobs"] = slowdowns(record)
    if record.tables["channels"].height:
        drawn["network"] = network(record)
    return drawn


def cables(record: Recorded) -> alt.LayerChart:
    """Return the paths of each channel of an all-to-all, busiest first, each way apart.

    The least that the busiest must carry is a line across. The busiest are named.
    """
    table, found = record.tables["channels"], record.figures["all_to_all"]
    ways = [way for way in LED if (table["way"] == way).any()]
    several = len(ways) > 1
    names = {way: LED[way] if several else "all cables" for way in ways}
    curves = pl.concat([curve(table.filter(way=way)["paths"], names[way], "way") for way in ways])
    looks = {names[way]: LOOKS[way] if several else Look(THIS, named=False) for way in ways}
    where = ranks(curves, found["bound"], [found["max"]], [*looks] if several else [])
    layers = [
        *bound_of(where, found["bound"]),
        *where.lines(curves, "way", looks, points=0),
        *where.ends_of(curves, "way", looks, bound_end(where, found["bound"])),
        *_busiest(table, found, where),
    ]
    over = int((table["paths"] > (found["bound"] or 0) * 1.0005).sum())
    said = f"{over:,} of {table.height:,} channels carry more than the busiest must"
    if over == 0:
        said = f"None of {table.height:,} channels carries more than the busiest must"
    return where.drawn(layers, said)


def ranks(
    curves: pl.DataFrame, bound: float | None, more: Sequence[float], names: Sequence[str]
) -> Panel:
    """Return the axes of channels by the paths that they carry, busiest first."""
    last = int(curves["rank"].max() or 1)  # type: ignore[arg-type]
    seen = [*more, *curves["paths"].to_list(), bound, 1]
    labels = [*names, *([said_bound(bound)] if bound else [])]
    return panel(
        Axis("rank", "cables, one way each, busiest first", 0.0, 1.02 * last, whole=True),
        axis("paths", "paths of an all-to-all", seen, whole=True),
        labels, 600.0, 270.0,
    )  # fmt: skip


def said_bound(bound: float) -> str:
    """Return the name of the line of what the busiest cable must carry at least."""
    return f"busiest: {number(bound)} at least"


def bound_of(where: Panel, bound: float | None) -> list[alt.Chart]:
    """Return the line of what the busiest cable must carry at least."""
    return where.across(bound) if bound else []


def bound_end(where: Panel, bound: float | None) -> list[End]:
    """Return the name of that line, at its end."""
    return [End.of_bound(said_bound(bound), where.x.high, bound)] if bound else []


def curve(paths: pl.Series, name: str, column: str = "tables") -> pl.DataFrame:
    """Return the paths of some channels in falling order, thinned, their name in a column."""
    falling = paths.sort(descending=True).to_numpy()
    shown = np.unique(np.linspace(0, len(falling) - 1, MOST_POINTS).astype(int))
    if not len(falling):
        shown = shown[:0]
    return pl.DataFrame(
        {"rank": shown + 1, "paths": falling[shown].astype(np.int64), column: [name] * len(shown)},
        schema_overrides={column: pl.String},
    )


def _busiest(table: pl.DataFrame, found: dict[str, Any], where: Panel) -> list[alt.Chart]:
    """Return marks of the busiest channels, which carry more than they must, with their names."""
    if not found["ratio"] or found["ratio"] < 1.05:
        return []
    short = short_names({*table["from"].unique(), *table["to"].unique()})
    rows: list[dict[str, Any]] = []
    taken: dict[str, int] = {}
    last = np.inf
    for row in table.sort("paths", descending=True, maintain_order=True).iter_rows(named=True):
        taken[row["way"]] = taken.get(row["way"], 0) + 1
        if len(rows) == MARKED or row["paths"] < 1.05 * (found["bound"] or 0):
            break
        if last - row["paths"] < 0.075 * found["max"]:  # its name would lie on the one before
            continue
        last = row["paths"]
        ends = [
            short.get(row[end], row[end])
            + (f" port {port}" if (port := row[f"{end}_port"]) else "")
            for end in ("from", "to")
        ]
        rows.append({"rank": taken[row["way"]], "paths": row["paths"], "said": " → ".join(ends)})
    if not rows:
        return []
    base = where.chart(pl.DataFrame(rows))
    return [
        base.mark_circle(size=70, opacity=1, color=THIS),
        base.mark_text(align="left", dx=7, dy=-3, fontSize=12, baseline="bottom").encode(
            text="said:N"
        ),
    ]


def network(record: Recorded) -> NetworkChart:
    """Return the network, its channels by the paths of an all-to-all."""
    paths = record.tables["channels"]["paths"].to_numpy().astype(np.float64)
    found = topology_of(record)
    if found is not None and found.labels and not found.broken:
        short = short_names(found.labels[found.num_hosts :])
        found = replace(found, labels=tuple(short.get(name, name) for name in found.labels))
    return network_chart(found, paths, "paths on the channel")


def slowdowns(record: Recorded) -> alt.LayerChart:
    """Return how many times as long each job takes beside the others."""
    table = record.tables["job_table"]
    worst = table.row(int(table["slowdown"].arg_max() or 0), named=True)
    rows = [
        Bar(name, slowdown, f"{number(slowdown)} ×", THIS if slowdown > 1.005 else REFERENCE)
        for name, slowdown in table.select("name", "slowdown").rows()
    ]
    said = f"Job {worst['name']} takes up to {number(worst['slowdown'])} times as long as alone"
    if worst["slowdown"] < 1.005:
        said = "No job delays another"
    return bars(rows, said, "times as long as alone, at most", width=260, bound=("alone", 1.0))


PART_TITLES = {
    "cables": "Paths on each cable",
    "jobs": "What jobs cost each other",
    "network": "Where the paths are",
}
"""What parts are called that have no title of their own."""
