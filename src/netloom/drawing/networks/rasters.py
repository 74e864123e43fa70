"""Networks as squares, one a channel: tori by plane and direction, HyperX by line and dimension."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.drawing.networks.letters import LINE, width_of
from netloom.drawing.networks.scene import (
    DISC,
    Box,
    Channels,
    Disc,
    Scene,
    Word,
    discs_on,
    named_below,
)
from netloom.topology import Cube
from netloom.topology.family import HyperXShape
from netloom.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from netloom.drawing.networks.traffic import Traffic

LEAST, LARGEST = 2.0, 24.0
"""Pixels of the smallest and of the largest square."""

TALL, COLUMN = 600.0, 500.0
"""Pixels of a picture from top to bottom, about; of many lines twice as many below this width."""

GAP, SLIM = 8.0, 420.0
"""Pixels between panels; and of the narrowest picture, if there is room: it has a title."""

AXES = "xyz"
"""What the dimensions of a cube are called, the last first."""

ARROWS = {"x+": "x+ →", "x-": "x− ←", "y+": "y+ ↓", "y-": "y− ↑", "z+": "z+", "z-": "z−"}
"""The directions of a cube, as panels name them."""


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
    channel: NDArray[np.int64]
    row: NDArray[np.int64]
    column: NDArray[np.int64]
    rows: int
    columns: int


class Band(NamedTuple):
    """Panels side by side, in as many lines as they need, under a heading; perhaps none."""

    heading: str
    panels: list[Panel]


def planes_scene(traffic: Traffic, width: float) -> Scene | None:
    """Return the scene of a cube of two or three dimensions: a raster a direction and plane.

    A square is the channel that leaves the node there in that direction. None where squares would
    be too small.
    """
    cube = traffic.topology.routers
    assert isinstance(cube, Cube)
    axes = [axis for axis, side in enumerate(cube.sides) if side > 1]
    *across, down, along = axes
    shape = cube.sides[down], cube.sides[along]
    panels: dict[int, list[Panel]] = {}
    for name, axis in zip(AXES, reversed(axes), strict=False):
        for way, sign in enumerate("+-"):
            first = int(cube.line_base[axis, way])
            channel = first + np.arange(int(cube.direction_channels[axis]))
            node = cube.channel_source[channel]
            at = [node // cube.strides[each] % cube.sides[each] for each in (*across, down, along)]
            plane = at[0] if across else np.zeros_like(node)
            for each in range(cube.sides[across[0]] if across else 1):
                here = plane == each
                places = channel[here], at[-2][here], at[-1][here]
                panels.setdefault(each, []).append(Panel(ARROWS[name + sign], *places, *shape))
    named = [f"z = {each}" if across else "" for each in panels]
    bands = [Band(heading, each) for heading, each in zip(named, panels.values(), strict=True)]
    if across:
        bands = [
            Band(
                band.heading,
                band.panels if place == 0 else [p._replace(label="") for p in band.panels],
            )
            for place, band in enumerate(bands)
        ]
    node_at, corner = ("(z,y,x)", "y = x = 0") if across else ("(y,x)", "(0,0)")
    note = f"a square is the channel that leaves node {node_at} in a direction; top left: {corner}"
    return _scene(traffic, bands, (width, TALL), note, beside=bool(across))


def hyperx_scene(traffic: Traffic, width: float) -> Scene | None:
    """Return the scene of a HyperX: a matrix of senders and receivers a line and dimension.

    Of several lanes the busiest is shown. None where squares would be too small.
    """
    shape = traffic.topology.family
    assert isinstance(shape, HyperXShape)
    routers, sides = traffic.topology.routers, shape.sides
    strides = [prod(sides[axis + 1 :]) for axis in range(len(sides))]
    shown = traffic.there  # the busiest last
    source = routers.channel_source[shown].astype(np.int64)
    target = routers.channel_target[shown].astype(np.int64)
    bands = []
    for axis in reversed(range(len(sides))):
        side, stride = sides[axis], strides[axis]
        row, column = (end // stride % side for end in (source, target))
        mine = (source - row * stride == target - column * stride) & (source != target)
        line = source // (stride * side) * stride + source % stride
        keys = (line * side + row) * side + column
        last = np.full(prod(sides) * side, -1)
        last[keys[mine]] = shown[mine]
        panels = []
        for number in range(prod(sides) // side):
            cells = np.arange(number * side**2, (number + 1) * side**2)
            cells = cells[last[cells] >= 0]
            cells = cells[np.argsort(traffic.time[last[cells]], kind="stable")]
            at = cells // side % side, cells % side
            label = _line(number, axis, sides)
            panels.append(Panel(label, last[cells], *at, side, side))
        bands.append(
            Band(f"dimension {axis}: {counted(len(panels), 'line', ',')} of {side}", panels)
        )
    lanes = "; the busiest of the lanes" if shape.lanes > 1 else ""
    note = f"in each matrix rows send, columns receive, along the ·{lanes}"
    return _scene(traffic, bands, (width, TALL if width > COLUMN else 2 * TALL), note)


def _line(number: int, axis: int, sides: Sequence[int]) -> str:
    """Return the name of a line: the coordinates of its routers, a dot for the one that differs."""
    rest = [side for place, side in enumerate(sides) if place != axis]
    at = [str(each) for each in np.unravel_index(number, rest)] if rest else []
    return "(" + ",".join([*at[:axis], "·", *at[axis:]]) + ")"


def _scene(
    traffic: Traffic,
    bands: list[Band],
    size: tuple[float, float],
    note: str,
    *,
    beside: bool = False,
) -> Scene | None:
    """Return bands of panels as a scene of about some size; headings stand above or at the left."""
    width, tall = size
    margin = max((width_of(band.heading) for band in bands), default=0) + 8 if beside else 0.0
    cell = _cell(bands, width - margin, tall, beside=beside)
    if cell < LEAST:
        return None
    parts: list[tuple[NDArray[np.int64], NDArray[np.float64]]] = []
    boxes: list[Box] = []
    words: list[Word] = []
    top = 0.0
    for band in bands:
        if band.heading and not beside:
            words.append(Word(0, top + LINE / 2, band.heading, style="network-heading"))
            top += LINE + 2
        for row in _rows(band, cell, width - margin):
            labelled = LINE if any(panel.label for _, panel in row) else 0.0
            for left, panel in row:
                x, y = margin + left, top + labelled
                if panel.label:
                    words.append(Word(x, top + LINE / 2, panel.label))
                boxes.append(Box(x, y, panel.columns * cell, panel.rows * cell))
                side = np.full(len(panel.channel), cell - (0.5 if cell > 3.5 else 0.0))
                squares = np.stack([x + panel.column * cell, y + panel.row * cell, side], axis=1)
                parts.append((panel.channel, squares))
            high = max(panel.rows for _, panel in row) * cell
            if beside:
                words.append(Word(0, top + labelled + high / 2, band.heading))
            top += labelled + high + GAP
    channel = np.concatenate([each for each, _ in parts])
    squares = np.concatenate([each for _, each in parts])
    there = ~np.isnan(traffic.time[channel])
    channel, squares = channel[there], squares[there]
    order = np.argsort(traffic.time[channel], kind="stable")
    drawn = Channels(channel[order], squares=squares[order])
    discs = _discs(traffic, drawn, words, (width, top))
    listed, names, below = named_below(traffic, top + 4, width)
    words += names
    right = [box.x + box.width for box in boxes] + [word.extent[1] for word in words]
    return Scene(
        max(*right, min(width, SLIM)), top + 4 + below, (drawn,), tuple(boxes), tuple(words),
        (*discs, *listed), note=note,
    )  # fmt: skip


def _cell(bands: Sequence[Band], room: float, most: float, *, beside: bool) -> float:
    """Return the pixels of a square: as large as the picture has room for, ``most`` high."""
    for cell in np.arange(LARGEST, LEAST - 0.1, -0.25):
        rows = [row for band in bands for row in _rows(band, float(cell), room)]
        wide = max(left + panel.columns * cell for row in rows for left, panel in row)
        tall = sum(max(panel.rows for _, panel in row) * cell + GAP for row in rows)
        tall += LINE * (1 if beside else len(rows))
        whole = not beside or len(rows) == len(bands)
        if wide <= room and tall <= most and whole:
            return float(cell)
    rows = [row for band in bands for row in _rows(band, LEAST, room)]
    wide = max(left + panel.columns * LEAST for row in rows for left, panel in row)
    return LEAST if wide <= room and len(rows) < 60 else 0.0


def _rows(band: Band, cell: float, room: float) -> list[list[tuple[float, Panel]]]:
    """Return the panels of a band with where they begin, line by line."""
    rows: list[list[tuple[float, Panel]]] = []
    left = room + 1
    for panel in band.panels:
        wide = max(panel.columns * cell, width_of(panel.label))
        if not rows or left + wide > room:
            rows.append([])
            left = 0.0
        rows[-1].append((left, panel))
        left += wide + GAP
    return rows


def _discs(
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
            turns = np.array([[1, -1], [-1, -1], [1, 1], [-1, 1], [2, 0], [-2, 0]])
            middle = np.array([left + side / 2, top + side / 2]) + away * turns
            inside = ((middle >= DISC) & (middle <= np.array(size) - [DISC, 0])).all(axis=1)
            places[channel] = middle[inside]
    return discs_on(traffic, (), words, places)
