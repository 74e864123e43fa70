"""Matrices of squares: what goes from each row to each column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from netloom.drawing.networks.letters import width_of
from netloom.drawing.networks.scene import Word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Ints
    from netloom.drawing.networks.traffic import Traffic

MOST_BLOCKS = 64
"""Rows of a matrix at most. Of more, neighbours share one."""


def pooled(
    traffic: Traffic,
    row: Ints,
    column: Ints,
    many: int,
    *,
    diagonal: bool = True,
) -> tuple[Ints, Ints, Ints, int]:
    """Return the busiest channel of each row and column, their rows and columns, and how many.

    If there are too many rows, neighbours are taken together.

    Parameters
    ----------
    row, column
        int64[num_network_channels], 0 … many - 1.
    diagonal
        Whether channels from a row to itself count.
    """
    per = -(-many // MOST_BLOCKS)
    shown = traffic.between  # the busiest last
    if not diagonal:
        shown = shown[row[shown] != column[shown]]
    blocks = -(-many // per)
    keys = row[shown] // per * blocks + column[shown] // per
    last = np.full(blocks * blocks, -1)
    last[keys] = shown
    cells = np.flatnonzero(last >= 0)
    cells = cells[np.argsort(traffic.weight[last[cells]], kind="stable")]
    return last[cells], cells // blocks, cells % blocks, blocks


def matrix_words(names: Sequence[str], left: float, top: float, cell: float) -> list[Word]:
    """Return the names of rows and of columns beside a matrix, as many as have room."""
    high = max(1, int(np.ceil(15 / cell)))
    wide = max(1, int(np.ceil((max(map(width_of, names), default=0) + 7) / cell)))
    words = [
        Word(left - 5, top + (at + 0.5) * cell, names[at], "right")
        for at in range(0, len(names), high)
    ]
    words += [
        Word(left + (at + 0.5) * cell, top - 9, names[at], "center")
        for at in range(0, len(names), wide)
    ]
    return words
