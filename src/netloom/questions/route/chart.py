"""The picture of routing tables: how many paths each cable carries, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from netloom.drawing.colours import COLOURS, GREY
from netloom.drawing.frame import layered
from netloom.words import counted

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what was asked about."""
    found = record.figures
    what = f"Routing tables of {found['topology']}"
    size = f"{counted(found['hosts'], 'host', ',')}, {counted(found['switches'], 'switch')}"
    return what, [f"{size}; by {found['engine']}, beside {found['installed']}"]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture, by name."""
    return {"cables": cables(record)}


def cables(record: Recorded) -> alt.LayerChart:
    """Return the paths of each channel by both tables, busiest first, and the least possible."""
    table, found = record.tables["channel_table"], record.figures["all_to_all"]
    names = {"before": record.figures["installed"], "after": "new tables"}
    if names["before"] == names["after"]:
        names["before"] = "installed"
    ranked = [
        pl.DataFrame(
            {"rank": range(1, table.height + 1), "paths": table[which].sort(descending=True)}
        ).with_columns(tables=pl.lit(name))
        for which, name in names.items()
    ]
    rows = pl.concat(ranked)
    top = max(float(rows["paths"].max() or 0), found["bound"] or 0)  # type: ignore[arg-type]
    y = alt.Y("paths:Q", title="paths of an all-to-all", scale=alt.Scale(domain=[0, 1.05 * top]))
    lines = (
        alt.Chart(rows)
        .mark_line(interpolate="step-after", strokeWidth=2)
        .encode(
            x=alt.X("rank:Q", title="channels between switches, busiest first"),
            y=y,
            color=alt.Color(
                "tables:N", title=None, sort=list(names.values()),
                scale=alt.Scale(domain=list(names.values()), range=[GREY, COLOURS[0]]),
                legend=alt.Legend(orient="top"),
            ),
        )
    )  # fmt: skip
    bound = alt.Chart(pl.DataFrame({"paths": [found["bound"]]}))
    rule = bound.mark_rule(strokeDash=[4, 3], color=COLOURS[1]).encode(y=y)
    said = f"The busiest cable carries {found['max']:,} paths instead of "
    said += f"{record.figures['before']['all_to_all']['max']:,}; dashed: the least possible"
    return layered([lines, rule], said, 480, 260)


PART_TITLES = {"cables": "Paths on each cable"}
"""What parts are called that have no title of their own."""
