"""Networks as curves between their routers: grids, columns, and rings of groups.

In a grid of one or two dimensions nodes are dots, and each channel is a line between them. What is
far in the drawing, such as the way round a torus, is a stub with the far node's number.

Any other network has its routers in columns. A tree is unfolded: sending leaves, spines, receiving
leaves, from left to right, so that ways up and down never lie on each other, and names are
horizontal. Stages are columns, too, and any graph has its routers by their distance from the hosts.
Beside trees stand matrices: what goes up from each leaf or pod to each top router, and down again.

A dragonfly is a ring of groups, with global cables across it, and local ones as small matrices
round it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import ceil, degrees, pi, prod, sin
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints
from netloom.base.words import counted
from netloom.drawing.names import LINE, fitted, width_of, without_common
from netloom.drawing.networks.scene import (
    DISC,
    MOST_BLOCKS,
    RIM,
    Arrow,
    Box,
    Bundles,
    Channels,
    Scene,
    Word,
    as_squares,
    axes_of,
    column_words,
    discs_on,
    last_of,
    marked_squares,
    named_below,
    ports,
    receives,
    row_words,
    shares,
    squares_at,
    straight,
    straight_points,
)
from netloom.drawing.networks.traffic import Traffic
from netloom.topology import Cube, Topology
from netloom.topology.core import DragonflyShape, StagesShape, TreeShape

MOST_CURVES = 2500
"""Most channels that are drawn one by one. Of more, all but the hottest are merged, or left out."""

HOT = 0.7
"""Of the busiest channel's time: what is drawn by itself where channels are too many."""

MOST_HOT = 400
"""Most channels that are drawn where they are too many: the busiest."""


def _hottest(traffic: Traffic, channels: Ints) -> tuple[Ints, int]:
    """Return the busiest of channels that are too many, and how many are hot."""
    hot = channels[traffic.weight[channels] > max(HOT * traffic.most, traffic.mean)]
    return hot[-MOST_HOT:], len(hot)


# -- grids -----------------------------------------------------------------------------------------


MOST_SIDE, MOST_NODES = 16, 300
"""Nodes of a row or column at most, and of a line: of more, squares are easier to read."""

PITCH, LEAST_PITCH = 46.0, 20.0
"""Pixels from node to node at most, and at least in rows of a folded line."""

STUB, SIDE = 0.42, 0.12
"""Of the pitch: how long stubs are, and how far a channel is to the right of its direction."""

ASIDE = 8.0
"""Pixels between what stands beside each other at the edge of a grid."""

WAYS = {(-1, 0): "right", (1, 0): "left", (0, -1): "center", (0, 1): "center"}
"""The directions of stubs, and how what stands at their ends is aligned."""

SLIM, BELOW = 420.0, 24.0
"""Pixels of the narrowest picture with names, if there is room, and below it for discs."""


@dataclass(frozen=True, eq=False)
class _Grid:
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
    def row_names(self) -> list[str]:
        """What rows are called: by their number, or by their first node."""
        rows, step = int(self.place[:, 1].max()) + 1, self.columns if self.folded else 1
        return [str(row * step) for row in range(rows)] if rows > 1 else []

    def stubs(self, way: tuple[int, int]) -> Ints:
        """Return the stubs that leave in a direction."""
        return np.flatnonzero(self.far & (self.way == way).all(axis=1))

    def said(self, channel: int) -> str:
        """Return what stands at the end of a stub: the far node's column or row, or its number."""
        column, row = self.place[self.target[channel]].astype(int)
        right, down = self.way[channel]
        if down:
            return f"{'↓' if down > 0 else '↑'}{row}"
        number = self.target[channel] if self.folded else column
        return f"→{number}" if right > 0 else f"{number}←"

    def margins(self) -> list[float]:
        """Return pixels at the left, right, top and bottom of nodes, for numbers and stubs."""
        column = max(width_of(str(self.columns - 1), bold=True) / 2, 6.0)
        found = []
        for way in WAYS:
            stubs = self.stubs(way)
            words = max((width_of(self.said(each)) for each in stubs.tolist()), default=0.0)
            if way[1]:
                found.append(LINE + STUB * PITCH if len(stubs) else 6.0)
            else:
                found.append(words + STUB * PITCH + 4 if len(stubs) else column)
        names = [width_of(name, bold=True) + ASIDE for name in self.row_names]
        found[0] += max(names, default=0.0)
        found[2] += LINE + 2
        return found


def fits_grid(cube: Cube) -> bool:
    """Whether the channels of a network are drawn as lines."""
    sides = [side for side in cube.sides if side > 1]
    most = {1: MOST_NODES, 2: MOST_SIDE}.get(len(sides), 0)
    return bool(sides) and max(sides) <= most


