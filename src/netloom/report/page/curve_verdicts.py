"""What curves say, in sentences: who saturates where, who is best, and how far a model is off."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.report.page.curves import deviations
from netloom.report.page.figure import table_of
from netloom.report.page.words import counted, give_or_take, listed, number, share

if TYPE_CHECKING:
    from collections.abc import Sequence

    from netloom.report.page.curves import Curve, CurveGroup
    from netloom.report.page.figure import DataTable

MOST_NAMED = 6
"""Curves that are spoken of one by one; of more only the best and the worst."""


def common_load(group: CurveGroup) -> float | None:
    """Return the highest load at which all simulated curves have a latency; None if none is."""
    loads = [set(curve.table["load"].to_list()) for curve in group.simulated]
    both = set.intersection(*loads) if loads else set()
    return max(both, default=None)


def curve_sentences(group: CurveGroup) -> list[str]:
    """Return what a group of curves says: saturation, throughput, latency, models, in this order.

    Parameters
    ----------
    group
        The curves.
    """
    told = group.simulated or group.models
    say = _saturates if group.axes.open else _goes
    said = (
        [say(curve, group.axes.latency_unit) for curve in told] if len(told) <= MOST_NAMED else []
    )
    if len(group.simulated) > 1:
        said += _carries_most(group.simulated) if group.axes.open else []
        said += _is_fastest(group)
    said += _models(group)
    return said


def curve_numbers(group: CurveGroup) -> DataTable:
    """Return the key numbers of a group of curves, one row a curve.

    Parameters
    ----------
    group
        The curves.
    """
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
        return f"below {number(curve.fell_behind)}"
    return f"above {number(curve.kept_up)}"


def _saturates(curve: Curve, unit: str) -> str:
    """Return where a curve saturates, and what the idle network takes."""
    who = f"The model of {curve.label}" if curve.model else _capital(curve.label)
    idle = "" if curve.idle is None else f"; idle, {number(curve.idle)} {unit}"
    if curve.found is not None:
        return f"{who} saturates at {_where(curve)}{idle}."
    if curve.fell_behind is None:
        return f"{who} keeps up with all that it is offered, up to {number(curve.kept_up)}{idle}."
    if curve.kept_up is None:
        return f"{who} falls behind at {number(curve.fell_behind)}, the least load asked{idle}."
    return (
        f"{who} keeps up with {number(curve.kept_up)} and falls behind at "
        f"{number(curve.fell_behind)}: it saturates between them{idle}."
    )


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
    """Return which configuration carries most before it saturates."""
    known = [curve for curve in curves if curve.carried]
    if len(known) < 2:
        return []
    order = sorted(known, key=lambda curve: -(curve.carried or 0))
    best, last = order[0], order[-1]
    top = [curve for curve in order if curve.carried == best.carried]
    if len(top) == len(order):
        return [f"All keep up with the same load, {number(best.carried)}."]
    assert best.carried
    assert last.carried
    names = listed([curve.label for curve in top])
    verb = "carries" if len(top) == 1 else "carry"
    return [
        f"{_capital(names)} {verb} most: up to {number(best.carried)}, "
        f"{best.carried / last.carried:.3g} times as much as {last.label} with "
        f"{number(last.carried)}."
    ]


def _is_fastest(group: CurveGroup) -> list[str]:
    """Return which configuration is fastest at the highest load that all keep up with."""
    load = common_load(group)
    if load is None:
        return ["There is no load at which all of them have a latency."]
    found = [(curve, *(curve.at(load) or (0.0, None))) for curve in group.simulated]
    found.sort(key=lambda each: each[1])
    (best, fast, fast_half), (last, slow, slow_half) = found[0], found[-1]
    unit = group.axes.latency_unit
    at = f"At {number(load)}, the highest load that all have a latency of"
    if slow - fast <= (fast_half or 0) + (slow_half or 0):
        return [f"{at}, no difference in latency is sure: the 95 % intervals overlap."]
    second, next_fast, next_half = found[1]
    beside = f", {second.label} hardly slower" if (
        len(found) > 2 and next_fast - fast <= (fast_half or 0) + (next_half or 0)
    ) else ""  # fmt: skip
    return [
        f"{at}, {best.label} is fastest{beside}: {give_or_take(fast, fast_half)} {unit}; "
        f"{last.label} takes {give_or_take(slow, slow_half)}, {share(slow / fast - 1)}."
    ]


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
