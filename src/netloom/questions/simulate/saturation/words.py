"""A search for saturation in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.questions.shown import number, plain_table
from netloom.questions.simulate.load.words import head_of, remarks_of, units_of

if TYPE_CHECKING:
    from rich.table import Table

    from netloom.questions.simulate.load.answer import NetworkSaturation, Search


def lines(result: NetworkSaturation) -> list[Any]:
    """Return where each technique saturates."""
    found: list[Any] = [*head_of(result.network), _searches(result)]
    for search in result.searches:
        if search.interrupted:
            found.append("• interrupted: how far the search had come by then")
        elif not search.saturates:
            found.append(f"• {_never(search)}")
    said = "Saturated: the network falls behind, or its latency is 3 times the zero-load."
    remarks = [escape(line) for line in remarks_of(result.network)]
    return [*found, *remarks, said, units_of(result.network)]


def _searches(result: NetworkSaturation) -> Table:
    """Return a row a technique."""
    heads = (
        "switching",
        "saturates at",
        "±",
        "accepted",
        "worst node",
        "most accepted",
        "zero-load latency",
        "limit",
    )
    table = plain_table(heads, words=("switching",))  # fmt: skip
    for search in result.searches:
        data = search.to_dict()
        width = data["saturation_offered_width"]
        table.add_row(
            data["switching"],
            *(number(data[name]) for name in ("saturation_offered",)),
            number(width and width / 2),
            *(number(data[name]) for name in (
                "saturation_throughput", "accepted_worst_node", "peak_accepted",
                "zero_load_latency",
            )),
            number(data["throughput_bound"]["load"]),
        )  # fmt: skip
    return table


def _never(search: Search) -> str:
    """Say that a technique was not seen to saturate, and how far that can be trusted."""
    last = search.found.runs[-1]
    said = f"{search.setting.router.switching} keeps up with all that it can be offered"
    if last.precise:
        return said
    return f"{said} in runs of {last.measured.cycles:,} cycles, too short for the precision asked"
