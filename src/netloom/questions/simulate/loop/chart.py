"""The picture of a program of loops."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from netloom.base.words import number
from netloom.drawing.axes import axis
from netloom.questions.network_chart import at_last, channels_chart
from netloom.questions.shown import order_named
from netloom.questions.simulate.drawn import (
    APPLIED,
    AVERAGE,
    BY_NODE,
    LIMIT,
    ON_CHANNEL,
    WORST,
    highest,
    shares,
    switched,
    thresholds,
)

if TYPE_CHECKING:
    import altair as alt

    from netloom.drawing.frame import Part
    from netloom.questions.register import Recorded


def footer(record: Recorded) -> list[str]:
    """Return what ran, its messages, and at which applied traffic channels are shown."""
    found = record.figures
    return [
        f"{found['program']} on {found['topology']}, {order_named(found['mapping'])}; messages of "
        f"{found['message_flits']} flits, each waited for; {switched(record)}; channels at applied "
        f"traffic {number(highest(record, 'applied'))}"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a program that goes round in loops, by name."""
    channels = channels_chart(record, at_last(record, "applied"), "utilisation", ON_CHANNEL)
    return {"traffic": loop_traffic(record), "channels": channels}


def loop_traffic(record: Recorded) -> alt.LayerChart:
    """Return which share of the applied traffic gets through, and where contention begins."""
    limit = record.figures["saturation"] or {}
    applied = max(record.figures["asked"])
    table = record.tables["table"].drop_nulls("average_node").filter(pl.col("applied") > 0)
    tidy = pl.concat(
        table.select("applied", share=pl.col(column) / pl.col("applied"), of=pl.lit(name))
        for column, name in (("average_node", AVERAGE), ("worst_node", WORST))
    ).sort("applied")
    known = {"worst node*": "worst_node", "average node*": "average_node", LIMIT: "upper_bound"}
    marks = {name: limit[key] for name, key in known.items() if limit.get(key) is not None}
    marks = {name: at for name, at in marks.items() if at <= 1.3 * applied}
    return shares(
        tidy,
        axis("applied", APPLIED, [applied, *marks.values()]),
        BY_NODE,
        lambda where: thresholds(where, marks),
        lambda _: marks.values(),
    )
