"""The pictures of Feldmann, Stricker & Warfel's study of connections in phases."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.report.frame import framed
from netloom.report.load_curve import COLOURS

if TYPE_CHECKING:
    import altair as alt
    import polars as pl

MARKS = {"predicted": "triangle-up", "measured": "circle", "simulated": "cross"}
"""Where a number comes from."""

DASHES = {"predicted": [2, 3], "measured": [1, 0], "simulated": [7, 3]}

MEGABYTES = "aggregate bandwidth, MB/s"

WIDTH, HEIGHT = 520, 330
SMALL = 250


def conset_figure(title: str, table: pl.DataFrame) -> alt.HConcatChart:
    """Return a figure of ``netloom.studies.feldmann_figures``, by what its table has.

    Parameters
    ----------
    title
        What is shown.
    table
        ``bandwidth`` by ``words`` or ``mesh``, ``series`` and ``what``; or ``words`` of the pairs
        of each ``mesh``.
    """
    if "bandwidth" in table.columns:
        return _bandwidths(title, table)
    return _histograms(title, table)


def _bandwidths(title: str, table: pl.DataFrame) -> alt.HConcatChart:
    import altair as alt

    names = table["series"].unique(maintain_order=True).to_list()
    kinds = [kind for kind in MARKS if kind in table["what"]]
    if "words" in table.columns:
        ticks = sorted(table["words"].unique().to_list())
        x = alt.X("words:Q", title="words of a connection", scale=alt.Scale(type="log", base=2),
                  axis=alt.Axis(values=ticks, format="d"))  # fmt: skip
    else:
        x = alt.X("mesh:N", title="mesh", sort=None, axis=alt.Axis(labelAngle=0))
    shown = alt.Chart(table).encode(
        x=x,
        y=alt.Y("bandwidth:Q", title=MEGABYTES),
        color=alt.Color(
            "series:N", title=None, scale=alt.Scale(domain=names, range=COLOURS[: len(names)])
        ),
        detail=["series:N", "what:N"],
        tooltip=["series:N", "what:N", *table.columns[2:]],
    )
    dashes = alt.StrokeDash(
        "what:N", title=None, scale=alt.Scale(domain=kinds, range=[DASHES[k] for k in kinds])
    )
    shapes = alt.Shape(
        "what:N", title=None, scale=alt.Scale(domain=kinds, range=[MARKS[k] for k in kinds])
    )
    marks = shown.mark_point(size=56, filled=False, strokeWidth=1.7, opacity=1).encode(shape=shapes)
    if "words" in table.columns:
        layers = [shown.mark_line(strokeWidth=1.7).encode(strokeDash=dashes), marks]
    else:
        layers = [marks.encode(xOffset=alt.XOffset("series:N", sort=None))]
    whole = alt.LayerChart(layer=layers).properties(width=WIDTH, height=HEIGHT)
    words = "predicted and measured as printed, on 64 cells of iWarp; the rest is netloom's"
    return framed([whole], title, [words])


def _histograms(title: str, table: pl.DataFrame) -> alt.HConcatChart:
    import altair as alt

    charts = [
        alt.Chart(part)
        .mark_bar(color=COLOURS[0])
        .encode(
            x=alt.X("words:Q", bin=alt.Bin(maxbins=25), title="words between two processors"),
            y=alt.Y("count():Q", title="pairs" if place == 0 else None),
        )
        .properties(width=SMALL, height=SMALL, title=str(mesh))
        for place, ((mesh,), part) in enumerate(
            table.partition_by("mesh", as_dict=True, maintain_order=True).items()
        )
    ]
    return framed(charts, title, ["what two parts of a mesh of finite elements tell each other"])
