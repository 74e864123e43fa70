"""The picture of a replayed trace."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.units import TIME, rate, seconds
from netloom.base.words import number
from netloom.drawing.bars import Bar, bars
from netloom.drawing.colours import REFERENCE, THIS
from netloom.drawing.frame import column
from netloom.questions.network_chart import channels_chart
from netloom.questions.shown import order_named, percent
from netloom.questions.simulate.drawn import ON_CHANNEL, switched
from netloom.questions.simulate.trace.timeline import busy_over_time, timeline

if TYPE_CHECKING:
    from collections.abc import Mapping

    import altair as alt

    from netloom.drawing.frame import Part
    from netloom.questions.register import Recorded


WAITS = {
    "computation": "compute",
    "waiting for a processor": "processor_wait",
    "waiting for the source's channel": "source_wait",
    "messages": "message",
    "contention": "contention",
    "receiving": "receive",
}
"""What a critical path is made of, as a person says it, and as JSON does before the unit."""

HELD = ("contention", "waiting for the source's channel")
"""The parts of a critical path that other messages cause."""


def footer(record: Recorded) -> list[str]:
    """Return what was replayed, and when it finished."""
    found, unit = record.figures, _unit(record)
    flows = found["engine"] == "flow"
    finish, ideal = found[f"finish_{unit}"], found[f"{'alone' if flows else 'ideal_finish'}_{unit}"]
    words = "not finished" if finish is None else f"finished in {_said(finish, unit)}"
    words += "" if ideal is None else f"; {_said(ideal, unit)} if no message met another"
    how = _flows(found) if flows else switched(record)
    where = f"{found['trace']} on {found['topology']}, {order_named(found['mapping'])}"
    return [f"{where}; {words}; {how}"]


def arranged(record: Recorded) -> list[Part]:
    """Return nodes and busy channels over time above the critical path, beside the channels."""
    *beside, channels = parts(record).values()
    return [column(*beside), channels]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a trace, by name."""
    channels = record.tables["channels"].sort("channel")  # the busiest come first there
    load, title = "utilisation", ON_CHANNEL
    if record.figures["engine"] == "flow":
        load = "flits" if _unit(record) == "cycles" else "bytes"
        title = f"{load} on the channel"
    over_time = {"time": timeline(record), "busy": busy_over_time(record)}
    drawn: dict[str, Part] = {name: part for name, part in over_time.items() if part is not None}
    drawn["critical path"] = critical_path_made_of(record)
    return drawn | {"channels": channels_chart(record, channels, load, title)}


def critical_path_made_of(record: Recorded) -> alt.LayerChart:
    """Return what the critical path of a trace waited for, without what takes no time."""
    path, unit = record.figures["critical_path"] or {}, _unit(record)
    times = {part: path.get(f"{name}_{unit}", 0) or 0 for part, name in WAITS.items()}
    total = sum(times.values())
    scale, shown = (1, "cycles") if unit == "cycles" else TIME.scale(max(times.values()))
    rows = [
        Bar(part, time / scale, f"{_said(time, unit)}, {percent(time / total)}",
            THIS if part in HELD else REFERENCE)
        for part, time in times.items()
        if time > 0
    ]  # fmt: skip
    said = "Nothing is known of the critical path"
    if total:
        held = sum(times[part] for part in HELD)
        said = f"{percent(held / total)} of the critical path waits for channels"
    return bars(rows, said, f"time on the critical path ({shown})", width=330)


def _unit(record: Recorded) -> str:
    return str(record.figures.get("unit", "cycles"))


def _said(time: float, unit: str) -> str:
    return seconds(time) if unit == "seconds" else f"{number(time)} cycles"


def _flows(found: Mapping[str, Any]) -> str:
    """Return how flows were shared, in words."""
    clock = found["clock"]
    fast = "a flit per cycle" if clock is None else f"{rate(clock['bytes_per_second'])} per channel"
    sent = "one after the other" if found["injection"] == "in-order" else "all at once"
    return f"{found['routing']}, flows, each node's messages {sent}, {fast}"


PART_TITLES = {"time": "Nodes over time", "busy": "Busy channels over time"}
"""What parts are called that have no title of their own."""
