"""The picture of a model of locality."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from netloom.drawing.colours import COLOURS, GREY
from netloom.drawing.frame import curve, layered, titled
from netloom.questions.predict.drawn import nodes_axis, ratio_axis
from netloom.questions.predict.locality.answer import PARTS

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what was asked about, and what the ideal mapping gains."""
    found = record.figures
    words = [
        f"contexts a processor: {found['contexts']:g}; network clock over the processors': "
        f"{found['network_speed']:g}"
    ]
    if record.several:
        words.append("ideal: all messages go one hop")
    else:
        words.append(f"gain of the ideal mapping over a random one: {found['gain']:.3g}")
    return f"Locality, {found['name']}", words


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of what locality is worth, by name."""
    table = record.tables["table"]
    if not record.several:
        return {"time": _between_transactions(table)}
    limit = record.figures["per_hop_limit"]
    return {"gain": _gains(table), "latency of a hop": _per_hop(table, limit)}


def _between_transactions(table: pl.DataFrame) -> alt.Chart:
    """The time between transactions by mapping: Johnson 1992, figure 8."""
    parts = {
        f"{part}_cycles": name for part, name in PARTS.items() if table[f"{part}_cycles"].max()
    }
    order = list(parts.values())
    tidy = (
        table.rename(parts)
        .unpivot(order, index="mapping", variable_name="part", value_name="cycles")
        .with_columns(rank=pl.col("part").replace_strict(order, range(len(order))))
    )
    bars = (
        alt.Chart(tidy)
        .mark_bar()
        .encode(
            x=alt.X(
                "mapping:N",
                title=None,
                sort=table["mapping"].to_list(),
                axis=alt.Axis(labelAngle=0),
            ),
            y=alt.Y("cycles:Q", title="network cycles between transactions"),
            color=alt.Color(
                "part:N", title=None, scale=alt.Scale(domain=order, range=COLOURS[: len(order)])
            ),
            order=alt.Order("rank:Q", sort="descending"),
            tooltip=["mapping:N", "part:N", "cycles:Q"],
        )
    )
    return titled(bars, "Between two transactions of a processor")


def _gains(table: pl.DataFrame) -> alt.Chart:
    """Gain over a random mapping, by size."""
    return curve(
        table.filter(pl.col("mapping") != "random"),
        "What a mapping is worth",
        x=nodes_axis(),
        y=ratio_axis("gain_of_mapping", "transactions, times those of a random mapping"),
        color=alt.Color("mapping:N", title=None, scale=alt.Scale(range=COLOURS)),
        tooltip=["mapping:N", "nodes:Q", "gain_of_mapping:Q"],
    )


def _per_hop(table: pl.DataFrame, limit: float) -> alt.LayerChart:
    """Latency of a hop by size, and its limit: Johnson 1992, figure 6."""
    lines = curve(
        table,
        x=nodes_axis(),
        y=alt.Y("per_hop_latency:Q", title="latency of a hop, network cycles"),
        color=alt.Color("mapping:N", title=None, scale=alt.Scale(range=COLOURS)),
        tooltip=["mapping:N", "nodes:Q", "per_hop_latency:Q"],
    )
    most = pl.DataFrame({"per_hop_latency": [limit]})
    rule = alt.Chart(most).mark_rule(strokeDash=[2, 3], color=GREY).encode(y="per_hop_latency:Q")
    return layered([rule, lines], "Latency of a hop; dotted: what it tends to")
