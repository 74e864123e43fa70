"""What curves come to: which network or router to take, by load first and by latency then."""

from __future__ import annotations

from itertools import combinations
from math import inf
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from netloom.base.words import listed, number
from netloom.questions.shown import percent
from netloom.questions.verdict import Verdict
from netloom.report.page.curve_lines import (
    capital,
    carries_most,
    is_fastest,
    kept_up_in,
    model_sentence,
)
from netloom.report.page.curve_pairs import (
    bounds,
    compare_pair,
    crossing_sentences,
    order_at_crossing,
)
from netloom.report.page.curve_table import highest_shared, saturation_said

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.report.page.curves import Curve, CurveGroup

WORTH = 1.1
"""Times the load from which on a curve is to be taken for it."""

NEAR = 0.1
"""Differences in latency up to which cost decides, as part of the lesser one."""

EQUAL = 5e-4
"""Differences in latency, as part of the lesser one, that nobody speaks of."""


class Tile(NamedTuple):
    """A number that decides, and what it is."""

    value: str
    label: str


class Decision(NamedTuple):
    """What a group of curves comes to.

    Attributes
    ----------
    verdict
        The sentence, and what it rests on.
    tiles
        The numbers of the sentence.
    chosen
        The curve to take. None if none is better.
    several
        Whether there is a choice.
    """

    verdict: Verdict
    tiles: tuple[Tile, ...]
    chosen: Curve | None
    several: bool = True


def decide(group: CurveGroup) -> Decision:
    """Return which curve of a group to take and why. Of a single curve how far it goes."""
    told = group.simulated or group.models
    found = _alone(told[0], group) if len(told) == 1 else _choice(told, group)
    verdict = found.verdict
    lines: dict[str, str] = {}
    if len(told) > 1 and group.axes.open:
        lines["load"] = carries_most(told)
    if len(group.simulated) > 1:
        lines["latency"] = is_fastest(group)
        lines["crossing"] = " ".join(crossing_sentences(group))
    lines["model"] = model_sentence(group)
    verdict = Verdict(
        verdict.mark, verdict.sentence, verdict.of,
        {label: said for label, said in lines.items() if said}, note=_partly(group),
    )  # fmt: skip
    return Decision(verdict, found.tiles, found.chosen, len(told) > 1)


def _partly(group: CurveGroup) -> str:
    """Return which curves kept up with their highest load in some runs only."""
    parts = [
        f"At {number(curve.kept_up)}, {curve.label} carried the load in {runs} runs."
        for curve in group.simulated
        if (runs := kept_up_in(curve))
    ]
    return " ".join(parts)


def _alone(curve: Curve, group: CurveGroup) -> Decision:
    """Return how far a single curve goes."""
    unit, axes = _unit(group), group.axes
    who = f"The model of {curve.label}" if curve.model else capital(curve.label)
    idle = () if curve.idle is None else (
        Tile(f"{number(curve.idle)} {axes.latency_unit}", f"{axes.latency}, idle network"),
    )  # fmt: skip
    last_point = _last_point(curve, group)
    if not axes.open:
        last = curve.table.row(-1, named=True)
        ends = [number(curve.table[name][0]) for name in ("latency", "load")]
        said = (
            f"{axes.latency.capitalize()} goes from {ends[0]} {axes.latency_unit} at {ends[1]} to "
            f"{number(last['latency'])} at {number(last['load'])} {unit}."
        )
        return Decision(Verdict("limited", said), (*last_point, *idle), None)
    if curve.found is not None:
        said = f"{who} saturates at {saturation_said(curve)} {unit}."
        tile = Tile(saturation_said(curve), f"saturation, {unit}")
        return Decision(Verdict("limited", said), (tile, *idle, *last_point), None)
    if curve.kept_up is None:
        said = f"{who} saturates below {number(curve.below)} {unit}, the least load asked."
        return Decision(Verdict("act", said), idle, None)
    tile = Tile(number(curve.kept_up), f"carried, {unit}")
    if curve.below == inf:
        said = f"{who} carries all that was offered, up to {number(curve.kept_up)} {unit}."
        return Decision(Verdict("fine", said), (tile, *idle, *last_point), None)
    said = f"{who} saturates between {number(curve.kept_up)} and {number(curve.below)} {unit}."
    return Decision(Verdict("limited", said), (tile, *idle, *last_point), None)


