"""The pictures of the study ``model-accuracy``: models beside simulation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.drawing.colours import COLOURS, ORDER_COLOURS
from netloom.drawing.frame import framed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    import altair as alt
    import polars as pl

PAPERS = "paper's"

FIGURES_3_TO_5 = {
    "figure-3": ("inter-message time t_m, network cycles", "message latency T_m, network cycles"),
    "figure-4": ("distance d, hops", "message rate r_m, messages/node/cycle"),
    "figure-5": ("distance d, hops", "message latency T_m, network cycles"),
}

BY_SIZE = {
    "figure 6": ("Latency of a hop, T_h", "network cycles"),
    "figure 7": ("Gain of ideal over random mappings", "ratio of transaction rates"),
}

ORDERED = [ORDER_COLOURS[0], ORDER_COLOURS[2], ORDER_COLOURS[4]]
"""Lengths of messages, and contexts, from few to many."""

CELL = 210
"""Width of a small chart."""


def figures(tables: Mapping[str, pl.DataFrame]) -> Iterator[tuple[str, alt.VConcatChart]]:
    """Yield the name of each figure that there is a table for, and the figure.

    Parameters
    ----------
    tables
        As ``studies.model_accuracy.figure_tables`` makes them.
    """
    if "figure 1" in tables:
        seen, curves = tables["figure 1"], tables["figure 1, curves"]
        for radix in seen["radix"].unique(maintain_order=True).to_list():
            chart = _latencies(seen.filter(radix=radix), curves.filter(radix=radix), radix)
            yield f"figure-1-k{radix}", chart
    if "figures 3 to 5" in tables:
        for name in FIGURES_3_TO_5:
            yield name, _mappings(name, tables["figures 3 to 5"])
    for name in BY_SIZE:
        if name in tables:
            yield name.replace(" ", "-"), _sizes(name, tables[name])
    if "figure 8" in tables:
        yield "figure-8", _breakdown(tables["figure 8"])


def _layers(
    lines: alt.Chart,
    points: alt.Chart,
    dashed: tuple[str, str, str],
    *,
    seen: alt.Y | None = None,
    **axes: Any,
) -> alt.LayerChart:
    """Return lines of models, and points of what was simulated, on the same axes.

    ``dashed``: the column that tells lines apart, its value of solid ones, and of dashed ones.
    ``seen``: the vertical axis of points, if their column is another.
    """
    import altair as alt

    column, *domain = dashed
    dashes = alt.Scale(domain=domain, range=[[1, 0], [3, 3]])
    said = lines.encode(**axes, strokeDash=alt.StrokeDash(f"{column}:N", scale=dashes, legend=None))
    measured = points.encode(**axes | ({} if seen is None else {"y": seen}))
    chart: alt.LayerChart = alt.LayerChart(layer=[said, measured])
    return chart


def _latencies(seen: pl.DataFrame, curves: pl.DataFrame, radix: int) -> alt.VConcatChart:
    """Unicast latency by rate: a column of charts for each V, a row for each β."""
    import altair as alt
    import polars as pl

    flits = sorted(seen["flits"].unique().to_list())
    shades = alt.Scale(domain=flits, range=ORDERED[: len(flits)])
    tooltip = ["flits:O", "load:Q", "rate:Q", "simulated:Q", "ci95:Q", "predicted:Q"]
    many = sorted(seen["vcs"].unique().to_list())
    columns = []
    for vcs in many:
        legend = alt.Legend(title="M, flits") if vcs == many[-1] else None
        cells = []
        for broadcast in sorted(seen.filter(vcs=vcs)["broadcast"].unique().to_list()):
            of = seen.filter(vcs=vcs, broadcast=broadcast)
            said = curves.filter(vcs=vcs, broadcast=broadcast)
            said = said.with_columns(pl.col("flits").cast(pl.Int64))
            most: Any = of["simulated"].max()
            scale = alt.Scale(domain=[0, 1.5 * most])
            latency, simulated = (
                alt.Y(f"{name}:Q", title="cycles", scale=scale) for name in ("latency", "simulated")
            )
            points = alt.Chart(of).mark_point(filled=True, size=36, opacity=1)
            chart = _layers(
                alt.Chart(said).mark_line(clip=True, strokeWidth=1.6),
                points.encode(tooltip=tooltip),
                ("variant", "improved", "printed"),
                x=alt.X("rate:Q", title="messages/node/cycle", axis=alt.Axis(tickCount=4)),
                y=latency,
                seen=simulated,
                color=alt.Color("flits:O", scale=shades, legend=legend),
            )
            title = f"V = {vcs}, β = {broadcast:g}"
            cells.append(chart.properties(width=CELL, height=150, title=title))
        columns.append(alt.vconcat(*cells))
    words = "points: simulated, at 20, 50 and 80 % of saturation; lines: improved; dashed: printed"
    return framed(columns, f"Unicast latency on torus:{radix}x{radix}", [words])


def _mappings(name: str, table: pl.DataFrame) -> alt.VConcatChart:
    """Johnson's figures 3 to 5: a chart for each protocol and kind of mappings."""
    import altair as alt
    import polars as pl

    across, up = FIGURES_3_TO_5[name]

    def chosen(of: pl.DataFrame, source: str) -> pl.DataFrame:
        rate, latency = pl.col(f"{source}_rate"), pl.col(f"{source}_latency")
        x = 1 / rate if name == "figure-3" else pl.col("distance")
        y = rate if name == "figure-4" else latency
        return of.select("contexts", "channel_load", x=x, y=y).sort("x")

    parts = []
    groups = list(table.group_by("protocol", "kind", maintain_order=True))
    for place, ((protocol, kind), of) in enumerate(groups, 1):
        seen = chosen(of, "simulated").filter(channel_load="own")
        chart = _layers(
            alt.Chart(chosen(of, "predicted")).mark_line(strokeWidth=1.6),
            alt.Chart(seen).mark_point(filled=True, size=40, opacity=1),
            ("channel_load", "own", "mean"),
            x=alt.X("x:Q", title=across, scale=alt.Scale(zero=name == "figure-3")),
            y=alt.Y("y:Q", title=up),
            color=_contexts(named=place == len(groups)),
        )
        title = f"{protocol}, {_KINDS[str(kind)]}"
        parts.append(chart.properties(width=CELL, height=240, title=title))
    words = (
        "points: simulated; lines: model, with the channel loads of each mapping; "
        "dashed: with their mean, as in the paper"
    )
    return framed(parts, f"{name.replace('-', ' ').capitalize()}: mappings on torus:8x8", [words])


