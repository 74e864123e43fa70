"""A network drawn with its channels colored by load: its scene, and the marks of that in Vega-Lite.

Every curve, square, box and word of a scene is a mark.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from textwrap import wrap
from types import MappingProxyType
from typing import Any

import altair as alt
import numpy as np
import polars as pl

from netloom.base.arrays import Floats, Ints
from netloom.contention.busiest import USED
from netloom.drawing.axes import Look, ranked
from netloom.drawing.frame import THIS, room
from netloom.drawing.names import SIZE, width_of
from netloom.drawing.networks.curves import (
    columns_scene,
    fits_grid,
    grid_scene,
    in_columns,
    ring_scene,
)
from netloom.drawing.networks.scene import Arrow, Box, Bundles, Cells, Channels, Disc, Scene, Word
from netloom.drawing.networks.squares import (
    cube_scene,
    hyperx_scene,
    planes_scene,
    profile_scene,
    with_hosts,
)
from netloom.drawing.networks.traffic import Delays, Marked, Tips, Traffic
from netloom.topology import Cube, Topology
from netloom.topology.core import DragonflyShape, HyperXShape, TreeShape

WIDTH = 700.0
"""Pixels of a picture of a network, on a page that has room for it."""

ON = " on the channel"
"""What a unit of loads ends in."""

PATHS = "paths" + ON
"""Loads that are counted by paths."""

USE = USED + ON
"""Loads that are shares of what channels can carry."""

LOAD = "weighted_channel_load"
"""The column of loads whose unit is that of a program's ``weight``."""

_SCALES: ContextVar[Mapping[str, tuple[float, float]]] = ContextVar(
    "scales", default=MappingProxyType({})
)


@contextmanager
def one_scale(shown: Iterable[tuple[str, Floats]]) -> Iterator[None]:
    """Have all networks that show loads in one unit share its scale meanwhile.

    Parameters
    ----------
    shown
        The loads of each picture on one page, with their unit.
    """
    found: dict[str, list[Floats]] = {}
    for unit, loads in shown:
        found.setdefault(unit + ON, []).append(loads)
    scales = {}
    for title, several in found.items():
        if len(several) > 1:
            joined = np.concatenate(several)
            scales[title] = float(joined.mean()), float(joined.max(initial=0.0)) or 1.0
    before = _SCALES.set(scales)
    try:
        yield
    finally:
        _SCALES.reset(before)


def times_of(channels: pl.DataFrame) -> Floats:
    """Return what channels of a table carry, over bandwidth where that differs, as in pictures."""
    loads = channels[LOAD].to_numpy().astype(np.float64)
    rate = channels["bandwidth"].to_numpy()
    return loads if (rate == rate[:1]).all() else loads / rate


def loaded_chart(
    network: Topology | None, channels: pl.DataFrame, load: str, title: str, **more: Any
) -> alt.LayerChart:
    """Return a network by what its channels carry. See ``network_chart``.

    Parameters
    ----------
    channels
        A row per channel, in their order: the rows of one load of a table.
    load, title
        The column that is shown, and what it is, with its unit.
    """
    values = channels[load].to_numpy() if load in channels.columns else np.zeros(0)
    tips = None
    if "pairs" in channels.columns:
        tips = Tips("most traffic", channels["pairs"].fill_null("").to_list())
    known = load != "channel_load" and "channel_load" in channels.columns and title != PATHS
    paths = channels["channel_load"].to_numpy().astype(np.float64) if known else None
    loads = values.astype(np.float64)
    return network_chart(network, loads, title, tips=tips, paths=paths, **more)


