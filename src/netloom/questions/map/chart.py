"""The picture of a mapping that was found: its channels before and after, and what it beats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from netloom.drawing.colours import COLOURS, GREY
from netloom.drawing.frame import layered
from netloom.drawing.room import room
from netloom.questions.analyze.chart import UNITS, wrapped
from netloom.questions.network_chart import channels_chart

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.network_chart import NetworkChart
    from netloom.questions.recorded import Recorded

NAMES = {"random": "random (mean of 25)", "random_best": "random (best of 25)",
         "mapping": "mapping, without routes"}  # fmt: skip
WHEN = {"before": "Before (identity)", "after": "After"}
RESULT, OTHERS = COLOURS[0], GREY

NAMED = 200.0
"""Pixels beside the bars for the names of mappings and for numbers."""


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what was mapped, and the verdict."""
    found = record.figures
    what = f"{found['app']} mapped onto {found['topology']}"
    return what, wrapped(found["verdict"]["sentence"])


def arranged(record: Recorded) -> list[Part]:
    """Return the network by channel load before and after, above the objectives of mappings."""
    drawn = parts(record)
    pair = alt.hconcat(drawn["before"], drawn["after"], spacing=30)
    pair = pair.resolve_scale(color="independent", stroke="independent")
    return [alt.vconcat(pair, drawn["objective"], spacing=26)]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a mapping, by name.

    Both networks have the same colours for the same load.
    """
    before, after = (mapped_channels(record, when) for when in WHEN)
    return {"before": before, "after": after, "objective": objectives(record)}


def mapped_channels(record: Recorded, when: str) -> NetworkChart:
    """Return the network by channel load ``before`` or ``after``, in the colours of both."""
    channels = record.tables["channels"]
    if "kind" in channels.columns:  # those of hosts are in no picture
        channels = channels.filter(kind="network")
    shown = channels.filter(mapping=when)
    loads, mine = (part["weighted_channel_load"].to_numpy() for part in (channels, shown))
    most, highest = float(loads.max(initial=0.0)), float(mine.max(initial=0.0))
    scale = (float(loads.sum()) / max(1, len(loads)), most or 1.0)
    title = UNITS.get(record.figures["weight"], "paths on the channel")
    drawn = channels_chart(record, shown, "weighted_channel_load", title, scale=scale)
    named: NetworkChart = drawn.properties(
        title=f"{WHEN[when]}: the busiest channel carries {highest:.4g}"
    )
    return named


def objectives(record: Recorded) -> alt.LayerChart:
    """Return the objective of every mapping as a bar, and the lower bound as a dashed line."""
    objective = record.figures["objective"]
    rows = [
        {
            "mapping": NAMES.get(name, name),
            "value": value,
            "colour": RESULT if name == "result" else OTHERS,
        }
        for name, value in record.tables["table"].select("mapping", "objective").rows()
    ]
    names = [row["mapping"] for row in rows]
    base = alt.Chart(pl.DataFrame(rows)).encode(
        x=alt.X(
            "value:Q",
            title=f"{objective['name']} (less is better)",
            axis=alt.Axis(format="~s"),
        ),
        y=alt.Y("mapping:N", title=None, sort=names, axis=alt.Axis(labelLimit=200)),
    )
    bars = base.mark_bar().encode(color=alt.Color("colour:N", scale=None))
    numbers = base.mark_text(align="left", dx=4).encode(text=alt.Text("value:Q", format=".4~s"))
    layers: list[alt.Chart] = [bars, numbers]
    dashed = ""
    if objective["bound"] > 0:
        bound = alt.Chart(pl.DataFrame({"value": [objective["bound"]]}))
        layers.append(bound.mark_rule(strokeDash=[4, 3]).encode(x="value:Q"))
        dashed = "; dashed: no mapping can be below"
    width = min(520.0, room() - NAMED)
    return layered(layers, f"What it is compared with{dashed}", width, 22 * len(rows))


PART_TITLES = {
    "before": "Channels by load, before",
    "after": "Channels by load, after",
    "objective": "What the search found",
}
"""What parts are called that have no title of their own."""
