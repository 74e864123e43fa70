"""The picture of a model of a torus with broadcasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import polars as pl

from netloom.base.words import counted, number
from netloom.drawing.axes import axis
from netloom.drawing.bars import Bar, bars
from netloom.drawing.colours import THIS
from netloom.drawing.panel import End, panel, shades
from netloom.questions.predict.drawn import latency_curve, made_of
from netloom.questions.shown import percent

if TYPE_CHECKING:
    import altair as alt

    from netloom.drawing.axes import Axis
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


def footer(record: Recorded) -> list[str]:
    """Return the torus, its messages, and where it saturates."""
    found = record.figures
    return [
        f"{found['topology']}, adaptive routing, {counted(found['vcs'], 'VC')}; messages of "
        f"{number(found['message_flits'])} flits, {percent(found['broadcast'])} of them broadcast; "
        f"{found['variant']} model; {number(found['zero_load_latency'])} cycles unhindered, "
        f"saturates at {number(found['saturation_rate'])} messages/node/cycle*; * estimate"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a torus with broadcasts, by name."""
    found, table, held = record.figures, record.tables["table"], record.tables["held_vcs"]
    if not record.several:
        made = made_of(table, found["startup_cycles"])
        return {"latency": made, "held VCs": _held_at_once(held)}
    saturates = float(found["saturation_rate"])
    near = saturates if saturates <= 1.3 * float(table["rate"].max()) else None  # type: ignore[arg-type]
    along = axis("rate", "rate (messages/node/cycle)", [*table["rate"].to_list(), near])
    curve = latency_curve(table, along, found["zero_load_latency"], (saturates, saturates))
    return {"latency": curve, "held VCs": _held(held, along)}


def _held_at_once(held: pl.DataFrame) -> alt.LayerChart:
    """Return how often 0, 1 … V virtual channels are held at one rate."""
    rows = [
        Bar(counted(vcs, "VC"), part, percent(part), THIS)
        for vcs, part in held.drop_nulls().select("held", "probability").rows()
    ]
    said = "Nothing is known of how many VCs are held"
    if rows:
        said = f"All VCs of a channel are held {rows[-1].said} of the time"
    return bars(rows, said, "share of the time", width=300, share=True)


def _held(held: pl.DataFrame, along: Axis) -> alt.LayerChart:
    """How often 0, 1 … V virtual channels are held, by rate: areas, one on the other."""
    most = int(held["held"].max() or 1)  # type: ignore[arg-type]
    upper = held.sort("rate", "held").with_columns(
        share=pl.col("probability").cum_sum().over("rate"),
        shade=pl.col("held") / max(most, 1),
    )  # fmt: skip
    table = upper.with_columns(below=pl.col("share") - pl.col("probability"))
    names = [f"{each} held" for each in range(most + 1)]
    where = panel(along, axis("share", "share of the time", [1.0], share=True), names)
    layers: list[alt.Chart] = []
    ends = []
    for each, name in enumerate(names):
        mine = table.filter(held=each)
        area = where.chart(mine, y2="below:Q", tooltip=["rate", "held", "probability"])
        layers.append(area.mark_area(clip=True).encode(color=shades()))
        if mine.is_empty():
            continue
        last = mine.sort("rate").row(-1, named=True)
        ends.append(End(name, where.x.high, (last["share"] + last["below"]) / 2))
    said = f"All {counted(most, 'VC')} are held {percent(_last(table, most))} of the time at most"
    return where.drawn([*layers, *where.ends(ends)], said)


def _last(table: pl.DataFrame, held: int) -> float | None:
    found = table.filter(held=held)["probability"]
    most: float | None = found.max() if len(found) else None  # type: ignore[assignment]
    return most