def grid_scene(traffic: Traffic, width: float, *, named: bool = True) -> Scene:
    """Return the scene of a network of lines, at most ``width`` pixels wide.

    Without names it is one of many small pictures.
    """
    grid = _grid(traffic.topology, width)
    small = [14.0 if len(grid.stubs(way)) else 5.0 for way in WAYS]
    left, right, top, bottom = grid.margins() if named else small
    pitch = (width - left - right) / max(grid.columns - 1, 1)
    pitch = min(pitch, PITCH if named else width / 4)
    across = left + right + pitch * (grid.columns - 1)
    places = np.array([left, top]) + pitch * grid.place
    channel = traffic.between  # each is drawn on the right of its direction
    aside = max(SIDE * pitch, 2.2)
    way = grid.way[channel]
    start = places[grid.source[channel]] + aside * np.stack([-way[:, 1], way[:, 0]], axis=1)
    stub = min(STUB * max(pitch, 28), STUB * PITCH) if pitch > LEAST_PITCH / 2 else 8.0
    long = np.where(grid.far[channel], stub, pitch)[:, None]
    thick = float(np.clip(1.7 * aside, 2.5, 5.0))
    drawn = Channels(channel, straight_points(start, start + long * way), thickest=thick)
    middles = np.repeat(places[:, None, :], 4, axis=1)
    middles[:, 3, 0] += 0.1
    size = np.full(len(middles), float(np.clip(0.17 * pitch, 3.0, 7.0)))
    dots = Bundles(middles, size, style="network-rim", cap="round")  # the nodes
    tall = float(places[:, 1].max()) + bottom
    if not named:
        return Scene(across, tall, (drawn,), dots=(dots,))
    words = _numbers_of(grid, left, top, pitch) + _stub_words(grid, places, pitch)
    arrows, near = [], {}
    assert drawn.points is not None
    for busy in traffic.busiest:  # heads, and where discs may be beside them
        for first, *_, last in drawn.points[drawn.channel == busy]:  # none of a host's channel
            along = (last - first) / float(np.hypot(*(last - first)))
            x, y = last - min(0.28 * pitch, 11.0) * along
            turn = degrees(float(np.arctan2(along[0], -along[1])))
            arrows.append(Arrow(float(x), float(y), turn))
            off = np.outer([1.0, -1.6, 2.2, -2.8, 0.0], [-along[1], along[0]])
            near[busy] = first + 0.36 * (last - first) + (DISC + 3.0) * off
    discs = discs_on(traffic, (drawn,), words, near)
    wide = max(across, min(width, SLIM))
    note = "a node's number: its row's and its column's added; " if grid.folded else ""
    note += "lines lie right of their direction"
    note += ", stubs lead to the number at their end" if grid.far.any() else ""
    scene = Scene(wide, tall + BELOW, (drawn,), (), tuple(words), discs, note=note)
    return named_below(traffic, replace(scene, dots=(dots,), arrows=tuple(arrows)), wide)


def _grid(topology: Topology, width: float) -> _Grid:
    """Return where nodes are, and which way channels leave. Long lines are folded into rows."""
    cube = topology.routers
    assert isinstance(cube, Cube)
    sides = [side for side in cube.sides if side > 1]
    nodes = np.arange(cube.num_routers)
    down, across = np.divmod(nodes, sides[-1])
    if len(sides) == 1:
        fits = max(int(width / LEAST_PITCH) - 4, 4)
        down, across = np.divmod(nodes, ceil(len(nodes) / ceil(len(nodes) / fits)))
    place = np.stack([across, down], axis=1).astype(float)
    source, target = cube.channel_source.astype(np.int64), cube.channel_target.astype(np.int64)
    way = np.zeros((len(source), 2))
    steps = [(0, 1), (1, 0)][-len(sides) :]
    axes = axes_of(cube)
    for axis, step in zip(axes, steps, strict=True):
        first, second = (int(base) for base in cube.line_base[axis])
        way[first:second], way[second : 2 * second - first] = step, np.negative(step)
    far = (np.abs(place[target] - place[source] - way) > 1e-9).any(axis=1)
    return _Grid(place, way, far, source, target, len(sides) == 1 and bool(down.any()))


def _numbers_of(grid: _Grid, left: float, top: float, pitch: float) -> list[Word]:
    """Return the numbers of columns above the nodes, and of rows at their left."""
    every = max(1, ceil((width_of(str(grid.columns - 1), bold=True) + 4) / pitch))
    words = [
        Word(left + pitch * at, LINE / 2, str(at), "center", "network-heading")
        for at in range(0, grid.columns, every)
    ]
    names = grid.row_names
    right = max((width_of(name, bold=True) for name in names), default=0.0)
    every = max(1, ceil(LINE / pitch))
    return words + [
        Word(right, top + pitch * at, names[at], "right", "network-heading")
        for at in range(0, len(names), every)
    ]


def _stub_words(grid: _Grid, places: Floats, pitch: float) -> list[Word]:
    """Return where stubs lead, at their ends. Every second if there is no room, and so on."""
    words, aside = [], max(SIDE * pitch, 2.2)
    for (right, down), align in WAYS.items():
        stubs = grid.stubs((right, down))
        widest = max((width_of(grid.said(each)) for each in stubs.tolist()), default=0.0)
        every = max(1, ceil((LINE if right else widest + 4) / pitch))
        place = grid.place[grid.source[stubs]]
        away = STUB * PITCH + 3 + (LINE / 2 if down else 0)
        offset = right * away - down * aside, down * away + right * aside
        for each in stubs[np.lexsort((place[:, 0], place[:, 1]))][::every].tolist():
            x, y = places[grid.source[each]] + offset
            words.append(Word(float(x), float(y), grid.said(each), align))
    return words


# -- columns ---------------------------------------------------------------------------------------


MOST_GROUPS = 16
"""Groups of a column that bundles join, at most. Neighbours are taken together."""

LOWEST = 5.0
"""Pixels of the lowest boxes of routers that have groups. Else the groups have one each."""

BAR, NAMED, STEP = 5.0, 15.0, 19.0
"""Pixels: of the bar of an outer router. That a line of a name needs. From router to router."""

HEAD = 2 * LINE + 8
"""Pixels for the headings of columns."""


