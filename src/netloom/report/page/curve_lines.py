"""What goes with the verdict of curves, in words: who carries most, who is fastest, models."""

from __future__ import annotations

from itertools import combinations
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from netloom.base.words import counted, give_or_take, listed, number, share
from netloom.questions.shown import percent
from netloom.report.page.curve_pairs import bounds, times_said
from netloom.report.page.curve_points import runs_said
from netloom.report.page.curve_table import common_load, saturation_said
from netloom.report.page.curves import deviations

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.report.page.curves import Curve, CurveGroup


def kept_up_in(curve: Curve) -> str:
    """Return in how many runs a curve kept up with its highest load: "" if it did in all."""
    if curve.table.is_empty():
        return ""
    last = curve.table.row(-1, named=True)
    return runs_said(last) if last["load"] == curve.kept_up and last["behind"] else ""


def carries_most(curves: Sequence[Curve]) -> str:
    """Return which configurations carry most before they saturate, as far as that is known."""
    known = [(curve, *ends) for curve in curves if (ends := bounds(curve)) is not None]
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
    load = common_load(group)
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
        (one, other) for one, other in combinations(found, 2)
        if other[1] - one[1] > (one[2] or 0) + (other[2] or 0)
    ]  # fmt: skip
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
    off = [
        each
        for place, curve in enumerate(group.simulated)
        if (model := group.model_of(place)) is not None
        for each in deviations(curve, model)
    ]
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
    return words if ":" in words else words[:1].upper() + words[1:]
