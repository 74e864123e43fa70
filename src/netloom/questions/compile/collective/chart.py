"""The picture of a compiled collective: how much of the busiest channels is used over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from netloom import units
from netloom.drawing.frame import titled
from netloom.words import counted

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded

WIDTH, ROW = 760, 18


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return how near the bound the schedule is, and what limits it."""
    found = record.figures
    title = (
        f"{found['collective']} on {found['topology']}: "
        f"{100 * found['efficiency']:.4g} % of the best possible bandwidth"
    )
    return title, [
        f"{units.size(found['size'])} on {counted(found['ranks'], 'rank')} in "
        f"{units.seconds(found['finish_seconds'])}, {units.rate(found['algorithm_bandwidth'])}",
        found["bound"],
    ]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture, by name."""
    return {"use of channels": use(record)}


def use(record: Recorded) -> alt.Chart:
    """Return the use of the busiest channels, a row each, in parts of the time."""
    import polars as pl

    table = record.tables["use"]
    names = list(dict.fromkeys(table["channel"].to_list()))
    scale, unit = units.TIME.scale(record.figures["finish_seconds"])
    table = table.with_columns(
        (pl.col("begin") / scale).alias("from"), (pl.col("end") / scale).alias("to")
    )
    drawn = (
        alt.Chart(table)
        .mark_rect()
        .encode(
            x=alt.X("from:Q", title=f"time, {unit}", scale=alt.Scale(nice=False)),
            x2="to:Q",
            y=alt.Y("channel:N", title=None, sort=names, axis=alt.Axis(labelLimit=260)),
            color=alt.Color(
                "use:Q",
                title="used of the channel's rate",
                scale=alt.Scale(range="ramp", domain=[0, 1], interpolate="rgb"),
                legend=alt.Legend(type="gradient", orient="bottom", gradientLength=240, format="%"),
            ),
            tooltip=["channel", "from", "to", "use"],
        )
    )
    many = counted(len(names), "busiest channel")
    return titled(drawn, f"Use of the {many} over time", WIDTH, ROW * len(names))
