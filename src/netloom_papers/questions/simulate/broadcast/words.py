"""Broadcasts in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, give_or_take, number
from netloom.questions.shown import pairs, percent
from netloom.questions.simulate.said import setup_of, state, table_with_units
from netloom_papers.questions.simulate.broadcast.verdict import is_known, verdict

if TYPE_CHECKING:
    from netloom_papers.questions.simulate.broadcast.answer import BroadcastSimulation

__all__ = ["lines", "verdict"]

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
            state(point, known=is_known(point)),
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
