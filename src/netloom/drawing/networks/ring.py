"""Dragonflies as a ring of groups, and networks too large to draw by channel.

A dragonfly has its global cables across the ring, and its local ones as small matrices round it.
Networks that are too large have means by part, and all channels in falling order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi, sin
from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.drawing.names import LINE, width_of
from netloom.drawing.networks.scene import (
    MOST_BLOCKS,
    Box,
    Bundles,
    Cells,
    Channels,
    Scene,
    Word,
    as_squares,
    column_words,
    discs_on,
    last_of,
    marked_squares,
    named_below,
    ports,
    row_words,
    shares,
    squares_at,
    straight,
)
from netloom.drawing.networks.traffic import Traffic
from netloom.topology import Cube
from netloom.topology.core import DragonflyShape, HyperXShape

# -- profiles of large networks --------------------------------------------------------------------


BARS = 100
"""Bars of a profile: each has a hundredth of the channels."""

TALL = 150.0
"""Pixels of the highest bar."""

LEAST, LARGEST = 1.5, 26.0
"""Pixels of the sides of a cell."""

SHIFT = 6.0
"""Pixels from the ends of an axis to the middles of its numbers."""

GAP = 10.0
"""Pixels between what is not one thing."""


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
    rows: tuple[str, ...]
    row: Ints
    column: Ints
    columns: int
    what: str


def profile_scene(traffic: Traffic, width: float) -> Scene:
    """Return means by row, plane or line, if there are such, and all channels in falling order."""
    cells: list[Cells] = []
    words: list[Word] = []
    top = 0.0
    routers, family = traffic.topology.routers, traffic.topology.family
    every = _of_hyperx(traffic, family) if isinstance(family, HyperXShape) else []
    for sums in _of_cube(routers) if isinstance(routers, Cube) else every:
        part, said, top = _matrix(traffic, sums, top, width)
        cells.append(part)
        words += said
        top += GAP
    bars, said, box, top = _profile(traffic, top, min(width, 620.0))
    listed, names, below = named_below(traffic, top + GAP, width)
    none = Channels(np.zeros(0, np.int64), squares=np.zeros((0, 3)))
    return Scene(
        width, top + GAP + below, (none,), (box,), (*words, *said, *names), tuple(listed),
        cells=(*cells, bars),
    )  # fmt: skip


def _of_cube(cube: Cube) -> list[Sums]:
    """Return the directions of a cube, by each coordinate of the node that channels leave."""
    axes = [axis for axis, side in enumerate(cube.sides) if side > 1]
    few = len(axes) <= 3
    called = dict(zip(reversed(axes), "xyz", strict=False)) if few else {a: str(a) for a in axes}
    row = np.full(cube.num_channels, -1)
    names: list[str] = []
    for axis in reversed(axes):
        first, second = (int(base) for base in cube.line_base[axis])
        for base, sign in ((first, "+"), (second, "−")):
            row[base : base + second - first] = len(names)
            names.append(f"{'' if few else 'dimension '}{called[axis]}{sign}")
    kinds = ("column", "row", "plane") if few else ()
    found = []
    for place, axis in enumerate(axes[::-1]):
        at = cube.channel_source.astype(np.int64) // cube.strides[axis] % cube.sides[axis]
        what = f"{kinds[place]} {called[axis]}" if few else f"coordinate {called[axis]}"
        head = f"mean of each direction by {what}"
        found.append(Sums(head, tuple(names), row, at, cube.sides[axis], what))
    return found[::-1] if few else found[-1:]


def _of_hyperx(traffic: Traffic, shape: HyperXShape) -> list[Sums]:
    """Return the dimensions of a HyperX, by each coordinate of the router that channels leave."""
    routers, sides = traffic.topology.routers, shape.sides
    at = np.stack(np.unravel_index(routers.channel_source, sides))
    to = np.stack(np.unravel_index(routers.channel_target, sides))
    row = np.argmax(at != to, axis=0).astype(np.int64)
    names = tuple(f"dimension {axis}" for axis in range(len(sides)))
    return [
        Sums(f"mean of each dimension by coordinate {axis}", names, row,
             at[axis].astype(np.int64), side, f"coordinate {axis}")
        for axis, side in enumerate(sides)
    ]  # fmt: skip


def _matrix(
    traffic: Traffic, sums: Sums, top: float, width: float
) -> tuple[Cells, list[Word], float]:
    """Return a matrix of means with its names, and where it ends."""
    many = len(sums.rows)
    margin = max(map(width_of, sums.rows)) + 8
    side = float(np.clip((width - margin) / sums.columns, LEAST, LARGEST))
    high = max(min(side, 20.0), 15.0)
    shown = traffic.between[sums.row[traffic.between] >= 0]
    key = sums.row[shown] * sums.columns + sums.column[shown]
    counts = np.bincount(key, minlength=many * sums.columns)
    total = np.bincount(key, traffic.time[shown], minlength=many * sums.columns)
    mean = np.where(counts > 0, total / np.maximum(counts, 1), np.nan)
    row, column = np.divmod(np.arange(many * sums.columns), sums.columns)
    y = top + 2 * LINE + 4
    gap = 0.5 if side > 3 else 0.0
    sizes = np.full(len(row), side - gap), np.full(len(row), high - 0.5)
    places = np.stack([margin + column * side, y + row * high, *sizes], axis=1)
    said = tuple(
        f"{sums.rows[r]}, {sums.what} = {c}"
        for r, c in zip(row.tolist(), column.tolist(), strict=True)
    )
    words = [Word(0, top + LINE / 2, sums.heading, style="network-heading")]
    words += row_words(sums.rows, margin, y, high)
    numbers = [*map(str, range(sums.columns))]
    words += column_words(numbers, margin, top + 1.5 * LINE + 3, side)
    return Cells(places, mean, said), words, y + many * high


def _profile(traffic: Traffic, top: float, width: float) -> tuple[Cells, list[Word], Box, float]:
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
    zero = head + (TALL / 2 if changed else TALL)
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
    foot = head + TALL + 3
    words = [
        Word(0, top + LINE / 2, f"all {len(falling):,} channels, {order}", style="network-heading"),
        Word(margin - 6, head + SHIFT, most, "right"),
        Word(margin - 6, head + TALL - SHIFT, last, "right"),
    ]
    words += [Word(margin - 6, zero, "0", "right")] if changed else []
    words += [
        Word(margin + step * len(parts) * at / 100, foot + LINE / 2, f"{at} %", "center")
        for at in (0, 25, 50, 75, 100)
    ]
    line = Box(margin, zero, step * len(parts), 1.0, "network-bar")
    return Cells(places, mean, said), words, line, foot + LINE


# -- rings of dragonflies --------------------------------------------------------------------------


MOST_CHORDS = 2500
"""Most global cables that are drawn one by one. Of more only the hottest."""

MOST_CELLS = 6000
"""Most local channels that have a square of their own."""

MOST_HOT = 400
"""Most global cables that are drawn where they are too many: the busiest."""

HOT = 0.7
"""Of the busiest channel's time: which global cables are drawn where they are too many."""

