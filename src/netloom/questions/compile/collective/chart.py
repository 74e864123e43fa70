"""The picture of a compiled collective: how much of the busiest channels is used over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from netloom.base import units
from netloom.base.words import counted
from netloom.drawing.axes import Axis
from netloom.drawing.colours import FULL
from netloom.drawing.frame import layered, room
from netloom.drawing.names import fitted, width_of
from netloom.questions.shown import percent

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.register import Recorded

WIDTH, ROW = 760.0, 20.0
LONGEST_NAME = 260.0

LEGEND = alt.Legend(type="gradient", orient="bottom", gradientLength=240, titleLimit=0,
                    format="%", values=[0, 0.5, 1])  # fmt: skip


def footer(record: Recorded) -> list[str]:
    """Return how near the bound the schedule is, and what limits it."""
    found = record.figures
    return [
        f"{found['collective']} on {found['topology']}: {units.size(found['size'])} on "
        f"{counted(found['ranks'], 'rank')} in {units.seconds(found['finish_seconds'])}, "
        f"{units.rate(found['algorithm_bandwidth'])}, {percent(found['efficiency'])} of the bound",
        found["bound"],
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture, by name."""
    return {"use of channels": use(record)}


def use(record: Recorded) -> alt.LayerChart:
    """Return the use of the busiest channels, a row each, in parts of the time."""
    table = record.tables["use"]
    full = list(dict.fromkeys(table["channel"].to_list()))
    short = {name: fitted(name, LONGEST_NAME) for name in full}
    names = list(short.values()) if len(set(short.values())) == len(full) else full
    scale, unit = units.TIME.scale(record.figures["finish_seconds"])
    table = table.with_columns(
        (pl.col("begin") / scale).alias("from"),
        (pl.col("end") / scale).alias("to"),
        channel=pl.col("channel").replace_strict(dict(zip(full, names, strict=True))),
    )
    table = _merged(table)
    last = float(table["to"].max() or 1.0)  # type: ignore[arg-type]
    width = max(120.0, min(WIDTH, room() - max(map(width_of, names), default=0.0) - 30))
    along = Axis("from", f"time ({unit})", 0.0, last)
    drawn = (
        alt.Chart(table)
        .mark_rect()
        .encode(
            x=along.encoding(alt.X),
            x2="to:Q",
            y=alt.Y("channel:N", title=None, sort=names, axis=alt.Axis(labelLimit=1000)),
            color=alt.Color(
                "use:Q",
                title="used of the channel: idle to full",
                scale=alt.Scale(range="heatmap", domain=FULL, interpolate="rgb"),
                legend=LEGEND,
            ),
            tooltip=["channel", "from", "to", "use"],
        )
    )  # fmt: skip
    many = counted(len(names), "busiest channel")
    return layered([drawn], f"Use of the {many} over time", width, ROW * max(len(names), 1))


def _merged(table: pl.DataFrame) -> pl.DataFrame:
    """Return parts of the time, those that follow each other as one if their use looks alike."""
    table = table.with_columns(use=(100 * pl.col("use")).round() / 100)
    run = pl.struct("channel", "use").rle_id().alias("run")
    return (
        table.group_by(run, maintain_order=True)
        .agg(
            pl.col("channel").first(), pl.col("use").first(), pl.col("from").min(),
            pl.col("to").max(),
        )
        .drop("run")
    )  # fmt: skip
