"""The picture of broadcasts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.base.words import number
from netloom.drawing.axes import axis
from netloom.drawing.colours import BEST, THIS
from netloom.drawing.panel import DASHED, Look, panel
from netloom.questions.network_chart import at_last, channels_chart
from netloom.questions.shown import percent
from netloom.questions.simulate.drawn import ON_CHANNEL, highest, switched

if TYPE_CHECKING:
    import altair as alt

    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded

LAST = "broadcast, last target"
LOOKS = {"unicast": Look(BEST, DASHED), LAST: Look(THIS)}


def footer(record: Recorded) -> list[str]:
    """Return what was simulated, how messages are sent, and at which rate channels are shown."""
    found = record.figures
    return [
        f"{found['traffic']} on {found['topology']}, {percent(found['broadcast'])} broadcasts; "
        f"{found['tree']} trees, messages of {found['packet_flits']['law']} flits; "
        f"{switched(record)}; channels at {number(highest(record, 'rate'))} messages/node/cycle"
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of broadcasts, by name."""
    channels = channels_chart(record, at_last(record, "rate"), "utilisation", ON_CHANNEL)
    return {"latency": broadcast_latency(record), "channels": channels}


def broadcast_latency(record: Recorded) -> alt.LayerChart:
    """Return mean latencies of unicasts, and of broadcasts to their last target, by rate."""
    table = record.tables["table"]
    columns = {"unicast_latency_mean": "unicast", "broadcast_latency_mean": LAST}
    tidy = (
        table.rename(columns)
        .unpivot(list(columns.values()), index="rate", variable_name="of", value_name="latency")
        .drop_nulls("latency")
        .sort("rate")
    )
    where = panel(
        axis("rate", "rate (messages/node/cycle)", table["rate"].to_list()),
        axis("latency", "mean latency (cycles)", tidy["latency"].to_list(), whole=False),
        LOOKS,
    )
    said = "No message arrived"
    last = tidy.filter(of=LAST)
    if last.height:
        at = f"{number(last['rate'][-1])} messages/node/cycle"
        said = f"At {at} a broadcast reaches its last target after {number(last['latency'][-1])} "
        said += "cycles"
    return where.drawn([*where.lines(tidy, "of", LOOKS), *where.ends_of(tidy, "of", LOOKS)], said)
