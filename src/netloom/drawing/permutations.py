"""Pictures of permutations: what pairs of hosts get, and what each shift loads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.base.words import counted, number, percent
from netloom.drawing.axes import DASHED, Axis, End, Look, axis, panel
from netloom.drawing.bars import Bar, bars
from netloom.drawing.colours import REFERENCE, THIS

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

    from netloom.contention import EffectiveBisection, Shifts


def paths_by_shift(found: Shifts, table: pl.DataFrame) -> alt.LayerChart:
    """Return how many paths each shift puts on the busiest channel between routers."""
    loads, places = table["largest_load"], table["distance"].to_list()
    along = axis("distance", "shift of the hosts", places, whole=True)
    if len(places) == 1:  # a little to both sides
        along = Axis("distance", along.title, places[0] - 1, places[0] + 1, whole=True)
    name = f"mean {number(found.mean)}"
    high = axis("largest_load", "paths on the busiest channel", [*loads.to_list(), 1])
    where = panel(along, high, [name], height=240)
    points = where.chart(table, tooltip=["distance:Q", "largest_load:Q", "longest_time:Q"])
    equal = int((loads == loads.max()).sum())
    who = f"The shift by {found.worst:,} has" if equal == 1 else f"{equal:,} shifts have"
    layers = [
        *where.across(found.mean, Look(REFERENCE, DASHED)),
        points.mark_circle(size=20 if table.height > 60 else 42, opacity=1, color=THIS),
        *where.ends([End(name, where.x.high, found.mean, REFERENCE, DASHED)]),
    ]
    return where.drawn(
        layers, f"{who} {counted(number(found.max), 'path')} on one channel, the most"
    )


def shares_of_pairs(found: EffectiveBisection) -> alt.LayerChart:
    """Return what pairs get of a host's bandwidth: the mean with its interval, and the worst."""
    mean = said = percent(found.mean)
    ends = None
    if found.ci is not None:
        low, high = ends = (found.ci[0], found.ci[1])
        said = f"{mean} ({percent(low)} to {percent(high)})"
    rows = [
        Bar("mean of all matchings", found.mean, said, THIS, ends),
        Bar("worst matching", found.least, percent(found.least), REFERENCE),
    ]
    title = f"Pairs get {mean} of a host's bandwidth"
    return bars(rows, title, "share of a host's bandwidth", width=300, share=True)
