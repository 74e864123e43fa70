"""Latency and throughput by load, many curves in one chart: simulated, and as a model has it."""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from netloom.base.words import give_or_take, number
from netloom.drawing.axes import LOAD_STEPS, Axis, axis
from netloom.drawing.panel import DASHED, SOLID, Look, looks_of, ordered, panel
from netloom.drawing.room import narrow_page, room
from netloom.report.page.curves import runs_said, said_field, shared_words
from netloom.report.page.figure import Figure, make_figure, narrowed, table_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from netloom.drawing.panel import Panel
    from netloom.report.page.curves import Curve, CurveGroup

SIMULATED, MODEL = "simulated", "model"
"""Who says what a curve says."""

ONE_PANEL = 6
"""Most curves of one pair of axes. More are drawn in panels."""

MOST_PANELS = 12

HIGHEST = 6.0
"""Where the axis of latencies ends, in multiples of the idle network's, if curves go on."""

WIDTH, HEIGHT = 620, 310
PANEL_WIDTH, PANEL_HEIGHT = 300, 210

COLUMNS = 2
"""Panels side by side, where there is room."""

WIDE = 700.0
"""Pixels from which on there is room for two."""


def curve_figures(group: CurveGroup) -> list[Figure]:
    """Return the figures of curves: latency by load, and throughput by load if it is known."""
    made = [_latency]
    if any(len(curve.accepted) for curve in group.simulated):
        made.append(_throughput)
    figures = [make(group) for make in made]
    with narrow_page():
        narrow = [make(group) for make in made]
    return [narrowed(wide, other) for wide, other in zip(figures, narrow, strict=True)]


def panels(group: CurveGroup) -> dict[str, list[tuple[Curve, str]]]:
    """Return the curves of each pair of axes, each with the name that its color has.

    Few curves have a color each. Many have the color of what differs first among them, and a
    panel for every combination of the rest. Of more than twelve panels the first are drawn.
    """
    told = group.simulated or group.models
    if len(told) <= ONE_PANEL or len(group.differ) < 2:
        return {"": [(curve, curve.label) for curve in group.curves]}
    first, *rest = group.differ
    found: dict[str, list[tuple[Curve, str]]] = {}
    for curve in group.curves:
        name = ", ".join(said_field(field, curve.about.get(field)) for field in rest)
        found.setdefault(name, []).append((curve, said_field(first, curve.about.get(first))))
    return dict(list(found.items())[:MOST_PANELS])


def _latency(group: CurveGroup) -> Figure:
    top, cut = _top(group)
    title = _with_unit(f"{group.axes.latency}, {group.axes.latency_unit}")
    y = Axis("latency", title, 0.0, top)
    drawn = {}
    looks = _looks(group)
    for name, curves in _named(group).items():
        where = _panel(group, y, looks)
        layers = [
            *_saturates(where, curves),
            *_curves(where, _latency_rows(curves), looks, _intervals(curves)),
        ]
        drawn[name] = where.drawn(layers, name)
    return make_figure(
        _arranged(drawn),
        title=f"{group.axes.latency.capitalize()} by load: {group.name}",
        caption=_latency_caption(group, top, cut=cut),
        alternative=_latency_alternative(group),
        data=_latency_data(group),
    )


def _throughput(group: CurveGroup) -> Figure:
    """Return which share of the load is accepted."""
    what = group.axes.accepted.partition(",")[0]
    drawn, looks = {}, _looks(group)
    for name, curves in _named(group).items():
        table = _accepted_rows(curves)
        y = axis("latency", "share that gets through", table["latency"].to_list(), share=True)
        where = _panel(group, y, looks)
        drawn[name] = where.drawn(_curves(where, table, looks), name)
    said = [
        f"{curve.label}: at most {number(curve.accepted['accepted'].max())}, offered "
        f"{number(curve.accepted.sort('accepted')['load'][-1])}"
        for curve in group.simulated
        if len(curve.accepted)
    ]
    rows = [
        (curve.label, row["load"], row["accepted"], row["accepted_low"], row["accepted_high"])
        for curve in group.simulated
        for row in curve.accepted.iter_rows(named=True)
    ]
    heads = ["curve", group.axes.load, group.axes.accepted, "95 % from", "to"]
    return make_figure(
        _arranged(drawn),
        title=f"{what.capitalize()} by load: {group.name}",
        caption=f"{what.capitalize()} as a share of {group.axes.load.partition(',')[0]}.",
        alternative=f"Line chart of {group.axes.accepted} by {group.axes.load}. {'; '.join(said)}.",
        data=table_of(heads, rows),
    )


_COLUMNS = {"curve": str, "kind": str, "load": float, "latency": float, "low": float,
            "high": float, "behind": int, "said": str}  # fmt: skip


