"""Latency and throughput by load, many curves in one chart: simulated, and as a model has it."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from netloom.drawing.colours import COLOURS, GREY
from netloom.report.page.curve_names import said_field, shared_words
from netloom.report.page.curve_points import runs_said
from netloom.report.page.figure import Figure, make_figure, table_of
from netloom.words import give_or_take, number

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from netloom.report.page.curves import Curve, CurveGroup

SIMULATED, MODEL = "simulated", "model"
"""Who says what a curve says."""

PALETTE = [*COLOURS, "#0d8a94", "#c2468f", "#8a6d4b"]
"""Colours of curves: as readable on white as on near-black."""

ONE_PANEL = 6
"""Most curves of one pair of axes; more are drawn in panels."""

MOST_PANELS = 12

HIGHEST = 6.0
"""Where the axis of latencies ends, in multiples of the idle network's, if curves go on."""

WIDTH, HEIGHT = 445, 310

LETTER, SYMBOL = 7.0, 34
"""Pixels of a letter of a legend, and of what stands beside a name there."""
PANEL_WIDTH, PANEL_HEIGHT = 290, 210


def curve_figures(group: CurveGroup) -> list[Figure]:
    """Return the figures of curves: latency by load, and throughput by load if it is known."""
    figures = [_latency(group)]
    if any(len(curve.accepted) for curve in group.simulated):
        figures.append(_throughput(group))
    return figures


