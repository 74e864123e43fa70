"""Where the times of algorithms by size cross, and which is the fastest from size to size."""

from __future__ import annotations

from itertools import pairwise
from math import exp, log
from typing import TYPE_CHECKING

from netloom.base.figures import Figures, figure

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

EQUAL = 1e-9
"""Times that differ by less are equal."""


class Winner(Figures):
    """The fastest algorithm between two sizes. None for no end."""

    algorithm: str = figure()
    from_size: float | None = figure(unit="bytes")
    to_size: float | None = figure(unit="bytes")


class Crossing(Figures):
    """Where two algorithms take equally long. Interpolated between sizes, both logarithmic.

    ``below`` is the faster of the two at smaller sizes. ``leads``: no other is faster there.
    """

    size: float = figure(unit="bytes")
    seconds: float = figure(unit="seconds")
    below: str = figure()
    above: str = figure()
    leads: bool = figure()


def crossing_points(
    sizes: Sequence[float], curves: Mapping[str, list[float]], one: str, other: str
) -> Iterator[Crossing]:
    """Yield where the curves of two algorithms cross.

    Examples
    --------
    >>> curves = {"a": [1.0, 1.0, 4.0], "b": [2.0, 2.0, 2.0], "c": [3.0, 3.0, 3.0]}
    >>> [found] = crossing_points([1.0, 4.0, 16.0], curves, "a", "b")
    >>> round(found.size, 6), round(found.seconds, 6), found.below, found.above, found.leads
    (8.0, 2.0, 'a', 'b', True)
    """
    apart = [
        0.0 if abs(a - b) <= EQUAL * b else log(a / b)
        for a, b in zip(curves[one], curves[other], strict=True)
    ]
    known = [place for place, each in enumerate(apart) if each]
    for here, there in pairwise(known):
        if apart[here] * apart[there] > 0:
            continue
        part = apart[here] / (apart[here] - apart[there])

        def between(
            values: Sequence[float], here: int = here, there: int = there, part: float = part
        ) -> float:
            return exp(log(values[here]) + part * log(values[there] / values[here]))

        seconds = between(curves[one])
        below, above = (one, other) if apart[here] < 0 else (other, one)
        yield Crossing(
            size=between(sizes),
            seconds=seconds,
            below=below,
            above=above,
            leads=all(between(times) >= seconds * (1 - EQUAL) for times in curves.values()),
        )


def winners_of(
    sizes: Sequence[float], curves: Mapping[str, list[float]], crossings: Iterable[Crossing]
) -> Iterator[Winner]:
    """Yield the fastest algorithm from size to size. One stays the winner while none is faster."""
    fastest = list[str]()
    for place in range(len(sizes)):
        times = {name: curve[place] for name, curve in curves.items()}
        least = min(times.values()) * (1 + EQUAL)
        best = [name for name, took in times.items() if took <= least]
        stays = fastest and fastest[-1] in best
        fastest.append(fastest[-1] if stays else min(best, key=lambda name: times[name]))
    begin: float | None = None
    for (one, low), (other, high) in pairwise(zip(fastest, sizes, strict=True)):
        if one != other:
            met = (
                each.size
                for each in crossings
                if {each.below, each.above} == {one, other} and low <= each.size <= high
            )
            place_ = next(met, high)
            yield Winner(algorithm=one, from_size=begin, to_size=place_)
            begin = place_
    yield Winner(algorithm=fastest[-1], from_size=begin, to_size=None)
