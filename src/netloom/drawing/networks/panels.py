"""Channels as squares: panels side by side, matrices, and what stands at their rims.

The channels of hosts are a thin rim at what they join, or squares below a picture without a rim.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints
from netloom.drawing.names import LINE, NAME_LINE, width_of
from netloom.drawing.networks.scene import (
    DISC,
    Box,
    Cells,
    Channels,
    Disc,
    Scene,
    Word,
    as_squares,
    discs_on,
    last_of,
    named_below,
    squares_at,
    straight_points,
)
from netloom.drawing.networks.traffic import Traffic

LEAST, LARGEST = 2.0, 24.0
"""Pixels of the smallest and of the largest square."""

GAP, SLIM = 8.0, 420.0
"""Pixels between panels, and of the narrowest picture, if there is room: it has a title."""

TURNS = np.array([
    [1, -1], [-1, -1], [1, 1], [-1, 1], [2, 0], [-2, 0], [3, -1], [-3, -1],
    [3, 1], [-3, 1], [1, 3], [-1, 3], [1, -3], [-1, -3],
])  # fmt: skip
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
        for row in _rows(band, cell, look, margin):
            top = _row(traffic, parts, band, row, (margin, top), cell, look)
        if look.rim and look.beside and band is bands[-1]:
            top = _numbered(parts, row, (margin, top - GAP), cell)
    drawn = parts.drawn(traffic)
    discs = beside_squares(traffic, drawn, parts.words, (look.width, top))
    listed, names, below = named_below(traffic, top + 4, look.width)
    words = [*parts.words, *names]
    right = [box.x + box.width + look.strip for box in parts.boxes]
    right += [word.extent[1] for word in words]
    return Scene(
        max(*right, min(look.width, SLIM)), top + 4 + below, (drawn,), tuple(parts.boxes),
        tuple(words), (*discs, *listed), cells=tuple(parts.cells), note=look.note,
        marks=marked_squares(traffic, drawn),
    )  # fmt: skip


def _row(
    traffic: Traffic, parts: Parts, band: Band, row: Sequence[tuple[float, Panel]],
    at: tuple[float, float], cell: float, look: Look,
) -> float:  # fmt: skip
    """Add panels that stand side by side, and return where what is below them begins."""
    margin, top = at
    labelled = LINE if any(panel.label for _, panel in row) else 0.0
    y = top + labelled
    high = max(panel.rows for _, panel in row) * cell
    for place, (left, panel) in enumerate(row):
        x = margin + left
        if panel.label:
            parts.words.append(Word(x, top + LINE / 2, panel.label))
        parts.add(panel, x, y, cell)
        if look.means:
            parts.cells.append(_means(traffic, panel, x, y, cell))
        if look.rim and place == 0:
            parts.words += row_words([*map(str, range(panel.rows))], margin, y, cell)
    if look.beside:
        parts.words.append(Word(0, y + high / 2, band.heading))
    bottom = y + high + look.strip
    if look.rim and not look.beside:
        return _numbered(parts, row, (margin, bottom), cell)
    return bottom + GAP


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
