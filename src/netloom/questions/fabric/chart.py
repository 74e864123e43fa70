"""The picture of a fabric's check: paths cable by cable beside the bound, and where they are."""

from __future__ import annotations

from dataclasses import replace
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from netloom.drawing.colours import COLOURS, GREY
from netloom.drawing.frame import layered
from netloom.drawing.room import room
from netloom.questions.fabric.verdict import amount, short_names
from netloom.questions.network_chart import network_chart, topology_of
from netloom.words import counted

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.network_chart import NetworkChart
    from netloom.questions.recorded import Recorded

LED = {"down": "down, to hosts", "up": "up, from hosts", "across": "between switches"}
"""What channels are called by where they lead."""

WHOSE = {"down": COLOURS[0], "up": COLOURS[1], "across": COLOURS[2]}
DASHES = {"down": [1, 0], "up": [7, 3], "across": [2, 2]}

MOST_POINTS = 1000
"""Points of a line."""

MARKED = 3
"""Busiest cables that the picture names."""


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return the verdict, and what was asked about."""
    found = record.figures
    size = [counted(found["hosts"], "host", ","), counted(found["switches"], "switch", ","),
            counted(found["cables"], "cable", ",")]  # fmt: skip
    about = f"{found['topology'].removeprefix('fabric:')}: {', '.join(size)}; {found['routing']}"
    title, *more = wrap(found["verdict"]["sentence"], 96)
    return title, [*more, about]


def arranged(record: Recorded) -> list[Part]:
    """Return the network above the curve of its cables."""
    drawn = parts(record)
    below: list[Any] = [drawn[name] for name in ("cables", "jobs") if name in drawn]
    lower = below[0] if len(below) == 1 else alt.hconcat(*below, spacing=30)
    if "network" not in drawn:
        return [lower]
    stacked = alt.vconcat(lower, drawn["network"], spacing=26)
    return [stacked.resolve_scale(color="independent", stroke="independent")]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


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

    The least that the busiest must carry is a line across; the busiest are named.
    """
    table, found = record.tables["channels"], record.figures["all_to_all"]
    ways = [way for way in LED if (table["way"] == way).any()]
    names = {way: LED[way] if len(ways) > 1 else "all cables" for way in ways}
    curves = pl.concat([curve(table.filter(way=way)["paths"], names[way], "way") for way in ways])
    top = max(found["max"], found["bound"] or 0) or 1
    last = max(table.filter(way=way).height for way in ways)
    high = 1.08 if (found["ratio"] or 0) > 1.2 else 1.25  # room for words above the bound
    beside = 1.22 if len(ways) > 1 else 1.02  # room for the names of curves at their ends
    x = alt.X("rank:Q", title="cables, one way each, busiest first",
              scale=alt.Scale(domain=[0, beside * last], nice=False),
              axis=alt.Axis(format=",d", tickMinStep=1, tickCount=6))  # fmt: skip
    y = alt.Y("paths:Q", title="paths of an all-to-all",
              axis=alt.Axis(format=",d", tickMinStep=1),
              scale=alt.Scale(domain=[0, high * top], nice=False))  # fmt: skip
    domain = [names[way] for way in ways]
    apart = len(ways) > 1
    hues = [WHOSE[way] if apart else COLOURS[0] for way in ways]
    dashes = [DASHES[way] if apart else [1, 0] for way in ways]
    colour = alt.Color("way:N", legend=None, scale=alt.Scale(domain=domain, range=hues))
    dash = alt.StrokeDash("way:N", legend=None, scale=alt.Scale(domain=domain, range=dashes))
    lines = alt.Chart(curves).mark_line(strokeWidth=2.4)
    layers = [
        *limit(found["bound"], last, x, y),
        lines.encode(x=x, y=y, color=colour, strokeDash=dash),
        *_ends(curves, domain, (found["bound"] or 0.0, top), x, y, colour),
        *_busiest(table, found, x, y),
    ]
    over = int((table["paths"] > (found["bound"] or 0) * 1.0005).sum())
    said = f"{over:,} of {table.height:,} channels carry more than the busiest must"
    if over == 0:
        said = f"None of {table.height:,} channels carries more than the busiest must"
    return layered(layers, said, min(600.0, room() - 70), 270)


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


def limit(bound: float | None, last: int, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Return the line of what the busiest cable must carry at least, with its words."""
    if not bound:
        return []
    said = f"the busiest must carry {amount(bound)}"
    base = alt.Chart(pl.DataFrame({"rank": [last], "paths": [bound], "said": [said]}))
    return [
        base.mark_rule(strokeDash=[8, 3, 2, 3], strokeWidth=1.4).encode(y=y),
        base.mark_text(align="right", baseline="bottom", dy=-4, fontSize=12).encode(
            x=x, y=y, text="said:N"
        ),
    ]


def _ends(
    curves: pl.DataFrame,
    names: list[str],
    scale: tuple[float, float],
    x: alt.X,
    y: alt.Y,
    colour: alt.Color,
) -> list[alt.Chart]:
    """Return the names of curves at their right ends; none of one curve.

    They are apart from each other, from the axis and from the bound: ``scale`` is that, and the
    height of the picture.
    """
    if len(names) < 2:
        return []
    bound, top = scale
    rows = [curves.filter(way=name).row(-1, named=True) for name in names]
    below = 0.05 * top
    for row in sorted(rows, key=lambda row: float(row["paths"])):
        place = max(float(row["paths"]), below)
        if bound and abs(place - bound) < 0.05 * top:
            place = bound + 0.055 * top
        row["paths"], below = place, place + 0.075 * top
    text = alt.Chart(pl.DataFrame(rows)).mark_text(align="left", dx=7, fontSize=12, fontWeight=600)
    return [text.encode(x=x, y=y, text="way:N", color=colour)]


def _busiest(table: pl.DataFrame, found: dict[str, Any], x: alt.X, y: alt.Y) -> list[alt.Chart]:
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
    base = alt.Chart(pl.DataFrame(rows)).encode(x=x, y=y)
    return [
        base.mark_point(size=70, filled=True, opacity=1, color=COLOURS[0]),
        base.mark_text(align="left", dx=9, fontSize=12, baseline="middle").encode(text="said:N"),
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
    most = float(table["slowdown"].max() or 1.0)  # type: ignore[arg-type]
    base = alt.Chart(table).encode(
        y=alt.Y("name:N", title=None, sort=None, axis=alt.Axis(labelLimit=160)),
        x=alt.X("slowdown:Q", title="times as long as alone, at most",
                scale=alt.Scale(domain=[0, 1.15 * most], nice=False)),
    )  # fmt: skip
    layers = [
        base.mark_bar(size=14, color=COLOURS[0]),
        base.mark_text(align="left", dx=4, fontSize=12).encode(
            text=alt.Text("slowdown:Q", format=".2f")
        ),
        alt.Chart(pl.DataFrame({"slowdown": [1.0]}))
        .mark_rule(strokeDash=[4, 3], color=GREY)
        .encode(x="slowdown:Q"),
    ]
    worst = table.row(int(table["slowdown"].arg_max() or 0), named=True)
    said = f"Job {worst['name']} takes up to {worst['slowdown']:.2f} times as long as alone"
    if most < 1.005:
        said = "No job delays another"
    return layered(layers, said, min(260.0, room() - 120), max(26 * table.height, 52))


PART_TITLES = {
    "cables": "Paths on each cable",
    "jobs": "What jobs cost each other",
    "network": "Where the paths are",
}
"""What parts are called that have no title of their own."""
