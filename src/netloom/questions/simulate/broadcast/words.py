"""Broadcasts in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.shown import pairs, percent
from netloom.questions.simulate.broadcast.verdict import is_known, verdict
from netloom.questions.simulate.said import sentences, setup_of, table_with_units
from netloom.words import counted, give_or_take, number

if TYPE_CHECKING:
    from collections.abc import Mapping

    from netloom.questions.simulate.broadcast.answer import BroadcastSimulation

__all__ = ["lines", "sentences", "verdict"]

RATE = "messages\n/node/cycle"

HEADS = (
    ("rate", RATE),
    ("accepted", RATE),
    ("unicast", "cycles"),
    ("p99", "cycles"),
    ("idle", "cycles"),
    ("to the last", "cycles"),
    ("to each", "cycles"),
    ("busiest", "link, %"),
    ("", ""),
)


def lines(result: BroadcastSimulation) -> list[Any]:
    """Return the latencies of unicast and broadcast messages by rate."""
    table = table_with_units(HEADS)
    figures = result.to_dict()
    for point in figures.get("points", [figures]):
        unicast, last = point["unicast_latency"], point["broadcast_latency"]
        table.add_row(
            number(point["rate"]),
            number(point["accepted"]),
            give_or_take(unicast["mean"], unicast["ci95"]),
            number(unicast["p99"]),
            number(point["zero_load_latency"]),
            give_or_take(last["mean"], last["ci95"]),
            number(point["target_latency"]["mean"]),
            number(100 * point["utilisation"]["max"]),
            _state(point),
        )
    who = counted(result.multicast_targets, "target") if result.multicast_targets else "all nodes"
    rows = {
        "broadcasts": f"{percent(result.broadcast)} of the messages, to {who} by {result.tree} "
        "trees: cycles to the last target, and on average to each",
        "messages": f"{result.lengths.name} flits",
        "network": setup_of(result.network),
        "seed": str(figures["seed"]),
    }
    return [table, "", pairs(rows)]


def _state(point: Mapping[str, Any]) -> str:
    """Return in a word what is to be known of a run beside its figures."""
    if point["interrupted"]:
        return "interrupted"
    if not point["stable"]:
        return "✗ overloaded"
    if not is_known(point):
        return "? too short"
    return "" if point["warmed_up"] and point["precise"] else "? less precise"