def _latency_rows(curves: Sequence[tuple[Curve, str]]) -> pl.DataFrame:
    rows = []
    for curve, name in curves:
        kind = MODEL if curve.model else SIMULATED
        for row in curve.table.iter_rows(named=True):
            half = None if row["high"] is None else row["high"] - row["latency"]
            seeds = f", {runs_said(row)} runs" if row["runs"] > 1 else ""
            if row["behind"]:
                seeds += "; the others fell behind"
            said = give_or_take(row["latency"], half) + seeds
            found = {name: row[name] for name in ("load", "latency", "low", "high", "behind")}
            rows.append({"curve": name, "kind": kind, "said": said} | found)
    return pl.DataFrame(rows, schema=_COLUMNS)


def _accepted_rows(curves: Sequence[tuple[Curve, str]]) -> pl.DataFrame:
    rows = []
    for curve, name in curves:
        for row in curve.accepted.filter(pl.col("load") > 0).iter_rows(named=True):
            half = None if row["accepted_high"] is None else row["accepted_high"] - row["accepted"]
            low, high = (None if row[end] is None else row[end] / row["load"]
                         for end in ("accepted_low", "accepted_high"))  # fmt: skip
            rows.append({
                "curve": name, "kind": SIMULATED, "load": row["load"],
                "latency": row["accepted"] / row["load"], "low": low, "high": high, "behind": 0,
                "said": give_or_take(row["accepted"], half),
            })  # fmt: skip
    return pl.DataFrame(rows, schema=_COLUMNS)


def _panel(group: CurveGroup, y: Axis, looks: dict[str, Look]) -> Panel:
    """Return a pair of axes: large if there is only one."""
    loads: list[Any] = [curve.table["load"].max() for curve in group.curves]
    loads += [curve.accepted["load"].max() for curve in group.simulated]
    x = axis("load", _with_unit(group.axes.load), loads, whole=False)
    x = replace(x, steps=LOAD_STEPS)
    one = len(panels(group)) == 1
    width, height = (WIDTH, HEIGHT) if one else (PANEL_WIDTH, PANEL_HEIGHT)
    names = [name for name, look in looks.items() if look.named]
    return panel(x, y, names, width, height)


def _with_unit(words: str) -> str:
    """Return the words of an axis with their unit in brackets."""
    what, _, unit = words.partition(", ")
    return f"{what} ({unit})" if unit else what


def _curves(
    where: Panel, table: pl.DataFrame, looks: dict[str, Look],
    saturated: Iterable[tuple[float, float]] = (),
) -> list[alt.Chart]:  # fmt: skip
    """Return the curves of a panel with their intervals, points and names.

    No name stands on the sides of the intervals in which networks are ``saturated``.
    """
    simulated, models = (table.filter(kind=kind) for kind in (SIMULATED, MODEL))
    dashed = {name: look._replace(dash=DASHED) for name, look in looks.items()}
    layers = [*_bands(where, simulated, looks), *where.lines(models, "curve", dashed, points=0)]
    layers += where.lines(simulated.filter(pl.col("behind") == 0), "curve", looks, points=46)
    some = simulated.filter(pl.col("behind") > 0)
    if some.height:  # the line goes on, and its points are hollow
        layers += where.lines(simulated, "curve", looks, points=0)
        layers += where.hollow(some, "curve", looks)
    upright = [load for load in chain(*saturated) if load <= where.x.high]
    told = simulated if simulated.height else models
    return [*layers, *where.ends_of(told, "curve", looks, upright=upright)]


def _bands(where: Panel, table: pl.DataFrame, looks: dict[str, Look]) -> list[alt.Chart]:
    """Return the 95 % intervals round curves, where any is known."""
    known = table.drop_nulls("high").with_columns(latency=pl.col("low"))
    if known.is_empty():
        return []
    return where.areas(known, "curve", looks, "high")


def _intervals(curves: Sequence[tuple[Curve, str]]) -> list[tuple[float, float]]:
    """Return the intervals in which networks saturate, each once."""
    found = [curve.saturation for curve, _ in curves if not curve.model]
    return list(dict.fromkeys(each for each in found if each is not None))


def _saturates(where: Panel, curves: Sequence[tuple[Curve, str]]) -> list[alt.Chart]:
    """Return the intervals in which networks saturate."""
    return [layer for low, high in _intervals(curves) for layer in where.band(low, high)]


def _arranged(drawn: dict[str, alt.LayerChart]) -> Any:
    """Return panels side by side, in rows."""
    charts = list(drawn.values())
    if len(charts) == 1:
        return charts[0]
    columns = COLUMNS if room() >= WIDE else 1
    rows = [alt.hconcat(*charts[at : at + columns], spacing=24)
            for at in range(0, len(charts), columns)]  # fmt: skip
    return alt.vconcat(*rows, spacing=24)


