"""A pattern in phases, as tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.units import seconds
from netloom.base.words import counted
from netloom.questions.compile.verdict import verdict
from netloom.questions.shown import figures_table, pairs, percent, size_of

if TYPE_CHECKING:
    from rich.table import Table

    from netloom.questions.compile.answer import CompiledPhases

__all__ = ["lines", "verdict"]

MOST_ROWS = 12
"""Most phases that are shown one by one. If there are more, the longest are shown."""


def lines(result: CompiledPhases) -> list[Any]:
    """Return how it was compiled, its longest phases, and the figures of all."""
    lines: list[Any] = [escape(each) for each in _how(result)]
    if result.plan.num_phases:
        hidden = result.plan.num_phases - MOST_ROWS
        more = f"The longest {MOST_ROWS}; {hidden} more. " if hidden > 0 else ""
        note = f"[dim]{more}In clocks, without the switch before each phase.[/]"
        lines += [_phases(result), note, _figures(result)]
    return lines


def _how(result: CompiledPhases) -> list[str]:
    plan, asked = result.plan, result.provenance.configuration
    given, network = plan.connections, plan.topology
    order = f", {len(given.before)} in order" if len(given.before) else ""
    return [
        f"{counted(result.graph.num_tasks, 'task')}, {counted(len(given), 'connection', ',')}, "
        f"{counted(int(given.words.sum()), 'word', ',')}{order}; {size_of(network)}",
        f"{result.phases_said}, of {plan.capacity.virtual_channels} virtual channels per "
        f"{plan.capacity.per}; {plan.method}, {result.timetable.kind}, seed {asked['seed']}, "
        f"compiled in {seconds(result.seconds, 2)}",
    ]


def _phases(result: CompiledPhases) -> Table:
    rows = result.phases()
    if len(rows) > MOST_ROWS:
        rows = rows.sort("makespan", "phase", descending=[True, False]).head(MOST_ROWS)
    columns = {
        "phase": "phase", "connections": "connections", "VCs used": "channels_used",
        "processor": "processor_clocks", "channel": "channel_clocks", "clocks": "makespan",
        "at least": "lower_bound", "simulated": "simulated",
    }  # fmt: skip
    columns = {name: of for name, of in columns.items() if of in rows.columns}
    return figures_table(columns, {}, rows.to_dicts())


def _figures(result: CompiledPhases) -> Table:
    predicted, limit, run = result.predicted, result.plan.capacity, result.simulated
    switches = result.plan.num_phases * result.costs.switch_clocks
    share = percent(switches / result.clocks if result.clocks else None)
    rows = {
        "lower bound": f"{counted(result.bound.phases, 'phase')}: {result.bound.why}",
        "virtual channels": f"at most {result.max_channels_used} of {limit.virtual_channels} per "
        f"{limit.per}",
        result.timetable.kind: f"{result.clocks:,.0f} clocks{result.least_said}; {share} of them "
        f"switches; {result.lasting_said}",
        "with routes": result.expected_said,
        "by formula": f"{predicted['conset']:,.0f} clocks, {predicted['message_passing']:,.0f} by "
        f"message passing; {result.break_even_said}",
    }
    if run and run.execution:
        by_messages = f", {run.passed.mean_clocks:,.0f} by message passing" if run.passed else ""
        rows["simulated"] = (
            f"{run.execution.clocks:,.0f} clocks{by_messages}; the busiest channel works "
            f"{percent(float(run.execution.channel_load.max(initial=0)))} of its phase"
        )
    return pairs(rows)
