"""Networks as matrices of squares, one per channel, and those too large for that as means.

Larger tori have a raster for each direction and plane, and a key of three dimensions. A HyperX has
one of senders and receivers for each line and dimension. A cube of four dimensions and more, a
hypercube too, has its nodes from left to right in Gray order, and a row for each direction. Of
networks that are larger still there are means by row, plane or line, and all channels in falling
order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise, product
from math import degrees, prod
from typing import Literal, NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.base.words import counted
from netloom.drawing.names import LINE, width_of
from netloom.drawing.networks.scene import (
    DISC,
    Arrow,
    Box,
    Bundles,
    Cells,
    Channels,
    Disc,
    Scene,
    Word,
    as_squares,
    axes_of,
    beside_squares,
    column_words,
    last_of,
    marked_squares,
    named_below,
    ports,
    receives,
    row_words,
    squares_at,
    straight_points,
)
from netloom.drawing.networks.traffic import Traffic
from netloom.topology import Cube, Topology
from netloom.topology.core import HyperXShape

LEAST, LARGEST = 2.0, 24.0
"""Pixels of the smallest and of the largest square."""

GAP, SLIM = 8.0, 420.0
"""Pixels between panels, and of the narrowest picture, if there is room: it has a title."""

STRIP, BETWEEN = 10.0, 3.0
"""Pixels of a strip beside a panel, and between that and the panel."""

RASTER_TALL, COLUMN = 600.0, 500.0
"""Pixels of a picture from top to bottom, about. Of many lines twice as many below this width."""


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
    names
        What rows are called. Empty: nothing.
    numbered
        Whether columns are numbered, too.
    beside
        Whether headings stand at the left of their panels, and not above.
    strips
        What the strips at the right of panels and below them show of their rows and columns.
    """

    width: float
    tall: float
    note: str = ""
    names: Sequence[str] = ()
    numbered: bool = False
    beside: bool = False
    strips: Literal["", "mean", "most"] = ""

    @property
    def strip(self) -> float:
        """Pixels that strips need at a side of a panel."""
        return STRIP + BETWEEN if self.strips else 0.0

    def margin(self, bands: Sequence[Band]) -> float:
        """Return the pixels that words need at the left of panels."""
        names = max(map(width_of, self.names), default=-5.0) + 5
        headings = max((width_of(band.heading) for band in bands), default=0) + 8
        return names + (headings if self.beside else 0.0)

    def rows(self, band: Band, cell: float, room: float) -> list[list[tuple[float, Panel]]]:
        """Return the panels of a band with where they begin, line by line."""
        rows: list[list[tuple[float, Panel]]] = []
        left = room + 1
        for panel in band.panels:
            wide = max(panel.columns * cell + self.strip, width_of(panel.label))
            if not rows or left + wide > room:
                rows.append([])
                left = 0.0
            rows[-1].append((left, panel))
            left += wide + GAP
        return rows

    def cell(self, bands: Sequence[Band]) -> float:
        """Return the pixels of a square: as large as the picture has room for. 0: too small."""
        room = self.width - self.margin(bands)
        beyond = GAP + self.strip + (LINE if self.numbered and not self.beside else 0)
        for cell in np.arange(LARGEST, LEAST - 0.1, -0.25).tolist():
            rows = [row for band in bands for row in self.rows(band, cell, room)]
            wide = max(
                left + panel.columns * cell + self.strip for row in rows for left, panel in row
            )
            tall = sum(max(panel.rows for _, panel in row) * cell + beyond for row in rows)
            tall += LINE * (1 if self.beside else len(rows))
            whole = not self.beside or len(rows) == len(bands)
            if wide <= room and tall <= self.tall and whole:
                return float(cell)
        return LEAST if wide <= room and len(rows) < 60 else 0.0


