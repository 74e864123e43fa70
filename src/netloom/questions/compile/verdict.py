"""What a compiled pattern comes to: whether phases are faster than messages, and by how much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from netloom.base.words import counted, number
from netloom.questions.commands import command_line
from netloom.questions.register import kind_of
from netloom.questions.verdict import Verdict, mapped_program

if TYPE_CHECKING:
    from collections.abc import Mapping

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
    if not asked["execute"] and figures["direct"]:
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
