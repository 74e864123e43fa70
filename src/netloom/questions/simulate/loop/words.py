"""A program of loops in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.text import Text

from netloom.questions.shown import (
    DOUBTFUL,
    FELL_BEHIND,
    KEPT_UP,
    ended,
    figures_table,
    head_of,
    interruption,
    interval,
    percent,
    plain_table,
)
from netloom.words import counted, number

if TYPE_CHECKING:
    from rich.table import Table

    from netloom.questions.recorded import Recorded
    from netloom.questions.simulate.loop.answer import LoopSimulation
    from netloom.simulation.loops import LoopRun


SHOWN = {
    "applied": "applied", "average node": "average_node", "worst node": "worst_node",
    "loop": "loop_cycles_mean", "worst": "loop_cycles_max", "latency": "message_latency",
    "unhindered": "unhindered_latency",
}  # fmt: skip
"""The heads of columns that are shown."""


def lines(result: LoopSimulation) -> list[Any]:
    """Return the traffic that the program gets through, and what share of it was applied."""
    flits = f"messages of {counted(result.message_flits, 'flit')}, each waited for"
    shares = {"busiest channel": "utilisation_max"}
    table = figures_table(SHOWN, shares, result.table().to_dicts())
    lines = [*head_of(result.network, f"{result.program}, mapping {result.mapping}", flits), table]
    notes = [(each.applied, each.note) for each in result.points[:-1]]
    lines += [f"• at {number(applied)}: {escape(note)}" for applied, note in notes if note]
    if result.left_out:
        lines.append(f"• {result.left_out}")
    if result.limit is not None:
        lines.append(
            "[dim]Traffic in flits/node/cycle, times in cycles. Static analysis estimates that an "
            f"average node, at its own pace, saturates at {number(result.limit.average_node)}, the "
            f"worst at {number(result.limit.worst_node)}; if all sent alike, none could send more "
            f"than {number(result.limit.upper_bound)}.[/]"
        )
    lines += interruption(result)
    for last in result.points[-1:]:
        lines += [_side_by_side(last)] * bool(last.programs) + [_verdict(last)]
    return lines


def sentences(record: Recorded) -> list[str]:
    """Return what share of its applied traffic the program gets through, at the highest."""
    return [
        ended(point["note"])
        if point["actual"]["average_node"] is None
        else _sentence(
            point["applied"], point["actual"]["average_node"], point["actual"]["worst_node"]
        )
        for point in record.points[-1:]
    ]


def _side_by_side(point: LoopRun) -> Table:
    """Return what each of several programs gets through, beside the others and alone."""
    table = plain_table(
        ("", "nodes", "average node", "worst node", "loop", "alone", "times as long")
    )
    for program in point.programs:
        times, alone = program.times, program.alone
        table.add_row(
            escape(program.name),
            str(program.nodes),
            number(times.average_node if times else None),
            number(times.worst_node if times else None),
            number(float(times.cycles.mean()) if times else None),
            number(float(alone.cycles.mean()) if alone else None),
            interval(program.slowdown, program.slowdown_ci95),
        )
    return table


def _verdict(point: LoopRun) -> Text:
    if point.times is None:
        return Text(point.note or "", style=FELL_BEHIND)
    average, worst = point.times.average_node, point.times.worst_node
    kept_up = [each / point.applied > 0.9 for each in (average, worst)]
    style = KEPT_UP if all(kept_up) else DOUBTFUL if any(kept_up) else FELL_BEHIND
    return Text(_sentence(point.applied, average, worst), style=style)


def _sentence(applied: float, average: float, worst: float) -> str:
    return (
        f"At applied traffic {number(applied)} an average task gets through "
        f"{percent(average / applied)} of it, the worst {percent(worst / applied)}."
    )