def network_chart(
    topology: Topology | None,
    load: Floats,
    title: str,
    *,
    scale: tuple[float, float] | None = None,
    width: float | None = None,
    paths: Floats | None = None,
    before: Floats | None = None,
    when: str = "",
    marked: Marked | None = None,
    tips: Tips | None = None,
    delays: Delays | None = None,
) -> alt.LayerChart:
    """Return the network with its channels colored by load.

    ``netloom.drawing.networks`` draws it by the time that a load takes on each channel. What is in
    flits/cycle by the share of the channel that is used, from 0 to 100 %. If no picture of the
    network is known, all loads stand in falling order. Broken channels are not drawn.

    Parameters
    ----------
    topology
        The network. None if it is not known.
    load
        float[num_channels], or of the channels between routers only: then those of hosts are not
        drawn. NaN for channels that are not there.
    title
        What the load is, with its unit: ``bytes on the channel``.
    scale
        The mean load and the one that has the last color, for networks to be compared. That of
        ``one_scale`` goes before it. By default this network's own. The first color is that of no
        load.
    width
        Pixels of the picture. By default what a page has room for.
    paths
        How many paths use each channel, if that is known.
    before
        The loads before: the picture shows how they changed.
    when
        What stands before the sentence of the picture, such as ``After``.
    marked
        Channels that the picture is about, in place of the busiest.
    tips
        What is said where somebody points at a channel.
    delays
        When the network delays, if that is known.
    """
    scale = _SCALES.get().get(title, scale)
    wide = min(WIDTH, room()) if width is None else width
    most = None if scale is None else scale[1]
    size = wide, min(270.0, 0.7 * wide)
    plain = {"": Look(THIS, named=False)}
    many = f"Channels by load: all {np.count_nonzero(~np.isnan(load)):,}"
    if topology is None:
        return ranked({"": load}, plain, many, up=title, most=most, size=size)
    if topology.broken:
        at = topology.whole_channel[: len(load)]
        load = _whole(topology, at, load)
        paths, before = (
            None if each is None else _whole(topology, at, each) for each in (paths, before)
        )
        if marked is not None:
            words = {int(at[each]): said for each, said in marked.words.items()}
            marked = replace(marked, words=words)
        if tips is not None:
            known = dict(zip(at.tolist(), tips.words, strict=False))
            inside = range(topology.whole.num_network_channels)
            tips = replace(tips, words=[known.get(each, "") for each in inside])
        topology = topology.whole
    shown = "use" if title == USE else "load" if before is None else "change"
    shown = shown if marked is None else "marked"
    told = {"paths": paths, "before": before, "marked": marked, "tips": tips}
    unit, change = title.removesuffix(ON), load if before is None else load - before
    traffic = Traffic.of_load(
        topology, change, unit, scale=scale, shown=shown, delays=delays, **told
    )
    scene = scene_of(traffic, wide)
    if scene is not None:
        return drawn(scene, traffic, when)
    return ranked({"": traffic.time}, plain, many, up=traffic.measure, most=most, size=size)


def _whole(topology: Topology, channel: Ints, values: Floats) -> Floats:
    """Return values of the channels of the network before anything broke. NaN for those."""
    known = np.full(topology.whole.num_channels, np.nan)
    known[channel] = values[: len(channel)]
    return known


# -- layouts ---------------------------------------------------------------------------------------


MOST_DRAWN = 10_000
"""Most channels of a network that has no family whose picture knows how to merge them."""

SMALL = 300.0
"""Pixels below which a picture is one of many, without names."""


def scene_of(traffic: Traffic, width: float) -> Scene | None:
    """Return the scene of a network, ``width`` pixels wide. None without channels or room."""
    topology = traffic.topology
    many, cube, family = topology.num_network_channels, topology.routers, topology.family
    if not many:
        return None
    grid = isinstance(cube, Cube) and fits_grid(cube)
    if width < SMALL:
        return grid_scene(traffic, width, named=False) if grid else None
    scene = None
    if grid:
        scene = grid_scene(traffic, width)
    elif isinstance(cube, Cube) and many <= MOST_DRAWN:
        planes = sum(side > 1 for side in cube.sides) in (2, 3)
        scene = (planes_scene if planes else cube_scene)(traffic, width)
    elif isinstance(family, DragonflyShape):
        return ring_scene(traffic, width)
    elif isinstance(family, HyperXShape) and many <= MOST_DRAWN:
        scene = hyperx_scene(traffic, width)
    elif not isinstance(cube, Cube) and (isinstance(family, TreeShape) or many <= MOST_DRAWN):
        return columns_scene(traffic, in_columns(topology), width)
    return with_hosts(traffic, scene or profile_scene(traffic, width), width)


# -- marks -----------------------------------------------------------------------------------------


LETTER = 7.6
"""Pixels of a letter of a title, about."""

CURVES = {"fill": None, "strokeCap": "round", "clip": False}
SQUARES = {"fill": None, "strokeCap": "square", "clip": True}
"""How channels are drawn."""


