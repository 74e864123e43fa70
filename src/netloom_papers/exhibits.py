"""Tables and figures of the papers beside what netloom computes.

Studies make them as data, of curves and cells: what is shown, and nothing of how it is drawn.
``exhibit_chart`` draws curves, printed and computed side by side. Tables are shown in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isnan
from typing import Any, Literal, NamedTuple

import altair as alt
import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from netloom.drawing.axes import BESIDE, Axis, Look, axis, panel as empty_panel
from netloom.drawing.frame import COLOURS, framed
from netloom.drawing.load_curves import HEIGHT, WIDTH
from netloom.drawing.names import NAME_LINE
from netloom.simulation.steady import batch_interval

# -- tables and figures as data --------------------------------------------------------------------


PRINTED, COMPUTED, MODELLED = "printed", "computed", "model"
"""Whose numbers a row of a plot has: the paper's, or netloom's. What netloom computes with a model
has a name of its own where it is beside what netloom simulates."""


class Plot(NamedTuple):
    """One pair of axes of a figure.

    Attributes
    ----------
    title, x, y
        What is shown, and the titles of the axes with their units.
    table
        One row per point: ``series`` (the name of its curve), ``x``, ``y``, and ``whose``:
        ``printed``, ``computed`` or ``model``. Perhaps ``low`` and ``high``, an interval
        round ``y``. ``x`` may be words, in the order in which they come first.
    form
        Lines through the points, the points alone, steps (a value holds until the next), or bars.
    log_x, log_y
        Whether an axis is logarithmic.
    """

    title: str
    x: str
    y: str
    table: pl.DataFrame
    form: Literal["lines", "points", "steps", "bars"] = "lines"
    log_x: bool = False
    log_y: bool = False


class Cell(NamedTuple):
    """One number of a printed table. None where the paper, or netloom, has none.

    ``within`` says whether they agree as far as they should. None where that is not compared.
    """

    printed: float | None
    computed: float | None
    within: bool | None = None

    def words(self) -> tuple[str, str]:
        """Return both as people read them: the computed one with the digits of the printed.

        One digit more where that would leave less than three.

        Examples
        --------
        >>> Cell(0.461, 0.49608).words(), Cell(25, 23.3333).words(), Cell(None, 16904.0).words()
        (('0.461', '0.496'), ('25', '23.3'), ('–', '16904'))
        """
        printed = "–" if self.printed is None or isnan(self.printed) else f"{self.printed:.10g}"
        printed = printed.replace("inf", "∞")
        if self.computed is None or isnan(self.computed):
            return printed, "–"
        if printed == "–" or "e" in printed:
            least = 4 if abs(self.computed) < 10_000 else 10
            return printed, f"{self.computed:.{least}g}"
        places = len(printed.partition(".")[2])
        text = f"{self.computed:.{places}f}"
        few = len(text.lstrip("-0.").replace(".", "")) < 3
        if few and self.computed != round(self.computed, places):
            text = f"{self.computed:.{places + 1}f}"
        return printed, text


class Grid(NamedTuple):
    """A table of a paper, in its form.

    Attributes
    ----------
    title
        What is shown.
    columns
        The heads: of the labels, then of the cells.
    rows
        A label and its cells, one for each further column. None where the paper has nothing.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Cell | None, ...]], ...]

    @property
    def table(self) -> pl.DataFrame:
        """One row per cell: its ``row`` and ``column``, and both numbers."""
        cells = [
            {"row": label, "column": column, **cell._asdict()}
            for label, row in self.rows
            for column, cell in zip(self.columns[1:], row, strict=True)
            if cell is not None
        ]
        numbers = {"printed": pl.Float64, "computed": pl.Float64, "within": pl.Boolean}
        return pl.DataFrame(cells, schema={"row": pl.String, "column": pl.String, **numbers})

    def told(self) -> list[list[tuple[str, str, bool]]]:
        """Return what each column says: printed, computed, and whether these do not agree.

        Numbers are "" if a cell is empty, or if no cell of the column has them.
        """
        found = []
        for cells in zip(*(row for _, row in self.rows), strict=True):
            known = [cell for cell in cells if cell is not None]
            printed, computed = (any(cell[half] is not None for cell in known) for half in (0, 1))
            column = []
            for cell in cells:
                said = ("", "") if cell is None else cell.words()
                outside = cell is not None and cell.within is False
                column.append((said[0] * printed, said[1] * computed, outside))
            found.append(column)
        return found


