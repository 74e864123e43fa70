"""The sides of families by name: ``leaf-spine:leaves=32,spines=8,hosts=24`` is ``32x8x24``.

A family declares its sides in one line, ``leaves, spines, hosts per leaf / cables?``: numbers that
``x`` parts before each slash, and what may be left out marked ``?``. The first word is the name.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from netloom.base.errors import InputError
from netloom.base.words import or_near

UNCOUNTED = (
    "sides", "length", "dimensions", "q", "pes", "children", "parents", "parallel",
    "seed", "wiring",
)  # fmt: skip
"""Sides that are no counts of parts, or that the spec says clearly."""


class Side(NamedTuple):
    """One side: its name, what it counts, in which part between slashes, whether it is needed."""

    name: str
    words: str
    part: int
    needed: bool


def sides_of(declared: str) -> list[Side]:
    """Return the sides that a family declares.

    Examples
    --------
    >>> [(side.name, side.needed) for side in sides_of("sides / hosts per router?")]
    [('sides', True), ('hosts', False)]
    """
    return [
        Side(words.split()[0].rstrip("?"), words.strip().rstrip("?"), part, not words.endswith("?"))
        for part, group in enumerate(declared.split(" / "))
        for words in group.split(",")
    ]


def in_order(argument: str, declared: str, spec: str) -> str:
    """Return the argument of a spec with its sides in their order, from one with their names.

    Raises
    ------
    InputError
        If a side is missing, is named twice, or there is none of that name.

    Examples
    --------
    >>> in_order("spines=8,leaves=32,hosts=24", "leaves, spines, hosts per leaf / cables?", "")
    '32x8x24'
    """
    known = sides_of(declared)
    given: dict[str, str] = {}
    for word in argument.split(","):
        name, sign, value = (each.strip() for each in word.partition("="))
        names = [side.name for side in known]
        if not sign or not value or name not in names:
            raise InputError(spec, f"'{word.strip()}'", or_near(name, names, _wanted(known)))
        if name in given:
            raise InputError(spec, f"two values of {name}", _wanted(known))
        given[name] = value
    missing = [side.name for side in known if side.needed and side.name not in given]
    if missing:
        raise InputError(spec, f"no {' and no '.join(missing)}", _wanted(known))
    parts = [
        "x".join(given[side.name] for side in known if side.part == part and side.name in given)
        for part in range(known[-1].part + 1)
    ]
    return "/".join(filter(None, parts))


def by_name(argument: str, declared: str) -> dict[str, str]:
    """Return the sides of an argument that has them in their order, by name. {} if it has others.

    Examples
    --------
    >>> by_name("32x8x24", "leaves, spines, hosts per leaf / cables?")
    {'leaves': '32', 'spines': '8', 'hosts': '24'}
    """
    known, found = sides_of(declared), dict[str, str]()
    groups = [[side for side in known if side.part == n] for n in range(known[-1].part + 1)]
    for text in argument.split("/"):
        if text.isalpha():  # a word, which may stand where numbers are left out
            groups = [group for group in groups if group[0].name == "wiring"]
        if not groups:
            return {}
        group = groups.pop(0)
        values = [text] if len(group) == 1 else text.split("x")
        if len(values) != len(group) or "=" in text:
            return {}
        found |= {side.name: value for side, value in zip(group, values, strict=True)}
    return found


def in_words(argument: str, declared: str) -> str:
    """Return what a network has, in words: "" where its spec says it.

    Examples
    --------
    >>> in_words("32x24x8", "leaves, spines, hosts per leaf / cables?")
    '32 leaves, 24 spines, 8 hosts per leaf'
    >>> in_words("1x2x4/1", "units, computers per unit, rails / cables per leaf and spine?")
    '1 unit, 2 computers per unit, 4 rails, 1 cable per leaf and spine'
    """
    words = {side.name: side.words for side in sides_of(declared)}
    found = by_name(argument, declared)
    return ", ".join(
        f"{value} {_one(words[name]) if value == '1' else words[name]}"
        for name, value in found.items()
        if name not in UNCOUNTED
    )


def _one(words: str) -> str:
    """Return what is counted, of which there is one."""
    noun, *rest = re.split(r" (?=per |between |of |each )", words, maxsplit=1)
    noun = noun.replace("leaves", "leafs").removesuffix("s")
    return " ".join([noun, *rest])


def _wanted(known: list[Side]) -> str:
    said = ", ".join(f"{side.name}=N" for side in known if side.needed)
    more = ", ".join(f"{side.name}=N" for side in known if not side.needed)
    return f"{said}, perhaps {more}" if more else said
