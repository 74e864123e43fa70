"""Dragonflies: a ring of groups, global cables across it, local ones as small matrices round it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import pi, sin

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.drawing.names import LINE, width_of
from netloom.drawing.networks.scene import (
    MOST_BLOCKS,
    Box,
    Bundles,
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
from netloom.topology.core import DragonflyShape

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
        width,
        max(HEAD + across, end + 16 + below),
        (chords, local, hosts, matrix),
        _frames(ring),
        (*words, *names),
        (*discs, *listed),
        rim,
        note=note,
        marks=marks,
    )


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
        ring.at(angle[0], rim),
        ring.at(angle[0], pulled),
        ring.at(angle[1], pulled),
        ring.at(angle[1], rim),
    ]
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