class Column(NamedTuple):
    """Routers above each other.

    Attributes
    ----------
    routers
        int64[n], from top to bottom.
    group
        int64[n], ascending: those of one group stand together.
    heading
        What they are, in a line or two.
    groups
        What the groups are called where there is no room for names of routers.
    """

    routers: Ints
    group: Ints
    heading: tuple[str, str]
    groups: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of a network, and where its channels run.

    Attributes
    ----------
    leaves, enters
        int64[num_network_channels], the columns that each channel leaves and enters. The same for
        channels within a column, which are drawn beside it.
    """

    columns: Sequence[Column]
    leaves: Ints
    enters: Ints


@dataclass(frozen=True, eq=False)
class _Placed:
    """Columns with their places.

    Attributes
    ----------
    left, width
        float64[columns].
    top, height
        float64[columns, routers]. NaN where a router is not in a column.
    rim
        Pixels at both sides for the channels of hosts, if there are any.
    """

    laid: Columns
    left: Floats
    width: Floats
    top: Floats
    height: Floats
    rim: float

    @property
    def middle(self) -> Floats:
        return self.top + self.height / 2


def columns_scene(traffic: Traffic, laid: Columns, width: float) -> Scene:
    """Return the scene of a network in columns, ``width`` pixels wide."""
    many = max(len(laid.columns[at].routers) for at in (0, -1))
    tall = float(np.clip(STEP * many, 230, 620))  # more for many routers, but not without end
    placed = _placed(traffic, laid, width, tall)
    shown, bundles, note = traffic.between, tuple[Bundles, ...](), ""
    if len(shown) > MOST_CURVES:
        bundles, note = (_bundles(traffic, placed),), "grey: bundles of cables"
        shown, hot = _hottest(traffic, shown)
        if hot:
            some = f"{len(shown):,} of {hot:,}" if len(shown) < hot else f"{hot:,}"
            note = f"colored: {some} above {100 * HOT:.0f} % of the busiest; {note}"
    base = _in_places(traffic, placed, shown, width)
    rim = _rim(traffic, placed)
    assert rim.points is not None  # numbers of hosts' channels: inside of their routers' bars
    inwards = np.stack([RIM / 2 + BAR + DISC + 22.0 * np.arange(3), np.zeros(3)], axis=1)
    turned = inwards * np.where(receives(traffic, rim.channel), -1.0, 1.0)[:, None, None]
    places = rim.points.mean(axis=1)[:, None] + turned
    inside = dict(zip(rim.channel.tolist(), places, strict=True))
    channels = (*base.channels, rim)
    discs = discs_on(traffic, channels, base.words, inside)
    base = replace(base, channels=channels, discs=discs, bundles=bundles, note=note)
    beside = width >= 560
    listed = named_below(traffic, base, 0.48 * width if beside else width)
    left, top = 0.0, listed.height + 8 * bool(traffic.busiest)
    if beside and traffic.busiest:
        left, top = 0.5 * width, base.height
    matrices = uplink_matrices(traffic, laid, left, top, width - left)
    if beside and not matrices.channels:
        listed = named_below(traffic, base, width)
    return listed + matrices


def every_curve(traffic: Traffic, laid: Columns, width: float, tall: float) -> tuple[Scene, Floats]:
    """Return a network in columns with all its channels, none merged, and where its routers are.

    Returns
    -------
    The scene, and float64[n, 5]: router, left, top, width and height, a row each time that a router
    is drawn.
    """
    placed = _placed(traffic, laid, width, tall)
    column = np.repeat(np.arange(len(laid.columns)), [len(each.routers) for each in laid.columns])
    router = np.concatenate([each.routers for each in laid.columns])
    at = column, router
    sides = placed.left[column], placed.top[at], placed.width[column], placed.height[at]
    return _in_places(traffic, placed, traffic.between, width), np.column_stack([router, *sides])


def _placed(traffic: Traffic, laid: Columns, width: float, tall: float) -> _Placed:
    """Return where the routers of each column are."""
    last, routers = len(laid.columns) - 1, traffic.topology.routers
    outer = (laid.columns[0], laid.columns[last])
    names = [[*_names(traffic, column.routers), *column.groups] for column in outer]
    most = max(0.19 * width, 78.0)
    short = [name for each in names for name in without_common(each, most - 12)]
    rim = RIM + 2 if len(traffic.hosts) else 0.0
    margin = 12 + max(map(width_of, short), default=0.0) + rim
    many = np.zeros((2, last + 1, routers.num_routers))  # the cables at both sides of each router
    np.add.at(many[0], (laid.leaves, routers.channel_source), 1)
    np.add.at(many[1], (laid.enters, routers.channel_target), 1)
    cables = np.maximum(many.max(axis=0), 1)
    at = np.arange(last + 1)
    rimmed = (at == 0) | (at == last)
    wide = np.where(rimmed, BAR, np.clip((width - 2 * margin) / (3.2 * max(last, 1)), 12, 84))
    middle = margin - BAR / 2 + (width - 2 * margin + BAR) * at / max(last, 1)
    top, height = np.full((2, last + 1, routers.num_routers), np.nan)
    for each, column, simple in zip(at, laid.columns, rimmed, strict=True):
        own = np.ones(len(column.routers)) if simple else cables[each][column.routers]
        found = _stacked(own, column.group, tall, 0.25 if simple else 0.2)
        top[each, column.routers], height[each, column.routers] = found
    return _Placed(laid, middle - wide / 2, wide, HEAD + top, height, rim)


def _names(traffic: Traffic, routers: Ints) -> list[str]:
    topology = traffic.topology
    return [topology.name_of(topology.router_vertex(each)) for each in routers.tolist()]


def _stacked(weights: Floats, group: Ints, tall: float, gap: float) -> tuple[Floats, Floats]:
    """Return tops and heights of boxes above each other, as high as their weights.

    ``gap`` is the share of all that lies between boxes. Between groups lies twice that of others.
    """
    many = len(weights)
    parts = np.where(np.diff(group) != 0, 2.0 if many < 200 else 6.0, 1.0)
    if (parts > 1).all():
        parts[:] = 1.0
    space = min(gap * tall, 12.0 * parts.sum()) if many > 1 else 0.0
    between = space * parts / max(parts.sum(), 1)
    heights = (tall - space) * weights / weights.sum()
    tops = np.append(0, np.cumsum(heights[:-1] + between))
    return tops, heights


def _in_places(traffic: Traffic, placed: _Placed, shown: Ints, width: float) -> Scene:
    """Return the curves of channels, with boxes and words: each has a slot at both its routers.

    Slots lie in the order of the other ends, so that cables do not cross where they end, and
    parallel ones stay side by side.
    """
    laid, left = placed.laid, placed.left
    start, end = (each[shown] for each in _slots(traffic, placed))
    curves = _bent(start, end)
    beside = laid.leaves[shown] == laid.enters[shown]
    bow = 14 + 0.25 * np.abs(end - start)[:, 1]
    room = left[1] - left[0] - placed.width[0] if len(left) > 1 else 80.0
    curves[beside, 1:3, 0] += np.minimum(bow, 0.6 * room)[beside, None]
    pitch = 0.75 * np.nansum(placed.height[0]) / max(len(shown) / 2, 1)
    drawn = Channels(shown, curves, thickest=float(np.clip(3 + pitch, 3.5, 6)))
    tall = float(np.nanmax(placed.top + placed.height))
    boxes = [box for at in range(len(left)) for box in _boxes(placed, at)]
    words = (*_headings(placed, width), *_router_names(traffic, placed, width))
    return Scene(width, tall + 12, (drawn,), tuple(boxes), words)


def _slots(traffic: Traffic, placed: _Placed) -> tuple[Floats, Floats]:
    """Return float64[num_network_channels, 2] twice: where each channel starts and ends."""
    laid, routers = placed.laid, traffic.topology.routers
    column = np.concatenate([laid.leaves, laid.enters])
    router = np.concatenate([routers.channel_source, routers.channel_target]).astype(np.int64)
    many = routers.num_channels
    starts, twin = np.repeat([True, False], many), np.tile(np.arange(many), 2)
    right = starts | (laid.leaves == laid.enters)[twin]
    edge = placed.left[column] + np.where(right, placed.width[column], 0.0)
    other = np.roll(placed.middle[column, router], many)
    side = 2 * column + right
    share, _ = shares(side * routers.num_routers + router, twin, other)
    down = placed.top[column, router] + placed.height[column, router] * share
    place = np.stack([edge, down], axis=1)
    return place[:many], place[many:]


def _bent(start: Floats, end: Floats) -> Floats:
    """Return float64[n, 4, 2], curves that leave and arrive horizontally."""
    step = np.stack([0.45 * (end[:, 0] - start[:, 0]), np.zeros(len(start))], axis=1)
    return np.stack([start, start + step, end - step, end], axis=1)


def _rim(traffic: Traffic, placed: _Placed) -> Channels:
    """Return the channels of hosts as short lines: those that send at the first column they meet.

    Those that receive are at the last one. Each has a slot of its own beside its router.
    """
    shown, router = ports(traffic)
    into = receives(traffic, shown)
    there = ~np.isnan(placed.top[:, router])
    column = np.where(into, len(there) - 1 - there[::-1].argmax(axis=0), there.argmax(axis=0))
    share, part = shares(2 * router + into, shown)
    edge = placed.left[column] + np.where(into, placed.width[column] + 1, -1 - RIM)
    height = placed.height[column, router]
    y = placed.top[column, router] + height * share
    start, end = (np.stack([edge + add, y], axis=1) for add in (0.0, RIM))
    return straight(shown, start, end, float((height * part).min(initial=4.0)))


def _bundles(traffic: Traffic, placed: _Placed) -> Bundles:
    """Return the cables of each pair of groups of neighbouring columns as one grey curve."""
    laid, routers, shown = placed.laid, traffic.topology.routers, traffic.between
    part = np.zeros(placed.top.shape, np.int64)
    middle = np.zeros((len(placed.left), MOST_GROUPS))
    for at, column in enumerate(laid.columns):
        _, group = np.unique(column.group, return_inverse=True)
        group = group if group.any() else np.arange(len(group))
        known = int(group.max(initial=0)) + 1  # neighbors are taken together until they are few
        group = group * min(known, MOST_GROUPS) // known
        part[at, column.routers] = group
        top = placed.top[at, column.routers]
        foot = top + placed.height[at, column.routers]
        for each in np.unique(group):
            middle[at, each] = (top[group == each].min() + foot[group == each].max()) / 2
    columns = laid.leaves[shown], laid.enters[shown]
    groups = (
        part[columns[0], routers.channel_source[shown]],
        part[columns[1], routers.channel_target[shown]],
    )
    keys = np.stack([columns[0], groups[0], columns[1], groups[1]])
    each, inverse, counts = np.unique(keys, axis=1, return_inverse=True, return_counts=True)
    start, end = (
        np.stack([placed.left[at] + wide * placed.width[at], middle[at, group]], axis=1)
        for at, group, wide in ((each[0], each[1], 1), (each[2], each[3], 0))
    )
    mean = np.bincount(inverse.ravel(), traffic.time[shown]) / counts
    words = tuple(
        f"{many:,} cables, {traffic.amount_of(float(time))} on average"
        for many, time in zip(counts, mean, strict=True)
    )
    thickest = np.clip(500 / len(counts), 1.5, 6)  # of many together the paper must be seen
    return Bundles(_bent(start, end), 1 + (thickest - 1) * np.sqrt(counts / counts.max()), words)


def _boxes(placed: _Placed, at: int) -> list[Box]:
    """Return the boxes of a column: those of groups where routers are too low to be told apart."""
    column, left, width = placed.laid.columns[at], float(placed.left[at]), float(placed.width[at])
    style = "network-bar" if width == BAR else "network-box"
    top, height = placed.top[at, column.routers], placed.height[at, column.routers]
    part = column.group
    if height.min() >= LOWEST or part[0] == part[-1]:
        part = np.arange(len(part))
    first = np.flatnonzero(np.append(True, np.diff(part) != 0))
    last = np.append(first[1:], len(part)) - 1
    high = top[last] + height[last] - top[first]
    return [
        Box(left, y, width, tall, style)
        for y, tall in zip(top[first].tolist(), high.tolist(), strict=True)
    ]


def _router_names(traffic: Traffic, placed: _Placed, width: float) -> list[Word]:
    """Return the names of outer routers beside them, and of inner ones inside, if they fit.

    If outer routers are too many, their groups have names.
    """
    words, last = [], len(placed.left) - 1
    for at, column in enumerate(placed.laid.columns):
        names = _names(traffic, column.routers)
        middles, left = placed.middle[at, column.routers], float(placed.left[at])
        if 0 < at < last:
            shown = without_common(names, float(placed.width[at]) - 6)
            low = np.nanmin(placed.height[at]) < NAMED
            x, align = left + float(placed.width[at]) / 2, "center"
            if low or any("…" in name for name in shown):
                continue
        else:
            if len(middles) > 1 and np.diff(middles).min() < NAMED and column.groups:
                groups = [column.group == group for group in np.unique(column.group)]
                middles = np.array([middles[group].mean() for group in groups])
                names = [*column.groups]
            clear = (by for by in range(1, len(middles)) if np.diff(middles[::by]).min() >= NAMED)
            every = next(clear, max(len(middles), 1))  # second or further name has room
            align = "left" if at else "right"
            x = left + (BAR + 6 + placed.rim if at else -6 - placed.rim)
            middles = middles[::every]
            shown = without_common(names[::every], width - x if at else x)
        words += [Word(x, y, said, align) for y, said in zip(middles.tolist(), shown, strict=True)]
    return words


def _headings(placed: _Placed, width: float) -> list[Word]:
    """Return what the columns are, above them. What has no room beside the others is left out."""
    last, words = len(placed.left) - 1, []
    order = sorted(range(last + 1), key=lambda at: (0 < at < last, abs(2 * at - last)))
    for line, style in enumerate(("network-heading", "network-name")):
        above: list[Word] = []
        for at in order:
            text = placed.laid.columns[at].heading[line]
            x, align = float(placed.left[at] + placed.width[at] / 2), "center"
            if at in (0, last):
                x, align = (width, "right") if at else (0.0, "left")
            word = Word(x, (line + 0.5) * LINE, text, align, style)
            left, right, _, _ = word.extent
            clear = all(
                right + 8 < other.extent[0] or other.extent[1] + 8 < left for other in above
            )
            above += [word] if text and clear else []
        words += above
    return words


SPREAD = 0.15
"""Of all routers: how far apart the middles of what they are joined to order those of a level."""


def in_columns(topology: Topology) -> Columns:
    """Return the columns of a network.

    A tree has its levels up to the top, and those down again. A butterfly has its stages. Any other
    graph the routers with hosts first, then those that are one hop from them, and so on. If routers
    of the last level are joined, it is there twice, as sender and receiver.

    Examples
    --------
    >>> from netloom.topology import topology
    >>> [len(column.routers) for column in in_columns(topology("leaf-spine:8x4x8")).columns]
    [8, 4, 8]
    """
    family = topology.family
    if isinstance(family, StagesShape):
        many = topology.num_routers // family.stages
        stage = np.arange(topology.num_routers) // many
        none, said = np.zeros(many, np.int64), counted(many, "router", ",")
        stages = [
            Column(np.flatnonzero(stage == at), none, (f"stage {at}", said))
            for at in range(family.stages)
        ]
        ends = topology.routers.channel_source, topology.routers.channel_target
        return Columns(stages, *(stage[each] for each in ends))
    if isinstance(family, TreeShape):
        return _unfolded(topology, _tree_levels(topology, family))
    return _unfolded(topology, _by_distance(topology))


def _tree_levels(topology: Topology, shape: TreeShape) -> list[Column]:
    """Return the levels of a tree, pods together, below its top. Planes together at the top."""
    columns, first = [], 0
    place = np.arange(topology.num_routers) if shape.router_at is None else shape.router_at
    hosts = _hosts_at(topology)
    for level in range(1, shape.levels + 1):
        many = shape.width(level)
        number = np.arange(many)
        if level < shape.levels:
            group = number // (many // shape.children[-1])
        else:
            group = number % prod(shape.parents[:-1])
            number = np.argsort(group, kind="stable")
            group = group[number]
        if shape.levels == 2:
            group = np.zeros(many, np.int64)
        routers = np.asarray(place[first + number], np.int64)
        at = level - (shape.sharing > 1)
        heading = f"level {at}" if at else "cards", counted(many, "router", ",")
        names: tuple[str, ...] = ()
        if shape.levels == 2:
            heading = _two_levels(many, level - 1, _hosts(hosts[routers]))
        elif level < shape.levels:
            pods = len(np.unique(group))
            names = tuple(f"pod {pod}" for pod in range(pods))
            if level == 1:
                served = _hosts(hosts[routers][group == 0])
                heading = heading[0], f"{counted(pods, 'pod')} of {served}"
        columns.append(Column(routers, group, heading, names))
        first += many
    inner = np.flatnonzero(topology.inner_part >= 0)
    if len(inner):
        routers, group, heading, names = columns[0]
        apart = np.full(len(inner), group.max() + 1)
        names = (*names, "inside") if names else names
        both = np.append(routers, inner), np.append(group, apart)
        columns[0] = Column(*both, heading, names)
    return columns


def _hosts(hosts: Ints) -> str:
    return counted(int(hosts.sum()), "host", ",")


def _hosts_at(topology: Topology) -> Ints:
    """Return int64[num_routers], the host ports of each router."""
    ports = np.concatenate([topology.injection_router, topology.ejection_router])
    return (np.bincount(ports, minlength=topology.num_routers) + 1) // 2


def _by_distance(topology: Topology) -> list[Column]:
    """Return the routers by their hops from the next host, near those that they are joined to."""
    routers = topology.routers
    hosts = _hosts_at(topology)
    level = np.where(hosts > 0, 0, -1)
    source, target = routers.channel_source, routers.channel_target
    reached = 0
    while (level == reached).any():
        for here, there in ((source, target), (target, source)):
            level[there[(level[here] == reached) & (level[there] < 0)]] = reached + 1
        reached += 1
    level[level < 0] = max(reached - 1, 0)
    place = np.arange(len(level), dtype=np.float64)
    columns = []
    for each in range(int(level.max(initial=0)) + 1):
        mine = np.flatnonzero(level == each)
        if each:
            below = (level[source] == each) & (level[target] == each - 1)
            total = np.bincount(source[below], place[target[below]], minlength=len(level))
            many = np.bincount(source[below], minlength=len(level))
            centre = np.where(many > 0, total / np.maximum(many, 1), place)
            if np.ptp(centre[mine]) > SPREAD * len(level):  # else they are joined to all alike
                mine = mine[np.argsort(centre[mine], kind="stable")]
            place[mine] = (np.arange(len(mine)) + 0.5) * len(level) / len(mine)
        two = reached == 2 and not (level[source] == level[target]).any()
        served = f"{counted(each, 'hop')} from hosts" if each else _hosts(hosts[mine])
        heading = counted(len(mine), "router", ","), served
        if topology.direct:
            heading = counted(len(mine), "node", ","), ""
        elif two:
            heading = _two_levels(len(mine), each, served)
        columns.append(Column(mine, np.zeros(len(mine), np.int64), heading))
    return columns


def _two_levels(many: int, level: int, served: str) -> tuple[str, str]:
    if level:
        return counted(many, "spine", ","), ""
    return "1 leaf" if many == 1 else f"{many:,} leaves", served


def _unfolded(topology: Topology, levels: Sequence[Column]) -> Columns:
    """Return levels as columns, up to the top and down again."""
    routers = topology.routers
    level = np.zeros(topology.num_routers, np.int64)
    for at, column in enumerate(levels):
        level[column.routers] = at
    top = len(levels) - 1
    here, there = level[routers.channel_source], level[routers.channel_target]
    across = (here == top) & (there == top)
    middle = 2 if across.any() or top == 0 else 1
    last = 2 * top + middle - 1
    falling = here > there
    columns = [*levels, *reversed(levels[: top + middle - 1])]
    for end, verb in ((0, "send"), (-1, "receive")):
        what, many = columns[end].heading
        columns[end] = columns[end]._replace(heading=(f"{what} {verb}", many))
    leaves = np.where(falling, last - here, here)
    enters = np.where(falling | across, last - there, there)
    return Columns(columns, leaves, enters)


LEAST, LARGEST = 3.0, 16.0
"""Pixels of a square of a tree's matrices."""

