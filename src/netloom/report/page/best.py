"""Which of several answers to one question to take, by the figure that decides it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from netloom.base.words import listed
from netloom.questions.shown import percent
from netloom.questions.verdict import Verdict
from netloom.report.page.curve_names import name_fields
from netloom.report.page.curve_verdicts import NEAR, Tile

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

    from netloom.questions.measure import Measure
    from netloom.questions.recorded import Recorded

CHOICES = frozenset(
    {"on", "routing", "mapping", "router", "vcs", "buffer_flits", "switching", "objective"}
)
"""Fields whose values are alternatives. Programs, sizes and loads are none."""

EQUAL = 5e-4
"""Differences that nobody speaks of, in parts of the other value."""


class Best(NamedTuple):
    """What a comparison of answers comes to.

    Attributes
    ----------
    verdict
        Which to take, with the figure and how the next best compares.
    tile
        The figure that decides.
    chosen
        The names of those to take.
    """

    verdict: Verdict
    tile: Tile
    chosen: tuple[str, ...]


def best_of(answers: Sequence[tuple[Mapping[str, Any], Recorded]]) -> Best | None:
    """Return which of some answers to take, each with how its question differs from the others.

    None if they are no alternatives, or if one lacks the figure, or has another with each seed.
    """
    found: dict[str, Measure] = {}
    for varied, record in answers:
        measure = record.kind.measure(record.figures)
        if measure is None or set(varied) - CHOICES - {"seed"}:
            return None
        name = name_fields({field: value for field, value in varied.items() if field != "seed"})
        if found.setdefault(name, measure) != measure:
            return None
    if len(found) < 2 or len({each.does for each in found.values()}) > 1:
        return None
    return _compared(found)


def _compared(found: Mapping[str, Measure]) -> Best:
    """Return which of some measures is best, and by how much."""
    more = next(iter(found.values())).more
    ranked = sorted(found, key=lambda name: found[name].value, reverse=more)
    first = found[ranked[0]]
    best = [name for name in ranked if _change(found[name], first) <= EQUAL]
    rest = ranked[len(best) :]
    names = listed(best)
    if not rest:
        said = f"No difference: each {first.clause}."
        return Best(Verdict("fine", said), Tile(first.said, f"{first.what}, of each"), tuple(best))
    rival = found[rest[0]]
    change = _change(rival, first)
    others = listed([f"{name} {found[name].said}" for name in rest], 3)
    tile = Tile(first.said, f"{first.what}, {names} ({others})")
    less = f"{percent(float(f'{change:.2g}'))} {'more' if more else 'less'} than {rest[0]}"
    less += f" ({rival.said})"
    each = "each" if len(best) > 1 else "it"
    if change < NEAR:
        said = f"Little difference: {names} {first.clause}, only {less}."
        return Best(Verdict("limited", said), tile, tuple(best))
    said = f"Take {names.replace(' and ', ' or ')}: {each} {first.clause}, {less}."
    return Best(Verdict("fine", said), tile, tuple(best))


def _change(one: Measure, first: Measure) -> float:
    """Return how far the best value is from another, in parts of the other."""
    return abs(first.value - one.value) / abs(one.value) if one.value else float(first.value != 0)
