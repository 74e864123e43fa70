"""The picture of flows sent at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from netloom.base import units
from netloom.base.words import number
from netloom.drawing.axes import DASHED, MINE, Axis, Look, axis, panel
from netloom.drawing.bars import Bar, bars
from netloom.drawing.colours import REFERENCE, THIS
from netloom.questions.shown import arrow, order_named, percent

if TYPE_CHECKING:
    import altair as alt

    from netloom.drawing.frame import Part
    from netloom.questions.register import Recorded

MOST_LINEAR = 100
"""Slow-downs above this are shown by decades."""


BARS, NAMES = 240.0, 450.0
"""Pixels of the bars of channels, and of the names beside them: both ends with their ports."""


def footer(record: Recorded) -> list[str]:
    """Return what was sent, and how."""
    found = record.figures
    return [
        f"{found['program']} on {found['topology']}: {found['flows']:,} flows at once, "
        f"{units.size(found['bytes'])}; injection {found['injection']}; {found['routing']}, "
        f"{order_named(found['mapping'])}"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture, by name."""
    return {"slow-down": slowdowns(record), "busiest channels": busiest(record)}


def slowdowns(record: Recorded) -> alt.LayerChart:
    """Return which share of the flows takes how many times as long as alone."""
    table = record.tables["slowdowns"].with_columns(of=pl.lit("flows"))
    most = float(table["slowdown"].max() or 1.0)  # type: ignore[arg-type]
    title = "times as long as alone"
    x = axis("slowdown", title, [1.0, max(1.1, most)], zero=False, room=0.03, whole=False)
    x = Axis("slowdown", title, 1.0, x.high)
    if most > MOST_LINEAR:
        x = axis("slowdown", title, [1.0, most], log=True)
    where = panel(x, axis("share", "share of the flows", [1.0], share=True), width=380)
    mean = record.figures["slowdown"]
    looks = {"flows": MINE._replace(named=False)}
    layers = where.lines(table, "of", looks, points=0, interpolate="step-after")
    said = "How much longer flows take than alone"
    if mean:
        said = f"The mean flow takes {number(mean['mean'])} times as long as alone"
        layers += where.upright(
            {f"mean {number(mean['mean'])}": mean["mean"]}, Look(REFERENCE, DASHED)
        )
    return where.drawn(layers, said)


def busiest(record: Recorded) -> alt.LayerChart:
    """Return how much of the busiest channels is used until the last flow ends."""
    table = record.tables["busiest"]
    names = [arrow(name) for name in table["name"]]
    names = names if len(set(names)) == len(names) else table["name"].to_list()
    rows = [
        Bar(name, used, percent(used) + ", holds flows back" * bool(held),
            THIS if held else REFERENCE)
        for name, used, held in zip(names, table["utilisation"], table["held_flows"], strict=True)
    ]  # fmt: skip
    most = record.figures["busiest_together"] or names[0]
    said = f"No channel is used more than {most}: {percent(table['utilisation'][0])}"
    unit = "share of the channel used until the end"
    return bars(rows, said, unit, width=BARS, share=True, longest=NAMES)
