"""A pattern of messages in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.shown import interruption, number, percent, plain_table
from netloom.questions.simulate.heads import head_of
from netloom.words import counted

if TYPE_CHECKING:
    from netloom.questions.simulate.pattern.answer import PatternSimulation


def lines(result: PatternSimulation) -> list[Any]:
    """Return the times of loops and messages, and the traffic."""
    columns = {
        "bytes": "message_bytes", "computing": "think_us", "loop": "loop_us_mean",
        "worst": "loop_us_max", "a message": "communication_us_mean",
        "worst ": "communication_us_max", "alone": "message_us",
    }  # fmt: skip
    table = plain_table((*columns, "applied", "average node", "worst node"))
    for row in result.table().to_dicts():
        shares = (percent(row[name]) for name in ("applied", "average_node", "worst_node"))
        table.add_row(*(number(row[name]) for name in columns.values()), *shares)
    what = f"{result.pattern}, {counted(len(result.nodes), 'node')} of it active"
    head = head_of(result.network, what, "times in µs, traffic in shares of a channel")
    return [*head, table, *interruption(result)]
