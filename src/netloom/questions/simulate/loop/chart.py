"""The picture of a program of loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from netloom.questions.network_chart import at_last, channels_chart
from netloom.questions.simulate.drawn import (
    AVERAGE,
    ON_CHANNEL,
    WORST,
    actual_by_applied,
    by_node,
    highest,
    switched,
)

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what ran, its messages, and at which applied traffic channels are shown."""
    found = record.figures
    return f"{found['program']} on {found['topology']}, mapping {found['mapping']}", [
        f"messages of {found['message_flits']} flits, each waited for; {switched(record)}",
        f"channels: at applied traffic {highest(record, 'applied'):.3g}",
    ]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a program that goes round in loops, by name."""
    channels = channels_chart(record, at_last(record, "applied"), "utilisation", ON_CHANNEL)
    return {"traffic": loop_traffic(record), "channels": channels}


def loop_traffic(record: Recorded) -> alt.LayerChart:
    """Return actual by applied traffic of the average and the worst node, and their limits."""
    most, limit = max(record.figures["asked"]), record.figures["saturation"]
    curve = actual_by_applied(record.tables["table"].drop_nulls("average_node"), most)
    title = "Actual traffic by applied"
    if limit is not None:
        values = [limit["average_node"], limit["worst_node"]]
        known = pl.DataFrame({"node": [AVERAGE, WORST], "actual": values})
        limits = (
            alt.Chart(known.filter(pl.col("actual") < most))
            .mark_rule(strokeDash=[6, 3], strokeWidth=1.2)
            .encode(y="actual:Q", color=by_node())
        )
        curve = alt.LayerChart(layer=[curve, limits])
        title += "; dashed: saturation by static analysis"
    drawn: alt.LayerChart = curve.properties(width=430, height=320, title=title)
    return drawn
