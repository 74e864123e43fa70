"""What curves say, in sentences: who saturates where, who is best, and how far a model is off."""

from __future__ import annotations

from itertools import combinations
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.report.page.curve_pairs import bounds, pair_sentences, times_said
from netloom.report.page.curve_points import runs_said
from netloom.report.page.curves import deviations
from netloom.report.page.figure import table_of
from netloom.words import counted, give_or_take, listed, number, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.report.page.curves import Curve, CurveGroup
    from netloom.report.page.figure import DataTable

MOST_NAMED = 6
"""Curves that are spoken of one by one; of more only the best and the worst."""


def common_load(group: CurveGroup) -> float | None:
    """Return the highest load at which all runs of all simulated curves have a latency, or None.

    Curves that fall behind at the least load asked have none, and are passed over.
    """
    known = [curve for curve in group.simulated if len(curve.whole)]
    loads = [{float(f"{load:.12g}") for load in curve.whole["load"]} for curve in known]
    return max(set.intersection(*loads), default=None) if loads else None


def curve_sentences(group: CurveGroup) -> list[str]:
    """Return what curves say: saturation, throughput, latency, models, in this order."""
    told = group.simulated or group.models
    say = _saturates if group.axes.open else _goes
    said = (
        [say(curve, group.axes.latency_unit) for curve in told] if len(told) <= MOST_NAMED else []
    )
    if len(group.simulated) > 1:
        said += _carries_most(group.simulated) if group.axes.open else []
        said += _is_fastest(group)
        said += pair_sentences(group)
    said += _models(group)
    return said


def curve_numbers(group: CurveGroup) -> DataTable:
    """Return the key numbers of a group of curves, one row a curve."""
    common = common_load(group)
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
        row += [_where(curve)] if group.axes.open else []
        if group.simulated:
            row.append(curve.accepted["accepted"].max())
        if common is not None:
            row.append(give_or_take(*(curve.at(common) or (None, None))))
        if group.models and group.simulated:
            row += _compared(curve, group.model_of(place))
        rows.append(row)
    return table_of(heads, rows)


def _compared(curve: Curve, model: Curve | None) -> list[Any]:
    """Return where a model saturates, and how far it is off: in the median, and at most."""
    if model is None:
        return [None, None, None]
    off = [each for _, each in deviations(curve, model)]
    worst = max(off, key=abs, default=None)
    return [
        model.found and model.found[0],
        None if not off else f"{100 * float(np.median(np.abs(off))):.2g}\u00a0%",
        None if worst is None else share(worst),
    ]


def _where(curve: Curve) -> str:
    if curve.found is not None:
        return give_or_take(curve.found[0], curve.found[1] or None)
    if curve.saturation is not None:
        return " to ".join(map(number, curve.saturation))
    if curve.fell_behind is not None:
        return f"below {number(curve.below)}"
    return f"above {number(curve.kept_up)}"


def _saturates(curve: Curve, unit: str) -> str:
    """Return where a curve saturates, and what the idle network takes."""
    who = f"The model of {curve.label}" if curve.model else _capital(curve.label)
    idle = "" if curve.idle is None else f"; idle, {number(curve.idle)} {unit}"
    if curve.found is not None:
        return f"{who} saturates at {_where(curve)}{idle}."
    if curve.kept_up is None:
        return f"{who} falls behind at {number(curve.fell_behind)}, the least load asked{idle}."
    runs = kept_up_in(curve)
    most = f"{number(curve.kept_up)}{f' in {runs} runs' if runs else ''}"
    if curve.fell_behind is None:
        return f"{who} keeps up with all that it is offered, up to {most}{idle}."
    if curve.below < curve.fell_behind:
        return (
            f"{who} keeps up with {most} and can carry no more than {number(curve.below)}: it "
            f"saturates between them{idle}."
        )
    return (
        f"{who} keeps up with {most} and falls behind at "
        f"{number(curve.fell_behind)}: it saturates between them{idle}."
    )


def kept_up_in(curve: Curve) -> str:
    """Return in how many runs a curve kept up with its highest load: "" if it did in all."""
    if curve.table.is_empty():
        return ""
    last = curve.table.row(-1, named=True)
    return runs_said(last) if last["load"] == curve.kept_up and last["behind"] else ""