def curve(
    series: str, x: ArrayLike, y: ArrayLike, whose: str = COMPUTED, **interval: ArrayLike
) -> pl.DataFrame:
    """Return the points of one curve, as ``Plot`` has them. Y is one number, or one each.

    ``interval``: perhaps ``low`` and ``high``.

    Examples
    --------
    >>> curve("ν = 2", [0, 1], 3.0)["y"].to_list()
    [3.0, 3.0]
    """
    at = np.asarray(x)
    columns: dict[str, Any] = {
        "series": [series] * len(at),
        "x": at if at.dtype.kind == "U" else at.astype(np.float64),
        "y": np.broadcast_to(np.asarray(y, np.float64), at.shape),
        "whose": [whose] * len(at),
    }
    return pl.DataFrame(columns | {name: np.asarray(each) for name, each in interval.items()})


def plot(title: str, axes: tuple[str, str], curves: Iterable[pl.DataFrame], **how: Any) -> Plot:
    """Return one pair of axes with these curves. ``how``: what else ``Plot`` has."""
    return Plot(title, *axes, pl.concat(list(curves), how="diagonal_relaxed"), **how)


def averaged(series: str, table: pl.DataFrame, y: str) -> pl.DataFrame:
    """Return the curve of the means of a table's runs, with their 95 % confidence intervals.

    They are by ``applied``, a share, which is shown in per cent.
    """
    xs = np.unique(table["applied"].to_numpy())
    runs = [table.filter(applied=each)[y].to_numpy() for each in xs]
    means, halves = np.transpose([batch_interval(some, np.ones(len(some))) for some in runs])
    several = min(map(len, runs)) > 1
    ends = {"low": means - halves, "high": means + halves} if several else {}
    return curve(series, 100 * xs, means, **ends)


def grid(
    title: str, cells: Mapping[tuple[str, str], Cell], columns: Sequence[str] = (), head: str = ""
) -> Grid:
    """Return a table of cells by label and column. What is missing stays empty.

    Parameters
    ----------
    title
        What is shown.
    cells
        By label and column. Labels are in the order in which they come first.
    columns
        The columns in their order. That in which they come first, if none are given.
    head
        What the labels are.

    Examples
    --------
    >>> grid("t", {("64", "a"): Cell(1, 1), ("64", "b"): Cell(2, 2)}, head="N").columns
    ('N', 'a', 'b')
    """
    labels = dict.fromkeys(label for label, _ in cells)
    columns = columns or list(dict.fromkeys(column for _, column in cells))
    rows = ((label, tuple(cells.get((label, column)) for column in columns)) for label in labels)
    return Grid(title, (head, *columns), tuple(rows))


# -- their picture ---------------------------------------------------------------------------------


MOST_TOLD = len(COLOURS)
"""Most series that colors alone tell apart. More have their names beside them, or a scale."""

RING = "M0,-1L1,0L0,1L-1,0ZM0,-0.6L-0.6,0L0,0.6L0.6,0Z"
"""A hollow diamond, as a path that is filled."""


class Whose(NamedTuple):
    """How lines and points look by whose they are, and the words for them.

    ``points`` is how large they are beside those of others. 0: there are none.
    """

    dash: list[int]
    points: int
    shape: str
    said: str


LOOKS = {
    COMPUTED: Whose([1, 0], 1, "circle", "Solid: computed."),
    PRINTED: Whose([5, 4], 3, RING, "Hollow or dashed: printed."),
    MODELLED: Whose([2, 2], 0, "", "Dotted: by the model."),
}

SIZES = {1: (580, 360), 2: (410, 290), 4: (410, 270)}
SMALL = (285, 215)
"""Of the axes, by how many pairs of them there are at most, and of more."""

MOST_TICKS = 7
"""Points of a logarithmic axis that have ticks of their own."""

