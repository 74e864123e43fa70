"""A program of loops in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from netloom.questions.shown import (
    DOUBTFUL,
    FELL_BEHIND,
    KEPT_UP,
    number,
    percent,
    plain_table,
)
from netloom.questions.simulate.heads import head_of
from netloom.words import counted

if TYPE_CHECKING:
    from rich.table import Table

    from netloom.questions.simulate.loop.answer import LoopSimulation


def lines(result: LoopSimulation) -> list[Any]:
    """Return the traffic that the program gets through, and what share of it was applied."""
    flits = f"messages of {counted(result.message_flits, 'flit')}, each waited for"
    table = plain_table((
        "applied", "average node", "worst node", "loop", "worst", "latency", "unhindered",
        "busiest channel", "",
    ))  # fmt: skip
    for point in result.points:
        row = point.row()
        table.add_row(
            *(number(row[name]) for name in (
                "applied", "average_node", "worst_node", "loop_cycles_mean", "loop_cycles_max",
                "message_latency", "unhindered_latency",
            )),
            percent(row["utilisation_max"]),
            escape(point.note or ""),
        )  # fmt: skip
    lines = [*head_of(result.network, f"{result.program}, mapping {result.mapping}", flits), table]
    if result.left_out:
        lines.append(f"• {result.left_out}")
    if result.limit is not None:
        lines.append(
            "[dim]Traffic in flits/node/cycle, times in cycles. Static analysis estimates that an "
            f"average node, at its own pace, saturates at {number(result.limit.average_node)}, the "
            f"worst at {number(result.limit.worst_node)}; if all sent alike, none could send more "
            f"than {number(result.limit.upper_bound)}.[/]"
        )
    if result.points[-1].programs:
        lines.append(_side_by_side(result))
    return [*lines, _loop_verdict(result)]


def _side_by_side(result: LoopSimulation) -> Table:
    """Return what each of several programs gets through, beside the others and alone."""
    table = plain_table(
        ("", "nodes", "average node", "worst node", "loop", "alone", "times as long")
    )
    for program in result.points[-1].programs:
        times, alone = program.times, program.alone
        table.add_row(
            escape(program.name),
            str(program.nodes),
            number(times.average_node if times else None),
            number(times.worst_node if times else None),
            number(float(times.cycles.mean()) if times else None),
            number(float(alone.cycles.mean()) if alone else None),
            number(program.slowdown) + _half(program.slowdown_ci95),
        )
    return table


def _half(ci95: float | None) -> str:
    return f" ± {ci95:.2g}" if ci95 is not None else ""


def _loop_verdict(result: LoopSimulation) -> Text:
    """Say what share of its applied traffic the program gets through, at the highest."""
    point = result.points[-1]
    if point.times is None:
        return Text(point.note or "", style=FELL_BEHIND)
    average = point.times.average_node / point.applied
    worst = point.times.worst_node / point.applied
    style = KEPT_UP if worst > 0.9 else DOUBTFUL if average > 0.9 else FELL_BEHIND
    return Text(
        f"At applied traffic {number(point.applied)} an average task gets through "
        f"{percent(average)} of it, the worst {percent(worst)}.",
        style=style,
    )
