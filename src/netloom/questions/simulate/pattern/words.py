"""A pattern of messages in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.fitted import FittedTable, Head
from netloom.questions.shown import pairs
from netloom.questions.simulate.pattern.verdict import verdict
from netloom.questions.simulate.said import sentences, setup_of
from netloom.words import counted, number

if TYPE_CHECKING:
    from netloom.questions.simulate.pattern.answer import PatternSimulation

__all__ = ["lines", "sentences", "verdict"]

TIMES = {
    "message_bytes": Head("size", "bytes"),
    "think_us": Head("compute", "µs"),
    "loop_us_mean": Head("loop", "µs"),
    "loop_us_max": Head("worst loop", "µs", spare=5),
    "message_us": Head("alone", "µs"),
    "communication_us_mean": Head("message", "µs"),
    "communication_us_max": Head("worst", "µs", spare=1),
}
"""Columns of times, by those of the answer."""

SHARES = {
    "applied": Head("applied", "link, %", spare=2),
    "average_node": Head("actual", "link, %", spare=3),
    "worst_node": Head("worst", "link, %", spare=4),
}
"""Columns of traffic, in shares of a link."""


def lines(result: PatternSimulation) -> list[Any]:
    """Return the times of loops and messages, and the traffic."""
    table = FittedTable((*TIMES.values(), *SHARES.values()))
    for row in result.table().to_dicts():
        cells = [number(row[name]) for name in TIMES]
        table.add_cells([*cells, *(number(100 * row[name]) for name in SHARES)])
    rows = {
        "nodes": f"{counted(len(result.nodes), 'node')} of the pattern",
        "network": setup_of(result.network),
    }
    return [table, pairs(rows)]
