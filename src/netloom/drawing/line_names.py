"""Where the names of lines stand: near their ends, on no line, and apart from one another."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netloom.drawing.networks.letters import width_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Point = tuple[float, float]
    Lines = Iterable[Sequence[Point]]

LINE = 15.0
"""Pixels from name to name."""

GAP = 9.0
"""Pixels from the end of a line to its name."""

AROUND = 2.0
"""Pixels round a name that no line crosses."""

BESIDE = 0.85
"""Part of the width from which on names stand beside the axes."""

SAME = 2.0
"""Pixels up to which two lines look like one."""


class Box(NamedTuple):
    """A rectangle."""

    left: float
    top: float
    right: float
    bottom: float


class Name(NamedTuple):
    """A bold name: what it says, where it begins, and in the middle of which height."""

    said: str
    x: float
    y: float

    @property
    def box(self) -> Box:
        """What it covers."""
        half = LINE / 2 - 1
        wide = width_of(self.said, bold=True)
        return Box(self.x, self.y - half, self.x + wide, self.y + half)


def named(
    ends: Sequence[tuple[str, float, float]], width: float, height: float, lines: Lines = ()
) -> list[Name]:
    """Return the names of lines that end at places in pixels, in the order of ``ends``.

    A line that ends near the right side has its name beside the axes. Others have it at their ends,
    where neither a line nor another name is. If there is no such place, it stands beside the axes.

    Examples
    --------
    >>> [each.x for each in named([("one", 100, 50), ("two", 400, 50)], 400, 300)]
    [104.5, 409.0]
    """
    across = [list(line) for line in lines]
    found: dict[int, Name] = {}
    beside = []
    for at, (said, x, y) in sorted(enumerate(ends), key=lambda each: each[1][2]):
        others = [each.box for each in found.values()]
        wide = width_of(said, bold=True)
        free = (
            each for each in _places(said, x, y, wide, height)
            if _is_free(each.box, width, height, across, others)
        )  # fmt: skip
        inside = x + GAP + wide < BESIDE * width
        place = next(free, None) if inside else None
        if place is None:
            beside.append(at)
        else:
            found[at] = place
    tops = apart([ends[at][2] for at in beside], height)
    found |= {at: Name(ends[at][0], width + GAP, y) for at, y in zip(beside, tops, strict=True)}
    return [found[at] for at in range(len(ends))]


def apart(places: Sequence[float], most: float, line: float = LINE) -> list[float]:
    """Return places of labels from the top on, moved so that no two touch.

    Examples
    --------
    >>> apart([0.0, 2.0, 90.0, 99.0], 100.0, 10.0)
    [0.0, 10.0, 90.0, 100.0]
    """
    found = list[float]()
    for each in places:
        found.append(max(each, found[-1] + line) if found else each)
    for number in range(len(found) - 1, -1, -1):
        below = most if number == len(found) - 1 else found[number + 1] - line
        found[number] = min(found[number], below)
    return found


def look_alike(one: Sequence[Point], other: Sequence[Point]) -> bool:
    """Whether two lines have points at the same places across, and look like one line.

    Examples
    --------
    >>> look_alike([(0, 1), (5, 9)], [(0, 2), (5, 8)]), look_alike([(0, 1)], [(0, 1), (5, 9)])
    (True, False)
    """
    return [x for x, _ in one] == [x for x, _ in other] and all(
        abs(mine - theirs) <= SAME for (_, mine), (_, theirs) in zip(one, other, strict=True)
    )


def crosses(box: Box, one: Point, other: Point) -> bool:
    """Whether a straight line from one point to another goes through a rectangle.

    Examples
    --------
    >>> crosses(Box(0, 0, 10, 10), (-5, 5), (20, 6)), crosses(Box(0, 0, 10, 10), (-5, 5), (5, 20))
    (True, False)
    """
    first, last = 0.0, 1.0
    for start, end, low, high in (
        (one[0], other[0], box.left, box.right), (one[1], other[1], box.top, box.bottom)
    ):  # fmt: skip
        if start == end:
            if not low <= start <= high:
                return False
            continue
        near, far = sorted(((low - start) / (end - start), (high - start) / (end - start)))
        first, last = max(first, near), min(last, far)
    return first <= last


def _places(said: str, x: float, y: float, wide: float, height: float) -> list[Name]:
    """Return where a name may stand: right of the end, left, and lower on both sides."""
    above = max(y - LINE / 2, LINE / 2)
    level, below = (min(each, height - LINE / 2) for each in (max(y, LINE / 2), y + LINE))
    right, left = x + GAP, x - GAP - wide
    return [
        Name(said, right - GAP / 2, above), Name(said, right, level), Name(said, left, above),
        Name(said, left, level), Name(said, right, below),
    ]  # fmt: skip


def _is_free(
    box: Box, width: float, height: float, lines: Lines, others: Sequence[Box]
) -> bool:  # fmt: skip
    """Whether a name fits inside of the axes, on no line and on no other name."""
    if box.left < AROUND or box.right > width or box.bottom > height:
        return False
    if any(
        box.left < other.right and other.left < box.right
        and box.top < other.bottom and other.top < box.bottom
        for other in others
    ):  # fmt: skip
        return False
    room = Box(box.left - AROUND, box.top - AROUND, box.right + AROUND, box.bottom + AROUND)
    return not any(
        crosses(room, line[at], line[at + 1]) for line in lines for at in range(len(line) - 1)
    )
