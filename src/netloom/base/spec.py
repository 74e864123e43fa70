"""The one grammar that names things everywhere: ``name:argument``, for example ``torus:4x4x4``."""

from __future__ import annotations

from contextlib import suppress
from math import inf, isfinite, prod

from netloom.base.errors import InputError

MAX_ELEMENTS = 2**28
"""Most nodes, channels, tasks or edges that netloom takes in (indices are int32, memory is not
free): a size above it is refused before any memory is taken."""


SPELLINGS = {
    "neighbor": "neighbour", "neighbor-self": "neighbour-self",
    "hot-spot": "hotspot", "hot-spot-self": "hotspot-self",
}  # fmt: skip
"""Other spellings of names and commands, which are taken as well."""


def split_spec(spec: str) -> tuple[str, str]:
    """Split ``name:argument`` at its first colon.

    Examples
    --------
    >>> split_spec("torus:4x4x4")
    ('torus', '4x4x4')
    >>> split_spec("identity")
    ('identity', '')
    >>> split_spec("neighbor:8x8")  # however it is spelled
    ('neighbour', '8x8')
    """
    name, _, argument = spec.partition(":")
    name = name.strip().lower()
    return SPELLINGS.get(name, name), argument.strip()


MOST_WHOLE = 10**18 - 1
"""What a whole number that has no bound of its own is bounded by: it fits in 64 bits."""

MOST_DIGITS = 20
"""Digits of a whole number that is read."""


def whole_number(
    text: str, *, where: str, least: int = 0, most: int = MOST_WHOLE, base: int = 10
) -> int:
    """Read a whole number from ``least`` to ``most``, or raise ``InputError`` naming ``where``.

    Examples
    --------
    >>> whole_number("64", where="ring:64"), whole_number("c0ff", where="a LID", base=16)
    (64, 49407)
    """
    number = -1
    if len(text) <= MOST_DIGITS and text.isascii() and text.isalnum():
        with suppress(ValueError):
            number = int(text, base)
    if not least <= number <= most:
        bounds = f"of at least {least}" if most == MOST_WHOLE else f"from {least} to {most}"
        raise InputError(where, f"'{text:.60}'", f"a whole number {bounds}")
    return number


def real_number(text: str, *, where: str) -> float:
    """Read a finite number, or raise ``InputError`` naming ``where``.

    Examples
    --------
    >>> real_number("0.25", where="load")
    0.25
    """
    try:
        number = float(text)
    except ValueError:
        number = inf
    if not isfinite(number):
        raise InputError(where, f"'{text}'", "a number")
    return number


def parse_sides(argument: str, *, where: str) -> tuple[int, ...]:
    """Read the sides of a cube, ``8x8`` or ``4x4x2``, each at least 1.

    Raises
    ------
    InputError
        If a side is not a positive whole number, or there are more than ``MAX_ELEMENTS`` nodes.

    Examples
    --------
    >>> parse_sides("4x4x2", where="mesh:4x4x2")
    (4, 4, 2)
    """
    if not argument:
        raise InputError(where, "no sides", "sides such as 8x8")
    sides = tuple(whole_number(side, where=where, least=1) for side in argument.split("x"))
    check_size(prod(sides), where=where, what="nodes")
    return sides


def power_of_two(text: str, *, where: str) -> int:
    """Read N = 2^n and return n.

    Examples
    --------
    >>> power_of_two("64", where="shuffle:64")
    6
    """
    number = whole_number(text, where=where, least=1)
    check_size(number, where=where, what="tasks")
    if number & (number - 1):
        raise InputError(where, text, "a power of two")
    return number.bit_length() - 1


def check_size(count: int, *, where: str, what: str) -> None:
    """Refuse ``count`` when it is above ``MAX_ELEMENTS``, before memory is taken for it."""
    if count > MAX_ELEMENTS:
        raise InputError(where, f"{count} {what}", f"at most {MAX_ELEMENTS}")