def panels_scene(traffic: Traffic, bands: Sequence[Band], look: Look) -> Scene | None:
    """Return bands of panels as a scene. None if squares would be too small."""
    margin, cell = look.margin(bands), look.cell(bands)
    if cell < LEAST:
        return None
    boxes, words, cells, placed = [], [], [], []
    top = 0.0
    for band in bands:
        if band.heading and not look.beside:
            words.append(Word(0, top + LINE / 2, band.heading, style="network-heading"))
            top += LINE + 2
        rows = look.rows(band, cell, look.width - margin)
        for row in rows:
            y = top + (LINE if any(panel.label for _, panel in row) else 0.0)
            foot = y + max(panel.rows for _, panel in row) * cell
            top = foot + look.strip + GAP
            last = band is bands[-1] and row is rows[-1]
            numbered = look.numbered and (last or not look.beside)
            words += row_words(look.names, margin, y, cell)
            if look.beside:
                words.append(Word(0, (y + foot) / 2, band.heading))
            for left, panel in row:
                x = margin + left
                boxes.append(Box(x, y, panel.columns * cell, panel.rows * cell))
                placed.append(squares_at(x, y, panel.row, panel.column, cell))
                words += [Word(x, y - LINE / 2, panel.label)] if panel.label else []
                cells += [_strips(traffic, panel, x, y, cell, look.strips)] if look.strips else []
                if numbered:
                    numbers = [*map(str, range(panel.columns))]
                    words += column_words(numbers, x, top - GAP + LINE / 2 + 1, cell)
            top += LINE if numbered else 0.0
    channel = np.concatenate([panel.channel for band in bands for panel in band.panels])
    there = ~np.isnan(traffic.time[channel])
    drawn = as_squares(traffic, channel[there], np.concatenate(placed)[there])
    discs = beside_squares(traffic, drawn, words, (look.width, top))
    scene = Scene(0.0, top + 4, (drawn,), tuple(boxes), tuple(words), discs, note=look.note)
    scene = replace(scene, cells=tuple(cells), marks=marked_squares(traffic, drawn))
    scene = named_below(traffic, scene, look.width)
    right = [box.x + box.width + look.strip for box in boxes]
    right += [word.extent[1] for word in scene.words]
    return replace(scene, width=max(*right, min(look.width, SLIM)))


def _strips(traffic: Traffic, panel: Panel, x: float, y: float, cell: float, what: str) -> Cells:
    """Return what the rows of a panel come to at its right, and its columns below it."""
    places, time, words = [], [], []
    ends = x + panel.columns * cell + BETWEEN, y + panel.rows * cell + BETWEEN
    kinds = ("row", panel.row, panel.rows), ("column", panel.column, panel.columns)
    for kind, place, many in kinds:
        for each in range(many):
            values = traffic.time[panel.channel[place == each]]
            values = values[~np.isnan(values)]
            most = values[np.argsort(np.abs(values))][-1:]  # of changes without sign
            time.append(np.mean(values if what == "mean" else most) if len(values) else np.nan)
            words.append(f"{panel.label.split(' ')[0]}, {what} of {kind} {each}".removeprefix(", "))
            along, side = each * cell, max(cell - 0.5, 1.5)
            across = kind == "row"
            places.append(
                (ends[0], y + along, STRIP, side) if across else (x + along, ends[1], side, STRIP)
            )
    return Cells(np.array(places), np.array(time), tuple(words))


def _directions(cube: Cube) -> list[tuple[int, str, Ints]]:
    """Return the directions of a cube, the last dimension first: axis, name and channels."""
    axes = axes_of(cube)[::-1]
    few = len(axes) <= 3
    return [
        (
            axis,
            f"{'xyz'[place] if few else f'dimension {axis}'}{sign}",
            int(cube.line_base[axis, way]) + np.arange(int(cube.direction_channels[axis])),
        )
        for place, axis in enumerate(axes)
        for way, sign in enumerate("+−")
    ]


HEADS = {"x+": " →", "x−": " ←", "y+": " ↓", "y−": " ↑"}
"""Where the directions of a cube lead on its panels."""


