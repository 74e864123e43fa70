"""Loads from 0 to 100 %: what they do to nodes, and where some mapping stands among others."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import altair as alt
import numpy as np
import polars as pl

from netloom.drawing.axes import MINE, Axis, End, Look, Panel, axis, panel
from netloom.drawing.bars import THICK
from netloom.drawing.colours import OTHERS, REFERENCE, THIS
from netloom.drawing.frame import fitting, layered

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

OWN, RANDOM = "this mapping", "random mappings"
LOOKS = {OWN: MINE, RANDOM: Look(REFERENCE, (6, 4))}
OFFERED = "offered by the average node (share of a channel)"

DELAYED = {"none": OTHERS[1], "some": OTHERS[0], "most": THIS}
"""The colors of loads, by how many nodes they delay. What is not known is grey."""

WIDTH, DOT = 400.0, 9.0


def along(loads: Iterable[float | None]) -> Axis:
    """Return the axis of loads: to 100 %, or to the largest that is drawn."""
    last = max(1.0, *(each for each in loads if each is not None))
    return Axis("percent", OFFERED, 0.0, last, share=True)


def _panel(loads: Axis, height: float) -> Panel:
    return Panel(loads, Axis("row", "", 0.0, 1.0), fitting(WIDTH), height)


def load_bar(
    loads: Axis, spans: Sequence[tuple[str, float, str]], offered: float | None, title: str
) -> alt.LayerChart:
    """Return loads as a bar of spans, with a mark where they are offered.

    ``spans``: what loads do, where that ends, and to how many nodes (see ``DELAYED``). Beyond the
    last one nothing can be carried.
    """
    where, begin = _panel(loads, THICK), 0.0
    if not spans or spans[-1][1] < loads.high:
        spans = [*spans, ("cannot be carried", loads.high, "")]
    ends, colours, layers = dict[str, tuple[float, float]](), dict[str, str](), list[alt.Chart]()
    for name, end, many in spans:
        ends[name], colours[name] = (begin, end), DELAYED.get(many, REFERENCE)
        look: dict[str, Any] = {"style": "part", "color": colours[name]}
        if not many:
            look = {"filled": False, "stroke": REFERENCE, "strokeDash": [4, 3]}
        layers.append(_span(where, begin, end, name).mark_rect(**look))
        begin = end
    if offered is not None:
        mark = alt.Chart(pl.DataFrame({"percent": [offered]})).mark_point(
            style="ink", filled=True, size=170, opacity=1, shape="triangle-down"
        )
        layers.append(mark.encode(x=where.x.encoding(alt.X), y=alt.value(7)))
    return layered([*layers, *where.above(ends, colours)], title, where.width, THICK)


def _span(where: Panel, begin: float, end: float, name: str) -> alt.Chart:
    table = pl.DataFrame({"percent": [begin], "end": [end], "nodes": [name]})
    drawn: alt.Chart = alt.Chart(table).encode(
        x=where.x.encoding(alt.X),
        x2="end:Q",
        y=alt.value(0),
        y2=alt.value(THICK),
        tooltip=["nodes:N", "percent:Q", "end:Q"],
    )
    return drawn


def one_among(
    loads: Axis, others: Sequence[float], own: Mapping[str, float], title: str
) -> alt.LayerChart:
    """Return the limit of each random mapping as a grey dot, this mapping's as a red diamond.

    ``own``: the names of its limits, and the limits. The first one is compared, another is a line.
    """
    (name, mine), *limits = own.items()
    where = _panel(loads, 0)
    stacked, tallest = _stacked(others, where)
    height = max(tallest * DOT + 26, 60.0)
    where = replace(where, height=height)
    dots = pl.DataFrame(
        {
            "percent": [x for x, _ in stacked],
            "down": [height - 6 - DOT * y for _, y in stacked],
            "whose": [RANDOM] * len(stacked),
        }
    )
    base = alt.Chart(dots).encode(x=where.x.encoding(alt.X), tooltip=["whose", "percent"])
    drawn: list[alt.Chart] = [
        base.mark_circle(color=REFERENCE, size=46, opacity=1).encode(
            y=alt.Y("down:Q", scale=None, axis=None)
        ),
        alt.Chart(pl.DataFrame({"percent": [mine], "whose": [OWN]}))
        .mark_point(shape="diamond", size=170, filled=True, color=THIS, opacity=1)
        .encode(x=where.x.encoding(alt.X), y=alt.value(height - 6), tooltip=["whose:N"]),
    ]
    for _, limit in limits:
        drawn += where.rule(limit)
    drawn += where.above({each: (at, at) for each, at in own.items()}, {name: THIS})
    return layered(drawn, title, where.width, height)


def _stacked(values: Iterable[float], where: Panel) -> tuple[list[tuple[float, int]], int]:
    """Return dots that would touch one above the other, and how many at most."""
    rows: list[list[float]] = []
    found = []
    for value in sorted(values):
        x = where.x.at(value) * where.width
        row = next((at for at, row in enumerate(rows) if x - row[-1] >= DOT), len(rows))
        if row == len(rows):
            rows.append([])
        rows[row].append(x)
        found.append((value, row))
    return found, len(rows)


def met_by_paths(counts: pl.DataFrame) -> alt.LayerChart:
    """Return the share of paths that meet at most so many others, also under random mappings.

    ``counts`` has columns ``mapping`` (``own`` or ``random``), ``path_contention`` and ``paths``.
    """
    both = {"own": OWN, "random": RANDOM}
    names = {key: whose for key, whose in both.items() if counts.filter(mapping=key).height}
    table = pl.concat([_steps(whose, counts.filter(mapping=key)) for key, whose in names.items()])
    looks = {whose: LOOKS[whose] for whose in names.values()}
    nu = axis("nu", "other paths met (ν)", table["nu"].to_list(), whole=True, room=0.02)
    where = panel(nu, axis("share", "share of the paths", [1.0], share=True), looks, WIDTH, 230)
    mine: Any = table.filter(whose=OWN)["nu"].max()
    ends = []
    for name, look in looks.items():
        last = table.filter(whose=name).sort("nu").row(-1, named=True)
        ends.append(End(name, float(last["nu"]), float(last["share"]), look.colour, look.dash))
    layers = where.lines(table, "whose", looks, points=0, interpolate="step-after")
    return where.drawn([*layers, *where.ends(ends)], f"A path meets {mine:,} others at most")


def _steps(whose: str, counted: pl.DataFrame) -> pl.DataFrame:
    levels = counted["path_contention"].to_numpy()
    counts = np.bincount(levels, counted["paths"].to_numpy())
    share = np.cumsum(counts) / counts.sum()
    shown = np.unique(np.linspace(0, len(share) - 1, 500).astype(int))
    return pl.DataFrame({"nu": shown, "share": share[shown], "whose": [whose] * len(shown)})
