"""Scenes as charts: every curve, square, box and word is a mark of Vega-Lite."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.drawing.names import SIZE, width_of
from netloom.drawing.networks.scene import Arrow, Word
from netloom.drawing.networks.traffic import percent

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    import altair as alt
    import polars as pl

    from netloom.base.arrays import Floats
    from netloom.drawing.networks.scene import Box, Bundles, Cells, Channels, Disc, Scene
    from netloom.drawing.networks.traffic import Traffic

LETTER = 7.6
"""Pixels of a letter of a title, about."""

NUMBER = "center", "network-number"
"""How the number of a busy channel stands on its disc."""


def drawn(scene: Scene, traffic: Traffic, when: str = "") -> alt.LayerChart:
    """Return a scene as a chart, which has the sentence of its traffic as title, after ``when``.

    Of colors it names none but those of ranges and styles, which the background chooses.
    """
    import altair as alt

    layers: list[Any] = [_bundles(each) for each in scene.bundles]
    heat = colour(traffic, min(300.0, scene.width - 40))
    some = [each for each in scene.channels if len(each.channel)]
    some.sort(key=lambda each: each.squares is not None)
    tables = _tables(some, traffic)
    marks = [
        _stroked(
            tables[part.again],
            _tooltip(traffic, tables[part.again].columns),
            fill=None,
            strokeCap="round" if part.squares is None else "square",
            clip=part.squares is not None,
        )
        .transform_filter(f"datum.layer == {place}")
        .encode(stroke=heat)
        for place, part in enumerate(some)
    ]
    curves = sum(part.squares is None for part in some)
    layers += [*marks[:curves], *_boxes(scene.boxes), *marks[curves:]]
    layers += [_cells(each, traffic, heat) for each in scene.cells]
    layers += [
        *_boxes(scene.marks),
        *map(_bundles, scene.dots),
        *_busy(scene.arrows, "triangle-up", 110),
        *_words(scene.words),
        *_busy(scene.discs, "circle", 230),
        *_words([Word(*each[:2], str(each.number), *NUMBER) for each in scene.discs]),
    ]
    letters = max(int(scene.width / LETTER), 20)
    said = f"{when}: {traffic.sentence}" if when else traffic.sentence
    title = wrap(said, letters)
    words = alt.TitleParams(
        title, anchor="start", subtitle=wrap(scene.note, letters) or alt.Undefined,
        subtitleFontSize=SIZE,
    )  # fmt: skip
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=scene.width, height=scene.height, title=words, description=said
    )
    return chart


def _placed(rows: Sequence[dict[str, Any]], kind: str, **mark: Any) -> alt.Chart:
    """Return marks of a kind, each at the place of its row."""
    import altair as alt
    import polars as pl

    table = pl.DataFrame(rows)
    numbers = pl.col([name for name in table.columns if name != "text"])
    base = alt.Chart(table.with_columns(numbers.cast(pl.Float64).round(1)))
    made: alt.Chart = getattr(base, f"mark_{kind}")(**mark)
    at: Any = {"scale": None, "axis": None, "type": "quantitative"}
    return made.encode(x=alt.X(field="x", **at), y=alt.Y(field="y", **at))


def colour(traffic: Traffic, room: float) -> alt.Stroke:
    """Return the colors of channels: loads are grey up to the mean, then hot.

    Their legend is ``room`` pixels wide. Squares are short thick lines, since Vega has no gradient
    that stands for lines and areas.
    """
    import altair as alt

    scale = alt.Scale(
        range="diverging" if traffic.shown == "change" else "heatmap", interpolate="rgb",
        domain=[0, 1],
    )  # fmt: skip
    if not traffic.measure:
        return alt.Stroke("heat:Q", scale=scale, legend=None)
    marks = _labels(traffic, room)
    said = "".join(f"abs(datum.value - {at}) < 0.01 ? '{text}' : " for at, text in marks.items())
    shown: Any = alt.Legend(
        type="gradient", orient="bottom", direction="horizontal",
        gradientLength=room, gradientThickness=10, values=list(marks),
        labelExpr=f"{said}''", labelLimit=160,
        labelFontSize=SIZE, titleFontSize=SIZE, titleLimit=room + 60, labelOverlap=False,
        title=wrap(traffic.measure, max(int((room + 40) / LETTER), 20)),
    )  # fmt: skip
    return alt.Stroke("heat:Q", scale=scale, legend=shown)


def _labels(traffic: Traffic, room: float) -> dict[float, str]:
    """Return what stands below the colors, 0 … 1: at each of their stops, if there is room."""
    colours = [*traffic.stops.values()]
    first, last = _ends(traffic)
    found = {colours[0]: first, colours[-1]: last}
    if len(colours) < 3:
        more = {0.5: percent(0.5)} if traffic.shown == "use" else {}
        return dict(sorted((found | more).items()))
    place, right = colours[1] * room, (1 - colours[1]) * room - width_of(last)
    halves = {said: width_of(said) / 2 + 4 for said in _middle(traffic)}
    for said, half in halves.items():
        if half <= min(place - width_of(first), right):
            return {colours[0]: first, colours[1]: said, colours[2]: last}
    for said, half in halves.items():  # what has no color at all needs no name
        if half <= min(place, right):
            return {colours[1]: said, colours[2]: last}
    return {colours[1]: [*halves][-1]}


def _ends(traffic: Traffic) -> tuple[str, str]:
    """Return what stands below the first color and below the last."""
    most = traffic.of_all(traffic.most)
    if traffic.shown == "use":
        return f"idle {percent(0)}", f"full {percent(1)}"
    if traffic.shown == "change":
        return (f"−{most}", f"+{most}") if traffic.most else ("0", "0")
    if traffic.shown == "marked":
        return "0", most
    if not traffic.mean:
        return "0", "0"
    full = traffic.delays is not None and traffic.last == traffic.highest * traffic.delays.full
    return "0", f"{'full ' * full}{traffic.of_all(traffic.last)}"


def _middle(traffic: Traffic) -> list[str]:
    """Return what may stand below the color between, the longest first."""
    if traffic.shown == "change":
        return ["0"]
    if traffic.delayed is None:
        mean = traffic.of_all(traffic.mean)
        return [f"{whose}{mean}" for whose in ("mean of all ", "mean ", "")][not traffic.scale :]
    said = traffic.of_all(traffic.delayed)
    if traffic.shown == "use":
        return [f"saturates* {percent(round(traffic.delayed, 2))}", said]
    assert traffic.delays is not None
    if traffic.delays.begins >= traffic.delays.full:
        return [f"full {said}", said]
    return [f"{what}{said}" for what in ("delays from* ", "delays* ", "")]


def _table(part: Channels, traffic: Traffic) -> dict[str, Any]:
    """Return what is said of channels, by column."""
    time = traffic.time[part.channel]
    table: dict[str, Any] = {
        "channel": [traffic.name(int(each)) for each in part.channel],
        "load": time,
        "heat": np.round(traffic.heat(time), 4),
    }
    if traffic.shown == "use":
        table["load"] = 100 * time
    elif not traffic.even:
        bandwidth = traffic.topology.channel_bandwidth[part.channel]
        table |= {"load": time * bandwidth, "bandwidth": bandwidth, "time": time}
    if traffic.paths is not None:
        table["paths"] = traffic.paths[part.channel]
    if traffic.shown == "load" and traffic.mean > 0:
        table["mean"] = np.round(100 * time / traffic.mean, 1)
    if traffic.tips is not None:
        table["tips"] = [traffic.tips.words[each] for each in part.channel]
    return table


def _tooltip(traffic: Traffic, known: Collection[str]) -> list[Any]:
    import altair as alt

    titles = {"load": _measured(traffic), "mean": "% of the mean channel"}
    told = [each for each in ("load", "bandwidth", "time", "mean", "paths") if each in known]
    told = [] if traffic.marked and not traffic.marked.measure else told
    more = [] if traffic.tips is None else [alt.Tooltip("tips:N", title=traffic.tips.title)]
    return ["channel:N", *(
        alt.Tooltip(f"{each}:Q", format=",.4~g", title=titles.get(each, each)) for each in told
    ), *more]  # fmt: skip


def _measured(traffic: Traffic) -> str:
    """Return what the numbers of channels are, in words."""
    loads = {
        "load": f"{traffic.unit} on the channel",
        "use": "% of the channel",
        "change": f"change, {traffic.unit}",
        "marked": traffic.measure,
    }
    return loads[traffic.shown]


def _tables(parts: Sequence[Channels], traffic: Traffic) -> dict[bool, pl.DataFrame]:
    """Return the rows of what is drawn first, and of what is drawn again: one table of each."""
    import polars as pl

    rows: dict[bool, list[pl.DataFrame]] = {}
    for place, part in enumerate(parts):
        path, thick = _strokes(part, traffic)
        table = {"path": path, "thick": np.round(thick, 2), "layer": np.full(len(path), place)}
        rows.setdefault(part.again, []).append(pl.DataFrame(table | _table(part, traffic)))
    none = 0.5 if traffic.shown == "change" else 0.0
    heat = (pl.col("heat") - none).abs()  # the busiest last
    return {again: pl.concat(each).sort(heat, maintain_order=True) for again, each in rows.items()}


def _strokes(part: Channels, traffic: Traffic) -> tuple[list[str], Floats]:
    """Return the paths of channels as SVG has them, and how thick they are."""
    if part.points is not None:
        base = part.thinnest if len(part.channel) < 1200 else 0.7 * part.thinnest
        thick = base + (part.thickest - base) * traffic.strength(traffic.time[part.channel])
        return paths(part.points), np.asarray(thick, np.float64)
    assert part.squares is not None
    left, top, side = part.squares.T
    middles = np.round(np.stack([left + side / 2, top + side / 2], axis=1), 2)
    return [f"M{x:g},{y:g}h0.01" for x, y in middles], side  # a point with a square cap


def _stroked(table: pl.DataFrame, tooltip: Any, **mark: Any) -> alt.Chart:
    """Return paths as strokes, as thick as a column says."""
    import altair as alt

    made: alt.Chart = alt.Chart(table).mark_point(filled=False, size=4, opacity=1, **mark)
    return made.encode(
        x=alt.value(0),
        y=alt.value(0),
        shape=alt.Shape("path:N", scale=None),
        strokeWidth=alt.StrokeWidth("thick:Q", scale=None),
        tooltip=tooltip,
    )


def _bundles(bundles: Bundles) -> alt.Chart:
    import altair as alt
    import polars as pl

    table = {"path": paths(bundles.points), "thick": np.round(bundles.width, 2)}
    told = {"bundle": bundles.words} if bundles.words else {}
    tooltip = [f"{each}:N" for each in told] or alt.value(None)
    return _stroked(pl.DataFrame(table | told), tooltip, style=bundles.style, strokeCap=bundles.cap)


def _cells(cells: Cells, traffic: Traffic, heat: alt.Stroke) -> alt.Chart:
    """Return rectangles: thick horizontal lines, so that they share the colors of channels."""
    import altair as alt
    import polars as pl

    known = ~np.isnan(cells.time)
    left, top, width, height = cells.places[known].T
    lines = np.round(np.stack([left, top + height / 2, width], axis=1), 2)
    table = pl.DataFrame({
        "path": [f"M{x:g},{y:g}h{long:g}" for x, y, long in lines],
        "thick": np.round(height, 2),
        "heat": np.round(traffic.heat(cells.time[known]), 4),
        "channels": [word for word, here in zip(cells.words, known, strict=True) if here],
        "load": (100 if traffic.shown == "use" else 1) * cells.time[known],
    })  # fmt: skip
    tooltip = ["channels:N", alt.Tooltip("load:Q", format=",.4~g", title=_measured(traffic))]
    drawn = _stroked(table, tooltip, fill=None, strokeCap="butt", clip=True)
    return drawn.encode(stroke=heat)


def paths(points: Floats) -> list[str]:
    """Return curves as SVG has them.

    Examples
    --------
    >>> paths(np.array([[[0, 1], [4.25, 1], [6, 3], [10, 3]]]))
    ['M0,1C4.2,1,6,3,10,3']
    """
    rounded = np.round(points.reshape(len(points), 8), 1)
    return ["M{:g},{:g}C{:g},{:g},{:g},{:g},{:g},{:g}".format(*each) for each in rounded]


def _boxes(boxes: Sequence[Box]) -> list[alt.Chart]:
    layers = []
    for style in dict.fromkeys(box.style for box in boxes):
        rows = [
            {"x": box.x, "y": box.y, "x2": box.x + box.width, "y2": box.y + box.height}
            for box in boxes
            if box.style == style
        ]
        hollow = {"filled": False} if style == "network-mark" else {}
        drawn = _placed(rows, "rect", style=style, tooltip=None, **hollow)
        layers.append(drawn.encode(x2="x2:Q", y2="y2:Q"))
    return layers


def _words(words: Sequence[Word]) -> list[alt.Chart]:
    layers = []
    for style, align in dict.fromkeys((word.style, word.align) for word in words):
        rows = [
            {"x": word.x, "y": word.y, "text": word.text}
            for word in words
            if (word.style, word.align) == (style, align)
        ]
        look: dict[str, Any] = {"style": style, "align": align}
        drawn = _placed(rows, "text", baseline="middle", fontSize=SIZE, **look)
        layers.append(drawn.encode(text="text:N"))
    return layers


def _busy(marks: Sequence[Disc | Arrow], shape: str, size: float) -> list[alt.Chart]:
    """Return what marks the busiest channels: their heads, or the discs of their numbers."""
    import altair as alt

    if not marks:
        return []
    look: dict[str, Any] = {"filled": True, "style": "network-disc", "opacity": 1}
    drawn = _placed([each._asdict() for each in marks], "point", shape=shape, size=size, **look)
    turned = isinstance(marks[0], Arrow)
    return [drawn.encode(angle=alt.Angle("angle:Q", scale=None)) if turned else drawn]
