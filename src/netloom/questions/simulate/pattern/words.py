"""A pattern of messages in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.shown import figures_table, head_of, interruption
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
    shares = {"applied": "applied", "average node": "average_node", "worst node": "worst_node"}
    table = figures_table(columns, shares, result.table().to_dicts())
    what = f"{result.pattern}, {counted(len(result.nodes), 'node')} of it active"
    head = head_of(result.network, what, "times in µs, traffic in shares of a channel")
    return [*head, table, *interruption(result)]
