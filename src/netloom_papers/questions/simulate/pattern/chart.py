"""The picture of a pattern of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from netloom.base.units import size
from netloom.base.words import number
from netloom.drawing.axes import axis
from netloom.drawing.panel import ordered, panel
from netloom.questions.simulate.drawn import shares

if TYPE_CHECKING:
    import altair as alt

    from netloom.drawing.axes import Axis
    from netloom.drawing.frame import Part
    from netloom.drawing.panel import Look
    from netloom.questions.recorded import Recorded

APPLIED = "applied traffic (share of a channel)"


def footer(record: Recorded) -> list[str]:
    """Return what ran, on how many nodes."""
    found = record.figures
    return [
        f"{found['pattern']} on {found['topology']}, {number(found['active_nodes'])} nodes take "
        f"part; {found['router']['name']}"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a pattern of messages, by name."""
    return {"traffic": _traffic(record), "slowdown": pattern_slowdown(record)}


def _traffic(record: Recorded) -> alt.LayerChart:
    """Return which share of the applied traffic gets through, by size of messages and node."""
    table, looks = _named(record)
    columns = {"average_node": "", "worst_node": ", worst"}
    tidy = pl.concat(
        table.select(
            "applied",
            share=pl.col(column) / pl.col("applied"),
            of=pl.format("{}{}", "of", pl.lit(more)),
        )
        for column, more in columns.items()
    )
    several = {
        name + more: look._replace(width=2.8 if not more else 1.2)
        for more in columns.values()
        for name, look in looks.items()
    }
    return shares(tidy, _applied(table), several)


def pattern_slowdown(record: Recorded) -> alt.LayerChart:
    """Return what contention adds to a message of a pattern, by applied traffic."""
    table, looks = _named(record)
    up = axis("slowdown_max", "longest message, times unhindered",
              [1.0, *table["slowdown_max"].to_list()], zero=False, whole=False)  # fmt: skip
    where = panel(_applied(table), up, looks)
    layers = [*where.lines(table, "of", looks), *where.ends_of(table, "of", looks)]
    most = table["slowdown_max"].max()
    said = f"A message of the worst node takes up to {number(most)} times as long as alone"
    return where.drawn([*where.across(1.0), *layers], said)


def _applied(table: pl.DataFrame) -> Axis:
    return axis("applied", APPLIED, table["applied"].to_list(), whole=False)


def _named(record: Recorded) -> tuple[pl.DataFrame, dict[str, Look]]:
    """Return the table with the sizes of messages as words, and how each looks."""
    table = record.tables["table"].sort("message_bytes", "applied")
    said = pl.col("message_bytes").map_elements(size, return_dtype=pl.String)
    table = table.with_columns(of=said)
    names = table["of"].unique(maintain_order=True).to_list()
    return table, ordered(names)


PART_TITLES = {"traffic": "Share that gets through"}
"""What parts are called that have no title of their own."""
