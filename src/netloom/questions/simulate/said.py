"""How verdicts of simulations say shares and means, and from when on a network is slow."""

from __future__ import annotations

from netloom.base.words import number
from netloom.questions.shown import percent

SLOW = 3.0
"""Latency, in times that of the idle network, from which a network counts as saturated."""


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