def _last_point(curve: Curve, group: CurveGroup) -> tuple[Tile, ...]:
    """Return the latency at the highest load that a curve has one of, if there is one."""
    if curve.table.is_empty():
        return ()
    last = curve.table.row(-1, named=True)
    value = f"{number(last['latency'])} {group.axes.latency_unit}"
    return (Tile(value, f"{group.axes.latency} at {number(last['load'])} {_unit(group)}"),)


def _choice(curves: Sequence[Curve], group: CurveGroup) -> Decision:
    """Return which of several curves to take: the one that carries more, or else is faster."""
    known = {id(curve): ends for curve in curves if (ends := bounds(curve)) is not None}
    if not group.axes.open or len(known) < len(curves):
        return _by_latency(curves, curves, group)
    best = max(curves, key=lambda curve: (known[id(curve)][0], known[id(curve)][1]))
    floor = known[id(best)][0]
    near = [curve for curve in curves if known[id(curve)][1] * WORTH > floor]
    behind = [curve for curve in curves if curve not in near]
    if not behind or best not in near:
        return _by_latency(curves, curves, group)
    rival = max(behind, key=lambda curve: known[id(curve)])
    times = floor / known[id(rival)][1]
    if len(near) > 1:
        return _by_latency(near, curves, group)
    amounts = f"{_amount(best)} against {_amount(rival)} {_unit(group)}"
    tiles = [Tile(f"{times:.3g}×", f"load that {best.label} carries at least: {amounts}")]
    said = f"at least {times:.3g} times the load of {rival.label}"
    if (less := _latency_clause(best, rival, group)) is not None:
        said += f", {less[0]}"
        tiles.append(Tile(less[1].value, f"{group.axes.latency} {less[1].label}"))
    if not _takes(group):
        sentence = f"{capital(best.label)} carries most of {group.name}: {said}."
    else:
        sentence = f"Take {best.label} for {group.name}: {said}."
    return Decision(Verdict("fine", sentence, group.name), tuple(tiles), best)


def _latency_clause(best: Curve, other: Curve, group: CurveGroup) -> tuple[str, Tile] | None:
    """Return how latencies differ at the highest load that two curves share, if that is sure."""
    load = highest_shared((best, other))
    if load is None or (here := best.at(load)) is None or (there := other.at(load)) is None:
        return None
    (one, half), (two, other_half) = here, there
    if abs(two - one) <= (half or 0) + (other_half or 0):
        return None
    gain = percent(1 - one / two) if one < two else percent(one / two - 1)
    word = "less" if one < two else "more"
    unit = group.axes.latency_unit
    label = f"at {number(load)}: {number(one)} against {number(two)} {unit}"
    sign = "−" if one < two else "+"
    return f"{gain} {word} latency at {number(load)} {_unit(group)}", Tile(f"{sign}{gain}", label)


