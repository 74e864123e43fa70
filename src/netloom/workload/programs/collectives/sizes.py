"""Sizes of collectives, as people write ranges of them, and in words where something holds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base import units
from netloom.base.errors import InputError
from netloom.base.spec import real_number
from netloom.base.units import parse_bytes
from netloom.base.words import listed

if TYPE_CHECKING:
    from collections.abc import Iterator

FACTOR = 4.0
"""Between the sizes of a range that says none."""

MOST_SIZES = 64

WANTED = "a size (64MB), several (1KB,1MB), or a range (1KB:1GB, by 4; 1KB:1GB:2, by 2)"


def parse_sizes(given: Any) -> tuple[float, ...]:
    """Return sizes in bytes, rising, none twice.

    Raises
    ------
    InputError
        If one is none or 0, a range falls or its factor is not above 1, or there are too many.

    Examples
    --------
    >>> parse_sizes("1KB:64KB"), parse_sizes("1MB,8"), parse_sizes("1:10:3")
    ((1000.0, 4000.0, 16000.0, 64000.0), (8.0, 1000000.0), (1.0, 3.0, 9.0, 10.0))
    """
    some = given.split(",") if isinstance(given, str) else given
    some = list(some) if isinstance(some, list | tuple) else [some]
    found: set[float] = set()
    for each in some:
        for size in _range_of(each) if isinstance(each, str) and ":" in each else [_size(each)]:
            found.add(size)
            if len(found) > MOST_SIZES:
                raise InputError("size", f"more than {MOST_SIZES} sizes", WANTED)
    if not found:
        raise InputError("size", "none", WANTED)
    return tuple(sorted(found))


def _size(given: Any) -> float:
    size = parse_bytes(given, where="size")
    if not size:
        raise InputError("size", "0", WANTED)
    return size


def _range_of(given: str) -> Iterator[float]:
    """Yield the sizes of a range: those by its factor, and its end."""
    parts = given.split(":")
    if len(parts) > 3:
        raise InputError("size", f"'{given}'", WANTED)
    size, end = _size(parts[0]), _size(parts[1])
    factor = real_number(parts[2], where="size") if len(parts) == 3 else FACTOR
    if not size <= end:
        raise InputError("size", f"'{given}', which falls", WANTED)
    if not factor > 1:
        raise InputError("size", f"'{given}', by {factor:g}", "a factor above 1")
    while size < end * (1 - 1e-9):
        yield size
        size *= factor
    yield end


def size_ranges(sizes: list[float], some: list[float]) -> str:
    """Return in words at which of all sizes something holds.

    Examples
    --------
    >>> size_ranges([1e3, 1e4, 1e5], [1e4, 1e5]), size_ranges([1e3, 1e4], [1e3])
    ('from 10 kB', 'at 1 kB')
    >>> size_ranges([1.0], [1.0])
    'at 1 B'
    >>> size_ranges([1.0, 2.0, 3.0, 4.0], [1.0, 3.0])
    'at 1 B and 3 B'
    """
    if len(some) == 1:
        return f"at {units.size(some[0])}"
    if some == sizes:
        return "at all sizes"
    first, last = sizes.index(some[0]), sizes.index(some[-1])
    if some != sizes[first : last + 1]:
        return f"at {listed([units.size(each) for each in some])}"
    if last == len(sizes) - 1:
        return f"from {units.size(some[0])}"
    if first == 0:
        return f"up to {units.size(some[-1])}"
    return f"from {units.size(some[0])} to {units.size(some[-1])}"
