"""Scenes as charts: every curve, square, box and word is a mark of Vega-Lite."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.drawing.networks.letters import SIZE
from netloom.drawing.networks.traffic import MEAN_HEAT, figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    import altair as alt
    import polars as pl
    from numpy.typing import NDArray

    from netloom.drawing.networks.scene import Bundles, Channels, Scene
    from netloom.drawing.networks.traffic import Traffic

LETTER = 7.6
"""Pixels of a letter of a title, about."""


def drawn(scene: Scene, traffic: Traffic) -> alt.LayerChart:
    """Return a scene as a chart, which has the sentence of its traffic as title.

    Of colours it names none but those of ranges and styles, which the background chooses.
    """
    import altair as alt

    layers: list[Any] = []
    if scene.bundles is not None:
        layers.append(_bundles(scene.bundles))
    curves = [each for each in scene.channels if each.points is not None]
    squares = [each for each in scene.channels if each.squares is not None]
    layers += [_curves(each, traffic, first=place == 0) for place, each in enumerate(curves)]
    layers += _boxes(scene)
    layers += [
        _squares(each, traffic, first=place == 0 and not curves)
        for place, each in enumerate(squares)
    ]
    layers += [*_words(scene), *_discs(scene)]
    letters = max(int(scene.width / LETTER), 20)
    title = wrap(traffic.sentence, letters)
    words = alt.TitleParams(
        title, anchor="start", subtitle=wrap(scene.note, letters) or alt.Undefined,
        subtitleFontSize=SIZE,
    )  # fmt: skip
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=scene.width, height=scene.height, title=words, description=traffic.sentence
    )
    return chart


def _place(field: str) -> dict[str, Any]:
    return {"scale": None, "axis": None, "field": field, "type": "quantitative"}


def colour(traffic: Traffic, width: float, *, legend: bool) -> alt.Color:
    """Return the colours of channels: grey up to the mean, then hot; with their legend."""
    import altair as alt

    marks = {MEAN_HEAT: f"mean {figure(traffic.mean)}", 1.0: figure(traffic.most)}
    if not traffic.uneven:
        marks = {0.0: "0", MEAN_HEAT: f"all {figure(traffic.mean)}"}
    said = "".join(f"abs(datum.value - {at}) < 0.01 ? '{text}' : " for at, text in marks.items())
    shown: Any = alt.Legend(
        orient="bottom", direction="horizontal", gradientLength=min(300, width - 40),
        gradientThickness=10, values=list(marks), labelExpr=f"{said}''", labelLimit=160,
        labelFontSize=SIZE, titleFontSize=SIZE, titleLimit=width, labelOverlap=False,
        title=f"{traffic.measure}: grey up to the mean",
    )  # fmt: skip
    return alt.Color(
        "heat:Q",
        scale=alt.Scale(range="heatmap", interpolate="rgb", domain=[0, 1]),
        legend=shown if legend else None,
    )


def _table(part: Channels, traffic: Traffic) -> dict[str, Any]:
    """Return what is said of channels, by column."""
    time = traffic.time[part.channel]
    table: dict[str, Any] = {
        "channel": [traffic.name(int(each)) for each in part.channel],
        "load": time,
        "heat": np.round(traffic.heat(time), 4),
    }
    if not traffic.topology.even:
        bandwidth = traffic.topology.channel_bandwidth[part.channel]
        table |= {"load": time * bandwidth, "bandwidth": bandwidth, "time": time}
    return table


def _tooltip(traffic: Traffic) -> list[Any]:
    import altair as alt

    told = ["load"] if traffic.topology.even else ["load", "bandwidth", "time"]
    titles = {"load": f"{traffic.unit} on the channel"}
    return ["channel:N", *(
        alt.Tooltip(f"{each}:Q", format=",.4~g", title=titles.get(each, each)) for each in told
    )]  # fmt: skip


def _curves(part: Channels, traffic: Traffic, *, first: bool) -> alt.Chart:
    import altair as alt
    import polars as pl

    assert part.points is not None
    base = 1.1 if len(part.channel) < 1200 else 0.8
    above = np.maximum(traffic.heat(traffic.time[part.channel]) - MEAN_HEAT, 0) / (1 - MEAN_HEAT)
    thick = np.round(base + (part.thickest - base) * above, 2)
    table = pl.DataFrame(
        {"path": paths(part.points), "thick": thick} | _table(part, traffic), strict=False
    )
    made: alt.Chart = (
        alt.Chart(table)
        .mark_point(filled=False, size=4, opacity=1, fill=None, strokeCap="round")
        .encode(
            x=alt.value(0),
            y=alt.value(0),
            shape=alt.Shape("path:N", scale=None),
            strokeWidth=alt.StrokeWidth("thick:Q", scale=None),
            color=colour(traffic, float(part.points[:, :, 0].max(initial=200)), legend=first),
            tooltip=_tooltip(traffic),
        )
    )
    return made


def _bundles(bundles: Bundles) -> alt.Chart:
    import altair as alt
    import polars as pl

    table = pl.DataFrame(
        {
            "path": paths(bundles.points),
            "thick": np.round(bundles.width, 2),
            "bundle": bundles.words,
        }
    )
    made: alt.Chart = (
        alt.Chart(table)
        .mark_point(filled=False, size=4, style="network-bundle", opacity=1)
        .encode(
            x=alt.value(0),
            y=alt.value(0),
            shape=alt.Shape("path:N", scale=None),
            strokeWidth=alt.StrokeWidth("thick:Q", scale=None),
            tooltip=["bundle:N"],
        )
    )
    return made


def paths(points: NDArray[np.float64]) -> list[str]:
    """Return curves as SVG has them.

    Examples
    --------
    >>> paths(np.array([[[0, 1], [4.25, 1], [6, 3], [10, 3]]]))
    ['M0,1C4.2,1,6,3,10,3']
    """
    rounded = np.round(points.reshape(len(points), 8), 1)
    return ["M{:g},{:g}C{:g},{:g},{:g},{:g},{:g},{:g}".format(*each) for each in rounded]


def _squares(part: Channels, traffic: Traffic, *, first: bool) -> alt.Chart:
    import altair as alt
    import polars as pl

    assert part.squares is not None
    left, top, wide, high = np.round(part.squares, 2).T
    places = {"x": left, "y": top, "x2": left + wide, "y2": top + high}
    table = pl.DataFrame(places | _table(part, traffic))
    made: alt.Chart = (
        alt.Chart(table)
        .mark_rect()
        .encode(
            x=alt.X(**_place("x")), y=alt.Y(**_place("y")), x2="x2:Q", y2="y2:Q",
            color=colour(traffic, float((left + wide).max(initial=200)), legend=first),
            tooltip=_tooltip(traffic),
        )
    )  # fmt: skip
    return made


def _boxes(scene: Scene) -> list[alt.Chart]:
    import altair as alt

    layers = []
    for style in dict.fromkeys(box.style for box in scene.boxes):
        rows = [
            {"x": box.x, "y": box.y, "x2": box.x + box.width, "y2": box.y + box.height}
            for box in scene.boxes
            if box.style == style
        ]
        layers.append(
            alt.Chart(_frame(rows))
            .mark_rect(style=style, tooltip=None)
            .encode(x=alt.X(**_place("x")), y=alt.Y(**_place("y")), x2="x2:Q", y2="y2:Q")
        )
    return layers


def _words(scene: Scene) -> list[alt.Chart]:
    kinds = dict.fromkeys((word.style, word.align) for word in scene.words)
    return [
        _text(
            [
                {"x": word.x, "y": word.y, "text": word.text}
                for word in scene.words
                if (word.style, word.align) == (style, align)
            ],
            style,
            align,
        )
        for style, align in kinds
    ]


def _text(rows: Sequence[dict[str, Any]], style: str, align: Any) -> alt.Chart:
    import altair as alt

    made: alt.Chart = (
        alt.Chart(_frame(rows))
        .mark_text(style=style, align=align, baseline="middle", fontSize=SIZE)
        .encode(x=alt.X(**_place("x")), y=alt.Y(**_place("y")), text="text:N")
    )
    return made


def _discs(scene: Scene) -> list[alt.Chart]:
    import altair as alt

    if not scene.discs:
        return []
    rows = [{"x": disc.x, "y": disc.y, "text": str(disc.number)} for disc in scene.discs]
    round_ones = (
        alt.Chart(_frame(rows))
        .mark_point(filled=True, shape="circle", size=230, style="network-disc", opacity=1)
        .encode(x=alt.X(**_place("x")), y=alt.Y(**_place("y")))
    )
    return [round_ones, _text(rows, "network-number", "center")]


def _frame(rows: Sequence[dict[str, Any]]) -> pl.DataFrame:
    import polars as pl

    table = pl.DataFrame(rows)
    numbers = [name for name in table.columns if name != "text"]
    return table.with_columns(pl.col(numbers).cast(pl.Float64).round(1))
