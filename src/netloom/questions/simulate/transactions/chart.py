"""The picture of transactions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from netloom.drawing.colours import COLOURS
from netloom.drawing.frame import titled
from netloom.questions.network_chart import channels_chart
from netloom.questions.simulate.drawn import ON_CHANNEL

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what ran, and how long transactions and messages take."""
    found = record.figures
    return f"Transactions of {found['program']} on {found['topology']}", [
        f"{found['contexts']} contexts a node; a transaction every "
        f"{found['inter_transaction_cycles']:.4g} cycles a node; messages take "
        f"{found['message_latency']:.4g} cycles",
        f"average distance {found['distance']:.3g}; {found['router']['name']}",
    ]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of transactions, by name."""
    channels = channels_chart(record, record.tables["channels"], "utilisation", ON_CHANNEL)
    return {"time": transaction_time(record), "channels": channels}


def transaction_time(record: Recorded) -> alt.Chart:
    """Return where a context's time goes, from transaction to transaction."""
    found = record.figures
    parts = pl.DataFrame(
        {
            "part": ["computation", "waiting for the transaction"],
            "cycles": [float(found["run_cycles"]), found["transaction_latency"]],
        }
    )
    bars = (
        alt.Chart(parts)
        .mark_bar()
        .encode(
            x=alt.X("cycles:Q", title="cycles of a context, from transaction to transaction"),
            y=alt.Y("part:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
            color=alt.Color("part:N", scale=alt.Scale(range=COLOURS[1::-1]), legend=None),
        )
    )
    return titled(bars, "Where a context's time goes", 380, 110)
