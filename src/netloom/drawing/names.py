"""Names on pictures: how wide they are, where they stand, and what of them fits.

At the ends of lines they stand on no line and apart from one another. Above axes each has a line
down to what it names. Of files pictures show the names, without the folders they lie in.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, pairwise, product
from typing import NamedTuple

import numpy as np

from netloom.base.words import number

Point = tuple[float, float]

Lines = Iterable[Sequence[Point]]

SIZE = 12
"""Pixels of the smallest text of a picture."""

LINE = 16
"""Pixels from line to line."""

NARROW_BAND = 0.01
"""Width of an interval of loads, in times its end, that is named by one load."""

_WIDTHS = (
    dict.fromkeys("ijlI|.,:;'!` \u00a0", 0.34)
    | dict.fromkeys('frt()[]/\\-"', 0.43)
    | dict.fromkeys("mwMW@%#+=<>~&", 0.92)
    | dict.fromkeys("→←", 1.02)
    | dict.fromkeys("ABCDEFGHJKLNOPQRSTUVXYZ", 0.72)
)
"""Widths of letters in ems: of a wide sans serif, so that no other needs more room."""


def width_of(text: str, *, bold: bool = False, size: float = SIZE) -> float:
    """Return how many pixels a line of text takes, at most.

    Examples
    --------
    >>> round(width_of("leaf 3"), 1), round(width_of("leaf 3", bold=True), 1)
    (36.4, 40.7)
    """
    ems = sum(_WIDTHS.get(sign, 0.64) for sign in text)
    return ems * size * (1.12 if bold else 1.0)


def fitted(text: str, room: float, *, bold: bool = False) -> str:
    """Return a text that fits into some pixels: what it lacks is in the middle.

    Examples
    --------
    >>> fitted("MF0;A09-P1-IBLEAF-01-01", 90)
    'MF0;A…-01-01'
    """
    if width_of(text, bold=bold) <= room:
        return text
    for kept in range(len(text) - 1, 1, -1):
        short = f"{text[: kept - (kept + 1) // 2]}…{text[len(text) - (kept + 1) // 2 :]}"
        if width_of(short, bold=bold) <= room:
            return short
    return "…"


def without_common(names: Sequence[str], room: float) -> list[str]:
    """Return names that fit into some pixels: first they lose the parts that all have.

    Examples
    --------
    >>> without_common(["MF0;A09-LEAF-01", "MF0;B09-LEAF-02"], 70)
    ['A09-01', 'B09-02']
    >>> without_common(["leaf0", "leaf1"], 70)
    ['leaf0', 'leaf1']
    """
    if len(names) > 1 and max(map(width_of, names)) > room:
        parts = [re.findall(r"[0-9A-Za-z]*[^0-9A-Za-z]*", name)[:-1] for name in names]
        many = {len(each) for each in parts}
        if len(many) == 1:
            kept = [
                place for place in range(many.pop()) if len({each[place] for each in parts}) > 1
            ]
            short = ["".join(each[place] for place in kept).rstrip("-_;:./ ") for each in parts]
            names = short if all(short) else names
    return [fitted(name, room) for name in names]


NAME_LINE = 15.0
"""Pixels from name to name."""

GAP = 9.0
"""Pixels from the end of a line to its name."""

AROUND = 2.0
"""Pixels round a name that no line crosses."""

BESIDE = 0.85
"""Part of the width from which on names stand beside the axes."""

SAME = 2.0
"""Pixels up to which two lines look like one."""


def named(
    ends: Sequence[tuple[str, float, float]], width: float, height: float, lines: Lines = ()
) -> list[Point]:
    """Return where the names of lines begin that end at places in pixels, in the order of ``ends``.

    A line that ends near the right side has its name beside the axes. Others have it at their ends,
    where neither a line nor another name is. If there is no such place, it stands beside the axes.

    Examples
    --------
    >>> named([("one", 100, 50), ("two", 400, 50)], 400, 300)
    [(109.0, 42.5), (409.0, 50)]
    """
    parts = [np.linspace(*part, 100) for line in lines for part in pairwise(line)]
    taken = np.concatenate([np.empty((0, 2)), *parts])
    found, beside = {}, []
    for at, (said, x, y) in sorted(enumerate(ends), key=lambda each: each[1][2]):
        size = np.array([width_of(said, bold=True), NAME_LINE - 2])
        lefts, downs = (x + GAP, x - GAP - size[0]), (y - NAME_LINE / 2, y, y + NAME_LINE)
        places = product(lefts, downs) if x + GAP + size[0] < BESIDE * width else ()
        for left, down in places:
            low = np.array([left, down - size[1] / 2])
            clear = (taken > low - AROUND) & (taken < low + size + AROUND)
            inside = (low >= AROUND).all() and (low + size <= (width, height)).all()
            if inside and not clear.all(axis=1).any():
                found[at] = left, down
                top = np.linspace(low, low + np.array([size[0], 0]), 50)
                taken = np.concatenate([taken, top, top + np.array([0, size[1] / 2])])
                break
        else:
            beside.append(at)
    tops = apart([ends[at][2] for at in beside], height)
    found |= {at: (width + GAP, y) for at, y in zip(beside, tops, strict=True)}
    return [found[at] for at in range(len(ends))]


def apart(places: Sequence[float], most: float, line: float = NAME_LINE) -> list[float]:
    """Return places of labels from the top on, moved so that no two touch.

    Examples
    --------
    >>> apart([0.0, 2.0, 90.0, 99.0], 100.0, 10.0)
    [0.0, 10.0, 90.0, 100.0]
    """
    found = list[float]()
    for each in places:
        found.append(max(each, found[-1] + line) if found else each)
    for at in range(len(found) - 1, -1, -1):
        below = most if at == len(found) - 1 else found[at + 1] - line
        found[at] = min(found[at], below)
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
    placed: list[Place] = []  # each in the lowest row where it touches none before
    for middle, wide in wanted:
        for row in count():
            mine = _place(middle, wide, wide / 2, row, most)
            beside = (each for each in placed if each.row == row)
            if not any(
                each.left - APART < mine.right and mine.left < each.right + APART for each in beside
            ):
                break
        placed.append(mine._replace(led=False))
    return placed


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


_PATH = re.compile(
    r"(?<![\w/.~])"  # not within another word or path
    r"(?P<scheme>[A-Za-z][\w-]*:)?"  # graph:
    r"(?P<folders>(?:~|\.{1,2})?/(?!/)(?:[^\s/:,;()'\"]+/)*|(?:[^\s/:,;()'\"]+/)+)"
    r"(?P<file>[^\s/:,;()'\"]+)"
)


def base_names(text: str) -> str:
    """Return a text whose paths of files have lost their folders.

    A path begins with a folder's sign (``/``, ``./``, ``~/``) or ends in a suffix. Specifications
    and units with strokes are no paths.

    Examples
    --------
    >>> base_names("/home/me/runs/lammps.mtx on graph:./nets/fat.graphml")
    'lammps.mtx on graph:fat.graphml'
    >>> base_names("uniform on hyperx:4x4/4, flits/node/cycle")
    'uniform on hyperx:4x4/4, flits/node/cycle'
    """

    def shown(found: re.Match[str]) -> str:
        rooted = found["folders"][0] in "/.~"
        if not rooted and not re.search(r"\.[A-Za-z]\w*$", found["file"]):
            return found[0]
        return f"{found['scheme'] or ''}{found['file']}"

    return _PATH.sub(shown, text)


def band_named(name: str, low: float, high: float) -> str:
    r"""Return the name of an interval of loads with its ends, or with its middle if it is narrow.

    Examples
    --------
    >>> band_named("saturates", 0.35, 0.4), band_named("saturates", 0.3581, 0.36)
    ('saturates 0.35 to 0.4', 'saturates 0.359')
    """
    if high - low <= NARROW_BAND * high:
        return f"{name} {number((low + high) / 2)}"
    return f"{name} {number(low)} to {number(high)}"