_KINDS = {"distance": "random swaps", "linear": "linear mappings"}


def _sizes(name: str, table: pl.DataFrame) -> alt.VConcatChart:
    """Johnson's figures 6 and 7: by number of processors, beside tori that were simulated."""
    import altair as alt

    title, unit = BY_SIZE[name]
    powers = alt.Axis(values=[10**power for power in range(1, 7)])
    kind = alt.Scale(type="log" if name == "figure 7" else "linear")
    seen = table["source"] == "simulated"
    chart = _layers(
        alt.Chart(table.filter(~seen)).mark_line(strokeWidth=1.8),
        alt.Chart(table.filter(seen)).mark_point(filled=True, size=48, opacity=1),
        ("source", "model", PAPERS),
        x=alt.X("nodes:Q", title="processors", scale=alt.Scale(type="log"), axis=powers),
        y=alt.Y("value:Q", title=unit, scale=kind),
        color=_contexts(named=True),
    )
    words = (
        "points: simulated tori of 16 to 1024 nodes; lines: the model of these; "
        "dashed: the model of the paper's machine"
    )
    drawn = [chart.properties(width=520, height=330)]
    return framed(drawn, f"{name.capitalize()}: {title}", [words])


def _breakdown(table: pl.DataFrame) -> alt.VConcatChart:
    """Johnson's figure 8: what the time between transactions is made of."""
    import altair as alt
    import polars as pl

    parts = []
    groups = list(table.group_by("source", maintain_order=True))
    bars = table.group_by("source", "mapping", "contexts").agg(pl.col("cycles").sum())
    most = bars.select(pl.col("cycles").max()).item()
    for index, (source, of) in enumerate(groups):
        legend = alt.Legend(title=None) if index == len(groups) - 1 else None
        parts.append(
            alt.Chart(of.with_columns(pl.col("part").str.replace("_", " ")))
            .mark_bar()
            .encode(
                x=alt.X("contexts:O", title="contexts", axis=alt.Axis(labelAngle=0)),
                xOffset=alt.XOffset("mapping:N"),
                y=alt.Y("cycles:Q", title="network cycles", scale=alt.Scale(domain=[0, most])),
                color=alt.Color("part:N", scale=alt.Scale(range=COLOURS), legend=legend),
                tooltip=["contexts:O", "mapping:N", "part:N", "cycles:Q"],
            )
            .properties(width=CELL, height=300, title=_SOURCES[str(source[0])])
        )
    return framed(
        parts,
        "Figure 8: time between transactions, ideal (left) and random mappings (right)",
        ["of about 1000 processors"],
    )


_SOURCES = {
    "simulated": "Simulated",
    "model": "Model of the same",
    PAPERS: "Model of the paper's machine",
}


def _contexts(*, named: bool) -> alt.Color:
    import altair as alt

    legend = alt.Legend(title="contexts") if named else None
    return alt.Color("contexts:O", scale=alt.Scale(domain=[1, 2, 4], range=ORDERED), legend=legend)
