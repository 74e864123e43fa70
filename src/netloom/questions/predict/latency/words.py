"""A model of latency in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.words import counted, number
from netloom.questions.predict.latency.verdict import verdict
from netloom.questions.predict.shown import curve_table, routed
from netloom.questions.shown import interruption, pairs, percent, size_of
from netloom.questions.verdict import arrow

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom.questions.predict.latency.answer import LatencyPrediction

__all__ = ["lines", "verdict"]


def lines(result: LatencyPrediction) -> list[Any]:
    """Return what the model says of each load, and of which routers."""
    data = result.to_dict()
    router = data["router"]
    told = [
        f"[dim]{size_of(result.topology)}, {escape(routed(data))}, {router['name']} router, "
        f"{router['switching']}, {counted(router['vcs'], 'VC')} of "
        f"{counted(router['buffer_flits'], 'flit')}, packets of "
        f"{counted(data['packet_flits'], 'flit')}[/]"
    ]
    if result.simulated is not None:
        told.append(f"[dim]Simulated: the same network, seed {result.provenance.seed}.[/]")
    told += interruption(result, "simulated")
    if "points" not in data:
        return [pairs(_of_one_load(data)), *told]
    columns = {
        "load": "offered", "latency\n(cycles)": "latency", "in network": "network_latency",
        "at source": "source_wait", "worst path": "worst_path_latency",
    }  # fmt: skip
    shares = {"model\nerror": "expected_error", "busiest\nchannel": "utilisation_max"}
    lines = [curve_table(data, columns, shares), *told]
    if data["busiest_channel"]:
        lines.append(f"• Busiest channel: {escape(arrow(data['busiest_channel']))}")
    return lines


def _of_one_load(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what the model says of one load. Without latencies where it gives none."""
    channels = (
        f"{percent(data['utilisation_mean'])} on average, "
        f"{percent(data['utilisation_max'])} at most{_where(data)}"
    )
    if data["latency"] is None:
        return {"latency": f"none: {data['state']}", "channels busy": channels} | _tightest(data)
    expected = _between((data["latency_low"], data["latency_high"]))
    return {
        "latency": f"{number(data['latency'])} cycles, nine of ten times {expected}",
        "  in the network": number(data["network_latency"]),
        "  in the source queue": number(data["source_wait"]),
        "  on the worst path": number(data["worst_path_latency"]),
        "channels busy": channels,
    } | _tightest(data)


def _tightest(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what has least to spare. Nothing past saturation."""
    if data["tightest"] is None:
        return {}
    share = percent(data["tightest_utilisation"])
    return {"tightest": f"{escape(data['tightest'].replace(' -> ', '→'))}, {share} of the time"}


def _between(ends: Sequence[float]) -> str:
    low, high = ends
    return f"{number(low)} to {number(high)}"


def _where(data: Mapping[str, Any]) -> str:
    return f": {escape(arrow(data['busiest_channel']))}" if data["busiest_channel"] else ""
