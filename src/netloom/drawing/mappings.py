"""Pictures of what a mapping changes, and of permutations of hosts.

Of permutations they show what pairs of hosts get, and what each shift loads. Of mappings they show
figures and loads of channels, before and after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import inf
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import polars as pl

from netloom.base.arrays import Floats
from netloom.base.units import SIZE
from netloom.base.words import counted, number, percent
from netloom.contention import EffectiveBisection, Shifts
from netloom.drawing.axes import (
    AFTER,
    DASHED,
    MINE,
    ROOM,
    Axis,
    End,
    Look,
    axis,
    named_rows,
    panel,
    ranked,
    shared,
    words,
)
from netloom.drawing.bars import NARROWEST, STEP, WIDE, Bar, bars, short_names
from netloom.drawing.frame import BEST, REFERENCE, THIS, layered, room
from netloom.drawing.names import GAP, width_of

# -- permutations ----------------------------------------------------------------------------------


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


# -- mappings --------------------------------------------------------------------------------------


MOST_TIMES = 100.0
"""Changes beyond this, or to and from nothing, are arrows at the edge."""

LEAST_TIMES = 1.25
"""How far the axis of changes goes to each side at least."""

TIMES = (
    (0.01, 0.1, 1.0, 10.0, 100.0),
    (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0),
    (0.5, 0.6, 0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.4, 1.6, 1.8, 2.0),
)
"""Changes that may have ticks: the first of these sets of which three are on the axis."""

WIDTH = 420.0


class Change(NamedTuple):
    """A figure before and after, what is said of that, and the best possible if that is known."""

    figure: str
    before: float
    after: float
    said: str
    bound: float | None = None


def falling(before: Floats, after: Floats, unit: str, which: str, title: str) -> alt.LayerChart:
    """Return the loads of all channels in falling order, before and after, on one pair of axes.

    Parameters
    ----------
    before, after, unit
        What each channel carries, and in which unit.
    which, title
        Which channels these are, and what the picture says.
    """
    highest = max(float(each.max(initial=0.0)) for each in (before, after))
    by, shown = SIZE.scale(highest) if unit == "bytes" and highest else (1.0, unit)
    loads, looks = {"rank order": before / by, "found": after / by}, {"rank order": MINE}
    axes: dict[str, Any] = {"along": f"{which}, busiest first", "up": f"load ({shown})"}
    return ranked(loads, looks | {"found": AFTER}, title, **axes, size=(WIDTH, 200.0))


def changes(changed: Sequence[Change]) -> alt.LayerChart:
    """Return each figure before and after as two dots, against that before. Bounds are ticks.

    Ratios stand on a logarithmic axis. What lies beyond it, such as a change to nothing, is an
    arrow at its edge.
    """
    said = [each.said for each in changed]
    right = max(map(width_of, said)) + 2 * GAP
    names = short_names([each.figure for each in changed], right)
    left = max(map(width_of, names)) + 14
    width = max(NARROWEST, min(WIDTH, room() - left - right))
    after = np.array(  # as parts of what was before
        [x.after / x.before if x.before else inf if x.after else 1.0 for x in changed]
    )
    bound = np.array([x.bound / x.before if x.bound and x.before else 0.0 for x in changed])
    along = shared(_ratios(np.concatenate([after, bound]), few=width < WIDE))
    inside = (along.high / along.low) ** (ROOM / 4)
    shown = pl.col("after")
    table = pl.DataFrame({"figure": names, "said": said, "after": after, "bound": bound})
    table = table.with_columns(
        before=1.0,
        end=shown.clip(along.low * inside, along.high / inside),
        beyond=~shown.is_between(along.low, along.high),
        turn=pl.when(shown > 1).then(90.0).otherwise(-90.0),
    )
    y = named_rows("figure", names)
    x, end, first = (
        replace(along, field=field).encoding(alt.X) for field in ("after", "end", "before")
    )
    base = alt.Chart(table).encode(y=y, tooltip=["figure", "said"])
    circle = base.mark_point(filled=False, color=THIS, size=80, strokeWidth=2, opacity=1)
    seen = base.transform_filter("!datum.beyond")
    found = seen.mark_circle(color=BEST, size=100, opacity=1)
    layers = [
        base.mark_rule(color=BEST, strokeWidth=2.5).encode(x=end, x2="before:Q"),
        circle.encode(x=first),
        found.encode(x=x),
        *words([(width + GAP, STEP * (at + 0.5), each) for at, each in enumerate(said)]),
    ]
    title = "What the mapping changes: ○ rank order, ● found"
    known = table.filter(pl.col("bound").is_between(along.low, along.high))
    if known.height:
        least = replace(along, field="bound").encoding(alt.X)
        tick = alt.Chart(known).mark_tick(style="ink", thickness=2.5, size=20)
        layers.append(tick.encode(x=least, y=y))
    if table["beyond"].any():
        title += ", arrow: beyond the axis"
        arrow = base.transform_filter("datum.beyond").mark_point(
            shape="triangle-up", filled=True, color=BEST, size=110, opacity=1
        )
        layers.append(arrow.encode(x=end, angle=alt.Angle("turn:Q", scale=None)))
    title += "; line: the best possible" * bool(known.height)
    return layered(layers, title, width, STEP * len(names), right + left / 2)


def _ratios(seen: Floats, *, few: bool) -> Axis:
    """Return the logarithmic axis of figures after as parts of those before."""
    there = seen[(seen >= 1 / MOST_TIMES) & (seen <= MOST_TIMES)].tolist()
    low, high = min([*there, 1 / LEAST_TIMES]), max([*there, LEAST_TIMES])
    wide = (high / low) ** ROOM
    low, high = low / wide, high * wide
    sets = [[each for each in some if low <= each <= high] for some in TIMES]
    marks = next((some for some in sets if len(some) > 2), sets[-1])
    marks = [each for each in marks if not few or each in (marks[0], 1.0, marks[-1])]
    names = tuple(f"{number(each)}×" for each in marks)
    return Axis(
        "after", "times what rank order has", low, high, log=True, marks=tuple(marks), names=names
    )
