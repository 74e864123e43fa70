"""A model of latency in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.questions.predict.shown import curve_table, said_of, trust, verdict_of
from netloom.questions.shown import interruption, pairs, percent, size_of
from netloom.words import counted, number

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from netloom.questions.predict.latency.answer import LatencyPrediction
    from netloom.questions.recorded import Recorded


def lines(result: LatencyPrediction) -> list[Any]:
    """Return what the model says of each load, and how far to trust it."""
    data = result.to_dict()
    router, bound = data["router"], data["throughput_bound"]
    head = [
        f"[bold]{escape(result.name)}[/] ({size_of(result.topology)}), {escape(data['routing'])}",
        f"{router['name']} router, {router['switching']}, {counted(router['vcs'], 'VC')} of "
        f"{counted(router['buffer_flits'], 'flit')}; packets of "
        f"{counted(data['packet_flits'], 'flit')}",
        f"{number(data['zero_load_latency'])} cycles unhindered; saturates at "
        f"{number(data['saturation_offered'])} ({_between(data['saturation_range'])}) "
        f"flits/node/cycle; limit {number(bound['load'])} by {escape(bound['limited_by'])}",
        f"saturates by {escape(result.network.limit_sentence)}",
    ]
    flags = [f"[yellow]! {escape(flag)}[/]" for flag in result.flags]
    notes = [*flags, f"[dim]{escape(trust(data))}[/]"]
    if result.simulated is not None:
        notes.insert(0, f"[dim]Simulated: the same network, seed {result.provenance.seed}.[/]")
    if "points" not in data:
        verdict = verdict_of(result.observations[0].sentence, data)
        return [
            *head,
            pairs(_of_one_load(data)),
            *notes,
            verdict,
            *interruption(result, "simulated"),
        ]
    columns = {
        "offered": "offered", "latency": "latency", "network": "network_latency",
        "source": "source_wait", "worst path": "worst_path_latency",
    }  # fmt: skip
    shares = {"± expected": "expected_error", "busiest": "utilisation_max"}
    lines = [*head, curve_table(data, columns, shares), *notes]
    if data["busiest_channel"]:
        lines.append(f"• Busiest channel: {escape(data['busiest_channel'])}")
    return [*lines, *interruption(result, "simulated")]


def sentences(record: Recorded) -> list[str]:
    """Return what the model says of each load."""
    return [said_of(point, point["offered"]) for point in record.points]


def _of_one_load(data: Mapping[str, Any]) -> dict[str, str]:
    """Return what the model says of one load; without latencies where it gives none."""
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
    """Return what has least to spare; nothing past saturation."""
    if data["tightest"] is None:
        return {}
    share = percent(data["tightest_utilisation"])
    return {"tightest": f"{escape(data['tightest'])}, {share} of the time"}


def _between(ends: Sequence[float]) -> str:
    low, high = ends
    return f"{number(low)} to {number(high)}"


def _where(data: Mapping[str, Any]) -> str:
    return f": {escape(data['busiest_channel'])}" if data["busiest_channel"] else ""
