"""A search for saturation in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.questions.shown import plain_table
from netloom.questions.simulate.load.words import head_of, remarks_of, units_of
from netloom.words import number

if TYPE_CHECKING:
    from rich.table import Table

    from netloom.questions.recorded import Recorded
    from netloom.questions.simulate.saturation.answer import NetworkSaturation, Search


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
    table = plain_table(
        (
            "switching", "saturates at", "±", "accepted", "worst node", "most accepted",
            "zero-load latency", "limit",
        ),
        words=("switching",),
    )  # fmt: skip
    for search in result.searches:
        found = search.found
        figures = (
            found.load, found.load_width / 2, found.accepted, found.accepted_worst_node,
            found.peak_accepted, found.zero_load_latency, search.setting.bound.load,
        )  # fmt: skip
        table.add_row(search.setting.router.switching, *map(number, figures))
    return table


def sentences(record: Recorded) -> list[str]:
    """Return where each technique saturates."""
    return [
        f"Saturates with {each['switching']} at {number(each['saturation_offered'])} "
        f"flits/node/cycle offered, and accepts {number(each['saturation_throughput'])} there."
        if each["saturates"]
        else f"Keeps up with {each['switching']} up to {number(each['saturation_offered'])} "
        "flits/node/cycle, the most that it can be offered."
        for each in record.points
    ]


def _never(search: Search) -> str:
    """Say that a technique was not seen to saturate, and how far that can be trusted."""
    last = search.found.runs[-1]
    said = f"{search.setting.router.switching} keeps up with all that it can be offered"
    if last.precise:
        return said
    return f"{said} in runs of {last.measured.cycles:,} cycles, too short for the precision asked"
