"""Which points of an experiment are to be answered next: as far as a curve has a meaning.

A curve goes from low load to high. It ends at the first level at which the network saturates.
Between that and the level before, points are added, each in the middle of the remaining interval.
So the levels depend on the answers alone, and not on the order in which they come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from netloom.experiments.points import Point
    from netloom.experiments.store import Outcome


@dataclass(frozen=True, eq=False)
class Curve:
    """Points that differ in their level (and seed) only, by level, rising."""

    levels: Mapping[float, tuple[Point, ...]]

    @property
    def points(self) -> list[Point]:
        """The points of the experiment file, level by level."""
        return [point for points in self.levels.values() for point in points]


class Step(NamedTuple):
    """What a curve needs next.

    Attributes
    ----------
    wanted
        Points that must be answered before it is known how to go on.
    perhaps
        Points that will be wanted unless the curve ends before them.
    added
        Points near the knee that the curve has beside those of the experiment file, answered or
        not.
    """

    wanted: list[Point]
    perhaps: list[Point]
    added: tuple[Point, ...] = ()


def curves_of(points: Iterable[Point]) -> list[Curve]:
    """Return the curves that points form, in the order of their first points."""
    found: dict[str, dict[float, list[Point]]] = {}
    for point in points:
        found.setdefault(point.curve, {}).setdefault(point.level, []).append(point)
    return [
        Curve({level: tuple(levels[level]) for level in sorted(levels)})
        for levels in found.values()
    ]


def next_step(curve: Curve, known: Mapping[str, Outcome]) -> Step:
    """Return what a curve needs next. ``known`` is what is answered, by key."""
    low, high = 0.0, None
    levels = iter(curve.levels.items())
    for level, points in levels:
        wanted = _missing(points, known)
        if wanted:
            later = [point for _, points in levels for point in points]
            return Step(wanted, _missing(later, known))
        if is_past(points, known):
            high = level
            break
        low = level
    if high is None:
        return Step([], [])
    added: list[Point] = []
    first = next(iter(curve.levels.values()))
    for _ in range(first[0].knee):
        middle = round((low + high) / 2, 12)
        if not low < middle < high:  # nothing is left between them
            break
        points = tuple(point.at(middle) for point in first)
        added += points
        wanted = _missing(points, known)
        if wanted:
            return Step(wanted, [], tuple(added))
        if is_past(points, known):
            high = middle
        else:
            low = middle
    return Step([], [], tuple(added))


def is_past(points: Iterable[Point], known: Mapping[str, Outcome]) -> bool:
    """Whether the network saturates at a level, in half or more of the runs there."""
    told = [known[point.key].saturated for point in points if point.key in known]
    return 0 < len(told) <= 2 * sum(each is True for each in told)


def up_to_saturation(
    points: Iterable[Point], known: Mapping[str, Outcome]
) -> tuple[list[Point], int]:
    """Return the answered points that count, and how many have no answer yet.

    Of every curve, those up to its lowest level past saturation, in rising order: what happened to
    be answered beyond is left out.
    """
    counting: list[Point] = []
    missing = 0
    for curve in curves_of(points):
        for level in curve.levels.values():
            counting += [point for point in level if point.key in known]
            missing += len(_missing(level, known))
            if is_past(level, known):
                break
    return counting, missing


def _missing(points: Iterable[Point], known: Mapping[str, Outcome]) -> list[Point]:
    return [point for point in points if point.key not in known]
