"""The picture of a model of wiring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from netloom.drawing.colours import COLOURS, GREY
from netloom.questions.predict.drawn import HEIGHT, WIDTH, nodes_axis, ratio_axis

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what is compared, by which formulas."""
    words = f"{record.figures['form']} forms; L / H: length of a message over its header's"
    return "A mesh against a hypercube that is wired as densely", [words]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a mesh against a hypercube, by name."""
    colour = alt.Color(
        "delay:N",
        title="delay of wires",
        scale=alt.Scale(domain=["constant", "logarithmic", "linear"], range=COLOURS[:3]),
    )
    base = alt.Chart(record.tables["table"]).mark_line(
        point=alt.OverlayMarkDef(size=36), strokeWidth=2.2
    )
    bandwidth = base.encode(
        x=nodes_axis(),
        y=ratio_axis("channel_bandwidth_ratio", "mesh over hypercube"),
        color=colour,
        tooltip=["nodes:Q", "delay:N", "channel_bandwidth_ratio:Q"],
    )
    speedup = base.encode(
        x=nodes_axis(),
        y=ratio_axis("speedup", "times sooner on the mesh"),
        color=colour,
        strokeDash=alt.StrokeDash(
            "message_headers:N",
            title="L / H",
            legend=alt.Legend(symbolType="stroke", symbolStrokeColor=GREY, symbolStrokeWidth=2),
        ),
        tooltip=["nodes:Q", "delay:N", "message_headers:Q", "speedup:Q"],
    )
    distance = record.figures["distance"]
    return {
        "bandwidth": bandwidth.properties(
            width=WIDTH, height=HEIGHT, title="Bandwidth of a channel"
        ),
        "speed-up": speedup.properties(
            width=WIDTH, height=HEIGHT, title=f"Messages, {distance} distance"
        ),
    }
