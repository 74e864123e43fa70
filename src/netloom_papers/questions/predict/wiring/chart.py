"""The picture of a model of wiring."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from netloom.base.words import counted, number
from netloom.drawing.panel import DASHED, DOTTED, SOLID, Look, looks_of
from netloom.questions.predict.drawn import lines_by, nodes_axis, ratio_axis

if TYPE_CHECKING:
    import altair as alt

    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded

LENGTHS = (DOTTED, DASHED, SOLID, (10, 3, 2, 3))
"""Dashes of lengths of messages: the longest are solid if there are three."""


def footer(record: Recorded) -> list[str]:
    """Return what is compared, by which formulas."""
    found = record.figures
    return [
        "A square mesh against a hypercube that is wired as densely; "
        f"{found['form']} forms, messages over {found['distance']} distance; "
        "constant, logarithmic, linear: how the delay of a wire grows with its length; 10 headers: "
        "messages of ten times the length of their header"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a mesh against a hypercube, by name."""
    table = record.tables["table"]
    delays = table["delay"].unique(maintain_order=True).to_list()
    colours = looks_of(delays)
    return {"bandwidth": _bandwidth(table, colours), "speed-up": _speedup(table, colours)}


def _bandwidth(table: pl.DataFrame, colours: dict[str, Look]) -> alt.LayerChart:
    mine = table.unique(["nodes", "delay"], maintain_order=True)
    y = ratio_axis("channel_bandwidth_ratio", "bandwidth of a channel, times the hypercube's",
                   mine["channel_bandwidth_ratio"].to_list())  # fmt: skip
    most = number(mine["channel_bandwidth_ratio"].max())
    said = f"A mesh's channel has up to {most} times the hypercube's bandwidth"
    return lines_by(mine, nodes_axis(mine), y, "delay", colours, said)


def _speedup(table: pl.DataFrame, colours: dict[str, Look]) -> alt.LayerChart:
    """Return the gain of messages: a hue for each delay, a dash for each length."""
    lengths = table["message_headers"].unique(maintain_order=True).to_list()
    shown = table.with_columns(
        of=pl.format("{}, {}", "delay", pl.col("message_headers").map_elements(
            _headers, return_dtype=pl.String))
    )  # fmt: skip
    looks = {
        f"{delay}, {_headers(length)}": look._replace(dash=LENGTHS[at % len(LENGTHS)])
        for delay, look in colours.items()
        for at, length in enumerate(lengths)
    }
    y = ratio_axis("speedup", "times sooner on the mesh", shown["speedup"].to_list())
    said = f"Messages arrive up to {number(shown['speedup'].max())} times sooner on the mesh"
    return lines_by(shown, nodes_axis(shown), y, "of", looks, said)


def _headers(length: float) -> str:
    """Return the length of messages, in lengths of their header."""
    return counted(number(length), "header")
