"""A model of locality in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from netloom.questions.predict.locality.answer import PARTS
from netloom.questions.predict.shown import trust
from netloom.questions.shown import KEPT_UP, percent, plain_table
from netloom.words import counted, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from netloom.questions.predict.locality.answer import LocalityPrediction
    from netloom.questions.recorded import Recorded


def lines(result: LocalityPrediction) -> list[Any]:
    """Return what mappings are worth to the processors."""
    data = result.to_dict()
    contexts = counted(number(data["contexts"]), "context")
    head = [
        f"[bold]{escape(result.name)}[/], mapping {escape(data['mapping'])}; "
        f"{contexts} a processor, network clock "
        f"{number(data['network_speed'])} times the processors'",
    ]
    notes = [
        f"[dim]Network cycles; a hop takes at most {number(data['per_hop_limit'])}.[/]",
        f"[dim]{escape(trust(data))}[/]",
    ]
    if "points" in data:
        return [*head, _sizes(result, data), *notes]
    names = list(result.mappings)
    by_name = {"ideal": data["ideal"], "random": data["random"]}
    found = [by_name.get(name, data) for name in names]
    table = plain_table(("", *names))
    rows = {
        "mean distance, hops": "distance",
        "messages a node and cycle": "message_rate",
        "message latency": "message_latency",
        "  of a hop": "per_hop_latency",
        "between transactions": "inter_transaction_cycles",
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
    lines = [*head, table, *notes]
    if hidden:
        lines.append(f"• Processors hide all latency: {', '.join(hidden)}")
    return [*lines, Text(f"{result.sentence(0)}.", style=KEPT_UP)]


def sentences(record: Recorded) -> list[str]:
    """Return what mappings are worth, a sentence a size."""
    said, name = [], record.figures["mapping"]
    for point in record.points:
        best = f"the best mapping is {number(point['gain'])} times as fast as a random one"
        own = f"; mapping {name}: {number(point['gain_of_mapping'])} times" * (name != "random")
        said.append(f"On {counted(point['nodes'], 'node', ',')} {best}{own}.")
    return said


def _sizes(result: LocalityPrediction, data: Mapping[str, Any]) -> Table:
    """Return a row a size."""
    own = result.label
    columns = {
        "nodes": "nodes", "hops": "distance", "messages/cycle": "message_rate",
        "latency": "message_latency", "of a hop": "per_hop_latency",
        "between transactions": "inter_transaction_cycles",
    }  # fmt: skip
    more = [f"gain, {own}"] if own != "random" else []
    table = plain_table((*columns, "channels busy", "gain, ideal", *more))
    for point in data["points"]:
        cells = [number(point[name]) for name in columns.values() if name != "nodes"]
        cells.insert(0, f"{point['nodes']:,}")
        cells += [percent(point["channel_utilisation"]), number(point["gain"])]
        table.add_row(*cells, *([number(point["gain_of_mapping"])] if more else []))
    return table
