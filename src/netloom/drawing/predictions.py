"""What the pictures of all models have in common."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol

import polars as pl

from netloom.base.words import number, percent
from netloom.drawing.axes import DASHED, DOTTED, MODEL, End, Look, axis, panel
from netloom.drawing.bars import Bar, stacked
from netloom.drawing.colours import BEST, REFERENCE, THIS
from netloom.drawing.names import band_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    import altair as alt

    from netloom.drawing.axes import Axis, Panel

WIDTH, HEIGHT = 430, 320

WHOLE, INSIDE, MEASURED, IDLE = "model", "in the network", "simulated", "idle"

LOOKS = {WHOLE: MODEL, INSIDE: Look(REFERENCE, DASHED, 1.3)}

MOST_SIZES = 6
"""Sizes of which each has a tick, at most."""

MOST_TIMES = 6
"""Times the latency of an idle network, up to which a curve is drawn if nothing else is higher."""


def latency_curve(
    table: pl.DataFrame,
    along: Axis,
    idle: float,
    saturation: tuple[float, float],
    limit: float | None = None,
) -> alt.LayerChart:
    """Latency by rate: the model's, its part in the network, and simulated points.

    ``saturation`` is the interval that the model expects it in. ``limit`` the load that nothing
    can exceed, if it is to be drawn.
    """
    by = along.field
    known = table.drop_nulls("latency").sort(by)
    half = pl.col("simulated_ci95").fill_null(0)
    measured = table.drop_nulls("simulated_latency").with_columns(
        latency=pl.col("simulated_latency"),
        low=pl.col("simulated_latency") - half, high=pl.col("simulated_latency") + half,
    )  # fmt: skip
    highest: Any = known["latency"].max() or idle
    top: Any = max(min(highest, MOST_TIMES * idle), measured["simulated_latency"].max() or 0)
    names = [*LOOKS, *([f"● {MEASURED}"] if measured.height else []), f"{IDLE} {number(idle)}"]
    where = panel(along, axis("latency", "latency (cycles)", [0, top], whole=False), names)
    layers = _saturates(where, saturation, limit)
    layers += where.across(idle, Look(REFERENCE, DOTTED))
    if "latency_low" in known.columns:
        expected = known.select(by, pl.col("latency_high"), latency=pl.col("latency_low"))
        band = where.chart(expected, y2="latency_high:Q")
        layers.append(band.mark_area(color=THIS, opacity=0.15, clip=True))
    tidy = pl.concat(
        known.select(by, latency=pl.col(column), of=pl.lit(name))
        for name, column in ((WHOLE, "latency"), (INSIDE, "network_latency"))
    )
    layers += where.lines(tidy, "of", LOOKS, points=0)
    ends = [End(names[-1], where.x.high, idle, REFERENCE, DOTTED)]
    if measured.height:
        points = where.chart(measured, tooltip=[by, "latency", "low", "high"])
        layers.append(points.mark_circle(size=46, opacity=1, color=THIS, clip=True))
        bars = where.chart(measured.with_columns(latency=pl.col("low")), y2="high:Q")
        layers.append(bars.mark_rule(color=THIS, strokeWidth=1.4, clip=True))
        last = measured.sort(by).row(-1, named=True)
        ends.append(End(MEASURED, last[by], last["latency"], THIS, ()))
    seen = tidy.filter(of=WHOLE) if _same(known) else tidy
    looks = {name: look for name, look in LOOKS.items() if name in set(seen["of"])}
    upright = [each for each in (*saturation, limit) if each is not None and each <= along.high]
    layers += where.ends_of(seen, "of", looks, ends, upright)
    return where.drawn(layers, _latency_said(known, by))


def _latency_said(known: pl.DataFrame, by: str) -> str:
    if known.is_empty():
        return "No rate has a latency: all are beyond saturation"
    last = known.row(-1, named=True)
    return f"The model expects {number(last['latency'])} cycles at {number(last[by])}"


def _same(known: pl.DataFrame) -> bool:
    """Whether all of the latency is in the network."""
    return bool((known["latency"] == known["network_latency"]).all())


def _saturates(
    where: Panel, saturation: tuple[float, float], limit: float | None
) -> list[alt.Chart]:
    """Return the interval in which the network saturates, and the load that nothing can exceed."""
    said: dict[str, tuple[float, float]] = {}
    layers: list[alt.Chart] = []
    low, high = saturation
    if low <= where.x.high:
        layers += where.band(low, high)
        said[band_named("saturates*", low, high)] = (low, min(high, where.x.high))
    if limit is not None and limit <= where.x.high:
        layers += where.rule(limit)
        said[f"limit {number(limit)}"] = (limit, limit)
    return [*layers, *where.above(said)]


class Predicted(Protocol):
    """What a model says at one load. Times are None past saturation."""

    @property
    def latency(self) -> float | None: ...  # noqa: D102
    @property
    def network_latency(self) -> float | None: ...  # noqa: D102
    @property
    def source_wait(self) -> float | None: ...  # noqa: D102
    @property
    def saturated(self) -> bool: ...  # noqa: D102
    @property
    def simulated(self) -> Any: ...  # noqa: D102


def made_of(point: Predicted, startup_cycles: float = 0.0) -> alt.LayerChart:
    """Return the parts of one latency, or nothing if it is saturated."""
    values = {
        "in the network": (point.network_latency or 0.0, BEST),
        "in the source queue": (point.source_wait or 0.0, THIS),
    }
    if startup_cycles and not point.saturated:
        values["starting up"] = (startup_cycles, REFERENCE)
    total = sum(value for value, _ in values.values())
    rows = [Bar(name, value, number(value), colour) for name, (value, colour) in values.items()]
    title = f"A message takes {number(total)} cycles"
    if point.latency is None:
        title = "Saturated: no latency" if point.saturated else "No latency: simulate the knee"
    elif total:
        title += f", {percent(values['in the source queue'][0] / total)} of them in the queue"
    return stacked(rows, title, "time of a message (cycles)", width=WIDTH)


def nodes_axis(table: pl.DataFrame) -> Axis:
    """Return the axis of sizes: of few the ticks are these."""
    sizes = sorted(set(table["nodes"].to_list()))
    found = axis("nodes", "nodes", sizes, log=True)
    near = any(1.7 * before > after for before, after in pairwise(sizes))
    return found if near or len(sizes) > MOST_SIZES else replace(found, marks=tuple(sizes))


def ratio_axis(field: str, title: str, values: list[float]) -> Axis:
    """Return an axis of ratios, by decades if they span more than one."""
    return axis(field, title, values, log=max(values) > 10 * min(values), whole=False)


def lines_by(
    table: pl.DataFrame, x: Axis, y: Axis, by: str, looks: Mapping[str, Look], title: str,
    more: tuple[str, float] | None = None,
) -> alt.LayerChart:  # fmt: skip
    """Return lines with their names at their ends, and perhaps a bound across with its name."""
    beside = [*looks, *([more[0]] if more else [])]
    where = panel(x, y, beside, WIDTH, HEIGHT)
    ends = [End.of_bound(more[0], x.high, more[1])] if more else []
    rule = where.across(more[1]) if more else []
    drawn = [*rule, *where.lines(table, by, looks), *where.ends_of(table, by, looks, ends)]
    return where.drawn(drawn, title)
