"""Lines and rings through boxes of any sides: reflected Gray codes and Hamiltonian cycles.

A code is one array of coordinates a side. Along a line code each point is a neighbour of the one
before. Along a ring code the last is a neighbour of the first too, wherever that can be.
"""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.base.arrays import Ints


def line_code(length: int, sides: Sequence[int]) -> list[Ints]:
    """Return the first points of the reflected Gray code of mixed radices: a snake.

    They are the coordinates on each side, int64[length]. The first changes most seldom. The
    line has at most as many points as the box.

    Examples
    --------
    >>> line_code(6, (2, 3))
    [array([0, 0, 0, 1, 1, 1]), array([0, 1, 2, 2, 1, 0])]
    """
    left, block = np.arange(length), prod(sides)
    code = []
    for side in sides:
        block //= side
        coordinate, left = np.divmod(left, block)
        left = np.where(coordinate % 2 == 1, block - 1 - left, left)
        code.append(coordinate)
    return code


def folded(length: int) -> Ints:
    """Return a ring folded flat onto a line: 0, 2, 4 … 5, 3, 1. No step is longer than 2.

    Examples
    --------
    >>> folded(7)
    array([0, 2, 4, 6, 5, 3, 1])
    """
    position = np.arange(length)
    return np.minimum(2 * position, 2 * (length - position) - 1)


def ring_code(length: int, sides: Sequence[int]) -> list[Ints]:
    """Return a ring through a box, of steps of 1 where that can be.

    An even ring is a Hamiltonian cycle, of as much of the box as it needs. It goes out and back in
    every two rows, and returns along the first column. A box is bipartite, so an odd ring cannot
    have unit steps only. It is the even one without a point, in the middle of a straight piece if
    there is any, so that a packet passes through there as before. In one dimension, and if a box of
    odd sides is too full, the ring is folded onto the line code, with steps of up to 2.

    The coordinates on each side are int64[length]. The ring has at least 3 points, and at most
    as many as the box, whose sides are at least 2.

    Examples
    --------
    >>> ring_code(8, (2, 4))
    [array([0, 0, 0, 1, 1, 1, 1, 0]), array([1, 2, 3, 3, 2, 1, 0, 0])]
    """
    room = [_most_on_cycle(side, prod(sides) // side) for side in sides]
    slow = room.index(max(room))
    across, even = prod(sides) // sides[slow], length + length % 2
    if room[slow] < even:
        order = folded(length)
        return [coordinate[order] for coordinate in line_code(length, sides)]
    row, column = _cycle(even, across)
    others = line_code(across, [side for axis, side in enumerate(sides) if axis != slow])
    code = [coordinate[column] for coordinate in others]
    code.insert(slow, row)
    return [np.delete(each, _straight_point(code)) for each in code] if length % 2 else code


def is_folded_ring(length: int, sides: Sequence[int]) -> bool:
    """Whether ``ring_code`` has to fold this ring, with steps of up to 2 throughout."""
    most = max(_most_on_cycle(side, prod(sides) // side) for side in sides)
    return most < length + length % 2


def _most_on_cycle(rows: int, across: int) -> int:
    """Points of the longest cycle: rows in pairs, an odd last one of two points."""
    if across == 1:
        return 0
    return rows * across if rows % 2 == 0 else (rows - 1) * across + 2


def _cycle(length: int, across: int) -> tuple[Ints, Ints]:
    """Rows and columns of a cycle of even length in the fewest rows that it fits into."""
    rows = 2 * (length // (2 * across))
    if rows * across < length:
        rows += 1 if length - rows * across <= 2 else 2
    spare = _most_on_cycle(rows, across) - length  # to be cut off the pairs, two a column
    row_parts, column_parts = [], []
    for first in range(0, rows - 1, 2):
        cut = min(spare // 2, across - 2)
        spare -= 2 * cut
        out = np.arange(1, across - cut)
        row_parts += [np.full(len(out), first), np.full(len(out), first + 1)]
        column_parts += [out, out[::-1]]
    if rows % 2:
        row_parts.append(np.array([rows - 1]))
        column_parts.append(np.array([1]))
    row_parts.append(np.arange(rows - 1, -1, -1))
    column_parts.append(np.zeros(rows, np.int64))
    return np.concatenate(row_parts), np.concatenate(column_parts)


def _straight_point(code: list[Ints]) -> int:
    """Return a point of the ring whose neighbours differ in one coordinate. Else the last."""
    changed = [np.roll(each, -1) != np.roll(each, 1) for each in code]
    straight = np.flatnonzero(np.sum(changed, axis=0) == 1)
    return int(straight[0]) if len(straight) else len(code[0]) - 1
