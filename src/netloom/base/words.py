"""Numbers and lists of names in words, for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from math import floor, inf, log10
from textwrap import wrap
from typing import Any

_HELD = "\0"
"""What stands for a space at which no line breaks, while lines are made."""

_BEFORE_UNIT = re.compile(
    r"(?<=[\d∞]) (?=(?:%|[kMGTP]?i?[bB](?:/s)?|[munpµ]?s|min|h|cycles?|flits?(?:/\S+)?)(?![\w-]))"
)
"""The space between a number and its unit."""

LARGE = ((1e15, "\u00a0P"), (1e12, "\u00a0T"), (1e9, "\u00a0G"), (1e6, "\u00a0M"))
"""Prefixes of numbers from a million on, after a space at which no line breaks."""


def counted(many: float | str, what: str, form: str = "") -> str:
    """Return how many there are of something: a number, or one in words, and its noun.

    Examples
    --------
    >>> counted(1, "path"), counted(1200, "path", ","), counted(1.0, "cycle", ".4g")
    ('1 path', '1,200 paths', '1 cycle')
    >>> counted(0, "entry"), counted("1", "switch"), counted(2, "switch")
    ('0 entries', '1 switch', '2 switches')
    """
    shown = f"{many:{form}}"
    if shown == "1":
        return f"1 {what}"
    if what.endswith("y") and what[-2] not in "aeiou":
        return f"{shown} {what[:-1]}ies"
    return f"{shown} {what}{'es' if what.endswith(('ch', 'sh', 's', 'x')) else 's'}"


def number(value: Any) -> str:
    r"""Return a number as people read it, or whatever else as it is.

    Whole numbers below a million have all digits, others three significant ones. Larger numbers
    have a prefix, such as M for millions.

    Examples
    --------
    >>> number(0.123456), number(12345.6), number(1202), number(12_345_678)
    ('0.123', '12,346', '1,202', '12.3\xa0M')
    >>> number(None), number(True), number("mesh:4x4")
    ('–', 'yes', 'mesh:4x4')
    """
    if value is None or value != value:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str) or not isinstance(value, int | float):
        return str(value)
    value += 0  # no less than nothing
    size = abs(value)
    if size == inf:
        return "∞" if value > 0 else "−∞"
    if 999.5 <= size < 999_999.5 or (size < 1e6 and float(value).is_integer()):
        return f"{value:,.0f}"
    scale, prefix = next((each for each in LARGE if size >= each[0] * 0.9995), (1, ""))
    return f"{value / scale:.3g}{prefix}".replace("e-0", "e-")


def give_or_take(value: float | None, half_width: float | None) -> str:
    r"""Return a mean with half of its interval, which says how many decimals the mean has.

    Examples
    --------
    >>> give_or_take(23.456, None), give_or_take(23.456, 0.123) == "23.46\u00a0±\u00a00.12"
    ('23.5', True)
    >>> give_or_take(1520.3, 14.2) == "1,520\u00a0±\u00a014", give_or_take(None, None)
    (True, '–')
    """
    if value is None or half_width is None or not 0 < half_width < 1e6:
        return number(value)
    decimals = max(1 - floor(log10(half_width)), 0)
    return f"{value:,.{decimals}f}\u00a0±\u00a0{half_width:,.{decimals}f}"


def share(value: float) -> str:
    r"""Return a share in percent, with its sign.

    Examples
    --------
    >>> [each.replace("\u00a0", " ") for each in (share(0.0123), share(-0.25))]
    ['+1.2 %', '−25 %']
    """
    percent = 100 * value
    said = f"{percent:+.1f}" if abs(percent) < 10 else f"{percent:+.0f}"
    return f"{said}\u00a0%".replace("-", "−")


def rounded(value: float, digits: int = 2) -> str:
    """Return a number with so many significant digits, as people read it: without an exponent.

    Examples
    --------
    >>> rounded(99.7), rounded(0.0123), rounded(1234.5)
    ('100', '0.012', '1,200')
    """
    return number(float(f"{value:.{digits}g}"))


def arrows(text: str) -> str:
    """Return text in which all arrows are one sign. Between names of ports it has spaces.

    Examples
    --------
    >>> arrows("(0,0) -> (0,1) of torus:4x4 without 6->7"), arrows("a port 1 -> b port 2")
    ('(0,0)→(0,1) of torus:4x4 without 6→7', 'a port 1 → b port 2')
    """
    if "->" not in text:
        return text
    return text.replace(" -> ", " → " if " port " in text else "→").replace("->", "→")


def held_together(text: str, space: str = "\u00a0") -> str:
    r"""Return text with spaces at which no line breaks between numbers and their units.

    Examples
    --------
    >>> held_together("Takes 408 µs in 12 steps.").replace("\xa0", "_")
    'Takes 408_µs in 12 steps.'
    """
    return _BEFORE_UNIT.sub(space, text)


def folded(text: str, width: int, first: str = "", indent: str = "") -> list[str]:
    """Return text as lines of at most so many letters. None ends between a number and its unit.

    ``first`` stands before the first line, ``indent`` before the others.

    Examples
    --------
    >>> folded("Takes 408 µs, of which 251 µs are spent in 12 steps.", 27)
    ['Takes 408 µs, of which', '251 µs are spent in 12', 'steps.']
    """
    kept = held_together(text, _HELD)
    own: dict[str, Any] = {"break_long_words": False, "break_on_hyphens": False}
    lines = wrap(kept, max(width, 1), initial_indent=first, subsequent_indent=indent, **own)
    return [line.replace(_HELD, " ") for line in lines]


def or_near(word: str, known: Iterable[str], wanted: str) -> str:
    """Return what would be right in place of a word: the known ones that are spelt like it, first.

    Examples
    --------
    >>> or_near("tours", ["mesh", "torus"], "mesh or torus")
    'torus (the nearest), or mesh or torus'
    >>> or_near("tours", [], "mesh or torus")
    'mesh or torus'
    """
    near = get_close_matches(word, known, 3)
    return f"{' or '.join(near)} (the nearest), or {wanted}" if near else wanted


def listed(words: Sequence[str], most: int = 6, last: str = "and") -> str:
    """Return words as a list, not too long. ``last`` stands before the last one.

    Examples
    --------
    >>> listed(["a", "b", "c"]), listed(["a"]), listed(list("abcdefgh"))
    ('a, b and c', 'a', 'a, b, c, d, e and 3 more')
    """
    shown = list(words)
    if len(shown) > most:
        shown = [*shown[: most - 1], f"{len(shown) - most + 1} more"]
    if len(shown) < 2:
        return "".join(shown)
    return f"{', '.join(shown[:-1])} {last} {shown[-1]}"


def percent(value: float | None, digits: int = 0) -> str:
    """Return a fraction as a percentage, perhaps of so many digits. ``–`` where there is none."""
    if value is None or value - value != 0:
        return "–"
    if digits:
        value = float(f"{value:.{digits}g}")
    if 0 < abs(value) < 1e-5:
        return "below 0.001\u00a0%"
    return f"{number(float(f'{100 * value + 0.0:.3g}'))}\u00a0%"


def shares(*values: float) -> list[str]:
    r"""Return shares in percent, with as few digits as tell them apart: two, or more.

    From 100 % on all digits before the point are told.

    Examples
    --------
    >>> [each.replace("\xa0", " ") for each in shares(0.2776, 0.5781)]
    ['28 %', '58 %']
    >>> [each.replace("\xa0", " ") for each in shares(1.8168, 3.63)]
    ['182 %', '363 %']
    >>> [each.replace("\xa0", " ") for each in shares(0.5776, 0.5781)]
    ['57.76 %', '57.81 %']
    """
    for digits in range(2, 17):
        rounded = [
            float(f"{each:.{digits}g}") if each < 1 else round(each, max(digits - 1, 2))
            for each in values
        ]
        if len(set(rounded)) == len(set(values)):
            break
    if digits <= 3:
        return list(map(percent, rounded))
    return [f"{100 * each:.{digits}g}\u00a0%" for each in values]


def load_share(value: float | None) -> str:
    r"""Return a limit of the load in percent, as sentences, tables and pictures have it alike.

    Examples
    --------
    >>> load_share(0.2776).replace("\xa0", " "), load_share(None)
    ('28 %', '–')
    """
    return percent(None) if value is None else shares(value)[0]


def begun(words: str) -> str:
    """Return words that begin a sentence, with a capital letter.

    Examples
    --------
    >>> begun("channel s1-1->leaf1 carries most"), begun("")
    ('Channel s1-1->leaf1 carries most', '')
    """
    return words[:1].upper() + words[1:]
