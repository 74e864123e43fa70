"""A picture of a network as a list of what is drawn, and its marks in Vega-Lite.

A scene has curves, squares, boxes, words and discs. Places are pixels from the top left corner.
Layouts make scenes, many of them of panels: matrices of squares, with what stands at their rims.
The channels of hosts are a thin rim at what they join, or squares below a picture without a rim. As
a chart, every curve, square, box and word of a scene is a mark of Vega-Lite.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from textwrap import wrap
from typing import Any, Literal, NamedTuple

import altair as alt
import numpy as np
import polars as pl

from netloom.base.arrays import Bools, Floats, Ints
from netloom.drawing.names import LINE, NAME_LINE, SIZE, fitted, width_of
from netloom.drawing.networks.traffic import Traffic, percent

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


# -- panels ----------------------------------------------------------------------------------------


LEAST, LARGEST = 2.0, 24.0
"""Pixels of the smallest and of the largest square."""

GAP, SLIM = 8.0, 420.0
"""Pixels between panels, and of the narrowest picture, if there is room: it has a title."""

TURNS = np.array(
    [
        [1, -1],
        [-1, -1],
        [1, 1],
        [-1, 1],
        [2, 0],
        [-2, 0],
        [3, -1],
        [-3, -1],
        [3, 1],
        [-3, 1],
        [1, 3],
        [-1, 3],
        [1, -3],
        [-1, -3],
    ]
)
"""Where discs may stand beside squares, in the order in which places are tried."""

STRIP, BETWEEN = 10.0, 3.0
"""Pixels of a strip of means, and between that and its panel."""


class Panel(NamedTuple):
    """A raster: some channels, each at a row and a column.

    Attributes
    ----------
    label
        What it is, above it.
    channel, row, column
        int64[n].
    rows, columns
        How many there are.
    """

    label: str
    channel: Ints
    row: Ints
    column: Ints
    rows: int
    columns: int


class Band(NamedTuple):
    """Panels side by side, in as many lines as they need, under a heading. Perhaps none."""

    heading: str
    panels: list[Panel]


@dataclass(frozen=True)
class Look:
    """How panels are laid out.

    Attributes
    ----------
    width, tall
        Pixels of the picture, about.
    note
        What is said below the title.
    beside
        Whether headings stand at the left of their panels, and not above.
    means
        Whether panels have the means of their rows and columns at their sides.
    rim
        Whether rows and columns are numbered.
    """

    width: float
    tall: float
    note: str = ""
    beside: bool = False
    means: bool = False
    rim: bool = False

    @property
    def strip(self) -> float:
        """Pixels that means need at a side of a panel."""
        return STRIP + BETWEEN if self.means else 0.0


@dataclass(eq=False)
class Parts:
    """What is drawn, while it is put together."""

    channel: list[Ints] = field(default_factory=list)
    squares: list[Floats] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    cells: list[Cells] = field(default_factory=list)

    def add(self, panel: Panel, x: float, y: float, cell: float) -> None:
        """Add a panel, its top left corner at a place."""
        self.boxes.append(Box(x, y, panel.columns * cell, panel.rows * cell))
        self.channel.append(panel.channel)
        self.squares.append(squares_at(x, y, panel.row, panel.column, cell))

    def drawn(self, traffic: Traffic, *, again: bool = False) -> Channels:
        """Return the squares of the channels that there are."""
        channel, squares = np.concatenate(self.channel), np.concatenate(self.squares)
        there = ~np.isnan(traffic.time[channel])
        return as_squares(traffic, channel[there], squares[there], again=again)


def panels_scene(traffic: Traffic, bands: Sequence[Band], look: Look) -> Scene | None:
    """Return bands of panels as a scene. None if squares would be too small."""
    margin = max((width_of(band.heading) for band in bands), default=0) + 8 if look.beside else 0.0
    if look.rim:
        margin += width_of(str(max(panel.rows for band in bands for panel in band.panels) - 1)) + 5
    cell = _cell(bands, look, margin)
    if cell < LEAST:
        return None
    parts = Parts()
    top = 0.0
    for band in bands:
        if band.heading and not look.beside:
            parts.words.append(Word(0, top + LINE / 2, band.heading, style="network-heading"))
            top += LINE + 2
        rows = _rows(band, cell, look, margin)
        for row in rows:
            y = top + (LINE if any(panel.label for _, panel in row) else 0.0)
            for place, (left, panel) in enumerate(row):
                x = margin + left
                if panel.label:
                    parts.words.append(Word(x, top + LINE / 2, panel.label))
                parts.add(panel, x, y, cell)
                if look.means:
                    parts.cells.append(_means(traffic, panel, x, y, cell))
                if look.rim and place == 0:
                    parts.words += row_words([*map(str, range(panel.rows))], margin, y, cell)
            high = max(panel.rows for _, panel in row) * cell
            if look.beside:
                parts.words.append(Word(0, y + high / 2, band.heading))
            top = y + high + look.strip + GAP
            if look.rim and (not look.beside or (band is bands[-1] and row is rows[-1])):
                top = _numbered(parts, row, (margin, top - GAP), cell)
    drawn = parts.drawn(traffic)
    discs = beside_squares(traffic, drawn, parts.words, (look.width, top))
    listed, names, below = named_below(traffic, top + 4, look.width)
    words = [*parts.words, *names]
    right = [box.x + box.width + look.strip for box in parts.boxes]
    right += [word.extent[1] for word in words]
    return Scene(
        max(*right, min(look.width, SLIM)),
        top + 4 + below,
        (drawn,),
        tuple(parts.boxes),
        tuple(words),
        (*discs, *listed),
        cells=tuple(parts.cells),
        note=look.note,
        marks=marked_squares(traffic, drawn),
    )


def _numbered(
    parts: Parts, row: Sequence[tuple[float, Panel]], at: tuple[float, float], cell: float
) -> float:
    """Add the numbers of columns below panels, and return where what is below them begins."""
    margin, y = at
    for left, panel in row:
        numbers = [*map(str, range(panel.columns))]
        parts.words += column_words(numbers, margin + left, y + LINE / 2 + 1, cell)
    return y + LINE + GAP


def _means(traffic: Traffic, panel: Panel, x: float, y: float, cell: float) -> Cells:
    """Return the means of the rows of a panel at its right, and of its columns below it."""
    places, time, words = [], [], []
    kinds = ("row", panel.row, panel.rows), ("column", panel.column, panel.columns)
    for what, place, many in kinds:
        for each in range(many):
            values = traffic.time[panel.channel[place == each]]
            values = values[~np.isnan(values)]
            time.append(values.mean() if len(values) else np.nan)
            words.append(f"{panel.label.split(' ')[0]}, mean of {what} {each}")
            along, side = each * cell, max(cell - 0.5, 1.5)
            if what == "row":
                places.append((x + panel.columns * cell + BETWEEN, y + along, STRIP, side))
            else:
                places.append((x + along, y + panel.rows * cell + BETWEEN, side, STRIP))
    return Cells(np.array(places), np.array(time), tuple(words))


def _cell(bands: Sequence[Band], look: Look, margin: float) -> float:
    """Return the pixels of a square: as large as the picture has room for."""
    room = look.width - margin
    for cell in np.arange(LARGEST, LEAST - 0.1, -0.25):
        rows = [row for band in bands for row in _rows(band, float(cell), look, margin)]
        wide = max(left + panel.columns * cell + look.strip for row in rows for left, panel in row)
        beyond = GAP + look.strip + (LINE if look.rim and not look.beside else 0)
        tall = sum(max(panel.rows for _, panel in row) * cell + beyond for row in rows)
        tall += LINE * (1 if look.beside else len(rows))
        whole = not look.beside or len(rows) == len(bands)
        if wide <= room and tall <= look.tall and whole:
            return float(cell)
    rows = [row for band in bands for row in _rows(band, LEAST, look, margin)]
    wide = max(left + panel.columns * LEAST + look.strip for row in rows for left, panel in row)
    return LEAST if wide <= room and len(rows) < 60 else 0.0


def _rows(band: Band, cell: float, look: Look, margin: float) -> list[list[tuple[float, Panel]]]:
    """Return the panels of a band with where they begin, line by line."""
    rows: list[list[tuple[float, Panel]]] = []
    room = look.width - margin
    left = room + 1
    for panel in band.panels:
        wide = max(panel.columns * cell + look.strip, width_of(panel.label))
        if not rows or left + wide > room:
            rows.append([])
            left = 0.0
        rows[-1].append((left, panel))
        left += wide + GAP
    return rows


def marked_squares(traffic: Traffic, drawn: Channels) -> tuple[Box, ...]:
    """Return frames round the squares of the busiest channels."""
    assert drawn.squares is not None
    rows = [row for each in traffic.busiest for row in np.flatnonzero(drawn.channel == each)[:1]]
    return tuple(
        Box(float(left) - 1, float(top) - 1, float(side) + 2, float(side) + 2, "network-mark")
        for left, top, side in drawn.squares[rows]
    )


def beside_squares(
    traffic: Traffic, drawn: Channels, words: Sequence[Word], size: tuple[float, float]
) -> tuple[Disc, ...]:
    """Return the discs of the busiest channels, beside their squares."""
    assert drawn.squares is not None
    places = {}
    for channel in traffic.busiest:
        (rows,) = np.nonzero(drawn.channel == channel)
        if len(rows):
            left, top, side = drawn.squares[rows[0]]
            away = side / 2 + 0.75 * DISC
            middle = np.array([left + side / 2, top + side / 2]) + away * TURNS
            inside = ((middle >= DISC) & (middle <= np.array(size) - [DISC, 0])).all(axis=1)
            places[channel] = middle[inside]
    return discs_on(traffic, (), words, places)


MOST_BLOCKS = 64
"""Rows of a matrix at most. Of more, neighbours share one."""


def row_words(names: Sequence[str], left: float, top: float, cell: float) -> list[Word]:
    """Return the names of rows beside a matrix, as many as have room."""
    return [
        Word(left - 5, top + (at + 0.5) * cell, names[at], "right")
        for at in range(0, len(names), ceil(NAME_LINE / cell))
    ]


def column_words(names: Sequence[str], left: float, y: float, cell: float) -> list[Word]:
    """Return the names of columns over or below a matrix: every one, second, fifth or tenth."""
    least = min((max(map(width_of, names), default=0) + 6) / cell, len(names))
    steps: list[int] = [base * 10**power for power in range(7) for base in (1, 2, 5)]
    every = next(step for step in steps if step >= least)
    return [
        Word(left + (at + 0.5) * cell, y, names[at], "center") for at in range(0, len(names), every)
    ]


RIM = 9.0
"""Pixels of a rim."""

MOST_ALONE = 2500
"""Channels of hosts that are drawn one by one. Of more the busiest of each router."""

LEAST_PORT, LARGEST_PORT, TALL = 3.0, 14.0, 60.0
"""Pixels of a square at least and at most, and of all of one way from top to bottom, about."""

WAYS = ("hosts to routers", "routers to hosts")


def ports(traffic: Traffic) -> tuple[Ints, Ints]:
    """Return the channels of hosts that are drawn, the busiest last, and at which router each is.

    All, or of each router and way the busiest.
    """
    network, shown = traffic.topology, traffic.hosts
    router_of = np.concatenate([network.injection_router, network.ejection_router])
    router = router_of[shown - network.num_network_channels].astype(np.int64)
    if len(shown) > MOST_ALONE:
        ends = 2 * router + receives(traffic, shown)
        kept = np.sort(last_of(ends, np.arange(len(shown)))[0])
        shown, router = shown[kept], router[kept]
    return shown, router


def receives(traffic: Traffic, channel: Ints) -> Bools:
    """Return bool[n], which channels of hosts lead to hosts."""
    network = traffic.topology
    return np.asarray(channel >= network.num_network_channels + network.num_ports, np.bool_)


def shares(group: Ints, *by: Ints | Floats | Bools) -> tuple[Floats, Floats]:
    """Return where in its group each end is, 0 … 1, and the part of the group that it has.

    Ends of a group are in order of the last of ``by``, those that are alike there in that of the
    one before.

    Examples
    --------
    >>> place, part = shares(np.array([4, 4, 7]), np.array([9, 8, 1]))
    >>> place.tolist(), part.tolist()
    ([0.75, 0.25, 0.5], [0.5, 0.5, 1.0])
    """
    order = np.lexsort((*by, group))
    first = np.flatnonzero(np.append(True, np.diff(group[order]) != 0)[: len(order)])
    counts = np.diff(np.append(first, len(order)))
    place, part = np.empty(len(order)), np.empty(len(order))
    part[order] = 1 / np.repeat(counts, counts)
    rank = np.arange(len(order)) - np.repeat(first, counts)
    place[order] = (rank + 0.5) / np.repeat(counts, counts)
    return place, part


def straight(channel: Ints, start: Floats, end: Floats, pitch: float) -> Channels:
    """Return channels as straight lines that are as thick as they have room, whatever they carry.

    ``pitch`` is the distance in pixels from one to the next.
    """
    thick = float(np.clip(0.8 * pitch, 0.7, 4.0))
    points = straight_points(start, end)
    return Channels(channel, points=points, thinnest=thick, thickest=thick)


def with_hosts(traffic: Traffic, scene: Scene | None, width: float) -> Scene | None:
    """Return a scene with the channels of hosts as squares below it, by number, if any is known."""
    shown = np.sort(ports(traffic)[0]) if len(traffic.hosts) else traffic.hosts
    if scene is None or not len(shown):
        return scene
    into = receives(traffic, shown)
    side = float(
        np.clip(np.sqrt(width * TALL / max(into.sum(), (~into).sum())), LEAST_PORT, LARGEST_PORT)
    )
    a_line = max(int(width / side), 1)
    top, words, squares = scene.height + 8, list[Word](), []
    for way, said in zip((False, True), WAYS, strict=True):
        row, column = np.divmod(np.arange((into == way).sum()), a_line)
        every = "" if len(shown) == len(traffic.hosts) else ", the busiest of each router"
        words.append(Word(0, top + LINE / 2, f"{said}{every}", style="network-heading"))
        top += LINE + 2
        squares.append(squares_at(0.0, top, row, column, side))
        top += side * (int(row.max(initial=-1)) + 1) + 6
    drawn = as_squares(traffic, shown, np.concatenate(squares))
    return replace(
        scene,
        height=top,
        channels=(*scene.channels, drawn),
        words=(*scene.words, *words),
        discs=(*beside_squares(traffic, drawn, words, (width, top)), *scene.discs),
        marks=(*scene.marks, *marked_squares(traffic, drawn)),
    )


# -- marks -----------------------------------------------------------------------------------------


LETTER = 7.6
"""Pixels of a letter of a title, about."""

NUMBER = "center", "network-number"
"""How the number of a busy channel stands on its disc."""


def drawn(scene: Scene, traffic: Traffic, when: str = "") -> alt.LayerChart:
    """Return a scene as a chart, which has the sentence of its traffic as title, after ``when``.

    Of colors it names none but those of ranges and styles, which the background chooses.
    """
    layers: list[Any] = [_bundles(each) for each in scene.bundles]
    heat = colour(traffic, min(300.0, scene.width - 40))
    some = [each for each in scene.channels if len(each.channel)]
    some.sort(key=lambda each: each.squares is not None)
    rows: dict[bool, list[pl.DataFrame]] = {}  # of what is drawn first, and of what again
    for place, part in enumerate(some):
        rows.setdefault(part.again, []).append(_table(part, traffic, place))
    none = 0.5 if traffic.shown == "change" else 0.0
    shade = (pl.col("heat") - none).abs()  # the busiest last
    tables = {
        again: pl.concat(each).sort(shade, maintain_order=True) for again, each in rows.items()
    }
    titles = {"load": _measured(traffic), "mean": "% of the mean channel"}
    told = [
        each
        for each in ("load", "bandwidth", "time", "mean", "paths")
        if any(each in table.columns for table in tables.values())
    ]
    told = [] if traffic.marked and not traffic.marked.measure else told
    tooltip = [
        "channel:N",
        *(alt.Tooltip(f"{each}:Q", format=",.4~g", title=titles.get(each, each)) for each in told),
    ]
    if traffic.tips is not None:
        tooltip.append(alt.Tooltip("tips:N", title=traffic.tips.title))
    marks = [
        _stroked(
            tables[part.again],
            tooltip,
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
        title,
        anchor="start",
        subtitle=wrap(scene.note, letters) or alt.Undefined,
        subtitleFontSize=SIZE,
    )
    chart: alt.LayerChart = alt.LayerChart(layer=layers).properties(
        width=scene.width, height=scene.height, title=words, description=said
    )
    return chart


def _placed(rows: Sequence[dict[str, Any]], kind: str, **mark: Any) -> alt.Chart:
    """Return marks of a kind, each at the place of its row."""
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
    scale = alt.Scale(
        range="diverging" if traffic.shown == "change" else "heatmap",
        interpolate="rgb",
        domain=[0, 1],
    )
    if not traffic.measure:
        return alt.Stroke("heat:Q", scale=scale, legend=None)
    marks = _labels(traffic, room)
    said = "".join(f"abs(datum.value - {at}) < 0.01 ? '{text}' : " for at, text in marks.items())
    shown: Any = alt.Legend(
        type="gradient",
        orient="bottom",
        direction="horizontal",
        gradientLength=room,
        gradientThickness=10,
        values=list(marks),
        labelExpr=f"{said}''",
        labelLimit=160,
        labelFontSize=SIZE,
        titleFontSize=SIZE,
        titleLimit=room + 60,
        labelOverlap=False,
        title=wrap(traffic.measure, max(int((room + 40) / LETTER), 20)),
    )
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


def _table(part: Channels, traffic: Traffic, layer: int) -> pl.DataFrame:
    """Return channels as paths, as SVG has them, how thick these are, and what is said of each."""
    time = traffic.time[part.channel]
    if part.points is not None:
        base = part.thinnest if len(part.channel) < 1200 else 0.7 * part.thinnest
        path = paths(part.points)
        thick = np.asarray(base + (part.thickest - base) * traffic.strength(time), np.float64)
    else:
        assert part.squares is not None
        left, top, thick = part.squares.T
        middles = np.round(np.stack([left + thick / 2, top + thick / 2], axis=1), 2)
        path = [f"M{x:g},{y:g}h0.01" for x, y in middles]  # a point with a square cap
    table: dict[str, Any] = {
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
    loads = {
        "load": f"{traffic.unit} on the channel",
        "use": "% of the channel",
        "change": f"change, {traffic.unit}",
        "marked": traffic.measure,
    }
    return loads[traffic.shown]


def _stroked(table: pl.DataFrame, tooltip: Any, **mark: Any) -> alt.Chart:
    """Return paths as strokes, as thick as a column says."""
    made: alt.Chart = alt.Chart(table).mark_point(filled=False, size=4, opacity=1, **mark)
    return made.encode(
        x=alt.value(0),
        y=alt.value(0),
        shape=alt.Shape("path:N", scale=None),
        strokeWidth=alt.StrokeWidth("thick:Q", scale=None),
        tooltip=tooltip,
    )


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
    table = pl.DataFrame(
        {
            "path": [f"M{x:g},{y:g}h{long:g}" for x, y, long in lines],
            "thick": np.round(height, 2),
            "heat": np.round(traffic.heat(cells.time[known]), 4),
            "channels": [word for word, here in zip(cells.words, known, strict=True) if here],
            "load": (100 if traffic.shown == "use" else 1) * cells.time[known],
        }
    )
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
    if not marks:
        return []
    look: dict[str, Any] = {"filled": True, "style": "network-disc", "opacity": 1}
    drawn = _placed([each._asdict() for each in marks], "point", shape=shape, size=size, **look)
    turned = isinstance(marks[0], Arrow)
    return [drawn.encode(angle=alt.Angle("angle:Q", scale=None)) if turned else drawn]
