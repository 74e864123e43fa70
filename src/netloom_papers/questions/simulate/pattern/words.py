"""A pattern of messages in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.shown import pairs
from netloom.questions.simulate.said import setup_of, table_with_units
from netloom_papers.questions.simulate.pattern.verdict import verdict

if TYPE_CHECKING:
    from netloom_papers.questions.simulate.pattern.answer import PatternSimulation

__all__ = ["lines", "verdict"]

TIMES = {
    "message_bytes": ("size", "bytes"),
    "think_us": ("compute", "µs"),
    "loop_us_mean": ("loop", "µs"),
    "loop_us_max": ("worst loop", "µs"),
    "message_us": ("alone", "µs"),
    "communication_us_mean": ("message", "µs"),
    "communication_us_max": ("worst", "µs"),
}
"""Columns of times, by those of the answer."""

SHARES = {
    "applied": ("applied", "link, %"),
    "average_node": ("actual", "link, %"),
    "worst_node": ("worst", "link, %"),
}
"""Columns of traffic, in shares of a link."""


def lines(result: PatternSimulation) -> list[Any]:
    """Return the times of loops and messages, and the traffic."""
    table = table_with_units((*TIMES.values(), *SHARES.values()))
    for row in result.table().to_dicts():
        cells = [number(row[name]) for name in TIMES]
        table.add_row(*cells, *(number(100 * row[name]) for name in SHARES))
    rows = {
        "nodes": f"{counted(len(result.nodes), 'node')} of the pattern",
        "network": setup_of(result.network),
    }
    return [table, "", pairs(rows)]
