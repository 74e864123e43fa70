"""Critical queues in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import number
from netloom.questions.shown import interruption, percent, plain_table
from netloom_papers.questions.hotspot.critical_queue.verdict import verdict
from netloom_papers.questions.hotspot.words import system_of

if TYPE_CHECKING:
    from netloom_papers.questions.hotspot.critical_queue.answer import CriticalQueues

__all__ = ["lines", "verdict"]


def lines(result: CriticalQueues) -> list[Any]:
    """Return the sizes that were tried, which of them are critical, and what was simulated."""
    heads = (
        "rate",
        "queues of\n(packets)",
        "rise",
        "at stage",
        "round trip\n(steps)",
        "refused",
        "",
    )
    table = plain_table(heads)
    for row in result.table().to_dicts():
        free = row["size"] is None
        table.add_row(
            number(row["rate"]),
            "unbounded" if free else str(row["size"]),
            "" if free else percent(row["rise"]),
            "" if free else str(row["stage"]),
            number(row["steps_mean"]),
            percent(row["refused"]),
            "critical" if row["size"] == row["critical"] else "",
        )
    note = (
        "[dim]Rise: how much longer a stage's mean queue of requests is than an unbounded one "
        "(median of the replications).[/]"
    )
    found = [table, note] if table.rows else []
    return [*found, *system_of(result), *interruption(result, "finished")]
