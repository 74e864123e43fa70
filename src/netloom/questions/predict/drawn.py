"""What the pictures of all models have in common."""

from __future__ import annotations

from typing import Any

import altair as alt
import polars as pl

from netloom.drawing.colours import COLOURS, GREY
from netloom.drawing.frame import layered, titled

WIDTH, HEIGHT = 430, 320

MODEL, SIMULATED = "model", "simulated, ± 95 %"

MOST_TIMES = 6
"""Times the latency of an idle network, up to which a curve is drawn if nothing else is higher."""


def latency_curve(
    table: pl.DataFrame, by: str, axis: str, marks: dict[str, float], idle: float
) -> alt.LayerChart:
    """Latency by rate: the model's, its part in the network, and simulated points."""
    half = pl.col("simulated_ci95").fill_null(0)
    measured = table.drop_nulls("simulated_latency").with_columns(
        low=pl.col("simulated_latency") - half,
        high=pl.col("simulated_latency") + half,
        of=pl.lit(SIMULATED),
    )
    known = table.drop_nulls("latency").with_columns(of=pl.lit(MODEL))
    highest: Any = known["latency"].max() or idle
    top: Any = max(min(highest, MOST_TIMES * idle), measured["simulated_latency"].max() or 0)
    y_scale = alt.Scale(domain=[0, 1.05 * top], nice=False)
    x = alt.X(f"{by}:Q", title=axis, scale=alt.Scale(zero=True))
    y = alt.Y("latency:Q", title="latency, cycles", scale=y_scale)
    names = [MODEL, SIMULATED] if measured.height else [MODEL]
    legend = alt.Legend(orient="top-left", title=None, symbolOpacity=1)
    colour = alt.Color(
        "of:N",
        scale=alt.Scale(domain=names, range=COLOURS[: len(names)]),
        legend=legend if measured.height else None,
    )
    line = alt.Chart(known).mark_line(strokeWidth=2.2, clip=True)
    layers: list[alt.Chart] = []
    if "latency_low" in known.columns:
        area = alt.Chart(known).mark_area(opacity=0.15, clip=True)
        expected = alt.Y("latency_low:Q", scale=y_scale, title="latency, cycles")
        layers.append(area.encode(x=x, y=expected, y2="latency_high:Q", color=colour))
    layers += [
        line.encode(x=x, y=y, color=colour, tooltip=[f"{by}:Q", "latency:Q"]),
        alt.Chart(known)
        .mark_line(strokeWidth=1.3, strokeDash=[5, 3], clip=True)
        .encode(x=x, y=alt.Y("network_latency:Q", scale=y_scale), color=colour),
        alt.Chart(pl.DataFrame({"latency": [idle]}))
        .mark_rule(strokeDash=[2, 3], color=GREY)
        .encode(y="latency:Q"),
        *rules(marks, by),
    ]
    if measured.height:
        points = alt.Chart(measured)
        layers += [
            points.mark_rule(strokeWidth=1.4, clip=True).encode(
                x=x, y=alt.Y("low:Q", scale=y_scale), y2="high:Q", color=colour
            ),
            points.mark_point(filled=True, size=44, opacity=1, clip=True).encode(
                x=x,
                y=alt.Y("simulated_latency:Q", scale=y_scale),
                color=colour,
                tooltip=[f"{by}:Q", "simulated_latency:Q", "simulated_ci95:Q", "error:Q"],
            ),
        ]
    title = "Latency; dashed: in the network; dotted: unhindered"
    if "latency_low" in known.columns:
        title += "; shaded: nine of ten"
    return layered(layers, title)


def rules(marks: dict[str, float], by: str) -> list[alt.Chart]:
    """Vertical lines where the network saturates and where none could go on, named to each side."""
    layers: list[alt.Chart] = []
    for place, (what, value) in enumerate(marks.items()):
        base = alt.Chart(pl.DataFrame({by: [value], "what": [what]})).encode(x=f"{by}:Q")
        left = place == 0
        words = base.mark_text(
            angle=270, align="right", color=GREY, dx=-4,
            baseline="bottom" if left else "top", dy=-3 if left else 3,
        )  # fmt: skip
        layers += [
            base.mark_rule(color=GREY, strokeDash=[6, 3]),
            words.encode(y=alt.value(0), text="what:N"),
        ]
    return layers


def made_of(table: pl.DataFrame, startup_cycles: float = 0.0) -> alt.Chart:
    """The parts of one latency; nothing where it is saturated."""
    point = table.row(0, named=True)
    names = {"network_latency": "in the network", "source_wait": "in the source queue"}
    rows = [{"where": names[name], "cycles": point[name] or 0.0} for name in names]
    if startup_cycles and not point["saturated"]:
        names["startup"] = "starting up"
        rows.append({"where": names["startup"], "cycles": startup_cycles})
    title = "Where a message's time goes"
    if point["latency"] is None:
        title = "Saturated: no latency" if point["saturated"] else "No latency: simulate the knee"
    bars = (
        alt.Chart(pl.DataFrame(rows))
        .mark_bar(color=COLOURS[1])
        .encode(
            x=alt.X("where:N", title=None, sort=list(names.values()), axis=alt.Axis(labelAngle=0)),
            y=alt.Y("cycles:Q", title="cycles", scale=alt.Scale(domainMin=0)),
            tooltip=["where:N", "cycles:Q"],
        )
    )
    return titled(bars, title, WIDTH // 2, HEIGHT)


def nodes_axis() -> alt.X:
    """Return the axis of sizes."""
    scale = alt.Scale(type="log", nice=False)
    return alt.X("nodes:Q", title="nodes", scale=scale, axis=alt.Axis(format="~s"))


def ratio_axis(field: str, title: str) -> alt.Y:
    """Return an axis of ratios."""
    return alt.Y(f"{field}:Q", title=title, scale=alt.Scale(type="log", nice=False))
