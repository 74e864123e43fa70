"""A program of loops in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.words import counted, give_or_take, number
from netloom.questions.shown import pairs
from netloom.questions.simulate.load.words import TRAFFIC
from netloom.questions.simulate.loop.verdict import verdict
from netloom.questions.simulate.said import setup_of, table_with_units

if TYPE_CHECKING:
    from rich.table import Table

    from netloom.questions.simulate.loop.answer import LoopSimulation
    from netloom.simulation.loops import LoopRun

__all__ = ["lines", "verdict"]

SPEEDS = {
    "applied": ("applied", TRAFFIC),
    "average_node": ("average", TRAFFIC),
    "worst_node": ("slowest", TRAFFIC),
    "loop_cycles_mean": ("loop", "cycles"),
    "loop_cycles_max": ("longest", "cycles"),
    "message_latency": ("message", "cycles"),
    "unhindered_latency": ("idle", "cycles"),
}
"""Columns of the table, by those of the answer."""


def lines(result: LoopSimulation) -> list[Any]:
    """Return the traffic that the program gets through, programs side by side, and remarks."""
    table = table_with_units((*SPEEDS.values(), ("busiest", "link, %")))
    for row in result.table().to_dicts():
        busiest = row["utilisation_max"]
        shown = number(None if busiest is None else 100 * busiest)
        table.add_row(*(number(row[name]) for name in SPEEDS), shown)
    found: list[Any] = [table]
    for last in result.points[-1:]:
        found += ["", _side_by_side(last)] if last.programs else []
    rows = {
        "messages": f"{counted(result.message_flits, 'flit')} each, and each is waited for",
        "network": setup_of(result.network),
    }
    found += ["", pairs(rows)]
    notes = [(each.applied, each.note) for each in result.points]
    found += [f"• at {number(applied)}: {escape(note)}" for applied, note in notes if note]
    return [*found, *([f"• {result.left_out}"] if result.left_out else [])]


def _side_by_side(point: LoopRun) -> Table:
    """Return what each of several programs gets through, beside the others and alone."""
    table = table_with_units(
        (
            ("program", ""), ("on", "nodes"), ("average", TRAFFIC),
            ("slowest", TRAFFIC), ("loop", "cycles"), ("alone", "cycles"),
            ("slow-down", "times"),
        )
    )  # fmt: skip
    for program in point.programs:
        times, alone = program.times, program.alone
        table.add_row(
            escape(program.name),
            str(program.nodes),
            number(times.average_node if times else None),
            number(times.worst_node if times else None),
            number(float(times.cycles.mean()) if times else None),
            number(float(alone.cycles.mean()) if alone else None),
            give_or_take(program.slowdown, program.slowdown_ci95),
        )
    return table
