"""Pairs of curves: which one is faster at which loads, where they cross, and which carries more."""

from __future__ import annotations

from itertools import combinations
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.words import counted, number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from netloom.report.page.curves import Curve, CurveGroup

MOST_PAIRS = 6
"""Pairs that are spoken of one by one; of more curves only the pairs that cross, as many."""


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

    loads: NDArray[np.float64]
    ratio: NDArray[np.float64]
    faster: NDArray[np.int64]
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


def _crossings(
    loads: NDArray[np.float64], gap: NDArray[np.float64], faster: NDArray[np.int64]
) -> tuple[Crossing, ...]:
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


def _rising(
    places: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    order = np.argsort(places)
    return places[order], values[order]


def pair_sentences(group: CurveGroup) -> list[str]:
    """Return a sentence for each pair of simulated curves; of many, for those that cross."""
    pairs = list(combinations(group.simulated, 2))
    compared = [(one, other, compare_pair(one, other)) for one, other in pairs]
    if len(pairs) <= MOST_PAIRS:
        said = [_pair_sentence(*each, several=len(pairs) > 1) for each in compared]
        return [each for each in said if each]
    crossing = [each for each in compared if each[2].crossings]
    said = [_pair_sentence(*each, several=True) for each in crossing[:MOST_PAIRS]]
    if len(crossing) > MOST_PAIRS:
        said.append(f"{counted(len(crossing) - MOST_PAIRS, 'more pair')} of curves cross.")
    return said


def _pair_sentence(one: Curve, other: Curve, pair: Pair, *, several: bool) -> str:
    """Return what two curves come to beside each other; "" if they share no load."""
    if len(pair.loads) < 2:
        return ""
    if pair.faster.sum() < 0 and not pair.crossings:
        return _pair_sentence(other, one, compare_pair(other, one), several=several)
    said = _crossed(one, other, pair) if pair.crossings else _slower(one, other, pair)
    carries = _carries(one, other) if several else ""
    said = f"{said}{'; ' if carries else ''}{carries}."
    if all(curve.table["high"].is_null().all() for curve in (one, other)):
        said += " These are single runs without intervals."
    return said if ":" in said.split()[0] else said[:1].upper() + said[1:]


def _slower(one: Curve, other: Curve, pair: Pair) -> str:
    """Return by how much the other curve is slower, and where that is sure."""
    ends = f"{number(float(pair.loads[0]))} to {number(float(pair.loads[-1]))}"
    sure = np.flatnonzero(pair.faster)
    if not len(sure):
        return (
            f"between {one.label} and {other.label} no difference in latency is sure at any load "
            f"that both carry ({ends})"
        )
    low, high = (_percent(pick(pair.ratio[sure])) for pick in (np.min, np.max))
    longer = f"{other.label} takes {low if low == high else f'{low} to {high}'}\u00a0% longer"
    if len(sure) == len(pair.loads):
        return f"{longer} than {one.label} at every load that both carry ({ends})"
    where = _runs_of_loads(pair.loads, sure)
    return f"{longer} than {one.label} at {where}, and at no other load is a difference sure"


def _percent(ratio: float) -> str:
    """Return a ratio in per cent, in at most three digits.

    Examples
    --------
    >>> _percent(0.0321), _percent(0.613), _percent(2.5)
    ('3.2', '61', '250')
    """
    percent = 100 * float(ratio)
    return f"{percent:.1f}" if percent < 10 else f"{percent:.0f}"


def _crossed(one: Curve, other: Curve, pair: Pair) -> str:
    """Return where a pair crosses, and which curve is faster below and above."""
    places = [
        f"{number(each.load)} (between {number(each.low)} and {number(each.high)})"
        for each in pair.crossings
    ]
    first = pair.faster[np.flatnonzero(pair.faster)[0]]
    below, above = (one, other) if first > 0 else (other, one)
    cross = f"the latencies of {one.label} and {other.label} cross at {', '.join(places)}"
    if len(places) == 1:
        return f"{cross}: {below.label} is faster below, {above.label} above"
    return f"{cross}: {below.label} is faster below the first"


def _runs_of_loads(loads: NDArray[np.float64], chosen: NDArray[np.int64]) -> str:
    """Return chosen loads as ranges of neighbours.

    Examples
    --------
    >>> _runs_of_loads(np.array([0.1, 0.2, 0.3, 0.4]), np.array([0, 2, 3]))
    '0.1 and 0.3 to 0.4'
    """
    parts = np.split(chosen, np.flatnonzero(np.diff(chosen) > 1) + 1)
    said = [
        number(float(loads[part[0]]))
        + (f" to {number(float(loads[part[-1]]))}" if len(part) > 1 else "")
        for part in parts
    ]
    return " and ".join([", ".join(said[:-1]), said[-1]] if len(said) > 1 else said)


def _carries(one: Curve, other: Curve) -> str:
    """Return which of two curves carries more before it saturates; "" if that is open."""
    first, second = bounds(one), bounds(other)
    if first is None or second is None:
        return ""
    if first[0] >= second[1]:
        most, least, who = first, second, one
    elif second[0] >= first[1]:
        most, least, who = second, first, other
    else:
        return ""
    times = times_said(most[0] / least[1], most[1] / least[0] if least[0] else inf)
    much = "more" if times in ("1", "at least 1") else f"{times} times as much"
    return f"{who.label} carries {much}"


def bounds(curve: Curve) -> tuple[float, float] | None:
    """Return between which loads a curve saturates, as far as is known; None if it has no load."""
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
