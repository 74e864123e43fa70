"""The picture of routing tables: how many paths each cable carries, before and after."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from netloom.drawing.colours import COLOURS, GREY
from netloom.drawing.frame import layered
from netloom.drawing.room import room
from netloom.questions.fabric.chart import curve, limit
from netloom.questions.fabric.verdict import amount
from netloom.questions.route.words import sentences
from netloom.words import counted

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return the verdict, and what was asked about."""
    found = record.figures
    size = [counted(found["hosts"], "host", ","), counted(found["switches"], "switch", ","),
            counted(found["cables"], "cable", ",")]  # fmt: skip
    title, *more = wrap(sentences(record)[0], 96)
    return title, [*more, f"{found['topology'].removeprefix('fabric:')}: {', '.join(size)}"]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture, by name."""
    return {"cables": cables(record)}


def cables(record: Recorded) -> alt.LayerChart:
    """Return the paths of each channel by both tables, busiest first, and the least possible."""
    table, found = record.tables["channel_table"], record.figures["all_to_all"]
    names = {"before": f"installed: {record.figures['installed']}", "after": "new"}
    ranked = [curve(table[which], name) for which, name in names.items()]
    old = record.figures["before"]["all_to_all"]["max"]
    bound = found["bound"] if found["time"] == found["max"] else None  # it is over bandwidth
    top = max(old, found["max"], bound or 0)
    last = max(table.height, 1)
    x = alt.X("rank:Q", title="cables, one way each, busiest first",
              scale=alt.Scale(domain=[0, 1.02 * last], nice=False),
              axis=alt.Axis(format=",d", tickMinStep=1, tickCount=6))  # fmt: skip
    y = alt.Y("paths:Q", title="paths of an all-to-all",
              axis=alt.Axis(format=",d", tickMinStep=1),
              scale=alt.Scale(domain=[0, 1.08 * (top or 1)], nice=False))  # fmt: skip
    colour = alt.Color(
        "tables:N", title="tables", sort=None,
        scale=alt.Scale(domain=list(names.values()), range=[GREY, COLOURS[1]]),
        legend=alt.Legend(orient="top", labelLimit=400),
    )  # fmt: skip
    lines = alt.Chart(pl.concat(ranked)).mark_line(strokeWidth=2.4).encode(x=x, y=y, color=colour)
    said = f"{amount(found['max'])} paths on the busiest cable"
    if old != found["max"]:
        said += f" instead of {amount(old)}"
    return layered([*limit(bound, last, x, y), lines], said, min(600.0, room() - 70), 270)


PART_TITLES = {"cables": "Paths on each cable"}
"""What parts are called that have no title of their own."""
