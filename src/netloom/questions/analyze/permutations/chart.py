"""The picture of permutations: what pairs get, and what each shift puts on the busiest channel."""

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
    """Return what was asked about, and what is left out."""
    found = record.figures
    what = f"Permutations of {found['hosts']:,} hosts on {found['topology']}"
    return what, [f"routing {found['routing']}", *filter(None, [found["note"]])]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture, by name: those of what was asked for."""
    parts: dict[str, Part] = {}
    if record.figures["effective_bisection"]["mean"] is not None:
        parts["bisection"] = shares_of_pairs(record)
    if record.tables["shift_table"].height:
        parts["shifts"] = paths_by_shift(record)
    return parts


def shares_of_pairs(record: Recorded) -> alt.LayerChart:
    """Return what pairs get of a host's bandwidth: the mean, its interval, the worst matching."""
    found = record.figures["effective_bisection"]
    low, high = found["ci"] or (found["mean"], found["mean"])
    rows = [
        {"of": "mean of all matchings", "share": found["mean"], "low": low, "high": high},
        {"of": "worst matching", "share": found["least"]},
    ]
    table = pl.DataFrame(rows).with_columns(pl.col("share", "low", "high") * 100)
    scale = alt.Scale(domain=[0, max(100.0, 100 * high)])
    base = alt.Chart(table).encode(
        y=alt.Y("of:N", title=None, sort=[row["of"] for row in rows]),
        x=alt.X("share:Q", title="% of a host's bandwidth", scale=scale),
    )
    said = f"Pairs get {100 * found['mean']:.3g} % of a host's bandwidth"
    layers = [
        base.mark_bar(color=GREY, opacity=0.45, size=16),
        base.mark_rule(strokeWidth=3, color=COLOURS[0]).encode(x="low:Q", x2="high:Q"),
        base.mark_tick(thickness=2.5, size=22, color=COLOURS[0]),
    ]
    return layered(layers, said, 380, 80)


def paths_by_shift(record: Recorded) -> alt.LayerChart:
    """Return how many paths each shift puts on the busiest channel between routers."""
    table, found = record.tables["shift_table"], record.figures["shifts"]
    loads = table["largest_load"]
    whole = all(float(value).is_integer() for value in loads)
    y = alt.Y(
        "largest_load:Q",
        title="paths on the busiest channel",
        scale=alt.Scale(domain=[0, 1.08 * found["max"] or 1.0], nice=False),
        axis=alt.Axis(tickMinStep=1) if whole else alt.Axis(),
    )
    points = (
        alt.Chart(table)
        .mark_point(size=20 if table.height > 60 else 42, filled=True, opacity=1, color=COLOURS[0])
        .encode(
            x=alt.X("distance:Q", title="shift of the hosts", axis=alt.Axis(tickMinStep=1)),
            y=y,
            tooltip=["distance:Q", "largest_load:Q", "longest_time:Q"],
        )
    )
    mean = alt.Chart(pl.DataFrame({"largest_load": [found["mean"]]}))
    rule = mean.mark_rule(strokeDash=[4, 3], color=GREY).encode(y=y)
    equal = int((loads == loads.max()).sum())
    who = f"The shift by {found['worst']:,} has" if equal == 1 else f"{equal:,} shifts have"
    said = f"{who} {counted(found['max'], 'path', '.4g')} on one channel, the most"
    return layered([rule, points], f"{said}; dashed: the mean of all", 430, 240)


PART_TITLES = {"bisection": "Effective bisection bandwidth", "shifts": "Paths by shift"}
"""What parts are called that have no title of their own."""
