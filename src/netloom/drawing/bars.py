"""Bars with their values at their ends, and one bar of parts that make a whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import altair as alt
import numpy as np
import polars as pl

from netloom.drawing.axes import Axis, Panel, Spans, axis, named_rows, shared, words
from netloom.drawing.frame import NARROW, REFERENCE, fitting, layered, room
from netloom.drawing.names import fitted, width_of

BAR, STEP = 17.0, 27.0
"""Pixels of a bar, and from bar to bar."""

OVER = 15.0
"""Pixels of a name above a bar."""

LONGEST_NAME = 210.0
"""Most pixels of a name beside a bar."""

THICK = 40.0
"""Pixels of a bar of parts."""

HOLLOW: dict[str, Any] = {"filled": False, "stroke": REFERENCE, "strokeDash": [4, 3]}
"""How parts look that are not known, or cannot be."""

GAP = 6.0

NARROWEST, WIDE, WIDE_SHARES = 90.0, 220.0, 320.0
"""Pixels of an axis at least, and of one that has room for many ticks, or for many percentages."""


class Bar(NamedTuple):
    """One bar, or one part of a bar: its name, value, what is said of that, and its color.

    ``between`` is the interval of its value, if one is known.
    """

    name: str
    value: float
    said: str
    colour: str = REFERENCE
    between: tuple[float, float] | None = None


def bars(
    rows: Sequence[Bar],
    title: str,
    unit: str,
    *,
    width: float = 400.0,
    bound: tuple[str, float] | None = None,
    share: bool = False,
    longest: float = LONGEST_NAME,
) -> alt.LayerChart:
    """Return a bar per row, from the top down, each with what is said of its value at its end.

    Parameters
    ----------
    rows, title
        What is drawn, and what it is called.
    unit
        The title of the axis.
    width
        Pixels of the axis at most.
    bound
        A line that no bar can be beyond, or that none can be below: its name and its value.
    share
        Whether values are parts of one: then their axis goes to 100 %.
    longest
        Pixels of the longest name, if there is room.
    """
    if not rows:
        return stacked([], title, unit, width=width)
    right = max(width_of(row.said) for row in rows) + 2 * GAP
    names = [row.name for row in rows]
    # on narrow pages names that have no room beside their bars stand above them
    over = room() <= NARROW and max(map(width_of, names)) > room() - NARROWEST - right - 14
    names = names if over else short_names(names, right, longest)
    step = STEP + (OVER if over else 0.0)
    left = 14.0 if over else max(map(width_of, names)) + 14
    fits = max(NARROWEST, fitting(min(width, room() - left - right)))
    seen = [row.value for row in rows] + ([bound[1]] if bound else [])
    along = shared(axis("value", unit, seen, share=share, room=0.0))
    if fits < WIDE or (share and fits < WIDE_SHARES):
        along = replace(along, steps=2 if fits < WIDE else 4)
    table = pl.DataFrame({"name": names, "value": [float(row.value) for row in rows]})
    table = table.with_columns(colour=pl.Series([row.colour for row in rows]))
    height = step * max(len(rows), 1)
    down = OVER / 2 if over else 0.0
    y = named_rows("name", names)
    colour, x = alt.Color("colour:N", scale=None), along.encoding(alt.X)
    shown = alt.Chart(table).mark_bar(height=BAR, yOffset=down).encode(x=x, color=colour)
    ends, tips = alt.datum(along.low), ["name", "value"]
    drawn = shown.encode(x2=ends, y=y.axis(None) if over else y, tooltip=tips)
    where = Panel(along, Axis("value", "", 0, 1), fits, height)
    far = [max(row.value, *(row.between or (row.value,))) for row in rows]
    far = [along.high] * len(far) if bound else far  # beside the line of the bound
    texts = [
        (fits * max(along.at(tip), 0.0) + GAP, step * (at + 0.5) + down, row.said)
        for at, (tip, row) in enumerate(zip(far, rows, strict=True))
    ]
    layers = [drawn]
    known = [(name, *row.between) for name, row in zip(names, rows, strict=True) if row.between]
    if known:  # intervals, as lines over the ends of their bars
        spans = pl.DataFrame(known, schema=["name", "value", "until"], orient="row")
        line = alt.Chart(spans).mark_rule(style="ink", strokeWidth=2.5, yOffset=down)
        layers.append(line.encode(x=along.encoding(alt.X), x2="until:Q", y=y))
    layers += words(texts)
    if over:
        layers += words(
            (0.0, step * (at + 0.5) - BAR / 2 - 2, fitted(name, room() - 24))
            for at, name in enumerate(names)
        )
    if bound:
        layers += [*where.rule(bound[1]), *where.above({bound[0]: (bound[1], bound[1])})]
    return layered(layers, title, fits, height, right + left / 2)


def short_names(names: Sequence[str], beside: float, longest: float = LONGEST_NAME) -> list[str]:
    """Return names for the left of bars that have so many pixels beside them, if these differ."""
    most = min(longest, room() - NARROWEST - beside - 14)
    short = [fitted(name, most) for name in names]
    return short if len(set(short)) == len(set(names)) else list(names)


def stacked(
    parts: Sequence[Bar],
    title: str,
    unit: str,
    *,
    width: float = 400.0,
    whole: float | None = None,
    empty: str = "not known",
) -> alt.LayerChart:
    """Return one bar of parts, the words of each above it. Those of nothing are left out.

    A bar without parts has no numbers on its axis.

    ``whole`` is the length of the axis: of bars that are compared that of the longest.
    ``empty`` is what is said of a bar without parts.
    """
    shown = [part for part in parts if part.value > 0]
    total = sum(part.value for part in shown) or 1.0
    along = shared(Axis("begin", unit, 0.0, max(whole or 0.0, total)))
    where = Panel(along, Axis("value", "", 0, 1), fitting(width), THICK)
    ends = [0.0, *np.minimum(np.cumsum([part.value for part in shown]), total).tolist()]
    names = [f"{part.name} {part.said}" for part in shown]
    colours = {name: part.colour for name, part in zip(names, shown, strict=True)}
    layers = parts_of(where, dict(zip(names, pairwise(ends), strict=True)), colours)
    if not shown:
        hollow = alt.Chart(pl.DataFrame({"begin": [0.0], "end": [total]})).mark_rect(**HOLLOW)
        bare = along.encoding(alt.X, labels=False, ticks=False, grid=False, domain=False)
        layers.append(hollow.encode(x=bare, x2="end:Q", y=alt.value(0), y2=alt.value(THICK)))
        layers += words([(where.width / 2, THICK / 2, empty)], align="center")
    return layered(layers, title, where.width, THICK, 20)


def parts_of(
    where: Panel, spans: Spans, colours: Mapping[str, str], hollow: Collection[str] = ()
) -> list[alt.Chart]:
    """Return the parts of one bar, each from one value to another, with its words above it."""
    rows = [(name, *span, span[1] - span[0], colours[name]) for name, span in spans.items()]
    table = pl.DataFrame(rows, ["part", where.x.field, "end", "value", "colour"], orient="row")
    x, top, foot = where.x.encoding(alt.X), alt.value(0), alt.value(where.height)
    layers, told = [], ["part:N", "value:Q"]
    for look in ({"style": "part"}, HOLLOW):
        some = table.filter(pl.col("part").is_in(list(hollow)) == (look is HOLLOW))
        drawn = (
            alt.Chart(some).mark_rect(**look).encode(x=x, x2="end:Q", y=top, y2=foot, tooltip=told)
        )
        color = alt.Color("colour:N", scale=None)
        layers += [drawn if look is HOLLOW else drawn.encode(color=color)] if some.height else []
    return [*layers, *where.above(spans, colours)]
