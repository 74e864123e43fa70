"""The picture of critical queues."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from netloom.drawing.colours import GREY
from netloom.questions.hotspot.chart import HEIGHT, WIDTH, rates_colour, sizes

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return the network, and the critical sizes that were found."""
    found = record.figures
    critical = [
        f"{each['critical_queue']} at rate {each['rate']:.4g}"
        for each in found["rates"]
        if each["critical_queue"]
    ]
    words = f"critical: {', '.join(critical) or 'none'}; dashed: the rise that counts"
    return f"Critical queues of omega:{found['pes']}, {found['hot_spots']} hot spots", [words]


def arranged(record: Recorded) -> list[Part]:
    """Return the parts side by side: the last has the legend of all."""
    return list(parts(record, legends=False).values())


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded, *, legends: bool = True) -> dict[str, Part]:
    """Return the parts of the picture of critical queues, by name; see ``parts``."""
    table = record.tables["table"].with_columns(rate=pl.format("{}", "rate"))
    sized = table.drop_nulls("size").with_columns(rise=100 * pl.col("rise"))
    counts = pl.DataFrame({"rise": [100 * record.figures["rise"]]})
    rise = alt.LayerChart(
        layer=[
            alt.Chart(counts).mark_rule(strokeDash=[6, 3], color=GREY).encode(y="rise:Q"),
            sizes(
                sized, alt.Y("rise:Q", title="longest rise of a stage's queue, %"), named=legends
            ),
        ]
    )
    free = (
        alt.Chart(table.filter(pl.col("size").is_null()))
        .mark_rule(strokeDash=[2, 3], strokeWidth=1.4)
        .encode(y="steps_mean:Q", color=rates_colour(table))
    )
    least = alt.Scale(zero=False)
    steps = alt.Y("steps_mean:Q", title="mean steps of a request", scale=least)
    return {
        "rise": rise.properties(
            width=WIDTH, height=HEIGHT, title="Requests behind a stage, longer by"
        ),
        "steps": alt.LayerChart(layer=[free, sizes(sized, steps)]).properties(
            width=WIDTH, height=HEIGHT, title="Steps; dotted: unbounded queues"
        ),
    }