def panels(group: CurveGroup) -> dict[str, list[tuple[Curve, str]]]:
    """Return the curves of each pair of axes, each with the name that its colour has.

    Few curves have a colour each. Many have the colour of what differs first among them, and a
    panel for every combination of the rest; of more than twelve panels the first are drawn.
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
    table = pl.DataFrame(
        [row for name, curves in panels(group).items() for row in _latency_rows(name, curves)],
        schema=_COLUMNS,
    )
    base = alt.Chart().encode(x=_load(group), color=_colours(group))
    title = f"{group.axes.latency}, {group.axes.latency_unit}"
    y = partial(_y, title, alt.Scale(domain=[0, top], nice=False))
    layers = [
        *_shaded(base, table),
        *_bands(base, table, y),
        *_lines(base, y, group),
    ]
    if group.simulated:
        points = _only(base, SIMULATED).encode(y=y("latency"), tooltip=_tips(group, title))
        sure = points.transform_filter("datum.behind === 0")
        layers.append(sure.mark_point(filled=True, size=46, opacity=1, clip=cut))
        if _some_behind(group):
            hollow = points.transform_filter("datum.behind > 0")
            layers.append(
                hollow.mark_point(filled=False, size=64, strokeWidth=2, opacity=1, clip=cut)
            )
    return make_figure(
        _arranged(layers, table),
        title=f"{group.axes.latency.capitalize()} by load: {group.name}",
        caption=_latency_caption(group, top, cut=cut),
        alternative=_latency_alternative(group),
        data=_latency_data(group),
    )


def _throughput(group: CurveGroup) -> Figure:
    table = pl.DataFrame(
        [row for name, curves in panels(group).items() for row in _accepted_rows(name, curves)],
        schema=_COLUMNS,
    )
    base = alt.Chart().encode(x=_load(group), color=_colours(group))
    y = partial(_y, group.axes.accepted, alt.Scale(zero=True))
    layers = [
        _only(alt.Chart().encode(x=_load(group)), "all of it")
        .mark_line(color=GREY, strokeDash=[2, 3])
        .encode(y=y("latency")),
        *_bands(base, table, y),
        _only(base, SIMULATED).mark_line(strokeWidth=2.2).encode(y=y("latency")),
        _only(base, SIMULATED)
        .mark_point(filled=True, size=46, opacity=1)
        .encode(y=y("latency"), tooltip=_tips(group, group.axes.accepted)),
    ]
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
        _arranged(layers, table),
        title=f"{group.axes.accepted.partition(',')[0].capitalize()} by load: {group.name}",
        caption="Dotted: all that is offered.",
        alternative=f"Line chart of {group.axes.accepted} by {group.axes.load}. {'; '.join(said)}.",
        data=table_of(heads, rows),
    )


_COLUMNS = {"panel": str, "curve": str, "kind": str, "load": float, "load2": float,
            "latency": float, "low": float, "high": float, "behind": int, "said": str}  # fmt: skip


def _latency_rows(panel: str, curves: Sequence[tuple[Curve, str]]) -> list[dict[str, Any]]:
    rows = []
    for curve, name in curves:
        kind = MODEL if curve.model else SIMULATED
        common = {"panel": panel, "curve": name}
        for row in curve.table.iter_rows(named=True):
            half = None if row["high"] is None else row["high"] - row["latency"]
            seeds = f", {runs_said(row)} runs" if row["runs"] > 1 else ""
            if row["behind"]:
                seeds += "; the others fell behind"
            said = give_or_take(row["latency"], half) + seeds
            found = {name: row[name] for name in ("load", "latency", "low", "high", "behind")}
            rows.append(common | {"kind": kind, "said": said} | found)
        place = None if curve.model else curve.saturation
        if place is not None:
            rows.append(common | {"kind": "saturation", "load": place[0], "load2": place[1]})
    return rows


def _accepted_rows(panel: str, curves: Sequence[tuple[Curve, str]]) -> list[dict[str, Any]]:
    rows = []
    most = max((curve.accepted["load"].max() or 0 for curve, _ in curves), default=0)
    for load in (0, most):
        whole = {"panel": panel, "kind": "all of it", "load": load, "latency": load}
        rows.append(whole | {"curve": curves[0][1]})
    for curve, name in curves:
        for row in curve.accepted.iter_rows(named=True):
            half = None if row["accepted_high"] is None else row["accepted_high"] - row["accepted"]
            rows.append({
                "panel": panel, "curve": name, "kind": SIMULATED, "load": row["load"],
                "latency": row["accepted"], "low": row["accepted_low"],
                "high": row["accepted_high"], "said": give_or_take(row["accepted"], half),
            })  # fmt: skip
    return rows


def _arranged(layers: Sequence[alt.Chart], table: pl.DataFrame) -> Any:
    """Return layers in one pair of axes, or in one for each panel."""
    names = table["panel"].unique(maintain_order=True).to_list()
    if len(names) <= 1:
        return alt.layer(*layers, data=table).properties(width=WIDTH, height=HEIGHT)
    panel = alt.Facet("panel:N", title=None, sort=names, header=alt.Header(labelFontSize=12))
    whole: alt.FacetChart = (
        alt.layer(*layers)
        .properties(width=PANEL_WIDTH, height=PANEL_HEIGHT)
        .facet(panel, columns=3, data=table)
    )
    return whole


def _bands(base: alt.Chart, table: pl.DataFrame, y: Callable[[str], Any]) -> list[alt.Chart]:
    """Return the 95 % intervals round curves, if any is known."""
    if table["high"].is_null().all():
        return []
    area = _only(base, SIMULATED).mark_area(opacity=0.22, clip=True)
    return [area.encode(y=y("low"), y2="high:Q")]


def _shaded(base: alt.Chart, table: pl.DataFrame) -> list[alt.Chart]:
    """Return the intervals in which networks saturate, if any does."""
    if "saturation" not in table["kind"]:
        return []
    return [_only(base, "saturation").mark_rect(opacity=0.13, clip=True).encode(x2="load2:Q")]


def _only(base: alt.Chart, kind: str) -> alt.Chart:
    found: alt.Chart = base.transform_filter(f"datum.kind === '{kind}'")
    return found


def _lines(base: alt.Chart, y: Any, group: CurveGroup) -> list[alt.Chart]:
    """Return the lines of simulators, and dashed ones of models with a legend that says so."""
    if not group.models:
        return [_only(base, SIMULATED).mark_line(strokeWidth=2.2, clip=True).encode(y=y("latency"))]
    known = [SIMULATED, MODEL] if group.simulated else [MODEL]
    dash = alt.StrokeDash(
        "kind:N",
        title=None,
        scale=alt.Scale(domain=known, range=[[1, 0], [6, 4]][-len(known) :]),
        legend=alt.Legend(orient="top", symbolStrokeColor=GREY, symbolSize=280),
    )
    both = base.transform_filter(f"datum.kind === '{SIMULATED}' || datum.kind === '{MODEL}'")
    line = both.mark_line(strokeWidth=2.2, clip=True).encode(y=y("latency"), strokeDash=dash)
    unseen = (
        _only(base, MODEL)
        .mark_point(size=46, opacity=0, clip=True)
        .encode(y=y("latency"), tooltip=_tips(group, f"{group.axes.latency}, model"))
    )
    return [line, unseen]


def _tips(group: CurveGroup, title: str) -> list[Any]:
    return [
        alt.Tooltip("curve:N", title="curve"),
        alt.Tooltip("load:Q", title=group.axes.load.partition(",")[0], format=".4~g"),
        alt.Tooltip("said:N", title=title),
    ]


def _y(title: str, scale: Any, field: str) -> Any:
    return alt.Y(f"{field}:Q", title=title, scale=scale)


def _load(group: CurveGroup) -> Any:
    return alt.X(
        "load:Q", title=group.axes.load, scale=alt.Scale(zero=True, nice=True),
        axis=alt.Axis(tickCount=6),
    )  # fmt: skip


def _colours(group: CurveGroup) -> Any:
    """Return colours by name, the same in all figures of a group.

    The legend leaves out the words that all names share, and has them as its title.
    """
    names = list(dict.fromkeys(name for some in panels(group).values() for _, name in some))
    title, short = shared_words(names)
    changed = short if title else {}
    widest = max(map(len, short.values()), default=1)
    legend = alt.Legend(
        orient="top",
        columns=max(1, min(len(names), WIDTH // round(LETTER * widest + SYMBOL))),
        labelLimit=0,
        labelExpr=f"{json.dumps(changed)}[datum.label]" if changed else "datum.label",
        symbolOpacity=1,
        symbolType="circle",
    )
    return alt.Color(
        "curve:N",
        title=title or None,
        sort=names,
        scale=alt.Scale(
            domain=names, range=[PALETTE[at % len(PALETTE)] for at in range(len(names))]
        ),
        legend=legend,
    )


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
