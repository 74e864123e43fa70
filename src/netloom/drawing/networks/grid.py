"""Small networks of one or two dimensions: nodes as dots, and each channel a line between them.

What is far in the drawing, such as the way round a torus, is a stub with the far node's number.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, degrees
from typing import TYPE_CHECKING

import numpy as np

from netloom.drawing.networks.letters import LINE, width_of
from netloom.drawing.networks.scene import (
    DISC,
    Arrow,
    Bundles,
    Channels,
    Scene,
    Word,
    discs_on,
    named_below,
)
from netloom.topology import Cube

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Floats, Ints
    from netloom.drawing.networks.traffic import Traffic
    from netloom.topology import Topology

MOST_SIDE = 16
"""Nodes of a row or column at most: of more, squares are easier to read."""

MOST_NODES = 300
"""Nodes of a network of one dimension at most."""

PITCH, LEAST_PITCH = 46.0, 20.0
"""Pixels from node to node at most, and at least in rows of a folded line."""

STUB, SIDE = 0.42, 0.12
"""Of the pitch: how long stubs are, and how far a channel is to the right of its direction."""

RIM = 8.0
"""Pixels between what stands beside each other at the rim."""

WAYS = {(1, 0): "left", (-1, 0): "right", (0, 1): "center", (0, -1): "center"}
"""The directions of stubs, and how what stands at their ends is aligned."""

SLIM = 420.0
"""Pixels of the narrowest picture with names, if there is room: its title needs them."""


@dataclass(frozen=True, eq=False)
class _Lines:
    """The channels of a grid, in its own units.

    Attributes
    ----------
    place
        float64[num_nodes, 2]: column and row of each node.
    way
        float64[num_channels, 2]: where each channel leaves to, a step long.
    far
        bool[num_channels]: those that are stubs.
    source, target
        int64[num_channels], nodes.
    folded
        Whether it is one long line in several rows.
    """

    place: Floats
    way: Floats
    far: Bools
    source: Ints
    target: Ints
    folded: bool

    @property
    def columns(self) -> int:
        return int(self.place[:, 0].max()) + 1

    @property
    def rows(self) -> int:
        return int(self.place[:, 1].max()) + 1

    @property
    def row_names(self) -> list[str]:
        """What rows are called: by their number, or by their first node."""
        step = self.columns if self.folded else 1
        return [str(row * step) for row in range(self.rows)] if self.rows > 1 else []

    def stubs(self, way: tuple[int, int]) -> Ints:
        """Return the stubs that leave in a direction."""
        return np.flatnonzero(self.far & (self.way == way).all(axis=1))


def fits_grid(cube: Cube) -> bool:
    """Whether the channels of a network are drawn as lines."""
    sides = [side for side in cube.sides if side > 1]
    return (len(sides) == 2 and max(sides) <= MOST_SIDE) or (
        len(sides) == 1 and sides[0] <= MOST_NODES
    )


BELOW = 24.0
"""Pixels below a network for the discs of its last row."""


def grid_scene(traffic: Traffic, width: float, *, named: bool = True) -> Scene:
    """Return the scene of a network of lines, at most ``width`` pixels wide.

    Without names it is one of many small pictures.
    """
    lines = _lines(traffic.topology, width)
    left, right, top, bottom = _margins(lines) if named else _bare(lines)
    pitch = (width - left - right) / max(lines.columns - 1, 1)
    pitch = min(pitch, PITCH if named else width / 4)
    across = left + right + pitch * (lines.columns - 1)
    corner = np.array([left, top])
    drawn = _drawn(traffic, lines, corner, pitch)
    dots = _dots(corner + pitch * lines.place, pitch)
    tall = top + pitch * (lines.rows - 1) + bottom
    if not named:
        return Scene(across, tall, (drawn,), dots=(dots,))
    words = [*_rim(lines, corner, pitch), *_ends(lines, corner, pitch)]
    arrows, beside = _heads(traffic, drawn, pitch)
    discs = discs_on(traffic, (drawn,), words, beside)
    wide = max(across, min(width, SLIM))
    listed, names, below = named_below(traffic, tall + BELOW, wide)
    note = "a node's number: its row's and its column's added; " if lines.folded else ""
    note += "lines lie right of their direction"
    note += ", stubs lead to the number at their end" if lines.far.any() else ""
    return Scene(
        wide, tall + BELOW + below, (drawn,), words=(*words, *names), discs=(*discs, *listed),
        dots=(dots,), arrows=arrows, note=note,
    )  # fmt: skip


def _lines(topology: Topology, width: float) -> _Lines:
    """Return where nodes are, and which way channels leave. Long lines are folded into rows."""
    cube = topology.routers
    assert isinstance(cube, Cube)
    axes = [axis for axis, side in enumerate(cube.sides) if side > 1]
    nodes = np.arange(cube.num_vertices)
    at = {axis: nodes // cube.strides[axis] % cube.sides[axis] for axis in axes}
    across = at[axes[-1]].astype(float)
    down = at[axes[0]].astype(float) if len(axes) > 1 else np.zeros(len(nodes))
    if len(axes) == 1:
        fits = max(int(width / LEAST_PITCH) - 4, 4)
        a_row = ceil(len(nodes) / ceil(len(nodes) / fits))
        across, down = across % a_row, across // a_row
    place = np.stack([across, down], axis=1)
    source, target = cube.channel_source.astype(np.int64), cube.channel_target.astype(np.int64)
    way = np.zeros((len(source), 2))
    for axis in axes:
        step = (1, 0) if axis == axes[-1] else (0, 1)
        first, second = (int(base) for base in cube.line_base[axis])
        size = second - first
        way[first:second], way[second : second + size] = step, np.negative(step)
    far = (np.abs(place[target] - place[source] - way) > 1e-9).any(axis=1)
    folded = len(axes) == 1 and bool(down.any())
    return _Lines(place, way, far, source, target, folded)


def _number(lines: _Lines, channel: int) -> str:
    """Return the number of the far node of a stub: its column or row, or its own."""
    column, row = lines.place[lines.target[channel]].astype(int)
    if lines.way[channel, 1]:
        return str(row)
    return str(lines.target[channel]) if lines.folded else str(column)


def _said(lines: _Lines, channel: int) -> str:
    """Return what stands at the end of a stub."""
    number, (right, down) = _number(lines, channel), lines.way[channel]
    if right:
        return f"→{number}" if right > 0 else f"{number}←"
    return f"{'↓' if down > 0 else '↑'}{number}"


def _margins(lines: _Lines) -> tuple[float, float, float, float]:
    """Return pixels at the left, right, top and bottom of the nodes, for numbers and stubs."""
    column = max(width_of(str(lines.columns - 1), bold=True) / 2, 6.0)

    def room(way: tuple[int, int]) -> float:
        stubs = lines.stubs(way)
        words = max((width_of(_said(lines, int(each))) for each in stubs), default=0.0)
        return words + STUB * PITCH + 4 if len(stubs) else column

    names = [width_of(name, bold=True) for name in lines.row_names]
    rows = max(names) + RIM if names else 0.0
    up, down = (LINE + STUB * PITCH if len(lines.stubs(way)) else 6.0 for way in ((0, -1), (0, 1)))
    return rows + room((-1, 0)), room((1, 0)), LINE + 2 + up, down


def _bare(lines: _Lines) -> tuple[float, float, float, float]:
    """Return pixels round the nodes of a picture without names."""
    left, right, top, bottom = (
        14.0 if len(lines.stubs(way)) else 5.0 for way in ((-1, 0), (1, 0), (0, -1), (0, 1))
    )
    return left, right, top, bottom


def _drawn(traffic: Traffic, lines: _Lines, corner: Floats, pitch: float) -> Channels:
    """Return the channels, each on the right of its direction."""
    channel = traffic.between
    aside = max(SIDE * pitch, 2.2)
    way = lines.way[channel]
    right = np.stack([-way[:, 1], way[:, 0]], axis=1)
    start = corner + pitch * lines.place[lines.source[channel]] + aside * right
    stub = min(STUB * max(pitch, 28), STUB * PITCH) if pitch > LEAST_PITCH / 2 else 8.0
    long = np.where(lines.far[channel], stub, pitch)[:, None]
    end = start + long * way
    points = np.stack([start, start + (end - start) / 3, end - (end - start) / 3, end], axis=1)
    return Channels(channel, points=points, thickest=float(np.clip(1.7 * aside, 2.5, 5.0)))


def _dots(places: Floats, pitch: float) -> Bundles:
    """Return the nodes."""
    points = np.repeat(places[:, None, :], 4, axis=1)
    points[:, 3, 0] += 0.1
    size = float(np.clip(0.17 * pitch, 3.0, 7.0))
    return Bundles(points, np.full(len(places), size), style="network-rim", cap="round")


def _rim(lines: _Lines, corner: Floats, pitch: float) -> list[Word]:
    """Return the numbers of columns above the nodes, and of rows at their left."""
    every = max(1, ceil((width_of(str(lines.columns - 1), bold=True) + 4) / pitch))
    words = [
        Word(corner[0] + pitch * at, LINE / 2, str(at), "center", "network-heading")
        for at in range(0, lines.columns, every)
    ]
    names = lines.row_names
    right = max((width_of(name, bold=True) for name in names), default=0.0)
    every = max(1, ceil(LINE / pitch))
    return words + [
        Word(right, corner[1] + pitch * at, names[at], "right", "network-heading")
        for at in range(0, len(names), every)
    ]


def _ends(lines: _Lines, corner: Floats, pitch: float) -> list[Word]:
    """Return where stubs lead, at their ends. Every second if there is no room, and so on."""
    words = []
    for way, align in WAYS.items():
        stubs = lines.stubs(way)
        if not len(stubs):
            continue
        place = lines.place[lines.source[stubs]]
        stubs = stubs[np.lexsort((place[:, 0], place[:, 1]))]
        widest = max(width_of(_said(lines, int(each))) for each in stubs)
        every = max(1, ceil((LINE if way[0] else widest + 4) / pitch))
        for each in stubs[::every].tolist():
            x, y = corner + pitch * lines.place[lines.source[each]]
            away = STUB * PITCH + 3
            if way[1]:
                away += LINE / 2
            aside = max(SIDE * pitch, 2.2)
            x, y = x + way[0] * away - way[1] * aside, y + way[1] * away + way[0] * aside
            words.append(Word(float(x), float(y), _said(lines, each), align))
    return words


def _heads(
    traffic: Traffic, drawn: Channels, pitch: float
) -> tuple[tuple[Arrow, ...], dict[int, Floats]]:
    """Return the heads of the busiest channels, and where their discs may be beside them."""
    arrows, beside = [], {}
    assert drawn.points is not None
    for channel in traffic.busiest:
        (row,) = np.flatnonzero(drawn.channel == channel)
        start, end = drawn.points[row, 0], drawn.points[row, 3]
        long = float(np.hypot(*(end - start)))
        way = (end - start) / long
        at = end - min(0.28 * pitch, 11.0) * way
        turn = degrees(float(np.arctan2(way[0], -way[1])))
        arrows.append(Arrow(float(at[0]), float(at[1]), turn))
        right = np.array([-way[1], way[0]])
        middle = start + 0.36 * (end - start)
        off = DISC + 3.0
        away = 1.0, -1.6, 2.2, -2.8, 0.0
        beside[channel] = np.array([middle + each * off * right for each in away])
    return tuple(arrows), beside