def planes_scene(traffic: Traffic, width: float) -> Scene | None:
    """Return the scene of a cube of two or three dimensions: a raster a direction and plane.

    A square is the channel that leaves the node there in that direction. None where squares would
    be too small.
    """
    cube = traffic.topology.routers
    assert isinstance(cube, Cube)
    *across, rows, columns = [side for side in cube.sides if side > 1]
    planes = across[0] if across else 1
    bands = [Band(f"z = {plane}" if across else "", []) for plane in range(planes)]
    for _, name, channel in _directions(cube):
        at = np.unravel_index(cube.channel_source[channel], (planes, rows, columns))
        for plane, band in enumerate(bands):
            here = at[0] == plane
            label = "" if plane else name + HEADS.get(name, "")
            places = channel[here], at[1][here], at[2][here]
            band.panels.append(Panel(label, *places, rows, columns))
    node_at = "(z,y,x)" if across else "(y,x)"
    note = f"a square is the channel that leaves node {node_at}: row y, column x"
    note += "" if across else "; strips are means of rows and columns"
    names = [*map(str, range(rows))]
    look = Look(width, RASTER_TALL, note, names, numbered=True, beside=bool(across))
    look = look if across else replace(look, strips="mean")
    scene = panels_scene(traffic, bands, look)
    return _with_key(traffic, scene, width) if across and scene else scene


WIDE, HIGH = 170.0, 110.0
"""Pixels of the key, without its words."""

SLANT = np.array([[0.0, 1.0], [-0.5, 0.42], [1.0, 0.0]])
"""Steps along z, y and x: planes lie below each other, as the panels do."""

ASIDE = 560.0
"""Pixels of the narrowest picture that has its key beside the list of the busiest channels."""


def _with_key(traffic: Traffic, scene: Scene, width: float) -> Scene:
    """Return a scene of three dimensions with a key: its planes, and the busiest channel in them.

    It stands beside the names of the busiest channels, or below them.
    """
    cube = traffic.topology.routers
    assert isinstance(cube, Cube)
    between = [channel for channel in traffic.busiest if channel < cube.num_channels]
    if not between:
        return scene
    channel, number = between[0], traffic.busiest.index(between[0]) + 1
    axes = axes_of(cube)
    z, y, x = np.array(cube.sides, float)[axes] - 1
    top, left = scene.height + 4, 24.0
    if width >= ASIDE:
        top = scene.discs[-len(traffic.busiest)].y - LINE / 2
        left = min(scene.width, width) - WIDE - 40
    slanted = np.array([[z, y, x], [0, 0, 0], [z, y, 0], [0, 0, x]]) @ SLANT
    low, scale = slanted.min(axis=0), np.array([WIDE, HIGH]) / np.ptp(slanted, axis=0)

    def placed(points: object) -> Floats:
        return np.asarray([left, top + LINE] + scale * (np.asarray(points) @ SLANT - low))

    nodes = np.array([cube.channel_source[channel], cube.channel_target[channel]])
    start, end = np.stack(np.unravel_index(nodes, cube.sides), axis=1)[:, axes].astype(float)
    if np.abs(end - start).max() > 1:  # the way round: a stub that leaves the network
        end = start - 0.5 * np.sign(end - start)
    first, last = placed([start, end])
    way = (last - first) / max(float(np.hypot(*(last - first))), 1e-9)
    last = first + max(float(np.hypot(*(last - first))), 14.0) * way
    line = straight_points(first[None], last[None])
    hot = Channels(np.array([channel]), line, thinnest=3.0, again=True)
    corners = [(0, 0), (0, x), (y, x), (y, 0)]
    edges = [((0, *each), (z, *each)) for each in corners]  # between the outlines of planes
    for plane, (one, other) in product(range(int(z) + 1), pairwise([*corners, corners[0]])):
        edges.append(((plane, *one), (plane, *other)))
    outlines = straight_points(*(placed([edge[side] for edge in edges]) for side in (0, 1)))
    tips = placed([[0, 0, x], [0, y, 0], [z, y, 0], [0, 0, 0]])
    words = [
        Word(float(at) + aside, float(down), name, "center")
        for (at, down), aside, name in zip(tips, (10, -10, -10), "xyz", strict=False)
    ]
    named = "the busiest channel" if number == 1 else "the busiest between routers"
    words.append(
        Word(float(tips[1, 0]) - 14, float(tips[3, 1]) - LINE, named, style="network-heading")
    )
    middle = (first + last) / 2 + (DISC + 6) * np.array([-way[1], way[0]])
    arrow = Arrow(float(last[0]), float(last[1]), degrees(float(np.arctan2(way[0], -way[1]))))
    key = Scene(
        scene.width,
        top + LINE + HIGH + 2 * DISC + 6,
        (hot,),
        words=tuple(words),
        discs=(Disc(float(middle[0]), float(middle[1]), number),),
        bundles=(Bundles(outlines, np.full(len(edges), 1.0)),),
        arrows=(arrow,),
    )
    return key + scene  # whose discs end with the list


