"""The picture of a model of latency."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from netloom.base.words import counted, number
from netloom.drawing.axes import LOAD_STEPS, axis
from netloom.drawing.networks import Delays
from netloom.questions.network_chart import USE, channels_chart
from netloom.questions.predict.drawn import latency_curve, made_of
from netloom.questions.predict.shared import routed
from netloom.questions.shown import order_named

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.register import Recorded


def footer(record: Recorded) -> list[str]:
    """Return what was predicted, on which routers, and where it saturates."""
    found, bound = record.figures, record.figures["throughput_bound"]
    router, mapping = found["router"], found["mapping"]
    mapped = "" if mapping is None else f", {order_named(mapping)}"
    low, high = found["saturation_range"]
    return [
        f"{found['traffic']} on {found['topology']}{mapped}; {routed(found)}, {router['name']} "
        f"router, {counted(router['vcs'], 'VC')} of {router['buffer_flits']} flits, packets of "
        f"{found['packet_flits']} flits; channels at load {number(_carried(record))}",
        f"Estimate of saturation (*): {number(found['saturation_offered'])} ({number(low)} to "
        f"{number(high)}) by {found['saturation_limit']['where']}; limit {number(bound['load'])} "
        f"by {bound['limited_by']}",
        *found["flags"],
    ]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a predicted latency, by name."""
    found, table = record.figures, record.tables["table"]
    left: Part = made_of(table)
    if record.several:
        reached, (low, high) = float(table["offered"].max()), found["saturation_range"]  # type: ignore[arg-type]
        limit = found["throughput_bound"]["load"]
        known = [each for each in (low, high, limit) if each <= 1.3 * reached]
        along = axis("offered", "offered traffic (flits/node/cycle)", [reached, *known])
        along = replace(along, steps=LOAD_STEPS)
        near = limit if limit <= 1.3 * reached else None
        left = latency_curve(table, along, found["zero_load_latency"], (low, high), near)
    at = _carried(record)
    channels = record.tables["channels"].filter(offered=at)
    delays = Delays(found["saturation_offered"] / at, 1.0) if at > 0 else None
    drawn = channels_chart(record, channels, "utilisation", USE, delays=delays)
    return {"latency": left, "channels": drawn}


def _carried(record: Recorded) -> float:
    """Return the highest load with a steady state, or the lowest if none has one."""
    table = record.tables["table"]
    steady = table.filter(saturated=False)["offered"]
    load: float = steady[-1] if len(steady) else table["offered"][0]
    return load
