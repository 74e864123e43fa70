"""How wide text is, about, and names that fit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

SIZE = 12
"""Pixels of the smallest text of a picture."""

LINE = 16
"""Pixels from line to line."""

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