LEAST_CELL = 2.0
"""Pixels of the smallest square of a local channel."""

HEAD, NUMBERS, RIM, HOSTS, SPARE = 2.0 * LINE, 26.0, 4.0, 5.0, 0.12
"""Pixels for headings, numbers of groups, the rim and hosts' lines. The share between groups."""


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

    def angle(self, group: Floats) -> Floats:
        """Return where a place on the rim is, counted in groups: radians from the top."""
        return np.asarray(2 * pi * group / self.shape.groups - pi / 2, np.float64)

    def at(self, angle: Floats, radius: Floats | float) -> Floats:
        """Return float64[n, 2], the points at some angles and distances from the middle."""
        x, y = self.x + radius * np.cos(angle), self.y + radius * np.sin(angle)
        return np.stack([x, y], axis=-1)


def ring_scene(traffic: Traffic, width: float) -> Scene:
    """Return the scene of a dragonfly: its ring, and beside or below it a group × group matrix.

    Every global cable has a slot of its own on the rim, at its router. In a matrix a row sends and
    a column receives.
    """
    shape = traffic.topology.family
    assert isinstance(shape, DragonflyShape)
    beside = width >= 560
    across = 0.64 * width if beside else width
    ring = _ring(shape, across, HEAD)
    routers = traffic.topology.routers
    group = np.stack([routers.channel_source, routers.channel_target]).astype(np.int64)
    group //= shape.routers
    shown = traffic.between
    far = group[0][shown] != group[1][shown]
    near = shown[~far]
    chords, note = _chord_curves(traffic, ring, shown[far]), ""
    if len(chords.channel) > MOST_CHORDS:
        assert chords.points is not None
        hot = traffic.weight[chords.channel] > max(HOT * traffic.most, traffic.mean)
        hot &= np.cumsum(hot[::-1])[::-1] <= MOST_HOT
        chords = replace(chords, channel=chords.channel[hot], points=chords.points[hot])
        note = f"global cables above {100 * HOT:.0f} % of the busiest channel only"
    local = _local(ring, traffic, near)
    left, top = (across + 30, HEAD) if beside else (0.0, 2 * HEAD + across + 16)
    matrix, words, end = _groups(traffic, group, left, top, width - left)
    words = [*_headings(ring, near=bool(len(near))), *words, *_numbers(ring)]
    inner = set(near.tolist())
    places = {
        each: _by_number(ring, int(group[0][each])) for each in traffic.busiest if each in inner
    }
    ended, router = ports(traffic)  # short lines outside the rim, of each router senders first
    at, number = np.divmod(router, shape.routers)
    share, part = shares(router, ended)
    at = at + ((number + 0.06 + 0.88 * share) / shape.routers - 0.5) * (1 - SPARE)
    first = ring.radius + RIM / 2 + 1
    start, out = (ring.at(ring.angle(at), first + add) for add in (0.0, HOSTS))
    slot = 2 * pi * ring.radius * (1 - SPARE) / (shape.groups * shape.routers)
    hosts = straight(ended, start, out, float(slot * part.min(initial=1.0)))
    discs = discs_on(traffic, (chords, hosts), words, places)
    listed, names, below = named_below(traffic, end + 16, width, left)
    marks = marked_squares(traffic, local) if ring.square else ()
    rim = () if not ring.square and len(near) else (_rim(ring),)
    return Scene(
        width, max(HEAD + across, end + 16 + below), (chords, local, hosts, matrix), _frames(ring),
        (*words, *names), (*discs, *listed), rim, note=note, marks=marks,
    )  # fmt: skip


