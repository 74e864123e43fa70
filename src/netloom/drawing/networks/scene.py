"""A picture of a network as a list of what is drawn, and what its layouts have in common.

A scene has curves, squares, boxes, words and discs. Places are pixels from the top left corner.
Layouts make scenes: of curves, or of matrices of squares with what stands at their rims. The
channels of hosts are a thin rim at what they join, or squares below a picture without a rim.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import ceil
from typing import Literal, NamedTuple

import numpy as np

from netloom.base.arrays import Bools, Floats, Ints
from netloom.drawing.names import LINE, NAME_LINE, SIZE, fitted, width_of
from netloom.drawing.networks.traffic import Traffic
from netloom.topology import Cube, Topology
from netloom.topology.core import DragonflyShape, HyperXShape

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
    channels: tuple[Channels, ...] = ()
    boxes: tuple[Box, ...] = ()
    words: tuple[Word, ...] = ()
    discs: tuple[Disc, ...] = ()
    bundles: tuple[Bundles, ...] = ()
    cells: tuple[Cells, ...] = ()
    dots: tuple[Bundles, ...] = ()
    arrows: tuple[Arrow, ...] = ()
    marks: tuple[Box, ...] = ()
    note: str = field(default="", kw_only=True)

    def __add__(self, other: Scene) -> Scene:
        """Return both in one place."""
        size = max(self.width, other.width), max(self.height, other.height)
        _, _, *names = vars(self)
        parts = {name: getattr(self, name) + getattr(other, name) for name in names}
        return Scene(*size, **parts)


# -- the busiest channels --------------------------------------------------------------------------


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
    spans = [word.extent for word in taken]

    def hits(x: float, y: float) -> bool:
        return any(np.hypot(x - disc.x, y - disc.y) < 2 * DISC + 2 for disc in found) or any(
            left - DISC < x < right + DISC and top - DISC < y < bottom + DISC
            for left, right, top, bottom in spans
        )

    for number, channel in enumerate(traffic.busiest, 1):
        places = [np.asarray(each) for each in (beside or {}).get(channel, ())]
        points = np.zeros((0, 2))
        for part in drawn:
            if part.points is None:
                continue
            places += [_on(part.points[row], at) for row in _first(part, channel) for at in ALONG]
            rivals = part.points[[each in hot and each != channel for each in part.channel]]
            others = [_on(each, at) for each in rivals for at in np.linspace(0.05, 0.95, 13)]
            points = np.concatenate([points, np.reshape(others, (-1, 2))])
        if not places:
            continue
        free = [place for place in places if not hits(*place)]
        if not free:  # then only discs matter
            points = np.array([each[:2] for each in found]).reshape(-1, 2)
        most = 2 * DISC if free else np.inf  # what is that clear of curves is clear
        away = [np.hypot(*(points - each).T).min(initial=most) for each in free or places]
        x, y = (free or places)[int(np.argmax(away))]
        found.append(Disc(float(x), float(y), number))
    return tuple(found)


def _on(curve: Floats, at: float) -> Floats:
    """Return float64[2], where a curve is after a part of its way, 0 … 1."""
    weights = np.array([(1 - at) ** 3, 3 * at * (1 - at) ** 2, 3 * at**2 * (1 - at), at**3])
    return weights @ curve


def _first(part: Channels, channel: int) -> Ints:
    """Return the row of a channel, int64[1], or none."""
    return np.flatnonzero(part.channel == channel)[:1]


TURNS = np.array([
    [1, -1], [-1, -1], [1, 1], [-1, 1], [2, 0], [-2, 0], [3, -1], [-3, -1],
    [3, 1], [-3, 1], [1, 3], [-1, 3], [1, -3], [-1, -3],
])  # fmt: skip
"""Where discs may stand beside squares, in the order in which places are tried."""


def marked_squares(traffic: Traffic, drawn: Channels) -> tuple[Box, ...]:
    """Return frames round the squares of the busiest channels."""
    assert drawn.squares is not None
    rows = [row for each in traffic.busiest for row in _first(drawn, each)]
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
        for left, top, side in drawn.squares[_first(drawn, channel)]:
            middle = np.array([left, top]) + side / 2 + (side / 2 + 0.75 * DISC) * TURNS
            inside = ((middle >= DISC) & (middle <= np.array(size) - [DISC, 0])).all(axis=1)
            places[channel] = middle[inside]
    return discs_on(traffic, (), words, places)


def named_below(
    traffic: Traffic, scene: Scene, width: float, top: float | None = None, start: float = 0.0
) -> Scene:
    """Return a scene with the list of the busiest channels under it: discs and words.

    Each has its name, what it carries, and how that compares, in as many lines as fit between
    ``start`` and ``width``. The list begins at ``top``: by default where the scene ends.
    """
    discs, words, y = [*scene.discs], [*scene.words], scene.height if top is None else top
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
        if after + width_of(value) > width:
            after, y = left, y + LINE
        words.append(Word(after, y - LINE / 2, value))
        y += 5
    if more := traffic.as_busy:
        words.append(Word(left, y + LINE / 2, f"and {more:,} more as busy"))
        y += LINE + 5
    height = max(scene.height, y)
    return replace(scene, height=height, words=tuple(words), discs=tuple(discs))


# -- curves and squares ----------------------------------------------------------------------------


def straight_points(start: Floats, end: Floats) -> Floats:
    """Return float64[n, 4, 2], straight lines as curves."""
    third = (end - start) / 3
    return np.stack([start, start + third, end - third, end], axis=1)


def straight(channel: Ints, start: Floats, end: Floats, pitch: float) -> Channels:
    """Return channels as straight lines that are as thick as they have room, whatever they carry.

    ``pitch`` is the distance in pixels from one to the next.
    """
    thick = float(np.clip(0.8 * pitch, 0.7, 4.0))
    return Channels(channel, straight_points(start, end), thinnest=thick, thickest=thick)


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


def axes_of(cube: Cube) -> list[int]:
    """Return the dimensions of a cube along which it has more than one router."""
    return [axis for axis, side in enumerate(cube.sides) if side > 1]


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
    steps = [base * 10**power for power in range(7) for base in (1, 2, 5)]
    every = next(step for step in steps if step >= least)
    return [
        Word(left + (at + 0.5) * cell, y, names[at], "center") for at in range(0, len(names), every)
    ]


# -- channels of hosts -----------------------------------------------------------------------------


RIM = 9.0
"""Pixels of a rim."""

MOST_ALONE = 2500
"""Channels of hosts that are drawn one by one. Of more the busiest of each router."""


def ports(traffic: Traffic) -> tuple[Ints, Ints]:
    """Return the channels of hosts that are drawn, the busiest last, and at which router each is.

    All, or of each router and way the busiest.
    """
    network, shown = traffic.topology, traffic.hosts
    into, out_of = network.injection_router, network.ejection_router
    if isinstance(network.family, DragonflyShape | HyperXShape):
        into, out_of = (_outer(network, each) for each in (into, out_of))
    ends = network.switch_of[[network.routers.channel_source, network.routers.channel_target]]
    router = np.concatenate([ends[0], into, out_of])[shown].astype(np.int64)
    if len(shown) > MOST_ALONE:
        ends = 2 * router + receives(traffic, shown)
        kept = np.sort(last_of(ends, np.arange(len(shown)))[0])
        shown, router = shown[kept], router[kept]
    return shown, router


def _outer(network: Topology, router: Ints) -> Ints:
    """Return the router of a family that each port hangs on, that of its host for ports inside."""
    at = network.switch_of[router]
    of_host = np.full(network.num_hosts, -1)
    of_host[network.port_host[at >= 0]] = at[at >= 0]
    return np.where(at < 0, of_host[network.port_host], at)


def receives(traffic: Traffic, channel: Ints) -> Bools:
    """Return bool[n], which channels of hosts lead to hosts, or to their cards."""
    network = traffic.topology
    to_hosts = np.arange(network.num_channels) >= network.num_network_channels + network.num_ports
    to_hosts[: network.num_network_channels] = np.isin(network.channel_target, network.cards)
    return to_hosts[channel]


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
