"""Networks that are too large to draw by channel: means by part, and all in falling order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from netloom.base.arrays import Ints
from netloom.drawing.names import LINE, width_of
from netloom.drawing.networks.scene import (
    Box,
    Cells,
    Channels,
    Scene,
    Word,
    column_words,
    named_below,
    row_words,
)
from netloom.drawing.networks.traffic import Traffic
from netloom.topology import Cube
from netloom.topology.core import HyperXShape

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
        width,
        top + GAP + below,
        (none,),
        (box,),
        (*words, *said, *names),
        tuple(listed),
        cells=(*cells, bars),
    )


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
        Sums(
            f"mean of each dimension by coordinate {axis}",
            names,
            row,
            at[axis].astype(np.int64),
            side,
            f"coordinate {axis}",
        )
        for axis, side in enumerate(sides)
    ]


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