def every_chord(traffic: Traffic, across: float) -> Scene:
    """Return a dragonfly's ring with all its channels, however small, and no matrix beside it."""
    shape = traffic.topology.family
    assert isinstance(shape, DragonflyShape)
    ring = _ring(shape, across, HEAD, least=0.0)
    routers, shown = traffic.topology.routers, traffic.between
    ends = np.stack([routers.channel_source[shown], routers.channel_target[shown]])
    far = np.ptp(ends.astype(np.int64) // shape.routers, axis=0) > 0
    chords = _chord_curves(traffic, ring, shown[far])
    local = _local(ring, traffic, shown[~far])
    words = (*_headings(ring, near=not far.all()), *_numbers(ring))
    return Scene(
        across, HEAD + across, (chords, local), _frames(ring), words, bundles=(_rim(ring),)
    )


def _ring(shape: DragonflyShape, across: float, top: float, least: float = LEAST_CELL) -> _Ring:
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
    return _Ring(shape, across / 2, top + across / 2, radius, square, away)


def _chord_curves(traffic: Traffic, ring: _Ring, channels: Ints) -> Channels:
    """Return global cables as curves across the ring. Neighbors bow little.

    In a group slots go by router. In a router by the group that they lead to, so that neighbours
    are joined by short ways. The two directions of a cable lie beside each other.
    """
    shape, routers = ring.shape, traffic.topology.routers
    ends = np.stack([routers.channel_source[channels], routers.channel_target[channels]])
    own = ends.ravel().astype(np.int64)
    other = ends[::-1].ravel() // shape.routers
    group = own // shape.routers
    turn = (group - other) % shape.groups
    direction = np.repeat([0, 1], len(channels)) ^ (group > other)
    share, _ = shares(own, np.tile(channels, 2), direction, turn)
    within = (own % shape.routers + share) / shape.routers
    angle = ring.angle((group + (within - 0.5) * (1 - SPARE)).reshape(2, -1))
    apart = np.abs(np.angle(np.exp(1j * (angle[1] - angle[0])))) / pi
    pulled = ring.radius * (0.75 - 0.7 * apart)
    rim = ring.radius - RIM
    points = [
        ring.at(angle[0], rim), ring.at(angle[0], pulled),
        ring.at(angle[1], pulled), ring.at(angle[1], rim),
    ]  # fmt: skip
    return Channels(channels, points=np.stack(points, axis=1), thickest=4.0)


def _middles(ring: _Ring) -> Floats:
    """Return float64[groups, 2], the middles of the matrices of groups."""
    groups = np.arange(ring.shape.groups, dtype=np.float64)
    return ring.at(ring.angle(groups), ring.away)


def _local(ring: _Ring, traffic: Traffic, channels: Ints) -> Channels:
    """Return the local channels as squares of router × router matrices, the sender's row.

    If there is no room, the rim of each group is its busiest local channel.
    """
    routers, size = traffic.topology.routers, ring.shape.routers
    group = routers.channel_source[channels] // size
    if not ring.square:
        busiest, some = last_of(group, channels)  # the busiest last
        order = np.argsort(traffic.weight[busiest], kind="stable")
        at, half = some[order].astype(np.float64), (1 - SPARE) / 2
        arcs = _arcs(ring, at - half, at + half)
        return Channels(busiest[order], points=arcs, thinnest=RIM, thickest=2 * RIM)
    row = routers.channel_source[channels] % size
    column = routers.channel_target[channels] % size
    left, top = (_middles(ring)[group] - ring.square / 2).T
    squares = squares_at(left, top, row, column, ring.square / size)
    return Channels(channels, squares=squares)


def _frames(ring: _Ring) -> tuple[Box, ...]:
    """Return the backgrounds of the matrices of groups."""
    if not ring.square:
        return ()
    side = ring.square
    return tuple(
        Box(float(x - side / 2), float(y - side / 2), side, side) for x, y in _middles(ring)
    )


def _rim(ring: _Ring) -> Bundles:
    """Return the rim: an arc for each router."""
    shape = ring.shape
    group, number = np.divmod(np.arange(shape.groups * shape.routers), shape.routers)
    ends = [
        group + ((number + share) / shape.routers - 0.5) * (1 - SPARE) for share in (0.06, 0.94)
    ]
    return Bundles(_arcs(ring, *ends), np.full(len(group), RIM), style="network-rim")


def _arcs(ring: _Ring, start: Floats, end: Floats) -> Floats:
    """Return float64[n, 4, 2], arcs of the rim between places that are counted in groups."""
    ends = [ring.angle(each) for each in (start, end)]
    reach = 4 / 3 * np.tan((ends[1] - ends[0]) / 4) * ring.radius
    first, last = (ring.at(each, ring.radius) for each in ends)
    along = [np.stack([-np.sin(each), np.cos(each)], axis=1) * reach[:, None] for each in ends]
    return np.stack([first, first + along[0], last - along[1], last], axis=1)


def _numbers(ring: _Ring) -> list[Word]:
    """Return the numbers of the groups outside the rim, as many as have room."""
    groups = ring.shape.groups
    room = 2 * pi * (ring.radius + NUMBERS / 2) / groups
    every = max(1, int(np.ceil((width_of(str(groups - 1)) + 6) / room)))
    while every > 1 and groups % every and 0 < groups % every < every / 2:
        every += 1
    shown = np.arange(0, groups - (every - 1 if every > 1 else 0), every)
    at = ring.at(ring.angle(shown.astype(np.float64)), ring.radius + NUMBERS / 2)
    return [
        Word(float(x), float(y), str(group), "center")
        for group, (x, y) in zip(shown.tolist(), at, strict=True)
    ]


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


def _headings(ring: _Ring, *, near: bool) -> list[Word]:
    words = [Word(0, LINE / 2, f"{ring.shape.groups} groups", style="network-heading")]
    if near:
        said = "rim: busiest within the group"
        said = "arcs: routers; squares: router to router" if ring.square else said
        words.append(Word(0, 1.5 * LINE, said))
    return words


def _groups(
    traffic: Traffic, group: Ints, left: float, top: float, room: float
) -> tuple[Channels, list[Word], float]:
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
    return as_squares(traffic, channels, squares, again=True), words, y + len(names) * cell
