"""The picture of a model of latency."""

from __future__ import annotations

from typing import TYPE_CHECKING

from netloom.questions.network_chart import channels_chart
from netloom.questions.predict.drawn import latency_curve, made_of
from netloom.words import counted

if TYPE_CHECKING:
    from netloom.drawing.frame import Part
    from netloom.questions.recorded import Recorded


def heading(record: Recorded) -> tuple[str, list[str]]:
    """Return what was predicted, on which routers, and where it saturates."""
    found, bound = record.figures, record.figures["throughput_bound"]
    router, mapping = found["router"], found["mapping"]
    mapped = "" if mapping is None else f", mapping {mapping}"
    low, high = found["saturation_range"]
    return f"{found['traffic']} on {found['topology']}{mapped}", [
        f"{found['routing']}, {router['name']} router, {counted(router['vcs'], 'VC')} of "
        f"{router['buffer_flits']} flits, packets of {found['packet_flits']} flits",
        f"channels: at offered traffic {_carried(record):.3g}; limit {bound['load']:.4g} by "
        f"{bound['limited_by']}",
        f"saturates at {found['saturation_offered']:.4g} "
        f"({low:.4g} to {high:.4g}) by {found['saturation_limit']['where']}",
        *found["flags"],
    ]


def footer(record: Recorded) -> list[str]:
    """Return what was asked."""
    title, words = heading(record)
    return [title, *words]


def parts(record: Recorded) -> dict[str, Part]:
    """Return the parts of the picture of a predicted latency, by name."""
    found, table = record.figures, record.tables["table"]
    if record.several:
        axis, saturation = "offered traffic, flits/node/cycle", found["saturation_offered"]
        marks = {"saturates": saturation, "limit": found["throughput_bound"]["load"]}
        if marks["limit"] > 1.3 * max(saturation, float(table["offered"].max())):  # type: ignore[arg-type]
            del marks["limit"]
        left: Part = latency_curve(table, "offered", axis, marks, found["zero_load_latency"])
    else:
        left = made_of(table)
    channels = record.tables["channels"].filter(offered=_carried(record))
    drawn = channels_chart(record, channels, "utilisation", "flits/cycle on the channel")
    return {"latency": left, "channels": drawn}


def _carried(record: Recorded) -> float:
    """Return the highest load with a steady state; the lowest where none has one."""
    table = record.tables["table"]
    steady = table.filter(saturated=False)["offered"]
    load: float = steady[-1] if len(steady) else table["offered"][0]
    return load
