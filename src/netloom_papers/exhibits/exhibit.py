"""The picture of a paper's table or figure: printed and computed side by side."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from netloom.base.figures import COMPUTED, MODELLED, PRINTED, Grid, Plot
from netloom.drawing.axes import Axis, axis
from netloom.drawing.colours import COLOURS
from netloom.drawing.frame import framed
from netloom.drawing.line_names import GAP as BEFORE_NAME
from netloom.drawing.line_names import LINE
from netloom.drawing.networks.letters import width_of
from netloom.drawing.panel import End, Panel
from netloom_papers.exhibits.exhibit_grid import MEANING, grid_chart, grid_size, has_printed

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt
    import polars as pl

    Drawn: TypeAlias = alt.LayerChart | alt.VConcatChart

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
    beside = max((names_width(each, size) for each in plots), default=0.0)
    size = (size[0] - int(min(beside, MOST_BESIDE)), size[1])
    together = _names(plots)
    one_legend = len(together) <= MOST_TOLD or len({tuple(_names([each])) for each in plots}) == 1
    found = {each for plot in plots for each in plot.table["whose"].unique()}
    whose = tuple(each for each in LOOKS if each in found)
    look = Look(size, whose, below=not one_legend)
    drawn: list[tuple[int, Drawn]] = []
    for panel in panels:
        if isinstance(panel, Plot):
            names = together if one_legend else _names([panel])
            drawn.append((size[0] + AXES + int(beside), plot_chart(panel, names, look)))
        else:
            drawn.append((grid_size(panel)[0], grid_chart(panel)))
    width = max((sum(width + GAP for width, _ in row) for row in _in_rows(drawn)), default=0)
    letters = int(max(width, LEAST) / LETTER)
    how: Any = "shared" if one_legend else "independent"
    resolve = {"color": how, "shape": how}
    rows: list[Any] = [
        alt.hconcat(*(chart for _, chart in row), spacing=GAP).resolve_scale(**resolve)
        for row in _in_rows(drawn)
    ]
    if remarks:
        indent = 45 if isinstance(panels[0], Plot) else 0
        rows.append(_below([part for line in remarks for part in wrap(line, letters)], indent))
    whole = alt.vconcat(*rows, spacing=26).resolve_scale(**resolve)
    said = [*words, *_meaning(whose), *[MEANING] * has_printed(panels)]
    return framed([whole], title, [part for line in said for part in wrap(line, letters)])


class Look(NamedTuple):
    """What all axes of a picture share: size in pixels, whose points, and where the legend is."""

    size: tuple[int, int]
    whose: tuple[str, ...]
    below: bool = False


def _meaning(whose: Sequence[str]) -> list[str]:
    return [" ".join(LOOKS[each][2] for each in whose)] if len(whose) > 1 else []


def plot_chart(plot: Plot, names: Sequence[str], look: Look) -> alt.LayerChart:
    """Return one pair of axes.

    Parameters
    ----------
    plot
        What is on them.
    names
        All series that are told apart by color, perhaps of other axes as well.
    look
        What it shares with other axes.
    """
    import altair as alt

    table = _drawable(plot)
    named = names_width(plot, look.size) > 0
    shown = alt.Chart(table).encode(
        x=_x(plot, table),
        y=_y(plot, table),
        color=_colour(names, below=look.below, named=named),
        tooltip=[name for name in ("series", "whose", "x", "y", "low", "high") if name in table],
    )
    layers: list[alt.Chart] = []
    if {"low", "high"} <= set(table.columns):
        layers.append(_interval(plot, shown, table))
    if plot.form == "bars":
        layers += _bars(shown, table)
    else:
        if plot.form != "points":
            layers.append(_lines(plot, shown, table, whose=look.whose))
        layers += _marks(plot, shown, table, whose=look.whose)
    if named:
        layers += _ends(plot, table, names, look)
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=look.size[0], height=look.size[1], title=_panel_title(plot.title, look.size[0])
    )
    return chart


def _lines(plot: Plot, shown: alt.Chart, table: pl.DataFrame, *, whose: Sequence[str]) -> alt.Chart:
    import altair as alt

    step: Any = {"interpolate": "step-after"} if plot.form == "steps" else {}
    order: Any = {} if table["x"].dtype.is_numeric() else {"order": "place:Q"}
    dashes = alt.StrokeDash("whose:N", **_told_apart(whose, 1))
    lines: alt.Chart = shown.mark_line(strokeWidth=1.9, **step).encode(strokeDash=dashes, **order)
    return lines


def _marks(
    plot: Plot, shown: alt.Chart, table: pl.DataFrame, *, whose: Sequence[str]
) -> list[alt.Chart]:
    """Points: full ones, and hollow ones round them. Smaller where a line has many."""
    import altair as alt

    most = max(table.group_by("series", "whose").len()["len"].to_list(), default=0)
    room = 12 if plot.form != "points" and most > 40 else 26 if most > 16 else 42
    shape = alt.Shape("whose:N", **_told_apart(whose, 0))
    return [
        shown.transform_filter(f"datum.whose == '{each}'")
        .mark_point(size=size, filled=True, opacity=1)
        .encode(shape=shape)
        for each, size in ((COMPUTED, room), (PRINTED, 3 * room))
    ]


def _told_apart(whose: Sequence[str], at: int) -> dict[str, Any]:
    """Return scale and legend of shapes (0) or dashes (1): alike, so that they share a legend."""
    import altair as alt

    scale = alt.Scale(domain=list(whose), range=[LOOKS[each][at] for each in whose])
    legend = alt.Legend(symbolSize=90, orient="bottom") if len(whose) > 1 else None
    return {"title": None, "scale": scale, "legend": legend}


def _bars(shown: alt.Chart, table: pl.DataFrame) -> list[alt.Chart]:
    """Bars side by side: full ones, and hollow ones before them."""
    beside = _beside(table)
    computed, printed = (
        shown.transform_filter(f"datum.whose == '{whose}'") for whose in (COMPUTED, PRINTED)
    )
    return [
        computed.mark_bar().encode(**beside),
        printed.mark_bar(filled=False, strokeWidth=1.5, strokeDash=[4, 3]).encode(**beside),
    ]


def _beside(table: pl.DataFrame) -> dict[str, alt.XOffset]:
    """Return where bars are beside each other: by series, and of each first the printed one."""
    import altair as alt

    there = set(table["bar"].to_list())
    names = table["series"].unique(maintain_order=True).to_list()
    order = [f"{name}, {whose}" for name in names for whose in (PRINTED, COMPUTED)]
    order = [bar for bar in order if bar in there]
    if len(order) < 2:
        return {}
    return {"xOffset": alt.XOffset("bar:N", sort=order, scale=alt.Scale(paddingInner=0.12))}


def _interval(plot: Plot, shown: alt.Chart, table: pl.DataFrame) -> alt.Chart:
    """A band along a line, or a bar at each point."""
    import altair as alt

    values = _seen(table)
    between: dict[str, Any] = {
        "y": replace(_y_axis(plot, values), field="low").encoding(alt.Y),
        "y2": alt.Y2("high:Q"),
        "detail": alt.Detail("whose:N"),
    }
    only = shown.transform_filter("isValid(datum.low) && isValid(datum.high)")
    if plot.form in ("points", "bars"):
        beside = _beside(table) if plot.form == "bars" else {}
        rules: alt.Chart = only.mark_rule(strokeWidth=1.4).encode(**between, **beside)
        return rules
    step: Any = {"interpolate": "step-after"} if plot.form == "steps" else {}
    band: alt.Chart = only.mark_area(opacity=0.18, **step).encode(**between)
    return band


def names_width(plot: Plot, size: tuple[int, int]) -> float:
    """Return how much room the names of lines take at their ends, or 0 if a legend names them."""
    names = _names([plot])
    if plot.form not in ("lines", "steps") or not 1 < len(names) <= size[1] / LINE:
        return 0.0
    return BEFORE_NAME + max(width_of(name, bold=True) for name in names)


def _ends(plot: Plot, table: pl.DataFrame, names: Sequence[str], look: Look) -> list[alt.Chart]:
    """Return the names of lines at their right ends."""
    import polars as pl

    numeric = table["x"].dtype.is_numeric()
    places = table.with_columns(at=pl.col("x") if numeric else pl.col("place") + 0.5)
    along = _x_axis(plot, table) if numeric else Axis("x", "", 0, table["place"].n_unique())
    up = _y_axis(plot, _seen(table))
    ends = []
    for at, name in enumerate(names):
        mine = places.filter(series=name)
        if mine.height:
            last = mine.sort("at", maintain_order=True).row(-1, named=True)
            ends.append(End(name, last["at"], last["y"], COLOURS[at % len(COLOURS)]))
    width, height = look.size
    return Panel(along, up, width, height).ends(ends)


def _colour(names: Sequence[str], *, below: bool, named: bool) -> alt.Color:
    """Return the colors of series. Those that have their names beside them need no legend."""
    import altair as alt

    hues = [COLOURS[at % len(COLOURS)] for at in range(len(names))]
    few = named or len(names) <= MOST_TOLD
    colours: dict[str, Any] = {"range": hues} if few else {"scheme": "viridis"}
    where: dict[str, Any] = {"orient": "bottom", "columns": 2} if below else {}
    return alt.Color(
        "series:N",
        title=None,
        scale=alt.Scale(domain=list(names), **colours),
        legend=None if named else alt.Legend(labelLimit=340, symbolOpacity=1, **where),
    )


def _x(plot: Plot, table: pl.DataFrame) -> alt.X:
    """Return the horizontal axis: numbers, or words in their order."""
    import altair as alt

    values = table["x"]
    if plot.form == "bars" or not values.dtype.is_numeric():
        order = values.unique(maintain_order=True).to_list()
        long = sum(len(f"{value}") for value in order) * LETTER > SMALL[0]
        number: Any = {"format": "~g"} if values.dtype.is_numeric() else {}
        axis = alt.Axis(labelAngle=-35 if long else 0, **number)
        return alt.X("x:O", title=plot.x, sort=None, axis=axis)
    return _x_axis(plot, table).encoding(alt.X)


def _x_axis(plot: Plot, table: pl.DataFrame) -> Axis:
    """Return the axis of numbers: if it is logarithmic and points are few, their ticks."""
    values = table["x"].to_list()
    found = _axis("x", plot.x, values, log=plot.log_x)
    ticks = sorted({float(each) for each in values})
    apart = all(after >= 1.9 * before for before, after in pairwise(ticks))
    if plot.log_x and 0 < len(ticks) <= MOST_TICKS and apart:
        return replace(found, marks=tuple(ticks))
    return found


def _y(plot: Plot, table: pl.DataFrame) -> alt.Y:
    import altair as alt

    return _y_axis(plot, _seen(table)).encoding(alt.Y)


def _y_axis(plot: Plot, values: Sequence[float | None]) -> Axis:
    if plot.form == "bars" and not plot.log_y:
        return axis("y", plot.y, values)
    return _axis("y", plot.y, values, log=plot.log_y)


def _seen(table: pl.DataFrame) -> list[float | None]:
    """Return all that is to be seen along the vertical axis, intervals too."""
    ends = [name for name in ("y", "low", "high") if name in table.columns]
    return [each for name in ends for each in table[name].to_list()]


def _axis(field: str, title: str, values: Sequence[float | None], *, log: bool) -> Axis:
    """Return a logarithmic axis, or one that has 0 unless all is far from it."""
    known = [float(each) for each in values if each is not None]
    zero = not known or min(known) <= 0.55 * max(known)
    return axis(field, title, values, zero=zero, log=log, room=0.04)


def _drawable(plot: Plot) -> pl.DataFrame:
    """Return the points that there are: with numbers, and on a logarithmic axis above 0."""
    import polars as pl

    table = plot.table.with_columns(pl.col("y").cast(pl.Float64)).filter(
        pl.col("y").is_not_null() & pl.col("y").is_finite()
    )
    if plot.log_y:
        table = table.filter(pl.col("y") > 0)
    if plot.log_x:
        table = table.filter(pl.col("x") > 0)
    order = {value: place for place, value in enumerate(table["x"].unique(maintain_order=True))}
    return table.with_columns(
        bar=pl.concat_str("series", "whose", separator=", "),
        place=pl.Series([order[value] for value in table["x"]], dtype=pl.Int64),
    )


def _names(plots: Sequence[Plot]) -> list[str]:
    """Return all series of some axes, once each, in their order."""
    return list(dict.fromkeys(name for plot in plots for name in plot.table["series"].to_list()))


def _below(lines: list[str], indent: int) -> alt.Chart:
    """Return lines of words as a part by itself."""
    import altair as alt

    text = [{"y": 17 * place + 8, "text": line} for place, line in enumerate(lines)]
    words: alt.Chart = (
        alt.Chart(alt.InlineData(text))
        .mark_text(align="left", baseline="middle", fontSize=12)
        .encode(x=alt.value(-indent), y=alt.Y("y:Q", scale=None, axis=None), text="text:N")
        .properties(width=LEAST, height=17 * len(lines))
    )
    return words


def _panel_title(title: str, width: int) -> alt.TitleParams:
    import altair as alt

    return alt.TitleParams(wrap(title, int(width / LETTER)), anchor="start", fontSize=12.5)


def _in_rows(drawn: Sequence[tuple[int, Drawn]]) -> list[list[tuple[int, Drawn]]]:
    """Return panels with their widths side by side, as many as there is room for."""
    rows: list[list[tuple[int, Drawn]]] = []
    room = 0
    for width, panel in drawn:
        if not rows or width > room:
            rows.append([])
            room = ROW
        rows[-1].append((width, panel))
        room -= width + GAP
    return rows