def drawn(scene: Scene, traffic: Traffic, when: str = "") -> alt.LayerChart:
    """Return a scene as a chart, which has the sentence of its traffic as title, after ``when``.

    Of colors it names none but those of ranges and styles, which the background chooses.
    """
    heat = colour(traffic, min(300.0, scene.width - 40))
    some = [each for each in scene.channels if len(each.channel)]
    some.sort(key=lambda each: each.squares is not None)
    shade = (pl.col("heat") - (0.5 if traffic.shown == "change" else 0.0)).abs()
    tables = {  # of what is drawn first, and of what again: the busiest last
        again: pl.concat(
            _table(part, traffic, place) for place, part in enumerate(some) if part.again == again
        ).sort(shade, maintain_order=True)
        for again in {part.again for part in some}
    }
    titles = {"load": _measured(traffic), "mean": "% of the mean channel"}
    known = {column for table in tables.values() for column in table.columns}
    known = set() if traffic.marked and not traffic.marked.measure else known
    tooltip = ["channel:N"] + [
        alt.Tooltip(f"{each}:Q", format=",.4~g", title=titles.get(each, each))
        for each in ("load", "bandwidth", "time", "mean", "paths")
        if each in known
    ]
    if traffic.tips is not None:
        tooltip.append(alt.Tooltip("tips:N", title=traffic.tips.title))
    marks = [
        _stroked(tables[part.again], tooltip, **(CURVES if part.squares is None else SQUARES))
        .transform_filter(f"datum.layer == {place}")
        .encode(stroke=heat)
        for place, part in enumerate(some)
    ]
    curves = sum(part.squares is None for part in some)
    numbers = [Word(x, y, str(number), "center", "network-number") for x, y, number in scene.discs]
    layers = [
        *map(_bundles, scene.bundles),
        *marks[:curves],
        *_boxes(scene.boxes),
        *marks[curves:],
        *(_cells(each, traffic, heat) for each in scene.cells),
        *_boxes(scene.marks),
        *map(_bundles, scene.dots),
        *_busy(scene.arrows, "triangle-up", 110),
        *_words(scene.words),
        *_busy(scene.discs, "circle", 230),
        *_words(numbers),
    ]
    letters = max(int(scene.width / LETTER), 20)
    said = f"{when}: {traffic.sentence}" if when else traffic.sentence
    below = wrap(scene.note, letters) or alt.Undefined
    words = alt.TitleParams(
        wrap(said, letters), anchor="start", subtitle=below, subtitleFontSize=SIZE
    )
    return alt.LayerChart(layer=layers).properties(
        width=scene.width, height=scene.height, title=words, description=said
    )


def colour(traffic: Traffic, room: float) -> alt.Stroke:
    """Return the colors of channels: loads are grey up to the mean, then hot.

    Their legend is ``room`` pixels wide. Squares are short thick lines, since Vega has no gradient
    that stands for lines and areas.
    """
    ramp = "diverging" if traffic.shown == "change" else "heatmap"
    scale = alt.Scale(range=ramp, interpolate="rgb", domain=[0, 1])
    if not traffic.measure:
        return alt.Stroke("heat:Q", scale=scale, legend=None)
    marks = _labels(traffic, room)
    said = "".join(f"abs(datum.value - {at}) < 0.01 ? '{text}' : " for at, text in marks.items())
    look: dict[str, Any] = {"type": "gradient", "orient": "bottom", "direction": "horizontal"}
    look |= {"labelFontSize": SIZE, "titleFontSize": SIZE, "labelLimit": 160, "labelOverlap": False}
    look |= {"gradientThickness": 10, "gradientLength": room, "titleLimit": room + 60}
    title = wrap(traffic.measure, max(int((room + 40) / LETTER), 20))
    shown = alt.Legend(values=list(marks), labelExpr=f"{said}''", title=title, **look)
    return alt.Stroke("heat:Q", scale=scale, legend=shown)


def _labels(traffic: Traffic, room: float) -> dict[float, str]:
    """Return what stands below the colors, 0 … 1: at each of their stops, if there is room."""
    colours = [*traffic.stops.values()]
    first, *between, last = traffic.said_at_stops
    ends = {colours[0]: first, colours[-1]: last}
    if len(colours) < 3:
        return dict(sorted([*zip([0.5], between, strict=False), *ends.items()]))
    place, right = colours[1] * room, (1 - colours[1]) * room - width_of(last)
    for some in (ends, {colours[2]: last}):  # what has no color at all needs no name
        left = place - (width_of(first) if len(some) > 1 else 0.0)
        for said in between:
            if width_of(said) / 2 + 4 <= min(left, right):
                return dict(sorted((some | {colours[1]: said}).items()))
    return {colours[1]: between[-1]}


