"""Cubes and HyperX: small ones as dots and lines, larger ones as squares by plane or in Gray order.

In a grid of one or two dimensions nodes are dots, and each channel is a line between them. What is
far in the drawing, such as the way round a torus, is a stub with the far node's number. Larger tori
are squares, one per channel, by plane, with a key of three dimensions in which the busiest channel
is. HyperX are squares by line and dimension. Cubes of four dimensions and more, hypercubes too, are
a matrix of nodes and dimensions.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, degrees, prod
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.words import counted
from netloom.drawing.names import LINE, width_of
from netloom.drawing.networks.scene import (
    DISC,
    Arrow,
    Band,
    Box,
    Bundles,
    Cells,
    Channels,
    Disc,
    Look,
    Panel,
    Parts,
    Scene,
    Word,
    beside_squares,
    discs_on,
    last_of,
    marked_squares,
    named_below,
    panels_scene,
    row_words,
    straight_points,
)
from netloom.drawing.networks.traffic import Traffic
from netloom.topology import Cube, Topology
from netloom.topology.core import HyperXShape

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
    stubs = [len(lines.stubs(way)) for way in ((-1, 0), (1, 0), (0, -1), (0, 1))]
    left, right, top, bottom = (
        _margins(lines) if named else (14.0 if many else 5.0 for many in stubs)
    )
    pitch = (width - left - right) / max(lines.columns - 1, 1)
    pitch = min(pitch, PITCH if named else width / 4)
    across = left + right + pitch * (lines.columns - 1)
    corner = np.array([left, top])
    channel = traffic.between  # each is drawn on the right of its direction
    aside = max(SIDE * pitch, 2.2)
    way = lines.way[channel]
    beside = np.stack([-way[:, 1], way[:, 0]], axis=1)
    start = corner + pitch * lines.place[lines.source[channel]] + aside * beside
    stub = min(STUB * max(pitch, 28), STUB * PITCH) if pitch > LEAST_PITCH / 2 else 8.0
    long = np.where(lines.far[channel], stub, pitch)[:, None]
    thick = float(np.clip(1.7 * aside, 2.5, 5.0))
    drawn = Channels(channel, points=straight_points(start, start + long * way), thickest=thick)
    middles = np.repeat((corner + pitch * lines.place)[:, None, :], 4, axis=1)
    middles[:, 3, 0] += 0.1
    size = np.full(len(middles), float(np.clip(0.17 * pitch, 3.0, 7.0)))
    dots = Bundles(middles, size, style="network-rim", cap="round")  # the nodes
    tall = top + pitch * (lines.rows - 1) + bottom
    if not named:
        return Scene(across, tall, (drawn,), dots=(dots,))
    words = [*_rim(lines, corner, pitch), *_ends(lines, corner, pitch)]
    arrows, near = _heads(traffic, drawn, pitch)
    discs = discs_on(traffic, (drawn,), words, near)
    wide = max(across, min(width, SLIM))
    listed, names, below = named_below(traffic, tall + BELOW, wide)
    note = "a node's number: its row's and its column's added; " if lines.folded else ""
    note += "lines lie right of their direction"
    note += ", stubs lead to the number at their end" if lines.far.any() else ""
    return Scene(
        wide,
        tall + BELOW + below,
        (drawn,),
        words=(*words, *names),
        discs=(*discs, *listed),
        dots=(dots,),
        arrows=arrows,
        note=note,
    )


def _lines(topology: Topology, width: float) -> _Lines:
    """Return where nodes are, and which way channels leave. Long lines are folded into rows."""
    cube = topology.routers
    assert isinstance(cube, Cube)
    axes = [axis for axis, side in enumerate(cube.sides) if side > 1]
    nodes = np.arange(cube.num_routers)
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


def _said(lines: _Lines, channel: int) -> str:
    """Return what stands at the end of a stub: the far node's column or row, or its number."""
    column, row = lines.place[lines.target[channel]].astype(int)
    right, down = lines.way[channel]
    if down:
        return f"{'↓' if down > 0 else '↑'}{row}"
    number = lines.target[channel] if lines.folded else column
    return f"→{number}" if right > 0 else f"{number}←"


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
        for row in np.flatnonzero(drawn.channel == channel):  # none for the channel of a host
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


RASTER_TALL, COLUMN = 600.0, 500.0
"""Pixels of a picture from top to bottom, about. Of many lines twice as many below this width."""

AXES = "xyz"
"""What the dimensions of a cube are called, the last first."""

