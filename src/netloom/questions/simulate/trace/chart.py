"""The picture of a replayed trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from netloom.drawing.colours import COLOURS
from netloom.drawing.frame import titled
from netloom.questions.network_chart import channels_chart
from netloom.questions.simulate.drawn import ON_CHANNEL, switched
from netloom.units import TIME, rate, seconds
from netloom.words import number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


WAITS = {
    "computation": "compute",
    "waiting for a processor": "processor_wait",
    "waiting for the source's channel": "source_wait",
    "messages": "message",
    "contention": "contention",
    "receiving": "receive",
}
"""What a critical path is made of, as a person says it, and as JSON does before the unit."""


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what was replayed, and when it finished."""
    found, unit = record.figures, _unit(record)
    flows = found["engine"] == "flow"
    finish, ideal = found[f"finish_{unit}"], found[f"{'alone' if flows else 'ideal_finish'}_{unit}"]
    words = "not finished" if finish is None else f"finished in {_said(finish, unit)}"
    words += "" if ideal is None else f"; {_said(ideal, unit)} if no message met another"
    title = f"{found['trace']} on {found['topology']}, mapping {found['mapping']}"
    return title, [words, _flows(found) if flows else switched(record)]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a trace, by name."""
    channels = record.tables["channels"].sort("channel")  # the busiest come first there
    load, title = "utilisation", ON_CHANNEL
    if record.figures["engine"] == "flow":
        load = "flits" if _unit(record) == "cycles" else "bytes"
        title = f"{load} on the channel"
    drawn = channels_chart(record, channels, load, title)
    return {"critical path": critical_path_made_of(record), "channels": drawn}


def critical_path_made_of(record: Recorded) -> alt.Chart:
    """Return what the critical path of a trace waited for."""
    path, unit = record.figures["critical_path"] or {}, _unit(record)
    times = [path.get(f"{name}_{unit}", 0) for name in WAITS.values()]
    scale, shown = (1, "cycles") if unit == "cycles" else TIME.scale(max(times))
    parts = pl.DataFrame({"part": list(WAITS), "time": [time / scale for time in times]})
    bars = (
        alt.Chart(parts)
        .mark_bar()
        .encode(
            x=alt.X("time:Q", title=f"time on the critical path ({shown})"),
            y=alt.Y("part:N", title=None, sort=None, axis=alt.Axis(labelLimit=220)),
            color=alt.condition(
                alt.datum.part == "contention", alt.value(COLOURS[0]), alt.value(COLOURS[1])
            ),
            tooltip=["part:N", alt.Tooltip("time:Q", title=shown)],
        )
    )
    return titled(bars, "What the finish time is made of", 380, 200)


def _unit(record: Recorded) -> str:
    return str(record.figures.get("unit", "cycles"))


def _said(time: float, unit: str) -> str:
    return seconds(time) if unit == "seconds" else f"{number(time)} cycles"


def _flows(found: Mapping[str, Any]) -> str:
    """Return how flows were shared, in words."""
    clock = found["clock"]
    fast = "a flit a cycle" if clock is None else f"{rate(clock['bytes_per_second'])} a channel"
    sent = "one after the other" if found["injection"] == "in-order" else "all at once"
    return f"{found['routing']}, flows, each node's messages {sent}, {fast}"
