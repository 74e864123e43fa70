"""The picture of a mapping that was found: its channels before and after, and what it beats."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import numpy as np
import polars as pl

from netloom.drawing.colours import COLOURS, GREY
from netloom.drawing.frame import layered
from netloom.drawing.room import room
from netloom.questions.analyze.chart import UNITS, wrapped
from netloom.questions.network_chart import channels_chart

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded

NAMES = {"random": "random (mean of 25)", "random_best": "random (best of 25)",
         "mapping": "mapping, without routes"}  # fmt: skip
WHEN = {"before": "Before (rank order)", "after": "After"}
RESULT, OTHERS = COLOURS[0], GREY

LOAD = "weighted_channel_load"

ASIDE = 400.0
"""Pixels of each of the networks beside each other."""

NAMED = 200.0
"""Pixels beside the bars for the names of mappings and for numbers."""


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what was mapped, and the verdict."""
    found = record.figures
    what = f"{found['app']} mapped onto {found['topology']}"
    return what, wrapped(found["verdict"]["sentence"])


def arranged(record: Recorded) -> list[Part]:
    """Return the network before, after and their difference, above the objectives of mappings."""
    drawn = networks(record, ASIDE)
    rows = alt.hconcat(*drawn.values(), spacing=30)
    rows = rows.resolve_scale(color="independent", stroke="independent")
    return [alt.vconcat(rows, objectives(record), spacing=26)]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a mapping, by name."""
    return {**networks(record), "objective": objectives(record)}


def networks(record: Recorded, width: float | None = None) -> dict[str, Part]:
    """Return the network by channel load before and after, on one scale, and their difference."""
    channels = record.tables["channels"]
    if "kind" in channels.columns:  # those of hosts are in no picture
        channels = channels.filter(kind="network")
    loads = {when: channels.filter(mapping=when)[LOAD].to_numpy() for when in WHEN}
    all_of_them = np.concatenate(list(loads.values()))
    scale = (
        (float(all_of_them.mean()), float(all_of_them.max()) or 1.0) if len(all_of_them) else None
    )
    title = UNITS.get(record.figures["weight"], "paths on the channel")
    drawn: dict[str, Part] = {
        when: channels_chart(
            record, channels.filter(mapping=when), LOAD, title, scale=scale, width=width, when=said
        )
        for when, said in WHEN.items()
    }
    if len(loads["before"]) == len(loads["after"]):
        after = channels.filter(mapping="after")
        drawn["difference"] = channels_chart(
            record, after, LOAD, title, width=width, when="Difference",
            before=loads["before"].astype(np.float64),
        )  # fmt: skip
    return drawn


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
    "difference": "What the mapping changes on each channel",
    "objective": "What the search found",
}
"""What parts are called that have no title of their own."""