def _looks(group: CurveGroup) -> dict[str, Look]:
    """Return how curves look by their names, the same in all figures of a group.

    Values of a field that is a number are in order, from light to dark.
    """
    told = [each for some in _named(group).values() for each in some]
    names = list(dict.fromkeys(name for _, name in told))
    values = (
        {name: curve.about.get(group.differ[0]) for curve, name in told} if group.differ else {}
    )
    numbers = [each for each in values.values() if isinstance(each, int | float)]
    in_order = len(numbers) == len(names) > 1 and not any(isinstance(x, bool) for x in numbers)
    if in_order and len(set(numbers)) == len(numbers):
        names.sort(key=lambda name: float(values[name]))  # type: ignore[arg-type]
        looks = ordered(names)
    else:
        looks = looks_of(names)
    named = len(names) > 1
    return {name: look._replace(dash=SOLID, named=named) for name, look in looks.items()}


def _named(group: CurveGroup) -> dict[str, list[tuple[Curve, str]]]:
    """Return the curves of each panel, their names without the words that all share."""
    found = panels(group)
    _, short = _shared(found)
    return {
        panel: [(curve, short[name].strip(", ")) for curve, name in some]
        for panel, some in found.items()
    }


def _shared(found: dict[str, list[tuple[Curve, str]]]) -> tuple[str, dict[str, str]]:
    """Return the words that all names share, and the names without them."""
    return shared_words(list(dict.fromkeys(name for some in found.values() for _, name in some)))


def _top(group: CurveGroup) -> tuple[float, bool]:
    """Return where the axis of latencies ends, and whether curves go on beyond it."""
    most: list[Any] = [curve.table["latency"].max() for curve in group.curves]
    highest = max((value for value in most if value is not None), default=1.0)
    idle = max((curve.idle for curve in group.curves if curve.idle), default=highest)
    first = [curve.table["latency"][0] for curve in group.curves if len(curve.table)]
    end = HIGHEST * max([idle, *first])
    return (end, True) if highest > end else (1.05 * highest, False)


def _some_behind(group: CurveGroup) -> bool:
    """Whether at some load that is drawn only some of the runs kept up."""
    return any((curve.table["behind"] > 0).any() for curve in group.simulated)


def _latency_caption(group: CurveGroup, top: float, *, cut: bool) -> str:
    said = []
    many = {each for curve in group.simulated for each in curve.table["runs"]}
    if title := _shared(panels(group))[0]:
        said.append(f'Names leave out "{title}".')
    if any(curve.table["high"].drop_nulls().len() for curve in group.simulated):
        runs = f"{'up to ' * (len(many) > 1)}{max(many)} runs with different seeds"
        of = f"of {runs}" if max(many) > 1 else "of one run each"
        said.append(f"Bands: 95 % intervals, {of}.")
    if _some_behind(group):
        said.append("Hollow: some runs fell behind there; the mean is that of the others.")
    if any(curve.saturation for curve in group.simulated):
        said.append("Shaded: where the network saturates.")
    if group.models and group.simulated:
        said.append("Dashed: the model.")
    beside = zip(group.models, group.of, strict=True)
    if ends := max((model.ends for model, of in beside if of is not None), default=0):
        unit = group.axes.latency_unit
        said.append(f"Its latencies have the {number(ends)} {unit} at the ends added.")
    if cut:
        said.append(f"Cut at {number(top)}; the table below goes on.")
    drawn = sum(map(len, panels(group).values()))
    if drawn < len(group.curves):
        said.append(f"{drawn} of {len(group.curves)} curves are drawn; the table has all.")
    return " ".join(said)


def _latency_alternative(group: CurveGroup) -> str:
    said = [f"Line chart of {group.axes.latency}, {group.axes.latency_unit}, by {group.axes.load}."]
    for curve in group.curves:
        if curve.table.is_empty():
            said.append(f"{curve.label}: falls behind at {number(curve.fell_behind)}, no latency.")
            continue
        first, last = curve.table.row(0, named=True), curve.table.row(-1, named=True)
        whose = "model of " if curve.model else ""
        line = f"{whose}{curve.label}: from {number(first['latency'])} at {number(first['load'])}"
        line += f" to {number(last['latency'])} at {number(last['load'])}"
        place = curve.saturation
        if place is not None:
            low, high = map(number, place)
            line += f"; saturates at {low}" if low == high else f"; saturates from {low} to {high}"
        said.append(f"{line}.")
    return " ".join(said)


def _latency_data(group: CurveGroup) -> Any:
    rows = [
        (curve.label, MODEL if curve.model else SIMULATED, row["load"], row["latency"],
         row["low"], row["high"], runs_said(row))
        for curve in group.curves
        for row in curve.table.iter_rows(named=True)
    ]  # fmt: skip
    latency = f"{group.axes.latency}, {group.axes.latency_unit}"
    heads = ["curve", "whose", group.axes.load, latency, "95 % from", "to", "runs"]
    return table_of(heads, rows)
