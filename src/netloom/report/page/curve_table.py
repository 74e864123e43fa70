"""The key numbers of curves, one row per curve: what is read beside their chart."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from netloom.base.words import give_or_take, number, share
from netloom.questions.shown import percent
from netloom.report.page.curves import deviations
from netloom.report.page.figure import table_of

if TYPE_CHECKING:
    from netloom.report.page.curves import Curve, CurveGroup
    from netloom.report.page.figure import DataTable


def common_load(group: CurveGroup) -> float | None:
    """Return the highest load at which all runs of all simulated curves have a latency, or None.

    Curves that saturate at the lowest load have none, and are passed over.
    """
    return highest_shared(group.simulated)


def highest_shared(curves: tuple[Curve, ...]) -> float | None:
    """Return the highest load at which all curves that have latencies have one, or None."""
    known = [curve for curve in curves if len(curve.whole)]
    loads = [{float(f"{load:.12g}") for load in curve.whole["load"]} for curve in known]
    return max(set.intersection(*loads), default=None) if loads else None


def curve_numbers(group: CurveGroup) -> DataTable:
    """Return the key numbers of a group of curves, one row per curve."""
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
        row += [saturation_said(curve)] if group.axes.open else []
        if group.simulated:
            row.append(curve.accepted["accepted"].max())
        if common is not None:
            row.append(give_or_take(*(curve.at(common) or (None, None))))
        if group.models and group.simulated:
            row += _compared(curve, group.model_of(place))
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


def _compared(curve: Curve, model: Curve | None) -> list[Any]:
    """Return where a model saturates, and how far it is off: in the median, and at most."""
    if model is None:
        return [None, None, None]
    off = [each for _, each in deviations(curve, model)]
    worst = max(off, key=abs, default=None)
    return [
        model.found and model.found[0],
        None if not off else percent(float(np.median(np.abs(off)))),
        None if worst is None else share(worst),
    ]
