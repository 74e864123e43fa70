"""The picture of flows sent at once."""

from __future__ import annotations

from math import ceil, log10
from typing import TYPE_CHECKING, Literal

import altair as alt
import polars as pl

from netloom import units
from netloom.drawing.colours import COLOURS, GREY
from netloom.drawing.frame import layered, titled
from netloom.topology.subnets.names import short_channel_name
from netloom.words import number

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


HOLDS, HOLDS_NONE = "holds flows back", "holds none back"

MOST_LINEAR = 100
"""Slow-downs above this are shown by decades."""

ROLES = {HOLDS: COLOURS[0], HOLDS_NONE: GREY}
"""What a busy channel does, and its colour."""


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return how long the flows take, beside what they need at least; and what was sent."""
    found = record.figures
    title = f"{found['program']} on {found['topology']}: not finished"
    if found["finish_seconds"] is not None:
        title = (
            f"{found['program']} on {found['topology']} takes "
            f"{units.seconds(found['finish_seconds'])}, "
            f"{found['finish_over_bound']:.3g} times its bound"
        )
    return title, [
        f"{found['flows']:,} flows at once, {units.size(found['bytes'])}; "
        f"injection {found['injection']}",
        f"{found['routing']}, mapping {found['mapping']}",
    ]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture, by name."""
    return {"slow-down": slowdowns(record), "busiest channels": busiest(record)}


def slowdowns(record: Recorded) -> alt.LayerChart:
    """Return which share of the flows takes how many times as long as alone."""
    table = record.tables["slowdowns"]
    most = float(table["slowdown"].max() or 1.0)  # type: ignore[arg-type]
    mean = record.figures["slowdown"]
    kind: Literal["log", "linear"] = "log" if most > MOST_LINEAR else "linear"
    decades = [10**power for power in range(ceil(log10(most)) + 1)]
    x = alt.X(
        "slowdown:Q",
        title="times as long as alone",
        scale=alt.Scale(domain=[1, max(1.1, most)], nice=False, type=kind),
        axis=alt.Axis(values=decades) if kind == "log" else alt.Axis(tickCount=5),
    )
    y = alt.Y("share:Q", title="share of the flows", axis=alt.Axis(format="%", tickCount=5))
    line = (
        alt.Chart(table)
        .mark_line(interpolate="step-after", strokeWidth=2.2, color=COLOURS[0])
        .encode(x=x, y=y)
    )
    seen = {"slowdown": [mean["mean"]] if mean else [], "what": ["mean"] * bool(mean)}
    marks = pl.DataFrame(seen, schema={"slowdown": pl.Float64, "what": pl.String})
    rule = alt.Chart(marks).mark_rule(color=GREY, strokeDash=[6, 3]).encode(x=x)
    text = (
        alt.Chart(marks)
        .mark_text(align="left", dx=4, dy=-4, baseline="bottom", color=GREY)
        .encode(x=x, y=alt.value(320), text="what:N")
    )
    said = "How much longer flows take than alone"
    if mean:
        said = f"Mean flow: {number(mean['mean'])} times as long as alone"
    return layered([line, rule, text], said, 380)


def busiest(record: Recorded) -> alt.Chart:
    """Return how much of the busiest channels is used until the last flow ends."""
    table = record.tables["busiest"].with_columns(
        pl.when(pl.col("held_flows") > 0)
        .then(pl.lit(HOLDS))
        .otherwise(pl.lit(HOLDS_NONE))
        .alias("role")
    )
    there = [each for each in ROLES if each in table["role"]]
    table = table.with_columns(
        pl.col("name").map_elements(short_channel_name, return_dtype=pl.String).alias("label")
    )
    if table["label"].is_duplicated().any():
        table = table.with_columns(pl.col("name").alias("label"))
    first = table.row(0, named=True)
    bars = (
        alt.Chart(table)
        .mark_bar()
        .encode(
            x=alt.X(
                "utilisation:Q",
                title="used of the channel until the end",
                scale=alt.Scale(domain=[0, 1]),
                axis=alt.Axis(format="%", tickCount=5),
            ),
            y=alt.Y("label:N", title=None, sort=None, axis=alt.Axis(labelLimit=330)),
            color=alt.Color(
                "role:N",
                title=None,
                scale=alt.Scale(domain=there, range=[ROLES[each] for each in there]),
                legend=alt.Legend(orient="bottom"),
            ),
            tooltip=["name", "utilisation", "bytes", "flows", "held_flows", "held_seconds"],
        )
    )
    return titled(bars, f"{first['label']} is used {100 * first['utilisation']:.3g} %", 380)
