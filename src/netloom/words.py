"""Numbers and lists of names in words, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


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
    """Return a number with four digits, or whatever else as it is.

    Examples
    --------
    >>> number(0.123456), number(12345.6), number(3), number(None), number("yes")
    ('0.1235', '12,346', '3', '–', 'yes')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if value != value:
            return "–"
        return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"
    return str(value)


def give_or_take(value: float | None, half_width: float | None) -> str:
    r"""Return a mean with half of its interval.

    Examples
    --------
    >>> give_or_take(23.456, None), give_or_take(23.456, 0.123) == "23.46\u00a0±\u00a00.12"
    ('23.46', True)
    """
    if half_width is None or value is None:
        return number(value)
    return f"{number(value)}\u00a0±\u00a0{half_width:.2g}"


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


def listed(words: Sequence[str], most: int = 6) -> str:
    """Return words as a list, not too long.

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
    return f"{', '.join(shown[:-1])} and {shown[-1]}"
