"""Critical queues in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.questions.hotspot.words import head_of
from netloom.questions.shown import ended, interruption, percent, plain_table
from netloom.words import number

if TYPE_CHECKING:
    from netloom.questions.hotspot.critical_queue.answer import CriticalQueues
    from netloom.questions.recorded import Recorded


def lines(result: CriticalQueues) -> list[Any]:
    """Return what was simulated, the sizes that were tried, and which are critical."""
    heads = ("rate", "queues of", "longest rise", "at stage", "steps", "refused", "")
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
        f"[dim]Rise of the mean queue of requests behind a stage over unbounded queues, median of "
        f"the runs; above {percent(result.rise)} it counts.[/]"
    )
    said = [f"Rate {number(rate)}: {result.sentence(rate)}." for rate, _ in result.found]
    found = [table, note] if table.rows else []
    return [*head_of(result), *found, *said, *interruption(result, "finished")]


def sentences(record: Recorded) -> list[str]:
    """Return what was found for each rate."""
    return [
        f"At rate {number(each['rate'])}: {ended(each['verdict'])}"
        for each in record.figures["rates"]
    ]
