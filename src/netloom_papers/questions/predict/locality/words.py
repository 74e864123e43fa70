"""A model of locality in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.shown import percent, plain_table
from netloom_papers.questions.predict.locality.answer import PARTS
from netloom_papers.questions.predict.locality.verdict import verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from netloom_papers.questions.predict.locality.answer import LocalityPrediction

__all__ = ["lines", "verdict"]


def lines(result: LocalityPrediction) -> list[Any]:
    """Return what mappings are worth to the processors."""
    data = result.to_dict()
    contexts = counted(number(data["contexts"]), "context")
    notes = [
        f"[dim]Cycles of the network, whose clock is {number(data['network_speed'])} times the "
        f"processors'; {contexts} per processor. A hop takes at most "
        f"{counted(number(data['per_hop_limit']), 'cycle')}.[/]",
    ]
    if "points" in data:
        return [_sizes(result, data), *notes]
    names = list(result.mappings)
    by_name = {"ideal": data["ideal"], "random": data["random"]}
    found = [by_name.get(name, data) for name in names]
    table = plain_table(("", *(_called(name) for name in names)))
    rows = {
        "mean distance, hops": "distance",
        "messages per node and cycle": "message_rate",
        "message latency, cycles": "message_latency",
        "  of a hop": "per_hop_latency",
        "cycles between transactions": "inter_transaction_cycles",
    }
    for label, name in rows.items():
        table.add_row(label, *(number(each[name]) for each in found))
    for part, label in PARTS.items():
        if any(each["breakdown"][part] for each in found):
            table.add_row(f"  {label}", *(number(each["breakdown"][part]) for each in found))
    own = "inter_transaction_processor_cycles"
    table.add_row("  in processor cycles", *(number(each[own]) for each in found))
    for label, name in (
        ("channels busy", "channel_utilisation"),
        ("  the busiest", "busiest_channel_utilisation"),
        ("processors at work", "processor_use"),
    ):
        table.add_row(label, *(percent(each[name]) for each in found))
    hidden = [name for name, each in zip(names, found, strict=True) if each["latency_hidden"]]
    if hidden:
        notes.append(f"• Processors hide all latency: {', '.join(map(_called, hidden))}")
    return [table, *notes]


def _called(name: str) -> str:
    return "rank order" if name == "identity" else name


def _sizes(result: LocalityPrediction, data: Mapping[str, Any]) -> Table:
    """Return a row per size."""
    own = _called(result.label)
    columns = {
        "nodes": "nodes", "hops": "distance", "messages\nper cycle": "message_rate",
        "latency\n(cycles)": "message_latency", "of a hop\n(cycles)": "per_hop_latency",
        "transaction\nevery (cycles)": "inter_transaction_cycles",
    }  # fmt: skip
    more = [f"gain, {own}\n(times)"] if own != "random" else []
    table = plain_table((*columns, "channels\nbusy", "gain, ideal\n(times)", *more))
    for point in data["points"]:
        cells = [number(point[name]) for name in columns.values() if name != "nodes"]
        cells.insert(0, f"{point['nodes']:,}")
        cells += [percent(point["channel_utilisation"]), number(point["gain"])]
        table.add_row(*cells, *([number(point["gain_of_mapping"])] if more else []))
    return table
