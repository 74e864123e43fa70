"""Cubes of four dimensions and more, hypercubes too: a matrix of nodes and dimensions."""

from __future__ import annotations

from math import ceil, prod
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.drawing.networks.letters import LINE, width_of
from netloom.drawing.networks.panels import beside_squares, marked_squares
from netloom.drawing.networks.scene import Box, Cells, Channels, Scene, Word, named_below
from netloom.topology import Cube

if TYPE_CHECKING:
    from netloom.base.arrays import Ints
    from netloom.drawing.networks.traffic import Traffic

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
    cell, a_line = _fit(cube, many, width - margin)
    if cell < LEAST:
        return None
    words: list[Word] = []
    boxes: list[Box] = []
    channels, squares, top = [], [], 0.0
    for first in range(0, len(order), a_line):
        nodes = order[first : first + a_line]
        y = top + LINE + 2
        words.append(Word(margin, top + LINE / 2, _called(cube, nodes)))
        every = ceil(LINE / cell)
        words += [
            Word(margin - 5, y + (at + 0.5) * cell, rows.names[at], "right")
            for at in range(0, many, every)
        ]
        boxes.append(Box(margin, y, len(nodes) * cell, many * cell))
        row, column = np.divmod(np.arange(many * len(nodes)), len(nodes))
        channel = rows.channel[:, nodes].ravel()
        here = (channel >= 0) & ~np.isnan(traffic.time[channel])
        side = np.full(len(row), cell - (0.5 if cell > 3.5 else 0.0))
        places = np.stack([margin + column * cell, y + row * cell, side], axis=1)
        channels.append(channel[here])
        squares.append(places[here])
        top = y + many * cell + 6
    channel, places = np.concatenate(channels), np.concatenate(squares)
    rank = np.argsort(traffic.weight[channel], kind="stable")
    drawn = Channels(channel[rank], squares=places[rank])
    discs = beside_squares(traffic, drawn, words, (width, top))
    bars, said, line, top = _busiest(traffic, rows, top + 4, width)
    listed, names, below = named_below(traffic, top + 8, width)
    return Scene(
        width, top + 8 + below, (drawn,), (*boxes, *line), (*words, *said, *names),
        (*discs, *listed), cells=(bars,), marks=marked_squares(traffic, drawn), note=NOTE,
    )  # fmt: skip


def gray_order(sides: tuple[int, ...]) -> Ints:
    """Return the nodes of a cube so that neighbors differ by one in one coordinate.

    Examples
    --------
    >>> gray_order((2, 2, 2)).tolist(), gray_order((2, 3)).tolist()
    ([0, 1, 3, 2, 6, 7, 5, 4], [0, 1, 2, 5, 4, 3])
    """
    order = np.zeros(1, np.int64)
    for side in sides:
        turns = [np.arange(side) if at % 2 == 0 else np.arange(side)[::-1]
                 for at in range(len(order))]  # fmt: skip
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
            row = np.full(cube.num_vertices, -1)
            row[cube.channel_source[channel]] = channel
            names.append(f"dimension {axis}{sign}")
            rows.append(row)
    return _Rows(names, np.array(rows))


def _fit(cube: Cube, many: int, room: float) -> tuple[float, int]:
    """Return the pixels of a square, and how many nodes are in a line: those of one prefix."""
    best = 0.0, cube.num_vertices
    for axis in range(len(cube.sides)):
        a_line = prod(cube.sides[axis:])
        lines = cube.num_vertices // a_line
        cell = min(room / a_line, LARGEST)
        high = (TALL - lines * (LINE + 8)) / (lines * many)
        if min(cell, high) > best[0]:
            best = min(cell, high), a_line
    return best


def _called(cube: Cube, nodes: Ints) -> str:
    """Return what the nodes of a line have in common: their first coordinates."""
    at = np.stack(np.unravel_index(nodes, cube.sides))
    said = ["·" if len(set(each)) > 1 else str(each[0]) for each in at.tolist()]
    return f"nodes ({','.join(said)})"


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
