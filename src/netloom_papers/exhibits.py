"""Tables and figures of the papers beside what netloom computes.

Studies make them as data, of curves and cells: what is shown, and nothing of how it is drawn.
``exhibit_chart`` draws them, printed and computed side by side.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from math import isnan
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from netloom.drawing.axes import Axis, End, Look, Panel, axis, panel as empty_panel
from netloom.drawing.frame import COLOURS, REFERENCE, THIS, framed
from netloom.drawing.load_curves import HEIGHT, WIDTH
from netloom.drawing.names import GAP as BEFORE_NAME, NAME_LINE, width_of
from netloom.simulation.steady import batch_interval

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


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

    def letters(self, column: int) -> tuple[int, int]:
        """Return the letters of the printed and the computed numbers of a column; 0 where none is.

        Columns of cells are numbered from 0.
        """
        cells = [row[column] for _, row in self.rows]
        there = [(cell, cell.words()) for cell in cells if cell is not None]
        printed, computed = (
            max((len(words[half]) for _, words in there), default=0)
            if any(cell[half] is not None for cell, _ in there)
            else 0
            for half in (0, 1)
        )
        return printed, computed


def curve(
    series: str,
    x: ArrayLike,
    y: ArrayLike,
    whose: str = COMPUTED,
    *,
    low: ArrayLike | None = None,
    high: ArrayLike | None = None,
) -> pl.DataFrame:
    """Return the points of one curve, as ``Plot`` has them. Y is one number, or one each.

    Examples
    --------
    >>> curve("ν = 2", [0, 1], 3.0)["y"].to_list()
    [3.0, 3.0]
    """
    import polars as pl

    at = np.asarray(x)
    columns: dict[str, Any] = {
        "series": [series] * len(at),
        "x": at if at.dtype.kind == "U" else at.astype(np.float64),
        "y": np.broadcast_to(np.asarray(y, np.float64), at.shape),
        "whose": [whose] * len(at),
    }
    if low is not None and high is not None:
        columns["low"], columns["high"] = np.asarray(low), np.asarray(high)
    return pl.DataFrame(columns)


def plot(
    title: str,
    axes: tuple[str, str],
    curves: Iterable[pl.DataFrame],
    *,
    form: Literal["lines", "points", "steps", "bars"] = "lines",
    log_x: bool = False,
    log_y: bool = False,
) -> Plot:
    """Return one pair of axes with these curves."""
    import polars as pl

    table = pl.concat(list(curves), how="diagonal_relaxed")
    return Plot(title, *axes, table, form, log_x, log_y)


def averaged(
    series: str, table: pl.DataFrame, y: str, *, x: str = "applied", percent: bool = True
) -> pl.DataFrame:
    """Return the curve of the means of a table's runs, with their 95 % confidence intervals.

    ``percent`` is whether ``x`` is a share, to be shown in per cent.
    """
    xs = np.unique(table[x].to_numpy())
    found = []
    for value in xs:
        samples = table.filter(table[x] == value)[y].to_numpy()
        mean, half = batch_interval(samples, np.ones(len(samples)))
        found.append((mean, 0.0 if len(samples) < 2 else half))
    means, halves = np.array(found).T
    at = 100 * xs if percent else xs
    if (table.group_by(x).len()["len"] < 2).any():
        return curve(series, at, means)
    return curve(series, at, means, low=means - halves, high=means + halves)


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
"""A hollow diamond, as a path that is filled: so it is hollow in the legend as well."""

BAR = "M-1,-0.15L1,-0.15L1,0.15L-1,0.15Z"
"""What a line is in the legend of shapes."""

LOOKS: dict[str, tuple[str, list[int], str]] = {
    COMPUTED: ("circle", [1, 0], "Solid: computed."),
    PRINTED: (RING, [5, 4], "Hollow or dashed: printed."),
    MODELLED: (BAR, [2, 2], "Dotted: by the model."),
}
"""Points and lines by whose they are, and the words for them."""

SIZES = {1: (580, 360), 2: (410, 290), 4: (410, 270)}
SMALL = (285, 215)
"""Of the axes, by how many pairs of them there are at most, and of more."""

MOST_TICKS = 7

MOST_BESIDE = 90
"""Pixels of the axes that names beside them take, at most."""

AXES = 75
"""Pixels beside a pair of axes, for its numbers."""

ROW, LEAST, GAP = 1160, 640, 30
"""Pixels that panels side by side may take, that words may take, and between panels."""

LETTER = 6.6
"""Pixels of a letter of the words, about."""

MEANING = (
    "Tables: the printed number is grey and left, the computed one black and right; "
    "red where it is outside its tolerance."
)

CELL_LOOKS: dict[str, dict[str, Any]] = {
    "label": {"align": "left", "fontSize": 12},
    "head": {"align": "right", "fontWeight": 600, "fontSize": 12},
    "printed": {"align": "right", "color": REFERENCE, "fontSize": 12},
    "computed": {"align": "right", "fontSize": 12},
    "outside": {"align": "right", "color": THIS, "fontWeight": 600, "fontSize": 12},
}

CELL_LETTER, CELL_GAP = 6.4, 22
"""Pixels of a digit or letter of a table, about, and between its columns."""

LINE, HEAD_LINE, HEAD_LETTERS = 21, 14, 14
"""Pixels of a row, and of a line of the heads, and the letters of such a line."""


def exhibit_chart(
    title: str,
    panels: Sequence[Plot | Grid],
    words: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> alt.VConcatChart:
    """Return the picture of a table or figure: computed is solid, printed hollow and dashed.

    Intervals are bands, or bars at single points. Tables have printed and computed numbers side by
    side in each cell, and those outside their tolerance stand out.

    Parameters
    ----------
    title
        What is shown.
    panels
        Axes and tables, in their order.
    words, remarks
        What to say below the title, and below all panels. Long lines are broken.
    """
    import altair as alt

    plots = [panel for panel in panels if isinstance(panel, Plot)]
    size = next((size for most, size in SIZES.items() if len(plots) <= most), SMALL)
    beside = max((_names_width(each, size[1]) for each in plots), default=0.0)
    size = (size[0] - int(min(beside, MOST_BESIDE)), size[1])
    series = [_series(plot) for plot in plots]
    together = list(dict.fromkeys(name for names in series for name in names))
    one_legend = len(together) <= MOST_TOLD or len(set(map(tuple, series))) == 1
    found = {each for plot in plots for each in plot.table["whose"].unique()}
    whose = [each for each in LOOKS if each in found]
    rows: list[Any] = []
    room = widest = 0
    for panel in panels:
        chart: alt.LayerChart
        if isinstance(panel, Plot):
            names = together if one_legend else _series(panel)
            chart = plot_chart(panel, names, whose, size, below=not one_legend)
            width = size[0] + AXES + int(beside)
        else:
            chart = grid_chart(panel)
            width = int(chart.width)
        if not rows or width > room:
            rows.append([])
            room = ROW
        rows[-1].append(chart)
        room -= width + GAP
        widest = max(widest, ROW - room)
    how: Any = "shared" if one_legend else "independent"
    resolve = {"color": how, "shape": how}
    rows = [alt.hconcat(*row, spacing=GAP).resolve_scale(**resolve) for row in rows]

    letters = int(max(widest, LEAST) / LETTER)
    said = [*words]
    if len(whose) > 1:
        said.append(" ".join(LOOKS[each][2] for each in whose))
    cells = [
        cell for each in panels if isinstance(each, Grid) for _, row in each.rows for cell in row
    ]
    if any(cell is not None and cell.printed is not None for cell in cells):
        said.append(MEANING)
    said, below = (
        [part for line in lines for part in wrap(line, letters)] for lines in (said, remarks)
    )
    if below:
        indent = 45 if isinstance(panels[0], Plot) else 0
        text = [{"y": 17 * place + 8, "text": line} for place, line in enumerate(below)]
        rows.append(
            alt.Chart(alt.InlineData(text))
            .mark_text(align="left", baseline="middle", fontSize=12)
            .encode(x=alt.value(-indent), y=alt.Y("y:Q", scale=None, axis=None), text="text:N")
            .properties(width=LEAST, height=17 * len(below))
        )
    return framed([alt.vconcat(*rows, spacing=26).resolve_scale(**resolve)], title, said)


def plot_chart(
    plot: Plot,
    names: Sequence[str],
    whose: Sequence[str],
    size: tuple[int, int],
    *,
    below: bool,
) -> alt.LayerChart:
    """Return one pair of axes.

    Parameters
    ----------
    plot
        What is on them.
    names, whose
        All series that are told apart by color, and whose, perhaps of other axes as well.
    size
        In pixels.
    below
        Whether the legend is below.
    """
    import altair as alt
    import polars as pl

    table = _drawable(plot)
    along, up = _axes(plot, table)
    named = _names_width(plot, size[1]) > 0
    few = named or len(names) <= MOST_TOLD
    hues: Any = {"range": [COLOURS[at % len(COLOURS)] for at in range(len(names))]}
    where: Any = {"orient": "bottom", "columns": 2} if below else {}
    # words, or numbers below bars, in their order
    places = table["x"].unique(maintain_order=True).to_list()
    long = sum(len(f"{value}") for value in places) * LETTER > SMALL[0]
    number: Any = {"format": "~g"} if table["x"].dtype.is_numeric() else {}
    labels = alt.Axis(labelAngle=-35 if long else 0, **number)
    across = alt.X("x:O", title=plot.x, sort=None, axis=labels)
    shown = alt.Chart(table).encode(
        x=across if along is None else along.encoding(alt.X),
        y=up.encoding(alt.Y),
        color=alt.Color(
            "series:N",
            title=None,
            scale=alt.Scale(domain=list(names), **(hues if few else {"scheme": "viridis"})),
            legend=None if named else alt.Legend(labelLimit=340, symbolOpacity=1, **where),
        ),
        tooltip=[name for name in ("series", "whose", "x", "y", "low", "high") if name in table],
    )
    shift = _side_by_side(table) if plot.form == "bars" else {}
    step: Any = {"interpolate": "step-after"} if plot.form == "steps" else {}
    layers: list[alt.Chart] = []
    if {"low", "high"} <= set(table.columns):  # a band along a line, or a bar at each point
        interval = shown.transform_filter("isValid(datum.low) && isValid(datum.high)").encode(
            y=replace(up, field="low").encoding(alt.Y),
            y2=alt.Y2("high:Q"),
            detail=alt.Detail("whose:N"),
            **shift,
        )
        alone = plot.form in ("points", "bars")
        layers.append(
            interval.mark_rule(strokeWidth=1.4)
            if alone
            else interval.mark_area(opacity=0.18, **step)
        )
    computed, printed = (
        shown.transform_filter(f"datum.whose == '{each}'") for each in (COMPUTED, PRINTED)
    )
    if plot.form == "bars":
        hollow = printed.mark_bar(filled=False, strokeWidth=1.5, strokeDash=[4, 3])
        layers += [computed.mark_bar().encode(**shift), hollow.encode(**shift)]
    else:
        legend = alt.Legend(symbolSize=90, orient="bottom") if len(whose) > 1 else None
        keys: list[dict[str, Any]] = [  # alike, so that they share a legend
            {"title": None, "scale": alt.Scale(domain=list(whose), range=looks), "legend": legend}
            for looks in ([LOOKS[each][at] for each in whose] for at in (0, 1))
        ]
        shapes, dashes = keys
        if plot.form != "points":
            order: Any = {} if table["x"].dtype.is_numeric() else {"order": "place:Q"}
            line = shown.mark_line(strokeWidth=1.9, **step)
            layers.append(line.encode(strokeDash=alt.StrokeDash("whose:N", **dashes), **order))
        most = max(table.group_by("series", "whose").len()["len"].to_list(), default=0)
        room = 12 if plot.form != "points" and most > 40 else 26 if most > 16 else 42
        layers += [
            points.mark_point(size=area, filled=True, opacity=1).encode(
                shape=alt.Shape("whose:N", **shapes)
            )
            for points, area in ((computed, room), (printed, 3 * room))
        ]
    if named:
        at = pl.col("x") if table["x"].dtype.is_numeric() else pl.col("place") + 0.5
        ends, placed = [], table.with_columns(at=at).sort("at", maintain_order=True)
        for hue, name in enumerate(names):
            if (mine := placed.filter(series=name)).height:
                last = mine.row(-1, named=True)
                ends.append(End(name, last["at"], last["y"], COLOURS[hue % len(COLOURS)]))
        x = along or Axis("x", "", 0, table["place"].n_unique())
        layers += Panel(x, up, *size).ends(ends)
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=size[0], height=size[1], title=_titled(plot.title, int(size[0] / LETTER))
    )
    return chart


def _titled(title: str, letters: int) -> alt.TitleParams:
    import altair as alt

    return alt.TitleParams(wrap(title, letters), anchor="start", fontSize=12.5)


def _series(plot: Plot) -> list[str]:
    """Return all series of some axes, once each, in their order."""
    return list(dict.fromkeys(plot.table["series"].to_list()))


def _drawable(plot: Plot) -> pl.DataFrame:
    """Return the points that there are: with numbers, and on a logarithmic axis above 0."""
    import polars as pl

    table = plot.table.with_columns(pl.col("y").cast(pl.Float64)).filter(
        pl.col("y").is_not_null() & pl.col("y").is_finite()
    )
    for name in ["y"] * plot.log_y + ["x"] * plot.log_x:
        table = table.filter(pl.col(name) > 0)
    order = {value: place for place, value in enumerate(table["x"].unique(maintain_order=True))}
    return table.with_columns(
        bar=pl.concat_str("series", "whose", separator=", "),
        place=pl.Series([order[value] for value in table["x"]], dtype=pl.Int64),
    )


def _axes(plot: Plot, table: pl.DataFrame) -> tuple[Axis | None, Axis]:
    """Return the axes of numbers. The horizontal one is None where words are on it, or bars.

    They have 0 unless all is far from it. If the horizontal one is logarithmic and points are few,
    their places are its ticks.
    """

    def of(field: str, title: str, values: Sequence[float | None], *, log: bool) -> Axis:
        known = [float(each) for each in values if each is not None]
        zero = not known or min(known) <= 0.55 * max(known)
        return axis(field, title, values, zero=zero, log=log, room=0.04)

    ends = [name for name in ("y", "low", "high") if name in table.columns]
    heights = [each for name in ends for each in table[name].to_list()]
    if plot.form == "bars":
        up = of("y", plot.y, heights, log=True) if plot.log_y else axis("y", plot.y, heights)
        return None, up
    up = of("y", plot.y, heights, log=plot.log_y)
    if not table["x"].dtype.is_numeric():
        return None, up
    along = of("x", plot.x, table["x"].to_list(), log=plot.log_x)
    ticks = sorted({float(each) for each in table["x"]})
    apart = all(after >= 1.9 * before for before, after in pairwise(ticks))
    if plot.log_x and 0 < len(ticks) <= MOST_TICKS and apart:
        along = replace(along, marks=tuple(ticks))
    return along, up


def _side_by_side(table: pl.DataFrame) -> dict[str, Any]:
    """Return where bars are beside each other: by series, and of each first the printed one."""
    import altair as alt

    there = set(table["bar"].to_list())
    names = table["series"].unique(maintain_order=True).to_list()
    order = [f"{name}, {whose}" for name in names for whose in (PRINTED, COMPUTED)]
    order = [bar for bar in order if bar in there]
    if len(order) < 2:
        return {}
    return {"xOffset": alt.XOffset("bar:N", sort=order, scale=alt.Scale(paddingInner=0.12))}


def _names_width(plot: Plot, height: int) -> float:
    """Return how much room the names of lines take at their ends, or 0 if a legend names them."""
    names = _series(plot)
    if plot.form not in ("lines", "steps") or not 1 < len(names) <= height / NAME_LINE:
        return 0.0
    return BEFORE_NAME + max(width_of(name, bold=True) for name in names)


def grid_chart(grid: Grid) -> alt.LayerChart:
    """Return the picture of a table.

    Parameters
    ----------
    grid
        The table.
    """
    import altair as alt

    heads = [wrap(head, HEAD_LETTERS) for head in grid.columns]
    top = HEAD_LINE * max(map(len, heads)) + 8
    halves = []
    for at in range(len(heads) - 1):
        first, second = (letters * CELL_LETTER for letters in grid.letters(at))
        halves.append((first, second + 12 if first and second else second))
    labels = [grid.columns[0], *(label for label, _ in grid.rows)]
    right = [int(max(map(len, labels)) * CELL_LETTER) + 6]
    for lines, both in zip(heads[1:], halves, strict=True):
        wide = max(map(len, lines), default=0) * CELL_LETTER
        right.append(right[-1] + int(max(wide, sum(both))) + CELL_GAP)
    texts: list[dict[str, Any]] = []
    marked: list[dict[str, Any]] = []

    def write(kind: str, x: float, y: float, text: str) -> None:
        texts.append({"kind": kind, "x": x, "y": y, "text": text})

    for at, lines in enumerate(heads):
        for place, line in enumerate(lines):
            above = 10 + HEAD_LINE * (len(lines) - 1 - place)
            write("head" if at else "label", right[at] if at else 0, top - above, line)
    for place, (label, cells) in enumerate(grid.rows):
        y, half = top + LINE * (place + 0.5), LINE / 2 - 2
        write("label", 0, y, label)
        for at, cell in enumerate(cells):
            if cell is None:
                continue
            (first, second), (printed, computed) = halves[at], cell.words()
            if first:
                write("printed", right[at + 1] - second, y, printed)
            if second:
                write("outside" if cell.within is False else "computed", right[at + 1], y, computed)
            if cell.within is False:
                spot = {"x": right[at] + CELL_GAP / 2, "x2": right[at + 1] + 4}
                marked.append({**spot, "y": y - half, "y2": y + half})

    x, y_ = alt.X("x:Q", scale=None, axis=None), alt.Y("y:Q", scale=None, axis=None)
    rules = alt.InlineData([{"y": top + LINE * row} for row in range(len(grid.rows) + 1)])
    spots = alt.Chart(alt.InlineData(marked)).mark_rect(color=THIS, opacity=0.16, cornerRadius=3)
    base = alt.Chart(alt.InlineData(texts)).encode(x=x, y=y_, text="text:N")
    layers: list[Any] = [
        alt.Chart(rules).mark_rule(strokeWidth=0.6, color=REFERENCE, opacity=0.45).encode(y=y_),
        *[spots.encode(x=x, x2="x2:Q", y=y_, y2="y2:Q")] * bool(marked),
        *(
            base.transform_filter(f"datum.kind == '{kind}'").mark_text(baseline="middle", **look)
            for kind, look in CELL_LOOKS.items()
            if any(text["kind"] == kind for text in texts)
        ),
    ]
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=right[-1],
        height=top + LINE * len(grid.rows) + 4,
        title=_titled(grid.title, max(24, int(right[-1] / CELL_LETTER))),
    )
    return chart


# -- curves by size -------------------------------------------------------------------------------


MOST_SIZES = 6
"""Sizes of which each has a tick, at most."""


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
    sizes = sorted(set(table["nodes"].to_list()))
    x = axis("nodes", "nodes", sizes, log=True)
    near = any(1.7 * before > after for before, after in pairwise(sizes))
    if not near and len(sizes) <= MOST_SIZES:
        x = replace(x, marks=tuple(sizes))
    values = [*also, *table[field].to_list()]
    y = axis(field, title, values, log=max(values) > 10 * min(values), whole=False)
    where = empty_panel(x, y, looks, WIDTH, HEIGHT)
    return where.drawn([*where.lines(table, by, looks), *where.ends_of(table, by, looks)], said)
