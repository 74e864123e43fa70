"""How much of some channels is used over time: a row each, from idle to full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.base import units
from netloom.base.words import counted
from netloom.drawing.axes import Axis
from netloom.drawing.colours import FULL
from netloom.drawing.frame import layered, room
from netloom.drawing.names import fitted, width_of

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

WIDTH, ROW = 760.0, 20.0
LONGEST_NAME = 260.0


def use_over_time(use: pl.DataFrame, seconds: float) -> alt.LayerChart:
    """Return the use of the busiest channels, a row each, in parts of the time.

    Parts that follow each other are one if their use looks alike.

    Parameters
    ----------
    use
        Parts of the time of each channel, in order: ``channel``, ``begin`` and ``end`` in seconds,
        and ``use``, from 0 to 1.
    seconds
        How long all of it takes.
    """
    import altair as alt
    import polars as pl

    full = use["channel"].unique(maintain_order=True).to_list()
    short = {name: fitted(name, LONGEST_NAME) for name in full}
    names = list(short.values()) if len(set(short.values())) == len(full) else full
    scale, unit = units.TIME.scale(seconds)
    named = use.with_columns(
        (pl.col("begin") / scale).alias("from"),
        (pl.col("end") / scale).alias("to"),
        channel=pl.col("channel").replace_strict(dict(zip(full, names, strict=True))),
        use=(100 * pl.col("use")).round() / 100,
    )
    runs = named.group_by(pl.struct("channel", "use").rle_id().alias("run"), maintain_order=True)
    firsts = [pl.col(name).first() for name in ("channel", "use", "from")]
    table = runs.agg(*firsts, pl.col("to").last()).drop("run")
    last = float(table["to"].max() or 1.0)  # type: ignore[arg-type]
    width = max(120.0, min(WIDTH, room() - max(map(width_of, names), default=0.0) - 30))
    legend = alt.Legend(
        type="gradient",
        orient="bottom",
        gradientLength=240,
        titleLimit=0,
        format="%",
        values=[0, 0.5, 1],
    )
    drawn = (
        alt.Chart(table)
        .mark_rect()
        .encode(
            x=Axis("from", f"time ({unit})", 0.0, last).encoding(alt.X),
            x2="to:Q",
            y=alt.Y("channel:N", title=None, sort=names, axis=alt.Axis(labelLimit=1000)),
            color=alt.Color(
                "use:Q",
                title="used of the channel: idle to full",
                scale=alt.Scale(range="heatmap", domain=FULL, interpolate="rgb"),
                legend=legend,
            ),
            tooltip=["channel", "from", "to", "use"],
        )
    )
    many = counted(len(names), "busiest channel")
    return layered([drawn], f"Use of the {many} over time", width, ROW * max(len(names), 1))
