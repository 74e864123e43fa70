"""The picture of permutations: what pairs get, and what each shift puts on the busiest channel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.base.words import counted, number
from netloom.drawing.axes import DASHED, Axis, End, Look, axis, panel
from netloom.drawing.bars import Bar, bars
from netloom.drawing.colours import REFERENCE, THIS
from netloom.questions.shown import percent

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from netloom.drawing.frame import Part
    from netloom.questions.register import Recorded


def footer(record: Recorded) -> list[str]:
    """Return what was asked about, and what is left out."""
    found = record.figures
    what = f"Permutations of {counted(found['hosts'], 'host', ',')} on {found['topology']}"
    return [f"{what}; routing {found['routing']}", *filter(None, [found["note"]])]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture, by name: those of what was asked for."""
    parts: dict[str, Part] = {}
    if record.figures["effective_bisection"]["mean"] is not None:
        parts["bisection"] = shares_of_pairs(record)
    if record.tables["shift_table"].height:
        parts["shifts"] = paths_by_shift(record)
    return parts


def shares_of_pairs(record: Recorded) -> alt.LayerChart:
    """Return what pairs get of a host's bandwidth: the mean with its interval, and the worst."""
    found = record.figures["effective_bisection"]
    mean = percent(found["mean"])
    said = mean
    if found["ci"]:
        low, high = map(percent, found["ci"])
        said = f"{mean} ({low} to {high})"
    rows = [
        Bar("mean of all matchings", found["mean"], said, THIS, found["ci"] and tuple(found["ci"])),
        Bar("worst matching", found["least"], percent(found["least"]), REFERENCE),
    ]
    return bars(rows, f"Pairs get {mean} of a host's bandwidth", "share of a host's bandwidth",
                width=300, share=True)  # fmt: skip


def paths_by_shift(record: Recorded) -> alt.LayerChart:
    """Return how many paths each shift puts on the busiest channel between routers."""
    table, found = record.tables["shift_table"], record.figures["shifts"]
    loads = table["largest_load"]
    name = f"mean {number(found['mean'])}"
    where = panel(
        _shifts(table),
        axis("largest_load", "paths on the busiest channel", [*loads.to_list(), 1]),
        [name],
        height=240,
    )
    points = where.chart(table, tooltip=["distance:Q", "largest_load:Q", "longest_time:Q"])
    size = 20 if table.height > 60 else 42
    equal = int((loads == loads.max()).sum())
    who = f"The shift by {found['worst']:,} has" if equal == 1 else f"{equal:,} shifts have"
    said = f"{who} {counted(number(found['max']), 'path')} on one channel, the most"
    layers = [
        *where.across(found["mean"], Look(REFERENCE, DASHED)),
        points.mark_circle(size=size, opacity=1, color=THIS),
        *where.ends([End(name, where.x.high, found["mean"], REFERENCE, DASHED)]),
    ]
    return where.drawn(layers, said)


def _shifts(table: pl.DataFrame) -> Axis:
    """Return the axis of shifts: of a single one it goes a little to both sides."""
    places = table["distance"].to_list()
    found = axis("distance", "shift of the hosts", places, whole=True)
    if len(places) > 1:
        return found
    return Axis("distance", found.title, places[0] - 1, places[0] + 1, whole=True)


PART_TITLES = {"bisection": "Effective bisection bandwidth", "shifts": "Paths by shift"}
"""What parts are called that have no title of their own."""