TALL, LONGEST = 220.0, 76.0
"""Pixels of a matrix from top to bottom, and beside it for names, at most."""


def uplink_matrices(traffic: Traffic, laid: Columns, left: float, top: float, room: float) -> Scene:
    """Return the matrices of a tree, each at most ``room`` / 2 wide. Perhaps none.

    Rows are leaves, or pods of trees of more levels. Columns are the top routers. A square is the
    busiest channel between them. Neighbors share one if they are too many.
    """
    none = Scene(0.0, 0.0)
    if not isinstance(traffic.topology.family, TreeShape) or len(laid.columns) < 3:
        return none
    at = len(laid.columns) // 2
    below, tops = laid.columns[at - 1], laid.columns[at]
    linked = traffic.topology.inner_part[below.routers] < 0
    below = below._replace(routers=below.routers[linked], group=below.group[linked])
    pods = len(np.unique(below.group)) > 1
    many = int(below.group.max()) + 1 if pods else len(below.routers)
    a_row, a_column = -(-many // MOST_BLOCKS), -(-len(tops.routers) // MOST_BLOCKS)
    rows, columns = -(-many // a_row), -(-len(tops.routers) // a_column)
    row_of, column_of = np.full((2, traffic.topology.num_routers), -1)
    row_of[below.routers] = (below.group if pods else np.arange(many)) // a_row
    column_of[tops.routers] = np.arange(len(tops.routers)) // a_column
    names = [f"pod {row * a_row}" for row in range(rows)]
    names = names if pods else without_common(_names(traffic, below.routers)[::a_row], LONGEST)
    margin = max(map(width_of, names), default=0.0) + 7
    aside = (room / 2 - 14 - margin) / columns >= LEAST
    fits = (room / 2 if aside else room) - margin - 14
    cell = min((fits if aside else fits + 14) / columns, TALL / rows, LARGEST)
    if cell < LEAST or min(rows, columns) < 2:
        return none
    routers = traffic.topology.routers
    ends = routers.channel_source.astype(np.int64), routers.channel_target.astype(np.int64)
    who = ("pods", "top routers") if pods else ("leaves", "spines")
    first_and_last = without_common(_names(traffic, tops.routers[[0, -1]]), LONGEST)
    across = fitted(" to ".join(first_and_last), fits)
    head, y = 2 * LINE + 4, top
    channels, squares, boxes, words = [], [], [], []
    for place, here in enumerate((laid.enters == at, laid.leaves == at)):
        x = left + margin + (place * room / 2 if aside else 0.0)
        y = top + head + (0.0 if aside else place * (rows * cell + head + 10))
        lower, upper = ends[place], ends[1 - place]
        shown = traffic.between[here[traffic.between]]  # the busiest last
        channel, cells = last_of(row_of[lower[shown]] * columns + column_of[upper[shown]], shown)
        channels.append(channel)
        squares.append(squares_at(x, y, cells // columns, cells % columns, cell))
        boxes.append(Box(x, y, columns * cell, rows * cell))
        heading = " → ".join(who[:: 1 - 2 * place])
        words.append(Word(x - margin, y - head + LINE / 2, heading, style="network-heading"))
        words += [*row_words(names, x, y, cell), Word(x, y - head + 1.5 * LINE, across)]
    drawn = as_squares(traffic, np.concatenate(channels), np.concatenate(squares), again=True)
    return Scene(room, y + rows * cell + 4, (drawn,), tuple(boxes), tuple(words))


# -- rings of groups -------------------------------------------------------------------------------


MOST_CELLS, LEAST_CELL = 6000, 2.0
"""Most local channels that have a square of their own, and pixels of the smallest."""

TOP, NUMBERS, ARC, HOSTS, SPARE = 2.0 * LINE, 26.0, 4.0, 5.0, 0.12
"""Pixels for headings, numbers of groups, arcs and hosts' lines. The share between groups."""


@dataclass(frozen=True, eq=False)
class _Ring:
    """Where a ring is, and what is round it.

    Attributes
    ----------
    x, y, radius
        Of the rim.
    square, away
        Pixels of the matrix of a group, 0 where there is no room for them, and how far from the
        middle of the ring their middles are.
    """

    shape: DragonflyShape
    x: float
    y: float
    radius: float
    square: float
    away: float

    @classmethod
    def within(cls, shape: DragonflyShape, across: float, least: float) -> _Ring:
        """Return the ring that fits into a square of ``across`` pixels.

        It has matrices of local channels if their squares have ``least`` pixels. 0: always.
        """
        part = 0.66 * 2 * sin(pi / max(shape.groups, 3))  # of the distance from the middle
        away = across / 2 / (1 + 0.5 * part)
        square = min(part * away, 0.13 * across)
        away = (across - square) / 2
        cells = shape.groups * shape.routers * (shape.routers - 1)
        if least and (square < least * shape.routers or cells > MOST_CELLS):
            square, away = 0.0, across / 2
        radius = away - 0.6 * square - NUMBERS
        return cls(shape, across / 2, TOP + across / 2, radius, square, away)

    def angle(self, group: Floats) -> Floats:
        """Return where a place on the rim is, counted in groups: radians from the top."""
        return 2 * pi * group / self.shape.groups - pi / 2

    def at(self, angle: Floats, radius: Floats | float) -> Floats:
        """Return float64[n, 2], the points at some angles and distances from the middle."""
        x, y = self.x + radius * np.cos(angle), self.y + radius * np.sin(angle)
        return np.stack([x, y], axis=-1)

    def slot(self, router: Ints, share: Floats | float) -> Floats:
        """Return where a part of a router's arc is, 0 … 1, counted in groups."""
        group, number = np.divmod(router, self.shape.routers)
        return group + ((number + share) / self.shape.routers - 0.5) * (1 - SPARE)

    def arcs(self, start: Floats, end: Floats) -> Floats:
        """Return float64[n, 4, 2], arcs of the rim between places that are counted in groups."""
        ends = [self.angle(each) for each in (start, end)]
        reach = 4 / 3 * np.tan((ends[1] - ends[0]) / 4) * self.radius
        first, last = (self.at(each, self.radius) for each in ends)
        along = [np.stack([-np.sin(each), np.cos(each)], axis=1) * reach[:, None] for each in ends]
        return np.stack([first, first + along[0], last - along[1], last], axis=1)


def ring_scene(traffic: Traffic, width: float) -> Scene:
    """Return the scene of a dragonfly: its ring, and beside or below it a group × group matrix.

    Every global cable has a slot of its own on the rim, at its router. In a matrix a row sends and
    a column receives.
    """
    shape, routers = traffic.topology.family, traffic.topology.routers
    assert isinstance(shape, DragonflyShape)
    beside = width >= 560
    across = 0.64 * width if beside else width
    ring = _Ring.within(shape, across, LEAST_CELL)
    base = _on_ring(traffic, ring)
    (chords, local), note = base.channels, ""
    if len(chords.channel) > MOST_CURVES:
        assert chords.points is not None
        hot, _ = _hottest(traffic, chords.channel)
        chords = replace(
            chords, channel=hot, points=chords.points[len(chords.channel) - len(hot) :]
        )
        note = f"global cables above {100 * HOT:.0f} % of the busiest channel only"
    left, top = (across + 30, TOP) if beside else (0.0, 2 * TOP + across + 16)
    group = traffic.topology.switch_of[[routers.channel_source, routers.channel_target]]
    group //= shape.routers
    matrix = _groups(traffic, group, left, top, width - left)
    words = base.words + matrix.words
    inner = [each for each in traffic.busiest if each in set(local.channel.tolist())]
    places = {each: _by_number(ring, int(group[0, each])) for each in inner}
    ended, router = ports(traffic)  # short lines outside the rim, of each router senders first
    share, part = shares(router, ended)
    at = ring.angle(ring.slot(router, 0.06 + 0.88 * share))
    first = ring.radius + ARC / 2 + 1
    slot = 2 * pi * ring.radius * (1 - SPARE) / (shape.groups * shape.routers)
    pitch = float(slot * part.min(initial=1.0))
    hosts = straight(ended, ring.at(at, first), ring.at(at, first + HOSTS), pitch)
    discs = discs_on(traffic, (chords, hosts), words, places)
    found = replace(
        base,
        channels=(chords, local, hosts),
        discs=discs,
        bundles=() if not ring.square and len(local.channel) else base.bundles,
        marks=marked_squares(traffic, local) if ring.square else (),
        note=note,
    )
    return named_below(traffic, found + matrix, width, matrix.height + 16, left)


def every_chord(traffic: Traffic, across: float) -> Scene:
    """Return a dragonfly's ring with all its channels, however small, and no matrix beside it."""
    shape = traffic.topology.family
    assert isinstance(shape, DragonflyShape)
    return _on_ring(traffic, _Ring.within(shape, across, least=0.0))


def _on_ring(traffic: Traffic, ring: _Ring) -> Scene:
    """Return a ring with all its channels: chords, and squares or arcs of groups."""
    shape, routers = ring.shape, traffic.topology.routers
    shown = traffic.between
    ends = np.stack([routers.channel_source[shown], routers.channel_target[shown]])
    far = np.ptp(ends.astype(np.int64) // shape.routers, axis=0) > 0
    words = [Word(0, LINE / 2, f"{shape.groups} groups", style="network-heading")]
    if not far.all():
        said = "arcs: routers; squares: router to router"
        said = said if ring.square else "rim: busiest within the group"
        words.append(Word(0, 1.5 * LINE, said))
    room = 2 * pi * (ring.radius + NUMBERS / 2) / shape.groups  # as many numbers as have room
    every = max(1, int(np.ceil((width_of(str(shape.groups - 1)) + 6) / room)))
    while every > 1 and shape.groups % every and 0 < shape.groups % every < every / 2:
        every += 1
    numbers = np.arange(0, shape.groups - (every - 1 if every > 1 else 0), every)
    at = ring.at(ring.angle(numbers.astype(np.float64)), ring.radius + NUMBERS / 2)
    words += [
        Word(float(x), float(y), str(group), "center")
        for group, (x, y) in zip(numbers.tolist(), at, strict=True)
    ]
    each, side = np.arange(shape.groups * shape.routers), ring.square
    arcs = ring.arcs(ring.slot(each, 0.06), ring.slot(each, 0.94))
    middles = ring.at(ring.angle(np.arange(shape.groups, dtype=np.float64)), ring.away)
    frames = [Box(float(x - side / 2), float(y - side / 2), side, side) for x, y in middles]
    channels = (_chords(traffic, ring, shown[far]), _local(traffic, ring, shown[~far], middles))
    rim, boxes = Bundles(arcs, np.full(len(each), ARC), style="network-rim"), tuple(frames)
    size = 2 * ring.x, TOP + 2 * ring.x
    return Scene(*size, channels, boxes if side else (), tuple(words), bundles=(rim,))


def _chords(traffic: Traffic, ring: _Ring, channels: Ints) -> Channels:
    """Return global cables as curves across the ring. Neighbors bow little.

    In a group slots go by router. In a router by the group that they lead to, so that neighbours
    are joined by short ways. The two directions of a cable lie beside each other.
    """
    shape, routers = ring.shape, traffic.topology.routers
    ends = np.stack([routers.channel_source[channels], routers.channel_target[channels]])
    own = ends.ravel().astype(np.int64)
    group, other = own // shape.routers, ends[::-1].ravel() // shape.routers
    direction = np.repeat([0, 1], len(channels)) ^ (group > other)
    share, _ = shares(own, np.tile(channels, 2), direction, (group - other) % shape.groups)
    angle = ring.angle(ring.slot(own, share)).reshape(2, -1)
    apart = np.abs(np.angle(np.exp(1j * (angle[1] - angle[0])))) / pi
    pulled = ring.radius * (0.75 - 0.7 * apart)
    rim = ring.radius - ARC
    turns = ((angle[0], rim), (angle[0], pulled), (angle[1], pulled), (angle[1], rim))
    points = np.stack([ring.at(turn, away) for turn, away in turns], axis=1)
    return Channels(channels, points, thickest=4.0)


def _local(traffic: Traffic, ring: _Ring, channels: Ints, middles: Floats) -> Channels:
    """Return the local channels as squares of router × router matrices, the sender's row.

    If there is no room, the rim of each group is its busiest local channel.
    """
    routers, size = traffic.topology.routers, ring.shape.routers
    group, row = np.divmod(routers.channel_source[channels], size)
    if not ring.square:
        busiest, some = last_of(group, channels)  # the busiest last
        order = np.argsort(traffic.weight[busiest], kind="stable")
        at, half = some[order].astype(np.float64), (1 - SPARE) / 2
        arcs = ring.arcs(at - half, at + half)
        return Channels(busiest[order], arcs, thinnest=ARC, thickest=2 * ARC)
    left, top = (middles[group] - ring.square / 2).T
    column = routers.channel_target[channels] % size
    squares = squares_at(left, top, row, column, ring.square / size)
    return Channels(channels, squares=squares)


def _by_number(ring: _Ring, group: int) -> Floats:
    """Return places round the number of a group, for the disc of a local channel."""
    turn = 21 / (2 * pi * ring.radius) * ring.shape.groups
    angles = ring.angle(group + turn * np.array([1.0, -1.0, 1.6, -1.6, 0.0, 0.0]))
    away = ring.radius + np.array([1, 1, 1, 1, -2.2, -5.6]) * NUMBERS / 2
    near = ring.at(angles, away)
    if not ring.square:
        return near
    between = ring.at(ring.angle(group + np.array([0.5, -0.5])), ring.away)  # two matrices
    return np.concatenate([near[:4], between, near[4:]])


def _groups(traffic: Traffic, group: Ints, left: float, top: float, room: float) -> Scene:
    """Return the group × group matrix: the busiest channel from a group to another."""
    assert isinstance(traffic.topology.family, DragonflyShape)
    groups = traffic.topology.family.groups
    per = -(-groups // MOST_BLOCKS)
    names = [str(each) for each in range(0, groups, per)]
    shown = traffic.between[np.ptp(group[:, traffic.between], axis=0) > 0]
    channels, cells = last_of(group[0][shown] // per * len(names) + group[1][shown] // per, shown)
    number = width_of(str(groups - 1))
    x, y = left + number + 8, top + LINE + 4
    cell = (min(room, 330.0) - number - 8 - number / 2) / len(names)
    squares = squares_at(x, y, cells // len(names), cells % len(names), cell)
    words = row_words(names, x, y, cell) + column_words(names, x, y - 9, cell)
    what = "busiest from group to group"
    words.append(Word(left, top - 1.5 * LINE, what, style="network-heading"))
    words.append(Word(left, top - LINE / 2, "rows send, columns receive"))
    drawn = as_squares(traffic, channels, squares, again=True)
    return Scene(left + room, y + len(names) * cell, (drawn,), words=tuple(words))