def _by_latency(near: Sequence[Curve], curves: Sequence[Curve], group: CurveGroup) -> Decision:
    """Return what decides between curves that carry about the same, or whose end is open."""
    behind = [curve for curve in curves if curve not in near]
    carried = _all_carry(near, group)
    some = [curve for curve in near if len(curve.whole)]
    if len(some) < 2 or (load := highest_shared(tuple(near))) is None:
        said = f"Which to take for {group.name} is open: no load has a latency of each."
        return Decision(Verdict("unknown", said, group.name), (), None)
    if len(some) == 2 and (found := _crossed(some, group)) is not None:
        return found
    ranked = sorted(some, key=lambda curve: _latency_at(curve, load))
    best, last = ranked[0], ranked[-1]
    alike = _alike(ranked)
    if alike is not None:
        names = f"of {listed([curve.label for curve in near])} " if behind else ""
        up_to = f" up to {number(alike.load)}" if alike.ends else ""
        most = percent(float(f"{alike.most:.2g}"))
        differ = f"differ by at most {most}" if alike.most > EQUAL else "are the same"
        said = f"{_cost(group)}{up_to}: latencies {names}{differ}{carried}."
        tile = Tile(most, f"largest difference in latency{up_to}, {group.name}")
        mark = "limited" if alike.ends else "fine"
        return Decision(Verdict(mark, said, group.name), (tile,), None)
    less = _latency_clause(best, ranked[1], group)
    if less is None:
        slow = _latency_clause(best, last, group)
        beside = "" if slow is None else f"; {last.label} is slower"
        said = f"Which to take for {group.name} is open: no difference in latency is sure{beside}."
        return Decision(Verdict("unknown", said, group.name), (), None)
    verb = f"Take {best.label} for" if _takes(group) else f"{capital(best.label)} is fastest of"
    tile = Tile(less[1].value, f"{group.axes.latency} {less[1].label}")
    said = f"{verb} {group.name}: {less[0]}{carried}."
    return Decision(Verdict("fine", said, group.name), (tile,), best)


class Alike(NamedTuple):
    """Up to which load latencies are near one another, whether that ends there, and how near."""

    load: float
    ends: bool
    most: float


def _alike(ranked: Sequence[Curve]) -> Alike | None:
    """Return where the latencies of curves are near one another. None if nowhere."""
    pairs = [compare_pair(one, other) for one, other in combinations(ranked, 2)]
    loads = sorted({round(float(load), 12) for pair in pairs for load in pair.loads})
    found = None
    for load in loads:
        ratios = [
            max(1 + ratio, 1 / (1 + ratio)) - 1
            for pair in pairs
            for ratio in pair.ratio[np.isclose(pair.loads, load)]
        ]
        if max(ratios) > NEAR:
            return found and found._replace(ends=True)
        found = Alike(load, ends=False, most=max([*ratios, found.most if found else 0.0]))
    return found


def _crossed(curves: Sequence[Curve], group: CurveGroup) -> Decision | None:
    """Return that one curve is to be taken below a load and the other above, if it matters."""
    pair = compare_pair(curves[0], curves[1])
    if len(pair.crossings) != 1 or float(np.max(np.abs(pair.ratio))) <= NEAR:
        return None
    below, above = order_at_crossing(curves[0], curves[1], pair)
    place = number(pair.crossings[0].load)
    unit = _unit(group)
    verb = f"For {group.name} take" if _takes(group) else f"{group.name.capitalize()}: fastest is"
    said = f"{verb} {below.label} below {place} {unit} and {above.label} above."
    tile = Tile(place, f"load at which the latencies cross, {unit}")
    return Decision(Verdict("limited", said, group.name), (tile,), None)


def _all_carry(curves: Sequence[Curve], group: CurveGroup) -> str:
    """Return what all of some curves carry, as the end of a sentence."""
    ends = [bounds(curve) for curve in curves]
    if not group.axes.open or any(each is None or not each[0] for each in ends):
        return ""
    least = min(each[0] for each in ends if each is not None)
    who = "both carry" if len(curves) == 2 else "each carries"
    return f", and {who} {number(least)} {_unit(group)}"


def _latency_at(curve: Curve, load: float) -> float:
    here = curve.at(load)
    return inf if here is None else here[0]


def _takes(group: CurveGroup) -> bool:
    """Whether the curves are alternatives: programs and patterns are not a choice."""
    return "traffic" not in group.differ


def _cost(group: CurveGroup) -> str:
    return f"For {group.name} decide by cost" if _takes(group) else f"{group.name}: much alike"


def _unit(group: CurveGroup) -> str:
    return group.axes.load.partition(", ")[2]


def _amount(curve: Curve) -> str:
    """Return a number for what a curve carries."""
    if curve.found is not None:
        return number(curve.found[0])
    return number(curve.below if curve.kept_up is None else curve.kept_up)