def _goes(curve: Curve, unit: str) -> str:
    """Return where latency goes with load, where senders wait and nothing saturates."""
    first, last = curve.table.row(0, named=True), curve.table.row(-1, named=True)
    most: Any = curve.accepted["accepted"].max()
    return (
        f"{_capital(curve.label)} takes {number(first['latency'])} {unit} at "
        f"{number(first['load'])} and {number(last['latency'])} at {number(last['load'])}; it "
        f"accepts at most {number(most)}."
    )


def _carries_most(curves: Sequence[Curve]) -> list[str]:
    """Return which configurations carry most before they saturate, as far as that is known."""
    known = [(curve, *ends) for curve in curves if (ends := bounds(curve)) is not None]
    if len(known) < 2:
        return []
    known.sort(key=lambda each: (-each[1], -each[2]))
    least = known[0][1]
    top = [each for each in known if each[2] > least or each[1] == least]
    if len(top) == len(known):
        if all(curve.found is None and low == least for curve, low, _ in known):
            return [f"All keep up with the same load, {number(least)}."]
        return ["Which carries most is open: where they saturate is not known closely enough."]
    last, low, high = min((each for each in known if each not in top), key=lambda each: each[1:])
    names = _capital(listed([curve.label for curve, _, _ in top]))
    floor, ceiling = min(each[1] for each in top), max(each[2] for each in top)
    times = times_said(floor / high, ceiling / low if low else inf)
    beside = f"{times} times as much as {last.label} with {_amount(last)}"
    if len(top) == 1:
        return [f"{names} carries most: {_amount(top[0][0])}, {beside}."]
    return [f"{names} carry most, {beside}; which of them carries more is open."]


def _amount(curve: Curve) -> str:
    """Return what a curve carries before it saturates."""
    if curve.found is not None:
        return f"up to {_where(curve)}"
    if curve.kept_up is None:
        return f"less than {number(curve.below)}"
    return f"{'at least' if curve.fell_behind is None else 'up to'} {number(curve.kept_up)}"


def _is_fastest(group: CurveGroup) -> list[str]:
    """Return which configuration is fastest at the highest load that all keep up with."""
    without = [curve.label for curve in group.simulated if curve.whole.is_empty()]
    if len(group.simulated) - len(without) < 2:
        return []
    load = common_load(group)
    if load is None:
        return ["There is no load at which all of them have a latency."]
    found = [
        (curve.label, *here) for curve in group.simulated if (here := curve.at(load)) is not None
    ]
    found.sort(key=lambda each: each[1])
    unit = group.axes.latency_unit
    who = f"all but {listed(without)}" if without else "all"
    at = f"At {number(load)}, the highest load that {who} have a latency of"
    surely = [
        (one, other) for one, other in combinations(found, 2)
        if other[1] - one[1] > (one[2] or 0) + (other[2] or 0)
    ]  # fmt: skip
    if not surely and all(each[2] is None for each in found):
        return [f"{at}, they take the same: {number(found[0][1])} {unit}."]
    if not surely:
        return [f"{at}, no difference in latency is sure: the 95 % intervals overlap."]
    one, other = max(surely, key=lambda pair: pair[1][1] - pair[0][1])
    near = [each[0] for each in found if each is not one and (one, each) not in surely]
    said = (
        f"{at}, {one[0]} is {'faster' if near else 'fastest'}: "
        f"{give_or_take(*one[1:])} {unit}; {other[0]} takes {give_or_take(*other[1:])}, "
        f"{share(other[1] / one[1] - 1)}."
    )
    if near:
        said += f" Between {one[0]} and {listed(near)} no difference is sure."
    if one[2] is None or other[2] is None:
        said += " These are single runs without intervals."
    return [said]


def _models(group: CurveGroup) -> list[str]:
    """Return how far models are off the simulator, over all curves that have one."""
    if not group.simulated:
        return []
    said = []
    for place, curve in enumerate(group.simulated[:MOST_NAMED]):
        model = group.model_of(place)
        off = deviations(curve, model) if model else []
        if not model or not off:
            continue
        median = 100 * float(np.median(np.abs([each for _, each in off])))
        load, worst = max(off, key=lambda each: abs(each[1]))
        line = (
            f"The model of {curve.label} is off by {median:.2g}\u00a0% in the median of "
            f"{counted(len(off), 'load')}, at most {share(worst)} at {number(load)}"
        )
        if model.found:
            line += f"; it puts saturation at {number(model.found[0])}"
        said.append(f"{line}.")
    return said


def _capital(words: str) -> str:
    """Return words as they begin a sentence: names of networks stay as they are."""
    return words if ":" in words else words[:1].upper() + words[1:]
