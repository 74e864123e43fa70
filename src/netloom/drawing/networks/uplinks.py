"""Trees as matrices: what goes up from each leaf or pod to each top router, and down again."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.drawing.networks.letters import LINE, fitted, width_of, without_common
from netloom.drawing.networks.matrices import MOST_BLOCKS
from netloom.drawing.networks.scene import Box, Channels, Word
from netloom.topology.family import TreeShape

if TYPE_CHECKING:
    from netloom.base.arrays import Bools, Ints
    from netloom.drawing.networks.columns import Columns
    from netloom.drawing.networks.traffic import Traffic

LEAST, LARGEST = 3.0, 16.0
"""Pixels of a square."""

HEAD = 2 * LINE + 4
"""Pixels above a matrix for its words."""

TALL, NAMES = 220.0, 76.0
"""Pixels of a matrix from top to bottom, and beside it for names, at most."""


class Matrices(NamedTuple):
    """Two matrices, up and down, with their words, and where they end."""

    channels: Channels
    boxes: tuple[Box, ...]
    words: tuple[Word, ...]
    end: float


class _Cells(NamedTuple):
    """The busiest channel of each row and column."""

    channel: Ints
    row: Ints
    column: Ints


def uplink_matrices(
    traffic: Traffic, laid: Columns, left: float, top: float, room: float
) -> Matrices | None:
    """Return the matrices of a tree, each at most ``room`` / 2 wide. None of other networks.

    Rows are leaves, or pods of trees of more levels. Columns are the top routers. A square is the
    busiest channel between them. Neighbors share one if they are too many.
    """
    if not isinstance(traffic.topology.family, TreeShape) or len(laid.columns) < 3:
        return None
    at = len(laid.columns) // 2
    below, tops = laid.columns[at - 1], laid.columns[at]
    pods = len(np.unique(below.group)) > 1
    many = int(below.group.max()) + 1 if pods else len(below.routers)
    a_row, a_column = -(-many // MOST_BLOCKS), -(-len(tops.routers) // MOST_BLOCKS)
    rows, columns = -(-many // a_row), -(-len(tops.routers) // a_column)
    row_of, column_of = np.full((2, traffic.topology.num_routers), -1)
    row_of[below.routers] = (below.group if pods else np.arange(many)) // a_row
    column_of[tops.routers] = np.arange(len(tops.routers)) // a_column
    names = _names(traffic, below.routers, pods=pods, rows=rows, per=a_row)
    margin = max(map(width_of, names), default=0.0) + 7
    aside = (room / 2 - 14 - margin) / columns >= LEAST
    cell = min(((room / 2 - 14 if aside else room) - margin) / columns, TALL / rows, LARGEST)
    if cell < LEAST or min(rows, columns) < 2:
        return None
    routers = traffic.topology.routers
    ends = routers.channel_source.astype(np.int64), routers.channel_target.astype(np.int64)
    who = ("pods", "top routers") if pods else ("leaves", "spines")
    ends_of_row = _names(traffic, tops.routers[[0, -1]], pods=False, rows=2, per=1)
    across = " to ".join(ends_of_row)
    parts, boxes, words = [], [], []
    y = top + HEAD
    for place, here in enumerate((laid.enters == at, laid.leaves == at)):
        x = left + margin + (place * room / 2 if aside else 0.0)
        y = top + HEAD + (0.0 if aside else place * (rows * cell + HEAD + 10))
        lower, upper = ends[place], ends[1 - place]
        cells = _busiest(traffic, here, row_of[lower], column_of[upper], columns)
        side = np.full(len(cells.channel), cell - (0.5 if cell > 3.5 else 0.0))
        squares = np.stack([x + cells.column * cell, y + cells.row * cell, side], axis=1)
        parts.append((cells.channel, squares))
        boxes.append(Box(x, y, columns * cell, rows * cell))
        words += _words(names, (x, y), cell)
        heading = " → ".join(who[:: 1 - 2 * place])
        words.append(Word(x - margin, y - HEAD + LINE / 2, heading, style="network-heading"))
        fits = (room / 2 if aside else room) - margin - 14
        words.append(Word(x, y - HEAD + 1.5 * LINE, fitted(across, fits)))
    channel, squares = (np.concatenate(each) for each in zip(*parts, strict=True))
    order = np.argsort(traffic.weight[channel], kind="stable")
    drawn = Channels(channel[order], squares=squares[order], again=True)
    return Matrices(drawn, tuple(boxes), tuple(words), y + rows * cell + 4)


def _names(traffic: Traffic, routers: Ints, *, pods: bool, rows: int, per: int) -> list[str]:
    """Return the names of rows. Of those that neighbors share, the first."""
    if pods:
        return [f"pod {row * per}" for row in range(rows)]
    topology = traffic.topology
    names = [topology.name_of(topology.router_vertex(int(each))) for each in routers]
    return without_common(names[::per], NAMES)


def _busiest(
    traffic: Traffic, here: Bools, row: Ints, column: Ints,
    columns: int,
) -> _Cells:  # fmt: skip
    """Return the busiest of some channels by row and column."""
    shown = traffic.between[here[traffic.between]]  # the busiest last
    keys = row[shown] * columns + column[shown]
    last = np.full(int(keys.max(initial=-1)) + 1, -1)
    last[keys] = shown
    cells = np.flatnonzero(last >= 0)
    return _Cells(last[cells], cells // columns, cells % columns)


def _words(names: list[str], corner: tuple[float, float], cell: float) -> list[Word]:
    """Return the names of rows, as many as have room."""
    x, y = corner
    every = max(1, int(np.ceil(15 / cell)))
    return [
        Word(x - 5, y + (at + 0.5) * cell, names[at], "right") for at in range(0, len(names), every)
    ]
