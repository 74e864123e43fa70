"""How much room a picture has: on a page in a wide window, or in a narrow one."""

from __future__ import annotations

from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WIDE, HALF, NARROW = 1040.0, 500.0, 328.0
"""Pixels that one part may take: on a page of 1,180 pixels, beside another there, and on 390."""

_ROOM: ContextVar[float] = ContextVar("room", default=WIDE)


def room() -> float:
    """Return how many pixels a part of a picture may be wide.

    Examples
    --------
    >>> with narrow_page():
    ...     room()
    328.0
    >>> room()
    1040.0
    """
    return _ROOM.get()


@contextmanager
def narrow_page(pixels: float = NARROW) -> Iterator[None]:
    """Have all parts drawn for a narrow window, or for so many pixels, meanwhile."""
    before = _ROOM.set(pixels)
    try:
        yield
    finally:
        _ROOM.reset(before)