def hyperx_scene(traffic: Traffic, width: float) -> Scene | None:
    """Return the scene of a HyperX: a matrix of senders and receivers a line and dimension.

    Of several lanes the busiest is shown. None where squares would be too small.
    """
    shape = traffic.topology.family
    assert isinstance(shape, HyperXShape)
    routers, sides = traffic.topology.routers, shape.sides
    shown = traffic.between  # the busiest last
    source = routers.channel_source[shown].astype(np.int64)
    target = routers.channel_target[shown].astype(np.int64)
    bands = []
    for axis in reversed(range(len(sides))):
        side, stride = sides[axis], prod(sides[axis + 1 :])
        row, column = (end // stride % side for end in (source, target))
        mine = (source - row * stride == target - column * stride) & (source != target)
        line = source // (stride * side) * stride + source % stride
        keys = (line * side + row) * side + column
        channel, cells = last_of(keys[mine], shown[mine])
        rest = sides[:axis] + sides[axis + 1 :]
        panels = []
        for number in range(prod(rest)):
            here = cells // side**2 == number
            at = cells[here] // side % side, cells[here] % side
            where = [*map(str, np.unravel_index(number, rest))] if rest else []
            where.insert(axis, "·")  # a dot for the coordinate that differs
            panels.append(Panel(f"({','.join(where)})", channel[here], *at, side, side))
        lines = counted(len(panels), "line", ",")
        bands.append(Band(f"dimension {axis}: {lines} of {side}", panels))
    lanes = "; the busiest of the lanes" if shape.lanes > 1 else ""
    note = f"in each matrix rows send, columns receive, along the ·{lanes}"
    tall = RASTER_TALL if width > COLUMN else 2 * RASTER_TALL
    return panels_scene(traffic, bands, Look(width, tall, note))


NOTE = "a square is the channel that leaves a node along a dimension; nodes in Gray order"
STRIPS = "; strips: the busiest of each row and column"


def cube_scene(traffic: Traffic, width: float) -> Scene | None:
    """Return the scene of a cube: nodes from left to right in Gray order, a row per direction.

    Neighbors in a line of nodes differ in one coordinate. Beside the rows stands the busiest
    channel of each direction. None if squares would be too small.
    """
    cube = traffic.topology.routers
    assert isinstance(cube, Cube)
    names, row_of = [], np.empty(cube.num_channels, np.int64)
    order = gray_order(cube.sides)
    for axis, name, channel in sorted(_directions(cube), key=lambda each: each[0]):
        name = name if cube.sides[axis] > 2 else name[:-1]  # of two coordinates there is one way
        names += [name] if name not in names else []
        row_of[channel] = len(names) - 1
    place = np.argsort(order)[cube.channel_source]
    look = Look(width, RASTER_TALL, NOTE + STRIPS, names, strips="most")
    longs = [prod(cube.sides[axis:]) for axis in range(len(cube.sides))]

    def fits(long: int) -> float:
        """Return about how large squares are with so many nodes in a line."""
        tall = look.tall * long / cube.num_routers - LINE - GAP - look.strip
        return min((width - look.margin([]) - look.strip) / long, tall / len(names), LARGEST)

    long = max(longs, key=fits)  # those of one prefix
    bands = []
    for line, nodes in enumerate(order.reshape(-1, long)):
        places = np.stack(np.unravel_index(nodes, cube.sides)).tolist()
        alike = ["·" if len(set(each)) > 1 else str(each[0]) for each in places]
        channel = np.flatnonzero(place // long == line)
        at = row_of[channel], place[channel] % long
        panel = Panel(f"nodes ({','.join(alike)})", channel, *at, len(names), long)
        bands.append(Band("", [panel]))
    return panels_scene(traffic, bands, look)


def gray_order(sides: tuple[int, ...]) -> Ints:
    """Return the nodes of a cube so that neighbors differ by one in one coordinate.

    Examples
    --------
    >>> gray_order((2, 2, 2)).tolist(), gray_order((2, 3)).tolist()
    ([0, 1, 3, 2, 6, 7, 5, 4], [0, 1, 2, 5, 4, 3])
    """
    order = np.zeros(1, np.int64)
    for side in sides:
        turns = np.tile(np.arange(side), (len(order), 1))
        turns[1::2] = turns[1::2, ::-1]
        order = (order[:, None] * side + turns).ravel()
    return order


# -- channels of hosts -----------------------------------------------------------------------------


LEAST_PORT, LARGEST_PORT, TALL = 3.0, 14.0, 60.0
"""Pixels of a square at least and at most, and of all of one way from top to bottom, about."""


def with_hosts(traffic: Traffic, scene: Scene | None, width: float) -> Scene | None:
    """Return a scene with the channels of hosts as squares below it, by number, if any is known."""
    shown = np.sort(ports(traffic)[0]) if len(traffic.hosts) else traffic.hosts
    if scene is None or not len(shown):
        return scene
    into = receives(traffic, shown)
    most = max(into.sum(), (~into).sum())
    side = float(np.clip(np.sqrt(width * TALL / most), LEAST_PORT, LARGEST_PORT))
    a_line = max(int(width / side), 1)
    top, words, squares = scene.height + 8, [], []
    every = "" if len(shown) == len(traffic.hosts) else ", the busiest of each router"
    for way, said in enumerate(("hosts to routers", "routers to hosts")):
        row, column = np.divmod(np.arange((into == way).sum()), a_line)
        words.append(Word(0, top + LINE / 2, f"{said}{every}", style="network-heading"))
        top += LINE + 2
        squares.append(squares_at(0.0, top, row, column, side))
        top += side * (int(row.max(initial=-1)) + 1) + 6
    drawn = as_squares(traffic, shown, np.concatenate(squares))
    discs = beside_squares(traffic, drawn, words, (width, top))
    marks = marked_squares(traffic, drawn)
    hosts = Scene(scene.width, top, (drawn,), (), tuple(words), discs, marks=marks)
    return hosts + scene  # whose discs end with the list


# -- means and all in falling order ----------------------------------------------------------------


BARS, TALLEST = 100, 150.0
"""Bars of a profile, each a hundredth of the channels, and pixels of the highest."""

LEAST_CELL, LARGEST_CELL = 1.5, 26.0
"""Pixels of the sides of a mean."""

SHIFT, APART = 6.0, 10.0
"""Pixels from the ends of an axis to the middles of its numbers, and between what is not one."""


class Sums(NamedTuple):
    """Means of channels by two properties: a matrix.

    Attributes
    ----------
    heading
        What is shown.
    rows
        The names of rows.
    row, column
        int64[num_network_channels]; -1 for channels that are not in it.
    columns
        How many there are.
    what
        What a column is: ``row``, ``plane`` or the like.
    """

    heading: str
    rows: Sequence[str]
    row: Ints
    column: Ints
    columns: int
    what: str


def profile_scene(traffic: Traffic, width: float) -> Scene:
    """Return means by row, plane or line, if there are such, and all channels in falling order."""
    scene = Scene(width, 0.0)
    for sums in _sums(traffic.topology):
        scene += _matrix(traffic, sums, scene.height, width)
    scene += _profile(traffic, scene.height, min(width, 620.0))
    return named_below(traffic, scene, width)


def _sums(topology: Topology) -> list[Sums]:
    """Return the directions of a cube, or the dimensions of a HyperX, by each coordinate.

    It is that of the router that channels leave.
    """
    cube, family = topology.routers, topology.family
    if isinstance(family, HyperXShape):
        ends = topology.switch_of[[cube.channel_source, cube.channel_target]]
        at, to = (np.stack(np.unravel_index(each, family.sides)) for each in ends)
        row = np.where(ends[0] == ends[1], -1, np.argmax(at != to, axis=0))
        names = [f"dimension {axis}" for axis in range(len(family.sides))]
        what = [f"coordinate {axis}" for axis in range(len(family.sides))]
        return [
            Sums(f"mean of each dimension by {name}", names, row, column, side, name)
            for name, column, side in zip(what, at.astype(np.int64), family.sides, strict=True)
        ]
    if not isinstance(cube, Cube):
        return []
    row, directions = np.full(cube.num_channels, -1), _directions(cube)
    for place, (_, _, channel) in enumerate(directions):
        row[channel] = place
    names = [name for _, name, _ in directions]
    at = np.stack(np.unravel_index(cube.channel_source, cube.sides)).astype(np.int64)
    axes = axes_of(cube)
    kinds = ["column x", "row y", "plane z"][len(axes) - 1 :: -1]
    if len(axes) > 3:
        axes, kinds = axes[:1], [f"coordinate {axes[0]}"]
    return [
        Sums(f"mean of each direction by {kind}", names, row, at[axis], cube.sides[axis], kind)
        for axis, kind in zip(axes, kinds, strict=True)
    ]


def _matrix(traffic: Traffic, sums: Sums, top: float, width: float) -> Scene:
    """Return a matrix of means with its names."""
    many = len(sums.rows)
    margin = max(map(width_of, sums.rows)) + 8
    side = float(np.clip((width - margin) / sums.columns, LEAST_CELL, LARGEST_CELL))
    high = max(min(side, 20.0), 15.0)
    shown = traffic.between[sums.row[traffic.between] >= 0]
    key = sums.row[shown] * sums.columns + sums.column[shown]
    counts = np.bincount(key, minlength=many * sums.columns)
    total = np.bincount(key, traffic.time[shown], minlength=many * sums.columns)
    mean = np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
    row, column = np.divmod(np.arange(many * sums.columns), sums.columns)
    y = top + 2 * LINE + 4
    sizes = np.full((len(row), 2), [side - (0.5 if side > 3 else 0.0), high - 0.5])
    places = np.column_stack([margin + column * side, y + row * high, sizes])
    said = tuple(f"{name}, {sums.what} = {at}" for name in sums.rows for at in range(sums.columns))
    words = [Word(0, top + LINE / 2, sums.heading, style="network-heading")]
    words += row_words(sums.rows, margin, y, high)
    numbers = [*map(str, range(sums.columns))]
    words += column_words(numbers, margin, top + 1.5 * LINE + 3, side)
    cells = Cells(places, mean, said)
    return Scene(width, y + many * high + APART, words=tuple(words), cells=(cells,))


def _profile(traffic: Traffic, top: float, width: float) -> Scene:
    """Return all channels in falling order: bars, words, and the line that they stand on.

    Bars are in proportion to the busiest channel of all pictures that are compared. Changes go from
    the most that is added to the most that is taken away, which hangs below the line.
    """
    changed = traffic.shown == "change"
    falling = np.sort(traffic.time[traffic.between])[::-1]
    parts = np.array_split(falling, min(BARS, max(len(falling), 1)))
    mean = np.array([part.mean() if len(part) else np.nan for part in parts])
    most, last = traffic.amount_of(traffic.most), "0"
    if changed:
        last = traffic.amount_of(-traffic.most)
    margin = max(map(width_of, (most, last))) + 8
    step = (width - margin - width_of("100 %") / 2) / len(parts)
    head = top + LINE + 8
    zero = head + (TALLEST / 2 if changed else TALLEST)
    high = np.nan_to_num((zero - head) * mean / (traffic.most or 1.0))
    wide = np.full(len(parts), max(step - 0.4, 0.5))
    left = margin + step * np.arange(len(parts))
    places = np.stack([left, zero - np.maximum(high, 0), wide, np.abs(high)], axis=1)
    share = 100 / len(parts)
    order = "from more to less" if changed else "busiest first"
    said = tuple(
        f"{share * at:.3g} to {share * (at + 1):.3g} % of channels, {order}"
        for at in range(len(parts))
    )
    foot = head + TALLEST + 3
    words = [
        Word(0, top + LINE / 2, f"all {len(falling):,} channels, {order}", style="network-heading"),
        Word(margin - 6, head + SHIFT, most, "right"),
        Word(margin - 6, head + TALLEST - SHIFT, last, "right"),
    ]
    words += [Word(margin - 6, zero, "0", "right")] if changed else []
    words += [
        Word(margin + step * len(parts) * at / 100, foot + LINE / 2, f"{at} %", "center")
        for at in (0, 25, 50, 75, 100)
    ]
    line = Box(margin, zero, step * len(parts), 1.0, "network-bar")
    cells, height = Cells(places, mean, said), foot + LINE + APART
    return Scene(width, height, boxes=(line,), words=tuple(words), cells=(cells,))
