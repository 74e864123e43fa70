"""The picture of routing tables: how many paths each cable carries, before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import polars as pl

from netloom.base.words import number
from netloom.drawing.axes import AFTER, OTHERS
from netloom.drawing.frame import column
from netloom.drawing.names import base_names
from netloom.questions.fabric.chart import bound_end, bound_of, curve, ranks
from netloom.questions.fabric.words import size_in_words
from netloom.questions.network_chart import network_chart, topology_of

if TYPE_CHECKING:
    import altair as alt

    from netloom.drawing.frame import Part
    from netloom.questions.network_chart import NetworkChart
    from netloom.questions.register import Recorded


def footer(record: Recorded) -> list[str]:
    """Return what was asked about."""
    found = record.figures
    return [f"{found['topology'].removeprefix('fabric:')}: {size_in_words(found)}"]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture, by name."""
    drawn: dict[str, Part] = {"cables": cables(record)}
    if record.tables["channel_table"].height:
        drawn["network"] = network(record)
    return drawn


def arranged(record: Recorded) -> list[Part]:
    """Return the curves of all channels above the network of what changes."""
    return [column(*parts(record).values())]


def network(record: Recorded) -> NetworkChart:
    """Return the network by how many paths more or fewer its channels carry by the new tables."""
    table = record.tables["channel_table"]
    before, after = (table[name].to_numpy().astype(np.float64) for name in ("before", "after"))
    found = topology_of(record)
    if found is not None and found.num_network_channels != table.height:
        found = None  # the file is another by now
    return network_chart(found, after, "paths on the channel", before=before)


def cables(record: Recorded) -> alt.LayerChart:
    """Return the paths of each channel by both tables, busiest first, and the least possible."""
    table, found = record.tables["channel_table"], record.figures["all_to_all"]
    looks = {f"installed: {base_names(record.figures['installed'])}": OTHERS, "new": AFTER}
    curves = pl.concat(
        curve(table[which], name)
        for which, name in zip(("before", "after"), looks, strict=True)
    )  # fmt: skip
    old = record.figures["before"]["all_to_all"]["max"]
    bound = found["bound"] if found["time"] == found["max"] else None  # it is over bandwidth
    where = ranks(curves, bound, [old, found["max"]], list(looks))
    layers = [
        *bound_of(where, bound),
        *where.lines(curves, "tables", looks, points=0),
        *where.ends_of(curves, "tables", looks, bound_end(where, bound)),
    ]
    said = f"{number(found['max'])} paths on the busiest cable"
    if old != found["max"]:
        said += f" instead of {number(old)}"
    return where.drawn(layers, said)


PART_TITLES = {"cables": "Paths on each channel", "network": "What changes on each channel"}
"""What parts are called that have no title of their own."""
