"""Lists of names as batch systems write them: ``n[001-064,070]``."""

from __future__ import annotations

import re
from itertools import product
from math import prod
from typing import TYPE_CHECKING

from netloom.base.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

WORD = re.compile(r"(?:\([^()]*\)|\[[^\[\]]*\]|[^,\s])+")
"""A word of a list, between commas and blanks: these may be in ``(0,3)`` or ``n[3-7,9]``."""

MOST_NAMED = 2**24
"""Most names in a list, each as often as it stands there."""

MOST_DIGITS = 9
"""Digits of a number in brackets."""

NAMES = "names such as h0, h[2-15] or n[001-064,070]"


def words_of(text: str) -> list[str]:
    """Split a list at its commas and blanks, but not inside brackets.

    Examples
    --------
    >>> words_of("n[3-7,9] n12,(0,3)")
    ['n[3-7,9]', 'n12', '(0,3)']
    """
    return WORD.findall(text)


def unfolded(
    word: str, *, where: str = "nodes", wanted: str = NAMES, most: int = MOST_NAMED
) -> list[str]:
    """Return the names that one word of a list stands for, in order.

    Parameters
    ----------
    word
        A name, perhaps with numbers in brackets: single ones and ranges, with commas between. The
        first number of a range says how many digits its numbers have at least. A name may have
        several brackets. The last changes fastest.
    where, wanted
        The field, or file and line, that errors name, and what they say would be right.
    most
        Most names that it may stand for.

    Raises
    ------
    InputError
        If brackets do not match or hold something else, a range goes down, or there are too many.

    Examples
    --------
    >>> unfolded("n[008-010,70]")
    ['n008', 'n009', 'n010', 'n70']
    >>> unfolded("rack[1-2]n[0,4]")
    ['rack1n0', 'rack1n4', 'rack2n0', 'rack2n4']
    """
    parts = re.split(r"\[([^\[\]]*)\]", word)
    if any("[" in part or "]" in part for part in parts[::2]):
        raise InputError(where, f"'{word:.60}'", wanted)
    ranges = [
        [_range(part.strip(), word, where, wanted) for part in inside.split(",")]
        for inside in parts[1::2]
    ]
    many = prod(sum(last - first + 1 for first, last, _ in each) for each in ranges)
    if many > most:
        raise InputError(where, f"'{word:.60}', which is {many:,} names", f"at most {most:,}")
    numbers = [
        [f"{number:0{width}}" for first, last, width in each for number in range(first, last + 1)]
        for each in ranges
    ]
    return [
        "".join(f"{part}{number}" for part, number in zip(parts[::2], (*chosen, ""), strict=True))
        for chosen in product(*numbers)
    ]


def folded(names: Iterable[str]) -> str:
    """Return names as a list that ``unfolded`` reads, word by word, in the same order.

    Names that differ in their last number alone share brackets, if they follow each other.

    Examples
    --------
    >>> folded(["n008", "n009", "n010", "n70", "login"])
    'n[008-010,70],login'
    """
    words: list[str] = []
    head, tail, runs = "", "", list[list[str]]()
    for name in names:
        split = re.fullmatch(rf"(.*?)(\d{{1,{MOST_DIGITS}}})(\D*)", name, re.ASCII | re.DOTALL)
        before, number, behind = split.groups() if split else (name, "", "")
        if not runs or not number or (before, behind) != (head, tail):
            words += [_with_brackets(head, runs, tail)] if runs else []
            head, tail, runs = before, behind, [[number, number]]
        elif number == f"{int(runs[-1][1]) + 1:0{len(runs[-1][0])}}":
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ",".join([*words, *([_with_brackets(head, runs, tail)] if runs else [])])


def _with_brackets(head: str, runs: list[list[str]], tail: str) -> str:
    """Return a name, or several of which each has another number between head and tail."""
    inside = ",".join(first if first == last else f"{first}-{last}" for first, last in runs)
    single = len(runs) == 1 and runs[0][0] == runs[0][1]
    return f"{head}{inside}{tail}" if single else f"{head}[{inside}]{tail}"


def _range(part: str, word: str, where: str, wanted: str) -> tuple[int, int, int]:
    """Return the first and the last number in ``7`` or ``003-007``, and their digits."""
    ends = re.fullmatch(r"(\d+)(?:-(\d+))?", part, re.ASCII)
    if ends is None or max(len(end or "") for end in ends.groups()) > MOST_DIGITS:
        raise InputError(where, f"'{word:.60}'", wanted)
    first, last = int(ends[1]), int(ends[2] or ends[1])
    if last < first:
        raise InputError(where, f"'{word:.60}'", "a range from its lowest number on")
    return first, last, len(ends[1])
