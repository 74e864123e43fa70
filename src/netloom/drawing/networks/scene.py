"""A picture of a network as a list of what is drawn, and its marks in Vega-Lite.

A picture of a network as a list of what is drawn: curves, squares, boxes, words and discs.

Places are pixels from the top left corner. Layouts make scenes. ``netloom.drawing.networks.scene``
draws them.

Scenes as charts: every curve, square, box and word is a mark of Vega-Lite.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.drawing.names import LINE, SIZE, fitted, width_of
from netloom.drawing.networks.traffic import Traffic, percent

if TYPE_CHECKING:
    import altair as alt
    import polars as pl


# -- scene -----------------------------------------------------------------------------------------


DISC = 9.0
"""Radius of the discs with the numbers of the busiest channels."""

RIVALS = 80
"""Hot curves that discs of other channels keep away from, at most."""

ALONG = 0.5, 0.4, 0.6, 0.3, 0.7, 0.22, 0.78
"""Where on a curve a disc may be, as parts of the way, in the order in which they are tried."""


class Box(NamedTuple):
    """A rectangle: a router, a group of them, or the frame of a matrix."""

    x: float
    y: float
    width: float
    height: float
    style: str = "network-box"


class Word(NamedTuple):
    """A line of text. ``y`` is the middle of its height."""

    x: float
    y: float
    text: str
    align: str = "left"
    style: str = "network-name"

    @property
    def bold(self) -> bool:
        """Whether it is drawn in bold letters."""
        return self.style == "network-heading"

    @property
    def extent(self) -> tuple[float, float, float, float]:
        """Where it starts and ends, from left to right and from top to bottom."""
        wide = width_of(self.text, bold=self.bold)
        left = self.x - {"left": 0.0, "center": wide / 2, "right": wide}[self.align]
        return left, left + wide, self.y - SIZE / 2, self.y + SIZE / 2


class Disc(NamedTuple):
    """The number of a busy channel, on it."""

    x: float
    y: float
    number: int


class Arrow(NamedTuple):
    """The head of a busy channel: where its tip is, and where it points, degrees from the top."""

    x: float
    y: float
    angle: float


@dataclass(frozen=True, eq=False)
class Cells:
    """Rectangles that stand for several channels, colored as one that carries as much.

    Attributes
    ----------
    places
        float64[n, 4]: left, top, width and height.
    time
        float64[n], such as the mean of the channels. NaN if there is none.
    words
        What each is.
    """

    places: Floats
    time: Floats
    words: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Channels:
    """Channels that are drawn one by one, the busiest last.

    Attributes
    ----------
    channel
        int64[n], which.
    points
        float64[n, 4, 2]: of curves the two ends and between them two points that they bend to
        (Bézier). None for squares.
    squares
        float64[n, 3]: left, top and side. None for curves.
    thinnest, thickest
        Pixels of the curves up to the mean, and of the busiest one.
    again
        Whether they are drawn elsewhere as well: a summary.
    """

    channel: Ints
    points: Floats | None = None
    squares: Floats | None = None
    thickest: float = 4.5
    thinnest: float = 1.1
    again: bool = False


@dataclass(frozen=True, eq=False)
class Bundles:
    """Curves that are no channels: cables that are drawn together, in grey, or rims.

    Attributes
    ----------
    points
        float64[n, 4, 2], as those of ``Channels``.
    width
        float64[n], pixels.
    words
        What each is: from where to where, and how many cables. Perhaps none.
    style
        What they look like.
    cap
        How they end: ``round`` makes dots of curves without length.
    """

    points: Floats
    width: Floats
    words: tuple[str, ...] = ()
    style: str = "network-bundle"
    cap: Literal["butt", "round"] = "butt"


@dataclass(frozen=True, eq=False)
class Scene:
    """What is drawn, from back to front: bundles, curves, boxes, squares, marks, words, discs."""

    width: float
    height: float
    channels: tuple[Channels, ...]
    boxes: tuple[Box, ...] = ()
    words: tuple[Word, ...] = ()
    discs: tuple[Disc, ...] = ()
    bundles: tuple[Bundles, ...] = ()
    cells: tuple[Cells, ...] = ()
    dots: tuple[Bundles, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    marks: tuple[Box, ...] = ()
    note: str = field(default="", kw_only=True)


def points_on(points: Floats, at: float) -> Floats:
    """Return float64[n, 2], where curves are after a part of their way, 0 … 1."""
    weights = (1 - at) ** 3, 3 * at * (1 - at) ** 2, 3 * at**2 * (1 - at), at**3
    return np.asarray(sum(w * points[:, k] for k, w in enumerate(weights)), np.float64)


def straight_points(start: Floats, end: Floats) -> Floats:
    """Return float64[n, 4, 2], straight lines as curves."""
    third = (end - start) / 3
    return np.stack([start, start + third, end - third, end], axis=1)


def squares_at(
    x: Floats | float, y: Floats | float, row: Ints, column: Ints, cell: float
) -> Floats:
    """Return float64[n, 3], the squares of a matrix whose top left corner is at a place.

    There may be a corner for each.
    """
    side = np.full(len(row), cell - (0.5 if cell > 3.5 else 0.0))
    return np.stack([x + column * cell, y + row * cell, side], axis=1)


def as_squares(
    traffic: Traffic, channel: Ints, squares: Floats, *, again: bool = False
) -> Channels:
    """Return channels as squares, the busiest last."""
    order = np.argsort(traffic.weight[channel], kind="stable")
    return Channels(channel[order], squares=squares[order], again=again)


def last_of(keys: Ints, shown: Ints) -> tuple[Ints, Ints]:
    """Return the last of the channels of each key, and the keys, from the least on.

    Examples
    --------
    >>> last_of(np.array([7, 2, 7]), np.array([30, 10, 20]))
    (array([10, 20]), array([2, 7]))
    """
    last = np.full(int(keys.max(initial=-1)) + 1, -1)
    last[keys] = shown
    known = np.flatnonzero(last >= 0)
    return last[known], known


def bent(start: Floats, end: Floats) -> Floats:
    """Return float64[n, 4, 2], curves that leave and arrive horizontally."""
    step = np.stack([0.45 * (end[:, 0] - start[:, 0]), np.zeros(len(start))], axis=1)
    return np.stack([start, start + step, end - step, end], axis=1)


def discs_on(
    traffic: Traffic,
    drawn: Sequence[Channels],
    taken: Sequence[Word] = (),
    beside: Mapping[int, Floats] | None = None,
) -> tuple[Disc, ...]:
    """Return the discs of the busiest channels, each on its curve and clear of what is there.

    They keep away from other hot curves, so that none seems to be the one that is meant.
    ``beside`` are places for channels that have no curve, float64[n, 2] for each.
    """
    found: list[Disc] = []
    hot = set(traffic.there[-RIVALS:].tolist())
    for number, channel in enumerate(traffic.busiest, 1):
        places = [np.asarray(each) for each in (beside or {}).get(channel, ())]
        others = []
        for part in drawn:
            if part.points is None:
                continue
            (rows,) = np.nonzero(part.channel == channel)
            if len(rows):
                places += [points_on(part.points[rows[:1]], at)[0] for at in ALONG]
            rivals = part.points[[each in hot and each != channel for each in part.channel]]
            others += [points_on(rivals, at) for at in np.linspace(0.05, 0.95, 13)]
        if not places:
            continue
        free = [place for place in places if not _hits(place, found, taken)]
        points = np.concatenate([np.zeros((0, 2)), *others])
        if not free:  # then only discs matter
            points = np.array([each[:2] for each in found]).reshape(-1, 2)
        most = 2 * DISC if free else np.inf  # what is that clear of curves is clear
        away = [np.hypot(*(points - each).T).min(initial=most) for each in free or places]
        x, y = (free or places)[int(np.argmax(away))]
        found.append(Disc(float(x), float(y), number))
    return tuple(found)


def _hits(place: Floats, discs: Sequence[Disc], words: Sequence[Word]) -> bool:
    x, y = place
    if any(np.hypot(x - disc.x, y - disc.y) < 2 * DISC + 2 for disc in discs):
        return True
    spans = (word.extent for word in words)
    return any(
        left - DISC < x < right + DISC and top - DISC < y < bottom + DISC
        for left, right, top, bottom in spans
    )


def named_below(
    traffic: Traffic, top: float, width: float, start: float = 0.0
) -> tuple[list[Disc], list[Word], float]:
    """Return the list of the busiest channels under a picture: discs, words, and its height.

    Each has its name, what it carries, and how that compares, in as many lines as fit between
    ``start`` and ``width``.
    """
    discs, words, y = [], [], top
    left = start + 2 * DISC + 6
    longest = max((width_of(traffic.name(each), bold=True) for each in traffic.busiest), default=0)
    for number, channel in enumerate(traffic.busiest, 1):
        name, value = traffic.name(channel), traffic.compared(channel)
        discs.append(Disc(start + DISC, y + LINE / 2, number))
        lines = [name]
        if width_of(name, bold=True) > width - left:
            source, _, target = name.partition(" → ")
            lines = [fitted(each, width - left, bold=True) for each in (f"{source} →", target)]
        for line in lines:
            words.append(Word(left, y + LINE / 2, line, style="network-heading"))
            y += LINE
        after = left + longest + 10
        if after + width_of(value) > width:
            after = words[-1].extent[1] + 10
        if after + width_of(value) <= width:
            words.append(Word(after, y - LINE / 2, value))
        else:
            words.append(Word(left, y + LINE / 2, value))
            y += LINE
        y += 5
    if more := traffic.as_busy:
        words.append(Word(left, y + LINE / 2, f"and {more:,} more as busy"))
        y += LINE + 5
    return discs, words, y - top


# -- marks -----------------------------------------------------------------------------------------


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
