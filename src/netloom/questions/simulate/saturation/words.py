"""A search for saturation in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.words import listed, number
from netloom.questions.shown import pairs
from netloom.questions.simulate.load.words import TRAFFIC, remarks_of, router_of
from netloom.questions.simulate.said import around, table_with_units
from netloom.questions.simulate.saturation.verdict import carried, verdict

if TYPE_CHECKING:
    from rich.table import Table

    from netloom.questions.simulate.saturation.answer import NetworkSaturation

__all__ = ["lines", "verdict"]


def lines(result: NetworkSaturation) -> list[Any]:
    """Return where each technique saturates, the router, and remarks."""
    remarks = [escape(line) for line in remarks_of(result.network)]
    rows = {"runs": _runs(result), "router": router_of(result.network)}
    return [_searches(result), "", pairs(rows), *remarks]


def _runs(result: NetworkSaturation) -> str:
    """Return how many runs there were, and how long those at the highest loads carried."""
    figures = result.to_dict()
    last = [carried(each) for each in figures.get("points", [figures])]
    lengths = [f"{run['cycles']:,}" for run in last if run is not None]
    length = f", {listed(lengths)} cycles at the highest load carried" if lengths else ""
    return f"{len(result.points)} runs{length}, seed {result.network.seed}"


def _searches(result: NetworkSaturation) -> Table:
    """Return a row per technique."""
    table = table_with_units(
        (
            ("switching", ""), ("saturates at", TRAFFIC),
            ("bound", TRAFFIC), ("accepted", TRAFFIC),
            ("worst node", TRAFFIC), ("most accepted", TRAFFIC),
            ("idle latency", "cycles"), ("", ""),
        )
    )  # fmt: skip
    for search in result.searches:
        found = search.found
        state = "✗ interrupted" if search.interrupted else "" if search.saturates else "✓ never"
        table.add_row(
            search.setting.router.switching,
            around(found.load, found.load_width / 2 if search.saturates else None),
            number(search.setting.bound.load),
            *map(number, (found.accepted, found.accepted_worst_node, found.peak_accepted)),
            number(found.zero_load_latency),
            state,
        )
    return table