MOST_BESIDE = 90
"""Pixels of the axes that names beside them take, at most."""

ROW, GAP = 1160, 30
"""Pixels that panels side by side may take, and between them."""

LONG = 43
"""Letters of the words below an axis from which on these are slanted."""


def exhibit_chart(
    title: str, plots: Sequence[Plot], words: Sequence[str] = (), remarks: Sequence[str] = ()
) -> alt.VConcatChart:
    """Return the picture of a figure: computed is solid, printed hollow and dashed.

    Intervals are bands, or bars at single points.

    Parameters
    ----------
    title
        What is shown.
    plots
        Axes, in their order.
    words, remarks
        What to say below all axes, before and after what tells printed and computed apart.
    """
    size = next((size for most, size in SIZES.items() if len(plots) <= most), SMALL)
    rows: list[list[alt.LayerChart]] = []
    room = 0.0
    for each in plots:
        chart, wide = plot_chart(each, size)
        if not rows or wide > room:
            rows.append([])
            room = ROW
        rows[-1].append(chart)
        room -= wide + GAP
    apart: Any = {"color": "independent", "xOffset": "independent"}
    beside = [alt.hconcat(*row, spacing=GAP).resolve_scale(**apart) for row in rows]
    seen = {whose for each in plots for whose in each.table["whose"]}
    told = [" ".join(look.said for whose, look in LOOKS.items() if whose in seen)]
    whole = alt.vconcat(*beside, spacing=26).resolve_scale(**apart)
    return framed([whole], title, [*words, *told * (len(seen) > 1), *remarks])


def plot_chart(plot: Plot, size: tuple[int, int]) -> tuple[alt.LayerChart, float]:
    """Return one pair of axes of some pixels, and how wide they are with what stands beside them.

    Axes have 0 unless all is far from it. Words stand along one at the same distances.
    """

    def on(field: str, title: str, values: Sequence[float | None], *, log: bool) -> Axis:
        known = [float(each) for each in values if each is not None]
        zero = not known or min(known) <= 0.55 * max(known)
        return axis(field, title, values, zero=zero, log=log, room=0.04)

    table = _drawable(plot)
    names = list(dict.fromkeys(plot.table["series"].to_list()))
    lines, bars = plot.form in ("lines", "steps"), plot.form == "bars"
    ends = [name for name in ("y", "low", "high") if name in table.columns]
    heights = [each for name in ends for each in table[name].to_list()]
    up = axis("y", plot.y, heights) if bars else on("y", plot.y, heights, log=plot.log_y)
    words = table["word"].unique(maintain_order=True).to_list()
    if table["x"].dtype.is_numeric():
        along = on("at", plot.x, table["x"].to_list(), log=plot.log_x)
        along = replace(along, marks=_few_marks(table["x"].to_list()) if plot.log_x else ())
    else:
        middles = tuple(at + 0.5 for at in range(len(words)))
        along = Axis("at", plot.x, 0, len(words) or 1, marks=middles, names=tuple(words))

    named = lines and 1 < len(names) <= size[1] / NAME_LINE  # at the ends of their lines
    where = empty_panel(along, up, names if named else (), *size)
    where = replace(where, width=where.width - min(where.beside, MOST_BESIDE))
    looks = {name: Look(COLOURS[at % len(COLOURS)]) for at, name in enumerate(names)}
    told: Any = {"range": [look.colour for look in looks.values()]}
    if len(names) > MOST_TOLD and not named:
        told = {"scheme": "viridis"}
    below = alt.Legend(labelLimit=340, symbolOpacity=1, orient="bottom", columns=2)
    scale, legend = alt.Scale(domain=names, **told), None if named else below
    angle = -35 if sum(map(len, words)) > LONG and (bars or along.names) else 0
    across = along.encoding(alt.X, labelAngle=angle)
    order = [f"{name}, {whose}" for name in names for whose in (PRINTED, COMPUTED)]
    tips = [name for name in ("series", "whose", "x", "y", "low", "high") if name in table]
    shown = where.chart(
        table, color=alt.Color("series:N", title=None, scale=scale, legend=legend), tooltip=tips
    )
    if bars:
        below_bars = alt.Axis(labelAngle=angle)
        across = alt.X("word:O", title=plot.x or None, sort=None, axis=below_bars)
        apart = alt.Scale(paddingInner=0.12)
        shown = shown.encode(xOffset=alt.XOffset("bar:N", sort=order, scale=apart))
    shown = shown.encode(x=across)
    step: Any = {"interpolate": "step-after"} if plot.form == "steps" else {}
    layers: list[alt.Chart] = []
    if "high" in ends:  # a band along a line, or a bar at each point
        interval = shown.transform_filter("isValid(datum.low) && isValid(datum.high)").encode(
            y=replace(up, field="low").encoding(alt.Y), y2="high:Q", detail="whose:N"
        )
        band = interval.mark_area(opacity=0.18, **step)
        layers.append(band if lines else interval.mark_rule(strokeWidth=1.4))
    longest = max(table.group_by("series", "whose").len()["len"].to_list(), default=0)
    area = 12 if lines and longest > 40 else 26 if longest > 16 else 42
    for whose, look in LOOKS.items():
        mine = shown.transform_filter(f"datum.whose == '{whose}'")
        if lines:
            layers.append(mine.mark_line(strokeWidth=1.9, strokeDash=look.dash, **step))
        if bars:
            hollow: Any = {"filled": False, "strokeWidth": 1.5, "strokeDash": [4, 3]}
            layers.append(mine.mark_bar(**(hollow if whose == PRINTED else {})))
        elif look.points:
            point = mine.mark_point(filled=True, opacity=1, size=look.points * area)
            layers.append(point.encode(shape=alt.value(look.shape)))
    layers += where.ends_of(table, "series", looks) if named else []
    return where.drawn(layers, plot.title), where.width + BESIDE + where.beside


