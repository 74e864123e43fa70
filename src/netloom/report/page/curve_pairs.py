"""Pairs of curves: which one is faster at which loads, and where they cross."""

from __future__ import annotations

from itertools import combinations
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.words import counted, number

if TYPE_CHECKING:
    from netloom.base.arrays import Floats, Ints
    from netloom.report.page.curves import Curve, CurveGroup

MOST_PAIRS = 3
"""Pairs that cross and are spoken of one by one."""


class Crossing(NamedTuple):
    """Where two curves cross.

    Attributes
    ----------
    load
        Where the lines through their points do.
    low, high
        The nearest loads below and above at which it is sure which curve is faster.
    """

    load: float
    low: float
    high: float


class Pair(NamedTuple):
    """Latency of one curve beside that of another, at all loads at which both are known.

    Attributes
    ----------
    loads
        Rising: those of both, from the greater of their first ones to the lesser of their last.
    ratio
        The other's latency over the one's, less 1.
    faster
        At each load 1 if the one is surely faster, -1 if the other is, 0 if their intervals meet.
    crossings
        Rising.
    """

    loads: Floats
    ratio: Floats
    faster: Ints
    crossings: tuple[Crossing, ...]


def compare_pair(one: Curve, other: Curve) -> Pair:
    """Compare the latencies of two simulated curves wherever all runs of both kept up.

    At a load that only one of them has a point at, 1 / latency of the other and the half of its
    interval are taken to be straight between its points.
    """
    tables = one.whole, other.whole
    if any(table.is_empty() for table in tables):
        nothing = np.zeros(0)
        return Pair(nothing, nothing, np.zeros(0, np.int64), ())
    own = [table["load"].to_numpy() for table in tables]
    least, most = max(each[0] for each in own), min(each[-1] for each in own)
    loads = np.unique(np.round(np.concatenate(own), 12))
    loads = loads[(loads >= least - 1e-9) & (loads <= most + 1e-9)]
    means, halves = [], []
    for table, places in zip(tables, own, strict=True):
        latency = table["latency"].to_numpy()
        half = (table["high"] - table["latency"]).fill_null(0.0).to_numpy()
        means.append(1 / np.interp(loads, places, 1 / latency))
        halves.append(np.interp(loads, places, half))
    gap = means[1] - means[0]
    faster = np.where(np.abs(gap) > halves[0] + halves[1], np.sign(gap), 0).astype(np.int64)
    return Pair(loads, means[1] / means[0] - 1, faster, _crossings(loads, gap, faster))


def _crossings(loads: Floats, gap: Floats, faster: Ints) -> tuple[Crossing, ...]:
    """Return where it is sure that the faster curve becomes the slower one."""
    sure = np.flatnonzero(faster)
    found = []
    for before, after in zip(sure[:-1].tolist(), sure[1:].tolist(), strict=True):
        if faster[before] == faster[after]:
            continue
        part = slice(before, after + 1)
        signs = np.sign(gap[part])
        last = before + int(np.flatnonzero(signs == signs[0])[-1])
        load = float(np.interp(0.0, *_rising(gap[[last, last + 1]], loads[[last, last + 1]])))
        found.append(Crossing(load, float(loads[before]), float(loads[after])))
    return tuple(found)


def _rising(places: Floats, values: Floats) -> tuple[Floats, Floats]:
    order = np.argsort(places)
    return places[order], values[order]


def crossing_sentences(group: CurveGroup) -> list[str]:
    """Return a sentence for each pair of simulated curves that cross, of many the first."""
    pairs = list(combinations(group.simulated, 2))
    compared = [(one, other, compare_pair(one, other)) for one, other in pairs]
    crossing = [each for each in compared if each[2].crossings]
    said = [_crossed(*each) for each in crossing[:MOST_PAIRS]]
    if len(crossing) > MOST_PAIRS:
        said.append(f"{counted(len(crossing) - MOST_PAIRS, 'more pair')} of curves cross.")
    return said


def order_at_crossing(one: Curve, other: Curve, pair: Pair) -> tuple[Curve, Curve]:
    """Return the curve that is faster below the first crossing of two, then the other one."""
    first = pair.faster[np.flatnonzero(pair.faster)[0]]
    return (one, other) if first > 0 else (other, one)


def _crossed(one: Curve, other: Curve, pair: Pair) -> str:
    """Return where a pair crosses, and which curve is faster below and above."""
    places = [
        f"{number(each.load)} (between {number(each.low)} and {number(each.high)})"
        for each in pair.crossings
    ]
    below, above = order_at_crossing(one, other, pair)
    cross = f"The latencies of {one.label} and {other.label} cross at {', '.join(places)}"
    if len(places) == 1:
        return f"{cross}: {below.label} is faster below, {above.label} above."
    return f"{cross}: {below.label} is faster below the first."


def bounds(curve: Curve) -> tuple[float, float] | None:
    """Return between which loads a curve saturates, as far as is known. None if it has no load."""
    if curve.found is not None:
        return curve.found[0] - curve.found[1], curve.found[0] + curve.found[1]
    if curve.kept_up is None and curve.fell_behind is None:
        return None
    return curve.kept_up or 0.0, curve.below


def times_said(least: float, most: float) -> str:
    """Return how many times as much something is.

    Examples
    --------
    >>> times_said(1.4, 2.0), times_said(1.4, inf), times_said(1.5, 1.5001)
    ('1.4 to 2', 'at least 1.4', '1.5')
    """
    if most == inf:
        return f"at least {least:.3g}"
    low, high = f"{least:.3g}", f"{most:.3g}"
    return low if low == high else f"{low} to {high}"
