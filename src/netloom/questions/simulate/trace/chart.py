"""The picture of a replayed trace."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from netloom.drawing.colours import COLOURS
from netloom.drawing.frame import titled
from netloom.questions.network_chart import channels_chart
from netloom.questions.simulate.drawn import ON_CHANNEL, switched

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


WAITS = {
    "computation": "compute_cycles",
    "waiting for a processor": "processor_wait_cycles",
    "waiting for the source's channel": "source_wait_cycles",
    "messages": "message_cycles",
    "contention": "contention_cycles",
    "receiving": "receive_cycles",
}
"""What a critical path is made of, as a person says it, and as JSON does."""


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what was replayed, and when it finished."""
    found = record.figures
    finish, ideal = found["finish_cycles"], found["ideal_finish_cycles"]
    words = "not finished" if finish is None else f"finished in {finish:,} cycles"
    words += "" if ideal is None else f"; {ideal:,} if no message met another"
    title = f"{found['trace']} on {found['topology']}, mapping {found['mapping']}"
    return title, [words, switched(record)]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a trace, by name."""
    channels = record.tables["channels"].sort("channel")  # the busiest come first there
    drawn = channels_chart(record, channels, "utilisation", ON_CHANNEL)
    return {"critical path": critical_path_made_of(record), "channels": drawn}


def critical_path_made_of(record: Recorded) -> alt.Chart:
    """Return what the critical path of a trace waited for."""
    path = record.figures["critical_path"] or {}
    parts = pl.DataFrame(
        {"part": list(WAITS), "cycles": [path.get(name, 0) for name in WAITS.values()]}
    )
    bars = (
        alt.Chart(parts)
        .mark_bar()
        .encode(
            x=alt.X("cycles:Q", title="cycles of the critical path"),
            y=alt.Y("part:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
            color=alt.condition(
                alt.datum.part == "contention", alt.value(COLOURS[0]), alt.value(COLOURS[1])
            ),
            tooltip=["part:N", "cycles:Q"],
        )
    )
    return titled(bars, "What the finish time is made of", 380, 200)