def _drawable(plot: Plot) -> pl.DataFrame:
    """Return the points that there are: with numbers, and on a logarithmic axis above 0.

    ``word`` is what their place is called, and ``at`` where it is: their number, or the middle of
    their word.
    """
    table = plot.table.with_columns(pl.col("y").cast(pl.Float64)).filter(
        pl.col("y").is_not_null() & pl.col("y").is_finite()
    )
    for name in ["y"] * plot.log_y + ["x"] * plot.log_x:
        table = table.filter(pl.col(name) > 0)
    order = {value: place for place, value in enumerate(table["x"].unique(maintain_order=True))}
    middles = pl.Series([order[value] + 0.5 for value in table["x"]], dtype=pl.Float64)
    words = [each if isinstance(each, str) else f"{each:g}" for each in table["x"]]
    return table.with_columns(
        bar=pl.concat_str("series", "whose", separator=", "),
        word=pl.Series(words, dtype=pl.String),
        at=pl.col("x") if table["x"].dtype.is_numeric() else middles,
    )


def _few_marks(xs: Iterable[float]) -> tuple[float, ...]:
    """Return the places of points on a logarithmic axis, if they are few and apart."""
    ticks = sorted(set(xs))
    apart = all(after >= 1.9 * before for before, after in pairwise(ticks))
    return tuple(ticks) if apart and len(ticks) <= MOST_TICKS else ()


# -- curves by size -------------------------------------------------------------------------------


def by_nodes(
    table: pl.DataFrame,
    field: str,
    title: str,
    by: str,
    looks: Mapping[str, Look],
    said: str,
    *also: float,
) -> alt.LayerChart:
    """Return ratios by the size of networks: lines with their names at their ends.

    Of few sizes the ticks are these. Ratios are by decades if they, and others that are to be
    ``also`` on the axis, span more than one.
    """
    sizes = table["nodes"].to_list()
    x = replace(axis("nodes", "nodes", sizes, log=True), marks=_few_marks(sizes))
    values = [*also, *table[field].to_list()]
    y = axis(field, title, values, log=max(values) > 10 * min(values), whole=False)
    where = empty_panel(x, y, looks, WIDTH, HEIGHT)
    return where.drawn([*where.lines(table, by, looks), *where.ends_of(table, by, looks)], said)
