"""The picture of a pattern of messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from netloom.drawing.colours import COLOURS
from netloom.drawing.frame import curve
from netloom.questions.simulate.drawn import actual_by_applied, x_axis

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what ran, on how many nodes."""
    found = record.figures
    words = f"nodes that take part: {found['active_nodes']}; {found['router']['name']}"
    return f"{found['pattern']} on {found['topology']}", [words]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a pattern of messages, by name."""
    table = record.tables["table"]
    actual = actual_by_applied(table, float(table["applied"].max()))  # type: ignore[arg-type]
    actual = actual.properties(width=430, height=320, title="Actual traffic by applied")
    return {"traffic": actual, "slowdown": pattern_slowdown(record)}


def pattern_slowdown(record: Recorded) -> alt.Chart:
    """Return what contention adds to a message of a pattern, by applied traffic."""
    return curve(
        record.tables["table"],
        "What contention adds",
        x=x_axis("applied", "applied traffic, share of a channel"),
        y=alt.Y(
            "slowdown_max:Q",
            title="worst node: message without start-up, times βL",
            scale=alt.Scale(zero=False),
        ),
        color=alt.Color("message_bytes:N", title="bytes", scale=alt.Scale(range=COLOURS)),
    )