def _table(part: Channels, traffic: Traffic, layer: int) -> pl.DataFrame:
    """Return channels as paths, as SVG has them, how thick these are, and what is said of each."""
    time = traffic.time[part.channel]
    if part.points is not None:
        base = part.thinnest if len(part.channel) < 1200 else 0.7 * part.thinnest
        path = paths(part.points)
        thick = base + (part.thickest - base) * traffic.strength(time)
    else:
        assert part.squares is not None
        left, top, thick = part.squares.T
        middles = np.round(np.stack([left + thick / 2, top + thick / 2], axis=1), 2)
        path = [f"M{x:g},{y:g}h0.01" for x, y in middles]  # a point with a square cap
    table = {
        "path": path,
        "thick": np.round(thick, 2),
        "layer": np.full(len(path), layer),
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
    return pl.DataFrame(table)


def _measured(traffic: Traffic) -> str:
    """Return what the numbers of channels are, in words."""
    return {
        "load": f"{traffic.unit} on the channel",
        "use": "% of the channel",
        "change": f"change, {traffic.unit}",
        "marked": traffic.measure,
    }[traffic.shown]


def _stroked(table: pl.DataFrame, tooltip: Any, **mark: Any) -> alt.Chart:
    """Return paths as strokes, as thick as a column says."""
    made: alt.Chart = alt.Chart(table).mark_point(filled=False, size=4, opacity=1, **mark)
    at, path = alt.value(0), alt.Shape("path:N", scale=None)
    thick = alt.StrokeWidth("thick:Q", scale=None)
    return made.encode(x=at, y=at, shape=path, strokeWidth=thick, tooltip=tooltip)


def _bundles(bundles: Bundles) -> alt.Chart:
    table = {"path": paths(bundles.points), "thick": np.round(bundles.width, 2)}
    told = {"bundle": bundles.words} if bundles.words else {}
    tooltip = [f"{each}:N" for each in told] or alt.value(None)
    return _stroked(pl.DataFrame(table | told), tooltip, style=bundles.style, strokeCap=bundles.cap)


def _cells(cells: Cells, traffic: Traffic, heat: alt.Stroke) -> alt.Chart:
    """Return rectangles: thick horizontal lines, so that they share the colors of channels."""
    known = ~np.isnan(cells.time)
    left, top, width, height = cells.places[known].T
    lines = np.round(np.stack([left, top + height / 2, width], axis=1), 2)
    time = cells.time[known]
    table = {
        "path": [f"M{x:g},{y:g}h{long:g}" for x, y, long in lines],
        "thick": np.round(height, 2),
        "heat": np.round(traffic.heat(time), 4),
        "channels": [word for word, here in zip(cells.words, known, strict=True) if here],
        "load": (100 if traffic.shown == "use" else 1) * time,
    }
    tooltip = ["channels:N", alt.Tooltip("load:Q", format=",.4~g", title=_measured(traffic))]
    look = {"fill": None, "strokeCap": "butt", "clip": True}
    return _stroked(pl.DataFrame(table), tooltip, **look).encode(stroke=heat)


def paths(points: Floats) -> list[str]:
    """Return curves as SVG has them.

    Examples
    --------
    >>> paths(np.array([[[0, 1], [4.25, 1], [6, 3], [10, 3]]]))
    ['M0,1C4.2,1,6,3,10,3']
    """
    rounded = np.round(points.reshape(len(points), 8), 1)
    return ["M{:g},{:g}C{:g},{:g},{:g},{:g},{:g},{:g}".format(*each) for each in rounded]


def _placed(rows: Sequence[dict[str, Any]], kind: str, **mark: Any) -> alt.Chart:
    """Return marks of a kind, each at the place of its row."""
    table = pl.DataFrame(rows)
    numbers = pl.col([name for name in table.columns if name != "text"])
    base = alt.Chart(table.with_columns(numbers.cast(pl.Float64).round(1)))
    made: alt.Chart = getattr(base, f"mark_{kind}")(**mark)
    at: Any = {"scale": None, "axis": None, "type": "quantitative"}
    return made.encode(x=alt.X(field="x", **at), y=alt.Y(field="y", **at))


def _boxes(boxes: Sequence[Box]) -> Iterator[alt.Chart]:
    for style in dict.fromkeys(box.style for box in boxes):
        rows = [
            {"x": box.x, "y": box.y, "x2": box.x + box.width, "y2": box.y + box.height}
            for box in boxes
            if box.style == style
        ]
        hollow = {"filled": False} if style == "network-mark" else {}
        drawn = _placed(rows, "rect", style=style, tooltip=None, **hollow)
        yield drawn.encode(x2="x2:Q", y2="y2:Q")


def _words(words: Sequence[Word]) -> Iterator[alt.Chart]:
    for style, align in dict.fromkeys((word.style, word.align) for word in words):
        rows = [
            {"x": word.x, "y": word.y, "text": word.text}
            for word in words
            if (word.style, word.align) == (style, align)
        ]
        look = {"style": style, "align": align, "baseline": "middle"}
        yield _placed(rows, "text", fontSize=SIZE, **look).encode(text="text:N")


def _busy(marks: Sequence[Disc | Arrow], shape: str, size: float) -> Iterator[alt.Chart]:
    """Yield what marks the busiest channels: their heads, or the discs of their numbers."""
    if marks:
        look = {"filled": True, "style": "network-disc", "opacity": 1}
        drawn = _placed([each._asdict() for each in marks], "point", shape=shape, size=size, **look)
        angle = alt.Angle("angle:Q", scale=None)
        yield drawn.encode(angle=angle) if shape != "circle" else drawn
