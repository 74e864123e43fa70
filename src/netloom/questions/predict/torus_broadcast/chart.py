"""The picture of a model of a torus with broadcasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from netloom.drawing.colours import COLOURS
from netloom.drawing.frame import titled
from netloom.questions.predict.drawn import latency_curve, made_of

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return the torus, its messages, and where it saturates."""
    found = record.figures
    return found["topology"], [
        f"adaptive routing, {found['vcs']} VCs; messages of {found['message_flits']:g} flits, "
        f"{found['broadcast']:.3g} of them broadcast; {found['variant']} model",
        f"{found['zero_load_latency']:.4g} cycles unhindered, saturates at "
        f"{found['saturation_rate']:.4g} messages/node/cycle",
    ]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a torus with broadcasts, by name."""
    found, table, held = record.figures, record.tables["table"], record.tables["held_vcs"]
    if not record.several:
        made = made_of(table, found["startup_cycles"])
        return {"latency": made, "held VCs": _held_at_once(held)}
    axis, marks = "messages/node/cycle", {"saturates": found["saturation_rate"]}
    curve = latency_curve(table, "rate", axis, marks, found["zero_load_latency"])
    return {"latency": curve, "held VCs": _held(held, axis)}


def _in_percent(held: pl.DataFrame) -> pl.DataFrame:
    """One row a rate and number of VCs that are held, as a word."""
    share = 100 * pl.col("probability")
    return held.select("rate", pl.col("held").cast(pl.String), share.alias("share"))


def _held_at_once(held: pl.DataFrame) -> alt.Chart:
    bars = (
        alt.Chart(_in_percent(held))
        .mark_bar(color=COLOURS[0])
        .encode(
            x=alt.X("held:O", title="VCs of a channel that are held", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("share:Q", title="% of the time"),
            tooltip=["held:O", "share:Q"],
        )
    )
    return titled(bars, "How full the channels are")


def _held(held: pl.DataFrame, axis: str) -> alt.Chart:
    """How often 0, 1 … V virtual channels are held, by rate."""
    areas = (
        alt.Chart(_in_percent(held))
        .mark_area(opacity=0.85)
        .encode(
            x=alt.X("rate:Q", title=axis, scale=alt.Scale(zero=True)),
            y=alt.Y("share:Q", stack="zero", title="% of the time", scale=alt.Scale(domainMax=100)),
            color=alt.Color("held:O", title="VCs held", scale=alt.Scale(scheme="orangered")),
            order=alt.Order("held:O"),
            tooltip=["rate:Q", "held:O", "share:Q"],
        )
    )
    return titled(areas, "How many VCs of a channel are held")
