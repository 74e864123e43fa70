"""The picture of broadcasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from netloom.drawing.colours import COLOURS
from netloom.drawing.frame import curve
from netloom.questions.network_chart import at_last, channels_chart
from netloom.questions.simulate.drawn import ON_CHANNEL, highest, switched, x_axis

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what was simulated, how messages are sent, and at which rate channels are shown."""
    found = record.figures
    title = f"{found['traffic']} with {found['broadcast']:.3g} broadcasts on {found['topology']}"
    return title, [
        f"{found['tree']} trees, messages of {found['packet_flits']['law']} flits; "
        f"{switched(record)}",
        f"channels: at {highest(record, 'rate'):.3g} messages/node/cycle",
    ]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of broadcasts, by name."""
    channels = channels_chart(record, at_last(record, "rate"), "utilisation", ON_CHANNEL)
    return {"latency": broadcast_latency(record), "channels": channels}


def broadcast_latency(record: Recorded) -> alt.Chart:
    """Return mean latencies of unicasts, and of broadcasts to their last target, by rate."""
    columns = {"unicast_latency_mean": "unicast", "broadcast_latency_mean": "to the last target"}
    tidy = (
        record.tables["table"]
        .rename(columns)
        .unpivot(list(columns.values()), index="rate", variable_name="of", value_name="latency")
        .drop_nulls("latency")
    )
    return curve(
        tidy,
        "Latency of unicasts and of broadcasts",
        x=x_axis("rate", "messages/node/cycle"),
        y=alt.Y("latency:Q", title="mean latency, cycles"),
        color=alt.Color("of:N", title=None, scale=alt.Scale(range=COLOURS[1::-1])),
        tooltip=["of:N", "rate:Q", "latency:Q"],
    )
