"""What curves come to: their numbers and pairs in words, and which to take, at what load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations, pairwise
from math import inf
from typing import Any, NamedTuple

import numpy as np

from netloom.base.arrays import Floats, Ints
from netloom.base.words import begun, counted, give_or_take, listed, number, percent, share
from netloom.pages.curves import Curve, CurveGroup, deviations, name_fields, runs_said
from netloom.pages.figure import DataTable, table_of
from netloom.questions.answers import Measure, Verdict
from netloom.questions.recorded import Recorded

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
    crossings = []
    for before, after in pairwise(np.flatnonzero(faster).tolist()):
        if faster[before] == faster[after]:
            continue
        part = slice(before, after + 1)
        signs = np.sign(gap[part])
        last = before + int(np.flatnonzero(signs == signs[0])[-1])
        rising = last + np.argsort(gap[last : last + 2])
        load = float(np.interp(0.0, gap[rising], loads[rising]))
        crossings.append(Crossing(load, float(loads[before]), float(loads[after])))
    return Pair(loads, means[1] / means[0] - 1, faster, tuple(crossings))


def crossing_sentences(group: CurveGroup) -> list[str]:
    """Return a sentence for each pair of simulated curves that cross, of many the first."""
    pairs = list(combinations(group.simulated, 2))
    compared = [(one, other, compare_pair(one, other)) for one, other in pairs]
    crossing = [each for each in compared if each[2].crossings]
    said = []
    for one, other, pair in crossing[:MOST_PAIRS]:
        places = [
            f"{number(each.load)} (between {number(each.low)} and {number(each.high)})"
            for each in pair.crossings
        ]
        below, above = order_at_crossing(one, other, pair)
        cross = f"The latencies of {one.label} and {other.label} cross at {', '.join(places)}"
        ends = f", {above.label} above" if len(places) == 1 else " the first"
        said.append(f"{cross}: {below.label} is faster below{ends}.")
    if len(crossing) > MOST_PAIRS:
        said.append(f"{counted(len(crossing) - MOST_PAIRS, 'more pair')} of curves cross.")
    return said


def order_at_crossing(one: Curve, other: Curve, pair: Pair) -> tuple[Curve, Curve]:
    """Return the curve that is faster below the first crossing of two, then the other one."""
    first = pair.faster[np.flatnonzero(pair.faster)[0]]
    return (one, other) if first > 0 else (other, one)


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


def highest_shared(curves: Sequence[Curve]) -> float | None:
    """Return the highest load at which all runs of all curves have a latency, or None.

    Curves that saturate at the lowest load have none, and are passed over.
    """
    known = [curve for curve in curves if len(curve.whole)]
    loads = [{float(f"{load:.12g}") for load in curve.whole["load"]} for curve in known]
    return max(set.intersection(*loads), default=None) if loads else None


def curve_numbers(group: CurveGroup) -> DataTable:
    """Return the key numbers of a group of curves, one row per curve."""
    common = highest_shared(group.simulated)
    unit = group.axes.latency_unit
    heads = ["curve", f"idle, {unit}", *(["saturates at"] if group.axes.open else [])]
    if group.simulated:
        heads.append("most accepted")
    if common is not None:
        heads.append(f"at {number(common)}, {unit}")
    if group.models and group.simulated:
        heads += ["model saturates at", "model off by, median", "at most"]
    rows = []
    for place, curve in enumerate(group.simulated or group.models):
        row: list[Any] = [curve.label, curve.idle]
        row += [saturation_said(curve)] if group.axes.open else []
        if group.simulated:
            row.append(curve.accepted["accepted"].max())
        if common is not None:
            row.append(give_or_take(*(curve.at(common) or (None, None))))
        if group.models and group.simulated:
            model = group.model_of(place)
            off = [] if model is None else [each for _, each in deviations(curve, model)]
            row += [
                model and model.found and model.found[0],
                percent(float(np.median(np.abs(off)))) if off else None,
                share(max(off, key=abs)) if off else None,
            ]
        rows.append(row)
    return table_of(heads, rows)


def saturation_said(curve: Curve) -> str:
    """Return where a curve saturates, as far as that is known."""
    if curve.found is not None:
        return give_or_take(curve.found[0], curve.found[1] or None)
    if curve.saturation is not None:
        return " to ".join(map(number, curve.saturation))
    if curve.fell_behind is not None:
        return f"below {number(curve.below)}"
    return f"above {number(curve.kept_up)}"


def carries_most(curves: Sequence[Curve]) -> str:
    """Return which configurations carry most before they saturate, as far as that is known."""
    known = [(curve, *ends) for curve in curves if (ends := curve.bounds) is not None]
    if len(known) < 2:
        return ""
    known.sort(key=lambda each: (-each[1], -each[2]))
    least = known[0][1]
    top = [each for each in known if each[2] > least or each[1] == least]
    if len(top) == len(known):
        if all(curve.found is None and low == least for curve, low, _ in known):
            return f"All carry the same load, {number(least)}."
        return "Which carries most is open: where they saturate is not known closely enough."
    last, low, high = min((each for each in known if each not in top), key=lambda each: each[1:])
    names = capital(listed([curve.label for curve, _, _ in top]))
    floor, ceiling = min(each[1] for each in top), max(each[2] for each in top)
    times = times_said(floor / high, ceiling / low if low else inf)
    beside = f"{times} times as much as {last.label} with {_up_to(last)}"
    if len(top) == 1:
        return f"{names} carries most: {_up_to(top[0][0])}, {beside}."
    return f"{names} carry most, {beside}; which of them carries more is open."


def _up_to(curve: Curve) -> str:
    """Return what a curve carries before it saturates."""
    if curve.found is not None:
        return f"up to {saturation_said(curve)}"
    if curve.kept_up is None:
        return f"less than {number(curve.below)}"
    return f"{'at least' if curve.fell_behind is None else 'up to'} {number(curve.kept_up)}"


def is_fastest(group: CurveGroup) -> str:
    """Return which configuration is fastest at the highest load that all keep up with."""
    without = [curve.label for curve in group.simulated if curve.whole.is_empty()]
    if len(group.simulated) - len(without) < 2:
        return ""
    load = highest_shared(group.simulated)
    if load is None:
        return "There is no load at which all of them have a latency."
    found = [
        (curve.label, *here) for curve in group.simulated if (here := curve.at(load)) is not None
    ]
    found.sort(key=lambda each: each[1])
    unit = group.axes.latency_unit
    who = f"all but {listed(without)}" if without else "all"
    at = f"At {number(load)}, the highest load that {who} have a latency of"
    surely = [
        (one, other)
        for one, other in combinations(found, 2)
        if other[1] - one[1] > (one[2] or 0) + (other[2] or 0)
    ]
    if not surely and all(each[2] is None for each in found):
        return f"{at}, they take the same: {number(found[0][1])} {unit}."
    if not surely:
        return f"{at}, no difference in latency is sure: the 95 % intervals overlap."
    one, other = max(surely, key=lambda pair: pair[1][1] - pair[0][1])
    near = [each[0] for each in found if each is not one and (one, each) not in surely]
    said = (
        f"{at}, {one[0]} is {'faster' if near else 'fastest'}: "
        f"{give_or_take(*one[1:])} {unit}. {capital(other[0])} takes {give_or_take(*other[1:])}, "
        f"{share(other[1] / one[1] - 1)}."
    )
    if near:
        said += f" Between {one[0]} and {listed(near)} no difference is sure."
    if one[2] is None or other[2] is None:
        said += " These are single runs without intervals."
    return said


def model_sentence(group: CurveGroup) -> str:
    """Return how far models are off the simulator, over all curves that have one."""
    off = group.off
    if not off:
        return ""
    load, worst = max(off, key=lambda each: abs(each[1]))
    median = percent(float(f"{np.median(np.abs([each for _, each in off])):.2g}"))
    return (
        f"The model is off by {median} in the median of {counted(len(off), 'load')}, at most "
        f"{share(worst)} at {number(load)}."
    )


def capital(words: str) -> str:
    """Return words as they begin a sentence: names of networks stay as they are."""
    return words if ":" in words else begun(words)


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
    """What curves, or answers, come to that are compared.

    Attributes
    ----------
    verdict
        The sentence, and what it rests on.
    tiles
        The numbers of the sentence.
    chosen
        The names of those to take. Empty if none is better.
    curve
        The curve to take.
    several
        Whether there is a choice.
    """

    verdict: Verdict
    tiles: tuple[Tile, ...] = ()
    chosen: tuple[str, ...] = ()
    curve: Curve | None = None
    several: bool = True


def decide(group: CurveGroup) -> Decision:
    """Return which curve of a group to take and why. Of a single curve how far it goes."""
    told = group.simulated or group.models
    found = _alone(told[0], group) if len(told) == 1 else _choice(told, group)
    lines = {}
    if len(told) > 1 and group.axes.open:
        lines["load"] = carries_most(told)
    if len(group.simulated) > 1:
        lines["latency"] = is_fastest(group)
        lines["crossing"] = " ".join(crossing_sentences(group))
    lines["model"] = model_sentence(group)
    behind = []  # at which of the highest loads that curves carry some of the runs were
    for curve in group.simulated:
        last = curve.table.row(-1, named=True) if len(curve.table) else {"behind": 0}
        if last["behind"] and last["load"] == curve.kept_up:
            at, runs = number(curve.kept_up), runs_said(last)
            behind.append(f"At {at}, {curve.label} carried the load in {runs} runs.")
    lines = {label: said for label, said in lines.items() if said}
    verdict = replace(found.verdict, lines=lines, note=" ".join(behind))
    return found._replace(verdict=verdict, several=len(told) > 1)


def _alone(curve: Curve, group: CurveGroup) -> Decision:
    """Return how far a single curve goes."""
    unit, axes = _unit(group), group.axes
    who = f"The model of {curve.label}" if curve.model else capital(curve.label)
    tiles = []
    if curve.idle is not None:
        idle = f"{number(curve.idle)} {axes.latency_unit}"
        tiles.append(Tile(idle, f"{axes.latency}, idle network"))
    if len(curve.table):
        last = curve.table.row(-1, named=True)
        at = f"{axes.latency} at {number(last['load'])} {unit}"
        tiles.append(Tile(f"{number(last['latency'])} {axes.latency_unit}", at))
    if not axes.open:
        ends = [number(curve.table[name][0]) for name in ("latency", "load")]
        said = (
            f"{axes.latency.capitalize()} goes from {ends[0]} {axes.latency_unit} at {ends[1]} to "
            f"{number(last['latency'])} at {number(last['load'])} {unit}."
        )
        return Decision(Verdict("limited", said), tuple(reversed(tiles)))
    if curve.found is None and curve.kept_up is None:
        said = f"{who} saturates below {number(curve.below)} {unit}, the least load asked."
        return Decision(Verdict("act", said), tuple(tiles))
    carried = number(curve.kept_up)
    mark, tile = "limited", Tile(carried, f"carried, {unit}")
    if curve.found is not None:
        place = saturation_said(curve)
        said, tile = f"saturates at {place}", Tile(place, f"saturation, {unit}")
    elif curve.below == inf:
        mark, said = "fine", f"carries all that was offered, up to {carried}"
    else:
        said = f"saturates between {carried} and {number(curve.below)}"
    return Decision(Verdict(mark, f"{who} {said} {unit}."), (tile, *tiles))


def _choice(curves: Sequence[Curve], group: CurveGroup) -> Decision:
    """Return which of several curves to take: the one that carries more, or else is faster."""
    known = {id(curve): ends for curve in curves if (ends := curve.bounds) is not None}
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
    return Decision(Verdict("fine", sentence, of=group.name), tuple(tiles), (best.label,), best)


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
    ends, carried = [curve.bounds for curve in near], ""
    if group.axes.open and all(each and each[0] for each in ends):
        least = min(each[0] for each in ends if each)
        who = "both carry" if len(near) == 2 else "each carries"
        carried = f", and {who} {number(least)} {_unit(group)}"
    some = [curve for curve in near if len(curve.whole)]
    if len(some) < 2 or (load := highest_shared(near)) is None:
        said = f"Which to take for {group.name} is open: no load has a latency of each."
        return Decision(Verdict("unknown", said, of=group.name))
    if len(some) == 2 and (found := _best_below_and_above(some, group)) is not None:
        return found
    ranked = sorted(some, key=lambda curve: (curve.at(load) or (inf,))[0])
    best, last = ranked[0], ranked[-1]
    alike = _alike(ranked)
    if alike is not None:
        names = f"of {listed([curve.label for curve in near])} " if behind else ""
        up_to = f" up to {number(alike.load)}" if alike.ends else ""
        most = percent(float(f"{alike.most:.2g}"))
        differ = f"differ by at most {most}" if alike.most > EQUAL else "are the same"
        kind = f"For {group.name} decide by cost" if _takes(group) else f"{group.name}: much alike"
        said = f"{kind}{up_to}: latencies {names}{differ}{carried}."
        tile = Tile(most, f"largest difference in latency{up_to}, {group.name}")
        mark = "limited" if alike.ends else "fine"
        return Decision(Verdict(mark, said, of=group.name), (tile,))
    less = _latency_clause(best, ranked[1], group)
    if less is None:
        slow = _latency_clause(best, last, group)
        beside = "" if slow is None else f"; {last.label} is slower"
        said = f"Which to take for {group.name} is open: no difference in latency is sure{beside}."
        return Decision(Verdict("unknown", said, of=group.name))
    verb = f"Take {best.label} for" if _takes(group) else f"{capital(best.label)} is fastest of"
    tile = Tile(less[1].value, f"{group.axes.latency} {less[1].label}")
    said = f"{verb} {group.name}: {less[0]}{carried}."
    return Decision(Verdict("fine", said, of=group.name), (tile,), (best.label,), best)


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


def _best_below_and_above(curves: Sequence[Curve], group: CurveGroup) -> Decision | None:
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
    return Decision(Verdict("limited", said, of=group.name), (tile,))


def _takes(group: CurveGroup) -> bool:
    """Whether the curves are alternatives: programs and patterns are not a choice."""
    return "traffic" not in group.differ


def _unit(group: CurveGroup) -> str:
    return group.axes.load.partition(", ")[2]


def _amount(curve: Curve) -> str:
    """Return a number for what a curve carries."""
    if curve.found is not None:
        return number(curve.found[0])
    return number(curve.below if curve.kept_up is None else curve.kept_up)


CHOICES = frozenset(
    {"on", "routing", "mapping", "router", "vcs", "buffer_flits", "switching", "objective"}
)
"""Fields whose values are alternatives. Programs, sizes and loads are none."""


def best_of(answers: Sequence[tuple[Mapping[str, Any], Recorded]]) -> Decision | None:
    """Return which of some answers to take, each with how its question differs from the others.

    None if they are no alternatives, or if one lacks the figure, or has another with each seed.
    """
    found: dict[str, Measure] = {}
    for varied, record in answers:
        measure = record.answer.measure()
        if measure is None or set(varied) - CHOICES - {"seed"}:
            return None
        name = name_fields({field: value for field, value in varied.items() if field != "seed"})
        if found.setdefault(name, measure) != measure:
            return None
    if len(found) < 2 or len({each.does for each in found.values()}) > 1:
        return None
    more = next(iter(found.values())).more
    ranked = sorted(found, key=lambda name: found[name].value, reverse=more)
    first = found[ranked[0]]
    best = [name for name in ranked if _change(found[name], first) <= EQUAL]
    rest = ranked[len(best) :]
    names, mark = listed(best), "fine"
    said, whose = f"No difference: each {first.clause}.", "of each"
    if rest:
        rival = found[rest[0]]
        change = _change(rival, first)
        others = listed([f"{name} {found[name].said}" for name in rest], 3)
        whose = f"{names} ({others})"
        less = f"{percent(float(f'{change:.2g}'))} {'more' if more else 'less'} than {rest[0]}"
        less += f" ({rival.said})"
        each = "each" if len(best) > 1 else "it"
        said = f"Take {names.replace(' and ', ' or ')}: {each} {first.clause}, {less}."
        if change < NEAR:
            mark, said = "limited", f"Little difference: {names} {first.clause}, only {less}."
    tile = Tile(first.said, f"{first.what}, {whose}")
    return Decision(Verdict(mark, said), (tile,), tuple(best))


def _change(one: Measure, first: Measure) -> float:
    """Return how far the best value is from another, in parts of the other."""
    return abs(first.value - one.value) / abs(one.value) if one.value else float(first.value != 0)
