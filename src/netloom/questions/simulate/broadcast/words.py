"""Broadcasts in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.shown import figures_table, head_of, interruption, percent
from netloom.words import counted

if TYPE_CHECKING:
    from netloom.questions.simulate.broadcast.answer import BroadcastSimulation


def lines(result: BroadcastSimulation) -> list[Any]:
    """Return the latencies of unicast and broadcast messages by rate."""
    columns = {
        "rate": "rate", "accepted": "accepted", "unicast": "unicast_latency_mean",
        "± 95 %": "unicast_latency_ci95", "p99": "unicast_latency_p99",
        "zero load": "zero_load_latency", "to the last": "broadcast_latency_mean",
        "± 95 % ": "broadcast_latency_ci95", "to each": "target_latency_mean",
    }  # fmt: skip
    table = figures_table(
        columns, {"busiest channel": "utilisation_max"}, result.table().to_dicts(),
        lambda row: "" if row["stable"] else "[red]past saturation[/]",
    )  # fmt: skip
    who = counted(result.multicast_targets, "target") if result.multicast_targets else "all nodes"
    what = f"{result.traffic.name}, {percent(result.broadcast)} of it to {who}"
    how = f"{result.tree} trees; messages of {result.lengths.name} flits"
    note = "[dim]Rates in messages/node/cycle, latencies in cycles; of broadcasts: to the last "
    note += "target, and on average to each.[/]"
    return [*head_of(result.network, what, how), table, note, *interruption(result)]
