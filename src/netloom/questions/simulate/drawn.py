"""What the pictures of all programs on a network have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from netloom.drawing.colours import COLOURS, GREY
from netloom.drawing.frame import curve
from netloom.questions.network_chart import at_last

if TYPE_CHECKING:
    from netloom.questions.recorded import Recorded


AVERAGE, WORST = "average node", "worst node"
ON_CHANNEL = "flits/cycle on the channel"
APPLIED, ACTUAL = "applied traffic, flits/node/cycle", "actual traffic, flits/node/cycle"


def switched(record: Recorded) -> str:
    """Return what switches, in words."""
    return f"{record.figures['routing']}, {record.figures['router']['name']}"


def highest(record: Recorded, load: str) -> float:
    """Return the load at which channels are shown."""
    highest: float = at_last(record, load)[load][0]
    return highest


def actual_by_applied(table: pl.DataFrame, most: float) -> alt.LayerChart:
    """Actual traffic of the average and the worst node by applied traffic."""
    tidy = table.rename({"average_node": AVERAGE, "worst_node": WORST}).unpivot(
        [AVERAGE, WORST],
        index=["applied", *(["message_bytes"] if "message_bytes" in table.columns else [])],
        variable_name="node",
        value_name="actual",
    )
    lines = curve(
        tidy,
        x=x_axis("applied", APPLIED),
        y=alt.Y("actual:Q", title=ACTUAL),
        color=by_node(),
        tooltip=["node:N", "applied:Q", "actual:Q"],
    )
    if "message_bytes" in table.columns:
        dash = alt.Legend(symbolType="stroke", symbolStrokeColor=GREY)
        lines = lines.encode(
            strokeDash=alt.StrokeDash("message_bytes:N", title="bytes, at left", legend=dash)
        )
    diagonal = (
        alt.Chart(pl.DataFrame({"applied": [0.0, most], "actual": [0.0, most]}))
        .mark_line(color=GREY, strokeDash=[2, 3])
        .encode(x="applied:Q", y="actual:Q")
    )
    both: alt.LayerChart = alt.LayerChart(layer=[diagonal, lines])
    return both


def by_node() -> alt.Color:
    """Return the colours of the average and the worst node."""
    return alt.Color(
        "node:N", scale=alt.Scale(domain=[AVERAGE, WORST], range=COLOURS[1::-1]), title=None
    )


def x_axis(field: str, title: str) -> alt.X:
    """Return an axis of traffic, from its least value on."""
    return alt.X(f"{field}:Q", title=title, scale=alt.Scale(zero=True))
