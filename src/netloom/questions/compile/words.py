"""A pattern in phases, as tables on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from netloom.base.units import seconds
from netloom.base.words import counted, number
from netloom.questions.register import command_line, kind_of
from netloom.questions.shown import Verdict, figures_table, mapped_program, pairs, percent, size_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from netloom.questions.compile.question import CompiledPhases


FILES = {"out": "plan.json", "programs": "nodes/"}
"""What writes a plan, so that it can be used."""


def verdict(figures: Mapping[str, Any]) -> Verdict:
    """Return which is faster, phases or messages, by how much, and what limits the phases."""
    outcome = figures["verdict"]
    of = mapped_program(figures)
    if outcome["faster"] == "none":
        said = "Nothing to connect: no two nodes communicate."
        return Verdict("fine", said, of, next="", note=_note(figures))
    said, mark = _sentence(figures)
    return Verdict(mark, said, of, _lines(figures), _next(figures), _note(figures))


def _sentence(figures: Mapping[str, Any]) -> tuple[str, str]:
    """Return who wins and by what factor, and the mark of that."""
    outcome = figures["verdict"]
    faster, factor = outcome["faster"], outcome["factor"]
    phases, messages = _clocks(figures)
    if faster == "open":
        return (
            f"Cannot tell yet: phases take {phases} clocks, messages {messages} or more.",
            "unknown",
        )
    against = f"({phases} against {messages} clocks)"
    least = "" if _simulated(figures) else "at least "
    if figures["schedule"]["kind"] == "timetable" and not _simulated(figures):
        winner, loser = ("phases", "messages") if faster == "phases" else ("messages", "phases")
        return f"By formula, {winner} are {_times(factor)} {loser} {against}.", "unknown"
    if faster == "phases":
        return f"Use phases: {least}{_times(factor)} messages {against}.", "fine"
    return f"Keep message passing: {_times(factor)} phases {against}.", "limited"


def _times(factor: float) -> str:
    return f"{number(factor)} times as fast as" if factor >= 1.005 else "as fast as"


def _clocks(figures: Mapping[str, Any]) -> tuple[str, str]:
    """Return the clocks of phases and of messages that the factor is of."""
    if run := _simulated(figures):
        return f"{run['conset']:,.0f}", f"{run['message_passing']:,.0f}"
    kind = "clocks" if figures["schedule"]["kind"] == "timetable" else "expected_clocks"
    messages = figures["predicted"]["message_passing"]
    return f"{figures['schedule'][kind]:,.0f}", f"{messages:,.0f}"


def _simulated(figures: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """Return what simulation found, if it came to both phases and messages."""
    run: Mapping[str, Any] | None = figures["simulated"]
    return run if run and run["conset"] is not None and run["message_passing"] is not None else None


def _lines(figures: Mapping[str, Any]) -> dict[str, str]:
    phases, least = figures["phases"], figures["lower_bound_phases"]
    limit, found = figures["limit"], dict[str, str]()
    better = "Faster switching" if phases == least else "Fewer phases"
    more = f" {better} would help, faster links would not." * (limit["kind"] == "switches")
    found["why"] = f"{limit['sentence']}{more}".replace(" -> ", "→")
    many = counted(phases, "phase", ",")
    found["limits"] = f"{many}, and no plan has fewer: {figures['lower_bound_why']}"
    if phases > least:
        found["limits"] = f"{many} of at least {least:,}: {figures['lower_bound_why']}"
    words = figures["predicted"]["break_even_words"]
    mean = figures["words"] / figures["connections"]
    if words and (figures["verdict"]["faster"] == "phases") == (mean <= words):
        found["pays"] = f"up to {counted(words, 'word', ',.0f')} per connection (by formula)"
    return found


def _next(figures: Mapping[str, Any]) -> str:
    """Return the command that decides, or the one that writes a plan that has won."""
    kind, asked = kind_of("compile"), figures["provenance"]["configuration"]
    if not asked["execute"]:
        return command_line(kind, asked, execute=True)
    return command_line(kind, asked, **FILES) if figures["verdict"]["faster"] == "phases" else ""


def _note(figures: Mapping[str, Any]) -> str:
    """Return which clocks are estimates, and what simulation did not come to."""
    run = figures["simulated"]
    if run and run["note"]:
        return f"* {run['note']}"
    if _simulated(figures) or figures["verdict"]["faster"] == "none":
        return ""
    if figures["schedule"]["kind"] == "timetable":
        return "* estimates: neither figure counts channels that connections share"
    if figures["verdict"]["faster"] == "open":
        return "* estimates: messages take longer if they share channels"
    return (
        "* estimates: phases may take 3 % more, which the factor allows for, and messages take "
        "longer if they share channels"
    )


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
