"""How verdicts of simulations say shares, means, and how programs delay each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.base.words import number, percent

if TYPE_CHECKING:
    from collections.abc import Iterable

NOTABLE = 1.005
"""How much slower than alone a program is beside others, in times, that is worth a word."""


def rough(share: float | None) -> str:
    r"""Return a share in per cent with two digits, near 1 with three.

    Examples
    --------
    >>> [rough(each).replace("\u00a0", " ") for each in (0.347, 0.0148, 0.9967, 0)]
    ['35 %', '1.5 %', '99.7 %', '0 %']
    """
    if share is None or abs(share) > 0.95:
        return percent(share)
    return percent(float(f"{share:.2g}"))


def around(value: float | None, half: float | None) -> str:
    r"""Return a value of three digits with half of its interval in one, as sentences have it.

    Examples
    --------
    >>> around(0.67084, 0.001919).replace("\u00a0", " "), around(0.67084, None)
    ('0.671 ± 0.002', '0.671')
    """
    if value is None or not half:
        return number(value)
    return f"{number(value)}\u00a0±\u00a0{number(float(f'{half:.1g}'))}"


def suffers(slower: Iterable[tuple[float | None, str]], said: str) -> str:
    """Return which of several programs suffers most from the others, "" if that is not known.

    ``slower`` has how many times as long as alone each takes, and its name. ``said`` has ``{}`` for
    these times.

    Examples
    --------
    >>> suffers([(1.5, "ring:8"), (None, "star:8")], "{} times its latency alone")
    'ring:8 suffers most: 1.5 times its latency alone'
    """
    known = [(times, name) for times, name in slower if times]
    if not known:
        return ""
    times, name = max(known)
    if times < NOTABLE:
        return "no program delays another"
    return f"{name} suffers most: {said.format(number(times))}"