ARROWS = {"x+": "x+ →", "x-": "x− ←", "y+": "y+ ↓", "y-": "y− ↑", "z+": "z+", "z-": "z−"}
"""The directions of a cube, as panels name them."""


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
    planes = range(cube.sides[across[0]] if across else 1)
    bands = [Band(f"z = {plane}" if across else "", []) for plane in planes]
    for name, axis in zip(AXES, reversed(axes), strict=False):
        for way, sign in enumerate("+-"):
            first = int(cube.line_base[axis, way])
            channel = first + np.arange(int(cube.direction_channels[axis]))
            node = cube.channel_source[channel]
            at = [node // cube.strides[each] % cube.sides[each] for each in (*across, down, along)]
            for plane, band in zip(planes, bands, strict=True):
                here = at[0] == plane if across else np.ones(len(node), np.bool_)
                places = channel[here], at[-2][here], at[-1][here]
                label = "" if plane else ARROWS[name + sign]
                band.panels.append(Panel(label, *places, *shape))
    node_at = "(z,y,x)" if across else "(y,x)"
    note = f"a square is the channel that leaves node {node_at}: row y, column x"
    note += "" if across else "; strips are means of rows and columns"
    look = Look(width, RASTER_TALL, note, beside=bool(across), means=not across, rim=True)
    scene = panels_scene(traffic, bands, look)
    if scene is None or not across:
        return scene
    return with_key(traffic, scene, width)


def hyperx_scene(traffic: Traffic, width: float) -> Scene | None:
    """Return the scene of a HyperX: a matrix of senders and receivers a line and dimension.

    Of several lanes the busiest is shown. None where squares would be too small.
    """
    shape = traffic.topology.family
    assert isinstance(shape, HyperXShape)
    routers, sides = traffic.topology.routers, shape.sides
    strides = [prod(sides[axis + 1 :]) for axis in range(len(sides))]
    shown = traffic.between  # the busiest last
    source = routers.channel_source[shown].astype(np.int64)
    target = routers.channel_target[shown].astype(np.int64)
    bands = []
    for axis in reversed(range(len(sides))):
        side, stride = sides[axis], strides[axis]
        row, column = (end // stride % side for end in (source, target))
        mine = (source - row * stride == target - column * stride) & (source != target)
        line = source // (stride * side) * stride + source % stride
        keys = (line * side + row) * side + column
        channel, cells = last_of(keys[mine], shown[mine])
        panels = []
        for number in range(prod(sides) // side):
            here = cells // side**2 == number
            at = cells[here] // side % side, cells[here] % side
            rest = [each for place, each in enumerate(sides) if place != axis]
            where = list(map(str, np.unravel_index(number, rest))) if rest else []
            where.insert(axis, "·")  # a dot for the coordinate that differs
            label = f"({','.join(where)})"
            panels.append(Panel(label, channel[here], *at, side, side))
        bands.append(
            Band(f"dimension {axis}: {counted(len(panels), 'line', ',')} of {side}", panels)
        )
    lanes = "; the busiest of the lanes" if shape.lanes > 1 else ""
    note = f"in each matrix rows send, columns receive, along the ·{lanes}"
    tall = RASTER_TALL if width > COLUMN else 2 * RASTER_TALL
    return panels_scene(traffic, bands, Look(width, tall, note))


WIDE, HIGH = 170.0, 110.0
"""Pixels of the key, without its words."""

SLANT = np.array([[0.0, 1.0], [-0.5, 0.42], [1.0, 0.0]])
"""Steps along z, y and x: planes lie below each other, as the panels do."""

ASIDE = 560.0
"""Pixels of the narrowest picture that has its key beside the list of the busiest channels."""


def with_key(traffic: Traffic, scene: Scene, width: float) -> Scene:
    """Return a scene of a network of three dimensions with its key, beside or below its names."""
    cube = traffic.topology.routers
    assert isinstance(cube, Cube)
    between = [channel for channel in traffic.busiest if channel < cube.num_channels]
    if not between:
        return scene
    channel, number = between[0], traffic.busiest.index(between[0]) + 1
    listed = [disc.y for disc in scene.discs][-len(traffic.busiest) :]
    top = listed[0] - LINE / 2 if width >= ASIDE else scene.height + 4
    left = min(scene.width, width) - WIDE - 40 if width >= ASIDE else 24.0
    corner = np.array([left, top + LINE])
    axes = [axis for axis, side in enumerate(cube.sides) if side > 1]
    most = np.array([cube.sides[axis] for axis in axes]) - 1.0
    ends = np.array(
        [[most[0], most[1], most[2]], [0, 0, 0], [most[0], most[1], 0], [0, 0, most[2]]]
    )
    flat = ends @ SLANT
    low, span = flat.min(axis=0), np.ptp(flat, axis=0)
    scale = np.array([WIDE, HIGH]) / span

    def placed(points: Floats) -> Floats:
        return np.asarray(corner + scale * (points @ SLANT - low), np.float64)

    node = cube.channel_source[channel], cube.channel_target[channel]
    start, end = (
        np.array([n // cube.strides[a] % cube.sides[a] for a in axes], float) for n in node
    )
    step = end - start
    if np.abs(step).max() > 1:  # the way round: a stub that leaves the network
        end = start - 0.5 * np.sign(step)
    first, last = placed(np.stack([start, end]))
    way = (last - first) / max(float(np.hypot(*(last - first))), 1e-9)
    last = first + max(float(np.hypot(*(last - first))), 14.0) * way
    hot = Channels(
        np.array([channel]),
        points=straight_points(first[None], last[None]),
        thinnest=3.0,
        thickest=4.5,
        again=True,
    )
    z, y, x = most
    corners = np.array([[0, 0], [0, x], [y, x], [y, 0]])
    lines = [  # the outlines of the planes, and the edges between them
        ((plane, *corners[at]), (plane, *corners[(at + 1) % 4]))
        for plane in range(int(z) + 1)
        for at in range(4)
    ]
    lines += [((0, *corner), (z, *corner)) for corner in corners]
    begins, stops = (placed(np.array([line[side] for line in lines])) for side in (0, 1))
    outlines = Bundles(straight_points(begins, stops), np.full(len(lines), 1.0))
    # the names of the axes stand at the ends of edges
    tips = placed(np.array([[0, 0, x], [0, y, 0], [z, y, 0], [0, 0, 0]]))
    heads = tips + np.array([[10, 0], [-10, 0], [-10, 0], [0, 0]])
    words = [
        Word(float(at), float(up), name, "center")
        for (at, up), name in zip(heads, AXES, strict=False)
    ]
    at_left, over = float(tips[1, 0] - 14), float(tips[3, 1] - LINE)
    named = "the busiest channel" if number == 1 else "the busiest between routers"
    words.append(Word(at_left, over, named, style="network-heading"))
    across = np.array([-way[1], way[0]])
    middle = (first + last) / 2 + (DISC + 6) * across
    disc = Disc(float(middle[0]), float(middle[1]), number)
    arrow = Arrow(float(last[0]), float(last[1]), degrees(float(np.arctan2(way[0], -way[1]))))
    return replace(
        scene,
        height=max(scene.height, top + LINE + HIGH + 2 * DISC + 6),
        channels=(*scene.channels, hot),
        bundles=(*scene.bundles, outlines),
        arrows=(*scene.arrows, arrow),
        discs=(disc, *scene.discs),
        words=(*scene.words, *words),
    )


TALL = 640.0
"""Pixels of all lines of nodes together, about."""

LEAST, LARGEST = 3.0, 20.0
"""Pixels of a square."""

BAR, LABEL = 12.0, 110.0
"""Pixels of a bar of a dimension's busiest channel, and of the room for its load."""

NOTE = "a square is the channel that leaves a node along a dimension; nodes in Gray order"


class _Rows(NamedTuple):
    """The directions of a cube, and which channel leaves each node in each; -1 for none."""

    names: list[str]
    channel: Ints


def cube_scene(traffic: Traffic, width: float) -> Scene | None:
    """Return the scene of a cube: nodes from left to right in Gray order, a row per direction.

    Neighbors in a line of nodes differ in one coordinate. Below stands the busiest channel of each
    direction. None if squares would be too small.
    """
    cube = traffic.topology.routers
    assert isinstance(cube, Cube)
    rows, order = _rows(cube), gray_order(cube.sides)
    margin = max(width_of(name) for name in rows.names) + 6
    many = len(rows.names)
    cell, a_line = 0.0, cube.num_routers  # nodes in a line: those of one prefix
    for axis in range(len(cube.sides)):
        long = prod(cube.sides[axis:])
        lines = cube.num_routers // long
        high = (TALL - lines * (LINE + 8)) / (lines * many)
        fits = min((width - margin) / long, LARGEST, high)
        if fits > cell:
            cell, a_line = fits, long
    if cell < LEAST:
        return None
    parts, top = Parts(), 0.0
    for first in range(0, len(order), a_line):
        nodes = order[first : first + a_line]
        y = top + LINE + 2
        places = np.stack(np.unravel_index(nodes, cube.sides)).tolist()
        alike = ["·" if len(set(each)) > 1 else str(each[0]) for each in places]
        parts.words.append(Word(margin, top + LINE / 2, f"nodes ({','.join(alike)})"))
        parts.words += row_words(rows.names, margin, y, cell)
        row, column = np.nonzero(rows.channel[:, nodes] >= 0)
        channel = rows.channel[row, nodes[column]]
        parts.add(Panel("", channel, row, column, many, len(nodes)), margin, y, cell)
        top = y + many * cell + 6
    drawn = parts.drawn(traffic)
    discs = beside_squares(traffic, drawn, parts.words, (width, top))
    bars, said, line, top = _busiest(traffic, rows, top + 4, width)
    listed, names, below = named_below(traffic, top + 8, width)
    return Scene(
        width,
        top + 8 + below,
        (drawn,),
        (*parts.boxes, *line),
        (*parts.words, *said, *names),
        (*discs, *listed),
        cells=(bars,),
        marks=marked_squares(traffic, drawn),
        note=NOTE,
    )


def gray_order(sides: tuple[int, ...]) -> Ints:
    """Return the nodes of a cube so that neighbors differ by one in one coordinate.

    Examples
    --------
    >>> gray_order((2, 2, 2)).tolist(), gray_order((2, 3)).tolist()
    ([0, 1, 3, 2, 6, 7, 5, 4], [0, 1, 2, 5, 4, 3])
    """
    order = np.zeros(1, np.int64)
    for side in sides:
        turns = [
            np.arange(side) if at % 2 == 0 else np.arange(side)[::-1] for at in range(len(order))
        ]
        order = np.concatenate(
            [each * side + turn for each, turn in zip(order, turns, strict=True)]
        )
    return order


def _rows(cube: Cube) -> _Rows:
    """Return the directions: one of a dimension with two coordinates, else two."""
    names, rows = [], []
    for axis, side in enumerate(cube.sides):
        if side < 2:
            continue
        first, second = (int(base) for base in cube.line_base[axis])
        ways = [np.arange(first, second), np.arange(second, 2 * second - first)]
        if side == 2:
            ways = [np.concatenate(ways)]
        for channel, sign in zip(ways, "+−" if side > 2 else [""], strict=True):
            row = np.full(cube.num_routers, -1)
            row[cube.channel_source[channel]] = channel
            names.append(f"dimension {axis}{sign}")
            rows.append(row)
    return _Rows(names, np.array(rows))


def _busiest(
    traffic: Traffic, rows: _Rows, top: float, width: float
) -> tuple[Cells, list[Word], list[Box], float]:
    """Return the busiest channel of each direction as a bar with its load, and where they end.

    Bars are in proportion to the busiest channel of all pictures that are compared. Those of less
    than before go to the left of the line of no change, which is there only if one goes left.
    """
    margin = max(width_of(name) for name in rows.names) + 6
    time = []
    for row in rows.channel:
        known = row[row >= 0]
        known = known[~np.isnan(traffic.time[known])]
        last = known[np.argmax(traffic.weight[known])] if len(known) else None
        time.append(np.nan if last is None else float(traffic.time[last]))
    values = np.array(time)
    said = [traffic.amount_of(value) if value == value else "–" for value in time]
    long = max(min(width - margin - LABEL, 360.0), LABEL)
    left = -traffic.most if (values < 0).any() else 0.0
    a_unit = long / ((traffic.most if (values > 0).any() or not left else 0.0) - left or 1.0)
    zero = margin - a_unit * left
    wide = np.nan_to_num(a_unit * values)
    y = top + LINE + 2 + LINE * np.arange(len(time))
    places = np.stack(
        [zero + np.minimum(wide, 0), y + 2, np.abs(wide), np.full(len(y), BAR)], axis=1
    )
    words = [Word(0, top + LINE / 2, "busiest of each dimension", style="network-heading")]
    for at, (name, value) in enumerate(zip(rows.names, said, strict=True)):
        words.append(Word(margin - 6, y[at] + LINE / 2, name, "right"))
        words.append(Word(zero + max(float(wide[at]), 0.0) + 6, y[at] + LINE / 2, value))
    told = tuple(f"busiest of {name}" for name in rows.names)
    line = [Box(zero, y[0], 1.0, LINE * len(time), "network-bar")] if left else []
    return Cells(places, values, told), words, line, float(y[-1]) + LINE
