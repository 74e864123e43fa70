"""Words above axes: where they stand, so that each has a line down to what it names."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

APART = 16.0
"""Pixels between two words of a row, at least."""

SIDE = 2.0
"""Pixels from a line to the nearer end of words that stand on one side of it."""

MOST_SEARCHED = 6
"""Words of which all places are looked through. More are set one after the other."""


class Place(NamedTuple):
    """Where words stand: from which pixel to which, and in which row from the axes upwards.

    ``led`` is whether a line can lead down from them without crossing others.
    """

    left: float
    right: float
    row: int
    led: bool = True


def places(wanted: Sequence[tuple[float, float]], most: float) -> list[Place]:
    """Return where words stand above axes.

    They are in as few rows as possible. If lines down to what they name would cross others
    however they stand, no line leads down.

    Parameters
    ----------
    wanted
        The place that each is about and its width, in pixels.
    most
        The width of the axes.

    Examples
    --------
    >>> [(place.left, place.row) for place in places([(50, 60), (150, 60)], 200)]
    [(20.0, 0), (120.0, 0)]
    >>> [(place.left, place.row) for place in places([(150, 60), (160, 60)], 300)]
    [(92.0, 0), (130.0, 1)]
    """
    if len(wanted) <= MOST_SEARCHED:
        for rows in range(1, len(wanted) + 1):
            found = next(_search(wanted, most, rows, []), None)
            if found:
                return found
    return _one_by_one(wanted, most)


def _search(
    wanted: Sequence[tuple[float, float]], most: float, rows: int, before: list[Place]
) -> Iterator[list[Place]]:
    """Yield places of all words that go on from those of the first few."""
    at = len(before)
    if at == len(wanted):
        yield before
        return
    middle, wide = wanted[at]
    for row, before_it in product(range(rows), (wide / 2, SIDE, wide - SIDE)):
        mine = _place(middle, wide, before_it, row, most)
        if all(_clear(mine, middle, other, wanted[place][0]) for place, other in enumerate(before)):
            yield from _search(wanted, most, rows, [*before, mine])


def _place(middle: float, wide: float, before_it: float, row: int, most: float) -> Place:
    """Return where words stand of which so many pixels are left of what they name."""
    left = max(min(middle - before_it, most - wide), 0.0)
    return Place(left, left + wide, row)


def _clear(one: Place, mine: float, other: Place, its: float) -> bool:
    """Whether two words do not touch, and the line of the upper one does not cross the lower."""
    if one.row == other.row:
        return one.right + APART <= other.left or other.right + APART <= one.left
    lower, line = (other, mine) if one.row > other.row else (one, its)
    return not lower.left < line < lower.right


def _one_by_one(wanted: Sequence[tuple[float, float]], most: float) -> list[Place]:
    """Return places each in the lowest row where it touches none before."""
    found: list[Place] = []
    for middle, wide in wanted:
        row = 0
        while any(
            each.row == row and each.left - APART < right and left < each.right + APART
            for left, right, *_ in [_place(middle, wide, wide / 2, row, most)]
            for each in found
        ):
            row += 1
        found.append(_place(middle, wide, wide / 2, row, most)._replace(led=False))
    return found
